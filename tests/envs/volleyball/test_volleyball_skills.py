"""The skills: predicting the ball, meeting it, and their names in words."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core.env import ConfigError, IllegalAction
from manyhands.core.registry import from_spec
from manyhands.envs.volleyball import Volleyball, hits, naming
from manyhands.envs.volleyball.flight import GO, SPIKE, falls_to
from manyhands.wrappers.events import Events

DUEL, TEAMS = Volleyball("1v1"), Volleyball("3v3")
SOLO, TEAM = DUEL.skill_set(), TEAMS.skill_set()


def rows(env, **situation):
    return np.asarray(env.perceive(env.place(**situation)))


def test_a_ball_falls_where_it_is_predicted():
    place, velocity = np.array([0.5, -1.0, 2.0]), np.array([2.0, 0.5, 4.0])
    time, where = falls_to(SOLO.body, place, velocity, jnp.float32(1.2))
    t = float(time)
    np.testing.assert_allclose(
        where, place + velocity * t - np.array([0, 0, 9.81 / 2]) * t * t, atol=1e-4
    )
    assert abs(float(where[2]) - 1.2) < 1e-4 and velocity[2] - 9.81 * t < 0
    assert float(falls_to(SOLO.body, place, velocity, jnp.float32(9.0))[0]) < 0


@pytest.mark.parametrize("target", [(-2.4, 0.5, 0.1), (-1.0, -1.0, 0.1), (1.0, 0.3, 3.0)])
def test_a_racket_sends_the_ball_to_its_target(target):
    """By the law of reflection, and then by free flight."""
    place, into = np.array([1.5, 0.2, 2.1]), np.array([2.5, 0.0, -5.0])
    normal, speed, _, asked = hits.send(
        SOLO.body,
        place,
        into,
        np.array(target),
        jnp.float32(4.5),
        jnp.float32(0.6),
        jnp.float32(2.5),
    )
    normal, speed = np.asarray(normal, float), float(speed)
    assert float(asked) < 1.0
    away = into + SOLO.body.gain * (speed - into @ normal) * normal
    t = (away[2] + np.sqrt(away[2] ** 2 + 2 * 9.81 * (place[2] - target[2]))) / 9.81
    np.testing.assert_allclose(place[:2] + away[:2] * t, target[:2], atol=1e-3)
    assert abs(np.linalg.norm(normal) - 1) < 1e-4
    if target[0] < 0:
        t = -place[0] / away[0]
        assert place[2] + away[2] * t - 9.81 / 2 * t * t > 2.43 + 0.1 + 0.3


def test_the_numbers_are_the_models():
    body = SOLO.body
    assert abs(body.gain - 1.8 / (1 + 0.005 / 1.52)) < 1e-3
    assert abs(body.ceiling * 1.52 - 24.01) < 0.05
    assert (body.net, body.half_length, body.half_width) == (2.43, 3.0, 1.5)


@pytest.mark.slow
def test_who_may_touch_the_ball_decides_what_is_possible():
    def possible(skills, row):
        allowed = np.asarray(skills.possible(skills.parse_observation(jnp.asarray(row))))
        return {name.split(" (")[0] for name, ok in zip(skills.names, allowed, strict=True) if ok}

    ready = {"hover", "block", "go to"}
    hits = {"receive", "bump to", "spike to"}
    start = rows(DUEL, ball=(1.5, 0, 3.5), serving="near")
    assert possible(SOLO, start[0]) == ready | {"serve"}
    assert possible(SOLO, start[1]) == ready
    rally = rows(DUEL, ball=(-1, 0, 3), ball_velocity=(3, 0, 3), served=True, turn="near")
    assert possible(SOLO, rally[0]) == ready | hits
    assert possible(SOLO, rally[1]) == ready
    # In teams those may prepare to whom the ball comes, but not who has touched it.
    coming = rows(TEAMS, ball=(-2, 0, 4), ball_velocity=(5, 0, 3), served=True)
    assert possible(TEAM, coming[0]) == ready | hits | {"set to"}
    passed = rows(TEAMS, ball=(2, 0, 4), served=True, touched=("near_0",), last="near_0")
    assert possible(TEAM, passed[0]) == ready
    assert possible(TEAM, passed[1]) == ready | hits | {"set to"}


def test_a_team_shares_the_roles_out():
    passed = rows(TEAMS, ball=(1.5, 1.0, 4), served=True, touched=("near_0",), last="near_0")
    option = jnp.int32(TEAM.parse_option("receiver: pass high; setter: set; attacker: spike left"))
    names = [
        TEAM.names[int(TEAM.assign(TEAM.parse_observation(jnp.asarray(row)), option))]
        for row in passed
    ]
    assert [name.split(" (")[0] for name in names] == ["go to", "set to", "go to"] + ["go to"] * 3
    idle = [
        int(TEAM.assign(TEAM.parse_observation(jnp.asarray(row)), jnp.int32(71)))
        for row in passed[1:3]
    ]
    assert idle == [TEAM.wait, TEAM.wait]
    assert len(TEAM.options) == 72 == len(set(TEAM.options))
    for i, option_name in enumerate(TEAM.options):
        assert TEAM.parse_option(option_name) == i
    # The pass that an option names tells the attacker how deep to aim; an attack that cannot be a
    # spike that goes down is a bump, deep to the same side.
    plain = Volleyball("3v3", skills="plain").skill_set()
    ready = rows(TEAMS, ball=(3, 0, 4), served=True, touched=("near_0", "near_1"), last="near_1")[2]
    obs = TEAM.parse_observation(jnp.asarray(ready))
    for words, spike, bump in (
        ("high; setter: set; attacker: spike left", "(-3.3, -1.5)", "(-3.3, -1.5)"),
        ("high; setter: set; attacker: spike right", "(-3.3, 1.5)", "(-3.3, 1.5)"),
        ("quickly; setter: set; attacker: spike left", "(-1.2, -2.55)", "(-3.3, -1.5)"),
        ("quickly; setter: set; attacker: spike right", "(-1.2, 2.55)", "(-3.3, 1.5)"),
    ):
        option = jnp.int32(TEAM.parse_option(f"receiver: pass {words}"))
        assert plain.names[int(plain.assign(obs, option))] == f"spike to {spike}"
        assert TEAM.names[int(TEAM.assign(obs, option))] == f"bump to {bump}"
    with pytest.raises(IllegalAction, match="the setter can go, set or hover; not 'spike left'"):
        TEAM.parse_option("setter: spike left")


def test_team_mates_on_their_way_into_each_other_give_way():
    def aside(env, me, **velocities):
        places = {"near_0": (2.0, 0.0, 1.6), "near_1": (2.0, 1.8, 1.6)}
        row = rows(env, positions=places, velocities=velocities)[me]
        return np.asarray(hits.give_way(env.skill_set().parse_observation(jnp.asarray(row))))

    # Straight towards each other, each brakes, and moves to its right.
    towards = {"near_0": (0.0, 2.0, 0.0)}
    x, y = aside(TEAMS, 0, **towards)
    assert y < -1 and x > 0.5
    np.testing.assert_allclose(aside(TEAMS, 1, **towards), (-x, -y), atol=1e-5)
    assert not aside(TEAMS, 0, near_0=(0.0, -2.0, 0.0)).any()  # away
    assert not aside(TEAMS, 0, near_0=(-2.0, 0.3, 0.0)).any()  # past
    assert not aside(TEAMS, 2, **towards).any()  # another one


@pytest.mark.parametrize("task", ["3v3", "6v6"])
def test_a_team_that_waits_for_a_ball_stands_apart(task):
    env = Volleyball(task, skills="attack")
    skills = env.skill_set()
    play = skills.parse_option("receiver: pass high; setter: set; attacker: spike left")
    option = jnp.full(env.team_size, play, jnp.int32)
    # A ball for the left of the front, one for the right of the back.
    for velocity in ((4.1, -0.6, 3.0), (6.1, 2.2, 4.0)):
        seen = rows(env, ball=(-2.5, -1.0, 3.2), ball_velocity=velocity, served=True, last="far_0")
        obs = skills.parse_observation(jnp.moveaxis(jnp.asarray(seen), 0, 1)[:, : env.team_size])
        order = skills.order(skills.assign(obs, option))
        goals, waits = np.asarray(order.goal).T, np.asarray(order.kind) == GO
        assert waits.sum() == env.team_size - 1  # one receives
        gaps = np.linalg.norm(goals[waits][:, None] - goals[waits], axis=-1)
        assert gaps[np.triu_indices(len(gaps), 1)].min() > 1.2
    assert TEAM.parse_option("setter: dance") is None
    lifted = TEAM.parse_option("receiver passes high, the setter puts it up, attacker hits left")
    assert TEAM.options[lifted] == "receiver: pass high; setter: set; attacker: spike left"


def test_words_name_skills_and_any_numbers_the_nearest_place():
    for skills in (SOLO, TEAM):
        assert [skills.parse(name) for name in skills.names] == list(range(len(skills.names)))
    assert SOLO.names[SOLO.parse("Bump the ball to (-2.2, 0.1)")] == "bump to (-2.4, 0)"
    assert TEAM.names[TEAM.parse("set to (1.4, 1.6, 4)")] == "set to (1.5, 1.5, 3)"
    assert SOLO.names[SOLO.parse("go to (2.9, -.2, 1.5e0)")] == "go to (2.4, 0, 1.6)"
    assert SOLO.names[SOLO.parse("pass")] == "receive"
    for words, reason in {
        "bump to": "say where",
        "set to (1, 0, 3)": "no 'set to' here",
        "go to (nan, 0, 1)": "off the court",
        "go to (1, -inf, 1": "off the court",
        "go to nan 0 1": "off the court",
        "go to (1e999, 0, 1)": "off the court",
        "go to (1, 0)": "in 3 numbers",
        "go to (-1, 0, 1)": "off the court",
        "go to (900, 0, 1e9)": "off the court; 'go to' has x from 0 to 4, y from -2.5 to 2.5",
        "go to (1, 0, -1)": "off the court",
        "bump to (-2.4, 9)": "off the court",
        "go to (2.4, 0, 2.4)": r"; x 2.4, y -0.52, 0 or 0.52, z 1.6",  # no such three together
        "go to (3.4, 0, 1.6)": r"the nearest is 'go to \(2.4, 0, 1.6\)'; there are x 0.6, 1.05",
    }.items():
        with pytest.raises(IllegalAction, match=reason):
            SOLO.parse(words)
    # Numbers of two places that are none together are not moved in silence.
    with pytest.raises(IllegalAction, match=r"the nearest is 'spike to \(-4.8, 1.5\)'"):
        TEAM.parse("spike to (-4.8, 2.55)")
    assert naming.listed(TEAM, SPIKE) == (
        "x -4.8, -3.3 or -1.8, y -1.5, 0 or 1.5; x -1.2, y -2.55, 0 or 2.55"
    )
    for words in ("dance", "go to (somewhere, 0, 1)", "serve or hover", "serve if it is mine"):
        assert SOLO.parse(words) is None


def test_courts_without_skills_are_refused():
    for config in ({"task": "solo_bump"}, {"actions": "velocity"}, {"actions": "ctbr"}):
        with pytest.raises(ConfigError, match="the skills are for"):
            Volleyball(**config).skill_set()


# ---- from event to event -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_step_of_events_is_its_primitive_steps():
    env = Events(Volleyball("1v1", serve="near"))
    game, skills = env.env, env.skills
    key = jax.random.key(3)
    state = env.reset(key)
    serve, home = (env.skills.names.index(name) for name in ("serve", "go to (1.5, 0, 1.6)"))
    after, outcome = jax.jit(env.step)(key, state, jnp.array([serve, home]))
    assert skills.events[int(after.event)] == "the ball was touched"
    assert int(after.inner.hits) == 1 and int(after.inner.last) == 0
    count = int(after.steps)
    assert outcome.metrics["primitive_steps"] == count == int(after.inner.time) > 10

    @jax.jit
    def once(inner, count):
        obs = skills.parse_observation(jnp.moveaxis(game.perceive(inner), 0, 1))
        moves = skills.follow(obs, skills.order(jnp.array([serve, home])))
        return game.step(jax.random.fold_in(key, count), inner, moves.T)

    inner, reward = state.inner, np.zeros(2)
    for t in range(count):
        inner, step_outcome = once(inner, t)
        reward += np.asarray(step_outcome.reward)
    np.testing.assert_allclose(inner.bodies.position, after.inner.bodies.position, atol=1e-3)
    np.testing.assert_allclose(reward, outcome.reward, rtol=1e-3)
    text = env.describe(after, 1)
    assert "the ball was touched, " in text and '"go to (1.5, 0, 1.6)"' in text


@pytest.mark.slow
def test_teams_choose_as_one_in_batches_that_wait_for_nobody():
    env = Events(Volleyball("3v3"), per="team")
    assert env.agents == ("near", "far") and env.action_space.n == 72
    keys = jax.vmap(jax.random.key)(np.arange(4))
    states, step = env.batch_reset(keys), jax.jit(env.batch_step)
    play = env.skills.parse_option("receiver: pass high; setter: set; attacker: spike left")
    chosen = np.array([[play] * 4, [play, play, 71, 71]])
    steps, reward = [], np.zeros((2, 4))
    for _ in range(14):
        states, outcome = step(keys, states, chosen)
        steps.append(np.asarray(outcome.metrics["primitive_steps"]))
        reward += np.asarray(outcome.reward)
    assert len({tuple(row) for row in np.array(steps).T}) > 1  # each at its own pace
    np.testing.assert_allclose(np.sum(steps, 0)[0], states.inner.time[0])
    assert (np.asarray(states.inner.crossings) >= 1).all()
    assert env.observe(env.reset(keys[0])).shape == (2, 3 * 57)
    rules = env.rules("far")
    assert "for all drones of the far team (far_0, far_1, far_2) at once" in rules
    example = re.search(r'for example "(ACTION: receiver: [^"]*)"', rules)[1]
    assert env.table[env.parse(example, env.reset(keys[0]), "far")] == example[len("ACTION: ") :]
    assert all(f"{word}" in rules for word in ("pass quickly", "spike left", "set (", "hover "))
    assert from_spec(env.spec()) == env


def test_go_on_is_what_was_chosen_last():
    env = Events(DUEL)
    row = np.asarray(env.env.perceive(DUEL.reset(jax.random.key(0))))[0]
    hover = env.skills.wait
    assert env.read("go on", row, hover) == env.read("I keep going.", row, hover) == hover
    with pytest.raises(IllegalAction, match="no skill is under way"):
        env.read("go on", row)


def test_only_courts_with_events_are_played_so():
    from manyhands.envs.kitchen import Kitchen

    with pytest.raises(ConfigError, match="knows events"):
        Events(Kitchen())
    with pytest.raises(ConfigError, match="teams cannot choose as one"):
        Events(DUEL, per="team")
    with pytest.raises(ConfigError, match="patience"):
        Events(DUEL, patience=0)
