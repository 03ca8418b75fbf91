"""Sides, own frames and teams: from the world's frame to that of each drone, and vectors in both.

Vectors are f32[D, 3, ...]. `sign`, f32[D, ...], is +1 for drones that play in x > 0, else -1.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.volleyball.state import Setup


def constant(values: Any, axes: int) -> np.ndarray:
    """f32 numbers before `axes` batch axes."""
    found: np.ndarray = expand(np.asarray(values, np.float32), axes)
    return found


def number(value: Array) -> Array:
    """f32, from bools or whole numbers."""
    return jnp.asarray(value).astype(jnp.float32)


def length(vectors: Array, axis: int = 1) -> Array:
    x, y, z = (jax.lax.index_in_dim(vectors, i, axis, keepdims=False) for i in range(3))
    return jnp.sqrt(x * x + y * y + z * z)


# ---- sides and anchors ---------------------------------------------------------------------------


def sides(setup: Setup, match: Any, batch: tuple[int, ...]) -> Array:
    """f32[D, ...]: +1 for drones that play in x > 0, -1 for the others."""
    sign = expand(1 - 2 * setup.team.astype(np.float32), len(batch))
    if setup.points > 1:
        sign = jnp.where(match.swapped[None], -sign, sign)
    return jnp.broadcast_to(sign, (setup.count, *batch))


def anchors(setup: Setup, match: Any, batch: tuple[int, ...]) -> Array:
    """f32[D, 3, ...]: where each drone belongs, m, in the world's frame."""
    axes, n = len(batch), setup.team_size
    turned = constant(np.array([[1, 1, 1], [-1, -1, 1]])[setup.team], axes)
    if setup.points == 1 or n == 1:
        anchor = turned * expand(np.tile(setup.places, (setup.plan.teams, 1)), axes)
    else:
        place = (expand(np.tile(np.arange(n), 2), axes) + jnp.repeat(match.rotation, n, axis=0)) % n
        at = place[:, None, None] == expand(np.arange(n)[None, :, None], axes)
        anchor = turned * jnp.sum(jnp.where(at, expand(setup.places[None], axes), 0), axis=1)
    if setup.points > 1:
        flip = constant([[-1, -1, 1]], axes)
        anchor = jnp.where(match.swapped[None, None], anchor * flip, anchor)
    return jnp.broadcast_to(anchor, (setup.count, 3, *batch))


# ---- the own frame -------------------------------------------------------------------------------


def turn(vectors: Array, sign: Array) -> Array:
    """Vectors f32[D, 3, ...], turned by pi about z where `sign` is -1."""
    turned = vectors[:, :2] * sign[:, None]
    up = jnp.broadcast_to(vectors[:, 2:], (turned.shape[0], 1, *turned.shape[2:]))
    return jnp.concatenate([turned, up], axis=1)


def turn_attitude(quaternion: Array, sign: Array) -> Array:
    """Attitudes f32[D, 4, ...], turned by pi about z where `sign` is -1, with w >= 0."""
    w, x, y, z = (quaternion[:, i] for i in range(4))
    near = sign > 0
    parts = [jnp.where(near, a, b) for a, b in ((w, -z), (x, -y), (y, x), (z, w))]
    flip = jnp.where(parts[0] < 0, jnp.float32(-1), jnp.float32(1))
    return jnp.stack([part * flip for part in parts], axis=1)


# ---- teams ---------------------------------------------------------------------------------------


def by_team(setup: Setup, mask: Array) -> Array:
    """bool[T, ...], of a mask bool[D, ...]: whether it holds for any drone of the team."""
    return jnp.any(mask.reshape(setup.plan.teams, setup.team_size, *mask.shape[1:]), axis=1)


def of_team(setup: Setup, values: Array) -> Array:
    """[D, ...], of values [T, ...]: each drone gets its team's."""
    return jnp.repeat(values, setup.team_size, axis=0)
