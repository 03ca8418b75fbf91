"""Warehouses in words: rule book, description, choices, and reading what a robot answers.

`describe` says what the configured observation and the mask of legal actions say; besides, it names
the other robots in view. The map of racks, ways and goals never changes, and is in the rules.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import decide, how_to_answer
from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.parts import Answer
from manyhands.core.reading.phrases import TIME, WAITING
from manyhands.envs.mission.text import (
    HOLD,
    NO_MOVE,
    all_of,
    last_step,
    offered_action,
    opened,
    step_of,
    wait_for,
)
from manyhands.envs.mission.warehouse.events import KINDS
from manyhands.envs.mission.warehouse.scenario import chart
from manyhands.envs.mission.warehouse.state import (
    ACTIONS,
    COLUMNS,
    FORWARD,
    HEADINGS,
    LEFT,
    LOAD,
    REQUESTED,
    RIGHT,
    ROWS,
    SHELF,
    STAY,
    TURNED_LEFT,
    TURNED_RIGHT,
    WarehouseState,
)

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

LETTERS = "ABCDEFGHIJKLMNOPQRS"  # of the robots, on maps
ARROWS = "^v<>"  # their headings
WAY_MARK, RACK_MARK, GOAL_MARK = ".", "_", "g"
SHELF_MARKS = ("", "#", "!")
LEGEND = (
    "Letters are robots, with an arrow for where they face (^ north, v south, < west, > east), and "
    "with # or ! if there is a shelf or a requested shelf on their cell. # is a shelf, ! a "
    "requested shelf, _ an empty rack, . a way, g a goal."
)
_DID = {
    "move": "{} drove forward",
    "blocked": "{} could not drive, as others were in the way",
    "turn": "{} turned",
    "load": "{} picked up a shelf",
    "unload": "{} put a shelf down",
    "delivery": "{} delivered a requested shelf",
}
CARRIES = ("nothing", "a shelf that is not requested", "a requested shelf")


class Robot(NamedTuple):
    """A robot in view; `load` is what is on its cell, standing or carried."""

    number: int
    row: int
    column: int
    heading: int
    carrying: bool
    load: int


class Scene(NamedTuple):
    """What a robot sees: the rows and columns of its window within the warehouse, the robots in it
    (itself too), and what is on each cell, by (row, column)."""

    rows: range
    columns: range
    robots: list[Robot]
    shelves: dict[tuple[int, int], int]


def scene(mission: Mission, state: WarehouseState, agent: int | None) -> Scene:
    """What a robot sees (None: all there is), on the host."""
    rows, columns = range(mission.size[0]), range(mission.size[1])
    if agent is not None and mission.observation != "whole":
        row, column, s = int(state.row[agent]), int(state.column[agent]), mission.sight
        rows = range(max(row - s, 0), min(row + s + 1, len(rows)))
        columns = range(max(column - s, 0), min(column + s + 1, len(columns)))
    standing = np.asarray(state.shelves).reshape(mission.size)
    shelves = {(y, x): int(standing[y, x]) for y in rows for x in columns if standing[y, x]}
    robots = []
    for i in range(mission.num_agents):
        at = int(state.row[i]), int(state.column[i])
        load = int(state.load[i])
        if at[0] in rows and at[1] in columns:
            if load:
                shelves[at] = load
            here = shelves.get(at, 0)
            robots.append(Robot(i, *at, int(state.heading[i]), load > 0, here))
    return Scene(rows, columns, robots, shelves)


# ---- description ---------------------------------------------------------------------------------


def describe(mission: Mission, state: WarehouseState, agent: int) -> str:
    """What the robot sees, as text."""
    view = scene(mission, state, agent)
    own = next(robot for robot in view.robots if robot.number == agent)
    ground = _ground(mission, own.row, own.column)
    lines = [
        f"{step_of(mission, state)} You are {mission.agents[agent]}, {LETTERS[agent]} on the map, "
        f"at {_place(own)}, facing {HEADINGS[own.heading]}, on {ground}, carrying "
        f"{CARRIES[int(state.load[agent])]}."
    ]
    lines += draw_map(mission, view)
    if mission.detail != "brief":
        lines += _facts(mission, view, own)
    open_ = free(mission, state, agent)
    lines.append(f"Open to you: {', '.join(_word(state, agent, action) for action in open_)}.")
    lines += last_step(mission, state, agent, _DID)
    if mission.detail == "full":
        if own.carrying and own.load == REQUESTED:
            advice = f"bring the shelf to a goal: {_goals(mission)}"
        elif own.carrying:
            advice = "put the shelf down on an empty rack, before you fetch another"
        else:
            advice = "find a requested shelf, stand on its cell and load it"
        lines.append(f"Remember: {advice}.")
    return "\n".join(lines)


def _facts(mission: Mission, view: Scene, own: Robot) -> list[str]:
    """What the map shows, in words."""
    wanted = [at for at, what in sorted(view.shelves.items()) if what == REQUESTED]
    mine = (own.row, own.column) if own.carrying else None
    listed = [
        f"row {y}, column {x}" + " (the one that you carry)" * ((y, x) == mine) for y, x in wanted
    ]
    lines = [f"Requested shelves in view: {'; '.join(listed) or 'none'}."]
    others = [robot for robot in view.robots if robot.number != own.number]
    told = []
    for robot in others:
        if mission.observation == "whole":
            on = f"carrying {CARRIES[robot.load if robot.carrying else 0]}"
        else:
            on = ("no shelf", "a shelf", "a requested shelf")[robot.load] + " on its cell"
        told.append(
            f"{mission.agents[robot.number]} ({LETTERS[robot.number]}) at {_place(robot)}, facing "
            f"{HEADINGS[robot.heading]}, {on}"
        )
    lines.append(f"Other robots in view: {'; '.join(told) or 'none'}.")
    row, column = own.row + ROWS[own.heading], own.column + COLUMNS[own.heading]
    inside = 0 <= row < mission.size[0] and 0 <= column < mission.size[1]
    what = _ground(mission, row, column) if inside else "the edge of the warehouse"
    lines.append(f"Ahead of you: {what}{_on(mission, view, row, column)}.")
    return lines


def _on(mission: Mission, view: Scene, row: int, column: int) -> str:
    found = [mission.agents[r.number] for r in view.robots if (r.row, r.column) == (row, column)]
    shelf = view.shelves.get((row, column), 0)
    things = found + ([] if not shelf else [("a shelf", "a requested shelf")[shelf - SHELF]])
    return f" with {all_of(things)}" if things else ""


def _place(thing: Any) -> str:
    return f"row {thing.row}, column {thing.column}"


def _ground(mission: Mission, row: int, column: int) -> str:
    cell = row * mission.size[1] + column
    return "a goal" if cell in mission.goals else "a rack" if mission.racks[cell] else "a way"


def _goals(mission: Mission) -> str:
    return "; ".join(
        f"row {cell // mission.size[1]}, column {cell % mission.size[1]}" for cell in mission.goals
    )


def draw_map(mission: Mission, view: Scene) -> list[str]:
    """The window as lines, with its rows and columns."""
    robots = {(robot.row, robot.column): robot for robot in view.robots}
    wide = 3
    lines = [" " * wide + "".join(f" {x:>{wide}}" for x in view.columns)]
    for y in view.rows:
        cells = []
        for x in view.columns:
            shelf, robot = view.shelves.get((y, x), 0), robots.get((y, x))
            cell = y * mission.size[1] + x
            mark = RACK_MARK if mission.racks[cell] else WAY_MARK
            mark = GOAL_MARK if cell in mission.goals else mark
            mark = SHELF_MARKS[shelf] or mark
            if robot:
                mark = LETTERS[robot.number] + ARROWS[robot.heading] + SHELF_MARKS[shelf]
            cells.append(f" {mark:>{wide}}")
        lines.append(f"{y:>{wide}}" + "".join(cells))
    return lines


def free(mission: Mission, state: WarehouseState, agent: int) -> list[int]:
    """The legal actions, on the host."""
    rows, columns = mission.size
    row, column, heading = (int(v[agent]) for v in (state.row, state.column, state.heading))
    loaded, shelves = int(state.load[agent]) > 0, np.asarray(state.shelves)
    y, x = row + ROWS[heading], column + COLUMNS[heading]
    here = row * columns + column
    inside = 0 <= y < rows and 0 <= x < columns
    found = [STAY]
    if inside and not (loaded and shelves[y * columns + x]):
        found.append(FORWARD)
    found += [LEFT, RIGHT]
    if mission.racks[here] if loaded else shelves[here]:
        found.append(LOAD)
    return found


def _word(state: WarehouseState, agent: int, action: int) -> str:
    return "unload" if action == LOAD and int(state.load[agent]) else ACTIONS[action]


# ---- choices -------------------------------------------------------------------------------------


def choices(mission: Mission, state: WarehouseState, agent: int) -> list[Choice]:
    """The legal actions of the robot, in action order."""
    view = scene(mission, state, agent)
    own = next(robot for robot in view.robots if robot.number == agent)
    path = f"robots.{mission.agents[agent]}"
    here: dict[str, Any] = {f"{path}.position": [own.row, own.column]}
    found = []
    for action in free(mission, state, agent):
        if action == STAY:
            effect, facts = "stay where you are", here
        elif action == FORWARD:
            found.append(_forward(mission, state, view, own))
            continue
        elif action in (LEFT, RIGHT):
            turned = (TURNED_LEFT if action == LEFT else TURNED_RIGHT)[own.heading]
            effect = f"face {HEADINGS[turned]}"
            facts = {f"{path}.heading": HEADINGS[turned], **here}
        elif own.carrying:
            effect, facts = "put the shelf down on this rack", {f"{path}.carrying": False, **here}
        else:
            what = ("the shelf", "the requested shelf")[own.load - SHELF]
            effect, facts = f"pick up {what} on this cell", {f"{path}.carrying": True, **here}
        found.append(Choice(_word(state, agent, action), effect, action, facts=facts))
    return found


def _forward(mission: Mission, state: WarehouseState, view: Scene, own: Robot) -> Choice:
    """What driving does: it is certain if all who could want the cell ahead are in view."""
    row, column = own.row + ROWS[own.heading], own.column + COLUMNS[own.heading]
    cell = row * mission.size[1] + column
    at, path = f"row {row}, column {column}", f"robots.{mission.agents[own.number]}"
    delivers = cell in mission.goals and own.carrying and own.load == REQUESTED
    step = f"drive to {at}" + (" and deliver the shelf" if delivers else "")
    there = next((r for r in view.robots if (r.row, r.column) == (row, column)), None)
    if there is not None:
        name = mission.agents[there.number]
        opposite = there.row + ROWS[there.heading], there.column + COLUMNS[there.heading]
        if opposite == (own.row, own.column):
            return Choice(
                ACTIONS[FORWARD],
                f"nothing: {name} stands there and faces you, and robots cannot swap",
                FORWARD,
                facts={f"{path}.position": [own.row, own.column]},
            )
        return Choice(ACTIONS[FORWARD], f"{step}, if {name} leaves it", FORWARD, certain=False)
    rivals = []
    for heading in range(4):
        y, x = row - ROWS[heading], column - COLUMNS[heading]
        if (y, x) == (own.row, own.column):
            continue
        inside = 0 <= y < mission.size[0] and 0 <= x < mission.size[1]
        if inside and (y not in view.rows or x not in view.columns):
            return Choice(
                ACTIONS[FORWARD],
                f"{step}, unless a robot that you do not see drives there, too",
                FORWARD,
                certain=False,
            )
        rivals += [
            mission.agents[r.number]
            for r in view.robots
            if (r.row, r.column, r.heading) == (y, x, heading)
        ]
    if rivals:
        effect = f"{step}, unless {names_of(rivals)} drives there, too"
        return Choice(ACTIONS[FORWARD], effect, FORWARD, certain=False)
    facts: dict[str, Any] = {f"{path}.position": [row, column]}
    if delivers:
        facts[f"{path}.did"] = "delivery"
    return Choice(ACTIONS[FORWARD], step, FORWARD, facts=facts)


# ---- rules ---------------------------------------------------------------------------------------


def rules(mission: Mission, agent: int) -> str:
    """The rule book of one robot."""
    rows, columns = mission.size
    others = [name for i, name in enumerate(mission.agents) if i != agent]
    delivery, back = (mission.reward_weights[name] for name in mission.terms)
    whose = "all robots get" if mission.sharing == "global" else "the robot that brings it gets"
    many = mission.requests > 1
    lines = [
        mission.title.upper(),
        f"You are {mission.agents[agent]}, {LETTERS[agent]} on the map. "
        + (f"You work with {all_of(others)}." if others else "You work alone."),
        "",
        "AIM",
        f"At any time {mission.requests} {'shelves are' if many else 'shelf is'} requested. Bring "
        f"requested shelves to a goal; the goals are at {_goals(mission)}. When a robot stands on "
        f"a goal with a requested shelf, {whose} {delivery:g}, and at once another shelf is "
        "requested in its place. Unloading is not needed for it, and not possible there: then "
        "bring the shelf to any empty rack and put it down, so that you can fetch the next one.",
    ]
    if back:
        lines.append(f"Putting a shelf down after it was delivered gives {back:g}.")
    lines += [
        "",
        "DRIVING",
        f"The warehouse has {rows} rows and {columns} columns. North is up, to a smaller row; west "
        "is left, to a smaller column. All robots act at once, one action a step: drive forward "
        "one cell, turn left or right on the spot, load, or stay. A robot without a load drives "
        "anywhere, also under shelves; with a load it cannot drive into a shelf that stands.",
        "Load picks up the shelf on the cell where the robot is; with a load, the same action puts "
        "it down (unload), on racks only, never on ways or goals.",
        "No two robots are ever on one cell, and none swap places. A robot may follow another that "
        "drives on in the same step. If several robots, or queues of robots that follow each "
        "other, drive to one free cell, the longest queue moves (of equally long ones that whose "
        "last robot has the lowest number), and the others wait. Behind a robot that stays, turns, "
        "loads or faces the edge, everybody waits. Four or more robots in a ring may all drive on; "
        "nobody else moves who wants a cell of it.",
        f"The episode ends after {mission.max_steps} steps"
        + (f", or after {mission.inactivity} without a delivery." if mission.inactivity else "."),
        "",
        "THE MAP",
        LEGEND,
        "The whole warehouse, with _ for racks (each held a shelf at first), . for ways and g for "
        "goals:",
        *_blank(mission),
        "You see all of it."
        if mission.observation == "whole"
        else f"You see only cells up to {mission.sight} away in each direction (diagonals too). Of "
        "another robot you see whether a shelf is on its cell, not whether it carries it.",
        "",
        "HOW TO ANSWER",
        "Name one action: stay, forward, turn left, turn right, load, unload. "
        + how_to_answer("turn left"),
    ]
    return "\n".join(lines)


def _blank(mission: Mission) -> list[str]:
    """The map without shelves and robots."""
    rows, columns = mission.size
    return draw_map(mission, Scene(range(rows), range(columns), [], {}))


# ---- reading an answer ---------------------------------------------------------------------------

_DRIVE = (
    "[(let|have|make) (my|the|this) robot] (go|move|drive|step|roll|head|walk|advance|proceed"
    "|continue|run|keep going|keep driving"
    "|keep (moving|rolling|heading)|carry on|press on|push on|edge|inch|creep|drive on|roll on"
    "|move on|go on|cruise|travel|(drive|move|advance|roll) (my|the|this) robot)"
)
_CARRY = "(carry|bring|take|move|drive) [(this|my)] {carried}"  # some way
_CELL = "(step|cell|square|field|tile|space|pace)"
_FAR = (
    f"[(one|1|a single|by one|by 1|single|another) [{_CELL}] [further]|by a {_CELL}|a {_CELL}"
    f"|{_CELL}|further]"
)
_ON = (
    "(forward|forwards|ahead|straight|straight on|straight ahead|straight forward|onward|onwards"
    "|right ahead|on ahead)"
)
_TO = (
    "[(along|down|through|in|{up}|on) (the|this) (aisle|way|corridor|lane|direction)|(under"
    "|below|beneath) "
    "(the|that) [(next|requested)] (shelf|rack)] [(to|onto|on|into|at) [cell|square] "
    "(row {row:n} [and|.] column {column:n}|{row:n} {column:n}|row {row:n}|column {column:n})] "
    "[(now|first|right now|right away|onto the goal|to the goal)]"
)
_TURN = (
    "(turn|rotate|spin|pivot|swivel|steer|swing|veer|wheel"
    "|(turn|rotate|spin|swing|point|orient|steer) (myself|(my|the|this) (robot|nose|front)|around"
    "|round)"
    "|orient|point|(change|set|shift) [(my|the)] (heading|course|direction)"
    "|(make|take|do|perform) a turn|face)"
)
_BY = (
    "[(by|for|through)] [(90|a quarter|one quarter|1 quarter|quarter)] "
    "[(degree|degrees|turn|of a turn|°|circle)]"
)
_SPOT = "[(on the spot|in place|here|where i am|by 90 degrees|once)] [first]"
_QUARTER = "[a] quarter [turn]|[by] 90 [(degree|degrees|°)]|[by] a quarter|[a] 90 degree turn"
# Where a turn leads.
_THUS = (
    "[[.] [(to|and|so i|so that i)] (face|look) [to] {facing:compass}"
    "|[(to|towards|toward) [the]] {facing:compass}]"
)
_NAMED = "[(this|that|my|its|the|a)] (shelf|rack|pod|it|load|item|box|burden|cargo)"
_SHELF = (
    f"{_NAMED} [(here|under me|above me|from (this|my) cell|(off|from) the rack|that i carry"
    "|i carry|i'm under|i am under"
    "|[(that|which) (stand|is|sit|lie|rest)] [right] (on (this|my) (cell|rack|back)|here"
    "|above me|where i (am|stand)))]"
)
_WHERE = (
    "[(back|back down|down again)] [(here|on this cell|on my cell|on this rack|on the rack"
    "|onto this rack|onto the rack|in this rack|at this place|back|in its place|right here"
    "|where i am|on the ground|to (the|this|its) rack|where it (was|came from|belongs|stood))]"
)
# Why a shelf is put down.
_NOT_ASKED = (
    "(isn't|is not|was not|wasn't|ain't) [(even|currently|on the list of|one of the)] {unasked}"
    "|(is|was) {unasked:unwanted}"
    "|(nobody|no one|nothing) (requested|want|need|ask for) (it|this|that)"
)
_UNASKED = (
    "[[.] [(as|since|because|for)] [(that|which|it|this|this one|that one|(the|this|my) shelf)] "
    f"({_NOT_ASKED})]"
)
_UNASKED_FIRST = (
    "[(as|since|because)] (it|this|this one|that one|(the|this|my) shelf|(the|this|my) shelf "
    f"[that] i carry|what i carry) ({_NOT_ASKED})"
)
_ABSOLUTE = {
    "north": "north|northward|up|upward|n",
    "south": "south|southward|down|downward|s",
    "west": "west|westward|w",
    "east": "east|eastward|e",
}
_LIFT = (
    "(load|load up|pick up|lift|lift up|take|take up|grab|fetch|collect|get|raise|pick|hoist|heave"
    "|jack up|shoulder|haul up|get hold of|take hold of|bring up)"
)
_LOWER = (
    "(unload|put down|drop|set down|lower|place|deposit|release|return|put back|drop off|put|leave)"
)
_LAY = "(set|lay|lay down|park|let go of|let down|get rid of|rest|stow|set back|bring down)"
GRAMMAR = Grammar(
    [
        (
            STAY,
            [
                *WAITING,
                "(stay|wait|noop|none|pass|idle|skip|hold|rest|stand still|do nothing|no op|stop"
                "|halt"
                f"|brake|chill|pause|freeze|stay idle|take no action|stay as i am) {TIME}",
                "(stay|wait|remain|hold|stay put) "
                "[(here|there|where i am|in place|still|at my place|my position)] "
                "[for] [(one|1|a)] [(turn|step|moment|bit)]",
                "(skip|pass) [(my|this)] (turn|move|step)",
                "do nothing [at all]",
                f"{HOLD} [at row {{at_row:n}} [and|.] column {{at_column:n}}]",
                "(stay|wait|remain|park|stay put) (at|on|in) ([cell|square] row {at_row:n} "
                f"[and|.] column {{at_column:n}}|(my|this) (cell|place|spot|square)) {TIME}",
                f"(park|stay parked|park here|stand by) {TIME}",
                "(stay|wait|idle|stand by|hold|remain) [here] (for|until|till) [(a|the|my|next|new|"
                "another)] request [(to (come|appear|show up|turn up|come in|come into view)|(come|"
                "appear|show up|turn up|come in|is (in view|here)|come into view))]",
                "no (drive|driving) [(this|on this|for this)] (turn|step|time|round)",
                *wait_for("robot"),
                *NO_MOVE,
            ],
        ),
        (
            FORWARD,
            [
                f"({_DRIVE}|{_CARRY}) {_FAR} {_ON} {_FAR} {_TO}",
                f"{_DRIVE} {_FAR} {_TO}",
                f"{_DRIVE} {_FAR} [{_ON}] (to|towards|toward|for) [nearest] [next] "
                "(requested shelf|request|shelf|rack|goal)",
                f"(take|make) (a|one|1|another) step [{_ON}] {_TO}",
                "(1|one|a|another) (step|cell|square|pace) (forward|ahead|onward|straight on)",
                f"(follow|take) (the|this) (aisle|way|corridor|lane) {_ON}",
                "(follow|keep to|stay on|continue on) (the|this) (aisle|way|corridor|lane)",
                "(stay on|keep|hold|keep to) [my] course",
                "(keep|hold) (this|my) (heading|direction|course) and (drive|go|move|roll) [on]",
                "(go|drive|move|continue|carry) on in this direction",
                "(enter|take|claim|drive (to|onto|into)|move (to|onto|into)|go (to|onto|into)) "
                "[the] next (cell|square) [ahead]",
                f"enter (the cell|the square|row {{row:n}} column {{column:n}}|the cell {_ON})",
            ],
        ),
        *(
            (
                action,
                [
                    f"{_TURN} [(to|towards|toward)] [(my|the)] {side} [(side|hand side)] {_BY} "
                    f"{_SPOT} "
                    f"{_THUS}",
                    f"{_TURN} {_BY} [to|towards|toward] [(my|the)] {side} {_SPOT} {_THUS}",
                    f"(face|look) [to] {{facing:compass}} [then] [.] [(so|by|with|thus)] "
                    f"[(i|i'll|i will|let me)] {_TURN} [to] [(my|the)] {side} {_SPOT}",
                    f"{_TURN} [to] [(my|the)] {side} [.] {_BY}",
                    f"(make|take|do|perform) a [quarter|sharp|90 degree] {side} turn {_SPOT}",
                    f"(make|take|do|perform) a [quarter|sharp|90 degree] turn to [my|the] {side}",
                    f"(make|take) a {side}",
                    f"look [(to|towards|toward)] [(my|the)] {side}",
                    f"[a] [quarter|sharp] {side} turn {_THUS}",
                    f"[a] quarter turn [to] [my|the] {side}",
                    f"(my|the) [next] turn (go|is) [to] [the|my] {side}",
                ],
            )
            for action, side in ((LEFT, "left"), (RIGHT, "right"))
        ),
        *(
            (
                action,
                [
                    f"{_TURN} [(to|towards)] {_BY} ({sense}) {_BY} {_SPOT}",
                    f"[a] [quarter] turn ({sense})",
                    f"(make|take|do|perform) a [quarter|sharp|90 degree] ({sense}) turn {_SPOT}",
                ],
            )
            for action, sense in (
                (LEFT, "counterclockwise|anticlockwise|counter clockwise|anti clockwise"),
                (RIGHT, "clockwise"),
            )
        ),
        *(
            (
                ("face", heading),
                [
                    f"({_TURN}|spin [round|around]) [(to|towards|toward|to face|(so [that]|until"
                    f"|till)"
                    f" (i|i'm) (face|look) [to])] [the] ({also}) [(rack|shelf|side|edge|wall)]",
                    "look [(to|towards|toward)] [the] {facing:compass}".replace(
                        "{facing:compass}", HEADINGS[heading]
                    ),
                    f"{_TURN} (to|towards|toward) [the] (rack|shelf|edge|wall) "
                    f"((in|to|on|at) [the|my] ({also}) [side]|{also} of (me|here))",
                ],
            )
            for heading, also in enumerate(_ABSOLUTE.values())
        ),
        *(
            (
                ("go", heading),
                [
                    f"{_DRIVE} {_FAR} [(to|towards|toward)] [the] ({also}) {_FAR} {_TO}",
                    # "Bring the shelf down" is to put it down.
                    f"{_CARRY} {_FAR} [to] ({HEADINGS[heading]}|{HEADINGS[heading]}ward) {_FAR} "
                    f"{_TO}",
                ],
            )
            for heading, also in enumerate(_ABSOLUTE.values())
        ),
        (
            "load requested",
            [
                f"{_LIFT} [(this|that|my|its|the)] requested (shelf|rack|pod|item|box) [up] "
                "[(here|on this cell|on my cell|under me|above me)]"
            ],
        ),
        (
            "load",
            [
                f"{_LIFT} [{_SHELF}] [up]",
                f"{_LIFT} [up] [(the|this)] shelf [up] [here] [(now|first|right now|right away)]",
                f"{_LIFT} [(the|this)] shelf [that] (i'm|i am) [standing] (under|on|at|below)",
                f"(take|get) {_NAMED} (on|onto) my back",
                "get under [this|the] shelf and lift it",
                f"put {_NAMED} up",
            ],
        ),
        (
            "unload",
            [
                f"{_LOWER} [{_SHELF}] [(down|off)] {_WHERE} {_UNASKED}",
                f"{_LOWER} [(this|that|my|the)] requested shelf [down|back] {_WHERE}",
                f"(put|set) down {_NAMED} {_WHERE} {_UNASKED}",
                f"bring {_NAMED} down {_WHERE} {_UNASKED}",
                f"{_LAY} {_SHELF} [(down|off)] {_WHERE} {_UNASKED}",
                f"{_UNASKED_FIRST} [.] [so] [(i|i'll|i will|let me)] ({_LOWER}|{_LAY}) "
                f"[{_SHELF}] [(down|off)] {_WHERE}",
                f"let {_NAMED} down {_WHERE}",
                "(down|off) with (this|the|my) [requested] shelf",
            ],
        ),
        ("toggle", ["(toggle|toggle load|load or unload|toggle the load|toggle_load)"]),
    ],
    slots={
        "compass": {
            word: heading
            for heading, also in enumerate(_ABSOLUTE.values())
            for word in also.split("|")
            if word not in ("up", "down", "upward", "downward")
        },
        "robot": {},
        "unasked": dict.fromkeys(
            (
                "requested",
                "request",
                "wanted",
                "needed",
                "asked for",
                "called for",
                "required",
                "due",
                "a requested one",
            ),
            True,
        ),
        "unwanted": dict.fromkeys(("unrequested", "unwanted", "unneeded", "useless"), True),
        "up": {"up": True},
        "carried": dict.fromkeys(("it", "shelf", "rack", "load"), True),
    },
    keep=("right", "left", "a", "first", "now", "then", "just", "again", "yeah", "away"),
    # Alone, a direction tells of something else after "I": "I left", "I'm down".
    short=[
        (
            FORWARD,
            [
                f"{_FAR} {_ON} {_FAR} {_TO}",
                "fwd [1]",
                "keep [(going|driving)] straight [(on|ahead)]",
                "full (speed|steam) ahead",
                "[on] to (row {row:n}|column {column:n})",
                "[on] to [the] next (cell|square)",
                "({up}|along) (the|this) (aisle|corridor|lane)",
            ],
        ),
        *(
            (
                action,
                [
                    f"[to] [(my|the)] {side}",
                    f"turn{side}",
                    f"hang [a] {side}",
                    f"[to] [(my|the)] {side} {_BY}",
                    f"({_QUARTER}) [turn] [(to|towards)] [(my|the)] {side} {_SPOT}",
                    f"({sense}) [.] [({_QUARTER})] {_SPOT}",
                    f"({_QUARTER}) [turn] ({sense}) {_SPOT}",
                ],
            )
            for action, side, sense in (
                (LEFT, "left", "counterclockwise|anticlockwise|counter clockwise|anti clockwise"),
                (RIGHT, "right", "clockwise"),
            )
        ),
        *(
            (("go", heading), [f"{_FAR} [(to|towards|toward)] [the] ({also}) {_FAR} {_TO}"])
            for heading, also in enumerate(_ABSOLUTE.values())
        ),
    ],
)


# What one drives to.
_AIM = re.compile(
    r"\b(?:to|onto|towards?|for) (?:(?:the|a|my|that|nearest|next) )*"
    r"(requested shelf|request|shelf|rack|goal)\b"
)


def _ahead(mission: Mission, state: WarehouseState, agent: int, aim: str) -> bool:
    """Whether something of that kind, in view or on the map of the rules, is on the side that a
    robot faces."""
    view = scene(mission, state, agent)
    row, column, heading = (int(v[agent]) for v in (state.row, state.column, state.heading))
    columns = mission.size[1]
    if aim in ("goal", "rack"):
        cells = mission.goals if aim == "goal" else np.flatnonzero(mission.racks).tolist()
        places = [divmod(cell, columns) for cell in cells]
    else:
        kinds = (SHELF, REQUESTED) if aim == "shelf" else (REQUESTED,)
        places = [at for at, what in view.shelves.items() if what in kinds]
    return any(
        (y - row) * ROWS[heading] > 0 or (x - column) * COLUMNS[heading] > 0 for y, x in places
    )


def parse(mission: Mission, text: Any, state: WarehouseState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the robot now."""
    open_ = free(mission, state, agent)
    loaded = int(state.load[agent]) > 0
    heading = int(state.heading[agent])
    own = int(state.row[agent]), int(state.column[agent])
    here = own[0] * mission.size[1] + own[1]

    def refuse(reason: str) -> IllegalAction:
        allowed = names_of([_word(state, agent, action) for action in open_])
        return IllegalAction(f"{reason}. Answer with exactly one action: {allowed}.")

    def mean(answer: Answer) -> int | None:
        offered = offered_action(choices(mission, state, agent), answer.plain)
        if offered is not None:
            return offered
        others = {name: i for i, name in enumerate(mission.agents) if i != agent}
        readings = GRAMMAR.read(opened(answer.plain), {"robot": others})
        named = {reading.meaning for reading in readings}
        ahead = own[0] + ROWS[heading], own[1] + COLUMNS[heading]
        for _, values in readings:
            row, column = values.get("row", ahead[0]), values.get("column", ahead[1])
            stays = ("row" in values) != ("column" in values) and (
                row == own[0] if "row" in values else column == own[1]
            )
            if (row, column) != ahead or stays:
                raise refuse(f"row {row}, column {column} is not ahead of you")
        turned = {LEFT: TURNED_LEFT[heading], RIGHT: TURNED_RIGHT[heading]}
        for meaning, values in readings:
            if values.get("facing", turned.get(meaning)) != turned.get(meaning):
                raise refuse(f"that turn faces {HEADINGS[turned[meaning]]}")
            if "up" in values and HEADINGS[heading] == "south":
                raise refuse("you face south, down the map")
            if (values.get("at_row", own[0]), values.get("at_column", own[1])) != own:
                raise refuse("you are not there")
        if len(named) != 1:
            return None
        unasked = any("unasked" in reading.values for reading in readings)
        if unasked and int(state.load[agent]) == REQUESTED:
            raise refuse("the shelf that you carry is requested")
        if not loaded and any("carried" in reading.values for reading in readings):
            raise refuse("you carry nothing yet")
        (said,) = named
        if isinstance(said, tuple):
            said = _absolute(said, heading, refuse)
        elif said in ("load", "load requested") and loaded:
            raise refuse("you carry a shelf already; put it down first (unload)")
        elif said == "unload" and not loaded:
            raise refuse("you carry nothing that you could put down")
        elif said == "load requested" and int(state.shelves[here]) == SHELF:
            raise refuse("the shelf on your cell is not requested")
        action = said if isinstance(said, int) else LOAD
        aim = _AIM.search(answer.plain) if action == FORWARD else None
        if aim and not _ahead(mission, state, agent, aim[1]):
            raise refuse(f"you face {HEADINGS[heading]}, and see no {aim[1]} on that side")
        if action not in open_:
            raise refuse(_why(mission, state, agent, action))
        return int(action)

    return int(decide(text, mean, refuse, me=mission.agents[agent]))


