"""Stage 1 of hierarchical co-self-play: the hits of a volleyball team, learned by PPO and chained.

    python benchmarks/volleyball_skills.py                 # some 20 minutes on one core a seed
    python benchmarks/volleyball_skills.py --seeds 0 --steps 1000000

For each seed the hits are learned one after the other (`manyhands/baselines/learners/hits.py`):
serve, receive, set, spike, each in the situations that the learned ones before it leave behind.
Counted are, of `--situations` that were not practised: how often the drone touches the ball, how
often the ball comes down in the court (over the net; of a set and a pass on the own half, from
above 3 m), within 1 m of its place, and how far from that at the median, how often nobody crashes
within 0.6 s, and how many balls leave downwards. The same of the scripted controllers. At last
teams with all learned hits play points against the scripted team. Prints, and writes to --out;
networks go to `runs/volleyball-skills`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from common import RESULTS, ROOT, machine, report, save

import manyhands
from manyhands.baselines.bots.volleyball import Scripted
from manyhands.baselines.learners.hits import Hitters, measure, situations
from manyhands.baselines.learners.ppo import PPO, PPOConfig
from manyhands.baselines.players import network as policies
from manyhands.core.env import seed_key
from manyhands.envs.volleyball.practice import HITS, Practice

COURT = {"task": "3v3", "randomise": {"mass": (0.98, 1.02), "restitution": (0.79, 0.81)}}
GAMES, LENGTH = 192, 450  # games of which situations are kept, and their steps
TESTED = 1_000_000  # added to the seeds of games whose situations are not practised
LONGER = {"serve": 1.5}  # first the ball must come over the net, which is far
SETTINGS: dict[str, Any] = {
    "num_envs": 256,
    "num_steps": 64,
    "epochs": 4,
    "learning_rate": 3e-3,
    "entropy": 0.0,
    "entropy_end": 0.0,
    "noise": 0.3,
    "normalise": True,
    "reads": "vector",
    "width": 64,
}


def learned(
    court: Any, hit: str, before: Hitters, steps: int, seed: int, folder: Path, command: str
) -> tuple[Any, dict[str, Any]]:
    """The network of a hit, practised behind those of `before`, and how that went."""
    file = folder / f"{hit}.safetensors"
    if file.exists():  # of an earlier run
        return policies.load(file), json.loads(file.with_suffix(".json").read_text())
    began = time.perf_counter()
    found = situations(court, hit, before, GAMES, LENGTH, seed)
    practice = Practice(court, hit, found, command)
    steps = round(steps * LONGER.get(hit, 1))
    learner = PPO(practice, PPOConfig(**SETTINGS, total_steps=steps))
    progress = jax.jit(learner.init)(seed_key(seed))
    update = jax.jit(learner.update, donate_argnums=0)
    every, curve = max(1, learner.num_updates // 10), []
    for done in range(1, learner.num_updates + 1):
        progress, metrics = update(progress)
        if done % every == 0 or done == learner.num_updates:
            curve.append(
                {
                    "steps": done * learner.steps_per_update,
                    "touches": round(float(metrics["metrics/touches"]), 3),
                    "lost": round(float(metrics["metrics/lost"]), 3),
                    "hit": round(float(metrics["terms/hit"]), 3),
                }
            )
            print(time.strftime("%H:%M:%S"), seed, hit, json.dumps(curve[-1]), flush=True)
    policy = learner.policy(progress)
    about = {
        "situations": int(found.skill.shape[-1]),
        "steps": learner.num_updates * learner.steps_per_update,
        "seconds": round(time.perf_counter() - began, 1),
        "curve": curve,
    }
    folder.mkdir(parents=True, exist_ok=True)
    policies.save(file, policy, about)
    return policy, about


def one_seed(court: Any, args: argparse.Namespace, seed: int) -> dict[str, Any]:
    folder = args.runs / f"seed-{seed}"
    team = Hitters({}, args.command)
    entry: dict[str, Any] = {"learning": {}, "success": {}, "scripted": {}}
    for hit in args.hits:
        policy, entry["learning"][hit] = learned(
            court, hit, team, args.steps, seed, folder, args.command
        )
        test = situations(court, hit, team, GAMES, LENGTH, seed + TESTED, args.situations)
        practice = Practice(court, hit, test, args.command)
        entry["success"][hit] = measure(practice, policy)
        entry["scripted"][hit] = measure(practice, None)
        print(seed, hit, json.dumps(entry["success"][hit]), flush=True)
        team = dataclasses.replace(team, networks={**team.networks, hit: policy})
    if set(args.hits) == set(HITS):
        entry["points"] = match(court, team, args.points, seed)
        print(seed, json.dumps(entry["points"]), flush=True)
    return entry


def match(court: Any, team: Hitters, count: int, seed: int) -> dict[str, Any]:
    """Points of the learned team against the scripted one, `count` on each side."""
    skills, members = court.skill_set(), court.team_size
    scripted = Hitters({}, team.command)
    keys = jax.vmap(jax.random.key)(jnp.arange(2 * count, dtype=jnp.uint32) + np.uint32(seed))
    near = jnp.arange(2 * count) < count
    ours = jnp.where(near, jnp.arange(2 * members)[:, None] < members, False)
    ours |= jnp.where(near, False, jnp.arange(2 * members)[:, None] >= members)

    def step(state: Any, _: Any) -> Any:
        obs = skills.parse_observation(jnp.moveaxis(court.perceive(state), 0, 1))
        skill = Scripted("team").choose(skills, obs)
        rotors = jnp.where(
            ours, team.act(court, skills, obs, skill), scripted.act(court, skills, obs, skill)
        )
        new, outcome = court.step(keys, state, jnp.moveaxis(rotors, 0, 1))
        return new, (outcome.terms["win"], outcome.metrics["crossings"])

    @jax.jit
    def play(keys: Any) -> Any:
        _, (win, crossings) = jax.lax.scan(
            step, court.batch_reset(keys), None, length=court.max_steps
        )
        return win.sum(0), crossings.sum(0)

    win, crossings = jax.device_get(play(keys))
    won = np.sign(np.where(np.asarray(near), win[0], win[members]))
    return {
        "points": 2 * count,
        "won": float(np.mean(won > 0)),
        "lost": float(np.mean(won < 0)),
        "crossings": float(np.mean(crossings)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--hits", nargs="+", default=list(HITS), choices=tuple(HITS))
    parser.add_argument(
        "--steps", type=int, default=8_000_000, help="of each hit; half as many more of serves"
    )
    parser.add_argument("--command", default="velocity", choices=("velocity", "ctbr", "rotors"))
    parser.add_argument("--situations", type=int, default=512)
    parser.add_argument("--points", type=int, default=100, help="on each side")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "volleyball-skills")
    parser.add_argument("--out", type=Path, default=RESULTS / "volleyball-skills.json")
    args = parser.parse_args()
    court = manyhands.make("volleyball", **COURT)
    seeds = {str(seed): one_seed(court, args, seed) for seed in args.seeds}
    rows = []
    for hit in args.hits:
        for who in ("success", "scripted"):
            found = [entry[who][hit] for entry in seeds.values()]
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
