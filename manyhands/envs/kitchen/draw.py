"""Pictures of the kitchen, painted with pygame's shapes: no image files, no display needed.

A sprite is painted four times too large and scaled down, which smooths its edges, then kept: a
frame of a known size is only blits. Sprites hold colours multiplied by their opacity, because that
is what scaling down opaque shapes on a clear surface gives, and are blitted as such.

Coordinates of the painting functions are in cells: (0, 0) is the north-west corner of the cell, and
(1, 1) the south-east one.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pygame

from manyhands.core.render import Colour, wrap, write
from manyhands.envs.kitchen.env import (
    DISH,
    EAST,
    NORTH,
    NOTHING,
    ONION,
    SOUP,
    TOMATO,
    WEST,
    Kitchen,
    KitchenState,
)
from manyhands.envs.kitchen.levels import (
    COUNTER,
    DIRECTIONS,
    FLOOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    VOID,
    Level,
)

BACKGROUND: Colour = (38, 42, 58)
INK: Colour = (30, 33, 46)
PAPER: Colour = (246, 243, 236)
FADED: Colour = (158, 164, 184)
FLOORS: tuple[Colour, Colour] = ((236, 231, 221), (227, 221, 209))
# Blue and orange first: the pair that most colour-blind people tell apart best.
CHEFS: tuple[Colour, ...] = (
    (58, 124, 214),
    (238, 130, 38),
    (52, 160, 98),
    (140, 92, 204),
    (222, 92, 150),
    (32, 158, 172),
)
_WOOD, _WOOD_EDGE, _WOOD_FRONT = (198, 150, 100), (214, 169, 119), (150, 106, 66)
_STEEL, _STEEL_DARK, _IRON = (176, 184, 194), (120, 129, 142), (66, 72, 84)
_ONION, _ONION_DARK, _TOMATO, _TOMATO_DARK = (
    (240, 190, 76),
    (196, 138, 40),
    (222, 60, 48),
    (168, 36, 32),
)
_LEAF, _CHINA, _CHINA_DARK = (84, 150, 66), (250, 250, 252), (190, 197, 208)
_SKIN, _SKIN_DARK = (250, 211, 172), (222, 172, 130)
_READY, _COOKING = (64, 176, 96), (244, 150, 40)

_SHARPNESS = 4  # how many times larger sprites are painted
_MARGIN = 0.5  # cells that a sprite may reach beyond its own, on every side


# ---- the picture ---------------------------------------------------------------------------------


def draw(
    kitchen: Kitchen, state: KitchenState, canvas: pygame.Surface, agent: int | None = None
) -> None:
    """Paint the kitchen on a surface of any size, letterboxed.

    For an agent, its own chef is marked, and cells that it cannot see are covered: the picture then
    depends on nothing that its view radius hides.
    """
    scene = _Scene(kitchen, state, canvas, agent)
    canvas.fill(BACKGROUND)
    if scene.header:
        _header(scene, canvas)
    for y in range(scene.rows):
        for x in range(scene.columns):
            _cell(scene, canvas, x, y)
    chefs = [i for i in range(kitchen.num_agents) if scene.sees_chef(i)]
    for i in sorted(chefs, key=lambda i: (scene.chefs[i][1], i)):
        x, y = scene.chefs[i]
        facing, held = int(scene.facing[i]), int(scene.held[i])
        _blit(canvas, scene, x, y, "chef", i % len(CHEFS), facing, held, i == agent)
    for y, x in np.argwhere((scene.terrain == POT) & (scene.timer > 1)):
        _timer(scene, canvas, int(x), int(y))  # over the hats of chefs below


def bubbles(
    kitchen: Kitchen,
    state: KitchenState,
    canvas: pygame.Surface,
    texts: Mapping[int, str],
    agent: int | None = None,
) -> None:
    """Paint what chefs say over a picture that `draw` made on this canvas, each text in a bubble at
    its chef; the words of a chef that `agent` cannot see stand in the corner, with its name."""
    scene = _Scene(kitchen, state, canvas, agent)
    size = max(11, min(24, round(scene.cell * 0.2)))
    corner = scene.top + size // 2
    for i, text in sorted(texts.items()):
        if not text.strip():
            continue
        seen = scene.sees_chef(i)
        words = text if seen else f"{kitchen.agents[i]}: {text}"
        width = max(scene.cell * 1.9, canvas.get_width() * 0.3)
        lines = wrap(words, size, round(min(width, canvas.get_width() * 0.8)), limit=4)
        images = [write(line, size, INK) for line in lines]
        pad = size // 2
        box = pygame.Rect(0, 0, max(im.get_width() for im in images) + 2 * pad, 0)
        box.height = len(images) * images[0].get_height() + pad
        tail = None
        if seen:
            x, y = scene.chefs[i]
            middle = scene.left + round((x + 0.5) * scene.cell)
            # Above the hat; beneath the feet where there is no room above.
            above = scene.top + round((y - 0.12) * scene.cell)
            fits = above - box.height - pad > 0
            box.midbottom = (middle, above - pad)
            if not fits:
                above = scene.top + round((y + 1.02) * scene.cell)
                box.midtop = (middle, above + pad)
            box.clamp_ip(canvas.get_rect().inflate(-4, -4))
            root = box.bottom - 2 if fits else box.top + 1
            tail = [(middle - pad, root), (middle + pad, root), (middle, above)]
        else:
            box.topleft = (scene.left + pad, corner)
            corner = box.bottom + pad
        colour = CHEFS[i % len(CHEFS)]
        pygame.draw.rect(canvas, colour, box.inflate(4, 4), border_radius=pad + 2)
        if tail:
            pygame.draw.polygon(canvas, colour, tail)
        pygame.draw.rect(canvas, PAPER, box, border_radius=pad)
        for k, image in enumerate(images):
            canvas.blit(image, (box.x + pad, box.y + pad // 2 + k * image.get_height()))


class _Scene:
    """Where everything goes on the canvas, and what of the state may be painted."""

    def __init__(
        self, kitchen: Kitchen, state: KitchenState, canvas: pygame.Surface, agent: int | None
    ):
        shape = (kitchen.height, kitchen.width)
        self.state, self.kitchen = state, kitchen
        self.terrain = np.asarray(state.terrain).reshape(shape)
        self.objects = np.asarray(state.objects).reshape(shape)
        self.timer = np.asarray(state.timer).reshape(shape)
        self.facing, self.held = np.asarray(state.facing), np.asarray(state.held)
        self.chefs = [(int(p) % shape[1], int(p) // shape[1]) for p in np.asarray(state.position)]
        self.level: Level = kitchen.levels[int(state.level)]
        # To a chef with a limited view, the size and the name of the kitchen are unknown as well.
        self.limited = agent is not None and kitchen.view_radius is not None
        self.rows, self.columns = shape if self.limited else self.level.terrain.shape
        self.seen = np.ones(shape, bool)
        if agent is not None and kitchen.view_radius is not None:
            x, y = self.chefs[agent]
            rows, columns = np.indices(shape)
            far = np.maximum(np.abs(columns - x), np.abs(rows - y))
            self.seen = far <= kitchen.view_radius
            self.terrain = np.where(self.seen, self.terrain, VOID)

        width, height = canvas.get_size()
        self.header = 0
        if width >= 200 and height >= 120:
            self.header = round(max(24, min(height * 0.11, width * 0.09, 72)))
        pad = min(width, height) // 60
        across, down = width - 2 * pad, height - self.header - 2 * pad
        self.cell = max(1, min(across // self.columns, down // self.rows))
        self.left = (width - self.cell * self.columns) // 2
        self.top = self.header + (height - self.header - self.cell * self.rows) // 2

    def ground(self, x: int, y: int) -> int:
        inside = 0 <= x < self.terrain.shape[1] and 0 <= y < self.terrain.shape[0]
        return int(self.terrain[y, x]) if inside else VOID

    def sees_chef(self, i: int) -> bool:
        x, y = self.chefs[i]
        return bool(self.seen[y, x])


def _cell(scene: _Scene, canvas: pygame.Surface, x: int, y: int) -> None:
    ground, thing = scene.ground(x, y), int(scene.objects[y, x])
    if not scene.seen[y, x]:
        _blit(canvas, scene, x, y, "fog", (x + y) % 2)
    elif ground == FLOOR:
        shade = (
            scene.ground(x, y - 1) not in (FLOOR, VOID),
            scene.ground(x - 1, y)
            not in (
                FLOOR,
                VOID,
            ),
        )
        _blit(canvas, scene, x, y, "floor", (x + y) % 2, *shade)
    elif ground != VOID:
        front = scene.ground(x, y + 1) in (FLOOR, VOID)
        _blit(canvas, scene, x, y, "counter", front)
        if ground == COUNTER:
            if thing != NOTHING:
                _blit(canvas, scene, x, y, "lying", thing)
        elif ground == POT:
            timer = int(scene.timer[y, x])
            status = "ready" if timer == 1 else "cooking" if timer else "idle"
            _blit(canvas, scene, x, y, "pot", thing >> 2 & 3, thing & 3, status)
        elif ground == SERVING:
            beside = [scene.ground(x - dx, y - dy) == FLOOR for dx, dy in DIRECTIONS]
            _blit(canvas, scene, x, y, "serving", beside.index(True) if any(beside) else NORTH)
        else:
            _blit(
                canvas, scene, x, y, {ONIONS: "onions", TOMATOES: "tomatoes"}.get(ground, "dishes")
            )


def _timer(scene: _Scene, canvas: pygame.Surface, x: int, y: int) -> None:
    """How far a pot has cooked, and the steps left."""
    inside = int(scene.objects[y, x])
    left = int(scene.timer[y, x]) - 1
    total = max(left, scene.level.times.get((inside >> 2 & 3, inside & 3), left), 1)
    bar = pygame.Rect(0, 0, round(scene.cell * 0.76), max(3, round(scene.cell * 0.13)))
    bar.midbottom = (
        scene.left + round((x + 0.5) * scene.cell),
        scene.top + round((y + 0.95) * scene.cell),
    )
    _bar(canvas, bar, 1 - left / total, _COOKING)
    if scene.cell >= 28:
        label = write(str(left), max(9, round(scene.cell * 0.2)), PAPER, INK)
        canvas.blit(label, label.get_rect(center=bar.center))


def _header(scene: _Scene, canvas: pygame.Surface) -> None:
    state, kitchen, high = scene.state, scene.kitchen, scene.header
    width = canvas.get_width()
    pygame.draw.rect(canvas, INK, (0, 0, width, high))
    gap = high // 3
    x = gap
    left = kitchen.max_steps - int(state.time)
    big, small = round(high * 0.46), max(9, round(high * 0.24))
    for label, value in (
        ("SCORE", int(state.score)),
        ("SOUPS", int(state.soups)),
        ("TIME", left),
    ):
        name, number = write(label, small, FADED), write(str(value), big, PAPER)
        canvas.blit(name, (x, round(high * 0.12)))
        canvas.blit(number, (x, round(high * 0.42)))
        # Room for as many digits as the number can grow to, so that nothing jumps about.
        room = max(name.get_width(), write("8888", big, PAPER).get_width())
        if label == "TIME":
            track = pygame.Rect(x, 0, room, max(2, high // 14))
            track.bottom = high - 2
            _bar(canvas, track, left / kitchen.max_steps, FADED)
        x += room + gap
    if scene.limited:
        return
    # The orders, from the right, as many as there is room for; then the name of the layout.
    card = round(high * 0.72)
    right, top = width - gap, (high - card) // 2
    hidden = 0
    for recipe in scene.level.orders:
        value = write(str(scene.level.worth(recipe)), round(high * 0.34), INK)
        icons = round(card * 0.62)
        wide = sum(recipe) * round(icons * 0.72) + round(icons * 0.28) + value.get_width() + gap
        if right - wide < x:
            hidden += 1
            continue
        box = pygame.Rect(right - wide, top, wide, card)
        pygame.draw.rect(canvas, PAPER, box, border_radius=card // 4)
        for k, thing in enumerate([ONION] * recipe[0] + [TOMATO] * recipe[1]):
            place = (box.x + gap // 3 + round(k * icons * 0.72), box.centery - icons // 2)
            _stamp(canvas, place, icons, "thing", thing)
        canvas.blit(value, value.get_rect(midright=(box.right - gap // 3, box.centery)))
        right = box.x - gap // 2
    if not hidden:
        title = write(scene.level.name.replace("_", " "), small, FADED)
        if right - title.get_width() - gap > x:
            canvas.blit(title, title.get_rect(midright=(right - gap // 2, high // 2)))


def _bar(canvas: pygame.Surface, box: pygame.Rect, share: float, colour: Colour) -> None:
    radius = box.height // 2
    pygame.draw.rect(canvas, INK, box.inflate(2, 2), border_radius=radius + 1)
    pygame.draw.rect(canvas, (86, 92, 112), box, border_radius=radius)
    filled = pygame.Rect(box.x, box.y, round(box.width * min(max(share, 0.0), 1.0)), box.height)
    if filled.width > 0:
        pygame.draw.rect(canvas, colour, filled, border_radius=radius)


# ---- sprites -------------------------------------------------------------------------------------


class _Pen:
    """Shapes in cell coordinates on a large surface."""

    def __init__(self, surface: pygame.Surface, x: float, y: float, scale: float):
        self.surface, self.x, self.y, self.scale = surface, x, y, scale

    def at(self, x: float, y: float, scale: float) -> _Pen:
        """A pen whose cell is centred on (x, y) and `scale` times as large."""
        corner = (x - scale / 2, y - scale / 2)
        return _Pen(
            self.surface,
            self.x + corner[0] * self.scale,
            self.y + corner[1] * self.scale,
            self.scale * scale,
        )

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.x + x * self.scale, self.y + y * self.scale

    def box(self, colour: Any, x: float, y: float, w: float, h: float, radius: float = 0.0) -> None:
        left, top = map(round, self.point(x, y))
        right, bottom = map(round, self.point(x + w, y + h))
        rect = (left, top, right - left, bottom - top)
        pygame.draw.rect(self.surface, colour, rect, border_radius=round(radius * self.scale))

    def oval(self, colour: Any, x: float, y: float, rx: float, ry: float | None = None) -> None:
        ry = rx if ry is None else ry
        left, top = map(round, self.point(x - rx, y - ry))
        rect = (left, top, round(2 * rx * self.scale), round(2 * ry * self.scale))
        pygame.draw.ellipse(self.surface, colour, rect)

    def shape(self, colour: Any, *points: tuple[float, float]) -> None:
        pygame.draw.polygon(self.surface, colour, [self.point(*p) for p in points])

    def stroke(self, colour: Any, width: float, *points: tuple[float, float]) -> None:
        """A line with round joints and ends."""
        placed = [self.point(*p) for p in points]
        thick = max(1, round(width * self.scale))
        for a, b in itertools.pairwise(placed):
            pygame.draw.line(self.surface, colour, a, b, thick)
            length = math.hypot(b[0] - a[0], b[1] - a[1]) or 1.0
            nx, ny = (a[1] - b[1]) / length * thick / 2, (b[0] - a[0]) / length * thick / 2
            corners = [(a[0] + nx, a[1] + ny), (b[0] + nx, b[1] + ny)]
            corners += [(b[0] - nx, b[1] - ny), (a[0] - nx, a[1] - ny)]
            pygame.draw.polygon(self.surface, colour, corners)
        for p in placed:
            pygame.draw.circle(self.surface, colour, p, thick / 2)

    def curve(
        self, colour: Any, width: float, x: float, y: float, rx: float, ry: float, a: int, b: int
    ) -> None:
        """Part of an oval's outline, from `a` to `b` degrees (0 east, 90 south)."""
        steps = [math.radians(a + (b - a) * k / 16) for k in range(17)]
        points = [(x + rx * math.cos(t), y + ry * math.sin(t)) for t in steps]
        self.stroke(colour, width, *points)


