"""Processes that play: tables elsewhere, which the server knows as `FarTable`.

One Python process steps and draws on little more than one core. A server with several has the
games of each in one of them; its own process holds the sockets, and passes on what is already
encoded. The two speak over a pipe: a line of JSON, and for what goes to a browser its words and its
picture. A process that is gone loses the games that it played, and no other.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import functools
import importlib
import itertools
import json
import multiprocessing
import secrets
import signal
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import jax

from manyhands.core.env import ConfigError, Env, ManyhandsError
from manyhands.core.episode import EpisodeResult
from manyhands.core.registry import from_spec, register, registered
from manyhands.web.tables import Payload, Table, looked_at, sweep
from manyhands.web.visits import Part, Visit

GONE = "the process that played this game has ended"
# Of JAX, as they are in the server: where compiled programs are kept.
SETTINGS = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
)
PATIENCE = 300.0  # seconds until a process has answered: it may be loading a game


@dataclasses.dataclass
class FarGuest:
    """The seat of a person at a table elsewhere."""

    index: int
    token: str


class FarTable:
    """A table that another process plays; as far as the server needs it, a `Table`."""

    def __init__(self, worker: Worker, env: Env, ended: Ended | None, told: Payload):
        self.worker, self.env, self.ended = worker, env, ended
        self.id: str = told["id"]
        self.watch: str = told["watch"]
        self.open: bool = told["open"]
        self.guests = {int(i): FarGuest(int(i), token) for i, token in told["seats"].items()}
        self.closed, self.failure = False, ""

    def guest(self, token: str) -> FarGuest | None:
        """The seat that a token is for."""
        for guest in self.guests.values():
            if secrets.compare_digest(guest.token.encode(), token.encode()):
                return guest
        return None

    def close(self) -> None:
        """End the game, and play no other."""
        self.closed = True
        self.worker.tell(close=self.id)


Ended = Callable[[Any, EpisodeResult | None], None]


class FarVisit:
    """A browser at a table elsewhere, by the token of its place there; as far as the server needs
    it, a `Visit`."""

    def __init__(self, table: FarTable, token: str):
        self._table, self._token, self._worker = table, token, table.worker
        self._loop = asyncio.get_running_loop()
        self._parts: asyncio.Queue[Part] = asyncio.Queue()
        self._number = self._worker.number()

    async def come(self) -> None:
        self._worker.visits[self._number] = self
        self._worker.tell(visit=self._number, table=self._table.id, seat=self._token)

    def hear(self, said: Payload) -> None:
        self._worker.tell(visit=self._number, hear=said)

    def leave(self) -> None:
        if self._worker.visits.pop(self._number, None) is not None:
            self._worker.tell(visit=self._number, leave=True)

    def put(self, part: Part) -> None:
        """Something is to be sent; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._parts.put_nowait, part)

    async def parts(self) -> AsyncIterator[Part]:
        while True:
            part = await self._parts.get()
            yield part
            self._worker.tell(visit=self._number, sent=True)


