"""Questions about a ball that sensors tell late, noisily or not at all (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyhands.core.probes import Question
from manyhands.envs.volleyball.state import NET, VolleyballState
from manyhands.envs.volleyball.text import side_of

if TYPE_CHECKING:
    from manyhands.envs.volleyball.env import Volleyball

_YES_NO = ("yes", "no")


def questions(game: Volleyball, state: VolleyballState, agent: int) -> list[Question]:
    """Where the ball is, and whether it rises: an agent knows what its sensors tell. There are no
    questions where they tell what is."""
    if not (game.setup.sensing or game.setup.losing) or bool(state.over):
        return []
    side, found = side_of(game, state, agent), []
    sensed, now = game.seen_by(state, agent), state.bodies
    facts = []
    for bodies in (sensed, now):
        ball, velocity = np.asarray(bodies.ball), np.asarray(bodies.ball_velocity)
        facts.append((ball[0] * side > 0, ball[2] > NET, velocity[2] > 0))
    for text, mine, true in zip(
        (
            "Is the ball in your own half?",
            "Is the ball higher than the net?",
            "Is the ball rising?",
        ),
        *facts,
        strict=True,
    ):
        found.append(Question(text, _YES_NO, _YES_NO[not mine], _YES_NO[not true], "ball"))
    return found
