"""What a season has shown: tables by game and over all, as text, JSON, CSV and a page.

**Scores.** A cell is a row player's mean over the episodes with one column player. In games that
are scored by wins it is the share of episodes that the row won, a draw being half of one, and a
player's score is the mean of its cells but that with itself. In games that are scored by reward it
is the row's own reward, and the score is the mean of all its cells. Held-out partners and pools are
columns alone. Intervals of means are those of `evaluation/tables.py`, over deals.

**Over all games** a player has the mean of its scores, each on a scale from 0 to 1: a share of wins
as it is, a reward from the lowest score in the game (0) to the highest (1). It depends on who takes
part. Ratings over all games are of those that are scored by wins. The matrices over all games are
explained in `matrices.py`.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyhands.baselines.arena.exact import exploitabilities
from manyhands.baselines.arena.matrices import Cell, Matrix, Pair, of_all, of_game, over_all, scaled
from manyhands.baselines.arena.ratings import (
    Rating,
    Results,
    bradley_terry_with_intervals,
    earned,
    weng_lin,
)
from manyhands.baselines.arena.schedule import has_sides
from manyhands.baselines.arena.season import GamePlan, Season, read_season
from manyhands.baselines.arena.store import Store
from manyhands.baselines.evaluation.tables import INTERVAL, Estimate, described
from manyhands.core.env import SeatError

OVERALL = "all games"
_NAMED = 3  # records in a note
BELIEFS = "beliefs: the share of answers to probes that follow from what the player was shown"


@dataclasses.dataclass(frozen=True)
class Row:
    """A player in a game, or over all; None where something does not apply or is not known.

    Attributes:
        player: its name.
        games: how many games it played (over all).
        episodes, decisions: how many.
        score, reward, wins: means with intervals.
        scaled: the score from 0 to 1.
        with_itself, with_others, with_held_out: mean reward beside these.
        bradley_terry, weng_lin: ratings.
        illegal: share of decisions that were refused. forfeits: episodes that it forfeited.
        tokens, cost, seconds: spent; seconds are those of a decision.
        exploitability: of the play that was seen, where the game can be solved.
        beliefs: share of its answers to probes that what it was shown gives.
    """

    player: str
    games: int
    episodes: int
    decisions: int
    score: Estimate | None
    scaled: float | None
    reward: Estimate | None
    wins: Estimate | None
    with_itself: Estimate | None
    with_others: Estimate | None
    with_held_out: Estimate | None
    bradley_terry: Rating | None
    weng_lin: Rating | None
    illegal: float
    forfeits: int
    tokens: int
    cost: float
    seconds: float | None
    exploitability: float | None
    beliefs: float | None = None

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, (Estimate, Rating)):
                value = value.to_dict()
            elif isinstance(value, float):
                value = round(value, 6) if math.isfinite(value) else None
            found[field.name] = value
        return found


@dataclasses.dataclass(frozen=True)
class GameReport:
    """A game of a season.

    Attributes:
        plan: what was to be played. about: its environment in a line.
        rows: of the players, best first.
        columns: the players of the matrix, held-out partners last.
        cells: by (row, column).
        partners: columns alone.
        unread: why records could not be read, whose matches `exploitability` leaves out.
    """

    plan: GamePlan
    about: str
    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    partners: tuple[str, ...]
    unread: tuple[str, ...] = ()

    def matrices(self) -> list[Matrix]:
        """Who did how well with whom: wins, in games that are scored by them, and rewards."""
        return of_game(self.cells, [row.player for row in self.rows], self.partners)

    def to_dict(self) -> dict[str, Any]:
        return {
            "environment": self.plan.env.spec(),
            "score": self.plan.score,
            "pairing": self.plan.pairing,
            "episodes": self.plan.episodes,
            "players": [row.to_dict() for row in self.rows],
            "held_out": list(self.partners),
            "unread": list(self.unread),
            "cells": [
                {
                    "row": row,
                    "column": column,
                    "episodes": cell.episodes,
                    "reward": cell.reward.to_dict(),
                    "wins": cell.wins and cell.wins.to_dict(),
                    "scaled": round(cell.scaled, 6),
                }
                for (row, column), cell in self.cells.items()
            ],
        }


@dataclasses.dataclass(frozen=True)
class Report:
    """What a season has shown; `show` it, or `page.save` it.

    Attributes:
        season: as it was last run. folder: of its store.
        overall: the players, best first.
        games: by name, those of which something was played.
        states: how many matches are done, open, claimed and failed.
        seconds: of playing, summed over processes.
        pairs: by (row, column), the players with each other over all games.
    """

    season: Season
    folder: Path
    overall: tuple[Row, ...]
    games: Mapping[str, GameReport]
    states: Mapping[str, int]
    seconds: float
    pairs: Mapping[tuple[str, str], Pair]

    def matrices(self) -> list[Matrix]:
        """Who did how well with whom over all games: wins, and scaled rewards."""
        return of_all(self.pairs, [row.player for row in self.overall])

    def notes(self) -> list[str]:
        """What is missing, in sentences."""
        found = []
        for name, game in self.games.items():
            if game.unread:
                found.append(left_out(name, "exploitability", game.unread))
        return found

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        return {
            "season": self.season.name,
            "seed": self.season.seed,
            "currency": self.season.currency,
            "matches": dict(self.states),
            "seconds": round(self.seconds, 1),
            "interval": INTERVAL,
            "overall": [row.to_dict() for row in self.overall],
            "pairs": [
                {
                    "row": row,
                    "column": column,
                    "games": pair.games,
                    "episodes": pair.episodes,
                    "wins": None if pair.wins is None else round(pair.wins, 6),
                    "scaled": round(pair.scaled, 6),
                }
                for (row, column), pair in self.pairs.items()
            ],
            "games": {name: game.to_dict() for name, game in self.games.items()},
        }

    def show(self) -> None:
        """Print it as tables."""
        from rich.console import Console
        from rich.table import Table

        console = Console()
        if not console.is_terminal:
            console = Console(width=160)
        parts = [
            (OVERALL, self.overall, self.matrices()),
            # The matrix that the game is scored by; the page and the files have the other one.
            *((name, game.rows, game.matrices()[:1]) for name, game in self.games.items()),
        ]
        for title, rows, matrices in parts:
            chosen = columns_of(rows, self.season.currency, title == OVERALL)
            table = Table(title=title, title_justify="left")
            for column in chosen:
                table.add_column(
                    column.title, justify="left" if column.key == "player" else "right"
                )
            for row in rows:
                table.add_row(*(column.text(row) for column in chosen))
            console.print(table)
            for matrix in matrices:
                # Not the title of its table, which would be as narrow as that.
                heading = f"{title}, row with column: {matrix.title}"
                console.print(heading, markup=False, highlight=False, soft_wrap=True)
                for block in matrix.blocks(max(1, (console.width - 24) // 12)):
                    console.print(_matrix_table(block))
        rated = [one for one in self.overall if _known(one.bradley_terry)]
        if rated and not any(_known(one.weng_lin) for one in rated):
            console.print('openskill\'s ratings: pip install "manyhands[arena]"', markup=False)
        for note in self.notes():
            console.print(note, markup=False, highlight=False)
        console.print(
            f"{INTERVAL}; ratings with 95% intervals. {_counted(self.states)}",
            markup=False,
            highlight=False,
        )

    def to_csv(self) -> dict[str, str]:
        """The texts of `players.csv`, a line for each player and game, and `cells.csv`, a line for
        each row, column and game."""
        players = [
            {"game": title, **_flat(row.to_dict())}
            for title, rows in [
                (OVERALL, self.overall),
                *((n, g.rows) for n, g in self.games.items()),
            ]
            for row in rows
        ]
        cells = [
            {"game": name, **_flat(cell)}
            for name, game in self.games.items()
            for cell in game.to_dict()["cells"]
        ]
        cells += [
            {"game": OVERALL, **_flat({**pair, "wins": {"mean": pair["wins"]}})}
            for pair in self.to_dict()["pairs"]
        ]
        return {"players.csv": _csv(players), "cells.csv": _csv(cells)}


def left_out(game: str, what: str, unread: Sequence[str]) -> str:
    """That matches of a game are missing in something, as a sentence; `unread` holds why the record
    of each cannot be read, of which the first ones are named."""
    return (
        f"{game}: {what} leaves out matches whose record cannot be read ({len(unread)}): "
        f"{'; '.join(unread[:_NAMED])}{'; …' if len(unread) > _NAMED else ''}"
    )


def _known(rating: Rating | None) -> bool:
    return rating is not None and not math.isnan(rating.value)


def _matrix_table(matrix: Matrix) -> Any:
    from rich.table import Table

    table = Table()
    table.add_column("")
    for column in matrix.columns:
        table.add_column(column, justify="right", overflow="fold")
    for row in matrix.rows:
        entries = [matrix.entries.get((row, column)) for column in matrix.columns]
        table.add_row(row, *("" if one is None else f"{one.value:.3g}" for one in entries))
    return table


def _counted(states: Mapping[str, int]) -> str:
    return "Matches: " + ", ".join(f"{n} {what}" for what, n in states.items() if n) + "."


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested dicts as "name.low"."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= {f"{name}.{key}": one for key, one in value.items()}
        else:
            found[name] = value
    return found


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    header = list(dict.fromkeys(key for row in rows for key in row))
    # A column that is empty in one row may be several in another.
    header = [key for key in header if not any(other.startswith(f"{key}.") for other in header)]
    writer = csv.DictWriter(text, header, lineterminator="\n", extrasaction="ignore", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


# ---- columns of tables ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of the table of players: what it shows, and the number that it is sorted by."""

    key: str
    title: str
    text: Callable[[Row], str]
    value: Callable[[Row], float | None]


