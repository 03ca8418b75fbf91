"""The kitchen in words: rule book, description, choices, and reading what a player answers.

`describe` says what the vector observations say, no less and no more: a map, and the facts in
sentences of a fixed form, from which the vectors can be rebuilt. What a chef sees is cut out once,
in `_look`; all that is said afterwards is said from that alone.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.answers import decide
from manyhands.envs.kitchen.levels import (
    COUNTER,
    DIRECTIONS,
    DISHES,
    FLOOR,
    ONIONS,
    POT,
    RECIPES,
    SERVING,
    STATIONS,
    TOMATOES,
    VOID,
    Level,
)
from manyhands.envs.kitchen.reading import Cell, Seen, mean, refuse
from manyhands.envs.kitchen.state import (
    ACTIONS,
    DISH,
    EVENTS,
    NOTHING,
    ONION,
    SHAPED,
    SOUP,
    STAY,
    KitchenState,
)

if TYPE_CHECKING:
    from manyhands.envs.kitchen.env import Kitchen

MAP = "X.OTDPS?"  # index = terrain code; floor is a dot, so that no cell is lost to white space
YOU = "@"

# ---- things in words -----------------------------------------------------------------------------


def _amount(onions: int, tomatoes: int) -> str:
    """ "2 onions and 1 tomato"."""
    parts = []
    if onions:
        parts.append(f"{onions} onion{'s' * (onions > 1)}")
    if tomatoes:
        parts.append(f"{tomatoes} tomato{'es' * (tomatoes > 1)}")
    return " and ".join(parts)


_AMOUNTS = [_amount(bits >> 2, bits & 3) for bits in range(16)]
# By object code; there are no objects between the dish and the soups.
_THINGS = ["nothing", "onion", "tomato", "dish", *[""] * 12, *(f"soup of {a}" for a in _AMOUNTS)]
_A_THING = ["nothing", "an onion", *(f"a {name}" for name in _THINGS[2:])]


# ---- what a chef sees ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Place:
    """What stays the same while a chef stands somewhere: made once, then looked up."""

    terrain: bytes  # VOID where the chef does not see
    names: list[str]  # "(x, y)" of each cell
    canvas: list[str]  # the map, character by character
    spots: list[int]  # where on the canvas each cell is
    stations: str
    pots: list[int]  # cells in reading order: pot A, pot B, ...
    letters: dict[int, str]
    counters: list[int]


@functools.lru_cache(maxsize=8192)
def _place(terrain: bytes, width: int, own: int, radius: int | None) -> _Place:
    cells = range(len(terrain))
    if radius is not None:
        x, y = own % width, own // width
        near = [
            abs(cell % width - x) <= radius and abs(cell // width - y) <= radius for cell in cells
        ]
        terrain = bytes(code if n else VOID for code, n in zip(terrain, near, strict=True))
    names = [f"({cell % width}, {cell // width})" for cell in cells]
    height = len(terrain) // width
    margin = len(str(height - 1)) + 1
    lines = []
    if width > 10:
        lines.append(" " * margin + "".join(str(x // 10) for x in range(width)))
    lines.append(" " * margin + "".join(str(x % 10) for x in range(width)))
    spots: list[int] = []
    offset = sum(len(line) + 1 for line in lines)
    for y in range(height):
        row = terrain[y * width : (y + 1) * width]
        lines.append(f"{y:>{margin - 1}} " + "".join(MAP[code] for code in row))
        spots += range(offset + margin, offset + margin + width)
        offset += margin + width + 1
    stations = []
    for code in (ONIONS, TOMATOES, DISHES, SERVING):
        where = [names[c] for c in cells if terrain[c] == code]
        if where:
            stations.append(f"{STATIONS[code].capitalize()}s: {' '.join(where)}.")
    pots = [c for c in cells if terrain[c] == POT]
    return _Place(
        terrain,
        names,
        list("\n".join(lines)),
        spots,
        " ".join(stations),
        pots,
        {c: _letter(number) for number, c in enumerate(pots)},
        [c for c in cells if terrain[c] == COUNTER],
    )


def _letter(number: int) -> str:
    """A, B, ... Z, AA, AB, ..."""
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


@dataclass(frozen=True)
class _Look:
    """What one chef sees at one moment, and nothing else."""

    place: _Place
    objects: bytes  # of counters and pots; read only at cells that `place` has in view
    timer: bytes
    chefs: list[tuple[int, int, int, int] | None]  # cell, facing, held, event; None: out of view
    own: tuple[int, int, int, int]
    at: dict[int, int]  # cell -> the chef in it, other than oneself


def _look(kitchen: Kitchen, state: KitchenState, agent: int) -> _Look:
    position = _bytes(state.position)
    place = _place(_bytes(state.terrain), kitchen.width, position[agent], kitchen.view_radius)
    chefs: list[tuple[int, int, int, int] | None] = [
        chef if place.terrain[chef[0]] != VOID else None
        for chef in zip(
            position, _bytes(state.facing), _bytes(state.held), _bytes(state.event), strict=True
        )
    ]
    own = chefs[agent]
    assert own is not None  # a chef stands within its own view
    at = {chef[0]: i for i, chef in enumerate(chefs) if chef is not None and i != agent}
    return _Look(place, _bytes(state.objects), _bytes(state.timer), chefs, own, at)


def _bytes(array: Any) -> bytes:
    """Small numbers as bytes, the quickest thing to index in plain Python."""
    return np.asarray(array, np.uint8).tobytes()


def _front(kitchen: Kitchen, cell: int, facing: int) -> int:
    dx, dy = DIRECTIONS[facing]
    return cell + dx + dy * kitchen.width


def _facing(kitchen: Kitchen, look: _Look, cell: int, facing: int, you: int = -1) -> str:
    """What is in front of a chef, from what the reader sees; `you` is the reader's own cell."""
    front = _front(kitchen, cell, facing)
    code = look.place.terrain[front]
    if code == VOID:
        return "something out of sight"
    if front == you:
        return "you"
    if front in look.at:
        return kitchen.agents[look.at[front]]
    if code == FLOOR:
        return "floor"
    return _named(look, front)


