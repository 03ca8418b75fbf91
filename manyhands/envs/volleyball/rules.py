"""One step of volleyball, as a list of phases."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp

from manyhands.core.axes import stack
from manyhands.core.env import Array
from manyhands.envs.volleyball import control, happened, orders, points, randomise
from manyhands.envs.volleyball.drills import DRILLS
from manyhands.envs.volleyball.frames import by_team, constant, number, sides, turn
from manyhands.envs.volleyball.physics import Bodies, Params, Touched
from manyhands.envs.volleyball.referee import Play, observe_play
from manyhands.envs.volleyball.rewards import everyone
from manyhands.envs.volleyball.state import (
    LONG_AGO,
    MAX_RATE,
    MAX_VELOCITY,
    MAX_YAW_RATE,
    STEPPED,
    Setup,
    VolleyballState,
)

Scalars = dict[str, Array]


def step(
    setup: Setup, key: Array, state: VolleyballState, actions: Array
) -> tuple[VolleyballState, Scalars, Scalars]:
    """The next state, the reward terms f32[D, ...] and the metrics f32[...]; actions are
    f32[D, 4, ...], or the numbers of discrete ones, i32[D, ...], or the digits of these,
    i32[D, 4, ...]."""
    done, before = finished(setup, state), state
    state = randomise.disturb(setup, key, state)
    if setup.actions in STEPPED:
        actions, finite = orders.decided(setup, actions)
    else:
        actions, finite = clip(actions)
    actions, pending = randomise.delayed(setup, state, actions)
    bodies, touched, broken = fly(setup, state, actions)
    play = observe_play(setup, state, bodies, touched)
    new = count_step(state, play, pending)
    new, terms, metrics = judge(setup, state, new, play, broken)
    new = dataclasses.replace(new, recent=happened.note(setup, state, new, play, broken, metrics))
    metrics["illegal"] = jnp.sum(number(~finite), axis=0)
    new = randomise.sense(setup, key, new)
    return freeze(done, before, new, terms, metrics)


def finished(setup: Setup, state: VolleyballState) -> Array:
    """bool[...]: whether the episode has ended, by the rules or by the clock."""
    return state.over | (state.time >= setup.max_steps)


def clip(actions: Array) -> tuple[Array, Array]:
    """Actions within [-1, 1], and bool[D, ...], which were finite; zeros stand for those that were
    not."""
    finite = jnp.all(jnp.isfinite(actions), axis=1)
    return jnp.where(finite[:, None], jnp.clip(actions, -1.0, 1.0), 0.0), finite


def fly(setup: Setup, state: VolleyballState, actions: Array) -> tuple[Bodies, Touched, Array]:
    """The bodies after one step, what touched what, and bool[D, ...], which drones broke: their
    numbers overflowed."""
    params = randomise.physics_of(setup, state)
    commands = rotor_commands(setup, params, state, actions)
    moved, touched = setup.advance(params, state.bodies, commands)
    bodies, broken = _finite(state.bodies, moved)
    # Computed once, then read: fused into each rule, the physics would be computed for each.
    found: tuple[Bodies, Touched, Array] = jax.lax.optimization_barrier((bodies, touched, broken))
    return found


def rotor_commands(setup: Setup, params: Params, state: VolleyballState, actions: Array) -> Array:
    """f32[D, 4, ...] in [-1, 1], what the rotors are asked for."""
    if setup.actions == "rotors" or setup.actions in STEPPED:
        return actions
    bodies = state.bodies
    if setup.actions == "ctbr":
        rates = actions[:, :3] * jnp.float32(MAX_RATE)
        return control.from_rates(params, bodies, rates, (actions[:, 3] + 1) / 2, setup.max_yaw)
    sign = sides(setup, state.match, state.time.shape)
    if setup.actions == "position":
        middle, half = (constant(part, actions.ndim - 2)[None] for part in orders.scale_of(setup))
        wanted = middle + half * actions
        heading = jnp.where(sign > 0, wanted[:, 3], wanted[:, 3] + jnp.float32(math.pi))
        return control.from_position(
            params, bodies, turn(wanted[:, :3], sign), heading, setup.max_yaw
        )
    own = actions[:, :3] * jnp.float32(MAX_VELOCITY)
    velocity = turn(own, sign)
    yaw_rate = actions[:, 3] * jnp.float32(MAX_YAW_RATE)
    return control.from_velocity(params, bodies, velocity, yaw_rate, setup.max_yaw)


def count_step(state: VolleyballState, play: Play, pending: Any) -> VolleyballState:
    """The state with its bodies moved and its clocks one step on."""
    since = jnp.minimum(state.since + jnp.int16(1), jnp.int16(LONG_AGO))
    return dataclasses.replace(
        state,
        bodies=play.now,
        pending=pending,
        since=jnp.where(play.racket | play.body, jnp.int16(0), since),
        clock=state.clock + jnp.int16(1),
        time=state.time + 1,
    )


def judge(
    setup: Setup, state: VolleyballState, new: VolleyballState, play: Play, broken: Array
) -> tuple[VolleyballState, Scalars, Scalars]:
    """Touches, turns, faults and the score: the state, reward terms and metrics. A drone that
    broke has crashed."""
    referee = points.judge if setup.versus else DRILLS[setup.task]
    new, faults, terms, metrics, ended = referee(setup, state, new, play)
    crash = "crash" if setup.versus else "drone_low"
    faults[crash] = faults[crash] | by_team(setup, broken)
    table = stack([faults[name] for name in setup.faults])
    new = dataclasses.replace(new, faults=table)
    if setup.versus:
        new, terms["win"], result = points.score(setup, state, new)
        metrics |= result
    else:
        mistake = jnp.any(table, axis=(0, 1))
        terms["mistake"] = everyone(setup, -number(mistake))
        new = dataclasses.replace(new, over=mistake | ended)
    for i, name in enumerate(setup.faults):
        metrics[f"fault_{name}"] = jnp.sum(number(table[i]), axis=0)
    return new, terms, metrics


def freeze(
    done: Array, state: VolleyballState, new: VolleyballState, terms: Scalars, metrics: Scalars
) -> tuple[VolleyballState, Scalars, Scalars]:
    """An episode that has ended stays as it is, and gives nothing more."""
    new = jax.tree_util.tree_map(lambda old, now: jnp.where(done, old, now), state, new)
    terms = {name: jnp.where(done, 0.0, value) for name, value in terms.items()}
    metrics = {name: jnp.where(done, 0.0, number(value)) for name, value in metrics.items()}
    return new, terms, metrics


def _finite(before: Bodies, now: Bodies) -> tuple[Bodies, Array]:
    """Bodies without a number that is not finite: a drone (or the ball) that has one stops where
    it was. And bool[D, ...], which drones: random extremes may spin one faster than a step of the
    physics can follow."""
    parts = (now.position, now.quaternion, now.velocity, now.rates, now.thrust)
    bad = ~functools.reduce(jnp.logical_and, (jnp.all(jnp.isfinite(x), axis=1) for x in parts))
    lost = ~(jnp.all(jnp.isfinite(now.ball), 0) & jnp.all(jnp.isfinite(now.ball_velocity), 0))
    still = {"velocity", "rates", "ball_velocity"}
    found = {}
    for field in dataclasses.fields(now):
        old, new = getattr(before, field.name), getattr(now, field.name)
        mask = lost[None] if field.name.startswith("ball") else bad[:, None]
        found[field.name] = jnp.where(mask, 0.0 if field.name in still else old, new)
    return Bodies(**found), bad
