"""Homes in words: rule book, description, choices, and the true state.

`describe` says what the observation says: what a player sees, and what it saw where and when. How
answers are read is in `reading.py`, ALFWorld's manner in `alfworld.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from manyhands.core.choices import Choice, Form
from manyhands.core.reading.answers import how_to_answer
from manyhands.envs.home import alfworld, goals, reading
from manyhands.envs.home.catalog import words
from manyhands.envs.home.reading import short_words
from manyhands.envs.home.scene import (
    HANDS,
    Facts,
    counted,
    facts_of,
    goal_kind,
    hand_code,
    handled,
    held,
    inside,
    joined,
    lamp_at,
    open_actions,
    packs,
    preposition,
    ranges,
    state_words,
    the,
)
from manyhands.envs.home.state import (
    CLEAN,
    COOL,
    HOLDS,
    HOT,
    LAMP,
    NONE,
    ON,
    OPEN,
    OPENS,
    SHUT,
    SLICED,
    UNSEEN,
    Actions,
    HomeState,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

parse = reading.parse


# ---- description ---------------------------------------------------------------------------------


def describe(home: Home, state: HomeState, agent: int) -> str:
    """What a player sees and knows, as text."""
    facts = facts_of(home, state)
    if home.replies == "alfworld" and home.detail != "full":
        return alfworld.describe(home, facts, agent)
    lines = [f"Step {facts.time} of {home.max_steps}."]
    if facts.time < home.discussion:
        left = counted(home.discussion - facts.time, "step")
        lines[0] += f" Talk: nobody can act for {left} more."
    if agent >= home.players:
        lines.append(f"You are {home.agents[agent]}: you have no hands, and see nothing.")
        return "\n".join([*lines, *_goal(home, facts, agent), *_layout(home, facts)])
    known = _Known(home, facts, agent)
    lines.append(f"You are {home.agents[agent]}, {_where(facts, agent)}. {known.hands(agent)}")
    lines += _goal(home, facts, agent)
    lines += known.others()
    if home.detail == "full" and home.rooms == 1:
        lines += _layout(home, facts)
    lines += known.places()
    if home.detail == "full":
        lines += [*_abilities(home, facts), *known.slots()]
    if home.detail != "brief" and facts.time:
        said = _happened(home, facts, state, agent)
        lines.append(f"Last step: {'; '.join(said)}.")
    return "\n".join(lines)


def _where(facts: Facts, agent: int) -> str:
    at, room = facts.at[agent], the(facts.room_names[facts.player_room[agent]])
    if at == NONE:
        return f"in the middle of {room}"
    shut = "" if facts.open[at] else ", which is closed,"
    return f"at {facts.receptacle_names[at]}{shut} in {room}"


def _goal(home: Home, facts: Facts, agent: int) -> list[str]:
    """What is to be done, and how much of it is, as far as an agent knows."""
    told = goals.told_to(home, facts, agent)
    if home.family == "follow":
        return [f"Goal: {told}. Errands done: {facts.errands} of {home.errand_count}."]
    asked = goals.conditions_of(home, facts, agent)
    if agent >= home.players or any(condition.untold for condition in asked):
        return [f"Goal: {told}."]
    done = sum(_done(home, facts, agent, condition) for condition in asked)
    total = sum(condition.number for condition in asked)
    return [f"Goal: {told}. Done, as far as you know: {done} of {total}."]


def _done(home: Home, facts: Facts, agent: int, asked: goals.Condition) -> int:
    """How many objects a player knows to fulfil a condition, at most as many as it asks for."""
    number = 0
    lit = _in_light(home, facts, agent) if asked.where == LAMP else ()
    for o, place in enumerate(facts.known_place[agent]):
        if place >= home.receptacles and o not in lit:
            continue
        kind, bits = facts.object_kind[o], facts.known_bits[agent][o]
        fits = facts.target[o] if asked.kind == goals.TARGETS else kind == asked.kind
        if (
            fits
            and bits & asked.bits == asked.bits
            and (o in lit or facts.kind[place] == asked.where)
        ):
            number += 1
    return min(number, asked.number)


def _in_light(home: Home, facts: Facts, agent: int) -> list[int]:
    """What a player sees held where a lamp is on."""
    found: list[int] = []
    for n in range(home.players):
        lamp = lamp_at(facts, facts.at[n]) if facts.at[n] != NONE else -1
        seen = n == agent or facts.met[agent][n] == facts.time
        if seen and lamp >= 0 and facts.bits[lamp] & ON:
            found += [o for o in held(home, facts, n) if o is not None]
    return found


class _Known:
    """What one player knows, said in short. Numbers in square brackets are ages in steps."""

    def __init__(self, home: Home, facts: Facts, agent: int):
        self.home, self.facts, self.agent = home, facts, agent
        self.looked = facts.looked[agent]
        self.inside: dict[int, list[int]] = {}  # place -> the objects known to be there
        self.lost: list[int] = []  # not where they were
        seen = facts.seen[agent]
        for o, place in enumerate(facts.known_place[agent]):
            if seen[o] < 0:
                continue
            if place == NONE:
                self.lost.append(o)
            else:
                self.inside.setdefault(place, []).append(o)

    def thing(self, o: int, since: int) -> str:
        """An object with its state, what is in it, and when it was seen, if that is not `since`."""
        facts, home = self.facts, self.home
        said = ["target"] if facts.target[o] else []
        said += state_words(facts.known_bits[self.agent][o])
        name = facts.object_names[o] + (f" ({', '.join(said)})" if said else "")
        seen = facts.seen[self.agent][o]
        if seen != since and home.detail != "brief":
            name += f" [{facts.time - seen}]"
        packed = self.inside.get(home.receptacles + home.hands * home.players + o)
        if packed:
            name += f" with {joined([self.thing(other, seen) for other in packed])} in it"
        return name

    def things(self, place: int, since: int) -> str:
        return ", ".join([self.thing(o, since) for o in self.inside.get(place, ())])

    def hands(self, player: int) -> str:
        """What is in one's own hands."""
        now, home = self.facts.time, self.home
        said = [self.things(hand_code(home, player, h), now) for h in range(home.hands)]
        if home.hands == 1 or not any(said):
            return f"You hold {said[0] or 'nothing'}."
        return " ".join(
            f"In your {hand}: {what or 'nothing'}." for hand, what in zip(HANDS, said, strict=True)
        )

    def others(self) -> list[str]:
        """Where the other players are, or were last seen, and with what."""
        home, facts, me = self.home, self.facts, self.agent
        lines = []
        for n in range(home.players):
            if n == me:
                continue
            met = facts.met[me][n]
            if met < 0:
                lines.append(f"You have not seen {home.agents[n]} yet.")
                continue
            at, room = facts.met_at[me][n], the(facts.room_names[facts.met_room[me][n]])
            where = f"the middle of {room}"
            if at != NONE:
                where = facts.receptacle_names[at] + (f" in {room}" if home.rooms > 1 else "")
            way = "in" if at == NONE else "at"
            age = facts.time - met
            verb = "is" if age == 0 else f"was {counted(age, 'step')} ago"
            hands = [self.things(hand_code(home, n, h), met) for h in range(home.hands)]
            if home.hands > 1:
                named = zip(hands, HANDS, strict=True)
                hands = [f"{what} in the {hand}" for what, hand in named if what]
            holding = joined([what for what in hands if what]) if any(hands) else "nothing"
            gone = age and facts.met_room[me][n] == facts.player_room[me]
            left = ", and has left this room" if gone else ""
            lines.append(f"{home.agents[n]} {verb} {way} {where}, holding {holding}{left}.")
        return lines

    def places(self) -> list[str]:
        """What is in and on receptacles, and which were never looked into: room by room, where
        there are several, or else all together."""
        home, facts = self.home, self.facts
        every = [self._place(c) for c, name in enumerate(facts.receptacle_names) if name]
        now = [place for place in every if place.age == 0]
        if home.rooms == 1 or home.detail == "brief":
            heads = "Seen before", "Empty when seen", "Never looked into"
            lines = _sections(every, heads, False)
            return [*self._now("You see", now), *lines, *self._gone()]
        here, rooms = facts.player_room[self.agent], ["Rooms:"]
        for r, room in enumerate(facts.room_names):
            if not room:
                continue
            there = [place for place in every if place.room == r]
            said = self._now("In view:", [place for place in there if place.age == 0 and r != here])
            said += _sections(there, ("Seen", "Empty", "Not seen"), True)
            leads = _leads(facts.room_names, facts.steps[r]) if home.travel == "steps" else ""
            rooms.append(f"- {room}{leads}: {' '.join(said)}" if said else f"- {room}{leads}")
        own = [place for place in now if place.room == here]
        return [*self._now("You see", own), *rooms, *self._gone()]

    def _place(self, c: int) -> _Place:
        facts = self.facts
        since = self.looked[c]
        door = _DOORS[facts.known_open[self.agent][c]] if facts.abilities[c] & OPENS else ""
        way = preposition(self.home.catalog, facts.kind[c])
        age = facts.time - since if since >= 0 else None
        shown = self.home.detail != "brief"
        return _Place(
            facts.receptacle_names[c], facts.room[c], way, age, shown, door, self.things(c, since)
        )

    def _now(self, head: str, places: Sequence[_Place]) -> list[str]:
        """What is seen now."""
        said = [
            f"{p.way} {p.name}{f' [{p.door}]' if p.door else ''}: {p.what or 'nothing'}"
            for p in places
        ]
        return [f"{head} {'; '.join(said)}."] if said else []

    def _gone(self) -> list[str]:
        gone = ", ".join([self.thing(o, -1) for o in self.lost])
        return [f"No longer where you saw it: {gone}."] if gone else []

    def slots(self) -> list[str]:
        """The numbers of the objects in vectors and actions."""
        seen = self.facts.seen[self.agent]
        known = [f"{o} {name}" for o, name in enumerate(self.facts.object_names) if seen[o] >= 0]
        return [f"Slots of objects: {'; '.join(known)}."] if known else []


