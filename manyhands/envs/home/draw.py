"""Pictures of homes like a doll's house, cut open and seen from the side.

Rooms are boxes, furniture stands in rows, and people stand before the furniture where they are, or
on the rug in the middle of their room. What is in closed furniture is seen through its door, pale;
a player's own picture shows what this player knows: fog lies over rooms where it sees nothing now,
and a question mark on furniture whose contents it never saw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pygame

from manyhands.core.paint import (
    BACKGROUND,
    FADED,
    GOOD,
    INK,
    PAPER,
    TURN,
    bubble,
    header_height,
    label,
    mix,
    player_colour,
)
from manyhands.core.render import Colour, wrap, write
from manyhands.envs.home import goals
from manyhands.envs.home.scene import facts_of
from manyhands.envs.home.sprites import HANDS, HIGH, blit, blit_faded, spot
from manyhands.envs.home.state import (
    CLEAN,
    COOL,
    HOT,
    NONE,
    ON,
    OPEN,
    SLICED,
    HomeState,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

_WALLS: dict[str, Colour] = {
    "bathroom": (186, 214, 220),
    "bedroom": (206, 196, 222),
    "kitchen": (238, 220, 180),
    "living_room": (214, 204, 178),
    "office": (192, 208, 188),
}
_FLOORS: dict[str, Colour] = {
    "bathroom": (134, 156, 168),
    "bedroom": (158, 122, 98),
    "kitchen": (176, 140, 112),
    "living_room": (146, 104, 74),
    "office": (130, 116, 104),
}
_ROOF, _BEAM = (150, 76, 66), (74, 62, 60)
RUG = -1  # a place in a room that is no receptacle: its middle
_STEP = 0.26  # of a square: the floor in front of furniture


def draw(home: Home, state: HomeState, canvas: pygame.Surface, agent: int | None = None) -> None:
    """Paint a home on a surface of any size, letterboxed; for an agent, as it knows it."""
    canvas.fill(BACKGROUND)
    seen = Seen(home, state, agent)
    scene = Scene(seen, canvas)
    if scene.header:
        _header(seen, canvas, scene.header)
    _house(seen, scene, canvas)
    for room in seen.rooms:
        for place in scene.slots[room]:
            _slot(seen, scene, canvas, room, place)
        for player in scene.people.get(room, ()):
            _person(seen, scene, canvas, player)
        for place in scene.slots[room]:
            _name(seen, scene, canvas, room, place)
        if seen.fogged[room]:
            _fog(canvas, scene.boxes[room])
        _plate(seen, scene, canvas, room)


def bubbles(
    home: Home,
    state: HomeState,
    canvas: pygame.Surface,
    texts: Mapping[int, str],
    agent: int | None = None,
    camera: str = "",
) -> None:
    """Put what players said into bubbles beside them; who is nowhere to be seen speaks from the
    lower edge."""
    seen = Seen(home, state, agent)
    scene = Scene(seen, canvas)
    size = max(10, min(18, canvas.get_height() // 30))
    width = canvas.get_width() / 4
    taken: list[Any] = []
    names = home.agents
    for i, text in texts.items():
        colour = player_colour(i)
        if i not in scene.spots:
            middle = canvas.get_width() * (i + 1) / (len(names) + 1)
            place = ("midbottom", (middle, canvas.get_height() - 4))
            said = f"{names[i]}: {text}"
            taken.append(bubble(canvas, said, size, width, colour, [place], taken=taken))
            continue
        x, y, cell = scene.spots[i]
        tip = (x + cell / 2, y + 0.06 * cell)
        beside = (x + 0.8 * cell, y + 0.3 * cell)
        places = [
            ("midbottom", (tip[0], tip[1] - size)),
            ("midleft", (beside[0] + size, beside[1])),
            ("midright", (x + 0.2 * cell - size, beside[1])),
        ]
        faces = [
            pygame.Rect(px + pc * 0.3, py, pc * 0.4, pc * 0.5)
            for px, py, pc in scene.spots.values()
        ]
        box = bubble(canvas, text, size, width, colour, places, tip, taken=[*taken, *faces])
        taken.append(box)


class Seen:
    """What a picture may show: the truth, or what one player knows.

    Attributes:
        rooms: the rooms that there are; fogged: bool[R], where the viewer sees nothing now.
        kinds: of receptacles, by name; None for slots without one.
        room_names, names, things: of rooms, receptacles and objects by slot, "" for none.
        goal: in words, as the viewer is told it.
        open, looked: bool[C], whether it is (believed) open, and whether its contents are known.
        place: i32[O], where each object is (believed to be); `NONE`: nowhere.
        bits: i32[O].
        where: by player, (room, receptacle or `RUG`); left out if unknown.
        now: bool[N], whether the viewer sees that player now.
    """

    def __init__(self, home: Home, state: HomeState, agent: int | None):
        catalog = home.catalog
        facts = facts_of(home, state)
        self.home, self.agent = home, agent
        self.room_names, self.names = facts.room_names, facts.receptacle_names
        self.things = facts.object_names
        self.time, self.limit = int(state.time), home.max_steps
        players = home.players
        body = agent if agent is not None and agent < players else None
        room_kind = np.asarray(state.room_kind).tolist()
        self.rooms = [r for r, kind in enumerate(room_kind) if kind != NONE]
        self.room_kinds = [catalog.room_kinds[k] if k != NONE else "" for k in room_kind]
        kinds = np.asarray(state.kind).tolist()
        self.kinds = [catalog.receptacle_kinds[k] if k != NONE else "" for k in kinds]
        self.closable = [k != NONE and bool(catalog.can["opens"][k]) for k in kinds]
        self.room = np.asarray(state.room).astype(int)
        things = np.asarray(state.object_kind).tolist()
        self.thing_kinds = [catalog.object_kinds[k] if k != NONE else "" for k in things]
        self.target = np.asarray(state.target)
        if agent is None:
            self.open = np.asarray(state.open)
            self.looked = np.ones(len(kinds), bool)
            self.place = np.asarray(state.place).astype(int)
            self.bits = np.asarray(state.bits).astype(int)
        else:
            who = body if body is not None else 0
            shut = np.array(self.closable)
            self.open = (np.asarray(state.known_open)[who] == OPEN) | ~shut
            self.looked = np.asarray(state.looked)[who] >= 0
            self.place = np.asarray(state.known_place)[who].astype(int)
            self.bits = np.asarray(state.known_bits)[who].astype(int)
            if body is None:  # without a body, nothing is seen
                self.open = ~shut
                self.looked = np.zeros(len(kinds), bool)
                self.place = np.full(len(things), NONE)
        self.where: dict[int, tuple[int, int]] = {}
        self.now = np.ones(players, bool)
        room, at = np.asarray(state.player_room).astype(int), np.asarray(state.at).astype(int)
        for i in range(players):
            there = room[i], at[i]
            if agent is not None:
                if body is None or (int(np.asarray(state.met)[body, i]) < 0 and i != body):
                    continue
                if i != body:
                    self.now[i] = int(np.asarray(state.met)[body, i]) == self.time
                    there = (
                        int(np.asarray(state.met_room)[body, i]),
                        int(np.asarray(state.met_at)[body, i]),
                    )
            self.where[i] = int(there[0]), RUG if there[1] == NONE else int(there[1])
        self.fogged = np.zeros(len(room_kind), bool)
        if agent is not None and home.view != "all":
            self.fogged[:] = True
            if body is not None:
                self.fogged[room[body]] = False
        self.goal = goals.told_to(home, facts, agent)

    def inside(self, place: int) -> list[int]:
        """The objects at a place."""
        return [o for o in np.flatnonzero(self.place == place).tolist() if self.things[o]]


# ---- where everything goes -----------------------------------------------------------------------


class Scene:
    """Boxes of rooms, squares of furniture, and where people stand, in pixels."""

    def __init__(self, seen: Seen, canvas: pygame.Surface):
        width, height = canvas.get_size()
        self.header = header_height(canvas)
        pad = max(2, min(width, height) // 60)
        top = self.header + pad
        count = max(1, len(seen.rooms))
        self.roof = round(min((height - top) * 0.09, width * 0.06))
        area = pygame.Rect(pad, top + self.roof, width - 2 * pad, height - top - pad - self.roof)
        floors, across = _shape(count, area)
        self.area, self.beam = area, max(2, min(width, height) // 110)
        self.boxes: dict[int, pygame.Rect] = {}
        for n, room in enumerate(seen.rooms):
            row, column = divmod(n, across)
            here = min(across, count - row * across)  # rooms on this floor
            left, right = (area.x + area.width * c // here for c in (column, column + 1))
            upper, lower = (area.y + area.height * r // floors for r in (row, row + 1))
            box = pygame.Rect(left, upper, right - left, lower - upper)
            self.boxes[room] = box.inflate(-self.beam, -self.beam)
        self.slots: dict[int, list[int]] = {}
        self.squares: dict[tuple[int, int], tuple[int, int, int]] = {}  # x, y, side
        for room in seen.rooms:
            self._furnish(seen, room)
        self.spots: dict[int, tuple[int, int, int]] = {}  # of people, the same
        self.people: dict[int, list[int]] = {}
        for player, (room, _) in sorted(seen.where.items()):
            if room in self.boxes:
                self.people.setdefault(room, []).append(player)
        for room in self.people:
            self._stand(seen, room)

    def _furnish(self, seen: Seen, room: int) -> None:
        box = self.boxes[room]
        places = [c for c in range(len(seen.kinds)) if seen.kinds[c] and int(seen.room[c]) == room]
        # What hangs on walls goes to the upper rows; the rug lies in the lowest.
        high = [c for c in places if seen.kinds[c] in HIGH]
        low = [c for c in places if seen.kinds[c] not in HIGH]
        slots = [*high, *low, RUG]
        best = (0.0, 1, 1)
        for rows in range(1, 6):
            columns = math.ceil(len(slots) / rows)
            side = min(box.width * 0.96 / columns, box.height * 0.9 / (rows * (1 + _STEP)))
            best = max(best, (side, -rows, columns))
        side, rows, columns = int(best[0]), -int(best[1]), int(best[2])
        self.side = side
        # Fill rows from below, so that only the uppermost one is short.
        self.slots[room] = slots
        tall = box.height * 0.985 / rows
        for k, place in enumerate(reversed(slots)):
            row, column = divmod(k, columns)
            here = min(columns, len(slots) - row * columns)
            pitch = box.width * 0.98 / max(here, min(columns, here + 1))
            x = box.centerx + (here / 2 - column - 1) * pitch + (pitch - side) / 2
            y = box.bottom - row * tall - side * (1 + _STEP * 0.62)
            self.squares[room, place] = round(x), round(y), side

    def _stand(self, seen: Seen, room: int) -> None:
        groups: dict[int, list[int]] = {}
        for player in self.people[room]:
            place = seen.where[player][1]
            known = place if (room, place) in self.squares else RUG
            groups.setdefault(known, []).append(player)
        for place, group in groups.items():
            x, y, side = self.squares[room, place]
            cell = round(side * 0.86)
            for rank, player in enumerate(group):
                middle = 0.5 if place == RUG else 0.7
                offset = (rank - (len(group) - 1) / 2) * min(0.34, 0.9 / len(group))
                if place != RUG:
                    offset = offset if len(group) == 1 else offset - 0.12
                left = x + side * (middle + offset) - cell / 2
                lower = y + side * (1 + _STEP * 0.5) + (rank % 2) * 0.05 * side
                self.spots[player] = round(left), round(lower - cell), cell


def _shape(count: int, area: pygame.Rect) -> tuple[int, int]:
    """(floors, rooms on a floor) for rooms that are rather broad than tall."""
    best = (math.inf, 1, 1)
    for floors in range(1, count + 1):
        across = math.ceil(count / floors)
        if (floors - 1) * across >= count:
            continue
        ratio = (area.width / across) / max(1.0, area.height / floors)
        empty = floors * across - count
        best = min(best, (abs(math.log(ratio / 1.5)) + 0.3 * empty, floors, across))
    return best[1], best[2]


# ---- the house -----------------------------------------------------------------------------------


def _house(seen: Seen, scene: Scene, canvas: pygame.Surface) -> None:
    area = scene.area
    eaves = max(2, scene.roof // 5)
    points = [
        (area.left - eaves, area.top),
        (area.left + area.width * 0.06, area.top - scene.roof),
        (area.right - area.width * 0.06, area.top - scene.roof),
        (area.right + eaves, area.top),
    ]
    pygame.draw.polygon(canvas, _ROOF, points)
    chimney = pygame.Rect(0, 0, max(4, area.width // 40), max(3, scene.roof // 4))
    chimney.midbottom = (area.left + area.width * 4 // 5, area.top - scene.roof)
    canvas.fill(mix(_ROOF, INK, 0.3), chimney)
    for n in range(1, 4):
        y = area.top - scene.roof * n // 4
        inset = area.width * 0.06 * n / 4
        pygame.draw.line(
            canvas, mix(_ROOF, INK, 0.25), (area.left + inset, y), (area.right - inset, y)
        )
    canvas.fill(_BEAM, area)
    for room in seen.rooms:
        box, kind = scene.boxes[room], seen.room_kinds[room]
        wall = _WALLS.get(kind, (204, 204, 204))
        floor = _FLOORS.get(kind, (130, 110, 96))
        canvas.fill(wall, box)
        stripe = mix(wall, PAPER, 0.25)
        for n in range(1, 12, 2):
            x = box.x + box.width * n // 12
            canvas.fill(stripe, (x, box.y, max(1, box.width // 12), box.height))
        rows = sorted({y + side for (r, _), (_, y, side) in scene.squares.items() if r == room})
        for y in rows:
            side = scene.squares[room, RUG][2]
            thick = round(side * _STEP * 0.62)
            ground = pygame.Rect(box.x, y - round(0.06 * side), box.width, 0)
            lowest = y == rows[-1]
            ground.height = box.bottom - ground.y if lowest else thick
            canvas.fill(floor, ground)
            canvas.fill(mix(floor, PAPER, 0.25), (ground.x, ground.y, ground.width, 1))
            if not lowest:
                canvas.fill(mix(floor, INK, 0.45), (box.x, ground.bottom, box.width, 2))


def _plate(seen: Seen, scene: Scene, canvas: pygame.Surface, room: int) -> None:
    """The name of a room in its upper left corner."""
    box = scene.boxes[room]
    size = max(8, min(16, box.height // 16))
    if box.width < 60 or box.height < 50:
        return
    image = write(wrap(seen.room_names[room], size, box.width - 8, limit=1)[0], size, PAPER)
    ground = image.get_rect(topleft=(box.x + 4, box.y + 3)).inflate(8, 2)
    _shade(canvas, ground, 170)
    canvas.blit(image, image.get_rect(center=ground.center))


def _shade(canvas: pygame.Surface, box: pygame.Rect, alpha: int) -> None:
    ground = pygame.Surface(box.size, pygame.SRCALPHA)
    ground.fill((*INK, alpha))
    canvas.blit(ground, box)


def _fog(canvas: pygame.Surface, box: pygame.Rect) -> None:
    veil = pygame.Surface(box.size, pygame.SRCALPHA)
    veil.fill((92, 98, 116, 150))
    canvas.blit(veil, box)


# ---- furniture -----------------------------------------------------------------------------------


def _slot(seen: Seen, scene: Scene, canvas: pygame.Surface, room: int, place: int) -> None:
    x, y, side = scene.squares[room, place]
    if place == RUG:
        blit(canvas, (x, y), side, "rug")
        return
    kind, open = seen.kinds[place], bool(seen.open[place])
    blit(canvas, (x, y), side, kind, open)
    inside = seen.inside(place)
    left, top, right, bottom = spot(kind)
    pale = seen.closable[place] and not open
    for thing, across, down, size in laid_out(inside, room_for(seen, scene, room, place)):
        _thing(seen, canvas, thing, (across, down), round(size), pale)
    if not seen.looked[place]:
        size = max(8, round(side * 0.3))
        mark = write("?", size, TURN, INK)
        middle = x + (left + right) / 2 * side, y + (top + bottom) / 2 * side
        canvas.blit(mark, mark.get_rect(center=(round(middle[0]), round(middle[1]))))
    if inside and side >= 84:
        said = ", ".join(seen.things[o] for o in inside)
        size = max(8, round(side * 0.1))
        above = y + max(0.0, top - 0.08) * side
        lines = wrap(said, size, round(side * 1.1), limit=2)
        for n, line in enumerate(reversed(lines)):
            image = write(line, size, INK)
            place_ = image.get_rect(midbottom=(round(x + side / 2), round(above - n * size * 1.3)))
            ground = pygame.Surface(place_.inflate(4, 0).size, pygame.SRCALPHA)
            ground.fill((*PAPER, 150))
            canvas.blit(ground, place_.inflate(4, 0))
            canvas.blit(image, place_)


def _name(seen: Seen, scene: Scene, canvas: pygame.Surface, room: int, place: int) -> None:
    """The name of a receptacle at its feet."""
    x, y, side = scene.squares[room, place]
    if place != RUG and side >= 34:
        foot = round(x + side / 2), round(y + side * (1 + 0.56 * _STEP))
        _caption(canvas, seen.names[place], foot, side, max(8, round(side * 0.125)))


def laid_out(
    things: Sequence[int], box: tuple[float, float, float, float]
) -> list[tuple[int, float, float, float]]:
    """Objects side by side on the lower edge of a box, in rows one before the other: (object, left,
    top, side) of each."""
    if not things:
        return []
    left, top, right, bottom = box
    wide, high = right - left, bottom - top
    best = (0.0, 1)
    for rows in (1, 2, 3, 4):
        columns = math.ceil(len(things) / rows)
        best = max(best, (min(wide / columns, high / (1 + 0.62 * (rows - 1)), wide * 0.5), -rows))
    size, rows = best[0], -best[1] if best[1] < 0 else 1
    columns = math.ceil(len(things) / rows)
    found = []
    for n, thing in enumerate(things):
        row, column = divmod(n, columns)
        here = min(columns, len(things) - row * columns)
        x = left + wide / 2 + (column - here / 2) * size
        y = bottom - size - (rows - 1 - row) * 0.62 * size
        found.append((thing, x, y, size))
    return found


def room_for(seen: Seen, scene: Scene, room: int, place: int) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of where things are in or on a receptacle."""
    x, y, side = scene.squares[room, place]
    left, top, right, bottom = spot(seen.kinds[place])
    return x + left * side, y + top * side, x + right * side, y + bottom * side


