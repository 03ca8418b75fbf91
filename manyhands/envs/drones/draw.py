"""Pictures of drones: the arena in perspective or from above, with the drones of volleyball.

Shapes in space, the camera and the drones themselves come from `envs/volleyball` (`camera.py`,
`draw.py`); here are the arena, its cylinders, the places of the shape and the lines of sight.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pygame

from manyhands.core.config import one_of
from manyhands.core.paint import FADED, GOOD, INK, PAPER, bubble, header, header_height, mix
from manyhands.envs.drones.observe import as_read, goal_of, slot_error
from manyhands.envs.drones.state import STEP, DronesState
from manyhands.envs.volleyball.camera import SHARPNESS, Brush, Camera, Key, View, circle
from manyhands.envs.volleyball.draw import TEAMS, drone, tags
from manyhands.envs.volleyball.model import AIRFRAMES
from manyhands.envs.volleyball.physics import matrix
from manyhands.envs.volleyball.scene import Frame, Scene

if TYPE_CHECKING:
    from manyhands.envs.drones.env import Drones

_WALL, _FLOOR, _TILE = (34, 38, 56), (58, 70, 92), (64, 77, 100)
_LINE, _POST, _POST_TOP = (120, 134, 160), (150, 128, 104), (186, 164, 138)
_SLOT, _SHADOW = (250, 214, 92), (14, 18, 28, 110)


class ArenaView(View):
    """A canvas, its camera and its sizes, for an arena."""

    def __init__(self, drones: Drones, size: tuple[int, int], camera: str):
        self.width, self.height = size
        high = header_height(pygame.Surface(size)) if min(size) >= 120 else 0
        (x, y), z = drones.plan.half, drones.plan.height
        self.key = Key(size, high, 2 * x, 2 * y, 0.0, 0, (x, -x, y), camera)
        width, height = (SHARPNESS * n for n in size)
        top, pad = SHARPNESS * high, SHARPNESS * max(4, round(0.02 * size[1]))
        area = pygame.Rect(pad, top + pad, width - 2 * pad, max(1, height - top - 2 * pad))
        if camera == "above":  # not quite: there is a way up in the picture
            eye, target, ceiling = (0.0, -0.01, 6 * y), (0.0, 0.0, 0.0), 0.0
        else:
            eye, target, ceiling = (0.0, -1.7 * y - 3.0, 1.9 * y + 3.0), (0.0, 0.0, 0.6), 0.55 * z
        corners = [(a * x, b * y, 0.0) for a in (-1, 1) for b in (-1, 1)]
        corners += [(a * x, y, ceiling) for a in (-1, 1)]
        self.camera = Camera(eye, target, corners, area)
        self.letters = max(10, min(16, self.height // 44))


def draw(
    drones: Drones,
    state: DronesState,
    canvas: pygame.Surface,
    agent: int | None = None,
    camera: str = "",
    labels: Sequence[str] = (),
) -> None:
    """Paint the state on a surface of any size; for a pursuer with the evader where it knows it.

    Args:
        camera: "south" (the default), or "above".
        labels: what each drone is doing, in words, to be written at the drones.
    """
    view = _view(drones, canvas, camera)
    state = state if agent is None else as_read(drones, state, agent)
    scene = _scene(drones, state, agent, labels)
    large = pygame.Surface((view.width * SHARPNESS, view.height * SHARPNESS))
    large.blit(_arena(drones, canvas.get_size(), view.key.camera), (0, 0))
    pen = Brush(large, view.camera)
    posts = np.asarray(state.cylinders, np.float64).reshape(-1, 2)
    _marks(drones, state, pen, scene)
    parts: list[tuple[float, Any]] = []
    for i in range(len(scene.names)):
        away = float(np.linalg.norm(scene.position[i] - view.camera.eye))
        parts.append((-away, functools.partial(_flyer, pen, scene, i)))
    for x, y in posts:
        away = float(np.linalg.norm(np.array([x, y, 1.0]) - view.camera.eye))
        parts.append((-away, functools.partial(_post, drones, pen, (float(x), float(y)))))
    for _, paint_part in sorted(parts, key=lambda part: part[0]):
        paint_part()
    pygame.transform.smoothscale(large, (view.width, view.height), canvas)
    for tag in tags(scene, view):
        top = tag.box.top
        for (text, colour), (wide, high) in zip(tag.lines, tag.sizes, strict=True):
            box = pygame.Rect(tag.box.centerx - wide // 2, top, wide, high)
            glass = pygame.Surface(box.size, pygame.SRCALPHA)
            pygame.draw.rect(glass, colour, glass.get_rect(), border_radius=box.height // 3)
            canvas.blit(glass, box)
            canvas.blit(text, text.get_rect(center=box.center))
            top = box.bottom
    if view.key.header:
        header(canvas, view.key.header, scene.title, scene.status)


def bubbles(
    drones: Drones,
    state: DronesState,
    canvas: pygame.Surface,
    texts: Mapping[int, str],
    agent: int | None = None,
    camera: str = "",
) -> None:
    """Paint what drones say over a picture that `draw` made on this canvas, each text in a bubble
    at its drone."""
    view = _view(drones, canvas, camera)
    state = state if agent is None else as_read(drones, state, agent)
    scene = _scene(drones, state, agent, ())
    size = max(11, min(18, view.height // 32))
    for i, text in sorted(texts.items()):
        if text.strip():
            x, y = view.place(scene.position[i] + [0, 0, 0.4])
            above = [("midbottom", (x, y - size // 2))]
            width = max(120, view.width * 0.24)
            bubble(canvas, text, size, width, TEAMS[scene.sides[i]], above, (x, y))


def _view(drones: Drones, canvas: pygame.Surface, camera: str) -> ArenaView:
    chosen = one_of("camera", camera or drones.cameras[0], drones.cameras)
    return ArenaView(drones, canvas.get_size(), chosen)


def _scene(drones: Drones, state: DronesState, agent: int | None, labels: Sequence[str]) -> Scene:
    """What `draw.drone` and `draw.tags` of volleyball paint; its ball is out of the picture."""
    params = state.params if drones.physical else drones.params
    rotors = np.asarray(params.rotors, np.float64)
    hull = np.asarray(params.hull)
    frame = Frame(
        rotors=np.concatenate([rotors, np.zeros((len(rotors), 1))], axis=1),
        racket=0.0,
        racket_height=0.0,
        hull=float(hull[0]),
        hull_height=float(hull[1]),
        ball=0.0,
        rotor=AIRFRAMES[drones.airframe].propeller,
    )
    bodies = state.bodies
    position = np.array(bodies.position, np.float64)
    names = [*drones.agents[: drones.team], *(["evader"] if drones.pursuit else [])]
    own = drones.pursuit and agent is not None and agent < drones.team
    if own and not np.asarray(state.seen).any():
        position[-1] = np.asarray(state.known)[:3]
        names[-1] = f"evader, {int(state.unseen) * STEP:.1f} s ago"
    (x, y), _ = drones.plan.half, drones.plan.height
    seconds = float(state.time) * drones.repeat * STEP
    return Scene(
        length=2 * x,
        width=2 * y,
        net=0.0,
        frame=frame,
        position=position,
        axes=np.asarray(matrix(np.asarray(bodies.quaternion)), np.float64),
        thrust=np.asarray(bodies.thrust, np.float64),
        ball=np.zeros(3),
        ball_velocity=np.zeros(3),
        names=names,
        sides=[int(i == drones.team) for i in range(len(names))],
        own=agent,
        labels=labels,
        title=f"{drones.plan.title}, {seconds:.1f} s",
        status=_status(drones, state),
        camera="side",
    )


def _status(drones: Drones, state: DronesState) -> str:
    """A line on what goes on."""
    if bool(state.crashed):
        return "a collision"
    if drones.pursuit:
        if int(state.catcher):
            return f"caught by {drones.agents[int(state.catcher) - 1]}"
        gaps = np.asarray(state.bodies.position)
        gap = np.linalg.norm(gaps[:-1] - gaps[-1], axis=1).min()
        seen = "in sight" if np.asarray(state.seen).any() else "out of sight"
        return f"evader {seen} · nearest {gap:.1f} m"
    error = float(slot_error(drones, np.asarray(state.bodies.position)))
    return (
        f"goal {min(int(state.reached) + 1, drones.goals)} of {drones.goals} · error {error:.2f} m"
    )


# ---- what is painted -----------------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def _arena(drones: Drones, size: tuple[int, int], camera: str) -> pygame.Surface:
    """The floor and its walls, as large as things that move are painted."""
    view = ArenaView(drones, size, camera)
    surface = pygame.Surface((view.width * SHARPNESS, view.height * SHARPNESS))
    surface.fill(_WALL)
    pen = Brush(surface, view.camera)
    (x, y), z = drones.plan.half, drones.plan.height
    pen.shape(_FLOOR, [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)])
    for i, a in enumerate(np.arange(-x, x, 1.0)):
        for j, b in enumerate(np.arange(-y, y, 1.0)):
            if (i + j) % 2:
                c, d = min(a + 1, x), min(b + 1, y)
                pen.shape(_TILE, [(a, b, 0), (c, b, 0), (c, d, 0), (a, d, 0)])
    pen.ring(_LINE, [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)], 0.05)
    if camera != "above":
        top = 0.5 * z
        pen.shape((*_LINE, 36), [(-x, y, 0), (x, y, 0), (x, y, top), (-x, y, top)])
    return surface


def _marks(drones: Drones, state: DronesState, pen: Brush, scene: Scene) -> None:
    """Shadows, the places of the shape, and lines of sight."""
    for place in scene.position:
        pen.shape(_SHADOW, circle((place[0], place[1], 0.01), 0.28))
    if not drones.pursuit:
        goal = np.asarray(goal_of(state), np.float64)
        error = float(slot_error(drones, np.asarray(state.bodies.position)))
        colour = GOOD if error < 0.4 else _SLOT
        for slot in np.asarray(drones.slots, np.float64):
            place = goal + slot
            pen.line(mix(colour, INK, 0.4), (place[0], place[1], 0.0), place, 0.02)
            pen.ring(colour, circle(place, 0.3), 0.05)
            pen.ring(mix(colour, INK, 0.4), circle((place[0], place[1], 0.01), 0.3), 0.03)
        pen.dot(colour, goal, 0.08)
        middle = scene.position.mean(0)
        pen.line(FADED, middle, goal, 0.015)
        return
    for i in np.flatnonzero(np.asarray(state.seen)).tolist():
        pen.line(mix(TEAMS[0], PAPER, 0.3), scene.position[i], scene.position[-1], 0.02)
    prey = scene.position[-1]
    pen.ring(TEAMS[1], circle(prey, drones.capture), 0.03)
    pen.line(mix(TEAMS[1], INK, 0.3), (prey[0], prey[1], 0.0), prey, 0.015)


def _flyer(pen: Brush, scene: Scene, i: int) -> None:
    place = scene.position[i]
    pen.line(mix(TEAMS[scene.sides[i]], INK, 0.5), (place[0], place[1], 0.0), place, 0.012)
    if scene.own == i:
        pen.ring(PAPER, circle(place, 0.45), 0.04)
    drone(scene, pen, i)


def _post(drones: Drones, pen: Brush, place: tuple[float, float]) -> None:
    """A cylinder, see-through, of which the lower part is shown."""
    radius, top = drones.plan.radius, 0.6 * drones.plan.height
    low, high = circle((*place, 0.0), radius), circle((*place, top), radius)
    pen.shape((*_POST, 60), low)
    middle = np.array([*place, 0.0])
    eye = pen.camera.eye - middle
    across = np.array([-eye[1], eye[0], 0.0])
    across = across / max(float(np.linalg.norm(across)), 1e-6) * radius
    up = np.array([0.0, 0.0, top])
    pen.shape((*_POST, 150), [middle - across, middle + across, middle + across + up,
                              middle - across + up])  # fmt: skip
    pen.shape((*_POST_TOP, 190), high)
    pen.ring(mix(_POST_TOP, INK, 0.4), high, 0.02)
