"""Home: chores, watch-and-help, transport and following for one to six players."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.home.env import Home
from manyhands.envs.home.state import HomeState

__all__ = ["Home", "HomeState", "env", "parallel_env", "raw_env"]

parallel_env, env, raw_env = pettingzoo_views(__name__, "home", leading="task")
