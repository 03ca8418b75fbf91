"""The stages of a step on a field. A scenario chooses which there are, and their order.

Each stage is a function of a `Turn`, which holds the state as it is so far, who does what, and what
has happened; it replaces the state and adds events. Arrays have any number of trailing batch axes.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.mission.field.places import (
    at_cells,
    bits_at,
    bits_of,
    clear,
    count_near,
    from_bits,
    inside,
    is_one_of,
    look_up,
    neighbours,
    number,
    row_bits,
    seen,
    walkable,
)
from manyhands.envs.mission.field.state import (
    APPLE,
    BASE,
    BOX,
    BUTTON,
    BY_BUTTON,
    BY_KEY,
    BY_PLATE,
    CAUGHT,
    COIN,
    COLUMNS,
    DIRT,
    DOOR,
    FLAG,
    FLOOR,
    GOAL,
    GOLD,
    IRON,
    KEY,
    LAND,
    LOCKED,
    MACHINE,
    OPPOSITE,
    PLATE,
    REPAIRED,
    ROWS,
    SOIL,
    UNDER,
    WATER,
    Beam,
    FieldState,
    Plan,
)
from manyhands.envs.mission.warehouse.rules import chains

CONFLICTS = ("priority", "cancel", "chain", "share", "agree")
_STRIKE = 3  # steps in which a strike at gold counts


class Turn:
    """A step on its way.

    Attributes:
        before: the state at its beginning.
        now: the state so far.
        chosen: bool[N, A, ...], the legal action of each agent; none for illegal ones.
        to_row, to_column: i8[M], the cells that bodies want to be on.
        moving: bool[M], who wants another cell.
        events: name -> i8[M, ...], how often it happened to each body.
    """

    def __init__(self, plan: Plan, key: Array, state: FieldState, chosen: Array):
        self.plan, self.before, self.chosen, self._key = plan, state, chosen, key
        ticks = {
            "out": jnp.where(state.out > 0, state.out - np.int16(1), state.out),
            "cool": jnp.where(state.cool > 0, state.cool - np.uint8(1), state.cool),
            "ago": jnp.where(state.ago > 0, state.ago - np.uint8(1), state.ago),
        }
        self.now = dataclasses.replace(state, **ticks)
        self.events: dict[str, Array] = {}
        moves = chosen[:, 1 : 1 + plan.moves]
        self.moving = self.padded(jnp.any(moves, axis=1))
        if plan.exits is None:
            ways = [_turned(plan, values) for values in (ROWS, COLUMNS)]
            down, across = (
                self.padded(jnp.sum(jnp.where(moves, expand(way, state.time.ndim), 0), axis=1))
                for way in ways
            )
            self.to_row, self.to_column = state.row + down, state.column + across
            heading = expand(_turned(plan, (0, 1, 2, 3)), state.time.ndim)
            faced = self.padded(jnp.sum(jnp.where(moves, heading, 0), axis=1))
            self.change(heading=jnp.where(self.moving, faced, state.heading))
        else:
            rooms = expand(np.arange(plan.moves, dtype=np.int8), state.time.ndim)
            room = self.padded(jnp.sum(jnp.where(moves, rooms, 0), axis=1))
            self.to_row = state.row
            self.to_column = jnp.where(self.moving, room, state.column)

    def padded(self, values: Array) -> Array:
        """Values of agents, [N, ...], as those of bodies, i8 or bool [M, ...]."""
        kind = values.dtype if values.dtype == bool else jnp.int8
        rest = self.plan.bodies - self.plan.agents
        return jnp.pad(values.astype(kind), [(0, rest)] + [(0, 0)] * (values.ndim - 1))

    def chose(self, verb: str) -> Array:
        """bool[M, ...]: who does it."""
        return self.padded(self.chosen[:, self.plan.verbs[verb]])

    def change(self, **fields: Array) -> None:
        self.now = dataclasses.replace(self.now, **fields)

    def happened(self, name: str, who: Array) -> None:
        """Count an event of each body, bool or whole numbers [M, ...]."""
        known = self.events.get(name)
        count = who.astype(jnp.int8)
        self.events[name] = count if known is None else known + count

    def bits(self, which: int, *shape: int) -> Array:
        """u16[*shape, ...], random; the same `which` gives the same."""

        def draw(key: Array) -> Array:
            return jax.random.bits(jax.random.fold_in(key, which), shape, jnp.uint16)

        return jax.vmap(draw, out_axes=-1)(self._key) if self._key.ndim else draw(self._key)

    def here(self) -> Array:
        """bool[M, C, ...]: the cells that bodies are on."""
        return at_cells(self.plan, self.now.row, self.now.column)

    def numbers(self) -> Array:
        """i16[M, ...]: the same as numbers; -1 for who is not on the field."""
        return number(self.plan, self.now.row, self.now.column)

    def active(self) -> Array:
        """bool[M, ...]: who is on the field and can act, at the beginning and still."""
        return (self.before.out == 0) & (self.now.out == 0) & (self.now.row >= 0)

    def members(self, team: int) -> np.ndarray:
        """bool[M, 1...], of a team."""
        return expand(self.plan.of_team == team, self.now.time.ndim)


def _turned(plan: Plan, values: Any) -> np.ndarray:
    """i8[N, 4]: a number for each way as each agent calls it."""
    turned = [[values[OPPOSITE[k]] if turn else values[k] for k in range(4)]
              for turn in plan.turned]  # fmt: skip
    return np.array(turned, np.int8)


def _others(turn: Turn) -> np.ndarray:
    """bool[M, M, 1...]: all pairs but of one body with itself."""
    return expand(~np.eye(turn.plan.bodies, dtype=bool), turn.now.time.ndim)


def _lowest(places: Array, who: Array) -> Array:
    """bool[K, ...]: of those that `who` says, the one with the lowest number of each place."""
    earlier = expand(np.tri(len(places), k=-1, dtype=bool), places.ndim - 1)
    return who & ~jnp.any((places[:, None] == places[None]) & earlier & who[None], axis=1)


def _pick(values: Array, options: Array) -> Array:
    """bool[K, A, ...]: the possible option of the highest value, the first of several."""
    worth = jnp.where(options, values, np.int16(-(2**15)))
    best = jnp.argmax(worth, axis=1)[:, None]
    numbers = expand(np.arange(values.shape[1]), values.ndim - 2)
    return (best == numbers) & options


# ---- bodies that the rules move ------------------------------------------------------------------


def minds(turn: Turn) -> None:
    """The teams without agents choose where to go, knowing where all are, and rooms where the
    agents want to go."""
    plan, state = turn.plan, turn.now
    for team in plan.teams:
        if not team.mind:
            continue
        rows = slice(team.first, team.first + team.size)
        row, column = state.row[rows], state.column[rows]
        if plan.exits is None:
            to_row, to_column, possible = _grid_ways(turn, row, column)
        else:
            to_row, to_column, possible = _room_ways(turn, column)
        chance = (turn.bits(10 + team.first, *possible.shape[:2]) & np.uint16(31)).astype(jnp.int16)
        others = plan.of_team != plan.of_team[team.first]
        there = expand(others, state.time.ndim) & (state.row >= 0)
        gap = jnp.abs(to_row[:, :, None].astype(jnp.int16) - state.row)
        gap = gap + jnp.abs(to_column[:, :, None].astype(jnp.int16) - state.column)
        nearest = jnp.min(jnp.where(there, gap, np.int16(200)), axis=2)  # [K, A, ...]
        if team.mind == "flee":
            worth = nearest * np.int16(32) + chance
        elif team.mind == "chase":
            worth = -nearest * np.int16(32) + chance
        elif team.mind == "wander":
            worth = chance
        elif team.mind == "thief":
            worth = _thief(turn, possible)
        else:
            worth, aim = _killer(turn, rows, possible, chance)
            state = dataclasses.replace(state, struck=aim)
        ways = _pick(worth, possible)
        able = (state.out[rows] == 0) & (turn.before.out[rows] == 0)
        if team.rest:
            able = able & (state.time % np.int16(team.rest) != team.rest - 1)
        moves = jnp.any(ways, axis=1) & able
        new = [
            jnp.where(moves, jnp.sum(jnp.where(ways, to, 0), axis=1, dtype=jnp.int8), own)
            for to, own in ((to_row, row), (to_column, column))
        ]
        moves = moves & ((new[0] != row) | (new[1] != column))
        turn.to_row, turn.to_column, turn.moving = (
            jnp.concatenate([whole[: rows.start], part, whole[rows.stop :]])
            for whole, part in (
                (turn.to_row, new[0]),
                (turn.to_column, new[1]),
                (turn.moving, moves),
            )
        )
    turn.now = state


def _grid_ways(turn: Turn, row: Array, column: Array) -> tuple[Array, Array, Array]:
    """i8[K, 5] rows and columns of staying and moving, and which are possible."""
    plan, state = turn.plan, turn.now
    around = neighbours(plan, state.cells)
    here = at_cells(plan, row, column)
    codes = jnp.sum(jnp.where(here[:, None], around[None], np.uint8(0)), axis=2, dtype=jnp.uint8)
    free = walkable(plan, codes, state.doors)
    down, across = (expand(np.array((0, *way), np.int8), row.ndim - 1) for way in (ROWS, COLUMNS))
    to_row, to_column = row[:, None] + down, column[:, None] + across
    taken = (to_row[:, 1:, None] == state.row) & (to_column[:, 1:, None] == state.column)
    free = free & ~jnp.any(taken, axis=2)
    possible = jnp.concatenate([jnp.ones(free[:, :1].shape, bool), free], axis=1)
    return to_row, to_column, possible


def _room_ways(turn: Turn, room: Array) -> tuple[Array, Array, Array]:
    """i8[K, R] rows and columns (rooms), and which rooms are an exit away."""
    plan = turn.plan
    rooms = expand(np.arange(plan.size[1], dtype=np.int8), room.ndim - 1)
    possible = exits(plan, room, turn.now.doors)
    to_column = jnp.broadcast_to(rooms, possible.shape)
    return jnp.zeros(possible.shape, jnp.int8), to_column, possible


def exits(plan: Plan, room: Array, doors: Array) -> Array:
    """bool[K, R, ...]: the rooms to which an open exit leads from i8[K] rooms."""
    assert plan.exits is not None and plan.gates is not None
    axes = room.ndim - 1
    passing = jnp.broadcast_to(expand(plan.exits, axes), (*plan.exits.shape, *room.shape[1:]))
    for group in range(plan.groups):
        passing = passing & (expand(plan.gates != group + 1, axes) | (doors[group] > 0))
    here = room[:, None] == expand(np.arange(plan.size[1], dtype=np.int8), axes)
    return jnp.any(here[:, :, None] & passing[None], axis=1)


def _thief(turn: Turn, possible: Array) -> Array:
    """i16[K, R]: rooms by how far their number is from those where the agents want to go."""
    plan = turn.plan
    rooms = expand(np.arange(plan.size[1], dtype=np.int16), turn.now.time.ndim)
    gap = jnp.abs(rooms - turn.to_column[: plan.agents, None].astype(jnp.int16))
    return jnp.broadcast_to(jnp.min(gap, axis=0)[None], possible.shape)


def _killer(turn: Turn, rows: slice, possible: Array, chance: Array) -> tuple[Array, Array]:
    """i16[K, R]: the room of an agent beside it first (whom it is after, of several), else any.
    Also the new `struck`."""
    plan, state = turn.plan, turn.now
    n = plan.agents
    rooms = expand(np.arange(plan.size[1], dtype=np.int8), state.time.ndim)
    inside_ = (state.column[:n, None] == rooms) & (state.row[:n, None] >= 0)  # [N, R, ...]
    near = jnp.any(possible[:, None] & inside_[None], axis=2)  # [K, N, ...]
    numbers = expand(np.arange(n, dtype=np.int16), state.time.ndim)
    own = (state.struck[rows, None] == numbers) & near
    aim = jnp.where(jnp.any(own, axis=1, keepdims=True), own, near)
    earlier = expand(np.tri(n, k=-1, dtype=bool), state.time.ndim)
    aim = aim & ~jnp.any(earlier[None] & aim[:, None], axis=2)
    found = jnp.any(aim, axis=1)
    target = jnp.any(aim[:, :, None] & inside_[None], axis=1)  # [K, R, ...]
    who = jnp.sum(jnp.where(aim, numbers, 0), axis=1, dtype=jnp.int16)
    new = jnp.where(found, who, np.int16(-1))
    struck = jnp.concatenate([state.struck[: rows.start], new, state.struck[rows.stop :]])
    return jnp.where(target, np.int16(100), chance), struck


# ---- doors, moves, boxes -------------------------------------------------------------------------


def presses(turn: Turn) -> None:
    """Buttons turn their doors from closed to open or back, once for each who presses; a key opens
    the door that its bearer walks into, for good, and is used up."""
    plan, state = turn.plan, turn.now
    doors = [state.doors[group] for group in range(plan.groups)]
    code = look_up(turn.here(), state.cells)
    if "press" in plan.verbs:
        pressing = turn.chose("press")
        for group in range(plan.groups):
            times = jnp.sum(pressing & (code == BUTTON + group), axis=0, dtype=jnp.uint8)
            doors[group] = doors[group] ^ ((times & np.uint8(1)) * np.uint8(BY_BUTTON))
        turn.happened("press", pressing)
    carry = state.carry
    if plan.exits is None and KEY in plan.used:
        ahead = look_up(at_cells(plan, turn.to_row, turn.to_column), state.cells)
        for group in range(plan.groups):
            closed = doors[group] == 0
            turned = turn.moving & (ahead == DOOR + group) & (carry == KEY + group) & closed
            any_ = jnp.any(turned, axis=0)
            doors[group] = doors[group] | jnp.where(any_, np.uint8(BY_KEY), np.uint8(0))
            carry = jnp.where(turned, np.uint8(0), carry)
            turn.happened("open", turned)
    turn.change(doors=jnp.stack(doors), carry=carry)


def moves(turn: Turn) -> None:
    """All move at once. What happens if several want a cell is the scenario's rule of conflict."""
    plan, state = turn.plan, turn.now
    if plan.exits is None:
        target = at_cells(plan, turn.to_row, turn.to_column)
        ahead = look_up(target, state.cells)
        free = walkable(plan, ahead, state.doors) & inside(plan, turn.to_row, turn.to_column)
    else:
        rooms = expand(np.arange(plan.size[1], dtype=np.int8), state.time.ndim)
        wanted = turn.to_column[:, None] == rooms
        free = jnp.any(wanted & exits(plan, state.column, state.doors), axis=1)
    pushing = jnp.zeros(free.shape, bool)
    if BOX in plan.used:
        pushing = _pushing(turn, ahead == BOX)
    going = _resolved(turn, turn.moving & (free | pushing))
    if BOX in plan.used:
        pushed = going & pushing
        left = jnp.any(pushed[:, None] & target, axis=0)
        beyond = at_cells(plan, *_beyond(turn))
        filled = jnp.any(pushed[:, None] & beyond, axis=0)
        cells = jnp.where(left, np.uint8(FLOOR), state.cells)
        turn.change(cells=jnp.where(filled, np.uint8(BOX), cells))
        turn.happened("push", pushed)
    turn.change(
        row=jnp.where(going, turn.to_row, state.row),
        column=jnp.where(going, turn.to_column, state.column),
    )
    turn.happened("move", going)
    turn.happened("blocked", turn.moving & ~going)