def _estimate(key: str, title: str) -> Column:
    def text(row: Row) -> str:
        value = getattr(row, key)
        return "" if value is None else str(value)

    def number(row: Row) -> float | None:
        value = getattr(row, key)
        return None if value is None else float(value.mean)

    return Column(key, title, text, number)


def _rating(key: str, title: str, digits: int) -> Column:
    def text(row: Row) -> str:
        found = getattr(row, key)
        if found is None or math.isnan(found.value):
            return ""
        shown = f"{found.value:.{digits}f}"
        if math.isnan(found.low):
            return shown
        return f"{shown} ({found.low:.{digits}f}, {found.high:.{digits}f})"

    def number(row: Row) -> float | None:
        found = getattr(row, key)
        return None if found is None or math.isnan(found.value) else found.value

    return Column(key, title, text, number)


def _plain(key: str, title: str, form: str) -> Column:
    def text(row: Row) -> str:
        value = getattr(row, key)
        return "" if value is None else format(value, form)

    def number(row: Row) -> float | None:
        value = getattr(row, key)
        return None if value is None else float(value)

    return Column(key, title, text, number)


def columns_of(rows: Sequence[Row], currency: str, overall: bool) -> list[Column]:
    """The columns that hold anything for these rows."""
    score = (
        _plain("scaled", "mean score, 0 to 1", ".3f") if overall else _estimate("score", "score")
    )
    first = [Column("player", "player", lambda row: row.player, lambda row: None), score]
    if overall:
        first.append(_plain("games", "games", "d"))
    rest = [
        _rating("bradley_terry", "Bradley-Terry", 0),
        _rating("weng_lin", "openskill", 1),
        _estimate("reward", "reward"),
        _estimate("with_itself", "with itself"),
        _estimate("with_others", "with others"),
        _estimate("with_held_out", "with held-out"),
        _plain("exploitability", "exploitability", ".4f"),
        _plain("beliefs", "beliefs", ".2%"),
        _plain("illegal", "illegal", ".2%"),
        _plain("forfeits", "forfeits", "d"),
        _plain("tokens", "tokens", ",d"),
        _plain("cost", f"cost, {currency}", ".4f"),
        _plain("seconds", "s/decision", ".4f"),
        _plain("episodes", "episodes", "d"),
    ]
    always = ("episodes", "illegal", "forfeits")
    return first + [
        one
        for one in rest
        if one.key in always or any(one.value(row) not in (None, 0.0) for row in rows)
    ]


