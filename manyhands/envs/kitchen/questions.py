"""Questions about what a chef with a limited view sees (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyhands.core.probes import NOT_KNOWN, Question
from manyhands.envs.kitchen.relabel import seen_by
from manyhands.envs.kitchen.scene import AMOUNTS, THINGS, Scene, amount, scene_of
from manyhands.envs.kitchen.state import KitchenState

if TYPE_CHECKING:
    from manyhands.envs.kitchen.env import Kitchen

_PROGRESS = ("empty", "begun", "cooking", "ready", NOT_KNOWN)


def questions(kitchen: Kitchen, state: KitchenState, agent: int) -> list[Question]:
    """What each other chef holds, how far each pot of the kitchen is, and which soup is asked for
    where one is. A chef knows what is in its view now; without a `view_radius` there are no
    questions."""
    if kitchen.view_radius is None:
        return []
    seen = scene_of(kitchen, state, agent, kitchen.view_radius)
    truth = scene_of(kitchen, state, agent, None)
    found = []
    things = ("nothing", "onion", "tomato", "carrot", "mushroom", "dish", "soup")
    for i, chef in enumerate(truth.chefs):
        if i == agent or chef is None:
            continue
        known = seen.chefs[i]
        found.append(
            Question(
                f"What does {kitchen.agents[i]} hold?",
                (*things, NOT_KNOWN),
                NOT_KNOWN if known is None else _thing(known.held),
                _thing(chef.held),
                "hands",
            )
        )
    for cell in truth.place.pots:
        name = truth.place.names[cell]
        believed = _progress(seen, cell) if cell in seen.place.pots else NOT_KNOWN
        text = f"How far is the pot at {name}?"
        found.append(Question(text, _PROGRESS, believed, _progress(truth, cell), "pots"))
    wanted = seen_by(kitchen, state, agent).asked
    if wanted is not None:
        asked = AMOUNTS[int(wanted.recipe)]
        soups = {amount(*recipe) for level in kitchen.levels for recipe in level.orders}
        believed = NOT_KNOWN if seen.recipe is None else AMOUNTS[seen.recipe]
        options = (*sorted({asked, *soups}), NOT_KNOWN)
        text = "What is in the soup that is asked for?"
        found.append(Question(text, options, believed, asked, "recipe"))
    return found


def _thing(held: int) -> str:
    name = THINGS[held]
    return "soup" if name.startswith("soup") else name


def _progress(scene: Scene, cell: int) -> str:
    if scene.timer[cell] > 1:
        return "cooking"
    if scene.timer[cell] == 1:
        return "ready"
    return "begun" if scene.objects[cell] else "empty"
