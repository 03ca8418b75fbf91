"""One step: so many control steps of 20 ms with one action, each of them physics and then rules."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, repeat, take_mask
from manyhands.core.env import Array
from manyhands.envs.drones import moves
from manyhands.envs.drones.observe import goal_of, layout, observe, reading, slot_error
from manyhands.envs.drones.start import FAR, in_sight
from manyhands.envs.drones.state import (
    IN_SHAPE,
    LONG_AGO,
    MAX_RATE,
    MAX_YAW_RATE,
    REACHED,
    STEP,
    DronesConfig,
    DronesState,
)
from manyhands.envs.volleyball import control, disturbances
from manyhands.envs.volleyball.physics import Bodies, Params, Touched

Scalars = dict[str, Array]
_TICKS = 16  # from here on, parts of a step's key are those of its control steps


def finished(config: DronesConfig, state: DronesState) -> Array:
    """bool[...]: whether the episode has ended, by the rules or by the clock."""
    return state.over | (state.time >= config.max_steps)


def acting(config: DronesConfig, state: DronesState) -> Array:
    """bool[A, ...]."""
    return repeat(~finished(config, state), config.players)


def legal(config: DronesConfig, state: DronesState) -> Array:
    """bool[A, M, ...] of moves; bool[A, 1, ...] of actions of four numbers."""
    may = acting(config, state)[:, None]
    if config.actions != "moves":
        return may
    return may & expand(moves.allowed(config), state.time.ndim)


def step(
    config: DronesConfig, key: Array, state: DronesState, actions: Array
) -> tuple[DronesState, dict[str, Any]]:
    """The next state, and what `Env.outcome` takes."""
    done = finished(config, state)
    if config.actions == "moves":
        table = jnp.broadcast_to(
            expand(moves.allowed(config), state.time.ndim),
            (config.players, len(moves.move_names(config)), *state.time.shape),
        )
        known = take_mask(table, actions.astype(jnp.int32))
        actions = jnp.where(known, actions, 0).astype(jnp.int32)
    else:
        known = jnp.all(jnp.isfinite(actions), axis=1)
        actions = jnp.where(known[:, None], jnp.clip(actions, -1.0, 1.0), 0.0)
        actions = actions.astype(jnp.float32)
    fresh = dataclasses.replace(state, touched=jnp.zeros_like(state.touched))
    if config.actions == "moves":
        fresh = dataclasses.replace(fresh, recent=(actions + 1).astype(jnp.int16))
    if not config.pursuit:
        fresh = dataclasses.replace(fresh, gained=jnp.zeros_like(state.gained))

    if config.losing:
        lost = disturbances.lost(key, state.disturbance, config.players)
        fresh = dataclasses.replace(fresh, lost=lost)

    def control_step(i: Array, now: DronesState) -> DronesState:
        own = _key_of(key, _TICKS + i) if config.disturbed else key
        return _tick(config, own, now, actions)

    new = jax.lax.fori_loop(0, config.repeat, control_step, fresh)
    hits = jnp.sum(new.touched, axis=0, dtype=jnp.int32)
    new = dataclasses.replace(new, time=state.time + 1, collisions=state.collisions + hits)
    if config.pursuit:
        sighting = jnp.any(new.seen, 0).astype(jnp.int8) - jnp.any(state.seen, 0).astype(jnp.int8)
        new = dataclasses.replace(new, sighting=sighting)
    terms, metrics = _terms(config, state, new)
    metrics["illegal"] = jnp.sum((~known).astype(jnp.float32), axis=0)
    new = jax.tree.map(lambda old, now: jnp.where(done, old, now), state, new)
    terms = {name: jnp.where(done, 0.0, term) for name, term in terms.items()}
    metrics = {name: jnp.where(done, 0.0, number) for name, number in metrics.items()}
    late = ~new.over & (new.time >= config.max_steps)
    ends = repeat(new.over, config.players), repeat(late, config.players)
    return new, {"terms": terms, "terminated": ends[0], "truncated": ends[1], "metrics": metrics}


# ---- a control step ------------------------------------------------------------------------------


def _key_of(key: Array, part: Array) -> Array:
    """A part of a step's key, or of the keys of a batch."""
    if key.ndim:
        return jax.vmap(lambda one: jax.random.fold_in(one, part))(key)
    return jax.random.fold_in(key, part)