class _Place(NamedTuple):
    """A receptacle in words: its `age` in steps since it was looked into (None: never), whether
    that is told, whether it is open, what is in or on it."""

    name: str
    room: int
    way: str
    age: int | None
    shown: bool
    door: str
    what: str

    def mark(self, aged: bool) -> str:
        told = [str(self.age)] if aged and self.shown and self.age is not None else []
        told += [self.door] if self.door else []
        return f" [{', '.join(told)}]" if told else ""


def _sections(places: Sequence[_Place], heads: tuple[str, str, str], joint: bool) -> list[str]:
    """What was seen before, what was empty, and what was never looked into. With `joint` an age
    that all of a section have stands in its head."""
    lines = []
    before = [place for place in places if place.age and place.what]
    empty = [place for place in places if place.age and not place.what]
    never = [place for place in places if place.age is None]
    for head, group in zip(heads, (before, empty, never), strict=True):
        ages = {place.age for place in group}
        alone = joint and len(ages) == 1 and None not in ages
        said = [f"{place.name}{place.mark(not alone)}: {place.what}" for place in group]
        if group and group is not before:
            marked: dict[str, list[str]] = {}
            for place in group:
                marked.setdefault(place.mark(not alone), []).append(place.name)
            said = [name + mark for mark, names in marked.items() for name in ranges(tuple(names))]
        if group:
            lines.append(f"{head}{f' [{ages.pop()}]' if alone else ''}: {'; '.join(said)}.")
    return lines


