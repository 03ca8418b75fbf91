"""Shared parts of the pictures of all games: colours, shapes with smooth edges, letters in their
places, headers, bars and speech bubbles. Painted with pygame's shapes: no image files, no display
needed.

Like `core/render.py`, this loads pygame on first use. Canvases are pygame surfaces; boxes are
`pygame.Rect`; places are (x, y) in pixels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from manyhands.core.render import Colour, load_pygame, wrap, write

BACKGROUND: Colour = (38, 42, 58)
INK: Colour = (30, 33, 46)  # letters on PAPER, and dark strips
PAPER: Colour = (246, 243, 236)  # letters on INK, and light grounds
FADED: Colour = (158, 164, 184)  # letters that matter less
TRACK: Colour = (86, 92, 112)  # the empty part of a bar
TURN: Colour = (255, 204, 72)  # the player to move
GOOD: Colour = (64, 176, 96)
BAD: Colour = (226, 72, 64)
SKIN: Colour = (250, 211, 172)
# Blue and orange first: most colour-blind people distinguish them best.
PLAYERS: tuple[Colour, ...] = (
    (58, 124, 214),
    (238, 130, 38),
    (52, 160, 98),
    (140, 92, 204),
    (222, 92, 150),
    (32, 158, 172),
)


def player_colour(index: int) -> Colour:
    """The colour of a player; colours repeat after the sixth."""
    return PLAYERS[index % len(PLAYERS)]


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """`one` with a share (0 to 1) of `other`."""
    r, g, b = (round(p + (q - p) * share) for p, q in zip(one, other, strict=True))
    return r, g, b


# ---- letters, headers, bars ----------------------------------------------------------------------


def label(
    canvas: Any, text: str, size: int, colour: Colour, outline: Colour | None = None, **anchor: Any
) -> Any:
    """Write a line of text with a point of its box at a place, `midleft=(x, y)`; gives the box."""
    image = write(text, size, colour, outline)
    place = {name: (round(x), round(y)) for name, (x, y) in anchor.items()}
    return canvas.blit(image, image.get_rect(**place))


def header_height(canvas: Any) -> int:
    """Pixels of the strip at the top that says how the game stands; 0 on small canvases."""
    width, height = canvas.get_size()
    if width < 200 or height < 120:
        return 0
    return round(max(24, min(height * 0.11, width * 0.09, 72)))


def header(canvas: Any, height: int, title: str, status: str = "", colour: Colour = FADED) -> None:
    """A dark strip of that height along the top: the title on the left, and on the right how the
    game stands, in `colour`. Where there is no room for both, the title is cut."""
    if not height:
        return
    width, gap = canvas.get_width(), height // 3
    canvas.fill(INK, (0, 0, width, height))
    left = width - 2 * gap
    if status:
        size = round(height * 0.34)
        words = wrap(status, size, max(1, width - 2 * gap), limit=1)[0]
        left -= label(canvas, words, size, colour, midright=(width - gap, height / 2)).width + gap
    if left > 2 * height:
        size = round(height * 0.42)
        words = wrap(title, size, left, limit=1)[0]
        label(canvas, words, size, PAPER, midleft=(gap, height / 2))


def bar(canvas: Any, box: Any, share: float, colour: Colour) -> None:
    """A bar with round ends, filled from the left to a share of it (cut to 0 to 1)."""
    pygame = load_pygame()
    radius = box.height // 2
    pygame.draw.rect(canvas, INK, box.inflate(2, 2), border_radius=radius + 1)
    pygame.draw.rect(canvas, TRACK, box, border_radius=radius)
    filled = box.copy()
    filled.width = round(box.width * min(max(share, 0.0), 1.0))
    if filled.width > 0:
        pygame.draw.rect(canvas, colour, filled, border_radius=radius)


# ---- speech bubbles ------------------------------------------------------------------------------


def bubble(
    canvas: Any,
    text: str,
    size: int,
    width: float,
    colour: Colour,
    places: Sequence[tuple[str, tuple[float, float]]],
    tail: tuple[float, float] | None = None,
    *,
    room: Any = None,
    taken: Sequence[Any] = (),
) -> Any:
    """Paint what somebody says in a bubble; gives its box.

    Args:
        text: wrapped into at most four lines.
        size: of the letters, see `write`.
        width: of the lines, at most.
        colour: of the speaker.
        places: where the bubble may go, the best first, each as a point of its box and where that
            is to be: `("midbottom", (x, y))`. It goes where it hides least, and is moved inside.
        tail: the point that the bubble comes from; None: no tail.
        room: the box that bubbles stay inside; by default the canvas.
        taken: boxes that had better not be hidden.
    """
    pygame = load_pygame()
    room = canvas.get_rect().inflate(-4, -4) if room is None else room
    images = [write(line, size, INK) for line in wrap(text, size, max(1, round(width)), limit=4)]
    pad = max(3, size // 2)
    wide = max(image.get_width() for image in images) + 2 * pad
    shape = pygame.Rect(0, 0, wide, sum(image.get_height() for image in images) + pad)
    box, least = shape, math.inf
    for corner, (x, y) in places:
        wanted = shape.copy()
        setattr(wanted, corner, (round(x), round(y)))
        inside = wanted.clip(room)
        moved = wanted.clamp(room)
        hidden = [moved.clip(other) for other in taken]
        cost = _area(wanted) - _area(inside) + sum(map(_area, hidden))
        if cost < least:
            box, least = moved, cost
    pygame.draw.rect(canvas, colour, box.inflate(4, 4), border_radius=pad + 2)
    if tail is not None and not box.collidepoint(tail):
        pygame.draw.polygon(canvas, colour, [*_root(box, tail, pad), tail])
    pygame.draw.rect(canvas, PAPER, box, border_radius=pad)
    y = box.y + pad // 2
    for image in images:
        canvas.blit(image, (box.x + pad, y))
        y += image.get_height()
    return box


def _area(box: Any) -> int:
    return int(box.width * box.height)


def _root(box: Any, tip: tuple[float, float], pad: int) -> list[tuple[float, float]]:
    """The two points of a box's edge between which a tail to `tip` begins."""
    x = min(max(tip[0], box.left + 2 * pad), max(box.right - 2 * pad, box.left + 2 * pad))
    y = min(max(tip[1], box.top + pad), max(box.bottom - pad, box.top + pad))
    across = max(box.left - tip[0], tip[0] - box.right, 0)
    if max(box.top - tip[1], tip[1] - box.bottom, 0) > across:
        edge = box.top + 1 if tip[1] < box.top else box.bottom - 2
        return [(x - pad, edge), (x + pad, edge)]
    edge = box.left + 1 if tip[0] < box.left else box.right - 2
    return [(edge, y - pad), (edge, y + pad)]


