"""Moves: what a drone can do by name, as the velocity that each asks for now.

A move is worked out from the drone's own row of observations, so that it uses what the drone knows
and nothing else. `rows` are f32[K, ...], with any axes after the first, those of drones among them.
The same functions fly the moves inside a step, the scripted players, and the scripted evader.

`steer` leads around cylinders and other drones. `flee` goes by an artificial potential field
(Khatib, "Real-time obstacle avoidance for manipulators and mobile robots", 1986): pursuers,
walls and cylinders push; it looks ahead along some directions, since the gradient alone leads into
corners.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, one_hot, select
from manyhands.core.env import Array
from manyhands.core.layout import Layout
from manyhands.envs.drones.state import DronesConfig

DIRECTIONS = {
    "east": (1, 0, 0),
    "west": (-1, 0, 0),
    "north": (0, 1, 0),
    "south": (0, -1, 0),
    "up": (0, 0, 1),
    "down": (0, 0, -1),
}
GAIN = 1.5  # 1/s, from a distance to a velocity
LEAD = 1.0  # m that "advance" is ahead of the drones' middle
ASIDE = 1.2  # m from a mate that "left of" and "right of" are
AHEAD = 1.5  # s that "cut off" looks ahead at most
RING = 1.6  # m, the radius at which "surround" begins to close in
CLEAR = 0.7  # m from a cylinder at which drones begin to turn
APART = 0.7  # m between two drones below which they part
HIDE = 0.8  # m behind a cylinder that "hide" is

# Of the evader's potential field: what pushes, by how much; the moments ahead at which it looks, s;
# and the directions in which it does, unit vectors.
PUSH, WALL, POST = 1.0, 0.08, 0.05
LOOK = (0.3, 0.6, 1.0)
_TURNS = 2 * np.pi * np.arange(16) / 16
WAYS = np.concatenate(
    [
        np.stack([np.cos(_TURNS) * level, np.sin(_TURNS) * level, 0 * _TURNS + rise], 1)
        for level, rise in ((1.0, 0.0), (0.8, 0.6), (0.8, -0.6))
    ]
).astype(np.float32)


def move_names(config: DronesConfig) -> tuple[str, ...]:
    """The moves of a configuration, in action order."""
    n = config.team
    if not config.pursuit:
        places = [f"slot {k + 1}" for k in range(n)]
        return ("hold", "advance", "close ranks", *places, *DIRECTIONS)
    sides = [f"{side} of {name}" for name in config.agents[:n] for side in ("left", "right")]
    names = ["hold", "chase", "cut off", "surround", *(sides if n > 1 else []), *DIRECTIONS]
    return tuple(names + (["flee", "hide"] if config.versus else []))


def allowed(config: DronesConfig) -> np.ndarray:
    """bool[A, M]: the moves of each agent."""
    names = move_names(config)
    found = np.ones((config.players, len(names)), bool)
    for m, name in enumerate(names):
        if name in ("chase", "cut off", "surround") or " of " in name:
            found[config.team :, m] = False
        if name in ("flee", "hide"):
            found[: config.team, m] = False
        for i in range(config.team):
            found[i, m] &= not (name.endswith(f" of {config.agents[i]}"))
    return found


# ---- what a drone sees ---------------------------------------------------------------------------


class View(NamedTuple):
    """A row of observations as places, m: f32[3, ...], or f32[n, 3, ...] of several.

    Attributes:
        place, velocity: the drone's own.
        me: f32[A, ...], one-hot, which agent it is.
        mates: the others of the team in the order of their numbers, itself among them.
        cylinders: f32[C, 2, ...].
        goal: where the shape is to be.
        prey, prey_velocity: of the evader, as last known.
    """

    place: Array
    velocity: Array
    me: Array
    mates: Array
    cylinders: Array
    goal: Array | None
    prey: Array | None
    prey_velocity: Array | None


def view_of(config: DronesConfig, layout: Layout, rows: Array) -> View:
    """What rows of observations hold."""
    n, place = config.team, layout.part(rows, "place")
    me = layout.part(rows, "who") if config.players > 1 else jnp.ones((1, *rows.shape[1:]))
    mates = place[None]
    if "others" in layout:
        others = place[None] + layout.part(rows, "others")[:, :3]
        listed = []
        for k in range(n):
            found = jnp.zeros_like(place)
            for i in range(config.players):
                mate = k if i == n else (k - i) % n - 1
                found = found + me[i] * (place if i == k else others[mate])
            listed.append(found)
        mates = jnp.stack(listed)
    cylinders = jnp.zeros((0, 2, *rows.shape[1:]))
    if config.cylinders:
        cylinders = place[None, :2] + layout.part(rows, "cylinders")
    goal = prey = speed = None
    if config.pursuit:
        prey, speed = place + layout.part(rows, "evader")[:3], layout.part(rows, "evader")[3:]
    else:
        goal = place + layout.part(rows, "goal")
    return View(place, layout.part(rows, "velocity"), me, mates, cylinders, goal, prey, speed)


def length(v: Array) -> Array:
    return jnp.sqrt(jnp.sum(v * v, axis=0) + 1e-9)


def limited(v: Array, most: Array | float) -> Array:
    """Vectors f32[3, ...] no longer than `most`."""
    return v * jnp.minimum(1.0, most / length(v))


# ---- moves ---------------------------------------------------------------------------------------


def speed_of(config: DronesConfig, view: View) -> Array:
    """f32[...], m/s, the drone's greatest."""
    speeds = config.speeds[: config.players]
    return jnp.sum(view.me * expand(speeds, view.me.ndim - 1), axis=0)


