"""Homes and goals, drawn so that every goal can be reached.

A task is drawn first, then the kinds of the rooms, the goal (an object's kind and the kind of
receptacle where it belongs), the receptacles, the objects, and where they are. What a goal needs
is placed first: its objects where they can be taken, and a receptacle for every change.

A pair of kinds (object, receptacle), and a set of rooms, belong to the split `"seen"` or `"unseen"`
by a checksum of their names, the latter with a chance of about one in five.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import zlib
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError
from manyhands.envs.home import rules
from manyhands.envs.home.catalog import Catalog
from manyhands.envs.home.state import (
    CLEAN,
    CLEANABLE,
    CLEANS,
    COOL,
    COOLABLE,
    COOLS,
    CUTS,
    HEATABLE,
    HEATS,
    HOLDS,
    HOT,
    LAMP,
    LIGHTS,
    NONE,
    OPEN,
    OPENS,
    PACKABLE,
    SLICEABLE,
    SLICED,
    TARGETS,
    UNSEEN,
    HomeState,
)

CHORES = ("put", "look", "clean", "heat", "cool", "two")
# The tasks of Communicative Watch-And-Help: what is brought where.
HELP: dict[str, tuple[tuple[str, ...], str]] = {
    "tea": (("apple", "cupcake", "juice", "pudding", "wine"), "coffee_table"),
    "dishes": (("fork", "plate"), "dishwasher"),
    "meal": (
        (
            *("apple", "coffeepot", "cupcake", "juice"),
            *("pancake", "poundcake", "pudding", "wine"),
        ),
        "dining_table",
    ),
    "groceries": (
        ("apple", "cupcake", "juice", "pancake", "poundcake", "pudding", "wine"),
        "fridge",
    ),
    "table": (("fork", "plate"), "dining_table"),
}
FAMILIES: dict[str, tuple[str, ...]] = {
    "chore": CHORES,
    "watch_and_help": tuple(HELP),
    "transport": ("transport",),
    "follow": ("follow",),
}
SPLITS = ("all", "seen", "unseen")
NEEDED = {"clean": (CLEAN, CLEANS), "heat": (HOT, HEATS), "cool": (COOL, COOLS)}
FEWEST, MOST = 3, 5  # objects that a task of `watch_and_help` asks for
SAME = 3  # rooms of a kind at most
SHORTCUT = 0.2  # the chance of a door between two rooms that need none


def held_out(*names: str) -> bool:
    """Whether a pair of kinds, or a set of rooms, belongs to the split `"unseen"`."""
    return zlib.crc32(">".join(names).encode()) % 5 == 0


def _kept(split: str, *names: str) -> bool:
    return split == "all" or held_out(*names) == (split == "unseen")


def traits_of(catalog: Catalog) -> np.ndarray:
    """u8[kinds of objects], as `HomeState.traits`."""
    bits = {
        "clean": CLEANABLE,
        "heat": HEATABLE,
        "cool": COOLABLE,
        "slice": SLICEABLE,
        "cut": CUTS,
        "lamp": LIGHTS,
        "pack": PACKABLE,
    }
    found = np.where(catalog.holds > 0, HOLDS, 0)
    for name, bit in bits.items():
        found = found + np.where(catalog.may[name], bit, 0)
    return found.astype(np.uint8)


def abilities_of(catalog: Catalog) -> np.ndarray:
    """u8[kinds of receptacles], as `HomeState.abilities`."""
    bits = {"opens": OPENS, "cleans": CLEANS, "heats": HEATS, "cools": COOLS}
    found = np.zeros(len(catalog.receptacle_kinds), np.uint8)
    for name, bit in bits.items():
        found = found + np.where(catalog.can[name], np.uint8(bit), np.uint8(0))
    return found


# ---- what can be drawn ---------------------------------------------------------------------------


class Plans(NamedTuple):
    """What `generate` draws from, made once for a configuration.

    Attributes:
        sets: u8[S, R], sets of kinds of rooms, `NONE` where there are fewer.
        object, where: u8[P], the kinds of object and of receptacle (`LAMP`) of each pair; one pair
            where tasks have none.
        pairs: i32[tasks, 2], the first pair of each task, and how many it has.
        fits: bool[P, S], in which sets of rooms each pair can be.
        ability: u8[tasks], the ability that some receptacle must have, or 0.
        bits: u8[tasks], the bits that objects must have.
    """

    sets: np.ndarray
    object: np.ndarray
    where: np.ndarray
    pairs: np.ndarray
    fits: np.ndarray
    ability: np.ndarray
    bits: np.ndarray


def room_sets(
    catalog: Catalog, family: str, low: int, high: int, receptacles: int, split: str
) -> list[tuple[int, ...]]:
    """The sets of rooms that homes may have, as numbers of kinds in order. Those of several rooms
    have one kitchen and, where the task asks for it, a bedroom or a living room."""
    names = catalog.room_kinds
    needed = {"kitchen"}
    if family == "transport":
        needed.add("bedroom")
    if family == "watch_and_help":
        needed.add("living_room")
    found = []
    for count in range(low, high + 1):
        for kinds in itertools.combinations_with_replacement(range(len(names)), count):
            called = [names[kind] for kind in kinds]
            if count > 1 and (called.count("kitchen") != 1 or not needed <= set(called)):
                continue
            if (count == 1 and family != "chore") or max(map(kinds.count, kinds)) > SAME:
                continue
            more = MOST + 1 if family == "watch_and_help" else 3  # what a goal asks for
            if catalog.needs[list(kinds)].sum() + more > receptacles:
                continue
            if count == 1 or _kept(split, *called):
                found.append(kinds)
    return found


def plans(config: Any) -> Plans:
    """What can be drawn with a configuration.

    Raises:
        ConfigError: nothing.
    """
    catalog: Catalog = config.catalog
    low, high = config.room_range
    sets = room_sets(catalog, config.family, low, high, config.receptacles, config.split)
    if not sets:
        raise ConfigError(
            f"no home of {config.room_range[0]} to {config.room_range[1]} rooms with "
            f"{config.receptacles} receptacles has what {config.family!r} needs"
            f"{'' if config.split == 'all' else f' in the split {config.split!r}'}; give other "
            "numbers of rooms, or more receptacles"
        )
    table = np.full((len(sets), config.rooms), NONE, np.uint8)
    for i, each in enumerate(sets):
        table[i, : len(each)] = each
    count = len(config.tasks)
    ability, bits = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
    if config.family != "chore":
        one = np.full(1, NONE, np.uint8)
        spans = np.tile(np.array([0, 1], np.int32), (count, 1))
        return Plans(table, one, one, spans, np.ones((1, len(sets)), bool), ability, bits)
    stands = np.stack([catalog.stands[list(kinds)].any(axis=0) for kinds in sets])  # [S, kinds]
    rows: list[tuple[int, int]] = []
    fits: list[np.ndarray] = []
    spans = np.zeros((count, 2), np.int32)
    for number, task in enumerate(config.tasks):
        able = np.ones(len(sets), bool)
        if task in NEEDED:
            bits[number], ability[number] = NEEDED[task]
            able = (stands & ((abilities_of(catalog) & ability[number]) > 0)).any(axis=1)
        spans[number, 0] = len(rows)
        for thing, where in _pairs(catalog, task, config.split):
            possible = able & _feasible(catalog, stands, thing, where)
            if possible.any():
                rows.append((thing, where))
                fits.append(possible)
        spans[number, 1] = len(rows) - spans[number, 0]
        if not spans[number, 1]:
            raise ConfigError(
                f"no home of {low} to {high} rooms has the task {task!r} in the split "
                f"{config.split!r}; give another split, or other rooms"
            )
    things, wheres = np.array(rows, np.uint8).T
    return Plans(table, things, wheres, spans, np.stack(fits), ability, bits)


def _pairs(catalog: Catalog, task: str, split: str) -> list[tuple[int, int]]:
    """(kind of object, kind of receptacle or `LAMP`) of a chore."""
    found = []
    plain = catalog.may["carry"] & (catalog.holds == 0)
    if task in ("clean", "heat", "cool"):
        plain = plain & catalog.may[task]
    for thing, name in enumerate(catalog.object_kinds):
        if not plain[thing]:
            continue
        if task == "look":
            if _kept(split, name, "lamp"):
                found.append((thing, LAMP))
            continue
        for where, place in enumerate(catalog.receptacle_kinds):
            if catalog.can["takes"][where, thing] and _kept(split, name, place):
                found.append((thing, where))
    return found


def _feasible(catalog: Catalog, stands: np.ndarray, thing: int, where: int) -> np.ndarray:
    """bool[S]: in which sets of rooms an object of a kind can be somewhere else than where it
    belongs, and there is such a place; `stands` is bool[S, kinds of receptacles]."""
    takes = catalog.can["takes"]
    if where == LAMP:
        lamps = takes[:, catalog.may["lamp"]].any(axis=1)
        return (stands & takes[:, thing]).any(axis=1) & (stands & lamps).any(axis=1)
    other = takes[:, thing] & (np.arange(len(takes)) != where)
    return (stands & other).any(axis=1) & stands[:, where]


# ---- drawing -------------------------------------------------------------------------------------


class _Luck:
    """Uniform numbers between 0 and 1, drawn at once and handed out one after the other."""

    def __init__(self, key: Array, size: int):
        self._numbers, self._used = jax.random.uniform(key, (size,)), 0

    def draw(self, *shape: int) -> Array:
        """f32[*shape]."""
        size = math.prod(shape)
        first, self._used = self._used, self._used + size
        assert self._used <= self._numbers.shape[0]
        return self._numbers[first : self._used].reshape(shape)

    def below(self, count: Any, *shape: int) -> Array:
        """i32[*shape], whole numbers from 0 to below `count`."""
        numbers = jnp.floor(self.draw(*shape) * count).astype(jnp.int32)
        return jnp.minimum(numbers, count - 1)

    def one_of(self, allowed: Array, *shape: int) -> Array:
        """i32[*shape], numbers of True rows of `allowed`, uniformly: bool[K], or bool[K, *shape].
        Where there is none, K."""
        rank = _running_sum(allowed)
        rank = rank.reshape(rank.shape[0], *(rank.shape[1:] or (1,) * len(shape)))
        chosen = jnp.floor(self.draw(*shape) * rank[-1])
        found = jnp.sum(rank <= chosen, axis=0)
        return jnp.where(rank[-1] > 0, found, rank.shape[0]).astype(jnp.int32)

    def between(self, span: tuple[int, int]) -> Array:
        return span[0] + self.below(span[1] + 1 - span[0])


def _running_sum(mask: Array) -> Array:
    """i32, how many rows of a mask [K, ...] are True up to each. Few rows are compared pairwise,
    which compiles to one loop; `cumsum` takes dozens of operations."""
    count = mask.shape[0]
    if count > 64:
        return jnp.cumsum(mask, axis=0, dtype=jnp.int32)
    before = np.tri(count, dtype=bool).reshape(count, count, *(1,) * (mask.ndim - 1))
    return jnp.sum(before & mask[None], axis=1, dtype=jnp.int32)


def generate(config: Any, key: Array) -> HomeState:
    """A home and a goal, at their start; traceable.

    Args:
        config: `Home`, whose `plans` say what can be drawn, and whose `room_range`,
            `receptacle_range` and `object_range` how many there are.
    """
    catalog: Catalog = config.catalog
    cells, kinds = int(catalog.most.sum()), len(catalog.receptacle_kinds)
    size = config.rooms * (cells + kinds + config.rooms + 2) + 3 * config.objects
    luck = _Luck(key, size + config.players + config.errand_count + 3 * MOST + 16)
    known: Plans = config.plans
    task = luck.below(len(config.tasks))
    first, count = jnp.asarray(known.pairs)[task]
    pair = first + luck.below(count)
    # Of a single pair a constant, not a batch of them: XLA would sum that up when it compiles.
    fits = known.fits[0] if len(known.fits) == 1 else jnp.asarray(known.fits)[pair]
    chosen = luck.one_of(jnp.asarray(fits))
    rooms = jnp.asarray(known.sets)[chosen]
    there = rooms[:, None] == np.arange(len(catalog.room_kinds))  # [R, kinds]
    stands = jnp.any(there[:, :, None] & catalog.stands[None], axis=1)  # [R, receptacles]
    goal = _goal(config, luck, task, pair, jnp.any(stands, axis=0))
    kind, room = _receptacles(config, luck, there, stands, goal)
    things = _objects(config, luck, goal, kind)
    place = _places(config, luck, things, kind, room, goal)
    numbers = jnp.where(place == NONE, NONE, things.kind)
    order = jnp.argsort(numbers, stable=True)
    object_kind = numbers[order].astype(jnp.uint8)
    starts = luck.below(jnp.sum(rooms != NONE), config.players)
    if config.family == "follow":
        starts = jnp.broadcast_to(starts[0], starts.shape)
    return begin(
        config,
        room_kind=rooms,
        steps=_doors(luck, rooms),
        kind=kind,
        room=room,
        object_kind=object_kind,
        target=things.target[order] & (object_kind != NONE),
        place=place[order].astype(jnp.uint8),
        player_room=starts.astype(jnp.uint8),
        goal_kind=goal.kind,
        goal_count=goal.count,
        goal_bits=goal.bits,
        goal_where=goal.where,
        task=task.astype(jnp.uint8),
        errand=_errands(config, luck, kind),
    )


def taking(catalog: Catalog) -> np.ndarray:
    """u32[kinds of objects], bit k: a receptacle of kind k takes it."""
    takes = catalog.can["takes"]
    return np.sum(takes.T.astype(np.uint32) << np.arange(len(takes), dtype=np.uint32), axis=1)


def _allows(catalog: Catalog, kind: Array, object_kind: Array) -> Array:
    """bool[C, O], which receptacles of kinds u8[C] take which objects of kinds u8[O]; False for
    `NONE`."""
    table = jnp.asarray(np.append(taking(catalog), 0).astype(np.uint32))
    takers = table[jnp.minimum(object_kind, len(table) - 1)]
    return rules.has_bit(takers[None], kind[:, None])


def _kinds_taking(catalog: Catalog, thing: Array) -> Array:
    """bool[kinds of receptacles, ...], which kinds take an object of a kind; none takes `NONE`."""
    table = jnp.asarray(np.append(taking(catalog), 0).astype(np.uint32))
    takers = table[jnp.minimum(thing, len(table) - 1)]
    numbers = np.arange(len(catalog.receptacle_kinds), dtype=np.uint8)
    return rules.has_bit(takers[None], numbers.reshape(-1, *(1,) * takers.ndim))


class _Goal(NamedTuple):
    """The conditions, u8[K] each; `source`, u8[K], a kind of receptacle where objects of the
    condition can be; `ability`, u8[], which some receptacle must have; `lamp`, u8[], the kind of
    receptacle for a lamp, and `lamp_kind`, u8[], its kind; `knife`, bool[], whether one is needed.
    `NONE` where there is none."""

    kind: Array
    count: Array
    bits: Array
    where: Array
    source: Array
    ability: Array
    lamp: Array
    lamp_kind: Array
    knife: Array


def _goal(config: Any, luck: _Luck, task: Array, pair: Array, available: Array) -> _Goal:
    """Draw a goal; `available` is bool[kinds of receptacles], which can stand in the home."""
    catalog: Catalog = config.catalog
    count, u8 = config.conditions, jnp.uint8
    empty, zeros = jnp.full(count, NONE, u8), jnp.zeros(count, u8)
    none, no = jnp.asarray(NONE, u8), jnp.zeros((), bool)
    if config.family == "follow":
        return _Goal(empty, zeros, zeros, empty, empty, u8(0), none, none, no)
    if config.family == "transport":
        bed = empty.at[0].set(catalog.receptacle_kinds.index("bed"))
        kind, number = empty.at[0].set(TARGETS), zeros.at[0].set(config.targets)
        return _Goal(kind, number, zeros, bed, empty, u8(0), none, none, no)
    if config.family == "watch_and_help":
        return _help(config, luck, task, available)
    known: Plans = config.plans
    thing, where = jnp.asarray(known.object)[pair], jnp.asarray(known.where)[pair]
    numbers = np.arange(len(catalog.receptacle_kinds))
    other = available & _kinds_taking(catalog, thing) & (numbers != where)
    source = luck.one_of(other)
    lamps = np.any(catalog.can["takes"][:, catalog.may["lamp"]], axis=1)
    at = luck.one_of(available & lamps)
    fits = catalog.may["lamp"] & (_allows(catalog, at[None], np.arange(len(catalog.holds)))[0])
    lamp = luck.one_of(fits)
    look = where == LAMP
    bits = jnp.asarray(known.bits)[task]
    knife = no
    if config.slicing:
        can = jnp.asarray(catalog.may["slice"])[thing]
        knife = can & jnp.any(available & takes_knives(catalog)) & (luck.draw() < 0.5)
        bits = bits | jnp.where(knife, u8(SLICED), u8(0))
    two = config.tasks.index("two") if "two" in config.tasks else -1
    return _Goal(
        empty.at[0].set(thing),
        zeros.at[0].set(jnp.where(task == two, 2, 1)),
        zeros.at[0].set(bits),
        empty.at[0].set(where),
        empty.at[0].set(source.astype(u8)),
        jnp.asarray(known.ability)[task],
        jnp.where(look, at, NONE).astype(u8),
        jnp.where(look, lamp, NONE).astype(u8),
        knife,
    )


def takes_knives(catalog: Catalog) -> np.ndarray:
    """bool[kinds of receptacles], where knives can be."""
    return np.any(catalog.can["takes"][:, catalog.may["cut"]], axis=1)


def _help(config: Any, luck: _Luck, task: Array, available: Array) -> _Goal:
    """Three to five objects of up to as many kinds, all to one kind of receptacle."""
    catalog: Catalog = config.catalog
    count, u8 = config.conditions, jnp.uint8
    kinds = np.zeros((len(config.tasks), len(catalog.object_kinds)), bool)
    wheres = np.zeros(len(config.tasks), np.uint8)
    for number, name in enumerate(config.tasks):
        things, place = HELP[name]
        kinds[number, [catalog.object_kinds.index(thing) for thing in things]] = True
        wheres[number] = catalog.receptacle_kinds.index(place)
    total = luck.between((FEWEST, MOST))
    drawn = jnp.sort(luck.one_of(jnp.asarray(kinds)[task], MOST))
    kept = np.arange(MOST) < total
    drawn = jnp.where(kept, drawn, NONE)
    fresh = kept & (jnp.append(NONE, drawn[:-1]) != drawn)
    times = jnp.sum((drawn[:, None] == drawn[None]) & kept, axis=1)
    order = jnp.argsort(~fresh, stable=True)
    drawn, fresh, times = drawn[order], fresh[order], times[order]
    where = jnp.asarray(wheres)[task]
    other = _kinds_taking(catalog, drawn) & available[:, None]
    other = other & (np.arange(len(available))[:, None] != where)
    source = luck.one_of(other, MOST)
    assert count == MOST
    empty, none = jnp.full(count, NONE, u8), jnp.asarray(NONE, u8)
    return _Goal(
        jnp.where(fresh, drawn.astype(u8), empty),
        jnp.where(fresh, times, 0).astype(u8),
        jnp.zeros(count, u8),
        jnp.where(fresh, where, empty),
        jnp.where(fresh, source.astype(u8), empty),
        u8(0),
        none,
        none,
        jnp.zeros((), bool),
    )


def _receptacles(
    config: Any, luck: _Luck, there: Array, stands: Array, goal: _Goal
) -> tuple[Array, Array]:
    """(kind, room) of the receptacles, u8[C] each: what the rooms and the goal need, and more."""
    catalog: Catalog = config.catalog
    rooms, kinds = stands.shape
    # What can stand in a room: each kind as often as there are of it at most.
    cells = np.repeat(np.arange(kinds), catalog.most)
    first = np.append(True, cells[1:] != cells[:-1])
    needed = jnp.any(there[:, :, None] & catalog.needs[None], axis=1)  # [R, kinds]
    numbers = np.arange(kinds)
    wanted = jnp.any(goal.where[:, None] == numbers, axis=0)
    wanted = wanted | jnp.any(goal.source[:, None] == numbers, axis=0) | (goal.lamp == numbers)
    # One of each kind, where it is not needed already; one that is able, and one for knives.
    missing = wanted & ~jnp.any(needed, axis=0)
    rank = luck.draw(rooms, kinds)
    place = jnp.where(stands, rank, -1.0)
    needed = needed | ((place == jnp.max(place, axis=0)) & stands & missing)
    groups = [(jnp.asarray(abilities_of(catalog)) & goal.ability) > 0]
    if config.slicing:
        groups.append(takes_knives(catalog) & goal.knife)
    for group in groups:
        lacks = jnp.any(group) & ~jnp.any(needed & group)
        score = jnp.where(stands & group, rank, -1.0)
        needed = needed | ((score == jnp.max(score)) & (score >= 0) & lacks)
    score = luck.draw(rooms, len(cells)) + jnp.where(needed[:, cells] & first, 1.0, 0.0)
    score = jnp.where(stands[:, cells], score, -1.0).reshape(-1)
    fewest = min(config.receptacles, score.shape[0])
    best, found = jax.lax.top_k(score, fewest)
    total = jnp.maximum(luck.between(config.receptacle_range), jnp.sum(needed))
    kept = (np.arange(fewest) < total) & (best >= 0)
    code = jnp.asarray(cells)[found % len(cells)] * rooms + found // len(cells)
    code = jnp.sort(jnp.where(kept, code, kinds * rooms))
    code = jnp.pad(code, (0, config.receptacles - fewest), constant_values=kinds * rooms)
    kept = code < kinds * rooms
    kind = jnp.where(kept, code // rooms, NONE).astype(jnp.uint8)
    return kind, jnp.where(kept, code % rooms, NONE).astype(jnp.uint8)


class _Things(NamedTuple):
    """Objects before they are placed: `kind`, i32[O] (`NONE`: none), and `target`, bool[O]."""

    kind: Array
    target: Array


def _objects(config: Any, luck: _Luck, goal: _Goal, kind: Array) -> _Things:
    """What the goal asks for, and other things that have a place in the home."""
    catalog: Catalog = config.catalog
    slots = np.arange(config.objects)
    total = luck.between(config.object_range)
    numbers = np.arange(len(catalog.receptacle_kinds))
    present = jnp.any(kind[:, None] == numbers, axis=0)
    if config.family == "transport":  # what is to be brought has a place elsewhere
        present = present & (numbers != catalog.receptacle_kinds.index("bed"))
    storable = rules.bits_of(present) & taking(catalog) > 0
    plain = catalog.may["carry"] & (catalog.holds == 0)
    others = luck.one_of(storable & plain, config.objects)
    if config.family == "transport":
        holders = np.flatnonzero(catalog.holds > 0)
        containers = slots < config.containers_placed
        kinds = jnp.where(containers, holders[slots % len(holders)], others)
        target = jnp.asarray(~containers & (slots < config.containers_placed + config.targets))
        return _Things(jnp.where(slots < total, kinds, NONE), target)
    # The first slots: the objects of each condition, a lamp, a knife.
    ends = jnp.sum(np.tri(config.conditions, dtype=np.int32) * goal.count, axis=1, dtype=jnp.int32)
    which = jnp.sum(slots[:, None] >= ends[None], axis=1)  # the condition of each slot
    asked = which[:, None] == np.arange(config.conditions)
    wanted = jnp.sum(jnp.where(asked, goal.kind, 0), axis=1)
    following = jnp.asarray(ends[-1])
    kinds = jnp.where(slots < following, wanted, others)
    lamp = goal.lamp_kind != NONE
    kinds = jnp.where((slots == following) & lamp, goal.lamp_kind, kinds)
    following = following + lamp
    if config.slicing:
        cuts = luck.one_of(storable & catalog.may["cut"])
        kinds = jnp.where((slots == following) & goal.knife, cuts, kinds)
        following = following + goal.knife
    kinds = jnp.where(slots < jnp.maximum(total, following), kinds, NONE)
    return _Things(kinds, jnp.zeros(config.objects, bool))


def _places(
    config: Any, luck: _Luck, things: _Things, kind: Array, room: Array, goal: _Goal
) -> Array:
    """i32[O], where things are at the start: each somewhere that takes it, and nowhere where the
    goal wants it; `NONE` where there is no such place."""
    catalog: Catalog = config.catalog
    allowed = _allows(catalog, kind, things.kind)  # [C, O]
    there = (kind == goal.where[:, None]) & (goal.count > 0)[:, None]  # [K, C]
    if config.family == "transport":
        # Containers stand in one room, or in two.
        holds = jnp.append(jnp.asarray(catalog.holds > 0), False)
        holds = holds[jnp.minimum(things.kind, len(holds) - 1)]
        allowed = allowed & ~there[0][:, None]
        usable = jnp.any(allowed & holds, axis=1)
        numbers = np.arange(config.rooms)[:, None]
        has = jnp.any((room == numbers) & usable, axis=1)
        score = jnp.where(has, luck.draw(config.rooms), -1.0)
        rank = jnp.sum(score[None] > score[:, None], axis=1)
        near = has & (rank < (2 if config.containers == "enough" else 1))
        inside = jnp.any((room == numbers) & near[:, None], axis=0)
        allowed = allowed & (~holds | inside[:, None])
    else:
        wanted = things.kind == goal.kind[:, None]  # [K, O]
        allowed = allowed & ~jnp.any(there[:, :, None] & wanted[:, None], axis=0)
    found = luck.one_of(allowed, config.objects)
    return jnp.where(found < config.receptacles, found, NONE)


def _doors(luck: _Luck, rooms: Array) -> Array:
    """u8[R, R], as `HomeState.steps`: a random tree, and some doors more."""
    count = rooms.shape[0]
    numbers = np.arange(count)
    parent = jnp.floor(luck.draw(count) * numbers)
    joined = (numbers[None] == parent[:, None]) & (numbers[:, None] > 0)
    joined = joined | (luck.draw(count, count) < SHORTCUT)
    joined = joined & (numbers[None] < numbers[:, None])
    there = rooms != NONE
    return distances(joined & there[:, None] & there[None], there)


def distances(joined: Array, there: Array) -> Array:
    """u8[R, R], doors on the shortest way between rooms.

    Args:
        joined: bool[R, R], rooms with a door between them, in either triangle.
        there: bool[R], which rooms exist.
    """
    count = there.shape[0]
    far = 100
    doors = jnp.where(joined | joined.T, 1, far)
    doors = jnp.where(jnp.eye(count, dtype=bool) & there, 0, doors)
    for middle in range(count):
        doors = jnp.minimum(doors, doors[:, middle, None] + doors[None, middle])
    return jnp.where(doors < far, doors, NONE).astype(jnp.uint8)


def begin(
    config: Any,
    *,
    room_kind: Array,
    steps: Array,
    kind: Array,
    room: Array,
    object_kind: Array,
    target: Array,
    place: Array,
    player_room: Array,
    goal_kind: Array,
    goal_count: Array,
    goal_bits: Array,
    goal_where: Array,
    task: Array,
    is_open: Array | None = None,
    bits: Array | None = None,
    at: Array | None = None,
    errand: Array,
) -> HomeState:
    """The first state of a home, in which players have looked around; see `HomeState`. What is left
    out: all that closes is shut, nothing is clean, hot, cool or on, and players are in the middle
    of their rooms."""
    catalog: Catalog = config.catalog
    count, things, places = config.players, config.objects, config.receptacles
    u8, i16 = jnp.uint8, jnp.int16
    abilities = _of_kind(abilities_of(catalog), kind)
    closes = (abilities & OPENS) != 0
    fits = _allows(catalog, kind, object_kind)
    if config.family == "transport":  # what is to be brought may be put there
        fits = fits | ((kind == goal_where[0])[:, None] & target)
    is_open = ~closes if is_open is None else is_open | ~closes
    bits = jnp.zeros(things, u8) if bits is None else bits
    told = jnp.ones((count, config.conditions), bool)
    if config.told != "all" and config.hidden:
        told = told & (config.told == "first") & (np.arange(count) == 0)[:, None]
    state = HomeState(
        room_kind=room_kind,
        steps=steps,
        kind=kind,
        room=room,
        open=is_open,
        abilities=abilities,
        takes=rules.bits_of(fits.T),
        object_kind=object_kind,
        traits=_of_kind(traits_of(catalog), object_kind),
        target=target,
        place=place,
        bits=bits,
        once=bits,
        player_room=player_room,
        at=jnp.full(count, NONE, u8) if at is None else at,
        known_place=jnp.full((count, things), NONE, u8),
        known_bits=jnp.zeros((count, things), u8),
        seen=jnp.full((count, things), -1, i16),
        known_open=jnp.where(closes | (kind == NONE), u8(UNSEEN), u8(OPEN))
        * jnp.ones((count, 1), u8),
        looked=jnp.full((count, places), -1, i16),
        met_room=jnp.full((count, count), NONE, u8),
        met_at=jnp.full((count, count), NONE, u8),
        met=jnp.full((count, count), -1, i16),
        goal_kind=goal_kind,
        goal_count=goal_count,
        goal_bits=goal_bits,
        goal_where=goal_where,
        told=told,
        task=task,
        errand=errand,
        errands=u8(0),
        best=jnp.zeros(config.conditions, u8),
        time=i16(0),
        recent=jnp.broadcast_to(jnp.array([0, NONE, NONE], u8), (count, 3)),
    )
    state = rules.know(config, state)
    return dataclasses.replace(state, best=rules.met(config, state))


def _of_kind(table: np.ndarray, kind: Array) -> Array:
    """A number of each kind, of kinds u8[K]; 0 for `NONE`."""
    return jnp.where(kind == NONE, 0, jnp.asarray(table)[jnp.minimum(kind, len(table) - 1)]).astype(
        table.dtype
    )


def _errands(config: Any, luck: _Luck, kind: Array) -> Array:
    """u8[E], receptacles, no two in a row the same; elsewhere 0."""
    if config.family != "follow":
        return jnp.zeros(config.errand_count, jnp.uint8)
    total = jnp.sum(kind != NONE)
    draws = luck.draw(config.errand_count)
    first, more = jnp.floor(draws * total), 1 + jnp.floor(draws * (total - 1))
    more = jnp.where(np.arange(config.errand_count) == 0, first, more)
    return (jnp.cumsum(more) % total).astype(jnp.uint8)
