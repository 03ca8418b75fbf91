"""What learners reach in missions: the tables of docs/mission.md.

    python benchmarks/mission_learning.py                        # everything
    python benchmarks/mission_learning.py --parts foraging --tasks foraging-8x8-2p-2f-coop
    python benchmarks/mission_learning.py --parts maze

Parts: `foraging` trains IPPO, MAPPO and QMIX on published tasks; `warehouse` trains IPPO on a tiny
one; `critics` compares a critic of one agent's view (IPPO) with a central one (MAPPO); `duels`
trains a network against itself in tag and flag, and has all play all; `shipped` has the policies
that come with the package, beside scripted players; `maze` plays the pair maze with scripted
players, alone and in pairs, who talk or not. Runs are kept in `runs/`: what is there is not trained
again, and what was stopped goes on. Figures are added, task by task, to
`benchmarks/results/mission-learning.json`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from common import RESULTS, ROOT, machine, save

import manyhands
from manyhands.baselines.evaluation.matches import play_matches
from manyhands.baselines.evaluation.scores import players
from manyhands.baselines.learners import training
from manyhands.baselines.players import network as policies

OUT = RESULTS / "mission-learning.json"
COMMAND = "python benchmarks/mission_learning.py"
SHIPPED = ROOT / "manyhands" / "assets" / "policies" / "mission"
# Environment steps of each seed: of PPO, and of QMIX.
FORAGING = {
    "foraging-8x8-2p-2f-coop": (2_000_000, 3_000_000),
    "foraging-2s-8x8-2p-2f-coop": (2_000_000, 3_000_000),
    "foraging-10x10-3p-3f": (1_500_000, 1_500_000),
    "foraging-2s-10x10-3p-3f": (1_500_000, 1_500_000),
    "foraging-15x15-4p-3f": (1_500_000, 1_500_000),
}
# Inputs of fields are wide, and episodes are decided late.
FIELD: dict[str, Any] = {"learning_rate": 3e-3}
# Task -> settings of IPPO and MAPPO. Of foraging they are those of the part `foraging`.
CRITICS: dict[str, dict[str, Any]] = {
    "foraging-8x8-2p-2f-coop": {"total_steps": FORAGING["foraging-8x8-2p-2f-coop"][0]},
    "pursuit": {**FIELD, "total_steps": 600_000},
    "rendezvous": {**FIELD, "total_steps": 500_000},
}
# Tasks whose best IPPO comes with the package, beside one of an earlier run.
SHIP = ("foraging-2s-8x8-2p-2f-coop", "foraging-10x10-3p-3f", "rendezvous")
# Scenario -> settings of IPPO against itself: smaller steps.
DUEL: dict[str, Any] = {
    "total_steps": 600_000,
    "num_envs": 256,
    "epochs": 3,
    "learning_rate": 1e-3,
    "activation": "tanh",
}
DUELS: dict[str, dict[str, Any]] = {
    "tag": {**DUEL, "reward_scale": 0.1, "entropy_end": 0.002},
    "flag": {
        **DUEL,
        "discount": 0.98,
        "start_player": "ranger:noise=0.2",
        "start_share": 0.8,
    },
}
WAREHOUSE = {
    "total_steps": 4_000_000,
    "num_steps": 50,
    "reads": "vector",
    "start_player": "porter:noise=0.1",
    "start_share": 0.8,
    "entropy_end": 0.002,
}


def trained(
    env: Any, algorithm: str, seeds: int, folder: Path, episodes: int, **settings: Any
) -> training.TrainingResult:
    """A run, finished now or before."""
    config = dataclasses.replace(training.default_config(env, algorithm), **settings)
    learner = training.make_learner(env, algorithm, config)
    return training.train(
        learner, seeds, folder, resume=True, episodes=episodes, progress=False, command=COMMAND
    )


def scores(result: training.TrainingResult, agents: int = 1) -> dict[str, Any]:
    """Means of the seeds, of all agents together."""
    each = [float(score.mean) * agents for score in result.scores.values()]
    return {
        "scores": [round(score, 4) for score in each],
        "mean": round(float(np.mean(each)), 4),
        "steps": result.steps,
        "seconds": round(result.seconds, 1),
        "compile_seconds": round(result.compile_seconds, 1),
    }


def foraging(
    runs: Path,
    tasks: Sequence[str],
    seeds: int,
    episodes: int,
    algorithms: Sequence[str] = ("ippo", "mappo", "qmix"),
) -> dict[str, Any]:
    """Shares of the food that all players load together, by task and algorithm."""
    found: dict[str, Any] = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        for algorithm in algorithms:
            steps = FORAGING[task][algorithm == "qmix"]
            folder = runs / f"mission-{task}-{algorithm}"
            result = trained(env, algorithm, seeds, folder, episodes, total_steps=steps)
            found.setdefault(task, {})[algorithm] = scores(result, env.num_agents)
            print(task, algorithm, found[task][algorithm], flush=True)
    return found


def warehouse(runs: Path, tasks: Sequence[str], seeds: int, episodes: int) -> dict[str, Any]:
    """Deliveries of all robots in 500 steps."""
    found = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        folder = runs / f"mission-{task}-ippo"
        result = trained(env, "ippo", seeds, folder, episodes, **WAREHOUSE)
        found[task] = {"ippo": scores(result, env.num_agents), "settings": WAREHOUSE}
        print(task, found[task], flush=True)
    return found


def critics(runs: Path, tasks: Sequence[str], seeds: int, episodes: int) -> dict[str, Any]:
    """IPPO and MAPPO with the same settings: does a critic that sees everything help?"""
    found: dict[str, Any] = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        for algorithm in ("ippo", "mappo"):
            folder = runs / f"mission-{task}-{algorithm}"
            result = trained(env, algorithm, seeds, folder, episodes, **CRITICS[task])
            agents = env.num_agents if env.kind == "foraging" else 1
            found.setdefault(task, {})[algorithm] = scores(result, agents)
            print(task, algorithm, found[task][algorithm], flush=True)
    return found


def duels(runs: Path, tasks: Sequence[str], seeds: int, episodes: int) -> dict[str, Any]:
    """Self-play of one network in both teams; then all against all, by sides."""
    found: dict[str, Any] = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        result = trained(env, "ippo", seeds, runs / f"mission-{task}-ippo", episodes, **DUELS[task])
        given: dict[str, Any] = {f"seed {s}": policy for s, policy in result.policies.items()}
        given |= {name: name for name in ("ranger", "ranger:noise=0.3", "random")}
        found[task] = {**scores(result), **sides(env, given, episodes)}
        print(task, json.dumps(found[task]), flush=True)
    return found


def sides(env: Any, given: Mapping[str, Any], episodes: int) -> dict[str, Any]:
    """The return of an agent of the first team (rows) and of the second (columns), each a mean over
    episodes, with its standard error."""
    made, _ = players(env, list(given.values()))
    first, second = env.sides
    lineups = [
        tuple(a if agent in first else b for agent in range(env.num_agents))
        for a in range(len(made))
        for b in range(len(made))
    ]
    matches = play_matches(env, made, lineups, episodes, 1)

    def cell(match: Any, team: Sequence[int]) -> list[float]:
        values = match.returns[:, list(team)].mean(1)
        error = values.std(ddof=1) / len(values) ** 0.5
        return [round(float(values.mean()), 3), round(float(error), 3)]

    size = len(made)
    cells = [[cell(match, team) for match in matches] for team in (first, second)]
    return {
        "players": list(given),
        "first_team": [cells[0][k * size : (k + 1) * size] for k in range(size)],
        "second_team": [cells[1][k * size : (k + 1) * size] for k in range(size)],
    }


def shipped(runs: Path, tasks: Sequence[str], seeds: int, episodes: int) -> dict[str, Any]:
    """Policies for the package, the best seeds of IPPO in the other parts, beside scripted players;
    each plays all seats."""
    found: dict[str, Any] = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        settings = CRITICS.get(task) or {"total_steps": FORAGING[task][0]}
        folder = runs / f"mission-{task}-ippo"
        result = trained(env, "ippo", seeds, folder, episodes, **settings)
        ship(env, task, result)
        foraging = env.kind == "foraging"
        scripted = ("forager", "forager:team=false") if foraging else ("ranger", "ranger:noise=0.3")
        names = ("ippo", *scripted, "random")
        made, _ = players(env, list(names))
        rows = [(k,) * env.num_agents for k in range(len(made))]
        matches = play_matches(env, made, rows, episodes, 1)
        found[task] = scores(result) | {
            "players": {
                name: {
                    "return": round(float(match.returns.mean()), 4),
                    "steps": round(float(match.lengths.mean()), 1),
                }
                for name, match in zip(names, matches, strict=True)
            }
        }
        print(task, json.dumps(found[task]), flush=True)
    return found


def ship(env: Any, task: str, result: training.TrainingResult) -> None:
    """Copy the best seed's policy into the package."""
    assert result.best is not None
    card = json.loads((result.out / f"policy-{result.best}.json").read_text())
    card["scores_of_all_seeds"] = {
        str(seed): float(score.mean) for seed, score in result.scores.items()
    }
    policies.save(SHIPPED / f"{task}-ippo.safetensors", result.policies[result.best], card)


