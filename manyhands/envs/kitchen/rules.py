"""The rules of the kitchen, as functions of the configuration, the state and the actions.

They are those of Overcooked-AI (Carroll et al., "On the Utility of Learning about Humans for
Human-AI Coordination", NeurIPS 2019), in its original form (`dynamics="classic"`) and its later one
(`dynamics="manual"`). Where one recipe is asked for at a time they are those of OvercookedV2
(`asked.py`). `step` lists the phases of a step in order.

A faced cell is read and written by comparing all cell numbers with it, never by a gather: on a CPU
that is several times faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import repeat, stack
from manyhands.core.env import Array
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen import potential, random_start, relabel, statistics
from manyhands.envs.kitchen.levels import (
    BUTTON,
    COUNTER,
    DISHES,
    DISPENSERS,
    FLOOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
)
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
    PRESSED,
    PUT_DOWN,
    SERVED,
    SOUP,
    SOUTH,
    STARTED,
    STAY,
    TOMATO,
    TOOK_CARROT,
    TOOK_DISH,
    TOOK_MUSHROOM,
    TOOK_ONION,
    TOOK_TOMATO,
    TURNED,
    USELESS,
    WAITED,
    WASTED,
    WRITTEN_OUT,
    Asked,
    KitchenConfig,
    KitchenState,
    Recent,
    cell_numbers,
)


def reset(config: KitchenConfig, key: Array) -> KitchenState:
    """The first state of an episode: a level drawn from `config.levels`, chefs at its start cells
    or at random cells of their rooms, and, where one is asked for, a recipe."""
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
    asked, things = None, config.thing_dtype
    if config.asked:
        bits = jax.random.bits(jax.random.fold_in(key, 2), (), jnp.uint32)
        seen_as = relabel.draw(config, jax.random.fold_in(key, 4)) if config.relabel else None
        asked = Asked(_recipe(config, level, bits), jnp.bool_(False), seen_as)
    state = KitchenState(
        terrain=jnp.asarray(config.terrains)[level],
        objects=jnp.zeros(cells, things),
        timer=jnp.zeros(cells, jnp.uint8),
        position=position,
        facing=facing,
        held=jnp.zeros(n, things),
        time=jnp.int16(0),
        level=level,
        soups=jnp.int16(0),
        score=jnp.int32(0),
        event=jnp.full(n, ARRIVED, jnp.uint8),
        recent=Recent(jnp.zeros(n, things), jnp.zeros(np.ptp(config.pot_cells), bool)),
        asked=asked,
    )
    if config.random_reset:
        return random_start.scatter(config, state, jax.random.fold_in(key, 3))
    return state


def _recipe(config: KitchenConfig, level: Array, bits: Array) -> Array:
    """u16[...]: one of the recipes of a level, drawn by random bits."""
    counts = config.recipe_counts
    count = counts[0] if (counts == counts[0]).all() else jnp.asarray(counts)[level]
    drawn = (bits % jnp.asarray(count, jnp.uint32)).astype(jnp.int32)
    if (config.recipes == config.recipes[0]).all():
        rows = [jnp.uint16(code) for code in config.recipes[0]]
    else:
        rows = [jnp.asarray(config.recipes)[level, k] for k in range(config.recipes.shape[1])]
    found = jnp.broadcast_to(rows[0], drawn.shape)
    for k, code in enumerate(rows[1:], start=1):
        found = jnp.where(drawn == k, code, found)
    return found


class _Board(NamedTuple):
    """What chefs use one after the other."""

    objects: Array
    timer: Array
    held: Array  # u8[chefs, ...], or a list of u8[...]
    soups: Array  # i16[...], served in this step for points
    wasted: Array  # i16[...], served for nothing


class _Deed(NamedTuple):
    """What one chef's interact came to, [...]; of all chefs, [chefs, ...]."""

    points: Array
    shaped: tuple[Array, ...]  # in the order of `KitchenConfig.shaped`
    event: Array
    logged: Any  # bool[25, ...], by the option `statistics`, else ()
    pressed: Any = ()  # bool[...], a recipe button, where one recipe is asked for


