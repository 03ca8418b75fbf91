"""Who meets whom: round robins, pools, and Swiss rounds.

A **line-up** names the player of every agent. Two players meet in several line-ups, with the same
deals (the same seeds of the environment): duplicate matches, as in bridge, where what the cards
gave one side, they give the other one too.

- Games of two sides (one agent each, or two teams): both seat orders.
- Games of more agents without sides: each of the two as every agent in turn, among copies of the
  other one, as a focal player is evaluated among a background population (Melting Pot, Leibo et
  al., "Scalable Evaluation of Multi-Agent Reinforcement Learning with Melting Pot", 2021).
- A player with itself, and a player alone: one line-up.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from manyhands.baselines.arena.season import GamePlan, Season
from manyhands.baselines.evaluation.league import sides_of
from manyhands.core.env import ConfigError, Env


@dataclasses.dataclass(frozen=True)
class Match:
    """Some episodes of one line-up.

    Attributes:
        game: its name in the season.
        round: of a Swiss game, from 1; 0 in others.
        row, column: the two players; they may be one and the same.
        lineup: the player of each agent.
        first, episodes: number of the first episode (a deal), and how many.
        id: in the store; 0 before it is there.
    """

    game: str
    round: int
    row: str
    column: str
    lineup: tuple[str, ...]
    first: int
    episodes: int
    id: int = 0

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + self.episodes)


def has_sides(env: Env) -> bool:
    """Whether a game has two sides, each of one player."""
    try:
        sides_of(env)
    except ConfigError:
        return False
    return True


def lineups(
    env: Env, row: str, column: str, duplicate: bool = True, partner: bool = False
) -> list[tuple[str, str, tuple[str, ...]]]:
    """(row, column, line-up) of all seat orders of two players.

    Args:
        duplicate: all seat orders; otherwise the first alone.
        partner: the column is not rated: in games of more agents, it is never the single one.
    """
    n = env.num_agents
    if row == column:
        return [(row, column, (row,) * n)]
    found = []
    if has_sides(env):
        for side in sides_of(env):
            found.append((row, column, tuple(row if a in side else column for a in range(n))))
        return found if duplicate else found[:1]
    for agent in range(n if duplicate else 1):
        for single, others in ((row, column), (column, row))[: 1 if partner else 2]:
            seats = tuple(single if a == agent else others for a in range(n))
            found.append((single, others, seats))
    return found


def pairs(season: Season, plan: GamePlan) -> list[tuple[str, str]]:
    """The pairs of a round robin or a pool; held-out players are met by everybody else."""
    rows, partners = season.rows(plan.name), season.partners(plan.name)
    if plan.env.num_agents == 1:
        return [(row, row) for row in (*rows, *partners)]
    found = []
    if plan.pairing != "pool":
        found = [(a, b) for i, a in enumerate(rows) for b in rows[i + 1 :]]
    if plan.self_play:
        found += [(row, row) for row in rows]
    return found + [(row, partner) for row in rows for partner in partners]


def swiss_pairs(
    players: Sequence[str], points: Mapping[str, float], met: Iterable[tuple[str, str]], salt: str
) -> list[tuple[str, str]]:
    """One round: players of like points meet, those who have met least often. With an odd number,
    the last one of those sits out who have sat out least.

    Args:
        points: so far, by player; missing ones have none.
        met: pairs of earlier rounds, repeats included.
        salt: orders players of equal points, the same in every process.
    """
    before = [frozenset(pair) for pair in met]

    def rank(name: str) -> tuple[float, str]:
        return -points.get(name, 0.0), hashlib.blake2b(f"{salt} {name}".encode()).hexdigest()

    order = sorted(players, key=rank)
    if len(order) % 2:
        order.remove(max(order, key=lambda name: (sum(name in p for p in before), *rank(name))))
    found = []
    while order:
        first = order.pop(0)
        other = min(order, key=lambda name: before.count(frozenset((first, name))))
        order.remove(other)
        found.append((first, other))
    return found


def matches(
    season: Season, plan: GamePlan, met: Iterable[tuple[str, str]], round: int = 0
) -> list[Match]:
    """The matches of some pairs: their line-ups, in blocks of `plan.block` deals."""
    partners = season.partners(plan.name)
    found = []
    for a, b in met:
        for row, column, lineup in lineups(plan.env, a, b, plan.duplicate, b in partners):
            found += blocks(plan, Match(plan.name, round, row, column, lineup, 0, 0))
    return found


def blocks(plan: GamePlan, match: Match) -> list[Match]:
    """All matches of a line-up: its deals, at most `plan.block` in each."""
    return [
        dataclasses.replace(match, first=first, episodes=min(plan.block, plan.episodes - first))
        for first in range(0, plan.episodes, plan.block)
    ]


def all_matches(season: Season) -> list[Match]:
    """What is known before anything is played: all but Swiss rounds."""
    found = []
    for plan in season.games.values():
        if plan.pairing != "swiss":
            found += matches(season, plan, pairs(season, plan))
        elif season.partners(plan.name):
            rows, partners = season.rows(plan.name), season.partners(plan.name)
            found += matches(season, plan, [(a, b) for a in rows for b in partners])
    return found


def key_of(match: Match) -> str:
    """What makes a match the same one in every process and continuation."""
    return json.dumps([match.game, match.round, match.row, match.column, match.lineup, match.first])
