"""A season on a Ray cluster: its machines play, and this process alone keeps the store.

A match is a task. It gets the season's text and what is there of its record, and returns the whole
record, which is written here before the match is marked as done. A worker that dies takes its match
with it, and the match is given to another one; so nothing is lost, and nothing is counted twice. If
this process dies, its claims run out, and `--resume` plays on.

Every machine needs the package, the seats of other packages that the season names, and the
environment variables under its players' `secrets`.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from manyhands.baselines.arena.run import (
    Say,
    Seats,
    announce,
    next_match,
    own_budgets,
    play_match,
    settle,
)
from manyhands.baselines.arena.schedule import Match
from manyhands.baselines.arena.season import Season, read_season
from manyhands.baselines.arena.store import Store, new_owner
from manyhands.core.env import ManyhandsError, SeatError
from manyhands.core.files import replace
from manyhands.core.record import read
from manyhands.core.redact import redact

_seats: dict[str, Seats] = {}  # of this process; what they compile is kept from task to task


def play_remotely(
    text: str, match: Match, begun: bytes
) -> tuple[bytes, float, str, dict[str, str]]:
    """Play a match in a worker: (its record, seconds, the error that ended it or "", the players
    whose seats may spend no more)."""
    began = time.monotonic()
    seats = _seats.setdefault(text, Seats(read_season(text)))
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "match.jsonl"
        record.write_bytes(begun)
        error = ""
        try:
            play_match(seats, match, record)
        except ManyhandsError as failed:
            error = redact(f"{type(failed).__name__}: {failed}")
        return record.read_bytes(), time.monotonic() - began, error, own_budgets(seats, match)


def work_on_cluster(
    season: Season,
    folder: str | os.PathLike[str],
    games: Collection[str],
    address: str,
    tasks: int,
    say: Say | None,
    lease: float,
) -> None:
    """Play what is left of a season on a cluster.

    Args:
        address: of the cluster; "auto" is the one that is running, "local" one of this machine.
        tasks: matches at once; 0: as many as the cluster has CPUs.

    Raises:
        SeatError: Ray is not installed.
        ManyhandsError: there is no cluster at the address.
    """
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise SeatError('--ray needs Ray: pip install "manyhands[ray]"') from error
    ours = not ray.is_initialized()
    if ours:
        try:
            ray.init(
                address=address,
                num_cpus=(tasks or None) if address == "local" else None,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            )
        except ConnectionError as error:
            raise ManyhandsError(
                f"no Ray cluster answers at {address!r}: {error}. `ray start --head` begins one, "
                "and --ray local plays on one of this machine alone"
            ) from error
    try:
        limit = tasks or max(1, int(ray.cluster_resources().get("CPU", 1)))
        # Ray's own retries would not count against the attempts of a match.
        remote = ray.remote(num_cpus=1, max_retries=0)(play_remotely)
        _drive(ray, remote, season, folder, games, limit, say, lease)
    finally:
        if ours:
            ray.shutdown()


def _drive(
    ray: Any,
    remote: Any,
    season: Season,
    folder: str | os.PathLike[str],
    games: Collection[str],
    limit: int,
    say: Say | None,
    lease: float,
) -> None:
    """Hand out matches, and store what comes back."""
    owner = new_owner()
    running: dict[Any, Match] = {}
    text = ray.put(season.text)
    own: dict[str, dict[str, str]] = {game: {} for game in season.games}
    with Store(folder, lease=lease) as store:
        try:
            while True:
                while len(running) < limit:
                    match = next_match(season, store, owner, games, own, wait=not running)
                    if match is None:
                        break
                    record = store.record(match)
                    begun = record.read_bytes() if record.exists() else b""
                    running[remote.remote(text, match, begun)] = match
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1, timeout=lease / 4)
                for match in running.values():
                    store.renew(match.id, owner)
                for task in done:
                    match = running.pop(task)
                    spent = _settle(ray, task, match, season, store, owner, say, games)
                    own[match.game] |= spent
        finally:
            for match in running.values():
                store.give_back(match.id, owner)


def _settle(
    ray: Any,
    task: Any,
    match: Match,
    season: Season,
    store: Store,
    owner: str,
    say: Say | None,
    games: Collection[str],
) -> dict[str, str]:
    """Store what a task gives; returns the players of its match whose seats may spend no more."""
    try:
        data, seconds, error, spent = ray.get(task)
    except ray.exceptions.RayTaskError:  # a fault of ours, in the worker
        raise
    except ray.exceptions.RayError:  # the worker is gone
        store.give_back(match.id, owner, crashed=True)
        announce(say, store, match, games, "its worker ended; it is played again")
        return {}
    record = store.record(match)
    replace(record, data)
    if error:
        store.fail(match.id, owner, error)
        announce(say, store, match, games, f"FAILED: {error}")
        return spent
    episodes = [one for one in read(record) if one.result.episode in match.numbers] if data else []
    what = settle(season, store, owner, match, episodes, seconds, spent)
    if what is not None:
        announce(say, store, match, games, what)
    return spent
