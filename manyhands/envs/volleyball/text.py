"""Drone volleyball as text: rule book, description, choices, and reading answers.

`describe` holds the facts of the vector observation, in the same frame (the reader's own half is
x > 0), with metres, m/s and rad/s rounded to `METRES` and parts of one (attitude, axes, motors) to
`PARTS`; and, in the words of a court, what follows from them and from the score.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from manyhands.core.answers import WRAPPING, Answer, closest, decide, how_to_answer, quoted
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.grammar import Grammar, Reading, tokens
from manyhands.envs.volleyball import figures
from manyhands.envs.volleyball.drills import ends_of
from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.referee import allowed
from manyhands.envs.volleyball.state import (
    BOARD,
    CLOSE,
    CRASHED,
    LANDED,
    MAX_RATE,
    MAX_VELOCITY,
    MAX_YAW_RATE,
    NET,
    PAUSE,
    STEP,
    TEAMS,
    VolleyballState,
)

METRES, PARTS = 0.01, 0.001  # to which numbers are rounded
FORESIGHT = 10.0  # s that the ball's way is looked ahead

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


def describe(game: Volleyball, state: VolleyballState, agent: int) -> str:
    """What the agent perceives, as text, in its own frame."""
    side = _side(game, state, agent)
    turned = np.array([side, side, 1.0])
    bodies = game.sensed(state)
    positions = np.asarray(bodies.position) * turned
    ball, ball_velocity = (
        np.asarray(bodies.ball) * turned,
        np.asarray(bodies.ball_velocity) * turned,
    )
    lines = [*_situation(game, state, agent)]
    if game.task != "back_and_forth":
        params = state.params if game.setup.physical else game.params
        spot, time, net = landing(game, ball, ball_velocity, params)
        lines.append(
            f"Ball: at {_metres(ball)} m, {where(game, *ball[:2])}, {ball[2]:.2f} m high; velocity "
            f"{_metres(ball_velocity)} m/s. {_forecast(game, spot, time, net)}"
        )
    lines.append(_yourself(game, state, agent, bodies, positions, turned))
    for i, name in enumerate(game.agents):
        if i != agent:
            x, y, z = positions[i]
            lines.append(
                f"{name}: at {_metres(positions[i])} m, {where(game, x, y)}, {z:.2f} m high."
            )
    return "\n".join(lines)


def _side(game: Volleyball, state: VolleyballState, agent: int) -> int:
    """+1 for an agent that plays in x > 0, else -1."""
    side = 1 - 2 * int(game.setup.team[agent])
    return -side if game.points > 1 and bool(state.match.swapped) else side


def _place(game: Volleyball, state: VolleyballState, agent: int) -> np.ndarray:
    """Where an agent belongs, in its own frame."""
    n, team = game.team_size, int(game.setup.team[agent])
    moved = int(np.asarray(state.match.rotation)[team]) if game.points > 1 else 0
    place: np.ndarray = game.setup.places[(agent % n + moved) % n]
    return place


def _forecast(game: Volleyball, spot: np.ndarray, time: float, net: bool) -> str:
    if net:
        return f"Untouched, it hits the net in {time:.2f} s, {spot[2]:.2f} m high."
    if time >= FORESIGHT:
        return f"Untouched, it stays in the air for more than {FORESIGHT:g} s."
    if time == 0:
        return "It lies on the floor."
    return (
        f"Untouched, it lands at {_metres(spot[:2])} m in {time:.2f} s: "
        f"{where(game, spot[0], spot[1])}."
    )


def _yourself(
    game: Volleyball,
    state: VolleyballState,
    agent: int,
    bodies: Any,
    positions: np.ndarray,
    turned: np.ndarray,
) -> str:
    """The agent's own body."""
    w, x, y, z = np.asarray(bodies.quaternion, float)[agent].tolist()
    if turned[0] < 0:
        w, x, y, z = -z, -y, x, w
    w, x, y, z = quaternion = (w, x, y, z) if w >= 0 else (-w, -x, -y, -z)
    nose = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
    up = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    left = np.cross(up, nose)
    rates = np.asarray(bodies.rates)[agent]
    turning = rates[0] * np.array(nose) + rates[1] * left + rates[2] * np.array(up)
    throttle = 2 * np.sqrt(np.clip(np.asarray(bodies.thrust)[agent], 0, 1)) - 1
    place = _place(game, state, agent)
    own = positions[agent]
    tilt = np.degrees(np.arccos(np.clip(up[2], -1, 1)))
    return (
        f"You: at {_metres(own)} m, {where(game, own[0], own[1])}, {own[2]:.2f} m high; velocity "
        f"{_metres(np.asarray(bodies.velocity)[agent] * turned)} m/s; attitude "
        f"{_parts(quaternion)}; nose {_parts(nose)}; up {_parts(up)}, tilted by {tilt:.0f} "
        f"degrees; turning {_metres(turning)} rad/s; motors {_parts(throttle)}; your place is "
        f"{_metres(place)} m."
    )


