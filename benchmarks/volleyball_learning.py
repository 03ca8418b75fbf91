"""What learns to play volleyball, and how well: the table and the picture in docs/volleyball.md.

    python benchmarks/volleyball_learning.py                 # what two cores can do
    python benchmarks/volleyball_learning.py --scale 20      # on a GPU: 20 times as many steps

Trains into `runs/` (what is there already is not trained again; `--only` chooses), with commands
that are printed:

    solo_bump, hit  PPO from scratch, on velocities                (bumps in a row; metres)
    1v1             PPO in self-play, choosing skills at events    (points won)
    3v3             PSRO over team options at events, beginning with the scripted team (points won)

It plays what was learned, ships the policies in `manyhands/assets/policies/`, and writes
every figure to `benchmarks/results/volleyball_learning.json` and the curves of the drills to
`docs/volleyball_learning.png`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, ROOT, machine, save

SHIPPED = ROOT / "manyhands" / "assets" / "policies"
RUNS: dict[str, list[str]] = {
    "solo_bump": ["--actions", "velocity"],
    "hit": ["--actions", "velocity"],
    "1v1": ["--events", "agent"],
    "3v3": ["--events", "team", "--algorithm", "psro", "--start", "bot", ""],
}


def trained(task: str, runs: Path, scale: float) -> Path:
    """The folder of a run; trained if it is not there."""
    from manyhands.cli import training_jobs

    out = runs / f"volleyball-{task}"
    words = ["volleyball", "--task", task, *RUNS[task], "--out", str(out)]
    steps = training_jobs(words)[0][2].total_steps
    if scale != 1:
        words += ["--total-steps", str(int(steps * scale))]
    done = out / ("league.json" if task == "3v3" else "policy-0.safetensors")
    if not done.exists():
        command = [sys.executable, "-m", "manyhands", "train", *words, "--resume"]
        print(" ".join(["manyhands", "train", *words]), flush=True)
        subprocess.run(command, check=True, cwd=ROOT)
    return out


def spread(values: np.ndarray) -> dict[str, float]:
    """What a quantity comes to over episodes."""
    marks = {"tenth": 0.1, "median": 0.5, "nine_tenths": 0.9}
    found = {name: float(np.quantile(values, share)) for name, share in marks.items()}
    return {"mean": float(np.mean(values)), **found}


def drill(task: str, out: Path, episodes: int) -> dict[str, Any]:
    """Play a drill's policy: the most likely actions, and drawn ones."""
    import manyhands
    from manyhands.baselines import policies
    from manyhands.baselines.evaluation import play_matches

    env = manyhands.make("volleyball", task=task, actions="velocity")
    metric = {"solo_bump": "hits", "hit": "distance"}[task]
    path = out / "policy-0.safetensors"
    played = {}
    for name, greedy in (("most likely actions", True), ("drawn actions", False)):
        policy = policies.load(path, env, greedy=greedy)
        match = play_matches(env, [policy], [(0,)], episodes)[0]
        played[name] = {metric: spread(match.metrics[metric]), "steps": spread(match.lengths)}
    return {"episodes": episodes, "played": played, **ship(task, path)}


def ship(task: str, path: Path) -> dict[str, Any]:
    """Copy a policy into the package; what its card says of how it was made."""
    card = json.loads(path.with_suffix(".json").read_text())
    folder = SHIPPED / card["environment"]["id"]
    folder.mkdir(parents=True, exist_ok=True)
    for ending in (".safetensors", ".json"):
        shutil.copy(path.with_suffix(ending), (folder / f"{task}-ippo").with_suffix(ending))
    return {name: card[name] for name in ("command", "seed", "steps", "seconds")}


def match(task: str, out: Path, episodes: int) -> dict[str, Any]:
    """Points of what was learned against hovering, random and scripted players."""
    import manyhands
    from manyhands.baselines.psro import league

    env: Any = manyhands.make("volleyball", task=task)
    if task == "1v1":
        env = manyhands.make("events", env=env)
        path = out / "policy-0.safetensors"
        about = ship(task, path)
    else:
        env = manyhands.make("events", env=env, per="team")
        run = json.loads((out / "psro.json").read_text())
        path = out / f"strategy-{len(run['strategies']) - 1}.safetensors"
        about = {"history": run["history"], "strategies": run["strategies"]}
    players = {"learned": str(path), "bot": "bot", "hover": "hover", "random": "random"}
    table = league(env, players, episodes, by="win")
    print(table)
    return {**about, "league": table.to_dict()}


def picture(runs: dict[str, Path]) -> None:
    """The curves of the drills."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from manyhands.baselines.training import read_curve

    figure = Figure(figsize=(8, 3), layout="constrained")
    FigureCanvasAgg(figure)
    wanted = {
        "solo_bump": ("metrics/hits", "bumps in a row", 10),
        "hit": ("metrics/distance", "distance, m", 5),
    }
    shown = [task for task in wanted if task in runs]
    for axes, task in zip(np.atleast_1d(figure.subplots(1, len(shown))), shown, strict=True):
        metric, words, goal = wanted[task]
        lines = read_curve(runs[task] / "curve.jsonl")
        steps = [line["steps"] / 1e6 for line in lines]
        values = [line["metrics"][metric][0] for line in lines]
        axes.plot(steps, np.array(values, float), color="tab:blue")
        axes.axhline(goal, color="tab:orange", linewidth=1, linestyle="--")
        axes.set(title=task, xlabel="million environment steps", ylabel=f"{words} (while learning)")
        axes.grid(alpha=0.3)
    figure.savefig(ROOT / "docs" / "volleyball_learning.png", dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of steps")
    parser.add_argument("--only", nargs="+", choices=tuple(RUNS), default=tuple(RUNS))
    parser.add_argument("--episodes", type=int, default=500, help="of each match and side")
    options = parser.parse_args()
    path = RESULTS / "volleyball_learning.json"
    results = json.loads(path.read_text())["tasks"] if path.exists() else {}
    folders = {task: trained(task, options.runs, options.scale) for task in options.only}
    for task, out in folders.items():
        play = match if task in ("1v1", "3v3") else drill
        results[task] = play(task, out, options.episodes)
        save(path, machine=machine(), tasks=results)
    drills = {task: out for task, out in folders.items() if task in ("solo_bump", "hit")}
    if drills:
        picture(drills)


if __name__ == "__main__":
    main()
