"""What a negotiator believes of the other's private numbers: `Goods`, `Limit`.

A belief is a probability for each value that is possible by the rules. What the other says moves
it, with doubt: a share of the old belief always stays. So does what it does: what it asks for is
probably worth much to it, and what it turns down little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

KNOWN_BY_DEEDS = 3.0  # how much more likely an offer is that is worth all to who makes it


def moved(chance: np.ndarray, likely: np.ndarray, doubt: float) -> np.ndarray:
    """A belief after something that is `likely` (0 to 1) for each value; with `doubt`, the
    probability that it says nothing, the belief stays as it was."""
    best = max(float(likely.max(initial=0)), 1e-9)
    new = chance * (doubt + (1 - doubt) * likely / best)
    total = float(new.sum())
    return new / total if total > 0 else chance


class Goods:
    """A belief about what a unit of each good is worth to the other.

    Args:
        values: f[M, R], all values that are possible together, or one column after the other.
        chance: f[M]; by default all are as likely.

    Attributes:
        mean: f[R], the expected values.
    """

    def __init__(self, values: np.ndarray, doubt: float):
        self.values, self.doubt = values.astype(float), doubt
        self.chance = np.full(len(values), 1 / len(values))
        self.mean = self.chance @ self.values

    def _move(self, likely: np.ndarray, doubt: float) -> None:
        self.chance = moved(self.chance, likely, doubt)
        self.mean = self.chance @ self.values

    def told(self, good: int, number: int) -> None:
        """It says that a unit of a good is worth so much to it."""
        off = np.abs(self.values[:, good] - number)
        self._move(
            np.exp(-2.0 * off / max(float(np.ptp(self.values[:, good])) / 5, 0.5)), self.doubt
        )

    def wants(self, good: int, there: np.ndarray) -> None:
        """It says that it values a good most, of as many units as there are."""
        worth = self.values * np.maximum(there, 1)
        self._move((worth[:, good] >= worth.max(1) - 1e-9).astype(float), self.doubt)

    def spurns(self, good: int) -> None:
        """It says that it has no use for a good."""
        column = self.values[:, good]
        span = max(float(np.ptp(column)), 1.0)
        self._move(np.exp(-4.0 * (column - column.min()) / span), self.doubt)

    def asked(self, part: np.ndarray, whole: float) -> None:
        """It asks for units of each good, of a whole of some worth."""
        self._move(np.exp(KNOWN_BY_DEEDS * (self.values @ part) / max(whole, 1.0)), 0.1)

    def refused(self, part: np.ndarray, whole: float) -> None:
        """It turns them down."""
        self._move(np.exp(-0.5 * KNOWN_BY_DEEDS * (self.values @ part) / max(whole, 1.0)), 0.1)


class Market:
    """A belief about the worth of each good where any combination of values is possible: one
    belief a good.

    Args:
        spans: i[R, 2], the lowest and the highest worth of each good.
    """

    def __init__(self, spans: np.ndarray, doubt: float):
        self.goods = [Goods(np.arange(low, high + 1)[:, None], doubt) for low, high in spans]

    @property
    def mean(self) -> np.ndarray:
        return np.array([good.mean[0] for good in self.goods])

    def told(self, good: int, number: int) -> None:
        self.goods[good].told(0, number)

    def wants(self, good: int) -> None:
        one = self.goods[good]
        low, high = one.values[0, 0], one.values[-1, 0]
        one._move(np.exp(3.0 * (one.values[:, 0] - low) / max(high - low, 1.0)), one.doubt)

    def spurns(self, good: int) -> None:
        self.goods[good].spurns(0)

    def offers(self, get: np.ndarray, give: np.ndarray) -> None:
        """It would get some goods for others, so that the ones are worth more to it."""
        mean = self.mean
        for k in np.flatnonzero(get - give):
            one, change = self.goods[int(k)], float(get[k] - give[k])
            rest = float((get - give) @ mean) - change * mean[k]
            scale = max(abs(change) * max(float(np.ptp(one.values)), 1.0) / 4, 1e-6)
            gain = one.values[:, 0] * change + rest
            one._move(1 / (1 + np.exp(-np.clip(gain / scale, -30, 30))), 0.3)


class Limit:
    """A belief about the other's limit: the cost of a seller, the value of a buyer.

    Args:
        numbers: i[M], the limits that are possible.
        sells: whether the other sells.
    """

    def __init__(self, numbers: np.ndarray, sells: bool, doubt: float):
        self.numbers, self.sells, self.doubt = numbers.astype(float), sells, doubt
        self.chance = np.full(len(numbers), 1 / len(numbers))

    @property
    def mean(self) -> float:
        return float(self.chance @ self.numbers)

    def told(self, number: float) -> None:
        """It says that its limit is about this number; nobody says that it could give more."""
        better = (self.numbers - number) * (1 if self.sells else -1)  # worse for it than said
        off = np.where(better > 0, 2.0 * better, -better / 2)
        self.chance = moved(self.chance, np.exp(-off / 3), self.doubt)

    def names(self, price: float) -> None:
        """It would deal at this price."""
        room = (price - self.numbers) * (1 if self.sells else -1)
        likely = np.where(room >= 0, np.exp(-room / 20), 0)
        self.chance = moved(self.chance, likely, 0.02)

    def refuses(self, price: float) -> None:
        """It does not deal at this price, or not yet."""
        room = (price - self.numbers) * (1 if self.sells else -1)
        self.chance = moved(self.chance, 1 / (1 + np.exp(np.clip(room / 4, -30, 30))), 0.5)

    def takes(self, prices: Sequence[int] | np.ndarray) -> np.ndarray:
        """f[P], the probability that each price is within its limit."""
        room = (np.asarray(prices, float)[:, None] - self.numbers) * (1 if self.sells else -1)
        found: np.ndarray = (room >= 0) @ self.chance
        return found
