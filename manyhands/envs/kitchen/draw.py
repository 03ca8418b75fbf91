"""Pictures of the kitchen, painted with pygame's shapes: no image files, no display needed.

A sprite is painted four times too large and scaled down, which smooths its edges, then kept: a
frame of a known size is only blits. Sprites hold colours multiplied by their opacity, because that
is what scaling down opaque shapes on a clear surface gives, and are blitted as such.

Coordinates of the painting functions are in cells: (0, 0) is the north-west corner of the cell, and
(1, 1) the south-east one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pygame

from manyhands.core.paint import (
    BACKGROUND,
    FADED,
    GOOD,
    INK,
    PAPER,
    PLAYERS,
    SKIN,
    Pen,
    bar,
    bubble,
    header_height,
    mix,
    player_colour,
)
from manyhands.core.render import Colour, wrap, write
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.levels import (
    BUTTON,
    CARROTS,
    COUNTER,
    DIRECTIONS,
    FLOOR,
    INDICATOR,
    MUSHROOMS,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    VOID,
    Level,
    Recipe,
)
from manyhands.envs.kitchen.relabel import seen_by
from manyhands.envs.kitchen.state import (
    BLOCKED,
    CARROT,
    DISH,
    EAST,
    MUSHROOM,
    NORTH,
    NOTHING,
    ONION,
    SOUP,
    TOMATO,
    WEST,
    KitchenState,
)

FLOORS: tuple[Colour, Colour] = ((236, 231, 221), (227, 221, 209))
_WOOD, _WOOD_EDGE, _WOOD_FRONT = (198, 150, 100), (214, 169, 119), (150, 106, 66)
_STEEL, _STEEL_DARK, _IRON = (176, 184, 194), (120, 129, 142), (66, 72, 84)
_ONION, _ONION_DARK, _TOMATO, _TOMATO_DARK = (
    (240, 190, 76),
    (196, 138, 40),
    (222, 60, 48),
    (168, 36, 32),
)
_CARROT, _CARROT_DARK, _CAP, _CAP_DARK, _STEM = (
    (242, 128, 34),
    (190, 88, 18),
    (156, 112, 84),
    (112, 76, 54),
    (238, 226, 206),
)
_SLATE, _SLATE_EDGE = (40, 48, 58), (92, 74, 52)
_LEAF, _CHINA, _CHINA_DARK = (84, 150, 66), (250, 250, 252), (190, 197, 208)
_GOLD, _BLOCKED = (246, 190, 44), (214, 48, 49)
_SKIN_DARK, _COOKING = (222, 172, 130), (244, 150, 40)

_SHARPNESS = 4  # how many times larger sprites are painted
_CLOCK_FROM = 22  # pixels of an order card from which its steps of cooking can be read
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
        _blit(canvas, scene, x, y, "chef", i % len(PLAYERS), facing, held, i == agent)
    for i in chefs:
        _marks(scene, canvas, i)
    for y, x in np.argwhere((scene.terrain == POT) & (scene.timer > 1)):
        _timer(scene, canvas, int(x), int(y))  # over the hats of chefs below


def bubbles(
    kitchen: Kitchen,
    state: KitchenState,
    canvas: pygame.Surface,
    texts: Mapping[int, str],
    agent: int | None = None,
    camera: str = "",
) -> None:
    """Paint what chefs say over a picture that `draw` made on this canvas, each text in a bubble at
    its chef; the words of a chef that `agent` cannot see stand in the corner, with its name."""
    scene = _Scene(kitchen, state, canvas, agent)
    size = max(11, min(24, round(scene.cell * 0.2)))
    pad, corner = size // 2, scene.top + size // 2
    width = min(max(scene.cell * 1.9, canvas.get_width() * 0.3), canvas.get_width() * 0.8)
    for i, text in sorted(texts.items()):
        if not text.strip():
            continue
        colour = player_colour(i)
        if not scene.sees_chef(i):
            place = ("topleft", (scene.left + pad, corner))
            named = f"{kitchen.agents[i]}: {text}"
            corner = bubble(canvas, named, size, width, colour, [place]).bottom + pad
            continue
        x, y = scene.chefs[i]
        middle = scene.left + round((x + 0.5) * scene.cell)
        # Above the hat; beneath the feet where there is no room above.
        lines = len(wrap(text, size, round(width), limit=4))
        tip = scene.top + round((y - 0.12) * scene.cell)
        place = ("midbottom", (middle, tip - pad))
        if tip - lines * write("A", size, INK).get_height() - 2 * pad <= 0:
            tip = scene.top + round((y + 1.02) * scene.cell)
            place = ("midtop", (middle, tip + pad))
        bubble(canvas, text, size, width, colour, [place], (middle, tip))


class _Scene:
    """Where everything goes on the canvas, and what of the state may be painted."""

    def __init__(
        self, kitchen: Kitchen, state: KitchenState, canvas: pygame.Surface, agent: int | None
    ):
        shape = (kitchen.height, kitchen.width)
        if agent is not None:
            state = seen_by(kitchen, state, agent)
        self.state, self.kitchen = state, kitchen
        self.terrain = np.asarray(state.terrain).reshape(shape)
        self.objects = np.asarray(state.objects).reshape(shape)
        self.timer = np.asarray(state.timer).reshape(shape)
        self.recipe = 0 if state.asked is None else int(state.asked.recipe)
        # Where the recipe shows.
        self.shows = (self.terrain == INDICATOR) | ((self.terrain == BUTTON) & (self.timer > 0))
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
        shown = state.asked if kitchen.show_delivery else None
        self.delivered = shown is not None and bool(shown.delivered)
        # A chef may not know what is asked for.
        self.known = agent is None or bool((self.shows & self.seen).any())

        width, height = canvas.get_size()
        self.header = header_height(canvas)
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
            _blit(canvas, scene, x, y, "pot", ask.counts(thing), status)
        elif ground in (INDICATOR, BUTTON):
            recipe = ask.counts(scene.recipe) if scene.shows[y, x] else ()
            left = int(scene.timer[y, x]) if ground == BUTTON else None
            _blit(canvas, scene, x, y, "recipe", recipe, left)
        elif ground == SERVING:
            beside = [scene.ground(x - dx, y - dy) == FLOOR for dx, dy in DIRECTIONS]
            way = beside.index(True) if any(beside) else NORTH
            _blit(canvas, scene, x, y, "serving", way, scene.delivered)
        else:
            _blit(canvas, scene, x, y, _CRATES.get(ground, "dishes"))


def _timer(scene: _Scene, canvas: pygame.Surface, x: int, y: int) -> None:
    """How far a pot has cooked, and the steps left."""
    inside = int(scene.objects[y, x])
    left = int(scene.timer[y, x]) - 1
    total = max(left, scene.level.times.get(scene.level.recipe_of(inside), left), 1)
    box = pygame.Rect(0, 0, round(scene.cell * 0.76), max(3, round(scene.cell * 0.13)))
    box.midbottom = (
        scene.left + round((x + 0.5) * scene.cell),
        scene.top + round((y + 0.95) * scene.cell),
    )
    bar(canvas, box, 1 - left / total, _COOKING)
    if scene.cell >= 28:
        label = write(str(left), max(9, round(scene.cell * 0.2)), PAPER, INK)
        canvas.blit(label, label.get_rect(center=box.center))


def _header(scene: _Scene, canvas: pygame.Surface) -> None:
    state, kitchen, high = scene.state, scene.kitchen, scene.header
    width = canvas.get_width()
    pygame.draw.rect(canvas, INK, (0, 0, width, high))
    gap = high // 3
    x = gap
    left = kitchen.max_steps - int(state.time)
    big, small = round(high * 0.46), max(7, round(high * 0.24))
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
            bar(canvas, track, left / kitchen.max_steps, FADED)
        x += room + gap
    right = _orders(scene, canvas, x, width - gap)
    if not scene.limited:
        title = write(scene.level.name.replace("_", " "), small, FADED)
        if right - title.get_width() - gap > x:
            canvas.blit(title, title.get_rect(midright=(right - gap // 2, high // 2)))


def _orders(scene: _Scene, canvas: pygame.Surface, left: int, right: int) -> int:
    """The order cards, from the right, in one row or two, as large as they all fit; returns where
    they begin. A card shows the soup, its points, a clock with its steps of cooking, and a star
    for a bonus order. Small cards have no clock, and the smallest pictures say how many cards there
    was no room for."""
    level, high = scene.level, scene.header
    orders = [recipe for recipe in level.orders if level.worth(recipe)]
    if level.asked:
        orders = [level.recipe_of(scene.recipe)] if scene.known else []
        if not orders:
            mark = write("?", round(high * 0.6), FADED)
            canvas.blit(mark, mark.get_rect(midright=(right, high // 2)))
            return right - mark.get_width()
    gap = max(2, high // 10)
    for rows, share in ((1, 0.74), (1, 0.64), (1, 0.56), (2, 0.46), (2, 0.4), (2, 0.34)):
        card = round(high * share)
        wide = {recipe: _card_width(level, recipe, card) + gap for recipe in orders}
        half = -(-len(orders) // rows)
        lines = [orders[:half], orders[half:]][:rows]
        if all(sum(wide[recipe] for recipe in line) <= right - left for line in lines):
            break
    else:  # a picture too small for all: room for the number of the others
        left += write(f"+{len(orders)}", max(7, card // 2), FADED).get_width() + gap
    begin, shown = right, 0
    for row, line in enumerate(lines):
        middle = high // 2 if rows == 1 else round(high * (0.27 + 0.47 * row))
        at = right
        for recipe in line:
            if at - wide[recipe] < left:
                break
            shown += 1
            box = pygame.Rect(at - wide[recipe] + gap, middle - card // 2, 0, card)
            box.width = wide[recipe] - gap
            _card(scene, canvas, recipe, box)
            at -= wide[recipe]
        begin = min(begin, at)
    if shown < len(orders):
        more = write(f"+{len(orders) - shown}", max(7, card // 2), FADED)
        canvas.blit(more, more.get_rect(midright=(begin, high // 2)))
        begin -= more.get_width() + gap
    return begin


def _card(scene: _Scene, canvas: pygame.Surface, recipe: Recipe, box: pygame.Rect) -> None:
    level, card = scene.level, box.height
    bonus = recipe in level.bonus_orders
    pygame.draw.rect(canvas, PAPER, box, border_radius=card // 4)
    if bonus:
        pygame.draw.rect(canvas, _GOLD, box, max(2, card // 16), border_radius=card // 4)
    icons = round(card * 0.62)
    for k, thing in enumerate(_pieces(recipe)):
        place = (box.x + card // 7 + round(k * icons * 0.72), box.centery - icons // 2)
        _stamp(canvas, place, icons, "thing", thing)
    value, time = _card_words(level, recipe, card)
    edge = box.right - card // 6
    high = 0.5 if time is None else 0.34
    canvas.blit(value, value.get_rect(midright=(edge, box.y + round(card * high))))
    if time is not None:
        spot = time.get_rect(midright=(edge, box.y + round(card * 0.74)))
        canvas.blit(time, spot)
        _clock(canvas, (spot.x - card // 6, spot.centery), max(3, card // 9))
    if bonus:
        radius = max(4, card // 5)
        _star(canvas, (box.x + card // 8, max(radius, box.y + card // 8)), radius)


def _pieces(recipe: Recipe) -> list[int]:
    """The objects that a recipe is made of."""
    return [
        thing for thing, n in zip(ask.INGREDIENTS, recipe, strict=False) for thing in [thing] * n
    ]


def _card_words(level: Level, recipe: Recipe, card: int) -> tuple[Any, Any]:
    """The points, and the steps of cooking; None where they would be too small to read."""
    points, steps = str(level.worth(recipe)), str(level.times[recipe])
    if card < _CLOCK_FROM:
        return write(points, max(8, round(card * 0.66)), INK), None
    value = write(points, max(7, round(card * 0.46)), INK)
    return value, write(steps, max(6, round(card * 0.3)), _STEEL_DARK)


def _card_width(level: Level, recipe: Recipe, card: int) -> int:
    value, time = _card_words(level, recipe, card)
    icons = round(card * 0.62)
    words = max(value.get_width(), 0 if time is None else time.get_width() + card // 3)
    return sum(recipe) * round(icons * 0.72) + round(icons * 0.28) + words + card // 2


def _clock(canvas: pygame.Surface, centre: tuple[int, int], radius: int) -> None:
    x, y = centre
    line = max(1, radius // 4)
    pygame.draw.circle(canvas, _STEEL_DARK, centre, radius, line)
    pygame.draw.line(canvas, _STEEL_DARK, centre, (x, y - round(radius * 0.6)), line)
    pygame.draw.line(canvas, _STEEL_DARK, centre, (x + round(radius * 0.5), y), line)


def _star(canvas: pygame.Surface, centre: tuple[int, int], radius: int) -> None:
    points = []
    for k in range(10):
        angle, far = math.pi * (k / 5 - 0.5), radius * (0.45 if k % 2 else 1)
        points.append((centre[0] + far * math.cos(angle), centre[1] + far * math.sin(angle)))
    pygame.draw.polygon(canvas, _GOLD, points)
    pygame.draw.polygon(canvas, _ONION_DARK, points, max(1, radius // 7))


def _marks(scene: _Scene, canvas: pygame.Surface, i: int) -> None:
    """A chef's number, where there are several, and the way in which it was blocked."""
    x, y = scene.chefs[i]
    cell = scene.cell
    if scene.kitchen.num_agents > 1 and cell >= 24:
        centre = scene.left + round((x + 0.82) * cell), scene.top + round((y + 0.88) * cell)
        radius = max(6, round(cell * 0.14))
        pygame.draw.circle(canvas, INK, centre, radius)
        pygame.draw.circle(canvas, player_colour(i), centre, radius, max(1, radius // 4))
        number = write(str(i), max(8, round(radius * 1.3)), PAPER)
        canvas.blit(number, number.get_rect(center=centre))
    if int(scene.state.event[i]) == BLOCKED:
        dx, dy = DIRECTIONS[int(scene.facing[i])]
        centre = (
            scene.left + round((x + 0.5 + 0.5 * dx) * cell),
            scene.top + round((y + 0.5 + 0.5 * dy) * cell),
        )
        radius = max(5, round(cell * 0.13))
        pygame.draw.circle(canvas, _BLOCKED, centre, radius)
        across = pygame.Rect(0, 0, round(radius * 1.2), max(2, radius // 3))
        across.center = centre
        pygame.draw.rect(canvas, PAPER, across)


# ---- sprites -------------------------------------------------------------------------------------


def _blit(canvas: pygame.Surface, scene: _Scene, x: int, y: int, name: str, *args: Any) -> None:
    place = (scene.left + x * scene.cell, scene.top + y * scene.cell)
    _stamp(canvas, place, scene.cell, name, *args)


def _stamp(
    canvas: pygame.Surface, place: tuple[int, int], cell: int, name: str, *args: Any
) -> None:
    image, left, top, flags = _sprite(cell, name, *args)
    canvas.blit(image, (place[0] + left, place[1] + top), special_flags=flags)


@functools.lru_cache(maxsize=256)
def _sprite(cell: int, name: str, *args: Any) -> tuple[pygame.Surface, int, int, int]:
    """A sprite, where its corner is from that of the cell, and how it is blitted. Only what is
    painted is kept, and what covers all beneath it needs no blending: both are most of the time."""
    margin = math.ceil(cell * _MARGIN)
    size = cell + 2 * margin
    large = pygame.Surface((size * _SHARPNESS,) * 2, pygame.SRCALPHA)
    corner = margin * _SHARPNESS
    _PAINTERS[name](Pen(large, corner, corner, cell * _SHARPNESS), *args)
    image = pygame.transform.smoothscale(large, (size, size))
    box = image.get_bounding_rect()
    image = image.subsurface(box).copy()
    flags = pygame.BLEND_PREMULTIPLIED
    if box and np.all(pygame.surfarray.array_alpha(image) == 255):
        solid = pygame.Surface(box.size, depth=32)
        solid.blit(image, (0, 0))
        image, flags = solid, 0
    return image, box.left - margin, box.top - margin, flags


def _darker(colour: Colour, by: float = 0.75) -> Colour:
    return mix((0, 0, 0), colour, by)


def _lighter(colour: Colour, by: float = 0.4) -> Colour:
    return mix(colour, (255, 255, 255), by)


def _paint_fog(pen: Pen, odd: int) -> None:
    pen.box((50, 55, 74) if odd else (46, 51, 69), 0, 0, 1, 1)


def _paint_floor(pen: Pen, odd: int, north: bool, west: bool) -> None:
    colour = FLOORS[odd]
    pen.box(colour, 0, 0, 1, 1)
    if north:
        pen.box(_darker(colour, 0.88), 0, 0, 1, 0.09)
    if west:
        pen.box(_darker(colour, 0.92), 0, 0, 0.05, 1)


def _paint_counter(pen: Pen, front: bool) -> None:
    pen.box(_WOOD_FRONT, 0, 0, 1, 1)
    depth = 0.86 if front else 1.0
    pen.box(_darker(_WOOD, 0.9), 0, 0, 1, depth)
    pen.box(_WOOD_EDGE, 0.02, 0.02, 0.96, depth - 0.04, 0.05)
    pen.box(_WOOD, 0.05, 0.05, 0.9, depth - 0.09, 0.04)
    if front:
        pen.box(_darker(_WOOD_FRONT, 0.82), 0, 0.965, 1, 0.035)


def _paint_onion(pen: Pen) -> None:
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


def _paint_tomato(pen: Pen) -> None:
    pen.oval(_TOMATO_DARK, 0.5, 0.57, 0.36, 0.32)
    pen.oval(_TOMATO, 0.5, 0.565, 0.32, 0.28)
    pen.oval(_lighter(_TOMATO, 0.55), 0.35, 0.5, 0.05, 0.08)
    for angle in (200, 245, 290, 335):
        tip = math.radians(angle + 2)
        end = (0.5 + 0.2 * math.cos(tip), 0.36 - 0.1 * math.sin(tip))
        pen.stroke(_LEAF, 0.07, (0.5, 0.32), end)
    pen.stroke(_darker(_LEAF), 0.07, (0.5, 0.32), (0.52, 0.2))


def _paint_dish(pen: Pen) -> None:
    pen.oval(_CHINA_DARK, 0.5, 0.58, 0.4, 0.3)
    pen.oval(_CHINA, 0.5, 0.55, 0.4, 0.3)
    pen.oval(_CHINA_DARK, 0.5, 0.555, 0.26, 0.19)
    pen.oval((236, 239, 244), 0.5, 0.57, 0.245, 0.17)


def _paint_carrot(pen: Pen) -> None:
    for x in (0.4, 0.52, 0.62):
        pen.stroke(_LEAF, 0.07, (0.58, 0.32), (x + 0.08, 0.1))
    pen.shape(_CARROT_DARK, (0.4, 0.26), (0.76, 0.36), (0.3, 0.92), (0.24, 0.88))
    pen.shape(_CARROT, (0.44, 0.29), (0.72, 0.37), (0.3, 0.88), (0.27, 0.86))
    for x, y in ((0.46, 0.44), (0.4, 0.58), (0.35, 0.71)):
        pen.stroke(_CARROT_DARK, 0.03, (x, y), (x + 0.1, y + 0.04))


def _paint_mushroom(pen: Pen) -> None:
    pen.box(_darker(_STEM, 0.8), 0.38, 0.5, 0.24, 0.38, 0.08)
    pen.box(_STEM, 0.4, 0.5, 0.2, 0.36, 0.08)
    pen.oval(_CAP_DARK, 0.5, 0.42, 0.36, 0.26)
    pen.oval(_CAP, 0.5, 0.4, 0.33, 0.23)
    pen.box(_lighter(_STEM, 0.2), 0.3, 0.53, 0.4, 0.06, 0.03)
    for x, y, r in ((0.38, 0.34, 0.06), (0.56, 0.28, 0.05), (0.63, 0.42, 0.06)):
        pen.oval(_lighter(_CAP, 0.5), x, y, r, r * 0.8)


def _soup_colour(counts: ask.Counts) -> Colour:
    onions, tomatoes, *more = counts
    if any(more):
        parts = zip(counts, (_ONION, _TOMATO, _CARROT, _CAP), strict=True)
        heap = [colour for n, colour in parts for _ in range(n)]
        red, green, blue = (round(sum(part) / len(heap)) for part in zip(*heap, strict=True))
        return red, green, blue
    share = tomatoes / max(onions + tomatoes, 1)
    mixed = [round(a + (b - a) * share) for a, b in zip(_ONION, _TOMATO, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def _paint_pieces(pen: Pen, counts: ask.Counts, y: float, spread: float, size: float) -> None:
    """Up to three ingredients in a triangle about (0.5, y)."""
    things = _pieces(counts)
    places = {
        1: [(0.0, 0.0)],
        2: [(-1.0, 0.0), (1.0, 0.0)],
        3: [(0.0, -0.75), (-1.1, 0.45), (1.1, 0.45)],
    }
    for thing, (dx, dy) in zip(things, places.get(len(things), []), strict=True):
        _paint_thing(pen.at(0.5 + dx * spread, y + dy * spread, size), thing)


def _paint_soup(pen: Pen, counts: ask.Counts) -> None:
    colour = _soup_colour(counts)
    pen.oval(_CHINA_DARK, 0.5, 0.62, 0.43, 0.33)
    pen.oval(_CHINA, 0.5, 0.57, 0.43, 0.33)
    pen.oval(_darker(colour, 0.8), 0.5, 0.565, 0.35, 0.255)
    pen.oval(_lighter(colour, 0.12), 0.5, 0.585, 0.335, 0.23)
    _paint_pieces(pen, counts, 0.56, 0.14, 0.34)


def _paint_thing(pen: Pen, thing: int) -> None:
    if thing == ONION:
        _paint_onion(pen)
    elif thing == TOMATO:
        _paint_tomato(pen)
    elif thing == DISH:
        _paint_dish(pen)
    elif thing == CARROT:
        _paint_carrot(pen)
    elif thing == MUSHROOM:
        _paint_mushroom(pen)
    elif thing >= SOUP:
        _paint_soup(pen, ask.counts(thing))


def _paint_lying(pen: Pen, thing: int) -> None:
    pen.oval(_darker(_WOOD, 0.8), 0.5, 0.68, 0.3, 0.12)
    _paint_thing(pen.at(0.5, 0.42, 0.66), thing)


def _paint_crate(pen: Pen, thing: int) -> None:
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


def _paint_dishes(pen: Pen) -> None:
    pen.oval(_darker(_WOOD, 0.8), 0.5, 0.72, 0.4, 0.16)
    for k in range(4):
        _paint_dish(pen.at(0.5, 0.56 - k * 0.075, 0.86))


def _paint_serving(pen: Pen, towards: int, delivered: bool) -> None:
    """A belt whose arrows point away from the kitchen; with a tick, if it shows deliveries."""
    pen.box(_STEEL_DARK, 0.04, 0.04, 0.92, 0.82, 0.06)
    pen.box((58, 132, 98), 0.1, 0.1, 0.8, 0.7, 0.05)
    dx, dy = DIRECTIONS[towards]
    for k in (-1, 0, 1):
        x, y = 0.5 + dx * 0.22 * k, 0.45 + dy * 0.2 * k
        tip = (x + dx * 0.09, y + dy * 0.09)
        ends = [(x - dx * 0.06 + s * dy * 0.2, y - dy * 0.06 + s * dx * 0.2) for s in (-1, 1)]
        pen.stroke((190, 236, 206), 0.07, ends[0], tip, ends[1])
    if delivered:
        pen.oval(PAPER, 0.5, 0.45, 0.27)
        pen.oval(GOOD, 0.5, 0.45, 0.23)
        pen.stroke(PAPER, 0.07, (0.38, 0.46), (0.47, 0.55), (0.63, 0.35))


def _paint_recipe(pen: Pen, recipe: ask.Counts, left: int | None) -> None:
    """A slate with the recipe, if it shows; below it the button, if it has one, lit or not."""
    pen.box(_SLATE_EDGE, 0.06, 0.05, 0.88, 0.74, 0.07)
    pen.box(_SLATE, 0.11, 0.1, 0.78, 0.64, 0.04)
    if recipe:
        _paint_pieces(pen, recipe, 0.42, 0.17, 0.4)
    elif left is not None:
        pen.curve(_STEEL, 0.07, 0.5, 0.32, 0.13, 0.12, -90, 180)
        pen.stroke(_STEEL, 0.07, (0.5, 0.44), (0.5, 0.53))
        pen.oval(_STEEL, 0.5, 0.64, 0.045)
    if left is not None:
        lit = left > 0
        pen.oval(_IRON, 0.5, 0.83, 0.2, 0.12)
        pen.oval(_BLOCKED if not lit else GOOD, 0.5, 0.83 if lit else 0.79, 0.15, 0.085)


def _paint_pot(pen: Pen, counts: ask.Counts, status: str) -> None:
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
    if any(counts):
        colour = _soup_colour(counts)
        if status == "idle":
            pen.oval((92, 138, 172), 0.5, 0.385, 0.29, 0.165)
        else:
            pen.oval(_lighter(colour, 0.12), 0.5, 0.375, 0.3, 0.18)
        _paint_pieces(pen, counts, 0.36, 0.13, 0.32)
    if status == "ready":
        for x in (0.36, 0.5, 0.64):
            y = 0.14 if x == 0.5 else 0.18
            wave = [(x + 0.025 * math.sin(k * 1.3), y - 0.16 + k * 0.035) for k in range(7)]
            pen.stroke((255, 255, 255), 0.035, *wave)
        pen.oval(PAPER, 0.8, 0.72, 0.19)
        pen.oval(GOOD, 0.8, 0.72, 0.16)
        pen.stroke(PAPER, 0.05, (0.72, 0.73), (0.78, 0.79), (0.88, 0.66))


def _paint_chef(pen: Pen, number: int, facing: int, held: int, own: bool) -> None:
    colour = PLAYERS[number]
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
    pen.oval(SKIN if facing != NORTH else (120, 80, 56), x, 0.4, 0.21, 0.18)
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
        pen.oval(SKIN, x, y - 0.005, 0.062)


_CRATES = {ONIONS: "onions", TOMATOES: "tomatoes", CARROTS: "carrots", MUSHROOMS: "mushrooms"}
_PAINTERS: dict[str, Any] = {
    "fog": _paint_fog,
    "floor": _paint_floor,
    "counter": _paint_counter,
    "thing": _paint_thing,
    "lying": _paint_lying,
    "onions": functools.partial(_paint_crate, thing=ONION),
    "tomatoes": functools.partial(_paint_crate, thing=TOMATO),
    "carrots": functools.partial(_paint_crate, thing=CARROT),
    "mushrooms": functools.partial(_paint_crate, thing=MUSHROOM),
    "recipe": _paint_recipe,
    "dishes": _paint_dishes,
    "serving": _paint_serving,
    "pot": _paint_pot,
    "chef": _paint_chef,
}


# ---- for other kitchens --------------------------------------------------------------------------


def paint_chef(pen: Pen, number: int, facing: int, own: bool) -> None:
    """A chef with empty hands, in the unit square of a pen."""
    _paint_chef(pen, number % len(PLAYERS), facing, NOTHING, own)


def paint_counter(pen: Pen, front: bool) -> None:
    """A counter; with a `front` where the floor lies before it."""
    _paint_counter(pen, front)


def paint_floor(pen: Pen, odd: int) -> None:
    """A tile of the floor."""
    _paint_floor(pen, odd, False, False)
