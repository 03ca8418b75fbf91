"""Drone volleyball as text: rule book, description, choices, and reading answers.

`describe` holds the facts of the vector observation, in the same frame (the reader's own half is
x > 0), with metres, m/s and rad/s rounded to `METRES` and parts of one (attitude, axes, motors) to
`PARTS`; and, in the words of a court, what follows from them and from the score.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import closest, decide, how_to_answer, quoted
from manyhands.core.reading.parts import JSON, WRAPPING, Answer, normalise
from manyhands.envs.volleyball import figures, orders, reading, rotors, terms, tilts
from manyhands.envs.volleyball.drills import ends_of
from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.happened import LOW
from manyhands.envs.volleyball.hazards import hazards
from manyhands.envs.volleyball.referee import allowed
from manyhands.envs.volleyball.state import (
    BOARD,
    CRASHED,
    HIGHEST,
    MAX_RATE,
    MAX_VELOCITY,
    MAX_YAW_RATE,
    NET,
    PAUSE,
    STEP,
    STEPPED,
    TEAMS,
    VolleyballState,
)

METRES, PARTS = 0.01, 0.001  # to which numbers are rounded
FORESIGHT = 10.0  # s that the ball's way is looked ahead
NEAR_NET, NEAR_FLOOR = 1.2, 0.9  # m, where motions towards them say what is beyond

# Why a point or a drill has ended.
FAULTS = {
    "wrong_turn": "touched the ball out of turn",
    "double": f"touched the ball twice within {PAUSE * STEP:g} s",
    "body": "touched the ball with something else than the racket",
    "crossed": "crossed the plane of the net",
    "own_floor": "let the ball land in its own half",
    "out": "sent the ball out",
    "net": "sent the ball into the net",
    "crash": "crashed a drone",
    "close": "brought two of its drones too close to each other",
    "ball_low": "let the ball fall",
    "ball_high": "sent the ball too high",
    "drone_low": "flew too low",
    "drone_high": "flew too high",
    "drone_net": "flew into the net",
    "far_away": "flew too far from the target",
}

# ---- numbers and places in words -----------------------------------------------------------------


def _metres(values: Any) -> str:
    """ "(1.50, 0.00, -2.31)"."""
    return f"({', '.join(_rounded(value, 2) for value in np.asarray(values).tolist())})"


def _parts(values: Any) -> str:
    """ "(1.000, 0.000)"."""
    return f"({', '.join(_rounded(value, 3) for value in np.asarray(values).tolist())})"


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def where(game: Volleyball, x: float, y: float) -> str:
    """A place in the reader's frame in the words of a court: "near-left, 1.20 m from the net"; near
    is the reader's own half, left and right are as seen from there."""
    length, width = game.plan.court
    half = "near" if x > 0 else "far"
    part = "left" if y < -width / 6 else "right" if y > width / 6 else "centre"
    out = "" if abs(x) < length / 2 and abs(y) < width / 2 else ", outside the court"
    return f"{half}-{part}, {abs(x):.2f} m from the net{out}"


def landing(
    game: Volleyball, ball: np.ndarray, velocity: np.ndarray, params: Any
) -> tuple[np.ndarray, float, bool]:
    """Where the ball will first be on the floor or in the net, if no drone touches it: its centre,
    in how many seconds, and whether it is the net. In steps of 5 ms with the air's drag."""
    gravity, radius = float(params.gravity), float(params.ball_radius)
    drag = 0.0 if params.ball_drag is None else float(params.ball_drag) / float(params.ball_mass)
    width, step, time, net = game.plan.court[1], 0.005, 0.0, False
    x, y, z = ball.tolist()
    vx, vy, vz = velocity.tolist()
    while time < FORESIGHT and not net and (z > radius or vz > 0):
        slower = 1 - step * drag * math.sqrt(vx * vx + vy * vy + vz * vz)
        vx, vy, vz = vx * slower, vy * slower, vz * slower - step * gravity
        before, x, y, z = x, x + step * vx, y + step * vy, z + step * vz
        time += step
        net = before * x < 0 and abs(y) < width / 2 and z < NET
    return np.array([x, y, z]), time, net


# ---- description ---------------------------------------------------------------------------------


class _Sight(NamedTuple):
    """What an agent perceives, in its own frame.

    Attributes:
        bodies: as sensors report them, in the world's frame.
        turned: f[3], what turns vectors of the world into the own frame.
        positions: f[D, 3], m. ball, ball_velocity: f[3], m, m/s.
    """

    bodies: Any
    turned: np.ndarray
    positions: np.ndarray
    ball: np.ndarray
    ball_velocity: np.ndarray