def _blit(canvas: pygame.Surface, scene: _Scene, x: int, y: int, name: str, *args: Any) -> None:
    place = (scene.left + x * scene.cell, scene.top + y * scene.cell)
    _stamp(canvas, place, scene.cell, name, *args)


def _stamp(
    canvas: pygame.Surface, place: tuple[int, int], cell: int, name: str, *args: Any
) -> None:
    margin = math.ceil(cell * _MARGIN)
    image = _sprite(cell, name, *args)
    corner = (place[0] - margin, place[1] - margin)
    canvas.blit(image, corner, special_flags=pygame.BLEND_PREMULTIPLIED)


@functools.lru_cache(maxsize=256)
def _sprite(cell: int, name: str, *args: Any) -> pygame.Surface:
    size = cell + 2 * math.ceil(cell * _MARGIN)
    large = pygame.Surface((size * _SHARPNESS,) * 2, pygame.SRCALPHA)
    corner = math.ceil(cell * _MARGIN) * _SHARPNESS
    _PAINTERS[name](_Pen(large, corner, corner, cell * _SHARPNESS), *args)
    return pygame.transform.smoothscale(large, (size, size))


def _darker(colour: Colour, by: float = 0.75) -> Colour:
    r, g, b = colour
    return round(r * by), round(g * by), round(b * by)


