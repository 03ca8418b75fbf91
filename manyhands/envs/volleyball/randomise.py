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

from manyhands.core.axes import take
from manyhands.core.env import Array, ConfigError, names_of
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.frames import length
from manyhands.envs.volleyball.physics import Bodies
from manyhands.envs.volleyball.state import DELAYS, MAX_DELAY, NOISES, Setup, VolleyballState


def check_ranges(given: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """The option `randomise`, checked: (low, high) by name, sorted by name."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"randomise is a mapping of names to (low, high), given {given!r}")
    own = {name: given[name] for name in given if name in (*DELAYS, *NOISES)}
    rest = {name: given[name] for name in given if name not in own}
    unknown = [name for name in rest if name not in physics.RANDOMISED]
    if unknown:
        known = names_of([*physics.RANDOMISED, *DELAYS, *NOISES])
        raise ConfigError(f"randomise names {unknown[0]!r}; what can be drawn is {known}")
    found = physics.check_ranges(rest)
    for name, pair in own.items():
        try:
            low, high = (float(value) for value in pair)
        except (TypeError, ValueError):
            raise ConfigError(f"the range of {name} is (low, high), given {pair!r}") from None
        steps = name in DELAYS
        if not 0 <= low <= high <= (MAX_DELAY if steps else 10) or (steps and low % 1 + high % 1):
            what = f"whole steps up to {MAX_DELAY}" if steps else "numbers up to 10"
            raise ConfigError(f"the range of {name} is (low, high), {what} from 0, given {pair!r}")
        found[name] = (low, high)
    return {name: found[name] for name in sorted(found)}


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


def sense(setup: Setup, key: Array, state: VolleyballState) -> VolleyballState:
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