def _look(game: Volleyball, state: VolleyballState, agent: int) -> _Sight:
    side = side_of(game, state, agent)
    turned = np.array([side, side, 1.0])
    bodies = game.seen_by(state, agent)
    positions, ball, velocity = (
        np.asarray(part) * turned for part in (bodies.position, bodies.ball, bodies.ball_velocity)
    )
    return _Sight(bodies, turned, positions, ball, velocity)


def describe(game: Volleyball, state: VolleyballState, agent: int) -> str:
    """What the agent perceives, as text, in its own frame."""
    sight = _look(game, state, agent)
    if game.detail == "brief":
        return "\n".join(_brief(game, state, sight, agent, False))
    lines = [*_situation(game, state, agent, False), *_ball(game, state, sight, agent)]
    lines.append(_yourself(game, state, agent, sight))
    lines += [
        f"{name}: at {_metres(sight.positions[i])} m{_court_words(game, sight.positions[i])}."
        for i, name in enumerate(game.agents)
        if i != agent
    ]
    return "\n".join([*lines, *_more(game, state, sight, agent, False)])


def describe_team(game: Volleyball, state: VolleyballState, agent: int) -> str:
    """The same for a player that chooses for the whole team of `agent`: its drones fly by
    themselves, so that their attitudes, rates of turning and motors are told in full detail only.
    """
    sight = _look(game, state, agent)
    if game.detail == "brief":
        return "\n".join(_brief(game, state, sight, agent, True))
    lines = [*_situation(game, state, agent, True), *_ball(game, state, sight, agent)]
    own = int(game.setup.team[agent])
    for i, name in enumerate(game.agents):
        if game.setup.team[i] == own and game.detail == "full":
            lines.append(_yourself(game, state, i, sight).replace("You:", f"{name}:", 1))
        else:
            line = f"{name}: at {_metres(sight.positions[i])} m"
            if game.setup.team[i] == own:
                line += f", velocity {_metres(_velocity(sight, i))} m/s"
            lines.append(f"{line}{_court_words(game, sight.positions[i])}.")
    return "\n".join([*lines, *_more(game, state, sight, agent, True)])


def _ball(game: Volleyball, state: VolleyballState, sight: _Sight, agent: int) -> list[str]:
    if game.task == "back_and_forth":
        return []
    x, y, _ = sight.ball
    return [
        f"Ball: at {_metres(sight.ball)} m, {where(game, x, y)}; velocity "
        f"{_metres(sight.ball_velocity)} m/s. {_forecast(game, state, sight, agent)}".rstrip()
    ]


def _lands(
    game: Volleyball, state: VolleyballState, sight: _Sight
) -> tuple[np.ndarray, float, bool]:
    params = state.params if game.setup.physical else game.params
    return landing(game, sight.ball, sight.ball_velocity, params)


def _court_words(game: Volleyball, place: np.ndarray) -> str:
    return f", {where(game, place[0], place[1])}" if game.detail == "full" else ""


def _velocity(sight: _Sight, agent: int) -> np.ndarray:
    found: np.ndarray = np.asarray(sight.bodies.velocity)[agent] * sight.turned
    return found


def _brief(
    game: Volleyball, state: VolleyballState, sight: _Sight, agent: int, team: bool
) -> list[str]:
    """What changes decisions, in few words."""
    who = f"the {TEAMS[game.setup.team[agent]]} team" if team else game.agents[agent]
    left = (game.point_steps - int(state.clock)) * STEP
    head = f"You are {who}; your half is x > 0. {left:.1f} s left."
    if game.versus:
        own = int(game.setup.team[agent])
        score = np.asarray(state.score).tolist()
        free = np.flatnonzero(allowed(game.setup, state)).tolist()
        next_ones = _list(game, free, agent, team)
        head += f" Score {score[own]}:{score[1 - own]}."
        if not bool(state.over):
            head += f" Next touch: {next_ones}."
    lines = [head, *_news(game, state, agent, team)]
    if not game.versus:
        lines += _drill(game, state, agent)[2:]
    elif _ending(game, state, int(game.setup.team[agent])):
        lines.append(_ending(game, state, int(game.setup.team[agent])))
    if game.task != "back_and_forth":
        lines.append(
            f"Ball {_metres(sight.ball)}, velocity {_metres(sight.ball_velocity)}. "
            f"{_forecast(game, state, sight, agent)}".rstrip()
        )
    drones = []
    for i, name in enumerate(game.agents):
        own_drone = i == agent if not team else game.setup.team[i] == game.setup.team[agent]
        moving = f" moving {_metres(_velocity(sight, i))}" if own_drone else ""
        if own_drone and not team:
            name = "You"
            up = _axes(sight, i)[2]
            if up[2] < tilts.UPRIGHT:
                moving += f" up axis {_parts(up)}"
        drones.append(f"{name} {_metres(sight.positions[i])}{moving}")
    return [*lines, f"{'; '.join(drones)}."]


