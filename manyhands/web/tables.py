"""Tables: games with seats for people at browsers, each played in a thread of its own.

A table knows nothing of sockets. Whoever shows it gives it a `Listener` for a seat, or for a place
beside the table; a person's answers come in through `Guest.answer`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import io
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.env import ConfigError, Env, IllegalAction, ManyhandsError
from manyhands.core.episode import Moment
from manyhands.core.play import play, seat_policy
from manyhands.core.render import render
from manyhands.core.view import Reply, View

PERSON = "person"
SIZE = (640, 480)  # pixels of a picture
QUALITY = 80  # of WebP
_SECRET = 16  # bytes of a seat's token
# Pygame's fonts and surfaces are not made for several threads.
_PAINTING = threading.Lock()

Payload = dict[str, Any]


@dataclass(frozen=True)
class Picture:
    """What is shown at one moment to one who watches: words as JSON-ready data, and the picture,
    which is drawn when it is first asked for."""

    words: Payload
    paint: Callable[[], bytes]


Listener = Callable[[Picture | Payload], None]


def webp(image: np.ndarray) -> bytes:
    """A picture, u8[height, width, 3], as WebP."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(image).save(out, "WEBP", quality=QUALITY, method=0)
    return out.getvalue()


class _Once:
    """The picture of a moment, drawn and encoded at most once, by any thread."""

    def __init__(self, draw: Callable[[], np.ndarray]):
        self._draw: Callable[[], np.ndarray] | None = draw
        self._lock = threading.Lock()
        self._data = b""

    def __call__(self) -> bytes:
        with self._lock:
            if self._draw is not None:
                with _PAINTING:
                    image = self._draw()
                self._data, self._draw = webp(image), None
            return self._data


def choice_words(choice: Choice) -> Payload:
    """A choice for a page; `many` if its line stands for many, of which one is said in words."""
    many = choice.form is not None and choice.effect == choice.form.effect
    return {"text": choice.text, "effect": choice.effect, "many": many}


def seen(view: View, moment: Moment) -> Picture:
    """What one agent sees at a moment, and nothing more."""
    agent = view.index
    words = {
        "type": "view",
        "agent": view.agent,
        "step": moment.step,
        "text": view.text,
        "heard": [[m.sender, m.text] for m in view.untold(view.text)],
        "reward": float(moment.rewards[agent]),
        "over": moment.over,
        "to_move": bool(moment.frame.acting[agent]) and not moment.over,
        "choices": [choice_words(choice) for choice in view.choices] if not moment.over else [],
    }
    state, env = moment.frame.state, moment.env
    return Picture(words, _Once(lambda: render(env, state, agent, SIZE)))


def everything(moment: Moment, before: Moment | None) -> Picture:
    """What one who may know all sees at a moment: each agent's text, and what all did."""
    env, state = moment.env, moment.frame.state
    words = {
        "type": "view",
        "agent": "",
        "step": moment.step,
        "texts": {view.agent: view.text for view in moment.views},
        "did": told(moment, before),
        "rewards": dict(zip(env.agents, map(float, moment.rewards), strict=True)),
        "over": moment.over,
    }
    return Picture(words, _Once(lambda: render(env, state, None, SIZE)))


def told(moment: Moment, before: Moment | None) -> list[Payload]:
    """What each seat did in the step that led to a moment."""
    turn, rows = moment.turn, []
    if turn is None:
        return []
    for i, action in sorted(turn.actions.items()):
        words = turn.answers.get(i) or (before.views[i].words(action) if before else str(action))
        rows.append(
            {
                "agent": moment.env.agents[i],
                "seat": moment.seats[i],
                "words": words.removesuffix("; say: nothing"),
                "said": turn.said.get(i, ""),
                "refused": turn.illegal.get(i, ""),
            }
        )
    return rows


class _Person:
    """The policy of a person who is there: `Guest.route` leads to it or to the stand-in."""

    def __init__(self, guest: Guest):
        self._guest = guest

    async def act(self, views: Sequence[View]) -> list[Reply]:
        return await self._guest.act(views)


