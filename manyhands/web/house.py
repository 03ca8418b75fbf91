"""All tables of a server, in its own process or in others."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyhands.core.env import ConfigError, Env
from manyhands.core.episode import EpisodeResult
from manyhands.web.tables import PERSON, Payload, Table, looked_at, sweep
from manyhands.web.workers import FarTable, Worker


@dataclass(frozen=True)
class Offer:
    """A game that can be played.

    Attributes:
        name: what it is called: its id, and what differs from the default.
        env: the environment.
        seats: the names of the players that may take a seat beside people.
    """

    name: str
    env: Env
    seats: tuple[str, ...]

    def words(self) -> Payload:
        """For a page."""
        about = (type(self.env.unwrapped).__doc__ or "").strip().partition("\n\n")[0]
        return {
            "name": self.name,
            "about": " ".join(re.sub(r"[`*]", "", about).split()),
            "agents": list(self.env.agents),
            "seats": [PERSON, *self.seats],
            "pace": self.env.pace,
            "talk": self.env.chat is not None,
        }


class House:
    """All tables of a server.

    Args:
        offers: the games.
        most: tables at once.
        patience, leaver: of all tables, as in `Table`.
        idle: seconds after which a table where nothing happens is closed.
        record: a folder for records, or None.
        processes: how many others play the games, at most; with 0 this one plays them all.
        alone: how many tables this process plays itself. Others are started when there are more:
            the next one whenever each has `alone`. With 0 all of them are there from the start.
    """

    def __init__(
        self,
        offers: Iterable[Offer],
        *,
        most: int = 64,
        patience: float = 60.0,
        leaver: str = "bot",
        idle: float = 1800.0,
        record: Path | None = None,
        processes: int = 0,
        alone: int = 0,
    ):
        self.offers = {offer.name: offer for offer in offers}
        self.most, self.patience, self.idle, self.record = most, patience, idle, record
        self.leaver = leaver
        self.tables: dict[str, Table | FarTable] = {}  # by their ids
        self._lock = threading.Lock()
        self._processes, self._alone = processes, alone
        self._workers = [] if alone else [Worker(idle) for _ in range(processes)]

    def open(
        self,
        name: str,
        seats: Sequence[str],
        clock: float | None,
        seed: int,
        spectators: bool = False,
    ) -> Table | FarTable:
        """A new table.

        Raises:
            ConfigError: there is no such game or seat, or no room.
        """
        offer = self.offers.get(name)
        if offer is None:
            raise ConfigError(f"there is no game {name!r}; there are {', '.join(self.offers)}")
        for seat in seats:
            if seat not in (PERSON, *offer.seats):
                raise ConfigError(f"no seat {seat!r}; there are {PERSON}, {', '.join(offer.seats)}")
        return self.host(
            offer.env,
            tuple(seats),
            seed=seed,
            clock=clock,
            patience=self.patience,
            leaver=self.leaver,
            stand_in=offer.env.scripted_policy and "bot",
            pace=offer.env.pace,
            record=self.record,
            spectators=spectators,
        )

    def host(
        self,
        env: Env,
        names: Sequence[str],
        ended: Callable[[Any, EpisodeResult | None], None] | None = None,
        **options: Any,
    ) -> Table | FarTable:
        """A new table, in this process or, of the others, in the one that has fewest of them.

        Args:
            env, names, ended, options: as of `Table`.

        Raises:
            ConfigError: there is no room, or no such table.
        """
        self.sweep()
        if len(self.tables) >= self.most:
            raise ConfigError(f"all {self.most} tables are taken; try again later")
        table: Table | FarTable
        if self._processes and len(self._here()) >= self._alone:
            table = self._worker().table(env, names, ended, options)
        else:
            table = Table(env, tuple(names), ended=ended, **options)
        self.tables[table.id] = table
        return table

    def _worker(self) -> Worker:
        with self._lock:
            for place, worker in enumerate(self._workers):
                if not worker.alive:
                    self._workers[place] = Worker(self.idle)
            loads = [worker.load for worker in self._workers]
            if len(loads) < self._processes and min(loads, default=self._alone) >= self._alone:
                self._workers.append(Worker(self.idle))
            return min(self._workers, key=lambda worker: worker.load)

    @property
    def processes(self) -> list[int]:
        """The numbers, in the system, of the processes that play."""
        return [worker.process for worker in self._workers]

    def live(self) -> list[Payload]:
        """The games that are being played and that anybody may look on at."""
        here = looked_at(self._here().values())
        return here + [one for worker in self._working() for one in worker.ask("live")]

    def sweep(self) -> None:
        """Forget tables where nothing has happened for long."""
        here = sweep(self._here(), self.idle)
        for worker in self._working():
            worker.sweep()
        self.tables = {
            id: table
            for id, table in self.tables.items()
            if (not table.closed if isinstance(table, FarTable) else id in here)
        }

    def _here(self) -> dict[str, Table]:
        """The tables of this process."""
        return {id: table for id, table in self.tables.items() if isinstance(table, Table)}

    def _working(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.alive]

    def close(self) -> None:
        """Close all tables."""
        for table in self.tables.values():
            table.close()
        self.tables.clear()
        for worker in self._workers:
            worker.close()