@dataclass
class _Step:
    """A step in progress; lists have an entry for each chef, in index order."""

    cells: Array  # u8[cells, 1...], cell numbers
    actions: Array  # u8[chefs, ...], illegal ones replaced by STAY
    pots: Array  # bool[cells, ...]
    busy_pots: Array  # u8[...], at the start of the step
    board: _Board
    full: Any = None  # `statistics.Pots`, by that option
    deeds: Any = None  # `_Deed` of all chefs
    clash: Array = None  # bool[...], whether two chefs would have collided
    ready: Array = None  # bool[P, ...], as in `Recent`
    position: Array = None
    facing: Array = None


def step(
    config: KitchenConfig, key: Array, state: KitchenState, actions: Array
) -> tuple[KitchenState, dict[str, Any]]:
    """One step: the new state, and the arguments of `Env.outcome`.

    Args:
        actions: whole numbers [chefs, ...].
    """
    illegal = (actions < 0) | (actions > INTERACT)
    actions = jnp.where(illegal, STAY, actions).astype(jnp.uint8)
    now = _Step(
        cell_numbers(state),
        actions,
        pots=state.terrain == POT,
        busy_pots=_busy_pots(state),
        board=_Board(
            state.objects,
            state.timer,
            state.held,
            jnp.zeros_like(state.soups),
            jnp.zeros_like(state.soups),
        ),
    )
    if config.statistics:
        now.full = statistics.pots(state)
    _interacts(config, state, now)
    _move(config, state, now)
    _cook(config, now)
    return _finish(config, key, state, now, illegal)


def _interacts(config: KitchenConfig, state: KitchenState, now: _Step) -> None:
    """All interacts: each chef finds what those before it did.

    A single kitchen runs through many chefs in a loop, which compiles in a time that does not grow
    with their number; in a batch, and for few, the loop is written out, which runs faster.
    """
    use = _interact_asked if config.asked else _interact
    if state.time.ndim or config.chefs <= WRITTEN_OUT:
        board, deeds = now.board._replace(held=list(state.held)), []
        for chef in range(config.chefs):
            board, deed = use(config, state, now, board, chef)
            deeds.append(deed)
        now.board = board._replace(held=stack(board.held, ndim=0))
        now.deeds = jax.tree_util.tree_map(lambda *parts: stack(list(parts), ndim=0), *deeds)
        return

    state = jax.tree_util.tree_map(jnp.asarray, state)  # NumPy cannot be indexed by a traced chef

    def one(board: _Board, chef: Array) -> tuple[_Board, _Deed]:
        return use(config, state, now, board, chef)

    now.board, now.deeds = jax.lax.scan(
        one, jax.tree_util.tree_map(jnp.asarray, now.board), jnp.arange(config.chefs)
    )


