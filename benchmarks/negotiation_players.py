"""How well the scripted negotiators deal, with themselves and with each other: the tables of
docs/negotiation.md.

    python benchmarks/negotiation_players.py

Every seat plays with itself in all seven scenarios, and every seat with every other one in three,
`--episodes` of the same seeds each, with default options. Noted are the rate of deals, the
efficiency (joint gain over the best possible one; in the commons the catch over the largest
possible one; as donors the coins given over what could be given at most), and what each side gains.
Intervals are 1.96 standard errors of the mean over episodes. Tables are printed as Markdown; all
figures go to `benchmarks/results/negotiation-players.json`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, machine, save

import manyhands

DEAF = ("fair", "tit_for_tat", "boulware", "conceder")
TALKING = ("fair:talk=true", "honest", "bluffer", "stubborn")
SCENARIOS = (
    "deal_or_no_deal", "trade", "buy_sell", "ultimatum", "divide", "commons", "donor"
)  # fmt: skip
CROSSED = ("deal_or_no_deal", "trade", "buy_sell")
COMMUNITY = ("commons", "donor")


def estimate(values: Sequence[float] | np.ndarray) -> dict[str, float]:
    array = np.asarray(values, float)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else 0.0
    return {"mean": round(float(array.mean()), 4), "interval": round(float(1.96 * error), 4)}


def played(scenario: str, seats: Sequence[str], episodes: int, seed: int) -> dict[str, Any]:
    """The figures of one line-up, its seats in turns around the table."""
    env = manyhands.make("negotiation", scenario=scenario)
    around = [seats[i % len(seats)] for i in range(env.num_agents)]
    began = time.perf_counter()
    result = manyhands.play(env, around, episodes=episodes, seed=seed, progress=False)
    terms = [episode.terms for episode in result.episodes]
    gains = np.array([term["gain"] for term in terms])
    found: dict[str, Any] = {"gains": [estimate(column) for column in gains.T]}
    if scenario == "donor":
        most = env.scenario.rounds * env.scenario.max_gift
        found["efficiency"] = estimate([sum(term["given"]) / most for term in terms])
    else:
        found["efficiency"] = estimate([term["efficiency"][0] for term in terms])
    if scenario not in COMMUNITY:
        found["deals"] = estimate([term["agreement"][0] for term in terms])
    found["truth"] = estimate(
        [sum(t.get("truthful", [0])) - sum(t.get("untruthful", [0])) for t in terms]
    )
    found["illegal"] = float(np.mean([sum(episode.illegal) for episode in result.episodes]))
    found["seconds"] = round(time.perf_counter() - began, 2)
    return found


def cell(found: dict[str, Any] | None) -> str:
    """ "0.97 ± 0.01 (100 %)", or a dash."""
    if found is None:
        return "\u2013"
    share = found["efficiency"]
    deals = f" ({found['deals']['mean']:.0%})" if "deals" in found else ""
    return f"{share['mean']:.2f} ± {share['interval']:.2f}{deals}".replace("%", " %")


def tables(alone: dict[str, Any], crossed: dict[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        "| With itself | " + " | ".join(f"`{name}`" for name in alone) + " |",
        "|---|" + "---|" * len(alone),
    ]
    for seat in (*DEAF, *TALKING):
        row = [cell(alone[name].get(seat)) for name in alone]
        lines.append(f"| `{seat}` | " + " | ".join(row) + " |")
    seats = (*DEAF, *TALKING)
    lines += [
        "",
        "| First \\ second | " + " | ".join(f"`{seat}`" for seat in seats) + " |",
        "|---|" + "---|" * len(seats),
    ]
    for one in seats:
        row = []
        for other in seats:
            means = [crossed[name][one][other] for name in crossed]
            share = float(np.mean([found["efficiency"]["mean"] for found in means]))
            deals = float(np.mean([found["deals"]["mean"] for found in means]))
            row.append(f"{share:.2f} ({deals:.0%})".replace("%", " %"))
        lines.append(f"| `{one}` | " + " | ".join(row) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--episodes", type=int, default=200, help="of each seat with itself")
    parser.add_argument("--pairs", type=int, default=60, help="episodes of each pair")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenarios", nargs="+", default=SCENARIOS, choices=SCENARIOS)
    parser.add_argument("--crossed", nargs="*", default=CROSSED, choices=CROSSED)
    parser.add_argument("--out", type=Path, default=RESULTS / "negotiation-players.json")
    options = parser.parse_args()
    began = machine()
    alone: dict[str, Any] = {}
    for name in options.scenarios:
        seats = [s for s in (*DEAF, *TALKING) if s not in DEAF[2:] or name not in COMMUNITY]
        alone[name] = {seat: played(name, [seat], options.episodes, options.seed) for seat in seats}
    crossed = {
        name: {
            one: {
                other: played(name, [one, other], options.pairs, options.seed)
                for other in (*DEAF, *TALKING)
            }
            for one in (*DEAF, *TALKING)
        }
        for name in options.crossed
    }
    print(tables(alone, crossed))
    save(
        options.out,
        machine=began,
        episodes=options.episodes,
        pairs=options.pairs,
        seed=options.seed,
        with_itself=alone,
        with_each_other=crossed,
    )


if __name__ == "__main__":
    main()
