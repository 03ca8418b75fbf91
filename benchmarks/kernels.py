"""What compiling a single step as one kernel is worth, and what a single step costs around it.

    python benchmarks/kernels.py

The packed step of each environment, from its first state with no-ops, in microseconds a call: as
XLA compiles any function, as one kernel, and as one kernel in which small reductions are written
out (`manyhands/core/kernel.py`), which is what is played. Beside them a call that computes nothing,
and a step through PettingZoo's parallel API with random legal actions, choosing them and resets
included. Measured in turns, on one CPU device.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from common import RESULTS, interleave, machine, parallel_steps, report, save, summary

WAYS = ("usual", "one kernel", "written out")
PETTINGZOO = "PettingZoo"
NOTHING = "nothing"  # the environment's name for the call that computes nothing
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    NOTHING: {},
    "kitchen": {},
    "mission foraging": {"scenario": "foraging-8x8-2p-2f-coop"},
    "mission warehouse": {"scenario": "warehouse-tiny-4ag"},
    "home chore": {"task": "chore"},
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
    from manyhands.wrappers.pettingzoo import Parallel

    if name == NOTHING:
        nothing, empty = np.zeros(128, np.uint8), kernel.SmallCall(lambda a: a + 1, 128)
        empty(nothing)
        return {"one kernel": lambda: empty(nothing)}
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
    if isinstance(env.action_space, gymnasium.spaces.Discrete):
        found[PETTINGZOO] = parallel_steps(Parallel(env), True, 1)
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

    slots = [(name, way) for name, ways in made.items() for way in ways]
    figures = interleave(slots, measure, args.repeats)
    rows = [
        {"environment": name, "way": way, "unit": "us", **summary(values, min)}
        for (name, way), values in figures.items()
    ]
    heads = (*WAYS, PETTINGZOO)
    table = [
        [name, *(f"{min(figures[name, way]):.1f}" if way in ways else "" for way in heads)]
        for name, ways in made.items()
    ]
    report(f"us a step: {where['cpu']} ({where['cores']} cores)", ["", *heads], table)
    settings = {"repeats": args.repeats, "calls": args.calls}
    save(args.out, benchmark="kernels", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    main()
