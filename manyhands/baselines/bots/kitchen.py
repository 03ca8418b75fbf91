"""Scripted chefs: `greedy`, which plans, and some that do less, as partners of graded skill;
`HELD_OUT` is the set of them that a zero-shot evaluation meets.

`greedy` is memoryless but for what it has seen and whether it is stuck. At each step it floods the
floor once from every chef, from the pots and from the serving windows (`envs/kitchen/skills.py`),
prices the jobs that the kitchen has for each chef in steps, takes the one for which it is better
placed than the others, and walks the next step of it. Whatever it cannot bring to its place itself
it leaves on a counter that somebody who can is able to reach.

Where one recipe is asked for at a time it cooks what is asked for, as far as it knows: from
indicators and buttons in view, from memory, from what others have begun to cook or have brought,
or, when it has waited long enough, by a guess. It walks to where it can see an indicator, presses a
button if it can learn the recipe in no other way, and presses it for others who cannot see what it
sees. In these kitchens it knows the map, and takes chefs that it does not see to be in their rooms.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import (
    Array,
    ConfigError,
    DeviceView,
    Env,
    SeatError,
    Unwrapped,
    state_dataclass,
    unwrap,
)
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen import levels as lv
from manyhands.envs.kitchen import paths, relabel
from manyhands.envs.kitchen import skills as sk
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.levels import (
    BUTTON,
    COUNTER,
    DISHES,
    DISPENSERS,
    FLOOR,
    INDICATOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
)
from manyhands.envs.kitchen.state import DISH, INTERACT, NOTHING, ONION, SOUP, STAY, TOMATO

FAR = paths.FAR // paths.STEP  # steps; no way
RELAY = 20  # steps: a guess for a job's second half, when somebody else has to do it
PATIENCE = 40  # steps for which a chef waits to learn what is asked for before it guesses
STALE = 80  # steps after which what was seen of a recipe that may change counts for nothing
BACK_OFF = 5  # steps that a chef backs off who has cornered another one


# Partners for a zero-shot evaluation, by name, from the least able to the most: nothing that is
# trained by default has met them. All but the first two are one compiled program.
HELD_OUT = {
    "stationary": "stationary",
    "random": "random",
    "onion_only": "onion_only",
    "plate_only": "plate_only",
    "greedy_noise_75": "greedy:noise=0.75",
    "greedy_noise_50": "greedy:noise=0.5",
    "greedy_noise_25": "greedy:noise=0.25",
    "greedy_noise_10": "greedy:noise=0.1",
    "greedy": "greedy",
}


def greedy(env: Env, noise: float = 0.0) -> Greedy:
    """A chef that plans; `noise` is the probability of a random action at each step."""
    return Greedy(env, _probability(noise))


def onion_only(env: Env, noise: float = 0.0) -> Greedy:
    """A chef that only ever brings ingredients to pots (and starts them)."""
    return Greedy(env, _probability(noise), serves=False)


def plate_only(env: Env, noise: float = 0.0) -> Greedy:
    """A chef that only ever plates and serves."""
    return Greedy(env, _probability(noise), cooks=False)


def stationary(env: Env) -> Stationary:
    """A chef that does nothing, wherever it stands."""
    return Stationary(env)


def _probability(noise: float) -> float:
    if not 0 <= noise <= 1:
        raise ConfigError(f"noise is a probability from 0 to 1, given {noise!r}")
    return float(noise)


@dataclass(frozen=True)
class Stationary:
    """A `DevicePolicy` that always stays, in the kitchen `env` or a wrapper of it."""

    env: Env

    def __post_init__(self) -> None:
        unwrap(self.env, Kitchen, SeatError)

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: tuple[()], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[()]]:
        return unwrap(self.env, Kitchen).lift(jnp.int32(STAY)), memory


@state_dataclass
class Memory:
    """What a chef remembers.

    Attributes:
        codes: i32[H, W], what it has seen of each cell last; i32[0, 0] where all is in view.
        cell, before: i32[], where it stood one step ago, and two.
        dither: i32[], for how long it has gone to and fro.
        stuck: i32[], steps in a row in which it meant to move, and stood still.
        moving: bool[], whether it meant to move to another cell in the last step.
        retreat: i32[], for how many more steps it backs off from another chef.
    """

    codes: Array
    cell: Array
    before: Array
    dither: Array
    stuck: Array
    moving: Array
    retreat: Array
    asked: AskedMemory | None = None


@state_dataclass
class AskedMemory:
    """What a chef remembers of what is asked for, i32[] each.

    Attributes:
        recipe: what it has seen last; 0 if nothing, or nothing that still counts.
        age: how many steps ago that was.
        told: what a button that it saw has shown last; 0 as above.
        told_age: how many steps ago that was.
        waited: for how many steps it has not known what is asked for.
        hand: what it held in the last step.
        wrong: a soup that it served and that was not asked for, as windows have shown; 0 if none.
    """

    recipe: Array
    age: Array
    told: Array
    told_age: Array
    waited: Array
    hand: Array
    wrong: Array


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("noise", "cooks", "serves"),
    meta_fields=("env",),
)
@dataclass(frozen=True)
class Greedy:
    """A `DevicePolicy`; see the module's docstring. A pytree whose leaves are all but the kitchen,
    so that chefs of different skill can share one compiled program (`baselines/evaluation.py`).

    Args:
        env: the kitchen, or a wrapper of it.
        noise: probability of a random action at each step.
        cooks: whether it cares for what goes into the pots.
        serves: whether it cares for dishes and for what comes out of the pots.
    """

    any_seat: ClassVar[bool] = True
    env: Env
    noise: float = 0.0
    cooks: bool = True
    serves: bool = True
    _kitchen: Kitchen = field(init=False, repr=False, compare=False)
    _found: Unwrapped[Kitchen] = field(init=False, repr=False, compare=False)
    _steps: int = field(init=False, repr=False, compare=False)
    _recipes: np.ndarray = field(init=False, repr=False, compare=False)
    _terrains: np.ndarray = field(init=False, repr=False, compare=False)
    _announces: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, value in _tables(self.env).items():
            object.__setattr__(self, name, value)

    def init(self, env: Env, agent: int) -> Memory:
        kitchen = self._kitchen
        shape = (kitchen.height, kitchen.width) if kitchen.view_radius is not None else (0, 0)
        return Memory(
            jnp.full(shape, lv.VOID, jnp.int32),
            jnp.int32(-1),
            jnp.int32(-1),
            jnp.int32(0),
            jnp.int32(0),
            jnp.bool_(False),
            jnp.int32(0),
            AskedMemory(*[jnp.int32(0)] * 7) if kitchen.asked else None,
        )

    def apply(
        self, env: Env, agent: int, memory: Memory, key: Array, view: DeviceView
    ) -> tuple[Array, Memory]:
        codes, bits = view.perception, self._kitchen.bits
        if self._kitchen.view_radius is not None:
            # Remember things, not chefs nor what they held: those move.
            old = memory.codes
            old = jnp.where(((old >> bits.chef) & 7) > 0, FLOOR, old)
            if memory.asked is not None:  # what cooks goes on cooking
                cooks = ((old & (bits.terrain - 1)) == POT) & (((old >> bits.timer) & 255) > 1)
                old = jnp.where(cooks, old - (1 << bits.timer), old)
            codes = jnp.where((codes & (bits.terrain - 1)) == lv.VOID, old, codes)
        seen = codes if memory.codes.size else memory.codes
        asked = None
        if memory.asked is not None:
            codes = self._filled(codes)
            now = sk.parse_observation(view.perception, bits)
            news = jnp.max(view.perception >> bits.delivered) > 0
            asked = self._learn(memory.asked, now, news)
        plan = _Plan(self, sk.parse_observation(codes, bits), agent, asked, key)
        goal, loiter = plan.choose()
        stuck = jnp.where(memory.moving & (plan.cell == memory.cell), memory.stuck + 1, 0)
        to_and_fro = (plan.cell == memory.before) & (plan.cell != memory.cell)
        dither = jnp.clip(memory.dither + jnp.where(to_and_fro, 1, -1), 0, 6)
        draw = jax.random.fold_in(key, 0)
        action, retreat = plan.walk(goal, loiter, stuck, dither > 3, memory.retreat, draw)
        if not (isinstance(self.noise, float) and self.noise == 0):  # or traced
            odd, which = jax.random.split(jax.random.fold_in(key, 1))
            wild = jax.random.randint(which, (), 0, 6, jnp.int32)
            action = jnp.where(jax.random.uniform(odd) < self.noise, wild, action)
        action = action.astype(jnp.int32)
        moving = (action < STAY) & plan.enters(action)
        new = Memory(seen, plan.cell, memory.cell, dither, stuck, moving, retreat, asked)
        return self._found.lift(action), new

    def _filled(self, codes: Array) -> Array:
        """Codes i32[H, W] with the terrain that was never seen, of a layout that fits the rest; but
        for pots, of which nobody knows what is in them."""
        if self._kitchen.view_radius is None:
            return codes
        terrain = codes & (self._kitchen.bits.terrain - 1)
        maps = jnp.asarray(self._terrains, jnp.int32).reshape(-1, *codes.shape)
        level = jnp.argmax(((terrain == maps) | (terrain == lv.VOID)).all((1, 2)))
        known = jnp.where(maps[level] == POT, lv.VOID, maps[level])
        return jnp.where(terrain == lv.VOID, known, codes)

    def _learn(self, memory: AskedMemory, now: sk.Observation, news: Array) -> AskedMemory:
        """What is known of the recipe after a look at what is in view."""
        hand = jnp.sum(jnp.where(now.own, now.thing, 0))
        button = (now.terrain == BUTTON) & (now.timer > 0)
        told = jnp.max(jnp.where(button, now.thing, 0))
        seen = jnp.max(jnp.where(now.terrain == INDICATOR, now.thing, told))
        age, told_age = memory.age + 1, memory.told_age + 1
        recipe, before = memory.recipe, memory.told
        ahead = jnp.zeros_like(now.own)
        for way in range(4):
            ahead = ahead | paths.shifted(now.own & (now.facing == way), way)
        served = (memory.hand >= SOUP) & (hand == NOTHING)
        served &= (ahead & (now.terrain == SERVING)).any()
        wrong = memory.wrong
        if self._kitchen.show_delivery:
            wrong = jnp.where(news, 0, jnp.where(served, memory.hand, wrong))
        if self._kitchen.resample:
            recipe = jnp.where(news | served | (age > STALE), 0, recipe)
            before = jnp.where(told_age > STALE, 0, before)
        recipe = jnp.where(seen > 0, seen, recipe)
        waited = jnp.where(recipe > 0, 0, memory.waited + 1)
        age = jnp.where(seen > 0, 0, age)
        told_age = jnp.where(told > 0, 0, told_age)
        told = jnp.where(told > 0, told, before)
        return AskedMemory(recipe, age, told, told_age, waited, hand, wrong)


@functools.lru_cache(maxsize=64)
def _tables(env: Env) -> dict[str, Any]:
    """What a `Greedy` chef knows of its kitchen beforehand, by the names of its attributes."""
    found = unwrap(env, Kitchen, SeatError)
    kitchen = found.env
    if kitchen.asked:
        return _asked_tables(found)
    recipes = np.stack([_recipe_table(level, kitchen.dynamics) for level in kitchen.levels])
    if (recipes == recipes[0]).all():
        recipes = recipes[:1]
    terrains = np.full((len(kitchen.levels), kitchen.height, kitchen.width), lv.VOID)
    for table, level in zip(terrains, kitchen.levels, strict=True):
        table[: level.height, : level.width] = level.terrain
    return {
        "_kitchen": kitchen,
        "_found": found,
        "_recipes": recipes,
        "_steps": paths.longest_path(kitchen),
        "_terrains": terrains.reshape(len(terrains), -1),
        "_announces": np.zeros(kitchen.num_agents, bool),
    }


def _asked_tables(found: Unwrapped[Kitchen]) -> dict[str, Any]:
    """The same where one recipe is asked for at a time. `_recipes` are those that may be asked for,
    `_announces` tells which chefs can see an indicator and know somebody who cannot."""
    kitchen = found.env
    recipes = kitchen.recipes
    announces = np.zeros((len(kitchen.levels), kitchen.num_agents), bool)
    radius = kitchen.view_radius
    for i, terrain in enumerate(kitchen.terrains):
        sights = _near(terrain == INDICATOR, kitchen.width, radius) if radius else terrain >= 0
        sees = (kitchen.rooms[i] & sights).any(1) if (terrain == INDICATOR).any() else None
        if radius is not None and sees is not None:
            announces[i] = sees & ~sees.all()
    return {
        "_kitchen": kitchen,
        "_found": found,
        "_recipes": recipes[:1] if (recipes == recipes[0]).all() else recipes,
        "_steps": paths.longest_path(kitchen),
        "_terrains": relabel.terrains(kitchen),
        "_announces": announces.any(0),
    }


def _near(mask: np.ndarray, width: int, radius: int) -> np.ndarray:
    """bool[cells]: at most `radius` columns and rows from a cell of the mask."""
    cells = np.arange(mask.size)
    x, y = cells % width, cells // width
    at = np.flatnonzero(mask)
    far = np.maximum(abs(x[:, None] - x[at]), abs(y[:, None] - y[at]))
    return np.asarray((far <= radius).any(1))


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

    def __init__(
        self,
        policy: Greedy,
        obs: sk.Observation,
        agent: int,
        asked: AskedMemory | None,
        key: Array,
    ):
        kitchen = policy._kitchen
        self.policy, self.obs, self.asked = policy, obs, asked
        self.announces = jnp.asarray(policy._announces)[agent]
        self.things = ask.INGREDIENTS[: kitchen.kinds]
        n = self.n = kitchen.num_agents
        k = jnp.arange(n)
        self.order = jnp.where(k == 0, agent, jnp.where(k <= agent, k - 1, k))
        self.others = k > 0
        own = jnp.stack([obs.chef == k + 1 for k in range(n)])
        floor = obs.terrain == FLOOR
        none = jnp.zeros_like(floor)
        self.seen = self.there = own.any((1, 2))
        if asked is not None:
            starts_of = jnp.asarray(kitchen.start_cells, jnp.int32)
            terrains = jnp.asarray(policy._terrains, jnp.int32)
            ground = obs.terrain.reshape(-1)
            fits = ((ground == terrains) | (ground == lv.VOID)).all(1)
            home = starts_of[jnp.argmax(fits)][self.order]
            cells = jnp.arange(kitchen.height * kitchen.width).reshape(kitchen.height, -1)
            own = jnp.where(self.seen[:, None, None], own, cells == home[:, None, None])
            self.there = jnp.ones_like(self.seen)

        # One flood: from oneself, around the others and through them; from each other chef, through
        # everybody and around them; from the pots; from the windows.
        starts = jnp.stack([own[0], *own, *own[1:], none, none])
        free = floor & (obs.chef == 0)
        stand = jnp.stack([floor & (obs.chef < 2), *[floor] * n, *[free] * (n - 1), floor, floor])
        seeds = paths.chef_seeds(starts, stand & ~starts)
        beside = []
        for code in (POT, SERVING):
            station = obs.terrain == code
            near = none
            for direction in range(4):
                near = near | paths.shifted(station, direction)
            beside.append(near & floor)
        seeds = seeds.at[-2:].set(jnp.where(jnp.stack(beside), 0, paths.FAR).astype(jnp.int16))
        maps = paths.flood(seeds, stand & ~starts, policy._steps)
        maps = jnp.minimum(maps, seeds)
        facing = jnp.sum(jnp.where(own, obs.facing, 0), (1, 2)).astype(jnp.int16)
        facing = jnp.concatenate([facing[:1], facing, facing[1:], jnp.full(2, -1, jnp.int16)])
        # How much floor each chef has to itself, if nobody gives way.
        own_floor = jnp.concatenate([maps[:1], maps[n + 1 : -2]])
        self.freedom = jnp.sum(own_floor < paths.FAR, (1, 2), dtype=jnp.int32)
        maps = paths.reach(maps, starts, facing[:, None, None], stand)
        maps = maps.reshape(len(starts), -1).astype(jnp.int32)
        self.around, self.through = maps[0], maps[1]
        steps = maps >> 3
        self.far = steps[1 : n + 1]
        self.from_pots, self.from_windows = steps[-2], steps[-1]
        self.beside_pot = beside[0].reshape(-1)

        flat = sk.Observation(*(part.reshape(-1) for part in obs))
        self.flat, self.own, self.floor = flat, own.reshape(n, -1), floor.reshape(-1)
        self.hand = jnp.sum(jnp.where(self.own, flat.thing, 0), 1)
        self.lying = flat.lying
        self.pot = flat.terrain == POT
        self.busy = self.pot & (flat.timer > 0)
        self.remaining = jnp.maximum(flat.timer - 1, 0)
        self.frontier = sk.frontier(obs).reshape(-1)
        self.cell = jnp.argmax(self.own[0]).astype(jnp.int32)
        # To the north, south, east and west: floor, free floor, a chef, floor before a pot.
        chefs = flat.chef > 1
        masks = jnp.stack([self.floor, self.floor & ~chefs, chefs, self.beside_pot])
        width = kitchen.width
        beside_cells = self.cell + jnp.array([-width, width, 1, -1])
        self.beside = masks[:, beside_cells]
        self.company = jnp.min(self.far[1:], axis=0, initial=FAR)[beside_cells]
        if asked is None:
            self._missing()
        else:
            self._missing_asked(asked, key)

    def _level(self) -> Array:
        """Which of the layouts this is shows in what is in view."""
        known = self.flat.terrain == jnp.asarray(self.policy._terrains, jnp.int32)
        return jnp.argmax((known | (self.flat.terrain == lv.VOID)).all(1))

    def _missing_asked(self, asked: AskedMemory, key: Array) -> None:
        """The same where one recipe is asked for at a time."""
        flat, kitchen = self.flat, self.policy._kitchen
        shifts = ask.SHIFTS[: kitchen.kinds]

        def numbers(soup: Array) -> Array:
            """How many of each kind, [kinds, ...]."""
            return jnp.stack([soup >> shift & 3 for shift in shifts])

        recipes = jnp.asarray(self.policy._recipes, jnp.int32)
        table = recipes[0] if len(recipes) == 1 else recipes[self._level()]
        inside = jnp.where(self.pot, flat.thing, 0)
        have = numbers(inside)
        # What others seem to cook, where nothing tells; else, after some time, a guess.
        may = numbers(table)  # [kinds, recipes]
        fits = ((have[:, None] <= may[..., None]).all(0) & (inside > 0)).any(1)
        fits &= table != asked.wrong
        begun = jnp.where(fits.any(), table[jnp.argmax(fits)], 0)
        noise = jax.random.uniform(jax.random.fold_in(key, 2), table.shape)
        guess = table[jnp.argmax(noise - (table == asked.wrong))]
        only = (table == table[0]).all()
        recipe = jnp.where(asked.recipe > 0, asked.recipe, jnp.where(only, table[0], begun))
        self.unknown = (asked.recipe == 0) & ~only
        self.recipe = jnp.where((recipe == 0) & (asked.waited > PATIENCE), guess, recipe)

        idle = self.pot & (flat.timer == 0)
        # Whoever does not know takes what others bring.
        brought = jnp.stack([(self.lying == thing).sum() for thing in self.things])[:, None]
        trusts = self.unknown & (brought.sum() > 0) & ~fits.any()
        self.want = numbers(self.recipe)
        want = self.want[:, None]
        total = have.sum(0)
        right = (have <= want).all(0)
        # A pot that can no longer become it is filled up, with whatever there is, or started.
        there = [(flat.terrain == code).any() for code in DISPENSERS[: kitchen.kinds]]
        first = jnp.arange(kitchen.kinds) == jnp.argmax(jnp.stack(there))
        full = 0 if kitchen.dynamics == "manual" else 3 - total
        spoilt = jnp.where(first[:, None], full, 0)
        missing = jnp.where(right, want - have, spoilt)
        missing = jnp.where(self.recipe > 0, missing, 0)
        missing = jnp.where(trusts, jnp.minimum(brought, 3 - total), missing)
        self.missing = jnp.where(idle, missing, 0)
        self.inside = jnp.where(idle, total, 0)
        self.full = idle & (total > 0) & (self.missing.sum(0) == 0) & (self.recipe > 0)
        if kitchen.dynamics == "classic":  # none, but for those that stood full from the start
            self.full = idle & (total == 3)
        # Soups that are worth serving, and those that are only in the way.
        soups = jnp.stack([self.lying, jnp.broadcast_to(self.hand[0], self.lying.shape)])
        right_soup = (soups >= SOUP) & (soups == self.recipe)
        self.good_lying, self.good_hand = right_soup[0], right_soup[1, 0]
        if not kitchen.penalty:  # serving is the way to be rid of a soup
            self.good_hand = self.hand[0] >= SOUP

    def _learn(self, goal: Array, loiter: Array) -> tuple[Array, Array]:
        """What goes before any job, or instead of none: to learn and to tell what is asked for."""
        assert self.asked is not None
        flat, kitchen = self.flat, self.policy._kitchen
        mine = self.far[0] < FAR
        button, empty = flat.terrain == BUTTON, self.hand[0] == NOTHING
        away = (flat.terrain == COUNTER) & (self.lying == NOTHING)
        look = watch = jnp.zeros_like(button)
        if kitchen.view_radius is not None:
            maps = jnp.stack([flat.terrain == INDICATOR, button])
            maps = maps.reshape(2, kitchen.height, kitchen.width).astype(jnp.int32)
            size, pad = 2 * kitchen.view_radius + 1, kitchen.view_radius
            seen = jax.lax.reduce_window(
                maps, 0, jax.lax.max, (1, size, size), (1, 1, 1), [(0, 0), (pad, pad), (pad, pad)]
            )
            sights = (seen.reshape(2, -1) > 0) & self.floor & mine
            look, watch = sights[0], sights[1]
        costs = self.nearest((self.far, button))[0]
        nearest = self.ranks((costs, self.seen))[0] == 0
        can_press = (button & mine).any()
        unknown = self.unknown
        tells = self.announces & (self.asked.recipe > 0) & (self.asked.recipe != self.asked.told)
        explore = self.frontier & mine & ~self.own[0]
        looks = unknown & look.any()
        explores = explore.any() & (loiter | (unknown & ~looks))
        press = can_press & (tells | (unknown & ~looks & ~explores & nearest))
        waits = unknown & ~press & ~looks & watch.any() & (loiter | (self.recipe == 0)) & empty
        waits &= self.asked.waited <= PATIENCE
        goal = jnp.where(waits, jnp.where(watch, 0, FAR), goal)
        goal = jnp.where(explores, jnp.where(explore, 0, FAR), goal)
        goal = jnp.where(looks, jnp.where(look, 0, FAR), goal)
        goal = jnp.where(press, jnp.where(jnp.where(empty, button, away), 0, FAR), goal)
        return goal, loiter & ~(press | looks | explores | waits)

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
            table = recipes[self._level()]
        inside = jnp.where(self.pot, flat.thing & 15, 0)
        wanted = table[had][inside]
        idle = self.pot & (flat.timer == 0)
        onions = jnp.where(idle, (wanted >> 2) - (inside >> 2), 0)
        tomatoes = jnp.where(idle, (wanted & 3) - (inside & 3), 0)
        self.missing = jnp.stack([onions, tomatoes])
        self.inside = jnp.where(idle, (inside >> 2) + (inside & 3), 0)
        self.full = idle & (self.inside > 0) & (self.missing.sum(0) == 0)

    def nearest(self, *rows: tuple[Array, Array]) -> Array:
        """For pairs (costs, cells): each chef's least cost, at most FAR; i32[pairs, chefs]. All in
        one reduction, as in `ranks`: that compiles several times faster."""
        shape = self.far.shape
        costs = jnp.stack([jnp.broadcast_to(costs, shape) for costs, _ in rows])
        cells = jnp.stack([jnp.broadcast_to(cells, shape) for _, cells in rows])
        return jnp.min(jnp.where(cells, costs, FAR), axis=-1)

    def ranks(self, *rows: tuple[Array, Array]) -> Array:
        """For pairs (scores, chefs that count): how many of the others come before oneself, by a
        lower score, then by a lower index; i32[pairs]."""
        scores = jnp.stack([scores for scores, _ in rows])
        among = jnp.stack([chefs for _, chefs in rows])
        own = scores[:, :1]
        before = (scores < own) | ((scores == own) & (self.order < self.order[0]))
        return jnp.sum(before & among & self.others, axis=-1)

    def choose(self) -> tuple[Array, Array]:
        """(goal, loiter): extra costs i32[cells] of the cells that would do, FAR elsewhere; and
        whether there is no hurry to get to the goal."""
        flat, hand, far, others = self.flat, self.hand, self.far, self.others
        empty = (hand == NOTHING) & self.seen
        kinds = len(self.things)
        item = jnp.stack([hand == thing for thing in self.things])  # [kinds, chefs]
        dish, soup = hand == DISH, hand >= SOUP
        window = flat.terrain == SERVING
        free_counter = (flat.terrain == COUNTER) & (self.lying == NOTHING)
        on_counter = jnp.stack([self.lying == thing for thing in self.things])
        lying_dish, lying_soup = self.lying == DISH, self.lying >= SOUP
        if self.asked is not None:
            lying_soup = self.good_lying
        wants = self.missing > 0  # [kinds, cells]
        # The pots for what each chef has in hand, and the place for what is in one's own.
        wanted = (item[:, :, None] & wants[:, None]).any(0)
        mine = jnp.argmax(item[:, 0])
        place = jnp.where(dish[0], self.busy, jnp.where(soup[0], window, wants[mine]))

        to_pot, to_window, to_wanted, to_full, to_place, cost_soup = self.nearest(
            (far, self.pot),
            (far, window),
            (far, wanted),
            (far, self.full),
            (far, place),
            (far + self.from_windows, lying_soup),
        )
        pot_reach = (to_pot < FAR) & self.there
        window_reach = (to_window < FAR) & self.there
        # What somebody else who gets to the pots, or to the windows, can reach.
        in_reach = ((far < FAR) & (pot_reach & others)[:, None]).any(0)
        served = ((far < FAR) & (window_reach & others)[:, None]).any(0)

        # Where each chef will be free, and when: now, or after what it has in hand.
        delay = jnp.where(soup, to_window, to_wanted)
        useless = item.any(0) & (to_wanted == FAR)
        delay = jnp.where(empty, 0, jnp.where(useless, 10, delay))
        after = jnp.where(soup[:, None], self.from_windows, self.from_pots) + delay[:, None] + 1
        near = jnp.where((empty | useless)[:, None], far + delay[:, None], after)
        near = jnp.where(far < FAR, near, FAR)

        # What things cost each chef, the way to the pot (and on to the window) included. A thing on
        # a counter is there for those who can walk with it to a pot.
        onward = jnp.minimum(self.from_pots, RELAY) + 1
        known = (*DISPENSERS[:kinds], DISHES)
        stations = jnp.stack([flat.terrain == code for code in known])
        on_counters = jnp.stack([*on_counter, lying_dish])
        sources = stations[:, None] | (on_counters[:, None] & pot_reach[:, None])
        total = near + onward
        *cost_items, cost_dish, last_leg = self.nearest(
            *((total, source) for source in sources),
            (self.from_windows, self.beside_pot & (far < FAR)),
        )
        cost_item = jnp.stack(cost_items)  # [kinds, chefs]
        cost_serve = cost_dish + jnp.minimum(last_leg, RELAY)

        # Demand that nobody else covers. For who cannot get to a pot, what already lies within
        # reach of somebody who can is as good as there.
        cut_off = ~pot_reach[0]
        due = self.busy & (self.remaining <= cost_dish[0] + 2)
        shared = free_counter & in_reach & (far[0] < FAR)
        counted = [*(on_counters & in_reach), self.busy, due, lying_soup, shared, self.inside > 0]
        counts = jnp.sum(jnp.stack([*self.missing, *counted]).astype(jnp.int32), axis=-1)
        missing, staged = counts[:kinds], counts[kinds : 2 * kinds + 1]
        busy, urgent, soups, room, started = counts[2 * kinds + 1 :]
        held = jnp.sum(jnp.stack([*item, dish]) & others, axis=-1)
        # What the soups after those that cook now want, and nobody has brought.
        ahead = None if self.asked is None else missing + busy * self.want - held[:kinds]
        ahead = None if ahead is None else ahead - staged[:kinds]
        staged = jnp.where(cut_off, staged, 0)
        need_item = missing - held[:kinds] - staged[:kinds]
        covered_dishes = held[kinds] + staged[kinds]

        # Who does what: dishes go to those who are better placed for them than for ingredients.
        kind_cost = jnp.where((need_item > 0)[:, None], cost_item, FAR)
        cost_any = kind_cost.min(0)
        bias = cost_serve - jnp.minimum(cost_any, 2 * RELAY) + delay // 2
        start_cost = to_full + jnp.where(empty, 0, 8)
        dish_rank, item_rank, soup_rank, start_rank, place_rank = self.ranks(
            (bias, self.seen & ~dish & (cost_dish < FAR)),
            (cost_any, self.seen & ~dish & ~item.any(0) & (cost_any < FAR)),
            (cost_soup, empty & window_reach),
            (start_cost, self.seen),
            (to_place, jnp.where(dish[0], dish, item[mine])),
        )
        may_dish, may_item = self.policy.serves, self.policy.cooks
        can_dish = (cost_dish[0] < FAR) & may_dish
        dish_now = can_dish & (urgent - covered_dishes > dish_rank)
        dish_later = can_dish & (busy - covered_dishes > dish_rank)
        item_now = (cost_any[0] < FAR) & (need_item.sum() > item_rank) & may_item
        # Ahead of any demand: for the soups after those that cook now.
        ahead_cost = cost_item[:, 0]
        if ahead is not None:
            ahead_cost = jnp.where(ahead > 0, ahead_cost, FAR)
        spare = missing.sum() + busy * 3 - held[:kinds].sum()
        roomy = ~cut_off | (room > 1)
        stock = (ahead_cost.min() < FAR) & (spare > 0) & roomy & may_item

        def at(mask: Array, extra: Array | int = 0) -> Array:
            return jnp.where(mask, extra, FAR)

        # Empty hands.
        soup_mine = empty[0] & window_reach[0] & (cost_soup[0] < FAR) & may_dish
        soup_mine &= soups > soup_rank
        start_mine = (start_cost[0] < FAR) & may_item & (start_rank == 0)
        take_dish = dish_now | (~item_now & dish_later)
        kind = jnp.argmin(jnp.where(item_now, kind_cost[:, 0], ahead_cost))
        fetch = at(sources[jnp.where(take_dish, kinds, kind), 0], onward)
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

        # There directly, or over a counter within reach of somebody who can go on with it.
        direct = (far[0] < FAR) & place
        over = free_counter & jnp.where(soup[0], served, in_reach) & (far[0] < FAR)
        beyond = jnp.where(soup[0], self.from_windows, self.from_pots)
        goes = direct.any()
        way = goes | over.any()
        bring = jnp.where(goes, at(direct), at(over, jnp.minimum(beyond, RELAY)))
        put = jnp.where(place, bring - 3 * self.inside + 9, bring)
        use = way & place.any() & (place_rank < missing[mine])
        use |= way & cut_off & roomy
        swap = (dish_now | (dish_later & ~empty[1:].any())) & ~use
        swap |= start_blocked
        # What no pot will ever take again is put away: the other ingredient is wanted instead.
        swap |= ~use & (need_item.sum() > 0) & (missing[mine] == 0)
        item_goal = jnp.where(use & ~start_blocked, put, jnp.where(swap, away, at(self.pot)))
        item_loiter = ~use & ~swap

        soonest = jnp.maximum(self.remaining - far[0], 0)
        plate = jnp.where(self.busy & (bring < FAR), soonest, bring)
        surplus = (place_rank >= started + busy) | start_blocked
        use = way & (place_rank < busy)
        dish_goal = jnp.where(use & ~start_blocked, plate, jnp.where(surplus, away, at(self.pot)))
        early = ~(self.busy & (self.remaining <= far[0]) & (far[0] < FAR)).any()
        dish_loiter = jnp.where(use, early & pot_reach[0], ~surplus)

        goal = jnp.where(item[:, 0].any(), item_goal, goal)
        goal = jnp.where(dish[0], dish_goal, goal)
        if self.asked is not None:
            bring = jnp.where(self.good_hand, bring, at(free_counter))
        goal = jnp.where(soup[0], bring, goal)
        loiter = jnp.where(item[:, 0].any(), item_loiter, loiter)
        loiter = jnp.where(dish[0], dish_loiter, loiter)
        loiter = loiter & ~soup[0]
        return (goal, loiter) if self.asked is None else self._learn(goal, loiter)

    def walk(
        self,
        goal: Array,
        loiter: Array,
        stuck: Array,
        dithers: Array,
        retreat: Array,
        key: Array,
    ) -> tuple[Array, Array]:
        """(action, retreat): the next primitive action towards the cheapest cell of the goal, and
        for how many steps to back off."""
        flat = self.flat
        wanted = goal < FAR
        extra = jnp.where(wanted, goal, 0) * paths.STEP
        around = jnp.where(wanted & (self.around < paths.FAR), self.around + extra, paths.FAR)
        through = jnp.where(wanted & (self.through < paths.FAR), self.through + extra, paths.FAR)
        nowhere = through.min() >= paths.FAR
        # Nothing known to go for: look where nobody has looked.
        explore = self.frontier & ~self.own[0]
        around = jnp.where(nowhere & explore, self.around, around)
        through = jnp.where(nowhere & explore, self.through, through)
        loiter = loiter & ~(nowhere & explore.any())

        # Who has to give way: the one with far more room, else the one with less in hand, then the
        # one with the higher index.
        weight = jnp.asarray([0, 1, 1, 2])[jnp.minimum(self.hand, 3)] + (self.hand >= SOUP)
        weight = weight * self.n - self.order
        near = self.far[:, self.cell]
        close = self.seen & (near <= 3)
        cornering = close & (2 * self.freedom < self.freedom[0])
        cornered = close & (2 * self.freedom[0] < self.freedom)
        humble = ((cornering | ((weight > weight[0]) & ~cornered)) & self.seen).any()
        slack = jnp.where(humble | (stuck > 1), 20, jnp.where(dithers, 0, 2)) * paths.STEP
        detour = around.min() <= jnp.minimum(through.min() + slack, paths.FAR - 1)
        costs = jnp.where(detour, around, through)
        target = jnp.argmin(costs)
        cost = jnp.where(detour, self.around, self.through)[target]
        there = cost < paths.STEP
        lost = costs[target] >= paths.FAR
        act = jnp.where(flat.terrain[target] == FLOOR, STAY, INTERACT)
        action = jnp.where(lost, STAY, jnp.where(there, act, cost & 7))
        # Early: stand ready, but not in the way.
        ready = loiter & (((cost >> 3) <= 2) | (self.hand[0] == NOTHING))
        action = jnp.where(ready | (loiter & there), STAY, action)

        if self.n == 1:
            return action, retreat
        # Step aside, to a free cell drawn at random, of cells that are not before a pot if idle.
        noise = jax.random.uniform(key, (6,))
        free, crowd, before_pot = self.beside[1], self.beside[2], self.beside[3]
        scores = noise[:4] + free + (free & ~before_pot)
        aside = jnp.where(free.any(), jnp.argmax(scores), STAY)
        blocked = (action < STAY) & crowd[jnp.minimum(action, 3)]
        waiting = action == STAY
        in_way = self.beside_pot[self.cell] & (noise[4] < 0.8)
        in_way |= crowd.any() & (noise[4] < 0.4)
        yields = blocked & humble & (noise[4] < 0.7)
        yields |= (stuck > 2) & (noise[4] < 0.5)
        yields |= waiting & in_way
        pause = (stuck > 0) & humble & ~blocked & (noise[5] < 0.5) & (action < STAY)
        action = jnp.where(yields, aside, jnp.where(pause, STAY, action))
        # One that waits in a dead end comes out towards those who may want in; one that keeps
        # another one in a dead end backs off for some steps.
        towards = jnp.min(jnp.where(flat.chef > 1, self.through, paths.FAR))
        come_out = loiter & cornered.any() & (towards < paths.FAR)
        action = jnp.where(come_out, towards & 7, action)
        corked = (cornering & (near <= 1)).any()
        retreat = jnp.where(blocked & corked, BACK_OFF, jnp.maximum(retreat - 1, 0))
        backwards = jnp.argmax(jnp.where(free, self.company + noise[:4], -1.0))
        action = jnp.where((retreat > 0) & free.any(), backwards, action)
        # Two who dodge each other in step go on for ever, unless one of them hesitates.
        hesitates = dithers & (noise[5] < 0.3) & (action < STAY)
        return jnp.where(hesitates, STAY, action), retreat

    def enters(self, action: Array) -> Array:
        """Whether a move would enter a floor cell, were no chef on it."""
        return self.beside[0][jnp.minimum(action, 3)]
