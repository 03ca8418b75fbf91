"""Ways to say to which room one goes, and that one stays, in a graph of rooms."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyhands.core.reading.phrases import TIME
from manyhands.envs.mission.field.look import Look
from manyhands.envs.mission.field.state import DOOR, GROUPS, Plan

# ---- going ---------------------------------------------------------------------------------------

_WALK = (
    "(go|move|walk|run|head|step|enter|sneak|proceed|travel|advance|continue|flee|escape|retreat"
    "|hurry|slip|dash|rush|race|sprint|bolt|duck|dart|charge|creep|jump|get|come|stroll|march|cross"
    "|pass|push|set off|be off|off|withdraw|fall back|relocate|hop|pop|dive|swing|leave for|burst"
    "|return|barge|storm|make my way|make (a (run|dash|break)|straight)|reach|visit)"
)
_FAR = (
    "[(back|on|over|straight|directly|right|away|off|out|along|down|up|across|onward|in|inside"
    "|straight (in|on|back)|[(the|in the)] other (way|direction)|away from {off:who}"
    "|right (in|over))]"
)
_EXIT = (
    "(through|by|via|out of|using|down|along) [(the|my|an|this|that|its|open)] [open] "
    "(exit|door|passage|way|doorway|opening|corridor|hallway)"
)
_INTO = (
    "(to|into|in|inside|for|towards|toward|through to|through into|over to|over into|on to|back to"
    "|onward to)"
)
_ROOM = "(room {room}|[#] {figure})"
_QUICK = "[[.] (quick|fast|now|first|hurry|right away|again)]"
_CATCH = (
    "(catch|get|grab|seize|nab|trap|corner|capture|surprise|arrest|take|finish off|bag|find"
    "|face|tackle|stop|shut in|box in|have|collar|pounce on)"
)
_HIM = "({LABEL:who}|{LABEL:it})"
_THERE = "[(there|inside|in there|at once|in it|now|up|for good|on the spot|before it leave)]"
_HIM_THERE = f"{_HIM.replace('LABEL', 'prey')} {_THERE}"
# What one goes for, of somebody who is in that room, and of others.
_ANYBODY = "({any:who}|{any:it})"
_WHY = (
    f"[[.] [(and|to|so [that] (i|we) [can])] ({_CATCH} {_HIM_THERE}"
    f"|(head|cut) {_ANYBODY} off|(head|cut) off {_ANYBODY}|(meet|join|help|intercept) "
    f"{_ANYBODY} [there]"
    "|(end|finish|win) [(this|it|game)]|close in [from both sides]|wait for {any:who})]"
)
_OF = _HIM.replace("LABEL", "of")
_WHERE_ONE_IS = (
    "(({of:owner}|{of:its}) room|{of:who} s room|room (of|with) {of:who}"
    f"|[room] (where|which|in which) {_OF} (is|be|sit|stand|hide|wait|stay) [in] [now]"
    "|room that {of:who} is in)"
)
_THING = "{thing} [(of|for|to|that open) door {door:n}]"
_WHERE_A_THING_IS = (
    f"(room (with|of|(that|which) (has|have|contains|holds)|containing|where [there] is) "
    f"[(its|his|her|their)] {_THING} [(in it|is)]"
    f"|{_THING} [room])"
)
_NAMELY = "[[(.|in|at|=)] ([(number|no)] {figure}|room {room})]"
_IN = "(in|inside|in there|inside there|there|right in|straight in)"
TO_ROOM = [
    f"{_WALK} {_FAR} [.] [{_EXIT}] {_INTO} {_ROOM} {_QUICK} {_WHY}",
    f"{_WALK} {_FAR} room {{room}} {_QUICK} {_WHY}",
    f"{_WALK} {_INTO} {_ROOM} {_FAR}",
    "(go|run|head|move|walk|enter|flee) [#] {figure}",
    "(take|pick|choose|try|use) (room {room}|[#] {figure}|exit [#] {figure})",
    f"{_FAR} {_INTO} {_ROOM} (with me|i (go|run|walk|head|move|step|flee))",
    f"{_INTO} {_ROOM} it is",
    f"(circle|swing|loop|go|head|come) (round|around) (via|through|by way of|by|to) {_ROOM} {_WHY}",
    f"away from {{off:who}} [.] {_INTO} {_ROOM}",
    f"my (next|new|target) room is {_ROOM}",
    "my (destination|target|aim|next (stop|goal)) [is] room {room}",
    "to be in room {room} [next]",
    f"(hide|shelter|take (cover|refuge)) in {_ROOM} [(away|safe)] from {{off:who}}",
    "goto [#] {figure}",
    f"(run for it|close in|make a (run|dash)) [.] [{_INTO}] room {{room}}",
    f"(close in|go|move|head|run|cut through) (via|through|by way of) {_ROOM} {_WHY}",
]
TO_ROOM_IN_SHORT = [
    f"[(out|off|on|back|straight)] {_EXIT} {_INTO} {_ROOM} {_QUICK}",
    f"(exit|door|passage|way) (to|into) {_ROOM}",
    f"[{_INTO}] room {{room}} {_WHY}",
    f"[{_INTO}] room {{room}} . (quick|fast|hurry)",
    f"[(out|off|on|back|straight)] {_EXIT} {_INTO} [room] {{room}} {_QUICK}",
]
TO_ONE = [
    f"{_WALK} {_FAR} [{_EXIT}] [{_INTO}] {_WHERE_ONE_IS} {_NAMELY} {_WHY}",
    f"{_WALK} {_IN} [(and|to)] {_CATCH} {_OF} {_THERE}",
    f"{_WALK} {_IN} (after|on|with|to) {_OF} {_THERE}",
    f"(follow|chase|pursue|hunt|join|go after) {_OF} (in|inside|in there|there"
    f"|[right] into ({{its}}|its own) room) {_NAMELY}",
    f"(to|join|go to|meet|back to|run to|reach) {_OF} (in|at) {_ROOM}",
    f"[{_WALK}] {_FAR} [next door] (to|towards|at|for|after) {_OF} [.] [(in|at|into)] "
    f"room {{room}}",
    f"(join|meet|visit|go to|run to|walk to|go over to) {_OF}",
]
TO_A_THING = [f"{_WALK} {_FAR} [{_EXIT}] {_INTO} {_WHERE_A_THING_IS} {_NAMELY} {_QUICK}"]
TO_A_THING_IN_SHORT = [f"{_INTO} {_WHERE_A_THING_IS} {_NAMELY}", f"{_THING} room {_NAMELY}"]

# By the only exit.
WAY_OUT = [
    "(take|use|go through|leave (by|through)) [(my|this|that)] [(only|1|single|open)] "
    "(exit|door|passage|way out)",
    "(leave|quit|exit) [(this|my)] room",
    "[(go|get)] (out|through) [(by|through|via)] [(my|this)] only (exit|door|passage|way [out])",
]

# ---- staying -------------------------------------------------------------------------------------

_REST = (
    "(stay|wait|remain|keep|hide (here|there|in place)|hold|sit|stand|camp|hang (on|back)"
    "|hold [my] position|stay put|stand guard|keep watch|stand still|lie (low|still)"
    "|keep (low|hidden|still|quiet)|stay (hidden|quiet|low|out of sight|in hiding))"
)
_GUARD = (
    "(guard|block|watch|cover|close off|hold|defend|bar|keep|protect|seal [off]|shut off|cut off"
    "|control|plug|secure|close|deny|man)"
)
_WAY_OUT = (
    "[(the|this|that|its|his|her|their|my|our|both|all|{owner})] [only] "
    "(exit|door|passage|way [out]|doorway|path|corridor|escape|escape (route|way)|retreat|opening"
    "|crossing|junction|hallway) [(closed [off]|shut|covered|open)] "
    "[(to|into|from|towards|out of) [room] {other:room}] [here]"
)
_GUARDING = (
    f"[(and|to) ({_GUARD} {_WAY_OUT}"
    "|(hide|lie low|listen|keep quiet|stay hidden) [from {any:who}]"
    f"|wait [for {_ANYBODY}] [in room {{room}}])]"
)
_HERE = "[(here|there|put|where i (am|stand)|right here|in place)]"
IN_ROOM = [
    f"{_REST} {_HERE} {TIME} [in (room|#) {{room}}] {_HERE} {TIME} {_GUARDING}",
    f"{_REST} in {{room}} {TIME} {_GUARDING}",
    f"(guard|watch|hold|defend|keep|man) room {{room}} {TIME} {_GUARDING}",
    f"(stay|remain) {_HERE} (and|to) (watch|cover) (my|our|this|the) (side|end)",
    f"(guard|hold|watch|cover|block|bar|defend) {_WAY_OUT} [by (stay|wait|remain|stand) {_HERE}]",
    "(guard|watch|hold|defend|keep) (this|my) room",
    "(keep|hold|stay at|remain at) (my|this) (post|place|position|station|spot) "
    "[in (room|#) {room}]",
    f"(do not|don't|won't|will not|never) leave room {{room}} {TIME}",
]


# ---- what the words stand for --------------------------------------------------------------------


def pronouns(plan: Plan, agent: int) -> dict[str, Any]:
    """Slots of "it" and "its", where they can be but one: the only body of other teams."""
    others = [k for k in range(plan.bodies) if plan.of_team[k] != plan.of_team[agent]]
    one = tuple(others) if len(others) == 1 else ()
    return {
        "it": dict.fromkeys(("it", "him", "her", "he", "she"), one) if one else {},
        "its": dict.fromkeys(("its", "his", "her"), one) if one else {},
    }


def figures(plan: Plan) -> Any:
    """A slot of the rooms' numbers in figures: "I take one" may be another thing than room 1."""
    names = frozenset(str(name) for name in plan.room_names)

    def found(words: list[str], i: int) -> list[tuple[str, int]]:
        return [(words[i], 1)] if words[i].isdigit() and words[i] in names else []

    return found


