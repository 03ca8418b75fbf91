"""What happened in the last step: as data, as words, and as numbers.

Most of it follows from the state after the step: a chef that interacts does not move, so that what
it used is the cell that it faces. The rest is in `KitchenState.recent`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from manyhands.core.env import Array
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import POT
from manyhands.envs.kitchen.observe import egocentric, in_view
from manyhands.envs.kitchen.rules import front_cells, lookup
from manyhands.envs.kitchen.scene import A_THING, Chef, Scene, holding, scene_of
from manyhands.envs.kitchen.state import (
    ACTIONS,
    ARRIVED,
    BLOCKED,
    DISH,
    MOVED,
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
    TOMATO,
    TOOK_CARROT,
    TOOK_DISH,
    TOOK_MUSHROOM,
    TOOK_ONION,
    TOOK_TOMATO,
    TURNED,
    USELESS,
    WAITED,
    WASTED,
    KitchenConfig,
    KitchenState,
    cell_numbers,
)

if TYPE_CHECKING:
    from manyhands.envs.kitchen.env import Kitchen

# By the code of `KitchenState.event`: the kind of the event, and the name of its number.
KINDS = (
    ("", ""),
    ("wait", "waited"),
    ("move", "moved"),
    ("turn", "turned"),
    ("blocked", "blocked"),
    ("no effect", "useless"),
    ("take", "took_onion"),
    ("take", "took_tomato"),
    ("take", "took_dish"),
    ("put down", "put_down"),
    ("pick up", "picked_up"),
    ("fill pot", "filled_pot"),
    ("start pot", "started_pot"),
    ("plate", "plated"),
    ("serve", "served"),
    ("serve", "wasted"),
)
# More, where one recipe is asked for at a time.
ASKED_KINDS = (("take", "took_carrot"), ("take", "took_mushroom"), ("press", "pressed"))
_OF_CHEFS = dict.fromkeys(kind for kind, _ in (*KINDS, *ASKED_KINDS) if kind)
EVENTS = (*_OF_CHEFS, "pot starts", "pot ready")
# Events of others that may matter to a chef that waits.
CONCERNS = frozenset((PUT_DOWN, PICKED_UP, POTTED, STARTED, PLATED, SERVED, WASTED, PRESSED))
# Things that an event is about: what the chef held before it, or holds since.
_GIVEN = (PUT_DOWN, POTTED, SERVED, WASTED)
_GOT = (TOOK_ONION, TOOK_TOMATO, TOOK_DISH, PICKED_UP, PLATED, TOOK_CARROT, TOOK_MUSHROOM)


# ---- as data -------------------------------------------------------------------------------------


def last_events(kitchen: Kitchen, state: KitchenState, agent: int | None) -> list[dict[str, Any]]:
    """What happened in the last step, in the order of the rules (interacts by chef, moves, pots):
    what `agent` may know of it, or all."""
    if agent is None:
        scene = scene_of(kitchen, state, 0, None, true_names=True)
    else:
        scene = scene_of(kitchen, state, agent, kitchen.view_radius)
    known = [(i, chef) for i, chef in enumerate(scene.chefs) if chef and chef.event != ARRIVED]
    known.sort(key=lambda pair: MOVED <= pair[1].event <= BLOCKED)
    found = [_event(kitchen, scene, i, chef) for i, chef in known]
    found += [{"event": "pot starts", "at": _at(scene, cell)} for cell in started(scene)]
    return found + [{"event": "pot ready", "at": _at(scene, cell)} for cell in scene.ready]


def concerns(kitchen: Kitchen, state: KitchenState, agent: int) -> bool:
    """Whether a pot got ready, another chef changed a counter, a pot or the score, or this chef was
    in the way of another or was blocked itself."""
    scene = scene_of(kitchen, state, agent, kitchen.view_radius)
    if scene.ready or scene.own.event == BLOCKED:
        return True
    for i, chef in enumerate(scene.chefs):
        if chef is None or i == agent:
            continue
        if chef.event in CONCERNS:
            return True
        if chef.event == BLOCKED and blocker(scene, i, chef) == agent:
            return True
    return False


def started(scene: Scene) -> list[int]:
    """The cells of the pots in view that began to cook in the last step, as far as chefs in view
    did it: what was filled up and cooks since, or was started."""
    cells = set()
    for chef in scene.chefs:
        if chef and chef.event in (POTTED, STARTED):
            front = scene.front(chef)
            if scene.place.terrain[front] == POT and scene.timer[front]:
                cells.add(front)
    return sorted(cells)


def blocker(scene: Scene, i: int, chef: Chef) -> int | None:
    """Who kept a blocked chef from moving: who stood there, else who wanted to be there, too. None
    if that were other chefs that collided, or cannot be known as somebody is out of view."""
    to, wanted = scene.front(chef), {}
    for j, other in enumerate(scene.chefs):
        if other is not None and j != i:
            wanted[j] = scene.front(other) if other.event == BLOCKED else other.cell
            if other.cell == to and wanted[j] in (to, chef.cell):
                return j
    if None in scene.chefs:
        return None
    return next((j for j, cell in wanted.items() if cell == to), None)


def _event(kitchen: Kitchen, scene: Scene, i: int, chef: Chef) -> dict[str, Any]:
    event = chef.event
    found: dict[str, Any] = {"event": (*KINDS, *ASKED_KINDS)[event][0], "agent": kitchen.agents[i]}
    if event == MOVED:
        return found | {"to": _at(scene, chef.cell)}
    if event == TURNED:
        return found | {"facing": ACTIONS[chef.facing]}
    if event in (WAITED, USELESS):
        return found
    found["at"] = _at(scene, scene.front(chef))
    if event == BLOCKED:
        by = blocker(scene, i, chef)
        return found if by is None else found | {"by": kitchen.agents[by]}
    thing = _thing(chef)
    if thing != NOTHING:
        found |= holding(thing, "thing")
    if event in (SERVED, WASTED) and thing >= SOUP:
        found["points"] = scene.earned(thing, event)
    if event == PRESSED:
        found["points"] = -kitchen.button_cost
    return found


def _thing(chef: Chef) -> int:
    """The object that a chef's event is about; `NOTHING` if there is none, or if it is not known
    (in states that were kept by earlier versions)."""
    if chef.event in _GIVEN:
        return chef.before
    return chef.held if chef.event in _GOT else NOTHING


def _at(scene: Scene, cell: int) -> list[int]:
    return [cell % scene.place.width, cell // scene.place.width]


# ---- as words ------------------------------------------------------------------------------------


def told(kitchen: Kitchen, scene: Scene, i: int, chef: Chef) -> str:
    """What a chef did, without a subject: "put an onion on the counter at (3, 0)"."""
    place, event, front, thing = scene.place, chef.event, scene.front(chef), _thing(chef)
    if event == BLOCKED:
        by = blocker(scene, i, chef)
        if by is None:
            return f"{'were' if i == scene.agent else 'was'} blocked, because chefs collided"
        who = "you" if by == scene.agent else kitchen.agents[by]
        return f"{'were' if i == scene.agent else 'was'} blocked by {who} at {place.names[front]}"
    if event in _SIMPLE:
        return _SIMPLE[event]
    what = A_THING[thing]
    if event == PUT_DOWN:
        return f"put {what if thing else 'something'} on the counter at {place.names[front]}"
    if event == PICKED_UP:
        return f"took {what} from the counter at {place.names[front]}"
    if event in (SERVED, WASTED):
        if not thing:
            return "served a soup" + (" that nobody ordered" if event == WASTED else "")
        return f"served {what} ({scene.earned(thing, event)} points)"
    if event == PRESSED:
        return f"pressed the recipe button at {place.names[front]} ({-kitchen.button_cost} points)"
    letter = place.letters.get(front)
    pot = f"pot {letter}" if letter else f"the pot at {place.names[front]}"
    if event == POTTED:
        return f"put {what if thing else 'an ingredient'} into {pot}"
    return f"plated {what} from {pot}" if event == PLATED else f"started {pot}"


_SIMPLE = {
    WAITED: "waited",
    MOVED: "moved",
    TURNED: "turned",
    USELESS: "did nothing useful",
    TOOK_ONION: "took an onion",
    TOOK_TOMATO: "took a tomato",
    TOOK_DISH: "took a dish",
    TOOK_CARROT: "took a carrot",
    TOOK_MUSHROOM: "took a mushroom",
}


# ---- as numbers ----------------------------------------------------------------------------------

_THINGS = ("onion", "tomato", "dish", "soup")


def _kinds(config: KitchenConfig) -> tuple[tuple[str, str], ...]:
    return (*KINDS[1:], *ASKED_KINDS) if config.asked else KINDS[1:]


def event_names(config: KitchenConfig) -> tuple[str, ...]:
    """Names of the numbers of `event_codes`: of the chef itself, then of the others in index order,
    then of the pots in view in reading order."""
    names = []
    for k in range(config.chefs):
        who = "own" if k == 0 else f"other_{k}"
        names += [f"{who}_{name}" for _, name in _kinds(config)]
        names += [f"{who}_thing_{name}" for name in _THINGS]
        names += [f"{who}_thing_{name}" for name in ask.KINDS[2 : config.kinds]]
        names += [f"{who}_soup_{name}" for name in ask.PLURALS[: config.kinds]]
        names += [f"{who}_points"]
    for k in range(config.max_pots):
        names += [f"pot_{k}_starts", f"pot_{k}_ready"]
    return tuple(names)


def event_codes(config: KitchenConfig, state: KitchenState) -> Array:
    """f32[chefs, K, ...]: zeros and ones, the ingredients of a soup, and points."""
    chefs = [_chef_codes(config, state, i) for i in range(config.chefs)]
    cells, is_pot = cell_numbers(state), state.terrain == POT
    first, end = config.pot_cells
    room = [(first, len(is_pot) - end)] + [(0, 0)] * state.time.ndim
    ready = jnp.pad(state.recent.ready, room)
    fronts = front_cells(config, state)
    rows = []
    for agent in range(config.chefs):
        parts, starts = [], jnp.zeros_like(is_pot)
        seen = None
        if config.view_radius is not None:
            seen = in_view(config, state, config.view_radius, agent)
        for i in egocentric(config, agent):
            here = jnp.ones(state.time.shape, bool)
            if seen is not None:
                here = jnp.any(seen & (cells == state.position[i][None]), axis=0)
            parts.append(jnp.where(here[None], chefs[i], 0))
            event = state.event[i]
            fills = here & ((event == POTTED) | (event == STARTED))
            starts = starts | (fills[None] & (cells == fronts[i][None]))
        pots = is_pot if seen is None else is_pot & seen
        number = jnp.cumsum(pots, axis=0)
        for k in range(config.max_pots):
            this = pots & (number == k + 1)
            flags = [starts & (state.timer > 0), ready]
            parts.append(jnp.stack([jnp.any(this & flag, axis=0) for flag in flags]))
        rows.append(jnp.concatenate([part.astype(jnp.float32) for part in parts]))
    return jnp.stack(rows)


def _chef_codes(config: KitchenConfig, state: KitchenState, i: int) -> Array:
    """f32[22, ...]: what one chef did; some more where one recipe is asked for at a time."""
    event = state.event[i]
    given = jnp.any(jnp.stack([event == code for code in _GIVEN]), axis=0)
    gets = _GOT if config.asked else _GOT[:5]
    got = jnp.any(jnp.stack([event == code for code in gets]), axis=0)
    thing = jnp.where(given, state.recent.held[i], jnp.where(got, state.held[i], NOTHING))
    soup, serves = thing >= SOUP, (event == SERVED) | (event == WASTED)
    points = jnp.where(serves & soup, lookup(config.worths, state.level, thing), 0)
    if config.asked:
        wrong = -points if config.penalty else jnp.zeros_like(points)
        points = jnp.where(event == WASTED, wrong, points)
        points = jnp.where(event == PRESSED, -config.button_cost, points)
    found = [event == code for code in range(1, len(_kinds(config)) + 1)]
    found += [*(thing == code for code in (ONION, TOMATO, DISH)), soup]
    found += [thing == code for code in ask.INGREDIENTS[2 : config.kinds]]
    found += [jnp.where(soup, thing >> bits & 3, 0) for bits in ask.SHIFTS[: config.kinds]]
    found += [points]
    return jnp.stack([part.astype(jnp.float32) for part in found])
