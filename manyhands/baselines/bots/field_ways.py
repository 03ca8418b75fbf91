"""What players of fields know, and ways over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.mission.field.state import COLUMNS, ROWS, Plan
from manyhands.envs.mission.ways import FAR, distances

if TYPE_CHECKING:
    from manyhands.baselines.bots.field import Ranger

__all__ = [
    "FAR",
    "Sight",
    "ahead_of",
    "around",
    "beside",
    "distances",
    "foes_of",
    "marked",
]


class Sight(NamedTuple):
    """What a ranger knows: its own row, column and features by name; the same of the others, and
    whether each is in view; which doors are open; codes f32[H, W] (-1 not in view); steps since it
    last saw each cell; and its share of failures to enter each cell."""

    own: dict[str, Array]
    others: dict[str, Array]
    there: Array
    doors: Array
    cells: Array
    away: Array
    failed: Array
    time: Array


def around(values: Array, price: Array, sight: Sight) -> Array:
    """f32[5]: the value of where the agent is, and of the cells beside it with their price."""
    y, x = sight.own["row"].astype(jnp.int32), sight.own["column"].astype(jnp.int32)
    wide = jnp.pad(values + price, 1, constant_values=2 * FAR)
    found = [values[jnp.maximum(y, 0), jnp.maximum(x, 0)]]
    found += [wide[y + 1 + dy, x + 1 + dx] for dy, dx in zip(ROWS, COLUMNS, strict=True)]
    return jnp.stack(found)


def foes_of(ranger: Ranger, agent: int) -> np.ndarray:
    """bool[M - 1]: which of the others are of other teams."""
    of_team = ranger.plan.of_team
    return np.delete(of_team, agent) != of_team[agent]


def beside(mask: Array) -> Array:
    """bool[H, W]: cells beside those of a mask."""
    wide = jnp.pad(mask > 0, 1)
    return wide[:-2, 1:-1] | wide[2:, 1:-1] | wide[1:-1, :-2] | wide[1:-1, 2:]


def ahead_of(sight: Sight) -> Array:
    """The code that the agent faces; -1 beyond the edge."""
    heading = sight.own["heading"].astype(jnp.int32)
    y = sight.own["row"].astype(jnp.int32) + jnp.asarray(ROWS)[heading]
    x = sight.own["column"].astype(jnp.int32) + jnp.asarray(COLUMNS)[heading]
    wide = jnp.pad(sight.cells, 1, constant_values=-1.0)
    return wide[y + 1, x + 1]


def marked(sight: Sight, plan: Plan) -> Array:
    """bool[H, W]: the cell that the agent faces."""
    heading = sight.own["heading"].astype(jnp.int32)
    y, x = np.indices(plan.size)
    on = (sight.own["row"] + jnp.asarray(ROWS)[heading] == y) & (
        sight.own["column"] + jnp.asarray(COLUMNS)[heading] == x
    )
    return on
