"""Pictures of states: pygame surfaces as arrays, with or without a display."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from manyhands.core.env import Env


def render(
    env: Env, state: Any, agent: str | int | None = None, size: tuple[int, int] = (640, 480)
) -> np.ndarray:
    """The state as u8[height, width, 3], as `agent` sees it (None: all of it); needs no display.

    Args:
        size: width and height in pixels.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame  # loaded on first use: most programs never draw

    canvas = pygame.Surface(size)
    env.draw(state, canvas, agent)
    return np.ascontiguousarray(np.swapaxes(pygame.surfarray.array3d(canvas), 0, 1))
