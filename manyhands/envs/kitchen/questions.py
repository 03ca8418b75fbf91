"""Questions about what a chef does not see, or is not told (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyhands.core.probes import NOT_KNOWN, Question
from manyhands.envs.kitchen.asked import KINDS
from manyhands.envs.kitchen.relabel import names_seen, seen_by
from manyhands.envs.kitchen.scene import AMOUNTS, THINGS, Scene, amount, scene_of
from manyhands.envs.kitchen.state import KitchenState

if TYPE_CHECKING:
    from manyhands.envs.kitchen.env import Kitchen

_PROGRESS = ("empty", "begun", "cooking", "ready", NOT_KNOWN)


def questions(kitchen: Kitchen, state: KitchenState, agent: int) -> list[Question]:
    """With a `view_radius`, what each other chef holds and how far each pot is; which soup is asked
    for, where one is; and with `relabel`, under which name each other chef sees what it calls an
    onion. A chef knows what is in its view now, and what indicators and buttons show; not what
    others call things."""
    found = []
    if kitchen.view_radius is not None:
        found += _out_of_view(kitchen, state, agent, kitchen.view_radius)
    own = seen_by(kitchen, state, agent)
    if own.asked is not None:
        soups = {amount(*recipe) for level in kitchen.levels for recipe in level.orders}
        asked = AMOUNTS[int(own.asked.recipe)]
        shown = scene_of(kitchen, state, agent, kitchen.view_radius).recipe
        believed = NOT_KNOWN if shown is None else AMOUNTS[shown]
        options = (*sorted({asked, *soups}), NOT_KNOWN)
        if len(options) > 2:
            text = "What is in the soup that is asked for?"
            found.append(Question(text, options, believed, asked, "recipe"))
    return [*found, *_names(kitchen, state, agent)]


def _out_of_view(kitchen: Kitchen, state: KitchenState, agent: int, radius: int) -> list[Question]:
    seen = scene_of(kitchen, state, agent, radius)
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
    return found


def _names(kitchen: Kitchen, state: KitchenState, agent: int) -> list[Question]:
    """What others call the things that have other names for each chef."""
    if not kitchen.relabel:
        return []
    found = []
    mine = names_seen(state, agent)
    for i, chef in enumerate(kitchen.agents):
        if i == agent:
            continue
        theirs = names_seen(state, i)
        for name in kitchen.relabel:
            true = KINDS[theirs.index(mine[KINDS.index(name)])]
            text = f"What does {chef} call what you call {name}?"
            found.append(Question(text, (*kitchen.relabel, NOT_KNOWN), NOT_KNOWN, true, "names"))
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