def velocities(config: DronesConfig, view: View) -> Array:
    """f32[M, 3, ...], m/s: what each move asks for, in the order of `move_names`."""
    fast, axes = speed_of(config, view), view.place.ndim - 1

    def to(place: Array) -> Array:
        return limited(GAIN * (place - view.place), fast)

    found: dict[str, Array] = {"hold": jnp.zeros_like(view.place)}
    if config.pursuit:
        found |= _hunting(config, view, to, fast)
    else:
        found |= _forming(config, view, to)
    for name, way in DIRECTIONS.items():
        found[name] = jnp.broadcast_to(
            expand(np.asarray(way, np.float32), axes) * fast, view.place.shape
        )
    if config.versus:
        found["flee"] = flee(config, view.place, view.mates, view.cylinders, fast)
        found["hide"] = to(_hiding_place(config, view))
    return jnp.stack([found[name] for name in move_names(config)])


def _forming(config: DronesConfig, view: View, to: Callable[[Array], Array]) -> dict[str, Array]:
    assert view.goal is not None
    slots = expand(config.slots, view.place.ndim - 1)
    own = jnp.sum(view.me[: config.team, None] * slots, axis=0)
    middle = jnp.mean(view.mates, axis=0)
    ahead = middle + limited(view.goal - middle, LEAD)
    found = {"advance": to(ahead + own), "close ranks": to(middle + own)}
    for k in range(config.team):
        found[f"slot {k + 1}"] = to(view.goal + slots[k])
    return found


def _hunting(
    config: DronesConfig, view: View, to: Callable[[Array], Array], fast: Array
) -> dict[str, Array]:
    assert view.prey is not None and view.prey_velocity is not None
    n, prey = config.team, view.prey
    gap = length(prey - view.place)
    found = {"chase": limited(4 * GAIN * (prey - view.place), fast)}
    meeting = prey + view.prey_velocity * jnp.minimum(gap / fast, AHEAD)
    found["cut off"] = limited(4 * GAIN * (within(config, meeting) - view.place), fast)
    # Each has a direction of its own from the evader, turned to the mean of where the team is, and
    # comes nearer along it the nearer all of them are.
    turn = 2 * np.pi * np.arange(n) / n
    ways = np.stack([np.cos(turn), np.sin(turn), 0 * turn], 1).astype(np.float32)
    own = jnp.sum(view.me[:n, None] * expand(ways, view.place.ndim - 1), axis=0)
    gaps = jnp.max(jnp.stack([length(mate - prey) for mate in view.mates]), axis=0)
    radius = jnp.where(gaps < RING + 0.6, 0.3 * gaps, RING) if n > 1 else 0 * gaps
    found["surround"] = limited(4 * GAIN * (within(config, prey + own * radius) - view.place), fast)
    if n > 1:
        for k, name in enumerate(config.agents[:n]):
            mate = view.mates[k]
            ahead = (prey - mate)[:2]
            ahead = ahead / jnp.sqrt(jnp.sum(ahead * ahead, axis=0) + 1e-9)
            left = jnp.stack([-ahead[1], ahead[0], jnp.zeros_like(ahead[0])])
            for side, sign in (("left", ASIDE), ("right", -ASIDE)):
                found[f"{side} of {name}"] = to(within(config, mate + sign * left))
    return found


def _hiding_place(config: DronesConfig, view: View) -> Array:
    """f32[3, ...]: behind the nearest cylinder, as seen from the nearest pursuer."""
    if not config.cylinders:
        return view.place
    hunter = nearest(view.mates, view.place)
    post = nearest(view.cylinders, view.place[:2])
    away = post - hunter[:2]
    away = away / jnp.sqrt(jnp.sum(away * away, axis=0) + 1e-9)
    behind = post + (config.plan.radius + HIDE) * away
    return within(config, jnp.concatenate([behind, view.place[2:]]))


