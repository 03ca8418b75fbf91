"""Points and matches between two teams: faults, reward terms, the score, and the next point."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.volleyball import rewards
from manyhands.envs.volleyball.frames import by_team, length, number, of_team
from manyhands.envs.volleyball.physics import Bodies
from manyhands.envs.volleyball.referee import Play, Ruling, allowed, may_touch
from manyhands.envs.volleyball.start import next_point
from manyhands.envs.volleyball.state import (
    CLOSE,
    CRASHED,
    UNDECIDED,
    Match,
    Setup,
    VolleyballState,
)


def judge(setup: Setup, state: VolleyballState, new: VolleyballState, play: Play) -> Ruling:
    """A step of a point."""
    axes, now = state.time.ndim, play.now
    own_x, height = now.position[:, 0] * play.sign, now.position[:, 2]
    free = may_touch(setup, state, play)
    legal, wrong = play.racket & free, play.racket & ~free
    new = _touched(setup, state, new, play, legal, wrong)

    blamed = expand(np.arange(2, dtype=np.int8), axes) == _team_of(setup, new.last)[None]
    out = ~play.inside
    if setup.team_size > 1:
        out = out & play.landed
    half = expand(np.arange(2, dtype=np.int8), axes) == play.side[None]
    faults = {
        "wrong_turn": by_team(setup, wrong),
        "body": by_team(setup, play.body),
        "crossed": by_team(setup, own_x < 0),
        "own_floor": half & (play.inside & play.landed)[None],
        "out": blamed & out[None],
        "net": blamed & play.net[None],
        "crash": by_team(setup, height < CRASHED),
    }

    next_ones = allowed(setup, new)
    if setup.team_size == 1:
        terms = {
            "hit": number(legal),
            "approach": rewards.approach(next_ones, play.flat),
            "position": rewards.position(setup, play),
            "ground": rewards.ground(play),
        }
    else:
        close = too_close(setup, now)
        faults["close"] = by_team(setup, close)
        terms = {
            "hit": number(of_team(setup, by_team(setup, legal))),
            "approach": rewards.approach(next_ones, play.gap),
            "anchor": rewards.anchor(play),
            "ground": rewards.ground(play),
            "close": -number(close),
        }
    metrics = {"hits": jnp.any(legal, axis=0), "crossings": play.crossed & state.served}
    return Ruling(new, faults, terms, metrics)


def too_close(setup: Setup, now: Bodies) -> Array:
    """bool[D, ...]: the drones that are too close to a team-mate."""
    gaps = length(now.position[:, None] - now.position[None], axis=2)
    return jnp.any((gaps < CLOSE) & expand(setup.mates, now.ball.ndim - 1), axis=1)


def _touched(
    setup: Setup,
    state: VolleyballState,
    new: VolleyballState,
    play: Play,
    legal: Array,
    wrong: Array,
) -> VolleyballState:
    """The state after the touches of a step, bool[D, ...] in and out of turn."""
    hit, any_wrong = jnp.any(legal, axis=0), jnp.any(wrong, axis=0)
    touching = jnp.where(any_wrong[None], wrong, play.racket)
    toucher = jnp.argmax(touching, axis=0).astype(jnp.int8)
    if setup.team_size == 1:
        turn = jnp.where(hit, jnp.int8(1) - state.turn, state.turn)
        touched = state.touched | legal
    else:
        turn = play.side
        own = expand(setup.team, state.time.ndim) == play.side[None]
        touched = jnp.where(play.crossed[None], legal & own, state.touched | legal)
    return dataclasses.replace(
        new,
        turn=turn,
        possession=play.side,
        touched=touched,
        last=jnp.where(jnp.any(play.racket, axis=0), toucher, state.last),
        served=state.served | hit,
        hits=state.hits + hit,
        crossings=state.crossings + play.crossed,
    )


def _team_of(setup: Setup, drone: Array) -> Array:
    return (drone >= setup.team_size).astype(jnp.int8)


# ---- the score -----------------------------------------------------------------------------------


def score(
    setup: Setup, state: VolleyballState, new: VolleyballState
) -> tuple[VolleyballState, Array, dict[str, Array]]:
    """Score the point if it has ended, and begin the next one of a match: the state, the term
    `win`, and metrics."""
    table = new.faults
    losing = [setup.rulebook == "manyhands" or name not in UNDECIDED for name in setup.faults]
    lost = jnp.any(table[np.flatnonzero(losing)], axis=0)
    won = lost[::-1] & ~lost
    ended = jnp.any(table, axis=(0, 1))
    win = of_team(setup, number(won) - number(won[::-1]))
    points = state.score + won
    over_now = ended | (new.clock >= setup.point_steps)
    metrics = {
        "near_points": won[0],
        "far_points": won[1],
        "draws": over_now & ~jnp.any(won, axis=0),
        "rally": jnp.where(over_now, new.crossings, 0),
    }
    if setup.points == 1:
        return dataclasses.replace(new, score=points, over=ended), win, metrics

    high = jnp.max(points, axis=0)
    over = (high >= setup.points) & (high - jnp.min(points, axis=0) >= setup.lead)
    match, serving = _next_match(setup, state, won, high)
    start = next_point(setup, serving, match)
    begins = over_now & ~over
    kept = {name: getattr(new, name) for name in start}
    chosen = jax.tree_util.tree_map(lambda a, b: jnp.where(begins, a, b), start, kept)
    faults = jnp.where(over_now, table, state.faults)
    return dataclasses.replace(new, score=points, over=over, faults=faults, **chosen), win, metrics


def _next_match(
    setup: Setup, state: VolleyballState, won: Array, high: Array
) -> tuple[Match, Array]:
    """Rotation and sides after a point, and i8[...], the team that serves next.

    Args:
        won: bool[2, ...], the team that has won the point.
        high: i16[...], the higher score after it.
    """
    serving = _team_of(setup, state.server)
    scorer = won[1].astype(jnp.int8)
    gained = jnp.any(won, axis=0) & (scorer != serving)  # a side-out
    serving = jnp.where(gained, scorer, serving)
    moves = gained[None] & won
    half = -(-setup.points // 2)
    changes = (high >= half) & (jnp.max(state.score, axis=0) < half)
    match = Match(
        swapped=state.match.swapped ^ changes,
        rotation=((state.match.rotation + moves) % setup.team_size).astype(jnp.int8),
        seed=state.match.seed,
        number=state.match.number + jnp.int16(1),
    )
    return match, serving
