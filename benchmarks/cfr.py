"""Iterations of counterfactual regret minimisation a second, beside OpenSpiel's.

    python benchmarks/cfr.py --peer open_spiel

An iteration updates every agent in turn, in all of the implementations (external sampling: one
traversal for each agent). Before anything is measured, the average policies after the same number
of iterations of CFR and CFR+ are compared by what they earn.
"""

from __future__ import annotations

import argparse
import sys
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

GAMES = ("kuhn_poker", "kuhn_poker(players=3)", "leduc_poker")  # by OpenSpiel's names
ALGORITHMS = ("cfr", "cfr+", "mccfr")
# Iterations after which values are compared: OpenSpiel's Python makes ten a second in Leduc.
COMPARED = {"kuhn_poker": 500, "kuhn_poker(players=3)": 100, "leduc_poker": 20}


# ---- our side: the worker ------------------------------------------------------------------------


def worker() -> None:
    import time

    import jax

    import manyhands
    from manyhands.baselines.game_theory import Solver, expected_values, exploitability, unroll

    ours = {
        "kuhn_poker": ("kuhn_poker", {}),
        "kuhn_poker(players=3)": ("kuhn_poker", {"players": 3}),
        "leduc_poker": ("leduc_holdem", {}),
    }
    trees: dict[str, Any] = {}
    solvers: dict[tuple[str, str], Any] = {}

    def tree_of(game: str) -> Any:
        if game not in trees:
            id, config = ours[game]
            trees[game] = unroll(manyhands.make(id, **config))
        return trees[game]

    def iterate(game: str, algorithm: str, seconds: float) -> dict[str, Any]:
        """Iterations a second; 0 s compiles, and finds out how many make a call of 0.1 s."""
        if (game, algorithm) not in solvers:
            solver = Solver(tree_of(game), algorithm)
            solver.run(1)
            count, took = 1, 0.0
            while took < 0.05:
                count *= 2
                begin = time.perf_counter()
                solver.run(count)
                took = time.perf_counter() - begin
            solvers[game, algorithm] = solver, 2 * count
        solver, count = solvers[game, algorithm]

        def call() -> int:
            solver.run(count)
            return count

        return {"rate": rate(call, seconds) if seconds else 0.0}

    def values(game: str, algorithm: str) -> dict[str, Any]:
        tree = tree_of(game)
        solver = Solver(tree, algorithm)
        solver.run(COMPARED[game])
        table = solver.average()
        return {"values": [*expected_values(tree, table), exploitability(tree, table)]}

    def about() -> dict[str, Any]:
        return {"jax": jax.__version__, "platform": jax.local_devices()[0].platform}

    answers: dict[str, Any] = {"iterate": iterate, "values": values, "about": about}
    serve(lambda what, **request: answers[what](**request))


# ---- the parent ----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", nargs="+", default=GAMES, choices=GAMES)
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS, choices=ALGORITHMS)
    parser.add_argument("--peer", choices=["open_spiel"], help="measure it too, in turns")
    parser.add_argument("--peer-python", type=Path, help="an interpreter that has the peer")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one repeat")
    parser.add_argument("--out", type=Path, default=RESULTS / "cfr.json")
    args = parser.parse_args()

    where = machine()
    workers = {"manyhands": Worker("cfr.py", device="cpu")}
    where |= workers["manyhands"].ask(what="about")
    subjects = {"manyhands": ("manyhands", {})}
    if args.peer:
        python = args.peer_python or peer_python("open_spiel")
        workers["open_spiel"] = Worker("peer_open_spiel.py", python)
        about = workers["open_spiel"].ask(what="about")
        where["peer"] = {"packages": PEERS["open_spiel"], **about}
        subjects["OpenSpiel, C++"] = ("open_spiel", {"language": "c++"})
        subjects["OpenSpiel, Python"] = ("open_spiel", {"language": "python"})

    rows: list[dict[str, Any]] = []
    if args.peer:
        for game in args.games:
            for algorithm in set(args.algorithms) - {"mccfr"}:
                found = {
                    subject: workers[name].ask(
                        what="values", game=game, algorithm=algorithm, **more
                    )["values"]
                    for subject, (name, more) in subjects.items()
                }
                ours = found.pop("manyhands")
                for subject, theirs in found.items():
                    gap = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
                    row = {"what": "agreement", "subject": subject, "game": game}
                    row |= {"algorithm": algorithm, "iterations": COMPARED[game]}
                    rows.append(row | {"largest_difference": gap})
                    print(f"{game}, {algorithm}: values differ by {gap:.1e} from {subject}'s")
                    if gap > 1e-6:
                        sys.exit("the implementations disagree: nothing was measured")

    requests: dict[Slot, dict[str, Any]] = {}
    for game in args.games:
        for algorithm in args.algorithms:
            for subject, (_, more) in subjects.items():
                request = {"what": "iterate", "game": game, "algorithm": algorithm, **more}
                requests[subject, game, algorithm] = request
    for slot, request in requests.items():
        workers[subjects[slot[0]][0]].ask(**request, seconds=0)

    def measure(slot: Slot) -> float:
        name = subjects[slot[0]][0]
        return workers[name].ask(**requests[slot], seconds=args.seconds)["rate"]

    figures = interleave(requests, measure, args.repeats)
    for one in workers.values():
        one.close()

    table = []
    for (subject, game, algorithm), speeds in figures.items():
        row = {"what": "iterations", "subject": subject, "game": game, "algorithm": algorithm}
        row |= {"unit": "iterations/s", **summary(speeds)}
        ratio = max(figures["manyhands", game, algorithm]) / row["best"]
        if subject != "manyhands":
            row["manyhands_times"] = ratio
        rows.append(row)
        shown = [f"{row[k]:,.0f} /s" for k in ("best", "median")]
        table.append([game, algorithm, subject, *shown, f"{ratio:,.0f}" if ratio != 1 else ""])
    title = f"regret minimisation: {where['cpu']} ({where['cores']} cores)"
    columns = ["game", "algorithm", "", "best", "median", "manyhands is times faster"]
    report(title, columns, table)
    settings = {"repeats": args.repeats, "seconds": args.seconds}
    save(args.out, benchmark="cfr", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    worker() if is_worker() else main()
