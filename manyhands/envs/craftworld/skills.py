"""CraftWorld's skills: path-finding controllers, as pure functions of what one player sees.

A skill is a name in a table (`CraftSkills.names`); at every step its controller turns the player's
own perception (`CraftWorld.perceive`) into one primitive action. Nothing is remembered: a skill may
be dropped or changed at any step, and what is out of view does not exist for it.

Paths lead around what stands in the way, or through it where that is quicker: trees are felled,
stone and ores are mined if the tool is there, and stones are laid into water. Lava is never
entered. Costs are in steps.

The functions of the first half take any number of trailing batch axes: `baselines/bots/` finds its
ways with them in batches of maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl

# Costs are `steps << 3 | direction`, so that a minimum over cells also says how to begin.
STEP = 8
FAR = 1 << 13  # no way; twice as much still fits into i16


# ---- finding ways --------------------------------------------------------------------------------


def beside(maps: Array, direction: int, fill: int | bool) -> Array:
    """`maps` [H, W, ...] moved one cell in a direction (`rules.DELTAS`): each cell gets what lies
    behind it; `fill` comes in at the edge."""
    row, column = rl.DELTAS[direction]
    axis = 0 if row else 1
    size = maps.shape[axis]
    edge = jnp.full_like(jax.lax.slice_in_dim(maps, 0, 1, axis=axis), fill)
    if row + column > 0:
        return jnp.concatenate([edge, jax.lax.slice_in_dim(maps, 0, size - 1, axis=axis)], axis)
    return jnp.concatenate([jax.lax.slice_in_dim(maps, 1, size, axis=axis), edge], axis)


def nearest(maps: Array) -> Array:
    """The least cost among the four cells around each cell."""
    best = beside(maps, 0, FAR)
    for direction in (1, 2, 3):
        best = jnp.minimum(best, beside(maps, direction, FAR))
    return best


def starts(height: int, width: int, row: int, column: int) -> np.ndarray:
    """i16[H, W]: how one begins to walk from a cell: one step, and the direction, in the four cells
    around it."""
    seeds = np.full((height, width), FAR, np.int16)
    for direction, (down, right) in enumerate(rl.DELTAS):
        seeds[row + down, column + right] = STEP + direction
    return seeds


def flood(seeds: Array, cost: Array, sweeps: int) -> Array:
    """i16[H, W, ...]: the cheapest way to enter each cell.

    Args:
        seeds: i16, from `starts`, in the shape of `cost`.
        cost: i16[H, W, ...], what entering a cell costs, `FAR` where nobody can.
        sweeps: ways of more cells than this are not found.
    """

    def sweep(_: int, maps: Array) -> Array:
        return jnp.minimum(maps, nearest(maps) + cost)

    first = jnp.where(cost < FAR, seeds - STEP + cost, FAR)
    first = jnp.where(seeds < FAR, first, FAR).astype(jnp.int16)
    return jax.lax.fori_loop(0, sweeps, sweep, first)


def touching(ways: Array, seeds: Array) -> Array:
    """i16[H, W, ...]: the cheapest way to stand beside each cell and face it, by `flood`'s ways."""
    return jnp.minimum(jnp.minimum(nearest(ways) + STEP, seeds), FAR)


# ---- seeing --------------------------------------------------------------------------------------

ROWS, COLUMNS = 7, 9  # of the view
HERE = (3, 4)  # the player's own cell in it
PLAYER = 5  # of `Sight.bodies`: + the index of a player; below it 1 + `rules.CREATURES`
MINED = {code: tool for code, (_, tool, _) in rl.COLLECT.items() if code not in (rl.WATER, rl.GRASS)}


