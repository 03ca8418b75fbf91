"""What is said around an action: sentences of some writers, put around one action of each world.

`tests/corpus/frames.txt` holds frames by writers who did not know the reader: `{}` stands for "I
..." and `{i}` for its verb phrase. With `+` the action is meant; with `-` it is denied, asked,
wished, told of others or of another time, and must be refused. All worlds share what reads them
(`core/reading/frames.py`), so that a share which differs much between worlds is a defect of one.
"""

import contextlib
from pathlib import Path

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import IllegalAction, episode_key

FRAMES = (Path(__file__).parent / "corpus" / "frames.txt").read_text().splitlines()
# (options of `make`, an action in words, the same as what "I'm" doing), by world.
ACTIONS = {
    "kitchen": ({}, "go north", "going north"),
    "kuhn_poker": ({}, "bet one chip", "betting one chip"),
    "craftworld": ({"players": 2}, "move left", "moving left"),
    "connect_four": ({}, "play column 3", "playing column 3"),
    "negotiation": (
        {"scenario": "trade"},
        "offer 2 wheat for 1 wood",
        "offering 2 wheat for 1 wood",
    ),
    "home": ({"task": "transport"}, "go to bathroom 1", "going to bathroom 1"),
    "mission": ({}, "go north", "going north"),
    "cuisine": ({"chefs": 2}, "go to the storage", "going to the storage"),
    "drones": ({"task": "pursuit", "actions": "moves"}, "fly up", "flying up"),
    "volleyball": ({"actions": "discrete"}, "climb", "climbing"),
}
# Worlds whose choices are lines with effects, and how one of them begins.
LINES = {"kitchen": "stay: ", "craftworld": "noop: ", "cuisine": "wait: ", "mission": "stay: "}
READ = 0.88  # the least share of frames that are read; it only grows


@pytest.mark.parametrize("game", ACTIONS)
def test_what_is_said_around_an_action_leaves_it_as_it_is(game):
    options, action, doing = ACTIONS[game]
    env = manyhands.make(game, **options)
    state = jax.device_get(jax.jit(env.reset)(episode_key(0)))
    agent = int(np.flatnonzero(env.acting(state))[0])

    def read(text):
        try:
            return np.asarray(env.parse(text, state, agent)).tolist()
        except IllegalAction:
            return None

    right = read(f"I {action}")
    assert right is not None and read(action) == right == read(f"I'm {doing}")
    wrong, understood = [], 0
    for k, line in enumerate(FRAMES):
        own = f"I'm {doing}" if k % 3 == 0 else f"I {action}"
        said = line[2:].replace("{i}", action).replace("{}", own)
        found = read(said[0].upper() + said[1:])
        if line.startswith("+"):
            understood += found == right
        if found is not None and (line.startswith("-") or found != right):
            wrong.append((said, found))
    assert not wrong, wrong
    meant = sum(line.startswith("+") for line in FRAMES)
    assert understood >= READ * meant, f"{understood} of {meant}"


@pytest.mark.parametrize("game", LINES)
def test_a_choice_that_is_denied_with_its_effect_is_refused(game):
    """A colon within a copied line begins no order: "I doubt that it pays to stay: wait here"."""
    env = manyhands.make(game, **ACTIONS[game][0])
    state = jax.device_get(jax.jit(env.reset)(episode_key(0)))
    agent = int(np.flatnonzero(env.acting(state))[0])
    (line,) = [c for c in env.choices(state, agent, None) if c.startswith(LINES[game])]
    wrong = []
    for frame in FRAMES:
        if frame.startswith("-") and "{i}" in frame:
            said = frame[2:].replace("{i}", line)
            with contextlib.suppress(IllegalAction):
                wrong.append((said, int(env.parse(said, state, agent))))
    assert not wrong, wrong
