"""Spikes: how a drone hits a ball downwards over the net, and stays on its own side.

A racket pushes along its normal alone. To send a falling ball downwards and forwards it must lean
by 40 to 55 degrees when they meet, while a drone that leans so flies away sideways. So a spike is a
jump: the drone climbs, level, to a place and a velocity (`start_of_turn`) from which it then turns
over within 0.4 seconds with little thrust, nearly in free fall, and meets the ball when it has just
stopped turning; afterwards it turns back at once and brakes (`recover`).

`plan` tries heights of the hit and times of the ball's flight. A pair of them gives the ball's
velocity after the hit, hence the racket's normal and its speed along it (see `skills.py`), hence
where the turn must begin. The cost of each is what it asks for beyond what the drone can do; where
the least cost is not small, the ball cannot be spiked to that target (`can`).

All functions take vectors with the component axis first, [3, ...], and any axes after it.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from manyhands.core.axes import expand, least, select
from manyhands.core.env import Array
from manyhands.envs.volleyball.control import (
    attitude_for,
    body_axes,
    dot,
    length,
    rates_to,
)
from manyhands.envs.volleyball.flight import GONE, Body, falls_to
from manyhands.envs.volleyball.hits import SHORT_TURN, press, turn_to, turning
from manyhands.envs.volleyball.observe import Observation

HIGHEST, LOWEST, HEIGHTS = 3.9, 2.75, 10  # m, of the ball at the hit; how many are tried
# Of the time in which a ball let fall at that height lands: less than 1 is downwards from the hit.
LONGEST, SHORTEST, FLIGHTS = 0.95, 0.6, 7
FASTEST, SLOWEST = 1.0, -1.2  # m/s, of the racket along its normal
EASY = -0.2  # m/s, the speed of it that is best: moving back, it turns the ball downwards
NEAREST = 0.6  # m from the net, of the drone at the hit
THRUST = 7.0  # m/s², during the turn, about
LEAST_THRUST, MOST_THRUST = 1.0, 10.0  # m/s², to make up for errors
CLIMB, DIP = 4.5, 3.5  # m/s², up and down, that the way there may ask for
REACH = 0.05  # m, by which the turn may end beside the ball's place
SETTLED = 0.35  # s before the turn, from when on haste costs what it leaves of a miss at its end
STEADY, HASTE = 45.0, 0.1  # rad/s², that a turn may ask for, and the cost of more
OFFERED = 1.0  # cost up to which a spike is possible
COMMITTED, LATE = 2.0, 0.8  # the same for those that are less than so many seconds away
STUBBORN = 8.0  # the same for a team's attacker, who is above the ball for all but a spike then
STRAY = 0.02  # 1/m², the cost of another target than the one that is wanted, of those then
HORIZON, CLIMB_HORIZON = 0.4, 0.15  # s, for which paths are planned at least
LOOK = 0.2  # s, how far ahead on the path the attitude is taken from
TILT = 0.65  # rad, on the way
# After the hit: how fast to turn back (1/s, rad/s², rad/s), to brake (1/s², 1/s), the tilt (rad),
# and the share of the thrust while the racket still looks elsewhere.
BACK_GAIN, BACK_TURN, BACK_RATE = 10.0, 20.0, 8.0
SPRING, BRAKE, BACK_TILT, BACK_THRUST = 3.0, 4.0, 0.75, 0.3
AFTER = 60  # steps after its touch in which a drone may still have to brake


class Manner(NamedTuple):
    """How drones spike on a court.

    Attributes:
        lean: rad, how far the racket may lean at the hit.
        turn: s, of the turn before it.
        away: m/s, of the drone away from the net at the hit, which costs the ball nothing.
        push: m/s², across, that the way there may ask for.
        clear: m, between ball and net.
    """

    lean: float
    turn: float
    away: float
    push: float
    clear: float


# On a short court the net is high, and the ball comes from the other half: only a racket that leans
# more, and turns faster, sends it down.
ON_LONG, ON_SHORT = Manner(0.95, 0.4, 0.5, 6.0, 0.15), Manner(1.08, 0.37, 0.0, 7.0, 0.22)
SHORT_COURT = 4.0  # m, half its length


def manner(body: Body) -> Manner:
    return ON_SHORT if body.half_length < SHORT_COURT else ON_LONG


class Spike(NamedTuple):
    """How a ball is to be spiked: after `time` (s), with the drone's centre at `place`, moving at
    `velocity`, its racket's normal along `normal` and moving at `speed` along it; what that asks
    for beyond what the drone can do (`cost`)."""

    time: Array
    place: Array
    velocity: Array
    speed: Array
    normal: Array
    cost: Array


def plan(body: Body, obs: Observation, goal: Array) -> Spike:
    """How to spike the ball to `goal` f32[3, ...]."""
    g, axes, how = body.gravity, goal.ndim - 1, manner(body)
    high = expand(jnp.linspace(HIGHEST, LOWEST, HEIGHTS, dtype=jnp.float32), axes)
    high = high + jnp.zeros_like(goal[2])
    time, place = falls_to(body, obs.ball[:, None], obs.ball_velocity[:, None], high)  # [H, ...]
    x, y, z = obs.ball_velocity
    into = jnp.stack([x + 0 * time, y + 0 * time, z - g * time])[:, None]  # [3, 1, H, ...]
    shares = expand(jnp.linspace(LONGEST, SHORTEST, FLIGHTS, dtype=jnp.float32), axes + 1)
    flight = shares * jnp.sqrt(2 * jnp.maximum(place[2] - goal[2], 0.1) / g)  # [F, H, ...]
    across = [(goal[i] - place[i]) / flight for i in range(2)]
    away = jnp.stack([*across, g / 2 * flight - (place[2] - goal[2]) / flight])
    at_net = place[0] / jnp.maximum(-away[0], 1e-2)
    over = place[2] + away[2] * at_net - g / 2 * at_net**2 - (body.net + body.radius)

    change = away - into
    size = length(change)
    normal = change / size
    speed = dot(jnp.broadcast_to(into, normal.shape), normal) + size / body.gain
    where = place[:, None] - body.offset * normal
    velocity = _moving(normal, speed, how.away)

    # What it asks for: of the racket, of the way to the turn, and, once it turns, of the turn.
    asked = 200 * jnp.maximum(jnp.cos(how.lean) - normal[2], 0)
    asked += 20 * (jnp.maximum(speed - FASTEST, 0) + jnp.maximum(SLOWEST - speed, 0))
    asked += 60 * jnp.maximum(how.clear - over, 0) + 40 * jnp.maximum(NEAREST - where[0], 0)
    asked += jnp.where(time > -0.02, 0.0, 2 * GONE)
    position, moving = obs.position[:, None, None], obs.velocity[:, None, None]
    begin, begin_velocity = start_of_turn(body, where, velocity, normal)
    left = jnp.maximum(time - how.turn, CLIMB_HORIZON)
    gap = begin + begin_velocity * (left - (time - how.turn)) - position
    first = 6 * gap / left**2 - (4 * moving + 2 * begin_velocity) / left
    last = -6 * gap / left**2 + (2 * moving + 4 * begin_velocity) / left
    most = jnp.sqrt(jnp.maximum(first[0] ** 2 + first[1] ** 2, last[0] ** 2 + last[1] ** 2))
    way = jnp.maximum(most - how.push, 0)
    way += jnp.maximum(jnp.maximum(first[2], last[2]) - CLIMB, 0)
    way += jnp.maximum(-DIP - jnp.minimum(first[2], last[2]), 0)
    way *= jnp.minimum(left / SETTLED, 1) ** 2
    up = body_axes(obs.quaternion)[2][:, None, None]
    push = [THRUST / 2 * (up[i] + normal[i]) - (g if i == 2 else 0) for i in range(3)]
    miss = where - position - moving * time - jnp.stack(push) * time**2 / 2
    turns = 6 * jnp.maximum(length(miss) - REACH, 0) + _haste(obs, normal, time)
    asked += jnp.where(time < how.turn, turns, way)

    effort = 3 * (1 - normal[2]) + 1.5 * jnp.abs(speed - EASY) + 3 * jnp.maximum(0.35 - over, 0)
    chosen = least((asked + effort).reshape(-1, *asked.shape[2:]))

    def pick(values: Array) -> Array:
        values = jnp.broadcast_to(values, (*values.shape[: values.ndim - asked.ndim], *asked.shape))
        flat = values.reshape(*values.shape[: values.ndim - asked.ndim], -1, *asked.shape[2:])
        return select(chosen, flat)

    normal, speed = pick(normal), pick(speed)
    return Spike(
        time=jnp.maximum(pick(jnp.broadcast_to(time, asked.shape)), 0),
        place=pick(where),
        velocity=_moving(normal, speed, how.away),
        speed=speed,
        normal=normal,
        cost=pick(asked),
    )


def _haste(obs: Observation, normal: Array, time: Array) -> Array:
    """What it costs that the drone can hardly turn its axis to `normal` in `time` any more."""
    raised = obs._replace(quaternion=obs.quaternion[:, None, None])
    axes, error = turning(raised, normal)
    left = jnp.maximum(time, SHORT_TURN)
    parts = [
        6 * dot(error, axis) / left**2 - 4 * rate / left
        for rate, axis in zip(obs.rates[:2], axes[:2], strict=True)
    ]
    return HASTE * jnp.maximum(jnp.sqrt(parts[0] ** 2 + parts[1] ** 2 + 1e-9) - STEADY, 0)


def _moving(normal: Array, speed: Array, away: float) -> Array:
    """The drone's velocity at the hit: `speed` along the normal, and along the racket, which the
    ball does not feel, so much that it moves away from the net at `away`."""
    side = jnp.sqrt(normal[0] ** 2 + normal[1] ** 2 + 1e-9)
    back = [-normal[0] * normal[2] / side, -normal[1] * normal[2] / side, side]
    slide = (away + speed * normal[0]) / normal[2]
    return speed * normal + slide * jnp.stack(back)


def start_of_turn(body: Body, place: Array, velocity: Array, normal: Array) -> tuple[Array, Array]:
    """(place, velocity) of a level drone `Manner.turn` seconds before it is to be at `place`, and
    to move at `velocity` there, with its axis along `normal`.

    The axis turns by 3 u² - 2 u³ of the way after the share u of the time; the numbers are
    integrals of that share and of its square, once and twice over.
    """
    turn, sink = manner(body).turn, 1 - normal[2]
    gained = jnp.stack(
        [
            0.5 * THRUST * normal[0],
            0.5 * THRUST * normal[1],
            THRUST * (1 - 0.371 * sink) - body.gravity,
        ]
    )
    moved = jnp.stack(
        [
            0.15 * THRUST * normal[0],
            0.15 * THRUST * normal[1],
            THRUST * (0.5 - 0.086 * sink) - body.gravity / 2,
        ]
    )
    begin = velocity - turn * gained
    return place - begin * turn - moved * turn**2, begin


def can(spike: Spike) -> Array:
    """bool[...]: whether the drone can do what is planned."""
    return spike.cost < jnp.where(spike.time < LATE, COMMITTED, OFFERED)


def strike(body: Body, obs: Observation, spike: Spike) -> tuple[Array, Array, Array]:
    """(rate about x, rate about y, thrust) now, to meet the ball as planned; rad/s, and 0 to 1."""
    normal, turn = spike.normal, manner(body).turn
    begin, velocity = start_of_turn(body, spike.place, spike.velocity, normal)
    x, y, thrust = _steer(body, obs, spike.time - turn, begin, velocity)
    turns = turn_to(obs, normal, spike.time)
    need = press(body, obs, normal, spike.speed, spike.time)
    need = jnp.clip(need, LEAST_THRUST, MOST_THRUST) / body.ceiling
    turns_over = spike.time < turn
    return (
        jnp.where(turns_over, turns[0], x),
        jnp.where(turns_over, turns[1], y),
        jnp.where(turns_over, need, thrust),
    )


def recover(body: Body, obs: Observation, goal: Array) -> tuple[Array, Array, Array]:
    """(rate about x, rate about y, thrust) now, to turn back, brake and come to `goal`."""
    push = SPRING * (goal - obs.position) - BRAKE * obs.velocity
    normal, thrust = attitude_for(
        push, jnp.float32(body.gravity), jnp.float32(body.ceiling), obs.quaternion, BACK_TILT
    )
    axes, error = turning(obs, normal)
    thrust = jnp.where(dot(axes[2], normal) < 0.8, jnp.minimum(thrust, BACK_THRUST), thrust)
    rates = []
    for axis in axes[:2]:
        angle = dot(error, axis)
        size = jnp.minimum(BACK_GAIN * jnp.abs(angle), jnp.sqrt(2 * BACK_TURN * jnp.abs(angle)))
        rates.append(jnp.sign(angle) * jnp.minimum(size, BACK_RATE))
    return rates[0], rates[1], thrust


def _steer(
    body: Body, obs: Observation, time: Array, place: Array, velocity: Array
) -> tuple[Array, Array, Array]:
    """(rate about x, rate about y, thrust) now, to be at `place` in `time`, level, moving at
    `velocity`: least jerk across, least effort in height."""
    z = body_axes(obs.quaternion)[2]
    lift = body.ceiling * (obs.thrust[0] + obs.thrust[1] + obs.thrust[2] + obs.thrust[3]) / 4
    now = (lift * z)[:2]
    t = jnp.maximum(time, HORIZON)
    gap = (place + velocity * (t - time) - obs.position)[:2] - obs.velocity[:2] * t - now * t**2 / 2
    speed = (velocity - obs.velocity)[:2] - now * t
    jerk = 60 * gap / t**3 - 24 * speed / t**2 - 3 * now / t
    snap = -360 * gap / t**4 + 168 * speed / t**3 + 24 * now / t**2
    pop = 720 * gap / t**5 - 360 * speed / t**4 - 60 * now / t**3
    across = now + jerk * LOOK + snap * LOOK**2 / 2 + pop * LOOK**3 / 6
    t = jnp.maximum(time, CLIMB_HORIZON)
    gap = place[2] + velocity[2] * (t - time) - obs.position[2]
    climb = 6 * gap / t**2 - (4 * obs.velocity[2] + 2 * velocity[2]) / t
    normal, thrust = attitude_for(
        jnp.stack([across[0], across[1], climb]),
        jnp.float32(body.gravity),
        jnp.float32(body.ceiling),
        obs.quaternion,
        TILT,
    )
    x, y = rates_to(obs.quaternion, normal)
    return x, y, thrust
