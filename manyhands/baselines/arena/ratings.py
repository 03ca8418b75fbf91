"""Ratings: Bradley-Terry with a bootstrap, Weng-Lin by `openskill`, and who won what.

**Bradley-Terry** (1952): the odds that i beats j are exp(r_i - r_j); a draw is half a win. Ratings
are the maximum of the likelihood, on Elo's scale (400 points are odds of 10 to 1) with a mean of
1000, which is what Elo's rating settles at in a round robin. Their intervals are percentiles of a
bootstrap (Efron 1979) over deals: all matches of a deal, both seat orders and all pairs, are drawn
together, since they are not independent.

**Weng-Lin** (2011, "A Bayesian Approximation Method for Online Ranking", Plackett-Luce model, the
package `openskill`): a mean and a standard deviation for each player, updated match by match, in
the order of the deals; the interval is mean ± 1.96 standard deviations. It takes games to be
independent.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from manyhands.core.env import SeatError

RESAMPLES = 500
_SCALE = 400 / np.log(10)
_BASE = 1000.0
_NORMAL = 1.959964


def earned(
    lineup: Sequence[str] | str, row: str, column: str, rewards: Sequence[float] | str
) -> tuple[float, float]:
    """Mean rewards of a row player's agents and of a column player's, in one episode.

    Args:
        lineup, rewards: by agent, or as JSON.
    """
    seats = json.loads(lineup) if isinstance(lineup, str) else lineup
    values = [float(v) for v in (json.loads(rewards) if isinstance(rewards, str) else rewards)]
    own = [v for v, player in zip(values, seats, strict=True) if player == row]
    other = [v for v, player in zip(values, seats, strict=True) if player == column]
    return float(np.mean(own)), float(np.mean(other))


@dataclasses.dataclass(frozen=True)
class Rating:
    """A rating and its 95 % interval; NaN where it is unknown."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        return {
            name: None if np.isnan(value) else round(float(value), 2)
            for name, value in dataclasses.asdict(self).items()
        }


@dataclasses.dataclass(frozen=True)
class Results:
    """Wins by deal.

    Attributes:
        names: of P players.
        deals: names of D deals.
        wins: f64[D, P, P], episodes that the row won against the column, draws half.
        games: f64[D, P, P], episodes that they played.
    """

    names: tuple[str, ...]
    deals: tuple[Any, ...]
    wins: np.ndarray
    games: np.ndarray

    @classmethod
    def of(
        cls, names: Sequence[str], played: Iterable[tuple[Any, str, str, float, float]]
    ) -> Results:
        """From (deal, row, column, reward of the row, reward of the column) of each episode."""
        found = [one for one in played if one[1] != one[2]]
        deals = {deal: k for k, deal in enumerate(dict.fromkeys(one[0] for one in found))}
        place = {name: k for k, name in enumerate(names)}
        wins = np.zeros((len(deals), len(names), len(names)))
        games = np.zeros_like(wins)
        for deal, row, column, own, other in found:
            d, i, j = deals[deal], place[row], place[column]
            share = (own > other) + (own == other) / 2
            wins[d, i, j] += share
            wins[d, j, i] += 1 - share
            games[d, i, j] += 1
            games[d, j, i] += 1
        return cls(tuple(names), tuple(deals), wins, games)


def bradley_terry(wins: np.ndarray, games: np.ndarray, rounds: int = 100) -> np.ndarray:
    """Ratings from tables of wins and games, f64[..., P, P] each: f64[..., P].

    By Newton's method. Where all n games of a pair were won, a share of 0.5 / (n + 1) of them
    counts as lost, or no rating would be high enough. Differences between players who are in no way
    connected by games mean nothing.
    """
    count = wins.shape[-1]
    some = games > 0
    share = np.divide(wins, games, out=np.full(wins.shape, 0.5), where=some)
    edge = 0.5 / (games + 1)
    won = games * np.clip(share, edge, 1 - edge)
    ratings = np.zeros(wins.shape[:-1])
    eye = np.eye(count)
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(np.clip(ratings[..., None, :] - ratings[..., None], -40, 40)))
        gradient = (won - games * chance).sum(-1)
        weight = games * chance * (1 - chance)
        # A little is added so that it can be inverted: the likelihood does not know the mean.
        hessian = eye * weight.sum(-1)[..., None] - weight + 1e-9 * eye + 1e-6 / count
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        step = step - step.mean(-1, keepdims=True)
        largest = np.abs(step).max(-1, keepdims=True)
        ratings = ratings + step * np.minimum(1, 2 / np.maximum(largest, 1e-12))
        if largest.max(initial=0.0) < 1e-8:
            break
    return _BASE + _SCALE * (ratings - ratings.mean(-1, keepdims=True))


def bradley_terry_with_intervals(
    results: Results, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Rating]:
    """Ratings by name, with percentiles of a bootstrap over deals; players without games have
    none."""
    wins, games = results.wins.sum(0), results.games.sum(0)
    playing = games.sum(1) > 0
    nothing = Rating(np.nan, np.nan, np.nan)
    found = dict.fromkeys(results.names, nothing)
    if not playing.any():
        return found
    keep = np.ix_(playing, playing)
    point = bradley_terry(wins[keep], games[keep])
    count = len(results.deals)
    low = high = np.full(len(point), np.nan)
    if count > 1:
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=resamples).astype(float)
        size = len(point)
        flat = [
            drawn @ table[:, playing][:, :, playing].reshape(count, -1)
            for table in (results.wins, results.games)
        ]
        ratings = bradley_terry(*(table.reshape(-1, size, size) for table in flat))
        low, high = np.percentile(ratings, [2.5, 97.5], axis=0)
    names = [name for name, plays in zip(results.names, playing, strict=True) if plays]
    for name, *numbers in zip(names, point, low, high, strict=True):
        found[name] = Rating(*map(float, numbers))
    return found


def weng_lin(
    names: Sequence[str], played: Iterable[tuple[Any, str, str, float, float]]
) -> dict[str, Rating]:
    """Ratings by name, from episodes as `Results.of` takes them, in their order.

    Raises:
        SeatError: `openskill` is not installed.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError as error:
        raise SeatError('ratings need openskill: pip install "manyhands[arena]"') from error
    model = PlackettLuce()
    table = {name: model.rating(name=name) for name in names}
    met: set[str] = set()
    for _, row, column, own, other in played:
        if row != column:
            teams = [[table[row]], [table[column]]]
            (table[row],), (table[column],) = model.rate(teams, scores=[own, other])
            met |= {row, column}
    found = {}
    for name in names:
        mean, spread = float(table[name].mu), _NORMAL * float(table[name].sigma)
        known = name in met
        found[name] = Rating(mean, mean - spread, mean + spread) if known else Rating(*[np.nan] * 3)
    return found
