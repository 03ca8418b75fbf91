"""What users of Overcooked-AI (Carroll et al. 2019) bring along: its `.layout` files.

Such a file is the literal of a Python dict: a grid, orders, values and times. It is read as data
(`ast.literal_eval`), never run. Whatever changes the game and cannot be said in this kitchen is an
error that names it.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manyhands.core.env import ConfigError, LayoutError, shorten
from manyhands.envs.kitchen.levels import RECIPES, Recipe, parse_recipe, recipe_name
from manyhands.envs.kitchen.state import SHAPED

SUFFIX = ".layout"
MOST_BYTES = 100_000
# Options of the kitchen that one option of the caller replaces together.
GROUPS = (
    ("orders", "bonus_orders"),
    ("order_bonus",),
    ("values", "onion_value", "tomato_value"),
    ("times", "onion_time", "tomato_time"),
)
_SHAPING = {
    "PLACEMENT_IN_POT_REW": SHAPED["pot_placement"],
    "DISH_PICKUP_REWARD": SHAPED["dish_pickup"],
    "SOUP_PICKUP_REWARD": SHAPED["soup_pickup"],
    "DISH_DISP_DISTANCE_REW": 0,
    "POT_DISTANCE_REW": 0,
    "SOUP_DISTANCE_REW": 0,
}
_NUMBERS = ("onion_value", "tomato_value", "onion_time", "tomato_time")
_KNOWN = (
    *("grid", "start_all_orders", "start_bonus_orders", "order_bonus", "recipe_values"),
    *("recipe_times", "delivery_reward", "cook_time", *_NUMBERS),
    *("rew_shaping_params", "num_items_for_soup", "start_state", "start_order_list", "layout_name"),
)


def is_layout_file(layout: Any) -> bool:
    """Whether a `layout` option names a file."""
    return isinstance(layout, (str, os.PathLike)) and os.fspath(layout).endswith(SUFFIX)


def check_layout(layout: Any) -> None:
    """Refuse what is no `layout` option: a name, a text, a file, or a list of names and texts."""
    listed = isinstance(layout, (list, tuple))
    names = layout if listed else [layout]
    for name in names:
        if not isinstance(name, str) and not is_layout_file(name):
            raise ConfigError(
                f"layout is a name, a text with newlines, a path that ends with {SUFFIX}, or a "
                f"list of names and texts; given {shorten(name)}"
            )
        if listed and is_layout_file(name):
            raise ConfigError(
                f"{os.fspath(name)} has orders of its own, so that it cannot be in a list of "
                "layouts: give it alone, or list its grid as text and pass orders="
            )


def read_layout(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """The layout text and the options of the kitchen in a `.layout` file.

    Raises:
        LayoutError: no such file, no literal of a dict, or something that cannot be said here.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise LayoutError(f"cannot read {os.fspath(path)}: {error}") from error
    if len(data) > MOST_BYTES:
        raise LayoutError(f"{path} has more than {MOST_BYTES:,} bytes: it is no layout")
    try:
        given = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise LayoutError(
            f"{path} is no literal of a dict, as Overcooked-AI's layouts are (calls such as "
            f"float('inf') are not run): {shorten(str(error))}"
        ) from None
    if not isinstance(given, dict) or not isinstance(given.get("grid"), str):
        raise LayoutError(f'{path} is no dict with a "grid", as Overcooked-AI\'s layouts are')
    try:
        return "\n".join(row.strip() for row in given["grid"].split("\n")) + "\n", _options(given)
    except (ConfigError, ValueError, TypeError, AttributeError) as error:
        raise LayoutError(f"{Path(path).name}: {error}") from error


def merged(told: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a file, but for those that the caller replaces."""
    chosen = {name: value for name, value in given.items() if value is not None}
    for group in GROUPS:
        if not chosen.keys() & set(group):
            chosen |= {name: told[name] for name in group if name in told}
    return chosen


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(str(name) for name in given if name not in _KNOWN)
    if unknown:
        raise ConfigError(f"{', '.join(unknown)} cannot be said in this kitchen")
    for name, plain in (("start_state", None), ("start_order_list", None)):
        if given.get(name, plain) is not plain:
            raise ConfigError(f"{name} cannot be said in this kitchen: leave it out")
    if given.get("num_items_for_soup", 3) != 3:
        raise ConfigError("num_items_for_soup is 3 in this kitchen")
    for name in ("start_all_orders", "start_bonus_orders", "recipe_values", "recipe_times"):
        if not isinstance(given.get(name), (list, tuple, type(None))):
            raise ConfigError(f"{name} is a list, given {given[name]!r:.60}")
    shaping = given.get("rew_shaping_params")
    if not isinstance(shaping, (Mapping, type(None))):
        raise ConfigError(f"rew_shaping_params is a dict, given {shaping!r:.60}")
    if shaping is not None and {k: shaping[k] for k in shaping if shaping[k]} != {
        k: v for k, v in _SHAPING.items() if v
    }:
        raise ConfigError(
            f"rew_shaping_params are {_SHAPING} here; set them to None, and give reward_weights="
        )
    listed = [_recipe(order) for order in given.get("start_all_orders") or ()]
    orders = listed or list(RECIPES)
    bonus = [_recipe(order) for order in given.get("start_bonus_orders") or ()]
    found: dict[str, Any] = {
        "orders": [recipe_name(recipe) for recipe in dict.fromkeys(orders)],
        # Elsewhere a bonus order that is no order counts for nothing, too.
        "bonus_orders": [recipe_name(r) for r in dict.fromkeys(bonus) if r in orders],
    }
    if "order_bonus" in given:
        found["order_bonus"] = given["order_bonus"]
    for kind, constant in (("value", "delivery_reward"), ("time", "cook_time")):
        row, parts = given.get(f"recipe_{kind}s"), [f"onion_{kind}", f"tomato_{kind}"]
        parts_given = [name for name in parts if name in given]
        ways = [n for n in (f"recipe_{kind}s", constant) if given.get(n) is not None]
        if len(ways) + bool(parts_given) > 1:
            raise ConfigError(f"{', '.join([*ways, *parts_given])} exclude each other")
        if row is not None:
            if len(row) != len(listed):
                raise ConfigError(f"recipe_{kind}s has {len(row)} numbers for {len(listed)} orders")
            found[f"{kind}s"] = {recipe_name(r): n for r, n in zip(listed, row, strict=True)}
        elif given.get(constant) is not None:
            found[f"{kind}s"] = given[constant]
        elif parts_given:
            if len(parts_given) < 2 or not all(given[name] for name in parts):
                raise ConfigError(f"{' and '.join(parts)} are given together, and are not 0")
            found |= {name: given[name] for name in parts}
    return found


def _recipe(order: Any) -> Recipe:
    if not isinstance(order, Mapping) or not isinstance(order.get("ingredients"), (list, tuple)):
        raise ConfigError(f'an order is a dict {{"ingredients": [...]}}, given {order!r:.60}')
    return parse_recipe(list(order["ingredients"]))
