"""A small HTTP/1.1 client for one endpoint that many episodes ask at once.

General clients go through all connections of their pool at every request: with hundreds of episodes
at once that takes longer than the requests themselves. Here idle connections lie on a stack.
Responses are read up to a limit, whatever they claim of their length.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
import urllib.request
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class TransportError(Exception):
    """A connection that cannot be opened, broke, or does not speak HTTP."""


class TooLong(Exception):
    """A response that is longer than the limit."""


@dataclass(frozen=True)
class Response:
    """A whole response; names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Endpoint:
    """Requests below one URL. It belongs to the event loop that it is first used in.

    The proxies of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`) are used. A user and a
    password in the URL are sent as basic authorization, in place of an `authorization` of
    `headers`.

    Args:
        url: `http://` or `https://`; its query goes along with every request.
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
            port = parts.port
        except ValueError:  # whose text repeats what may be a password
            raise ValueError("the port of the URL is no number") from None
        headers = {"host": parts.netloc.rpartition("@")[2], **headers}
        if parts.username is not None:
            headers["authorization"] = _basic(parts.username, parts.password)
        for name, value in headers.items():
            if not value.isascii() or not value.isprintable():
                raise ValueError(f"{name} holds a character that no HTTP header may hold")
        self._secure, self._limit = parts.scheme == "https", limit
        self._host, self._port = parts.hostname, port or (443 if self._secure else 80)
        self._path, self._query = parts.path.rstrip("/"), parts.query
        self._context = ssl.create_default_context() if self._secure else None
        self._proxy = _proxy(parts.scheme, parts.netloc.rpartition("@")[2])
        if self._proxy is not None and not self._secure:
            headers |= self._proxy.headers
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._idle: list[Connection] = []

    async def post(self, path: str, body: bytes) -> Response:
        """The response to a POST of JSON.

        Raises:
            TransportError, TooLong.
        """
        target = self._path + path + (f"?{self._query}" if self._query else "")
        if self._proxy is not None and not self._secure:
            target = f"http://{self._host}:{self._port}{target}"
        head = (
            f"POST {target} HTTP/1.1\r\n{self._headers}content-type: application/json\r\n"
            f"accept: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        request = head.encode("latin-1", "replace") + body
        try:
            while True:
                kept = self._kept()
                connection = kept or await self._connect()
                try:
                    return await self._exchange(connection, request)
                except _Unanswered:
                    if kept is None:
                        raise
                    # The endpoint had closed a kept connection: ask again on another one.
        except ssl.SSLError as error:
            raise TransportError(f"TLS failed: {error.reason or error}") from error
        except (OSError, EOFError, asyncio.LimitOverrunError, ValueError) as error:
            raise TransportError(str(error) or type(error).__name__) from error

    async def aclose(self) -> None:
        """Close all idle connections; a further request opens new ones."""
        idle, self._idle = self._idle, []
        for _, writer in idle:
            writer.close()
        for _, writer in idle:
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    # ---- connections --------------------------------------------------------------------------

    def _kept(self) -> Connection | None:
        while self._idle:
            reader, writer = self._idle.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.close()
        return None

    async def _connect(self) -> Connection:
        proxy = self._proxy
        if proxy is None:
            return await asyncio.open_connection(self._host, self._port, ssl=self._context)
        reader, writer = await asyncio.open_connection(proxy.host, proxy.port)
        if self._context is None:
            return reader, writer
        try:
            place = f"{self._host}:{self._port}"
            headers = "".join(f"{name}: {value}\r\n" for name, value in proxy.headers.items())
            writer.write(f"CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n{headers}\r\n".encode())
            status, _ = await _head(reader)
            if status != 200:
                raise OSError(f"the proxy refused the connection with status {status}")
            await writer.start_tls(self._context, server_hostname=self._host)
        except BaseException:
            writer.close()
            raise
        return reader, writer

    async def _exchange(self, connection: Connection, request: bytes) -> Response:
        reader, writer = connection
        keep = False
        try:
            writer.write(request)
            status, headers = await _head(reader)
            while status < 200:  # only announced
                status, headers = await _head(reader)
            body, ended = await self._body(reader, status, headers)
            keep = ended and "close" not in headers.get("connection", "").lower()
        finally:
            # A connection that was given up in the middle holds the rest of a response.
            if keep:
                self._idle.append(connection)
            else:
                writer.close()
        return Response(status, headers, body)

    async def _body(
        self, reader: asyncio.StreamReader, status: int, headers: Mapping[str, str]
    ) -> tuple[bytes, bool]:
        """(the body, whether its end is marked, so that the connection can be kept)."""
        if status in (204, 304):
            return b"", True
        ended = True
        if "chunked" in headers.get("transfer-encoding", "").lower():
            body = await self._chunks(reader)
        elif "content-length" in headers:
            length = int(headers["content-length"])
            if not 0 <= length <= self._limit:
                raise TooLong(f"its body has {length} bytes, at most {self._limit} are read")
            body = await reader.readexactly(length)
        else:
            body, ended = await self._rest(reader), False
        if headers.get("content-encoding", "").lower() in ("gzip", "deflate"):
            try:
                unpacker = zlib.decompressobj(47)
                body = unpacker.decompress(body, self._limit + 1)
            except zlib.error as error:
                raise ValueError("its body cannot be unpacked") from error
            self._check(len(body))
        return body, ended

    async def _chunks(self, reader: asyncio.StreamReader) -> bytes:
        body = bytearray()
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line.partition(b";")[0].strip() or b"x", 16)
            if size < 0:
                raise ValueError("a chunk of negative size")
            self._check(len(body) + size)
            if size == 0:
                while await reader.readuntil(b"\r\n") != b"\r\n":
                    pass  # trailers
                return bytes(body)
            body += await reader.readexactly(size)
            await reader.readexactly(2)

    async def _rest(self, reader: asyncio.StreamReader) -> bytes:
        body = bytearray()
        while data := await reader.read(1 << 16):
            body += data
            self._check(len(body))
        return bytes(body)

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise TooLong(f"its body has more than {self._limit} bytes")


class _Unanswered(OSError):
    """The connection ended before the first byte of a response."""


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Status and headers of a response; at most 64 KiB."""
    try:
        data = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        raise _Unanswered("the connection was closed without an answer") from error
    except ConnectionError as error:
        raise _Unanswered(str(error)) from error
    first, *lines = data[:-4].decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
        raise ValueError("its answer is not HTTP/1")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if version == "HTTP/1.0":
        headers.setdefault("connection", "close")
    return int(rest[:3]), headers


# ---- proxies -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Proxy:
    host: str
    port: int
    headers: dict[str, str]


def _proxy(scheme: str, netloc: str) -> _Proxy | None:
    """The proxy that the environment names for a host."""
    found = urllib.request.getproxies()
    url = found.get(scheme) or found.get("all")
    if not url or urllib.request.proxy_bypass(netloc):
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("only http:// proxies can be used; set NO_PROXY for this endpoint")
    headers = {}
    if parts.username is not None:
        headers["proxy-authorization"] = _basic(parts.username, parts.password)
    return _Proxy(parts.hostname, parts.port or 80, headers)


def _basic(user: str, password: str | None) -> str:
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
