"""Episodes that start amid a game: JaxMARL's `random_reset` of OvercookedV2 (Gessler et al. 2025),
with its chances.

A hand holds nothing, a dish, an ingredient, or a soup; so does each counter, whether anybody can
reach it or not. A pot is empty, or idle with one to three ingredients, or cooks, or is ready. With
classic dynamics pots that cook or are ready hold three; one that stands idle with three starts when
any chef uses it, whatever that one holds. Ingredients are drawn from all kinds that the layout
knows, soups from the recipes that may be asked for.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

from manyhands.core.env import Array
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import COUNTER, POT
from manyhands.envs.kitchen.state import DISH, NOTHING, SOUP, KitchenConfig, KitchenState

IN_HANDS = (0.5, 0.1, 0.25, 0.15)  # nothing, a dish, an ingredient, a soup
ON_COUNTERS = (0.5, 0.1, 0.3, 0.1)  # the same
IN_POTS = (0.4, 0.35, 0.15, 0.1)  # empty, idle, cooking, ready


def scatter(config: KitchenConfig, state: KitchenState, key: Array) -> KitchenState:
    """A first state, of one kitchen, with things in it."""
    hands, counters, pots = jax.random.split(key, 3)
    cells, kinds = state.terrain.shape[0], jnp.asarray(config.level_kinds)[state.level]
    is_pot, is_counter = state.terrain == POT, state.terrain == COUNTER
    held = _things(config, state, hands, config.chefs, IN_HANDS)
    lying = _things(config, state, counters, cells, ON_COUNTERS)

    state_key, kind_key, count_key, time_key = jax.random.split(pots, 4)
    what = _choice(state_key, cells, IN_POTS)
    drawn = jax.random.randint(kind_key, (3, cells), 0, kinds)
    few = jnp.arange(3)[:, None] < jax.random.randint(count_key, (cells,), 1, 4)
    partly = SOUP + jnp.sum(jnp.where(few, _units(drawn), 0), axis=0)
    full = SOUP + jnp.sum(_units(drawn), axis=0)
    done = partly if config.dynamics == "manual" else full
    inside = jnp.where(what == 0, NOTHING, jnp.where(what == 1, partly, done))
    times = jnp.asarray(config.cook_times, jnp.int32)[state.level, inside]
    left = jax.random.randint(time_key, (cells,), 0, jnp.maximum(times, 1)) + 1
    timer = jnp.where(what == 2, left + 1, jnp.where(what == 3, 1, 0))
    objects = jnp.where(is_pot, inside, jnp.where(is_counter, lying, NOTHING))
    return dataclasses.replace(
        state,
        held=held.astype(state.held.dtype),
        objects=objects.astype(state.objects.dtype),
        timer=jnp.where(is_pot, timer, 0).astype(state.timer.dtype),
    )


def _choice(key: Array, count: int, chances: tuple[float, ...]) -> Array:
    """i32[count]: numbers drawn with these chances."""
    drawn = jax.random.uniform(key, (count,))
    bounds = jnp.cumsum(jnp.asarray(chances))[:-1]
    return jnp.sum(drawn[:, None] >= bounds, axis=1, dtype=jnp.int32)


def _things(
    config: KitchenConfig, state: KitchenState, key: Array, count: int, chances: tuple[float, ...]
) -> Array:
    """i32[count]: objects outside of pots."""
    what_key, kind_key, soup_key = jax.random.split(key, 3)
    what = _choice(what_key, count, chances)
    kinds = jnp.asarray(config.level_kinds)[state.level]
    kind = jax.random.randint(kind_key, (count,), 0, kinds)
    recipes = jnp.asarray(config.recipe_counts)[state.level]
    recipe = jax.random.randint(soup_key, (count,), 0, recipes)
    soup = jnp.asarray(config.recipes, jnp.int32)[state.level, recipe]
    raw = jnp.asarray(ask.INGREDIENTS)[kind]
    return jnp.select([what == 1, what == 2, what == 3], [DISH, raw, soup], NOTHING)


def _units(kind: Array) -> Array:
    """What an ingredient adds to the code of a pot's contents."""
    return 1 << jnp.asarray(ask.SHIFTS)[kind]