class Sight(NamedTuple):
    """One player's perception, unpacked; every array may have trailing batch axes.

    Attributes:
        cells, bodies: u8[7, 9], see `CraftWorld`.
        facing: u8[]. asleep, table, furnace: bool[], the latter two within reach. light: u8[].
        inventory: u8[12]. vitals: u8[4]. achievements: bool[22].
        role: u8[]. teammates: u8[others, 10].
    """

    cells: Array
    bodies: Array
    facing: Array
    inventory: Array
    vitals: Array
    asleep: Array
    light: Array
    achievements: Array
    table: Array
    furnace: Array
    role: Array
    teammates: Array

    def item(self, name: str) -> Array:
        """How many the player holds."""
        return self.inventory[rl.ITEMS.index(name)]

    def vital(self, number: int) -> Array:
        return self.vitals[number]

    def done(self, name: str) -> Array:
        """Whether an achievement is unlocked."""
        return self.achievements[rl.ACHIEVEMENTS.index(name)]

    def faced(self, maps: Array) -> Array:
        """What `maps` [7, 9, ...] says of the faced cell."""
        value = jnp.zeros_like(maps[0, 0])
        for direction, (row, column) in enumerate(rl.DELTAS):
            there = maps[HERE[0] + row, HERE[1] + column]
            value = jnp.where(self.facing == direction, there, value)
        return value


def look(layout: Mapping[str, slice], row: Array) -> Sight:
    """Unpack a row of `CraftWorld.perceive`, u8[K, ...]."""
    rest = row.shape[1:]

    def part(name: str, *shape: int) -> Array:
        return row[layout[name]].reshape(*shape, *rest)

    near = part("near", 2)
    return Sight(
        cells=part("cells", ROWS, COLUMNS),
        bodies=part("bodies", ROWS, COLUMNS),
        facing=part("facing"),
        inventory=part("inventory", len(rl.ITEMS)),
        vitals=part("vitals", len(rl.VITALS)),
        asleep=part("asleep") > 0,
        light=part("light"),
        achievements=part("achievements", len(rl.ACHIEVEMENTS)) > 0,
        table=near[0] > 0,
        furnace=near[1] > 0,
        role=part("role"),
        teammates=part("teammates", -1, 10),
    )


def one_of(maps: Array, codes: tuple[int, ...]) -> Array:
    """bool, where `maps` holds one of some codes."""
    found = maps == codes[0]
    for code in codes[1:]:
        found = found | (maps == code)
    return found


def entering(cells: Array, sight: Sight, swim: bool = True) -> Array:
    """i16: what it costs the player to enter cells (codes of `rules.MATERIALS`, of any map that it
    knows), with what it holds now; `FAR` where it cannot, or should not.

    Args:
        swim: whether to lay stones into water.
    """
    cost = jnp.where(one_of(cells, rl.WALKABLE), STEP, FAR).astype(jnp.int16)
    for code, tool in MINED.items():
        able = True if tool is None else sight.item(tool) > 0
        cost = jnp.where((cells == code) & able, np.int16(2 * STEP), cost)
    if swim:
        able = (sight.item("stone") > 0) & (sight.item("wood_pickaxe") > 0)
        cost = jnp.where((cells == rl.WATER) & able, np.int16(4 * STEP), cost)
    return cost


def stride(sight: Sight, direction: Array) -> Array:
    """The action that begins to go in a direction: turn, strike or mine what is there, lay a stone
    into water, or walk; noop before lava, and where nothing helps."""
    action = jnp.full(direction.shape, rl.NOOP, jnp.int32)
    for d, (row, column) in enumerate(rl.DELTAS):
        cell = sight.cells[HERE[0] + row, HERE[1] + column]
        body = sight.bodies[HERE[0] + row, HERE[1] + column]
        creature = (body > 0) & (body < PLAYER)
        facing = sight.facing == d
        use = creature | one_of(cell, (*MINED, rl.RIPE_PLANT))
        fill = (cell == rl.WATER) & ~creature
        here = jnp.where(facing & use, rl.DO, rl.MOVE + d)
        here = jnp.where(facing & fill, rl.PLACE + rl.PLACES.index("stone"), here)
        here = jnp.where((cell == rl.LAVA) & ~creature, rl.NOOP, here)
        action = jnp.where(direction == d, here, action)
    return action
