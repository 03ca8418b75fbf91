"""What players know of the court, and how the ball flies: used by all skills (`skills.py`).

All functions take vectors with the component axis first, [3, ...], and any axes after it.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from manyhands.core.env import Array
from manyhands.envs.volleyball.observe import Observation

HOVER, GO, RECEIVE, BUMP, SET, SPIKE, SERVE, BLOCK = range(8)
VERBS = ("hover", "go to", "receive", "bump to", "set to", "spike to", "serve", "block")
GONE = 50.0  # s, a drone that comes later than that meets no ball


class Body(NamedTuple):
    """The numbers that a player knows of its drone, the ball and the court.

    Attributes:
        gravity: m/s². ceiling: m/s², what all rotors together can give.
        offset: m, from the drone's centre to the ball's, when they touch.
        gain: the ball's change of velocity per speed at which ball and racket meet.
        drag: 1/m, the ball is slowed by drag |v| v.
        net: m, height. radius: m, of the ball. half_length, half_width: m, of the court.
        run_up: m, by which a server rises before it meets the ball.
    """

    gravity: float
    ceiling: float
    offset: float
    gain: float
    drag: float
    net: float
    radius: float
    half_length: float
    half_width: float
    run_up: float


class Order(NamedTuple):
    """A skill with its argument: i32[...], f32[3, ...]."""

    kind: Array
    goal: Array


class Hit(NamedTuple):
    """How a ball is to be met: after `time` (s), with the drone's centre at `place`, moving at
    `velocity`, accelerating at `push` (all [3, ...]), its racket's normal along `normal`; by how
    much the drone comes too `late` for that (s; more than `GONE` if the ball is past); and what it
    asks for beyond what the drone can do (`asked`)."""

    time: Array
    place: Array
    velocity: Array
    push: Array
    normal: Array
    late: Array | float = 0.0
    asked: Array | float = 0.0


def falls_to(body: Body, place: Array, velocity: Array, height: Array) -> tuple[Array, Array]:
    """(time, place): when a ball falls through a height (s, negative if it never is so high), and
    where f32[3, ...]. Without air."""
    g = body.gravity
    left = velocity[2] ** 2 + 2 * g * (place[2] - height)
    time = (velocity[2] + jnp.sqrt(jnp.maximum(left, 0))) / g
    time = jnp.where(left >= 0, time, -1.0)
    across = [place[i] + velocity[i] * time for i in range(2)]
    return time, jnp.stack([*across, height + jnp.zeros_like(time)])


def lands(body: Body, obs: Observation) -> tuple[Array, Array]:
    """(time, place): when and where the ball comes down to the floor, if nobody meets it."""
    return falls_to(body, obs.ball, obs.ball_velocity, jnp.float32(body.radius))