_DOORS = {UNSEEN: "", SHUT: "closed", OPEN: "open"}


def _leads(rooms: Sequence[str], steps: Sequence[int]) -> str:
    """Where the doors of a room lead."""
    near = [room for room, far in zip(rooms, steps, strict=True) if far == 1]
    return f" (to {', '.join(near)})" if near else ""


def _layout(home: Home, facts: Facts) -> list[str]:
    """Which receptacles are in which room, and which rooms lie side by side."""
    doors = tuple(map(tuple, facts.steps)) if home.travel == "steps" else ()
    return _rooms(facts.room_names, facts.receptacle_names, tuple(facts.room), doors)


@functools.lru_cache(maxsize=1024)
def _rooms(
    rooms: tuple[str, ...],
    receptacles: tuple[str, ...],
    where: tuple[int, ...],
    doors: tuple[tuple[int, ...], ...],
) -> list[str]:
    lines = ["Rooms:"]
    for r, room in enumerate(rooms):
        if not room:
            continue
        there = [name for name, own in zip(receptacles, where, strict=True) if name and own == r]
        leads = _leads(rooms, doors[r]) if doors else ""
        lines.append(f"- {room}{leads}: {'; '.join(ranges(tuple(there))) or 'nothing'}")
    return lines


def _abilities(home: Home, facts: Facts) -> list[str]:
    """What can be done where, as the rules say it of kinds, if goals may ask for it."""
    if home.family in ("transport", "follow"):
        return []
    catalog = home.catalog
    said = []
    for ability, does in (("cleans", "clean"), ("heats", "heat"), ("cools", "cool")):
        able = [
            name
            for c, name in enumerate(facts.receptacle_names)
            if name and catalog.can[ability][facts.kind[c]]
        ]
        if able:
            said.append(f"{does} at {', '.join(ranges(tuple(able)))}")
    return [f"You can {'; '.join(said)}."] if said else []


