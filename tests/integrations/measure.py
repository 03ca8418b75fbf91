"""What the tests of the adapters share."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager


def legal(text: str) -> list[str]:
    """The legal actions that a text lists, without their effects."""
    listed = text.rpartition("What you may do now:\n")[2]
    return [line.partition(":")[0] for line in re.findall(r"^- (.*)$", listed, re.M)]


def pick(text: str, rng: random.Random | None = None) -> str:
    choices = legal(text)
    return (rng or random).choice(choices) if choices else "check"


class Count:
    n = 0


@contextmanager
def overhead(what: str) -> Iterator[Count]:
    """Prints the time of a decision; the body counts them."""
    count, began, busy = Count(), time.perf_counter(), time.process_time()
    yield count
    wall, busy = (
        1000 * (t - u) / count.n
        for t, u in ((time.perf_counter(), began), (time.process_time(), busy))
    )
    print(
        f"\noverhead: {what}: {wall:.2f} ms a decision, of which {busy:.2f} ms of this "
        f"process's CPU ({count.n} decisions)"
    )
