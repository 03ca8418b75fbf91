"""Ways through a kitchen: floods of the floor, and what it costs chefs to come to use each cell.

Maps are [F, H, W]: F of them, rows, columns. Maps of another shape bring their own `shift`, which
moves them one cell in a direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from manyhands.core.env import Array
from manyhands.envs.kitchen import levels as lv
from manyhands.envs.kitchen.levels import FLOOR
from manyhands.envs.kitchen.state import KitchenConfig

Shift = Callable[[Array, int], Array]

# Costs are `steps << 3 | first action`, so that a minimum over cells also says how to begin.
STEP = 8
FAR = 1 << 13  # no way; more than any path, and far from the limits of i16


def longest_path(config: KitchenConfig) -> int:
    """Steps after which a flood has reached every cell of any room, whatever stands in the way."""
    rooms = [room for level in config.levels for room in lv.connected_parts(level.cells(FLOOR))]
    return max(map(len, rooms))


def shifted(maps: Array, direction: int) -> Array:
    """`maps[..., H, W]` moved one cell in a direction. What wraps around is the border, where
    nobody can stand."""
    dx, dy = lv.DIRECTIONS[direction]
    return jnp.roll(maps, dx or dy, axis=-1 if dx else -2)


def flood(seeds: Array, open: Array, steps: int, shift: Shift = shifted) -> Array:
    """Cost maps [F, H, W]: each open cell's cheapest way from the seeds, one step a cell."""

    def spread(_: Any, maps: Array) -> Array:
        near = shift(maps, 0)
        for direction in (1, 2, 3):
            near = jnp.minimum(near, shift(maps, direction))
        return jnp.minimum(maps, jnp.where(open, near + STEP, FAR))

    return jax.lax.fori_loop(0, steps, spread, seeds)


def chef_seeds(own: Array, open: Array, shift: Shift = shifted) -> Array:
    """Seeds of a flood from chefs at `own` [F, H, W]: the cells beside them, and how to go there.
    Their own cells must not be open."""
    seeds = jnp.full(own.shape, FAR, jnp.int16)
    for direction in range(4):
        beside = shift(own, direction) & open
        seeds = jnp.where(beside, jnp.int16(STEP + direction), seeds)
    return seeds


def reach(maps: Array, own: Array, facing: Array, floor: Array, shift: Shift = shifted) -> Array:
    """What it costs chefs to stand on each floor cell, and to stand before and face any other one.

    Args:
        maps: i16[F, H, W], floods from `chef_seeds`.
        own: bool[F, H, W].
        facing: i16[F, 1, 1].
        floor: bool[F, H, W], the cells that may be stood on.
    """
    best = jnp.full(maps.shape, FAR, jnp.int16)
    for direction in range(4):
        turn = jnp.where(own, jnp.int16(direction), maps) + STEP
        # Whoever arrives in this direction faces on without a turn.
        straight = jnp.where(floor, shift(turn, direction), FAR)
        cost = jnp.where(own & (facing == direction), 0, jnp.minimum(turn, straight))
        best = jnp.minimum(best, shift(jnp.where(floor, cost, FAR), direction))
    return jnp.where(floor, jnp.where(own, 0, maps), best)
