"""Levels of the kitchen: the shipped layouts, layouts given as text, recipes and orders.

A layout is drawn with one symbol a cell, rows from north to south:

    X counter          O onion dispenser    D dish dispenser    S serving window
      (space) floor    T tomato dispenser   P pot               1..6 start cell of that chef

and where one recipe is asked for at a time (`asked.py`)

    C carrot dispenser   M mushroom dispenser   R recipe indicator   B recipe button

Everything here is plain NumPy and Python on the host; the environment turns levels into arrays.
"""

from __future__ import annotations

import contextlib
import itertools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manyhands.core.config import nearest, one_of, whole
from manyhands.core.env import ConfigError, LayoutError, names_of
from manyhands.envs.kitchen import asked as ask

COUNTER, FLOOR, ONIONS, TOMATOES, DISHES, POT, SERVING, VOID = range(8)
CARROTS, MUSHROOMS, INDICATOR, BUTTON = range(8, 12)  # only where one recipe is asked for
SYMBOLS = "X OTDPS"  # index = terrain code; VOID is only padding and has no symbol
MORE_SYMBOLS = {"C": CARROTS, "M": MUSHROOMS, "R": INDICATOR, "B": BUTTON}
CODES = {symbol: code for code, symbol in enumerate(SYMBOLS)} | MORE_SYMBOLS
_SYMBOL_OF = {code: symbol for symbol, code in CODES.items()}
STATIONS = {
    ONIONS: "onion dispenser",
    TOMATOES: "tomato dispenser",
    DISHES: "dish dispenser",
    POT: "pot",
    SERVING: "serving window",
    CARROTS: "carrot dispenser",
    MUSHROOMS: "mushroom dispenser",
    INDICATOR: "recipe indicator",
    BUTTON: "recipe button",
}
DISPENSERS = (ONIONS, TOMATOES, CARROTS, MUSHROOMS)  # by kind of ingredient, as in `asked.KINDS`
MAX_CHEFS = 6
MAX_CELLS = 255  # a cell index fits one byte, with one value to spare
DIRECTIONS = ((0, -1), (0, 1), (1, 0), (-1, 0))  # (dx, dy) of north, south, east, west

Cell = tuple[int, int]  # (x, y)
# How many of each kind, one to three together: (onions, tomatoes); where one recipe is asked for at
# a time, (onions, tomatoes, carrots, mushrooms).
Recipe = tuple[int, ...]
RECIPES: tuple[Recipe, ...] = tuple(
    (total - tomatoes, tomatoes) for total in (1, 2, 3) for tomatoes in range(total + 1)
)
STARTS = ("overcooked_ai", "jaxmarl", "random")


