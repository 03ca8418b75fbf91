"""ALFWorld's manner (`replies="alfworld"`): its names and commands, and replies in its form, so
that prompts written for it can be used as they are.

Commands and replies follow the interface of ALFWorld (Shridhar et al., 2021).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from manyhands.envs.home import goals
from manyhands.envs.home.names import names_of_slots
from manyhands.envs.home.naming import alfworld_name
from manyhands.envs.home.scene import (
    Facts,
    article,
    handled,
    held,
    inside,
    lamp_at,
    preposition,
)
from manyhands.envs.home.state import (
    CLEANED,
    CLOSED,
    COOLED,
    CUT,
    HEATED,
    NONE,
    NOTHING,
    OPENED,
    PACKED,
    PUT,
    RACED,
    TOOK,
    USED,
    WENT,
    Actions,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

NOTHING_HAPPENS = "Nothing happens."


# ---- names and commands --------------------------------------------------------------------------


@functools.cache
def _called(kinds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(alfworld_name, kinds))


def receptacles(home: Home, facts: Facts) -> tuple[str, ...]:
    """ "countertop 1", by slot."""
    return names_of_slots(tuple(facts.kind), _called(home.catalog.receptacle_kinds))


def objects(home: Home, facts: Facts) -> tuple[str, ...]:
    """ "soapbar 1", by slot."""
    return names_of_slots(tuple(facts.object_kind), _called(home.catalog.object_kinds))


def command(home: Home, facts: Facts, agent: int, action: int) -> str:
    """A legal action as ALFWorld's commands name it; waiting is "look"."""
    do = Actions(home)
    if action == do.WAIT:
        return "look"
    places, things = receptacles(home, facts), objects(home, facts)
    if action < do.room:
        return f"go to {places[action - do.go]}"
    if action < do.open:
        return f"go to {facts.room_names[action - do.room]}"
    at = facts.at[agent]
    here = places[at] if at != NONE else ""
    if action < do.take:
        return f"{'open' if action == do.open else 'close'} {here}"
    if action < do.put:
        return f"take {things[action - do.take]} from {here}"
    if action == do.use:
        return f"use {things[lamp_at(facts, at)]}"
    if action >= do.slice:
        knives = [o for o in held(home, facts, agent) if o is not None]
        knife = next(o for o in knives if home.catalog.may["cut"][facts.object_kind[o]])
        return f"slice {things[action - do.slice]} with {things[knife]}"
    hands = held(home, facts, agent)
    verb, hand = handled(home, action)
    held_name = things[hands[hand]]  # type: ignore[index]
    if verb == "put":
        return f"move {held_name} to {here}"
    if verb == "pack":
        return f"move {held_name} to {things[hands[1 - hand]]}"  # type: ignore[index]
    return f"{verb} {held_name} with {here}"


# ---- replies -------------------------------------------------------------------------------------


def describe(home: Home, facts: Facts, agent: int) -> str:
    """The reply to the last step. "brief": the reply alone, as ALFWorld has it; "normal": also who
    else acted here, what is held, and the task; "full" is made in `text.py`."""
    lines = [start(home, facts, agent)] if facts.time == 0 else [reply(home, facts, agent)]
    if home.detail == "brief":
        if facts.time == 0:
            lines.append(task(home, facts, agent))
        return "\n".join(lines)
    if agent < home.players:
        things = objects(home, facts)
        mine = []
        for o in held(home, facts, agent):
            if o is not None:
                packed = [things[other] for other in inside(home, facts, o)]
                mine.append(article(things[o]) + (f" (with {', '.join(packed)})" if packed else ""))
        lines.append(f"You are carrying: {', '.join(mine) or 'nothing'}.")
    lines.append(task(home, facts, agent))
    return "\n".join(lines)


def task(home: Home, facts: Facts, agent: int) -> str:
    return f"Your task is to: {goals.told_to(home, facts, agent, alfworld=True)}."


def start(home: Home, facts: Facts, agent: int) -> str:
    """The first text: where things can be, in no order that says where they are."""
    places = [article(name) for name in receptacles(home, facts) if name]
    if home.rooms == 1:
        return f"You are in the middle of a room. Around you, you see {_list(places)}."
    rooms = [
        f"the {name} has {_list([p for p, r in zip(places, facts.room, strict=False) if r == i])}"
        for i, name in enumerate(facts.room_names)
        if name
    ]
    here = facts.room_names[facts.player_room[agent]] if agent < home.players else "home"
    return f"You are in the middle of the {here}. The home has these places: {'; '.join(rooms)}."


def _list(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)}, and {last}" if first else last


def reply(home: Home, facts: Facts, agent: int) -> str:
    """What the player's own last action did."""
    if agent >= home.players:
        return NOTHING_HAPPENS
    what, about, where = facts.recent[agent]
    places, things = receptacles(home, facts), objects(home, facts)
    if what in (NOTHING, RACED):
        return NOTHING_HAPPENS
    if what == WENT:
        if where == NONE:
            return f"You arrive at {facts.room_names[about]}.{_around(home, facts, agent)}"
        return f"You arrive at {places[where]}. {inside_of(home, facts, agent, where)}"
    if what == OPENED:
        here = places[where]
        seen = inside_of(home, facts, agent, where)
        return f"You open the {here}. The {here} is open. {seen.replace(f'In the {here}', 'In it')}"
    if what == CLOSED:
        return f"You close the {places[where]}."
    thing = things[about]
    if what == PACKED:
        return f"You put the {thing} in/on the {things[where]}."
    here = places[where]
    return {
        TOOK: f"You pick up the {thing} from the {here}.",
        PUT: f"You put the {thing} in/on the {here}.",
        CLEANED: f"You clean the {thing} using the {here}.",
        HEATED: f"You heat the {thing} using the {here}.",
        COOLED: f"You cool the {thing} using the {here}.",
        USED: f"You turn on the {thing}.",
        CUT: f"You slice the {thing}.",
    }[what]


def inside_of(home: Home, facts: Facts, agent: int, place: int) -> str:
    """What a player knows to be in or on a receptacle where it is: "On the desk 1, you see ..."."""
    name = receptacles(home, facts)[place]
    if not facts.open[place]:
        return f"The {name} is closed."
    things = objects(home, facts)
    seen = [
        article(things[o]) for o, where in enumerate(facts.known_place[agent]) if where == place
    ]
    way = preposition(home.catalog, facts.kind[place]).capitalize()
    return f"{way} the {name}, you see {_list(seen) if seen else 'nothing'}."


def _around(home: Home, facts: Facts, agent: int) -> str:
    """What is seen from the middle of a room, where players see all that is open in it."""
    if home.view == "receptacle":
        return ""
    room = facts.player_room[agent]
    told = [
        inside_of(home, facts, agent, c)
        for c, kind in enumerate(facts.kind)
        if kind != NONE and facts.room[c] == room and facts.open[c]
    ]
    return "".join(f" {line}" for line in told)
