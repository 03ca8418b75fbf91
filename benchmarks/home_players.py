"""How well the scripted players of homes do, alone and together.

    python benchmarks/home_players.py

Success and steps by player, task and split; what random legal actions reach; the efficiency
improvement of teams over one player in `house`, (L1 - Ln) / L1 with L the mean steps, as C-WAH has
it; steps and transport rate of 1, 2, 4 and 6 players with and without containers; a table of pairs,
some of whose members are held out from tuning; followers in sight of leaders of graded speed; and
how much of what could be asked about a home its players know. Intervals are of 95 %, over episodes.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, machine, report, save

PAIRS = {  # name: whether it is held out
    "tidy": False,
    "helper": False,
    "tidy:speed=0.5": True,
    "helper:noise=0.3": True,
    "tidy:noise=0.3": True,
    "random": True,
}
TEAMS, SHORT = (1, 2, 4, 6), 30


def spread(values: np.ndarray) -> dict[str, Any]:
    """The mean and half of its interval; None each of nothing."""
    if not len(values):
        return {"mean": None, "ci95": None}
    half = 1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return {"mean": float(np.mean(values)), "ci95": half}


def matches(env: Any, names: Sequence[str], rows: Sequence[Sequence[int]], episodes: int) -> Any:
    import manyhands
    from manyhands.baselines.evaluation.matches import play_matches

    return play_matches(env, [manyhands.seat(name, env) for name in names], rows, episodes, 0)


def starts_of(env: Any, episodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each episode of a match, the name of its task, and the fewest steps that one player needs
    who knows where everything is."""
    import jax

    from manyhands.core.env import seed_key
    from manyhands.core.episode import episode_seed
    from manyhands.envs.home.plan import optimal_steps

    seeds = np.array([episode_seed(0, e) for e in range(episodes)], np.uint32)
    states = jax.device_get(jax.jit(env.batch_reset)(jax.vmap(seed_key)(seeds)))
    each = [jax.tree_util.tree_map(lambda leaf, e=e: leaf[..., e], states) for e in range(episodes)]
    fewest = [optimal_steps(env, state) for state in each]
    return np.array(env.tasks)[np.asarray(states.task)], np.array(fewest, float)


def chores(episodes: int, readers: int) -> list[dict[str, Any]]:
    import manyhands

    rows = []
    for split in ("seen", "unseen"):
        env = manyhands.make("home", task="chore", split=split)
        names = ["tidy", "tidy:memory=false", "tidy:noise=0.2", "random"]
        found = matches(env, names, [(k,) for k in range(len(names))], episodes)
        tasks, fewest = starts_of(env, episodes)
        played = [
            (n, m.metrics["success"], m.lengths, tasks) for n, m in zip(names, found, strict=True)
        ]
        read = manyhands.play(env, "text", readers, 0, progress=False, on_illegal="raise")
        success = np.array([float(e.metrics["success"]) for e in read.episodes])
        lengths = np.array([float(e.steps) for e in read.episodes])
        played.append(("text", success, lengths, tasks[:readers]))
        for name, success, lengths, kinds in played:
            for task in ("all", *env.tasks):
                chosen = (kinds == task) | (task == "all")
                done, best = chosen & (success > 0), fewest[: len(kinds)]
                rows.append(
                    {
                        "player": name,
                        "split": split,
                        "task": task,
                        "episodes": int(chosen.sum()),
                        "success": spread(success[chosen]),
                        "steps_of_successes": spread(lengths[done]),
                        "fewest": spread(best[done]),
                        "over_fewest": spread(lengths[done] / best[done]),
                    }
                )
        print(f"chores: {split}", flush=True)
    return rows


def house(episodes: int) -> list[dict[str, Any]]:
    import manyhands

    rows: list[dict[str, Any]] = []
    alone: dict[str, float] = {}
    for players in (1, 2, 3, 4):
        env = manyhands.make("home", task="house", players=players)
        names = ["tidy", "helper", "random"] if players == 1 else ["tidy", "helper"]
        lineups = [(k,) * players for k in range(len(names))]
        for name, match in zip(names, matches(env, names, lineups, episodes), strict=True):
            steps = spread(match.lengths)
            alone.setdefault(name, steps["mean"])
            rows.append(
                {
                    "player": name,
                    "players": players,
                    "episodes": episodes,
                    "success": spread(match.metrics["success"]),
                    "steps": steps,
                    "efficiency_improvement": 1 - steps["mean"] / alone[name],
                    "raced": spread(match.metrics["raced"]),
                }
            )
        print(f"house: {players}", flush=True)
    return rows


def transport(episodes: int) -> list[dict[str, Any]]:
    import manyhands

    rows = []
    names = ["helper", "helper:containers=false"]
    for players, steps in itertools.product(TEAMS, (150, SHORT)):
        env = manyhands.make("home", task="transport", players=players, max_steps=steps)
        lineups = [(k,) * players for k in range(len(names))]
        for name, match in zip(names, matches(env, names, lineups, episodes), strict=True):
            rows.append(
                {
                    "player": name,
                    "players": players,
                    "max_steps": steps,
                    "episodes": episodes,
                    "transport_rate": spread(match.metrics["delivered"] / env.targets),
                    "steps": spread(match.lengths),
                }
            )
        print(f"transport: {players} players, {steps} steps", flush=True)
    return rows


