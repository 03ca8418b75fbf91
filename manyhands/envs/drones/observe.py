"""What drones and networks are given: the own state, and everything else as seen from it.

Vectors are in the world's axes. The evader's numbers are those of when it was seen last. Where
readings are lost (`dropout`), an agent knows the others as it read them last (`as_read`).
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.drones.state import LONG_AGO, STEP, DronesConfig, DronesState, Reading
from manyhands.envs.volleyball.physics import FASTEST, FASTEST_TURN, matrix

XYZ = ("x", "y", "z")
_SIX = ("x", "y", "z", "vx", "vy", "vz")


def layout(config: DronesConfig) -> Layout:
    """The pieces of one drone's observation."""
    n, mates = config.team, config.players - 1 if config.versus else config.team - 1
    (half_x, half_y), top = config.plan.half, config.plan.height
    wide = np.array([half_x, half_y, top]) + 1.0
    apart = np.array([2 * half_x, 2 * half_y, top]) + 2.0
    moving = [FASTEST] * 3
    six = np.concatenate([apart, moving])
    others = [f"other {k}" for k in range(1, mates + 1)]
    raw = config.actions in ("rotors", "ctbr")
    pieces = [
        Piece(
            "who",
            config.players if config.players > 1 else 0,
            meaning="which drone you are, one-hot",
            labels=config.agents if config.players > 1 else (),
        ),
        Piece("place", 3, -wide, wide, "where you are, m", XYZ),
        Piece("velocity", 3, -FASTEST, FASTEST, "m/s", XYZ),
        Piece("heading", 2, -1, 1, "cosine and sine of the nose's angle from east"),
        Piece("up", 3 * raw, -1, 1, "the body's axis through its rotors", XYZ if raw else ()),
        Piece(
            "rates",
            3 * raw,
            -FASTEST_TURN,
            FASTEST_TURN,
            "rad/s about the body's axes",
            XYZ if raw else (),
        ),
        Piece("thrust", 4 * raw, 0, 1, "of each rotor, share of its greatest"),
        Piece(
            "others",
            (mates, 6),
            -six,
            six,
            "the team's others, the next number first: place from yours, velocity",
            labelled(others, _SIX),
        ),
        Piece(
            "cylinders",
            (config.cylinders, 2),
            -apart[:2],
            apart[:2],
            "the axis of each, from your place",
            labelled([f"cylinder {c}" for c in range(1, config.cylinders + 1)], XYZ[:2]),
        ),
    ]
    if config.pursuit:
        pieces += [
            Piece("seen", 1, 0, 1, "whether the team sees the evader"),
            Piece("unseen", 1, 0, LONG_AGO * STEP, "for how long it has not, s"),
            Piece("evader", 6, -six, six, "as seen last: place from yours, velocity", _SIX),
        ]
    else:
        pieces += [
            Piece("goal", 3, -apart, apart, "where the shape's middle is to be, from you", XYZ),
            Piece(
                "slots",
                (n, 3),
                -apart,
                apart,
                "the shape's places about the goal, from you, yours first",
                labelled([f"slot {k}" for k in range(1, n + 1)], XYZ),
            ),
            Piece("error", 1, 0, 2 * apart.max(), "of the shape, m"),
            Piece("goals left", 1, 0, config.goals, "this one among them"),
        ]
    longest = config.max_steps * config.repeat * STEP
    pieces.append(Piece("time left", 1, 0, longest, "s"))
    return Layout(pieces, np.float32)


def scales(found: Layout) -> np.ndarray:
    """f32[K]: what network inputs are multiplied by, so that play stays within about 1."""
    per = dict.fromkeys(("place", "others", "cylinders", "evader", "goal", "slots"), 0.2)
    per |= {"velocity": 0.4, "rates": 0.3, "unseen": 0.2, "goals left": 0.3, "time left": 0.02}
    row = np.ones(found.size, np.float32)
    for name, scale in per.items():
        if name in found:
            row[found[name]] = scale
    return row


def slot_error(config: DronesConfig, places: Array) -> Array:
    """f32[...], m: the error of the shape that drones at places f32[N, 3, ...] are in, wherever it
    is and whoever is where in it: the Hausdorff distance of the drones from the slots, both about
    their own means."""
    off = places - jnp.mean(places, axis=0)[None]
    slots = expand(config.slots, places.ndim - 2)
    way = off[:, None] - slots[None]
    square = jnp.sum(way * way, axis=2)
    farthest = jnp.maximum(
        jnp.max(jnp.min(square, axis=0), axis=0), jnp.max(jnp.min(square, axis=1), axis=0)
    )
    return jnp.sqrt(farthest + 1e-12)


def goal_of(state: DronesState) -> Array:
    """f32[3, ...], m: the goal to be reached now, the last one when all were."""
    count = state.goals.shape[0]
    now = jnp.minimum(state.reached, count - 1)
    numbers = expand(np.arange(count), now.ndim)
    return jnp.sum(jnp.where((numbers == now[None])[:, None], state.goals, 0), axis=0)


def reading(state: DronesState) -> Reading:
    """What an agent that loses nothing reads of the others."""
    bodies = state.bodies
    return Reading(bodies.position, bodies.velocity, state.seen, state.known, state.unseen)


