"""People at a terminal: a seat that reads choices by number or in words, and a spectator.

Neither needs a display. What games and players say is printed as plain text: characters that steer
a terminal are left out of it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from manyhands.core.choices import Choice
from manyhands.core.env import ConfigError, Env, IllegalAction, SeatError
from manyhands.core.episode import EpisodeResult, Moment
from manyhands.core.reading.answers import number
from manyhands.core.view import Reply, View

HEAD, FADED, NUMBER, SAID, PROBLEM = "bold cyan", "dim", "yellow", "magenta", "bold red"
_HELP = (
    "A number or words choose an action; return alone shows the choices again. Other commands: "
    "/rules, /look (all that you know), {say}/quit."
)
_SAY = "/say WORDS (sent with your next action), "


def plain(text: str) -> str:
    """Text without characters that a terminal obeys: escape sequences, cursor moves, changes of the
    direction of writing. Line breaks stay."""
    return "".join(
        char
        for char in text.replace("\t", "    ")
        if char == "\n" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    )


class _Lines:
    """The lines of a stream, read by a thread: an answer can be waited for while other episodes go
    on, or until it is too late for it."""

    def __init__(self, stream: TextIO):
        self._read = _reader(stream)
        self._lines: list[str] = []
        self._wanted = threading.Semaphore(0)
        self._asked = self._ended = False
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while not self._ended:
            self._wanted.acquire()
            line = self._read()
            self._ended = not line
            self._lines.append(line)

    async def next(self, until: float | None) -> str:
        """The next line, empty where the stream has ended; raises `TimeoutError` at the time
        `until` of `time.monotonic`. The line asked for then is that of the next call."""
        if self._ended and not self._lines:
            return ""
        if not self._asked:
            self._asked = True
            self._wanted.release()
        while not self._lines:
            if until is not None and time.monotonic() >= until:
                raise TimeoutError
            await asyncio.sleep(0.02)
        self._asked = False
        return self._lines.pop(0)


def _reader(stream: TextIO) -> Callable[[], str]:
    """What reads a line. A file is read below its buffers: a thread that waits in them at the end
    of the program would abort it."""
    try:
        file = stream.fileno()
    except (OSError, ValueError):  # no file: text in memory
        return stream.readline
    buffer = bytearray()

    def read() -> str:
        while b"\n" not in buffer:
            more = os.read(file, 4096)
            if not more:
                break
            buffer.extend(more)
        line, end, rest = bytes(buffer).partition(b"\n")
        buffer[:] = rest
        return (line + end).decode(errors="replace")

    return read


class Terminal:
    """The seat of a person at a terminal, who sees the agent's text and its choices.

    Args:
        pace: seconds after which `env.noop` is played without an answer; None waits.
        read: where answers come from, by default the standard input.
        console: where everything is printed.

    Raises:
        SeatError: while playing, if the person leaves (`/quit`, or the input ends).
    """

    name = "terminal"
    _lines: dict[int, _Lines] = {}  # noqa: RUF012 - of each stream: two people share one
    _busy = False  # whether a person is being asked, by any seat

    def __init__(
        self,
        env: Env,
        *,
        pace: float | None = None,
        read: TextIO | None = None,
        console: Console | None = None,
    ):
        if pace is not None and not pace > 0:
            raise ConfigError(f"pace is None or more than 0 seconds, given {pace!r}")
        self.env, self.pace = env, pace
        stream = sys.stdin if read is None else read
        self._console = Console(highlight=False) if console is None else console
        self._input = Terminal._lines.setdefault(id(stream), _Lines(stream))
        self._said: str | None = None
        self._explained: set[int] = set()  # agents whose rules were shown

    async def act(self, views: Sequence[View]) -> list[Reply]:
        """Show the person each view in turn, and return the replies."""
        return [await self._ask(view) for view in views]

    async def _ask(self, view: View) -> Reply:
        while Terminal._busy:
            await asyncio.sleep(0.02)
        Terminal._busy = True
        try:
            self._show(view)
            until = None if self.pace is None else time.monotonic() + self.pace
            while True:
                self._console.print(Text("> ", HEAD), end="")
                try:
                    line = await self._input.next(until)
                except TimeoutError:
                    self._print("\n(no answer in time)", FADED)
                    return self._reply(self.env.noop)
                if not line:
                    raise SeatError("the person at the terminal has left the game")
                reply = self._answer(line.strip(), view)
                if reply is not None:
                    return reply
        finally:
            Terminal._busy = False

    def ended(self, views: Sequence[View], result: EpisodeResult) -> None:
        """Show how an episode ended."""
        for view in views:
            self._console.rule(Text(f"{view.agent}, the end", HEAD), style=FADED)
            self._print(view.text)
            self._print(f"Your reward: {result.rewards[view.index]:g}.", HEAD)

    def _answer(self, line: str, view: View) -> Reply | None:
        """The reply that a line is; None where it is a command, or cannot be read."""
        command, _, rest = line.partition(" ")
        if command == "/quit":
            raise SeatError("the person at the terminal has left the game")
        if not line:
            self._choices(view)
        elif command == "/rules":
            self._print(view.rules)
        elif command == "/look":
            self._print(view.describe("full"))
        elif command == "/say" and self.env.chat is not None:
            self._said = rest.strip() or None
            self._print("to be said with your next action" if self._said else "(nothing)", FADED)
        elif line.startswith("/"):
            self._help()
        else:
            place = number(line)
            listed = place is not None and 1 <= place <= len(view.choices)
            answer = view.choices[place - 1] if listed and place else line
            if isinstance(answer, Choice) and _stands_for_many(answer, view.choices):
                self._print(f"Say it in words, as in: {answer.text}", PROBLEM)
                return None
            try:
                view.parse(answer)
            except IllegalAction as error:
                self._print(error.reason, PROBLEM)
            else:
                return self._reply(answer)
        return None

    def _reply(self, action: Any) -> Reply:
        reply = Reply(action, say=self._said)
        self._said = None
        return reply

    # ---- what is printed -------------------------------------------------------------------------

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(plain(text), style))

    def _show(self, view: View) -> None:
        self._console.rule(Text(f"{view.agent}, step {view.step}", HEAD), style=FADED)
        if view.index not in self._explained:
            self._explained.add(view.index)
            self._print(view.rules, FADED)
            self._help()
        self._print(view.text)
        for message in view.untold(view.text):
            self._print(f"{message.sender} says: {message.text}", SAID)
        if view.advice:
            self._print(f"Advice: {view.advice}", SAID)
        self._choices(view)

    def _help(self) -> None:
        self._print(_HELP.format(say=_SAY if self.env.chat is not None else ""), FADED)

    def _choices(self, view: View) -> None:
        for place, choice in enumerate(view.choices, start=1):
            line = Text(f"{place:3d} ", NUMBER)
            line.append(plain(choice.text.replace("\n", " ")), "default")
            if choice.effect:
                line.append(plain(f": {choice.effect}".replace("\n", " ")), FADED)
            self._console.print(line)


def _stands_for_many(choice: Choice, listed: Sequence[Choice]) -> bool:
    """Whether the line of a choice is one for a whole family (`fold`)."""
    form = choice.form
    if form is None or choice.effect != form.effect:
        return False
    return sum(other.form is form for other in listed) == 1


class Spectator:
    """Prints an episode as it is played: `play(..., on_step=Spectator())`.

    It tells one episode at a time, until that ends: what each seat did and said, what it earned,
    and what one agent sees.

    Args:
        speed: steps per second; None does not wait.
        agent: whose text is printed.
    """

    def __init__(
        self, *, speed: float | None = None, agent: int = 0, console: Console | None = None
    ):
        if speed is not None and not speed > 0:
            raise ConfigError(f"speed is None or more than 0 steps per second, given {speed!r}")
        self.speed, self.agent = speed, agent
        self._console = Console(highlight=False) if console is None else console
        self._last: Moment | None = None
        self._next = 0.0  # when the next step may be shown

    def __call__(self, moment: Moment) -> None:
        """Tell what led to this moment, and what is seen in it."""
        if self._last is not None and moment.episode != self._last.episode:
            return
        env = moment.env
        if self.speed is not None:
            early = self._next - time.monotonic()
            if early > 0:
                time.sleep(early)
            self._next = time.monotonic() + 1 / self.speed
        title = f"episode {moment.episode}, step {moment.step}"
        self._console.rule(Text(title, HEAD), style=FADED)
        if moment.turn is not None and self._last is not None:
            self._told(moment, self._last)
        agent = min(self.agent, env.num_agents - 1)
        self._print(f"{env.agents[agent]} sees:", FADED)
        self._print(moment.views[agent].describe("brief"))
        if moment.over:
            self._print("the episode is over", HEAD)
        self._last = None if moment.over else moment

    def _told(self, moment: Moment, before: Moment) -> None:
        turn, env = moment.turn, moment.env
        assert turn is not None
        for i, action in sorted(turn.actions.items()):
            words = turn.answers.get(i) or before.views[i].words(action)
            words = words.removesuffix("; say: nothing")  # beside a chat channel's silent choice
            line = Text(f"{env.agents[i]} ", NUMBER)
            line.append(f"({plain(moment.seats[i])}): ", FADED)
            line.append(plain(words.replace("\n", " / ")), "default")
            if i in turn.said and turn.said[i] not in words:
                line.append(plain(f'  says "{turn.said[i]}"'.replace("\n", " ")), SAID)
            if i in turn.illegal:
                line.append(plain(f"  refused: {turn.illegal[i]}".replace("\n", " ")), PROBLEM)
            self._console.print(line)
        for name, values in moment.frame.terms.items():
            if values.any():
                self._print(f"  {name}: {', '.join(f'{value:g}' for value in values)}", FADED)

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(Text(plain(text), style))
