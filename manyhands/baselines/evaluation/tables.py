"""Means with confidence intervals, and tables of them.

**Intervals** are 95% t-intervals (Student, 1908) over seeds: mean ± t(0.975, n - 1) · s / √n, with
the sample standard deviation s of n episodes. Where matches are averaged (both seat orders, many
partners) the values of each seed are averaged first: episodes of one seed are not independent. An
interval quantifies the uncertainty about *these* policies, not about another training run.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import stdtrit

from manyhands.core.env import Env

CONFIDENCE = 0.95
INTERVAL = "95% t-interval over seeds: mean ± t(0.975, n - 1) · s / √n"


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean over `count` independent values, known to `± margin` (NaN for a single value)."""

    mean: float
    margin: float
    count: int

    @classmethod
    def of(cls, values: Any) -> Estimate:
        values = np.asarray(values, np.float64)
        n = len(values)
        margin = math.nan
        if n > 1:
            t = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
            margin = t * float(values.std(ddof=1)) / math.sqrt(n)
        return cls(float(values.mean()), margin, n)

    def __str__(self) -> str:
        """Two digits of the margin, and the mean as exactly."""
        if not self.margin > 0:
            return f"{self.mean:g}" + ("" if math.isnan(self.margin) else " ± 0")
        digits = min(max(1 - math.floor(math.log10(self.margin)), 0), 6)
        return f"{self.mean:.{digits}f} ± {self.margin:.{digits}f}"

    def to_dict(self) -> dict[str, Any]:
        known = not math.isnan(self.margin)
        low, high = self.mean - self.margin, self.mean + self.margin
        return {
            "mean": self.mean,
            "low": low if known else None,
            "high": high if known else None,
            "n": self.count,
        }


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown, aligned so that it also reads well as it is."""
    cells = [[str(cell).replace("|", r"\|") for cell in row] for row in (header, *rows)]
    widths = [max(len(row[c]) for row in cells) for c in range(len(header))]

    def line(row: Sequence[str]) -> str:
        first = row[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "| " + " | ".join([first, *rest]) + " |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([line(cells[0]), f"|{rule}|", *map(line, cells[1:])])


def described(env: Env) -> str:
    """An environment in one line: the ids and the configuration that is not the default."""
    words: list[str] = []
    inner: Any = env
    while inner is not None:
        defaults = inspect.signature(type(inner)).parameters
        for name, value in inner.config().items():
            if name not in defaults or defaults[name].default != value:
                words.append(f"{name}={value}")
        words.insert(0, inner.id)
        inner = inner.env if "env" in inner.spec() else None
    return " ".join(words)
