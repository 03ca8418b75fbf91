"""Menus as data: tools, ingredients, recipes and levels in JSON files, how they are checked, and
the tables that the rules read.

`assets/cuisine/cookbook.json` holds the shipped tools, ingredients and recipes (`COOKBOOK_SCHEMA`),
`assets/cuisine/level_0.json` to `level_12.json` the shipped levels (`LEVEL_SCHEMA`). A level of
one's own is a path or a mapping; its field `cookbook` adds tools, ingredients and recipes.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from manyhands.core.config import boolean, nearest, read_json, whole
from manyhands.core.env import ConfigError, shorten

SHIPPED = tuple(f"level_{number}" for number in range(13))
MOST_CHEFS, MOST_TOOLS, MOST_DISHES, MOST_INPUTS, MOST_TIME = 6, 16, 8, 8, 50
STORAGE, SERVING = "storage", "serving_table"
_NAME = r"[a-z][a-z]*(_[a-z]+)*"


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


_NAMED = {"type": "string", "pattern": f"^{_NAME}$"}
# JSON Schemas; `check` also refuses what does not fit together.
COOKBOOK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "tools": {
            "type": "object",
            "propertyNames": _NAMED,
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["time"],
                "properties": {
                    "time": _whole(0, MOST_TIME),
                    "capacity": _whole(1, MOST_INPUTS),
                    "verb": {"type": "string"},
                    "watched": {"type": "boolean"},
                    "take_back": {"type": "boolean"},
                },
            },
        },
        "ingredients": {"type": "array", "items": _NAMED},
        "recipes": {
            "type": "object",
            "propertyNames": _NAMED,
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["tool", "from"],
                "properties": {
                    "tool": _NAMED,
                    "from": {
                        "type": "array",
                        "items": _NAMED,
                        "minItems": 1,
                        "maxItems": MOST_INPUTS,
                    },
                },
            },
        },
    },
}
LEVEL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["dishes", "tools"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"},
        "title": {"type": "string"},
        "chefs": _whole(1, MOST_CHEFS),
        "dishes": {"type": "array", "items": _NAMED, "minItems": 1, "maxItems": MOST_DISHES},
        "tools": {"type": "array", "items": _NAMED, "minItems": 1, "maxItems": MOST_TOOLS},
        "cookbook": COOKBOOK_SCHEMA,
    },
}


@dataclass(frozen=True)
class Tool:
    """A kind of tool.

    Attributes:
        name: "chopping_board".
        time: steps that it is busy, the one in which it is activated included.
        capacity: the most items inside.
        verb: what it does: "chop".
        watched: whether the chef who activated it waits beside it for as long.
        take_back: whether what was put in can be taken out again before it is activated.
    """

    name: str
    time: int
    capacity: int
    verb: str
    watched: bool
    take_back: bool


@dataclass(frozen=True)
class Recipe:
    """How an item is made: the tool, and what goes in, in the order of the file."""

    item: str
    tool: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Level:
    """A checked level.

    Attributes:
        name, title: for people.
        chefs: how many chefs it is meant for.
        dishes: what is ordered.
        tools: kinds, one for each tool that there is.
        kinds: the kinds among them.
        recipes: those that its dishes need, inputs before what is made of them.
        ingredients: what the storage gives.
        source: the level as a JSON object.
    """

    name: str
    title: str
    chefs: int
    dishes: tuple[str, ...]
    tools: tuple[str, ...]
    kinds: tuple[Tool, ...]
    recipes: tuple[Recipe, ...]
    ingredients: tuple[str, ...]
    source: Mapping[str, Any] = field(compare=False, hash=False)

    def recipe(self, item: str) -> Recipe | None:
        """How an item is made; None for an ingredient."""
        return next((recipe for recipe in self.recipes if recipe.item == item), None)

    def kind(self, name: str) -> Tool:
        return next(kind for kind in self.kinds if kind.name == name)

    def needs(self, dish: str) -> list[str]:
        """Everything that goes into a dish, itself included, each once."""
        found = {dish: None}
        for name in (names := [dish]):
            recipe = self.recipe(name)
            for each in recipe.inputs if recipe else ():
                if each not in found:
                    found[each] = None
                    names.append(each)
        return list(found)

    def wait(self, dish: str) -> int:
        """The measure of a dish that times of orders are made of: 3 for each item that goes into it
        and itself, and the steps that its tools work alone."""
        needs = self.needs(dish)
        times = [self.kind(r.tool).time for name in needs if (r := self.recipe(name))]
        return 3 * len(needs) + sum(time - 1 for time in times if time > 1)


# ---- reading -------------------------------------------------------------------------------------


@functools.cache
def cookbook() -> dict[str, Any]:
    """The shipped tools, ingredients and recipes as their file has them."""
    path = resources.files("manyhands") / "assets" / "cuisine" / "cookbook.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@functools.cache
def shipped(name: str) -> Level:
    """A shipped level."""
    path = resources.files("manyhands") / "assets" / "cuisine" / f"{name}.json"
    return check(json.loads(path.read_text()))


def shipped_or_none(name: str) -> Level | None:
    """The shipped level of a name, if there is one."""
    return shipped(name) if name in SHIPPED else None


def load(level: Any) -> Level:
    """The level of a number, a name, a path of a JSON file, or a mapping.

    Raises:
        ConfigError: there is none, it is no JSON, or a field is wrong; names the field.
    """
    if isinstance(level, Mapping):
        return check(level)
    if isinstance(level, (int, np.integer)) and not isinstance(level, bool):
        return shipped(SHIPPED[whole("level", level, 0, len(SHIPPED) - 1)])
    if isinstance(level, Path) or (isinstance(level, str) and level.endswith(".json")):
        return check(read_json(Path(level), "the level"))
    if not isinstance(level, str):
        raise ConfigError(
            f"level is a number, a name, the path of a JSON file or a mapping, given "
            f"{shorten(level)}"
        )
    if level not in SHIPPED:
        raise ConfigError(
            f"there is no level {level!r};{nearest(level, (*SHIPPED, 'generated'))} there are "
            f"{SHIPPED[0]} to {SHIPPED[-1]}, and generated"
        )
    return shipped(level)


# ---- checks --------------------------------------------------------------------------------------


def _fields(what: str, given: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """That `given` is an object with no other fields than those of the schema, and none missing."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"{what} is an object, given {shorten(given)}")
    known = schema["properties"]
    for name in given:
        if name not in known:
            raise ConfigError(
                f"{what} has no field {name!r};{nearest(name, known)} the fields are "
                f"{', '.join(known)}"
            )
    for name in schema.get("required", ()):
        if name not in given:
            raise ConfigError(f"{what} needs the field {name!r}")
    return given