class Guest:
    """The seat of a person at a browser, who may leave and come back.

    Args:
        env: the environment.
        index: the agent's number.
        stand_in: the policy that plays while the person is away.
        patience: seconds until it does.
    """

    def __init__(self, env: Env, index: int, stand_in: Any, patience: float):
        self.name, self.index, self.token = PERSON, index, secrets.token_urlsafe(_SECRET)
        self.env, self.patience = env, patience
        self.listener: Listener | None = None
        self._stand_in, self._person = stand_in, _Person(self)
        self._left = time.monotonic()
        self._view: View | None = None  # what an answer is asked for
        self._answer: concurrent.futures.Future[Reply] | None = None
        self._early: tuple[str, str | None] | None = None  # an answer that came before the question
        self._lock = threading.Lock()
        self.here = self.closed = self._due = False

    def come(self, listener: Listener) -> None:
        """The person sits down, or another browser takes the seat over."""
        with self._lock:
            self.listener, self.here = listener, True

    def leave(self, listener: Listener) -> None:
        """The person is away, unless another browser has taken the seat over."""
        with self._lock:
            if self.listener is listener:
                self.listener, self.here, self._left = None, False, time.monotonic()

    def expect(self, to_move: bool) -> None:
        """Whether the person is about to be asked: an answer may come before the question."""
        with self._lock:
            self._due, self._early = to_move, None

    @property
    def away(self) -> bool:
        """Whether the person has been away for longer than the others wait."""
        return not self.here and time.monotonic() - self._left >= self.patience

    def route(self, view: View) -> Any:
        """The stand-in while the person is away (`core/view.py`, `Policy`)."""
        return self._stand_in if self.away else self._person

    async def act(self, views: Sequence[View]) -> list[Reply]:
        """Wait for the person's answers."""
        return [await self.ask(view) for view in views]

    async def ask(self, view: View) -> Reply:
        """Wait for the person's answer to one view."""
        answer: concurrent.futures.Future[Reply] = concurrent.futures.Future()
        with self._lock:
            self._view, self._answer, self._due = view, answer, False
            early, self._early = self._early, None
        if early is not None:
            self.answer(*early)
        try:
            while not answer.done():
                if self.closed:
                    raise _Closed
                if self.away:  # from its next move on, the stand-in plays
                    return Reply(passing(self.env, view), info={"away": True})
                await asyncio.sleep(0.02)
            return answer.result()
        finally:
            with self._lock:
                self._view, self._answer = None, None

    def answer(self, words: str, say: str | None) -> str:
        """Answer what is asked; returns why that cannot be, or nothing."""
        with self._lock:
            view, answer = self._view, self._answer
            if view is None and self._due:
                self._early = words, say
                return ""
        if view is None or answer is None or answer.done():
            return "it is not your move"
        try:
            view.parse(words)
        except IllegalAction as error:
            return error.reason
        answer.set_result(Reply(words, say=say))
        return ""


def passing(env: Env, view: View) -> Any:
    """A legal action for a person who has just left: the no-op, or else the first legal one."""
    legal = np.asarray(view.legal)
    noop = np.asarray(env.noop)
    if noop.ndim == 0 and legal.ndim == 1 and legal[int(noop)]:
        return env.noop
    return str(view.choices[0]) if noop.ndim == 0 else env.noop