def _interact(
    config: KitchenConfig, state: KitchenState, now: _Step, board: _Board, chef: Any
) -> tuple[_Board, _Deed]:
    """One chef uses the cell that it faced before the step, if its action is "interact"."""
    interact = now.actions[chef] == INTERACT
    ahead = state.position[chef] + _offset(config, state.facing[chef])
    faced = now.cells == ahead[None]
    ground = _read(state.terrain, ahead)
    there = _read(board.objects, ahead)
    clock = _read(board.timer, ahead)
    hand = board.held[chef]
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
    now_held = jnp.where(fetch, ground - (ONIONS - ONION), now_held).astype(jnp.uint8)
    objects = jnp.where(faced, now_there.astype(jnp.uint8)[None], board.objects)
    timer = jnp.where(faced, now_clock.astype(jnp.uint8)[None], board.timer)

    points = jnp.where(serve, lookup(config.worths, state.level, hand), 0)

    fetch_dish = fetch & (ground == DISHES)
    in_hand = (
        sum((held == DISH).astype(jnp.uint8) for held in board.held)
        if isinstance(board.held, list)
        else jnp.sum(board.held == DISH, dtype=jnp.uint8)
    )
    lying = jnp.any((state.terrain == COUNTER) & (objects == DISH), axis=0)
    useful = fetch_dish & ~lying & (in_hand < now.busy_pots)
    shaped = tuple(
        jnp.where(earned, jnp.float32(config.shaped[name]), 0.0)
        for name, earned in zip(config.shaped, (add, useful, plate), strict=True)
    )

    logged: Any = ()
    if config.statistics:
        deed = statistics.Deed(
            hand,
            there,
            put,
            take,
            fetch & (ground == ONIONS),
            fetch_dish,
            useful,
            add,
            plate,
            serve,
        )
        other = board.held[1 - chef] if config.chefs == 2 else None
        empty_pot = jnp.asarray(config.best_values[:, 0])[state.level]
        old = jnp.where(there == NOTHING, empty_pot, lookup(config.best_values, state.level, there))
        new = lookup(config.best_values, state.level, filled)
        logged = statistics.logged(config, now.full, deed, other, old, new)

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
    held = _with_held(board.held, chef, now_held)
    soups = board.soups + (serve & (points != 0))
    wasted = board.wasted + (serve & (points == 0))
    return _Board(objects, timer, held, soups, wasted), _Deed(points, shaped, event, logged)


def _with_held(held: Any, chef: Any, now_held: Array) -> Any:
    """What all chefs hold, after one of them has changed hands: a list, or [chefs] in a loop."""
    if isinstance(held, list):
        return [now_held if i == chef else other for i, other in enumerate(held)]
    return jnp.where(jnp.arange(len(held)) == chef, now_held, held)


