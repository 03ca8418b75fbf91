"""How often the scripted seat `team` reaches goals of CraftWorld, by goal and number of players.

    python benchmarks/craftworld_team.py

Plays `--episodes` episodes of at most `--steps` steps for each goal (plans, achievements, items,
joint tasks) with each number of players, on generated worlds of 32 x 32 cells; all teams meet the
same worlds. A joint task counts as solved with the first joint effort that succeeds. Then a diamond
by teams with and without a channel to talk, on the same worlds, and the same where teammates are
known only in view (`sees="near"`), and goals of each player that only the first is told
(`told="first"`); failures count with the limit. Intervals are Wilson's, of 95 %. With `--first 100`
goals are played in other worlds than those that the seat was written with, and kept apart; from
`--first 200` on in worlds that were played once, when it was finished (`--plans house`).

All figures go to `benchmarks/results/craftworld-team.json`, where rows that are not played again
(`--parts`, `--players`) stay as they are; each row holds the commit that it is of.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from typing import Any

import numpy as np
from common import RESULTS, machine, report, save

ACHIEVEMENTS = (
    *("collect 9 wood", "make stone pickaxe", "make iron pickaxe", "collect 1 diamond"),
    "unlock 12 achievements",
)
# One for each episode in turn, told to player 0 alone.
PRIVATE = (
    *("everyone: collect 5 wood", "everyone: collect 5 stone", "everyone: collect 2 sapling"),
    *("everyone: make stone sword", "everyone: collect 2 coal"),
)
PARTS = ("plans", "achievements", "joint", "talk", "private")


def interval(successes: int, episodes: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a rate."""
    z, p = 1.96, successes / episodes
    middle = (p + z * z / (2 * episodes)) / (1 + z * z / episodes)
    spread = np.sqrt(p * (1 - p) / episodes + z * z / (4 * episodes**2)) / (1 + z * z / episodes)
    return float(middle - z * spread), float(middle + z * spread)


@functools.cache
def world(players: int, talks: bool, **config: Any) -> Any:
    """The worlds of a team."""
    from manyhands.envs.craftworld import CraftWorld
    from manyhands.wrappers.chat import Chat

    env = CraftWorld(players=players, size=32, observation="compact", reward="team", **config)
    return Chat(env) if talks else env


def played(
    players: int,
    episodes: int,
    limit: int,
    *,
    seed: int = 0,
    talks: bool = False,
    **config: Any,
) -> dict[str, Any]:
    """Episodes of a team, in the worlds of so many seeds from `seed` on."""
    from manyhands.core.env import episode_key
    from manyhands.core.pack import snapshot
    from manyhands.core.play import play
    from manyhands.core.registry import seat

    joint, goal = config.get("joint") is not None, config.pop("goal", None)
    env = world(players, talks, **config)
    # Goals are set in the first states, so that all of them share what is compiled.
    goals = [goal] if isinstance(goal, str) else list(goal or ())
    starts = []
    for number in range(seed, seed + episodes):
        options = {"goal": goals[number % len(goals)]} if goals else {}
        starts.append(snapshot(env, env.reset_to(episode_key(number), options)))
    first: dict[int, int] = {}

    def on_step(moment: Any) -> None:
        if moment.episode not in first and moment.frame.terms.get("joint", np.zeros(1))[0] > 0:
            first[moment.episode] = moment.step

    begin = time.perf_counter()
    seats = [seat("team", env)] * players
    result = play(
        env,
        seats,
        episodes,
        seed=0,
        fork=starts,
        max_steps=limit,
        progress=False,
        on_step=on_step if joint else None,
    )
    seconds = time.perf_counter() - begin
    if joint:
        steps = [first.get(e.episode, limit) for e in result.episodes]
        reached = [e.episode in first for e in result.episodes]
    else:
        reached = [e.terms["goal"][0] > 0 for e in result.episodes]
        steps = [e.steps if r else limit for e, r in zip(result.episodes, reached, strict=True)]
    decisions = players * sum(e.steps for e in result.episodes)
    return {
        "reached": float(np.mean(reached)),
        "interval": interval(sum(reached), episodes),
        "mean_steps": float(np.mean(steps)),  # failures at the limit
        "median_steps": float(np.median(steps)),
        "steps": [int(s) for s in steps],
        "deaths": float(np.mean([e.metrics["deaths"] for e in result.episodes])),
        "decisions_per_second": decisions / seconds,
        "limit": limit,
        "seeds": [seed, seed + episodes - 1],
        "commit": machine()["commit"],
    }


