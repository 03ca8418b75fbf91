"""Pictures of missions, painted with pygame's shapes: no image files, no display needed."""

from __future__ import annotations

import numpy as np
import pygame

from manyhands.core.paint import BACKGROUND, FADED, INK, PAPER, PLAYERS, header_height, mix
from manyhands.core.render import Colour, write
from manyhands.envs.mission.env import Mission
from manyhands.envs.mission.observe import sees_food, sees_players
from manyhands.envs.mission.state import BLOCKED, LOADED, TOO_WEAK, MissionState

_GRASS: tuple[Colour, Colour] = ((122, 160, 92), (114, 152, 86))
_APPLE: Colour = (206, 58, 52)
_LEAF: Colour = (62, 116, 58)
_RING = {BLOCKED: (255, 204, 72), LOADED: (250, 250, 250), TOO_WEAK: (226, 72, 64)}


def draw(
    mission: Mission, state: MissionState, canvas: pygame.Surface, agent: int | None = None
) -> None:
    """Paint the field on a surface of any size, letterboxed. Players and fruit carry their levels;
    a ring shows who loaded, failed to, or was kept from moving in the last step. With `agent`, what
    that player does not see is hidden."""
    canvas.fill(BACKGROUND)
    width, height = canvas.get_size()
    header = header_height(canvas)
    rows, columns = mission.size
    cell = int(min(width / (columns + 0.4), (height - header) / (rows + 0.4)))
    if cell < 1:
        return
    left = round((width - cell * columns) / 2)
    top = header + round((height - header - cell * rows) / 2)
    if header:
        _header(mission, state, canvas, header, agent)
    for y in range(rows):
        for x in range(columns):
            colour = _GRASS[(y + x) % 2]
            if agent is not None and not _near(mission, state, agent, y, x):
                colour = mix(colour, BACKGROUND, 0.6)
            canvas.fill(colour, (left + x * cell, top + y * cell, cell, cell))
    food = np.asarray(state.food_level) > 0
    players = np.ones(mission.num_agents, bool)
    if agent is not None:
        food = np.asarray(sees_food(mission, state))[agent]
        players = np.asarray(sees_players(mission, state))[agent]
    for k in np.flatnonzero(food).tolist():
        spot = left + int(state.food_column[k]) * cell, top + int(state.food_row[k]) * cell
        _apple(canvas, spot, cell, int(state.food_level[k]))
    for i in np.flatnonzero(players).tolist():
        spot = left + int(state.column[i]) * cell, top + int(state.row[i]) * cell
        _player(canvas, spot, cell, i, int(state.level[i]), int(state.recent[i]))


def _near(mission: Mission, state: MissionState, agent: int, y: int, x: int) -> bool:
    row, column = int(state.row[agent]), int(state.column[agent])
    return abs(y - row) <= mission.sight and abs(x - column) <= mission.sight


def _apple(canvas: pygame.Surface, spot: tuple[int, int], cell: int, level: int) -> None:
    middle = spot[0] + cell // 2, spot[1] + round(cell * 0.54)
    radius = max(1, round(cell * 0.34))
    pygame.draw.circle(canvas, mix(_APPLE, INK, 0.3), (middle[0], middle[1] + radius // 8), radius)
    pygame.draw.circle(canvas, _APPLE, middle, max(1, round(radius * 0.94)))
    leaf = pygame.Rect(0, 0, max(1, round(cell * 0.2)), max(1, round(cell * 0.11)))
    leaf.midleft = (middle[0], middle[1] - radius)
    pygame.draw.ellipse(canvas, _LEAF, leaf)
    _number(canvas, middle, cell, level)


def _player(
    canvas: pygame.Surface, spot: tuple[int, int], cell: int, index: int, level: int, did: int
) -> None:
    middle = spot[0] + cell // 2, spot[1] + cell // 2
    body = pygame.Rect(0, 0, max(1, round(cell * 0.7)), max(1, round(cell * 0.7)))
    body.center = middle
    colour = PLAYERS[index % len(PLAYERS)]
    pygame.draw.rect(canvas, mix(colour, INK, 0.35), body, border_radius=max(1, cell // 5))
    inner = body.inflate(-max(2, cell // 10), -max(2, cell // 10))
    pygame.draw.rect(canvas, colour, inner, border_radius=max(1, cell // 6))
    if did in _RING:
        thick = max(1, cell // 16)
        pygame.draw.rect(canvas, _RING[did], body, thick, border_radius=max(1, cell // 5))
    _number(canvas, middle, cell, level)


def _number(canvas: pygame.Surface, middle: tuple[int, int], cell: int, level: int) -> None:
    if cell >= 14:
        image = write(str(level), max(9, round(cell * 0.42)), PAPER)
        canvas.blit(image, image.get_rect(center=middle))


def _header(
    mission: Mission, state: MissionState, canvas: pygame.Surface, height: int, agent: int | None
) -> None:
    """What is left, and whose view it is."""
    size = round(height * 0.36)
    left = int(np.asarray(state.food_level).sum())
    words = f"{left} of {int(state.spawned)} levels of food left" if left else "all food is loaded"
    image = write(words, size, PAPER)
    canvas.blit(image, image.get_rect(midleft=(height // 3, height // 2)))
    right = f"step {int(state.time)}" + ("" if agent is None else f", {mission.agents[agent]}")
    note = write(right, round(size * 0.8), FADED)
    if image.get_width() + note.get_width() + height < canvas.get_width():
        canvas.blit(note, note.get_rect(midright=(canvas.get_width() - height // 3, height // 2)))
