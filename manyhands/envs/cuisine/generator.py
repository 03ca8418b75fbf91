"""Levels made from the shipped cookbook, from easy to hard."""

from __future__ import annotations

import functools
import random
from typing import Any

from manyhands.envs.cuisine.menu import MOST_TOOLS, Level, check, cookbook
from manyhands.envs.cuisine.shortest import alone

# How many steps a dish of a level takes one chef at most, by difficulty 0 to 4, and how many dishes
# there are.
STEPS = ((0, 13), (9, 20), (13, 27), (18, 30), (23, 40))
DISHES = ((1, 1), (1, 2), (2, 3), (2, 4), (3, 5))


@functools.cache
def steps_of(dish: str) -> int:
    """Steps that one chef needs for a shipped dish in a kitchen with one tool of each kind that it
    takes."""
    return alone(_kitchen([dish]), dish)


def _kitchen(dishes: list[str]) -> Level:
    every = list(cookbook()["tools"])
    full = check({"dishes": dishes, "tools": every})
    needed = {recipe.tool for recipe in full.recipes}
    return check({"dishes": dishes, "tools": [kind for kind in every if kind in needed]})


@functools.lru_cache(maxsize=256)
def generate(seed: int, difficulty: int = 2) -> Level:
    """The level of a seed: dishes that one chef can finish within a number of steps (found by
    search) that grows with the difficulty, the tools that they take, and up to three more.

    Args:
        seed: the same seed gives the same level.
        difficulty: 0 to 4.
    """
    draw = random.Random(f"cuisine {seed} {difficulty}")
    (least, most), (few, many) = STEPS[difficulty], DISHES[difficulty]
    names = list(cookbook()["recipes"])
    draw.shuffle(names)
    wanted, dishes = draw.randint(few, many), list[str]()
    for name in names:
        if len(dishes) == wanted:
            break
        if least <= steps_of(name) <= most:
            dishes.append(name)
    kitchen = _kitchen(dishes)
    tools = list(kitchen.tools)
    for _ in range(draw.randint(0, 3)):
        if len(tools) < MOST_TOOLS:
            tools.append(draw.choice(kitchen.tools))
    order = list(cookbook()["tools"])
    given: dict[str, Any] = {
        "name": f"generated-{difficulty}-{seed}",
        "title": f"Generated kitchen {seed}, difficulty {difficulty}",
        "chefs": 2 + difficulty // 2,
        "dishes": dishes,
        "tools": sorted(tools, key=order.index),
    }
    return check(given)
