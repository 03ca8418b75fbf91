"""Pictures of cuisines in the kitchen's style, painted with pygame's shapes.

Stations stand along the upper and the lower wall of one room, as if it were a kitchen; chefs stand
before the station where they are. A sprite is painted four times too large and scaled down, then
kept.
"""

from __future__ import annotations

import functools
import hashlib
import math
from typing import Any

import numpy as np
import pygame

from manyhands.core.paint import (
    BACKGROUND,
    BAD,
    FADED,
    GOOD,
    INK,
    PAPER,
    Pen,
    bar,
    header_height,
    mix,
    player_colour,
)
from manyhands.core.render import Colour, wrap, write
from manyhands.envs.cuisine.env import Cuisine
from manyhands.envs.cuisine.menu import SERVING, STORAGE
from manyhands.envs.cuisine.reading import Facts, facts_of
from manyhands.envs.cuisine.state import FAILED, TOOLS, CuisineState
from manyhands.envs.kitchen.draw import paint_chef, paint_counter, paint_floor
from manyhands.envs.kitchen.state import NORTH, SOUTH

_SHARPNESS = 4
_MARGIN = 0.5  # cells that a sprite may reach beyond its own
_STEEL, _STEEL_DARK, _IRON = (176, 184, 194), (120, 129, 142), (66, 72, 84)
_CHINA, _CHINA_DARK, _WORKS = (250, 250, 252), (190, 197, 208), (244, 150, 40)
# What ingredients look like; all else is the mixture of what it is made from.
_COLOURS: dict[str, Colour] = {
    "tomato": (222, 60, 48),
    "lettuce": (120, 190, 80),
    "cucumber": (86, 150, 70),
    "onion": (240, 190, 76),
    "carrot": (240, 130, 40),
    "potato": (200, 160, 100),
    "mushroom": (190, 170, 150),
    "pepper": (230, 80, 40),
    "pumpkin": (236, 140, 30),
    "spinach": (60, 120, 60),
    "apple": (200, 50, 60),
    "banana": (246, 216, 80),
    "lemon": (250, 232, 90),
    "egg": (252, 240, 214),
    "milk": (244, 246, 250),
    "cheese": (250, 200, 60),
    "flour": (236, 228, 210),
    "rice": (240, 240, 232),
    "noodles": (244, 214, 130),
    "bread": (206, 150, 90),
    "beans": (140, 90, 70),
    "tofu": (246, 240, 220),
    "chicken": (240, 190, 150),
    "beef": (170, 60, 60),
    "fish": (130, 170, 200),
    "shrimp": (250, 150, 120),
    "corn": (250, 214, 70),
}


def draw(
    cuisine: Cuisine, state: CuisineState, canvas: pygame.Surface, agent: int | None = None
) -> None:
    """Paint the kitchen on a surface of any size, letterboxed; for an agent, its own chef is
    marked. Everybody sees everything."""
    canvas.fill(BACKGROUND)
    facts = facts_of(cuisine, state)
    room = _Room(cuisine, facts, canvas)
    if room.header:
        _header(cuisine, facts, canvas, room.header)
    if room.cell < 4:
        return
    for row in range(room.rows):
        for column in range(room.columns):
            wall = row in (0, room.rows - 1)
            front = row == 0
            args = ("counter", front) if wall else ("floor", (row + column) % 2)
            _blit(canvas, room.spot(column, row), room.cell, *args)
    for place in room.stations:
        _station(cuisine, facts, canvas, room, place)
    for i in sorted(range(cuisine.chefs), key=lambda i: room.chef(i)[1]):
        _chef(cuisine, facts, canvas, room, i, agent)
    for i in range(cuisine.chefs):  # over all chefs, so that none hides another's number
        _number(state, canvas, room, i)


