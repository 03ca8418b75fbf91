"""A home in plain numbers and names, on the host: what texts and the reader of answers need."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.envs.home.catalog import Catalog
from manyhands.envs.home.names import names_of_slots
from manyhands.envs.home.state import (
    BITS,
    CLEANABLE,
    CLEANS,
    COOLABLE,
    COOLS,
    CUTS,
    HEATABLE,
    HEATS,
    HOLDS,
    LIGHTS,
    NONE,
    ON,
    OPENS,
    PACKABLE,
    SLICEABLE,
    SLICED,
    TARGETS,
    Actions,
    HomeState,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

# Receptacles of which one says "in", besides those that open.
_INSIDE = frozenset(
    ("bathtub_basin", "coffee_machine", "floor_corner", "garbage_can", "sink_basin", "toaster")
)
HANDS = ("left hand", "right hand")


class Facts(NamedTuple):
    """A state in plain numbers, with the fields of `HomeState`, and what things are called.

    Attributes:
        room_names, receptacle_names, object_names: by slot; empty for slots without one.
    """

    room_kind: list[int]
    steps: list[list[int]]
    kind: list[int]
    room: list[int]
    open: list[bool]
    abilities: list[int]
    takes: list[int]
    object_kind: list[int]
    traits: list[int]
    target: list[bool]
    place: list[int]
    bits: list[int]
    player_room: list[int]
    at: list[int]
    known_place: list[list[int]]
    known_bits: list[list[int]]
    seen: list[list[int]]
    known_open: list[list[int]]
    looked: list[list[int]]
    met_room: list[list[int]]
    met_at: list[list[int]]
    met: list[list[int]]
    goal_kind: list[int]
    goal_count: list[int]
    goal_bits: list[int]
    goal_where: list[int]
    told: list[list[bool]]
    task: int
    errand: list[int]
    errands: int
    best: list[int]
    time: int
    recent: list[list[int]]
    room_names: tuple[str, ...]
    receptacle_names: tuple[str, ...]
    object_names: tuple[str, ...]


_FIELDS = Facts._fields[:-3]


def facts_of(home: Home, state: HomeState) -> Facts:
    """A state, read once."""
    found: list[Any] = [np.asarray(getattr(state, name)).tolist() for name in _FIELDS]
    catalog = home.catalog
    rooms, kinds, things = (
        found[_FIELDS.index(name)] for name in ("room_kind", "kind", "object_kind")
    )
    return Facts._make(
        [
            *found,
            names_of_slots(tuple(rooms), catalog.room_kinds, always=False),
            names_of_slots(tuple(kinds), catalog.receptacle_kinds),
            names_of_slots(tuple(things), catalog.object_kinds),
        ]
    )


# ---- words for single things ---------------------------------------------------------------------


def preposition(catalog: Catalog, kind: int) -> str:
    """Whether things are in or on receptacles of a kind."""
    inside = catalog.can["opens"][kind] or catalog.receptacle_kinds[kind] in _INSIDE
    return "in" if inside else "on"


@functools.cache
def state_words(bits: int) -> tuple[str, ...]:
    """ "clean", "hot": the bits of an object in words."""
    return tuple(name for bit, name in BITS.items() if bits & bit)


def with_state(name: str, bits: int) -> str:
    """ "mug 2 (clean, hot)"."""
    said = state_words(bits)
    return f"{name} ({', '.join(said)})" if said else name


def article(name: str) -> str:
    """ "an egg"."""
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def the(room: str) -> str:
    """A room with its article, which a number makes needless."""
    return room if room[-1:].isdigit() else f"the {room}"


def joined(parts: Sequence[str], last: str = "and") -> str:
    """ "a, b and c"."""
    *first, end = parts
    return f"{', '.join(first)} {last} {end}" if first else end


def counted(number: int, name: str) -> str:
    """ "1 step", "2 steps"."""
    return f"{number} {name}{'s' * (number != 1)}"


@functools.lru_cache(maxsize=4096)
def ranges(names: tuple[str, ...]) -> list[str]:
    """Numbered names in short: "cabinet 1", "cabinet 2", "cabinet 4" are "cabinet 1-2, 4"."""
    found: list[str] = []
    kind, runs = "", list[list[int]]()
    for name in (*names, ""):
        own, _, number = name.rpartition(" ")
        if own != kind:
            if runs:
                said = [f"{a}-{b}" if b > a else f"{a}" for a, b in runs]
                found.append(f"{kind} {', '.join(said)}")
            kind, runs = own, []
        if runs and int(number) == runs[-1][1] + 1:
            runs[-1][1] += 1
        elif number:
            runs.append([int(number)] * 2)
    return found


# ---- places --------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where an object is: one of the fields is not None, or none of them."""

    receptacle: int | None = None
    hand: tuple[int, int] | None = None  # of which player, which
    container: int | None = None


