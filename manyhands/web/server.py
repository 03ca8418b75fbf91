"""The web server: pages, and sockets between browsers and tables.

What a page may do: open a table with the games and players that the operator offers, take the seat
that its token is for, answer, look on where that is allowed, and look at the operator's records and
seasons; or, in a study, only what comes next in it. It names no files, no seats and no
configurations of its own. Pages get their content as data and write it as text, under a content
security policy without inline scripts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from importlib import resources
from urllib.parse import urlsplit

import anyio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from manyhands.core.env import ManyhandsError
from manyhands.web.house import House
from manyhands.web.replays import Library
from manyhands.web.room import Room
from manyhands.web.tables import PERSON, Payload, Table
from manyhands.web.visits import Visit
from manyhands.web.workers import FarTable, FarVisit

MOST_BYTES = 16_384  # of a request or a message
MOST_MESSAGES = 40  # of a socket, in a second
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_SCRIPT = "text/javascript; charset=utf-8"
_PAGES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    **{f"/{name}.js": (f"{name}.js", _SCRIPT) for name in ("page", "base", "table", "replay")},
    "/study.js": ("study.js", _SCRIPT),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


class _Left(Exception):
    """Nothing more can be sent."""


async def _sent(message: Awaitable[None]) -> None:
    try:
        await message
    except (WebSocketDisconnect, RuntimeError) as error:  # of a socket that is closed
        raise _Left from error


def application(
    house: House,
    library: Library,
    *,
    hosts: Sequence[str] = ("localhost", "127.0.0.1", "[::1]"),
    token: str = "",
    study: Room | None = None,
) -> Starlette:
    """The server as an ASGI application.

    Args:
        house, library: what can be played, and the records and seasons that can be looked at.
        hosts: the names under which browsers may ask for it.
        token: what every request has to bring, where not only this machine can reach it.
        study: the study that is held: then pages take part in it, and can do nothing else.
    """
    served = resources.files("manyhands") / "assets" / "web"
    pages = {path: ((served / name).read_bytes(), kind) for path, (name, kind) in _PAGES.items()}

    def allowed(connection: HTTPConnection) -> bool:
        """Whether a request comes from a page of ours, by somebody who knows the token."""
        origin = connection.headers.get("origin")
        try:
            site = None if origin is None else urlsplit(origin).netloc
        except ValueError:  # "http://["
            return False
        if site is not None and site != connection.headers.get("host"):
            return False
        given = connection.query_params.get("token", "")
        return not token or secrets.compare_digest(given.encode(), token.encode())

    async def page(request: Request) -> Response:
        body, kind = pages[request.url.path]
        return Response(body, media_type=kind, headers=HEADERS)

    def refused(reason: str, status: int = 400) -> Response:
        return JSONResponse({"error": reason}, status, headers=HEADERS)

    def forbidden(request: Request, *, studying: bool = False) -> Response | None:
        if not allowed(request):
            return refused("a link with the token of this server is needed", 403)
        if (study is not None) != studying:
            return refused("there is no such page here", 404)
        return None

    async def games(request: Request) -> Response:
        if study is not None and allowed(request):
            return JSONResponse({"study": study.about()}, headers=HEADERS)
        if no := forbidden(request):
            return no
        offers = [offer.words() for offer in house.offers.values()]
        return JSONResponse({"games": offers, "person": PERSON}, headers=HEADERS)

    async def live(request: Request) -> Response:
        if no := forbidden(request):
            return no
        return JSONResponse({"live": await asyncio.to_thread(house.live)}, headers=HEADERS)

    async def records(request: Request) -> Response:
        if no := forbidden(request):
            return no
        found = {
            "records": await asyncio.to_thread(library.listed),
            "seasons": await asyncio.to_thread(library.seasons),
        }
        return JSONResponse(found, headers=HEADERS)

    async def season(request: Request) -> Response:
        """The page of a season, as `manyhands arena` wrote it."""
        if no := forbidden(request):
            return no
        try:
            text, policy = await asyncio.to_thread(
                library.season_page, int(request.path_params["number"])
            )
        except ManyhandsError as error:
            return refused(str(error), 404)
        kind = "text/html; charset=utf-8"
        more = {"Content-Security-Policy": policy or POLICY}
        return Response(text, media_type=kind, headers={**HEADERS, **more})

    async def body_of(request: Request) -> bytes | Response:
        """The JSON that a page sent, or why it is not read."""
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return refused("requests are in JSON", 415)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return refused(f"a request has at most {MOST_BYTES} bytes", 413)
        return body

    async def tables(request: Request) -> Response:
        """Open a table."""
        if no := forbidden(request):
            return no
        body = await body_of(request)
        if isinstance(body, Response):
            return body
        try:
            table = await asyncio.to_thread(house.open, *_asked(body))
        except (ManyhandsError, ValueError, RecursionError) as error:
            return refused(str(error))
        return JSONResponse(_links(table), headers=HEADERS)

    async def participate(request: Request) -> Response:
        """Take part in the study."""
        if no := forbidden(request, studying=True):
            return no
        assert study is not None
        body = await body_of(request)
        if isinstance(body, Response):
            return body
        try:
            given = json.loads(body)
            whose = given.get("participant") if isinstance(given, dict) else None
            if whose is None:
                external = given.get("external") if isinstance(given, dict) else None
                found = await asyncio.to_thread(study.enter, external)
            elif not isinstance(whose, str):
                raise ValueError("a participant is a word")
            elif "answers" in given:
                found = await asyncio.to_thread(
                    study.turn, whose, given.get("stage"), given["answers"]
                )
            else:
                found = await asyncio.to_thread(study.page, whose)
        except (ManyhandsError, ValueError, RecursionError) as error:
            return refused(str(error))
        return JSONResponse(found, headers=HEADERS)

    async def play(socket: WebSocket) -> None:
        """A person at a table, or beside it."""
        if not allowed(socket):
            await socket.close(4403)
            return
        table = house.tables.get(socket.query_params.get("table", ""))
        given = socket.query_params.get("seat", "")
        guest = None if table is None else table.guest(given)
        watches = table is not None and table.open and _same(table.watch, given)
        if table is None or (guest is None and not watches):
            await socket.accept()
            await socket.send_json({"type": "failed", "reason": "there is no such table or seat"})
            await socket.close(4404)
            return
        await socket.accept()
        if isinstance(table, FarTable):
            await _serve(socket, FarVisit(table, given))
        else:
            await _serve(socket, Visit(table, table.guest(given)))

    async def replay(socket: WebSocket) -> None:
        """A record, moment by moment, as the page asks for them."""
        if not allowed(socket) or study is not None:
            await socket.close(4403)
            return
        await socket.accept()
        rate = _Rate()
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                asked = await _received(socket, rate)
                if asked is None:
                    return
                place = [asked.get(name) for name in ("record", "episode", "moment")]
                if not all(isinstance(one, int) for one in place):
                    await socket.send_json({"type": "failed", "reason": "numbers are asked for"})
                    continue
                record, episode, at = (int(one) for one in place if isinstance(one, int))
                try:
                    if asked.get("type") == "marks":
                        found = await asyncio.to_thread(library.marks, record, episode)
                        await socket.send_json({"type": "marks", "moments": found})
                        continue
                    shown = await asyncio.to_thread(library.picture, record, episode, at)
                    data = await asyncio.to_thread(shown.drawing.whole)
                except ManyhandsError as error:
                    await socket.send_json({"type": "failed", "reason": str(error)})
                    continue
                await socket.send_json(shown.words)
                await socket.send_bytes(data)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(house.close)
        if study is not None:
            await asyncio.to_thread(study.close)

    return Starlette(
        routes=[
            *(Route(path, page) for path in _PAGES),
            Route("/games", games),
            Route("/live", live),
            Route("/records", records),
            Route("/season/{number:int}", season),
            Route("/tables", tables, methods=["POST"]),
            Route("/study", participate, methods=["POST"]),
            WebSocketRoute("/play", play),
            WebSocketRoute("/replay", replay),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))],
        lifespan=lifespan,
    )


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def _asked(body: bytes) -> tuple[str, list[str], float | None, int, bool]:
    """(game, seats, clock, seed, spectators) of a request for a table; raises `ValueError`."""
    given = json.loads(body)
    if not isinstance(given, dict):
        raise ValueError("a table is asked for as an object")
    game, seats = given.get("game"), given.get("seats")
    clock, seed = given.get("clock"), given.get("seed", 0)
    if not isinstance(game, str):
        raise ValueError(f"game is a name, given {game!r}")
    if not isinstance(seats, list) or not all(isinstance(seat, str) for seat in seats):
        raise ValueError("seats are a list of names")
    if clock is not None:
        if isinstance(clock, bool) or not isinstance(clock, int | float) or not 0.05 <= clock <= 60:
            raise ValueError(f"clock is null or 0.05 to 60 seconds, given {clock!r}")
        clock = float(clock)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**31:
        raise ValueError(f"seed is a whole number from 0 to {2**31 - 1}, given {seed!r}")
    spectators = given.get("spectators", False)
    if not isinstance(spectators, bool):
        raise ValueError(f"spectators are allowed or not, given {spectators!r}")
    return game, seats, clock, seed, spectators


def _links(table: Table | FarTable) -> Payload:
    """What whoever opened a table needs: the seats' tokens, their own first."""
    seats = [
        {"agent": table.env.agents[i], "token": guest.token} for i, guest in table.guests.items()
    ]
    return {"table": table.id, "seats": seats, "watch": table.watch if table.open else ""}


