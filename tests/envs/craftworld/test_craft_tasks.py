"""Goals in words and as data, curricula, and the Crafter score."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.core.env import ConfigError, episode_key
from manyhands.envs.craftworld import CraftWorld, tasks
from manyhands.envs.craftworld.rules import ACHIEVEMENTS, ITEMS, MATERIALS, PRESETS
from manyhands.envs.craftworld.tasks import Curriculum, Goal, parse_goal
from manyhands.wrappers.gymnasium import SeatEnv
from manyhands.wrappers.pettingzoo import Parallel
from manyhands.wrappers.vector import Vector

RULES = PRESETS["craftax_classic"]
FULFILLED = jax.jit(tasks.fulfilled)


# ---- the graph -----------------------------------------------------------------------------------


def test_depths_follow_the_chain_to_the_diamond():
    depth = tasks.depths(RULES)
    chain = ("collect_wood", "place_table", "make_wood_pickaxe", "collect_stone")
    chain += ("make_stone_pickaxe", "collect_iron", "make_iron_pickaxe", "collect_diamond")
    assert [depth[name] for name in chain] == list(range(1, 9))
    assert depth["wake_up"] == depth["eat_cow"] == 1
    assert depth["eat_plant"] == 3


def test_requirements_follow_the_tables():
    needs = tasks.requirements(RULES)
    assert set(needs["make_iron_sword"]) == {
        "place_table",
        "place_furnace",
        "collect_wood",
        "collect_stone",
        "collect_coal",
        "collect_iron",
    }
    assert "collect_stone" not in tasks.requirements(PRESETS["crafter"])["make_iron_sword"]


# ---- goals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("Collect 1 diamond.", "collect 1 diamond"),
        ("gather 3 saplings", "collect 3 sapling"),
        ("have an iron_pickaxe", "collect 1 iron pickaxe"),
        ("make_iron_pickaxe", "make iron pickaxe"),
        ("everyone: eat cow", "everyone: eat cow"),
        ("Everybody collect 2 coal", "everyone: collect 2 coal"),
        ("unlock 12 different achievements", "unlock 12 achievements"),
        ("build a wall", "build SSS"),
        ("build ss./t_.", "build SS/T_"),
    ],
)
def test_goals_are_read_from_words(text, words):
    goal = parse_goal(text, 2)
    assert str(goal) == words
    assert parse_goal(words, 2) == goal
    assert Goal.of_row(goal.row()) == goal


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("collect 10 wood", "can hold 1 to 9"),
        ("collect 0 wood", "can hold 1 to 9"),
        ("collect 2 gold", "no item"),
        ("unlock 23 achievements", "22 achievements"),
        ("build castle", "no plan"),
        ("build SSSSSS", "5 x 5"),
        ("build ___", "nothing to build"),
        ("build S//S", "no plan"),
        ("everyone: build wall", "by the team"),
        ("win", "no goal"),
        (3, "a goal is a text"),
    ],
)
def test_what_is_no_goal_is_refused_with_a_reason(text, reason):
    with pytest.raises(ConfigError, match=reason):
        parse_goal(text)


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_goal_or_an_error(text):
    try:
        goal = parse_goal(text)
    except ConfigError:
        return
    assert parse_goal(str(goal)) == goal


def share(text, held=(0, 0), names=((), ()), present=(True, True), site=None):
    """How much of a goal is done by two players with so much wood and these achievements."""
    inventory = np.zeros((2, len(ITEMS)), np.uint8)
    inventory[:, ITEMS.index("wood")] = held
    done = np.array([[name in mine for name in ACHIEVEMENTS] for mine in names])
    ground = np.full((5, 5), MATERIALS.index("grass"), np.uint8)
    for y, row in enumerate(site or []):
        ground[y, : len(row)] = [MATERIALS.index(name) for name in row]
    given = (parse_goal(text, 2).row(), inventory, done, np.array(present), ground)
    single = float(FULFILLED(*given))
    batch = FULFILLED(*(np.stack([x] * 3, -1) for x in given))
    assert batch.tolist() == [single] * 3
    return single


def test_inventory_goals_count_what_the_team_holds():
    assert share("collect 4 wood", (1, 1)) == 0.5
    assert share("collect 4 wood", (1, 3)) == 1
    assert share("collect 4 wood", (9, 9)) == 1
    assert share("collect 4 wood", (1, 3), present=(True, False)) == 0.25
    assert share("everyone: collect 4 wood", (9, 2)) == 0.75
    assert share("everyone: collect 4 wood", (4, 4)) == 1


def test_achievement_goals_count_what_anybody_unlocked():
    names = (("eat_cow", "collect_wood"), ("eat_cow", "place_table"))
    assert share("eat cow", names=names) == 1
    assert share("place table", names=names) == 1
    assert share("place stone", names=names) == 0
    assert share("everyone: place table", names=names) == 0.5
    assert share("unlock 3 achievements", names=names) == 1
    assert share("unlock 4 achievements", names=names) == 0.75
    assert share("everyone: unlock 2 achievements", names=names) == 1


def test_plans_are_compared_with_the_building_site():
    assert share("build SSS/S_S") == pytest.approx(1 / 6)  # the free cell in the middle
    wall = ["stone"] * 3
    assert share("build SSS/S_S", site=[wall, ["stone", "path", "stone"]]) == 1
    assert share("build SSS/S_S", site=[wall, wall]) == pytest.approx(5 / 6)
    assert share("build TP", site=[["table", "ripe plant"]]) == 1
    assert share("") == 0


# ---- families ------------------------------------------------------------------------------------


def test_generated_goals_are_as_deep_as_asked_and_keep_to_their_side():
    rng = np.random.default_rng(0)
    for level in range(1, 9):
        trained = tasks.generate_goals(RULES, level, 5, rng)
        assert trained
        assert {tasks.difficulty(goal, RULES) for goal in trained} == {level}
        assert not any(map(tasks.held_out, trained))
    kept = [tasks.generate_goals(RULES, d, 99, rng, held_out_ones=True) for d in range(1, 9)]
    kept = [goal for goals in kept for goal in goals]
    assert kept
    assert all(map(tasks.held_out, kept))
    with pytest.raises(ConfigError, match="difficulty 1 to 8"):
        tasks.generate_goals(RULES, 9, 1, rng)


# ---- curricula -----------------------------------------------------------------------------------


def test_learning_progress_prefers_what_is_being_learned():
    curriculum = Curriculum(["collect wood", "place table", "collect diamond"], seed=1)
    np.testing.assert_allclose(curriculum.probabilities(), 1 / 3)
    for episode in range(60):
        curriculum.record("collect wood", True, 20)  # mastered
        curriculum.record("place table", episode > 45, 90)  # of late
        curriculum.record("collect diamond", False)  # never
    chances = curriculum.probabilities()
    assert chances[1] > 0.8
    assert chances.sum() == pytest.approx(1)
    assert curriculum.success("collect wood") == 1
    assert curriculum.history["collect wood"].steps == 20
    drawn = [curriculum.sample() for _ in range(200)]
    assert drawn.count("place table") > 130
    again = Curriculum.from_json(curriculum.to_json())
    assert again.history == curriculum.history
    np.testing.assert_array_equal(again.probabilities(), chances)


def test_uniform_draws_are_uniform_and_bad_curricula_are_refused():
    curriculum = Curriculum(["eat cow", "wake up"], "uniform")
    curriculum.record("eat cow", True)
    np.testing.assert_array_equal(curriculum.probabilities(), [0.5, 0.5])
    assert curriculum.rows(7).shape == (tasks.GOAL, 7)
    with pytest.raises(ConfigError, match="no goal of this curriculum"):
        curriculum.record("place table", True)
    for wrong in ({"goals": []}, {"goals": ["eat cow", "eat_cow"]}, {"goals": "eat cow"}):
        with pytest.raises(ConfigError):
            Curriculum(**wrong)
    with pytest.raises(ConfigError, match="sampler"):
        Curriculum(["eat cow"], "best")
    for text in ("", "[]", "{}", json.dumps({"history": {"eat cow": {"oops": 1}}})):
        with pytest.raises(ConfigError, match="no curriculum"):
            Curriculum.from_json(text)


def test_the_score_is_the_published_one():
    # Random play in Crafter: success rates (in percent) and score as the paper's repository has
    # them (Hafner 2021; figures computed from its scores/*.json).
    rates = {"collect_drink": 9.3, "collect_sapling": 50.2, "collect_wood": 24.4}
    rates |= {"defeat_zombie": 0.1, "eat_cow": 0.4, "make_wood_pickaxe": 0.3}
    rates |= {"make_wood_sword": 0.3, "place_plant": 44.6, "place_table": 4.4, "wake_up": 93.6}
    unlocked = np.zeros((1000, len(ACHIEVEMENTS)), bool)
    for name, rate in rates.items():
        unlocked[: round(10 * rate), ACHIEVEMENTS.index(name)] = True
    assert tasks.crafter_score(unlocked) == pytest.approx(1.6, abs=0.1)
    assert tasks.crafter_score(np.ones((3, 22), bool)) == pytest.approx(100)
    assert tasks.crafter_score(np.zeros((3, 22), bool)) == 0


def test_team_and_player_scores_differ():
    unlocked = np.zeros((2, 2, len(ACHIEVEMENTS)), bool)
    unlocked[:, 0, :11] = True
    unlocked[:, 1, 11:] = True
    scores = tasks.Scores(unlocked, np.zeros((2, 2)), np.array([3, 4]), np.zeros(2, bool))
    assert scores.team == pytest.approx(100)
    half = np.expm1(np.log(101) / 2)
    assert scores.per_player == pytest.approx([half, half])
    assert scores.to_dict()["achievements"] == {"per_player": [11, 11], "team": 22}


# ---- goals in the world, and at reset ------------------------------------------------------------


@pytest.fixture(scope="module")
def world():
    return CraftWorld(
        size=16, max_steps=30, start={"inventory": {"wood": 2}}, observation="compact"
    )


def test_the_next_goal_and_world_are_set_at_reset(world):
    env = Parallel(world)
    number = tasks.HELD_OUT_WORLDS[3]
    grounds = []
    for seed in (1, 2):
        env.reset(seed=seed, options={"goal": "place table", "world": number})
        assert str(Goal.of_row(env.current.goal)) == "place table"
        grounds.append(np.array(env.current.map))
    np.testing.assert_array_equal(*grounds)
    env.reset(seed=1)
    assert not env.current.goal.any()
    assert (env.current.map != grounds[0]).any()
    with pytest.raises(ConfigError, match="no goal"):
        env.reset(seed=1, options={"goal": "win"})
    for wrong in (-1, {"day_length": 77}):
        with pytest.raises(ConfigError, match="world"):
            env.reset(seed=1, options={"world": wrong})


def test_reaching_the_goal_ends_the_episode_and_tells_the_step(world):
    env = SeatEnv(world)
    env.reset(seed=4, options={"goal": "place table", "world": 5})
    _, _, over, _, info = env.step("noop")
    assert not over
    assert info["metrics"]["steps_to_goal"] == 0
    _, reward, over, _, info = env.step("place_table")
    assert over
    assert info["metrics"]["steps_to_goal"] == 2
    assert info["terms"]["goal"] == 1
    assert reward == 2  # the goal, and the achievement
    env.reset(seed=4, options={"goal": "collect 3 wood", "world": 5})
    _, _, over, _, info = env.step("place_table")
    assert not over


def test_a_batch_of_states_takes_the_goals_of_a_curriculum(world):
    states = jax.jit(world.batch_reset)(jnp.stack([episode_key(i) for i in range(3)]))
    rows = Curriculum(["eat cow", "wake up"], "uniform").rows(3)
    np.testing.assert_array_equal(tasks.with_goals(states, rows).goal, rows)


def test_batches_say_that_they_draw_their_own_goals(world):
    with pytest.raises(ConfigError, match="no reset option 'goal'"):
        Vector(world, 2).reset(seed=1, options={"goal": "eat cow"})
    several = CraftWorld(size=16, goal=["eat cow", "collect 2 wood", "everyone: wake up"])
    states = jax.jit(several.batch_reset)(jnp.stack([episode_key(i) for i in range(12)]))
    drawn = {str(Goal.of_row(row)) for row in np.asarray(states.goal).T}
    assert drawn == set(several.goals)
    assert several.config()["goal"] == list(several.goals)


def test_a_state_leaves_nothing_to_ask_for():
    game = Parallel(CraftWorld(size=[16, 16]))
    with pytest.raises(ConfigError, match="leave out world"):
        game.reset(seed=0, options={"state": b"", "world": 3})


def test_success_knows_achievements_of_a_preset():
    names = (*ACHIEVEMENTS, "wear_a_crown")
    unlocked = np.zeros((2, 1, len(names)), bool)
    unlocked[0, 0, -1] = True
    scores = tasks.Scores(unlocked, np.zeros((2, 1)), np.ones(2), np.zeros(2, bool), names)
    assert scores.success["wear_a_crown"] == 50 and len(scores.success) == len(names)


def test_helpers_of_a_map_with_a_joint_task_are_in_its_spec():
    env = CraftWorld(map="WWWWWWW\nW.....W\nW.0.1OW\nW.....W\nWWWWWWW", helpers=1)
    assert env.helpers == 1 and type(env)(**env.config()).helpers == 1
