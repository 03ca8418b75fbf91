"""The choices of an agent on a field, with what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.choices import Choice
from manyhands.envs.mission.field.look import (
    Body,
    Look,
    beyond,
    cell_words,
    look_of,
    place,
    steps,
    title_of,
)
from manyhands.envs.mission.field.stages import rays
from manyhands.envs.mission.field.state import (
    APPLE,
    BOX,
    BUTTON,
    CLEAR,
    COIN,
    DIRT,
    DOOR,
    FLAG,
    FLOOR,
    GOAL,
    GOLD,
    GROUPS,
    HEADINGS,
    IRON,
    KEY,
    LOCKED,
    OPPOSITE,
    PLATE,
    WALK,
    WALL,
    Beam,
    FieldState,
    Plan,
)
from manyhands.envs.mission.text import all_of

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

_TAKEN = {
    APPLE: "eat",
    **{COIN + k: "take" for k in range(4)},
    **{KEY + k: "take" for k in range(3)},
}
_DOORS = range(DOOR, DOOR + 3)


def choices(mission: Mission, state: FieldState, agent: int) -> list[Choice]:
    """The legal actions of the agent, in action order."""
    look = look_of(mission, state, agent)
    return [_choice(mission, state, agent, look, action) for action in look.open]


def _choice(mission: Mission, state: FieldState, agent: int, look: Look, action: int) -> Choice:
    plan = mission.plan
    if action == 0:
        return _stay(mission, state, agent, look)
    if action <= plan.moves:
        if plan.exits is not None:
            return _go(mission, agent, look, action)
        return _move(mission, state, agent, look, action)
    verb = plan.actions[action]
    return Choice(word(mission, look, action), _verb(mission, look, verb), action, certain=False)


def word(mission: Mission, look: Look, action: int) -> str:
    """How an action is called now."""
    name = mission.plan.actions[action]
    if name == "lock" and ahead(look) == LOCKED:
        return "unlock"
    return name


def ahead(look: Look) -> int:
    """The code of the cell that the agent faces; -1 for none."""
    row, column = beyond(look.own, look.own.heading)
    rows, columns = look.cells.shape
    return int(look.cells[row, column]) if 0 <= row < rows and 0 <= column < columns else -1


def faces_solid(look: Look, body: Body) -> bool:
    """Whether a body faces a cell in view that nobody can enter."""
    row, column = beyond(body, body.heading)
    rows, columns = look.cells.shape
    if body.row < 0 or not (0 <= row < rows and 0 <= column < columns):
        return False
    code = int(look.cells[row, column])
    door = code in _DOORS and look.doors[code - DOOR]
    return code >= 0 and code != BOX and code not in WALK and not door


def danger(plan: Plan, agent: int) -> str:
    """How others can move the agent from where it is; empty if they cannot."""
    team = int(plan.of_team[agent])
    beams = any(beam.effect in ("out", "home") for beam in plan.beams.values())
    caught = any(c.team == team and c.effect != "freeze" for c in plan.captures)
    ways = ["hit"] * beams + ["caught"] * caught
    return f"you are {' or '.join(ways)}" if ways else ""


def _facts(mission: Mission, agent: int, row: int, column: int) -> dict[str, Any]:
    return {f"bodies.{mission.agents[agent]}.position": [row, column]}


def _stay(mission: Mission, state: FieldState, agent: int, look: Look) -> Choice:
    plan = mission.plan
    row, column = int(state.row[agent]), int(state.column[agent])
    if row < 0:
        return Choice("stay", "wait until you can act again, if ever", 0, certain=False)
    waiting = f", as you cannot act for {steps(look.own.out)}" if look.own.out > 0 else ""
    risk = danger(plan, agent)
    if risk:
        effect = f"stay where you are{waiting}, unless {risk}"
        return Choice("stay", effect, 0, certain=False)
    if plan.exits is not None:
        facts: dict[str, Any] = {f"bodies.{mission.agents[agent]}.room": plan.room_names[column]}
        return Choice("stay", f"stay where you are{waiting}", 0, facts=facts)
    facts = _facts(mission, agent, row, column)
    plate = int(look.cells[row, column]) - PLATE
    holds = f", which holds door {plate + 1} open" if 0 <= plate < GROUPS else ""
    return Choice("stay", f"stay where you are{waiting}{holds}", 0, facts=facts)


def _go(mission: Mission, agent: int, look: Look, action: int) -> Choice:
    """Into another room."""
    plan = mission.plan
    assert plan.gates is not None
    room, name = action - 1, plan.room_names[action - 1]
    code = int(look.cells[0, room])
    effect = "through the exit"
    if code > 0:
        effect += f", into the room with {cell_words(mission, code)}"
    gate = int(plan.gates[look.own.column, room])
    hedges = []
    if gate and "press" in plan.verbs:
        hedges.append(f"door {gate} is closed in this step")
    risk = danger(plan, agent)
    if risk:
        hedges.append(risk)
    text = plan.actions[action]
    if hedges:
        return Choice(text, f"{effect}, unless {' or '.join(hedges)}", action, certain=False)
    facts = {f"bodies.{mission.agents[agent]}.room": name}
    return Choice(text, effect, action, facts=facts)


def _move(mission: Mission, state: FieldState, agent: int, look: Look, action: int) -> Choice:
    """To a cell beside the agent."""
    plan, own, way = mission.plan, look.own, action - 1
    row, column = beyond(own, way)
    code, text = int(look.cells[row, column]), plan.actions[action]
    step = f"step to {place(plan, row, column)}"
    if plan.token:
        if code < 0:
            step = f"{step} (a cell that you do not see)"
            effect = f"{step}, if all name this way and no wall is there"
            return Choice(text, effect, action, certain=False)
        if code not in WALK:
            facts = _facts(mission, agent, int(state.row[agent]), int(state.column[agent]))
            effect = f"{cell_words(mission, code)} is there: the token stays where it is"
            return Choice(text, effect, action, facts=facts)
        effect = f"{step} ({cell_words(mission, code)}), if all name this way"
        return Choice(text, effect, action, certain=False)
    closed = DOOR <= code < DOOR + 3 and not look.doors[code - DOOR]
    key = closed and own.carry == KEY + code - DOOR
    if (
        code != BOX
        and (code not in WALK)
        and not (closed and key)
        and (closed or code not in _DOORS)
    ):
        facts = {f"bodies.{mission.agents[agent]}.heading": HEADINGS[_true_way(plan, agent, way)]}
        return Choice(text, f"turn to {cell_words(mission, code)}", action, facts=facts)
    if code == BOX:
        return _push(mission, agent, look, action)
    if closed:
        step = f"open door {code - DOOR + 1} with your key and {step}"
    elif code == GOAL:
        step += ", a goal"
    elif code in _TAKEN and not (KEY <= code < KEY + 3 and own.carry):
        step += f" and {_TAKEN[code]} {cell_words(mission, code)}"
    elif code in (FLAG, FLAG + 1) and code - FLAG != plan.of_team[agent] and not own.carry:
        step += f" and take the flag of the {plan.teams[code - FLAG].name}"
    elif code > 0 and code >= DOOR + 3:
        step += f", {cell_words(mission, code)}"
    fixed = [b for b in look.others if (b.row, b.column) == (row, column) and b.out > 0]
    if fixed and plan.conflict in ("priority", "chain"):
        turn = ": you would only turn there" if "heading" in plan.features else ""
        effect = f"{title_of(mission, fixed[0].number)} is there and cannot act for "
        effect += f"{steps(fixed[0].out)}{turn or ': you would stay where you are'}"
        risk = danger(plan, agent)
        if risk:
            return Choice(text, f"{effect}, unless {risk}", action, certain=False)
        facts = _facts(mission, agent, look.own.row, look.own.column)
        return Choice(text, effect, action, facts=facts)
    hedges = []
    if plan.conflict != "share" and not _alone(plan, look, row, column):
        there = [b.number for b in look.others if (b.row, b.column) == (row, column)]
        hedges += [f"{title_of(mission, number)} does not leave it" for number in there]
        hedges.append("another wants to be there")
    risk = danger(plan, agent)
    if risk:
        hedges.append(risk)
    if "press" in plan.verbs and DOOR <= code < DOOR + 3:
        hedges.append("the door closes")
    if hedges:
        return Choice(text, f"{step}, unless {' or '.join(hedges)}", action, certain=False)
    true = _true_way(plan, agent, way)
    y = int(state.row[agent]) + (-1, 1, 0, 0)[true]
    x = int(state.column[agent]) + (0, 0, -1, 1)[true]
    return Choice(text, step, action, facts=_facts(mission, agent, y, x))


def _push(mission: Mission, agent: int, look: Look, action: int) -> Choice:
    """Into a box, which goes to the cell behind it if that is plain floor."""
    plan, own, way = mission.plan, look.own, action - 1
    text, (rows, columns) = plan.actions[action], look.cells.shape
    box_row, box_column = beyond(own, way)
    row, column = 2 * box_row - own.row, 2 * box_column - own.column
    inside = 0 <= row < rows and 0 <= column < columns
    code = int(look.cells[row, column]) if inside else -1
    if inside and code <= FLOOR:
        effect = f"push the box to {place(plan, row, column)}, if nothing is or comes there"
        return Choice(text, effect, action, certain=False)
    behind = f"{cell_words(mission, code)} is" if inside else "the edge of the field is"
    facts = {f"bodies.{mission.agents[agent]}.heading": HEADINGS[_true_way(plan, agent, way)]}
    effect = f"turn to the box, which cannot be pushed: {behind} behind it"
    return Choice(text, effect, action, facts=facts)


def _true_way(plan: Plan, agent: int, way: int) -> int:
    """The number of a way as the field has it."""
    return OPPOSITE[way] if plan.turned[agent] else way


def _alone(plan: Plan, look: Look, row: int, column: int) -> bool:
    """Whether nobody else can come to a cell in this step."""
    if plan.radius is not None and (plan.radius < 2 or plan.lines):
        return False
    near = [b for b in look.others if abs(b.row - row) + abs(b.column - column) <= 1]
    return not near


def _verb(mission: Mission, look: Look, verb: str) -> str:
    plan, own = mission.plan, look.own
    code = int(look.cells[own.row, own.column])
    if verb == "press":
        group = code - BUTTON
        turns = "closes" if look.doors[group] else "opens"
        return f"door {group + 1} {turns} before anybody moves, unless another presses it, too"
    if verb == "repair":
        done = look.work[own.column + own.row * plan.size[1]]
        return (f"work on the generator, for {done + 1} of {steps(plan.work)} in a row, unless you "
                "are caught")  # fmt: skip
    if verb == "drop":
        return "put the key down here, unless another puts one down here, too"
    if verb == "lock":
        locks = "unlock" if ahead(look) == LOCKED else "lock"
        return f"{locks} the box ahead of you, unless another does something to it"
    beam = plan.beams[verb]
    reach = f"within {beam.length} cells ahead"
    reach += f" and {beam.radius} to each side" if beam.radius else ""
    if beam.around:
        reach = f"within {steps(beam.around)} of you"
    who = f"{'all' if beam.around else 'whoever is'} {reach}"
    where, complete = reached(plan, look, beam)
    if beam.effect == "clean":
        count = sum(int(look.cells[cell]) == DIRT for cell in where)
        still = "if it is still dirty then" if count == 1 else "if they are still dirty then"
        found = (
            f"{count} cell{'s' * (count != 1)} now, {still}"
            if count
            else "there is none now, unless more gets dirty"
        )
        return f"clean dirty water {reach}" + (f": {found}" if complete else ", if there is any")
    if beam.effect == "mine":
        return _strike(mission, look, beam, reach)
    bodies = [
        title_of(mission, body.number)
        for body in look.others
        if (body.row, body.column) in where and hits(plan, own.number, beam, body)
    ]
    now = "; nobody is there now" if complete else ""
    if bodies:
        now = f"; now {all_of(bodies)} {'is' if len(bodies) == 1 else 'are'} there"
    does = {
        "out": f"take {who} out for {steps(beam.steps)}",
        "freeze": f"freeze {who} for {steps(beam.steps)}",
        "home": f"send {who} back to the start",
    }[beam.effect]
    first = ", if anybody is there once all have moved" if late(plan) else ""
    return f"{does}{first}{now}"


def late(plan: Plan) -> bool:
    """Whether beams reach from where bodies are after the moves of the same step."""
    return plan.stages.index("beams") > plan.stages.index("moves")


def _strike(mission: Mission, look: Look, beam: Beam, reach: str) -> str:
    """Which ore a strike meets."""
    plan = mission.plan
    where, complete = reached(plan, look, beam)
    own = look.own
    straight = [c for c in where if beam.around or own.row == c[0] or own.column == c[1]]
    ore = next((cell for cell in straight if int(look.cells[cell]) in (GOLD, IRON)), None)
    if ore is not None:
        name = cell_words(mission, int(look.cells[ore]))
        return f"strike the {name} at {place(plan, *ore)}, if it is still there then"
    which = "nearest" if beam.around else "first"
    none = ": there is none now, unless more grows" if complete else ", if any"
    return f"strike the {which} ore {reach}{none}"


def hits(plan: Plan, number: int, beam: Beam, body: Body) -> bool:
    """Whether a beam of an agent does anything to another body that it reaches."""
    foe = len(plan.teams) == 1 or plan.of_team[number] != plan.of_team[body.number]
    return body.out == 0 and (beam.everybody or bool(foe))


def reached(plan: Plan, look: Look, beam: Beam) -> tuple[list[tuple[int, int]], bool]:
    """The cells that a beam of the agent reaches from where it is, those straight ahead first, from
    near to far; and whether all of them are in view."""
    (rows, columns), ways = rays(beam)
    own, (height, width) = look.own, look.cells.shape
    cells = [
        (own.row + int(row), own.column + int(column))
        for row, column in zip(rows[:, own.heading], columns[:, own.heading], strict=True)
    ]
    inside = [0 <= row < height and 0 <= column < width for row, column in cells]
    codes = [
        int(look.cells[cell]) if there else WALL for cell, there in zip(cells, inside, strict=True)
    ]
    stops = [code >= 0 and not _is_clear(look, code) for code in codes]
    dark = np.any(ways & np.array(stops)[None, : ways.shape[1]], axis=1) & (not beam.around)
    lit = [k for k in range(len(ways)) if inside[k] and not dark[k]]
    unseen = any(codes[k] < 0 for k in lit)
    return [cells[k] for k in lit], not unseen


def _is_clear(look: Look, code: int) -> bool:
    """Whether one shoots across a cell."""
    return code in CLEAR or (code in _DOORS and look.doors[code - DOOR])
