"""Levels of fields: maps and rooms as arrays, and generators of maps.

A generator draws a map from a NumPy generator; maps that cannot be played are drawn again. Level
`k` of a scenario is the map of the seed `level_seed + k`, whatever the other levels are, so that
ranges of seeds are sets for training and for testing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from manyhands.core.env import ConfigError
from manyhands.envs.mission.field import solve
from manyhands.envs.mission.field.state import (
    CELLS,
    FLOOR,
    GOAL,
    LAND,
    MARKS,
    MOST_CELLS,
    MOST_SIDE,
    SOIL,
    STARTS,
    End,
    Team,
)

WAYS = ("north", "south", "west", "east")
SCATTERED = "ob+*,%cdefuvwklmM"  # marks that generators put on floor
_ATTEMPTS = 400


class Charts(NamedTuple):
    """The levels of a scenario.

    Attributes:
        size: rows and columns.
        cells: u8[L, C].
        starts: bool[L, M, C].
        exits, gates: see `Plan`; None for grids.
        room_names: of rooms.
    """

    size: tuple[int, int]
    cells: np.ndarray
    starts: np.ndarray
    exits: np.ndarray | None
    gates: np.ndarray | None
    room_names: tuple[str, ...]


def charts(full: Mapping[str, Any], teams: Sequence[Team]) -> Charts:
    """The levels of a scenario.

    Raises:
        ConfigError: a map does not fit or cannot be played, or none was found that can.
    """
    if full["rooms"]:
        return _rooms(full["rooms"], teams)
    shared = full["conflict"] in ("share", "agree")
    if full["map"]:
        grid, marked = read(full["map"])
        starts = _starts(grid, marked, teams)
        problem = unplayable(full, teams, grid, starts, shared)
        if problem:
            raise ConfigError(f"map: {problem}")
        found = [(grid, starts)]
    else:
        found = [generate(full, teams, full["level_seed"] + k) for k in range(full["levels"])]
    grids = np.stack([grid for grid, _ in found])
    starts = np.stack([starts for _, starts in found])
    count = len(found)
    return Charts(
        grids.shape[1:], grids.reshape(count, -1), starts.reshape(count, starts.shape[1], -1),
        None, None, (),
    )  # fmt: skip


def read(lines: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """u8[rows, columns] codes of a map, and i8[rows, columns] the number of the team that starts on
    a cell, or -1. Starts are on land of their own where there is land, else on floor.

    Raises:
        ConfigError: lines differ in length, or a mark is unknown.
    """
    widths = {len(line) for line in lines}
    if len(widths) != 1:
        raise ConfigError(f"the lines of map have one length, given {sorted(widths)}")
    (width,) = widths
    if not 1 <= width <= MOST_SIDE or width * len(lines) > MOST_CELLS or width * len(lines) < 2:
        raise ConfigError(
            f"a map has at most {MOST_SIDE} columns and 2 to {MOST_CELLS} cells, given "
            f"{len(lines)} x {width}"
        )
    grid = np.zeros((len(lines), width), np.uint8)
    marked = np.full(grid.shape, -1, np.int8)
    land = any(mark in line for line in lines for mark in ":;")
    for y, line in enumerate(lines):
        for x, mark in enumerate(line):
            if mark in STARTS:
                team = STARTS.index(mark)
                grid[y, x] = LAND + team if land and team < 2 else FLOOR
                marked[y, x] = team
            elif mark in MARKS:
                grid[y, x] = MARKS[mark]
            else:
                known = "".join((*MARKS, *STARTS))
                raise ConfigError(
                    f"map: row {y}, column {x} is {mark!r}; marks are {known} (see the docs)"
                )
    return grid, marked


def written(grid: np.ndarray) -> list[str]:
    """The lines of a map, without starts."""
    return ["".join(CELLS[code].mark for code in row) for row in grid.tolist()]


def _starts(grid: np.ndarray, marked: np.ndarray, teams: Sequence[Team]) -> np.ndarray:
    """bool[M, rows, columns]: where bodies may start: on the marks of their team, or, if there are
    none, on land of their own, or anywhere on floor and soil."""
    found = []
    for k, team in enumerate(teams):
        places = marked == k
        if not places.any() and k < 2:
            places = grid == LAND + k
        if not places.any():
            places = np.isin(grid, (FLOOR, SOIL)) & (marked == -1)
        found += [places] * team.size
    return np.stack(found)


def unplayable(
    full: Mapping[str, Any],
    teams: Sequence[Team],
    grid: np.ndarray,
    starts: np.ndarray,
    shared: bool,
) -> str:
    """Why a map cannot be played; empty if it can."""
    for team in teams:
        room = int(starts[team.first].sum())
        if room < (1 if shared else team.size):
            return f"{team.size} {team.name} have {room} cells to start on"
    places = int(starts.any(0).sum())
    if not shared and places < len(starts):
        return f"{len(starts)} bodies have {places} cells to start on"
    walk = solve.free(grid)
    away = solve.distances(walk, _one(starts[0]))
    if (away[starts.any(0)] == solve.UNREACHED).any():
        return "bodies start in places that no way connects"
    for end in full["ends"]:
        if end["when"] != "goal":
            continue
        if not (grid == GOAL).any():
            return "there is no goal (X) to reach"
        team = next(team for team in teams if team.name == end["team"])
        begin = [tuple(map(int, place)) for place in np.argwhere(starts[team.first])]
        if (away[grid == GOAL] == solve.UNREACHED).all():
            return "no goal can be reached"
        count = 1 if full["conflict"] == "agree" else team.size
        if count <= 2:
            pair = (begin * 2)[:count]
            rule = End("goal", 0, end["all"], 1, 0, False, -1)
            if solve.to_goal(grid, pair, rule) is None:  # type: ignore[arg-type]
                return "the goal cannot be reached through the doors"
    return ""


def _one(places: np.ndarray) -> np.ndarray:
    """The first place alone."""
    found = np.zeros(places.shape, bool)
    found[tuple(np.argwhere(places)[0])] = True
    return found


# ---- rooms ---------------------------------------------------------------------------------------


def _rooms(rooms: Mapping[str, Any], teams: Sequence[Team]) -> Charts:
    """A graph of rooms: one row, a column for each room."""
    names = tuple(rooms["exits"])
    index = {name: k for k, name in enumerate(names)}
    count = len(names)
    if not 2 <= count <= MOST_SIDE:
        raise ConfigError(f"rooms.exits has 2 to {MOST_SIDE} rooms, given {count}")

    def room(name: Any, where: str) -> int:
        if str(name) not in index:
            raise ConfigError(f"{where} names room {name!r}; there are {', '.join(names)}")
        return index[str(name)]

    exits, gates = np.zeros((count, count), bool), np.zeros((count, count), np.uint8)
    for name, others in rooms["exits"].items():
        for other in others:
            exits[index[name], room(other, f"rooms.exits.{name}")] = True
    for k, (one, other, group) in enumerate(rooms.get("doors", [])):
        a, b = room(one, f"rooms.doors[{k}]"), room(other, f"rooms.doors[{k}]")
        if not isinstance(group, int) or not 1 <= group <= 3:
            raise ConfigError(f"rooms.doors[{k}] is [room, room, 1 to 3], given group {group!r}")
        if not (exits[a, b] or exits[b, a]):
            raise ConfigError(f"rooms.doors[{k}] is between rooms without an exit, {one}, {other}")
        gates[a, b] = gates[b, a] = group
    cells = np.full((1, count), FLOOR, np.uint8)
    for name, mark in rooms.get("marks", {}).items():
        if mark not in "XMrst":
            raise ConfigError(
                f"rooms.marks.{name} is X (goal), M (generator), r, s or t (button of door 1, 2 or "
                f"3), given {mark!r}"
            )
        cells[0, room(name, "rooms.marks")] = MARKS[mark]
    starts = np.zeros((1, sum(team.size for team in teams), count), bool)
    for team in teams:
        given = rooms["starts"].get(team.name)
        if given is None or len(given) != team.size:
            raise ConfigError(
                f"rooms.starts.{team.name} has a room for each of {team.size}, given {given!r}"
            )
        for k, name in enumerate(given):
            starts[0, team.first + k, room(name, f"rooms.starts.{team.name}")] = True
    return Charts((1, count), cells, starts, exits, gates, names)


# ---- generators ----------------------------------------------------------------------------------


def generate(
    full: Mapping[str, Any], teams: Sequence[Team], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """u8[rows, columns] and the starts, bool[M, rows, columns], of the map of a seed.

    Raises:
        ConfigError: none was found that can be played.
    """
    knobs = json.dumps([full["generator"], full["size"], full["conflict"], full["ends"]])
    return _generated(knobs, tuple(teams), seed)


@functools.lru_cache(maxsize=4096)
def _generated(knobs: str, teams: tuple[Team, ...], seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator, size, conflict, ends = json.loads(knobs)
    full = {"conflict": conflict, "ends": ends}
    draws = np.random.default_rng([7, seed])
    problem = ""
    for _ in range(_ATTEMPTS):
        lines = KINDS[generator["kind"]](draws, size[0], size[1], generator)
        if lines is None:
            problem = "nothing of that density and length is found"
            continue
        grid, marked = read(lines)
        starts = _starts(grid, marked, teams)
        problem = unplayable(full, teams, grid, starts, conflict in ("share", "agree"))
        if not problem:
            return grid, starts
    raise ConfigError(
        f"generator: no map of seed {seed} can be played in {_ATTEMPTS} attempts ({problem}); "
        "give more size or less density"
    )


Lines = list[str] | None


def _open(draws: np.random.Generator, rows: int, columns: int, knobs: Mapping[str, Any]) -> Lines:
    """Walls anywhere, with all free cells connected; then what is scattered."""
    grid = _walls(draws, (rows, columns), knobs.get("density", 0.1))
    if grid is None:
        return None
    return _scattered(draws, grid, knobs)


def _walls(draws: np.random.Generator, size: tuple[int, int], density: float) -> Any:
    """Marks [rows, columns], of walls and floor that is connected; None if it is not."""
    grid = np.where(draws.random(size) < density, "#", ".")
    floor = grid == "."
    if not floor.any() or (solve.distances(floor, _one(floor))[floor] == solve.UNREACHED).any():
        return None
    return grid


def _scattered(draws: np.random.Generator, grid: np.ndarray, knobs: Mapping[str, Any]) -> Lines:
    for mark, count in knobs.get("scatter", {}).items():
        places = np.argwhere(grid == ".")
        if len(places) <= count:
            return None
        for y, x in places[draws.permutation(len(places))[:count]]:
            grid[y, x] = mark
    return ["".join(row) for row in grid.tolist()]


def _maze(draws: np.random.Generator, rows: int, columns: int, knobs: Mapping[str, Any]) -> Lines:
    """Walls anywhere but in two corners, the start and the goal, whose distance is in
    `shortest`."""
    grid = np.where(draws.random((rows, columns)) < knobs.get("density", 0.3), "#", ".")
    corners = [(0, 0), (0, columns - 1), (rows - 1, 0), (rows - 1, columns - 1)]
    start, goal = (corners[k] for k in draws.permutation(4)[:2])
    grid[start], grid[goal] = "S", "X"
    source = np.zeros(grid.shape, bool)
    source[start] = True
    low, high = knobs.get("shortest", (1, rows * columns))
    if not low <= solve.distances(grid != "#", source)[goal] <= high:
        return None
    return ["".join(row) for row in grid.tolist()]


def _doors(draws: np.random.Generator, rows: int, columns: int, knobs: Mapping[str, Any]) -> Lines:
    """Chambers in a row, a door in each wall between them: opened by a key that lies before it, or
    held open by plates, one on each side. All start in the first chamber; the goal is in the
    last."""
    kinds = knobs.get("doors", ["key", "plate"])
    if columns < 3 * (len(kinds) + 1):
        return None
    grid = np.where(draws.random((rows, columns)) < knobs.get("density", 0.1), "#", ".")
    bounds = [round((k + 1) * columns / (len(kinds) + 1)) - 1 for k in range(len(kinds))]
    edges = [-1, *bounds, columns]
    for k, (kind, x) in enumerate(zip(kinds, bounds, strict=True)):
        grid[:, x] = "#"
        y = int(draws.integers(rows))
        grid[y, x] = "123"[k]
        grid[y, x - 1] = grid[y, x + 1] = "."
        before, after = range(edges[k] + 1, x), range(x + 1, edges[k + 2])
        marks = [("klm"[k], before)] if kind == "key" else [("uvw"[k], before), ("uvw"[k], after)]
        for mark, span in marks:
            if not _put(draws, grid, span, mark):
                return None
    if not _put(draws, grid, range(edges[-2] + 1, columns), "X"):
        return None
    for _ in range(2):
        if not _put(draws, grid, range(edges[1]), "S"):
            return None
    lines = ["".join(row) for row in grid.tolist()]
    if "plate" in kinds and _alone(lines):
        return None  # next to its door, a plate helps who stands on it
    return lines


def _alone(lines: Sequence[str]) -> bool:
    """Whether one alone can reach the goal."""
    grid, marked = read(lines)
    first = tuple(map(int, np.argwhere(marked == 0)[0]))
    rule = End("goal", 0, True, 1, 0, False, -1)
    return solve.to_goal(grid, [first], rule) is not None  # type: ignore[list-item]


def _put(draws: np.random.Generator, grid: np.ndarray, span: range, mark: str) -> bool:
    """Put a mark on floor in some columns; False if there is none."""
    places = [(y, x) for y in range(len(grid)) for x in span if grid[y, x] == "."]
    if not places:
        return False
    grid[places[int(draws.integers(len(places)))]] = mark
    return True


def _arena(draws: np.random.Generator, rows: int, columns: int, knobs: Mapping[str, Any]) -> Lines:
    """Two halves that mirror each other, each with a flag in its middle row near its edge."""
    half = columns // 2
    if columns % 2 or half < 3:
        return None
    left = np.where(draws.random((rows, half)) < knobs.get("density", 0.1), "#", ":")
    middle = rows // 2
    left[middle, 0] = "P"
    left[max(middle - 1, 0) : middle + 2, 1] = ":"
    right = left[::-1, ::-1].copy()
    right[right == ":"] = ";"
    right[right == "P"] = "Q"
    return ["".join(row) for row in np.concatenate([left, right], axis=1).tolist()]


KINDS: dict[str, Callable[[np.random.Generator, int, int, Mapping[str, Any]], Lines]] = {
    "open": _open,
    "maze": _maze,
    "doors": _doors,
    "arena": _arena,
}
