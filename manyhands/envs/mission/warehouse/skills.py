"""The skills of warehouses: pure functions of what robots perceive, which is all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.mission.planning import DONE, NO_WAY, NONE, POSSIBLE, Details, Table
from manyhands.envs.mission.warehouse.state import (
    ACTIONS,
    COLUMNS,
    FORWARD,
    LEFT,
    LOAD,
    REQUESTED,
    RIGHT,
    ROWS,
    SHELF,
    STAY,
    TURNED_LEFT,
    TURNED_RIGHT,
)
from manyhands.envs.mission.ways import FAR, cells, driving, forward

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission


def skill_set(mission: Mission) -> WarehouseSkills:
    """The skills of a warehouse."""
    return WarehouseSkills(mission)


class WarehouseSkills(Table):
    """In table order: `fetch a request`, `deliver`, `put back`, `go to a goal`, `park`, `wait`;
    single actions."""

    def __init__(self, mission: Mission):
        self._mission = mission
        shelf = "[(a|the|my|this)] [(requested|nearest)] (shelf|request)"
        super().__init__(
            {
                "fetch a request": [f"(fetch|get|pick up|go for) {shelf}", "fetch"],
                "deliver": [f"(deliver|bring) [{shelf}] [(it|to (a|the) goal)]"],
                "put back": [
                    f"(put back|return|put away|put) [{shelf}] [it] [back]",
                    "put it down",
                ],
                "go to a goal": ["(go|drive) to [(a|the)] [nearest] goal"],
                "park": ["park [under (a|the) shelf]", "get out of the way"],
            },
            ACTIONS,
        )

    def plans(self, perception: Array) -> tuple[list[Details], Array]:
        mission, (rows, columns) = self._mission, self._mission.size
        split = 4 * mission.players
        listed = perception[:split].reshape(-1, 4).astype(jnp.int32)
        shelves = perception[split:].reshape(rows, columns)
        y, x, heading, load = listed[0]
        down, across = cells((rows, columns))
        others = jnp.any(
            (listed[1:, 0, None, None] == down) & (listed[1:, 1, None, None] == across), axis=0
        )
        marked = np.zeros(rows * columns, bool)
        marked[list(mission.goals)] = True
        goals = marked.reshape(rows, columns)
        racks = np.asarray(mission.racks).reshape(rows, columns)
        empty = load == 0
        targets = jnp.stack([
            (shelves == REQUESTED) & ~others,
            jnp.asarray(goals),
            racks & (shelves == 0) & ~others,
            jnp.asarray(goals),
            (shelves == SHELF) & ~others,
        ])  # fmt: skip
        price = 1.0 + 3.0 * others + jnp.where((load > 0) & (shelves > 0), FAR, 0.0)
        times = driving(targets, price)
        here = times[:, y, x]  # [5, 4]
        turns = [here[:, jnp.asarray(way)[heading]] + 1.0 for way in (TURNED_LEFT, TURNED_RIGHT)]
        ahead = forward(times, price)[:, y, x][:, heading]
        options = jnp.stack([ahead, *turns], axis=1)  # [5, 3]
        way = jnp.asarray((FORWARD, LEFT, RIGHT))[jnp.argmin(options, axis=1)]
        steps = here[:, heading]
        arrived = steps <= 0
        # A requested shelf that is on a goal is delivered in the step that brings it there.
        acts = jnp.asarray((LOAD, STAY, LOAD, STAY, STAY))
        extra = jnp.asarray((1.0, 0.0, 1.0, 0.0, 0.0))
        able = jnp.stack([empty, load == REQUESTED, load == SHELF, True, empty])
        done = jnp.stack([~empty, False, empty, arrived[3], arrived[4]])
        there = jnp.any(targets, axis=(1, 2)) & able
        why = jnp.where(there, jnp.where(steps < FAR, POSSIBLE, NO_WAY), NONE)
        why = jnp.where(done, DONE, why)
        found = Details(
            jnp.where(arrived, acts, way), why, jnp.where(steps < FAR, steps + extra, -1)
        )
        row, column = y + jnp.asarray(ROWS)[heading], x + jnp.asarray(COLUMNS)[heading]
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        standing = shelves[jnp.clip(row, 0, rows - 1), jnp.clip(column, 0, columns - 1)] > 0
        drives = inside & ~((load > 0) & standing)
        stands = shelves[y, x] > 0
        loads = jnp.where(empty, stands, jnp.asarray(racks)[y, x] & ~stands)
        always = jnp.bool_(True)
        return [found], jnp.stack([always, drives, always, always, loads])

    def rules(self) -> str:
        return (
            "A skill drives its way one step each time you name it, around others if it can; go on "
            "naming it until it is done, or name another one.\n"
            "fetch a request: drive to the nearest requested shelf that stands, and pick it up. "
            "deliver: bring the requested shelf that you carry to the nearest goal. put back: "
            "bring the shelf that you carry to the nearest empty rack, and put it down. go to a "
            "goal. park: drive under the nearest shelf that is not requested, out of the way.\n"
            + self._steps()
        )
