"""Pictures of boards, painted with pygame's shapes: no image files, no display needed.

A board is painted four times too large and scaled down, which smooths its edges. The ground, and
each kind of stone, is painted once for a size and then kept.
"""

from __future__ import annotations

import functools

import numpy as np
import pygame

from manyhands.core.paint import BACKGROUND, FADED, PAPER, PLAYERS, Pen, header_height, mix
from manyhands.core.render import Colour, write
from manyhands.envs.board.env import Board
from manyhands.envs.board.state import DRAW, NO_CELL, PLAYING, STONES, BoardState

_GRID: Colour = (196, 186, 168)
_FRAME, _FRAME_EDGE = (44, 82, 140), (31, 60, 106)
_DISCS: tuple[Colour, Colour] = ((232, 66, 58), (250, 200, 62))
_HOLE: Colour = (26, 34, 56)
_MARK: Colour = (252, 252, 250)
_SHARPNESS = 4  # how many times larger things are painted


def draw(board: Board, state: BoardState, canvas: pygame.Surface, agent: int | None = None) -> None:
    """Paint the board on a surface of any size, letterboxed: the last stone has a dot or a ring,
    the winning line is lit. Both players see everything; `agent` is named in the header."""
    canvas.fill(BACKGROUND)
    width, height = canvas.get_size()
    header = header_height(canvas)
    across, down = board.columns + 1.1, board.rows + 0.9  # cells, with margins for the labels
    cell = int(min(width / across, (height - header) / down))
    if cell < 1:
        return
    left = round((width - cell * board.columns) / 2)
    top = header + round((height - header - cell * board.rows) / 2)
    if header:
        _header(board, state, canvas, header, agent)
    pad = max(1, round(cell * 0.12))
    canvas.blit(
        _ground(board.rows, board.columns, cell, pad, board.falling), (left - pad, top - pad)
    )
    if cell >= 24:
        _labels(board, canvas, left, top, cell, pad)
    cells, line = board.cells(state), board.winning_line(state)
    last = None if int(state.last) == NO_CELL else divmod(int(state.last), board.columns)
    for y, x in np.argwhere(cells >= 0).tolist():
        lit = (y, x) in line
        stone = _stone(int(cells[y, x]), cell, board.falling, (y, x) == last, lit, bool(line))
        canvas.blit(stone, (left + x * cell, top + y * cell))


