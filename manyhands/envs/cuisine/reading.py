"""Reading an answer: the one action that it means, and what is open to a chef, on the host.

A chef may name an action ("go to pan 1", "get tomato"), or say it otherwise ("chop it", "serve the
soup"). Whatever a sentence names besides, the tool or the item, is checked against what is there:
said of anything else, it is refused.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import decide, instead, settled
from manyhands.core.reading.grammar import Reading
from manyhands.core.reading.parts import REASON, Answer
from manyhands.core.reading.pronouns import before_it, named
from manyhands.core.reading.words import tokens
from manyhands.envs.cuisine.menu import Book
from manyhands.envs.cuisine.naming import with_places
from manyhands.envs.cuisine.phrases import LONGEST, OTHER, grammar_of, item_words, place_words
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


def the(place: str) -> str:
    """A place with its article, which a number makes needless."""
    return place if place[-1].isdigit() else f"the {place}"


def parse(cuisine: Cuisine, text: Any, state: CuisineState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the chef now."""
    facts = facts_of(cuisine, state)
    open_ = open_actions(cuisine, facts, agent)
    items = item_words(tuple(cuisine.book.item_names))

    def refuse(reason: str) -> IllegalAction:
        return IllegalAction(functools.partial(refusal, reason))

    def refusal(reason: str) -> str:
        said = [short_words(cuisine, facts, agent, action) for action in open_]
        return f"{reason}. Open to you: {instead(text, said, SHOWN)}."

    def mean(answer: Answer) -> int | None:
        plain = " ".join(answer.plain.split()).rstrip(".")
        for action in open_:
            if plain == short_words(cuisine, facts, agent, action):
                return action
        readings = grammar_of(cuisine.book).read(plain)
        if answer.kind == REASON:  # what is in the hands stays there
            readings = [reading for reading in readings if reading.meaning[0] != "keep"]
        if answer.kind == REASON and tuple(tokens(plain)) in items:
            # "Burger time": a thing that is told of, and is not here to be taken.
            here = {_action(cuisine, facts, agent, reading) for reading in readings}
            readings = readings if here & set(open_) else []
        if facts.place[agent] != TABLE:  # the reason that counts is the first one: not of serving
            readings = sorted(readings, key=lambda reading: reading.meaning[0] == "serve")
        return settled(
            (_action(cuisine, facts, agent, reading) for reading in readings),
            open_,
            functools.partial(_why, cuisine, facts, agent),
            refuse,
        )

    listed = (short_words(cuisine, facts, agent, action) for action in open_)
    said = _with_names(cuisine, facts, agent, text, listed)
    return int(decide(said, mean, refuse, me=cuisine.agents[agent], written=text))


_OF_IT = (
    before_it("place", "activate start start_up turn_on switch_on use run operate"),
    before_it("item", "get take grab pick_up collect fetch put add drop deliver serve chop"),
)


