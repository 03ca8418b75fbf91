"""The rules of cuisines, as functions of the configuration, the state and the actions.

They follow CuisineWorld (Gong et al., "MindAgent: Emergent Gaming Interaction", 2024). Chefs act in
their order: an action counts only if it is legal at the start of the step, and fails if a chef
before has made it impossible. Nothing in a step is random: which dishes will be ordered is drawn at
the start.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, one_hot, repeat
from manyhands.core.env import Array
from manyhands.envs.cuisine.state import (
    ACTIVATED,
    FAILED,
    GOT,
    MOST_WAITING,
    NOTHING,
    PUT,
    SERVED,
    STORE,
    TABLE,
    THREW,
    TOOLS,
    WENT,
    CuisineConfig,
    CuisineState,
    actions_of,
)

UNROLLED = 2  # chefs up to which the loop over them is written out


def at_level(config: CuisineConfig, table: Any, level: Array) -> Array:
    """Row `level` of a table [V, ...] of the levels, [..., *batch]."""
    table = np.asarray(table)
    if len(config.book.levels) == 1:
        return expand(table[:1], level.ndim)[0]
    chosen = one_hot(level, len(table), dtype=np.uint8)
    chosen = chosen.reshape(len(table), *(1,) * (table.ndim - 1), *level.shape)
    rows = expand(table, level.ndim)
    if table.dtype == bool:
        return jnp.any(chosen & rows, axis=0)
    return jnp.sum(jnp.where(chosen, rows, 0), axis=0, dtype=table.dtype)


# ---- the start -----------------------------------------------------------------------------------


def reset(config: CuisineConfig, key: Array) -> CuisineState:
    """All chefs at the serving table with empty hands, empty tools, and one order. The level, and
    each dish that will be ordered, are uniform among those that there are."""
    book, chefs = config.book, config.chefs
    which, dishes = jax.random.split(key)
    level = jax.random.randint(which, (), 0, len(book.levels)).astype(jnp.uint8)
    on = at_level(config, book.dish_on, level)
    count = config.max_steps // min(config.intervals) + 1
    drawn = jax.random.uniform(dishes, (count,)) * jnp.sum(on)
    # The dish that the n-th True of `on` stands for.
    rank = jnp.cumsum(on)
    coming = 1 + jnp.sum(rank[None] <= jnp.floor(drawn)[:, None], axis=1)
    coming = jnp.minimum(coming, len(book.dishes)).astype(jnp.uint8)
    first = jnp.arange(config.max_orders) == 0
    lifetime = at_level(config, np.array(config.lifetimes, np.int16), level)
    tools, u8, i16 = len(book.kinds), jnp.uint8, jnp.int16
    return CuisineState(
        level=level,
        place=jnp.full(chefs, TABLE, u8),
        held=jnp.zeros(chefs, u8),
        bound=jnp.zeros(chefs, u8),
        waiting=jnp.zeros(len(book.dishes), u8),
        inside=jnp.zeros((tools, len(book.items)), u8),
        busy=jnp.zeros(tools, u8),
        ready=jnp.zeros(tools, bool),
        order=jnp.where(first, coming[0], u8(0)),
        left=jnp.where(first, lifetime, i16(0)).astype(i16),
        coming=coming,
        served=i16(0),
        expired=i16(0),
        missed=i16(0),
        time=i16(0),
        recent=jnp.zeros(2 * chefs + 2 * len(book.dishes) + 1, u8),
    )


# ---- a step --------------------------------------------------------------------------------------


def step(
    config: CuisineConfig, state: CuisineState, actions: Array
) -> tuple[CuisineState, dict[str, Any]]:
    """One step: the new state, and the arguments of `Env.outcome`.

    Args:
        actions: whole numbers [N, ...]. Illegal ones wait.
    """
    mask = legal(config, state)
    chosen = mask & (actions[:, None] == expand(np.arange(mask.shape[1]), actions.ndim - 1))
    illegal = ~jnp.any(chosen, axis=1)
    state, deeds, things = _act(config, state, chosen)
    state = dataclasses.replace(
        state,
        bound=state.bound - (state.bound > 0),
        busy=state.busy - (state.busy > 0),
        time=state.time + jnp.int16(1),
    )
    state, served = _serve(config, state)
    state, expired, ordered = _tick(config, state)

    count = {
        "illegal": illegal,
        "failed": deeds == FAILED,
        "activations": deeds == ACTIVATED,
        "thrown_away": deeds == THREW,
    }
    metrics = {name: jnp.sum(flags, axis=0).astype(jnp.float32) for name, flags in count.items()}
    done = jnp.sum(served, axis=0, dtype=jnp.int16)
    gone = jnp.sum(expired, axis=0, dtype=jnp.int16)
    metrics |= {"served": done.astype(jnp.float32), "expired": gone.astype(jnp.float32)}
    started = (deeds == ACTIVATED).astype(jnp.float32)
    state = dataclasses.replace(
        state,
        served=state.served + done,
        expired=state.expired + gone,
        recent=jnp.concatenate([deeds, things, served, expired, ordered[None]]),
    )
    over = jnp.zeros(state.time.shape, bool)
    return state, {
        "terms": {
            "delivery": repeat(metrics["served"], config.chefs),
            "expiry": repeat(metrics["expired"], config.chefs),
            "start": started,
        },
        "terminated": repeat(over, config.chefs),
        "truncated": repeat(state.time >= config.max_steps, config.chefs),
        "metrics": metrics,
    }


class _Hands(NamedTuple):
    """What chefs change while they act; see `CuisineState`."""

    waiting: Array
    inside: Array
    busy: Array
    ready: Array


def _act(
    config: CuisineConfig, state: CuisineState, chosen: Array
) -> tuple[CuisineState, Array, Array]:
    """All chefs act, one after the other. Also u8[N], what each did, and with what."""
    board = _Hands(state.waiting, state.inside, state.busy, state.ready)

    def one(board: _Hands, chef: tuple[Array, ...]) -> tuple[_Hands, tuple[Array, ...]]:
        return _deed(config, state.level, board, *chef)

    chefs = (state.place, state.held, state.bound, chosen)
    unroll = config.chefs if config.chefs <= UNROLLED else 1
    board, (place, held, bound, deeds, things) = jax.lax.scan(one, board, chefs, unroll=unroll)
    new = dataclasses.replace(state, place=place, held=held, bound=bound, **board._asdict())
    return new, deeds, things


def _deed(
    config: CuisineConfig,
    level: Array,
    board: _Hands,
    place: Array,
    held: Array,
    bound: Array,
    chosen: Array,
) -> tuple[_Hands, tuple[Array, ...]]:
    """What one chef does, with one of its legal actions `chosen` (bool[A, ...], none: it waits)."""
    book, axes = config.book, level.ndim
    go, get, put, activate = actions_of(book)
    can = _possible(config, level, board, place[None], held[None], bound[None])
    gets, puts = chosen[get:put] & can.get[0], chosen[put] & can.put[0]
    starts, goes = chosen[activate] & can.activate[0], chosen[go:get]
    tried = jnp.any(chosen[get:], axis=0)
    got = jnp.any(gets, axis=0)

    u8 = jnp.uint8
    items = expand(np.arange(1, len(book.items) + 1, dtype=np.uint8), axes)
    holds = held == items
    dishes = expand(book.dishes.astype(np.uint8) + 1, axes)
    taken = jnp.sum(jnp.where(gets, items, 0), axis=0, dtype=u8)
    after = jnp.where(got, taken, jnp.where(puts, u8(0), held))

    tools = len(book.kinds)
    here = place == expand(np.arange(TOOLS, TOOLS + tools, dtype=np.uint8), axes)
    at_tool, at_table = jnp.any(here, axis=0), place == TABLE
    product = can.product[0]
    inside = board.inside
    adds = (holds & (puts & at_tool)).astype(u8)
    takes = (gets & at_tool).astype(u8)
    inside = jnp.where(here[:, None], inside + adds - takes, inside)
    started = here & starts
    made = (items == product).astype(u8)
    inside = jnp.where(started[:, None], made, inside)
    kept = board.ready & ~(here & got)
    time = expand(book.time[TOOLS:], axes)
    duty = expand(np.where(book.watched, book.time, 0)[TOOLS:].astype(np.uint8), axes)
    serves = puts & at_table
    new = _Hands(
        waiting=board.waiting + ((held == dishes) & serves),
        inside=inside,
        busy=jnp.where(started, time, board.busy),
        ready=kept | started,
    )
    numbers = expand(np.arange(len(book.places), dtype=np.uint8), axes)
    target = jnp.sum(jnp.where(goes, numbers, 0), axis=0, dtype=u8)
    went = jnp.any(goes, axis=0)
    watch = jnp.sum(jnp.where(started, duty, 0), axis=0, dtype=u8)

    thrown = puts & (place == STORE)
    deed = jnp.where(tried & ~(got | puts | starts), u8(FAILED), u8(NOTHING))
    for flag, what in (
        (went, WENT),
        (got, GOT),
        (puts, PUT),
        (thrown, THREW),
        (serves, SERVED),
        (starts, ACTIVATED),
    ):
        deed = jnp.where(flag, u8(what), deed)
    thing = jnp.where(went, target, jnp.where(got, taken, jnp.where(puts, held, u8(0))))
    thing = jnp.where(starts, place, thing)
    moved = jnp.where(went, target, place)
    return new, (moved, after, jnp.maximum(bound, watch), deed, thing)


def _serve(config: CuisineConfig, state: CuisineState) -> tuple[CuisineState, Array]:
    """Dishes on the table go to open orders of them, the most urgent first. Also u8[D], how
    many."""
    numbers = expand(np.arange(1, len(config.book.dishes) + 1, dtype=np.uint8), state.time.ndim)
    asks = state.order[:, None] == numbers  # [Q, D]
    rank = jnp.cumsum(asks, axis=0, dtype=jnp.uint8)
    met = asks & (rank <= state.waiting)
    served = jnp.sum(met, axis=0, dtype=jnp.uint8)
    order = jnp.where(jnp.any(met, axis=1), jnp.uint8(0), state.order)
    return dataclasses.replace(state, order=order, waiting=state.waiting - served), served


def _tick(config: CuisineConfig, state: CuisineState) -> tuple[CuisineState, Array, Array]:
    """Orders grow older, those whose time is over leave, and after each interval a new one comes,
    unless the queue is full. Also u8[D], how many expired, and u8[], the dish newly ordered."""
    book, axes, u8 = config.book, state.time.ndim, jnp.uint8
    open_ = state.order > 0
    left = state.left - open_.astype(jnp.int16)
    late = open_ & (left <= 0)
    numbers = expand(np.arange(1, len(book.dishes) + 1, dtype=np.uint8), axes)
    expired = jnp.sum(late[:, None] & (state.order[:, None] == numbers), axis=0, dtype=u8)

    # Those that stay move up; the new one comes behind them.
    stays = open_ & ~late
    rank = jnp.cumsum(stays, axis=0, dtype=u8)
    slots = expand(np.arange(1, config.max_orders + 1, dtype=np.uint8), axes)
    goes = stays & (rank == slots[:, None])  # [slot, from]
    order = jnp.sum(jnp.where(goes, state.order, 0), axis=1, dtype=u8)
    left = jnp.sum(jnp.where(goes, left, 0), axis=1, dtype=jnp.int16)
    interval = at_level(config, np.array(config.intervals, np.int16), state.level)
    due = state.time % interval == 0
    turn = state.time // interval
    draw = turn == expand(np.arange(state.coming.shape[0], dtype=np.int16), axes)
    dish = jnp.sum(jnp.where(draw, state.coming, 0), axis=0, dtype=u8)
    count = rank[-1]
    fits = due & (count < config.max_orders)
    new = fits & (slots == count + u8(1))
    lifetime = at_level(config, np.array(config.lifetimes, np.int16), state.level)
    state = dataclasses.replace(
        state,
        order=jnp.where(new, dish, order),
        left=jnp.where(new, lifetime, left).astype(jnp.int16),
        missed=state.missed + (due & ~fits).astype(jnp.int16),
    )
    return state, expired, jnp.where(fits, dish, u8(0))


# ---- what is possible ----------------------------------------------------------------------------


class Possible(NamedTuple):
    """What chefs can do: bool[N, P], bool[N, K], bool[N], bool[N]; and u8[N], what the tool where a
    chef is would make of its contents (the item plus 1; 0: nothing)."""

    go: Array
    get: Array
    put: Array
    activate: Array
    product: Array


def _possible(
    config: CuisineConfig,
    level: Array,
    board: _Hands,
    place: Array,
    held: Array,
    bound: Array,
) -> Possible:
    book, axes = config.book, level.ndim
    numbers = expand(np.arange(len(book.places), dtype=np.uint8), axes)
    at = place[:, None] == numbers  # [N, P]
    here = at[:, TOOLS:]
    free = bound == 0
    empty = held == 0
    items = expand(np.arange(1, len(book.items) + 1, dtype=np.uint8), axes)
    holds = held[:, None] == items  # [N, K]
    inside = jnp.sum(
        jnp.where(here[:, :, None], board.inside, 0), axis=1, dtype=jnp.uint8
    )  # [N, K]
    idle = jnp.any(here & (board.busy == 0), axis=1)
    ready = jnp.any(here & board.ready, axis=1)
    open_ = jnp.any(here & expand(book.take_back[TOOLS:], axes), axis=1)

    # Recipes whose tool the chef is at.
    made = expand(book.made_with[:, TOOLS:], axes)
    usable = jnp.any(here[:, None] & made, axis=2)  # [N, R]
    usable = usable & at_level(config, book.recipe_on, level)
    need = expand(book.need, axes)
    fills = jnp.all((inside + holds)[:, None] <= need, axis=2) & usable
    complete = jnp.all(inside[:, None] == need, axis=2) & usable
    outputs = expand((book.makes + 1).astype(np.uint8), axes)
    product = jnp.sum(jnp.where(complete, outputs, 0), axis=1, dtype=jnp.uint8)

    stocked = at_level(config, book.stock, level)
    takes = idle & (ready | open_)
    gets = (at[:, STORE, None] & stocked) | (takes[:, None] & (inside > 0))
    dishes = expand((book.dishes + 1).astype(np.uint8), axes)
    wanted = at_level(config, book.dish_on, level) & (board.waiting < MOST_WAITING)
    asked = jnp.any((held[:, None] == dishes) & wanted, axis=1)
    puts = at[:, STORE] | (at[:, TABLE] & asked)
    puts = puts | (idle & ~ready & jnp.any(fills, axis=1))
    exists = at_level(config, book.exists, level)
    works = idle & ~ready & (product > 0)
    return Possible(
        go=free[:, None] & exists & ~at,
        get=(free & empty)[:, None] & gets,
        put=free & ~empty & puts,
        activate=free & empty & works,
        product=product,
    )


def possible(config: CuisineConfig, state: CuisineState) -> Possible:
    """What each chef can do at the start of a step."""
    board = _Hands(state.waiting, state.inside, state.busy, state.ready)
    return _possible(config, state.level, board, state.place, state.held, state.bound)


def legal(config: CuisineConfig, state: CuisineState) -> Array:
    """bool[N, A]: waiting always; the others where `possible` has them."""
    can = possible(config, state)
    waits = jnp.ones((config.chefs, 1, *state.time.shape), bool)
    parts = [waits, can.go, can.get, can.put[:, None], can.activate[:, None]]
    return jnp.concatenate(parts, axis=1)


def acting(config: CuisineConfig, state: CuisineState) -> Array:
    """bool[N]: all chefs, always; one that is bound can only wait."""
    return jnp.ones((config.chefs, *state.time.shape), bool)
