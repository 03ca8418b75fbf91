"""What learns to play volleyball, and how well: the table and the picture in docs/volleyball.md.

    python benchmarks/volleyball_learning.py                 # what two cores can do
    python benchmarks/volleyball_learning.py --scale 20      # on a GPU: 20 times as many steps

Trains into `runs/` (what is there already is not trained again; `--only` chooses), with commands
that are printed:

    solo_bump, hit  PPO from scratch, on velocities                (bumps in a row; metres)
    1v1             PPO in self-play, on velocities                (points won)
    1v1-skills      PPO in self-play, choosing skills at events    (points won)
    3v3             PSRO over team options at events, beginning with a scripted team (points won)
    1v1-plain, 3v3-plain: the same two with the skills of earlier versions

It plays what was learned, ships the policies in `manyhands/assets/policies/`, and writes
every figure to `benchmarks/results/volleyball_learning.json` and the curves to
`docs/volleyball_learning.png`.

In 3v3 every drone stands at the same place when a point begins. What wins points that all begin
alike may be one lucky exchange of shots; so masses and the ball's bounce are drawn anew for each
point (2 % and 1 % to either side). What was learned so is also played with nothing drawn, and in
points of 30 s, as HCSP's, of which few are draws.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, ROOT, machine, points, save

SHIPPED = ROOT / "manyhands" / "assets" / "policies"
RUNS: dict[str, list[str]] = {
    "solo_bump": ["--actions", "velocity"],
    "hit": ["--actions", "velocity"],
    "1v1": ["--actions", "velocity"],
    "1v1-skills": ["--events", "agent"],
    "1v1-plain": ["--events", "agent", "--skills", "plain"],
    "3v3": [
        *("--events", "team", "--algorithm", "psro", "--start", "bot", "--teacher", "bot"),
        *("--randomise", '{"mass": [0.98, 1.02], "restitution": [0.79, 0.81]}'),
        *("--reward-weights", '{"hit": 2, "approach": 0.1}'),
    ],
    "3v3-plain": [
        *("--skills", "plain"),
        *("--events", "team", "--algorithm", "psro", "--start", "bot", "team:attack=short"),
        *("--teacher", "team:attack=short"),
        *("--randomise", '{"mass": [0.98, 1.02], "restitution": [0.79, 0.81]}'),
        *("--reward-weights", '{"hit": 2, "approach": 0.1}'),
    ],
}


def words_of(run: str) -> list[str]:
    """What comes after `manyhands train`."""
    return ["volleyball", "--task", run.partition("-")[0], *RUNS[run]]


def trained(run: str, runs: Path, scale: float) -> Path:
    """The folder of a run; trained if it is not there."""
    from manyhands.cli.train import training_jobs

    out, words = runs / f"volleyball-{run}", words_of(run)
    steps = training_jobs(words)[0][2].total_steps
    if scale != 1:
        words += ["--total-steps", str(int(steps * scale))]
    done = out / ("league.json" if run.startswith("3v3") else "policy-0.safetensors")
    if not done.exists():
        place = ["--out", str(out), "--resume"]
        command = [sys.executable, "-m", "manyhands", "train", *words, *place]
        print(shlex.join(["manyhands", "train", *words]), flush=True)
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
    from manyhands.baselines.evaluation import play_matches
    from manyhands.baselines.players import network as policies

    env = manyhands.make("volleyball", task=task, actions="velocity")
    metric = {"solo_bump": "hits", "hit": "distance"}[task]
    path = out / "policy-0.safetensors"
    played = {}
    for name, greedy in (("most likely actions", True), ("drawn actions", False)):
        policy = policies.load(path, env, greedy=greedy)
        match = play_matches(env, [policy], [(0,)], episodes)[0]
        played[name] = {metric: spread(match.metrics[metric]), "steps": spread(match.lengths)}
    return {"episodes": episodes, "played": played, **ship(task, path)}


def ship(run: str, path: Path) -> dict[str, Any]:
    """Copy a policy into the package; what its card says of how it was made."""
    card = json.loads(path.with_suffix(".json").read_text())
    # Wherever the run's folder was.
    card["command"] = shlex.join(["manyhands", "train", *words_of(run)])
    task = run.partition("-")[0]
    attack = "-attack" if run in ("1v1-skills", "3v3") else ""
    name = f"{task}{attack}-{'psro' if task == '3v3' else 'ippo'}"
    folder = SHIPPED / card["environment"]["id"]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, folder / f"{name}.safetensors")
    (folder / f"{name}.json").write_text(json.dumps(card, indent=2))
    return {name: card[name] for name in ("command", "seed", "steps", "seconds") if name in card}


def duel(run: str, out: Path, episodes: int) -> dict[str, Any]:
    """Points of what was learned in 1v1 against hovering, random and scripted players."""
    import manyhands
    from manyhands.baselines.evaluation.league import league

    path = out / "policy-0.safetensors"
    about = ship(run, path)
    if run == "1v1":
        env: Any = manyhands.make("volleyball", task="1v1", actions="velocity")
        others = ["hover", "random"]
    else:
        skills = "plain" if run == "1v1-plain" else "attack"
        env = manyhands.make("events", env=manyhands.make("volleyball", task="1v1", skills=skills))
        others = ["rally", "hover", "random"]
    players = {"learned": str(path), **{name: name for name in others}}
    table = league(env, players, episodes, seed=1, by="win")
    print(table)
    against = {
        name: points(table.margins[0, k], -table.margins[k, 0]) for k, name in enumerate(others, 1)
    }
    print(json.dumps(against, indent=1))
    return {**about, "league": table.to_dict(), "against": against}


def strategies(run: str, out: Path, episodes: int) -> dict[str, Any]:
    """Points of every strategy of a population against the scripted teams, and what is left to win
    from all of them. Ships the one with the highest Elo rating in the run's own table."""
    import manyhands
    from manyhands.baselines.evaluation.league import league
    from manyhands.baselines.learners.psro import exploitability, psro
    from manyhands.cli.train import training_jobs

    words, kept = words_of(run), json.loads((out / "psro.json").read_text())
    settings = out / "settings.json"
    settings.write_text(json.dumps(kept["config"]))
    env, _, config, _ = training_jobs([*words, "--config", str(settings)])[0]
    population = psro(env, config, out, kept["seed"], resume=True)
    names, scripts = population.league.names, len(config.start)
    best = scripts + int(np.argmax(population.league.ratings[scripts:]))
    players = dict(zip(names[:scripts], config.start, strict=True))
    players |= {
        name: str(out / f"strategy-{k}.safetensors") for k, name in enumerate(names) if k >= scripts
    }
    drawn = env.env.config()["randomise"]
    courts = {
        "10 s, drawn": {"randomise": drawn},
        "10 s, nothing drawn": {},
        "30 s, drawn": {"randomise": drawn, "max_steps": 1500},
    }
    played = {}
    for what, setting in courts.items():
        court = manyhands.make("volleyball", task="3v3", skills=env.env.skills, **setting)
        game = manyhands.make("events", env=court, per="team")
        table = league(game, players, episodes, seed=1, by="win")
        print(table)
        against = {
            names[s]: {
                names[k]: points(table.margins[k, s], -table.margins[s, k])
                for k in range(scripts, len(names))
            }
            for s in range(scripts)
        }
        print(json.dumps({s: {k: v["both"] for k, v in against[s].items()} for s in against}))
        played[what] = {"league": table.to_dict(), "against": against}
    response = exploitability(env, population, config, log=print)
    left = {"wins": response.wins(population.mixture).to_dict(), "steps": response.steps}
    return {
        **ship(run, out / f"strategy-{best}.safetensors"),
        "history": kept["history"],
        "shipped": names[best],
        "played": played,
        "mixture": dict(zip(names, population.mixture.tolist(), strict=True)),
        "best_response_to_the_mixture": left,
    }