def room_named(plan: Plan, look: Look, meaning: str, values: dict[str, Any]) -> int | str:
    """The action of going where a reading says, or why that is open or not so."""
    said = {str(values[label]) for label in ("room", "figure") if label in values}
    found = said
    if meaning == "way out":
        goes = (plan.actions[action].removeprefix("go to room ") for action in look.open if action)
        found = {name for name in goes if name in map(str, plan.room_names)}
    if meaning == "room of one":
        found = _rooms_of(plan, look, values["of"])
    elif meaning == "room of a thing":
        found = _rooms_with(plan, look, values)
    if said and not said <= found:
        return f"what you name is not in room {names(said)}"
    found = said or found
    near = {name for name in found if plan.actions.index(f"go to room {name}") in look.open}
    found = near or found
    if len(found) != 1:
        return "say which room" if found else "what you name is in no room that you see"
    (name,) = found
    if "prey" in values and name not in _rooms_of(plan, look, values["prey"]):
        return f"whom you name is not in room {name}"
    return plan.actions.index(f"go to room {name}")


def names(rooms: set[str]) -> str:
    """Rooms in order, for a sentence."""
    return ", ".join(sorted(rooms))


def _rooms_of(plan: Plan, look: Look, bodies: tuple[int, ...]) -> set[str]:
    """Where some bodies are, as far as they are in view."""
    return {
        str(plan.room_names[body.column])
        for body in look.others
        if body.row >= 0 and body.number in bodies
    }


def _rooms_with(plan: Plan, look: Look, values: dict[str, Any]) -> set[str]:
    """Where a thing is that is named."""
    codes = values["thing"]
    if "door" in values:
        codes = tuple(code for code in codes if (code - DOOR) % GROUPS + 1 == values["door"])
    return {str(plan.room_names[column]) for _, column in np.argwhere(np.isin(look.cells, codes))}
