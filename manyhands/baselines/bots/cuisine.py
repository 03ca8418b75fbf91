"""Players of cuisines: `greedy` and `dispatched`.

Both look for what is missing for the open orders, the most urgent first: a dish that is neither
made nor being made needs its inputs, these need theirs, and so on down to the ingredients. From
that follow the jobs of a chef: put what it holds where it is needed, activate a tool, take out what
a tool has made, fetch an ingredient. A greedy chef takes the best job for itself, as if it were
alone. A dispatched one works out who does what for all chefs, job after job, each with what is then
still missing, and does its own part: all chefs see the same, so that their plans agree.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import number, whole
from manyhands.core.env import (
    Array,
    DeviceView,
    Env,
    SeatError,
    state_dataclass,
    unwrap,
)
from manyhands.envs.cuisine.env import Cuisine
from manyhands.envs.cuisine.menu import Book
from manyhands.envs.cuisine.state import STORE, TABLE, TOOLS, actions_of

NEVER = 1000.0  # the cost of what cannot or need not be done
LATE = 60.0  # of clearing a tool, or one's hands
WALK = 1.0  # of going to another place first
RANK = 4.0  # of being for the next order in the queue


def greedy(env: Env, noise: float = 0.0, ahead: int = 0) -> Planner:
    """A chef that takes the most urgent useful step.

    Args:
        noise: the share of its actions that are random legal ones.
        ahead: how many of each dish are made before they are ordered.
    """
    return Planner(env, False, number("noise", noise, 0, 1), whole("ahead", ahead, 0, 9))


def dispatched(env: Env, noise: float = 0.0, ahead: int = 1) -> Planner:
    """A chef that does its part of a plan for all chefs; options as for `greedy`."""
    return Planner(env, True, number("noise", noise, 0, 1), whole("ahead", ahead, 0, 9))


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("noise",),
    meta_fields=("env", "together", "ahead"),
)
@dataclasses.dataclass(frozen=True)
class Planner:
    """A `DevicePolicy`; see the module's docstring.

    Args:
        env: the cuisine, or a wrapper of it.
        together: whether it divides the work among all chefs.
        noise: the share of its actions that are random legal ones.
        ahead: how many of each dish are made before they are ordered.
    """

    any_seat: ClassVar[bool] = True
    env: Env
    together: bool
    noise: float
    ahead: int

    def __post_init__(self) -> None:
        unwrap(self.env, Cuisine, SeatError)

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: tuple[()], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[()]]:
        found = unwrap(self.env, Cuisine)
        legal = found.lower(view.legal) if found.wrappers else view.legal
        tie, chance, which = jax.random.split(key, 3)
        kitchen = _seen(found.env, view.perception, agent)
        if self.together:
            action = _divided(found.env, self.ahead, kitchen, agent)
        else:
            options = _options(found.env, self.ahead, kitchen, ~kitchen.bound)
            costs = options.costs[agent]
            shake = jax.random.uniform(tie, costs.shape, maxval=0.5)
            action = options.actions[agent, jnp.argmin(costs + shake)]
        wild = jnp.argmax(jnp.where(legal, jax.random.uniform(which, legal.shape), -1.0))
        astray = (jax.random.uniform(chance) < self.noise) | ~legal[action]
        action = jnp.where(astray, jnp.where(legal[action], wild, 0), action).astype(jnp.int32)
        return found.lift(action), memory


# ---- what is seen --------------------------------------------------------------------------------


@state_dataclass
class _Kitchen:
    """What a plan is made from, as 32-bit floats and flags; T tools, K items, R recipes.

    Attributes:
        place: i32[N]; held: f32[N, K]; bound: bool[N].
        inside: f32[T, K]; busy, ready: bool[T]; waiting: f32[K], dishes on the table.
        ordered: f32[Q, K], the dish of each open order.
        on: bool[R], recipes of the level; exists: bool[T]; stock: bool[K]; dishes: f32[K].
        taken: bool[T], tools that a chef is about to change, so that no other goes there for what
            is in them.
    """

    place: Array
    held: Array
    bound: Array
    inside: Array
    busy: Array
    ready: Array
    waiting: Array
    ordered: Array
    on: Array
    exists: Array
    stock: Array
    dishes: Array
    taken: Array


def _seen(cuisine: Cuisine, row: Array, agent: Any) -> _Kitchen:
    """The kitchen from one chef's observation, the chefs in index order."""
    book, layout = cuisine.book, cuisine.observation_layout
    row = row.astype(jnp.float32)

    def part(name: str) -> Array:
        return layout.part(row, name)

    def chefs(own: str, others: str) -> Array:
        rows = part(own)[None]
        if others in layout:
            rows = jnp.concatenate([rows, part(others).reshape(cuisine.chefs - 1, -1)])
        j = np.arange(cuisine.chefs)
        return rows[jnp.where(j == agent, 0, jnp.where(j < agent, j + 1, j))]

    count = len(book.levels)
    level = part("level") if count > 1 else jnp.ones(1)
    to_items = np.eye(len(book.items), dtype=np.float32)[book.dishes]  # [D, K]

    return _Kitchen(
        place=jnp.argmax(chefs("place", "others' places"), axis=1),
        held=chefs("held", "others' hands"),
        bound=chefs("bound", "others bound")[:, 0] > 0,
        inside=part("inside"),
        busy=part("busy") > 0,
        ready=part("ready") > 0,
        waiting=part("waiting") @ to_items,
        ordered=part("orders") @ to_items,
        on=level @ book.recipe_on > 0,
        exists=level @ book.exists[:, TOOLS:] > 0,
        stock=level @ book.stock > 0,
        dishes=(level @ book.dish_on) @ to_items,
        taken=jnp.zeros(len(book.kinds), bool),
    )


