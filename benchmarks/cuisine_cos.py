"""CoS, the collaboration score of MindAgent, by number of chefs: the figures of docs/cuisine.md.

    python benchmarks/cuisine_cos.py
    python benchmarks/cuisine_cos.py --levels 3 --chefs 1 2 --episodes 20 --out here.json

Every seat plays each level with 1 to 6 chefs, all of them that seat, at the five intervals of the
original (alpha 1, 1.5, 2, 2.5 and 3), `--episodes` episodes of 60 steps each, the same seeds for
all seats. The success rate of an interval is served / (served + expired) orders of all its
episodes, CoS the mean of the five rates; `with_open` counts orders that are open at the end as
failed. Intervals are 95 % bootstrap intervals over episodes. Written to
`benchmarks/results/cuisine-cos.json` and `docs/cuisine_cos.png`.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from common import RESULTS, ROOT, machine, save

import manyhands
from manyhands.core.batch import seats_of, view_of
from manyhands.envs.cuisine.score import ALPHAS, collaboration_score, success_rate

SEATS = ("dispatched", "greedy", "random")
RESAMPLES = 1000


def play(level: Any, chefs: int, seat: str, episodes: int, seed: int) -> np.ndarray:
    """i64[alphas, episodes, 3]: orders served, expired and open at the end of each episode. All
    intervals are played at once, as so many levels of one environment."""
    env = manyhands.make("cuisine", level=[level] * len(ALPHAS), alpha=list(ALPHAS), chefs=chefs)
    seats = seats_of(env, seat)
    which = np.repeat(np.arange(len(ALPHAS), dtype=np.uint8), episodes)
    numbers = np.tile(np.arange(episodes), len(ALPHAS))
    lifetimes = jnp.asarray(env.lifetimes, jnp.int16)[which]

    @jax.jit
    def run(key: Any) -> Any:
        keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(numbers)
        states = env.batch_reset(keys)
        first = jnp.where(jnp.arange(env.max_orders)[:, None] == 0, lifetimes, 0)
        # The level that is played; the dishes are drawn from the same ones in each.
        states = dataclasses.replace(states, level=jnp.asarray(which), left=first.astype(jnp.int16))
        memory = seats.init(env, len(which))

        def step(carry: Any, t: Any) -> Any:
            states, memory = carry
            now = jax.vmap(jax.random.fold_in, (0, None))(keys, t)
            view = view_of(env, states, jnp.full(len(which), t == 0), jnp.arange(len(which)))
            actions, memory = seats.apply(env, memory, now, view)
            return (env.batch_step(now, states, actions)[0], memory), None

        (states, _), _ = jax.lax.scan(step, (states, memory), jnp.arange(env.max_steps))
        open_ = jnp.sum(states.order > 0, axis=0)
        return jnp.stack([states.served, states.expired, open_], axis=1)

    found = np.asarray(jax.device_get(run(jax.random.key(seed))), int)
    return found.reshape(len(ALPHAS), episodes, 3)


def scores(found: np.ndarray) -> tuple[list[float], float, float]:
    """(success rate of each alpha, CoS, CoS that counts open orders as failed)"""
    settings = {
        alpha: [{"served": row[0], "expired": row[1]} for row in rows]
        for alpha, rows in zip(ALPHAS, found.tolist(), strict=True)
    }
    rates = [success_rate(episodes) for episodes in settings.values()]
    left = [sum(row[2] for row in rows) for rows in found.tolist()]
    strict = [
        success_rate(episodes, unfinished)
        for episodes, unfinished in zip(settings.values(), left, strict=True)
    ]
    return rates, collaboration_score(settings), sum(strict) / len(strict)


def interval(found: np.ndarray, seed: int) -> list[float]:
    """The 95 % bootstrap interval of CoS over episodes."""
    draws, count = np.random.default_rng(seed), found.shape[1]
    picks = draws.integers(0, count, (RESAMPLES, count))
    sums = found[:, picks].sum(axis=2)[:, :, :2]  # [alphas, resamples, 2]
    rates = sums[..., 0] / np.maximum(sums.sum(-1), 1)
    return [round(float(q), 4) for q in np.quantile(rates.mean(0), (0.025, 0.975))]


def plot(rows: list[dict[str, Any]], levels: list[int], path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    colours = {"dispatched": "#3a7cd6", "greedy": "#ee8226", "random": "#8a8f9c"}
    figure = Figure(figsize=(3.4 * len(levels), 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    for axis, level in zip(np.atleast_1d(figure.subplots(1, len(levels), sharey=True)), levels,
                           strict=True):  # fmt: skip
        for seat, colour in colours.items():
            mine = [row for row in rows if row["level"] == level and row["seat"] == seat]
            if not mine:
                continue
            chefs = [row["chefs"] for row in mine]
            axis.plot(chefs, [row["cos"] for row in mine], marker="o", color=colour, label=seat)
            low, high = zip(*(row["interval"] for row in mine), strict=True)
            axis.fill_between(chefs, low, high, color=colour, alpha=0.2, linewidth=0)
        axis.set_title(f"level {level}", fontsize=10)
        axis.set_xlabel("chefs")
        axis.set_ylim(-0.02, 1.02)
        axis.grid(alpha=0.3)
    figure.axes[0].set_ylabel("CoS")
    figure.axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=80)
    print(f"written: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--levels", type=int, nargs="+", default=[3, 6, 10])
    parser.add_argument("--chefs", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6])
    parser.add_argument("--seats", nargs="+", default=list(SEATS))
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "cuisine-cos.json")
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "cuisine_cos.png")
    options = parser.parse_args()
    about, rows = machine(), []
    for level in options.levels:
        for seat in options.seats:
            for chefs in options.chefs:
                began = time.perf_counter()
                found = play(level, chefs, seat, options.episodes, options.seed)
                rates, cos, strict = scores(found)
                rows.append(
                    {
                        "level": level,
                        "seat": seat,
                        "chefs": chefs,
                        "rates": [round(rate, 4) for rate in rates],
                        "cos": round(cos, 4),
                        "interval": interval(found, options.seed),
                        "with_open": round(strict, 4),
                        "served": [round(float(n), 3) for n in found[..., 0].mean(1)],
                    }
                )
                took = time.perf_counter() - began
                print(f"level {level}, {chefs} x {seat}: CoS {cos:.3f} ({took:.0f} s)", flush=True)
    about["jax"] = jax.__version__
    save(
        options.out,
        machine=about,
        alphas=list(ALPHAS),
        episodes=options.episodes,
        seed=options.seed,
        rows=rows,
    )
    if options.plot:
        plot(rows, options.levels, options.plot)


if __name__ == "__main__":
    main()
