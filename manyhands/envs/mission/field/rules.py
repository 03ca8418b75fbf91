"""The rules of fields, as functions of the configuration, the state and the actions.

What happens in a step is the list of `stages.py` that the scenario names.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, repeat
from manyhands.core.env import Array
from manyhands.envs.mission.field.places import (
    at_cells,
    inside,
    is_one_of,
    look_up,
    neighbours,
    walkable,
)
from manyhands.envs.mission.field.stages import STAGES, Turn, ahead, exits, returns
from manyhands.envs.mission.field.state import (
    APPLE,
    BOX,
    BUTTON,
    BY_PLATE,
    COIN,
    COLUMNS,
    DIRT,
    DOOR,
    EVENTS,
    FLOOR,
    GOAL,
    GOLD,
    IRON,
    KEY,
    LOCKED,
    MACHINE,
    OPPOSITE,
    PLATE,
    ROWS,
    FieldConfig,
    FieldState,
    Plan,
)

ITEMS = (APPLE, IRON, GOLD, *range(COIN, COIN + 4), *range(KEY, KEY + 3))
NAMES = tuple(EVENTS)


def reset(config: FieldConfig, key: Array) -> FieldState:
    """One of the levels; bodies on different cells of those where they may start (on the same one
    where bodies share cells); with masks, each cell is one of the two agents' to see, but the start
    and the goals, which both see."""
    plan = config.plan
    which, places, masks = jax.random.split(key, 3)
    levels, count = plan.cells.shape
    level = jax.random.randint(which, (), 0, levels, jnp.int16)
    noise = jax.random.uniform(places, (plan.bodies, count))
    cells, starts = jnp.asarray(plan.cells)[level], jnp.asarray(plan.starts)[level]
    free = jnp.ones(count, bool)
    at: list[Array] = []
    for i in range(plan.bodies):
        if plan.token and i:
            at.append(at[0])
            continue
        cell = jnp.argmax(jnp.where(free & starts[i], noise[i], -1.0))
        if plan.conflict != "share":
            free &= np.arange(count) != cell
        at.append(cell)
    home = jnp.stack(at)
    viewer = jnp.zeros(0, jnp.uint8)
    if plan.masks:
        viewer = jax.random.bernoulli(masks, 0.5, (count,)).astype(jnp.uint8)
        known = (cells == GOAL) | (np.arange(count) == home[0])
        viewer = jnp.where(known, np.uint8(2), viewer)
    row, column = ((part).astype(jnp.int8) for part in jnp.divmod(home, plan.size[1]))
    return started(config, cells, viewer, row, column, level)


def started(
    config: FieldConfig, cells: Array, viewer: Array, row: Array, column: Array, level: Array
) -> FieldState:
    """The state at the beginning of an episode: of cells u8[C], who sees them, and bodies i8[M]."""
    plan = config.plan
    m = plan.bodies
    waits = np.concatenate([np.full(team.size, team.wait, np.int16) for team in plan.teams])
    doors = jnp.asarray(plan.open)
    code = look_up(at_cells(plan, row, column), cells)
    for group in range(plan.groups):  # whoever starts on a plate
        held = jnp.any(code == PLATE + group)
        doors = doors.at[group].set(doors[group] | jnp.where(held, np.uint8(BY_PLATE), 0))
    return FieldState(
        cells=cells,
        viewer=viewer,
        doors=doors,
        work=jnp.zeros(cells.shape[0] if plan.work else 0, jnp.uint8),
        row=row,
        column=column,
        home_row=row,
        home_column=column,
        heading=jnp.zeros(m, jnp.int8),
        carry=jnp.zeros(m, jnp.uint8),
        out=jnp.asarray(waits),
        cool=jnp.zeros(m, jnp.uint8),
        ago=jnp.zeros(m, jnp.uint8),
        struck=jnp.full(m, -1, jnp.int16),
        score=jnp.zeros(len(plan.teams), jnp.int16),
        level=level,
        over=jnp.bool_(False),
        time=jnp.int16(0),
        recent=jnp.zeros(m, jnp.uint32),
    )


def step(
    config: FieldConfig, key: Array, state: FieldState, actions: Array
) -> tuple[FieldState, dict[str, Any]]:
    """One step: the new state, and the arguments of `Env.outcome`.

    Args:
        actions: whole numbers [N, ...]. Illegal ones stay.
    """
    plan = config.plan
    numbers = expand(np.arange(len(plan.actions)), actions.ndim - 1)
    chosen = legal(config, state) & (actions[:, None] == numbers)
    illegal = ~jnp.any(chosen, axis=1)
    turn = Turn(plan, key, state, chosen)
    for stage in plan.stages:
        STAGES[stage](turn)
    returns(turn)
    turn.happened("step", jnp.ones(state.row.shape, bool))

    recent = jnp.zeros(state.row.shape, jnp.uint32)
    for name, count in turn.events.items():
        bit = np.uint32(1 << NAMES.index(name))
        recent = recent | jnp.where(count > 0, bit, np.uint32(0))
    time = state.time + jnp.int16(1)
    turn.change(time=time, recent=recent)
    over = turn.now.over
    return turn.now, {
        "terms": {name: _term(turn, name) for name in plan.rewards},
        "terminated": repeat(over, plan.agents),
        "truncated": repeat(~over & (time >= config.max_steps), plan.agents),
        "metrics": _metrics(turn, illegal),
    }


def _term(turn: Turn, name: str) -> Array:
    """f32[N]: how often an event happened to each agent, or to its team."""
    plan = turn.plan
    count = turn.events.get(name)
    if count is None:
        return jnp.zeros((plan.agents, *turn.now.time.shape), jnp.float32)
    if name in plan.shared:
        sums = [
            jnp.sum(jnp.where(turn.members(k), count, 0), axis=0, dtype=jnp.int8)
            for k in range(len(plan.teams))
        ]
        count = jnp.stack([sums[team] for team in plan.of_team])
    return count[: plan.agents].astype(jnp.float32)


def _metrics(turn: Turn, illegal: Array) -> dict[str, Array]:
    plan, cells = turn.plan, turn.now.cells
    counts = {
        "illegal": jnp.sum(illegal, axis=0),
        "blocked": jnp.sum(turn.events["blocked"][: plan.agents], axis=0),
    }
    if set(ITEMS) & set(plan.used):
        counts["items"] = jnp.sum(is_one_of(plan, cells, ITEMS), axis=0)
    if DIRT in plan.used:
        counts["dirt"] = jnp.sum(cells == DIRT, axis=0)
    if plan.token:
        counts["agreed"] = turn.events["move"][0]
    return {name: count.astype(jnp.float32) for name, count in counts.items()}


# ---- actions -------------------------------------------------------------------------------------


def acting(config: FieldConfig, state: FieldState) -> Array:
    """bool[N]: all agents, until the episode has ended by the rules."""
    return repeat(~state.over, config.plan.agents)


def legal(config: FieldConfig, state: FieldState) -> Array:
    """bool[N, A]: staying; what one's team can do where one is. Who is not on the field, or cannot
    act, stays. Other bodies do not make a move illegal; pushing a box may fail, and so may moves of
    a pair whose members know only a part of the walls. Where it matters where bodies face, a move
    to where one cannot go turns them."""
    plan = config.plan
    playing = acting(config, state)
    n = plan.agents
    able = playing & (state.out[:n] == 0) & (state.row[:n] >= 0)
    here = at_cells(plan, state.row[:n], state.column[:n])
    code = look_up(here, state.cells)
    if plan.exits is None:
        moves = _grid_moves(plan, state, here)
    else:
        moves = exits(plan, state.column[:n], state.doors)
    listed = {"stay": playing}
    if "press" in plan.verbs:
        listed["press"] = able & is_one_of(plan, code, range(BUTTON, BUTTON + plan.groups))
    if "repair" in plan.verbs:
        listed["repair"] = able & (code == MACHINE)
    if "drop" in plan.verbs:
        keys = is_one_of(plan, state.carry[:n], range(KEY, KEY + plan.groups))
        listed["drop"] = able & keys & (code == FLOOR)
    if "lock" in plan.verbs:
        row, column = ahead(state)
        faced = look_up(at_cells(plan, row[:n], column[:n]), state.cells)
        listed["lock"] = able & is_one_of(plan, faced, (BOX, LOCKED))
    for verb, beam in plan.beams.items():
        listed[verb] = able & (state.cool[:n] == 0) if beam.cooldown else able
    verbs = [listed[name] for name in plan.actions[1 + plan.moves :]]
    columns = [playing[:, None], moves & able[:, None], *(verb[:, None] for verb in verbs)]
    return jnp.concatenate(columns, axis=1) & expand(plan.able, state.time.ndim)


def _grid_moves(plan: Plan, state: FieldState, here: Array) -> Array:
    """bool[N, 4]: the ways that an agent could go."""
    n = plan.agents
    if plan.token or "heading" in plan.features:  # one walks into walls, or turns to them
        found = []
        for dy, dx in zip(ROWS, COLUMNS, strict=True):
            found.append(inside(plan, state.row[:n] + np.int8(dy), state.column[:n] + np.int8(dx)))
        free = jnp.stack(found, axis=1)
    else:
        around = neighbours(plan, state.cells)
        codes = jnp.sum(
            jnp.where(here[:, None], around[None], np.uint8(0)), axis=2, dtype=jnp.uint8
        )
        free = walkable(plan, codes, state.doors)
        if BOX in plan.used:
            free = free | (codes == BOX)
        for group in range(plan.groups):
            if KEY + group in plan.used:
                opens = (state.carry[:n] == KEY + group)[:, None]
                free = free | (opens & (codes == DOOR + group))
    if plan.turned.any():
        swapped = free[:, np.array(OPPOSITE)]
        free = jnp.where(expand(plan.turned, free.ndim - 1), swapped, free)
    return free
