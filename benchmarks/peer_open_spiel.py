"""OpenSpiel's regret minimisation, in C++ and in Python, and its games in a Python loop: a worker
of cfr.py and of tables.py, in a virtual environment with `open_spiel`."""

from __future__ import annotations

import random
from importlib.metadata import version
from typing import Any

import pyspiel
from common import rate, serve
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability
from open_spiel.python.algorithms import external_sampling_mccfr as sampling

PYTHON = {
    "cfr": cfr.CFRSolver,
    "cfr+": cfr.CFRPlusSolver,
    "mccfr": lambda game: sampling.ExternalSamplingSolver(game, sampling.AverageType.SIMPLE),
}
CPP = {
    "cfr": pyspiel.CFRSolver,
    "cfr+": pyspiel.CFRPlusSolver,
    "mccfr": lambda game: pyspiel.ExternalSamplingMCCFRSolver(game, 1),
}
COMPARED = {"kuhn_poker": 500, "kuhn_poker(players=3)": 100, "leduc_poker": 20}
SOLVERS: dict[Any, Any] = {}


def _step(game: str, algorithm: str, language: str) -> tuple[Any, Any]:
    """A new solver and what makes one iteration."""
    made = (CPP if language == "c++" else PYTHON)[algorithm](pyspiel.load_game(game))
    if algorithm == "mccfr":
        return made, made.run_iteration if language == "c++" else made.iteration
    return made, made.evaluate_and_update_policy


def iterate(game: str, algorithm: str, language: str, seconds: float) -> dict[str, Any]:
    """Iterations a second; 0 s only builds."""
    key = game, algorithm, language
    if key not in SOLVERS:
        SOLVERS[key] = _step(*key)
        SOLVERS[key][1]()
    step = SOLVERS[key][1]

    def call() -> int:
        count = 20 if language == "c++" else 1
        for _ in range(count):
            step()
        return count

    return {"rate": rate(call, seconds) if seconds else 0.0}


def values(game: str, algorithm: str, language: str) -> dict[str, Any]:
    """What the average policy earns after some iterations, and its exploitability."""
    solver, step = _step(game, algorithm, language)
    for _ in range(COMPARED[game]):
        step()
    loaded = pyspiel.load_game(game)
    policy, n = solver.average_policy(), loaded.num_players()
    if language == "c++":
        root = loaded.new_initial_state()
        earned = pyspiel.expected_returns(root, policy, -1, True)
        gap = pyspiel.nash_conv(loaded, policy, True)
    else:
        earned = expected_game_score.policy_value(loaded.new_initial_state(), [policy] * n)
        gap = exploitability.nash_conv(loaded, policy)
    return {"values": [*map(float, earned), float(gap) / n]}


def play(game: str, seconds: float) -> dict[str, Any]:
    """Decisions a second, one game after the other: random legal actions, chance drawn as it says,
    with the observation tensor of the player to move."""
    loaded, rng = pyspiel.load_game(game), random.Random(0)

    def hundred_games() -> int:
        steps = 0
        for _ in range(100):
            state = loaded.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    actions, chances = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(actions, chances)[0])
                    continue
                state.observation_tensor()
                state.apply_action(rng.choice(state.legal_actions()))
                steps += 1
            state.returns()
        return steps

    hundred_games()
    return {"rate": rate(hundred_games, seconds) if seconds else 0.0}


def about() -> dict[str, Any]:
    return {"open_spiel": version("open_spiel")}


if __name__ == "__main__":
    answers: dict[str, Any] = {
        "iterate": iterate,
        "values": values,
        "play": play,
        "about": about,
    }
    serve(lambda what, **request: answers[what](**request))