def _lighter(colour: Colour, by: float = 0.4) -> Colour:
    r, g, b = (round(c + (255 - c) * by) for c in colour)
    return r, g, b


def _paint_fog(pen: _Pen, odd: int) -> None:
    pen.box((50, 55, 74) if odd else (46, 51, 69), 0, 0, 1, 1)


def _paint_floor(pen: _Pen, odd: int, north: bool, west: bool) -> None:
    colour = FLOORS[odd]
    pen.box(colour, 0, 0, 1, 1)
    if north:
        pen.box(_darker(colour, 0.88), 0, 0, 1, 0.09)
    if west:
        pen.box(_darker(colour, 0.92), 0, 0, 0.05, 1)


def _paint_counter(pen: _Pen, front: bool) -> None:
    pen.box(_WOOD_FRONT, 0, 0, 1, 1)
    depth = 0.86 if front else 1.0
    pen.box(_darker(_WOOD, 0.9), 0, 0, 1, depth)
    pen.box(_WOOD_EDGE, 0.02, 0.02, 0.96, depth - 0.04, 0.05)
    pen.box(_WOOD, 0.05, 0.05, 0.9, depth - 0.09, 0.04)
    if front:
        pen.box(_darker(_WOOD_FRONT, 0.82), 0, 0.965, 1, 0.035)


