"""Drone volleyball beside MuJoCo's own ways to run its models in batches.

    python benchmarks/volleyball.py --peer mujoco mjx

Batches: env steps a second of `manyhands.rollout` with random rotor commands, rules, automatic
resets and every observation written, and the same through MuJoCo's engine (`physics="mujoco"`);
beside them, `mujoco.batch` and MJX on the same models, which compute the physics alone. One at a
time: steps a second through PettingZoo's parallel API with both physics. And how long the first
batch takes to compile, in a fresh process without a compilation cache.

On two cores MJX stood still in 3v3: `--tasks 1v1` leaves that out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    RESULTS,
    ROOT,
    Slot,
    Worker,
    interleave,
    is_worker,
    machine,
    peer_python,
    rate,
    report,
    save,
    serve,
    summary,
)

TASKS = ("1v1", "3v3")
MODELS = ROOT / "manyhands" / "assets" / "volleyball"
STEPS = {"manyhands": 32, "manyhands, mujoco's engine": 4, "mujoco": 16, "mjx": 4}
MJX_MOST = 64  # games at once: with more, MJX can wait for itself for ever on a few cores
BATCH, SINGLE = "batch", "single, PettingZoo"
COMPILE = """
import time
import jax, manyhands
from manyhands.baselines.learners import speed
env = manyhands.make("volleyball", task={task!r})
course = speed.Course(env, "observed", {envs}, 32)
begin = time.perf_counter()
course.run()
print(time.perf_counter() - begin)
"""


# ---- our side: the worker ------------------------------------------------------------------------


def worker() -> None:
    import jax
    import numpy as np

    import manyhands
    from manyhands.baselines.learners import speed
    from manyhands.envs import volleyball

    made: dict[Any, Any] = {}

    def batch(
        task: str, engine: dict[str, str], num_envs: int, num_steps: int, seconds: float
    ) -> dict[str, Any]:
        """Env steps a second, observed; 0 s compile it only."""
        slot = (task, *engine.values(), num_envs)
        if slot not in made:
            env = manyhands.make("volleyball", task=task, **engine)
            made[slot] = speed.Course(env, "observed", num_envs, num_steps)
            made[slot].run()
            made[slot].run()  # from a carry: as it will be measured
        return {"rate": rate(made[slot].run, seconds) if seconds else 0.0}

    def single(task: str, engine: dict[str, str], seconds: float) -> dict[str, Any]:
        """Steps a second through PettingZoo's parallel API."""
        slot = (task, *engine.values())
        if slot not in made:
            made[slot] = volleyball.parallel_env(task=task, observe="vector", **engine)
            made[slot].reset(seed=0)
        env = made[slot]
        drawn = np.random.default_rng(0).uniform(-1, 1, (100, len(env.possible_agents), 4))
        orders = [
            dict(zip(env.possible_agents, row.astype(np.float32), strict=True)) for row in drawn
        ]

        def hundred() -> int:
            for order in orders:
                if not env.agents:
                    env.reset()
                env.step(order)
            return 100

        hundred()
        return {"rate": rate(hundred, seconds) if seconds else 0.0}

    def about() -> dict[str, Any]:
        device = jax.local_devices()[0]
        return {
            "jax": jax.__version__,
            "manyhands": manyhands.__version__,
            "platform": device.platform,
            "device": device.device_kind,
        }

    answers: dict[str, Any] = {BATCH: batch, SINGLE: single, "about": about}
    serve(lambda what, **request: answers[what](**request))


# ---- the parent ----------------------------------------------------------------------------------