def _with_names(
    cuisine: Cuisine, facts: Facts, agent: int, text: Any, listed: Iterable[str]
) -> Any:
    """An answer with the names that its pronouns stand for ("pan 1 is done, so I go there")."""
    book = cuisine.book
    tables = (
        ("place", place_words(tuple(book.places))),
        ("item", item_words(tuple(book.item_names))),
    )

    def name(said: list[str], start: int) -> Iterator[tuple[str, frozenset[int], int]]:
        for kind, known in tables:
            for length in range(1, min(LONGEST, len(said) - start) + 1):
                meant = known.get(tuple(said[start : start + length]))
                if meant:
                    yield kind, frozenset(meant), length

    def here(meaning: Set[int]) -> bool:
        return meaning == {facts.place[agent]}

    text = with_places(cuisine, facts, agent, text)
    return named(text, name, _OF_IT, ("place",), here, listed)


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
    go, _, put, activate = actions_of(book)
    what, kind = reading.meaning
    values: Mapping[str, Any] = reading.values
    place, held = facts.place[agent], facts.held[agent]
    here = the(book.place_names[place])
    named, item = values.get("place"), values.get("item")
    if "chef" in values:
        where = _of_chef(cuisine, facts, agent, values["chef"])
        if isinstance(where, str):
            return where
        if named and where not in named and what != "meet":
            return "that chef is elsewhere"
        named = named or (where,)
    if "off" in values and place not in values["off"]:
        return f"you are at {here}, not there"
    if "rest" in values:  # "the other pot", or "the other pot, number 2", said at a pot
        kinds = {book.places[p][0] for p in values["rest"]}
        alike = book.places[place][0] in kinds
        named = tuple(p for p in values["rest"] if p != place and alike)
    if "also" in values:
        named = tuple(p for p in named or () if p in values["also"])
    if what == "carry" and held is None:
        return "your hands are empty"
    if "meal" in values and held not in book.dishes:
        return "you hold no finished dish"
    inside = facts.inside[place - TOOLS] if place >= TOOLS else Counter[int]()
    if any(not inside.keys() & values[label] for label in ("with", "and") if label in values):
        return f"that is not in {here}"
    if what in ("go", "carry", "meet", "rather"):
        if item is not None and held not in item:
            return "that is not in your hands"
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
    if what in ("keep", "wait and keep") and held is None:
        return "your hands are empty"
    if what in ("wait", "keep", "wait and keep"):
        in_hand = what == "wait" or item is None or held in item
        return 0 if in_hand else f"you hold {book.item_names[held or 0]}"
    if what == "get":
        return _taken(cuisine, facts, agent, item)
    if what == "use":
        if place < TOOLS or (kind is not None and book.kinds[place - TOOLS].name != kind):
            return f"you are at {here}, where that cannot be done"
        fits = item is None or any(_fits(book, facts, place, one) for one in item)
        if "raw" in values:  # what is in it, which is not what it makes
            contents = facts.inside[place - TOOLS]
            made = item is not None and any(
                _fits(book, facts, place, one) for one in item if one not in contents
            )
            fits = made and any(one in contents for one in values["raw"])
        return activate if fits else _not_made(cuisine, facts, agent, item)
    if held is None:
        return "your hands are empty"
    if item is not None and held not in item:
        return f"you hold {book.item_names[held]}, not {book.item_names[item[0]]}"
    if what == "serve" and place != TABLE:
        return f"you are at {here}: dishes are delivered at the serving table"
    if what == "throw" and place != STORE:
        return f"you are at {here}: things are thrown away in the storage"
    return put


def _of_chef(cuisine: Cuisine, facts: Facts, agent: int, chef: int) -> int | str:
    """The place of another chef, or why nobody else is meant."""
    others = [i for i in range(len(cuisine.agents)) if i != agent]
    if chef == OTHER and len(others) == 1:
        chef = others[0]
    return facts.place[chef] if chef in others else "it is open which chef is meant"


def _taken(cuisine: Cuisine, facts: Facts, agent: int, item: tuple[int, ...] | None) -> int | str:
    """Taking an item, or what is there, if only one thing is."""
    _, get, put, _ = actions_of(cuisine.book)
    open_ = open_actions(cuisine, facts, agent)
    if item is not None:
        names = [cuisine.book.item_names[k] for k in item]
        there = [get + k for k in item if get + k in open_]
        # "Beef" is no minced beef while it is taken, but "chips" may be fries.
        exact = all(name.endswith(names[0]) for name in names)
        if len(there) > 1 and not exact:
            return "it is open what to take"
        return there[0] if len(there) == 1 and not exact else get + item[0]
    there = [action for action in open_ if get <= action < put]
    return there[0] if len(there) == 1 else "it is open what to take"


def _fits(book: Book, facts: Facts, place: int, item: int) -> bool:
    """Whether an item that is named with a tool is in it, or is what it would make."""
    inside = facts.inside[place - TOOLS]
    made = {
        int(book.makes[r]) for r in _usable(book, facts.level, place) if needs(book, r) == inside
    }
    return item in inside or item in made


def _not_made(cuisine: Cuisine, facts: Facts, agent: int, item: Iterable[int] | None) -> str:
    """Why the tool where a chef is cannot make what is named, of an item or of what it becomes."""
    book, place, held = cuisine.book, facts.place[agent], facts.held[agent]
    here, put = the(book.place_names[place]), actions_of(book)[2]
    if held is not None:
        usable = _usable(book, facts.level, place)
        becomes = {int(book.makes[r]) for r in usable if held in needs(book, r)}
        name = book.item_names[held]
        meant = not {held, *becomes}.isdisjoint(item or ())
        if meant and put in open_actions(cuisine, facts, agent):
            return f"put {name} into {here} first, and activate it after that"
        return f"your hands are full: you hold {name}"
    holds = [book.item_names[k] for k in sorted(facts.inside[place - TOOLS])]
    return f"{here} holds {', '.join(holds)}, not that" if holds else f"{here} is empty"


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
        holds = [book.item_names[k] for k in sorted(facts.inside[tool])] if place >= TOOLS else []
        there = f", which holds {', '.join(holds)}" if holds else ""
        return f"there is no {item} to take at {here}{there}"
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
