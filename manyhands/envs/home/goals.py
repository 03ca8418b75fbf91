"""Goals as sentences, and sentences as goals."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.config import nearest
from manyhands.core.env import ConfigError
from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.words import tokens, whole_number
from manyhands.envs.home.catalog import Catalog, words
from manyhands.envs.home.naming import Named, Names, alfworld_name, plural
from manyhands.envs.home.scene import Facts, article, joined, preposition, state_words
from manyhands.envs.home.state import (
    BITS,
    LAMP,
    MOST_CONDITIONS,
    MOST_OBJECTS,
    NONE,
    SLICED,
    TARGETS,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
UNTOLD = "object"  # what is said for a kind that a player is not told


class Condition(NamedTuple):
    """What a goal asks for; numbers as in `HomeState`.

    Attributes:
        kind: of the objects, or `TARGETS`.
        number: how many of them.
        bits: the state that they must have.
        where: the kind of the receptacles in or on which they must be, or `LAMP`.
        untold: the parts that are not told: of "object", "where" and "state".
    """

    kind: int
    number: int
    bits: int
    where: int
    untold: tuple[str, ...] = ()


# ---- sentences -----------------------------------------------------------------------------------


def sentence(catalog: Catalog, conditions: Sequence[Condition]) -> str:
    """A goal in words: "put a clean mug in a cabinet". Conditions of one place are one clause."""
    return _sentence(catalog, tuple(conditions))


@functools.lru_cache(maxsize=4096)
def _sentence(catalog: Catalog, conditions: tuple[Condition, ...]) -> str:
    groups: dict[Any, list[Condition]] = {}
    for condition in conditions:
        hidden = "where" in condition.untold
        groups.setdefault(None if hidden else condition.where, []).append(condition)
    return ", and ".join(_clause(catalog, where, group) for where, group in groups.items())


def _clause(catalog: Catalog, where: int | None, group: list[Condition]) -> str:
    what = joined([_what(catalog, each) for each in group])
    if where is None:
        return f"put {what} in a place (untold)"
    if where == LAMP:
        return f"look at {what} under a lamp"
    place = article(words(catalog.receptacle_kinds[where]))
    verb = "bring" if all(each.kind == TARGETS for each in group) else "put"
    way = "to" if verb == "bring" else preposition(catalog, where)
    return f"{verb} {what} {way} {place}"


def _what(catalog: Catalog, condition: Condition) -> str:
    """The objects of a condition: "a clean mug", "two forks"."""
    if "object" in condition.untold:
        name = UNTOLD
    elif condition.kind == TARGETS:
        name = "target"
    else:
        name = words(catalog.object_kinds[condition.kind])
    count, states = condition.number, state_words(condition.bits)
    said = " and ".join(states if "state" not in condition.untold else ())
    noun = f"{said} {plural(name) if count > 1 else name}".strip()
    told = f"{_many(count)} {noun}" if count > 1 else article(noun)
    hidden = [_PARTS[part] for part in condition.untold if part != "where"]
    return f"{told} (untold: {', '.join(hidden)})" if hidden else told


_PARTS = {"object": "kind", "state": "state"}


def alfworld_sentence(catalog: Catalog, conditions: Sequence[Condition]) -> str:
    """A goal as ALFWorld words its tasks: "put two soapbar in cabinet"."""
    said = []
    for one in conditions:
        if one.untold or one.kind == TARGETS or one.where == NONE:
            return sentence(catalog, conditions)
        name = " and ".join([*state_words(one.bits)]) + " " * bool(one.bits)
        name += alfworld_name(catalog.object_kinds[one.kind])
        what = f"{_many(one.number)} {name}" if one.number > 1 else article(name)
        if one.where == LAMP:
            said.append(f"look at {what} under the desklamp")
        else:
            way = preposition(catalog, one.where)
            said.append(f"put {what} {way} {alfworld_name(catalog.receptacle_kinds[one.where])}")
    return ", and ".join(said)


def _many(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


# ---- sentences as data ---------------------------------------------------------------------------

_list = str.split
_VERBS = frozenset(
    _list(
        "put place bring carry move look examine clean wash heat warm cool chill find slice cut get"
    )
)
_LAMPS = ("lamp", "desklamp", "desk lamp", "floorlamp", "floor lamp", "light")
_EXAMPLE = 'like "put a clean mug in a cabinet"'
_IN = "(in|on|into|onto|in / on|inside|to|under|at|in or on)"
_STATES = {"clean": 1, "washed": 1, "hot": 2, "heated": 2, "warm": 2, "cool": 4, "cold": 4,
           "cooled": 4, "chilled": 4, "sliced": 16, "cut": 16}  # fmt: skip
_MADE = {
    "clean": "(clean|wash)",
    "hot": "(heat|heat up|warm|warm up)",
    "cool": "(cool|cool down|chill)",
    "sliced": "(slice|cut)",
}


def read(catalog: Catalog, said: str) -> tuple[Condition, ...]:
    """The goal that a sentence means: as `sentence` makes them, or as ALFWorld's tasks are worded
    ("heat some egg and put it in diningtable").

    Raises:
        ConfigError: it is no goal, or not one alone.
    """
    found: list[Condition] = []
    if not isinstance(said, str) or not said.strip():
        raise ConfigError(
            f'a goal is a sentence like "put a clean mug in a cabinet", given {said!r}'
        )
    for clause in _clauses(tokens(said)):
        readings = grammar(catalog).read(clause)
        meant = {_conditions(catalog, each.meaning, each.values) for each in readings}
        meant.discard(None)
        if len(meant) != 1:
            raise ConfigError(
                f'{clause!r} is no goal, or may be several; write it like "put a clean mug in a '
                'cabinet", "put two forks and a plate on a dining table", "look at a book under a '
                f'lamp" or "bring ten targets to a bed"{_hint(catalog, clause)}'
            )
        (one,) = meant
        found += one or ()
    if len(found) > MOST_CONDITIONS:
        raise ConfigError(f"a goal has at most {MOST_CONDITIONS} conditions, {said!r} {len(found)}")
    return tuple(found)


def _hint(catalog: Catalog, clause: str) -> str:
    """The name that a word which is none may be meant for."""
    known = [words(name) for name in (*catalog.object_kinds, *catalog.receptacle_kinds)]
    parts = {part for name in known for part in name.split()} | _VERBS | set(_STATES)
    for word in clause.split():
        if len(word) > 3 and word not in parts and word.rstrip("s") not in parts:
            hint = nearest(word, known)
            if hint:
                return f"; {word!r}:{hint}"
    return ""


def _clauses(said: list[str]) -> Iterator[str]:
    """A sentence at its verbs: "and put", but not "and put it"."""
    start = 0
    for i, word in enumerate(said):
        verb = said[i + 1] if i + 1 < len(said) else ""
        after = said[i + 2] if i + 2 < len(said) else ""
        if word in ("and", "then", ".") and verb in _VERBS and after not in ("it", "them"):
            if i > start:
                yield " ".join(said[start:i])
            start = i + 1
    yield " ".join(said[start:])


class _Items:
    """A slot: one or several kinds of objects with their states, "a clean mug and two forks"."""

    def __init__(self, catalog: Catalog):
        self.names = Names(catalog.object_kinds, several=True)

    def __call__(self, said: list[str], start: int) -> Iterator[tuple[Any, int]]:
        found: list[tuple[Named, int, int]] = []
        i = start
        while True:
            item = self._item(said, i)
            if item is None:
                return
            found.append(item[0])
            i = item[1]
            yield tuple(found), i - start
            if i < len(said) and said[i] in ("and", "plus"):
                i += 1
            if i >= len(said):
                return

    def _item(self, said: list[str], i: int) -> tuple[tuple[Named, int, int], int] | None:
        count, bits = 1, 0
        if i < len(said) and said[i] in ("a", "an", "some", "the", "one"):
            i += 1
        elif i < len(said) and (number := whole_number(said[i])) is not None:
            count, i = number, i + 1
        while i < len(said) and (
            said[i] in _STATES or (said[i] == "and" and said[i - 1] in _STATES)
        ):
            bits |= _STATES.get(said[i], 0)
            i += 1
        if i >= len(said) or not 0 < count <= MOST_OBJECTS:
            return None
        if said[i] in ("target", "targets"):
            i += 1 + (said[i + 1 : i + 2] in (["object"], ["objects"]))
            return (Named((TARGETS,), None), count, bits), i
        longest = None
        for named, length in self.names(said, i):
            if named.number is None:
                longest = named, i + length
        return None if longest is None else ((longest[0], count, bits), longest[1])


@functools.lru_cache(maxsize=8)
def grammar(catalog: Catalog) -> Grammar:
    """The phrases of goals: a meaning is the bits that they add, or "look"."""
    slots: dict[str, Any] = {
        "items": _Items(catalog),
        "place": Names(catalog.receptacle_kinds),
        "lamp": dict.fromkeys(
            ("lamp", "desklamp", "desk lamp", "floorlamp", "floor lamp", "light"), 1
        ),
    }
    head = "[(your|my|the|our) (task|goal) is to] [then]"
    phrases: list[tuple[Any, Sequence[str]]] = [
        (
            0,
            [
                f"{head} (put|place|bring|carry|move|get) {{items}} {_IN} {{place}}",
                f"{head} find {{items}} and (put|place|bring) (it|them) {_IN} {{place}}",
            ],
        ),
        (
            "look",
            [
                f"{head} (look at|examine) {{items}} (under|with|by|in|at|using) {{lamp}}",
                f"{head} (look at|examine) {{items}} (under|in) light of {{lamp}}",
            ],
        ),
    ]
    phrases += [
        (
            bit,
            [
                f"{head} {_MADE[name]} {{items}} and (put|place|bring|move) (it|them) {_IN} "
                "{place}"
            ],
        )
        for bit, name in BITS.items()
        if name in _MADE
    ]
    return Grammar(phrases, slots)


def _conditions(
    catalog: Catalog, meaning: Any, values: dict[str, Any]
) -> tuple[Condition, ...] | None:
    """The conditions of a clause; None if it leaves open what is meant, or asks for what no object
    can be."""
    where = LAMP
    if meaning != "look":
        place = values["place"]
        if place.number is not None or len(place.kinds) != 1:
            return None
        (where,) = place.kinds
    found = []
    for named, count, bits in values["items"]:
        if len(named.kinds) != 1:
            return None
        (kind,) = named.kinds
        bits |= meaning if isinstance(meaning, int) else 0
        if kind != TARGETS and not possible(catalog, kind, bits, where):
            return None
        found.append(Condition(kind, count, bits, where))
    return tuple(found)


def possible(catalog: Catalog, kind: int, bits: int, where: int) -> bool:
    """Whether objects of a kind can have such a state, and be in such a place."""
    for bit, may in ((1, "clean"), (2, "heat"), (4, "cool"), (SLICED, "slice")):
        if bits & bit and not catalog.may[may][kind]:
            return False
    if where == LAMP:
        return bool(catalog.may["carry"][kind])
    return bool(catalog.can["takes"][where, kind])


# ---- goals of a state ----------------------------------------------------------------------------


def conditions_of(home: Home, facts: Facts, agent: int | None = None) -> list[Condition]:
    """The conditions of a state's goal, as an agent is told them; None: all of them."""
    found = []
    for k, (kind, count, bits, where) in enumerate(
        zip(facts.goal_kind, facts.goal_count, facts.goal_bits, facts.goal_where, strict=True)
    ):
        if kind == NONE:
            continue
        knows = agent is None or agent >= home.players or facts.told[agent][k]
        found.append(Condition(kind, count, bits, where, () if knows else tuple(home.hidden)))
    return found


