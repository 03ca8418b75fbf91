"""Stage 1 of hierarchical co-self-play: the hits of a volleyball team, learned by PPO and chained.

    python benchmarks/volleyball_skills.py                 # some 30 minutes on one core a seed
    python benchmarks/volleyball_skills.py --seeds 0 --steps 1000000

For each seed the hits are learned one after the other (`manyhands/baselines/learners/hits.py`):
serve, receive, set, spike, each in the situations that the learned ones before it leave behind, in
games against the scripted team.
Counted are, of `--situations` that were not practised: how often the drone touches the ball, how
often the ball comes down in the court (over the net; of a set and a pass on the own half, from
above 3 m), within 1 m of its place, and how far from that at the median, how often nobody crashes
within 0.6 s, and how many balls leave downwards. The same of the scripted controllers. At last a
team with all learned hits plays points against the scripted team, and chooses as that does. Prints,
and writes to --out, beside what other seeds have there; networks go to `runs/volleyball-skills`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
from common import RESULTS, ROOT, command_line, machine, points, report, save

import manyhands
from manyhands.baselines.evaluation import play_matches
from manyhands.baselines.learners.hits import LearnedCourt, LearnedSkills, measure, situations
from manyhands.baselines.learners.ppo import PPO, PPOConfig
from manyhands.baselines.players import network as policies
from manyhands.core.env import seed_key
from manyhands.envs.volleyball.practice import HITS, Practice

DRAWN = {"mass": (0.98, 1.02), "restitution": (0.79, 0.81)}
COURT = {"task": "3v3", "skills": "plain", "randomise": DRAWN}
GAMES, LENGTH = 192, 450  # games of which situations are kept, and their steps
TESTED = 1_000_000  # added to the seeds of games whose situations are not practised
SETTINGS: dict[str, Any] = {
    "num_envs": 256,
    "num_steps": 64,
    "epochs": 4,
    "learning_rate": 3e-3,
    "entropy": 0.0,
    "entropy_end": 0.0,
    "normalise": True,
    "reads": "vector",
    "width": 64,
}
# By hit: for how many steps of the game actions are held (see `Practice`), share of --steps, and
# noise.
HITTING = {
    "serve": ((1, 5), 0.8, 0.5),
    "receive": ((1, 3), 1.4, 0.4),
    "set": ((1, 3), 1.25, 0.4),
    "spike": ((1, 5), 1.3, 0.4),
}


def learned(
    court: Any, hit: str, before: LearnedSkills, steps: int, seed: int, folder: Path, command: str
) -> tuple[Any, dict[str, Any]]:
    """The network of a hit, practised behind those of `before`, and how that went."""
    file = folder / f"{hit}.safetensors"
    if file.exists():  # of an earlier run
        return policies.load(file), json.loads(file.with_suffix(".json").read_text())
    began = time.perf_counter()
    found = situations(court, hit, before, GAMES, LENGTH, seed)
    curve: list[dict[str, Any]] = []
    (holds, share, noise), told = HITTING[hit], ("metrics/touches", "metrics/lost", "terms/hit")
    practice = Practice(court, hit, found, command, holds)
    learner = PPO(practice, PPOConfig(**SETTINGS, noise=noise, total_steps=round(share * steps)))
    progress = jax.jit(learner.init)(seed_key(seed))
    update = jax.jit(learner.update, donate_argnums=0)
    every = max(1, learner.num_updates // 12)
    for done in range(1, learner.num_updates + 1):
        progress, metrics = update(progress)
        if done % every == 0 or done == learner.num_updates:
            line = {name.rpartition("/")[2]: round(float(metrics[name]), 3) for name in told}
            curve.append({"steps": done * learner.steps_per_update, **line})
            print(time.strftime("%H:%M:%S"), seed, hit, json.dumps(curve[-1]), flush=True)
    policy = learner.policy(progress)
    about = {
        "situations": int(found.skill.shape[-1]),
        "steps": curve[-1]["steps"],
        "holds": list(holds),
        "noise": noise,
        "seconds": round(time.perf_counter() - began, 1),
        "curve": curve,
    }
    folder.mkdir(parents=True, exist_ok=True)
    policies.save(file, policy, about)
    return policy, about


def one_seed(court: Any, args: argparse.Namespace, seed: int) -> dict[str, Any]:
    folder = args.runs / f"seed-{seed}"
    ours = (True, False)  # the far team is the scripted one, with other serves and attacks
    team = LearnedSkills(court.setup, {}, args.command, ours)
    entry: dict[str, Any] = {"command": command_line()}
    entry |= {"learning": {}, "success": {}, "scripted": {}}
    for hit in args.hits:
        policy, entry["learning"][hit] = learned(
            court, hit, team, args.steps, seed, folder, args.command
        )
        test = situations(court, hit, team, GAMES, LENGTH, seed + TESTED, args.situations)
        practice = Practice(court, hit, test, args.command)
        entry["success"][hit] = measure(practice, policy)
        entry["scripted"][hit] = measure(practice, None)
        print(seed, hit, json.dumps(entry["success"][hit]), flush=True)
        team = LearnedSkills(court.setup, {**team.networks, hit: policy}, args.command, ours)
    if set(args.hits) == set(HITS):
        entry["points"] = match(folder, args.command, args.points, seed)
        print(seed, json.dumps(entry["points"]), flush=True)
    return entry


def match(folder: Path, command: str, count: int, seed: int) -> dict[str, Any]:
    """Points of a team with the learned hits of a folder against one with scripted ones, `count` on
    each side; both choose as the scripted team does, from event to event."""
    won: list[Any] = []
    for side in (0, 1):
        settings: dict[str, Any] = {**COURT, "max_steps": 1500}  # 30 s, as in HCSP
        court = LearnedCourt(folder, command, (side == 0, side == 1), **settings)
        game = manyhands.make("events", env=court, per="team")
        team = manyhands.seat("team", game)
        played = play_matches(game, [team], [(0, 0)], count, seed)[0]
        won.append(played.terms["win"][:, side])
    first, second = (np.sign(own) for own in won)
    return points(first, second)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--hits", nargs="+", default=list(HITS), choices=tuple(HITS))
    parser.add_argument(
        "--steps",
        type=int,
        default=8_000_000,
        help="of the game, in units of which a hit has its share",
    )
    parser.add_argument("--command", default="velocity", choices=("velocity", "ctbr", "rotors"))
    parser.add_argument("--situations", type=int, default=512)
    parser.add_argument("--points", type=int, default=100, help="on each side")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "volleyball-skills")
    parser.add_argument("--out", type=Path, default=RESULTS / "volleyball-skills.json")
    args = parser.parse_args()
    court = manyhands.make("volleyball", **COURT)
    kept = json.loads(args.out.read_text())["seeds"] if args.out.exists() else {}
    seeds = kept | {str(seed): one_seed(court, args, seed) for seed in args.seeds}
    rows = []
    for hit in args.hits:
        for who in ("success", "scripted"):
            found = [entry[who][hit] for entry in seeds.values() if hit in entry[who]]
            names = ("touched", "in_court", "within_1m", "downwards", "stays")
            shown = [" ".join(f"{100 * f[name]:.0f}" for f in found) for name in names]
            miss = " ".join(f"{f['median_miss_m']:.2f}" for f in found)
            rows.append([hit, "learned" if who == "success" else who, *shown, miss])
    heads = ["hit", "by", "touched, %", "in court", "within 1 m", "down", "stays", "median miss, m"]
    report("hits of 3v3, a number for each seed", heads, rows)
    settings = {**SETTINGS, "steps": args.steps, "command": args.command, "court": COURT}
    save(args.out, benchmark="volleyball-skills", machine=machine(), settings=settings, seeds=seeds)


if __name__ == "__main__":
    main()
