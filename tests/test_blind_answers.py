"""Answers by writers who did not know the reader: none is taken for another, most are read.

`tests/corpus/blind.jsonl` holds replies to prompts of every world, each with the move that a
careful referee would play, or null. They were written from the prompts alone, unlike those of
`tests/corpus/answers`, which grew with the reader: the share that is read tells more. Where two
referees might differ, a line says `"sure": false`, and does not count.
"""

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from manyhands.core.env import Env, IllegalAction, episode_key
from manyhands.core.pack import no_actions, stepper
from manyhands.core.registry import from_spec

BLIND = Path(__file__).parent / "corpus" / "blind.jsonl"
# The least share of the sentences with a meaning that is read, by world; it may fall
# only where answers of new writers come along.
READ = {
    "kitchen": 0.85,
    "poker": 0.89,
    "negotiation": 0.86,
    "craftworld": 0.87,
    "home": 0.86,
    "board": 0.87,
    "mission": 0.86,
    "cuisine": 0.86,
    "skills": 0.82,
    "drones": 0.87,
    "volleyball": 0.86,
}


def situation(line: dict[str, Any]) -> tuple[Env[Any], Any, int]:
    """(environment, state, agent) of a situation."""
    config = dict(line["config"])
    inner = {"env": config.pop("env")} if "env" in config else {}
    env = from_spec({"id": line["id"], "config": config, **inner})
    key = episode_key(line["seed"])
    data, frame = np.asarray(jax.random.key_data(key)), stepper(env).reset(key)
    for t, said in enumerate(line["play"]):
        rows = no_actions(env)
        for agent, words in zip(np.flatnonzero(frame.acting), said, strict=True):
            rows[agent] = env.parse(words, frame.state, int(agent))
        frame = stepper(env).step(data, t, frame.state, rows)
    return env, frame.state, line["agent"]


def read(env: Env[Any], state: Any, agent: int, text: str) -> Any:
    try:
        return np.asarray(env.parse(text, state, agent)).tolist()
    except IllegalAction:
        return None


@pytest.mark.parametrize("world", READ)
def test_no_answer_is_taken_for_another_and_most_are_read(world):
    lines = [json.loads(line) for line in BLIND.read_text().splitlines()]
    lines = [line for line in lines if line.get("situation", line.get("in")).startswith(world)]
    places = {line["situation"]: situation(line) for line in lines if "situation" in line}
    wrong, counted, understood = [], 0, 0
    for line in lines:
        if "text" not in line or not line.get("sure", True):
            continue
        place = places[line["in"]]
        right = None if line["means"] is None else read(*place, line["means"])
        assert (right is None) == (line["means"] is None), line
        found = read(*place, line["text"])
        counted += right is not None
        understood += right is not None and found == right
        if found is not None and found != right:
            wrong.append((line["in"], line["text"], line["means"], found))
    assert not wrong, wrong
    assert counted > 40
    assert understood >= READ[world] * counted, f"{understood} of {counted}"
