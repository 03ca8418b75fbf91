"""What learners reach in missions: the tables of docs/mission.md.

    python benchmarks/mission_learning.py                        # everything
    python benchmarks/mission_learning.py --parts foraging --tasks foraging-8x8-2p-2f-coop
    python benchmarks/mission_learning.py --parts maze

Parts: `foraging` trains IPPO, MAPPO and QMIX on published tasks; `warehouse` trains IPPO and MAPPO
on tiny ones; `critics` compares a critic of one agent's view (IPPO) with a central one (MAPPO);
`duels` trains a network against itself, and a population (PSRO), in three games of two teams, and
has all play all; `shipped` has the policies that come with the package, beside scripted players;
`maze` plays the pair maze with scripted players, alone and in pairs, who talk or not. Runs are kept
in `runs/`: what is there is not trained again, and what was stopped goes on. Figures are added,
task by task, to `benchmarks/results/mission-learning.json`.
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
from manyhands.baselines.evaluation.league import nash
from manyhands.baselines.evaluation.matches import play_matches
from manyhands.baselines.evaluation.scores import players
from manyhands.baselines.evaluation.tables import Estimate
from manyhands.baselines.learners import training
from manyhands.baselines.learners.psro import psro
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
# Tasks whose best IPPO comes with the package, beside one of an earlier run, and its settings.
SHIP: dict[str, dict[str, Any]] = {
    "foraging-2s-8x8-2p-2f-coop": {"total_steps": FORAGING["foraging-2s-8x8-2p-2f-coop"][0]},
    "foraging-10x10-3p-3f": {"total_steps": FORAGING["foraging-10x10-3p-3f"][0]},
    "rendezvous": CRITICS["rendezvous"],
    "capture": {**FIELD, "total_steps": 1_000_000},
    # From the start alone, networks learn to hide from the killer, and never to leave.
    "escape": {
        "num_envs": 256,
        "minibatches": 8,
        "learning_rate": 1e-3,
        "start_player": "ranger",
        "start_share": 0.9,
        "total_steps": 2_000_000,
    },
}
# What PSRO begins with, beside a network that was cloned from the last of them: scripted players,
# from the least able to the most.
LADDER = ("ranger:noise=0.75", "ranger:noise=0.5", "ranger:noise=0.25", "ranger")
# Scenario -> settings of IPPO against itself, and of each response of PSRO. Each run of self-play
# takes as many steps as three responses together.
DUEL: dict[str, Any] = {
    "num_envs": 128,
    "num_steps": 32,
    "epochs": 2,
    "minibatches": 8,
    "learning_rate": 1e-3,
    "entropy_end": 0.002,
    "width": 32,
}
LEAGUE: dict[str, Any] = {
    "strategies": len(LADDER) + 4,
    "meta_solver": "uniform",
    "counts": "margin",
    "checks": 1,
    "enough": 1.0,
    "matches": 50,
}
# Both learn in the scenario with these terms, which pay nothing, so that shaping can name them.
TERMS: dict[str, dict[str, float]] = {"flag": {"flag": 0.0, "capture": 0.0, "caught": 0.0}}
FLAGS: dict[str, Any] = {
    "discount": 0.98,
    "shaping": (("flag", 0.5), ("capture", 0.1)),
    "shaping_share": 0.9,
}
WITHIN: dict[str, Any] = {"start_player": "ranger:noise=0.25", "start_share": 0.8}
DUELS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tag": (
        {
            **DUEL,
            "num_envs": 256,
            "minibatches": 4,
            "learning_rate": 3e-3,
            "reward_scale": 0.1,
            "total_steps": 1_200_000,
        },
        {**DUEL, **LEAGUE, "discount": 0.95, "reward_scale": 0.1, "total_steps": 400_000},
    ),
    "flag": (
        {**DUEL, **FLAGS, **WITHIN, "total_steps": 900_000},
        {**DUEL, **LEAGUE, **FLAGS, "total_steps": 300_000},
    ),
    "hide_and_seek": (
        {**DUEL, **WITHIN, "discount": 0.95, "reward_scale": 0.1, "total_steps": 510_000},
        {
            **DUEL,
            **LEAGUE,
            # Each response is a little better than the one before it.
            "strategies": len(LADDER) + 6,
            "discount": 0.95,
            "reward_scale": 0.1,
            "total_steps": 170_000,
        },
    ),
}
# Episodes of the scripted player that are cloned, of each team beside each of these opponents.
LESSONS = 80
PARTNERS = ("ranger", "ranger:noise=0.3")
# Rewards are so rare that most episodes at first begin in the middle of a scripted player's, and
# that bringing a shelf back pays something, too, in the first half of the updates.
WAREHOUSE: dict[str, Any] = {
    "num_envs": 256,
    "num_steps": 50,
    "minibatches": 8,
    "learning_rate": 2e-3,
    "reads": "vector",
    "start_player": "porter:noise=0.1",
    "start_share": 0.8,
    "shaping": (("return", 0.5),),
    "entropy_end": 0.002,
}
WAREHOUSES = {
    "warehouse-tiny-2ag": {**WAREHOUSE, "total_steps": 10_000_000},
    "warehouse-tiny-4ag": {**WAREHOUSE, "total_steps": 5_000_000},
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
    """Shares of the food that all players load together, by task and algorithm, beside scripted and
    random players."""
    found: dict[str, Any] = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        found[task] = {"players": earned(env, ("forager", "random"), episodes)}
        for algorithm in algorithms:
            steps = FORAGING[task][algorithm == "qmix"]
            folder = runs / f"mission-{task}-{algorithm}"
            result = trained(env, algorithm, seeds, folder, episodes, total_steps=steps)
            found[task][algorithm] = scores(result, env.num_agents)
            print(task, algorithm, found[task][algorithm], flush=True)
    return found


def earned(env: Any, names: Sequence[str], episodes: int) -> dict[str, Any]:
    """What all agents together earn in an episode, where one player has all seats; by player."""
    made, _ = players(env, list(names))
    rows = [(k,) * env.num_agents for k in range(len(made))]
    matches = play_matches(env, made, rows, episodes, 1)
    sums = [Estimate.of(match.returns.sum(1)).to_dict() for match in matches]
    return dict(zip(names, sums, strict=True))


def warehouse(
    runs: Path,
    tasks: Sequence[str],
    seeds: int,
    episodes: int,
    algorithms: Sequence[str] = ("ippo", "mappo"),
) -> dict[str, Any]:
    """Deliveries of all robots in 500 steps, beside scripted and random players."""
    found: dict[str, Any] = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        found[task] = {
            "settings": WAREHOUSES[task],
            "players": earned(env, ("porter", "random"), episodes),
        }
        for algorithm in algorithms:
            folder = runs / f"mission-{task}-{algorithm}"
            result = trained(env, algorithm, seeds, folder, episodes, **WAREHOUSES[task])
            found[task][algorithm] = scores(result, env.num_agents) | {
                "curve": curve(result, env.num_agents)
            }
            print(task, algorithm, found[task][algorithm], flush=True)
    return found


def curve(result: training.TrainingResult, agents: int, points: int = 20) -> list[list[Any]]:
    """(steps, what all agents together earn in an episode, by seed) at regular steps of a run."""
    lines = training.read_curve(result.out / "curve.jsonl")
    chosen = sorted({round(k) for k in np.linspace(0, len(lines) - 1, points)})
    earned = [(lines[k]["steps"], lines[k]["metrics"]["return"]) for k in chosen]
    return [
        [steps, [None if v is None or np.isnan(v) else round(v * agents, 3) for v in values]]
        for steps, values in earned
    ]


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
    """Self-play of one network in both teams, and a population (PSRO, one seed) that begins with
    scripted players; then all against all, by sides."""
    found: dict[str, Any] = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        lesson = env
        if task in TERMS:
            rewards = {**env.scenario["rewards"], **TERMS[task]}
            lesson = manyhands.make("mission", scenario={"like": task, "rewards": rewards})
        alone, league = DUELS[task]
        result = trained(lesson, "ippo", seeds, runs / f"mission-{task}-ippo", episodes, **alone)
        first = cloned(lesson, runs / f"mission-{task}-bc", league["width"])
        config = dataclasses.replace(
            training.default_config(lesson, "psro"), start=(*LADDER, str(first)), **league
        )
        population = psro(
            lesson,
            config,
            runs / f"mission-{task}-psro",
            resume=True,
            log=lambda line: print(line, flush=True),
        )
        given = {f"self-play {seed}": policy for seed, policy in result.policies.items()}
        joined = [*LADDER, "clone", *population.league.names[len(config.start) :]]
        given |= dict(zip(joined, population.strategies, strict=True))
        given = {
            name: dataclasses.replace(policy, spec=env.spec())
            if isinstance(policy, policies.NetworkPolicy)
            else policy
            for name, policy in given.items()
        }
        payoffs = population.league.matrix(config.counts)
        networks = payoffs[len(LADDER) :, len(LADDER) :]
        mixtures = {
            "all of PSRO": dict(zip(joined, nash(payoffs).tolist(), strict=True)),
            "its networks": dict(zip(joined[len(LADDER) :], nash(networks).tolist(), strict=True)),
        }
        best = len(LADDER) + int(np.argmax(list(mixtures["its networks"].values())))
        if payoffs[best, LADDER.index("ranger")] > 0:
            number = best - len(config.start)
            card = {
                "environment": env.spec(),
                "algorithm": "psro",
                "settings": json.loads(json.dumps(league)),
                "begins_with": [*LADDER, "clone"],
                "seed": 0,
                "command": COMMAND,
                "responses": population.history[: number + 1],
                "margin_over_ranger": float(payoffs[best, LADDER.index("ranger")]),
            }
            policies.save(SHIPPED / f"{task}-psro.safetensors", given[joined[best]], card)
        found[task] = {
            "settings": {"self-play": alone, "psro": league, "terms": TERMS.get(task, {})},
            "self-play": scores(result),
            "psro": {"responses": population.history},
            **sides(env, {**given, "random": "random"}, mixtures, episodes),
        }
        print(task, json.dumps(found[task]), flush=True)
    return found


def cloned(env: Any, folder: Path, width: int) -> Path:
    """The file of a network that does what the scripted player does, of both teams."""
    records = []
    for team, side in enumerate(env.sides):
        for number, partner in enumerate(PARTNERS):
            path = folder.with_name(f"{folder.name}-{team}-{number}.jsonl")
            records.append(str(path))
            seats = ["ranger" if agent in side else partner for agent in range(env.num_agents)]
            seed = 1_000 + 2 * team + number
            resume = path.exists()
            manyhands.play(env, seats, LESSONS, seed, record=path, resume=resume, progress=False)
    settings = {"data": tuple(records), "players": ("ranger",), "width": width, "epochs": 30}
    trained(env, "bc", 1, folder, 20, **settings)
    return folder / "policy-0.safetensors"


def sides(
    env: Any, given: Mapping[str, Any], mixtures: Mapping[str, Mapping[str, float]], episodes: int
) -> dict[str, Any]:
    """The return of an agent of the first team (rows) and of the second (columns): means over
    episodes, each with the margin of its 95% interval. A mixture draws one of the players for each
    episode; what is given of it is the expected value."""
    made, _ = players(env, list(given.values()))
    first, second = env.sides
    size = len(made)
    lineups = [
        tuple(a if agent in first else b for agent in range(env.num_agents))
        for a in range(size)
        for b in range(size)
    ]
    matches = play_matches(env, made, lineups, episodes, 1)
    returns = np.stack([match.returns for match in matches]).reshape(size, size, episodes, -1)
    names = list(given)
    draws = np.eye(size + len(mixtures), size)
    for row, mixture in enumerate(mixtures.values(), start=size):
        draws[row] = [mixture.get(name, 0.0) for name in names]

    def cells(team: Sequence[int]) -> list[list[list[float]]]:
        values = np.einsum("ai,bj,ije->abe", draws, draws, returns[..., list(team)].mean(-1))
        estimates = [[Estimate.of(cell) for cell in row] for row in values]
        return [[[round(e.mean, 3), round(e.margin, 3)] for e in row] for row in estimates]

    return {
        "players": [*names, *mixtures],
        "mixtures": {
            name: {player: round(chance, 3) for player, chance in mixture.items() if chance > 5e-4}
            for name, mixture in mixtures.items()
        },
        "first_team": cells(first),
        "second_team": cells(second),
    }


def shipped(runs: Path, tasks: Sequence[str], seeds: int, episodes: int) -> dict[str, Any]:
    """Policies for the package, the best seeds of IPPO in the other parts, beside scripted players;
    each plays all seats."""
    found: dict[str, Any] = {}
    for task in tasks:
        env = manyhands.make("mission", scenario=task)
        folder = runs / f"mission-{task}-ippo"
        result = trained(env, "ippo", seeds, folder, episodes, **SHIP[task])
        ship(env, task, result)
        foraging = env.kind == "foraging"
        scripted = ("forager", "forager:team=false") if foraging else ("ranger", "ranger:noise=0.3")
        names = ("ippo", *scripted, "random")
        made, _ = players(env, list(names))
        rows = [(k,) * env.num_agents for k in range(len(made))]
        matches = play_matches(env, made, rows, episodes, 1)
        found[task] = scores(result) | {
            "settings": SHIP[task],
            "players": {
                name: {
                    "return": round(float(match.returns.mean()), 4),
                    "steps": round(float(match.lengths.mean()), 1),
                }
                for name, match in zip(names, matches, strict=True)
            },
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


class Noisy:
    """A host policy that is now and then another choice, each alike."""

    def __init__(self, inner: Any, noise: float):
        self.inner, self.noise, self.name = inner, noise, "noisy"

    def act(self, views: Sequence[manyhands.View]) -> list[manyhands.Reply]:
        replies = self.inner.act(views)
        for i, view in enumerate(views):
            rng = view.rng()
            if rng.random() < self.noise:
                moves = [choice.text for choice in view.all_choices]
                action = str(rng.choice([move for move in moves if not move.startswith("say:")]))
                replies[i] = dataclasses.replace(replies[i], action=action)
        return replies


def maze(runs: Path, tasks: Sequence[str], seeds: int, episodes: int) -> dict[str, Any]:
    """The pair maze with scripted players: alone with the whole map, in pairs that talk freely or
    in phrases, with one frame of coordinates or without, and in silent pairs; who is named first is
    player_0. Shares of episodes that reach the goal, steps of those, and the fewest possible ones
    of the same mazes."""
    found: dict[str, Any] = {}
    one = {"teams": [{"name": "players", "member": "player", "count": 1}], "masks": False}
    turned = {"coordinates": "turned"}
    for name, fields, channel in (
        ("alone, the whole map", one, False),
        ("pair, free talk", {}, True),
        ("pair, free talk, turned map", turned, True),
        ("pair, phrases", {}, True),
        ("pair, phrases, turned map", turned, True),
        ("pair, silent", {}, False),
        ("pair, silent, turned map", turned, False),
    ):
        env = manyhands.make("mission", scenario={"like": "maze_pair", **fields})
        if channel:
            env = manyhands.make("chat", env=env)
        made, _ = players(env, list(WALKERS.values()))
        if "free" in name:
            made = [manyhands.seat("text", env), Noisy(manyhands.seat("text", env), 0.3)]
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
    "warehouse": (warehouse, tuple(WAREHOUSES)),
    "critics": (critics, tuple(CRITICS)),
    "duels": (duels, tuple(DUELS)),
    "shipped": (shipped, tuple(SHIP)),
    "maze": (maze, ("maze_pair",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--tasks", nargs="+", help="only these of the parts' tasks")
    parser.add_argument(
        "--algorithms", nargs="*", help="only these (or none), of foraging and warehouse"
    )
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
            some = args.algorithms is not None and part in ("foraging", "warehouse")
            only = {"algorithms": args.algorithms} if some else {}
            found = run(args.runs, [task], args.seeds, args.episodes, **only)[task]
            about = {"seeds": args.seeds, "episodes": args.episodes, "machine": machine()}
            before = known["parts"].setdefault(part, {}).get(task, {}) if only else {}
            if before:  # what was there keeps the machine that it was measured on
                later = before.get("machines", {}) | dict.fromkeys(found, about["machine"])
                about |= {"machine": before["machine"], "machines": later}
            known["parts"].setdefault(part, {})[task] = before | found | about
            save(args.out, benchmark="mission-learning", parts=known["parts"])


if __name__ == "__main__":
    main()
