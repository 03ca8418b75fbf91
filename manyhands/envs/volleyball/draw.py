"""Pictures of drone volleyball, painted with pygame's shapes: no image files, no OpenGL.

The court is seen in perspective from behind and above one team, and in a small panel from the side.
Everything that moves is projected from its pose, painted twice too large and scaled down, which
smooths its edges; the court, which does not move, is kept. `render_mujoco` shows the same state
through MuJoCo's own renderer, where there is OpenGL.

Coordinates are metres in the court's frame: x along the court with the net at x = 0, z up. A scene
that is watched by the far team is turned by half a circle about z first, so that whoever watches is
at x > 0 and looks towards -x.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pygame

from manyhands.core.env import ConfigError, RenderError
from manyhands.core.render import Colour, wrap, write
from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.referee import allowed
from manyhands.envs.volleyball.state import STEP, VolleyballState

BACKGROUND: Colour = (30, 34, 50)
INK: Colour = (30, 33, 46)
PAPER: Colour = (246, 243, 236)
FADED: Colour = (158, 164, 184)
# Near and far: blue and orange, the pair that most colour-blind people tell apart best.
TEAMS: tuple[Colour, Colour] = ((58, 124, 214), (238, 130, 38))
_WALL, _WALL_FOOT = (38, 43, 62), (66, 74, 100)
_FLOOR, _FLOOR_FRONT = (58, 96, 108), (74, 120, 130)
_COURT, _COURT_STRIPE, _LINE = (226, 208, 178), (219, 199, 167), (252, 252, 250)
_BALL, _BALL_DARK, _BALL_PANEL = (252, 218, 84), (206, 164, 40), (64, 104, 190)
_CARBON, _CARBON_LIGHT = (44, 48, 60), (92, 100, 120)
_GOOD, _BAD, _TARGET = (60, 176, 100), (226, 72, 64), (222, 92, 150)

_SHARPNESS = 2  # how many times larger everything that moves is painted
_STEP = 0.02  # s between the points of a ball's path
_TRAIL = 0.6  # s of the ball's past that are shown
_CEILING = 4.6  # m above the floor that are in the picture
# What is shown of the court where little of it matters: x nearest, x farthest, y; m.
_REGIONS = {
    "solo_bump": (7.5, 1.5, 2.8),
    "back_and_forth": (11.0, 1.5, 5.8),
    "hit": (7.0, -9.0, 4.5),
    "bump_and_pass": (8.0, 1.0, 4.5),
    "set_and_spike": (5.5, -8.0, 4.5),
    "set_and_spike_hard": (5.5, -8.0, 4.5),
}


# ---- the picture ---------------------------------------------------------------------------------


def draw(
    env: Volleyball,
    state: VolleyballState,
    canvas: pygame.Surface,
    agent: int | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Paint the state on a surface of any size: for an agent from behind its own side, and marked.

    Args:
        labels: what each drone is doing, in words, to be written at the drones.
    """
    paint(scene_of(env, state, agent, labels), canvas)


def bubbles(
    env: Volleyball,
    state: VolleyballState,
    canvas: pygame.Surface,
    texts: Mapping[int, str],
    agent: int | None = None,
) -> None:
    """Paint what drones say over a picture that `draw` made on this canvas, each text in a bubble
    at its drone."""
    speak(scene_of(env, state, agent), canvas, texts)


def render_mujoco(
    env: Volleyball,
    state: VolleyballState,
    size: tuple[int, int] = (640, 480),
    camera: str | Any = "behind",
) -> np.ndarray:
    """The state through MuJoCo's own renderer, on the model that the physics came from:
    u8[height, width, 3].

    It needs OpenGL: a display, or MUJOCO_GL=egl (a GPU) or MUJOCO_GL=osmesa (software) in the
    environment before MuJoCo is first imported. `draw` needs none.

    Args:
        size: width and height in pixels.
        camera: "behind" or "side", or a `mujoco.MjvCamera`.

    Raises:
        ConfigError: there is no such camera.
        RenderError: there is no OpenGL here.
    """
    if isinstance(camera, str) and camera not in _CAMERAS:
        raise ConfigError(f"camera is {' or '.join(_CAMERAS)}, given {camera!r}")
    try:
        return _through_mujoco(env, state, size, camera)
    except Exception as error:  # of many kinds: each of the platform libraries has its own
        raise RenderError(
            "MuJoCo cannot draw here, for want of OpenGL: set MUJOCO_GL=egl (with a GPU, or Mesa) "
            "or MUJOCO_GL=osmesa (software) before Python starts, or use render(), which needs "
            f"neither; MUJOCO_GL is {os.environ.get('MUJOCO_GL', 'not set')!r}, and the error was "
            f"{type(error).__name__}: {error}"
        ) from error


