"""How episodes and points begin."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, indices
from manyhands.core.env import Array
from manyhands.envs.volleyball import disturbances, physics, randomise
from manyhands.envs.volleyball.frames import anchors, constant, sides
from manyhands.envs.volleyball.physics import Bodies
from manyhands.envs.volleyball.state import (
    LONG_AGO,
    RADIUS,
    RETURNER,
    Drill,
    Match,
    Recent,
    Setup,
    VolleyballState,
)


def reset(setup: Setup, key: Array) -> VolleyballState:
    """The first state of the episode that `key` names."""
    plan, count = setup.plan, setup.count
    start_key, serve_key, physics_key, sensor_key, level_key = jax.random.split(key, 5)
    params: Any = ()
    if setup.physical:
        params = physics.randomise(setup.params, setup.physical, physics_key)
    match: Any = ()
    if setup.points > 1:
        match = Match(
            swapped=jnp.bool_(False),
            rotation=jnp.zeros(2, jnp.int8),
            seed=jax.random.bits(start_key, (), jnp.uint32),
            number=jnp.int16(0),
        )
    serving = jnp.int8(0 if setup.serve != "far" else 1)
    if setup.versus and setup.serve == "random":
        serving = jax.random.bernoulli(serve_key).astype(jnp.int8)
    if varies(setup):
        noise = jax.random.uniform(start_key, (count, 6), jnp.float32, -1.0, 1.0)
    else:
        noise = jnp.zeros((count, 6), jnp.float32)
    point = begin_point(setup, serving, match, noise)
    drill: Any = ()
    if not setup.versus:
        drill = Drill(
            target=jnp.asarray(plan.target, jnp.float32),
            streak=jnp.int16(0),
            apex=point["bodies"].ball[2],
            apexes=jnp.float32(0),
            done=jnp.int16(0),
            board=jnp.asarray(RETURNER, jnp.float32),
            tilt=jnp.asarray((0.0, 0.0, 1.0), jnp.float32),
        )
    delays = randomise.draw_delays(setup, level_key)
    levels = randomise.draw_noise(setup, level_key)
    disturbance = disturbances.draw_disturbance(setup.ranges, level_key)
    seen = randomise.first_readings(setup, point["bodies"], levels, sensor_key)
    held: Any = ()
    if setup.losing:  # what the first reading is: with neither noise nor delay, the truth
        first = jax.tree_util.tree_map(lambda leaf: leaf[0], seen) if setup.sensing else None
        held = disturbances.held_by_all(setup.count, first or point["bodies"])
    pending: Any = ()
    if setup.action_delay:
        pending = jnp.zeros((setup.action_delay, count, 4), jnp.float32)
    return VolleyballState(
        params=params,
        seen=seen,
        pending=pending,
        delays=delays,
        noise=levels,
        time=jnp.int32(0),
        score=jnp.zeros(plan.teams, jnp.int16),
        faults=jnp.zeros((len(setup.faults), plan.teams), bool),
        over=jnp.bool_(False),
        match=match,
        drill=drill,
        recent=_nothing(setup),
        disturbance=disturbance,
        held=held,
        **point,
    )


def _nothing(setup: Setup) -> Recent:
    """Nothing has happened yet."""
    nobody, none = jnp.zeros(setup.count, jnp.uint8), jnp.uint8(0)
    return Recent(nobody, nobody, none, none, none, jnp.int8(0), jnp.zeros(2, jnp.float32))


def varies(setup: Setup) -> bool:
    """Whether drones start at random places or attitudes."""
    plan = setup.plan
    return bool(any(plan.spread) or plan.tilt or plan.yaw)


def reset_without_noise(
    setup: Setup, team: Array, swapped: Array, rotation: Array
) -> VolleyballState:
    """The first state of an episode, every drone at its anchor, with this team serving; `swapped`
    and `rotation`, of matches, as in `Match`."""
    state = reset(setup, jax.random.key(0))
    match = state.match
    if setup.points > 1:
        match = dataclasses.replace(match, swapped=swapped, rotation=rotation)
    point = begin_point(setup, team, match, np.zeros((setup.count, 6), np.float32))
    return dataclasses.replace(state, match=match, **point)


def begin_point(setup: Setup, serving: Array, match: Any, noise: Array) -> dict[str, Any]:
    """The fields of a state that a new point sets.

    Args:
        serving: i8[...], the team that serves.
        match: `Match` or ().
        noise: f32[D, 6, ...] in [-1, 1], for x, y, z, roll, pitch, yaw.
    """
    plan, count, axes = setup.plan, setup.count, serving.ndim
    sign, anchor = sides(setup, match, serving.shape), anchors(setup, match, serving.shape)
    spread = constant(np.asarray(plan.spread)[None], axes)
    position = anchor + spread * noise[:, :3]
    half = jnp.float32(0.5)
    roll, pitch = half * plan.tilt * noise[:, 3], half * plan.tilt * noise[:, 4]
    yaw = half * plan.yaw * half * (noise[:, 5] + 1)
    yaw = jnp.where(sign > 0, yaw, yaw + half * jnp.float32(np.pi))
    quaternion = _from_angles(roll, pitch, yaw)
    server = server_of(setup, serving, match)
    serves = indices(count, axes + 1, dtype=np.int8) == server[None]
    ball = jnp.sum(jnp.where(serves[:, None], position, 0), axis=0)
    if setup.task == "back_and_forth":  # it lies where it is in nobody's way
        ball = jnp.broadcast_to(constant([-8.0, -4.0, RADIUS], axes), ball.shape)
    else:
        ball = ball + constant([0.0, 0.0, plan.ball], axes)
    zeros = jnp.zeros_like(position)
    zero = jnp.zeros_like(serving)
    bodies = Bodies(
        position=position,
        quaternion=quaternion,
        velocity=zeros,
        rates=zeros,
        thrust=jnp.broadcast_to(expand(setup.trim, axes), (count, 4, *serving.shape)),
        ball=ball,
        ball_velocity=jnp.zeros_like(ball),
    )
    return {
        "bodies": bodies,
        "turn": serving if setup.versus else zero,
        "possession": serving if setup.versus else zero,
        "touched": jnp.zeros((count, *serving.shape), bool),
        "since": jnp.full((count, *serving.shape), LONG_AGO, jnp.int16),
        "last": server,
        "server": server,
        "served": zero != 0,
        "hits": zero.astype(jnp.int16),
        "crossings": zero.astype(jnp.int16),
        "clock": zero.astype(jnp.int16),
    }


def server_of(setup: Setup, serving: Array, match: Any) -> Array:
    """i8[...]: the drone of the serving team that stands at the serving place."""
    n, place = setup.team_size, setup.plan.server
    if setup.points == 1 or n == 1:
        return (serving * n + place).astype(jnp.int8)
    rotation = jnp.where(serving == 0, match.rotation[0], match.rotation[1])
    return (serving * n + (place - rotation) % n).astype(jnp.int8)


def next_point(setup: Setup, serving: Array, match: Match) -> dict[str, Any]:
    """The fields of a state that the next point of a match sets, `match` among them."""
    point = begin_point(setup, serving, match, _point_noise(match, setup.count))
    return {**point, "match": match}


def _from_angles(roll: Array, pitch: Array, yaw: Array) -> Array:
    """Quaternions f32[D, 4, ...] of half angles f32[D, ...]."""
    cr, sr, cp, sp = jnp.cos(roll), jnp.sin(roll), jnp.cos(pitch), jnp.sin(pitch)
    cy, sy = jnp.cos(yaw), jnp.sin(yaw)
    return jnp.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=1,
    )


def _point_noise(match: Match, count: int) -> Array:
    """f32[count, 6, ...] in [-1, 1): the noise of a point's start, from the match's seed and the
    point's number (the finaliser of MurmurHash3): steps that start no point draw nothing."""
    axes = match.seed.ndim
    index = expand(np.arange(count * 6, dtype=np.uint32) * np.uint32(0x9E3779B1), axes)
    bits = match.seed[None] + match.number.astype(jnp.uint32)[None] * np.uint32(0x85EBCA6B) + index
    for factor in (0x85EBCA6B, 0xC2B2AE35):
        bits = (bits ^ (bits >> 16)) * np.uint32(factor)
    bits = bits ^ (bits >> 16)
    unit = (bits >> 8).astype(jnp.float32) * jnp.float32(2.0**-23) - 1
    return unit.reshape(count, 6, *match.seed.shape)
