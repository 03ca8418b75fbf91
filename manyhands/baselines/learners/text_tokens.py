"""The tokenizer of text policies: byte pairs, and whole lines and clauses that texts repeat.

Byte pair encoding (Sennrich, Haddow and Birch 2016) of words, trained on the texts that it will
read. The texts of a world repeat whole lines to the letter: the rule book, or "What you may do
now:". Each of those is one token, so that a rule book of 3,000 characters is some 40 tokens. Other
lines are made of clauses that come again and again: "facing east to the onion dispenser at (4, 1)".
Each of those is one token, too, and so a fact is where a network finds it at a glance. All 256
bytes are tokens, so that any text can be written and read back.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from manyhands.core.env import PolicyError
from manyhands.core.spelling import Place

PAD, START, END = 0, 1, 2  # filling; before an answer; after an answer
_BYTES = 3  # the first byte
_FIRST = _BYTES + 256  # the first token of several bytes
# A word with the blank or the break of line before it; the mark of a list belongs to its word.
_WORDS = re.compile(r"\n- \S+|\s?\S+|\s")
# The blanks between the clauses of a line: after a mark, and not within brackets.
_CLAUSES = re.compile(r"(?<=[,.;:]) (?![^()]*\))")
_PROSE = re.compile(r"[A-Za-z]{3}")
_COMMON = {"rules": 0.01, "choice": 0.01, "other": 0.2}  # least share of texts that have the line
_REPEATED = 0.002  # ... that have the clause


@dataclass(frozen=True)
class Tokenizer:
    """Text to token numbers and back.

    Attributes:
        lines: the lines that are one token each, without their break.
        pairs: the pairs of tokens that are joined, in the order of training.
        phrases: the clauses that are one token each, with the blank or the break before them.
    """

    lines: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    phrases: tuple[str, ...] = ()
    _line: dict[str, int] = field(init=False, repr=False, compare=False)
    _phrase: dict[str, int] = field(init=False, repr=False, compare=False)
    _rank: dict[tuple[int, int], int] = field(init=False, repr=False, compare=False)
    _bytes: list[bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        known = [b"", b"", b""] + [bytes([value]) for value in range(256)]
        known += [b"\n" + line.encode() for line in self.lines]
        known += [phrase.encode() for phrase in self.phrases]
        for left, right in self.pairs:
            if not (_BYTES <= left < len(known) and _BYTES <= right < len(known)):
                raise PolicyError(f"a tokenizer joins tokens that it does not have: {left, right}")
            known.append(known[left] + known[right])
        between = _FIRST + len(self.lines)
        first = between + len(self.phrases)
        set_ = functools.partial(object.__setattr__, self)
        set_("_line", {line: _FIRST + i for i, line in enumerate(self.lines)})
        set_("_phrase", {phrase: between + i for i, phrase in enumerate(self.phrases)})
        set_("_rank", {pair: first + i for i, pair in enumerate(self.pairs)})
        set_("_bytes", known)
        tree: tuple[list[int], dict[int, Any]] = [], {}
        for number, text in enumerate(known):
            node = tree
            for byte in text:
                node = node[1].setdefault(byte, ([], {}))
            if text:
                node[0].append(number)
        set_("_tree", tree)
        set_("_word", functools.lru_cache(maxsize=1 << 16)(self._join))

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self._bytes)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text. A break of line is put before it, so that its first line is read
        like the others."""
        tokens: list[int] = []
        for line in text.split("\n"):
            whole = self._line.get(line)
            if whole is not None:
                tokens.append(whole)
                continue
            for clause in _clauses(line):
                phrase = self._phrase.get(clause)
                if phrase is not None:
                    tokens.append(phrase)
                    continue
                for word in _WORDS.findall(clause):
                    tokens += self._word(word)  # type: ignore[attr-defined]
        return tokens

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of tokens; what is no text, and tokens that are not known, are replaced."""
        known = self._bytes
        data = b"".join(known[t] if t < len(known) else b"\xff" for t in tokens)
        return data.removeprefix(b"\n").decode(errors="replace")

    def leading(self, place: Place) -> dict[int, Place]:
        """The tokens that may be written at a place of a spelling, with the places after them; the
        end where an answer is whole."""
        found = {END: place} if place.whole else {}
        waiting = [(place, self._tree)]  # type: ignore[attr-defined]
        while waiting:
            at, (numbers, longer) = waiting.pop()
            found.update(dict.fromkeys(numbers, at))
            if longer:
                near = at.after
                waiting += [(near[byte], node) for byte, node in longer.items() if byte in near]
        return found

    def spelled(self, text: bytes) -> list[int]:
        """A text byte by byte."""
        return [_BYTES + value for value in text]

    def _join(self, word: str) -> list[int]:
        parts = [_BYTES + value for value in word.encode()]
        while len(parts) > 1:
            found = [(self._rank.get(pair, 1 << 30), i) for i, pair in enumerate(_pairs(parts))]
            token, at = min(found)
            if token == 1 << 30:
                break
            parts[at : at + 2] = [token]
        return parts

    def to_json(self) -> dict[str, Any]:
        return {
            "lines": list(self.lines),
            "pairs": [list(pair) for pair in self.pairs],
            "phrases": list(self.phrases),
        }

    @classmethod
    def from_json(cls, data: Any) -> Tokenizer:
        """The tokenizer that `to_json` described.

        Raises:
            PolicyError: it describes none.
        """
        try:
            lines, pairs, phrases = data["lines"], data["pairs"], data.get("phrases", ())
            plain = all(type(line) is str for line in (*lines, *phrases))
            plain &= all(type(left) is type(right) is int for left, right in pairs)
            if not plain:
                raise TypeError("lines are texts, and pairs are of whole numbers")
            joined = tuple((left, right) for left, right in pairs)
            return cls(tuple(lines), joined, tuple(phrases))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise PolicyError(f"this is no tokenizer: {error!r}") from error


def train_tokenizer(
    rules: Mapping[str, Sequence[str]], texts: Mapping[str, Sequence[str]], size: int
) -> Tokenizer:
    """A tokenizer for the texts of some games.

    Args:
        rules: by game, the system messages.
        texts: by game, the prompts and answers.
        size: the most tokens, at least 259 (the bytes).
    """
    chosen: Counter[str] = Counter()
    for kind, source in (("rules", rules), ("texts", texts)):
        for written in source.values():
            seen = Counter(line for text in written for line in set(text.split("\n")))
            for line, count in seen.items():
                part = kind if kind == "rules" else "choice" if line[:2] == "- " else "other"
                common = count >= max(_COMMON[part] * len(written), 1 if kind == "rules" else 3)
                if common and line.count(" ") >= 2 and _PROSE.search(line):
                    chosen[line] += len(line) * (10**6 if kind == "rules" else count)
    # Half of the tokens at most, those that save the most.
    lines = tuple(line for line, _ in chosen.most_common(max(0, (size - _FIRST) // 2)))
    whole = set(lines)
    repeated: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = {}
    for kind, source in (("rules", rules), ("texts", texts)):
        for game, written in source.items():
            own = counts.setdefault(f"{kind} {game}", Counter())
            for text, times in Counter(written).items():
                for line in text.split("\n"):
                    if line not in whole:
                        for clause in _clauses(line):
                            own[clause] += times
            least = max(_REPEATED * len(written), 3)
            for clause, count in own.items():
                words = len(_WORDS.findall(clause))
                if count >= least and words >= 2:
                    repeated[clause] += count * (words - 1)
    # Half of the rest.
    most = max(0, (size - _FIRST - len(lines)) // 2)
    phrases = tuple(clause for clause, _ in repeated.most_common(most))
    found: Counter[str] = Counter()
    known = set(phrases)
    for own in counts.values():
        for clause, times in own.items():
            if clause not in known:
                for word in _WORDS.findall(clause):
                    found[word] += times
    first = _FIRST + len(lines) + len(phrases)
    return Tokenizer(lines, tuple(_train_pairs(found, size - first, first)), phrases)


def _clauses(line: str) -> list[str]:
    """The clauses of a line, each with the blank before it, the first with a break."""
    first, *others = _CLAUSES.split(line)
    return ["\n" + first, *(" " + clause for clause in others)]


def _train_pairs(words: Mapping[str, int], most: int, first: int) -> list[tuple[int, int]]:
    """The pairs to join, the most frequent first (ties: the lowest)."""
    parts = {word: [_BYTES + value for value in word.encode()] for word in words}
    counts: Counter[tuple[int, int]] = Counter()
    where: dict[tuple[int, int], set[str]] = {}
    for word, own in parts.items():
        for pair in _pairs(own):
            counts[pair] += words[word]
            where.setdefault(pair, set()).add(word)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < most and counts:
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[best] < 3:
            break
        token = first + len(chosen)
        chosen.append(best)
        for word in where.pop(best):
            own = parts[word]
            for pair in _pairs(own):
                counts[pair] -= words[word]
                if counts[pair] <= 0:
                    del counts[pair]
            i = 0
            while i < len(own) - 1:
                if (own[i], own[i + 1]) == best:
                    own[i : i + 2] = [token]
                i += 1
            for pair in _pairs(own):
                counts[pair] += words[word]
                where.setdefault(pair, set()).add(word)
        counts.pop(best, None)
    return chosen


def _pairs(parts: Sequence[int]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(parts))
