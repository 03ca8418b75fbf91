"""How a drone meets a ball and sends it somewhere: planned hits, and the flight to them.

See `skills.py` for the method. All functions take vectors with the component axis first, [3, ...],
and any axes after it.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, least, select
from manyhands.core.env import Array
from manyhands.envs.volleyball.control import (
    RATE_GAINS,
    Vector,
    attitude_for,
    body_axes,
    cross,
    dot,
    length,
)
from manyhands.envs.volleyball.flight import (
    BLOCK,
    BUMP,
    GONE,
    RECEIVE,
    SERVE,
    SET,
    SPIKE,
    VERBS,
    Body,
    Hit,
    Order,
    falls_to,
)
from manyhands.envs.volleyball.observe import Observation

JUMP = 1.5  # m from the net, of sets with skills="attack"
HORIZON = 0.65  # s, a path is never planned for less: shorter ones ask for more than attitudes give
CLIMB_HORIZON = 0.18  # s, the same for heights, which thrust changes at once
EASY_CLIMB = 4.4  # m/s², that a place to meet the ball may ask for
STEEP = 3.9  # m/s², that a climb may end with
SOFT = 0.006  # s³, how little a hit's exact height matters
LOOK = 0.2  # s, how far ahead on the path the attitude is taken from
SWING = 0.28  # s before the hit, from when on the push is to be what goes with the normal
LEAD = 0.1  # s before the hit, from when on the racket rises evenly
FINAL = 0.25  # s before the hit, from when on only the racket's normal counts
DRIFT = 0.4  # share of the push until the hit that a drone, still tilting, gets
FADE = 0.04  # s, over which the one gives way to the other
MAX_TILT = 0.65  # rad, on the way
SLOWEST = -1.0  # m/s, of the racket along its normal at a hit
HEIGHTS = 12  # at which a ball may be met
STEP_UP = 0.6  # m/s, between the upward velocities that are tried for a hit
TRIES = 14
NET_MARGIN = 0.35  # m between ball and net
APART = 1.4  # m, that drones keep from their team-mates, where they have the choice
# Team-mates that would pass each other nearer than that (m; and over how much of it the drone
# cares more and more) give way: they brake to stay so far apart, with so much room at least (m),
# and at most so hard (m/s²).
PASSING, PASSING_FADE, KEEP, TIGHT, MOST_BRAKE = 1.3, 0.3, 1.0, 0.15, 6.0
NEAREST = 0.45  # m, how near to the net a drone goes
LOWEST = 0.7  # m, how low
FINISH = 0.25  # s before the hit, from when on the racket is aimed anew
ROUNDS = 4
STEEPEST = 0.64  # sine of the racket's tilt
SHORT_TURN, SHORT_PUSH = 0.1, 0.06  # s, to which turning and speed are planned at least
LEAST_PRESS = 0.2  # share of all thrust
SLUGGISH, WITHIN, REACH = 0.12, 0.13, 4.0  # s, m, m/s²: how far a drone gets to meet a ball
RUN = 3.6  # m/s², with which a drone gains its speed before a hit
EARLY = 0.1  # s before the hit, by when it has that speed
DEEPEST, FASTEST_DIP = 0.8, 1.2  # m, m/s, how low it dips for that, and how fast
FARTHEST = 10.5  # m, that a ball can be sent
LATE, ASKED = 0.2, 0.4  # s, and what may be asked for, of hits that can be chosen
# Of such bumps: m/s of the racket (four in five of the faster ones miss); and m, how far the drone
# may have to fly towards the net before one that sends the ball `LONG` metres, which lands short.
SUREST, FORWARD, LONG = 1.75, 0.3, 7.3


# ---- meeting the ball ----------------------------------------------------------------------------


def meet(body: Body, obs: Observation, heights: Array) -> tuple[Array, Array, Array]:
    """(time, place, late) of the ball's centre where the drone should meet it: the first of the
    heights f32[K, ...] that it can reach in time, or else where it is least too `late` (s)."""
    time, place = falls_to(body, obs.ball[:, None], obs.ball_velocity[:, None], heights)
    soon = [obs.position[i] + 0.2 * obs.velocity[i] for i in range(2)]
    far = jnp.sqrt((place[0] - soon[0]) ** 2 + (place[1] - soon[1]) ** 2 + 1e-9)
    late = jnp.maximum(0.9 * jnp.sqrt(jnp.maximum(far - 0.2, 0)) - time, 0)
    rise = heights - body.offset - obs.position[2]
    beyond = jnp.maximum(rise - 0.25 - obs.velocity[2] * time - EASY_CLIMB / 2 * time**2, 0)
    gone = jnp.where(time > -0.05, 0.0, 2 * GONE)
    chosen = least(heights[0] - heights + 20 * late + 10 * beyond + gone)
    return jnp.maximum(select(chosen, time), 0), select(chosen, place), select(chosen, late + gone)


def send(
    body: Body,
    place: Array,
    into: Array,
    target: Array,
    rise: Array,
    tilt: Array,
    fastest: Array,
) -> tuple[Array, Array, Array, Array]:
    """(normal f32[3, ...], speed f32[...], velocity f32[3, ...], asked f32[...]): how the racket
    meets a ball at `place` that comes with the velocity `into`, so that it falls onto `target`, and
    what that asks for beyond what is allowed.

    Of upward velocities from `rise` on, the lowest counts that brings the ball over the net with
    the racket tilted by no more than `tilt`, and no faster than `fastest`.
    """
    g = body.gravity
    steps = expand(jnp.arange(TRIES, dtype=jnp.float32), rise.ndim)
    up = rise + STEP_UP * steps
    left = up**2 + 2 * g * (place[2] - target[2])
    time = jnp.maximum((up + jnp.sqrt(jnp.maximum(left, 0))) / g, 0.15)
    away = jnp.stack([(target[0] - place[0]) / time, (target[1] - place[1]) / time, up])
    over = place[0] * target[0] < 0
    at_net = place[0] / jnp.maximum(jnp.abs(away[0]), 1e-3)
    height = place[2] + up * at_net - g / 2 * at_net**2
    clear = ~over | (height > body.net + body.radius + NET_MARGIN)
    change = away - into[:, None]
    size = length(change)
    normal = change / size
    speed = dot(jnp.broadcast_to(into[:, None], normal.shape), normal) + size / body.gain
    lean = jnp.maximum(jnp.cos(tilt) - normal[2], 0)
    haste = jnp.maximum(speed - fastest, 0) + jnp.maximum(SLOWEST - speed, 0)
    bad = jnp.where(clear & (left > 0), 0, 1000)
    chosen = least(steps + 200 * lean + 20 * haste + bad)
    asked = select(chosen, 200 * lean + 20 * haste + bad)
    speed = jnp.clip(select(chosen, speed), SLOWEST, fastest)
    return select(chosen, normal), speed, select(chosen, away), asked


# How each kind of hit is made: the highest and lowest heights at which the ball is met (m), the
# least upward velocity that it is given (m/s), how far the racket may tilt (rad), and how fast it
# may move along its normal (m/s).
STYLES = np.zeros((len(VERBS), 5), np.float32)
STYLES[:] = (2.1, 1.0, 4.5, 0.6, 2.5)
STYLES[RECEIVE] = (2.1, 1.0, 6.5, 0.5, 2.5)
STYLES[SET] = (2.4, 1.2, 6.2, 0.5, 2.5)
STYLES[SPIKE] = (3.2, 1.5, -1.0, 0.65, 1.6)
STYLES[SERVE] = (2.3, 0.9, 6.5, 0.6, 2.5)
STYLES[BLOCK] = (3.3, 2.3, 3.0, 0.7, 1.0)


# Of skills="attack": sets so high that the ball falls fast, and serves that are no lobs.
STYLES_OF_ATTACK = STYLES.copy()
STYLES_OF_ATTACK[SET, 2], STYLES_OF_ATTACK[SET, 4] = 7.8, 3.0
STYLES_OF_ATTACK[BUMP, 4] = 2.1
STYLES_OF_ATTACK[BLOCK] = (2.3, 1.3, 3.0, 0.7, 1.5)
# Of drills: a first touch so high that who is to spike has the time to come down for its jump.
STYLES_OF_DRILLS = STYLES_OF_ATTACK.copy()
STYLES_OF_DRILLS[SERVE, 2], STYLES_OF_DRILLS[SERVE, 4] = 7.8, 3.0
GUARD = 1.2, 2.0  # m from the net, m high, where a block waits, with skills="attack"


def plan(body: Body, obs: Observation, order: Order, styles: np.ndarray) -> Hit:
    """How to meet the ball for a skill that hits it."""
    kinds = expand(jnp.arange(len(VERBS)), order.kind.ndim)
    mine = (kinds == order.kind).astype(jnp.float32)
    style = jnp.sum(mine[:, None] * expand(styles, order.kind.ndim), 0)
    top, low, rise, tilt, fastest = style
    # There is no time to dip before a serve, so the ball is met on the way up from the own place.
    place_z = jnp.sum(obs.me * obs.anchors[: obs.me.shape[0], 2], axis=0)
    top = jnp.where(order.kind == SERVE, place_z + body.offset + body.run_up, top)
    parts = expand(jnp.linspace(0, 1, HEIGHTS), order.kind.ndim)
    time, place, late = meet(body, obs, top + (low - top) * parts)
    x, y, z = obs.ball_velocity
    into = jnp.stack([x, y, z - body.gravity * time])
    normal, speed, _, asked = send(body, place, into, order.goal, rise, tilt, fastest)
    where = place - body.offset * normal
    zero = jnp.zeros_like(speed)
    return Hit(
        time=time,
        place=jnp.stack([jnp.maximum(where[0], NEAREST), where[1], jnp.maximum(where[2], LOWEST)]),
        velocity=jnp.stack([zero, zero, speed / normal[2]]),
        push=body.gravity * jnp.stack([normal[0] / normal[2], normal[1] / normal[2], zero]),
        normal=normal,
        late=late,
        asked=asked,
    )


# ---- flying --------------------------------------------------------------------------------------


def steer(
    body: Body,
    obs: Observation,
    hit: Hit,
    firm: Array | None = None,
    aside: Array | None = None,
) -> tuple[Vector, Array]:
    """(normal, thrust f32[...]) now, on the way to be at `hit.place` in `hit.time`;
    where `firm` bool[...], exactly at its height, too. `aside` f32[2, ...] is an acceleration
    besides (m/s²)."""
    z = body_axes(obs.quaternion)[2]
    lift = body.ceiling * (obs.thrust[0] + obs.thrust[1] + obs.thrust[2] + obs.thrust[3]) / 4
    time = jnp.maximum(hit.time - SWING, HORIZON)
    more = time - hit.time  # the push is the same for a while before the hit, and behind it
    across = []
    for i in range(2):
        now = lift * z[i]
        goal = hit.place[i] + hit.velocity[i] * more + hit.push[i] * more**2 / 2
        gap = goal - obs.position[i] - obs.velocity[i] * time - now * time**2 / 2
        speed = hit.velocity[i] + hit.push[i] * more - obs.velocity[i] - now * time
        push = hit.push[i] - now
        jerk = 60 * gap / time**3 - 24 * speed / time**2 + 3 * push / time
        snap = -360 * gap / time**4 + 168 * speed / time**3 - 24 * push / time**2
        pop = 720 * gap / time**5 - 360 * speed / time**4 + 60 * push / time**3
        part = now + jerk * LOOK + snap * LOOK**2 / 2 + pop * LOOK**3 / 6
        across.append(part if aside is None else part + aside[i])

    climb = _climb(obs, hit)
    if firm is not None:
        climb = jnp.where(firm, _run_up(obs, hit), climb)
    return attitude_for(
        (across[0], across[1], climb),
        jnp.float32(body.gravity),
        jnp.float32(body.ceiling),
        obs.quaternion,
        MAX_TILT,
    )


def _climb(obs: Observation, hit: Hit) -> Array:
    """Upward acceleration now, of least effort, where the speed at the hit must be right, and the
    height only nearly so. Rotors push little harder than gravity pulls: no dip is so deep that they
    cannot make up for it."""
    time = jnp.maximum(hit.time - LEAD, CLIMB_HORIZON)
    even = (hit.velocity[2] - obs.velocity[2]) / time
    goal = hit.place[2] + hit.velocity[2] * (time - hit.time)
    miss = goal - obs.position[2] - (obs.velocity[2] + hit.velocity[2]) / 2 * time
    miss = miss * time**3 / (time**3 + SOFT)
    return even + jnp.maximum(6 * miss / time**2, even - STEEP)


def _run_up(obs: Observation, hit: Hit) -> Array:
    """Upward acceleration now, to be at the hit's height with its speed: a drone waits, or dips, as
    far below that as it needs to gain the speed at `RUN`, before it turns its racket."""
    rise = jnp.maximum(hit.velocity[2], 0)
    lasts = rise / RUN
    begin = jnp.maximum(hit.place[2] - rise * (lasts / 2 + EARLY), DEEPEST)
    left = hit.time - EARLY
    waits = left > lasts + CLIMB_HORIZON
    t = jnp.where(waits, left - lasts, jnp.maximum(left, CLIMB_HORIZON))
    speed = jnp.where(waits, 0, hit.velocity[2])
    goal = jnp.where(waits, begin, hit.place[2] + speed * (t - hit.time))
    climb = 6 * (goal - obs.position[2]) / t**2 - (4 * obs.velocity[2] + 2 * speed) / t
    return jnp.maximum(climb, -3 * (obs.velocity[2] + FASTEST_DIP))


def strike(
    body: Body, obs: Observation, hit: Hit, firm: Array | None = None
) -> tuple[Vector, Array]:
    """(normal, thrust) now, to meet the ball as planned."""
    last = jnp.clip((FINAL - hit.time) / FADE + 1, 0, 1)
    # The racket's speed along its normal is what counts: make up for drifting by climbing.
    drift = [obs.velocity[i] + DRIFT * hit.push[i] * hit.time for i in range(2)]
    slope = [hit.normal[i] / hit.normal[2] for i in range(2)]
    climb = hit.velocity[2] - last * jnp.clip(slope[0] * drift[0] + slope[1] * drift[1], -1.0, 1.0)
    hit = hit._replace(velocity=(hit.velocity[0], hit.velocity[1], climb))
    normal, thrust = steer(body, obs, hit, firm)
    normal = [part + (end - part) * last for part, end in zip(normal, hit.normal, strict=True)]
    size = length(normal)
    return tuple(part / size for part in normal), thrust


def travel(
    body: Body, obs: Observation, goal: Array, aside: Array | None = None
) -> tuple[Vector, Array]:
    """(normal, thrust) now, to come to rest at `goal` f32[3, ...], around the team-mates; `aside`
    as in `steer`."""
    members = obs.me.shape[0]
    if members > 1:
        away = jnp.moveaxis(obs.position[None] - obs.positions[:members], 1, 0)
        near = length(away)
        push = (1 - obs.me) * jnp.clip(APART - near, 0, APART) / near
        shift = jnp.sum(push * away, axis=1)
        goal = goal + jnp.stack([shift[0], shift[1], jnp.zeros_like(shift[0])])
    far = length(goal - obs.position)
    zero = jnp.zeros_like(obs.position)
    return steer(body, obs, Hit(0.7 + 0.75 * jnp.sqrt(far), goal, zero, zero, zero), None, aside)


def give_way(obs: Observation) -> Array:
    """f32[2, ...], m/s²: how a drone that meets no ball brakes before team-mates on whose way it
    is, and moves aside; of skills="attack"."""
    members = obs.me.shape[0]
    apart = jnp.moveaxis(obs.position[None] - obs.positions[:members], 1, 0)
    moves = jnp.moveaxis(obs.velocity[None] - obs.velocities[:members], 1, 0)
    near, speed = length(apart), length(moves)
    closing = jnp.maximum(-dot(apart, moves) / near, 0)
    past = apart + moves * (closing * near / (speed**2 + 1e-3))  # where they are nearest
    misses = length(past)
    meets = jnp.clip((PASSING - misses) / PASSING_FADE, 0, 1) * (1 - obs.me)
    brake = jnp.minimum(closing**2 / 2 / jnp.maximum(near - KEEP, TIGHT), MOST_BRAKE) * meets
    # To the side that it passes on; straight towards each other, both to their right.
    right = jnp.stack([-apart[1], apart[0]]) / near
    side = (past[:2] + PASSING_FADE * right) / (misses + PASSING_FADE)
    return jnp.sum(brake * (apart[:2] / near + side), axis=1)


# ---- the last moment, of skills="attack" ---------------------------------------------------------


def touch(body: Body, obs: Observation, normal: Vector) -> tuple[Array, Vector, Vector, Vector]:
    """(time, place, into, moving): when the racket meets the ball if the drone goes on as it does
    while it turns to `normal`, where the ball's centre is then, and the velocities of ball and
    drone."""
    g = body.gravity
    z = body_axes(obs.quaternion)[2]
    lift = body.ceiling * (obs.thrust[0] + obs.thrust[1] + obs.thrust[2] + obs.thrust[3]) / 4
    gap = jnp.maximum(obs.ball[2] - obs.position[2] - body.offset * normal[2], 0)
    closing = obs.velocity[2] - obs.ball_velocity[2]
    root = jnp.sqrt(closing**2 + 2 * lift * z[2] * gap + 1e-6)
    time = jnp.clip(2 * gap / jnp.maximum(closing + root, 1e-2), 0, 2)
    place, into, moving = [], [], []
    for i, down in enumerate((0.0, 0.0, g)):
        half = (z[i] + normal[i]) / 2
        place.append(obs.ball[i] + (obs.ball_velocity[i] - down * time / 2) * time)
        into.append(obs.ball_velocity[i] - down * time)
        moving.append(obs.velocity[i] + (lift * half - down) * time)
    return time, place, into, moving


def aimed(body: Body, obs: Observation, hit: Hit, goal: Array) -> tuple[Vector, Array]:
    """(normal, time): how the racket must stand at the touch for the ball to come down at `goal`
    with the speed that the drone will have then, and when that is."""
    g, normal = body.gravity, hit.normal
    time, place, into, moving = touch(body, obs, normal)
    meets = [moving[i] - into[i] for i in range(3)]
    for _ in range(ROUNDS):  # a fixed point, which the small slopes of a racket reach fast
        pressed = body.gain * jnp.maximum(dot(meets, normal), 1.0)
        up = into[2] + pressed * normal[2]
        left = jnp.maximum(up**2 + 2 * g * (place[2] - goal[2]), 0)
        flight = jnp.maximum((up + jnp.sqrt(left)) / g, 0.3)
        slope = [((goal[i] - place[i]) / flight - into[i]) / pressed for i in range(2)]
        steep = jnp.sqrt(slope[0] ** 2 + slope[1] ** 2 + 1e-9)
        slope = [part * jnp.minimum(1.0, STEEPEST / steep) for part in slope]
        normal = slope[0], slope[1], jnp.sqrt(1 - slope[0] ** 2 - slope[1] ** 2)
    return normal, time


def turn_to(obs: Observation, normal: Vector, time: Array) -> tuple[Array, Array]:
    """Rates about the body's x and y axes now, that turn its z axis to `normal` in `time` and leave
    it at rest there, with the least effort."""
    axes, error = turning(obs, normal)
    left = jnp.maximum(time, SHORT_TURN)
    x, y = (
        rate + (6 * dot(error, axis) / left**2 - 4 * rate / left) / gain
        for rate, axis, gain in zip(obs.rates[:2], axes[:2], RATE_GAINS[:2], strict=True)
    )
    return x, y


def turning(obs: Observation, normal: Vector) -> tuple[tuple[Vector, Vector, Vector], Vector]:
    """The body's axes, and the turn (rad, about its direction) from its z axis to `normal`."""
    axes = body_axes(obs.quaternion)
    turn = cross(axes[2], normal)
    sine = length(turn)
    size = jnp.arctan2(sine, dot(axes[2], normal)) / sine
    return axes, tuple(part * size for part in turn)