# ---- what is missing -----------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def _depth(book: Book) -> int:
    """The most tools that an item passes through."""
    steps: dict[int, int] = {}
    for r in range(len(book.recipes)):
        inside = np.flatnonzero(book.need[r]).tolist()
        made = int(book.makes[r])
        steps[made] = max(steps.get(made, 0), 1 + max(steps.get(k, 0) for k in inside))
    return max(steps.values())


def _missing(
    book: Book, ahead: int, kitchen: _Kitchen, first: Array | bool = False
) -> tuple[Array, Array]:
    """f32[K] each: the rank of the first order for which another one of an item has to be made or
    fetched, and of the first for which it is used; NEVER if for none. What is made ahead comes
    after all orders; another one of each item in `first`, bool[K], before them."""
    wanted = jnp.cumsum(kitchen.ordered, axis=0)
    if ahead:
        wanted = jnp.concatenate([wanted, wanted[-1:] + ahead * kitchen.dishes])
    have = kitchen.inside.sum(0) + kitchen.held.sum(0) + kitchen.waiting
    wanted = jnp.where(first, jnp.maximum(wanted, have + 1), wanted)
    outputs = np.eye(len(book.items), dtype=np.float32)[book.makes]  # [R, K]
    inputs = book.need.astype(np.float32)
    made_of = jnp.einsum("rk,rj,r->kj", outputs, inputs, kitchen.on.astype(jnp.float32))
    missing, used = jnp.maximum(wanted - have, 0), wanted
    for _ in range(_depth(book)):
        used = wanted + missing @ made_of
        missing = jnp.maximum(used - have, 0)
    return _first(missing > 0), _first(used > 0)


def _blocking(book: Book, kitchen: _Kitchen, goal: Array) -> Array:
    """bool[K]: what the contents of begun tools will become where no other tool of the kind is
    free: it comes first, since all else waits for the tool."""
    free = kitchen.exists & ~kitchen.busy & ~kitchen.ready
    begun = free & (kitchen.inside.sum(1) > 0)
    spare = jnp.any(_alike(book) & (free & ~begun), axis=1)
    made_with = book.made_with[:, TOOLS:].T & kitchen.on
    fits = jnp.all(kitchen.inside[:, None] <= book.need, axis=2) & made_with  # [T, R]
    whole = jnp.any(jnp.all(kitchen.inside[:, None] == book.need, axis=2) & made_with, axis=1)
    blocks = begun & ~spare & ~whole & ~kitchen.taken & jnp.any(fits, axis=1)
    becomes = jnp.argmin(jnp.where(fits, goal, 2 * NEVER), axis=1)
    made = jnp.asarray(book.makes)[becomes][:, None] == np.arange(len(book.items))
    return jnp.any(made & blocks[:, None], axis=0)


