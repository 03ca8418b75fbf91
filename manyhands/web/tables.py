"""Tables: games with seats for people at browsers, each played in a thread of its own.

A table knows nothing of sockets. Whoever shows it gives it a `Listener` for a seat, or for a place
beside the table; a person's answers come in through `Guest.answer`.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import functools
import io
import math
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.config import one_of
from manyhands.core.env import (
    ConfigError,
    Env,
    IllegalAction,
    ManyhandsError,
    is_device_policy,
)
from manyhands.core.episode import EpisodeResult, Moment
from manyhands.core.play import play
from manyhands.core.render import load_pygame
from manyhands.core.seats import seat_policy
from manyhands.core.view import Reply, View

PERSON = "person"
SIZE = (640, 480)  # pixels of a picture
# WebP for whole pictures; for parts JPEG: a fifth of the time, half as many bytes more.
QUALITY = {"WEBP": {"quality": 80, "method": 0}, "JPEG": {"quality": 85}}
# Parts of a picture begin and end at an encoder's blocks, as what is lossy around a change does.
GRID = 16
GAP = 32  # pixels between two parts that are sent apart
LEAVERS = ("bot", "forfeit")
LEFT = "left the game"
MOST_NEWS = 20  # steps that one picture tells of
MOST_KEPT = 2_000  # moments of a game that is shown when it is over
_SECRET = 16  # bytes of a seat's token
_MASKS = (0xFF0000, 0xFF00, 0xFF, 0)
# Surfaces of pictures that nobody looks at any more, to be painted over: a fresh megabyte from the
# system takes as long as to paint it.
_UNUSED: collections.deque[Any] = collections.deque(maxlen=64)
# Pygame's fonts and surfaces are not made for several threads.
_PAINTING = threading.Lock()

Payload = dict[str, Any]


class Drawing:
    """The picture of a moment, drawn and encoded at most once, by any thread, however many look.

    Most of a game's picture does not change from step to step, and encoding costs more than
    drawing: a browser that has the picture before gets the rectangles that differ.
    """

    def __init__(self, env: Env, state: Any, agent: int | None):
        self._source: tuple[Env, Any, int | None] | None = (env, state, agent)
        self._lock = threading.Lock()
        self._canvas: Any = None  # once it is drawn
        self._whole = b""
        # The last picture that this one was compared with, and what came of it.
        self._patch: tuple[weakref.ref[Drawing], tuple[list[Box], bytes]] | None = None

    @property
    def pixels(self) -> np.ndarray:
        """u32[height, width], valid as long as this picture: blue, green, red and nothing, from the
        lowest byte. A view of its surface: nothing is copied."""
        with self._lock:
            if self._canvas is None:
                assert self._source is not None
                env, state, agent = self._source
                pygame = load_pygame()
                try:
                    canvas = _UNUSED.pop()
                except IndexError:
                    canvas = pygame.Surface(SIZE, depth=32, masks=_MASKS)
                with _PAINTING:
                    env.draw(state, canvas, agent)
                self._canvas, self._source = canvas, None
            return np.asarray(self._canvas.get_view("2")).T

    def __del__(self) -> None:
        if self._canvas is not None and _UNUSED is not None:  # it is at the end of the program
            _UNUSED.append(self._canvas)

    def whole(self) -> bytes:
        """All of it, as WebP."""
        pixels = self.pixels
        with self._lock:
            self._whole = self._whole or encoded(pixels, "WEBP")
            return self._whole

    def since(self, before: Drawing) -> tuple[list[Box], bytes]:
        """Where it differs from an earlier picture, and those parts as JPEG, one after the other;
        a box ends with the number of bytes of its part."""
        with self._lock:
            known = self._patch
        if known is not None and known[0]() is before:
            return known[1]
        parts, boxes, pixels = [], [], self.pixels
        # Two pixels at once: half the time.
        differs = pixels.view(np.uint64) != before.pixels.view(np.uint64)
        for left, top, width, height in changed(differs, 2):
            parts.append(encoded(pixels[top : top + height, left : left + width], "JPEG"))
            boxes.append((left, top, width, height, len(parts[-1])))
        found = boxes, b"".join(parts)
        with self._lock:
            self._patch = weakref.ref(before), found
        return found


def changed(differs: np.ndarray, wide: int = 1) -> list[tuple[int, int, int, int]]:
    """Rectangles (left, top, width, height) that hold all that differs: bands of rows, each cut
    into columns, at gaps of `GAP` pixels and more.

    Args:
        differs: bool[height, width / wide].
        wide: pixels that one of its values is for, beside each other.
    """
    found = []
    for top, bottom in _runs(np.any(differs, axis=1)):
        for left, right in _runs(np.repeat(np.any(differs[top:bottom], axis=0), wide)):
            found.append((left, top, right - left, bottom - top))
    return found


def _runs(marked: Any) -> list[tuple[int, int]]:
    """(start, end) of the runs of true values, which begin and end at the grid, where shorter gaps
    than `GAP` count as true."""
    places = np.flatnonzero(marked) // GRID * GRID
    if not places.size:
        return []
    breaks = np.flatnonzero(np.diff(places) > GAP)
    starts = [places[0], *places[breaks + 1]]
    ends = [*places[breaks], places[-1]]
    return [
        (int(start), min(int(end) + GRID, len(marked)))
        for start, end in zip(starts, ends, strict=True)
    ]


@dataclass(frozen=True)
class Picture:
    """What is shown at one moment to one who watches: words as JSON-ready data, and the picture,
    which is drawn when it is first asked for. `words["news"]` are lines of what happened, by step:
    [[step, [line, ...]], ...]."""

    words: Payload
    drawing: Drawing

    def after(self, skipped: Picture) -> Picture:
        """This one in place of an earlier one that was not shown: with its news, too."""
        news = [*skipped.words["news"], *self.words["news"]][-MOST_NEWS:]
        return Picture({**self.words, "news": news}, self.drawing)


Box = tuple[int, int, int, int, int]  # left, top, width, height, in pixels; bytes
Listener = Callable[[Picture | Payload], None]


def encoded(pixels: np.ndarray, form: str) -> bytes:
    """A picture in a format of `QUALITY`.

    Args:
        pixels: u32[height, width], as in `Drawing.pixels`.
    """
    from PIL import Image

    out = io.BytesIO()
    height, width = pixels.shape
    image = Image.frombuffer("RGB", (width, height), pixels.tobytes(), "raw", "BGRX", 0, 1)
    image.save(out, form, **QUALITY[form])
    return out.getvalue()


def choice_words(choice: Choice) -> Payload:
    """A choice for a page; `many` if its line stands for many, of which one is said in words."""
    many = choice.form is not None and choice.effect == choice.form.effect
    return {"text": choice.text, "effect": choice.effect, "many": many}


def event_words(event: Mapping[str, Any], own: str) -> str:
    """An event of `Env.last_events` in a line, for the agent `own`: what it is about first, then
    places and numbers with their names."""
    who = event.get("agent")
    about = {
        key: value
        for key, value in event.items()
        if key not in ("event", "agent") and value is not None
    }
    words = [value.replace("_", " ") for value in about.values() if isinstance(value, str)]
    for key, value in about.items():
        if isinstance(value, str):
            continue
        named = key.replace("_", " "), _plain(value)
        words += named if isinstance(value, Mapping | list | tuple) else reversed(named)
    line = " ".join((str(event["event"]).replace("_", " "), *words))
    return line if who is None else f"{'you' if who == own else who}: {line}"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_plain, value))})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def seen(view: View, moment: Moment) -> Picture:
    """What one agent sees at a moment, and nothing more."""
    agent = view.index
    news = [event_words(event, view.agent) for event in view.events]
    news += [f"{m.sender} says: {m.text}" for m in view.messages]
    words = {
        "type": "view",
        "agent": view.agent,
        "step": moment.step,
        "text": view.text,
        "news": [[moment.step, news]],
        "reward": float(moment.rewards[agent]),
        "over": moment.over,
        "to_move": bool(moment.frame.acting[agent]) and not moment.over,
        "choices": [choice_words(choice) for choice in view.choices] if not moment.over else [],
    }
    spots = [] if moment.over else moment.env.spots(moment.frame.state, SIZE, agent)
    if spots:
        words["spots"] = [[*(round(part, 4) for part in spot[:4]), spot.text] for spot in spots]
    return Picture(words, Drawing(moment.env, moment.frame.state, agent))


def everything(moment: Moment, before: Moment | None) -> Picture:
    """What one who may know all sees at a moment: each agent's text, and what all did."""
    env, state = moment.env, moment.frame.state
    did = told(moment, before)
    words = {
        "type": "view",
        "agent": "",
        "step": moment.step,
        "texts": {view.agent: view.text for view in moment.views},
        "did": did,
        "news": [[moment.step, [told_words(one) for one in did]]],
        "rewards": dict(zip(env.agents, map(float, moment.rewards), strict=True)),
        "over": moment.over,
    }
    return Picture(words, Drawing(env, state, None))


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