def _absolute(said: tuple[str, int], heading: int, refuse: Any) -> int:
    """What "face east" or "go east" means for a robot that faces somewhere."""
    what, wanted = said
    if wanted == heading and what == "go":
        return FORWARD
    if wanted == heading:
        raise refuse(f"you face {HEADINGS[heading]} already")
    if what == "face":
        for action, turned in ((LEFT, TURNED_LEFT), (RIGHT, TURNED_RIGHT)):
            if turned[heading] == wanted:
                return action
        raise refuse(f"{HEADINGS[wanted]} is behind you; that takes two turns, left or right")
    raise refuse(f"you face {HEADINGS[heading]}, and drive forward only; turn first")


def _why(mission: Mission, state: WarehouseState, agent: int, action: int) -> str:
    row, column, heading = (int(v[agent]) for v in (state.row, state.column, state.heading))
    if action == LOAD:
        if not int(state.load[agent]):
            return "there is no shelf on your cell to pick up"
        return f"you are on {_ground(mission, row, column)}; shelves are put down on racks only"
    y, x = row + ROWS[heading], column + COLUMNS[heading]
    if 0 <= y < mission.size[0] and 0 <= x < mission.size[1]:
        return "ahead of you stands a shelf, and you carry one"
    return "ahead of you the warehouse ends"


