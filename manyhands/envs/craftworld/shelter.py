"""How a player closes itself in with stones, from any standing ground.

A player turns by walking, and stands still only where something is in its way: it cannot close the
cell that it has come from. So a shelter has two cells in a row: an inner one, closed on its three
other sides, and an outer one, closed on both sides. Who walks in, to the inner cell and back, faces
the mouth of the outer one, and lays the last stone. On open ground that takes six stones, between
rocks and water fewer, and in rock that is dug for the purpose one.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.observe import PLAYER, Perception, one_of
from manyhands.envs.craftworld.state import HERE, VIEW
from manyhands.envs.craftworld.ways import (
    FAR,
    STEP,
    Mined,
    beside,
    entering,
    flood,
    starts,
    stride,
    strides,
)

ROWS, COLUMNS = VIEW
BACK = (1, 0, 3, 2)  # the opposite of each of `rules.FACINGS`
ASIDE = ((2, 3), (2, 3), (0, 1), (0, 1))  # those across it
ROOM = 4  # cells that a shelter may have
KEEP = 10  # how much better another plan must be to drop the one under way
NOTHING = 1 << 12  # no plan
PLAN = 3  # bytes of a plan
_STONE = rl.PLACE + rl.PLACES.index("stone")
_DELTAS = np.array(rl.DELTAS)


class Shelter(NamedTuple):
    """How one player closes itself in.

    Attributes:
        action: i32[], the next action; noop once it is closed in, and where no way leads on.
        closed: bool[], whether nothing can come to the player now.
        stones: i32[], how many more stones it takes than those that digging yields.
        possible: bool[], whether there is a place for it.
        plan: u8[3], to be given to the next call: 1 + the side of the mouth, and rows and columns
            to the inner cell, + 128; zeros for none.
    """

    action: Array
    closed: Array
    stones: Array
    possible: Array
    plan: Array


def enclosed(sight: Perception) -> Array:
    """bool[]: whether nothing that walks can come to the player, who has little room."""
    ground = one_of(sight.cells, rl.WALKABLE)
    cost = jnp.where(ground, np.int16(STEP), np.int16(FAR)).at[HERE].set(FAR)
    ways = flood(jnp.asarray(starts(ROWS, COLUMNS, *HERE)), cost, ROOM + 1)
    room = ways < FAR
    edge = np.ones(VIEW, bool)
    edge[1:-1, 1:-1] = False
    hostile = (sight.bodies > 0) & (sight.bodies < PLAYER)
    return (jnp.sum(room) < ROOM) & ~jnp.any(room & (edge | hostile))


def shelter(sight: Perception, mined: Mined, plan: Array) -> Shelter:
    """How a player closes itself in, by the plan of the step before."""
    ground = one_of(sight.cells, rl.WALKABLE)
    others = jnp.asarray(sight.bodies > 0).at[HERE].set(False)
    price = entering(sight.cells, sight, swim=False, mined=mined)
    price = jnp.where(others, np.int16(FAR), price).at[HERE].set(FAR)
    ways = flood(jnp.asarray(starts(ROWS, COLUMNS, *HERE)), price, ROWS * COLUMNS // 2)
    ways = ways.at[HERE].set(0)
    fill = one_of(sight.cells, (rl.GRASS, rl.SAND, rl.PATH))
    held = sight.item("stone").astype(jnp.int32)
    costs, needs = _plans(sight, ground, ways, fill, others, held)
    best = jnp.argmin(costs.reshape(-1)).astype(jnp.int32)
    least = jnp.min(costs)
    # The plan under way, where it is nearly as good.
    mouth = plan[0].astype(jnp.int32) - 1
    row = plan[1].astype(jnp.int32) - 128 + HERE[0]
    column = plan[2].astype(jnp.int32) - 128 + HERE[1]
    there = (mouth >= 0) & (row >= 0) & (row < ROWS) & (column >= 0) & (column < COLUMNS)
    before = (jnp.maximum(mouth, 0) * ROWS + row) * COLUMNS + column
    before = jnp.where(there, before, 0)
    cost_before = jnp.where(there, costs.reshape(-1)[before], NOTHING)
    chosen = jnp.where((cost_before < NOTHING) & (cost_before <= least + KEEP), before, best)
    possible = least < NOTHING
    mouth, cell = chosen // (ROWS * COLUMNS), chosen % (ROWS * COLUMNS)
    inner = jnp.stack([cell // COLUMNS, cell % COLUMNS])
    closed = enclosed(sight)
    action = jnp.where(
        closed | ~possible, rl.NOOP, _build(sight, mined, mouth, inner, ground, fill)
    )
    offset = inner - jnp.asarray(HERE) + 128
    made = jnp.concatenate([(mouth + 1)[None], offset]).astype(jnp.uint8)
    return Shelter(
        action.astype(jnp.int32),
        closed,
        jnp.maximum(needs.reshape(-1)[chosen], 0),
        possible,
        jnp.where(possible & ~closed, made, np.uint8(0)),
    )


def moved(plan: Array, step: Array) -> Array:
    """A plan, u8[3], after the player has walked `step`, i32[2]."""
    shifted = plan.at[1:].set((plan[1:].astype(jnp.int32) - step).astype(jnp.uint8))
    return jnp.where(plan[0] > 0, shifted, plan)


def _plans(
    sight: Perception, ground: Array, ways: Array, fill: Array, others: Array, held: Array
) -> tuple[Array, Array]:
    """By the side of the mouth and the inner cell, i32[4, 7, 9]: (what a shelter costs there,
    `NOTHING` where there can be none; the stones that it takes)."""
    here = np.zeros(VIEW, bool)
    here[HERE] = True
    rock = sight.cells == rl.STONE
    maps = {
        "seen": jnp.ones(VIEW, bool),
        "enter": ways < FAR,
        "ground": ground,
        "fill": fill,
        "taken": others & ground,
        "here": jnp.asarray(here),
        "rock": rock,
        "steps": (ways >> 3).astype(jnp.int32),
    }
    shifted: dict[tuple[str, int, int], Array] = {}

    def at(name: str, row: int, column: int) -> Array:
        """A map, moved so that each cell gets what lies so many rows and columns away."""
        if (name, row, column) not in shifted:
            there = maps[name]
            for number, ahead, back in ((row, 2, 3), (column, 0, 1)):
                for _ in range(abs(number)):
                    there = beside(there, ahead if number > 0 else back, 0)
            shifted[name, row, column] = there
        return shifted[name, row, column]

    costs, needs = [], []
    for mouth, out in enumerate(rl.DELTAS):
        sides = [rl.DELTAS[side] for side in ASIDE[mouth]]
        leave = 2 * out[0], 2 * out[1]
        walls = [(-out[0], -out[1]), *sides, *((out[0] + r, out[1] + c) for r, c in sides)]
        fits = at("enter", 0, 0) & at("enter", *out) & at("seen", *leave)
        missing, taken, hard = (jnp.zeros(VIEW, jnp.int32) for _ in range(3))
        for wall in walls:
            open_ = at("ground", *wall)
            fits = fits & at("seen", *wall) & (at("fill", *wall) | ~open_)
            lane = jnp.zeros(VIEW, bool)
            for row, column in rl.DELTAS:
                # Where it is laid from, and where that is entered from; standing walls stay.
                cells = [(wall[0] - k * row, wall[1] - k * column) for k in (1, 2)]
                one, two = (at("ground" if cell in walls else "enter", *cell) for cell in cells)
                lane = lane | ((one | ~at("seen", *cells[0])) & (two | ~at("seen", *cells[1])))
            missing = missing + open_
            taken = taken + at("taken", *wall)
            hard = hard + (open_ & ~lane)
        within = at("here", 0, 0) | at("here", *out)
        leaves = at("ground", *leave)
        fits = fits & (within | (leaves & at("fill", *leave))) & (hard == 0)
        digs = (~ground).astype(jnp.int32) + ~at("ground", *out)
        gains = rock.astype(jnp.int32) + at("rock", *out)
        stones = missing + leaves - gains
        short = jnp.maximum(stones - held, 0)
        away = jnp.where(within, 0, at("steps", *leave))
        cost = 8 * missing + 3 * digs + away + 4 * taken + 40 * short
        costs.append(jnp.where(fits, cost, NOTHING))
        needs.append(stones)
    return jnp.stack(costs).astype(jnp.int32), jnp.stack(needs).astype(jnp.int32)


def _build(
    sight: Perception, mined: Mined, mouth: Array, inner: Array, ground: Array, fill: Array
) -> Array:
    """The next action for the shelter of these two cells."""
    deltas, back, aside = jnp.asarray(_DELTAS), jnp.asarray(BACK), jnp.asarray(ASIDE)
    out = deltas[mouth]
    outer, leave = inner + out, inner + 2 * out
    sides = deltas[aside[mouth]]  # [2, 2]
    walls = jnp.concatenate([(inner - out)[None], inner + sides, outer + sides])  # [5, 2]
    own = jnp.asarray(HERE)
    # The walls that stand are left alone.
    cost = entering(sight.cells, sight, swim=False, mined=mined)
    cost = jnp.where(sight.bodies > 0, np.int16(FAR), cost)
    rows, columns = jnp.clip(walls[:, 0], 0, ROWS - 1), jnp.clip(walls[:, 1], 0, COLUMNS - 1)
    stands = ~ground[rows, columns]
    cost = cost.at[rows, columns].max(jnp.where(stands, np.int16(FAR), np.int16(0)))
    free = cost < FAR
    ways = flood(
        jnp.asarray(starts(ROWS, COLUMNS, *HERE)), cost.at[HERE].set(FAR), ROWS * COLUMNS // 2
    )

    def look(maps: Array, spots: Array, outside: int | bool) -> Array:
        rows, columns = spots[..., 0], spots[..., 1]
        seen = (rows >= 0) & (rows < ROWS) & (columns >= 0) & (columns < COLUMNS)
        return jnp.where(seen, maps[rows % ROWS, columns % COLUMNS], outside)

    def is_own(spots: Array) -> Array:
        return jnp.all(spots == own, axis=-1)

    begin = strides(sight, mined)
    # Where no way leads on, any step may show one.
    beside_own = own + deltas
    open_ = look(ground & (sight.bodies == 0), beside_own, False)
    turned = open_ & (np.arange(4) != sight.facing)
    aside_ = jnp.where(jnp.any(turned), jnp.argmax(turned), jnp.argmax(open_))
    stumble = jnp.where(jnp.any(open_), rl.MOVE + aside_, rl.NOOP)
    # A wall is laid from the cell before it, which is entered from the one before that: [5, 4].
    stand = walls[:, None] - deltas[None]
    enter = stand - deltas[None]
    lacks = look(fill, walls, False) & (look(sight.bodies == 0, walls, False) | is_own(walls))
    at_stand, enters = is_own(stand), is_own(enter)
    could = look(free, stand, False) | at_stand
    way = look(ways, enter, FAR).astype(jnp.int32)
    facing = sight.facing == np.arange(4)[None]
    total = jnp.where(enters, 0, jnp.where(way < FAR, way, FAR))
    total = jnp.where(could, total, FAR)
    # What is out of view is approached as the crow flies.
    away = enter - own
    hidden = ~look(jnp.ones(VIEW, bool), enter, False) & (could | ~look(free, stand, True))
    hidden = hidden & (could | ~look(jnp.ones(VIEW, bool), stand, False))
    total = jnp.where(hidden, FAR // 2 + STEP * jnp.sum(jnp.abs(away), axis=-1), total)
    total = jnp.where(at_stand & facing, -1, total)
    total = jnp.where(lacks[:, None], total, FAR)
    best = jnp.argmin(total.reshape(-1))
    least, side = total.reshape(-1)[best], best % 4
    to = away.reshape(-1, 2)[best]
    longer = jnp.abs(to[0]) >= jnp.abs(to[1])
    ahead = jnp.where(to < 0, jnp.array([2, 0]), jnp.array([3, 1]))
    order = jnp.where(longer, ahead, ahead[::-1])
    nearer = jnp.where(look(free, own + deltas[order[0]], False), order[0], order[1])
    crow = look(free, own + deltas[nearer], False) & (jnp.sum(jnp.abs(to)) > 0)
    lay = stride(begin, jnp.where(least == 0, side, least & 7))
    unseen = (least >= FAR // 2) & (least < FAR)
    lay = jnp.where(unseen, jnp.where(crow, stride(begin, nearer), stumble), lay)
    lay = jnp.where(least < 0, _STONE, jnp.where(least < FAR, lay, stumble))
    # All walls stand: in, back, and close the mouth.
    inwards = stride(begin, back[mouth])
    shut = jnp.where(look(sight.bodies > 0, leave, False), rl.DO, _STONE)
    faces = is_own(outer) & (sight.facing == mouth)
    to = look(ways, leave, FAR).astype(jnp.int32)
    go = jnp.where(to < FAR, stride(begin, to & 7), stumble)
    go = jnp.where(is_own(leave) | is_own(outer), inwards, go)
    go = jnp.where(is_own(inner), stride(begin, mouth), go)
    go = jnp.where(faces, shut, go)
    return jnp.where(jnp.any(look(ground, walls, False)), lay, go)
