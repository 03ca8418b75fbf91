"""What agents and networks are given of a field: codes of all cells, or planes.

Rows and columns are those of the field, but for an agent whose map is turned: it counts them from
the other corner. What an agent does not see is -1.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array, squash
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.mission.field.places import at_cells, inside, seen, window
from manyhands.envs.mission.field.state import (
    CELLS,
    FLOOR,
    HEADINGS,
    MOST_STEPS,
    OPPOSITE,
    FieldConfig,
    FieldState,
    Plan,
)

OBSERVATIONS = ("vector", "grid")
_MEANINGS = {
    "heading": "heading (0 to 3: north, south, west, east)",
    "carry": "what it carries (a code)",
    "out": "steps in which it cannot act (-1: for good)",
    "cool": "steps until it can use its beam again",
    "ago": "steps that its last strike at gold counts, that of the strike among them",
}
_HIGH = {"heading": 3, "carry": len(CELLS) - 1, "out": 1000, "cool": 200, "ago": 3}


def layout(config: FieldConfig) -> Layout:
    """The pieces of one agent's observation."""
    return _planes(config) if config.observation == "grid" else codes(config)


def codes(config: FieldConfig) -> Layout:
    """The pieces of `vector`."""
    plan = config.plan
    rows, columns = plan.size
    fields = ("row", "column", *plan.features)
    high = [rows - 1, columns - 1, *(_HIGH[name] for name in plan.features)]
    low = [-1, -1, *(-1 if name == "out" else 0 for name in plan.features)]
    listed = ", ".join(["row, column", *(_MEANINGS[name] for name in plan.features)])
    others = 0 if plan.token else plan.bodies - 1
    known = "; ".join(f"{code} {CELLS[code].name}" for code in plan.used)
    return Layout(
        [
            Piece("self", len(fields), low, high, f"own {listed}; -1 if not there", fields),
            Piece("clock", 1, 0, MOST_STEPS, "steps left"),
            Piece("number", int(plan.numbered), 0, plan.agents - 1, "own number of the agents"),
            Piece(
                "others",
                (others, len(fields)),
                np.array(low),
                np.array(high),
                "the same of each other body in view, in index order; -1, -1, 0s if not in view",
                labelled(range(others), fields),
            ),
            Piece("doors", plan.groups, 0, 1, "which doors are open"),
            Piece(
                "scores",
                len(plan.teams) if "deliveries" in plan.stages else 0,
                0,
                MOST_STEPS,
                "flags that each team brought home",
            ),
            Piece(
                "work",
                rows * columns if plan.work else 0,
                0,
                200,
                "steps that each generator was worked on",
            ),
            Piece("cells", plan.size, -1, len(CELLS) - 1, f"-1 not in view; {known}"),
        ],
        np.int16,
    )


def _planes(config: FieldConfig) -> Layout:
    plan = config.plan
    pieces = [Piece("seen", 1, 0, 1, "cells in view")]
    pieces += [
        Piece(CELLS[code].name, 1, 0, 1, CELLS[code].name) for code in plan.used if code != FLOOR
    ]
    pieces.append(Piece("self", 1, 0, 1, "where the agent is"))
    pieces += [Piece(f"team {team.name}", 1, 0, 10, f"how many {team.name}") for team in plan.teams]
    for name in plan.features:
        low = -1 if name == "out" else 0
        high = 4 if name == "heading" else _HIGH[name]
        what = "1 + heading" if name == "heading" else _MEANINGS[name]
        pieces.append(Piece(name, 1, low, high, f"{what} of the body there"))
    pieces.append(Piece("doors", plan.groups, 0, 1, "which doors are open, everywhere"))
    pieces.append(Piece("clock", 1, 0, MOST_STEPS, "steps left, everywhere"))
    what = "own number of the agents, everywhere"
    pieces.append(Piece("number", int(plan.numbered), 0, plan.agents - 1, what))
    side = plan.size if plan.radius is None else (2 * plan.radius + 1,) * 2
    return Layout(pieces, np.int16, side)


def observe(config: FieldConfig, state: FieldState) -> Array:
    """i16[N, *shape]; see `Mission`."""
    return _grid(config, state) if config.observation == "grid" else vector(config, state)


