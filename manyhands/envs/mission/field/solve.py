"""Searches on fields, on the host: what can be reached, and in how few steps.

They check generated levels and give `optimal_steps`. Grids are arrays [rows, columns] of codes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from manyhands.envs.mission.field.state import (
    DOOR,
    GOAL,
    GROUPS,
    KEY,
    MOST_STEPS,
    PLATE,
    WALK,
    End,
    FieldState,
    Plan,
)

UNREACHED = 10_000


def free(grid: np.ndarray, doors: bool = True) -> np.ndarray:
    """bool[rows, columns]: where bodies can be; with `doors`, all doors are taken as open."""
    open_ = (grid >= DOOR) & (grid < DOOR + GROUPS)
    return np.isin(grid, WALK) | (doors & open_)


def distances(walk: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """i32[rows, columns]: steps to the nearest source, bool[rows, columns], over free cells."""
    found = np.where(sources & walk, 0, UNREACHED)
    front, step = sources & walk, 0
    while front.any():
        step += 1
        wide = np.pad(front, 1)
        near = wide[:-2, 1:-1] | wide[2:, 1:-1] | wide[1:-1, :-2] | wide[1:-1, 2:]
        front = near & walk & (found == UNREACHED)
        found[front] = step
    return found


def optimal_steps(plan: Plan, state: FieldState) -> int | None:
    """The fewest steps from a state in which the first end that can be computed is reached by
    agents who know everything and do not stand in each other's way: of "goal" (with doors for at
    most two agents, who put no key down) and "meet"; None for others, and where it cannot be
    reached."""
    if plan.exits is not None or any(team.mind for team in plan.teams):
        return None
    grid = np.asarray(state.cells).reshape(plan.size)
    for end in plan.ends:
        if end.when not in ("goal", "meet"):
            continue
        team = plan.teams[end.team]
        rows = slice(team.first, team.first + team.size)
        places = list(zip(np.asarray(state.row)[rows].tolist(),
                          np.asarray(state.column)[rows].tolist(), strict=True))  # fmt: skip
        if end.when == "meet":
            return meeting(grid, places)
        if plan.token:
            places = places[:1]
        opened = [g for g in range(plan.groups) if int(state.doors[g]) & ~1]
        carried = np.asarray(state.carry)[rows].tolist()
        return to_goal(grid, places, end, opened, carried)
    return None


def meeting(grid: np.ndarray, places: Sequence[tuple[int, int]]) -> int | None:
    """The fewest steps until all are on one cell."""
    walk = free(grid, doors=False)
    worst = np.zeros(grid.shape, int)
    for place in places:
        source = np.zeros(grid.shape, bool)
        source[place] = True
        worst = np.maximum(worst, distances(walk, source))
    best = int(worst[walk].min())
    return best if best < UNREACHED else None


def to_goal(
    grid: np.ndarray,
    places: Sequence[tuple[int, int]],
    end: End,
    opened: Sequence[int] = (),
    carried: Sequence[int] = (),
) -> int | None:
    """The fewest steps until all (or any) are on goals."""
    doored = np.isin(grid, range(DOOR, DOOR + GROUPS)).any()
    if not doored:
        away = distances(free(grid), grid == GOAL)
        steps = [int(away[place]) for place in places]
        best = max(steps) if end.all else min(steps)
        return best if best < UNREACHED else None
    if len(places) > 2:
        return None
    return _joint(grid, places, end.all, opened, carried or (0,) * len(places))


def _joint(
    grid: np.ndarray,
    places: Sequence[tuple[int, int]],
    both: bool,
    opened: Sequence[int],
    carried: Sequence[int],
) -> int | None:
    """Breadth-first search of one or two agents with keys, plates and doors. Its front is, for
    each holding of the keys, bool[C, C] of the places of both (bool[C, 1] of one)."""
    cells = grid.ravel()
    count, agents = len(cells), len(places)
    lying = {int(k): int(cells[k]) - KEY for k in np.flatnonzero((cells >= KEY)
             & (cells < KEY + GROUPS))}  # fmt: skip
    # Of each key: -1 lies, 0 and 1 with an agent, 2 used.
    keys = [*lying.items()]
    hands = [(-1, carry - KEY) for carry in carried if carry]
    keys += hands
    start_held = tuple(
        [-1] * len(lying) + [i for i, carry in enumerate(carried) if carry]
    )  # fmt: skip
    plates = [cells == PLATE + group for group in range(GROUPS)]
    goal = cells == GOAL
    at = [int(y * grid.shape[1] + x) for y, x in places]
    first = np.zeros((count, count if agents == 2 else 1), bool)
    first[at[0], at[1] if agents == 2 else 0] = True
    near = _near(grid)
    aims = goal[:, None] & goal[None] if both else goal[:, None] | goal[None]
    if agents == 1:
        aims = goal[:, None]
    front = {start_held: first}
    known = {start_held: first.copy()}
    for step in range(MOST_STEPS):
        if any((places_ & aims).any() for places_ in front.values()):
            return step
        new: dict[tuple[int, ...], np.ndarray] = {}
        for held, there in front.items():
            for after, found in _after(held, there, keys, cells, near, plates, opened):
                old = known.setdefault(after, np.zeros(first.shape, bool))
                fresh = found & ~old
                if fresh.any():
                    old |= fresh
                    new[after] = new.get(after, np.zeros(first.shape, bool)) | fresh
        if not new:
            return None
        front = new
    return None


def _near(grid: np.ndarray) -> np.ndarray:
    """bool[C, C]: cells that are neighbours, or the same."""
    y, x = (part.ravel() for part in np.indices(grid.shape))
    return np.asarray(np.abs(y[:, None] - y) + np.abs(x[:, None] - x) <= 1)


def _after(
    held: tuple[int, ...],
    there: np.ndarray,
    keys: Sequence[tuple[int, int]],
    cells: np.ndarray,
    near: np.ndarray,
    plates: Sequence[np.ndarray],
    opened: Sequence[int],
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """(holding, places) one step later."""
    agents = 2 if there.shape[1] > 1 else 1
    used = {group for (_, group), who in zip(keys, held, strict=True) if who == 2} | {*opened}
    stands = [
        plate[:, None] | (plate[None] if agents == 2 else np.zeros((1, 1), bool))
        for plate in plates
    ]
    for pressed in itertools.product((False, True), repeat=GROUPS):
        now = there.copy()
        for group, press in enumerate(pressed):
            now &= stands[group] == press
        if not now.any():
            continue
        is_open = {group for group in range(GROUPS) if pressed[group] or group in used}
        walk = np.isin(cells, WALK)
        for group in is_open:
            walk |= cells == DOOR + group
        usual = near & (walk[None] | np.eye(len(cells), dtype=bool))
        options: list[list[tuple[int | None, np.ndarray]]] = []
        for agent in range(agents):
            ways: list[tuple[int | None, np.ndarray]] = [(None, usual)]
            for k, (_, group) in enumerate(keys):
                if held[k] == agent and group not in is_open:
                    ways.append((k, near & (cells == DOOR + group)[None]))
            options.append(ways)
        for chosen in itertools.product(*options):
            counts = chosen[0][1].T.astype(np.float32) @ now.astype(np.float32)
            if agents == 2:
                counts = counts @ chosen[1][1].astype(np.float32)
            spent = list(held)
            for turned, _ in chosen:
                if turned is not None:
                    spent[turned] = 2
            yield from _picked(tuple(spent), counts > 0, keys, agents)


def _picked(
    held: tuple[int, ...], moved: np.ndarray, keys: Sequence[tuple[int, int]], agents: int
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Split places by the keys that are taken on them."""
    todo = [(held, moved)]
    for k, (cell, _) in enumerate(keys):
        later = []
        for hands, places in todo:
            if hands[k] != -1:
                later.append((hands, places))
                continue
            rest = places.copy()
            for agent in range(agents):
                if agent in hands:
                    continue
                on = np.zeros(places.shape, bool)
                index = (cell, slice(None)) if agent == 0 else (slice(None), cell)
                on[index] = rest[index]
                rest &= ~on
                if on.any():
                    later.append(((*hands[:k], agent, *hands[k + 1 :]), on))
            later.append((hands, rest))
        todo = later
    yield from ((hands, places) for hands, places in todo if places.any())