def press(body: Body, obs: Observation, normal: Vector, speed: Array, time: Array) -> Array:
    """Thrust now, so that the racket moves at `speed` along `normal` in `time`; m/s²."""
    along = jnp.maximum((dot(body_axes(obs.quaternion)[2], normal) + 1) / 2, 0.4)
    lack = (speed - dot(obs.velocity, normal)) / jnp.maximum(time, SHORT_PUSH)
    return (lack + body.gravity * normal[2]) / along


def finish(
    body: Body, obs: Observation, hit: Hit, goal: Array, plain: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array]:
    """(rate about x, rate about y, thrust) now: `plain`, and in the last moment what turns the
    racket to where, at the speed that it will have, it sends the ball to `goal`."""
    normal, time = aimed(body, obs, hit, goal)
    x, y = turn_to(obs, normal, time)
    speed = hit.velocity[2] * hit.normal[2]
    thrust = jnp.clip(press(body, obs, normal, speed, time) / body.ceiling, LEAST_PRESS, 1.0)
    last = (time < FINISH) & (hit.time < FINISH + 0.1)
    return tuple(jnp.where(last, a, b) for a, b in zip((x, y, thrust), plain, strict=True))  # type: ignore[return-value]


def can(obs: Observation, hit: Hit, order: Order) -> Array:
    """bool[...]: whether the drone can meet the ball as planned and send it to its goal, so far as
    is known before."""
    goal = order.goal
    way = hit.place - obs.position - obs.velocity * hit.time
    left = jnp.maximum(hit.time - SLUGGISH, 0)
    reached = jnp.sqrt(way[0] ** 2 + way[1] ** 2) < WITHIN + REACH * left**2 / 2
    long = (goal[0] - hit.place[0]) ** 2 + (goal[1] - hit.place[1]) ** 2
    sure = (hit.velocity[2] * hit.normal[2] < SUREST) & ((long < LONG**2) | (way[0] > -FORWARD))
    sure = sure | (order.kind != BUMP)
    return reached & (long < FARTHEST**2) & sure & (hit.late < LATE) & (hit.asked < ASKED)
