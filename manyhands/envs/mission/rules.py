"""The rules of missions, as functions of the configuration, the state and the actions.

The rules of level-based foraging are those of Albrecht and Ramamoorthy, "A Game-Theoretic Model and
Best-Response Learning Method for Ad Hoc Coordination in Multiagent Systems" (2013), as the package
`lbforaging` 2.0.0 plays them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, repeat
from manyhands.core.env import Array
from manyhands.envs.mission.state import (
    ACTIONS,
    BLOCKED,
    COLUMNS,
    LOAD,
    LOADED,
    MOVED,
    NOTHING,
    ROWS,
    TOO_WEAK,
    MissionConfig,
    MissionState,
)


def reset(config: MissionConfig, key: Array) -> MissionState:
    """Players on distinct cells anywhere, with levels; then food, never on the border, with no
    other food in the eight cells around it or two cells away along its row or column. Each position
    is uniform among those left; food that finds none is left out (level 0)."""
    rows, columns = config.size
    y, x = (part.ravel() for part in np.mgrid[:rows, :columns])
    places, levels, chance = jax.random.split(key, 3)
    noise = jax.random.uniform(places, (config.players + config.foods, rows * columns))
    weakest, strongest = config.player_levels
    level = jax.random.randint(levels, (config.players,), weakest, strongest + 1)
    least, most = config.food_levels
    top = jnp.sum(jnp.sort(level)[:3]) if most is None else jnp.int32(most)
    low = top if config.coop else jnp.minimum(least, top)
    foods = jax.random.randint(chance, (config.foods,), low, top + 1)

    free = jnp.ones(rows * columns, bool)
    at = []
    for i in range(config.players):
        cell = jnp.argmax(jnp.where(free, noise[i], -1.0))
        free &= np.arange(rows * columns) != cell
        at.append(cell)
    inside = (y > 0) & (y < rows - 1) & (x > 0) & (x < columns - 1)
    free &= inside
    found, placed = [], []
    for i in range(config.players, config.players + config.foods):
        cell = jnp.argmax(jnp.where(free, noise[i], -1.0))
        down, across = jnp.abs(y - cell // columns), jnp.abs(x - cell % columns)
        near = ((down <= 1) & (across <= 1)) | (down + across == 2) & (down * across == 0)
        placed.append(jnp.any(free))
        found.append(jnp.where(placed[-1], cell, 0))
        free &= ~near
    cells, levels_of = jnp.stack(found), jnp.where(jnp.stack(placed), foods, 0)
    order = jnp.argsort(cells)
    cells, levels_of, stand = cells[order], levels_of[order], jnp.stack(at)
    return MissionState(
        row=(stand // columns).astype(jnp.int8),
        column=(stand % columns).astype(jnp.int8),
        level=level.astype(jnp.int8),
        food_row=(cells // columns).astype(jnp.int8),
        food_column=(cells % columns).astype(jnp.int8),
        food_level=levels_of.astype(jnp.int8),
        spawned=jnp.sum(levels_of).astype(jnp.int16),
        time=jnp.int16(0),
        recent=jnp.zeros(config.players, jnp.uint8),
    )


def step(
    config: MissionConfig, key: Array, state: MissionState, actions: Array
) -> tuple[MissionState, dict[str, Any]]:
    """One step: the new state, and the arguments of `Env.outcome`.

    Args:
        key: not used, as nothing in a step is left to chance.
        actions: whole numbers [N, ...]. Illegal ones stay.
    """
    mask = legal(config, state)
    kinds = expand(np.arange(len(ACTIONS)), actions.ndim - 1)
    chosen = mask & (actions[:, None] == kinds)
    illegal = ~jnp.any(chosen, axis=1)
    state, moved, blocked = _moves(state, chosen)
    state, share, loaded, failed = _loads(state, chosen[:, LOAD])

    recent = jnp.where(moved, np.uint8(MOVED), np.uint8(NOTHING))
    for flag, what in ((blocked, BLOCKED), (loaded, LOADED), (failed, TOO_WEAK)):
        recent = jnp.where(flag, np.uint8(what), recent)
    time = state.time + jnp.int16(1)
    after = dataclasses.replace(state, time=time, recent=recent)
    over = jnp.all(state.food_level == 0, axis=0)
    count = {"illegal": illegal, "blocked": blocked, "failed_loads": failed}
    metrics = {name: jnp.sum(flags, axis=0).astype(jnp.float32) for name, flags in count.items()}
    left = jnp.sum(state.food_level, axis=0, dtype=jnp.int32)
    metrics["food_left"] = left.astype(jnp.float32)
    return after, {
        "terms": {"load": share, "failed_load": failed.astype(jnp.float32)},
        "terminated": repeat(over, config.players),
        "truncated": repeat(~over & (time >= config.max_steps), config.players),
        "metrics": metrics,
    }


def _moves(state: MissionState, chosen: Array) -> tuple[MissionState, Array, Array]:
    """All players move at once; into a cell that two or more want, nobody does. Players who stay
    want their own cell. So two may swap places, and one may follow another; if
    that other is then kept from moving, they share its cell. Also bool[N] who moved,
    and who was kept from it."""
    down, across = (
        jnp.sum(
            jnp.where(chosen, expand(np.array(way, np.int8), chosen.ndim - 2), 0), 1, dtype=jnp.int8
        )
        for way in (ROWS, COLUMNS)
    )
    row, column = state.row + down, state.column + across
    same = (row[:, None] == row) & (column[:, None] == column)
    alone = jnp.sum(same, axis=1, dtype=jnp.uint8) == 1
    wants = (down != 0) | (across != 0)
    new = dataclasses.replace(
        state, row=jnp.where(alone, row, state.row), column=jnp.where(alone, column, state.column)
    )
    return new, wants & alone, wants & ~alone


def _loads(state: MissionState, loading: Array) -> tuple[MissionState, Array, Array, Array]:
    """Food vanishes if the levels of the loading players beside it are at least its own. Also each
    player's share of all food, f32[N], and bool[N] who loaded and who failed."""
    near = beside(state) & loading[:, None]
    level = state.level[:, None]
    together = jnp.sum(jnp.where(near, level, 0), axis=0, dtype=jnp.int8)
    taken = (together >= state.food_level) & jnp.any(near, axis=0)
    gets = near & taken
    won = jnp.sum(jnp.where(gets, state.food_level, 0), axis=1, dtype=jnp.int8)
    among = jnp.sum(jnp.where(gets, together, 0), axis=1, dtype=jnp.int8)
    whole = jnp.maximum(among.astype(jnp.int32) * state.spawned, 1)
    share = (won.astype(jnp.int32) * state.level).astype(jnp.float32) / whole.astype(jnp.float32)
    loaded = jnp.any(gets, axis=1)
    failed = jnp.any(near, axis=1) & ~loaded
    left = jnp.where(taken, jnp.int8(0), state.food_level)
    return dataclasses.replace(state, food_level=left), share, loaded, failed


