"""Warehouses as data: the fields of a scenario, how they are checked, the published names, and the
map.

The maps are those of Papoudakis et al., "Benchmarking Multi-Agent Deep Reinforcement Learning
Algorithms in Cooperative Tasks" (2021), as the package `rware` 2.0.0 builds them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manyhands.core.config import one_of, whole
from manyhands.core.env import ConfigError, shorten
from manyhands.envs.mission.warehouse.state import (
    COLUMNS,
    MOST_GOALS,
    MOST_ROBOTS,
    MOST_SIDE,
    MOST_SIGHT,
    REWARDS,
    ROWS,
)

STAGES = ("drives", "loads", "deliveries")
CONFLICT = "chain"
WAY, RACK, GOAL = ".", "x", "g"

_MOST_BLOCKS, _MOST_HEIGHT, _MOST_REQUESTS = (4, 9), 15, 64


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


def _or_none(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


# The fields of a scenario as JSON Schema; `check` also refuses those that do not fit each other.
FIELDS: dict[str, Any] = {
    "name": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"},
    "title": {"type": "string"},
    "stages": {"const": list(STAGES)},
    "conflict": {"const": CONFLICT},
    "blocks": {
        "type": "array",
        "prefixItems": [_whole(1, _MOST_BLOCKS[0]), {"enum": [1, 3, 5, 7, 9]}],
        "items": False,
        "minItems": 2,
        "maxItems": 2,
    },
    "column_height": _whole(1, _MOST_HEIGHT),
    "map": _or_none({"type": "array", "items": {"type": "string", "pattern": "^[.xgXG]+$"}}),
    "players": _whole(1, MOST_ROBOTS),
    "requests": _or_none(_whole(1, _MOST_REQUESTS)),
    "reward": {"enum": list(REWARDS)},
    "sight": _whole(1, MOST_SIGHT),
    "inactivity": _or_none(_whole(1, 30_000)),
    "max_steps": _whole(1, 30_000),
}

SIZES = {"tiny": (1, 3), "small": (2, 3), "medium": (2, 5), "large": (3, 5)}
_REWARD_NAMES = {"indiv": "individual", "global": "global", "twostage": "two_stage"}
_PUBLISHED = re.compile(
    r"(?:warehouse|rware)(?:-(?P<sight>\d+)s)?-(?:(?P<size>tiny|small|medium|large)|"
    r"(?P<rows>\d+)x(?P<columns>\d+))(?:-(?P<height>\d+)h)?-(?P<players>\d+)ag"
    r"(?:-(?P<level>easy|hard)|-(?P<requests>\d+)req)?(?:-(?P<reward>indiv|global|twostage))?"
    r"(?:-v2)?"
)


def published(name: str) -> dict[str, Any] | None:
    """The fields that a published name sets, `"warehouse-tiny-2ag-hard"` or
    `"rware-2s-2x3-8h-4ag-6req-global-v2"`; None if it is no such name."""
    found = _PUBLISHED.fullmatch(name.lower())
    if not found:
        return None
    players = int(found["players"])
    blocks = SIZES.get(found["size"] or "") or (int(found["rows"]), int(found["columns"]))
    requests = {"easy": 2 * players, "hard": players // 2}.get(found["level"] or "", players)
    return {
        "blocks": list(blocks),
        "column_height": int(found["height"] or 8),
        "players": players,
        "requests": int(found["requests"] or requests),
        "reward": _REWARD_NAMES[found["reward"] or "indiv"],
        "sight": int(found["sight"] or 1),
    }


def check(full: Mapping[str, Any]) -> dict[str, Any]:
    """All fields of a scenario (besides `name`, `title`), checked.

    Raises:
        ConfigError: a field is wrong, or shelves cannot be brought to a goal.
    """
    if full["stages"] != list(STAGES):
        raise ConfigError(f"the stages of a warehouse are {list(STAGES)}, given {full['stages']!r}")
    one_of("conflict", full["conflict"], (CONFLICT,))
    blocks = full["blocks"]
    if not isinstance(blocks, (list, tuple)) or len(blocks) != 2:
        raise ConfigError(f"blocks is two numbers, rows and columns of blocks, given {blocks!r}")
    rows = whole("the rows of blocks", blocks[0], 1, _MOST_BLOCKS[0])
    columns = whole("the columns of blocks", blocks[1], 1, _MOST_BLOCKS[1])
    if columns % 2 == 0:
        raise ConfigError(
            f"the columns of blocks are odd, so that goals lie in the middle; given {columns}"
        )
    height = whole("column_height", full["column_height"], 1, _MOST_HEIGHT)
    lines = None if full["map"] is None else _lines(full["map"])
    chart = lines if lines is not None else standard(rows, columns, height)
    players = whole("players", full["players"], 1, MOST_ROBOTS)
    requests = full["requests"]
    requests = players if requests is None else requests
    requests = whole("requests", requests, 1, _MOST_REQUESTS)
    shelves = sum(line.count(RACK) for line in chart)
    if requests >= shelves:
        raise ConfigError(
            f"requests is less than the number of shelves, {shelves}, so that another can be "
            f"requested after a delivery; given {requests}"
        )
    if players > len(chart) * len(chart[0]):
        raise ConfigError(f"{players} robots have no room on {len(chart)} x {len(chart[0])} cells")
    _check_ways(chart)
    inactivity = full["inactivity"]
    return {
        "name": full["name"],
        "title": full["title"],
        "stages": list(STAGES),
        "conflict": CONFLICT,
        "blocks": [rows, columns],
        "column_height": height,
        "map": lines,
        "players": players,
        "requests": requests,
        "reward": one_of("reward", full["reward"], REWARDS),
        "sight": whole("sight", full["sight"], 1, MOST_SIGHT),
        "inactivity": None if inactivity is None else whole("inactivity", inactivity, 1, 30_000),
        "max_steps": whole("max_steps", full["max_steps"], 1, 30_000),
    }


def _lines(given: Any) -> list[str]:
    """A map as lines of `.`, `x` and `g`."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise ConfigError(f"map is a list of lines, given {shorten(given)}")
    lines = [str(line).lower() for line in given]
    wide = len(lines[0])
    for line in lines:
        wrong = sorted(set(line) - {WAY, RACK, GOAL})
        if wrong:
            raise ConfigError(
                f"a map is of {WAY} (way), {RACK} (shelf) and {GOAL} (goal), given {wrong[0]!r}"
            )
        if len(line) != wide:
            raise ConfigError(f"the lines of a map are equally long, given {wide} and {len(line)}")
    for side in (len(lines), wide):
        whole("a side of the map", side, 2, MOST_SIDE)
    goals = sum(line.count(GOAL) for line in lines)
    whole("the number of goals on the map", goals, 1, MOST_GOALS)
    return lines


