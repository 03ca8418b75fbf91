"""Questions about what a player knows of its team (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyhands.core.probes import NOT_KNOWN, Question
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.goals import Goal
from manyhands.envs.craftworld.setting import UNKNOWN
from manyhands.envs.craftworld.state import CraftState
from manyhands.envs.craftworld.words import observe, spaced

if TYPE_CHECKING:
    from manyhands.envs.craftworld.env import CraftWorld

_ROWS: tuple[str, ...] = ("above you", "below you", "in your row")
_COLUMNS: tuple[str, ...] = ("left of you", "right of you", "in your column")
_CONDITIONS: tuple[str, ...] = ("up and awake", "asleep", "down", "dead", NOT_KNOWN)


def questions(world: CraftWorld, state: CraftState, agent: int) -> list[Question]:
    """With `sees="near"`, how each other player is, on which side it is, and what it asks for: of
    those in view a player knows it. With `told="first"` and several goals, what the goal is."""
    found = []
    seen, _ = observe(world, state, agent)
    if world.sees == "near":
        places = np.asarray(state.position).tolist()
        gifts = tuple(spaced(name) for name in world.craft.gifts)
        requests = ("nothing", *gifts, NOT_KNOWN)
        for mate in seen.mates:
            n, name = mate.player, world.agents[mate.player]
            known = mate.alive != UNKNOWN
            now = int(state.alive[n]), bool(state.asleep[n])
            text = f"How is {name}?"
            mine = _condition(mate.alive, mate.asleep) if known else NOT_KNOWN
            found.append(Question(text, _CONDITIONS, mine, _condition(*now), "condition"))
            # The dead are nowhere, and ask for nothing; who is out of view may be one of them.
            rows, columns = (places[n][k] - places[agent][k] for k in range(2))
            for sides, offset, own in (
                (_ROWS, rows, mate.rows),
                (_COLUMNS, columns, mate.columns),
            ):
                options = (*sides, "nowhere", NOT_KNOWN)
                true = sides[_side(offset)] if now[0] != rl.DEAD else "nowhere"
                mine = sides[_side(own)] if known else NOT_KNOWN
                text = f"Is {name} {sides[0]}, {sides[1]} or {sides[2]}?"
                found.append(Question(text, options, mine, true, "place"))
            true = requests[int(state.request[n])] if now[0] != rl.DEAD else "nothing"
            mine = requests[mate.request] if known else NOT_KNOWN
            found.append(Question(f"What does {name} ask for?", requests, mine, true, "request"))
    if world.told == "first" and len(world.goals) > 1:
        true = str(Goal.of_row(np.asarray(state.goal), world.craft))
        true = true if true in world.goals else "another one"  # given to `reset`
        mine = true if seen.goal.kind else NOT_KNOWN
        options = (*world.goals, "another one", NOT_KNOWN)
        found.append(Question("What is the goal of the team?", options, mine, true, "goal"))
    return found


def _condition(alive: int, asleep: bool) -> str:
    if alive == rl.DEAD:
        return "dead"
    if alive == rl.DOWN:
        return "down"
    return "asleep" if asleep else "up and awake"


def _side(offset: int) -> int:
    """Which of three sides: less, more, or the same."""
    return 0 if offset < 0 else 1 if offset > 0 else 2
