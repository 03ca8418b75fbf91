"""Players of homes, skills, questions and pictures."""

import itertools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pygame
import pytest
from homes import compiled

import manyhands
from manyhands.baselines.bots import home as bots
from manyhands.baselines.evaluation.matches import play_matches
from manyhands.core.choices import pointed
from manyhands.core.env import episode_key
from manyhands.core.pack import stepper
from manyhands.core.probes import NOT_KNOWN
from manyhands.envs.home.known import known_of, legal_of
from manyhands.envs.home.state import NONE, Actions
from manyhands.testing import check_seat

SMALL = {"receptacles": [8, 10], "objects": [8, 10]}
HOUSE = {"rooms": 3, "receptacles": 18, "objects": 12, "max_steps": 60}


def make(task="chore_small", **options):
    return manyhands.make("home", task=task, **options)


def steps(env, policy, count, seed=0):
    """The frames of an episode; the policy is a function of the views."""
    frames = []

    def watch(moment):
        frames.append(moment)

    manyhands.play(env, policy, 1, seed, on_step=watch, max_steps=count, progress=False)
    return frames


# ---- what players know ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"task": "chore_small", "slicing": True, "players": 2, "discussion": 2},
        {"task": "house", "told": "instructor", **HOUSE},
        {"task": "transport", "rooms": 2, "receptacles": 10, "objects": 12},
    ],
    ids=["chores", "house", "transport"],
)
def test_a_player_knows_what_it_may_do(options):
    env = make(**options)
    knows = jax.jit(lambda row: legal_of(env, known_of(env, row)))
    wrong, kinds = 0, set()
    seats = ["tidy:noise=0.6"] * env.num_agents
    for moment in steps(env, seats, 120):
        for view in moment.views:
            wrong += not np.array_equal(np.asarray(knows(view.perception)), view.legal)
            kinds |= set(np.flatnonzero(view.legal).tolist())
    assert wrong == 0
    numbers = Actions(env)
    assert len(kinds) > 10 and max(kinds) >= numbers.take


# ---- scripted players ----------------------------------------------------------------------------


def scores(env, players, episodes=64):
    (match,) = play_matches(env, players, [tuple(range(len(players)))], episodes, 1)
    return match


def test_experts_do_chores():
    env = make(**SMALL)
    seats = [bots.tidy(env), bots.tidy(env, memory=False), bots.tidy(env, noise=0.5)]
    tidy, forgetful, noisy = play_matches(env, seats, [(0,), (1,), (2,)], 96, 1)
    done = [match.metrics["success"].mean() for match in (tidy, forgetful, noisy)]
    assert done[0] >= 0.98 and tidy.lengths.mean() < 16
    assert tidy.lengths.mean() < min(forgetful.lengths.mean(), noisy.lengths.mean())
    assert tidy.metrics["illegal"].sum() == 0


@pytest.mark.slow
def test_helpers_share_the_work_of_a_house():
    env = make("house", **HOUSE)
    seats = [bots.helper(env), bots.tidy(env)]
    both, alone = play_matches(env, seats, [(0, 0), (1, 1)], 64, 1)
    assert both.metrics["success"].mean() >= 0.98
    assert both.lengths.mean() < alone.lengths.mean()
    assert both.metrics["raced"].mean() < alone.metrics["raced"].mean()


def test_transport_uses_containers():
    env = make("transport", players=1, rooms=3, receptacles=14, objects=12)
    match = scores(env, [bots.helper(env)], 48)
    assert match.metrics["success"].mean() >= 0.95
    packed = [
        1
        for moment in steps(env, [bots.helper(env)], 60)
        if np.asarray(moment.frame.state.place).max(where=np.asarray(
            moment.frame.state.place) < NONE, initial=0) >= env.receptacles + env.hands
    ]  # fmt: skip
    assert packed


def test_followers_keep_the_leader_in_sight():
    env = make("follow", rooms=4, receptacles=16, max_steps=60)
    seats = [bots.leader(env), bots.follower(env), manyhands.seat("random", env)]
    follows, strays = play_matches(env, seats, [(0, 1), (0, 2)], 64, 1)
    assert follows.terms["errand"][:, 0].mean() > 6
    assert follows.terms["follow"][:, 1].mean() > 1.5 * strays.terms["follow"][:, 1].mean()


