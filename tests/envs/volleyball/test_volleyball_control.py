"""The flight controllers fly: rates, attitudes and velocities are reached, in single games and in
batches."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.envs.volleyball import control, model, physics
from manyhands.envs.volleyball.physics import Bodies

PARAMS = model.params_from_model(model.load_model("solo"))


def hovering(batch=()):
    """One drone, level and at rest at 5 m, and a ball far away."""

    def lay(values):
        values = jnp.asarray(values, jnp.float32)
        return jnp.broadcast_to(
            values.reshape(values.shape + (1,) * len(batch)), (*values.shape, *batch)
        )

    return Bodies(
        position=lay([[4.0, 0.0, 5.0]]),
        quaternion=lay([[1.0, 0.0, 0.0, 0.0]]),
        velocity=lay([[0.0, 0.0, 0.0]]),
        rates=lay([[0.0, 0.0, 0.0]]),
        thrust=lay(np.asarray(physics.trim(PARAMS))),
        ball=lay([-8.0, 0.0, 9.0]),
        ball_velocity=lay([0.0, 0.0, 0.0]),
    )


def flown(controller, bodies, steps):
    def step(bodies, _):
        bodies, _ = physics.advance(PARAMS, bodies, controller(bodies))
        return bodies, bodies

    return jax.jit(lambda b: jax.lax.scan(step, b, None, length=steps))(bodies)


@pytest.mark.parametrize(
    "wanted", [(1.5, -1.0, 0.5), pytest.param((0.0, 2.0, -0.5), marks=pytest.mark.slow)]
)
def test_rates_are_reached(wanted):
    target = jnp.asarray([wanted], jnp.float32)
    _, path = flown(
        lambda b: control.from_rates(PARAMS, b, target, jnp.ones(1) * 0.6), hovering(), 20
    )
    np.testing.assert_allclose(path.rates[10:, 0, :2], np.tile(wanted[:2], (10, 1)), atol=0.15)
    np.testing.assert_allclose(path.rates[-1, 0, 2], wanted[2], atol=0.15)


@pytest.mark.slow
def test_an_attitude_is_reached_and_held():
    normal = np.array([[0.3, -0.4, np.sqrt(0.75)]], np.float32)
    last, _ = flown(
        lambda b: control.from_attitude(PARAMS, b, jnp.asarray(normal), jnp.ones(1) * 0.7),
        hovering(),
        40,
    )
    found = np.asarray(physics.matrix(last.quaternion))[0, :, 2]
    assert np.degrees(np.arccos(np.clip(found @ normal[0], -1, 1))) < 1.0
    assert np.abs(np.asarray(last.rates)).max() < 0.1


@pytest.mark.slow
def test_a_drone_upside_down_turns_upright():
    tumbled = hovering()
    tumbled = dataclasses.replace(
        tumbled,
        quaternion=jnp.asarray([[0.05, 0.99, 0.1, 0.0]]),
        position=jnp.asarray([[4.0, 0.0, 60.0]]),  # it falls a long way
    )
    up = jnp.asarray([[0.0, 0.0, 1.0]])
    last, _ = flown(lambda b: control.from_attitude(PARAMS, b, up, jnp.ones(1) * 0.5), tumbled, 100)
    assert np.asarray(physics.matrix(last.quaternion))[0, 2, 2] > 0.999


@pytest.mark.slow
def test_velocities_are_reached_in_a_batch_as_alone():
    wanted = jnp.asarray([[[2.0, 0.0, 0.0], [0.0, -1.5, 0.5], [0.0, 0.0, -1.0]]]).transpose(0, 2, 1)
    yaw = jnp.asarray([[0.0, 0.5, 0.0]])
    last, _ = flown(lambda b: control.from_velocity(PARAMS, b, wanted, yaw), hovering((3,)), 120)
    np.testing.assert_allclose(last.velocity, wanted, atol=0.1)
    np.testing.assert_allclose(last.rates[:, 2], yaw, atol=0.05)
    alone, _ = flown(
        lambda b: control.from_velocity(PARAMS, b, wanted[..., 1], yaw[..., 1]), hovering(), 120
    )
    np.testing.assert_allclose(alone.position, last.position[..., 1], atol=1e-3)
