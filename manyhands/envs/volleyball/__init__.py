"""Drone volleyball: matches of one to six quadrotors a side, and the drills that lead there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.state import TASKS, VolleyballState

if TYPE_CHECKING:
    from manyhands.wrappers.pettingzoo import Parallel, Sequential

__all__ = ["TASKS", "Volleyball", "VolleyballState", "env", "parallel_env"]


def parallel_env(task: str = "1v1", **options: Any) -> Parallel:
    """Drone volleyball as a PettingZoo parallel environment.

    Args:
        task: a key of `TASKS`: `"1v1"`, `"3v3"`, `"6v6"` or a drill.
        options: those of `manyhands.wrappers.pettingzoo.parallel_env`, and of `Volleyball`.
    """
    from manyhands.wrappers import pettingzoo  # loaded on first use

    return pettingzoo.parallel_env("volleyball", task=task, **options)


def env(task: str = "1v1", **options: Any) -> Sequential:
    """Drone volleyball as a PettingZoo AEC environment, with the same arguments."""
    from manyhands.wrappers import pettingzoo

    return pettingzoo.env("volleyball", task=task, **options)
