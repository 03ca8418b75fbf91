"""Randomised episodes: ranges of physics, delays and noise, and what they do to acting and sensing.

What an episode has drawn is in its state. Rules go by the true bodies; agents observe `sensed`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, take
from manyhands.core.env import Array, ConfigError
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.frames import length
from manyhands.envs.volleyball.physics import Bodies, Params
from manyhands.envs.volleyball.state import (
    DELAYS,
    DISTURBANCES,
    GUST_TIME,
    MAX_DELAY,
    NOISES,
    STEP,
    Disturbance,
    Setup,
    VolleyballState,
)

# What besides `physics.RANDOMISED` can be drawn, and the most of it.
MOST = (
    dict.fromkeys(DELAYS, MAX_DELAY)
    | dict.fromkeys(NOISES, 10)
    | {"gusts": 20, "push": 100, "push_rate": 1 / STEP, "dropout": 1}
)
# Parts of a step's key, besides the sensors' noise.
_GUSTS, _PUSHES, _LOSSES = range(1, 4)


def check_ranges(given: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """The option `randomise`, checked: (low, high) by name, sorted by name."""
    physics.check_drawn(given, [*physics.RANDOMISED, *MOST])
    own = {name: given[name] for name in given if name in MOST}
    found = physics.check_ranges({name: given[name] for name in given if name not in own})
    for name, pair in own.items():
        low, high = physics.pair_of(name, pair)
        steps = name in DELAYS
        if not 0 <= low <= high <= MOST[name] or (steps and low % 1 + high % 1):
            what = f"whole steps up to {MAX_DELAY}" if steps else f"numbers up to {MOST[name]:g}"
            raise ConfigError(f"the range of {name} is (low, high), {what} from 0, given {pair!r}")
        found[name] = (low, high)
    if ("push" in found) != ("push_rate" in found):
        raise ConfigError("push (N s) and push_rate (pushes a second) are drawn together, or not")
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


def draw_disturbance(setup: Setup, key: Array) -> Any:
    """`VolleyballState.disturbance`."""
    if not setup.disturbed:
        return ()
    ends = np.array([setup.ranges.get(name, (0.0, 0.0)) for name in DISTURBANCES], np.float32)
    levels_key, gust_key = jax.random.split(jax.random.fold_in(key, 1))  # levels have the rest
    levels = jax.random.uniform(levels_key, (4,), jnp.float32, ends[:, 0], ends[:, 1])
    gusts, push, rate, dropout = (levels[i] for i in range(4))
    gust = jax.random.normal(gust_key, (3,), jnp.float32) * gusts
    return Disturbance(gust=gust, gusts=gusts, push=push, push_rate=rate, dropout=dropout)


def held_by_all(setup: Setup, bodies: Bodies) -> Bodies:
    """`VolleyballState.held`, where every agent sees these bodies."""
    return jax.tree_util.tree_map(lambda leaf: jnp.stack([leaf] * setup.count), bodies)


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
    """The state with the gust of the next step, and drones that are pushed in it.

    A gust is a Gauss-Markov process, as the turbulence filters of Dryden are of the first order:
    each part is normal, and remembers `exp(-t / GUST_TIME)` of what it was t seconds ago. A push
    is an impulse at a drone's centre of mass, in any direction.
    """
    ranges, count = setup.ranges, setup.count
    if "gusts" in ranges:
        kept = math.exp(-STEP / GUST_TIME)
        drawn = _drawn(key, _GUSTS, lambda key: jax.random.normal(key, (3,), jnp.float32))
        new = state.disturbance.gusts * math.sqrt(1 - kept**2) * drawn
        gust = kept * state.disturbance.gust + new
        state = dataclasses.replace(
            state, disturbance=dataclasses.replace(state.disturbance, gust=gust)
        )
    if "push" in ranges:
        level = state.disturbance

        def draw(key: Array) -> Array:
            when, where = jax.random.split(key)
            chance = jax.random.uniform(when, (count, 1), jnp.float32)
            return jnp.concatenate([chance, jax.random.normal(where, (count, 3), jnp.float32)], 1)

        drawn = _drawn(key, _PUSHES, draw)
        direction = drawn[:, 1:] / (length(drawn[:, 1:]) + 1e-9)[:, None]
        mass = jnp.asarray(physics_of(setup, state).mass, jnp.float32)
        mass = expand(mass, state.time.ndim) if mass.ndim == 1 else mass
        gained = jnp.where(drawn[:, 0] < level.push_rate * STEP, level.push, 0) / mass
        velocity = state.bodies.velocity + gained[:, None] * direction
        state = dataclasses.replace(
            state, bodies=dataclasses.replace(state.bodies, velocity=velocity)
        )
    return state


def physics_of(setup: Setup, state: VolleyballState) -> Params:
    """The physics of this step."""
    params: Params = state.params if setup.physical else setup.params
    if "gusts" in setup.ranges:
        gust = state.disturbance.gust
        wind = gust if params.wind is None else params.wind + gust
        params = dataclasses.replace(params, wind=wind)
    return params


def sense(setup: Setup, key: Array, state: VolleyballState) -> VolleyballState:
    """The state with its bodies read by the sensors, and these readings by the agents."""
    state = _read(setup, key, state)
    if not setup.losing:
        return state
    drawn = _drawn(key, _LOSSES, lambda key: jax.random.uniform(key, (setup.count,), jnp.float32))
    lost, now = drawn < state.disturbance.dropout, sensed(setup, state)

    def keep(held: Array, leaf: Array) -> Array:
        axes = (1,) * (held.ndim - lost.ndim)
        return jnp.where(lost.reshape(lost.shape[0], *axes, *lost.shape[1:]), held, leaf[None])

    return dataclasses.replace(state, held=jax.tree_util.tree_map(keep, state.held, now))


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


def _drawn(key: Array, part: int, draw: Callable[[Array], Array]) -> Array:
    """What `draw` makes of a part of a step's key; in a batch, with its axis last."""

    def one(key: Array) -> Array:
        return draw(jax.random.fold_in(key, part))

    found: Array = jax.vmap(one, out_axes=-1)(key) if key.ndim else one(key)
    return found


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
