"""How well the scripted volleyball players play: rallies one against one, and the plays of teams.

    python benchmarks/volleyball_players.py --games 256
    python benchmarks/volleyball_players.py --duel plain attack --games 32

All games of a task run in one batch, each from a seed of its own, for one point. In teams every
drone stands at the same place at first, so that masses and the ball's bounce are drawn anew for
each game (2 % and 1 % to either side), or else there would be only two games: one side serves, or
the other. `--duel` plays `duel`, which attacks, against `rally`, which returns, one against one, as
many points on either side, with the skills that are named. Prints, and writes to --out, what the
players did.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.bots.volleyball import Scripted, skills_of
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.flight import VERBS

DRAWN = {"mass": (0.98, 1.02), "restitution": (0.79, 0.81)}


def played(env: Volleyball, games: int, steps: int, seed: int) -> dict[str, np.ndarray]:
    """What happened in each step of each game, [steps, ..., games]."""
    skills = skills_of(env)
    player = Scripted("team" if env.team_size > 1 else "rally")
    keys = jax.vmap(jax.random.key)(jnp.arange(games, dtype=jnp.uint32) + seed)

    def step(state: Any, _: Any) -> Any:
        obs = skills.parse_observation(jnp.moveaxis(env.perceive(state), 0, 1))
        order = skills.order(player.choose(skills, obs))
        actions = jnp.moveaxis(skills.follow(obs, order), 0, 1)
        new, outcome = env.step(keys, state, actions)
        touched = (new.since == 0) & ~state.over
        return new, {
            "kind": jnp.where(touched, order.kind, -1).astype(jnp.int8),
            "crossed": outcome.metrics["crossings"] > 0,
            "over": new.over,
            "faults": new.faults,
        }

    play = jax.jit(lambda keys: jax.lax.scan(step, env.batch_reset(keys), None, length=steps)[1])
    return jax.device_get(play(keys))


def measured(task: str, games: int, seed: int) -> dict[str, Any]:
    env = Volleyball(task, randomise=None if task == "1v1" else DRAWN)
    began = time.perf_counter()
    seen = played(env, games, env.max_steps, seed)
    crossings = seen["crossed"].sum(0)
    plays: Counter[str] = Counter()
    for game in range(games):
        current: list[str] = []
        for t in range(env.max_steps):
            for kind in seen["kind"][t, :, game]:
                if kind >= 0:
                    current.append(VERBS[kind].removesuffix(" to"))
            if seen["crossed"][t, game] or t == env.max_steps - 1:
                plays[" - ".join(current)] += bool(current)
                current = []
    faults: Counter[str] = Counter()
    for name, table in zip(env.faults, seen["faults"][-1], strict=True):
        faults[name] = int(table.any(0).sum())
    return {
        "games": games,
        "steps": env.max_steps,
        "crossings_mean": float(crossings.mean()),
        "crossings_median": float(np.median(crossings)),
        "crossings_least": int(crossings.min()),
        "serves_over": float((crossings >= 1).mean()),
        "serves_returned": float((crossings >= 2).mean()),
        "still_in_play": float(1 - seen["over"][-1].mean()),
        "plays": dict(plays.most_common(6)),
        "faults": {name: count for name, count in faults.items() if count},
        "seconds": round(time.perf_counter() - began, 1),
    }


def duel(version: str, games: int, seed: int) -> dict[str, Any]:
    """Points of `duel` against `rally`, `games` of them on either side, with a set of skills."""
    env = Volleyball("1v1", skills=version)
    skills, attacks, returns = skills_of(env), Scripted("duel"), Scripted("rally")
    keys = jax.vmap(jax.random.key)(jnp.arange(2 * games, dtype=jnp.uint32) + seed)
    side = np.repeat([0, 1], games)

    def step(state: Any, _: Any) -> Any:
        obs = skills.parse_observation(jnp.moveaxis(env.perceive(state), 0, 1))
        chosen = attacks.choose(skills, obs), returns.choose(skills, obs)
        skill = jnp.where(np.arange(2)[:, None] == side, *chosen)
        actions = jnp.moveaxis(skills.follow(obs, skills.order(skill)), 0, 1)
        new, outcome = env.step(keys, state, actions)
        points = [outcome.metrics[name] for name in ("near_points", "far_points")]
        return new, (jnp.stack(points), outcome.metrics["crossings"])

    play = jax.jit(lambda keys: jax.lax.scan(step, env.batch_reset(keys), None, env.max_steps)[1])
    points, crossings = (part.sum(0) for part in jax.device_get(play(keys)))
    won = points[side, np.arange(2 * games)]
    lost = points[1 - side, np.arange(2 * games)]
    return {
        "games": 2 * games,
        "won": [float(part.mean()) for part in np.split(won, 2)],  # on the near, on the far side
        "lost": [float(part.mean()) for part in np.split(lost, 2)],
        "crossings_mean": float(crossings.mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--tasks", nargs="+", default=["1v1", "3v3"], choices=["1v1", "3v3", "6v6"])
    parser.add_argument("--duel", nargs="+", default=[], choices=["plain", "attack"])
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON, too")
    options = parser.parse_args()
    results = {}
    for version in options.duel:
        name = f"duel against rally, skills={version}"
        results[name] = duel(version, options.games, options.seed)
        print(name, json.dumps(results[name], indent=1))
    for task in () if options.duel else options.tasks:
        results[task] = measured(task, options.games, options.seed)
        print(task, json.dumps(results[task], indent=1))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
