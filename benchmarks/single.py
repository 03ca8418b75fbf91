"""One environment at a time, and what a user waits for.

    python benchmarks/single.py --peer overcooked_ai

Steps a second through PettingZoo's parallel API with vector observations, beside Overcooked-AI's
step with its lossless encoding; the time of `describe`; the import time of manyhands beyond what it
must import; and, for each classic layout in a fresh process without a compilation cache, the time
from the environment's making to the end of the first step.
"""

from __future__ import annotations

import argparse
import os
import random
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
    parallel_steps,
    peer_python,
    rate,
    report,
    save,
    serve,
    summary,
)

CLASSICS = (
    "cramped_room",
    "asymmetric_advantages",
    "coordination_ring",
    "forced_coordination",
    "counter_circuit_o_1order",
)
MUST_IMPORT = "import jax, jax.numpy, numpy, gymnasium, pettingzoo"
FIRST_STEP = """
import time
import manyhands.envs.kitchen as kitchen
begin = time.perf_counter()
env = kitchen.parallel_env(layout={layout!r})
env.reset(seed=0)
reset = time.perf_counter()
env.step(dict.fromkeys(env.agents, 0))
print(reset - begin, time.perf_counter() - reset)
"""


# ---- our side: the worker ------------------------------------------------------------------------


def worker() -> None:
    import jax

    from manyhands.envs import kitchen
    from manyhands.wrappers.pettingzoo import parallel_env

    made: dict[str, Any] = {}

    def step(
        seconds: float,
        id: str = "kitchen",
        legal: bool = False,
        cpu: bool = False,
        **config: Any,
    ) -> dict[str, Any]:
        """Steps a second through PettingZoo's parallel API, of random actions. `cpu`: as in
        `common.rate`."""
        slot = f"{id} {legal} {config}"
        if slot not in made:  # later calls go on with other episodes
            env = parallel_env(id, observe="vector", on_illegal="noop", **config)
            made[slot] = parallel_steps(env, legal)
        hundred = made[slot]
        hundred()
        return {"rate": rate(hundred, seconds, cpu) if seconds else 0.0}

    def describe(layout: str, seconds: float) -> dict[str, Any]:
        """Descriptions a second, of states along an episode of random play."""
        slot = f"describe {layout}"
        if slot not in made:
            env, rng, states = kitchen.parallel_env(layout=layout), random.Random(0), []
            env.reset(seed=0)
            for _ in range(200):
                env.step({agent: rng.randrange(6) for agent in env.agents})
                states.append(env.current)
            made[slot] = (env.game, states)
        game, states = made[slot]

        def all_states() -> int:
            for state in states:
                game.describe(state, 0)
            return len(states)

        all_states()
        return {"rate": rate(all_states, seconds) if seconds else 0.0}

    def about() -> dict[str, Any]:
        return {"jax": jax.__version__, "platform": jax.local_devices()[0].platform}

    answers: dict[str, Any] = {"step": step, "describe": describe, "about": about}
    serve(lambda what, **request: answers[what](**request))


# ---- the parent ----------------------------------------------------------------------------------


def fresh(code: str) -> str:
    """What `code` prints in a fresh interpreter, which compiles everything anew."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JAX_COMPILATION_CACHE")}
    environment |= {"PYTHONPATH": str(ROOT), "JAX_ENABLE_COMPILATION_CACHE": "false"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def import_seconds() -> float:
    """`import manyhands` once what it needs anyway is loaded."""
    timed = "begin = time.perf_counter(); import manyhands; print(time.perf_counter() - begin)"
    return float(fresh(f"{MUST_IMPORT}, time\n{timed}"))


def first_step_seconds(layout: str) -> tuple[float, float]:
    """(making and reset, first step), both with their compilation."""
    reset, step = map(float, fresh(FIRST_STEP.format(layout=layout)).split())
    return reset, step


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layouts", nargs="+", default=CLASSICS, choices=CLASSICS)
    parser.add_argument("--peer", choices=["overcooked_ai"], help="measure it too, in turns")
    parser.add_argument("--peer-python", type=Path, help="an interpreter that has the peer")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one repeat")
    parser.add_argument("--out", type=Path, default=RESULTS / "single.json")
    args = parser.parse_args()

    where = machine()
    workers = {"manyhands": Worker("single.py", device="cpu")}
    where |= workers["manyhands"].ask(what="about")
    if args.peer:
        where["peer"] = {"packages": PEERS[args.peer]}
        python = args.peer_python or peer_python(args.peer)
        workers[args.peer] = Worker(f"peer_{args.peer}.py", python)

    requests: dict[Slot, dict[str, Any]] = {}
    for layout in args.layouts:
        requests["manyhands", "step", layout] = {"what": "step", "layout": layout}
        if args.peer:
            requests[args.peer, "step", layout] = {"layout": layout}
        requests["manyhands", "describe", layout] = {"what": "describe", "layout": layout}
    for slot, request in requests.items():
        workers[slot[0]].ask(**request, seconds=0)

    def measure(slot: Slot) -> float:
        return workers[slot[0]].ask(**requests[slot], seconds=args.seconds)["rate"]

    figures = interleave(requests, measure, args.repeats)
    for one in workers.values():
        one.close()

    rows, table = [], []
    for (subject, what, layout), values in figures.items():
        row: dict[str, Any] = {"subject": subject, "what": what, "layout": layout}
        if what == "step":
            row |= {"unit": "steps/s", **summary(values)}
            shown = [f"{row[k]:,.0f} /s" for k in ("best", "median")]
            base = figures.get((args.peer, "step", layout))
            if base:
                row["times_peer"] = row["best"] / max(base)
            shown.append(f"{row['times_peer']:.2f}" if base else "")
        else:
            row |= {"unit": "us", **summary([1e6 / value for value in values], min)}
            shown = [f"{row[k]:.1f} µs" for k in ("best", "median")] + [""]
        rows.append(row)
        table.append([subject, what, layout, *shown])

    imports = [import_seconds() for _ in range(max(3, args.repeats // 2))]
    row = {"subject": "manyhands", "what": "import", "unit": "s", **summary(imports, min)}
    rows.append(row)
    table.append(["manyhands", "import", "", f"{row['best']:.3f} s", f"{row['median']:.3f} s", ""])
    for layout in args.layouts:
        reset, step = first_step_seconds(layout)
        row = {"subject": "manyhands", "what": "first step", "layout": layout, "unit": "s"}
        rows.append(row | {"make_and_reset": reset, "step": step, "best": reset + step})
        shown = [f"{reset + step:.2f} s", f"{reset:.2f} + {step:.2f} s", ""]
        table.append(["manyhands", "make, reset + first step", layout, *shown])
    title = f"one kitchen at a time: {where['cpu']} ({where['cores']} cores)"
    report(title, ["", "what", "layout", "best", "median", "times peer"], table)
    settings = {"repeats": args.repeats, "seconds": args.seconds}
    save(args.out, benchmark="single", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    worker() if is_worker() else main()
