"""How well the scripted volleyball players play: rallies one against one, and the plays of teams.

    python benchmarks/volleyball_players.py --games 256
    python benchmarks/volleyball_players.py --tasks 1v1 3v3 6v6 --duel attack --games 32

All games of a task run in one batch, each from a seed of its own, for one point. In teams every
drone stands at the same place at first, so that masses and the ball's bounce are drawn anew for
each game (2 % and 1 % to either side), or else there would be only two games: one side serves, or
the other. `--duel` plays, as many points on either side, `duel`, which attacks, against `rally`,
which returns, and `hover`, one against one; or a team with the skills that are named
against one with those of "plain"; `--drills` has the scripted pair play set_and_spike.
Prints, and writes to --out, what the players did.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.bots.volleyball import Pair, Scripted, pair_of, skills_of
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.flight import BUMP, SPIKE, VERBS, falls_to

FLAT = len(VERBS)  # a spike that leaves upwards
DRILLS = ("set_and_spike", "set_and_spike_hard")
SHOTS = dict(enumerate(VERBS)) | {BUMP: "bump", SPIKE: "spike, down", FLAT: "spike, flat"}
ATTACKS = ("all", "spikes", "spikes down", "spikes in court", "spikes in court within 1 m")
FAULTS = {
    "own_floor": "not reached",
    "out": "touched, and out",
    "net": "touched, into the net",
}
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
                plays.update([" - ".join(current)] if current else [])
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


class Side(NamedTuple):
    """A player, and the version of the skills that it plays with."""

    name: str
    player: Scripted
    skills: str


RALLY, HOVER = Scripted("rally"), Scripted("hover")
DUEL, TEAM = Scripted("duel"), Scripted("team")
DUELS = (("rally", RALLY), ("hover", HOVER))


def pairs(task: str, version: str) -> list[tuple[Side, Side]]:
    """Who plays whom on a court, with the skills of a version: `duel` against those that return or
    hover; a team against one that has the skills of "plain"."""
    if task == "1v1":
        first = Side("duel", DUEL, version)
        return [(first, Side(name, player, version)) for name, player in DUELS]
    return [(Side("team", TEAM, version), Side("team", TEAM, "plain"))]


def duel(task: str, pair: tuple[Side, Side], games: int, seed: int) -> dict[str, Any]:
    """Points of one player, or team of them, against another: `games` with the first one on the
    near side and as many with it on the far side.

    Of each point that one of them wins: its last touch (none: the other one failed before), and
    the fault of the other one, which did not reach the ball, or touched it and still lost it, or
    committed another. Of its attacks, which are all bumps and spikes: how
    many are spikes, how many of these leave downwards and would land in court, within 1 m of their
    target besides, if nobody met them.
    """
    env = Volleyball(task, skills="attack", randomise=None if task == "1v1" else DRAWN)
    members = env.team_size
    sets = [skills_of(Volleyball(task, skills=side.skills)) for side in pair]
    keys = jax.vmap(jax.random.key)(jnp.arange(2 * games, dtype=jnp.uint32) + seed)
    first_is_far = np.repeat([False, True], games)
    half_length, half_width = (side / 2 for side in env.plan.court)

    def step(carry: Any) -> Any:
        state, shot, counts, points, crossings = carry
        rows = jnp.moveaxis(env.perceive(state), 0, 1)
        orders, actions = [], []
        for who, (side, skills) in enumerate(zip(pair, sets, strict=True)):
            far = first_is_far == (who == 0)
            obs = skills.parse_observation(jnp.where(far, rows[:, members:], rows[:, :members]))
            orders.append(skills.order(side.player.choose(skills, obs)))
            actions.append(skills.follow(obs, orders[-1]))
        near = jnp.where(first_is_far, *actions[::-1])
        both = jnp.concatenate([near, jnp.where(first_is_far, *actions)], 1)
        new, outcome = env.step(keys, state, jnp.moveaxis(both, 0, 1))
        touched = (new.since == 0) & ~state.over
        ball, moves = new.bodies.ball, new.bodies.ball_velocity
        for who, order in enumerate(orders):
            far = first_is_far == (who == 0)
            mine = jnp.where(far, touched[members:], touched[:members])
            any_, kind = jnp.any(mine, 0), jnp.sum(jnp.where(mine, order.kind, 0), 0)
            turned = jnp.asarray([-1.0, -1.0, 1.0])[:, None]
            place, speed = (jnp.where(far, turned * x, x) for x in (ball, moves))
            goal = jnp.sum(jnp.where(mine, order.goal, 0), 1)
            _, end = falls_to(sets[who].body, place, speed, jnp.full_like(ball[2], ball_radius))
            at_net = place[0] / jnp.maximum(-speed[0], 1e-3)
            over = place[2] + speed[2] * at_net - 9.81 / 2 * at_net**2 > sets[who].body.net
            inside = over & (end[0] < 0) & (end[0] > -half_length) & (jnp.abs(end[1]) < half_width)
            hits = inside & (jnp.hypot(end[0] - goal[0], end[1] - goal[1]) < 1)
            spike, down = kind == SPIKE, speed[2] < 0
            found = [(spike | (kind == BUMP)), spike, spike & down, spike & inside, spike & hits]
            counts = counts.at[who].add(jnp.stack([any_ & part for part in found]))
            kind = jnp.where(spike & ~down, FLAT, kind)
            shot = shot.at[who].set(jnp.where(any_, kind, shot[who]))
        won = jnp.stack([outcome.metrics[name] for name in ("near_points", "far_points")])
        points = points + jnp.where(first_is_far, won[::-1], won)
        return new, shot, counts, points, crossings + outcome.metrics["crossings"]

    ball_radius = sets[0].body.radius

    def goes_on(carry: Any) -> Any:
        state = carry[0]
        return jnp.any(~state.over & (state.clock < env.max_steps))

    def play(keys: Any) -> Any:
        shape = 2 * games
        counts = jnp.zeros((2, len(ATTACKS), shape), jnp.int32)
        none = counts, jnp.zeros((2, shape)), jnp.zeros(shape)
        start = env.batch_reset(keys), jnp.full((2, shape), -1), *none
        return jax.lax.while_loop(goes_on, step, start)

    began = time.perf_counter()
    state, shot, counts, points, crossings = jax.device_get(jax.jit(play)(keys))
    faults = list(zip(env.faults, state.faults, strict=True))
    every = np.arange(2 * games)
    result: dict[str, Any] = {"task": task, "games": 2 * games}
    for who, side in enumerate(pair):
        won = points[who] > 0
        own = Counter(SHOTS.get(int(k), "no touch") for k in shot[who][won])
        lost = (first_is_far == (who == 1)).astype(int)  # the other one's team
        how = {
            FAULTS.get(name, name): int((mask[lost, every] & won).sum()) for name, mask in faults
        }
        how = {name: count for name, count in how.items() if count}
        result[("first", "second")[who]] = {
            "player": side.name,
            "skills": side.skills,
            "won": int(won.sum()),
            "won_on_near_and_far_side": [float(won[lost != place].mean()) for place in (0, 1)],
            "last_touch": dict(own),
            "the_other": how,
            "attacks": dict(zip(ATTACKS, counts[who].sum(1).tolist(), strict=True)),
        }
    result["drawn"] = 2 * games - int((points.sum(0) > 0).sum())
    result["crossings_mean"] = float(crossings.mean())
    result["seconds"] = round(time.perf_counter() - began, 1)
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
    for task in options.tasks if options.duel else ():
        for pair in [pair for version in options.duel for pair in pairs(task, version)]:
            sides = " against ".join(f"{side.name} ({side.skills})" for side in pair)
            results[f"{task}: {sides}"] = duel(task, pair, options.games, options.seed)
            print(sides, json.dumps(results[f"{task}: {sides}"], indent=1), flush=True)
    for task in () if options.duel or options.drills else options.tasks:
        results[task] = measured(task, options.games, options.seed)
        print(task, json.dumps(results[task], indent=1))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
