"""Replay windows, live watching and exported files, all without a display."""

import builtins
from types import SimpleNamespace

import imageio.v3 as iio
import numpy as np
import pygame
import pytest
from PIL import Image

import manyhands
from manyhands.core.env import ConfigError, ManyhandsError, Wrapper
from manyhands.core.play import play
from manyhands.core.record import frames as moments_of
from manyhands.core.record import read
from manyhands.core.view import Reply
from manyhands.envs.kitchen.env import Kitchen
from manyhands.viewer.export import export_gif, export_mp4, export_strip, frames
from manyhands.viewer.scenes import Scene, lay_out, paint, scenes
from manyhands.viewer.window import Replay, Watch, open_window

STEPS = 12


def talker(view):
    """Walks about in words, and says so every fourth step."""
    choice = view.choices[view.step % 4]
    return Reply(choice, say=f"step {view.step}" if view.step % 4 == 0 else None)


@pytest.fixture(scope="module")
def episode():
    moments = []
    play(Kitchen(view_radius=1), ["random", talker], max_steps=STEPS, on_step=moments.append)
    return list(scenes(moments))


@pytest.fixture
def replay(episode):
    return Replay(episode)


def key(code, letter=""):
    return pygame.event.Event(pygame.KEYDOWN, key=code, unicode=letter)


def pixels(painter):
    canvas = pygame.Surface((1000, 560))
    painter(canvas)
    return pygame.surfarray.array3d(canvas)


# ---- scenes --------------------------------------------------------------------------------------


def test_scenes_tell_what_was_seen_and_said(episode):
    assert [scene.step for scene in episode] == list(range(STEPS + 1))
    first, second, last = episode[0], episode[1], episode[-1]
    assert first.seats == ("random", "talker")
    assert first.saw(1) == first.env.describe(first.state, 1)
    assert first.said[1].startswith("north") and first.said[1].endswith("says: step 0")
    assert first.said[0] in first.env.choices(first.state, 0)
    assert (first.bubbles, second.bubbles) == ({}, {1: "step 0"})
    assert last.said == ()


def test_episodes_do_not_share_bubbles():
    moments = []
    play(Kitchen(), ["random", talker], 2, max_steps=1, on_step=moments.append, concurrency=1)
    told = list(scenes(moments))
    assert [scene.step for scene in told] == [0, 1, 0, 1]
    assert [bool(scene.bubbles) for scene in told] == [False, True, False, True]


def test_phrases_of_a_channel_are_shown_as_speech():
    moments = []
    env = manyhands.make("chat", env=Kitchen(max_steps=4))
    speakers = [lambda view: np.array([4, 2 * (view.step == 1)]), lambda view: "stay; say: hello"]
    play(env, speakers, on_step=moments.append, progress=False)
    told = list(scenes(moments))
    assert [scene.bubbles.get(0) for scene in told] == [None, None, *["tomato please"] * 3]
    assert told[1].bubbles == {1: "hello"}


def test_maps_keep_their_columns_and_prose_is_wrapped():
    text = "You are in a kitchen with a very long description.\n  012\n0 XPX\n1 O@O\n\nbye now"
    lines = lay_out(text, 14, 150)
    assert [line.text for line in lines if line.fixed] == ["  012", "0 XPX", "1 O@O"]
    prose = [line.text for line in lines if not line.fixed]
    assert len(prose) > 4 and " ".join(" ".join(prose).split()) == (
        "You are in a kitchen with a very long description. bye now"
    )


def test_speech_goes_where_the_innermost_environment_puts_it(episode, monkeypatch):
    class Speaking(Kitchen):
        def draw_speech(self, state, canvas, texts, agent=None, camera=""):
            drawn.append((state, dict(texts), agent))
            return True

    class Holding(Wrapper):
        id = "test-holding"

        def inner(self, state):
            return state.inner

    drawn = []
    state = episode[0].state
    wrapped = SimpleNamespace(inner=SimpleNamespace(inner=state))
    env = Holding(Holding(Speaking()))
    paint(Scene(env, wrapped, bubbles={1: "hello"}), pygame.Surface((300, 200)), agent=0)
    assert drawn == [(state, {1: "hello"}, 0)]
    # Where the environment does not draw it, the words stand at the foot of the picture.
    monkeypatch.delattr("manyhands.envs.kitchen.draw.bubbles")
    loud, quiet = (Scene(Kitchen(), state, bubbles=b) for b in ({0: "hello"}, {}))
    one, two = (next(frames([scene], (300, 200))) for scene in (loud, quiet))
    assert (one[-20:] != two[-20:]).any() and (one[:100] == two[:100]).all()


