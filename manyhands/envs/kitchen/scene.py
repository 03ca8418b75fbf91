"""What one chef sees at one moment, cut out of the state once; all that is said to the chef is said
from that alone. And the names of things."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import (
    BUTTON,
    CARROTS,
    COUNTER,
    DIRECTIONS,
    DISHES,
    FLOOR,
    INDICATOR,
    MUSHROOMS,
    ONIONS,
    POT,
    SERVING,
    STATIONS,
    TOMATOES,
    VOID,
    Level,
    connected_parts,
)
from manyhands.envs.kitchen.relabel import names_seen, seen_by
from manyhands.envs.kitchen.state import SERVED, SOUP, KitchenState

if TYPE_CHECKING:
    from manyhands.envs.kitchen.env import Kitchen

MAP = "X.OTDPS?CMRB"  # index = terrain code; floor is a dot, so that no cell is lost to white space


# ---- things in words -----------------------------------------------------------------------------


def amount(*counts: int) -> str:
    """ "2 onions and 1 tomato", by kind of ingredient."""
    names = zip(counts, ask.KINDS, ask.PLURALS, strict=False)
    parts = [f"{n} {plural if n > 1 else one}" for n, one, plural in names if n]
    return " and ".join(parts)


# By the code of an object, or of what is in a pot; what is no code has any name.
AMOUNTS = [amount(*ask.counts(code)) for code in range(ask.WIDE)]
THINGS = ["nothing", "onion", "tomato", "dish", "carrot", "mushroom", *[""] * 10]
THINGS += [f"soup of {inside}" for inside in AMOUNTS[SOUP:]]
A_THING = ["nothing", "an onion", *(f"a {name}" for name in THINGS[2:])]


def holding(held: int, name: str = "holding") -> dict[str, Any]:
    """An object as data, with the contents of a soup beside it: onions and tomatoes always, other
    kinds if there are any."""
    if held < SOUP:
        return {name: THINGS[held] if held else None}
    return {name: "soup", **inside(held)}


def inside(soup: int, kinds: int = 2) -> dict[str, int]:
    """How much of each kind is in a soup or a pot: of the first `kinds`, and of any others."""
    named = zip(ask.PLURALS, ask.counts(soup), strict=True)
    return {name: count for k, (name, count) in enumerate(named) if count or k < kinds}


def letter(number: int) -> str:
    """A, B, ... Z, AA, AB, ..."""
    return (letter(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def steps(count: int) -> str:
    return f"{count} step{'s' * (count != 1)}"


# ---- places --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Place:
    """What stays the same while a chef stands somewhere: made once, then looked up."""

    width: int
    terrain: bytes  # VOID where the chef does not see
    names: list[str]  # "(x, y)" of each cell
    canvas: list[str]  # the map, character by character
    spots: list[int]  # where on the canvas each cell is
    stations: str
    pots: list[int]  # cells in reading order: pot A, pot B, ...
    letters: dict[int, str]
    counters: list[int]

    def front(self, cell: int, facing: int) -> int:
        dx, dy = DIRECTIONS[facing]
        return cell + dx + dy * self.width

    def around(self, cell: int) -> list[int]:
        """The cells beside a cell, which may be at the border."""
        x = cell % self.width
        return [
            cell + dx + dy * self.width
            for dx, dy in DIRECTIONS
            if 0 <= x + dx < self.width and 0 <= cell + dy * self.width < len(self.terrain)
        ]

    @functools.cached_property
    def rooms(self) -> list[int]:
        """For each cell, the number of the connected part of the floor that it belongs to; -1
        elsewhere."""
        floor = {
            (cell % self.width, cell // self.width)
            for cell, code in enumerate(self.terrain)
            if code == FLOOR
        }
        found = [-1] * len(self.terrain)
        for number, part in enumerate(connected_parts(floor)):
            for x, y in part:
                found[y * self.width + x] = number
        return found

    def station(self, cell: int) -> str:
        """A station in words: "pot A", "the onion dispenser at (0, 1)"."""
        if self.terrain[cell] == POT:
            return f"pot {self.letters[cell]}"
        return f"the {STATIONS[self.terrain[cell]]} at {self.names[cell]}"


@functools.lru_cache(maxsize=8192)
def _place(terrain: bytes, width: int, own: int, radius: int | None) -> Place:
    cells = range(len(terrain))
    if radius is not None:
        x, y = own % width, own // width
        near = [
            abs(cell % width - x) <= radius and abs(cell // width - y) <= radius for cell in cells
        ]
        terrain = bytes(code if n else VOID for code, n in zip(terrain, near, strict=True))
    names = [f"({cell % width}, {cell // width})" for cell in cells]
    height = len(terrain) // width
    margin = len(str(height - 1)) + 1
    lines = []
    if width > 10:
        lines.append(" " * margin + "".join(str(x // 10) for x in range(width)))
    lines.append(" " * margin + "".join(str(x % 10) for x in range(width)))
    spots: list[int] = []
    offset = sum(len(line) + 1 for line in lines)
    for y in range(height):
        row = terrain[y * width : (y + 1) * width]
        lines.append(f"{y:>{margin - 1}} " + "".join(MAP[code] for code in row))
        spots += range(offset + margin, offset + margin + width)
        offset += margin + width + 1
    stations = []
    for code in (ONIONS, TOMATOES, CARROTS, MUSHROOMS, DISHES, SERVING, INDICATOR):
        where = [names[c] for c in cells if terrain[c] == code]
        if where:
            stations.append(f"{STATIONS[code].capitalize()}s: {' '.join(where)}.")
    pots = [c for c in cells if terrain[c] == POT]
    return Place(
        width,
        terrain,
        names,
        list("\n".join(lines)),
        spots,
        " ".join(stations),
        pots,
        {c: letter(number) for number, c in enumerate(pots)},
        [c for c in cells if terrain[c] == COUNTER],
    )


# ---- what a chef sees ----------------------------------------------------------------------------


class Chef(NamedTuple):
    """A chef that is in view."""

    cell: int
    facing: int
    held: int
    event: int
    before: int  # what it held before the last step


@dataclass(frozen=True)
class Scene:
    """What one chef sees at one moment, and nothing else."""

    agent: int
    place: Place
    # Of counters and pots, and the recipe where it is shown; read only at cells that `place` has in
    # view.
    objects: Sequence[int]
    timer: bytes
    chefs: list[Chef | None]  # None: out of view
    own: Chef
    at: dict[int, int]  # cell -> the chef in it, other than oneself
    ready: list[int]  # cells in view of the pots that got ready in the last step
    levels: tuple[Level, ...]  # this kitchen; several where the chef cannot know which it is
    true_level: Level
    time: int
    soups: int
    score: int
    penalty: bool  # as in `Kitchen`
    delivered: bool | None  # as in `Asked`; None if it is not shown
    # Which kind it sees under the name of each; empty: the true names.
    names: tuple[int, ...] = ()

    @functools.cached_property
    def recipe(self) -> int | None:
        """The soup asked for, if it is in view; None where it is not, or where none is."""
        for cell, code in enumerate(self.place.terrain):
            if code in (INDICATOR, BUTTON) and self.objects[cell]:
                return self.objects[cell]
        return None

    def worth(self, soup: int) -> int | None:
        """What a soup would earn; None if the chef cannot know."""
        if self.true_level.asked:
            if self.recipe is None or len(self.levels) > 1:
                return None
            return self.earned(soup, SERVED if soup == self.recipe else 0)
        worths = {level.worth(level.recipe_of(soup)) for level in self.levels}
        return worths.pop() if len(worths) == 1 else None

    def earned(self, soup: int, event: int) -> int:
        """What a soup has earned that was served: the score tells everybody."""
        worth = self.true_level.worth(self.true_level.recipe_of(soup))
        if self.true_level.asked and event != SERVED:
            return -worth if self.penalty else 0
        return worth

    def front(self, chef: Chef) -> int:
        """The cell that a chef faces."""
        return self.place.front(chef.cell, chef.facing)

    def named(self, cell: int) -> str:
        """A counter or a station in words."""
        place = self.place
        if place.terrain[cell] != COUNTER:
            return place.station(cell)
        thing = self.objects[cell]
        if thing:
            return f"the counter at {place.names[cell]} with {A_THING[thing]}"
        return f"the empty counter at {place.names[cell]}"


_last: tuple[Any, ...] = (None, None, (), None)  # what `scene_of` was asked last, and gave


def scene_of(
    kitchen: Kitchen, state: KitchenState, agent: int, radius: int | None, true_names: bool = False
) -> Scene:
    """What a chef sees, within `radius` if that is not None, by the names of ingredients that it
    sees, or by the true ones. A description and choices are usually wanted together: the scene of
    the last call is kept."""
    global _last
    known_kitchen, known_state, known, scene = _last
    asked = (agent, radius, true_names)
    if known_kitchen is kitchen and known_state is state and known == asked:
        found: Scene = scene
        return found
    seen = state if true_names else seen_by(kitchen, state, agent)
    found = _scene_of(kitchen, seen, agent, radius)
    if kitchen.relabel and not true_names:
        found = dataclasses.replace(found, names=names_seen(state, agent))
    _last = (kitchen, state, asked, found)
    return found


def _scene_of(kitchen: Kitchen, state: KitchenState, agent: int, radius: int | None) -> Scene:
    position = _bytes(state.position)
    place = _place(
        _bytes(state.terrain), kitchen.width, 0 if radius is None else position[agent], radius
    )
    level = kitchen.levels[int(state.level)]
    chefs: list[Chef | None] = [
        Chef(*chef) if place.terrain[chef[0]] != VOID else None
        for chef in zip(
            position,
            _bytes(state.facing),
            _numbers(state.held),
            _bytes(state.event),
            _numbers(state.recent.held),
            strict=True,
        )
    ]
    own = chefs[agent]
    assert own is not None  # a chef stands within its own view
    return Scene(
        agent,
        place,
        _in_sight(state),
        _bytes(state.timer),
        chefs,
        own,
        {chef.cell: i for i, chef in enumerate(chefs) if chef is not None and i != agent},
        [cell for cell in _got_ready(kitchen, state) if place.terrain[cell] == POT],
        (level,) if radius is None else kitchen.levels,
        level,
        int(state.time),
        int(state.soups),
        int(state.score),
        kitchen.penalty,
        bool(state.asked.delivered) if kitchen.show_delivery and state.asked else None,
    )


def _got_ready(kitchen: Kitchen, state: KitchenState) -> list[int]:
    """The cells of all pots that got ready in the last step."""
    flags, first = _bytes(state.recent.ready), kitchen.pot_cells[0]
    return [first + k for k, flag in enumerate(flags) if flag] if any(flags) else []


def _in_sight(state: KitchenState) -> Sequence[int]:
    """Objects, and the recipe at indicators and at buttons that show it."""
    if state.asked is None:
        return _bytes(state.objects)
    terrain, objects = np.asarray(state.terrain), np.asarray(state.objects)
    shows = (terrain == INDICATOR) | ((terrain == BUTTON) & (np.asarray(state.timer) > 0))
    return np.where(shows, state.asked.recipe, objects).tolist()


def _numbers(array: Any) -> Sequence[int]:
    """Codes of objects, of one byte or two."""
    array = np.asarray(array)
    return _bytes(array) if array.dtype == np.uint8 else array.tolist()


def _bytes(array: Any) -> bytes:
    """Small numbers as bytes, the quickest thing to index in plain Python."""
    return np.asarray(array, np.uint8).tobytes()
