"""`sees="near"`: of teammates out of view nothing is known, in vectors and in words."""

import dataclasses

import jax
import numpy as np

from manyhands.core.env import episode_key
from manyhands.core.registry import from_spec
from manyhands.core.render import render
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.setting import MATE, UNKNOWN
from manyhands.envs.craftworld.words import observe

MAP = "\n".join(["." * 16] * 5 + ["...0....1...2..."] + ["." * 16] * 4)
NEAR = CraftWorld(map=MAP, sees="near")
ALL = CraftWorld(map=MAP)


def state_with(**changes):
    """The first state, with other players' places or conditions."""
    first = jax.device_get(NEAR.reset(episode_key(0)))
    return dataclasses.replace(first, **{k: np.asarray(v, np.uint8) for k, v in changes.items()})


def test_only_who_is_in_view_is_known():
    # Player 1 stands at the edge of view of player 0 at first, then a column further.
    for place, seen in (([5, 7], True), ([5, 8], False), ([8, 3], True), ([9, 3], False)):
        state = state_with(position=[[5, 3], place, [5, 12]], request=[0, 2, 0])
        rows, whole = np.array(NEAR.perceive(state)), np.array(ALL.perceive(state))
        mates = rows[0, NEAR.layout["teammates"]].reshape(-1, MATE)
        expected = whole[0, ALL.layout["teammates"]].reshape(-1, MATE)
        unknown = [0, 0, UNKNOWN, *[0] * (MATE - 3)]
        assert mates[0].tolist() == (expected[0].tolist() if seen else unknown)
        assert mates[1].tolist() == unknown
        # All else is as it was.
        rows[:, NEAR.layout["teammates"]] = whole[:, ALL.layout["teammates"]] = 0
        np.testing.assert_array_equal(rows, whole)


def test_the_dead_are_as_those_out_of_view():
    state = state_with(position=[[5, 3], [5, 4], [5, 5]], alive=[1, rl.DEAD, 1])
    mates = np.asarray(NEAR.perceive(state))[0, NEAR.layout["teammates"]].reshape(-1, MATE)
    assert mates[:, 2].tolist() == [UNKNOWN, rl.ALIVE]


def test_symbolic_says_no_more_than_the_row_and_stays_in_its_bounds():
    state = state_with(position=[[5, 3], [5, 7], [5, 12]])
    vectors = np.asarray(NEAR.observe(state))
    assert NEAR.observation_space.contains(vectors[0])
    mates = vectors[:, NEAR.symbols["teammates"]].reshape(3, 2, -1)
    assert mates[0, 0].any() and not mates[0, 1].any()
    inputs = [np.asarray(env.network_input(env.perceive(state)[0])) for env in (NEAR, ALL)]
    assert np.isfinite(inputs[0]).all() and not np.array_equal(*inputs)
    pixels = [CraftWorld(map=MAP, sees=sees, observation="pixels") for sees in ("near", "all")]
    near, whole = (np.asarray(env.observe(state))[0] for env in pixels)
    assert not np.array_equal(near, whole)
    np.testing.assert_array_equal(near[:49], whole[:49])


def test_words_say_who_is_out_of_view_and_what_is_known_of_the_others():
    state = state_with(position=[[5, 3], [5, 7], [5, 12]])
    lines = NEAR.describe(state, 0).split("\n")
    (first,) = [line for line in lines if line.startswith("player_1")]
    (second,) = [line for line in lines if line.startswith("player_2")]
    assert "4 right" in first and "health 9" in first
    assert "view" in second and "health" not in second
    render(NEAR, state, "player_0")
    # Down and alone in view, one does not know that nobody is up.
    state = state_with(position=[[5, 3], [5, 14], [5, 12]], alive=[2, 1, 2])
    assert not observe(NEAR, state, 0)[0].abandoned
    state = state_with(position=[[5, 3], [5, 14], [5, 12]], alive=[2, 2, 2])
    assert observe(ALL, state, 0)[0].abandoned


def test_skills_do_not_reach_for_who_is_out_of_view():
    state = state_with(position=[[5, 3], [5, 7], [5, 12]], inventory=np.full((3, 12), 2))
    skills = NEAR.skill_set()
    words = dict(zip(skills.names, skills.words(np.asarray(NEAR.perceive(state))[0]), strict=True))
    assert words["follow player_1"] == "about 3 steps away"
    assert words["follow player_2"].startswith("not now")


def test_the_configuration_holds_it_where_it_is_not_the_default():
    assert "sees" not in ALL.config() and NEAR.config()["sees"] == "near"
    assert from_spec(NEAR.spec()) == NEAR != ALL
