"""The faults and the rewards of a task, as its rule book tells them."""

from __future__ import annotations

from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.state import CLOSE, CRASHED, LANDED, PAUSE, STEP


def fault_rules(game: Volleyball) -> list[str]:
    """What ends a point or a drill."""
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
        "ball_low": "the ball lower than 0.15 m"
        + (
            ", but where it lands in the far half after the spike"
            if game.task.startswith("set_and_spike")
            else ""
        ),
        "ball_high": f"the ball higher than {4.5 if game.task == 'solo_bump' else 16:g} m",
        "drone_low": "a drone lower than 0.4 m",
        "drone_high": f"a drone higher than {5 if game.task == 'back_and_forth' else 2.5:g} m",
        "drone_net": "a drone in the net, or within 0.01 m of its plane above it",
        "far_away": "more than 7.5 m from the target",
    }
    ends = "Each of these ends the point:" if game.versus else "Each of these ends the drill:"
    heads = [ends] if not solo else ["Each of these ends the drill:"]
    return [*heads, *(f"- {texts[name]}." for name in game.faults)]


def rewards(game: Volleyball) -> str:
    """The terms that count, as a sentence."""
    middle = ", y = 0" if game.rulebook == "volleybots" else ""
    words = {
        "win": "for winning the point, as much lost for losing it",
        "hit": "for a legal touch",
        "approach": "at most, each step, for being near the ball while you may touch it",
        "position": "lost each step in which you are nearer than 0.5 m to the net's plane, the "
        f"back line{middle} or a side line, or more than 1 m above or below your place",
        "anchor": "at most, each step, and less the farther you are from your place",
        "ground": "lost for each step of a drone that has crashed",
        "close": "lost for team-mates too close to each other",
        "mistake": "lost for a fault",
        "stay": "a step in a row at the target",
        "distance": "a metre that the ball flew",
        "high": "for a touch that counts as high",
        "lift": "a metre that the ball is above you, up to two, each step",
        "crossing": "for the ball across the middle above 4 m",
        "aim": "at most for a touch in the right direction",
        "spike": "for a downward spike",
        "cross": "for the ball over the net",
        "on_target": "for a ball that lands on target",
        "power": "a m/s that the ball rises more slowly than 5 m/s after the spike, or sinks",
        "placing": "a metre that the ball lands nearer than 10 m to the target",
    }
    words |= {
        "back_and_forth": {"approach": "at most, each step, for being near the target"},
        "hit": {"anchor": "lost each step in which you are more than 1 m off your place"},
        "bump_and_pass": {
            "anchor": "lost each step for each metre beyond 0.5 m that the two of you are off your "
            "places, in the mean",
            "approach": "at most, each step, for being near the ball if the next touch is yours, "
            "as much lost if it is not",
        },
        "set_and_spike_hard": {
            "on_target": "for a ball that lands in the far half, and is not batted back"
        },
    }.get(game.task, {})
    parts = [f"{w:g} {words[n]}" for n, w in game.reward_weights.items() if w]
    shared = ""
    if not game.versus and len(game.agents) > 1:
        shared = " Both of you get all of this, except for being near the ball."
    return f"{'; '.join(parts)}.{shared}"
