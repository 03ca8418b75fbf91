"""Scores of the players of drones.

python benchmarks/drones.py                              # the scripted players
python benchmarks/drones.py --task pursuit --faster 1.5 --seats surround chaser random
python benchmarks/drones.py --task formation --seats policy:file=runs/formation/policy-0.safetensors

Each line is the first whole episode of each of `--episodes` environments, with a 95 % interval of
the mean. The results go to benchmarks/results/drones.json.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import jax
import numpy as np
from common import RESULTS, machine, report, save

import manyhands
from manyhands.core.rollout import rollout

SEATS = {"formation": ["keeper", "random"], "pursuit": ["surround", "chaser", "random"]}
MEANS = ("shape_error", "nearest", "in_sight")
SUMS = ("goals", "success", "captured", "collisions")


def score(env: manyhands.Env, seat: str, episodes: int, seed: int) -> dict[str, Any]:
    """Means over episodes, and halves of their 95 % intervals."""
    out = rollout(env, seat, episodes, env.max_steps, jax.random.key(seed), pool=episodes)
    steps = out.trajectory
    assert steps is not None
    over = np.asarray(steps.terminated | steps.truncated).all(1)  # [T, B]
    length = 1 + np.argmax(over, axis=0)
    live = np.arange(env.max_steps)[:, None] < length
    found: dict[str, Any] = {"episodes": episodes, "seat": seat}

    def add(name: str, values: np.ndarray) -> None:
        half = 1.96 * float(values.std(ddof=1)) / math.sqrt(episodes)
        found[name] = [float(values.mean()), half]

    add("return", (np.asarray(steps.reward).mean(1) * live).sum(0))
    add("steps", length.astype(float))
    for name, values in steps.metrics.items():
        total = (np.asarray(values) * live).sum(0)
        if name in SUMS:
            add(name, total)
        elif name in MEANS:
            add(name, total / length)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=[*SEATS, "all"], default="all")
    parser.add_argument("--seats", nargs="*")
    parser.add_argument("--drones", type=int)
    parser.add_argument("--faster", type=float)
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", default="drones", help="of the file of results")
    given = parser.parse_args()
    rows = []
    for task in SEATS if given.task == "all" else [given.task]:
        options = {"drones": given.drones, "faster": given.faster}
        options = {name: value for name, value in options.items() if value is not None}
        env = manyhands.make("drones", task=task, **options)
        for seat in given.seats or SEATS[task]:
            rows.append({"task": task, **options, **score(env, seat, given.episodes, given.seed)})
            print(rows[-1], flush=True)
    save(RESULTS / f"{given.name}.json", machine=machine(), seed=given.seed, scores=rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = [
        [
            f"{cell[0]:.2f} ± {cell[1]:.2f}" if isinstance(cell, list) else str(cell)
            for cell in (row.get(name, "") for name in names)
        ]
        for row in rows
    ]
    report("Players of drones", names, table)


if __name__ == "__main__":
    main()
