"""What pictures share: where it goes, and that it shows."""

from __future__ import annotations

import subprocess
import sys

import pygame
import pytest

from manyhands.core import paint


@pytest.fixture
def canvas() -> pygame.Surface:
    surface = pygame.Surface((320, 200))
    surface.fill(paint.BACKGROUND)
    return surface


def colours(surface: pygame.Surface, box: pygame.Rect) -> set[tuple[int, ...]]:
    inside = box.clip(surface.get_rect())
    return {
        tuple(surface.get_at((x, y)))[:3]
        for x in range(inside.left, inside.right)
        for y in range(inside.top, inside.bottom)
    }


def shows(surface: pygame.Surface, box: pygame.Rect, colour: paint.Colour) -> bool:
    """Whether a colour is there, or nearly: letters are thinner than pixels."""
    return any(
        max(abs(a - b) for a, b in zip(colour, found, strict=True)) < 60
        for found in colours(surface, box)
    )


def test_pygame_is_loaded_on_first_use():
    code = "import sys, manyhands.core.paint; assert 'pygame' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_colours():
    assert paint.mix((0, 0, 0), (255, 100, 10), 0.5) == (128, 50, 5)
    assert len(set(paint.PLAYERS)) == 6
    assert paint.player_colour(6) == paint.player_colour(0)


def test_labels_are_anchored(canvas):
    box = paint.label(canvas, "north", 14, paint.PAPER, midright=(300.4, 50))
    assert (box.right, box.centery) == (300, 50)
    assert shows(canvas, box, paint.PAPER)


def test_headers_fit(canvas):
    high = paint.header_height(canvas)
    assert 20 < high < 40
    assert paint.header_height(pygame.Surface((100, 100))) == 0
    paint.header(canvas, high, "a title " * 40, "player_0 to move", paint.TURN)
    assert canvas.get_at((1, high - 1))[:3] == paint.INK
    assert canvas.get_at((1, high))[:3] == paint.BACKGROUND
    assert shows(canvas, pygame.Rect(160, 0, 160, high), paint.TURN)
    assert shows(canvas, pygame.Rect(0, 0, 160, high), paint.PAPER)
    assert colours(canvas, pygame.Rect(314, 0, 6, high)) == {paint.INK}


@pytest.mark.parametrize(("share", "filled"), [(-1, 0), (0, 0), (0.5, 50), (1, 100), (7, 100)])
def test_bars(canvas, share, filled):
    paint.bar(canvas, pygame.Rect(20, 20, 100, 9), share, paint.GOOD)
    row = [canvas.get_at((x, 24))[:3] for x in range(20, 120)]
    assert row.count(paint.GOOD) == filled
    assert row.count(paint.TRACK) == 100 - filled


def test_bubbles_stay_inside_and_point_at_their_speaker(canvas):
    head = (160, 100)
    box = paint.bubble(
        canvas, "onion please", 12, 90, paint.PLAYERS[0], [("midbottom", (160, 80))], head
    )
    assert box.midbottom == (160, 80)
    assert canvas.get_at((160, 85))[:3] == paint.PLAYERS[0]  # the tail
    assert shows(canvas, box, paint.PAPER) and shows(canvas, box, paint.INK)
    clamped = paint.bubble(canvas, "x " * 99, 12, 90, paint.PLAYERS[1], [("topleft", (300, -9))])
    assert canvas.get_rect().contains(clamped)


@pytest.mark.parametrize(("tip", "near"), [((5, 100), (40, 100)), ((310, 100), (240, 100)),
                                           ((160, 190), (160, 140))])  # fmt: skip
def test_tails_go_to_all_sides(canvas, tip, near):
    paint.bubble(canvas, "here", 12, 90, paint.PLAYERS[2], [("center", (160, 100))], tip)
    assert canvas.get_at(near)[:3] == paint.PLAYERS[2]


def test_bubbles_hide_as_little_as_they_can(canvas):
    places = [("midbottom", (160, 9)), ("midtop", (160, 120)), ("midleft", (170, 90))]
    args = (canvas, "hello", 12, 90, paint.PLAYERS[0], places)
    assert paint.bubble(*args).midtop == (160, 120)  # there is no room above
    taken = [pygame.Rect(100, 110, 120, 60)]
    assert paint.bubble(*args, taken=taken).midleft == (170, 90)


def test_pens_have_units_of_their_own(canvas):
    pen = paint.Pen(canvas, 100, 50, 10)
    pen.box(paint.GOOD, 0, 0, 2, 1)
    assert canvas.get_at((100, 50))[:3] == canvas.get_at((119, 59))[:3] == paint.GOOD
    assert canvas.get_at((120, 55))[:3] == paint.BACKGROUND
    pen.at(5, 5, 2).oval(paint.BAD, 0.5, 0.5, 0.5)  # a disc of radius 1 around (5, 5)
    assert canvas.get_at((150, 100))[:3] == paint.BAD
    assert canvas.get_at((150, 88))[:3] == paint.BACKGROUND
    pen.stroke(paint.TURN, 0.4, (0, 8), (5, 8))
    assert canvas.get_at((125, 130))[:3] == paint.TURN
    pen.plate(paint.INK, 10, 10, 2, 2, 0.2)
    assert canvas.get_at((200, 150))[:3] == paint.INK


def test_sheets_smooth_edges(canvas):
    sheet = paint.Sheet(canvas)
    sheet.oval(paint.PAPER, 100, 100, 40)
    sheet.write("deal", 14, paint.INK, 100, 100)
    sheet.finish()
    assert canvas.get_at((5, 5))[:3] == paint.BACKGROUND
    found = colours(canvas, pygame.Rect(55, 55, 90, 90))
    assert {paint.PAPER, paint.BACKGROUND} <= found
    assert shows(canvas, pygame.Rect(80, 90, 40, 20), paint.INK)
    assert len(found) > 10  # shades at the edge
