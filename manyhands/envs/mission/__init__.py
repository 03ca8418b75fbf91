"""Missions: grid games for several players, as scenarios of one rule set."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.mission.env import Mission
from manyhands.envs.mission.state import MissionState

__all__ = ["Mission", "MissionState", "env", "parallel_env", "raw_env"]

parallel_env, env, raw_env = pettingzoo_views(__name__, "mission", leading="scenario")
