"""Worlds: maps as text, the parameters of generated ones, and their generation.

**Maps as text**, one letter a cell, all rows of the same length (`LETTERS`, `BODIES`):

    .....TT      . grass   W water   S stone    _ path    , sand    T tree   L lava
    .0..z.T      C coal    I iron    D diamond  B table   F furnace p plant  P ripe plant
    ..B..WW      players 0 to 7, z zombie, k skeleton, c cow, arrows < > ^ v

and X gap, = bridge, G gate, O beacon, * lit beacon, # wall. Players, zombies and cows stand on
grass, skeletons and arrows on path. What lies outside of a map can be neither entered nor changed.

**Generated worlds** follow the formulas of the two games, computed in whole numbers (4096 is one),
so that a seed gives the same world on every machine, alone and in a batch. Crafter's has
OpenSimplex noise in three dimensions (K. Spencer 2014, in the public domain), of which each feature
reads another layer; Craftax-Classic's has one octave of gradient noise (Perlin 2002) for each.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from manyhands.core.env import Array, ConfigError, LayoutError
from manyhands.envs.craftworld.rules import (
    BEACON,
    BRIDGE,
    COAL,
    COW,
    DIAMOND,
    FURNACE,
    GAP,
    GATE,
    GRASS,
    IRON,
    ITEMS,
    LAVA,
    LIT_BEACON,
    MOST,
    PATH,
    PLANT,
    RIPE_PLANT,
    SAND,
    SKELETON,
    STONE,
    TABLE,
    TREE,
    VITALS,
    WALL,
    WATER,
    ZOMBIE,
)

if TYPE_CHECKING:
    from manyhands.envs.craftworld.env import CraftWorld

LETTERS = {
    ".": GRASS,
    "W": WATER,
    "S": STONE,
    "_": PATH,
    ",": SAND,
    "T": TREE,
    "L": LAVA,
    "C": COAL,
    "I": IRON,
    "D": DIAMOND,
    "B": TABLE,
    "F": FURNACE,
    "p": PLANT,
    "P": RIPE_PLANT,
    "X": GAP,
    "=": BRIDGE,
    "G": GATE,
    "O": BEACON,
    "*": LIT_BEACON,
    "#": WALL,
}
# Creatures: letter -> (kind as in `CraftState.kind`, heading, the material under it).
BODIES = {
    "z": (1, 0, GRASS),
    "k": (2, 0, PATH),
    "c": (3, 0, GRASS),
    "<": (4, 0, PATH),
    ">": (4, 1, PATH),
    "^": (4, 2, PATH),
    "v": (4, 3, PATH),
}
LARGEST = 127  # rows, and columns, of a map: differences of positions fit a byte


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
                if ground[y, x] in (PLANT, RIPE_PLANT):
                    plants.append((y, x, letter == "P"))
            elif letter in BODIES:
                kind, heading, ground[y, x] = BODIES[letter]
                creatures.append((kind, y, x, heading))
            elif letter in "01234567":
                if int(letter) in players:
                    raise LayoutError(f"a second player {letter}", y, x)
                players[int(letter)], ground[y, x] = (y, x), GRASS
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


def check_start(given: Any, players: int) -> tuple[np.ndarray, np.ndarray, int]:
    """What players begin with: (inventory i32[N, 12], vitals i32[N, 4], clock)."""
    pockets = np.zeros((players, len(ITEMS)), np.int32)
    vitals = np.full((players, len(VITALS)), MOST)
    each = given if isinstance(given, (list, tuple)) else [given or {}] * players
    if len(each) != players:
        raise ConfigError(f"start has {len(each)} entries for {players} players")
    for i, entry in enumerate(each):
        if not isinstance(entry, Mapping) or not set(entry) <= {"inventory", "vitals", "clock"}:
            raise ConfigError(
                f"start is like {{'inventory': {{'wood': 3}}, 'vitals': {{'food': 5}}, 'clock': 0}}"
                f", or a list of such; given {entry!r}"
            )
        for part, names, table in (("inventory", ITEMS, pockets), ("vitals", VITALS, vitals)):
            for name, count in dict(entry.get(part) or {}).items():
                least = 1 if name == "health" else 0
                if name not in names or not isinstance(count, int) or not least <= count <= MOST:
                    raise ConfigError(
                        f"start: {part} is a number from {least} to {MOST} of "
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


# ---- noise, in whole numbers ---------------------------------------------------------------------

SMALLEST = 8  # rows, and columns, of a generated world
ONE = 4096  # the number that stands for 1
# Points of OpenSimplex's lattice whose contribution reaches into one of its cells: those within
# sqrt(2) of some point of the cell.
_NEIGHBOURS = np.array(
    [
        [i, j, k]
        for i in range(-1, 3)
        for j in range(-1, 3)
        for k in range(-1, 3)
        if sorted((i, j, k))
        in (
            *([0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 2], [0, 1, 2], [1, 1, 2]),
            *([-1, 0, 1], [-1, 1, 1]),
        )
    ],
    np.int32,
)


@jax.jit
def _same(*values: Array) -> tuple[Array, ...]:
    return values


def alone(*values: Array) -> tuple[Array, ...]:
    """Values that several others are made of, computed once. In a batch the compiler would compute
    them again for each of those, element by element, as deep as it can fuse; a call that it may not
    inline ends that (an optimization barrier does not, on a CPU)."""
    return set_xla_metadata(_same(*values), inlineable="false")


def _mixed(*words: Array) -> Array:
    """u32, one well-mixed word of several (the mixing of `lowbias32`, C. Wellons 2018)."""
    found = jnp.uint32(0x9E3779B9)
    for word in words:
        found = (found ^ jnp.asarray(word).astype(jnp.uint32)) * np.uint32(0x9E3779B1)
        found = (found ^ (found >> 16)) * np.uint32(0x7FEB352D)
        found = (found ^ (found >> 15)) * np.uint32(0x846CA68B)
        found = found ^ (found >> 16)
    return found


def simplex(seed: Array, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Array:
    """OpenSimplex noise, i32 in units of 1 / 4096, at points of the same shape (f64, host)."""
    place = np.stack([x, y, z])
    base = np.floor(place - place.sum(0) / 6).astype(np.int32)
    offset = np.round((place - base - base.sum(0) / 3) * ONE).astype(np.int32)
    corners, within = jnp.asarray(base), jnp.asarray(offset)

    def add(i: Array, total: Array) -> Array:
        step = jnp.asarray(_NEIGHBOURS)[i]
        squish = jnp.sum(step) * ONE
        d = [within[a] - step[a] * ONE - squish // 3 for a in range(3)]
        reach = 2 * ONE**2 - sum(part * part for part in d)
        reach = jnp.maximum(reach, 0) >> 11  # of 8192
        reach = (reach * reach) >> 13
        reach = (reach * reach) >> 16  # to the fourth power, of 1024
        bits = _mixed(seed, *(corners[a] + step[a] for a in range(3)))
        long = (bits >> 8) % 3  # the axis along which the gradient is 11, else 4
        signed = [jnp.where((bits >> (29 + a)) & 1 > 0, d[a], -d[a]) for a in range(3)]
        along = jnp.where(long == 0, signed[0], jnp.where(long == 1, signed[1], signed[2]))
        slope = 4 * (signed[0] + signed[1] + signed[2]) + 7 * along
        return total + ((reach * slope) >> 10)

    total = jax.lax.fori_loop(0, len(_NEIGHBOURS), add, jnp.zeros(x.shape, jnp.int32))
    return total // 103


@functools.cache
def _gradients() -> np.ndarray:
    """i32[2, 256], unit vectors all around, times 1024."""
    angle = np.arange(256) * (np.pi / 128)
    return np.round(1024 * np.stack([np.cos(angle), np.sin(angle)])).astype(np.int32)


def perlin(seed: Array, shape: tuple[int, int], period: tuple[int, int]) -> Array:
    """One octave of gradient noise, i32[shape], scaled to lie from 0 to 4096."""
    cells = [np.arange(side) // p for side, p in zip(shape, period, strict=True)]
    within = [np.arange(side) % p / p for side, p in zip(shape, period, strict=True)]
    fades = [np.round(1024 * (t**3 * (t * (t * 6 - 15) + 10))).astype(np.int32) for t in within]
    # The gradients of the corners, and of each cell's own four.
    corners = np.indices((cells[0][-1] + 2, cells[1][-1] + 2))
    table = jnp.asarray(_gradients())[:, _mixed(seed, *corners) >> 24]

    def ramp(down: int, right: int) -> Array:
        slope = table[:, cells[0][:, None] + down, cells[1][None] + right]
        dy = np.round(1024 * (within[0] - down)).astype(np.int32)[:, None]
        dx = np.round(1024 * (within[1] - right)).astype(np.int32)[None]
        return (slope[0] * dy + slope[1] * dx) >> 10

    def between(a: Array, b: Array, fade: np.ndarray) -> Array:
        return a * (1024 - fade) + b * fade

    down, right = fades[0][:, None], fades[1][None]
    left = between(ramp(0, 0), ramp(1, 0), down) >> 10
    other = between(ramp(0, 1), ramp(1, 1), down) >> 10
    noise = between(left, other, right)  # of 1024 * 1024
    (noise,) = alone(noise >> 4)
    least, most = jnp.min(noise), jnp.max(noise)
    (noise,) = alone((noise - least) * 16 // jnp.maximum((most - least) // 256, 1))
    return noise


# ---- generation ----------------------------------------------------------------------------------


def generate(
    env: CraftWorld, key: Array, world: Array
) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    """A world of the size and rules of `env`, with the parameters `env.worlds[world]`: (map
    u8[H, W], players' places u8[N, 2], creatures' (kind, row, column), u8[M] each)."""
    seeds = jax.random.bits(key, (2,), jnp.uint32)
    shifts = {
        name: jnp.asarray([round(getattr(w, name) * ONE) for w in env.worlds], jnp.int32)[world]
        for name in ("water", "mountains", "caves", "lava")
    }
    cells = np.arange(env.height * env.width).reshape(env.height, env.width)

    def uniform(which: int) -> Array:
        """u32[H, W] from 0 to 65535."""
        word = _mixed(seeds[0], seeds[1], np.uint32(which >> 1), cells)
        return (word >> 16) if which & 1 else word & 0xFFFF

    def rare(name: str, which: int, chance: float) -> Array:
        """bool[H, W]: with a chance that a parameter of the world multiplies."""
        odds = jnp.asarray(
            [min(65536, round(65536 * chance * getattr(w, name))) for w in env.worlds], jnp.uint32
        )[world]
        return uniform(which) < odds

    make = _crafter if env.craft.name == "crafter" else _craftax
    ground, creatures = make(env, seeds, shifts, rare)
    forced = [
        env.craft.name != "crafter" if w.always_diamond is None else w.always_diamond
        for w in env.worlds
    ]
    if any(forced):
        # One stone of all becomes a diamond, each as likely.
        order = jnp.where(
            ground == STONE, (uniform(8) << 16) | cells.astype(np.uint32) | 1 << 15, 0
        )
        chosen = (order == jnp.max(order)) & (order > 0)
        ground = jnp.where(chosen & jnp.asarray(forced)[world], DIAMOND, ground)

    places = start_places(env.height, env.width, env.num_agents)
    rows, columns = np.array(places).T
    ground = ground.at[rows, columns].set(GRASS)
    if env.joint is not None:
        for row, column, material in joint_cells(env):
            ground = ground.at[row, column].set(material)
            creatures = creatures.at[row, column].set(0)
    if env.craft.name != "crafter":  # none at first
        none = jnp.zeros(env.slots, jnp.uint8)
        return ground.astype(jnp.uint8), jnp.asarray(places, jnp.uint8), (none, none, none)
    # The creatures in Crafter's order: column by column.
    kinds = creatures.T.reshape(-1)
    found = jnp.nonzero(kinds, size=env.slots, fill_value=len(kinds))[0]
    kinds = jnp.append(kinds, 0)[found]
    found = jnp.where(kinds > 0, found, 0)
    across, down = (found // env.height).astype(jnp.uint8), (found % env.height).astype(jnp.uint8)
    listed = (kinds.astype(jnp.uint8), down, across)
    return ground.astype(jnp.uint8), jnp.asarray(places, jnp.uint8), listed


def start_places(height: int, width: int, players: int) -> list[tuple[int, int]]:
    """Where players begin: the middle, and the cells closest to it."""
    middle = height // 2, width // 2
    around = sorted(
        ((r, c) for r in range(-2, 3) for c in range(-2, 3)),
        key=lambda cell: (abs(cell[0]) + abs(cell[1]), cell),
    )
    return [(middle[0] + r, middle[1] + c) for r, c in around[:players]]


def joint_cells(env: CraftWorld) -> list[tuple[int, int, int]]:
    """(row, column, material) of what a joint task puts into a generated world: above the start,
    on a meadow; a gate in a wall around a diamond, a gap around one, or a beacon."""
    row, column = max(env.height // 2 - 5, 2), env.width // 2
    around = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
    cells = [(row + r, column + c, GRASS) for r in range(-2, 3) for c in range(-2, 3)]
    if env.joint == "beacon":
        return [*cells, (row, column, BEACON)]
    ring = GAP if env.joint == "bridge" else WALL
    cells += [(row + r, column + c, ring) for r, c in around]
    cells.append((row, column, DIAMOND))
    return cells if env.joint == "bridge" else [*cells, (row + 1, column, GATE)]


def _crafter(env: CraftWorld, seeds: Array, shifts: Any, rare: Any) -> tuple[Array, Array]:
    """Crafter's world (Hafner 2022): (materials, creatures' kinds), i32[H, W] each."""
    height, width = env.height, env.width
    y, x = np.indices((height, width)).astype(np.float64)
    # Layers of the noise: (columns a unit, rows a unit, depth).
    layers = {
        "start": (8, 8, 3),
        "water": (15, 15, 3),
        "ripples": (5, 5, 3),
        "mountain": (15, 15, 0),
        "rocks": (5, 5, 0),
        "caves": (7, 7, 6),
        "across": (3 / 2, 15, 7),
        "upright": (15, 3 / 2, 7),
        "coal": (8, 8, 1),
        "iron": (6, 6, 2),
        "lava": (5, 5, 6),
        "sand": (9, 9, 4),
        "trees": (7, 7, 5),
    }
    scale = np.array(list(layers.values()), np.float64)[:, :, None, None]
    depth = np.broadcast_to(scale[:, 2], (len(layers), height, width))
    seed = _mixed(seeds[0], seeds[1])
    stacked = simplex(seed, x / scale[:, 0], y / scale[:, 1], depth)
    noise = dict(zip(layers, stacked, strict=True))

    distance = np.sqrt((x - width // 2) ** 2 + (y - height // 2) ** 2)
    # The logistic function by a table: arguments from -16 to 16 in steps of 1 / 64.
    table = np.round(ONE / (1 + np.exp(-np.arange(-1024, 1025) / 64))).astype(np.int32)
    argument = np.round((4 - distance) * ONE).astype(np.int32) + 2 * noise["start"]
    start = jnp.asarray(table)[jnp.clip((argument + 32 >> 6) + 1024, 0, 2048)]
    near_start = argument > 0
    water = noise["water"] + noise["ripples"] * 3 // 20 + _one(0.1) - 2 * start
    mountain = (noise["mountain"] * 10 + noise["rocks"] * 3) // 13 - 4 * start - water * 3 // 10
    water, mountain = water + shifts["water"], mountain + shifts["mountains"]

    hollow = shifts["caves"]
    caves = (noise["caves"] + hollow > _one(0.15)) & (mountain > _one(0.3))
    tunnels = (noise["across"] + hollow > _one(0.4)) | (noise["upright"] + hollow > _one(0.4))
    rock = _choice(
        (caves, PATH),
        (tunnels, PATH),
        ((noise["coal"] > 0) & rare("coal", 0, 0.15), COAL),
        ((noise["iron"] > _one(0.4)) & rare("iron", 1, 0.25), IRON),
        ((mountain > _one(0.18)) & rare("diamond", 2, 0.006), DIAMOND),
        ((mountain > _one(0.3)) & (noise["lava"] + shifts["lava"] > _one(0.35)), LAVA),
        otherwise=STONE,
    )
    shore = (water > _one(0.25)) & (water <= _one(0.35)) & (noise["sand"] > _one(-0.2))
    plain = _choice(
        (shore, SAND),
        (water > _one(0.3), WATER),
        ((noise["trees"] > 0) & rare("trees", 3, 0.2), TREE),
        otherwise=GRASS,
    )
    rocky = ~near_start & (mountain > _one(0.15))
    ground = jnp.where(near_start, GRASS, jnp.where(rocky, rock, plain))

    walkable = (ground == GRASS) | (ground == PATH) | (ground == SAND)
    creatures = _choice(
        ((distance > 3) & (ground == GRASS) & rare("cows", 4, 0.015), COW),
        ((distance > 10) & rare("zombies", 5, 0.007), ZOMBIE),
        (rocky & ~caves & tunnels & rare("skeletons", 6, 0.05), SKELETON),
        otherwise=0,
    )
    return ground, jnp.where(walkable, creatures, 0)


def _craftax(env: CraftWorld, seeds: Array, shifts: Any, rare: Any) -> tuple[Array, Array]:
    """Craftax-Classic's world (Matthews et al. 2024); no creatures at first."""
    height, width = env.height, env.width
    rows, columns = np.indices((height, width))
    distance = np.abs(rows - height // 2) + np.abs(columns - width // 2)
    meadow = np.round(ONE * (np.clip(distance / 5, 0, 1) - 1)).astype(np.int32)
    side = max(height, width)

    def noise(which: int, down: int, right: int) -> Array:
        return perlin(_mixed(*seeds, np.uint32(which)), (side, side), (down, right))

    water = noise(0, 16, 16)[:height, :width] + meadow + shifts["water"]
    mountain = noise(1, 16, 16)[:height, :width] + meadow + _one(0.05) + shifts["mountains"]
    ways = noise(2, 8, 2)
    trees = noise(3, 4, 4)[:height, :width]
    rocky = mountain > _one(0.7)
    hollow = shifts["caves"]
    way = (ways[:height, :width] + hollow > _one(0.8)) | (
        ways.T[:height, :width] + hollow > _one(0.8)
    )
    cave = (mountain > _one(0.85)) & (water + hollow > _one(0.4))
    ground = _choice(
        (cave | (rocky & way), PATH),
        (rocky & rare("coal", 0, 0.04), COAL),
        (rocky & rare("iron", 1, 0.03), IRON),
        (rocky & (mountain > _one(0.8)) & rare("diamond", 2, 0.005), DIAMOND),
        (rocky, STONE),
        (water > _one(0.7), WATER),
        (water > _one(0.6), SAND),
        ((trees > _one(0.5)) & rare("trees", 3, 0.2), TREE),
        otherwise=GRASS,
    )
    hot = (mountain > _one(0.85)) & (trees + shifts["lava"] > _one(0.7))
    ground = jnp.where(hot, LAVA, ground)
    return ground, jnp.zeros((height, width), jnp.int32)


def _one(value: float) -> int:
    """A number in units of 1 / 4096."""
    return round(value * ONE)


def _choice(*cases: tuple[Array, int], otherwise: int) -> Array:
    """i32, the code of the first case that holds."""
    found = jnp.int32(otherwise)
    for holds, code in reversed(cases):
        found = jnp.where(holds, code, found)
    return found
