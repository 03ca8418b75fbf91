"""The kitchen: an Overcooked-like world for 1 to 6 chefs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.observe import unpack
from manyhands.envs.kitchen.state import KitchenState

if TYPE_CHECKING:
    from manyhands.wrappers.pettingzoo import Parallel, Sequential

__all__ = ["Kitchen", "KitchenState", "env", "parallel_env", "unpack"]


def parallel_env(**options: Any) -> Parallel:
    """The kitchen as a PettingZoo parallel environment: options of
    `manyhands.wrappers.pettingzoo.parallel_env`, and those of `Kitchen`."""
    from manyhands.wrappers import pettingzoo  # loaded on first use

    return pettingzoo.parallel_env("kitchen", **options)


def env(**options: Any) -> Sequential:
    """The kitchen as a PettingZoo AEC environment, with the same options."""
    from manyhands.wrappers import pettingzoo

    return pettingzoo.env("kitchen", **options)
