"""Reading an answer: the one action that it means, and what is open to a chef, on the host.

A chef may name an action ("go to pan 1", "get tomato"), or say it otherwise ("chop it", "serve the
soup"). Whatever a sentence names besides, the tool or the item, is checked against what is there:
said of anything else, it is refused.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.answers import Answer, closest, decide
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.grammar import WAITING, Grammar, Reading
from manyhands.envs.cuisine.menu import Book, words
from manyhands.envs.cuisine.state import MOST_WAITING, STORE, TABLE, TOOLS, CuisineState, actions_of

if TYPE_CHECKING:
    from manyhands.envs.cuisine.env import Cuisine

SHOWN = 8  # choices that a refusal names at most


class Facts(NamedTuple):
    """A state in plain numbers. Items are None for nothing; dishes are numbered as in
    `Book.dishes`."""

    level: int
    time: int
    place: list[int]
    held: list[int | None]
    bound: list[int]
    inside: list[Counter[int]]
    busy: list[int]
    ready: list[bool]
    waiting: list[int]
    orders: list[int]
    left: list[int]
    served: int
    expired: int


def facts_of(cuisine: Cuisine, state: CuisineState) -> Facts:
    """A state, read once."""
    order = np.asarray(state.order).tolist()
    inside = np.asarray(state.inside)
    return Facts(
        level=int(state.level),
        time=int(state.time),
        place=np.asarray(state.place).tolist(),
        held=[item - 1 if item else None for item in np.asarray(state.held).tolist()],
        bound=np.asarray(state.bound).tolist(),
        inside=[Counter({k: int(row[k]) for k in np.flatnonzero(row).tolist()}) for row in inside],
        busy=np.asarray(state.busy).tolist(),
        ready=np.asarray(state.ready).tolist(),
        waiting=np.asarray(state.waiting).tolist(),
        orders=[dish - 1 for dish in order if dish],
        left=[left for dish, left in zip(order, np.asarray(state.left).tolist(), strict=True)
              if dish],
        served=int(state.served),
        expired=int(state.expired),
    )  # fmt: skip


@functools.lru_cache(maxsize=4096)
def needs(book: Book, recipe: int) -> Counter[int]:
    """What goes into a recipe."""
    row = book.need[recipe]
    return Counter({k: int(row[k]) for k in np.flatnonzero(row).tolist()})


def open_actions(cuisine: Cuisine, facts: Facts, agent: int) -> list[int]:
    """The legal actions of a chef, as `rules.legal` has them."""
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    found = [0]
    if facts.bound[agent]:
        return found
    place, held = facts.place[agent], facts.held[agent]
    exists = book.exists[facts.level]
    found += [go + p for p in range(len(book.places)) if exists[p] and p != place]
    tool = place - TOOLS
    if held is None:
        if place == STORE:
            found += [get + k for k in np.flatnonzero(book.stock[facts.level]).tolist()]
        elif place >= TOOLS and not facts.busy[tool]:
            if facts.ready[tool] or book.take_back[place]:
                found += [get + k for k in sorted(facts.inside[tool])]
            if not facts.ready[tool] and any(
                needs(book, r) == facts.inside[tool] for r in _usable(book, facts.level, place)
            ):
                found.append(activate)
    elif place == STORE or (place == TABLE and _can_serve(book, facts, held)):
        found.append(put)
    elif place >= TOOLS and not facts.busy[tool] and not facts.ready[tool]:
        after = facts.inside[tool] + Counter([held])
        if any(after <= needs(book, r) for r in _usable(book, facts.level, place)):
            found.append(put)
    return found


def _usable(book: Book, level: int, place: int) -> Iterator[int]:
    """The recipes of a level that are made at a place."""
    for r in range(len(book.recipes)):
        if book.recipe_on[level, r] and book.made_with[r, place]:
            yield r


def _can_serve(book: Book, facts: Facts, held: int) -> bool:
    if held not in book.dishes:
        return False
    dish = book.dishes.tolist().index(held)
    return bool(book.dish_on[facts.level, dish]) and facts.waiting[dish] < MOST_WAITING


# ---- reading an answer ---------------------------------------------------------------------------

_PLACES = {
    "storage": ("store", "storage room", "pantry", "fridge", "storeroom", "larder"),
    "serving_table": (
        *("serving counter", "table", "serving window", "serving", "pass", "delivery table"),
        *("counter", "serving area", "serving station", "servingtable"),
    ),
    "chopping_board": ("board", "cutting board", "chopboard", "chopping block"),
    "blender": ("mincer",),
    "pan": ("frying pan", "skillet"),
    "pot": ("cooking pot", "saucepan"),
    "fryer": ("deep fryer",),
    "mixer": ("mixing bowl", "bowl"),
}
_VERBS = {
    "chopping_board": "chop|cut|cut up|slice|dice|shred",
    "blender": "blend|puree|mince|grind|liquidise|liquidize",
    "pan": "fry|sear|saute|grill|pan fry",
    "pot": "boil|simmer|stew",
    "fryer": "fry|deep fry",
    "steamer": "steam",
    "oven": "bake|roast",
    "mixer": "mix|combine|assemble|toss|stir",
}
_IT = "(it|that|this|them|my item|what i (hold|carry|have|am holding|am carrying))"
_DISH = "(dish|food|meal|order|plate)"
_DONE = "(it|that|product|result|content|finished (item|product|dish|food)|what (is|'s) (done|ready|there|in it|inside)|ready (item|dish|food|product))"  # noqa: E501
_OFF = "(from|out of|off|in|at|on|inside)"
_INTO = "(in|into|inside|on|onto|to|at|in to|on to)"
_TAKE = "[go] [and] (get|take|grab|pick|pick up|fetch|collect|retrieve|obtain|remove|withdraw)"
_SOME = "[(one|1|some|single|piece of|portion of|another|one more|more)]"
_SWITCH = "(activate|use|start|start up|turn on|switch on|run|operate|fire up|power on|begin using)"


@functools.lru_cache(maxsize=64)
def _grammar(
    places: tuple[tuple[str, int], ...], items: tuple[str, ...], kinds: tuple[tuple[str, str], ...]
) -> Grammar:
    """The phrases of a kitchen: a meaning is (what, kind of tool or None)."""
    slots: dict[str, Any] = {"place": _place_names(places), "item": _item_names(items)}
    slots["offered"] = {}  # lines of `choices`, filled in where an answer may hold one
    phrases: list[tuple[Any, Sequence[str]]] = [
        (("offered", None), ["{offered}"]),
        (
            ("go", None),
            [
                "(go|walk|move|head|run|step|proceed|return|travel|go back|come back|head back|"
                "walk back|go over|walk over|head over|move over|get|get over|switch|change) "
                "(to|towards|toward|into|for|back to) {place}",
                "(goto|visit|approach|reach|enter) {place}",
                "go {place}",
                "be at {place}",
                "(go|walk|head) to {place} first",
            ],
        ),
        (
            ("get", None),
            [
                f"{_TAKE} {_SOME} {{item}} [up] [{_OFF} {{place}}]",
                f"{_TAKE} {_SOME} {{item}} out [of {{place}}]",
                f"take out {{item}} [{_OFF} {{place}}]",
                f"{_TAKE} (up|out) {_DONE} [{_OFF} {{place}}]",
                f"{_TAKE} {_DONE} [(up|out)] [{_OFF} {{place}}]",
                f"{_TAKE} {_DONE} out of {{place}}",
                f"{_TAKE} (from|out of) {{place}}",
                "get {item} {place}",
                "(pick up|get|take|grab|collect)",
            ],
        ),
        (
            ("put", None),
            [
                f"(put|place|add|drop|insert|pour|set|lay|load|toss|leave|release|deposit) "
                f"[({{item}}|{_IT})] [(down|in|off|here|there)] [{_INTO} {{place}}]",
                f"(put|place|add|drop|insert|set|lay) (down|in) ({{item}}|{_IT})",
                f"(put down|drop off|put in|set down) [({{item}}|{_IT})] [{_INTO} {{place}}]",
                "(fill|load) {place} with {item}",
                "put {item} {place}",
            ],
        ),
        (
            ("serve", None),
            [
                f"(deliver|serve|hand over|hand in|submit|turn in|send out|serve up|hand out) "
                f"[({{item}}|{_IT}|{_DISH})] "
                f"[(to|on|onto|at|over) [({{place}}|customer|guest|client)]]",
                f"(put|place|set) ({{item}}|{_IT}|{_DISH}) {_INTO} {{place}}",
                f"(hand|turn|give) ({{item}}|{_IT}|{_DISH}) (over|in|out)",
                f"bring ({{item}}|{_IT}|{_DISH}) to (customer|guest|client|{{place}})",
            ],
        ),
        (
            ("throw", None),
            [
                f"(throw away|discard|dump|bin|trash|get rid of|dispose of|throw out|scrap) "
                f"[({{item}}|{_IT})] [{_INTO} {{place}}]",
                f"(throw|toss) ({{item}}|{_IT}) (away|out|in bin) [{_INTO} {{place}}]",
                f"return ({{item}}|{_IT}) [to {{place}}]",
                f"put ({{item}}|{_IT}) back [{_INTO} {{place}}]",
                f"put back ({{item}}|{_IT}) [{_INTO} {{place}}]",
            ],
        ),
        (
            ("use", None),
            [
                f"{_SWITCH} [({{place}}|it|this tool|tool|machine)] [to (make|cook) {{item}}]",
                "(turn|switch) ({place}|it) on",
                f"(cook|make|prepare|process|start (cook|make|prepare)) [({{item}}|{_IT}|{_DISH})] "
                f"[(in|on|with|at|using) {{place}}]",
            ],
        ),
        (
            ("wait", None),
            [
                *WAITING,
                "(wait|noop|none|pass|idle|skip|hold|rest|stand still|do nothing|no op|stay put|"
                "nothing|no action)",
                "(stay|wait|remain|hold) [(here|there|where i am|in place|still|at my place)] "
                "[for] [(one|1|a)] [(turn|step|moment|bit)]",
                "(stay|wait|remain) at {place}",
                "(skip|pass) [(my|this)] (turn|move|step)",
                "hold on [(a|one|for a)] [(moment|step)]",
                "do nothing [at all] [(this|for one) (turn|step)]",
            ],
        ),
    ]
    for kind, verbs in kinds:
        phrases.append(
            (
                ("use", kind),
                [
                    f"[(start|begin|start to|begin to)] ({verbs}) [({{item}}|{_IT}|{_DISH})] "
                    f"[(up|together)] [(in|on|with|at|using) {{place}}]"
                ],
            )
        )
    return Grammar(phrases, slots)


def _place_names(places: Sequence[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    """Every way to name a place -> the numbers of the places that it may be."""
    found: dict[str, tuple[int, ...]] = {}
    counts = Counter(kind for kind, _ in places)
    for p, (kind, number) in enumerate(places):
        for name in (words(kind), *_PLACES.get(kind, ())):
            found[name] = (*found.get(name, ()), p)
            rank = f"{number}{('st', 'nd', 'rd')[number - 1] if number < 4 else 'th'}"
            ways = f"{name} {number}", f"{name} number {number}", f"{_RANKS[number]} {name}"
            for one in (*ways, f"{rank} {name}"):
                found[one] = (p,)
            if counts[kind] > 1:
                any_one = (f"any {name}", f"one of {name}s")
                found |= {name: () for name in any_one}  # which one is left open
    return found


_RANKS = (
    *("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
    *("ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth"),
    "sixteenth",
)


def _item_names(items: Sequence[str]) -> dict[str, int]:
    return {name: k for k, name in enumerate(items)}


def grammar_of(book: Book) -> Grammar:
    kinds = dict.fromkeys(kind.name for kind in book.kinds)
    own = {kind.name: kind.verb for kind in book.kinds}
    verbs = tuple((name, _VERBS.get(name, own[name].replace("-", " "))) for name in kinds)
    return _grammar(tuple(book.places), tuple(book.item_names), verbs)


def the(place: str) -> str:
    """A place with its article, which a number makes needless."""
    return place if place[-1].isdigit() else f"the {place}"


def parse(cuisine: Cuisine, text: Any, state: CuisineState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the chef now."""
    facts = facts_of(cuisine, state)
    open_ = open_actions(cuisine, facts, agent)
    book = cuisine.book

    def refuse(reason: str) -> IllegalAction:
        said = [short_words(cuisine, facts, agent, action) for action in open_]
        near = closest(text if isinstance(text, str) else "", said, SHOWN)
        shown = names_of([name for name in said if name in near])
        more = f", and {len(said) - len(near)} more" if len(said) > len(near) else ""
        return IllegalAction(f"{reason}. Open to you: {shown}{more}.")

    def mean(answer: Answer) -> int | None:
        plain = " ".join(answer.plain.split()).rstrip(".")
        for action in open_:
            if plain == short_words(cuisine, facts, agent, action):
                return action
        offered = None
        if ":" in plain:  # with its effect
            lines = cuisine.choices(state, agent, None)
            offered = {"offered": {str(choice): choice.action for choice in lines}}
        readings = grammar_of(book).read(answer.plain, offered)
        if not readings:
            return None
        found: dict[int, None] = {}
        reason = ""
        for reading in readings:
            meant = _action(cuisine, facts, agent, reading)
            if isinstance(meant, str):
                reason = reason or meant
            elif meant in open_:
                found[meant] = None
            else:
                reason = reason or _why(cuisine, facts, agent, meant)
        if len(found) == 1:
            return next(iter(found))
        if found:
            return None
        raise refuse(reason)

    return int(decide(text, mean, refuse, me=cuisine.agents[agent]))