def _beyond(turn: Turn) -> tuple[Array, Array]:
    """i8[M] each: the place behind the cell that a body wants."""
    return (
        turn.to_row + turn.to_row - turn.now.row,
        turn.to_column + turn.to_column - turn.now.column,
    )


def _pushing(turn: Turn, boxed: Array) -> Array:
    """bool[M]: who pushes a box, onto plain floor that nobody is on or wants, and which nobody else
    wants to push."""
    plan, state = turn.plan, turn.now
    row, column = _beyond(turn)
    wants = turn.moving & boxed
    clear_ = look_up(at_cells(plan, row, column), state.cells) == FLOOR
    after, target = number(plan, row, column), number(plan, turn.to_row, turn.to_column)
    wanted = jnp.where(turn.moving, target, np.int16(-2))
    pushed = jnp.where(wants, after, np.int16(-2))
    others = _others(turn)
    contested = (wanted == after[:, None]) | (pushed == after[:, None])
    contested = contested | (wanted == target[:, None])
    free = ~jnp.any(contested & others, axis=1)
    free = free & ~jnp.any(turn.numbers() == after[:, None], axis=1)
    return wants & clear_ & (after >= 0) & free


def _resolved(turn: Turn, going: Array) -> Array:
    """bool[M]: who moves, of those that could if they were alone."""
    plan, state = turn.plan, turn.now
    if plan.conflict == "share":
        return going
    if plan.conflict == "agree":
        called = turn.chosen[:, 1 : 1 + plan.moves]
        ways = jnp.stack([
            jnp.stack([called[i, OPPOSITE[k] if plan.turned[i] else k] for k in range(4)])
            for i in range(plan.agents)
        ])  # fmt: skip
        return going & jnp.any(jnp.all(ways, axis=0), axis=0)
    row, column = (
        jnp.where(going, to, at)
        for to, at in ((turn.to_row, state.row), (turn.to_column, state.column))
    )
    order = expand(np.arange(plan.bodies, dtype=np.int16), state.time.ndim)
    if plan.conflict == "chain":
        moved = chains(state.row, state.column, row, column, order.astype(np.int8))
        return moved & going
    target, at, others = number(plan, row, column), turn.numbers(), _others(turn)
    same = (target[:, None] == target[None]) & others
    if plan.conflict == "cancel":
        return going & ~jnp.any(same, axis=1)
    rank = (order + state.time) % np.int16(plan.bodies)
    beaten = same & going[None] & (rank[None] < rank[:, None])
    going = going & ~jnp.any(beaten, axis=1)
    onto = (target[:, None] == at[None]) & others  # i wants the cell of j
    going = going & ~jnp.any(onto & jnp.swapaxes(onto, 0, 1), axis=1)
    # Who waits for one that stays, stays. As a reduction to the end, which is computed once: ANDs
    # after it would be fused into all that asks where bodies are, and be computed for each cell.
    waits = onto | ~others
    stays = ~going
    for _ in range(plan.bodies):
        stays = jnp.any(waits & stays[None], axis=1)
    return ~stays


