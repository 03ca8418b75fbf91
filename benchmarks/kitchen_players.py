"""What greedy chefs serve in the layouts of OvercookedV2, where one recipe is asked for at a time.

    python benchmarks/kitchen_players.py

Mean points of an episode of 400 steps, with 95 % confidence intervals over episodes, in three
settings: everything in view; a view of two cells, as in the paper; and that with a recipe that
changes with each delivery, wrong soups that cost points, and deliveries that are shown. `random` is
beside them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, machine, report, save

SETTINGS: dict[str, dict[str, Any]] = {
    "all in view": {},
    "view 2": {"view_radius": 2},
    "view 2, changing": {
        "view_radius": 2,
        "resample": True,
        "penalty": True,
        "show_delivery": True,
    },
}


def play(layouts: list[str], config: dict[str, Any], player: str, episodes: int) -> dict[str, Any]:
    """By layout: the points of each episode. All layouts are one batch."""
    import jax

    import manyhands

    # Episodes are one step longer than what is played, so that no kitchen begins anew.
    env = manyhands.make("kitchen", layout=layouts, max_steps=401, **config)
    # A level is drawn by episode: as many as give each about so many episodes.
    batch = episodes * len(layouts)
    result = manyhands.rollout(env, player, batch, 400, jax.random.key(0), collect="statistics")
    state = jax.device_get(result.carry.state)
    return {
        name: [int(score) for score in state.score[state.level == i]]
        for i, name in enumerate(layouts)
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100, help="of each layout, about")
    parser.add_argument("--out", type=Path, default=RESULTS / "kitchen-players.json")
    args = parser.parse_args()
    from manyhands.envs.kitchen.asked import LAYOUTS, PREFIX

    pairs = [name for name, (text, _) in LAYOUTS.items() if "2" in text]
    alone = [name for name in LAYOUTS if name not in pairs]
    where, rows = machine(), []
    for setting, config in SETTINGS.items():
        for player in ("greedy", "random"):
            for group in (pairs, alone):
                played = play(group, config, player, args.episodes)
                for name, points in played.items():
                    mean = float(np.mean(points))
                    spread = 1.96 * float(np.std(points, ddof=1)) / len(points) ** 0.5
                    row = {"layout": name.removeprefix(PREFIX), "setting": setting}
                    row |= {"player": player, "points": mean, "ci95": spread}
                    rows.append(row | {"episodes": len(points)})
            print(f"{setting}: {player}", flush=True)
    save(args.out, benchmark="kitchen_players", machine=where, settings=SETTINGS, rows=rows)
    found = {(row["layout"], row["setting"], row["player"]): row for row in rows}
    table = []
    for name in (name.removeprefix(PREFIX) for name in LAYOUTS):
        cells = [found[name, setting, "greedy"] for setting in SETTINGS]
        table.append([name, *(f"{cell['points']:.0f} ± {cell['ci95']:.0f}" for cell in cells)])
    report("greedy chefs, points an episode", ["", *SETTINGS], table)


if __name__ == "__main__":
    main()
