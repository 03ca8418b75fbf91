"""Questions about what chefs are not told of a cuisine (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyhands.core.probes import NOT_KNOWN, Question
from manyhands.envs.cuisine.state import CuisineState

if TYPE_CHECKING:
    from manyhands.envs.cuisine.env import Cuisine


def questions(cuisine: Cuisine, state: CuisineState, agent: int) -> list[Question]:
    """Which dish will be ordered next, which a chef knows where the level has only one; none after
    the last order."""
    level, time = int(state.level), int(state.time)
    interval = cuisine.intervals[level]
    turn = time // interval + 1
    if turn * interval >= cuisine.max_steps or time >= cuisine.max_steps:
        return []
    dishes = [
        name for name, on in zip(cuisine.dish_names, cuisine.book.dish_on[level], strict=True) if on
    ]
    true = cuisine.dish_names[int(np.asarray(state.coming)[turn]) - 1]
    mine = true if len(dishes) == 1 else NOT_KNOWN
    text = "Which dish will be ordered next?"
    return [Question(text, (*dishes, NOT_KNOWN), mine, true, "orders")]
