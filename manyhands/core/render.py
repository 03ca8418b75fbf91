"""Pictures of states: pygame surfaces as arrays, with or without a display; and letters on them.

Pygame is loaded on first use: most programs never draw.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from manyhands.core.config import nearest
from manyhands.core.env import ConfigError, Env

Colour = tuple[int, int, int]


def render(
    env: Env,
    state: Any,
    agent: str | int | None = None,
    size: tuple[int, int] = (640, 480),
    camera: str = "",
) -> np.ndarray:
    """The state as u8[height, width, 3], as `agent` sees it (None: all of it); needs no display.

    Args:
        size: width and height in pixels.
        camera: for the full view, one of `env.cameras` where there are several.
    """
    pygame = load_pygame()
    canvas = pygame.Surface(size)
    draw(env, state, canvas, agent, camera)
    # A third of the time of `surfarray.array3d`, which goes column by column.
    pixels = np.frombuffer(bytearray(pygame.image.tobytes(canvas, "RGB")), np.uint8)
    return pixels.reshape(size[1], size[0], 3)


def draw(
    env: Env, state: Any, canvas: Any, agent: str | int | None = None, camera: str = ""
) -> None:
    """`Env.draw`, by a camera that the environment has."""
    if not camera or agent is not None:
        env.draw(state, canvas, agent)
        return
    env.draw(state, canvas, None, camera_of(env, camera))


def camera_of(env: Env, camera: str) -> str:
    """The camera, if it is "" or one of the environment's."""
    known = env.cameras
    if camera and camera not in known:
        there = f"there are {', '.join(known)}" if known else "there is one view of this world"
        raise ConfigError(f"no camera is called {camera!r};{nearest(camera, known)} {there}")
    return camera


def load_pygame() -> Any:
    """The pygame module, without its greeting on the terminal."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    return pygame


@functools.lru_cache(maxsize=1024)
def write(text: str, size: int, colour: Colour, outline: Colour | None = None) -> Any:
    """A line of text as a surface, in the font that pygame brings; `size` is about the height of a
    capital letter and a half, in pixels. What that font cannot hold is shown as "?"."""
    pygame = load_pygame()

    def half(ink: Colour) -> Any:
        large = _font(size).render(_printable(text), True, ink)
        area = (-(-large.get_width() // 2), -(-large.get_height() // 2))
        return pygame.transform.smoothscale(large, area)

    image = half(colour)
    if outline is None:
        return image
    edge = half(outline)
    framed = pygame.Surface((image.get_width() + 2, image.get_height() + 2), pygame.SRCALPHA)
    for dx, dy in ((0, 1), (2, 1), (1, 0), (1, 2), (0, 0), (2, 2), (0, 2), (2, 0)):
        framed.blit(edge, (dx, dy))
    framed.blit(image, (1, 1))
    return framed


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() and c < "\ud800" else "?" for c in text)


def _font(size: int) -> Any:
    """Twice as large as asked for, to be scaled down: small letters are spaced unevenly."""
    try:
        font = _load_font(size)
        font.get_height()
    except load_pygame().error:  # somebody called `pygame.quit()`, with which fonts die
        _load_font.cache_clear()
        font = _load_font(size)
    return font


@functools.lru_cache(maxsize=64)
def _load_font(size: int) -> Any:
    pygame = load_pygame()
    pygame.font.init()
    return pygame.font.Font(None, 2 * max(8, round(size * 1.35)))


@functools.lru_cache(maxsize=65536)
def _width(text: str, size: int) -> int:
    """Pixels that `write` needs for a text."""
    return -(-_font(size).size(_printable(text))[0] // 2)


def wrap(text: str, size: int, width: int, *, limit: int | None = None) -> list[str]:
    """The words of `text` in lines of at most `width` pixels (a longer word is cut), at most
    `limit` of them."""
    space = _width(" ", size)
    lines, used = [""], 0  # `used` pixels of the last line
    for word in text.split():
        wide = _width(word[: width + 1], size)
        if lines[-1] and used + space + wide <= width:
            lines[-1] += f" {word}"
            used += space + wide
            continue
        if lines[-1]:
            lines.append("")
        # No letter is narrower than a pixel, so `width` letters of a longer word are enough.
        while len(word) > 1 and _width(word[: width + 1], size) > width:
            keep, beyond = 1, min(len(word), width + 1)
            while beyond - keep > 1:
                middle = (keep + beyond) // 2
                fits = _width(word[:middle], size) <= width
                keep, beyond = (middle, beyond) if fits else (keep, middle)
            lines[-1], word = word[:keep], word[keep:]
            lines.append("")
        lines[-1], used = word, _width(word, size)
    if limit is not None and len(lines) > limit:
        lines = lines[:limit]
        lines[-1] = lines[-1][:-1].rstrip() + "..."
    return lines
