"""Fields as data: the schema of their scenarios, how they are checked, and the plan made of one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from manyhands.core.config import nearest
from manyhands.core.env import ConfigError, names_of, shorten
from manyhands.envs.mission.field import levels
from manyhands.envs.mission.field.stages import CONFLICTS, STAGES
from manyhands.envs.mission.field.state import (
    APPLE,
    BASE,
    BOX,
    BUTTON,
    CELLS,
    CODES,
    COIN,
    DIRT,
    DOOR,
    EVENTS,
    FLAG,
    FLOOR,
    GOAL,
    GOLD,
    GROUPS,
    IRON,
    KEY,
    LAND,
    LOCKED,
    MACHINE,
    MOST_BODIES,
    MOST_CELLS,
    MOST_SIDE,
    MOST_STEPS,
    PLATE,
    REPAIRED,
    SOIL,
    UNDER,
    WATER,
    Beam,
    Capture,
    End,
    Growth,
    Plan,
    Team,
)

SHIPPED = (
    *("pursuit", "tag", "flag", "hide_and_seek", "maze_pair", "capture", "escape", "door_key"),
    *("harvest", "cleanup", "coins", "mining", "rendezvous"),
)
MINDS = ("flee", "wander", "chase", "thief", "killer")
OWN_VERBS = ("press", "repair", "drop", "lock")  # all others are beams
EFFECTS = ("out", "freeze", "home", "clean", "mine")
_NAME = "^[a-z][a-z_]*$"
_GROWS = ("apple", "dirt", "iron", "gold", *(f"coin_{i}" for i in range(4)))


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


def _number(low: float, high: float) -> dict[str, Any]:
    return {"type": "number", "minimum": low, "maximum": high}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(items: dict[str, Any], most: int, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _object(required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_WORD = {"type": "string", "pattern": _NAME}
_TEXT = {"type": "string"}
# The fields of a scenario as JSON Schema; `check` also refuses those that do not fit each other.
FIELDS: dict[str, Any] = {
    "name": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"},
    "title": _TEXT,
    "aim": _TEXT,
    "like": {"enum": list(SHIPPED)},
    "teams": _list(
        _object(
            ("name", "member", "count"),
            name=_WORD,
            member=_WORD,
            count=_whole(1, MOST_BODIES),
            verbs=_list(_WORD, 6),
            mind=_or_null({"enum": list(MINDS)}),
            rest=_whole(0, 100),
            wait=_whole(0, 1000),
        ),
        3,
        1,
    ),
    "players": _or_null(_whole(1, MOST_BODIES)),
    "stages": _list({"enum": list(STAGES)}, len(STAGES), 1),
    "conflict": {"enum": list(CONFLICTS)},
    "map": _or_null(_list(_TEXT, MOST_SIDE, 1)),
    "size": _or_null(_list(_whole(3, MOST_SIDE), 2, 2)),
    "generator": _or_null(
        _object(
            ("kind",),
            kind={"enum": list(levels.KINDS)},
            density=_number(0, 0.6),
            scatter={
                "type": "object",
                "properties": {mark: _whole(0, 100) for mark in levels.SCATTERED},
                "additionalProperties": False,
            },
            shortest=_list(_whole(1, MOST_CELLS), 2, 2),
            doors=_list({"enum": ["key", "plate"]}, GROUPS, 1),
        )
    ),
    "levels": _whole(1, 256),
    "level_seed": _whole(0, 2**31),
    "rooms": _or_null(
        _object(
            ("exits", "starts"),
            exits={"type": "object", "additionalProperties": _list(_TEXT, 20)},
            doors=_list(_list({"type": ["string", "integer"]}, 3, 3), 20),
            marks={"type": "object", "additionalProperties": _TEXT},
            starts={"type": "object", "additionalProperties": _list(_TEXT, MOST_BODIES, 1)},
            places={"type": "object", "additionalProperties": _list(_whole(0, 20), 2, 2)},
        )
    ),
    "open": _list(_whole(1, GROUPS), GROUPS),
    "beams": {
        "type": "object",
        "additionalProperties": _object(
            ("effect",),
            effect={"enum": list(EFFECTS)},
            length=_whole(1, 10),
            radius=_whole(0, 3),
            around=_whole(0, 3),
            cooldown=_whole(0, 200),
            steps=_whole(0, 1000),
            everybody={"type": "boolean"},
        ),
    },
    "captures": _list(
        _object(
            ("team", "by"),
            team=_WORD,
            by=_WORD,
            needed=_whole(1, MOST_BODIES),
            reach=_whole(0, 3),
            passing={"type": "boolean"},
            land={"type": "boolean"},
            effect={"enum": ["caught", "home", "freeze"]},
            steps=_whole(0, 1000),
        ),
        4,
    ),
    "growth": _list(
        _object(
            ("what", "rates"),
            what={"enum": list(_GROWS)},
            rates=_list(_number(0, 1), 12, 1),
            radius=_whole(1, 3),
            dirt_limit=_number(0, 1),
            after=_whole(0, MOST_STEPS),
            one={"type": "boolean"},
        ),
        6,
    ),
    "spotting": _or_null(_object(("team", "by"), team=_WORD, by=_WORD)),
    "mining": _list(_whole(1, MOST_BODIES), 2, 2),
    "work": _whole(0, 200),
    "rewards": {
        "type": "object",
        "properties": {name: {"type": "number"} for name in EVENTS},
        "additionalProperties": False,
    },
    "shared": _list({"enum": list(EVENTS)}, len(EVENTS)),
    "ends": _list(
        _object(
            ("when",),
            when={"enum": ["caught", "goal", "meet", "score", "gone"]},
            team=_or_null(_WORD),
            all={"type": "boolean"},
            points=_whole(1, 1000),
            what={"enum": [cell.name for cell in CELLS]},
            repaired={"type": "boolean"},
            wins=_or_null(_WORD),
        ),
        6,
    ),
    "sight": _or_null(_whole(1, MOST_SIDE)),
    "lines": {"type": "boolean"},
    "masks": {"type": "boolean"},
    "coordinates": {"enum": ["shared", "turned"]},
    "max_steps": _whole(1, MOST_STEPS),
}
DEFAULTS: dict[str, Any] = {
    "name": "own",
    "title": "A field",
    "aim": "",
    "conflict": "priority",
    "map": None,
    "size": None,
    "generator": None,
    "levels": 16,
    "level_seed": 0,
    "rooms": None,
    "open": [],
    "beams": {},
    "captures": [],
    "growth": [],
    "spotting": None,
    "mining": [2, 4],
    "work": 0,
    "rewards": {},
    "shared": [],
    "ends": [],
    "sight": None,
    "lines": False,
    "masks": False,
    "coordinates": "shared",
    "max_steps": 100,
}
_TEAM: dict[str, Any] = {"verbs": [], "mind": None, "rest": 0, "wait": 0}
_BEAM = {"length": 3, "radius": 0, "around": 0, "cooldown": 0, "steps": 0, "everybody": False}
_CAPTURE = {
    **{"needed": 1, "reach": 1, "passing": False, "land": False},
    **{"effect": "caught", "steps": 0},
}
_GROWTH = {"radius": 2, "dirt_limit": 0, "after": 0, "one": False}
_END = {"team": None, "all": True, "points": 1, "what": "floor", "repaired": False, "wins": None}
# Stages that need a field of the scenario, and the other way round.
_NEEDS = {"beams": "beams", "captures": "captures", "growth": "growth", "sights": "spotting"}
_NEEDS |= {"ends": "ends", "repairs": "work"}


# ---- checking ------------------------------------------------------------------------------------


def fits(schema: Mapping[str, Any], value: Any, name: str) -> None:
    """Check a value with the parts of JSON Schema that scenarios use.

    Raises:
        ConfigError: it does not fit; names the field.
    """
    if "anyOf" in schema:
        if value is not None:
            fits(schema["anyOf"][0], value, name)
        return
    if "enum" in schema:
        if value not in schema["enum"] or isinstance(value, bool):
            known = names_of([str(item) for item in schema["enum"]])
            raise ConfigError(f"{name} is {known};{nearest(value, schema['enum'])} given {value!r}")
        return
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(kind, value) for kind in kinds):
        raise ConfigError(f"{name} is {names_of(kinds)} in JSON, given {shorten(value)}")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and not low <= value <= high:
        raise ConfigError(f"{name} is a number from {low} to {high}, given {value!r}")
    if "pattern" in schema and not re.match(schema["pattern"], value):
        raise ConfigError(f"{name} matches {schema['pattern']}, given {value!r}")
    if "items" in schema:
        least, most = schema["minItems"], schema["maxItems"]
        if not least <= len(value) <= most:
            raise ConfigError(f"{name} has {least} to {most} entries, given {len(value)}")
        for k, item in enumerate(value):
            fits(schema["items"], item, f"{name}[{k}]")
    if kinds == ["object"]:
        known = schema.get("properties", {})
        for key, item in value.items():
            if key in known:
                fits(known[key], item, f"{name}.{key}")
            elif schema.get("additionalProperties") is False:
                raise ConfigError(
                    f"{name} has no field {key!r};{nearest(key, known)} it has {', '.join(known)}"
                )
            else:
                fits(schema["additionalProperties"], item, f"{name}.{key}")
        for key in schema.get("required", ()):
            if key not in value:
                raise ConfigError(f"{name} lacks {key!r}")


def _is(kind: str, value: Any) -> bool:
    if kind == "array":
        return isinstance(value, (list, tuple))
    if kind == "object":
        return isinstance(value, Mapping)
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    fine = (int, np.integer) if kind == "integer" else (int, float, np.number)
    return isinstance(value, fine) and not isinstance(value, bool) and value == value


def check(given: Mapping[str, Any]) -> dict[str, Any]:
    """All fields of a scenario, checked, in plain Python.

    Raises:
        ConfigError: a field is unknown or wrong, or does not fit the others.
    """
    for name, value in given.items():
        if name not in FIELDS:
            raise ConfigError(
                f"a field has no {name!r};{nearest(name, FIELDS)} it has {', '.join(FIELDS)}"
            )
        fits(FIELDS[name], value, name)
    for name in ("teams", "stages"):
        if name not in given:
            raise ConfigError(f"a scenario of a field lacks {name!r}, or names another in 'like'")
    full: dict[str, Any] = {**DEFAULTS, **given}
    full.pop("like", None)
    players = full.pop("players", None)
    full["teams"] = [{**_TEAM, **team} for team in full["teams"]]
    if players is not None:
        full["teams"][0]["count"] = players
    full["beams"] = {verb: {**_BEAM, **beam} for verb, beam in full["beams"].items()}
    full["captures"] = [{**_CAPTURE, **one} for one in full["captures"]]
    full["growth"] = [{**_GROWTH, **one} for one in full["growth"]]
    full["ends"] = [{**_END, **one} for one in full["ends"]]
    _agree(full)
    return {name: full[name] for name in FIELDS if name in full}


def _agree(full: Mapping[str, Any]) -> None:
    """Refuse fields that do not fit each other."""
    teams, stages = full["teams"], full["stages"]
    names = [team["name"] for team in teams]
    if len(set(names)) < len(names) or len({team["member"] for team in teams}) < len(teams):
        raise ConfigError(f"teams have different names and members, given {names}")
    seats = [not team["mind"] for team in teams]
    if not seats[0] or seats != sorted(seats, reverse=True):
        raise ConfigError("teams that agents play come before those with a mind, at least one")
    bodies = sum(team["count"] for team in teams)
    if bodies > MOST_BODIES:
        raise ConfigError(f"there are at most {MOST_BODIES} bodies, given {bodies} in teams")
    if len(set(stages)) < len(stages) or "moves" not in stages:
        raise ConfigError(f"stages are different, with moves among them; given {stages}")
    first = [stage for stage in stages if stage in ("minds", "presses", "moves")]
    if first[-1] != "moves":
        raise ConfigError(f"minds and presses come before moves; given {stages}")
    if any(team["mind"] for team in teams) != ("minds" in stages):
        raise ConfigError('the stage "minds" is there if a team has a mind, and only then')
    for stage, name in _NEEDS.items():
        if bool(full[name]) != (stage in stages):
            raise ConfigError(
                f"the stage {stage!r} goes with the field {name!r}; give both, or none"
            )
    verbs = [verb for team in teams for verb in team["verbs"]]
    for verb in verbs:
        if verb not in OWN_VERBS and verb not in full["beams"]:
            known = (*OWN_VERBS, *full["beams"])
            raise ConfigError(
                f"teams have a verb {verb!r};{nearest(verb, known)} there are "
                f"{', '.join(OWN_VERBS)} and those in beams"
            )
    for verb in full["beams"]:
        if verb in OWN_VERBS or verb in ("stay", *levels.WAYS, "go"):
            raise ConfigError(f"beams: {verb!r} is the name of another action")
    wanted = {"press": "presses", "repair": "repairs", "drop": "drops", "lock": "locks"}
    for verb, stage in wanted.items():
        if verb in verbs and stage not in stages:
            raise ConfigError(f"the verb {verb!r} needs the stage {stage!r}")
    for stage, verb in (("repairs", "repair"), ("drops", "drop"), ("locks", "lock")):
        if stage in stages and verb not in verbs:
            raise ConfigError(f"the stage {stage!r} needs a team with the verb {verb!r}")
    named = [(f"{what}.{key}", one[key]) for what in ("captures", "ends") for one in full[what]
             for key in ("team", "by", "wins") if one.get(key)]  # fmt: skip
    named += [(f"spotting.{key}", name) for key, name in (full["spotting"] or {}).items()]
    for where, name in named:
        if name not in names:
            raise ConfigError(f"{where} is {names_of(names)}, given {name!r}")
    for end in full["ends"]:
        if end["when"] in ("caught", "goal", "meet") and not end["team"]:
            raise ConfigError(f"ends: {end['when']!r} needs a team")
    sources = [name for name in ("map", "generator", "rooms") if full[name]]
    if len(sources) != 1:
        raise ConfigError(f"a field has one of map, generator and rooms, given {sources or 'none'}")
    if bool(full["size"]) != bool(full["generator"]):
        raise ConfigError("size goes with generator: a map says its own")
    if full["lines"] and full["sight"] is None:
        raise ConfigError("lines of sight need a sight")
    if full["lines"] and full["sight"] > 12:
        raise ConfigError(f"sight is at most 12 with lines, given {full['sight']}")
    players = sum(team["count"] for team in teams if not team["mind"])
    if (full["masks"] or full["coordinates"] == "turned") and players != 2:
        raise ConfigError(f"masks and turned coordinates are for two agents, given {players}")
    if full["coordinates"] == "turned" and full["rooms"]:
        raise ConfigError("rooms have no coordinates that could be turned")
    if full["conflict"] == "agree" and (players != bodies or len(teams) > 1 or verbs):
        raise ConfigError('"agree" is for one team of agents without verbs')
    if full["mining"][0] > full["mining"][1]:
        raise ConfigError(f"mining is the least and the most miners, given {full['mining']}")


def brief(full: Mapping[str, Any]) -> dict[str, Any]:
    """A checked scenario without the fields that are as by default."""
    return {name: value for name, value in full.items() if value != DEFAULTS.get(name)}


# ---- the plan ------------------------------------------------------------------------------------


def plan(full: Mapping[str, Any]) -> Plan:
    """The tables of a checked scenario.

    Raises:
        ConfigError: its map or rooms do not fit, or cannot be played.
    """
    teams, first = [], 0
    for team in full["teams"]:
        fields = (team["name"], team["member"], first, team["count"], tuple(team["verbs"]))
        teams.append(Team(*fields, team["mind"] or "", team["rest"], team["wait"]))
        first += team["count"]
    agents = sum(team.size for team in teams if not team.mind)
    of_team = np.repeat(np.arange(len(teams), dtype=np.int8), [team.size for team in teams])
    index = {team.name: k for k, team in enumerate(teams)} | {None: -1}
    charts = levels.charts(full, teams)
    if charts.exits is None:
        ways: tuple[str, ...] = levels.WAYS
    else:
        ways = tuple(f"go to room {name}" for name in charts.room_names)
    verbs = tuple(dict.fromkeys(verb for team in teams for verb in team.verbs))
    actions = ("stay", *ways, *verbs)
    able = np.ones((agents, len(actions)), bool)
    for k, verb in enumerate(verbs, start=1 + len(ways)):
        for team in teams:
            if not team.mind:
                able[team.first : team.first + team.size, k] = verb in team.verbs
    growths = tuple(
        Growth(CODES[g["what"]], tuple(g["rates"]), g["radius"], g["dirt_limit"], g["after"],
               g["one"]) for g in full["growth"]
    )  # fmt: skip
    used = _used(charts.cells, growths, verbs)
    groups = max((code - base + 1 for base in (DOOR, PLATE, KEY) for code in used
                  if 0 <= code - base < GROUPS), default=0)  # fmt: skip
    groups = max(
        [groups, *full["open"], int(charts.gates.max()) if charts.gates is not None else 0]
    )
    _possible(full, used, groups, teams)
    opened = np.zeros(groups, np.uint8)
    opened[[group - 1 for group in full["open"]]] = 4
    beams = {verb: Beam(**beam) for verb, beam in full["beams"].items()}
    return Plan(
        size=charts.size,
        teams=tuple(teams),
        agents=agents,
        bodies=len(of_team),
        actions=actions,
        moves=len(ways),
        verbs={verb: k for k, verb in enumerate(actions) if verb in verbs},
        able=able,
        of_team=of_team,
        stages=tuple(full["stages"]),
        conflict=full["conflict"],
        beams=beams,
        captures=tuple(
            Capture(**{**one, "team": index[one["team"]], "by": index[one["by"]]})
            for one in full["captures"]
        ),
        growths=growths,
        ends=tuple(
            End(
                end["when"],
                index[end["team"]],
                end["all"],
                end["points"],
                CODES[end["what"]],
                end["repaired"],
                index[end["wins"]],
            )
            for end in full["ends"]
        ),
        spotting=None
        if full["spotting"] is None
        else (index[full["spotting"]["team"]], index[full["spotting"]["by"]]),
        needed=full["mining"][0],
        most=full["mining"][1],
        work=full["work"],
        rewards=dict(full["rewards"]),
        shared=frozenset(full["shared"]),
        radius=None if charts.exits is not None else full["sight"],
        lines=full["lines"],
        masks=full["masks"],
        turned=np.arange(agents) % 2 * (full["coordinates"] == "turned") > 0,
        groups=groups,
        open=opened,
        cells=charts.cells,
        starts=charts.starts,
        exits=charts.exits,
        gates=charts.gates,
        room_names=charts.room_names,
        used=used,
        features=_features(full, used, verbs, teams, charts.exits is not None),
    )


def _used(cells: np.ndarray, growths: Sequence[Growth], verbs: Sequence[str]) -> tuple[int, ...]:
    """All codes that can ever occur."""
    found = {*np.unique(cells).tolist(), *(growth.code for growth in growths)}
    found |= {UNDER[code] for code in found if code in UNDER}
    for group in range(GROUPS):
        if KEY + group in found:
            found.add(FLOOR)
    if BOX in found and "lock" in verbs:
        found.add(LOCKED)
    if MACHINE in found:
        found.add(REPAIRED)
    if {IRON, GOLD} & found:
        found.add(SOIL)
    if DIRT in found:
        found.add(WATER)
    return tuple(sorted(found))


def _possible(
    full: Mapping[str, Any], used: tuple[int, ...], groups: int, teams: Sequence[Team]
) -> None:
    """Refuse what can never happen."""
    stages = full["stages"]
    for base, count, name in (
        (PLATE, GROUPS, "plates"),
        (FLAG, 2, "deliveries"),
        (FLAG, 2, "takes"),
        (KEY, GROUPS, "takes"),
        (APPLE, 1, "takes"),
        (COIN, 4, "takes"),
        (MACHINE, 1, "repairs"),
        (GOAL, 1, "goals"),
    ):
        there = [code for code in used if base <= code < base + count]
        by_goal = name == "goals" and any(end["when"] == "goal" for end in full["ends"])
        if there and name not in stages and not by_goal:
            raise ConfigError(f"{CELLS[there[0]].words} needs the stage {name!r}")
    if ("presses" in stages or "plates" in stages) and not groups:
        raise ConfigError("presses and plates need doors")
    if any(DOOR <= code < DOOR + GROUPS for code in used) and "presses" not in stages:
        raise ConfigError("doors need the stage 'presses'")
    if any(code in used for code in (BASE, FLAG)) and len(teams) < 2:
        raise ConfigError("bases and flags need two teams")
    coins = [code - COIN for code in used if COIN <= code < COIN + 4]
    agents = sum(team.size for team in teams if not team.mind)
    if coins and max(coins) >= agents:
        raise ConfigError(f"coin_{max(coins)} belongs to nobody: there are {agents} agents")
    for bad, reason in (*_idle(full, used, teams), *_elsewhere(full, used, teams)):
        if bad:
            raise ConfigError(reason)


def _idle(
    full: Mapping[str, Any], used: tuple[int, ...], teams: Sequence[Team]
) -> Iterator[tuple[bool, str]]:
    """(whether it is so, why it is refused) of what would do nothing."""
    stages, verbs = full["stages"], {verb for team in teams for verb in team.verbs}
    things = {
        "press": (BUTTON, BUTTON + 1, BUTTON + 2),
        "lock": (BOX, LOCKED),
        "drop": (KEY, KEY + 1, KEY + 2),
        "repair": (MACHINE,),
    }
    for verb, codes in things.items():
        what = CELLS[codes[0]].name.removesuffix("_1")
        yield verb in verbs and not set(codes) & set(used), f"the verb {verb!r} needs a {what}"
    for verb, beam in full["beams"].items():
        effect = beam["effect"]
        yield effect == "clean" and DIRT not in used, f"beams.{verb} cleans, and there is no dirt"
        ore = {IRON, GOLD} & set(used)
        yield effect == "mine" and not ore, f"beams.{verb} mines, and there is no ore"
        short = effect in ("out", "freeze") and not beam["steps"]
        yield short, f"beams.{verb} has the effect {effect!r} for 0 steps"
        yield verb not in verbs, f"beams.{verb} is the verb of no team"
    for team in teams:
        both = bool(team.mind and team.verbs)
        yield both, f"the {team.name} are moved by the game, and use no verbs"
    ground = {"dirt": WATER}
    for grown in full["growth"]:
        code = ground.get(grown["what"], SOIL)
        none = code not in used
        yield none, f"growth: {grown['what']} grows on {CELLS[code].words}, and there is none"
    for capture in full["captures"]:
        prey, by = capture["team"], capture["by"]
        yield prey == by, f"captures: the {prey} cannot catch themselves"
        number = [team.name for team in teams].index(by)
        own = {LAND + number, BASE + number, FLAG + number} if number < 2 else set()
        yield capture["land"] and not own & set(used), f"captures: the {by} have no land"
        short = capture["effect"] == "freeze" and not capture["steps"]
        yield short, "captures: freeze is for 1 step or more, given 0"
    taken = {capture["team"] for capture in full["captures"] if capture["effect"] == "caught"}
    for end in full["ends"]:
        when, team, code = end["when"], end["team"], CODES[end["what"]]
        never = when == "caught" and team not in taken
        yield never, f"ends: the {team} are never caught for good"
        apart = when == "meet" and full["conflict"] not in ("share", "agree")
        yield apart, "ends: nobody meets on one cell, but with the conflict 'share'"
        yield when == "score" and "deliveries" not in stages, "ends: nobody scores"
        yield when == "goal" and GOAL not in used, "ends: there is no goal"
        gone = when == "gone" and code not in used
        yield gone, f"ends: there is never {CELLS[code].words}, so that it would end at once"
        yield end["repaired"] and MACHINE not in used, "ends: there is nothing to repair"
    seen = full["spotting"]
    looks = seen and next(team for team in teams if team.name == seen["by"])
    yield bool(looks and looks.mind), "spotting.by is a team that agents play"
    for name in full["rewards"]:
        needs = _EVENT_STAGES.get(name)
        none = bool(needs) and needs not in stages
        yield none, f"rewards: {name!r} never happens without the stage {needs!r}"
        effects = {beam["effect"] for beam in full["beams"].values()}
        struck = name in ("hit", "struck") and not effects & {"out", "freeze", "home"}
        yield struck, f"rewards: {name!r} never happens, as no beam hits anybody"
        lacks = name in _EVENT_CODES and not set(_EVENT_CODES[name]) & set(used)
        yield lacks, f"rewards: {name!r} never happens here"


def _elsewhere(
    full: Mapping[str, Any], used: tuple[int, ...], teams: Sequence[Team]
) -> Iterator[tuple[bool, str]]:
    """(whether it is so, why it is refused) of what does not go together."""
    rooms = bool(full["rooms"])
    yield rooms and bool(full["beams"]), "beams are for grids: in rooms nobody faces anything"
    far = rooms and any(capture["reach"] for capture in full["captures"])
    yield far, "captures: in rooms the reach is 0, the same room"
    yield rooms and full["sight"] is not None, "sight is for grids: one sees all rooms"
    near = rooms and any(len(grown["rates"]) > 1 for grown in full["growth"])
    yield near, "growth: in rooms there is one rate, as nothing is near"
    for team in teams:
        indoors = team.mind in ("thief", "killer")
        yield indoors and not rooms, f"the mind {team.mind!r} is for rooms"
        outdoors = team.mind in ("flee", "chase")
        yield outdoors and rooms, f"the mind {team.mind!r} is for grids"
    solid = {BOX, LOCKED, *range(DOOR, DOOR + GROUPS), *range(KEY, KEY + GROUPS), FLAG, FLAG + 1}
    token = full["conflict"] == "agree"
    yield token and bool(solid & set(used)), "'agree' is for mazes without doors, boxes and flags"
    yield full["masks"] and not token, "masks are for two who move one token: the conflict 'agree'"


# Events -> the stage that makes them happen, or what they need.
_EVENT_STAGES = {
    **dict.fromkeys(("apple", "coin", "theft", "robbed", "key", "flag"), "takes"),
    **dict.fromkeys(("delivery", "conceded"), "deliveries"),
    **dict.fromkeys(("seen", "hidden", "spotting", "searching"), "sights"),
    **dict.fromkeys(("capture", "caught"), "captures"),
    **dict.fromkeys(("hit", "struck", "clean", "iron", "gold", "strike"), "beams"),
    **dict.fromkeys(("win", "loss"), "ends"),
    **{"goal": "goals", "press": "presses", "open": "presses", "drop": "drops"},
    **{"repair": "repairs", "lock": "locks"},
}
_COINS = tuple(range(COIN, COIN + 4))
_EVENT_CODES = {
    **{"apple": (APPLE,), "coin": _COINS, "theft": _COINS, "robbed": _COINS, "clean": (DIRT,)},
    **{"iron": (IRON,), "gold": (GOLD,), "strike": (GOLD,), "goal": (GOAL,), "push": (BOX,)},
    **dict.fromkeys(("key", "open"), (KEY, KEY + 1, KEY + 2)),
    **{"flag": (FLAG, FLAG + 1)},
}


def _features(
    full: Mapping[str, Any],
    used: tuple[int, ...],
    verbs: Sequence[str],
    teams: Sequence[Team],
    rooms: bool,
) -> tuple[str, ...]:
    """The fields that bodies have in observations, besides row and column."""
    effects = [beam["effect"] for beam in full["beams"].values()]
    found = []
    if not rooms and ("lock" in verbs or any(not b["around"] for b in full["beams"].values())):
        found.append("heading")
    if any(KEY <= code < KEY + GROUPS or FLAG <= code < FLAG + 2 for code in used):
        found.append("carry")
    leaves = any(e in ("out", "freeze", "home") for e in effects) or full["captures"]
    if leaves or any(team.wait for team in teams):
        found.append("out")
    if any(beam["cooldown"] for beam in full["beams"].values()):
        found.append("cool")
    if "mine" in effects:
        found.append("ago")
    return tuple(found)


# ---- phrases -------------------------------------------------------------------------------------

_COMMON = ("yes", "no", "wait for me", "I wait for you")
_GRID = ("I go north", "I go south", "I go west", "I go east")
_PHRASES: dict[str, tuple[str, ...]] = {
    "pursuit": ("it is north of me", "it is south of me", "it is west of me", "it is east of me",
                "you close the way", "I close the way"),
    "tag": ("I take the first one", "I take the second one", "they come my way", "split up"),
    "flag": ("I attack", "I guard our base", "I have their flag", "they have our flag",
             "you attack", "you guard our base"),
    "hide_and_seek": ("I hide in the north", "I hide in the south", "I lock the box",
                      "I see one", "I see nobody", "split up"),
    "maze_pair": ("let us go north", "let us go south", "let us go west", "let us go east",
                  "north is a wall", "south is a wall", "west is a wall", "east is a wall",
                  "north is free for me", "south is free for me", "west is free for me",
                  "east is free for me", "what do you see ahead?", "I do not know that cell"),
    "capture": ("I press the button", "you press the button", "I go to its room",
                "I come from the other side", "close the door", "open the door"),
    "escape": ("I repair", "you repair", "the killer is after me", "run away", "I go to the exit",
               "you go to the exit"),
    "door_key": ("I take the key", "you take the key", "I stand on the plate",
                 "you stand on the plate", "go through now", "the door is open"),
    "harvest": ("leave some apples", "let them grow back", "I eat here", "you eat there",
                "stop, or I zap you"),
    "cleanup": ("I clean", "you clean", "let us take turns", "the river is too dirty",
                "stop, or I zap you"),
    "coins": ("I take mine alone", "take yours alone", "you took mine", "sorry", "let us be fair"),
    "mining": ("gold is here", "strike now", "I come to you", "come to me", "I mine iron"),
    "rendezvous": ("come to me", "I come to you", "meet in the middle", "meet in the north west",
                   "meet in the south east", "I am north of you", "I am south of you",
                   "I am west of you", "I am east of you"),
}  # fmt: skip


_MOST_NAMED = 100  # cells of a field whose walls have phrases


def wall_phrase(row: int, column: int) -> str:
    """The phrase that tells of a wall."""
    return f"wall at r{row} c{column}"


def phrases(full: Mapping[str, Any]) -> tuple[str, ...]:
    """The phrasebook of a scenario, for channels around it."""
    own = _PHRASES.get(full["name"], ())
    ways = () if full["rooms"] or full["name"] == "maze_pair" else _GRID
    walls: list[str] = []
    if full["masks"]:
        rows, columns = full["size"] or (len(full["map"]), len(full["map"][0]))
        if rows * columns <= _MOST_NAMED:
            walls = [wall_phrase(y, x) for y in range(rows) for x in range(columns)]
    return (*own, *ways, *_COMMON, *walls)
