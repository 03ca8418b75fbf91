"""Names of rooms, receptacles and objects: the kind, and a number among those of the kind in the
order of the slots. A room has a number only where there are several of its kind."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyhands.envs.home.catalog import words
from manyhands.envs.home.state import NONE, HomeConfig, HomeState


def numbered(kinds: Sequence[int], called: Sequence[str], always: bool = True) -> list[str]:
    """The names of slots with these kinds; "" for those without anything.

    Args:
        called: the name of each kind.
        always: whether what is alone of its kind has a number.
    """
    return list(names_of_slots(tuple(kinds), tuple(called), always))


@functools.lru_cache(maxsize=4096)
def names_of_slots(
    kinds: tuple[int, ...], called: tuple[str, ...], always: bool = True
) -> tuple[str, ...]:
    """`numbered`, remembered."""
    totals, so_far, found = Counter(kinds), Counter[int](), []
    for kind in kinds:
        if kind == NONE:
            found.append("")
            continue
        so_far[kind] += 1
        number = f" {so_far[kind]}" if always or totals[kind] > 1 else ""
        found.append(words(called[kind]) + number)
    return tuple(found)


def room_names(home: HomeConfig, state: HomeState) -> tuple[str, ...]:
    return names_of_slots(_tuple(state.room_kind), home.catalog.room_kinds, always=False)


def receptacle_names(home: HomeConfig, state: HomeState) -> tuple[str, ...]:
    return names_of_slots(_tuple(state.kind), home.catalog.receptacle_kinds)


def object_names(home: HomeConfig, state: HomeState) -> tuple[str, ...]:
    return names_of_slots(_tuple(state.object_kind), home.catalog.object_kinds)


def names_of_home(home: HomeConfig, state: HomeState) -> tuple[tuple[str, ...], ...]:
    """The names of the rooms, the receptacles and the objects, by slot."""
    return room_names(home, state), receptacle_names(home, state), object_names(home, state)


def _tuple(values: Any) -> tuple[int, ...]:
    return tuple(np.asarray(values).tolist())