def locks(turn: Turn) -> None:
    """A box ahead is locked, or unlocked: locked boxes cannot be pushed."""
    plan, state = turn.plan, turn.now
    row, column = ahead(state)
    faced = at_cells(plan, row, column) & turn.chose("lock")[:, None]
    turned = jnp.any(faced, axis=0)
    boxes, locked = state.cells == BOX, state.cells == LOCKED
    cells = jnp.where(turned & boxes, np.uint8(LOCKED), state.cells)
    turn.change(cells=jnp.where(turned & locked, np.uint8(BOX), cells))
    turn.happened("lock", jnp.any(faced & (boxes | locked), axis=1))


def by_heading(heading: Array, values: Any) -> Array:
    """i8[K, ...]: one of four numbers for each body."""
    found = jnp.zeros(heading.shape, jnp.int8)
    for k, value in enumerate(values):
        found = jnp.where(heading == k, np.int8(value), found)
    return found


def ahead(state: FieldState) -> tuple[Array, Array]:
    """i8[M] each: the place that each body faces, perhaps beyond the edge."""
    down, across = (by_heading(state.heading, way) for way in (ROWS, COLUMNS))
    return state.row + down, state.column + across


# ---- beams, captures -----------------------------------------------------------------------------


def beams(turn: Turn) -> None:
    """Beams and tags: all at once, from where bodies are after moving."""
    for verb, beam in turn.plan.beams.items():
        _beam(turn, verb, beam)


