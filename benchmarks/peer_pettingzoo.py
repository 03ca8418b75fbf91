"""PettingZoo's classic `leduc_holdem` (the game is RLCard's) through its AEC API: a worker of
tables.py, in a virtual environment with `pettingzoo` and `rlcard`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from common import aec_game, play_games, serve
from pettingzoo.classic import leduc_holdem_v4

ENV, RNG = leduc_holdem_v4.env(), random.Random(0)


def choose(observation: Any, info: Any) -> int:
    return RNG.choice(np.flatnonzero(observation["action_mask"]).tolist())


if __name__ == "__main__":
    serve(lambda seconds: play_games(lambda: aec_game(ENV, choose), seconds))
