"""The drills: faults, reward terms and what each counts, one function a drill."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import jax.numpy as jnp

from manyhands.core.env import Array
from manyhands.envs.volleyball import rewards
from manyhands.envs.volleyball.control import dot
from manyhands.envs.volleyball.frames import constant, length, number
from manyhands.envs.volleyball.referee import Play, Ruling, allowed
from manyhands.envs.volleyball.rewards import everyone
from manyhands.envs.volleyball.state import (
    BOARD,
    BOARD_FLIGHT,
    BOARD_RESTITUTION,
    BOARD_SPEED,
    RADIUS,
    STEP,
    Setup,
    VolleyballState,
)

Drilled = Callable[[Setup, VolleyballState, VolleyballState, Play], Ruling]


def ends_of(setup: Setup) -> tuple[Sequence[float], Sequence[float]]:
    """The two ends of back_and_forth."""
    return setup.plan.target, setup.plan.places[0]


def back_and_forth(
    setup: Setup, state: VolleyballState, new: VolleyballState, play: Play
) -> Ruling:
    drill, position = state.drill, play.now.position
    distance = length(position[0] - drill.target, axis=0)
    streak = jnp.where(distance < 0.6, drill.streak + jnp.int16(1), jnp.int16(0))
    reached = streak >= 5
    ends = [constant(end, state.time.ndim) for end in ends_of(setup)]
    away = jnp.where(drill.target == ends[0], ends[1], ends[0])
    drill = dataclasses.replace(
        drill,
        target=jnp.where(reached, away, drill.target),
        streak=jnp.where(reached, jnp.int16(0), streak),
        done=drill.done + reached,
    )
    terms = {
        "stay": everyone(setup, streak),
        "approach": everyone(setup, rewards.target_approach(streak, distance)),
    }
    faults = {
        "drone_low": position[:, 2] < 0.4,
        "drone_high": position[:, 2] > 5.0,
        "far_away": (distance > 7.5)[None],
    }
    return Ruling(dataclasses.replace(new, drill=drill), faults, terms, {"targets": reached})


def hit(setup: Setup, state: VolleyballState, new: VolleyballState, play: Play) -> Ruling:
    new, legal, wrong, body = _touched(setup, state, new, play)
    ball, falling = play.now.ball, play.now.ball_velocity[2] < 0
    down = (new.hits == 1) & falling & (ball[2] <= 2.0)
    flown = jnp.where(down, play.anchor[0, 0] - ball[0], 0.0)
    terms = {
        "hit": number(legal),
        "anchor": rewards.off_anchor(play),
        "distance": everyone(setup, flown),
    }
    faults = _solo_faults(play, wrong, body)
    faults["ball_high"] = (ball[2] > 16.0)[None]
    return Ruling(new, faults, terms, {"hits": jnp.any(legal, axis=0), "distance": flown}, down)


def solo_bump(setup: Setup, state: VolleyballState, new: VolleyballState, play: Play) -> Ruling:
    new, legal, wrong, body = _touched(setup, state, new, play)
    drill, ball = state.drill, play.now.ball
    hit = jnp.any(legal, axis=0)
    apex = jnp.maximum(drill.apex, ball[2])
    between = hit & state.served
    apexes = drill.apexes + jnp.where(between, apex, 0.0)
    mean = apexes / jnp.maximum(new.hits - 1, 1).astype(jnp.float32)
    high = between & (mean > 3.5)
    drill = dataclasses.replace(
        drill,
        apex=jnp.where(hit, ball[2], apex),
        apexes=apexes,
        done=drill.done + high,
    )
    terms = {
        "hit": number(legal),
        "high": everyone(setup, high),
        "approach": 1 / (1 + play.flat),
        "lift": rewards.lift(play),
    }
    faults = _solo_faults(play, wrong, body)
    faults["ball_high"] = (ball[2] > 4.5)[None]
    faults["drone_high"] = play.now.position[:, 2] > 2.5
    faults["out"] = ~play.inside[None]
    new = dataclasses.replace(new, drill=drill)
    return Ruling(new, faults, terms, {"hits": hit, "high_hits": high})


def bump_and_pass(setup: Setup, state: VolleyballState, new: VolleyballState, play: Play) -> Ruling:
    new, legal, wrong, body = _touched(setup, state, new, play)
    ball = play.now.ball
    hit = jnp.any(legal, axis=0)
    turn = jnp.where(hit, jnp.int8(1) - state.turn, state.turn)
    # The ball goes across once a touch, however many steps it spends near y = 0.
    over = (jnp.abs(ball[1]) <= 0.1) & (ball[2] > 4.0) & new.served
    across = over & (state.drill.streak == 0)
    streak = jnp.where(hit, jnp.int16(0), state.drill.streak + across)
    drill = dataclasses.replace(state.drill, streak=streak, done=state.drill.done + across)
    new = dataclasses.replace(new, turn=turn, drill=drill)
    partner = jnp.where(turn == 0, play.now.position[0], play.now.position[1])
    terms = {
        "hit": everyone(setup, hit),
        "crossing": everyone(setup, across),
        "anchor": everyone(setup, rewards.mean_excess(play)),
        "approach": rewards.turn_approach(allowed(setup, new), play.gap),
        "aim": everyone(setup, rewards.aim(hit, play, partner)),
    }
    faults = _pair_faults(play, wrong, body)
    faults["ball_low"] = (ball[2] < 0.15)[None]
    return Ruling(new, faults, terms, {"hits": hit, "passes": across})


def set_and_spike(setup: Setup, state: VolleyballState, new: VolleyballState, play: Play) -> Ruling:
    new, legal, wrong, body = _touched(setup, state, new, play)
    now = play.now
    hit = jnp.any(legal, axis=0)
    turn = state.turn + hit.astype(jnp.int8)
    spiked = hit & (state.turn == 1)
    new = dataclasses.replace(new, turn=turn)
    crossing = play.crossed & (turn == 2) & (new.possession == 1)
    landing = play.landed & (turn == 2) & (now.ball[0] < 0) & play.inside
    target = constant(setup.plan.target, state.time.ndim)
    miss = jnp.sqrt((now.ball[0] - target[0]) ** 2 + (now.ball[1] - target[1]) ** 2)
    # A spike is judged by the ball's velocity after it, at the attacker's touch.
    vz = now.ball_velocity[2]
    down = spiked & (vz < 0)
    returned = jnp.zeros_like(hit)
    good = landing & (miss < 1.0)
    if setup.task == "set_and_spike_hard":
        new, returned = _return(setup, state, new, play)
        good = landing
    goal = jnp.where(turn == 2, target, now.position[1])
    terms = {
        "hit": everyone(setup, hit),
        "spike": everyone(setup, down),
        "cross": everyone(setup, crossing),
        "on_target": everyone(setup, good),
        "approach": rewards.approach(allowed(setup, new), play.gap),
        "aim": everyone(setup, rewards.aim(hit, play, goal)),
        "power": everyone(setup, rewards.power(spiked, vz)),
        "placing": everyone(setup, rewards.placing(landing, miss)),
    }
    faults = _pair_faults(play, wrong, body)
    faults["crossed"] = _any(now.position[:, 0] < 0)
    faults["ball_low"] = ((now.ball[2] < 0.15) & ~landing)[None]
    metrics = {
        "hits": hit,
        "spikes": down,
        "crossings": crossing,
        "on_target": good,
        "returns": returned,
    }
    return Ruling(new, faults, terms, metrics, landing | returned)


DRILLS: Mapping[str, Drilled] = {
    "back_and_forth": back_and_forth,
    "hit": hit,
    "solo_bump": solo_bump,
    "bump_and_pass": bump_and_pass,
    "set_and_spike": set_and_spike,
    "set_and_spike_hard": set_and_spike,
}


# ---- what drills share ---------------------------------------------------------------------------


def _touched(
    setup: Setup, state: VolleyballState, new: VolleyballState, play: Play
) -> tuple[VolleyballState, Array, Array, Array]:
    """The state after the touches of a step, and bool[D, ...]: legal touches, touches out of turn,
    touches with the body."""
    racket, body = play.racket, play.body
    if setup.rulebook == "volleybots" and setup.count == 1:
        racket, body = racket | body, jnp.zeros_like(body)  # any contact counts
    may_touch = allowed(setup, state)
    legal, wrong = racket & may_touch, racket & ~may_touch
    hit = jnp.any(legal, axis=0)
    new = dataclasses.replace(
        new,
        touched=state.touched | legal,
        possession=play.side,
        last=jnp.where(hit, jnp.argmax(legal, axis=0).astype(jnp.int8), state.last),
        served=state.served | hit,
        hits=state.hits + hit,
        crossings=state.crossings + play.crossed,
    )
    return new, legal, wrong, body


def _solo_faults(play: Play, wrong: Array, body: Array) -> dict[str, Array]:
    return {
        "double": wrong,
        "body": body,
        "ball_low": (play.now.ball[2] < 0.15)[None],
        "drone_low": play.now.position[:, 2] < 0.4,
        "drone_net": play.netted,
    }


def _pair_faults(play: Play, wrong: Array, body: Array) -> dict[str, Array]:
    return {
        "wrong_turn": _any(wrong),
        "body": _any(body),
        "ball_high": (play.now.ball[2] > 16.0)[None],
        "out": ~play.inside[None],
        "net": play.net[None],
        "drone_low": _any(play.now.position[:, 2] < 0.4),
        "drone_net": _any(play.netted),
    }


def _any(mask: Array) -> Array:
    """bool[1, ...], of bool[D, ...]: the drones of a drill are one team."""
    return jnp.any(mask, axis=0, keepdims=True)


def _return(
    setup: Setup, state: VolleyballState, new: VolleyballState, play: Play
) -> tuple[VolleyballState, Array]:
    """The scripted returner of set_and_spike_hard: a board that runs to where the ball comes down
    and, if it gets there, bats it back. The state, and whether it has returned the ball.

    It moves at most 8 m/s and tilts at most 4 rad/s; the ball bounces off it with restitution 0.77,
    at a speed of the board along its normal (at most 8 m/s) that makes the ball arrive at the
    middle of the near half 1.5 s later, if it can.
    """
    axes, drill, now = state.time.ndim, state.drill, play.now
    ball, velocity = now.ball, now.ball_velocity
    radius, thickness = BOARD
    level = drill.board[2] + thickness + RADIUS
    gravity = setup.params.gravity
    rise = velocity[2] * velocity[2] + 2 * gravity * (ball[2] - level)
    wait = (velocity[2] + jnp.sqrt(jnp.maximum(rise, 0.0))) / gravity
    spot = ball + velocity * wait
    court_length, width = setup.plan.court
    spot_x = jnp.clip(spot[0], -court_length / 2, -radius)
    spot_y = jnp.clip(spot[1], -width / 2, width / 2)
    dx, dy = spot_x - drill.board[0], spot_y - drill.board[1]
    far = jnp.sqrt(dx * dx + dy * dy)
    share = jnp.minimum(1.0, BOARD_SPEED * STEP / jnp.maximum(far, 1e-6))
    share = jnp.where(new.turn == 2, share, 0.0)
    board = jnp.stack([drill.board[0] + share * dx, drill.board[1] + share * dy, drill.board[2]])

    goal = constant([court_length / 4, 0.0, RADIUS], axes)
    half = jnp.float32(0.5 * BOARD_FLIGHT)
    wanted = (goal - ball) / BOARD_FLIGHT
    wanted = wanted + constant([0, 0, 1], axes) * gravity * half
    change = wanted - velocity
    normal = change / jnp.maximum(length(change, axis=0), 1e-6)
    turn = normal - drill.tilt
    size = length(turn, axis=0)
    turn = turn * jnp.minimum(1.0, 4.0 * STEP / jnp.maximum(size, 1e-6))
    tilt = drill.tilt + jnp.where(new.turn == 2, turn, 0.0)
    tilt = tilt / length(tilt, axis=0)

    was = play.before.ball[2]
    over = jnp.sqrt((ball[0] - board[0]) ** 2 + (ball[1] - board[1]) ** 2) < radius
    meets = (new.turn == 2) & (ball[2] <= level) & (was > level) & over
    along = dot(velocity, tilt)
    bounce = jnp.float32(BOARD_RESTITUTION)
    push = (dot(wanted, tilt) + bounce * along) / (1 + bounce)
    push = jnp.clip(push, 0.0, BOARD_SPEED)
    after = velocity + (1 + bounce) * (push - along) * tilt
    bodies = dataclasses.replace(new.bodies, ball_velocity=jnp.where(meets, after, velocity))
    drill = dataclasses.replace(drill, board=board, tilt=tilt)
    return dataclasses.replace(new, bodies=bodies, drill=drill), meets
