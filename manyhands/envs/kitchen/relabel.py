"""Ingredients by other names: JaxMARL's `op_ingredient_permutations` of OvercookedV2.

Each chef sees some kinds of ingredients under names that are exchanged, by a permutation that is
drawn for it in each episode. Conventions that rest on names ("tomatoes first") then lead nowhere,
as in other-play (Hu et al. 2020). Only what chefs are shown changes: all of it is computed from the
state `seen_by` a chef, in which dispensers, objects and recipes bear its names.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, names_of
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import DISPENSERS, Level
from manyhands.envs.kitchen.state import (
    SOUP,
    TOOK_CARROT,
    TOOK_MUSHROOM,
    TOOK_ONION,
    TOOK_TOMATO,
    WRITTEN_OUT,
    KitchenConfig,
    KitchenState,
)

_TOOK = (TOOK_ONION, TOOK_TOMATO, TOOK_CARROT, TOOK_MUSHROOM)


def checked(given: Any, levels: Sequence[Level]) -> tuple[str, ...]:
    """The option `relabel`: names of kinds that are worth the same under any exchange.

    Raises:
        ConfigError: these are no such names.
    """
    names = (given,) if isinstance(given, str) else tuple(given)
    wrong = [name for name in names if name not in ask.KINDS]
    if wrong or len(names) < 2 or len(set(names)) < len(names):
        raise ConfigError(
            f"relabel= is two or more different kinds of {names_of(list(ask.KINDS))}; "
            f"given {given!r}"
        )
    kinds = [ask.KINDS.index(name) for name in names]
    for level in levels:
        absent = [ask.KINDS[k] for k in kinds if not (level.terrain == DISPENSERS[k]).any()]
        if absent:
            raise ConfigError(
                f"relabel={list(names)!r}: {level.name} has no dispenser of {names_of(absent)}"
            )
        prices = {recipe: (level.worth(recipe), level.times[recipe]) for recipe in level.orders}
        for one, other in itertools.pairwise(kinds):
            swap = list(range(len(ask.KINDS)))
            swap[one], swap[other] = other, one
            for recipe, price in prices.items():
                counts = [*recipe, *[0] * (len(ask.KINDS) - len(recipe))]
                if prices.get(tuple(counts[k] for k in swap)) != price:
                    raise ConfigError(
                        f"relabel={list(names)!r}: with {ask.KINDS[one]} and {ask.KINDS[other]} "
                        "exchanged the recipes that may be asked for must be the same, with equal "
                        f"values and times; those of {level.name} are not"
                    )
    return names


def draw(config: KitchenConfig, key: Array) -> Array:
    """u8[chefs, kinds]: the kind that each chef sees under each name."""
    kinds = np.array([ask.KINDS.index(name) for name in config.relabel])
    usual = jnp.arange(config.kinds, dtype=jnp.uint8)
    drawn = [
        usual.at[kinds].set(jax.random.permutation(own, kinds).astype(jnp.uint8))
        for own in jax.random.split(key, config.chefs)
    ]
    return jnp.stack(drawn)


def each(
    config: KitchenConfig, view: Callable[[Any, KitchenState], Array], state: KitchenState
) -> Array:
    """`view(config, state)`, what all chefs see, each with its own names: [chefs, ...]."""
    if not config.relabel:
        return view(config, state)

    def own(agent: Any) -> Array:
        return view(config, seen_by(config, state, agent))[agent]

    if state.time.ndim or config.chefs <= WRITTEN_OUT:
        return jnp.stack([own(i) for i in range(config.chefs)])
    state = jax.tree_util.tree_map(jnp.asarray, state)  # NumPy cannot be indexed by a traced chef
    return jax.lax.map(own, jnp.arange(config.chefs))


def seen_by(config: KitchenConfig, state: KitchenState, agent: Any) -> KitchenState:
    """The state with the names that a chef sees."""
    if not config.relabel:
        return state
    assert state.asked is not None and state.asked.seen_as is not None
    sources = state.asked.seen_as[agent]  # [kinds, ...]

    def things(codes: Array) -> Array:
        contents = codes >= SOUP
        found = jnp.where(contents, jnp.asarray(SOUP, codes.dtype), codes)
        for k, j, here in _exchanges(config, sources):
            raw = here & (codes == ask.INGREDIENTS[j])
            found = jnp.where(raw, jnp.asarray(ask.INGREDIENTS[k], codes.dtype), found)
            part = ((codes >> ask.SHIFTS[j]) & 3) << ask.SHIFTS[k]
            found = found + jnp.where(here & contents, part, 0).astype(codes.dtype)
        return found

    def renamed(codes: Array, names: Sequence[int]) -> Array:
        found = codes
        for k, j, here in _exchanges(config, sources):
            found = jnp.where(here & (codes == names[j]), names[k], found).astype(codes.dtype)
        return found

    return dataclasses.replace(
        state,
        terrain=renamed(state.terrain, DISPENSERS),
        objects=things(state.objects),
        held=things(state.held),
        event=renamed(state.event, _TOOK),
        recent=dataclasses.replace(state.recent, held=things(state.recent.held)),
        asked=dataclasses.replace(state.asked, recipe=things(state.asked.recipe)),
    )


def names_seen(state: KitchenState, agent: int) -> tuple[int, ...]:
    """Which kind a chef sees under the name of each, of one kitchen."""
    assert state.asked is not None
    return tuple(np.asarray(state.asked.seen_as)[agent].tolist())


def true_thing(names: Sequence[int], code: int) -> int:
    """The code of an object that somebody with these names sees; none: the true ones."""
    if not names:
        return code
    if code >= SOUP:
        counts = [0] * len(ask.KINDS)
        for k, j in enumerate(names):
            counts[j] = ask.counts(code)[k]
        return ask.soup_code(tuple(counts))
    if code in ask.INGREDIENTS[: len(names)]:
        return ask.INGREDIENTS[names[ask.INGREDIENTS.index(code)]]
    return code


def _exchanges(config: KitchenConfig, sources: Array) -> list[tuple[int, int, Array]]:
    """(k, j, whether kind j is seen under the name of kind k)."""
    moved = [ask.KINDS.index(name) for name in config.relabel]
    return [
        (k, j, sources[k] == j) for k in range(config.kinds) for j in (moved if k in moved else [k])
    ]


def terrains(config: KitchenConfig) -> np.ndarray:
    """u8[maps, cells]: `config.terrains` under every exchange of names, the usual ones first."""
    if not config.relabel:
        return config.terrains
    moved = [DISPENSERS[ask.KINDS.index(name)] for name in config.relabel]
    found = []
    for order in itertools.permutations(moved):
        codes = np.arange(256, dtype=np.uint8)
        codes[moved] = order
        found.append(codes[config.terrains])
    return np.concatenate(found)
