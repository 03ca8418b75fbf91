"""Skills with memory: what left the view is still known; shelters and workshops."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import numpy as np
import pytest

from manyhands.core.choices import HEDGES
from manyhands.core.env import ConfigError, IllegalAction, episode_key
from manyhands.core.pack import fingerprint, restore, snapshot
from manyhands.core.registry import from_spec
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.observe import parse_perception
from manyhands.envs.craftworld.rules import ITEMS
from manyhands.envs.craftworld.shelter import enclosed
from manyhands.envs.kitchen import Kitchen
from manyhands.wrappers.skills import DONE, UNDER_WAY, Skills

# Trees at the left, water at the right, further apart than one sees; a wall with a gap between.
MAP = """
TTTSSS....S.....WW
T...S.....S.....WW
T.0.......S......W
..............,,,W
..........S......W
....SS....S......W
"""
START = {"inventory": {"wood": 4, "stone": 9, "wood_pickaxe": 1}, "vitals": {"energy": 4}}


@functools.lru_cache
def game() -> tuple[Skills, Any, Any]:
    env = Skills(CraftWorld(map=MAP, start=START), memory=True)
    return env, jax.jit(env.step), jax.jit(env.reset)(episode_key(0))


@functools.lru_cache
def compiled(name: str) -> Any:
    """A method of the game, or `perceive` of the world inside, compiled once for all tests."""
    env, _, _ = game()
    methods = {"rows": env.rows, "begin": env.begin, "legal": env.legal}
    return jax.jit((methods | {"perceive": env.env.perceive})[name])


def forgetful() -> Skills:
    """The same game without memory; nothing of it is compiled."""
    return Skills(CraftWorld(map=MAP, start=START))


def run(words: list[str], state: Any = None, limit: int = 60) -> Any:
    """The state after one player did skills, each until it was done."""
    env, step, first = game()
    state = first if state is None else state
    for text in words:
        for time in range(limit):
            action = np.array([env.parse(text, state, 0)], np.int32)
            state, outcome = step(jax.random.key(time), state, action)
            assert outcome.metrics["illegal"] == 0
            if state.status[0] == DONE:
                break
            assert state.status[0] == UNDER_WAY
        else:
            raise AssertionError(f"{text!r} was not done in {limit} steps")
    return state


def words_of(state: Any) -> dict[str, str]:
    env, _, _ = game()
    rows = np.asarray(compiled("rows")(state))
    return dict(zip(env.skills.names, env.skills.words(rows[0]), strict=True))


def test_what_left_the_view_is_still_known():
    env, _, first = game()
    with pytest.raises(IllegalAction, match="you know of none"):
        env.parse("go to water", first, 0)
    state = run(["explore east"])
    assert state.inner.position[0, 1] > 14  # the trees are out of view
    trees = np.asarray(compiled("perceive")(state.inner))[0, env.env.layout["cells"]] == rl.TREE
    assert not trees.any()
    assert "steps away" in words_of(state)["collect wood until you hold 5"]
    state = run(["collect 1 wood"], state)
    assert state.inner.inventory[0, ITEMS.index("wood")] == 5
    # From the other end it knows the way back to the water.
    state = run(["drink"], state) if state.inner.vitals[0, 2] < 9 else state
    names = forgetful().skills.names
    assert "shelter" not in names
    assert len(names) == len(env.skills.names) - 2


def test_tools_are_made_at_a_table_that_was_seen():
    state = run(["place table", "explore east"])
    assert not parse_perception(game()[0].env.layout, compiled("perceive")(state.inner)[0]).table
    assert "steps away" in words_of(state)["make stone pickaxe"]
    state = run(["make stone pickaxe"], state)
    assert state.inner.inventory[0, ITEMS.index("stone_pickaxe")] == 1


def test_a_workshop_is_a_table_and_a_furnace_within_reach_of_one_cell():
    env, _, first = game()
    state = run(["build workshop"])
    sight = parse_perception(env.env.layout, compiled("perceive")(state.inner)[0])
    assert sight.table and sight.furnace
    assert words_of(first)["make iron pickaxe"].startswith("needs")
    held = np.array(first.inner.inventory)
    held[0] = [item == "stone" for item in ITEMS]
    words = words_of(compiled("begin")(dataclasses.replace(first.inner, inventory=held)))
    assert "2 wood" in words["build workshop"]
    assert words["shelter"] == "needs 2 stones, you hold 1"  # beside trees


@pytest.mark.parametrize("facing", range(4))
def test_a_shelter_is_closed_from_any_standing_ground(facing: int):
    env, _, first = game()
    inner = dataclasses.replace(
        first.inner,
        position=np.array([[3, 7]], np.uint8),
        facing=np.array([facing], np.uint8),
        plant_age=first.inner.plant_age,
    )
    state = run(["shelter"], compiled("begin")(inner))
    assert enclosed(parse_perception(env.env.layout, compiled("perceive")(state.inner)[0]))
    with pytest.raises(IllegalAction, match="done already"):
        env.parse("shelter", state, 0)


def test_sleep_goes_on_until_one_is_rested_and_ends_with_a_hit():
    env, step, first = game()
    sleep = env.skills.names.index("sleep")
    state, _ = step(jax.random.key(0), first, np.array([sleep], np.int32))
    assert state.inner.asleep[0] and np.asarray(compiled("legal")(state))[0, sleep]
    rested = run(["sleep"], state, 120)
    assert rested.inner.vitals[0, 3] == 9 and not rested.inner.asleep[0]
    hit = dataclasses.replace(state.inner, asleep=np.array([False]))
    seen = compiled("perceive")(hit)[0]
    # Compiled as one: step by step, each of its loops is compiled by itself.
    memory = jax.jit(env.skills.remember)(compiled("rows")(state)[0], np.int32(rl.NOOP), seen)
    row = np.concatenate([seen, memory])
    _, done, _ = env.skills.control(row, np.int32(sleep))
    assert done


def test_it_is_kept_with_the_state_and_an_option():
    env, _, _ = game()
    assert from_spec(env.spec()) == env != forgetful()
    assert forgetful().config() == {}
    state = run(["explore east"])
    again = restore(env, snapshot(env, state))
    assert fingerprint(env, again) == fingerprint(env, state)
    np.testing.assert_array_equal(again.memory, state.memory)
    observed, inner = jax.jit(env.observe)(state), jax.jit(env.env.observe)(state.inner)
    assert (np.asarray(observed) == np.asarray(inner)).all()
    with pytest.raises(ConfigError, match="remember nothing"):
        Skills(Kitchen("cramped_room"), memory=True)


def test_words_that_are_not_certain_say_so():
    env, _, first = game()
    for state in (first, run(["explore east"])):
        for choice in env.choices(state, 0):
            if choice.effect:
                assert not choice.certain
                assert set(choice.effect.replace(",", " ").split()) & set(HEDGES), choice