def _paint_onion(pen: _Pen) -> None:
    pen.stroke(_LEAF, 0.08, (0.5, 0.3), (0.44, 0.12))
    pen.stroke(_LEAF, 0.08, (0.5, 0.3), (0.57, 0.1))
    pen.shape(_ONION_DARK, (0.3, 0.4), (0.5, 0.16), (0.7, 0.4))
    pen.oval(_ONION_DARK, 0.5, 0.58, 0.34, 0.3)
    pen.shape(_ONION, (0.35, 0.4), (0.5, 0.22), (0.65, 0.4))
    pen.oval(_ONION, 0.5, 0.575, 0.3, 0.262)
    pen.curve(_ONION_DARK, 0.03, 0.5, 0.575, 0.13, 0.24, 110, 250)
    pen.curve(_ONION_DARK, 0.03, 0.5, 0.575, 0.13, 0.24, -70, 70)
    pen.oval(_lighter(_ONION, 0.6), 0.37, 0.5, 0.05, 0.08)
    pen.stroke(_ONION_DARK, 0.03, (0.46, 0.87), (0.45, 0.91))
    pen.stroke(_ONION_DARK, 0.03, (0.54, 0.87), (0.55, 0.91))


def _paint_tomato(pen: _Pen) -> None:
    pen.oval(_TOMATO_DARK, 0.5, 0.57, 0.36, 0.32)
    pen.oval(_TOMATO, 0.5, 0.565, 0.32, 0.28)
    pen.oval(_lighter(_TOMATO, 0.55), 0.35, 0.5, 0.05, 0.08)
    for angle in (200, 245, 290, 335):
        tip = math.radians(angle + 2)
        end = (0.5 + 0.2 * math.cos(tip), 0.36 - 0.1 * math.sin(tip))
        pen.stroke(_LEAF, 0.07, (0.5, 0.32), end)
    pen.stroke(_darker(_LEAF), 0.07, (0.5, 0.32), (0.52, 0.2))


