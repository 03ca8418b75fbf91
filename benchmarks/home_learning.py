"""What learners reach in homes: the tables of docs/home.md.

    python benchmarks/home_learning.py
    python benchmarks/home_learning.py --parts single --seeds 5 --ship

Chores are those of `chore_small`. Parts:

- `single`: PPO from scratch. `bootstrap`: the same, but what would have come after the last step is
  guessed by the critic. `cloned`: behaviour cloning of `tidy`.
- `groups`: PPO, GRPO and GiGPO at equal episodes, in smaller homes (`SMALL`), with the share of
  steps in which an agent observes what it observed before in the episode, clocks and ages aside;
  and a picture.
- `pair`: IPPO and MAPPO with two players, who are compared with one; `partners`: what they learned
  beside bots that they never met, and these bots beside each other.
- `transport`: IPPO of one, two, four and six players who carry ten targets, with a network that
  scores all receptacles alike, and all objects (`slots`), at equal numbers of decisions, beside
  `helper`; `--teams 2 4` measures some of them. `transport_steps`: the same for four and six, at as
  many environment steps as one player has, so with four and six times the decisions.
  `transport_flat`: with the flat network and the settings of `single`, at equal steps.

Steps over the fewest are those of successful episodes, as in `home_players.py`. Runs are kept in
`runs/`: what is there is not trained again, and what was stopped goes on. Figures are added to
`benchmarks/results/home-learning.json`, part by part. With `--ship` the best seed of `single` is
put into the package.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, ROOT, finish_curves, machine, save
from home_players import spread, starts_of

import manyhands
from manyhands.baselines.evaluation.matches import play_matches
from manyhands.baselines.learners import training
from manyhands.baselines.learners.presets import PRESETS
from manyhands.baselines.players import network as policies

OUT = RESULTS / "home-learning.json"
SHIPPED = ROOT / "manyhands" / "assets" / "policies" / "home"
PICTURE = ROOT / "docs" / "home_learning.png"
PPO: dict[str, Any] = {**PRESETS["home", "ippo"], "reads": "vector"}
# Whole episodes, eight of each start, of small homes, and nothing but success is rewarded.
SMALL: dict[str, Any] = {"task": "put", "receptacles": 6, "objects": 4, "max_steps": 25}
GROUPS: dict[str, Any] = {
    **PPO,
    "total_steps": 625 * 64 * 25,
    "num_envs": 64,
    "num_steps": 25,
    "minibatches": 2,
    "shaping": (),
    "group": 8,
    "anchor_ignores": ("left", "age"),
}
PAIRS_STEPS = 3_000_000
TRANSPORT_STEPS, TEAMS = 1_000_000, (1, 2, 4, 6)
# As many decisions of players in each update, and in all, whatever the number of players.
TRANSPORT: dict[str, Any] = {**PPO, "slots": True, "minibatches": 8}
DECISIONS, TRANSPORT_ENVS = 640_000, {1: 256, 2: 128, 4: 64, 6: 40}
MANY = (4, 6)  # of which `transport_steps` is
CLONING: dict[str, Any] = {"reads": "vector", "epochs": 30, "batch": 256, "width": 128}
LESSONS = 2000  # episodes of `tidy` that are cloned
SCRIPTED = ("tidy", "helper", "random")
PARTNERS = ("tidy", "helper", "tidy:speed=0.5", "helper:noise=0.3", "tidy:noise=0.3", "random")


def home(players: int = 1, **options: Any) -> Any:
    given = {"task": "chore_small", "players": players, "observation": "features", **options}
    return manyhands.make("home", **given)


def trained(
    env: Any, algorithm: str, settings: dict[str, Any], args: argparse.Namespace, name: str
) -> training.TrainingResult:
    """A run, finished now or before."""
    config = dataclasses.replace(training.default_config(env, algorithm), **settings)
    learner = training.make_learner(env, algorithm, config)
    return training.train(
        learner,
        args.seeds,
        args.runs / f"home-{name}",
        resume=True,
        episodes=200,
        progress=False,
        command=f"python benchmarks/home_learning.py --parts {args.part} --seeds {args.seeds}",
    )


def figures(env: Any, match: Any, tasks: np.ndarray, fewest: np.ndarray) -> dict[str, Any]:
    """Success, steps, and steps over the fewest."""
    success = match.metrics["success"]
    done = success > 0
    return {
        "episodes": len(success),
        "success": spread(success),
        "steps": spread(match.lengths),
        "steps_of_successes": spread(match.lengths[done]),
        "over_fewest": spread(match.lengths[done] / fewest[done]),
        "by_task": {task: float(success[tasks == task].mean()) for task in env.tasks},
    }


def measured(env: Any, players: dict[str, Any], episodes: int) -> dict[str, Any]:
    """The figures of each, where all seats are played by it."""
    made = list(players.values())
    rows = [(k,) * env.num_agents for k in range(len(made))]
    tasks, fewest = starts_of(env, episodes)
    found = play_matches(env, made, rows, episodes, 0)
    return {
        name: figures(env, match, tasks, fewest) for name, match in zip(players, found, strict=True)
    }


def by_seed(result: training.TrainingResult) -> dict[str, Any]:
    return {f"seed {s}": policy for s, policy in result.policies.items()}


def curve(
    result: training.TrainingResult, names: Sequence[str] = ("metrics/success",), points: int = 20
) -> list[dict[str, Any]]:
    """Of some reports: steps, and means of each seed over the episodes that then ended."""
    lines = [json.loads(line) for line in (result.out / "curve.jsonl").read_text().splitlines()]
    kept = lines[:: max(1, len(lines) // points)]

    def rounded(values: list[float | None]) -> list[float | None]:
        return [None if value is None else round(value, 4) for value in values]

    return [
        {"steps": line["steps"]}
        | {name.removeprefix("metrics/"): rounded(line["metrics"][name]) for name in names}
        for line in kept
    ]


def about(result: training.TrainingResult, algorithm: str) -> dict[str, Any]:
    return {
        "algorithm": algorithm,
        "steps": result.steps,
        "seconds": round(result.seconds, 1),
        "compile_seconds": round(result.compile_seconds, 1),
    }


def shown(found: dict[str, Any]) -> None:
    for name, row in found.items():
        steps = row["steps_of_successes"]["mean"] or float("nan")
        print(f"  {name}: {100 * row['success']['mean']:.0f} %, {steps:.1f} steps", flush=True)


# ---- the parts -----------------------------------------------------------------------------------


def single(args: argparse.Namespace, bootstrap: bool = False) -> list[dict[str, Any]]:
    env = home()
    settings = {**PPO, "total_steps": args.steps, "bootstrap": bootstrap}
    name = f"{'bootstrap' if bootstrap else 'single'}-{args.seeds}-{args.steps}"
    result = trained(env, "ippo", settings, args, name)
    if args.ship and not bootstrap:
        ship(result)
    given = by_seed(result)
    if not bootstrap:
        given |= {seat: manyhands.seat(seat, env) for seat in SCRIPTED}
    found = measured(env, given, args.episodes)
    shown(found)
    names = ("metrics/success", "explained_variance")
    return [{**about(result, "ippo"), "curve": curve(result, names), "measured": found}]


def ship(result: training.TrainingResult) -> None:
    """Copy the best seed's policy into the package."""
    assert result.best is not None
    card = json.loads((result.out / f"policy-{result.best}.json").read_text())
    card["scores_of_all_seeds"] = {str(s): float(one.mean) for s, one in result.scores.items()}
    policies.save(SHIPPED / "chore_small-ippo.safetensors", result.policies[result.best], card)