def told_words(did: Mapping[str, str]) -> str:
    """What a seat did, as `told` has it, in a line."""
    line = f"{did['agent']} ({did['seat']}): {did['words']}"
    if did["said"] and did["said"] not in did["words"]:
        line += f'  says "{did["said"]}"'
    return line + (f"  refused: {did['refused']}" if did["refused"] else "")


class _Person:
    """The policy of a person who is there: `Guest.route` leads to it or to the stand-in."""

    def __init__(self, guest: Guest):
        self._guest = guest

    async def act(self, views: Sequence[View]) -> list[Reply]:
        return await self._guest.act(views)


@dataclass
class _Question:
    """What a person is asked, in the event loop of its game."""

    view: View
    loop: asyncio.AbstractEventLoop
    news: asyncio.Event = field(default_factory=asyncio.Event)
    reply: Reply | None = None

    def wake(self) -> None:
        """Something has changed; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self.loop.call_soon_threadsafe(self.news.set)


class Guest:
    """The seat of a person at a browser, who may leave and come back.

    Args:
        env: the environment.
        index: the agent's number.
        stand_in: the policy that plays while the person is away; None: the seat forfeits.
        patience: seconds until then.
    """

    def __init__(self, env: Env, index: int, stand_in: Any, patience: float):
        self.name, self.index, self.token = PERSON, index, secrets.token_urlsafe(_SECRET)
        self.env, self.patience = env, patience
        self.listener: Listener | None = None
        self._stand_in, self._person = stand_in, _Person(self)
        self._left = time.monotonic()
        self._asked: _Question | None = None
        self._early: tuple[str, str | None] | None = None  # an answer that came before the question
        self._lock = threading.Lock()
        self.here = self.closed = self._due = False

    def come(self, listener: Listener) -> None:
        """The person sits down, or another browser takes the seat over."""
        with self._lock:
            self.listener, self.here = listener, True
            self._wake()

    def leave(self, listener: Listener) -> None:
        """The person is away, unless another browser has taken the seat over."""
        with self._lock:
            if self.listener is listener:
                self.listener, self.here, self._left = None, False, time.monotonic()
                self._wake()

    def close(self) -> None:
        """Nobody is asked any more."""
        with self._lock:
            self.closed = True
            self._wake()

    def _wake(self) -> None:
        if self._asked is not None:
            self._asked.wake()

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
        return self._stand_in if self.away and self._stand_in is not None else self._person

    async def act(self, views: Sequence[View]) -> list[Reply]:
        """Wait for the person's answers."""
        return [await self.ask(view) for view in views]

    async def ask(self, view: View) -> Reply:
        """Wait for the person's answer to one view."""
        asked = _Question(view, asyncio.get_running_loop())
        with self._lock:
            self._asked, self._due = asked, False
            early, self._early = self._early, None
        if early is not None:
            reason, listener = self.answer(*early), self.listener
            if reason and listener is not None:
                listener({"type": "refused", "reason": reason})
        try:
            while asked.reply is None:
                if self.away and self._stand_in is None and not self.closed:
                    return Reply(None, error=LEFT, info={"away": True}, forfeit=True)
                # From its next move on, the stand-in plays; a closed table ends with this step.
                if self.away or self.closed:
                    return Reply(passing(self.env, view), info={"away": True})
                waits = self.here or math.isinf(self.patience)
                left = None if waits else self._left + self.patience - time.monotonic()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(asked.news.wait(), left)
                asked.news.clear()
            return asked.reply
        finally:
            with self._lock:
                self._asked = None

    def answer(self, words: str, say: str | None) -> str:
        """Answer what is asked; returns why that cannot be, or nothing."""
        with self._lock:
            asked = self._asked
            if asked is None and self._due:
                self._early = words, say
                return ""
        if asked is None or asked.reply is not None:
            return "it is not your move"
        try:
            asked.view.parse(words)
        except IllegalAction as error:
            return error.reason
        asked.reply = Reply(words, say=say)
        asked.wake()
        return ""


