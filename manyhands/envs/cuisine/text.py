"""Cuisines in words: rule book, description, choices, and the true state.

`describe` says what the observation says. How answers are read is in `reading.py`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.env import names_of
from manyhands.core.reading.answers import how_to_answer
from manyhands.envs.cuisine import reading
from manyhands.envs.cuisine.menu import Level, Recipe, words
from manyhands.envs.cuisine.reading import Facts, facts_of, open_actions, the
from manyhands.envs.cuisine.state import STORE, TABLE, TOOLS, CuisineState, actions_of

if TYPE_CHECKING:
    from manyhands.envs.cuisine.env import Cuisine

parse = reading.parse


# ---- description ---------------------------------------------------------------------------------


def describe(cuisine: Cuisine, state: CuisineState, agent: int) -> str:
    """What the chef sees, as text."""
    facts, book = facts_of(cuisine, state), cuisine.book
    level = book.levels[facts.level]
    lines = [
        f"Step {facts.time} of {cuisine.max_steps}"
        + (f", in {level.title} ({level.name})." if len(book.levels) > 1 else "."),
        f"You are {cuisine.agents[agent]}, {_chef(cuisine, facts, agent)}.",
    ]
    others = [
        f"{name} is {_chef(cuisine, facts, i)}"
        for i, name in enumerate(cuisine.agents)
        if i != agent
    ]
    if others:
        lines.append(f"{'; '.join(others)}.")
    lines.append("Tools:")
    for tool in range(len(book.kinds)):
        if book.exists[facts.level, tool + TOOLS]:
            lines.append(
                f"- {book.place_names[tool + TOOLS]}: {_tool(cuisine, facts, tool, level)}"
            )
    waiting = _counted(dict(zip(cuisine.dish_names, facts.waiting, strict=True)))
    lines.append(f"On the serving table: {waiting or 'nothing'}.")
    orders = [
        f"{cuisine.dish_names[dish]} ({_steps(left)} left)"
        for dish, left in zip(facts.orders, facts.left, strict=True)
    ]
    lines.append(f"Orders, most urgent first: {'; '.join(orders) or 'none'}.")
    interval = cuisine.intervals[facts.level]
    lines.append(f"The next order comes in {_steps(interval - facts.time % interval)}.")
    if cuisine.detail == "full":
        lines += _how(cuisine, facts, level)
    if cuisine.detail != "brief":
        lines.append(f"So far: {facts.served} served, {facts.expired} expired.")
    said = _happened(cuisine, state, agent)
    if said:
        lines.append(f"Last step: {'; '.join(said)}.")
    return "\n".join(lines)


def _all(names: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _steps(count: int) -> str:
    return f"{count} step{'s' * (count != 1)}"


def _chef(cuisine: Cuisine, facts: Facts, i: int) -> str:
    """Where a chef is, what it holds, and whether it is bound."""
    held = facts.held[i]
    hands = f"holding {cuisine.book.item_names[held]}" if held is not None else "with empty hands"
    bound = f", busy there for {_steps(facts.bound[i])} more" if facts.bound[i] else ""
    return f"at {the(cuisine.book.place_names[facts.place[i]])} {hands}{bound}"


def _counted(amounts: dict[str, int]) -> str:
    """ "onion, 2 tomato": the items of which there are any."""
    return ", ".join(
        name if amount == 1 else f"{amount} {name}" for name, amount in amounts.items() if amount
    )


def _tool(cuisine: Cuisine, facts: Facts, tool: int, level: Level) -> str:
    """What is in a tool, and what it does."""
    book, contents = cuisine.book, facts.inside[tool]
    said = _counted({book.item_names[k]: count for k, count in sorted(contents.items())})
    if facts.ready[tool]:
        busy = facts.busy[tool]
        return f"{said}, done in {_steps(busy)}" if busy else f"{said}, ready to be taken"
    if not said:
        return "empty"
    if cuisine.detail == "brief":
        return said
    made = _makes(cuisine, facts.level, tool, contents)
    if made:
        return f"{said} (activate it to make {words(made)})"
    could = [
        f"{words(recipe.item)} {_need(recipe.item)} {_all(missing)} too"
        for recipe, missing in _unfinished(cuisine, level, tool, contents)
    ]
    return f"{said} ({'; '.join(could)})"


def _need(item: str) -> str:
    """ "Dough needs", but "bean buns need"."""
    several = item.endswith("s") and not item.endswith(("ss", "us"))
    return "need" if several else "needs"


def _makes(cuisine: Cuisine, level: int, tool: int, contents: Counter[int]) -> str | None:
    """What a tool would make of its contents."""
    for r, recipe in enumerate(cuisine.book.recipes):
        here = cuisine.book.recipe_on[level, r] and cuisine.book.made_with[r, tool + TOOLS]
        if here and reading.needs(cuisine.book, r) == contents:
            return recipe.item
    return None


def _unfinished(
    cuisine: Cuisine, level: Level, tool: int, contents: Counter[int]
) -> list[tuple[Recipe, list[str]]]:
    """What can still become of the contents of a tool, and what is missing."""
    book, found = cuisine.book, []
    inside = Counter({book.items[k]: count for k, count in contents.items()})
    for recipe in level.recipes:
        need = Counter(recipe.inputs)
        if recipe.tool == book.kinds[tool].name and inside <= need:
            found.append((recipe, [words(each) for each in (need - inside).elements()]))
    return found


def _how(cuisine: Cuisine, facts: Facts, level: Level) -> list[str]:
    """How to make what is ordered."""
    ordered = dict.fromkeys(facts.orders)
    lines = []
    for dish in ordered:
        name = cuisine.book.items[cuisine.book.dishes[dish]]
        made = [r for r in level.recipes if r.item in level.needs(name)]
        lines.append(f"How to make {words(name)}: {'; '.join(map(_recipe, made))}.")
    return lines


def _recipe(recipe: Recipe) -> str:
    inputs = _all([words(each) for each in recipe.inputs])
    tool = words(recipe.tool)
    article = "an" if tool[0] in "aeiou" else "a"
    return f"{words(recipe.item)} from {inputs} with {article} {tool}"


_EMPTY = "your hands are empty after this step"
_DID = {
    "go": "went to {place}",
    "get": "took {item}",
    "put": "put {item} into {place}",
    "throw away": "threw {item} away",
    "activate": "activated {place}",
    "wait": "waited",
    "deliver": "put {item} on the serving table",
    "failed": "could not {meant} at {place}, since {faster} faster",
}


def _happened(cuisine: Cuisine, state: CuisineState, agent: int) -> list[str]:
    events = cuisine.last_events(state, agent)
    did = {event["agent"]: event for event in events if "agent" in event}
    said = []
    for i, name in enumerate(cuisine.agents if state.time else ()):
        event = did.get(name, {"event": "wait"})
        place = event.get("place", cuisine.book.place_names[int(state.place[i])])
        values = {**event, "place": the(place), "faster": _faster(cuisine, state, did, i, agent)}
        held = int(state.held[i])  # who holds something can but put it down, others take and start
        values["meant"] = "take or start anything"
        if held:
            values["meant"] = f"put {cuisine.book.item_names[held - 1]} down"
        who = "you" if i == agent else name
        said.append(f"{who} {_DID[event['event']].format(**values)}")
    for event in events:
        if "agent" in event:
            continue
        if event["event"] == "ordered":
            said.append(f"{event['dish']} was ordered")
        else:
            times = f" ({event['orders']} orders)" if event["orders"] > 1 else ""
            verb = "was served" if event["event"] == "served" else "expired"
            said.append(f"the order of {event['dish']} {verb}{times}")
    return said


def _faster(
    cuisine: Cuisine, state: CuisineState, did: Mapping[str, Any], slow: int, agent: int
) -> str:
    """Who changed something at a chef's place before it could act."""
    place = int(state.place[slow])
    for i, name in enumerate(cuisine.agents[:slow]):
        changed = did.get(name, {}).get("event") in ("get", "put", "activate", "deliver")
        if changed and int(state.place[i]) == place:
            return "you were" if i == agent else f"{name} was"
    return "another chef was"


