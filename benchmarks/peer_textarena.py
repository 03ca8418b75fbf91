"""TextArena's `KuhnPoker-v0` with its default wrappers, random legal actions in its own words: a
worker of tables.py, in a virtual environment with `textarena`."""

from __future__ import annotations

import random
from typing import Any

import textarena  # type: ignore[import-not-found]
from common import play_games, serve

RNG = random.Random(0)


def match(env: Any) -> int:
    """One match of three hands; how many actions it took."""
    steps, done = 0, False
    env.reset(num_players=2)
    while not done:
        _, observation = env.get_observation()
        free = "'[check]'" in observation.rpartition("available actions are:")[2]
        done, _ = env.step(RNG.choice(("[check]", "[bet]") if free else ("[fold]", "[call]")))
        steps += 1
    env.close()
    return steps


def answer(seconds: float = 0.0, games: int = 0) -> dict[str, Any]:
    """Steps a second of a new environment: it slows down from reset to reset."""
    env = textarena.make("KuhnPoker-v0")
    return play_games(lambda: match(env), seconds, games)


if __name__ == "__main__":
    serve(answer)