def compile_time(task: str, envs: int, device: str | None) -> float:
    """Seconds that the first batch takes, in a fresh interpreter that compiles everything."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JAX_COMPILATION_CACHE")}
    environment |= {"PYTHONPATH": str(ROOT), "JAX_ENABLE_COMPILATION_CACHE": "false"}
    if device is not None:
        environment["JAX_PLATFORMS"] = {"gpu": "cuda"}.get(device, device)
    code = COMPILE.format(task=task, envs=envs)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--envs", type=int, nargs="+", default=[256, 4096])
    parser.add_argument(
        "--peer", nargs="+", default=[], choices=("mujoco", "mjx"), help="measure these, too"
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one repeat")
    parser.add_argument("--device", choices=["cpu", "gpu", "tpu"], help="default: JAX's choice")
    parser.add_argument("--out", type=Path, default=RESULTS / "volleyball.json")
    args = parser.parse_args()

    where = machine()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    workers, engines = {}, {}
    workers["manyhands"] = Worker("volleyball.py", device=args.device, cpu_devices=cores)
    engines["manyhands"] = {"physics": "jax"}
    # Callbacks of several devices would wait for each other.
    workers["manyhands, mujoco's engine"] = Worker("volleyball.py", device=args.device)
    engines["manyhands, mujoco's engine"] = {"physics": "mujoco"}
    where |= next(iter(workers.values())).ask(what="about")
    if "mujoco" in args.peer:
        workers["mujoco"] = Worker("peer_mujoco.py")  # what the package itself depends on
    if "mjx" in args.peer:
        workers["mjx"] = Worker("peer_mjx.py", peer_python("mjx"), args.device)
        where["peers"] = {"mjx": PEERS["mjx"]}

    requests: dict[Slot, dict[str, Any]] = {}
    for task in args.tasks:
        for envs in args.envs:
            for subject in workers:
                size = min(envs, MJX_MOST) if subject == "mjx" else envs
                request: dict[str, Any] = {"num_envs": size, "num_steps": STEPS[subject]}
                if subject in engines:
                    request |= {"what": BATCH, "task": task, "engine": engines[subject]}
                else:
                    request["model"] = str(MODELS / f"{task}.xml")
                requests[subject, f"{BATCH} {task}", size] = request
        for subject, engine in engines.items():
            request = {"what": SINGLE, "task": task, "engine": engine}
            requests[subject, f"{SINGLE} {task}", 1] = request

    for slot, request in requests.items():  # compile
        answer = workers[slot[0]].ask(**request, seconds=0)
        if "version" in answer:
            where[f"version of {slot[0]}"] = answer["version"]

    def measure(slot: Slot) -> float:
        return workers[slot[0]].ask(**requests[slot], seconds=args.seconds)["rate"]

    figures = interleave(requests, measure, args.repeats)
    for one in workers.values():
        one.close()
    first = {task: compile_time(task, max(args.envs), args.device) for task in args.tasks}

    rows, table = [], []
    for (subject, what, envs), values in figures.items():
        row: dict[str, Any] = {"subject": subject, "what": what, "envs": envs}
        row |= {"unit": "steps/s", **summary(values)}
        times = []
        for peer in args.peer if subject == "manyhands" else ():
            base = figures.get((peer, what, envs)) or figures.get((peer, what, MJX_MOST))
            if base:
                row[f"times_{peer}"] = row["best"] / max(base)
                times.append(f"{row[f'times_{peer}']:.1f} {peer}")
        rows.append(row)
        shown = [f"{row[k]:,.0f} /s" for k in ("best", "median")]
        table.append([subject, what, f"{envs:,}", *shown, ", ".join(times)])
    for task, seconds in first.items():
        what = f"first batch of {task}"
        rows.append({"subject": "manyhands", "what": what, "unit": "s", "best": seconds})
        table.append(["manyhands", what, f"{max(args.envs):,}", f"{seconds:.1f} s", "", ""])
    title = f"volleyball: {where['cpu']} ({where['cores']} cores)"
    report(title, ["", "what", "envs", "best", "median", "times"], table)
    settings = {"repeats": args.repeats, "seconds": args.seconds}
    save(args.out, benchmark="volleyball", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    worker() if is_worker() else main()
