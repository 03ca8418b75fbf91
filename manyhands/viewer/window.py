"""Windows: `Replay` shows a recorded episode, `Watch` a live one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

import pygame

from manyhands.core.config import positive
from manyhands.core.env import ConfigError, ManyhandsError
from manyhands.core.episode import Moment
from manyhands.core.render import write
from manyhands.viewer.scenes import DARK, FADED, INK, LIT, PAPER, Scene, Teller, paint

SIZE = (1100, 640)  # pixels; all windows can be resized
SPEEDS = (0.5, 1, 2, 4, 6, 10, 15, 25, 50, 100)  # scenes per second
HELP = (
    "space play/pause   left/right step   home/end   +/- speed   tab seat   v its view   "
    "wheel scroll   q quit"
)
_CAMERA_HELP = "c camera   "  # where there are several
_WATCH_HELP = "space play/pause   +/- speed   tab seat   v its view   wheel scroll   q quit"
_FRAMES_PER_SECOND = 30  # of a window, whatever it shows


def open_window(size: tuple[int, int], title: str) -> None:
    """Open the window, or raise a `ManyhandsError` where there is no display."""
    try:
        _init_display()
        pygame.display.set_mode(size, pygame.RESIZABLE)
    except pygame.error as error:
        raise ManyhandsError(
            f"no window can be opened here ({error}); on a machine without a display, write a "
            "file instead: `manyhands export`, or `--headless`"
        ) from error
    pygame.display.set_caption(title)


def _init_display() -> None:
    """Find a screen; raises `pygame.error` where there is none."""
    pygame.display.init()
    # SDL's invisible fallback if it finds no screen.
    unseen = pygame.display.get_driver() == "offscreen"
    if unseen and "offscreen" not in os.environ.get("SDL_VIDEODRIVER", ""):
        pygame.display.quit()
        raise pygame.error("no screen was found")


def has_display() -> bool:
    """Whether a window could be opened here."""
    if pygame.display.get_init():
        return True
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    if sys.platform.startswith("linux") and not any(map(os.environ.get, screens)):
        return False  # SDL would complain on the terminal
    try:
        _init_display()
    except pygame.error:
        return False
    pygame.display.quit()
    return True


def screen() -> pygame.Surface:
    """The surface of the open window."""
    surface = pygame.display.get_surface()
    assert surface is not None, "open_window comes first"
    return surface


class Replay:
    """The window of a recorded episode: `Replay(scenes).run()`.

    Attributes:
        index: the current scene.
        playing: whether playback runs.
        speed: scenes per second, by default the environment's pace.
        seat: the agent whose texts are shown.
        own_view: whether the picture shows that agent's view, too.
        camera: number of the camera for the full view, where the environment has several.
        closed: whether the window was closed.
    """

    def __init__(
        self,
        scenes: Sequence[Scene],
        *,
        size: tuple[int, int] = SIZE,
        speed: float | None = None,
        title: str = "Manyhands",
        help: str = HELP,
    ):
        if not scenes:
            raise ConfigError("there is nothing to replay: no scene was given")
        self.scenes, self.title, self.help = scenes, title, help
        self.speed = scenes[0].env.pace if speed is None else positive("speed", speed)
        self.index, self.seat, self.scroll = 0, 0, 0
        self.playing, self.own_view, self.closed = True, False, False
        self.camera = 0
        self._size = size
        self._clock = 0.0  # scenes since the last change of `index`
        self._dragging = False
        self._more = 0  # lines that the text can still be scrolled

    def run(self) -> None:
        """Show the window until it is closed."""
        open_window(self._size, self.title)
        clock = pygame.time.Clock()
        try:
            while not self.closed:
                for event in pygame.event.get():
                    self.handle(event)
                self.paint(screen())
                pygame.display.flip()
                self.advance(clock.tick(_FRAMES_PER_SECOND) / 1000)
        finally:
            pygame.display.quit()

    def go(self, index: int) -> None:
        """Show a scene; the first or last one if the index is out of range."""
        self.index = min(max(index, 0), len(self.scenes) - 1)
        self._clock, self.scroll = 0.0, 0

    def advance(self, seconds: float) -> None:
        """Advance playback."""
        if not self.playing:
            return
        self._clock += seconds * self.speed
        steps = int(self._clock)
        if steps:
            rest = self._clock - steps
            self.go(self.index + steps)
            self._clock = rest
        if self.index == len(self.scenes) - 1:
            self.playing = False

    def handle(self, event: pygame.event.Event) -> None:
        """Handle a key or the mouse."""
        if event.type == pygame.QUIT:
            self.closed = True
        elif event.type == pygame.KEYDOWN:
            self._key(event.key, getattr(event, "unicode", ""))
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._dragging = self._track().inflate(0, 16).collidepoint(event.pos)
            self._drag(event.pos[0])
        elif event.type == pygame.MOUSEMOTION:
            self._drag(event.pos[0])
        elif event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            self._dragging = False
        elif event.type == pygame.MOUSEWHEEL:
            self.scroll = max(0, self.scroll + min(-event.y, self._more))

    def _key(self, key: int, letter: str) -> None:
        if key in (pygame.K_q, pygame.K_ESCAPE):
            self.closed = True
        elif key == pygame.K_SPACE:
            if self.index == len(self.scenes) - 1 and not self.playing:
                self.go(0)
            self.playing = not self.playing
        elif key in (pygame.K_LEFT, pygame.K_RIGHT, pygame.K_HOME, pygame.K_END):
            self.playing = False
            step = {pygame.K_LEFT: self.index - 1, pygame.K_RIGHT: self.index + 1, pygame.K_HOME: 0}
            self.go(step.get(key, len(self.scenes) - 1))
        elif key == pygame.K_TAB:
            self.seat = (self.seat + 1) % self.scenes[self.index].env.num_agents
            self.scroll = 0
        elif key == pygame.K_v:
            self.own_view = not self.own_view
        elif key == pygame.K_c:
            self.camera += 1
        elif letter in ("+", "=") or key in (pygame.K_PLUS, pygame.K_KP_PLUS):
            self.speed = next((s for s in SPEEDS if s > self.speed), SPEEDS[-1])
        elif letter in ("-", "_") or key in (pygame.K_MINUS, pygame.K_KP_MINUS):
            self.speed = next((s for s in reversed(SPEEDS) if s < self.speed), SPEEDS[0])

    def _track(self) -> pygame.Rect:
        """Where the bar is."""
        width, height = self._size
        return pygame.Rect(16, height - 44, width - 32, 10)

    def _drag(self, x: int) -> None:
        if self._dragging:
            track = self._track()
            share = (x - track.x) / max(track.width, 1)
            self.playing = False
            self.go(round(share * (len(self.scenes) - 1)))

    def paint(self, canvas: pygame.Surface) -> None:
        """Paint the whole window."""
        self._size = canvas.get_size()
        scene, track = self.scenes[self.index], self._track()
        canvas.fill(DARK)
        room = canvas.subsurface((0, 0, canvas.get_width(), max(track.y - 10, 1)))
        views = scene.env.cameras
        self._more = paint(
            scene,
            room,
            agent=self.seat if self.own_view else None,
            camera=views[self.camera % len(views)] if views else "",
            panel=True,
            seat=self.seat,
            scroll=self.scroll,
        )
        if len(self.scenes) > 1:
            pygame.draw.rect(canvas, INK, track, border_radius=5)
            share = self.index / (len(self.scenes) - 1)
            done = pygame.Rect(track.x, track.y, round(track.width * share), track.height)
            pygame.draw.rect(canvas, LIT, done, border_radius=5)
            pygame.draw.circle(canvas, PAPER, (done.right, track.centery), 8)
        state = "playing" if self.playing else "paused"
        place = f"{state}, step {scene.step}, {self.speed:g} per second"
        label = write(place, 13, PAPER)
        canvas.blit(label, (16, track.bottom + 8))
        help_line = write(_CAMERA_HELP * bool(views) + self.help, 13, FADED)
        canvas.blit(help_line, help_line.get_rect(topright=(track.right, track.bottom + 8)))


class Watch:
    """A window on episodes that are being played: `play(..., on_step=Watch())`. It shows one
    episode at a time, until that ends. Without a display it does nothing.

    Keys: space pauses, + and - change the pace, tab changes the seat, q closes the window, and the
    play continues without it.

    Attributes:
        speed: steps per second, by default the environment's pace.
    """

    def __init__(self, *, speed: float | None = None, size: tuple[int, int] = SIZE):
        self.speed = None if speed is None else positive("speed", speed)
        self._size = size
        self._last: Moment | None = None
        self._teller = Teller()
        self._window: Replay | None = None
        self._closed = False

    def __call__(self, moment: Moment) -> None:
        """Show what led to this moment."""
        if self._closed or (self._last is not None and moment.episode != self._last.episode):
            return
        if self._last is None:
            self._teller = Teller()
        elif moment.turn is not None:
            self._show(self._teller.scene(self._last, moment.turn), moment.episode)
        if moment.over and not self._closed:
            self._show(self._teller.scene(moment, None), moment.episode)
        self._last = None if moment.over else moment

    def _show(self, scene: Scene, episode: int) -> None:
        if self._window is None:
            try:
                open_window(self._size, "Manyhands")
            except ManyhandsError:
                self._closed = True
                return
            self._window = Replay([scene], speed=self.speed, help=_WATCH_HELP)
        window = self._window
        window.scenes = [scene]
        pygame.display.set_caption(f"Manyhands: episode {episode}")
        window.playing = True
        until = time.monotonic() + 1 / window.speed
        while not window.closed and (not window.playing or time.monotonic() < until):
            for event in pygame.event.get():
                window.handle(event)
            window.paint(screen())
            pygame.display.flip()
            rest = until - time.monotonic() if window.playing else 1.0
            time.sleep(min(max(rest, 0.0), 1 / _FRAMES_PER_SECOND))
        if window.closed:
            self.close()

    def close(self) -> None:
        """Close the window; later steps are not shown."""
        if self._window is not None:
            pygame.display.quit()
        self._window, self._closed = None, True
