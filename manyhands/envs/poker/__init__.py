"""Poker small enough to solve: Kuhn poker for 2 to 10 players, and Leduc hold'em."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.poker.env import KuhnPoker, LeducHoldem, Poker
from manyhands.envs.poker.state import PokerState

__all__ = ["KuhnPoker", "LeducHoldem", "Poker", "PokerState", "env", "parallel_env", "raw_env"]

parallel_env, env, raw_env = pettingzoo_views(__name__, "kuhn_poker", "leduc_holdem")
