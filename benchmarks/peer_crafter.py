"""Crafter stepped one environment at a time: a worker of craftworld.py, in a virtual environment
with `crafter`. Its step draws the picture that it gives back; "no picture" leaves that out."""

from __future__ import annotations

import random
import time
from typing import Any

import crafter  # type: ignore[import-not-found]
import numpy as np
from common import rate, serve

ENVS: dict[str, Any] = {}


def answer(what: str, seconds: float) -> dict[str, float]:
    """Steps a second, resets between episodes included, and the seconds of the first reset."""
    first = 0.0
    if what not in ENVS:
        env = ENVS[what] = crafter.Env(seed=0)
        if what == "no picture":
            env.render = lambda *_: np.zeros((1, 1, 3))
        begin = time.perf_counter()
        env.reset()
        first = time.perf_counter() - begin
    env, rng = ENVS[what], random.Random(0)

    def hundred() -> int:
        for _ in range(100):
            if env.step(rng.randrange(17))[2]:
                env.reset()
        return 100

    return {"rate": rate(hundred, seconds) if seconds else 0.0, "reset": first}


if __name__ == "__main__":
    serve(answer)
