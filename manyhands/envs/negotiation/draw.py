"""Pictures of a bargaining table. Seen by a player, a picture is painted from what that player may
know alone (`text.observation`): the values of the others are question marks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pygame

from manyhands.core.paint import (
    BACKGROUND,
    FADED,
    INK,
    PAPER,
    SKIN,
    TURN,
    Sheet,
    bubble,
    header,
    player_colour,
)
from manyhands.core.render import Colour, wrap
from manyhands.envs.negotiation.history import entries
from manyhands.envs.negotiation.state import (
    ACCEPT,
    CLAIM,
    OVER,
    REJECT,
    RESPOND,
    SAY,
    WALK,
    NegotiationState,
)
from manyhands.envs.negotiation.text import observation

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation

_WOOD, _WOOD_EDGE, _WOOD_DARK = (178, 128, 82), (202, 154, 104), (112, 76, 46)
_PLATE = (24, 27, 39)
_WATER, _WATER_LIGHT = (52, 118, 168), (92, 158, 204)

_TITLES = {"deal_or_no_deal": "Deal or no deal", "buy_sell": "Buying and selling"}


def draw(
    env: Negotiation, state: NegotiationState, canvas: pygame.Surface, agent: int | None = None
) -> None:
    """Paint the table on a surface of any size: seen by a player, who sits at the bottom, with its
    own values alone; or, for nobody's eyes, with everybody's."""
    _Table(env, state, canvas, agent).paint()


def bubbles(
    env: Negotiation,
    state: NegotiationState,
    canvas: pygame.Surface,
    texts: Mapping[int, str],
    agent: int | None = None,
    camera: str = "",
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
        self.seen = observation(env, state, agent or 0, you=False)
        self.values: dict[int, np.ndarray] = {self.seen.agent: self.seen["own_values"]}
        self.owned: dict[int, np.ndarray] = {}
        if "own_holdings" in env.at:
            self.owned[self.seen.agent] = self.seen["own_holdings"]
            if "other_holdings" in env.at:
                rows = self.seen["other_holdings"].reshape(env.num_agents - 1, -1)
                for j, row in enumerate(rows, start=1):
                    self.owned[(self.seen.agent + j) % env.num_agents] = row
        self.outside: dict[int, int] = {}
        if "own_outside" in env.at:
            self.outside[self.seen.agent] = int(self.seen["own_outside"][0])
        if agent is None:
            self.outside = dict(enumerate(np.asarray(state.outside).tolist()))
            self.values = dict(enumerate(np.asarray(state.values)))
            self.owned = dict(enumerate(np.asarray(state.holdings)))
        self.pen = Sheet(canvas, BACKGROUND)

    def paint(self) -> None:
        lake = self.data.surface == "lake"
        edge, top = (_WATER_LIGHT, _WATER) if lake else (_WOOD_EDGE, _WOOD)
        self.pen.oval(_WOOD_DARK, self.cx, self.cy + 0.7 * self.unit, self.rx, self.ry)
        self.pen.oval(edge, self.cx, self.cy, self.rx, self.ry)
        self.pen.oval(top, self.cx, self.cy, self.rx - 0.5 * self.unit, self.ry - 0.5 * self.unit)
        self._middle()
        for i in range(self.env.num_agents):
            self._player(i)
        self.pen.finish()
        self._header()
        for i, words in self._said().items():
            _bubble(self.canvas, self, i, words)

    # ---- parts ----------------------------------------------------------------------------

    def _header(self) -> None:
        seen, env = self.seen, self.env
        played = env.max_steps - int(seen["steps_left"][0])
        title = _TITLES.get(self.data.name, self.data.name.capitalize())
        when = f"turn {min(played + 1, env.max_steps)} of {env.max_steps}"
        if "rounds_left" in env.at:
            number = self.data.rounds - int(seen["rounds_left"][0]) + 1
            rounds = self.data.rounds
            when = f"{self.data.round_name} {min(number, rounds)} of {rounds}, {when}"
        if seen.phase == OVER:
            when = f"over after {played} turns"
        header(self.canvas, round(self.top), title, when)

    def _middle(self) -> None:
        """What lies on the table, and the standing offer on a sheet of paper."""
        seen, unit = self.seen, self.unit
        y = self.cy - 0.42 * self.ry
        if "pool" in self.env.at and seen["pool"].any():
            goods = [(g, int(c)) for g, c in zip(self.data.goods, seen["pool"], strict=True) if c]
            across = 7.5 * unit
            left = self.cx - across * (len(goods) - 1) / 2
            for k, (good, count) in enumerate(goods):
                x = left + k * across
                self._icon(good, x - 1.3 * unit, y, 1.7 * unit)
                self.pen.write(
                    f"{count}", round(1.5 * self.letter), PAPER, x + 0.9 * unit, y, "midleft"
                )
        elif good := self.data.centrepiece(seen):
            self._icon(good, self.cx, y, 2.2 * unit)
        if caption := self.data.caption(seen):
            self.pen.write(caption, self.letter, PAPER, self.cx, self.cy, "center")
        lines, colour = self._paper()
        if not lines:
            return
        high = (len(lines) + 0.8) * 1.35 * self.letter
        wide = 0.92 * self.rx
        top = self.cy - 0.08 * self.ry
        self.pen.box((70, 48, 30), self.cx - wide / 2 + 0.3 * unit, top + 0.3 * unit, wide, high, 4)
        self.pen.box(PAPER, self.cx - wide / 2, top, wide, high, 4)
        self.pen.box(colour, self.cx - wide / 2, top, 0.5 * unit, high, 3)
        for k, line in enumerate(lines):
            y = top + (k + 0.9) * 1.35 * self.letter
            self.pen.write(line, self.letter, INK, self.cx + 0.2 * unit, y, "center")

    def _paper(self) -> tuple[list[str], Colour]:
        """What is written on the sheet in the middle, and the colour of whose it is."""
        seen = self.seen
        width = round(0.92 * self.rx - 2.2 * self.unit)
        if seen.phase == OVER:
            return wrap(self.data.ending(seen), self.letter, width, limit=4), TURN
        maker = seen.marked("offer_by")
        if maker is None:
            return [], TURN
        words = self.data.offer_words(seen, maker, seen["offer"])
        text = f"{seen.who(maker)} {self.data.drawn_offer}{words}"
        return wrap(text, self.letter, width, limit=4), player_colour(self._index(maker))

    def _player(self, i: int) -> None:
        unit, seen, env = self.unit, self.seen, self.env
        x, y = self.seats[i]
        moves = bool(seen["to_move"][(i - seen.agent) % env.num_agents])
        colour = player_colour(i)
        if moves:
            self.pen.oval(TURN, x, y - 0.2 * unit, 3.0 * unit)
            self.pen.oval(BACKGROUND, x, y - 0.2 * unit, 2.7 * unit)
        self.pen.oval(colour, x, y + 1.9 * unit, 2.3 * unit, 1.7 * unit)
        self.pen.oval(SKIN, x, y - 0.4 * unit, 1.6 * unit)
        self.pen.oval(colour, x, y - 1.5 * unit, 1.7 * unit, 0.8 * unit)
        for side in (-1, 1):
            self.pen.oval(INK, x + side * 0.55 * unit, y - 0.35 * unit, 0.2 * unit)
        self.pen.box(INK, x - 0.45 * unit, y + 0.35 * unit, 0.9 * unit, 0.2 * unit, 1)

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
        self.pen.box(colour, left, top, wide, high, 5)
        self.pen.box(
            _PLATE, left + 0.15 * unit, top + 0.15 * unit, wide - 0.3 * unit, high - 0.3 * unit, 5
        )
        self.pen.write(
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
                    self.pen.write(text, self.letter, ink, at + 0.15 * unit, down, "midleft")
                else:
                    self.pen.write(text, self.letter, ink, at, down, "center")

    def _facts(self, i: int) -> list[list[tuple[str, str, Colour]]]:
        """The rows on a player's plate: cells of (icon, text, colour)."""
        data, goods = self.data, self.data.goods
        known, owned = self.values.get(i), self.owned.get(i)
        worth = ["?"] * len(goods) if known is None else [f"{int(v)}" for v in known]
        rows = []
        if len(goods) > 1:
            rows.append([(g, w, TURN) for g, w in zip(goods, worth, strict=True)])
        elif fact := data.value_fact(i, worth[0]):
            rows.append([("", fact, TURN)])
        if data.has_outside:
            rows.append([("", f"no deal: {self.outside.get(i, '?')}", TURN)])
        if owned is not None and (data.accumulates or owned.any()):
            rows.append([(g, f"x{int(c)}", PAPER) for g, c in zip(goods, owned, strict=True)])
        elif "other_most" in self.env.at:  # of a trade between two
            most = zip(goods, self.seen["other_most"], strict=True)
            rows.append([(g, f"\u2264{int(c)}", FADED) for g, c in most])
        elif data.accumulates:
            rows.append([(g, "x?", FADED) for g in goods])
        place = (i - self.seen.agent) % self.env.num_agents
        return [*rows, *([("", fact, FADED)] for fact in data.own_facts(self.seen, place))]

    def _said(self) -> dict[int, str]:
        """What each player said or answered in its last move, if it did."""
        seen = self.seen
        found: dict[int, str] = {}
        for entry in entries(self.env, seen):
            i, kind, word = self._index(int(entry[0]) - 1), int(entry[1]), int(entry[2])
            found.pop(i, None)
            if kind == SAY:
                free = word > len(self.env.phrases)
                found[i] = "..." if free else self.env.phrases[word - 1]
            elif kind == CLAIM:
                found[i] = self.data.claim_words(seen, word - 1, i == seen.agent)
            elif seen.phase in (OVER, RESPOND) and kind in _ANSWERS:
                found[i] = _ANSWERS[kind]
        return found

    def _index(self, place: int) -> int:
        return (self.seen.agent + place) % self.env.num_agents

    # ---- shapes ---------------------------------------------------------------------------

    def _icon(self, good: str, x: float, y: float, r: float) -> None:
        """A good, in a circle of radius r."""
        if good == "book":
            self.pen.box((160, 52, 58), x - 0.75 * r, y - r, 1.5 * r, 2 * r, 2)
            self.pen.box((120, 34, 42), x - 0.75 * r, y - r, 0.35 * r, 2 * r, 2)
            self.pen.box((240, 214, 150), x - 0.2 * r, y - 0.6 * r, 0.7 * r, 0.3 * r)
        elif good == "hat":
            self.pen.oval((52, 60, 84), x, y + 0.55 * r, 1.15 * r, 0.35 * r)
            self.pen.box((66, 76, 104), x - 0.65 * r, y - 0.85 * r, 1.3 * r, 1.45 * r, 3)
            self.pen.box((206, 78, 70), x - 0.65 * r, y + 0.15 * r, 1.3 * r, 0.32 * r)
        elif good == "ball":
            self.pen.oval((236, 236, 240), x, y, r)
            self.pen.oval((66, 140, 214), x, y, 0.62 * r)
            self.pen.oval((244, 204, 74), x, y, 0.28 * r)
        elif good == "coin":
            self.pen.oval((190, 138, 36), x, y, r)
            self.pen.oval((244, 200, 80), x, y, 0.8 * r)
            self.pen.box((190, 138, 36), x - 0.12 * r, y - 0.45 * r, 0.24 * r, 0.9 * r)
        elif good == "ton":
            self.pen.shape(
                (226, 152, 92),
                (x + 0.5 * r, y),
                (x + 1.1 * r, y - 0.6 * r),
                (x + 1.1 * r, y + 0.6 * r),
            )
            self.pen.oval((240, 170, 108), x - 0.15 * r, y, 0.9 * r, 0.55 * r)
            self.pen.oval(INK, x - 0.6 * r, y - 0.12 * r, 0.12 * r)
        elif good == "wheat":
            self.pen.box((196, 150, 50), x - 0.08 * r, y - 0.2 * r, 0.16 * r, 1.2 * r)
            for k in range(3):
                for side in (-1, 1):
                    self.pen.oval(
                        (240, 200, 90),
                        x + side * 0.32 * r,
                        y - 0.75 * r + 0.45 * k * r,
                        0.26 * r,
                        0.3 * r,
                    )
        elif good == "wood":
            self.pen.box((140, 92, 54), x - r, y - 0.5 * r, 1.8 * r, r, 3)
            self.pen.oval((214, 170, 120), x + 0.75 * r, y, 0.32 * r, 0.5 * r)
            self.pen.oval((168, 120, 76), x + 0.75 * r, y, 0.15 * r, 0.24 * r)
        elif good == "sheep":
            for dx, dy in ((-0.5, 0), (0, -0.3), (0.4, 0), (0, 0.25)):
                self.pen.oval((244, 242, 236), x + dx * r, y + dy * r, 0.55 * r)
            self.pen.oval((70, 66, 70), x + 0.85 * r, y - 0.1 * r, 0.28 * r, 0.4 * r)
        elif good == "brick":
            for row, shift in ((-0.55, 0.0), (0.05, -0.5)):
                for k in (-1, 0, 1):
                    left = max(x + (0.95 * k + shift - 0.4) * r, x - r)
                    right = min(x + (0.95 * k + shift + 0.45) * r, x + r)
                    if right > left:
                        self.pen.box((190, 88, 64), left, y + row * r, right - left, 0.5 * r, 1)
        elif good in ("ore", "gold"):
            light, dark = ((150, 158, 172), (100, 108, 124)) if good == "ore" else (
                (252, 214, 92), (204, 154, 40)
            )  # fmt: skip
            self.pen.shape(
                dark,
                (x - r, y + 0.6 * r),
                (x - 0.5 * r, y - 0.6 * r),
                (x + 0.3 * r, y - 0.8 * r),
                (x + r, y + 0.6 * r),
            )
            self.pen.shape(
                light,
                (x - 0.5 * r, y - 0.6 * r),
                (x + 0.3 * r, y - 0.8 * r),
                (x + 0.4 * r, y + 0.1 * r),
                (x - 0.4 * r, y + 0.2 * r),
            )
        elif good == "item":
            self.pen.box((206, 78, 96), x - 0.9 * r, y - 0.5 * r, 1.8 * r, 1.5 * r, 3)
            self.pen.box((232, 108, 122), x - r, y - 0.85 * r, 2 * r, 0.5 * r, 2)
            self.pen.box((252, 220, 130), x - 0.16 * r, y - 0.85 * r, 0.32 * r, 1.85 * r)
        else:  # somebody's own good: a token with its letter
            self.pen.oval((90, 150, 130), x, y, r)
            self.pen.write(good[0].upper(), max(8, round(r)), PAPER, x, y, "center")


_ANSWERS = {ACCEPT: "yes", REJECT: "no", WALK: "I walk away"}


def _bubble(canvas: pygame.Surface, place: _Places, i: int, text: str) -> None:
    """What player i says, in a bubble beside its head, towards the middle of the table."""
    x, y = place.seats[i]
    side, corner = (1, "midleft") if x < place.cx + 1 else (-1, "midright")
    bubble(
        canvas,
        text,
        place.letter,
        max(place.width * 0.24, 40),
        player_colour(i),
        [(corner, (x + side * 3.6 * place.unit, y - 0.8 * place.unit))],
        tail=(x + side * 2 * place.unit, y),
    )
