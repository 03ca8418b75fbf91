"""The observation "routes": what there is to do, how far it is, and how to begin to go there.

Its numbers say nothing of where in the map things are, so that they are as many, and mean the
same, in every kitchen with as many chefs: a network that reads them can play in kitchens that it
has not seen. For each kind of place it has the nearest one, by the steps that the chef needs to
come to face it (`paths.py`), around the others if there is such a way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, expand, stack
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.kitchen.levels import (
    COUNTER,
    DIRECTIONS,
    DISHES,
    FLOOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
)
from manyhands.envs.kitchen.paths import FAR, Shift, chef_seeds, flood, longest_path, reach
from manyhands.envs.kitchen.state import DISH, NOTHING, ONION, SOUP, TOMATO, KitchenConfig

SIDES = ("north", "south", "east", "west")
THINGS = ("onion", "tomato", "dish", "soup")
PLACES = (
    *(f"{thing} dispenser" for thing in THINGS[:3]),
    *("serving window", "pot with room", "cooking pot", "ready pot"),
    *("empty counter", "empty counter that others reach"),
    *(f"{thing} on a counter" for thing in THINGS),
)
ROOM, COOKING = PLACES.index("pot with room"), PLACES.index("cooking pot")
ROUTE = ("there", "steps", *SIDES, "in front")
POTS = ("with room", "empty", "cooking", "ready")


def layout(chefs: int, steps: int) -> Layout:
    """The pieces. `steps`: the most that a distance or a number of steps can be."""
    others = chefs - 1
    of_chef = np.array([1] * 9 + [3, 3, steps, steps])
    pieces = [
        Piece("own_facing", 4, 0, 1, "facing north, south, east, west", SIDES),
        Piece("holding", 4, 0, 1, "an onion, a tomato, a dish, a soup", THINGS),
        Piece("soup_held", 2, 0, 3, "onions, tomatoes in the soup held", ("onions", "tomatoes")),
        Piece(
            "blocked", 4, 0, 1, "no floor, or another chef, to the north, south, east, west", SIDES
        ),
        Piece(
            "others",
            (others, 13),
            np.where(of_chef == steps, -steps, 0),
            of_chef,
            "of each other chef: in view; facing (4); holding (4); its soup (2); dx, dy",
        ),
        Piece(
            "routes",
            (len(PLACES), len(ROUTE)),
            0,
            [1, steps, 1, 1, 1, 1, 1],
            f"of the nearest {', '.join(PLACES)}: there is a way to one; steps until the chef "
            "faces it; the way begins to the north, south, east, west; it is in front",
            labelled(PLACES, ROUTE),
        ),
        Piece(
            "others_routes",
            (len(PLACES), 2),
            0,
            [1, steps],
            "of the same, for the nearest other chef, through whoever stands in the way: there is "
            "a way to one; steps",
            labelled(PLACES, ROUTE[:2]),
        ),
        Piece("pots", 4, 0, steps, f"how many are {', '.join(POTS)}", POTS),
        Piece(
            "nearest_pots",
            3,
            0,
            [3, 3, steps],
            "onions, tomatoes in the nearest pot with room; steps left of the nearest that cooks",
            ("onions", "tomatoes", "steps left"),
        ),
        Piece("urgent", 1, 0, 1, "fewer than 40 steps are left in the episode"),
    ]
    return Layout([piece for piece in pieces if piece.size], np.float32)


def most(config: KitchenConfig) -> int:
    """The most that a distance, or a number of steps or of pots, can be; turns are steps."""
    return max(2 * longest_path(config) + 2, config.height, config.width, 255)


def shift_of(width: int) -> Shift:
    """`paths.shifted` of maps [F, chefs, cells, ...]."""

    def shift(maps: Array, direction: int) -> Array:
        dx, dy = DIRECTIONS[direction]
        return jnp.roll(maps, dx + dy * width, axis=2)

    return shift


def observe(config: KitchenConfig, codes: Array) -> Array:
    """f32[chefs, F, ...] from the compact observation, i32[chefs, height, width, ...]."""
    batch = codes.ndim - 3
    codes = codes.reshape(config.chefs, config.height * config.width, *codes.shape[3:])
    terrain, chef = codes & 7, (codes >> 3) & 7
    thing, timer = (codes >> 8) & 31, (codes >> 13) & 255
    inside = jnp.where(terrain == POT, thing, NOTHING)
    lying = jnp.where(terrain == COUNTER, thing, -1)

    def pick(values: Array, mask: Array) -> Array:
        return jnp.sum(jnp.where(mask, values, 0), axis=1)

    seen = bodies(codes, config.width)
    own, floor = seen.mask[0], terrain == FLOOR
    shift = shift_of(config.width)
    around, through = _own_reach(own, floor, chef, seen.facing[0], config, shift)
    theirs = _others_reach(chef > 1, floor, config, shift)

    room = (timer == 0) & (((inside >> 2) & 3) + (inside & 3) < 3)
    pots = [(terrain == POT) & mask for mask in (room, timer > 1, timer == 1)]
    kinds = [terrain == code for code in (ONIONS, TOMATOES, DISHES, SERVING)]
    kinds += [*pots, lying == NOTHING, (lying == NOTHING) & (theirs < FAR)]
    kinds += [*(lying == code for code in (ONION, TOMATO, DISH)), lying >= SOUP]
    places = stack(kinds, ndim=2)  # [places, chefs, cells, ...]

    blocked = (~floor | (chef > 1))[None]
    beside = [(shift(own[None], side) & blocked).any(axis=2)[0] for side in range(4)]

    def least(costs: Array) -> Array:
        return jnp.where(places, costs, FAR).min(axis=2).astype(jnp.int32)

    # Through the others only where no way leads around them.
    free = least(around) < FAR
    cost = jnp.where(free, least(around), least(through))
    there, steps, first = cost < FAR, cost >> 3, cost & 7
    ways = [there, jnp.where(there, steps, 0)]
    ways += [there & (steps > 0) & (first == side) for side in range(4)]
    ways.append(steps == 0)
    far = least(theirs)
    count = places[ROOM : ROOM + 3].sum(axis=2)

    def chosen(k: int) -> Array:
        """The nearest place of a kind; of equally near ones the first in reading order."""
        costs = jnp.where(free[k][:, None], around, through)
        nearest = places[k] & (costs == cost[k][:, None]) & there[k][:, None]
        numbers = expand(np.arange(codes.shape[1]), batch)
        order = jnp.where(nearest, numbers, len(numbers))
        return nearest & (order == order.min(axis=1)[:, None])

    with_room, cooking = chosen(ROOM), chosen(COOKING)
    last = [count[0], (pots[0] & (inside == NOTHING)).sum(axis=1), *count[1:]]
    last += [pick((inside >> 2) & 3, with_room), pick(inside & 3, with_room)]
    last += [pick(timer - 1, cooking), ((codes >> 21) & 1).max(axis=1)]

    return table(
        [part[:1] for part in seen.told],
        [part[None] for part in beside],
        [part[1:] for part in seen.others()],
        ways,
        [far < FAR, jnp.where(far < FAR, far >> 3, 0)],
        [part[None] for part in last],
    )


class Bodies(NamedTuple):
    """Everybody whom each chef sees, oneself first: [chefs seen, chefs, ...]; 0 out of view."""

    mask: Array  # bool[chefs seen, chefs, cells, ...]
    in_view: Array
    column: Array
    row: Array
    facing: Array
    told: list[Array]  # facing (4), holding (4), onions and tomatoes in its soup

    def others(self) -> list[Array]:
        """In view, `told`, dx, dy."""
        ways = [jnp.where(self.in_view, place - place[:1], 0) for place in (self.column, self.row)]
        return [self.in_view, *self.told, *ways]


def bodies(codes: Array, width: int) -> Bodies:
    """From the compact observation by cells, i32[chefs, cells, ...]."""
    batch = codes.ndim - 2
    mask = ((codes >> 3) & 7) == expand(np.arange(1, codes.shape[0] + 1)[:, None, None], batch)
    cells = expand(np.arange(codes.shape[1]), batch)

    def pick(values: Array) -> Array:
        return jnp.sum(jnp.where(mask, values, 0), axis=2)

    in_view, facing, hand = mask.any(axis=2), pick((codes >> 6) & 3), pick((codes >> 8) & 31)
    soup = hand >= SOUP
    told = [(facing == side) & in_view for side in range(4)]
    told += [hand == ONION, hand == TOMATO, hand == DISH, soup]
    told += [jnp.where(soup, (hand >> 2) & 3, 0), jnp.where(soup, hand & 3, 0)]
    return Bodies(mask, in_view, pick(cells % width), pick(cells // width), facing, told)


def table(*pieces: Sequence[Array]) -> Array:
    """f32[chefs, F, ...]: pieces one after the other, each of parts [rows, chefs, ...], row by row.

    A few large arrays compile much faster than one for each number.
    """
    made = []
    for parts in pieces:
        columns = stack([part.astype(jnp.float32) for part in parts], ndim=2)
        rows = jnp.moveaxis(columns, 2, 0).swapaxes(1, 2)  # [chefs, rows, parts, ...]
        made.append(rows.reshape(rows.shape[0], -1, *rows.shape[3:]))
    return jnp.concatenate(apart(*made, ndim=2), axis=1)


def _own_reach(
    own: Array, floor: Array, chef: Array, facing: Array, config: KitchenConfig, shift: Shift
) -> tuple[Array, Array]:
    """(around, through): each chef's costs i16[chefs, cells, ...], with and without the others as
    obstacles."""
    free = jnp.stack([floor & (chef < 2), floor])
    mine = jnp.broadcast_to(own[None], free.shape)
    maps = flood(chef_seeds(mine, free & ~mine, shift), free & ~mine, longest_path(config), shift)
    around, through = reach(maps, mine, facing.astype(jnp.int16)[None, :, None], free, shift)
    return around, through


def _others_reach(others: Array, floor: Array, config: KitchenConfig, shift: Shift) -> Array:
    """i16[chefs, cells, ...]: costs of the nearest other chef to each floor
    cell, and to stand beside any other one, turns left out."""
    start = jnp.where(others, jnp.int16(0), jnp.int16(FAR))[None]
    maps = flood(start, floor[None], longest_path(config), shift)
    beside = shift(maps, 0)
    for direction in (1, 2, 3):
        beside = jnp.minimum(beside, shift(maps, direction))
    return jnp.where(floor, maps[0], beside[0])
