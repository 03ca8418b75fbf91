"""What happened in the last step: noted by the rules (`Recent`), told as events and as numbers."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, repeat
from manyhands.core.env import Array
from manyhands.envs.volleyball.frames import of_team
from manyhands.envs.volleyball.points import too_close
from manyhands.envs.volleyball.referee import Play, may_touch
from manyhands.envs.volleyball.state import (
    CRASHED,
    DRAWN,
    FAR_WON,
    LANDED,
    LAWFUL,
    NEAR_WON,
    OUT_OF_TURN,
    TEAMS,
    UNTOUCHED,
    WITH_BODY,
    Recent,
    Setup,
    VolleyballState,
)

LOW = 0.4  # m, a drone of a drill that is lower has failed
GAINS = {
    "back_and_forth": "target_reached",
    "solo_bump": "high_bump",
    "bump_and_pass": "passed_across",
}  # what a drill counts as done
KINDS = ("touched", "crossed", "landed", "fault", "point", *GAINS.values(), "returned", "finished")
_BLAMED = ("out", "net")  # faults of the team that touched the ball last


def note(
    setup: Setup,
    state: VolleyballState,
    new: VolleyballState,
    play: Play,
    broken: Array,
    metrics: dict[str, Array],
) -> Recent:
    """What happened between `state` and `new`, by a step's play and metrics."""
    racket, body = play.racket, play.body
    if len(setup.agents) == 1 and "body" not in setup.faults:
        racket, body = racket | body, jnp.zeros_like(body)  # any contact counts
    wrong = racket & ~may_touch(setup, state, play)
    if setup.task == "back_and_forth":  # nobody plays with the ball
        wrong = jnp.zeros_like(wrong)
    touch = jnp.where(racket, jnp.where(wrong, OUT_OF_TURN, LAWFUL), UNTOUCHED)
    touch = jnp.where(body, WITH_BODY, touch)
    place = play.now.position
    own: dict[str, Array] = {
        "wrong_turn": wrong,
        "double": wrong,
        "body": body,
        "crossed": place[:, 0] * play.sign < 0,
        "crash": (place[:, 2] < CRASHED) | broken,
        "drone_low": (place[:, 2] < LOW) | broken,
        "drone_net": play.netted,
    }
    if "close" in setup.faults:
        own["close"] = too_close(setup, play.now)
    foul = jnp.zeros_like(touch)
    for row in range(len(setup.faults) - 1, -1, -1):  # the first one stays
        name = setup.faults[row]
        if name in own:
            foul = jnp.where(own[name], row + 1, foul)
    ended, gained, last = jnp.zeros_like(play.side), jnp.zeros_like(play.side), new.last
    if setup.versus:
        # The next point of a match has replaced who touched the ball last.
        first = jnp.where(jnp.any(wrong, axis=0)[None], wrong, play.racket)
        last = jnp.where(jnp.any(play.racket, axis=0), jnp.argmax(first, axis=0), state.last)
        over = metrics["near_points"] * NEAR_WON + metrics["far_points"] * FAR_WON
        ended = over + metrics["draws"] * DRAWN
    else:
        gained = new.drill.done - state.drill.done
    crossed = jnp.where(play.crossed, play.side + 1, 0)
    if setup.task == "back_and_forth":
        crossed = jnp.zeros_like(play.side)
    small = jnp.uint8
    return Recent(
        touch=touch.astype(small),
        foul=foul.astype(small),
        crossed=crossed.astype(small),
        ended=ended.astype(small),
        gained=gained.astype(small),
        last=last.astype(jnp.int8),
        ball=play.now.ball[:2],
    )


# ---- as events -----------------------------------------------------------------------------------


