"""Slips of the pen: a word of an answer that is one letter from one word of the game.

"go nroth" is refused by every reader, and then read once more as "go north". Only a word of five
letters or more is mended that no grammar knows, where exactly one word of the game's grammars is
one slip away: a letter more, less or another, or two neighbours that are swapped. Of a word of four
letters only two neighbours may be swapped ("dwon", "esat"). No number,
negation, condition or name of a player is put in, and what is a slip from one of them is nothing
else, nor is a word of English. The first letter has to be right, and so has the last, unless it is
swapped: there a word has its past or its person, and "raised" is no "raise".
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.lookalikes import LOOKALIKES
from manyhands.core.reading.signs import NAME
from manyhands.core.reading.words import NUMBERS, RANKS

LEAST = 5  # letters of a word that is mended, and of what it becomes
SHORT = 4  # letters of a word in which only neighbours may be swapped
MOST_WORDS = 80  # of what is mended
MOST_UNKNOWN = 12  # different words in it that no grammar knows
MOST_MENDED = 3  # of them

_WORD = re.compile(rf"(?<![\w'\u2019])[a-z]{{{SHORT},}}(?![\w'\u2019])", re.I)
_LETTERS = re.compile(r"[^\W\d_]+")
_PLAYER = re.compile(NAME, re.I)

# What turns a sentence round, opens a condition, tells of others, or counts.
_BARRED = frozenset(
    str.split(
        "never nothing nobody nowhere cannot without neither refuse avoid unless whether although "
        "though instead rather except until before after would could should might maybe perhaps "
        "probably possibly other others another either which where there their these those "
        "someone somebody everyone later again about against false wrong worse worst"
    )
).union(NUMBERS, RANKS)


def one_slip(word: str, other: str) -> bool:
    """Whether words differ by one letter (more, less or another), or by two that are swapped."""
    if abs(len(word) - len(other)) > 1:
        return False
    start = next((k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), None)
    if start is None:
        return len(word) != len(other)
    left, right = word[start:], other[start:]
    swapped = left[1::-1] + left[2:] == right
    return swapped or left[1:] in (right, right[1:]) or left == right[1:]


def possible(said: str) -> bool:
    """Whether words may hold a slip that is mended."""
    return bool(_WORD.search(said)) and len(_LETTERS.findall(said)) <= MOST_WORDS


def mended(text: str, said: str, grammars: Iterable[Grammar], me: str = "") -> str:
    """An answer with its slips mended; the same if there is none that is sure.

    Args:
        text: the answer.
        said: the part of it that no reader understood, whose slips are looked for.
        grammars: those that tried to read it.
        me: the name of the player who answers.
    """
    words = dict.fromkeys(word.lower() for word in _WORD.findall(said))
    if not possible(said):
        return text
    lexicon, own = _lexicon(tuple(grammars)), _LETTERS.findall(me.lower())
    unknown = [word for word in words if word not in lexicon.known]
    if sum(len(word) >= LEAST for word in unknown) > MOST_UNKNOWN:
        return text
    found = {word: meant for word in unknown if (meant := lexicon.meant(word)) and meant not in own}
    if not 0 < len(found) <= MOST_MENDED:
        return text
    return _WORD.sub(lambda word: found.get(word[0].lower(), word[0]), text)


class _Lexicon:
    """The words of some grammars.

    Attributes:
        known: all that are no slip.
    """

    def __init__(self, grammars: Iterable[Grammar]):
        self._words = _forms(word for grammar in grammars for word in grammar.words)
        around = _forms(word for grammar in grammars for word in grammar.courtesies)
        self.known = self._words | around | _BARRED | LOOKALIKES
        self._sized: dict[int, list[str]] = {}
        for word in self._words | around | _BARRED:
            self._sized.setdefault(len(word), []).append(word)

    def meant(self, word: str) -> str:
        """The word that another one is a slip from; empty if there is none, or more than one."""
        if len(word) == SHORT:
            swapped = {word[:k] + word[k : k + 2][::-1] + word[k + 2 :] for k in range(SHORT - 1)}
            found = [other for other in self._sized.get(SHORT, ()) if other in swapped]
            sure = len(found) == 1 and found[0] in self._words - _BARRED
            return found[0] if sure and not _PLAYER.fullmatch(f"{found[0]} 1") else ""
        near = [
            other
            for size in (len(word) - 1, len(word), len(word) + 1)
            for other in self._sized.get(size, ())
            if one_slip(word, other)
        ]
        if len(near) != 1 or near[0] not in self._words or len(near[0]) < LEAST:
            return ""
        (other,) = near
        ends = word[-1] == other[-1] or sorted(word) == sorted(other)
        sure = word[0] == other[0] and ends and other not in _BARRED
        return other if sure and not _PLAYER.fullmatch(f"{other} 1") else ""


_lexicon = functools.lru_cache(maxsize=64)(_Lexicon)


def _forms(words: Iterable[str]) -> frozenset[str]:
    """Words with their plurals and `-ing` forms."""
    found = set()
    for word in words:
        if word.isalpha() and word.isascii():
            ends = word + word[-1], word.removesuffix("e")
            found |= {word, f"{word}s", f"{word}ing", *(f"{end}ing" for end in ends)}
    return frozenset(found)