class Worker:
    """Another process, seen from the server.

    Args:
        idle: of its tables, as in `House`.
    """

    def __init__(self, idle: float):
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        settings = {name: getattr(jax.config, name) for name in SETTINGS}
        self._process = context.Process(target=work, args=(theirs, idle, settings), daemon=True)
        self._process.start()
        theirs.close()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._calls: dict[int, concurrent.futures.Future[Any]] = {}
        self.tables: dict[str, FarTable] = {}
        self.visits: dict[int, FarVisit] = {}
        self.alive = True
        threading.Thread(target=self._read, daemon=True, name="worker").start()

    @property
    def process(self) -> int:
        """Its number in the system."""
        return self._process.pid or 0

    def number(self) -> int:
        """One that nobody had before."""
        return next(self._numbers)

    def tell(self, **told: Any) -> None:
        """Send something; to a process that is gone, nothing."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._pipe.send_bytes(json.dumps(told).encode())

    def ask(self, name: str, **given: Any) -> Any:
        """Call a function of `_Desk` there.

        Raises:
            ConfigError: what it raised, or the process is gone.
        """
        number, answer = self.number(), concurrent.futures.Future[Any]()
        self._calls[number] = answer
        if self.alive:
            self.tell(call=number, name=name, given=given)
        else:
            self._calls.pop(number, None)
            raise ConfigError(GONE)
        try:
            return answer.result(PATIENCE)
        except TimeoutError as error:
            raise ConfigError(f"a process of the server did not answer to {name}") from error
        finally:
            self._calls.pop(number, None)

    def table(
        self, env: Env, names: Sequence[str], ended: Ended | None, options: Mapping[str, Any]
    ) -> FarTable:
        """A new table there.

        Raises:
            ConfigError: as `Table`, and where the environment cannot be made again elsewhere.
        """
        record = options.get("record")
        plain = {**options, "record": None if record is None else str(record)}
        told = self.ask("host", spec=env.spec(), kinds=_kinds(env), names=names, options=plain)
        table = FarTable(self, env, ended, told)
        self.tables[table.id] = table
        return table

    @property
    def load(self) -> int:
        """How many tables it has."""
        return len(self.tables)

    def sweep(self) -> None:
        """Forget the tables that it has closed."""
        before = list(self.tables.items())
        with contextlib.suppress(ConfigError):  # gone: then they are all forgotten
            there = set(self.ask("sweep"))
            for id, table in before:
                if id not in there:
                    table.closed = True
                    self.tables.pop(id, None)

    def close(self) -> None:
        """End the process, and the games in it."""
        with self._lock, contextlib.suppress(OSError):
            self._pipe.send_bytes(b"{}")
        self._process.join(2)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(2)

    def _read(self) -> None:
        """Pass on what comes from there, until it ends."""
        while True:
            try:
                message = self._pipe.recv_bytes()
            except (EOFError, OSError):
                break
            head, _, rest = message.partition(b"\n")
            told = json.loads(head)
            if "visit" in told:
                visit = self.visits.get(told["visit"])
                if visit is not None:
                    words, _, data = rest.partition(b"\n")
                    visit.put((words.decode(), data))
            elif "call" in told:
                answer = self._calls.get(told["call"])
                if answer is not None and "error" in told:
                    answer.set_exception(ConfigError(told["error"]))
                elif answer is not None:
                    answer.set_result(told["value"])
            else:  # what is called may itself ask this process
                threading.Thread(target=self._ended, args=(told,), daemon=True).start()
        self._gone()

    def _ended(self, told: Payload) -> None:
        """A game has ended there, which waits until that is noted: browsers are told after it."""
        table = self.tables.get(told["ended"])
        if table is not None:
            table.failure = told["failure"]
            if table.ended is not None:
                table.ended(table, _result(told["result"]))
        self.tell(noted=told["ended"])

    def _gone(self) -> None:
        self.alive = False
        for answer in list(self._calls.values()):
            if not answer.done():
                answer.set_exception(ConfigError(GONE))
        for table in list(self.tables.values()):
            if table.closed:
                continue
            table.closed, table.failure = True, GONE
            if table.ended is not None:
                table.ended(table, None)
        failed = json.dumps({"type": "failed", "reason": GONE})
        for visit in list(self.visits.values()):
            visit.put((failed, b""))
        self.visits.clear()
        self.tables.clear()


def _kinds(env: Env) -> dict[str, str]:
    """Where the classes of an environment and of what it wraps are: ids and entry points."""
    found = {}
    at: Any = env
    while at is not None:
        kind = type(at)
        found[at.id] = f"{kind.__module__}:{kind.__qualname__}"
        at = getattr(at, "env", None)
    return found


def _result(told: Any) -> EpisodeResult | None:
    """An `EpisodeResult` that came as JSON."""
    if told is None:
        return None
    fields: dict[str, Any] = {
        key: tuple(one) if isinstance(one, list) else one for key, one in told.items()
    }
    fields["terms"] = {key: tuple(values) for key, values in told["terms"].items()}
    return EpisodeResult(**fields)


# ---- in the other process ------------------------------------------------------------------------


def work(pipe: Connection, idle: float, settings: Mapping[str, Any]) -> None:
    """Play what is asked for, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    for name, value in settings.items():
        jax.config.update(name, value)
    asyncio.run(_Desk(pipe, idle).serve())
    # Games are cut off where they are, also in the middle of compiled code.
    signal.raise_signal(signal.SIGTERM)


