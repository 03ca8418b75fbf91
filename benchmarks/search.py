"""How strong the seat `search` is: the tables of docs/methods.md.

    python benchmarks/search.py

Connect Four: `search` with several numbers of simulations against `random`, against `solver` at
several depths, and against itself with four times as many simulations; seats change from game to
game. Kitchen (random starts): a searching chef with a greedy one, whom its model expects, beside
two greedy chefs from the same starts. Intervals are 1.96 standard errors of the mean over episodes.
All figures go to `benchmarks/results/search.json`; its part `kitchen_undiscounted` is of a run with
a horizon of 30 steps and no discount. What is in the file was made by the options `--episodes 32
--most 400 --cooks 0` (stopped after six rows), and `--episodes 0 --cooks 16 --simulations 6`; then
`--episodes 64 --cooks 0 --rows 8 9 11`, `--episodes 64 --cooks 0 --rows 15`, `--episodes 32
--cooks 0 --rows 18`, and `--episodes 0 --layouts asymmetric_advantages counter_circuit --steps 200
--simulations 6`. Rows that were not asked for stay, and `machine` is that of the last command.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, machine, report, save

import manyhands

BOARD: tuple[tuple[int, str], ...] = (
    (25, "random"),
    (25, "solver:depth=1"),
    (100, "solver:depth=1"),
)
BOARD += ((100, "solver:depth=4"), (100, "search:simulations=25"), (400, "solver:depth=4"))
BOARD += ((400, "search:simulations=100"), (1600, "solver:depth=4"))
BOARD += ((12, "solver:depth=1"), (50, "solver:depth=1"), (200, "solver:depth=1"))
BOARD += tuple((2 * n, f"search:simulations={n}") for n in (12, 25, 50, 100))
DECISIVE = ((25, "solver:depth=1"), (100, "solver:depth=1"), (100, "solver:depth=4"))
DECISIVE += tuple((n, f"search:simulations={n}") for n in (25, 100))
ROWS = [(n, "", other) for n, other in BOARD] + [(n, "decisive", other) for n, other in DECISIVE]
KITCHEN = (
    "search:simulations={},value=greedy,rollouts=1,horizon={},partners=greedy,chances=1,"
    "discount=0.97"
)


def estimate(values: Any) -> dict[str, float]:
    array = np.asarray(values, float)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else 0.0
    return {"mean": round(float(array.mean()), 4), "interval": round(float(1.96 * error), 4)}


def board(simulations: int, value: str, other: str, episodes: int, seed: int) -> dict[str, Any]:
    """Games of `search` with another player."""
    began = time.perf_counter()
    mine = f"search:simulations={simulations}" + (value and f",value={value}")
    result = manyhands.play(
        "connect_four", [mine, other], episodes, seed, rotate=True, progress=False
    )
    scores = result.seat_rewards[:, 0]
    return {
        "search": mine,
        "other": other,
        "episodes": episodes,
        "score": estimate(scores),
        "wins": int((scores > 0).sum()),
        "draws": int((scores == 0).sum()),
        "seconds": round(time.perf_counter() - began, 1),
    }


def kitchen(
    layout: str, seat: str, partner: str, episodes: int, seed: int, steps: int
) -> dict[str, Any]:
    """Episodes of two chefs."""
    began = time.perf_counter()
    env = manyhands.make("kitchen", layout=layout, starts="random", max_steps=steps)
    result = manyhands.play(env, [seat, partner], episodes, seed, progress=False)
    return {
        "layout": layout,
        "seat": seat,
        "partner": partner,
        "episodes": episodes,
        "steps": steps,
        "return": estimate(result.rewards[:, 0]),
        "all": result.rewards[:, 0].tolist(),
        "seconds": round(time.perf_counter() - began, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--episodes", type=int, default=64, help="games of Connect Four a pair")
    parser.add_argument("--most", type=int, default=1600, help="skip rows with more simulations")
    parser.add_argument("--rows", type=int, nargs="*", help="numbers of rows of Connect Four")
    parser.add_argument("--cooks", type=int, default=16, help="episodes of the kitchen a row")
    parser.add_argument("--layouts", nargs="*", default=["cramped_room"], help="kitchens")
    parser.add_argument("--steps", type=int, default=100, help="of an episode of the kitchen")
    parser.add_argument("--simulations", type=int, nargs="*", default=[6, 12])
    parser.add_argument("--horizon", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "search.json")
    options = parser.parse_args()
    known = json.loads(options.out.read_text()) if options.out.exists() else {}
    before = known.get("connect_four", {}).get("rows", [])
    cooked = known.get("kitchen", {}).get("rows", [])
    rows, cooks = [], []

    def keep() -> None:
        # What was not asked for now stays as it was measured before.
        if rows:
            found = {(row["search"], row["other"]): row for row in (*before, *rows)}
            table = list(found.values())
            known["connect_four"] = {"machine": began, "seed": options.seed, "rows": table}
        if cooks:
            same = {
                tuple(row[part] for part in ("layout", "steps", "seat", "partner")): row
                for row in (*cooked, *cooks)
            }
            table = list(same.values())
            known["kitchen"] = {"machine": began, "seed": options.seed, "rows": table}
        save(options.out, **known)

    began = machine()
    for number, (simulations, value, other) in enumerate(ROWS):
        wanted = options.rows is None or number in options.rows
        if wanted and simulations <= options.most and options.episodes:
            rows.append(board(simulations, value, other, options.episodes, options.seed))
            print(rows[-1], flush=True)
            keep()
    if options.cooks:
        seats = [KITCHEN.format(n, options.horizon) for n in options.simulations]
        for layout, seat in itertools.product(options.layouts, ("greedy", *seats)):
            row = kitchen(layout, seat, "greedy", options.cooks, options.seed, options.steps)
            cooks.append(row)
            print(row, flush=True)
            keep()
    report(
        "Connect Four",
        ["search", "other", "score", "wins, draws of", "seconds"],
        [
            [
                row["search"],
                row["other"],
                f"{row['score']['mean']:.2f} ± {row['score']['interval']:.2f}",
                f"{row['wins']}, {row['draws']} of {row['episodes']}",
                f"{row['seconds']:.0f}",
            ]
            for row in rows
        ],
    )
    report(
        "Kitchen",
        ["layout", "seat", "partner", "return", "seconds"],
        [
            [
                row["layout"],
                row["seat"],
                row["partner"],
                f"{row['return']['mean']:.1f} ± {row['return']['interval']:.1f}",
                f"{row['seconds']:.0f}",
            ]
            for row in cooks
        ],
    )


if __name__ == "__main__":
    main()