def _named(look: _Look, cell: int) -> str:
    """A counter or a station in words."""
    place, code = look.place, look.place.terrain[cell]
    if code == POT:
        return f"pot {place.letters[cell]}"
    if code != COUNTER:
        return f"the {STATIONS[code]}"
    thing = look.objects[cell]
    return f"the counter with {_A_THING[thing]}" if thing else "an empty counter"


# ---- description ---------------------------------------------------------------------------------


def describe(kitchen: Kitchen, state: KitchenState, agent: int) -> str:
    """What the chef sees, as text."""
    look = _look(kitchen, state, agent)
    place, names = look.place, look.place.names
    canvas = place.canvas.copy()
    own_cell, own_facing, held, event = look.own
    canvas[place.spots[own_cell]] = YOU
    for cell, i in look.at.items():
        canvas[place.spots[cell]] = str(i)
    time, soups = int(state.time), int(state.soups)
    lines = [
        f"Step {time} of {kitchen.max_steps}, {kitchen.max_steps - time} left. "
        f"Soups served: {soups}. Score: {int(state.score)}.",
        "".join(canvas),
        f"You are {kitchen.agents[agent]} at {names[own_cell]}, facing {ACTIONS[own_facing]} to "
        f"{_facing(kitchen, look, own_cell, own_facing)}, holding {_A_THING[held]}. "
        f"{_YOUR_EVENTS[event]}",
    ]
    for i, chef in enumerate(look.chefs):
        if i == agent:
            continue
        if chef is None:
            lines.append(f"{kitchen.agents[i]} is out of sight.")
            continue
        cell, facing, held, event = chef
        lines.append(
            f"{kitchen.agents[i]} is at {names[cell]}, facing {ACTIONS[facing]} to "
            f"{_facing(kitchen, look, cell, facing, own_cell)}, holding {_A_THING[held]}. "
            f"{_ITS_EVENTS[event]}"
        )
    for cell in place.pots:
        lines.append(
            f"Pot {place.letters[cell]} at {names[cell]}: "
            f"{_contents(kitchen, look.objects[cell], look.timer[cell])}."
        )
    lying: dict[int, list[str]] = {}
    for cell in place.counters:
        if look.objects[cell]:
            lying.setdefault(look.objects[cell], []).append(names[cell])
    on_counters = [f"{_THINGS[code]} {' '.join(lying[code])}" for code in sorted(lying)]
    lines.append(f"On counters: {'; '.join(on_counters) or 'nothing'}.")
    if place.stations:
        lines.append(place.stations)
    return "\n".join(lines)


_ITS_EVENTS = ["It has just arrived.", *(f"Last step it {event}." for event in EVENTS[1:])]
_YOUR_EVENTS = [
    event.replace(" it ", " you ").replace("It has", "You have").replace("was b", "were b")
    for event in _ITS_EVENTS
]