class _Room:
    """Where everything goes on the canvas: stations in two rows, the floor between them."""

    def __init__(self, cuisine: Cuisine, facts: Facts, canvas: pygame.Surface):
        places = np.flatnonzero(cuisine.book.exists[facts.level]).tolist()
        # The storage at the upper left, the serving table at the lower right.
        upper = [0, *places[2:][: (len(places) - 2 + 1) // 2]]
        lower = [*places[2:][(len(places) - 2 + 1) // 2 :], 1]
        self.columns, self.rows = max(len(upper), len(lower), 3), 4
        lower = [-1] * (self.columns - len(lower)) + lower
        self.stations = {p: (x, 0) for x, p in enumerate(upper)}
        self.stations |= {p: (x, 3) for x, p in enumerate(lower) if p >= 0}
        width, height = canvas.get_size()
        self.header = header_height(canvas)
        pad = min(width, height) // 60
        across = (width - 2 * pad) // self.columns
        self.cell = max(1, min(across, (height - self.header - 2 * pad) // self.rows))
        self.left = (width - self.cell * self.columns) // 2
        self.top = self.header + (height - self.header - self.cell * self.rows) // 2
        self.facts = facts
        # Chefs at one station stand side by side.
        self.beside: dict[int, list[int]] = {}
        for i, place in enumerate(facts.place):
            self.beside.setdefault(place, []).append(i)

    def spot(self, x: float, y: float) -> tuple[int, int]:
        return self.left + round(x * self.cell), self.top + round(y * self.cell)

    def chef(self, i: int) -> tuple[float, float]:
        """The upper left corner of a chef, in cells."""
        place = self.facts.place[i]
        x, y = self.stations[place]
        group = self.beside[place]
        rank, count = group.index(i), len(group)
        gap = min(0.62, 1.4 / max(count - 1, 1))
        first = x - gap * (count - 1) / 2
        first = min(max(first, 0), self.columns - 1 - gap * (count - 1))
        back = 0.1 if count < 4 else 0.3  # of every other one
        down = 1.08 + back * (rank % 2) if y == 0 else 2.05 - back * ((rank + 1) % 2)
        return first + gap * rank, down


# ---- stations ------------------------------------------------------------------------------------


def _station(
    cuisine: Cuisine, facts: Facts, canvas: pygame.Surface, room: _Room, place: int
) -> None:
    """A station with its name, what is inside, and how long it still works."""
    book, cell = cuisine.book, room.cell
    x, y = room.stations[place]
    corner = room.spot(x, y)
    kind = book.places[place][0]
    busy = place >= TOOLS and facts.busy[place - TOOLS] > 0
    _blit(canvas, corner, cell, kind if kind in _PAINTERS else "tool", busy)
    things: list[int] = []
    if place >= TOOLS:
        things = sorted(facts.inside[place - TOOLS].elements())
    elif kind == SERVING:
        waiting = zip(book.dishes.tolist(), facts.waiting, strict=True)
        things = [dish for dish, count in waiting for _ in range(min(count, 6))][:6]
    size = round(cell * (0.46 if len(things) < 3 else 0.36))
    for n, item in enumerate(things):
        offset = (n - (len(things) - 1) / 2) * min(0.34, 0.7 / max(len(things), 1))
        middle = room.spot(x + 0.5 + offset, y + 0.42)
        _icon(canvas, cuisine, item, (middle[0] - size // 2, middle[1] - size // 2), size)
    if place >= TOOLS and facts.ready[place - TOOLS]:
        left, total = facts.busy[place - TOOLS], int(book.time[place])
        if left:
            box = pygame.Rect(0, 0, round(cell * 0.76), max(3, round(cell * 0.12)))
            box.midbottom = room.spot(x + 0.5, y + 0.78)
            bar(canvas, box, 1 - left / max(total, 1), _WORKS)
            if cell >= 40:
                label = write(str(left), max(9, round(cell * 0.18)), PAPER, INK)
                canvas.blit(label, label.get_rect(center=box.center))
        else:
            _blit(canvas, corner, cell, "done")
    if cell >= 40:
        name = book.place_names[place]
        _caption(
            canvas,
            name,
            room.spot(x + 0.5, y + (0.985 if y else 0.86)),
            cell * 0.97,
            round(cell * 0.13),
        )
        if things and place >= TOOLS:
            said = ", ".join(book.item_names[item] for item in things)
            _caption(canvas, said, room.spot(x + 0.5, y + 0.16), cell * 0.97, round(cell * 0.12))


def _caption(
    canvas: pygame.Surface, text: str, place: tuple[int, int], width: float, size: int
) -> None:
    """One line on a dark ground, smaller where it is too wide; `place` is the middle of its lower
    edge."""
    size = max(8, size)
    image = write(text, size, PAPER)
    while image.get_width() > width and size > 8:
        size -= 1
        image = write(text, size, PAPER)
    if image.get_width() > width:
        image = write(wrap(text, size, round(width), limit=1)[0], size, PAPER)
    box = image.get_rect(midbottom=place)
    ground = pygame.Surface((box.width + 6, box.height), pygame.SRCALPHA)
    ground.fill((*INK, 190))
    canvas.blit(ground, (box.x - 3, box.y))
    canvas.blit(image, box)


def _chef(
    cuisine: Cuisine,
    facts: Facts,
    canvas: pygame.Surface,
    room: _Room,
    i: int,
    agent: int | None,
) -> None:
    x, y = room.chef(i)
    cell = room.cell
    facing = NORTH if room.stations[facts.place[i]][1] == 0 else SOUTH
    _blit(canvas, room.spot(x, y), cell, "chef", i, facing, i == agent)
    held = facts.held[i]
    if held is not None:
        size = round(cell * 0.5)
        corner = room.spot(x + 0.62, y + 0.42)
        _icon(canvas, cuisine, held, corner, size)
        if cell >= 56:
            name = cuisine.book.item_names[held]
            _caption(canvas, name, room.spot(x + 0.62, y + 1.04), cell * 0.9, round(cell * 0.12))


def _number(state: CuisineState, canvas: pygame.Surface, room: _Room, i: int) -> None:
    """A chef's number, on red if its action failed."""
    x, y = room.chef(i)
    if room.cell >= 24:
        centre, radius = room.spot(x + 0.2, y + 0.86), max(6, round(room.cell * 0.12))
        failed = int(np.asarray(state.recent)[i]) == FAILED
        pygame.draw.circle(canvas, BAD if failed else INK, centre, radius)
        pygame.draw.circle(canvas, player_colour(i), centre, radius, max(1, radius // 4))
        number = write(str(i), max(8, round(radius * 1.3)), PAPER)
        canvas.blit(number, number.get_rect(center=centre))


# ---- the header: how it stands, and the orders ---------------------------------------------------


def _header(cuisine: Cuisine, facts: Facts, canvas: pygame.Surface, high: int) -> None:
    width, gap = canvas.get_width(), high // 3
    pygame.draw.rect(canvas, INK, (0, 0, width, high))
    big, small = round(high * 0.46), max(9, round(high * 0.24))
    x = gap
    left = cuisine.max_steps - facts.time
    for label, value in (("SERVED", facts.served), ("EXPIRED", facts.expired), ("TIME", left)):
        name, number = write(label, small, FADED), write(str(value), big, PAPER)
        canvas.blit(name, (x, round(high * 0.12)))
        canvas.blit(number, (x, round(high * 0.42)))
        x += max(name.get_width(), number.get_width()) + gap
    card_gap = max(2, high // 10)
    count = len(facts.orders)
    if not count:
        return
    room = (width - gap - x) // count - card_gap
    wide = min(room, round(high * 2.4))
    if wide < high // 3:
        return
    for n, (dish, steps) in enumerate(zip(facts.orders, facts.left, strict=True)):
        box = pygame.Rect(x + n * (wide + card_gap), round(high * 0.1), wide, round(high * 0.8))
        _card(cuisine, facts, canvas, box, dish, steps)


def _card(
    cuisine: Cuisine, facts: Facts, canvas: pygame.Surface, box: pygame.Rect, dish: int, steps: int
) -> None:
    """An order: the dish, its name, and a bar of the steps that are left."""
    share = steps / cuisine.lifetimes[facts.level]
    pygame.draw.rect(canvas, PAPER, box, border_radius=box.height // 6)
    if share <= 0.25:
        pygame.draw.rect(canvas, BAD, box, max(2, box.height // 14), border_radius=box.height // 6)
    icon = round(box.height * 0.62)
    item = int(cuisine.book.dishes[dish])
    _icon(canvas, cuisine, item, (box.x + box.height // 10, box.y + box.height // 12), icon)
    left = box.x + icon + box.height // 5
    size = max(8, round(box.height * 0.24))
    room = box.right - left - box.height // 10
    if room > box.height * 0.5:
        lines = wrap(cuisine.book.item_names[item], size, room, limit=2)
        for n, line in enumerate(lines):
            image = write(line, size, INK)
            canvas.blit(image, (left, box.y + round(box.height * (0.08 + 0.28 * n))))
    track = pygame.Rect(box.x, 0, round(box.width * 0.9), max(3, round(box.height * 0.16)))
    track.midbottom = (box.centerx, box.bottom - max(2, box.height // 12))
    bar(canvas, track, share, mix(BAD, GOOD, min(1.0, share * 1.2)))
    number = write(str(steps), max(8, round(box.height * 0.24)), PAPER, INK)
    canvas.blit(number, number.get_rect(center=track.center))


# ---- items ---------------------------------------------------------------------------------------


def _icon(
    canvas: pygame.Surface, cuisine: Cuisine, item: int, corner: tuple[int, int], size: int
) -> None:
    """An item in a square: an ingredient, a prepared item in pieces, or a dish on a plate."""
    book = cuisine.book
    name = book.items[item]
    dish = item in book.dishes
    made = next((recipe for recipe in book.recipes if recipe.item == name), None)
    look = "dish" if dish else "prepared" if made else "ingredient"
    _blit(canvas, corner, max(2, size), look, _tints(name, book.recipes))


@functools.lru_cache(maxsize=1024)
def _tint(name: str) -> Colour:
    """The colour of an ingredient; of an unknown one, always the same."""
    if name in _COLOURS:
        return _COLOURS[name]
    digest = hashlib.blake2b(name.encode(), digest_size=3).digest()
    return digest[0] // 2 + 90, digest[1] // 2 + 90, digest[2] // 2 + 90


def _tints(name: str, recipes: Any) -> tuple[Colour, ...]:
    """The colours of the ingredients of an item, at most five."""
    made = next((recipe for recipe in recipes if recipe.item == name), None)
    if made is None:
        return (_tint(name),)
    found = [tint for each in made.inputs for tint in _tints(each, recipes)]
    return tuple(dict.fromkeys(found))[:5]


def _paint_ingredient(pen: Pen, tints: tuple[Colour, ...]) -> None:
    pen.oval(mix(tints[0], INK, 0.35), 0.5, 0.56, 0.36, 0.34)
    pen.oval(tints[0], 0.5, 0.54, 0.32, 0.3)
    pen.oval(mix(tints[0], (255, 255, 255), 0.55), 0.38, 0.44, 0.08, 0.06)
    pen.stroke((84, 150, 66), 0.07, (0.5, 0.28), (0.56, 0.14))


def _paint_prepared(pen: Pen, tints: tuple[Colour, ...]) -> None:
    places = ((0.34, 0.6), (0.62, 0.64), (0.5, 0.4), (0.7, 0.42), (0.3, 0.38))
    for n, (x, y) in enumerate(places):
        tint = tints[n % len(tints)]
        pen.plate(mix(tint, INK, 0.35), x, y, 0.3, 0.22, 0.07)
        pen.plate(tint, x, y - 0.01, 0.25, 0.17, 0.05)


def _paint_dish(pen: Pen, tints: tuple[Colour, ...]) -> None:
    pen.oval(_CHINA_DARK, 0.5, 0.6, 0.46, 0.34)
    pen.oval(_CHINA, 0.5, 0.57, 0.46, 0.34)
    pen.oval(_CHINA_DARK, 0.5, 0.57, 0.33, 0.23)
    for n in range(7):
        angle = 2 * math.pi * n / 6
        far = 0.0 if n == 6 else 0.17
        tint = tints[n % len(tints)]
        x, y = 0.5 + far * math.cos(angle), 0.55 + 0.7 * far * math.sin(angle)
        pen.oval(mix(tint, INK, 0.25), x, y, 0.125, 0.1)
        pen.oval(tint, x, y - 0.01, 0.105, 0.08)


# ---- sprites -------------------------------------------------------------------------------------


def _blit(
    canvas: pygame.Surface, corner: tuple[int, int], cell: int, name: str, *args: Any
) -> None:
    margin = math.ceil(cell * _MARGIN)
    place = (corner[0] - margin, corner[1] - margin)
    canvas.blit(_sprite(cell, name, *args), place, special_flags=pygame.BLEND_PREMULTIPLIED)


@functools.lru_cache(maxsize=512)
def _sprite(cell: int, name: str, *args: Any) -> pygame.Surface:
    margin = math.ceil(cell * _MARGIN)
    size = cell + 2 * margin
    large = pygame.Surface((size * _SHARPNESS,) * 2, pygame.SRCALPHA)
    corner = margin * _SHARPNESS
    _PAINTERS[name](Pen(large, corner, corner, cell * _SHARPNESS), *args)
    return pygame.transform.smoothscale(large, (size, size))


def _paint_storage(pen: Pen, busy: bool) -> None:
    pen.box((120, 84, 52), 0.1, 0.12, 0.8, 0.66, 0.05)
    for row in range(2):
        pen.box((86, 58, 36), 0.15, 0.17 + 0.3 * row, 0.7, 0.25, 0.03)
    tints = ("tomato", "lettuce", "cheese", "egg", "carrot", "fish")
    for n, name in enumerate(tints):
        pen.oval(_COLOURS[name], 0.27 + 0.23 * (n % 3), 0.32 + 0.3 * (n // 3), 0.09)


def _paint_serving(pen: Pen, busy: bool) -> None:
    pen.box(_STEEL_DARK, 0.06, 0.14, 0.88, 0.62, 0.06)
    pen.box((232, 236, 242), 0.1, 0.18, 0.8, 0.54, 0.05)
    for n in range(4):
        pen.box((214, 60, 60), 0.1 + 0.2 * n, 0.1, 0.1, 0.1)
        pen.box((250, 250, 252), 0.2 + 0.2 * n, 0.1, 0.1, 0.1)


def _paint_board(pen: Pen, busy: bool) -> None:
    pen.box((160, 112, 66), 0.12, 0.2, 0.76, 0.52, 0.08)
    pen.box((224, 182, 128), 0.14, 0.2, 0.72, 0.48, 0.07)
    pen.box(_STEEL, 0.78, 0.1, 0.07, 0.34, 0.02)
    pen.box(INK, 0.78, 0.44, 0.07, 0.22, 0.02)


def _paint_round(pen: Pen, busy: bool, deep: bool = False) -> None:
    """A pan or a pot from above, on a plate that glows."""
    glow = (236, 90, 50) if busy else (70, 72, 80)
    pen.oval(glow, 0.5, 0.46, 0.42, 0.34)
    pen.oval(_IRON, 0.5, 0.45, 0.38, 0.3)
    pen.oval(mix(_IRON, (255, 255, 255), 0.2 if deep else 0.12), 0.5, 0.44, 0.32, 0.25)
    if deep:
        pen.box(_IRON, 0.04, 0.38, 0.12, 0.12, 0.04)
        pen.box(_IRON, 0.84, 0.38, 0.12, 0.12, 0.04)
    else:
        pen.stroke(_IRON, 0.09, (0.76, 0.62), (0.96, 0.8))


def _paint_pot(pen: Pen, busy: bool) -> None:
    _paint_round(pen, busy, True)


def _paint_box(pen: Pen, busy: bool, glass: Colour, glow: Colour) -> None:
    """A machine with a window: oven, fryer, steamer, blender, or any other tool."""
    pen.box(_STEEL_DARK, 0.1, 0.12, 0.8, 0.66, 0.08)
    pen.box(_STEEL, 0.12, 0.13, 0.76, 0.6, 0.07)
    pen.box(glow if busy else glass, 0.18, 0.2, 0.64, 0.42, 0.05)
    for n in range(3):
        pen.oval(INK, 0.3 + 0.2 * n, 0.68, 0.035)


def _paint_mixer(pen: Pen, busy: bool) -> None:
    pen.oval(_CHINA_DARK, 0.5, 0.48, 0.42, 0.32)
    pen.oval(_CHINA, 0.5, 0.45, 0.42, 0.32)
    pen.oval((222, 227, 236), 0.5, 0.46, 0.33, 0.23)


def _paint_done(pen: Pen) -> None:
    pen.oval(PAPER, 0.84, 0.66, 0.13)
    pen.oval(GOOD, 0.84, 0.66, 0.11)
    pen.stroke(PAPER, 0.035, (0.79, 0.67), (0.83, 0.71), (0.9, 0.61))


def _machine(glass: Colour, glow: Colour) -> Any:
    return functools.partial(_paint_box, glass=glass, glow=glow)


_PAINTERS: dict[str, Any] = {
    "counter": paint_counter,
    "floor": paint_floor,
    "chef": paint_chef,
    "ingredient": _paint_ingredient,
    "prepared": _paint_prepared,
    "dish": _paint_dish,
    "done": _paint_done,
    STORAGE: _paint_storage,
    SERVING: _paint_serving,
    "chopping_board": _paint_board,
    "pan": _paint_round,
    "pot": _paint_pot,
    "mixer": _paint_mixer,
    "oven": _machine((70, 50, 44), (240, 130, 50)),
    "fryer": _machine((120, 104, 60), (244, 196, 70)),
    "steamer": _machine((110, 130, 140), (214, 226, 236)),
    "blender": _machine((150, 176, 196), (120, 200, 230)),
    "tool": _machine((130, 134, 142), (236, 150, 60)),
}
