"""What players and networks are given of a home: what each player knows, as numbers.

`codes` are small whole numbers for all that a player knows, 0 where it does not know; `features`
(`features.py`) are relative to the goal.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, expand, indices
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.home.rules import hand_codes, packs
from manyhands.envs.home.state import (
    NONE,
    OPEN,
    OPENS,
    UNSEEN,
    HomeConfig,
    HomeState,
)

HIDDEN = 253  # of `goal_kind` and `goal_where`, plus 1 in a code: a player was not told
HIDDEN_BITS = 128  # of `goal_bits`
SHORT = 254  # steps up to which codes are u8


def code_dtype(config: HomeConfig) -> Any:
    return np.uint8 if config.max_steps <= SHORT else np.int16


def agents_of(config: HomeConfig) -> int:
    return config.players + (config.told == "instructor")


def slots(what: str, count: int) -> list[str]:
    return [f"{what} {i}" for i in range(count)]


def layout(config: HomeConfig) -> Layout:
    """The pieces of `codes`, for one agent."""
    rooms, places, things = config.rooms, config.receptacles, config.objects
    players, hands, goals = config.players, config.hands, config.conditions
    kinds = config.catalog
    highest = places + players * hands + things
    room_slots, place_slots = slots("room", rooms), slots("receptacle", places)
    thing_slots, goal_slots = slots("object", things), slots("condition", goals)
    who = slots("player", players)
    last = config.max_steps
    doors = (rooms, rooms) if config.travel == "steps" and rooms > 1 else 0
    errand = 2 if config.family == "follow" else 0
    several = players if agents_of(config) > 1 else 0
    return Layout(
        [
            Piece("me", 1, 0, players, "your number; an instructor has that after the last player"),
            Piece("time", 1, 0, last, "steps played"),
            Piece("room", 1, 0, rooms, "where you are: the room plus 1; an instructor: 0"),
            Piece("at", 1, 0, places, "the receptacle at which you are, plus 1; at none: 0"),
            Piece("hands", hands, 0, things, "the object in each hand, plus 1; none: 0"),
            Piece(
                "room kinds",
                rooms,
                0,
                len(kinds.room_kinds),
                "the kind of each room, plus 1; no room: 0",
                room_slots,
            ),
            Piece(
                "doors",
                doors,
                meaning="whether a door joins two rooms",
                labels=labelled(room_slots, room_slots) if doors else (),
            ),
            Piece(
                "receptacle kinds",
                places,
                0,
                len(kinds.receptacle_kinds),
                "the kind of each receptacle, plus 1; none: 0",
                place_slots,
            ),
            Piece(
                "receptacle rooms",
                places,
                0,
                rooms,
                "the room of each receptacle, plus 1",
                place_slots,
            ),
            Piece(
                "open",
                places,
                0,
                OPEN,
                "whether it is open, as you last saw it: 0 not seen, 1 shut, 2 open",
                place_slots,
            ),
            Piece(
                "looked",
                places,
                0,
                last + 1,
                "the step in which you last saw what is in or on it, plus 1; never: 0",
                place_slots,
            ),
            Piece(
                "object kinds",
                things,
                0,
                len(kinds.object_kinds),
                "the kind of each object that you have seen, plus 1; else 0",
                thing_slots,
            ),
            Piece(
                "object places",
                things,
                0,
                highest,
                "where it is as far as you know, plus 1: a receptacle, a hand (after the "
                "receptacles, player by player), or inside an object (after the hands); "
                "unknown: 0",
                thing_slots,
            ),
            Piece(
                "object bits",
                things,
                0,
                31,
                "as you last saw it: 1 clean, 2 hot, 4 cool, 8 on, 16 sliced, added up",
                thing_slots,
            ),
            Piece(
                "object seen",
                things,
                0,
                last + 1,
                "the step in which you last saw it, plus 1; never: 0",
                thing_slots,
            ),
            Piece(
                "targets",
                things if config.family == "transport" else 0,
                meaning="whether an object that you have seen is to be brought",
                labels=thing_slots if config.family == "transport" else (),
            ),
            Piece(
                "player rooms",
                several,
                0,
                rooms,
                "where you last saw each player, plus 1; never: 0",
                who if several else (),
            ),
            Piece(
                "player places",
                several,
                0,
                places,
                "the receptacle at which that was, plus 1; at none: 0",
                who if several else (),
            ),
            Piece(
                "player seen",
                several,
                0,
                last + 1,
                "the step in which that was, plus 1; never: 0",
                who if several else (),
            ),
            Piece(
                "goal kinds",
                goals,
                0,
                255,
                "the kind of object of each condition, plus 1; 255 the targets; 254 hidden; no "
                "condition: 0",
                goal_slots,
            ),
            Piece("goal counts", goals, 0, 255, "how many", goal_slots),
            Piece("goal bits", goals, 0, 128, "the bits that they need; 128 hidden", goal_slots),
            Piece(
                "goal places",
                goals,
                0,
                255,
                "the kind of receptacle where they belong, plus 1; 255 in a hand at a lamp that "
                "is on; 254 hidden; no condition: 0",
                goal_slots,
            ),
            Piece(
                "errand",
                errand,
                0,
                max(places, config.errand_count),
                "the leader's next receptacle, plus 1 (others: 0), and how many it has visited",
                ("next", "visited") if errand else (),
            ),
        ],
        code_dtype(config),
    )


def goal_codes(config: HomeConfig, state: HomeState) -> tuple[Array, Array, Array, Array]:
    """The conditions as each agent was told them: kinds, counts, bits and places, u8[N, K] each;
    `HIDDEN` and `HIDDEN_BITS` where it was not."""
    agents = agents_of(config)
    shape = (agents, config.conditions, *state.time.shape)
    parts = [state.goal_kind, state.goal_count, state.goal_bits, state.goal_where]
    kind, count, bits, where = (jnp.broadcast_to(part[None], shape) for part in parts)
    if config.told == "all" or not config.hidden:
        return kind, count, bits, where
    told = state.told
    if agents > config.players:
        told = jnp.concatenate([told, jnp.ones_like(told[:1])])
    secret = ~told & (state.goal_kind != NONE)[None]
    u8 = np.uint8
    if "object" in config.hidden:
        kind = jnp.where(secret, u8(HIDDEN), kind)
    if "state" in config.hidden:
        bits = jnp.where(secret, u8(HIDDEN_BITS), bits)
    if "where" in config.hidden:
        where = jnp.where(secret, u8(HIDDEN), where)
    return kind, count, bits, where


def held(config: HomeConfig, state: HomeState) -> Array:
    """u8[N, H], the object in each hand, plus 1; none: 0."""
    axes = state.time.ndim
    codes = expand(hand_codes(config), axes)[:, :, None]
    numbers = expand(np.arange(1, config.objects + 1, dtype=np.uint8), axes)
    return jnp.sum(jnp.where(state.place == codes, numbers, np.uint8(0)), axis=2, dtype=np.uint8)


def _next(config: HomeConfig, state: HomeState) -> Array:
    """u8[], the leader's next receptacle plus 1; 0: none."""
    turn = expand(np.arange(config.errand_count, dtype=np.uint8), state.time.ndim)
    chosen = turn == state.errands
    return jnp.sum(
        jnp.where(chosen, state.errand + np.uint8(1), np.uint8(0)), axis=0, dtype=np.uint8
    )


