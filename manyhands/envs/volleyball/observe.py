"""What agents observe and perceive: the rows, their layout, and the way back from a row.

Everything is in the agent's own frame (see `state.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, expand, indices, repeat
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.frames import anchors, number, sides, turn, turn_attitude
from manyhands.envs.volleyball.physics import Bodies
from manyhands.envs.volleyball.randomise import sensed, sights
from manyhands.envs.volleyball.referee import allowed
from manyhands.envs.volleyball.state import Setup, VolleyballState


def observe(setup: Setup, state: VolleyballState) -> Array:
    """f32[D, K, ...], the published observation; see `observation_layout`."""
    parts = _as_seen(_published, setup, state)
    return _concatenated(observation_layout(setup).ordered(parts, axis=1))


def perceive(setup: Setup, state: VolleyballState) -> Array:
    """f32[D, K, ...], the observation and then everything there is to know; see
    `perception_layout`."""
    parts = _as_seen(_facts, setup, state)
    return _concatenated(perception_layout(setup).ordered(parts, axis=1))


def summary(setup: Setup, state: VolleyballState) -> Array:
    """f32[K, ...], what the first agent perceives, without noise or delay of the sensors."""
    parts = _facts(setup, state, state.bodies)
    return _concatenated(perception_layout(setup).ordered(parts, axis=1))[0]


def _as_seen(
    parts: Callable[[Setup, VolleyballState, Bodies], dict[str, Array]],
    setup: Setup,
    state: VolleyballState,
) -> dict[str, Array]:
    """Parts f32[D, k, ...], each agent's of the bodies as it sees them."""
    if not setup.losing:
        return parts(setup, state, sensed(setup, state))
    views = jax.vmap(lambda bodies: parts(setup, state, bodies))(sights(setup, state))
    own = range(setup.count)
    return {name: jnp.stack([view[i, i] for i in own]) for name, view in views.items()}


# ---- layouts -------------------------------------------------------------------------------------


def _piece(name: str, shape: int | tuple[int, ...], meaning: str) -> Piece:
    return Piece(name, shape, -np.inf, np.inf, meaning)


@functools.lru_cache(maxsize=64)
def observation_layout(setup: Setup) -> Layout:
    """The pieces of a row of `observe`."""
    n, count = setup.team_size, setup.count
    pieces = [
        _piece("position", 3, "position"),
        _piece("attitude", 4, "attitude, a quaternion (w, x, y, z) with w ≥ 0"),
        _piece("velocity", 3, "velocity"),
        _piece("turning", 3, "angular velocity about the frame's axes"),
        _piece("nose", 3, "the body's x axis"),
        _piece("up", 3, "the body's z axis"),
        _piece("throttle", 4, "throttle of each rotor: 2 · √(thrust / greatest) - 1"),
    ]
    own = _piece("own_place", 3, "position - anchor")
    ball = _piece("ball", 3, "position - ball")
    speed = _piece("ball_velocity", 3, "ball's velocity")
    me = _piece("me", n, "one-hot: which of the team this is")
    if setup.task == "back_and_forth":
        pieces += [_piece("target", 3, "target - position")]
    elif count == 1:
        pieces += [own, ball, speed]
    elif setup.versus and n > 1:
        pieces += [
            own,
            _piece("ball", 3, "ball - position"),
            speed,
            _piece("possession", 2, "ball in the own half, in the other"),
            me,
            _piece("touched", 2, "has not, has touched the ball in this possession"),
            _piece("positions", (count, 3), "positions of all, own team first"),
        ]
    else:
        whose = {"1v1": "own, other", "bump_and_pass": "drone_0, drone_1"}
        turns = whose.get(setup.task, "drone_0, drone_1, nobody")
        pieces += [
            own,
            _piece("other", 3, f"position - {'opponent' if setup.versus else 'partner'}'s"),
            ball,
            speed,
            _piece("turn", len(turns.split(", ")), f"whose touch is next: {turns}"),
        ]
        pieces += [] if setup.versus else [me]
    return Layout(pieces, np.float32)


@functools.lru_cache(maxsize=64)
def perception_layout(setup: Setup) -> Layout:
    """The pieces of a row of `perceive`, in the own frame. Where a piece holds something of each
    drone, the own team's come first, in the order of their numbers."""
    d = setup.count
    pieces = [
        _piece("observation", observation_layout(setup).size, "the row of `observe`"),
        _piece("me", setup.team_size, "one-hot: which of the own team's drones this is"),
        _piece("position", (d, 3), "of each drone"),
        _piece("quaternion", (d, 4), "of each drone"),
        _piece("velocity", (d, 3), "of each drone"),
        _piece("rates", (d, 3), "of each drone, about its body's axes"),
        _piece("thrust", (d, 4), "of each drone's rotors"),
        _piece("anchor", (d, 3), "of each drone"),
        _piece("ball", 3, "where it is"),
        _piece("ball_velocity", 3, "how it moves"),
        _piece("allowed", d, "of each drone: whether it may touch the ball next"),
        _piece("touched", d, "of each drone: whether it has in this possession"),
        _piece("last", d, "one-hot: the last to touch the ball; zeros before the first touch"),
        _piece("since", d, "of each drone: steps since its last touch, at most 1000"),
        _piece("clock", 2, "steps of this point played, and left"),
    ]
    if setup.versus:
        pieces += [
            _piece("possession", 2, "the ball is in the own half, in the other"),
            _piece("serving", 2, "own team, other"),
            _piece("served", 1, "whether the first touch has been made"),
            _piece("score", 2, "own, other"),
        ]
    else:
        pieces += [
            _piece("target", 3, "`Drill.target`"),
            _piece("streak", 1, "`Drill.streak`"),
            _piece("board", 3, "`Drill.board`"),
        ]
    return Layout(pieces, np.float32)


