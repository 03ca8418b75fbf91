"""The terms of the rewards, f32[D, ...] each before weighting; `state.TASKS` has the weights.

`everyone` stands for a term that all drones share. docs/volleyball.md has the same table.
"""

from __future__ import annotations

import jax.numpy as jnp

from manyhands.core.axes import repeat
from manyhands.core.env import Array
from manyhands.envs.volleyball.frames import length, number
from manyhands.envs.volleyball.referee import Play
from manyhands.envs.volleyball.state import CRASHED, Setup


def everyone(setup: Setup, value: Array) -> Array:
    """The same for each drone."""
    return repeat(number(value), setup.count)


# ---- matches -------------------------------------------------------------------------------------


def approach(may_touch: Array, distance: Array) -> Array:
    """1 at the ball, less with the distance in m; only for drones that may touch it next."""
    return jnp.where(may_touch, 1 / (1 + distance), 0.0)


def ground(play: Play) -> Array:
    """-1 for a drone that has crashed."""
    return -number(play.now.position[:, 2] < CRASHED)


def position(setup: Setup, play: Play) -> Array:
    """-1 for a drone of 1v1 too near to the net or to a line, or too far off its height."""
    court_length, width = setup.plan.court
    x, y, z = (play.now.position[:, i] for i in range(3))
    own_x = x * play.sign
    astray = (own_x < 0.5) | (own_x > court_length / 2 - 0.5) | (jnp.abs(y) > width / 2 - 0.5)
    astray = astray | (jnp.abs(z - play.anchor[:, 2]) > 1)
    if setup.rulebook == "volleybots":
        astray = astray | (jnp.abs(y) < 0.5)
    return -number(astray)


def anchor(play: Play) -> Array:
    """1 at the drone's anchor, less with the distance in m."""
    return 1 / (1 + length(play.now.position - play.anchor))


# ---- drills --------------------------------------------------------------------------------------


def target_approach(streak: Array, distance: Array) -> Array:
    """back_and_forth: the nearer to the target the more, the longer there the less."""
    left = (50 - streak).astype(jnp.float32) * jnp.float32(0.02)
    return left / (1 + distance * distance)


def off_anchor(play: Play) -> Array:
    """hit: -1 for a drone more than 1 m off its anchor."""
    return -number(length(play.now.position - play.anchor) > 1.0)


def lift(play: Play) -> Array:
    """solo_bump: m that the ball is above the drone and above 1 m, 0 to 2."""
    height = jnp.maximum(play.now.position[:, 2], 1.0)
    return jnp.clip(play.now.ball[2][None] - height, 0.0, 2.0)


def mean_excess(play: Play) -> Array:
    """bump_and_pass: minus the mean distance in m that the two drones are off their anchors,
    beyond 0.5 m."""
    excess = jnp.maximum(length(play.now.position - play.anchor) - 0.5, 0.0)
    return -(excess[0] + excess[1]) / 2


def turn_approach(next_one: Array, distance: Array) -> Array:
    """bump_and_pass: near the ball the drone whose turn is next gains, the other one loses."""
    return jnp.where(next_one, 1.0, -1.0) / (1 + distance)


def aim(hit: Array, play: Play, goal: Array) -> Array:
    """At a touch the cosine between the ball's way over ground and the direction to `goal`
    [>=2, ...]; shared."""
    ball, velocity = play.now.ball, play.now.ball_velocity
    dx, dy = goal[0] - ball[0], goal[1] - ball[1]
    vx, vy = velocity[0], velocity[1]
    size = jnp.sqrt((dx * dx + dy * dy) * (vx * vx + vy * vy))
    return jnp.where(hit, (dx * vx + dy * vy) / jnp.maximum(size, 1e-6), 0.0)


def power(spiked: Array, upwards: Array) -> Array:
    """set_and_spike: m/s that a spike's ball is slower upwards than 5 m/s."""
    return jnp.where(spiked, jnp.maximum(0.0, 5.0 - upwards), 0.0)


def placing(landed: Array, miss: Array) -> Array:
    """set_and_spike: m that the ball lands nearer to the target than 10 m."""
    return jnp.where(landed, jnp.maximum(0.0, 10.0 - miss), 0.0)