def _header(
    board: Board, state: BoardState, canvas: pygame.Surface, height: int, agent: int | None
) -> None:
    """Who plays what, and whose turn it is or how the game has ended."""
    size = round(height * 0.36)
    result = int(state.result)
    if result == PLAYING:
        words = f"{board.agents[int(state.turn)]} to move"
    elif result == DRAW:
        words = "a draw"
    else:
        words = f"{board.agents[result - 1]} wins"
    middle = height // 2
    title = write(words, size, PAPER)
    room = canvas.get_width() - title.get_width() - height
    canvas.blit(title, title.get_rect(midleft=(height // 3, middle)))
    right = canvas.get_width() - height // 3
    for i in (1, 0):
        name = board.agents[i] + (" (you)" if i == agent else "")
        image = write(
            name, round(size * 0.8), PAPER if result == PLAYING and state.turn == i else FADED
        )
        room -= image.get_width() + height
        if room < 0:
            break
        right -= image.get_width()
        canvas.blit(image, image.get_rect(midleft=(right, middle)))
        right -= round(height * 0.6)
        stone = _stone(i, round(height * 0.56), board.falling, False, False, False)
        canvas.blit(stone, stone.get_rect(midleft=(right, middle)))
        right -= height // 3


def _labels(board: Board, canvas: pygame.Surface, left: int, top: int, cell: int, pad: int) -> None:
    """Columns along the bottom, and rows at the left where squares are named by them."""
    size = max(9, min(22, round(cell * 0.2)))
    below = top + board.rows * cell + pad + round(size * 0.8)
    for x in range(board.columns):
        name = str(x + 1) if board.falling else chr(ord("a") + x)
        image = write(name, size, FADED)
        canvas.blit(image, image.get_rect(center=(left + round((x + 0.5) * cell), below)))
    for y in range(board.rows):
        number = board.rows - y if board.falling else y + 1
        image = write(str(number), size, FADED)
        middle = (left - pad - round(size * 0.8), top + round((y + 0.5) * cell))
        canvas.blit(image, image.get_rect(center=middle))


@functools.lru_cache(maxsize=16)
def _ground(rows: int, columns: int, cell: int, pad: int, falling: bool) -> pygame.Surface:
    """The empty board, with a border of `pad` pixels."""
    k = _SHARPNESS if rows * columns * cell * cell < 2_000_000 else 2
    size = (columns * cell + 2 * pad, rows * cell + 2 * pad)
    large = pygame.Surface((size[0] * k, size[1] * k))
    large.fill(BACKGROUND)
    box, radius = large.get_rect(), round(cell * k * 0.16)
    step, edge = cell * k, pad * k
    if falling:
        pygame.draw.rect(large, _FRAME_EDGE, box, border_radius=radius)
        pygame.draw.rect(large, _FRAME, box.inflate(-edge // 2, -edge // 2), border_radius=radius)
        for y in range(rows):
            for x in range(columns):
                middle = (edge + round((x + 0.5) * step), edge + round((y + 0.5) * step))
                pygame.draw.circle(large, _FRAME_EDGE, middle, step * 0.43)
                pygame.draw.circle(large, _HOLE, middle, step * 0.40)
    else:
        pygame.draw.rect(large, PAPER, box, border_radius=radius)
        thick = max(k, round(step * 0.035))
        for i in range(1, columns):
            line = pygame.Rect(0, 0, thick, rows * step)
            line.midtop = (edge + i * step, edge)
            pygame.draw.rect(large, _GRID, line, border_radius=thick // 2)
        for i in range(1, rows):
            line = pygame.Rect(0, 0, columns * step, thick)
            line.midleft = (edge, edge + i * step)
            pygame.draw.rect(large, _GRID, line, border_radius=thick // 2)
    return pygame.transform.smoothscale(large, size)


@functools.lru_cache(maxsize=128)
def _stone(
    player: int, cell: int, falling: bool, last: bool, lit: bool, dimmed: bool
) -> pygame.Surface:
    """One stone in its cell: `lit` in a winning line, `dimmed` beside one."""
    size = cell * _SHARPNESS
    colour = (_DISCS if falling else PLAYERS)[player]
    # On the colour that it will stand on, so that scaling down leaves no dark rim.
    ground = (*(_HOLE if falling else PAPER), 0)
    image = pygame.Surface((size, size), pygame.SRCALPHA)
    image.fill(ground)
    if dimmed and not lit:
        colour = mix(colour, _HOLE if falling else PAPER, 0.45)
    middle = (size / 2, size / 2)
    if falling:
        pygame.draw.circle(image, mix(colour, (0, 0, 0), 0.25), middle, size * 0.40)
        pygame.draw.circle(image, colour, (size / 2, size * 0.485), size * 0.375)
        pygame.draw.circle(image, mix(colour, (0, 0, 0), 0.12), middle, size * 0.28)
        pygame.draw.circle(image, colour, middle, size * 0.25)
        if lit:
            pygame.draw.circle(image, _MARK, middle, size * 0.42, max(1, round(size * 0.06)))
        if last:
            pygame.draw.circle(image, _MARK, middle, size * 0.09)
    else:
        if lit:
            rim = pygame.Rect(0, 0, round(size * 0.9), round(size * 0.9))
            rim.center = (round(middle[0]), round(middle[1]))
            glow = mix(colour, PAPER, 0.72)
            pygame.draw.rect(image, glow, rim, border_radius=round(size * 0.14))
        thick = size * 0.13
        if STONES[player] == "O":
            pygame.draw.circle(image, colour, middle, size * 0.32, max(1, round(thick)))
        else:
            near, far = size * 0.24, size * 0.76
            pen = Pen(image)
            pen.stroke(colour, thick, (near, near), (far, far))
            pen.stroke(colour, thick, (near, far), (far, near))
        if last:
            corner = (size * 0.87, size * 0.13)
            pygame.draw.circle(image, colour, corner, size * 0.045)
    return pygame.transform.smoothscale(image, (cell, cell))