class _Desk:
    """Takes what the server asks for."""

    def __init__(self, pipe: Connection, idle: float):
        self._pipe, self._lock = pipe, threading.Lock()
        self._tables: dict[str, Table] = {}
        self._hosting = threading.Lock()
        self._idle = idle
        self._noted: dict[str, threading.Event] = {}
        self._visits: dict[int, tuple[Visit, asyncio.Task[None], asyncio.Semaphore]] = {}

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def read() -> None:
            with contextlib.suppress(EOFError, OSError):
                while told := json.loads(self._pipe.recv_bytes()):
                    if "hear" in told:  # at once, and not when the next picture is made
                        known = self._visits.get(told["visit"])
                        if known is not None:
                            known[0].hear(told["hear"])
                    elif "noted" in told:
                        if (noted := self._noted.get(told["noted"])) is not None:
                            noted.set()
                    else:
                        loop.call_soon_threadsafe(self._take, told)
            loop.call_soon_threadsafe(done.set_result, None)

        threading.Thread(target=read, daemon=True, name="pipe").start()
        await done
        for table in self._tables.values():
            table.close()

    def _take(self, told: Payload) -> None:
        if "call" in told:
            function = functools.partial(getattr(self, told["name"]), **told["given"])
            threading.Thread(target=self._answer, args=(told["call"], function)).start()
        elif "close" in told:
            table = self._tables.get(told["close"])
            if table is not None:
                table.close()
        elif "table" in told:
            self._come(told["visit"], told["table"], told["seat"])
        elif told["visit"] in self._visits:
            visit, task, sent = self._visits[told["visit"]]
            if "sent" in told:
                sent.release()
            else:
                del self._visits[told["visit"]]
                task.cancel()
                visit.leave()

    def _answer(self, call: int, function: Callable[[], Any]) -> None:
        try:
            answer = {"value": function()}
        except (ManyhandsError, ValueError) as error:
            answer = {"error": str(error)}
        self._send(json.dumps({"call": call, **answer}).encode())

    def _send(self, message: bytes) -> None:
        with self._lock, contextlib.suppress(OSError):
            self._pipe.send_bytes(message)

    # ---- what can be asked for -------------------------------------------------------------------

    def host(
        self,
        spec: Mapping[str, Any],
        kinds: Mapping[str, str],
        names: Sequence[str],
        options: Mapping[str, Any],
    ) -> Payload:
        """A new table."""
        env = _environment(json.dumps(spec), json.dumps(kinds))
        record = options.get("record")
        options = {**options, "record": None if record is None else Path(record)}
        table = Table(env, tuple(names), ended=self._ended, **options)
        with self._hosting:
            self._tables[table.id] = table
        seats = {i: guest.token for i, guest in table.guests.items()}
        return {"id": table.id, "watch": table.watch, "open": table.open, "seats": seats}

    def live(self) -> list[Payload]:
        return looked_at(list(self._tables.values()))

    def sweep(self) -> list[str]:
        """The tables that there are, after those where nothing happens were closed."""
        with self._hosting:
            self._tables = sweep(self._tables, self._idle)
        return list(self._tables)

    # ---- what happens ----------------------------------------------------------------------------

    def _ended(self, table: Any, result: EpisodeResult | None) -> None:
        told = None if result is None else dataclasses.asdict(result)
        about = {"ended": table.id, "failure": table.failure, "result": told}
        noted = self._noted[table.id] = threading.Event()
        self._send(json.dumps(about, default=float).encode())
        noted.wait(PATIENCE)
        self._noted.pop(table.id, None)

    def _come(self, number: int, id: str, token: str) -> None:
        table = self._tables.get(id)
        if table is None:
            told = json.dumps({"type": "failed", "reason": "this table was closed"})
            self._send(_part(number, told, b""))
            return
        visit = Visit(table, table.guest(token), aside=False)
        sent = asyncio.Semaphore(1)
        task = asyncio.get_running_loop().create_task(self._show(number, visit, sent))
        self._visits[number] = visit, task, sent

    async def _show(self, number: int, visit: Visit, sent: asyncio.Semaphore) -> None:
        """Send what a browser is to see; each part is made when the one before has left."""
        await visit.come()
        parts = visit.parts()
        while True:
            await sent.acquire()
            self._send(_part(number, *await anext(parts)))


def _part(number: int, words: str, data: bytes) -> bytes:
    return b"\n".join((json.dumps({"visit": number}).encode(), words.encode(), data))


@functools.lru_cache(maxsize=256)
def _environment(spec: str, kinds: str) -> Env:
    """The environment of a spec; one for all its tables, so that it is compiled once."""
    for id, entry_point in json.loads(kinds).items():
        importlib.import_module(entry_point.partition(":")[0])  # it may register what it has
        if id not in registered() and id not in registered(wrappers=True):
            register(id, entry_point)
    return from_spec(json.loads(spec))
