"""What robots and networks are given of a warehouse: the observations of `rware` 2.0.0, and the
whole warehouse.

Cells of a window come in reading order, north at the top, around the robot.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, indices, one_hot
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.mission.warehouse.rules import at_cells, look_up
from manyhands.envs.mission.warehouse.state import (
    HEADINGS,
    REQUESTED,
    WarehouseConfig,
    WarehouseState,
)

OBSERVATIONS = ("vector", "grid", "whole")


def layout(config: WarehouseConfig) -> Layout:
    """The pieces of one robot's observation."""
    side = 2 * config.sight + 1
    row, column = config.size[0] - 1, config.size[1] - 1
    if config.observation == "grid":
        planes = [
            Piece("shelves", 1, 0, 1, "shelves, carried ones too"),
            Piece("requests", 1, 0, 1, "requested shelves"),
            Piece("robots", 1, 0, 1, "robots"),
            Piece("goals", 1, 0, 1, "goals"),
            Piece("free", 1, 0, 1, "cells of the warehouse without a robot"),
        ]
        return Layout(planes, np.int8, (side, side))
    if config.observation == "whole":
        each = ("row", "column", "heading", "load")
        high = [row, column, 3, 2]
        return Layout(
            [
                Piece(
                    "self",
                    4,
                    0,
                    high,
                    "own row, column, heading (north, south, west, east) and load (0 none, 1 a "
                    "shelf, 2 a requested shelf)",
                    each,
                ),
                Piece(
                    "others",
                    (config.players - 1, 4),
                    0,
                    np.array(high),
                    "the same of each other robot, in index order",
                ),
                Piece("cells", config.size, 0, 2, "0 nothing, 1 a shelf, 2 a requested one stands"),
            ],
            np.int8,
        )
    per_cell = ("robot", *(f"heading {way}" for way in HEADINGS), "shelf", "requested")
    return Layout(
        [
            Piece("place", 2, 0, [column, row], "own column and row", ("column", "row")),
            Piece("carrying", 1, 0, 1, "whether it carries a shelf"),
            Piece("heading", 4, 0, 1, "own heading: north, south, west, east", HEADINGS),
            Piece("way", 1, 0, 1, "whether it is on a way, where no shelf can be put down"),
            Piece(
                "window",
                (side, side, 7),
                0,
                1,
                "each cell in view: robot there, its heading (north where there is none), shelf "
                "there, requested",
                labelled(range(side), range(side), per_cell),
            ),
        ],
        np.int8,
    )


def observe(config: WarehouseConfig, state: WarehouseState) -> Array:
    """i8[N, *shape]; see `Mission`."""
    if config.observation == "whole":
        return whole(config, state)
    return _grid(config, state) if config.observation == "grid" else vector(config, state)


def sees(config: WarehouseConfig, state: WarehouseState) -> Array:
    """bool[N, N, ...]: which robot (first axis) sees which, itself too."""
    if config.observation == "whole":
        return jnp.ones((config.players, *state.row.shape), bool)
    seen = jnp.ones((), bool)
    for at in (state.row, state.column):
        seen = seen & (jnp.abs(at - at[:, None]) <= config.sight)
    return seen


def _shelves(config: WarehouseConfig, state: WarehouseState) -> Array:
    """u8[C, ...]: what is on each cell, standing or carried."""
    cells = at_cells(config, state.row, state.column)
    carried = jnp.where(cells, state.load[:, None], np.uint8(0))
    return jnp.maximum(state.shelves, jnp.max(carried, axis=0))


def _window(config: WarehouseConfig, state: WarehouseState, cells: Array) -> Array:
    """[N, S, S, ...] of values [C, ...]; 0 beyond the edge."""
    (rows, columns), s = config.size, config.sight
    grid = cells.reshape(rows, columns, *cells.shape[1:])
    around = expand(np.arange(-s, s + 1, dtype=np.int8), state.time.ndim)
    down = one_hot(state.row[:, None] + around, rows, 2, np.int8)  # [N, S, rows, ...]
    across = one_hot(state.column[:, None] + around, columns, 2, np.int8)
    lines = jnp.sum(jnp.where(down[:, :, :, None], grid, 0), axis=2, dtype=cells.dtype)
    found = jnp.where(across[:, None], lines[:, :, None], 0)
    return jnp.sum(found, axis=3, dtype=cells.dtype)


