"""Worlds: maps as text, and the parameters of generated ones (`generation.py` makes these).

**Maps as text**, one letter a cell, all rows of the same length (`LETTERS`, `BODIES`):

    .....TT      . grass   W water   S stone    _ path    , sand    T tree   L lava
    .0..z.T      C coal    I iron    D diamond  B table   F furnace p plant  P ripe plant
    ..B..WW      players 0 to 7, z zombie, k skeleton, c cow, arrows < > ^ v

and X gap, = bridge, G gate, O beacon, * lit beacon, # wall. Players, zombies and cows stand on
grass, skeletons and arrows on path. What lies outside of a map can be neither entered nor changed.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyhands.core.env import ConfigError, LayoutError
from manyhands.envs.craftworld import rules as rl

LETTERS = {
    ".": rl.GRASS,
    "W": rl.WATER,
    "S": rl.STONE,
    "_": rl.PATH,
    ",": rl.SAND,
    "T": rl.TREE,
    "L": rl.LAVA,
    "C": rl.COAL,
    "I": rl.IRON,
    "D": rl.DIAMOND,
    "B": rl.TABLE,
    "F": rl.FURNACE,
    "p": rl.PLANT,
    "P": rl.RIPE_PLANT,
    "X": rl.GAP,
    "=": rl.BRIDGE,
    "G": rl.GATE,
    "O": rl.BEACON,
    "*": rl.LIT_BEACON,
    "#": rl.WALL,
}
# Creatures: letter -> (kind as in `CraftState.kind`, heading, the material under it).
BODIES = {
    "z": (1, 0, rl.GRASS),
    "k": (2, 0, rl.PATH),
    "c": (3, 0, rl.GRASS),
    "<": (4, 0, rl.PATH),
    ">": (4, 1, rl.PATH),
    "^": (4, 2, rl.PATH),
    "v": (4, 3, rl.PATH),
}
SMALLEST = 8  # rows, and columns, of a generated world
LARGEST = 127  # of any map: differences of positions fit a byte


@dataclasses.dataclass(frozen=True)
class Chart:
    """A map that was given as text.

    Attributes:
        ground: u8[H, W], materials.
        players: (row, column) of each player, in index order.
        creatures: (kind, row, column, heading) of each creature, in reading order.
        plants: (row, column, whether it is ripe) of each plant, in reading order.
    """

    ground: np.ndarray
    players: tuple[tuple[int, int], ...]
    creatures: tuple[tuple[int, int, int, int], ...]
    plants: tuple[tuple[int, int, bool], ...]


def read_map(text: str) -> Chart:
    """The chart that a text shows (see the module's own text).

    Raises:
        LayoutError: rows of different lengths, a letter that is none, no player, players that are
            not numbered 0, 1, 2, ...
    """
    if not isinstance(text, str) or not text.strip():
        raise LayoutError(f"a map is a text of rows of letters, given {text!r}")
    rows = [line.strip() for line in text.strip().splitlines()]
    height, width = len(rows), len(rows[0])
    if max(height, width) > LARGEST:
        raise LayoutError(f"a map has at most {LARGEST} rows and columns, given {height}x{width}")
    ground = np.zeros((height, width), np.uint8)
    players: dict[int, tuple[int, int]] = {}
    creatures, plants = [], []
    for y, row in enumerate(rows):
        if len(row) != width:
            raise LayoutError(f"{len(row)} cells, where the first row has {width}", y)
        for x, letter in enumerate(row):
            if letter in LETTERS:
                ground[y, x] = LETTERS[letter]
                if ground[y, x] in (rl.PLANT, rl.RIPE_PLANT):
                    plants.append((y, x, letter == "P"))
            elif letter in BODIES:
                kind, heading, ground[y, x] = BODIES[letter]
                creatures.append((kind, y, x, heading))
            elif letter in "01234567":
                if int(letter) in players:
                    raise LayoutError(f"a second player {letter}", y, x)
                players[int(letter)], ground[y, x] = (y, x), rl.GRASS
            else:
                known = "".join(LETTERS) + "".join(BODIES) + "01234567"
                raise LayoutError(f"{letter!r} is no letter of a map; there are {known}", y, x)
    if sorted(players) != list(range(len(players))) or not players:
        raise LayoutError(
            f"players are numbered 0, 1, 2, ... without gaps, given {sorted(players) or 'none'}"
        )
    where = tuple(players[i] for i in range(len(players)))
    return Chart(ground, where, tuple(creatures), tuple(plants))


def write_map(
    ground: np.ndarray,
    players: dict[int, tuple[int, int]],
    creatures: list[tuple[int, int, int, int]],
) -> str:
    """The text of a map; players stand over creatures, and both over the ground."""
    letters = np.full(ground.shape, "?", "<U1")
    for letter, code in LETTERS.items():
        letters[ground == code] = letter
    signs = {(kind, heading): sign for sign, (kind, heading, _) in BODIES.items()}
    for kind, y, x, heading in creatures:
        letters[y, x] = signs[kind, heading if kind == 4 else 0]
    for i, (y, x) in players.items():
        letters[y, x] = str(i)
    return "\n".join("".join(row) for row in letters)


# ---- parameters ----------------------------------------------------------------------------------


def _factor(what: str) -> dict[str, Any]:
    return {"type": "number", "minimum": 0, "maximum": 8, "default": 1, "description": what}


def _shift(what: str) -> dict[str, Any]:
    return {"type": "number", "minimum": -1, "maximum": 1, "default": 0, "description": what}


WORLD_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A kind of CraftWorld",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 40,
            "default": "usual",
            "description": "what to call it",
        },
        "day_length": {
            "type": "integer",
            "minimum": 10,
            "maximum": 3000,
            "default": 300,
            "description": "steps of a day and night",
        },
        "water": _shift("added to the noise that water and beaches come from: more is wetter"),
        "mountains": _shift("added to the noise that mountains come from: more is rockier"),
        "caves": _shift("added to the noise that tunnels and caves come from: more is hollower"),
        "lava": _shift("added to the noise that lava comes from: more is hotter"),
        "trees": _factor("times as many trees as usual"),
        "coal": _factor("times as much coal"),
        "iron": _factor("times as much iron"),
        "diamond": _factor("times as many diamonds"),
        "cows": _factor("times as many cows, at first and later"),
        "zombies": _factor("times as many zombies"),
        "skeletons": _factor("times as many skeletons"),
        "always_diamond": {
            "type": ["boolean", "null"],
            "default": None,
            "description": "whether there is at least one diamond; null: as the rules have it",
        },
    },
}


@dataclasses.dataclass(frozen=True)
class WorldConfig:
    """The parameters of generated worlds; `WORLD_SCHEMA` says what each means."""

    name: str = "usual"
    day_length: int = 300
    water: float = 0.0
    mountains: float = 0.0
    caves: float = 0.0
    lava: float = 0.0
    trees: float = 1.0
    coal: float = 1.0
    iron: float = 1.0
    diamond: float = 1.0
    cows: float = 1.0
    zombies: float = 1.0
    skeletons: float = 1.0
    always_diamond: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """What differs from the usual, as `load_world` takes it."""
        usual = WorldConfig()
        fields = dataclasses.asdict(self)
        return {name: value for name, value in fields.items() if value != getattr(usual, name)}


def load_world(given: Any) -> WorldConfig:
    """Parameters from a dict, or from a JSON file, whose path is given.

    Raises:
        ConfigError: the file cannot be read, or what it says does not fit `WORLD_SCHEMA`.
    """
    if given is None:
        return WorldConfig()
    if isinstance(given, WorldConfig):
        return given
    where = "world"
    if isinstance(given, (str, Path)):
        where = str(given)
        try:
            given = json.loads(Path(given).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(f"no world can be read from {where}: {error}") from error
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where} is an object of parameters (WORLD_SCHEMA), given {given!r}")
    for name, value in given.items():
        rule = WORLD_SCHEMA["properties"].get(name)
        if rule is None:
            raise ConfigError(
                f"{where} has no parameter {name!r}; there are "
                f"{', '.join(WORLD_SCHEMA['properties'])}"
            )
        reason = _misfit(value, rule)
        if reason:
            raise ConfigError(f"{where}: {name} is {reason}, given {value!r}")
    floats = {
        name: float(value)
        for name, value in given.items()
        if WORLD_SCHEMA["properties"][name]["type"] == "number"
    }
    return WorldConfig(**{**given, **floats})


def _misfit(value: Any, rule: Mapping[str, Any]) -> str:
    """What a value should be, if it is not; else ""."""
    kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    kind: Any = {"string": str, "integer": int, "number": (int, float)}.get(kinds[0], bool)
    if value is None and "null" in kinds:
        return ""
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        return " or ".join(kinds)
    if isinstance(value, str):
        if not rule["minLength"] <= len(value) <= rule["maxLength"]:
            return f"a text of {rule['minLength']} to {rule['maxLength']} letters"
    elif not isinstance(value, bool) and not rule["minimum"] <= value <= rule["maximum"]:
        return f"from {rule['minimum']} to {rule['maximum']}"
    return ""


def load_worlds(given: Any) -> tuple[WorldConfig, ...]:
    """One kind of world, or several to draw from."""
    if isinstance(given, (list, tuple)):
        if not 1 <= len(given) <= 255:
            raise ConfigError(f"world is one world or a list of 1 to 255, given {len(given)}")
        for item in given:
            if item is None:
                raise ConfigError(f"a list of worlds has no None in it, given {given!r}")
        return tuple(load_world(item) for item in given)
    return (load_world(given),)


def check_size(given: Any) -> tuple[int, int]:
    """Rows and columns of generated worlds."""
    sides = (given, given) if isinstance(given, int) else given
    if (
        not isinstance(sides, Sequence)
        or len(sides) != 2
        or not all(isinstance(s, int) and SMALLEST <= s <= LARGEST for s in sides)
    ):
        raise ConfigError(
            f"size is a number from {SMALLEST} to {LARGEST}, or two of them (rows and columns), "
            f"given {given!r}"
        )
    return sides[0], sides[1]


def check_start(
    given: Any, players: int, items: tuple[str, ...] = rl.ITEMS
) -> tuple[np.ndarray, np.ndarray, int]:
    """What players begin with: (inventory i32[N, items], vitals i32[N, 4], clock)."""
    pockets = np.zeros((players, len(items)), np.int32)
    vitals = np.full((players, len(rl.VITALS)), rl.MOST)
    each = given if isinstance(given, (list, tuple)) else [given or {}] * players
    if len(each) != players:
        raise ConfigError(f"start has {len(each)} entries for {players} players")
    for i, entry in enumerate(each):
        if not isinstance(entry, Mapping) or not set(entry) <= {"inventory", "vitals", "clock"}:
            raise ConfigError(
                f"start is like {{'inventory': {{'wood': 3}}, 'vitals': {{'food': 5}}, 'clock': 0}}"
                f", or a list of such; given {entry!r}"
            )
        for part, names, table in (("inventory", items, pockets), ("vitals", rl.VITALS, vitals)):
            for name, count in dict(entry.get(part) or {}).items():
                least = 1 if name == "health" else 0
                if name not in names or not isinstance(count, int) or not least <= count <= rl.MOST:
                    raise ConfigError(
                        f"start: {part} is a number from {least} to {rl.MOST} of "
                        f"{', '.join(names)}; given {name!r}: {count!r}"
                    )
                table[i, names.index(name)] = count
    clock = each[0].get("clock", 0)
    if not isinstance(clock, int) or not 0 <= clock <= 1_000_000:
        raise ConfigError(f"start: clock is a number of steps from 0, given {clock!r}")
    return pockets, vitals, clock


def daylight(day_length: int) -> np.ndarray:
    """f64[day_length], the light at each step of a day: 1 - |cos(pi (t + 0.3))|^3, where t is the
    share of the day (Crafter, and Craftax)."""
    progress = np.arange(day_length) / day_length + 0.3
    return 1 - np.abs(np.cos(np.pi * progress)) ** 3
