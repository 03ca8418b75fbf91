"""Pictures of fields, painted with pygame's shapes: no image files, no display needed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.paint import (
    BACKGROUND,
    BAD,
    FADED,
    GOOD,
    INK,
    PAPER,
    TURN,
    Pen,
    Sheet,
    header,
    header_height,
    mix,
    player_colour,
)
from manyhands.core.render import Colour
from manyhands.envs.mission.field.events import happened
from manyhands.envs.mission.field.look import Body, all_see, letter, look_of
from manyhands.envs.mission.field.state import (
    APPLE,
    BASE,
    BOX,
    BUTTON,
    CAUGHT,
    COIN,
    COLUMNS,
    DIRT,
    DOOR,
    FLAG,
    FLOOR,
    GOAL,
    GOLD,
    IRON,
    KEY,
    LAND,
    LOCKED,
    MACHINE,
    PLATE,
    REPAIRED,
    ROWS,
    SOIL,
    WALL,
    WATER,
    FieldState,
)

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

_FLOOR: tuple[Colour, Colour] = ((226, 222, 212), (218, 213, 202))
_SOIL: tuple[Colour, Colour] = ((150, 178, 112), (142, 170, 104))
_WATER: Colour = (104, 168, 214)
_WALL, _WALL_TOP = (104, 98, 110), (134, 128, 140)
_WOOD, _WOOD_DARK = (186, 138, 88), (138, 98, 58)
_GOLD, _STEEL, _MUD = (240, 190, 50), (150, 160, 174), (122, 92, 60)
_APPLE, _LEAF, _STONE = (208, 58, 52), (62, 120, 58), (120, 118, 126)
_GROUPS: tuple[Colour, ...] = ((222, 92, 72), (70, 130, 200), (150, 96, 190))
_FOG = 0.72  # how dark cells are that are not in view


class _Scene(NamedTuple):
    """What is painted: codes [rows, columns] (-1 not in view), bodies, doors, what happened to each
    body, and cells that those who look for others see (None where nobody does)."""

    cells: np.ndarray
    bodies: list[Body]
    doors: list[bool]
    did: list[list[str]]
    watched: np.ndarray | None


def draw(mission: Mission, state: FieldState, canvas: Any, agent: int | None = None) -> None:
    """Paint the field, or the rooms, on a surface of any size, letterboxed. Bodies of a team have
    one colour where teams play each other; a ring shows who was hit or caught, who could not move,
    and who did something. With `agent`, what it does not see is in fog; without, the cells that
    seekers see are tinted."""
    scene = _scene(mission, state, agent)
    sheet = Sheet(canvas)
    top = header_height(canvas)
    if mission.plan.exits is not None:
        _paint_rooms(mission, scene, sheet, canvas.get_size(), top)
    else:
        _paint_grid(mission, scene, sheet, canvas.get_size(), top)
    sheet.finish()
    who = "" if agent is None else f", {mission.agents[agent]}"
    header(canvas, top, _status(mission, state), f"step {int(state.time)}{who}", FADED)


def _scene(mission: Mission, state: FieldState, agent: int | None) -> _Scene:
    plan, did = mission.plan, happened(mission.plan, state)
    if agent is not None:
        look = look_of(mission, state, agent)
        bodies = [body for body in (look.own, *look.others) if body.row >= 0]
        return _Scene(look.cells, bodies, look.doors, did, None)
    names = ("row", "column", "heading", "carry", "out", "cool", "ago")
    rows = [np.asarray(getattr(state, name)).tolist() for name in names]
    bodies = [Body(k, *values) for k, values in enumerate(zip(*rows, strict=True))]
    cells = np.asarray(state.cells).astype(int).reshape(plan.size)
    watched = None
    if plan.spotting is not None:
        team = plan.teams[plan.spotting[1]]
        sees = all_see(mission, state).cells[team.first : team.first + team.size]
        watched = sees.any(0).reshape(plan.size)
    doors = (np.asarray(state.doors) > 0).tolist()
    return _Scene(cells, [b for b in bodies if b.row >= 0], doors, did, watched)


def _status(mission: Mission, state: FieldState) -> str:
    """How it stands."""
    plan = mission.plan
    if "deliveries" in plan.stages:
        scores = zip(plan.teams, np.asarray(state.score).tolist(), strict=True)
        return ", ".join(f"{team.name} {count}" for team, count in scores)
    caught = int((np.asarray(state.out) == CAUGHT).sum())
    if caught:
        return f"{mission.title}: {caught} caught"
    return mission.title + (": it is over" if bool(state.over) else "")


def _colour(mission: Mission, number: int) -> Colour:
    """Of a body: of its team where there are several of agents, else its own; of those that the
    game moves a dark one."""
    plan = mission.plan
    team = int(plan.of_team[number])
    if plan.teams[team].mind:
        return (84, 78, 96)
    several = sum(not team.mind for team in plan.teams) > 1
    return player_colour(team if several else number)


# ---- grids ---------------------------------------------------------------------------------------


def _paint_grid(
    mission: Mission, scene: _Scene, sheet: Sheet, size: tuple[int, int], top: int
) -> None:
    rows, columns = mission.size
    width, height = size
    cell = min(width / (columns + 0.4), (height - top) / (rows + 0.4))
    left = (width - cell * columns) / 2
    upper = top + (height - top - cell * rows) / 2
    for y in range(rows):
        for x in range(columns):
            pen = sheet.at(left + (x + 0.5) * cell, upper + (y + 0.5) * cell, cell)
            code = int(scene.cells[y, x])
            if code < 0:
                pen.box(mix(_FLOOR[0], BACKGROUND, _FOG + 0.06 * ((y + x) % 2)), 0, 0, 1, 1)
                continue
            _ground(pen, code, (y + x) % 2, scene)
            if scene.watched is not None and scene.watched[y, x]:
                pen.box(mix(_FLOOR[(y + x) % 2], TURN, 0.4), -0.01, -0.01, 1.02, 1.02)
            _thing(pen, code, scene)
    shared: dict[tuple[int, int], int] = {}
    for body in scene.bodies:
        place = body.row, body.column
        shift = 0.14 * shared.get(place, 0) if not mission.plan.token else 0
        shared[place] = shared.get(place, 0) + 1
        if mission.plan.token and shared[place] > 1:
            continue
        across, down = body.column + 0.5 + shift, body.row + 0.5 + shift
        _body(mission, scene, sheet, body, left + across * cell, upper + down * cell, cell)


def _ground(pen: Pen, code: int, odd: int, scene: _Scene) -> None:
    """What is below."""
    colour = _FLOOR[odd]
    if code in (SOIL, APPLE, IRON, GOLD) or COIN <= code < COIN + 4:
        colour = _SOIL[odd]
    elif code in (WATER, DIRT):
        colour = mix(_WATER, INK, 0.05 * odd)
    for team in range(2):
        if code in (LAND + team, BASE + team, FLAG + team):
            colour = mix(_FLOOR[odd], player_colour(team), 0.22)
    pen.box(colour, -0.01, -0.01, 1.02, 1.02)
    if code == WATER:
        for y in (0.3, 0.7):
            pen.curve(mix(_WATER, PAPER, 0.4), 0.05, 0.5, y, 0.25, 0.1, 200, 340)


def _thing(pen: Pen, code: int, scene: _Scene) -> None:
    """What is on a cell."""
    if code == WALL:
        pen.box(mix(_WALL, INK, 0.3), 0, 0, 1, 1, 0.08)
        pen.box(_WALL, 0.03, 0.03, 0.94, 0.94, 0.08)
        pen.box(_WALL_TOP, 0.03, 0.03, 0.94, 0.7, 0.08)
    elif code == GOAL:
        pen.box(mix(GOOD, PAPER, 0.35), 0.08, 0.08, 0.84, 0.84, 0.12)
        pen.oval(GOOD, 0.5, 0.5, 0.3, line=0.07)
        pen.oval(GOOD, 0.5, 0.5, 0.12)
    elif BASE <= code < BASE + 2 or FLAG <= code < FLAG + 2:
        team = code - BASE if code < FLAG else code - FLAG
        pen.oval(mix(player_colour(team), INK, 0.2), 0.5, 0.78, 0.32, 0.14)
        if code >= FLAG:
            _flag(pen, team)
    elif DOOR <= code < DOOR + 3:
        _door(pen, code - DOOR, scene.doors[code - DOOR])
    elif PLATE <= code < PLATE + 3:
        pen.box(mix(_GROUPS[code - PLATE], INK, 0.25), 0.16, 0.2, 0.68, 0.64, 0.1)
        pen.box(_GROUPS[code - PLATE], 0.2, 0.22, 0.6, 0.54, 0.08)
    elif BUTTON <= code < BUTTON + 3:
        pen.oval(_STEEL, 0.5, 0.55, 0.3)
        pen.oval(_GROUPS[code - BUTTON], 0.5, 0.5, 0.2)
    elif KEY <= code < KEY + 3:
        _key(pen, _GROUPS[code - KEY])
    elif code in (BOX, LOCKED):
        _crate(pen, code == LOCKED)
    elif code == APPLE:
        pen.oval(_APPLE, 0.5, 0.56, 0.24)
        pen.oval(mix(_APPLE, PAPER, 0.5), 0.42, 0.48, 0.06)
        pen.shape(_LEAF, (0.5, 0.36), (0.68, 0.22), (0.62, 0.38))
    elif code == DIRT:
        for x, y, r in ((0.35, 0.4, 0.17), (0.62, 0.6, 0.2), (0.68, 0.3, 0.1)):
            pen.oval(_MUD, x, y, r)
    elif code in (IRON, GOLD):
        pen.shape(_STONE, (0.15, 0.75), (0.3, 0.3), (0.6, 0.2), (0.85, 0.5), (0.82, 0.78))
        for x, y in ((0.38, 0.5), (0.58, 0.38), (0.65, 0.62)):
            pen.oval(_GOLD if code == GOLD else mix(_STEEL, PAPER, 0.4), x, y, 0.09)
    elif COIN <= code < COIN + 4:
        colour = player_colour(code - COIN)
        pen.oval(mix(colour, INK, 0.35), 0.5, 0.52, 0.27)
        pen.oval(colour, 0.5, 0.5, 0.25)
        pen.oval(mix(colour, PAPER, 0.55), 0.5, 0.5, 0.15, line=0.05)
    elif code in (MACHINE, REPAIRED):
        _machine(pen, code == REPAIRED)


def _flag(pen: Pen, team: int) -> None:
    pen.stroke(mix(_WOOD_DARK, INK, 0.3), 0.06, (0.36, 0.8), (0.36, 0.16))
    pen.shape(player_colour(team), (0.38, 0.16), (0.8, 0.3), (0.38, 0.46))


def _door(pen: Pen, group: int, open_: bool) -> None:
    colour = _GROUPS[group]
    if open_:
        pen.box(mix(colour, INK, 0.2), 0, 0, 0.14, 1)
        pen.box(mix(colour, INK, 0.2), 0.86, 0, 0.14, 1)
        return
    pen.box(mix(colour, INK, 0.35), 0, 0, 1, 1, 0.06)
    pen.box(mix(colour, _WOOD, 0.5), 0.08, 0.06, 0.84, 0.88, 0.05)
    pen.oval(INK, 0.74, 0.52, 0.07)


def _key(pen: Pen, colour: Colour) -> None:
    pen.oval(mix(colour, INK, 0.15), 0.34, 0.42, 0.17, line=0.08)
    pen.stroke(mix(colour, INK, 0.15), 0.08, (0.46, 0.52), (0.78, 0.74))
    pen.stroke(mix(colour, INK, 0.15), 0.07, (0.68, 0.68), (0.6, 0.8))


def _crate(pen: Pen, locked: bool) -> None:
    pen.box(_WOOD_DARK, 0.08, 0.08, 0.84, 0.84, 0.06)
    pen.box(_WOOD, 0.13, 0.13, 0.74, 0.74, 0.04)
    pen.stroke(_WOOD_DARK, 0.06, (0.18, 0.18), (0.82, 0.82))
    pen.stroke(_WOOD_DARK, 0.06, (0.82, 0.18), (0.18, 0.82))
    if locked:
        pen.oval(_STEEL, 0.5, 0.42, 0.13, line=0.05)
        pen.box(_GOLD, 0.34, 0.44, 0.32, 0.26, 0.05)


def _machine(pen: Pen, fine: bool) -> None:
    pen.box(mix(_STEEL, INK, 0.3), 0.14, 0.24, 0.72, 0.56, 0.08)
    pen.box(_STEEL, 0.18, 0.28, 0.64, 0.42, 0.06)
    pen.oval(GOOD if fine else BAD, 0.36, 0.48, 0.1)
    for k in range(3):
        pen.box(INK, 0.54, 0.36 + 0.1 * k, 0.2, 0.04)


_RINGS = (
    (("struck", "caught", "robbed", "seen"), BAD),
    (("hit", "capture", "spotting"), PAPER),
    (("gold", "delivery", "win", "goal", "flag"), _GOLD),
    (("blocked",), TURN),
)


def _body(
    mission: Mission, scene: _Scene, sheet: Sheet, body: Body, x: float, y: float, cell: float
) -> None:
    """A round body with eyes where it faces, what it carries, and a ring."""
    colour = _colour(mission, body.number)
    if body.out:
        colour = mix(colour, PAPER, 0.55)
    pen = sheet.at(x, y, cell)
    pen.oval(mix(colour, INK, 0.45), 0.5, 0.56, 0.36, 0.36)
    pen.oval(colour, 0.5, 0.5, 0.35, 0.35)
    facing = "heading" in mission.plan.features
    down, across = (ROWS[body.heading], COLUMNS[body.heading]) if facing else (0, 0)
    for side in (-0.11, 0.11):
        ex = 0.5 + 0.16 * across + side * (1 if not across else 0.75 * abs(down) + 0.5)
        ey = 0.36 + 0.12 * down
        pen.oval(PAPER, ex, ey, 0.085)
        pen.oval(INK, ex + 0.03 * across, ey + 0.03 * down, 0.045)
    events = scene.did[body.number]
    for names, ring in _RINGS:
        if set(names) & set(events):
            pen.oval(ring, 0.5, 0.5, 0.39, line=0.05)
            break
    if body.carry:
        small = sheet.at(x + 0.26 * cell, y - 0.24 * cell, cell * 0.55)
        if KEY <= body.carry < KEY + 3:
            _key(small, _GROUPS[body.carry - KEY])
        else:
            _flag(small, body.carry - FLAG)
    if cell >= 18 and not mission.plan.token:
        sheet.write(letter(body.number), max(9, round(cell * 0.26)), PAPER, x, y + cell * 0.18)


# ---- rooms ---------------------------------------------------------------------------------------


def _paint_rooms(
    mission: Mission, scene: _Scene, sheet: Sheet, size: tuple[int, int], top: int
) -> None:
    plan = mission.plan
    assert plan.exits is not None and plan.gates is not None
    width, height = size
    places = _places(mission)
    (up, left), (down, right) = places.min(0), places.max(0)
    unit = min(width / (right - left + 2.2), (height - top) / (down - up + 2.2))
    x0 = width / 2 - unit * (left + right) / 2
    y0 = top + (height - top) / 2 - unit * (up + down) / 2
    at = [(x0 + unit * x, y0 + unit * y) for y, x in places.tolist()]
    for a, b in np.argwhere(plan.exits | plan.exits.T).tolist():
        if a >= b:
            continue
        ends = at[a], at[b]
        sheet.stroke(mix(_FLOOR[1], INK, 0.25), unit * 0.26, *ends)
        sheet.stroke(_FLOOR[1], unit * 0.2, *ends)
        gate = int(plan.gates[a, b])
        if gate:
            middle = (ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2
            _door(sheet.at(*middle, unit * 0.5), gate - 1, scene.doors[gate - 1])
    for k, (x, y) in enumerate(at):
        pen = sheet.at(x, y, unit * 1.3)
        pen.box(mix(_FLOOR[0], INK, 0.35), 0.02, 0.04, 0.96, 0.96, 0.16)
        pen.box(_FLOOR[0], 0.02, 0, 0.96, 0.94, 0.16)
        code = int(scene.cells[0, k])
        if code > FLOOR:
            _thing(sheet.at(x, y - unit * 0.2, unit * 0.7), code, scene)
        size_ = max(9, round(unit * 0.24))
        sheet.write(plan.room_names[k], size_, INK, x - unit * 0.48, y - unit * 0.46)
    for room in range(len(at)):
        inside = [body for body in scene.bodies if body.column == room]
        for k, body in enumerate(inside):
            x, y = at[room]
            shift = (k - (len(inside) - 1) / 2) * unit * 0.4
            _body(mission, scene, sheet, body, x + shift, y + unit * 0.28, unit * 0.5)


def _places(mission: Mission) -> np.ndarray:
    """f64[R, 2]: rows and columns of rooms in the picture: those of the scenario, else a circle."""
    names = mission.plan.room_names
    given = mission.scenario["rooms"].get("places", {})
    if set(names) <= set(given):
        return np.array([given[name] for name in names], float)
    turns = [2 * math.pi * k / len(names) for k in range(len(names))]
    return np.array([(-math.cos(turn), math.sin(turn)) for turn in turns]) * len(names) / 4
