"""Questions about what agents cannot see of a mission (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.probes import NOT_KNOWN, Question
from manyhands.envs.mission import observe as views
from manyhands.envs.mission.field import observe as field_views
from manyhands.envs.mission.field.events import body_name
from manyhands.envs.mission.field.look import look_of
from manyhands.envs.mission.field.state import COLUMNS, HEADINGS, ROWS, WALL
from manyhands.envs.mission.warehouse import observe as warehouse_views

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

_ROWS = ("north of you", "south of you", "in your row")
_COLUMNS = ("west of you", "east of you", "in your column")
_AWAY = "off the field"
_CELLS = ("free", "a wall", NOT_KNOWN)


def questions(mission: Mission, state: Any, agent: int) -> list[Question]:
    """On which side of the agent each other body is: of those in view it knows that. Where each of
    two sees a half of a maze, whether the cells around the token are free. Where everybody sees
    everything, and from off the field, there are no questions."""
    if mission.kind == "field" and mission.plan.masks:
        return _walls(mission, state, agent)
    names = mission.agents
    if mission.kind == "field":
        plan = mission.plan
        if plan.radius is None:
            return []
        seen = field_views.sees(plan, state)
        names = tuple(body_name(plan, number) for number in range(plan.bodies))
    elif mission.kind == "warehouse":
        seen = warehouse_views.sees(mission, state)
    else:
        seen = views.sees_players(mission, state)
    return _sides(state, agent, names, np.asarray(seen)[agent].tolist())


def _sides(state: Any, agent: int, names: tuple[str, ...], seen: list[bool]) -> list[Question]:
    rows, columns = np.asarray(state.row).tolist(), np.asarray(state.column).tolist()
    found: list[Question] = []
    if rows[agent] < 0:
        return found
    for number, name in enumerate(names):
        if number == agent:
            continue
        for at, sides in ((rows, _ROWS), (columns, _COLUMNS)):
            true = _AWAY if rows[number] < 0 else sides[_side(at[number] - at[agent])]
            text = f"Is {name} {sides[0]}, {sides[1]} or {sides[2]}?"
            mine = true if seen[number] else NOT_KNOWN
            found.append(Question(text, (*sides, _AWAY, NOT_KNOWN), mine, true, "place"))
    return found


def _side(offset: int) -> int:
    """Which of three sides: less, more, or the same."""
    return 0 if offset < 0 else 1 if offset > 0 else 2


def _walls(mission: Mission, state: Any, agent: int) -> list[Question]:
    """In the rows and columns, and with the ways, of the agent, who may see the maze turned."""
    plan, look = mission.plan, look_of(mission, state, agent)
    cells = np.asarray(state.cells).reshape(plan.size)
    if plan.turned[agent]:
        cells = cells[::-1, ::-1]
    found = []
    for way, name in enumerate(HEADINGS):
        row, column = look.own.row + ROWS[way], look.own.column + COLUMNS[way]
        if not (0 <= row < plan.size[0] and 0 <= column < plan.size[1]):
            continue
        true = _CELLS[int(cells[row, column] == WALL)]
        mine = true if look.cells[row, column] >= 0 else NOT_KNOWN
        text = f"What is {name} of the token?"
        found.append(Question(text, _CELLS, mine, true, "walls"))
    return found
