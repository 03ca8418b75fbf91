"""PPO, GRPO and GiGPO in the kitchen by skills, at equal episodes.

    python benchmarks/kitchen_groups.py

Two chefs of one network choose a skill at each step of `cramped_room` (episodes of 150 steps), from
a vector, from scratch. Eight episodes have the same start, and since these kitchens draw nothing,
differ by the chefs' choices alone. All three learn from the same reward: soups (20), and what
Overcooked-AI's shaping gives for onions in pots (3), dishes (3) and soups taken up (5). Reported
are soups an episode, as mean, least and greatest of the seeds, and the share of steps whose
observation an agent had before in the episode, clocks and the number of soups aside.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, ROOT, machine, report, save

import manyhands
from manyhands.baselines.learners import training

METHODS = {"PPO": "gae", "GRPO": "group", "GiGPO": "anchor"}
STEPS = 150
PARTS = {"first": (0.0, 0.05), "quarter": (0.2, 0.25), "half": (0.45, 0.5), "end": (0.9, 1.0)}
SHAPED = {"pot_placement": 3.0, "dish_pickup": 3.0, "soup_pickup": 5.0}
SETTINGS: dict[str, Any] = {
    "num_envs": 64,
    "num_steps": STEPS,
    "minibatches": 2,
    "epochs": 2,
    "learning_rate": 1e-3,
    "entropy": 0.01,
    "entropy_end": 0.001,
    "reward_scale": 0.05,
    "reads": "vector",
    "width": 64,
    "shaping": (),
    "start_player": "",
    "bootstrap": False,
    "group": 8,
    "anchor_ignores": ("steps_left", "soups"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=1_600, help="of each seed")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=tuple(METHODS))
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "kitchen-groups")
    parser.add_argument("--out", type=Path, default=RESULTS / "kitchen-groups.json")
    args = parser.parse_args()
    kitchen = manyhands.make(
        "kitchen",
        layout="cramped_room",
        max_steps=STEPS,
        observation="features",
        reward_weights=SHAPED,
    )
    env = manyhands.make("skills", env=kitchen)
    found = {name: learned(env, name, args) for name in args.methods}
    rows = []
    for name, entry in found.items():
        ends = [spread(part) for part in entry["soups"].values()]
        rows.append([name, *ends, spread(entry["repeated"]["end"]), f"{entry['seconds']:.0f}"])
    heads = ["method", *(f"soups, {part}" for part in PARTS), "repeated at the end, %", "s"]
    report(f"the kitchen by skills, {args.episodes} episodes, {args.seeds} seeds", heads, rows)
    settings = {**SETTINGS, "episodes": args.episodes, "seeds": args.seeds, "rewards": SHAPED}
    save(args.out, benchmark="kitchen-groups", machine=machine(), settings=settings, methods=found)


def learned(env: Any, name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Soups an episode of each seed, in parts of the run, and how often sights were repeated."""
    began = time.perf_counter()
    settings = SETTINGS | {"advantage": METHODS[name], "total_steps": args.episodes * STEPS}
    config = dataclasses.replace(training.default_config(env, "ippo"), **settings)
    training.train(
        training.make_learner(env, "ippo", config),
        args.seeds,
        args.runs / name,
        resume=True,
        episodes=20,
        progress=False,
        command="python benchmarks/kitchen_groups.py",
    )
    text = (args.runs / name / "curve.jsonl").read_text()
    lines = [json.loads(line)["metrics"] for line in text.splitlines()]

    def parts(metric: str, scale: float) -> dict[str, list[float]]:
        values = np.array([line[metric] for line in lines], float) * scale  # [updates, seeds]
        count = len(values)
        return {
            part: values[int(a * count) : max(int(b * count), int(a * count) + 1)].mean(0).tolist()
            for part, (a, b) in PARTS.items()
        }

    return {
        "seconds": round(time.perf_counter() - began, 1),
        "soups": parts("metrics/soups", 1.0),
        "repeated": parts("repeated", 100.0),
    }


def spread(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    main()
