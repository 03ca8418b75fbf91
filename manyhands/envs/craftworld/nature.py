"""What nature does in a step: plants grow, and creatures appear and vanish by themselves."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, first, indices
from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.cells import (
    FAR,
    alone,
    among,
    offsets,
    read,
    ring,
    row_at,
    shifts,
    write_all,
)
from manyhands.envs.craftworld.chance import Chance, odds, pick
from manyhands.envs.craftworld.setting import APPEARS, Setting
from manyhands.envs.craftworld.state import CraftState, Now

CLOSEST, FARTHEST = {rl.COW: 4, rl.ZOMBIE: 10, rl.SKELETON: 10}, 13  # Craftax: from a player
ODD = (1, 0x9E3779B1, 0x85EBCA77)  # factors that reorder random words
BALANCE, CHUNK = 10, 12  # Crafter: every so many steps, in chunks of so many rows and columns
MEADOW = (rl.GRASS, rl.PLANT, rl.RIPE_PLANT)
# Crafter: kind, its ground, cells of that to want any, distances and odds to come and to go.
WANTS = (
    (rl.ZOMBIE, MEADOW, 50, (6, 0), (0.3, 0.4)),
    (rl.SKELETON, (rl.PATH,), 6, (7, 7), (0.1, 0.1)),
    (rl.COW, MEADOW, 30, (5, 5), (0.01, 0.1)),
)


def grow(c: Setting, now: Now, rooted: Array) -> Now:
    """Plants grow older, ripen, and die if something tramples them; `rooted`, bool[P, ...]:
    those that may in this step."""
    craft = c.craft
    planted = now.plant_age > 0
    cell, _ = c.cell(now.plant_spot)
    ground = read(now.map, cell)
    planted = planted & ((ground == rl.PLANT) | (ground == rl.RIPE_PLANT))
    grows, dies = planted & rooted, jnp.zeros_like(planted)
    if craft.near:
        _, _, distance = offsets(now.spot[:, None], now.plant_spot[None])
        distance = jnp.where((now.alive == rl.ALIVE)[:, None], distance, FAR)
        grows = grows & (jnp.min(distance, axis=0) < craft.near)
    if craft.trampled:
        animal = (now.kind > 0) & (now.kind < rl.ARROW)
        gap = now.spot_of[None] - now.plant_spot[:, None]  # [P, M, ...]
        beside = functools.reduce(jnp.logical_or, [gap == int(step) for step in shifts(rl.DELTAS)])
        dies = grows & jnp.any(beside & animal[None], axis=1)
    age = jnp.where(planted, now.plant_age, 0) + grows
    ripens = grows & (age == craft.ripe + 1)
    becomes = jnp.where(dies, rl.GRASS, rl.RIPE_PLANT)
    return now._replace(
        map=write_all(now.map, cell, becomes, ripens | dies),
        plant_age=jnp.where(dies, 0, jnp.minimum(age, craft.ripe + 1)),
        wilted=dies | ((now.plant_age > 0) & ~planted),
        ripened=ripens & ~dies,
    )


def appear(c: Setting, now: Now, state: CraftState, chance: Chance) -> Now:
    """Craftax's spawning: near each player, in each step, one cow, zombie and skeleton may
    appear, on any free cell of the right ground and distance."""
    n = c.num_players
    rings = ring(CLOSEST[rl.COW], FARTHEST)
    chances = chance.draw("chances", 3 * n).reshape(n, 3, *now.clock.shape)
    below = [c.by_time(c.spawn_odds[which], state) for which in APPEARS]
    up = now.alive == rl.ALIVE

    def near(k: Any, now: Now) -> Now:
        spot = row_at(now.spot, k)
        to = spot[None] + expand(rings, now.clock.ndim)
        cell, inside = c.cell(to)
        ground = jnp.where(inside, read(now.map, cell), rl.VOID)
        distance = np.abs((rings + 128) >> 8) + np.abs((rings + 128) % 256 - 128)
        distance = expand(distance, now.clock.ndim)
        if n > 1:
            _, _, distances = offsets(now.spot[:, None], to[None])
            distance = jnp.min(jnp.where(up[:, None], distances, FAR), axis=0)
        solid = jnp.where((now.kind > 0) & (now.kind < rl.ARROW), now.spot_of, -1)
        taken = jnp.any(solid[None] == to[:, None], axis=1)
        if n > 1:
            taken = taken | jnp.any(now.spot[None] == to[:, None], axis=1)
        words = chance.words("where", len(rings), salt=k)
        ground, words = alone(jnp.where(taken, rl.VOID, ground), words)
        kind, spot_of, health, cooldown = now.kind, now.spot_of, now.health, now.cooldown
        before = jnp.full_like(spot, -1)
        for j, (which, grounds) in enumerate(APPEARS.items()):
            fits = (distance >= CLOSEST[which]) & among(ground, grounds) & (to != before[None])
            # The same words in another order for each kind.
            index = pick(fits, words * np.uint32(ODD[j]))
            comes = (index >= 0) & (row_at(chances, k)[j] < below[j]) & row_at(up, k)
            chosen = jnp.asarray(rings)[jnp.maximum(index, 0)] + spot
            comes, chosen = alone(comes, chosen)
            slot = first(c.slot_mask(which, kind) & (kind == 0)) & comes[None]
            kind = jnp.where(slot, which, kind)
            spot_of = jnp.where(slot, chosen[None], spot_of)
            health = jnp.where(slot, c.healths[which], health)
            cooldown = jnp.where(slot, 0, cooldown)
            before = jnp.where(comes, chosen, before)
        return now._replace(kind=kind, spot_of=spot_of, health=health, cooldown=cooldown)

    if n == 1:
        return near(0, now)
    return jax.lax.fori_loop(0, n, near, now)


def balance(c: Setting, now: Now, state: CraftState, chance: Chance) -> Now:
    """Crafter's spawning: every 10 steps, each chunk of 12 x 12 cells gains or loses at most a
    zombie, a skeleton and a cow, as its ground and the light want it."""
    due = (state.clock + 1) % BALANCE == 0
    shape = now.clock.shape
    down, across = -(-c.height // CHUNK), -(-c.width // CHUNK)
    targets = {k: c.by_time(table, state, 1) for k, table in c.targets.items()}
    up = now.alive == rl.ALIVE

    def away(spot: Array) -> Array:
        distance = offsets(now.spot, spot[None])[2]
        return jnp.min(jnp.where(up, distance, FAR), axis=0)

    def chunk(q: Any, at: tuple[Array, ...]) -> tuple[Array, ...]:
        kind, spot_of, health, cooldown = at
        row, column = q // across * CHUNK, q % across * CHUNK
        begin = (row, column, *(0 for _ in shape))
        ground = jax.lax.dynamic_slice(padded, begin, (CHUNK, CHUNK, *shape))
        ground = ground.reshape(CHUNK**2, *shape)
        corner = row * 256 + column
        rows, columns = (spot_of >> 8) - row, (spot_of & 255) - column
        here = (rows >= 0) & (rows < CHUNK) & (columns >= 0) & (columns < CHUNK)
        chances = chance.draw("chances", 3, salt=q)
        for j, (which, grounds, enough, far, (come, go)) in enumerate(WANTS):
            least, most = targets[which]
            ours = here & (kind == which)
            count = jnp.sum(ours, axis=0)
            fits = among(ground, grounds)
            wanted = count < jnp.where(jnp.sum(fits, axis=0) < enough, 0, least)
            comes = due & wanted & (chances[j] < odds(come))
            goes = due & ~wanted & (count > most) & (chances[j] < odds(go))
            index = pick(fits, chance.words("where", CHUNK**2, salt=3 * q + j))
            to = (index // CHUNK) * 256 + index % CHUNK + corner
            empty = ~jnp.any((kind > 0) & (spot_of == to[None]), axis=0)
            empty = empty & ~jnp.any((now.alive != rl.DEAD) & (now.spot == to[None]), axis=0)
            chosen = index[None] == indices(CHUNK**2, fits.ndim)
            empty = empty & jnp.any(chosen & among(ground, (rl.GRASS, rl.PATH)), axis=0)
            comes = comes & empty & (away(to) >= far[0])
            slot = first(kind == 0) & comes[None]
            loser = pick(ours, chance.words("who", c.slots, salt=3 * q + j))
            loser = loser[None] == indices(c.slots, ours.ndim)
            gone = jnp.sum(jnp.where(loser, spot_of, 0), axis=0)
            goes = goes & (away(gone) >= far[1])
            kind = jnp.where(loser & goes[None], 0, jnp.where(slot, which, kind))
            spot_of = jnp.where(slot, to[None], spot_of)
            health = jnp.where(slot, c.healths[which], health)
            cooldown = jnp.where(slot, 0, cooldown)
        return kind, spot_of, health, cooldown

    at = (now.kind, now.spot_of, now.health, now.cooldown)
    padding = [(0, down * CHUNK - c.height), (0, across * CHUNK - c.width)]
    plane = now.map.reshape(c.height, c.width, *shape)
    padded = jnp.pad(plane, [*padding, *((0, 0) for _ in shape)], constant_values=rl.VOID)
    at = jax.lax.cond(
        jnp.any(due),
        lambda at: jax.lax.fori_loop(0, down * across, chunk, at),
        lambda at: at,
        at,
    )
    return now._replace(kind=at[0], spot_of=at[1], health=at[2], cooldown=at[3])