# ---- their contents ------------------------------------------------------------------------------


def _published(setup: Setup, state: VolleyballState, bodies: Bodies) -> dict[str, Array]:
    """The pieces of the observation, f32[D, k, ...] each."""
    axes, batch, count, n = state.time.ndim, state.time.shape, setup.count, setup.team_size
    sign = sides(setup, state.match, batch)
    position = turn(bodies.position, sign)
    quaternion = turn_attitude(bodies.quaternion, sign)
    rotation = physics.matrix(quaternion)
    ball = turn(repeat(bodies.ball, count), sign)
    found = {
        "position": position,
        "attitude": quaternion,
        "velocity": turn(bodies.velocity, sign),
        "turning": physics.rotate(quaternion, bodies.rates),
        "nose": rotation[:, :, 0],
        "up": rotation[:, :, 2],
        "throttle": 2 * jnp.sqrt(jnp.clip(bodies.thrust, 0.0, 1.0)) - 1,
        "own_place": position - turn(anchors(setup, state.match, batch), sign),
        "ball": position - ball,
        "ball_velocity": turn(repeat(bodies.ball_velocity, count), sign),
        "me": _members(setup, batch),
    }
    team = expand(setup.team, axes)
    if setup.task == "back_and_forth":
        found["target"] = repeat(state.drill.target, count) - position
    elif setup.versus and n > 1:
        found |= {
            "ball": -found["ball"],
            "possession": _either(team == state.possession[None]),
            "touched": jnp.flip(_either(state.touched), 1),
            "positions": _of_all(setup, bodies.position, sign).reshape(count, -1, *batch),
        }
    elif count > 1:
        found["other"] = position - turn(bodies.position[::-1], sign)
        if setup.versus:
            found["turn"] = _either(team == state.turn[None])
        else:
            turns = expand(np.arange(observation_layout(setup).pieces["turn"].size), axes)
            found["turn"] = repeat(number(state.turn[None] == turns), count)
    return found


def _facts(setup: Setup, state: VolleyballState, bodies: Bodies) -> dict[str, Array]:
    """The parts of `perceive`, f32[D, k, ...] each."""
    axes, batch, count, n = state.time.ndim, state.time.shape, setup.count, setup.team_size
    sign, team = sides(setup, state.match, batch), expand(setup.team, axes)
    everyone = functools.partial(_of_all, setup, sign=sign)

    def flat(parts: Array) -> Array:
        return parts.reshape(count, -1, *batch)

    turned = turn_attitude(bodies.quaternion, jnp.ones_like(sign))
    seen = _ordered(setup, turned)
    other = jnp.broadcast_to(sign[:, None], (count, count, *batch)).reshape(-1, *batch)
    attitude = turn_attitude(seen.reshape(-1, 4, *batch), other)
    last = (indices(count, axes + 1, dtype=np.int8) == state.last[None]) & state.served[None]
    clock = [state.clock, setup.point_steps - state.clock]
    published = _published(setup, state, bodies)
    facts = {
        "observation": _concatenated(observation_layout(setup).ordered(published, axis=1)),
        "me": _members(setup, batch),
        "position": flat(everyone(bodies.position)),
        "quaternion": attitude.reshape(count, -1, *batch),
        "velocity": flat(everyone(bodies.velocity)),
        "rates": flat(_ordered(setup, bodies.rates)),
        "thrust": flat(_ordered(setup, bodies.thrust)),
        "anchor": flat(everyone(anchors(setup, state.match, batch))),
        "ball": turn(repeat(bodies.ball, count), sign),
        "ball_velocity": turn(repeat(bodies.ball_velocity, count), sign),
        "allowed": flat(_ordered(setup, allowed(setup, state)[:, None])),
        "touched": flat(_ordered(setup, state.touched[:, None])),
        "last": flat(_ordered(setup, last[:, None])),
        "since": flat(_ordered(setup, state.since[:, None])),
        "clock": repeat(jnp.stack(clock), count),
    }
    if setup.versus:
        serving = state.server >= n
        score = jnp.where((team == 0)[:, None], state.score[None], jnp.flip(state.score, 0)[None])
        facts |= {
            "possession": _either(team == state.possession[None]),
            "serving": _either((team == 1) == serving[None]),
            "served": repeat(state.served[None], count),
            "score": score,
        }
    else:
        facts |= {
            "target": repeat(state.drill.target, count),
            "streak": repeat(state.drill.streak[None], count),
            "board": repeat(state.drill.board, count),
        }
    return {
        name: jnp.broadcast_to(part, (*part.shape[:2], *batch)).astype(jnp.float32)
        for name, part in facts.items()
    }


