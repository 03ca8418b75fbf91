"""Steps a second of missions, beside the packages whose rules they have.

    python benchmarks/missions.py --peers
    python benchmarks/missions.py --tasks warehouse-tiny-4ag --sizes 64 1024 4096 --peers
    python benchmarks/missions.py --sizes --peers --cpu --out missions-single.json   # no batches

Ours are batched rollouts with random legal actions and automatic resets, with every observation
written to memory, and so are Jumanji's, which has both games in JAX. The originals, lbforaging and
rware, step one environment in Python with random actions and give the observations of all players,
and beside them is one of ours through PettingZoo's parallel API, with random actions, and with
random legal ones, chosen from the masks. All take turns.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    RESULTS,
    Slot,
    Worker,
    interleave,
    machine,
    peer_python,
    report,
    save,
    summary,
)

# Scenario -> the package that has the rules, and its name of the task.
TASKS = {
    "foraging-8x8-2p-2f-coop": ("lbforaging", "Foraging-8x8-2p-2f-coop-v3"),
    "foraging-15x15-4p-3f": ("lbforaging", "Foraging-15x15-4p-3f-v3"),
    "warehouse-tiny-4ag": ("rware", "rware-tiny-4ag-v2"),
    "warehouse-large-10ag": ("rware", "rware-large-10ag-v2"),
}
# The same in Jumanji: (which game, steps at most, settings of its generator).
JUMANJI: dict[str, tuple[str, int, dict[str, Any]]] = {
    "foraging-8x8-2p-2f-coop": (
        "foraging",
        50,
        {"grid_size": 8, "fov": 8, "num_agents": 2, "num_food": 2, "force_coop": True},
    ),
    "foraging-15x15-4p-3f": (
        "foraging",
        50,
        {"grid_size": 15, "fov": 15, "num_agents": 4, "num_food": 3},
    ),
    "warehouse-tiny-4ag": (
        "warehouse",
        500,
        {
            "shelf_rows": 1,
            "shelf_columns": 3,
            "column_height": 8,
            "num_agents": 4,
            "sensor_range": 1,
            "request_queue_size": 4,
        },
    ),
    "warehouse-large-10ag": (
        "warehouse",
        500,
        {
            "shelf_rows": 3,
            "shelf_columns": 5,
            "column_height": 8,
            "num_agents": 10,
            "sensor_range": 1,
            "request_queue_size": 10,
        },
    ),
}
# One of ours: which actions it is given.
SINGLE = {"manyhands, PettingZoo": False, "manyhands, PettingZoo, legal actions": True}
STEPS = 2**17  # environment steps of one call, at most


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--sizes", nargs="*", type=int, default=[64, 1024, 4096])
    parser.add_argument("--peers", action="store_true", help="measure the others too, in turns")
    parser.add_argument("--device", help="of ours: cpu, gpu or tpu")
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="single environments by the processor's time, where other work shares the machine",
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one repeat")
    parser.add_argument("--out", type=Path, default=RESULTS / "missions.json")
    args = parser.parse_args()

    where = machine()
    workers = {"manyhands": Worker("rollouts.py", device=args.device)}
    single = Worker("single.py", device="cpu")
    workers |= {subject: single for subject in SINGLE}
    where |= {k: v for k, v in workers["manyhands"].ask(what="about").items() if k != "registered"}
    requests: dict[Slot, dict[str, Any]] = {}
    for task in args.tasks:
        package, name = TASKS[task]
        for size in args.sizes:
            shape = {"num_envs": size, "num_steps": max(8, min(256, STEPS // size))}
            requests["manyhands", task, size] = {
                "what": "play",
                "id": "mission",
                "config": {"scenario": task},
                "observation": "vector",
                **shape,
            }
            if args.peers:
                if "jumanji" not in workers:
                    python = peer_python("jumanji")
                    workers["jumanji"] = Worker("peer_jumanji.py", python, args.device)
                kind, steps, settings = JUMANJI[task]
                request = {"kind": kind, "steps": steps, "settings": settings, **shape}
                requests["jumanji", task, size] = request
        game = {"id": "mission", "scenario": task}
        for subject, legal in SINGLE.items():
            requests[subject, task, 1] = {"what": "step", "legal": legal, "cpu": args.cpu, **game}
        if args.peers:
            if package not in workers:
                workers[package] = Worker("peer_missions.py", peer_python(package))
            requests[package, task, 1] = {"package": package, "task": name, "cpu": args.cpu}
    for slot, request in requests.items():
        workers[slot[0]].ask(**request, seconds=0)

    def measure(slot: Slot) -> float:
        return workers[slot[0]].ask(**requests[slot], seconds=args.seconds)["rate"]

    figures = interleave(requests, measure, args.repeats)
    for worker in dict.fromkeys(workers.values()):
        worker.close()
    if args.peers:
        where["peers"] = {name: PEERS[name] for name in workers if name in PEERS}

    rows, table = [], []
    for (subject, task, size), values in figures.items():
        row: dict[str, Any] = {"subject": subject, "task": task, "envs": size}
        row |= {"unit": "env steps/s", **summary(values)}
        bases = {
            "times_peer": figures.get((TASKS[task][0], task, 1)),
            "times_jumanji": figures.get(("jumanji", task, size)),
        }
        row |= {what: row["best"] / max(base) for what, base in bases.items() if base}
        rows.append(row)
        shown = [f"{row[k]:,.0f}" for k in ("best", "median")]
        times = [f"{row[what]:,.1f}" if what in row else "" for what in bases]
        table.append([task, subject, f"{size:,}", *shown, *times])
    title = f"missions: {where['device']}, {where['cores']} cores"
    heads = ["task", "", "at once", "best /s", "median /s", "times original", "times Jumanji"]
    report(title, heads, table)
    settings = {"repeats": args.repeats, "seconds": args.seconds, "cpu": args.cpu}
    save(args.out, benchmark="missions", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    main()