@dataclass(frozen=True, eq=False)
class Level:
    """One kitchen to play in: where everything is, and what is ordered.

    Attributes:
        name: the layout's name, "text" for a text of the caller's, "generated ..." otherwise.
        terrain: u8[H, W], read-only, terrain codes.
        starts: (x, y) of each chef, in player order.
        orders: recipes worth something, as (onions, tomatoes).
        bonus_orders: those of them that are worth `order_bonus` times their value.
        values: points of every recipe, were it ordered and no bonus order; see `worth`.
        times: steps of cooking of every recipe.
        order_bonus: the factor for bonus orders.
        asked: whether only one of the orders is asked for at a time.
    """

    name: str
    terrain: np.ndarray
    starts: tuple[Cell, ...]
    orders: tuple[Recipe, ...]
    bonus_orders: tuple[Recipe, ...]
    values: dict[Recipe, int]
    times: dict[Recipe, int]
    order_bonus: int = 2
    asked: bool = False

    @property
    def width(self) -> int:
        return int(self.terrain.shape[1])

    @property
    def height(self) -> int:
        return int(self.terrain.shape[0])

    @property
    def chefs(self) -> int:
        return len(self.starts)

    def text(self) -> str:
        """The layout as text, without a last newline; `load_level` reads it back."""
        rows = [[_SYMBOL_OF[int(code)] for code in row] for row in self.terrain]
        for player, (x, y) in enumerate(self.starts):
            rows[y][x] = str(player + 1)
        return "\n".join("".join(row) for row in rows)

    def cells(self, code: int) -> list[Cell]:
        """(x, y) of all cells of one terrain code, in reading order."""
        return [(int(x), int(y)) for y, x in np.argwhere(self.terrain == code)]

    def recipe_of(self, soup: int) -> Recipe:
        """The recipe of a soup, by its code, or of what is in a pot."""
        return ask.counts(soup)[: 4 if self.asked else 2]

    def worth(self, recipe: Recipe) -> int:
        """Points for delivering a soup: 0 if it is not ordered; where one recipe is asked for, if
        it is this one."""
        if self.asked:
            return self.values[recipe]
        bonus = self.order_bonus if recipe in self.bonus_orders else 1
        return self.values[recipe] * bonus if recipe in self.orders else 0

    def worth_table(self) -> np.ndarray:
        """i32[4, 4]: `worth` by [onions, tomatoes]; 0 where there is no such recipe. i32[512] by
        the codes of soups, where one recipe is asked for at a time."""
        if self.asked:
            return self._by_code(np.int32, {recipe: self.worth(recipe) for recipe in ask.RECIPES})
        table = np.zeros((4, 4), np.int32)
        for recipe in RECIPES:
            table[recipe] = self.worth(recipe)
        return table

    def time_table(self) -> np.ndarray:
        """u8[4, 4]: steps of cooking by [onions, tomatoes]; 0 where there is no such recipe.
        u8[512] by the codes of soups, where one recipe is asked for at a time."""
        if self.asked:
            return self._by_code(np.uint8, self.times)
        table = np.zeros((4, 4), np.uint8)
        for recipe in RECIPES:
            table[recipe] = self.times[recipe]
        return table

    @staticmethod
    def _by_code(kind: Any, numbers: Mapping[Recipe, int]) -> np.ndarray:
        table: np.ndarray = np.zeros(ask.WIDE, kind)
        for recipe, number in numbers.items():
            table[ask.soup_code(recipe)] = number
        return table

    def best_table(self) -> np.ndarray:
        """i32[4, 4]: what the best soup is worth, at least 0, that contents of a pot can become, by
        [onions, tomatoes] in it, whatever the dispensers."""
        table = np.zeros((4, 4), np.int32)
        for onions, tomatoes in ((0, 0), *RECIPES):
            later = [r for r in RECIPES if r[0] >= onions and r[1] >= tomatoes]
            table[onions, tomatoes] = max(0, *(self.worth(recipe) for recipe in later))
        return table

    def _key(self) -> tuple:
        return (
            self.text(),
            self.orders,
            self.bonus_orders,
            tuple(sorted(self.values.items())),
            tuple(sorted(self.times.items())),
            self.order_bonus,
            self.asked,
        )

    def __eq__(self, other: object) -> bool:
        """Equal levels play the same; the name does not matter."""
        return isinstance(other, Level) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


# ---- recipes -------------------------------------------------------------------------------------


def parse_recipe(given: Any, kinds: int = 2) -> Recipe:
    """The recipe that `given` names: "onion+onion+tomato", ["onion", "onion", "tomato"], or counts
    (onions, tomatoes). One to three ingredients, in any order, of the first `kinds` of
    `asked.KINDS`."""
    if isinstance(given, str):
        names: list[Any] = [part.strip() for part in given.replace(",", "+").split("+")]
    elif isinstance(given, Sequence):
        names = list(given)
    else:
        names = [given]
    known = ask.KINDS[:kinds]
    if len(names) in (2, kinds) and all(isinstance(n, (int, np.integer)) for n in names):
        recipe: Recipe = (*map(int, names), *[0] * (kinds - len(names)))
    else:
        wrong = [name for name in names if name not in known]
        if wrong or not names:
            raise ConfigError(
                f"a recipe is written 'onion+onion+tomato', as a list of such names "
                f"({names_of(list(known))}), or as counts (onions, tomatoes); given {given!r}"
            )
        recipe = tuple(names.count(name) for name in known)
    if min(recipe) < 0 or not 1 <= sum(recipe) <= 3:
        raise ConfigError(f"a recipe has one to three ingredients; given {given!r}")
    return recipe


def recipe_name(recipe: Recipe) -> str:
    """ "onion+onion+tomato" for (2, 1); `parse_recipe` reads it back."""
    return "+".join(name for name, n in zip(ask.KINDS, recipe, strict=False) for name in [name] * n)