def _through_mujoco(
    env: Volleyball, state: VolleyballState, size: tuple[int, int], camera: Any
) -> np.ndarray:
    import mujoco  # fails where its platform library is missing

    from manyhands.envs.volleyball import model

    if isinstance(camera, str):
        length, width = env.plan.court
        view = mujoco.MjvCamera()
        view.azimuth, view.elevation = _CAMERAS[camera]
        view.distance = 0.75 * length + 0.9 * width + 1.0
        view.lookat[:] = (0.0, 0.0, 1.2)
        camera = view
    # Pictures are at most as large as the model says; others use that one, too.
    loaded = copy.copy(model.load_model(env.plan.model, ball=env.ball))
    loaded.vis.global_.offwidth = max(loaded.vis.global_.offwidth, size[0])
    loaded.vis.global_.offheight = max(loaded.vis.global_.offheight, size[1])
    data, bodies = mujoco.MjData(loaded), state.bodies
    position, quaternion = np.asarray(bodies.position), np.asarray(bodies.quaternion)
    for i in range(env.num_agents):
        data.joint(f"drone{i}").qpos[:] = [*position[i], *quaternion[i]]
    data.joint("ball").qpos[:3] = np.asarray(bodies.ball)
    mujoco.mj_forward(loaded, data)
    with mujoco.Renderer(loaded, height=size[1], width=size[0]) as renderer:
        renderer.update_scene(data, camera)
        return np.asarray(renderer.render())


_CAMERAS = {"behind": (180.0, -22.0), "side": (90.0, -12.0)}  # degrees: azimuth, elevation