def _beam(turn: Turn, verb: str, beam: Beam) -> None:
    plan, state = turn.plan, turn.now
    n = plan.agents
    using = turn.chosen[:, plan.verbs[verb]] & (state.row[:n] >= 0)
    if beam.cooldown:
        left = jnp.where(using, np.uint8(beam.cooldown), state.cool[:n])
        turn.change(cool=jnp.concatenate([left, state.cool[n:]]))
        state = turn.now
    row, column, lit = _lit(turn, using, beam)
    if beam.effect == "clean":
        dirt = state.cells == DIRT
        cleaned = lit & bits_at(plan, row_bits(plan, dirt), row, column)
        turn.happened("clean", turn.padded(jnp.sum(cleaned, axis=1, dtype=jnp.int8)))
        gone = dirt & from_bits(plan, bits_of(plan, row, column, cleaned))
        turn.change(cells=jnp.where(gone, np.uint8(WATER), state.cells))
    elif beam.effect == "mine":
        middle = slice(None if beam.around else beam.length)
        _mine(turn, row[:, middle], column[:, middle], lit[:, middle])
    else:
        there = (row[:, :, None] == state.row) & (column[:, :, None] == state.column)
        hit = jnp.any(there & lit[:, :, None], axis=1)
        hurt = hit & (state.out == 0) & (state.row >= 0)
        if not beam.everybody and len(plan.teams) > 1:
            foes = plan.of_team[:n, None] != plan.of_team
            hurt = hurt & expand(foes, state.time.ndim)
        turn.happened("hit", turn.padded(jnp.sum(hurt, axis=1, dtype=jnp.int8)))
        victims = jnp.any(hurt, axis=0)
        turn.happened("struck", victims)
        _suffer(turn, victims, beam.effect, beam.steps)