def pairs(episodes: int) -> list[dict[str, Any]]:
    import manyhands

    env = manyhands.make("home", task="house")
    names = list(PAIRS)
    lineups = [row for row in itertools.product(range(len(names)), repeat=2) if row[0] < 2]
    rows = []
    for row, match in zip(lineups, matches(env, names, lineups, episodes), strict=True):
        rows.append(
            {
                "player": names[row[0]],
                "partner": names[row[1]],
                "held_out": PAIRS[names[row[1]]],
                "episodes": episodes,
                "success": spread(match.metrics["success"]),
                "steps": spread(match.lengths),
            }
        )
    print("pairs", flush=True)
    return rows


def follow(episodes: int) -> list[dict[str, Any]]:
    import manyhands

    env = manyhands.make("home", task="follow")
    leaders = [f"leader:speed={speed}" for speed in (0.25, 0.5, 0.75, 1.0)]
    names = [*leaders, "follower", "random"]
    lineups = [(k, f) for k in range(len(leaders)) for f in (4, 5)]
    rows = []
    for row, match in zip(lineups, matches(env, names, lineups, episodes), strict=True):
        rows.append(
            {
                "leader": names[row[0]],
                "follower": names[row[1]],
                "episodes": episodes,
                "in_sight": spread(match.terms["follow"][:, 1] / match.lengths),
                "steps": spread(match.lengths),
            }
        )
    print("follow", flush=True)
    return rows


def beliefs(episodes: int) -> list[dict[str, Any]]:
    """What a player that remembers all that it saw would answer, while two helpers work."""
    import manyhands
    from manyhands.core.probes import Probes

    env = manyhands.make("home", task="house")
    probes = Probes(lambda view, question: question.believed, most=10)
    manyhands.play(env, ["helper", "tidy"], episodes, 0, probes=probes, progress=False)
    print("beliefs", flush=True)
    return [
        {"kind": kind or "all", "questions": score.count, "knowable": score.knowable}
        for kind, score in probes.scores().items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=400, help="of each line-up")
    parser.add_argument("--readers", type=int, default=100, help="of the player that reads texts")
    parser.add_argument("--out", type=Path, default=RESULTS / "home-players.json")
    parser.add_argument("--parts", nargs="+", help="of the table; by default all, else the others "
                        "stay as they are in the file")  # fmt: skip
    args = parser.parse_args()
    where = machine()
    parts: dict[str, Any] = {}
    if args.parts and args.out.exists():
        parts = json.loads(args.out.read_text())
        parts = {name: part for name, part in parts.items() if isinstance(part, dict)}
        parts.pop("machine", None)
    for name, measure in {
        "chores": lambda: chores(args.episodes, args.readers),
        "house": lambda: house(args.episodes),
        "follow": lambda: follow(args.episodes),
        "beliefs": lambda: beliefs(max(1, args.readers // 5)),
        "pairs": lambda: pairs(args.episodes),
        "transport": lambda: transport(args.episodes),
    }.items():
        if args.parts and name not in args.parts:
            continue
        parts[name] = {"machine": where, "rows": measure()}
        save(args.out, benchmark="home_players", **parts)

    def shown(value: dict[str, Any], digits: int = 1, scale: float = 1.0) -> str:
        if value["mean"] is None:
            return "-"
        return f"{scale * value['mean']:.{digits}f} ± {scale * value['ci95']:.{digits}f}"

    def rows(name: str) -> list[Any]:
        return parts[name]["rows"] if name in parts else []

    report(
        "chores: success in %, steps of successes, and their ratio to the fewest",
        ["player", "split", "task", "success", "steps", "ratio"],
        [
            [row["player"], row["split"], row["task"], shown(row["success"], 1, 100),
             shown(row["steps_of_successes"]), shown(row["over_fewest"])]
            for row in rows("chores")
        ],
    )  # fmt: skip
    report(
        "house: steps, and the efficiency improvement over one",
        ["player", "players", "steps", "improvement"],
        [
            [row["player"], str(row["players"]), shown(row["steps"]),
             f"{100 * row['efficiency_improvement']:.0f} %"]
            for row in rows("house")
        ],
    )  # fmt: skip
    report(
        "transport: the rate in %, and steps",
        ["player", "players", "at most", "rate", "steps"],
        [
            [row["player"], str(row["players"]), str(row["max_steps"]),
             shown(row["transport_rate"], 0, 100), shown(row["steps"])]
            for row in rows("transport")
        ],
    )  # fmt: skip
    report(
        "house, pairs: steps",
        ["player", "partner", "success", "steps"],
        [
            [row["player"], row["partner"], shown(row["success"], 0, 100), shown(row["steps"])]
            for row in rows("pairs")
        ],
    )
    report(
        "follow: in sight, in %",
        ["leader", "follower", "in sight"],
        [
            [row["leader"], row["follower"], shown(row["in_sight"], 0, 100)]
            for row in rows("follow")
        ],
    )


if __name__ == "__main__":
    main()
