"""A moment of an episode, as the viewer shows it: the picture, and next to it a seat's text and
answer. Windows and files are painted by the same functions, on a pygame surface of any size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pygame

from manyhands.core.env import Env
from manyhands.core.episode import Moment, Turn
from manyhands.core.render import Colour, draw, wrap, write

DARK: Colour = (38, 42, 58)
INK: Colour = (30, 33, 46)
PAPER: Colour = (246, 243, 236)
FADED: Colour = (158, 164, 184)
LIT: Colour = (255, 196, 92)
_HOLD = 5  # steps that a bubble stays, unless its speaker says something new
_SIZES = (16, 15, 14, 13, 12, 11, 10)  # letter sizes, the first at which a text fits is taken


@dataclass(frozen=True)
class Scene:
    """A state of an episode with its context.

    Attributes:
        env, state: the environment and its state, with no batch axis.
        step: number of the next step, from 0.
        seats: the policy of each agent ("greedy"), or nothing.
        said: each agent's answer in this state; "" if it gave none.
        heard: the messages that each agent had received when it answered, "sender: text" each.
        totals: each agent's reward in the episode before this step.
        terms: the reward terms, [N] each, of the step into this state.
        bubbles: messages shown at this moment, by axis index.
    """

    env: Env
    state: Any
    step: int = 0
    seats: Sequence[str] = ()
    said: Sequence[str] = ()
    heard: Sequence[Sequence[str]] = ()
    totals: Sequence[float] = ()
    terms: Mapping[str, Sequence[float]] = field(default_factory=dict)
    bubbles: Mapping[int, str] = field(default_factory=dict)

    def saw(self, agent: int) -> str:
        """The text that the agent saw."""
        heard = self.heard[agent] if agent < len(self.heard) else ()
        return "\n".join([self.env.describe(self.state, agent), *heard])

    def name(self, agent: int) -> str:
        """The agent's name, and what plays it."""
        seat = self.seats[agent] if agent < len(self.seats) else ""
        return f"{self.env.agents[agent]} ({seat})" if seat else self.env.agents[agent]


class Teller:
    """Makes scenes of the moments of one episode, in order; stores messages."""

    def __init__(self) -> None:
        self._said: dict[int, tuple[int, str]] = {}

    def scene(self, moment: Moment, turn: Turn | None) -> Scene:
        """The scene of a moment; `turn` is what the seats did next, None at the end."""
        if moment.turn is not None:
            for i, text in (moment.env.said(moment.frame.state) | moment.turn.said).items():
                self._said[i] = (moment.step, text)
        env = moment.env
        return Scene(
            env,
            moment.frame.state,
            moment.step,
            seats=moment.seats,
            said=[_answer(moment, turn, i) for i in range(env.num_agents)] if turn else (),
            heard=[[f"{m.sender}: {m.text}" for m in view.messages] for view in moment.views],
            totals=moment.rewards.tolist(),
            terms={name: values.tolist() for name, values in moment.frame.terms.items()},
            bubbles={i: t for i, (at, t) in self._said.items() if moment.step - at < _HOLD},
        )


def scenes(moments: Iterable[Moment]) -> Iterator[Scene]:
    """The scenes of the moments of one episode, or of several one after the other."""
    teller, last = Teller(), None
    for moment in moments:
        if last is not None:
            yield teller.scene(last, moment.turn)
        if moment.turn is None:
            teller = Teller()
        last = moment
    if last is not None:
        yield teller.scene(last, None)


def _answer(moment: Moment, turn: Turn, agent: int) -> str:
    """An agent's answer in a step, or else its action in words."""
    lines = []
    if agent in turn.answers:
        lines.append(turn.answers[agent])
    elif agent in turn.actions:
        lines.append(moment.views[agent].words(turn.actions[agent]))
    if turn.said.get(agent) and turn.said[agent] not in "\n".join(lines):
        lines.append(f"says: {turn.said[agent]}")
    if agent in turn.illegal:
        lines.append(f"(refused: {turn.illegal[agent]})")
    return "\n".join(lines)


def paint(
    scene: Scene,
    canvas: pygame.Surface,
    *,
    agent: int | None = None,
    camera: str = "",
    panel: bool = False,
    seat: int = 0,
    scroll: int = 0,
) -> int:
    """Paint a scene on the whole canvas.

    Args:
        agent: show only the view of this agent; None: everything.
        camera: for the full view, one of the environment's `cameras`, where it has some.
        panel: put the text of `seat` next to the picture.
        scroll: number of lines of the text to skip.

    Returns:
        How many more lines the panel could be scrolled.
    """
    width, height = canvas.get_size()
    beside = panel_width(width) if panel else 0
    picture = canvas.subsurface((0, 0, width - beside, height))
    draw(scene.env, scene.state, picture, agent, camera)
    if scene.bubbles:
        speak(scene, picture, agent, camera if agent is None else "")
    if not panel:
        return 0
    return _panel(scene, canvas.subsurface((width - beside, 0, beside, height)), seat, scroll)


def panel_width(width: int) -> int:
    """Pixels of a window of `width` that its text panel takes."""
    return min(460, round(width * 0.42))


