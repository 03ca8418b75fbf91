"""How a talking negotiator goes about it, and what it remembers of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manyhands.envs.negotiation import hearing
from manyhands.envs.negotiation.env import Negotiation
from manyhands.envs.negotiation.hearing import Heard, hear
from manyhands.envs.negotiation.history import entries, steps_of
from manyhands.envs.negotiation.words import Observation


@dataclass(frozen=True)
class Manner:
    """How a negotiator goes about it.

    Attributes:
        asks: what it aspires to at first, from an equal part (0) to the most (1).
        patience: the share of the time after which half of that is given up, from 0 to 1.
        doubt: the probability, to it, that what others say means nothing.
        shades: by which share of what is possible its numbers are better for it than the truth.
        reveals: how many of its values it says at a time; 0: only what it wants.
        gives: as a donor, the share of what it can give.
    """

    asks: float
    patience: float
    doubt: float
    shades: float = 0.0
    reveals: int = 3
    gives: float = 1.0


MANNERS = {
    "fair": Manner(asks=0.1, patience=0.4, doubt=0.15, gives=0.8),
    "honest": Manner(asks=0.2, patience=0.6, doubt=0.1),
    "bluffer": Manner(asks=0.5, patience=0.6, doubt=0.4, shades=0.25, gives=0.7),
    "stubborn": Manner(asks=0.8, patience=0.8, doubt=0.4, reveals=0, gives=0.6),
}


@dataclass
class Mind:
    """What one player remembers of one episode.

    Attributes:
        spoken: what it has said already, by what it was about.
        words: what it is about to say.
        turns: how often it moved.
        next_step: the first step whose moves it has not seen.
    """

    game: Negotiation
    manner: Manner
    agent: int
    turns: int = 0
    next_step: int = 0
    spoken: set[Any] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    asked: bool = False  # whether somebody asked what it values
    last_words: bool = False  # whether the other said that it makes its last offer

    def __post_init__(self) -> None:
        self.data: Any = self.game.scenario
        self.begin()

    def begin(self) -> None:
        """Set up what it believes."""

    def look(
        self, seen: Observation, legal: np.ndarray, messages: Sequence[tuple[str, str]]
    ) -> None:
        """Take in what happened since the last turn."""
        self.seen, self.legal = seen, legal
        self.time = self.game.max_steps - int(seen["steps_left"][0])
        self.left = int(seen["steps_left"][0])
        self.words = []
        self.start()
        log = entries(self.game, seen)
        times = steps_of(self.data, log, self.time)
        for t, entry in zip(times, log, strict=True):
            if t >= self.next_step:
                self.saw(entry)
        self.next_step = self.time
        for sender, text in messages:
            speaker = self.game.agents.index(sender)
            for heard in hear(self.game, text, speaker, seen):
                if heard.kind == hearing.ASKS:
                    self.asked = True
                elif heard.kind == hearing.LAST:
                    self.last_words = True
                else:
                    self.heard(speaker, heard)

    def start(self) -> None:
        """Before the first look."""

    def saw(self, entry: np.ndarray) -> None:
        """A move: (place of the player from 1, kind, word, offer)."""

    def heard(self, speaker: int, heard: Heard) -> None:
        """Something that was said."""

    def move(self) -> Any:
        """The action."""
        raise NotImplementedError

    def aloud(self) -> str:
        """What it says beside its move."""
        self.turns += 1
        return ". ".join(word[0].upper() + word[1:] for word in self.words)

    def say(self, words: str, about: Any = None) -> None:
        """Say it, once if it is `about` something."""
        if about is None or about not in self.spoken:
            self.spoken.add(about)
            if sum(map(len, self.words)) + len(words) < 190:
                self.words.append(words)

    def action(self, kind: int, number: int = 0, content: Any = None) -> Any:
        return self.game.action(kind, number, content)

    def can(self, kind: int) -> bool:
        first = self.game.first[kind]
        return bool(self.game.sizes[kind]) and bool(
            self.legal[first : first + self.game.sizes[kind]].any()
        )


def given_up(passed: float, patience: float) -> float:
    """The share of one's aspiration that is given up when a share of the time has passed: half of
    it at `patience`."""
    power = np.log(0.5) / np.log(min(max(patience, 0.05), 0.95))
    return float(min(max(passed, 0.0), 1.0) ** power)
