"""What happened in the last step, as data and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.cuisine.state import (
    ACTIVATED,
    FAILED,
    GOT,
    PUT,
    SERVED,
    THREW,
    WENT,
    CuisineConfig,
    CuisineState,
)

if TYPE_CHECKING:
    from manyhands.envs.cuisine.env import Cuisine

KINDS = {
    WENT: "go",
    GOT: "get",
    PUT: "put",
    THREW: "throw away",
    ACTIVATED: "activate",
    SERVED: "deliver",
    FAILED: "failed",
}
OF_ORDERS = ("served", "expired", "ordered")
# Of `event_codes`: what the chef did, how many others did so, and what became of the orders.
NAMES = (
    *(f"{who} {kind}" for who in ("own", "others") for kind in KINDS.values()),
    "orders served",
    "orders expired",
    "new order",
)


def last_events(
    cuisine: Cuisine, state: CuisineState, agent: str | int | None = None
) -> list[dict[str, Any]]:
    """What chefs did in the last step, and what became of the orders; all chefs see all of it."""
    book, chefs, dishes = cuisine.book, cuisine.chefs, len(cuisine.book.dishes)
    recent = np.asarray(state.recent).tolist()
    deeds, things, rest = recent[:chefs], recent[chefs : 2 * chefs], recent[2 * chefs :]
    found: list[dict[str, Any]] = []
    for i, (what, thing) in enumerate(zip(deeds, things, strict=True)):
        if not what:
            continue
        event: dict[str, Any] = {"event": KINDS[what], "agent": cuisine.agents[i]}
        if what in (WENT, ACTIVATED):
            event["place"] = book.place_names[thing]
        elif what != FAILED:
            event["item"] = book.item_names[thing - 1]
        found.append(event)
    for kind, counts in (("served", rest[:dishes]), ("expired", rest[dishes : 2 * dishes])):
        for dish, count in zip(cuisine.dish_names, counts, strict=True):
            if count:
                found.append({"event": kind, "dish": dish, "orders": count})
    if rest[-1]:
        found.append({"event": "ordered", "dish": cuisine.dish_names[rest[-1] - 1]})
    return found


def event_codes(config: CuisineConfig, state: CuisineState) -> Array:
    """f32[N, 17, ...], named by `NAMES`."""
    chefs, dishes = config.chefs, len(config.book.dishes)
    axes = state.time.ndim
    did = state.recent[:chefs, None] == expand(np.array(list(KINDS), np.uint8), axes)
    did = did.astype(jnp.float32)
    others = jnp.sum(did, axis=0)[None] - did
    orders = state.recent[2 * chefs :]
    served = jnp.sum(orders[:dishes], axis=0, dtype=jnp.float32)
    expired = jnp.sum(orders[dishes : 2 * dishes], axis=0, dtype=jnp.float32)
    news = jnp.stack([served, expired, (orders[-1] > 0).astype(jnp.float32)])
    return jnp.concatenate(
        [did, others, jnp.broadcast_to(news[None], (chefs, *news.shape))], axis=1
    )
