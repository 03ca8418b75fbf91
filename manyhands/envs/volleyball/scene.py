"""What a picture of volleyball shows: everything that `draw.py` paints, taken from a state.

Coordinates are metres in the court's frame: x along the court with the net at x = 0, z up. A scene
that the far team watches is turned by half a circle about z first, so that the side that watches is
always at x > 0 and looks towards -x.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from manyhands.core.env import ConfigError, names_of
from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.model import AIRFRAMES
from manyhands.envs.volleyball.referee import allowed
from manyhands.envs.volleyball.state import CAMERAS, STEP, TEAMS, VolleyballState

# What is shown of the court where little of it matters: x nearest, x farthest, y; m.
_REGIONS = {
    "solo_bump": (7.5, 1.5, 2.8),
    "back_and_forth": (11.0, 1.5, 5.8),
    "hit": (7.0, -9.0, 4.5),
    "bump_and_pass": (8.0, 1.0, 4.5),
    "set_and_spike": (5.5, -8.0, 4.5),
    "set_and_spike_hard": (5.5, -8.0, 4.5),
}


@dataclasses.dataclass(frozen=True)
class Frame:
    """The shape of a drone and of the ball, in metres, as the model has them.

    Attributes:
        rotors: f64[4, 3], their places in the body's frame. rotor: radius of a rotor's disk.
        racket, racket_height: radius of the racket, and its middle above the body's.
        hull, hull_height: radius of the body, and its middle above the drone's.
        ball: radius of the ball. drag: its deceleration is `drag` times its speed squared, 1/m.
        gravity: m/s², downwards.
    """

    rotors: np.ndarray
    racket: float
    racket_height: float
    hull: float
    hull_height: float
    ball: float
    drag: float = 0.0
    gravity: float = 9.81
    rotor: float = 0.12


@dataclasses.dataclass(frozen=True)
class Scene:
    """Everything that a picture shows.

    Attributes:
        length, width, net: of the court, and the height of the net, in metres.
        frame: the shape of things.
        position, axes, thrust: f64[D, 3], f64[D, 3, 3] (columns: the body's axes), f64[D, 4] from
            0 to 1.
        ball, ball_velocity: f64[3] each.
        names, sides: of the drones; a side is 0 (near) or 1 (far).
        since: s since anything touched the ball: so much of its path is known to be free flight.
        playing: drones that may touch the ball now.
        own: the drone whose picture this is, or None.
        labels: what each drone is doing, in words, or "".
        watched: the side that plays in x > 0, behind which the picture is taken.
        title: what is played. status: a line on what goes on.
        score: points of near and far, or None where nobody counts them.
        serving: the side that served, or None.
        region: (x nearest, x farthest, y) of the part of the court that is shown, from the side
            that watches; None: all of it.
        camera: one of `CAMERAS`.
        marks: places to be, or to aim at. board: middle and normal of the returner's board.
    """

    length: float
    width: float
    net: float
    frame: Frame
    position: np.ndarray
    axes: np.ndarray
    thrust: np.ndarray
    ball: np.ndarray
    ball_velocity: np.ndarray
    names: Sequence[str]
    sides: Sequence[int]
    since: float = 0.0
    playing: Sequence[int] = ()
    own: int | None = None
    labels: Sequence[str] = ()
    watched: int = 0
    title: str = ""
    status: str = ""
    score: tuple[int, int] | None = None
    serving: int | None = None
    region: tuple[float, float, float] | None = None
    marks: Sequence[tuple[float, float, float]] = ()
    board: tuple[np.ndarray, np.ndarray] | None = None
    camera: str = CAMERAS[0]

    def turned(self) -> Scene:
        """The scene as the far side sees it."""
        turn = np.array([-1.0, -1.0, 1.0])
        return dataclasses.replace(
            self,
            position=self.position * turn,
            axes=self.axes * turn[:, None],
            ball=self.ball * turn,
            ball_velocity=self.ball_velocity * turn,
            watched=1 - self.watched,
        )

    def path(self, seconds: float, *, past: bool = False) -> tuple[np.ndarray, str]:
        """Where the ball flies freely: f64[T, 3] from where it is now, `STEP` apart, for at most
        so many seconds; and what ends it: "floor", "net" or "". With `past` where it came from."""
        sign, f = (-1.0 if past else 1.0), self.frame
        (x, y, z), (vx, vy, vz) = self.ball.tolist(), (sign * self.ball_velocity).tolist()
        points, end = [(x, y, z)], ""
        for _ in range(round(seconds / STEP)):
            # The middle of the step's velocity, which is exact without drag.
            slow = sign * f.drag * math.sqrt(vx * vx + vy * vy + vz * vz) * STEP
            wx, wy, wz = vx - slow * vx, vy - slow * vy, vz - slow * vz - f.gravity * STEP
            before = x
            x, y, z = (
                x + (vx + wx) / 2 * STEP,
                y + (vy + wy) / 2 * STEP,
                z + (vz + wz) / 2 * STEP,
            )
            vx, vy, vz = wx, wy, wz
            points.append((x, y, z))
            if z <= f.ball:
                end = "floor"
            elif (before > 0) != (x > 0) and z < self.net and abs(y) < self.width / 2:
                end = "net"
            if end:
                break
        return np.array(points), end


# ---- from a state --------------------------------------------------------------------------------


def scene_of(
    env: Volleyball,
    state: VolleyballState,
    agent: int | None = None,
    labels: Sequence[str] = (),
    camera: str = "",
) -> Scene:
    """What there is to see of a state, from one of `CAMERAS`, the first if none is named."""
    if camera and camera not in CAMERAS:
        raise ConfigError(f"camera is {names_of(CAMERAS)}, given {camera!r}")
    bodies, plan, n = state.bodies, env.plan, env.team_size
    params = env.params if isinstance(state.params, tuple) else state.params
    rotors = np.asarray(params.rotors, np.float64)
    racket, hull = np.asarray(params.racket), np.asarray(params.hull)
    air = 0.0 if params.ball_drag is None else float(params.ball_drag) / float(params.ball_mass)
    frame = Frame(
        rotors=np.concatenate([rotors, np.zeros((len(rotors), 1))], axis=1),
        racket=float(racket[0]),
        racket_height=float(racket[2]),
        hull=float(hull[0]),
        hull_height=float(hull[1]),
        ball=float(params.ball_radius),
        drag=air,
        gravity=float(params.gravity),
        rotor=AIRFRAMES[env.airframe].propeller,
    )
    count = env.num_agents
    swapped = env.points > 1 and bool(state.match.swapped)
    free = min(int(np.min(np.asarray(state.since))), int(state.clock)) * STEP
    playing = np.flatnonzero(np.asarray(allowed(env.setup, state)))
    scene = Scene(
        length=plan.court[0],
        width=plan.court[1],
        net=float(params.net[0, 2] + params.net[1, 2]),
        frame=frame,
        position=np.asarray(bodies.position, np.float64),
        axes=_rotations(np.asarray(bodies.quaternion, np.float64)),
        thrust=np.asarray(bodies.thrust, np.float64),
        ball=np.asarray(bodies.ball, np.float64),
        ball_velocity=np.asarray(bodies.ball_velocity, np.float64),
        names=env.agents,
        sides=[i // n for i in range(count)],
        since=free,
        playing=[] if bool(state.over) else playing.tolist(),
        own=agent,
        labels=labels,
        watched=int(swapped),
        title=f"{plan.title}, {float(state.time) * STEP:.1f} s",
        status=_status(env, state),
        score=tuple(np.asarray(state.score).tolist()) if env.versus else None,
        serving=int(state.server) // n if env.versus else None,
        region=_REGIONS.get(env.task),
        marks=_marks(env, state),
        board=_board(env, state),
        camera=camera or CAMERAS[0],
    )
    far = agent is not None and env.versus and (agent // n == 1) != swapped
    return scene.turned() if far else scene


def _rotations(q: np.ndarray) -> np.ndarray:
    """f64[D, 3, 3]: rotation matrices of quaternions f64[D, 4] (w, x, y, z)."""
    w, x, y, z = q.T
    return np.moveaxis(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        ),
        2,
        0,
    )


def _status(env: Volleyball, state: VolleyballState) -> str:
    """A line on what goes on."""
    table = np.asarray(state.faults)
    words = [
        f"{TEAMS[team]}: {name.replace('_', ' ')}" if env.versus else name
        for name, row in zip(env.faults, table, strict=True)
        for team in np.flatnonzero(row)
    ]
    if bool(state.over) or (words and int(state.clock) < 25):
        return "point over · " + ", ".join(words) if words else "over"
    hits = int(state.hits)
    if not env.versus:
        return f"{hits} hit{'' if hits == 1 else 's'}" if env.task != "back_and_forth" else ""
    if not bool(state.served):
        return f"{env.agents[int(state.server)]} to serve"
    turn = TEAMS[int(state.turn)]
    return f"{turn} to play · last touch {env.agents[int(state.last)]} · hit {hits}"


def _marks(env: Volleyball, state: VolleyballState) -> tuple[tuple[float, float, float], ...]:
    """What a drill aims at."""
    if env.task == "back_and_forth":
        x, y, z = np.asarray(state.drill.target, np.float64).tolist()
        return ((x, y, z),)
    return (env.plan.target,) if env.task.startswith("set_and_spike") else ()


def _board(env: Volleyball, state: VolleyballState) -> tuple[np.ndarray, np.ndarray] | None:
    """Middle and normal of the scripted returner's board."""
    if env.task != "set_and_spike_hard":
        return None
    return np.asarray(state.drill.board, np.float64), np.asarray(state.drill.tilt, np.float64)
