"""The contract of an environment (`manyhands.testing`), for every registered id: `CASES` gives each
small variants."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyhands
from manyhands import testing
from manyhands.core.env import SnapshotError, Wrapper
from manyhands.core.pack import restore, snapshot
from manyhands.core.registry import from_spec
from manyhands.wrappers.pettingzoo import Parallel

FIELDS = (
    *("pursuit", "tag", "flag", "hide_and_seek", "maze_pair", "capture", "escape", "door_key"),
    *("harvest", "cleanup", "coins", "mining", "rendezvous"),
)
CASES: dict[str, dict[str, dict[str, Any]]] = {
    "kitchen": {
        "grid": {"max_steps": 20, "reward_weights": {"pot_placement": 0.3, "dish_pickup": 0.7}},
        "compact, three layouts": {
            "layout": ["cramped_room", "forced_coordination", "two_rooms"],
            "starts": "random",
            "observation": "compact",
            "max_steps": 24,
        },
        "features, short view": {
            "layout": "coordination_ring",
            "starts": "jaxmarl",
            "view_radius": 2,
            "observation": "features",
            "dynamics": "manual",
            "max_steps": 24,
        },
        "generated": {"layout": "generated", "num_levels": 4, "chefs": 3, "max_steps": 24},
        "routes": {
            "layout": "forced_coordination",
            "observation": "routes",
            "view_radius": 3,
            "max_steps": 24,
        },
        "one recipe asked for": {
            "layout": "grounded_coord_simple",
            "view_radius": 2,
            "resample": True,
            "penalty": True,
            "max_steps": 24,
        },
    },
    "kuhn_poker": {
        "three players, two hands": {"players": 3, "hands": 2, "reward_weights": {"win": 0.3}}
    },
    "leduc_holdem": {"duplicate": {"hands": 4, "duplicate": True, "max_steps": 40}},
    "tic_tac_toe": {"as it is": {}},
    "connect_four": {"small, three in a line": {"rows": 4, "columns": 5, "connect": 3}},
    "negotiation": {
        "a deal by offers": {"protocol": "offers", "max_steps": 24, "discount": 0.9},
        "a small trade": {
            "scenario": "trade",
            "goods": ["wood", "gold"],
            "holdings": [[(2, 4), (2, 4)]] * 2,
            "values": [[(1, 3), (2, 4)]] * 2,
            "max_steps": 20,
        },
        "the commons": {
            "scenario": "commons",
            "players": 3,
            "months": 5,
            "values": (1, 3),
            "collapse": 0,
            "reward_weights": {"survival": 0.3},
        },
    },
    "mission": {
        "foraging, short sight": {
            "scenario": "foraging-2s-6x6-3p-2f",
            "max_steps": 24,
            "reward_weights": {"failed_load": -0.1},
        },
        "a small warehouse, two stages": {
            "scenario": {
                "stages": ["drives", "loads", "deliveries"],
                "map": ["xx.xx", "..g..", "xx.xx"],
                "players": 3,
                "reward": "two_stage",
                "inactivity": 20,
                "sight": 2,
            },
            "max_steps": 30,
        },
        **{f"field: {name}": {"scenario": name, "max_steps": 24} for name in FIELDS},
        "field: turned maze, planes": {
            "scenario": "maze_pair",
            "coordinates": "turned",
            "observation": "grid",
            "max_steps": 24,
        },
    },
    "cuisine": {
        "one kitchen": {"level": 4, "max_steps": 24, "reward_weights": {"start": 0.3}},
        "several kitchens, watched tools": {
            "level": [
                3,
                {
                    "name": "watched",
                    "chefs": 3,
                    "dishes": ["crisps", "double_egg"],
                    "tools": ["slicer", "pan", "griddle"],
                    "cookbook": {
                        "tools": {
                            "slicer": {"time": 3, "watched": True, "take_back": True},
                            "griddle": {"time": 0, "verb": "griddle"},
                        },
                        "ingredients": ["salt"],
                        "recipes": {
                            "crisps": {"tool": "slicer", "from": ["potato", "salt", "salt"]},
                            "double_egg": {"tool": "griddle", "from": ["fried_egg", "fried_egg"]},
                        },
                    },
                },
            ],
            "interval": 3,
            "max_orders": 3,
            "lifetime": 12,
            "reachable": False,
            "max_steps": 24,
        },
    },
    "home": {
        "two rooms, one hand": {
            "task": ["look", "heat", "two"],
            "players": 2,
            "rooms": 2,
            "receptacles": [11, 12],
            "objects": [4, 6],
            "travel": "steps",
            "told": "instructor",
            "discussion": 2,
            "observation": "features",
            "max_steps": 24,
            "reward_weights": {"progress": 0.3, "step": -0.01},
        },
        "transport": {
            "task": "transport",
            "rooms": 2,
            "receptacles": 10,
            "objects": 7,
            "players": 3,
            "containers": "rare",
            "max_steps": 24,
        },
    },
    "drones": {
        "a ring by set-points, ended by collisions": {
            "drones": 2,
            "shape": "ring",
            "cylinders": 2,
            "actions": "position",
            "collisions": "end",
            "randomise": {"mass": [0.9, 1.1]},
            "max_steps": 20,
            "reward_weights": {"shape": -0.25},
        },
        "pursuit by moves, of an agent": {
            "task": "pursuit",
            "drones": 2,
            "actions": "moves",
            "evader": "agent",
            "sight": 4.0,
            "repeat": 5,
            "max_steps": 20,
            "randomise": {
                "gusts": [0.0, 1.0],
                "push": [0.1, 0.2],
                "push_rate": [0, 5],
                "dropout": [0.2, 0.5],
            },
        },
    },
    "volleyball": {
        "a match by velocities, noisy and late": {
            "points": 2,
            "lead": 1,
            "actions": "velocity",
            "randomise": {
                "mass": [0.9, 1.1],
                "restitution": [0.7, 0.8],
                "action_delay": [0, 2],
                "sensor_delay": [0, 1],
                "position_noise": [0.0, 0.02],
            },
            "max_steps": 24,
            "reward_weights": {"hit": 0.3},
        },
        "set-points in the wind": {
            "actions": "position",
            "ball": "real",
            "randomise": {
                "wind": [0, 4],
                "gusts": [0.0, 1.0],
                "push": [0.1, 0.2],
                "push_rate": [0, 5],
                "dropout": [0.0, 0.5],
            },
            "max_steps": 24,
        },
        "discrete": {"task": "bump_and_pass", "actions": "discrete", "max_steps": 24},
    },
    "craftworld": {
        "Craftax-Classic, two specialists": {
            "players": 2,
            "size": [16, 20],
            "roles": "specialists",
            "observation": "compact",
            "reward": "mixed",
            "max_steps": 40,
        },
        "Crafter on a map, with a beacon": {
            "rules": {"name": "crafter", "slots": [12], "plants": 4},
            "map": "TTWW..S\n.0.z..S\n..Bc.CO\n,k_<.1F",
            "start": {"inventory": {"wood": 5, "stone": 2}, "vitals": {"energy": 5}},
            "joint": "beacon",
            "world": [{"name": "brief days", "day_length": 20}, {"name": "usual"}],
            "spawning": True,
            "max_steps": 24,
            "reward_weights": {"joint": 0.3},
        },
    },
    # Wrappers keep the contract too.
    "chat": {"the kitchen": {"env": manyhands.make("kitchen", max_steps=24)}},
    "recent": {"tic-tac-toe": {"env": manyhands.make("tic_tac_toe")}},
    "retries": {
        "tic-tac-toe": {
            "env": manyhands.make("tic_tac_toe"),
            "attempts": 3,
            "improvement": 0.5,
            "chance": "same",
        }
    },
    "skills": {"the kitchen": {"env": manyhands.make("kitchen", max_steps=24)}},
    "events": {"volleyball": {"env": manyhands.make("volleyball", max_steps=300), "patience": 3}},
}
# What takes longest to compile.
SLOW = {("events", "volleyball"), ("craftworld", "Crafter on a map, with a beacon")}
# Of the fields, all but three, which have most of the rules between them.
SLOW |= {("mission", f"field: {name}") for name in FIELDS} - {
    ("mission", f"field: {name}") for name in ("capture", "door_key", "cleanup")
}

# `make test` has one variant of each world, and of each rule book; the others take long.
LONG = {
    ("negotiation", "a deal by offers"),
    ("negotiation", "the commons"),
    ("mission", "field: capture"),
    ("mission", "field: cleanup"),
    ("mission", "field: turned maze, planes"),
    ("cuisine", "several kitchens, watched tools"),
    ("home", "two rooms, one hand"),
    ("volleyball", "set-points in the wind"),
    ("volleyball", "a match by velocities, noisy and late"),
    ("drones", "a ring by set-points, ended by collisions"),
    ("skills", "the kitchen"),
}
LONG |= {("kitchen", name) for name in CASES["kitchen"] if name != "grid"}


def _marks(case: tuple[str, str]) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] * (case in SLOW) + [pytest.mark.long] * (case in LONG)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((id, name), id=f"{id}: {name}", marks=_marks((id, name)))
        for id, variants in CASES.items()
        for name in variants
    ],
)
def case(request) -> testing.Play:
    id, name = request.param
    return testing.play_at_random(manyhands.make(id, **CASES[id][name]))


def test_every_environment_is_covered():
    # Other tests register environments of their own, all of them called "test-...".
    known = {*manyhands.registered(), *manyhands.registered(wrappers=True)}
    assert set(CASES) == {name for name in known if not name.startswith("test-")}


def test_the_last_step_and_promises_are_told(case):
    env = case.env
    for names in (env.event_names, env.event_kinds):
        assert names and len(set(names)) == len(names)
    for frame in case.frames[::5]:
        for i in np.flatnonzero(frame.acting):
            assert all(choice.action is not None for choice in env.choices(frame.state, int(i)))


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__)
def test_contract(case, check):
    check(case)


def test_wrappers_forward_what_they_do_not_change(case):
    if isinstance(case.env, Wrapper):
        testing.check_forwarding(case)


@pytest.mark.parametrize("copied", (copy.deepcopy, lambda what: pickle.loads(pickle.dumps(what))))
def test_a_copy_in_the_middle_of_an_episode_goes_on_by_itself(case, copied):
    env = Parallel(case.env, observe="both", on_illegal="noop")
    env.reset(seed=5)
    for agent in env.agents:  # readers and texts are kept from here on
        assert env.view(agent).choices is not None
    env.step(dict.fromkeys(env.agents, "nothing of the kind"))
    fork = copied(env)
    assert fork.game == env.game and fork.agents == env.agents
    for which in (env, fork):
        if which.agents:
            which.step(dict.fromkeys(which.agents, env.game.noop))
    assert (fork.frame.buffer == env.frame.buffer).all()
    assert fork.view(0).text == env.view(0).text


def test_snapshots_of_others_are_refused(case):
    spec = case.env.spec()
    inner = spec
    while "env" in inner:
        inner = inner["env"]
    inner["config"]["max_steps"] = case.env.max_steps + 1
    other = from_spec(spec)
    assert other != case.env
    with pytest.raises(SnapshotError, match="another environment or configuration"):
        restore(other, snapshot(case.env, case.frames[1].state))


@settings(deadline=None, max_examples=40)
@given(data=st.binary(max_size=300), keep=st.integers(0, 60))
def test_any_bytes_are_refused_politely(case, data, keep):
    good = snapshot(case.env, case.frames[0].state)
    for attempt in (data, good[:keep] + data):
        if attempt != good:
            with pytest.raises(SnapshotError):
                restore(case.env, attempt)


@settings(deadline=None, max_examples=40)
@given(text=st.text(max_size=60))
def test_any_text_is_an_action_or_is_refused_with_a_reason(case, text):
    env, state = case.env, case.frames[0].state
    agent = int(np.flatnonzero(case.frames[0].acting)[0])
    try:
        action = env.parse(text, state, agent)
    except manyhands.IllegalAction as error:
        assert error.reason
    else:
        assert env.action_space.contains(np.asarray(action, env.action_space.dtype))