def test_a_long_text_can_be_scrolled(episode):
    class Wordy(Kitchen):
        def describe(self, state, agent):
            return "\n".join(f"line number {i}" for i in range(200))

    scene = Scene(Wordy(), episode[0].state)
    canvas = pygame.Surface((1000, 560))
    more = paint(scene, canvas, panel=True)
    top = pygame.surfarray.array3d(canvas)
    assert more > 100
    assert paint(scene, canvas, panel=True, scroll=more) == 0
    assert (pygame.surfarray.array3d(canvas) != top).any()


# ---- the replay window ---------------------------------------------------------------------------


def test_keys_step_and_play(replay):
    replay.handle(key(pygame.K_RIGHT))
    replay.handle(key(pygame.K_RIGHT))
    replay.handle(key(pygame.K_LEFT))
    assert (replay.index, replay.playing) == (1, False)
    replay.advance(10)
    assert replay.index == 1
    replay.handle(key(pygame.K_END))
    assert replay.index == STEPS
    replay.handle(key(pygame.K_RIGHT))
    assert replay.index == STEPS
    replay.handle(key(pygame.K_SPACE))  # at the end: from the start
    assert (replay.index, replay.playing) == (0, True)
    replay.handle(key(pygame.K_HOME))
    assert (replay.index, replay.playing, replay.closed) == (0, False, False)
    replay.handle(key(pygame.K_q))
    assert replay.closed


def test_time_runs_at_the_speed_and_stops_at_the_end(replay):
    assert replay.speed == replay.scenes[0].env.pace == 6
    replay.advance(0.1)
    assert replay.index == 0
    replay.advance(0.1)
    assert replay.index == 1
    replay.handle(key(pygame.K_EQUALS, "+"))
    assert replay.speed == 10
    replay.advance(0.2)
    assert replay.index == 3
    for _ in range(9):
        replay.handle(key(pygame.K_MINUS, "-"))
    assert replay.speed == 0.5
    replay.advance(1000)
    assert (replay.index, replay.playing) == (STEPS, False)


def test_the_bar_scrubs(replay):
    pixels(replay.paint)
    track = replay._track()
    button = {"button": 1}
    replay.handle(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=track.center, **button))
    assert replay.index == STEPS // 2
    replay.handle(pygame.event.Event(pygame.MOUSEMOTION, pos=(track.right + 99, 0)))
    assert replay.index == STEPS
    replay.handle(pygame.event.Event(pygame.MOUSEBUTTONUP, pos=track.center, **button))
    replay.handle(pygame.event.Event(pygame.MOUSEMOTION, pos=track.midleft))
    assert replay.index == STEPS
    replay.handle(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(track.x, 20), **button))
    assert replay.index == STEPS, "a click on the picture is no scrubbing"


def test_tab_shows_the_other_seat_and_v_its_view(replay):
    seen = [pixels(replay.paint)]
    for event in (key(pygame.K_TAB), key(pygame.K_v), key(pygame.K_TAB)):
        replay.handle(event)
        seen.append(pixels(replay.paint))
    assert len({image.tobytes() for image in seen}) == 4
    left = [image[:500] for image in seen]
    np.testing.assert_array_equal(left[0], left[1])  # only the panel is another
    assert (left[1] != left[2]).any() and (left[2] != left[3]).any()


def test_run_opens_the_window_and_obeys_posted_keys(replay):
    pygame.display.init()
    for event in (key(pygame.K_RIGHT), key(pygame.K_RIGHT), key(pygame.K_ESCAPE)):
        pygame.event.post(event)
    replay.run()
    assert replay.index == 2 and replay.closed
    assert not pygame.display.get_init()


def test_nothing_to_show():
    with pytest.raises(ConfigError, match="no scene"):
        Replay([])
    with pytest.raises(ConfigError, match="no scene"):
        export_gif([], "never.gif")


@pytest.mark.parametrize("driver", ["nowhere", "offscreen"])
def test_no_display_is_said_clearly(monkeypatch, driver):
    if driver == "offscreen":  # what SDL takes by itself where it finds no screen
        monkeypatch.setattr(pygame.display, "get_driver", lambda: driver)
    else:
        monkeypatch.setenv("SDL_VIDEODRIVER", driver)
    with pytest.raises(ManyhandsError, match="manyhands export"):
        open_window((100, 100), "never")
    assert not pygame.display.get_init()


# ---- live ----------------------------------------------------------------------------------------


def test_watch_shows_steps_and_can_be_closed(monkeypatch):
    shown = []
    monkeypatch.setattr(
        Replay, "paint", lambda self, canvas: shown.append((self.scenes[0].step, self.seat))
    )
    watch = Watch(speed=1000)
    result = play(Kitchen(), ["random", talker], max_steps=3, on_step=watch)
    assert [step for step, _ in shown] == [0, 1, 2, 3]
    for event in (key(pygame.K_TAB), key(pygame.K_q)):
        pygame.event.post(event)
    result = play(Kitchen(), ["random", talker], max_steps=3, on_step=watch)
    assert result.episodes[0].steps == 3
    assert shown[4:] == [(0, 1)]
    watch.close()
    assert not pygame.display.get_init()


