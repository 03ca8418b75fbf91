"""The tokenizer of text policies: byte pairs, and whole lines and clauses that texts repeat.

Byte pair encoding (Sennrich, Haddow and Birch 2016) of words, trained on the texts that it will
read. The texts of a world repeat whole lines to the letter: the rule book, or "What you may do
now:". Each of those is one token, so that a rule book of 3,000 characters is some 40 tokens. Other
lines are made of clauses that come again and again: "facing east to the onion dispenser at (4, 1)".
Each of those is one token, too, and so a fact is where a network finds it at a glance. All 256
bytes are tokens, so that any text can be written and read back.

A clause as a token hides its names: "take mug 1 from desk 1" says no more of a mug than of a pen to
a network that has not learned each such clause by itself. Where what is read has to be compared
and repeated, and names are many, a tokenizer of words (`apart`) is for it: words, numbers and marks
are apart, so that a name is the same token wherever it stands. Words that never come apart ("coffee
table", "in the middle of the") are one token, which hides nothing.
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
from manyhands.core.reading.spelling import Place

PAD, START, END = 0, 1, 2  # filling; before an answer; after an answer
_BYTES = 3  # the first byte
_FIRST = _BYTES + 256  # the first token of several bytes
# A word with the blank or the break of line before it; the mark of a list belongs to its word.
_WORDS = re.compile(r"\n- \S+|\s?\S+|\s")
# The blanks between the clauses of a line: after a mark, and not within brackets.
_CLAUSES = re.compile(r"(?<=[,.;:]) (?![^()]*\))")
# Words, numbers and marks, each with the blank or the break before it.
_PARTS = re.compile(r"[\n ]?(?:- )?[^\W\d]+(?:'[^\W\d]+)*|[\n ]?\d+|[\n ]?[^\s\w]|\s")
_PROSE = re.compile(r"[A-Za-z]{3}")
_COMMON = {"rules": 0.01, "choice": 0.01, "other": 0.2}  # least share of texts that have the line
_REPEATED = 0.002  # ... that have the clause, or the word
# Among words a line is a token if nearly all prompts have it; half of the texts are answers.
_ALWAYS = {"rules": 0.01, "choice": 0.45, "other": 0.45}
_TOGETHER = 0.95  # words are joined if either of them is so often beside the other


@dataclass(frozen=True)
class Tokenizer:
    """Text to token numbers and back.

    Attributes:
        lines: the lines that are one token each, without their break.
        pairs: the pairs of tokens that are joined, in the order of training.
        phrases: the clauses that are one token each, with the blank or the break before them; with
            `apart` the words, and words that never come apart.
        apart: whether words, numbers and marks are tokens apart.
    """

    lines: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    phrases: tuple[str, ...] = ()
    apart: bool = False
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
        # By its parts, the token of a phrase; by its first part, the most parts it may have.
        runs = {tuple(_PARTS.findall(own)): self._phrase[own] for own in self.phrases}
        longest: dict[str, int] = {}
        for run in runs if self.apart else ():
            longest[run[0]] = max(longest.get(run[0], 0), len(run))
        set_("_runs", (runs, longest))
        set_("_of_line", functools.lru_cache(maxsize=1 << 14)(self._read_line))

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self._bytes)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text. A break of line is put before it, so that its first line is read
        like the others."""
        tokens: list[int] = []
        for line in text.split("\n"):
            tokens += self._of_line(line)  # type: ignore[attr-defined]
        return tokens

    def _read_line(self, line: str) -> tuple[int, ...]:
        whole = self._line.get(line)
        if whole is not None:
            return (whole,)
        if self.apart:
            return self._read_parts(_PARTS.findall("\n" + line))
        tokens: list[int] = []
        for clause in _clauses(line):
            phrase = self._phrase.get(clause)
            if phrase is not None:
                tokens.append(phrase)
                continue
            for word in _WORDS.findall(clause):
                tokens += self._word(word)  # type: ignore[attr-defined]
        return tuple(tokens)

    def _read_parts(self, parts: Sequence[str]) -> tuple[int, ...]:
        """The longest phrases from left to right, and pairs of bytes of what is in none."""
        runs, longest = self._runs  # type: ignore[attr-defined]
        tokens: list[int] = []
        at = 0
        while at < len(parts):
            for length in range(longest.get(parts[at], 0), 0, -1):
                phrase = runs.get(tuple(parts[at : at + length]))
                if phrase is not None:
                    tokens.append(phrase)
                    at += length
                    break
            else:
                tokens += self._word(parts[at])  # type: ignore[attr-defined]
                at += 1
        return tuple(tokens)

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
        found: dict[str, Any] = {
            "lines": list(self.lines),
            "pairs": [list(pair) for pair in self.pairs],
            "phrases": list(self.phrases),
        }
        return found | ({"apart": True} if self.apart else {})

    @classmethod
    def from_json(cls, data: Any) -> Tokenizer:
        """The tokenizer that `to_json` described.

        Raises:
            PolicyError: it describes none.
        """
        try:
            lines, pairs, phrases = data["lines"], data["pairs"], data.get("phrases", ())
            apart = data.get("apart", False)
            plain = type(apart) is bool
            plain &= all(type(line) is str for line in (*lines, *phrases))
            plain &= all(type(left) is type(right) is int for left, right in pairs)
            if not plain:
                raise TypeError("lines are texts, and pairs are of whole numbers")
            joined = tuple((left, right) for left, right in pairs)
            return cls(tuple(lines), joined, tuple(phrases), apart)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise PolicyError(f"this is no tokenizer: {error!r}") from error


