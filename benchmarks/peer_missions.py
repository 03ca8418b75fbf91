"""lbforaging and rware stepped one environment at a time, with the observations of all players: a
worker of missions.py, in virtual environments with one of them each."""

from __future__ import annotations

import importlib
import random
from typing import Any

import gymnasium
from common import rate, serve

ENVS: dict[str, Any] = {}


def answer(package: str, task: str, seconds: float, cpu: bool = False) -> dict[str, float]:
    """Steps a second with random actions; 0 s only builds. `cpu`: as in `common.rate`."""
    if task not in ENVS:
        importlib.import_module(package)  # registers the tasks
        ENVS[task] = gymnasium.make(task, disable_env_checker=True).unwrapped
        ENVS[task].reset(seed=0)
    env, rng = ENVS[task], random.Random(0)
    number = env.action_space[0].n
    players = len(env.action_space)

    def hundred() -> int:
        for _ in range(100):
            over = env.step([rng.randrange(number) for _ in range(players)])[2]
            if over:
                env.reset()
        return 100

    hundred()
    return {"rate": rate(hundred, seconds, cpu) if seconds else 0.0}


if __name__ == "__main__":
    serve(answer)