def _situation(game: Volleyball, state: VolleyballState, agent: int) -> list[str]:
    """Who plays, the clock, the score, and whose touch it is."""
    if not game.versus:
        return _drill(game, state, agent)
    n, team = game.team_size, int(game.setup.team[agent])
    own, other = _team(game, team), _team(game, 1 - team)
    mates = [name for name in own if name != game.agents[agent]]
    beside = f" with {names_of(mates).replace(' or ', ' and ')}" if mates else ""
    clock = int(state.clock)
    left = (game.point_steps - clock) * STEP
    score = [int(x) for x in np.asarray(state.score)]
    aim = "one point decides" if game.points == 1 else f"a match to {game.points}"
    lines = [
        f"You are {game.agents[agent]}{beside}, against "
        f"{names_of(other).replace(' or ', ' and ')}. Your half is x > 0.",
        f"Step {clock} of {game.point_steps} of this point, {left:.2f} s left. Score: you "
        f"{score[team]}, they {score[1 - team]}; {aim}.",
    ]
    server = game.agents[int(state.server)]
    who = "You serve" if server == game.agents[agent] else f"{server} serves"
    if not bool(state.served):
        lines.append(f"{who}: the ball has not been touched yet.")
    else:
        last = int(state.last)
        whose = "you" if last == agent else game.agents[last]
        ago = int(np.asarray(state.since)[last])
        served = "You served" if server == game.agents[agent] else f"{server} served"
        lines.append(
            f"{served}. The last touch was by {whose}, {ago} step{'s' * (ago != 1)} ago. "
            f"Touches in this point: {int(state.hits)}, net crossings: {int(state.crossings)}."
        )
    if n == 1:
        mine = int(state.turn) == team
        lines.append(f"The next touch must be {'yours' if mine else other[0] + chr(39) + 's'}.")
    else:
        half = "your" if int(state.possession) == team else "their"
        touched, next_ones = (
            ", ".join("you" if i == agent else game.agents[i] for i in np.flatnonzero(mask))
            for mask in (state.touched, allowed(game.setup, state))
        )
        lines.append(
            f"The ball is in {half} half. Touched it since it came: {touched or 'nobody'}. "
            f"May touch it next: {next_ones or 'nobody'}."
        )
    ended = _ending(game, state, team)
    return [*lines, ended] if ended else lines


def _drill(game: Volleyball, state: VolleyballState, agent: int) -> list[str]:
    clock, drill = int(state.clock), state.drill
    you = game.agents[agent]
    mates = [name for name in game.agents if name != you]
    lines = [
        f"You are {you}{' with ' + mates[0] if mates else ''}. The drill is "
        f"{game.plan.title}. Your half is x > 0.",
        f"Step {clock} of {game.max_steps}, {(game.max_steps - clock) * STEP:.2f} s left. "
        f"Legal touches: {int(state.hits)}.",
    ]
    if game.task == "back_and_forth":
        lines.append(
            f"Target: {_metres(drill.target)} m. You have been there for {int(drill.streak)} of 5 "
            f"steps. Targets reached: {int(drill.done)}."
        )
    elif len(game.agents) == 1:
        since = int(np.asarray(state.since)[0])
        ago = f"{since} step{'s' * (since != 1)} ago" if bool(state.served) else "never"
        lines.append(f"Your last touch: {ago}.")
    else:
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
    reasons = []
    for t in range(table.shape[0 if not table.ndim else 1]):
        words = [FAULTS[name] for f, name in enumerate(game.faults) if table[f, t]]
        if words:
            who = "You" if not game.versus else "Your team" if t == team else "The other team"
            reasons.append(f"{who} {' and '.join(words)}.")
    over = "The episode is over." if bool(state.over) else "The last point:"
    return " ".join([over, *reasons])