def train_tokenizer(
    rules: Mapping[str, Sequence[str]],
    texts: Mapping[str, Sequence[str]],
    size: int,
    apart: bool = False,
) -> Tokenizer:
    """A tokenizer for the texts of some games.

    Args:
        rules: by game, the system messages.
        texts: by game, the prompts and answers.
        size: the most tokens, at least 259 (the bytes).
        apart: whether words, numbers and marks are tokens apart, in place of clauses.
    """
    chosen: Counter[str] = Counter()
    shares = _ALWAYS if apart else _COMMON
    for kind, source in (("rules", rules), ("texts", texts)):
        for written in source.values():
            seen = Counter(line for text in written for line in set(text.split("\n")))
            for line, count in seen.items():
                part = kind if kind == "rules" else "choice" if line[:2] == "- " else "other"
                common = count >= max(shares[part] * len(written), 1 if kind == "rules" else 3)
                # Headings of rules are short, and come once.
                long = line.count(" ") >= 2 or (apart and kind == "rules")
                if common and long and _PROSE.search(line):
                    chosen[line] += len(line) * (10**6 if kind == "rules" else count)
    # Half of the tokens at most, those that save the most.
    lines = tuple(line for line, _ in chosen.most_common(max(0, (size - _FIRST) // 2)))
    whole = set(lines)
    left = size - _FIRST - len(lines)
    # Clauses, or words, that repeat often enough in a game, by what they save.
    repeated: Counter[str] = Counter()
    counts: list[Counter[str]] = []
    for source in (rules, texts):
        for written in source.values():
            rest = Counter(line for text in written for line in text.split("\n"))
            for line in whole & rest.keys():
                del rest[line]
            least = max(_REPEATED * len(written), 3)
            own = _together(rest, least) if apart else _all_clauses(rest)
            counts.append(own)
            for clause, count in own.items():
                words = len(_WORDS.findall(clause))
                saved = words if apart else words - 1
                if count >= least and saved and len(clause) > 1:
                    repeated[clause] += count * saved
    # Half of the rest; of words three quarters, as what is no word is rare.
    most = max(0, left * 3 // 4 if apart else left // 2)
    phrases = tuple(clause for clause, _ in repeated.most_common(most))
    found: Counter[str] = Counter()
    known = set(phrases)
    for own in counts:
        for clause, times in own.items():
            if clause not in known:
                for word in (_PARTS if apart else _WORDS).findall(clause):
                    found[word] += times
    first = _FIRST + len(lines) + len(phrases)
    return Tokenizer(lines, tuple(_train_pairs(found, size - first, first)), phrases, apart)


def _all_clauses(lines: Mapping[str, int]) -> Counter[str]:
    """How often each clause is in some lines, which are in the texts so often each."""
    found: Counter[str] = Counter()
    for line, times in lines.items():
        for clause in _clauses(line):
            found[clause] += times
    return found


def _together(lines: Mapping[str, int], least: float) -> Counter[str]:
    """How often each word is in some lines; words of which either is nearly always beside the other
    are joined. Numbers never are: they tell things apart."""
    rows = [(_PARTS.findall("\n" + line), times) for line, times in lines.items()]
    while True:
        single: Counter[str] = Counter()
        double: Counter[tuple[str, str]] = Counter()
        for row, times in rows:
            for part in row:
                single[part] += times
            for pair in itertools.pairwise(row):
                double[pair] += times
        joined = {
            (a, b)
            for (a, b), count in double.items()
            if count >= max(least, _TOGETHER * min(single[a], single[b]))
            and not any(letter.isdigit() for letter in a + b)
        }
        if not joined:
            return single
        for row, _ in rows:
            at = 0
            while at < len(row) - 1:
                if (row[at], row[at + 1]) in joined:
                    row[at : at + 2] = [row[at] + row[at + 1]]
                at += 1


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
