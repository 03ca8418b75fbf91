"""How fast homes are, batched and one at a time: the figures of docs/home.md.

    python benchmarks/home_speed.py

Batched: rollouts with random legal actions and automatic resets, every observation written to
memory; and steps with given actions alone, with and without observations. Single: PettingZoo's
parallel API with vector observations, with random actions and with random legal ones, and
`describe` along episodes of a scripted player. The first batch: from importing to the end of the
first rollout of 4,096 homes, in a fresh process without a compilation cache. Each has two figures,
by the clock and by the time that all threads of this process were given (`cpu`): where other work
shares the machine, the second says more.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, machine, parallel_steps, report, save

BATCH, STEPS = 4096, 50
PRESETS: dict[str, dict[str, Any]] = {
    "chore_small": {"task": "chore_small"},
    "chore": {"task": "chore"},
    "house, 4 players": {"task": "house", "players": 4},
    "transport, 2 players": {"task": "transport"},
}
FIRST = """
import time
begun, used = time.perf_counter(), time.process_time()
import jax, manyhands
home = manyhands.make("home", **{options!r})
result = manyhands.rollout(home, "random", {batch}, 1, jax.random.key(0))
jax.block_until_ready(result.trajectory)
print(time.perf_counter() - begun, time.process_time() - used)
"""


def timed(call: Callable[[], int], seconds: float) -> dict[str, float]:
    """Counts a second by the clock and by the processor's time, each the best of some repeats."""
    call()
    found = {"wall": 0.0, "cpu": 0.0}
    for _ in range(5):
        begun, used, count = time.perf_counter(), time.process_time(), 0
        while time.perf_counter() - begun < seconds / 5:
            count += call()
        found["wall"] = max(found["wall"], count / (time.perf_counter() - begun))
        found["cpu"] = max(found["cpu"], count / (time.process_time() - used))
    return found


def batched(options: dict[str, Any], seconds: float) -> dict[str, Any]:
    import jax

    import manyhands
    from manyhands.baselines.learners.speed import Course

    env = manyhands.make("home", **options)
    rows = {}
    for load in ("none", "observed"):
        course = Course(env, load, BATCH, STEPS)
        course.run()
        rows[f"rollout, {load}"] = timed(course.run, seconds)
    keys = jax.random.split(jax.random.key(0), BATCH)
    first = jax.jit(env.batch_reset)(keys)
    shape = (STEPS, env.num_agents, BATCH)
    actions = jax.random.randint(jax.random.key(1), shape, 0, env.action_space.n)

    def steps(observes: bool) -> Callable[[], int]:
        @jax.jit
        def run(states: Any) -> Any:
            def step(states: Any, chosen: Any) -> Any:
                states, outcome = env.batch_step(keys, states, chosen)
                return states, (outcome.reward, env.batch_observe(states) if observes else None)

            return jax.lax.scan(step, states, actions)

        def call() -> int:
            jax.block_until_ready(run(first))
            return BATCH * STEPS

        return call

    rows["steps alone"] = timed(steps(False), seconds)
    rows["steps and observations"] = timed(steps(True), seconds)
    reset = jax.jit(env.batch_reset)

    def resets() -> int:
        jax.block_until_ready(reset(keys))
        return BATCH

    rows["first states"] = timed(resets, seconds)
    return rows


def single(options: dict[str, Any], seconds: float) -> dict[str, Any]:
    import manyhands
    from manyhands.envs.home import parallel_env

    env = parallel_env(observe="vector", on_illegal="noop", **options)
    rows = {
        "PettingZoo, steps": timed(parallel_steps(env, False), seconds),
        "PettingZoo, legal steps": timed(parallel_steps(env, True), seconds),
    }
    home, states = env.game, []
    manyhands.play(
        home, "helper", 4, 0, progress=False, max_steps=40,
        on_step=lambda moment: states.append(moment.frame.state),
    )  # fmt: skip

    def texts() -> int:
        for state in states:
            home.describe(state, 0)
        return len(states)

    rows["describe"] = timed(texts, seconds)
    return rows


def first_batch(options: dict[str, Any]) -> dict[str, float]:
    """Seconds in a fresh process without a compilation cache."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_ENABLE_COMPILATION_CACHE": "0"}
    surroundings.pop("JAX_COMPILATION_CACHE_DIR", None)
    script = FIRST.format(options=options, batch=BATCH)
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, env=surroundings, check=True, capture_output=True, text=True)
    wall, cpu = map(float, done.stdout.split())
    return {"wall": wall, "cpu": cpu}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--presets", nargs="+", default=list(PRESETS), choices=PRESETS)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--out", type=Path, default=RESULTS / "home-speed.json")
    args = parser.parse_args()
    where, rows = machine(), []
    for name in args.presets:
        options = PRESETS[name]
        found = {**batched(options, args.seconds), **single(options, args.seconds)}
        found["first batch, seconds"] = first_batch(options)
        rows += [{"preset": name, "what": what, **figures} for what, figures in found.items()]
        save(args.out, benchmark="home_speed", machine=where, rows=rows)
        report(
            f"home: {name}, a second",
            ["what", "by the clock", "by the processor's time"],
            [[what, f"{f['wall']:,.1f}", f"{f['cpu']:,.1f}"] for what, f in found.items()],
        )


if __name__ == "__main__":
    main()
