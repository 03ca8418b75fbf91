"""Episodes as files: GIF, MP4, and a strip of pictures. No display is needed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pygame

from manyhands.core.config import positive
from manyhands.core.env import ConfigError, ManyhandsError
from manyhands.viewer.scenes import Scene, paint

_SAMPLE = 12  # frames that a GIF's palette is made from
_COLOURS = 96  # in a GIF's palette: enough for smooth edges of flat colours
_GIF_RATE, _MP4_RATE = 16.0, 50.0  # pictures per second, at most


def frames(
    scenes: Iterable[Scene],
    size: tuple[int, int] = (640, 480),
    *,
    agent: int | None = None,
    camera: str = "",
    panel: bool = False,
    seat: int = 0,
) -> Iterator[np.ndarray]:
    """A picture u8[height, width, 3] of each scene; the arguments are those of `scenes.paint`.

    Args:
        size: width and height in pixels, with the panel.
    """
    canvas = pygame.Surface(size)
    for scene in scenes:
        paint(scene, canvas, agent=agent, camera=camera, panel=panel, seat=seat)
        yield np.ascontiguousarray(np.swapaxes(pygame.surfarray.array3d(canvas), 0, 1))


def export_gif(
    scenes: Iterable[Scene],
    path: str | Path,
    *,
    fps: float | None = None,
    size: tuple[int, int] = (480, 360),
    **options: Any,
) -> Path:
    """Write an endless GIF, `fps` scenes a second (by default at the environment's pace); `options`
    are those of `frames`.

    Scenes that look the same are stored once, and shown for as long. Where scenes follow faster
    than 16 a second, only every second one is stored, or every third, and so on.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise _missing("a GIF", "Pillow", error) from error
    kept, fps = _thinned(scenes, fps, _GIF_RATE)
    pictures = [Image.fromarray(frame) for frame in frames(kept, size, **options)]
    # One palette for all frames, so that unchanged parts have the same bytes in each.
    chosen = pictures[:: max(1, len(pictures) // _SAMPLE)]
    sample = Image.new("RGB", (size[0], size[1] * len(chosen)))
    for i, picture in enumerate(chosen):
        sample.paste(picture, (0, i * size[1]))
    palette = sample.quantize(_COLOURS, method=Image.Quantize.MEDIANCUT)
    small = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    path = _prepared(path)
    # A GIF counts time in hundredths of a second.
    duration = max(2, round(100 / fps)) * 10
    small[0].save(
        path,
        "GIF",
        save_all=True,
        append_images=small[1:],
        duration=duration,
        loop=0,
        optimize=True,
    )
    return path


def export_mp4(
    scenes: Iterable[Scene],
    path: str | Path,
    *,
    fps: float | None = None,
    size: tuple[int, int] = (960, 720),
    **options: Any,
) -> Path:
    """Write an H.264 film, `fps` scenes a second (by default at the environment's pace, and with at
    most 50 pictures a second); `options` are those of `frames`. Odd sizes are made even, as the
    format requires."""
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise _missing("an MP4", "imageio with ffmpeg", error) from error
    even = (size[0] + size[0] % 2, size[1] + size[1] % 2)
    kept, fps = _thinned(scenes, fps, _MP4_RATE)
    path = _prepared(path)
    writer = imageio_ffmpeg.write_frames(
        str(path), even, fps=fps, codec="libx264", quality=7, macro_block_size=2
    )
    with warnings.catch_warnings():
        # JAX warns of every new process; this one is ffmpeg, which shares no lock with JAX.
        warnings.filterwarnings("ignore", message=r"os\.fork", category=RuntimeWarning)
        writer.send(None)
    try:
        for frame in frames(kept, even, **options):
            writer.send(frame)
    finally:
        writer.close()
    return path


def export_strip(
    scenes: Iterable[Scene],
    path: str | Path,
    *,
    count: int = 4,
    columns: int | None = None,
    size: tuple[int, int] = (320, 240),
    **options: Any,
) -> Path:
    """Write a PNG of `count` moments, evenly spread from the first scene to the last, in rows of
    `columns` (by default all in one row); `size` is that of one picture."""
    if count < 1 or (columns is not None and columns < 1):
        raise ConfigError(f"count and columns are 1 or more, given {count} and {columns}")
    listed = _some(scenes)
    count = min(count, len(listed))
    columns = min(columns or count, count)
    chosen = [listed[round(i * (len(listed) - 1) / max(count - 1, 1))] for i in range(count)]
    rows, gap = -(-count // columns), max(2, size[0] // 80)
    wide, high = size[0] + gap, size[1] + gap
    sheet = pygame.Surface((columns * wide - gap, rows * high - gap))
    sheet.fill((255, 255, 255))
    for i, frame in enumerate(frames(chosen, size, **options)):
        picture = pygame.surfarray.make_surface(np.swapaxes(frame, 0, 1))
        sheet.blit(picture, (i % columns * wide, i // columns * high))
    path = _prepared(path)
    pygame.image.save(sheet, str(path))
    return path


def _thinned(given: Iterable[Scene], fps: float | None, most: float) -> tuple[list[Scene], float]:
    """Every k-th scene and the last one, with the smallest k for which there are at most `most` of
    them a second; and how many there are, if all of them would be `fps`."""
    scenes = _some(given)
    fps = scenes[0].env.pace if fps is None else positive("fps", fps)
    k = max(1, math.ceil(fps / most))
    kept = scenes[::k]
    return kept if kept[-1] is scenes[-1] else [*kept, scenes[-1]], fps / k


def _some(given: Iterable[Any]) -> list[Any]:
    listed = list(given)
    if not listed:
        raise ConfigError("there is nothing to export: no scene was given")
    return listed


def _prepared(path: str | Path) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _missing(what: str, package: str, error: ImportError) -> ManyhandsError:
    return ManyhandsError(
        f'writing {what} needs {package} ({error}); install it with: pip install "manyhands[video]"'
    )
