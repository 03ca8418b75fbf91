"""The fewest steps to a kitchen's first delivery, by search under the real rules.

`first_delivery` asks of T = lower bound, lower bound + 1, ...: is there a joint plan that delivers
an ordered soup within T steps? A plan cooks one recipe in one pot, so each pair is asked for.
The search goes through the joint states layer by layer (layer t holds every state that can be
reached in t steps) and drops what cannot deliver by T according to bounds that no plan beats.

What keeps the states few, and loses no plan: only the ingredients of the one soup and one dish
are ever picked up (in a plan that does more, the idle pick-ups can be replaced by staying), facing
matters only towards something useful, and a plan within T also loads the pot in time without its
dish, so the dish is left out until the pot is loaded, unless the soup then comes too late.

Where a layer outgrows its limit only its most promising states are followed. A plan that is found
then is still a plan, so an upper bound; but that there is none below is no longer proved.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from manyhands.core.env import ConfigError
from manyhands.envs.kitchen.levels import (
    COUNTER,
    DIRECTIONS,
    DISHES,
    FLOOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    VOID,
    Cell,
    Level,
    Recipe,
    solvable,
)

FAR = 10_000  # steps; more than any distance
EMPTY, ONION, TOMATO, DISH, SOUP = range(5)  # hands
LOADED, TAKEN, COOKING = 0, 15, 16  # pot: 4 * onions + tomatoes missing; 16 + steps left
STAY, INTERACT = 4, 5


@dataclass(frozen=True)
class FirstDelivery:
    """Bounds on the steps until the first delivery, the delivering step counted.

    Attributes:
        lower: no plan of all chefs is shorter.
        upper: a plan of this length exists; None if none was found.
    """

    lower: int
    upper: int | None

    @property
    def exact(self) -> bool:
        return self.lower == self.upper


def first_delivery(
    level: Level, dynamics: str = "classic", *, effort: int = 200_000
) -> FirstDelivery:
    """The fewest steps in which the chefs, working together, can deliver an ordered soup.

    The rules are the environment's, for all chefs at once: interactions in player order before
    movement, nobody moves where two would collide, cooking by the clock. With one or two chefs
    the answer is exact unless the search runs into its limits, which large kitchens can make it
    do; with three and more, the lower bound lets chefs walk through each other, and the upper
    bound is a plan of the best two (or as few as can do it), the others standing still.

    Args:
        dynamics: "classic" (cooking starts with the third ingredient) or "manual".
        effort: how many joint states may be followed in all before limits set in.
    """
    if dynamics not in ("classic", "manual"):
        raise ConfigError(f"dynamics is 'classic' or 'manual'; got {dynamics!r}")
    jobs = [
        (pot, recipe)
        for pot in level.cells(POT)
        for recipe in level.orders
        if dynamics == "manual" or sum(recipe) == 3
    ]
    if not jobs:
        raise ConfigError("classic dynamics cook three ingredients; no order has three")
    if level.chefs <= 2:
        return _best([_Search(level, *job, dynamics) for job in jobs], effort)
    lower = min(_Search(level, *job, dynamics).root_bound() for job in jobs)
    upper: int | None = None
    for size in range(2, level.chefs + 1):
        teams = []
        for team in itertools.combinations(range(level.chefs), size):
            terrain = level.terrain.copy()
            for player, (x, y) in enumerate(level.starts):
                if player not in team:
                    terrain[y, x] = VOID
            part = replace(level, terrain=terrain, starts=tuple(level.starts[p] for p in team))
            if solvable(part):
                searches = [_Search(part, *job, dynamics) for job in jobs]
                teams.append((min(search.root_bound() for search in searches), team, searches))
        for bound, _, searches in sorted(teams, key=lambda entry: entry[:2])[:3]:
            if upper is None or bound < upper:
                found = _best(searches, effort // 6 ** (size - 1)).upper
                upper = min((b for b in (upper, found) if b is not None), default=None)
        if upper is not None:
            break
    return FirstDelivery(lower, upper)


def _best(searches: list[_Search], effort: int) -> FirstDelivery:
    """The best of several searches: exact while none is cut short, then a beam for the rest."""
    lower = min(search.root_bound() for search in searches)
    if lower >= FAR:
        return FirstDelivery(lower, None)
    while True:
        answers = []
        for search in searches:
            answer, effort = search.within(lower, effort)
            if answer is True:
                return FirstDelivery(lower, lower)
            answers.append(answer)
        if None in answers:
            break
        lower += 1
    # Too many states to decide `lower`: plans that need not be the shortest, from narrow beams.
    for slack in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        found = [search.beam(lower + slack) for search in searches]
        steps = [number for number in found if number is not None]
        if steps:
            return FirstDelivery(lower, min(steps))
    return FirstDelivery(lower, None)


class _Search:
    """Plans that cook one recipe in one pot.

    A *stand* is a floor cell with the target that the chef on it faces: a counter, or a station
    that this recipe needs, or none (-1). Rows of a layer (i16[columns, states]): the chefs'
    stands, their hands, the pot, then for each ingredient and for the dish (the soup, once it is
    taken from the pot) the counter that it lies on plus one, or 0.
    """

    def __init__(self, level: Level, pot: Cell, recipe: Recipe, dynamics: str):
        self.n, self.recipe, self.manual = level.chefs, recipe, dynamics == "manual"
        self.time = level.times[recipe]
        wanted = {COUNTER, DISHES, SERVING}
        wanted |= {code for code, count in zip((ONIONS, TOMATOES), recipe, strict=True) if count}
        floor = level.cells(FLOOR)
        number = {cell: i for i, cell in enumerate(floor)}
        targets: dict[Cell, int] = {}
        stands: dict[tuple[int, int], int] = {(i, -1): i for i in range(len(floor))}
        faces = np.full((len(floor), 4), -1)
        for i, (x, y) in enumerate(floor):
            for d, (dx, dy) in enumerate(DIRECTIONS):
                cell = (x + dx, y + dy)
                if cell == pot or level.terrain[cell[1], cell[0]] in wanted:
                    faces[i, d] = targets.setdefault(cell, len(targets))
                    stands.setdefault((i, faces[i, d]), len(stands))
        self.cell = np.array([i for i, _ in stands], np.int16)
        self.target = np.array([target for _, target in stands], np.int16)
        self.kind = np.array([level.terrain[y, x] for x, y in targets], np.int16)
        self.kind = np.append(self.kind, VOID)  # for target -1
        # By stand and action: the cell aimed at, and the stand if the move is made, or is not.
        self.aim = np.repeat(self.cell[:, None], 6, 1)
        self.moved = np.repeat(np.arange(len(stands), dtype=np.int16)[:, None], 6, 1)
        self.turned = self.moved.copy()
        for (i, _), s in stands.items():
            for d, (dx, dy) in enumerate(DIRECTIONS):
                self.turned[s, d] = stands[i, faces[i, d]]
                there = number.get((floor[i][0] + dx, floor[i][1] + dy))
                self.moved[s, d] = self.turned[s, d]
                if there is not None:
                    self.aim[s, d], self.moved[s, d] = there, stands[there, faces[there, d]]
        start = [stands[number[cell], faces[number[cell], 0]] for cell in level.starts]
        blank = [0] * (self.n + sum(recipe) + 1)
        column = [*start, *blank]
        column.insert(2 * self.n, 4 * recipe[0] + recipe[1])
        self.root = np.array(column, np.int16)[:, None]
        if pot not in targets or not wanted <= {*self.kind.tolist(), COUNTER}:
            self.possible = False
            return
        self.possible = True
        self._measure(targets[pot], start)

    # ---- distances that no plan beats ------------------------------------------------------------

    def _measure(self, pot: int, start: list[int]) -> None:
        n, stands, targets = self.n, len(self.cell), len(self.kind) - 1
        # Steps from a stand until a target is faced; chefs walk through each other.
        face = np.where(self.target[:, None] == np.arange(targets), 0, FAR)
        while True:
            better = np.minimum(face, face[self.moved[:, :4]].min(1) + 1)
            if (better == face).all():
                break
            face = better
        hop = np.stack([face[self.target == t].min(0) for t in range(targets)])  # between targets
        kind = self.kind[:-1]
        counters = np.flatnonzero(kind == COUNTER)
        sources = np.flatnonzero((kind == ONIONS) | (kind == TOMATOES))
        dishes, windows = np.flatnonzero(kind == DISHES), np.flatnonzero(kind == SERVING)
        self.face = face
        # Steps from holding something at a stand (by chef) or having it on a counter until it is
        # in the pot, or served, if chefs wait at counters to take it over. A chef of higher number
        # can take it in the very step in which it is put down.
        self.to_pot, self.pot_from = self._relay(np.array([pot]), start)
        self.to_window, self.window_from = self._relay(windows, start)
        self.carry = int(self.window_from[:, pot].min())
        self.dish_first = np.stack(
            [(face[:, dishes] + 1 + self.pot_from[i, dishes]).min(1, initial=FAR) for i in range(n)]
        )
        # A chef's own next ingredient into the pot: held; else fetched from a dispenser; else from
        # a counter, where some other chef has to put it first. [own hand full, own stand] and
        # [own index, other's hand full, own stand, other's stand].
        self.put_held = face[:, pot] + 1
        direct = (face[:, sources] + 1 + hop[sources, pot] + 1).min(1, initial=FAR)
        on_counter = (face[:, counters] + 1 + hop[counters, pot] + 1).min(1, initial=FAR)
        self.put_any = np.minimum(direct, on_counter)
        if n == 2:
            fetch = [
                (face[:, sources] + 1 + hop[sources, c] + 1).min(1, initial=FAR) for c in counters
            ]
            self.put_next = np.empty((2, 2, stands, stands), np.int16)
            for me, full in itertools.product(range(2), range(2)):
                best = np.repeat(direct[:, None], stands, 1)
                for c, fetched in zip(counters, fetch, strict=True):
                    there = (face[:, c] + 1 if full else fetched) + (1 if me == 0 else 0)
                    meet = np.maximum(face[:, c, None] + 1, there[None, :])
                    best = np.minimum(best, meet + hop[c, pot] + 1)
                self.put_next[me, full] = np.minimum(best, FAR)
        around = np.concatenate([sources, counters])
        self.put_cycle = int((hop[pot, around] + hop[around, pot]).min() + 2)
        # Fetching from dispensers, likewise: with free hands, or when something has to go first.
        sinks = np.append(counters, pot)
        take = face[:, sources].min(1, initial=FAR) + 1
        drop = (face[:, sinks] + 1 + hop[sinks][:, sources].min(1, initial=FAR) + 1).min(1)
        self.take_next = np.stack([take, drop])
        self.take_cycle = int(
            (hop[np.ix_(sources, sinks)] + hop[np.ix_(sinks, sources)].T).min(initial=FAR) + 2
        )
        self.brought = int(self.pot_from[:, sources].min(initial=FAR))
        # The height of a cell: moves to the pot, where crossing a counter counts as one. Carrying
        # is the only way down for an ingredient, and the carriers have to climb back.
        cells = int(self.cell.max()) + 1
        near = np.zeros((targets, cells), bool)
        seen = self.target >= 0
        near[self.target[seen], self.cell[seen]] = True
        height = np.where(near[pot], 0, FAR)
        while True:
            better = height.copy()
            for action in range(4):
                np.minimum.at(better, self.cell, height[self.aim[:, action]] + 1)
            for c in counters:
                better[near[c]] = np.minimum(better[near[c]], height[near[c]].min() + 1)
            if (better == height).all():
                break
            height = better
        self.height = np.minimum(height, FAR)[self.cell]
        self.low = np.array([height[near[t]].min(initial=FAR) for t in range(targets)])
        self.source_height = int(self.low[sources].min(initial=FAR))

    def _relay(self, ends: np.ndarray, start: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Steps until something held is put into one of `ends`: [chef, stand], and, right after
        that chef took it from a target: [chef, target]. Stands in other rooms are `FAR`."""
        n, targets = self.n, len(self.kind) - 1
        room = np.zeros((n, len(self.cell)), bool)
        room[np.arange(n), start] = True
        while True:
            wider = room.copy()
            for action in range(4):
                for i in range(n):
                    wider[i, self.moved[room[i], action]] = True
            if (wider == room).all():
                break
            room = wider
        held = np.where(np.isin(self.target, ends) & room, 1, FAR)
        taken = np.full((n, targets), FAR)
        counter = self.kind[self.target] == COUNTER
        later = np.array([[0 if j > i else 1 for j in range(n)] for i in range(n)])
        while True:
            for t in range(targets):
                taken[:, t] = held[:, self.target == t].min(1)
            # From i's hands over a counter into j's.
            over = np.stack([(taken + later[i][:, None]).min(0) for i in range(n)])
            better = np.minimum(held, held[:, self.moved[:, :4]].min(2) + 1)
            better[:, counter] = np.minimum(better[:, counter], over[:, self.target[counter]] + 1)
            better = np.where(room, np.minimum(better, FAR), FAR)
            if (better == held).all():
                return held, taken
            held = better

    def bound(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps to delivery that no plan from these states beats; the same were the dish there in
        time; and a guide through states that are equal in that: the work left until the pot is
        loaded, then the way of the dish."""
        n = self.n
        stands, hands, pot = rows[:n], rows[n : 2 * n], rows[2 * n]
        slots, plate = rows[2 * n + 1 : -1], rows[-1]
        size = rows.shape[1]
        taken, cooking = pot == TAKEN, pot >= COOKING
        missing = np.where(taken | cooking, 0, (pot >> 2) + (pot & 3))

        # The dish, or the soup: in hand, on a counter, still in the dispenser.
        dish = np.full(size, FAR)
        soup = np.full(size, FAR)
        lying = plate > 0
        for i in range(n):
            reach = self.face[stands[i], plate - 1] + 1
            dish = np.minimum(
                dish,
                np.where(lying, reach + self.pot_from[i, plate - 1], self.dish_first[i, stands[i]]),
            )
            soup = np.minimum(soup, np.where(lying, reach + self.window_from[i, plate - 1], FAR))
        for i in range(n):
            dish = np.where(hands[i] == DISH, self.to_pot[i, stands[i]], dish)
            soup = np.where(hands[i] == SOUP, self.to_window[i, stands[i]], soup)

        # The last ingredient.
        carried = (hands == ONION) | (hands == TOMATO)
        placed = (slots > 0).sum(0)
        unborn = missing - carried.sum(0) - placed
        first = np.empty((n, size), np.int64)
        fetch = np.empty((n, size), np.int64)
        for i in range(n):
            if n == 1:
                free = self.put_any[stands[0]]
            elif n == 2:
                free = self.put_next[i, carried[1 - i].astype(int), stands[i], stands[1 - i]]
                free = np.where(placed > 0, self.put_any[stands[i]], free)
            else:
                free = self.put_any[stands[i]]
            first[i] = np.where(carried[i], self.put_held[stands[i]], free)
            fetch[i] = self.take_next[(hands[i] > 0).astype(int), stands[i]]
        loaded = _shared(first, self.put_cycle, missing)
        loaded = np.maximum(
            loaded,
            np.where(unborn > 0, _shared(fetch, self.take_cycle, unborn) + self.brought, 0),
        )
        climb = 2 * np.where(carried, self.height[stands], 0) + carried
        work = climb.sum(0) + unborn * (2 * self.source_height + 2)
        work = work - self.height[stands].sum(0)
        for slot in slots:
            work = work + np.where(slot > 0, 2 * self.low[slot - 1] + 2, 0)
        loaded = np.maximum(loaded, np.where(missing > 0, -(-work // n), 0))
        start = loaded + self.time
        if self.manual:  # someone's empty hands start the pot, perhaps in the same step
            start = np.where(missing > 0, start + (1 if n == 1 else 0), start + 1)
            start = np.where((missing == 0) & ~cooking, self.time + 1, start)
        ready = np.where(cooking, pot - COOKING + 1, start)
        steps = np.where(taken, soup, np.maximum(ready, dish) + self.carry)
        plated = np.where(taken, soup, ready + self.carry)
        guide = np.where(missing > 0, work, np.where(taken, 0, dish) - FAR)
        return np.minimum(steps, FAR), np.minimum(plated, FAR), guide

    def _next_job(self, rows: np.ndarray, guide: np.ndarray) -> np.ndarray:
        """How far the next ingredient is from the pot, few missing ones first: following this
        alone may be slow but does not get stuck. From then on, `guide`."""
        n = self.n
        stands, hands, pot = rows[:n], rows[n : 2 * n], rows[2 * n]
        missing = np.where(pot < TAKEN, (pot >> 2) + (pot & 3), 0)
        slots = rows[2 * n + 1 : -1]
        carried = (hands == ONION) | (hands == TOMATO)
        unborn = missing - carried.sum(0) - (slots > 0).sum(0)
        near = np.full(rows.shape[1], FAR)
        for i in range(n):
            near = np.where(carried[i], np.minimum(near, self.to_pot[i, stands[i]]), near)
            fetch = self.take_next[(hands[i] > 0).astype(int), stands[i]] + self.brought
            near = np.where(unborn > 0, np.minimum(near, fetch), near)
            for slot in slots:
                way = self.face[stands[i], slot - 1] + 1 + self.pot_from[i, slot - 1]
                near = np.where(slot > 0, np.minimum(near, way), near)
        return np.where(missing > 0, missing * FAR + near, guide)

    def root_bound(self) -> int:
        return int(self.bound(self.root)[0][0]) if self.possible else FAR

    # ---- the search ------------------------------------------------------------------------------

    def within(self, limit: int, effort: int) -> tuple[bool | None, int]:
        """Whether a plan of at most `limit` steps exists (None: not decided), and effort left."""
        if self.root_bound() > limit:
            return False, effort
        cut = False
        for early in (False, True):
            found, loaded, complete, effort = self._layers(limit, early, effort)
            if found is not None:
                return True, effort
            if complete and not loaded:
                return False, effort  # not even the ingredients alone come in time
            cut = not complete
        return (None if cut else False), effort

    def beam(self, limit: int) -> int | None:
        """The length of some plan of at most `limit` steps, if a narrow search finds one."""
        if self.root_bound() > limit:
            return None
        return self._layers(limit, False, 0)[0]  # with time enough, the dish can wait

    def _layers(self, limit: int, early: bool, effort: int) -> tuple[int | None, bool, bool, int]:
        """(steps of a plan, whether the pot was ever loaded, whether nothing was cut, effort)."""
        narrow = 60_000 // 6**self.n
        rows, loaded, complete = self.root, False, True
        for step in range(1, limit + 1):
            rows, delivered = self._expand(rows, early)
            if delivered:
                return step, True, complete, effort
            rows = _distinct(rows)
            steps, plated, guide = self.bound(rows)
            pot = rows[2 * self.n]
            full = (pot == LOADED) | (pot >= TAKEN)
            loaded = loaded or bool((full & (step + plated <= limit)).any())
            if not early:  # the dish must not decide whether the ingredients come in time
                steps = np.where(full, steps, plated)
            keep = step + steps <= limit
            rows, steps, guide = rows[:, keep], steps[keep], guide[keep]
            if not rows.shape[1]:
                break
            if rows.shape[1] > max(effort, narrow):
                complete = False
                best = np.lexsort((guide, steps))[: narrow // 2]
                next_best = np.lexsort((steps, self._next_job(rows, guide)))[: narrow // 2]
                rows = rows[:, np.union1d(best, next_best)]
            effort = max(effort - rows.shape[1], 0)
        return None, loaded, complete, effort

    def _expand(self, rows: np.ndarray, early: bool) -> tuple[np.ndarray, bool]:
        """All states one step on; whether a soup was delivered."""
        n, after, delivered = self.n, [], False
        facing = self.target[rows[:n]] >= 0
        for actions in itertools.product(range(6), repeat=n):
            busy = [i for i in range(n) if actions[i] == INTERACT]
            new = rows[:, facing[busy].all(0)] if busy else rows.copy()
            for i in busy:
                delivered |= self._interact(new, i, early)
            stands = new[:n].copy()
            aims = [self.aim[stands[i], actions[i]] for i in range(n)]
            cells = self.cell[stands]
            clash = np.zeros(new.shape[1], bool)
            for i, j in itertools.combinations(range(n), 2):
                clash |= aims[i] == aims[j]
                clash |= (aims[i] == cells[j]) & (aims[j] == cells[i])
            for i in range(n):
                if actions[i] < STAY:
                    new[i] = np.where(
                        clash,
                        self.turned[stands[i], actions[i]],
                        self.moved[stands[i], actions[i]],
                    )
            after.append(new)
        out = np.concatenate(after, 1)
        out[2 * n] -= out[2 * n] > COOKING
        return out, delivered

    def _interact(self, rows: np.ndarray, i: int, early: bool) -> bool:
        """Chef i interacts, in place. Returns whether it delivered the soup somewhere."""
        n = self.n
        target = self.target[rows[i]]
        kind = self.kind[target]
        hands, hand = rows[n : 2 * n], rows[n + i].copy()
        pot = rows[2 * n].copy()
        slots, plate = rows[2 * n + 1 : -1], rows[-1]
        free, here = hand == EMPTY, target + 1
        lying = [slot == here for slot in slots]
        plated = plate == here
        onions = slice(0, self.recipe[0]), ONION, ONIONS, pot >> 2
        tomatoes = slice(self.recipe[0], None), TOMATO, TOMATOES, pot & 3
        loading = pot < TAKEN
        on_counter = kind == COUNTER
        bare = on_counter & ~plated
        for there in lying:
            bare &= ~there
        for (part, item, source, missing), unit in ((onions, 4), (tomatoes, 1)):
            mine = slots[part]
            out = (hands == item).sum(0) + (mine > 0).sum(0)
            rows[n + i][free & loading & (kind == source) & (missing > out)] = item
            put = loading & (kind == POT) & (hand == item) & (missing > 0)
            rows[n + i][put] = EMPTY
            rows[2 * n][put] -= unit
            down = bare & (hand == item)
            for slot in mine:
                fill = down & (slot == 0)
                slot[fill] = here[fill]
                down &= ~fill
            rows[n + i][bare & (hand == item)] = EMPTY
            for slot, there in zip(mine, lying[part], strict=True):
                take = free & on_counter & there
                slot[take] = 0
                rows[n + i][take] = item
            mine.sort(0)
        if not self.manual:
            rows[2 * n][(pot != LOADED) & (rows[2 * n] == LOADED)] = COOKING + self.time
        else:
            rows[2 * n][free & (kind == POT) & (pot == LOADED)] = COOKING + self.time
        # The one dish, which becomes the soup.
        unused = (plate == 0) & ~(hands == DISH).any(0) & (pot != TAKEN)
        if not early:
            unused &= (pot == LOADED) | (pot >= COOKING)
        rows[n + i][free & (kind == DISHES) & unused] = DISH
        scoop = (kind == POT) & (hand == DISH) & (pot == COOKING)
        rows[n + i][scoop] = SOUP
        rows[2 * n][scoop] = TAKEN
        down = bare & (hand >= DISH)
        plate_before = plate.copy()
        plate[down] = here[down]
        rows[n + i][down] = EMPTY
        take = free & on_counter & (plate_before == here)
        plate[take] = 0
        rows[n + i][take] = np.where(pot == TAKEN, SOUP, DISH)[take]
        return bool(((kind == SERVING) & (hand == SOUP)).any())


def _shared(first: np.ndarray, cycle: int, count: np.ndarray) -> np.ndarray:
    """The earliest that `count` (0 to 3) jobs are done, shared among workers whose first one is
    done at `first` [workers, states] and each further one `cycle` later: the count-th smallest
    of all those times."""
    times = np.concatenate([first, first + cycle, first + 2 * cycle])
    times.sort(0)
    ends = np.concatenate([np.zeros_like(times[:1]), times[:3]])
    return np.take_along_axis(ends, count[None].astype(np.int64), 0)[0]


def _distinct(rows: np.ndarray) -> np.ndarray:
    """The different columns."""
    keys: list[np.ndarray] = []
    for start in range(0, len(rows), 5):
        key = np.zeros(rows.shape[1], np.int64)
        for row in rows[start : start + 5]:
            key = key * 4096 + row
        keys.append(key)
    order = np.lexsort(keys)
    fresh = np.zeros(len(order), bool)
    fresh[:1] = True
    for key in keys:
        ranked = key[order]
        fresh[1:] |= ranked[1:] != ranked[:-1]
    return rows[:, order[fresh]]