def in_hand(scene: Scene, player: int, hand: int) -> tuple[float, float, float]:
    """Left, top and side of what a player holds in a hand."""
    x, y, cell = scene.spots[player]
    size = round(cell * 0.44)
    across, down = HANDS[1 - hand]  # in the picture the right hand is the first one
    return x + across * cell - size / 2, y + down * cell - size * 0.94, size


def _thing(
    seen: Seen,
    canvas: pygame.Surface,
    thing: int,
    corner: tuple[float, float],
    size: int,
    pale: bool = False,
) -> None:
    """An object with what shows its state, and what is in it."""
    bits, kind = int(seen.bits[thing]), seen.thing_kinds[thing]
    inner = max(2, round(size * 0.92))
    args = ("thing", kind, bool(bits & ON), bool(bits & SLICED))
    effects = [
        name for bit, name in ((HOT, "steam"), (COOL, "frost"), (CLEAN, "sparkle")) if bits & bit
    ]
    inside = seen.inside(_place_in(seen.home, thing))
    for n, other in enumerate(inside):
        x = corner[0] + size * (0.5 + (n - len(inside) / 2) * 0.32)
        _thing(seen, canvas, other, (x, corner[1] + size * 0.16), round(size * 0.42), pale)
    if pale:
        blit_faded(canvas, corner, inner, 120, *args)
    else:
        blit(canvas, corner, inner, *args)
    if seen.target[thing] and size >= 10:
        spot_ = (round(corner[0] + size * 0.82), round(corner[1] + size * 0.14))
        pygame.draw.circle(canvas, INK, spot_, max(3, size // 8))
        pygame.draw.circle(canvas, TURN, spot_, max(2, size // 10))
    for name in effects:
        blit(canvas, corner, inner, name)


def _place_in(home: Home, thing: int) -> int:
    return home.receptacles + home.hands * home.players + thing


def _caption(
    canvas: pygame.Surface, text: str, place: tuple[int, int], width: float, size: int
) -> None:
    """One line on a dark ground, smaller where it is too wide; `place` is the middle of its upper
    edge."""
    image = write(text, size, PAPER)
    while image.get_width() > width and size > 8:
        size -= 1
        image = write(text, size, PAPER)
    if image.get_width() > width:
        image = write(wrap(text, size, max(1, round(width)), limit=1)[0], size, PAPER)
    box = image.get_rect(center=place)
    _shade(canvas, box.inflate(6, 0), 150)
    canvas.blit(image, box)


# ---- people --------------------------------------------------------------------------------------


def _person(seen: Seen, scene: Scene, canvas: pygame.Surface, player: int) -> None:
    x, y, cell = scene.spots[player]
    home = seen.home
    first = home.receptacles + home.hands * player
    held = [seen.inside(first + h) for h in range(home.hands)]
    full = [bool(things) for things in held]
    # In the picture the right hand is the first one.
    hands = (len(full) > 1 and full[1], full[0])
    name = ("person", player, player == seen.agent, hands)
    if seen.now[player] or player == seen.agent:
        blit(canvas, (x, y), cell, *name)
    else:
        blit_faded(canvas, (x, y), cell, 110, *name)
    for h, things in enumerate(held):
        left, top, size = in_hand(scene, player, h)
        for thing in things:
            hand = HANDS[1 - h]
            _thing(seen, canvas, thing, (left, top), round(size))
            if cell >= 80:
                text = seen.things[thing]
                under = round(x + hand[0] * cell), round(y + (hand[1] + 0.12) * cell)
                _caption(canvas, text, under, cell * 0.6, max(8, round(cell * 0.1)))
    if cell >= 22:
        centre, radius = (round(x + cell * 0.5), round(y + cell * 0.62)), max(6, round(cell * 0.1))
        pygame.draw.circle(canvas, INK, centre, radius)
        pygame.draw.circle(canvas, PAPER, centre, radius, max(1, radius // 5))
        number = write(str(player), max(8, round(radius * 1.3)), PAPER)
        canvas.blit(number, number.get_rect(center=centre))


# ---- the header ----------------------------------------------------------------------------------


def _header(seen: Seen, canvas: pygame.Surface, high: int) -> None:
    """A strip with the goal on the left, and the steps on the right."""
    width, gap = canvas.get_width(), high // 4
    canvas.fill(INK, (0, 0, width, high))
    small = max(9, round(high * 0.3))
    left = width - gap
    status = f"step {seen.time} of {seen.limit}"
    left = label(canvas, status, small, FADED, midright=(left, high / 2)).left - gap
    x = gap
    x = label(canvas, "GOAL", small, GOOD, midleft=(x, high / 2)).right + gap
    text = seen.goal
    size = max(9, round(high * 0.36))
    room = max(1, left - x)
    lines = wrap(text, size, room, limit=2)
    if len(lines) > 1:
        size = small
        lines = wrap(text, size, room, limit=2)
    for n, line in enumerate(lines):
        y = high / 2 + (n - (len(lines) - 1) / 2) * high * 0.42
        label(canvas, line, size, PAPER, midleft=(x, y))
