"""Episodes that begin where one says: `Mission.reset_to`.

A start is written as `to_dict` writes a state, so that `options={"start": env.to_dict(state)}`
begins there again; what is left out is as a reset draws it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.config import boolean, nearest, one_of, whole
from manyhands.core.env import Array, ConfigError, shorten
from manyhands.envs.mission import rules
from manyhands.envs.mission.state import MissionState, highest_food
from manyhands.envs.mission.warehouse import rules as warehouse_rules
from manyhands.envs.mission.warehouse.scenario import chart
from manyhands.envs.mission.warehouse.state import HEADINGS, NONE, REQUESTED, SHELF, WarehouseState
from manyhands.envs.mission.warehouse.text import RACK_MARK, SHELF_MARKS

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

# Fields of `to_dict` that do not describe a start.
_TOLD = ("scenario", "size", "spawned", "time", "steps_left", "requested", "steps_without_delivery")


def reset_to(mission: Mission, key: Array, start: Any) -> Any:
    """The episode of `key`, begun at a start."""
    known = ("players", "food") if mission.kind == "foraging" else ("robots", "map")
    if not isinstance(start, Mapping):
        raise ConfigError(
            f"a start is a mapping with {' and '.join(known)}, given {shorten(start)}"
        )
    for name in start:
        if name not in (*known, *_TOLD):
            raise ConfigError(
                f"a start has no {name!r};{nearest(name, known)} it has {' and '.join(known)}"
            )
    if mission.kind == "foraging":
        return _field(mission, rules.reset(mission, key), start)
    return _warehouse(mission, warehouse_rules.reset(mission, key), start)


def _field(mission: Mission, state: MissionState, start: Mapping[str, Any]) -> MissionState:
    if "players" in start:
        players = _each(mission, "players", start["players"])
        cells = [_cell(mission, f"the position of {name}", given) for name, given in players]
        low, high = mission.player_levels
        levels = [whole(f"the level of {n}", p.get("level"), low, high) for n, p in players]
        row, column = np.array(cells, np.int8).T
        state = dataclasses.replace(state, row=row, column=column, level=np.array(levels, np.int8))
    if "food" in start:
        foods = start["food"]
        if not isinstance(foods, Sequence) or len(foods) > mission.foods:
            raise ConfigError(f"food is a list of at most {mission.foods}, given {shorten(foods)}")
        found = []
        for k, food in enumerate(foods):
            cell = _cell(mission, f"the position of food {k}", food)
            found.append((*cell, whole(f"the level of food {k}", food.get("level"), 0, None)))
        most = highest_food(mission)
        there = sorted(food for food in found if food[2])
        for k, (y, x, level) in enumerate(there):
            whole(f"the level of the food at row {y}, column {x}", level, 1, most)
            if not (0 < y < mission.size[0] - 1 and 0 < x < mission.size[1] - 1):
                raise ConfigError(f"food is not on the border, given row {y}, column {x}")
            for other in there[:k]:
                if max(abs(other[0] - y), abs(other[1] - x)) < 2:
                    raise ConfigError(
                        f"no food is beside other food, given {list(other[:2])} and {[y, x]}"
                    )
        there += [(0, 0, 0)] * (mission.foods - len(there))
        listed = np.array(there, np.int8)
        state = dataclasses.replace(
            state,
            food_row=listed[:, 0],
            food_column=listed[:, 1],
            food_level=listed[:, 2],
            spawned=np.int16(listed[:, 2].sum()),
        )
    row, column, left = (np.asarray(v) for v in (state.row, state.column, state.food_level))
    for k in np.flatnonzero(left).tolist():
        at = int(state.food_row[k]), int(state.food_column[k])
        if at in zip(row.tolist(), column.tolist(), strict=True):
            raise ConfigError(f"a player and food are both on row {at[0]}, column {at[1]}")
    if not left.any():
        raise ConfigError("a start has food")
    return state


def _warehouse(mission: Mission, state: WarehouseState, start: Mapping[str, Any]) -> WarehouseState:
    shelves = np.array(state.shelves)
    if "map" in start:
        shelves = _shelves(mission, start["map"])
    changes: dict[str, Any] = {}
    loads = np.zeros(mission.num_agents, np.uint8)
    if "robots" in start:
        robots = _each(mission, "robots", start["robots"])
        cells = [_cell(mission, f"the position of {name}", given) for name, given in robots]
        if len(set(cells)) < len(cells):
            raise ConfigError(f"robots are on distinct cells, given {cells}")
        for i, (name, robot) in enumerate(robots):
            number = cells[i][0] * mission.size[1] + cells[i][1]
            if not boolean(f"carrying of {name}", robot.get("carrying", False)):
                continue
            asked = boolean(f"requested of {name}", robot.get("requested", False))
            if "map" in start and shelves[number]:
                raise ConfigError(f"{name} carries a shelf where one stands, {list(cells[i])}")
            if "map" not in start and not shelves[number]:
                raise ConfigError(
                    f"{name} carries a shelf where none stands, {list(cells[i])}; give the map, too"
                )
            loads[i] = REQUESTED if asked else SHELF
            if "map" not in start:
                loads[i], shelves[number] = shelves[number], NONE
        headings = [
            HEADINGS.index(one_of(f"the heading of {name}", robot.get("heading"), HEADINGS))
            for name, robot in robots
        ]
        row, column = np.array(cells, np.int8).T
        flags = [boolean(f"delivered of {n}", r.get("delivered", False)) for n, r in robots]
        changes = {"row": row, "column": column, "heading": np.array(headings, np.int8)}
        changes |= {"load": loads, "delivered": np.array(flags) & (loads > 0)}
    both = np.concatenate([shelves, loads])
    for what, found, wanted in (
        ("shelves", int((both > 0).sum()), int(mission.racks.sum())),
        ("requested shelves", int((both == REQUESTED).sum()), mission.requests),
    ):
        if found != wanted:
            raise ConfigError(f"this warehouse has {wanted} {what}, given {found}")
    new = dataclasses.replace(state, shelves=jnp.asarray(shelves), **changes)
    return new


def _shelves(mission: Mission, lines: Any) -> np.ndarray:
    """u8[C], what stands where on a map as `to_dict` writes it."""
    ground = [line.replace("x", RACK_MARK) for line in chart(mission.scenario)]
    sides = [len(line) for line in lines] if isinstance(lines, (list, tuple)) else []
    if sides != [len(line) for line in ground]:
        rows, columns = mission.size
        raise ConfigError(f"the map is {rows} lines of {columns} marks, given {shorten(lines)}")
    found = []
    for y, (line, below) in enumerate(zip(lines, ground, strict=True)):
        for x, (mark, floor) in enumerate(zip(line, below, strict=True)):
            shelf = SHELF_MARKS.index(mark) if mark in SHELF_MARKS else NONE
            if (shelf and floor != RACK_MARK) or (not shelf and mark != floor):
                raise ConfigError(
                    f"the map has {mark!r} at row {y}, column {x}, where the warehouse has "
                    f"{floor!r}"
                )
            found.append(shelf)
    return np.array(found, np.uint8)


def _each(mission: Mission, what: str, given: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """(name, fields) of all agents."""
    if not isinstance(given, Mapping) or set(given) != set(mission.agents):
        raise ConfigError(
            f"{what} maps {', '.join(mission.agents)} to their fields, given {shorten(given)}"
        )
    for name, fields in given.items():
        if not isinstance(fields, Mapping):
            raise ConfigError(f"the fields of {name} are a mapping, given {shorten(fields)}")
    return [(name, given[name]) for name in mission.agents]


def _cell(mission: Mission, what: str, fields: Any) -> tuple[int, int]:
    """The row and column in a "position"."""
    at = fields.get("position") if isinstance(fields, Mapping) else None
    if not isinstance(at, (list, tuple)) or len(at) != 2:
        raise ConfigError(f"{what} is [row, column], given {shorten(at)}")
    rows, columns = mission.size
    return whole(what, at[0], 0, rows - 1), whole(what, at[1], 0, columns - 1)