def parse_orders(given: Iterable[Any], what: str = "orders", kinds: int = 2) -> tuple[Recipe, ...]:
    """A list of recipes (see `parse_recipe`), each at most once."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigError(f"{what} is a list of recipes, e.g. ['onion+onion+onion']; got {given!r}")
    orders = tuple(parse_recipe(recipe, kinds) for recipe in given)
    if len(set(orders)) < len(orders):
        raise ConfigError(
            f"{what} names a recipe twice: {', '.join(map(recipe_name, orders))} "
            "(each entry is a whole recipe, e.g. ['onion+onion+onion'])"
        )
    return orders


def _numbers(
    what: str,
    given: int | Mapping[Any, int] | None,
    onion: int | None,
    tomato: int | None,
    possible: set[str],
    low: int,
    high: int,
    kinds: int,
) -> dict[Recipe, int]:
    """A number for every recipe: its own, else the sum over its ingredients, else a constant."""
    constant = 20
    own: dict[Recipe, int] = {}
    if isinstance(given, Mapping):
        own = {parse_recipe(recipe, kinds): number for recipe, number in given.items()}
    elif given is not None:
        if onion is not None or tomato is not None:
            raise ConfigError(f"give {what}s as one constant or per ingredient, not both")
        constant = whole(f"{what}s", given, low, high)
    by_name = {"onion": onion, "tomato": tomato, "carrot": None, "mushroom": None}
    for name, part in by_name.items():
        if part is not None:  # its sums are checked below
            whole(f"{name}_{what}", part, -(10**6), 10**6)
    numbers: dict[Recipe, int] = {}
    for recipe in RECIPES if kinds == 2 else ask.RECIPES:
        used = recipe_name(recipe).split("+")
        parts = [by_name[name] for name in used]
        if recipe in own:
            number = own[recipe]
        elif onion is None and tomato is None:
            number = constant
        elif None not in parts:
            number = sum(parts)  # type: ignore[arg-type]
        elif possible.issuperset(used):
            raise ConfigError(
                f"give both onion_{what} and tomato_{what}: this kitchen can make "
                f"{recipe_name(recipe)}, whose {what} is not known"
            )
        else:
            number = constant
        numbers[recipe] = whole(f"the {what} of {recipe_name(recipe)}", number, low, high)
    return numbers


# ---- layouts as text -----------------------------------------------------------------------------


def parse_layout(text: str) -> tuple[np.ndarray, tuple[Cell, ...]]:
    """(terrain u8[H, W], starts) of a layout text; `LayoutError` says what is wrong where.

    Blank lines around the layout and indentation common to all rows are dropped (borders are
    never floor, so nothing is lost). Rows and columns in errors count from 0 in what is left.
    """
    lines = textwrap.dedent(text.replace("\r\n", "\n")).split("\n")
    while lines and not lines[0].strip(" \t"):
        lines.pop(0)
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    if not lines:
        raise LayoutError("the layout is empty")
    width, height = len(lines[0].rstrip(" \t")), len(lines)
    rows = [line[:width] if not line[width:].strip(" \t") else line for line in lines]
    for y, row in enumerate(rows):
        for x, symbol in enumerate(row):
            if symbol not in CODES and not ("1" <= symbol <= "9"):
                raise LayoutError(
                    f"unknown symbol {symbol!r}; a layout is made of X (counter), space (floor), "
                    "O, T, C, M, D (dispensers), P (pot), S (serving window), R (recipe "
                    "indicator), B (recipe button), 1..6 (chefs)",
                    y,
                    x,
                )
        if len(row) != width:
            raise LayoutError(
                f"the layout is ragged: this row has {len(row)} cells, the first has {width}",
                y,
                min(len(row), width),
            )
    if width < 3 or height < 3 or width * height > MAX_CELLS:
        raise LayoutError(
            f"a layout is at least 3 by 3 and has at most {MAX_CELLS} cells; "
            f"this one is {width} by {height}"
        )
    terrain = np.empty((height, width), np.uint8)
    found: dict[int, Cell] = {}
    for y, row in enumerate(rows):
        for x, symbol in enumerate(row):
            terrain[y, x] = FLOOR if symbol.isdigit() else CODES[symbol]
            if terrain[y, x] == FLOOR and (x in (0, width - 1) or y in (0, height - 1)):
                raise LayoutError("the border is open: close it with X or a station", y, x)
            if symbol.isdigit():
                if int(symbol) in found:
                    raise LayoutError(f"chef {symbol} is on the layout twice", y, x)
                found[int(symbol)] = (x, y)
    for player in sorted(found):
        x, y = found[player]
        if player > MAX_CHEFS:
            raise LayoutError(f"too many chefs: there are at most {MAX_CHEFS}", y, x)
        if player > len(found):
            missing = min(set(range(1, player)) - set(found))
            raise LayoutError(
                f"there is a chef {player} but no chef {missing}: number them from 1", y, x
            )
    if not found:
        raise LayoutError("there is no chef: mark start cells with 1, 2, ...")
    needed = {SERVING: (SERVING,), POT: (POT,), DISHES: (DISHES,), ONIONS: DISPENSERS}
    for codes in needed.values():
        if not np.isin(terrain, codes).any():
            names = [f"{STATIONS[code]} ({_SYMBOL_OF[code]})" for code in codes[:2]]
            raise LayoutError(f"a station is missing: there is no {names_of(names)}")
    terrain.setflags(write=False)
    return terrain, tuple(found[player] for player in sorted(found))


# ---- the shipped layouts -------------------------------------------------------------------------

_THREE_ONIONS: dict[str, Any] = {"orders": ((3, 0),)}

# Name -> (text, keyword arguments of `load_level`). The texts of the first five, their order lists
# and start cells are those of Overcooked-AI (Carroll et al. 2019).
LAYOUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "cramped_room": (
        """
        XXPXX
        O  2O
        X1  X
        XDXSX
        """,
        _THREE_ONIONS,
    ),
    "asymmetric_advantages": (
        """
        XXXXXXXXX
        O XSXOX S
        X   P 1 X
        X2  P   X
        XXXDXDXXX
        """,
        _THREE_ONIONS,
    ),
    "coordination_ring": (
        """
        XXXPX
        X 1 P
        D2X X
        O   X
        XOSXX
        """,
        _THREE_ONIONS,
    ),
    "forced_coordination": (
        """
        XXXPX
        O X1P
        O2X X
        D X X
        XXXSX
        """,
        _THREE_ONIONS,
    ),
    "counter_circuit_o_1order": (
        """
        XXXPPXXX
        X  2   X
        D XXXX S
        X  1   X
        XXXOOXXX
        """,
        _THREE_ONIONS,
    ),
    # The file that Overcooked-AI calls `counter_circuit`, a different game from the paper's layout
    # of that name (above).
    "counter_circuit_tomato": (
        """
        XXXPDPXXX
        X   2   X
        X XXXXX X
        X   1   X
        XXXOSTXXX
        """,
        {
            "orders": ((1, 2), (2, 1), (1, 1)),
            "bonus_orders": ((1, 1),),
            "onion_value": 21,
            "tomato_value": 13,
            "onion_time": 15,
            "tomato_time": 7,
        },
    ),
    "multiplayer_schelling": (
        """
        XXSPDXX
        X  1  X
        X  X  X
        O3   4O
        X  X  X
        X  2  X
        XXDPSXX
        """,
        _THREE_ONIONS,
    ),
    # OvercookedV2 (Gessler et al. 2025), as far as two ingredients express it: ingredient 0 is the
    # onion, 1 the tomato; every soup of three is ordered at once instead of one that indicators
    # show, so an indicator is a counter.
    "cramped_room_v2": (
        """
        XXPXX
        O1 2T
        X   X
        XDXSX
        """,
        {},
    ),
    "asymm_advantages_recipes_center": (
        """
        XXXXXXXXX
        O XSXOT S
        T   P   X
        X 1 P2  X
        XXXDXDXXX
        """,
        {},
    ),
    "two_rooms": (
        """
        XXXXXDTOX
        X   X   X
        P 1 X 2 X
        X   X   S
        XXXXXXXXX
        """,
        {},
    ),
    "long_room": (
        """
        XXXXXXXXXXXXXXX
        D            1P
        O             S
        XXXXXXXXXXXXXXX
        """,
        _THREE_ONIONS,
    ),
}
_CALLED = {
    "simple": "cramped_room",
    "asymm_advantages": "asymmetric_advantages",
    "unident_s": "asymmetric_advantages",
    "coord_ring": "coordination_ring",
    "random1": "coordination_ring",
    "forced_coord": "forced_coordination",
    "random0": "forced_coordination",
    "counter_circuit": "counter_circuit_o_1order",  # as papers and JaxMARL call it
    "random3": "counter_circuit_o_1order",
}
# With those layouts of OvercookedV2 whose names no other layout has.
ALIASES = {
    name.removeprefix(ask.PREFIX): name
    for name in ask.LAYOUTS
    if name.removeprefix(ask.PREFIX) not in {*LAYOUTS, *_CALLED}
} | _CALLED
# JaxMARL's start cells, where they differ from the marked ones (forced_coordination: the players
# the other way round). It has the same ones in coordination_ring and in the OvercookedV2 layouts.
JAXMARL_STARTS = {
    "cramped_room": ((1, 1), (3, 1)),
    "asymmetric_advantages": ((2, 3), (5, 3)),
    "coordination_ring": ((2, 1), (1, 2)),
    "forced_coordination": ((1, 2), (3, 1)),
    "counter_circuit_o_1order": ((2, 1), (6, 3)),
} | {
    name: parse_layout(LAYOUTS[name][0])[1]
    for name in ("cramped_room_v2", "asymm_advantages_recipes_center", "two_rooms", "long_room")
}


def layout_names(*, aliases: bool = False) -> tuple[str, ...]:
    """The shipped layouts' names, with their other names on request."""
    return (*LAYOUTS, *ask.LAYOUTS, *(ALIASES if aliases else ()))


