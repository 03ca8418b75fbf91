"""The plain trader: what it offers, what it takes, and that it gains."""

from __future__ import annotations

import numpy as np
import pytest

import manyhands
from manyhands.core.env import SeatError
from manyhands.testing import check_seat


@pytest.fixture(scope="module")
def trade():
    return manyhands.make("negotiation", scenario="trade")


@pytest.fixture(scope="module")
def match(trade):
    """(views, actions) of some episodes of it with itself, and what they gained."""
    seen = []

    def watch(moment, last={}):  # noqa: B006
        if moment.turn is not None:
            before = last[moment.episode]
            seen.extend((before[i], action) for i, action in moment.turn.actions.items())
        if not moment.over:
            last[moment.episode] = moment.views

    result = manyhands.play(trade, "barter", 24, 7, on_step=watch, progress=False)
    return seen, result


def test_it_offers_even_exchanges_that_it_can_make_and_gains_by(trade, match):
    usual, r = trade.scenario.usual(), len(trade.scenario.goods)
    offers = accepted = 0
    for view, action in match[0]:
        seen = {name: np.asarray(view.perception)[where] for name, where in trade.at.items()}
        content, values = np.asarray(action)[1:], seen["own_values"]
        if content.any():
            give, get = content[:r], content[r:]
            assert (give > 0).sum() == (get > 0).sum() == 1
            assert (give <= 0.8 * seen["own_holdings"]).all()
            assert (get - give) @ values > 0
            assert 0.7 < (get @ usual) / (give @ usual) < 1.4
            offers += 1
        elif action[0] != 0:
            offered = seen["offer"][: 2 * r]
            assert (offered[:r] - offered[r:]) @ values > 0
            accepted += 1
    assert offers > 100 and accepted > 20


def test_it_gains_and_is_never_refused(match):
    _, result = match
    assert result.rewards.mean() > 15  # a mean of 29 and a standard error of 4
    assert all(result.refused(k) == (0, 0) for k in range(2))


def test_it_takes_every_trade_and_nothing_else(trade):
    check_seat("barter", trade)
    check_seat("barter", manyhands.make("negotiation", scenario="trade", preset="spiral"))
    quiet = manyhands.make("negotiation", scenario="trade", talk=False)
    check_seat("barter", manyhands.make("chat", env=quiet))
    with pytest.raises(SeatError, match="none to exchange"):
        manyhands.seat("barter", manyhands.make("negotiation", scenario="buy_sell"))
