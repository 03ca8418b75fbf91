"""Boards: tic-tac-toe and Connect Four."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.board.env import Board, ConnectFour, TicTacToe
from manyhands.envs.board.state import BoardState

__all__ = ["Board", "BoardState", "ConnectFour", "TicTacToe", "env", "parallel_env", "raw_env"]

parallel_env, env, raw_env = pettingzoo_views(__name__, "tic_tac_toe", "connect_four")
