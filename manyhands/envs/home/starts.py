"""Homes by description: the space of all first states of a configuration, and `reset_to`.

A description is JSON (`TaskSpace.schema`); a code is a row of whole numbers. Both hold the true
home and the goal, so that curricula and searches over tasks can make, change and keep them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from manyhands.core.config import nearest, one_of, whole
from manyhands.core.env import Array, ConfigError, names_of, shorten
from manyhands.envs.home import generator, goals, rules
from manyhands.envs.home.names import numbered
from manyhands.envs.home.state import (
    BITS,
    CLEAN,
    COOL,
    HOT,
    LAMP,
    NONE,
    SLICED,
    TARGETS,
    HomeState,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

LAMP_WORD, TARGETS_WORD = "lamp", "target"  # of `goal`, in place of kinds
Parts = dict[str, np.ndarray]


def _shapes(home: Home) -> dict[str, int]:
    """The numbers of a code, in order: how many of each."""
    rooms, places, things = home.rooms, home.receptacles, home.objects
    return {
        "task": 1,
        "room_kind": rooms,
        "doors": rooms * (rooms - 1) // 2,
        "kind": places,
        "room": places,
        "open": places,
        "object_kind": things,
        "place": things,
        "bits": things,
        "target": things,
        "player_room": home.players,
        "at": home.players,
        "goal_kind": home.conditions,
        "goal_count": home.conditions,
        "goal_bits": home.conditions,
        "goal_where": home.conditions,
        "errand": home.errand_count,
    }


class TaskSpace:
    """All first states that episodes of a configuration can have.

    Attributes:
        schema: JSON Schema of a description.
        names: of the numbers of a code.
        low, high: i16[size], their bounds. `NONE` (255) stands for what there is not.
    """

    def __init__(self, home: Home):
        self.home, self.schema = home, _schema(home)
        shapes = _shapes(home)
        kinds = home.catalog
        highest = {
            "task": len(home.tasks) - 1,
            "player_room": home.rooms - 1,
            "doors": 1,
            "open": 1,
            "target": 1,
            "bits": sum(BITS),
            "goal_bits": sum(BITS),
            "goal_count": home.objects,
        }
        self.names = tuple(
            name if size == 1 else f"{name} {i}"
            for name, size in shapes.items()
            for i in range(size)
        )
        self.low = np.zeros(len(self.names), np.int16)
        high = [np.full(size, highest.get(name, NONE)) for name, size in shapes.items()]
        self.high = np.concatenate(high).astype(np.int16)
        self._kinds = kinds

    def encode(self, description: Mapping[str, Any]) -> np.ndarray:
        """i16[size], the code of a description.

        Raises:
            ConfigError: it is no home of this configuration, or its goal cannot be reached.
        """
        parts = parts_of(self.home, description)
        return np.concatenate([parts[name] for name in _shapes(self.home)]).astype(np.int16)

    def decode(self, code: Any) -> dict[str, Any]:
        """The description of a code.

        Raises:
            ConfigError: it is none of this configuration.
        """
        numbers = np.asarray(code)
        if numbers.shape != self.low.shape or numbers.dtype.kind not in "iu":
            raise ConfigError(
                f"a code is {len(self.low)} whole numbers, given {numbers.dtype}"
                f"{list(numbers.shape)}"
            )
        wrong = np.flatnonzero((numbers < self.low) | (numbers > self.high))
        if len(wrong):
            at = int(wrong[0])
            raise ConfigError(
                f"{self.names[at]} of a code is {self.low[at]} to {self.high[at]}, given "
                f"{numbers[at]}"
            )
        found = description_of(self.home, _split(self.home, numbers))
        parts_of(self.home, found)
        return found

    def describe(self, state: HomeState) -> dict[str, Any]:
        """The description of a first state."""
        return description_of(self.home, _parts_of_state(self.home, state))


def _split(home: Home, numbers: np.ndarray) -> Parts:
    ends = list(itertools.accumulate(_shapes(home).values()))
    return dict(zip(_shapes(home), np.split(numbers, ends[:-1]), strict=True))


def _parts_of_state(home: Home, state: HomeState) -> Parts:
    parts = {
        name: np.atleast_1d(np.asarray(getattr(state, name)))
        for name in _shapes(home)
        if name != "doors"
    }
    upper = np.triu_indices(home.rooms, 1)
    parts["doors"] = (np.asarray(state.steps) == 1)[upper]
    return {name: part.astype(np.int16) for name, part in parts.items()}


# ---- descriptions --------------------------------------------------------------------------------


def _word(kind: int, names: Sequence[str], special: Mapping[int, str]) -> str:
    if kind in special:
        return special[kind]
    if kind >= len(names):
        raise ConfigError(f"there is no kind {kind}; there are 0 to {len(names) - 1}")
    return names[kind]


def description_of(home: Home, parts: Parts) -> dict[str, Any]:
    """The description of what a code holds."""
    catalog = home.catalog
    called: dict[str, list[str]] = {}
    listed = {
        "room_kind": (catalog.room_kinds, False),
        "kind": (catalog.receptacle_kinds, True),
        "object_kind": (catalog.object_kinds, True),
    }
    for name, (kinds, always) in listed.items():
        for kind in parts[name].tolist():
            if kind != NONE:
                _word(kind, kinds, {})
        called[name] = numbered(parts[name].tolist(), kinds, always)
    rooms, places, things = called.values()

    def name_in(names: Sequence[str], slot: int, what: str) -> str:
        if slot >= len(names) or not names[slot]:
            raise ConfigError(f"{what} {slot} does not exist")
        return names[slot]

    def states(bits: int) -> list[str]:
        return [word for bit, word in BITS.items() if bits & bit]

    def place_of(code: int) -> str:
        if code < home.receptacles:
            return name_in(places, code, "receptacle")
        code -= home.receptacles
        if code < home.players * home.hands:
            return home.agents[code // home.hands]
        return name_in(things, code - home.players * home.hands, "object")

    upper = zip(*np.triu_indices(home.rooms, 1), strict=True)
    doors = [
        [name_in(rooms, int(a), "room"), name_in(rooms, int(b), "room")]
        for (a, b), joined in zip(upper, parts["doors"].tolist(), strict=True)
        if joined
    ]
    found: dict[str, Any] = {
        "task": home.tasks[int(parts["task"][0])],
        "rooms": [catalog.room_kinds[kind] for kind in parts["room_kind"].tolist() if kind != NONE],
        "doors": doors,
        "receptacles": [
            {
                "kind": catalog.receptacle_kinds[kind],
                "room": name_in(rooms, int(parts["room"][slot]), "room"),
                "open": bool(parts["open"][slot]),
            }
            for slot, kind in enumerate(parts["kind"].tolist())
            if kind != NONE
        ],
        "objects": [
            {
                "kind": catalog.object_kinds[kind],
                "in": place_of(int(parts["place"][slot])),
                "state": states(int(parts["bits"][slot])),
                **({"target": True} if parts["target"][slot] else {}),
            }
            for slot, kind in enumerate(parts["object_kind"].tolist())
            if kind != NONE
        ],
        "players": [
            {"room": name_in(rooms, room, "room")}
            if at == NONE
            else {"at": name_in(places, at, "receptacle")}
            for room, at in zip(parts["player_room"].tolist(), parts["at"].tolist(), strict=True)
        ],
    }
    if home.family == "follow":
        found["errands"] = [name_in(places, e, "receptacle") for e in parts["errand"].tolist()]
        return found
    found["goal"] = [
        {
            "kind": _word(kind, catalog.object_kinds, {TARGETS: TARGETS_WORD}),
            "count": int(parts["goal_count"][k]),
            "state": states(int(parts["goal_bits"][k])),
            "where": _word(
                int(parts["goal_where"][k]), catalog.receptacle_kinds, {LAMP: LAMP_WORD}
            ),
        }
        for k, kind in enumerate(parts["goal_kind"].tolist())
        if kind != NONE
    ]
    return found


_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # needed, and optional ones
    "start": (("rooms", "receptacles", "objects"), ("task", "doors", "players", "goal", "errands")),
    "receptacles": (("kind",), ("room", "open")),
    "objects": (("kind", "in"), ("state", "target")),
    "players": ((), ("room", "at")),
    "goal": (("kind", "where"), ("count", "state")),
}


def _checked(what: str, given: Any) -> Mapping[str, Any]:
    needed, optional = _FIELDS[what]
    if not isinstance(given, Mapping):
        raise ConfigError(f"{what} holds {names_of([*needed, *optional])}, given {shorten(given)}")
    for name in given:
        if name not in (*needed, *optional):
            raise ConfigError(
                f"{what} has no {name!r};{nearest(name, [*needed, *optional])} there are "
                f"{names_of([*needed, *optional])}"
            )
    for name in needed:
        if name not in given:
            raise ConfigError(f"{what} needs {name!r}, given {shorten(given)}")
    return given


def _list(what: str, given: Any, most: int, least: int = 0) -> list[Any]:
    if not isinstance(given, (list, tuple)) or not least <= len(given) <= most:
        raise ConfigError(f"{what} is a list of {least} to {most}, given {shorten(given)}")
    return list(given)


def _kind(what: str, given: Any, names: Sequence[str]) -> int:
    name = given.replace(" ", "_") if isinstance(given, str) else given
    if name not in names:
        raise ConfigError(
            f"{what} is a kind of the catalog, given {given!r};{nearest(name, names)} there are "
            f"{names_of(names)}"
        )
    return names.index(name)


def _states(given: Any) -> int:
    words = {word: bit for bit, word in BITS.items()}
    bits = sum({words[one_of("state", word, tuple(words))] for word in _list("state", given, 5)})
    if bits & HOT and bits & COOL:
        raise ConfigError(f"nothing is hot and cool at once, given state={given!r}")
    return bits


def _slot(what: str, given: Any, names: Sequence[str]) -> int:
    name = given.replace("_", " ") if isinstance(given, str) else given
    if not name or name not in names:
        known = [name for name in names if name]
        raise ConfigError(
            f"{what} is the name of something that is there, given {given!r};"
            f"{nearest(name, known)} there are {names_of(known or ['none'])}"
        )
    return names.index(name)


def parts_of(home: Home, given: Any) -> Parts:
    """What a code holds, from a description.

    Raises:
        ConfigError: it is no home of this configuration, or its goal cannot be reached.
    """
    given = _checked("start", given)
    catalog = home.catalog
    parts = {name: np.full(size, NONE) for name, size in _shapes(home).items()}
    for name in ("doors", "open", "bits", "target", "goal_count", "goal_bits"):
        parts[name][:] = 0
    parts["errand"][:] = 0
    default = home.tasks[0]
    parts["task"][:] = home.tasks.index(one_of("task", given.get("task", default), home.tasks))

    listed = _list("rooms", given["rooms"], home.rooms, 1)
    kinds = sorted(_kind("a room", name, catalog.room_kinds) for name in listed)
    parts["room_kind"][: len(kinds)] = kinds
    rooms = numbered(kinds, catalog.room_kinds, always=False)
    joined = np.zeros((home.rooms, home.rooms), bool)
    count = len(rooms)
    doors = given.get("doors", [[rooms[0], room] for room in rooms[1:]])
    for door in _list("doors", doors, home.rooms**2):
        a, b = (_slot("a door", room, rooms) for room in _list("a door", door, 2, 2))
        if a == b:
            raise ConfigError(f"a door joins two rooms, given {door!r}")
        joined[min(a, b), max(a, b)] = True
    parts["doors"] = joined[np.triu_indices(home.rooms, 1)].astype(int)
    near = joined | joined.T
    reached = {0}
    for _ in range(count):
        reached |= {b for a in reached for b in np.flatnonzero(near[a]).tolist()}
    if len(reached) < count:
        raise ConfigError(f"the doors do not join all rooms, given doors={doors!r}")

    raw = _list("receptacles", given["receptacles"], home.receptacles, 1)
    stands = [_checked("receptacles", each) for each in raw]
    numbers = [_kind("a receptacle", each["kind"], catalog.receptacle_kinds) for each in stands]
    order = sorted(range(len(stands)), key=numbers.__getitem__)
    for slot, i in enumerate(order):
        parts["kind"][slot] = numbers[i]
        room = stands[i].get("room", rooms[0])
        parts["room"][slot] = _slot("the room of a receptacle", room, rooms)
        opens = bool(catalog.can["opens"][numbers[i]])
        is_open = stands[i].get("open", not opens)
        if not isinstance(is_open, bool) or not (is_open or opens):
            raise ConfigError(f"a receptacle that cannot be closed is open, given {stands[i]!r}")
        parts["open"][slot] = is_open
    places = numbered([numbers[i] for i in order], catalog.receptacle_kinds)

    raw = _list("objects", given["objects"], home.objects)
    things = [_checked("objects", each) for each in raw]
    numbers = [_kind("an object", each["kind"], catalog.object_kinds) for each in things]
    order = sorted(range(len(things)), key=numbers.__getitem__)
    names = numbered([numbers[i] for i in order], catalog.object_kinds)
    free = {
        name: list(codes)
        for name, codes in zip(home.agents, rules.hand_codes(home).tolist(), strict=False)
    }
    for slot, i in enumerate(order):
        parts["object_kind"][slot] = numbers[i]
        parts["bits"][slot] = _states(things[i].get("state", []))
        target = things[i].get("target", False)
        if not isinstance(target, bool) or (target and home.family != "transport"):
            raise ConfigError(f"targets are objects of 'transport', given {things[i]!r}")
        parts["target"][slot] = target
        parts["place"][slot] = _place(home, things[i], numbers[i], places, names, free, parts)
    _check_contents(home, parts, names)

    players = _list(
        "players", given.get("players", [{}] * home.players), home.players, home.players
    )
    for n, player in enumerate(players):
        where = _checked("players", player)
        if "at" in where:
            at = _slot("a player's receptacle", where["at"], places)
            parts["at"][n], parts["player_room"][n] = at, parts["room"][at]
            if "room" in where and _slot("a room", where["room"], rooms) != parts["room"][at]:
                raise ConfigError(f"{where['at']!r} is in another room, given {player!r}")
        else:
            room = where.get("room", rooms[0])
            parts["player_room"][n] = _slot("a player's room", room, rooms)
    if home.family == "follow":
        errands = given.get("errands")
        if errands is None:
            errands = [places[(1 + i) % len(places)] for i in range(home.errand_count)]
        listed = _list("errands", errands, home.errand_count, home.errand_count)
        parts["errand"] = np.array([_slot("an errand", each, places) for each in listed])
        return parts
    _goal(home, given.get("goal"), parts)
    return parts


def _place(
    home: Home,
    thing: Mapping[str, Any],
    kind: int,
    places: Sequence[str],
    names: Sequence[str],
    free: Mapping[str, list[int]],
    parts: Parts,
) -> int:
    catalog, where = home.catalog, thing["in"]
    if catalog.may["lamp"][kind] and home.family != "chore":
        raise ConfigError(f"lamps are for chores, given {thing!r}")
    if where in free:
        if not free[where] or catalog.may["lamp"][kind]:
            raise ConfigError(f"{where} cannot hold one more of it, given {thing!r}")
        return free[where].pop(0)
    if where in names and rules.packs(home) and catalog.may["pack"][kind]:
        return rules.inside_code(home) + names.index(where)
    at = _slot("the place of an object", where, places)
    if not catalog.can["takes"][parts["kind"][at], kind]:
        raise ConfigError(f"{where!r} takes no {thing['kind']!r}")
    return at


def _check_contents(home: Home, parts: Parts, names: Sequence[str]) -> None:
    first, catalog = rules.inside_code(home), home.catalog
    kinds, inside = parts["object_kind"], parts["place"]
    for slot, name in enumerate(names):
        packed = int((inside == first + slot).sum())
        if packed > catalog.holds[kinds[slot]]:
            raise ConfigError(f"{name!r} holds {catalog.holds[kinds[slot]]}, given {packed} in it")
    lamps = [
        place
        for kind, place in zip(kinds.tolist(), inside.tolist(), strict=True)
        if kind != NONE and catalog.may["lamp"][kind]
    ]
    if len(set(lamps)) < len(lamps):
        raise ConfigError("a receptacle has one lamp at most")


def _goal(home: Home, given: Any, parts: Parts) -> None:
    """Add the goal, which must be reachable, and not reached."""
    catalog, takes = home.catalog, home.catalog.can["takes"]
    things, stands = parts["object_kind"], parts["kind"][parts["kind"] != NONE]
    if given is None and home.family == "transport":
        count = int(parts["target"].sum())
        given = [{"kind": TARGETS_WORD, "count": count, "where": "bed"}]
    if given is None:
        raise ConfigError("start needs 'goal', a sentence or a list of conditions")
    if isinstance(given, str):
        given = goals.described(catalog, goals.read(catalog, given))
    for k, raw in enumerate(_list("goal", given, home.conditions, 1)):
        condition = _checked("goal", raw)
        bits = _states(condition.get("state", []))
        wanted = whole("count", condition.get("count", 1), 1, home.objects)
        if home.family == "transport":
            one_of("the kind of a goal of 'transport'", condition["kind"], (TARGETS_WORD,))
            kind, able = TARGETS, parts["target"] > 0
            if bits or wanted != able.sum():
                raise ConfigError(f"the goal of 'transport' is all targets, given {raw!r}")
        else:
            kind = _kind("a goal's object", condition["kind"], catalog.object_kinds)
            able = things == kind
            if kind in parts["goal_kind"][:k]:
                raise ConfigError(f"there is one condition for each kind, given {raw!r} twice")
            if catalog.may["lamp"][kind]:
                raise ConfigError(f"a lamp cannot be carried, given {raw!r}")
        if able.sum() < wanted:
            raise ConfigError(f"the goal asks for {wanted}, and there are {able.sum()}: {raw!r}")
        if condition["where"] == LAMP_WORD:
            lamps = [kind for kind in things.tolist() if kind != NONE and catalog.may["lamp"][kind]]
            if "look" not in home.tasks or not lamps:
                raise ConfigError(f"a goal at a lamp is of the task 'look', given {raw!r}")
            where = LAMP
        else:
            where = _kind("a goal's receptacle", condition["where"], catalog.receptacle_kinds)
            kinds = things[able] if kind == TARGETS else np.array([kind])
            if where not in stands or (kind != TARGETS and not takes[where, kinds].all()):
                raise ConfigError(f"no {condition['where']!r} here takes it: {raw!r}")
        _check_bits(home, raw, kind, bits, stands, things)
        parts["goal_kind"][k], parts["goal_count"][k] = kind, wanted
        parts["goal_bits"][k], parts["goal_where"][k] = bits, where


def _check_bits(
    home: Home, raw: Any, kind: int, bits: int, stands: np.ndarray, things: np.ndarray
) -> None:
    catalog = home.catalog
    needs = {CLEAN: ("clean", "cleans"), HOT: ("heat", "heats"), COOL: ("cool", "cools")}
    for bit, (may, can) in needs.items():
        if bits & bit and not (catalog.may[may][kind] and catalog.can[can][stands].any()):
            raise ConfigError(f"nothing here makes it {BITS[bit]}: {raw!r}")
    if bits & SLICED:
        knives = any(kind != NONE and catalog.may["cut"][kind] for kind in things.tolist())
        if not (home.slicing and knives and catalog.may["slice"][kind]):
            raise ConfigError(f"it cannot be sliced here: {raw!r}")
    if bits & ~(CLEAN | HOT | COOL | SLICED):
        raise ConfigError(f"a goal's state is clean, hot, cool or sliced, given {raw!r}")


# ---- states --------------------------------------------------------------------------------------


def start(home: Home, description: Any) -> HomeState:
    """The first state of a described home.

    Raises:
        ConfigError: it is no home of this configuration, its goal cannot be reached, or is reached
            already.
    """
    parts = parts_of(home, description)
    upper = np.triu_indices(home.rooms, 1)
    joined = np.zeros((home.rooms, home.rooms), bool)
    joined[upper] = parts.pop("doors") > 0
    masks = {name: parts.pop(name) > 0 for name in ("open", "target")}
    numbers: dict[str, Any] = {name: part.astype(np.uint8) for name, part in parts.items()}
    numbers["task"] = numbers["task"][0]
    numbers["is_open"], numbers["target"] = masks["open"], masks["target"]
    state: HomeState = _beginner(home)(joined, numbers)
    if home.family != "follow" and bool(
        (np.asarray(state.best) == np.asarray(state.goal_count)).all()
    ):
        raise ConfigError("the goal is reached already")
    return state


@functools.lru_cache(maxsize=16)
def _beginner(home: Home) -> Any:
    def begin(joined: Array, numbers: dict[str, Array]) -> HomeState:
        there = numbers["room_kind"] != NONE
        return generator.begin(home, steps=generator.distances(joined, there), **numbers)

    return jax.jit(begin)


def _schema(home: Home) -> dict[str, Any]:
    catalog = home.catalog
    name = {"type": "string"}
    state = {"type": "array", "items": {"enum": list(BITS.values())}}

    def one(what: str, **properties: Any) -> dict[str, Any]:
        needed = [field for field in _FIELDS[what][0] if field in properties]
        return {
            "type": "object",
            "properties": properties,
            "required": needed,
            "additionalProperties": False,
        }

    def several(item: Any, most: int, least: int = 0) -> dict[str, Any]:
        return {"type": "array", "items": item, "minItems": least, "maxItems": most}

    properties: dict[str, Any] = {
        "task": {"enum": list(home.tasks)},
        "rooms": several({"enum": list(catalog.room_kinds)}, home.rooms, 1),
        "doors": several(several(name, 2, 2), home.rooms**2),
        "receptacles": several(
            one(
                "receptacles",
                kind={"enum": list(catalog.receptacle_kinds)},
                room=name,
                open={"type": "boolean"},
            ),
            home.receptacles,
            1,
        ),
        "objects": several(
            one(
                "objects",
                kind={"enum": list(catalog.object_kinds)},
                state=state,
                target={"type": "boolean"},
                **{"in": name},
            ),
            home.objects,
        ),
        "players": several(one("players", room=name, at=name), home.players, home.players),
    }
    if home.family == "follow":
        properties["errands"] = several(name, home.errand_count, home.errand_count)
    else:
        wheres = [*catalog.receptacle_kinds, LAMP_WORD]
        kinds = [TARGETS_WORD] if home.family == "transport" else list(catalog.object_kinds)
        condition = one(
            "goal",
            kind={"enum": kinds},
            count={"type": "integer", "minimum": 1, "maximum": home.objects},
            state=state,
            where={"enum": wheres},
        )
        listed = several(condition, home.conditions, 1)
        properties["goal"] = {"anyOf": [{"type": "string"}, listed]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **one("start", **properties)}
