"""The rules of warehouses, as functions of the configuration, the state and the actions.

They are those of Papoudakis et al., "Benchmarking Multi-Agent Deep Reinforcement Learning
Algorithms in Cooperative Tasks" (2021), as the package `rware` 2.0.0 plays them.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, indices, one_hot, repeat
from manyhands.core.env import Array
from manyhands.envs.mission.warehouse.state import (
    ACTIONS,
    BLOCKED,
    COLUMNS,
    DELIVERED,
    FORWARD,
    LEFT,
    LOAD,
    LOADED,
    MOVED,
    NONE,
    NOTHING,
    REQUESTED,
    RIGHT,
    ROWS,
    SHELF,
    TURNED,
    TURNED_LEFT,
    TURNED_RIGHT,
    UNLOADED,
    WarehouseConfig,
    WarehouseState,
)


class Chance(NamedTuple):
    """What is not decided by a state and actions alone.

    Attributes:
        order: i8[N], which robot goes first where equally long queues want one cell: the queue
            whose last robot has the least number.
        draws: i32[G], for each goal which shelf is requested after a delivery there: its number,
            from 0, in reading order among those that are not requested.
    """

    order: Array
    draws: Array


def chance(config: WarehouseConfig, key: Array) -> Chance:
    """The lower index goes first; any shelf that is not requested is as likely as any other."""
    count, left = len(config.goals), np.count_nonzero(config.racks) - config.requests

    def draw(key: Array) -> Array:
        return jax.random.randint(key, (count,), 0, left)

    draws = jax.vmap(draw, out_axes=-1)(key) if key.ndim else draw(key)
    return Chance(expand(np.arange(config.players, dtype=np.int8), key.ndim), draws)


def reset(config: WarehouseConfig, key: Array) -> WarehouseState:
    """A shelf on every rack; robots on distinct cells anywhere, with any heading; requests of
    distinct shelves. All are uniform."""
    columns, racks = config.size[1], np.flatnonzero(config.racks)
    robots, headings, requests = jax.random.split(key, 3)
    cells = jnp.argsort(jax.random.uniform(robots, (len(config.racks),)))[: config.players]
    order = jnp.argsort(jax.random.uniform(requests, (len(racks),)))[: config.requests]
    wanted = jnp.any(jnp.arange(len(config.racks)) == jnp.asarray(racks)[order][:, None], axis=0)
    shelves = jnp.where(wanted, np.uint8(REQUESTED), np.where(config.racks, SHELF, NONE))
    return WarehouseState(
        row=(cells // columns).astype(jnp.int8),
        column=(cells % columns).astype(jnp.int8),
        heading=jax.random.randint(headings, (config.players,), 0, 4, jnp.int8),
        load=jnp.zeros(config.players, jnp.uint8),
        delivered=jnp.zeros(config.players, bool),
        shelves=shelves.astype(jnp.uint8),
        time=jnp.int16(0),
        idle=jnp.int16(0),
        recent=jnp.zeros(config.players, jnp.uint8),
    )


def step(
    config: WarehouseConfig, key: Array, state: WarehouseState, actions: Array
) -> tuple[WarehouseState, dict[str, Any]]:
    """One step: the new state, and the arguments of `Env.outcome`.

    Args:
        actions: whole numbers [N, ...]. Illegal ones stay.
    """
    return play(config, state, actions, chance(config, key))


def play(
    config: WarehouseConfig, state: WarehouseState, actions: Array, chance: Chance
) -> tuple[WarehouseState, dict[str, Any]]:
    """`step` with given chance."""
    mask = legal(config, state)
    kinds = expand(np.arange(len(ACTIONS)), actions.ndim - 1)
    chosen = mask & (actions[:, None] == kinds)
    illegal = ~jnp.any(chosen, axis=1)
    state, moved, blocked = _drives(state, chosen, chance.order)
    state, loaded, unloaded, returned = _loads(config, state, chosen[:, LOAD])
    state, delivered = _deliveries(config, state, chance.draws)

    recent = jnp.full(moved.shape, np.uint8(NOTHING))
    turned = chosen[:, LEFT] | chosen[:, RIGHT]
    for flag, what in (
        *((moved, MOVED), (blocked, BLOCKED), (turned, TURNED)),
        *((loaded, LOADED), (unloaded, UNLOADED), (delivered > 0, DELIVERED)),
    ):
        recent = jnp.where(flag, np.uint8(what), recent)
    any_ = jnp.any(delivered > 0, axis=0)
    idle = jnp.where(any_, np.int16(0), state.idle + np.int16(1))
    time = state.time + jnp.int16(1)
    after = dataclasses.replace(state, time=time, idle=idle, recent=recent)
    over = jnp.zeros(time.shape, bool)
    if config.inactivity is not None:
        over = idle >= config.inactivity
    total = jnp.sum(delivered, axis=0)
    shared = repeat(total, config.players) if config.sharing == "global" else delivered
    count = {"illegal": illegal, "blocked": blocked, "loads": loaded, "returns": returned}
    metrics = {name: jnp.sum(flags, axis=0).astype(jnp.float32) for name, flags in count.items()}
    metrics["deliveries"] = total.astype(jnp.float32)
    return after, {
        "terms": {
            "delivery": shared.astype(jnp.float32),
            "return": returned.astype(jnp.float32),
        },
        "terminated": repeat(over, config.players),
        "truncated": repeat(~over & (time >= config.max_steps), config.players),
        "metrics": metrics,
    }


# ---- places --------------------------------------------------------------------------------------


def by_heading(heading: Array, values: Any) -> Array:
    """i8[N, ...]: one of four numbers for each robot."""
    chosen = one_hot(heading, 4, axis=1, dtype=np.int8)
    numbers = expand(np.array(values, np.int8), heading.ndim - 1)
    return jnp.sum(jnp.where(chosen, numbers, 0), axis=1, dtype=jnp.int8)


def ahead(state: WarehouseState) -> tuple[Array, Array]:
    """i8[N, ...] each: row and column of the cell before each robot, perhaps beyond the edge."""
    down, across = (by_heading(state.heading, ways) for ways in (ROWS, COLUMNS))
    return state.row + down, state.column + across


def at_cells(config: WarehouseConfig, row: Array, column: Array) -> Array:
    """bool[N, C, ...]: one-hot cells; none for a place beyond the edge."""
    y, x = (part.ravel().astype(np.int8) for part in np.indices(config.size))
    axes = row.ndim - 1
    return (row[:, None] == expand(y, axes)) & (column[:, None] == expand(x, axes))


def look_up(cells: Array, values: Array) -> Array:
    """u8[N, ...]: of values u8[C, ...] those on one-hot cells."""
    return jnp.sum(jnp.where(cells, values, np.uint8(0)), axis=1, dtype=jnp.uint8)


# ---- the phases of a step ------------------------------------------------------------------------


def chains(row: Array, column: Array, to_row: Array, to_column: Array, order: Array) -> Array:
    """bool[N, ...]: who moves from i8[N] `row` and `column` to the cells that they want (their own
    if they stay). Those that want to move into each other's cells are a chain; all chains that lead
    to one cell are a crowd. If that cell is free, the longest chain moves (of several the one whose
    last has the lowest `order`), and nobody else of the crowd. If chains lead to one that stays, or
    to two that want to swap, nobody moves; if to a ring of three or more, the ring moves and nobody
    else."""
    # onto[i, j]: i wants the cell of j; its own if it stays.
    onto = (to_row[:, None] == row) & (to_column[:, None] == column)
    players = len(row)
    reach = onto | expand(np.eye(players, dtype=bool), row.ndim - 1)
    for _ in range(int(np.ceil(np.log2(max(players, 2))))):
        reach = jnp.any(reach[:, :, None] & reach[None], axis=1)
    # How many the chain from each one holds.
    length = jnp.sum(reach, axis=1, dtype=jnp.int8)
    ring = jnp.any(onto & jnp.swapaxes(reach, 0, 1), axis=1) & (length >= 3)

    first = ~jnp.any(onto, axis=1)  # the cell ahead is free
    number = to_row.astype(jnp.int16) * np.int16(128) + to_column + np.int16(1)
    leads = reach & first[None]
    crowd = jnp.sum(jnp.where(leads, number[None], 0), axis=1, dtype=jnp.int16)  # 0: none
    worth = length.astype(jnp.int16) * np.int16(128) - order
    same = crowd[:, None] == crowd[None]
    best = (crowd > 0) & ~jnp.any(same & (worth[None] > worth[:, None]), axis=1)
    return jnp.any(reach & best[:, None], axis=0) | ring


def _drives(
    state: WarehouseState, chosen: Array, order: Array
) -> tuple[WarehouseState, Array, Array]:
    """Robots turn, and drive all at once, by the rule of `chains`. Also bool[N] who moved, and who
    was kept from it."""
    wants = chosen[:, FORWARD]
    to_row, to_column = ahead(state)
    row, column = jnp.where(wants, to_row, state.row), jnp.where(wants, to_column, state.column)
    moved = chains(state.row, state.column, row, column, order)

    heading = state.heading
    for action, turned in ((LEFT, TURNED_LEFT), (RIGHT, TURNED_RIGHT)):
        heading = jnp.where(chosen[:, action], by_heading(state.heading, turned), heading)
    new = dataclasses.replace(
        state,
        row=jnp.where(moved, row, state.row),
        column=jnp.where(moved, column, state.column),
        heading=heading,
    )
    return new, moved, wants & ~moved


def _loads(
    config: WarehouseConfig, state: WarehouseState, chosen: Array
) -> tuple[WarehouseState, Array, Array, Array]:
    """A robot picks up the shelf that stands on its cell, or puts down the one that it carries.
    Also bool[N] who picked up, who put down, and who of these had delivered something since."""
    unloads = chosen & (state.load > 0)
    loads = chosen & (state.load == 0)
    cells = at_cells(config, state.row, state.column)
    found = look_up(cells, state.shelves)
    taken = jnp.any(cells & loads[:, None], axis=0)
    put = jnp.max(jnp.where(cells & unloads[:, None], state.load[:, None], np.uint8(0)), axis=0)
    shelves = jnp.where(taken, np.uint8(NONE), jnp.maximum(state.shelves, put))
    load = jnp.where(loads, found, jnp.where(unloads, np.uint8(NONE), state.load))
    new = dataclasses.replace(
        state, shelves=shelves, load=load, delivered=state.delivered & ~unloads
    )
    return new, loads, unloads, unloads & state.delivered


def _deliveries(
    config: WarehouseConfig, state: WarehouseState, draws: Array
) -> tuple[WarehouseState, Array]:
    """Goal by goal: a robot that stands there with a requested shelf delivers it, and another shelf
    is requested in its place. Also i8[N], the deliveries of each."""
    # Few steps have a delivery: of a whole batch, what follows is left out in most of them.
    goals = [
        (state.row == cell // config.size[1]) & (state.column == cell % config.size[1])
        for cell in config.goals
    ]
    any_ = jnp.any(functools.reduce(jnp.logical_or, goals) & (state.load == REQUESTED))

    def none() -> tuple[Array, Array, Array]:
        return state.shelves, state.load, jnp.zeros(state.load.shape, jnp.int8)

    shelves, load, total = jax.lax.cond(any_, lambda: _delivered(config, state, draws), none)
    delivered = state.delivered | (total > 0)
    return dataclasses.replace(state, shelves=shelves, load=load, delivered=delivered), total


def _delivered(
    config: WarehouseConfig, state: WarehouseState, draws: Array
) -> tuple[Array, Array, Array]:
    """u8[C], u8[N], i8[N]: shelves, loads and deliveries after a step with some."""
    rows, columns = config.size
    carried = jnp.where(
        at_cells(config, state.row, state.column), state.load[:, None], np.uint8(NONE)
    )
    shelves = jnp.maximum(state.shelves, jnp.max(carried, axis=0))
    shelves = shelves.reshape(rows, columns, *shelves.shape[1:])
    ndim = shelves.ndim
    above = expand(np.tri(rows, k=-1, dtype=bool), ndim - 2)
    before = expand(np.tri(columns, k=-1, dtype=bool), ndim - 2)
    load, total = state.load, jnp.zeros(state.load.shape, jnp.int8)
    for goal, draw in zip(config.goals, draws, strict=True):
        y, x = divmod(goal, columns)
        delivers = (state.row == y) & (state.column == x) & (load == REQUESTED)
        now = jnp.any(delivers, axis=0)
        # The row of the drawn shelf, then its column.
        free = shelves == SHELF
        count = jnp.sum(free, axis=1, dtype=jnp.int32)
        passed = jnp.sum(jnp.where(above, count[None], 0), axis=1, dtype=jnp.int32)
        its_row = (passed <= draw) & (draw < passed + count) & now
        left = draw - jnp.sum(jnp.where(its_row, passed, 0), axis=0, dtype=jnp.int32)
        line = jnp.any(free & its_row[:, None], axis=0)
        behind = jnp.sum(before & line[None], axis=1, dtype=jnp.int32)
        its_column = line & (behind == left)

        goal_cell = (indices(rows, ndim) == y) & (indices(columns, ndim, 1) == x)
        shelves = jnp.where(goal_cell & now, np.uint8(SHELF), shelves)
        shelves = jnp.where(its_row[:, None] & its_column[None], np.uint8(REQUESTED), shelves)
        at = _holds(its_row, state.row) & _holds(its_column, state.column)
        drawn = at & (load == SHELF)
        load = jnp.where(delivers, np.uint8(SHELF), load)
        load = jnp.where(drawn, np.uint8(REQUESTED), load)
        total = total + delivers.astype(jnp.int8)
    standing = jnp.where(state.shelves > 0, shelves.reshape(state.shelves.shape), np.uint8(NONE))
    return standing, load, total


def _holds(mask: Array, number: Array) -> Array:
    """bool[N, ...]: of a mask [K, ...] what it holds at numbers [N, ...]."""
    numbers = indices(len(mask), mask.ndim + 1, 1, np.int8)
    return jnp.any(mask[None] & (number[:, None] == numbers), axis=1)


# ---- actions -------------------------------------------------------------------------------------


def legal(config: WarehouseConfig, state: WarehouseState) -> Array:
    """bool[N, 5]: staying and turning; driving within the warehouse, with a load not into a
    shelf that stands; picking up what stands here, or putting down on a rack. Other robots do not
    make an action illegal. What is illegal would do nothing in `rware`."""
    rows, columns = config.size
    row, column = ahead(state)
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    there = look_up(at_cells(config, row, column), state.shelves)
    loaded = state.load > 0
    racks = expand(config.racks.astype(np.uint8) * np.uint8(4), state.time.ndim)
    here = look_up(at_cells(config, state.row, state.column), state.shelves | racks)
    load = jnp.where(loaded, here >= 4, here % 4 > 0)
    always = jnp.ones(loaded.shape, bool)
    return jnp.stack([always, inside & ~(loaded & (there > 0)), always, always, load], axis=1)


def acting(config: WarehouseConfig, state: WarehouseState) -> Array:
    """bool[N]: all robots, always."""
    return jnp.ones(state.row.shape, bool)