def _more(
    game: Volleyball, state: VolleyballState, sight: _Sight, agent: int, team: bool
) -> list[str]:
    """What can be worked out, and what the rules say of this moment; in full detail."""
    if game.detail != "full" or game.task == "back_and_forth" or bool(state.over):
        return []
    spot, _, net = _lands(game, state, sight)
    own = game.setup.team == game.setup.team[agent]
    gaps = np.linalg.norm(sight.positions[:, :2] - spot[:2], axis=1)
    order = [i for i in np.argsort(gaps, kind="stable").tolist() if own[i] or spot[0] < 0]
    near = ", ".join(
        f"{_name(game, i, agent, team)} {gaps[i]:.2f} m" for i in order if own[i] == (spot[0] > 0)
    )
    lines = [f"From where it comes down: {near}."] if near and not net else []
    if not game.versus:
        return lines
    free = np.asarray(allowed(game.setup, state))
    if team or free[agent]:
        lines.append("A touch by a drone that may not touch the ball loses the point.")
    else:
        lines.append("You may not touch the ball now: a touch of yours loses the point.")
    for i in np.flatnonzero(own).tolist() if team else [agent]:
        x, _, z = sight.positions[i]
        if x < 0.6 or z < 0.8:
            lines.append(
                f"{_name(game, i, agent, team)}: {x:.2f} m before the net's plane, "
                f"{z - CRASHED:.2f} m above {CRASHED:g} m; beyond either the point is lost."
            )
    return lines


def _name(game: Volleyball, i: int, agent: int, team: bool = False) -> str:
    return "you" if i == agent and not team else game.agents[i]


def _list(game: Volleyball, drones: Sequence[int], agent: int, team: bool = False) -> str:
    return ", ".join(_name(game, i, agent, team) for i in drones) or "nobody"


def side_of(game: Volleyball, state: VolleyballState, agent: int) -> int:
    """+1 for an agent that plays in x > 0, else -1."""
    side = 1 - 2 * int(game.setup.team[agent])
    return -side if game.points > 1 and bool(state.match.swapped) else side


def _place(game: Volleyball, state: VolleyballState, agent: int) -> np.ndarray:
    """Where an agent belongs, in its own frame."""
    n, team = game.team_size, int(game.setup.team[agent])
    moved = int(np.asarray(state.match.rotation)[team]) if game.points > 1 else 0
    place: np.ndarray = game.setup.places[(agent % n + moved) % n]
    return place


def _forecast(game: Volleyball, state: VolleyballState, sight: _Sight, agent: int) -> str:
    """Where the ball goes if no drone touches it, and whose fault that would be."""
    if bool(state.over):
        return ""
    spot, time, net = _lands(game, state, sight)
    length, width = game.plan.court
    blame = ""
    if game.versus and (net or abs(spot[0]) >= length / 2 or abs(spot[1]) >= width / 2):
        own = game.setup.team[int(state.last)] == game.setup.team[agent]
        blame = f": {'your' if own else 'their'} fault"
    if net:
        return f"Untouched, it hits the net in {time:.2f} s, {spot[2]:.2f} m high{blame}."
    if time >= FORESIGHT:
        return f"Untouched, it stays in the air for more than {FORESIGHT:g} s."
    if time == 0:
        return "It lies on the floor."
    return (
        f"Untouched, it lands at {_metres(spot[:2])} m in {time:.2f} s: "
        f"{where(game, spot[0], spot[1])}{blame}."
    )


def _attitude(sight: _Sight, agent: int) -> tuple[float, float, float, float]:
    """The quaternion of a drone in the own frame, with w >= 0."""
    w, x, y, z = np.asarray(sight.bodies.quaternion, float)[agent].tolist()
    if sight.turned[0] < 0:
        w, x, y, z = -z, -y, x, w
    return (w, x, y, z) if w >= 0 else (-w, -x, -y, -z)