def _tick(config: DronesConfig, key: Array, state: DronesState, actions: Array) -> DronesState:
    params: Params = state.params if config.physical else config.params
    before = state
    if config.disturbed:
        level, bodies = disturbances.disturb(
            config.ranges, key, state.disturbance, params, state.bodies
        )
        before = dataclasses.replace(state, disturbance=level, bodies=bodies)
        params = disturbances.blown(config.ranges, level, params)
    commands = rotor_commands(config, params, before, actions)
    moved, touched = config.advance(params, before.bodies, commands)
    moved = _finite(before.bodies, moved)
    moved, touching = _bounded(config, state, moved, touched)
    new = dataclasses.replace(before, bodies=moved, touched=state.touched | touching)
    over = jnp.zeros_like(state.over)
    if config.collisions == "end":
        crashed = jnp.any(touching, axis=0)
        new = dataclasses.replace(new, crashed=crashed)
        over = over | crashed
    if config.pursuit:
        off = moved.position[:-1] - moved.position[-1:]
        gaps = jnp.sum(off * off, axis=1)
        near = jnp.min(gaps, axis=0) < config.capture**2
        catcher = jnp.where(near, jnp.argmin(gaps, axis=0) + 1, 0).astype(jnp.int8)
        seen = in_sight(config, moved.position, state.cylinders)
        anyone = jnp.any(seen, axis=0)
        now = jnp.concatenate([moved.position[-1], moved.velocity[-1]])
        late = jnp.minimum(state.unseen + 1, LONG_AGO).astype(jnp.int16)
        new = dataclasses.replace(
            new,
            catcher=catcher,
            seen=seen,
            known=jnp.where(anyone, now, state.known),
            unseen=jnp.where(anyone, jnp.int16(0), late),
        )
        over = over | near
    else:
        middle = jnp.mean(moved.position, axis=0)
        away = middle - goal_of(state)
        there = jnp.sum(away * away, axis=0) < REACHED**2
        there = there & (slot_error(config, moved.position) < IN_SHAPE)
        gained = there.astype(jnp.int8)
        new = dataclasses.replace(new, reached=state.reached + gained, gained=state.gained + gained)
        over = over | (new.reached >= config.goals)
    new = dataclasses.replace(new, over=over)
    if config.losing:
        held = disturbances.held(state.lost, state.held, reading(new))
        new = dataclasses.replace(new, held=held)
    # An episode that is over stays as it is.
    return jax.tree.map(lambda old, now: jnp.where(state.over, old, now), state, new)


def rotor_commands(
    config: DronesConfig, params: Params, state: DronesState, actions: Array
) -> Array:
    """f32[D, 4, ...] in [-1, 1]: what the rotors are asked for."""
    bodies, batch = state.bodies, state.time.shape
    count, players = config.count, config.players

    def of_all(rows: Array) -> Array:
        """Rows of the agents, and zeros for the scripted evader."""
        if count == players:
            return rows
        return jnp.concatenate([rows, jnp.zeros((1, *rows.shape[1:]), rows.dtype)])

    if config.actions == "rotors":
        commands = of_all(actions)
    elif config.actions == "ctbr":
        every = of_all(actions)
        rates, thrust = every[:, :3] * jnp.float32(MAX_RATE), (every[:, 3] + 1) / 2
        commands = control.from_rates(params, bodies, rates, thrust, config.max_yaw)
    elif config.actions == "position":
        every = of_all(actions)
        low, high = (expand(end[None], len(batch)) for end in bounds(config))
        places = low + (every[:, :3] + 1) / 2 * (high - low)
        most = expand(config.speeds, len(batch))
        heading = every[:, 3] * jnp.float32(np.pi)
        commands = control.from_position(params, bodies, places, heading, config.max_yaw, most)
    else:
        yaw = jnp.zeros((count, *batch), jnp.float32)
        if config.actions == "moves":
            rows = jnp.moveaxis(observe(config, state), 0, 1)  # [K, A, ...]
            velocity = jnp.moveaxis(moves.chosen(config, layout(config), rows, actions), 0, 1)
        else:
            most = expand(config.speeds[:players], len(batch))
            velocity = jnp.moveaxis(actions[:, :3] * most[:, None], 1, 0)
            velocity = jnp.moveaxis(moves.limited(velocity, most), 0, 1)
            yaw = of_all(actions[:, 3] * jnp.float32(MAX_YAW_RATE))
        commands = control.from_velocity(params, bodies, of_all(velocity), yaw, config.max_yaw)
    if count == players:
        return commands
    x = bodies.position
    away = moves.flee(config, x[-1], x[:-1], state.cylinders, config.speeds[-1])
    wanted = jnp.concatenate([jnp.zeros_like(x[:-1]), away[None]])
    still = jnp.zeros((count, *batch), jnp.float32)
    flown = control.from_velocity(params, bodies, wanted, still, config.max_yaw)
    return jnp.concatenate([commands[:-1], flown[-1:]])


def bounds(config: DronesConfig) -> np.ndarray:
    """f32[2, 3], m: the places that position actions of -1 and 1 name."""
    (x, y), z = config.plan.half, config.plan.height
    return np.array([[-x, -y, 0], [x, y, z]], np.float32)


