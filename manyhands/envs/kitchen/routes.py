"""The observation "routes": what there is to do, how far it is, and how to begin to go there.

Its numbers say nothing of where in the map things are, so that they are as many, and mean the
same, in every kitchen with as many chefs: a network that reads them can play in kitchens that it
has not seen. For each kind of place it has the nearest one, by the steps that the chef needs to
come to face it (`paths.py`), around the others if there is such a way.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

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
    chefs, batch = config.chefs, codes.shape[3:]
    codes = codes.reshape(chefs, config.height * config.width, *batch)
    terrain, chef, facing = codes & 7, (codes >> 3) & 7, (codes >> 6) & 3
    thing, timer = (codes >> 8) & 31, (codes >> 13) & 255
    inside = jnp.where(terrain == POT, thing, NOTHING)
    lying = jnp.where(terrain == COUNTER, thing, -1)

    def pick(values: Array, mask: Array) -> Array:
        return jnp.sum(jnp.where(mask, values, 0), axis=1)

    own, floor = chef == 1, terrain == FLOOR
    shift = shift_of(config.width)
    around, through = _own_reach(own, floor, chef, pick(facing, own), config, shift)
    theirs = _others_reach(chef > 1, floor, config, shift)

    room = (timer == 0) & (((inside >> 2) & 3) + (inside & 3) < 3)
    pots = [(terrain == POT) & mask for mask in (room, timer > 1, timer == 1)]
    places = [terrain == code for code in (ONIONS, TOMATOES, DISHES, SERVING)]
    places += [*pots, lying == NOTHING, (lying == NOTHING) & (theirs < FAR)]
    places += [*(lying == code for code in (ONION, TOMATO, DISH)), lying >= SOUP]

    column, row = np.arange(codes.shape[1]) % config.width, np.arange(codes.shape[1])
    across = jnp.asarray(column.reshape(1, -1, *(1,) * len(batch)))
    down = jnp.asarray((row // config.width).reshape(1, -1, *(1,) * len(batch)))
    x, y = pick(across, own), pick(down, own)

    def body(mask: Array) -> list[Array]:
        turned, hand = pick(facing, mask), pick(thing, mask)
        there, soup = mask.any(axis=1), hand >= SOUP
        holding = [hand == ONION, hand == TOMATO, hand == DISH, soup]
        counts = [jnp.where(soup, (hand >> 2) & 3, 0), jnp.where(soup, hand & 3, 0)]
        return [*((turned == side) & there for side in range(4)), *holding, *counts]

    found = body(own)
    blocked = (~floor | (chef > 1))[None]
    for side in range(4):
        before = shift(own[None], side)
        found.append((before & blocked).any(axis=2)[0])
    for k in range(2, chefs + 1):
        mask = chef == k
        there = mask.any(axis=1)
        dx, dy = pick(across, mask) - x, pick(down, mask) - y
        found += [there, *body(mask), jnp.where(there, dx, 0), jnp.where(there, dy, 0)]

    nearest_pots: list[Array] = []
    for k, place in enumerate(places):
        costs = jnp.where(place, around, FAR)
        costs = jnp.where(
            (costs < FAR).any(axis=1, keepdims=True), costs, jnp.where(place, through, FAR)
        )
        cost = costs.min(axis=1).astype(jnp.int32)
        there, steps, first = cost < FAR, cost >> 3, cost & 7
        found += [there, jnp.where(there, steps, 0)]
        found += [there & (steps > 0) & (first == side) for side in range(4)]
        found.append(steps == 0)
        if 4 <= k <= 5:
            # Of pots that are equally near, the first in reading order.
            chosen = place & (costs == cost[:, None]) & there[:, None]
            chosen = chosen & (jnp.cumsum(chosen, axis=1) == 1)
            if k == 4:
                nearest_pots += [pick((inside >> 2) & 3, chosen), pick(inside & 3, chosen)]
            else:
                nearest_pots.append(pick(timer - 1, chosen))
    for place in places:
        cost = jnp.where(place, theirs, FAR).min(axis=1).astype(jnp.int32)
        found += [cost < FAR, jnp.where(cost < FAR, cost >> 3, 0)]
    empty = pots[0] & (inside == NOTHING)
    found += [mask.sum(axis=1) for mask in (pots[0], empty, *pots[1:])]
    found += nearest_pots
    found.append(((codes >> 21) & 1).max(axis=1))
    return jnp.stack([part.astype(jnp.float32) for part in found], axis=1)


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