def _axes(sight: _Sight, agent: int) -> tuple[Any, Any, Any]:
    """The nose, the left side and the upward axis of a drone, in the own frame."""
    w, x, y, z = _attitude(sight, agent)
    nose = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
    up = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    return nose, np.cross(up, nose), up


def _yourself(game: Volleyball, state: VolleyballState, agent: int, sight: _Sight) -> str:
    """A drone's own body."""
    nose, left, up = _axes(sight, agent)
    rates = np.asarray(sight.bodies.rates)[agent]
    turning = rates[0] * np.array(nose) + rates[1] * left + rates[2] * np.array(up)
    throttle = 2 * np.sqrt(np.clip(np.asarray(sight.bodies.thrust)[agent], 0, 1)) - 1
    own = sight.positions[agent]
    tilt = ""
    if game.detail == "full":
        angle = np.degrees(np.arccos(np.clip(up[2], -1, 1)))
        tilt = f", tilted by {angle:.0f} degrees"
    return (
        f"You: at {_metres(own)} m{_court_words(game, own)}; velocity "
        f"{_metres(_velocity(sight, agent))} m/s; attitude {_parts(_attitude(sight, agent))}; nose "
        f"{_parts(nose)}; up {_parts(up)}{tilt}; turning {_metres(turning)} rad/s; motors "
        f"{_parts(throttle)}; your place is {_metres(_place(game, state, agent))} m."
    )


def _situation(game: Volleyball, state: VolleyballState, agent: int, whole: bool) -> list[str]:
    """Who plays (one drone, or the whole team), the clock, the score, what happened, and whose
    touch it is."""
    if not game.versus:
        return _drill(game, state, agent)
    n, team = game.team_size, int(game.setup.team[agent])
    own, other = _team(game, team), _team(game, 1 - team)
    mates = [name for name in own if name != game.agents[agent]]
    beside = f" with {_and(mates)}" if mates else ""
    you = f"the {TEAMS[team]} team: {_and(own)}" if whole else f"{game.agents[agent]}{beside}"
    clock = int(state.clock)
    left = (game.point_steps - clock) * STEP
    score = [int(x) for x in np.asarray(state.score)]
    aim = "one point decides" if game.points == 1 else f"a match to {game.points}"
    lines = [
        f"You are {you}, against {_and(other)}. Your half is x > 0.",
        f"Step {clock} of {game.point_steps} of this point, {left:.2f} s left. Score: you "
        f"{score[team]}, they {score[1 - team]}; {aim}.",
        *_news(game, state, agent, whole),
    ]
    server = _name(game, int(state.server), agent, whole)
    if not bool(state.served):
        serves = "You serve" if server == "you" else f"{server} serves"
        lines.append(f"{serves}: the ball has not been touched yet.")
    else:
        last = int(state.last)
        ago = int(np.asarray(state.since)[last])
        served = "You served" if server == "you" else f"{server} served"
        lines.append(
            f"{served}. The last touch was by {_name(game, last, agent, whole)}, {ago} "
            f"step{'s' * (ago != 1)} ago. "
            f"Touches in this point: {int(state.hits)}, net crossings: {int(state.crossings)}."
        )
    ended = _ending(game, state, team)
    if bool(state.over):
        return [*lines, ended]
    if n == 1:
        mine = int(state.turn) == team
        lines.append(f"The next touch must be {'yours' if mine else other[0] + chr(39) + 's'}.")
    else:
        half = "your" if int(state.possession) == team else "their"
        touched, next_ones = (
            _list(game, np.flatnonzero(mask).tolist(), agent, whole)
            for mask in (state.touched, allowed(game.setup, state))
        )
        lines.append(
            f"The ball is in {half} half. Touched it since it came: {touched}. "
            f"May touch it next: {next_ones}."
        )
    return [*lines, ended] if ended else lines


def _and(names: Sequence[str]) -> str:
    return names_of(names).replace(" or ", " and ")


def _news(game: Volleyball, state: VolleyballState, agent: int, whole: bool = False) -> list[str]:
    """What happened in the last step, as a line, if anything did."""
    told = [
        words
        for event in game.last_events(state, agent)
        if (words := _event(game, event, agent, whole, side_of(game, state, agent)))
    ]
    return [f"Last step: {'; '.join(told)}."] if told else []