# ---- shapes --------------------------------------------------------------------------------------


class Pen:
    """Shapes on a surface, in units of their own: (0, 0) is at pixel (x, y), and a unit is `scale`
    pixels long. Colours may have a fourth part on surfaces that have one."""

    def __init__(self, surface: Any, x: float = 0.0, y: float = 0.0, scale: float = 1.0):
        self.surface, self.x, self.y, self.scale = surface, x, y, scale
        self._draw = load_pygame().draw

    def at(self, x: float, y: float, scale: float) -> Pen:
        """A pen whose unit square is centred on (x, y) and `scale` times as large."""
        left, top = self.point(x - scale / 2, y - scale / 2)
        return Pen(self.surface, left, top, self.scale * scale)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """In pixels of the surface."""
        return self.x + x * self.scale, self.y + y * self.scale

    def _rect(self, x: float, y: float, w: float, h: float) -> tuple[int, int, int, int]:
        left, top = map(round, self.point(x, y))
        right, bottom = map(round, self.point(x + w, y + h))
        return left, top, max(1, right - left), max(1, bottom - top)

    def box(self, colour: Any, x: float, y: float, w: float, h: float, radius: float = 0.0) -> None:
        """A rectangle by its upper left corner, with round corners of that radius."""
        corner = round(radius * self.scale)
        self._draw.rect(self.surface, colour, self._rect(x, y, w, h), border_radius=corner)

    def plate(
        self, colour: Any, x: float, y: float, w: float, h: float, radius: float = 0.0
    ) -> None:
        """A rectangle by its middle."""
        self.box(colour, x - w / 2, y - h / 2, w, h, radius)

    def oval(
        self, colour: Any, x: float, y: float, rx: float, ry: float | None = None, line: float = 0.0
    ) -> None:
        """An oval by its middle, or a disc; with a `line`, its outline of that thickness."""
        ry = rx if ry is None else ry
        if rx > 0 and ry > 0:
            thick = max(1, round(line * self.scale)) if line else 0
            self._draw.ellipse(
                self.surface, colour, self._rect(x - rx, y - ry, 2 * rx, 2 * ry), thick
            )

    def shape(self, colour: Any, *points: tuple[float, float]) -> None:
        """A filled polygon."""
        self._draw.polygon(self.surface, colour, [self.point(*p) for p in points])

    def stroke(self, colour: Any, width: float, *points: tuple[float, float]) -> None:
        """A line through points, with round joints and ends."""
        placed = [self.point(*p) for p in points]
        thick = max(1, round(width * self.scale))
        for a, b in itertools.pairwise(placed):
            self._draw.line(self.surface, colour, a, b, thick)
            length = math.hypot(b[0] - a[0], b[1] - a[1]) or 1.0
            nx, ny = (a[1] - b[1]) / length * thick / 2, (b[0] - a[0]) / length * thick / 2
            corners = [(a[0] + nx, a[1] + ny), (b[0] + nx, b[1] + ny)]
            corners += [(b[0] - nx, b[1] - ny), (a[0] - nx, a[1] - ny)]
            self._draw.polygon(self.surface, colour, corners)
        for p in placed:
            self._draw.circle(self.surface, colour, p, thick / 2)

    def curve(
        self, colour: Any, width: float, x: float, y: float, rx: float, ry: float, a: int, b: int
    ) -> None:
        """Part of an oval's outline, from `a` to `b` degrees (0 east, 90 south)."""
        steps = [math.radians(a + (b - a) * k / 16) for k in range(17)]
        self.stroke(colour, width, *((x + rx * math.cos(t), y + ry * math.sin(t)) for t in steps))


class Sheet(Pen):
    """A pen for a whole canvas, in its pixels. Shapes are painted `sharpness` times too large and
    scaled down by `finish`, which smooths their edges; letters are then written on top, at their
    own size."""

    def __init__(self, canvas: Any, ground: Colour = BACKGROUND, sharpness: int = 2):
        width, height = canvas.get_size()
        large = load_pygame().Surface((width * sharpness, height * sharpness))
        large.fill(ground)
        super().__init__(large, scale=sharpness)
        self.canvas = canvas
        self._labels: list[tuple[str, int, Colour, dict[str, Any]]] = []

    def write(
        self, text: str, size: int, colour: Colour, x: float, y: float, anchor: str = "center"
    ) -> None:
        """A line of text with the point `anchor` of its box at (x, y)."""
        self._labels.append((text, size, colour, {anchor: (x, y)}))

    def finish(self) -> None:
        """Bring everything to the canvas."""
        load_pygame().transform.smoothscale(self.surface, self.canvas.get_size(), self.canvas)
        for text, size, colour, anchor in self._labels:
            label(self.canvas, text, size, colour, **anchor)