def passing(env: Env, view: View) -> Any:
    """A legal action for a person who has just left: the no-op, or else the first legal one."""
    legal = np.asarray(view.legal)
    noop = np.asarray(env.noop)
    if noop.ndim == 0 and legal.ndim == 1 and legal[int(noop)]:
        return env.noop
    return str(view.choices[0]) if noop.ndim == 0 else env.noop


class _Shared:
    """A device policy that all tables of an environment share, so that it is compiled once; in
    records by the name of its seat. It is pure functions: nothing of a game stays in it."""

    def __init__(self, policy: Any, name: str):
        self.policy, self.name = policy, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.policy, name)


@functools.lru_cache(maxsize=256)
def player(env: Env, name: str) -> Any:
    """What plays a seat in `play`: a name, or a device policy that is shared.

    Raises:
        ConfigError, SeatError: there is no such seat, or it cannot play here.
    """
    policy, shown = seat_policy(env, name)
    return _Shared(policy, shown) if is_device_policy(policy) else name


class _Warm:
    """Which games are compiled. Where many tables begin at once, one compiles and the others wait:
    each for itself would take as long as all together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done: dict[tuple[Env, tuple[str, ...]], threading.Lock | None] = {}

    def up(self, env: Env, names: tuple[str, ...]) -> None:
        """Play two steps, if nobody has; only players that are compiled play them."""
        with self._lock:
            lock = self._done.setdefault((env, names), threading.Lock())
        if lock is None:
            return
        with lock:
            if self._done[env, names] is None:
                return
            people = functools.partial(passing, env)
            made = [people if name == PERSON else player(env, name) for name in names]
            seats = [people if isinstance(seat, str) else seat for seat in made]
            play(env, seats, max_steps=2, progress=False)
            self._done[env, names] = None


_WARM = _Warm()


def hides(env: Env) -> bool:
    """Whether agents may not know all of an environment's state, or it is not known that they do:
    then nobody beside the table may see all of it before the game is over."""
    from manyhands.baselines.search.seat import fully_observed

    return not fully_observed(env)


@dataclass
class Table:
    """One game, again and again.

    Attributes:
        env, names: the environment, and a seat's name for each agent: `PERSON`, or a seat's.
        seed: of the first game; each further game has the next one.
        clock: seconds of a step, None if the game waits (`play(clock=)`).
        patience: seconds that a person may be away.
        leaver: what happens then: "bot" (the seat named `stand_in` plays) or "forfeit".
        record: a folder for records, or the file of the only game (`once`), or None.
        spectators: whether those with the token `watch` may look on although people play. They see
            everything at once where nothing is hidden from a player (`hides`), and else when the
            game is over.
        once: whether it ends after one game.
        blind: whether people are not told who or what the others are, as in studies.
        ended: called with the result of each game, or with None if it was cut off (`failure`).
        watch: the token of those who look on.
        veiled: whether those who look on see a game only when it is over.
    """

    env: Env
    names: tuple[str, ...]
    seed: int = 0
    clock: float | None = None
    patience: float = 60.0
    leaver: str = "bot"
    stand_in: str = ""
    pace: float | None = None
    record: Path | None = None
    spectators: bool = False
    once: bool = False
    blind: bool = False
    ended: Callable[[Table, EpisodeResult | None], None] | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(6))
    watch: str = field(default_factory=lambda: secrets.token_urlsafe(_SECRET))

    def __post_init__(self) -> None:
        if len(self.names) != self.env.num_agents:
            raise ConfigError(
                f"{self.env.num_agents} seats are needed ({', '.join(self.env.agents)}), "
                f"{len(self.names)} given"
            )
        one_of("leaver", self.leaver, LEAVERS)
        stand_in = None
        if self.leaver == "bot":
            stand_in = seat_policy(
                self.env, player(self.env, self.stand_in or self.env.default_policy)
            )[0]
        self.guests = {
            i: Guest(self.env, i, stand_in, self.patience)
            for i, name in enumerate(self.names)
            if name == PERSON
        }
        self._seats: list[Any] = [
            self.guests[i] if name == PERSON else player(self.env, name)
            for i, name in enumerate(self.names)
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
        self.veiled = bool(self.guests) and hides(self.env)
        self._kept: list[Moment] = []  # of a veiled game, for when it is over

    @property
    def ready(self) -> bool:
        """Whether everybody is there."""
        return all(guest.here for guest in self.guests.values())

    @property
    def open(self) -> bool:
        """Whether those who do not play may look on."""
        return self.spectators or not self.guests

    def guest(self, token: str) -> Guest | None:
        """The seat that a token is for."""
        for guest in self.guests.values():
            if secrets.compare_digest(guest.token.encode(), token.encode()):
                return guest
        return None

    def current(self, guest: Guest | None) -> Picture | Payload | None:
        """What is to be seen now."""
        moment = self.moment
        if moment is None:
            return None
        if guest is not None:
            return seen(moment.views[guest.index], moment)
        if self.veiled and not moment.over:
            return veil(moment)
        return everything(moment, self._before)

    def start(self) -> None:
        """Play a game in a thread, if none is played; after the one that is just ending."""
        with self._lock:
            self._more = self.playing and self.moment is not None and self.moment.over
            if self.playing or self.closed or (self.once and self.games):
                return
            self.playing, self.failure = True, ""
        threading.Thread(target=self._play, daemon=True, name=f"table {self.id}").start()

    def _play(self) -> None:
        self.moment, self._kept = None, []
        record, result = self.record, None
        if record is not None and not self.once:
            record = record / f"{self.env.id}-{self.id}-{self.games}.jsonl"
        try:
            _WARM.up(self.env, self.names)
            played = play(
                self.env,
                self._seats,
                1,
                self.seed + self.games,
                clock=self.clock,
                record=record,
                progress=False,
                on_step=self._stepped,
            )
            result = played.episodes[0] if played.episodes else None
            self.failure = played.stopped
        except Exception as error:
            known = isinstance(error, ManyhandsError)
            self.failure = (
                "" if self.closed else f"{type(error).__name__}: " * (not known) + str(error)
            )
        if self.ended is not None:
            self.ended(self, result)
        self.games += 1
        self.touched = time.monotonic()
        with self._lock:
            self.playing, more = False, self._more and not self.once
        if self.failure:
            reason = "The game broke off." if self.blind else self.failure
            self.tell({"type": "failed", "reason": reason})
        elif result is not None:
            self.tell({"type": "ended"})
            if more:
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
        if self.veiled and self.spectators and len(self._kept) < MOST_KEPT:
            self._kept.append(moment)
        if self.watchers:
            if not self.veiled:
                self._show(everything(moment, self._before))
            elif not moment.over:
                self._show(veil(moment))
            else:
                threading.Thread(target=self._reveal, args=(self.games,), daemon=True).start()
        if self.pace and self.clock is None and not moment.over and not self.guests:
            time.sleep(1 / self.pace)

    def _reveal(self, game: int) -> None:
        """Show a veiled game from its start, now that it is over, until the next one begins."""
        kept, pace = self._kept, max(self.pace or 0, 1.0)
        for before, moment in zip([None, *kept], kept, strict=False):
            if self.closed or self.games > game + 1 or (self.games > game and self.playing):
                return
            self._show(everything(moment, before))
            time.sleep(1 / pace)

    def _show(self, shown: Picture | Payload) -> None:
        for listener in list(self.watchers):
            listener(shown)

    def tell(self, payload: Payload) -> None:
        """Tell everybody at the table."""
        for listener in [guest.listener for guest in self.guests.values()] + list(self.watchers):
            if listener is not None:
                listener(payload)

    def present(self) -> None:
        """Tell everybody who is there."""
        seats = [
            {
                "agent": self.env.agents[i],
                "seat": "" if self.blind else name,
                "here": i not in self.guests or self.guests[i].here,
            }
            for i, name in enumerate(self.names)
        ]
        self.tell({"type": "seats", "seats": seats})

    def close(self) -> None:
        """End the game, and play no other."""
        self.closed = True
        for guest in self.guests.values():
            guest.close()


def veil(moment: Moment) -> Payload:
    """What may be known of a game beside the table while it runs and players hide something."""
    return {"type": "veiled", "step": moment.step}


class _Closed(Exception):
    """The table was closed while a game was played."""


def looked_at(tables: Iterable[Table]) -> list[Payload]:
    """The games that are being played and that anybody may look on at."""
    return [
        {
            "table": table.id,
            "watch": table.watch,
            "game": table.env.id,
            "seats": dict(zip(table.env.agents, table.names, strict=True)),
            "step": 0 if table.moment is None else table.moment.step,
        }
        for table in tables
        if table.open and table.playing
    ]


def sweep(tables: Mapping[str, Table], idle: float) -> dict[str, Table]:
    """Close tables, by their ids, where nothing has happened for so many seconds; gives the
    others."""
    now, kept = time.monotonic(), {}
    for id, table in tables.items():
        if now - table.touched > idle:
            table.close()
        else:
            kept[id] = table
    return kept
