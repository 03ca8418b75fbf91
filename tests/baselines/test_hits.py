"""Hits of a team that are learned: situations, what is paid for, and how they are flown."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines.learners.hits import (
    LearnedCourt,
    advised,
    measure,
    situations,
)
from manyhands.baselines.learners.networks import Network
from manyhands.baselines.learners.ppo import PPO, PPOConfig
from manyhands.baselines.players import network as policies
from manyhands.core.env import ConfigError
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.practice import (
    AFTER,
    HITS,
    WIDTH,
    Practice,
    Situations,
    flown,
    seen,
)
from manyhands.envs.volleyball.randomise import physics_of
from manyhands.envs.volleyball.rules import rotor_commands
from manyhands.wrappers.events import Events


@pytest.fixture(scope="module")
def court() -> Volleyball:
    found = manyhands.make("volleyball", task="3v3")
    assert isinstance(found, Volleyball)
    return found


def standing(court: Volleyball, hit: str, ball: Any, speed: Any) -> Situations:
    """Two situations, in which the second drone of the near team is to do a hit."""
    state = court.place(served=True, ball=ball, ball_velocity=speed)
    states = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf], -1), state)
    row = list(court.skill_set().kinds).index(HITS[hit])
    return Situations(states, jnp.full(2, row, jnp.int16), jnp.ones(2, jnp.int8))


@pytest.fixture(scope="module")
def setting(court: Volleyball) -> Practice:
    return Practice(court, "set", standing(court, "set", (3.0, 1.5, 4.0), (0.0, 0.0, -1.0)))


@pytest.mark.parametrize("command", ["velocity", "ctbr"])
def test_actions_mean_what_they_mean_in_the_game(court: Volleyball, command: str) -> None:
    """On both sides: the networks of a team see and act in their own frame."""
    game = manyhands.make("volleyball", task="3v3", actions=command)
    assert isinstance(game, Volleyball)
    rng = np.random.default_rng(0)
    state = court.reset(jax.random.key(3))
    lean = rng.normal(size=(6, 4)) * 0.2 + np.asarray(state.bodies.quaternion)
    bodies = dataclasses.replace(
        state.bodies,
        quaternion=jnp.float32(lean / np.linalg.norm(lean, axis=1, keepdims=True)),
        velocity=jnp.float32(rng.normal(size=(6, 3))),
        rates=jnp.float32(rng.normal(size=(6, 3))),
    )
    state = dataclasses.replace(state, bodies=bodies)
    asked = jnp.float32(rng.uniform(-1, 1, (6, 4)))
    expected = rotor_commands(game.setup, physics_of(game.setup, state), state, asked)
    skills = court.skill_set()
    obs = skills.parse_observation(jnp.moveaxis(court.perceive(state), 0, 1))
    found = flown(skills, obs, asked.T, command, court.setup.max_yaw)
    np.testing.assert_allclose(found.T, expected, atol=2e-5)


def after_a_touch(practice: Practice, goal: Any, landing: Any, time: float) -> Any:
    """What the drone perceives when the ball leaves (3, 1.5, 2.2) so that it falls to `landing`
    after `time` seconds."""
    obs = practice.mine(jax.tree.map(lambda leaf: leaf[..., 0], practice.begin()))
    start, end = np.array([3.0, 1.5, 2.2]), np.array(landing)
    speed = (end - start) / time + np.array([0, 0, 9.81 / 2 * time])
    return obs._replace(ball=jnp.float32(start), ball_velocity=jnp.float32(speed))


def test_a_set_is_worth_the_more_the_nearer_it_falls(setting: Practice) -> None:
    goal = np.array([1.5, 0.0, 3.0], np.float32)
    ends = [goal + np.array([0, miss, 0], np.float32) for miss in (0.0, 0.5, 2.0)]
    after = [after_a_touch(setting, goal, end, 1.2) for end in ends]
    worth = [float(setting.score(obs, goal)) for obs in after]
    assert worth[0] == pytest.approx(1.0, abs=1e-3) and worth[0] > worth[1] > worth[2] > 0.1
    half = np.mean(np.exp([-0.5 / 0.5, -0.5 / 1.5, -0.5 / 5.0]))
    assert worth[1] == pytest.approx(0.1 + 0.9 * half, abs=1e-3)
    # To the other half it is no set, and one that stays low is none either.
    across = after_a_touch(setting, goal, (-1.5, 0.0, 3.0), 1.2)
    assert not setting.falls(across, goal)["fair"] and float(setting.score(across, goal)) < 1 / 2
    low = after_a_touch(setting, goal, (1.5, 0.0, 0.1), 0.4)
    fall = setting.falls(low, goal)
    assert not fall["fair"] and float(fall["miss"]) > 1.5


def test_a_spike_must_come_over_the_net_and_down(court: Volleyball) -> None:
    practice = Practice(court, "spike", standing(court, "spike", (1.5, 0.0, 4.0), (0, 0, -1.0)))
    goal = np.array([-3.0, 0.0, 0.1], np.float32)
    flat = after_a_touch(practice, goal, goal, 1.4)
    assert practice.falls(flat, goal)["inside"]
    down = flat._replace(
        ball=jnp.array([1.0, 0.0, 3.4]), ball_velocity=jnp.array([-6.0, 0.0, -2.0])
    )
    landing = goal.copy()
    time = (-2.0 + np.sqrt(4.0 + 2 * 9.81 * 3.3)) / 9.81
    landing[0] = 1.0 - 6.0 * time
    assert practice.falls(down, landing)["fair"]
    assert float(practice.score(down, landing)) > float(practice.score(flat, goal))
    into = flat._replace(ball_velocity=jnp.array([-6.0, 0.0, 0.0]))  # at the net too low
    assert not practice.falls(into, goal)["fair"]
    assert not practice.falls(after_a_touch(practice, goal, (-9.0, 0, 0.1), 1.6), goal)["inside"]


def test_episodes_begin_in_situations(setting: Practice) -> None:
    was = jax.tree.map(lambda leaf: leaf[..., 0], setting.situations.state)
    new = setting.reset(jax.random.key(0))
    moved = np.any(np.asarray(new.inner.bodies.position != was.bodies.position), axis=1)
    assert moved.tolist() == [False, True, False, False, False, False]
    assert int(new.drone) == 1 and not bool(new.ended)
    states = setting.batch_reset(jax.random.split(jax.random.key(1), 3))
    rows = setting.batch_observe(states)
    assert rows.shape == (1, WIDTH, 3) and np.isfinite(rows).all()
    assert len({row.tobytes() for row in np.asarray(rows[0]).T}) == 3


def test_a_hit_that_ends_in_a_crash_is_none(setting: Practice) -> None:
    """After its touch the drone brakes, whatever is asked of it, and nothing is learned there."""
    begun = setting.reset(jax.random.key(0))
    after = dataclasses.replace(begun, after=jnp.int16(AFTER), worth=jnp.float32(0.7))
    assert bool(setting.acting(begun)[0]) and not bool(setting.acting(after)[0])
    bodies = begun.inner.bodies
    low = dataclasses.replace(
        bodies,
        position=bodies.position.at[1, 2].set(0.32),
        velocity=bodies.velocity.at[1, 2].set(-4.0),
    )
    dives = dataclasses.replace(after, inner=dataclasses.replace(begun.inner, bodies=low))
    step = jax.jit(setting.step)
    up, down = jnp.array([[0, 0, 1.0, 0]]), jnp.array([[0, 0, -1.0, 0]])
    key = jax.random.key(1)
    for state, lost in ((after, False), (dives, True)):
        found = [step(key, state, action) for action in (up, down)]
        assert all(bool(new.ended) for new, _ in found)
        assert [bool(outcome.metrics["lost"]) for _, outcome in found] == [lost, lost]
        kept = [float(outcome.terms["kept"][0]) for _, outcome in found]
        assert kept == pytest.approx([0.0, 0.0] if lost else [0.7, 0.7])
        np.testing.assert_array_equal(*(new.inner.bodies.thrust for new, _ in found))
    free = [step(key, begun, action)[0].inner.bodies.thrust for action in (up, down)]
    assert not np.array_equal(*free)


def test_actions_are_held_for_as_long_as_an_episode_draws(court: Volleyball) -> None:
    places = standing(court, "set", (2.5, 0.0, 4.0), (0.0, 0.0, -1.0))
    practice = Practice(court, "set", places, holds=(1, 4))
    begun = practice.batch_reset(jax.random.split(jax.random.key(0), 32))
    assert set(np.asarray(begun.hold).tolist()) == {1, 4}
    step, key = jax.jit(practice.step), jax.random.key(1)
    for hold in (1, 4):
        state = dataclasses.replace(practice.reset(jax.random.key(0)), hold=jnp.int8(hold))
        flown_, acts = [], []
        for t in range(8):
            acts.append(bool(practice.acting(state)[0]))
            state, _ = step(key, state, jnp.full((1, 4), t / 8))
            flown_.append(round(float(state.asked[0]) * 8))
        assert acts == [t % hold == 0 for t in range(8)]
        assert flown_ == [t // hold * hold for t in range(8)]


def test_what_cannot_be_practised(court: Volleyball, setting: Practice) -> None:
    with pytest.raises(ConfigError, match="receive"):
        Practice(court, "smash", setting.situations)
    with pytest.raises(ConfigError, match="holds is a whole number from 1"):
        Practice(court, "set", setting.situations, holds=(0,))
    with pytest.raises(ConfigError, match="holds names no"):
        Practice(court, "set", setting.situations, holds=())
    with pytest.raises(ConfigError, match="rotors"):
        Practice(Volleyball("1v1"), "set", setting.situations)
    with pytest.raises(ConfigError, match="rotors"):
        Practice(Volleyball("3v3", actions="velocity"), "set", setting.situations)


def test_a_network_advises_as_the_learner_s_policy_does(setting: Practice) -> None:
    config = PPOConfig(
        total_steps=64, num_envs=4, num_steps=4, width=8, reads="vector", normalise=True
    )
    learner = PPO(setting, config)
    policy = learner.policy(learner.init(jax.random.key(0)))
    row = jnp.float32(np.random.default_rng(0).normal(size=(40, 5)))
    x = (row.T - policy.params["mean"]) * policy.params["scale"]
    network = Network(policy.network, 8)
    zero = jnp.zeros((5, 0))
    _, outputs = network.advance(policy.params["network"], zero, x, jnp.zeros(5, bool))
    found = advised(policy, row)
    assert found.shape == (4, 5)
    np.testing.assert_allclose(found.T, np.clip(outputs[:, :4], -1, 1), atol=1e-6)


def test_a_court_has_the_hits_of_a_folder(
    court: Volleyball, setting: Practice, tmp_path: Path
) -> None:
    """Their drones alone, and on the sides that are asked for; the others are scripted."""
    config = PPOConfig(total_steps=64, num_envs=4, num_steps=4, width=8, reads="vector")
    learner = PPO(setting, config)
    policies.save(tmp_path / "set.safetensors", learner.policy(learner.init(jax.random.key(0))), {})
    state = jax.tree.map(lambda leaf: leaf[..., None], court.reset(jax.random.key(3)))
    rows = jnp.moveaxis(court.perceive(state), 0, 1)
    plain = court.skill_set()
    obs, names = plain.parse_observation(rows), plain.names
    sets = next(k for k, name in enumerate(names) if name.startswith("set "))
    skill = jnp.array([[sets, plain.wait, sets, sets, plain.wait, sets]]).T
    scripted = np.asarray(plain.follow(obs, plain.order(skill)))
    both = LearnedCourt(tmp_path, task="3v3")
    assert both != court and both != LearnedCourt(tmp_path, sides=(True, False), task="3v3")
    order = plain.order(skill)
    asked = advised(
        policies.load(tmp_path / "set.safetensors"), seen(plain, obs, order.goal, "set")
    )
    own = np.asarray(flown(plain, obs, asked, "velocity", court.setup.max_yaw))
    for sides, learned in (
        ((True, True), [1, 0, 1, 1, 0, 1]),
        ((True, False), [1, 0, 1, 0, 0, 0]),
        ((False, True), [0, 0, 0, 1, 0, 1]),
    ):
        skills = LearnedCourt(tmp_path, sides=sides, task="3v3").skill_set()
        expected = np.where(np.array(learned, bool)[:, None], own, scripted)
        found = np.asarray(skills.follow(obs, skills.order(skill)))
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert not np.allclose(own, scripted)
    assert pickle.loads(pickle.dumps(both)) == both
    with pytest.raises(ConfigError, match="holds no hit: serve, receive, set, spike"):
        LearnedCourt(tmp_path / "none", task="3v3").skill_set()


@pytest.mark.long
def test_strategies_choose_over_learned_hits(
    court: Volleyball, setting: Practice, tmp_path: Path
) -> None:
    config = PPOConfig(total_steps=64, num_envs=4, num_steps=4, width=8, reads="vector")
    learner = PPO(setting, config)
    policy = learner.policy(learner.init(jax.random.key(0)))
    policies.save(tmp_path / "serve.safetensors", policy, {})
    ends = []
    for own in (court, LearnedCourt(tmp_path, sides=(True, False), task="3v3", serve="near")):
        game = Events(own, per="team")
        state = game.reset(jax.random.key(0))
        options = jnp.zeros(2, jnp.int32)
        after, outcome = jax.jit(game.step)(jax.random.key(1), state, options)
        assert np.isfinite(np.asarray(outcome.terms["win"])).all()
        ends.append(np.asarray(after.inner.bodies.position))
    assert not np.array_equal(*ends)


@pytest.mark.long
def test_scripted_hits_are_measured_in_situations_of_games(court: Volleyball) -> None:
    found = situations(court, "receive", court.skill_set(), 16, 120, 0)
    assert set(found.skill.tolist()) == {court.skill_set().names.index("receive")}
    scripted = measure(Practice(court, "receive", found), None)
    assert scripted["touched"] > 0.8 and scripted["stays"] > 0.8 and scripted["within_1m"] > 0.5
    with pytest.raises(ConfigError, match="nobody was to spike"):
        situations(court, "spike", court.skill_set(), 16, 120, 0)