_DID = {
    "go": "went to {receptacle}",
    "go to room": "went to {room}",
    "open": "opened {receptacle}",
    "close": "closed {receptacle}",
    "take": "took {object} from {receptacle}",
    "put": "put {object} {way} {receptacle}",
    "deliver": "emptied {object} {way} {receptacle}, and used it up",
    "pack": "put {object} into {container}",
    "clean": "cleaned {object}",
    "heat": "heated {object}",
    "cool": "cooled {object}",
    "use": "turned on {object}",
    "slice": "sliced {object}",
    "raced": "came too late: another player was faster",
}


def _happened(home: Home, facts: Facts, state: HomeState, agent: int) -> list[str]:
    """What happened in the last step, as far as a player may know."""
    said = []
    kinds = dict(zip(facts.receptacle_names, facts.kind, strict=True))
    for event in home.last_events(state, agent):
        who = "you" if event["agent"] == home.agents[agent] else event["agent"]
        kind = event["event"]
        if kind == "go" and "receptacle" not in event:
            kind = "go to room"
        elif kind == "put" and facts.place[facts.object_names.index(event["object"])] == NONE:
            kind = "deliver"  # a container, which is gone
        way = ""
        if "receptacle" in event:
            way = preposition(home.catalog, kinds[event["receptacle"]])
        told = {**event, "way": way, "room": the(event.get("room", ""))}
        said.append(f"{who} " + _DID[kind].format(**told))
    own = any(one.startswith("you ") for one in said)
    return said if own else ["you waited", *said]


# ---- choices -------------------------------------------------------------------------------------


MOST_SHOWN = 800  # characters of choices; longer lists tell of all places to go to in one line


def choices(home: Home, state: HomeState, agent: int) -> list[Choice]:
    """The legal actions of a player, in action order."""
    facts = facts_of(home, state)
    actions = open_actions(home, facts, agent)
    if home.replies == "alfworld":
        said = [alfworld.command(home, facts, agent, action) for action in actions]
        return [Choice(text, "", action) for text, action in zip(said, actions, strict=True)]
    maker = _Choices(home, facts, agent)
    return [maker.choice(action) for action in actions]


