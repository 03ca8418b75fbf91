"""Vectors as tuples of their components, each an array: see `physics.py`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from manyhands.core.env import Array

Vector = tuple[Array, Array, Array]


def dot(a: Any, b: Any) -> Array:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def add(a: Any, b: Any) -> Any:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def sub(a: Any, b: Any) -> Any:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scale(s: Array, a: Any) -> Any:
    return tuple(s * x for x in a)


def split(array: Array, axis: int) -> tuple[Array, ...]:
    """The components of vectors that lie along `axis`."""
    array = jnp.asarray(array)
    return tuple(
        jax.lax.index_in_dim(array, i, axis, keepdims=False) for i in range(array.shape[axis])
    )


def axes_of(q: Any) -> tuple[Vector, Vector, Vector]:
    """Rows of the rotation matrix of a unit quaternion (w, x, y, z), body to world."""
    w, x, y, z = q
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
