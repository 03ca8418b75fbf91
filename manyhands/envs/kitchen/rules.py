"""The rules of the kitchen, as functions of the configuration, the state and the actions.

They are those of Overcooked-AI (Carroll et al., "On the Utility of Learning about Humans for
Human-AI Coordination", NeurIPS 2019), in its original form (`dynamics="classic"`) and its later one
(`dynamics="manual"`). `step` lists the phases of a step in order.

A faced cell is read and written by comparing all cell numbers with it, never by a gather: on a CPU
that is several times faster.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import repeat, stack
from manyhands.core.env import Array
from manyhands.envs.kitchen.levels import COUNTER, DISHES, FLOOR, ONIONS, POT, SERVING, TOMATOES
from manyhands.envs.kitchen.state import (
    ARRIVED,
    BLOCKED,
    DISH,
    EAST,
    INTERACT,
    MOVED,
    NORTH,
    NOTHING,
    ONION,
    PICKED_UP,
    PLATED,
    POTTED,
    PUT_DOWN,
    SERVED,
    SHAPED,
    SOUP,
    SOUTH,
    STARTED,
    STAY,
    TOMATO,
    TOOK_DISH,
    TOOK_ONION,
    TOOK_TOMATO,
    TURNED,
    USELESS,
    WAITED,
    WASTED,
    KitchenConfig,
    KitchenState,
    Recent,
    cell_numbers,
)


def reset(config: KitchenConfig, key: Array) -> KitchenState:
    """The first state of an episode: a level drawn from `config.levels`, and chefs at its start
    cells or at random cells of their rooms."""
    n, cells = config.chefs, config.height * config.width
    level_key, start_key = jax.random.split(key)
    level = jnp.int16(0)
    if len(config.levels) > 1:
        level = jax.random.randint(level_key, (), 0, len(config.levels), jnp.int16)
    position = jnp.asarray(config.start_cells)[level]
    facing = jnp.full(n, NORTH, jnp.uint8)
    if config.random_starts:
        free = jnp.asarray(config.rooms)[level]
        keys = jax.random.split(start_key, n + 1)
        facing = jax.random.randint(keys[n], (n,), 0, 4).astype(jnp.uint8)
        drawn = []
        for i in range(n):
            noise = jax.random.uniform(keys[i], (cells,))
            cell = jnp.argmax(jnp.where(free[i], noise, -1.0)).astype(jnp.uint8)
            free = free & (jnp.arange(cells) != cell)
            drawn.append(cell)
        position = jnp.stack(drawn)
    return KitchenState(
        terrain=jnp.asarray(config.terrains)[level],
        objects=jnp.zeros(cells, jnp.uint8),
        timer=jnp.zeros(cells, jnp.uint8),
        position=position,
        facing=facing,
        held=jnp.zeros(n, jnp.uint8),
        time=jnp.int16(0),
        level=level,
        soups=jnp.int16(0),
        score=jnp.int32(0),
        event=jnp.full(n, ARRIVED, jnp.uint8),
        recent=Recent(jnp.zeros(n, jnp.uint8), jnp.zeros(np.ptp(config.pot_cells), bool)),
    )


@dataclass
class _Step:
    """A step in progress; lists have an entry for each chef, in index order."""

    cells: Array  # u8[cells, 1...], cell numbers
    actions: Array  # u8[chefs, ...], illegal ones replaced by STAY
    pots: Array  # bool[cells, ...]
    busy_pots: Array  # u8[...], at the start of the step
    objects: Array
    timer: Array
    held: list[Array]
    soups: Array  # i16[...], served in this step for points
    wasted: Array  # i16[...], served for nothing
    clash: Array = None  # bool[...], whether two chefs would have collided
    ready: Array = None  # bool[P, ...], as in `Recent`
    position: list[Array] = field(default_factory=list)
    facing: list[Array] = field(default_factory=list)
    events: list[Array] = field(default_factory=list)
    points: list[Array] = field(default_factory=list)
    shaped: dict[str, list[Array]] = field(default_factory=lambda: {name: [] for name in SHAPED})


def step(
    config: KitchenConfig, state: KitchenState, actions: Array
) -> tuple[KitchenState, dict[str, Any]]:
    """One step: the new state, and the arguments of `Env.outcome`.

    Args:
        actions: whole numbers [chefs, ...].
    """
    cells = cell_numbers(state)
    illegal = (actions < 0) | (actions > INTERACT)
    actions = jnp.where(illegal, STAY, actions).astype(jnp.uint8)
    now = _Step(
        cells,
        actions,
        pots=state.terrain == POT,
        busy_pots=_busy_pots(state),
        objects=state.objects,
        timer=state.timer,
        held=list(state.held),
        soups=jnp.zeros_like(state.soups),
        wasted=jnp.zeros_like(state.soups),
    )
    for chef in range(config.chefs):
        _interact(config, state, now, chef)  # the next chef finds what the last one did
    _move(config, state, now)
    _cook(config, now)
    return _finish(config, state, now, illegal)


def _interact(config: KitchenConfig, state: KitchenState, now: _Step, chef: int) -> None:
    """One chef uses the cell that it faced before the step, if its action is "interact"."""
    interact = now.actions[chef] == INTERACT
    ahead = state.position[chef] + _offset(config, state.facing[chef])
    faced = now.cells == ahead[None]
    ground = _read(state.terrain, ahead)
    there = _read(now.objects, ahead)
    clock = _read(now.timer, ahead)
    hand = now.held[chef]
    empty = hand == NOTHING

    # What the interact does: at most one of these.
    counter = interact & (ground == COUNTER)
    put = counter & ~empty & (there == NOTHING)
    take = counter & empty & (there != NOTHING)
    fetch = interact & empty & (ground >= ONIONS) & (ground <= DISHES)
    pot = interact & (ground == POT)
    count = ((there >> 2) & 3) + (there & 3)
    add = pot & ((hand == ONION) | (hand == TOMATO)) & (clock == 0) & (count < 3)
    if config.dynamics == "classic":
        start = add & (count == 2)
    else:
        start = pot & empty & (clock == 0) & (count > 0)
    plate = pot & (hand == DISH) & (clock == 1)
    serve = interact & (ground == SERVING) & (hand >= SOUP)

    filled = SOUP | (there + jnp.where(hand == ONION, 4, 1).astype(jnp.uint8))
    now_there = jnp.where(put, hand, jnp.where(add, filled, there))
    now_there = jnp.where(take | plate, NOTHING, now_there)
    cook_time = lookup(config.cook_times, state.level, now_there)
    now_clock = jnp.where(start, cook_time + 1, jnp.where(plate, 0, clock))
    now_held = jnp.where(put | add | serve, NOTHING, hand)
    now_held = jnp.where(take | plate, there, now_held)
    # Dispensers are numbered in the order of what they give.
    now_held = jnp.where(fetch, ground - (ONIONS - ONION), now_held)
    now.objects = jnp.where(faced, now_there.astype(jnp.uint8)[None], now.objects)
    now.timer = jnp.where(faced, now_clock.astype(jnp.uint8)[None], now.timer)

    points = jnp.where(serve, lookup(config.worths, state.level, hand), 0)
    now.points.append(points)
    now.soups = now.soups + (serve & (points != 0))
    now.wasted = now.wasted + (serve & (points == 0))

    fetch_dish = fetch & (ground == DISHES)
    in_hand = sum((held == DISH).astype(jnp.uint8) for held in now.held)
    lying = jnp.any((state.terrain == COUNTER) & (now.objects == DISH), axis=0)
    useful = fetch_dish & ~lying & (in_hand < now.busy_pots)
    for name, earned in zip(SHAPED, (add, useful, plate), strict=True):
        now.shaped[name].append(jnp.where(earned, jnp.float32(SHAPED[name]), 0.0))
    now.held[chef] = now_held.astype(jnp.uint8)

    event = jnp.where(interact, USELESS, WAITED).astype(jnp.uint8)
    for happened, code in (
        (fetch & (ground == ONIONS), TOOK_ONION),
        (fetch & (ground == TOMATOES), TOOK_TOMATO),
        (fetch_dish, TOOK_DISH),
        (put, PUT_DOWN),
        (take, PICKED_UP),
        (start, STARTED),
        (add, POTTED),
        (plate, PLATED),
        (serve, WASTED),
        (serve & (points != 0), SERVED),
    ):
        event = jnp.where(happened, jnp.uint8(code), event)
    now.events.append(event)


def _move(config: KitchenConfig, state: KitchenState, now: _Step) -> None:
    """All moves at once: a chef turns to where it moves, and enters the cell if it is floor. If any
    two chefs would then share a cell, or would swap cells, nobody moves (they still turn)."""
    n, actions, target = config.chefs, now.actions, []
    for i in range(n):
        moves = actions[i] < STAY
        to = state.position[i] + _offset(config, actions[i])
        enters = moves & (_read(state.terrain, to) == FLOOR)
        now.facing.append(jnp.where(moves, actions[i], state.facing[i]))
        target.append(jnp.where(enters, to, state.position[i]))
    clash = jnp.zeros(state.time.shape, bool)
    for i in range(n):
        for j in range(i):
            swap = (target[i] == state.position[j]) & (target[j] == state.position[i])
            clash = clash | (target[i] == target[j]) | swap
    now.clash = clash
    now.position = [jnp.where(clash, state.position[i], target[i]) for i in range(n)]
    for i in range(n):
        wanted = target[i] != state.position[i]
        moved = jnp.where(wanted & clash, BLOCKED, jnp.where(wanted, MOVED, TURNED))
        now.events[i] = jnp.where(actions[i] < STAY, moved.astype(jnp.uint8), now.events[i])


def _cook(config: KitchenConfig, now: _Step) -> None:
    """What cooks has one step less to go."""
    first, end = config.pot_cells
    now.ready = now.timer[first:end] == 2
    now.timer = jnp.where(now.pots & (now.timer > 1), now.timer - 1, now.timer)


def _finish(
    config: KitchenConfig, state: KitchenState, now: _Step, illegal: Array
) -> tuple[KitchenState, dict[str, Any]]:
    """The clock, the new state, rewards and metrics."""
    time = state.time + jnp.int16(1)
    delivery = functools.reduce(jnp.add, now.points)
    after = KitchenState(
        terrain=state.terrain,
        objects=now.objects,
        timer=now.timer,
        position=stack(now.position, ndim=0),
        facing=stack(now.facing, ndim=0),
        held=stack(now.held, ndim=0),
        time=time,
        level=state.level,
        soups=state.soups + now.soups,
        score=state.score + delivery,
        event=stack(now.events, ndim=0),
        recent=Recent(state.held, now.ready),
    )
    team = delivery.astype(jnp.float32)
    terms = {"delivery": repeat(team, config.chefs)}
    terms |= {name: stack(earned, ndim=0) for name, earned in now.shaped.items()}
    over = time >= config.max_steps
    metrics = {
        "soups": now.soups.astype(jnp.float32),
        "wasted": now.wasted.astype(jnp.float32),
        "collisions": now.clash.astype(jnp.float32),
        "illegal": jnp.sum(illegal, axis=0).astype(jnp.float32),
    }
    truncated = repeat(over, config.chefs)
    return after, {
        "terms": terms,
        "terminated": jnp.zeros_like(truncated),
        "truncated": truncated,
        "metrics": metrics,
    }


def legal(config: KitchenConfig, state: KitchenState) -> Array:
    """bool[chefs, 6]: every action is legal at any time, as in Overcooked-AI."""
    return jnp.ones((config.chefs, INTERACT + 1, *state.time.shape), bool)


def acting(config: KitchenConfig, state: KitchenState) -> Array:
    """bool[chefs]: all chefs act in every step."""
    return jnp.ones((config.chefs, *state.time.shape), bool)


# ---- small things --------------------------------------------------------------------------------


def _offset(config: KitchenConfig, direction: Array) -> Array:
    """Cell offset of a direction, in the wrapping arithmetic of u8."""
    east_west = jnp.where(direction == EAST, 1, 255)
    south = jnp.where(direction == SOUTH, config.width, east_west)
    return jnp.where(direction == NORTH, 256 - config.width, south).astype(jnp.uint8)


def front_cells(config: KitchenConfig, state: KitchenState) -> Array:
    """u8[chefs, ...]: the cells that chefs face."""
    return state.position + _offset(config, state.facing)


def lookup(table: np.ndarray, level: Array, contents: Array) -> Array:
    """`table[level, recipe]` for the recipe of a soup, by selects over what differs."""
    recipes = [bits for bits in range(16) if 1 <= (bits >> 2) + (bits & 3) <= 3]
    values, counts = np.unique(table[:, recipes], return_counts=True)
    common = values[np.argmax(counts)]
    found = jnp.full(contents.shape, common, table.dtype)
    recipe = contents & 15
    for bits in recipes:
        column = table[:, bits]
        if (column == common).all():
            continue
        value = column[0] if (column == column[0]).all() else jnp.asarray(column)[level]
        found = jnp.where(recipe == bits, jnp.asarray(value, table.dtype), found)
    return found


def _busy_pots(state: KitchenState) -> Array:
    """How many pots are cooking, ready, or hold one or two ingredients."""
    count = ((state.objects >> 2) & 3) + (state.objects & 3)
    busy = (state.timer > 0) | ((count > 0) & (count < 3))
    return jnp.sum((state.terrain == POT) & busy, axis=0, dtype=jnp.uint8)


def _read(values: Array, cell: Array) -> Array:
    """The value at a cell; in a batch by comparison, alone by indexing: both are the fastest."""
    if cell.ndim == 0:
        return jax.lax.dynamic_index_in_dim(values, cell.astype(jnp.int32), 0, keepdims=False)
    cells = jnp.arange(values.shape[0], dtype=cell.dtype)[:, None]
    return jnp.sum(jnp.where(cells == cell[None], values, 0), axis=0, dtype=values.dtype)
