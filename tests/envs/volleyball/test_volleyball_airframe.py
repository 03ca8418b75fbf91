"""The second airframe: it hovers, flies to a set-point, and is the same in both engines."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from manyhands.core.env import ConfigError
from manyhands.envs.volleyball import Volleyball, orders, physics
from manyhands.envs.volleyball import model as models
from manyhands.envs.volleyball.engine import Engine


def test_its_numbers_are_those_identified():
    """Foerster (2015); thrust over weight of 2.4 at 27 g, an arm of 46 mm."""
    params = models.params_from_model(models.load_model("solo", airframe="crazyflie"), drag=True)
    assert params.mass[0] == pytest.approx(0.027)
    assert 4 * params.power[0] / (0.027 * 9.81) == pytest.approx(2.41, abs=0.01)
    np.testing.assert_allclose(np.linalg.norm(params.rotors, axis=1), 0.046, rtol=1e-6)
    np.testing.assert_allclose(params.inertia[0], [16.571710e-6, 16.655602e-6, 29.261652e-6])
    assert params.lag[0] == pytest.approx(1 / 15.466, rel=1e-3)  # s
    assert params.drag is not None and params.drag[0] == pytest.approx(0.00684, rel=1e-3)
    text = models.mjcf("1v1")
    assert 'mass="1.52"' in text and "0.027" not in text


@pytest.mark.parametrize("actions", ["rotors", "position", "velocity"])
def test_it_hovers_and_flies_to_a_set_point(actions):
    env = Volleyball("3v3", airframe="crazyflie", actions=actions, serve="near")
    state, step = env.place(ball=(3, 0, 40)), jax.jit(env.step)
    start = np.asarray(state.bodies.position)
    goal = np.array([4.5, -2.0, 3.0])
    if actions == "rotors":
        wanted = np.asarray(2 * env.trim - 1)
    elif actions == "velocity":
        wanted = np.zeros((6, 4), np.float32)
        wanted[0, 0] = 0.2  # 1 m/s
    else:
        wanted = np.stack([env.parse("hold", state, k) for k in range(6)])
        wanted[0] = orders.action_for(env.setup, (*goal, np.pi / 2))
    for _ in range(200):
        state, _ = step(jax.random.key(0), state, jnp.asarray(wanted))
    assert not bool(state.over)
    place, speed = np.asarray(state.bodies.position), np.asarray(state.bodies.velocity)
    np.testing.assert_allclose(place[1:], start[1:], atol=0.01)
    if actions == "position":
        np.testing.assert_allclose(place[0], goal, atol=0.03)
        nose = np.asarray(physics.matrix(state.bodies.quaternion))[0, :, 0]
        np.testing.assert_allclose(nose, [0, 1, 0], atol=0.05)
        assert np.abs(speed).max() < 0.03
    elif actions == "velocity":
        np.testing.assert_allclose(speed[0], [1, 0, 0], atol=0.02)
    else:
        np.testing.assert_allclose(place, start, atol=0.01)


def test_both_engines_fly_it():
    model = models.load_model("1v1", airframe="crazyflie")
    engine, data = Engine(model), mujoco.MjData(model)
    params = models.params_from_model(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    with jax.enable_x64(True):
        bodies = other = jax.tree.map(jnp.asarray, engine.read(data))
        ball = jnp.asarray(bodies.position[0] + np.array([0.02, 0.01, 0.4]))  # onto its racket
        bodies = other = dataclasses.replace(bodies, ball=ball)
        mine, theirs, touches = jax.jit(physics.advance), jax.jit(engine.advance), 0
        drawn = np.random.default_rng(0)
        for _ in range(20):
            order = jnp.asarray(drawn.uniform(-0.3, 0.3, (2, 4)))
            bodies, touched = mine(params, bodies, order)
            other, _ = theirs(params, other, order)
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-8), bodies, other)
            touches += int(touched.racket[0])
    assert touches


def test_what_is_for_the_iris_is_refused():
    env = Volleyball("1v1", airframe="crazyflie")
    assert env.config()["airframe"] == "crazyflie" and "airframe" not in Volleyball("1v1").config()
    assert env.default_policy == "random" and "0.027 kg" in env.rules(0)
    assert "of 1.5 kg with a round racket of 0.2 m radius" in Volleyball("1v1").rules(0)
    with pytest.raises(ConfigError, match="skills are for"):
        env.skill_set()
    with pytest.raises(ConfigError, match="about the Iris"):
        Volleyball("1v1", airframe="crazyflie", rules="volleybots")
    with pytest.raises(ConfigError, match="airframe"):
        Volleyball("1v1", airframe="mavic")