# ---- choices -------------------------------------------------------------------------------------


def choices(cuisine: Cuisine, state: CuisineState, agent: int) -> list[Choice]:
    """The legal actions of the chef, in action order."""
    facts = facts_of(cuisine, state)
    return [
        _choice(cuisine, facts, agent, action) for action in open_actions(cuisine, facts, agent)
    ]


def _choice(cuisine: Cuisine, facts: Facts, agent: int, action: int) -> Choice:
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    own = f"chefs.{cuisine.agents[agent]}"
    place, held = facts.place[agent], facts.held[agent]
    here = book.place_names[place]
    # Chefs before this one, at the same tool: what they do comes first.
    before = [cuisine.agents[i] for i in range(agent) if facts.place[i] == place]
    doubt = f", unless {names_of(before)} acts there first" if before else ""
    sure = not before or place == STORE
    if action == 0:
        held_name = book.item_names[held] if held is not None else ""
        facts_: dict[str, Any] = {f"{own}.at": here, f"{own}.holding": held_name}
        return Choice("wait", "stay where you are", action, facts=facts_)
    if action < get:
        target = book.place_names[action - go]
        return Choice(
            f"go to {target}", "be there after this step", action, facts={f"{own}.at": target}
        )
    if action < put:
        item = book.item_names[action - get]
        effect = f"take it from {the(here)}"
        if not sure:
            return Choice(f"get {item}", effect + doubt, action, certain=False)
        return Choice(f"get {item}", effect, action, facts={f"{own}.holding": item})
    if action == activate:
        tool = place - TOOLS
        made = words(_makes(cuisine, facts.level, tool, facts.inside[tool]) or "")
        kind = book.kinds[tool]
        wait = max(kind.time - 1, 0)
        effect = f"make {made}, which can be taken " + (
            f"after {_steps(wait)} of waiting" if wait else "from the next step on"
        )
        if kind.watched and wait:
            effect += f"; you wait beside it for {_steps(wait)}"
        if not sure:
            return Choice(f"activate {here}", effect + doubt, action, certain=False)
        done = {f"tools.{here}.ready": True, f"tools.{here}.busy": wait}
        return Choice(f"activate {here}", effect, action, facts=done)
    assert held is not None
    item = book.item_names[held]
    empty = {f"{own}.holding": ""}
    if place == STORE:
        return Choice(f"throw away {item}", _EMPTY, action, facts=empty)
    if place == TABLE:
        left = [
            left
            for dish, left in zip(facts.orders, facts.left, strict=True)
            if book.dishes[dish] == held
        ]
        effect = "put it on the serving table, "
        effect += f"for an order with {_steps(left[0])} left" if left else "to wait for an order"
        return Choice(f"deliver {item}", effect, action, facts=empty)
    effect = _EMPTY
    if not sure:
        return Choice(f"put {item} into {here}", effect + doubt, action, certain=False)
    return Choice(f"put {item} into {here}", effect, action, facts=empty)


