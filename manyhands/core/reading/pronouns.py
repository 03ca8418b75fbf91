"""Pronouns in answers: "cloth 1 is on shelf 2, so I go there" is "..., so I go to shelf 2".

A reader puts in the name before it reads, so that the words are checked as any others; only a thing
that is the one named before can be meant. Where two are named, the pronoun stays.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any, NamedTuple

MOST = 600  # characters of an answer in which pronouns are looked for

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?", re.I)
# Only one plain sentence tells of itself: what stands around a marked part is not read.
_MARKED = re.compile(r"[\[\]{}<>]|\b(?:action|final answer|say)\s*:|\\boxed", re.I)
_GOING = (
    r"(?:go|going|head|heading|walk|walking|move|moving|run|return|returning|get|hurry|proceed"
    r"|travel|make my way)"
)
_THERE = re.compile(
    rf"\b(?P<way>{_GOING}(?: right| straight| back| over| on)?) there\b(?!\s+(?:is|are|'s))", re.I
)


class Mention(NamedTuple):
    """A name in an answer: where it stands, its words, and what it means, of one `kind` of thing
    (a place, an object): those of its numbers that it may be."""

    start: int
    end: int
    kind: str
    meaning: Set[int]


class Verbs(NamedTuple):
    """Words before "it" that tell of which kind of thing it is."""

    kind: str
    pattern: re.Pattern[str]


def before_it(kind: str, words: str) -> Verbs:
    """`Verbs` from a list of them, separated by spaces; an underscore is a space within one."""
    listed = "|".join(re.escape(word.replace("_", " ")) for word in words.split())
    return Verbs(kind, re.compile(rf"\b(?P<way>{listed}) it\b(?!')", re.I))


def mentions(
    text: str, name: Callable[[list[str], int], Iterable[tuple[str, Set[int], int]]]
) -> Iterator[Mention]:
    """The names in an answer; of several that begin at a word the longest.

    Args:
        name: gives the names that begin at a word of a list: (kind, meaning, number of words).
    """
    found = list(_WORD.finditer(text))
    said = [match[0].lower() for match in found]
    k = 0
    while k < len(said):
        best = max(name(said, k), key=lambda one: one[2], default=None)
        if best is None:
            k += 1
            continue
        kind, meaning, length = best
        yield Mention(found[k].start(), found[k + length - 1].end(), kind, meaning)
        k += length


def named(
    text: Any,
    name: Callable[[list[str], int], Iterable[tuple[str, Set[int], int]]],
    of_it: Iterable[Verbs],
    places: Iterable[str],
    here: Callable[[Set[int]], bool] = lambda _: False,
    listed: Iterable[str] = (),
) -> Any:
    """An answer in which "there", and "it" behind a verb, are the one thing named before, if one
    alone of its kind is; else as it was.

    Args:
        name: as in `mentions`.
        of_it: verbs whose "it" is of a kind.
        places: kinds that "there" may mean, the first that is named before the others.
        here: whether a place is where the player is, whom "go there" leads elsewhere.
        listed: choices, whose effects have pronouns of their own: "take mug 1: hold it" stays.
    """
    if not isinstance(text, str) or len(text) > MOST or _MARKED.search(text):
        return text
    if ":" in text and any(f"{choice}:" in text.lower() for choice in listed):
        return text
    found: list[tuple[re.Match[str], tuple[str, ...], str]] = []
    found += [(m, tuple(places), " to ") for m in _THERE.finditer(text)]
    found += [(m, (verb.kind,), " ") for verb in of_it for m in verb.pattern.finditer(text)]
    if not found:
        return text
    known = list(mentions(text, name))
    parts, end = [], 0
    for match, kinds, between in sorted(found, key=lambda one: one[0].start()):
        before: list[Mention] = []
        for kind in kinds:
            before = [m for m in known if m.kind == kind and m.end <= match.start()]
            if between == " to ":
                before = [m for m in before if not here(m.meaning)]
            if before:
                break
        if match.start() < end or not before:
            continue
        if not functools.reduce(operator.and_, (m.meaning for m in before)):
            continue
        closest = min(before, key=lambda m: (len(m.meaning), m.start - m.end))
        parts += [text[end : match.start()], match["way"], between]
        parts.append(text[closest.start : closest.end])
        end = match.end()
    return "".join([*parts, text[end:]])
