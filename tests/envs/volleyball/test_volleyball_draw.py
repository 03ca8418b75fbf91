"""Pictures of volleyball: what is shown stands where it is, and at every size."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pygame
import pytest

from manyhands.core.env import ConfigError
from manyhands.core.render import render
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.camera import View
from manyhands.envs.volleyball.draw import paint, roomy, speak, tags
from manyhands.envs.volleyball.scene import Frame, Scene
from manyhands.envs.volleyball.state import CAMERAS

ROTORS = np.array([(0.22, -0.13, 0), (-0.2, 0.13, 0), (0.22, 0.13, 0), (-0.2, -0.13, 0)])
FRAME = Frame(ROTORS, racket=0.2, racket_height=0.06, hull=0.15, hull_height=-0.13, ball=0.1)
GREEN, RED = (60, 176, 100), (226, 72, 64)


@pytest.fixture
def scene() -> Scene:
    """One against one; the ball rises over the near half and will come down in the far one."""
    return Scene(
        length=6.0,
        width=3.0,
        net=2.43,
        frame=FRAME,
        position=np.array([(1.5, 0.0, 2.0), (-1.5, 0.4, 2.0)]),
        axes=np.stack([np.eye(3), np.diag([-1.0, -1.0, 1.0])]),
        thrust=np.full((2, 4), 0.6),
        ball=np.array([1.0, 0.2, 3.0]),
        ball_velocity=np.array([-2.0, 0.0, 3.0]),
        names=("near_0", "far_0"),
        sides=(0, 1),
        since=0.3,
        playing=(1,),
        title="one against one",
        status="far to play",
        score=(3, 12),
        serving=1,
    )


def picture(scene: Scene, size: tuple[int, int] = (640, 360)) -> np.ndarray:
    canvas = pygame.Surface(size)
    paint(scene, canvas)
    return pygame.surfarray.array3d(canvas).swapaxes(0, 1)


def near(image: np.ndarray, colour: Any, tolerance: int = 40) -> np.ndarray:
    """bool[height, width]: pixels of about that colour."""
    return np.abs(image.astype(int) - colour).max(-1) <= tolerance


def test_the_ball_comes_down_where_a_free_fall_ends(scene: Scene) -> None:
    path, end = scene.path(4.0)
    time = (3 + np.sqrt(9 + 2 * 9.81 * (3.0 - 0.1))) / 9.81
    assert end == "floor"
    np.testing.assert_allclose(path[-1], [1.0 - 2 * time, 0.2, 0.1], atol=0.15)
    k = 30  # 0.6 s
    np.testing.assert_allclose(path[k], [-0.2, 0.2, 3 + 1.8 - 9.81 * 0.18], atol=1e-9)


def test_the_past_is_the_future_backwards(scene: Scene) -> None:
    for drag in (0.0, 0.05):
        start = dataclasses.replace(scene, frame=dataclasses.replace(FRAME, drag=drag))
        path = start.path(0.4)[0]
        step = 0.02
        velocity = (path[20] - path[19]) / step - np.array([0, 0, 9.81 * step / 2])
        later = dataclasses.replace(start, ball=path[20], ball_velocity=velocity)
        np.testing.assert_allclose(later.path(0.4, past=True)[0], path[::-1], atol=0.03)


def test_air_shortens_the_flight_and_the_net_ends_it(scene: Scene) -> None:
    slow = dataclasses.replace(scene, frame=dataclasses.replace(FRAME, drag=0.05))
    assert slow.path(4.0)[0][-1, 0] > scene.path(4.0)[0][-1, 0] + 0.1
    low = dataclasses.replace(
        scene, ball=np.array([1.0, 0.0, 1.5]), ball_velocity=np.array([-4.0, 0.0, 1.0])
    )
    path, end = low.path(4.0)
    assert end == "net" and abs(path[-1, 0]) < 0.1


def test_the_landing_is_green_inside_and_red_outside(scene: Scene) -> None:
    inside = picture(scene)
    outside = picture(dataclasses.replace(scene, ball_velocity=np.array([-3.9, 0.0, 3.0])))
    assert near(inside, GREEN).sum() > 20 > near(outside, GREEN).sum()
    assert near(outside, RED).sum() > 20 > near(inside, RED).sum()


def test_things_are_where_the_camera_says(scene: Scene) -> None:
    """The ball is yellow at its place, and nowhere once it is elsewhere."""
    for ball in ((1.0, 0.2, 3.0), (-1.0, -0.8, 1.2)):
        here = dataclasses.replace(scene, ball=np.array(ball), since=0.0)
        x, y = View(here, (640, 360)).place(ball)
        patch = picture(here)[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4]
        assert near(patch, (252, 218, 84), 60).any()


def test_who_watches_is_in_front(scene: Scene) -> None:
    """The drone of the side that watches is painted larger, on either side."""
    blue, orange = (58, 124, 214), (238, 130, 38)
    body = dataclasses.replace(scene, score=None, title="", status="", playing=())
    for seen, front, back in ((body, blue, orange), (body.turned(), orange, blue)):
        image = picture(seen)[120:]
        rows = [np.flatnonzero(near(image, colour, 30).any(1)) for colour in (front, back)]
        assert np.ptp(rows[0]) > np.ptp(rows[1])
    assert scene.turned().watched == 1
    np.testing.assert_allclose(scene.turned().turned().position, scene.position)


def test_every_size_can_be_painted_and_is_the_same_again(scene: Scene) -> None:
    for size in ((1, 1), (40, 30), (200, 900), (640, 480), (1280, 720)):
        image = picture(scene, size)
        assert image.shape == (size[1], size[0], 3)
        np.testing.assert_array_equal(image, picture(scene, size))


def test_a_ball_above_the_picture_is_announced(scene: Scene) -> None:
    high = picture(dataclasses.replace(scene, ball=np.array([1.0, 0.0, 30.0])))
    assert near(high[32:60], (252, 218, 84), 20).sum() > 100


def test_drones_speak_where_they_are(scene: Scene) -> None:
    canvas = pygame.Surface((640, 360))
    paint(scene, canvas)
    before = pygame.surfarray.array3d(canvas).swapaxes(0, 1).astype(int)
    speak(scene, canvas, {0: "mine", 1: "  "})
    changed = (pygame.surfarray.array3d(canvas).swapaxes(0, 1) != before).any(-1)
    rows, columns = np.nonzero(changed)
    x, y = View(scene, (640, 360)).place(scene.position[0])
    assert changed.sum() > 200
    assert abs(columns.mean() - x) < 40 and rows.max() < y


def test_tags_make_room_for_each_other():
    frame = pygame.Rect(0, 0, 400, 300)
    taken: list[pygame.Rect] = []
    for i in range(12):
        box = pygame.Rect(180 + 5 * i, 150 - 3 * i, 60, 30)
        found = roomy(box, taken, frame)
        assert found.size == box.size and frame.contains(found) and found.collidelist(taken) < 0
        taken.append(found)
    alone = pygame.Rect(390, -20, 60, 30)
    assert roomy(alone, [], frame) == alone.clamp(frame)
    crammed = roomy(alone, [frame], frame)
    assert crammed == alone.clamp(frame)


@pytest.mark.parametrize("size", [(640, 360), (320, 240), (240, 180), (200, 150)])
def test_words_of_the_header_leave_the_score_alone(scene: Scene, size: tuple[int, int]) -> None:
    bare = dataclasses.replace(scene, title="", status="")
    blank = picture(dataclasses.replace(bare, score=None), size)
    high = View(scene, size).key.header

    def changed(one: np.ndarray, other: np.ndarray) -> set[int]:
        return set(np.flatnonzero((one[:high] != other[:high]).any((0, 2))))

    score = changed(picture(bare, size), blank)
    words = dataclasses.replace(
        scene, title="three against three, 12.0 s", status="far to play " * 6
    )
    written = changed(picture(words, size), picture(bare, size))
    assert score and not written & set(range(min(score), max(score) + 1))
    assert written or size[0] < 240


def test_tags_leave_crowded_drones_in_view(scene: Scene) -> None:
    places = [(0.6, -0.5, 2.4), (0.7, 0.4, 2.5), (1.6, 0, 2.2)]
    crowd = dataclasses.replace(
        scene,
        length=12.0,
        width=6.0,
        position=np.array([*places, *((-x, y, z) for x, y, z in places)]),
        axes=np.stack([np.eye(3)] * 6),
        thrust=np.full((6, 4), 0.6),
        names=[f"{team}_{i}" for team in ("near", "far") for i in range(3)],
        sides=(0, 0, 0, 1, 1, 1),
        playing=(),
        labels=["go to (1, 0, 2)"] * 6,
    )
    for size in ((640, 480), (320, 240)):
        bare = picture(dataclasses.replace(crowd, names=[""] * 6, labels=()), size)
        same = (picture(crowd, size) == bare).all(-1)
        assert not same.all()
        for place in crowd.position:
            x, y = (round(v) for v in View(crowd, size).place(place))
            # At most the line that ties a tag to its drone.
            assert same[y - 1 : y + 2, x - 1 : x + 2].mean() > 0.5


@pytest.mark.parametrize("camera", CAMERAS)
@pytest.mark.parametrize("size", [(800, 540), (640, 480)])
def test_tags_of_twelve_drones_at_the_net_keep_apart(scene: Scene, camera: str, size: Any) -> None:
    near_side = [(0.5 + 0.45 * (i % 2), 0.77 * (i - 2.5), 2.3 + 0.3 * (i % 3)) for i in range(6)]
    crowd = dataclasses.replace(
        scene,
        length=18.0,
        width=9.0,
        position=np.array([*near_side, *((-x, y, z) for x, y, z in near_side)]),
        axes=np.stack([np.eye(3)] * 12),
        thrust=np.full((12, 4), 0.6),
        names=[f"{team}_{i}" for team in ("near", "far") for i in range(6)],
        sides=(0,) * 6 + (1,) * 6,
        playing=(),
        labels=["go to (1.0, 0.0, 2.0)"] * 12,
        camera=camera,
    )
    view = View(crowd, size)
    found = tags(crowd, view)
    boxes = [tag.box for tag in found] + [tag.body for tag in found]
    assert len(found) == 12 and pygame.Rect((0, 0), size).contains(boxes[0].unionall(boxes[:12]))
    for i, tag in enumerate(found):
        others = [box for k, box in enumerate(boxes) if k != i]
        assert tag.box.collidelist(others) < 0
    # Each team's tags are on its own side of the crowd.
    own, other = (
        np.mean([tag.box.center for tag in found if tag.colour[2] > tag.colour[0]] if blue else
                [tag.box.center for tag in found if tag.colour[2] < tag.colour[0]], axis=0)
        for blue in (True, False)
    )  # fmt: skip
    axis = 1 if camera == "behind" else 0
    assert own[1] > other[1] if axis else own[0] < other[0]


def test_the_side_camera_shows_heights_and_the_net_edge_on(scene: Scene) -> None:
    side = dataclasses.replace(scene, camera="side")
    view = View(side, (640, 360))
    low, high = view.place((0, 0, 0)), view.place((0, 0, side.net))
    assert abs(low[0] - high[0]) < 1e-6 and low[1] > high[1]
    assert view.place((1.5, 0, 2))[0] < low[0] < view.place((-1.5, 0, 2))[0]  # watchers: left
    assert (picture(side) != picture(scene)).any()
    np.testing.assert_array_equal(picture(side), picture(side))
    x, y = view.place(side.ball)
    assert near(picture(side)[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4],
                (252, 218, 84), 60).any()  # fmt: skip


def test_cameras_are_known_by_name() -> None:
    env = Volleyball("1v1")
    state = env.place()
    frames = []
    for camera in ("", *env.cameras):
        canvas = pygame.Surface((320, 240))
        env.draw(state, canvas, None, camera)
        frames.append(pygame.surfarray.array3d(canvas))
    np.testing.assert_array_equal(frames[0], frames[1])
    assert env.cameras == CAMERAS and (frames[1] != frames[2]).any()
    with pytest.raises(ConfigError, match="behind or side"):
        env.draw(state, pygame.Surface((320, 240)), None, "above")
    side = render(env, state, size=(320, 240), camera="side")
    np.testing.assert_array_equal(side, frames[2].swapaxes(0, 1))
    with pytest.raises(ConfigError, match=r"'sides'.*\"side\""):
        render(env, state, camera="sides")
