"""Requests to the endpoint of a language model, with retries, budgets, and without secrets in what
they leave behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from manyhands.baselines.players.budget import Budget, Usage
from manyhands.baselines.players.endpoint import (
    Endpoint,
    Response,
    TooLong,
    TransportError,
    retry_after,
    secrets_of,
)
from manyhands.core.config import number, positive, whole
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.redact import redact

MAX_BODY = 4 << 20  # bytes of a response that are read
_AT_ONCE = 8  # replies that are taken up in one iteration of the event loop


@dataclass
class Call:
    """One response of the endpoint, or its error (with `retry`, whether to try again, and `wait`,
    the seconds that the endpoint asks for). `scores` are of a scoring request alone: the
    log-likelihood of each choice, with its number of tokens."""

    reply: str = ""
    finish: str | None = None
    usage: Usage | None = None
    scores: list[tuple[float, int]] = field(default_factory=list)
    error: str | None = None
    status: str = "ok"
    retry: bool = False
    wait: float | None = None
    seconds: float = 0.0
    cost: float = 0.0


class Log:
    """The cost of one step, for the record."""

    def __init__(self, priced: bool):
        self.attempts: list[dict[str, Any]] = []
        self.prompt_tokens = self.completion_tokens = self.cached_tokens = 0
        self.cost: float | None = 0.0 if priced else None
        self._began = time.monotonic()

    def add(self, call: Call, status: str, reason: str | None) -> None:
        """An attempt to get an answer."""
        usage = call.usage or Usage()
        attempt = {
            "status": status,
            "reason": reason,
            "reply": call.reply,
            "seconds": round(call.seconds, 3),
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
        }
        self.attempts.append(attempt)
        self.count(call)

    def count(self, call: Call) -> None:
        """The tokens of a request."""
        usage = call.usage or Usage()
        self.prompt_tokens += usage.prompt
        self.completion_tokens += usage.completion
        self.cached_tokens += usage.cached
        if self.cost is not None:
            self.cost += call.cost

    def include(self, other: Log) -> None:
        """Add the sums of another log."""
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.cached_tokens += other.cached_tokens
        if self.cost is not None:
            self.cost += other.cost or 0.0

    def info(self) -> dict[str, Any]:
        """The sums: tokens, seconds since the log began, and the price if it is known."""
        found: dict[str, Any] = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "seconds": round(time.monotonic() - self._began, 3),
        }
        if self.cached_tokens:
            found["cached_tokens"] = self.cached_tokens
        if self.cost is not None:
            found["cost"] = round(self.cost, 9)
        return found


class Turnstile:
    """Lets coroutines pass a few in each iteration of the event loop, in the order that they came.

    Hundreds of replies may arrive together. Were they all taken up in the same iteration, the first
    request that follows on them would be sent only after the last of them was read, its step made
    and its prompt written. The endpoint would have nothing to do until then.

    Args:
        loop: the event loop.
        size: how many pass in one iteration.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, size: int):
        self._loop, self._size, self._free = loop, size, size
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def passed(self) -> None:
        """Wait for one's turn."""
        if self._free == self._size:
            self._loop.call_soon(self._open)
        if self._free:
            self._free -= 1
            return
        future = self._loop.create_future()
        self._waiting.append(future)
        await future

    def _open(self) -> None:
        self._free = self._size
        while self._free and self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                self._free -= 1
        if self._free < self._size:
            self._loop.call_soon(self._open)