def _team(game: Volleyball, team: int) -> list[str]:
    n = game.team_size
    return list(game.agents[team * n : (team + 1) * n])


# ---- rules ---------------------------------------------------------------------------------------


def rules(game: Volleyball, agent: int) -> str:
    """The rule book of one agent."""
    plan, you = game.plan, game.agents[agent]
    length, width = plan.court
    team = int(game.setup.team[agent])
    lines = [f"DRONE VOLLEYBALL: {plan.title.upper()}"]
    if game.versus:
        lines.append(
            f"You are {you} of the {TEAMS[team]} team ({', '.join(_team(game, team))}). The other "
            f"team is {', '.join(_team(game, 1 - team))}."
        )
    else:
        lines.append(f"You are {you}; the drones are {', '.join(game.agents)}.")
    lines += [
        "Each drone is a quadrotor of 1.5 kg with a round racket of 0.2 m radius on its top. A "
        f"step lasts {STEP:g} s; every drone acts in every step.",
        "",
        "THE COURT",
        f"{length:g} m long, {width:g} m wide. The net stands across its middle, {NET:g} m high. "
        "Numbers are in metres, m/s and rad/s, in your own frame: x is the distance from the net, "
        "positive in your half; z is the height. Facing the net from your half, y grows to the "
        'right. "Near" is your half, "far" the other one. Your nose at first points away from '
        "the net.",
        "",
        "AIM",
        *_aim(game),
        "",
        "FAULTS",
        *_fault_rules(game),
        "",
        "REWARDS",
        _rewards(game),
        "",
        "HOW TO ANSWER",
        *_how_to_answer(game),
    ]
    return "\n".join(lines)


