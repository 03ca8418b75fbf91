"""What agents observe and perceive: the rows, their layout, and the way back from a row.

Everything is in the agent's own frame (see `state.py`). docs/volleyball.md lists the observation
index by index.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, expand, indices, repeat
from manyhands.core.env import Array
from manyhands.envs.volleyball import physics, start
from manyhands.envs.volleyball.frames import anchors, number, sides, turn, turn_attitude
from manyhands.envs.volleyball.physics import Bodies
from manyhands.envs.volleyball.randomise import sensed
from manyhands.envs.volleyball.referee import allowed
from manyhands.envs.volleyball.state import Setup, VolleyballState


def observe(setup: Setup, state: VolleyballState) -> Array:
    """f32[D, K, ...], the published observation."""
    return _concatenated(_published(setup, state, sensed(setup, state)))


def perceive(setup: Setup, state: VolleyballState) -> Array:
    """f32[D, K, ...], the observation and then everything there is to know; see `layout`."""
    return _concatenated(list(_facts(setup, state, sensed(setup, state)).values()))


def summary(setup: Setup, state: VolleyballState) -> Array:
    """f32[K, ...], what the first agent perceives, without noise or delay of the sensors."""
    return _concatenated(list(_facts(setup, state, state.bodies).values()))[0]


def layout(setup: Setup) -> dict[str, slice]:
    """Where in a row of `perceive` each part is; `Volleyball.layout` explains the parts."""
    state = jax.eval_shape(functools.partial(start.reset, setup), jax.random.key(0))
    names: list[str] = []  # the dicts that come out of eval_shape are sorted

    def parts(state: VolleyballState) -> list[Array]:
        found = _facts(setup, state, state.bodies)
        names.extend(found)
        return list(found.values())

    found, first = {}, 0
    for name, part in zip(names, jax.eval_shape(parts, state), strict=False):
        found[name] = slice(first, first + part.shape[1])
        first += part.shape[1]
    return found


def _published(setup: Setup, state: VolleyballState, bodies: Bodies) -> list[Array]:
    """The parts of the observation, f32[D, k, ...] each."""
    axes, batch, count, n = state.time.ndim, state.time.shape, setup.count, setup.team_size
    sign = sides(setup, state.match, batch)
    position = turn(bodies.position, sign)
    quaternion = turn_attitude(bodies.quaternion, sign)
    rotation = physics.matrix(quaternion)
    rates = physics.rotate(quaternion, bodies.rates)
    throttle = 2 * jnp.sqrt(jnp.clip(bodies.thrust, 0.0, 1.0)) - 1
    parts = [position, quaternion, turn(bodies.velocity, sign), rates]
    parts += [rotation[:, :, 0], rotation[:, :, 2], throttle]
    offset = position - turn(anchors(setup, state.match, batch), sign)
    ball = turn(repeat(bodies.ball, count), sign)
    away, ball_velocity = position - ball, turn(repeat(bodies.ball_velocity, count), sign)
    if setup.task == "back_and_forth":
        return [*parts, repeat(state.drill.target, count) - position]
    if count == 1:
        return [*parts, offset, away, ball_velocity]
    team = expand(setup.team, axes)
    if setup.versus and n > 1:
        return [
            *parts,
            offset,
            -away,
            ball_velocity,
            _either(team == state.possession[None]),
            _members(setup, batch),
            jnp.flip(_either(state.touched), 1),
            _of_all(setup, bodies.position, sign).reshape(count, -1, *batch),
        ]
    other = position - turn(bodies.position[::-1], sign)
    parts += [offset, other, away, ball_velocity]
    if setup.versus:
        return [*parts, _either(team == state.turn[None])]
    turns = expand(np.arange(2 if setup.task == "bump_and_pass" else 3), axes)
    whose = number(state.turn[None] == turns)
    return [*parts, repeat(whose, count), _members(setup, batch)]


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
    facts = {
        "observation": _concatenated(_published(setup, state, bodies)),
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
    """What one drone perceives in a match, in its own frame; of `D` drones its own team's come
    first, in team order.

    Attributes:
        position, velocity, ball, ball_velocity: f32[3, ...].
        quaternion, thrust: f32[4, ...]; rates: f32[3, ...], about the body's axes.
        positions, anchors: f32[D, 3, ...], of all drones.
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
    anchors: Array
    me: Array
    allowed: Array
    touched: Array
    last: Array
    mine: Array
    served: Array
    since: Array
    clock: Array


def parse_observation(layout: dict[str, slice], row: Array) -> Observation:
    """A row of `perceive`, f32[K, ...], by names."""
    me = row[layout["me"]]
    members = me.shape[0]

    def each(name: str, size: int) -> Array:
        return row[layout[name]].reshape(-1, size, *row.shape[1:])

    def own(everyone: Array) -> Array:
        return jnp.sum(me[:, None] * everyone[:members], axis=0)

    positions = each("position", 3)
    return Observation(
        position=own(positions),
        quaternion=own(each("quaternion", 4)),
        velocity=own(each("velocity", 3)),
        rates=own(each("rates", 3)),
        thrust=own(each("thrust", 4)),
        ball=row[layout["ball"]],
        ball_velocity=row[layout["ball_velocity"]],
        positions=positions,
        anchors=each("anchor", 3),
        me=me,
        allowed=row[layout["allowed"]],
        touched=row[layout["touched"]],
        last=row[layout["last"]],
        mine=row[layout["possession"]][0],
        served=row[layout["served"]][0],
        since=row[layout["since"]],
        clock=row[layout["clock"]][0],
    )
