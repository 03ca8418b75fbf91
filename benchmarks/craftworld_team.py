"""How often the scripted seat `team` reaches goals of CraftWorld, by goal and number of players.

    python benchmarks/craftworld_team.py

Plays `--episodes` episodes of at most `--steps` steps for each goal (plans, achievements, items,
joint tasks) with each number of players, on generated worlds of 32 x 32 cells; all teams meet the
same worlds. A joint task counts as solved with the first joint effort that succeeds. Then a diamond
by teams with and without a channel to talk, on the same worlds, and the same where teammates are
known only in view (`sees="near"`); failures count with the limit. Intervals are Wilson's, of 95 %.
Tables are printed; all figures go to `benchmarks/results/craftworld-team.json`.
"""

from __future__ import annotations

import argparse
import functools
import time
from typing import Any

import numpy as np
from common import RESULTS, machine, report, save

ACHIEVEMENTS = (
    *("collect 9 wood", "make stone pickaxe", "make iron pickaxe", "collect 1 diamond"),
    "unlock 12 achievements",
)


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
    players: int, episodes: int, limit: int, *, talks: bool = False, **config: Any
) -> dict[str, Any]:
    """Episodes of a team."""
    from manyhands.core.env import episode_key
    from manyhands.core.pack import snapshot
    from manyhands.core.play import play
    from manyhands.core.registry import seat

    joint, goal = config.get("joint") is not None, config.pop("goal", None)
    env = world(players, talks, **config)
    # Goals are set in the first states, so that all of them share what is compiled.
    options = {"goal": goal} if goal else {}
    starts = [
        snapshot(env, env.reset_to(episode_key(number), options)) for number in range(episodes)
    ]
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
    }


def main() -> None:
    from manyhands.envs.craftworld.goals import PLANS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--steps", type=int, default=500, help="limit of an episode")
    parser.add_argument("--joint-steps", type=int, default=100, help="the same for joint tasks")
    parser.add_argument("--players", nargs="+", type=int, default=[1, 2, 6])
    options = parser.parse_args()
    goals = {f"build {plan}": {"goal": f"build {plan}"} for plan in PLANS}
    goals |= {goal: {"goal": goal} for goal in ACHIEVEMENTS}
    goals |= {f"joint: {kind}": {"joint": kind} for kind in ("bridge", "gate", "beacon")}
    found: dict[str, Any] = {}
    for name, config in goals.items():
        for players in options.players:
            if "joint" in config and players < 2:
                continue
            limit = options.joint_steps if "joint" in config else options.steps
            row = played(players, options.episodes, limit, **dict(config))
            found.setdefault(name, {})[str(players)] = row
            print(name, players, f"{row['reached']:.0%}", f"{row['mean_steps']:.0f}", flush=True)
    talk: dict[str, Any] = {}
    for sees in ("all", "near"):
        for players in options.players:
            for talks in (False, True) if players > 1 else (False,):
                team = f"{players}, {'talking' if talks else 'silent'}, sees {sees}"
                talk[team] = played(
                    players,
                    options.episodes,
                    options.steps,
                    talks=talks,
                    goal="collect 1 diamond",
                    sees=sees,
                )
                print(team, f"{talk[team]['reached']:.0%}", f"{talk[team]['mean_steps']:.0f}")
    rows = [[name, *(_cell(by.get(str(n))) for n in options.players)] for name, by in found.items()]
    title = f"team, {options.episodes} episodes: reached, mean steps (failures at the limit)"
    report(title, ["goal", *(f"{n} players" for n in options.players)], rows)
    report("A diamond", ["team", "reached"], [[name, _cell(row)] for name, row in talk.items()])
    save(
        RESULTS / "craftworld-team.json",
        machine=machine(),
        episodes=options.episodes,
        steps=options.steps,
        joint_steps=options.joint_steps,
        goals=found,
        talk=talk,
    )


def _cell(row: dict[str, Any] | None) -> str:
    return "" if row is None else f"{row['reached']:.0%}, {row['mean_steps']:.0f}"


if __name__ == "__main__":
    main()
