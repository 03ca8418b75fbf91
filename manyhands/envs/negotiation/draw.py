"""Pictures of a bargaining table, painted with pygame's shapes: no image files, no display needed.

Shapes are painted twice too large and scaled down, which smooths their edges; letters are written
afterwards, at their own size. Seen by a player, a picture is painted from what that player may know
alone (`Negotiation.sight`): the values of the others are question marks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pygame

from manyhands.core.render import Colour, wrap, write
from manyhands.envs.negotiation.env import ACCEPT, CLAIM, OVER, REJECT, RESPOND, SAY, WALK
from manyhands.envs.negotiation.scenarios import EXCHANGE, GIFT, HARVEST, PRICE, SHARES
from manyhands.envs.negotiation.text import Sight

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation, NegotiationState

BACKGROUND: Colour = (38, 42, 58)
INK: Colour = (30, 33, 46)
PAPER: Colour = (246, 243, 236)
FADED: Colour = (158, 164, 184)
# Blue and orange first: the pair that most colour-blind people tell apart best.
PLAYERS: tuple[Colour, ...] = (
    (58, 124, 214),
    (238, 130, 38),
    (52, 160, 98),
    (140, 92, 204),
    (222, 92, 150),
    (32, 158, 172),
)
_WOOD, _WOOD_EDGE, _WOOD_DARK = (178, 128, 82), (202, 154, 104), (112, 76, 46)
_TURN, _PLATE, _SKIN = (255, 204, 72), (24, 27, 39), (250, 211, 172)
_WATER, _WATER_LIGHT = (52, 118, 168), (92, 158, 204)
_SHARPNESS = 2  # how many times larger shapes are painted

_TITLES = {"deal_or_no_deal": "Deal or no deal", "buy_sell": "Buying and selling"}


def draw(
    env: Negotiation, state: NegotiationState, canvas: pygame.Surface, agent: int | None = None
) -> None:
    """Paint the table on a surface of any size: seen by a player, who sits at the bottom, with its
    own values alone; or, for nobody's eyes, with everybody's."""
    _Table(env, state, canvas, agent).paint()


def bubbles(
    env: Negotiation, canvas: pygame.Surface, texts: Mapping[int, str], agent: int | None = None
) -> None:
    """Paint what players say over a picture that `draw` made on this canvas."""
    place = _Places(env.num_agents, canvas, agent)
    for i, text in sorted(texts.items()):
        if text.strip():
            _bubble(canvas, place, i, text)


class _Places:
    """Where everything is. Coordinates are pixels of the canvas."""

    def __init__(self, players: int, canvas: pygame.Surface, agent: int | None):
        self.width, self.height = canvas.get_size()
        self.unit = max(3.0, min(self.width / 64, self.height / 48))
        self.letter = max(8, round(1.25 * self.unit))
        self.top = 3.4 * self.unit
        self.cx, self.cy = self.width / 2, self.top + (self.height - self.top) * 0.5
        self.rx, self.ry = self.width * 0.36, (self.height - self.top) * 0.3
        self.seats = []
        for k in range(players):
            # The viewer, or the first player, sits at the bottom; the others follow clockwise.
            turn = (k - (agent or 0)) % players
            angle = math.pi / 2 + 2 * math.pi * turn / players
            x = self.cx + 1.08 * self.rx * math.cos(angle)
            y = self.cy + 1.12 * self.ry * math.sin(angle)
            self.seats.append((x, y))


class _Table(_Places):
    """One picture."""

    def __init__(
        self, env: Negotiation, state: NegotiationState, canvas: pygame.Surface, agent: int | None
    ):
        super().__init__(env.num_agents, canvas, agent)
        self.env, self.data, self.canvas, self.agent = env, env.scenario, canvas, agent
        # Nobody in particular sees as the first player does, and the private numbers besides.
        self.look = Sight(env, state, agent or 0, you=False)
        self.values: dict[int, np.ndarray] = {self.look.agent: self.look["own_values"]}
        self.owned: dict[int, np.ndarray] = {}
        if "own_holdings" in env.at:
            self.owned[self.look.agent] = self.look["own_holdings"]
            if "other_holdings" in env.at:
                rows = self.look["other_holdings"].reshape(env.num_agents - 1, -1)
                for j, row in enumerate(rows, start=1):
                    self.owned[(self.look.agent + j) % env.num_agents] = row
        self.outside: dict[int, int] = {}
        if "own_outside" in env.at:
            self.outside[self.look.agent] = int(self.look["own_outside"][0])
        if agent is None:
            self.outside = dict(enumerate(np.asarray(state.outside).tolist()))
            self.values = dict(enumerate(np.asarray(state.values)))
            self.owned = dict(enumerate(np.asarray(state.holdings)))
        self.labels: list[tuple[str, int, Colour, float, float, str]] = []
        self.shapes = pygame.Surface((self.width * _SHARPNESS, self.height * _SHARPNESS))

    def paint(self) -> None:
        self.shapes.fill(BACKGROUND)
        lake = self.data.form == HARVEST
        edge, top = (_WATER_LIGHT, _WATER) if lake else (_WOOD_EDGE, _WOOD)
        self._ellipse(_WOOD_DARK, self.cx, self.cy + 0.7 * self.unit, self.rx, self.ry)
        self._ellipse(edge, self.cx, self.cy, self.rx, self.ry)
        self._ellipse(top, self.cx, self.cy, self.rx - 0.5 * self.unit, self.ry - 0.5 * self.unit)
        self._middle()
        for i in range(self.env.num_agents):
            self._player(i)
        self._header()
        size = (self.width, self.height)
        self.canvas.blit(pygame.transform.smoothscale(self.shapes, size), (0, 0))
        for text, letters, colour, x, y, anchor in self.labels:
            image = write(text, letters, colour)
            self.canvas.blit(image, image.get_rect(**{anchor: (round(x), round(y))}))
        for i, words in self._said().items():
            _bubble(self.canvas, self, i, words)

    # ---- parts ----------------------------------------------------------------------------

    def _header(self) -> None:
        look, env = self.look, self.env
        self._box(INK, 0, 0, self.width, self.top)
        played = env.max_steps - int(look["steps_left"][0])
        name = self.data.name
        title = _TITLES.get(name, name.capitalize())
        big = round(1.35 * self.letter)
        self._write(title, big, PAPER, self.unit, self.top / 2, "midleft")
        when = f"turn {min(played + 1, env.max_steps)} of {env.max_steps}"
        if "rounds_left" in env.at:
            number = self.data.rounds - int(look["rounds_left"][0]) + 1
            word = "month" if self.data.form == HARVEST else "round"
            when = f"{word} {min(number, self.data.rounds)} of {self.data.rounds}, {when}"
        if look.phase == OVER:
            when = f"over after {played} turns"
        self._write(when, self.letter, FADED, self.width - self.unit, self.top / 2, "midright")

    def _middle(self) -> None:
        """What lies on the table, and the standing offer on a sheet of paper."""
        look, unit = self.look, self.unit
        y = self.cy - 0.42 * self.ry
        if "pool" in self.env.at and look["pool"].any():
            goods = [(g, int(c)) for g, c in zip(self.data.goods, look["pool"], strict=True) if c]
            across = 7.5 * unit
            left = self.cx - across * (len(goods) - 1) / 2
            for k, (good, count) in enumerate(goods):
                x = left + k * across
                self._icon(good, x - 1.3 * unit, y, 1.7 * unit)
                self._write(
                    f"{count}", round(1.5 * self.letter), PAPER, x + 0.9 * unit, y, "midleft"
                )
        elif self.data.form == PRICE and not look["deals"][0]:
            self._icon("item", self.cx, y, 2.2 * unit)
        if self.data.form == GIFT:
            lead, receiver = look.marked("lead"), look.marked("receiver")
            assert lead is not None and receiver is not None
            self._write(
                f"{look.who(lead)} may give to {look.who(receiver)}",
                self.letter, PAPER, self.cx, self.cy, "center",
            )  # fmt: skip
        lines, colour = self._paper()
        if not lines:
            return
        high = (len(lines) + 0.8) * 1.35 * self.letter
        wide = 0.92 * self.rx
        top = self.cy - 0.08 * self.ry
        self._box((70, 48, 30), self.cx - wide / 2 + 0.3 * unit, top + 0.3 * unit, wide, high, 4)
        self._box(PAPER, self.cx - wide / 2, top, wide, high, 4)
        self._box(colour, self.cx - wide / 2, top, 0.5 * unit, high, 3)
        for k, line in enumerate(lines):
            y = top + (k + 0.9) * 1.35 * self.letter
            self._write(line, self.letter, INK, self.cx + 0.2 * unit, y, "center")

    def _paper(self) -> tuple[list[str], Colour]:
        """What is written on the sheet in the middle, and the colour of whose it is."""
        look = self.look
        width = round(0.92 * self.rx - 2.2 * self.unit)
        if look.phase == OVER:
            text = self._ending()
            return wrap(text, self.letter, width, limit=4), _TURN
        maker = look.marked("offer_by") if "offer_by" in self.env.at else None
        if maker is None:
            return [], _TURN
        words = look.offer_words(maker, look["offer"])
        if self.data.form == EXCHANGE:
            words = f"gives {words}"
        elif self.data.form == PRICE:
            words = f"offers {words}"
        elif self.data.form == SHARES:
            words = f"proposes {words}"
        else:
            words = "offers: " + words
        text = f"{look.who(maker)} {words}"
        return wrap(text, self.letter, width, limit=4), PLAYERS[self._index(maker)]

    def _ending(self) -> str:
        if self.data.form in (HARVEST, GIFT):
            return "It is over"
        deals = int(self.look["deals"][0])
        if self.data.form == EXCHANGE:
            return f"It is over, {deals} exchange{'' if deals == 1 else 's'} made"
        return "A deal" if deals else "No deal"

    def _player(self, i: int) -> None:
        unit, look, env = self.unit, self.look, self.env
        x, y = self.seats[i]
        moves = bool(look["to_move"][(i - look.agent) % env.num_agents])
        colour = PLAYERS[i % len(PLAYERS)]
        if moves:
            self._circle(_TURN, x, y - 0.2 * unit, 3.0 * unit)
            self._circle(BACKGROUND, x, y - 0.2 * unit, 2.7 * unit)
        self._ellipse(colour, x, y + 1.9 * unit, 2.3 * unit, 1.7 * unit)
        self._circle(_SKIN, x, y - 0.4 * unit, 1.6 * unit)
        self._ellipse(colour, x, y - 1.5 * unit, 1.7 * unit, 0.8 * unit)
        for side in (-1, 1):
            self._circle(INK, x + side * 0.55 * unit, y - 0.35 * unit, 0.2 * unit)
        self._box(INK, x - 0.45 * unit, y + 0.35 * unit, 0.9 * unit, 0.2 * unit, 1)

        # The plate beneath: the name, and what is known of the player.
        rows = self._facts(i)
        high = (1 + 1.15 * len(rows)) * 1.25 * self.letter + 0.4 * unit
        cells = max((len(row) for row in rows), default=1)
        name = env.agents[i] + (f", {self.data.roles[i]}" if self.data.roles else "")
        wide = max(11.0 * unit, cells * 5.4 * unit, 0.62 * self.letter * len(name) + 2 * unit)
        wide = min(wide, 0.46 * self.width)
        left = min(max(x - wide / 2, 0.4 * unit), self.width - wide - 0.4 * unit)
        top = min(y + 2.9 * unit, self.height - high - 0.3 * unit)
        if top < y + 2.4 * unit:  # no room beneath
            beside = x + 3.2 * unit + wide < self.width
            left = x + 3.2 * unit if beside else x - 3.2 * unit - wide
        self._box(colour, left, top, wide, high, 5)
        self._box(
            _PLATE, left + 0.15 * unit, top + 0.15 * unit, wide - 0.3 * unit, high - 0.3 * unit, 5
        )
        self._write(
            name,
            self.letter,
            PAPER,
            left + wide / 2,
            top + 0.75 * self.letter + 0.2 * unit,
            "center",
        )
        for k, row in enumerate(rows):
            down = top + (1.75 + 1.15 * k) * 1.25 * self.letter
            step = (wide - 0.6 * unit) / len(row)
            for c, (good, text, ink) in enumerate(row):
                at = left + 0.3 * unit + (c + 0.5) * step
                if good:
                    self._icon(good, at - 0.9 * unit, down, 0.75 * unit)
                    self._write(text, self.letter, ink, at + 0.15 * unit, down, "midleft")
                else:
                    self._write(text, self.letter, ink, at, down, "center")

    def _facts(self, i: int) -> list[list[tuple[str, str, Colour]]]:
        """The rows on a player's plate: cells of (icon, text, colour)."""
        data, goods = self.data, self.data.goods
        known, owned = self.values.get(i), self.owned.get(i)
        rows = []
        if data.form == PRICE:
            word = ("cost", "value")[i]
            rows.append([("", f"{word} {'?' if known is None else int(known[0])}", _TURN)])
        elif len(goods) > 1:
            each = ["?"] * len(goods) if known is None else [f"{int(v)}" for v in known]
            rows.append([(g, w, _TURN) for g, w in zip(goods, each, strict=True)])
        elif (data.values[..., 0] != data.values[..., 1]).any():
            worth = "?" if known is None else f"{int(known[0])}"
            rows.append([("", f"each worth {worth}", _TURN)])
        if data.has_outside:
            rows.append([("", f"no deal: {self.outside.get(i, '?')}", _TURN)])
        if owned is not None and (data.form in (EXCHANGE, HARVEST, GIFT) or owned.any()):
            rows.append([(g, f"x{int(c)}", PAPER) for g, c in zip(goods, owned, strict=True)])
        elif data.form == EXCHANGE:
            rows.append([(g, "x?", FADED) for g in goods])
        if data.form == GIFT:
            place = (i - self.look.agent) % self.env.num_agents
            times, given, spent = self.look["record"].reshape(-1, 3)[place]
            text = f"gave {given} in {times} turn{'' if times == 1 else 's'}"
            rows.append([("", text, FADED)])
            if data.extra["punishment"]:
                rows.append([("", f"punished with {spent}", FADED)])
        return rows

    def _said(self) -> dict[int, str]:
        """What each player said or answered in its last move, if it did."""
        look = self.look
        found: dict[int, str] = {}
        for entry in look.entries():
            i, kind, word = self._index(int(entry[0]) - 1), int(entry[1]), int(entry[2])
            found.pop(i, None)
            if kind == SAY:
                free = word > len(self.env.phrases)
                found[i] = "..." if free else self.env.phrases[word - 1]
            elif kind == CLAIM:
                found[i] = look.claim_words(word - 1, i == look.agent)
            elif look.phase in (OVER, RESPOND) and kind in _ANSWERS:
                found[i] = _ANSWERS[kind]
        return found

    def _index(self, place: int) -> int:
        return (self.look.agent + place) % self.env.num_agents

    # ---- shapes ---------------------------------------------------------------------------

    def _icon(self, good: str, x: float, y: float, r: float) -> None:
        """A good, in a circle of radius r."""
        if good == "book":
            self._box((160, 52, 58), x - 0.75 * r, y - r, 1.5 * r, 2 * r, 2)
            self._box((120, 34, 42), x - 0.75 * r, y - r, 0.35 * r, 2 * r, 2)
            self._box((240, 214, 150), x - 0.2 * r, y - 0.6 * r, 0.7 * r, 0.3 * r)
        elif good == "hat":
            self._ellipse((52, 60, 84), x, y + 0.55 * r, 1.15 * r, 0.35 * r)
            self._box((66, 76, 104), x - 0.65 * r, y - 0.85 * r, 1.3 * r, 1.45 * r, 3)
            self._box((206, 78, 70), x - 0.65 * r, y + 0.15 * r, 1.3 * r, 0.32 * r)
        elif good == "ball":
            self._circle((236, 236, 240), x, y, r)
            self._circle((66, 140, 214), x, y, 0.62 * r)
            self._circle((244, 204, 74), x, y, 0.28 * r)
        elif good == "coin":
            self._circle((190, 138, 36), x, y, r)
            self._circle((244, 200, 80), x, y, 0.8 * r)
            self._box((190, 138, 36), x - 0.12 * r, y - 0.45 * r, 0.24 * r, 0.9 * r)
        elif good == "ton":
            self._shape(
                (226, 152, 92),
                (x + 0.5 * r, y),
                (x + 1.1 * r, y - 0.6 * r),
                (x + 1.1 * r, y + 0.6 * r),
            )
            self._ellipse((240, 170, 108), x - 0.15 * r, y, 0.9 * r, 0.55 * r)
            self._circle(INK, x - 0.6 * r, y - 0.12 * r, 0.12 * r)
        elif good == "wheat":
            self._box((196, 150, 50), x - 0.08 * r, y - 0.2 * r, 0.16 * r, 1.2 * r)
            for k in range(3):
                for side in (-1, 1):
                    self._ellipse(
                        (240, 200, 90),
                        x + side * 0.32 * r,
                        y - 0.75 * r + 0.45 * k * r,
                        0.26 * r,
                        0.3 * r,
                    )
        elif good == "wood":
            self._box((140, 92, 54), x - r, y - 0.5 * r, 1.8 * r, r, 3)
            self._ellipse((214, 170, 120), x + 0.75 * r, y, 0.32 * r, 0.5 * r)
            self._ellipse((168, 120, 76), x + 0.75 * r, y, 0.15 * r, 0.24 * r)
        elif good == "sheep":
            for dx, dy in ((-0.5, 0), (0, -0.3), (0.4, 0), (0, 0.25)):
                self._circle((244, 242, 236), x + dx * r, y + dy * r, 0.55 * r)
            self._ellipse((70, 66, 70), x + 0.85 * r, y - 0.1 * r, 0.28 * r, 0.4 * r)
        elif good == "brick":
            for row, shift in ((-0.55, 0.0), (0.05, -0.5)):
                for k in (-1, 0, 1):
                    left = max(x + (0.95 * k + shift - 0.4) * r, x - r)
                    right = min(x + (0.95 * k + shift + 0.45) * r, x + r)
                    if right > left:
                        self._box((190, 88, 64), left, y + row * r, right - left, 0.5 * r, 1)
        elif good in ("ore", "gold"):
            light, dark = ((150, 158, 172), (100, 108, 124)) if good == "ore" else (
                (252, 214, 92), (204, 154, 40)
            )  # fmt: skip
            self._shape(
                dark,
                (x - r, y + 0.6 * r),
                (x - 0.5 * r, y - 0.6 * r),
                (x + 0.3 * r, y - 0.8 * r),
                (x + r, y + 0.6 * r),
            )
            self._shape(
                light,
                (x - 0.5 * r, y - 0.6 * r),
                (x + 0.3 * r, y - 0.8 * r),
                (x + 0.4 * r, y + 0.1 * r),
                (x - 0.4 * r, y + 0.2 * r),
            )
        elif good == "item":
            self._box((206, 78, 96), x - 0.9 * r, y - 0.5 * r, 1.8 * r, 1.5 * r, 3)
            self._box((232, 108, 122), x - r, y - 0.85 * r, 2 * r, 0.5 * r, 2)
            self._box((252, 220, 130), x - 0.16 * r, y - 0.85 * r, 0.32 * r, 1.85 * r)
        else:  # somebody's own good: a token with its letter
            self._circle((90, 150, 130), x, y, r)
            self._write(good[0].upper(), max(8, round(r)), PAPER, x, y, "center")

    def _write(self, text: str, size: int, colour: Colour, x: float, y: float, anchor: str) -> None:
        self.labels.append((text, size, colour, x, y, anchor))

    def _box(
        self, colour: Colour, x: float, y: float, w: float, h: float, radius: float = 0
    ) -> None:
        s = _SHARPNESS
        rect = pygame.Rect(round(x * s), round(y * s), max(1, round(w * s)), max(1, round(h * s)))
        pygame.draw.rect(self.shapes, colour, rect, border_radius=round(radius * s))

    def _ellipse(self, colour: Colour, x: float, y: float, rx: float, ry: float) -> None:
        if rx > 0 and ry > 0:
            s = _SHARPNESS
            rect = (
                round((x - rx) * s),
                round((y - ry) * s),
                max(1, round(2 * rx * s)),
                max(1, round(2 * ry * s)),
            )
            pygame.draw.ellipse(self.shapes, colour, rect)

    def _circle(self, colour: Colour, x: float, y: float, r: float) -> None:
        pygame.draw.circle(self.shapes, colour, (x * _SHARPNESS, y * _SHARPNESS), r * _SHARPNESS)

    def _shape(self, colour: Colour, *points: tuple[float, float]) -> None:
        pygame.draw.polygon(
            self.shapes, colour, [(x * _SHARPNESS, y * _SHARPNESS) for x, y in points]
        )


