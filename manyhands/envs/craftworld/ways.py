"""Finding ways: floods of costs over maps of cells, and the action that begins to go one.

The functions take any number of trailing batch axes: `baselines/bots/` finds its ways with them in
batches of maps.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.observe import PLAYER, Perception, one_of
from manyhands.envs.craftworld.rules import CraftRules
from manyhands.envs.craftworld.state import HERE, VIEW

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


# ---- ways of one player --------------------------------------------------------------------------

ROWS, COLUMNS = VIEW
Mined = Mapping[int, int | None]  # material -> the number of the tool in the inventory, or None


def mined_by(rules: CraftRules) -> Mined:
    """What is in the way until it is mined, and with what."""
    items = rules.contents.items
    return {
        code: None if tool is None else items.index(tool)
        for code, (_, tool, _) in rules.contents.collect.items()
        if code not in (rl.WATER, rl.GRASS)
    }


MINED = mined_by(rl.PRESETS["crafter"])


def entering(cells: Array, sight: Perception, swim: bool = True, mined: Mined = MINED) -> Array:
    """i16: what it costs the player to enter cells (codes of `rules.MATERIALS`, of any map that it
    knows), with what it holds now; `FAR` where it cannot, or should not.

    Args:
        swim: whether to lay stones into water.
        mined: from `mined_by`.
    """
    cost = jnp.where(one_of(cells, rl.WALKABLE), STEP, FAR).astype(jnp.int16)
    for code, tool in mined.items():
        able = True if tool is None else sight.inventory[tool] > 0
        cost = jnp.where((cells == code) & able, np.int16(2 * STEP), cost)
    if swim:
        able = (sight.item("stone") > 0) & (sight.item("wood_pickaxe") > 0)
        cost = jnp.where((cells == rl.WATER) & able, np.int16(4 * STEP), cost)
    return cost


def turn_to(sight: Perception, good: Array) -> tuple[Array, Array]:
    """(action, whether the faced cell is good): how the player comes to face a good cell that
    nobody is on (`good` is bool[7, 9, ...]): where it can turn without walking off it does, else it
    walks to where it will face one."""
    good = good & (sight.bodies == 0)
    free = one_of(sight.cells, rl.WALKABLE) & (sight.bodies == 0)
    action = jnp.full(sight.facing.shape, rl.NOOP, jnp.int32)
    for rank in range(3):
        for d, (row, column) in enumerate(rl.DELTAS):
            there = HERE[0] + row, HERE[1] + column
            on = HERE[0] + 2 * row, HERE[1] + 2 * column
            fits = [free[there], free[there] & good[on], good[there] & ~free[there]][rank]
            action = jnp.where(fits, rl.MOVE + d, action)
    return action, sight.faced(good)


def strides(sight: Perception, mined: Mined = MINED) -> tuple[Array, ...]:
    """By direction: the action that begins to go there: turn, strike or mine what is there, lay a
    stone into water, or walk; noop before lava."""
    actions = []
    for d, (row, column) in enumerate(rl.DELTAS):
        cell = sight.cells[HERE[0] + row, HERE[1] + column]
        body = sight.bodies[HERE[0] + row, HERE[1] + column]
        creature = (body > 0) & (body < PLAYER)
        facing = sight.facing == d
        use = creature | one_of(cell, (*mined, rl.RIPE_PLANT))
        fill = (cell == rl.WATER) & ~creature
        here = jnp.where(facing & use, rl.DO, rl.MOVE + d)
        here = jnp.where(facing & fill, rl.PLACE + rl.PLACES.index("stone"), here)
        actions.append(jnp.where((cell == rl.LAVA) & ~creature, rl.NOOP, here))
    return tuple(actions)


def stride(actions: tuple[Array, ...], direction: Array) -> Array:
    """The action that begins to go in a direction, of `strides`; noop where it is none."""
    action = jnp.full(direction.shape, rl.NOOP, jnp.int32)
    for d, here in enumerate(actions):
        action = jnp.where(direction == d, here, action)
    return action
