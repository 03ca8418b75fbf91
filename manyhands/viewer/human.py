"""A person at the keyboard, as a player of any environment."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import pygame

from manyhands.core.choices import pointed
from manyhands.core.env import ConfigError, Env, IllegalAction, ManyhandsError, SeatError
from manyhands.core.render import wrap, write
from manyhands.core.view import Reply, View
from manyhands.viewer.scenes import (
    DARK,
    FADED,
    INK,
    LIT,
    PAPER,
    fit_lines,
    leading,
    panel_width,
    print_lines,
)
from manyhands.viewer.window import SIZE, open_window, screen

# Keys for choices that begin with one of these words, and how the window names them.
_WORDS = {
    "north": "up",
    "up": "up",
    "south": "down",
    "down": "down",
    "west": "left",
    "left": "left",
    "east": "right",
    "right": "right",
    "interact": "space",
    "stay": ".",
    "wait": ".",
}
_KEYS = {
    pygame.K_UP: "up",
    pygame.K_w: "up",
    pygame.K_DOWN: "down",
    pygame.K_s: "down",
    pygame.K_LEFT: "left",
    pygame.K_a: "left",
    pygame.K_RIGHT: "right",
    pygame.K_d: "right",
    pygame.K_SPACE: "space",
    pygame.K_PERIOD: ".",
    pygame.K_x: ".",
    pygame.K_TAB: "tab",
}
_NUMBERS = "1234567890"
_RED = (240, 110, 96)


async def _keep_alive() -> None:
    """Respond to the window system while others act, so that it does not report the window as
    stuck. Keys pressed meanwhile apply to the next step."""
    while pygame.display.get_init():
        pygame.event.pump()
        await asyncio.sleep(0.1)


def bind(choices: Sequence[str], own: Mapping[str, str] | None = None) -> dict[str, int]:
    """Map keys to choices: the game's keys (`own`, from a key to the start of a choice); arrows,
    space and full stop by the first word of a choice; numbers for the first ten others."""
    if own:
        actions = [choice.partition(":")[0] for choice in choices]
        chosen = {key: actions.index(act) for key, act in own.items() if act in actions}
        rest = [i for i in range(len(choices)) if i not in chosen.values()]
        free = [number for number in _NUMBERS if number not in own]
        return chosen | dict(zip(free, rest, strict=False))
    first = [re.match(r"[a-z]*", choice.lower()).group() for choice in choices]  # type: ignore[union-attr]
    names = [_WORDS.get(word, "") for word in first]
    taken = Counter(names)
    keys, numbers = dict[str, int](), iter(_NUMBERS)
    for i, name in enumerate(names):
        name = name if name and taken[name] == 1 else next(numbers, "")
        if name:
            keys[name] = i
    return keys


class Human:
    """The seat of a person, in a window that shows only the agent's observation.

    A choice is made with its key (see `bind`; games may define `keys`), by a click on it, or on the
    picture where that has `spots`, or in words: return opens a line for them. Where the environment
    has a chat channel, t (or / if the game uses t) opens a line for a message, which is sent with
    the next action. Escape leaves the game, which ends the run with a `SeatError`.

    The window serves one agent at a time, so play with `concurrency=1`; two people take turns.

    Args:
        pace: seconds after which `env.noop` is played without an answer; None waits.
        size: of the window, in pixels.
    """

    name = "human"
    _asking: ClassVar[bool] = False  # whether the window is taken, by any person's seat

    def __init__(self, env: Env, *, pace: float | None = None, size: tuple[int, int] = SIZE):
        if pace is not None and not pace > 0:
            raise ConfigError(f"pace is None or more than 0 seconds, given {pace!r}")
        self.env, self.pace, self._size = env, pace, size
        self._keys = dict(env.keys)
        self._talk = "/" if "t" in self._keys else "t"
        self._left = False
        self._say: str | None = None
        self._line: str | None = None  # the line being typed, or None
        self._typing = "action"  # or "say"
        self._problem = ""
        self._boxes: list[pygame.Rect] = []  # the area of each choice
        self._picture = pygame.Rect(0, 0, 0, 0)
        self._idle: asyncio.Task[None] | None = None

    async def act(self, views: Sequence[View]) -> list[Reply]:
        """Show the person each view in turn, and return the replies."""
        return [await self._ask(view) for view in views]

    async def _ask(self, view: View) -> Reply:
        while Human._asking:
            await asyncio.sleep(1 / 30)
        Human._asking = True
        if self._idle is not None:
            self._idle.cancel()
        try:
            self._open()
            started = time.monotonic()
            while True:
                # One by one: keys pressed in advance apply to the next view.
                while (event := pygame.event.poll()).type != pygame.NOEVENT:
                    reply = self._handle(event, view)
                    if reply is not None:
                        self._idle = asyncio.get_running_loop().create_task(_keep_alive())
                        return reply
                if self.pace and self._line is None and time.monotonic() - started >= self.pace:
                    return self._reply(self.env.noop)
                self.paint(screen(), view)
                pygame.display.flip()
                await asyncio.sleep(1 / 30)
        finally:
            Human._asking = False

    def _open(self) -> None:
        if self._left:
            raise SeatError("the person at the keyboard has left the game")
        if not (pygame.display.get_init() and pygame.display.get_surface()):
            try:
                open_window(self._size, "Manyhands")
            except ManyhandsError as error:
                raise SeatError(
                    f"a person cannot play here: {error}; the seat `terminal` needs no window"
                ) from error
            pygame.key.set_repeat(300, 120)

    def close(self) -> None:
        """Close the window; the person plays no more."""
        self._left = True
        if pygame.display.get_init():
            pygame.display.quit()

    def _reply(self, action: object) -> Reply:
        reply = Reply(action, say=self._say)
        self._say, self._problem = None, ""
        return reply

    def _handle(self, event: pygame.event.Event, view: View) -> Reply | None:
        """The reply that an event completes, if any."""
        if event.type == pygame.QUIT:
            self.close()
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            for box, choice in zip(self._boxes, view.choices, strict=False):
                if box.collidepoint(event.pos):
                    return self._reply(choice)
            x, y = (event.pos[k] - self._picture.topleft[k] for k in range(2))
            wide, high = self._picture.size
            if wide and high and (text := pointed(view.spots, x / wide, y / high)):
                return self._reply(text)
        elif event.type == pygame.KEYDOWN and self._line is not None:
            return self._type(event, view)
        elif event.type == pygame.KEYDOWN:
            letter = getattr(event, "unicode", "")
            if event.key == pygame.K_ESCAPE:
                self.close()
            elif event.key in (pygame.K_RETURN, pygame.K_KP_ENTER):
                self._line, self._typing = "", "action"
            elif self._chats() and (letter or pygame.key.name(event.key)) == self._talk:
                self._line, self._typing = "", "say"
            else:
                keys = bind(view.choices, self._keys)
                key = _KEYS.get(event.key, letter)
                if key in keys:
                    return self._reply(view.choices[keys[key]])
                if key in self._keys:  # an action of the game that is not possible now
                    try:
                        view.parse(self._keys[key])
                    except IllegalAction as error:
                        self._problem = error.reason
        if self._left:
            raise SeatError("the person at the keyboard has left the game")
        return None

    def _type(self, event: pygame.event.Event, view: View) -> Reply | None:
        """Edit the line; return ends it."""
        line = self._line or ""
        letter = getattr(event, "unicode", "")
        if event.key == pygame.K_ESCAPE:
            self._line = None
        elif event.key == pygame.K_BACKSPACE:
            self._line = line[:-1]
        elif event.key in (pygame.K_RETURN, pygame.K_KP_ENTER):
            self._line = None
            if self._typing == "say":
                self._say = line or None
            elif line.strip():
                try:
                    view.parse(line)
                except IllegalAction as error:
                    self._problem = error.reason
                else:
                    return self._reply(line)
        elif letter.isprintable():
            self._line = line + letter
        return None

    def _chats(self) -> bool:
        return self.env.chat is not None

    # ---- the window ---------------------------------------------------------------------------

    def paint(self, canvas: pygame.Surface, view: View) -> None:
        """Paint the whole window: the agent's picture, its text, its choices with their keys."""
        width, height = canvas.get_size()
        canvas.fill(DARK)
        beside = panel_width(width)
        picture = pygame.surfarray.make_surface(np.swapaxes(view.image, 0, 1))
        area = pygame.Rect(0, 0, width - beside, height)
        scale = min(area.width / picture.get_width(), area.height / picture.get_height())
        fitted = (round(picture.get_width() * scale), round(picture.get_height() * scale))
        picture = pygame.transform.smoothscale(picture, fitted)
        self._picture = picture.get_rect(midtop=area.midtop)
        canvas.blit(picture, self._picture)
        self._panel(canvas, view, pygame.Rect(width - beside, 0, beside, height))

    def _panel(self, canvas: pygame.Surface, view: View, area: pygame.Rect) -> None:
        canvas.fill(INK, area)
        pad, size = 14, 15
        room = area.width - 2 * pad
        x = area.x + pad
        canvas.blit(write(f"You are {view.agent}", 17, LIT), (x, pad))
        top = pad + leading(17)

        # From the bottom up: help, the typed line, the choices; the text gets the remaining space.
        y = area.bottom - pad
        helps = ["return types an action", "esc leaves"]
        if self._chats():
            helps.insert(1, f"{self._talk} types a message")
        notes = [(", ".join(helps), FADED)]
        if self._say:
            notes.insert(0, (f"To be said: {self._say}", LIT))
        if self._problem:
            notes.insert(0, (self._problem, _RED))
        if self._line is not None:
            notes.insert(0, (f"{self._typing}> {self._line}_", LIT))
        for text, colour in reversed(notes):
            for line in reversed(wrap(text, 13, room)):
                y -= leading(13)
                canvas.blit(write(line, 13, colour), (x, y))
        names = {i: key for key, i in bind(view.choices, self._keys).items()}
        indent = 52
        wrapped = [wrap(choice, size, room - indent) for choice in view.choices]
        if sum(map(len, wrapped)) * leading(size) > area.height // 2:
            size = 12
            wrapped = [wrap(choice, size, room - indent, limit=1) for choice in view.choices]
        y -= pad
        boxes = []
        for i in reversed(range(len(wrapped))):
            bottom = y
            for line in reversed(wrapped[i]):
                y -= leading(size)
                canvas.blit(write(line, size, PAPER), (x + indent, y))
            canvas.blit(write(names.get(i, ""), size, LIT), (x, y))
            boxes.append(pygame.Rect(x, y, room, bottom - y))
        self._boxes = boxes[::-1]

        heard = [f"{m.sender} says: {m.text}" for m in view.untold(view.text)]
        text = "\n".join([view.text, *heard])
        lines, letters = fit_lines(text, room, y - pad - top)
        print_lines(canvas, lines, letters, PAPER, x, top)
