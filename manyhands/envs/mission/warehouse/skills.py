"""The skills of warehouses: pure functions of what robots perceive, which is all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, IllegalAction
from manyhands.core.reading.grammar import Grammar
from manyhands.envs.mission.planning import (
    DONE,
    MARK,
    NO_WAY,
    NONE,
    POSSIBLE,
    Details,
    Table,
    counted,
)
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
)
from manyhands.envs.mission.ways import FAR, cells, driving, forward

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission


_BODY = 3 + MARK  # steps that one drives around a robot

# ---- ways to say skills --------------------------------------------------------------------------

_UNASKED = (
    "(some|a|an|any|another) (shelf [that] ((nobody|no one) (asked for|wants|needs|requested)"
    "|(is not|isn't|nobody has) (requested|wanted|needed|asked for))|unrequested shelf"
    "|shelf (that's|that is) not (requested|wanted|asked for))"
)
_ASIDE = "out of (the|everyone's|everybody's|their|others'|others|other robots') way"
_CELL = "[(one|1|a|another) (cell|step|square|field|tile|space|pace)]"
_AHEAD = (
    "(forward|forwards|ahead|straight|straight on|straight ahead|straight forward|onward|onwards)"
)
_DRIVE = "(go|drive|move|step|roll|head|march|proceed|inch|creep|walk)"
_TURN = "(turn|rotate|spin|pivot|swivel) [(myself|around|round)]"
_BY = "[(by|for|through)] [(90 degrees|(a|1) quarter [of a] [turn]|90°|90)]"
_SPOT = "[(on the spot|in place|where i am|right here)]"
_THUS = (
    "[(to|and|so i|so that i) (face|look) [to] [the] {facing} [(at|to|towards|toward) [the] goal]]"
)
_STEPS = Grammar(
    {
        FORWARD: [
            f"{_DRIVE} {_CELL} {_AHEAD} {_CELL}",
            "advance (one|1|a) (cell|step|square|field|tile|space|pace)",
            "(one|1|a) (cell|step|square|field|tile|space|pace) (forward|ahead|onward)",
            "forward march",
            "advance one",
        ],
        **{
            action: [
                f"{_TURN} {_BY} [(to|towards|toward)] [(the|my)] {side} {_BY} {_SPOT} {_THUS}",
                f"(make|take|do) a [quarter] {side} turn {_SPOT}",
                f"(make|take|do) a [quarter] turn to (the|my) {side} {_SPOT}",
                f"{_TURN} {sense} {_SPOT}",
                f"[to] [(the|my)] {side}",
            ]
            for action, side, sense in (
                (LEFT, "left", "(counterclockwise|anticlockwise)"),
                (RIGHT, "right", "clockwise"),
            )
        },
    },
    {"facing": {name: k for k, name in enumerate(HEADINGS)}},
)


def skill_set(mission: Mission) -> WarehouseSkills:
    """The skills of a warehouse."""
    return WarehouseSkills(mission)


class WarehouseSkills(Table):
    """In table order: `fetch a request`, `deliver`, `put back`, `go to a goal`, `park`, `wait`;
    single actions."""

    def __init__(self, mission: Mission):
        self._mission = mission
        any_ = "[(a|an|the|my|this|that|another)] [next] [nearest] [closest]"
        wanted = "(requested|on request|asked for|wanted|in demand)"
        shelf = (
            f"({any_} [(requested|wanted)] (shelf|request) [(that is|that's|which is) {wanted}]"
            "|[one of] requested shelf|one)"
        )
        asked = f"({any_} (requested shelf|request|shelf (that is|that's) {wanted}))"
        it = f"({shelf}|it)"
        goal = "[(a|the)] [nearest] [closest] [delivery] goal"
        rack = "[(a|an|the|any|its)] [nearest] [closest] [empty|free] rack"
        go = "(go|drive|head|move|travel|return)"
        super().__init__(
            {
                "fetch a request": [
                    f"(fetch|get|pick up|go for|collect|grab|retrieve|take) {shelf} [up]",
                    f"load {asked}",
                    f"{shelf} [.] [(go|go and|i'll|i will|let me)] (fetch|get|collect) it",
                    f"(pick|pick up) {it} up",
                    f"{go} (to|for|towards|toward) {any_} (requested shelf|request|requested one) "
                    "[and (pick it up|pick up it|load it|get it|fetch it)]",
                    "fetch",
                    "fetch it",
                ],
                "deliver": [
                    f"(deliver|bring) [{it}] [to {goal}]",
                    f"(carry|take|drive|transport) {it} to {goal}",
                    f"{go} to {goal} with {it}",
                ],
                "put back": [
                    f"(put|bring|carry|take|set) [{it}] (back|away) [(to|on|onto|in) {rack}]",
                    f"(put|bring|take|return|set) (back|away) {it} [(to|on|onto) {rack}]",
                    f"(put|set) {it} down [(on|in) {rack}]",
                    f"(put|set) down {it} [(on|in) {rack}]",
                    f"return {it} [(to|on) {rack}]",
                    f"(return|put|bring|carry|take) {it} (to|on|onto) {rack}",
                ],
                "go to a goal": [f"{go} to {goal}"],
                "park": [
                    f"[(go|go and|{_ASIDE} and|get {_ASIDE} and)] park "
                    f"[(myself|here|somewhere)] [(under|below|beneath) ({shelf}|{_UNASKED})]",
                    f"(get|go|move|drive|stay|keep) {_ASIDE} [(under|below|beneath) "
                    f"({shelf}|{_UNASKED})]",
                    f"{go} (to|into) [a|the|my] parking [(place|spot|space|position)]",
                    f"(hide|shelter|rest) (under|below|beneath) ({shelf}|{_UNASKED}) [{_ASIDE}]",
                ],
            },
            ACTIONS,
            also={
                "load": ("unload", f"unload {it}"),
                "wait": [
                    f"(wait [for|until]|let) {robot} [to] [(pass|pass by|go first|move|move on"
                    "|move away|drive on|get out of the way|is gone|is out of the way|has passed)]"
                    for robot in mission.agents
                ],
            },
        )

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        found = super().parse(text, perception, current)
        if found is not None or perception is None:
            return found
        heading, names = int(np.asarray(perception)[2]), set()
        for action, values in _STEPS.read(text):
            turned = {LEFT: TURNED_LEFT, RIGHT: TURNED_RIGHT}.get(action)
            if "facing" in values and turned is not None and turned[heading] != values["facing"]:
                raise IllegalAction(f"that turn faces {HEADINGS[turned[heading]]}")
            names.add(f"step: {ACTIONS[action]}")
        return self.names.index(names.pop()) if len(names) == 1 else None

    def words(self, perception: np.ndarray) -> list[str]:
        said = super().words(perception)
        load = self.names.index("step: load")
        if np.asarray(perception)[3] and not said[load]:
            said[load] = "put the shelf down that you carry (unload)"
        return said

    def reason(self, skill: int, why: int, perception: np.ndarray) -> str:
        name, load = self.names[skill], int(np.asarray(perception)[3])
        if name in ("fetch a request", "park") and load:
            return "you carry a shelf"
        if name == "deliver" and load != REQUESTED:
            return "you carry no requested shelf" if why != DONE else "it is done"
        if name == "put back" and load != SHELF:
            return "you carry a requested shelf: deliver it first" if load else "you carry nothing"
        if name == "step: load":
            return "you are on no empty rack" if load else "no shelf stands on your cell"
        if name == "step: forward":
            return "a shelf or the edge is ahead of you" if load else "the edge is ahead of you"
        if why == NONE:
            return {
                "fetch a request": "every requested shelf is carried or has a robot on its cell",
                "put back": "there is no empty rack",
            }.get(name, "there is none without a robot on its cell")
        return super().reason(skill, why, perception)

    def plans(self, perception: Array) -> tuple[list[Details], Array]:
        mission, (rows, columns) = self._mission, self._mission.size
        split = 4 * mission.players
        listed = perception[:split].reshape(-1, 4).astype(jnp.int32)
        shelves = perception[split:].reshape(rows, columns)
        y, x, heading, load = listed[0]
        down, across = cells((rows, columns))
        others = jnp.any(
            (listed[1:, 0, None, None] == down) & (listed[1:, 1, None, None] == across), axis=0
        )
        marked = np.zeros(rows * columns, bool)
        marked[list(mission.goals)] = True
        goals = marked.reshape(rows, columns)
        racks = np.asarray(mission.racks).reshape(rows, columns)
        empty = load == 0
        targets = jnp.stack([
            (shelves == REQUESTED) & ~others,
            jnp.asarray(goals),
            racks & (shelves == 0) & ~others,
            jnp.asarray(goals),
            (shelves == SHELF) & ~others,
        ])  # fmt: skip
        price = 1.0 + _BODY * others + jnp.where((load > 0) & (shelves > 0), FAR, 0.0)
        times = driving(targets, price)
        here = times[:, y, x]  # [5, 4]
        turns = [here[:, jnp.asarray(way)[heading]] + 1.0 for way in (TURNED_LEFT, TURNED_RIGHT)]
        ahead = forward(times, price)[:, y, x][:, heading]
        options = jnp.stack([ahead, *turns], axis=1)  # [5, 3]
        way = jnp.asarray((FORWARD, LEFT, RIGHT))[jnp.argmin(options, axis=1)]
        steps = here[:, heading]
        many, held = counted(steps, _BODY)
        arrived = steps <= 0
        # A requested shelf that is on a goal is delivered in the step that brings it there.
        acts = jnp.asarray((LOAD, STAY, LOAD, STAY, STAY))
        extra = jnp.asarray((1.0, 0.0, 1.0, 0.0, 0.0))
        able = jnp.stack([empty, load == REQUESTED, load == SHELF, True, empty])
        # What stands on a goal and is not requested may have been delivered just now.
        given = arrived[1] & (load == SHELF)
        done = jnp.stack([~empty, given, empty, arrived[3], arrived[4]])
        there = jnp.any(targets, axis=(1, 2)) & able
        why = jnp.where(there, jnp.where(steps < FAR, POSSIBLE, NO_WAY), NONE)
        why = jnp.where(done, DONE, why)
        found = Details(
            jnp.where(arrived, acts, way), why, jnp.where(steps < FAR, many + extra, -1), held
        )
        row, column = y + jnp.asarray(ROWS)[heading], x + jnp.asarray(COLUMNS)[heading]
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        standing = shelves[jnp.clip(row, 0, rows - 1), jnp.clip(column, 0, columns - 1)] > 0
        drives = inside & ~((load > 0) & standing)
        stands = shelves[y, x] > 0
        loads = jnp.where(empty, stands, jnp.asarray(racks)[y, x] & ~stands)
        always = jnp.bool_(True)
        return [found], jnp.stack([always, drives, always, always, loads])

    def rules(self) -> str:
        return (
            "A skill drives its way one step each time you name it, around others if it can; go on "
            "naming it until it is done, or name another one. Skills know the whole warehouse, "
            "also what you do not see.\n"
            "fetch a request: drive to the nearest requested shelf that stands, and pick it up. "
            "deliver: bring the requested shelf that you carry to the nearest goal. put back: "
            "bring the shelf that you carry, if it is not requested, to the nearest empty rack, "
            "and put it down. go to a goal: drive to the nearest one. park: drive under "
            "the nearest shelf that is not requested, out of the way.\n" + self._steps()
        )
