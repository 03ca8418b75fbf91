"""`told="first"`: the goal and the building site are known to player 0 alone, in vectors and in
words; and building sites on which a plan can be built."""

import dataclasses

import jax
import numpy as np
import pytest

from manyhands.core.env import ConfigError, episode_key, seed_key
from manyhands.core.registry import from_spec
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.goals import parse_goal
from manyhands.envs.craftworld.tasks import with_goals

MAP = "\n".join(["." * 12] * 4 + ["...0.1......"] + ["." * 12] * 4)
GOAL = "build garden"
FIRST = CraftWorld(map=MAP, told="first", goal=GOAL)
ALL = CraftWorld(map=MAP, goal=GOAL)


def test_only_the_first_is_told_the_goal_and_the_site():
    state = jax.device_get(FIRST.reset(episode_key(0)))
    rows, whole = (np.array(jax.jit(env.perceive)(state)) for env in (FIRST, ALL))
    np.testing.assert_array_equal(rows[0], whole[0])
    for name in ("goal", "site"):
        assert whole[1, ALL.layout[name]].any()
        assert not rows[1, FIRST.layout[name]].any()
        whole[1, ALL.layout[name]] = 0
    np.testing.assert_array_equal(rows[1], whole[1])
    vectors = np.asarray(jax.jit(FIRST.observe)(state))
    assert vectors[0, FIRST.symbols["goal"]].any()
    assert not vectors[1, FIRST.symbols["goal"]].any()
    # All who count are judged by the goal, whoever knows it.
    assert state.goal.any()


def test_words_say_no_more_than_the_vector():
    state = FIRST.reset(episode_key(0))
    own, other = FIRST.describe(state, 0), FIRST.describe(state, 1)
    plan = str(parse_goal(GOAL))
    assert plan in own and "Building site" in own
    assert plan not in other and "Building site" not in other
    rules = [FIRST.rules(agent) for agent in range(2)]
    assert plan in rules[0] and "player_1" in rules[0]
    assert plan not in rules[1] and "player_0" in rules[1]
    assert all(plan in ALL.rules(agent) for agent in range(2))


def test_the_configuration_holds_it_where_it_is_not_the_default():
    assert "told" not in ALL.config() and FIRST.config()["told"] == "first"
    assert from_spec(FIRST.spec()) == FIRST != ALL
    with pytest.raises(ConfigError, match="first"):
        CraftWorld(told="nobody")


# ---- building sites ------------------------------------------------------------------------------

# Grass for a garden lies only in the last two columns, and a little beside the usual site.
SANDY = "\n".join([",,,,,,,,,,..", ",,,,,,T,,,..", ",,0,1,.,,,..", *[",,,,,,,,,,.."] * 5])


def plan_at(env: CraftWorld, state, plan: str) -> list:
    """The materials at the building site, where the plan has a letter."""
    row, column = np.asarray(state.site).tolist()
    ground = np.asarray(state.map).reshape(env.height, env.width)
    lines = parse_goal(f"build {plan}").plan.split("/")
    return [ground[row + y, column + x] for y, line in enumerate(lines) for x in range(len(line))]


def test_a_garden_gets_a_site_where_plants_grow():
    env = CraftWorld(map=SANDY)
    usual = env.reset_to(episode_key(0), {"goal": "build wall"})
    assert np.asarray(usual.site).tolist() == [0, 4]
    state = env.reset_to(episode_key(0), {"goal": "build garden"})
    # A site of 5 x 5 cells, of which the first two in two rows are the garden: none has grass.
    assert np.asarray(state.site).tolist() == [0, 4]
    wide = "\n".join(line + "," * 3 for line in SANDY.split("\n"))
    env = CraftWorld(map=wide)
    state = env.reset_to(episode_key(0), {"goal": "build garden"})
    assert np.asarray(state.site).tolist() == [0, 10]
    assert plan_at(env, state, "garden") == [rl.GRASS] * 4
    # A tree leaves grass: a wall of two with a plant at its end ends at the tree.
    state = env.reset_to(episode_key(0), {"goal": "build SP"})
    assert np.asarray(state.site).tolist() == [1, 5]


def test_what_cannot_be_cleared_is_no_site():
    walls = [",,,,,,,,,,"] * 9
    rock = CraftWorld(map="\n".join(["0,,,,,,,,,", *walls]))
    assert np.asarray(rock.reset_to(episode_key(0), {"goal": "build S"}).site).tolist() == [0, 2]
    ore = CraftWorld(map="\n".join(["0,D,,,,,,,", *walls]))
    assert np.asarray(ore.reset_to(episode_key(0), {"goal": "build S"}).site).tolist() == [0, 1]
    assert rl.DIAMOND not in plan_at(ore, ore.reset_to(episode_key(0), {"goal": "build S"}), "S")


@pytest.mark.slow
def test_sites_are_the_same_in_a_batch_and_in_generated_worlds():
    env = CraftWorld(size=16, goal=["build garden", "collect wood"])
    keys = jax.vmap(seed_key)(np.arange(6, dtype=np.uint32))
    states = jax.device_get(env.batch_reset(keys))
    rows = np.stack([parse_goal("build garden").row()] * 6, axis=-1)
    states = jax.device_get(with_goals(states, rows, env))
    for i in range(6):
        one = jax.tree.map(lambda leaf, i=i: leaf[..., i], states)
        alone = env.reset_to(episode_key(i), {"goal": "build garden"})
        np.testing.assert_array_equal(one.site, alone.site)
        assert set(plan_at(env, one, "garden")) <= {rl.GRASS, rl.TREE}
    # Without a world, sites stay as they are.
    moved = dataclasses.replace(states, site=states.site * 0)
    np.testing.assert_array_equal(with_goals(moved, rows).site, 0)


@pytest.mark.parametrize(
    ("goal", "players", "told"),
    [
        ("everyone: collect 5 wood", 2, ("each", "at one time")),
        ("collect 5 wood", 2, ("together", "at one time")),
        ("collect 5 wood", 1, ("you hold", "at one time")),
        (["everyone: collect 2 coal", "build wall"], 2, ("each", "at one time", "plan")),
    ],
)
def test_the_rules_tell_when_a_goal_is_reached(goal, players, told):
    env = CraftWorld(players=players, size=16, goal=goal)
    line = env.rules(0).split("\n")[3]
    assert all(words in line for words in told)
