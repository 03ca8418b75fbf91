"""What the seat asks of a model: tokens, log-probabilities of answers, and the next token.

A prompt is given in two parts, `prefix` and `tail`: prompts of one agent have the prefix (the
rules) in common, and a model may keep what it computed for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from manyhands.baselines.players.prompts import Messages

Tokens = Sequence[int]


class Stream(Protocol):
    """Several replies while they are written, a row each.

    Attributes:
        logits: f32[rows, vocabulary], of the next token of each row.
    """

    logits: np.ndarray

    def push(self, keep: Sequence[int], tokens: Sequence[int]) -> None:
        """Go on with the rows `keep` (of those at hand), each with its next token."""


class Model(Protocol):
    """A language model.

    Attributes:
        name: in records.
        context: the most tokens of a prompt and its answer; None: unknown.
        ends: tokens that end a reply.
    """

    name: str
    context: int | None
    ends: frozenset[int]

    def render(self, messages: Messages, opening: str) -> str:
        """The text of a chat in the model's own form, up to a reply that begins with `opening`.
        Contents cannot imitate the marks between messages."""

    @property
    def ending(self) -> str:
        """What stands after a reply in such a text."""

    @property
    def chats(self) -> bool:
        """Whether it has a form of its own for chats."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of rendered texts."""

    def decode(self, tokens: Tokens) -> str:
        """The text of tokens, without those that end a reply."""

    def score(
        self,
        prefix: Tokens,
        tails: Sequence[Tokens],
        answers: Sequence[Sequence[Tokens]],
        batch: int,
    ) -> list[list[np.ndarray]]:
        """For each answer to each prompt, f64[tokens]: the log-probability of every token of it.

        Args:
            tails: at least one token each.
            answers: of each prompt, at least one token each.
            batch: sequences computed at once, at most.
        """

    def start(self, prefix: Tokens, tails: Sequence[Tokens]) -> Stream:
        """Begin a reply to each prompt. Tails are at least one token each."""


def common(rows: Iterable[Tokens]) -> int:
    """The number of tokens that all rows begin with."""
    ordered = sorted(map(list, rows))
    least, most = ordered[0], ordered[-1]  # of all pairs, these differ first
    size = min(len(least), len(most))
    return next((k for k in range(size) if least[k] != most[k]), size)


class Trie:
    """Sequences of tokens as a tree, which a reply follows."""

    def __init__(self, rows: Iterable[Tokens]):
        self.next: dict[int, Trie] = {}
        for row in rows:
            node = self
            for token in row:
                node = node.next.setdefault(int(token), Trie(()))
