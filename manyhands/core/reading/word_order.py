"""Sentences in another order of words: "an onion is what I shall fetch", "in goes the onion".

`orders` turns one to the plain order, for a grammar to read; `as_own` turns a sentence in which a
player calls itself by its name to one of "I".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from manyhands.core.reading.words import UNITS, tokens

_list = str.split

_ME = frozenset(_list("i we"))
_MODALS = frozenset(_list("shall will now then just"))
# What may stand before "I" if the verb comes last: "off to the storage I go".
_BEFORE_ME = frozenset(
    _list(
        "off over back round around into in onto on to toward towards up down out across away "
        "forward forwards left right leftward leftwards rightward rightwards upward upwards "
        "downward downwards backward backwards ahead along north south east west northward "
        "northwards southward southwards eastward eastwards westward westwards straight here "
        "at beside near through under home higher lower sideways next"
    )
)
_NO_FRONT = frozenset(
    _list("then when time turn step round end if win case order until till what that")
)
# After "goes": "the onion goes into the pot".
_GOES = frozenset(_list("into in onto on to down up out back over across"))
_GOING = frozenset(_list("goes lands falls drops slides"))
_NO_THING = frozenset(
    _list("you he she they it who that this there here everyone everybody nobody i we what which")
)
_COUNTED = frozenset(("both", "all", *UNITS[2:13], *map(str, range(2, 100))))
# With these, "X is what I ..." tells how things are.
_STATES = frozenset(
    _list(
        "see hold have need know want like hate fear see face mean say said hear expect think "
        "am was do believe love"
    )
)
_IRREGULAR = {
    "put": "put", "set": "set", "laid": "lay", "taken": "take", "given": "give", "cut": "cut",
    "sent": "send", "made": "make", "brought": "bring", "thrown": "throw", "built": "build",
    "drunk": "drink", "eaten": "eat", "held": "hold", "left": "leave", "bet": "bet",
    "begun": "begin", "got": "get", "spun": "spin", "hit": "hit", "struck": "strike",
    "dug": "dig", "sown": "sow",
}  # fmt: skip
# "Right" is a direction, too: "right, down" is two moves.
OPENING = re.compile(
    r"\W*(?:(?:great|good|nice|fine|perfect|excellent|splendid|lovely|brilliant|cool)(?: then)?"
    r"|right(?: then)?(?=\W+(?:i|i'll|i'm|i'd|we|we'll|let|let's|let us|my|a|an|the|time|off) ))"
    r"\s*[,.!;:\u2013\u2014-]+\s+(?=\w)",
    re.I,
)


def orders(words: list[str]) -> Iterator[list[str]]:
    """A sentence in the plain order of words, in each way that it may be a turned one: "an onion is
    what I shall fetch", "off to the pot I go", "in goes the onion", "the onion goes into the pot",
    "let the tomato be chopped"."""
    while words and words[-1] == ".":
        words = words[:-1]
    yield from _kept_up(words)
    yield from _on_the_way(words)
    marks = _TURNED.intersection(words)
    if not marks:
        return
    if "what" in marks:
        yield from _cleft(words)
    if marks & _GOING or ("go" in marks and (words[0] in _COUNTED or words[0] in _GOES)):
        yield from _going(words)
    if "with" in marks:
        yield from _with(words)
    if words[1:3] == ["you", "go"] and len(words) > 3 and words[0] in ("in", "into", "out", "down"):
        yield ["put", *words[3:], words[0]]
    if not _ME.isdisjoint(marks):
        yield from _fronted(words)
    if "be" in marks and words[0] == "let":
        at = words.index("be")
        if 1 < at < len(words) - 1:
            for verb in _infinitives(words[at + 1]):
                yield [verb, *words[1:at], *words[at + 2 :]]


_ONGOING = frozenset(("keep", "start", "begin", "continue", "resume"))


def _kept_up(words: list[str]) -> Iterator[list[str]]:
    """ "I keep on repairing it", "start fixing it": one does it now."""
    for k, word in enumerate(words[:3]):
        if word in _ONGOING:
            doing = k + 2 if words[k + 1 : k + 2] == ["on"] else k + 1
            if doing < len(words) and len(words[doing]) > 4 and words[doing].endswith("ing"):
                yield [*words[:k], *words[doing:]]
            return


def _on_the_way(words: list[str]) -> Iterator[list[str]]:
    """ "I'm still on my way to the sink": one goes there."""
    at = words.index("way") if "way" in words[:6] else 0
    own = words[at - 2 : at] in (["on", "my"], ["on", "our"]) and _UNDERWAY.issuperset(
        words[: at - 2]
    )
    if own and len(words) > at + 2:
        yield ["i", "go", *words[at + 1 :]]


_UNDERWAY = frozenset(_list("i'm we're i am we are still and now"))
_TURNED = _GOING | {"what", "go", "i", "we", "be", "with"}


def _cleft(words: list[str]) -> Iterator[list[str]]:
    at = words.index("what")
    thing, rest = words[: at - 1], words[at + 2 :]
    said = at + 1 < len(words) and words[at - 1 : at] == ["is"]
    if not said or not thing or thing[0] in _NO_THING:
        return
    if words[at + 1] not in ("i", "we", "i'll", "we'll", "i'm"):
        return
    willed = words[at + 1] in ("i'll", "we'll")
    while rest and rest[0] in _MODALS:
        willed, rest = willed or rest[0] in ("shall", "will"), rest[1:]
    for willing in (
        ["am", "going", "to"],
        ["going", "to"],
        ["want", "to"],
        ["would", "like", "to"],
    ):
        if rest[: len(willing)] == willing:
            rest = rest[len(willing) :]
    if not rest or rest[0] in _STATES or (rest[0] == "get" and not willed):
        return
    yield ["i", *rest, *thing]
    if len(rest) > 1:
        yield ["i", rest[0], *thing, *rest[1:]]


def _going(words: list[str]) -> Iterator[list[str]]:
    at = next(k for k, word in enumerate(words) if word in _GOING or word == "go")
    if at + 1 >= len(words) or at == 0:
        return
    where, thing = words[at + 1 :], words[:at]
    if words[at] == "go" and words[0] in _GOES and where[0] not in _COUNTED:
        return
    if words[0] in _GOES:  # "into the water goes a stone"
        where, thing = thing, where
    yield from _moved(thing, where)


def _with(words: list[str]) -> Iterator[list[str]]:
    """ "Into pot A with this onion", "with the onion to pot A"."""
    at = words.index("with")
    if at:
        if words[at + 1 :] == ["it"] and words[0] in _GOES:
            yield ["put", "it", *words[:at]]
        yield from _moved(words[at + 1 :], words[:at])
        return
    to = next((k for k, word in enumerate(words) if k > 1 and word in _GOES), 0)
    if to:
        yield from _moved(words[1:to], words[to:])


def _moved(thing: list[str], where: list[str]) -> Iterator[list[str]]:
    if thing and (thing[0] == "this" or thing[0] not in _NO_THING) and where[0] in _GOES:
        yield ["put", *thing, *where]
        if where[0] in ("to", "over", "back", "across"):
            yield ["carry", *thing, *where]


def _fronted(words: list[str]) -> Iterator[list[str]]:
    at = next((k for k, word in enumerate(words) if word in _ME), 0)
    front, rest = words[:at], words[at + 1 :]
    if not front or not rest or front[0] not in _BEFORE_ME or not _NO_FRONT.isdisjoint(front):
        return
    while rest[1:] and rest[0] in _MODALS:
        rest = rest[1:]
    end = len(rest) - (rest[-1] == ".")
    yield ["i", rest[0], *front, *rest[1:]]
    if end > 1:
        yield ["i", *rest[:end], *front]


def _infinitives(participle: str) -> tuple[str, ...]:
    if participle in _IRREGULAR:
        return (_IRREGULAR[participle],)
    if not participle.endswith("ed") or len(participle) < 5:
        return ()
    stem = participle[:-2]
    return (stem, stem + "e", *([stem[:-1]] if stem[-1] == stem[-2] else []))


def as_own(text: str, me: str) -> str:
    """A sentence in which a player calls itself by its name ("player_0 bets a chip", "near_0 will
    serve"), as of "I". The name of anybody else, or with a verb of the past, stays a report."""
    name = re.escape(me).replace("_", "[_ ]?")
    label = re.match(rf"\W*{name}\W*:\W*(?=\w)", text, re.I)
    if label:  # "player_0: check"
        return text[label.end() :]
    found = re.match(rf"\s*{name}\s+(.+)", text, re.I | re.S)
    if found is None:
        return text
    said, first = found[1], tokens(found[1][:60])[:2]
    if first[:1] in (["will"], ["shall"]) or first == ["would", "like"]:
        return f"I {said}"
    if first[:1] == ["is"] and first[1:] and first[1].endswith("ing"):
        return f"I'm {said[2:].lstrip()}"
    own = first and first[0].isalpha() and first[0].endswith("s") and first[0] not in _THIRD
    return f"I {said}" if own else text


_THIRD = frozenset(_list("is was has does yes its his this thus always"))
