"""What it costs that rotation keeps its energy: volleyball's integrators beside each other.

    python benchmarks/volleyball_integrators.py --repeats 15

One process measures both integrators in turns, in CPU time, which other work on the machine
disturbs less than the clock: single games through PettingZoo with both engines, single calls of
MuJoCo's engine (`Engine.advance`), batches through MuJoCo's engine, and JAX rollouts with rules and
observations. A share is the median, over the turns, of Euler's time divided by the gyroscopic
one's in the same turn: 1 is as fast, less is slower.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from common import RESULTS, command_line, interleave, machine, report, save, summary

import manyhands
from manyhands.baselines.learners import speed
from manyhands.envs import volleyball
from manyhands.envs.volleyball.physics import INTEGRATORS

TASKS = ("1v1", "3v3", "6v6")
KINDS = ("single, PettingZoo, jax", "single, PettingZoo, mujoco", "single, Engine.advance")
BATCHES = {"batch, mujoco": ("mujoco", 256, 4), "batch, jax": ("jax", 1024, 32)}


def single(task: str, physics: str, integrator: str) -> Callable[[], int]:
    """200 steps through PettingZoo's parallel API."""
    env = volleyball.parallel_env(
        task=task, observe="vector", physics=physics, integrator=integrator
    )
    env.reset(seed=0)
    drawn = np.random.default_rng(0).uniform(-1, 1, (200, len(env.possible_agents), 4))
    orders = [dict(zip(env.possible_agents, row.astype(np.float32), strict=True)) for row in drawn]

    def steps() -> int:
        for order in orders:
            if not env.agents:
                env.reset()
            env.step(order)
        return len(orders)

    return steps


def engine(task: str, integrator: str) -> Callable[[], int]:
    """400 calls of MuJoCo's engine for a serve, compiled."""
    env = volleyball.Volleyball(task, physics="mujoco", integrator=integrator)
    bodies = env.place().bodies
    commands = jnp.asarray(2 * env.trim - 1, jnp.float32)
    advance = jax.jit(lambda bodies: env.setup.advance(env.params, bodies, commands)[0])

    def steps() -> int:
        for _ in range(400):
            jax.block_until_ready(advance(bodies))
        return 400

    return steps


def batch(task: str, physics: str, envs: int, steps: int, integrator: str) -> Callable[[], int]:
    """A rollout with random commands, automatic resets and all observations."""
    env = manyhands.make("volleyball", task=task, physics=physics, integrator=integrator)
    course: Any = speed.Course(env, "observed", envs, steps)
    return lambda: int(course.run())


def subject(what: str, task: str, integrator: str) -> Callable[[], int]:
    if what in BATCHES:
        physics, envs, steps = BATCHES[what]
        return batch(task, physics, envs, steps, integrator)
    if what == KINDS[2]:
        return engine(task, integrator)
    return single(task, what.rpartition(" ")[2], integrator)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    kinds = (*KINDS, *BATCHES)
    parser.add_argument("--kinds", nargs="+", default=kinds, choices=kinds)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--out", type=Path, default=RESULTS / "volleyball-integrators.json")
    args = parser.parse_args()

    where = machine() | {"jax": jax.__version__, "manyhands": manyhands.__version__}
    rows, table = [], []
    for what in args.kinds:
        for task in args.tasks:
            runs = {i: subject(what, task, i) for i in INTEGRATORS}
            for run in runs.values():  # compiled, and warm
                run()
                run()

            def spent(integrator: str, runs: Any = runs) -> float:
                begin = time.process_time()
                count = runs[integrator]()
                return 1e6 * (time.process_time() - begin) / count

            figures = interleave(INTEGRATORS, spent, args.repeats)
            shares = [b / a for a, b in zip(*(figures[i] for i in INTEGRATORS), strict=True)]
            share = statistics.median(shares)
            for integrator, values in figures.items():
                row: dict[str, Any] = {"subject": integrator, "what": what, "task": task}
                row |= {"unit": "us of CPU a step", **summary(values, min)}
                rows.append(row | ({"share": share} if integrator == INTEGRATORS[0] else {}))
            best = [f"{min(figures[i]):.4g}" for i in INTEGRATORS]
            table.append([what, task, *best, f"{share:.2f}"])
    report("us of CPU a step", ["", "task", *INTEGRATORS, "share"], table)
    settings = {"repeats": args.repeats}
    save(
        args.out,
        benchmark="volleyball_integrators",
        command=command_line(),
        machine=where,
        settings=settings,
        rows=rows,
    )


if __name__ == "__main__":
    main()