def _event(game: Volleyball, event: Mapping[str, Any], agent: int, whole: bool, side: int) -> str:
    """An event in words; empty for a fault, which the end of the point tells of."""
    kind, own = event["event"], TEAMS[game.setup.team[agent]]
    if kind == "touched":
        name = _name(game, game.agents.index(event["agent"]), agent, whole)
        part = "" if event["with"] == "racket" else " with something else than the racket"
        turn = " out of turn" if not event["legal"] and not part else ""
        return f"{name} touched the ball{part}{turn}"
    half = "your half" if event.get("to", event.get("half")) == own else "the other half"
    if kind == "crossed":
        return f"the ball crossed the net into {half}"
    if kind == "landed":
        at = f" at {_metres(np.array(event['at']) * side)} m" if "at" in event else ""
        return f"the ball landed {'in ' + half if event['in'] else 'out'}{at}"
    if kind == "point":
        winner = event["winner"]
        if winner is None:
            return "nobody wins the point"
        return f"the point is {'yours' if winner == own else 'theirs'}"
    words = {
        "target_reached": "you reached the target",
        "high_bump": "that was a high bump",
        "passed_across": "the ball passed across the middle",
        "returned": "the board returned the ball",
        "finished": "the drill is done, without a mistake",
    }
    return words.get(kind, "")


def _drill(game: Volleyball, state: VolleyballState, agent: int) -> list[str]:
    clock, drill = int(state.clock), state.drill
    you = game.agents[agent]
    mates = [name for name in game.agents if name != you]
    lines = [
        f"You are {you}{' with ' + mates[0] if mates else ''}. The drill is "
        f"{game.plan.title}. Your half is x > 0.",
        f"Step {clock} of {game.max_steps}, {(game.max_steps - clock) * STEP:.2f} s left.",
    ]
    if game.task != "back_and_forth":
        lines[-1] += f" Legal touches: {int(state.hits)}."
    if game.detail != "brief":
        lines += _news(game, state, agent)
    if game.task == "back_and_forth":
        lines.append(
            f"Target: {_metres(drill.target)} m. You have been there for {int(drill.streak)} of 5 "
            f"steps. Targets reached: {int(drill.done)}."
        )
    elif len(game.agents) == 1:
        since = int(np.asarray(state.since)[0])
        ago = f"{since} step{'s' * (since != 1)} ago" if bool(state.served) else "never"
        lines.append(f"Your last touch: {ago}.")
    elif not bool(state.over):
        turn = int(state.turn)
        name = game.agents[turn] if turn < len(game.agents) else "nobody"
        lines.append(
            f"The next touch must be {'yours' if turn == agent else name + chr(39) + 's'}."
        )
    if game.task == "bump_and_pass":
        lines.append(f"Passes across, above 4 m: {int(drill.done)}.")
    if game.task == "solo_bump":
        lines.append(f"High touches: {int(drill.done)}.")
    if game.task.startswith("set_and_spike"):
        lines.append(f"The spike's target: {_metres(game.plan.target)} m.")
    if game.task == "set_and_spike_hard":
        lines.append(f"The returner's board: at {_metres(drill.board)} m.")
    ended = _ending(game, state, 0)
    return [*lines, ended] if ended else lines


def _ending(game: Volleyball, state: VolleyballState, team: int) -> str:
    """How the last point or the episode has ended, if it has."""
    table = np.asarray(state.faults)
    if not bool(state.over) and not table.any():
        late = int(state.time) >= game.max_steps
        return "The time is up." if late else ""
    by: dict[tuple[str, str], list[str]] = {}
    for event in game.last_events(state):
        if event["event"] == "fault" and "agent" in event and game.team_size > 1:
            by.setdefault((event["fault"], event["team"]), []).append(event["agent"])
    reasons = []
    for t in range(table.shape[1]):
        side = TEAMS[t] if game.versus else "drones"
        words = [
            FAULTS[name] + (f" ({', '.join(by[name, side])})" if (name, side) in by else "")
            for f, name in enumerate(game.faults)
            if table[f, t]
        ]
        if words:
            who = "You" if not game.versus else "Your team" if t == team else "The other team"
            reasons.append(f"{who} {' and '.join(words)}.")
    over = "The episode is over." if bool(state.over) else "The last point:"
    return " ".join([over, *reasons])


def _team(game: Volleyball, team: int) -> list[str]:
    n = game.team_size
    return list(game.agents[team * n : (team + 1) * n])


# ---- rules ---------------------------------------------------------------------------------------


