"""Generated worlds follow the formulas of the two games, computed in whole numbers (4096 is one),
so that a seed gives the same world on every machine, alone and in a batch.

Crafter's worlds have OpenSimplex noise in three dimensions (K. Spencer 2014, in the public domain),
of which each feature reads another layer; Craftax-Classic's have one octave of gradient noise
(Perlin 2002) for each.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.cells import FAR, alone, among
from manyhands.envs.craftworld.goals import ANYTHING, BUILD, SITE
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import CraftState, Recent

SIMPLE = (None, "wood_pickaxe")  # tools that clear a building site

# ---- noise, in whole numbers ---------------------------------------------------------------------

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


# ---- the first state -----------------------------------------------------------------------------


def begin(c: Setting, ground_key: Array, world: Array, goal: Array) -> CraftState:
    """The first state of an episode in one of the worlds."""
    n, slots = c.num_players, c.slots
    plant_place = np.zeros((c.craft.plants, 2), np.uint8)
    plant_age = np.zeros(c.craft.plants, np.uint16)
    if c.chart is not None:
        ground = jnp.asarray(c.chart.ground)
        position = jnp.asarray(c.chart.players, jnp.uint8)
        kinds, rows, columns, headings = jnp.asarray(c.drawn)
        for i, (y, x, ripe) in enumerate(c.chart.plants[: c.craft.plants]):
            plant_place[i], plant_age[i] = (y, x), 1 + c.craft.ripe * ripe
    else:
        ground, position, found = generate(c, ground_key, world)
        kinds, rows, columns = found
        headings = jnp.zeros(slots, jnp.uint8)
    healths = (0, *(c.healths[which] for which in (rl.ZOMBIE, rl.SKELETON, rl.COW)), 1)
    health = jnp.asarray(healths, jnp.uint8)[kinds]
    return CraftState(
        map=ground,
        position=position,
        facing=jnp.full(n, c.craft.start_facing, jnp.uint8),
        inventory=jnp.asarray(c.pockets, jnp.uint8),
        vitals=jnp.asarray(c.first_vitals, jnp.uint8),
        counters=jnp.zeros((n, 4), jnp.int8),
        felt=jnp.asarray(c.first_vitals[:, rl.HEALTH], jnp.uint8),
        asleep=jnp.zeros(n, bool),
        alive=jnp.full(n, rl.ALIVE, jnp.uint8),
        achievements=jnp.zeros((n, len(c.contents.achievements)), bool),
        request=jnp.zeros(n, jnp.uint8),
        request_left=jnp.zeros(n, jnp.uint8),
        kind=kinds,
        place=jnp.stack([rows, columns], axis=1),
        health=health,
        cooldown=jnp.zeros(slots, jnp.uint8),
        heading=headings,
        plant_place=jnp.asarray(plant_place),
        plant_age=jnp.asarray(plant_age),
        clock=jnp.int32(c.start_clock),
        world=world,
        goal=goal,
        site=_site(c, ground, goal),
        goal_step=jnp.int32(0),
        recent=Recent(jnp.zeros((n, 3), jnp.int32), jnp.zeros(c.craft.plants, jnp.uint8)),
    )


def _site(c: Setting, ground: Array, goal: Array) -> Array:
    """The building site; where no goal is a plan, nothing is looked for."""
    if np.any(c.goal_rows[:, 0] == BUILD):
        return building_site(c, ground, goal)
    return jnp.asarray(_usual_site(c), jnp.uint8)


def building_site(c: Setting, ground: Array, goal: Array) -> Array:
    """Where a plan is to be built, u8[2]: two cells to the right of where player 0 starts, or else
    as near to that as the plan can be built.

    A plant grows on grass alone, and what can neither be walked on, nor covered with stone, nor
    taken with the pickaxe that takes stone, is in the way. Where a plan fits nowhere, and without
    a plan, it is the usual place.

    Args:
        ground: u8[H, W, ...], the map.
        goal: u8[GOAL, ...], see `Goal.row`.
    """
    usual = _usual_site(c)
    down, right = max(c.height - SITE, 0) + 1, max(c.width - SITE, 0) + 1
    spare = [(0, max(SITE - side, 0)) for side in (c.height, c.width)]
    there = jnp.pad(ground, [*spare, *[(0, 0)] * (ground.ndim - 2)], constant_values=rl.VOID)
    grounds = c.craft.place_on("plant")
    soil = {code for code, (_, _, left) in c.contents.collect.items() if left in grounds}
    soil |= set(grounds)
    taken = {code for code, (_, tool, _) in c.contents.collect.items() if tool in SIMPLE}
    workable = {*rl.WALKABLE, *taken, *c.craft.place_on("stone")}
    grows, changes = among(there, sorted(soil)), among(there, sorted(workable))
    plan = goal[4:].reshape(SITE, SITE, *goal.shape[1:])
    fits = jnp.ones((down, right, *ground.shape[2:]), bool)
    for y, x in np.ndindex(SITE, SITE):
        part = slice(y, y + down), slice(x, x + right)
        able = jnp.where(plan[y, x] == rl.PLANT + 1, grows[part], changes[part])
        fits &= able | (there[part] + 1 == plan[y, x]) | (plan[y, x] == ANYTHING)
    rows, columns = np.indices((down, right))
    away = expand(np.abs(rows - usual[0]) + np.abs(columns - usual[1]), ground.ndim - 2)
    away = jnp.where(fits & (goal[0] == BUILD), away, FAR).reshape(down * right, *ground.shape[2:])
    best = jnp.where(jnp.min(away, 0) < FAR, jnp.argmin(away, 0), usual[0] * right + usual[1])
    return jnp.stack([best // right, best % right]).astype(jnp.uint8)


def _usual_site(c: Setting) -> tuple[int, int]:
    """Two cells to the right of where player 0 starts, and within the map."""
    if c.chart is not None:
        row, column = c.chart.players[0]
    else:
        row, column = c.height // 2, c.width // 2
    row, column = row - SITE // 2, column + 2
    return max(0, min(row, c.height - SITE)), max(0, min(column, c.width - SITE))


# ---- generation ----------------------------------------------------------------------------------


def generate(
    c: Setting, key: Array, world: Array
) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    """A world of the size and rules of a setting, with the parameters `worlds[world]`: (map
    u8[H, W], players' places u8[N, 2], creatures' (kind, row, column), u8[M] each)."""
    seeds = jax.random.bits(key, (2,), jnp.uint32)
    shifts = {
        name: jnp.asarray([round(getattr(w, name) * ONE) for w in c.worlds], jnp.int32)[world]
        for name in ("water", "mountains", "caves", "lava")
    }
    cells = np.arange(c.height * c.width).reshape(c.height, c.width)

    def uniform(which: int) -> Array:
        """u32[H, W] from 0 to 65535."""
        word = _mixed(seeds[0], seeds[1], np.uint32(which >> 1), cells)
        return (word >> 16) if which & 1 else word & 0xFFFF

    def rare(name: str, which: int, chance: float) -> Array:
        """bool[H, W]: with a chance that a parameter of the world multiplies."""
        odds = jnp.asarray(
            [min(65536, round(65536 * chance * getattr(w, name))) for w in c.worlds], jnp.uint32
        )[world]
        return uniform(which) < odds

    ground, creatures = WORLDS[c.book.name](c, seeds, shifts, rare)
    for which, (material, share) in enumerate(c.contents.veins.items(), 9):
        vein = uniform(which) < np.uint32(round(65536 * share))
        ground = jnp.where((ground == rl.STONE) & vein, material, ground)
    forced = [
        c.book.always_diamond if w.always_diamond is None else w.always_diamond for w in c.worlds
    ]
    if any(forced):
        # One stone of all becomes a diamond, each as likely.
        order = jnp.where(
            ground == rl.STONE, (uniform(8) << 16) | cells.astype(np.uint32) | 1 << 15, 0
        )
        chosen = (order == jnp.max(order)) & (order > 0)
        ground = jnp.where(chosen & jnp.asarray(forced)[world], rl.DIAMOND, ground)

    places = start_places(c.height, c.width, c.num_players)
    rows, columns = np.array(places).T
    ground = ground.at[rows, columns].set(rl.GRASS)
    if c.joint is not None:
        for row, column, material in joint_cells(c):
            ground = ground.at[row, column].set(material)
            creatures = creatures.at[row, column].set(0)
    if not c.book.creatures_at_first:
        none = jnp.zeros(c.slots, jnp.uint8)
        return ground.astype(jnp.uint8), jnp.asarray(places, jnp.uint8), (none, none, none)
    # The creatures in Crafter's order: column by column.
    kinds = creatures.T.reshape(-1)
    found = jnp.nonzero(kinds, size=c.slots, fill_value=len(kinds))[0]
    kinds = jnp.append(kinds, 0)[found]
    found = jnp.where(kinds > 0, found, 0)
    across, down = (found // c.height).astype(jnp.uint8), (found % c.height).astype(jnp.uint8)
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


def joint_cells(c: Setting) -> list[tuple[int, int, int]]:
    """(row, column, material) of what a joint task puts into a generated world: above the start,
    on a meadow; a gate in a wall around a diamond, a gap around one, or a beacon. The gate stands
    out of the wall, so that three players reach it."""
    row, column = max(c.height // 2 - 5, 2), c.width // 2
    around = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
    cells = [(row + r, column + c, rl.GRASS) for r in range(-2, 3) for c in range(-2, 3)]
    if c.joint == "beacon":
        return [*cells, (row, column, rl.BEACON)]
    ring = rl.GAP if c.joint == "bridge" else rl.WALL
    if c.joint == "gate":
        around = [cell for cell in around if cell[0] < 1]
    cells += [(row + r, column + c, ring) for r, c in around]
    cells.append((row, column, rl.DIAMOND))
    return cells if c.joint == "bridge" else [*cells, (row + 1, column, rl.GATE)]


def _crafter(c: Setting, seeds: Array, shifts: Any, rare: Any) -> tuple[Array, Array]:
    """Crafter's world (Hafner 2022): (materials, creatures' kinds), i32[H, W] each."""
    height, width = c.height, c.width
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
        (caves, rl.PATH),
        (tunnels, rl.PATH),
        ((noise["coal"] > 0) & rare("coal", 0, 0.15), rl.COAL),
        ((noise["iron"] > _one(0.4)) & rare("iron", 1, 0.25), rl.IRON),
        ((mountain > _one(0.18)) & rare("diamond", 2, 0.006), rl.DIAMOND),
        ((mountain > _one(0.3)) & (noise["lava"] + shifts["lava"] > _one(0.35)), rl.LAVA),
        otherwise=rl.STONE,
    )
    shore = (water > _one(0.25)) & (water <= _one(0.35)) & (noise["sand"] > _one(-0.2))
    plain = _choice(
        (shore, rl.SAND),
        (water > _one(0.3), rl.WATER),
        ((noise["trees"] > 0) & rare("trees", 3, 0.2), rl.TREE),
        otherwise=rl.GRASS,
    )
    rocky = ~near_start & (mountain > _one(0.15))
    ground = jnp.where(near_start, rl.GRASS, jnp.where(rocky, rock, plain))

    walkable = (ground == rl.GRASS) | (ground == rl.PATH) | (ground == rl.SAND)
    creatures = _choice(
        ((distance > 3) & (ground == rl.GRASS) & rare("cows", 4, 0.015), rl.COW),
        ((distance > 10) & rare("zombies", 5, 0.007), rl.ZOMBIE),
        (rocky & ~caves & tunnels & rare("skeletons", 6, 0.05), rl.SKELETON),
        otherwise=0,
    )
    return ground, jnp.where(walkable, creatures, 0)


def _craftax(c: Setting, seeds: Array, shifts: Any, rare: Any) -> tuple[Array, Array]:
    """Craftax-Classic's world (Matthews et al. 2024); no creatures at first."""
    height, width = c.height, c.width
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
        (cave | (rocky & way), rl.PATH),
        (rocky & rare("coal", 0, 0.04), rl.COAL),
        (rocky & rare("iron", 1, 0.03), rl.IRON),
        (rocky & (mountain > _one(0.8)) & rare("diamond", 2, 0.005), rl.DIAMOND),
        (rocky, rl.STONE),
        (water > _one(0.7), rl.WATER),
        (water > _one(0.6), rl.SAND),
        ((trees > _one(0.5)) & rare("trees", 3, 0.2), rl.TREE),
        otherwise=rl.GRASS,
    )
    hot = (mountain > _one(0.85)) & (trees + shifts["lava"] > _one(0.7))
    ground = jnp.where(hot, rl.LAVA, ground)
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


# By the name of the rulebook: f(setting, seeds, shifts, rare) -> (materials, creatures' kinds).
WORLDS = {"crafter": _crafter, "craftax_classic": _craftax}
