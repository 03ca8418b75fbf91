"""The kitchen's pictures: everything shows, nothing hidden leaks, any size works."""

import dataclasses

import jax
import numpy as np
import pygame
import pytest

from manyhands.core.render import render, wrap, write
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen import draw
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.levels import BUTTON, COUNTER, DIRECTIONS, LAYOUTS, POT
from manyhands.envs.kitchen.state import (
    BLOCKED,
    DISH,
    ONION,
    SOUP,
    TOMATO,
)

SIZE = (500, 440)


def start(kitchen, **changes):
    state = jax.device_get(kitchen.reset(jax.random.key(0)))
    return dataclasses.replace(state, **changes)


def put(values, index, value):
    values = np.array(values)
    values[index] = value
    return values


def changed_cells(kitchen, before, after):
    """(x, y) of the cells whose middles differ, and whether anything above the cells does."""
    one, two = render(kitchen, before, size=SIZE), render(kitchen, after, size=SIZE)
    scene = draw._Scene(kitchen, before, pygame.Surface(SIZE), None)
    differs = (one != two).any(axis=2)
    cells = set()
    for y in range(scene.rows):
        for x in range(scene.columns):
            corner = (scene.top + y * scene.cell, scene.left + x * scene.cell)
            block = differs[corner[0] : corner[0] + scene.cell, corner[1] : corner[1] + scene.cell]
            if block.mean() > 0.02:
                cells.add((x, y))
    return cells, bool(differs[: scene.header].any())


def test_same_state_same_pixels():
    kitchen = Kitchen()
    state = start(kitchen)
    one = render(kitchen, state, size=SIZE)
    draw._sprite.cache_clear()
    write.cache_clear()
    np.testing.assert_array_equal(one, render(kitchen, state, size=SIZE))


