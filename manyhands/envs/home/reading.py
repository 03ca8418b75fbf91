"""Reading an answer: the one action that it means.

A player may say an action as `choices` do ("take mug 2 from desk 1"), as ALFWorld's commands do
("put mug 2 in/on shelf 1", "use desklamp 1"), or otherwise ("grab the mug", "put it down"). What a
sentence names besides, a place or a tool, is checked against what is there: said of anything else,
it is refused.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from manyhands.core.env import IllegalAction
from manyhands.core.reading.answers import decide, instead, settled
from manyhands.core.reading.grammar import Reading
from manyhands.core.reading.parts import REASON, Answer
from manyhands.envs.home import alfworld
from manyhands.envs.home.catalog import words
from manyhands.envs.home.mentions import with_names
from manyhands.envs.home.naming import Named
from manyhands.envs.home.referents import (
    loosely,
    numbered,
    objects_meant,
    places_meant,
    rooms_meant,
    which,
)
from manyhands.envs.home.scene import (
    Facts,
    article,
    facts_of,
    goal_kind,
    handled,
    held,
    inside,
    joined,
    lamp_at,
    open_actions,
    place_of,
    preposition,
    the,
)
from manyhands.envs.home.sentences import bare, grammar
from manyhands.envs.home.state import HOLDS, NONE, SLICED, Actions, HomeState

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

_WASTE = "garbage can"
SHOWN = 5  # choices that a refusal names at most
LOOKS = ("look", "inventory", "examine", "help")  # ALFWorld's commands that change nothing

# ---- an answer -----------------------------------------------------------------------------------

_LABEL = re.compile(r"^(?:act|command|cmd)(?: ?\d{1,3})? ?[:>] ?|> ?")
# Where one is, rather than where one goes.
_IS_THERE = re.compile(r"\b(?:i'm|am|still|already|now) (?:\w+ )?(?:standing|sitting)\b")
# "Open the cabinet I am standing at."
_OPENS_WHERE = re.compile(
    r"\b(?:open|unlatch|close|shut)\b[^.,;:]*? i(?:'m| am) (?:\w+ )?standing (?:at|in|by|next|be)"
)
_THOUGHT = re.compile(r"(?:> ?)?(?:think|thought|reason|reasoning)(?: ?\d{1,3})? ?[:>]", re.I)
_ACT = re.compile(r"\s*(?:>\s*(?:act(?: ?\d{1,3})? ?:)?|act(?:ion)?(?: ?\d{1,3})? ?:)\s*(.+)", re.I)


def _transcript(text: Any) -> Any:
    """An answer in the form of ReAct's prompts, lines of thoughts and one "> ..." or "Act 1: ...",
    with that line marked as the action; any other answer as it is."""
    if not isinstance(text, str):
        return text
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or len(lines) > 40:
        return text
    rest = [line for line in lines if not _THOUGHT.match(line)]
    if len(rest) != 1 or len(rest) == len(lines):
        return text
    act = _ACT.fullmatch(rest[0])
    if act:
        return f"ACTION: {act[1]}"
    # A short line alone, behind a thought that is ended.
    apart = rest[0] == lines[-1] and len(rest[0]) <= 60 and lines[-2][-1] in ".!"
    return f"ACTION: {rest[0]}" if apart else text


def parse(home: Home, text: Any, state: HomeState, agent: int) -> int:
    """The action that an answer names.

    Raises:
        IllegalAction: it names none, more than one, or one that is not open to the player now; as
            ALFWorld does, with `replies="alfworld"` a command that is not open is a wait.
    """
    facts = facts_of(home, state)
    open_ = open_actions(home, facts, agent)
    manner = home.replies == "alfworld"

    def refuse(reason: str) -> IllegalAction:
        return IllegalAction(functools.partial(refusal, reason))

    def refusal(reason: str) -> str:
        said = [short_words(home, facts, agent, action) for action in open_]
        return f"{reason[:200]}. Open to you: {instead(text, said, SHOWN)}."

    def mean(answer: Answer) -> int | None:
        plain = (
            _LABEL.sub("", answer.plain, count=1) if _LABEL.match(answer.plain) else answer.plain
        )
        plain = " ".join(plain.split()).rstrip(".")
        for action in open_:
            if plain == short_words(home, facts, agent, action):
                return action
        if manner and _THOUGHT.match(plain):
            return Actions.WAIT
        there = _IS_THERE.search(plain) and not _OPENS_WHERE.search(plain)
        readings = [] if there else grammar(home.catalog).read(plain)
        if answer.kind != REASON:
            named = bare(home.catalog).read(plain)
            readings += [one for one in named if not _is_at(home, facts, agent, one)]
        try:
            return settled(
                (_action(home, facts, agent, reading) for reading in readings),
                open_,
                functools.partial(_why, home, facts, agent),
                refuse,
            )
        except IllegalAction:
            if manner:
                return Actions.WAIT
            raise

    listed = (short_words(home, facts, agent, action) for action in open_)
    told = _transcript(text)
    said = with_names(home, facts, agent, told, listed)
    return int(decide(said, mean, refuse, me=home.agents[agent], written=told))


def _is_at(home: Home, facts: Facts, agent: int, reading: Reading) -> bool:
    """Whether a player is at a place, or in a room, that it names."""
    if agent >= len(facts.at) or reading.meaning in ("take", "put"):
        return False
    if "place" in reading.values:
        return facts.at[agent] in (places_meant(home, facts, agent, reading.values) or ())
    room = facts.player_room[agent]
    return "room" in reading.values and room in numbered(
        facts.room_kind, reading.values["room"], [room]
    )


def short_words(home: Home, facts: Facts, agent: int, action: int) -> str:
    """A legal action in words, without its effect."""
    if home.replies == "alfworld":
        return alfworld.command(home, facts, agent, action)
    do = Actions(home)
    if action == do.WAIT:
        return "wait"
    if action < do.room:
        return f"go to {facts.receptacle_names[action - do.go]}"
    if action < do.open:
        return f"go to {facts.room_names[action - do.room]}"
    here = facts.receptacle_names[facts.at[agent]] if facts.at[agent] != NONE else "here"
    if action < do.take:
        return f"{'open' if action == do.open else 'close'} {here}"
    if action < do.put:
        return f"take {facts.object_names[action - do.take]} from {here}"
    if action == do.use:
        return f"use {facts.object_names[lamp_at(facts, facts.at[agent])]}"
    if action >= do.slice:
        return f"slice {facts.object_names[action - do.slice]}"
    verb, hand = handled(home, action)
    hands = held(home, facts, agent)
    name = facts.object_names[hands[hand]]  # type: ignore[index]
    if verb == "put":
        return f"put {name} {preposition(home.catalog, facts.kind[facts.at[agent]])} {here}"
    if verb == "pack":
        return f"pack {name} into {facts.object_names[hands[1 - hand]]}"  # type: ignore[index]
    return f"{verb} {name} with {here}"


# ---- what a reading means ------------------------------------------------------------------------


def _action(home: Home, facts: Facts, agent: int, reading: Reading) -> int | str:
    """The action that a reading means, or why it can mean none here."""
    if agent >= home.players:
        waits = reading.meaning == "wait"
        return Actions.WAIT if waits else "you have no hands: wait, and talk"
    do, what, values = Actions(home), reading.meaning, reading.values
    if what in LOOKS:
        return _looking(home, facts, agent, what)
    if what in ("look at", "visit") and home.replies == "alfworld":
        return _looking(home, facts, agent, "examine")
    if what in ("search", "look at", "visit"):
        return _search(home, facts, agent, values, what)
    if what == "bring":
        return _bring(home, facts, agent, values)
    if what in ("go", "room", "middle") and (unfit := _unfit(home, facts, agent, values)):
        return unfit
    if what == "middle":
        rooms = (
            rooms_meant(facts, agent, values) if "room" in values else [facts.player_room[agent]]
        )
        return do.room + rooms[0] if len(rooms) == 1 else which(facts.room_names, rooms, "room")
    if what == "room":
        return _room(facts, agent, do, values)
    places = places_meant(home, facts, agent, values)
    at = facts.at[agent]
    if what == "go":
        if len(places or ()) == 1:
            return do.go + places[0]  # type: ignore[index]
        return which(facts.receptacle_names, places or [], "receptacle")
    if what == "wait":
        if values.get("who") == agent:
            return "that is you"
        return Actions.WAIT if _there(facts, agent, places, values) else "you are not there"
    if places is not None and at not in places:
        if not places:
            return "there is no such receptacle"
        there = facts.receptacle_names[places[0]] if len(places) == 1 else "any such receptacle"
        return f"you are {_at(facts, agent)}, not at {there}: go there first"
    if what == "use":
        return _lamp(home, facts, agent, values.get("thing"))
    if what in ("take", "slice"):
        thing = _here(home, facts, agent, values.get("thing"), values)
        if what == "slice" and home.slicing and "tool" in values:
            mine = [o for o in held(home, facts, agent) if o is not None]
            if not set(numbered(facts.object_kind, values["tool"])) & set(mine):
                return "you do not hold that knife"
        if isinstance(thing, str):
            return thing
        if what == "take":
            hands = held(home, facts, agent)
            if "side" in values and None in hands and values["side"] != hands.index(None):
                return f"it comes into your {('left', 'right')[hands.index(None)]} hand"
            return do.take + thing
        return do.slice + thing if home.slicing else "nothing can be sliced in this home"
    if "again" in values and at not in numbered(facts.kind, values["again"], [at]):
        return f"you are {_at(facts, agent)}, not there"
    if at == NONE and what != "pack":
        return f"you are {_at(facts, agent)}: go to a receptacle first"
    if what in ("open", "close"):
        return do.open if what == "open" else do.close
    if "waste" in values and words(home.catalog.receptacle_kinds[facts.kind[at]]) != _WASTE:
        return f"things are thrown away at a {_WASTE}"
    hand = _hand(home, facts, agent, values, what == "pack")
    if isinstance(hand, str):
        return hand
    if "by" in values and isinstance(beside := _here(home, facts, agent, values["by"], {}), str):
        return beside
    if "with" in values:
        box = held(home, facts, agent)[hand] or 0
        if not set(numbered(facts.object_kind, values["with"])) & set(inside(home, facts, box)):
            return f"that is not in {facts.object_names[box]}"
    if "others" in values:
        holder = held(home, facts, agent)[1 - hand] if home.hands > 1 else None
        if holder is None or len(inside(home, facts, holder)) != values["others"]:
            return "that many are in no container that you hold"
    if "box" in values or what == "pack":
        other = held(home, facts, agent)[1 - hand] if home.hands > 1 else None
        boxes = numbered(facts.object_kind, values["box"]) if "box" in values else [other]
        if other is None or other not in boxes:
            return "you do not hold such a container in your other hand"
        return do.pack + hand
    return {"put": do.put, "clean": do.clean, "heat": do.heat, "cool": do.cool}[what] + hand


def _room(facts: Facts, agent: int, do: Actions, values: dict[str, Any]) -> int | str:
    """To go to a room; "this" one is where one is."""
    rooms = rooms_meant(facts, agent, values)
    if len(rooms) != 1:
        return which(facts.room_names, rooms, "room")
    if "again" in values:  # "go to the office and look around the office"
        rooms = [room for room in rooms if room in numbered(facts.room_kind, values["again"])]
        if not rooms:
            return "that is another room"
    if "room" in values and values["room"].pointed == "this":
        return f"you are in {the(facts.room_names[rooms[0]])} already"
    return do.room + rooms[0]


def _unfit(home: Home, facts: Facts, agent: int, values: dict[str, Any]) -> str:
    """Why one does not go as one says: from where, and with what."""
    room, at = facts.player_room[agent], facts.at[agent]
    mine = held(home, facts, agent)
    if "from" in values and room not in numbered(facts.room_kind, values["from"], [room]):
        return "you are not in that room"
    if "along" in values:
        along = {
            o for o in numbered(facts.object_kind, values["along"]) if _is_so(facts, o, values)
        }
        if not along & set(mine):
            return "you do not hold that"
    if "load" in values and mine == [None] * len(mine):
        return "you hold nothing"
    if "empty" in values and mine != [None] * len(mine):
        return "your hands are not empty"
    if "both" in values:
        both = set(numbered(facts.object_kind, values["both"]))
        if len(mine) < 2 or not set(mine) <= both:
            return "you do not hold two of them"
    if "off" in values and at not in numbered(facts.kind, values["off"], [at]):
        return f"you are {_at(facts, agent)}, not there"
    return ""


def _bring(home: Home, facts: Facts, agent: int, values: dict[str, Any]) -> int | str:
    """To bring what one holds is to go there, or to put it there if one is there."""
    do = Actions(home)
    hand = _hand(home, facts, agent, values, False)
    if isinstance(hand, str):
        return hand
    if "box" in values:
        return _action(home, facts, agent, Reading("pack", values))
    if "place" not in values:
        return _room(facts, agent, do, values)
    places = places_meant(home, facts, agent, values) or []
    if (at := facts.at[agent]) in places:
        name = facts.receptacle_names[at]
        shut = f"you are at {name} already, and it is closed: open it to put anything in"
        return do.put + hand if facts.open[at] else shut
    if len(places) != 1:
        return which(facts.receptacle_names, places, "receptacle")
    return do.go + places[0]


def _at(facts: Facts, agent: int) -> str:
    at = facts.at[agent]
    if at != NONE:
        return f"at {facts.receptacle_names[at]}"
    return f"in the middle of {the(facts.room_names[facts.player_room[agent]])}"


def _there(facts: Facts, agent: int, places: list[int] | None, values: dict[str, Any]) -> bool:
    """Whether one is where one says that one waits."""
    if "room" in values:
        return facts.player_room[agent] in numbered(facts.room_kind, values["room"])
    return places is None or facts.at[agent] in places


def _looking(home: Home, facts: Facts, agent: int, what: str) -> str:
    mine = [facts.object_names[o] for o in held(home, facts, agent) if o is not None]
    if what == "inventory":
        return f"that is no action, and needs none: you hold {joined(mine) if mine else 'nothing'}"
    if what == "help":
        return "there is no help but the rules"
    return "looking is no action, and needs none: your text says all that you see"


def _search(home: Home, facts: Facts, agent: int, values: dict[str, Any], what: str) -> int | str:
    """To search a place is to be there, and to open it; more is no action. To inspect it does not
    open it, and to look at it may be done from afar."""
    do, at = Actions(home), facts.at[agent]
    if "place" not in values:
        rooms = rooms_meant(facts, agent, values)
        if len(rooms) != 1:
            return which(facts.room_names, rooms, "room")
        own = rooms[0] == facts.player_room[agent]
        return _looking(home, facts, agent, "look") if own else do.room + rooms[0]
    places = places_meant(home, facts, agent, values) or []
    if at != NONE and at in places:
        if what == "search" and not facts.open[at]:
            return do.open
        if not facts.open[at]:
            return f"{facts.receptacle_names[at]} is closed: open it to see what is inside"
        return _looking(home, facts, agent, "look")
    if len(places) != 1:
        return which(facts.receptacle_names, places, "receptacle")
    if what == "look at":
        name = facts.receptacle_names[places[0]]
        return f"looking is no action: to see what is in or on {name}, go there"
    return do.go + places[0]


def _here(
    home: Home, facts: Facts, agent: int, named: Named | None, values: dict[str, Any]
) -> int | str:
    """The one object of a name, or the only one, where the player is."""
    if named is None:
        do = Actions(home)
        takes = [a - do.take for a in open_actions(home, facts, agent) if do.take <= a < do.put]
        if "target" in values:
            takes = [o for o in takes if facts.target[o]]
        return takes[0] if len(takes) == 1 else "it is open what to take"
    known = objects_meant(home, facts, agent, named)
    at = facts.at[agent]
    if not known:
        return "you have not seen any such object"
    here = [o for o in known if facts.known_place[agent][o] == at != NONE]
    if here and not (here := [o for o in here if _is_so(facts, o, values)]):
        return "what is here is not in that state"
    if len(here) == 1:
        return here[0]
    if here:
        return which(facts.object_names, here, "object")
    if len(known) > 1:
        return f"none of them is {'here' if at == NONE else 'at ' + facts.receptacle_names[at]}"
    return f"{facts.object_names[known[0]]} is not here: {_last_seen(home, facts, agent, known[0])}"


def _last_seen(home: Home, facts: Facts, agent: int, o: int) -> str:
    receptacle, hand, box = place_of(home, facts.known_place[agent][o])
    if hand is not None:
        return "you hold it" if hand[0] == agent else f"{home.agents[hand[0]]} holds it"
    if receptacle is not None:
        way = preposition(home.catalog, facts.kind[receptacle])
        return f"you last saw it {way} {facts.receptacle_names[receptacle]}"
    if box is not None:
        return f"it is in {facts.object_names[box]}"
    return "you do not know where it is"


def _lamp(home: Home, facts: Facts, agent: int, named: Named | None) -> int | str:
    lamps = home.catalog.may["lamp"]
    if named is not None and not any(lamps[kind] for kind in named.kinds):
        return "only lamps can be used"
    here = lamp_at(facts, facts.at[agent]) if facts.at[agent] != NONE else -1
    if here < 0:
        return "no lamp is here"
    if named is not None and here not in numbered(facts.object_kind, named._replace(pointed="")):
        return f"that lamp is not here: {facts.object_names[here]} is"
    return Actions(home).use


def _hand(home: Home, facts: Facts, agent: int, values: dict[str, Any], packing: bool) -> int | str:
    """The hand that holds what is named, or the only one that holds anything."""
    hands = held(home, facts, agent)
    mine = [hand for hand, o in enumerate(hands) if o is not None]
    if not mine:
        return "your hands are empty" if home.hands > 1 else "your hand is empty"
    if "thing" in values:
        meant = _meant(home, facts, values, [hands[hand] or 0 for hand in mine])
        fitting = [hand for hand in mine if hands[hand] in meant]
        if not fitting:
            said = joined([facts.object_names[hands[h]] for h in mine])  # type: ignore[index]
            return f"you hold {said}, not that: take it first"
    else:
        fitting = mine
    if "side" in values:
        if values["side"] not in mine:
            return "you hold nothing in that hand"
        if values["side"] not in fitting:
            return "you hold that in your other hand"
        return int(values["side"])
    if "box" in values or packing:  # what goes into a container is no container itself
        fitting = [h for h in fitting if not facts.traits[hands[h] or 0] & HOLDS] or fitting
    if len(fitting) > 1:
        return which(facts.object_names, [hands[h] or 0 for h in fitting], "object")
    return fitting[0]


def _meant(home: Home, facts: Facts, values: dict[str, Any], mine: list[int]) -> list[int]:
    """The objects of a name that a player may hold, in the state that is told of them."""
    named = values["thing"]
    if named.pointed == "last":
        named = named._replace(pointed="")
    this = mine if named.pointed == "this" else ()
    found = numbered(facts.object_kind, named, this)
    if not set(found) & set(mine):
        found = numbered(facts.object_kind, loosely(home, named), this)
    return [o for o in found if _is_so(facts, o, values)]


def _is_so(facts: Facts, o: int, values: dict[str, Any]) -> bool:
    """Whether an object is as it is told to be."""
    bits = [values[label] for label in ("is", "too") if label in values]
    return all(facts.bits[o] & bit if bit > 0 else not facts.bits[o] & -bit for bit in bits)


def _why(home: Home, facts: Facts, agent: int, action: int) -> str:
    """Why an action is not open to a player, by what it knows."""
    do, catalog, at = Actions(home), home.catalog, facts.at[agent]
    name = facts.receptacle_names[at] if at != NONE else ""
    if action < do.room:
        return f"you are at {name} already" if action - do.go == at else "you cannot go there"
    if action < do.open:
        return f"you are in {the(facts.room_names[action - do.room])} already"
    if action < do.take:
        if not catalog.can["opens"][facts.kind[at]]:
            return f"{name} does not open or close"
        return f"{name} is {'open' if action == do.open else 'closed'} already"
    closed = at != NONE and not facts.open[at]
    hands = held(home, facts, agent)
    if do.take <= action < do.put:
        o = action - do.take
        if closed:
            return f"{name} is closed: open it first"
        if not catalog.may["carry"][facts.object_kind[o]]:
            return f"{facts.object_names[o]} cannot be carried: use it where it is"
        if None not in hands:
            full = "both your hands are" if home.hands > 1 else "your hand is"
            return f"{full} full: put something down first"
        done = facts.target[o] and facts.kind[at] == goal_kind(facts)
        why = "is delivered, and stays there" if done else "cannot be taken"
        return f"{facts.object_names[o]} {why}"
    if action == do.use:
        if closed:
            return f"{name} is closed: open it first"
        return f"{facts.object_names[lamp_at(facts, at)]} is on already"
    if action >= do.slice:
        return _why_uncut(home, facts, agent, action - do.slice)
    verb, hand = handled(home, action)
    o = hands[hand] or 0
    kind, thing = facts.object_kind[o], facts.object_names[o]
    if verb == "put":
        if closed:
            return f"{name} is closed: open it first"
        return f"{thing} cannot be put {preposition(catalog, facts.kind[at])} {name}"
    if verb == "pack":
        box = hands[1 - hand]
        if box is None or not catalog.holds[facts.object_kind[box]]:
            return "you hold no container in your other hand"
        if not catalog.may["pack"][kind]:
            return f"{thing} does not go into a container"
        room = f"{len(inside(home, facts, box))} things are in it"
        return f"{facts.object_names[box]} is full: {room}"
    if not catalog.may[verb][kind]:
        return f"{article(words(catalog.object_kinds[kind]))} cannot be made {_MADE[verb]}"
    able = [words(catalog.receptacle_kinds[k]) for k in catalog.can[f"{verb}s"].nonzero()[0]]
    return f"nothing is made {_MADE[verb]} at {name}: go to a {joined(able, 'or')}"


_MADE = {"clean": "clean", "heat": "hot", "cool": "cool"}


def _why_uncut(home: Home, facts: Facts, agent: int, o: int) -> str:
    catalog, kind = home.catalog, facts.object_kind[o]
    mine = [facts.object_kind[o] for o in held(home, facts, agent) if o is not None]
    if not catalog.may["slice"][kind]:
        return f"{article(words(catalog.object_kinds[kind]))} cannot be sliced"
    if not any(catalog.may["cut"][k] for k in mine):
        return "you hold no knife"
    if facts.bits[o] & SLICED:
        return f"{facts.object_names[o]} is sliced already"
    return f"{facts.object_names[o]} is not within reach"
