"""Shortest plans, and what searching costs."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from homes import KEY, KITCHEN, Table, goal

import manyhands
from manyhands.core.env import ConfigError, episode_key
from manyhands.envs.home import plan
from manyhands.envs.home.state import NONE

CASES = {
    "chore": {},
    "knives, several rooms": {"slicing": True, "rooms": 3, "travel": "steps"},
    "two hands": {"task": "two", "hands": 2, "rooms": 2, "travel": "steps"},
    "house": {"task": "house", "players": 2},
}


@pytest.mark.parametrize("name", CASES)
def test_plans_win_when_they_say(name):
    env = manyhands.make("home", **CASES[name])
    reset, step = jax.jit(env.reset), jax.jit(env.step)
    for seed in range(12):
        key = episode_key(seed)
        state = reset(key)
        player = seed % env.players
        found = plan.shortest(env, state, player)
        assert found.steps == len(found.actions) > 0
        for t, action in enumerate(found.actions):
            actions = np.zeros(env.num_agents, np.int32)
            actions[player] = action
            state, outcome = step(key, state, actions)
            assert float(outcome.metrics["illegal"]) == 0
            assert bool(outcome.terminated[0]) == (t + 1 == found.steps), seed


def test_putting_things_down_elsewhere_saves_nothing():
    for config in ({"task": "chore_small"}, {"task": "two", "hands": 2, "receptacles": 8}):
        env = manyhands.make("home", **{"objects": 6, "rooms": 1, **config})
        reset = jax.jit(env.reset)
        for seed in range(4):
            state = reset(episode_key(seed))
            expected = plan.shortest(env, state, drops=True).steps
            assert plan.optimal_steps(env, state) == expected


def test_plans_go_on_from_anywhere():
    table = Table(task="chore", receptacles=8, objects=8)
    start = {**KITCHEN, "goal": goal("apple", "dining_table", "hot")}
    visit = table.start(start)
    known = plan.shortest(table.env, visit.state)
    # go, open, take, go, heat, go, put
    assert known.steps == 7
    visit.alone("go counter top 1", "take book 1")  # in the way of the apple
    later = plan.shortest(table.env, visit.state)
    assert later.steps == 8
    for action in later.actions:
        visit.state, visit.outcome = table.step(KEY, visit.state, np.array([action], np.int32))
    assert visit.won


def test_a_searcher_looks_into_half_of_what_there_is():
    table = Table(task="chore", receptacles=8, objects=8)
    start = {
        "rooms": ["kitchen"],
        "receptacles": [{"kind": "cabinet"} for _ in range(6)] + [{"kind": "counter_top"}],
        "objects": [{"kind": "mug", "in": "cabinet 4"}],
        "goal": goal("mug", "counter_top"),
    }
    visit = table.start(start)
    # Six cabinets and a counter may hold the mug; it is in one of the cabinets. The five other
    # cabinets (two steps each) and the counter (one) are as likely before as after it.
    expected = (5 * 2 + 1) / 2 + 2 + 3
    found = plan.expected_steps(table.env, visit.state, samples=600)
    assert found == pytest.approx(expected, abs=0.5)
    assert plan.optimal_steps(table.env, visit.state) == 5


def test_bounds_of_several_players():
    env = manyhands.make("home", task="house", players=2)
    reset = jax.jit(env.reset)
    gains = []
    for seed in range(2):
        state = reset(episode_key(seed))
        found = plan.bounds(env, state)
        alone = min(plan.optimal_steps(env, state, n) for n in range(2))
        assert 0 < found.lower <= found.upper <= alone
        gains.append(found.upper < alone)
    assert any(gains)
    one = manyhands.make("home", task="house", players=1)
    state = jax.jit(one.reset)(episode_key(0))
    steps = plan.optimal_steps(one, state)
    assert plan.bounds(one, state) == (steps, steps)


def test_a_pair_with_one_thing_each_has_exact_bounds():
    table = Table(task="chore", players=2, receptacles=8, objects=8)
    start = {**KITCHEN, "task": "two", "goal": goal("mug", "coffee_machine", count=2)}
    found = plan.bounds(table.env, table.start(start).state)
    assert found == (4, 4)


def test_bounds_of_transport():
    env = manyhands.make("home", task="transport")
    for seed in range(3):
        state = jax.jit(env.reset)(episode_key(seed))
        found = plan.bounds(env, state)
        assert 0 < found.lower < found.upper < 3 * env.max_steps
        with pytest.raises(ConfigError, match="bounds"):
            plan.shortest(env, state)


def test_what_others_hold_cannot_be_planned_with():
    table = Table(task="chore", players=2, receptacles=8, objects=8)
    start = {**KITCHEN, "goal": goal("plate", "counter_top")}
    visit = table.start(start).do("wait", "go dining table 1").do("wait", "take plate 1")
    assert visit.place("plate 1") != NONE
    with pytest.raises(ConfigError, match="reached"):
        plan.shortest(table.env, visit.state, 0)
    assert plan.optimal_steps(table.env, visit.state, 1) == 2