def test_seats_play_in_wrappers_and_repeat():
    env = make("house", **HOUSE)
    check_seat("helper", env)
    talking = manyhands.make("chat", env=env)
    result = manyhands.play(talking, "bot", max_steps=5, progress=False)
    assert sum(result.episodes[0].illegal) == 0
    with pytest.raises(manyhands.SeatError):
        manyhands.seat("tidy", manyhands.make("kuhn_poker"))
    with pytest.raises(manyhands.ConfigError):
        manyhands.seat("tidy:speed=2", env)


# ---- skills --------------------------------------------------------------------------------------


def test_a_goal_is_reached_by_skills():
    env = manyhands.make("skills", env=make("heat", **SMALL))
    said = []

    def cook(view):
        thing, place = re.search(r"Goal: put a hot (.+?) (?:in|on) an? (.+?)\.", view.text).groups()
        offered = [choice.text for choice in view.all_choices]
        hot = re.search(rf"You hold {thing} \d+ \(hot\)", view.text)
        wanted = f"bring {thing} to {place}" if hot else f"heat {thing}"
        name = wanted if wanted in offered else f"find {thing}"
        said.append(name.split()[0])
        return name

    result = manyhands.play(env, cook, 3, 2, progress=False, on_illegal="raise")
    assert result.mean["success"] == 1.0 and {"find", "heat", "bring"} == set(said)
    assert result.mean["illegal"] == 0


def test_plain_steps_beside_skills_are_said_in_words():
    """No text has the numbers of slots: actions of the home are named as in its own choices."""
    home = make(**SMALL)
    env = manyhands.make("skills", env=home)
    state = env.reset(episode_key(0))
    for said in [choice.text for choice in home.choices(state.inner, 0, None)][1:]:
        right = env.lift(home.parse(said, state.inner, 0))
        assert env.parse(f"step: {said}", state, 0) == right
        assert env.parse(said, state, 0) == right  # it has a number, and no skill has
    offered = env.choices(state, 0, None)
    assert {"step: go to fridge 1", "find mug"} <= {choice.text for choice in offered}
    assert not any("receptacle 0" in choice for choice in env.choices(state, 0))
    with pytest.raises(manyhands.IllegalAction, match="go there first"):
        env.parse("step: open fridge 1", state, 0)
    row = jnp.asarray([env.parse("go to fridge 1", state, 0)])
    state, _ = env.step(jax.random.key(0), state, row)
    assert home.to_dict(state.inner)["players"]["player_0"]["at"] == "fridge 1"
    assert "Your last skill: a plain step (done)." in env.describe(state, 0)


def test_skills_that_differ_in_a_name_are_offered_in_one_line():
    env = manyhands.make("skills", env=make("house"))
    state = env.reset(episode_key(0))
    offered = env.choices(state, 0)
    assert len(offered) <= 24 < len(env.choices(state, 0, None))
    (find,) = [choice for choice in offered if choice.text.startswith("find ")]
    assert "butter knife, " in find and "key chain, " in find
    assert ": you look into the next place in " in find


def test_skills_are_read_and_lift_actions():
    home = make(**SMALL)
    env = manyhands.make("skills", env=home)
    skills = home.skill_set()
    for text, name in {
        "Look for the mug.": "find mug",
        "grab a salt shaker": "fetch salt shaker",
        "wash the fork": "clean fork",
        "put the mug in the cabinet": "bring mug to cabinet",
        "put it down on the counter top": "put down: counter top",
        "walk to the fridge": "go to fridge",
        "search the kitchen": "search kitchen",
        "explore": "look around",
        "switch on the lamp": "turn on a lamp",
        "wait here": "wait",
    }.items():
        assert skills.names[skills.parse(text)] == name, text
    assert skills.parse("do not take the mug") is None
    with pytest.raises(manyhands.IllegalAction):
        skills.parse("heat the book")
    lifted = jax.vmap(skills.primitive)(jnp.arange(home.action_space.n))
    assert len(set(np.asarray(lifted).tolist())) == home.action_space.n
    frame = stepper(env).reset(np.array([0, 3], np.uint32))
    assert np.array_equal(np.asarray(env.lower(frame.legal[0])),
                          np.asarray(home.legal(frame.state.inner)[0]))  # fmt: skip
    assert "find KIND" in skills.rules()


