"""What is said of CraftWorld's skills beside their names: where a thing lies, how many are wanted,
what one does while a skill is under way."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from manyhands.core.env import IllegalAction
from manyhands.core.reading.words import whole_number
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.observe import Perception
from manyhands.envs.craftworld.state import HERE

# Whose level a skill is for.
FILLS = {"drink": "drink", "eat plant": "food", "eat cow": "food"}
# What skills are called while they are under way, by verb or by name.
DOING = {
    "collect wood": ("chop", "cut", "fell", "log", "gather", "collect", "harvest", "get"),
    "collect sapling": ("search", "look", "gather", "collect", "forage"),
    "collect": ("mine", "dig", "quarry", "collect", "gather", "dig up", "get"),
    "eat cow": ("hunt", "chase", "eat", "attack", "pursue"),
    "fight": ("fight", "attack", "hit", "battle", "chase"),
    "explore": ("explore", "scout", "wander", "walk", "search", "head", "go", "march", "travel"),
    "follow": ("follow", "trail", "accompany"),
    "drink": ("drink",),
    "sleep": ("sleep", "rest", "snooze"),
}
# How many in all, behind the order: "collect wood, six pieces in all".
_IN_ALL = re.compile(
    r"(?:[,;:.]|\band) *(?:just |only |about |some )?"
    r"(?P<n>[1-9]|one|two|three|four|five|six|seven|eight|nine)(?P<more> more)?"
    r"(?: (?:pieces?|units?|blocks?|lumps?|logs?|of (?:it|them)))+(?P<all> in (?:all|total)"
    r"| altogether| all told| total)?(?= *(?:[,;:.!]|$|for\b|to\b|so\b))"
)
_WANTED = re.compile(
    r"\b(?:want|need|require|aim for|after|goal is|target is|goal of|target of|total of)\b "
    r"(?:\w+ )?(?P<n>[1-9]|one|two|three|four|five|six|seven|eight)(?P<more> more)? "
    r"(?:(?:pieces?|units?|blocks?|lumps?|logs?) of )?(?P<what>[a-z]+)\b"
)
WATERSIDE = (
    *("shore", "waterside", "bank", "water's edge", "edge of water", "lake's edge"),
    "lakeside",
)
_AROUND = (("left", "west"), ("right", "east"), ("up", "north"), ("down", "south"))
NEAR_BY: dict[str, Any] = {"below": 3, "above": 2, "beneath": 3, "underneath": 3}
NEAR_BY |= {word: way for way, words in enumerate(_AROUND[:4]) for word in words[1:]}
NEAR_BY |= {
    f"{first}{gap}{second}": (way, side)
    for first, way in (("north", 2), ("south", 3))
    for second, side in (("west", 0), ("east", 1))
    for gap in ("", " ")
}


def lies_on(sight: Perception | None, what: Any, way: int | tuple[int, ...]) -> bool:
    """Whether the nearest things of a kind that are in view lie on one side."""
    if sight is None:
        return False
    there = np.asarray(sight.bodies) == rl.COW
    if what != "cow":
        if what not in rl.MATERIALS:
            return False
        there = np.asarray(sight.cells) == rl.MATERIALS.index(what)
    places = np.argwhere(there) - np.asarray(HERE)
    far = np.abs(places).sum(1)
    near = places[far <= far.min(initial=99) + 2]
    ways = way if isinstance(way, tuple) else (way,)
    return len(places) > 0 and all((near @ np.asarray(rl.DELTAS[k]) > 0).all() for k in ways)


def check_beside(
    sight: Perception | None, what: str, way: int | tuple[int, ...] | None, faced: bool
) -> None:
    """That a thing is on one side of the player, which it must have `faced`, or in front."""
    if sight is None:
        return
    ahead = int(sight.facing)
    side = ahead if way is None else way
    if isinstance(side, tuple) or (faced and side != ahead):
        raise IllegalAction(f"you face {rl.FACINGS[ahead]}")
    row, column = np.add(HERE, rl.DELTAS[side])
    if rl.MATERIALS[int(np.asarray(sight.cells)[row, column])] != what:
        raise IllegalAction(f"there is no {what} right {rl.FACINGS[side]} from you")


def deeds_of(name: str) -> list[str]:
    """What the skill of this name is called while it is under way."""
    verb, _, rest = name.partition(" ")
    thing = rest.partition(" ")[0]
    deeds = list(DOING.get(f"{verb} {thing}", DOING.get(verb, ())))
    named = [f"{deed} {to}{thing}" for deed in deeds for to in ("", "for ", "more ", "some ")]
    named += [f"{thing} {deed}" for deed in deeds]
    if verb == "collect" and thing == "wood":
        named += [f"{deed} {what}" for deed in deeds for what in ("tree", "log", "timber")]
    if verb == "explore":
        named = [f"{deed} {way}" for deed in deeds for way in (thing, f"{thing}ward")]
    return deeds + named


def spelled_before(names: Iterable[str], gifts: Iterable[str]) -> dict[str, int]:
    """Skills by names that they had: gifts of tools as `give wood_pickaxe to player_1`."""
    tools = {gift.replace("_", " "): gift for gift in gifts if "_" in gift}
    return {
        name.replace(words, tool): i
        for i, name in enumerate(names)
        for words, tool in tools.items()
        if name.startswith(f"give {words} ")
    }


def wanted(item: str, plain: str) -> tuple[int, bool]:
    """(how many of an item an answer says are wanted, whether beyond those that are held); as many
    as can be held where it does not say."""
    found = {
        (whole_number(match["n"]) or 0, bool(match["more"]))
        for match in _WANTED.finditer(plain)
        if match["what"] in (item, f"{item}s", *(("logs",) if item == "wood" else ()))
    }
    found |= {
        (whole_number(match["n"]) or 0, match["all"] is None) for match in _IN_ALL.finditer(plain)
    }
    if not found or f" {rl.MOST}" in plain or "nine" in plain:
        return rl.MOST, False
    if len(found) > 1 or " or " in plain:
        raise IllegalAction(f"say once how many {item} to collect")
    return found.pop()


def seen_names(targets: Iterable[str], agents: Iterable[str]) -> dict[str, str]:
    """What one looks for, or passes."""
    known = (
        *targets,
        "cow",
        "rock",
        "sapling",
        "wood",
        "food",
        "resource",
        "ore",
        "animal",
        "cave",
    )
    return {name: name for name in (*known, "player", "material", "something new", *agents)}