def beside(state: MissionState) -> Array:
    """bool[N, F, ...]: which players stand beside which food that is left."""
    down = jnp.abs(state.row[:, None] - state.food_row)
    across = jnp.abs(state.column[:, None] - state.food_column)
    return (down + across == 1) & (state.food_level > 0)


def legal(config: MissionConfig, state: MissionState) -> Array:
    """bool[N, 6]: staying; moving to a cell of the field without food; loading beside food. Other
    players do not make a move illegal. Nothing is, once no food is left."""
    rows, columns = config.size
    down = state.food_row - state.row[:, None]
    across = state.food_column - state.column[:, None]
    there = state.food_level > 0
    playing = acting(config, state)
    moves = []
    for dy, dx in zip(ROWS[1:5], COLUMNS[1:5], strict=True):
        food = jnp.any(there & (down == dy) & (across == dx), axis=1)
        row, column = state.row + np.int8(dy), state.column + np.int8(dx)
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        moves.append(playing & inside & ~food)
    return jnp.stack([playing, *moves, playing & jnp.any(beside(state), axis=1)], axis=1)


def acting(config: MissionConfig, state: MissionState) -> Array:
    """bool[N]: all players, until no food is left."""
    return repeat(jnp.any(state.food_level > 0, axis=0), config.players)