def load_level(
    layout: str,
    *,
    starts: str = "overcooked_ai",
    chefs: int | None = None,
    orders: Iterable[Any] | None = None,
    bonus_orders: Iterable[Any] | None = None,
    values: int | Mapping[Any, int] | None = None,
    times: int | Mapping[Any, int] | None = None,
    onion_value: int | None = None,
    tomato_value: int | None = None,
    onion_time: int | None = None,
    tomato_time: int | None = None,
    order_bonus: int = 2,
    asked: bool | None = None,
) -> Level:
    """The level of a shipped layout's name, or of a layout text (any string with a newline).

    Args:
        starts: "overcooked_ai", the cells marked on the layout; "jaxmarl", that library's, for the
            layouts that it has; "random", drawn at each reset by the environment (the level keeps
            the marked ones).
        chefs: 1 to 6; fewer than the layout marks keeps the first ones, more adds start cells as
            far as possible from all others.
        orders: recipes that are worth something (see `parse_recipe`). By default the layout's own;
            else, every recipe of three ingredients that the kitchen has dispensers for.
        bonus_orders: orders that are worth `order_bonus` times their value.
        values, times: one constant (20 by default), or a mapping from recipes; a value is -10000
            to 10000 points, a time is 1 to 250 steps. Recipes that a mapping leaves out, or all,
            are the sum of `onion_value` and `tomato_value` (`onion_time`, `tomato_time`) over
            their ingredients where those are given.
        asked: whether one of the orders is asked for at a time; by default in the layouts of
            OvercookedV2, and in those that have recipe indicators or buttons.
    """
    if not isinstance(layout, str):
        raise ConfigError(f"a layout is a name or a text with newlines; got {layout!r}")
    one_of("starts", starts, STARTS)
    name, defaults = "text", dict[str, Any]()
    text = layout
    if "\n" not in layout:
        name = ALIASES.get(layout, layout)
        if name not in LAYOUTS and name not in ask.LAYOUTS:
            raise LayoutError(
                f"no layout is called {layout!r};{nearest(layout, layout_names(aliases=True))} "
                f"there are {', '.join(layout_names())}; "
                "a text with newlines is read as a layout itself"
            )
        if name in ask.LAYOUTS:
            text, own = ask.LAYOUTS[name]
            defaults = {"orders": own, "asked": True}
        else:
            text, defaults = LAYOUTS[name]
    terrain, cells = parse_layout(text)
    asked = _is_asked(terrain, asked, defaults.get("asked", False))
    kinds = 4 if asked else 2
    if starts == "jaxmarl":
        if name not in JAXMARL_STARTS and name not in ask.LAYOUTS:
            raise ConfigError(
                f"starts='jaxmarl' is known for {', '.join(JAXMARL_STARTS)}; not for {layout!r}"
            )
        cells = JAXMARL_STARTS.get(name, cells)
    marked, cells = cells, _place(terrain, cells, len(cells) if chefs is None else chefs)

    possible = {
        name for name, code in zip(ask.KINDS, DISPENSERS, strict=True) if (terrain == code).any()
    }
    if orders is None:
        if bonus_orders is None:
            bonus_orders = defaults.get("bonus_orders")
        orders = defaults.get("orders") or [
            r
            for r in (ask.RECIPES if asked else RECIPES)
            if sum(r) == 3 and possible.issuperset(recipe_name(r).split("+"))
        ]
    orders = parse_orders(orders, kinds=kinds)
    bonus_orders = parse_orders(bonus_orders or (), "bonus_orders", kinds)
    if not orders:
        raise ConfigError("orders is empty: nothing could be cooked for points")
    for recipe in bonus_orders:
        if recipe not in orders:
            raise ConfigError(f"the bonus order {recipe_name(recipe)} is not among the orders")
    order_bonus = whole("order_bonus", order_bonus, 1, 100)
    if values is None and onion_value is None and tomato_value is None:
        onion_value, tomato_value = defaults.get("onion_value"), defaults.get("tomato_value")
    if times is None and onion_time is None and tomato_time is None:
        onion_time, tomato_time = defaults.get("onion_time"), defaults.get("tomato_time")
    level = Level(
        name,
        terrain,
        cells,
        orders,
        bonus_orders,
        _numbers("value", values, onion_value, tomato_value, possible, -10_000, 10_000, kinds),
        _numbers("time", times, onion_time, tomato_time, possible, 1, 250, kinds),
        order_bonus,
        asked,
    )
    if chefs is None:
        check_level(level)
    else:
        _check_chefs(level, marked)
    return level


