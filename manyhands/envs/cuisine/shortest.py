"""How long dishes take at least, by search: what a deadline must leave room for."""

from __future__ import annotations

import functools
import heapq
import itertools
from collections import Counter
from collections.abc import Iterator

from manyhands.core.env import ConfigError
from manyhands.envs.cuisine.menu import SERVING, STORAGE, Level

# Inside a tool: its contents, sorted; whether they are its product; steps until it is free.
_Inside = tuple[tuple[str, ...], bool, int]
_State = tuple[str | int, str, tuple[_Inside, ...]]  # where, what is held, the tools
MOST_STATES = 300_000  # of a search
_SERVED: _State = ("served", "", ())


@functools.lru_cache(maxsize=1024)
def alone(level: Level, dish: str) -> int:
    """Steps that one chef needs for a dish, from an empty kitchen and the serving table until it is
    served: the least there is, by A* over all that a chef can usefully do.

    Raises:
        ConfigError: one chef cannot make it in this kitchen, or there is too much to search.
    """
    wanted = _amounts(level, dish)
    start: _State = (SERVING, "", ((((), False, 0),) * len(level.tools)))
    best = {start: 0}
    number = itertools.count()
    heap = [(0, next(number), start)]
    while heap:
        bound, _, state = heapq.heappop(heap)
        cost = best[state]
        if state == _SERVED:
            return cost
        if bound > cost + _left(level, dish, wanted, state):
            continue
        if len(best) > MOST_STATES:
            raise ConfigError(f"{dish} has too many steps to find out how long it takes")
        for after in _next(level, dish, wanted, state):
            if cost + 1 < best.get(after, 10**9):
                best[after] = cost + 1
                guess = cost + 1 + _left(level, dish, wanted, after)
                heapq.heappush(heap, (guess, next(number), after))
    raise ConfigError(
        f"one chef cannot make {dish} here: something has to lie in a tool that is needed for "
        f"something else; tools are {', '.join(level.tools)}"
    )


def at_most(level: Level, dish: str) -> int:
    """Steps in which one chef finishes a dish that it can make: each thing after the other."""
    found = 0
    for item, amount in _amounts(level, dish).items():
        recipe = level.recipe(item)
        time = level.kind(recipe.tool).time if recipe else 0
        found += amount * (4 + max(time - 1, 0))
    return found


def _amounts(level: Level, dish: str) -> Counter[str]:
    """How many of each item a dish takes in all."""
    found = Counter({dish: 1})
    for recipe in reversed(level.recipes):  # what is made before its inputs
        for each in recipe.inputs:
            found[each] += found[recipe.item]
    return Counter({item: amount for item, amount in found.items() if amount})


def _made(level: Level, state: _State) -> Counter[str]:
    """How many of each item were taken or made so far, those used up included."""
    here: Counter[str] = Counter([state[1]] if state[1] else [])
    for contents, _, _ in state[2]:
        here.update(contents)
    for recipe in reversed(level.recipes):
        for each in recipe.inputs:
            here[each] += here[recipe.item]
    return here


def _left(level: Level, dish: str, wanted: Counter[str], state: _State) -> int:
    """A lower bound of the steps that are left."""
    if state == _SERVED:
        return 0
    at, held, _ = state
    made, left = _made(level, state), 0
    for item, amount in wanted.items():
        # Of an ingredient walk, get, walk, put; of what is made activate, get, walk, put.
        left += (4 - _stays(level, item)) * (amount - made[item])
    for contents, cooked, _ in state[2]:
        if cooked:
            left += 3 - _stays(level, contents[0])  # get, walk, put
    if held:
        left += 1  # put
    if at == STORAGE and not held and left:
        left -= 1
    return left


@functools.lru_cache(maxsize=4096)
def _stays(level: Level, item: str) -> bool:
    """Whether an item may go into the tool again in which it was made."""
    recipe = level.recipe(item)
    return recipe is not None and any(
        item in other.inputs and other.tool == recipe.tool for other in level.recipes
    )


def _next(level: Level, dish: str, wanted: Counter[str], state: _State) -> Iterator[_State]:
    """What one chef can do: waiting, and all that brings the dish nearer."""
    at, held, tools = state
    aged = tuple((c, cooked, max(busy - 1, 0)) for c, cooked, busy in tools)

    def changed(tool: int, inside: _Inside) -> tuple[_Inside, ...]:
        contents, cooked, busy = inside
        new = contents, cooked, max(busy - 1, 0)
        return (*aged[:tool], new, *aged[tool + 1 :])

    yield at, held, aged
    # Of tools that are alike and empty, it is enough to go to the first.
    seen = set()
    for place in (STORAGE, SERVING, *range(len(tools))):
        if place == at or (place == SERVING and held != dish) or (place == STORAGE and held):
            continue
        if isinstance(place, int):
            look = level.tools[place], tools[place]
            if look in seen:
                continue
            seen.add(look)
        yield place, held, aged
    if at == STORAGE and not held:
        made = _made(level, state)
        for item in wanted:
            if level.recipe(item) is None and made[item] < wanted[item]:
                yield at, item, aged
    elif at == SERVING and held == dish:
        yield _SERVED
    elif isinstance(at, int) and not tools[at][2]:
        contents, cooked, _ = tools[at]
        here = [r for r in level.recipes if r.tool == level.tools[at] and wanted[r.item]]
        if held and not cooked:
            after = Counter((*contents, held))
            if any(after <= Counter(recipe.inputs) for recipe in here):
                new = tuple(sorted((*contents, held)))
                yield at, "", changed(at, (new, False, 0))
        elif not held and cooked:
            yield at, contents[0], changed(at, ((), False, 0))
        elif not held and contents:
            for recipe in here:
                if tuple(sorted(recipe.inputs)) == contents:
                    time = level.kind(recipe.tool).time
                    yield at, "", changed(at, ((recipe.item,), True, time))


def together(level: Level, dish: str) -> int:
    """Steps that any number of chefs with any number of tools need for a dish from an empty
    kitchen: its longest chain of hands and tools."""

    def inside(item: str) -> int:
        """The step in which an item is put where it is needed."""
        recipe = level.recipe(item)
        if recipe is None:
            return 4  # walk to the storage, get, walk, put
        started = max(inside(each) for each in recipe.inputs) + 1
        return started + max(level.kind(recipe.tool).time, 1) + 2

    return inside(dish)
