"""From metres to pixels: pinhole cameras behind a team or beside the court, shapes in space."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pygame

from manyhands.core.render import Colour
from manyhands.envs.volleyball.scene import Scene

SHARPNESS = 2  # how many times larger everything that moves is painted
_CEILING = 4.6  # m above the floor that are in the picture


@dataclasses.dataclass(frozen=True)
class Key:
    """What the parts of a picture that do not move depend on."""

    size: tuple[int, int]
    header: int
    length: float
    width: float
    net: float
    watched: int
    region: tuple[float, float, float]
    camera: str = "behind"


class Camera:
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


def camera_for(key: Key, sharpness: int) -> Camera:
    width, height = (sharpness * n for n in key.size)
    top = sharpness * key.header
    pad = sharpness * max(4, round(0.02 * key.size[1]))
    area = pygame.Rect(pad, top + pad, width - 2 * pad, height - top - 2 * pad)
    near, far, side = key.region
    span = near - far
    if key.camera == "side":  # the net edge-on, the side that watches on the left
        middle = (near + far) / 2
        eye = (middle, side + 0.8 * span + 3.0, 2.2 + 0.1 * span)
        corners = [
            (x, y, z) for x in (near, far) for y, z in ((-side, 0), (side, 0), (0, _CEILING))
        ]
        return Camera(eye, (middle, 0.0, 1.6), corners, area)
    eye = (near + 0.22 * span + 2.6, 0.0, 3.6 + 0.16 * span)
    target = (near - 0.6 * span, 0.0, 1.2)
    corners = [(x, y, 0) for x in (near + 0.2, far) for y in (-side, side)]
    middle = max(far, min(near, 0.0) if far < 0 else (near + far) / 2)
    air = [(middle, y, _CEILING) for y in (-side / 2, side / 2)]
    return Camera(eye, target, [*corners, *air], area)


class View:
    """The canvas, its camera and its sizes."""

    def __init__(self, scene: Scene, size: tuple[int, int]):
        self.width, self.height = size
        header = round(max(24, min(self.height * 0.09, 56))) if min(size) >= 120 else 0
        whole = (scene.length / 2, -scene.length / 2, scene.width / 2)
        region = scene.region or whole
        self.key = Key(
            size, header, scene.length, scene.width, scene.net, scene.watched, region, scene.camera
        )
        self.camera = camera_for(self.key, SHARPNESS)
        self.letters = max(10, min(16, self.height // 44))

    def place(self, point: Any) -> np.ndarray:
        """Pixels of a point on the canvas."""
        flat: np.ndarray = self.camera(point)[0] / SHARPNESS
        return flat


class Brush:
    """Shapes in space on a surface."""

    def __init__(self, surface: pygame.Surface, camera: Camera):
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
        r = max(radius * float(size), least * SHARPNESS)
        pygame.draw.circle(self.surface, colour, place, r)


def circle(middle: Any, radius: float, axes: np.ndarray | None = None, n: int = 28) -> np.ndarray:
    """f64[n, 3]: a circle in the plane of the first two columns of `axes`, or on the floor."""
    turn = np.linspace(0, 2 * math.pi, n, endpoint=False)
    across = np.eye(3) if axes is None else axes
    flat = np.stack([np.cos(turn), np.sin(turn)]) * radius
    return np.asarray(middle) + flat.T @ across[:, :2].T
