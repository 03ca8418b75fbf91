"""Drone volleyball: matches of one to six quadrotors a side, and the drills that lead there."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.state import TASKS, VolleyballState

__all__ = ["TASKS", "Volleyball", "VolleyballState", "env", "parallel_env", "raw_env"]

parallel_env, env, raw_env = pettingzoo_views(__name__, "volleyball", leading="task")