def short_words(cuisine: Cuisine, facts: Facts, agent: int, action: int) -> str:
    """A legal action in words, without its effect."""
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    if action == 0:
        return "wait"
    if action < get:
        return f"go to {book.place_names[action - go]}"
    if action < put:
        return f"get {book.item_names[action - get]}"
    place = facts.place[agent]
    if action == activate:
        return f"activate {book.place_names[place]}"
    held = facts.held[agent]
    item = "" if held is None else book.item_names[held]
    if place == STORE:
        return f"throw away {item}"
    return f"deliver {item}" if place == TABLE else f"put {item} into {book.place_names[place]}"


def _action(cuisine: Cuisine, facts: Facts, agent: int, reading: Reading) -> int | str:
    """The action that a reading means, or why it can mean none here."""
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    what, kind = reading.meaning
    if what == "offered":
        return int(reading.values["offered"])
    values: Mapping[str, Any] = reading.values
    place, held = facts.place[agent], facts.held[agent]
    here = the(book.place_names[place])
    named, item = values.get("place"), values.get("item")
    if what == "go":
        there = [p for p in named or () if book.exists[facts.level, p]]
        if len(there) != 1:
            several = names_of([book.place_names[p] for p in there]) if there else "what is here"
            return f"it is open which place is meant: {several}"
        return go + there[0]
    if named is not None and place not in named:
        if not named:
            return "it is open which place is meant"
        there_name = the(book.place_names[named[0]])
        return f"you are at {here}, not at {there_name}: go there first"
    if what == "wait":
        return 0
    if what == "get":
        return get + item if item is not None else _taken(cuisine, facts, agent)
    if what == "use":
        if place < TOOLS or (kind is not None and book.kinds[place - TOOLS].name != kind):
            return f"you are at {here}, where that cannot be done"
        return activate if _fits(book, facts, place, item) else f"that is not what {here} makes"
    if held is None:
        return "your hands are empty"
    if item is not None and item != held:
        return f"you hold {book.item_names[held]}, not {book.item_names[item]}"
    if what == "serve" and place != TABLE:
        return f"you are at {here}: dishes are delivered at the serving table"
    if what == "throw" and place != STORE:
        return f"you are at {here}: things are thrown away in the storage"
    return put


