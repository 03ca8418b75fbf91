"""What learners reach in homes: the tables of docs/home.md.

    python benchmarks/home_learning.py
    python benchmarks/home_learning.py --parts single --seeds 3

Parts: `single` trains PPO on the chores of `chore_small`; `pair` trains IPPO and MAPPO on the same
with two players, who are compared with one. Steps over the fewest are those of successful episodes,
as in `home_players.py`. Runs are kept in `runs/`: what is there is not trained again, and what was
stopped goes on. Figures are added to `benchmarks/results/home-learning.json`, part by part. With
`--ship` the best seed of `single` is put into the package.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, machine, save
from home_players import spread, starts_of

import manyhands
from manyhands.baselines.evaluation.matches import play_matches
from manyhands.baselines.learners import training
from manyhands.baselines.players import network as policies

OUT = RESULTS / "home-learning.json"
SHIPPED = ROOT / "manyhands" / "assets" / "policies" / "home"
PPO: dict[str, Any] = {
    "total_steps": 1_500_000,
    "num_envs": 256,
    "num_steps": 32,
    "epochs": 3,
    "minibatches": 4,
    "learning_rate": 2e-3,
    "learning_rate_end": 0.1,
    "discount": 0.97,
    "entropy": 0.02,
    "entropy_end": 0.002,
    "pool": 8192,
    "reads": "vector",
    "width": 128,
    "activation": "relu",
    "shaping": (("progress", 0.3), ("subgoal", 0.3), ("step", -0.01)),
    "shaping_share": 1.0,
}


def home(players: int, **options: Any) -> Any:
    return manyhands.make(
        "home", task="chore_small", players=players, observation="features", **options
    )


def trained(
    env: Any, algorithm: str, seeds: int, folder: Path, steps: int
) -> training.TrainingResult:
    """A run, finished now or before."""
    settings = {**PPO, "total_steps": steps}
    config = dataclasses.replace(training.default_config(env, algorithm), **settings)
    learner = training.make_learner(env, algorithm, config)
    command = "python benchmarks/home_learning.py"
    return training.train(
        learner, seeds, folder, resume=True, episodes=200, progress=False, command=command
    )


def measured(env: Any, players: dict[str, Any], episodes: int) -> dict[str, Any]:
    """Success, steps, and steps over the fewest, each of all seats played by one."""
    made = list(players.values())
    rows = [(k,) * env.num_agents for k in range(len(made))]
    tasks, fewest = starts_of(env, episodes)
    found = {}
    for name, match in zip(players, play_matches(env, made, rows, episodes, 0), strict=True):
        success = match.metrics["success"]
        done = success > 0
        found[name] = {
            "episodes": episodes,
            "success": spread(success),
            "steps": spread(match.lengths),
            "steps_of_successes": spread(match.lengths[done]),
            "over_fewest": spread(match.lengths[done] / fewest[done]),
            "by_task": {task: float(success[tasks == task].mean()) for task in env.tasks},
        }
    return found


def curve(result: training.TrainingResult) -> list[dict[str, Any]]:
    """Of some reports: steps, and the success of each seed in the episodes that then ended."""
    lines = [json.loads(line) for line in (result.out / "curve.jsonl").read_text().splitlines()]
    kept = lines[:: max(1, len(lines) // 20)]
    return [
        {"steps": line["steps"], "success": line["metrics"].get("metrics/success")} for line in kept
    ]


def ship(result: training.TrainingResult) -> None:
    """Copy the best seed's policy into the package."""
    assert result.best is not None
    card = json.loads((result.out / f"policy-{result.best}.json").read_text())
    card["scores_of_all_seeds"] = {str(s): float(one.mean) for s, one in result.scores.items()}
    policies.save(SHIPPED / "chore_small-ippo.safetensors", result.policies[result.best], card)


def learned(
    algorithm: str, players: int, args: argparse.Namespace, ships: bool = False
) -> dict[str, Any]:
    env = home(players)
    folder = args.runs / f"home-{players}-{algorithm}-{args.steps}"
    result = trained(env, algorithm, args.seeds, folder, args.steps)
    if ships:
        ship(result)
    given: dict[str, Any] = {f"seed {s}": policy for s, policy in result.policies.items()}
    given |= {name: manyhands.seat(name, env) for name in ("tidy", "helper", "random")}
    found = {
        "players": players,
        "algorithm": algorithm,
        "steps": result.steps,
        "seconds": round(result.seconds, 1),
        "compile_seconds": round(result.compile_seconds, 1),
        "curve": curve(result),
        "measured": measured(env, given, args.episodes),
    }
    print(json.dumps(found["measured"]), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", default=["single", "pair"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=PPO["total_steps"])
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--runs", type=Path, default=ROOT / "runs")
    parser.add_argument("--ship", action="store_true")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    done = json.loads(args.out.read_text()) if args.out.exists() else {}
    parts = {name: part for name, part in done.items() if name in ("single", "pair")}
    for name in args.parts:
        runs = {"single": [("ippo", 1)], "pair": [("ippo", 2), ("mappo", 2)]}[name]
        rows = [
            learned(algorithm, players, args, args.ship and name == "single")
            for algorithm, players in runs
        ]
        settings = {key: value for key, value in PPO.items() if key != "total_steps"}
        parts[name] = {"machine": machine(), "settings": settings, "rows": rows}
        save(args.out, benchmark="home_learning", **parts)


if __name__ == "__main__":
    main()
