"""Boards: tic-tac-toe and Connect Four."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyhands.envs.board.env import Board, ConnectFour, TicTacToe
from manyhands.envs.board.state import BoardState

if TYPE_CHECKING:
    from manyhands.wrappers.pettingzoo import Parallel, Sequential

__all__ = ["Board", "BoardState", "ConnectFour", "TicTacToe", "env", "parallel_env"]


def parallel_env(game: str = "tic_tac_toe", **options: Any) -> Parallel:
    """A board as a PettingZoo parallel environment.

    Args:
        game: `"tic_tac_toe"` or `"connect_four"`.
        options: those of `manyhands.wrappers.pettingzoo.parallel_env`, and of the board.
    """
    from manyhands.wrappers import pettingzoo  # loaded on first use

    return pettingzoo.parallel_env(game, **options)


def env(game: str = "tic_tac_toe", **options: Any) -> Sequential:
    """A board as a PettingZoo AEC environment, with the same arguments."""
    from manyhands.wrappers import pettingzoo

    return pettingzoo.env(game, **options)
