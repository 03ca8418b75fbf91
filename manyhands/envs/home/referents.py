"""Which places, rooms and objects the words of an answer mean, for `reading.py`: "the other sink",
"the drawer in this room", "the table with the bread"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from manyhands.envs.home.naming import LOOSELY, Named
from manyhands.envs.home.scene import Facts, held, joined
from manyhands.envs.home.state import NONE, SHUT

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home


def numbered(kinds: Sequence[int], named: Named, mine: Collection[int] = ()) -> list[int]:
    """The slots that a name may mean.

    Args:
        mine: the slots where the player is, or that it holds: "this" is among them, and "the other"
            is not, but is of the kind of one of them. "The last" of several is none.
    """
    found, count = [], dict.fromkeys(named.kinds, 0)
    for slot, kind in enumerate(kinds):
        if kind in count:
            count[kind] += 1
            if named.number in (None, count[kind]):
                found.append(slot)
    if not named.pointed:
        return found
    if named.pointed == "last":
        return found if len(found) == 1 else []
    own = [slot for slot in found if slot in mine]
    if named.pointed == "this":
        return own
    return [slot for slot in found if slot not in own] if own else []


def which(names: Sequence[str], slots: Sequence[int], what: str) -> str:
    """Why a name does not mean one thing alone."""
    if not slots:
        return f"there is no such {what}"
    return f"it is open which is meant: {joined([names[slot] for slot in slots[:8]], 'or')}"


def sees(facts: Facts, agent: int, o: int) -> bool:
    """Whether a player knows of an object."""
    return bool(facts.object_kind[o] != NONE and facts.seen[agent][o] >= 0)


def objects_meant(home: Home, facts: Facts, agent: int, named: Named) -> list[int]:
    """The objects of a name that a player knows of."""
    mine = [o for o in held(home, facts, agent) if o is not None]
    pointed = named if named.pointed == "other" else named._replace(pointed="")
    for one in (pointed, loosely(home, pointed)):
        found = [o for o in numbered(facts.object_kind, one, mine) if sees(facts, agent, o)]
        if found:
            return found
    return []


def loosely(home: Home, named: Named) -> Named:
    """What else a name without a number may stand for: "the wine" for a bottle of it."""
    kinds = home.catalog.object_kinds
    others = tuple(kinds.index(LOOSELY[kinds[k]]) for k in named.kinds if kinds[k] in LOOSELY)
    return named._replace(kinds=others if named.number is None else ())


def rooms_meant(facts: Facts, agent: int, values: dict[str, Any]) -> list[int]:
    """The rooms that a sentence means by a name, or by a place that is `in` them."""
    here = [facts.player_room[agent]]
    if "room" not in values:
        return [room for room in _with_place(facts, agent, values) if room not in here]
    rooms = numbered(facts.room_kind, values["room"], here)
    if "in" in values:
        around = _with_place(facts, agent, values)
        rooms = [room for room in rooms if room in around]
    return rooms


def _with_place(facts: Facts, agent: int, values: dict[str, Any]) -> list[int]:
    places = numbered(facts.kind, values["in"], [facts.at[agent]])
    return sorted({facts.room[place] for place in places})


def places_meant(home: Home, facts: Facts, agent: int, values: dict[str, Any]) -> list[int] | None:
    """The receptacles that a sentence means; None if it names none."""
    if "to" in values:
        return _places_of(home, facts, agent, values)
    if "place" not in values:
        return None
    places = numbered(facts.kind, values["place"], [facts.at[agent]])
    if "of" in values and values["place"].number is not None:
        return []  # "kitchen, drawer 3" may be two ways, or the third drawer of the kitchen
    for label in ("room", "of"):
        if label in values:
            rooms = numbered(facts.room_kind, values[label], [facts.player_room[agent]])
            places = [place for place in places if facts.room[place] in rooms]
    if "near" in values:
        places = [place for place in places if facts.room[place] == facts.player_room[agent]]
    if "mine" in values:
        places = [place for place in places if place == facts.at[agent]]
    if "also" in values:
        told = numbered(facts.kind, values["also"], [facts.at[agent]])
        places = [place for place in places if place in told]
    if "how" in values:
        places = [place for place in places if _is(facts, agent, place, values["how"])]
    if "get" in values and len(places) > 1:  # "to the sink for the pan", which is in one of them
        known = {
            facts.known_place[agent][o] for o in objects_meant(home, facts, agent, values["get"])
        }
        narrowed = [place for place in places if place in known]
        places = narrowed if len(narrowed) == 1 else places
    for label in ("has", "told"):
        if label in values:
            places = _that_hold(home, facts, agent, values[label], places, label == "told")
    return places


def _that_hold(
    home: Home, facts: Facts, agent: int, named: Named, places: list[int], told: bool
) -> list[int]:
    """Those of some places where a player saw what is named. What it holds, "to the table with the
    mug", tells of none; nor does what it never saw, where it is `told` of a place alone of its
    name: "to the fridge, where the milk is"."""
    things = objects_meant(home, facts, agent, named)
    if not set(held(home, facts, agent)).isdisjoint(things):
        return places
    if told and not things and len(places) == 1:
        return places
    there = {facts.known_place[agent][o] for o in things}
    return [place for place in places if place in there]


def _places_of(home: Home, facts: Facts, agent: int, values: dict[str, Any]) -> list[int]:
    """Where the objects are, as a player knows, to which it goes; none if a hand or a container
    holds one."""
    things = objects_meant(home, facts, agent, values["to"])
    places = sorted({facts.known_place[agent][o] for o in things})
    if not all(0 <= place < home.receptacles for place in places):
        return []
    if "place" in values:
        said = numbered(facts.kind, values["place"], [facts.at[agent]])
        places = [place for place in places if place in said]
    return places


def _is(facts: Facts, agent: int, place: int, how: str) -> bool:
    if how == "closed":
        return facts.known_open[agent][place] == SHUT
    return facts.looked[agent][place] < 0
