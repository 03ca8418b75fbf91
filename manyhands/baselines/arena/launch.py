"""A season from its file to its last match: in this process, in several, or on a cluster."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
from collections.abc import Collection
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from manyhands.baselines.arena.cluster import work_on_cluster
from manyhands.baselines.arena.run import Say, exhausted, rounds_so_far, work
from manyhands.baselines.arena.schedule import all_matches
from manyhands.baselines.arena.season import Season, read_season
from manyhands.baselines.arena.store import LEASE, Store
from manyhands.core.config import nearest, whole
from manyhands.core.env import ConfigError, ManyhandsError, names_of


def _work(text: str, folder: str, games: list[str], lease: float, told: Connection | None) -> None:
    """`work`, in a process of its own; its lines go to `told`."""

    def say(line: str) -> None:
        if told is not None:
            with contextlib.suppress(OSError):  # who began this process is gone; it plays on
                told.send(line)

    work(read_season(text), folder, games, None if told is None else say, lease)


# ---- a season ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Played:
    """What a run has left.

    Attributes:
        folder: of the store.
        done, open, failed: matches.
        spent: players whose budget is spent, and how; "" is the season.
        errors: of failed matches, by line-up.
        stopped: seats that could spend no more by their own options (`max_total_tokens=`), so that
            matches are left open.
    """

    folder: Path
    done: int
    open: int
    failed: int
    spent: dict[str, str]
    errors: dict[str, str]
    stopped: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{self.done} matches done, {self.open} open, {self.failed} failed ({self.folder})"
        ]
        for name, words in self.spent.items():
            whose = f"of the player {name!r}" if name else "of the season"
            lines.append(f"the budget {whose} is spent ({words}); a larger one and --resume go on")
        for words in self.stopped[:5]:
            lines.append(f"{words}; --resume plays on, and its budget begins anew")
        for lineup, error in list(self.errors.items())[:5]:
            lines.append(f"failed: {lineup}: {error}; --resume tries again")
        return "\n".join(lines)


def run_season(
    season: Season | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    workers: int = 1,
    games: Collection[str] | None = None,
    ray: str | None = None,
    say: Say | None = None,
    lease: float = LEASE,
) -> Played:
    """Play a season, or what is missing of it.

    Args:
        season: read by `read_season`, or its file.
        folder: of the store.
        resume: continue the store in `folder`, or begin it if there is none; failed matches are
            tried again. Several processes may work on one store so.
        workers: processes; with 1 it is this one.
        games: some of the season's games, by name.
        ray: spread matches over a Ray cluster: its address, "auto" for the one that is running,
            "local" for one of this machine; `workers` is then how many matches run at once (0: as
            many as it has CPUs).
        say: called with a line for each match, always in this process.
        lease: seconds that a claim is valid without being renewed.

    Raises:
        ConfigError, SeatError: the season makes no sense, or a player cannot play its games.
        StoreError: the folder holds a season and `resume` is not given, or something else.
    """
    if not isinstance(season, Season):
        season = read_season(season)
    workers = whole("workers", workers, 0 if ray else 1)
    wanted = list(season.games) if games is None else list(games)
    for name in wanted:
        if name not in season.games:
            raise ConfigError(
                f"the season has no game {name!r};{nearest(name, season.games)} its games are "
                f"{names_of(list(season.games))}"
            )
    season.check_seats(wanted)
    with Store(folder, season, resume, lease) as store:
        store.reopen()
        known = [*all_matches(season), *rounds_so_far(season, store)]
        store.add((match for match in known if match.game in wanted), wanted)
    if ray:
        work_on_cluster(season, folder, wanted, ray, workers, say, lease)
    elif workers == 1:
        work(season, folder, wanted, say, lease)
    else:
        _spawn(season, folder, wanted, workers, say, lease)
    with Store(folder) as store:
        counts = store.states(wanted)
        errors = store.query("SELECT game, lineup, error FROM matches WHERE state = 'failed'")
        stopped = store.query(
            "SELECT game, error FROM matches WHERE state = 'open' AND error LIKE 'the seat of%' "
            "ORDER BY id"
        )
        return Played(
            Path(folder),
            counts["done"],
            counts["open"] + counts["claimed"],
            counts["failed"],
            exhausted(season, store),
            {f"{game} {lineup}": error for game, lineup, error in errors if game in wanted},
            tuple(dict.fromkeys(f"{game}: {why}" for game, why in stopped if game in wanted)),
        )


def _spawn(
    season: Season,
    folder: str | os.PathLike[str],
    games: list[str],
    workers: int,
    say: Say | None,
    lease: float,
) -> None:
    """Play in processes of their own; one that dies is noticed by the others."""
    context = multiprocessing.get_context("spawn")  # a fork lacks the threads of JAX
    processes: list[Any] = []
    lines: list[Any] = []  # one for each process: who is killed while it writes harms none
    try:
        for _ in range(workers):
            mine, theirs = context.Pipe(duplex=False) if say is not None else (None, None)
            arguments = (season.text, os.fspath(folder), games, lease, theirs)
            process = context.Process(target=_work, args=arguments)
            process.start()
            processes.append(process)
            if mine is not None and theirs is not None:
                theirs.close()  # so that the other end's last copy is the process's
                lines.append(mine)
        while lines and say is not None:
            line: Any
            for line in wait(lines):
                try:
                    said = line.recv()
                except (EOFError, OSError):
                    lines.remove(line)
                    continue
                say(said)
        for process in processes:
            process.join()
    except BaseException:
        for process in processes:
            if process.is_alive():
                process.terminate()
        raise
    ended = [process.exitcode for process in processes if process.exitcode]
    if len(ended) == len(processes):
        raise ManyhandsError(
            f"all {workers} processes ended by themselves (exit codes {ended}); what they finished "
            "is kept, and --resume continues"
        )
