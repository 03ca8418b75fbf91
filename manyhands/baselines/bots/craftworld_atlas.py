"""What a host-side player of CraftWorld keeps: the map as it has seen it, where everybody is, and
the ways that lead over it.

Cells are numbered in one row of bytes, `row * width + column`; the map is so large that a player
may begin anywhere on it. Whether it has walked a player concludes from what it sees.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.setting import MATE, UNKNOWN, Setting
from manyhands.envs.craftworld.state import HERE, VIEW

ROWS, COLUMNS = VIEW
UNSEEN = 0  # of the map; else 1 + the material
NEVER = 1 << 20  # the price of a cell that cannot be entered


@dataclass
class Mate:
    """Another player, as far as one knows: `at` is its cell, -1 where that is unknown."""

    index: int
    at: int = -1
    alive: int = UNKNOWN
    asleep: bool = False
    facing: int = 0
    health: int = 9
    food: int = 9
    request: int = 0
    left: int = 0


@dataclass
class Atlas:
    """A player's knowledge, which `look` brings up to date.

    Attributes:
        cells: 1 + the material of each cell when it was last in view, `UNSEEN` elsewhere.
        at, facing: where the player is.
        bodies: cell -> code of `Perception.bodies`, of what is in view.
        cows: cell -> the step in which a cow was last seen there.
        mates: the others, by index.
        origin: a cell that all players know by the same words, -1 for none.
        site: the top left cell of the building site, -1 where that is unknown.
    """

    world: Setting
    index: int
    width: int = field(init=False)
    cells: bytearray = field(init=False)
    at: int = field(init=False)
    bodies: dict[int, int] = field(default_factory=dict)
    cows: dict[int, int] = field(default_factory=dict)
    mates: dict[int, Mate] = field(default_factory=dict)
    origin: int = -1
    site: int = -1
    facing: int = 0

    def __post_init__(self) -> None:
        height, self.width = (2 * side + 12 for side in (self.world.height, self.world.width))
        edge = bytes([rl.VOID + 1])
        inner = edge * 2 + bytes(self.width - 4) + edge * 2
        self.cells = bytearray(edge * self.width * 2 + inner * (height - 4) + edge * self.width * 2)
        self.at = height // 2 * self.width + self.width // 2
        self.steps = [row * self.width + column for row, column in rl.DELTAS]
        self.corner = -HERE[0] * self.width - HERE[1]
        others = (j for j in range(self.world.num_players) if j != self.index)
        self.mates = {j: Mate(j) for j in others}

    def place(self, row: int, column: int) -> int:
        """The cell at a distance from the player."""
        return self.at + row * self.width + column

    def gap(self, a: int, b: int) -> int:
        """Steps between two cells, as the crow flies."""
        (r, c), (y, x) = divmod(a, self.width), divmod(b, self.width)
        return abs(r - y) + abs(c - x)

    def code(self, cell: int) -> int:
        """The material of a cell, -1 where it was never seen."""
        return self.cells[cell] - 1

    @property
    def front(self) -> int:
        return self.at + self.steps[self.facing]

    # ---- seeing -------------------------------------------------------------------------------

    def look(self, row: np.ndarray, step: int, moving: bool) -> None:
        """Take in a row of `perceive`. `moving`: whether the player meant to walk to a cell that
        was free."""
        parts = self.world.layout
        seen = (row[parts["cells"]] + 1).tobytes()
        self.facing = int(row[parts["facing"]][0])
        others = row[parts["teammates"]].reshape(-1, MATE).tolist() if self.mates else []
        if moving and self._moved(seen, others):
            self.at += self.steps[self.facing]
        top = self.at + self.corner
        for r in range(ROWS):
            start = top + r * self.width
            self.cells[start : start + COLUMNS] = seen[r * COLUMNS : (r + 1) * COLUMNS]
        self.bodies = {}
        found = row[parts["bodies"]]
        for k in np.flatnonzero(found).tolist():
            cell = top + k // COLUMNS * self.width + k % COLUMNS
            if cell != self.at:
                self.bodies[cell] = int(found[k])
        for cell in [c for c in self.cows if self.in_view(c) or step - self.cows[c] > 200]:
            del self.cows[cell]
        for cell, body in self.bodies.items():
            if body == rl.COW:
                self.cows[cell] = step
        for mate, facts in zip(self.mates.values(), others, strict=True):
            down, right, mate.alive, asleep, mate.facing, *rest = facts
            mate.asleep, (mate.health, mate.food, mate.request, mate.left, _) = bool(asleep), rest
            known = mate.alive not in (rl.DEAD, UNKNOWN)
            mate.at = self.place(down - 128, right - 128) if known else -1
        self._find_origin(row, step)

    def in_view(self, cell: int) -> bool:
        row, column = divmod(cell, self.width)
        here = divmod(self.at, self.width)
        return abs(row - here[0]) <= HERE[0] and abs(column - here[1]) <= HERE[1]

    def _moved(self, seen: bytes, others: list[list[int]]) -> bool:
        """Whether the view is rather that from the next cell; another player may have been quicker
        to enter it."""
        odd = [0, 0]
        for moved in (0, 1):
            here = self.at + moved * self.steps[self.facing]
            for r in range(ROWS):
                start = here + self.corner + r * self.width
                old, new = self.cells[start : start + COLUMNS], seen[r * COLUMNS :][:COLUMNS]
                if old != new:
                    odd[moved] += sum(a != b and a != UNSEEN for a, b in zip(old, new, strict=True))
            for mate, (down, right, alive, *rest) in zip(self.mates.values(), others, strict=True):
                if alive in (rl.DEAD, UNKNOWN) or mate.at < 0:
                    continue
                now = here + (down - 128) * self.width + right - 128
                if now not in (mate.at, mate.at + self.steps[rest[1]]):
                    odd[moved] += 3
        return odd[1] <= odd[0]

    def _find_origin(self, row: np.ndarray, step: int) -> None:
        """What all know by the same words: the building site, if all are told of it, the map's
        corner with a compass, or where player 0 began, if that is in view."""
        parts, world = self.world.layout, self.world
        known = bool(row[parts["goal"]][0])
        if known:
            down, right = row[parts["site"]].tolist()
            self.site = self.place(down - 128, right - 128)
        if known and world.told == "all":
            self.origin = self.site
        elif world.compass:
            down, right = row[parts["position"]].tolist()
            self.origin = self.place(-down, -right)
        elif step == 0:
            self.origin = self.at if self.index == 0 else self.mates[0].at

    # ---- ways ---------------------------------------------------------------------------------

    def spread(
        self, prices: list[int], special: Mapping[int, int], most: int = 4000
    ) -> Iterator[tuple[int, int, int]]:
        """(cell, price, direction to begin with) of the cells that can be entered, the cheapest
        first.

        Args:
            prices: of entering cells, by what `cells` holds.
            special: of single cells, which go before.
            most: how many cells are looked at.
        """
        cells, steps, start = self.cells, self.steps, self.at
        best, begin = {start: 0}, {start: -1}
        queue: list[list[int]] = [[start]]
        price = looked = 0
        size = len(cells)
        while price < len(queue) and looked < most:
            for cell in queue[price]:
                if best[cell] != price:
                    continue
                looked += 1
                if cell != start:
                    yield cell, price, begin[cell]
                for way, step in enumerate(steps):
                    to = cell + step
                    if not 0 <= to < size:
                        continue
                    cost = special.get(to)
                    if cost is None:
                        cost = prices[cells[to]]
                    if cost >= NEVER:
                        continue
                    total = price + cost
                    if total < best.get(to, NEVER):
                        best[to] = total
                        begin[to] = way if cell == start else begin[cell]
                        while len(queue) <= total:
                            queue.append([])
                        queue[total].append(to)
            price += 1

    def route(
        self,
        prices: list[int],
        done: Callable[[int], bool],
        special: Mapping[int, int],
        most: int = 4000,
    ) -> tuple[int, int, int] | None:
        """The first of `spread` that is `done`."""
        return next((found for found in self.spread(prices, special, most) if done(found[0])), None)

    def facing_way(
        self,
        targets: Collection[int],
        prices: list[int],
        special: Mapping[int, int],
        most: int = 40,
        stands: Container[int] | None = None,
    ) -> tuple[int, bool] | None:
        """(direction, whether to go through what is there) to begin with, to face one of some cells
        in the end: one turns by walking, or against what cannot be entered. (-1, False) if it is
        faced; None if there is no way of at most so many steps. `stands`: the cells from which one
        may face it."""
        cells, steps, bodies = self.cells, self.steps, self.bodies
        start = (self.at, self.facing)
        best = {start: 0}
        begin = {start: (-1, False)}
        queue: list[list[tuple[int, int]]] = [[start]]
        price = 0
        while price < len(queue) and price <= most:
            for state in queue[price]:
                if best[state] != price:
                    continue
                cell, facing = state
                if cell + steps[facing] in targets and (stands is None or cell in stands):
                    return begin[state]
                for way, step in enumerate(steps):
                    to = cell + step
                    if cells[to] - 1 == rl.LAVA or to in bodies:
                        continue
                    cost = special.get(to)
                    cost = prices[cells[to]] if cost is None else cost
                    after = [] if cost == 1 else [((cell, way), 1, False)]
                    if to not in targets and cost < NEVER:
                        after.append(((to, way), 1 if cost == 1 else cost + 1, cost > 1))
                    if to in targets and cost == 1:
                        after.append(((to, way), 1, False))
                    for new, more, through in after:
                        total = price + more
                        if total < best.get(new, NEVER):
                            best[new] = total
                            begin[new] = (way, through) if state == start else begin[state]
                            while len(queue) <= total:
                                queue.append([])
                            queue[total].append(new)
            price += 1
        return None

    def lanes(self, target: int, prices: list[int], walls: Container[int]) -> int:
        """From how many sides a cell can be faced, once there are these walls."""
        found = 0
        for step in self.steps:
            lane = (target - step, target - 2 * step)
            found += all(cell not in walls and prices[self.cells[cell]] <= 2 for cell in lane)
        return found