def _finite(old: Bodies, new: Bodies) -> Bodies:
    """The bodies, those whose numbers overflowed as they were; the ball stays where it is."""
    fine = jnp.ones(new.position.shape[:1] + new.position.shape[2:], bool)
    names = ("position", "quaternion", "velocity", "rates", "thrust")
    for name in names:
        fine = fine & jnp.all(jnp.isfinite(getattr(new, name)), axis=1)
    kept = {
        name: jnp.where(fine[:, None], getattr(new, name), getattr(old, name)) for name in names
    }
    far = jnp.full_like(old.ball, FAR)
    return Bodies(**kept, ball=far, ball_velocity=jnp.zeros_like(old.ball_velocity))


def _bounded(
    config: DronesConfig, state: DronesState, bodies: Bodies, touched: Touched
) -> tuple[Bodies, Array]:
    """The bodies outside of cylinders and walls, and bool[D, ...], which touch anything: a drone
    that flies into one is put back to its surface, and loses what velocity it had into it."""
    x, v, axes = bodies.position, bodies.velocity, state.time.ndim
    hit = touched.grounded | jnp.any(touched.collided, axis=1)
    reach = config.plan.radius + config.body
    for c in range(config.cylinders):
        off = x[:, :2] - state.cylinders[c][None]
        far = jnp.sqrt(jnp.sum(off * off, axis=1) + 1e-12)
        out = off / far[:, None]
        inside = far < reach
        into = jnp.minimum(jnp.sum(v[:, :2] * out, axis=1), 0)
        push = jnp.where(inside, reach - far, 0)
        flat = x[:, :2] + push[:, None] * out
        slow = v[:, :2] - jnp.where(inside, into, 0)[:, None] * out
        x = jnp.concatenate([flat, x[:, 2:]], axis=1)
        v = jnp.concatenate([slow, v[:, 2:]], axis=1)
        hit = hit | inside
    low, high = config.room.copy()
    low[2] = 0  # on the floor the physics has contacts
    low, high = (expand(end[None], axes) for end in (low, high))
    below, above = x < low, x > high
    v = jnp.where(below, jnp.maximum(v, 0), jnp.where(above, jnp.minimum(v, 0), v))
    x = jnp.clip(x, low, high)
    hit = hit | jnp.any(below | above, axis=1)
    return dataclasses.replace(bodies, position=x, velocity=v), hit


# ---- rewards -------------------------------------------------------------------------------------


def _terms(config: DronesConfig, old: DronesState, new: DronesState) -> tuple[Scalars, Scalars]:
    """Reward terms f32[A, ...] and metrics f32[...] of a step."""
    players, seconds = config.players, jnp.float32(config.repeat * STEP)

    def number(value: Array) -> Array:
        return value.astype(jnp.float32)

    touched = number(new.touched[:players])
    crashed = repeat(number(new.crashed & ~old.over), players)
    if config.versus:  # whoever would be caught must not take the other side along
        sides = new.touched[: config.team], new.touched[config.team :]
        crashes = [jnp.broadcast_to(jnp.any(side, axis=0), side.shape) for side in sides]
        crashed = crashed * number(jnp.concatenate(crashes))
    terms = {"collision": touched * seconds, "crash": crashed}
    metrics = {"collisions": jnp.sum(touched, axis=0)}
    if config.pursuit:
        before, after = (_gaps(state) for state in (old, new))
        approach = before - after
        caught = repeat(number(new.catcher > 0), config.team)
        if config.versus:
            gone = jnp.min(after, axis=0) - jnp.min(before, axis=0)
            approach = jnp.concatenate([approach, gone[None]])
            caught = jnp.concatenate([caught, -caught[:1]])
        terms |= {"capture": caught, "approach": approach}
        metrics |= {
            "captured": caught[0],
            "nearest": jnp.min(after, axis=0),
            "in_sight": number(jnp.any(new.seen, axis=0)),
        }
    else:
        goal, reached = goal_of(old), number(new.gained)
        before, after = (
            moves.length(jnp.mean(state.bodies.position, axis=0) - goal) for state in (old, new)
        )
        error = slot_error(config, new.bodies.position)
        terms |= {
            "progress": repeat(before - after, players),
            "shape": repeat(error * seconds, players),
            "reached": repeat(reached, players),
        }
        success = number(new.reached >= config.goals)
        metrics |= {"shape_error": error, "goals": reached, "success": success}
    return {name: terms[name] for name in config.plan.weights}, metrics


def _gaps(state: DronesState) -> Array:
    """f32[N, ...], m: how far each pursuer is from the evader."""
    x = state.bodies.position
    return moves.length(jnp.moveaxis(x[:-1] - x[-1:], 1, 0))
