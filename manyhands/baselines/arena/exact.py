"""Exploitability of players, exactly, from the records of their matches (poker)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from manyhands.baselines.arena.store import Store, record_name
from manyhands.baselines.game_theory.analysis import analyse
from manyhands.baselines.game_theory.policies import exploitability, uniform
from manyhands.core.env import ConfigError, Env, RecordError
from manyhands.envs.poker.env import Poker


def exploitabilities(
    env: Env, played: Iterable[tuple[int, Sequence[str]]], store: Store
) -> tuple[dict[str, float], list[str]]:
    """Chips a hand that a best response wins from each player's observed policy above the value of
    the game, the mean over seats ({} where a game cannot be solved), and why records could not be
    read: their matches are left out.

    The policy of a player is pooled from all its matches, each information set weighted by how
    often it was visited; where it never acted it is uniform, so that few hands make it too large.

    Args:
        played: (id, line-up) of matches, with repeats.
    """
    if not isinstance(env.unwrapped, Poker):
        return {}, []
    policies: dict[str, np.ndarray] = {}
    visits: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(()))
    tree, unread = None, []
    for id, lineup in dict(played).items():
        try:
            found = analyse(store.folder / "records" / record_name(id))
        except ConfigError:  # too large to unroll
            return {}, []
        except RecordError as error:
            unread.append(f"{record_name(id)}: {error}")
            continue
        tree = found.tree
        for name, seat in zip(lineup, found.seats, strict=True):
            often = seat.counts.sum(axis=1, keepdims=True).astype(np.float64)
            policies[name] = policies.get(name, 0.0) + often * seat.policy
            visits[name] = visits[name] + often
    if tree is None:
        return {}, unread
    filled = uniform(tree)
    by_player = {
        name: exploitability(
            tree, np.where(visits[name] > 0, total / np.maximum(visits[name], 1e-300), filled)
        )
        for name, total in policies.items()
    }
    return by_player, unread