def told_to(home: Home, facts: Facts, agent: int | None, alfworld: bool = False) -> str:
    """The goal in words, as an agent is told it; None: all of it."""
    if home.family == "follow":
        if agent is None or agent == 0 or agent >= home.players:
            upcoming = facts.errand[min(facts.errands, home.errand_count - 1)]
            return f"go from errand to errand; the next is at {facts.receptacle_names[upcoming]}"
        return f"stay in the room where {home.agents[0]} is, but not at the same receptacle"
    words_for = alfworld_sentence if alfworld else sentence
    return words_for(home.catalog, conditions_of(home, facts, agent))


def described(catalog: Catalog, conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    """Conditions as descriptions of homes have them (`starts.py`)."""
    return [
        {
            "kind": "target" if one.kind == TARGETS else catalog.object_kinds[one.kind],
            "count": one.number,
            "state": list(state_words(one.bits)),
            "where": "lamp" if one.where == LAMP else catalog.receptacle_kinds[one.where],
        }
        for one in conditions
    ]


def fields(catalog: Catalog, conditions: Sequence[Condition], slots: int) -> dict[str, np.ndarray]:
    """Conditions as the fields of `HomeState`, u8[slots]."""
    rows = [(c.kind, c.number, c.bits, c.where) for c in conditions]
    if len(rows) > slots:
        raise ConfigError(f"goals have at most {slots} conditions here, given {len(rows)}")
    rows += [(NONE, 0, 0, NONE)] * (slots - len(rows))
    names = ("goal_kind", "goal_count", "goal_bits", "goal_where")
    return dict(zip(names, np.array(rows, np.uint8).T, strict=True))