def speak(scene: Scene, picture: pygame.Surface, agent: int | None, camera: str = "") -> None:
    """Show messages: at the speakers if the environment draws them, else in a list at the bottom of
    the picture."""
    if scene.env.draw_speech(scene.state, picture, scene.bubbles, agent, camera):
        return
    size = max(11, min(16, picture.get_height() // 28))
    lines = []
    for i, text in sorted(scene.bubbles.items()):
        lines += wrap(f"{scene.env.agents[i]}: {text}", size, picture.get_width() - 3 * size)
    images = [write(line, size, PAPER) for line in lines]
    high = sum(image.get_height() for image in images)
    y = picture.get_height() - high - size
    pygame.draw.rect(picture, INK, (0, y - size, picture.get_width(), high + 2 * size))
    for image in images:
        picture.blit(image, (size, y))
        y += image.get_height()


def _panel(scene: Scene, canvas: pygame.Surface, seat: int, scroll: int) -> int:
    width, height = canvas.get_size()
    canvas.fill(INK)
    pad = max(6, width // 28)
    y = pad
    title = f"step {scene.step}"
    if seat < len(scene.totals):
        title += f" · reward so far {scene.totals[seat]:g}"
    y += _line(canvas, scene.name(seat), 17, LIT, pad, y)
    y += _line(canvas, title, 13, FADED, pad, y)
    earned = {name: values[seat] for name, values in scene.terms.items() if values[seat]}
    if earned:
        parts = ", ".join(f"{name} {value:+g}" for name, value in earned.items())
        y += _line(canvas, f"just earned: {parts}", 13, (120, 208, 140), pad, y)

    said = scene.said[seat] if seat < len(scene.said) else ""
    foot = pygame.Rect(0, 0, width, 0)
    if said:
        # An answer gets as much room as it needs, up to 45 % of the panel.
        lines, size = fit_lines(said, width - 2 * pad, round(height * 0.45))
        high = len(lines) * leading(size) + leading(13) + 2 * pad
        foot = pygame.Rect(0, height - high, width, high)
        pygame.draw.rect(canvas, (48, 53, 72), foot)
        below = foot.y + pad // 2 + _line(canvas, "SAID", 12, FADED, pad, foot.y + pad // 2)
        print_lines(canvas, lines, size, PAPER, pad, below)
    room = height - foot.height - y - pad
    y += pad // 2 + _line(canvas, "SAW", 12, FADED, pad, y + pad // 2)
    lines, size, total = _fit_scrolled(scene.saw(seat), width - 2 * pad, room - 20, scroll)
    print_lines(canvas, lines, size, PAPER, pad, y)
    return max(0, total - len(lines) - scroll)


def _line(canvas: pygame.Surface, text: str, size: int, colour: Colour, x: int, y: int) -> int:
    """Write one line, cut at the edge; its height."""
    words = wrap(text, size, canvas.get_width() - 2 * x, limit=1)[0]
    canvas.blit(write(words, size, colour), (x, y))
    return leading(size)


def leading(size: int) -> int:
    """Pixels from one line to the next."""
    return round(size * 1.35) + 1


@dataclass(frozen=True)
class Line:
    """A line of laid-out text; `fixed` ones have letters of one width, as maps need."""

    text: str
    fixed: bool = False


def lay_out(text: str, size: int, width: int) -> list[Line]:
    """Lines of at most `width` pixels. Neighbouring lines with no word in them are taken for a map:
    their letters keep their columns, and they are never broken."""
    given = text.replace("\t", "    ").splitlines()
    wordless = [
        bool(line.strip()) and not any(a.islower() and b.islower() for a, b in pairwise(line))
        for line in given
    ]
    lines: list[Line] = []
    for i, line in enumerate(given):
        near = wordless[max(i - 1, 0) : i] + wordless[i + 1 : i + 2]
        if wordless[i] and any(near) and len(line) * _pitch(size) <= width:
            lines.append(Line(line.rstrip(), fixed=True))
        elif not line.strip():
            lines.append(Line(""))
        else:
            indent = " " * (len(line) - len(line.lstrip()))
            room = width - write(indent, size, PAPER).get_width() if indent else width
            lines += [Line(indent + part) for part in wrap(line, size, max(room, size))]
    return lines


def _pitch(size: int) -> int:
    return round(size * 0.82)


def fit_lines(text: str, width: int, height: int) -> tuple[list[Line], int]:
    """(lines, letter size): in the largest letters in which the text fits, or cut off."""
    lines, size, _ = _fit_scrolled(text, width, height, 0)
    return lines, size


def _fit_scrolled(text: str, width: int, height: int, scroll: int) -> tuple[list[Line], int, int]:
    """(lines, letter size, number of all lines): in the largest letters in which all of it fits,
    or the smallest, cut off with an ellipsis."""
    lines: list[Line] = []
    size = _SIZES[0]
    for size in _SIZES:
        lines = lay_out(text, size, width)
        if len(lines) * leading(size) <= height:
            return lines, size, len(lines)
    room = max(1, height // leading(size))
    shown = lines[scroll : scroll + room]
    if scroll + room < len(lines):
        shown[-1] = Line("...")
    return shown, size, len(lines)


def print_lines(
    canvas: pygame.Surface, lines: Sequence[Line], size: int, colour: Colour, x: int, y: int
) -> int:
    """Write laid-out lines from (x, y) downwards; the y beneath them."""
    for line in lines:
        if line.fixed:
            for column, letter in enumerate(line.text):
                if letter != " ":
                    image = write(letter, size, colour)
                    pitch = _pitch(size)
                    middle = x + column * pitch + (pitch - image.get_width()) // 2
                    canvas.blit(image, (middle, y))
        elif line.text:
            canvas.blit(write(line.text, size, colour), (x, y))
        y += leading(size)
    return y