# ---- rules ---------------------------------------------------------------------------------------


def rules(cuisine: Cuisine, agent: int) -> str:
    """The rule book of one chef."""
    book = cuisine.book
    others = [name for i, name in enumerate(cuisine.agents) if i != agent]
    delivery, expiry, start = (cuisine.reward_weights[name] for name in cuisine.terms)
    several = len(book.levels) > 1
    title = "CUISINE" if several else f"CUISINE: {book.levels[0].title.upper()}"
    lines = [
        title,
        f"You are {cuisine.agents[agent]}. "
        + (f"You work with {_all(others)}." if others else "You work alone."),
        "",
        "AIM",
        "Cook what is ordered and put it on the serving table before the order expires. The team "
        f"gets {delivery:g} for each order served, and {expiry:g} for each that expires."
        + (f" Whoever activates a tool gets {start:g}." if start else ""),
        "",
        "ORDERS",
    ]
    for level, interval, lifetime in zip(
        book.levels, cuisine.intervals, cuisine.lifetimes, strict=True
    ):
        dishes = "for " + names_of([words(dish) for dish in level.dishes])
        dishes += ", by chance" * (len(level.dishes) > 1)
        head = f"{level.title} ({level.name}): " if several else ""
        lines.append(
            f"{head}{'one' if head else 'One'} order at the start and one after every "
            f"{_steps(interval)}, each {dishes}. An order can be served in the "
            f"{_steps(lifetime)} after it came; then it expires."
        )
    lines += [
        f"At most {cuisine.max_orders} orders are open at once; while there are as many, no new "
        "one comes. A dish on the serving table serves the most urgent order of it, or waits there "
        f"for the next one. The episode ends after {cuisine.max_steps} steps.",
        "",
        "WHAT YOU CAN DO",
        "Each step every chef does one thing that is possible at its start, in the order of their "
        "names: if a chef before you changes something, so that yours is no longer possible, "
        "nothing happens.",
        "- go to a place: you are there in the same step, from anywhere. Places are the storage, "
        "the serving table and the tools; any number of chefs can be at one.",
        "- get: with empty hands, take an ingredient from the storage, which never runs out, or "
        "what a tool has made. You can hold one thing.",
        "- put: what you hold into the tool where you are, if together with what is in it it is "
        "part of a recipe of that tool, and the tool neither works nor holds what it made. In the "
        "storage it is thrown away. On the serving table, which takes only dishes that are ordered "
        "here, it is delivered and stays.",
        "- activate: with empty hands, the tool where you are, if its contents are exactly those "
        "of a recipe. It then works for some steps, the one of activating included; what it made "
        "can be taken afterwards.",
        "- wait.",
        "",
        "TOOLS",
        *_tools(cuisine),
        "",
        "RECIPES",
        *(f"- {_recipe(recipe)}" for recipe in book.recipes),
        "",
        "HOW TO ANSWER",
        f"Name one action. {how_to_answer('go to storage')}",
    ]
    return "\n".join(lines)


