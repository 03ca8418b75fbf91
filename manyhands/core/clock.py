"""Real time: a game that steps at a fixed pace, whether or not its seats have answered."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from manyhands.core.env import Action, ConfigError, IllegalAction, Wrapper
from manyhands.core.episode import Game


@dataclass
class _Asked:
    """A question that a seat has not answered yet."""

    step: int
    started: float
    future: asyncio.Future[Any]
    seconds: float = 0.0  # that the answer took


_LEAST = 0.001  # seconds of a step


class Clock:
    """The clock of one episode (`play(clock=)`).

    Each step lasts `seconds`. An agent whose answer has not come by then goes on with what it does
    (the skill under way), or plays the no-op; it is not asked again until it has answered, and its
    answer counts in the step in which it comes. Where the rules let nothing happen without an
    agent's move, as in games of turns, the game waits for that agent.

    A step that takes longer is not caught up.
    """

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._asked: dict[int, _Asked] = {}
        self._next: float | None = None  # when the current step ends

    def unasked(self, agents: Sequence[int]) -> list[int]:
        """Those of some agents that may be asked: no answer of theirs is awaited."""
        return [i for i in agents if i not in self._asked]

    def ask(self, step: int, agents: Sequence[int], futures: Sequence[asyncio.Future[Any]]) -> None:
        """Note what is awaited of whom."""
        now = asyncio.get_running_loop().time()
        for i, future in zip(agents, futures, strict=True):
            asked = self._asked[i] = _Asked(step, now, future)
            future.add_done_callback(functools.partial(_arrived, asked))

    async def tick(self, game: Game, agents: Sequence[int]) -> dict[int, Action]:
        """Wait for the end of the step. Returns what those of the `agents` do that have not
        answered; the others' answers are there."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._next = now + self.seconds if self._next is None else self._next + self.seconds
        # Time for those who answer at once, however late the step is.
        self._next = max(self._next, now + _LEAST)
        await asyncio.sleep(self._next - now)
        meanwhile: dict[int, Action] = {}
        needed: list[asyncio.Future[Any]] = []
        for i in agents:
            if self._asked[i].future.done():
                continue
            action = _goes_on(game, i)
            if action is None:
                needed.append(self._asked[i].future)
            else:
                meanwhile[i] = action
        if needed:
            await asyncio.wait(needed)
            self._next = loop.time()
        return meanwhile

    def awaited(self, index: int) -> asyncio.Future[Any]:
        """The answer of an agent, which has come or is to come."""
        return self._asked[index].future

    def answered(self, index: int, step: int) -> dict[str, Any]:
        """Forget an answer that has come in this step; returns the note on it for the record: how
        many steps ago it was asked for, and the seconds that it took."""
        asked = self._asked.pop(index)
        return {"late": step - asked.step, "seconds": round(asked.seconds, 4)}

    def close(self) -> None:
        """Await no more answers."""
        for asked in self._asked.values():
            asked.future.cancel()
        self._asked.clear()


WAITING = {"waiting": True}  # the note on a step without an answer


def _arrived(asked: _Asked, future: asyncio.Future[Any]) -> None:
    asked.seconds = future.get_loop().time() - asked.started


def _goes_on(game: Game, index: int) -> Action | None:
    """What an agent does in the meantime; None if it has to choose."""
    # Only wrappers know skills under way; to read words costs more than the rest of a step.
    ways = ("go on",) if isinstance(game.env, Wrapper) else ()
    for action in (*ways, game.env.noop):
        try:
            return game.read(index, action, None)
        except IllegalAction:
            continue
    return None


@dataclass
class Punctuality:
    """How a seat kept up with the clock, over the episodes of a record.

    Attributes:
        seat: its name.
        steps: steps in which it was to act.
        decisions: its answers.
        late: answers that came after the step in which they were asked for.
        seconds: that each answer took.
        per_second: answers per second of the game.
    """

    seat: str
    steps: int = 0
    decisions: int = 0
    late: int = 0
    seconds: list[float] = field(default_factory=list)
    per_second: float = 0.0


def punctuality(path: str | os.PathLike[str]) -> list[Punctuality]:
    """How each seat of a record kept up with the clock that it was played with.

    Raises:
        RecordError: the file is no record.
        ConfigError: an episode in it was played without a clock.
    """
    from manyhands.core.record import read

    found: list[Punctuality] = []
    game_seconds = 0.0
    for episode in read(path):
        clock = episode.options.get("clock")
        if clock is None:
            raise ConfigError(f"{path} was not played with a clock (play(clock=))")
        found = found or [Punctuality(seat) for seat in episode.seats]
        game_seconds += clock * len(episode.steps)
        for step in episode.steps:
            for i in step.turn.actions:
                row = found[episode.result.players[i]]
                row.steps += 1
                note = step.turn.info.get(i, {}).get("clock", {})
                if "seconds" in note:
                    row.decisions += 1
                    row.late += note["late"] > 0
                    row.seconds.append(note["seconds"])
    for row in found:
        row.per_second = row.decisions / game_seconds if game_seconds else 0.0
    return found
