"""Browsers at tables: what each is to be sent, and what it says, without its socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from manyhands.web.tables import Box, Drawing, Guest, Payload, Picture, Table

# Words as JSON, and the bytes of the picture that belongs to them, if there is one.
Part = tuple[str, bytes]


class Visit:
    """One browser at a table, or beside it, in the process that plays the game.

    Of pictures only the newest waits, with the news of those that it replaced: a slow browser sees
    fewer of them, and holds up nothing.

    Args:
        table: where it is.
        guest: whose seat it takes, None for one who looks on.
        aside: whether pictures are made in other threads, so that the event loop stays free.
    """

    def __init__(self, table: Table, guest: Guest | None, *, aside: bool = True):
        self.table, self.guest = table, guest
        self._loop, self._aside = asyncio.get_running_loop(), aside
        self._picture: Picture | None = None
        self._payloads: list[Payload] = []
        self._filled = asyncio.Event()
        self._shown: Drawing | None = None  # what the browser has
        self._listener = self.put  # one object, by which the table knows it

    def put(self, item: Picture | Payload) -> None:
        """Something is to be sent; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._put, item)

    def _put(self, item: Picture | Payload) -> None:
        if isinstance(item, Picture):
            self._picture = item if self._picture is None else item.after(self._picture)
        elif len(self._payloads) < 100:
            self._payloads.append(item)
        self._filled.set()

    async def come(self) -> None:
        """Take the seat, or a place beside the table; the game begins when all are there."""
        table, guest = self.table, self.guest
        self.put(welcome(table, guest))
        if guest is not None:
            guest.come(self._listener)
        else:
            table.watchers.append(self._listener)
        table.present()
        current = await self._made(table.current, guest)  # the first view of a game takes long
        if current is not None:
            self.put(current)
        if table.ready and not table.games:
            table.start()

    def leave(self) -> None:
        """The browser is gone."""
        if self.guest is not None:
            self.guest.leave(self._listener)
        elif self._listener in self.table.watchers:
            self.table.watchers.remove(self._listener)
        self.table.present()

    def hear(self, said: Payload) -> None:
        """What the browser answers or asks for; from any thread."""
        kind = said.get("type")
        if kind == "answer" and self.guest is not None:
            words, say = said.get("words"), said.get("say")
            if not isinstance(words, str):
                return
            reason = self.guest.answer(words, say if isinstance(say, str) and say.strip() else None)
            if reason:
                self.put({"type": "refused", "reason": reason})
        elif kind == "again" and self._may_start():
            self.table.start()

    def _may_start(self) -> bool:
        """Those who play begin a game, the first one when all are there; where only programs play,
        whoever looks on."""
        table = self.table
        if self.guest is None:
            return not table.guests
        return bool(table.games) or table.playing or table.ready

    async def parts(self) -> AsyncIterator[Part]:
        """What is to be sent, until cancelled; the next picture is made when it is asked for."""
        while True:
            await self._filled.wait()
            self._filled.clear()
            picture, payloads = self._picture, self._payloads
            self._picture, self._payloads = None, []
            # A welcome, say, comes before the first picture, however soon that is there.
            for payload in payloads:
                yield json.dumps(payload), b""
            if picture is None:
                continue
            words, drawing, shown = picture.words, picture.drawing, self._shown
            boxes: list[Box] | None = None
            if shown is None:
                data = await self._made(drawing.whole)
            else:
                boxes, data = await self._made(drawing.since, shown)
            self._shown = drawing
            # A picture follows the words: all of it, or what has changed, or none.
            yield json.dumps({**words, "boxes": boxes}), data

    async def _made(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._aside:
            return await asyncio.to_thread(function, *arguments)
        return function(*arguments)


def welcome(table: Table, guest: Guest | None) -> Payload:
    """What a browser is told first."""
    env = table.env
    return {
        "type": "welcome",
        "game": env.id,
        "agents": list(env.agents),
        "agent": None if guest is None else env.agents[guest.index],
        "rules": "" if guest is None else env.rules(guest.index),
        "keys": dict(env.keys),
        "talk": env.chat is not None,
        "clock": table.clock,
        "once": table.once or (guest is None and bool(table.guests)),  # no button for another game
        "veiled": guest is None and table.veiled,
    }
