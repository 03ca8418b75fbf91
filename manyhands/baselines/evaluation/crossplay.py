"""Cross-play: every policy with every other, in both seat orders (Hu et al., "Other-Play", 2020).

A policy that has learned to play with itself alone shows it off the diagonal. Cell (row, column) of
order `k` is the row policy's own mean return as agent `k`, with the column policy in all other
seats; the agents of a cooperative game all earn the same. All of it runs at once, see
`evaluation.py`, where the intervals are explained, too.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyhands.baselines.evaluation.matches import play_matches
from manyhands.baselines.evaluation.scores import players as read_players
from manyhands.baselines.evaluation.tables import INTERVAL, Estimate, described, markdown
from manyhands.core.env import ConfigError, Env, SeatError


@dataclasses.dataclass(frozen=True)
class CrossPlay:
    """What `crossplay` gives back; print it, or `save` it.

    Attributes:
        env, seed: what was played.
        names: of the P policies.
        returns: f64[N, P, P, E], return of the row policy as agent 0, 1, … beside the column
            policy, in each episode.
    """

    env: Env
    seed: int
    names: tuple[str, ...]
    returns: np.ndarray

    @property
    def orders(self) -> tuple[str, ...]:
        """What the tables are called: the mean of all seat orders, then one for each."""
        return ("all seats", *(f"row as {agent}" for agent in self.env.agents))

    def table(self, order: int = 0) -> list[list[Estimate]]:
        """[row][column], of one of `orders`."""
        values = self.returns.mean(axis=0) if order == 0 else self.returns[order - 1]
        return [[Estimate.of(cell) for cell in row] for row in values]

    @property
    def self_play(self) -> Estimate:
        """The mean of the diagonal."""
        both = self.returns.mean(axis=0)
        return Estimate.of(np.mean([both[i, i] for i in range(len(self.names))], axis=0))

    @property
    def cross_play(self) -> Estimate:
        """The mean of all other cells."""
        both = self.returns.mean(axis=0)
        return Estimate.of(both[~np.eye(len(self.names), dtype=bool)].mean(axis=0))

    def __str__(self) -> str:
        count = self.returns.shape[-1]
        parts = [
            f"{described(self.env)}: cross-play of {len(self.names)} policies, {count} "
            f"episode{'' if count == 1 else 's'} a cell, seed {self.seed}",
            f"Self-play (the diagonal): {self.self_play}. Cross-play (the rest): "
            f"{self.cross_play}.",
        ]
        for order, title in enumerate(self.orders):
            rows = [
                [name, *cells] for name, cells in zip(self.names, self.table(order), strict=True)
            ]
            parts.append(f"{title}:\n\n{markdown(['row with column', *self.names], rows)}")
        return "\n\n".join([*parts, INTERVAL])

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        return {
            "environment": self.env.spec(),
            "seed": self.seed,
            "episodes": self.returns.shape[-1],
            "interval": INTERVAL,
            "policies": list(self.names),
            "self_play": self.self_play.to_dict(),
            "cross_play": self.cross_play.to_dict(),
            "orders": {
                title: [[cell.to_dict() for cell in row] for row in self.table(order)]
                for order, title in enumerate(self.orders)
            },
        }

    def to_csv(self) -> str:
        """A line for each cell of each order."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["order", "row", "column", "mean", "low", "high", "episodes"])
        for order, title in enumerate(self.orders):
            for row, cells in zip(self.names, self.table(order), strict=True):
                for column, cell in zip(self.names, cells, strict=True):
                    numbers = cell.to_dict()
                    writer.writerow([title, row, column, *numbers.values()])
        return text.getvalue()

    def heat_map(self) -> bytes:
        """A picture (PNG) of all tables, on one scale of colours."""
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as error:
            raise SeatError(
                'a heat map needs matplotlib: pip install "manyhands[train]"'
            ) from error
        size, count = len(self.names), len(self.orders)
        side = 1.6 + 0.62 * size
        figure = Figure(figsize=(side * count + 1.0, side + 0.6), layout="constrained")
        FigureCanvasAgg(figure)
        means = np.array(
            [[[c.mean for c in row] for row in self.table(order)] for order in range(count)]
        )
        low, high = float(means.min()), float(means.max())
        image: Any = None
        for order, (axes, title) in enumerate(
            zip(figure.subplots(1, count, squeeze=False)[0], self.orders, strict=True)
        ):
            image = axes.imshow(means[order], vmin=low, vmax=high, cmap="viridis")
            axes.set_title(title, fontsize=10)
            axes.set_xticks(range(size), self.names, rotation=45, ha="right", fontsize=8)
            axes.set_yticks(range(size), self.names if order == 0 else [""] * size, fontsize=8)
            for i, row in enumerate(self.table(order)):
                for j, cell in enumerate(row):
                    dark = cell.mean < (low + high) / 2
                    text = str(cell).replace(" ± ", "\n± ")
                    colour = "white" if dark else "black"
                    axes.text(j, i, text, ha="center", va="center", fontsize=7, color=colour)
        figure.colorbar(image, ax=figure.axes, shrink=0.8, label="mean return of the row's policy")
        episodes = self.returns.shape[-1]
        title = f"{described(self.env)}: row with column, {episodes} episodes a cell"
        figure.suptitle(title, fontsize=11, y=1.04)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        return picture.getvalue()

    def save(self, folder: str | Path) -> list[Path]:
        """Write crossplay.json, .csv, .md and .png; gives their paths."""
        from manyhands.core.files import replace

        files = {
            "json": (json.dumps(self.to_dict(), indent=2) + "\n").encode(),
            "csv": self.to_csv().encode(),
            "md": f"{self}\n".encode(),
            "png": self.heat_map(),
        }
        paths = [Path(folder) / f"crossplay.{ending}" for ending in files]
        for path, data in zip(paths, files.values(), strict=True):
            replace(path, data)
        return paths


def crossplay(
    env: Env, policies: Mapping[str, Any] | Sequence[Any], episodes: int = 100, seed: int = 0
) -> CrossPlay:
    """Play every policy with every other, in every seat order.

    Args:
        policies: what `evaluation.players` takes: seats by name, policy files, or policies; in a
            mapping their names in the tables are its keys.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
    """
    if env.num_agents < 2:
        raise ConfigError(f"{env!r} has one agent: there is nobody to play with")
    if len(policies) < 2:
        raise ConfigError(f"cross-play needs two policies or more, {len(policies)} given")
    given = list(policies.values()) if isinstance(policies, Mapping) else list(policies)
    made, names = read_players(env, given)
    if isinstance(policies, Mapping):
        names = list(policies)
    n, count = env.num_agents, len(made)
    lineups = [
        tuple(i if a == k else j for a in range(n))
        for k in range(n)
        for i in range(count)
        for j in range(count)
    ]
    distinct = list(dict.fromkeys(lineups))  # of two agents, (i, j) is also (j, i) as seen by j
    matches = dict(zip(distinct, play_matches(env, made, distinct, episodes, seed), strict=True))
    own = [matches[row].returns[:, at // count**2] for at, row in enumerate(lineups)]
    returns = np.reshape(own, (n, count, count, -1))
    return CrossPlay(env, seed, tuple(names), returns)