def _is_asked(terrain: np.ndarray, given: bool | None, usual: bool) -> bool:
    """Whether one recipe is asked for at a time."""
    only = [STATIONS[code] for code in MORE_SYMBOLS.values() if (terrain == code).any()]
    if given is None:
        return bool(usual or only)
    if only and not given:
        raise ConfigError(
            f"asked=False, but the layout has {names_of(only)}s: these are for kitchens in which "
            "one recipe is asked for at a time"
        )
    return given


def _place(terrain: np.ndarray, marked: tuple[Cell, ...], chefs: int) -> tuple[Cell, ...]:
    """Start cells for `chefs` chefs: the marked ones first, then, one by one, the cell whose
    nearest chef is farthest (in straight steps), in rooms that a marked chef stands in."""
    chefs = whole("chefs", chefs, 1, MAX_CHEFS)
    cells = list(marked[:chefs])
    floor = frozenset((int(x), int(y)) for y, x in np.argwhere(terrain == FLOOR))
    free = sorted(
        cell for part in connected_parts(floor) if part.intersection(marked) for cell in part
    )
    if chefs > len(free):
        raise LayoutError(f"too many chefs: {chefs} do not fit on {len(free)} floor cells")
    while len(cells) < chefs:
        cells.append(
            max(
                (cell for cell in free if cell not in cells),
                key=lambda cell: min(abs(cell[0] - x) + abs(cell[1] - y) for x, y in cells),
            )
        )
    return tuple(cells)