class _Choices:
    """Makes the choices of one player in one state."""

    def __init__(self, home: Home, facts: Facts, agent: int):
        self.home, self.facts, self.agent = home, facts, agent
        self.do = Actions(home)
        self.name = home.agents[agent]
        if agent >= home.players:
            return
        self.own = f"players.{self.name}"
        self.at = facts.at[agent]
        self.hands = held(home, facts, agent)
        here = [
            n
            for n in range(home.players)
            if n != agent and self.at != NONE and facts.at[n] == self.at
        ]
        turn = self._turn(agent)
        self.before = [home.agents[n] for n in here if self._turn(n) < turn]
        places = [name for c, name in enumerate(facts.receptacle_names) if name and c != self.at]
        far = f"be there{', or a room nearer' * self._far()}; likewise any other receptacle"
        near = facts.player_room[agent]  # an example far off would look like a hint
        rooms = zip(facts.receptacle_names, facts.room, strict=True)
        shown = next((f"go to {c}" for c, room in rooms if c in places and room == near), "")
        self.going = Form("go to {receptacle}", far, {"receptacle": tuple(places)}, shown)

    def _turn(self, n: int) -> int:
        """In which order a player acts in this step."""
        return (n + self.facts.time) % self.home.players

    def _far(self) -> bool:
        return self.home.travel == "steps" and self.home.rooms > 1

    def choice(self, action: int) -> Choice:
        home, do = self.home, self.do
        text = short_words(home, self.facts, self.agent, action)
        if action == do.WAIT:
            return Choice(text, "do nothing", action, facts=self._waiting())
        if action < do.open:
            return self._go(text, action)
        if action < do.take:
            shut = action == do.close
            path = f"receptacles.{self.facts.receptacle_names[self.at]}.open"
            effect = "nothing can be taken out or put in" if shut else "see what is inside"
            return Choice(text, effect, action, facts={path: not shut})
        if action < do.put:
            return self._take(text, action)
        if action == do.use:
            lamp = text.removeprefix("use ")
            lit = {f"objects.{lamp}.state": ["on"]}
            return Choice(text, "it goes on", action, facts=lit)
        if action >= do.slice:
            o = action - do.slice
            path = f"objects.{self.facts.object_names[o]}.state"
            states = list(state_words(self.facts.bits[o] | SLICED))
            return self._unless(
                text, "it becomes sliced", action, {path: states}, bool(self.before)
            )
        return self._handle(text, action)

    def _unless(
        self, text: str, effect: str, action: int, facts: dict[str, Any], doubt: bool
    ) -> Choice:
        """A choice that others who act first here can prevent."""
        if not doubt:
            return Choice(text, effect, action, facts=facts)
        who = joined(self.before, "or")
        return Choice(text, f"{effect}, unless {who} acts first", action, certain=False)

    def _waiting(self) -> dict[str, Any]:
        if self.agent >= self.home.players:
            return {"time": self.facts.time + 1}
        at = "" if self.at == NONE else self.facts.receptacle_names[self.at]
        return {f"{self.own}.at": at}

    def _go(self, text: str, action: int) -> Choice:
        facts, do = self.facts, self.do
        here = facts.player_room[self.agent]
        place = action - do.go if action < do.room else None
        room = facts.room[place] if place is not None else action - do.room
        form = self.going if place is not None else None
        away = facts.steps[here][room] if self._far() else 0
        if away:
            steps = away + (place is not None)
            nearer = next(
                r
                for r, name in enumerate(facts.room_names)
                if name and facts.steps[here][r] == 1 and facts.steps[r][room] == away - 1
            )
            effect = f"be in {the(facts.room_names[nearer])}"
            if steps > 1:
                effect += f", with {counted(steps - 1, 'more step')} to go"
            reached = {f"{self.own}.room": facts.room_names[nearer], f"{self.own}.at": ""}
            return Choice(text, effect, action, facts=reached, form=form)
        effect = "be there" if place is not None else "be in the middle of it"
        at = "" if place is None else facts.receptacle_names[place]
        reached = {f"{self.own}.at": at, f"{self.own}.room": facts.room_names[room]}
        return Choice(text, effect, action, facts=reached, form=form)

    def _take(self, text: str, action: int) -> Choice:
        o = action - self.do.take
        hand = self.hands.index(None)
        name = self.facts.object_names[o]
        facts = {f"{self.own}.hands.{hand}": name}
        effect = "hold it" if self.home.hands == 1 else f"hold it in your {HANDS[hand]}"
        return self._unless(text, effect, action, facts, bool(self.before))

    def _handle(self, text: str, action: int) -> Choice:
        """What can be done with what is in a hand."""
        home, facts = self.home, self.facts
        verb, hand = handled(home, action)
        o = self.hands[hand]
        assert o is not None
        name, bits = facts.object_names[o], facts.bits[o]
        done: dict[str, Any]
        if verb == "put":
            here = facts.receptacle_names[self.at]
            empty = f"{self.own}.hands.{hand}"
            closes = bool(self.before) and bool(facts.abilities[self.at] & OPENS)
            if facts.kind[self.at] == goal_kind(facts) and facts.traits[o] & HOLDS and packs(home):
                packed = inside(home, facts, o)
                brought = {f"objects.{facts.object_names[p]}.place": here for p in packed}
                said = f"deliver the {counted(len(packed), 'thing')} in it" if packed else "empty"
                effect = f"{said}; it is used up"
                return self._unless(text, effect, action, {empty: "", **brought}, closes)
            brings = facts.kind[self.at] == goal_kind(facts) and facts.target[o]
            effect = "deliver it; it stays there" if brings else "leave it there"
            done = {empty: "", f"objects.{name}.place": here}
            return self._unless(text, effect, action, done, closes)
        if verb == "pack":
            box = self.hands[1 - hand]
            assert box is not None
            into = facts.object_names[box]
            done = {f"{self.own}.hands.{hand}": "", f"objects.{name}.place": into}
            return Choice(text, f"have your {HANDS[hand]} free", action, facts=done)
        gain, lose = {"clean": (CLEAN, 0), "heat": (HOT, COOL), "cool": (COOL, HOT)}[verb]
        states = list(state_words((bits | gain) & ~lose))
        done = {f"objects.{name}.state": states}
        return Choice(text, f"it becomes {'hot' if verb == 'heat' else verb}", action, facts=done)


