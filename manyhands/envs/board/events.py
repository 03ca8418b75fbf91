"""What happened in the last step, as data and as numbers."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.board.state import (
    DRAW,
    PLACED,
    PLAYING,
    UNUSED,
    BoardConfig,
    BoardState,
)

if TYPE_CHECKING:
    from manyhands.envs.board.env import Board


KINDS = ("place", "no move", "draw", "win")


def place(config: BoardConfig, cell: int) -> str:
    """A cell in words: "b3", or "column 2, row 1" where stones fall (row 1 is the lowest)."""
    row, column = divmod(cell, config.columns)
    if config.falling:
        return f"column {column + 1}, row {config.rows - row}"
    return f"{letter(column)}{row + 1}"


def letter(column: int) -> str:
    return string.ascii_lowercase[column]


def last_events(board: Board, state: BoardState) -> list[dict[str, Any]]:
    """The stone that was placed, or that none was, and how the game ended; both players see all."""
    recent, result, turn = int(state.recent), int(state.result), int(state.turn)
    found: list[dict[str, Any]] = []
    if recent == PLACED:
        mover = board.agents[1 - turn]  # the turn has passed
        found.append({"event": "place", "agent": mover, "at": place(board, int(state.last))})
    elif recent == UNUSED and result == PLAYING:
        found.append({"event": "no move", "agent": board.agents[turn]})
    if result == DRAW:
        found.append({"event": "draw"})
    elif result:
        found.append({"event": "win", "agent": board.agents[result - 1]})
    return found


def event_names(config: BoardConfig) -> tuple[str, ...]:
    """Names of the numbers of `event_codes`."""
    cells = range(config.rows * config.columns)
    ended = "own_win", "other_win", "draw"
    flags = "own_stone", "other_stone", "own_no_move", "other_no_move"
    return (*flags, *ended, *(f"at {place(config, cell)}" for cell in cells))


def event_codes(config: BoardConfig, state: BoardState) -> Array:
    """f32[2, K, ...], zeros and ones: whose stone was placed, who did not move, how the game ended,
    and the cell of the stone."""
    placed, unused = state.recent == PLACED, state.recent == UNUSED
    cells = expand(np.arange(config.rows * config.columns), state.last.ndim)
    at = placed & (state.last == cells)
    rows = []
    for own in (0, 1):
        mine = state.turn == own
        idle = unused & (state.result == PLAYING)
        ends = [state.result == 1 + own, state.result == 2 - own, state.result == DRAW]
        flags = [placed & ~mine, placed & mine, idle & mine, idle & ~mine, *ends]
        rows.append(jnp.concatenate([jnp.stack(flags), at]))
    return jnp.stack(rows).astype(jnp.float32)
