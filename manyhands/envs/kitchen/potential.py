"""Overcooked-AI's potential of a kitchen, for potential-based shaping (Ng, Harada, Russell 1999).

The potential guesses what greedy chefs will earn who do not help each other: the discounted value
of what is under way, of every soup in a pot, in hands or still to be filled, on top of the best
soup made over and over. Each step of the work (another ingredient, a dish, the way to the window)
counts as many steps as the chef who is nearest needs, at most `SLOW`. The term `potential` is
`GAMMA * potential(after) - potential(before)`, the same for all chefs.

Where several pots promise the same, chefs care for them in reading order; there it is undefined.
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.kitchen import featurize
from manyhands.envs.kitchen.levels import POT, RECIPES, SERVING, Level, Recipe
from manyhands.envs.kitchen.state import (
    DISH,
    NOTHING,
    ONION,
    SOUP,
    TOMATO,
    KitchenConfig,
    KitchenState,
)

TERM = "potential"
GAMMA = 0.99
SLOW = 10  # steps that a deed counts at most, or where nobody can do it
FAR = 1000  # steps to what cannot be reached
ONION_VALUE, TOMATO_VALUE = 21, 13  # where soups are not worth the sum of their ingredients


def potential(config: KitchenConfig, state: KitchenState) -> Array:
    """f32[...], of a state."""
    table = tables(config)
    level = state.level.astype(jnp.int32)
    index = state.position.astype(jnp.int32) * 4 + state.facing.astype(jnp.int32)
    levels = jnp.broadcast_to(level[None], index.shape)
    steps = jnp.moveaxis(jnp.asarray(table["steps"])[levels, index], -1, 0)  # [1 + P, chefs, ...]
    to_window, to_pot = steps[0], steps[1:]
    held = state.held
    pots = jnp.moveaxis(jnp.asarray(table["pots"])[level], -1, 0)  # i32[P, ...], -1 for none
    cells = jnp.arange(state.objects.shape[0], dtype=jnp.int32)
    at = cells.reshape(-1, *(1,) * pots.ndim) == pots[None]  # [cells, P, ...]
    inside = jnp.sum(jnp.where(at, state.objects[:, None], 0), axis=0, dtype=jnp.int32)
    timer = jnp.sum(jnp.where(at, state.timer[:, None], 0), axis=0, dtype=jnp.int32)
    there, code = pots >= 0, inside & 15
    idle = there & (inside > 0) & (timer == 0)
    cooks, empty = there & (timer > 0), there & (inside == 0)

    def read(name: str, contents: Array) -> Array:
        rows = jnp.asarray(table[name])
        return rows[jnp.broadcast_to(level, contents.shape), contents]

    total = jnp.asarray(table["base"])[level]
    worth = jnp.maximum(read("worth", (held & 15).astype(jnp.int32)), 1)
    carried = _decay(jnp.minimum(to_window, SLOW)) * worth
    total = total + jnp.sum(jnp.where(held >= SOUP, carried, 0.0), axis=0)
    total = total + _cooking(held, to_pot, cooks, timer, jnp.maximum(read("worth", code), 1))
    filling, left = _filling(held, to_pot, idle, code, read)
    return total + filling + _left_over(left, to_pot, empty, jnp.asarray(table["values"])[level])


def _decay(steps: Array) -> Array:
    return jnp.power(jnp.float32(GAMMA), steps.astype(jnp.float32))


def _cooking(held: Array, to_pot: Array, cooks: Array, timer: Array, worth: Array) -> Array:
    """Of soups that cook or are ready: each chef with a dish goes for the best one."""
    remaining = timer - 1
    slowest = _decay(SLOW + jnp.maximum(SLOW, remaining)) * worth
    values = jnp.where(cooks, slowest, 0.0)
    wait = jnp.maximum(remaining[:, None], jnp.minimum(to_pot, SLOW))
    reached = cooks[:, None] & (to_pot < FAR)
    gains = jnp.where(reached, _decay(SLOW + wait) * worth[:, None], 0.0)
    # Of equals, one that still cooks goes before one that is ready.
    still = (remaining > 0)[:, None]
    ranked = jnp.concatenate([jnp.where(still, gains, 0.0), jnp.where(still, 0.0, gains)])
    best = jnp.argmax(ranked, axis=0) % gains.shape[0]  # [chefs, ...]
    chosen = best[None] == jnp.arange(gains.shape[0]).reshape(-1, *(1,) * best.ndim)
    dish = held == DISH
    gains = jnp.max(jnp.where(chosen & dish[None], gains, 0.0), axis=1)
    return jnp.sum(jnp.maximum(values, gains), axis=0)


def _filling(
    held: Array, to_pot: Array, idle: Array, code: Array, read: object
) -> tuple[Array, Array]:
    """Of soups that do not cook yet, best first: the nearest chefs bring what is missing. Returns
    also what everybody has left in hand."""
    rank = jnp.where(idle, read("promise", code), -1.0)  # type: ignore[operator]
    goal, least = (read(name, code) for name in ("goal", "least"))  # type: ignore[operator]
    worth = jnp.maximum(read("worth", goal), 1)  # type: ignore[operator]
    pots = jnp.arange(idle.shape[0]).reshape(-1, *(1,) * (idle.ndim - 1))
    total = jnp.zeros(idle.shape[1:])
    nobody = jnp.min(jnp.where((held == NOTHING)[None], to_pot, FAR), axis=1)
    chefs = jnp.arange(held.shape[0]).reshape(-1, *(1,) * (held.ndim - 1))
    for _ in range(idle.shape[0]):
        pick = pots == jnp.argmax(rank, axis=0)[None]
        valid = jnp.max(rank, axis=0) >= 0

        def of(rows: Array, pick: Array = pick) -> Array:
            shape = pick.reshape(pick.shape[0], *(1,) * (rows.ndim - pick.ndim), *pick.shape[1:])
            return jnp.sum(jnp.where(shape, rows, 0), axis=0)

        target, now, way = of(goal), of(code), of(to_pot)
        onions = (target >> 2) - (now >> 2)
        missing = onions + (target & 3) - (now & 3)
        steps = of(least)
        for slot in range(3):
            thing = jnp.where(slot < onions, ONION, TOMATO)
            asked = valid & (slot < missing)
            far = jnp.where((held == thing[None]) & asked[None], way, FAR)
            near = jnp.min(far, axis=0)
            steps = steps + jnp.where(asked, jnp.minimum(near, SLOW), 0)
            mine = (chefs == jnp.argmin(far, axis=0)[None]) & (near < FAR)[None]
            held = jnp.where(mine, DISH, held)  # spoken for
        start = jnp.where(missing > 0, 1, jnp.minimum(of(nobody), SLOW))
        total = total + jnp.where(valid, _decay(steps + start) * of(worth), 0.0)
        rank = jnp.where(pick, -1.0, rank)
    return total, held


def _left_over(held: Array, to_pot: Array, empty: Array, values: Array) -> Array:
    """Of ingredients in hand that no soup waits for: they may begin one."""
    way = jnp.min(jnp.where(empty[:, None], to_pot, FAR), axis=0)
    worth = jnp.where(held == ONION, values[..., 0], jnp.where(held == TOMATO, values[..., 1], 0))
    found = _decay(jnp.minimum(way, SLOW) + 2 * SLOW) * worth
    return jnp.sum(jnp.where(way < FAR, found, 0.0), axis=0)


# ---- what follows from the layout ----------------------------------------------------------------


def tables(config: KitchenConfig) -> dict[str, np.ndarray]:
    """By level: `steps` i32[L, cells * 4, 1 + P] from a cell and a facing to use the nearest window
    and each pot; `pots` i32[L, P], their cells; by contents [L, 16]: `worth`, the `goal`, which is
    the best soup that they can become, what it `promise`s, and the `least` steps to its delivery
    once it is filled; `values` of one onion and one tomato; `base`, of all soups to come."""
    made = [_table(level, config.height, config.width, config.max_pots) for level in config.levels]
    return {name: np.stack([one[name] for one in made]) for name in made[0]}


@functools.lru_cache(maxsize=16)
def _table(level: Level, height: int, width: int, count: int) -> dict[str, np.ndarray]:
    pots, windows = level.cells(POT), level.cells(SERVING)
    floor = featurize.floor_of(level)
    steps = np.full((height * width * 4, 1 + count), FAR, np.int32)
    for x, y in floor:
        for facing in range(4):
            ways = featurize.steps_from(floor, (x, y), facing)
            row = steps[(y * width + x) * 4 + facing]
            row[0] = min((n for n, _ in featurize.reached(ways, windows)), default=FAR - 1) + 1
            for far, k in featurize.reached(ways, pots):
                row[1 + k] = far + 1
    worth, goal, least = (np.zeros(16, np.int32) for _ in range(3))
    promise = np.zeros(16, np.float32)
    for recipe in RECIPES:
        code = recipe[0] << 2 | recipe[1]
        worth[code] = level.worth(recipe)
        best, promise[code] = _best(level, [recipe])
        goal[code] = best[0] << 2 | best[1]
        least[code] = SLOW + max(SLOW, level.times[best])
    best, discounted = _best(level, [(1, 0), (0, 1)], 0)
    full = level.worth(best)
    base = discounted / (full - discounted) * full if full > 0 else 0.0
    cells = [y * width + x for x, y in pots]
    return {
        "steps": steps,
        "pots": np.array(cells + [-1] * (count - len(cells)), np.int32),
        "worth": worth,
        "goal": goal,
        "promise": promise,
        "least": least,
        "values": np.array(_values(level), np.float32),
        "base": np.array(base, np.float32),
    }


def _best(level: Level, stack: list[Recipe], had: int | None = None) -> tuple[Recipe, float]:
    """(soup, discounted points) of the best soup that can be made of one of these, of which `had`
    ingredients are there; of equals the first that is found, tomatoes before onions."""
    seen: set[Recipe] = set()
    best, value = stack[-1], 0.0
    had = sum(best) if had is None else had
    while stack:
        recipe = stack.pop()
        if recipe in seen:
            continue
        seen.add(recipe)
        steps = level.times[recipe] + SLOW * (sum(recipe) - had)
        now = GAMMA**steps * level.worth(recipe)
        if now > value:
            best, value = recipe, now
        if sum(recipe) < 3:
            more = (recipe[0] + 1, recipe[1]), (recipe[0], recipe[1] + 1)
            stack += [each for each in more if each not in seen]
    return best, value


def _values(level: Level) -> tuple[float, float]:
    """Of an onion and a tomato, where soups are worth the sum of their ingredients."""
    onion, tomato = level.values[1, 0], level.values[0, 1]
    if all(level.values[a, b] == a * onion + b * tomato for a, b in RECIPES):
        return onion, tomato
    return ONION_VALUE, TOMATO_VALUE


def term(config: KitchenConfig, before: KitchenState, after: KitchenState) -> Array:
    """f32[...], what a step gains in potential."""
    old, new = potential(config, before), potential(config, after)
    return (GAMMA * new - old).astype(jnp.float32)
