"""What users of Overcooked-AI bring along: layout files, statistics, features."""

from __future__ import annotations

import pytest

import manyhands
from manyhands.core.env import ConfigError, LayoutError
from manyhands.envs.kitchen.overcooked_ai import read_layout

GRID = """XXPXX
                O  2T
                X1  X
                XDXSX"""


def layout(tmp_path, text=None, **about):
    path = tmp_path / "mine.layout"
    path.write_text(repr({"grid": GRID, **about}) if text is None else text)
    return str(path)


def order(*names):
    return {"ingredients": list(names)}


def test_a_layout_file_is_a_kitchen(tmp_path) -> None:
    orders = [order("onion", "onion", "onion"), order("tomato", "onion")]
    about = {
        "start_all_orders": orders,
        "start_bonus_orders": [orders[1], order("tomato")],
        "recipe_values": [10, 15],
        "recipe_times": [20, 5],
        "order_bonus": 3,
        "rew_shaping_params": None,
    }
    kitchen = manyhands.make("kitchen", layout=layout(tmp_path, **about), dynamics="manual")
    (level,) = kitchen.levels
    assert level.orders == ((3, 0), (1, 1)) and level.bonus_orders == ((1, 1),)
    assert level.worth((3, 0)) == 10 and level.worth((1, 1)) == 45 and level.worth((0, 1)) == 0
    assert level.times[3, 0] == 20 and level.times[1, 1] == 5 and level.times[0, 3] == 20
    # The kitchen does not need the file any more, and knows nothing of it.
    (tmp_path / "mine.layout").unlink()
    assert manyhands.make("kitchen", **kitchen.config()) == kitchen


def test_numbers_by_ingredient_and_constants(tmp_path) -> None:
    by_part = {"onion_value": 21, "tomato_value": 13, "onion_time": 15, "tomato_time": 7}
    kitchen = manyhands.make("kitchen", layout=layout(tmp_path, **by_part), dynamics="manual")
    (level,) = kitchen.levels
    assert len(level.orders) == 9  # none given: all
    assert level.values[1, 2] == 47 and level.times[1, 2] == 29
    path = layout(tmp_path, delivery_reward=7, cook_time=9)
    (level,) = manyhands.make("kitchen", layout=path).levels
    assert level.values[3, 0] == 7 and level.times[3, 0] == 9
    assert all(sum(recipe) == 3 for recipe in level.orders)  # classic dynamics cook no others
    # Options go before the file, values and times apart.
    (level,) = manyhands.make("kitchen", layout=path, onion_value=1, tomato_value=2).levels
    assert level.values[1, 2] == 5 and level.times[1, 2] == 9


def test_orders_that_cannot_be_cooked_are_left_out_for_good(tmp_path) -> None:
    short, full = order("onion"), order("onion", "onion", "onion")
    path = layout(tmp_path, start_all_orders=[short, full], start_bonus_orders=[short])
    kitchen = manyhands.make("kitchen", layout=path, dynamics="classic")
    assert kitchen.levels[0].orders == ((3, 0),) and not kitchen.levels[0].bonus_orders
    assert manyhands.make("kitchen", **kitchen.config()) == kitchen
    with pytest.raises(ConfigError, match="manual"):  # nothing would be left
        manyhands.make("kitchen", layout=layout(tmp_path, start_all_orders=[short]))


@pytest.mark.parametrize("given", [5, b"x", [5], None, {"grid": "X"}])
def test_what_is_no_layout_is_refused(given) -> None:
    with pytest.raises(ConfigError, match="layout is a name"):
        manyhands.make("kitchen", layout=given)


def test_files_stand_alone(tmp_path) -> None:
    with pytest.raises(ConfigError, match="in a list"):
        manyhands.make("kitchen", layout=["cramped_room", layout(tmp_path)])


@pytest.mark.parametrize(
    "about, reason",
    [
        ({"start_state": {}}, "start_state"),
        ({"start_order_list": ["onion"]}, "start_order_list"),
        ({"num_items_for_soup": 2}, "num_items_for_soup"),
        ({"explosion_time": 5}, "explosion_time"),
        ({"rew_shaping_params": {"PLACEMENT_IN_POT_REW": 9}}, "reward_weights="),
        ({"recipe_values": [1, 2], "start_all_orders": [order("onion")]}, "2 numbers for 1"),
        ({"cook_time": 5, "onion_time": 1, "tomato_time": 1}, "exclude each other"),
        ({"onion_value": 1}, "given together"),
        ({"onion_value": 0, "tomato_value": 3}, "not 0"),
        ({"start_all_orders": [{"ingredients": ["cheese"]}]}, "cheese"),
        ({"start_all_orders": [7]}, "an order is a dict"),
        ({"start_all_orders": [{"foo": ["fish"]}]}, "an order is a dict"),
        ({"start_all_orders": 5}, "start_all_orders is a list"),
        ({"recipe_values": 5}, "recipe_values is a list"),
        ({"rew_shaping_params": [1, 2]}, "rew_shaping_params is a dict"),
        ({"grid": "XX"}, "a layout is at least"),
        ({"grid": 5}, "grid"),
    ],
)
def test_what_cannot_be_said_is_refused_with_a_reason(tmp_path, about, reason) -> None:
    with pytest.raises(ConfigError, match=reason):
        manyhands.make("kitchen", layout=layout(tmp_path, **about))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1, 2]",
        "{'grid': 'XXX', ",
        "{'grid': 'X', 'order_bonus': float('inf')}",
        "__import__('os').system('touch ran')",
        "(" * 5_000,
        " " * 200_000,
        "\0",
    ],
    ids=["empty", "list", "cut off", "call", "code", "deep", "long", "zero"],
)
def test_files_are_data_and_never_run(tmp_path, text, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LayoutError):
        read_layout(layout(tmp_path, text))
    assert not (tmp_path / "ran").exists()
    with pytest.raises(LayoutError, match="cannot read"):
        read_layout(tmp_path / "none.layout")
