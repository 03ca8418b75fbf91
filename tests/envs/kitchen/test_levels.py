import itertools
import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.core.env import ConfigError, LayoutError
from manyhands.envs.kitchen import levels
from manyhands.envs.kitchen.generator import GeneratorConfig, generate, generate_levels
from manyhands.envs.kitchen.levels import (
    ALIASES,
    FLOOR,
    JAXMARL_STARTS,
    Level,
    check_level,
    layout_names,
    load_level,
    parse_layout,
    parse_orders,
    parse_recipe,
    recipe_name,
    solvable,
)

SMALL = "XPX\nO1S\nXDX"


# ---- shipped layouts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, size, starts, jaxmarl",
    [
        ("cramped_room", (5, 4), ((1, 2), (3, 1)), ((1, 1), (3, 1))),
        ("asymmetric_advantages", (9, 5), ((6, 2), (1, 3)), ((2, 3), (5, 3))),
        ("coordination_ring", (5, 5), ((2, 1), (1, 2)), ((2, 1), (1, 2))),
        ("forced_coordination", (5, 5), ((3, 1), (1, 2)), ((1, 2), (3, 1))),
        ("counter_circuit_o_1order", (8, 5), ((3, 3), (3, 1)), ((2, 1), (6, 3))),
    ],
)
def test_classics(name, size, starts, jaxmarl):
    level = load_level(name)
    assert (level.width, level.height) == size
    assert level.starts == starts
    assert level.orders == ((3, 0),) and level.bonus_orders == ()
    assert level.worth((3, 0)) == 20 and level.worth((2, 1)) == 0
    assert set(level.times.values()) == {20}
    assert load_level(name, starts="jaxmarl").starts == jaxmarl
    assert load_level(name, starts="random") == level


@pytest.mark.parametrize("name", layout_names(aliases=True))
def test_every_layout_round_trips(name):
    level = load_level(name)
    assert level.name == ALIASES.get(name, name)
    again = load_level(
        level.text() + "\n", orders=level.orders, values=level.values, asked=level.asked
    )
    assert np.array_equal(again.terrain, level.terrain) and again.starts == level.starts
    assert solvable(level)
    with pytest.raises(ValueError):
        level.terrain[0, 0] = FLOOR
    for x, y in level.starts + JAXMARL_STARTS.get(level.name, ()):
        assert level.terrain[y, x] == FLOOR


def test_counter_circuit_is_the_papers_layout_and_the_tomato_game_has_its_own_numbers():
    assert load_level("counter_circuit").name == "counter_circuit_o_1order"
    level = load_level("counter_circuit_tomato")
    assert [level.worth(r) for r in ((3, 0), (2, 1), (1, 2), (1, 1))] == [0, 55, 47, 68]
    assert [level.times[r] for r in ((3, 0), (2, 1), (1, 2), (0, 3))] == [45, 37, 29, 21]
    assert level.worth((1, 0)) == 0
    assert load_level("counter_circuit_tomato", values=20).worth((1, 1)) == 40


def test_unknown_name_and_starts():
    with pytest.raises(LayoutError, match='did you mean "cramped_room"'):
        load_level("cramped_rom")
    with pytest.raises(ConfigError, match="starts is"):
        load_level("cramped_room", starts="north")
    with pytest.raises(ConfigError, match="known for"):
        load_level("multiplayer_schelling", starts="jaxmarl")
    with pytest.raises(ConfigError, match="name or a text"):
        load_level(3)


def test_number_of_chefs():
    level = load_level("cramped_room", chefs=1)
    assert level.starts == ((1, 2),)
    level = load_level("cramped_room", chefs=4)
    assert level.starts[:2] == ((1, 2), (3, 1)) and len(set(level.starts)) == 4
    assert level == load_level("cramped_room", chefs=4)
    assert len(set(load_level("multiplayer_schelling", chefs=6).starts)) == 6
    # No floor is left to move on.
    told = "cannot be solved.*chefs=6 on 6 floor cells; chefs=1, 2, 3, 4 or 5 will do"
    with pytest.raises(LayoutError, match=told):
        load_level("cramped_room", chefs=6)
    for wrong in (0, 7, True, "2"):
        with pytest.raises(ConfigError, match="chefs is a whole number from 1 to 6"):
            load_level("cramped_room", chefs=wrong)
    with pytest.raises(LayoutError, match="too many chefs: 2 do not fit on 1"):
        load_level(SMALL, chefs=2)
    with pytest.raises(LayoutError, match=r"no chef can get to.*chefs=2, 3, 4 or 5 will") as caught:
        load_level("forced_coordination", chefs=1)
    assert (caught.value.row, caught.value.column) == (1, 0)
    with pytest.raises(LayoutError, match="on 2 floor cells; no other number will do"):
        load_level("XPXXX\nO1X P\nXDXSX\n", chefs=1)


