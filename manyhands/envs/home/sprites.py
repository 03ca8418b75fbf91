"""Furniture, things and people of homes as shapes.

A painter draws in a square from (0, 0), its upper left corner, to (1, 1); y = 1 is the floor. A
sprite is painted four times too large and scaled down, then kept. Kinds that are in no table here
(a catalog may hold any) are painted as plain boxes.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from typing import Any

import pygame

from manyhands.core.paint import BAD, INK, PAPER, SKIN, TURN, Pen, mix, player_colour
from manyhands.core.render import Colour

_SHARPNESS = 4
_MARGIN = 0.35  # of a square, that a sprite may reach beyond it
WHITE: Colour = (255, 255, 255)
_WOOD, _WOOD_DARK, _PALE = (186, 132, 82), (132, 88, 52), (222, 184, 138)
_STEEL, _STEEL_DARK, _IRON = (188, 196, 206), (128, 138, 152), (72, 78, 90)
_CHINA, _CHINA_DARK = (248, 248, 250), (192, 200, 212)
_INSIDE = (60, 50, 46)  # of open furniture
_COLD_INSIDE = (214, 232, 244)

Painter = Callable[..., None]
Box = tuple[float, float, float, float]  # left, top, right, bottom


def blit(
    canvas: pygame.Surface, corner: tuple[float, float], size: int, name: str, *args: Any
) -> None:
    """Paint a sprite in the square of this size, in pixels, whose upper left corner is given."""
    _blit(canvas, corner, _sprite(max(2, size), name, *args), max(2, size))


def blit_faded(
    canvas: pygame.Surface,
    corner: tuple[float, float],
    size: int,
    alpha: int,
    name: str,
    *args: Any,
) -> None:
    """`blit` with an opacity of 0 to 255."""
    _blit(canvas, corner, _faded(max(2, size), alpha, name, *args), max(2, size))


def _blit(
    canvas: pygame.Surface, corner: tuple[float, float], sprite: pygame.Surface, size: int
) -> None:
    margin = math.ceil(size * _MARGIN)
    place = (round(corner[0]) - margin, round(corner[1]) - margin)
    canvas.blit(sprite, place, special_flags=pygame.BLEND_PREMULTIPLIED)


@functools.lru_cache(maxsize=1024)
def _sprite(size: int, name: str, *args: Any) -> pygame.Surface:
    margin = math.ceil(size * _MARGIN)
    full = size + 2 * margin
    large = pygame.Surface((full * _SHARPNESS,) * 2, pygame.SRCALPHA)
    corner = margin * _SHARPNESS
    painter = _PAINTERS.get(name, functools.partial(_paint_box, name=name))
    painter(Pen(large, corner, corner, size * _SHARPNESS), *args)
    return pygame.transform.smoothscale(large, (full, full)).premul_alpha()


@functools.lru_cache(maxsize=1024)
def _faded(size: int, alpha: int, name: str, *args: Any) -> pygame.Surface:
    image = _sprite(size, name, *args).copy()
    image.fill((alpha,) * 4, special_flags=pygame.BLEND_RGBA_MULT)
    return image


def tint_of(name: str) -> Colour:
    """The colour of a kind; of an unknown one, always the same."""
    if name in _TINTS:
        return _TINTS[name]
    digest = hashlib.blake2b(name.encode(), digest_size=3).digest()
    return digest[0] // 2 + 90, digest[1] // 2 + 90, digest[2] // 2 + 90


# ---- furniture -----------------------------------------------------------------------------------


def _paint_box(pen: Pen, *_: Any, name: str = "") -> None:
    tint = tint_of(name)
    pen.box(mix(tint, INK, 0.4), 0.18, 0.42, 0.64, 0.58, 0.06)
    pen.box(tint, 0.22, 0.46, 0.56, 0.5, 0.04)


def _table(pen: Pen, _: bool, top: float, left: float, tint: Colour, drawers: bool = False) -> None:
    width, dark = 1 - 2 * left, mix(tint, INK, 0.35)
    for x in (left + 0.05, 1 - left - 0.11):
        pen.box(dark, x, top, 0.06, 1 - top)
    if drawers:
        pen.box(dark, 1 - left - 0.34, top, 0.3, 0.78 - top + 0.14, 0.02)
        pen.box(tint, 1 - left - 0.31, top + 0.08, 0.24, 0.09, 0.02)
        pen.box(tint, 1 - left - 0.31, top + 0.2, 0.24, 0.09, 0.02)
    pen.box(dark, left, top + 0.03, width, 0.06, 0.02)
    pen.box(tint, left - 0.02, top, width + 0.04, 0.06, 0.03)


def _block(pen: Pen, _: bool, top: float, tint: Colour, plate: Colour, doors: int = 2) -> None:
    """A block with a plate on top, doors and knobs: counters, dressers, sinks."""
    dark = mix(tint, INK, 0.3)
    pen.box(dark, 0.06, top, 0.88, 1 - top)
    each = 0.84 / doors
    for n in range(doors):
        pen.box(tint, 0.08 + n * each + 0.01, top + 0.09, each - 0.02, 0.9 - top, 0.02)
        knob = 0.08 + n * each + (each - 0.06 if n % 2 == 0 else 0.06)
        pen.oval(dark, knob, top + 0.22, 0.02)
    pen.box(mix(plate, INK, 0.25), 0.02, top + 0.03, 0.96, 0.05, 0.02)
    pen.box(plate, 0.02, top, 0.96, 0.05, 0.02)


def _paint_dresser(pen: Pen, _: bool) -> None:
    pen.box(_WOOD_DARK, 0.06, 0.46, 0.88, 0.54, 0.02)
    for n in range(3):
        pen.box(_WOOD, 0.1, 0.54 + 0.145 * n, 0.8, 0.125, 0.02)
        for x in (0.3, 0.7):
            pen.oval(_PALE, x, 0.6 + 0.145 * n, 0.02)
    pen.box(_PALE, 0.03, 0.44, 0.94, 0.06, 0.02)


def _doors(
    pen: Pen, open: bool, box: Box, tint: Colour, inside: Colour = _INSIDE, two: bool = True
) -> None:
    """A case with one or two doors; open ones stand out to the sides."""
    left, top, right, bottom = box
    wide, high = right - left, bottom - top
    dark = mix(tint, INK, 0.3)
    pen.box(dark, left - 0.02, top - 0.02, wide + 0.04, high + 0.04, 0.03)
    if open:
        pen.box(inside, left + 0.01, top + 0.01, wide - 0.02, high - 0.02, 0.02)
        pen.box(mix(inside, WHITE, 0.12), left + 0.01, bottom - 0.05, wide - 0.02, 0.04)
        for side in (left - 0.11, right + 0.01) if two else (left - 0.14,):
            pen.box(dark, side, top - 0.03, 0.1 if two else 0.13, high + 0.08, 0.02)
            pen.box(tint, side + 0.015, top - 0.015, 0.07 if two else 0.1, high + 0.05, 0.02)
        return
    half = wide / 2 if two else wide
    for n in range(2 if two else 1):
        pen.box(tint, left + n * half + 0.01, top + 0.01, half - 0.02, high - 0.02, 0.02)
        shade = mix(tint, WHITE, 0.18)
        pen.box(shade, left + n * half + 0.05, top + 0.06, half - 0.1, high - 0.12, 0.02)
    middle = top + high / 2
    for x in (left + half - 0.05, left + half + 0.05) if two else (right - 0.07,):
        pen.box(INK, x - 0.012, middle - 0.05, 0.024, 0.1, 0.01)


def _paint_drawer(pen: Pen, open: bool) -> None:
    pen.box(_WOOD_DARK, 0.14, 0.44, 0.72, 0.56, 0.03)
    for n in range(3):
        if n == 0 and open:
            continue
        pen.box(_WOOD, 0.18, 0.5 + 0.17 * n, 0.64, 0.14, 0.02)
        pen.oval(_PALE, 0.5, 0.57 + 0.17 * n, 0.025)
    if open:  # the uppermost one is pulled out
        pen.box(_INSIDE, 0.1, 0.44, 0.8, 0.14, 0.02)
        pen.box(_WOOD, 0.08, 0.55, 0.84, 0.15, 0.03)
        pen.oval(_PALE, 0.5, 0.62, 0.03)


def _paint_fridge(pen: Pen, open: bool) -> None:
    tint = (226, 232, 240)
    _doors(pen, open, (0.2, 0.1, 0.8, 0.96), tint, _COLD_INSIDE, two=False)
    if open:
        pen.box((170, 196, 214), 0.21, 0.54, 0.58, 0.025)
    else:
        pen.box(mix(tint, INK, 0.3), 0.2, 0.38, 0.6, 0.02)


def _paint_microwave(pen: Pen, open: bool) -> None:
    pen.box(_IRON, 0.06, 0.44, 0.88, 0.5, 0.05)
    pen.box(_STEEL, 0.08, 0.46, 0.84, 0.45, 0.04)
    pen.box((250, 216, 120) if open else (44, 50, 62), 0.13, 0.51, 0.55, 0.35, 0.03)
    for n in range(3):
        pen.oval(INK, 0.8, 0.58 + 0.1 * n, 0.03)
    if open:
        pen.box(_STEEL_DARK, -0.06, 0.46, 0.15, 0.48, 0.03)


def _paint_dishwasher(pen: Pen, open: bool) -> None:
    pen.box(_STEEL_DARK, 0.1, 0.4, 0.8, 0.6, 0.03)
    pen.box(_STEEL, 0.12, 0.42, 0.76, 0.1, 0.02)
    for n in range(3):
        pen.oval(INK, 0.22 + 0.1 * n, 0.47, 0.022)
    if open:
        pen.box(_INSIDE, 0.14, 0.53, 0.72, 0.34)
        pen.box(_STEEL, 0.06, 0.88, 0.88, 0.1, 0.02)
        for n in range(7):
            pen.stroke(_STEEL_DARK, 0.012, (0.2 + 0.1 * n, 0.87), (0.2 + 0.1 * n, 0.8))
    else:
        pen.box(_STEEL, 0.12, 0.54, 0.76, 0.44, 0.02)
        pen.box(_STEEL_DARK, 0.3, 0.58, 0.4, 0.035, 0.01)


def _paint_safe(pen: Pen, open: bool) -> None:
    _doors(pen, open, (0.22, 0.48, 0.78, 0.96), (96, 104, 122), two=False)
    if not open:
        pen.oval(_STEEL, 0.5, 0.72, 0.11)
        pen.oval(_IRON, 0.5, 0.72, 0.07)
        for angle in range(0, 360, 90):
            x, y = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            pen.stroke(_STEEL, 0.02, (0.5, 0.72), (0.5 + 0.13 * x, 0.72 + 0.13 * y))


def _paint_shelf(pen: Pen, _: bool) -> None:
    for x in (0.14, 0.82):
        pen.shape(_WOOD_DARK, (x, 0.78), (x + 0.05, 0.78), (x + 0.05, 0.92))
    pen.box(_WOOD_DARK, 0.02, 0.73, 0.96, 0.06, 0.01)
    pen.box(_PALE, 0.02, 0.72, 0.96, 0.04, 0.01)


def _paint_bed(pen: Pen, _: bool) -> None:
    pen.box(_WOOD_DARK, -0.02, 0.36, 0.07, 0.64, 0.03)
    pen.box(_WOOD_DARK, 0.95, 0.56, 0.07, 0.44, 0.03)
    pen.box(_WOOD, 0.02, 0.78, 0.96, 0.14)
    pen.box((244, 244, 250), 0.04, 0.66, 0.92, 0.16, 0.06)
    pen.box((112, 148, 206), 0.32, 0.64, 0.63, 0.2, 0.05)
    pen.box((140, 172, 222), 0.32, 0.64, 0.63, 0.06, 0.03)
    pen.box(_CHINA, 0.07, 0.57, 0.22, 0.12, 0.05)


def _seat(pen: Pen, _: bool, left: float, tint: Colour) -> None:
    width, dark = 1 - 2 * left, mix(tint, INK, 0.25)
    pen.box(dark, left, 0.44, width, 0.5, 0.1)
    pen.box(tint, left + 0.08, 0.47, width - 0.16, 0.3, 0.06)
    pen.box(mix(tint, WHITE, 0.15), left + 0.07, 0.7, width - 0.14, 0.15, 0.05)
    for x in (left - 0.03, 1 - left - 0.1):
        pen.box(mix(tint, INK, 0.12), x, 0.6, 0.13, 0.34, 0.06)
    for x in (left + 0.04, 1 - left - 0.1):
        pen.box(_WOOD_DARK, x, 0.94, 0.06, 0.06)


def _paint_sink(pen: Pen, _: bool) -> None:
    _block(pen, False, 0.56, (176, 190, 204), _CHINA)
    pen.box(_CHINA_DARK, 0.16, 0.56, 0.68, 0.12, 0.05)
    pen.box((120, 176, 214), 0.2, 0.6, 0.6, 0.05, 0.02)
    pen.stroke(_STEEL_DARK, 0.045, (0.9, 0.56), (0.9, 0.32), (0.76, 0.28), (0.7, 0.34))


def _paint_bathtub(pen: Pen, _: bool) -> None:
    pen.box(_CHINA_DARK, 0.02, 0.6, 0.96, 0.32, 0.14)
    pen.box(_CHINA, 0.02, 0.58, 0.96, 0.28, 0.12)
    pen.box((120, 176, 214), 0.08, 0.6, 0.84, 0.06, 0.03)
    for x in (0.14, 0.78):
        pen.box(_STEEL_DARK, x, 0.9, 0.08, 0.1, 0.02)
    pen.stroke(_STEEL_DARK, 0.04, (0.93, 0.58), (0.93, 0.34), (0.82, 0.34), (0.82, 0.4))


def _paint_toilet(pen: Pen, _: bool) -> None:
    pen.box(_CHINA_DARK, 0.58, 0.4, 0.28, 0.34, 0.04)
    pen.box(_CHINA, 0.55, 0.38, 0.33, 0.08, 0.03)
    pen.shape(_CHINA_DARK, (0.2, 0.7), (0.8, 0.7), (0.64, 1.0), (0.36, 1.0))
    pen.box(_CHINA, 0.16, 0.64, 0.56, 0.09, 0.04)


def _paint_stove(pen: Pen, _: bool) -> None:
    _block(pen, False, 0.54, (92, 98, 112), _IRON, doors=1)
    pen.box((36, 40, 50), 0.18, 0.68, 0.64, 0.2, 0.03)
    pen.box((236, 96, 56), 0.26, 0.51, 0.48, 0.03, 0.01)


def _paint_toaster(pen: Pen, _: bool) -> None:
    pen.box(_STEEL_DARK, 0.2, 0.62, 0.6, 0.34, 0.1)
    pen.box(_STEEL, 0.22, 0.62, 0.56, 0.3, 0.09)
    pen.box(INK, 0.3, 0.62, 0.4, 0.04)
    pen.box(BAD, 0.8, 0.7, 0.06, 0.06, 0.02)
    pen.box(_IRON, 0.22, 0.95, 0.56, 0.05)


def _paint_coffee_machine(pen: Pen, _: bool) -> None:
    pen.box(_IRON, 0.2, 0.4, 0.6, 0.6, 0.05)
    pen.box((48, 52, 62), 0.28, 0.58, 0.44, 0.34, 0.03)
    pen.box(BAD, 0.26, 0.45, 0.08, 0.06, 0.02)
    pen.box(_STEEL, 0.44, 0.56, 0.12, 0.08, 0.01)
    pen.box(_STEEL_DARK, 0.24, 0.92, 0.52, 0.05, 0.01)


def _paint_bin(pen: Pen, _: bool) -> None:
    pen.shape((92, 116, 104), (0.24, 0.6), (0.76, 0.6), (0.7, 1.0), (0.3, 1.0))
    for x in (0.36, 0.5, 0.64):
        pen.stroke((70, 92, 82), 0.02, (x, 0.66), (0.5 + 0.85 * (x - 0.5), 0.96))
    pen.box((70, 92, 82), 0.21, 0.57, 0.58, 0.06, 0.03)


def _paint_holder(pen: Pen, _: bool) -> None:
    for x in (0.18, 0.78):
        pen.oval(_STEEL_DARK, x + 0.02, 0.46, 0.05)
    pen.box(_STEEL, 0.18, 0.44, 0.64, 0.045, 0.02)


def _paint_corner(pen: Pen, _: bool) -> None:
    pen.shape((150, 112, 84), (0.1, 1.0), (0.22, 0.9), (0.9, 0.9), (0.98, 1.0))


def _paint_rug(pen: Pen) -> None:
    for tint, x in (((176, 84, 84), 0.0), ((222, 168, 120), 0.06), ((176, 84, 84), 0.12)):
        pen.shape(tint, (0.02 + x, 1.0), (0.14 + x, 0.9), (0.86 - x, 0.9), (0.98 - x, 1.0))


def _paint_tv_stand(pen: Pen, _: bool) -> None:
    pen.box(INK, 0.16, 0.22, 0.68, 0.38, 0.03)
    pen.box((58, 82, 110), 0.19, 0.25, 0.62, 0.32, 0.02)
    pen.box(INK, 0.46, 0.6, 0.08, 0.08)
    _block(pen, False, 0.7, _WOOD, _PALE, doors=3)


_FURNITURE: dict[str, Painter] = {
    "armchair": functools.partial(_seat, left=0.18, tint=(196, 110, 92)),
    "bathtub_basin": _paint_bathtub,
    "bed": _paint_bed,
    "cabinet": functools.partial(_doors, box=(0.12, 0.3, 0.88, 0.94), tint=_WOOD),
    "coffee_machine": _paint_coffee_machine,
    "coffee_table": functools.partial(_table, top=0.72, left=0.06, tint=_WOOD),
    "counter_top": functools.partial(_block, top=0.54, tint=(206, 196, 178), plate=(116, 108, 104)),
    "desk": functools.partial(_table, top=0.56, left=0.04, tint=_PALE, drawers=True),
    "dining_table": functools.partial(_table, top=0.58, left=0.02, tint=_WOOD),
    "dishwasher": _paint_dishwasher,
    "drawer": _paint_drawer,
    "dresser": _paint_dresser,
    "floor_corner": _paint_corner,
    "fridge": _paint_fridge,
    "garbage_can": _paint_bin,
    "hand_towel_holder": _paint_holder,
    "microwave": _paint_microwave,
    "safe": _paint_safe,
    "shelf": _paint_shelf,
    "side_table": functools.partial(_table, top=0.6, left=0.2, tint=_PALE),
    "sink_basin": _paint_sink,
    "sofa": functools.partial(_seat, left=0.02, tint=(96, 130, 150)),
    "stove_burner": _paint_stove,
    "toaster": _paint_toaster,
    "toilet": _paint_toilet,
    "toilet_paper_hanger": _paint_holder,
    "towel_holder": _paint_holder,
    "tv_stand": _paint_tv_stand,
    "wardrobe": functools.partial(_doors, box=(0.1, 0.08, 0.9, 0.96), tint=(164, 112, 76)),
}
# Where things stand (on the lower edge) or lie in each of them.
_SPOTS: dict[str, Box] = {
    "armchair": (0.26, 0.35, 0.74, 0.74),
    "bathtub_basin": (0.1, 0.24, 0.8, 0.62),
    "bed": (0.3, 0.26, 0.96, 0.67),
    "cabinet": (0.14, 0.32, 0.86, 0.9),
    "coffee_machine": (0.28, 0.58, 0.72, 0.93),
    "coffee_table": (0.06, 0.3, 0.94, 0.74),
    "counter_top": (0.04, 0.14, 0.96, 0.56),
    "desk": (0.05, 0.16, 0.95, 0.58),
    "dining_table": (0.03, 0.18, 0.97, 0.6),
    "dishwasher": (0.15, 0.54, 0.85, 0.88),
    "drawer": (0.13, 0.2, 0.87, 0.57),
    "dresser": (0.05, 0.08, 0.95, 0.46),
    "floor_corner": (0.14, 0.1, 0.9, 0.97),
    "fridge": (0.22, 0.14, 0.78, 0.92),
    "garbage_can": (0.26, 0.26, 0.74, 0.64),
    "hand_towel_holder": (0.3, 0.44, 0.7, 0.92),
    "microwave": (0.14, 0.52, 0.67, 0.86),
    "safe": (0.25, 0.5, 0.75, 0.94),
    "shelf": (0.03, 0.3, 0.97, 0.74),
    "side_table": (0.2, 0.2, 0.8, 0.62),
    "sink_basin": (0.08, 0.26, 0.74, 0.64),
    "sofa": (0.12, 0.34, 0.88, 0.76),
    "stove_burner": (0.16, 0.14, 0.84, 0.53),
    "toaster": (0.3, 0.34, 0.7, 0.68),
    "toilet": (0.16, 0.28, 0.7, 0.66),
    "toilet_paper_hanger": (0.3, 0.4, 0.7, 0.85),
    "towel_holder": (0.25, 0.44, 0.75, 0.96),
    "tv_stand": (0.04, 0.36, 0.96, 0.72),
    "wardrobe": (0.14, 0.12, 0.86, 0.92),
}
HIGH = frozenset(  # what hangs on walls or stands on boards: in the upper rows
    (
        "cabinet",
        "coffee_machine",
        "hand_towel_holder",
        "microwave",
        "shelf",
        "toaster",
        "toilet_paper_hanger",
        "towel_holder",
    )
)


def spot(kind: str) -> Box:
    """Where things are in or on a receptacle, in its square."""
    return _SPOTS.get(kind, (0.2, 0.1, 0.8, 0.44))


# ---- things --------------------------------------------------------------------------------------

_TINTS: dict[str, Colour] = {
    "alarm_clock": (214, 76, 76),
    "apple": (214, 56, 56),
    "basket": (196, 146, 86),
    "book": (84, 108, 176),
    "bowl": (120, 176, 196),
    "box_of_tissues": (150, 190, 220),
    "bread": (212, 158, 96),
    "candle": (244, 234, 204),
    "cloth": (132, 188, 148),
    "coffeepot": (92, 96, 110),
    "crate": (176, 124, 72),
    "credit_card": (86, 126, 200),
    "cup": (240, 196, 96),
    "cupcake": (238, 150, 176),
    "desk_lamp": (70, 128, 120),
    "dish_sponge": (244, 214, 84),
    "egg": (250, 236, 214),
    "floor_lamp": (120, 96, 140),
    "glass_bottle": (150, 206, 190),
    "hand_towel": (236, 156, 128),
    "juice": (250, 164, 50),
    "kettle": (190, 76, 72),
    "laptop": (150, 160, 174),
    "lettuce": (112, 186, 84),
    "magazine": (222, 96, 146),
    "mug": (86, 146, 214),
    "newspaper": (226, 224, 216),
    "pan": (84, 90, 104),
    "pancake": (232, 184, 104),
    "pen": (60, 80, 160),
    "pencil": (240, 184, 60),
    "pepper_shaker": (70, 70, 76),
    "phone": (48, 54, 66),
    "pillow": (226, 214, 236),
    "plate": (244, 246, 250),
    "plunger": (196, 84, 60),
    "pot": (112, 122, 138),
    "potato": (196, 156, 96),
    "poundcake": (240, 206, 120),
    "pudding": (246, 214, 130),
    "remote": (64, 66, 76),
    "salt_shaker": (232, 236, 242),
    "soap_bar": (244, 178, 200),
    "soap_bottle": (120, 196, 176),
    "spray_bottle": (96, 160, 222),
    "statue": (196, 196, 188),
    "toilet_paper": (246, 246, 248),
    "tomato": (230, 72, 50),
    "towel": (116, 150, 214),
    "tray": (150, 118, 92),
    "vase": (92, 140, 190),
    "watch": (206, 172, 84),
    "wine": (150, 36, 66),
    "wine_bottle": (66, 100, 66),
}


def _fruit(pen: Pen, tint: Colour, stalk: bool) -> None:
    pen.oval(mix(tint, INK, 0.35), 0.5, 0.64, 0.36, 0.35)
    pen.oval(tint, 0.5, 0.63, 0.32, 0.31)
    pen.oval(mix(tint, WHITE, 0.55), 0.38, 0.52, 0.09, 0.07)
    if stalk:
        pen.stroke((84, 130, 60), 0.07, (0.5, 0.34), (0.58, 0.18))


def _lettuce(pen: Pen, tint: Colour) -> None:
    for x, y in ((0.3, 0.66), (0.7, 0.66), (0.5, 0.5), (0.36, 0.84), (0.64, 0.84)):
        pen.oval(mix(tint, INK, 0.25), x, y, 0.21)
        pen.oval(tint, x, y - 0.02, 0.18)
    pen.oval(mix(tint, WHITE, 0.4), 0.5, 0.68, 0.16)


def _loaf(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.35), 0.08, 0.46, 0.84, 0.52, 0.2)
    pen.box(tint, 0.11, 0.48, 0.78, 0.46, 0.18)
    for x in (0.32, 0.5, 0.68):
        pen.stroke(mix(tint, INK, 0.3), 0.05, (x - 0.05, 0.52), (x + 0.05, 0.64))


def _cake(pen: Pen, tint: Colour) -> None:
    pen.shape((150, 100, 80), (0.22, 0.6), (0.78, 0.6), (0.68, 0.98), (0.32, 0.98))
    pen.oval(tint, 0.5, 0.52, 0.34, 0.22)
    pen.oval(BAD, 0.5, 0.28, 0.08)


def _stack(pen: Pen, tint: Colour) -> None:
    for n in range(3):
        pen.oval(mix(tint, INK, 0.3), 0.5, 0.88 - 0.15 * n, 0.42, 0.12)
        pen.oval(tint, 0.5, 0.85 - 0.15 * n, 0.4, 0.1)
    pen.box((252, 240, 150), 0.42, 0.44, 0.16, 0.09, 0.02)


def _pudding(pen: Pen, tint: Colour) -> None:
    pen.oval(_CHINA_DARK, 0.5, 0.92, 0.46, 0.08)
    pen.shape(tint, (0.3, 0.46), (0.7, 0.46), (0.82, 0.9), (0.18, 0.9))
    pen.shape((150, 84, 40), (0.3, 0.44), (0.7, 0.44), (0.74, 0.58), (0.26, 0.58))


def _glass(pen: Pen, tint: Colour, stem: bool) -> None:
    if stem:
        pen.stroke(_CHINA_DARK, 0.05, (0.5, 0.6), (0.5, 0.94))
        pen.box(_CHINA_DARK, 0.3, 0.92, 0.4, 0.06, 0.02)
        pen.oval(_CHINA_DARK, 0.5, 0.4, 0.25, 0.28)
        pen.oval(tint, 0.5, 0.45, 0.2, 0.21)
    else:
        pen.shape(_CHINA_DARK, (0.24, 0.2), (0.76, 0.2), (0.68, 0.98), (0.32, 0.98))
        pen.shape(tint, (0.29, 0.34), (0.71, 0.34), (0.65, 0.94), (0.35, 0.94))


def _cup(pen: Pen, tint: Colour, handle: bool) -> None:
    if handle:
        pen.oval(mix(tint, INK, 0.3), 0.8, 0.66, 0.16, 0.18, 0.08)
    pen.box(mix(tint, INK, 0.3), 0.2, 0.36, 0.58, 0.62, 0.1)
    pen.box(tint, 0.23, 0.38, 0.5, 0.56, 0.08)
    pen.oval(mix(tint, INK, 0.45), 0.48, 0.4, 0.26, 0.06)


def _plate(pen: Pen, tint: Colour) -> None:
    pen.oval(_CHINA_DARK, 0.5, 0.84, 0.48, 0.15)
    pen.oval(tint, 0.5, 0.81, 0.48, 0.14)
    pen.oval(_CHINA_DARK, 0.5, 0.82, 0.3, 0.07)


def _bowl(pen: Pen, tint: Colour) -> None:
    pen.shape(
        mix(tint, INK, 0.2), (0.06, 0.56), (0.94, 0.56), (0.84, 0.8), (0.66, 0.98), (0.34, 0.98),
        (0.16, 0.8),
    )  # fmt: skip
    pen.oval(mix(tint, WHITE, 0.3), 0.5, 0.57, 0.44, 0.1)


def _pan(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.3), 0.6, 0.7, 0.5, 0.09, 0.04)
    pen.box(tint, 0.06, 0.68, 0.64, 0.24, 0.1)
    pen.box(mix(tint, WHITE, 0.25), 0.04, 0.66, 0.68, 0.07, 0.03)


def _pot(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.3), 0.02, 0.56, 0.96, 0.09, 0.04)
    pen.box(tint, 0.14, 0.46, 0.72, 0.5, 0.08)
    pen.box(mix(tint, WHITE, 0.25), 0.1, 0.4, 0.8, 0.1, 0.04)
    pen.oval(INK, 0.5, 0.36, 0.07)


def _kettle(pen: Pen, tint: Colour) -> None:
    pen.oval(mix(tint, INK, 0.35), 0.5, 0.42, 0.26, 0.24, 0.08)
    pen.stroke(mix(tint, INK, 0.2), 0.1, (0.74, 0.7), (0.96, 0.5))
    pen.oval(tint, 0.48, 0.72, 0.34, 0.26)
    pen.oval(mix(tint, WHITE, 0.4), 0.36, 0.62, 0.08, 0.05)


def _utensil(pen: Pen, tint: Colour, head: str) -> None:
    pen.stroke(
        _WOOD_DARK if head in ("blade", "flat") else _STEEL_DARK, 0.09, (0.5, 0.52), (0.5, 0.94)
    )
    if head == "blade":
        pen.shape(_STEEL, (0.43, 0.54), (0.6, 0.54), (0.6, 0.06), (0.43, 0.18))
    elif head == "fork":
        for x in (0.38, 0.5, 0.62):
            pen.stroke(_STEEL, 0.05, (x, 0.08), (x, 0.36))
        pen.stroke(_STEEL, 0.09, (0.38, 0.4), (0.62, 0.4), (0.5, 0.56))
    elif head == "flat":
        pen.box(_IRON, 0.34, 0.08, 0.32, 0.36, 0.05)
    else:
        size = 0.2 if head == "deep" else 0.15
        pen.oval(_STEEL_DARK, 0.5, 0.28, size, size + 0.06)
        pen.oval(_STEEL, 0.5, 0.27, size - 0.04, size + 0.01)


def _bottle(pen: Pen, tint: Colour, top: str) -> None:
    pen.box(mix(tint, INK, 0.3), 0.3, 0.42, 0.4, 0.56, 0.1)
    pen.box(tint, 0.33, 0.44, 0.34, 0.52, 0.08)
    pen.box(mix(tint, INK, 0.2), 0.42, 0.2, 0.16, 0.26, 0.03)
    if top == "pump":
        pen.stroke(INK, 0.06, (0.5, 0.22), (0.5, 0.1), (0.3, 0.12))
    elif top == "spray":
        pen.shape(INK, (0.3, 0.08), (0.66, 0.06), (0.66, 0.24), (0.42, 0.24))
    else:
        pen.box((150, 110, 76) if top == "cork" else PAPER, 0.43, 0.1, 0.14, 0.1, 0.02)
    pen.box(PAPER, 0.34, 0.58, 0.32, 0.2, 0.02)


def _shaker(pen: Pen, tint: Colour) -> None:
    pen.shape(_CHINA_DARK, (0.34, 0.4), (0.66, 0.4), (0.74, 0.98), (0.26, 0.98))
    pen.shape(tint, (0.37, 0.52), (0.63, 0.52), (0.69, 0.94), (0.31, 0.94))
    pen.oval(_STEEL_DARK, 0.5, 0.38, 0.17, 0.14)


def _book(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.35), 0.18, 0.24, 0.64, 0.74, 0.04)
    pen.box(tint, 0.22, 0.24, 0.6, 0.68, 0.03)
    pen.box(PAPER, 0.34, 0.38, 0.36, 0.14, 0.02)


def _paper(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.4), 0.12, 0.42, 0.78, 0.56, 0.03)
    pen.box(tint, 0.12, 0.4, 0.76, 0.54, 0.03)
    pen.box(mix(tint, INK, 0.55), 0.2, 0.48, 0.6, 0.09)
    for n in range(3):
        pen.box(mix(tint, INK, 0.3), 0.2, 0.64 + 0.09 * n, 0.6, 0.04)


def _pen(pen: Pen, tint: Colour) -> None:
    pen.stroke(mix(tint, INK, 0.3), 0.14, (0.2, 0.88), (0.74, 0.42))
    pen.stroke(tint, 0.09, (0.2, 0.87), (0.74, 0.41))
    pen.stroke(INK, 0.05, (0.78, 0.38), (0.86, 0.31))


def _laptop(pen: Pen, tint: Colour) -> None:
    pen.box(_IRON, 0.14, 0.3, 0.72, 0.52, 0.04)
    pen.box((110, 170, 220), 0.19, 0.35, 0.62, 0.42, 0.02)
    pen.shape(tint, (0.12, 0.82), (0.88, 0.82), (1.0, 0.96), (0.0, 0.96))


def _slab(pen: Pen, tint: Colour, screen: Colour) -> None:
    """Phones and remotes."""
    pen.box(mix(tint, INK, 0.4), 0.3, 0.22, 0.42, 0.76, 0.07)
    pen.box(tint, 0.32, 0.24, 0.36, 0.7, 0.06)
    pen.box(screen, 0.36, 0.3, 0.28, 0.44, 0.02)


def _remote(pen: Pen, tint: Colour) -> None:
    _slab(pen, tint, tint)
    pen.oval(BAD, 0.5, 0.34, 0.05)
    for n in range(6):
        pen.oval(PAPER, 0.43 + 0.14 * (n % 2), 0.48 + 0.13 * (n // 2), 0.035)


def _card(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.35), 0.1, 0.5, 0.8, 0.48, 0.06)
    pen.box(tint, 0.1, 0.48, 0.8, 0.46, 0.06)
    pen.box((240, 206, 96), 0.18, 0.6, 0.18, 0.14, 0.02)


def _disc(pen: Pen, _: Colour) -> None:
    pen.oval(_STEEL_DARK, 0.5, 0.62, 0.36)
    pen.oval((206, 214, 230), 0.5, 0.61, 0.34)
    pen.oval((190, 230, 210), 0.42, 0.5, 0.12, 0.1)
    pen.oval(INK, 0.5, 0.61, 0.08)


def _keys(pen: Pen, _: Colour) -> None:
    pen.oval((206, 172, 84), 0.42, 0.46, 0.2, 0.2, 0.08)
    pen.stroke((206, 172, 84), 0.09, (0.52, 0.62), (0.76, 0.94), (0.84, 0.86))
    pen.stroke(_STEEL_DARK, 0.08, (0.36, 0.66), (0.34, 0.96))


def _watch(pen: Pen, tint: Colour) -> None:
    pen.box((120, 84, 60), 0.4, 0.22, 0.2, 0.76, 0.05)
    pen.oval(mix(tint, INK, 0.3), 0.5, 0.6, 0.25)
    pen.oval(PAPER, 0.5, 0.6, 0.18)
    pen.stroke(INK, 0.04, (0.5, 0.48), (0.5, 0.6), (0.6, 0.64))


def _clock(pen: Pen, tint: Colour) -> None:
    for x in (0.3, 0.7):
        pen.oval(mix(tint, INK, 0.2), x, 0.3, 0.15)
        pen.stroke(INK, 0.06, (x, 0.86), (x + (x - 0.5) * 0.4, 0.97))
    pen.oval(tint, 0.5, 0.62, 0.34)
    pen.oval(PAPER, 0.5, 0.62, 0.25)
    pen.stroke(INK, 0.05, (0.5, 0.46), (0.5, 0.62), (0.62, 0.68))


def _vase(pen: Pen, tint: Colour) -> None:
    for x, y, petal in ((0.36, 0.2, BAD), (0.5, 0.1, TURN), (0.66, 0.22, (222, 120, 190))):
        pen.stroke((84, 140, 70), 0.04, (0.5, 0.56), (x, y))
        pen.oval(petal, x, y, 0.1)
    pen.oval(mix(tint, INK, 0.2), 0.5, 0.76, 0.26, 0.22)
    pen.box(mix(tint, INK, 0.1), 0.38, 0.48, 0.24, 0.14, 0.03)


def _statue(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.3), 0.24, 0.84, 0.52, 0.14, 0.03)
    pen.shape(tint, (0.4, 0.36), (0.6, 0.36), (0.68, 0.86), (0.32, 0.86))
    pen.oval(mix(tint, WHITE, 0.2), 0.5, 0.26, 0.14, 0.16)


def _candle(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.25), 0.36, 0.42, 0.28, 0.56, 0.04)
    pen.box(tint, 0.39, 0.44, 0.2, 0.52, 0.03)
    pen.stroke(INK, 0.03, (0.5, 0.44), (0.5, 0.34))
    pen.oval((250, 170, 50), 0.5, 0.25, 0.08, 0.12)


def _tissues(pen: Pen, tint: Colour) -> None:
    pen.shape(WHITE, (0.36, 0.56), (0.44, 0.26), (0.52, 0.38), (0.62, 0.28), (0.64, 0.56))
    pen.box(mix(tint, INK, 0.25), 0.12, 0.54, 0.76, 0.44, 0.05)
    pen.box(tint, 0.14, 0.54, 0.72, 0.4, 0.04)


def _lamp(pen: Pen, tint: Colour, on: bool, top: float = 0.3) -> None:
    if on:
        for size, alpha in ((0.6, 40), (0.45, 60), (0.3, 90)):
            pen.oval((255, 224, 120, alpha), 0.5, top + 0.16, size)
    pen.stroke(_IRON, 0.06, (0.5, top + 0.1), (0.5, 0.94))
    pen.box(_IRON, 0.28, 0.92, 0.44, 0.06, 0.03)
    shade = (255, 232, 150) if on else tint
    pen.shape(shade, (0.36, top - 0.14), (0.64, top - 0.14), (0.8, top + 0.2), (0.2, top + 0.2))


def _pillow(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.25), 0.06, 0.5, 0.88, 0.46, 0.18)
    pen.box(tint, 0.09, 0.5, 0.82, 0.41, 0.16)


def _fabric(pen: Pen, tint: Colour, wide: float) -> None:
    pen.box(mix(tint, INK, 0.25), 0.5 - wide / 2, 0.16, wide, 0.8, 0.05)
    pen.box(tint, 0.5 - wide / 2 + 0.03, 0.16, wide - 0.08, 0.76, 0.04)
    pen.box(mix(tint, WHITE, 0.4), 0.5 - wide / 2 + 0.03, 0.74, wide - 0.08, 0.08)


def _roll(pen: Pen, tint: Colour) -> None:
    pen.box(_CHINA_DARK, 0.18, 0.34, 0.64, 0.62, 0.1)
    pen.box(tint, 0.2, 0.36, 0.58, 0.56, 0.1)
    pen.oval(_CHINA_DARK, 0.48, 0.38, 0.3, 0.1)
    pen.oval((150, 120, 90), 0.48, 0.38, 0.1, 0.04)


def _bar(pen: Pen, tint: Colour) -> None:
    pen.box(mix(tint, INK, 0.3), 0.1, 0.58, 0.8, 0.4, 0.14)
    pen.box(tint, 0.12, 0.56, 0.76, 0.36, 0.13)
    pen.box(mix(tint, WHITE, 0.4), 0.26, 0.64, 0.46, 0.06, 0.03)


def _plunger(pen: Pen, tint: Colour) -> None:
    pen.stroke(_WOOD, 0.09, (0.5, 0.08), (0.5, 0.66))
    pen.shape(tint, (0.38, 0.62), (0.62, 0.62), (0.82, 0.96), (0.18, 0.96))


def _container(pen: Pen, tint: Colour, kind: str) -> None:
    dark = mix(tint, INK, 0.35)
    top = 0.8 if kind == "tray" else 0.54
    if kind == "basket":
        pen.oval(dark, 0.5, 0.56, 0.36, 0.34, 0.06)
    pen.shape(dark, (0.0, top), (1.0, top), (0.9, 0.99), (0.1, 0.99))
    pen.shape(tint, (0.05, top + 0.03), (0.95, top + 0.03), (0.87, 0.95), (0.13, 0.95))
    if kind == "crate":
        pen.box(dark, 0.1, 0.72, 0.8, 0.05)
    elif kind == "basket":
        for n in range(4):
            pen.stroke(dark, 0.03, (0.2 + 0.2 * n, top + 0.05), (0.2 + 0.2 * n, 0.94))


def _shape(painter: Painter, *args: Any) -> Painter:
    return lambda pen, tint: painter(pen, tint, *args)


_THINGS: dict[str, Painter] = {
    "alarm_clock": _clock,
    "apple": _shape(_fruit, True),
    "basket": _shape(_container, "basket"),
    "book": _book,
    "bowl": _bowl,
    "box_of_tissues": _tissues,
    "bread": _loaf,
    "butter_knife": _shape(_utensil, "blade"),
    "candle": _candle,
    "cd": _disc,
    "cloth": _shape(_fabric, 0.7),
    "coffeepot": _kettle,
    "crate": _shape(_container, "crate"),
    "credit_card": _card,
    "cup": _shape(_cup, False),
    "cupcake": _cake,
    "dish_sponge": _bar,
    "egg": _shape(_fruit, False),
    "fork": _shape(_utensil, "fork"),
    "glass_bottle": _shape(_bottle, "plain"),
    "hand_towel": _shape(_fabric, 0.6),
    "juice": _shape(_glass, False),
    "kettle": _kettle,
    "key_chain": _keys,
    "knife": _shape(_utensil, "blade"),
    "ladle": _shape(_utensil, "deep"),
    "laptop": _laptop,
    "lettuce": _lettuce,
    "magazine": _paper,
    "mug": _shape(_cup, True),
    "newspaper": _paper,
    "pan": _pan,
    "pancake": _stack,
    "pen": _pen,
    "pencil": _pen,
    "pepper_shaker": _shaker,
    "phone": _shape(_slab, (110, 170, 220)),
    "pillow": _pillow,
    "plate": _plate,
    "plunger": _plunger,
    "pot": _pot,
    "potato": _shape(_fruit, False),
    "poundcake": _loaf,
    "pudding": _pudding,
    "remote": _remote,
    "salt_shaker": _shaker,
    "soap_bar": _bar,
    "soap_bottle": _shape(_bottle, "pump"),
    "spatula": _shape(_utensil, "flat"),
    "spoon": _shape(_utensil, "spoon"),
    "spray_bottle": _shape(_bottle, "spray"),
    "statue": _statue,
    "toilet_paper": _roll,
    "tomato": _shape(_fruit, True),
    "towel": _shape(_fabric, 0.8),
    "tray": _shape(_container, "tray"),
    "vase": _vase,
    "watch": _watch,
    "wine": _shape(_glass, True),
    "wine_bottle": _shape(_bottle, "cork"),
}


def _paint_thing(pen: Pen, name: str, on: bool = False, sliced: bool = False) -> None:
    tint = tint_of(name)
    if name in ("desk_lamp", "floor_lamp"):
        _lamp(pen, tint, on, 0.3 if name == "desk_lamp" else 0.12)
    else:
        _THINGS.get(name, lambda pen, tint: _paint_box(pen, name=name))(pen, tint)
    if sliced:
        for x in (0.36, 0.54, 0.72):
            pen.stroke(PAPER, 0.05, (x, 0.36), (x - 0.08, 0.98))


def _paint_steam(pen: Pen) -> None:
    for x in (0.26, 0.5, 0.74):
        points = [(x + 0.06 * math.sin(7 * t), 0.26 - 0.46 * t) for t in (0, 0.25, 0.5, 0.75, 1)]
        pen.stroke((120, 60, 50, 200), 0.09, *points)
        pen.stroke((255, 244, 236), 0.055, *points)


def _paint_frost(pen: Pen) -> None:
    for x, y, size in ((0.86, 0.26, 0.24), (0.16, 0.4, 0.17)):
        for tint, thick in (((60, 110, 170), 0.08), ((214, 240, 255), 0.045)):
            for angle in (0, 60, 120):
                dx, dy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
                pen.stroke(
                    tint, thick, (x - size * dx, y - size * dy), (x + size * dx, y + size * dy)
                )


def _paint_sparkle(pen: Pen) -> None:
    for x, y, size in ((0.88, 0.82, 0.2), (0.1, 0.66, 0.13)):
        for tint, grow in (((70, 130, 180), 0.06), (WHITE, 0.0)):
            long, thin = size + grow, 0.05 + grow * 0.6
            pen.shape(tint, (x, y - long), (x + thin, y), (x, y + long), (x - thin, y))
            pen.shape(tint, (x - long, y), (x, y - thin), (x + long, y), (x, y + thin))


# ---- people --------------------------------------------------------------------------------------

HANDS = ((0.2, 0.6), (0.8, 0.6))  # the left and the right one, in the picture


def _paint_person(pen: Pen, index: int, marked: bool, hands: tuple[bool, bool]) -> None:
    tint = player_colour(index)
    dark = mix(tint, INK, 0.35)
    if marked:
        pen.oval(TURN, 0.5, 0.985, 0.3, 0.06)
    else:
        pen.oval((*INK, 90), 0.5, 0.985, 0.24, 0.045)
    for x in (0.41, 0.59):
        pen.stroke((58, 62, 84), 0.13, (x, 0.74), (x, 0.9))
        pen.box(INK, x - 0.08, 0.91, 0.16, 0.07, 0.03)
    for (x, y), side, full in zip(HANDS, (-1, 1), hands, strict=True):
        end = (x, y) if full else (0.5 + side * 0.25, 0.74)
        pen.stroke(dark, 0.12, (0.5 + side * 0.16, 0.5), end)
        pen.oval(SKIN, *end, 0.065)
    pen.box(dark, 0.31, 0.42, 0.38, 0.38, 0.12)
    pen.box(tint, 0.33, 0.42, 0.34, 0.36, 0.11)
    pen.oval(mix(SKIN, INK, 0.2), 0.5, 0.26, 0.185, 0.185)
    pen.oval(SKIN, 0.5, 0.26, 0.17, 0.17)
    hair = (
        (92, 60, 40),
        (40, 36, 40),
        (196, 150, 76),
        (150, 74, 44),
        (110, 110, 116),
        (60, 44, 36),
    )
    pen.curve(hair[index % len(hair)], 0.1, 0.5, 0.22, 0.14, 0.12, 180, 360)
    for x in (0.44, 0.56):
        pen.oval(INK, x, 0.27, 0.02)
    pen.curve(INK, 0.02, 0.5, 0.3, 0.06, 0.05, 25, 155)


_PAINTERS: dict[str, Painter] = {
    **_FURNITURE,
    "rug": _paint_rug,
    "thing": _paint_thing,
    "steam": _paint_steam,
    "frost": _paint_frost,
    "sparkle": _paint_sparkle,
    "person": _paint_person,
}