def rules(game: Volleyball, agent: int, team: bool = False) -> str:
    """The rule book of one agent, or of a player that chooses for its whole team."""
    plan, you = game.plan, game.agents[agent]
    length, width = plan.court
    side = int(game.setup.team[agent])
    own, other = _team(game, side), _team(game, 1 - side) if game.versus else []
    lines = [f"DRONE VOLLEYBALL: {plan.title.upper()}"]
    if game.versus:
        whose = (
            f"You are the {TEAMS[side]} team"
            if team
            else f"You are {you} of the {TEAMS[side]} team"
        )
        lines.append(f"{whose} ({', '.join(own)}). The other team is {', '.join(other)}.")
    else:
        mates = [name for name in game.agents if name != you]
        lines.append(f"You are {you}{' with ' + _and(mates) if mates else ', alone'}.")
    lines += [
        f"Each drone is a quadrotor of {float(np.mean(game.params.mass)):.2g} kg with a round "
        f"racket of {float(game.params.racket[0]):g} m radius on its top. A step lasts {STEP:g} s.",
        "",
        "THE COURT",
        f"{length:g} m long, {width:g} m wide. The net stands across its middle, {NET:g} m high. "
        "Numbers are in metres, m/s and rad/s, in your own frame: x is the distance from the net, "
        "positive in your half; z is the height. Facing the net from your half, y grows to the "
        'right. "Near" is your half, "far" the other one.',
        *hazards(game.ranges, game.ball),
        "",
        "AIM",
        *_aim(game),
        "",
        "FAULTS",
        *terms.fault_rules(game),
        "",
        "REWARDS",
        terms.rewards(game),
        "",
        "HOW TO ANSWER",
        *_how_to_answer(game),
    ]
    return "\n".join(lines)


