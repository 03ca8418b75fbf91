"""CraftWorld one world at a time, beside Crafter.

    python benchmarks/craftworld.py --peer

Steps a second through PettingZoo's parallel API with symbolic observations, of both presets; the
time of a reset once it is compiled; the bytes of a state. With the peer, Crafter's own steps a
second, in turns, with and without its picture. Batches are measured by
`rollouts.py --peer craftax`.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    RESULTS,
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

PRESETS = ("crafter", "craftax_classic")


def worker() -> None:
    import jax

    from manyhands.core.pack import state_packing
    from manyhands.envs import craftworld

    made: dict[str, Any] = {}

    def step(rules: str, seconds: float) -> dict[str, Any]:
        """Steps a second through PettingZoo, with resets between episodes."""
        if rules not in made:
            made[rules] = craftworld.parallel_env(rules=rules, on_illegal="noop")
            made[rules].reset(seed=0)
        env, rng = made[rules], random.Random(0)

        def hundred() -> int:
            for _ in range(100):
                if not env.agents:
                    env.reset()
                env.step({"player_0": rng.randrange(17)})
            return 100

        hundred()
        return {"rate": rate(hundred, seconds) if seconds else 0.0}

    def reset(rules: str, seconds: float) -> dict[str, Any]:
        """Resets a second, of worlds that were never seen."""
        step(rules, 0)

        def ten() -> int:
            for _ in range(10):
                made[rules].reset()
            return 10

        ten()
        return {"rate": rate(ten, seconds) if seconds else 0.0}

    def size(rules: str, seconds: float) -> dict[str, Any]:
        return {"bytes": state_packing(craftworld.CraftWorld(rules)).size}

    def about() -> dict[str, Any]:
        return {"jax": jax.__version__, "platform": jax.local_devices()[0].platform}

    answers: dict[str, Any] = {"step": step, "reset": reset, "size": size, "about": about}
    serve(lambda what, **request: answers[what](**request))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer", action="store_true", help="measure Crafter too, in turns")
    parser.add_argument("--peer-python", type=Path, help="an interpreter that has the peer")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one repeat")
    parser.add_argument("--out", type=Path, default=RESULTS / "craftworld.json")
    args = parser.parse_args()

    where = machine()
    workers = {"manyhands": Worker("craftworld.py", device="cpu")}
    where |= workers["manyhands"].ask(what="about")
    requests: dict[Slot, dict[str, Any]] = {
        ("manyhands", what, rules): {"what": what, "rules": rules}
        for what in ("step", "reset")
        for rules in PRESETS
    }
    if args.peer:
        where["peer"] = {"packages": PEERS["crafter"]}
        python = args.peer_python or peer_python("crafter")
        workers["crafter"] = Worker("peer_crafter.py", python)
        for what in ("with its picture", "no picture"):
            requests["crafter", "step", what] = {"what": what}
    begin = time.perf_counter()
    warm = {slot: workers[slot[0]].ask(**request, seconds=0) for slot, request in requests.items()}
    print(f"ready after {time.perf_counter() - begin:.0f} s")

    def measure(slot: Slot) -> float:
        return workers[slot[0]].ask(**requests[slot], seconds=args.seconds)["rate"]

    figures = interleave(requests, measure, args.repeats)
    sizes = {
        rules: workers["manyhands"].ask(what="size", rules=rules, seconds=0)["bytes"]
        for rules in PRESETS
    }
    for one in workers.values():
        one.close()

    rows, table = [], []
    base = figures.get(("crafter", "step", "with its picture"))
    for slot, values in figures.items():
        subject, what, which = slot
        row: dict[str, Any] = {"subject": subject, "what": what, "which": which}
        if what == "step":
            row |= {"unit": "steps/s", **summary(values)}
            if subject == "crafter":
                row["first_reset"] = warm[slot]["reset"]
            if base:
                row["times_peer"] = row["best"] / max(base)
            shown = [f"{row[k]:,.0f} /s" for k in ("best", "median")]
            shown.append(f"{row['times_peer']:.1f}" if base else "")
        else:
            row |= {"unit": "ms", **summary([1e3 / value for value in values], min)}
            shown = [f"{row[k]:.1f} ms" for k in ("best", "median")] + [""]
        rows.append(row)
        table.append([subject, what, which, *shown])
    for rules, count in sizes.items():
        rows.append({"subject": "manyhands", "what": "state", "which": rules, "bytes": count})
        table.append(["manyhands", "state", rules, f"{count:,} B", "", ""])
    title = f"one world at a time: {where['cpu']} ({where['cores']} cores)"
    report(title, ["", "what", "which", "best", "median", "times crafter"], table)
    settings = {"repeats": args.repeats, "seconds": args.seconds}
    save(args.out, benchmark="craftworld", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    worker() if is_worker() else main()
