"""What players may do and see: legal actions, `perceive`, the observation "symbolic", the summary,
and a row of `perceive` unpacked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, expand, indices, one_hot
from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.cells import among, offsets, read, shifts
from manyhands.envs.craftworld.players import goods_caps
from manyhands.envs.craftworld.setting import MATE, UNKNOWN, Setting
from manyhands.envs.craftworld.state import CELLS, HERE, VIEW, CraftState, Now, unpacked

ROWS, COLUMNS = VIEW
_MIDDLE = HERE[0] * COLUMNS + HERE[1]
BESIDE = np.array(
    [_MIDDLE + row * COLUMNS + column for row, column in rl.DELTAS]
)  # cells of the view
NEAR = np.array([_MIDDLE + r * COLUMNS + c for r in (-1, 0, 1) for c in (-1, 0, 1)])
_ROWS, _COLUMNS = np.indices(VIEW)
# What the cells of the view add to a place.
IN_VIEW = ((_ROWS - HERE[0]) * 256 + _COLUMNS - HERE[1]).ravel().astype(np.int32)


# ---- what is possible ----------------------------------------------------------------------------


def acting(state: CraftState) -> Array:
    """bool[N, ...]: who is not dead."""
    return state.alive != rl.DEAD


def legal(c: Setting, state: CraftState) -> Array:
    """bool[N, A, ...]: what can change something; see `CraftWorld`."""
    craft, contents, n, now = c.craft, c.contents, c.num_players, Now.of(state)
    one, item_of = now.clock.ndim, contents.items.index
    ground, (table, furnace) = _around(c, now)
    sides = now.spot[:, None] + expand(shifts(rl.DELTAS)[None], one)
    turned = one_hot(now.facing, 4, axis=1)
    ahead = jnp.sum(jnp.where(turned, sides, 0), axis=1)
    faced = jnp.sum(jnp.where(turned, ground[:, BESIDE], 0), axis=1)
    role = jnp.asarray(expand(c.role, one))
    creature = (now.kind > 0)[None] & (now.spot_of[None] == ahead[:, None])
    if not c.book.arrows_block:
        creature = creature & (now.kind != rl.ARROW)[None]
    met = jnp.max(jnp.where(creature, now.kind[None], 0), axis=1)
    other = (now.alive != rl.DEAD)[None] & (now.spot[None] == ahead[:, None])
    clear = (met == 0) & ~jnp.any(other, axis=1)
    forages = (role == 0) | (role == rl.FORAGER)
    pockets = now.inventory

    does = (met > 0) & (met != rl.ARROW) & ((met != rl.COW) | forages)
    works = (faced == rl.RIPE_PLANT) & forages
    for material, (_, tool, _) in contents.collect.items():
        can = faced == material
        if tool is not None:
            can = can & (pockets[:, item_of(tool)] > 0)
        if material == rl.GRASS:
            can = can & forages
        works = works | can
    for waiting, _ in rl.JOINT.values():
        works = works | (faced == waiting)
    does = does | (works & clear)
    down = jnp.any(other & (now.alive == rl.DOWN)[None], axis=1)
    does = does | ((met == 0) & down)
    mates = jnp.any(other & (now.alive == rl.ALIVE)[None], axis=1)
    if c.friendly_fire:
        does = does | ((met == 0) & mates)
    true = jnp.ones(does.shape, bool)
    rows = [true] * 5 + [does, now.vitals[:, rl.ENERGY] < rl.MOST]
    for i, name in enumerate(rl.PLACES):
        item, count = craft.place_cost(name)
        can = clear & (pockets[:, item_of(item)] >= count)
        can = can & among(faced, craft.place_on(name))
        rows.append(can & ((role == 0) | (role == rl.MINER)) if i == 0 else can)
    for name, recipe in contents.recipes.items():
        can = table & furnace if rl.FURNACE in recipe.near else table
        for item, count in craft.make_cost(name).items():
            can = can & (pockets[:, item_of(item)] >= count)
        rows.append(can & ((role == 0) | (role == recipe.role)))
    if n > 1:
        goods, caps = now.goods(), goods_caps(c, jnp.broadcast_to(role, does.shape))
        room = (goods < caps) & (now.alive == rl.ALIVE)[:, None]
        for i in range(len(craft.gifts)):
            takes = jnp.any(other & room[None, :, i], axis=1)
            rows.append((goods[:, i] > 0) & takes)
        rows += [true] * len(craft.gifts)
    mask = jnp.stack(apart(*(jnp.broadcast_to(row, true.shape) for row in rows)), axis=1)
    awake = (now.alive == rl.ALIVE) & ~now.asleep
    if c.book.wakes_to_act:
        awake = awake | ((now.alive == rl.ALIVE) & (now.vitals[:, rl.ENERGY] >= rl.MOST))
    only = expand((np.arange(len(c.actions)) == rl.NOOP)[None], one)
    return (mask & awake[:, None]) | (only & (now.alive != rl.DEAD)[:, None])


def _around(c: Setting, now: Now) -> tuple[Array, tuple[Array, Array]]:
    """The materials in view, i32[N, 63, ...], and whether a table, a furnace is near."""
    to = now.spot[:, None] + expand(IN_VIEW[None], now.clock.ndim)
    cell, inside = c.cell(to)
    ground = jnp.where(inside, read(now.map, cell), rl.VOID)
    close = ground[:, NEAR]
    return ground, (jnp.any(close == rl.TABLE, axis=1), jnp.any(close == rl.FURNACE, axis=1))


# ---- what is seen --------------------------------------------------------------------------------


def perceive(c: Setting, state: CraftState) -> Array:
    """What each player may know, u8[N, K, ...]: see `CraftWorld`, and `layout`."""
    n, now = c.num_players, Now.of(state)
    one = now.clock.ndim
    ground, near = _around(c, now)
    # Who is where in view: arrows over other creatures, players over all.
    codes = [jnp.where(now.kind == rl.ARROW, now.kind << 3 | now.heading + 1, now.kind << 3)]
    standing = now.alive != rl.DEAD
    codes.append(jnp.where(standing, (5 + indices(n, 1 + one)) << 3 | now.facing + 1, 0))
    code = jnp.concatenate(codes).astype(jnp.uint8)  # [M + N, ...]
    where = jnp.concatenate([now.spot_of, now.spot])
    rows, columns, _ = offsets(where[None], now.spot[:, None])  # [N, M + N, ...]
    rows, columns = rows + HERE[0], columns + HERE[1]
    seen = (rows >= 0) & (rows < ROWS) & (columns >= 0) & (columns < COLUMNS)
    index = jnp.where(seen, rows * COLUMNS + columns, CELLS).astype(jnp.uint8)
    cells = indices(CELLS, 3 + one, axis=1, dtype=np.uint8)
    there = jnp.where(index[:, None] == cells, code[None, None], 0)
    bodies = jnp.max(there, axis=2)  # [N, 63, ...]

    def column(values: Array) -> Array:
        shape = (n, 1, *now.clock.shape)
        return jnp.broadcast_to(jnp.asarray(values), shape).astype(jnp.uint8)

    roles = expand(c.role, one)
    light = c.by_time(c.light, state)
    parts = {
        "cells": ground,
        "bodies": bodies >> 3,
        "headings": bodies & 7,
        "facing": now.facing[:, None],
        "inventory": now.inventory,
        "vitals": now.vitals,
        "asleep": now.asleep[:, None],
        "alive": now.alive[:, None],
        "light": column(light[None, None]),
        "achievements": unpacked(now.done, len(c.contents.achievements)),
        "near": jnp.stack(near, axis=1),
        "role": column(roles[:, None]),
        "request": jnp.stack([now.request, now.request_left], axis=1),
    }
    if n > 1:
        parts["teammates"] = _teammates(c, now)
    goal = jnp.broadcast_to(state.goal[None], (n, *state.goal.shape))
    site = state.site[0].astype(jnp.int32) << 8 | state.site[1].astype(jnp.int32)
    wanted = state.goal[0] > 0
    if c.told == "first":
        knows = expand((np.arange(n) == 0)[:, None], one)
        goal, wanted = jnp.where(knows, goal, 0), wanted & knows
    rows, columns, _ = offsets(site[None], now.spot)
    here = jnp.stack([now.spot >> 8, now.spot & 255], axis=1)
    parts |= {"goal": goal, "site": jnp.stack([rows + 128, columns + 128], axis=1) * wanted}
    parts |= {"position": here if c.compass else jnp.zeros_like(here)}
    ready = [part.astype(jnp.uint8) for part in c.layout.ordered(parts, axis=1)]
    return jnp.concatenate(apart(*ready), axis=1)


def _teammates(c: Setting, now: Now) -> Array:
    """The part `teammates` of `perceive`, i32[N, 10 (N - 1), ...]. With `sees="near"`, of who is
    out of view (the dead among them) it says no more than `UNKNOWN`."""
    n = c.num_players
    roles = jnp.broadcast_to(expand(c.role, now.clock.ndim), now.alive.shape)
    rows = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j in others:
            down, right, _ = offsets(now.spot[j], now.spot[i])
            numbers = [down + 128, right + 128, now.alive[j], now.asleep[j], now.facing[j]]
            numbers += [now.vitals[j, rl.HEALTH], now.vitals[j, rl.FOOD], now.request[j]]
            numbers += [now.request_left[j], roles[j]]
            there = now.alive[j] != rl.DEAD
            if c.sees == "near":
                there = there & (jnp.abs(down) <= HERE[0]) & (jnp.abs(right) <= HERE[1])
            known = [jnp.where(there, number, 0).astype(jnp.uint8) for number in numbers]
            if c.sees == "near":
                known[2] = jnp.where(there, known[2], np.uint8(UNKNOWN))
            rows += known
    table = jnp.stack(apart(*rows))
    return table.reshape(n, MATE * (n - 1), *now.clock.shape)


def symbolic(c: Setting, rows: Array) -> Array:
    """Observation "symbolic", f32[..., S, ...], of rows of `perceive`, u8[N, K, ...]."""
    one = rows.ndim - 2

    def part(name: str) -> Array:
        return rows[:, c.layout[name]]

    def hot(values: Array, codes: Any) -> Array:
        """f32[N, k * codes, ...]: one-hot codes of each of k numbers."""
        codes = expand(np.asarray(codes, np.uint8)[None, None], one)
        found = values[:, :, None] == codes
        return found.astype(jnp.float32).reshape(rows.shape[0], -1, *rows.shape[2:])

    def scaled(values: Array, most: Any) -> Array:
        # As compilers divide by constants: so the plain call gives the same bits.
        return values.astype(jnp.float32) * (np.float32(1) / np.float32(most))

    n, roles = c.num_players, c.roles != "none"
    bodies = jnp.minimum(part("bodies"), 5)
    most = c.craft.forager_capacity if roles else rl.MOST
    parts = {
        "materials": hot(part("cells"), c.codes),
        "bodies": hot(bodies, range(1, 6)),
        "headings": hot(part("headings"), range(1, 5)),
        "facing": hot(part("facing"), range(4)),
        "inventory": scaled(part("inventory"), rl.MOST),
        "vitals": scaled(part("vitals"), most),
        "asleep": scaled(part("asleep"), 1),
        "alive": scaled(part("alive"), 2),
        "light": scaled(part("light"), 255),
        "achievements": scaled(part("achievements"), 1),
        "near": scaled(part("near"), 1),
    }
    if roles:
        parts["role"] = hot(part("role"), range(4))
    asked = range(len(c.craft.gifts) + 1)
    steps = c.craft.request_steps
    if n > 1:
        request = part("request")
        own = [hot(request[:, :1], asked), scaled(request[:, 1:], steps)]
        parts["request"] = jnp.concatenate(own, axis=1)
        mates = part("teammates")
        columns = []
        for j in range(n - 1):
            mate = mates[:, MATE * j : MATE * (j + 1)]
            if c.sees == "near":
                mate = jnp.where(mate[:, 2:3] == UNKNOWN, np.uint8(0), mate)
            row, column, present = mate[:, :1], mate[:, 1:2], mate[:, 2:3] > 0
            where = [row < 128, row > 128, column < 128, column > 128]
            columns += [scaled(mate[:, :2], 255)]
            columns += [(side & present).astype(jnp.float32) for side in where]
            columns += [scaled(mate[:, 2:3], 2), scaled(mate[:, 3:4], 1)]
            columns += [hot(mate[:, 4:5], range(4)) * present]
            columns += [scaled(mate[:, 5:6], rl.MOST), scaled(mate[:, 6:7], 27)]
            columns += [hot(mate[:, 7:8], asked) * present, scaled(mate[:, 8:9], steps)]
            columns += [hot(mate[:, 9:10], range(4)) * present]
        parts["teammates"] = jnp.concatenate(apart(*columns), axis=1)
    for name in ("goal", "site", "position"):
        parts[name] = scaled(part(name), 255)
    return jnp.concatenate(apart(*c.symbols.ordered(parts, axis=1)), axis=1)


def summary(c: Setting, state: CraftState) -> Array:
    """u8[N * (K + 2) + 4, ...]: the rows of `perceive` of all players, their rows and columns,
    and the clock, lowest byte first."""
    rows = perceive(c, state)
    rows = rows.reshape(-1, *state.clock.shape)
    where = state.position.reshape(-1, *state.clock.shape)
    clock = [((state.clock >> bits) & 255).astype(jnp.uint8)[None] for bits in (0, 8, 16, 24)]
    return jnp.concatenate([rows, where, *clock], axis=0)


# ---- a row of `perceive`, unpacked ---------------------------------------------------------------

PLAYER = 5  # of `Perception.bodies`: + the index of a player; below it 1 + `rules.CREATURES`


class Perception(NamedTuple):
    """One player's row of `perceive`, unpacked; every array may have trailing batch axes.

    Attributes:
        cells, bodies: u8[7, 9], see `CraftWorld`.
        facing: u8[]. asleep, table, furnace: bool[], the latter two within reach. light: u8[].
        inventory: u8[items]. vitals: u8[4]. achievements: bool[achievements].
        role: u8[]. teammates: u8[others, 10], see `CraftWorld`.
    """

    cells: Array
    bodies: Array
    facing: Array
    inventory: Array
    vitals: Array
    asleep: Array
    light: Array
    achievements: Array
    table: Array
    furnace: Array
    role: Array
    teammates: Array

    def item(self, name: str) -> Array:
        """How many the player holds of one of Crafter's items."""
        return self.inventory[rl.ITEMS.index(name)]

    def vital(self, number: int) -> Array:
        return self.vitals[number]

    def done(self, name: str) -> Array:
        """Whether one of Crafter's achievements is unlocked."""
        return self.achievements[rl.ACHIEVEMENTS.index(name)]

    def faced(self, maps: Array) -> Array:
        """What `maps` [7, 9, ...] has in the faced cell."""
        value = jnp.zeros_like(maps[0, 0])
        for direction, (row, column) in enumerate(rl.DELTAS):
            there = maps[HERE[0] + row, HERE[1] + column]
            value = jnp.where(self.facing == direction, there, value)
        return value


