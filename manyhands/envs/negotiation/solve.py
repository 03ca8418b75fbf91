"""Exact solutions of negotiations, to grade players by: what was possible, and what was best. Each
form solves its own scenarios (`Scenario.outcomes`, `Scenario.best_joint`)."""

from __future__ import annotations

from collections.abc import Sequence

from manyhands.envs.negotiation.env import Negotiation
from manyhands.envs.negotiation.forms import Deal
from manyhands.envs.negotiation.state import NegotiationState

__all__ = ["Deal", "best_joint", "outcomes", "pareto_front"]


def outcomes(env: Negotiation, state: NegotiationState) -> list[Deal]:
    """Every agreement that can be made at once, and no deal, which comes last. Raises `ConfigError`
    for trades, the commons and gifts, which are no single agreement."""
    return env.scenario.outcomes(state)


def pareto_front(deals: Sequence[Deal]) -> list[Deal]:
    """Those that no other one beats for one player without being worse for another."""

    def beats(a: Deal, b: Deal) -> bool:
        pairs = list(zip(a.gains, b.gains, strict=True))
        return all(x >= y for x, y in pairs) and any(x > y for x, y in pairs)

    return [deal for deal in deals if not any(beats(other, deal) for other in deals)]


def best_joint(env: Negotiation, state: NegotiationState) -> Deal:
    """The outcome with the largest sum of gains, from the beginning of the episode; of several, one
    in which the player who gets least gets most.

    In a trade every good goes to the player who values it more. In the commons (where a ton must be
    worth the same to all) the terms are the catches of all players together, month by month.
    """
    return env.best_joint(state)
