"""What one agent sees of a field, on the host: its row of the observation, taken apart.

All texts are made of it, so that they tell what the vector tells. Rows and columns are as the agent
counts them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from manyhands.core.layout import Layout
from manyhands.envs.mission.field import observe, rules
from manyhands.envs.mission.field.events import body_name, knows
from manyhands.envs.mission.field.places import seen
from manyhands.envs.mission.field.state import (
    CAUGHT,
    CELLS,
    COLUMNS,
    FLAG,
    HEADINGS,
    KEY,
    LETTERS,
    ROWS,
    FieldState,
    Plan,
)

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission


class Body(NamedTuple):
    """A body in view, or the agent itself; `row` is -1 for who is not on the field."""

    number: int
    row: int
    column: int
    heading: int
    carry: int
    out: int
    cool: int
    ago: int


class Look(NamedTuple):
    """What an agent sees.

    Attributes:
        own: the agent itself.
        others: the other bodies in view, in index order.
        left: steps left.
        doors: whether each is open.
        scores: flags of each team.
        work: steps that each generator was worked on.
        cells: codes, i16[rows, columns]; -1 not in view.
        open: legal actions.
    """

    own: Body
    others: list[Body]
    left: int
    doors: list[bool]
    scores: list[int]
    work: list[int]
    cells: np.ndarray
    open: list[int]


class Seen(NamedTuple):
    """What all agents see, as arrays."""

    rows: Any
    legal: Any
    knows: Any
    cells: Any


@functools.lru_cache(maxsize=64)
def _eyes(mission: Mission) -> Any:
    """One compiled function for all that texts need of a state."""

    def look(state: FieldState) -> Seen:
        return Seen(
            observe.vector(mission, state),
            rules.legal(mission, state),
            knows(mission.plan, state),
            seen(mission.plan, state),
        )

    return jax.jit(look)


def all_see(mission: Mission, state: FieldState) -> Seen:
    """What all agents see."""
    found: Seen = jax.tree_util.tree_map(np.asarray, _eyes(mission.with_detail("normal"))(state))
    return found


@functools.lru_cache(maxsize=64)
def _layout(mission: Mission) -> Layout:
    return observe.codes(mission)


def look_of(mission: Mission, state: FieldState, agent: int) -> Look:
    """What an agent sees."""
    plan, layout = mission.plan, _layout(mission.with_detail("normal"))
    everything = all_see(mission, state)
    row = everything.rows[agent]

    def part(name: str) -> list[int]:
        found: list[int] = row[layout[name]].tolist() if name in layout else []
        return found

    own = _body(plan, agent, part("self"))
    listed = np.array(part("others"), int).reshape(-1, 2 + len(plan.features))
    numbers = [k for k in range(plan.bodies) if k != agent]
    others = [_body(plan, k, values.tolist()) for k, values in zip(numbers, listed, strict=False)]
    return Look(
        own,
        [body for body in others if body.row >= 0],
        part("clock")[0],
        [bool(door) for door in part("doors")],
        part("scores"),
        part("work"),
        row[layout["cells"]].reshape(plan.size),
        np.flatnonzero(everything.legal[agent]).tolist(),
    )


def _body(plan: Plan, number: int, values: list[int]) -> Body:
    known = dict(zip(("row", "column", *plan.features), values, strict=True))
    rest = [known.get(name, 0) for name in ("heading", "carry", "out", "cool", "ago")]
    return Body(number, known["row"], known["column"], *rest)


# ---- words ---------------------------------------------------------------------------------------


def cell_words(mission: Mission, code: int) -> str:
    """What is on a cell, in words."""
    plan = mission.plan
    names = {f"team_{k}": team.name for k, team in enumerate(plan.teams)}
    names |= {f"agent_{k}": name for k, name in enumerate(mission.agents)}
    return CELLS[code].words.format_map(_Known(names))


class _Known(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key


def place(plan: Plan, row: int, column: int) -> str:
    """A cell in words."""
    if plan.exits is not None:
        return f"room {plan.room_names[column]}"
    return f"row {row}, column {column}"


def body_words(mission: Mission, look: Look, body: Body, you: bool) -> str:
    """Where a body is and how it is: "at row 1, column 2, on soil, facing north"."""
    plan = mission.plan
    if body.row < 0 and body.out == CAUGHT:
        return "out for good"
    parts = [f"out, and back at the start in {steps(body.out)} or once it is free"]
    if body.row >= 0:
        where = place(plan, body.row, body.column)
        code = int(look.cells[body.row, body.column])
        on = "on" if plan.exits is None else "with"
        parts = [f"{'in' if plan.exits is not None else 'at'} {where}"]
        parts += [f"{on} {cell_words(mission, code)}"] * (code > 0)
    if "heading" in plan.features:
        parts.append(f"facing {HEADINGS[body.heading]}")
    if "carry" in plan.features:
        parts.append(f"carrying {carry_words(mission, body.carry)}")
    if body.out and body.row >= 0:
        parts.append(f"unable to act for {steps(body.out)}")
    if body.cool:
        beam = beam_words(plan, body.number, "your" if you else "its")
        parts.append(f"able to {beam} again in {steps(body.cool)}")
    if body.ago:
        # The step in which it struck is one of those that count.
        more = f"for {steps(body.ago - 1)} more" if body.ago > 1 else "no more"
        parts.append(f"whose strike at gold counts {more}")
    return ", ".join(parts)


def beam_words(plan: Plan, number: int, own: str) -> str:
    """What a body does with its beams: "tag", or if it has several "use your beams"."""
    verbs = [verb for verb in plan.teams[int(plan.of_team[number])].verbs if verb in plan.beams]
    return verbs[0] if len(verbs) == 1 else f"use {own} beams"


def carry_words(mission: Mission, code: int) -> str:
    if not code:
        return "nothing"
    if KEY <= code < KEY + 3:
        return cell_words(mission, code)
    return f"the flag of the {mission.plan.teams[code - FLAG].name}"


def steps(count: int) -> str:
    return f"{count} step{'s' * (count != 1)}"


def letter(number: int) -> str:
    """Of a body, on maps."""
    return LETTERS[number]


def title_of(mission: Mission, number: int) -> str:
    """The name of a body, with its letter on a grid."""
    name = body_name(mission.plan, number)
    return name if mission.plan.exits is not None else f"{name} ({letter(number)})"


def beyond(body: Body, way: int) -> tuple[int, int]:
    """The place beside a body, as it counts."""
    return body.row + ROWS[way], body.column + COLUMNS[way]
