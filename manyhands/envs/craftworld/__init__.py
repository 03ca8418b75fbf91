"""CraftWorld: a Crafter-style open world for 1 to 8 players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyhands.envs.craftworld.env import CraftState, CraftWorld

if TYPE_CHECKING:
    from manyhands.wrappers.pettingzoo import Parallel, Sequential

__all__ = ["CraftState", "CraftWorld", "env", "parallel_env"]


def parallel_env(**options: Any) -> Parallel:
    """CraftWorld as a PettingZoo parallel environment: options of
    `manyhands.wrappers.pettingzoo.parallel_env`, and those of `CraftWorld`."""
    from manyhands.wrappers import pettingzoo  # loaded on first use

    return pettingzoo.parallel_env("craftworld", **options)


def env(**options: Any) -> Sequential:
    """CraftWorld as a PettingZoo AEC environment, with the same options."""
    from manyhands.wrappers import pettingzoo

    return pettingzoo.env("craftworld", **options)
