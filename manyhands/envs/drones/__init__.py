"""Drones that keep a shape on their way past obstacles, and drones that hunt a faster one."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.drones.env import Drones
from manyhands.envs.drones.state import DronesState

__all__ = ["Drones", "DronesState", "env", "parallel_env", "raw_env"]

parallel_env, env, raw_env = pettingzoo_views(__name__, "drones", leading="task")