def events(setup: Setup, state: VolleyballState, knows_ball: bool = True) -> list[dict[str, Any]]:
    """What happened in the last step, oldest first, ready for JSON (`Env.last_events`): "touched"
    (agent, legal, with), "crossed" (to: the half that the ball came into), "landed" (half, in,
    at: x and y in the world's frame), "fault" (fault, team, and the agent where it is one drone's),
    "point" (winner or None, score), and of drills `GAINS`, "returned" and "finished".

    Args:
        knows_ball: whether to tell where the ball landed, which noisy sensors do not know.
    """
    recent = state.recent
    agents, found = setup.agents, list[dict[str, Any]]()
    for i in np.flatnonzero(recent.touch).tolist():
        how = int(np.asarray(recent.touch)[i])
        part = "body" if how == WITH_BODY else "racket"
        found.append({"event": "touched", "agent": agents[i], "legal": how == LAWFUL, "with": part})
    if recent.crossed:
        found.append({"event": "crossed", "to": TEAMS[int(recent.crossed) - 1]})
    if recent.gained:
        found.append({"event": GAINS[setup.task], "count": int(state.drill.done)})
    over = int(recent.ended) if setup.versus else int(state.over)
    if not over:
        return found
    table = np.asarray(state.faults)
    happened = {
        name: np.flatnonzero(row).tolist() for name, row in zip(setup.faults, table, strict=True)
    }
    found += _landing(setup, state, happened, knows_ball)
    fouls = np.asarray(recent.foul)
    teams = TEAMS if setup.versus else ("drones",)
    for row, (name, guilty) in enumerate(happened.items()):
        for team in guilty:
            by: list[int | None]
            by = [i for i in np.flatnonzero(fouls == row + 1).tolist() if setup.team[i] == team]
            if name in _BLAMED:
                by = [int(recent.last)]
            elif not by and len(agents) == 1 and name.startswith(("drone", "far")):
                by = [0]
            for who in by or [None]:
                agent = {} if who is None else {"agent": agents[who]}
                found.append({"event": "fault", "fault": name, "team": teams[team], **agent})
    if setup.versus:
        winner = {NEAR_WON: TEAMS[0], FAR_WON: TEAMS[1]}.get(over)
        score = dict(zip(TEAMS, map(int, np.asarray(state.score)), strict=True))
        found.append({"event": "point", "winner": winner, "score": score})
    elif not table.any():
        low = setup.task != "hit" and float(state.bodies.ball[2]) >= LANDED
        found.append({"event": "returned" if low else "finished"})
    return found


def _landing(
    setup: Setup, state: VolleyballState, happened: dict[str, list[int]], knows_ball: bool
) -> list[dict[str, Any]]:
    """The ball on the floor, if it ended a point or a drill there."""
    x, y = (float(value) for value in np.asarray(state.recent.ball))
    length, width = setup.plan.court
    inside = abs(x) < length / 2 and abs(y) < width / 2
    fell = happened.get("own_floor") or happened.get("ball_low")
    if setup.versus and setup.team_size > 1:
        fell = fell or happened["out"]
    done = not setup.versus and setup.task.startswith("set") and not any(happened.values())
    if not fell and not (done and float(state.bodies.ball[2]) < LANDED):
        return []
    swapped = setup.points > 1 and bool(state.match.swapped)
    half = int((x < 0) != swapped)
    if happened.get("own_floor"):  # the teams may have changed sides since
        half = happened["own_floor"][0]
    at = {"at": [round(x, 2), round(y, 2)]} if knows_ball else {}
    return [{"event": "landed", "half": TEAMS[half], "in": inside, **at}]


# ---- as numbers ----------------------------------------------------------------------------------


def names(setup: Setup) -> tuple[str, ...]:
    """What `codes` holds."""
    n, found = setup.team_size, ["own_touch"]
    if not setup.versus:
        found += [f"touch_{i}" for i in range(n)] if n > 1 else []
        return (*found, "done", *(f"fault_{name}" for name in setup.faults))
    if n == 1:
        found.append("other_touch")
    else:
        found += [f"{whose}_touch_{i}" for whose in ("team", "other") for i in range(n)]
    found += ["ball_came", "ball_left", "point_won", "point_lost", "point_drawn"]
    return (*found, *(f"{whose}_{name}" for whose in ("own", "other") for name in setup.faults))


def codes(setup: Setup, state: VolleyballState) -> Array:
    """f32[D, K, ...] (`Env.event_codes`): touches (1 lawful, -1 a fault), of the own drone and of
    all, own team first; the ball came into the own half or left it; the point's result; the faults
    of the own team and of the other one."""
    recent, n = state.recent, setup.team_size
    touch = jnp.where(recent.touch > LAWFUL, -1.0, (recent.touch > 0).astype(jnp.float32))
    rows = [touch]
    if not setup.versus:
        everyone = [repeat(touch[i], n) for i in range(n)] if n > 1 else []
        table = [state.faults[f, 0] & state.over for f in range(len(setup.faults))]
        rows += [*everyone, repeat(recent.gained.astype(jnp.float32), n)]
        return jnp.stack([*rows, *(repeat(row.astype(jnp.float32), n) for row in table)], axis=1)
    theirs = jnp.roll(touch, n, axis=0)  # by the drones at the same places of the other team
    if n == 1:
        rows.append(theirs)
    else:
        teams = touch.reshape(2, n, *touch.shape[1:])
        for side in (teams, teams[::-1]):
            rows += [of_team(setup, side[:, i]) for i in range(n)]
    half = expand(setup.team, recent.crossed.ndim) + 1
    came = recent.crossed[None] == half
    ended = recent.ended[None]
    won, drawn = ended == half, jnp.broadcast_to(ended == DRAWN, came.shape)
    left, lost = (recent.crossed[None] > 0) & ~came, (ended > 0) & ~won & ~drawn
    rows += [came, left, won, lost, drawn]
    table = state.faults & (recent.ended > 0)
    for flipped in (table, table[:, ::-1]):
        rows += [of_team(setup, flipped[f]) for f in range(len(setup.faults))]
    return jnp.stack([row.astype(jnp.float32) for row in rows], axis=1)
