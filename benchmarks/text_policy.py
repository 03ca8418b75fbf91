"""Text policies: what they reach, by game and by seed.

  python benchmarks/text_policy.py kuhn --seeds 0 1 2
  python benchmarks/text_policy.py baselines --seeds 0 1 2
  python benchmarks/text_policy.py groups --one-clone --seeds 0 1 2 3 4 --clone-seed 0
  python benchmarks/text_policy.py kitchen-groups --one-clone --seeds 0 1 2 --clone-seed 0
  python benchmarks/text_policy.py shipped --pack runs/text-policy/kuhn-prompt/seed-0 ...

`shipped` puts the policies of some runs into the file of the package (`--pack`; those for other
games stay), or one for its game alone into a file of its own (`--alone`; with `--mean` the mean of
the weights of several stages of a run, as they were copied), and judges the seat
`text:file=shipped` in all games, or in those of `--games`; without runs it judges what is there.
Runs are kept in `runs/text-policy` (or `--out`) and gone on with if they are there; figures go to
`benchmarks/results/text-policy-EXPERIMENT.json`, a seed each as it is finished, beside those of
other seeds and baselines with the same settings.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import platform
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from common import finish_curves

import manyhands
from manyhands.baselines.game_theory import policies as tables
from manyhands.baselines.learners.text import CLONING, TextConfig, TextLearner, text
from manyhands.baselines.learners.text_lessons import tabulate
from manyhands.baselines.players import text_policy as words

ROOT = Path(__file__).resolve().parents[1]
EPISODES = {"kitchen": 3, "trade": 40, "short_kitchen": 24}
# Who plays with itself beside the policies of the package.
TEACHING = {"kitchen": ("text:skills=true", "random"), "trade": ("barter", "fair", "random")}
# Smaller homes than those in which vector policies were compared (`home_learning.py`), with the
# shortest texts that hold everything.
SMALL: dict[str, Any] = {"task": "put", "receptacles": 5, "objects": 3, "max_steps": 15}
SMALL |= {"detail": "brief"}
# Time for three soups, as the scripted chefs play.
SHORT: dict[str, Any] = {"layout": "cramped_room", "max_steps": 120}
COMPARED = ["none", "shared", "role", "prompt", "critic"]
LABELS = {"critic": "PPO", "group": "GRPO", "anchor": "GiGPO"}
PICTURE = ROOT / "docs" / "text_groups.png"
SMOOTHED = 3  # updates whose mean is a point of the picture
SHIPPED = ROOT / "manyhands" / "assets" / "policies" / "text" / "shipped.safetensors"


@functools.lru_cache(maxsize=1)
def games(name: str) -> dict[str, Any]:
    """The games of an experiment, by their names in results."""
    kitchen = manyhands.make("kitchen", layout="cramped_room")
    made = {
        "kuhn_poker": lambda: manyhands.make("kuhn_poker"),
        "leduc_holdem": lambda: manyhands.make("leduc_holdem"),
        "tic_tac_toe": lambda: manyhands.make("tic_tac_toe"),
        "chores": lambda: manyhands.make("home", **SMALL),
        "trade": lambda: manyhands.make("negotiation", scenario="trade"),
        "kitchen": lambda: manyhands.make("skills", env=kitchen),
        "short_kitchen": lambda: manyhands.make("skills", env=manyhands.make("kitchen", **SHORT)),
    }
    chosen = {
        "kuhn": ("kuhn_poker",),
        "tictactoe": ("tic_tac_toe",),
        "kitchen": ("kitchen",),
        "trade": ("trade",),
        "shipped": ("kuhn_poker", "tic_tac_toe", "kitchen", "trade"),
        "several": ("kuhn_poker", "tic_tac_toe", "trade", "kitchen"),
        "groups": ("chores",),
        "kitchen-groups": ("short_kitchen",),
        "baselines": ("kuhn_poker", "leduc_holdem", "tic_tac_toe"),
    }[name]
    return {game: made[game]() for game in chosen}


def judge_tree(run: Path, env: Any, model: Any, seed: int) -> dict[str, Any]:
    """Exploitability of a run's last and average strategies, exactly."""
    learner = TextLearner([env], TextConfig(), seed)
    tree, views = learner.infosets(0)
    table, mass = tabulate(model, tree, views)
    found = {
        "exploitability_last": tables.exploitability(tree, table),
        "other_answers_largest": float(1 - mass.min()),
        "exploitability_random": tables.exploitability(tree, tables.uniform(tree)),
    }
    average = run / f"average-{env.id}.safetensors"
    if average.exists():
        whole = tables.TablePolicy.load(average).on(tree)
        found["exploitability_average"] = tables.exploitability(tree, whole)
        found["values"] = tables.expected_values(tree, whole).tolist()
    return found