def _contents(kitchen: Kitchen, thing: int, clock: int) -> str:
    """A pot's contents and progress in words."""
    amount = _AMOUNTS[thing & 15]
    if clock > 1:
        return f"{amount}, cooking, ready in {clock - 1} step{'s' * (clock > 2)}"
    if clock == 1:
        return f"{amount}, ready to plate"
    if not thing:
        return "empty"
    missing = 3 - (thing >> 2 & 3) - (thing & 3)
    room = f"room for {missing} more" if missing else "full"
    return f"{amount}, not cooking, {room}"


# ---- choices -------------------------------------------------------------------------------------


def choices(kitchen: Kitchen, state: KitchenState, agent: int) -> list[str]:
    """What each of the six actions would do now."""
    return _choices(kitchen, _look(kitchen, state, agent))


def _choices(kitchen: Kitchen, look: _Look) -> list[str]:
    cell, facing, _, _ = look.own
    words = []
    for action in range(STAY):
        to = _front(kitchen, cell, action)
        if to in look.at:
            words.append(f"blocked by {kitchen.agents[look.at[to]]} standing there")
        elif look.place.terrain[to] == FLOOR:
            words.append(f"step to {look.place.names[to]}")
        elif action == facing:
            words.append(f"no change, already facing {_named(look, to)}")
        else:
            words.append(f"turn to {_named(look, to)}")
    words += ["wait here", _interact(kitchen, look)]
    return [f"{name}: {what}" for name, what in zip(ACTIONS, words, strict=True)]


def _interact(kitchen: Kitchen, look: _Look) -> str:
    """What an interact would do, by the rules of `Kitchen.step`."""
    cell, facing, hand, _ = look.own
    front = _front(kitchen, cell, facing)
    place, code = look.place, look.place.terrain[front]
    thing, clock = look.objects[front], look.timer[front]
    if front in look.at:
        return f"nothing, {kitchen.agents[look.at[front]]} is in front of you"
    if code == FLOOR:
        return "nothing, only floor is in front of you"
    if code == COUNTER:
        if hand and not thing:
            return f"put the {_THINGS[hand]} on the counter at {place.names[front]}"
        if thing and not hand:
            return f"take the {_THINGS[thing]} from the counter at {place.names[front]}"
        if hand:
            return f"nothing, the counter is taken by {_A_THING[thing]}"
        return "nothing, your hands and the counter are empty"
    if code in (ONIONS, TOMATOES, DISHES):
        if hand:
            return f"nothing, your hands hold {_A_THING[hand]}"
        return f"take {_A_THING[code - ONIONS + ONION]}"
    if code == SERVING:
        if hand >= SOUP:
            return f"serve the {_THINGS[hand]}{_price(kitchen, hand)}"
        return "nothing, only a soup can be served"
    pot = f"pot {place.letters[front]}"
    count = (thing >> 2 & 3) + (thing & 3)
    if hand >= SOUP:
        return f"nothing, a soup does not go back into {pot}"
    if clock > 1:
        return f"nothing, {pot} is cooking, ready in {clock - 1} step{'s' * (clock > 2)}"
    if clock == 1:
        if hand == DISH:
            return f"plate the {_THINGS[thing]} from {pot}"
        return f"nothing, the soup in {pot} needs a dish"
    if hand == DISH:
        return f"nothing, {pot} holds no cooked soup"
    if hand:
        if count == 3:
            return f"nothing, {pot} is full; empty hands start it"
        begins = ", starts cooking" if kitchen.dynamics == "classic" and count == 2 else ""
        return f"put the {_THINGS[hand]} into {pot} ({count + 1} of 3{begins})"
    if kitchen.dynamics == "manual" and count:
        return f"start cooking {_AMOUNTS[thing & 15]} in {pot}"
    return f"nothing, your hands are empty and {pot} is {'not full' if count else 'empty'}"


def _price(kitchen: Kitchen, soup: int) -> str:
    """What a soup earns, where that does not depend on which of several kitchens this is."""
    worths = _worths(kitchen)[soup & 15]
    if len(worths) > 1:
        return ""
    return f" ({min(worths)} points)"


@functools.lru_cache(maxsize=64)
def _worths(kitchen: Kitchen) -> list[set[int]]:
    """By recipe bits: the values that a soup has in the levels of the kitchen."""
    found: list[set[int]] = [set() for _ in range(16)]
    for onions, tomatoes in RECIPES:
        found[onions << 2 | tomatoes] = {lv.worth((onions, tomatoes)) for lv in kitchen.levels}
    return found


