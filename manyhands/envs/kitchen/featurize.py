"""The observation "featurized": Overcooked-AI's `featurize_state` with two pots, which its human
models and behaviour clones read (Carroll et al. 2019); for two chefs 96 numbers.

Distances are those of its motion planner: steps and turns on the empty floor, whoever stands
there; of two places that are equally near, the first in reading order counts. As with its default
settings (`NO_COUNTERS_PARAMS`), what lies on counters counts for nothing, and neither do empty
counters: these numbers are always 0. Where things are nearest therefore follows from a chef's cell
and facing, and is tabulated once for each layout.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.kitchen.levels import (
    DIRECTIONS,
    DISHES,
    FLOOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    Cell,
    Level,
)
from manyhands.envs.kitchen.state import (
    DISH,
    ONION,
    SOUP,
    TOMATO,
    KitchenConfig,
    KitchenState,
    cell_numbers,
)

POTS = 2  # the nearest ones
_SIDES = ("north", "south", "east", "west")
_POT = ("exists", "empty", "full", "cooking", "ready", "onions", "tomatoes", "steps left")
OWN = (
    *(f"facing {side}" for side in _SIDES),
    *(f"holds {thing}" for thing in ("onion", "soup", "dish", "tomato")),
    *(f"{thing} {axis}" for thing in ("onion", "tomato", "dish", "soup") for axis in ("dx", "dy")),
    *("soup onions", "soup tomatoes", "serving dx", "serving dy", "counter dx", "counter dy"),
    *(f"pot {i} {what}" for i in range(POTS) for what in (*_POT, "dx", "dy")),
    *(f"wall {side}" for side in _SIDES),
)
# What is tabulated of a cell and a facing: dx, dy of these; of each pot its cell (or -1), dx, dy;
# the walls.
_NEAREST = (ONIONS, TOMATOES, DISHES, SERVING)
_COLUMNS = 2 * len(_NEAREST) + 3 * POTS + 4


def layout(chefs: int, largest: int) -> Layout:
    """The pieces, f32[46 * chefs + 2 * chefs]."""
    others = chefs - 1
    pieces = [
        Piece("own", len(OWN), -largest, 255, ", ".join(OWN), OWN),
        Piece("others", (others, len(OWN)), -largest, 255, "the same of each other chef"),
        Piece("to_others", (others, 2), -largest, largest, "dx, dy to each other chef"),
        Piece("own_cell", 2, 0, largest, "column and row", labelled(("own_cell",), ("x", "y"))),
    ]
    return Layout([piece for piece in pieces if np.prod(piece.shape)], np.float32)


def observe(config: KitchenConfig, state: KitchenState) -> Array:
    """f32[chefs, F, ...]."""
    n = config.chefs
    index = state.position.astype(jnp.int32) * 4 + state.facing.astype(jnp.int32)
    level = jnp.broadcast_to(state.level[None].astype(jnp.int32), index.shape)
    static = jnp.moveaxis(jnp.asarray(tables(config))[level, index], -1, 0)  # [columns, chefs, ...]
    own = jnp.moveaxis(_own(state, static), 0, 1)  # [chefs, 46, ...]
    cells = state.position.astype(jnp.int32)
    where = jnp.stack([cells % config.width, cells // config.width], 1)  # [chefs, 2, ...]
    rows = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        parts = [own[i], *(own[j] for j in others), *(where[j] - where[i] for j in others)]
        rows.append(jnp.concatenate([*parts, where[i]], axis=0))
    return jnp.stack(rows).astype(jnp.float32)


def _own(state: KitchenState, static: Array) -> Array:
    """i32[46, chefs, ...], from what is tabulated."""
    held, facing = state.held, state.facing
    soup = held >= SOUP
    found = [facing == side for side in range(4)]
    found += [held == ONION, soup, held == DISH, held == TOMATO]
    deltas = static[: 2 * len(_NEAREST)].reshape(len(_NEAREST), 2, *held.shape)
    for k, thing in enumerate((ONION, TOMATO, DISH)):
        found += [jnp.where(held == thing, 0, deltas[k, axis]) for axis in (0, 1)]
    nothing = jnp.zeros_like(static[0])
    found += [nothing, nothing]
    found += [jnp.where(soup, (held >> 2) & 3, 0), jnp.where(soup, held & 3, 0)]
    found += [deltas[3, 0], deltas[3, 1], nothing, nothing]
    for k in range(POTS):
        cell, dx, dy = static[2 * len(_NEAREST) + 3 * k :][:3]
        there = cell >= 0
        at = cell_numbers(state)[:, None] == cell[None]  # [cells, chefs, ...]
        inside = jnp.sum(jnp.where(at, state.objects[:, None], 0), axis=0, dtype=jnp.int32)
        timer = jnp.sum(jnp.where(at, state.timer[:, None], 0), axis=0, dtype=jnp.int32)
        onions, tomatoes = (inside >> 2) & 3, inside & 3
        count = onions + tomatoes
        ready, cooks = timer == 1, timer > 1
        full = ready | cooks | (count == 3)
        left = jnp.where(cooks, timer - 1, 0)
        values = (there, there & (count == 0), full, cooks, ready, onions, tomatoes, left, dx, dy)
        found += list(values)
    found += list(static[-4:])
    return jnp.stack([jnp.broadcast_to(part, held.shape).astype(jnp.int32) for part in found])


@functools.lru_cache(maxsize=16)
def _table(level: Level, height: int, width: int) -> np.ndarray:
    """i32[height * width * 4, columns] of a layout, padded to that size."""
    rows = np.zeros((height * width * 4, _COLUMNS), np.int32)
    places = {code: level.cells(code) for code in (*_NEAREST, POT)}
    floor = floor_of(level)
    for x, y in floor:
        for facing in range(4):
            steps = steps_from(floor, (x, y), facing)
            nearest = {code: sorted(reached(steps, cells)) for code, cells in places.items()}
            row: list[int] = []
            for code in _NEAREST:
                at = places[code][nearest[code][0][1]] if nearest[code] else (x, y)
                row += [at[0] - x, at[1] - y]
            for k in range(POTS):
                if k < len(nearest[POT]):
                    a, b = places[POT][nearest[POT][k][1]]
                    row += [b * width + a, a - x, b - y]
                else:
                    row += [-1, 0, 0]
            row += [(x + dx, y + dy) not in floor for dx, dy in DIRECTIONS]
            rows[(y * width + x) * 4 + facing] = row
    return rows


def tables(config: KitchenConfig) -> np.ndarray:
    """i32[levels, cells * 4, columns], by cell number and facing."""
    return np.stack([_table(level, config.height, config.width) for level in config.levels])


def reached(steps: dict[tuple[Cell, int], int], cells: Sequence[Cell]) -> list[tuple[int, int]]:
    """(steps, number) of those of some cells that one can come to face."""
    found = []
    for number, (x, y) in enumerate(cells):
        before = [
            steps[(x - dx, y - dy), facing]
            for facing, (dx, dy) in enumerate(DIRECTIONS)
            if ((x - dx, y - dy), facing) in steps
        ]
        if before:
            found.append((min(before), number))
    return found


def floor_of(level: Level) -> set[Cell]:
    return set(level.cells(FLOOR))


def steps_from(floor: set[Cell], start: Cell, facing: int) -> dict[tuple[Cell, int], int]:
    """(cell, facing) -> steps from a start; a move onto floor turns, too."""
    found = {(start, facing): 0}
    queue = collections.deque(found)
    while queue:
        cell, _ = here = queue.popleft()
        for way, (dx, dy) in enumerate(DIRECTIONS):
            to = (cell[0] + dx, cell[1] + dy)
            there = (to if to in floor else cell), way
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found
