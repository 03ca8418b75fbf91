"""A warehouse's state and its fixed configuration.

Every function of the rules (`rules.py`) and of the observations (`observe.py`) takes a
`WarehouseConfig` and a `WarehouseState`, with any number of trailing batch axes (none, or one).
Cells are numbered in reading order: row * columns + column.
"""

from __future__ import annotations

import numpy as np

from manyhands.core.env import Array, state_dataclass

STAY, FORWARD, LEFT, RIGHT, LOAD = range(5)
ACTIONS = ("stay", "forward", "turn left", "turn right", "load")
# The order of headings is that of `rware`.
HEADINGS = ("north", "south", "west", "east")
ROWS, COLUMNS = (-1, 1, 0, 0), (0, 0, -1, 1)  # change of row and column by heading
TURNED_LEFT, TURNED_RIGHT = (2, 3, 1, 0), (3, 2, 0, 1)  # heading by heading

# `WarehouseState.shelves` and `load`.
NONE, SHELF, REQUESTED = range(3)
# `WarehouseState.recent`: what a robot did in the last step.
NOTHING, MOVED, BLOCKED, TURNED, LOADED, UNLOADED, DELIVERED = range(7)
REWARDS = ("individual", "global", "two_stage")
MOST_ROBOTS, MOST_GOALS, MOST_SIDE, MOST_SIGHT = 19, 8, 66, 10


@state_dataclass
class WarehouseState:
    """One warehouse at one moment. Rows count from the top, columns from the left, from 0.

    Attributes:
        row, column: i8[N], where the robots are; never two on one cell.
        heading: i8[N], numbers of `HEADINGS`.
        load: u8[N], what they carry: `NONE`, `SHELF` or `REQUESTED` (a shelf that is requested).
        delivered: bool[N], whether they delivered something since they last put a shelf down.
        shelves: u8[C], what stands on each cell, likewise; shelves that are carried do not stand.
        time: i16[], steps played.
        idle: i16[], steps since the last delivery.
        recent: u8[N], what each robot did in the last step: `MOVED`, `BLOCKED` (by the rule of
            chains), `TURNED`, `LOADED`, `UNLOADED`, `DELIVERED` (whatever else it did) or
            `NOTHING`.
    """

    row: Array
    column: Array
    heading: Array
    load: Array
    delivered: Array
    shelves: Array
    time: Array
    idle: Array
    recent: Array


class WarehouseConfig:
    """What the rules and observations read of a warehouse, fixed while it is played; `Mission`
    (`env.py`) is one.

    Attributes:
        size: rows and columns.
        racks: bool[C], the cells where shelves may be put down; all others are ways.
        goals: cells where requested shelves are delivered, in the order that they are looked at.
        players: how many robots, N.
        requests: how many shelves are requested at any time, R.
        sharing: whose reward a delivery is, one of `REWARDS`.
        sight: how many cells a robot sees in each direction.
        inactivity: steps without a delivery after which an episode is terminated, or None.
        observation: `"vector"`, `"grid"` or `"whole"`.
        max_steps: steps after which an episode is truncated.
    """

    size: tuple[int, int]
    racks: np.ndarray
    goals: tuple[int, ...]
    players: int
    requests: int
    sharing: str
    sight: int
    inactivity: int | None
    observation: str
    max_steps: int