def cloned(args: argparse.Namespace) -> list[dict[str, Any]]:
    env = home()
    record = args.runs / f"home-tidy-{LESSONS}.jsonl"
    if not record.exists():
        record.parent.mkdir(parents=True, exist_ok=True)
        # The key of episodes that are measured is 0.
        manyhands.play(env, ["tidy"], LESSONS, 1, record=record, progress=False)
    settings = {**CLONING, "data": (str(record),)}
    result = trained(env, "bc", settings, args, f"cloned-{args.seeds}")
    found = measured(env, by_seed(result), args.episodes)
    shown(found)
    names = ("accuracy", "held_out_accuracy")
    return [
        {**about(result, "bc"), "lessons": LESSONS, "curve": curve(result, names)}
        | {"measured": found}
    ]


def groups(args: argparse.Namespace) -> list[dict[str, Any]]:
    env, rows = home(**SMALL), []
    for name, advantage in (("PPO", "gae"), ("GRPO", "group"), ("GiGPO", "anchor")):
        settings = {**GROUPS, "advantage": advantage}
        result = trained(env, "ippo", settings, args, f"groups-{advantage}-{args.seeds}")
        found = measured(env, by_seed(result), args.episodes)
        print(name)
        shown(found)
        line = curve(result, ("metrics/success", "repeated", "met", "length"), 30)
        for point in line:  # an environment plays one episode an update
            point["episodes"] = point["steps"] // GROUPS["num_steps"]
        rows.append(
            {**about(result, name), "advantage": advantage, "curve": line, "measured": found}
        )
    picture(rows)
    return rows


