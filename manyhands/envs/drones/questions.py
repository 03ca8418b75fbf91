"""Questions about an evader that may be out of sight (`core/probes.py`)."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from manyhands.core.probes import NOT_KNOWN, Question
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
    of the team sees it; and which pursuers see it, which it can work out. In the other task, and
    for the evader, nothing is hidden."""
    if not drones.pursuit or agent == drones.team or bool(state.over):
        return []
    seen = np.asarray(state.seen).tolist()
    places = np.asarray(state.bodies.position)
    evader, own = places[drones.team], places[agent]
    quarter = _QUARTERS[int(evader[0] >= 0) + 2 * int(evader[1] >= 0)]
    away = math.dist(evader, own)
    far = _DISTANCES[sum(away >= limit for limit in _FAR)]
    found = []
    for text, options, true in (
        ("In which quarter of the arena is the evader?", _QUARTERS, quarter),
        ("How far from you is the evader?", _DISTANCES, far),
    ):
        mine = true if any(seen) else NOT_KNOWN
        found.append(Question(text, (*options, NOT_KNOWN), mine, true, "evader"))
    for i, sees in enumerate(seen):
        true = "yes" if sees else "no"
        text = f"Does {drones.agents[i]} see the evader itself?"
        if i == agent:
            text = "Do you see the evader yourself?"
        found.append(Question(text, ("yes", "no", NOT_KNOWN), true, true, "sight"))
    return found