def place_of(home: Home, place: int) -> Place:
    """What a number of `HomeState.place` means."""
    first, inside = home.receptacles, home.receptacles + home.hands * home.players
    if place == NONE:
        return Place()
    if place < first:
        return Place(receptacle=place)
    if place < inside:
        return Place(hand=divmod(place - first, home.hands))
    return Place(container=place - inside)


def hand_code(home: Home, agent: int, hand: int) -> int:
    """The place that a hand is."""
    return home.receptacles + home.hands * agent + hand


def held(home: Home, facts: Facts, agent: int) -> list[int | None]:
    """What is in each hand of a player."""
    first = hand_code(home, agent, 0)
    found: list[int | None] = [None] * home.hands
    for o, place in enumerate(facts.place):
        if first <= place < first + home.hands:
            found[place - first] = o
    return found


def inside(home: Home, facts: Facts, container: int) -> list[int]:
    """The objects in a container."""
    code = home.receptacles + home.hands * home.players + container
    return [o for o, place in enumerate(facts.place) if place == code]


def goal_kind(facts: Facts) -> int:
    """The kind of receptacles where targets are delivered (`transport`); `NONE` elsewhere."""
    return facts.goal_where[0] if facts.goal_kind[0] == TARGETS else NONE


# ---- what is open to a player --------------------------------------------------------------------


def open_actions(home: Home, facts: Facts, agent: int) -> list[int]:
    """The legal actions of a player, as `rules.legal` has them."""
    do = Actions(home)
    found = [do.WAIT]
    if agent >= home.players or facts.time < home.discussion:
        return found
    at, room = facts.at[agent], facts.player_room[agent]
    found += [do.go + c for c, kind in enumerate(facts.kind) if kind != NONE and c != at]
    found += [
        do.room + r
        for r, kind in enumerate(facts.room_kind)
        if kind != NONE and (r != room or at != NONE)
    ]
    hands = held(home, facts, agent)
    here = at != NONE
    reach = here and facts.open[at]
    if here and facts.abilities[at] & OPENS:
        found.append(do.close if reach else do.open)
    lies = [o for o, place in enumerate(facts.place) if place == at] if reach else []
    if None in hands:
        delivered = here and facts.kind[at] == goal_kind(facts)
        found += [
            do.take + o
            for o in lies
            if not facts.traits[o] & LIGHTS and not (delivered and facts.target[o])
        ]
    full = [(hand, o) for hand, o in enumerate(hands) if o is not None]
    if reach:
        found += [do.put + hand for hand, o in full if facts.takes[at] >> o & 1]
    if packs(home):
        for hand, o in full:
            box = hands[1 - hand]
            if box is None or not facts.traits[o] & PACKABLE or not facts.traits[box] & HOLDS:
                continue
            if len(inside(home, facts, box)) < home.catalog.holds.max():
                found.append(do.pack + hand)
    if here:
        for first, ability, trait in (
            (do.clean, CLEANS, CLEANABLE),
            (do.heat, HEATS, HEATABLE),
            (do.cool, COOLS, COOLABLE),
        ):
            if facts.abilities[at] & ability:
                found += [first + hand for hand, o in full if facts.traits[o] & trait]
    if any(facts.traits[o] & LIGHTS and not facts.bits[o] & ON for o in lies):
        found.append(do.use)
    if home.slicing and any(facts.traits[o] & CUTS for _, o in full):
        found += [
            do.slice + o for o in lies if facts.traits[o] & SLICEABLE and not facts.bits[o] & SLICED
        ]
    return found


def packs(home: Home) -> bool:
    """Whether things can be packed into containers."""
    return home.family == "transport" and home.hands == 2


def handled(home: Home, action: int) -> tuple[str, int]:
    """(verb, hand) of an action with what is in a hand."""
    do = Actions(home)
    for verb, first in (("cool", do.cool), ("heat", do.heat), ("clean", do.clean),
                        ("pack", do.pack)):  # fmt: skip
        if action >= first:
            return verb, action - first
    return "put", action - do.put


def lamp_at(facts: Facts, receptacle: int) -> int:
    """The lamp on a receptacle; -1 if there is none."""
    for o, place in enumerate(facts.place):
        if place == receptacle and facts.traits[o] & LIGHTS:
            return o
    return -1
