"""The events that Overcooked-AI counts (its `EVENT_TYPES`), as metrics, by the option `statistics`.

What is "useful" is judged as there, for two chefs only: an ingredient is fetched in vain if all
pots are full and the other chef has no dish; a dish or an ingredient is well put down if the other
kind is what is missing. Potting is *optimal* if the best soup that the pot can still become is
worth as much as before, *viable* if that is more than nothing, *catastrophic* if it was and is no
more, and *useless* if it was nothing before. As there, tomatoes are not counted when they come from
a dispenser, and what counts as a full pot is judged before the step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from manyhands.core.env import Array
from manyhands.envs.kitchen.levels import POT
from manyhands.envs.kitchen.state import DISH, ONION, SOUP, TOMATO, KitchenConfig, KitchenState

_NAMES = {ONION: "onion", TOMATO: "tomato", DISH: "dish"}
OUTCOMES = ("optimal", "viable", "catastrophic", "useless")
STATISTICS = (
    *(f"{useful}{name}_pickup" for name in _NAMES.values() for useful in ("", "useful_")),
    *(f"{useful}{name}_drop" for name in _NAMES.values() for useful in ("", "useful_")),
    *("soup_pickup", "soup_delivery", "soup_drop"),
    *(f"potting_{name}" for name in ("onion", "tomato")),
    *(f"{outcome}_{name}_potting" for name in ("onion", "tomato") for outcome in OUTCOMES),
)
METRICS = tuple(f"event_{name}" for name in STATISTICS)


class Pots(NamedTuple):
    """The pots at the start of a step, bool[...]."""

    some_full: Array
    all_full: Array


class Deed(NamedTuple):
    """What one chef's interact does; bool[...] but for `hand` and `there`, u8[...]."""

    hand: Array
    there: Array  # the object in front
    put: Array
    take: Array
    onions: Array  # from a dispenser; so is `dishes`
    dishes: Array
    useful_dish: Array
    add: Array
    plate: Array
    serve: Array


def pots(state: KitchenState) -> Pots:
    """Whether any, and whether all pots are full, cook or are ready."""
    pot = state.terrain == POT
    inside = state.objects
    full = (state.timer > 0) | ((((inside >> 2) & 3) + (inside & 3)) == 3)
    return Pots(jnp.any(pot & full, axis=0), jnp.all(full | ~pot, axis=0))


def logged(
    config: KitchenConfig, before: Pots, deed: Deed, other: Array | None, old: Array, new: Array
) -> Array:
    """bool[25, ...], `STATISTICS` of one chef's interact.

    Args:
        other: what the other of two chefs holds; None with any other number of chefs.
        old, new: what the best soup is worth that the pot in front can become, before and after.
    """
    found: dict[str, Any] = {}
    never = jnp.zeros_like(deed.put)
    for code, name in _NAMES.items():
        fetched = {ONION: deed.onions, DISH: deed.dishes}.get(code, never)
        taken, dropped = deed.take & (deed.there == code), deed.put & (deed.hand == code)
        pickup = fetched | taken
        useful_pickup = useful_drop = never
        if other is not None and code == DISH:
            useful_pickup = deed.useful_dish
            useful_drop = dropped & ~before.some_full & (other != ONION)
        elif other is not None:
            useful_pickup = pickup & ~(before.all_full & (other != DISH))
            useful_drop = dropped & before.all_full & (other != DISH)
        found |= {f"{name}_pickup": pickup, f"useful_{name}_pickup": useful_pickup}
        found |= {f"{name}_drop": dropped, f"useful_{name}_drop": useful_drop}
        if code != DISH:
            potted = deed.add & (deed.hand == code)
            found[f"potting_{name}"] = potted
            happened = (old == new, new > 0, (old > 0) & (new <= 0), old <= 0)
            for outcome, holds in zip(OUTCOMES, happened, strict=True):
                found[f"{outcome}_{name}_potting"] = potted & holds
    soup = deed.take & (deed.there >= SOUP)
    found |= {"soup_pickup": soup | deed.plate, "soup_delivery": deed.serve}
    found["soup_drop"] = deed.put & (deed.hand >= SOUP)
    return jnp.stack([found[name] for name in STATISTICS])
