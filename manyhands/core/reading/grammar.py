"""Sentences that name an action, read word by word.

A `Grammar` holds the phrases of a game. It reads a sentence only if every word of it is accounted
for: as part of one phrase, or as courtesy around it ("I'll ...", "please"). Whatever is left over
(a denial, a condition, a question, an alternative, a report of what others did) makes the sentence
name nothing. So nothing is guessed, and no list of dangerous words has to be complete.

A phrase is a pattern: words; `(a|b)` for alternatives; `[a]` for what may be left out; `{slot}` or
`{label:slot}` for a value. Plural and `-ing` forms of words are understood, as are number words and
both spellings of names ("chef_1", "chef 1").

    grammar = Grammar({"raise": ["(raise|bet) [by] {n} [chip]"], "fold": ["fold", "give up"]})
    grammar.read("I'll raise by two chips, please")   # [Reading("raise", {"n": 2})]

Time is linear in the length of the sentence: all phrases are followed at once, word by word.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from manyhands.core.reading.phrases import FEW_HEAD, FEW_TAIL, HEAD, SKIPPED, TAIL
from manyhands.core.reading.word_order import OPENING, orders
from manyhands.core.reading.words import RANKS, forms_of, loose_forms, tokens, whole_number

MOST_WORDS = 80  # of a sentence; a longer one names nothing
_MOST_CACHED = 1_000  # sentences of a grammar whose readings are kept
_MOST_PATHS = 5_000  # readings followed at once, more than any game needs


class Reading(NamedTuple):
    """What a sentence means: the phrase's meaning, and the values of its slots by label."""

    meaning: Any
    values: dict[str, Any]


# The grammars that are asked, where somebody listens.
_ASKED: contextvars.ContextVar[dict[Grammar, None] | None] = contextvars.ContextVar(
    "asked", default=None
)


@contextlib.contextmanager
def listening() -> Iterator[Mapping[Grammar, None]]:
    """The grammars that are asked to read something within a `with` block, in order."""
    asked: dict[Grammar, None] = {}
    token = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(token)


Slot = Callable[[list[str], int], Iterable[tuple[Hashable, int]]]


class _Node:
    """A state of the automaton: where a word, a slot or nothing leads to."""

    def __init__(self) -> None:
        self.words: dict[str, list[_Node]] = {}
        self.slots: list[tuple[str, str, _Node]] = []  # label, slot, where to
        self.free: list[_Node] = []
        self.meanings: list[Any] = []


_PIECE = re.compile(r"\s*([()\[\]|]|\{[^{}]*\}|[^\s()\[\]|{}]+)")