def _suffer(turn: Turn, who: Array, effect: str, steps: int) -> None:
    """What happens to bodies, bool[M], that were hit or caught. Flags that they carry go back."""
    state = turn.now
    out = {"caught": CAUGHT, "home": 0}.get(effect, steps)
    gone = who if effect != "freeze" else jnp.zeros(who.shape, bool)
    flag = is_one_of(turn.plan, state.carry, (FLAG, FLAG + 1))
    turn.change(
        out=jnp.where(who, np.int16(out), state.out),
        row=jnp.where(gone, np.int8(-1), state.row),
        column=jnp.where(gone, np.int8(-1), state.column),
        carry=jnp.where(who & flag, np.uint8(0), state.carry),
    )
    _flags_home(turn)


def _flags_home(turn: Turn) -> None:
    """Flags that nobody carries stand on their base."""
    state = turn.now
    cells = state.cells
    for team in range(2):
        if FLAG + team in turn.plan.used:
            carried = jnp.any(state.carry == FLAG + team, axis=0)
            empty = (cells == BASE + team) & ~carried
            cells = jnp.where(empty, np.uint8(FLAG + team), cells)
    turn.change(cells=cells)


def _lit(turn: Turn, using: Array, beam: Beam) -> tuple[Array, Array, Array]:
    """i8[N, K], i8[N, K], bool[N, K]: rows and columns of the places that a beam can reach from
    each agent, and which it does. Those straight ahead come first, from near to far."""
    plan, state = turn.plan, turn.now
    n, axes = plan.agents, state.time.ndim
    places, ways = rays(beam)
    heading = state.heading[:n, None, None] == expand(np.arange(4, dtype=np.int8), axes)
    row, column = (
        at[:n, None] + jnp.sum(jnp.where(heading, expand(away, axes), np.int8(0)), axis=2,
                               dtype=jnp.int8)
        for at, away in zip((state.row, state.column), places, strict=True)
    )  # fmt: skip
    if beam.around:
        return row, column, jnp.broadcast_to(using[:, None], row.shape)
    passing = row_bits(plan, clear(plan, state.cells, state.doors))
    blocked = ~bits_at(plan, passing, row, column)
    dark = jnp.any(expand(ways, axes) & blocked[:, None], axis=2)
    count = len(ways)
    return row[:, :count], column[:, :count], using[:, None] & ~dark


@functools.cache
def rays(beam: Beam) -> tuple[np.ndarray, np.ndarray]:
    """i8[2, P, 4]: rows and columns, from a body, of the places that matter for a beam, for each
    heading; bool[K, P]: which of them are on the way to each of the first K, itself included. A
    beam to the side first goes sideways, then ahead."""
    if beam.around:
        far = range(-beam.around, beam.around + 1)
        away = [(dy, dx) for dy in far for dx in far if 0 < abs(dy) + abs(dx) <= beam.around]
        away.sort(key=lambda place: abs(place[0]) + abs(place[1]))
        return np.repeat(np.array(away, np.int8).T[:, :, None], 4, 2), np.eye(len(away), dtype=bool)
    sides = sorted(range(-beam.radius, beam.radius + 1), key=abs)
    lit = [(ahead, side) for side in sides for ahead in range(1, beam.length + 1)]
    steps = lit + [(0, side) for side in sides if side]
    headings = list(zip(ROWS, COLUMNS, strict=True))
    rows = [[dy * ahead + dx * side for dy, dx in headings] for ahead, side in steps]
    columns = [[dx * ahead - dy * side for dy, dx in headings] for ahead, side in steps]
    ways = [
        [
            (b == side and 0 < a <= ahead) or (a == 0 and b * side > 0 and abs(b) <= abs(side))
            for a, b in steps
        ]
        for ahead, side in lit
    ]
    return np.array([rows, columns], np.int8), np.array(ways)


