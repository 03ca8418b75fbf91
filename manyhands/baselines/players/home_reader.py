"""Players of homes that know nothing but texts: `reader`, which plays from `View.text` and the
words of its choices alone, and `instructor`, which answers what it is asked about the goal.

The reader does one thing after the other: what it holds and the goal asks for is made clean, hot or
cool and put where it belongs; what it knows of is fetched; else it looks where it has not looked.
It is stateless: the same words always get the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from manyhands.core.config import boolean
from manyhands.core.env import Env, SeatError
from manyhands.core.view import Reply, View

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS = {"a": 1, "an": 1} | {word: number for number, word in enumerate(_NUMBERS, start=1)}
_COUNT = "|".join([*_COUNTS, r"\d+"])
_STATE = "clean|hot|cool|sliced"
_ITEM = re.compile(
    rf"(?:^|, | and )({_COUNT}) ((?:(?:{_STATE}) (?:and )?)*)(.+?)"
    rf"(?=(?:, | and )(?:{_COUNT}) |$)"
)
_CLAUSE = re.compile(r"(?:put|bring) (.+) (?:in|on|to) an? ([a-z ]+?)(?=, and |$)|look at (.+)")
_THING = re.compile(r"([a-z ]+ \d+)(?: \(([^)]*)\))?(?: \[(\d+)\])?")
_ABILITY = {"clean": "sink basin", "hot": "microwave", "cool": "fridge"}
_VERB = {"clean": "clean", "hot": "heat", "cool": "cool"}
ASKED = "what is the goal?"
TOLD = "The goal is: "
_Words = Callable[..., str]


def reader(env: Env) -> Reader:
    """The seat `text` in homes."""
    return Reader(env)


def instructor(env: Env, eager: bool = False) -> Instructor:
    """The agent that has no body and knows the goal.

    Args:
        eager: whether it says the goal in its first turn, and not only when it is asked.
    """
    return Instructor(env, eager)


class Instructor:
    """A host policy; see `instructor`."""

    def __init__(self, env: Env, eager: bool = False):
        if env.unwrapped.id != "home" or "instructor" not in env.agents:
            raise SeatError(f"an instructor needs a home with told='instructor'; given {env!r}")
        if env.chat is None:
            raise SeatError("an instructor talks: give it a channel, make('chat', env=...)")
        self.eager = boolean("eager", eager)

    def act(self, views: Sequence[View]) -> list[Reply]:
        return [self._answer(view) for view in views]

    def _answer(self, view: View) -> Reply:
        if view.agent != "instructor":
            raise SeatError(f"an instructor has no hands: seat another player as {view.agent}")
        asked = any(_asks(message.text) for message in view.messages)
        if asked or (self.eager and view.turn == 0):
            return Reply("wait", say=f"{TOLD}{_goal(view.text)}")
        return Reply("wait")


def _asks(said: str) -> bool:
    """Whether a message is a question."""
    return "?" in said or bool(
        re.match(r"(what|which|where|how|please tell|tell me)\b", said, re.I)
    )


def _goal(text: str) -> str:
    found = re.search(r"^Goal: (.*?)\.(?: Done.*)?$", text, re.M)
    if found is None:
        raise SeatError(f"the text says no goal: {text[:80]!r}")
    return found[1]


@dataclass(frozen=True)
class _Wish:
    """What a goal asks for: how many of what, in which states, at which kind of place ("": under a
    lamp)."""

    count: int
    states: tuple[str, ...]
    kind: str
    place: str

    def fits(self, thing: _Thing) -> bool:
        if self.kind in ("target", "targets"):
            return "target" in thing.states
        kind = thing.kind
        plurals = {kind, f"{kind}s", f"{kind}es", f"{kind[:-1]}ies", f"{kind[:-2]}ves"}
        return self.kind in plurals

    def lacks(self, thing: _Thing) -> list[str]:
        return [state for state in self.states if state not in thing.states]


@dataclass(frozen=True)
class _Thing:
    name: str
    states: tuple[str, ...]
    place: str  # "" in one's own hands, else a receptacle, or who holds it

    @property
    def kind(self) -> str:
        return kind_of(self.name)


def kind_of(name: str) -> str:
    """A name without its number."""
    return name.rpartition(" ")[0]


def wishes(goal: str) -> list[_Wish]:
    """The parts of a goal's sentence."""
    found = []
    for put, place, look in _CLAUSE.findall(goal):
        said = put or re.sub(r" under .*", "", look)
        for count, states, kind in _ITEM.findall(said):
            number = _COUNTS.get(count) or int(count)
            wanted = tuple(re.findall(_STATE, states))
            found.append(_Wish(number, wanted, kind.strip(), place if put else ""))
    return found