# ---- recipes -------------------------------------------------------------------------------------


def test_recipes():
    assert (
        parse_recipe("onion+tomato+onion") == parse_recipe(["tomato", "onion", "onion"]) == (2, 1)
    )
    assert parse_recipe((0, 3)) == (0, 3) and parse_recipe("tomato") == (0, 1)
    for recipe in levels.RECIPES:
        assert parse_recipe(recipe_name(recipe)) == recipe
    for wrong in ("", "onion+leek", [], (4, 0), (0, 0), (-1, 2), "onion+" * 3 + "onion", None, 3):
        with pytest.raises(ConfigError):
            parse_recipe(wrong)
    assert parse_orders(["onion+onion+onion", (1, 2)]) == ((3, 0), (1, 2))
    for wrong in ("onion+onion+onion", ["onion", "onion", "onion"], 5):
        with pytest.raises(ConfigError, match=r"e\.g\."):
            parse_orders(wrong)


def test_values_and_times():
    text = "XPX\nO1S\nT X\nXDX"
    level = load_level(text)
    assert level.orders == ((3, 0), (2, 1), (1, 2), (0, 3))
    level = load_level(
        text,
        orders=["onion+onion+onion", "tomato"],
        bonus_orders=["tomato"],
        values={"tomato": 7},
        onion_value=5,
        tomato_value=1,
        times=3,
    )
    assert level.worth((3, 0)) == 15 and level.worth((0, 1)) == 14 and level.worth((2, 1)) == 0
    assert level.worth_table()[3, 0] == 15 and level.worth_table().sum() == 29
    assert level.time_table()[1, 2] == 3 and level.time_table()[2, 2] == 0
    assert level.time_table().dtype == np.uint8
    assert load_level(text, onion_time=50, tomato_time=80).times[(0, 2)] == 160
    assert load_level(SMALL, onion_time=50).times[(3, 0)] == 150


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"times": 0}, "times .* 1 to 250"),
        ({"times": 251}, "1 to 250"),
        ({"onion_time": 100}, "give both"),
        ({"onion_time": 100, "tomato_time": 1}, "given 300"),
        ({"values": 10_001}, "-10000 to 10000"),
        ({"values": 2.5}, "values is a whole number"),
        ({"values": float("nan")}, "values is a whole number"),
        ({"times": {"onion": True}}, "the time of onion is a whole number"),
        ({"onion_value": 1.5, "tomato_value": 1}, "onion_value is a whole number"),
        ({"values": 3, "onion_value": 3, "tomato_value": 1}, "not both"),
        ({"orders": []}, "empty"),
        ({"bonus_orders": ["onion"]}, "not among"),
        ({"order_bonus": 0}, "order_bonus"),
        ({"orders": ["onion+leek"]}, "recipe"),
    ],
)
def test_wrong_rules(wrong, message):
    with pytest.raises(ConfigError, match=message):
        load_level("XPX\nO1S\nT X\nXDX", **wrong)


def test_an_order_list_that_cannot_be_cooked():
    with pytest.raises(LayoutError, match="no recipe on the order list"):
        load_level(SMALL, orders=["tomato+tomato+tomato"])


