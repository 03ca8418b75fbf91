"""Randomised episodes: ranges of physics, delays and noise, and what they do to acting and sensing.

What an episode has drawn is in its state. Rules go by the true bodies; agents observe `sensed`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, take
from manyhands.core.env import Array
from manyhands.envs.volleyball import disturbances, physics
from manyhands.envs.volleyball.frames import length
from manyhands.envs.volleyball.physics import Bodies, Params
from manyhands.envs.volleyball.state import (
    DELAYS,
    MAX_DELAY,
    NOISES,
    Setup,
    VolleyballState,
)

# What besides `physics.RANDOMISED` can be drawn, and the most of it.
MOST = dict.fromkeys(DELAYS, MAX_DELAY) | dict.fromkeys(NOISES, 10) | disturbances.MOST


def check_ranges(given: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """The option `randomise`, checked: (low, high) by name, sorted by name."""
    return disturbances.check_ranges(given, physics.RANDOMISED, MOST, DELAYS)


# ---- the start of an episode ---------------------------------------------------------------------


def draw_delays(setup: Setup, key: Array) -> Any:
    """`VolleyballState.delays`."""
    if not (setup.action_delay or setup.sensor_delay):
        return ()
    ends = np.array([setup.ranges.get(name, (0, 0)) for name in DELAYS], np.int32)
    return jax.random.randint(key, (2,), ends[:, 0], ends[:, 1] + 1).astype(jnp.int8)


def draw_noise(setup: Setup, key: Array) -> Any:
    """`VolleyballState.noise`."""
    if not setup.noisy:
        return ()
    ends = np.array([setup.ranges.get(name, (0.0, 0.0)) for name in NOISES], np.float32)
    return jax.random.uniform(key, (4,), jnp.float32, ends[:, 0], ends[:, 1])


def first_readings(setup: Setup, bodies: Bodies, noise: Any, key: Array) -> Any:
    """`VolleyballState.seen` before the first step."""
    if not setup.sensing:
        return ()
    if setup.noisy:
        bodies = _disturbed(bodies, noise, key)
    copies = setup.sensor_delay + 1
    return jax.tree_util.tree_map(lambda leaf: jnp.stack([leaf] * copies), bodies)


# ---- in every step -------------------------------------------------------------------------------


def delayed(setup: Setup, state: VolleyballState, actions: Array) -> tuple[Array, Any]:
    """The actions f32[D, 4, ...] that take effect in this step, and those still pending."""
    acting = actions.astype(jnp.float32)
    if not setup.action_delay:
        return acting, state.pending
    line = jnp.concatenate([acting[None], state.pending])
    return take(line, state.delays[0]), line[:-1]


def disturb(setup: Setup, key: Array, state: VolleyballState) -> VolleyballState:
    """The state with the gust of the next step, and drones that are pushed in it."""
    if not setup.disturbed:
        return state
    params = state.params if setup.physical else setup.params
    level, bodies = disturbances.disturb(setup.ranges, key, state.disturbance, params, state.bodies)
    return dataclasses.replace(state, disturbance=level, bodies=bodies)


def physics_of(setup: Setup, state: VolleyballState) -> Params:
    """The physics of this step."""
    params: Params = state.params if setup.physical else setup.params
    return disturbances.blown(setup.ranges, state.disturbance, params)


def sense(setup: Setup, key: Array, state: VolleyballState) -> VolleyballState:
    """The state with its bodies read by the sensors, and these readings by the agents."""
    state = _read(setup, key, state)
    if not setup.losing:
        return state
    lost = disturbances.lost(key, state.disturbance, setup.count)
    held = disturbances.held(lost, state.held, sensed(setup, state))
    return dataclasses.replace(state, held=held)


def sights(setup: Setup, state: VolleyballState) -> Bodies:
    """The bodies as each agent sees them, which has its own from its sensors in every step:
    `Bodies` with a first axis for the agent."""
    now, own = sensed(setup, state), np.eye(setup.count, dtype=bool)
    found = {}
    for field in dataclasses.fields(now):
        held, leaf = getattr(state.held, field.name), getattr(now, field.name)
        if not field.name.startswith("ball"):
            held = jnp.where(expand(own, leaf.ndim - 1), leaf[None], held)
        found[field.name] = held
    return Bodies(**found)


def _read(setup: Setup, key: Array, state: VolleyballState) -> VolleyballState:
    """The state with its bodies read by the sensors."""
    if not setup.sensing:
        return state
    now = _disturbed(state.bodies, state.noise, key) if setup.noisy else state.bodies
    seen = jax.tree_util.tree_map(
        lambda newest, past: jnp.concatenate([newest[None], past[:-1]]), now, state.seen
    )
    return dataclasses.replace(state, seen=seen)


def sensed(setup: Setup, state: VolleyballState) -> Bodies:
    """The bodies as sensors report them now: late and noisy, where `randomise` makes them so."""
    if not setup.sensing:
        return state.bodies
    age = jnp.int8(0)
    if setup.action_delay or setup.sensor_delay:
        age = state.delays[1]
    return jax.tree_util.tree_map(lambda leaf: take(leaf, age), state.seen)


def _disturbed(bodies: Bodies, noise: Array, key: Array) -> Bodies:
    """The bodies as noisy sensors report them; `noise` is `VolleyballState.noise`."""
    count = bodies.position.shape[0]

    def draw(key: Array) -> Array:
        return jax.random.normal(key, (count * 12 + 6,), jnp.float32)

    drawn = jax.vmap(draw, out_axes=-1)(key) if key.ndim else draw(key)
    own = drawn[: count * 12].reshape(count, 4, 3, *drawn.shape[1:])
    place, twist, speed, rates = (own[:, i] * noise[i] for i in range(4))
    small = jnp.concatenate([jnp.ones_like(twist[:, :1]), twist / 2], axis=1)
    quaternion = physics.multiply(bodies.quaternion, small)
    return dataclasses.replace(
        bodies,
        position=bodies.position + place,
        quaternion=quaternion / length(quaternion)[:, None],
        velocity=bodies.velocity + speed,
        rates=bodies.rates + rates,
        ball=bodies.ball + drawn[-6:-3] * noise[0],
        ball_velocity=bodies.ball_velocity + drawn[-3:] * noise[2],
    )