_SECTION = re.compile(
    r"(?:^|(?<=\. ))(You see|In view:|Seen before:|Seen|Empty when seen:|Empty|Never looked into:|"
    r"Not seen:)(?: \[(\d+)\])?:? (.*?)\.(?= [A-Z]|$)"
)


class _Home:
    """What a text says."""

    def __init__(self, text: str):
        where = r"(?:at (.+?)(?:, which is closed,)? in|in the middle of)"
        own = re.search(rf"^You are \w+, {where} (.+?)\. (.*)$", text, re.M)
        if own is None or not text.startswith("Step "):
            raise SeatError(f"this is no text of a player in a home: {text[:60]!r}")
        self.at, self.room = own[1] or "", own[2]
        self.goal = _goal(text)
        # The last words of the instructor, where there is a channel.
        told = re.findall(rf'instructor[^"\n]*"{TOLD}([^"]*)"', text)
        if told and "(untold" in self.goal:
            self.goal = told[-1]
        hands = re.findall(r"(?:You hold|In your \w+ hand:) ([^.]*)\.", own[3])
        self.held = [thing for said in hands for thing in _things(said, "")]
        # One with two hands that are empty "holds nothing", too: then the number matters not.
        self.free = not self.held or "hand: nothing" in own[3]
        self.known: list[_Thing] = []
        self.when: dict[str, int] = {}  # place -> how long ago it was looked at
        self.unseen: list[str] = []
        self.rooms: dict[str, str] = {}
        here = self.room.removeprefix("the ")
        for line in text.splitlines():
            row = re.match(r"- ([a-z0-9 ]+?)(?: \(to [^)]*\))?: (.*)$", line)
            room, said = row.groups() if row else (here, line)
            for start, age, part in re.findall(_SECTION, said):
                self.rooms |= dict.fromkeys(self._section(start, age, part), room)

    def _section(self, start: str, age: str, said: str) -> list[str]:
        """Take in a part of the text that tells of places; their names."""
        names = []
        for part in said.split("; "):
            own = re.search(r"\[(\d+)", part)
            when = int(own[1] if own else age or 0)
            if start.startswith(("Empty", "Never", "Not")):
                listed = list(_listed(part))
                if start.startswith("Empty"):
                    self.when |= dict.fromkeys(listed, when)
                else:
                    self.unseen += listed
                names += listed
                continue
            head = re.match(r"(?:in |on )?([a-z ]+? \d+)(?: \[[^\]]*\])?: (.*)$", part)
            if head:
                mark = re.match(r"[^:]*\[(\d+)", part)
                self.known += _things(head[2], head[1])
                self.when[head[1]] = int(mark[1] if mark else age or 0)
                names.append(head[1])
        return names

    def places(self, kind: str) -> list[str]:
        """The receptacles of a kind, in this room first."""
        every = {*self.when, *self.unseen, *self.rooms} - {self.at}
        found = [name for name in sorted(every) if kind_of(name) == kind]
        if self.at and kind_of(self.at) == kind:
            found.insert(0, self.at)
        return sorted(found, key=self.away)

    def away(self, place: str) -> int:
        """How far a place is: 0 here, 1 in this room, 2 elsewhere."""
        if place == self.at:
            return 0
        here = self.room.removeprefix("the ")
        return 1 if self.rooms.get(place, here) == here else 2


def _things(said: str, place: str) -> list[_Thing]:
    if said.strip() in ("", "nothing"):
        return []
    said = re.sub(r" with .*? in it", "", said)
    return [
        _Thing(name.strip(), tuple(states.split(", ")) if states else (), place)
        for name, states, _ in _THING.findall(said)
    ]