# ---- rules ---------------------------------------------------------------------------------------


def rules(kitchen: Kitchen, agent: int) -> str:
    """The rule book of one chef."""
    others = [name for i, name in enumerate(kitchen.agents) if i != agent]
    mates = f", together with {' and '.join(others)}" if others else ", alone"
    classic = kitchen.dynamics == "classic"
    radius = kitchen.view_radius
    lines = [
        "THE KITCHEN",
        f"You are {kitchen.agents[agent]}, a chef{mates}. Cook soups and serve as many points "
        f"worth of them as you can in {kitchen.max_steps} steps. All points count for the whole "
        "team. In each step every chef chooses one action, all at the same time.",
        _aim(kitchen),
        "",
        "ORDERS",
        *_orders(kitchen),
        "Any other soup earns 0 points and is gone when served.",
        "",
        "THE MAP",
        "Cells are (x, y): x grows to the east (right), y grows to the south (down), (0, 0) is the "
        "top left. North is up: (x, y - 1). On the map, @ is you, a digit is the chef of that "
        "number, . floor, X counter, O onion dispenser, T tomato dispenser, D dish dispenser, "
        "P pot, S serving window, ? out of sight or outside. Chefs walk on floor only, one per "
        "cell. Pots are called A, B, ... in reading order"
        + (" of those that you see." if radius is not None else "."),
    ]
    if radius is not None:
        lines.append(
            f"You see only the cells at most {radius} columns and {radius} rows away from you."
        )
    start = (
        "add it (3 at most); the third starts the cooking by itself."
        if classic
        else "add it (3 at most); the cooking does not start by itself.\n"
        "- pot that is not cooking, with 1 to 3 ingredients, EMPTY HANDS: start the cooking."
    )
    lines += [
        "",
        "ACTIONS (number, name)",
        "0 north, 1 south, 2 east, 3 west: turn that way and, if the cell there is free floor, "
        "step onto it. If it is a counter or a station, you only turn to face it.",
        "4 stay: do nothing.",
        "5 interact: use the one cell in front of you, the one you already face. So to use a "
        "station, stand beside it, turn to it (one step), then interact (another step).",
        "",
        "WHAT INTERACT DOES (hands hold one object at most)",
        "- dispenser, empty hands: take an onion, a tomato or a dish.",
        "- counter: put your object on an empty one; with empty hands, take what lies there.",
        f"- pot that is not cooking and not full, onion or tomato in hand: {start}",
        "- pot with a ready soup, dish in hand: plate it; you then hold the soup, the pot is "
        "empty.",
        "- serving window, soup in hand: serve it.",
        "- anything else: nothing happens. A cooking pot cannot be touched. Nothing burns, and "
        "nothing can be thrown away or handed over directly; pass objects by way of counters.",
        "",
        "ORDER OF A STEP",
        "1. Interacts, one after the other, lowest chef number first, each on the cell that the "
        "chef faced before the step.",
        "2. All moves at once. If any two chefs would end in one cell or would swap cells, NOBODY "
        "moves in this step (everybody still turns). A chef who does not move keeps its cell, so "
        "walking into it stops everyone; if you block each other, let one stay or step aside.",
        "3. Pots cook one step. 'ready in n' means: n steps from now the soup can be plated.",
        "",
        "HOW TO PLAY WELL",
        "Put the ingredients of an order into a pot"
        + ("" if classic else ", start it")
        + ", fetch a dish while it cooks, plate the soup, serve it, and begin again; keep all pots "
        "busy. See what the others carry and do what is missing. If you cannot reach a station, "
        "put objects on a counter that another chef can reach, and take theirs.",
        "",
        "HOW TO ANSWER",
        'Name one action: its name ("north"), its number ("5"), one of the choices offered, or one '
        'plain sentence ("I go east", or what an interact does now: "take an onion"). To explain '
        'as well, mark the action: a line "ACTION: interact", {"action": "north"} or [north].',
    ]
    return "\n".join(lines)


def _aim(kitchen: Kitchen) -> str:
    """The reward, in words."""
    weights = kitchen.reward_weights
    parts = [f"{weights['delivery']:g} for each point served"]
    for name, deed in (
        ("pot_placement", "ingredient that you put into a pot"),
        ("dish_pickup", "useful dish that you take (no dish lies on a counter, and fewer are in "
         "hands than pots are partly filled, cooking or ready)"),
        ("soup_pickup", "soup that you plate"),
    ):  # fmt: skip
        if weights[name]:
            parts.append(f"{weights[name] * SHAPED[name]:g} for each {deed}")
    return f"Your reward: {'; '.join(parts)}."


