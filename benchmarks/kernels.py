"""What compiling a single step as one kernel is worth, in one run.

    python benchmarks/kernels.py

The packed step of each environment, from its first state with no-ops, in microseconds a call: as
XLA compiles any function, as one kernel, and as one kernel in which small reductions are written
out (`manyhands/core/kernel.py`), which is what is played. Measured in turns, on one CPU device.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, interleave, machine, report, save, summary

WAYS = ("usual", "one kernel", "written out")
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "kitchen": {},
    "craftworld": {},
    "negotiation": {},
    "leduc_holdem": {},
    "connect_four": {},
    "volleyball 1v1": {"task": "1v1"},
    "volleyball 3v3": {"task": "3v3"},
}


def calls(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """For each way, a function that makes one step."""
    import manyhands
    from manyhands.core import kernel
    from manyhands.core.env import episode_key_data
    from manyhands.core.pack import full_actions, stepper

    env = manyhands.make(name.partition(" ")[0], **config)
    steps = stepper(env)
    first = steps.reset(episode_key_data(0))
    order = np.zeros(steps._order.size, np.uint8)
    actions = full_actions(env, {})
    order[steps._order.offsets[2] :][: actions.nbytes] = actions.view(np.uint8).ravel()
    buffer = np.concatenate([first.buffer[: steps._state.size], order])
    found, few = {}, kernel._FEW
    for way in WAYS:
        kernel._FEW = few if way == "written out" else 0
        call = kernel.SmallCall(steps._packed_step, buffer.size)
        if way == "usual":
            call._run = call._usual
        call(buffer)
        found[way] = lambda call=call: call(buffer)
    kernel._FEW = few
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=tuple(ENVIRONMENTS), default=ENVIRONMENTS)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--calls", type=int, default=500, help="in one repeat")
    parser.add_argument("--out", type=Path, default=RESULTS / "kernels.json")
    args = parser.parse_args()

    where = machine()
    made = {name: calls(name, ENVIRONMENTS[name]) for name in args.only}

    def measure(slot: tuple[str, str]) -> float:
        step = made[slot[0]][slot[1]]
        begin = time.perf_counter()
        for _ in range(args.calls):
            step()
        return (time.perf_counter() - begin) / args.calls * 1e6

    slots = [(name, way) for name in made for way in WAYS]
    figures = interleave(slots, measure, args.repeats)
    rows = [
        {"environment": name, "way": way, "unit": "us", **summary(values, min)}
        for (name, way), values in figures.items()
    ]
    table = [[name, *(f"{min(figures[name, way]):.1f}" for way in WAYS)] for name in made]
    report(f"us a step: {where['cpu']} ({where['cores']} cores)", ["", *WAYS], table)
    settings = {"repeats": args.repeats, "calls": args.calls}
    save(args.out, benchmark="kernels", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    main()
