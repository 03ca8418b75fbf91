"""Poker small enough to solve: Kuhn poker for 2 to 10 players, and Leduc hold'em."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyhands.envs.poker.env import KuhnPoker, LeducHoldem, Poker
from manyhands.envs.poker.state import PokerState

if TYPE_CHECKING:
    from manyhands.wrappers.pettingzoo import Parallel, Sequential

__all__ = ["KuhnPoker", "LeducHoldem", "Poker", "PokerState", "env", "parallel_env"]


def parallel_env(game: str = "kuhn_poker", **options: Any) -> Parallel:
    """A poker game (`"kuhn_poker"` or `"leduc_holdem"`) as a PettingZoo parallel environment:
    options of `manyhands.wrappers.pettingzoo.parallel_env`, and those of the game."""
    from manyhands.wrappers import pettingzoo  # loaded on first use

    return pettingzoo.parallel_env(game, **options)


def env(game: str = "kuhn_poker", **options: Any) -> Sequential:
    """The same as a PettingZoo AEC environment, the natural view of a game of turns."""
    from manyhands.wrappers import pettingzoo

    return pettingzoo.env(game, **options)
