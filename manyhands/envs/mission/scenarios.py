"""Scenarios as data: what is in a file, how it is checked, and the published names.

A scenario is a JSON object (`SCHEMA`). One with `teams`, or that is `like` a shipped one which has
them, is a field (`field/scenario.py`), whose `stages` are any of a list. Of all others the `stages`
say whether they are of foraging (here) or of warehouses (`warehouse/scenario.py`). The shipped ones
are files in `assets/mission`; a path or a mapping is played in the same way. A published name,
`"foraging-8x8-2p-2f-coop"` or `"warehouse-tiny-2ag"`, is a scenario with other sizes.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from manyhands.core.config import boolean, nearest, number, one_of, read_json, whole
from manyhands.core.env import ConfigError, shorten
from manyhands.envs.mission.field import scenario as field
from manyhands.envs.mission.state import MOST_FOODS, MOST_LEVEL, MOST_PLAYERS, MOST_SIDE
from manyhands.envs.mission.warehouse import scenario as warehouse

SHIPPED = ("foraging", "warehouse", *field.SHIPPED)
STAGES = ("moves", "loads")
CONFLICTS = ("cancel",)


def _pair(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "array",
        "prefixItems": [low, high],
        "items": False,
        "minItems": 2,
        "maxItems": 2,
    }


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


# The fields of foraging as JSON Schema; `check` also refuses those that do not fit each other.
FIELDS: dict[str, Any] = {
    "name": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"},
    "title": {"type": "string"},
    "stages": {"const": list(STAGES)},
    "conflict": {"enum": list(CONFLICTS)},
    "size": _pair(_whole(3, MOST_SIDE), _whole(3, MOST_SIDE)),
    "players": _whole(1, MOST_PLAYERS),
    "foods": _whole(1, MOST_FOODS),
    "player_levels": _pair(_whole(1, 6), _whole(1, 6)),
    "food_levels": _pair(
        _whole(1, MOST_LEVEL), {"anyOf": [_whole(1, MOST_LEVEL), {"type": "null"}]}
    ),
    "coop": {"type": "boolean"},
    "sight": {"anyOf": [_whole(1, MOST_SIDE), {"type": "null"}]},
    "penalty": {"type": "number", "minimum": 0},
    "max_steps": _whole(1, 30_000),
}
# Kind -> the fields that its scenarios have.
KINDS: dict[str, dict[str, Any]] = {
    "foraging": FIELDS,
    "warehouse": warehouse.FIELDS,
    "field": field.FIELDS,
}
# JSON Schema of a scenario. Those without `stages` and `teams` are of foraging.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "if": {"anyOf": [{"required": ["teams", "stages"]}, {"required": ["like"]}]},
    "then": {"properties": field.FIELDS, "additionalProperties": False},
    "else": {
        "if": {"required": ["stages"], "properties": {"stages": warehouse.FIELDS["stages"]}},
        "then": {"properties": warehouse.FIELDS, "additionalProperties": False},
        "else": {"properties": FIELDS, "additionalProperties": False},
    },
}

_PUBLISHED = re.compile(
    r"foraging(?P<front>-2s)?-(?P<rows>\d+)x(?P<columns>\d+)-(?P<players>\d+)p-(?P<foods>\d+)f"
    r"(?P<coop>-coop)?(?P<back>-2s)?(-v3)?"
)


def load(scenario: Any) -> dict[str, Any]:
    """The checked scenario of a name, a published name, a path of a JSON file, or a mapping.

    Raises:
        ConfigError: there is none, it is no JSON, or a field is wrong; names the field.
    """
    if isinstance(scenario, Mapping):
        return check(scenario)
    if isinstance(scenario, Path) or (isinstance(scenario, str) and scenario.endswith(".json")):
        return check(read_json(Path(scenario), "the scenario"))
    if not isinstance(scenario, str):
        raise ConfigError(
            f"scenario is a name, the path of a JSON file or a mapping, given {shorten(scenario)}"
        )
    if scenario in SHIPPED:
        return check(shipped(scenario))
    stored = warehouse.published(scenario)
    if stored is not None:
        return check({**shipped("warehouse"), **stored})
    found = _PUBLISHED.fullmatch(scenario.lower())
    if not found or (found["front"] and found["back"]):
        raise ConfigError(
            f"there is no scenario {scenario!r};{nearest(scenario, SHIPPED)} there are "
            f"{', '.join(SHIPPED)}, and published names such as foraging-2s-8x8-2p-2f-coop and "
            "warehouse-tiny-4ag-easy"
        )
    sizes = {name: int(found[name]) for name in ("players", "foods")}
    return check(
        {
            **shipped("foraging"),
            **sizes,
            "size": [int(found["rows"]), int(found["columns"])],
            "coop": bool(found["coop"]),
            "sight": 2 if found["front"] or found["back"] else None,
        }
    )


@functools.cache
def shipped(name: str) -> Mapping[str, Any]:
    """A shipped scenario as its file has it."""
    path = resources.files("manyhands") / "assets" / "mission" / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def kind(scenario: Mapping[str, Any]) -> str:
    """ "field" if there are teams; else "foraging" or "warehouse", whichever has the same stages;
    without any, "foraging".

    Raises:
        ConfigError: none has these stages.
    """
    if "teams" in scenario or "like" in scenario:
        return "field"
    known = {name: list(KINDS[name]["stages"]["const"]) for name in ("foraging", "warehouse")}
    stages = scenario.get("stages", known["foraging"])
    for name, found in known.items():
        if stages == found:
            return name
    listed = "; ".join(f"{found} ({name})" for name, found in known.items())
    raise ConfigError(
        f"without teams, stages is one of {listed}; given {stages!r}. Scenarios with other stages "
        "are fields, and have teams"
    )


def check(given: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario with all its fields; those left out are as in the shipped scenario that has the
    same stages.

    Raises:
        ConfigError: a field is unknown or wrong, or does not fit the others.
    """
    base = kind(given)
    known = KINDS[base]
    if base == "field":
        like = given.get("like")
        if like is not None:
            one_of("like", like, field.SHIPPED)
            given = {**shipped(like), **given}
        return field.check(given)
    for name in given:
        if name in known:
            continue
        others = [other for other, fields in KINDS.items() if name in fields]
        hint = nearest(name, known)
        if others == ["field"]:
            hint = " it is one of a field, whose scenarios have teams;"
        elif others:
            stages = json.dumps(KINDS[others[0]]["stages"]["const"])
            hint = f' it is one of {others[0]}, whose scenarios say "stages": {stages};'
        raise ConfigError(
            f"a scenario of {base} has no field {name!r};{hint} the fields are {', '.join(known)}"
        )
    full = {**shipped(base), **given}
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", str(full["name"])):
        raise ConfigError(f"the name of a scenario is of a-z, 0-9, _ and -, given {full['name']!r}")
    if not isinstance(full["title"], str):
        raise ConfigError(f"the title of a scenario is text, given {full['title']!r}")
    return warehouse.check(full) if base == "warehouse" else _foraging(full)