# ---- the checker ---------------------------------------------------------------------------------


def connected_parts(cells: Iterable[Cell]) -> list[frozenset[Cell]]:
    """The connected parts of a set of floor cells."""
    left, parts = set(cells), []
    while left:
        stack = [min(left)]
        left.discard(stack[0])
        part = set(stack)
        while stack:
            x, y = stack.pop()
            for dx, dy in DIRECTIONS:
                cell = (x + dx, y + dy)
                if cell in left:
                    left.discard(cell)
                    part.add(cell)
                    stack.append(cell)
        parts.append(frozenset(part))
    return parts


def _range(room: frozenset[Cell], start: Cell, others: set[Cell]) -> set[Cell]:
    """The cells of `room` that the chef at `start` can get to, the others in the room helping.

    Chefs cannot pass each other, so in a narrow place one may be stuck behind another. Apart from
    the chef that is followed they are all alike, and alike chefs can take up any cells of the
    connected part that they are in. So all that matters is the followed chef's cell, and how many
    others are in each part that the room falls into without that cell. These few states are
    searched through, which makes the answer exact."""
    if not others:
        return set(room)
    parts_without: dict[Cell, list[frozenset[Cell]]] = {}

    def parts(cell: Cell) -> list[frozenset[Cell]]:
        if cell not in parts_without:
            parts_without[cell] = connected_parts(room - {cell})
        return parts_without[cell]

    first = (start, tuple(len(others & part) for part in parts(start)))
    seen, stack = {first}, [first]
    while stack:
        here, counts = stack.pop()
        for dx, dy in DIRECTIONS:
            there = (here[0] + dx, here[1] + dy)
            if there not in room:
                continue
            ahead = next(i for i, part in enumerate(parts(here)) if there in part)
            crowd = counts[ahead]
            if crowd == len(parts(here)[ahead]):
                continue  # no gap there to make way with
            # Those ahead settle in the parts beyond `there`, or in the one that holds `here`.
            beyond = [0 if here in part else len(part) for part in parts(there)]
            shared = len(parts(here)[ahead]) - 1 - sum(beyond)
            for split in itertools.product(*(range(min(size, crowd) + 1) for size in beyond)):
                if 0 <= crowd - sum(split) <= shared:
                    after = tuple(
                        len(others) - sum(split) if here in part else number
                        for part, number in zip(parts(there), split, strict=True)
                    )
                    if (there, after) not in seen:
                        seen.add((there, after))
                        stack.append((there, after))
    return {cell for cell, _ in seen}