def standard(rows: int, columns: int, height: int) -> list[str]:
    """The published map of blocks of shelves, two cells wide and `height` high: ways between them
    and around, two goals in the middle of the last row, and two columns of way before them."""
    deep, wide = (height + 1) * rows + 2, 3 * columns + 1
    middle = (wide // 2 - 1, wide // 2)

    def mark(y: int, x: int) -> str:
        if y == deep - 1:
            return GOAL if x in middle else WAY
        queue = y > deep - height - 3 and x in middle
        return WAY if x % 3 == 0 or y % (height + 1) == 0 or queue else RACK

    return ["".join(mark(y, x) for x in range(wide)) for y in range(deep)]


def _check_ways(lines: Sequence[str]) -> None:
    """That every shelf can be brought to a goal: a robot that carries one drives on ways."""
    reached = {(y, x) for y, line in enumerate(lines) for x, m in enumerate(line) if m == GOAL}
    open_ = list(reached)
    while open_:
        y, x = open_.pop()
        for down, across in zip(ROWS, COLUMNS, strict=True):
            at = y + down, x + across
            inside = 0 <= at[0] < len(lines) and 0 <= at[1] < len(lines[0])
            if inside and at not in reached:
                reached.add(at)
                if lines[at[0]][at[1]] == WAY:
                    open_.append(at)
    for y, line in enumerate(lines):
        for x, mark in enumerate(line):
            if mark == RACK and (y, x) not in reached:
                raise ConfigError(
                    f"the shelf at row {y}, column {x} cannot be brought to a goal over ways"
                )


def chart(scenario: Mapping[str, Any]) -> list[str]:
    """The map of a checked scenario."""
    if scenario["map"] is not None:
        return list(scenario["map"])
    rows, columns = scenario["blocks"]
    return standard(rows, columns, scenario["column_height"])


def places(lines: Sequence[str]) -> tuple[np.ndarray, tuple[int, ...]]:
    """(bool[C] the racks, the goals' cells) of a map."""
    marks = np.array([list(line) for line in lines])
    return (marks == RACK).ravel(), tuple(np.flatnonzero(marks.ravel() == GOAL).tolist())