def _aim(game: Volleyball) -> list[str]:
    plan, task = game.plan, game.task
    if game.versus:
        lines = [
            f"The ball starts at rest {plan.ball:g} m above the server, who must touch it first. "
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
            lines.append(
                f"The match goes to {game.points} points with a lead of {game.lead}. Who wins a "
                "point serves next; a team that gains the serve rotates by one place. The teams "
                f"change sides when one first has {-(-game.points // 2)} points. A point longer "
                f"than {game.point_steps * STEP:g} s is replayed."
            )
        else:
            lines.append(f"A point longer than {game.point_steps * STEP:g} s is a draw.")
        return lines
    ends = ends_of(game.setup)
    texts = {
        "back_and_forth": (
            f"Fly between {_metres(ends[1])} and {_metres(ends[0])}: stay within 0.6 m of the "
            "target for 5 steps, then the other end is the target."
        ),
        "hit": (
            "Touch the ball once, so that it flies as far over the net as it can: what counts is "
            "how far from your place it is when it falls below 2 m."
        ),
        "solo_bump": (
            "Bump the ball up with your racket again and again, to a mean height of more than "
            "3.5 m."
        ),
        "bump_and_pass": (
            "Bump the ball to each other in turn, drone_0 first, across y = 0 above 4 m."
        ),
        "set_and_spike": (
            "drone_0 sets the ball, drone_1 spikes it down over the net to within 1 m of "
            f"{_metres(plan.target)}."
        ),
        "set_and_spike_hard": (
            "drone_0 sets the ball, drone_1 spikes it over the net so that it lands in the far "
            f"half. There a board of {BOARD[0]:g} m radius runs after it, at most 8 m/s, and bats "
            "it back if it gets there."
        ),
    }
    lines = [texts[task]]
    if task != "back_and_forth":
        lines.append(f"The ball starts at rest {plan.ball:g} m above {game.agents[plan.server]}.")
    return lines


def _fault_rules(game: Volleyball) -> list[str]:
    length, width = game.plan.court
    published = game.rulebook == "volleybots"
    touch = "touching the ball, though it is another drone's turn"
    if game.versus and game.team_size > 1:
        touch = (
            "touching the ball in the other half, or twice while it is in yours, or before the "
            "server has"
        )
    lost = ", which ends the point without a winner" if published else ""
    solo = len(game.agents) == 1
    texts = {
        "wrong_turn": touch,
        "double": f"touching the ball twice within {PAUSE * STEP:g} s",
        "body": "touching the ball with something else than the racket",
        "crossed": "a drone beyond the plane of the net (x < 0)",
        "own_floor": f"the ball, lower than {LANDED:g} m, in the own half",
        "out": f"the ball outside the court of {length:g} m x {width:g} m"
        + (f" and lower than {LANDED:g} m" if game.versus and game.team_size > 1 else "")
        + (": a fault of the team that touched it last" if game.versus else ""),
        "net": "the ball in the net"
        + (", or within 0.3 m of it below its top" if published else "")
        + (": a fault of the team that touched it last" if game.versus else ""),
        "crash": f"a drone lower than {CRASHED:g} m{lost}",
        "close": f"two drones of a team closer than {CLOSE:g} m{lost}",
        "ball_low": "the ball lower than 0.15 m",
        "ball_high": f"the ball higher than {4.5 if game.task == 'solo_bump' else 16:g} m",
        "drone_low": "a drone lower than 0.4 m",
        "drone_high": f"a drone higher than {5 if game.task == 'back_and_forth' else 2.5:g} m",
        "drone_net": "a drone in the net, or within 0.01 m of its plane above it",
        "far_away": "more than 7.5 m from the target",
    }
    ends = "Each of these ends the point:" if game.versus else "Each of these ends the drill:"
    heads = [ends] if not solo else ["Each of these ends the drill:"]
    return [*heads, *(f"- {texts[name]}." for name in game.faults)]


def _rewards(game: Volleyball) -> str:
    """The terms that count, as a sentence."""
    words = {
        "win": "for winning the point, as much lost for losing it",
        "hit": "for a legal touch",
        "approach": "at most, each step, for being near the ball while you may touch it",
        "position": "lost each step in a bad place",
        "anchor": "at most, each step, about your distance from your place",
        "ground": "lost for each step of a drone that has crashed",
        "close": "lost for team-mates too close to each other",
        "mistake": "lost for a fault",
        "stay": "a step in a row at the target",
        "distance": "a metre that the ball flew",
        "high": "for a high touch",
        "lift": "a metre that the ball is above you, up to two, each step",
        "crossing": "for the ball across the middle above 4 m",
        "aim": "at most for a touch in the right direction",
        "spike": "for a downward spike",
        "cross": "for the ball over the net",
        "on_target": "for a ball that lands on target",
        "power": "a m/s of the spike's downward speed",
        "placing": "a metre that the ball lands nearer than 10 m to the target",
    }
    words["approach"] = (
        "at most, each step, for being near the target"
        if game.task == "back_and_forth"
        else words["approach"]
    )
    parts = [f"{w:g} {words[n]}" for n, w in game.reward_weights.items() if w]
    return f"{'; '.join(parts)}."


# ---- choices and answers -------------------------------------------------------------------------

_NUMBERS = {
    "rotors": "the thrust of each rotor (front right, back left, front left, back right): -1 is "
    "none, 1 is all of it",
    "ctbr": f"the rates about your x, y and z axes (1 is {MAX_RATE:.2f} rad/s: x tips to the "
    "right, y the nose down, z turns to the left) and the collective thrust (-1 is none, 1 all of "
    "it)",
    "velocity": f"the velocity along x, y and z in your frame (1 is {MAX_VELOCITY:g} m/s) and the "
    f"rate of turning to the left (1 is {MAX_YAW_RATE:g} rad/s)",
}


def commands(game: Volleyball) -> dict[str, np.ndarray]:
    """Named actions, f32[4] each; those of rotors and rates are about the drone's own axes."""
    if game.actions == "velocity":
        moves: dict[str, Any] = {
            "hold": (0, 0, 0, 0),
            "to the net": (-0.4, 0, 0, 0),
            "from the net": (0.4, 0, 0, 0),
            "left": (0, -0.4, 0, 0),
            "right": (0, 0.4, 0, 0),
            "up": (0, 0, 0.4, 0),
            "down": (0, 0, -0.4, 0),
            "turn left": (0, 0, 0, 0.5),
            "turn right": (0, 0, 0, -0.5),
        }
        return {name: np.asarray(move, np.float32) for name, move in moves.items()}

    # About the axes x (right down), y (nose down) and z (to the left), and along z.
    if game.actions == "ctbr":
        hover = np.array([0, 0, 0, 2 * game.trim.mean() - 1])
        axes = 0.25 * np.eye(4)
    else:
        hover = 2 * game.trim[0] - 1
        rotors, spin = np.asarray(game.params.rotors), np.asarray(game.params.spin)
        axes = np.stack([np.sign(rotors[:, 1]), -np.sign(rotors[:, 0]), spin, np.ones(4)])
        axes = axes * np.array([[0.05], [0.05], [0.2], [0.15]])
    x, y, z, along = axes
    moves = {
        "hover": hover,
        "climb": hover + along,
        "sink": hover - along,
        "nose down": hover + y,
        "nose up": hover - y,
        "bank right": hover + x,
        "bank left": hover - x,
        "turn left": hover + z,
        "turn right": hover - z,
    }
    return {name: np.clip(move, -1, 1).round(3).astype(np.float32) for name, move in moves.items()}


def choices(game: Volleyball, state: VolleyballState, agent: int) -> list[str]:
    """Named actions; any four numbers within the space are as legal."""
    if bool(state.over) or int(state.time) >= game.max_steps:
        return []
    return list(commands(game))


def _how_to_answer(game: Volleyball) -> list[str]:
    named = ", ".join(f'"{name}"' for name in commands(game))
    return [
        f"Four numbers from -1 to 1: {_NUMBERS[game.actions]}; for example "
        '"ACTION: 0.1, -0.2, 0, 0.3". Or one of these, which stand for such numbers:',
        f"{named}.",
        how_to_answer(next(iter(commands(game)))),
    ]


# What the four numbers may be called.
_LABELS = {
    "rotors": ("front right", "back left", "front left", "back right"),
    "ctbr": ("x|roll|roll rate", "y|pitch|pitch rate", "z|yaw|yaw rate", "thrust"),
    "velocity": ("x|vx", "y|vy", "z|vz", "yaw|yaw rate|turn|turning"),
}
_GO = "(go|move|fly|run|drift|head|shift|slide|travel)"
_SOME = "[(a little|a bit|slightly|slowly|gently|some|a little bit|straight|directly|back)]"
_WARD = "[to|toward] [my] {side} [side]"
_TURN = "(turn|rotate|yaw|spin|swivel)"
_STILL = (
    "(hold|hover|stay|wait|stop|freeze|remain|float|keep hovering|hang) [(here|still|steady|put|in "
    "place|in [the] air|on [the] spot|where i am|there|in position|in my place)]"
)
_HEIGHT = "(height|altitude)"
_PHRASES = {
    "still": [_STILL, f"(hold|keep|maintain) [(my|this|current)] (position|{_HEIGHT}|place|spot)",
              "(stand|keep) still", "do nothing", "no op", "stay as i am"],
    "up": [f"{_GO} {_SOME} (up|upward|higher) {_SOME}",
           f"(climb|rise|ascend) [straight] [up|higher] {_SOME}",
           f"gain [some] {_HEIGHT}", "lift up"],
    "down": [f"{_GO} {_SOME} (down|downward|lower) {_SOME}",
             f"(sink|descend) [straight] [down|lower] {_SOME}",
             f"lose [some] {_HEIGHT}", "drop down"],
    "to the net": [f"[{_GO}|get|come|step] {_SOME} (to|toward|up to|closer to|nearer to|near) net",
                   "(approach|advance on) net", "(advance|close in|close) (to|toward|on) net"],
    "from the net": [f"[{_GO}|get|come|step] {_SOME} (from|away from|back from|off) net",
                     "(retreat|back off|back away|back up|withdraw) from net"],
    "side": [f"({_GO}|strafe|step|sidestep|dodge) {_SOME} {_WARD} {_SOME}"],
    "bare": [f"{_SOME} {_WARD} {_SOME}", f"{_SOME} {{height}} {_SOME}"],
    "turn": [f"{_TURN} {_SOME} {_WARD} {_SOME}", f"{_TURN} {_SOME} {{around}}"],
    "bank": [f"(bank|roll|lean|tilt|tip) {_SOME} [over] {_WARD} {_SOME}"],
    "nose down": ["[(put|push|tip|pitch|point|tilt|dip|drop|bring|lower)] [my] nose down "
                  f"{_SOME}",
                  "(push|tip|pitch|point|tilt|dip|drop|lower|put) [down] [my] nose", "pitch down"],
    "nose up": ["[(put|pull|tip|pitch|point|tilt|bring|lift|raise)] [my] nose up "
                f"{_SOME}",
                "(pull up|lift|raise|lift up) [my] nose", "pitch up"],
    "four": [f"[(fly|go|move)] [set] [my] [(with|at|use|apply|send|output|command|give)] [my] "
             f"[(control|command|number|value|{{space}})] [(at|to|of|with|=|is|are)] "
             f"{figures.LIST}",
             f"[(give|send|apply|use)] {figures.LIST} (for|to|as) [my] {{space}}"],
}  # fmt: skip
_WORDS = Grammar(
    _PHRASES,
    {
        "side": {"left": "left", "leftward": "left", "right": "right", "rightward": "right"},
        "around": {"counterclockwise": "left", "counter clockwise": "left", "anticlockwise": "left",
                   "anti clockwise": "left", "clockwise": "right"},
        "height": {"up": "up", "upward": "up", "higher": "up",
                   "down": "down", "downward": "down", "lower": "down"},
        "space": {"rotor": "rotors", "motor": "rotors", "thrust": "rotors", "propeller": "rotors",
                  "rotor thrust": "rotors", "rotor command": "rotors", "motor command": "rotors",
                  "rate": "ctbr", "body rate": "ctbr", "rate and thrust": "ctbr",
                  "velocity": "velocity", "speed": "velocity", "velocity command": "velocity"},
    },
)  # fmt: skip


def parse(game: Volleyball, text: Any, state: VolleyballState, agent: int) -> np.ndarray:
    """The action that an answer names, f32[4]; `IllegalAction` if it names none, or more than one,
    or numbers out of bounds."""
    if not choices(game, state, agent):
        raise IllegalAction("The episode is over; there is nothing to answer.")
    table, words = commands(game), ""

    def refuse(reason: str) -> IllegalAction:
        return IllegalAction(
            f"{reason}. Answer with four numbers from -1 to 1, or with "
            f"{names_of(closest(words, table, len(table)))}."
        )

    def mean(answer: Answer) -> np.ndarray | None:
        nonlocal words
        words = answer.plain
        sentence, numbers = figures.split(answer.raw, _LABELS[game.actions])
        sentence = sentence.strip(WRAPPING)
        named = {_command(game, reading, sentence) for reading in _WORDS.read(sentence)} - {""}
        if named == {"four"} and numbers is not None:
            return _four(numbers, refuse)
        known = [name for name in named if name in table]
        if named and not known:
            raise refuse(f"{quoted(answer.text)} is none of the commands here")
        return table[known[0]] if len(named) == 1 else None

    found: np.ndarray = decide(text, mean, refuse)
    return found


# "I'm down" and "I left" are no commands, "I'm going down" and "I choose left" are.
_OWN = frozenset(("i", "we", "i'm", "we're", "i've", "we've", "now"))
_CHOOSE = frozenset(("choose", "pick", "select", "choosing", "picking"))


def _command(game: Volleyball, reading: Reading, sentence: str) -> str:
    """What a reading is called in `commands`, or would be elsewhere; empty if it is nothing."""
    meaning, values = reading
    side = next((values[slot] for slot in ("side", "around", "height") if slot in values), "")
    if meaning == "four" and values.get("space", game.actions) != game.actions:
        return str(values["space"])
    if meaning == "bare":
        said = frozenset(tokens(sentence))
        if said & _OWN and not said & _CHOOSE:
            return ""
        meaning = side
    velocity = game.actions == "velocity"
    if meaning in ("turn", "bank"):
        return f"{meaning} {side}"
    still, up, down = ("hold", "up", "down") if velocity else ("hover", "climb", "sink")
    return {"side": side, "still": still, "up": up, "down": down}.get(meaning, meaning)


def _four(numbers: list[float], refuse: Any) -> np.ndarray:
    if len(numbers) != 4:
        count = len(numbers)
        raise refuse(f"{count} number{'s' * (count != 1)} given, four are needed")
    outside = [number for number in numbers if not -1 <= number <= 1]
    if outside:
        raise refuse(f"{outside[0]:g} is not within -1 and 1")
    return np.asarray(numbers, np.float32)
