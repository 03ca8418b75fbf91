"""A board's state and its fixed configuration.

Every function of the rules (`rules.py`) and of the observations (`observe.py`) takes a
`BoardConfig` and a `BoardState`, with any number of trailing batch axes (none, or one). A player's
stones are a byte for each column, with a bit for each row.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array, state_dataclass

PLAYERS = ("player_0", "player_1")
STONES = ("X", "O")  # in text and pictures; X moves first
# `BoardState.result`: 1 + i is a win of player i.
PLAYING, DRAW = 0, 3
PLACED, UNUSED = 1, 2  # `BoardState.recent`
NO_CELL = 255  # `BoardState.last` before the first move
# The action of nobody: it leaves the turn unused, and is not counted as illegal. -1 is, as it is
# what programs give by mistake.
NO_MOVE = -2


@state_dataclass
class BoardState:
    """One board at one moment; cells are numbered `row * columns + column` from the top left.

    Attributes:
        stones: u8[2, columns], bit r of a byte is the cell in row r; rows count from the top,
            or, where stones fall, from the bottom.
        turn: u8[], the player to move, or who would be.
        last: u8[], the cell of the last stone, `NO_CELL` before the first.
        result: u8[], 0 while the game is on, 1 or 2: the first or the second player has won, 3: a
            draw.
        time: i16[], steps played.
        recent: u8[], what the last step did: `PLACED` a stone or left the turn `UNUSED`; 0 before
            the first.
    """

    stones: Array
    turn: Array
    last: Array
    result: Array
    time: Array
    recent: Array


class BoardConfig:
    """What the rules and observations read of a board game, fixed while it is played; `Board`
    (`env.py`) is one.

    Attributes:
        rows, columns: size of the board.
        connect: how many stones in a line win.
        falling: whether a player names a column, and the stone falls to its lowest free square.
        max_steps: steps after which a game is truncated.
    """

    rows: int
    columns: int
    connect: int
    falling: bool
    max_steps: int


def bit(config: BoardConfig, row: int) -> int:
    """Which bit of a column stands for a row, counted from the top."""
    return config.rows - 1 - row if config.falling else row


def spread(config: BoardConfig, columns: Array, axis: int) -> Array:
    """u8[..., rows, columns, ...] of zeros and ones from the bits of u8[..., columns, ...],
    where `axis` is that of the columns."""
    bits = expand(np.array([bit(config, row) for row in range(config.rows)]), columns.ndim - axis)
    return (jnp.expand_dims(columns, axis) >> bits.astype(np.uint8)) & jnp.uint8(1)