# ---- the true state ------------------------------------------------------------------------------


def to_dict(home: Home, state: HomeState) -> dict[str, Any]:
    """The true state in plain names and numbers, and what each player knows of it."""
    facts = facts_of(home, state)
    places = _place_names(home, facts)
    found: dict[str, Any] = {
        "task": home.tasks[facts.task],
        "time": facts.time,
        "steps_left": home.max_steps - facts.time,
        "rooms": {
            name: [
                place
                for c, place in enumerate(facts.receptacle_names)
                if place and facts.room[c] == r
            ]
            for r, name in enumerate(facts.room_names)
            if name
        },
        "doors": [
            [facts.room_names[a], facts.room_names[b]]
            for a, steps in enumerate(facts.steps)
            for b in range(a)
            if steps[b] == 1
        ],
        "receptacles": {
            name: {"room": facts.room_names[facts.room[c]], "open": facts.open[c]}
            for c, name in enumerate(facts.receptacle_names)
            if name
        },
        "objects": {
            name: {
                "place": places[facts.place[o]],
                "state": list(state_words(facts.bits[o])),
                **({"target": facts.target[o]} if home.family == "transport" else {}),
            }
            for o, name in enumerate(facts.object_names)
            if name
        },
        "players": {
            name: {
                "room": facts.room_names[facts.player_room[n]],
                "at": _receptacle(facts, facts.at[n]),
                "hands": ["" if o is None else facts.object_names[o] for o in held(home, facts, n)],
            }
            for n, name in enumerate(home.agents[: home.players])
        },
        "goal": _goal_dict(home, facts),
        "known": {
            name: _known_dict(home, facts, n, places)
            for n, name in enumerate(home.agents[: home.players])
        },
    }
    if home.family == "follow":
        found["errands"] = {
            "places": [facts.receptacle_names[c] for c in facts.errand if c != NONE],
            "done": facts.errands,
        }
    return found


def _receptacle(facts: Facts, at: int) -> str:
    return "" if at == NONE else facts.receptacle_names[at]


def _place_names(home: Home, facts: Facts) -> dict[int, str]:
    """What the numbers of `HomeState.place` are called."""
    names = {NONE: ""} | dict(enumerate(facts.receptacle_names))
    for n, player in enumerate(home.agents[: home.players]):
        for h in range(home.hands):
            hand = HANDS[h] if home.hands > 1 else "hand"
            names[hand_code(home, n, h)] = f"{player}'s {hand}"
    first = home.receptacles + home.hands * home.players
    return names | {first + o: name for o, name in enumerate(facts.object_names)}


def _goal_dict(home: Home, facts: Facts) -> dict[str, Any]:
    catalog = home.catalog
    told = [list(row) for row in facts.told]
    conditions = [
        {
            "object": "target" if kind == goals.TARGETS else words(catalog.object_kinds[kind]),
            "count": count,
            "state": list(state_words(bits)),
            "where": "lamp" if where == goals.LAMP else words(catalog.receptacle_kinds[where]),
            "best": best,
            "told": [home.agents[n] for n in range(home.players) if told[n][k]],
        }
        for k, (kind, count, bits, where, best) in enumerate(
            zip(
                facts.goal_kind,
                facts.goal_count,
                facts.goal_bits,
                facts.goal_where,
                facts.best,
                strict=True,
            )
        )
        if kind != NONE
    ]
    said = goals.sentence(catalog, goals.conditions_of(home, facts)) if conditions else ""
    return {"text": said, "conditions": conditions}


