"""Words that forms, texts and pictures share: amounts, one player's observation by name, and the
amounts in an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manyhands.core.env import IllegalAction

_COUNTED = frozenset(["book", "hat", "ball", "coin", "ton", "item"])  # the others have no plural


def plural(good: str, count: int) -> str:
    return f"{good}s" if good in _COUNTED and count != 1 else good


def amount(goods: Sequence[str], counts: Any) -> str:
    """ "2 books, 1 hat and 3 balls", or "nothing"."""
    parts = [f"{c} {plural(g, c)}" for g, c in zip(goods, map(int, counts), strict=True) if c]
    return listed(parts) if parts else "nothing"


def listed(parts: Sequence[str]) -> str:
    """ "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def owned(goods: Sequence[str], counts: Any) -> str:
    """ "2 books, 0 hats, 3 balls"."""
    return ", ".join(f"{int(c)} {plural(g, int(c))}" for g, c in zip(goods, counts, strict=True))


class Observation:
    """What one player knows, by name: `observation["pool"]` is a part of its row of `perceive`.

    Args:
        row: i32[F], the player's row of `Negotiation.perceive`.
        at: where each part lies in it.
        names: the players, in this player's order: itself first.
        agent: its index.
        phases: the phases of the game, in the order of the bits of "phase".
        you: whether the player itself is called "you".
    """

    def __init__(
        self,
        row: np.ndarray,
        at: Mapping[str, slice],
        names: Sequence[str],
        agent: int,
        phases: Sequence[int],
        you: bool = True,
    ):
        self.row, self.at, self.names = row, at, list(names)
        self.agent, self.you = agent, you
        self.phase = phases[int(np.argmax(self["phase"]))]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.row[self.at[name]]

    def who(self, number: int, capital: bool = False) -> str:
        """The player in place `number` of this player's order: "you", or a name."""
        if number or not self.you:
            return self.names[number]
        return "You" if capital else "you"

    def verb(self, number: int, word: str) -> str:
        """A verb in the form for the player in place `number`."""
        return word if number == 0 and self.you else f"{word}s"

    def marked(self, name: str) -> int | None:
        """The place of the player whose bit is set; None where none is."""
        bits = np.flatnonzero(self[name]) if name in self.at else np.zeros(0)
        return int(bits[0]) if len(bits) else None

    def worth(self, counts: Any) -> int:
        """What units of each good are worth to this player."""
        return int(np.dot(self["own_values"], counts))


# ---- amounts in an answer ------------------------------------------------------------------------

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
} | {"zero": 0, "a": 1, "an": 1, "nothing": 0, "none": 0}
_WORD_NUMBER = "|".join(NUMBER_WORDS)

# What may follow an amount where there is one good only.
_BEHIND_NUMBERS = frozenset([
    "coin", "coins", "ton", "tons", "fish", "point", "points", "dollar", "dollars", "for", "to",
    "and", "of", "each", "me", "you", "in", "is", "it", "now", "here", "from", "on", "or", "as",
    "please", "more", "at", "most", "the",
])  # fmt: skip


def numbers(plain: str, unit: str) -> list[int]:
    """All amounts of a sentence, in digits or in words; names of players hold none. `unit` is what
    amounts are of, for the error."""
    plain = re.sub(r"\b[a-z]+_\d+\b", " ", plain)
    for noun in re.findall(r"\d ?([a-z]+)", plain):
        if noun not in _BEHIND_NUMBERS:
            raise IllegalAction(f"{noun!r}: amounts here are {unit}")
    found = re.findall(rf"\d+|\b(?:{_WORD_NUMBER})\b(?= (?:coins?|tons?))", plain)
    return [int(word) if word.isdigit() else NUMBER_WORDS[word] for word in found]


def one_number(plain: str, unit: str, about: str, quoted: str) -> int:
    """The one amount of a sentence that says nothing else, or has one of the verbs `about`."""
    found = numbers(plain, unit)
    if not found:
        raise IllegalAction(f"{quoted} names no move")
    if len(set(found)) > 1:
        raise IllegalAction(f"{quoted} names more than one amount")
    bare = re.fullmatch(r"\$?\d+(?: ?(?:coins?|tons?|points?|dollars?|\$))?", plain)
    if bare is None and not re.search(rf"\b(?:{about})\w*\b", plain):
        raise IllegalAction(f"{quoted} names no move")
    return found[0]


def quantities(
    plain: str, goods: Sequence[str], pool: np.ndarray | None, quoted: str
) -> np.ndarray:
    """i[R], how many of each good a phrase names: "2 books and a hat". `pool` is what "all" or
    "the" of a good is."""
    counts = np.zeros(len(goods), int)
    names = "|".join(goods)
    pattern = (
        rf"\b(?:(\d+|{_WORD_NUMBER}|all|every|both|the)(?: ?x)? (?:of )?"
        rf"(?:the |my |your |these )?(?:units? of |pieces? of )?)?({names})s?\b"
    )
    for count, good in re.findall(pattern, plain):
        k = goods.index(good)
        if count in ("all", "every", "both", "the", ""):
            here = int(pool[k]) if pool is not None else 0
            if pool is None or (count == "" and here != 1):
                raise IllegalAction(f"{quoted}: say how many units of {good}")
            counts[k] += here
        else:
            counts[k] += int(count) if count.isdigit() else NUMBER_WORDS[count]
    rest = re.sub(pattern, " ", plain)
    everything = re.search(r"\beverything\b|\ball of (?:it|them)\b", rest)
    if everything and pool is not None:
        counts += pool
    if re.search(r"\d", rest):
        known = ", ".join(goods)
        raise IllegalAction(f"{quoted}: an amount of what? There are {known}")
    if not everything and not re.search(rf"({names})s?\b|\b(?:nothing|none|no)\b", plain):
        raise IllegalAction(f"{quoted} names no move")
    return counts