def _robots(config: WarehouseConfig, state: WarehouseState) -> Array:
    """i8[N, S, S, ...]: 1 + heading of the robot on each cell of the window; 0 for none."""
    s = config.sight
    around = expand(np.arange(-s, s + 1, dtype=np.int8), state.time.ndim)
    down = (state.row - state.row[:, None])[:, :, None] == around  # [N, N, S, ...]
    across = (state.column - state.column[:, None])[:, :, None] == around
    there = down[:, :, :, None] & across[:, :, None]
    facing = (state.heading + np.int8(1))[None, :, None, None]
    return jnp.sum(jnp.where(there, facing, 0), axis=1, dtype=jnp.int8)


def vector(config: WarehouseConfig, state: WarehouseState) -> Array:
    """i8[N, 8 + 7 S², ...], what robots see as numbers."""
    racks = expand(config.racks.astype(np.uint8), state.time.ndim)
    on_rack = look_up(at_cells(config, state.row, state.column), racks)
    carrying = (state.load > 0).astype(jnp.int8)
    headings = one_hot(state.heading, 4, 1, np.int8).astype(jnp.int8)
    way = np.int8(1) - on_rack.astype(jnp.int8)
    own = jnp.concatenate(
        [jnp.stack([state.column, state.row, carrying], 1), headings, way[:, None]], axis=1
    )
    robots = _robots(config, state)
    shelves = _window(config, state, _shelves(config, state))
    numbers = indices(4, robots.ndim + 1, 3, np.int8)
    facing = jnp.maximum(robots - np.int8(1), np.int8(0))[:, :, :, None] == numbers
    window = jnp.concatenate(
        [
            (robots > 0)[:, :, :, None].astype(jnp.int8),
            facing.astype(jnp.int8),
            jnp.stack([shelves > 0, shelves == REQUESTED], axis=3).astype(jnp.int8),
        ],
        axis=3,
    )
    return jnp.concatenate([own, window.reshape(config.players, -1, *state.time.shape)], axis=1)


def _grid(config: WarehouseConfig, state: WarehouseState) -> Array:
    """i8[N, 5, S, S, ...], turned so that the robot faces the first row."""
    goals = np.zeros(len(config.racks), np.int8)
    goals[list(config.goals)] = 1
    fixed = np.stack([goals, np.ones_like(goals)])  # goals, and the inside
    shelves = _window(config, state, _shelves(config, state))
    robots = _robots(config, state) > 0
    at_goal, inside = (
        _window(config, state, jnp.asarray(expand(values, state.time.ndim))) > 0 for values in fixed
    )
    planes = [shelves > 0, shelves == REQUESTED, robots, at_goal, inside & ~robots]
    north = jnp.stack(planes, axis=1).astype(jnp.int8)
    seen = north
    for heading, quarters in ((1, 2), (2, 3), (3, 1)):
        facing = (state.heading == heading)[:, None, None, None]
        seen = jnp.where(facing, jnp.rot90(north, quarters, (2, 3)), seen)
    return seen


def whole(config: WarehouseConfig, state: WarehouseState) -> Array:
    """i8[N, 4 N + C, ...]: each robot's own place, those of the others, and what stands where."""
    robots = jnp.stack([state.row, state.column, state.heading, state.load.astype(jnp.int8)], 1)
    cells = state.shelves.astype(jnp.int8)
    rows = []
    for i in range(config.players):
        order = np.array([i, *(j for j in range(config.players) if j != i)])
        rows.append(jnp.concatenate([robots[order].reshape(-1, *cells.shape[1:]), cells]))
    return jnp.stack(rows)


perceive = whole  # what scripted players read


def summary(config: WarehouseConfig, state: WarehouseState) -> Array:
    """i8[4 N + C], place, heading and load of all robots, and what stands on each cell."""
    return whole(config, state)[0]