def _mine(turn: Turn, row: Array, column: Array, lit: Array) -> None:
    """The first ore of each agent's places, i8[N, K] from near to far, is struck. Iron goes to who
    strikes it first (the lowest number of several); gold to all who struck it within 3 steps, once
    there are enough."""
    plan, state = turn.plan, turn.now
    n = plan.agents
    ores = row_bits(plan, is_one_of(plan, state.cells, (IRON, GOLD)))
    met = lit & bits_at(plan, ores, row, column)
    nearer = expand(np.tri(met.shape[1], k=-1, dtype=bool), state.time.ndim)
    met = met & ~jnp.any(nearer & met[:, None], axis=2)
    first = jnp.stack([
        jnp.any(at_cells(plan, row[i], column[i]) & met[i, :, None], axis=0) for i in range(n)
    ])  # fmt: skip
    iron, gold = first & (state.cells == IRON), first & (state.cells == GOLD)
    numbers = expand(np.arange(gold.shape[1], dtype=np.int16), state.time.ndim)
    vein = jnp.sum(jnp.where(iron, numbers, 0), axis=1, dtype=jnp.int16)
    turn.happened("iron", turn.padded(_lowest(vein, jnp.any(iron, axis=1))))
    cells = jnp.where(jnp.any(iron, axis=0), np.uint8(SOIL), state.cells)
    struck = jnp.any(gold, axis=1)
    where = jnp.sum(jnp.where(gold, numbers, 0), axis=1, dtype=jnp.int16)
    last = jnp.where(struck, where, state.struck[:n])
    ago = jnp.where(struck, np.uint8(_STRIKE), state.ago[:n])
    together = (last[:, None] == last[None]) & (ago[None] > 0) & (ago[:, None] > 0)
    miners = jnp.sum(together, axis=1, dtype=jnp.uint8)
    enough = (miners >= plan.needed) & (ago > 0)
    gets = enough & (miners <= plan.most)
    turn.happened("strike", turn.padded(struck & ~enough))
    turn.happened("gold", turn.padded(gets))
    mined = jnp.any(gets[:, None] & (last[:, None] == numbers), axis=0)
    ago = jnp.where(enough, np.uint8(0), ago)
    turn.change(
        cells=jnp.where(mined, np.uint8(SOIL), cells),
        struck=jnp.concatenate([last, state.struck[n:]]),
        ago=jnp.concatenate([ago, state.ago[n:]]),
    )


def captures(turn: Turn) -> None:
    """Members of a team are caught by enough of another, on their cell or beside them."""
    plan = turn.plan
    for capture in plan.captures:
        state, at = turn.now, turn.numbers()
        by, team = turn.members(capture.by), turn.members(capture.team)
        if capture.reach:
            gap = jnp.abs(state.row[:, None].astype(jnp.int16) - state.row)
            gap = gap + jnp.abs(state.column[:, None].astype(jnp.int16) - state.column)
            near = gap <= capture.reach
        else:
            near = at[:, None] == at
            if capture.passing:
                before = number(plan, turn.before.row, turn.before.column)
                passed = (before[:, None] == at) & (at[:, None] == before)
                near = near | (passed & (at != before)[:, None])
        near = near & (by & turn.active())[:, None] & (team & (state.row >= 0))[None]
        if capture.effect == "freeze":
            near = near & (state.out == 0)
        if capture.land:
            own = (LAND + capture.by, BASE + capture.by, FLAG + capture.by)
            near = near & is_one_of(plan, look_up(turn.here(), state.cells), own)
        caught = jnp.sum(near, axis=0, dtype=jnp.uint8) >= capture.needed
        turn.happened("caught", caught)
        turn.happened("capture", jnp.sum(near & caught, axis=1, dtype=jnp.int8))
        _suffer(turn, caught, capture.effect, capture.steps)


# ---- things --------------------------------------------------------------------------------------


def takes(turn: Turn) -> None:
    """Whoever comes onto an apple, a coin, a key (with empty hands) or a flag of others takes it;
    of several on a cell, the one with the lowest number."""
    plan, state = turn.plan, turn.now
    firsts = turn.here() & _lowest(turn.numbers(), turn.active())[:, None]
    code = look_up(firsts, state.cells)
    carry, cells = state.carry, state.cells
    taken = jnp.zeros(code.shape, bool)
    if APPLE in plan.used:
        taken = taken | (code == APPLE)
        turn.happened("apple", code == APPLE)
    for owner in range(4):
        if COIN + owner in plan.used:
            coin = code == COIN + owner
            own = expand(np.arange(plan.bodies) == owner, state.time.ndim)
            turn.happened("coin", coin & own)
            turn.happened("theft", coin & ~own)
            robbed = own & jnp.any(coin & ~own, axis=0)
            turn.happened("robbed", robbed)
            taken = taken | coin
    for group in range(plan.groups):
        if KEY + group in plan.used:
            key = (code == KEY + group) & (carry == 0)
            carry = jnp.where(key, np.uint8(KEY + group), carry)
            turn.happened("key", key)
            taken = taken | key
    for team in range(2):
        if FLAG + team in plan.used:
            flag = (code == FLAG + team) & ~turn.members(team) & (carry == 0)
            carry = jnp.where(flag, np.uint8(FLAG + team), carry)
            turn.happened("flag", flag)
            taken = taken | flag
    gone = jnp.any(firsts & taken[:, None], axis=0)
    for what, under in UNDER.items():
        if what in plan.used and what in _TAKEN:
            cells = jnp.where(gone & (state.cells == what), np.uint8(under), cells)
    turn.change(cells=cells, carry=carry)