class Client:
    """A model at an endpoint. The options are those of `Language`.

    Attributes:
        endpoint: the connections of the running event loop, if there are any.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        key: str,
        budget: Budget,
        *,
        timeout: float,
        tries: int,
        backoff: float,
        max_wait: float,
        max_reply: int,
    ):
        try:
            self.timeout, self.tries = positive("timeout", timeout), whole("tries", tries, 1)
            self.backoff = number("backoff", backoff, 0)
            self.max_wait = number("max_wait", max_wait, 0)
            self.max_reply = whole("max_reply", max_reply, 1)
        except ConfigError as error:
            raise SeatError(str(error)) from None
        self.model, self.base_url, self._key, self.budget = model, base_url, key, budget
        try:
            Endpoint(base_url, {"api_key": key}, MAX_BODY)
            self._secrets = secrets_of(key, base_url)
        except ValueError as error:
            raise SeatError(f"no endpoint can be asked at {self.place()!r}: {error}") from None
        self.endpoint: Endpoint | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turnstile: Turnstile | None = None

    def log(self) -> Log:
        """A new log."""
        return Log(self.budget.price is not None)

    async def chat(self, body: bytes, log: Log) -> Call:
        """The reply to a request for a chat completion; failed attempts are logged, the one that
        succeeds is not.

        Raises:
            SeatError: it failed for good.
            BudgetSpent: nothing may be spent any more.
        """
        return await self._request("/chat/completions", body, self._chat, log)

    async def complete(self, body: bytes, unpack: Callable[[Any], Call], log: Log) -> Call:
        """The same for a completion, whose answer `unpack` reads; it raises a `SeatError` for
        one that no further try would change."""
        return await self._request("/completions", body, unpack, log)

    async def _request(
        self, path: str, body: bytes, unpack: Callable[[Any], Call], log: Log
    ) -> Call:
        for attempt in range(1, self.tries + 1):
            self.budget.check()
            call = await self._send(path, body, unpack)
            if call.error is None:
                return call
            log.add(call, call.status, call.error)
            failed = f"the model {self.model!r} at {self.place()} failed: {call.error}"
            if not call.retry:
                raise SeatError(failed)
            wait = self.backoff * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)
            wait = min(wait, self.max_wait)
            if call.wait is not None:
                if call.wait > self.max_wait:
                    raise SeatError(
                        f"{failed}; it asks to wait {call.wait:g} s, more than max_wait="
                        f"{self.max_wait:g}"
                    )
                wait = max(wait, call.wait)
            if attempt < self.tries:
                await asyncio.sleep(wait)
        raise SeatError(f"{failed} ({self.tries} tries)")

    async def _send(self, path: str, body: bytes, unpack: Callable[[Any], Call]) -> Call:
        """One request. Errors of the endpoint become part of the result."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.timeout):
                response = await self._connected().post(path, body)
            call = self._unpack(response, unpack)
        except TimeoutError:
            call = Call(error=f"no answer within {self.timeout:g} s", status="timeout", retry=True)
        except TransportError as error:
            reason = self.clean(str(error))[:300]
            call = Call(error=f"connection lost ({reason})", status="connection", retry=True)
        except TooLong as error:
            call = Call(error=f"too long an answer: {error}", status="too long", retry=True)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            reason = self.clean(f"{type(error).__name__}: {error}")[:300]
            call = Call(error=f"not a completion ({reason})", status="garbage", retry=True)
        call.seconds = time.monotonic() - began
        if self._turnstile is not None:
            await self._turnstile.passed()
        return call

    def _connected(self) -> Endpoint:
        """The endpoint, with connections of the running event loop."""
        loop = asyncio.get_running_loop()
        if self.endpoint is None or self._loop is not loop:
            headers = {"authorization": f"Bearer {self._key}", "user-agent": "manyhands"}
            self._loop, self._turnstile = loop, Turnstile(loop, _AT_ONCE)
            self.endpoint = Endpoint(self.base_url, headers, MAX_BODY)
        return self.endpoint

    async def aclose(self) -> None:
        """Close the connections; a later request opens new ones."""
        endpoint, self.endpoint = self.endpoint, None
        if endpoint is not None and self._loop is asyncio.get_running_loop():
            await endpoint.aclose()

    def _unpack(self, response: Response, unpack: Callable[[Any], Call]) -> Call:
        """The relevant parts of a response; raises if parts of a completion are missing."""
        code = response.status
        if not 200 <= code < 300:
            try:
                reason = str(json.loads(response.body)["error"]["message"])
            except (ValueError, TypeError, LookupError, RecursionError):
                reason = response.body[:2000].decode(errors="replace")
            return Call(
                error=f"status {code}: {self.clean(reason)[:300]}",
                status=f"http {code}",
                retry=code in (408, 409, 429) or code >= 500,
                wait=retry_after(response.headers.get("retry-after")),
            )
        answer = json.loads(response.body)
        usage = _usage(answer["usage"]) if isinstance(answer.get("usage"), dict) else None
        cost = self.budget.add(usage or Usage())  # it is paid for, whatever is in it
        call = unpack(answer)
        call.usage, call.cost = usage, cost
        if usage is None and self.budget.counts:
            raise SeatError(
                f"the model {self.model!r} at {self.place()} does not report its tokens (usage), "
                "so that max_total_tokens and max_cost cannot be kept; use max_seconds"
            )
        return call

    def _chat(self, answer: Any) -> Call:
        choice = answer["choices"][0]
        message = choice["message"]
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            raise TypeError(f"content is a {type(content).__name__}, not text")
        reply = self._shortened(content or "")
        called = message.get("tool_calls")
        if called:
            # Calls of functions in the form that the reader of answers knows.
            lines = [_called(one["function"]) for one in called]
            reply = "\n".join([*([reply] if reply.strip() else []), *lines])[-self.max_reply :]
        return Call(self.clean(reply), choice.get("finish_reason"))

    def _shortened(self, reply: str) -> str:
        """The end of a reply, where the ACTION line is, if it is longer than `max_reply`."""
        left_out = len(reply) - self.max_reply
        if left_out <= 0:
            return reply
        opened = max(reply.rfind(f"<{tag}", 0, left_out) for tag in ("think", "reasoning"))
        closed = max(reply.rfind(f"</{tag}", 0, left_out) for tag in ("think", "reasoning"))
        inside = "<think>" if opened > closed else ""
        return f"({left_out} characters left out)\n{inside}{reply[left_out:]}"

    def clean(self, text: str) -> str:
        """Text from the endpoint, or of an error, without the key and the parts of the URL that are
        secret, should they be in it."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def place(self) -> str:
        """The endpoint without passwords or parameters."""
        return redact(self.base_url).partition("#")[0].partition("?")[0].replace("***@", "", 1)


def _called(function: Any) -> str:
    """A call of a function, as one JSON object."""
    arguments = function["arguments"]
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):  # shown as it is, and refused by the reader
            arguments = json.loads(arguments or "{}")
    return json.dumps({"name": function["name"], "arguments": arguments}, ensure_ascii=False)


def _usage(given: dict[str, Any]) -> Usage:
    details = given.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return Usage(
        _count(given.get("prompt_tokens")), _count(given.get("completion_tokens")), _count(cached)
    )


def _count(value: Any) -> int:
    """A number of tokens, 0 for anything else."""
    known = isinstance(value, (int, float)) and math.isfinite(value)
    return max(0, int(value)) if known else 0