def picture(runs: dict[str, Path]) -> None:
    """The curves of the runs."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from manyhands.baselines.learners.training import read_curve

    wanted = {
        "solo_bump": ("metrics/hits", "bumps in a row", 10),
        "hit": ("metrics/distance", "distance, m", 5),
        "1v1": ("metrics/hits", "touches in a point", None),
        "1v1-skills": ("metrics/crossings", "net crossings", None),
        "1v1-plain": ("metrics/crossings", "net crossings", None),
        "3v3": (None, "win rate against those before", 0.5),
        "3v3-plain": (None, "win rate against those before", 0.5),
    }
    shown = [task for task in wanted if task in runs]
    figure = Figure(figsize=(3.6 * len(shown), 3), layout="constrained")
    FigureCanvasAgg(figure)
    axes_of = np.atleast_1d(figure.subplots(1, len(shown)))
    for axes, task in zip(axes_of, shown, strict=True):
        metric, words, goal = wanted[task]
        if metric is None:
            history = json.loads((runs[task] / "psro.json").read_text())["history"]
            for number, response in enumerate(history, 1):
                steps, values = zip(*response["curve"], strict=True)
                axes.plot(np.array(steps) / 1e6, values, marker=".", label=f"response {number}")
            axes.legend(fontsize="x-small")
            axes.set(xlabel="million choices", ylabel=words)
        else:
            lines = read_curve(runs[task] / "curve.jsonl")
            steps = [line["steps"] / 1e6 for line in lines]
            values = [line["metrics"][metric][0] for line in lines]
            axes.plot(steps, np.array(values, float), color="tab:blue")
            unit = "choices" if task in ("1v1-skills", "1v1-plain") else "steps"
            axes.set(xlabel=f"million {unit}", ylabel=words)
        if goal is not None:
            axes.axhline(goal, color="tab:orange", linewidth=1, linestyle="--")
        axes.set_title(task)
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
        play = {"1v1": duel, "3v3": strategies}.get(task.partition("-")[0], drill)
        results[task] = play(task, out, options.episodes)
        save(path, machine=machine(), tasks=results)
    picture(folders)


if __name__ == "__main__":
    main()