def _tools(cuisine: Cuisine) -> list[str]:
    lines = []
    for kind, group in itertools.groupby(cuisine.book.kinds):
        count = len(list(group))
        busy = f"works for {_steps(kind.time)}" if kind.time > 1 else "is done at once"
        more = " The chef who activated it waits there for as long." * (
            kind.watched and kind.time > 1
        )
        if kind.take_back:
            more += " What was put in can be taken out again."
        number = f"there are {count}" if count > 1 else "there is one"
        lines.append(f"- {words(kind.name)} ({number}): {busy}.{more}")
    if len(cuisine.book.levels) > 1:
        lines.append(
            "Which of them there are depends on the kitchen; you see those there are. In each, "
            "only its own dishes and what goes into them can be fetched and made."
        )
    return lines


# ---- the true state ------------------------------------------------------------------------------


def to_dict(cuisine: Cuisine, state: CuisineState) -> dict[str, Any]:
    """The true state in plain names and numbers; `coming` is what nobody knows."""
    facts, book = facts_of(cuisine, state), cuisine.book
    interval = cuisine.intervals[facts.level]
    coming = np.asarray(state.coming).tolist()[facts.time // interval + 1 :]
    return {
        "level": book.levels[facts.level].name,
        "chefs": {
            name: {
                "at": book.place_names[facts.place[i]],
                "holding": "" if (held := facts.held[i]) is None else book.item_names[held],
                "bound": facts.bound[i],
            }
            for i, name in enumerate(cuisine.agents)
        },
        "tools": {
            book.place_names[tool + TOOLS]: {
                "inside": {book.item_names[k]: n for k, n in sorted(facts.inside[tool].items())},
                "busy": facts.busy[tool],
                "ready": facts.ready[tool],
            }
            for tool in range(len(book.kinds))
            if book.exists[facts.level, tool + TOOLS]
        },
        "serving_table": dict(zip(cuisine.dish_names, facts.waiting, strict=True)),
        "orders": [
            {"dish": cuisine.dish_names[dish], "steps_left": left}
            for dish, left in zip(facts.orders, facts.left, strict=True)
        ],
        "coming": [cuisine.dish_names[dish - 1] for dish in coming],
        "served": facts.served,
        "expired": facts.expired,
        "missed": int(state.missed),
        "time": facts.time,
        "steps_left": cuisine.max_steps - facts.time,
    }
