"""What players and networks are given of a mission: the observations of `lbforaging` 2.0.0.

Positions are those of a player's window, which ends at the edges of the field: in row r with a
sight of s, row 0 of the window is row max(0, r - s) of the field.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece
from manyhands.envs.mission.state import MissionConfig, MissionState, highest_food


def layout(config: MissionConfig) -> Layout:
    """The pieces of one player's observation."""
    food, player = highest_food(config), config.player_levels[1]
    if config.observation == "grid":
        side = 2 * config.sight + 1
        planes = [
            Piece("levels", 1, 0, player, "levels of the players"),
            Piece("food", 1, 0, food, "levels of the food"),
            Piece("free", 1, 0, 1, "1 for cells of the field without player and food"),
        ]
        return Layout(planes, np.int8, (side, side))
    row, column = config.size[0] - 1, config.size[1] - 1
    return Layout(
        [
            Piece(
                "food",
                (config.foods, 3),
                -1,
                [row, column, food],
                "row, column, level of each food in view, in reading order; -1, -1, 0 if fewer",
            ),
            Piece("self", 3, -1, [row, column, player], "own row, column and level"),
            Piece(
                "others",
                (config.players - 1, 3),
                -1,
                [row, column, player],
                "the same of each other player in view, in index order; -1, -1, 0 if fewer",
            ),
        ],
        np.int8,
    )


def observe(config: MissionConfig, state: MissionState) -> Array:
    """i8[N, *shape]; see `Mission`."""
    return _grid(config, state) if config.observation == "grid" else vector(config, state)


def corner(config: MissionConfig, position: Array) -> Array:
    """The first row or column of a window, of the field."""
    return jnp.maximum(position - np.int8(config.sight), np.int8(0))


def sees_players(config: MissionConfig, state: MissionState) -> Array:
    """bool[N, N, ...]: which player (first axis) sees which. A window that the edge of the field
    cuts short reaches as many cells further on its other side, for players and not for food."""
    seen = jnp.ones((), bool)
    for at in (state.row, state.column):
        place = at - corner(config, at)[:, None]
        seen = seen & (place >= 0) & (place <= 2 * config.sight)
    return seen


def sees_food(config: MissionConfig, state: MissionState) -> Array:
    """bool[N, F, ...]: which player sees which food that is left."""
    seen = state.food_level > 0
    for at, food in ((state.row, state.food_row), (state.column, state.food_column)):
        seen = seen & (jnp.abs(food - at[:, None]) <= config.sight)
    return seen


def vector(config: MissionConfig, state: MissionState) -> Array:
    """i8[N, 3 (F + N), ...], what players see as numbers."""
    top, left = corner(config, state.row)[:, None], corner(config, state.column)[:, None]
    food = sees_food(config, state)
    slots = _slots(food, config.foods)
    things = (state.food_row - top, state.food_column - left, state.food_level)
    parts = [_listed(slots, *things)]
    own = expand(np.eye(config.players, dtype=bool), state.time.ndim)
    mine = (state.row - top[:, 0], state.column - left[:, 0], state.level)
    parts.append(jnp.stack(mine, axis=1))
    if config.players > 1:
        seen = sees_players(config, state) & ~own
        slots = _slots(seen, config.players - 1)
        parts.append(_listed(slots, state.row - top, state.column - left, state.level))
    return jnp.concatenate(parts, axis=1)


perceive = vector  # what scripted players read


def _slots(seen: Array, count: int) -> Array:
    """bool[N, count, K, ...]: which of K things stands in which place, if those that are seen,
    bool[N, K, ...], are listed in order."""
    rank = jnp.cumsum(seen, axis=1, dtype=jnp.int8)
    numbers = expand(np.arange(1, count + 1, dtype=np.int8), seen.ndim - 1)
    return (rank[:, None] == numbers) & seen[:, None]


def _listed(slots: Array, *values: Array) -> Array:
    """i8[N, 3 count, ...]: row, column and level in each place, of [N, K, ...] or [K, ...]."""
    empty = ~jnp.any(slots, axis=2)
    columns = []
    for i, value in enumerate(values):
        value = value if value.ndim == slots.ndim - 1 else value[None]
        found = jnp.sum(jnp.where(slots, value[:, None], 0), axis=2, dtype=jnp.int8)
        columns.append(jnp.where(empty, np.int8(0 if i == 2 else -1), found))
    stacked = jnp.stack(columns, axis=2)
    return stacked.reshape(stacked.shape[0], -1, *stacked.shape[3:])


def _grid(config: MissionConfig, state: MissionState) -> Array:
    """i8[N, 3, 2 s + 1, 2 s + 1, ...] around each player."""
    s, (rows, columns) = config.sight, config.size
    numbers = np.arange(-s, s + 1, dtype=np.int8)

    def painted(row: Array, column: Array, value: Array) -> Array:
        axes = state.time.ndim
        down = (row - state.row[:, None])[:, :, None] == expand(numbers, axes)
        across = (column - state.column[:, None])[:, :, None] == expand(numbers, axes)
        lit = down[:, :, :, None] & across[:, :, None]
        return jnp.sum(jnp.where(lit, value[:, None, None], 0), axis=1, dtype=jnp.int8)

    # Of players who share a cell, the last is shown.
    later = expand(np.triu(np.ones((config.players,) * 2, bool), 1), state.time.ndim)
    same = (state.row[:, None] == state.row) & (state.column[:, None] == state.column)
    shown = jnp.where(jnp.any(later & same, axis=1), np.int8(0), state.level)
    levels = painted(state.row, state.column, shown)
    food = painted(state.food_row, state.food_column, state.food_level)
    y = state.row[:, None] + expand(numbers, state.time.ndim)
    x = state.column[:, None] + expand(numbers, state.time.ndim)
    inside = ((y >= 0) & (y < rows))[:, :, None] & ((x >= 0) & (x < columns))[:, None]
    free = inside & (levels == 0) & (food == 0)
    return jnp.stack([levels, food, free.astype(jnp.int8)], axis=1)


def summary(config: MissionConfig, state: MissionState) -> Array:
    """i8[3 (F + N)], row, column and level of all food (0: gone), then of the players."""
    food = jnp.stack([state.food_row, state.food_column, state.food_level], axis=1)
    players = jnp.stack([state.row, state.column, state.level], axis=1)
    both = jnp.concatenate([food, players])
    return both.reshape(-1, *both.shape[2:])
