"""The pictures of CraftWorld: everything shows, nothing hidden leaks, any size works; the `pixels`
observation, and the keys of a person."""

import dataclasses
from types import SimpleNamespace

import jax
import numpy as np
import pygame
import pytest

from manyhands.core.env import ConfigError, episode_key
from manyhands.core.render import render
from manyhands.envs.craftworld import CraftWorld, draw, sprites, tasks, words
from manyhands.envs.craftworld import rules as rl
from manyhands.viewer.export import frames
from manyhands.viewer.human import Human, bind
from manyhands.viewer.scenes import Scene
from manyhands.viewer.window import Replay

SIZE = (640, 480)
MAP = "\n".join(["." * 15] * 6 + [".......01......"] + ["." * 15] * 6)


@pytest.fixture(scope="module")
def env() -> CraftWorld:
    return CraftWorld(map=MAP, observation="pixels")


@pytest.fixture(scope="module")
def start(env):
    return jax.device_get(env.reset(episode_key(0)))


@pytest.fixture(scope="module")
def pixels(env):
    return jax.jit(env.observe)


def put(values, index, value):
    values = np.array(values)
    values[index] = value
    return values


def with_ground(state, code, row=4, column=6):
    return dataclasses.replace(state, map=put(state.map, (row, column), code))


def with_creature(state, kind, heading=0, row=4, column=6):
    slots = np.flatnonzero(state.kind == 0)
    return dataclasses.replace(
        state,
        kind=put(state.kind, slots[0], kind),
        place=put(state.place, slots[0], (row, column)),
        heading=put(state.heading, slots[0], heading),
    )


# ---- sprites -------------------------------------------------------------------------------------


def test_every_name_has_a_picture_of_its_own():
    for table, names, holes in (
        (sprites.materials(), rl.MATERIALS, False),
        (sprites.icons(), (*rl.VITALS, *rl.ITEMS), True),
    ):
        seen = set()
        for name in names:
            picture = table[name]
            assert picture.shape == (14, 14, 4) and picture.dtype == np.uint8
            assert (picture[..., 3] == 0).any() == holes
            assert sprites.half(picture).shape == (7, 7, 4)
            seen |= {(picture.tobytes(), sprites.half(picture).tobytes())}
        assert len({half for _, half in seen}) == len(names)
    poses = (*rl.FACINGS, "asleep", "downed")
    players = [sprites.half(sprites.player(i)[pose]).tobytes() for i in range(8) for pose in poses]
    assert len(set(players)) == 8 * len(poses)
    arrows = {sprites.body(rl.ARROW, way).tobytes() for way in range(4)}
    assert len(arrows) == 4


def test_an_arrow_flies_where_its_head_is():
    for way, (rows, columns) in enumerate(rl.DELTAS):
        picture = sprites.body(rl.ARROW, way)[..., :3].astype(int)
        head = np.argwhere((picture == sprites.PALETTE["l"]).all(-1)).mean(0) - 6.5
        assert head @ (rows, columns) > 3


def test_half_a_picture_keeps_colours_and_holes():
    picture = np.zeros((14, 14, 4), np.uint8)
    picture[:2, :2] = 100, 50, 200, 255
    picture[0, 2] = 9, 9, 9, 255  # a quarter of its block
    small = sprites.half(picture)
    assert small[0, 0].tolist() == [100, 50, 200, 255]
    assert not small[0, 1].any() and not small[1:].any()


# ---- what a player sees --------------------------------------------------------------------------


def test_same_state_same_pixels(env, start):
    one = render(env, start, 0, SIZE)
    draw._icon.cache_clear()
    np.testing.assert_array_equal(one, render(env, start, 0, SIZE))


def test_all_that_is_in_view_shows_and_looks_different(env, start):
    changes = [with_ground(start, code) for code in rl.CORE[1:] if code != rl.GRASS]
    changes += [with_creature(start, kind) for kind in (rl.ZOMBIE, rl.SKELETON, rl.COW)]
    changes += [with_creature(start, rl.ARROW, way) for way in range(4)]
    pictures = {render(env, state, 0, SIZE).tobytes() for state in (start, *changes)}
    assert len(pictures) == 1 + len(changes)


@pytest.mark.parametrize(
    "part", ["facing", "asleep", "inventory", "vitals", "achievements", "request", "clock"]
)
def test_own_facts_show(env, start, part):
    value = getattr(start, part)
    new = (
        np.int32(170) if part == "clock" else put(value, 0, ~value[0] if value.dtype == bool else 1)
    )
    state = dataclasses.replace(start, **{part: new})
    agent = 1 if part == "request" else 0  # the other one sees it
    if part == "request":
        state = dataclasses.replace(state, request_left=put(state.request_left, 0, 5))
    assert (render(env, start, agent, SIZE) != render(env, state, agent, SIZE)).any()


