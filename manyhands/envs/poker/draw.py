"""Pictures of a card table, painted with pygame's shapes: no image files, no display needed.

Shapes are painted twice too large and scaled down, which smooths their edges; letters are written
afterwards, at their own size. The picture is painted from the view of one seat alone
(`observe.view_hand`).
"""

from __future__ import annotations

import math

import pygame

from manyhands.core.paint import FADED, INK, PAPER, TURN, Sheet
from manyhands.core.render import Colour, wrap, write
from manyhands.envs.poker import text as words
from manyhands.envs.poker.env import Poker
from manyhands.envs.poker.observe import view_hand
from manyhands.envs.poker.state import PokerState

_FELT, _FELT_EDGE, _FELT_LINE = (34, 112, 78), (24, 86, 60), (62, 142, 106)
_WOOD, _WOOD_DARK = (122, 78, 46), (84, 52, 30)
_FACE, _FACE_EDGE, _RED, _BLACK = (252, 250, 244), (190, 186, 174), (198, 40, 48), (28, 30, 40)
_BACK, _BACK_LINE = (44, 74, 140), (94, 128, 200)
_CHIP, _CHIP_DARK, _CHIP_LIGHT = (214, 62, 58), (150, 34, 36), (250, 232, 224)
_PLATE = (22, 25, 36)
_WON, _LOST = (120, 208, 140), (236, 130, 120)

_STACK = 5  # chips in a column
_SHADE: tuple[int, int, int, int] = (16, 40, 30, 150)  # over the cards of those who folded


def draw(poker: Poker, state: PokerState, canvas: pygame.Surface, agent: int | None = None) -> None:
    """Paint the table on a surface of any size: seen from a seat, which sits at the bottom, others'
    cards face down unless they were shown; or, for nobody's eyes, all cards open."""
    table = _Table(poker, state, canvas, agent)
    table.paint()