_TAKEN = (APPLE, *range(COIN, COIN + 4), *range(KEY, KEY + 3), FLAG, FLAG + 1)


def drops(turn: Turn) -> None:
    """A key is put down on plain floor; of several on a cell, the one with the lowest number."""
    state = turn.now
    dropping = _lowest(turn.numbers(), turn.chose("drop") & (state.row >= 0))
    firsts = turn.here() & dropping[:, None] & (state.cells == FLOOR)
    put = jnp.sum(jnp.where(firsts, state.carry[:, None], np.uint8(0)), axis=0, dtype=jnp.uint8)
    who = jnp.any(firsts, axis=1)
    turn.change(
        cells=jnp.where(put > 0, put, state.cells),
        carry=jnp.where(who, np.uint8(0), state.carry),
    )
    turn.happened("drop", who)


def deliveries(turn: Turn) -> None:
    """Who carries a flag onto the base of its own team scores; the flag goes back to its base."""
    plan, state = turn.plan, turn.now
    code = look_up(turn.here(), state.cells)
    scores, brought = [], jnp.zeros(code.shape, bool)
    conceded = jnp.zeros(code.shape, jnp.int8)
    for team in range(len(plan.teams)):
        if team > 1:
            scores.append(state.score[team])
            continue
        home = (code == BASE + team) | (code == FLAG + team)
        now = home & turn.members(team) & (state.carry == FLAG + 1 - team)
        brought = brought | now
        count = jnp.sum(now, axis=0, dtype=jnp.int8)
        conceded = conceded + jnp.where(turn.members(team), np.int8(0), count)
        scores.append(state.score[team] + jnp.sum(now, axis=0, dtype=jnp.int16))
    turn.happened("delivery", brought)
    turn.happened("conceded", conceded)
    carry = jnp.where(brought, np.uint8(0), state.carry)
    turn.change(score=jnp.stack(scores), carry=carry)
    _flags_home(turn)


def growth(turn: Turn) -> None:
    """Things come up on free soil where nobody is, and dirt in clean water; what grows depends on
    how much of it is near."""
    plan, state = turn.plan, turn.now
    occupied = jnp.any(turn.here(), axis=0)
    draws = turn.bits(1, state.cells.shape[0]).astype(jnp.int32)
    base = jnp.int32(0)
    cells = state.cells
    for k, grown in enumerate(plan.growths):
        ground = WATER if grown.code == DIRT else SOIL
        free = (state.cells == ground) & ~occupied
        if grown.one:
            luck = turn.bits(100 + k, 1)[0].astype(jnp.int32)
            starts = (luck < _share(grown.rates[0])) & (state.time >= grown.after)
            place = jnp.argmax(jnp.where(free, turn.bits(200 + k, free.shape[0]), 0), axis=0)
            numbers = expand(np.arange(free.shape[0]), state.time.ndim)
            comes = free & (numbers == place) & starts
        else:
            rate = jnp.full(free.shape, _share(grown.rates[0]), jnp.int32)
            if len(grown.rates) > 1:
                near = count_near(plan, state.cells == grown.code, grown.radius)
                for count, value in enumerate(grown.rates[1:], start=1):
                    rate = jnp.where(near >= count, np.int32(_share(value)), rate)
            if grown.dirt_limit:
                rate = _clean_rate(state, rate, grown.dirt_limit)
            comes = free & (draws >= base) & (draws < base + rate)
            comes = comes & (state.time >= grown.after)
            base = base + rate
        cells = jnp.where(comes, np.uint8(grown.code), cells)
    turn.change(cells=cells)


def _share(chance: float) -> int:
    """A chance of 2^16."""
    return round(chance * 2**16)


def _clean_rate(state: FieldState, rate: Array, limit: float) -> Array:
    """i32: rates that fall to 0 where the share of dirty water reaches a limit."""
    dirt = jnp.sum(state.cells == DIRT, axis=0, dtype=jnp.int32)
    water = dirt + jnp.sum(state.cells == WATER, axis=0, dtype=jnp.int32)
    most = jnp.maximum(water * round(limit * 1000), 1)
    return rate * jnp.maximum(most - dirt * 1000, 0) // most


