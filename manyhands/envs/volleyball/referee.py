"""What happens in a step, in the terms of the rules: touches, the net, the floor, and whose turn it
is. `points.py` and `drills.py` judge it."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, indices
from manyhands.core.env import Array
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.frames import anchors, length, sides
from manyhands.envs.volleyball.physics import Bodies, Touched
from manyhands.envs.volleyball.state import (
    DEBOUNCE,
    LANDED,
    NET,
    PAUSE,
    RADIUS,
    STEP,
    Setup,
    VolleyballState,
)


@dataclasses.dataclass(frozen=True)
class Play:
    """What happened in one step.

    Attributes:
        before, now: the bodies.
        racket, body: bool[D, ...], counted touches of the ball by the racket and by the rest of
            the drone.
        net, landed: bool[...], ball in the net, ball down.
        netted: bool[D, ...], drones that touch the net, or its plane above it.
        inside: bool[...], the ball's centre is over the court.
        side: i8[...], the team in whose half the ball is.
        crossed: bool[...], the ball has changed halves.
        sign: f32[D, ...], +1 for drones that play in x > 0, else -1.
        anchor: f32[D, 3, ...], where each drone belongs, m.
        gap, flat: f32[D, ...], m from drone to ball, and the same without height.
    """

    before: Bodies
    now: Bodies
    racket: Array
    body: Array
    net: Array
    landed: Array
    netted: Array
    inside: Array
    side: Array
    crossed: Array
    sign: Array
    anchor: Array
    gap: Array
    flat: Array


class Ruling(NamedTuple):
    """What the referee makes of one step.

    Attributes:
        state: with touches, turns and the drill brought up to date.
        faults: bool[T, ...] by name.
        terms: f32[D, ...] by name, the reward terms but `win` and `mistake`.
        metrics: bool or f32 [...] by name.
        ended: whether a drill is over without a mistake.
    """

    state: VolleyballState
    faults: dict[str, Array]
    terms: dict[str, Array]
    metrics: dict[str, Array]
    ended: Array | bool = False


def observe_play(setup: Setup, state: VolleyballState, now: Bodies, touched: Touched) -> Play:
    """What happened between `state` and the bodies after it."""
    before = state.bodies
    court_length, width = setup.plan.court
    ball, was = now.ball, before.ball
    racket, body = touched.racket, touched.hull
    within = jnp.abs(ball[1]) < width / 2
    if setup.rulebook == "volleybots":
        if setup.versus:
            racket, body = _touches_by_velocity(before, now)
        net = (jnp.abs(ball[0]) < 3 * RADIUS) & within & (ball[2] < NET)
    else:
        # Through it in one step, in it, or touching it.
        share = was[0] / jnp.where(was[0] == ball[0], 1.0, was[0] - ball[0])
        y, z = (was[i] + share * (ball[i] - was[i]) for i in (1, 2))
        through = (was[0] * ball[0] < 0) & (jnp.abs(y) < width / 2) & (z < NET)
        inside = (jnp.abs(ball[0]) < RADIUS) & within & (ball[2] < NET)
        net = touched.net | through | inside
    fresh = state.since + jnp.int16(1) > DEBOUNCE
    offset = ball[None] - now.position
    flat = jnp.sqrt(offset[:, 0] * offset[:, 0] + offset[:, 1] * offset[:, 1])
    batch = state.time.shape
    sign = sides(setup, state.match, batch)
    # The far team's half at x = 0, but a ball there stays where it was.
    side = ((ball[0] > 0) != (sign[0] > 0)).astype(jnp.int8)
    side = jnp.where(ball[0] == 0, state.possession, side)
    return Play(
        before=before,
        now=now,
        racket=racket & fresh,
        body=body & ~racket & fresh,
        net=net,
        landed=ball[2] < LANDED,
        netted=touched.netted | (jnp.abs(now.position[:, 0]) < 0.01),
        inside=within & (jnp.abs(ball[0]) < court_length / 2),
        side=side,
        crossed=side != state.possession,
        sign=sign,
        anchor=anchors(setup, state.match, batch),
        gap=length(offset),
        flat=flat,
    )


def allowed(setup: Setup, state: VolleyballState) -> Array:
    """bool[D, ...]: which drones may touch the ball next."""
    axes = state.time.ndim
    numbers = indices(setup.count, axes + 1, dtype=np.int8)
    team = expand(setup.team, axes)
    if setup.task in ("solo_bump", "hit"):
        return state.since >= PAUSE
    if setup.task == "back_and_forth":
        return jnp.zeros_like(state.touched)
    if not setup.versus:
        return numbers == state.turn[None]
    if setup.team_size == 1:
        return team == state.turn[None]
    turn = (team == state.possession[None]) & ~state.touched
    return jnp.where(state.served[None], turn, numbers == state.server[None])


def may_touch(setup: Setup, state: VolleyballState, play: Play) -> Array:
    """bool[D, ...]: which drones may touch the ball in this step. In teams, the one that gets it
    over the net may touch it in the same step."""
    free = allowed(setup, state)
    if not setup.versus or setup.team_size == 1:
        return free
    team = expand(setup.team, state.time.ndim)
    return free | ((play.crossed & state.served)[None] & (team == play.side[None]))


def _touches_by_velocity(before: Bodies, now: Bodies) -> tuple[Array, Array]:
    """Touches as VolleyBots detects them, bool[D, ...] by racket and by any part of a drone: the
    ball's velocity has jumped, and the ball was or is within 0.5 m of the drone; or over its
    racket: in a cylinder of radius 0.2 m that stands 0.2 m high on the drone's centre."""
    change = now.ball_velocity - before.ball_velocity
    level = jnp.sqrt(change[0] * change[0] + change[1] * change[1])
    jumped = (change[2] > 9.8 * STEP) | (level > 0.5)

    def around(bodies: Bodies) -> tuple[Array, Array]:
        offset = bodies.ball[None] - bodies.position
        local = physics.unrotate(bodies.quaternion, offset)
        beside = local[:, 0] * local[:, 0] + local[:, 1] * local[:, 1]
        over = (local[:, 2] >= 0) & (local[:, 2] <= 2 * RADIUS) & (beside < 0.04)
        return over, length(offset) < 0.5

    over, near = (a | b for a, b in zip(around(before), around(now), strict=True))
    return over & jumped[None], near & jumped[None]