# ---- layout texts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, row, column, message",
    [
        ("\n", None, None, "empty"),
        ("XPX\nO1\nXDX", 1, 2, "ragged"),
        ("XPX\nO1SX\nXDX", 1, 3, "ragged"),
        ("XPX\n\nXDX", 1, 0, "ragged"),
        ("XPX\nO1 \nXDX", 1, 2, "border is open"),
        ("XPXX\nO1SX\nXD X", 2, 2, "border is open"),
        ("XPX\nO1S\nX2X", 2, 1, "border is open"),
        ("XPX\nO1S\nXXX", None, None, "no dish dispenser"),
        ("XPX\nX1S\nXDX", None, None, r"no onion dispenser \(O\) or tomato dispenser \(T\)"),
        ("XXX\nO1S\nXDX", None, None, r"no pot \(P\)"),
        ("XPX\nO1X\nXDX", None, None, "no serving window"),
        ("XPX\nO S\nXDX", None, None, "no chef"),
        ("XPX\nO2S\nXDX", 1, 1, "no chef 1"),
        ("XPXX\nO11S\nXDXX", 1, 2, "twice"),
        ("XPXXXXXXX\nO1234567S\nXDXXXXXXX", 1, 7, "too many chefs"),
        ("XPX\nO1S\nX?X", 2, 1, "unknown symbol '\\?'"),
        ("XPX\nO1S\nXdX", 2, 1, "unknown symbol 'd'"),
        ("XPX\nO1S\nX0X", 2, 1, "unknown symbol '0'"),
        ("XPX\nO1S\nXDO", 2, 2, "no chef can get to this onion dispenser"),
        ("XPXXX\nO1X P\nXDXSX", 0, 0, None),
        ("XP\nO1", None, None, "at least 3 by 3"),
        ("\n".join(["X" * 16] * 16), None, None, "at most 255"),
    ],
)
def test_malformed_layouts(text, row, column, message):
    if message is None:  # a room without a chef
        row, column, message = 1, 4, "no chef can get to this pot"
    with pytest.raises(LayoutError, match=message) as caught:
        load_level(text if "\n" in text else text + "\n")
    assert (caught.value.row, caught.value.column) == (row, column)
    if row is not None:
        assert f"row {row}, column {column}" in str(caught.value)


def test_indentation_and_blank_lines():
    text = "\n\n      XPX\n      O1S\n      XDX\n   \n"
    assert load_level(text).text() == SMALL
    assert load_level(SMALL.replace("\n", "\r\n")).text() == SMALL
    assert load_level("XPX  \nO1S \nXDX").text() == SMALL


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.text("X OTDPS123\n", max_size=60),
        st.lists(st.text("XXX OTDPS12", min_size=4, max_size=4), min_size=3, max_size=5).map(
            "\n".join
        ),
    )
)
def test_any_text_is_a_level_or_a_layout_error(text):
    try:
        level = load_level(text + "\n")
    except LayoutError:
        return
    assert load_level(level.text()) == level


# ---- the checker ---------------------------------------------------------------------------------


def brute_force_ranges(level: Level) -> list[set]:
    """Cells that each chef can get to, by search over the positions of all chefs."""
    seen, stack = {level.starts}, [level.starts]
    while stack:
        cells = stack.pop()
        for i, (dx, dy) in itertools.product(range(len(cells)), levels.DIRECTIONS):
            cell = (cells[i][0] + dx, cells[i][1] + dy)
            after = (*cells[:i], cell, *cells[i + 1 :])
            if level.terrain[cell[1], cell[0]] == FLOOR and cell not in cells and after not in seen:
                seen.add(after)
                stack.append(after)
    return [{cells[i] for cells in seen} for i in range(level.chefs)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0.2, 0.35, 0.5]))
@pytest.mark.slow
def test_ranges_of_chefs_in_each_others_way(seed, chefs, openness):
    try:
        level = generate(seed, width=(5, 6), height=(4, 5), chefs=chefs, openness=openness)
    except ConfigError:
        return
    expected = [
        {
            (x + dx, y + dy)
            for x, y in cells
            for dx, dy in levels.DIRECTIONS
            if level.terrain[y + dy, x + dx] != FLOOR
        }
        for cells in brute_force_ranges(level)
    ]
    assert levels.touching(level) == expected