def judge_play(
    env: Any, policy: Any, others: list[str], episodes: int, seed: int, patience: int
) -> Any:
    """What a policy wins and loses, in each seat, beside each of some others ("" is itself)."""
    found = {}
    for other in others:
        seats = [policy, other] if other else [policy] * env.num_agents
        own = words.held(policy, env, patience)
        held = [own if player is policy else player for player in seats]
        result = manyhands.play(env, held, episodes, seed, rotate=bool(other), progress=False)
        mine = result.seat_rewards[:, 0]
        illegal = sum(result.refused(k)[0] for k in range(1 if other else env.num_agents))
        answers = getattr(policy, "answered", 0)
        found[other or "itself"] = {
            "episodes": episodes,
            "return": float(mine.mean()),
            "standard_error": float(mine.std(ddof=1) / len(mine) ** 0.5) if episodes > 1 else None,
            "lost": float((mine < 0).mean()),
            "won": float((mine > 0).mean()),
            "illegal": illegal,
            "answers": answers,
        }
        policy.answered = 0
    return found


class Counted(words.TextPolicy):
    """A text policy that counts its answers."""

    answered = 0

    def act(self, views: Any) -> Any:
        self.answered += len(views)
        return super().act(views)


def experiment(options: argparse.Namespace, seed: int, baseline: str) -> dict[str, Any]:
    named = games(options.experiment)
    settings = {f.name: getattr(options, f.name) for f in dataclasses.fields(TextConfig)}
    # "critic:turn" is a baseline with a credit of its own.
    compared, _, credit = baseline.partition(":")
    config = TextConfig(
        **{**settings, "baseline": compared, "credit": credit or settings["credit"]}
    )
    where = options.out / (options.name or options.experiment)
    out = Path(f"{where}-{baseline.replace(':', '-')}") / f"seed-{seed}"
    finished = out / "judged.json"
    if finished.exists():
        return dict(json.loads(finished.read_text()))
    found: dict[str, Any] = {"seed": seed, "baseline": baseline}
    start = None
    if options.one_clone:
        first = seed if options.clone_seed is None else options.clone_seed
        start = Path(f"{where}-clone") / f"seed-{first}"
        kept = {name: settings[name] for name in (*CLONING, "minutes_to_checkpoint")}
        alone = TextConfig(**kept, updates=0, batch=options.clone_batch or options.batch)
        text(list(named.values()), alone, start, first, resume=True, log=say)
        if baseline == options.baselines[0]:
            clone, _ = words.load(start / "policy-0.safetensors")
            found["clone"] = {
                name: judged(options, name, env, clone, seed, start) for name, env in named.items()
            }
    card = text(list(named.values()), config, out, seed, resume=True, start=start, log=say)
    model, _ = words.load(out / "policy-0.safetensors")
    history = json.loads((out / "curve.json").read_text())
    lines = [line for line in history if "update" in line]
    found |= {
        # Of training, over all processes that it took; a clone that others begin with is its own.
        "cpu_seconds": card["cpu_seconds"],
        "seconds": card["seconds"],
        "parameters": count(model),
        "tokens": model.tokenizer.size,
    }
    half = lines[len(lines) // 2 :]
    for g, (name, env) in enumerate(named.items()):
        own: dict[str, Any] = {}
        if lines:
            own["illegal_share_second_half"] = float(np.mean([x[f"illegal/{g}"] for x in half]))
            own["illegal_share_first"] = lines[0][f"illegal/{g}"]
        found[name] = own | judged(options, name, env, model, seed, out)
    if lines:
        for name in ("advantage_variance", "entropy", "kl", "grad_norm", "answer_tokens"):
            found[name] = float(np.mean([line[name] for line in half]))
        found["entropy_first"] = lines[0]["entropy"]
        found["entropy_last"] = lines[-1]["entropy"]
        found["grad_norm_variance"] = float(np.var([line["grad_norm"] for line in half]))
    shown = ("return", "illegal", "exploitability", "entropy", "kl", "repeated")
    kept = {key for line in lines for key in line if key.startswith(shown)}
    # By name, (the updates, the values).
    found["curve"] = {
        key: [
            [line["update"] for line in lines if key in line],
            [float(f"{line[key]:.4g}") for line in lines if key in line],
        ]
        for key in sorted(kept)
    }
    if options.noise and baseline == options.baselines[0]:
        learner = TextLearner(list(named.values()), config, seed)
        learner.resume((start or out) / "checkpoint.safetensors", clone=start is not None)
        found["gradients"] = gradient_noise(learner, COMPARED, options.noise, list(named))
    finished.write_text(json.dumps(found) + "\n")
    return found


def gradient_noise(
    learner: TextLearner, baselines: list[str], batches: int, names: list[str]
) -> dict[str, Any]:
    """How much gradients differ from one update's episodes to the next, by game and baseline.

    The policy is the same, and so are the episodes. In expectation all of these gradients are
    equal, so that their variance (the mean square of the distance from their mean) is what a
    baseline changes; `signal` is the square of the mean's length less what is noise in it.
    """
    data = []
    for _ in range(batches + 1):  # the first for running means only
        data.append(learner.collect()[0])
        learner.update += 1
    config, spread = learner.config, {k: v for k, v in learner.means.items() if "spread" in k}
    found: dict[str, Any] = {name: {} for name in names}
    for baseline in baselines:
        learner.config = dataclasses.replace(config, baseline=baseline, scale=False)
        learner.means = dict(spread)
        advantages = [learner.advantages(decisions) for decisions in data]
        for g, name in enumerate(names):
            gradients, left = [], []
            for decisions, worth in zip(data[1:], advantages[1:], strict=True):
                own = [k for k, d in enumerate(decisions) if d.game == g]
                mine = [decisions[k] for k in own]
                gradients.append(learner.gradient(mine, worth[own]))
                left.append(np.mean(worth[own] ** 2) / np.mean(learner.worth(mine) ** 2))
            mean = np.mean(gradients, axis=0)
            noise = np.sum((np.array(gradients) - mean) ** 2) / (batches - 1)
            found[name][baseline] = {
                "variance": float(noise),
                "signal": float(np.sum(mean**2) - noise / batches),
                "mean_square_of_advantages": float(np.mean(left)),
            }
    learner.config = config
    return found


def judged(
    options: argparse.Namespace, name: str, env: Any, model: Any, seed: int, run: Path
) -> dict[str, Any]:
    """What a policy reaches in a game."""
    own: dict[str, Any] = {}
    if env.deals() is not None and env.chat is None:
        own |= judge_tree(run, env, model, seed)
    policy = Counted(
        env, model, policy=False, greedy=options.greedy, constrained=options.constrained
    )
    others = {
        "tic_tac_toe": ["random", "perfect"],
        "kitchen": [""],
        "short_kitchen": [""],
        "chores": [""],
        "trade": ["", "fair", "honest", "random"],
    }
    episodes = options.episodes or EPISODES.get(name, options.matches)
    if name in others:
        own["play"] = judge_play(env, policy, others[name], episodes, 77 + seed, options.patience)
    return own


def shipped(options: argparse.Namespace) -> dict[str, Any]:
    """The policies of the package, made of some runs' or as they are, and what they reach."""
    named = games("shipped")
    if options.pack:
        pack(options.pack)
    for runs in (
        [options.alone]
        if options.mean and options.alone
        else [[run] for run in options.alone or ()]
    ):
        model, specs = mean_of(runs)
        card = json.loads((runs[-1] / "policy-0.json").read_text())
        card |= {"sharpened": options.sharpen} | ({"mean_of": len(runs)} if options.mean else {})
        model = model.sharpened(options.sharpen)
        words.save(SHIPPED.parent / f"{specs[0]['id']}.safetensors", model, specs, card, half=True)
    found: dict[str, Any] = {"bytes": {}}
    for name in options.games or named:
        env, bots = named[name], TEACHING.get(name, ())
        path = Path(str(words.shipped(env.unwrapped.id)))
        found["bytes"][path.name] = path.stat().st_size
        model, _ = words.load(path, env.unwrapped.id)
        own: dict[str, Any] = {"parameters": count(model), "tokens": model.tokenizer.size}
        again = options.episodes > 0  # another judgement, beside the one on the card
        own |= judged(options, name, env, model, options.seeds[0] if again else 0, SHIPPED.parent)
        for bot in bots:
            result = manyhands.play(env, bot, EPISODES[name], seed=77, progress=False)
            own[f"{bot} with itself"] = estimate(result.seat_rewards.mean(axis=1))
        found[name] = own
        if again:
            continue
        card = json.loads(path.with_suffix(".json").read_text())
        card["scores"] = {**card.get("scores", {}), name: own}
        path.with_suffix(".json").write_text(json.dumps(card, indent=2) + "\n")
    return found


def mean_of(runs: list[Path]) -> tuple[words.TextModel, list[dict[str, Any]]]:
    """The policy with the mean of the weights of some runs, which began as one (Wortsman et al.
    2022, model soups), and its games."""
    loaded = [words.load(run / "policy-0.safetensors") for run in runs]
    models = [model for model, _ in loaded]
    if any(m.tokenizer.to_json() != models[0].tokenizer.to_json() for m in models):
        raise SystemExit("--mean is of runs that began as one; these have other tokens")
    params = jax.tree.map(lambda *own: np.mean(own, axis=0), *(model.params for model in models))
    return words.TextModel(models[-1].shape, params, models[-1].tokenizer), loaded[-1][1]


def pack(runs: list[Path]) -> None:
    """Put the policies of some runs into the file of the package, in the place of those that it has
    for the same games; the others stay."""
    parts, scores = {}, {}
    if SHIPPED.exists():
        card = json.loads(SHIPPED.with_suffix(".json").read_text())
        scores = card.get("scores", {})
        for own in card["parts"]:
            game = innermost(own["games"][0])
            parts[game] = (words.load(SHIPPED, game), own)
    for run in runs:
        own = json.loads((run / "policy-0.json").read_text())
        parts[innermost(own["games"][0])] = (words.load(run / "policy-0.safetensors"), own)
    SHIPPED.parent.mkdir(parents=True, exist_ok=True)
    models, cards = zip(*parts.values(), strict=True)
    words.bundle(SHIPPED, models, {"parts": list(cards), "scores": scores})


def innermost(spec: dict[str, Any]) -> str:
    """The id of the environment inside of all wrappers."""
    return innermost(spec["env"]) if "env" in spec else str(spec["id"])


def estimate(values: np.ndarray) -> dict[str, Any]:
    """The mean of some episodes' returns."""
    error = float(values.std(ddof=1) / len(values) ** 0.5)
    return {"episodes": len(values), "return": float(values.mean()), "standard_error": error}


def count(model: Any) -> int:
    """The number of parameters."""
    return int(sum(np.size(x) for x in _leaves(model.params)))


def _leaves(tree: Any) -> list[Any]:
    return (
        [leaf for value in tree.values() for leaf in _leaves(value)]
        if isinstance(tree, dict)
        else [tree]
    )


def picture(data: dict[str, Any]) -> None:
    """Success, repeated sights and illegal answers in play over episodes: means over the seeds and
    over `SMOOTHED` updates, and the range of the seeds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = {"return/0/0": "success", "repeated/0": "answers to a repeated sight"}
    shown["illegal/0"] = "illegal answers"
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for baseline in dict.fromkeys(run["baseline"] for run in data["runs"]):
        runs = [run["curve"] for run in data["runs"] if run["baseline"] == baseline]
        for axis, name in zip(axes, shown, strict=True):
            updates = min(len(curve[name][1]) for curve in runs) // SMOOTHED * SMOOTHED
            values = 100 * np.array([curve[name][1][:updates] for curve in runs])
            values = values.reshape(len(runs), -1, SMOOTHED).mean(axis=2)
            middle = np.arange(values.shape[1]) * SMOOTHED + (SMOOTHED + 1) / 2
            episodes = middle * data["settings"]["episodes_per_update"]
            axis.plot(episodes, values.mean(axis=0), label=LABELS[baseline.partition(":")[0]])
            axis.fill_between(episodes, values.min(axis=0), values.max(axis=0), alpha=0.2, lw=0)
    finish_curves(figure, axes, shown.values(), PICTURE)


def written(data: Any) -> str:
    """As JSON, lists of numbers in one line each."""
    text = json.dumps(data, indent=1)
    return re.sub(r"\[[-\d.e,\s]+\]", lambda own: "".join(own[0].split()), text) + "\n"


def joined(data: dict[str, Any], run: dict[str, Any], path: Path) -> dict[str, Any]:
    """Results with one more run, and with those of other commands with the same settings, which
    may have been written in the meantime."""
    runs = {(own["seed"], own["baseline"]): own for own in [*data["runs"], run]}  # the newest stays
    there = json.loads(path.read_text()) if path.exists() else {}
    # What a file does not name was the default then.
    settings = dataclasses.asdict(TextConfig()) | there.get("settings", {})
    if there and settings == data["settings"]:
        others = {(own["seed"], own["baseline"]): own for own in there["runs"]}
        commands = {*there.get("other_commands", ()), there["command"]} - {data["command"]}
        if others.keys() - runs.keys():
            runs = dict(sorted((others | runs).items(), key=lambda own: own[0][0]))
            data = data | {"other_commands": sorted(commands)}
    return data | {"runs": list(runs.values())}


def say(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    known = ("kuhn", "tictactoe", "kitchen", "trade", "shipped", "several", "baselines")
    parser.add_argument("experiment", choices=(*known, "groups", "kitchen-groups"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--baselines", nargs="+", default=["prompt"])
    parser.add_argument("--out", type=Path, default=Path("runs/text-policy"))
    parser.add_argument("--name", help="of the results; by default the experiment")
    parser.add_argument("--greedy", action="store_true", help="judge play by the likeliest tokens")
    parser.add_argument("--constrained", action="store_true", help="judge by legal answers alone")
    parser.add_argument("--matches", type=int, default=200)
    again = "judge `shipped` in so many, with the first of --seeds, and leave the policies' cards"
    parser.add_argument("--episodes", type=int, default=0, help=again)
    once = "clone once for each seed; all baselines start there"
    parser.add_argument("--one-clone", action="store_true", help=once)
    once = "the seed of one clone for all seeds of play; by default each seed has its own"
    parser.add_argument("--clone-seed", type=int, help=once)
    parser.add_argument("--clone-batch", type=int, help="by default --batch")
    once = "draw the curves of `groups`, docs/text_groups.png"
    parser.add_argument("--picture", action="store_true", help=once)
    wanted = "updates whose gradients are compared, after a seed's first run"
    parser.add_argument("--noise", type=int, default=0, help=wanted)
    parser.add_argument(
        "--pack",
        type=Path,
        nargs="*",
        help="runs for the package's policy, instead of those for the same games",
    )
    parser.add_argument(
        "--mean", action="store_true", help="of --alone: one file for all, of means"
    )
    parser.add_argument("--sharpen", type=float, default=1.0, help="1 / temperature, of --alone")
    parser.add_argument("--games", nargs="*", help="of the package, to be judged")
    parser.add_argument("--alone", type=Path, nargs="*", help="runs that get files of their own")
    for field in dataclasses.fields(TextConfig):
        name = f"--{field.name.replace('_', '-')}"
        if field.name == "baseline":
            parser.set_defaults(baseline="prompt")
        else:
            parser.add_argument(name, type=type(field.default), default=field.default)
    options = parser.parse_args()
    if options.experiment == "baselines" and options.baselines == ["prompt"]:
        options.baselines = ["role", "shared", "none", "critic"]
    if options.experiment in ("groups", "kitchen-groups") and options.baselines == ["prompt"]:
        options.baselines = ["critic:turn", "group", "anchor"]
    path = (
        ROOT / "benchmarks" / "results" / f"text-policy-{options.name or options.experiment}.json"
    )
    data: dict[str, Any] = {"runs": []}
    data["command"] = shlex.join(["python", "benchmarks/text_policy.py", *sys.argv[1:]])
    data["machine"] = {
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": "shared with other programs",
    }
    data["settings"] = {f.name: getattr(options, f.name) for f in dataclasses.fields(TextConfig)}
    if options.experiment == "shipped":
        data["runs"].append(shipped(options))
        del data["settings"]
        path.write_text(written(data))
        say(json.dumps(data["runs"][-1]))
        return
    for seed in options.seeds:
        for baseline in options.baselines:
            run = experiment(options, seed, baseline)
            data = joined(data, run, path)
            path.write_text(written(data))
            say(json.dumps(run))
    if options.picture:
        picture(data)


if __name__ == "__main__":
    main()