@pytest.mark.parametrize("thing", [ONION, TOMATO, DISH, SOUP | 12, SOUP | 3, SOUP | 4 | 2])
def test_an_object_shows_where_it_lies(thing):
    kitchen = Kitchen()
    state = start(kitchen)
    cell = int(np.flatnonzero(np.asarray(state.terrain) == COUNTER)[-1])
    after = dataclasses.replace(state, objects=put(state.objects, cell, thing))
    assert changed_cells(kitchen, state, after) == ({(cell % 5, cell // 5)}, False)


def test_all_objects_look_different():
    kitchen = Kitchen()
    state = start(kitchen)
    cell = int(np.flatnonzero(np.asarray(state.terrain) == COUNTER)[0])
    soups = [SOUP | onions << 2 | 3 - onions for onions in range(4)]
    for holder in ("objects", "held"):
        index = cell if holder == "objects" else 0
        values = [put(getattr(state, holder), index, t) for t in (0, ONION, TOMATO, DISH, *soups)]
        states = [dataclasses.replace(state, **{holder: value}) for value in values]
        pictures = {render(kitchen, s, size=SIZE).tobytes() for s in states}
        assert len(pictures) == len(states)


def test_a_pot_shows_its_contents_time_and_readiness():
    kitchen = Kitchen()
    state = start(kitchen)
    pot = int(np.flatnonzero(np.asarray(state.terrain) == POT)[0])
    seen = set()
    for inside, timer in ((0, 0), (20, 0), (24, 0), (28, 21), (28, 12), (28, 2), (28, 1)):
        after = dataclasses.replace(
            state, objects=put(state.objects, pot, inside), timer=put(state.timer, pot, timer)
        )
        cells, header = changed_cells(kitchen, state, after)
        assert cells <= {(pot % 5, pot // 5)} and not header
        assert bool(cells) == bool(inside)
        seen.add(render(kitchen, after, size=SIZE).tobytes())
    assert len(seen) == 7


def test_a_chef_shows_its_place_facing_and_hands():
    kitchen = Kitchen()
    state = start(kitchen)
    here = int(state.position[0])
    moved = dataclasses.replace(state, position=put(state.position, 0, here + 1))
    cells, _ = changed_cells(kitchen, state, moved)
    assert {(here % 5, here // 5), (here % 5 + 1, here // 5)} <= cells
    turned = [dataclasses.replace(state, facing=put(state.facing, 0, f)) for f in range(4)]
    assert len({render(kitchen, s, size=SIZE).tobytes() for s in turned}) == 4
    swapped = dataclasses.replace(state, position=np.array(state.position)[::-1])
    assert changed_cells(kitchen, state, swapped)[0], "chefs look alike"


def test_the_header_shows_score_soups_and_time():
    kitchen = Kitchen()
    state = start(kitchen)
    for change in ({"score": np.int32(20)}, {"soups": np.int16(1)}, {"time": np.int16(100)}):
        cells, header = changed_cells(kitchen, state, dataclasses.replace(state, **change))
        assert header and not cells


RECIPES = [(3, 0), (2, 1), (1, 2), (0, 3), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1)]


def header_of(size=SIZE, **config):
    kitchen = Kitchen("cramped_room_v2", dynamics="manual", **config)
    scene = draw._Scene(kitchen, start(kitchen), pygame.Surface(size), None)
    return render(kitchen, start(kitchen), size=size)[: scene.header]


def test_cards_show_orders_points_steps_and_bonuses():
    plain = header_of(orders=RECIPES[:3])
    for change in (
        {"orders": RECIPES[1:4]},
        {"orders": RECIPES[:2]},
        {"orders": RECIPES[:3], "values": {(3, 0): 21}},
        {"orders": RECIPES[:3], "times": {(3, 0): 21}},
    ):
        assert (header_of(**change) != plain).any()
    with_bonus = header_of(orders=RECIPES[:3], bonus_orders=RECIPES[1:2])
    gold = [(image == draw._GOLD).all(axis=2).sum() for image in (plain, with_bonus)]
    assert gold[0] == 0 and gold[1] > 50


@pytest.mark.parametrize("size", [(1200, 800), (640, 480), (320, 240), (200, 160)])
@pytest.mark.parametrize("count", [1, 4, 9])
def test_cards_lie_side_by_side_and_none_is_left_out_silently(size, count, monkeypatch):
    boxes, written = [], []
    card, words = draw._card, draw.write

    def noted_card(scene, canvas, recipe, box):
        boxes.append(box.copy())
        written.clear()
        card(scene, canvas, recipe, box)
        # Steps of cooking only where they can be read apart from the points.
        assert ("23" in written) == (box.height >= 22)

    def noted_words(text, *about):
        written.append(text)
        return words(text, *about)

    monkeypatch.setattr(draw, "_card", noted_card)
    monkeypatch.setattr(draw, "write", noted_words)
    image = header_of(size, orders=RECIPES[:count], bonus_orders=RECIPES[:1], times=23)
    frame = pygame.Rect(0, 0, size[0], len(image))
    assert boxes and all(frame.contains(box) for box in boxes)
    assert all(box.collidelist(boxes[:k]) < 0 for k, box in enumerate(boxes))
    left_out = count - len(boxes)
    assert not left_out or (size == (200, 160) and f"+{left_out}" in written)
    # No star is cut off at the top.
    assert not (image[0] == draw._GOLD).all(axis=1).any()


@pytest.mark.parametrize("layout, chefs", [("cramped_room", 2), ("multiplayer_schelling", 6)])
@pytest.mark.parametrize("size", [(640, 480), (200, 160)])
def test_a_sign_shows_in_which_direction_a_chef_was_blocked(layout, chefs, size):
    kitchen = Kitchen(layout, chefs=chefs)
    state = start(kitchen)
    scene = draw._Scene(kitchen, state, pygame.Surface(size), None)
    x, y = scene.chefs[chefs - 1]
    for facing, (dx, dy) in enumerate(DIRECTIONS):
        turned = dataclasses.replace(state, facing=put(state.facing, chefs - 1, facing))
        blocked = dataclasses.replace(turned, event=put(state.event, chefs - 1, BLOCKED))
        one, two = (render(kitchen, each, size=size) for each in (turned, blocked))
        rows, columns = np.nonzero((one != two).any(axis=2))
        # Where the chef's cell ends in this direction, and nowhere else.
        centre = np.array([scene.top, scene.left]) + scene.cell * np.array(
            [y + 0.5 + dy / 2, x + 0.5 + dx / 2]
        )
        assert len(rows) > 20 and np.abs(np.mean([rows, columns], axis=1) - centre).max() <= 1.5
        assert max(np.ptp(rows), np.ptp(columns)) <= max(0.3 * scene.cell, 11)
        assert (two == draw._BLOCKED).all(axis=2).sum() > len(rows) / 3


def test_recipes_are_shown_where_a_chef_can_see_them():
    kitchen = Kitchen("grounded_coord_simple", view_radius=2, show_delivery=True)
    state = start(kitchen)
    asked = state.asked
    button = int(np.flatnonzero(np.asarray(state.terrain) == BUTTON)[0])

    def picture(agent, timer=0, **changes):
        lit = put(state.timer, button, timer)
        after = dataclasses.replace(state, timer=lit, asked=dataclasses.replace(asked, **changes))
        return render(kitchen, after, size=SIZE, agent=agent).tobytes()

    one, other = (np.uint16(code) for code in kitchen.recipes[0])
    # Chef 0 has an indicator in view; chef 1 has the button, if it is pressed.
    assert picture(0, recipe=one) != picture(0, recipe=other)
    assert picture(1, recipe=one) == picture(1, recipe=other)
    assert picture(1, 3, recipe=one) != picture(1, 3, recipe=other)
    # Windows show deliveries to those who see them.
    assert picture(1, delivered=np.bool_(True)) != picture(1, delivered=np.bool_(False))
    assert picture(0, delivered=np.bool_(True)) == picture(0, delivered=np.bool_(False))


def test_every_kind_of_thing_looks_different():
    kitchen = Kitchen("fun_coordination")
    state = start(kitchen)
    here = int(np.flatnonzero(np.asarray(state.terrain) == COUNTER)[0])
    things = [
        0,
        1,
        2,
        3,
        4,
        5,
        *(ask.soup_code(recipe) for recipe in ask.RECIPES if sum(recipe) == 3),
    ]
    seen = {
        render(
            kitchen, dataclasses.replace(state, objects=put(state.objects, here, thing)), size=SIZE
        ).tobytes()
        for thing in things
    }
    assert len(seen) == len(things)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_every_layout_fills_its_cells(layout):
    kitchen = Kitchen(layout)
    image = render(kitchen, start(kitchen), size=(320, 240))
    assert image.shape == (240, 320, 3)
    scene = draw._Scene(kitchen, start(kitchen), pygame.Surface((320, 240)), None)
    board = image[
        scene.top : scene.top + scene.rows * scene.cell,
        scene.left : scene.left + scene.columns * scene.cell,
    ]
    assert not (board == draw.BACKGROUND).all(axis=2).any()


@pytest.mark.parametrize("size", [(1, 1), (7, 90), (90, 7), (200, 120), (900, 300), (300, 900)])
def test_any_canvas(size):
    kitchen = Kitchen("multiplayer_schelling", chefs=6)
    state = start(kitchen)
    assert render(kitchen, state, size=size).shape == (size[1], size[0], 3)
    canvas = pygame.Surface(size)
    draw.bubbles(kitchen, state, canvas, {0: "a rather long message", 5: "x" * 300})


def test_padding_is_not_drawn_but_the_small_layout_is_centred():
    both = Kitchen(["cramped_room", "counter_circuit"])
    alone = Kitchen("cramped_room")
    state = start(alone)
    padded = next(
        s
        for seed in range(20)
        if int((s := jax.device_get(both.reset(jax.random.key(seed)))).level) == 0
    )
    np.testing.assert_array_equal(render(both, padded, size=SIZE), render(alone, state, size=SIZE))


def test_an_agent_sees_only_what_is_in_view():
    kitchen = Kitchen("counter_circuit", view_radius=1)
    state = start(kitchen)
    width = kitchen.width
    x, y = int(state.position[0]) % width, int(state.position[0]) // width
    cells = np.arange(width * kitchen.height)
    seen = np.maximum(abs(cells % width - x), abs(cells // width - y)) <= 1
    counter = np.asarray(state.terrain) == COUNTER
    hidden = dataclasses.replace(
        state,
        objects=np.where(counter & ~seen, ONION, state.objects).astype(np.uint8),
        held=put(state.held, 1, DISH),
        facing=put(state.facing, 1, 3),
    )
    assert int(state.position[1]) in cells[~seen]
    image = render(kitchen, state, 0, SIZE)
    np.testing.assert_array_equal(image, render(kitchen, hidden, 0, SIZE))
    assert (render(kitchen, hidden, None, SIZE) != render(kitchen, state, None, SIZE)).any()
    near = dataclasses.replace(
        state, objects=np.where(counter & seen, ONION, state.objects).astype(np.uint8)
    )
    assert (render(kitchen, near, 0, SIZE) != image).any()


def test_a_limited_view_does_not_tell_the_layout():
    """Two kitchens that look the same to the chef have the same picture."""
    corner = "XXXXX\nO1  P\nX   X\nX   X\nXDXSX"
    wider = "XXXXXXX\nO1  PXX\nX   XXX\nX   XXX\nXDXSXXX"
    kitchen = Kitchen([corner, wider], view_radius=1)
    states = [jax.device_get(kitchen.reset(jax.random.key(seed))) for seed in range(20)]
    by_level = {int(s.level): s for s in states}
    assert set(by_level) == {0, 1}
    np.testing.assert_array_equal(*(render(kitchen, by_level[i], 0, SIZE) for i in (0, 1)))


def test_bubbles_show_words_and_hide_where_unseen_chefs_are():
    kitchen = Kitchen("counter_circuit", view_radius=1)
    state = start(kitchen)
    other = dataclasses.replace(state, position=put(state.position, 1, 6 + kitchen.width))
    images = []
    for shown in (state, other):
        canvas = pygame.Surface(SIZE)
        draw.draw(kitchen, shown, canvas, 0)
        before = pygame.surfarray.array3d(canvas)
        draw.bubbles(kitchen, shown, canvas, {1: "the pot is ready \x00 \ud800 \U0001f372"}, 0)
        images.append(pygame.surfarray.array3d(canvas))
        assert (images[-1] != before).any()
    np.testing.assert_array_equal(*images)


def test_silence_has_no_bubble():
    kitchen = Kitchen()
    canvas = pygame.Surface(SIZE)
    draw.bubbles(kitchen, start(kitchen), canvas, {0: "  ", 1: ""})
    assert not pygame.surfarray.array3d(canvas).any()


def test_wrapped_lines_fit_and_keep_every_word():
    text = "put the onion into pot A and " + "w" * 80 + " then wait"
    lines = wrap(text, 14, 120)
    assert all(write(line, 14, (0, 0, 0)).get_width() <= 121 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert wrap(text, 14, 120, limit=2)[-1].endswith("...")
    assert "".join(wrap("w" * 100_000, 14, 120)) == "w" * 100_000
    assert wrap("wide", 14, 1) == list("wide")
    assert wrap("", 14, 120) == [""]


def test_letters_survive_pygame_quit():
    one = pygame.surfarray.array_alpha(write("kitchen", 14, (9, 9, 9)))
    pygame.quit()
    write.cache_clear()
    np.testing.assert_array_equal(
        one, pygame.surfarray.array_alpha(write("kitchen", 14, (9, 9, 9)))
    )