def codes(config: HomeConfig, state: HomeState) -> Array:
    """[N, size, ...]; see `layout`."""
    count, dtype = config.players, code_dtype(config)
    agents, tail = agents_of(config), state.time.shape
    one = np.uint8(1)

    def wide(part: Array) -> Array:
        return jnp.broadcast_to(part[None], (count, *part.shape)).astype(dtype)

    known = state.seen >= 0
    rows: dict[str, Array] = {
        "me": jnp.broadcast_to(indices(count, len(tail) + 2), (count, 1, *tail)),
        "time": wide(state.time[None]),
        "room": state.player_room[:, None] + one,
        "at": state.at[:, None] + one,
        "hands": held(config, state),
        "room kinds": wide(state.room_kind + one),
        "receptacle kinds": wide(state.kind + one),
        "receptacle rooms": wide(state.room + one),
        "open": state.known_open,
        "looked": state.looked + 1,
        "object kinds": jnp.where(known, state.object_kind + one, np.uint8(0)),
        "object places": state.known_place + one,
        "object bits": state.known_bits,
        "object seen": state.seen + 1,
        "targets": known & state.target,
        "player rooms": state.met_room + one,
        "player places": state.met_at + one,
        "player seen": state.met + 1,
    }
    if config.travel == "steps" and config.rooms > 1:
        rows["doors"] = wide((state.steps == 1).reshape(-1, *tail))
    goal = goal_codes(config, state)
    if config.family == "follow":
        leads = indices(count, len(tail) + 1) == 0
        upcoming = jnp.where(leads, _next(config, state)[None], np.uint8(0))
        visited = jnp.broadcast_to(state.errands[None], upcoming.shape)
        rows["errand"] = jnp.stack([upcoming, visited], axis=1)
    rows |= {
        "goal kinds": goal[0][:count] + one,
        "goal counts": goal[1][:count],
        "goal bits": goal[2][:count],
        "goal places": goal[3][:count] + one,
    }
    pieces = layout(config)
    rows = {name: rows[name].astype(dtype) for name in pieces}
    parts = pieces.ordered(rows, axis=1)
    found = jnp.concatenate(apart(*parts, ndim=2), axis=1)
    if agents == count:
        return found
    # The instructor knows the home and the goal, and sees nothing.
    alike = ("time", "room kinds", "doors", "receptacle kinds", "receptacle rooms")
    last = {name: row[0] if name in alike else jnp.zeros_like(row[0]) for name, row in rows.items()}
    last["me"] = jnp.full_like(last["me"], count)
    always = ((state.abilities & OPENS) == 0) & (state.kind != NONE)
    last["open"] = jnp.where(always, OPEN, UNSEEN).astype(dtype)
    for name, part, more in zip(
        ("goal kinds", "goal counts", "goal bits", "goal places"), goal, (1, 0, 0, 1), strict=True
    ):
        last[name] = (part[count] + np.uint8(more)).astype(dtype)
    row = jnp.concatenate(pieces.ordered(last))
    return jnp.concatenate([found, row[None]])


def summary(config: HomeConfig, state: HomeState) -> Array:
    """i16[S, ...], the true home: of each player the room, the receptacle and the hands; kinds,
    rooms and doors of the receptacles, what is open; kinds, places, bits of the objects and which
    are to be brought; the goal, how much of it was met at best; time, and the leader's errands."""
    tail, one = state.time.shape, np.uint8(1)
    parts = [
        state.player_room + one,
        state.at + one,
        held(config, state).reshape(-1, *tail),
        state.room_kind + one,
        state.kind + one,
        state.room + one,
        state.open,
        state.object_kind + one,
        state.place + one,
        state.bits,
        state.goal_kind + one,
        state.goal_count,
        state.goal_bits,
        state.goal_where + one,
        state.best,
        state.time[None],
    ]
    if config.travel == "steps" and config.rooms > 1:
        parts.append((state.steps == 1).reshape(-1, *tail))
    if packs(config):
        parts.append(state.target)
    if config.family == "follow":
        parts += [_next(config, state)[None], state.errands[None]]
    return jnp.concatenate([part.astype(jnp.int16) for part in parts])
