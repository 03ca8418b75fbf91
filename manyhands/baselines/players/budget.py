"""What a language model costs, and budgets that stop a run: tokens, money, time."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyhands.core.config import nearest, number, whole
from manyhands.core.env import ConfigError, SeatError, shorten
from manyhands.core.view import BudgetSpent

_FORM = '"in/out" or "in/out/cached", the prices of a million tokens, such as "0.15/0.6"'


@dataclass(frozen=True)
class Usage:
    """The tokens of a request: of the prompt, of the reply, and how many of the prompt the endpoint
    had cached."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


@dataclass(frozen=True)
class Price:
    """The prices of a million tokens, in the currency of whoever made the table: of prompts, of
    replies, and of the part of prompts that the endpoint had cached."""

    input: float
    output: float
    cached: float

    def of(self, usage: Usage) -> float:
        """The price of a request."""
        cached = min(usage.cached, usage.prompt)
        paid = (usage.prompt - cached) * self.input + cached * self.cached
        return (paid + usage.completion * self.output) / 1e6


def read_price(given: Any, model: str) -> Price | None:
    """The price of a model.

    Args:
        given: None, "in/out" or "in/out/cached", or a file (.json or .toml) that maps names of
            models to such text or to {"input": 0.15, "output": 0.6, "cached": 0.075}.

    Raises:
        SeatError: it is neither, cannot be read, or does not hold the model.
    """
    if given is None:
        return None
    if isinstance(given, (str, Path)) and not _is_price(str(given)):
        path = Path(given)
        try:
            text = path.read_text()
            table = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        except (OSError, ValueError) as error:
            raise SeatError(
                f"prices is {_FORM}, or a file of them (.json, .toml), given {str(given)!r}: "
                f"{error}"
            ) from None
        if not isinstance(table, Mapping) or model not in table:
            known = table if isinstance(table, Mapping) else ()
            raise SeatError(
                f"{path} holds no price of the model {model!r};{nearest(model, known)} it holds "
                f"{', '.join(map(str, known)) or 'none'}"
            )
        given = table[model]
    try:
        if isinstance(given, str) and _is_price(given):
            parts = [float(part) for part in given.split("/")]
            names = ("input", "output", "cached")
            given = dict(zip(names, parts, strict=False))
        if not isinstance(given, Mapping) or not {"input", "output"} <= {*given}:
            raise ConfigError(f"a price is {_FORM}, given {shorten(given)}")
        values = {name: number(f"the price of {name}", given[name], 0) for name in given}
        values.setdefault("cached", values["input"])
        return Price(**values)
    except (ConfigError, TypeError) as error:
        raise SeatError(str(error)) from None


def _is_price(text: str) -> bool:
    parts = text.split("/")
    try:
        return len(parts) in (2, 3) and all(float(part) >= 0 for part in parts)
    except ValueError:
        return False


class Budget:
    """What a seat may spend, over all its episodes and runs, and what it has spent.

    Args:
        price: of its model, if known.
        max_total_tokens, max_cost, max_seconds: the limits; None: no limit. Seconds count from the
            first request.

    Attributes:
        tokens, cost: spent so far.
    """

    def __init__(
        self,
        price: Price | None = None,
        max_total_tokens: int | None = None,
        max_cost: float | None = None,
        max_seconds: float | None = None,
    ):
        self.price, self.tokens, self.cost = price, 0, 0.0
        self._began: float | None = None
        try:
            if max_total_tokens is not None:
                whole("max_total_tokens", max_total_tokens, 1)
            for name, value in (("max_cost", max_cost), ("max_seconds", max_seconds)):
                if value is not None and number(name, value, 0) == 0:
                    raise ConfigError(f"{name} is a number above 0, given {value!r}")
        except ConfigError as error:
            raise SeatError(str(error)) from None
        if max_cost is not None and price is None:
            raise SeatError(f"max_cost={max_cost:g} needs prices=: {_FORM}, or a file of them")
        self.max_tokens, self.max_cost, self.max_seconds = max_total_tokens, max_cost, max_seconds

    @property
    def counts(self) -> bool:
        """Whether it cannot be kept without knowing the tokens of every reply."""
        return self.max_tokens is not None or self.max_cost is not None

    def check(self) -> None:
        """Call it before each request.

        Raises:
            BudgetSpent: no further one may be made.
        """
        if self._began is None:
            self._began = time.monotonic()
        seconds = time.monotonic() - self._began
        for name, spent, limit in (
            ("max_total_tokens", self.tokens, self.max_tokens),
            ("max_cost", self.cost, self.max_cost),
            ("max_seconds", seconds, self.max_seconds),
        ):
            if limit is not None and spent >= limit:
                raise BudgetSpent(f"the budget {name}={limit} is spent ({round(spent, 6)})")

    def add(self, usage: Usage) -> float:
        """Count a request; its price, 0 if none is known."""
        self.tokens += usage.prompt + usage.completion
        cost = 0.0 if self.price is None else self.price.of(usage)
        self.cost += cost
        return cost
