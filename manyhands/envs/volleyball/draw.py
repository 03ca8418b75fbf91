"""Pictures of drone volleyball, painted with pygame's shapes: no image files, no OpenGL.

The court is seen in perspective from behind and above one team, and in a small panel from the side.
Everything that moves is projected from its pose, painted twice too large and scaled down, which
smooths its edges; the court, which does not move, is kept. `render_mujoco` shows the same state
through MuJoCo's own renderer, where there is OpenGL. `scene.py` says what is shown, `camera.py`
where.
"""

from __future__ import annotations

import copy
import functools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pygame

from manyhands.core.env import ConfigError, RenderError
from manyhands.core.paint import BAD, FADED, GOOD, INK, PAPER, PLAYERS, bubble, label, mix
from manyhands.core.render import wrap, write
from manyhands.envs.volleyball import model
from manyhands.envs.volleyball.camera import SHARPNESS, Brush, Key, View, camera_for, circle
from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.scene import Scene, scene_of
from manyhands.envs.volleyball.state import VolleyballState

TEAMS = PLAYERS[:2]  # near and far
_WALL, _WALL_FOOT = (38, 43, 62), (66, 74, 100)
_FLOOR, _FLOOR_FRONT = (58, 96, 108), (74, 120, 130)
_COURT, _COURT_STRIPE, _LINE = (226, 208, 178), (219, 199, 167), (252, 252, 250)
_BALL, _BALL_DARK, _BALL_PANEL = (252, 218, 84), (206, 164, 40), (64, 104, 190)
_CARBON, _CARBON_LIGHT, _TARGET = (44, 48, 60), (92, 100, 120), (222, 92, 150)
_TRAIL = 0.6  # s of the ball's past that are shown
_SMALL, _TINY = 360, 200  # pixels of height, below which drones have numbers, and do not say more

# ---- the picture ---------------------------------------------------------------------------------


def draw(
    env: Volleyball,
    state: VolleyballState,
    canvas: pygame.Surface,
    agent: int | None = None,
    camera: str = "",
    labels: Sequence[str] = (),
) -> None:
    """Paint the state on a surface of any size: for an agent from behind its own side, and marked.

    Args:
        camera: "behind" (the default), or "side", where the side that watches is on the left.
        labels: what each drone is doing, in words, to be written at the drones.
    """
    paint(scene_of(env, state, agent, labels, camera), canvas)


def bubbles(
    env: Volleyball,
    state: VolleyballState,
    canvas: pygame.Surface,
    texts: Mapping[int, str],
    agent: int | None = None,
    camera: str = "",
) -> None:
    """Paint what drones say over a picture that `draw` made on this canvas, each text in a bubble
    at its drone."""
    speak(scene_of(env, state, agent, (), camera), canvas, texts)


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

    if isinstance(camera, str):
        length, width = env.plan.court
        view = mujoco.MjvCamera()
        view.azimuth, view.elevation = _CAMERAS[camera]
        view.distance = 0.75 * length + 0.9 * width + 1.0
        view.lookat[:] = (0.0, 0.0, 1.2)
        camera = view
    # Pictures are at most as large as the model says; others use that one, too.
    loaded = copy.copy(model.load_model(env.plan.model, env.ball, env.airframe))
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


# ---- what is painted -----------------------------------------------------------------------------


def paint(scene: Scene, canvas: pygame.Surface) -> None:
    """Paint a scene on the whole of a surface of any size."""
    view = View(scene, canvas.get_size())
    large = pygame.Surface((view.width * SHARPNESS, view.height * SHARPNESS))
    large.blit(_court(view.key), (0, 0))
    pen = Brush(large, view.camera)
    ahead, end = scene.path(4.0)
    _shadows(scene, pen)
    _landing(scene, pen, ahead, end)
    _targets(scene, pen)
    # Far things first; the net where it stands: from the side it is a line behind all.
    far = 0 if scene.camera == "behind" else 1  # the axis along which things are far
    net = 0.0 if far == 0 else -math.inf
    parts: list[tuple[float, Any]] = [(net, lambda: large.blit(*_net(view.key)))]
    parts += [
        (scene.position[i, far], functools.partial(drone, scene, pen, i))
        for i in range(len(scene.names))
    ]
    parts.append((scene.ball[far], functools.partial(_ball, scene, pen, ahead)))
    for _, paint_part in sorted(parts, key=lambda part: part[0]):
        paint_part()
    pygame.transform.smoothscale(large, (view.width, view.height), canvas)
    side = _side_box(view)
    if side is not None:
        _from_the_side(scene, view, canvas, side, ahead, end)
    _names(scene, view, canvas, side)
    _above(scene, view, canvas)
    _header(scene, view, canvas)


