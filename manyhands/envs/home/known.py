"""What one player knows of a home, read back from its row of `Home.perceive`: what skills and
scripted players compute with. Traceable; of one player at one moment, without a batch axis."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.home.observe import layout
from manyhands.envs.home.state import (
    ON,
    OPEN,
    SLICED,
    TARGETS,
    Actions,
    HomeConfig,
)

FAR = 99  # steps to where no way leads


class Known(NamedTuple):
    """i32 each, numbers from 0; -1 where there is none or it is not known. C receptacles, O things,
    R rooms, N players, K conditions, H hands.

    Attributes:
        me, time: this player, and the steps played.
        room, at: where it is; at: -1 in the middle of the room.
        hands: [H], the object in each.
        room_kind: [R]; doors: [R, R], doors between two rooms on the shortest way, or `FAR`.
        kind, place_room: [C], of the receptacles; open: [C], as `state.HomeState.known_open`;
            looked: [C], the step in which it last saw what is in or on it.
        thing_kind, place, bits, seen: [O], of the objects that it has seen; place as
            `state.HomeState.place`.
        target: bool[O], of `transport`.
        player_room, player_at, player_seen: [N], as `HomeState.met_room`, `met_at` and `met`.
        goal_kind, goal_count, goal_bits, goal_where: [K], as in the state, hidden parts as in the
            observation (`observe.HIDDEN`).
        errand: of the leader in `follow`, its next receptacle.
        steps: [C], steps until it is at each receptacle, or `FAR`.
    """

    me: Array
    time: Array
    room: Array
    at: Array
    hands: Array
    room_kind: Array
    doors: Array
    kind: Array
    place_room: Array
    open: Array
    looked: Array
    thing_kind: Array
    place: Array
    bits: Array
    seen: Array
    target: Array
    player_room: Array
    player_at: Array
    player_seen: Array
    goal_kind: Array
    goal_count: Array
    goal_bits: Array
    goal_where: Array
    errand: Array
    steps: Array

    @property
    def is_open(self) -> Array:
        """bool[C], as far as the player knows."""
        return self.open == OPEN


def known_of(home: HomeConfig, row: Array) -> Known:
    """What a row of `Home.perceive`, [size], says."""
    pieces = layout(home)
    row = jnp.asarray(row).astype(jnp.int32)

    def part(name: str) -> Array:
        return pieces.part(row, name)

    def several(name: str, shape: tuple[int, ...]) -> Array:
        return part(name) if name in pieces else jnp.zeros(shape, jnp.int32)

    room, at = part("room")[0] - 1, part("at")[0] - 1
    place_room, kind = part("receptacle rooms") - 1, part("receptacle kinds") - 1
    doors = _doors(home, several("doors", (home.rooms, home.rooms)))
    if home.travel == "steps":
        away = doors[jnp.maximum(room, 0)][jnp.maximum(place_room, 0)]
        steps = jnp.where(at == np.arange(home.receptacles), 0, away + 1)
    else:
        steps = (at != np.arange(home.receptacles)).astype(jnp.int32)
    return Known(
        me=part("me")[0],
        time=part("time")[0],
        room=room,
        at=at,
        hands=part("hands") - 1,
        room_kind=part("room kinds") - 1,
        doors=doors,
        kind=kind,
        place_room=place_room,
        open=part("open"),
        looked=part("looked") - 1,
        thing_kind=part("object kinds") - 1,
        place=part("object places") - 1,
        bits=part("object bits"),
        seen=part("object seen") - 1,
        target=several("targets", (home.objects,)) > 0,
        player_room=several("player rooms", (home.players,)) - 1,
        player_at=several("player places", (home.players,)) - 1,
        player_seen=several("player seen", (home.players,)) - 1,
        goal_kind=part("goal kinds") - 1,
        goal_count=part("goal counts"),
        goal_bits=part("goal bits"),
        goal_where=part("goal places") - 1,
        errand=several("errand", (2,))[0] - 1,
        steps=jnp.where(kind >= 0, steps, FAR),
    )


def _doors(home: HomeConfig, joined: Array) -> Array:
    """i32[R, R], doors on the shortest ways."""
    count = home.rooms
    found = jnp.where(joined > 0, 1, FAR)
    found = jnp.where(np.eye(count, dtype=bool), 0, found)
    if home.travel == "instant":
        return jnp.where(np.eye(count, dtype=bool), 0, jnp.ones_like(found))
    for middle in range(count):
        found = jnp.minimum(found, found[:, middle, None] + found[None, middle])
    return jnp.minimum(found, FAR)


def looks_up(table: np.ndarray, kind: Array) -> Array:
    """Rows of a table by kind, False or 0 where the kind is -1."""
    found = jnp.asarray(table)[jnp.maximum(kind, 0)]
    there = (kind >= 0).reshape(kind.shape + (1,) * (found.ndim - kind.ndim))
    return jnp.where(there, found, jnp.zeros_like(found))


def hand_place(home: HomeConfig, player: Array, hand: int) -> Array:
    """The place that a hand is."""
    return home.receptacles + home.hands * player + hand


def first_inside(home: HomeConfig) -> int:
    """The place that the inside of object 0 is."""
    return home.receptacles + home.hands * home.players


class Ways(NamedTuple):
    """How a player comes to receptacles, and what it may put there.

    Attributes:
        shut: bool[C], what it has to open there first, as far as it knows.
        reach: i32[C], steps until it is at an open one, or `FAR`.
        begin: i32[C], the action with which it begins to; -1: it is there, and it is open.
        takes: bool[C, O], whether each object may be put there.
    """

    shut: Array
    reach: Array
    begin: Array
    takes: Array


def ways_of(home: HomeConfig, known: Known) -> Ways:
    """See `Ways`."""
    numbers, catalog = Actions(home), home.catalog
    c = np.arange(home.receptacles)
    shut = looks_up(catalog.can["opens"], known.kind) & ~known.is_open
    reach = jnp.where(known.kind >= 0, known.steps + shut, FAR)
    begin = jnp.where(known.at == c, jnp.where(shut, numbers.open, -1), numbers.go + c)
    takes = looks_up(catalog.can["takes"], known.kind)  # [C, kinds]
    fits = takes[:, jnp.maximum(known.thing_kind, 0)] & (known.thing_kind >= 0)
    if home.family == "transport":
        fits = fits | (delivers(known)[:, None] & known.target)
    return Ways(shut, reach, begin, fits)


def delivers(known: Known) -> Array:
    """bool[C], where targets are to be brought."""
    asked = jnp.any(
        (known.goal_kind == TARGETS) & (known.kind[:, None] == known.goal_where), axis=1
    )
    return asked & (known.kind >= 0)


def legal_of(home: HomeConfig, known: Known) -> Array:
    """bool[A], the legal actions of a player with a body, as `Home.legal` has them: a player knows
    all that decides."""
    catalog, ways = home.catalog, ways_of(home, known)
    here = known.at >= 0
    at = jnp.maximum(known.at, 0)
    opened = here & known.is_open[at]
    closes = here & looks_up(catalog.can["opens"], known.kind)[at]
    lies = opened & (known.place == known.at) & here
    free = jnp.any(known.hands < 0)
    lamp = looks_up(catalog.may["lamp"], known.thing_kind)
    takes = lies & free & ~lamp
    if home.family == "transport":
        takes = takes & ~(delivers(known)[at] & known.target)
    held = jnp.maximum(known.hands, 0)
    full = known.hands >= 0
    kinds = jnp.where(full, known.thing_kind[held], -1)
    holds = jnp.where(full, looks_up(catalog.holds, known.thing_kind)[held], 0)
    inside = jnp.sum(known.place[None] == first_inside(home) + held[:, None], axis=1)
    pack = jnp.zeros_like(full)
    if home.family == "transport" and home.hands == 2:
        pack = looks_up(catalog.may["pack"], kinds) & full
        pack = pack & (holds[::-1] > 0) & (inside[::-1] < int(catalog.holds.max()))

    def able(ability: str, may: str) -> Array:
        return here & looks_up(catalog.can[ability], known.kind)[at] & full & looks_up(
            catalog.may[may], kinds
        )  # fmt: skip

    parts = [
        (known.kind >= 0) & (known.at != np.arange(home.receptacles)),
        (known.room_kind >= 0) & ((known.room != np.arange(home.rooms)) | here),
        (closes & ~opened)[None],
        (closes & opened)[None],
        takes,
        full & opened & ways.takes[at, held],
        pack,
        able("cleans", "clean"),
        able("heats", "heat"),
        able("cools", "cool"),
        jnp.any(lies & lamp & ((known.bits & ON) == 0))[None],
    ]
    if home.slicing:
        knife = jnp.any(full & looks_up(catalog.may["cut"], kinds))
        whole = looks_up(catalog.may["slice"], known.thing_kind) & ((known.bits & SLICED) == 0)
        parts.append(lies & whole & knife)
    mask = jnp.concatenate(parts) & (known.time >= home.discussion) & (known.me < home.players)
    return jnp.concatenate([jnp.ones(1, bool), mask])