def scene_of(
    env: Volleyball,
    state: VolleyballState,
    agent: int | None = None,
    labels: Sequence[str] = (),
) -> Scene:
    """What there is to see of a state."""
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
        axes=_axes_of(np.asarray(bodies.quaternion, np.float64)),
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
    )
    far = agent is not None and env.versus and (agent // n == 1) != swapped
    return scene.turned() if far else scene


def _axes_of(q: np.ndarray) -> np.ndarray:
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
        f"{('near', 'far')[team]}: {name.replace('_', ' ')}" if env.versus else name
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
    turn = ("near", "far")[int(state.turn)]
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


# ---- what is painted -----------------------------------------------------------------------------


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
        """Where the ball flies freely: f64[T, 3] from where it is now, `_STEP` apart, for at most
        so many seconds; and what ends it: "floor", "net" or "". With `past` where it came from."""
        sign, f = (-1.0 if past else 1.0), self.frame
        (x, y, z), (vx, vy, vz) = self.ball.tolist(), (sign * self.ball_velocity).tolist()
        points, end = [(x, y, z)], ""
        for _ in range(round(seconds / _STEP)):
            # The middle of the step's velocity, which is exact without drag.
            slow = sign * f.drag * math.sqrt(vx * vx + vy * vy + vz * vz) * _STEP
            wx, wy, wz = vx - slow * vx, vy - slow * vy, vz - slow * vz - f.gravity * _STEP
            before = x
            x, y, z = (
                x + (vx + wx) / 2 * _STEP,
                y + (vy + wy) / 2 * _STEP,
                z + (vz + wz) / 2 * _STEP,
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


def paint(scene: Scene, canvas: pygame.Surface) -> None:
    """Paint a scene on the whole of a surface of any size."""
    view = _View(scene, canvas.get_size())
    large = pygame.Surface((view.width * _SHARPNESS, view.height * _SHARPNESS))
    large.blit(_court(view.key), (0, 0))
    pen = _Pen(large, view.camera)
    ahead, end = scene.path(4.0)
    _shadows(scene, pen)
    _landing(scene, pen, ahead, end)
    _targets(scene, pen)
    # Far things first; the net where it stands.
    order = sorted(range(len(scene.names)), key=lambda i: scene.position[i, 0])
    behind = [i for i in order if scene.position[i, 0] < 0]
    for i in behind:
        _drone(scene, pen, i)
    if scene.ball[0] < 0:
        _ball(scene, pen, ahead)
    large.blit(*_net(view.key))
    front = [i for i in order if scene.position[i, 0] >= 0]
    for i in front:
        if scene.ball[0] >= 0 and scene.position[i, 0] > scene.ball[0]:
            break
        _drone(scene, pen, i)
    if scene.ball[0] >= 0:
        _ball(scene, pen, ahead)
    for i in front:
        if scene.ball[0] >= 0 and scene.position[i, 0] > scene.ball[0]:
            _drone(scene, pen, i)
    pygame.transform.smoothscale(large, (view.width, view.height), canvas)
    _names(scene, view, canvas)
    _beside(scene, view, canvas, ahead, end)
    _above(scene, view, canvas)
    _header(scene, view, canvas)


def speak(scene: Scene, canvas: pygame.Surface, texts: Mapping[int, str]) -> None:
    """Paint what drones say over a picture that `paint` made on this canvas, each text in a bubble
    at its drone."""
    view = _View(scene, canvas.get_size())
    size = max(11, min(18, view.height // 32))
    for i, text in sorted(texts.items()):
        if not text.strip():
            continue
        lines = wrap(text, size, round(max(120, view.width * 0.24)), limit=4)
        images = [write(line, size, INK) for line in lines]
        pad = size // 2
        box = pygame.Rect(0, 0, max(im.get_width() for im in images) + 2 * pad, 0)
        box.height = sum(im.get_height() for im in images) + pad
        x, y = view.place(scene.position[i] + [0, 0, 0.45])
        box.midbottom = (round(x), round(y) - pad)
        box.clamp_ip(canvas.get_rect().inflate(-4, -4))
        colour = TEAMS[scene.sides[i]]
        pygame.draw.polygon(
            canvas,
            colour,
            [(box.centerx - pad, box.bottom), (box.centerx + pad, box.bottom), (x, y)],
        )
        pygame.draw.rect(canvas, colour, box.inflate(4, 4), border_radius=pad + 2)
        pygame.draw.rect(canvas, PAPER, box, border_radius=pad)
        top = box.y + pad // 2
        for image in images:
            canvas.blit(image, (box.x + pad, top))
            top += image.get_height()


# ---- where everything goes -----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Key:
    """What the parts of a picture that do not move depend on."""

    size: tuple[int, int]
    header: int
    length: float
    width: float
    net: float
    watched: int
    region: tuple[float, float, float]


class _Camera:
    """A pinhole camera that shows some points as large as they fit into a rectangle."""

    def __init__(self, eye: Any, target: Any, points: Any, area: pygame.Rect):
        self.eye = np.asarray(eye, float)
        forward = np.asarray(target, float) - self.eye
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        self._axes = np.stack([right, -np.cross(right, forward), forward])  # x right, y down
        self._scale, self._middle = 1.0, np.zeros(2)
        flat = self(points)[0]
        low, high = flat.min(0), flat.max(0)
        self._scale = float(min(np.array(area.size) / (high - low)))
        self._middle = np.array(area.center) - self._scale * (low + high) / 2

    def __call__(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """f64[..., 2] pixels, and f64[...] pixels of a metre there."""
        seen = (np.asarray(points, float) - self.eye) @ self._axes.T
        depth = np.maximum(seen[..., 2], 0.3)
        size = self._scale / depth
        return self._middle + seen[..., :2] * size[..., None], size


def _camera(key: _Key, sharpness: int) -> _Camera:
    width, height = (sharpness * n for n in key.size)
    top = sharpness * key.header
    pad = sharpness * max(4, round(0.02 * key.size[1]))
    area = pygame.Rect(pad, top + pad, width - 2 * pad, height - top - 2 * pad)
    near, far, side = key.region
    span = near - far
    eye = (near + 0.22 * span + 2.6, 0.0, 3.6 + 0.16 * span)
    target = (near - 0.6 * span, 0.0, 1.2)
    corners = [(x, y, 0) for x in (near + 0.2, far) for y in (-side, side)]
    middle = max(far, min(near, 0.0) if far < 0 else (near + far) / 2)
    air = [(middle, y, _CEILING) for y in (-side / 2, side / 2)]
    return _Camera(eye, target, [*corners, *air], area)


class _View:
    """The canvas, its camera and its sizes."""

    def __init__(self, scene: Scene, size: tuple[int, int]):
        self.width, self.height = size
        header = round(max(24, min(self.height * 0.09, 56))) if min(size) >= 120 else 0
        whole = (scene.length / 2, -scene.length / 2, scene.width / 2)
        region = scene.region or whole
        self.key = _Key(size, header, scene.length, scene.width, scene.net, scene.watched, region)
        self.camera = _camera(self.key, _SHARPNESS)
        self.letters = max(10, min(16, self.height // 44))

    def place(self, point: Any) -> np.ndarray:
        """Pixels of a point on the canvas."""
        flat: np.ndarray = self.camera(point)[0] / _SHARPNESS
        return flat


class _Pen:
    """Shapes in space on a surface."""

    def __init__(self, surface: pygame.Surface, camera: _Camera):
        self.surface, self.camera = surface, camera

    def shape(self, colour: Any, points: Any) -> None:
        """A filled polygon; see-through where the colour has a fourth part."""
        flat = self.camera(points)[0]
        if len(colour) == 3:
            pygame.draw.polygon(self.surface, colour, flat)
            return
        low, high = np.floor(flat.min(0)).astype(int), np.ceil(flat.max(0)).astype(int) + 1
        box = pygame.Rect(low, high - low).clip(self.surface.get_rect())
        if box.width and box.height:
            glass = pygame.Surface(box.size, pygame.SRCALPHA)
            pygame.draw.polygon(glass, colour, flat - box.topleft)
            self.surface.blit(glass, box)

    def line(self, colour: Colour, a: Any, b: Any, width: float) -> None:
        """A rod `width` metres thick."""
        (p, q), sizes = self.camera(np.stack([a, b]))
        thick = max(1, round(width * float(sizes.mean())))
        pygame.draw.line(self.surface, colour, p, q, thick)

    def ring(self, colour: Any, points: Any, width: float) -> None:
        """A closed outline `width` metres thick."""
        flat, sizes = self.camera(points)
        thick = max(1, round(width * float(sizes.mean())))
        pygame.draw.lines(self.surface, colour, True, flat, thick)

    def dot(self, colour: Colour, point: Any, radius: float, least: float = 0.0) -> None:
        """A ball of that colour, of `radius` metres and at least so many pixels of the canvas."""
        place, size = self.camera(point)
        r = max(radius * float(size), least * _SHARPNESS)
        pygame.draw.circle(self.surface, colour, place, r)


def _circle(middle: Any, radius: float, axes: np.ndarray | None = None, n: int = 28) -> np.ndarray:
    """f64[n, 3]: a circle in the plane of the first two columns of `axes`, or on the floor."""
    turn = np.linspace(0, 2 * math.pi, n, endpoint=False)
    across = np.eye(3) if axes is None else axes
    flat = np.stack([np.cos(turn), np.sin(turn)]) * radius
    return np.asarray(middle) + flat.T @ across[:, :2].T


def _mixed(a: Colour, b: Colour, share: float) -> Colour:
    r, g, c = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return r, g, c


# ---- what does not move --------------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def _court(key: _Key) -> pygame.Surface:
    """The hall, the floor and the court, as large as things that move are painted."""
    width, height = (_SHARPNESS * n for n in key.size)
    camera = _camera(key, _SHARPNESS)
    surface = pygame.Surface((width, height))
    half, side = key.length / 2, key.width / 2
    foot = float(camera((-half - 0.6 * key.length, 0, 0))[0][1])
    for row in range(height):
        if row < foot:
            colour = _mixed(_WALL, _WALL_FOOT, (row / max(foot, 1)) ** 2)
        else:
            colour = _mixed(_FLOOR, _FLOOR_FRONT, (row - foot) / max(height - foot, 1))
        pygame.draw.line(surface, colour, (0, row), (width, row))
    pen = _Pen(surface, camera)
    # Boards along the court, in two shades.
    boards = max(6, round(key.width * 1.5))
    edges = np.linspace(-side, side, boards + 1)
    for k in range(boards):
        a, b = edges[k], edges[k + 1]
        corners = [(half, a, 0), (half, b, 0), (-half, b, 0), (-half, a, 0)]
        pen.shape(_COURT_STRIPE if k % 2 else _COURT, corners)
    # Each half has a breath of its team's colour.
    for team, (a, b) in enumerate([(0.0, half), (-half, 0.0)]):
        tint = TEAMS[team ^ key.watched]
        pen.shape((*tint, 26), [(a, -side, 0), (b, -side, 0), (b, side, 0), (a, side, 0)])

    def mark(a: tuple[float, float], b: tuple[float, float], thick: float = 0.05) -> None:
        along = np.subtract(b, a) / math.hypot(*np.subtract(b, a))
        across = np.array([-along[1], along[0]]) * thick / 2
        ends = [np.subtract(a, along * thick / 2), np.add(b, along * thick / 2)]
        corners = [ends[0] - across, ends[0] + across, ends[1] + across, ends[1] - across]
        pen.shape(_LINE, [(x, y, 0.0) for x, y in corners])

    for x in (half, half / 3, 0.0, -half / 3, -half):
        mark((x, -side), (x, side), 0.05 if abs(x) in (half, 0.0) else 0.035)
    for y in (-side, side):
        mark((-half, y), (half, y))
    pen.shape(
        (16, 20, 30, 60), [(0.0, -side, 0), (0.0, side, 0), (-0.5, side, 0), (-0.5, -side, 0)]
    )
    return surface


@functools.lru_cache(maxsize=16)
def _net(key: _Key) -> tuple[pygame.Surface, tuple[int, int]]:
    """The net and its posts, and where they go."""
    camera = _camera(key, _SHARPNESS)
    side, high = key.width / 2, key.net
    post = side + 0.25
    flat = camera([(0, y, z) for y in (-post - 0.2, post + 0.2) for z in (0, high + 0.3)])[0]
    low = np.floor(flat.min(0)).astype(int)
    size = np.ceil(flat.max(0)).astype(int) - low
    surface = pygame.Surface(tuple(size), pygame.SRCALPHA)
    scale = float(camera((0, 0, high))[1])

    def at(y: float, z: float) -> np.ndarray:
        place: np.ndarray = camera((0.0, y, z))[0] - low
        return place

    sheet = [at(-side, 0), at(side, 0), at(side, high), at(-side, high)]
    pygame.draw.polygon(surface, (235, 240, 250, 34), sheet)
    mesh = 0.2 if scale > 60 else 0.4
    thin = max(1, round(0.012 * scale))
    for y in np.arange(-side, side + 1e-6, mesh):
        pygame.draw.line(surface, (240, 244, 252, 90), at(y, 0), at(y, high), thin)
    for z in np.arange(0, high, mesh):
        pygame.draw.line(surface, (240, 244, 252, 90), at(-side, z), at(side, z), thin)
    for y in (-post, post):
        thick = max(2, round(0.09 * scale))
        pygame.draw.line(surface, (132, 140, 156), at(y, 0), at(y, high + 0.04), thick)
        pygame.draw.line(surface, (206, 212, 222), at(y, 0), at(y, high + 0.04), max(1, thick // 3))
    for y in (-1, 1):
        cord = max(1, round(0.02 * scale))
        pygame.draw.line(surface, _LINE, at(y * side, high), at(y * post, high), cord)
    tape = [at(-side, high), at(side, high), at(side, high - 0.09), at(-side, high - 0.09)]
    pygame.draw.polygon(surface, (248, 250, 252), tape)
    pygame.draw.lines(surface, (170, 178, 192), False, tape[2:], max(1, thin))
    return surface, (int(low[0]), int(low[1]))


# ---- what moves ----------------------------------------------------------------------------------


def _shadows(scene: Scene, pen: _Pen) -> None:
    for i in range(len(scene.names)):
        x, y, z = scene.position[i]
        ground = (x, y, 0.0)
        depth = round(max(40, 120 - 14 * z))
        pen.shape((16, 20, 30, depth), _circle(ground, scene.frame.racket * 1.35))
        colour = TEAMS[scene.sides[i]]
        if i in scene.playing:
            pen.ring(colour, _circle(ground, scene.frame.racket * 2.0), 0.05)
        if i == scene.own:
            pen.ring(PAPER, _circle(ground, scene.frame.racket * 2.4), 0.05)
    x, y, z = scene.ball
    pen.shape((16, 20, 30, 150), _circle((x, y, 0.0), scene.frame.ball * 1.2))
    # A plumb line tells how high the ball is.
    for low in np.arange(0.0, max(z - scene.frame.ball, 0.0), 0.3):
        top = min(low + 0.12, z)
        pen.line((252, 252, 250), (x, y, low), (x, y, top), 0.012)


def _landing(scene: Scene, pen: _Pen, ahead: np.ndarray, end: str) -> None:
    """Where the ball comes down: green in the court, red outside."""
    if end != "floor":
        return
    x, y, _ = ahead[-1]
    inside = abs(x) <= scene.length / 2 and abs(y) <= scene.width / 2
    colour = _GOOD if inside else _BAD
    for radius in (0.34, 0.17):
        pen.ring(colour, _circle((x, y, 0.0), radius), 0.045)
    pen.shape((*colour, 50), _circle((x, y, 0.0), 0.34))


def _targets(scene: Scene, pen: _Pen) -> None:
    for x, y, z in scene.marks:
        for radius in (0.6, 0.3):
            pen.ring(_TARGET, _circle((x, y, 0.0), radius), 0.05)
        if z > 0:
            pen.line(_TARGET, (x, y, 0.0), (x, y, z), 0.015)
            pen.dot(_mixed(_TARGET, PAPER, 0.5), (x, y, z), 0.1)
            pen.ring(_TARGET, _circle((x, y, z), 0.6, np.eye(3)[:, [1, 2, 0]]), 0.02)
    if scene.board is not None:
        middle, normal = scene.board
        side = np.cross(normal, [0.0, 1.0, 0.0])
        axes = np.stack([side, np.cross(normal, side), normal], axis=1)
        for height, colour in ((-0.15, _CARBON), (0.15, _CARBON_LIGHT)):
            pen.shape(colour, _circle(middle + height * normal, 0.5, axes))
        pen.ring(TEAMS[1], _circle(middle + 0.15 * normal, 0.5, axes), 0.04)


def _ball(scene: Scene, pen: _Pen, ahead: np.ndarray) -> None:
    """The ball, where it came from, and where it goes."""
    radius = scene.frame.ball
    for k, point in enumerate(ahead[4::4]):
        fade = max(0.0, 1 - k / 40)
        pen.dot(_mixed((120, 128, 140), (255, 255, 255), fade), point, 0.022, least=0.8)
    past = scene.path(min(scene.since, _TRAIL), past=True)[0]
    for k in range(len(past) - 1, 0, -1):
        share = 1 - k / len(past)
        alpha = round(20 + 130 * share)
        place, size = pen.camera(past[k])
        r = max(radius * float(size) * (0.3 + 0.6 * share), 2.0)
        stamp = pygame.Surface((2 * math.ceil(r) + 2,) * 2, pygame.SRCALPHA)
        pygame.draw.circle(stamp, (255, 236, 150, alpha // 3), (r + 1, r + 1), r)
        pen.surface.blit(stamp, place - r - 1)
    place, size = pen.camera(scene.ball)
    r = max(radius * float(size), 3.0 * _SHARPNESS)
    draw = pygame.draw
    draw.circle(pen.surface, _mixed(_BALL_DARK, INK, 0.5), place, r + max(1, r * 0.08))
    draw.circle(pen.surface, _BALL_DARK, place, r)
    draw.circle(pen.surface, _BALL, place + np.array([-0.09, -0.11]) * r, r * 0.86)
    thick = max(1, round(r * 0.13))
    for a, b, box in (
        (-0.9, 0.9, (-1.55, -0.8, 1.6, 1.6)),
        (2.25, 4.05, (-0.05, -0.8, 1.6, 1.6)),
    ):
        left, top, w, h = (v * r for v in box)
        area = pygame.Rect(place[0] + left, place[1] + top, w, h)
        draw.arc(pen.surface, _BALL_PANEL, area, a, b, thick)
    draw.circle(pen.surface, (255, 250, 226), place + np.array([-0.36, -0.42]) * r, r * 0.18)


def _drone(scene: Scene, pen: _Pen, i: int) -> None:
    """Arms, rotors, hull and racket from the drone's pose; parts farther from the eye first."""
    f, colour = scene.frame, TEAMS[scene.sides[i]]
    middle, axes = scene.position[i], scene.axes[i]
    up = axes[:, 2]
    rotors = middle + f.rotors @ axes.T + 0.03 * up
    for place in rotors:
        pen.line(_CARBON, middle, place, 0.035)
        pen.line(_CARBON_LIGHT, middle + 0.012 * up, place, 0.012)
    parts: list[tuple[float, Any]] = []

    def later(place: np.ndarray, paint: Any) -> None:
        parts.append((-float(np.linalg.norm(place - pen.camera.eye)), paint))

    for k, place in enumerate(rotors):

        def rotor(place: np.ndarray = place, power: float = float(scene.thrust[i, k])) -> None:
            disk = _circle(place, f.rotor, axes)
            alpha = round(70 + 90 * min(max(power, 0.0), 1.0))
            pen.shape((214, 224, 238, alpha), disk)
            pen.ring(_CARBON_LIGHT, disk, 0.008)
            pen.dot(_CARBON, place, 0.022)

        later(place, rotor)

    low = middle + f.hull_height * up

    def hull() -> None:
        pen.line(_CARBON, middle, low, 0.09)
        pen.dot(_mixed(colour, INK, 0.6), low, f.hull)
        pen.dot(_mixed(colour, INK, 0.35), low + 0.02 * up, f.hull * 0.86)
        pen.dot(_mixed(colour, PAPER, 0.3), low + 0.4 * f.hull * up, f.hull * 0.3)

    later(low, hull)
    top = middle + f.racket_height * up

    def racket() -> None:
        face = _circle(top, f.racket, axes)
        seen = float((pen.camera.eye - top) @ up) > 0
        fill = _mixed(colour, PAPER, 0.45) if seen else _mixed(colour, INK, 0.25)
        pen.line(_CARBON, middle, top, 0.05)
        pen.shape((*fill, 225), face)
        strings = _mixed(fill, PAPER, 0.55) if seen else _mixed(fill, INK, 0.35)
        for share in (-0.5, 0.0, 0.5):
            reach = f.racket * math.sqrt(1 - share**2)
            for a, b in ((0, 1), (1, 0)):
                across = top + share * f.racket * axes[:, a]
                pen.line(strings, across - reach * axes[:, b], across + reach * axes[:, b], 0.006)
        pen.ring(_mixed(colour, INK, 0.1), face, 0.03)

    later(top, racket)
    for _, paint_part in sorted(parts, key=lambda part: part[0]):
        paint_part()


# ---- words ---------------------------------------------------------------------------------------


def _names(scene: Scene, view: _View, canvas: pygame.Surface) -> None:
    """Each drone's name on a tag beneath it, and what it is doing; where tags would cover each
    other, those of the drones farther away make room."""
    size = view.letters
    below = scene.frame.hull - scene.frame.hull_height
    tags: list[Any] = []
    taken: list[pygame.Rect] = []
    for i in sorted(range(len(scene.names)), key=lambda i: -scene.position[i, 0]):
        x, y = view.place(scene.position[i] - [0, 0, below])
        near = scene.position[i, 0] > -0.5
        colour = (*_mixed(TEAMS[scene.sides[i]], INK, 0.35), 215)
        lines = [(write(scene.names[i], size if near else size - 1, PAPER), colour)]
        if i < len(scene.labels) and scene.labels[i]:
            lines.append((write(scene.labels[i], size - 1, INK), (*PAPER, 205)))
        sizes = [text.get_rect().inflate(size, size // 3).size for text, _ in lines]
        whole = pygame.Rect(0, 0, max(w for w, _ in sizes), sum(h for _, h in sizes))
        whole.midtop = round(x), round(y) + size // 3
        whole = _roomy(whole, taken, canvas.get_rect())
        taken.append(whole)
        tags.append((whole, lines, sizes))
    for whole, lines, sizes in reversed(tags):
        top = whole.top
        for (text, colour), (wide, high) in zip(lines, sizes, strict=True):
            box = pygame.Rect(whole.centerx - wide // 2, top, wide, high)
            _plate(canvas, box, colour)
            canvas.blit(text, text.get_rect(center=box.center))
            top = box.bottom


# Quarters of a tag's width and height, the nearest first.
_NUDGES = sorted(
    ((x, y) for x in range(-8, 9) for y in range(-8, 9)),
    key=lambda step: (step[0] ** 2 + step[1] ** 2, step),
)


def _roomy(box: pygame.Rect, taken: list[pygame.Rect], frame: pygame.Rect) -> pygame.Rect:
    """`box`, moved by as little as can be to cover none of the others; where it is, if there is no
    room near."""
    box = box.clamp(frame)
    for x, y in _NUDGES:
        moved = box.move(x * box.width // 4, y * box.height // 4)
        if frame.contains(moved) and moved.collidelist(taken) < 0:
            return moved
    return box


def _plate(canvas: pygame.Surface, box: pygame.Rect, colour: Any) -> None:
    glass = pygame.Surface(box.size, pygame.SRCALPHA)
    pygame.draw.rect(glass, colour, glass.get_rect(), border_radius=box.height // 3)
    canvas.blit(glass, box)


def _above(scene: Scene, view: _View, canvas: pygame.Surface) -> None:
    """Where the ball is if it is too high for the picture."""
    x, y = view.place(scene.ball)
    top = view.key.header
    if y >= top:
        return
    x = min(max(x, 40), view.width - 40)
    size = view.letters
    text = write(f"{scene.ball[2]:.1f} m", size, INK)
    box = text.get_rect(midtop=(round(x), top + size)).inflate(size, size // 2)
    pygame.draw.polygon(
        canvas, _BALL, [(x, top + 3), (box.left + 4, box.top + 2), (box.right - 4, box.top + 2)]
    )
    pygame.draw.rect(canvas, _BALL, box, border_radius=size // 2)
    canvas.blit(text, text.get_rect(center=box.center))


def _beside(scene: Scene, view: _View, canvas: pygame.Surface, ahead: np.ndarray, end: str) -> None:
    """The court from the side, to scale, in the upper right corner: x against z."""
    if min(view.width, view.height - view.key.header) < 200:
        return
    near, far, _ = view.key.region
    wide = round(view.width * 0.29)
    scale = wide / (near - far + 2.0)
    tall = round(min(max(6.0 * scale, wide * 0.3), view.height * 0.36))
    scale = min(scale, tall / 6.0)
    pad = max(6, view.letters // 2)
    box = pygame.Rect(view.width - wide - pad, view.key.header + pad, wide, tall)
    large = pygame.Surface((wide * _SHARPNESS, tall * _SHARPNESS), pygame.SRCALPHA)
    s = scale * _SHARPNESS
    w, h = large.get_size()
    pygame.draw.rect(large, (22, 25, 38, 205), large.get_rect(), border_radius=8 * _SHARPNESS)
    ground = h - round(0.12 * h)

    def at(point: Any) -> tuple[float, float]:
        """Who watches is on the left."""
        return w / 2 + ((near + far) / 2 - float(point[0])) * s, ground - float(point[2]) * s

    thick = max(2, round(0.08 * s))
    for team, sign in enumerate((1, -1)):
        a, b = at((sign * scene.length / 2, 0, 0)), at((0, 0, 0))
        colour = _mixed(TEAMS[team ^ scene.watched], PAPER, 0.1)
        pygame.draw.line(large, colour, (a[0], a[1] + thick), (b[0], b[1] + thick), 2 * thick)
    pygame.draw.line(large, PAPER, at((0, 0, 0)), at((0, 0, scene.net)), thick)
    past = scene.path(min(scene.since, _TRAIL), past=True)[0]
    if len(past) > 1:
        pygame.draw.lines(large, (190, 160, 70), False, [at(p) for p in past], max(1, thick // 2))
    for point in ahead[3::3]:
        pygame.draw.circle(large, (222, 226, 236), at(point), max(1.5, 0.035 * s))
    if end == "floor":
        inside = max(abs(ahead[-1][0]) / scene.length, abs(ahead[-1][1]) / scene.width) <= 0.5
        x, y = at(ahead[-1])
        arrow = [(x, y + 0.1 * s), (x - 0.22 * s, y + 0.42 * s), (x + 0.22 * s, y + 0.42 * s)]
        pygame.draw.polygon(large, _GOOD if inside else _BAD, arrow)
    for i in range(len(scene.names)):
        colour, up = TEAMS[scene.sides[i]], scene.axes[i][:, 2]
        middle = at(scene.position[i])
        # The racket's plane cut by the picture's: along the body's tilt in x and z.
        tilt = np.array([up[2], 0.0, -up[0]])
        tilt = tilt / max(float(np.linalg.norm(tilt)), 1e-6) * scene.frame.racket * 1.5
        top = scene.position[i] + scene.frame.racket_height * up
        pygame.draw.circle(large, _mixed(colour, INK, 0.25), middle, max(2, 0.14 * s))
        pygame.draw.line(large, _mixed(colour, PAPER, 0.3), at(top - tilt), at(top + tilt), thick)
    pygame.draw.circle(large, _BALL, at(scene.ball), max(3.0, scene.frame.ball * 1.3 * s))
    canvas.blit(pygame.transform.smoothscale(large, box.size), box)


def _header(scene: Scene, view: _View, canvas: pygame.Surface) -> None:
    """The score in the middle, what is played on the left, what goes on on the right."""
    high = view.key.header
    if not high:
        return
    canvas.fill(INK, (0, 0, view.width, high))
    size = max(11, round(high * 0.36))
    small = max(10, round(high * 0.29))
    gap = high // 4
    left, right = gap, view.width - gap
    if scene.score is not None:
        middle = view.width // 2
        images = [write(str(points), round(size * 1.25), PAPER) for points in scene.score]
        cell = max(round(high * 0.95), *(image.get_width() + gap for image in images))
        for team, image in enumerate(images):
            box = pygame.Rect(0, 0, cell, round(high * 0.72))
            box.midleft = (middle - cell if team == 0 else middle, high // 2)
            pygame.draw.rect(canvas, TEAMS[team], box)
            canvas.blit(image, image.get_rect(center=box.center))
            name = write(("near", "far")[team], small, _mixed(TEAMS[team], PAPER, 0.35))
            edge = {"midright": (box.left - gap // 2, high // 2)}
            if team:
                edge = {"midleft": (box.right + gap // 2, high // 2)}
            place = name.get_rect(**edge)
            canvas.blit(name, place)
            if scene.serving == team:
                x = place.left - gap // 2 if team == 0 else place.right + gap // 2
                pygame.draw.circle(canvas, _BALL, (x, high // 2), max(3, high // 12))
        half = middle - cell - 3 * gap
    else:
        half = view.width // 2 - gap
    title = write(wrap(scene.title, size, half, limit=1)[0], size, PAPER)
    canvas.blit(title, title.get_rect(midleft=(left, high // 2)))
    words = wrap(scene.status, small, max(60, half - 2 * gap), limit=2)
    images = [write(line, small, FADED) for line in words]
    y = (high - sum(image.get_height() for image in images)) // 2
    for image in images:
        canvas.blit(image, image.get_rect(topright=(right, y)))
        y += image.get_height()
