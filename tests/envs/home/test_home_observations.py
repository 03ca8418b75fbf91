"""What players are given as vectors."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from homes import KITCHEN, Table, goal

import manyhands
from manyhands.core.env import episode_key
from manyhands.envs.home import observe

CASES = {
    "chore": {"task": "chore", "receptacles": [8, 10], "objects": [4, 8], "slicing": True},
    "hidden": {"task": "heat", "told": "instructor", "hidden": ["object", "where", "state"]},
    "house": {"task": "house", "rooms": 3, "receptacles": 18, "objects": 9, "max_steps": 300},
    "transport": {"task": "transport", "rooms": 2, "receptacles": 10, "objects": 9, "players": 3},
    "follow": {"task": "follow", "rooms": 3, "receptacles": 12, "objects": 2},
}


@pytest.mark.parametrize("name", CASES)
def test_features_follow_from_codes(name):
    env = manyhands.make("home", observation="features", **CASES[name])
    codes = observe.layout(env)
    scale = np.ones(env.observation_space.shape, np.float32)
    scale[env.observation_layout["left"]] = 1 / 64
    reset, step, legal = jax.jit(env.reset), jax.jit(env.step), jax.jit(env.legal)
    both = jax.jit(
        lambda s: (env.observe(s), env.perceive(s), jax.vmap(env.network_input)(env.perceive(s)))
    )
    rng = np.random.default_rng(0)
    space = codes.space()
    for seed in range(3):
        state = reset(episode_key(seed))
        for t in range(16):
            seen, rows, inputs = map(np.asarray, both(state))
            for i in range(env.num_agents):
                assert env.observation_space.contains(seen[i])
                assert space.contains(rows[i])
            assert np.array_equal(seen * scale, inputs)
            mask = np.asarray(legal(state))
            actions = np.argmax(mask * rng.random(mask.shape), axis=1).astype(np.int32)
            state, outcome = step(jax.random.fold_in(episode_key(seed), t), state, actions)
            if outcome.terminated.any():
                break


def test_codes_are_bytes_where_steps_fit():
    assert manyhands.make("home").observation_space.dtype == np.uint8
    assert manyhands.make("home", max_steps=255).observation_space.dtype == np.int16


def test_features_say_what_a_goal_needs():
    table = Table(task="chore", receptacles=8, objects=8, observation="features")
    visit = table.start({**KITCHEN, "goal": goal("apple", "dining_table", "clean", "hot")})
    names = table.env.observation_layout.names

    def told(label: str) -> int:
        return int(np.asarray(table.observe(visit.state))[0][names.index(label)])

    apple, fridge = visit.things.index("apple 1"), visit.places.index("fridge 1")
    table_ = visit.places.index("dining table 1")
    assert told(f"objects: object {apple} seen") == 0
    assert told(f"receptacles: receptacle {fridge} may hold condition 0") == 1
    assert told(f"receptacles: receptacle {table_} goal of condition 0") == 1
    assert told(f"receptacles: receptacle {fridge} goal of condition 0") == 0
    visit.alone("go fridge 1", "open")
    assert told(f"objects: object {apple} of condition 0") == 1
    assert told(f"objects: object {apple} in reach") == 1
    assert told(f"receptacles: receptacle {fridge} holds condition 0") == 1
    visit.alone("take apple 1", "go microwave 1", "heat")
    needs = [told(f"hands: hand 0 needs {word}") for word in ("clean", "hot", "cool", "sliced")]
    assert needs == [1, 0, 0, 0]
    assert told(f"receptacles: receptacle {fridge} age") == 3  # two or three steps ago
    visit.alone("go sink basin 1", "clean", "go dining table 1")
    assert told(f"objects: object {apple} in place") == 0
    visit.alone("put")
    assert told(f"objects: object {apple} in place") == 1
    assert told("goal: condition 0 objects known to be in place") == 1


def test_hidden_goals_show_in_no_feature():
    table = Table(
        task="put",
        told="first",
        hidden=["object", "where"],
        players=2,
        receptacles=8,
        objects=8,
        observation="features",
    )
    rows = []
    for thing, place in (("mug", "cabinet"), ("book", "dining_table")):
        visit = table.start({**KITCHEN, "goal": goal(thing, place)})
        visit.do("go counter top 1", "go counter top 1")
        rows.append(np.asarray(table.observe(visit.state)))
    assert not np.array_equal(rows[0][0], rows[1][0])
    assert np.array_equal(rows[0][1], rows[1][1])
