"""The kitchen's state, its fixed configuration, and the codes of actions, objects and events.

Every function of the rules (`rules.py`) and of the observations (`observe.py`) takes a
`KitchenConfig` and a `KitchenState`, with any number of trailing batch axes (none, or one): per
cell arrays are `[cells, ...]`, per chef arrays `[chefs, ...]`.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, state_dataclass
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import (
    DISPENSERS,
    FLOOR,
    MAX_CELLS,
    POT,
    VOID,
    Level,
    connected_parts,
)

ACTIONS = ("north", "south", "east", "west", "stay", "interact")
NORTH, SOUTH, EAST, WEST, STAY, INTERACT = range(6)

# Objects, in a hand, on a counter or in a pot: SOUP | onions << 2 | tomatoes is a soup, or what has
# been put into a pot so far. Where one recipe is asked for at a time, carrots << 5 and
# mushrooms << 7 are added.
NOTHING, ONION, TOMATO, DISH, SOUP = 0, 1, 2, 3, ask.SOUP
CARROT, MUSHROOM = 4, 5

# What a chef's last action did (`KitchenState.event`).
EVENTS = (
    "has just arrived",
    "waited",
    "moved",
    "turned",
    "was blocked by another chef",
    "did nothing useful",
    "took an onion",
    "took a tomato",
    "took a dish",
    "put something down",
    "picked something up",
    "put an ingredient into a pot",
    "started a pot",
    "plated a soup",
    "served a soup",
    "served a soup that nobody ordered",
)
(
    ARRIVED,
    WAITED,
    MOVED,
    TURNED,
    BLOCKED,
    USELESS,
    TOOK_ONION,
    TOOK_TOMATO,
    TOOK_DISH,
    PUT_DOWN,
    PICKED_UP,
    POTTED,
    STARTED,
    PLATED,
    SERVED,
    WASTED,
) = range(len(EVENTS))
# More of them, where one recipe is asked for at a time.
ASKED_EVENTS = ("took a carrot", "took a mushroom", "pressed a recipe button")
TOOK_CARROT, TOOK_MUSHROOM, PRESSED = range(len(EVENTS), len(EVENTS) + len(ASKED_EVENTS))

# Published shaping, Overcooked-AI: ingredient into a pot 3, useful dish 3, soup onto a dish 5.
SHAPED = {"pot_placement": 3.0, "dish_pickup": 3.0, "soup_pickup": 5.0}
# JaxMARL's OvercookedV2: an ingredient that the recipe still wants into a pot 3, starting a pot
# that holds the recipe 5, useful dish 3, soup of the recipe onto a dish 5.
ASKED_SHAPED = {"pot_placement": 3.0, "pot_start": 5.0, "dish_pickup": 3.0, "soup_pickup": 5.0}
URGENT = 40  # "urgent" is on while fewer steps than this are left (Overcooked-AI)
# Up to so many chefs the work of each is written out in the program of a single kitchen, which
# then runs fastest; for more it is a loop, so that programs do not grow.
WRITTEN_OUT = 2

OBSERVATIONS = ("grid", "compact", "features", "featurized", "routes")
DYNAMICS = ("classic", "manual")


@state_dataclass
class Recent:
    """What happened in the last step and does not follow from the new state; zeros at the start.

    Attributes:
        held: u8[chefs], the object that was in each hand before the step.
        ready: bool[P], whether a pot got ready, of the cells `KitchenConfig.pot_cells`.
    """

    held: Array
    ready: Array


@state_dataclass
class Asked:
    """What is asked for, where one recipe is at a time.

    Attributes:
        recipe: u16[], the code of the soup.
        delivered: bool[], whether it was served in the last step (or what was asked for then).
        seen_as: u8[chefs, kinds], with `relabel`: the kind of ingredient that each chef sees under
            the name of each kind; else None.
    """

    recipe: Array
    delivered: Array
    seen_as: Array | None = None


@state_dataclass
class KitchenState:
    """One kitchen at one moment; cells are numbered `y * width + x` from the top left.

    Attributes:
        terrain: u8[cells], the codes of `levels.py`.
        objects: u8[cells], the object on a counter, or the contents of a pot.
        timer: u8[cells], pots: 0 idle, 1 ready, 1 + n cooking with n steps left.
        position: u8[chefs], cell numbers.
        facing: u8[chefs], 0 north, 1 south, 2 east, 3 west.
        held: u8[chefs], the object in hand.
        time: i16[], steps played.
        level: i16[], which of `Kitchen.levels` this is.
        soups: i16[], soups served that were worth something.
        score: i32[], sum of their values.
        event: u8[chefs], what each chef's last action did (`EVENTS`).
        recent: what else happened in the last step.
        asked: the recipe asked for; None where all orders are open at once. Where there is one,
            objects and hands are u16, and the timer of a recipe button is for how many more steps
            it shows the recipe.
    """

    terrain: Array
    objects: Array
    timer: Array
    position: Array
    facing: Array
    held: Array
    time: Array
    level: Array
    soups: Array
    score: Array
    event: Array
    recent: Recent
    asked: Asked | None = None


class Bits(NamedTuple):
    """Where the fields of a compact code begin, and how many values the first and the fifth have.

    `delivered` is only set where one recipe is asked for at a time.
    """

    terrain: int
    chef: int
    facing: int
    thing: int
    things: int
    timer: int
    urgent: int
    delivered: int


NARROW = Bits(8, 3, 6, 8, 32, 13, 21, 31)
WIDE = Bits(16, 4, 7, 9, 512, 18, 26, 27)


class KitchenConfig:
    """What the rules and observations read of a kitchen, fixed while it is played.

    `Kitchen` (`env.py`) is one, made from keyword arguments.

    Attributes:
        levels: the layouts; `KitchenState.level` is an index into them.
        chefs: number of chefs.
        height, width: rows and columns of the largest layout.
        max_pots: the largest number of pots in any layout.
        pot_cells: (first, last + 1) of the cell numbers between which all pots of all layouts are.
        dynamics, observation, view_radius, max_steps, statistics: as in `Kitchen`.
        potential: whether there is a term `potential`.
        asked: whether one recipe is asked for at a time, as in OvercookedV2.
        resample, penalty, show_delivery, button_cost, button_steps, random_reset, relabel: as in
            `Kitchen`.
        bits: the fields of a compact code.
        kinds: how many kinds of ingredients the layouts know; 2 where orders are open at once.
        thing_dtype: of objects and hands.
        recipes: u16[levels, R], the soups that may be asked for, repeated to fill up rows.
        recipe_counts: i32[levels], how many there are.
        level_kinds: i32[levels], how many kinds of ingredients each layout knows.
        shaped: the shaping terms and their points.
        random_starts: whether `reset` draws the start cells.
        terrains: u8[levels, cells], padded with `VOID` to the largest layout.
        start_cells: u8[levels, chefs].
        rooms: bool[levels, chefs, cells], the floor that each chef can walk on from its start.
        worths: i32[levels, 16], points for a soup, by `onions << 2 | tomatoes`; i32[levels, 512]
            by the codes of soups where one recipe is asked for.
        cook_times: u8[levels, 16 or 512], steps, likewise.
        best_values: i32[levels, 16], by what a pot holds, what it can become at best is worth.
    """

    levels: tuple[Level, ...]
    chefs: int
    height: int
    width: int
    max_pots: int
    pot_cells: tuple[int, int]
    dynamics: str
    observation: str
    view_radius: int | None
    max_steps: int
    random_starts: bool
    terrains: np.ndarray
    start_cells: np.ndarray
    rooms: np.ndarray
    worths: np.ndarray
    cook_times: np.ndarray
    best_values: np.ndarray
    statistics: bool
    potential: bool
    asked: bool
    resample: bool
    penalty: bool
    show_delivery: bool
    button_cost: int
    button_steps: int
    random_reset: bool
    relabel: tuple[str, ...]
    bits: Bits
    kinds: int
    thing_dtype: type
    recipes: np.ndarray
    recipe_counts: np.ndarray
    level_kinds: np.ndarray
    shaped: dict[str, float]

    def tabulate(self) -> None:
        """Set the attributes that follow from `levels`, which have equal numbers of chefs."""
        count, n = len(self.levels), len(self.levels[0].starts)
        self.height = max(level.height for level in self.levels)
        self.width = max(level.width for level in self.levels)
        cells = self.height * self.width
        if cells > MAX_CELLS:
            raise ConfigError(
                f"layouts of up to {self.height} rows and {self.width} columns need {cells} cells; "
                f"at most {MAX_CELLS} fit (height x width)"
            )
        terrain = np.full((count, self.height, self.width), VOID, np.uint8)
        self.chefs = n
        self.start_cells = np.zeros((count, n), np.uint8)
        self.rooms = np.zeros((count, n, cells), bool)
        codes = ask.WIDE if self.asked else 16
        self.worths = np.zeros((count, codes), np.int32)
        self.best_values = np.zeros((count, 16), np.int32)
        self.cook_times = np.zeros((count, codes), np.uint8)
        for i, level in enumerate(self.levels):
            terrain[i, : level.height, : level.width] = level.terrain
            self.worths[i] = level.worth_table().ravel()
            if not self.asked:
                self.best_values[i] = level.best_table().ravel()
            self.cook_times[i] = level.time_table().ravel()
            rooms = connected_parts(level.cells(FLOOR))
            for j, (x, y) in enumerate(level.starts):
                self.start_cells[i, j] = y * self.width + x
                room = next(part for part in rooms if (x, y) in part)
                self.rooms[i, j, [b * self.width + a for a, b in room]] = True
        self.terrains = terrain.reshape(count, cells)
        self.max_pots = int((self.terrains == POT).sum(1).max())
        pots = np.flatnonzero((self.terrains == POT).any(0))
        self.pot_cells = int(pots[0]), int(pots[-1]) + 1
        self.bits, self.kinds, self.thing_dtype = NARROW, 2, np.uint8
        self.shaped = SHAPED
        if self.asked:
            self._tabulate_recipes()

    def _tabulate_recipes(self) -> None:
        """What follows from the orders, of which one is asked for at a time."""
        self.bits, self.thing_dtype = WIDE, np.uint16
        self.shaped = {
            name: points
            for name, points in ASKED_SHAPED.items()
            if name != "pot_start" or self.dynamics == "manual"
        }
        orders = [[ask.soup_code(recipe) for recipe in level.orders] for level in self.levels]
        self.recipe_counts = np.array([len(codes) for codes in orders], np.int32)
        most = int(self.recipe_counts.max())
        self.recipes = np.array([np.resize(codes, most) for codes in orders], np.uint16)
        known = np.array(
            [
                (terrain[:, None] == DISPENSERS).any(0) | np.any(level.orders, 0)
                for terrain, level in zip(self.terrains, self.levels, strict=True)
            ]
        )
        highest = len(DISPENSERS) - known[:, ::-1].argmax(1)
        self.level_kinds = highest.astype(np.int32)
        self.kinds = int(highest.max())


def cell_numbers(state: KitchenState) -> Array:
    """Cell numbers u8[cells, 1...], to compare positions with."""
    shape = (-1,) + (1,) * state.time.ndim
    return jnp.arange(state.terrain.shape[0], dtype=jnp.uint8).reshape(shape)
