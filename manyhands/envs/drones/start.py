"""How episodes begin: by chance, or as asked.

Every start can be solved: cylinders stand in the middle of the arena, each about a cell of its own,
so that a drone fits between any two of them; starts and goals lie to both sides of them, where a
shape fits wherever its middle is drawn.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import check_reset_options
from manyhands.core.env import Array, ConfigError, shorten
from manyhands.envs.drones.observe import reading
from manyhands.envs.drones.state import STARTS, DronesConfig, DronesState
from manyhands.envs.volleyball import disturbances, physics
from manyhands.envs.volleyball.physics import Bodies

SHAKE = 0.2  # m, how far drones start from where they belong, at most
LEVELS = 1.0, 2.0  # m, the heights at which starts and goals are drawn
MARGIN = 0.4  # m that a shape keeps from the walls
_NO_GOALS: Any = ()  # of pursuit
FAR = 1000.0  # m away: the ball and the net, which this physics has


def reset(config: DronesConfig, key: Array) -> DronesState:
    """The first state of the episode that `key` names."""
    plan, keys = config.plan, jax.random.split(key, 6)
    cells = np.asarray(plan.cells, np.float32)
    cylinders = jnp.zeros((0, 2), jnp.float32)
    if config.cylinders:
        order = jax.random.permutation(keys[0], len(cells))[: config.cylinders]
        shift = jax.random.uniform(
            keys[1], (config.cylinders, 2), jnp.float32, -plan.jitter, plan.jitter
        )
        cylinders = jnp.asarray(cells)[order] + shift
    side = jnp.where(jax.random.bernoulli(keys[2]), 1.0, -1.0).astype(jnp.float32)
    shake = jax.random.uniform(keys[3], (config.count, 3), jnp.float32, -SHAKE, SHAKE)
    far, goals = STARTS[config.task], _NO_GOALS
    if config.pursuit:
        across = (np.arange(config.team) - (config.team - 1) / 2) * 1.1
        y = jax.random.uniform(keys[4], (), jnp.float32, -2.5, 2.5)
        places = jnp.stack(
            [
                jnp.append(jnp.full(config.team, -far), far) * side,
                jnp.append(jnp.asarray(across, jnp.float32), y),
                jnp.full(config.count, sum(LEVELS) / 2),
            ],
            axis=1,
        )
        places = places + shake
    else:
        wide = plan.half[1] - np.abs(config.slots[:, 1]).max() - MARGIN
        count = config.goals + 1
        y = jax.random.uniform(keys[4], (count,), jnp.float32, -wide, wide)
        z = jax.random.uniform(keys[5], (count,), jnp.float32, *LEVELS)
        sides = side * np.array([(-1.0) ** (k + 1) for k in range(count)], np.float32)
        middles = jnp.stack([far * sides, y, z], axis=1)
        places, goals = middles[0] + config.slots + shake, middles[1:]
    state = begin(config, places, cylinders, goals)
    params_key, level_key = (jax.random.fold_in(keys[5], part) for part in (1, 2))
    if config.physical:
        params = physics.randomise(config.params, config.physical, params_key)
        state = dataclasses.replace(state, params=params)
    level = disturbances.draw_disturbance(config.ranges, level_key)
    return dataclasses.replace(state, disturbance=level)


def begin(config: DronesConfig, places: Array, cylinders: Array, goals: Any) -> DronesState:
    """The first state with everything at its place, without what `randomise` draws."""
    count, pursuit = config.count, config.pursuit
    places = places.astype(jnp.float32)
    level = np.zeros((count, 4), np.float32)
    level[:, 0] = 1
    zeros = jnp.zeros((count, 3), jnp.float32)
    none, nothing = jnp.int8(0), jnp.bool_(False)
    state = DronesState(
        bodies=Bodies(
            position=places,
            quaternion=jnp.asarray(level),
            velocity=zeros,
            rates=zeros,
            thrust=jnp.asarray(physics.trim(config.params), jnp.float32),
            ball=jnp.full(3, FAR, jnp.float32),
            ball_velocity=jnp.zeros(3, jnp.float32),
        ),
        params=(),
        cylinders=cylinders,
        goals=goals,
        reached=() if pursuit else none,
        seen=in_sight(config, places, cylinders) if pursuit else (),
        known=jnp.append(places[-1], jnp.zeros(3, jnp.float32)) if pursuit else (),
        unseen=jnp.int16(0) if pursuit else (),
        catcher=none if pursuit else (),
        touched=jnp.zeros(count, bool),
        gained=() if pursuit else none,
        sighting=none if pursuit else (),
        collisions=jnp.int32(0),
        crashed=nothing,
        over=nothing,
        time=jnp.int32(0),
        recent=jnp.zeros(config.players, jnp.int16) if config.actions == "moves" else (),
    )
    if not config.losing:
        return state
    held = disturbances.held_by_all(config.players, reading(state))
    return dataclasses.replace(state, held=held, lost=jnp.zeros(config.players, bool))


def in_sight(config: DronesConfig, places: Array, cylinders: Array) -> Array:
    """bool[N, ...]: which pursuers see the evader, the last of the places f32[D, 3, ...]: it is
    near enough, and no cylinder is between."""
    own, prey = places[:-1], places[-1:]
    way = prey - own
    seen = jnp.sum(way * way, axis=1) <= config.sight**2
    flat = jnp.sum(way[:, :2] ** 2, axis=1)
    for c in range(config.cylinders):
        off = cylinders[c][None] - own[:, :2]
        along = jnp.clip(jnp.sum(off * way[:, :2], axis=1) / jnp.maximum(flat, 1e-9), 0, 1)
        gap = off - along[:, None] * way[:, :2]
        seen = seen & (jnp.sum(gap * gap, axis=1) > config.plan.radius**2)
    return seen


# ---- as asked ------------------------------------------------------------------------------------


def options_of(config: DronesConfig) -> tuple[str, ...]:
    """What `reset_to` takes: places in m."""
    return ("drones", "cylinders", "evader" if config.pursuit else "goals")


@functools.lru_cache(maxsize=32)
def _compiled(config: DronesConfig) -> Any:
    """`reset`, compiled once for equal environments."""
    return jax.jit(functools.partial(reset, config))


def reset_to(config: DronesConfig, key: Array, options: Mapping[str, Any]) -> DronesState:
    """`reset` with some things where they are asked to be (`options_of`); all else is as drawn."""
    options = check_reset_options(options, options_of(config))
    state = jax.device_get(_compiled(config)(key))
    places = np.array(state.bodies.position)
    cylinders = np.array(state.cylinders)
    if "cylinders" in options:
        cylinders = _numbers("cylinders", options["cylinders"], config.cylinders, 2)
    if "drones" in options:
        places[: config.team] = _numbers("drones", options["drones"], config.team, 3)
    if "evader" in options:
        places[-1] = _numbers("evader", options["evader"], 1, 3)[0]
    goals: Any = state.goals
    if "goals" in options:
        goals = _numbers("goals", options["goals"], config.goals, 3)
        for goal in goals:
            for place in goal + config.slots:
                _check_room(config, "a place of the shape", place, cylinders)
    (x, y), _ = config.plan.half, config.plan.height
    for c, post in enumerate(cylinders):
        if np.any(np.abs(post) > [x, y]):
            raise ConfigError(
                f"cylinders stand within {x:g} and {y:g} m of the middle, given {_spoken(post)}"
            )
        for other in cylinders[:c]:
            if np.linalg.norm(post - other) < 2 * config.plan.radius:
                raise ConfigError(
                    f"cylinders stand at least {2 * config.plan.radius:g} m apart, middle to "
                    f"middle, given {_spoken(other)} and {_spoken(post)}"
                )
    for i, place in enumerate(places):
        who = "the evader" if config.pursuit and i == config.team else f"drone {i}"
        _check_room(config, who, place, cylinders)
        for other in places[:i]:
            if np.linalg.norm(place - other) < 2 * config.body:
                raise ConfigError(f"{who} starts inside another drone, at {_spoken(place)}")
    placed = begin(
        config,
        jnp.asarray(places, jnp.float32),
        jnp.asarray(cylinders, jnp.float32),
        () if config.pursuit else jnp.asarray(goals, jnp.float32),
    )
    return dataclasses.replace(placed, params=state.params, disturbance=state.disturbance)


def _numbers(name: str, given: Any, count: int, size: int) -> np.ndarray:
    """f64[count, size], finite."""
    try:
        found = np.asarray(given, float)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0)
    if count == 1 and found.shape == (size,):
        found = found[None]
    if found.shape != (count, size) and not (count == 0 and found.size == 0):
        raise ConfigError(
            f"the option {name!r} is {count} place{'s' * (count != 1)} of {size} numbers in m, "
            f"given {shorten(given)}"
        )
    if not np.isfinite(found).all():
        raise ConfigError(f"the option {name!r} is finite numbers, given {shorten(given)}")
    return found.reshape(count, size)


def _check_room(
    config: DronesConfig, who: str, place: Sequence[float] | np.ndarray, cylinders: np.ndarray
) -> None:
    low, high = config.room
    if np.any(place < low - 1e-6) or np.any(place > high + 1e-6):
        raise ConfigError(
            f"{who} is within {_spoken(low)} and {_spoken(high)}, given {_spoken(place)}"
        )
    for post in cylinders:
        if np.hypot(*(np.asarray(place)[:2] - post)) < config.plan.radius + config.body:
            raise ConfigError(f"{who} is inside the cylinder at {_spoken(post)}: {_spoken(place)}")


def _spoken(place: Any) -> str:
    return "(" + ", ".join(f"{value:.2f}" for value in np.asarray(place).tolist()) + ")"