# ---- the true state ------------------------------------------------------------------------------


def to_dict(mission: Mission, state: WarehouseState) -> dict[str, Any]:
    """The true state in plain names and numbers."""
    recent = np.asarray(state.recent).tolist()
    view = scene(mission, state, None)
    lines = [list(line.replace("x", RACK_MARK)) for line in chart(mission.scenario)]
    for cell in np.flatnonzero(np.asarray(state.shelves)).tolist():
        y, x = divmod(cell, mission.size[1])
        lines[y][x] = SHELF_MARKS[int(state.shelves[cell])]
    return {
        "scenario": mission.scenario["name"],
        "size": list(mission.size),
        "robots": {
            name: {
                "position": [int(state.row[i]), int(state.column[i])],
                "heading": HEADINGS[int(state.heading[i])],
                "carrying": bool(state.load[i]),
                "requested": int(state.load[i]) == REQUESTED,
                "delivered": bool(state.delivered[i]),
                "did": KINDS.get(recent[i], ""),
            }
            for i, name in enumerate(mission.agents)
        },
        "requested": [list(at) for at, what in sorted(view.shelves.items()) if what == REQUESTED],
        "map": ["".join(line) for line in lines],
        "time": int(state.time),
        "steps_without_delivery": int(state.idle),
        "steps_left": mission.max_steps - int(state.time),
    }
