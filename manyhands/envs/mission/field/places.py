"""Where things are on a field, and who sees what: the ground that rules and observations share."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, one_hot
from manyhands.core.env import Array
from manyhands.envs.mission.field.state import (
    CLEAR,
    DOOR,
    WALK,
    WALL,
    FieldState,
    Plan,
)


def at_cells(plan: Plan, row: Array, column: Array) -> Array:
    """bool[K, C, ...]: one-hot cells of K places; none for a place that is not on the field."""
    y, x = (part.ravel().astype(np.int8) for part in np.indices(plan.size))
    axes = row.ndim - 1
    return (row[:, None] == expand(y, axes)) & (column[:, None] == expand(x, axes))


def look_up(cells: Array, values: Array) -> Array:
    """u8[K, ...]: of values u8[C, ...] those on one-hot cells bool[K, C, ...]; 0 for none."""
    return jnp.sum(jnp.where(cells, values, np.uint8(0)), axis=1, dtype=jnp.uint8)


def row_bits(plan: Plan, there: Array) -> Array:
    """u32[rows, ...]: bool[C, ...] with the cells of a row as the bits of a number. To look up many
    places in these is cheaper than to compare each place with each cell."""
    columns = expand(np.arange(plan.size[1], dtype=np.uint32), there.ndim - 1)
    grid = there.reshape(*plan.size, *there.shape[1:]).astype(jnp.uint32)
    return jnp.sum(grid << columns, axis=1, dtype=jnp.uint32)


def from_bits(plan: Plan, bits: Array) -> Array:
    """bool[C, ...]: the cells of u32[rows, ...]."""
    columns = expand(np.arange(plan.size[1], dtype=np.uint32), bits.ndim - 1)
    found = (bits[:, None] >> columns) & np.uint32(1)
    return found.reshape(-1, *bits.shape[1:]) > 0


def bits_at(plan: Plan, bits: Array, row: Array, column: Array) -> Array:
    """bool[N, K, ...]: what is in u32[rows, ...] at N times K places; False beyond the edge."""
    rows = expand(np.arange(plan.size[0], dtype=np.int8), row.ndim - 2)
    line = jnp.sum(jnp.where(row[:, :, None] == rows, bits, np.uint32(0)), axis=2, dtype=jnp.uint32)
    # A shift by 32 or more, as which a negative number counts, leaves 0.
    return (line >> column.astype(jnp.uint32)) & np.uint32(1) > 0


def bits_of(plan: Plan, row: Array, column: Array, there: Array) -> Array:
    """u32[rows, ...] of those of N times K places for which `there` holds."""
    rows = expand(np.arange(plan.size[0], dtype=np.int8), row.ndim - 2)[:, None, None]
    bits = there.astype(jnp.uint32) << column.astype(jnp.uint32)
    return jax.lax.reduce_or(jnp.where(row == rows, bits, np.uint32(0)), (1, 2))


def inside(plan: Plan, row: Array, column: Array) -> Array:
    """bool, whether places are on the field."""
    rows, columns = plan.size
    return (row >= 0) & (row < rows) & (column >= 0) & (column < columns)


def number(plan: Plan, row: Array, column: Array) -> Array:
    """i16, the number of a cell; negative for a place that is not on the field."""
    there = row.astype(jnp.int16) * np.int16(plan.size[1]) + column
    return jnp.where(inside(plan, row, column), there, np.int16(-1))


def is_one_of(plan: Plan, codes: Array, wanted: Iterable[int]) -> Array:
    """bool, which of the codes are among `wanted`."""
    found = [codes == np.uint8(code) for code in wanted if code in plan.used]
    return functools.reduce(jnp.logical_or, found, jnp.zeros(codes.shape, bool))


def _let(plan: Plan, codes: Array, doors: Array, passing: Iterable[int]) -> Array:
    """bool, which codes are among `passing`, or open doors."""
    passing = set(passing)
    free = ~is_one_of(plan, codes, (code for code in plan.used if code not in passing))
    free = free & (codes != np.uint8(WALL))  # beyond the edge there are walls, too
    for group in range(plan.groups):
        free |= (codes == np.uint8(DOOR + group)) & (doors[group] > 0)
    return free


def walkable(plan: Plan, codes: Array, doors: Array) -> Array:
    """bool, of codes u8[..., B] and doors u8[G, B]: where bodies can be."""
    return _let(plan, codes, doors, WALK)


def clear(plan: Plan, codes: Array, doors: Array) -> Array:
    """bool, of codes u8[..., B] and doors u8[G, B]: what one sees and shoots across."""
    return _let(plan, codes, doors, CLEAR)


def neighbours(plan: Plan, cells: Array) -> Array:
    """u8[4, C, ...]: what is north, south, west and east of each cell; walls beyond the edge."""
    rows, columns = plan.size
    grid = cells.reshape(rows, columns, *cells.shape[1:])
    pad = [(1, 1), (1, 1)] + [(0, 0)] * (grid.ndim - 2)
    wide = jnp.pad(grid, pad, constant_values=np.uint8(WALL))
    parts = (wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:])
    return jnp.stack([part.reshape(cells.shape) for part in parts])


def count_near(plan: Plan, there: Array, radius: int) -> Array:
    """u8[C, ...]: how many of bool[C, ...] are within an L2 radius of each cell, itself not."""
    rows, columns = plan.size
    grid = there.reshape(rows, columns, *there.shape[1:]).astype(jnp.uint8)
    wide = jnp.pad(grid, [(radius, radius)] * 2 + [(0, 0)] * (grid.ndim - 2))
    total = jnp.zeros(grid.shape, jnp.uint8)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if 0 < dy * dy + dx * dx <= radius * radius:
                y, x = radius + dy, radius + dx
                total = total + wide[y : y + rows, x : x + columns]
    return total.reshape(there.shape)


# ---- sight ---------------------------------------------------------------------------------------


def seen(plan: Plan, state: FieldState) -> Array:
    """bool[N, C, ...]: which agent sees which cell. One that is not on the field sees nothing."""
    n, axes = plan.agents, state.time.ndim
    row, column = state.row[:n], state.column[:n]
    shape = (n, plan.size[0] * plan.size[1], *state.time.shape)
    if plan.masks:
        whose = expand(np.arange(n, dtype=np.uint8), axes)[:, None]
        here = at_cells(plan, row, column)
        return (state.viewer == whose) | (state.viewer == 2) | here
    if plan.radius is None:
        return jnp.broadcast_to((row >= 0)[:, None], shape)
    s = plan.radius
    y, x = (expand(np.arange(side, dtype=np.int8), axes) for side in plan.size)
    if not plan.lines:
        near = jnp.abs(row[:, None] - y) <= s, jnp.abs(column[:, None] - x) <= s
        found = near[0][:, :, None] & near[1][:, None] & (row >= 0)[:, None, None]
        return found.reshape(shape)
    at = row[:, None] + expand(np.arange(-s, s + 1, dtype=np.int8), axes)
    on = one_hot(at, plan.size[0], 2, np.int8)  # [N, S, rows, ...]
    visible = _lines(plan, state, on)
    lines = jnp.sum(jnp.where(on, visible[:, :, None], np.uint32(0)), axis=1, dtype=jnp.uint32)
    lines = jnp.where(row[:, None] >= 0, _shifted(lines, column[:, None] - np.int8(s)), 0)
    return ((lines[:, :, None] >> x.astype(np.uint32)) & np.uint32(1) > 0).reshape(shape)


def window(plan: Plan, row: Array, column: Array, values: Array, radius: int) -> Array:
    """[K, S, S, ...] of values [C, ...] around K places; 0 beyond the edge. S is 2 radius + 1."""
    rows, columns = plan.size
    grid = values.reshape(rows, columns, *values.shape[1:])
    around = expand(np.arange(-radius, radius + 1, dtype=np.int8), row.ndim - 1)
    down = one_hot(row[:, None] + around, rows, 2, np.int8)  # [K, S, rows, ...]
    across = one_hot(column[:, None] + around, columns, 2, np.int8)
    zero = values.dtype.type(0)
    lines = jnp.sum(jnp.where(down[:, :, :, None], grid, zero), axis=2, dtype=values.dtype)
    found = jnp.where(across[:, None], lines[:, :, None], zero)
    return jnp.sum(found, axis=3, dtype=values.dtype)


def _shifted(bits: Array, up: Array) -> Array:
    """u32, bits moved by i8 places up, or down where that is negative (see `bits_at`)."""
    return (bits << up.astype(jnp.uint32)) | (bits >> (-up).astype(jnp.uint32))


def _lines(plan: Plan, state: FieldState, on: Array) -> Array:
    """u32[N, S, ...]: which cells of its window an agent sees, as bits of its rows, which are the
    rows bool[N, S, rows, ...] of the field; what stands on the straight line to a cell hides it."""
    n, radius = plan.agents, plan.radius
    assert radius is not None
    side, axes = 2 * radius + 1, state.time.ndim
    hides = row_bits(plan, ~clear(plan, state.cells, state.doors))
    dark = jnp.sum(jnp.where(on, hides, np.uint32(0)), axis=2, dtype=jnp.uint32)
    dark = _shifted(dark, np.int8(radius) - state.column[:n, None]) & np.uint32(2**side - 1)
    # Several rows fit in a number.
    masks, starts = between_bits(radius)
    several = len(starts)
    rest = masks.shape[1] * several - side
    dark = jnp.pad(dark, [(0, 0), (0, rest)] + [(0, 0)] * axes)
    dark = dark.reshape(n, -1, several, *state.time.shape) << expand(starts, axes)
    dark = jnp.sum(dark, axis=2, dtype=jnp.uint32)
    hidden = jnp.any((dark[:, None] & expand(masks, axes)) > 0, axis=2)
    columns = expand(np.uint32(1) << np.arange(side, dtype=np.uint32), axes)
    grid = hidden.reshape(n, side, side, *state.time.shape)
    return jnp.sum(jnp.where(grid, np.uint32(0), columns), axis=2, dtype=jnp.uint32)


@functools.cache
def between_bits(radius: int) -> tuple[np.ndarray, np.ndarray]:
    """u32[S * S, W]: `between` as bits, as many rows of the window in a number as fit; u32[K]: the
    bits at which these begin."""
    side = 2 * radius + 1
    several = 32 // side
    starts = np.arange(several, dtype=np.uint32) * np.uint32(side)
    lines = between(radius).reshape(side * side, side, side).astype(np.uint32)
    rows = (lines << np.arange(side, dtype=np.uint32)).sum(2, dtype=np.uint32)
    rows = np.pad(rows, [(0, 0), (0, -side % several)]).reshape(side * side, -1, several)
    return (rows << starts).sum(2, dtype=np.uint32), starts


@functools.cache
def between(radius: int) -> np.ndarray:
    """bool[S * S, S * S]: for each cell of a window (first axis) the cells on the straight line
    to it from the middle, without both ends. The line is cut into steps of a length that does not
    depend on the direction, and a place halfway between two cells counts as the first in reading
    order, so that who is seen sees back."""
    side, parts = 2 * radius + 1, 4 * radius
    middle = radius * side + radius
    found = np.zeros((side * side, side * side), bool)
    for cell in range(side * side):
        dy, dx = cell // side - radius, cell % side - radius
        for k in range(1, parts):
            y, x = ((2 * d * k + parts - 1) // (2 * parts) for d in (dy, dx))
            on = (y + radius) * side + x + radius
            if on not in (cell, middle):
                found[cell, on] = True
    return found