_ANSWERS = {ACCEPT: "yes", REJECT: "no", WALK: "I walk away"}


def _bubble(canvas: pygame.Surface, place: _Places, i: int, text: str) -> None:
    """What player i says, in a bubble beside its head, towards the middle of the table."""
    x, y = place.seats[i]
    size, unit = place.letter, place.unit
    lines = wrap(text, size, round(max(place.width * 0.24, 40)), limit=4)
    images = [write(line, size, INK) for line in lines]
    pad = max(3, size // 2)
    box = pygame.Rect(0, 0, max(im.get_width() for im in images) + 2 * pad, 0)
    box.height = len(images) * images[0].get_height() + pad
    right = x < place.cx + 1
    box.midleft = (round(x + 3.6 * unit), round(y - 0.8 * unit))
    if not right:
        box.midright = (round(x - 3.6 * unit), round(y - 0.8 * unit))
    box.clamp_ip(canvas.get_rect().inflate(-4, -4))
    colour = PLAYERS[i % len(PLAYERS)]
    edge = box.left if right else box.right
    inward = edge + (pad if right else -pad)
    tail = [
        (inward, box.centery - pad),
        (inward, box.centery + pad),
        (round(x + (2 if right else -2) * unit), round(y)),
    ]
    pygame.draw.rect(canvas, colour, box.inflate(4, 4), border_radius=pad + 2)
    pygame.draw.polygon(canvas, colour, tail)
    pygame.draw.rect(canvas, PAPER, box, border_radius=pad)
    for k, image in enumerate(images):
        canvas.blit(image, (box.x + pad, box.y + pad // 2 + k * image.get_height()))
