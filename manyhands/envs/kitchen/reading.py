"""Reading an answer: the one action that it means.

A player may name an action ("north", "5"), or say what it would do now ("turn to the pot", "take an
onion"). The latter is checked against what the chef sees: said of anything else, it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import number, numbered, quoted
from manyhands.core.reading.grammar import Reading
from manyhands.core.reading.parts import REASON, Answer
from manyhands.core.reading.pronouns import before_it, named
from manyhands.core.reading.words import tokens
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import COUNTER, POT
from manyhands.envs.kitchen.phrases import (
    BY_DISPENSER,
    Cell,
    bare,
    grammar,
    offered,
    places,
    short,
)
from manyhands.envs.kitchen.state import ACTIONS, EAST, INTERACT, NORTH, NOTHING, SOUTH, STAY


class Seen(NamedTuple):
    """What an answer is checked against."""

    agent: int
    here: tuple[int, int]
    facing: int
    hand: int
    beside: tuple[Cell, ...]  # north, south, east, west
    choices: tuple[str, ...]
    pots: tuple[tuple[int, int], ...] = ()  # in view

    @property
    def deed(self) -> str:
        """What an interact would do now, in the words of the choice."""
        return self.choices[INTERACT].partition(": ")[2]


# ---- reading -------------------------------------------------------------------------------------

_OF_IT = (
    before_it(
        "place",
        "face turn_to turn_towards turn_toward turn_to_face approach go_to walk_to move_to step_to",
    ),
)
_PLACE_WORDS = {tuple(tokens(name)): target for name, target in places()}
_LONGEST = max(map(len, _PLACE_WORDS))


def with_names(text: str, seen: Seen) -> str:
    """An answer with the names that its pronouns stand for ("pot A is free, so I face it")."""

    def name(said: list[str], start: int) -> Iterator[tuple[str, frozenset[int], int]]:
        for length in range(1, min(_LONGEST, len(said) - start) + 1):
            target = _PLACE_WORDS.get(tuple(said[start : start + length]))
            if target is not None:
                ways = frozenset(i for i, cell in enumerate(seen.beside) if target.fits(cell))
                if ways:
                    yield "place", ways, length

    return named(text, name, _OF_IT, ())


_NUMBER_AFTER = re.compile(r"(.+?) \((?:action )?#?([0-9]{1,2})\)")
_NUMBER_BEFORE = re.compile(r"(?:action )?#?([0-9]{1,2}) ?(\(.+\))")
_CHEF = re.compile(r"chef[ _]?([0-9])(?:[:,]? will|[:,])? (.+)")
_RIGHT_NOW = re.compile(r"\bright (?:now|then|here|there|away|again|to)\b")
# What tells how a chef stands, and what does if it stands so.
_STANDS = re.compile(
    r"\b(?:i'm|i am|we're|we are|now|am|are) (?:\w+ )?(?:facing|looking)\b"
    r"(?!(?: at)?(?:\W*$| with| onto| for))"
)
_TURNS = re.compile(r"\b(?:turn|fac|look|rotat|swing|spin|pivot|point)\w*")
_FACES = re.compile(r"\b(?:facing|looking|(?:i|we) (?:face|look))\b")
_FACING = re.compile(r"(?:i )?(?:still |now )?(?:face|look)\b")
_CALLED = frozenset(str.split("partner friend team everyone"))
_FIRST_PERSON = frozenset(str.split("i i'll i'm i've i'd my we we'll we're let's"))


def mean(answer: Answer, seen: Seen) -> int | None:
    """The action that a decisive part means, None if it names none."""
    plain = answer.plain
    found = number(plain)
    if found is not None:
        # "Soup of 3 onions, 20 points": beyond the actions, a number in a reason names none.
        return None if answer.kind == REASON and found > INTERACT else _numbered(found)
    pair = _pair(plain)
    if pair is None:
        return _words(answer.text, plain, seen, answer.kind == REASON)
    action = _words(answer.text, pair[1], seen)
    if action is not None and action != pair[0]:
        raise refuse(
            f"{quoted(answer.text)} gives the number {pair[0]} but the words of {ACTIONS[action]} "
            f"({action})"
        )
    return action


def refuse(reason: str) -> IllegalAction:
    allowed = ", ".join(f"{name} ({i})" for i, name in enumerate(ACTIONS))
    return IllegalAction(f"{reason}. Answer with exactly one action, by name or number: {allowed}.")


def _numbered(action: int) -> int:
    if not 0 <= action <= INTERACT:
        raise refuse(f"there is no action {action}")
    return action


def _pair(plain: str) -> tuple[int, str] | None:
    """(number, words) of "5. interact", "interact (5)", "5 (interact)"."""
    after, before = _NUMBER_AFTER.fullmatch(plain), _NUMBER_BEFORE.fullmatch(plain)
    if after:
        return int(after[2]), after[1]
    return (int(before[1]), before[2]) if before else numbered(plain)


def _words(text: str, plain: str, seen: Seen, told: bool = False) -> int | None:
    own = _CHEF.fullmatch(plain)  # "chef_0: north", said by chef 0
    if own and int(own[1]) == seen.agent:
        plain = own[2]
    words = set(tokens(plain))
    if not words.isdisjoint(_CALLED) and words.isdisjoint(_FIRST_PERSON):
        return None  # an order to others
    actions = {reading.meaning for reading in offered(seen.choices).read(plain)}
    reasons = []
    if not actions and not _STANDS.search(plain):
        readings = [r for known in (grammar(), short(), bare()) for r in known.read(plain)]
        for reading in readings:
            if told and reading.meaning == "alone":
                continue  # "two more to go" counts something
            if told and reading.meaning == "spot":
                continue
            action = _resolved(reading, plain, seen)
            if told and action == seen.facing and _FACING.match(plain):
                continue  # how the chef stands
            said = reading.meaning != "ahead" and _FACES.search(plain)
            if action == seen.facing and said:
                action = "you face that way already"
            if isinstance(action, str):
                reasons.append(action)
            else:
                actions.add(action)
    if len(actions) > 1:
        raise refuse(f"{quoted(text)} could be {names_of([ACTIONS[a] for a in sorted(actions)])}")
    if actions:
        return actions.pop()
    if reasons and not (told and len(words) == 1):  # a mere thing in a reason is no action
        reason = _NOT_HELD if _NOT_HELD in reasons else reasons[0]
        raise refuse(f"{quoted(text)}: {reason}")
    return None


_NOT_HELD = "that is not what you hold"


def _resolved(reading: Reading, plain: str, seen: Seen) -> int | str:
    """The action of a reading, or why it is none."""
    kind, values = reading
    if kind in ("go", "turn", "name") and _RIGHT_NOW.search(plain):
        return "'right' may be a direction or not"
    way = _first(values, "way", "side", "hand", "rest", "clear", "letter", "arrow", "near", "sided")
    if kind == "go" and values.get("aim_way", way) != way and not _TURNS.search(plain):
        return "it names two ways"
    if values.get("again", way) != way:
        return "the arrow points another way"
    if seen.hand not in values.get("carried", {seen.hand}):
        return _NOT_HELD
    if kind == "go" and "aim" in values and _TURNS.search(plain):
        beside = [i for i in range(4) if _is_at(values, "aim", i, seen)]
        if beside and way not in beside:  # whoever turns to a thing is beside it
            return f"that is {names_of([ACTIONS[i] for i in beside])} of you"
    if kind in ("go", "name"):
        return values.get("name", values.get("short", way))
    if kind == "turn":
        if seen.facing != NORTH:
            return "left and right depend on where you face; name a direction of the compass"
        return way
    if kind == "ahead":
        return seen.facing
    if kind == "back":
        return seen.facing ^ 1  # north and south, east and west are pairs
    if kind in ("number", "alone"):
        if kind == "alone" and len(tokens(plain)) > 1 and not re.search("[0-9]", plain):
            return "number words count alone"  # "one, please" may be an onion
        action = _numbered(values["n"])
        return action if values.get("own_name", action) == action else "number and name differ"
    if kind == "stay":
        there = "x" in values and (values["x"], values["y"]) != seen.here
        return "you are not there" if there else STAY
    if kind == "spot":
        return _spot(values, plain, seen)
    if kind in ("step", "face"):
        return _towards(values, way, seen)
    if kind == "bump":
        towards = _towards(values, way, seen)
        done = towards == seen.facing and not seen.deed.startswith("nothing")
        return "turn to it, or interact with it" if done else towards
    return _deed(kind, values, seen)


def _first(values: dict[str, Any], *labels: str) -> Any:
    return next((values[label] for label in labels if label in values), None)


def _towards(values: dict[str, Any], way: int | None, seen: Seen) -> int | str:
    """The direction of a place or a cell beside the chef."""
    if "x" in values:
        where = values["x"], values["y"]
        ways = [i for i, cell in enumerate(seen.beside) if (cell.x, cell.y) == where]
    else:
        ways = [i for i in range(4) if _is_at(values, "place", i, seen)]
    if not ways:
        return "that is not beside you; name the next step"
    if "towards" in values:  # a side of the chef or of the map
        way = values["towards"]
        sure = ways == [way] or (way in ways and seen.facing == NORTH)
        return way if sure else "name a direction of the compass"
    if way is not None:
        return way if way in ways else f"that is not {ACTIONS[way]} of you"
    if len(ways) > 1:
        return f"it could be {names_of([ACTIONS[i] for i in ways])}"
    return ways[0]


def _spot(values: dict[str, Any], plain: str, seen: Seen) -> int | str:
    """The direction of a place that is named alone, where turning to it is all that can be meant:
    it is no thing that the chef holds, and not in front of it."""
    named = values.get("place")
    written = "x" in values and "(" in plain  # "1, 2" may be two actions
    if not written and (named is None or seen.hand in named.things):
        return "say what you do with it"
    way = _towards(values, None, seen)
    return "you face that already; say what you do" if way == seen.facing else way


def _is_at(values: dict[str, Any], label: str, way: int, seen: Seen) -> bool:
    """Whether the place under a label may be what lies in a direction."""
    cell = seen.beside[way]
    where = values.get(f"{label}_x", cell.x), values.get(f"{label}_y", cell.y)
    return (
        (label not in values or values[label].fits(cell))
        and where == (cell.x, cell.y)
        and values.get(f"{label}_way", way) == way
        and (f"{label}_side" not in values or _sided(values[f"{label}_side"], way, cell, seen))
        and (f"{label}_free" not in values or _empty(cell))
        and (f"{label}_back" not in values or way == seen.facing ^ 1)
        and cell.thing in values.get(f"{label}_what", {cell.thing})
        and (cell.code == COUNTER or f"{label}_what" not in values)
    )


def _sided(side: int, way: int, cell: Cell, seen: Seen) -> bool:
    """Whether what lies in a direction is "the left one": to that side, or the last pot there."""
    axis, last = (1 if side in (NORTH, SOUTH) else 0), side in (SOUTH, EAST)
    ends = [pot[axis] for pot in seen.pots]
    end = (max(ends) if last else min(ends)) if len(set(ends)) > 1 else None
    return side == way or (cell.code == POT and (cell.x, cell.y)[axis] == end)


def _empty(cell: Cell) -> bool:
    return cell.code in (POT, COUNTER) and cell.thing == NOTHING


def _deed(kind: str, values: dict[str, Any], seen: Seen) -> int | str:
    """An interact, if it would do now what is said."""
    front, verb = seen.beside[seen.facing], seen.deed.split()[0]
    if verb == "take" and front.code != COUNTER:
        moved = {BY_DISPENSER[front.code]}
    elif verb == "start":
        held = zip(ask.INGREDIENTS, ask.counts(front.thing), strict=True)
        moved = {front.thing, NOTHING, *(thing for thing, count in held if count)}
    else:
        moved = {front.thing if verb in ("take", "plate") else seen.hand}
    put = verb == "put" or (verb == "serve" and "place" in values)
    fits = {
        "act": True,
        "do take": verb in ("take", "plate"),
        "do put": put,
        "do put down": put and front.code == COUNTER,
        "do fill": put and front.code != COUNTER,
        "do start": "start" in seen.deed,
    }.get(kind, kind == f"do {verb}")
    if "whole" in values and "3 of 3" not in seen.deed:
        return "that is not the last ingredient"
    there = all(_is_at(values, label, seen.facing, seen) for label in ("on", "place"))
    things = not moved.isdisjoint(values.get("thing", moved))
    if fits and there and things and seen.hand in values.get("tool", {seen.hand}):
        return INTERACT
    return f"that is not what an interact does now ({seen.deed})"