def as_read(config: DronesConfig, state: DronesState, agent: int) -> DronesState:
    """The state as one agent has read it, with places and velocities of the others and the sight of
    the evader as it holds them; it reads its own body in every step."""
    if not config.losing:
        return state
    mine = jax.tree.map(lambda leaf: leaf[agent], state.held)
    own = expand(np.arange(config.count) == agent, state.bodies.position.ndim - 1)
    bodies = dataclasses.replace(
        state.bodies,
        position=jnp.where(own, state.bodies.position, mine.position),
        velocity=jnp.where(own, state.bodies.velocity, mine.velocity),
    )
    return dataclasses.replace(
        state, bodies=bodies, seen=mine.seen, known=mine.known, unseen=mine.unseen
    )


def observe(config: DronesConfig, state: DronesState) -> Array:
    """f32[A, K, ...]; see `layout`."""
    if not config.losing:
        return _rows(config, state)
    agents = range(config.players)
    return jnp.stack([_rows(config, as_read(config, state, i))[i] for i in agents])


def _rows(config: DronesConfig, state: DronesState) -> Array:
    """f32[A, K, ...], of agents that know this state."""
    n, count = config.team, config.players
    place, velocity = state.bodies.position, state.bodies.velocity
    own = place[:count]
    batch = state.time.shape
    rows = {"place": own, "velocity": velocity[:count]}
    if count > 1:
        rows["who"] = jnp.broadcast_to(
            expand(np.eye(count, dtype=np.float32), len(batch)), (count, count, *batch)
        )
    turned = matrix(state.bodies.quaternion[:count])  # columns are the body's axes
    nose = turned[:, :2, 0]
    rows["heading"] = nose / jnp.sqrt(jnp.sum(nose * nose, axis=1) + 1e-9)[:, None]
    if config.actions in ("rotors", "ctbr"):
        rows["up"] = turned[:, :, 2]
        rows["rates"] = state.bodies.rates[:count]
        rows["thrust"] = state.bodies.thrust[:count]
    six = jnp.concatenate([place, velocity], axis=1)
    if count > 1 or n > 1:
        rows["others"] = jnp.stack([_others(config, six, i) for i in range(count)])
    if config.cylinders:
        off = state.cylinders[None] - own[:, None, :2]
        rows["cylinders"] = off.reshape(count, -1, *batch)

    def shared(value: Array) -> Array:
        return jnp.broadcast_to(value.astype(jnp.float32), (count, 1, *batch))

    if config.pursuit:
        known = jnp.broadcast_to(state.known[None], (count, 6, *batch))
        rows["evader"] = jnp.concatenate([known[:, :3] - own, known[:, 3:]], axis=1)
        rows["seen"] = shared(jnp.any(state.seen, axis=0))
        rows["unseen"] = shared(state.unseen * jnp.float32(STEP))
        if config.versus:  # which knows itself
            itself = jnp.concatenate([jnp.zeros_like(own[-1]), velocity[-1]])
            rows["evader"] = jnp.concatenate([rows["evader"][:-1], itself[None]])
    else:
        goal = goal_of(state)
        slots = expand(config.slots, len(batch))
        rows["goal"] = goal[None] - own
        rows["slots"] = jnp.stack(
            [
                jnp.concatenate([goal + slots[(i + k) % n] - own[i] for k in range(n)])
                for i in range(n)
            ]
        )
        rows["error"] = shared(slot_error(config, place))
        rows["goals left"] = shared(config.goals - state.reached)
    left = (config.max_steps - state.time) * jnp.float32(config.repeat * STEP)
    rows["time left"] = shared(left)
    rows = {name: jnp.asarray(row, jnp.float32) for name, row in rows.items()}
    return jnp.concatenate(layout(config).ordered(rows, axis=1), axis=1)


def _others(config: DronesConfig, six: Array, i: int) -> Array:
    """f32[M * 6, ...]: place from drone i and velocity of the others of the team in turn; where the
    evader is an agent, pursuers have a row of zeros at the end."""
    n = config.team
    order = [(i + k) % n for k in range(1, n)] if i < n else list(range(n))
    own = jnp.concatenate([six[i, :3], jnp.zeros_like(six[i, :3])])
    rows = [six[j] - own for j in order]
    if config.versus and i < n:
        rows.append(jnp.zeros_like(own))
    return jnp.concatenate(rows)


def summary(config: DronesConfig, state: DronesState) -> Array:
    """f32[S, ...]: everything there is to know: place, velocity, attitude, rates and thrust of each
    drone; cylinders; what the task has; time left. Scaled to about 1."""
    bodies, batch = state.bodies, state.time.shape
    parts = [bodies.position * 0.2, bodies.velocity * 0.4, bodies.quaternion, bodies.rates * 0.3]
    parts += [bodies.thrust, state.cylinders * 0.2]
    if config.pursuit:
        parts += [state.seen, state.known * 0.2, state.unseen[None] * jnp.float32(STEP * 0.2)]
    else:
        parts += [goal_of(state) * 0.2, (config.goals - state.reached)[None] * jnp.float32(0.3)]
        parts += [slot_error(config, bodies.position)[None]]
    left = (config.max_steps - state.time) * jnp.float32(config.repeat * STEP * 0.02)
    parts.append(left[None])
    return jnp.concatenate([part.astype(jnp.float32).reshape(-1, *batch) for part in parts])
