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

Vectors have the component axis first, [3, ...], and any axes after it, or are their components.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import cheapest, expand, take
from manyhands.core.env import Array
from manyhands.envs.volleyball.control import (
    Vector,
    attitude_for,
    body_axes,
    cross,
    dot,
    length,
    rates_to,
)
from manyhands.envs.volleyball.flight import GONE, Body
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
    axes = goal.ndim - 1
    heights = np.linspace(HIGHEST, LOWEST, HEIGHTS, dtype=np.float32)
    shares = np.linspace(LONGEST, SHORTEST, FLIGHTS, dtype=np.float32)
    tried = expand(np.tile(heights, FLIGHTS), axes), expand(np.repeat(shares, HEIGHTS), axes)
    spike, over = _ways(body, obs, goal, *tried)
    effort = 3 * (1 - spike.normal[2]) + 1.5 * jnp.abs(spike.speed - EASY)
    effort += 3 * jnp.maximum(0.35 - over, 0)
    best = cheapest(spike.cost + effort)
    high = take(expand(heights, axes), best % HEIGHTS)
    share = take(expand(shares, axes), best // HEIGHTS)
    found, _ = _ways(body, obs, goal, high[None], share[None])

    def only(parts: Any) -> Array:
        if isinstance(parts, tuple):
            return jnp.stack([only(part) for part in parts])
        return jnp.broadcast_to(parts, (1, *goal.shape[1:]))[0]

    return Spike(*(only(parts) for parts in found))


def _ways(body: Body, obs: Observation, goal: Array, high: Any, share: Any) -> tuple[Any, Array]:
    """Spikes to `goal` of a ball at the heights `high` [W, ...] that flies for the shares [W, ...]
    of the time in which it would fall from there, and by how much it clears the net (m).
    """
    g, how = body.gravity, manner(body)
    ball, flies = obs.ball, obs.ball_velocity
    left = flies[2] ** 2 + 2 * g * (ball[2] - high)
    time = jnp.where(left >= 0, (flies[2] + jnp.sqrt(jnp.maximum(left, 0))) / g, -1.0)
    place = ball[0] + flies[0] * time, ball[1] + flies[1] * time, high
    flight = share * jnp.sqrt(2 * jnp.maximum(high - goal[2], 0.1) / g)
    away = (
        (goal[0] - place[0]) / flight,
        (goal[1] - place[1]) / flight,
        g / 2 * flight - (high - goal[2]) / flight,
    )
    at_net = place[0] / jnp.maximum(-away[0], 1e-2)
    over = high + away[2] * at_net - g / 2 * at_net**2 - (body.net + body.radius)

    into = flies[0], flies[1], flies[2] - g * time
    change = tuple(away[i] - into[i] for i in range(3))
    size = length(change)
    normal = tuple(part / size for part in change)
    speed = dot(into, normal) + size / body.gain
    where = tuple(place[i] - body.offset * normal[i] for i in range(3))
    velocity = _moving(normal, speed, how.away)

    # What it asks for: of the racket, of the way to the turn, and, once it turns, of the turn.
    asked = 200 * jnp.maximum(jnp.cos(how.lean) - normal[2], 0)
    asked += 20 * (jnp.maximum(speed - FASTEST, 0) + jnp.maximum(SLOWEST - speed, 0))
    asked += 60 * jnp.maximum(how.clear - over, 0) + 40 * jnp.maximum(NEAREST - where[0], 0)
    asked += jnp.where(time > -0.02, 0.0, 2 * GONE)
    begin, begin_velocity = start_of_turn(body, where, velocity, normal)
    left = jnp.maximum(time - how.turn, CLIMB_HORIZON)
    first, last = [], []
    for i in range(3):
        end = begin[i] + begin_velocity[i] * (left - (time - how.turn))
        gap, now = end - obs.position[i], obs.velocity[i]
        first.append(6 * gap / left**2 - (4 * now + 2 * begin_velocity[i]) / left)
        last.append(-6 * gap / left**2 + (2 * now + 4 * begin_velocity[i]) / left)
    most = jnp.sqrt(jnp.maximum(first[0] ** 2 + first[1] ** 2, last[0] ** 2 + last[1] ** 2))
    way = jnp.maximum(most - how.push, 0)
    way += jnp.maximum(jnp.maximum(first[2], last[2]) - CLIMB, 0)
    way += jnp.maximum(-DIP - jnp.minimum(first[2], last[2]), 0)
    way *= jnp.minimum(left / SETTLED, 1) ** 2
    up = body_axes(obs.quaternion)[2]
    miss = []
    for i in range(3):
        push = THRUST / 2 * (up[i] + normal[i]) - (g if i == 2 else 0)
        miss.append(where[i] - obs.position[i] - obs.velocity[i] * time - push * time**2 / 2)
    turns = 6 * jnp.maximum(length(miss) - REACH, 0) + _haste(obs, normal, time)
    asked += jnp.where(time < how.turn, turns, way)
    return Spike(jnp.maximum(time, 0), where, velocity, speed, normal, asked), over


def _haste(obs: Observation, normal: Vector, time: Array) -> Array:
    """What it costs that the drone can hardly turn its axis to `normal` in `time` any more."""
    x, y, z = body_axes(obs.quaternion)
    turn = cross(z, normal)
    sine = length(turn)
    angle, left = jnp.arctan2(sine, dot(z, normal)), jnp.maximum(time, SHORT_TURN)
    needs = [
        6 * dot(turn, axis) * angle / sine / left**2 - 4 * rate / left
        for rate, axis in zip(obs.rates[:2], (x, y), strict=True)
    ]
    return HASTE * jnp.maximum(jnp.sqrt(needs[0] ** 2 + needs[1] ** 2 + 1e-9) - STEADY, 0)


def _moving(normal: Vector, speed: Array, away: float) -> Vector:
    """The drone's velocity at the hit: `speed` along the normal, and along the racket, which the
    ball does not feel, so much that it moves away from the net at `away`."""
    x, y, z = normal
    side = jnp.sqrt(x**2 + y**2 + 1e-9)
    slide = (away + speed * x) / z
    return (
        speed * x - slide * x * z / side,
        speed * y - slide * y * z / side,
        speed * z + slide * side,
    )


def start_of_turn(
    body: Body, place: Vector, velocity: Vector, normal: Vector
) -> tuple[Vector, Vector]:
    """(place, velocity) of a level drone `Manner.turn` seconds before it is to be at `place`, and
    to move at `velocity` there, with its axis along `normal`.

    The axis turns by 3 u² - 2 u³ of the way after the share u of the time; the numbers are
    integrals of that share and of its square, once and twice over.
    """
    turn, sink, g = manner(body).turn, 1 - normal[2], body.gravity
    gained = 0.5 * THRUST * normal[0], 0.5 * THRUST * normal[1], THRUST * (1 - 0.371 * sink) - g
    moved = (
        0.15 * THRUST * normal[0],
        0.15 * THRUST * normal[1],
        THRUST * (0.5 - 0.086 * sink) - g / 2,
    )
    x, y, z = (velocity[i] - turn * gained[i] for i in range(3))
    begins = (place[i] - v * turn - moved[i] * turn**2 for i, v in enumerate((x, y, z)))
    return tuple(begins), (x, y, z)  # type: ignore[return-value]


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


def recover(body: Body, obs: Observation, goal: Vector) -> tuple[Array, Array, Array]:
    """(rate about x, rate about y, thrust) now, to turn back, brake and come to `goal`."""
    push = [SPRING * (goal[i] - obs.position[i]) - BRAKE * obs.velocity[i] for i in range(3)]
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
    body: Body, obs: Observation, time: Array, place: Vector, velocity: Vector
) -> tuple[Array, Array, Array]:
    """(rate about x, rate about y, thrust) now, to be at `place` in `time`, level, moving at
    `velocity`: least jerk across, least effort in height."""
    z = body_axes(obs.quaternion)[2]
    lift = body.ceiling * (obs.thrust[0] + obs.thrust[1] + obs.thrust[2] + obs.thrust[3]) / 4
    t = jnp.maximum(time, HORIZON)
    across = []
    for i in range(2):
        now, moving = lift * z[i], obs.velocity[i]
        gap = place[i] + velocity[i] * (t - time) - obs.position[i] - moving * t - now * t**2 / 2
        speed = velocity[i] - moving - now * t
        jerk = 60 * gap / t**3 - 24 * speed / t**2 - 3 * now / t
        snap = -360 * gap / t**4 + 168 * speed / t**3 + 24 * now / t**2
        pop = 720 * gap / t**5 - 360 * speed / t**4 - 60 * now / t**3
        across.append(now + jerk * LOOK + snap * LOOK**2 / 2 + pop * LOOK**3 / 6)
    t = jnp.maximum(time, CLIMB_HORIZON)
    gap = place[2] + velocity[2] * (t - time) - obs.position[2]
    climb = 6 * gap / t**2 - (4 * obs.velocity[2] + 2 * velocity[2]) / t
    normal, thrust = attitude_for(
        (across[0], across[1], climb),
        jnp.float32(body.gravity),
        jnp.float32(body.ceiling),
        obs.quaternion,
        TILT,
    )
    x, y = rates_to(obs.quaternion, normal)
    return x, y, thrust
