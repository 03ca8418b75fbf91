"""Behaviour cloning in the kitchen: the figures of docs/training.md.

    python benchmarks/kitchen_cloning.py

Greedy chefs play from random starts, and networks learn from their record, as the commands of that
page do it. For each seed: how many of the held-out decisions it foretells, and what it gets with
itself; beside it what its teachers got.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, machine, report, save

import manyhands
from manyhands.baselines.learners import cloning, training


def cloned(seeds: int, episodes: int, folder: Path) -> dict[str, Any]:
    env = manyhands.make("kitchen", starts="random")
    record = folder / "run.jsonl"
    taught = manyhands.play(env, "greedy", episodes=episodes, record=record, progress=False)
    config = dataclasses.replace(training.default_config(env, "bc"), data=(str(record),))
    learner = training.make_learner(env, "bc", config)
    result = training.train(learner, seeds, folder / "run", progress=False)
    lines = [json.loads(line) for line in (folder / "run" / "curve.jsonl").read_text().splitlines()]
    curve = {
        name: np.array([line["metrics"][f"held_out_{name}"] for line in lines])
        for name in ("loss", "accuracy")
    }
    kept = curve["loss"].argmin(axis=0)  # the update of each seed's policy
    lessons = cloning.decisions(env, config.data)
    return {
        "episodes": episodes,
        "decisions": sum(map(len, lessons)),
        "seconds": round(result.seconds, 1),
        "teachers": float(taught.rewards.mean()),
        "seeds": {
            str(seed): {
                "points": float(score.mean),
                "held_out_accuracy": float(curve["accuracy"][kept[seed], seed]),
            }
            for seed, score in result.scores.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=30, help="of the teachers")
    parser.add_argument("--out", type=Path, default=RESULTS / "kitchen-cloning.json")
    options = parser.parse_args()
    where = machine()
    with tempfile.TemporaryDirectory() as folder:
        found = cloned(options.seeds, options.episodes, Path(folder))
    command = shlex.join(["python", "benchmarks/kitchen_cloning.py", *sys.argv[1:]])
    save(options.out, command=command, machine=where, **found)
    rows = [
        (seed, f"{row['points']:.0f}", f"{row['held_out_accuracy']:.1%}")
        for seed, row in found["seeds"].items()
    ]
    report(
        f"teachers {found['teachers']:.0f} points, {found['decisions']:,} decisions",
        ("seed", "points", "held out"),
        rows,
    )


if __name__ == "__main__":
    main()
