"""What layers are worth to a slow mind in real time: the kitchen by moves, and by skills.

    python benchmarks/layers.py

Two cooks that read text and answer in words take `--latency` seconds for each answer, as a language
model does, in a kitchen that steps every `--clock` seconds (`play(clock=)`). By moves, a cook
stands still while it thinks. By skills ("fetch onion"), the skill under way goes on: a slow mind
above a fast one, as in HLA (Liu et al., 2024, arXiv 2312.15224). The same cooks without a clock are
the bound. Figures go to `benchmarks/results/layers.json`.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import RESULTS, machine, report, save


class Slow:
    """A seat that takes its time, like an endpoint.

    Args:
        seat: who answers.
        latency: seconds, beside those that the seat itself takes.
    """

    def __init__(self, seat: Any, latency: float):
        self.name, self._seat, self._latency = f"text after {latency:g} s", seat, latency

    async def act(self, views: Sequence[Any]) -> list[Any]:
        answers: list[Any] = self._seat.act(views)
        await asyncio.sleep(self._latency)
        return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layout", default="cramped_room")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds of an answer")
    parser.add_argument("--clock", type=float, default=0.25, help="seconds of a step")
    parser.add_argument("--out", type=Path, default=RESULTS / "layers.json")
    options = parser.parse_args()

    import manyhands
    from manyhands.core.clock import punctuality

    rows: dict[str, dict[str, Any]] = {}
    for by in ("moves", "skills"):
        kitchen = manyhands.make("kitchen", layout=options.layout, max_steps=options.steps)
        env = kitchen if by == "moves" else manyhands.make("skills", env=kitchen)
        seat = manyhands.seat("text" if by == "moves" else "text:skills=true", env)
        manyhands.play(env, seat, max_steps=3)  # compiled before the clock starts
        for timed in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                record = Path(folder) / "run.jsonl"
                result = manyhands.play(
                    env,
                    Slow(seat, options.latency) if timed else seat,
                    options.episodes,
                    concurrency=options.episodes,
                    clock=options.clock if timed else None,
                    record=record,
                )
                kept = punctuality(record) if timed else []
            soups = [episode.metrics["soups"] for episode in result.episodes]
            rows[f"by {by}, {'real time' if timed else 'no clock'}"] = {
                "soups": sum(soups) / len(soups),
                "all": soups,
                "decisions_per_second": sum(row.per_second for row in kept) / max(len(kept), 1),
                "late": sum(row.late for row in kept) / max(sum(r.decisions for r in kept), 1),
            }
    save(
        options.out,
        machine=machine(),
        **{name: getattr(options, name) for name in ("layout", "steps", "latency", "clock")},
        episodes=options.episodes,
        rows=rows,
    )
    report(
        f"{options.layout}, {options.steps} steps: soups served",
        ["team", "soups", "decisions per second", "late"],
        [
            [
                name,
                f"{row['soups']:.1f}",
                f"{row['decisions_per_second']:.2f}",
                f"{row['late']:.0%}",
            ]
            for name, row in rows.items()
        ],
    )


if __name__ == "__main__":
    main()
