"""Matches to read again: episodes of a record, step by step, as short texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyhands.core.env import shorten
from manyhands.core.record import Episode, frames, read

STEPS = 80  # of one replay
TEXTS = 6_000  # characters of observations in one replay
WORDS = 400  # of one answer or message


def replays(record: Path, names: Sequence[str], count: int) -> Iterator[dict[str, Any]]:
    """The episodes of a record with the `count` lowest numbers, JSON-ready. A record holds them in
    the order in which they ended, which differs by the run.

    Raises:
        RecordError: the record cannot be read or played again.
    """
    episodes = sorted(read(record), key=lambda episode: episode.result.episode)
    for episode in episodes[:count]:
        yield replay(episode, names)


def replay(episode: Episode, names: Sequence[str]) -> dict[str, Any]:
    """One episode.

    Args:
        names: the player of each agent.

    Returns:
        `deal`, `ended`, `rewards`, `agents` and `players`, and `steps`: each with the text that the
        first of the agents to move saw (as long as `TEXTS` lasts), what everybody did and said
        (`moves`), and the reward terms after it. What players wrote is as they wrote it.
    """
    env = episode.env()
    result = episode.result
    steps: list[dict[str, Any]] = []
    before: Any = None
    left = TEXTS
    for moment in frames(episode, env):
        if moment.turn is not None and before is not None:
            if len(steps) == STEPS:
                break
            step: dict[str, Any] = {"step": before.step, "moves": _moves(moment, before, names)}
            first = next(iter(sorted(moment.turn.actions)), 0)
            text = before.views[first].text
            if len(text) <= left:
                step |= {"seen": text, "by": env.agents[first]}
                left -= len(text)
            terms = {name: values for name, values in moment.frame.terms.items() if values.any()}
            if terms:
                step["terms"] = _terms(terms)
            steps.append(step)
        before = moment
    return {
        "deal": result.episode,
        "seed": result.seed,
        "ended": result.ended,
        "rewards": [round(float(value), 4) for value in result.rewards],
        "agents": list(env.agents),
        "players": list(names),
        "length": result.steps,
        "steps": steps,
    }


def _terms(terms: Mapping[str, np.ndarray]) -> str:
    return "; ".join(
        f"{name} {', '.join(f'{value:g}' for value in values.tolist())}"
        for name, values in terms.items()
    )


def _moves(moment: Any, before: Any, names: Sequence[str]) -> list[dict[str, str]]:
    turn, found = moment.turn, []
    for agent, action in sorted(turn.actions.items()):
        words = turn.answers.get(agent)
        if words is None:
            words = before.views[agent].words(action).removesuffix("; say: nothing")
        move = {
            "agent": moment.env.agents[agent],
            "player": names[agent],
            "does": shorten(words, WORDS) if len(words) > WORDS else words,
        }
        if agent in turn.said and turn.said[agent] not in words:
            move["says"] = turn.said[agent][:WORDS]
        if agent in turn.illegal:
            move["refused"] = turn.illegal[agent][:WORDS]
        if agent in turn.forfeits:
            move["forfeits"] = "forfeits"
        found.append(move)
    return found
