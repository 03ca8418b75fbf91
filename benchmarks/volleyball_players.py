"""How well the scripted volleyball players play: rallies one against one, and the plays of teams.

    python benchmarks/volleyball_players.py --games 256
    python benchmarks/volleyball_players.py --duel plain attack --games 32

All games of a task run in one batch, each from a seed of its own, for one point. In teams every
drone stands at the same place at first, so that masses and the ball's bounce are drawn anew for
each game (2 % and 1 % to either side), or else there would be only two games: one side serves, or
the other. `--duel` plays `duel`, which attacks, against `rally`, which returns, and `hover`,
one against one, as many points on either side, with the skills that are named; `--drills` has the
scripted pair play set_and_spike. Prints, and writes to --out, what the players did.
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

from manyhands.baselines.bots.volleyball import Pair, Scripted, pair_of, skills_of
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.flight import BUMP, SPIKE, VERBS

FLAT = len(VERBS)  # a spike that leaves upwards
DRILLS = ("set_and_spike", "set_and_spike_hard")
SHOTS = dict(enumerate(VERBS)) | {BUMP: "bump", SPIKE: "spike, down", FLAT: "spike, flat"}
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


PLAYERS = {"duel": Scripted("duel"), "rally": Scripted("rally"), "hover": Scripted("hover")}
PAIRS = (("duel", "rally"), ("duel", "hover"))


def duel(version: str, pair: tuple[str, str], games: int, seed: int) -> dict[str, Any]:
    """Points of one player against another, one against one: `games` with the first one on the near
    side and as many with it on the far side. Of each point that one of them wins: its last touch
    (none: the other one failed before), and what the other one did after that: did not reach the
    ball, touched it and still lost it, or another fault (a crash, the net crossed)."""
    env = Volleyball("1v1", skills=version)
    skills, both = skills_of(env), [PLAYERS[name] for name in pair]
    keys = jax.vmap(jax.random.key)(jnp.arange(2 * games, dtype=jnp.uint32) + seed)
    side = np.repeat([0, 1], games)

    def step(carry: Any) -> Any:
        state, shot, points, crossings = carry
        obs = skills.parse_observation(jnp.moveaxis(env.perceive(state), 0, 1))
        chosen = [player.choose(skills, obs) for player in both]
        skill = jnp.where(np.arange(2)[:, None] == side, *chosen)
        order = skills.order(skill)
        new, outcome = env.step(keys, state, jnp.moveaxis(skills.follow(obs, order), 0, 1))
        touched = (new.since == 0) & ~state.over
        down = new.bodies.ball_velocity[2] < 0
        kind = jnp.where((order.kind == SPIKE) & ~down, FLAT, order.kind)
        shot = jnp.where(touched, kind, shot)
        won = [outcome.metrics[name] for name in ("near_points", "far_points")]
        return new, shot, points + jnp.stack(won), crossings + outcome.metrics["crossings"]

    def goes_on(carry: Any) -> Any:
        state = carry[0]
        return jnp.any(~state.over & (state.clock < env.max_steps))

    def play(keys: Any) -> Any:
        none = jnp.zeros((2, 2 * games)), jnp.zeros(2 * games)
        start = env.batch_reset(keys), jnp.full((2, 2 * games), -1), *none
        return jax.lax.while_loop(goes_on, step, start)

    state, shot, points, crossings = jax.device_get(jax.jit(play)(keys))
    faults = dict(zip(env.faults, state.faults, strict=True))
    every = np.arange(2 * games)
    result: dict[str, Any] = {"skills": version, "players": list(pair), "games": 2 * games}
    for who, seat in enumerate(pair):
        mine = side if who == 0 else 1 - side
        won = points[mine, every] > 0
        own = Counter(SHOTS.get(int(k), "no touch") for k in shot[mine, every][won])
        lost = 1 - mine
        reasons = {
            "not reached": faults["own_floor"][lost, every],
            "touched, and out": faults["out"][lost, every],
            "touched, into the net": faults["net"][lost, every],
        }
        how = {name: int((mask & won).sum()) for name, mask in reasons.items()}
        how["other faults"] = int(won.sum()) - sum(how.values())
        by_side = [float(won[mine == place].mean()) for place in (0, 1)]
        result[("first", "second")[who]] = {
            "player": seat,
            "won": int(won.sum()),
            "won_on_near_and_far_side": by_side,
            "last_touch": dict(own),
            "the_other": how,
        }
    result["drawn"] = 2 * games - int((points.sum(0) > 0).sum())
    result["crossings_mean"] = float(crossings.mean())
    return result


def drilled(task: str, games: int, seed: int) -> dict[str, Any]:
    """How the scripted pair does in set_and_spike: shares of the drills, and the mean return."""
    env, player = Volleyball(task), Pair()
    skills = pair_of(env)
    keys = jax.vmap(jax.random.key)(jnp.arange(games, dtype=jnp.uint32) + seed)
    names = ("hits", "spikes", "crossings", "on_target", "returns")

    def step(carry: Any) -> Any:
        state, total, counts = carry
        obs = skills.parse_observation(jnp.moveaxis(env.perceive(state), 0, 1))
        actions = skills.follow(obs, player.order(skills, obs))
        new, outcome = env.step(keys, state, jnp.moveaxis(actions, 0, 1))
        found = jnp.stack([jnp.asarray(outcome.metrics[name], jnp.float32) for name in names])
        return new, total + outcome.reward.mean(0), counts + found

    def goes_on(carry: Any) -> Any:
        return jnp.any(~carry[0].over & (carry[0].clock < env.max_steps))

    def play(keys: Any) -> Any:
        start = env.batch_reset(keys), jnp.zeros(games), jnp.zeros((len(names), games))
        return jax.lax.while_loop(goes_on, step, start)

    state, total, counts = jax.device_get(jax.jit(play)(keys))
    faults = zip(env.faults, state.faults, strict=True)
    return {
        "games": games,
        "return_mean": float(total.mean()),
        **{name: float(row.mean()) for name, row in zip(names, counts, strict=True)},
        "faults": {name: int(mask.any(0).sum()) for name, mask in faults if mask.any()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--tasks", nargs="+", default=["1v1", "3v3"], choices=["1v1", "3v3", "6v6"])
    parser.add_argument("--duel", nargs="+", default=[], choices=["plain", "attack"])
    parser.add_argument("--drills", nargs="+", default=[], choices=DRILLS)
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON, too")
    options = parser.parse_args()
    results = {}
    for task in options.drills:
        results[task] = drilled(task, options.games, options.seed)
        print(task, json.dumps(results[task], indent=1))
    for version in options.duel:
        for pair in PAIRS:
            name = f"{pair[0]} against {pair[1]}, skills={version}"
            results[name] = duel(version, pair, options.games, options.seed)
            print(name, json.dumps(results[name], indent=1), flush=True)
    for task in () if options.duel or options.drills else options.tasks:
        results[task] = measured(task, options.games, options.seed)
        print(task, json.dumps(results[task], indent=1))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