def _taken(cuisine: Cuisine, facts: Facts, agent: int) -> int | str:
    """Taking what is there, if only one thing is."""
    _, get, put, _ = actions_of(cuisine.book)
    there = [action for action in open_actions(cuisine, facts, agent) if get <= action < put]
    return there[0] if len(there) == 1 else "it is open what to take"


def _fits(book: Book, facts: Facts, place: int, item: int | None) -> bool:
    """Whether an item that is named with a tool is in it, or is what it would make."""
    inside = facts.inside[place - TOOLS]
    made = {
        int(book.makes[r]) for r in _usable(book, facts.level, place) if needs(book, r) == inside
    }
    return item is None or item in inside or item in made


def _why(cuisine: Cuisine, facts: Facts, agent: int, action: int) -> str:
    """Why an action is not open."""
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    place, held = facts.place[agent], facts.held[agent]
    here = the(book.place_names[place])
    if facts.bound[agent]:
        return f"you have to stay at {here} until it is done"
    if action < get:
        return f"you are at {the(book.place_names[action - go])} already"
    if action != put and held is not None:
        return f"your hands are full: you hold {book.item_names[held]}"
    tool = place - TOOLS
    if action < put:
        item = book.item_names[action - get]
        if place >= TOOLS and facts.busy[tool]:
            return f"{here} still works"
        if place >= TOOLS and facts.inside[tool].get(action - get):
            return f"{here} has to be activated before {item} can be taken"
        return f"there is no {item} to take at {here}"
    if place < TOOLS:
        if action == activate:
            return f"you are at {here}, which cannot be activated"
        return (
            f"{book.item_names[held]} is no dish that is ordered here"
            if held is not None
            else ("your hands are empty")
        )
    if facts.busy[tool]:
        return f"{here} still works"
    if facts.ready[tool]:
        return f"{here} holds what it made; take that first"
    if action == activate:
        return f"the contents of {here} are no complete recipe"
    return f"{book.item_names[held or 0]} does not belong into {here} now"
