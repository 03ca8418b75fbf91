"""Questions about what a player knows of its team (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyhands.core.probes import NOT_KNOWN, Question, Ranges
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.goals import Goal
from manyhands.envs.craftworld.setting import UNKNOWN
from manyhands.envs.craftworld.state import HERE, CraftState
from manyhands.envs.craftworld.words import Observation, article, observe, spaced

if TYPE_CHECKING:
    from manyhands.envs.craftworld.env import CraftWorld

_ROWS: tuple[str, ...] = ("above you", "below you", "in your row")
_COLUMNS: tuple[str, ...] = ("left of you", "right of you", "in your column")
_FAR = 8  # steps
_SOUGHT = ("water", "tree", "stone", "coal", "iron", "diamond")
_YES_NO = ("yes", "no", NOT_KNOWN)
_CONDITIONS: tuple[str, ...] = ("up and awake", "asleep", "down", "dead", NOT_KNOWN)


def questions(world: CraftWorld, state: CraftState, agent: int) -> list[Question]:
    """Whether there is coal, water and the like near by (`map`), which a player knows as far as it
    sees; what each other player carries (`inventory`), which it does not know. With `sees="near"`,
    how each other player is, on which side it is, and what it asks for: of those in view a player
    knows it. With `told="first"` and several goals, what the goal is."""
    seen, _ = observe(world, state, agent)
    found = [*_map(world, state, agent, seen), *_inventories(world, state, agent)]
    if world.sees == "near":
        places = np.asarray(state.position).tolist()
        gifts = tuple(spaced(name) for name in world.craft.gifts)
        requests = ("nothing", *gifts, NOT_KNOWN)
        for mate in seen.mates:
            n, name = mate.player, world.agents[mate.player]
            known = mate.alive != UNKNOWN
            now = int(state.alive[n]), bool(state.asleep[n])
            text = f"How is {name}?"
            mine = _condition(mate.alive, mate.asleep) if known else NOT_KNOWN
            found.append(Question(text, _CONDITIONS, mine, _condition(*now), "condition"))
            # The dead are nowhere, and ask for nothing; who is out of view may be one of them.
            rows, columns = (places[n][k] - places[agent][k] for k in range(2))
            for sides, offset, own in (
                (_ROWS, rows, mate.rows),
                (_COLUMNS, columns, mate.columns),
            ):
                options = (*sides, "nowhere", NOT_KNOWN)
                true = sides[_side(offset)] if now[0] != rl.DEAD else "nowhere"
                mine = sides[_side(own)] if known else NOT_KNOWN
                text = f"Is {name} {sides[0]}, {sides[1]} or {sides[2]}?"
                found.append(Question(text, options, mine, true, "place"))
            true = requests[int(state.request[n])] if now[0] != rl.DEAD else "nothing"
            mine = requests[mate.request] if known else NOT_KNOWN
            found.append(Question(f"What does {name} ask for?", requests, mine, true, "request"))
    if world.told == "first" and len(world.goals) > 1:
        true = str(Goal.of_row(np.asarray(state.goal), world.craft))
        true = true if true in world.goals else "another one"  # given to `reset`
        mine = true if seen.goal.kind else NOT_KNOWN
        options = (*world.goals, "another one", NOT_KNOWN)
        found.append(Question("What is the goal of the team?", options, mine, true, "goal"))
    return found


def _map(world: CraftWorld, state: CraftState, agent: int, seen: Observation) -> list[Question]:
    """Materials within `_FAR` steps, counted over rows and columns: around the view lies what is
    not known, unless the edge of the world is in it."""
    ground = np.asarray(state.map).reshape(world.height, world.width)
    row, column = np.asarray(state.position)[agent].tolist()
    rows, columns = np.indices((2 * _FAR + 1,) * 2) - _FAR
    within = abs(rows) + abs(columns) <= _FAR
    inside = (rows + row >= 0) & (rows + row < world.height)
    inside &= (columns + column >= 0) & (columns + column < world.width)
    there = np.full(rows.shape, rl.VOID)
    there[inside] = ground[rows[inside] + row, columns[inside] + column]
    # What is known: the view, and all beyond an edge of the world in it.
    view = (abs(rows) <= HERE[0]) & (abs(columns) <= HERE[1])
    known = view.copy()
    for axis, (offset, half) in enumerate(zip((rows, columns), HERE, strict=True)):
        lane = np.take(seen.cells, HERE[1 - axis], axis=1 - axis)
        for sign in (-1, 1):
            edges = np.flatnonzero(lane[half::sign] == rl.VOID)
            if len(edges):
                known |= sign * offset >= edges[0]
    found = []
    for name in _SOUGHT:
        code = rl.MATERIALS.index(name)
        if code not in world.codes:
            continue
        true = bool((within & (there == code)).any())
        if (seen.cells == code)[within[view].reshape(seen.cells.shape)].any():
            mine = "yes"
        else:
            mine = NOT_KNOWN if (within & ~known).any() else "no"
        text = f"Is there {article(name)} within {_FAR} steps of you, counting rows and columns?"
        found.append(Question(text, _YES_NO, mine, "yes" if true else "no", "map"))
    return found


def _inventories(world: CraftWorld, state: CraftState, agent: int) -> list[Question]:
    found = []
    options: tuple[str, ...]
    pockets, ranges = np.asarray(state.inventory).tolist(), Ranges(0, rl.MOST)
    for n, name in enumerate(world.agents):
        if n == agent:
            continue
        for item, number in zip(world.contents.items, pockets[n], strict=True):
            if item in world.contents.recipes:
                text, options = f"Does {name} carry {article(spaced(item))}?", _YES_NO
                true = "yes" if number else "no"
            else:
                text = f"How many units of {spaced(item)} does {name} carry?"
                options, true = ranges.options, ranges.of(number)
            found.append(Question(text, options, NOT_KNOWN, true, "inventory"))
    return found


def _condition(alive: int, asleep: bool) -> str:
    if alive == rl.DEAD:
        return "dead"
    if alive == rl.DOWN:
        return "down"
    return "asleep" if asleep else "up and awake"


def _side(offset: int) -> int:
    """Which of three sides: less, more, or the same."""
    return 0 if offset < 0 else 1 if offset > 0 else 2