def sees(plan: Plan, state: FieldState) -> Array:
    """bool[N, M, ...]: which agent sees which body."""
    n = plan.agents
    there = (state.row >= 0)[None] & (state.row[:n] >= 0)[:, None]
    if plan.token or plan.radius is None:
        return there
    if plan.lines:
        here = at_cells(plan, state.row, state.column)
        return jnp.any(seen(plan, state)[:, None] & here[None], axis=2)
    for at in (state.row, state.column):
        there = there & (jnp.abs(at - at[:n, None]) <= plan.radius)
    return there


def bodies(plan: Plan, state: FieldState) -> Array:
    """i16[M, F, ...]: row, column and features of all bodies."""
    fields = [state.row, state.column, *(getattr(state, name) for name in plan.features)]
    return jnp.stack([field.astype(jnp.int16) for field in fields], axis=1)


def vector(config: FieldConfig, state: FieldState) -> Array:
    """i16[N, K, ...], what agents see as numbers."""
    plan, axes = config.plan, state.time.ndim
    listed = bodies(plan, state)
    empty = expand(np.array([-1, -1, *(0 for _ in plan.features)], np.int16), axes)
    known = jnp.where(sees(plan, state)[:, :, None], listed[None], empty)  # [N, M, F, ...]
    codes = jnp.where(seen(plan, state), state.cells.astype(jnp.int16), np.int16(-1))
    common = [(config.max_steps - state.time)[None]]
    common_after = [(state.doors > 0).astype(jnp.int16)]
    if "deliveries" in plan.stages:
        common_after.append(state.score)
    if plan.work:
        common_after.append(state.work.astype(jnp.int16))
    rows = []
    for i in range(plan.agents):
        own, rest, cells = listed[i], known[i], codes[i]
        if plan.turned[i]:
            own, rest = _turned(plan, own[None])[0], _turned(plan, rest)
            cells = cells[::-1]
        parts = [own, *common]
        if plan.numbered:
            parts.append(jnp.full((1, *state.time.shape), i, jnp.int16))
        if not plan.token and plan.bodies > 1:
            others = np.array([j for j in range(plan.bodies) if j != i])
            parts.append(rest[others].reshape(-1, *state.time.shape))
        rows.append(jnp.concatenate([*parts, *common_after, cells]))
    return jnp.stack(rows)


perceive = vector  # what scripted players read
_NEAR = 4  # cells around an agent of which a network is given planes


def network_input(config: FieldConfig, row: Array) -> Array:
    """f32[K]: one agent's row of `perceive`, squashed; then of a grid the places of the others
    from where it is, who it is, and planes of the cells near it: which are in view, what is there,
    and how many of its own team and of others."""
    plan, at = config.plan, codes(config)
    if plan.exits is not None:
        return squash(row)
    wide = row.astype(jnp.int32)
    near = min(max(plan.size) - 1 if plan.radius is None else plan.radius, _NEAR)
    here = wide[at["self"]][:2]
    cells = jnp.pad(wide[at["cells"]].reshape(plan.size), near, constant_values=-1)
    start = jnp.clip(here, 0, np.array(plan.size) - 1)
    around = jax.lax.dynamic_slice(cells, start, (2 * near + 1,) * 2)
    planes = [around >= 0, *(around == code for code in plan.used if code != FLOOR)]
    parts = [squash(row)]
    mine = wide[at["number"]][0] if plan.numbered else jnp.int32(0)
    if plan.numbered:
        parts.append(jax.nn.one_hot(mine, plan.agents))
    if "others" in at:
        fields = 2 + len(plan.features)
        others = wide[at["others"]].reshape(-1, fields)[:, :2]
        there = others[:, 0] >= 0
        gap = jnp.where(there[:, None], others - here, 0)
        parts.append((gap / max(plan.size)).reshape(-1))
        index = np.arange(plan.bodies - 1)
        team = jnp.asarray(plan.of_team)[index + (index >= mine)]
        steps = np.arange(-near, near + 1)
        on = (gap[:, :1, None] == steps[:, None]) & (gap[:, 1:, None] == steps)
        on = on & there[:, None, None]
        own = (team == jnp.asarray(plan.of_team)[mine])[:, None, None]
        planes += [jnp.sum(on & own, axis=0), jnp.sum(on & ~own, axis=0)]
    parts.append(jnp.stack([plane.astype(jnp.float32) for plane in planes]).reshape(-1))
    return jnp.concatenate(parts)


