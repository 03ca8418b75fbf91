"""What each action of a chef would do now, and whether anything can prevent it: the choices.

A step is played in this order (`rules.step`): chefs interact one after the other, in index order;
then all move at once, and if any two chefs collide nobody moves. So an interact depends on chefs of
a lower number that face the same cell, and a step on everybody who may collide. What may be is
found by trying all of it: there are few ways.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from manyhands.core.choices import Choice
from manyhands.core.env import names_of
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import (
    BUTTON,
    CARROTS,
    COUNTER,
    DISHES,
    FLOOR,
    INDICATOR,
    MUSHROOMS,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    VOID,
)
from manyhands.envs.kitchen.relabel import true_thing
from manyhands.envs.kitchen.scene import A_THING, AMOUNTS, THINGS, Scene, holding, inside, steps
from manyhands.envs.kitchen.state import (
    ACTIONS,
    CARROT,
    DISH,
    INTERACT,
    MUSHROOM,
    NOTHING,
    ONION,
    PICKED_UP,
    PLATED,
    POTTED,
    PRESSED,
    PUT_DOWN,
    SERVED,
    SOUP,
    STARTED,
    STAY,
    TOMATO,
    TOOK_CARROT,
    TOOK_DISH,
    TOOK_MUSHROOM,
    TOOK_ONION,
    TOOK_TOMATO,
    USELESS,
)

if TYPE_CHECKING:
    from manyhands.envs.kitchen.env import Kitchen


def offers(kitchen: Kitchen, scene: Scene) -> list[Choice]:
    """The six actions, in action order."""
    found = [_move(kitchen, scene, way) for way in range(STAY)]
    facts = _standing(scene, scene.own.cell) | _path(scene, facing=ACTIONS[scene.own.facing])
    found.append(Choice(ACTIONS[STAY], "wait here", STAY, facts=facts))
    found.append(_interact(kitchen, scene))
    return found


def _path(scene: Scene, **values: Any) -> dict[str, Any]:
    """Facts about the chef itself."""
    return {f"chefs.{scene.agent}.{name}": value for name, value in values.items()}


def _standing(scene: Scene, cell: int) -> dict[str, Any]:
    y, x = divmod(cell, scene.place.width)
    return _path(scene, x=x, y=y)


# ---- moves ---------------------------------------------------------------------------------------


def _move(kitchen: Kitchen, scene: Scene, way: int) -> Choice:
    own, place, name = scene.own, scene.place, ACTIONS[way]
    to = place.front(own.cell, way)
    facts = _path(scene, facing=name)
    stays, steps_there = _standing(scene, own.cell), _standing(scene, to)
    if place.terrain[to] != FLOOR:
        turns = "no change, already facing" if way == own.facing else "turn to"
        return Choice(name, f"{turns} {scene.named(to)}", way, facts=facts | stays)
    if to in scene.at:
        who = kitchen.agents[scene.at[to]]
        if _reach(scene, to) <= {to, own.cell}:
            effect = f"blocked by {who}, who cannot leave {place.names[to]}"
            return Choice(name, effect, way, facts=facts | stays)
        effect = f"step to {place.names[to]} only if {who} leaves it, not to your cell"
        return Choice(name, effect, way, certain=False, facts=facts)
    prevents = _prevents(kitchen, scene, to)
    if not prevents:
        return Choice(name, f"step to {place.names[to]}", way, facts=facts | steps_there)
    effect = f"step to {place.names[to]}, unless {prevents}"
    return Choice(name, effect, way, certain=False, facts=facts)


def _reach(scene: Scene, cell: int) -> set[int]:
    """The cells where a chef that stands in a cell may want to be after a step. What is out of view
    may be floor."""
    place = scene.place
    beside = [place.front(cell, way) for way in range(STAY)]
    return {cell, *(to for to in beside if place.terrain[to] in (FLOOR, VOID))}


def _prevents(kitchen: Kitchen, scene: Scene, to: int) -> str:
    """What can prevent a step to a free cell, in words; empty if nothing can."""
    if kitchen.num_agents == 1:
        return ""
    reaches = {i: _reach(scene, cell) for cell, i in scene.at.items()}
    near = [i for i, cells in reaches.items() if to in cells]
    unseen = len(scene.chefs) - 1 - len(reaches)
    beyond = _reach(scene, to)
    lurking = unseen and any(scene.place.terrain[cell] == VOID for cell in beyond)
    # Any two others that collide keep everybody from moving.
    others = itertools.combinations(reaches.values(), 2)
    if (unseen and kitchen.num_agents > 2) or any(not a.isdisjoint(b) for a, b in others):
        return "any chefs collide"
    if lurking:
        return "an unseen chef enters it"
    if not near:
        return ""
    who = names_of([kitchen.agents[i] for i in sorted(near)])
    return f"{who} enters it" if len(near) == 1 else "any chefs collide"


# ---- interact ------------------------------------------------------------------------------------


# What a dispenser gives, and the event.
_GIVES = {
    ONIONS: (ONION, TOOK_ONION),
    TOMATOES: (TOMATO, TOOK_TOMATO),
    CARROTS: (CARROT, TOOK_CARROT),
    MUSHROOMS: (MUSHROOM, TOOK_MUSHROOM),
    DISHES: (DISH, TOOK_DISH),
}
# What an ingredient adds to the code of a pot's contents.
_UNITS = {thing: 1 << shift for thing, shift in zip(ask.INGREDIENTS, ask.SHIFTS, strict=True)}


class _Used(NamedTuple):
    """What an interact does: the event, and what is then in the hand and in the cell."""

    event: int
    hand: int
    thing: int
    clock: int


def _use(kitchen: Kitchen, scene: Scene, code: int, hand: int, thing: int, clock: int) -> _Used:
    """An interact with a cell of this terrain, as in `rules.step`."""
    count = sum(ask.counts(thing))
    nothing = _Used(USELESS, hand, thing, clock)
    if code == COUNTER:
        if bool(hand) == bool(thing):
            return nothing
        return _Used(PUT_DOWN if hand else PICKED_UP, thing, hand, clock)
    if code in _GIVES:
        given, event = _GIVES[code]
        return nothing if hand else _Used(event, given, thing, clock)
    if code == BUTTON:
        return nothing if hand else _Used(PRESSED, hand, thing, kitchen.button_steps)
    if code == SERVING:
        return _Used(SERVED, NOTHING, thing, clock) if hand >= SOUP else nothing
    if code != POT:
        return nothing
    if hand in _UNITS and not clock and count < 3:
        more = SOUP | thing + _UNITS[hand]
        starts = kitchen.dynamics == "classic" and count == 2
        return _Used(POTTED, NOTHING, more, _starting(scene, more) if starts else 0)
    if kitchen.random_reset and kitchen.dynamics == "classic" and not clock and count == 3:
        return _Used(STARTED, hand, thing, _starting(scene, thing))
    if kitchen.dynamics == "manual" and not hand and not clock and count:
        return _Used(STARTED, hand, thing, _starting(scene, thing))
    if hand == DISH and clock == 1:
        return _Used(PLATED, thing, NOTHING, 0)
    return nothing


def _starting(scene: Scene, contents: int) -> int:
    """The timer of a pot that begins to cook; 255 where the chef cannot know."""
    times = {level.times[level.recipe_of(contents)] for level in scene.levels}
    return times.pop() + 1 if len(times) == 1 else 255


class _Way(NamedTuple):
    """One way in which interacts with a cell may follow each other."""

    own: _Used
    thing: int  # in the cell before the own interact
    clock: int
    last: tuple[int, int]  # thing and clock at the end


def _way(kitchen: Kitchen, scene: Scene, front: int, order: Sequence[tuple[int, int]]) -> _Way:
    """What happens if these chefs (index, hand) interact in this order with a cell."""
    code, thing, clock = scene.place.terrain[front], scene.objects[front], scene.timer[front]
    found: tuple[_Used, int, int] | None = None
    for i, hand in order:
        used = _use(kitchen, scene, code, hand, thing, clock)
        if i == scene.agent:
            found = used, thing, clock
        thing, clock = used.thing, used.clock
    assert found is not None
    return _Way(*found, (thing, clock))


def _interact(kitchen: Kitchen, scene: Scene) -> Choice:
    """What an interact would do."""
    own, place = scene.own, scene.place
    front = scene.front(own)
    code = place.terrain[front]
    if code == FLOOR:
        who = scene.at.get(front)
        what = "only floor is" if who is None else f"{kitchen.agents[who]} is"
        facts = _path(scene, **holding(true_thing(scene.names, own.held)))
        return Choice("interact", f"nothing, {what} in front of you", INTERACT, facts=facts)

    rivals = [
        (i, chef.held)
        for i, chef in enumerate(scene.chefs)
        if code in (COUNTER, POT) and chef and i != scene.agent and scene.front(chef) == front
    ]
    ways = [
        _way(kitchen, scene, front, sorted([(scene.agent, own.held), *others]))
        for k in range(len(rivals) + 1)
        for others in itertools.combinations(rivals, k)
    ]
    alone = ways[0]
    effect = _deed(kitchen, scene, alone, front)
    doubtful = len({(way.own.event, way.own.hand) for way in ways}) > 1
    if doubtful or _may_be_used_unseen(scene, front):
        first = [kitchen.agents[i] for i, _ in rivals if i < scene.agent]
        rival = names_of(first) if doubtful else "an unseen chef"
        effect = f"{effect}, unless {rival} uses it first"
        return Choice("interact", effect, INTERACT, certain=False)
    if alone.own.event in (POTTED, STARTED) and len({way.thing for way in ways}) > 1:
        effect = f"put the {THINGS[own.held]} into" if alone.own.event == POTTED else "start"
        effect = f"{effect} pot {place.letters[front]}"
    facts = _path(scene, **holding(true_thing(scene.names, alone.own.hand)))
    if kitchen.view_radius is None:
        worth = scene.worth(own.held) if own.held >= SOUP else None
        if alone.own.event == SERVED and worth is not None and not _others_may_score(scene):
            right = own.held == scene.recipe if kitchen.asked else worth != 0
            facts |= {"score": scene.score + worth, "soups": scene.soups + right}
        if code == POT and len({way.last for way in ways}) == 1:
            last, clock = true_thing(scene.names, alone.last[0]), alone.last[1]
            facts |= _pot_facts(kitchen, place.pots.index(front), last, clock)
        if alone.own.event == PRESSED:
            buttons = [cell for cell, what in enumerate(place.terrain) if what == BUTTON]
            facts[f"buttons.{buttons.index(front)}.steps_left"] = kitchen.button_steps - 1
    return Choice("interact", effect, INTERACT, facts=facts)


def _may_be_used_unseen(scene: Scene, cell: int) -> bool:
    """Whether a chef out of view may use a cell before this one does."""
    place = scene.place
    return (
        place.terrain[cell] in (COUNTER, POT)
        and None in scene.chefs[: scene.agent]
        and any(place.terrain[to] == VOID for to in place.around(cell))
    )


def _others_may_score(scene: Scene) -> bool:
    """Whether another chef may serve, or press a button, which costs points."""
    used = [
        (chef.held, scene.place.terrain[scene.front(chef)])
        for i, chef in enumerate(scene.chefs)
        if chef and i != scene.agent
    ]
    return any(
        (code == SERVING and held >= SOUP) or (code == BUTTON and not held) for held, code in used
    )


def _pot_facts(kitchen: Kitchen, number: int, thing: int, clock: int) -> dict[str, Any]:
    """A pot after a step that it had before the end with these contents and this timer."""
    clock -= clock > 1
    counts = inside(thing, kitchen.kinds)
    return {
        **{f"pots.{number}.{name}": count for name, count in counts.items()},
        f"pots.{number}.status": ("idle", "ready", "cooking")[min(clock, 2)],
        f"pots.{number}.steps_left": max(clock - 1, 0),
    }


def _deed(kitchen: Kitchen, scene: Scene, way: _Way, front: int) -> str:
    """What the own interact does, in words."""
    place, hand, thing, clock = scene.place, scene.own.held, way.thing, way.clock
    code, event, where = place.terrain[front], way.own.event, place.names[front]
    if code == COUNTER:
        if event == PUT_DOWN:
            return f"put the {THINGS[hand]} on the counter at {where}"
        if event == PICKED_UP:
            return f"take the {THINGS[thing]} from the counter at {where}"
        if hand:
            return f"nothing, the counter at {where} is taken by {A_THING[thing]}"
        return f"nothing, your hands and the counter at {where} are empty"
    if code == SERVING:
        if event != SERVED:
            return "nothing, only a soup can be served"
        worth = scene.worth(hand)
        return f"serve the {THINGS[hand]}" + ("" if worth is None else f" ({worth} points)")
    if code == INDICATOR:
        return "nothing, a recipe indicator is only to look at"
    if code == BUTTON:
        if event != PRESSED:
            return "nothing, pressing a recipe button needs empty hands"
        shown = steps(kitchen.button_steps - 1)
        return f"press the recipe button ({-kitchen.button_cost} points), shows it for {shown}"
    if code != POT:
        if event == USELESS:
            return f"nothing, your hands hold {A_THING[hand]}"
        return f"take {A_THING[way.own.hand]}"
    pot = f"pot {place.letters[front]}"
    count = sum(ask.counts(thing))
    if event == POTTED:
        begins = ", starts cooking" if way.own.clock else ""
        return f"put the {THINGS[hand]} into {pot} ({count + 1} of 3{begins})"
    if event == STARTED:
        return f"start cooking {AMOUNTS[thing]} in {pot}"
    if event == PLATED:
        return f"plate the {THINGS[thing]} from {pot}"
    if hand >= SOUP:
        return f"nothing, a soup does not go back into {pot}"
    if clock > 1:
        return f"nothing, {pot} is cooking, ready in {steps(clock - 1)}"
    if clock == 1:
        return f"nothing, the soup in {pot} needs a dish"
    if hand == DISH:
        return f"nothing, {pot} holds no cooked soup"
    if hand:
        return f"nothing, {pot} is full; empty hands start it"
    return f"nothing, your hands are empty and {pot} is {'not full' if count else 'empty'}"
