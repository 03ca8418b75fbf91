"""What players and networks are given of a board, and readers of a single state on the host."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece
from manyhands.envs.board.rules import acting
from manyhands.envs.board.state import BoardConfig, BoardState, bit, spread


def layout(config: BoardConfig) -> Layout:
    """The planes of one player's observation; row 0 is at the top."""
    planes = [
        Piece("own", meaning="own stones"),
        Piece("other", meaning="the other player's stones"),
        Piece("turn", meaning="1 everywhere on your turn; 0 for both when the game is over"),
    ]
    return Layout(planes, np.uint8, (config.rows, config.columns))


def observe(config: BoardConfig, state: BoardState) -> Array:
    """u8[2, 3, rows, columns]; see `Board`."""
    first, second = state.stones
    to_move = acting(config, state)[:, None, None]
    # By plane and observer: selected, not stacked, as compiled stacking is slow.
    plane = expand(np.arange(3), first.ndim)
    observer = expand(np.arange(2), first.ndim + 1)
    stones = jnp.where(plane == observer, first, second)
    turn = jnp.where(to_move, jnp.uint8(255), jnp.uint8(0))
    columns = jnp.where(plane == 2, turn, stones)
    return spread(config, columns, 2)


def summary(config: BoardConfig, state: BoardState) -> Array:
    """u8[4, rows, columns]; see `Board`."""
    turn = jnp.where(acting(config, state), jnp.uint8(255), jnp.uint8(0))[:, None]
    turn = jnp.broadcast_to(turn, state.stones.shape)
    return spread(config, jnp.concatenate([state.stones, turn]), 1)


# ---- on the host ---------------------------------------------------------------------------------


def cells(config: BoardConfig, state: BoardState) -> np.ndarray:
    """Who has which cell of a single state, i8[rows, columns] from the top: a player's index,
    or -1."""
    planes = np.asarray(state.stones)[:, None, :] >> _bits(config) & 1
    return np.where(planes.any(0), planes[1].astype(np.int8), np.int8(-1))


@functools.lru_cache(maxsize=64)
def _bits(config: BoardConfig) -> np.ndarray:
    """The bit of each row, u8[rows, 1]."""
    return np.array([[bit(config, row)] for row in range(config.rows)], np.uint8)


def winning_line(config: BoardConfig, state: BoardState) -> list[tuple[int, int]]:
    """(row, column) of all stones in the lines of a finished game's winner; else empty."""
    if int(state.result) not in (1, 2):
        return []
    own = cells(config, state) == int(state.result) - 1
    found = set()
    for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for y in range(config.rows):
            for x in range(config.columns):
                line = [(y + dy * i, x + dx * i) for i in range(config.connect)]
                inside = all(0 <= b < config.rows and 0 <= a < config.columns for b, a in line)
                if inside and all(own[cell] for cell in line):
                    found.update(line)
    return sorted(found)