def nearest(places: Array, place: Array) -> Array:
    """The one of places f32[n, k, ...] that is nearest to `place` f32[k, ...]."""
    off = places - place[None]
    gaps = jnp.sum(off * off, axis=1)
    chosen = one_hot(jnp.argmin(gaps, axis=0), places.shape[0]).astype(jnp.float32)
    return jnp.sum(chosen[:, None] * places, axis=0)


def within(config: DronesConfig, place: Array) -> Array:
    """Places f32[3, ...] in the arena."""
    low, high = (expand(end, place.ndim - 1) for end in config.room)
    return jnp.clip(place, low, high)


def steer(config: DronesConfig, view: View, wanted: Array) -> Array:
    """f32[3, ...]: the wanted velocity, led around cylinders and away from team-mates."""
    fast = speed_of(config, view)
    flat, up = wanted[:2], wanted[2:]
    for c in range(config.cylinders):
        flat = _around(config, view.place[:2] - view.cylinders[c], flat)
    found = jnp.concatenate([flat, up])
    for k in range(config.team):
        off = view.place - view.mates[k]
        gap = length(off)
        other = 1.0 - view.me[k]
        found = found + other * jnp.maximum(1 - gap / APART, 0) * fast * off / gap
    return limited(found, fast)


def _around(config: DronesConfig, off: Array, flat: Array) -> Array:
    """What is left of a level velocity f32[2, ...] near a cylinder: into it less and less, along it
    instead."""
    far = jnp.sqrt(jnp.sum(off * off, axis=0) + 1e-9)
    gap = far - config.plan.radius - config.body
    out = off / far
    near = jnp.clip(1 - gap / CLEAR, 0, 1)
    into = jnp.minimum(jnp.sum(flat * out, axis=0), 0)
    along = jnp.stack([-out[1], out[0]])
    side = jnp.where(jnp.sum(along * flat, axis=0) >= 0, 1.0, -1.0)
    kept = flat - near * into * out
    return kept - near * into * side * along + jnp.maximum(0.25 - gap, 0) * 2 * out


def flee(
    config: DronesConfig, place: Array, hunters: Array, cylinders: Array, fast: Array | float
) -> Array:
    """f32[3, ...], m/s: the velocity at full speed that leads to where the potential of pursuers,
    walls and cylinders is least over the next second.

    Args:
        place: f32[3, ...]. hunters: f32[N, 3, ...]. cylinders: f32[C, 2, ...].
    """
    axes = place.ndim - 1
    ways = expand(WAYS, axes)  # [W, 3, ...]
    cost = jnp.zeros((len(WAYS), *place.shape[1:]), jnp.float32)
    for seconds in LOOK:
        ahead = jnp.moveaxis(place[None] + ways * (fast * seconds), 1, 0)  # [3, W, ...]
        cost = cost + _potential(config, within(config, ahead), hunters, cylinders)
    best = one_hot(jnp.argmin(cost, axis=0), len(WAYS)).astype(jnp.float32)
    away = jnp.sum(best[:, None] * ways, axis=0) * fast
    flat = away[:2]
    for c in range(config.cylinders):
        flat = _around(config, place[:2] - cylinders[c], flat)
    return limited(jnp.concatenate([flat, away[2:]]), fast)


def _potential(config: DronesConfig, x: Array, hunters: Array, cylinders: Array) -> Array:
    """f32[W, ...]: of places f32[3, W, ...]."""
    found = jnp.zeros_like(x[0])
    for k in range(config.team):
        found = found + PUSH / (length(x - hunters[k][:, None]) + 0.1)
    low, high = (expand(end, x.ndim - 1) for end in config.room)
    for gap in (x - low, high - x):
        found = found + jnp.sum(WALL / (gap + 0.3), axis=0)
    for c in range(config.cylinders):
        off = x[:2] - cylinders[c][:, None]
        far = jnp.sqrt(jnp.sum(off * off, axis=0) + 1e-9)
        found = found + POST / jnp.maximum(far - config.plan.radius - config.body, 0.05)
    return found


def chosen(config: DronesConfig, layout: Layout, rows: Array, numbers: Array) -> Array:
    """f32[3, ...], m/s: the velocity of the moves with these numbers, i32[...]."""
    view = view_of(config, layout, rows)
    every = velocities(config, view)
    picked = one_hot(numbers, every.shape[0]).astype(jnp.float32)
    return steer(config, view, select(picked, jnp.moveaxis(every, 1, 0)))