def _known_dict(home: Home, facts: Facts, n: int, places: dict[int, str]) -> dict[str, Any]:
    """What a player knows: where it last saw what, and in which step."""
    doors = {UNSEEN: None, SHUT: False, OPEN: True}
    return {
        "objects": {
            name: {
                "place": places[facts.known_place[n][o]],
                "state": list(state_words(facts.known_bits[n][o])),
                "seen": facts.seen[n][o],
            }
            for o, name in enumerate(facts.object_names)
            if name and facts.seen[n][o] >= 0
        },
        "receptacles": {
            name: {"open": doors[facts.known_open[n][c]], "looked": facts.looked[n][c]}
            for c, name in enumerate(facts.receptacle_names)
            if name and (facts.known_open[n][c] != UNSEEN or facts.looked[n][c] >= 0)
        },
        "players": {
            home.agents[m]: {
                "room": facts.room_names[facts.met_room[n][m]],
                "at": ""
                if facts.met_at[n][m] == NONE
                else facts.receptacle_names[facts.met_at[n][m]],
                "seen": facts.met[n][m],
            }
            for m in range(home.players)
            if m != n and facts.met[n][m] >= 0
        },
    }


# ---- rules ---------------------------------------------------------------------------------------

_AIMS = {
    "chore": "One chore is to be done, such as putting a clean mug in a cabinet. Any object of the "
    "kind will do, and any receptacle of the kind, for two objects also two of them. The episode "
    "ends when it is done",
    "watch_and_help": "Several objects are to be put in or on receptacles of one kind. Any objects "
    "of the kinds will do, and any receptacles of the kind, one or several. The episode ends when "
    "all are there",
    "transport": "Objects marked as targets are to be brought to a bed; a target that lies on one "
    "is delivered, and stays there. The episode ends when all are delivered",
    "follow": "{leader} has {errands} errands, receptacles to be at one after the other, and is "
    "told the next one alone; whoever follows stays in the room where {leader} is, but not at the "
    "same receptacle. The episode ends when all errands are done",
}


def rules(home: Home, agent: int) -> str:
    """The rule book of one agent."""
    name = home.agents[agent]
    others = [other for i, other in enumerate(home.agents) if i != agent]
    bodyless = agent >= home.players
    lines = [
        f"HOME: {words(home.family).upper()}",
        f"You are {name}. " + (f"With you: {joined(others)}." if others else "You are alone."),
        "",
        "AIM",
        _AIMS[home.family].format(leader=home.agents[0], errands=home.errand_count)
        + f", or after {counted(home.max_steps, 'step')}.",
        _rewards(home),
        *_telling(home, bodyless),
        "",
        "THE HOME",
        _seeing(home),
        "Places are receptacles, such as counter top 1 or drawer 2, numbered within their kind. "
        f"Some open and close ({_able(home, 'opens')}): you see and reach what is in one only "
        "while it is open.",
        "",
        "WHAT YOU CAN DO",
        "Each step "
        + (
            "you do one thing that is possible at its start."
            if home.players == 1
            else "every player does one thing that is possible at its start. If two want the same, "
            f"it goes to the first of them, and for the other nothing happens: in step 0 "
            f"{home.agents[0]} comes first and {home.agents[home.players - 1]} last, and whoever "
            "was last in one step comes first in the next."
        ),
        *_verbs(home),
        "",
        "YOUR TEXT",
        _your_text(home, bodyless),
        "",
        "HOW TO ANSWER",
        f"Name one action. {how_to_answer('wait' if bodyless else 'go to shelf 1')}",
    ]
    return "\n".join(lines)


def _your_text(home: Home, bodyless: bool) -> str:
    """What the texts of each step tell."""
    if bodyless:
        return "It has the goal, all rooms and receptacles, and what is said."
    if home.replies == "alfworld" and home.detail != "full":
        return (
            "It is the reply to your last step, in the manner of ALFWorld: what is in or on a "
            "receptacle is told when you come to it or open it, and not again, so remember it. "
            'Names are written as in "countertop 1", and to put is "move ... to ...". "look" is '
            'the command that waits; the reply to it, and to whatever fails, is "Nothing happens."'
        )
    return (
        "It has what you see now, and what you saw before; where there are several rooms, room by "
        "room, each with those that its doors lead to. A number in square brackets says how many "
        "steps ago that was; others may have changed it since. Empty: nothing was in or on it. "
        "Objects are named by kind and number; one that you never saw is not named."
    )