def test_watch_shows_one_episode_at_a_time(monkeypatch):
    shown = []
    watch = Watch()
    monkeypatch.setattr(watch, "_show", lambda scene, episode: shown.append((episode, scene.step)))
    play(Kitchen(), ["random", talker], 3, max_steps=2, on_step=watch, concurrency=2)
    assert shown[:3] == [(0, 0), (0, 1), (0, 2)]


def test_watch_does_nothing_without_a_display(monkeypatch):
    def no_window(size, title):
        raise ManyhandsError("no screen")

    monkeypatch.setattr("manyhands.viewer.window.open_window", no_window)
    result = play(Kitchen(), ["random", talker], max_steps=3, on_step=Watch())
    assert result.episodes[0].steps == 3


# ---- files ---------------------------------------------------------------------------------------


def test_gif(tmp_path, episode):
    path = export_gif(episode, tmp_path / "new" / "a.gif", fps=5, size=(240, 180))
    with Image.open(path) as image:
        assert (image.n_frames, image.size, image.info["loop"]) == (STEPS + 1, (240, 180), 0)
        assert image.info["duration"] == 200
        image.seek(7)
        shown = np.asarray(image.convert("RGB")).astype(int)
    right = list(frames(episode, (240, 180)))[7].astype(int)
    assert abs(shown - right).mean() < 4, "a frame of the file is not the scene's picture"


@pytest.mark.parametrize("fps", (0, -3, float("nan"), float("inf"), "4"))
def test_a_pace_that_is_none(tmp_path, episode, fps):
    for export in (export_gif, export_mp4):
        with pytest.raises(ConfigError, match="above 0"):
            export(episode, tmp_path / "a.film", fps=fps)
    for window in (lambda: Replay(episode, speed=fps), lambda: Watch(speed=fps)):
        with pytest.raises(ConfigError, match="above 0"):
            window()
    assert not list(tmp_path.iterdir())


def test_gif_of_a_hundred_frames_is_small(tmp_path):
    moments = []
    play(Kitchen(), ["random", talker], max_steps=99, on_step=moments.append)
    assert export_gif(scenes(moments), tmp_path / "a.gif").stat().st_size < 1_500_000


@pytest.mark.filterwarnings("ignore:os.fork")  # the reader below starts ffmpeg
def test_mp4(tmp_path, episode):
    path = export_mp4(episode, tmp_path / "a.mp4", size=(241, 180), panel=True)
    film = iio.imread(path, plugin="FFMPEG")
    assert film.shape == (STEPS + 1, 180, 242, 3)
    right = list(frames(episode, (242, 180), panel=True))[5].astype(int)
    assert abs(film[5].astype(int) - right).mean() < 8


def test_strip(tmp_path, episode):
    path = export_strip(episode, tmp_path / "a.png", count=3, columns=2, size=(160, 120))
    with Image.open(path) as image:
        assert image.size == (2 * 160 + 2, 2 * 120 + 2)
        sheet = np.asarray(image.convert("RGB"))
    first, *_, last = frames(episode, (160, 120))
    np.testing.assert_array_equal(sheet[:120, :160], first)
    np.testing.assert_array_equal(sheet[122:, :160], last)
    with pytest.raises(ConfigError, match="count"):
        export_strip(episode, tmp_path / "b.png", count=0)


@pytest.mark.parametrize(
    ("export", "module"), [(export_gif, "PIL"), (export_mp4, "imageio_ffmpeg")]
)
def test_a_missing_extra_is_named(tmp_path, episode, monkeypatch, export, module):
    find = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == module:
            raise ImportError(f"No module named {module!r}")
        return find(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ManyhandsError, match=r'pip install "manyhands\[video\]"'):
        export(episode, tmp_path / "a")


# ---- records -------------------------------------------------------------------------------------


def test_a_record_is_shown_as_it_was_played(tmp_path):
    live = []
    play(
        Kitchen(),
        ["random", talker],
        max_steps=6,
        on_step=live.append,
        record=tmp_path / "a.jsonl",
    )
    (recorded,) = read(tmp_path / "a.jsonl")
    told, again = list(scenes(live)), list(scenes(moments_of(recorded)))
    assert [s.said for s in again] == [s.said for s in told]
    assert [s.bubbles for s in again] == [s.bubbles for s in told]
    for one, two in zip(frames(told, panel=True), frames(again, panel=True), strict=True):
        np.testing.assert_array_equal(one, two)