def _members(setup: Setup, batch: tuple[int, ...]) -> Array:
    """f32[D, team_size, ...], one-hot: which drone of its team each one is."""
    n = setup.team_size
    me = expand(np.tile(np.eye(n, dtype=np.float32), (setup.plan.teams, 1)), len(batch))
    return jnp.broadcast_to(me, (setup.count, n, *batch))


def _ordered(setup: Setup, rows: Array) -> Array:
    """Rows [D, ...] of all drones, for each drone [D, D, ...]: the own team's first."""
    if setup.plan.teams == 1:
        return repeat(rows, setup.count)
    n = setup.team_size
    tables = jnp.stack([rows, jnp.concatenate([rows[n:], rows[:n]])])
    return jnp.repeat(tables, n, axis=0)


def _of_all(setup: Setup, vectors: Array, sign: Array) -> Array:
    """Vectors [D, 3, ...] of all drones, in the own frame of each drone: [D, D, 3, ...]."""
    ordered = _ordered(setup, vectors)
    turned = ordered[:, :, :2] * sign[:, None, None]
    up = jnp.broadcast_to(ordered[:, :, 2:], (*ordered.shape[:2], 1, *turned.shape[3:]))
    return jnp.concatenate([turned, up], axis=2)


def _either(mask: Array) -> Array:
    """f32[D, 2, ...]: (1, 0) where a mask bool[D, ...] holds, else (0, 1)."""
    return number(jnp.stack([mask, ~mask], axis=1))


def _concatenated(parts: list[Array]) -> Array:
    """Parts f32[D, k, ...] next to each other, `apart` in a batch."""
    batch = jnp.broadcast_shapes(*(part.shape[2:] for part in parts))
    whole = [jnp.broadcast_to(part, (*part.shape[:2], *batch)) for part in parts]
    whole = [part.astype(jnp.float32) for part in apart(*whole, ndim=2)]
    return jnp.concatenate(whole, axis=1)


# ---- from a row to names -------------------------------------------------------------------------


class Observation(NamedTuple):
    """What one drone perceives, in its own frame; of `D` drones its own team's come first, in team
    order.

    Attributes:
        position, velocity, ball, ball_velocity: f32[3, ...].
        quaternion, thrust: f32[4, ...]; rates: f32[3, ...], about the body's axes.
        positions, velocities, anchors: f32[D, 3, ...], of all drones.
        me: f32[members, ...], one-hot.
        allowed, touched, last: f32[D, ...], as in `Volleyball.layout`.
        mine: f32[...], 1 while the ball is in the own half.
        served: f32[...], 0 until the first hit of a point.
        since: f32[D, ...], steps since each drone's last touch.
        clock: f32[...], steps of this point.
    """

    position: Array
    quaternion: Array
    velocity: Array
    rates: Array
    thrust: Array
    ball: Array
    ball_velocity: Array
    positions: Array
    velocities: Array
    anchors: Array
    me: Array
    allowed: Array
    touched: Array
    last: Array
    mine: Array
    served: Array
    since: Array
    clock: Array


def parse_observation(layout: Mapping[str, slice], row: Array) -> Observation:
    """A row of `perceive`, f32[K, ...], by names."""
    me = row[layout["me"]]
    members = me.shape[0]

    def each(name: str, size: int) -> Array:
        return row[layout[name]].reshape(-1, size, *row.shape[1:])

    def own(everyone: Array) -> Array:
        return jnp.sum(me[:, None] * everyone[:members], axis=0)

    positions, velocities = each("position", 3), each("velocity", 3)
    last, ball = row[layout["last"]], row[layout["ball"]]
    if "served" in layout:
        mine, served = row[layout["possession"]][0], row[layout["served"]][0]
    else:  # drills tell neither, which follow from the rest
        mine, served = (ball[0] > 0).astype(row.dtype), jnp.max(last, axis=0)
    return Observation(
        position=own(positions),
        quaternion=own(each("quaternion", 4)),
        velocity=own(velocities),
        rates=own(each("rates", 3)),
        thrust=own(each("thrust", 4)),
        ball=ball,
        ball_velocity=row[layout["ball_velocity"]],
        positions=positions,
        velocities=velocities,
        anchors=each("anchor", 3),
        me=me,
        allowed=row[layout["allowed"]],
        touched=row[layout["touched"]],
        last=last,
        mine=mine,
        served=served,
        since=row[layout["since"]],
        clock=row[layout["clock"]][0],
    )
