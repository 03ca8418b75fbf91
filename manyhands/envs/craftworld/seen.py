"""What a player remembers of the map: each cell as it was when it was last in view.

The map is relative to the player, who is in the middle; opposite edges meet, and it is so large
that what is visible from any place of the world has a cell of its own. Whether the player has
walked it concludes from its view. Everything is written for any number of trailing batch axes.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.observe import Perception, one_of
from manyhands.envs.craftworld.state import HERE, VIEW

ROWS, COLUMNS = VIEW
UNSEEN = 0  # of a map of what was seen; else 1 + the material


def map_shape(height: int, width: int) -> tuple[int, int]:
    """Rows and columns of the map that a player remembers of a world of this size."""
    return height + 2 * HERE[0], width + 2 * HERE[1]


def walks(sight: Perception, action: Array) -> Array:
    """bool[...], whether an action takes the player to another cell, if nobody is quicker."""
    free = one_of(sight.cells, rl.WALKABLE) & (sight.bodies == 0)
    found = jnp.zeros(jnp.shape(action), bool)
    for d, (row, column) in enumerate(rl.DELTAS):
        found = found | ((action == rl.MOVE + d) & free[HERE[0] + row, HERE[1] + column])
    return found & ~sight.asleep


def update(known: Array, moving: Array, sight: Perception) -> tuple[Array, Array]:
    """(the map with what is in view now, whether the player has walked in the last step).

    Args:
        known: u8[H + 6, W + 8, ...]. moving: bool[...], from `walks` of the last step.
    """
    rows, columns = known.shape[:2]
    top, left = rows // 2 - HERE[0], columns // 2 - HERE[1]
    seen = sight.cells + np.uint8(1)
    hit = jnp.zeros(seen.shape[2:], jnp.int32)
    moved_maps = known
    for direction, (down, right) in enumerate(rl.DELTAS):
        went = jnp.roll(known, (-down, -right), (0, 1))
        moved_maps = jnp.where(sight.facing == direction, went, moved_maps)
    # Another player may have been quicker to enter the cell: then the view is as it was.
    for maps, sign in ((known, 1), (moved_maps, -1)):
        part = maps[top : top + ROWS, left : left + COLUMNS]
        odd = (part != seen) & (part != UNSEEN)
        hit = hit + sign * jnp.sum(odd, (0, 1), dtype=jnp.int32)
    moved = moving & (hit >= -3)
    known = jnp.where(moved, moved_maps, known)
    known = known.at[top : top + ROWS, left : left + COLUMNS].set(seen)
    return known, moved


def step_of(sight: Perception, moved: Array) -> tuple[Array, Array]:
    """(rows, columns), i32[...]: how the player came to its place, facing where it went."""
    down, right = (
        sum(jnp.where(sight.facing == d, delta[axis], 0) for d, delta in enumerate(rl.DELTAS))
        for axis in (0, 1)
    )
    return jnp.where(moved, down, 0), jnp.where(moved, right, 0)
