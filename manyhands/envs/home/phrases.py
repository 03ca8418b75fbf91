"""The phrasebook of a chat channel around a home: what helpers tell each other, as fixed phrases,
so that vectors can hold them."""

from __future__ import annotations

from manyhands.envs.home.catalog import words
from manyhands.envs.home.scene import article, preposition
from manyhands.envs.home.state import HomeConfig

COMMON = (
    "yes",
    "no",
    "I found it",
    "I take it",
    "I bring it",
    "I have it in my hand",
    "nothing here",
    "I look here",
    "you look here",
    "where is it?",
    "I wait for you",
    "it is done",
)
CONTAINERS = ("a container is here", "this room is empty", "my container is full")
STATES = ("it must be clean", "it must be hot", "it must be cool", "it must be sliced")


def phrasebook(home: HomeConfig) -> tuple[str, ...]:
    """The phrases of a home: common ones, rooms and places; and where part of the goal is told to
    one agent alone, what to ask it and what it can answer."""
    catalog = home.catalog
    found = list(COMMON)
    if home.family == "transport":
        found += CONTAINERS
    if home.family == "follow":
        found += ("follow me", "wait for me", "I lost you")
    if home.rooms > 1:
        rooms = [words(name) for name in catalog.room_kinds]
        found += [f"found it in the {room}" for room in rooms]
        found += [f"I go to the {room}" for room in rooms]
    places = [
        f"{preposition(catalog, kind)} {article(words(name))}"
        for kind, name in enumerate(catalog.receptacle_kinds)
    ]
    found += [f"found it {place}" for place in places]
    if "object" in home.hidden:
        found.append("what is it?")
        found += [f"it is {article(words(name))}" for name in catalog.object_kinds]
        if home.family == "transport":
            found.append("it is a target")
    if "where" in home.hidden:
        found.append("where does it belong?")
        found += [f"it belongs {place}" for place in places]
        found.append("it belongs under a lamp")
    if "state" in home.hidden:
        found += ["must it be clean, hot or cool?", *STATES, "as it is"]
    return tuple(found)