# Players of the pair maze, from the strongest to the weakest.
WALKERS = {"strong": "ranger", "weak": "ranger:noise=0.3"}


def maze(runs: Path, tasks: Sequence[str], seeds: int, episodes: int) -> dict[str, Any]:
    """The pair maze with scripted players: alone with the whole map, in pairs that talk, with one
    frame of coordinates or without, and in silent pairs; who is named first is player_0. Shares of
    episodes that reach the goal, steps of those, and the fewest possible ones of the same mazes."""
    found: dict[str, Any] = {}
    one = {"teams": [{"name": "players", "member": "player", "count": 1}], "masks": False}
    turned = {"coordinates": "turned"}
    for name, fields, channel in (
        ("alone, the whole map", one, False),
        ("pair, talk", {}, True),
        ("pair, talk, turned map", turned, True),
        ("pair, silent", {}, False),
        ("pair, silent, turned map", turned, False),
    ):
        env = manyhands.make("mission", scenario={"like": "maze_pair", **fields})
        if channel:
            env = manyhands.make("chat", env=env)
        made, _ = players(env, list(WALKERS.values()))
        alone = env.num_agents == 1
        rows = [(0,), (1,)] if alone else [(0, 0), (0, 1), (1, 0), (1, 1)]
        cells = {}
        for row, match in zip(rows, play_matches(env, made, rows, episodes, 1), strict=True):
            won = match.returns[:, 0] > 0.5
            label = ", ".join(list(WALKERS)[k] for k in row)
            cells[label] = {
                "reached": round(float(won.mean()), 3),
                "steps": round(float(match.lengths[won].mean()), 2),
            }
        found[name] = cells
        print(name, json.dumps(cells), flush=True)
    env = manyhands.make("mission", scenario="maze_pair")
    reset = jax.jit(env.reset)
    fewest = [env.optimal_steps(reset(jax.random.key(k))) for k in range(64)]
    return {"maze_pair": {"fewest": float(np.mean(fewest)), "settings": found}}


PARTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "foraging": (foraging, tuple(FORAGING)),
    "warehouse": (warehouse, ("warehouse-tiny-2ag",)),
    "critics": (critics, tuple(CRITICS)),
    "duels": (duels, tuple(DUELS)),
    "shipped": (shipped, SHIP),
    "maze": (maze, ("maze_pair",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--tasks", nargs="+", help="only these of the parts' tasks")
    parser.add_argument("--algorithms", nargs="+", help="only these, of the part foraging")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=100, help="of each score")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where runs are kept")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    known = json.loads(args.out.read_text()) if args.out.exists() else {"parts": {}}
    for part in args.parts:
        run, tasks = PARTS[part]
        for task in tasks:
            if args.tasks and task not in args.tasks:
                continue
            only = {"algorithms": args.algorithms} if part == "foraging" and args.algorithms else {}
            found = run(args.runs, [task], args.seeds, args.episodes, **only)[task]
            about = {"seeds": args.seeds, "episodes": args.episodes, "machine": machine()}
            before = known["parts"].setdefault(part, {}).get(task, {}) if only else {}
            known["parts"].setdefault(part, {})[task] = before | found | about
            save(args.out, benchmark="mission-learning", parts=known["parts"])


if __name__ == "__main__":
    main()
