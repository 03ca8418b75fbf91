"""Maps and places: reading and writing cells of one map, or of a batch of maps.

The map of a batch is read by gathers and written by scatters of single cells (20 ns each on a CPU,
where a select over 4,096 cells takes ten times as long); what is small is selected by comparison.
Cells of a map lie on one axis; a place is `row << 8 | column`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from manyhands.core.env import Array

FAR = 999  # a distance to nobody
DOWN, RIGHT = 256, 1  # what one row down, and one column to the right, add to a place


@jax.jit
def _same(*values: Array) -> tuple[Array, ...]:
    return values


def alone(*values: Array) -> tuple[Array, ...]:
    """Values that several others are made of, computed once. In a batch the compiler would compute
    them again for each of those, element by element, as deep as it can fuse; a call that it may not
    inline ends that (an optimization barrier does not, on a CPU)."""
    return set_xla_metadata(_same(*values), inlineable="false")


# ---- rows of players and creatures ---------------------------------------------------------------


def row_at(values: Array, k: Any) -> Array:
    """Row `k` of the first axis."""
    if isinstance(k, int):
        return values[k]
    return jax.lax.dynamic_index_in_dim(values, k, 0, keepdims=False)


def put_row(values: Array, k: Any, row: Array) -> Array:
    """The same with another row `k`."""
    row = row.astype(values.dtype)
    if isinstance(k, int) and values.shape[0] == 1:
        return row[None]
    return jax.lax.dynamic_update_index_in_dim(values, row, k, 0)


def rolled(values: Array, order: Array) -> Array:
    """Rows in another order, which may differ over the batch."""
    index = order.reshape(order.shape[0], *(1,) * (values.ndim - order.ndim), *order.shape[1:])
    return jnp.take_along_axis(values, index, axis=0)


def among(values: Array, codes: Sequence[int]) -> Array:
    """Whether each value is one of a few codes below 32."""
    bits = np.uint32(sum(1 << code for code in codes))
    return (bits >> values.astype(jnp.uint32)) & 1 > 0


# ---- places --------------------------------------------------------------------------------------


def step_of(facing: Array) -> Array:
    """What a facing adds to a place."""
    sideways = jnp.where(facing == 0, -1, 1)
    return jnp.where(facing < 2, sideways, jnp.where(facing == 2, -256, 256))


def heading_of(step: Array) -> Array:
    """The facing of a step."""
    sideways = jnp.where(step == 1, 1, 0)
    return jnp.where(step == -256, 2, jnp.where(step == 256, 3, sideways))


def offsets(to: Array, spot: Array) -> tuple[Array, Array, Array]:
    """Rows, columns, and their sum as a distance, from `spot` to `to`."""
    rows, columns = (to >> 8) - (spot >> 8), (to & 255) - (spot & 255)
    return rows, columns, jnp.abs(rows) + jnp.abs(columns)


def cell_of(spot: Array, height: int, width: int) -> tuple[Array, Array]:
    """(number of the cell, whether it is on the map) of a place; number 0 where it is not."""
    row, column = spot >> 8, spot & 255
    inside = (row >= 0) & (row < height) & (column < width)
    return jnp.where(inside, row * width + column, 0), inside


def shifts(cells: Sequence[tuple[int, int]]) -> np.ndarray:
    """What (rows, columns) add to a place."""
    return np.array([row * DOWN + column * RIGHT for row, column in cells])


def ring(least: int, most: int) -> np.ndarray:
    """i32[cells], what cells at these distances add to a place."""
    span = range(-most, most + 1)
    cells = [r * 256 + c for r in span for c in span if least <= abs(r) + abs(c) <= most]
    return np.array(cells, np.int32)


# ---- the map -------------------------------------------------------------------------------------


def read(ground: Array, cell: Array) -> Array:
    """i32, the materials at cells, whose numbers are sure to be right."""
    if ground.ndim == 1:
        return ground[cell].astype(jnp.int32)
    index = cell.reshape(-1, cell.shape[-1])
    found = jnp.take_along_axis(ground, index, axis=0, mode="promise_in_bounds")
    return found.reshape(cell.shape).astype(jnp.int32)


def write(ground: Array, cell: Array, material: Array, where: Array) -> Array:
    """The map with one cell changed, where `where`."""
    material = material.astype(ground.dtype)
    if ground.ndim == 1:
        value = jnp.where(where, material, ground[cell])
        return jax.lax.dynamic_update_index_in_dim(ground, value, cell, 0)
    lane = jnp.arange(ground.shape[1])
    cell = jnp.where(where, cell, ground.shape[0])
    return ground.at[cell, lane].set(material, mode="drop", unique_indices=True)


def write_all(ground: Array, cells: Array, materials: Array, where: Array) -> Array:
    """The map with several cells changed, those where `where`."""
    if ground.ndim > 1:
        lane = jnp.broadcast_to(jnp.arange(ground.shape[1]), cells.shape)
        cells = jnp.where(where, cells, ground.shape[0])
        return ground.at[cells, lane].set(materials.astype(ground.dtype), mode="drop")
    return jax.lax.fori_loop(
        0,
        cells.shape[0],
        lambda i, ground: write(ground, cells[i], materials[i], where[i]),
        ground,
    )
