"""Reading what agents on a field answer."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from manyhands.core.answers import Answer, decide
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.grammar import Grammar
from manyhands.envs.mission.field.effects import ahead, choices, word
from manyhands.envs.mission.field.look import Look, beyond, cell_words, look_of, steps
from manyhands.envs.mission.field.state import CAUGHT, LOCKED, FieldState

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

_GO = "[(go|move|step|walk|head|run|take a step|make a step|take one step|one step|1 step)]"
_FAR = "[(one|1|a single)] [(step|cell|square|field|tile)]"
_AIM = "[(to|towards|toward|for)] [the]"
_ALSO = {
    "north": "up|upward|upwards|northward|northwards|n",
    "south": "down|downward|downwards|southward|southwards|s",
    "west": "left|leftward|leftwards|westward|westwards|w",
    "east": "right|rightward|rightwards|eastward|eastwards|e",
}
_STAY = [
    "(stay|wait|noop|none|pass|idle|skip|hold|rest|stand still|do nothing|no op|stay put)",
    "(stay|wait|remain|hold) [(here|there|where i am|in place|still|at my place|in this room)] "
    "[for] [(one|1|a)] [(turn|step|moment|bit)]",
    "(skip|pass) [(my|this)] (turn|move|step)",
    "do nothing [at all]",
]
_HERE = "[(here|now|in this room|on this cell)]"
_AHEAD = "[(ahead|forward|straight ahead|in front [of me]|ahead of me|at (it|them|him|her))]"
# Verb -> its patterns; others have their own name alone.
_VERBS: dict[str, list[str]] = {
    "press": [f"(press|push|hit|use|activate) [(the|this|that)] (button|switch) {_HERE}",
              "press [it]", "push it"],
    "repair": [f"(repair|fix|work on|mend) [(the|this|that)] (generator|machine|engine) {_HERE}",
               f"(repair|fix|mend) [it] {_HERE}"],
    "drop": [f"(drop|put down|put|lay down|leave|release|lay) [(the|my|this)] [key] [down] "
             f"{_HERE}"],
    "lock": [f"lock [(the|this|that)] [box] {_AHEAD}"],
    "unlock": [f"(unlock|open|release) [(the|this|that)] [box] {_AHEAD}"],
    "zap": [f"(zap|shoot|fire|fire the beam|fire a beam|beam|fire the zap) {_AHEAD}",
            "(zap|shoot) (them|him|her|it|the other|the others|whoever is ahead)"],
    "clean": [f"(clean|wash|scrub|clean up) [(the|this)] [(river|water|dirt|dirty water)] "
              f"{_AHEAD}"],
    "tag": ["(tag|touch) [(them|him|her|it|the runner|the runners|everybody|everyone|all)] "
            "[(near|beside|around) me]"],
    "mine": [f"(mine|strike|dig|hit) [(the|this|that)] "
             f"[(ore|gold|iron|gold ore|iron ore)] {_AHEAD}"],
}  # fmt: skip


@functools.lru_cache(maxsize=64)
def _grammar(actions: tuple[str, ...]) -> Grammar:
    """The phrases of a field; their meanings are names of actions."""
    phrases: list[tuple[str, list[str]]] = [("stay", _STAY)]
    rooms = [name.removeprefix("go to room ") for name in actions if name.startswith("go to room ")]
    for way, also in _ALSO.items():
        if way in actions:
            patterns = [
                f"{_GO} {_FAR} {_AIM} ({way}|{also})",
                f"{_GO} ({way}|{also}) {_FAR}",
                f"{_GO} ({way}|{also}) [by] {_FAR}",
            ]
            phrases.append((way, patterns))
    for name in rooms:
        patterns = [
            f"[(go|move|walk|run|head|step|enter|sneak)] [(to|into|in|for|through to)] room {name}",
            f"(go|move|walk|run|head|step) (to|into) {name}",
        ]
        phrases.append((f"go to room {name}", patterns))
    for verb in actions:
        if verb != "stay" and verb not in _ALSO and not verb.startswith("go to room "):
            phrases.append((verb, [verb, f"use [the] {verb} [beam]", *_VERBS.get(verb, [])]))
            if verb == "lock":
                phrases.append(("unlock", _VERBS["unlock"]))
    return Grammar(phrases, keep=("right", "left", "now"))


def parse(mission: Mission, text: Any, state: FieldState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the agent now."""
    plan, look = mission.plan, look_of(mission, state, agent)
    if not look.open:
        raise IllegalAction("The episode is over; there is nothing to answer.")

    def refuse(reason: str) -> IllegalAction:
        allowed = names_of([word(mission, look, action) for action in look.open])
        return IllegalAction(f"{reason}. Answer with exactly one action: {allowed}.")

    def mean(answer: Answer) -> int | None:
        said = " ".join(answer.plain.split()).rstrip(".")
        for choice in choices(mission, state, agent):
            if said == str(choice).lower():
                return int(choice.action)
        named = {reading.meaning for reading in _grammar(plan.actions).read(answer.plain)}
        if len(named) != 1:
            return None
        (name,) = named
        if name in ("lock", "unlock") and "lock" in plan.verbs:
            locked = ahead(look) == LOCKED
            if plan.verbs["lock"] in look.open and locked != (name == "unlock"):
                raise refuse(f"the box ahead of you is {'' if locked else 'not '}locked")
            name = "lock"
        action = plan.actions.index(name)
        if action not in look.open:
            raise refuse(_why(mission, look, agent, action))
        return action

    return int(decide(text, mean, refuse))


def _why(mission: Mission, look: Look, agent: int, action: int) -> str:
    """Why an action is not open."""
    plan, own = mission.plan, look.own
    name = plan.actions[action]
    if own.out == CAUGHT or own.row < 0:
        return "you are out"
    if own.out:
        return f"you cannot act for {steps(own.out)}"
    if not plan.able[agent, action]:
        return f"your team cannot {name}"
    if action > plan.moves:
        if name in plan.beams:
            return f"you can use your beam again in {steps(own.cool)}"
        return {
            "press": "there is no button where you are",
            "repair": "there is no broken generator where you are",
            "drop": "you carry no key, or are not on plain floor",
            "lock": "there is no box ahead of you",
        }[name]
    if plan.exits is not None:
        return f"no open exit leads from your room to room {plan.room_names[action - 1]}"
    row, column = beyond(own, action - 1)
    rows, columns = plan.size
    if not (0 <= row < rows and 0 <= column < columns):
        return f"{name} of you the field ends"
    return f"{name} of you is {cell_words(mission, int(look.cells[row, column]))}"
