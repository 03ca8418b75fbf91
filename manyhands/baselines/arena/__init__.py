"""The arena: seasons of matches between any players, kept in a store, rated and reported.

`season.py` reads a season's file, `schedule.py` draws up its pairings, `store.py` keeps its matches
in SQLite, `run.py` plays them (`cluster.py` on a Ray cluster) for `launch.py`, `ratings.py` and
`exact.py` rate the players, `report.py` makes the tables, and `page.py` writes them as files and
one HTML page, with `replays.py`.
"""

from manyhands.baselines.arena.launch import run_season
from manyhands.baselines.arena.season import Season, read_season

__all__ = ["Season", "read_season", "run_season"]
