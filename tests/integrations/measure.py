"""What the tests of the adapters share."""

from __future__ import annotations

import random
import re
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"


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
        f"\noverhead: {what}: {wall:.3f} ms a decision, of which {busy:.3f} ms of this "
        f"process's CPU ({count.n} decisions)"
    )


def alone_and_together(make: Callable[[], Any], steps: Callable[[Any, int], Iterator[Any]]) -> None:
    """Several environments, stepped in turn, give what each gives alone: `steps(env, seed)` yields
    what is seen at each step."""
    alone = [list(steps(make(), seed)) for seed in (3, 4)]
    together = list(zip(*(steps(make(), seed) for seed in (3, 4)), strict=True))
    assert [list(found) for found in zip(*together, strict=True)] == alone
    assert alone[0] != alone[1]
    assert alone[0] == list(steps(make(), 3))


def recipe(heading: str) -> dict[str, Any]:
    """What the snippets under a heading of `docs/integrations.md` define, run as they stand there;
    "yaml" is its YAML."""
    text = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    if not text:
        raise LookupError(f"{PAGE} has no heading {heading!r}")
    name = f"recipe_{heading}"
    module = types.ModuleType(name)
    sys.modules[name] = module  # what is defined there can be pickled
    for snippet in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(snippet, str(PAGE), "exec"), vars(module))
    vars(module)["yaml"] = "".join(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
    return vars(module)