def speak(scene: Scene, canvas: pygame.Surface, texts: Mapping[int, str]) -> None:
    """Paint what drones say over a picture that `paint` made on this canvas, each text in a bubble
    at its drone."""
    view = View(scene, canvas.get_size())
    size = max(11, min(18, view.height // 32))
    width = max(120, view.width * 0.24)
    for i, text in sorted(texts.items()):
        if text.strip():
            x, y = view.place(scene.position[i] + [0, 0, 0.45])
            colour, above = TEAMS[scene.sides[i]], [("midbottom", (x, y - size // 2))]
            bubble(canvas, text, size, width, colour, above, (x, y))


# ---- what does not move --------------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def _court(key: Key) -> pygame.Surface:
    """The hall, the floor and the court, as large as things that move are painted."""
    width, height = (SHARPNESS * n for n in key.size)
    camera = camera_for(key, SHARPNESS)
    surface = pygame.Surface((width, height))
    half, side = key.length / 2, key.width / 2
    back = (-half - 0.6 * key.length, 0, 0) if key.camera == "behind" else (0, -2.2 * side, 0)
    foot = float(camera(back)[0][1])
    for row in range(height):
        if row < foot:
            colour = mix(_WALL, _WALL_FOOT, (row / max(foot, 1)) ** 2)
        else:
            colour = mix(_FLOOR, _FLOOR_FRONT, (row - foot) / max(height - foot, 1))
        pygame.draw.line(surface, colour, (0, row), (width, row))
    pen = Brush(surface, camera)
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
def _net(key: Key) -> tuple[pygame.Surface, tuple[int, int]]:
    """The net and its posts, and where they go."""
    camera = camera_for(key, SHARPNESS)
    side, high = key.width / 2, key.net
    post = side + 0.25
    flat = camera([(0, y, z) for y in (-post - 0.2, post + 0.2) for z in (0, high + 0.3)])[0]
    scale = float(camera((0, 0, high))[1])
    edge = round(0.1 * scale) + 1  # posts are that thick, also where the net is seen edge-on
    low = np.floor(flat.min(0)).astype(int) - edge
    size = np.ceil(flat.max(0)).astype(int) + edge - low
    surface = pygame.Surface(tuple(size), pygame.SRCALPHA)

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


def _shadows(scene: Scene, pen: Brush) -> None:
    for i in range(len(scene.names)):
        x, y, z = scene.position[i]
        ground = (x, y, 0.0)
        depth = round(max(40, 120 - 14 * z))
        pen.shape((16, 20, 30, depth), circle(ground, scene.frame.racket * 1.35))
        colour = TEAMS[scene.sides[i]]
        if i in scene.playing:
            pen.ring(colour, circle(ground, scene.frame.racket * 2.0), 0.05)
        if i == scene.own:
            pen.ring(PAPER, circle(ground, scene.frame.racket * 2.4), 0.05)
    x, y, z = scene.ball
    pen.shape((16, 20, 30, 150), circle((x, y, 0.0), scene.frame.ball * 1.2))
    # A plumb line tells how high the ball is.
    for low in np.arange(0.0, max(z - scene.frame.ball, 0.0), 0.3):
        top = min(low + 0.12, z)
        pen.line((252, 252, 250), (x, y, low), (x, y, top), 0.012)


def _landing(scene: Scene, pen: Brush, ahead: np.ndarray, end: str) -> None:
    """Where the ball comes down: green in the court, red outside."""
    if end != "floor":
        return
    x, y, _ = ahead[-1]
    inside = abs(x) <= scene.length / 2 and abs(y) <= scene.width / 2
    colour = GOOD if inside else BAD
    for radius in (0.34, 0.17):
        pen.ring(colour, circle((x, y, 0.0), radius), 0.045)
    pen.shape((*colour, 50), circle((x, y, 0.0), 0.34))


def _targets(scene: Scene, pen: Brush) -> None:
    for x, y, z in scene.marks:
        for radius in (0.6, 0.3):
            pen.ring(_TARGET, circle((x, y, 0.0), radius), 0.05)
        if z > 0:
            pen.line(_TARGET, (x, y, 0.0), (x, y, z), 0.015)
            pen.dot(mix(_TARGET, PAPER, 0.5), (x, y, z), 0.1)
            pen.ring(_TARGET, circle((x, y, z), 0.6, np.eye(3)[:, [1, 2, 0]]), 0.02)
    if scene.board is not None:
        middle, normal = scene.board
        side = np.cross(normal, [0.0, 1.0, 0.0])
        axes = np.stack([side, np.cross(normal, side), normal], axis=1)
        for height, colour in ((-0.15, _CARBON), (0.15, _CARBON_LIGHT)):
            pen.shape(colour, circle(middle + height * normal, 0.5, axes))
        pen.ring(TEAMS[1], circle(middle + 0.15 * normal, 0.5, axes), 0.04)


def _ball(scene: Scene, pen: Brush, ahead: np.ndarray) -> None:
    """The ball, where it came from, and where it goes."""
    radius = scene.frame.ball
    for k, point in enumerate(ahead[4::4]):
        fade = max(0.0, 1 - k / 40)
        pen.dot(mix((120, 128, 140), (255, 255, 255), fade), point, 0.022, least=0.8)
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
    r = max(radius * float(size), 3.0 * SHARPNESS)
    draw = pygame.draw
    draw.circle(pen.surface, mix(_BALL_DARK, INK, 0.5), place, r + max(1, r * 0.08))
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


def drone(scene: Scene, pen: Brush, i: int) -> None:
    """Arms, rotors, hull and racket (if it has one) from the drone's pose; parts farther from the
    eye first."""
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
            disk = circle(place, f.rotor, axes)
            alpha = round(70 + 90 * min(max(power, 0.0), 1.0))
            pen.shape((214, 224, 238, alpha), disk)
            pen.ring(_CARBON_LIGHT, disk, 0.008)
            pen.dot(_CARBON, place, 0.022)

        later(place, rotor)

    low = middle + f.hull_height * up

    def hull() -> None:
        pen.line(_CARBON, middle, low, 0.09)
        pen.dot(mix(colour, INK, 0.6), low, f.hull)
        pen.dot(mix(colour, INK, 0.35), low + 0.02 * up, f.hull * 0.86)
        pen.dot(mix(colour, PAPER, 0.3), low + 0.4 * f.hull * up, f.hull * 0.3)

    later(low, hull)
    top = middle + f.racket_height * up

    def racket() -> None:
        face = circle(top, f.racket, axes)
        seen = float((pen.camera.eye - top) @ up) > 0
        fill = mix(colour, PAPER, 0.45) if seen else mix(colour, INK, 0.25)
        pen.line(_CARBON, middle, top, 0.05)
        pen.shape((*fill, 225), face)
        strings = mix(fill, PAPER, 0.55) if seen else mix(fill, INK, 0.35)
        for share in (-0.5, 0.0, 0.5):
            reach = f.racket * math.sqrt(1 - share**2)
            for a, b in ((0, 1), (1, 0)):
                across = top + share * f.racket * axes[:, a]
                pen.line(strings, across - reach * axes[:, b], across + reach * axes[:, b], 0.006)
        pen.ring(mix(colour, INK, 0.1), face, 0.03)

    if f.racket:
        later(top, racket)
    for _, paint_part in sorted(parts, key=lambda part: part[0]):
        paint_part()


# ---- words ---------------------------------------------------------------------------------------


class Tag(NamedTuple):
    """A drone's tag: where it is on the canvas, the drone's pixels, its team's colour, and its
    lines, each a text and the colour of its plate, with their sizes."""

    box: pygame.Rect
    body: pygame.Rect
    colour: Any
    lines: list[tuple[pygame.Surface, Any]]
    sizes: list[tuple[int, int]]


def tags(scene: Scene, view: View, side: pygame.Rect | None = None) -> list[Tag]:
    """Each drone's name on a tag beneath it, and what it is doing. Where tags would cover each
    other, a drone or the view from the side, those of the drones farther away make room: a team's
    tags on one side of its drones, the other team's on the other. Small pictures have numbers
    instead of names."""
    size, small = view.letters, view.height < _SMALL
    room = pygame.Rect(0, view.key.header, view.width, view.height - view.key.header)
    taken = [_box_of(scene, view, i) for i in range(len(scene.names))]
    taken += [] if side is None else [side]
    found = []
    far = 0 if scene.camera == "behind" else 1
    for i in sorted(range(len(scene.names)), key=lambda i: -scene.position[i, far]):
        colour = mix(TEAMS[scene.sides[i]], INK, 0.35)
        name = scene.names[i].rpartition("_")[2] if small else scene.names[i]
        lines = [(write(name, size, PAPER), (*colour, 215))] if name else []
        doing = scene.labels[i] if i < len(scene.labels) else ""
        if doing and view.height >= _TINY:
            doing = doing.partition(" (")[0] if small else doing
            lines.append((write(doing, size - 1, INK), (*PAPER, 205)))
        if not lines:
            continue
        sizes = [text.get_rect().inflate(size, size // 3).size for text, _ in lines]
        whole = pygame.Rect(0, 0, max(w for w, _ in sizes), sum(h for _, h in sizes))
        body = taken[i]
        whole.midtop = body.centerx, body.bottom + 1
        if whole.collidelist(taken) >= 0:
            ahead = scene.position[i, 0] > 0  # of the side that watches
            if scene.camera == "side":
                whole.top = body.top
                whole.left = body.left - 1 - whole.width if ahead else body.right + 1
            elif not ahead:
                whole.midbottom = body.centerx, body.top - 1
        placed = roomy(whole, taken, room)
        taken.append(placed)
        found.append(Tag(placed, body, colour, lines, sizes))
    return found


def _names(scene: Scene, view: View, canvas: pygame.Surface, side: pygame.Rect | None) -> None:
    """Paint the tags; those that are not at their drones are tied to them."""
    found = tags(scene, view, side)
    size = view.letters
    for tag in found:
        if not tag.box.inflate(size, size).colliderect(tag.body):
            pygame.draw.line(canvas, tag.colour, tag.box.center, tag.body.center)
    for tag in reversed(found):
        top = tag.box.top
        for (text, colour), (wide, high) in zip(tag.lines, tag.sizes, strict=True):
            box = pygame.Rect(tag.box.centerx - wide // 2, top, wide, high)
            _plate(canvas, box, colour)
            canvas.blit(text, text.get_rect(center=box.center))
            top = box.bottom


def _box_of(scene: Scene, view: View, i: int) -> pygame.Rect:
    """The pixels that a drone covers, nearly."""
    f, middle = scene.frame, scene.position[i]
    corners = [
        view.place(middle + np.array([0.0, y, z]))
        for y in (-f.racket, f.racket)
        for z in (f.hull_height - f.hull, f.racket_height)
    ]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return pygame.Rect(np.floor(low), np.ceil(high - low))


# Quarters of a tag's width and height, the nearest first.
_NUDGES = sorted(
    ((x, y) for x in range(-10, 11) for y in range(-14, 15)),
    key=lambda step: (step[0] ** 2 + step[1] ** 2, step),
)


def roomy(box: pygame.Rect, taken: Sequence[pygame.Rect], frame: pygame.Rect) -> pygame.Rect:
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


def _above(scene: Scene, view: View, canvas: pygame.Surface) -> None:
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


def _side_box(view: View) -> pygame.Rect | None:
    """Where the view from the side goes: in the upper right corner, if there is room."""
    if min(view.width, view.height - view.key.header) < 200 or view.key.camera == "side":
        return None
    near, far, _ = view.key.region
    wide = round(view.width * 0.29)
    tall = round(min(max(6.0 * wide / (near - far + 2.0), wide * 0.3), view.height * 0.36))
    pad = max(6, view.letters // 2)
    return pygame.Rect(view.width - wide - pad, view.key.header + pad, wide, tall)


def _from_the_side(
    scene: Scene, view: View, canvas: pygame.Surface, box: pygame.Rect, ahead: np.ndarray, end: str
) -> None:
    """The court from the side, to scale, in a box: x against z."""
    near, far, _ = view.key.region
    s = min(box.width / (near - far + 2.0), box.height / 6.0) * SHARPNESS
    large = pygame.Surface((box.width * SHARPNESS, box.height * SHARPNESS), pygame.SRCALPHA)
    w, h = large.get_size()
    pygame.draw.rect(large, (22, 25, 38, 205), large.get_rect(), border_radius=8 * SHARPNESS)
    ground = h - round(0.12 * h)

    def at(point: Any) -> tuple[float, float]:
        """The side that watches is on the left."""
        return w / 2 + ((near + far) / 2 - float(point[0])) * s, ground - float(point[2]) * s

    thick = max(2, round(0.08 * s))
    for team, sign in enumerate((1, -1)):
        a, b = at((sign * scene.length / 2, 0, 0)), at((0, 0, 0))
        colour = mix(TEAMS[team ^ scene.watched], PAPER, 0.1)
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
        pygame.draw.polygon(large, GOOD if inside else BAD, arrow)
    for i in range(len(scene.names)):
        colour, up = TEAMS[scene.sides[i]], scene.axes[i][:, 2]
        middle = at(scene.position[i])
        # The racket's plane cut by the picture's: along the body's tilt in x and z.
        tilt = np.array([up[2], 0.0, -up[0]])
        tilt = tilt / max(float(np.linalg.norm(tilt)), 1e-6) * scene.frame.racket * 1.5
        top = scene.position[i] + scene.frame.racket_height * up
        pygame.draw.circle(large, mix(colour, INK, 0.25), middle, max(2, 0.14 * s))
        pygame.draw.line(large, mix(colour, PAPER, 0.3), at(top - tilt), at(top + tilt), thick)
    pygame.draw.circle(large, _BALL, at(scene.ball), max(3.0, scene.frame.ball * 1.3 * s))
    canvas.blit(pygame.transform.smoothscale(large, box.size), box)


def _header(scene: Scene, view: View, canvas: pygame.Surface) -> None:
    """The score in the middle, what is played on the left, what goes on on the right; on narrow
    canvases as much of it as there is room for."""
    high = view.key.header
    if not high:
        return
    canvas.fill(INK, (0, 0, view.width, high))
    size = max(11, round(high * 0.36))
    small = max(10, round(high * 0.29))
    gap = high // 4
    left, right = gap, view.width - gap  # what the score leaves to the words on either side
    ends = (right + left) / 2 - gap / 2, (right + left) / 2 + gap / 2
    if scene.score is not None:
        ends = _score(scene, view, canvas, size, small)
    if ends[0] - gap - left > 3 * size:
        title = wrap(scene.title, size, round(ends[0] - gap - left), limit=1)[0]
        label(canvas, title, size, PAPER, midleft=(left, high / 2))
    if right - ends[1] - gap > 6 * small:
        words = wrap(scene.status, small, round(right - ends[1] - gap), limit=2)
        step = small + small // 4
        top = high / 2 - step * (len(words) - 1) / 2
        for k, line in enumerate(words):
            label(canvas, line, small, FADED, midright=(right, top + k * step))


def _score(
    scene: Scene, view: View, canvas: pygame.Surface, size: int, small: int
) -> tuple[float, float]:
    """Paint the score in the middle of the header, with the names of the teams if the canvas is
    wide; the pixels where it begins and ends."""
    assert scene.score is not None
    high, middle = view.key.header, view.width // 2
    gap = high // 4
    images = [write(str(points), round(size * 1.25), PAPER) for points in scene.score]
    cell = max(round(high * 0.95), *(image.get_width() + gap for image in images))
    ends = [middle - cell, middle + cell]
    for team, (image, sign) in enumerate(zip(images, (-1, 1), strict=True)):
        box = pygame.Rect(0, 0, cell, round(high * 0.72))
        box.midleft = (middle - cell if team == 0 else middle, high // 2)
        pygame.draw.rect(canvas, TEAMS[team], box)
        canvas.blit(image, image.get_rect(center=box.center))
        if view.width >= 14 * high:
            name = write(("near", "far")[team], small, mix(TEAMS[team], PAPER, 0.35))
            ends[team] += sign * (gap // 2 + name.get_width())
            left = ends[team] - (name.get_width() if team else 0)
            canvas.blit(name, (left, (high - name.get_height()) // 2))
        radius = max(3, high // 12)
        ends[team] += sign * (gap // 2 + radius)
        if scene.serving == team:
            pygame.draw.circle(canvas, _BALL, (ends[team], high // 2), radius)
        ends[team] += sign * radius
    return ends[0], ends[1]