def picture(rows: list[dict[str, Any]]) -> None:
    """Success and repeated observations over episodes: means, and the range of the seeds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for row in rows:
        episodes = [point["episodes"] for point in row["curve"]]
        for axis, name in zip(axes, ("success", "repeated"), strict=True):
            values = 100 * np.array([point[name] for point in row["curve"]], float)
            axis.plot(episodes, values.mean(axis=1), label=row["algorithm"])
            axis.fill_between(episodes, values.min(axis=1), values.max(axis=1), alpha=0.2, lw=0)
    finish_curves(figure, axes, ("success", "repeated observations"), PICTURE)


def of_pairs(args: argparse.Namespace) -> dict[str, training.TrainingResult]:
    settings = {**PPO, "total_steps": PAIRS_STEPS}
    return {
        algorithm: trained(home(2), algorithm, settings, args, f"pair-{algorithm}-{args.seeds}")
        for algorithm in args.algorithms
    }


def pair(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Pairs of each seed with itself; and one, of the same seeds of `single` and of the bots."""
    env, rows = home(2), []
    for algorithm, result in of_pairs(args).items():
        found = measured(env, by_seed(result), args.episodes)
        print(algorithm)
        shown(found)
        rows.append({**about(result, algorithm), "curve": curve(result), "measured": found})
    bots = {seat: manyhands.seat(seat, env) for seat in SCRIPTED}
    rows.append({"algorithm": "scripted", "measured": measured(env, bots, args.episodes)})
    shown(rows[-1]["measured"])
    return rows