# ---- from the store ------------------------------------------------------------------------------


# (match, deal, line-up, row, column, rewards, forfeits) of an episode.
_Episode = tuple[int, int, tuple[str, ...], str, str, list[float], list[str]]
# (decisions, refused, tokens, cost, timed decisions, seconds) of a player.
_Spent = tuple[int, int, int, float, int, float]
_NOTHING: _Spent = (0, 0, 0, 0.0, 0, 0.0)


def _skills(names: Sequence[str], compared: Sequence[Any]) -> dict[str, Rating]:
    """`weng_lin`; unknown where `openskill` is not installed."""
    try:
        return weng_lin(names, compared)
    except SeatError:
        return dict.fromkeys(names, Rating(math.nan, math.nan, math.nan))


def report(folder: str | os.PathLike[str], season: Season | None = None) -> Report:
    """What the store in a folder holds, of a season that may go on.

    Args:
        season: by default as it was last run.

    Raises:
        StoreError: there is no store.
    """
    with Store(folder) as store:
        if season is None:
            season = read_season(store.text)
        games = {}
        for name, plan in season.games.items():
            found = _game(season, plan, store)
            if found is not None:
                games[name] = found
        seconds = store.spent()[""][2]
        overall = _overall(season, games, store)
        pairs = over_all([game.cells for game in games.values()])
        return Report(season, Path(folder), overall, games, store.states(), seconds, pairs)