def _paint_dish(pen: _Pen) -> None:
    pen.oval(_CHINA_DARK, 0.5, 0.58, 0.4, 0.3)
    pen.oval(_CHINA, 0.5, 0.55, 0.4, 0.3)
    pen.oval(_CHINA_DARK, 0.5, 0.555, 0.26, 0.19)
    pen.oval((236, 239, 244), 0.5, 0.57, 0.245, 0.17)


def _soup_colour(onions: int, tomatoes: int) -> Colour:
    share = tomatoes / max(onions + tomatoes, 1)
    mixed = [round(a + (b - a) * share) for a, b in zip(_ONION, _TOMATO, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def _paint_pieces(
    pen: _Pen, onions: int, tomatoes: int, y: float, spread: float, size: float
) -> None:
    """Up to three ingredients in a triangle about (0.5, y)."""
    things = [ONION] * onions + [TOMATO] * tomatoes
    places = {
        1: [(0.0, 0.0)],
        2: [(-1.0, 0.0), (1.0, 0.0)],
        3: [(0.0, -0.75), (-1.1, 0.45), (1.1, 0.45)],
    }
    for thing, (dx, dy) in zip(things, places.get(len(things), []), strict=True):
        _paint_thing(pen.at(0.5 + dx * spread, y + dy * spread, size), thing)


def _paint_soup(pen: _Pen, onions: int, tomatoes: int) -> None:
    colour = _soup_colour(onions, tomatoes)
    pen.oval(_CHINA_DARK, 0.5, 0.62, 0.43, 0.33)
    pen.oval(_CHINA, 0.5, 0.57, 0.43, 0.33)
    pen.oval(_darker(colour, 0.8), 0.5, 0.565, 0.35, 0.255)
    pen.oval(_lighter(colour, 0.12), 0.5, 0.585, 0.335, 0.23)
    _paint_pieces(pen, onions, tomatoes, 0.56, 0.14, 0.34)


def _paint_thing(pen: _Pen, thing: int) -> None:
    if thing == ONION:
        _paint_onion(pen)
    elif thing == TOMATO:
        _paint_tomato(pen)
    elif thing == DISH:
        _paint_dish(pen)
    elif thing >= SOUP:
        _paint_soup(pen, thing >> 2 & 3, thing & 3)


def _paint_lying(pen: _Pen, thing: int) -> None:
    pen.oval(_darker(_WOOD, 0.8), 0.5, 0.68, 0.3, 0.12)
    _paint_thing(pen.at(0.5, 0.42, 0.66), thing)


def _paint_crate(pen: _Pen, thing: int) -> None:
    wood, dark = (232, 196, 142), (168, 122, 72)
    pen.box(dark, 0.08, 0.14, 0.84, 0.72, 0.06)
    pen.box((110, 76, 44), 0.14, 0.19, 0.72, 0.42, 0.03)
    for x, y in ((0.3, 0.27), (0.52, 0.24), (0.72, 0.28), (0.4, 0.43), (0.63, 0.44)):
        _paint_thing(pen.at(x, y, 0.38), thing)
    pen.box(wood, 0.08, 0.55, 0.84, 0.31, 0.05)
    pen.box(dark, 0.08, 0.69, 0.84, 0.025)
    for x in (0.13, 0.83):
        pen.oval(dark, x + 0.02, 0.62, 0.018)
        pen.oval(dark, x + 0.02, 0.78, 0.018)


def _paint_dishes(pen: _Pen) -> None:
    pen.oval(_darker(_WOOD, 0.8), 0.5, 0.72, 0.4, 0.16)
    for k in range(4):
        _paint_dish(pen.at(0.5, 0.56 - k * 0.075, 0.86))


def _paint_serving(pen: _Pen, towards: int) -> None:
    """A belt whose arrows point away from the kitchen."""
    pen.box(_STEEL_DARK, 0.04, 0.04, 0.92, 0.82, 0.06)
    pen.box((58, 132, 98), 0.1, 0.1, 0.8, 0.7, 0.05)
    dx, dy = DIRECTIONS[towards]
    for k in (-1, 0, 1):
        x, y = 0.5 + dx * 0.22 * k, 0.45 + dy * 0.2 * k
        tip = (x + dx * 0.09, y + dy * 0.09)
        ends = [(x - dx * 0.06 + s * dy * 0.2, y - dy * 0.06 + s * dx * 0.2) for s in (-1, 1)]
        pen.stroke((190, 236, 206), 0.07, ends[0], tip, ends[1])


def _paint_pot(pen: _Pen, onions: int, tomatoes: int, status: str) -> None:
    pen.box(_STEEL_DARK, 0.05, 0.05, 0.9, 0.8, 0.06)
    pen.box(_STEEL, 0.07, 0.06, 0.86, 0.76, 0.05)
    if status == "cooking":
        for x in (0.3, 0.43, 0.57, 0.7):
            pen.shape(_COOKING, (x - 0.06, 0.84), (x, 0.7), (x + 0.06, 0.84))
    # Handles, the wall of the pot, its rim, and what is inside.
    for x in (0.1, 0.9):
        pen.box(_IRON, x - 0.06, 0.34, 0.12, 0.1, 0.04)
    pen.box(_darker(_IRON, 0.8), 0.16, 0.34, 0.68, 0.44, 0.16)
    pen.box(_IRON, 0.16, 0.34, 0.6, 0.42, 0.16)
    pen.oval(_lighter(_IRON, 0.35), 0.5, 0.36, 0.36, 0.24)
    pen.oval(_darker(_IRON, 0.6), 0.5, 0.36, 0.31, 0.195)
    count = onions + tomatoes
    if count:
        colour = _soup_colour(onions, tomatoes)
        if status == "idle":
            pen.oval((92, 138, 172), 0.5, 0.385, 0.29, 0.165)
        else:
            pen.oval(_lighter(colour, 0.12), 0.5, 0.375, 0.3, 0.18)
        _paint_pieces(pen, onions, tomatoes, 0.36, 0.13, 0.32)
    if status == "ready":
        for x in (0.36, 0.5, 0.64):
            y = 0.14 if x == 0.5 else 0.18
            wave = [(x + 0.025 * math.sin(k * 1.3), y - 0.16 + k * 0.035) for k in range(7)]
            pen.stroke((255, 255, 255), 0.035, *wave)
        pen.oval(PAPER, 0.8, 0.72, 0.19)
        pen.oval(_READY, 0.8, 0.72, 0.16)
        pen.stroke(PAPER, 0.05, (0.72, 0.73), (0.78, 0.79), (0.88, 0.66))


def _paint_chef(pen: _Pen, number: int, facing: int, held: int, own: bool) -> None:
    colour = CHEFS[number]
    dark, white, shade = _darker(colour), (252, 252, 252), (214, 219, 230)
    dx = DIRECTIONS[facing][0]
    # On the floor: the shadow, and a ring about oneself.
    pen.oval((0, 0, 0, 60), 0.5, 0.86, 0.3, 0.11)
    if own:
        pen.oval(colour, 0.5, 0.84, 0.42, 0.17)
        pen.oval(PAPER, 0.5, 0.84, 0.36, 0.13)
    place, hands = {
        NORTH: ((0.85, 0.26), [(0.16, 0.66), (0.83, 0.44)]),
        EAST: ((0.86, 0.56), [(0.72, 0.62), (0.78, 0.67)]),
        WEST: ((0.14, 0.56), [(0.28, 0.62), (0.22, 0.67)]),
    }.get(facing, ((0.5, 0.7), [(0.3, 0.7), (0.7, 0.7)]))
    if held == NOTHING:
        hands = [(0.24 + 0.04 * dx, 0.68), (0.76 + 0.04 * dx, 0.68)]
    # Feet, body, apron.
    for x in (0.39, 0.61):
        pen.oval((58, 52, 60), x + 0.03 * dx, 0.86, 0.1, 0.06)
    pen.box(dark, 0.24, 0.46, 0.52, 0.4, 0.19)
    pen.box(colour, 0.26, 0.46, 0.48, 0.37, 0.18)
    if facing != NORTH:
        pen.box(white, 0.36 + 0.1 * dx, 0.58, 0.28, 0.25, 0.06)
    else:
        pen.stroke(white, 0.04, (0.3, 0.68), (0.7, 0.68))
        pen.stroke(white, 0.04, (0.5, 0.68), (0.44, 0.76))
        pen.stroke(white, 0.04, (0.5, 0.68), (0.56, 0.76))
    # The head and its hat.
    x = 0.5 + 0.03 * dx
    pen.oval(_SKIN_DARK, x, 0.41, 0.225, 0.19)
    pen.oval(_SKIN if facing != NORTH else (120, 80, 56), x, 0.4, 0.21, 0.18)
    if facing in (EAST, WEST):
        pen.oval((120, 80, 56), x - 0.15 * dx, 0.39, 0.09, 0.13)
        pen.oval(_SKIN_DARK, x + 0.215 * dx, 0.43, 0.04, 0.035)
        pen.oval(INK, x + 0.11 * dx, 0.4, 0.028, 0.038)
    elif facing != NORTH:
        for s in (-1, 1):
            pen.oval(INK, x + 0.08 * s, 0.41, 0.028, 0.038)
            pen.oval((244, 170, 140), x + 0.14 * s, 0.47, 0.035, 0.025)
        pen.oval(_SKIN_DARK, x, 0.46, 0.03, 0.025)
    pen.box(shade, x - 0.2, 0.12, 0.4, 0.22, 0.06)
    for cx, cy, r in ((-0.17, 0.09, 0.13), (0.17, 0.09, 0.13), (0.0, 0.03, 0.16)):
        pen.oval(shade, x + cx, cy + 0.02, r + 0.01)
    for cx, cy, r in ((-0.17, 0.08, 0.12), (0.17, 0.08, 0.12), (0.0, 0.02, 0.15)):
        pen.oval(white, x + cx, cy, r)
    pen.box(white, x - 0.18, 0.08, 0.36, 0.18, 0.04)
    pen.box(colour, x - 0.2, 0.22, 0.4, 0.11, 0.04)
    # What is carried, and the hands, in front of everything; held up beside the hat if the chef
    # turns its back.
    if facing == NORTH and held != NOTHING:
        pen.stroke(dark, 0.13, (0.7, 0.58), hands[1])
    if held != NOTHING:
        _paint_thing(pen.at(*place, 0.58), held)
    for x, y in hands:
        pen.oval(_SKIN_DARK, x, y, 0.075)
        pen.oval(_SKIN, x, y - 0.005, 0.062)


_PAINTERS: dict[str, Any] = {
    "fog": _paint_fog,
    "floor": _paint_floor,
    "counter": _paint_counter,
    "thing": _paint_thing,
    "lying": _paint_lying,
    "onions": functools.partial(_paint_crate, thing=ONION),
    "tomatoes": functools.partial(_paint_crate, thing=TOMATO),
    "dishes": _paint_dishes,
    "serving": _paint_serving,
    "pot": _paint_pot,
    "chef": _paint_chef,
}