def _orders(kitchen: Kitchen) -> list[str]:
    """The order sheet, or several where kitchens differ."""
    sheets: dict[str, list[Level]] = {}
    for level in kitchen.levels:
        sheets.setdefault(_sheet(kitchen, level), []).append(level)
    if len(sheets) == 1:
        return list(sheets)
    lines = ["Orders depend on the kitchen:"]
    for sheet, group in sheets.items():
        names = [f"{level.name} ({level.width} x {level.height})" for level in group[:8]]
        if len(group) > 8:
            names.append(f"{len(group) - 8} more")
        lines.append(f"In {', '.join(names)}:\n{sheet}")
    return lines


def _sheet(kitchen: Kitchen, level: Level) -> str:
    rows = []
    for recipe in level.orders:
        bonus = " (bonus order)" if recipe in level.bonus_orders else ""
        rows.append(
            f"- soup of {_amount(*recipe)}: {level.worth(recipe)} points{bonus}, "
            f"cooks {level.times[recipe]} steps"
        )
    other = {level.times[r] for r in RECIPES if r not in level.orders}
    if kitchen.dynamics == "classic":
        other = {level.times[r] for r in RECIPES if r not in level.orders and sum(r) == 3}
    if other and other != {level.times[r] for r in level.orders}:
        low, high = min(other), max(other)
        rows.append(f"- other soups cook {low if low == high else f'{low} to {high}'} steps")
    return "\n".join(rows)


# ---- reading an answer ---------------------------------------------------------------------------


def parse(kitchen: Kitchen, text: Any, state: KitchenState, agent: int) -> int:
    """The action that an answer means; `IllegalAction` if it means none, or may mean several."""
    look = _look(kitchen, state, agent)
    cell, facing, hand, _ = look.own
    beside = []
    for way in range(STAY):
        to = _front(kitchen, cell, way)
        x, y = to % kitchen.width, to // kitchen.width
        code, thing = look.place.terrain[to], look.objects[to]
        beside.append(Cell(x, y, code, thing, look.place.letters.get(to, ""), look.at.get(to)))
    here = cell % kitchen.width, cell // kitchen.width
    seen = Seen(agent, here, facing, hand, tuple(beside), tuple(_choices(kitchen, look)))
    return int(decide(text, lambda answer: mean(answer, seen), refuse))


# ---- the true state ------------------------------------------------------------------------------


def to_dict(kitchen: Kitchen, state: KitchenState) -> dict[str, Any]:
    """The true state in plain names and numbers."""
    width = kitchen.width
    level = kitchen.levels[int(state.level)]
    terrain, objects = np.asarray(state.terrain), np.asarray(state.objects)
    timer = np.asarray(state.timer)
    facing, held = np.asarray(state.facing), np.asarray(state.held)
    chefs = []
    for i, cell in enumerate(np.asarray(state.position)):
        chef = {"name": kitchen.agents[i], "x": int(cell) % width, "y": int(cell) // width}
        chef |= {"facing": ACTIONS[facing[i]], **_object_dict("holding", held[i])}
        chefs.append(chef)
    pots, counters = [], []
    for cell in np.flatnonzero(terrain == POT):
        clock = int(timer[cell])
        pots.append(
            {
                "x": int(cell) % width,
                "y": int(cell) // width,
                "onions": int(objects[cell]) >> 2 & 3,
                "tomatoes": int(objects[cell]) & 3,
                "status": ("idle", "ready", "cooking")[min(clock, 2)],
                "steps_left": max(clock - 1, 0),
            }
        )
    for cell in np.flatnonzero((terrain == COUNTER) & (objects != NOTHING)):
        place = {"x": int(cell) % width, "y": int(cell) // width}
        counters.append(place | _object_dict("object", objects[cell]))
    return {
        "layout": level.name,
        "map": level.text().split("\n"),
        "time": int(state.time),
        "steps_left": kitchen.max_steps - int(state.time),
        "soups": int(state.soups),
        "score": int(state.score),
        "chefs": chefs,
        "pots": pots,
        "counters": counters,
    }


def _object_dict(name: str, code: int) -> dict[str, Any]:
    """An object in words, with the contents of a soup beside it."""
    code = int(code)
    if code < SOUP:
        return {name: (None, "onion", "tomato", "dish")[code]}
    return {name: "soup", "onions": code >> 2 & 3, "tomatoes": code & 3}