class _Rate:
    """How often a browser may speak."""

    def __init__(self) -> None:
        self._since, self._count = time.monotonic(), 0

    def exceeded(self) -> bool:
        now = time.monotonic()
        if now - self._since >= 1:
            self._since, self._count = now, 0
        self._count += 1
        return self._count > MOST_MESSAGES


async def _received(socket: WebSocket, rate: _Rate) -> Payload | None:
    """The next message of a browser; None, and the socket is closed, if it is none of ours."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text = message.get("text")
    if text is None or len(text) > MOST_BYTES or rate.exceeded():
        await socket.close(4429 if text is not None and len(text) <= MOST_BYTES else 4400)
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        await socket.close(4400)
        return None
    return given


async def _serve(socket: WebSocket, visit: Visit | FarVisit) -> None:
    """Send what there is to see, and take answers, until the browser leaves."""
    await visit.come()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_shown, socket, visit)
            rate = _Rate()
            while (given := await _received(socket, rate)) is not None:
                visit.hear(given)
            group.cancel_scope.cancel()
    except* WebSocketDisconnect:
        pass
    finally:
        visit.leave()


async def _shown(socket: WebSocket, visit: Visit | FarVisit) -> None:
    with contextlib.suppress(_Left):
        async for words, data in visit.parts():
            await _sent(socket.send_text(words))
            if data:
                await _sent(socket.send_bytes(data))
