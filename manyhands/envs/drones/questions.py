"""Questions about an evader that may be out of sight (`core/probes.py`)."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from manyhands.core.probes import NOT_KNOWN, Question
from manyhands.envs.drones.observe import as_read
from manyhands.envs.drones.state import DronesState

if TYPE_CHECKING:
    from manyhands.envs.drones.env import Drones

_QUARTERS = ("south-west", "south-east", "north-west", "north-east")
_FAR = (1, 2, 4)  # m
_DISTANCES = (
    f"less than {_FAR[0]} m",
    *(f"{low} to {high} m" for low, high in itertools.pairwise(_FAR)),
    f"more than {_FAR[-1]} m",
)


def questions(drones: Drones, state: DronesState, agent: int) -> list[Question]:
    """In which quarter of the arena the evader is and how far away, which a pursuer knows while one
    of the team sees it; and which pursuers see it, which it can work out. Where readings are lost,
    it believes what it read last. In the other task, and for the evader, nothing is hidden."""
    if not drones.pursuit or agent == drones.team or bool(state.over):
        return []
    read = as_read(drones, state, agent)
    places = np.asarray(state.bodies.position)
    true_where, where = (
        _whereabouts(evader, places[agent])
        for evader in (places[drones.team], np.asarray(read.known)[:3])
    )
    found = []
    for text, options, mine, true in zip(
        ("In which quarter of the arena is the evader?", "How far from you is the evader?"),
        (_QUARTERS, _DISTANCES),
        where,
        true_where,
        strict=True,
    ):
        believed = mine if np.asarray(read.seen).any() else NOT_KNOWN
        found.append(Question(text, (*options, NOT_KNOWN), believed, true, "evader"))
    answers = np.where(np.stack([read.seen, state.seen], 1), "yes", "no").tolist()
    for i, (mine, true) in enumerate(answers):
        text = f"Does {drones.agents[i]} see the evader itself?"
        if i == agent:
            text = "Do you see the evader yourself?"
        found.append(Question(text, ("yes", "no", NOT_KNOWN), mine, true, "sight"))
    return found


def _whereabouts(evader: np.ndarray, own: np.ndarray) -> tuple[str, str]:
    """The quarter of the arena, and the distance."""
    away = math.dist(evader, own)
    quarter = _QUARTERS[int(evader[0] >= 0) + 2 * int(evader[1] >= 0)]
    return quarter, _DISTANCES[sum(away >= limit for limit in _FAR)]