def _aim(game: Volleyball) -> list[str]:
    plan, task = game.plan, game.task
    if game.versus:
        lines = [
            f"The ball starts at rest {plan.ball:g} m above the server, and falls: the server must "
            "touch it first. "
            "Send it over the net so that it lands in the other half, or the other team makes a "
            "fault. The team that makes a fault loses the point; if both do in the same step, it "
            "is a draw.",
        ]
        if game.team_size == 1:
            lines.append("After your touch the next one must be the other drone's.")
        else:
            lines.append(
                "While the ball is in your half each of your drones may touch it once; when it has "
                "crossed the net, this starts anew. Until the server has touched it, nobody else "
                "may."
            )
        if game.points > 1:
            first = -(-game.points // 2)
            rotates = (
                ""
                if game.team_size == 1
                else ("; a team that gains the serve rotates by one place")
            )
            lines.append(
                f"The match goes to {game.points} points with a lead of {game.lead}. Who wins a "
                f"point serves next{rotates}. The teams change sides when one first has {first} "
                f"point{'s' * (first != 1)}. A point longer than {game.point_steps * STEP:g} s is "
                "replayed."
            )
        else:
            lines.append(f"A point longer than {game.point_steps * STEP:g} s is a draw.")
        return lines
    ends = ends_of(game.setup)
    texts = {
        "back_and_forth": (
            f"Fly between {_metres(ends[1])} and {_metres(ends[0])}: stay within 0.6 m of the "
            "target for 5 steps, then the other end is the target. The first target is "
            f"{_metres(ends[0])}."
        ),
        "hit": (
            "Touch the ball once, so that it flies as far towards the net and over it as it can. "
            "When it then falls below 2 m, the drill ends: what counts is how many metres it is "
            "in front of your place, along x."
        ),
        "solo_bump": (
            "Bump the ball up with your racket again and again. From the second touch on, one "
            "counts as high if the mean of the ball's greatest heights between touches is more "
            "than 3.5 m."
        ),
        "bump_and_pass": (
            "Bump the ball to each other in turn, drone_0 first, across y = 0 above 4 m."
        ),
        "set_and_spike": (
            "drone_0 sets the ball, drone_1 spikes it down over the net to within 1 m of "
            f"{_metres(plan.target)}. The drill ends when it lands in the far half."
        ),
        "set_and_spike_hard": (
            "drone_0 sets the ball, drone_1 spikes it over the net so that it lands in the far "
            f"half. There a board of {BOARD[0]:g} m radius runs after it, at most 8 m/s, and bats "
            "it back if it gets there. The drill ends when the ball lands or is batted back."
        ),
    }
    lines = [texts[task]]
    if task != "back_and_forth":
        lines.append(
            f"The ball starts at rest {plan.ball:g} m above {game.agents[plan.server]}, and falls."
        )
    return lines


# ---- choices and answers -------------------------------------------------------------------------

_NUMBERS = {
    "rotors": "the thrust of each rotor (front right, back left, front left, back right): -1 is "
    "none, 1 is all of it",
    "ctbr": f"the rates about your x, y and z axes (1 is {MAX_RATE:.2f} rad/s: x tips to the "
    "right, y the nose down, z turns to the left) and the collective thrust (-1 is none, 1 all of "
    "it)",
    "velocity": f"the velocity along x, y and z in your frame (1 is {MAX_VELOCITY:g} m/s) and the "
    f"rate of turning to the left (1 is {MAX_YAW_RATE:g} rad/s)",
    "position": "x, y and z of the place to fly to, in metres in your frame, in your half and up "
    f"to {HIGHEST:g} m high, and where your nose is to point, in degrees to the left of the x "
    "axis, 0 if you leave it out (you fly there by yourself, at 5 m/s at most, until you name "
    "another)",
    "discrete": "the thrust of each rotor (front right, back left, front left, back right): -1 is "
    "none, 1 is all of it",
}
_NUMBERS["multidiscrete"] = _NUMBERS["discrete"]


def choices(game: Volleyball, state: VolleyballState, agent: int) -> list[Choice]:
    """Named actions; any four numbers within the space are as legal. What comes of a motion depends
    on those before it, so that none is certain."""
    if bool(state.over) or int(state.time) >= game.max_steps:
        return []
    sight = _look(game, state, agent)
    table: dict[str, Any]
    if game.actions in STEPPED:
        table = orders.commands(game)
        told = tilts.step_effects(game, *_axes(sight, agent))
    elif game.actions == "position":
        named = _places(game, sight, agent)
        if game.task == "back_and_forth":
            goal = orders.action_for(game.setup, [*np.asarray(state.drill.target).tolist(), 0.0])
            named[TO_TARGET] = goal, f"fly to about {orders.spoken(game.setup, goal)} degrees"
        table = {name: action for name, (action, _) in named.items()}
        told = {name: effect for name, (_, effect) in named.items()}
    else:
        table = orders.commands(game)
        told = (
            _velocity_effects()
            if game.actions == "velocity"
            else tilts.tilt_effects(game, *_axes(sight, agent))
        )
    x, _, z = sight.positions[agent].tolist()
    risk = "loses the point" if game.versus else "ends the drill"
    floor = CRASHED if game.versus else LOW
    if "crossed" in game.faults and x < NEAR_NET and "to the net" in told:
        told["to the net"] += f"; to be beyond it, {x:.2f} m away, {risk}"
    if z < floor + NEAR_FLOOR:
        name = "down" if "down" in told else "sink"
        told[name] += f"; to be lower than {floor:g} m {risk}"
    return [Choice(name, told[name], action, certain=False) for name, action in table.items()]


def _places(game: Volleyball, sight: _Sight, agent: int) -> dict[str, tuple[np.ndarray, str]]:
    nose = _axes(sight, agent)[0]
    heading = math.atan2(nose[1], nose[0])
    return orders.places(game, sight.positions[agent].tolist(), heading)


def _velocity_effects() -> dict[str, str]:
    fast, turn = f"about {0.4 * MAX_VELOCITY:g} m/s", f"about {0.5 * MAX_YAW_RATE:g} rad/s"
    told = {name: f"{fast} {name}" for name in ("left", "right", "up", "down")}
    return told | {
        "hold": "come to rest, in about half a second",
        "to the net": f"{fast} to x = 0",
        "from the net": f"{fast} away from it",
        "turn left": turn,
        "turn right": turn,
    }


def _how_to_answer(game: Volleyball) -> list[str]:
    listed = list(orders.commands(game))
    if game.task == "back_and_forth" and game.actions == "position":
        listed.append(TO_TARGET)
    named = ", ".join(f'"{name}"' for name in listed if name[-1].isalpha())  # no numbers
    return [
        "Every drone acts in every step. "
        + (
            "At first your nose points anywhere, and you tilt a little."
            if game.plan.yaw
            else "Your nose at first points away from the net."
        ),
        *tilts.motors(game),
        f"{_four(game)}: {_NUMBERS[game.actions]}; for example "
        f'"ACTION: {_EXAMPLES.get(game.actions, "0.1, -0.2, 0, 0.3")}". Or one of these, which '
        "stand for such numbers:",
        f"{named}.",
        how_to_answer(next(iter(orders.commands(game)))),
    ]


TO_TARGET = "fly to the target"  # the name of a place to fly to, in one drill


def _four(game: Volleyball) -> str:
    """How the numbers of an action are called."""
    if game.actions == "position":
        return "Four numbers"
    if game.actions in STEPPED:
        steps = [f"{u:.3g}" for u in np.linspace(-1, 1, game.bins)]
        return f"Four numbers, each {names_of(steps)}"
    return "Four numbers from -1 to 1"


_EXAMPLES = {"position": "2, -0.5, 1.8, 0"} | dict.fromkeys(STEPPED, "1, -1, 1, -1")


def _same_place(numbers: list[float] | None, place: list[float]) -> bool:
    """Whether numbers repeat a place, as exactly as texts tell it."""
    given = numbers or []
    return len(given) in (3, 4) and all(
        abs(a - b) < 0.1 for a, b in zip(given, place, strict=False)
    )


_TWICE = re.compile(r":\s+|\s*\(|,\s+(?:so|that is|i\.e\.|meaning|namely)\b:?\s+", re.I)


def twice(raw: str) -> Iterator[tuple[str, str]]:
    """The ways to see in an answer an action that is said twice: "turn right (front right and back
    left)"."""
    for sign in _TWICE.finditer(raw, 1):
        yield raw[: sign.start()], raw[sign.end() :]


def parse(game: Volleyball, text: Any, state: VolleyballState, agent: int) -> Any:
    """The action that an answer names, f32[4], or an int of discrete ones, or i32[4] of
    multidiscrete ones; `IllegalAction` if it names none, or more than one, or numbers out of
    bounds."""
    offered = choices(game, state, agent)
    if not offered:
        raise IllegalAction("The episode is over; there is nothing to answer.")
    table, words = {choice.text: choice.action for choice in offered}, ""
    spoken = [name for name in table if name[-1].isalpha()]  # and no numbers

    def refusal(reason: str, words: str) -> str:
        return (
            f"{reason}. Answer with {_four(game).lower()}, or with "
            f"{names_of(closest(words, spoken, 16))}."
        )

    def refuse(reason: str) -> IllegalAction:
        return IllegalAction(functools.partial(refusal, reason, words))

    def told() -> str:
        return game.describe(state, agent, detail="full")

    def rest(raw: str, few: bool) -> list[float] | None:
        """What numbers are that an answer leaves out: no velocity, and the place where the drone
        is, as it is told; None where it leaves none out."""
        if game.actions == "velocity" and (few or figures.VELOCITY.search(raw)):
            return [0.0] * 4
        if game.actions != "position" or not few:
            return None
        return [float(part) for part in orders.spoken(game.setup, table["hold"]).split(",")]

    def mean(answer: Answer) -> Any:
        nonlocal words
        words = answer.plain
        for first, second in twice(answer.raw):
            try:
                found = [said(first), said(second, behind=True)]
            except IllegalAction:
                continue  # all of it may be understood
            if all(action is not None for action in found):
                return found[0] if np.array_equal(*found) else None
        return said(answer.raw, few=answer.kind == JSON)

    def said(raw: str, behind: bool = False, few: bool = False) -> Any:
        if ": " in raw:  # a line as it is offered
            raw = normalise(raw)
            for choice in offered:
                raw = raw.replace(normalise(choice), choice.text)
        unit = "m|metres?|meters?|degrees?|\u00b0" if game.actions == "position" else ""
        sentence, numbers = figures.split(raw, reading.LABELS[game.actions], unit, rest(raw, few))
        sentence = sentence.strip(WRAPPING)
        if TO_TARGET in table and sentence.rstrip(".! ") == TO_TARGET:
            return table[TO_TARGET]
        named = reading.command(sentence, game.actions)
        if named == {"target"} and game.task == "back_and_forth" and game.actions == "position":
            target = np.asarray(state.drill.target).tolist()
            if figures.LIST in sentence and not _same_place(numbers, target):
                return None
            return orders.meant(game, target if numbers is None else numbers, refuse)
        if named == {"four"} and numbers is not None:
            if figures.repeats(sentence, raw.strip(WRAPPING), numbers, told):
                return None
            return orders.meant(game, numbers, refuse)
        if not named and game.actions in STEPPED and game.bins == 2:
            running = rotors.thrusts(sentence, bare=behind)
            if running is not None:
                return orders.meant(game, list(running), refuse)
        known = [name for name in named if name in table]
        if named and not known:
            raise refuse(f"{quoted(raw.strip(WRAPPING))} is none of the commands here")
        return table[known[0]] if len(named) == 1 else None

    found = decide(text, mean, refuse, me=game.agents[agent])
    return int(found) if game.actions == "discrete" else found
