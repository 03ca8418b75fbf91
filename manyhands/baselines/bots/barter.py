"""`barter`: a plain trader, for the scenario `trade` of negotiations.

It never speaks, remembers nothing and offers one good for another one, at their average worth, in
the largest of a few sizes that leaves it a fifth of what it gives. In its first turn it gives what
is worth least to it, by the average, for what is worth most; in its second turn the next best, and
so on, five in turn. It takes whatever it gains by. What it does follows from what can be read in
that turn, so that it is easy to learn from. Its thoughts can be learned, too: the goods in the
order of what they are worth to it beside their average, each with what it owns of it and the most
that the other can own, then what it can give for what. A network that has to write down all of
these numbers learns to look them up; where an answer holds a single one, it hardly does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from manyhands.core.env import Env, SeatError, unwrap
from manyhands.core.view import Reply, View
from manyhands.envs.negotiation.env import Negotiation
from manyhands.envs.negotiation.forms import Exchange
from manyhands.envs.negotiation.state import ACCEPT, OFFER, PASS

SIZES = (2.75, 5.5, 11.0)  # of an exchange, in units of the goods' mean worth
TRIED = 5  # exchanges that are offered in turn
RESERVE = 0.8  # the most of what it owns of a good that it gives at once


class Barter:
    """A host policy; see the module's docstring.

    Args:
        env: a negotiation with the scenario "trade", or a wrapper of one.
        thinks: whether its replies hold its thoughts in words, `Reply.info["thoughts"]`.

    Raises:
        SeatError: there is nothing to exchange.
    """

    def __init__(self, env: Env, thinks: bool = False):
        self._found = unwrap(env, Negotiation, SeatError)
        self.env, self.game, self.thinks = env, self._found.env, thinks
        data = self.game.scenario
        if not isinstance(data, Exchange):
            raise SeatError(
                f"'barter' exchanges goods, and there are none to exchange in {data.name!r}; seat "
                "fair or honest there"
            )
        self._offers, self._usual = _exchanges(data), data.usual()

    def act(self, views: Sequence[View]) -> list[Reply]:
        replies = []
        for view in views:
            action = self._answer(view)
            info = {"thoughts": self._thoughts(view, action)} if self.thinks else {}
            replies.append(Reply(np.asarray(self._found.lift(action)), info=info))
        return replies

    def _thoughts(self, view: View, action: np.ndarray) -> str:
        """What an offer follows from, in words; "" for other moves."""
        game, goods = self.game, self.game.scenario.goods
        if action[0] != game.first[OFFER]:
            return ""
        row = np.asarray(view.perception).astype(int)
        parts = row[game.at["own_values"]] / np.maximum(self._usual, 1e-6)
        order = np.argsort(parts, kind="stable").tolist()
        owned = row[game.at["own_holdings"]]
        # Where the other's goods are hidden, the most that it can own.
        most = row[game.at["other_most" if "other_most" in game.at else "other_holdings"]]
        held = " ".join(f"{goods[k]} {owned[k]} {most[k]}" for k in order)
        give, get = np.flatnonzero(action[1:]).tolist()
        get -= len(goods)
        limit = int(RESERVE * owned[give])
        return f"{held}: {limit} {goods[give]} for {most[get]} {goods[get]} at most."

    def _answer(self, view: View) -> np.ndarray:
        game, data = self.game, self.game.scenario
        row = np.asarray(view.perception).astype(int)
        seen = {name: row[where] for name, where in game.at.items()}
        legal = np.asarray(self._found.lower(np.asarray(view.legal)))
        r, values = len(data.goods), seen["own_values"]
        offered = seen["offer"][: 2 * r]
        if legal[game.first[ACCEPT]] and (offered[:r] - offered[r:]) @ values > 0:
            return game.action(ACCEPT)
        able = legal[self._offers + _starts(game.moves, data.most)].all(axis=1)
        able &= (self._offers[:, :r] <= RESERVE * seen["own_holdings"]).all(axis=1)
        gains = (self._offers[:, r:] - self._offers[:, :r]) @ values
        parts = values / np.maximum(self._usual, 1e-6)
        ratios = (
            (self._offers[:, r:] > 0) @ parts / np.maximum((self._offers[:, :r] > 0) @ parts, 1e-6)
        )
        # Of each two goods the largest exchange, which is the last one.
        best: dict[tuple[int, int], int] = {}
        for k in np.flatnonzero(able & (gains > 0)):
            give, get = np.flatnonzero(self._offers[k]).tolist()
            best[give, get] = int(k)
        ranked = sorted(best.values(), key=lambda k: -ratios[k])
        if not ranked or not legal[game.first[OFFER]]:
            return game.action(PASS)
        turn = (game.max_steps - int(seen["steps_left"][0])) // len(game.agents)
        return game.action(OFFER, 0, self._offers[ranked[turn % min(TRIED, len(ranked))]])


def _starts(moves: int, most: np.ndarray) -> np.ndarray:
    """i[2R], where the amounts of each good given and asked for begin in a mask."""
    sizes = [int(m) + 1 for m in (*most, *most)]
    return moves + np.cumsum([0, *sizes[:-1]])


def _exchanges(data: Exchange) -> np.ndarray:
    """i[O, 2R]: for each two goods of some worth those amounts, of `SIZES` and the smallest
    first, whose average worth is most nearly the same."""
    usual = data.usual()
    goods, worth = len(data.goods), usual.mean()
    found: dict[tuple[int, ...], None] = {}
    for give in range(goods):
        for get in range(goods):
            if give == get or not (usual[give] and usual[get]):
                continue
            for size in (worth * part for part in SIZES):
                pairs = [
                    (_apart(a * usual[give], b * usual[get], size), a, b)
                    for a in range(1, int(data.holdings[..., 1].max()) + 1)
                    for b in range(1, int(data.holdings[..., 1].max()) + 1)
                    if 0.75 * size <= min(a * usual[give], b * usual[get])
                    and max(a * usual[give], b * usual[get]) <= 1.25 * size
                ]
                if pairs:
                    _, a, b = min(pairs)
                    row = [0] * (2 * goods)
                    row[give], row[goods + get] = a, b
                    found[tuple(row)] = None
    return np.array(list(found), int).reshape(-1, 2 * goods)


def _apart(given: float, got: float, size: float) -> float:
    """How far an exchange is from an even one, and a little of how far from its size."""
    return 3 * abs(math.log(given / got)) + 0.5 * abs(math.log(max(given, got) / size))
