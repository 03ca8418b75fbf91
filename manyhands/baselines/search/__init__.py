"""Search with the environment as its model: trees of forks (`tree`), UCT and PUCT (`Search`)."""

from manyhands.baselines.search.forks import BACKUPS, Forks, tree
from manyhands.baselines.search.seat import Found, Search, search

__all__ = ["BACKUPS", "Forks", "Found", "Search", "search", "tree"]
