"""Negotiation: offers, talk and private values, for 2 to 6 players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyhands.envs.negotiation.env import Negotiation
from manyhands.envs.negotiation.forms import Scenario
from manyhands.envs.negotiation.scenarios import SCENARIOS, deal_scenarios, register_scenario
from manyhands.envs.negotiation.state import NegotiationState

if TYPE_CHECKING:
    from manyhands.wrappers.pettingzoo import Parallel, Sequential

__all__ = [
    "SCENARIOS",
    "Negotiation",
    "NegotiationState",
    "Scenario",
    "deal_scenarios",
    "env",
    "parallel_env",
    "register_scenario",
]


def parallel_env(**options: Any) -> Parallel:
    """A negotiation as a PettingZoo parallel environment: options of
    `manyhands.wrappers.pettingzoo.parallel_env`, and those of `Negotiation`."""
    from manyhands.wrappers import pettingzoo  # loaded on first use

    return pettingzoo.parallel_env("negotiation", **options)


def env(**options: Any) -> Sequential:
    """A negotiation as a PettingZoo AEC environment, with the same options."""
    from manyhands.wrappers import pettingzoo

    return pettingzoo.env("negotiation", **options)
