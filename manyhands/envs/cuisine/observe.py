"""What chefs and networks are given of a cuisine: everything but which dishes will be ordered."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, one_hot
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.cuisine.rules import at_level
from manyhands.envs.cuisine.state import MOST_WAITING, CuisineConfig, CuisineState


def layout(config: CuisineConfig) -> Layout:
    """The pieces of one chef's observation."""
    book, others = config.book, [f"other {i}" for i in range(1, config.chefs)]
    places, items = book.place_names, book.item_names
    tools, dishes = places[2:], [items[d] for d in book.dishes]
    most, longest = int(book.need.max()), max(int(book.time.max()), 1)
    slots = [f"order {i}" for i in range(1, config.max_orders + 1)]
    several = len(book.levels) if len(book.levels) > 1 else 0
    return Layout(
        [
            Piece("level", several, meaning="which level it is, one-hot"),
            Piece("place", len(places), meaning="where you are, one-hot", labels=places),
            Piece("held", len(items), meaning="what you hold, one-hot; none: 0", labels=items),
            Piece("bound", 1, 0, longest, "steps for which you still have to wait"),
            Piece(
                "others' places",
                (config.chefs - 1, len(places)),
                meaning="where each other chef is, in index order, one-hot",
                labels=labelled(others, places),
            ),
            Piece(
                "others' hands",
                (config.chefs - 1, len(items)),
                meaning="what each of them holds",
                labels=labelled(others, items),
            ),
            Piece(
                "others bound",
                config.chefs - 1,
                0,
                longest,
                "steps for which each of them has to wait",
                others,
            ),
            Piece(
                "inside",
                (len(tools), len(items)),
                0,
                most,
                "how many of each item are in each tool",
                labelled(tools, items),
            ),
            Piece("busy", len(tools), 0, longest, "steps for which each tool works", tools),
            Piece("ready", len(tools), 0, 1, "whether each holds what it made", tools),
            Piece("waiting", len(dishes), 0, MOST_WAITING, "dishes on the serving table", dishes),
            Piece(
                "orders",
                (config.max_orders, len(dishes)),
                meaning="the dish of each open order, most urgent first, one-hot",
                labels=labelled(slots, dishes),
            ),
            Piece(
                "left",
                config.max_orders,
                0,
                max(config.lifetimes),
                "the next steps in which each can be served",
                slots,
            ),
            Piece(
                "clock",
                2,
                0,
                config.max_steps,
                "steps until the next order, and until the end",
                ("next order", "end"),
            ),
        ],
        np.int16,
    )


def _parts(config: CuisineConfig, state: CuisineState) -> dict[str, Array]:
    """What all chefs see alike; [size, ...] each."""
    book = config.book
    dishes = expand(np.arange(1, len(book.dishes) + 1, dtype=np.uint8), state.time.ndim)
    interval = at_level(config, np.array(config.intervals, np.int16), state.level)
    clock = jnp.stack([interval - state.time % interval, config.max_steps - state.time])
    parts = {
        "inside": state.inside.reshape(-1, *state.time.shape),
        "busy": state.busy,
        "ready": state.ready,
        "waiting": state.waiting,
        "orders": (state.order[:, None] == dishes).reshape(-1, *state.time.shape),
        "left": state.left,
        "clock": clock,
    }
    if len(book.levels) > 1:
        parts["level"] = one_hot(state.level, len(book.levels), dtype=np.uint8)
    return {name: part.astype(jnp.int16) for name, part in parts.items()}


def _chefs(config: CuisineConfig, state: CuisineState) -> dict[str, Array]:
    """What each chef shows of itself; i16[N, size, ...] each."""
    book = config.book
    items = expand(np.arange(1, len(book.items) + 1, dtype=np.uint8), state.time.ndim)
    return {
        "place": one_hot(state.place, len(book.places), 1, np.uint8).astype(jnp.int16),
        "held": (state.held[:, None] == items).astype(jnp.int16),
        "bound": state.bound[:, None].astype(jnp.int16),
    }


def observe(config: CuisineConfig, state: CuisineState) -> Array:
    """i16[N, size, ...]; see `layout`."""
    pieces = layout(config)
    shared, own = _parts(config, state), _chefs(config, state)
    count = config.chefs
    rows = {
        name: jnp.broadcast_to(part[None], (count, *part.shape)) for name, part in shared.items()
    }
    rows |= own
    if count > 1:
        others = [[j for j in range(count) if j != i] for i in range(count)]
        names = {"place": "others' places", "held": "others' hands", "bound": "others bound"}
        for name, piece in names.items():
            each = [
                jnp.concatenate([own[name][j] for j in seen], axis=0).astype(jnp.int16)
                for seen in others
            ]
            rows[piece] = jnp.stack(each)
    return jnp.concatenate(pieces.ordered(rows, axis=1), axis=1)


def summary(config: CuisineConfig, state: CuisineState) -> Array:
    """i16[S, ...]: the chefs in index order, each its place, hands and bound steps; then what all
    see alike, in the order of the layout."""
    shared, own = _parts(config, state), _chefs(config, state)
    chefs = [own[name][i] for i in range(config.chefs) for name in ("place", "held", "bound")]
    names = [name for name in layout(config) if name in shared]
    return jnp.concatenate([*chefs, *(shared[name] for name in names)])
