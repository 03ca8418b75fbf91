"""Scripted chefs: `greedy`, which plans, and some that do less, as partners of graded skill.

`greedy` is memoryless but for what it has seen and whether it is stuck. At each step it floods the
floor once from every chef, from the pots and from the serving windows (`envs/kitchen/skills.py`),
prices the jobs that the kitchen has for each chef in steps, takes the one for which it is better
placed than the others, and walks the next step of it. Whatever it cannot bring to its place itself
it leaves on a counter that somebody who can is able to reach.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, DeviceView, Env, SeatError, state_dataclass
from manyhands.envs.kitchen import levels as lv
from manyhands.envs.kitchen import skills as sk
from manyhands.envs.kitchen.env import (
    DISH,
    INTERACT,
    NOTHING,
    ONION,
    SOUP,
    STAY,
    TOMATO,
    Kitchen,
)
from manyhands.envs.kitchen.levels import COUNTER, DISHES, FLOOR, ONIONS, POT, SERVING, TOMATOES

FAR = sk.FAR // sk.STEP  # steps; no way
RELAY = 20  # steps: a guess for a job's second half, when somebody else has to do it
JOBS = ("onions", "dishes", "all")


def greedy(env: Env, noise: float = 0.0) -> Greedy:
    """A chef that plans; `noise` is the probability of a random action at each step."""
    return Greedy(env, noise)


def onion_only(env: Env, noise: float = 0.0) -> Greedy:
    """A chef that only ever brings ingredients to pots (and starts them)."""
    return Greedy(env, noise, jobs="onions")


def plate_only(env: Env, noise: float = 0.0) -> Greedy:
    """A chef that only ever plates and serves."""
    return Greedy(env, noise, jobs="dishes")


def stationary(env: Env) -> Stationary:
    """A chef that does nothing, wherever it stands."""
    return Stationary(env)


def kitchen_of(env: Env) -> tuple[Kitchen, list[Any]]:
    """The kitchen inside wrappers, and the wrappers from the inside out."""
    wrappers: list[Any] = []
    inner: Any = env
    while not isinstance(inner, Kitchen):
        # On the class: wrappers may hand on the attributes of what they wrap.
        if not hasattr(type(inner), "lift"):
            raise SeatError(f"this chef plays kitchens, also wrapped ones; given {env!r}")
        wrappers.insert(0, inner)
        inner = inner.env
    return inner, wrappers


def _lift(wrappers: list[Any], action: Array) -> Array:
    for wrapper in wrappers:
        action = wrapper.lift(action)
    return action


class Stationary:
    """A `DevicePolicy` that always stays."""

    def __init__(self, env: Env):
        self._wrappers = kitchen_of(env)[1]

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: tuple[()], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[()]]:
        return _lift(self._wrappers, jnp.int32(STAY)), memory


@state_dataclass
class Memory:
    """What a chef remembers.

    Attributes:
        codes: i32[H, W], what it has seen of each cell last; i32[0, 0] where all is in view.
        cell: i32[], where it stood.
        stuck: i32[], steps in a row in which it meant to move, and stood still.
        moving: bool[], whether it meant to move to another cell in the last step.
    """

    codes: Array
    cell: Array
    stuck: Array
    moving: Array


@dataclass(frozen=True)
class Greedy:
    """A `DevicePolicy`; see the module's docstring.

    Args:
        env: the kitchen, or a wrapper of it.
        noise: probability of a random action at each step.
        jobs: "all", or what alone the chef cares for: "onions" or "dishes".
    """

    env: Env
    noise: float = 0.0
    jobs: str = "all"
    _kitchen: Kitchen = field(init=False, repr=False, compare=False)
    _wrappers: list[Any] = field(init=False, repr=False, compare=False)
    _steps: int = field(init=False, repr=False, compare=False)
    _recipes: np.ndarray = field(init=False, repr=False, compare=False)
    _terrains: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.noise <= 1:
            raise ConfigError(f"noise is a probability from 0 to 1, given {self.noise!r}")
        kitchen, wrappers = kitchen_of(self.env)
        recipes = np.stack([_recipe_table(level, kitchen.dynamics) for level in kitchen.levels])
        if (recipes == recipes[0]).all():
            recipes = recipes[:1]
        terrains = np.full((len(kitchen.levels), kitchen.height, kitchen.width), lv.VOID)
        for table, level in zip(terrains, kitchen.levels, strict=True):
            table[: level.height, : level.width] = level.terrain
        derived = {
            "_kitchen": kitchen,
            "_wrappers": wrappers,
            "_recipes": recipes,
            "_steps": sk.longest_path(kitchen),
            "_terrains": terrains.reshape(len(terrains), -1),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def init(self, env: Env, agent: int) -> Memory:
        kitchen = self._kitchen
        shape = (kitchen.height, kitchen.width) if kitchen.view_radius is not None else (0, 0)
        return Memory(
            jnp.full(shape, lv.VOID, jnp.int32), jnp.int32(-1), jnp.int32(0), jnp.bool_(False)
        )

    def apply(
        self, env: Env, agent: int, memory: Memory, key: Array, view: DeviceView
    ) -> tuple[Array, Memory]:
        codes = view.perception
        if self._kitchen.view_radius is not None:
            # Remember things, not chefs nor what they held: those move.
            old = memory.codes
            old = jnp.where(((old >> 3) & 7) > 0, FLOOR, old)
            codes = jnp.where((codes & 7) == lv.VOID, old, codes)
        sight = sk.look(codes)
        plan = _Plan(self, sight, agent)
        goal, loiter = plan.choose()
        cell = jnp.argmax(sight.own.reshape(-1)).astype(jnp.int32)
        stuck = jnp.where(memory.moving & (cell == memory.cell), memory.stuck + 1, 0)
        action = plan.walk(goal, loiter, stuck, jax.random.fold_in(key, 0))
        if self.noise:
            odd, which = jax.random.split(jax.random.fold_in(key, 1))
            wild = jax.random.randint(which, (), 0, 6, jnp.int32)
            action = jnp.where(jax.random.uniform(odd) < self.noise, wild, action)
        action = action.astype(jnp.int32)
        moving = (action < STAY) & plan.enters(action)
        new = Memory(codes if memory.codes.size else memory.codes, cell, stuck, moving)
        return _lift(self._wrappers, action), new


def _recipe_table(level: lv.Level, dynamics: str) -> np.ndarray:
    """u8[4, 16]: the recipe (onions << 2 | tomatoes) to make of a pot with given contents, where
    onions (bit 0) and tomatoes (bit 1) can be had. Worth per step decides. What can become no
    ordered soup is filled up, or cooked as it is, to be rid of it."""
    sizes = (3,) if dynamics == "classic" else (1, 2, 3)
    table = np.zeros((4, 16), np.uint8)
    for had in range(4):
        for contents in range(16):
            onions, tomatoes = contents >> 2, contents & 3
            best, best_score = contents, -np.inf
            for more_onions, more_tomatoes in [(a, b) for a in range(4) for b in range(4)]:
                recipe = (onions + more_onions, tomatoes + more_tomatoes)
                if sum(recipe) not in sizes:
                    continue
                if (more_onions and not had & 1) or (more_tomatoes and not had & 2):
                    continue
                work = 5 + 6 * (more_onions + more_tomatoes) + level.times[recipe] / 2
                worth = level.worth(recipe)
                score = worth / work if worth > 0 else worth - work
                if score > best_score:
                    best, best_score = recipe[0] << 2 | recipe[1], score
            table[had, contents] = best
    return table


class _Plan:
    """One chef's reckoning at one step. Chef axis: 0 is oneself, then the others in index order;
    maps are flat, [cells]; costs are in steps."""

    def __init__(self, policy: Greedy, sight: sk.Sight, agent: int):
        kitchen = policy._kitchen
        self.policy, self.sight = policy, sight
        n = self.n = kitchen.num_agents
        self.order = np.array([agent, *(i for i in range(n) if i != agent)])
        own = jnp.stack([sight.chef == k + 1 for k in range(n)])
        floor = sight.terrain == FLOOR
        none = jnp.zeros_like(floor)
        self.seen = own.any((1, 2))

        # One flood: around the others, through them, from each other chef, from pots, from windows.
        starts = jnp.stack([own[0], *own, none, none])
        stand = jnp.stack([floor & (sight.chef < 2), *[floor] * (n + 2)])
        seeds = sk.chef_seeds(starts, stand & ~starts)
        beside = []
        for code in (POT, SERVING):
            station = sight.terrain == code
            near = none
            for direction in range(4):
                near = near | sk.shifted(station, direction)
            beside.append(near & floor)
        seeds = seeds.at[-2:].set(jnp.where(jnp.stack(beside), 0, sk.FAR).astype(jnp.int16))
        maps = sk.flood(seeds, stand & ~starts, policy._steps)
        maps = jnp.minimum(maps, seeds)
        facing = jnp.sum(jnp.where(own, sight.facing, 0), (1, 2)).astype(jnp.int16)
        facing = jnp.concatenate([facing[:1], facing, jnp.full(2, -1, jnp.int16)])
        maps = sk.reach(maps, starts, facing[:, None, None], stand)
        maps = maps.reshape(n + 3, -1).astype(jnp.int32)
        self.around, self.through = maps[0], maps[1]
        steps = maps >> 3
        self.far = steps[1 : n + 1]
        self.from_pots, self.from_windows = steps[n + 1], steps[n + 2]
        self.beside_pot = beside[0].reshape(-1)

        flat = sk.Sight(*(part.reshape(-1) for part in sight))
        self.flat, self.own, self.floor = flat, own.reshape(n, -1), floor.reshape(-1)
        self.hand = jnp.sum(jnp.where(self.own, flat.thing, 0), 1)
        self.lying = flat.lying
        self.pot = flat.terrain == POT
        self.busy = self.pot & (flat.timer > 0)
        self.remaining = jnp.maximum(flat.timer - 1, 0)
        self.frontier = sk.frontier(sight).reshape(-1)
        self._missing()

    def _missing(self) -> None:
        """What each idle pot still wants, [onion, tomato], and which idle pots want a start."""
        flat = self.flat
        unseen = self.frontier.any()
        had = jnp.int32(0)
        for bit, code, thing in ((1, ONIONS, ONION), (2, TOMATOES, TOMATO)):
            there = (flat.terrain == code).any() | (self.lying == thing).any() | unseen
            had = had + jnp.where(there | (self.hand == thing).any(), bit, 0)
        recipes = jnp.asarray(self.policy._recipes, jnp.int32)
        table = recipes[0]
        if len(recipes) > 1:
            # Which of the layouts this is shows in what is in view.
            known = flat.terrain == jnp.asarray(self.policy._terrains, jnp.int32)
            fits = (known | (flat.terrain == lv.VOID)).all(1)
            table = recipes[jnp.argmax(fits)]
        inside = jnp.where(self.pot, flat.thing & 15, 0)
        wanted = table[had][inside]
        idle = self.pot & (flat.timer == 0)
        onions = jnp.where(idle, (wanted >> 2) - (inside >> 2), 0)
        tomatoes = jnp.where(idle, (wanted & 3) - (inside & 3), 0)
        self.missing = jnp.stack([onions, tomatoes])
        self.inside = jnp.where(idle, (inside >> 2) + (inside & 3), 0)
        self.full = idle & (self.inside > 0) & (self.missing.sum(0) == 0)

    def nearest(self, costs: Array, mask: Array) -> Array:
        """The least cost over masked cells (the last axis), at most FAR."""
        return jnp.min(jnp.where(mask, costs, FAR), axis=-1)

    def rank(self, scores: Array, among: Array) -> Array:
        """How many of the other chefs come before oneself: a lower score, then a lower index."""
        order = jnp.asarray(self.order)
        before = (scores < scores[0]) | ((scores == scores[0]) & (order < order[0]))
        return jnp.sum(before & among & (jnp.arange(self.n) > 0))

    def choose(self) -> tuple[Array, Array]:
        """(goal, loiter): extra costs i32[cells] of the cells that would do, FAR elsewhere; and
        whether there is no hurry to get to the goal."""
        flat, hand, far, n = self.flat, self.hand, self.far, self.n
        others = jnp.arange(n) > 0
        empty = (hand == NOTHING) & self.seen
        item = jnp.stack([hand == ONION, hand == TOMATO])  # [2, chefs]
        dish, soup = hand == DISH, hand >= SOUP
        window = flat.terrain == SERVING
        pot_reach = (self.nearest(far, self.pot) < FAR) & self.seen
        window_reach = (self.nearest(far, window) < FAR) & self.seen
        counter = flat.terrain == COUNTER
        free_counter = counter & (self.lying == NOTHING)
        busy = jnp.sum(self.busy)
        wants = self.missing > 0  # [2, cells]

        # Where each chef will be free, and when: now, or after what it has in hand.
        wanted = jnp.einsum("ik,ic->kc", item, wants) > 0
        delay = jnp.where(soup, self.nearest(far, window), self.nearest(far, wanted))
        useless = item.any(0) & ~wanted.any(1)
        delay = jnp.where(empty, 0, jnp.where(useless, 10, delay))
        after = jnp.where(soup[:, None], self.from_windows, self.from_pots) + delay[:, None] + 1
        near = jnp.where((empty | useless)[:, None], far + delay[:, None], after)
        near = jnp.where(far < FAR, near, FAR)

        # What things cost each chef, the way to the pot (and on to the window) included. A thing on
        # a counter is there for those who can walk with it to a pot.
        onward = jnp.minimum(self.from_pots, RELAY) + 1
        on_counter = jnp.stack([self.lying == ONION, self.lying == TOMATO])
        source = jnp.stack([flat.terrain == ONIONS, flat.terrain == TOMATOES])
        sources = source[:, None] | (on_counter[:, None] & pot_reach[:, None])
        cost_item = self.nearest(near + onward, sources)  # [2, chefs]
        lying_dish = self.lying == DISH
        dishes = (flat.terrain == DISHES) | (lying_dish & pot_reach[:, None])
        to_window = self.nearest(self.from_windows, self.beside_pot & (far < FAR))
        cost_dish = self.nearest(near + onward, dishes)
        cost_serve = cost_dish + jnp.minimum(to_window, RELAY)

        # Demand that nobody else covers. For who cannot get to a pot, what already lies within
        # reach of somebody who can is as good as there.
        in_reach = ((far < FAR) & (pot_reach & others)[:, None]).any(0)
        cut_off = ~pot_reach[0]
        staged_items = jnp.where(cut_off, jnp.sum(on_counter & in_reach, 1), 0)
        staged_dishes = jnp.where(cut_off, jnp.sum(lying_dish & in_reach), 0)
        need_item = self.missing.sum(1) - jnp.sum(item & others, 1) - staged_items  # [2]
        held_dishes = jnp.sum(dish & others)
        need_dish = busy - held_dishes - staged_dishes
        urgent = jnp.sum(self.busy & (self.remaining <= cost_dish[0] + 2))
        urgent = urgent - held_dishes - staged_dishes

        # Who does what: dishes go to those who are better placed for them than for ingredients.
        kind_cost = jnp.where((need_item > 0)[:, None], cost_item, FAR)
        cost_any = kind_cost.min(0)
        bidder = self.seen & ~dish & (cost_dish < FAR)
        bias = cost_serve - jnp.minimum(cost_any, 2 * RELAY) + delay // 2
        dish_rank = self.rank(bias, bidder)
        item_rank = self.rank(cost_any, self.seen & ~dish & ~item.any(0) & (cost_any < FAR))
        can_dish = cost_dish[0] < FAR
        can_item = cost_any[0] < FAR
        may_dish, may_item = self.policy.jobs != "onions", self.policy.jobs != "dishes"
        dish_now = can_dish & (urgent > dish_rank) & may_dish
        item_now = can_item & (need_item.sum() > item_rank) & may_item
        dish_later = can_dish & (need_dish > dish_rank) & may_dish
        spare = self.missing.sum() + jnp.sum(self.busy) * 3 - jnp.sum(item & others)
        shared = free_counter & in_reach & (far[0] < FAR)
        room = jnp.where(cut_off, jnp.sum(shared) > 1, True)
        ahead_cost = cost_item[:, 0]
        stock = (ahead_cost.min() < FAR) & (spare > 0) & room & may_item

        def at(mask: Array, extra: Array | int = 0) -> Array:
            return jnp.where(mask, extra, FAR)

        # Empty hands.
        lying_soup = self.lying >= SOUP
        cost_soup = self.nearest(far + self.from_windows, lying_soup)
        soup_mine = empty[0] & window_reach[0] & (cost_soup[0] < FAR) & may_dish
        soup_mine &= jnp.sum(lying_soup) > self.rank(cost_soup, empty & window_reach)
        start_cost = self.nearest(far, self.full) + jnp.where(empty, 0, 8)
        start_mine = (start_cost[0] < FAR) & may_item & (self.rank(start_cost, self.seen) == 0)
        take_dish = dish_now | (~item_now & dish_later)
        kind = jnp.argmin(jnp.where(item_now, kind_cost[:, 0], ahead_cost))
        get_item = sources[kind, 0]
        get_dish = dishes[0]
        fetch = at(jnp.where(take_dish, get_dish, get_item), onward)
        idle = ~(take_dish | item_now | stock)
        goal = jnp.where(idle, at(self.pot), fetch)
        loiter = idle
        goal = jnp.where(soup_mine, at(lying_soup, self.from_windows), goal)
        goal = jnp.where(start_mine, at(self.full), goal)
        loiter = loiter & ~soup_mine & ~start_mine

        # Hands full: bring it where it belongs, or to a counter for somebody who can, or put it
        # away.
        away = at(free_counter, 2 * in_reach)
        start_blocked = start_mine & ~empty[0]

        def deliver(place: Array, able: Array, beyond: Array) -> tuple[Array, Array]:
            """(goal, whether there is a way): directly, else over a counter."""
            direct = (far[0] < FAR) & place
            reached = ((far < FAR) & (able & others)[:, None]).any(0)
            over = free_counter & reached & (far[0] < FAR)
            goal = jnp.where(direct.any(), at(direct), at(over, jnp.minimum(beyond, RELAY)))
            return goal, direct.any() | over.any()

        mine = jnp.argmax(item[:, 0])
        place = wants[mine]
        holders = item[mine] & others
        covered = self.rank(self.nearest(far, place), holders) >= self.missing[mine].sum()
        put, way = deliver(place, pot_reach, self.from_pots)
        put = jnp.where(place, put - 3 * self.inside + 9, put)
        use = way & place.any() & ~covered
        use |= way & cut_off & room
        swap = (dish_now | (dish_later & ~empty[1:].any())) & ~use
        swap |= start_blocked
        # What no pot will ever take again is put away: the other ingredient is wanted instead.
        swap |= ~use & (need_item.sum() > 0) & (self.missing[mine].sum() == 0)
        item_goal = jnp.where(use & ~start_blocked, put, jnp.where(swap, away, at(self.pot)))
        item_loiter = ~use & ~swap

        soonest = jnp.maximum(self.remaining, far[0])
        dish_place = self.busy
        plate, way = deliver(dish_place, pot_reach, self.from_pots)
        plate = jnp.where(dish_place, jnp.where(plate < FAR, soonest - far[0], FAR), plate)
        sooner = self.rank(self.nearest(far, dish_place), dish & others)
        almost = jnp.sum(self.pot & (self.inside > 0)) + busy
        surplus = (sooner >= almost) | start_blocked
        use = way & (sooner < busy)
        dish_goal = jnp.where(use & ~start_blocked, plate, jnp.where(surplus, away, at(self.pot)))
        early = self.nearest(self.remaining - far[0], self.busy & (far[0] < FAR)) > 0
        dish_loiter = jnp.where(use, early & pot_reach[0], ~surplus)

        serve, _ = deliver(window, window_reach, self.from_windows)

        goal = jnp.where(item[:, 0].any(), item_goal, goal)
        goal = jnp.where(dish[0], dish_goal, goal)
        goal = jnp.where(soup[0], serve, goal)
        loiter = jnp.where(item[:, 0].any(), item_loiter, loiter)
        loiter = jnp.where(dish[0], dish_loiter, loiter)
        return goal, loiter & ~soup[0]

    def walk(self, goal: Array, loiter: Array, stuck: Array, key: Array) -> Array:
        """The next primitive action towards the cheapest cell of the goal."""
        flat, own = self.flat, self.own[0]
        wanted = goal < FAR
        extra = jnp.where(wanted, goal, 0) * sk.STEP
        around = jnp.where(wanted & (self.around < sk.FAR), self.around + extra, sk.FAR)
        through = jnp.where(wanted & (self.through < sk.FAR), self.through + extra, sk.FAR)
        nowhere = through.min() >= sk.FAR
        # Nothing known to go for: look where nobody has looked.
        explore = self.frontier & ~own
        around = jnp.where(nowhere & explore, self.around, around)
        through = jnp.where(nowhere & explore, self.through, through)
        loiter = loiter & ~(nowhere & explore.any())

        # Who has to give way: the one with less in hand, then the one with the higher index.
        weight = jnp.asarray([0, 1, 1, 2])[jnp.minimum(self.hand, 3)] + (self.hand >= SOUP)
        weight = weight * self.n - jnp.asarray(self.order)
        humble = (jnp.where(self.seen, weight, -self.n)[1:] > weight[0]).any()
        slack = jnp.where(humble | (stuck > 1), 20, 2) * sk.STEP
        detour = around.min() <= jnp.minimum(through.min() + slack, sk.FAR - 1)
        costs = jnp.where(detour, around, through)
        target = jnp.argmin(costs)
        cost = jnp.where(detour, self.around, self.through)[target]
        there = cost < sk.STEP
        lost = costs[target] >= sk.FAR
        act = jnp.where(flat.terrain[target] == FLOOR, STAY, INTERACT)
        action = jnp.where(lost, STAY, jnp.where(there, act, cost & 7))
        # Early: stand ready, but not in the way.
        ready = loiter & ((cost >> 3) <= 2)
        action = jnp.where(ready | (loiter & there), STAY, action)

        if self.n == 1:
            return action
        # Step aside, to a free cell drawn at random, of cells that are not before a pot if idle.
        noise = jax.random.uniform(key, (6,))
        free = self.floor & (flat.chef == 0)
        chefs = flat.chef > 1
        beside = [self._at(free, d) for d in range(4)]
        open_before_pot = [self._at(free & ~self.beside_pot, d) for d in range(4)]
        crowd = jnp.stack([self._at(chefs, d) for d in range(4)])
        scores = noise[:4] + jnp.stack(beside) + jnp.stack(open_before_pot)
        aside = jnp.where(jnp.stack(beside).any(), jnp.argmax(scores), STAY)
        blocked = (action < STAY) & crowd[jnp.minimum(action, 3)]
        waiting = action == STAY
        in_way = jnp.any(own & self.beside_pot) & (noise[4] < 0.8)
        in_way |= crowd.any() & (noise[4] < 0.4)
        yields = blocked & humble & (noise[4] < 0.7)
        yields |= (stuck > 2) & (noise[4] < 0.5)
        yields |= waiting & in_way
        pause = (stuck > 0) & humble & ~blocked & (noise[5] < 0.5) & (action < STAY)
        return jnp.where(yields, aside, jnp.where(pause, STAY, action))

    def _at(self, mask: Array, direction: int) -> Array:
        """Whether the mask holds at the cell next to oneself in a direction."""
        shape = self.sight.terrain.shape
        return (sk.shifted(self.own[0].reshape(shape), direction) & mask.reshape(shape)).any()

    def enters(self, action: Array) -> Array:
        """Whether a move would enter a floor cell, were no chef on it."""
        floor = jnp.stack([self._at(self.floor, d) for d in range(4)])
        return floor[jnp.minimum(action, 3)]
