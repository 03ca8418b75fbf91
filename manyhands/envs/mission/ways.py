"""Ways over grids, by relaxation, for skills and scripted players. Without batch axes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array

FAR = 10_000.0  # more than any way costs: there is none
_ROWS, _COLUMNS = (-1, 1, 0, 0), (0, 0, -1, 1)  # north, south, west, east
# Headings after a turn, in the order north, south, west, east.
_LEFT, _RIGHT = (2, 3, 1, 0), (3, 2, 0, 1)


def distances(targets: Array, price: Array) -> Array:
    """f32[..., H, W]: the least cost from each cell to a target, of targets bool[..., H, W] or what
    reaching each costs, f32 (FAR: no target), where entering cells costs price f32[H, W]."""
    start = jnp.where(targets, 0.0, FAR) if targets.dtype == bool else targets

    def better(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        times, _ = carry
        new = jnp.minimum(times, jnp.min(beside(times + price), axis=-1))
        return new, jnp.any(new < times)

    return jax.lax.while_loop(lambda carry: carry[1], better, (start, jnp.bool_(True)))[0]


def beside(values: Array) -> Array:
    """f32[..., H, W, 4]: the values of the cells north, south, west and east of each; much more
    than FAR beyond the edge."""
    edges = [(0, 0)] * (values.ndim - 2) + [(1, 1), (1, 1)]
    wide = jnp.pad(values, edges, constant_values=2 * FAR)
    rows, columns = values.shape[-2:]
    return jnp.stack(
        [
            wide[..., 1 + dy : 1 + dy + rows, 1 + dx : 1 + dx + columns]
            for dy, dx in zip(_ROWS, _COLUMNS, strict=True)
        ],
        axis=-1,
    )


def driving(target: Array, price: Array) -> Array:
    """f32[..., H, W, 4]: steps from each cell with each heading to the nearest target, turns
    counted, of targets bool[..., H, W]."""
    start = jnp.where(target[..., None], 0.0, jnp.full((*target.shape, 4), FAR))

    def better(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        times, _ = carry
        turned = 1.0 + jnp.minimum(times[..., list(_LEFT)], times[..., list(_RIGHT)])
        new = jnp.minimum(times, jnp.minimum(turned, forward(times, price)))
        return new, jnp.any(new < times)

    return jax.lax.while_loop(lambda carry: carry[1], better, (start, jnp.bool_(True)))[0]


def forward(times: Array, price: Array) -> Array:
    """f32[..., H, W, 4]: the time from each cell and heading, if one drives forward first."""
    ahead = [beside(times[..., heading] + price)[..., heading] for heading in range(len(_ROWS))]
    return jnp.stack(ahead, axis=-1)


def at(values: Array, row: Array, column: Array) -> Array:
    """The values [..., H, W] of a place."""
    y, x = jnp.maximum(row, 0).astype(jnp.int32), jnp.maximum(column, 0).astype(jnp.int32)
    return values[..., y, x]


def cells(size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """i64[H, W] each: rows and columns."""
    y, x = np.indices(size)
    return y, x


def exposed(solid: Array, row: Array, column: Array) -> Array:
    """bool[H, W]: the cells to which a straight line leads from a place without crossing a solid
    cell, bool[H, W], sampled: nearly those that are in view from there."""
    y, x = cells((solid.shape[0], solid.shape[1]))
    shares = np.linspace(0.0, 1.0, 2 * max(solid.shape))[1:-1, None, None]
    rows = jnp.round(row + shares * (y - row)).astype(jnp.int32)
    columns = jnp.round(column + shares * (x - column)).astype(jnp.int32)
    rows = jnp.clip(rows, 0, solid.shape[0] - 1)
    columns = jnp.clip(columns, 0, solid.shape[1] - 1)
    crossed = solid[rows, columns] & ((rows != y) | (columns != x))
    return ~jnp.any(crossed, axis=0)
