"""Places that an answer tells by what is in them, or as the one at hand: "the empty pan", "the
blender with the flour", "this steamer", "the second one". Each becomes the name of the place, which
the reader then checks as any other; where no place or more than one is meant, the words stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from manyhands.core.reading.pronouns import MOST
from manyhands.core.reading.words import tokens
from manyhands.envs.cuisine.phrases import LONGEST, item_words, place_words
from manyhands.envs.cuisine.state import TOOLS

if TYPE_CHECKING:
    from manyhands.envs.cuisine.env import Cuisine
    from manyhands.envs.cuisine.reading import Facts

_NO_NUMBER = r"(?! ?(?:number |#)?\d)"
_FREE = re.compile(
    r"\b(?P<how>empty|unused|idle|free|unoccupied|vacant|available) "
    rf"(?P<kind>[a-z]+(?: [a-z]+)?)\b{_NO_NUMBER}",
    re.I,
)
_WITH = re.compile(
    r"\b(?P<kind>[a-z]+(?: [a-z]+)?),? (?:(?:that|which) (?:(?:already|now|still) )?"
    r"(?:has|holds|contains)|with|holding|containing|where) "
    r"(?:(?:the|some|an?|my|our|its|one|finished|ready) )*(?P<item>[a-z]+(?: [a-z]+){0,2})\b",
    re.I,
)
_INSIDE = re.compile(
    r"(?: (?:is|are|sits?|waits?|lies?))?(?: (?:already|now|still))*"
    r"(?: (?:in it|inside(?: it)?|in there|ready|done|finished))?(?= *(?:[.,;!]|$))",
    re.I,
)
_THIS = re.compile(
    rf"\bthis (?:(?P<how>empty|unused) )?(?P<kind>[a-z]+(?: [a-z]+)?)\b{_NO_NUMBER}", re.I
)
_HERE = re.compile(
    r"\b(?:(?P<how>empty|unused) )?(?P<kind>[a-z]+(?: [a-z]+)?(?: \d+)?) "
    r"(?:(?:right |just )?(?:here|(?:beside|next to|in front of|before|by) me)|at hand"
    r"|(?:that |which |where )?i(?:'m| am|'m standing| am standing| stand) (?:now )?(?:at|by)"
    r"|where i(?:'m| am| stand| work))\b",
    re.I,
)
_RANK = re.compile(r"\b(?P<rank>first|second|third|other) one\b", re.I)
_ANY = ("machine", "tool", "appliance")


def with_places(cuisine: Cuisine, facts: Facts, agent: int, text: Any) -> Any:
    """An answer in which places stand by their names."""
    if not isinstance(text, str) or len(text) > MOST:
        return text
    for pattern, place_of in ((_FREE, _free), (_WITH, _holding), (_THIS, _here), (_HERE, _here)):
        text = _renamed(cuisine, facts, agent, text, pattern, place_of)
    return _ranked(cuisine, text)


def _renamed(
    cuisine: Cuisine,
    facts: Facts,
    agent: int,
    text: str,
    pattern: re.Pattern[str],
    place_of: Callable[..., int | None],
) -> str:
    book = cuisine.book
    known = place_words(tuple(book.places))
    tools = tuple(p for p in range(TOOLS, len(book.places)) if book.exists[facts.level, p])
    parts, end = [], 0
    for found in pattern.finditer(text):
        said = found["kind"].lower().split()
        for length in range(len(said), 0, -1):
            # "The pan" of "empty pan now", but of "in this pan".
            ahead = pattern is _FREE or pattern is _THIS
            kind = said[:length] if ahead else said[len(said) - length :]
            meant = tools if kind[0] in _ANY else known.get(tuple(kind), ())
            meant = tuple(p for p in meant if book.exists[facts.level, p])
            place = place_of(cuisine, facts, agent, meant, found)
            if place is None or found.start() < end:
                continue
            rest = said[length:] if ahead else said[: len(said) - length]
            name = book.place_names[place]
            words = [name, *rest] if ahead else [*rest, name]
            tail = _INSIDE.match(text, found.end()) if pattern is _WITH else None
            parts += [text[end : found.start()], " ".join(words)]
            end = tail.end() if tail else found.end()
            break
    return "".join([*parts, text[end:]])


def _free(
    cuisine: Cuisine, facts: Facts, agent: int, meant: tuple[int, ...], found: re.Match[str]
) -> int | None:
    """The one tool that is empty; a "free" one has no chef at it either."""
    others = {place for i, place in enumerate(facts.place) if i != agent}
    free = [
        p
        for p in meant
        if p >= TOOLS
        and not (facts.inside[p - TOOLS] or facts.busy[p - TOOLS] or facts.ready[p - TOOLS])
        and (p not in others or found["how"].lower() in ("empty", "unused", "idle"))
    ]
    return free[0] if len(free) == 1 else None


def _holding(
    cuisine: Cuisine, facts: Facts, agent: int, meant: tuple[int, ...], found: re.Match[str]
) -> int | None:
    """The one tool with a thing in it. What the chef holds may be what it goes there with."""
    words = tokens(found["item"].lower())
    known = item_words(tuple(cuisine.book.item_names))
    items: tuple[int, ...] = ()
    for length in range(min(len(words), LONGEST), 0, -1):
        items = known.get(tuple(words[:length]), ())
        if items:
            break
    if (
        not items
        or facts.held[agent] in items
        or not _INSIDE.match(
            found.string, found.start("item") + len(" ".join(found["item"].split()[:length]))
        )
    ):
        return None
    there = [p for p in meant if p >= TOOLS and facts.inside[p - TOOLS].keys() & set(items)]
    return there[0] if len(there) == 1 else None


def _here(
    cuisine: Cuisine, facts: Facts, agent: int, meant: tuple[int, ...], found: re.Match[str]
) -> int | None:
    """The place where the chef is."""
    here = facts.place[agent]
    full = found["how"] and (here < TOOLS or facts.inside[here - TOOLS])
    return here if here in meant and not full else None


def _ranked(cuisine: Cuisine, text: str) -> str:
    """ "The second one" of the one kind of tool that is named before."""
    known = place_words(tuple(cuisine.book.places))
    kinds = {name for name, meant in known.items() if len(meant) > 1}

    def name(found: re.Match[str]) -> str:
        before = tokens(text[: found.start()].lower())
        said = {
            tuple(before[k : k + n])
            for n in range(1, LONGEST + 1)
            for k in range(len(before))
            if tuple(before[k : k + n]) in kinds
        }
        meant = {known[kind] for kind in said}
        if len(meant) != 1:
            return found[0]
        return f"{found['rank']} {' '.join(min(said))}"

    return _RANK.sub(name, text)