def _named(what: str, value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(_NAME, value):
        raise ConfigError(f"{what} is called by words of a-z with _ between, given {value!r}")
    return value


def _list(what: str, value: Any, most: int) -> list[str]:
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= most:
        raise ConfigError(f"{what} is a list of 1 to {most} names, given {shorten(value)}")
    return [_named(f"what {what} lists", item) for item in value]


def _merged(own: Any) -> tuple[dict[str, Tool], list[str], dict[str, Recipe]]:
    """The shipped cookbook with additions, checked."""
    own = _fields("cookbook", own, COOKBOOK_SCHEMA)
    book = cookbook()
    parts = {}
    for part in ("tools", "recipes"):
        if not isinstance(own.get(part, {}), Mapping):
            raise ConfigError(f"{part} of a cookbook is an object, given {shorten(own[part])}")
        parts[part] = {**book[part], **own.get(part, {})}
    more = own.get("ingredients", [])
    if not isinstance(more, (list, tuple)):
        raise ConfigError(f"ingredients of a cookbook is a list, given {shorten(more)}")
    ingredients = list(dict.fromkeys([*book["ingredients"], *more]))
    for name in ingredients:
        _named("an ingredient", name)
    tool_schema = COOKBOOK_SCHEMA["properties"]["tools"]["additionalProperties"]
    tools = {}
    for name, given in parts["tools"].items():
        if _named("a tool", name) in (STORAGE, SERVING):
            raise ConfigError(f"every kitchen has its {name}; leave it out of tools")
        given = _fields(f"the tool {name}", given, tool_schema)
        tools[name] = Tool(
            name,
            whole(f"time of {name}", given["time"], 0, MOST_TIME),
            whole(f"capacity of {name}", given.get("capacity", 5), 1, MOST_INPUTS),
            str(given.get("verb", "use")),
            boolean(f"watched of {name}", given.get("watched", False)),
            boolean(f"take_back of {name}", given.get("take_back", False)),
        )
    recipe_schema = COOKBOOK_SCHEMA["properties"]["recipes"]["additionalProperties"]
    recipes = {}
    for name, given in parts["recipes"].items():
        _named("a recipe", name)
        given = _fields(f"the recipe {name}", given, recipe_schema)
        if name in ingredients:
            raise ConfigError(f"{name} is an ingredient, so that it needs no recipe")
        tool = given["tool"]
        if tool not in tools:
            raise ConfigError(
                f"the recipe {name} has the tool {tool!r};{nearest(tool, tools)} there are "
                f"{', '.join(tools)}"
            )
        inputs = _list(f"from of the recipe {name}", given["from"], MOST_INPUTS)
        if len(inputs) > tools[tool].capacity:
            raise ConfigError(
                f"the recipe {name} puts {len(inputs)} items into {tool}, which holds "
                f"{tools[tool].capacity}"
            )
        for each in inputs:
            if each not in ingredients and each not in parts["recipes"]:
                known = [*ingredients, *parts["recipes"]]
                raise ConfigError(
                    f"the recipe {name} is made from {each!r}, which is no ingredient and has no "
                    f"recipe;{nearest(each, known)} there are {', '.join(known)}"
                )
        recipes[name] = Recipe(name, tool, tuple(inputs))
    return tools, ingredients, recipes


def check(given: Mapping[str, Any]) -> Level:
    """A level, with the recipes that its dishes need.

    Raises:
        ConfigError: a field is unknown or wrong, a dish cannot be made, or two recipes cannot be
            told apart.
    """
    given = _fields("a level", given, LEVEL_SCHEMA)
    tools, ingredients, recipes = _merged(given.get("cookbook", {}))
    name = given.get("name", "own")
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise ConfigError(f"the name of a level is of a-z, 0-9, _ and -, given {name!r}")
    title = given.get("title", name.replace("_", " "))
    if not isinstance(title, str):
        raise ConfigError(f"the title of a level is text, given {title!r}")
    chefs = whole("chefs", given.get("chefs", 2), 1, MOST_CHEFS)
    dishes = _list("dishes", given["dishes"], MOST_DISHES)
    kitchen = _list("tools", given["tools"], MOST_TOOLS)
    for tool in kitchen:
        if tool not in tools:
            raise ConfigError(
                f"there is no tool {tool!r};{nearest(tool, tools)} there are {', '.join(tools)}"
            )
    if len(set(dishes)) < len(dishes):
        raise ConfigError(f"dishes lists one twice: {', '.join(dishes)}")
    ordered: dict[str, Recipe] = {}
    for dish in dishes:
        if dish not in recipes:
            what = "is an ingredient" if dish in ingredients else "has no recipe"
            raise ConfigError(
                f"dishes are made by recipes, and {dish!r} {what};{nearest(dish, recipes)} "
                f"recipes= of the cookbook adds one; there are {', '.join(recipes)}"
            )
        _collect(dish, recipes, ordered, ())
    for recipe in ordered.values():
        if recipe.tool not in kitchen:
            raise ConfigError(
                f"{recipe.item} needs the tool {recipe.tool}, which this kitchen lacks; it has "
                f"{', '.join(dict.fromkeys(kitchen))}"
            )
    _distinct(list(ordered.values()))
    used = {each for recipe in ordered.values() for each in recipe.inputs}
    source = {
        "name": name,
        "title": title,
        "chefs": chefs,
        "dishes": dishes,
        "tools": kitchen,
        **({"cookbook": dict(given["cookbook"])} if given.get("cookbook") else {}),
    }
    return Level(
        name=name,
        title=title,
        chefs=chefs,
        dishes=tuple(dishes),
        tools=tuple(kitchen),
        kinds=tuple(tools[kind] for kind in dict.fromkeys(kitchen)),
        recipes=tuple(ordered.values()),
        ingredients=tuple(each for each in ingredients if each in used),
        source=source,
    )


def _collect(
    item: str, recipes: Mapping[str, Recipe], found: dict[str, Recipe], above: tuple[str, ...]
) -> None:
    """Add the recipes that an item needs, inputs first."""
    if item in above:
        raise ConfigError(f"{item} is made from itself: {' from '.join((*above, item))}")
    if item in recipes and item not in found:
        for each in recipes[item].inputs:
            _collect(each, recipes, found, (*above, item))
        found[item] = recipes[item]


def _distinct(recipes: Sequence[Recipe]) -> None:
    """That the same items in the same tool make one thing."""
    known: dict[tuple[str, tuple[str, ...]], str] = {}
    for recipe in recipes:
        slot = recipe.tool, tuple(sorted(recipe.inputs))
        if slot in known:
            raise ConfigError(
                f"{known[slot]} and {recipe.item} are both made from "
                f"{', '.join(recipe.inputs)} with the {recipe.tool}"
            )
        known[slot] = recipe.item


# ---- tables --------------------------------------------------------------------------------------


class Book:
    """The items, places and recipes of one or several levels together, numbered, with the tables
    that the rules read. Of several levels, an item or place has the same number in each.

    Attributes:
        places: (kind, number from 1) of each place: the storage, the serving table, then the tools.
        place_names: "pan", or "pan 1" where there are several.
        kinds: of each tool, [T]; place t + 2 is tool t.
        items: the ingredients, then what is made, inputs before what is made of them.
        item_names: the same in words.
        recipes: in the order of what they make, R of them.
        need: u8[R, K], how many of each item go in.
        makes: the item that each recipe makes, i32[R].
        made_with: bool[R, P], at which places.
        time: u8[P], how long each tool is busy; watched, take_back: bool[P].
        dishes: items that are ordered at some level, D of them, as i32[D].
        exists: bool[V, P]; recipe_on: bool[V, R]; stock: bool[V, K]; dish_on: bool[V, D]: what
            there is at each level.
    """

    def __init__(self, levels: Sequence[Level]):
        self.levels = tuple(levels)
        kinds: dict[str, Tool] = {}
        for level in levels:
            for kind in level.kinds:
                if kinds.setdefault(kind.name, kind) != kind:
                    raise ConfigError(f"two of these levels have different tools {kind.name!r}")
        most = {name: max(level.tools.count(name) for level in levels) for name in kinds}
        self.kinds = [kinds[name] for name in kinds for _ in range(most[name])]
        numbered = [(name, i + 1) for name in kinds for i in range(most[name])]
        self.places = [(STORAGE, 1), (SERVING, 1), *numbered]
        self.place_names = [
            words(kind) + (f" {number}" if most.get(kind, 1) > 1 else "")
            for kind, number in self.places
        ]
        base = list(dict.fromkeys(each for level in levels for each in level.ingredients))
        rows: dict[Recipe, None] = {}
        for level in levels:
            rows |= dict.fromkeys(level.recipes)
        made: dict[str, None] = {}
        for recipe in rows:
            if recipe.item in base:
                raise ConfigError(f"{recipe.item} is an ingredient of one of these levels only")
            made[recipe.item] = None
        self.recipes = _sorted(list(rows))
        self.items = [*base, *dict.fromkeys(recipe.item for recipe in self.recipes)]
        self.item_names = [words(item) for item in self.items]
        number = {item: k for k, item in enumerate(self.items)}
        self.need = np.zeros((len(self.recipes), len(self.items)), np.uint8)
        for r, recipe in enumerate(self.recipes):
            for item, count in Counter(recipe.inputs).items():
                self.need[r, number[item]] = count
        self.makes = np.array([number[recipe.item] for recipe in self.recipes], np.int32)
        self.made_with = np.array(
            [[kind == recipe.tool for kind, _ in self.places] for recipe in self.recipes]
        )
        own = [None, None, *self.kinds]
        self.time = np.array([kind.time if kind else 0 for kind in own], np.uint8)
        self.watched = np.array([bool(kind and kind.watched) for kind in own])
        self.take_back = np.array([bool(kind and kind.take_back) for kind in own])
        dishes = {number[dish]: None for level in levels for dish in level.dishes}
        self.dishes = np.array(sorted(dishes), np.int32)
        self.exists = np.array(
            [[i < level.tools.count(kind) for kind, i in self._zero()] for level in levels]
        )
        self.exists[:, :2] = True
        self.recipe_on = np.array([[r in level.recipes for r in self.recipes] for level in levels])
        self.stock = np.array([[k in level.ingredients for k in self.items] for level in levels])
        self.dish_on = np.array(
            [[self.items[d] in level.dishes for d in self.dishes] for level in levels]
        )

    def _zero(self) -> list[tuple[str, int]]:
        return [(kind, number - 1) for kind, number in self.places]


def _sorted(recipes: list[Recipe]) -> list[Recipe]:
    """Inputs before what is made of them, in any order of levels."""
    left, found, done = recipes, [], set[str]()
    while left:
        pending = {recipe.item for recipe in left}
        ready = [recipe for recipe in left if pending.isdisjoint(recipe.inputs)]
        if not ready:
            names = ", ".join(sorted(pending))
            raise ConfigError(f"these levels make {names} from each other")
        found += ready
        done |= {recipe.item for recipe in ready}
        left = [recipe for recipe in left if recipe not in ready]
    return found


def words(name: str) -> str:
    """A name as people write it."""
    return name.replace("_", " ")