def _foraging(full: Mapping[str, Any]) -> dict[str, Any]:
    """All fields of a scenario of foraging, checked."""
    one_of("conflict", full["conflict"], CONFLICTS)
    rows, columns = (whole("size", n, 3, MOST_SIDE) for n in _two("size", full))
    players = whole("players", full["players"], 1, MOST_PLAYERS)
    foods = whole("foods", full["foods"], 1, MOST_FOODS)
    weakest, strongest = (whole("player_levels", n, 1, 6) for n in _two("player_levels", full))
    low, high = _two("food_levels", full)
    low = whole("food_levels", low, 1, MOST_LEVEL)
    high = None if high is None else whole("food_levels", high, 1, MOST_LEVEL)
    coop = boolean("coop", full["coop"])
    if weakest > strongest:
        raise ConfigError(f"player_levels is lowest, highest; given {weakest}, {strongest}")
    # Food has four sides, so that at most four players can load it together.
    strength = min(4, players) * weakest
    if (low if high is None else max(low, high)) > strength:
        raise ConfigError(
            f"food of level {high or low} cannot always be loaded: {min(4, players)} players of "
            f"level {weakest} have {strength} together; lower food_levels, or raise player_levels"
        )
    if high is not None and low > high:
        raise ConfigError(f"food_levels is lowest, highest; given {low}, {high}")
    if players + 1 > rows * columns - 1:
        raise ConfigError(f"{players} players leave no room on {rows} x {columns} cells")
    sight = full["sight"]
    sight = max(rows, columns) if sight is None else whole("sight", sight, 1, MOST_SIDE)
    return {
        "name": full["name"],
        "title": full["title"],
        "stages": list(STAGES),
        "conflict": full["conflict"],
        "size": [rows, columns],
        "players": players,
        "foods": foods,
        "player_levels": [weakest, strongest],
        "food_levels": [low, high],
        "coop": coop,
        "sight": sight,
        "penalty": number("penalty", full["penalty"], 0),
        "max_steps": whole("max_steps", full["max_steps"], 1, 30_000),
    }


def _two(name: str, full: Mapping[str, Any]) -> tuple[Any, Any]:
    value = full[name]
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ConfigError(f"{name} is two numbers, given {value!r}")
    return value[0], value[1]
