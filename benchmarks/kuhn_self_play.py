"""Self-play in Kuhn poker: the figures of docs/training.md.

    python benchmarks/kuhn_self_play.py

PPO plays itself with its presets, as `manyhands train kuhn_poker` does. For each seed: how much can
be won from the average of its policies over the second half, and from the last one.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import RESULTS, machine, report, save

import manyhands
from manyhands.baselines.game_theory.policies import exploitability, tree_of, uniform
from manyhands.baselines.learners import training


def learned(seeds: int, folder: Path) -> dict[str, Any]:
    env = manyhands.make("kuhn_poker")
    learner = training.make_learner(env, "ippo", training.default_config(env, "ippo"))
    result = training.train(learner, seeds, folder, progress=False)
    tree = tree_of(env)
    cards = [json.loads((folder / f"average-{seed}.json").read_text()) for seed in range(seeds)]
    return {
        "steps": cards[0]["steps"],
        "seconds": round(result.seconds, 1),
        "random": float(exploitability(tree, uniform(tree))),
        "seeds": {str(seed): card["score"] for seed, card in enumerate(cards)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "kuhn-self-play.json")
    options = parser.parse_args()
    where = machine()
    with tempfile.TemporaryDirectory() as folder:
        found = learned(options.seeds, Path(folder))
    command = shlex.join(["python", "benchmarks/kuhn_self_play.py", *sys.argv[1:]])
    save(options.out, command=command, machine=where, **found)
    names = ("exploitability", "nash_conv", "exploitability_of_last")
    rows = [(seed, *(f"{row[name]:.3f}" for name in names)) for seed, row in found["seeds"].items()]
    report(f"{found['steps']:,} steps, {found['seconds']:.0f} s", ("seed", *names), rows)


if __name__ == "__main__":
    main()
