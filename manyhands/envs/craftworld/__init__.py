"""CraftWorld: a Crafter-style open world for 1 to 8 players."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.craftworld.env import CraftState, CraftWorld

__all__ = ["CraftState", "CraftWorld", "env", "parallel_env", "raw_env"]

parallel_env, env, raw_env = pettingzoo_views(__name__, "craftworld")
