"""Cuisines: chefs who go from tool to tool, and a stream of orders with deadlines."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.cuisine.env import Cuisine
from manyhands.envs.cuisine.score import collaboration_score, success_rate
from manyhands.envs.cuisine.state import CuisineState

__all__ = [
    "Cuisine",
    "CuisineState",
    "collaboration_score",
    "env",
    "parallel_env",
    "raw_env",
    "success_rate",
]

parallel_env, env, raw_env = pettingzoo_views(__name__, "cuisine", leading="level")
