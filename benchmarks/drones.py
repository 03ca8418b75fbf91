"""Scores of the players of drones.

python benchmarks/drones.py                              # the scripted players
python benchmarks/drones.py --task pursuit --faster 1.5 --seats surround chaser random
python benchmarks/drones.py --task formation --seats policy:file=runs/formation/policy-0.safetensors

Each line is the first whole episode of each of `--episodes` environments, with a 95 % interval of
the mean. The results go to benchmarks/results/drones.json.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from common import RESULTS, machine, report, save

import manyhands
from manyhands.core.env import DeviceView, agent_key
from manyhands.core.registry import seat

SEATS = {"formation": ["keeper", "random"], "pursuit": ["surround", "chaser", "random"]}
MEANS = ("shape_error", "nearest", "in_sight")
SUMS = ("goals", "success", "captured", "collisions")


class Table:
    """An environment whose step is compiled once for all players."""

    def __init__(self, env: manyhands.Env, episodes: int, seed: int):
        keys = jax.random.split(jax.random.key(seed), episodes)
        self.env, self.keys = env, keys
        self.start = jax.jit(jax.vmap(env.reset, out_axes=-1))(keys)
        self.step, self.observe = jax.jit(env.step), jax.jit(env.observe)

    def play(self, name: str) -> list[Any]:
        """The outcome of each step."""
        env, keys, state = self.env, self.keys, self.start
        player = None if name == "random" else seat(name, env)

        def act(key: Any, rows: Any, memory: Any) -> Any:
            """Of one episode."""
            if player is None:
                return jax.random.uniform(key, (env.num_agents, 4), minval=-1, maxval=1), memory
            made = []
            for i in range(env.num_agents):
                view = DeviceView(rows[i], rows[i], jnp.ones(1, bool), jnp.bool_(True))
                made.append(player.apply(env, i, memory[i], agent_key(key, i), view))
            return jnp.stack([action for action, _ in made]), [kept for _, kept in made]

        memory: Any = [] if player is None else [player.init(env, i) for i in range(env.num_agents)]
        memory = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(keys)), memory)
        every = jax.jit(jax.vmap(act, in_axes=(0, -1, 0), out_axes=(-1, 0)))
        found = []
        for t in range(env.max_steps):
            now = jax.vmap(lambda key, t=t: jax.random.fold_in(key, t))(keys)
            actions, memory = every(now, self.observe(state), memory)
            state, outcome = self.step(now, state, actions)
            found.append(jax.device_get(outcome))
        return found


def score(table: Table, name: str) -> dict[str, Any]:
    """Means over episodes, and halves of their 95 % intervals."""
    steps, episodes = table.play(name), len(table.keys)
    over = np.stack([step.terminated.all(0) | step.truncated.all(0) for step in steps])  # [T, B]
    length = 1 + np.argmax(over, axis=0)
    live = np.arange(len(steps))[:, None] < length
    found: dict[str, Any] = {"episodes": episodes, "seat": name}

    def add(name: str, values: np.ndarray) -> None:
        half = 1.96 * float(values.std(ddof=1)) / math.sqrt(episodes)
        found[name] = [float(values.mean()), half]

    add("return", (np.stack([step.reward.mean(0) for step in steps]) * live).sum(0))
    add("steps", length.astype(float))
    for metric in steps[0].metrics:
        total = (np.stack([step.metrics[metric] for step in steps]) * live).sum(0)
        if metric in SUMS:
            add(metric, total)
        elif metric in MEANS:
            add(metric, total / length)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=[*SEATS, "all"], default="all")
    parser.add_argument("--seats", nargs="*")
    parser.add_argument("--drones", type=int)
    parser.add_argument("--faster", type=float)
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", default="drones", help="of the file of results")
    given = parser.parse_args()
    rows = []
    for task in SEATS if given.task == "all" else [given.task]:
        options = {"drones": given.drones, "faster": given.faster}
        options = {name: value for name, value in options.items() if value is not None}
        env = manyhands.make("drones", task=task, **options)
        table = Table(env, given.episodes, given.seed)
        for name in given.seats or SEATS[task]:
            rows.append({"task": task, **options, **score(table, name)})
            print(rows[-1], flush=True)
    save(RESULTS / f"{given.name}.json", machine=machine(), seed=given.seed, scores=rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = [
        [
            f"{cell[0]:.2f} ± {cell[1]:.2f}" if isinstance(cell, list) else str(cell)
            for cell in (row.get(name, "") for name in names)
        ]
        for row in rows
    ]
    report("Players of drones", names, shown)


if __name__ == "__main__":
    main()
