"""What CraftWorld's scripted players unlock, and how fast teams of different size reach a goal.

    python benchmarks/craftworld_players.py

Plays `--episodes` episodes (seeds 0, 1, ...) of at most `--steps` steps by random legal actions and
by the survivor, alone, under both sets of rules: achievements, success rates, and the Crafter score
(Hafner 2021).
Then the same goals, in the same worlds, by teams of `--players` survivors and, where there are
others to talk to, crew members: in how many episodes the goal was reached, and in how many steps
(of those that did; the comparison that DAMCS makes between one, two and six agents). Tables are
printed; all figures go to `benchmarks/results/craftworld-players.json`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from common import RESULTS, machine, report, save


def alone(rules: str, seat: str, episodes: int, steps: int) -> dict[str, Any]:
    """Episodes of one player."""
    from manyhands.envs.craftworld import CraftWorld
    from manyhands.envs.craftworld.tasks import play_scores

    return play_scores(CraftWorld(rules, max_steps=steps), seat, episodes).to_dict()


def together(goal: str, players: int, seat: str, episodes: int, limit: int) -> dict[str, Any]:
    """Episodes of a team with a goal, which end when it is reached."""
    from manyhands.envs.craftworld import CraftWorld
    from manyhands.envs.craftworld.tasks import play_scores
    from manyhands.wrappers.chat import Chat

    env: Any = CraftWorld(players=players, goal=goal, max_steps=limit, reward="team")
    scores = play_scores(Chat(env) if seat == "crew" else env, seat, episodes)
    reached = scores.reached
    steps = scores.steps[reached]
    return {
        "reached": float(reached.mean()),
        "steps_to_goal": float(steps.mean()) if len(steps) else None,
        "median": float(np.median(np.where(reached, scores.steps, limit))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--steps", type=int, default=10_000, help="of an episode alone, at most")
    parser.add_argument("--rules", nargs="*", default=["craftax_classic", "crafter"])
    parser.add_argument("--goals", nargs="*", default=["collect 1 diamond"])
    parser.add_argument("--players", nargs="+", type=int, default=[1, 2, 6])
    parser.add_argument("--limit", type=int, default=1000, help="steps of an episode with a goal")
    options = parser.parse_args()
    singles = {
        rules: {
            seat: alone(rules, seat, options.episodes, options.steps)
            for seat in ("random", "survivor")
        }
        for rules in options.rules
    }
    rows = [
        [
            rules,
            seat,
            f"{found['achievements']['team']:.2f}",
            f"{found['crafter_score']['team']:.1f}",
            f"{found['return'][0]:.2f}",
            f"{found['length']:.0f}",
        ]
        for rules, seats in singles.items()
        for seat, found in seats.items()
    ]
    columns = ["rules", "player", "achievements", "Crafter score", "return", "steps"]
    title = f"One player, {options.episodes} episodes of at most {options.steps} steps"
    report(title, columns, rows)
    teams: dict[str, Any] = {}
    for goal in options.goals:
        for players in options.players:
            for seat in ("survivor", "crew") if players > 1 else ("survivor",):
                found = together(goal, players, seat, options.episodes, options.limit)
                teams.setdefault(goal, {})[f"{players} x {seat}"] = found
    rows = [
        [
            goal,
            team,
            f"{found['reached']:.0%}",
            f"{found['steps_to_goal'] or float('nan'):.0f}",
            f"{found['median']:.0f}",
        ]
        for goal, found_by_team in teams.items()
        for team, found in found_by_team.items()
    ]
    columns = ["goal", "team", "reached", "steps to goal", "median, all"]
    if rows:
        title = f"Teams, {options.episodes} episodes of at most {options.limit} steps"
        report(title, columns, rows)
    save(
        RESULTS / "craftworld-players.json",
        machine=machine(),
        episodes=options.episodes,
        steps=options.steps,
        limit=options.limit,
        alone=singles,
        together=teams,
    )


if __name__ == "__main__":
    main()