class Grammar:
    """The phrases of a game.

    Args:
        phrases: meaning -> its patterns, or pairs of both.
        slots: name -> words with their values (phrases of several words are allowed), or a function
            of the words of a sentence and a place among them that yields each (value, number of
            words) that the slot can take from there. `n` (a whole number), `count` (also "a", "an")
            and `ordinal` ("first", "2nd") are there.
        courtesy: whether "I will ...", "please" and the like may stand around a phrase.
        keep: words that are no courtesy here, since they mean something.
        short: phrases that name no more than a thing ("bread"); only a few words of courtesy may
            stand around them.

    Attributes:
        courtesies: the words that may stand around a phrase.
    """

    def __init__(
        self,
        phrases: Mapping[Any, Iterable[str]] | Iterable[tuple[Any, Iterable[str]]],
        slots: Mapping[str, Mapping[str, Any] | Slot] | None = None,
        *,
        courtesy: bool = True,
        keep: Iterable[str] = (),
        short: Mapping[Any, Iterable[str]] | Iterable[tuple[Any, Iterable[str]]] = (),
    ):
        self._cache: dict[str, list[Reading]] = {}
        self._heard: set[str] = set()
        self.courtesies: set[str] = set()
        self._skipped = SKIPPED - frozenset(keep) if courtesy else frozenset()
        self._slots = {name: _slot(words) for name, words in (slots or {}).items()}
        kept = frozenset(keep)
        self._starts: list[_Node] = []
        self._tails: set[_Node] = set()
        for given, head, tail in ((phrases, HEAD, TAIL), (short, FEW_HEAD, FEW_TAIL)):
            start, body, end = _Node(), _Node(), _Node()
            start.free.append(body)
            if courtesy:
                for node, lines in ((start, head), (end, tail)):
                    for line in lines:
                        self._add(line, node, self.courtesies, kept).free.append(node)
            for meaning, patterns in given.items() if isinstance(given, Mapping) else given:
                for pattern in patterns:
                    last = self._add(pattern, body, self._heard)
                    last.meanings.append(meaning)
                    last.free.append(end)
            self._starts.append(start)
            self._tails.add(end)

    def read(
        self, sentence: str, slots: Mapping[str, Mapping[str, Any] | Slot] | None = None
    ) -> list[Reading]:
        """Everything that a sentence means as a whole, without repetitions; empty if nothing.
        `slots` stand in for slots of the same names in this sentence."""
        asked = _ASKED.get()
        if asked is not None:
            asked[self] = None
        cached = self._cache.get(sentence) if slots is None else None
        if cached is not None:
            return list(cached)
        found = self._read_all(sentence, slots)
        if slots is None and len(sentence) <= 200:  # scripts say the same again and again
            if len(self._cache) >= _MOST_CACHED:
                self._cache.clear()
            self._cache[sentence] = found
        return list(found)

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """The words of all phrases and of the names that slots take."""
        found, trees = set(self._heard), [*self._slots.values()]
        while trees:
            tree = trees.pop()
            if isinstance(tree, dict):
                found |= {word for word in tree if word is not None}
                trees += [branch for word, branch in tree.items() if word is not None]
        return frozenset(found)

    def _read_all(
        self, sentence: str, slots: Mapping[str, Mapping[str, Any] | Slot] | None
    ) -> list[Reading]:
        """What a sentence means, in all orders that its words may have been turned to."""
        words = tokens(sentence)
        found = self._read(words, slots)
        opening = OPENING.match(sentence)
        others = [tokens(sentence[opening.end() :])] if opening else []
        for start in (words, *others[:]):
            others += orders(start)
        for other in others:
            found += [reading for reading in self._read(other, slots) if reading not in found]
        return found

    def _read(
        self, words: list[str], slots: Mapping[str, Mapping[str, Any] | Slot] | None
    ) -> list[Reading]:
        if not 0 < len(words) <= MOST_WORDS:
            return []
        known = self._slots | {name: _slot(words) for name, words in (slots or {}).items()}
        # At each place, the nodes that are reached there, with what was read on the way.
        Path = tuple[_Node, tuple[tuple[str, Any], ...], Any]
        places: list[dict[Path, None]] = [{} for _ in range(len(words) + 1)]
        places[0].update(((start, (), None), None) for start in self._starts)
        for i, word in enumerate([*words, ""]):
            paths, counted = list(places[i]), False
            # A loose verb alone may mean something else: "I'll stick".
            last = i + 1 >= len(words) or words[i + 1] == "."
            forms = forms_of(word) if last else loose_forms(word)
            for path in paths:  # grows
                node, values, meaning = path
                for other in node.free:
                    said = node.meanings if other in self._tails and node.meanings else [meaning]
                    for what in said:
                        new = (other, values, what)
                        if new not in places[i]:
                            places[i][new] = None
                            paths.append(new)
                if len(paths) > _MOST_PATHS:
                    return []
                if i == len(words):
                    continue
                for form in forms:
                    for other in node.words.get(form, ()):
                        places[i + 1][other, values, meaning] = None
                for label, slot, other in node.slots:
                    for value, length in _values(known.get(slot), slot, words, i):
                        new = (other, (*values, (label, value)), meaning)
                        places[i + length][new] = None
                        counted = True
            if word in self._skipped and not counted:  # "a" may be a number
                places[i + 1].update(dict.fromkeys(paths))
        found = [
            Reading(what, dict(values)) for node, values, what in places[-1] if node in self._tails
        ]
        return [reading for k, reading in enumerate(found) if reading not in found[:k]]

    def meaning(self, sentence: str) -> Any:
        """The one thing that a sentence means; None if it means nothing, or several things."""
        found = {reading.meaning for reading in self.read(sentence)}
        return found.pop() if len(found) == 1 else None

    def _add(
        self, pattern: str, start: _Node, heard: set[str], keep: frozenset[str] = frozenset()
    ) -> _Node:
        """The node at the end of a pattern that begins at `start`; its words are added to
        `heard`."""
        pieces = _PIECE.findall(pattern)
        end, rest = self._sequence(pieces, 0, start, pattern, keep)
        heard.update(word for piece in pieces if piece[0] != "{" for word in tokens(piece))
        if rest != len(pieces):
            raise ValueError(f"{pattern!r}: a bracket or bar too much at {pieces[rest]!r}")
        return end

    def _sequence(
        self, pieces: list[str], i: int, node: _Node, pattern: str, keep: frozenset[str]
    ) -> tuple[_Node, int]:
        while i < len(pieces) and pieces[i] not in ")]|":
            piece, after = pieces[i], _Node()
            if piece in "([":
                close, start, last = ")]"["([".index(piece)], node, "|"
                while last == "|":
                    end, i = self._sequence(pieces, i + 1, start, pattern, keep)
                    end.free.append(after)
                    last = pieces[i] if i < len(pieces) else ""
                if last != close:
                    raise ValueError(f"{pattern!r}: {close!r} is missing")
                if piece == "[":
                    start.free.append(after)
            elif piece[0] == "{":
                label, _, slot = piece[1:-1].rpartition(":")
                if slot not in ("n", "count", "ordinal") and slot not in self._slots:
                    raise ValueError(f"{pattern!r}: there is no slot {slot!r}")
                node.slots.append((label or slot, slot, after))
            else:
                for word in tokens(piece) or [piece]:
                    step = _Node()
                    if word not in keep:
                        node.words.setdefault(word, []).append(step)
                    node = step
                node.free.append(after)
            node, i = after, i + 1
        return node, i


def _values(known: Any, slot: str, words: list[str], i: int) -> Iterator[tuple[Any, int]]:
    """(value, number of words) of what a slot can take from place `i` on."""
    word = words[i]
    if callable(known):
        yield from known(words, i)
    elif slot in ("n", "count"):
        number = whole_number(word)
        if number is not None:
            yield number, 1
        elif slot == "count" and word in ("a", "an"):
            yield 1, 1
    elif slot == "ordinal":
        if word in RANKS:
            yield RANKS[word], 1
        elif word[-2:] in ("st", "nd", "rd", "th") and word[:-2].isdigit():
            yield int(word[:-2]), 1
    else:
        branches = [known]
        for length, word in enumerate(words[i:], start=1):
            branches = [b[form] for b in branches for form in forms_of(word) if form in b]
            if not branches:
                return
            for branch in branches:
                if None in branch:
                    yield branch[None], length


def _slot(words: Mapping[str, Any] | Slot) -> Any:
    return words if callable(words) else _tree(words)


def _tree(words: Mapping[str, Any]) -> dict[Any, Any]:
    """A tree of words, with the value under None where a name ends."""
    tree: dict[Any, Any] = {}
    for name, value in words.items():
        branch = tree
        for word in tokens(name):
            branch = branch.setdefault(word, {})
        branch[None] = value
    return tree
