"""The kitchen in words: rule book, description, choices, and reading what a player answers.

`describe` says what the vector observations say, no less and no more, and what happened in the last
step: a map, and the facts in sentences of a fixed form, from which the vectors can be rebuilt. What
a chef sees is cut out once, in `scene_of`; all that is said afterwards is said from that alone.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.reading.answers import decide
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen import events
from manyhands.envs.kitchen.effects import offers
from manyhands.envs.kitchen.levels import (
    BUTTON,
    COUNTER,
    DISPENSERS,
    FLOOR,
    INDICATOR,
    POT,
    RECIPES,
    SERVING,
    STATIONS,
    VOID,
    Level,
)
from manyhands.envs.kitchen.phrases import Cell
from manyhands.envs.kitchen.reading import Seen, mean, refuse, with_names
from manyhands.envs.kitchen.scene import (
    A_THING,
    AMOUNTS,
    MAP,
    THINGS,
    Chef,
    Place,
    Scene,
    amount,
    holding,
    inside,
    scene_of,
    steps,
)
from manyhands.envs.kitchen.state import (
    ACTIONS,
    ARRIVED,
    NOTHING,
    STAY,
    KitchenState,
)

if TYPE_CHECKING:
    from manyhands.envs.kitchen.env import Kitchen

YOU = "@"


# ---- description ---------------------------------------------------------------------------------


def describe(kitchen: Kitchen, state: KitchenState, agent: int) -> str:
    """What the chef sees, as text."""
    scene = scene_of(kitchen, state, agent, kitchen.view_radius)
    if kitchen.detail == "brief":
        return "\n".join(_brief(kitchen, scene))
    place, names, left = scene.place, scene.place.names, kitchen.max_steps - scene.time
    lines = [
        f"Step {scene.time} of {kitchen.max_steps}, {left} left. "
        f"Soups served: {scene.soups}. Score: {scene.score}.",
        _map(scene),
        f"You are {kitchen.agents[agent]} at {names[scene.own.cell]}, "
        f"{_doing(kitchen, scene, agent, scene.own)}",
    ]
    for i, chef in _others(scene):
        name = kitchen.agents[i]
        if chef is None:
            lines.append(f"{name} is out of sight.")
        else:
            lines.append(f"{name} is at {names[chef.cell]}, {_doing(kitchen, scene, i, chef)}")
    news = _pot_news(scene)
    for cell in place.pots:
        inside = _contents(scene.objects[cell], scene.timer[cell])
        new = f" ({news[cell]})" if cell in news else ""
        lines.append(f"Pot {place.letters[cell]} at {names[cell]}: {inside}{new}.")
    lines.append(f"On counters: {_lying(scene) or 'nothing'}.")
    if place.stations:
        lines.append(place.stations)
    if kitchen.asked:
        lines += _asked_for(scene)
    full = kitchen.detail == "full"
    if len(scene.levels) == 1 and (full or _orders_differ(kitchen)):
        lines.append(f"Orders: {_prices(scene.levels[0])}.")
    if kitchen.view_radius is None:
        lines += _divided(kitchen, scene)
    if full:
        lines += [_distances(kitchen, scene), _REMINDERS[kitchen.dynamics]]
    return "\n".join(lines)


def _brief(kitchen: Kitchen, scene: Scene) -> list[str]:
    """The lines of a description with what changes decisions, in few words."""
    place, names = scene.place, scene.place.names
    lines = [f"Step {scene.time} of {kitchen.max_steps}. Score {scene.score}.", _map(scene)]
    for i, chef in [(scene.agent, scene.own), *_others(scene)]:
        who = "You" if i == scene.agent else kitchen.agents[i]
        if chef is None:
            lines.append(f"{who}: out of sight.")
            continue
        last = "" if chef.event == ARRIVED else f", {events.told(kitchen, scene, i, chef)}"
        lines.append(
            f"{who} {names[chef.cell]}, facing {ACTIONS[chef.facing]} to "
            f"{_facing(kitchen, scene, chef)}, holding {A_THING[chef.held]}{last}."
        )
    news = _pot_news(scene)
    for cell in place.pots:
        inside = _contents(scene.objects[cell], scene.timer[cell])
        new = f" ({news[cell]})" if cell in news else ""
        lines.append(f"Pot {place.letters[cell]} {names[cell]}: {inside}{new}.")
    lying = _lying(scene)
    lines += [f"On counters: {lying}."] if lying else []
    return lines + (_asked_for(scene) if kitchen.asked else [])


def _asked_for(scene: Scene) -> list[str]:
    """What is asked for, as far as it is in view; what buttons show; and what was just served."""
    place, found = scene.place, []
    buttons = [cell for cell, code in enumerate(place.terrain) if code == BUTTON]
    if buttons:
        parts = [
            f"{place.names[cell]} "
            + (f"shows it, {steps(scene.timer[cell])} left" if scene.timer[cell] else "is off")
            for cell in buttons
        ]
        found.append(f"Recipe buttons: {', '.join(parts)}.")
    if scene.recipe is None:
        found.append("Asked for: unknown, nothing in view shows it.")
    else:
        found.append(f"Asked for: {THINGS[scene.recipe]}.")
    if scene.delivered and SERVING in place.terrain:
        found.append("What was asked for was just served.")
    return found


def _others(scene: Scene) -> list[tuple[int, Chef | None]]:
    return [(i, chef) for i, chef in enumerate(scene.chefs) if i != scene.agent]


def _map(scene: Scene) -> str:
    place = scene.place
    canvas = place.canvas.copy()
    canvas[place.spots[scene.own.cell]] = YOU
    for cell, i in scene.at.items():
        canvas[place.spots[cell]] = str(i)
    return "".join(canvas)


def _doing(kitchen: Kitchen, scene: Scene, i: int, chef: Chef) -> str:
    """How a chef stands, what it holds, and what it did."""
    if chef.event == ARRIVED:
        last = "You have just arrived." if i == scene.agent else "It has just arrived."
    else:
        who = "you" if i == scene.agent else "it"
        last = f"Last step {who} {events.told(kitchen, scene, i, chef)}."
    return (
        f"facing {ACTIONS[chef.facing]} to {_facing(kitchen, scene, chef)}, holding "
        f"{A_THING[chef.held]}. {last}"
    )


def _facing(kitchen: Kitchen, scene: Scene, chef: Chef) -> str:
    """What is in front of a chef, from what the reader sees."""
    front = scene.front(chef)
    code = scene.place.terrain[front]
    if code == VOID:
        return "something out of sight"
    if front == scene.own.cell:
        return "you"
    if front in scene.at:
        return kitchen.agents[scene.at[front]]
    if code == FLOOR:
        return f"floor at {scene.place.names[front]}"
    return scene.named(front)


def _pot_news(scene: Scene) -> dict[int, str]:
    """What is new of pots, by cell."""
    return dict.fromkeys(events.started(scene), "just began to cook") | dict.fromkeys(
        scene.ready, "just got ready"
    )


def _contents(thing: int, clock: int) -> str:
    """A pot's contents and progress in words."""
    held = AMOUNTS[thing]
    if clock > 1:
        return f"{held}, cooking, ready in {steps(clock - 1)}"
    if clock == 1:
        return f"{held}, ready to plate"
    if not thing:
        return "empty"
    missing = 3 - sum(ask.counts(thing))
    room = f"room for {missing} more" if missing else "full"
    return f"{held}, not cooking, {room}"