def partners(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Each in both seats, half of the episodes in each, beside partners that no network met."""
    env = home(2)
    players: dict[str, Any] = {}
    for algorithm, result in of_pairs(args).items():
        players |= {f"{algorithm} seed {s}": policy for s, policy in result.policies.items()}
    learned = len(players)
    players |= {seat: manyhands.seat(seat, env) for seat in PARTNERS}
    made, names = list(players.values()), list(players)
    lineups = [(i, j) for i in range(learned + 2) for j in range(learned, len(made))]
    lineups += [
        (i, j) for i in range(learned) for j in range(learned) if names[i][:4] == names[j][:4]
    ]
    half = args.episodes // 2
    rows = [row for i, j in lineups for row in ((i, j), (j, i))]
    matches = play_matches(env, made, rows, half, 0)
    found = []
    for (i, j), one, other in zip(lineups, matches[::2], matches[1::2], strict=True):
        success = np.concatenate([m.metrics["success"] for m in (one, other)])
        steps = np.concatenate([m.lengths for m in (one, other)])
        found.append(
            {
                "player": names[i],
                "partner": names[j],
                "episodes": 2 * half,
                "success": spread(success),
                "steps": spread(steps),
                "steps_of_successes": spread(steps[success > 0]),
            }
        )
        mean = found[-1]["success"]["mean"], found[-1]["steps"]["mean"]
        print(f"  {names[i]} with {names[j]}: {100 * mean[0]:.0f} %, {mean[1]:.1f}", flush=True)
    return found


def transport_settings(kind: str, players: int) -> dict[str, Any]:
    if kind == "flat":
        return {**PPO, "total_steps": TRANSPORT_STEPS}
    share = players if kind == "slots" else 1
    envs = TRANSPORT_ENVS[players]
    return {**TRANSPORT, "total_steps": DECISIONS // share, "num_envs": envs}


def transport(args: argparse.Namespace, kind: str = "slots") -> list[dict[str, Any]]:
    """IPPO of one to six players, and `helper`: targets delivered within the limit of steps."""
    rows = []
    for players in args.teams:
        if kind == "steps" and players not in MANY:
            continue
        env = home(players, task="transport")
        suffix = "" if kind == "flat" else f"-{kind}"
        name = f"transport-{players}-{args.seeds}{suffix}"
        result = trained(env, "ippo", transport_settings(kind, players), args, name)
        given = by_seed(result) | {seat: manyhands.seat(seat, env) for seat in ("helper", "random")}
        made = list(given.values())
        lineups = [(k,) * players for k in range(len(made))]
        found = {
            name: {
                "episodes": args.episodes,
                "transport_rate": spread(match.metrics["delivered"] / env.targets),
                "success": spread(match.metrics["success"]),
                "steps": spread(match.lengths),
            }
            for name, match in zip(
                given, play_matches(env, made, lineups, args.episodes, 0), strict=True
            )
        }
        for name, row in found.items():
            rate, steps = row["transport_rate"]["mean"], row["steps"]["mean"]
            print(f"  {players} players, {name}: {100 * rate:.0f} %, {steps:.1f} steps", flush=True)
        line = curve(result, ("terms/subgoal", "metrics/success"))
        rows.append({"players": players, **about(result, "ippo"), "curve": line, "measured": found})
    return rows


def main() -> None:
    parts = {
        "single": (single, PPO),
        "bootstrap": (lambda args: single(args, True), {**PPO, "bootstrap": True}),
        "cloned": (cloned, CLONING),
        "groups": (groups, GROUPS),
        "pair": (pair, PPO),
        "partners": (partners, PPO),
        "transport": (transport, TRANSPORT),
        "transport_steps": (lambda args: transport(args, "steps"), TRANSPORT),
        "transport_flat": (lambda args: transport(args, "flat"), PPO),
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", default=list(parts), choices=list(parts))
    parser.add_argument("--seeds", type=int, help="by default 5, of pairs and teams 3")
    parser.add_argument("--teams", type=int, nargs="+", default=list(TEAMS), choices=TEAMS)
    parser.add_argument("--steps", type=int, default=PPO["total_steps"])
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--algorithms", nargs="+", default=["ippo", "mappo"], help="of pairs")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs")
    parser.add_argument("--ship", action="store_true")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    done = json.loads(args.out.read_text()) if args.out.exists() else {}
    found = {name: part for name, part in done.items() if name in parts}
    asked = args.seeds
    for name in args.parts:
        measure, settings = parts[name]
        args.part = name
        few = {"pair": 3, "partners": 3, "transport": 3, "transport_steps": 1}
        few["transport_flat"] = 2
        args.seeds = asked or few.get(name, 5)
        where = machine()
        rows = measure(args)
        if name.startswith("transport"):  # beside those of other teams
            done = found.get(name, {"rows": []})["rows"]
            rows += [row for row in done if row["players"] not in args.teams]
            rows.sort(key=lambda row: row["players"])
        if name == "partners":  # after those of other networks
            measured_now = {(row["player"], row["partner"]) for row in rows}
            done = found.get(name, {"rows": []})["rows"]
            others = [r for r in done if (r["player"], r["partner"]) not in measured_now]
            rows = others + rows
            if others:
                later = dict.fromkeys(args.algorithms, where)
                where = {**found[name]["machine"], "later": later}
        kept = {key: value for key, value in settings.items() if key != "total_steps"}
        found[name] = {"machine": where, "settings": kept, "seeds": args.seeds, "rows": rows}
        save(args.out, benchmark="home_learning", **found)


if __name__ == "__main__":
    main()