def _alike(book: Book) -> np.ndarray:
    """bool[T, T]: which tools are of one kind."""
    return np.array([[one == other for other in book.kinds] for one in book.kinds])


def _first(flags: Array) -> Array:
    """f32[K]: the first row of flags [Q, K] that is True, NEVER if none is."""
    rows = np.arange(flags.shape[0], dtype=np.float32)[:, None]
    return jnp.min(jnp.where(flags, rows, NEVER), axis=0)


# ---- jobs ----------------------------------------------------------------------------------------


class _Jobs:
    """The numbers of the jobs: slices of one list."""

    def __init__(self, book: Book):
        tools, items = len(book.kinds), len(book.items)
        sizes = {
            "activate": tools,
            "take": tools,  # what a tool has made
            "expect": tools,  # what it will have made: go there and wait
            "fetch": items,
            "prepare": items,  # fetch for a tool that is not free yet
            "put": tools,
            "attend": tools,  # go to a tool that is not free yet, and wait
            "serve": 1,
            "throw": 1,
            "wait": 1,
        }
        self.slices, end = {}, 0
        for name, size in sizes.items():
            self.slices[name] = slice(end, end + size)
            end += size
        self.count = end

    def which(self, job: Array, *names: str) -> Array:
        """Whether a job is one of these."""
        spans = [self.slices[name] for name in names]
        return functools.reduce(
            jnp.logical_or, [(job >= span.start) & (job < span.stop) for span in spans]
        )

    def target(self, job: Array, *names: str) -> Array:
        """The number of a job within its slice; 0 for others."""
        found = jnp.int32(0)
        for name in names:
            start = self.slices[name].start
            found = found + jnp.where(self.which(job, name), job - start, 0)
        return found


def _fits(book: Book, kitchen: _Kitchen, goal: Array, free: Array, inside: Array) -> Array:
    """f32[T, K]: the rank of what an item put into a tool would become a part of. The last empty
    tool of a kind is kept for what is needed first of all that is not begun."""
    need, made_with = book.need.astype(np.float32), book.made_with[:, TOOLS:].T  # [R, K], [T, R]
    begun = inside.sum(1) > 0
    room = jnp.all(inside[:, None] <= need, axis=2) & made_with & free[:, None]
    started = jnp.any(room & begun[:, None], axis=0)  # [R]
    first = jnp.min(jnp.where(made_with & ~started, goal, NEVER), axis=1)  # [T]
    spare = jnp.sum(_alike(book) & (free & ~begun), axis=1) > 1
    room = room & (begun[:, None] | spare[:, None] | (goal <= first[:, None]))
    asks = room[:, :, None] & (need[None] > inside[:, None])  # [T, R, K]
    rank = jnp.min(jnp.where(asks, goal[None, :, None], NEVER), axis=1)
    return jnp.where(rank < NEVER, rank - 0.1 * begun[:, None], NEVER)


class _Options(NamedTuple):
    """What chefs could do now.

    Attributes:
        costs: f32[N, J], of each job for each chef.
        actions: i32[N, J], with which each would begin it.
        best, rank: [K], the free tool into which another one of each item would go, and for what.
    """

    costs: Array
    actions: Array
    best: Array
    rank: Array


