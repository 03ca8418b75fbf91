"""Exact solutions of negotiations, to grade players by: what was possible, and what was best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.env import ConfigError
from manyhands.envs.negotiation.env import most_catch
from manyhands.envs.negotiation.scenarios import EXCHANGE, GIFT, HARVEST, POOL, PRICE

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation, NegotiationState


@dataclass(frozen=True)
class Deal:
    """One outcome.

    Attributes:
        gains: what each player ends up with (in a trade, more than it started with).
        terms: the outcome in plain names: who gets what, the price, or `None` for no deal.
    """

    gains: tuple[int, ...]
    terms: Any

    @property
    def joint(self) -> int:
        return sum(self.gains)

    @property
    def nash_product(self) -> int:
        """The product of the gains; compare only outcomes without outside options by it."""
        return int(np.prod(self.gains))


def outcomes(env: Negotiation, state: NegotiationState) -> list[Deal]:
    """Every agreement that can be made at once, and no deal, which comes last; not for trades, the
    commons and gifts, which are no single agreement."""
    data = env.scenario
    if data.form in (EXCHANGE, HARVEST, GIFT):
        raise ConfigError(f"the outcomes of {data.name!r} are too many to list")
    values = np.asarray(state.values, int)
    pool = np.asarray(state.pool, int)
    if data.form != PRICE:
        pool = pool + np.asarray(state.holdings, int).sum(0)  # a deal may have been made already
    found = []
    for offer in data.offers.tolist():
        if data.form == PRICE:
            price = offer[0]
            found.append(
                Deal((price - int(values[0, 0]), int(values[1, 0]) - price), {"price": price})
            )
            continue
        if data.form == POOL:
            if (np.array(offer) > pool).any():
                continue
            parts = [np.array(offer), pool - offer]
        else:
            parts = [np.array([share]) for share in offer]
        gains = tuple(int(part @ own) for part, own in zip(parts, values, strict=True))
        named = [dict(zip(data.goods, part.tolist(), strict=True)) for part in parts]
        found.append(Deal(gains, dict(zip(env.agents, named, strict=True))))
    found.append(Deal(tuple(np.asarray(state.outside, int).tolist()), None))
    return found


def pareto_front(deals: Sequence[Deal]) -> list[Deal]:
    """Those that no other one beats for one player without being worse for another."""

    def beats(a: Deal, b: Deal) -> bool:
        pairs = list(zip(a.gains, b.gains, strict=True))
        return all(x >= y for x, y in pairs) and any(x > y for x, y in pairs)

    return [deal for deal in deals if not any(beats(other, deal) for other in deals)]


def best_joint(env: Negotiation, state: NegotiationState) -> Deal:
    """The outcome with the largest sum of gains, from the beginning of the episode; of several, one
    in which the one who gets least gets most.

    In a trade every good goes to who values it more. In the commons (where a ton must be worth the
    same to all) the terms are the catches of all players together, month by month.
    """
    data = env.scenario
    values = np.asarray(state.values, int)
    if data.form == EXCHANGE:
        return _best_trade(env, values, np.asarray(state.start, int))
    if data.form == HARVEST:
        if len(np.unique(values)) > 1:
            raise ConfigError("the best catch is known only where a ton is worth the same to all")
        total, months = most_catch(data)
        each, extra = divmod(total, data.players)
        shares = [(each + (i < extra)) * int(values[0, 0]) for i in range(data.players)]
        return Deal(tuple(shares), {"catches": months})
    if data.form == GIFT:
        raise ConfigError("what is best in the donor game depends on who is drawn to receive")
    return max(outcomes(env, state), key=lambda deal: (deal.joint, min(deal.gains)))


def _best_trade(env: Negotiation, values: np.ndarray, start: np.ndarray) -> Deal:
    """All goods to who values them more; what both value the same stays where it is."""
    first = np.where(values[0] > values[1], start.sum(0), 0)
    first = np.where(values[0] == values[1], start[0], first)
    held = np.stack([first, start.sum(0) - first])
    gains = ((held - start) * values).sum(1)
    goods = env.scenario.goods
    named = [dict(zip(goods, row.tolist(), strict=True)) for row in held]
    return Deal(tuple(gains.tolist()), dict(zip(env.agents, named, strict=True)))
