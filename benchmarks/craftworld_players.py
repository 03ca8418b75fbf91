"""What CraftWorld's scripted players unlock, and how fast teams of different size reach a goal.

    python benchmarks/craftworld_players.py

Plays `--episodes` episodes (seeds 0, 1, ...) of at most `--steps` steps by random legal actions and
by the survivor, alone, under both sets of rules: achievements, success rates, and the Crafter score
(Hafner 2021).
Then the same goals, in the same worlds, by teams of `--players` survivors and, where there are
others to talk to, crew members: in how many episodes the goal was reached, and in how many steps
(of those that did, and of all, where failures count with the limit; the comparison that DAMCS makes
between one, two and six agents). With `--rules` and no name, only the teams play, `--team-episodes`
each, and what the file says of single players is kept. Tables are printed; all figures go to
`benchmarks/results/craftworld-players.json`.
"""

from __future__ import annotations

import argparse
import json
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
        "mean_at_limit": float(np.where(reached, scores.steps, limit).mean()),
        "median": float(np.median(np.where(reached, scores.steps, limit))),
        "steps": np.where(reached, scores.steps, limit).tolist(),
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
    parser.add_argument("--team-episodes", type=int, default=100)
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
                found = together(goal, players, seat, options.team_episodes, options.limit)
                print(goal, players, seat, found["reached"], found["mean_at_limit"], flush=True)
                teams.setdefault(goal, {})[f"{players} x {seat}"] = found
    rows = [
        [
            goal,
            team,
            f"{found['reached']:.0%}",
            f"{found['steps_to_goal'] or float('nan'):.0f}",
            f"{found['mean_at_limit']:.0f}",
            f"{found['median']:.0f}",
        ]
        for goal, found_by_team in teams.items()
        for team, found in found_by_team.items()
    ]
    columns = ["goal", "team", "reached", "steps to goal", "mean, all", "median, all"]
    if rows:
        title = f"Teams, {options.team_episodes} episodes of at most {options.limit} steps"
        report(title, columns, rows)
    path = RESULTS / "craftworld-players.json"
    figures: dict[str, Any] = {"machine": machine()}
    figures |= {"episodes": options.episodes, "steps": options.steps, "alone": singles}
    if not options.rules and path.exists():
        figures = json.loads(path.read_text())
    figures |= {"limit": options.limit, "team_episodes": options.team_episodes}
    save(path, **figures | {"together_machine": machine(), "together": teams})


if __name__ == "__main__":
    main()