def _options(cuisine: Cuisine, ahead: int, kitchen: _Kitchen, left: Array) -> _Options:
    """The jobs that there are; `left`, bool[N], are the chefs who have none yet."""
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    tools, items = len(book.kinds), len(book.items)
    lacking, _ = _missing(book, ahead, kitchen)
    goal = jnp.where(kitchen.on, lacking[book.makes], NEVER)  # f32[R]
    lacking, used = _missing(book, ahead, kitchen, _blocking(book, kitchen, goal))
    goal = jnp.where(kitchen.on, lacking[book.makes], NEVER)
    free = kitchen.exists & ~kitchen.busy & ~kitchen.ready
    fits = _fits(book, kitchen, goal, free, kitchen.inside)
    used_now = kitchen.exists & (~free | (kitchen.inside.sum(1) > 0))
    later = _fits(book, kitchen, goal, used_now, jnp.zeros_like(kitchen.inside))
    best, rank = jnp.argmin(fits, axis=0), jnp.min(fits, axis=0)
    soon = jnp.min(later, axis=0)
    place = kitchen.place[:, None]
    tool_places = np.arange(TOOLS, TOOLS + tools)
    item_numbers = np.arange(items)
    empty = kitchen.held.sum(1, keepdims=True) == 0
    helpers = jnp.sum(empty[:, 0] & left)

    def walk(target: Any) -> Array:
        return jnp.where(place == target, 0.0, WALK)

    def begin(target: Any, action: Any) -> Array:
        return jnp.where(place == target, action, go + target)

    # Activate: if what it makes is needed, or nothing more can be added.
    need, made_with = book.need.astype(np.float32), book.made_with[:, TOOLS:].T
    usable = made_with & kitchen.on & free[:, None]
    complete = jnp.all(kitchen.inside[:, None] == need, axis=2) & usable
    extends = jnp.all(kitchen.inside[:, None] <= need, axis=2) & usable & (goal < NEVER)
    stuck = jnp.any(complete, axis=1) & ~jnp.any(extends, axis=1)
    ripe = jnp.min(jnp.where(complete, goal, NEVER), axis=1)
    starts = jnp.where(ripe < NEVER, RANK * ripe - 3.0, jnp.where(stuck, LATE, NEVER))  # [T]
    starts = jnp.where(kitchen.taken, NEVER, starts)

    # Take out what is made: a dish for the table, an input for a free tool, or to clear the tool.
    product = jnp.argmax(kitchen.inside, axis=1)
    serves = jnp.minimum(used[product], float(cuisine.max_orders + 1))
    serves = jnp.where(kitchen.dishes[product] > 0, serves, NEVER)
    takes = jnp.minimum(serves, rank[product])
    asked = jnp.any(made_with & (goal < NEVER), axis=1)
    same = jnp.any((made_with & kitchen.on)[:, None] & made_with[None], axis=2)  # [T, T]
    freed = jnp.any(same & free[None], axis=1)
    clears = jnp.where(asked & ~freed, LATE, NEVER)
    value = jnp.where(takes < NEVER, RANK * takes - 2.0, clears)
    value = jnp.where(kitchen.taken, NEVER, value)
    taken = jnp.where(kitchen.ready & ~kitchen.busy, value, NEVER)
    works = kitchen.ready & kitchen.busy & (takes < NEVER)
    expected = jnp.where(works, jnp.minimum(value + 3.0, NEVER), NEVER)

    # Fetch an ingredient for which there is room, or will be.
    stocked = jnp.where(kitchen.stock, lacking, NEVER)
    fetches = jnp.where(rank < NEVER, RANK * jnp.maximum(stocked, rank), NEVER)
    prepares = jnp.where(soon < NEVER, RANK * jnp.maximum(stocked, soon) + 2.0, NEVER)
    prepares = jnp.where((rank >= NEVER) & (helpers > 1), prepares, NEVER)

    # Put down what is held.
    held = jnp.argmax(kitchen.held, axis=1)
    into, after = fits[:, held].T, later[:, held].T  # [N, T]
    serve = jnp.minimum(used[held], float(cuisine.max_orders + 1)) + 0.5
    serve = jnp.where(kitchen.dishes[held] > 0, serve, NEVER)[:, None]
    attends = jnp.where((after < NEVER) & (helpers > 0), RANK * after + LATE / 2, NEVER)
    ones, whole = np.ones((cuisine.chefs, 1), np.float32), np.ones((cuisine.chefs, 1), np.int32)
    jobs = {
        "activate": (starts + walk(tool_places), begin(tool_places, activate)),
        "take": (taken + walk(tool_places), begin(tool_places, get + product)),
        "expect": (expected + walk(tool_places), begin(tool_places, 0)),
        "fetch": (fetches + walk(STORE), begin(STORE, get + item_numbers)),
        "prepare": (prepares + walk(STORE), begin(STORE, get + item_numbers)),
        "put": (RANK * into + walk(tool_places), begin(tool_places, put)),
        "attend": (attends + walk(tool_places), begin(tool_places, 0)),
        "serve": (RANK * serve + walk(TABLE), begin(TABLE, put) * whole),
        "throw": (LATE + walk(STORE), begin(STORE, put) * whole),
        "wait": (3 * LATE * ones, 0 * whole),
    }
    bare = ("activate", "take", "expect", "fetch", "prepare")
    costs = [
        jnp.where(empty if name in bare else ~empty | (name == "wait"), cost, NEVER)
        for name, (cost, _) in jobs.items()
    ]
    actions = [action.astype(jnp.int32) for _, action in jobs.values()]
    return _Options(
        jnp.minimum(jnp.concatenate(costs, axis=1), NEVER),
        jnp.concatenate(actions, axis=1),
        best,
        rank,
    )


