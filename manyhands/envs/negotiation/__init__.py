"""Negotiation: offers, talk and private values, for 2 to 6 players."""

from __future__ import annotations

from manyhands.envs import pettingzoo_views
from manyhands.envs.negotiation.env import Negotiation
from manyhands.envs.negotiation.forms import Scenario
from manyhands.envs.negotiation.scenarios import SCENARIOS, deal_scenarios, register_scenario
from manyhands.envs.negotiation.state import NegotiationState

__all__ = [
    "SCENARIOS",
    "Negotiation",
    "NegotiationState",
    "Scenario",
    "deal_scenarios",
    "env",
    "parallel_env",
    "raw_env",
    "register_scenario",
]

parallel_env, env, raw_env = pettingzoo_views(__name__, "negotiation")