def _rewards(home: Home) -> str:
    weights = home.reward_weights
    said = {
        "success": "{} when all is done",
        "subgoal": "{} for each object that is in place for the first time",
        "progress": "{} for the first taking, cleaning, heating or cooling that the goal asks for",
        "step": "{} for each step",
        "follow": "{} a step for a player who follows, as said above",
        "errand": f"{{}} for {home.agents[0]} at each errand",
    }
    told = [
        text.format(f"{weights[term]:g}")
        for term, text in said.items()
        if weights.get(term) and term in home.terms
    ]
    own = any(weights.get(term) for term in ("follow", "errand") if term in home.terms)
    each = " Each player gets its own." if own and home.players > 1 else ""
    return f"Reward: {joined(told)}.{each}" if told else "Nothing is rewarded."


def _telling(home: Home, bodyless: bool) -> list[str]:
    """Who knows the goal, and when there is only talk."""
    lines = []
    parts = {"object": "the kind of object", "where": "the place", "state": "the state"}
    if home.family == "follow":
        if home.told == "instructor":
            lines.append(f"The instructor, too, is told where {home.agents[0]} has to go next.")
    elif home.told != "all" and home.hidden:
        hidden = joined([parts[part] for part in home.hidden])
        who = "the instructor" if home.told == "instructor" else home.agents[0]
        lines.append(f"Part of the goal ({hidden}) is told to {who} alone, and others must ask.")
    if bodyless:
        lines.append(
            "You have no hands and see nothing, neither what is in places nor what the others do: "
            "you only wait, and talk, and know of it what they tell you. What stands below of "
            "seeing and doing holds for them."
        )
    if home.discussion:
        lines.append(
            f"In the first {counted(home.discussion, 'step')} nobody can act: talk, and wait."
        )
    return lines


def _seeing(home: Home) -> str:
    sees = {
        "receptacle": "You see what is in or on the receptacle where you are",
        "room": "You see what is in and on all open receptacles of the room where you are",
        "all": "You see what is in and on all open receptacles of the home",
    }[home.view]
    players = " You see all players" if home.view == "all" else " You see players in your room"
    others = f"{players}, and what they hold." if home.players > 1 else ""
    there = "one room" if home.rooms == 1 else f"up to {home.rooms} rooms"
    return (
        f"It has {there}. You know all rooms and receptacles, but not what is in and on them. "
        f"{sees}.{others}"
    )


def _able(home: Home, ability: str) -> str:
    names = [
        words(name)
        for name, able in zip(home.catalog.receptacle_kinds, home.catalog.can[ability], strict=True)
        if able
    ]
    return joined(names)


def _verbs(home: Home) -> list[str]:
    hands = "your hand is empty" if home.hands == 1 else "one of your two hands is empty"
    catalog = home.catalog
    far = home.travel == "steps" and home.rooms > 1
    lines = [
        "- go to a receptacle, or to the middle of a room: "
        + (
            "while it is in another room, you come one room nearer in each step that you choose it."
            if far
            else "you are there in the same step, from anywhere."
        ),
        "- open, close: the receptacle where you are, with full hands, too.",
        f"- take an object that is in or on the receptacle where you are, if {hands}. Lamps cannot "
        "be taken.",
        "- put what you hold in or on the receptacle where you are, if things of its kind belong "
        "there (a cup does not go into a coffee machine). There is always room.",
    ]
    if packs(home):
        holds = int(catalog.holds.max())
        lines.append(
            f"- pack what is in one hand into the container in the other (basket, tray or crate), "
            f"which holds up to {holds}. A container that is put on a bed delivers what is in it, "
            "and is used up."
        )
    places = tuple(_able_or(home, does) for does in ("cleans", "heats", "cools"))
    if home.family in ("chore", "watch_and_help"):
        lines += [
            "- clean what you hold at a {}, heat it at a {}, or cool it at a {}. What is heated is "
            "no longer cool, and the other way round. It stays in your hand, and the place need "
            "not be open.".format(*places),
            "- use the lamp where you are: it stays on. To look at an object under a lamp, hold it "
            "where a lamp is on.",
        ]
    else:
        lines.append(
            "- clean what you hold at a {}, heat it at a {}, cool it at a {}, or use the lamp "
            "where you are: nobody asks for that here.".format(*places)
        )
    if home.slicing:
        lines.append("- slice an object where you are, with a knife in your hand.")
    lines.append("- wait.")
    return lines


def _able_or(home: Home, ability: str) -> str:
    return _able(home, ability).replace(" and ", " or ")