@dataclass
class Table:
    """One game, again and again.

    Attributes:
        env, names: the environment, and a seat's name for each agent: `PERSON`, or a seat's.
        seed: of the first game; each further game has the next one.
        clock: seconds of a step, None if the game waits (`play(clock=)`).
        patience: seconds that a person may be away before the seat named `stand_in` plays.
        record: a folder for records, or None.
        watch: the token of those who may see everything: only where no person plays.
    """

    env: Env
    names: tuple[str, ...]
    seed: int = 0
    clock: float | None = None
    patience: float = 60.0
    stand_in: str = ""
    pace: float | None = None
    record: Path | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(6))
    watch: str = field(default_factory=lambda: secrets.token_urlsafe(_SECRET))

    def __post_init__(self) -> None:
        if len(self.names) != self.env.num_agents:
            raise ConfigError(
                f"{self.env.num_agents} seats are needed ({', '.join(self.env.agents)}), "
                f"{len(self.names)} given"
            )
        stand_in = seat_policy(self.env, self.stand_in or self.env.default_policy)[0]
        self.guests = {
            i: Guest(self.env, i, stand_in, self.patience)
            for i, name in enumerate(self.names)
            if name == PERSON
        }
        self._seats: list[Any] = [
            self.guests[i] if name == PERSON else name for i, name in enumerate(self.names)
        ]
        self.watchers: list[Listener] = []
        self.games = 0
        self.playing = False
        self.closed = False
        self.touched = time.monotonic()
        self.failure = ""
        self.moment: Moment | None = None
        self._before: Moment | None = None
        self._more = False  # whether another game was asked for while this one was ending
        self._lock = threading.Lock()

    @property
    def ready(self) -> bool:
        """Whether everybody is there."""
        return all(guest.here for guest in self.guests.values())

    @property
    def open(self) -> bool:
        """Whether those who do not play may see everything."""
        return not self.guests

    def guest(self, token: str) -> Guest | None:
        """The seat that a token is for."""
        for guest in self.guests.values():
            if secrets.compare_digest(guest.token.encode(), token.encode()):
                return guest
        return None

    def current(self, guest: Guest | None) -> Picture | None:
        """What is to be seen now."""
        moment = self.moment
        if moment is None:
            return None
        return (
            everything(moment, self._before)
            if guest is None
            else seen(moment.views[guest.index], moment)
        )

    def start(self) -> None:
        """Play a game in a thread, if none is played; after the one that is just ending."""
        with self._lock:
            self._more = self.playing and self.moment is not None and self.moment.over
            if self.playing or self.closed:
                return
            self.playing, self.failure = True, ""
        threading.Thread(target=self._play, daemon=True, name=f"table {self.id}").start()

    def _play(self) -> None:
        self.moment = None
        record = None
        if self.record is not None:
            record = self.record / f"{self.env.id}-{self.id}-{self.games}.jsonl"
        try:
            play(
                self.env,
                self._seats,
                1,
                self.seed + self.games,
                clock=self.clock,
                record=record,
                progress=False,
                on_step=self._stepped,
            )
        except Exception as error:
            known = isinstance(error, ManyhandsError)
            self.failure = (
                "" if self.closed else f"{type(error).__name__}: " * (not known) + str(error)
            )
        self.games += 1
        self.touched = time.monotonic()
        with self._lock:
            self.playing, more = False, self._more
        if self.failure:
            self.tell({"type": "failed", "reason": self.failure})
        elif more:
            self.start()

    def _stepped(self, moment: Moment) -> None:
        if self.closed:
            raise _Closed
        self._before, self.moment = self.moment, moment
        self.touched = time.monotonic()
        for guest in self.guests.values():
            guest.expect(bool(moment.frame.acting[guest.index]) and not moment.over)
            listener = guest.listener
            if listener is not None:
                listener(seen(moment.views[guest.index], moment))
        if self.watchers:
            picture = everything(moment, self._before)
            for listener in list(self.watchers):
                listener(picture)
        if self.pace and self.clock is None and not moment.over and self.open:
            time.sleep(1 / self.pace)

    def tell(self, payload: Payload) -> None:
        """Tell everybody at the table."""
        for listener in [guest.listener for guest in self.guests.values()] + list(self.watchers):
            if listener is not None:
                listener(payload)

    def close(self) -> None:
        """End the game, and play no other."""
        self.closed = True
        for guest in self.guests.values():
            guest.closed = True


class _Closed(Exception):
    """The table was closed while a game was played."""


# ---- the house -----------------------------------------------------------------------------------


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
        patience: seconds that a person may be away.
        idle: seconds after which a table where nothing happens is closed.
        record: a folder for records, or None.
    """

    def __init__(
        self,
        offers: Iterable[Offer],
        *,
        most: int = 64,
        patience: float = 60.0,
        idle: float = 1800.0,
        record: Path | None = None,
    ):
        self.offers = {offer.name: offer for offer in offers}
        self.most, self.patience, self.idle, self.record = most, patience, idle, record
        self.tables: dict[str, Table] = {}

    def open(self, name: str, seats: Sequence[str], clock: float | None, seed: int) -> Table:
        """A new table.

        Raises:
            ConfigError: there is no such game or seat, or no room.
        """
        self.sweep()
        offer = self.offers.get(name)
        if offer is None:
            raise ConfigError(f"there is no game {name!r}; there are {', '.join(self.offers)}")
        for seat in seats:
            if seat not in (PERSON, *offer.seats):
                raise ConfigError(f"no seat {seat!r}; there are {PERSON}, {', '.join(offer.seats)}")
        if len(self.tables) >= self.most:
            raise ConfigError(f"all {self.most} tables are taken; try again later")
        table = Table(
            offer.env,
            tuple(seats),
            seed=seed,
            clock=clock,
            patience=self.patience,
            stand_in=offer.env.scripted_policy and "bot",
            pace=offer.env.pace,
            record=self.record,
        )
        self.tables[table.id] = table
        return table

    def sweep(self) -> None:
        """Close tables where nothing has happened for long."""
        now = time.monotonic()
        for id, table in list(self.tables.items()):
            if now - table.touched > self.idle:
                table.close()
                del self.tables[id]

    def close(self) -> None:
        """Close all tables."""
        for table in self.tables.values():
            table.close()
        self.tables.clear()
