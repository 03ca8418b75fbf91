"""The kitchen: an Overcooked-like world for 1 to 6 chefs."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.observe import unpack
from manyhands.envs.kitchen.state import KitchenState

__all__ = ["Kitchen", "KitchenState", "env", "parallel_env", "raw_env", "unpack"]

parallel_env, env, raw_env = pettingzoo_views(__name__, "kitchen")
