"""Who did how well with whom: matrices of a game and over all games.

Wins and rewards have a matrix each. **Over all games** the wins of a row player with a column
player are the mean of its shares over the games scored by wins in which the two met. Rewards of
different games have different units, so that each cell is first placed on the scale of its game,
from the lowest cell (0) to the highest (1; 0.5 where all are the same), and then averaged over the
games in which the two met. Every game counts once. Pairs meet in different games, and the scale
depends on who takes part: such a mean orders players roughly.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from manyhands.baselines.evaluation.tables import Estimate

WINS = "share of wins, a draw being half"
REWARD = "the row's own reward"
ALL_WINS = "share of wins, the mean over games scored by wins"
ALL_REWARD = "reward, from the lowest cell of each game (0) to its highest (1), the mean over games"

Key = tuple[str, str]  # row, column


@dataclasses.dataclass(frozen=True)
class Cell:
    """A row player with a column player.

    Attributes:
        reward: of the row, by deal.
        wins: share that the row won; None in games scored by reward, and with itself.
        episodes: how many.
        matches: their ids in the store.
        scaled: the reward from the lowest of the game's cells (0) to the highest (1).
    """

    reward: Estimate
    wins: Estimate | None
    episodes: int
    matches: tuple[int, ...]
    scaled: float = 0.5


@dataclasses.dataclass(frozen=True)
class Pair:
    """A row player with a column player over all games.

    Attributes:
        games, episodes: how many.
        wins: the mean of its shares over games scored by wins; None where they met in none.
        scaled: the mean of its scaled rewards.
    """

    games: int
    episodes: int
    wins: float | None
    scaled: float


@dataclasses.dataclass(frozen=True)
class Entry:
    """A cell as it is shown: its number, a text with the interval, a share from 0 to 1 for its
    colour, and what stands behind it."""

    value: float
    text: str
    share: float
    about: str


@dataclasses.dataclass(frozen=True)
class Matrix:
    """A table of entries by (row, column); `partners` are columns alone."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    partners: tuple[str, ...]
    entries: Mapping[Key, Entry]

    def blocks(self, width: int) -> list[Matrix]:
        """The matrix in pieces of at most `width` columns, each with the rows that it has entries
        for."""
        found = []
        for first in range(0, len(self.columns), width):
            columns = self.columns[first : first + width]
            rows = [a for a in self.rows if any((a, b) in self.entries for b in columns)]
            found.append(dataclasses.replace(self, rows=tuple(rows), columns=columns))
        return found


def scaled(cells: Mapping[Key, Cell]) -> dict[Key, Cell]:
    """The cells of a game, with their scaled rewards."""
    means = [cell.reward.mean for cell in cells.values()]
    low, high = min(means, default=0.0), max(means, default=0.0)
    if not high > low:
        return dict(cells)
    return {
        key: dataclasses.replace(cell, scaled=(cell.reward.mean - low) / (high - low))
        for key, cell in cells.items()
    }


def over_all(games: Collection[Mapping[Key, Cell]]) -> dict[Key, Pair]:
    """The cells of several games, averaged."""
    found: dict[Key, list[Cell]] = defaultdict(list)
    for cells in games:
        for key, cell in cells.items():
            found[key].append(cell)
    pairs = {}
    for key, of_games in found.items():
        wins = [cell.wins.mean for cell in of_games if cell.wins is not None]
        pairs[key] = Pair(
            games=len(of_games),
            episodes=sum(cell.episodes for cell in of_games),
            wins=float(np.mean(wins)) if wins else None,
            scaled=float(np.mean([cell.scaled for cell in of_games])),
        )
    return pairs


def of_game(
    cells: Mapping[Key, Cell], rows: Sequence[str], partners: Sequence[str]
) -> list[Matrix]:
    """The matrix of wins, where there is one, and that of rewards."""
    wins, rewards = {}, {}
    for (row, column), cell in cells.items():
        about = f"{row} with {column}: reward {cell.reward}, {cell.episodes} episodes"
        if cell.wins is not None:
            wins[row, column] = Entry(cell.wins.mean, f"{cell.wins}", cell.wins.mean, about)
        rewards[row, column] = Entry(cell.reward.mean, f"{cell.reward}", cell.scaled, about)
    return _matrices(((WINS, wins), (REWARD, rewards)), rows, partners)


def of_all(pairs: Mapping[Key, Pair], rows: Sequence[str]) -> list[Matrix]:
    """The matrices over all games; who has no row in any is a column alone."""
    partners = [column for column in dict.fromkeys(b for _, b in pairs) if column not in rows]
    wins, rewards = {}, {}
    for (row, column), pair in pairs.items():
        about = f"{row} with {column}: {pair.games} games, {pair.episodes} episodes"
        if pair.wins is not None:
            wins[row, column] = Entry(pair.wins, f"{pair.wins:.3f}", pair.wins, about)
        rewards[row, column] = Entry(pair.scaled, f"{pair.scaled:.3f}", pair.scaled, about)
    return _matrices(((ALL_WINS, wins), (ALL_REWARD, rewards)), rows, partners)


def _matrices(
    given: Sequence[tuple[str, Mapping[Key, Entry]]],
    rows: Sequence[str],
    partners: Sequence[str],
) -> list[Matrix]:
    found = []
    for title, entries in given:
        if entries:
            met = {column for _, column in entries}
            columns = tuple(name for name in (*rows, *partners) if name in met)
            with_row = tuple(name for name in rows if any(a == name for a, _ in entries))
            found.append(Matrix(title, with_row, columns, tuple(partners), entries))
    return found
