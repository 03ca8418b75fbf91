"""A language model of `transformers` in a seat of every world, by likelihood and in words.

    python benchmarks/base_model.py --model FOLDER --note "what the model is"

The table of docs/language_models.md. The model plays among random players, from each side in turn,
in short episodes of the same seeds; so does another random player in its place. Noted are the mean
reward of the seat, and of answers in words how many are read at once (nothing is asked twice).
Where episodes are cut short, rewards say little. Each game is written to `--out` when it is done,
and what is there is not played again. Needs the extra `local`.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, machine, save

import manyhands

# The environment, the most steps of an episode, and how many are played.
GAMES: dict[str, tuple[dict[str, Any], int, int]] = {
    "kuhn_poker": ({"id": "kuhn_poker"}, 10, 16),
    "leduc_holdem": ({"id": "leduc_holdem"}, 20, 12),
    "tic_tac_toe": ({"id": "tic_tac_toe"}, 10, 8),
    "connect_four": ({"id": "connect_four"}, 24, 4),
    "buy_sell": ({"id": "negotiation", "scenario": "buy_sell"}, 10, 8),
    "deal_or_no_deal": ({"id": "negotiation", "scenario": "deal_or_no_deal"}, 10, 4),
    "kitchen, skills": ({"id": "kitchen", "skills": True}, 8, 4),
    "cuisine": ({"id": "cuisine"}, 8, 4),
    "craftworld, skills": ({"id": "craftworld", "skills": True}, 8, 2),
    "home": ({"id": "home"}, 8, 2),
    "foraging": ({"id": "mission", "scenario": "foraging-8x8-2p-2f-coop"}, 8, 2),
    "volleyball, events": ({"id": "volleyball", "events": True}, 8, 2),
    "drones": ({"id": "drones"}, 6, 2),
}
WAYS: dict[str, dict[str, Any]] = {
    "score": {"mode": "score"},
    "score, 3 shots": {"mode": "score", "shots": 3},
    "words": {"mode": "generate", "retries": 0, "max_tokens": 40},
    "words, 3 shots": {"mode": "generate", "retries": 0, "max_tokens": 40, "shots": 3},
}


def world(given: dict[str, Any]) -> manyhands.Env:
    options = dict(given)
    skills, events = options.pop("skills", False), options.pop("events", False)
    env = manyhands.make(options.pop("id"), **options)
    if skills:
        env = manyhands.make("skills", env=env)
    return manyhands.make("events", env=env) if events else env


def played(env: manyhands.Env, seat: Any, steps: int, episodes: int, seed: int) -> dict[str, Any]:
    """The figures of `seat` among random players."""
    read = asked = tokens = 0

    def note(moment: Any) -> None:
        nonlocal read, asked, tokens
        for agent, info in (moment.turn.info if moment.turn else {}).items():
            tokens += info["prompt_tokens"]
            asked += 1
            read += agent not in moment.turn.illegal

    began = time.perf_counter()
    result = manyhands.play(
        env,
        [seat, *["random"] * (env.num_agents - 1)],
        episodes=episodes,
        seed=seed,
        rotate=True,
        max_steps=steps,
        on_step=note,
        progress=False,
    )
    rewards = result.seat_rewards[:, 0]
    found: dict[str, Any] = {"reward": round(float(np.mean(rewards)), 4)}
    found["rewards"] = [round(float(value), 4) for value in rewards]
    if asked:
        found |= {"decisions": asked, "read": read, "prompt_tokens": round(tokens / asked)}
        found["seconds"] = round(time.perf_counter() - began, 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="a folder, or a name on the hub")
    parser.add_argument("--note", default="", help="what the model is, for the results")
    parser.add_argument("--games", nargs="+", choices=list(GAMES), default=list(GAMES))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "base-model.json")
    options = parser.parse_args()

    kept = json.loads(options.out.read_text()) if options.out.exists() else {}
    games: dict[str, Any] = kept.get("games", {})
    for name in options.games:
        given, steps, episodes = GAMES[name]
        env = world(given)
        row = games.setdefault(name, {"environment": given, "steps": steps, "episodes": episodes})
        ways = [way for way in options.ways if way not in row]
        if "random" not in row:
            row["random"] = played(env, "random", steps, episodes, options.seed)
        for way in ways:
            seat = manyhands.seat("local", env, model=options.model, **WAYS[way])
            row[way] = played(env, seat, steps, episodes, options.seed)
            print(name, way, row[way], flush=True)
            save(
                options.out,
                command=shlex.join(["python", "benchmarks/base_model.py", *sys.argv[1:]]),
                model=options.note or options.model,
                machine=machine(),
                seed=options.seed,
                games=games,
            )
    print("| game | random | " + " | ".join(WAYS) + " |")
    for name, row in games.items():
        cells = [f"{row['random']['reward']:.2f}"]
        for way in WAYS:
            cell = row.get(way)
            share = f", read {cell['read']} of {cell['decisions']}" if cell else ""
            text = f"{cell['reward']:.2f}" if cell else ""
            cells.append(text + (share if way.startswith("words") else ""))
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