class _Table:
    """One picture. Coordinates are pixels of the canvas."""

    def __init__(self, poker: Poker, state: PokerState, canvas: pygame.Surface, agent: int | None):
        self.poker, self.canvas, self.agent = poker, canvas, agent
        self.seen = view_hand(poker, state, agent)
        self.turn, self.hand = int(state.turn), int(state.hand)
        self.chips = [int(amount) for amount in state.chips]
        self.over = self.turn == poker.num_agents
        self.width, self.height = canvas.get_size()
        self.letter = max(8, min(22, round(min(self.width / 36, self.height / 26))))
        self.sheet = Sheet(canvas, INK)
        n = poker.num_agents
        self.lines = 1 if n <= 4 else 2 if n <= 7 else 3  # of text, for a round
        head = 1.9 * self.letter
        foot = (1.6 * self.lines * poker.rounds + 0.8) * self.letter
        room = max(8.0, self.height - head - foot - 2 * self.letter)
        self.rx = max(4.0, self.width / 2 - self.letter)
        self.ry = room / 2
        self.cx, self.cy = self.width / 2, head + room / 2
        self.foot = self.height - foot
        share = 0.48 if n <= 3 else 0.36 if n <= 6 else 0.3
        self.card_height = min(share * self.ry, 2.2 * share * self.rx)

    def paint(self) -> None:
        rail = 0.35 * self.letter + 0.03 * self.ry
        self.sheet.oval(_WOOD_DARK, self.cx, self.cy, self.rx + rail, self.ry + rail)
        self.sheet.oval(_WOOD, self.cx, self.cy, self.rx + 0.6 * rail, self.ry + 0.6 * rail)
        self.sheet.oval(_FELT_EDGE, self.cx, self.cy, self.rx - 0.4 * rail, self.ry - 0.4 * rail)
        self.sheet.oval(_FELT, self.cx, self.cy, self.rx - 0.8 * rail, self.ry - 0.8 * rail)
        self.sheet.oval(
            _FELT_LINE,
            self.cx,
            self.cy,
            0.55 * self.rx,
            0.42 * self.ry,
            line=max(1.0, self.ry / 130),
        )
        self._middle()
        for seat in range(self.poker.num_agents):
            self._seat(seat)
        self.sheet.finish()
        self._header()

    # ---- what lies on the table ---------------------------------------------------------------

    def _middle(self) -> None:
        """The pot, and the public cards."""
        poker, high = self.poker, self.card_height
        x = self.cx
        if poker.boards:
            for r in range(poker.boards):
                card = self.seen.board[r] if r < len(self.seen.board) else None
                self._card(card, x - 0.5 * high + r * 0.8 * high, self.cy, high)
            x += 0.55 * high
        size = self._size(0.3)
        self.sheet.write("POT", round(0.7 * size), _FELT_LINE, x, self.cy - 0.8 * size)
        self.sheet.write(str(sum(self.seen.bets)), size, PAPER, x, self.cy + 0.3 * size)

    def _seat(self, seat: int) -> None:
        poker, n, high = self.poker, self.poker.num_agents, self.card_height
        bottom = 0 if self.agent is None else self.agent
        angle = math.pi / 2 + 2 * math.pi * ((seat - bottom) % n) / n
        x = self.cx + 0.76 * self.rx * math.cos(angle)
        y = self.cy + 0.62 * self.ry * math.sin(angle)
        folded = self.seen.folded[seat]
        self._card(self.seen.cards[seat], x, y, high, folded)
        if n == 2:  # there is room beside the card
            at = (x + 0.85 * high, y + 0.2 * high)
        else:
            at = (
                self.cx + 0.42 * self.rx * math.cos(angle),
                self.cy + 0.3 * self.ry * math.sin(angle),
            )
        self._stack(self.seen.bets[seat], *at)

        # The name, on a plate at the card's outer edge; lit where it is this seat's turn.
        size = self._size(0.17)
        name = "you" if seat == self.agent else poker.agents[seat]
        notes = ""
        if folded:
            notes = "folded"
        elif seat == self.seen.first and not self.over:
            notes = "opens"
        if poker.hands > 1 or self.over:
            amount = f"{self.chips[seat]:+d}" if self.chips[seat] else "0"
            notes = f"{amount}, {notes}" if notes else amount
        lines = [name, notes] if notes else [name]
        wide = max(write(line, size, PAPER).get_width() for line in lines) + 1.4 * size
        tall = (1.25 * len(lines) + 0.5) * size
        if n == 2:
            x -= 0.5 * high + wide / 2
        else:
            away = 0.5 * (high + tall) + 0.1 * size
            y += away if math.sin(angle) > -1e-6 else -away
        if seat == self.turn:
            edge = max(2.0, 0.2 * size)
            self.sheet.plate(TURN, x, y, wide + 2 * edge, tall + 2 * edge, 0.7 * size)
        self.sheet.plate(_PLATE, x, y, wide, tall, 0.5 * size)
        colour = FADED if folded else TURN if seat == self.turn else PAPER
        self.sheet.write(name, size, colour, x, y - (0.62 * size if notes else 0))
        if notes:
            won = self.chips[seat]
            shade = _WON if won > 0 else _LOST if won < 0 else FADED
            self.sheet.write(notes, size, shade, x, y + 0.62 * size)

    def _card(
        self, card: int | None, x: float, y: float, high: float, folded: bool = False
    ) -> None:
        wide, corner = 0.7 * high, 0.09 * high
        self.sheet.plate((14, 52, 36), x + 0.02 * high, y + 0.03 * high, wide, high, corner)
        if card is None:
            self.sheet.plate(_FACE, x, y, wide, high, corner)
            self.sheet.plate(_BACK, x, y, 0.88 * wide, 0.91 * high, 0.7 * corner)
            inner_w, inner_h = 0.74 * wide, 0.8 * high
            for i in range(-6, 7):  # a lattice, cut at the edge of the inner field
                for slope in (1, -1):
                    self._hatch(x, y, inner_w, inner_h, i / 6, slope)
        else:
            rank, suit = divmod(card, self.poker.suits)
            colour = _RED if suit else _BLACK
            self.sheet.plate(_FACE_EDGE, x, y, wide, high, corner)
            self.sheet.plate(_FACE, x, y, 0.97 * wide, 0.98 * high, corner)
            name = self.poker.ranks[rank]
            if self.poker.suits > 1:
                self._suit(suit, x, y + 0.22 * high, 0.17 * high, colour)
                self.sheet.write(name, round(0.36 * high), colour, x, y - 0.17 * high)
            else:
                self.sheet.write(name, round(0.5 * high), colour, x, y)
        if folded:
            k = self.sheet.scale
            shade = pygame.Surface((round(wide * k), round(high * k)), pygame.SRCALPHA)
            shade.fill(_SHADE)
            place = (round((x - wide / 2) * k), round((y - high / 2) * k))
            self.sheet.surface.blit(shade, place)

    def _hatch(self, x: float, y: float, w: float, h: float, at: float, slope: int) -> None:
        """One line of a card's back: through (at, 0), both in halves of the inner field."""
        # u = at + slope * v with u, v in [-1, 1]
        low, high = max(-1.0, min(1.0, slope * (-1 - at))), max(-1.0, min(1.0, slope * (1 - at)))
        if abs(high - low) < 1e-6:
            return
        ends = [
            (x + (at + slope * v) * w / 2, y + v * h / 2) for v in (min(low, high), max(low, high))
        ]
        width = max(1, round(0.02 * h * self.sheet.scale))
        start, end = (self.sheet.point(*place) for place in ends)
        pygame.draw.line(self.sheet.surface, _BACK_LINE, start, end, width)

    def _suit(self, suit: int, x: float, y: float, r: float, colour: Colour) -> None:
        """A spade (0) or a heart (1), about 2 r wide."""
        up = -1 if suit == 0 else 1  # a spade is a heart upside down, on a foot
        half = 0.54 * r
        for side in (-1, 1):
            self.sheet.oval(colour, x + side * half * 0.92, y - up * 0.3 * r, half)
        points = [
            (x - 0.98 * r, y - up * 0.08 * r),
            (x + 0.98 * r, y - up * 0.08 * r),
            (x, y + up * 1.05 * r),
        ]
        self.sheet.shape(colour, *points)
        if suit == 0:
            foot = ((x, y + 0.1 * r), (x - 0.4 * r, y + 1.15 * r), (x + 0.4 * r, y + 1.15 * r))
            self.sheet.shape(colour, *foot)

    def _stack(self, chips: int, x: float, y: float) -> None:
        """Chips in columns, and their number."""
        r = 0.17 * self.card_height
        columns = -(-chips // _STACK)
        left = x - (columns - 1) * 1.1 * r
        for chip in range(chips):
            column, level = divmod(chip, _STACK)
            cx, cy = left + column * 2.2 * r, y - level * 0.42 * r
            self.sheet.oval(_CHIP_DARK, cx, cy + 0.3 * r, r, 0.62 * r)
            self.sheet.oval(_CHIP, cx, cy, r, 0.62 * r)
            self.sheet.oval(_CHIP_LIGHT, cx, cy, 0.66 * r, 0.4 * r)
            self.sheet.oval(_CHIP, cx, cy, 0.54 * r, 0.32 * r)
        self.sheet.write(str(chips), self._size(0.17), PAPER, x, y + 1.6 * r)

    # ---- words --------------------------------------------------------------------------------

    def _header(self) -> None:
        poker, size, pad = self.poker, self.letter, 0.6 * self.letter
        title = poker.title
        if poker.hands > 1:
            title += f" · hand {self.hand + 1} of {poker.hands}"
        if self.over:
            state = "the match is over" if poker.hands > 1 else "the hand is over"
        elif self.turn == self.agent:
            state = "your turn"
        else:
            state = f"{poker.agents[self.turn]} to move"
        self.canvas.blit(write(title, size, PAPER), (pad, pad))
        image = write(state, size, FADED if self.over else TURN)
        self.canvas.blit(image, (self.width - image.get_width() - pad, pad))
        y = self.foot
        for r, moves in enumerate(self.seen.rounds):
            told = words.told(poker, moves, self.agent)
            where = f"{words.ROUNDS[r].capitalize()} round: " if poker.rounds > 1 else ""
            room = max(1, round(self.width - 2 * pad))
            size = self.letter
            while size > 9 and len(wrap(where + told, size, room)) > self.lines:
                size -= 1
            for line in wrap(where + told, size, room, limit=self.lines):
                self.canvas.blit(write(line, size, PAPER), (pad, y))
                y += 1.6 * size

    def _size(self, share: float) -> int:
        """Letters that fit to the cards."""
        return max(8, min(self.letter + 6, round(share * self.card_height)))