def _turned(plan: Plan, listed: Array) -> Array:
    """Bodies [K, F, ...] as who sees the map turned by half counts them."""
    columns = []
    names = ("row", "column", *plan.features)
    for k, name in enumerate(names):
        value = listed[:, k]
        if name in ("row", "column"):
            last = np.int16(plan.size[k] - 1)
            value = jnp.where(value >= 0, last - value, value)
        elif name == "heading":
            value = sum(
                jnp.where(value == way, np.int16(OPPOSITE[way]), np.int16(0))
                for way in range(len(HEADINGS))
            )
        columns.append(value)
    return jnp.stack(columns, axis=1)


def _grid(config: FieldConfig, state: FieldState) -> Array:
    """i16[N, P, S, S, ...] around each agent, or of the whole field."""
    plan, axes = config.plan, state.time.ndim
    n, (rows, columns) = plan.agents, plan.size
    sight = seen(plan, state)
    if plan.radius is None:
        visible = sight.reshape(n, rows, columns, *state.time.shape)
        codes = jnp.broadcast_to(state.cells.reshape(rows, columns, *state.time.shape),
                                 visible.shape)  # fmt: skip
        here = at_cells(plan, state.row, state.column)
        there = here.reshape(1, plan.bodies, rows, columns, *state.time.shape)
    else:
        s = plan.radius
        codes = window(plan, state.row[:n], state.column[:n], state.cells, s)
        around = expand(np.arange(-s, s + 1, dtype=np.int8), axes)
        y, x = (at[:n, None] + around for at in (state.row, state.column))
        visible = inside(plan, y[:, :, None], x[:, None])
        if plan.lines:
            visible = visible & _seen_window(plan, state, sight)
        visible = visible & (state.row[:n] >= 0)[:, None, None]
        down = (state.row - state.row[:n, None])[:, :, None] == around
        across = (state.column - state.column[:n, None])[:, :, None] == around
        there = down[:, :, :, None] & across[:, :, None]  # [N, M, S, S, ...]
    known = (there & visible[:, None]) & (state.row >= 0)[None, :, None, None]
    own = known & expand(np.eye(n, plan.bodies, dtype=bool), axes)[:, :, None, None]
    planes = [visible]
    planes += [visible & (codes == code) for code in plan.used if code != FLOOR]
    planes.append(jnp.any(own, axis=1))
    for k in range(len(plan.teams)):
        members = known & expand(plan.of_team == k, axes)[None, :, None, None]
        planes.append(jnp.sum(members, axis=1, dtype=jnp.int16))
    for name in plan.features:
        value = getattr(state, name).astype(jnp.int16) + np.int16(name == "heading")
        shown = jnp.where(known, value[None, :, None, None], np.int16(0))
        # Of several on one cell, the largest.
        most = jnp.max(shown, axis=1) + jnp.minimum(jnp.min(shown, axis=1), np.int16(0))
        planes.append(most)
    planes += [(state.doors[group] > 0) & (visible | True) for group in range(plan.groups)]
    planes.append(jnp.broadcast_to(config.max_steps - state.time, visible.shape))
    if plan.numbered:
        numbers = expand(np.arange(n, dtype=np.int16), visible.ndim - 1)
        planes.append(jnp.broadcast_to(numbers, visible.shape))
    found = jnp.stack([plane.astype(jnp.int16) for plane in planes], axis=1)
    if config.egocentric and "heading" in plan.features and plan.radius is not None:
        north = found
        for heading, quarters in ((1, 2), (2, 3), (3, 1)):
            facing = (state.heading[:n] == heading)[:, None, None, None]
            found = jnp.where(facing, jnp.rot90(north, quarters, (2, 3)), found)
    if plan.turned.any():
        flip = expand(plan.turned, axes)[:, None, None, None]
        found = jnp.where(flip, found[:, :, ::-1, ::-1], found)
    return found


def _seen_window(plan: Plan, state: FieldState, sight: Array) -> Array:
    """bool[N, S, S, ...]: of what each agent sees, bool[N, C, ...], the window around it."""
    assert plan.radius is not None
    parts = [
        window(plan, state.row[i : i + 1], state.column[i : i + 1], sight[i].astype(jnp.uint8),
               plan.radius)
        for i in range(plan.agents)
    ]  # fmt: skip
    return jnp.concatenate(parts) > 0


def summary(config: FieldConfig, state: FieldState) -> Array:
    """i16[M F + G + T + C]: all bodies, doors, scores and cells, as they are."""
    listed = bodies(config.plan, state)
    flat = listed.reshape(-1, *listed.shape[2:])
    doors = (state.doors > 0).astype(jnp.int16)
    return jnp.concatenate([flat, doors, state.score, state.cells.astype(jnp.int16)])
