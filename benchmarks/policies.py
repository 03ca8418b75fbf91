"""The policies that come with the package, and the tables about them in docs/training.md.

    python benchmarks/policies.py

Trains IPPO (4 seeds) and FCP in the five classic kitchens with the default commands, into `runs/`
(what is there already is not trained again), copies IPPO's best seed of each to
`manyhands/assets/policies/kitchen/`, and plays: every seed with itself, the seeds with each other,
and IPPO and FCP with the held-out scripted chefs. Tables are printed; all figures go to
`benchmarks/results/policies.json`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, machine, save

LAYOUTS = (
    "cramped_room",
    "asymmetric_advantages",
    "coordination_ring",
    "forced_coordination",
    "counter_circuit",
)
SEEDS = {"ippo": 4, "fcp": 1}
SHIPPED = ROOT / "manyhands" / "assets" / "policies" / "kitchen"


def trained(layout: str, algorithm: str, runs: Path) -> list[Path]:
    """The policies of a run, by seed; trained if they are not there."""
    out = runs / f"{layout}-{algorithm}"
    files = [out / f"policy-{seed}.safetensors" for seed in range(SEEDS[algorithm])]
    if not all(file.exists() for file in files):
        command = ["train", "kitchen", "--layout", layout, "--algorithm", algorithm]
        command += ["--seeds", str(SEEDS[algorithm]), "--out", str(out), "--resume"]
        subprocess.run([sys.executable, "-m", "manyhands", *command], check=True, cwd=ROOT)
    return files


def measured(layout: str, runs: Path, episodes: int) -> dict[str, Any]:
    """Train, ship and play in one kitchen."""
    import manyhands
    from manyhands.baselines.evaluation import evaluate, zero_shot
    from manyhands.baselines.evaluation.crossplay import crossplay
    from manyhands.baselines.players import network as policies

    env = manyhands.make("kitchen", layout=layout)
    result: dict[str, Any] = {}
    for algorithm in SEEDS:
        files = trained(layout, algorithm, runs)
        cards = [json.loads(file.with_suffix(".json").read_text()) for file in files]
        best = max(range(len(files)), key=lambda i: cards[i]["score"]["return"])
        scores = {str(card["seed"]): card["score"]["return"] for card in cards}
        card = cards[best] | {"scores_of_all_seeds": scores}
        policy = policies.load(files[best], env)
        if algorithm == "ippo":
            policies.save(SHIPPED / f"{layout}-{algorithm}.safetensors", policy, card)
        result[algorithm] = {
            "command": card["command"],
            "steps": card["steps"],
            "seconds": card["seconds"],
            "self_play": scores,
            "held_out": zero_shot(env, policy, episodes=episodes).to_dict(),
        }
        if len(files) > 1:
            table = crossplay(env, files, episodes=episodes)
            result[algorithm]["cross_play"] = table.cross_play.to_dict()
            result[algorithm]["self_play_mean"] = table.self_play.to_dict()
        else:
            own = evaluate(env, policy, episodes=episodes).mean["return"]
            result[algorithm]["self_play_mean"] = own.to_dict()
    return result


def tables(results: dict[str, Any]) -> str:
    """The figures as Markdown."""

    def cell(estimate: dict[str, Any]) -> str:
        return f"{estimate['mean']:.0f}"

    lines = [
        "| kitchen | IPPO, self-play of each seed | mean | between seeds | with held-out partners "
        "| FCP, self-play | with held-out partners |",
        "|---|---|---|---|---|---|---|",
    ]
    for layout, found in results.items():
        ippo, fcp = found["ippo"], found["fcp"]
        row = [
            layout,
            ", ".join(f"{score:.0f}" for score in ippo["self_play"].values()),
            cell(ippo["self_play_mean"]),
            cell(ippo["cross_play"]),
            cell(ippo["held_out"]["mean"]["all"]),
            cell(fcp["self_play_mean"]),
            cell(fcp["held_out"]["mean"]["all"]),
        ]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS, choices=LAYOUTS)
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where runs are kept")
    parser.add_argument("--episodes", type=int, default=100, help="of each pair")
    options = parser.parse_args()
    results = {
        layout: measured(layout, options.runs, options.episodes) for layout in options.layouts
    }
    print(tables(results))
    save(RESULTS / "policies.json", machine=machine(), kitchens=results)


if __name__ == "__main__":
    main()