def _lying(scene: Scene) -> str:
    """What lies on counters, and where."""
    lying: dict[int, list[str]] = {}
    for cell in scene.place.counters:
        if scene.objects[cell]:
            lying.setdefault(scene.objects[cell], []).append(scene.place.names[cell])
    return "; ".join(f"{THINGS[code]} {' '.join(lying[code])}" for code in sorted(lying))


@functools.lru_cache(maxsize=64)
def _orders_differ(kitchen: Kitchen) -> bool:
    """Whether soups are worth other things in other kitchens that this may be."""
    return len({_prices(level) for level in kitchen.levels}) > 1


@functools.lru_cache(maxsize=1024)
def _prices(level: Level) -> str:
    return "; ".join(
        f"soup of {amount(*recipe)} {level.worth(recipe)} points, {level.times[recipe]} steps"
        for recipe in level.orders
    )


# ---- description: what can be worked out ---------------------------------------------------------

_REMINDERS = {
    "classic": "Remember: the third ingredient starts a pot; a chef who collides stops everybody.",
    "manual": "Remember: empty hands start a pot; a chef who collides stops everybody.",
}


def _divided(kitchen: Kitchen, scene: Scene) -> list[str]:
    """Who reaches what, where chefs are in rooms that are apart."""
    place = scene.place
    rooms: dict[int, list[str]] = {}
    for i, chef in enumerate(scene.chefs):
        assert chef is not None
        name = "you" if i == scene.agent else kitchen.agents[i]
        rooms.setdefault(place.rooms[chef.cell], []).append(name)
    if len(rooms) == 1:
        return []
    parts = [
        f"{', '.join(sorted(who, key=lambda name: name != 'you'))}: {_reached(place, room)}"
        for room, who in sorted(rooms.items(), key=lambda item: "you" not in item[1])
    ]
    shared = _between(place, frozenset(rooms)) or "none"
    return [f"Within reach of {'; of '.join(parts)}. Counters between: {shared}."]