def touching(level: Level) -> list[set[Cell]]:
    """For each chef, the counters and stations that it can come to stand beside."""
    parts = connected_parts(frozenset(level.cells(FLOOR)))
    touched = []
    for i, start in enumerate(level.starts):
        room = next(part for part in parts if start in part)
        others = {cell for j, cell in enumerate(level.starts) if j != i and cell in room}
        touched.append(
            {
                (x + dx, y + dy)
                for x, y in _range(room, start, others)
                for dx, dy in DIRECTIONS
                if level.terrain[y + dy, x + dx] != FLOOR
            }
        )
    return touched


def _unsolvable(level: Level, touched: list[set[Cell]]) -> str | None:
    """Why no ordered soup can ever be delivered, or None if one can."""
    # Chefs who share a counter can give each other anything: they form a team.
    counters = set(level.cells(COUNTER))
    teams = [set(touch) for touch in touched]
    merged = True
    while merged:
        merged = False
        for i, j in itertools.combinations(range(len(teams)), 2):
            if teams[i] & teams[j] & counters:
                teams[i] |= teams.pop(j)
                merged = True
                break
    dishes, windows = set(level.cells(DISHES)), set(level.cells(SERVING))
    sources = [set(level.cells(code)) for code in DISPENSERS]
    reason = "no chefs who can give each other things get at a pot, a dish and a serving window"
    for pot in level.cells(POT):
        cooks = [team for team in teams if pot in team]
        # A soup stays with the team that took it out of the pot with its own dish.
        if not any(team & dishes and team & windows for team in cooks):
            continue
        reason = "no recipe on the order list can be put into a pot from which soup can be served"
        has = [any(team & cells for team in cooks) for cells in sources]
        made = [
            all(there or not n for there, n in zip(has, recipe, strict=False))
            for recipe in level.orders
        ]
        if all(made) if level.asked else any(made):
            return None
    return reason


def solvable(level: Level) -> bool:
    """Whether the chefs, working together from where they start, can deliver an ordered soup.

    Exact but for the clock: it accounts for separate rooms, for hand-overs across counters, for
    pots and counters between rooms, and for chefs who stand in each other's way."""
    return _unsolvable(level, touching(level)) is None


def check_level(level: Level) -> None:
    """Raise `LayoutError` if some station is out of every chef's reach, or nothing can be served
    (see `solvable`)."""
    touched = touching(level)
    for code, station in STATIONS.items():
        for x, y in level.cells(code) if code != INDICATOR else ():
            if not any((x, y) in touch for touch in touched):
                raise LayoutError(f"no chef can get to this {station}", y, x)
    reason = _unsolvable(level, touched)
    if reason:
        raise LayoutError(f"this kitchen cannot be solved by its chefs: {reason}")


def _check_chefs(level: Level, marked: tuple[Cell, ...]) -> None:
    """`check_level`; an error tells which numbers of chefs will do."""
    try:
        check_level(level)
    except LayoutError as error:
        floor, fit = len(level.cells(FLOOR)), []
        for count in range(1, min(MAX_CHEFS, floor) + 1):
            with contextlib.suppress(LayoutError):
                starts = _place(level.terrain, marked, count)
                check_level(replace(level, starts=starts))
                fit.append(str(count))
        instead = f"chefs={names_of(fit)} will do" if fit else "no other number will do either"
        raise LayoutError(
            f"{error.reason}; given chefs={level.chefs} on {floor} floor cells; {instead}",
            error.row,
            error.column,
        ) from error