@pytest.mark.parametrize(
    "text, chefs, answer",
    [
        ("XPXDX\nO1  S\nXXXXX", 1, True),
        ("XXPXXDX\nO1    S\nXXXXXXX", 1, True),
        # Two rooms: hand over across the counter, or across the pot, or not at all.
        ("XPXXX\nS1X2O\nXXXDX", 2, True),
        ("XXPXX\nO1P2S\nXXXDX", 2, True),
        ("XPXXX\nO1D2S\nXXXXX", 2, False),
        # No gap to move in: each chef stays on its cell, and they share no counter.
        ("XPXX\nO12S\nXXDX", 2, False),
        ("XPXX\nO1 S\nXXDX", 1, True),
    ],
)
def test_solvable(text, chefs, answer):
    terrain, starts = parse_layout(text)
    assert len(starts) == chefs
    numbers = dict.fromkeys(levels.RECIPES, 20)
    level = Level("text", terrain, starts, ((3, 0),), (), numbers, numbers)
    assert solvable(level) is answer
    if not answer:
        with pytest.raises(LayoutError, match="cannot be solved"):
            check_level(level)


# ---- generated kitchens --------------------------------------------------------------------------


def test_generated_kitchens_meet_their_knobs():
    config = GeneratorConfig(
        width=(6, 8),
        height=6,
        chefs=3,
        onions=2,
        tomatoes=(0, 1),
        dishes=2,
        pots=(1, 3),
        servings=2,
        openness=(0.4, 0.8),
        divided=0.5,
    )
    seen = generate_levels(config, 40, seed=5)
    assert len(set(seen)) == 40
    assert seen[:7] == generate_levels(config, 7, seed=5)
    assert seen != generate_levels(config, 40, seed=6)
    assert {level.width for level in seen} == {6, 7, 8}
    assert {len(level.cells(levels.POT)) for level in seen} == {1, 2, 3}
    assert {len(level.cells(levels.TOMATOES)) for level in seen} == {0, 1}
    for level in seen:
        assert level.height == 6 and level.chefs == 3
        assert len(level.cells(levels.ONIONS)) == len(level.cells(levels.DISHES)) == 2
        assert load_level(level.text()) == level  # it passes every check
    assert {len(levels.connected_parts(level.cells(FLOOR))) for level in seen} == {1, 2}


def test_openness():
    def share(openness):
        knobs = {"width": 9, "height": 9, "onions": 1, "pots": 1}
        made = [generate(seed, openness=openness, **knobs) for seed in range(5)]
        return [len(level.cells(FLOOR)) / 49 for level in made]

    assert np.allclose(share(1.0), 1.0)
    assert np.allclose(share(0.5), 0.5, atol=0.02)
    assert np.allclose(share(0.25), 0.25, atol=0.02)


def test_generator_config():
    config = GeneratorConfig(width=(5, 6), divided=True)
    assert GeneratorConfig(**json.loads(json.dumps(asdict(config)))) == config
    assert generate(3, config) == generate(3, width=(5, 6), divided=True)
    assert generate(3, rules={"times": 7}).times[(3, 0)] == 7
    wrong = [
        ({"width": 2}, "from 3"),
        ({"width": (8, 5)}, "lower end"),
        ({"width": "wide"}, "a number or a range"),
        ({"width": (5, 6, 7)}, "a number or a range"),
        ({"width": 20, "height": 20}, "at most 255"),
        ({"chefs": 7}, "1 to 6"),
        ({"chefs": (1, 2)}, "chefs .* is a number"),
        ({"openness": 1.5}, "from 0.0 to 1.0"),
        ({"pots": 0}, "from 1"),
        ({"onions": 0}, "onions or tomatoes"),
        ({"divided": True, "chefs": 1}, "chef in each room"),
        ({"divided": True, "width": 4, "height": 4}, "at least 5"),
    ]
    for knobs, message in wrong:
        with pytest.raises(ConfigError, match=message):
            GeneratorConfig(**knobs)
    with pytest.raises(ConfigError, match="height"):
        generate(0, size=3)
    with pytest.raises(ConfigError, match="no solvable kitchen"):
        generate(0, width=4, height=4, pots=9)
    with pytest.raises(ConfigError, match="different kitchens"):
        generate_levels(GeneratorConfig(width=3, height=3, chefs=1, onions=1, pots=1), 200)
