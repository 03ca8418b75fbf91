"""Helpers for arrays whose last axes are the batch (see `core/env.py` on axes).

A row is an entry of the first axis. `...` stands for the batch axes, of which there may be none.
Constants are NumPy arrays, so that they become constants of the traced program. Selections compare
with row numbers instead of gathering: a gather over a batch is slow, on CPUs and on accelerators.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array


def expand(values: Any, axes: int) -> Any:
    """`values` [...] followed by `axes` axes of size 1, to broadcast over a batch. NumPy arrays and
    sequences give NumPy arrays; JAX arrays give JAX arrays."""
    if not isinstance(values, jax.Array):
        values = np.asarray(values)
    return values.reshape(*values.shape, *(1,) * axes)


def indices(count: int, ndim: int, axis: int = 0, dtype: Any = np.int32) -> np.ndarray:
    """0, 1, ... count - 1 along one axis of `ndim` axes, the others of size 1: to compare numbers
    of rows with."""
    shape = [1] * ndim
    shape[axis] = count
    return np.arange(count, dtype=dtype).reshape(shape)


def one_hot(values: Array, count: int, axis: int = 0, dtype: Any = np.int32) -> Array:
    """bool, `values` with a new axis of `count` at `axis`; numbers outside it set nothing. `dtype`
    is that of the numbers compared with."""
    return jnp.expand_dims(values, axis) == indices(count, values.ndim + 1, axis, dtype)


def take(rows: Array, index: Array) -> Array:
    """`rows[index]`, for rows [K, ...] and an index [...] that differs over the batch. Integers
    come back in 32 bits at least, as from `jnp.sum`."""
    numbers = np.arange(rows.shape[0]).reshape(-1, *(1,) * (rows.ndim - 1))
    return jnp.sum(jnp.where(numbers == index, rows, 0), axis=0)


def take_mask(masks: Array, index: Array) -> Array:
    """bool[N, ...]: `masks[n, index[n]]` of masks [N, A, ...]; False outside the range."""
    numbers = expand(jnp.arange(masks.shape[1]), masks.ndim - 2)
    return jnp.any(masks & (numbers == index[:, None]), axis=1)


def select(chosen: Array, values: Array) -> Array:
    """The one of values [K, ...], or of vectors [D, K, ...], at which `chosen` [K, ...] is 1."""
    return jnp.sum(chosen * values, axis=values.ndim - chosen.ndim)


def first(mask: Array) -> Array:
    """bool[K, ...]: a mask of the first row that is True, empty where none is."""
    numbers = indices(mask.shape[0], mask.ndim)
    least = jnp.min(jnp.where(mask, numbers, mask.shape[0]), axis=0)
    return numbers == least[None]


def least(costs: Array) -> Array:
    """f32[K, ...], 1 at the first row of the least cost and 0 elsewhere."""
    numbers = expand(jnp.arange(costs.shape[0]), costs.ndim - 1)
    return (numbers == jnp.argmin(costs, axis=0)).astype(jnp.float32)


def cheapest(costs: Array) -> Array:
    """i32[...], the row of the least of costs f32[K, ...], K up to 128, none of them negative.

    They are compared to 17 bits, and the last 7 are those of the row, so that one minimum of whole
    numbers gives it: with `argmin`, a CPU works out costs one by one, which takes three times as
    long where they take long.
    """
    bits = jax.lax.bitcast_convert_type(costs.astype(jnp.float32), jnp.int32)
    rows = indices(costs.shape[0], costs.ndim)
    return jnp.min((bits & ~127) | rows, axis=0) & 127


def set_row(rows: Array, index: Any, row: Array) -> Array:
    """Rows [K, ...] of which number `index` (an int, or an array [...]) is `row` [...]."""
    return jnp.where(indices(rows.shape[0], rows.ndim) == index, row[None], rows)


def repeat(value: Array, count: int) -> Array:
    """[count, ...], the same value in each row."""
    return jnp.broadcast_to(value[None], (count, *value.shape))


def flat(rows: Array) -> Array:
    """[K, M, ...] as [K * M, ...]."""
    return rows.reshape(-1, *rows.shape[2:])


def apart(*rows: Array, ndim: int = 1) -> tuple[Array, ...]:
    """Rows to be stacked, each computed separately where there is a batch, that is
    where they have more than `ndim` axes: fused into the stacking, a batch would ask of every
    element which row it belongs to."""
    return jax.lax.optimization_barrier(rows) if rows[0].ndim > ndim else rows


def stack(rows: Any, ndim: int = 1) -> Array:
    """Rows on a new first axis, `apart` in a batch."""
    return jnp.stack(apart(*rows, ndim=ndim))
