"""Messages between players: cleaning, delivery, and the nearest phrase for players that receive
tokens. (`core/reading/answers.py` reads messages from an answer.)

Any environment can have a channel: the wrapper `wrappers/chat.py` adds one, and negotiation has its
own.
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from manyhands.core.config import whole
from manyhands.core.env import ConfigError
from manyhands.core.reading.doubts import denies
from manyhands.core.reading.parts import split_say

OTHER = "(something in words of its own)"  # how a text seat reads the token of free text
NEAR = 0.5  # the least share of words in common that makes free text a phrase


@dataclass(frozen=True)
class Message:
    """A message: `sender` is an agent's name, set by the loop, never by the text; `step` is the
    number of the step in which it was said, and `heard_by` are the names of those who heard it, its
    sender included, where the loop tells."""

    sender: str
    text: str
    step: int = field(default=0, compare=False)
    heard_by: tuple[str, ...] = field(default=(), compare=False)


class Channel:
    """The host's side of a channel: words and tokens.

    Args:
        agents: names, in axis order.
        phrases: the phrasebook; token 0 is silence, 1 and up are the phrases in order, the last
            one is "other": free text that is near no phrase, as vector seats receive it.
        max_length: characters of a free message that are delivered; a longer one is cut there and
            ends in an ellipsis.
        hears: N x N, `hears[i][j]`: i hears j. By default everyone hears everyone else.
    """

    def __init__(
        self,
        agents: Sequence[str],
        phrases: Sequence[str],
        max_length: int = 200,
        hears: Sequence[Sequence[bool]] | None = None,
    ):
        n = len(agents)
        mask = ~np.eye(n, dtype=bool) if hears is None else np.array(hears, bool)
        if mask.shape != (n, n):
            raise ConfigError(f"hears is {n} x {n} here, one row a hearer; given {mask.shape}")
        self.max_length = whole("max_length", max_length, 1)
        _check_phrases(tuple(phrases), self.max_length)
        self.agents, self.phrases, self.hears = tuple(agents), tuple(phrases), mask
        self.tokens = len(self.phrases) + 2

    def token(self, text: str) -> int:
        """The token of free text: the phrase with the largest share of words in common (the first
        of several) that denies as it does, or "other" below `NEAR`; silence if there are no
        words."""
        text = clean(text, self.max_length)
        if not text or text.lower() == "nothing":
            return 0
        for i, phrase in enumerate(self.phrases):
            if phrase.lower() == text.lower():
                return 1 + i
        words, denial = _words(text), denies(text)
        shares = [
            len(words & known) / max(len(words | known), 1) if denies(phrase) == denial else 0.0
            for phrase, known in zip(self.phrases, map(_words, self.phrases), strict=True)
        ]
        best = int(np.argmax(shares))
        return 1 + best if shares[best] >= NEAR else self.tokens - 1

    def words(self, token: int) -> str:
        """A token in words: a phrase in quotation marks, or `OTHER`."""
        return OTHER if token == self.tokens - 1 else f'"{self.phrases[token - 1]}"'

    def speech(self, text: str) -> str | None:
        """The free words in a text seat's answer ("north; say: ..."), or None."""
        return split_say(text)[1]

    def deliver(self, state: object, said: Mapping[int, str]) -> dict[int, list[Message]]:
        """The messages that each agent receives, of the words said in one step (in index order of
        senders): cleaned, with the sender's name, and only for agents that hear the sender."""
        heard: dict[int, list[Message]] = {}
        for j in sorted(said):
            text = clean(said[j], self.max_length)
            for i in range(len(self.agents)):
                if text and i != j and self.hears[i, j]:
                    heard.setdefault(i, []).append(Message(self.agents[j], text))
        return heard


def transcript(talk: Sequence[Message], reader: str, most: int) -> str:
    """The last `most` messages, oldest first, for one of the agents."""
    shown = talk[len(talk) - min(most, len(talk)) :]
    earlier = len(talk) - len(shown)
    head = f"Said so far, oldest first{f' ({earlier} earlier ones left out)' if earlier else ''}:"
    return "\n".join([head, *(f"- {line(message, reader)}" for message in shown)])


def line(message: Message, reader: str) -> str:
    """A message as one line of a text: who said it, and the words as a JSON string."""
    who = "you" if message.sender == reader else message.sender
    return f"step {message.step}, {who}: {json.dumps(message.text, ensure_ascii=False)}"


# ---- words ---------------------------------------------------------------------------------------

_FILLERS = frozenset(["a", "an", "the", "to", "of"])

# Prefixes of a referee, a chat template or an answer; and runs of rule characters.
_MARKER = re.compile(
    r"\b(system|assistant|user|human|developer|tool|referee|moderator|judge|game|environment"
    r"|action|say|heard|(?:turn|step|round|month) *\d+(?: *of *\d+)?|[a-z]+_\d+) *[:\u2236\ua789]",
    re.I,
)
_RULER = re.compile(r"([-=#*_~`/])\1{2,}")
_BRACKETS = str.maketrans("<>[]{}|", "()()()/")
_LOOKALIKES = frozenset("<>[]{}|:=#`")


@functools.lru_cache(maxsize=4096)
def clean(text: str, limit: int) -> str:
    """A message as others receive it, which cannot imitate the referee: one line without
    control, formatting or invisible characters; all brackets (tags, turn markers) made round, words
    like "system:", "ACTION:" or "player_1:" made "(system)" and so on, rulers made short; and at
    most `limit` characters, the last of which is an ellipsis where more were given."""
    # Far more than `limit` is not even looked at.
    visible = "".join(_plain(c) for c in text[: 8 * limit + 64])
    words = " ".join(visible.split()).translate(_BRACKETS)
    words = _MARKER.sub(r"(\1)", _RULER.sub(r"\1", words))
    cut = len(words) > limit or len(text) > 8 * limit + 64
    return words[: limit - 1].rstrip() + "…" if cut else words


def _plain(c: str) -> str:
    """A character; a space if it is invisible, ASCII if it only looks like punctuation."""
    if c.isascii():
        return c if c.isprintable() else " "
    if unicodedata.category(c)[0] in "CZ":
        return " "
    usual = unicodedata.normalize("NFKC", c)
    return usual if usual in _LOOKALIKES else c


def _words(text: str) -> frozenset[str]:
    """The words that count in comparing: lower case, without fillers and plural s."""
    words = re.findall(r"[^\W_]+", text.lower())
    return frozenset(w.removesuffix("s") if len(w) > 3 else w for w in words) - _FILLERS


def _check_phrases(phrases: tuple[str, ...], max_length: int) -> None:
    if not 1 <= len(phrases) <= 250:
        raise ConfigError(f"a phrasebook has 1 to 250 phrases, given {len(phrases)}")
    for phrase in phrases:
        if not phrase or phrase != clean(phrase, max_length) or '"' in phrase:
            raise ConfigError(
                f"a phrase is plain text on one line without quotation marks, of at most "
                f"{max_length} characters; given {phrase!r}"
            )
    lower = [phrase.lower() for phrase in phrases]
    for phrase in lower:
        if lower.count(phrase) > 1 or phrase == "nothing":
            raise ConfigError(f"the phrase {phrase!r} is given twice, or means silence")