def _played(store: Store, plan: GamePlan, known: Sequence[str]) -> list[_Episode]:
    """What was played of a game by these players."""
    episodes = []
    for id, deal, lineup, row, column, rewards, forfeits in store.query(
        'SELECT m.id, e.episode, m.lineup, m."row", m."column", e.rewards, e.forfeits '
        "FROM matches m JOIN episodes e ON e.match = m.id "
        "WHERE m.game = ? AND m.state = 'done' ORDER BY m.round, e.episode, m.id",
        (plan.name,),
    ):
        seats = tuple(json.loads(lineup))
        if set(seats) <= set(known):
            values = [float(value) for value in json.loads(rewards)]
            episodes.append((id, deal, seats, row, column, values, json.loads(forfeits)))
    return episodes


def _by_deal(values: Sequence[tuple[int, str, float]]) -> Estimate | None:
    """The mean over columns of (deal, column, value), with an interval over deals: the columns of a
    deal are averaged first."""
    deals: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for deal, column, value in values:
        deals[deal][column].append(value)
    if not deals:
        return None
    means = [np.mean([np.mean(one) for one in columns.values()]) for columns in deals.values()]
    return Estimate.of(means)


def _game(season: Season, plan: GamePlan, store: Store) -> GameReport | None:
    rows, partners = season.rows(plan.name), season.partners(plan.name)
    played = _played(store, plan, [*rows, *partners])
    if not played:
        return None
    both = has_sides(plan.env)
    wins = plan.score == "wins"
    rewards: dict[str, list[tuple[int, str, float]]] = defaultdict(list)
    shares: dict[str, list[tuple[int, str, float]]] = defaultdict(list)
    ids: dict[tuple[str, str], dict[int, None]] = defaultdict(dict)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    pairs = []
    for id, deal, seats, row, column, values, _ in played:
        gained, lost = earned(seats, row, column, values)
        pairs.append((deal, row, column, gained, lost))
        directions = [(row, column, gained, lost)]
        # Among several copies of another player, the single one alone is rated by its reward.
        if row != column and (both or wins):
            directions.append((column, row, lost, gained))
        for a, b, reward, against in directions:
            rewards[a].append((deal, b, reward))
            ids[a, b][id] = None
            counts[a, b] += 1
            if wins and a != b:
                shares[a].append((deal, b, (reward > against) + (reward == against) / 2))
    cells = {}
    for a in rows:
        for b in (*rows, *partners):
            mean = _by_deal([one for one in rewards[a] if one[1] == b])
            if mean is not None:
                share = _by_deal([one for one in shares[a] if one[1] == b])
                cells[a, b] = Cell(mean, share, counts[a, b], tuple(ids[a, b]))
    compared = [one for one in pairs if wins]
    everybody = [*rows, *partners]
    strength = bradley_terry_with_intervals(Results.of(everybody, compared), seed=season.seed)
    skill = _skills(everybody, compared)
    spent, beliefs = _spent(store, plan.name), _beliefs(store, plan.name)
    matches = [(id, seats) for id, _, seats, *_ in played]
    exact, unread = exploitabilities(plan.env, matches, store)
    cells = scaled(cells)
    found = []
    for name in rows:
        own = rewards[name]
        if not own:
            continue
        mine = shares[name] if wins else own
        episodes = [one for one in played if name in one[2]]
        forfeits = sum(
            any(seats[plan.env.agents.index(agent)] == name for agent in given)
            for _, _, seats, _, _, _, given in episodes
        )
        decisions, refused, tokens, cost, timed, seconds = spent.get(name, _NOTHING)
        others = [one for one in own if one[1] != name and one[1] not in partners]
        shared = not wins and plan.env.num_agents > 1
        found.append(
            Row(
                player=name,
                games=1,
                episodes=len(episodes),
                decisions=decisions,
                score=_by_deal(mine) or Estimate(math.nan, math.nan, 0),
                scaled=None,
                reward=_by_deal(own) if wins else None,
                wins=_by_deal(mine) if wins else None,
                with_itself=_by_deal([o for o in own if o[1] == name]) if shared else None,
                with_others=_by_deal(others) if shared else None,
                with_held_out=_by_deal([o for o in own if o[1] in partners]),
                bradley_terry=strength[name] if wins else None,
                weng_lin=skill[name] if wins else None,
                illegal=refused / decisions if decisions else 0.0,
                forfeits=forfeits,
                tokens=tokens,
                cost=cost,
                seconds=seconds / timed if timed else None,
                exploitability=exact.get(name),
                beliefs=beliefs.get(name),
            )
        )
    scores = [one.score.mean for one in found if one.score is not None]
    low, high = min(scores, default=0.0), max(scores, default=0.0)

    def placed(one: Row) -> float:
        mean = one.score.mean if one.score is not None else math.nan
        if wins:
            return mean
        return (mean - low) / (high - low) if high > low else 0.5

    found = [dataclasses.replace(one, scaled=placed(one)) for one in found]
    found.sort(key=lambda one: -(one.scaled or 0.0))
    order = [one.player for one in found]
    columns = [name for name in (*order, *partners) if any(b == name for _, b in cells)]
    return GameReport(
        plan,
        described(plan.env),
        tuple(found),
        tuple(columns),
        cells,
        tuple(partners),
        tuple(unread),
    )