def _listed(names: str) -> Iterator[str]:
    """ "cabinet 1-3, 5 [closed]" in full."""
    match = re.match(r"([a-z ]+?) ([\d\-, ]+)", names.strip())
    if match is None:
        return
    for part in match[2].split(","):
        first, _, last = part.strip().partition("-")
        if first:
            for number in range(int(first), int(last or first) + 1):
                yield f"{match[1]} {number}"


class Reader:
    """A text player for homes, but not for following; a host policy.

    Args:
        env: a home; where part of the goal is untold it needs a channel, to ask.
    """

    def __init__(self, env: Env):
        self.talks = env.chat is not None

    def act(self, views: Sequence[View]) -> list[Reply]:
        return [self._answer(view) for view in views]

    def _answer(self, view: View) -> Reply:
        home = _Home(view.text)
        offered = [choice.text for choice in view.all_choices]
        asks = self.talks and "(untold" in home.goal and view.turn % 4 == 0
        why, action = _plan(home, offered)
        words = f"{why[0].upper()}{why[1:]}.\nACTION: {action}"
        return Reply(words, say=ASKED if asks else None)


def _plan(home: _Home, offered: list[str]) -> tuple[str, str]:
    """(why, what to do) next."""

    def first(*starts: str) -> str:
        return next((text for text in offered if text.startswith(starts)), "")

    def towards(place: str, then: str = "") -> str:
        """To a place, opened if need be, and there what begins with `then`."""
        if place != home.at:
            return first(f"go to {place}")
        return (first(then) if then else "") or first(f"open {place}")

    asked = wishes(home.goal)
    missing: list[_Wish] = []
    for wish in asked:
        done = [
            thing
            for thing in home.known
            if wish.fits(thing) and kind_of(thing.place) == wish.place and not wish.lacks(thing)
        ]
        left = wish.count - len(done)
        for thing in home.held:
            if left <= 0 or not wish.fits(thing):
                continue
            left -= 1
            action = _carry(home, wish, thing, towards, first)
            if action:
                return f"I have {thing.name}, which is asked for", action
        if left > 0:
            missing.append(wish)
    if home.free:
        for wish in missing:
            known = [
                thing
                for thing in home.known
                if wish.fits(thing) and (kind_of(thing.place) != wish.place or wish.lacks(thing))
            ]
            for thing in sorted(known, key=lambda thing: home.away(thing.place)):
                action = towards(thing.place, f"take {thing.name} ")
                if action:
                    return f"I know where {thing.name} is", action
    useless = [thing for thing in home.held if not any(wish.fits(thing) for wish in asked)]
    if useless and missing:
        action = first(f"put {useless[0].name} ")
        if action:
            return "my hands are full", action
    return _look(home, towards)


def _carry(home: _Home, wish: _Wish, thing: _Thing, towards: _Words, first: _Words) -> str:
    """The next step with a thing in hand that the goal asks for."""
    lacks = [state for state in wish.lacks(thing) if state in _ABILITY]
    if lacks:
        verb = first(f"{_VERB[lacks[0]]} {thing.name} ")
        if verb:
            return verb
        places = home.places(_ABILITY[lacks[0]])
        return first(f"go to {places[0]}") if places else ""
    if not wish.place:
        lamps = [lamp for lamp in home.known if lamp.kind.endswith("lamp")]
        if lamps:
            return towards(lamps[0].place, "use ")
        return _look(home, towards)[1]
    places = home.places(wish.place)
    return towards(places[0], f"put {thing.name} ") if places else ""


def _look(home: _Home, towards: _Words) -> tuple[str, str]:
    """Where it never looked, near places first; else where it looked longest ago."""
    for place in sorted(home.unseen, key=home.away):
        action = towards(place)
        if action:
            return f"I have not looked into {place} yet", action
    for place in sorted(home.when, key=lambda place: -home.when[place]):
        action = towards(place)
        if action and place != home.at:
            return f"it is long ago that I saw {place}", action
    return "there is nothing to do", "wait"
