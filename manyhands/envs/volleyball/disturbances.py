"""What disturbs drones from step to step: gusts, pushes and lost readings.

These are functions of ranges, levels and bodies, for any environment on this physics: `envs/drones`
uses them, too. A key is that of one step of `STEP` seconds, or keys along the batch axis.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array, ConfigError
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.frames import length
from manyhands.envs.volleyball.physics import Bodies, Params
from manyhands.envs.volleyball.state import DISTURBANCES, GUST_TIME, STEP, Disturbance

Ranges = Mapping[str, tuple[float, float]]
# What can be drawn, and the most of it.
MOST = {"gusts": 20.0, "push": 100.0, "push_rate": 1 / STEP, "dropout": 1.0}
# Parts of a step's key.
_GUSTS, _PUSHES, _LOSSES = range(1, 4)


def check_ranges(
    given: Mapping[str, Sequence[float]],
    physical: Sequence[str],
    most: Mapping[str, float],
    whole: Collection[str] = (),
) -> dict[str, tuple[float, float]]:
    """An option `randomise`, checked: (low, high) by name, sorted by name.

    Args:
        physical: the names of `physics.RANDOMISED` that may be drawn.
        most: the greatest value of each other name. whole: those that are whole steps.
    """
    physics.check_drawn(given, [*physical, *most])
    found = physics.check_ranges({name: given[name] for name in given if name not in most})
    for name in given:
        if name not in most:
            continue
        pair, steps = given[name], name in whole
        low, high = physics.pair_of(name, pair)
        if not 0 <= low <= high <= most[name] or (steps and low % 1 + high % 1):
            what = f"{'whole steps' if steps else 'numbers'} up to {most[name]:g}"
            raise ConfigError(f"the range of {name} is (low, high), {what} from 0, given {pair!r}")
        found[name] = (low, high)
    if ("push" in found) != ("push_rate" in found):
        raise ConfigError("push (N s) and push_rate (pushes a second) are drawn together, or not")
    return {name: found[name] for name in sorted(found)}


def draw_disturbance(ranges: Ranges, key: Array) -> Any:
    """The levels of an episode and its first gust: a `Disturbance`, or () without any range."""
    if not any(name in ranges for name in DISTURBANCES):
        return ()
    ends = np.array([ranges.get(name, (0.0, 0.0)) for name in DISTURBANCES], np.float32)
    levels_key, gust_key = jax.random.split(jax.random.fold_in(key, 1))  # levels have the rest
    levels = jax.random.uniform(levels_key, (4,), jnp.float32, ends[:, 0], ends[:, 1])
    gusts, push, rate, dropout = (levels[i] for i in range(4))
    gust = jax.random.normal(gust_key, (3,), jnp.float32) * gusts
    return Disturbance(gust=gust, gusts=gusts, push=push, push_rate=rate, dropout=dropout)


def disturb(
    ranges: Ranges, key: Array, level: Any, params: Params, bodies: Bodies
) -> tuple[Any, Bodies]:
    """The `Disturbance` with the gust of the next step, and the bodies, some of them pushed.

    A gust is a Gauss-Markov process, as the turbulence filters of Dryden are of the first order:
    each part is normal, and remembers `exp(-t / GUST_TIME)` of what it was t seconds ago. A push
    is an impulse at a drone's centre of mass, in any direction.
    """
    count, batch = bodies.position.shape[0], bodies.position.ndim - 2
    if "gusts" in ranges:
        kept = math.exp(-STEP / GUST_TIME)
        drawn = _drawn(key, _GUSTS, lambda key: jax.random.normal(key, (3,), jnp.float32))
        new = level.gusts * math.sqrt(1 - kept**2) * drawn
        level = dataclasses.replace(level, gust=kept * level.gust + new)
    if "push" in ranges:

        def draw(key: Array) -> Array:
            when, where = jax.random.split(key)
            chance = jax.random.uniform(when, (count, 1), jnp.float32)
            return jnp.concatenate([chance, jax.random.normal(where, (count, 3), jnp.float32)], 1)

        drawn = _drawn(key, _PUSHES, draw)
        direction = drawn[:, 1:] / (length(drawn[:, 1:]) + 1e-9)[:, None]
        mass = jnp.asarray(params.mass, jnp.float32)
        mass = expand(mass, batch) if mass.ndim == 1 else mass
        gained = jnp.where(drawn[:, 0] < level.push_rate * STEP, level.push, 0) / mass
        bodies = dataclasses.replace(bodies, velocity=bodies.velocity + gained[:, None] * direction)
    return level, bodies


def blown(ranges: Ranges, level: Any, params: Params) -> Params:
    """The physics with the gust of this step in its wind."""
    if "gusts" not in ranges:
        return params
    wind = level.gust if params.wind is None else params.wind + level.gust
    return dataclasses.replace(params, wind=wind)


def lost(key: Array, level: Disturbance, agents: int) -> Array:
    """bool[A, ...]: the agents that read nothing new of the others in this step."""
    drawn = _drawn(key, _LOSSES, lambda key: jax.random.uniform(key, (agents,), jnp.float32))
    return drawn < level.dropout


def held(lost: Array, before: Any, now: Any) -> Any:
    """What each agent read last: `before` [A, ...] where this reading is lost, else `now` [...].
    Both are trees."""

    def keep(old: Array, leaf: Array) -> Array:
        axes = (1,) * (old.ndim - lost.ndim)
        return jnp.where(lost.reshape(lost.shape[0], *axes, *lost.shape[1:]), old, leaf[None])

    return jax.tree_util.tree_map(keep, before, now)


def held_by_all(agents: int, now: Any) -> Any:
    """`held` where every agent has read the tree `now`."""
    return jax.tree_util.tree_map(lambda leaf: jnp.stack([leaf] * agents), now)


def _drawn(key: Array, part: int, draw: Callable[[Array], Array]) -> Array:
    """What `draw` makes of a part of a step's key; in a batch, with its axis last."""

    def one(key: Array) -> Array:
        return draw(jax.random.fold_in(key, part))

    found: Array = jax.vmap(one, out_axes=-1)(key) if key.ndim else one(key)
    return found