# ---- questions -----------------------------------------------------------------------------------


def test_beliefs_go_stale():
    env = make("house", **HOUSE)
    stale, others, kinds = 0, 0, set()
    for moment in steps(env, ["tidy:noise=0.5", "tidy:noise=0.2"], 60, 3):
        state = moment.frame.state
        names = {}
        for view in moment.views:
            for question in env.questions(state, view.agent):
                kinds.add(question.kind)
                stale += question.kind == "objects" and question.believed != question.true
                if question.kind == "others" and question.believed != NOT_KNOWN:
                    others += 1
                    assert question.believed == question.true, question
                names[view.agent, question.text] = question
        # What the first is asked about the second's mind is what the second itself believes.
        for (agent, text), question in names.items():
            about = re.match(r"Where does (\w+) think that (.*) is\?", text)
            own = names.get((about[1], f"Where is {about[2]}?")) if about else None
            if own is not None and "hands" not in own.believed + question.true:
                assert own.believed == question.true, (agent, text)
    assert stale and others and kinds == {"objects", "states", "doors", "players", "others"}


def test_instructors_are_asked_nothing():
    env = make("house", told="instructor", **HOUSE)
    state = jax.device_get(jax.jit(env.reset)(jax.random.key(0)))
    assert env.questions(state, "instructor") == [] and env.questions(state, 0)


# ---- pictures ------------------------------------------------------------------------------------


def test_pictures_show_what_a_player_knows():
    env = make("house", **HOUSE)
    state = steps(env, "helper", 8)[-1].frame.state
    pictures = []
    for agent in (None, 0, 1):
        canvas = pygame.Surface((320, 240))
        env.draw(state, canvas, agent)
        pictures.append(pygame.surfarray.array3d(canvas))
    assert all((a != b).any() for a, b in itertools.pairwise(pictures))
    before = pygame.surfarray.array3d(canvas)
    assert env.draw_speech(state, canvas, {0: "I found the mug", 1: "good"}, 1)
    assert (pygame.surfarray.array3d(canvas) != before).any()


@pytest.mark.parametrize("size", [(40, 30), (900, 200), (200, 700)])
def test_pictures_fit_any_canvas(size):
    env = make("transport", rooms=2, receptacles=10, objects=12)
    env.draw(jax.device_get(compiled(env, "reset")(jax.random.key(0))), pygame.Surface(size))


@pytest.mark.parametrize("task", ["house", "transport"])
def test_clicks_on_pictures_are_actions(task):
    """Every spot is possible; places are gone to, and what lies where one is, is taken."""
    env = make(
        task, **(HOUSE if task == "house" else {"rooms": 2, "receptacles": 10, "objects": 12})
    )
    verbs = set()
    for moment in steps(env, "helper", 40):
        for agent in range(env.num_agents):
            state, size = moment.frame.state, (640, 480)
            spots = env.spots(state, size, agent)
            for spot in spots:
                assert moment.frame.legal[agent][env.parse(spot.text, state, agent)], spot
                assert 0 <= spot.left < spot.left + spot.width <= 1.05 and spot.top >= 0
                verbs.add(spot.text.split()[0])
            aims = {pointed(spots, s.left + s.width / 2, s.top + s.height / 2) for s in spots}
            taken = {c.text for c in env.choices(state, agent, None) if c.text.startswith("take ")}
            assert taken <= {spot.text for spot in spots} and len(aims) > 3
            assert pointed(spots, 2.0, 0.5) == ""
    assert {"go", "take", "put", "open", "wait"} <= verbs | (
        {"open"} if task == "transport" else set()
    )
