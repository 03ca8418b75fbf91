"""Leagues: every strategy of a two-sided game against every other, win rates, Elo, equilibria.

**Sides.** A side is one agent, or a team whose seats are all played by one strategy; `sides_of`
tells which. A strategy plays either side, and what counts between two of them is the mean over both
orders: the meta-game is symmetric, and worth 0.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from manyhands.baselines.evaluation.matches import Match, play_matches
from manyhands.baselines.evaluation.scores import players as read_players
from manyhands.baselines.evaluation.tables import INTERVAL, Estimate, described, markdown
from manyhands.core.env import (
    ConfigError,
    Env,
    names_of,
)
from manyhands.core.files import replace

Sides = tuple[tuple[int, ...], tuple[int, ...]]


def sides_of(env: Env) -> Sides:
    """The agents of both sides, by axis index: the environment's own attribute `sides`, or the two
    agents of a game of two."""
    given = env.sides
    if given is None and env.num_agents == 2:
        given = ((0,), (1,))
    if given is None:
        raise ConfigError(
            f"{env!r} has {env.num_agents} agents, and no attribute `sides` that says who plays "
            "with whom; a game of two sides is needed"
        )
    first, second = (tuple(int(a) for a in side) for side in given)
    if len(first) != len(second) or sorted(first + second) != list(range(env.num_agents)):
        raise ConfigError(
            f"the sides of {env!r} are not two teams of one size that share out all agents: "
            f"{first} and {second}"
        )
    return first, second


# ---- the meta-game -------------------------------------------------------------------------------


def uniform(payoffs: np.ndarray) -> np.ndarray:
    """Every strategy alike: f64[P]."""
    return np.full(len(payoffs), 1 / len(payoffs))


def nash(payoffs: np.ndarray) -> np.ndarray:
    """An equilibrium mixture of the row player in the zero-sum game with `payoffs`, f64[R, C], to
    the row player: f64[R].

    The linear program of von Neumann's theorem, solved by HiGHS (Huangfu and Hall 2018): the
    largest v for which some mixture x earns x · payoffs >= v against every column.
    """
    payoffs = np.asarray(payoffs, np.float64)
    rows, columns = payoffs.shape
    found = linprog(
        c=[*np.zeros(rows), -1.0],
        A_ub=np.hstack([-payoffs.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=[[*np.ones(rows), 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
    )
    if not found.success:
        raise ConfigError(f"these payoffs have no equilibrium: {found.message}")
    mixture = np.maximum(found.x[:rows], 0.0)
    return mixture / mixture.sum()


META_SOLVERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"nash": nash, "uniform": uniform}


def elo(wins: np.ndarray, games: int, base: float = 1000.0, rounds: int = 10_000) -> np.ndarray:
    """Elo ratings (1978) from a table of win rates, f64[P, P], of `games` games each: f64[P].

    All play all, again and again, and after each round everybody moves by K times the mean of what
    was won beyond what the ratings predicted, with K = 42 P, until nobody moves by more than a
    thousandth: the order of the games then plays no part. The mean stays `base`. Where all games
    were won, half a game counts as lost, or no rating would be high enough.
    """
    count = len(wins)
    share = np.clip(np.asarray(wins, np.float64), 0.5 / games, 1 - 0.5 / games)
    np.fill_diagonal(share, 0.5)
    ratings = np.full(count, float(base))
    for _ in range(rounds):
        expected = 1 / (1 + 10 ** ((ratings[None] - ratings[:, None]) / 400))
        # A full step overshoots where there are many players: at most the curve's own slope.
        move = 42 * count * (share - expected).mean(axis=1) * min(1.0, 16 / count)
        ratings = ratings + move - move.mean()
        if np.abs(move).max() < 1e-5:
            break
    return ratings


@dataclasses.dataclass(frozen=True)
class League:
    """All strategies of a meta-game against each other; print it, or `save` it.

    Attributes:
        env, seed: what was played.
        names: of the P strategies.
        margins: f64[P, P, E], half of what the row on the first side earned more than the column
            on the second one, in each episode (of a game with zero sum: what it won); 0 on the
            diagonal, which is not played.
        by: the reward term that decides, "" for all of the reward.
        illegal, forfeits: f64[P], illegal answers and forfeits of each strategy, a mean over its
            episodes. A forfeit is lost, at its price.
    """

    env: Env
    seed: int
    names: tuple[str, ...]
    margins: np.ndarray
    by: str = ""
    illegal: np.ndarray | None = None
    forfeits: np.ndarray | None = None

    @property
    def refused(self) -> dict[str, np.ndarray]:
        """f64[P] by name: `illegal` and `forfeits`, where there were any."""
        found = {"illegal": self.illegal, "forfeits": self.forfeits}
        return {name: v for name, v in found.items() if v is not None and v.any()}

    @property
    def episodes(self) -> int:
        """Episodes of a pair in each order."""
        return self.margins.shape[-1]

    def _both(self, values: np.ndarray) -> np.ndarray:
        """f64[P, P, E]: a row's mean over both sides."""
        return (values - np.swapaxes(values, 0, 1)) / 2

    @property
    def payoffs(self) -> np.ndarray:
        """f64[P, P]: mean margins of the row; minus its own transpose."""
        return self._both(self.margins).mean(-1)

    @property
    def wins(self) -> np.ndarray:
        """f64[P, P]: share of episodes that the row won, a draw being half of one."""
        return 0.5 + self._both(np.sign(self.margins)).mean(-1) / 2

    def table(self) -> list[list[Estimate]]:
        """[row][column]: the win rates with their intervals."""
        each = 0.5 + self._both(np.sign(self.margins)) / 2
        return [[Estimate.of(cell) for cell in row] for row in each]

    @property
    def ratings(self) -> np.ndarray:
        return elo(self.wins, 2 * self.episodes)

    def matrix(self, counts: str) -> np.ndarray:
        """f64[P, P]: the meta-game; `counts` is "wins" (from -1, all lost, to 1) or "margin"."""
        return 2 * self.wins - 1 if counts == "wins" else self.payoffs

    def mixture(self, solver: str = "nash", counts: str = "wins") -> np.ndarray:
        """f64[P], of a meta-solver."""
        return META_SOLVERS[solver](self.matrix(counts))

    def __str__(self) -> str:
        refused = self.refused
        header = ["row against column", *self.names, "Elo", "Nash", *refused]
        table, ratings, weights = self.table(), self.ratings, self.mixture()
        rows = []
        for i, name in enumerate(self.names):
            cells = ["" if i == j else str(cell) for j, cell in enumerate(table[i])]
            counts = [f"{values[i]:.3f}" for values in refused.values()]
            rows.append([name, *cells, f"{ratings[i]:.0f}", f"{weights[i]:.3f}", *counts])
        return (
            f"{described(self.env)}: win rates of {len(self.names)} strategies over both sides, "
            f"{self.episodes} episodes a pair and side, seed {self.seed}; a draw is half a win\n\n"
            f"{markdown(header, rows)}\n\n{INTERVAL}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        return {
            "environment": self.env.spec(),
            "seed": self.seed,
            "episodes": self.episodes,
            "interval": INTERVAL,
            "decided_by": self.by or "reward",
            "strategies": list(self.names),
            "wins": [[cell.to_dict() for cell in row] for row in self.table()],
            "payoffs": self.payoffs.tolist(),
            "elo": self.ratings.tolist(),
            "nash": self.mixture().tolist(),
            **{name: values.tolist() for name, values in self.refused.items()},
        }

    def to_csv(self) -> str:
        """A line for each ordered pair."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["row", "column", "wins", "low", "high", "episodes"])
        for i, row in enumerate(self.table()):
            for j, cell in enumerate(row):
                if i != j:
                    writer.writerow([self.names[i], self.names[j], *cell.to_dict().values()])
        return text.getvalue()

    def save(self, folder: str | Path) -> list[Path]:
        """Write league.json, .csv and .md; gives their paths."""
        files = {
            "json": json.dumps(self.to_dict(), indent=2) + "\n",
            "csv": self.to_csv(),
            "md": f"{self}\n",
        }
        paths = [Path(folder) / f"league.{ending}" for ending in files]
        for path, text in zip(paths, files.values(), strict=True):
            replace(path, text.encode())
        return paths


def league(
    env: Env,
    strategies: Mapping[str, Any] | Sequence[Any],
    episodes: int = 100,
    seed: int = 0,
    by: str = "",
) -> League:
    """Play all strategies against each other, on both sides.

    Args:
        strategies: what `evaluation.players` takes: seats by name, policy files, or policies; in a
            mapping their names in the tables are its keys. Each plays all seats of a side.
        by: the reward term that decides who won, "" for all of the reward.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
    """
    if len(strategies) < 2:
        raise ConfigError(f"a league needs two strategies or more, {len(strategies)} given")
    given = list(strategies.values()) if isinstance(strategies, Mapping) else list(strategies)
    made, names = read_players(env, given)
    if isinstance(strategies, Mapping):
        names = list(strategies)
    _check_term(env, by)
    count = len(made)
    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
    margins = np.zeros((count, count, episodes))
    illegal, forfeits = np.zeros(count), np.zeros(count)
    for match, (i, j) in zip(_matches(env, made, pairs, episodes, seed), pairs, strict=True):
        margins[i, j] = _margin(env, match, by)
        for a, player in enumerate(match.players):
            illegal[player] += match.illegal[:, a].mean() / (2 * (count - 1))
            forfeits[player] += match.forfeits[:, a].mean() / (2 * (count - 1))
    return League(env, seed, tuple(names), margins, by, illegal, forfeits)


def meet(
    env: Env,
    strategies: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    episodes: int,
    seed: int,
    by: str,
) -> list[np.ndarray]:
    """The margins, f64[E], of each pair's first strategy on the first side."""
    _check_term(env, by)
    matches = _matches(env, strategies, pairs, episodes, seed)
    return [_margin(env, match, by) for match in matches]


def _matches(
    env: Env,
    strategies: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    episodes: int,
    seed: int,
) -> list[Match]:
    """A match for each pair, the first of it on the first side."""
    lineups = []
    for i, j in pairs:
        row = [j] * env.num_agents
        for a in sides_of(env)[0]:
            row[a] = i
        lineups.append(tuple(row))
    return play_matches(env, strategies, lineups, episodes, seed)


def _check_term(env: Env, by: str) -> None:
    if by and by not in env.terms:
        raise ConfigError(
            f"{by!r} is no reward term, by which somebody could win; the terms are "
            f"{names_of(env.terms)}"
        )


def _margin(env: Env, match: Match, by: str) -> np.ndarray:
    """f64[E]: half of what the first side earned more."""
    first, second = sides_of(env)
    earned = match.terms[by] if by else match.returns
    margin: np.ndarray = earned[:, list(first)].mean(1) - earned[:, list(second)].mean(1)
    return margin / 2
