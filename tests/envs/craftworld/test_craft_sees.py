"""`sees="near"`: of teammates out of view nothing is known, in vectors and in words."""

import dataclasses

import jax
import numpy as np

from manyhands.core.env import episode_key
from manyhands.core.probes import NOT_KNOWN
from manyhands.core.registry import from_spec
from manyhands.core.render import render
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.setting import MATE, UNKNOWN
from manyhands.envs.craftworld.words import observe
from manyhands.testing import lookalikes, play_at_random
from manyhands.testing.questions import check_questions

MAP = "\n".join(["." * 16] * 5 + ["...0....1...2..."] + ["." * 16] * 4)
NEAR = CraftWorld(map=MAP, sees="near")
ALL = CraftWorld(map=MAP)
NEARBY, EVERYTHING = jax.jit(NEAR.perceive), jax.jit(ALL.perceive)


def state_with(**changes):
    """The first state, with other players' places or conditions."""
    first = jax.device_get(NEAR.reset(episode_key(0)))
    return dataclasses.replace(first, **{k: np.asarray(v, np.uint8) for k, v in changes.items()})


def test_only_who_is_in_view_is_known():
    # Player 1 stands at the edge of view of player 0 at first, then a column further.
    for place, seen in (([5, 7], True), ([5, 8], False), ([8, 3], True), ([9, 3], False)):
        state = state_with(position=[[5, 3], place, [5, 12]], request=[0, 2, 0])
        rows, whole = np.array(NEARBY(state)), np.array(EVERYTHING(state))
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
    mates = np.asarray(NEARBY(state))[0, NEAR.layout["teammates"]].reshape(-1, MATE)
    assert mates[:, 2].tolist() == [UNKNOWN, rl.ALIVE]


def test_symbolic_says_no_more_than_the_row_and_stays_in_its_bounds():
    state = state_with(position=[[5, 3], [5, 7], [5, 12]])
    vectors = np.asarray(jax.jit(NEAR.observe)(state))
    assert NEAR.observation_space.contains(vectors[0])
    mates = vectors[:, NEAR.symbols["teammates"]].reshape(3, 2, -1)
    assert mates[0, 0].any() and not mates[0, 1].any()
    sights = ((NEAR, NEARBY), (ALL, EVERYTHING))
    inputs = [np.asarray(env.network_input(perceive(state)[0])) for env, perceive in sights]
    assert np.isfinite(inputs[0]).all() and not np.array_equal(*inputs)
    pixels = [CraftWorld(map=MAP, sees=sees, observation="pixels") for sees in ("near", "all")]
    near, whole = (np.asarray(jax.jit(env.observe)(state))[0] for env in pixels)
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
    words = dict(zip(skills.names, skills.words(np.asarray(NEARBY(state))[0]), strict=True))
    assert words["follow player_1"] == "about 3 steps away"
    assert words["follow player_2"].startswith("not now")


def test_the_configuration_holds_it_where_it_is_not_the_default():
    assert "sees" not in ALL.config() and NEAR.config()["sees"] == "near"
    assert from_spec(NEAR.spec()) == NEAR != ALL


def test_questions_about_those_out_of_view():
    state = state_with(position=[[5, 3], [5, 7], [4, 12]], request=[0, 2, 1], alive=[1, 1, 2])
    asked = {q.text: q for q in NEAR.questions(state, 0)}
    gifts = [name.replace("_", " ") for name in NEAR.craft.gifts]
    for text, believed, true in (
        ("How is player_1?", "up and awake", "up and awake"),
        ("How is player_2?", NOT_KNOWN, "down"),
        ("Is player_1 above you, below you or in your row?", "in your row", "in your row"),
        ("Is player_2 above you, below you or in your row?", NOT_KNOWN, "above you"),
        ("Is player_2 left of you, right of you or in your column?", NOT_KNOWN, "right of you"),
        ("What does player_1 ask for?", gifts[1], gifts[1]),
        ("What does player_2 ask for?", NOT_KNOWN, gifts[0]),
    ):
        assert (asked[text].believed, asked[text].true) == (believed, true), text
    # Who sees the whole team has questions about the map and what others carry alone.
    assert {q.kind for q in ALL.questions(state, 0)} == {"map", "inventory"}
    dead = {q.text: q for q in NEAR.questions(state_with(alive=[1, rl.DEAD, 1]), 0)}
    assert dead["How is player_1?"].true == "dead" and {
        q.believed for text, q in dead.items() if "player_1" in text
    } == {NOT_KNOWN}


def test_what_is_asked_follows_from_what_is_seen():
    goals = ["collect 2 wood", "make wood pickaxe"]
    env = CraftWorld(map=MAP, sees="near", told="first", goal=goals)
    played = play_at_random(env)
    found = list(lookalikes(played))
    assert any(
        len({tuple(q.true for q in env.questions(state, i)) for state in states}) > 1
        for i, states in found
    )
    check_questions(played)
    asked = [
        next(q for q in env.questions(played.frames[0].state, i) if q.kind == "goal")
        for i in (0, 1)
    ]
    assert asked[0].believed == asked[0].true == asked[1].true in goals
    assert asked[1].believed == NOT_KNOWN
