"""Episodes of fields that begin where one says: `Mission.reset_to`.

A start is written as `to_dict` writes a state: its "map" and "bodies". A task is one of
`tasks.task_space`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import nearest, one_of, whole
from manyhands.core.env import Array, ConfigError, shorten
from manyhands.envs.mission.field import levels, rules, solve, tasks
from manyhands.envs.mission.field.events import body_name
from manyhands.envs.mission.field.state import CODES, GOAL, HEADINGS, WALK, FieldState

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

_KNOWN = ("map", "bodies", "rooms", "doors", "viewers")
_TOLD = ("scenario", "size", "scores", "level", "over", "time", "steps_left", "sees", "work")
_OWN = ("position", "room", "heading", "carrying")
_BODY_TOLD = ("team", "start", "out", "cooldown", "strike", "did")


def reset_to(mission: Mission, key: Array, options: Mapping[str, Any]) -> FieldState:
    """The episode of `key`, begun at a start, or with the level of a task."""
    state = rules.reset(mission, key)
    if "task" in options:
        state = _task(mission, key, options["task"])
    if "start" in options:
        state = _start(mission, state, options["start"])
    return state


def _task(mission: Mission, key: Array, task: Any) -> FieldState:
    """A level that is drawn for a task."""
    plan = mission.plan
    grid, starts = tasks.task_space(mission).level(task)
    draws = np.random.default_rng(np.asarray(jax.random.key_data(key)).astype(np.uint32))
    taken: list[int] = []
    for i in range(plan.bodies):
        if plan.token and i:
            taken.append(taken[0])
            continue
        options = np.flatnonzero(starts[i].ravel())
        if plan.conflict != "share":
            options = np.setdiff1d(options, taken)
        taken.append(int(draws.choice(options)))
    cells = grid.ravel()
    viewer = np.zeros(0, np.uint8)
    if plan.masks:
        viewer = draws.integers(0, 2, len(cells)).astype(np.uint8)
        viewer[(cells == GOAL) | (np.arange(len(cells)) == taken[0])] = 2
    return _begun(mission, cells, viewer, taken)


def _begun(
    mission: Mission, cells: np.ndarray, viewer: np.ndarray, places: list[int]
) -> FieldState:
    row, column = (part.astype(np.int8) for part in np.divmod(places, mission.size[1]))
    return rules.started(
        mission,
        jnp.asarray(cells, jnp.uint8),
        jnp.asarray(viewer, jnp.uint8),
        jnp.asarray(row),
        jnp.asarray(column),
        jnp.int16(-1),
    )


def _start(mission: Mission, state: FieldState, start: Any) -> FieldState:
    plan = mission.plan
    if not isinstance(start, Mapping):
        raise ConfigError(f"a start is a mapping with {', '.join(_KNOWN)}, given {shorten(start)}")
    for name in start:
        if name not in (*_KNOWN, *_TOLD):
            raise ConfigError(
                f"a start has no {name!r};{nearest(name, _KNOWN)} it has {', '.join(_KNOWN)}"
            )
    cells = np.asarray(state.cells).copy()
    if "map" in start and plan.exits is None:
        cells = _map(mission, start["map"]).ravel()
    if "rooms" in start and plan.exits is not None:
        cells = _rooms(mission, start["rooms"])
    viewer = np.asarray(state.viewer).copy()
    names = [body_name(plan, i) for i in range(plan.bodies)]
    places = (np.asarray(state.row).astype(int) * plan.size[1] + np.asarray(state.column)).tolist()
    heading, carry = np.zeros(plan.bodies, np.int8), np.zeros(plan.bodies, np.uint8)
    bodies = start.get("bodies", {})
    if not isinstance(bodies, Mapping) or set(bodies) - set(names):
        raise ConfigError(f"bodies maps {', '.join(names)} to fields, given {shorten(bodies)}")
    for i, name in enumerate(names):
        fields = bodies.get(name, {})
        if not isinstance(fields, Mapping):
            raise ConfigError(f"the fields of {name} are a mapping, given {shorten(fields)}")
        for field in fields:
            if field not in (*_OWN, *_BODY_TOLD):
                raise ConfigError(f"{name} has no {field!r};{nearest(field, _OWN)} it has "
                                  f"{', '.join(_OWN)}")  # fmt: skip
        if fields.get("position") is not None or fields.get("room") is not None:
            places[i] = _place(mission, name, fields)
        if "heading" in fields:
            known = one_of(f"the heading of {name}", fields["heading"], HEADINGS)
            heading[i] = HEADINGS.index(known)
        if fields.get("carrying"):
            things = [thing for thing in CODES if thing.startswith(("key_", "flag_"))]
            carry[i] = CODES[one_of(f"carrying of {name}", fields["carrying"], things)]
    for name, place in zip(names, places, strict=True):
        if cells[place] not in WALK:
            at = divmod(place, plan.size[1])
            raise ConfigError(f"{name} cannot be at {list(at)}, where the map has "
                              f"{levels.written(cells[None, place : place + 1])[0]}")  # fmt: skip
    if plan.conflict not in ("share", "agree") and len(set(places)) < len(places):
        raise ConfigError("bodies are on different cells")
    if plan.token and len(set(places)) > 1:
        raise ConfigError("all agents of one token are on one cell")
    if plan.exits is None and "map" in start:
        walk = solve.free(cells.reshape(plan.size))
        if not walk.any():
            raise ConfigError("the map has no floor")
    if plan.masks and "viewers" in start:
        viewer = _viewers(mission, start["viewers"])
    elif plan.masks:
        viewer %= 2
        viewer[(cells == GOAL) | (np.arange(len(cells)) == places[0])] = 2
    begun = _begun(mission, cells, viewer, places)
    doors = start.get("doors", {})
    if not isinstance(doors, Mapping):
        raise ConfigError(f"doors maps groups to numbers, given {shorten(doors)}")
    held = np.asarray(begun.doors).copy()
    for group, value in doors.items():
        index = one_of("doors", str(group), [str(k + 1) for k in range(plan.groups)])
        held[int(index) - 1] |= whole(f"doors.{group}", value, 0, 7)
    return dataclasses.replace(
        begun, heading=jnp.asarray(heading), carry=jnp.asarray(carry), doors=jnp.asarray(held)
    )


def _map(mission: Mission, lines: Any) -> np.ndarray:
    if not isinstance(lines, (list, tuple)) or not all(isinstance(line, str) for line in lines):
        raise ConfigError(f"a map is a list of lines, given {shorten(lines)}")
    grid, _ = levels.read(lines)
    if grid.shape != mission.size:
        rows, columns = mission.size
        raise ConfigError(f"the map is {rows} x {columns} here, given {grid.shape}")
    other = set(np.unique(grid).tolist()) - set(mission.plan.used)
    if other:
        raise ConfigError(f"{levels.written(np.array([sorted(other)]))[0]} cannot be in this field")
    return grid


def _rooms(mission: Mission, rooms: Any) -> np.ndarray:
    plan = mission.plan
    if not isinstance(rooms, Mapping) or set(rooms) != set(plan.room_names):
        raise ConfigError(f"rooms maps {', '.join(plan.room_names)} to what is there")
    allowed = [name for name, code in CODES.items() if code in plan.used]
    found = [CODES[one_of(f"rooms.{name}", rooms[name], allowed)] for name in plan.room_names]
    return np.array(found, np.uint8)


def _viewers(mission: Mission, lines: Any) -> np.ndarray:
    rows, columns = mission.size
    fine = (
        isinstance(lines, (list, tuple)) and [len(str(line)) for line in lines] == [columns] * rows
    )
    if not fine or set("".join(lines)) - set("012"):
        raise ConfigError(f"viewers are {rows} lines of {columns} digits 0, 1 or 2 (both)")
    return np.array([int(mark) for line in lines for mark in line], np.uint8)


def _place(mission: Mission, name: str, fields: Mapping[str, Any]) -> int:
    plan = mission.plan
    if plan.exits is not None:
        room = one_of(f"the room of {name}", str(fields.get("room")), plan.room_names)
        return plan.room_names.index(room)
    at = fields["position"]
    if not isinstance(at, (list, tuple)) or len(at) != 2:
        raise ConfigError(f"the position of {name} is [row, column], given {shorten(at)}")
    rows, columns = mission.size
    what = f"the position of {name}"
    return whole(what, at[0], 0, rows - 1) * columns + whole(what, at[1], 0, columns - 1)