def parse_perception(layout: Mapping[str, slice], row: Array) -> Perception:
    """Unpack a row of `CraftWorld.perceive`, u8[K, ...]."""
    rest = row.shape[1:]

    def part(name: str, *shape: int) -> Array:
        return row[layout[name]].reshape((*shape, *rest))

    near = part("near", 2)
    return Perception(
        cells=part("cells", ROWS, COLUMNS),
        bodies=part("bodies", ROWS, COLUMNS),
        facing=part("facing"),
        inventory=part("inventory", -1),
        vitals=part("vitals", len(rl.VITALS)),
        asleep=part("asleep") > 0,
        light=part("light"),
        achievements=part("achievements", -1) > 0,
        table=near[0] > 0,
        furnace=near[1] > 0,
        role=part("role"),
        teammates=part("teammates", -1, MATE)
        if "teammates" in layout
        else row[:0].reshape((0, MATE, *rest)),
    )


def one_of(maps: Array, codes: tuple[int, ...]) -> Array:
    """bool, where `maps` holds one of some codes."""
    found = maps == codes[0]
    for code in codes[1:]:
        found = found | (maps == code)
    return found


def network_input(c: Setting, row: Array) -> Array:
    """What a network reads of one row of `perceive`, f32[K]: in place of the 63 cells, where the
    nearest of each kind of material, creature and body is, and what lies around. A tenth of the
    observation "symbolic", and what small networks learn from several times as fast."""
    layout, s = c.layout, parse_perception(c.layout, row)
    codes = (*rl.CORE, *c.contents.materials)
    cells, bodies = s.cells.reshape(-1), s.bodies.reshape(-1)
    number = np.arange(CELLS)
    down, right = number // COLUMNS - HERE[0], number % COLUMNS - HERE[1]
    rank = np.where(number == _MIDDLE, 1 << 14, (abs(down) + abs(right)) << 6)
    rank = (rank + number).astype(np.int16)
    kinds = [cells == code for code in codes if code not in (rl.VOID, rl.GRASS, rl.PATH)]
    kinds += [bodies == 1 + kind for kind in range(len(rl.CREATURES))]
    kinds += [bodies >= PLAYER]
    least = jnp.min(jnp.where(jnp.stack(kinds), rank, np.int16(1 << 14)), axis=1)
    there, cell = least < 1 << 14, least & 63
    rows, columns = cell // COLUMNS - HERE[0], cell % COLUMNS - HERE[1]
    nearest = [rows / HERE[0], columns / HERE[1], rows < 0, rows > 0, columns < 0, columns > 0]
    nearest += [jnp.ones_like(there), least < 2 << 6]
    around = cells[BESIDE]
    parts: list[Array] = [
        jnp.stack([part * there for part in nearest]),
        s.faced(s.cells) == np.array(codes),
        s.faced(s.bodies) == np.arange(1, PLAYER),
        one_of(around, rl.WALKABLE),
        around == rl.LAVA,
        s.inventory / 9,
        s.inventory > 0,
        s.vitals / 9,
        s.vitals <= 3,
        s.facing == np.arange(4),
        jnp.stack([s.asleep, s.light / 255, s.table, s.furnace]),
        s.achievements,
        s.role == np.arange(1, 4),
        row[layout["goal"]] / 9,
        row[layout["request"]] / 10,
    ]
    if len(s.teammates):
        away, facts = s.teammates[:, :2].astype(jnp.float32) - 128, s.teammates[:, 2:]
        if c.sees == "near":
            known = s.teammates[:, 2:3] != UNKNOWN
            away, facts = away * known, facts * known
        parts += [away / 32, away < 0, away > 0, facts / 9]
    return jnp.concatenate([part.astype(jnp.float32).reshape(-1) for part in parts])