# ---- the division of work ------------------------------------------------------------------------


def _divided(cuisine: Cuisine, ahead: int, kitchen: _Kitchen, agent: Any) -> Array:
    """The agent's action in the plan of all chefs: again and again the cheapest of all jobs goes to
    its chef, as if it were done, until each has one. Chefs whose hands are full come first."""
    book, chefs, jobs = cuisine.book, cuisine.chefs, _Jobs(cuisine.book)
    tools, items = len(book.kinds), len(book.items)
    t, k, n = np.arange(tools)[:, None], np.arange(items), np.arange(chefs)

    def give(carry: tuple[_Kitchen, Array, Array], _: None) -> tuple[Any, None]:
        now, left, plan = carry
        found = _options(cuisine, ahead, now, left)
        full = now.held.sum(1, keepdims=True) > 0
        urgent = found.costs - jnp.where(full, 2 * NEVER, 0.0)
        pick = jnp.argmin(jnp.where(left[:, None], urgent, 5 * NEVER))
        who, job = pick // jobs.count, pick % jobs.count
        plan = jnp.where(n == who, found.actions[who, job], plan)

        # As if it were done.
        starts, takes = jobs.which(job, "activate"), jobs.which(job, "take", "expect")
        fetches, puts = jobs.which(job, "fetch", "prepare"), jobs.which(job, "put")
        here = t == jobs.target(job, "activate", "take", "expect", "put")  # [T, 1]
        product = jnp.argmax(now.inside[jobs.target(job, "take", "expect")])
        fetched = jobs.target(job, "fetch", "prepare")
        item = jnp.where(takes, product, jnp.where(fetches, fetched, jnp.argmax(now.held[who])))
        moved = (k == item).astype(jnp.float32)
        joins = (takes | jobs.which(job, "fetch")) & (found.rank[item] < NEVER)
        goal = (puts & here) | ((t == found.best[item]) & joins)
        inside = jnp.where(takes & here, 0.0, now.inside) + jnp.where(goal, moved, 0.0)
        made = jnp.all(now.inside[:, None] == book.need, axis=2)
        made = made & book.made_with[:, TOOLS:].T & now.on
        outputs = made.astype(jnp.float32) @ np.eye(items, dtype=np.float32)[book.makes]
        inside = jnp.where(starts & here, outputs, inside)
        served = jobs.which(job, "serve") | (takes & ~joins & (now.dishes[item] > 0))
        mine = (n == who)[:, None]
        keeps = jobs.which(job, "attend", "wait")
        held = jnp.where(mine & ~keeps, 0.0, now.held)
        held = held + jnp.where(mine & jobs.which(job, "prepare"), moved, 0.0)
        new = dataclasses.replace(
            now,
            inside=inside,
            busy=(now.busy & ~(takes & here[:, 0])) | (starts & here[:, 0]),
            ready=(now.ready & ~(takes & here[:, 0])) | (starts & here[:, 0]),
            waiting=now.waiting + jnp.where(served, moved, 0.0),
            held=held,
            taken=now.taken | (goal | ((starts | takes) & here))[:, 0],
        )
        return (new, left & (n != who), plan), None

    start = kitchen, ~kitchen.bound, jnp.zeros(chefs, jnp.int32)
    (_, _, plan), _ = jax.lax.scan(give, start, None, length=chefs)
    return plan[agent]
