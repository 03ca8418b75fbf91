"""Observations that are relative to the goal, from which a small network can learn.

They are a function of a row of `observe.codes`: of every object and receptacle that a player knows,
whether it is what a condition asks for, what it still needs, where it is from here, and how old
that knowledge is.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, indices
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.home.catalog import Catalog
from manyhands.envs.home.generator import abilities_of, distances, taking, traits_of
from manyhands.envs.home.observe import HIDDEN, HIDDEN_BITS, agents_of, codes, slots
from manyhands.envs.home.observe import layout as code_layout
from manyhands.envs.home.rules import has_bit
from manyhands.envs.home.state import (
    BITS,
    CLEAN,
    CLEANS,
    COOL,
    COOLS,
    CUTS,
    HEATS,
    HOLDS,
    HOT,
    LAMP,
    LIGHTS,
    NONE,
    ON,
    OPEN,
    OPENS,
    SHUT,
    SLICED,
    TARGETS,
    Actions,
    HomeConfig,
    HomeState,
)

NEEDS = (CLEAN, HOT, COOL, SLICED)
OLDEST = 8  # the number of ages
U8 = np.uint8


def _spread(config: HomeConfig) -> bool:
    """Whether it takes steps to go through rooms."""
    return config.travel == "steps" and config.rooms > 1


def layout(config: HomeConfig) -> Layout:
    """The pieces of `features`, for one agent."""
    places, things, goals = config.receptacles, config.objects, config.conditions
    agents, hands = agents_of(config), config.hands
    conditions = slots("condition", goals)
    aged = (
        "as far as you know; ages are 1 for now, 2 for a step ago, 3 for 2 or 3, 4 for 4 to 7 ..."
    )
    needs = [f"needs {BITS[bit]}" for bit in NEEDS]
    of_goal = ["there is one", "count", *needs, "at a lamp", "hidden object", "hidden place"]
    of_goal += ["hidden state", "objects known to be in place"]
    of_hand = ["holds something", *[f"of {each}" for each in conditions], *needs, "knife"]
    of_hand += ["container", "objects in it"]
    of_thing = ["seen", "place known", "own hand", "other's hand", "packed", "here", "own room"]
    of_thing += ["in reach", *[f"of {each}" for each in conditions], "in place", *needs]
    of_thing += ["lamp", "on", "knife", "container", "age"]
    of_place = ["there is one", "here", "own room", "not seen", "shut", "open", "looked", "age"]
    of_place += ["opens", "cleans", "heats", "cools", "lamp on"]
    of_place += [f"goal of {each}" for each in conditions]
    of_place += [f"may hold {each}" for each in conditions]
    of_place += [f"holds {each}" for each in conditions]
    of_player = ["in sight", "here", "age", *[f"holds {each}" for each in conditions]]
    if _spread(config):
        of_thing.append("doors away")
        of_place.append("doors away")
        of_player.append("doors away")
    if config.family == "follow":
        of_place.append("next errand")

    def piece(
        name: str, rows: list[str], columns: list[str], high: int, meaning: str, *actions: int
    ) -> Piece:
        shape = (len(rows), len(columns)) if rows else 0
        labels = labelled(rows, columns) if rows else ()
        return Piece(name, shape, 0, high, meaning, labels, actions)

    number = Actions(config)
    handles = number.put, number.pack, number.clean, number.heat, number.cool
    grasps = (number.take, *([number.slice] if config.slicing else []))
    who = slots("player", config.players) if agents > 1 else []
    return Layout(
        [
            Piece("me", agents if agents > 1 else 0, meaning="which agent you are, one-hot"),
            Piece("left", 1, 0, 255, "steps until the end, at most 255"),
            Piece("middle", 1, meaning="whether you are at no receptacle"),
            piece("goal", conditions, of_goal, 255, "what each condition asks for"),
            piece("hands", slots("hand", hands), of_hand, things, "what you hold", *handles),
            piece("objects", slots("object", things), of_thing, 255, aged, *grasps),
            piece("receptacles", slots("receptacle", places), of_place, 255, aged, number.go),
            piece("players", who, of_player, 255, aged),
        ],
        np.uint8,
    )


class _Known(NamedTuple):
    """What follows from the kinds that a row has: traits u8[N, O], abilities u8[N, C], and steps
    between rooms, u8[N, R, R]."""

    traits: Array
    abilities: Array
    steps: Array


def features(config: HomeConfig, state: HomeState) -> Array:
    """u8[N, size, ...]; see `layout`."""
    rows, agents = codes(config, state), agents_of(config)

    def wide(part: Array) -> Array:
        return jnp.broadcast_to(part[None], (agents, *part.shape))

    seen = rows[:, code_layout(config)["object kinds"]] > 0
    traits = jnp.where(seen, state.traits[None], U8(0))
    return _features(
        config, rows, _Known(traits, wide(state.abilities), wide(state.steps)), state.time.ndim
    )


def network_input(config: HomeConfig, row: Array) -> Array:
    """f32[size], the features that a row of `codes` has, divided by their largest values."""
    pieces, catalog = code_layout(config), config.catalog
    kinds, places = row[pieces["object kinds"]], row[pieces["receptacle kinds"]]
    traits = jnp.asarray(np.append(U8(0), traits_of(catalog)))[kinds]
    abilities = jnp.asarray(np.append(U8(0), abilities_of(catalog)))[places]
    rooms = config.rooms
    steps = jnp.zeros((rooms, rooms), U8)
    if _spread(config):
        there = row[pieces["room kinds"]] > 0
        steps = distances(pieces.part(row, "doors") > 0, there)
    found = _features(config, row[None], _Known(traits[None], abilities[None], steps[None]), 0)[0]
    # Counts and ages are small numbers; the steps that are left are not.
    scale = np.ones(found.shape[0], np.float32)
    scale[layout(config)["left"]] = 1 / 64
    return found.astype(jnp.float32) * scale


def _age(now: Array, then: Array) -> Array:
    """u8, how old a sight is: 1 of now, 2 of a step ago, then 1 more for each doubling, at most
    `OLDEST`; 0 of never, where `then`, the step plus 1, is 0."""
    ago = now - then.astype(jnp.int16) + 1
    digits = jnp.ones(ago.shape, U8)
    for bit in range(OLDEST - 1):
        digits = digits + (ago >= 2**bit).astype(U8)
    return jnp.where(then > 0, digits, U8(0))


def _select(table: Array, number: Array) -> Array:
    """`table[n, number[n, k]]` of tables u8[N, K, ...] for numbers u8[N, M, ...] (0 outside)."""
    rows = indices(table.shape[1], number.ndim + 1, 2, U8)
    chosen = number[:, :, None] == rows
    return jnp.sum(jnp.where(chosen, table[:, None], U8(0)), axis=2, dtype=U8)


def _takers(catalog: Catalog, kind: Array) -> Array:
    """u32, the kinds of receptacles that take objects of a kind, as bits."""
    table = jnp.asarray(np.append(taking(catalog), np.zeros(1, np.uint32)).astype(np.uint32))
    return table[jnp.minimum(kind, len(table) - 1)]


def _features(config: HomeConfig, rows: Array, known: _Known, axes: int) -> Array:
    pieces, count = code_layout(config), rows.shape[0]
    part = {name: rows[:, pieces[name]] for name in pieces}
    one = U8(1)
    first, hand_count = config.receptacles, config.players * config.hands
    now = part["time"].astype(jnp.int16)
    me = part["me"].astype(U8)  # [N, 1]
    room, at = part["room"].astype(U8), part["at"].astype(U8)  # plus 1

    # The goal.
    kind, where = (part[name].astype(U8) - one for name in ("goal kinds", "goal places"))
    bits, wanted = (part[name].astype(U8) for name in ("goal bits", "goal counts"))
    there = kind != NONE
    clear_bits = jnp.where(bits == HIDDEN_BITS, U8(0), bits)

    # Objects, [N, O].
    thing = part["object kinds"].astype(U8) - one
    seen = thing != NONE
    place = part["object places"].astype(U8) - one
    now_bits = part["object bits"].astype(U8)
    known_place = place != NONE
    on_place = place < first
    holder = (place - U8(first)) // U8(config.hands)
    held = (place >= first) & (place < first + hand_count)
    packed = known_place & (place >= first + hand_count)
    mine = held & (holder == me)
    place_room = jnp.where(on_place, _select(part["receptacle rooms"].astype(U8), place), U8(0))
    if agents_of(config) > 1:
        owner = _select(part["player rooms"].astype(U8), holder)
        thing_room = jnp.where(held, owner, place_room)
    else:
        thing_room = jnp.where(held, room, place_room)
    here = on_place & (place + one == at)
    own_room = known_place & (thing_room == room) & (room > 0)
    is_open = part["open"] == OPEN
    reach = here & _select(is_open.astype(U8), place).astype(bool)
    matches = seen[:, None] & (kind[:, :, None] == thing[:, None])  # [N, K, O]
    if config.family == "transport":
        targets = part["targets"] > 0
        matches = matches | ((kind == TARGETS)[:, :, None] & targets[:, None])
    place_kind = _select(part["receptacle kinds"].astype(U8), place) - one
    fits = on_place[:, None] & (place_kind[:, None] == where[:, :, None])
    fits = fits & ((now_bits[:, None] & clear_bits[:, :, None]) == clear_bits[:, :, None])
    in_place = matches & fits
    asked = jnp.zeros_like(thing)
    for k in range(config.conditions):
        asked = asked | jnp.where(matches[:, k], clear_bits[:, k, None], U8(0))
    lacks = asked & ~now_bits
    needs = [(lacks & bit) > 0 for bit in NEEDS]
    traits = known.traits
    lamp_on = ((traits & LIGHTS) > 0) & ((now_bits & ON) > 0)
    columns = [seen, known_place, mine, held & ~mine, packed, here, own_room, reach]
    columns += [matches[:, k] for k in range(config.conditions)]
    columns += [jnp.any(in_place, axis=1), *needs, (traits & LIGHTS) > 0, lamp_on]
    columns += [(traits & CUTS) > 0, (traits & HOLDS) > 0]
    columns.append(_age(now, part["object seen"]))
    if _spread(config):
        away = _select(
            known.steps.reshape(count, -1, *rows.shape[2:]), _way(config, room, thing_room)
        )
        columns.append(jnp.where(known_place, away, U8(0)))
    objects = columns

    # Hands, [N, H].
    in_hand = part["hands"].astype(U8) - one
    full = in_hand != NONE
    columns = [
        full,
        *(_select(matches[:, k].astype(U8), in_hand) for k in range(config.conditions)),
    ]
    columns += [_select(need.astype(U8), in_hand) for need in needs]
    columns += [_select(((traits & bit) > 0).astype(U8), in_hand) for bit in (CUTS, HOLDS)]
    inside = packed[:, None] & (place[:, None] == in_hand[:, :, None] + U8(first + hand_count))
    columns.append(jnp.sum(inside & full[:, :, None], axis=2, dtype=U8))
    hands = columns

    # Receptacles, [N, C].
    stands = part["receptacle kinds"].astype(U8) - one
    exists = stands != NONE
    numbers = indices(first, rows.ndim, 1, U8)
    by_place = place[:, None] == indices(first, rows.ndim + 1, 1, U8)  # [N, C, O]
    same = (part["receptacle rooms"].astype(U8) == room) & exists & (room > 0)
    opened = part["open"]
    columns = [exists, numbers + one == at, same, exists & (opened == 0), opened == SHUT]
    columns += [opened == OPEN, part["looked"] > 0, _age(now, part["looked"])]
    columns += [(known.abilities & bit) > 0 for bit in (OPENS, CLEANS, HEATS, COOLS)]
    columns.append(jnp.any(by_place & lamp_on[:, None], axis=2))
    columns += [exists & (stands == where[:, k, None]) for k in range(config.conditions)]
    takers = _takers(config.catalog, kind)
    columns += [
        has_bit(takers[:, k, None], stands) & there[:, k, None] for k in range(config.conditions)
    ]
    columns += [
        jnp.sum(by_place & matches[:, k, None], axis=2, dtype=U8) for k in range(config.conditions)
    ]
    if _spread(config):
        way = _way(config, room, part["receptacle rooms"].astype(U8))
        away = _select(known.steps.reshape(count, -1, *rows.shape[2:]), way)
        columns.append(jnp.where(exists & (room > 0), away, U8(0)))
    if config.family == "follow":
        columns.append(numbers + one == part["errand"][:, :1].astype(U8))
    receptacles = columns

    found = {
        "left": jnp.minimum(config.max_steps - now, 255),
        "middle": (at == 0) & (room > 0),
        "goal": [
            there,
            wanted,
            *((clear_bits & bit) > 0 for bit in NEEDS),
            where == LAMP,
            kind == HIDDEN,
            where == HIDDEN,
            bits == HIDDEN_BITS,
            jnp.sum(in_place, axis=2, dtype=U8),
        ],
        "hands": hands,
        "objects": objects,
        "receptacles": receptacles,
    }
    if agents_of(config) > 1:
        found["me"] = me == indices(agents_of(config), rows.ndim, 1, U8)
        found["players"] = _players(config, rows, part, known, holder, held, matches)
    laid = layout(config)
    parts: dict[str, Array] = {}
    for name, each in found.items():
        stacked = (
            jnp.stack([column.astype(U8) for column in each], axis=2)
            if isinstance(each, list)
            else each.astype(U8)
        )
        parts[name] = stacked.reshape(count, -1, *rows.shape[2:])
    return jnp.concatenate(apart(*laid.ordered(parts, axis=1), ndim=2), axis=1)


def _way(config: HomeConfig, room: Array, other: Array) -> Array:
    """u8, the number of the entry of a table of steps from a room to others (each plus 1); a number
    outside of it where either is unknown."""
    far = (room - U8(1)) * U8(config.rooms) + (other - U8(1))
    return jnp.where((room > 0) & (other > 0), far, U8(NONE))


def _players(
    config: HomeConfig,
    rows: Array,
    part: dict[str, Array],
    known: _Known,
    holder: Array,
    held: Array,
    matches: Array,
) -> list[Array]:
    now = part["time"].astype(jnp.int16)
    room, at = part["room"].astype(U8), part["at"].astype(U8)
    rooms, places, met = (part[f"player {name}"] for name in ("rooms", "places", "seen"))
    sight = (met > 0) & (met.astype(jnp.int16) == now + 1)
    owns = held[:, None] & (holder[:, None] == indices(config.players, rows.ndim + 1, 1, U8))
    columns = [sight, sight & (places.astype(U8) == at) & (at > 0), _age(now, met)]
    columns += [
        jnp.sum(owns & matches[:, k, None], axis=2, dtype=U8) for k in range(config.conditions)
    ]
    if _spread(config):
        table = known.steps.reshape(rows.shape[0], -1, *rows.shape[2:])
        away = _select(table, _way(config, room, rooms.astype(U8)))
        columns.append(jnp.where(met > 0, away, U8(0)))
    return columns
