"""Concurrent requests of many episodes to one endpoint, over persistent connections.

Built on aiohttp: its pool finds an idle connection in constant time, where clients that search all
their connections at every request become the bottleneck with hundreds of episodes. Responses are
read up to a limit, whatever length they declare.
"""

from __future__ import annotations

import base64
import datetime
import email.utils
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote_plus, unquote, urlsplit, urlunsplit

import aiohttp
from yarl import URL


class TransportError(Exception):
    """A connection that cannot be opened, broke, or does not speak HTTP."""


class TooLong(Exception):
    """A response that is longer than the limit."""


@dataclass(frozen=True)
class Response:
    """A whole response; names of headers are found in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Endpoint:
    """Requests below one URL, bound to the event loop of the first request.

    The proxies of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`) are used. A user and a
    password in the URL are sent as basic authorization, in place of an `authorization` of
    `headers`.

    Args:
        url: `http://` or `https://`; its query is sent with every request.
        headers: of every request; their values hold no control characters.
        limit: bytes of a body that are read at most.

    Raises:
        ValueError: a URL or a header that cannot be sent. It does not repeat what was given.
    """

    def __init__(self, url: str, headers: Mapping[str, str], limit: int):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the URL begins with http:// or https:// and names a host")
        try:
            _ = parts.port
        except ValueError:  # whose text repeats what may be a password
            raise ValueError("the port of the URL is no number") from None
        headers = {"accept": "application/json", "content-type": "application/json", **headers}
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        for name, value in headers.items():
            if not value.isascii() or not value.isprintable():
                raise ValueError(f"{name} holds a character that no HTTP header may hold")
        self._parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        self._headers, self._limit = headers, limit
        self._urls: dict[str, URL] = {}
        self._session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: bytes) -> Response:
        """The response to a POST of JSON.

        Raises:
            TransportError, TooLong.
        """
        url = self._urls.get(path)
        if url is None:
            parts = self._parts._replace(path=self._parts.path.rstrip("/") + path)
            url = self._urls[path] = URL(urlunsplit(parts), encoded=True)
        try:
            try:
                return await self._exchange(url, body)
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                # The endpoint had closed a kept connection: ask again on another one.
                return await self._exchange(url, body)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise TransportError(str(error) or type(error).__name__) from error

    async def _exchange(self, url: URL, body: bytes) -> Response:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # `play` limits how many ask at once; connections wait for turns of other seats.
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=60.0),
                timeout=aiohttp.ClientTimeout(total=None),  # the seat has its own
                headers=self._headers,
                # With it, aiohttp reads the environment and a file at every request.
                trust_env=bool(urllib.request.getproxies()),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        async with self._session.post(url, data=body, allow_redirects=False) as response:
            if (response.content_length or 0) > self._limit:
                response.close()
                length = response.content_length
                raise TooLong(f"its body has {length} bytes, at most {self._limit} are read")
            if response.content_length is not None and "content-encoding" not in response.headers:
                return Response(response.status, response.headers, await response.read())
            received = bytearray()
            async for part in response.content.iter_chunked(1 << 16):
                received += part
                if len(received) > self._limit:
                    response.close()  # not read on to its end
                    raise TooLong(f"its body has more than {self._limit} bytes")
            return Response(response.status, response.headers, bytes(received))

    async def aclose(self) -> None:
        """Close all connections; a further request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def secrets_of(key: str, url: str) -> tuple[str, ...]:
    """Secrets to hide, longest first: the key, and user, password and query values of the
    URL, plain and escaped. A few characters are the placeholder for a local server, no secret, and
    may be part of any word."""
    parts = urlsplit(url)
    secrets = [key] if len(key) >= 8 else []
    others = [parts.password or "", *(value for _, value in parse_qsl(parts.query))]
    secrets += [text for text in others if len(text) >= 4]
    if parts.username is not None:
        secrets.append(f"{unquote(parts.username)}:{unquote(parts.password or '')}")
        secrets.append(base64.b64encode(secrets[-1].encode()).decode())
    forms = (unquote, quote_plus, lambda text: repr(text)[1:-1], str)
    found = {form(text) for text in secrets for form in forms}
    return tuple(sorted(found, key=len, reverse=True))


def retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or a date."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    now = datetime.datetime.now(datetime.UTC)
    return max(0.0, (date.replace(tzinfo=date.tzinfo or datetime.UTC) - now).total_seconds())