def _interact_asked(
    config: KitchenConfig, state: KitchenState, now: _Step, board: _Board, chef: Any
) -> tuple[_Board, _Deed]:
    """The same by the rules of OvercookedV2, where one recipe is asked for at a time."""
    assert state.asked is not None
    recipe = state.asked.recipe
    interact = now.actions[chef] == INTERACT
    ahead = state.position[chef] + _offset(config, state.facing[chef])
    faced = now.cells == ahead[None]
    ground = _read(state.terrain, ahead)
    there = _read(board.objects, ahead)
    clock = _read(board.timer, ahead)
    hand = board.held[chef]
    empty = hand == NOTHING

    counter = interact & (ground == COUNTER)
    put = counter & ~empty & (there == NOTHING)
    take = counter & empty & (there != NOTHING)
    fetch_dish = interact & empty & (ground == DISHES)
    known = list(zip(DISPENSERS, ask.INGREDIENTS, ask.SHIFTS, strict=True))[: config.kinds]
    fetched = [interact & empty & (ground == code) for code, _, _ in known]
    pot = interact & (ground == POT)
    count = sum(there >> shift & 3 for _, _, shift in known)
    unit = jnp.zeros_like(hand)  # what the ingredient in hand adds to a pot
    for _, thing, shift in known:
        unit = jnp.where(hand == thing, jnp.uint16(1 << shift), unit)
    add = pot & (unit != 0) & (clock == 0) & (count < 3)
    if config.dynamics == "classic":
        start = add & (count == 2)
        if config.random_reset:  # a pot that stood full from the start: anybody who uses it
            start = start | (pot & (clock == 0) & (count == 3))
    else:
        start = pot & empty & (clock == 0) & (count > 0)
    plate = pot & (hand == DISH) & (clock == 1)
    serve = interact & (ground == SERVING) & (hand >= SOUP)
    right = serve & (hand == recipe)
    press = interact & empty & (ground == BUTTON)

    now_there = jnp.where(put, hand, jnp.where(add, SOUP | (there + unit), there))
    now_there = jnp.where(take | plate, NOTHING, now_there).astype(jnp.uint16)
    cook_time = lookup(config.cook_times, state.level, now_there)
    now_clock = jnp.where(start, cook_time + 1, jnp.where(plate, 0, clock))
    now_clock = jnp.where(press, config.button_steps, now_clock)
    now_held = jnp.where(put | add | serve, NOTHING, hand)
    now_held = jnp.where(take | plate, there, now_held)
    now_held = jnp.where(fetch_dish, DISH, now_held)
    for fetch, (_, thing, _) in zip(fetched, known, strict=True):
        now_held = jnp.where(fetch, thing, now_held)
    now_held = now_held.astype(jnp.uint16)
    objects = jnp.where(faced, now_there[None], board.objects)
    timer = jnp.where(faced, now_clock.astype(jnp.uint8)[None], board.timer)

    worth = lookup(config.worths, state.level, hand)
    points = jnp.where(right, worth, -worth if config.penalty else 0)
    points = jnp.where(serve, points, 0)

    # A dish is useful while fewer were in hands before the step than pots are not empty now.
    in_hand = jnp.sum(state.held == DISH, axis=0, dtype=jnp.uint8)
    filled = jnp.sum(now.pots & (board.objects != NOTHING), axis=0, dtype=jnp.uint8)
    lying = jnp.any((state.terrain == COUNTER) & (board.objects == DISH), axis=0)
    wanted = (there & (3 * unit)) < (recipe & (3 * unit))
    earned = {
        "pot_placement": add & wanted,
        "pot_start": start & (there == recipe),
        "dish_pickup": fetch_dish & ~lying & (in_hand < filled),
        "soup_pickup": plate & (there == recipe),
    }
    shaped = tuple(
        jnp.where(earned[name], jnp.float32(points), 0.0) for name, points in config.shaped.items()
    )

    event = jnp.where(interact, USELESS, WAITED).astype(jnp.uint8)
    took = (TOOK_ONION, TOOK_TOMATO, TOOK_CARROT, TOOK_MUSHROOM)
    for happened, code in (
        *zip(fetched, took, strict=False),
        (fetch_dish, TOOK_DISH),
        (put, PUT_DOWN),
        (take, PICKED_UP),
        (start, STARTED),
        (add, POTTED),
        (plate, PLATED),
        (serve, WASTED),
        (right, SERVED),
        (press, PRESSED),
    ):
        event = jnp.where(happened, jnp.uint8(code), event)
    held = _with_held(board.held, chef, now_held)
    board = _Board(objects, timer, held, board.soups + right, board.wasted + (serve & ~right))
    return board, _Deed(points, shaped, event, (), press)


def _move(config: KitchenConfig, state: KitchenState, now: _Step) -> None:
    """All moves at once: a chef turns to where it moves, and enters the cell if it is floor. If any
    two chefs would then share a cell, or would swap cells, nobody moves (they still turn)."""
    position, moves = state.position, now.actions < STAY
    to = position + _offset(config, now.actions)
    ground = stack([_read(state.terrain, to[i]) for i in range(config.chefs)], ndim=0)
    target = jnp.where(moves & (ground == FLOOR), to, position)
    now.facing = jnp.where(moves, now.actions, state.facing)
    # Pairs (i, j) with j < i, by the distance of their numbers: rows against shifted rows.
    clash = jnp.zeros(state.time.shape, bool)
    for apart in range(1, config.chefs):
        one, other = target[apart:], target[:-apart]
        swap = (one == position[:-apart]) & (other == position[apart:])
        clash = clash | jnp.any((one == other) | swap, axis=0)
    now.clash = clash
    now.position = jnp.where(clash, position, target)
    wanted = target != position
    moved = jnp.where(wanted & clash, BLOCKED, jnp.where(wanted, MOVED, TURNED))
    event = jnp.where(moves, moved.astype(jnp.uint8), now.deeds.event)
    now.deeds = now.deeds._replace(event=event)