def main() -> None:
    from manyhands.envs.craftworld.goals import PLANS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument(
        "--first", type=int, default=0, help="the first seed of the worlds of goals"
    )
    parser.add_argument("--steps", type=int, default=500, help="limit of an episode")
    parser.add_argument("--plan-steps", type=int, default=1000, help="the same for plans")
    parser.add_argument("--joint-steps", type=int, default=100, help="the same for joint tasks")
    parser.add_argument("--private-steps", type=int, default=200, help="the same for private goals")
    parser.add_argument("--private-episodes", type=int, default=20, help="with private goals")
    parser.add_argument("--players", nargs="+", type=int, default=[1, 2, 6])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--plans", nargs="+", choices=tuple(PLANS), default=tuple(PLANS))
    options = parser.parse_args()
    goals: dict[str, dict[str, Any]] = {}
    if "plans" in options.parts:
        goals |= {f"build {plan}": {"goal": f"build {plan}"} for plan in options.plans}
    if "achievements" in options.parts:
        goals |= {goal: {"goal": goal} for goal in ACHIEVEMENTS}
    if "joint" in options.parts:
        goals |= {f"joint: {kind}": {"joint": kind} for kind in ("bridge", "gate", "beacon")}
    path = RESULTS / "craftworld-team.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    # "..._before" is what the seat of an earlier commit reached with the same command.
    parts = ("goals", "held_out", "held_out_before", "once", "once_before", "talk", "private")
    found = {part: found.get(part, {}) for part in parts}
    part = "once" if options.first >= 200 else "held_out" if options.first else "goals"

    def keep() -> None:
        save(
            path,
            machine=machine(),
            episodes=options.episodes,
            steps=options.steps,
            plan_steps=options.plan_steps,
            joint_steps=options.joint_steps,
            **found,
        )

    for name, config in goals.items():
        for players in options.players:
            if "joint" in config and players < 2:
                continue
            limit = options.joint_steps if "joint" in config else options.steps
            limit = options.plan_steps if name.startswith("build ") else limit
            row = played(players, options.episodes, limit, seed=options.first, **dict(config))
            found[part].setdefault(name, {})[str(players)] = row
            print(name, players, f"{row['reached']:.0%}", f"{row['mean_steps']:.0f}", flush=True)
            keep()
    several = [n for n in options.players if n > 1]
    teams = [(1, False)] * (1 in options.players) + [(n, t) for n in several for t in (False, True)]
    for sees in ("all", "near") if "talk" in options.parts else ():
        for players, talks in teams:
            team = f"{players}, {'talking' if talks else 'silent'}, sees {sees}"
            found["talk"][team] = played(
                players,
                options.episodes,
                options.steps,
                talks=talks,
                goal="collect 1 diamond",
                sees=sees,
            )
            print(team, _cell(found["talk"][team]), flush=True)
            keep()
    for players in several if "private" in options.parts else ():
        for talks in (False, True):
            team = f"{players}, {'talking' if talks else 'silent'}"
            found["private"][team] = played(
                players,
                options.private_episodes,
                options.private_steps,
                talks=talks,
                goal=PRIVATE,
                told="first",
                sees="near",
            )
            print(team, "private goals", _cell(found["private"][team]), flush=True)
            keep()
    for part in ("goals", "held_out", "once"):
        by_goal = found[part].items()
        counts = sorted({int(n) for _, by in by_goal for n in by})
        rows = [[name, *(_cell(by.get(str(n))) for n in counts)] for name, by in by_goal]
        title = f"{part}: reached, mean steps (failures at the limit)"
        report(title, ["goal", *(f"{n} players" for n in counts)], rows)
    for part, title in (("talk", "A diamond"), ("private", "Private goals")):
        report(
            title, ["team", "reached"], [[name, _cell(row)] for name, row in found[part].items()]
        )


def _cell(row: dict[str, Any] | None) -> str:
    return "" if row is None else f"{row['reached']:.0%}, {row['mean_steps']:.0f}"


if __name__ == "__main__":
    main()
