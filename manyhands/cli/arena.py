"""`manyhands arena`: a season of matches between any players, with ratings and a report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from manyhands.cli.common import command
from manyhands.core.config import nearest, whole
from manyhands.core.env import ConfigError, names_of


def add(commands: Any) -> None:
    parser = command(
        commands,
        "arena",
        run,
        "Play a season: every player against the others, rated, with a report as a page.",
        "A season is a TOML file of games, players, pairings and budgets (docs/arena.md). Its\n"
        "matches are kept in a store, so that a run that was killed continues with --resume, and\n"
        "several processes may play at once. At the end stand tables, CSV files and one HTML page\n"
        "with the matches behind each cell.\n\n"
        "For example: manyhands arena benchmarks/seasons/first.toml --workers 2, after\n"
        "manyhands solve leduc_holdem --iterations 1000 --out runs/leduc, whose table it seats.",
    )
    parser.add_argument("season", type=Path, help="the season's file (.toml)")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="of the store (default runs/arena/NAME)"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the season in the folder, also beside processes that play it now",
    )
    parser.add_argument("--games", nargs="+", metavar="GAME", help="only these games of the season")
    parser.add_argument(
        "--workers", type=int, help="processes (default 1); with --ray matches at once"
    )
    parser.add_argument(
        "--ray",
        nargs="?",
        const="auto",
        metavar="ADDRESS",
        help='play on a Ray cluster: its address, "auto" (the one that runs, the default), or '
        '"local" (one of this machine alone)',
    )
    parser.add_argument("--plan", action="store_true", help="show what would be played, and end")
    parser.add_argument("--report", action="store_true", help="play nothing, write the report anew")
    parser.add_argument(
        "--replays", type=int, default=2, help="of each line-up on the page (default 2; 0: none)"
    )


def run(options: argparse.Namespace) -> int:
    from manyhands.baselines.arena.launch import run_season
    from manyhands.baselines.arena.page import save
    from manyhands.baselines.arena.report import report
    from manyhands.baselines.arena.schedule import all_matches
    from manyhands.baselines.arena.season import read_season

    whole("--replays", options.replays, 0)
    season = read_season(options.season)
    for name in options.games or ():
        if name not in season.games:
            raise ConfigError(
                f"the season has no game {name!r};{nearest(name, season.games)} its games are "
                f"{names_of(list(season.games))}"
            )
    folder = options.out or Path("runs") / "arena" / season.name
    if options.plan:
        for name, plan in season.games.items():
            if options.games and name not in options.games:
                continue
            planned = [match for match in all_matches(season) if match.game == name]
            episodes = sum(match.episodes for match in planned)
            more = f", and {plan.rounds} Swiss rounds" if plan.pairing == "swiss" else ""
            print(
                f"{name}: {', '.join(plan.players)}: {len(planned)} matches, "
                f"{episodes} episodes{more}"
            )
        return 0
    failed = 0
    if not options.report:
        played = run_season(
            season,
            folder,
            resume=options.resume,
            workers=(0 if options.ray else 1) if options.workers is None else options.workers,
            games=options.games,
            ray=options.ray,
            say=lambda line: print(line, file=sys.stderr, flush=True),
        )
        print(played)
        failed = played.failed
    shown = report(folder, season)
    shown.show()
    for path in save(shown, replays=options.replays, say=print):
        print(f"wrote {path}")
    return 1 if failed else 0