def test_nothing_out_of_view_leaks(env, start):
    before = render(env, start, 0, SIZE)
    hidden = with_creature(with_ground(start, rl.DIAMOND, 0, 0), rl.COW, 0, 12, 14)
    hidden = dataclasses.replace(hidden, inventory=put(start.inventory, 1, 5))
    np.testing.assert_array_equal(before, render(env, hidden, 0, SIZE))
    assert (render(env, start, None, SIZE) != render(env, hidden, None, SIZE)).any()


def test_a_player_out_of_sight_is_pointed_at(env, start):
    there = [dataclasses.replace(start, position=np.uint8([[6, 7], at])) for at in
             ((0, 7), (12, 7), (6, 0), (6, 14))]  # fmt: skip
    looks = [render(env, state, 0, SIZE) for state in there]
    assert len({look[:390, :500].tobytes() for look in looks}) == 4


@pytest.mark.parametrize(
    "size", [(640, 480), (1280, 720), (300, 300), (126, 154), (60, 40), (9, 7)]
)
def test_any_size_and_camera(env, start, size):
    for agent, camera in ((0, "map"), (None, "map"), (None, "player_1")):
        canvas = pygame.Surface(size)
        env.draw(start, canvas, agent, camera)
        env.draw_speech(start, canvas, {0: "hello", 1: "what shall we do now? " * 9}, agent, camera)
        assert pygame.surfarray.array3d(canvas)[:: max(size[0] // 60, 1)].std() > 3


@pytest.mark.parametrize("size", [(720, 480), (640, 640), (1280, 720)])
@pytest.mark.parametrize("side", [16, 24, 40])
def test_the_map_fills_the_picture(size, side):
    """The camera "map" enlarges the world until it touches two edges of its part of the canvas."""
    world = CraftWorld(map="\n".join(["0".ljust(side, ".")] + ["." * side] * (side - 1)))
    state = jax.device_get(world.reset(episode_key(0)))
    canvas = pygame.Surface(size)
    world.draw(state, canvas)
    shown = np.any(pygame.surfarray.array3d(canvas) != draw.BACKGROUND, axis=2)
    columns = min(size[0] - min(260, max(150, size[0] - size[1])), size[1])  # beside the panel
    assert shown[:columns].any(0).sum() > columns - side


def test_it_is_dark_at_night_but_for_fires(env, start):
    night = dataclasses.replace(start, clock=np.int32(210))
    fire = with_ground(night, rl.FURNACE)
    means = [
        draw.compose(draw._true_piece(env, state, [], (3, 5), 3, 3)).mean()
        for state in (start, night, fire)
    ]
    assert means[0] > 1.5 * means[1] and means[2] > 1.5 * means[1]


def test_a_plan_is_drawn_where_it_is_to_be_built(env, start):
    goal = tasks.parse_goal("build SSS/S_S/SSS", 2).row()
    states = [dataclasses.replace(start, site=np.uint8([4, 8])) for _ in range(2)]
    states[1] = dataclasses.replace(states[1], goal=goal)
    for agent in (0, 1, None):
        one, two = (render(env, state, agent, SIZE)[:, :450] for state in states)
        changed = np.argwhere((one != two).any(2))
        assert len(changed)
        high, wide = changed.max(0) - changed.min(0)
        assert abs(high - wide) <= 2


def test_bubbles_are_at_their_speakers(env, start):
    plain, said = pygame.Surface(SIZE), pygame.Surface(SIZE)
    for canvas in (plain, said):
        env.draw(start, canvas)
    env.draw_speech(start, said, {1: "I found iron", 0: "  "})
    differs = (pygame.surfarray.array3d(plain) != pygame.surfarray.array3d(said)).any(2)
    assert differs.any() and np.argwhere(differs)[:, 0].max() < 480


def test_the_viewer_offers_the_cameras(env, start):
    scene = Scene(env, start)
    assert env.cameras == ("map", "player_0", "player_1")
    looks = {next(frames([scene], SIZE, camera=camera)).tobytes() for camera in ("", *env.cameras)}
    assert len(looks) == 3  # "map" is the usual one
    with pytest.raises(ConfigError, match="there are map, player_0, player_1"):
        next(frames([scene], SIZE, camera="player_7"))
    with pytest.raises(ConfigError, match="map, player_0 or player_1, given 'player_7'"):
        env.draw(start, pygame.Surface(SIZE), None, "player_7")
    window, canvas = Replay([scene], size=SIZE), pygame.Surface(SIZE)
    shown = []
    for _ in range(4):
        window.paint(canvas)
        shown.append(pygame.image.tobytes(canvas, "RGB"))
        window.handle(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_c))
    assert shown[3] == shown[0] and len(set(shown)) == 3


# ---- pixels --------------------------------------------------------------------------------------


def test_pixels_show_the_view_and_the_inventory(env, start, pixels):
    day = dataclasses.replace(start, clock=np.int32(60), inventory=np.zeros_like(start.inventory))
    look = np.asarray(pixels(with_ground(with_ground(day, rl.TREE), rl.WATER, 5, 9)))
    assert look.shape == (2, 63, 63, 3) and look.dtype == np.uint8
    assert words.observe(env, day, 0)[0].light > 250  # nearly the colours of the sprites

    def cell(agent, row, column):
        return look[agent, 7 * row : 7 * row + 7, 7 * column : 7 * column + 7].astype(int)

    tree = sprites.half(sprites.materials()["tree"])[..., :3]
    water = sprites.half(sprites.materials()["water"])[..., :3]
    assert np.abs(cell(0, 1, 3) - tree).max() < 8  # seen from (6, 7): 2 up, 1 left
    assert np.abs(cell(0, 2, 6) - water).max() < 8
    assert np.abs(cell(1, 1, 2) - tree).max() < 8
    heart = sprites.half(sprites.icons()["health"])
    mask = heart[..., 3] > 0
    mask[2:, 4:] = False  # there stands the digit
    np.testing.assert_array_equal(cell(0, 7, 0)[mask], heart[mask][:, :3])
    assert not cell(0, 7, 4).any() and not cell(0, 8, 6).any()
    nine = cell(0, 7, 0)[2:, 4:][sprites.digit(9)]
    assert (nine == 255).all()
    tools = np.asarray(pixels(dataclasses.replace(day, inventory=np.uint8([[3] * 12] * 2))))
    assert (tools[0, 49:56, 28:] != look[0, 49:56, 28:]).any()
    assert (tools[0, 49:][..., :49, :].reshape(2, 7, 7, 7, 3).max((1, 3, 4)) > 0).all()


def test_pixels_tell_players_and_their_states_apart(env, start, pixels):
    day = dataclasses.replace(start, clock=np.int32(60))
    states = [day, dataclasses.replace(day, asleep=np.array([False, True]))]
    states += [dataclasses.replace(day, alive=np.uint8([1, code])) for code in (rl.DOWN, rl.DEAD)]
    states += [dataclasses.replace(day, facing=np.uint8([2, way])) for way in (0, 1, 3)]
    states += [
        dataclasses.replace(day, position=np.uint8([[6, 7], at])) for at in ((0, 0), (12, 0))
    ]
    looks = np.stack([np.asarray(pixels(state)) for state in states])
    assert len({look.tobytes() for look in looks[:, 0]}) == len(states)
    assert (looks[0, 0] != looks[0, 1]).any()


def test_pixels_are_dark_at_night_and_asleep(env, start, pixels):
    lights = [60, 210]
    means = [
        np.asarray(pixels(dataclasses.replace(start, clock=np.int32(t))))[:, :49].mean((1, 2, 3))
        for t in lights
    ]
    assert (means[0] > 1.5 * means[1]).all()
    asleep = dataclasses.replace(start, clock=np.int32(60), asleep=np.array([True, False]))
    one, two = np.asarray(pixels(asleep))[:, :49].mean((1, 2, 3))
    assert two > 1.5 * one


# ---- a person at the keyboard --------------------------------------------------------------------


def test_a_person_has_the_keys_of_crafter(env):
    for key, name in {
        "up": "move up", "space": "do", "tab": "sleep", "r": "place stone", "t": "place table",
        "f": "place furnace", "p": "place plant", "1": "make wood pickaxe",
        "3": "make iron pickaxe", "4": "make wood sword", "6": "make iron sword",
    }.items():  # fmt: skip
        assert env.keys[key] == name
    assert set(env.keys.values()) == {name.replace("_", " ") for name in env.craft.solo_actions}


def test_keys_choose_what_is_possible_and_say_why_not(env, start):
    view = SimpleNamespace(
        choices=env.choices(start, 0), parse=lambda words: env.parse(words, start, 0)
    )
    keys = bind(view.choices, env.keys)
    assert view.choices[keys["left"]].startswith("move left")
    assert "t" not in keys  # no wood, no table
    human = Human(env)
    press = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_a, unicode="a")
    assert env.parse(human._handle(press, view).action, start, 0) == rl.MOVE
    press = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_t, unicode="t")
    assert human._handle(press, view) is None
    assert "needs 2 wood, you have 0" in human._problem
    # What has no key of the game's own gets the numbers that are left.
    requests = [c for c in view.choices if c.startswith("request ")]
    assert view.choices[keys["7"]] == requests[0]
