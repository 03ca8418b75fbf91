"""Where a host-side player of CraftWorld closes itself in for the night, and how.

A player turns by walking: it cannot close the cell that it has come from. So a refuge has two cells
in a row (`envs/craftworld/shelter.py` says more). The player chooses one among the cells that it
knows and keeps to it: it digs the two cells where there is rock, lays the walls that are missing
from wherever it comes to face them, walks in, turns round by a step out, and lays the last stone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from manyhands.baselines.bots.craftworld_atlas import NEVER, Atlas
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.observe import PLAYER

ACROSS = ((2, 3), (2, 3), (0, 1), (0, 1))  # the directions across each of `rules.FACINGS`
ROOM = 4  # cells within which one counts as closed in
FLIGHT = 12  # cells over which arrows are feared
FLYABLE = (*rl.WALKABLE, rl.WATER, rl.LAVA)  # what arrows fly over
FILLED = (rl.GRASS, rl.SAND, rl.PATH, rl.WATER)  # what stones are laid on
# What a refuge costs: a wall to lay, a cell to dig, a cell of the building site in its way.
WALL, DIG, HARM = 5, 2, 6
LACK = 8  # and a stone that is to be found first
NEAR = 12  # steps from which one looks for a way to lay a wall
AROUND = 40  # the price of the way to a refuge, at most


@dataclass(frozen=True)
class Refuge:
    """Two cells in a row; `mouth` is the one before the `outer` one, `walls` are those around."""

    inner: int
    outer: int
    mouth: int
    walls: tuple[int, ...]


def exposed(atlas: Atlas, cell: int, step: int) -> bool:
    """Whether an arrow may come through a cell against a direction: skeletons live on paths."""
    for _ in range(FLIGHT):
        code = atlas.code(cell)
        if code == rl.PATH or atlas.bodies.get(cell) in (rl.SKELETON, rl.ARROW):
            return True
        if code not in FLYABLE:
            return False
        cell += step
    return False


def is_gap(atlas: Atlas, cell: int, step: int) -> bool:
    """Whether something comes in through a cell, seen from inside in a direction."""
    code = atlas.code(cell)
    if code in (rl.WATER, rl.LAVA):
        return exposed(atlas, cell, step)
    return code in rl.WALKABLE or code < 0


def is_closed(atlas: Atlas) -> bool:
    """Whether nothing can come to the player, who has little room."""
    room, edge = {atlas.at}, [atlas.at]
    while edge:
        cell = edge.pop()
        for step in atlas.steps:
            to = cell + step
            if to in room or not is_gap(atlas, to, step):
                continue
            body = atlas.bodies.get(to, 0)
            if atlas.code(to) not in rl.WALKABLE or 0 < body < PLAYER or len(room) == ROOM:
                return False
            room.add(to)
            edge.append(to)
    return True


def gaps(atlas: Atlas, refuge: Refuge) -> set[int]:
    """The walls that are still missing."""
    return {
        wall
        for wall in refuge.walls
        if any(
            wall - step in (refuge.inner, refuge.outer) and is_gap(atlas, wall, step)
            for step in atlas.steps
        )
    }


def choose(
    atlas: Atlas,
    prices: list[int],
    special: Mapping[int, int],
    stones: int,
    plan: Mapping[int, int],
    refused: Mapping[int, int],
) -> tuple[Refuge | None, int]:
    """(the best refuge that the stones suffice for, how many stones the best one of all takes: 0
    where there is none).

    Args:
        prices, special: what entering cells costs.
        stones: how many the player holds.
        plan: cells that are to be built -> what with, 1 + the material.
        refused: inner cells of refuges that came to nothing.
    """
    costs = {atlas.at: 0}
    for cell, price, _ in atlas.spread(prices, special, 400):
        if price > AROUND:
            break
        costs[cell] = price
    mates = {cell for cell, body in atlas.bodies.items() if body >= PLAYER}
    fit: tuple[int, Refuge] | None = None
    more: tuple[int, Refuge, int] | None = None
    for inner, price in costs.items():
        if fit is not None and price > fit[0] + DIG * DIG:
            break  # the cells come by the price of the way to them
        if inner in refused or inner in mates:
            continue
        for way, step in enumerate(atlas.steps):
            outer = inner + step
            if outer not in costs or outer in mates:
                continue
            mouth, across = outer + step, [atlas.steps[side] for side in ACROSS[way]]
            sides = (inner - step, *(c + a for c in (inner, outer) for a in across))
            refuge = Refuge(inner, outer, mouth, sides)
            found = _judge(atlas, refuge, costs, mates, plan)
            if found is None:
                continue
            cost, takes = found
            if takes <= stones and (fit is None or cost < fit[0]):
                fit = cost, refuge
            cost += LACK * max(takes - stones, 0)
            if more is None or cost < more[0]:
                more = cost, refuge, takes
    return None if fit is None else fit[1], 0 if more is None else more[2]


def _judge(
    atlas: Atlas,
    refuge: Refuge,
    costs: Mapping[int, int],
    mates: set[int],
    plan: Mapping[int, int],
) -> tuple[int, int] | None:
    """(cost, stones that it takes) of a refuge; None where there can be none."""
    inner, outer, mouth = refuge.inner, refuge.outer, refuge.mouth
    within = atlas.at in (inner, outer)
    ahead = atlas.code(mouth)
    opens = is_gap(atlas, mouth, mouth - outer)
    if opens and ahead not in FILLED:
        return None
    if not within and (ahead not in rl.WALKABLE or mouth not in costs):
        return None
    missing = gaps(atlas, refuge)
    if any(atlas.code(wall) not in FILLED or wall in mates for wall in missing):
        return None
    if any(not _lane(atlas, wall, refuge) for wall in missing if atlas.code(wall) != rl.WATER):
        return None
    digs = [cell for cell in (inner, outer) if atlas.code(cell) not in rl.WALKABLE]
    gain = sum(atlas.code(cell) == rl.STONE for cell in digs)
    laid = len(missing) + opens
    wanted = rl.STONE + 1
    harm = sum(plan.get(cell, wanted) != wanted for cell in missing)
    harm += sum(plan.get(cell) == wanted for cell in digs)
    cost = WALL * laid + DIG * len(digs) + HARM * harm
    cost += 0 if within else costs[mouth]
    return cost, max(laid - gain, 0, *(atlas.code(cell) == rl.WATER for cell in digs))


def _lane(atlas: Atlas, wall: int, refuge: Refuge) -> bool:
    """Whether one can come to face a wall that is missing."""
    own = (refuge.inner, refuge.outer)
    for step in atlas.steps:
        lane = (wall - step, wall - 2 * step)
        if all(cell in own or atlas.code(cell) in rl.WALKABLE for cell in lane):
            return True
    return False


def next_step(
    atlas: Atlas, refuge: Refuge, prices: list[int], special: Mapping[int, int], stones: int
) -> tuple[str, int] | None:
    """What to do next for a refuge: ("go", direction), ("dig", 0) what is ahead, ("lay", 0) a stone
    there, or ("wait", 0); None where no way leads on. `stones`: how many the player holds."""
    missing = gaps(atlas, refuge)
    solid = {wall: NEVER for wall in refuge.walls if wall not in missing}
    special = {**special, **solid}
    targets, stands = (missing, None) if missing else ({refuge.mouth}, {refuge.outer})
    digs = {cell for cell in (refuge.inner, refuge.outer) if atlas.code(cell) == rl.STONE}
    if missing and not stones and digs:
        # The stones for the walls come from within.
        targets = digs
        if atlas.front in digs:
            return "dig", 0
    if atlas.front in targets and (stands is None or atlas.at in stands):
        if atlas.bodies.get(atlas.front, 0):
            return "wait", 0
        return "lay", 0
    gap = atlas.gap(atlas.at, refuge.outer)
    found = atlas.facing_way(targets, prices, special, 60, stands) if gap <= NEAR else None
    if found is not None:
        return "go", found[0]
    way = atlas.route(prices, lambda cell: cell == refuge.mouth, special)
    return None if way is None or gap <= 2 else ("go", way[2])