def repairs(turn: Turn) -> None:
    """A generator is repaired once somebody has worked on it for some steps in a row; a step
    without work sets it back."""
    plan, state = turn.plan, turn.now
    at = turn.here() & (turn.chose("repair") & (state.row >= 0))[:, None]
    at = at & (state.cells == MACHINE)
    worked = jnp.any(at, axis=0)
    work = jnp.where(worked, state.work + np.uint8(1), np.uint8(0))
    done = worked & (work >= plan.work)
    turn.change(
        work=jnp.where(done, np.uint8(0), work),
        cells=jnp.where(done, np.uint8(REPAIRED), state.cells),
    )
    turn.happened("repair", jnp.any(at & done, axis=1))


def plates(turn: Turn) -> None:
    """Doors are held open by whoever stands on one of their plates."""
    plan, state = turn.plan, turn.now
    code = look_up(turn.here(), state.cells)
    doors = []
    for group in range(plan.groups):
        held = jnp.any(code == PLATE + group, axis=0)
        rest = state.doors[group] & np.uint8(BY_KEY | BY_BUTTON)
        doors.append(rest | jnp.where(held, np.uint8(BY_PLATE), np.uint8(0)))
    turn.change(doors=jnp.stack(doors))


# ---- aims ----------------------------------------------------------------------------------------


def sights(turn: Turn) -> None:
    """Whether any of the team that hides is seen by any that looks for it, once these may move."""
    plan, state = turn.plan, turn.now
    assert plan.spotting is not None
    hidden, looking = plan.spotting
    begun = turn.before.time >= plan.teams[looking].wait
    sees = seen(plan, state) & (turn.active() & turn.members(looking))[: plan.agents, None]
    there = jnp.any(turn.here() & turn.members(hidden)[:, None], axis=0)
    found = jnp.any(jnp.any(sees, axis=0) & there, axis=0)
    for name, team, flag in (
        ("spotting", looking, found),
        ("searching", looking, ~found),
        ("seen", hidden, found),
        ("hidden", hidden, ~found),
    ):
        turn.happened(name, (flag & begun)[None] & turn.members(team))


def goals(turn: Turn) -> None:
    """Who comes onto a goal has reached it."""
    code = look_up(turn.here(), turn.now.cells)
    before = look_up(at_cells(turn.plan, turn.before.row, turn.before.column), turn.before.cells)
    turn.happened("goal", (code == GOAL) & (before != GOAL))


def ends(turn: Turn) -> None:
    """The first end whose condition holds ends the episode."""
    plan, state = turn.plan, turn.now
    n = plan.agents
    over = state.over
    won = jnp.zeros((plan.bodies, *state.time.shape), bool)
    code = look_up(turn.here(), state.cells)
    for end in plan.ends:
        members = turn.members(end.team)
        each: Any = members
        winners: Any = turn.members(end.wins)
        if end.when == "caught":
            each = state.out == CAUGHT
        elif end.when == "goal":
            each = code == GOAL
        elif end.when == "meet":
            at = turn.numbers()
            lead = at[plan.teams[end.team].first]
            each = (at == lead) & (at >= 0)
        if end.when == "score":
            scored = state.score >= end.points
            holds = jnp.any(scored, axis=0)
            winners = jnp.stack([scored[team] for team in plan.of_team])
        elif end.when == "gone":
            holds = ~jnp.any(state.cells == end.code, axis=0)
        elif end.all:
            holds = jnp.all(each | ~members, axis=0)
        else:
            holds = jnp.any(each & members, axis=0)
        if end.repaired:
            holds = holds & ~jnp.any(state.cells == MACHINE, axis=0)
        new = holds & ~over
        won = won | (new & winners)
        over = over | new
    ended = over & ~state.over
    turn.change(over=over)
    agents = expand(np.arange(plan.bodies) < n, state.time.ndim)
    turn.happened("win", won & agents)
    turn.happened("loss", ended & ~won & agents)


def returns(turn: Turn) -> None:
    """Who was taken away comes back to where it started, once its time is over and nobody is
    there; who stands for the lower number comes first. (After all stages, in each scenario.)"""
    plan, state = turn.plan, turn.now
    home = number(plan, state.home_row, state.home_column)
    waiting = (state.row < 0) & (state.out == 0)
    row, column = state.row, state.column
    if plan.conflict in ("share", "agree"):
        free = waiting
    else:
        taken = jnp.any(home[:, None] == turn.numbers()[None], axis=1)
        earlier = expand(np.tri(plan.bodies, k=-1, dtype=bool), state.time.ndim)
        rival = jnp.any((home[:, None] == home[None]) & earlier & waiting[None], axis=1)
        free = waiting & ~taken & ~rival
    turn.change(
        row=jnp.where(free, state.home_row, row),
        column=jnp.where(free, state.home_column, column),
    )


STAGES: dict[str, Callable[[Turn], None]] = {
    "minds": minds,
    "presses": presses,
    "moves": moves,
    "locks": locks,
    "beams": beams,
    "captures": captures,
    "takes": takes,
    "drops": drops,
    "deliveries": deliveries,
    "growth": growth,
    "repairs": repairs,
    "plates": plates,
    "sights": sights,
    "goals": goals,
    "ends": ends,
}