@functools.lru_cache(maxsize=1024)
def _reached(place: Place, room: int) -> str:
    """The stations beside a room."""
    found: dict[str, list[str]] = {}
    for cell, code in enumerate(place.terrain):
        if code not in (FLOOR, COUNTER, VOID) and room in _rooms_beside(place, cell):
            if code == POT:
                found.setdefault("pot", []).append(place.letters[cell])
            else:
                found.setdefault(STATIONS[code], []).append(place.names[cell])
    return (
        ", ".join(
            f"{kind}{'s' * (len(where) > 1)} {' '.join(where)}" for kind, where in found.items()
        )
        or "no station"
    )


@functools.lru_cache(maxsize=1024)
def _between(place: Place, rooms: frozenset[int]) -> str:
    """Counters that several rooms share: objects can be passed over them."""
    return " ".join(
        place.names[cell]
        for cell in place.counters
        if len(rooms & set(_rooms_beside(place, cell))) > 1
    )


def _rooms_beside(place: Place, cell: int) -> list[int]:
    return [place.rooms[to] for to in place.around(cell) if place.rooms[to] >= 0]


def _distances(kitchen: Kitchen, scene: Scene) -> str:
    """How many moves and turns the chef needs until it can interact with what it sees."""
    place = scene.place
    open_ = [code == FLOOR and cell not in scene.at for cell, code in enumerate(place.terrain)]
    far = {scene.own.cell: 0}
    queue = [scene.own.cell]
    for cell in queue:
        for way in range(STAY):
            to = place.front(cell, way)
            if open_[to] and to not in far:
                far[to] = far[cell] + 1
                queue.append(to)
    best: dict[int, int] = {}
    for cell, walked in far.items():
        for way in range(STAY):
            to = place.front(cell, way)
            if open_[to] or place.terrain[to] in (FLOOR, VOID):
                continue
            faces = scene.own.facing == way if not walked else (
                far.get(place.front(cell, way ^ 1), walked) == walked - 1
            )  # fmt: skip
            cost = walked + (not faces)
            best[to] = min(best.get(to, cost), cost)
    told = [
        (cost, "" if place.terrain[cell] != COUNTER else THINGS[scene.objects[cell]], cell)
        for cell, cost in best.items()
        if place.terrain[cell] != COUNTER or scene.objects[cell]
    ]
    words = [
        f"{f'{thing} on the counter at {place.names[cell]}' if thing else _plain(place, cell)} "
        f"{cost}"
        for cost, thing, cell in sorted(told)
    ]
    empty = [(cost, cell) for cell, cost in best.items()
             if place.terrain[cell] == COUNTER and not scene.objects[cell]]  # fmt: skip
    if empty:
        cost, cell = min(empty)
        words.append(f"nearest empty counter, at {place.names[cell]}, {cost}")
    return f"Steps before you can use, around the others: {'; '.join(words) or 'nothing'}."


def _plain(place: Place, cell: int) -> str:
    return place.station(cell).removeprefix("the ")


# ---- choices -------------------------------------------------------------------------------------


