"""What a language seat remembers: the past turns of an episode, and notes across episodes."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyhands.baselines.players.dialogue import Line
from manyhands.core.config import whole
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.talk import clean

_EPISODES = 4096  # conversations kept at once; the least recently used is dropped first
_SUMMARISED = 16  # turns after which the older half is summarised, unless told otherwise
_LONGEST_SUMMARY = 4000  # characters
_LONGEST_FILE = 64 << 20  # bytes of a file of notes that are read

_SUMMARISE = """\
Now do not play. Summarise the episode up to here for yourself: what happened, what others did and
said, and what you plan. You will keep the summary in place of these turns. At most {limit}
characters, plain sentences, nothing else."""
_ASKED = "What happened in this episode so far?"
_REFLECT = """\
THE EPISODE IS OVER ({ended}, after {steps} steps). Your total reward is {reward:g}{others}.
This is how it ended:

{text}

Now do not play. Write notes to yourself for later episodes of this game: what worked, what did not,
how others play. They replace your present notes, so repeat of these what is still useful. At most
{limit} characters, plain sentences, nothing else.

Your present notes:
{notes}"""


class History:
    """How much of an episode a prompt repeats.

    Args:
        given: "last" (nothing but the present turn), a number k or "window=k" (the last k turns),
            "summary" or "summary=k" (all turns; of more than k the older half is replaced by a
            summary that the model writes), "full" (all turns).

    Attributes:
        mode: "last", "window", "summary" or "full".
        turns: k.
        appends: whether each prompt begins with all of the last one, up to a summary.
    """

    def __init__(self, given: int | str):
        mode, equals, count = str(given).partition("=")
        turns: Any = {"last": 0, "summary": _SUMMARISED, "full": 0}.get(mode)
        if equals:
            counted = mode in ("window", "summary") and count.isdecimal()
            turns = int(count) if counted and int(count) >= 2 * (mode == "summary") else None
        elif not isinstance(given, (str, bool)):
            mode, turns = "window", given if isinstance(given, int) and given >= 0 else None
        if turns is None:
            raise SeatError(
                'history is a number of turns, "window=k", "last", "full", "summary", or '
                f'"summary=k" with k from 2, given {given!r}'
            )
        self.mode, self.turns = mode, turns
        self.appends = mode in ("summary", "full")


@dataclass
class Summary:
    """A summary while it is written: of how many messages and turns, by which task."""

    lines: int
    turns: int
    task: asyncio.Task[Any]


@dataclass
class Talk:
    """The memory of one agent in one episode.

    Attributes:
        opening: the first messages of every prompt.
        turns: past turns, as far as they are repeated: the messages of each.
        sent: instead of `turns`, where prompts only grow: all messages, and in `starts` where each
            turn begins among them.
        error: why the last turn was lost, if it was.
        count: turns so far.
        summary: one that is being written.
    """

    opening: tuple[Line, ...]
    turns: deque[list[Line]]
    sent: list[Line] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    error: str | None = None
    count: int = 0
    summary: Summary | None = None

    def lines(self) -> list[Line]:
        """All but the message of the present step."""
        return [*self.opening, *(line for turn in self.turns for line in turn), *self.sent]

    def older(self) -> tuple[list[Line], int]:
        """(the messages of the older half of the turns, how many turns that are)."""
        turns = (len(self.starts) + 1) // 2
        return self.sent[: self.starts[turns]], turns

    def replace(self, lines: int, turns: int, text: str) -> None:
        """Put a summary in the place of the first messages."""
        summary = [Line("user", _ASKED), Line("assistant", text or "(nothing was noted)")]
        self.sent = [*summary, *self.sent[lines:]]
        self.starts = [start - lines + len(summary) for start in self.starts[turns:]]


class Talks:
    """The conversations of many episodes, the least recently used dropped first."""

    def __init__(self) -> None:
        self._talks: OrderedDict[tuple[int, int], Talk] = OrderedDict()

    def get(self, episode: int, index: int) -> Talk | None:
        """The conversation of an agent in an episode, if there is one."""
        talk = self._talks.get((episode, index))
        if talk is not None:
            self._talks.move_to_end((episode, index))
        return talk

    def put(self, episode: int, index: int, talk: Talk) -> None:
        """Begin a conversation."""
        self._drop((episode, index))
        self._talks[episode, index] = talk
        if len(self._talks) > _EPISODES:
            self._drop(next(iter(self._talks)))

    def _drop(self, where: tuple[int, int]) -> None:
        talk = self._talks.pop(where, None)
        if talk is not None and talk.summary is not None:
            task = talk.summary.task
            if not task.done():
                task.cancel()
            elif not task.cancelled():
                task.exception()  # nobody else asks for it

    def clear(self) -> None:
        """Forget all, and stop what is still being written."""
        for where in list(self._talks):
            self._drop(where)


def summary_request() -> Line:
    """The message that asks for a summary."""
    return Line("user", _SUMMARISE.format(limit=_LONGEST_SUMMARY))


def summary_text(reply: str) -> str:
    """A summary from a reply."""
    return _paragraph(reply, _LONGEST_SUMMARY)


# ---- notes across episodes -----------------------------------------------------------------------


class Notes:
    """Notes that a model writes after episodes and reads in later ones.

    Args:
        given: True, or a file (JSON lines, one for each version of the notes, the last of which
            counts; it need not exist).
        limit: characters of notes at most.

    Attributes:
        text, source: the present notes, and where they come from: {"episode", "agent", "model",
            ...}.
    """

    def __init__(self, given: Any, limit: int):
        try:
            self.limit = whole("notes_length", limit, 1)
        except ConfigError as error:
            raise SeatError(str(error)) from None
        if given is not True and not isinstance(given, (str, Path)):
            raise SeatError(f"notes is True, False or the name of a file, given {given!r}")
        self.path = None if given is True else Path(given)
        self.text, self.source = "", {}  # type: tuple[str, dict[str, Any]]
        self._lock: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        if self.path is not None:
            self._read(self.path)

    def lock(self) -> asyncio.Lock:
        """Held while new notes are written, so that those of episodes that end together build on
        each other; one for each event loop."""
        loop = asyncio.get_running_loop()
        if self._lock is None or self._loop is not loop:
            self._lock, self._loop = asyncio.Lock(), loop
        return self._lock

    def _read(self, path: Path) -> None:
        try:
            if path.stat().st_size > _LONGEST_FILE:
                raise SeatError(f"{path} is longer than notes can be; name another file")
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            lines = []
            if not path.resolve().parent.is_dir():
                raise SeatError(f"notes cannot be written to {path}: no such folder") from None
        except (OSError, ValueError) as error:
            raise SeatError(f"notes cannot be read from {path}: {error}") from None
        read = False
        for line in lines:  # one may have been cut off when a process was killed
            try:
                entry = json.loads(line)
                text = entry.pop("text")
            except (ValueError, AttributeError, LookupError, TypeError):
                continue
            if isinstance(text, str):
                self.text, self.source, read = note_text(text, self.limit), entry, True
        if any(lines) and not read:
            raise SeatError(
                f'{path} holds no notes, which are lines of JSON with a "text"; name another file'
            )

    def put(self, text: str, source: dict[str, Any]) -> None:
        """Replace the notes, and append them to the file."""
        self.text, self.source = text, source
        if self.path is None:
            return
        line = json.dumps({**source, "text": text}, ensure_ascii=False) + "\n"
        try:
            with open(self.path, "ab+") as file:
                if file.tell():
                    file.seek(-1, os.SEEK_END)
                    cut_off = file.read(1) != b"\n"
                    line = "\n" + line if cut_off else line
                file.write(line.encode())
        except OSError as error:
            raise SeatError(f"notes cannot be written to {self.path}: {error.strerror}") from error

    def request(self, text: str, rewards: dict[str, float], agent: str, result: Any) -> Line:
        """The message that asks for new notes.

        Args:
            text: the last observation of the agent.
            rewards: of all agents.
            result: the `EpisodeResult`.
        """
        others = "; ".join(f"{name}: {r:g}" for name, r in rewards.items() if name != agent)
        return Line(
            "user",
            _REFLECT.format(
                ended=result.ended,
                steps=result.steps,
                reward=rewards[agent],
                others=f" ({others})" if others else "",
                text=text,
                limit=self.limit,
                notes=self.text or "(none yet)",
            ),
        )


def note_text(reply: str, limit: int) -> str:
    """Notes from a reply: without reasoning, in lines that cannot end their block or imitate the
    referee."""
    return _paragraph(reply, limit)


_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.S | re.I)


def _paragraph(text: str, limit: int) -> str:
    """A text of a model as later prompts repeat it: without reasoning, line by line as messages are
    cleaned, cut to `limit` characters."""
    lines = (clean(line, limit) for line in _THOUGHT.sub("", text).splitlines())
    text = "\n".join(line for line in lines if line)
    text = re.sub(r"\b(ACTION|SAY)\s*[:\uff1a]", r"(\1)", text, flags=re.I)
    text = text.replace("END OF YOUR NOTES", "(end)")
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