def _cook(config: KitchenConfig, now: _Step) -> None:
    """What cooks has one step less to go, and what a button shows has, too."""
    first, end = config.pot_cells
    timer = now.board.timer
    now.ready = timer[first:end] == 2
    goes = now.pots & (timer > 1)
    if config.asked:
        now.ready = now.ready & now.pots[first:end]
        goes = goes | (~now.pots & (timer > 0))
    now.board = now.board._replace(timer=jnp.where(goes, timer - 1, timer))


def _finish(
    config: KitchenConfig, key: Array, state: KitchenState, now: _Step, illegal: Array
) -> tuple[KitchenState, dict[str, Any]]:
    """The clock, the new state, rewards and metrics."""
    time = state.time + jnp.int16(1)
    board, deeds = now.board, now.deeds
    delivery = jnp.sum(deeds.points, axis=0, dtype=deeds.points.dtype)
    points, asked = delivery, None
    if config.asked:
        presses = jnp.sum(deeds.pressed, axis=0, dtype=jnp.int32)
        cost = -config.button_cost * presses
        points, asked = delivery + cost, _next_recipe(config, key, state, board.soups > 0)
    after = KitchenState(
        terrain=state.terrain,
        objects=board.objects,
        timer=board.timer,
        position=now.position,
        facing=now.facing,
        held=board.held,
        time=time,
        level=state.level,
        soups=state.soups + board.soups,
        score=state.score + points,
        event=deeds.event,
        recent=Recent(state.held, now.ready),
        asked=asked,
    )
    team = delivery.astype(jnp.float32)
    terms = {"delivery": repeat(team, config.chefs)}
    terms |= dict(zip(config.shaped, deeds.shaped, strict=True))
    if config.asked:
        terms["button_press"] = repeat(cost.astype(jnp.float32), config.chefs)
    if config.potential:
        terms[potential.TERM] = repeat(potential.term(config, state, after), config.chefs)
    over = time >= config.max_steps
    metrics = {
        "soups": board.soups.astype(jnp.float32),
        "wasted": board.wasted.astype(jnp.float32),
        "collisions": now.clash.astype(jnp.float32),
        "illegal": jnp.sum(illegal, axis=0).astype(jnp.float32),
    }
    if config.asked:
        metrics["presses"] = presses.astype(jnp.float32)
    if config.statistics:
        counts = jnp.sum(deeds.logged, axis=0, dtype=jnp.float32)
        metrics |= dict(zip(statistics.METRICS, counts, strict=True))
    truncated = repeat(over, config.chefs)
    return after, {
        "terms": terms,
        "terminated": jnp.zeros_like(truncated),
        "truncated": truncated,
        "metrics": metrics,
    }


def _next_recipe(config: KitchenConfig, key: Array, state: KitchenState, delivered: Array) -> Asked:
    """What is asked for in the next step: another recipe may be drawn when one was delivered."""
    assert state.asked is not None
    recipe = state.asked.recipe
    if config.resample and config.recipes.shape[1] > 1:
        draw = jax.vmap(jax.random.bits) if key.ndim else jax.random.bits
        recipe = jnp.where(delivered, _recipe(config, state.level, draw(key)), recipe)
    return Asked(recipe, delivered, state.asked.seen_as)


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
    if table.shape[1] == ask.WIDE:
        recipes, mask = [ask.soup_code(recipe) for recipe in ask.RECIPES], ask.WIDE - 1
    else:
        recipes = [bits for bits in range(16) if 1 <= (bits >> 2) + (bits & 3) <= 3]
        mask = 15
    values, counts = np.unique(table[:, recipes], return_counts=True)
    common = values[np.argmax(counts)]
    found = jnp.full(contents.shape, common, table.dtype)
    recipe = contents & mask
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