def choices(kitchen: Kitchen, state: KitchenState, agent: int) -> list[Choice]:
    """What each of the six actions would do now."""
    return offers(kitchen, scene_of(kitchen, state, agent, kitchen.view_radius))


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
        *(
            _asked_rules(kitchen)
            if kitchen.asked
            else ["Any other soup earns 0 points and is gone when served."]
        ),
        "",
        "THE MAP",
        "Cells are (x, y): x grows to the east (right), y grows to the south (down), (0, 0) is the "
        "top left. North is up: (x, y - 1). On the map, @ is you, a digit is the chef of that "
        f"number, . floor, X counter, {_dispensers(kitchen)}D dish dispenser, "
        f"P pot, S serving window, {'R recipe indicator, B recipe button, ' * kitchen.asked}"
        "? out of sight or outside. Chefs walk on floor only, one per "
        "cell. Pots are called A, B, ... in reading order"
        + (" of those that you see." if radius is not None else "."),
    ]
    if radius is not None:
        lines.append(
            f"You see only the cells at most {radius} columns and {radius} rows away from you. "
            "What you saw before is not told again: remember it."
        )
    start = (
        "add it (3 at most); the third starts the cooking by itself."
        if classic
        else "add it (3 at most); the cooking does not start by itself.\n"
        "- pot that is not cooking, with 1 to 3 ingredients, EMPTY HANDS: start the cooking."
    )
    if kitchen.random_reset and classic:
        start += "\n- pot that is not cooking and full from the start, with ANYTHING in hand or "
        start += "nothing: start the cooking; your hands stay as they are."
    if kitchen.random_reset:
        lines.append("The game starts with things in hands, in pots and on counters.")
    lines += [
        "",
        "ACTIONS (number, name)",
        "0 north, 1 south, 2 east, 3 west: turn that way and, if the cell there is free floor, "
        "step onto it. If it is a counter or a station, you only turn to face it; you are told so "
        "even if you faced it before.",
        "4 stay: do nothing.",
        "5 interact: use the one cell in front of you, the one you already face. So to use a "
        "station, stand beside it, turn to it (one step), then interact (another step).",
        "",
        "WHAT INTERACT DOES (hands hold one object at most)",
        f"- dispenser, empty hands: take {'one of what it holds' if kitchen.asked else _THREE}.",
        "- counter: put your object on an empty one; with empty hands, take what lies there.",
        "- pot that is not cooking and not full, "
        f"{'an ingredient' if kitchen.asked else 'onion or tomato'} in hand: {start}",
        "- pot with a ready soup, dish in hand: plate it; you then hold the soup, the pot is "
        "empty.",
        "- serving window, soup in hand: serve it.",
        *(
            [
                f"- recipe button, EMPTY HANDS: press it. That costs {kitchen.button_cost} points; "
                f"the button then shows the recipe for {steps(kitchen.button_steps - 1)}."
            ]
            if _has(kitchen, BUTTON)
            else []
        ),
        "- anything else: nothing happens. A cooking pot cannot be touched. Nothing burns, and "
        "nothing can be thrown away or handed over directly; pass objects by way of counters.",
        "",
        "ORDER OF A STEP",
        "1. Interacts, one after the other, lowest chef number first, each on the cell that the "
        "chef faced before the step.",
        "2. All moves at once. If any two chefs would end in one cell or would swap cells, NOBODY "
        "moves in this step (everybody still turns). A chef who does not move keeps its cell, so "
        "walking into it stops everyone; if you block each other, let one stay or step aside.",
        *(["Serving windows judge a soup by what is asked for in that step."] * kitchen.asked),
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


_BUSY = "partly filled, cooking or ready"
_THREE = "an onion, a tomato or a dish"


def _has(kitchen: Kitchen, code: int) -> bool:
    return bool((kitchen.terrains == code).any())


def _dispensers(kitchen: Kitchen) -> str:
    letters = [MAP[code] for code in DISPENSERS[: kitchen.kinds]]
    named = zip(letters, ask.KINDS, strict=False)
    return "".join(f"{letter} {name} dispenser, " for letter, name in named)


def _asked_rules(kitchen: Kitchen) -> list[str]:
    """What is asked for, and what another soup comes to."""
    again = (
        "Whenever it is served, the next one is drawn, perhaps the same."
        if kitchen.resample
        else "It stays the same until the end."
    )
    told = []
    if _has(kitchen, INDICATOR):
        told.append("Recipe indicators (R) show it to all who see them.")
    if _has(kitchen, BUTTON):
        told.append("Recipe buttons (B) do so, too, for a while when pressed.")
    wrong = "costs its points" if kitchen.penalty else "earns 0 points"
    return [
        f"Only ONE of these is asked for at a time, drawn at random at the start. {again}",
        " ".join(told) or "Nothing in the kitchen shows which.",
        f"Any other soup {wrong} and is gone when served.",
        *(
            ["Serving windows show when what was asked for has just been served."]
            if kitchen.show_delivery
            else []
        ),
    ]


def _aim(kitchen: Kitchen) -> str:
    """The reward, in words."""
    weights = kitchen.reward_weights
    parts = [f"{weights['delivery']:g} for each point served"]
    for name, deed in (
        ("pot_placement", "ingredient that you put into a pot"
         + " while the recipe asked for wants more of it than is in there" * kitchen.asked),
        ("pot_start", "pot that you start with just what is asked for in it"),
        ("dish_pickup", "useful dish that you take (no dish lies on a counter, and fewer are in "
         f"hands than pots are {'not empty' if kitchen.asked else _BUSY})"),
        ("soup_pickup", "soup that you plate" + " and that is asked for" * kitchen.asked),
    ):  # fmt: skip
        if weights.get(name):
            parts.append(f"{weights[name] * kitchen.shaped[name]:g} for each {deed}")
    if kitchen.asked and weights["button_press"] != weights["delivery"] and _has(kitchen, BUTTON):
        lost = weights["button_press"] * kitchen.button_cost
        parts.append(f"{-lost:g} for each press of a recipe button")
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
            f"- soup of {amount(*recipe)}: {level.worth(recipe)} points{bonus}, "
            f"cooks {level.times[recipe]} steps"
        )
    if level.asked:
        return "\n".join(rows)
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
    scene = scene_of(kitchen, state, agent, kitchen.view_radius)
    place, own = scene.place, scene.own
    beside = []
    for way in range(STAY):
        to = place.front(own.cell, way)
        x, y = to % kitchen.width, to // kitchen.width
        letter = place.letters.get(to, "")
        beside.append(Cell(x, y, place.terrain[to], scene.objects[to], letter, scene.at.get(to)))
    here = own.cell % kitchen.width, own.cell // kitchen.width
    offered = offers(kitchen, scene)
    pots = tuple((cell % kitchen.width, cell // kitchen.width) for cell in place.letters)
    seen = Seen(agent, here, own.facing, own.held, tuple(beside), tuple(offered), pots)
    me = kitchen.agents[agent]
    said = with_names(text, seen) if isinstance(text, str) else text
    return int(decide(said, lambda answer: mean(answer, seen), refuse, me=me, written=text))


# ---- the true state ------------------------------------------------------------------------------


def to_dict(kitchen: Kitchen, state: KitchenState) -> dict[str, Any]:
    """The true state in plain names and numbers."""
    width = kitchen.width
    level = kitchen.levels[int(state.level)]
    kinds = kitchen.kinds
    terrain, objects = np.asarray(state.terrain), np.asarray(state.objects)
    timer = np.asarray(state.timer)
    facing, held = np.asarray(state.facing), np.asarray(state.held)
    chefs = []
    for i, cell in enumerate(np.asarray(state.position)):
        chef = {"name": kitchen.agents[i], "x": int(cell) % width, "y": int(cell) // width}
        chef |= {"facing": ACTIONS[facing[i]], **holding(int(held[i]))}
        chefs.append(chef)
    pots, counters = [], []
    for cell in np.flatnonzero(terrain == POT):
        clock = int(timer[cell])
        pots.append(
            {
                "x": int(cell) % width,
                "y": int(cell) // width,
                **inside(int(objects[cell]), kinds),
                "status": ("idle", "ready", "cooking")[min(clock, 2)],
                "steps_left": max(clock - 1, 0),
            }
        )
    for cell in np.flatnonzero((terrain == COUNTER) & (objects != NOTHING)):
        place = {"x": int(cell) % width, "y": int(cell) // width}
        counters.append(place | holding(int(objects[cell]), "object"))
    asked: dict[str, Any] = {}
    if state.asked is not None:
        asked["recipe"] = inside(int(state.asked.recipe), kinds)
        asked["delivered"] = bool(state.asked.delivered)
        asked["buttons"] = [
            {"x": int(cell) % width, "y": int(cell) // width, "steps_left": int(timer[cell])}
            for cell in np.flatnonzero(terrain == BUTTON)
        ]
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
        **asked,
    }
