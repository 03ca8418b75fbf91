"""What scripted chefs serve from marked and from random start cells.

    python benchmarks/kitchen_starts.py

Points of an episode of 400 steps with classic dynamics: every seat taken by the same player, or by
two players, in both orders. From the marked cells an episode of `greedy` or `reader` is always the
same, and one is played; from random ones as many as are asked for, with the standard error of their
mean.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, machine, report, save

LAYOUTS = (
    *("cramped_room", "asymmetric_advantages", "coordination_ring", "forced_coordination"),
    *("counter_circuit_o_1order", "counter_circuit_tomato", "multiplayer_schelling"),
    *("cramped_room_v2", "asymm_advantages_recipes_center", "two_rooms", "long_room"),
)
LINE_UPS = {
    "greedy": ("greedy", "greedy"),
    "reader": ("reader", "reader"),
    "greedy + reader": ("greedy", "reader"),
    "random": ("random", "random"),
}


def points_of(layout: str, starts: str, line_up: str, episodes: int) -> list[float]:
    """Points of each episode, the seats changing from one to the next; none for two players where
    there are not two chefs."""
    import manyhands

    env = manyhands.make("kitchen", layout=layout, starts=starts)
    seats = LINE_UPS[line_up]
    if len({*seats}) == 1:
        seats = seats[:1] * env.num_agents
    elif env.num_agents != 2:
        return []
    settled = starts != "random" and line_up in ("greedy", "reader")
    played = manyhands.play(env, seats, 1 if settled else episodes, rotate=len({*seats}) > 1)
    return [float(episode.terms["delivery"][0]) for episode in played.episodes]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=20, help="of a line-up from random cells")
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS)
    parser.add_argument("--out", type=Path, default=RESULTS / "kitchen-starts.json")
    args = parser.parse_args()
    where, rows, table = machine(), [], []
    for layout in args.layouts:
        cells = []
        for line_up in LINE_UPS:
            for starts in ("overcooked_ai", "random"):
                points = points_of(layout, starts, line_up, args.episodes)
                if not points:
                    cells.append("")
                    continue
                mean = float(np.mean(points))
                row: dict[str, Any] = {"layout": layout, "players": line_up, "starts": starts}
                row |= {"points": mean, "episodes": len(points)}
                if len(points) > 2:
                    row["standard_error"] = float(np.std(points, ddof=1)) / len(points) ** 0.5
                rows.append(row)
                error = row.get("standard_error")
                cells.append(f"{mean:.0f}" if error is None else f"{mean:.0f} ± {error:.1f}")
        table.append([layout, *cells])
        print(" | ".join(table[-1]), flush=True)
    save(args.out, benchmark="kitchen_starts", machine=where, rows=rows)
    columns = [f"{line_up}, {starts}" for line_up in LINE_UPS for starts in ("marked", "random")]
    report("points an episode", ["", *columns], table)


if __name__ == "__main__":
    main()
