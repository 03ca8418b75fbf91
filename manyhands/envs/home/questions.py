"""Questions about what a player knows of a home (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyhands.core.probes import NOT_KNOWN, Question
from manyhands.envs.home.catalog import words
from manyhands.envs.home.scene import Facts, article, facts_of, place_of
from manyhands.envs.home.state import (
    CLEAN,
    CLEANABLE,
    COOL,
    COOLABLE,
    HEATABLE,
    HOLDS,
    HOT,
    LAMP,
    NONE,
    OPEN,
    OPENS,
    SHUT,
    HomeState,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

_YES_NO = ("yes", "no", NOT_KNOWN)
_ELSEWHERE = "in a container that you have not seen"
_USED = "nowhere: it is used up"
_STATES = ((CLEAN, CLEANABLE, "clean"), (HOT, HEATABLE, "hot"), (COOL, COOLABLE, "cool"))


def questions(home: Home, state: HomeState, agent: int) -> list[Question]:
    """What a player can be asked about the things that it has seen: where each object is
    (`objects`), whether it is clean, hot or cool (`states`), what is open (`doors`), in which room
    the others are (`players`), where another player thinks that an object is (`others`), and what
    the goal names, if that is hidden from it (`goal`). What it knows is what it last saw; of
    another's mind it knows what it sees the other see now."""
    if agent >= home.players:
        return []
    facts = facts_of(home, state)
    places = [name for name in facts.receptacle_names if name]
    places += [_hands(home, agent, n) for n in range(home.players)]
    seen = [o for o in range(home.objects) if facts.seen[agent][o] >= 0]
    places += [f"in {facts.object_names[o]}" for o in seen if facts.traits[o] & HOLDS]
    if home.family == "transport":
        places += [_ELSEWHERE, _USED]
    options = (*places, NOT_KNOWN)
    found = []
    for o in seen:
        true = _place(home, facts, agent, facts.place[o])
        true = _USED if true == NOT_KNOWN else true
        name, believed = facts.object_names[o], facts.known_place[agent][o]
        said = _place(home, facts, agent, believed)
        found.append(Question(f"Where is {name}?", options, said, true, "objects"))
        for bit, trait, word in _STATES:
            if facts.traits[o] & trait:
                now, then = (
                    _yes(bits & bit) for bits in (facts.bits[o], facts.known_bits[agent][o])
                )
                found.append(Question(f"Is {name} {word}?", _YES_NO, then, now, "states"))
        for n in range(home.players):
            if n != agent:
                theirs = _place(home, facts, agent, facts.known_place[n][o])
                shared = _sees(home, facts, agent, n, o)
                text = f"Where does {home.agents[n]} think that {name} is?"
                mine = said if shared else NOT_KNOWN
                found.append(Question(text, options, mine, theirs, "others"))
    for c, name in enumerate(facts.receptacle_names):
        if name and facts.abilities[c] & OPENS:
            known = {SHUT: "no", OPEN: "yes"}.get(facts.known_open[agent][c], NOT_KNOWN)
            text = f"Is {name} open?"
            found.append(Question(text, _YES_NO, known, _yes(facts.open[c]), "doors"))
    rooms = (*(name for name in facts.room_names if name), NOT_KNOWN)
    for n in range(home.players):
        if n == agent or len(rooms) < 3:
            continue
        met = facts.met_room[agent][n]
        known = NOT_KNOWN if met == NONE else facts.room_names[met]
        true = facts.room_names[facts.player_room[n]]
        text = f"In which room is {home.agents[n]}?"
        found.append(Question(text, rooms, known, true, "players"))
    return [*found, *_goal(home, facts, agent)]


def _goal(home: Home, facts: Facts, agent: int) -> list[Question]:
    """Whether the goal names kinds of things that the player has seen, kinds of places of the home,
    and states, as far as that is hidden from it."""
    asked = [k for k, kind in enumerate(facts.goal_kind) if kind != NONE]
    untold = [k for k in asked if not facts.told[agent][k]]
    if not untold:
        return []
    catalog, found = home.catalog, []

    def ask(text: str, true: bool, possible: bool = True) -> None:
        mine = NOT_KNOWN if possible else "no"
        found.append(Question(text, _YES_NO, mine, _yes(true), "goal"))

    if "object" in home.hidden:
        places = [facts.goal_where[k] for k in untold]
        for kind in sorted(
            {facts.object_kind[o] for o in range(home.objects) if _saw(facts, agent, o)}
        ):
            # What cannot be where the goal wants something is not what it wants.
            fits = "where" in home.hidden or any(
                where == LAMP or bool(catalog.can["takes"][where, kind]) for where in places
            )
            name = article(words(catalog.object_kinds[kind]))
            named = any(facts.goal_kind[k] == kind for k in asked)
            ask(f"Does the goal ask for {name}?", named, fits)
    if "where" in home.hidden:
        for kind in sorted({kind for kind in facts.kind if kind != NONE}):
            name = article(words(catalog.receptacle_kinds[kind]))
            named = any(facts.goal_where[k] == kind for k in asked)
            ask(f"Does the goal ask to put something in or on {name}?", named)
    if "state" in home.hidden:
        for bit, _, name in _STATES:
            named = any(facts.goal_bits[k] & bit for k in asked)
            ask(f"Does the goal ask for something {name}?", named)
    return found


def _saw(facts: Facts, agent: int, thing: int) -> bool:
    return facts.object_kind[thing] != NONE and facts.seen[agent][thing] >= 0


def _hands(home: Home, agent: int, player: int) -> str:
    return "in your hands" if player == agent else f"in the hands of {home.agents[player]}"


def _place(home: Home, facts: Facts, agent: int, place: int) -> str:
    """A place as an option."""
    where = place_of(home, place)
    if where.receptacle is not None:
        return facts.receptacle_names[where.receptacle]
    if where.hand is not None:
        return _hands(home, agent, where.hand[0])
    if where.container is not None:
        seen = facts.seen[agent][where.container] >= 0
        return f"in {facts.object_names[where.container]}" if seen else _ELSEWHERE
    return NOT_KNOWN


def _sees(home: Home, facts: Facts, agent: int, other: int, thing: int) -> bool:
    """Whether a player sees another one who sees an object that it sees itself."""
    if facts.met[agent][other] < facts.time or facts.seen[agent][thing] < facts.time:
        return False
    if home.view == "all":
        return True
    same = facts.player_room[agent] == facts.player_room[other]
    place = place_of(home, facts.place[thing])
    if place.receptacle is None:  # held, or in what is held: seen by all in the room of the holder
        return same
    if home.view == "receptacle":
        return facts.at[other] == place.receptacle
    return same


def _yes(flag: object) -> str:
    return "yes" if flag else "no"
