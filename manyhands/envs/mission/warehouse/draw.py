"""Pictures of warehouses, painted with pygame's shapes: no image files, no display needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pygame

from manyhands.core.paint import BACKGROUND, GOOD, INK, PAPER, header, header_height, mix
from manyhands.core.paint import player_colour as colour_of
from manyhands.core.render import Colour, write
from manyhands.envs.mission.warehouse.state import (
    BLOCKED,
    COLUMNS,
    DELIVERED,
    LOADED,
    REQUESTED,
    ROWS,
    UNLOADED,
    WarehouseState,
)
from manyhands.envs.mission.warehouse.text import Robot, Scene, scene

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

_WAY: tuple[Colour, Colour] = ((206, 208, 212), (199, 201, 206))
_RACK: Colour = (176, 178, 186)
_LINE: Colour = (150, 152, 162)
_GOAL: Colour = (92, 178, 118)
_WOOD: Colour = (176, 128, 78)
_BOX: Colour = (214, 172, 116)
_WANTED: Colour = (226, 72, 64)
_RING = {
    BLOCKED: (255, 204, 72),
    LOADED: (250, 250, 250),
    UNLOADED: (250, 250, 250),
    DELIVERED: GOOD,
}


def draw(
    mission: Mission, state: WarehouseState, canvas: pygame.Surface, agent: int | None = None
) -> None:
    """Paint the warehouse on a surface of any size, letterboxed. Red boxes are on requested
    shelves; a carried shelf has a frame in its robot's colour; a ring shows who loaded, unloaded,
    delivered or was kept from driving in the last step. With `agent`, what that robot does not see
    is hidden."""
    canvas.fill(BACKGROUND)
    width, height = canvas.get_size()
    top = header_height(canvas)
    rows, columns = mission.size
    cell = int(min(width / (columns + 0.4), (height - top) / (rows + 0.4)))
    if cell < 1:
        return
    view, everything = scene(mission, state, agent), scene(mission, state, None)
    wanted = sum(what == REQUESTED for what in everything.shelves.values())
    carried = sum(r.carrying and r.load == REQUESTED for r in everything.robots)
    title = f"{wanted} requested, {carried} of them on the way"
    who = "" if agent is None else f", {mission.agents[agent]}"
    header(canvas, top, title if agent is None else mission.title, f"step {int(state.time)}{who}")
    origin = (
        round((width - cell * columns) / 2),
        top + round((height - top - cell * rows) / 2),
    )
    _floor(mission, canvas, origin, cell, view)
    for (y, x), what in view.shelves.items():
        _shelf(canvas, _box(origin, cell, y, x), what == REQUESTED)
    for robot in view.robots:
        box = _box(origin, cell, robot.row, robot.column)
        rack = mission.racks[robot.row * columns + robot.column]
        if agent not in (None, robot.number) and rack and mission.observation != "whole":
            robot = robot._replace(carrying=False)  # it does not see whether the shelf stands
        _robot(canvas, box, robot, int(state.recent[robot.number]))


def _box(origin: tuple[int, int], cell: int, row: int, column: int) -> pygame.Rect:
    return pygame.Rect(origin[0] + column * cell, origin[1] + row * cell, cell, cell)


def _floor(
    mission: Mission, canvas: pygame.Surface, origin: tuple[int, int], cell: int, view: Scene
) -> None:
    for y in range(mission.size[0]):
        for x in range(mission.size[1]):
            box, at = _box(origin, cell, y, x), y * mission.size[1] + x
            colour = _RACK if mission.racks[at] else _WAY[(y + x) % 2]
            seen = y in view.rows and x in view.columns
            canvas.fill(colour if seen else mix(colour, BACKGROUND, 0.6), box)
            if mission.racks[at] and seen:
                pygame.draw.rect(canvas, _LINE, box, max(1, cell // 24))
            if at in mission.goals:
                _goal(canvas, box, _GOAL if seen else mix(_GOAL, BACKGROUND, 0.6))


def _goal(canvas: pygame.Surface, box: pygame.Rect, colour: Colour) -> None:
    """A mat with stripes."""
    canvas.fill(colour, box)
    dark, step = mix(colour, INK, 0.25), max(2, box.width // 5)
    inner = box.inflate(-max(1, box.width // 8), -max(1, box.width // 8))
    for k in range(inner.left, inner.right, 2 * step):
        canvas.fill(dark, (k, inner.top, min(step, inner.right - k), inner.height))


def _shelf(canvas: pygame.Surface, box: pygame.Rect, wanted: bool) -> None:
    """A pallet of four boxes, red ones if it is requested."""
    body = box.inflate(-max(2, box.width // 8), -max(2, box.width // 8))
    wood = mix(_WOOD, _WANTED, 0.35) if wanted else _WOOD
    pygame.draw.rect(canvas, mix(wood, INK, 0.25), body, border_radius=max(1, box.width // 12))
    gap, half = max(1, box.width // 20), body.width // 2
    for down in (0, 1):
        for across in (0, 1):
            part = pygame.Rect(body.left + across * half, body.top + down * half, half, half)
            part = part.inflate(-2 * gap, -2 * gap)
            if part.width > 0:
                pygame.draw.rect(canvas, _WANTED if wanted else _BOX, part)


def _robot(canvas: pygame.Surface, box: pygame.Rect, robot: Robot, did: int) -> None:
    """A round robot with a nose; around a shelf that it carries, a frame."""
    colour = colour_of(robot.number)
    if robot.carrying:
        thick = max(2, box.width // 10)
        frame = box.inflate(-max(1, box.width // 14), -max(1, box.width // 14))
        pygame.draw.rect(canvas, colour, frame, thick, border_radius=max(1, box.width // 8))
    radius = max(1, round(box.width * 0.32))
    middle = box.center
    down, across = ROWS[robot.heading], COLUMNS[robot.heading]
    tip = middle[0] + round(across * box.width * 0.47), middle[1] + round(down * box.width * 0.47)
    side = round(radius * 0.62)
    base = middle[0] + round(across * radius * 0.7), middle[1] + round(down * radius * 0.7)
    nose = [
        tip,
        (base[0] + side * abs(down), base[1] + side * abs(across)),
        (base[0] - side * abs(down), base[1] - side * abs(across)),
    ]
    pygame.draw.polygon(canvas, INK, nose)
    pygame.draw.circle(canvas, mix(colour, INK, 0.35), middle, radius)
    pygame.draw.circle(canvas, colour, middle, max(1, radius - max(1, box.width // 20)))
    if did in _RING:
        pygame.draw.circle(canvas, _RING[did], middle, radius, max(1, box.width // 14))
    if box.width >= 14:
        image = write(str(robot.number), max(9, round(box.width * 0.36)), PAPER)
        canvas.blit(image, image.get_rect(center=middle))