def _beliefs(store: Store, game: str = "") -> dict[str, float]:
    """The share of answers to probes that a player's knowledge gives, in a game, or in all."""
    return dict(
        store.query(
            "SELECT p.player, avg(p.answer IS p.believed) FROM probes p "
            "JOIN matches m ON m.id = p.match "
            "WHERE (m.game = ? OR ? = '') AND m.state = 'done' GROUP BY p.player",
            (game, game),
        )
    )


def _spent(store: Store, game: str) -> dict[str, _Spent]:
    """What each player spent in a game."""
    refused = dict(
        store.query(
            "SELECT d.player, count(*) FROM decisions d JOIN matches m ON m.id = d.match "
            "WHERE m.game = ? AND m.state = 'done' AND d.illegal IS NOT NULL GROUP BY d.player",
            (game,),
        )
    )
    return {
        player: (decisions, refused.get(player, 0), tokens, cost, timed, seconds)
        for player, decisions, tokens, cost, timed, seconds in store.query(
            "SELECT s.player, sum(s.decisions), sum(s.tokens), sum(s.cost), sum(s.timed), "
            "sum(s.seconds) FROM spending s JOIN matches m ON m.id = s.match "
            "WHERE m.game = ? AND m.state = 'done' GROUP BY s.player",
            (game,),
        )
    }


def _overall(season: Season, games: Mapping[str, GameReport], store: Store) -> tuple[Row, ...]:
    """The players over all games."""
    compared = []
    for name, game in games.items():
        if game.plan.score == "wins":
            known = [*season.rows(name), *game.partners]
            for _, deal, seats, one, other, values, _ in _played(store, game.plan, known):
                compared.append(((name, deal), one, other, *earned(seats, one, other, values)))
    everybody = list(season.players)
    strength = bradley_terry_with_intervals(Results.of(everybody, compared), seed=season.seed)
    skill = _skills(everybody, compared)
    spent = {name: _spent(store, name) for name in games}
    beliefs = _beliefs(store)
    by_player: dict[str, dict[str, Row]] = defaultdict(dict)
    for name, game in games.items():
        for row in game.rows:
            by_player[row.player][name] = row
    found = []
    for player, by_game in by_player.items():
        own = list(by_game.values())
        decisions = sum(row.decisions for row in own)
        spending = [spent[name].get(player, _NOTHING) for name in by_game]
        timed = sum(one[4] for one in spending)
        found.append(
            Row(
                player=player,
                games=len(own),
                episodes=sum(row.episodes for row in own),
                decisions=decisions,
                score=None,
                scaled=float(np.mean([row.scaled for row in own])),
                reward=None,
                wins=None,
                with_itself=None,
                with_others=None,
                with_held_out=None,
                bradley_terry=strength[player],
                weng_lin=skill[player],
                illegal=sum(row.illegal * row.decisions for row in own) / max(decisions, 1),
                forfeits=sum(row.forfeits for row in own),
                tokens=sum(row.tokens for row in own),
                cost=sum(row.cost for row in own),
                seconds=sum(one[5] for one in spending) / timed if timed else None,
                exploitability=None,
                beliefs=beliefs.get(player),
            )
        )
    return tuple(sorted(found, key=lambda row: (-(row.scaled or 0.0), -row.games)))
