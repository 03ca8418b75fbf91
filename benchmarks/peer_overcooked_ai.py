"""Overcooked-AI stepped one environment at a time, with its lossless encoding for both players: a
worker of single.py, in a virtual environment with `overcooked-ai`."""

from __future__ import annotations

import random
from typing import Any

from common import rate, serve
from overcooked_ai_py.mdp.actions import Action  # type: ignore[import-not-found]
from overcooked_ai_py.mdp.overcooked_env import OvercookedEnv  # type: ignore[import-not-found]
from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld  # type: ignore

ENVS: dict[str, Any] = {}


def answer(layout: str, seconds: float) -> dict[str, float]:
    """Steps a second, each with the observations of both players; 0 s only builds."""
    if layout not in ENVS:
        game = OvercookedGridworld.from_layout_name(layout)
        ENVS[layout] = OvercookedEnv.from_mdp(game, horizon=400, info_level=0)
    env, rng = ENVS[layout], random.Random(0)

    def hundred() -> int:
        for _ in range(100):
            joint = (rng.choice(Action.ALL_ACTIONS), rng.choice(Action.ALL_ACTIONS))
            state, _, done, _ = env.step(joint)
            env.lossless_state_encoding_mdp(state)
            if done:
                env.reset()
        return 100

    hundred()
    return {"rate": rate(hundred, seconds) if seconds else 0.0}


if __name__ == "__main__":
    serve(answer)
