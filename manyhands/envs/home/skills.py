"""The skills of homes: pure functions of what one player knows.

A skill is a name in a table; at every step its controller turns the player's perception
(`Home.perceive`) into one primitive action. Nothing else is remembered, so that a skill may be
dropped or changed at any step. Where several objects or receptacles of a kind will do, it takes the
nearest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, IllegalAction
from manyhands.core.reading.grammar import Grammar
from manyhands.envs.home.catalog import words
from manyhands.envs.home.known import (
    FAR,
    Known,
    Ways,
    delivers,
    known_of,
    legal_of,
    looks_up,
    ways_of,
)
from manyhands.envs.home.scene import counted
from manyhands.envs.home.state import CLEAN, COOL, HOT, ON, Actions, HomeConfig

POSSIBLE, DONE, NOT_KNOWN, NO_PLACE, HANDS, ALL_SEEN = range(6)
_WHY = {
    DONE: "it is done",
    NOT_KNOWN: "you know of none that you could take",
    NO_PLACE: "there is no such place for it here",
    HANDS: "your hands are not right for it",
    ALL_SEEN: "you have looked everywhere",
}
# What comes next of a skill that is possible: by its verb, and whether its thing is held.
_SEARCHED, _TAKEN = "you look into the next place in {}", "you take one in {}"
_COMES_TO = {
    **dict.fromkeys((("find", False), ("search", False), ("look", False)), _SEARCHED),
    **{(verb, False): _TAKEN for verb in ("fetch", "clean", "heat", "cool", "bring")},
    **{(verb, True): "done in {}" for verb in ("clean", "heat", "cool", "bring")},
    ("put", False): "done in {}",
    ("go", False): "you are there in {}",
    ("turn", False): "it is on in {}",
}
_CHANGES = (("clean", "cleans", CLEAN), ("heat", "heats", HOT), ("cool", "cools", COOL))


class Details(NamedTuple):
    """All skills at once: `action` i32[S], `why` i32[S] (`POSSIBLE`, or what stands against it),
    `done` bool[S], `steps` i32[S]: until the next thing is done, where it is possible."""

    action: Array
    why: Array
    done: Array
    steps: Array


class HomeSkills:
    """The skills of one home's players: see the module's docstring, and `wrappers/skills.py`.

    In table order: `find` each kind of object (look where one may be, until one is known); `fetch`
    one that is known; `clean`, `heat` and `cool` one that is held or known; `bring` one to each
    kind of receptacle that takes it; `put down`, what is held in each kind of receptacle; `go to`
    each kind of receptacle; `search` each kind of room; `look around`, wherever it has not looked;
    `turn on a lamp`; `wait`; and the primitive actions themselves, for one step each.

    Attributes:
        names: the table.
        instant: bool[S], whether a skill ends with its first step.
        wait: index of the skill that does nothing.
        families: for each skill what it has in common with others, and what is its own.
        plain_steps: actions of the home, in words, may be named for one step.
        example: a skill, for the rules.
    """

    plain_steps = True  # names by slot are for networks: no text has the numbers of slots
    example = "look around"

    def __init__(self, home: HomeConfig):
        self._home = home
        catalog = home.catalog
        things = [words(name) for name in catalog.object_kinds]
        places = [words(name) for name in catalog.receptacle_kinds]
        rooms = [words(name) for name in catalog.room_kinds]
        self._carried = np.flatnonzero(catalog.may["carry"])
        self._changed = {
            verb: np.flatnonzero(catalog.may[verb] & catalog.may["carry"]) for verb, *_ in _CHANGES
        }
        pairs = catalog.can["takes"].T & catalog.may["carry"][:, None]  # [kinds, places]
        if home.family == "transport":
            pairs = pairs | (np.array(catalog.receptacle_kinds) == "bed")
            pairs = pairs & catalog.may["carry"][:, None]
        self._pairs = np.argwhere(pairs)
        names = [f"find {name}" for name in things]
        names += [f"fetch {things[q]}" for q in self._carried]
        names += [f"{verb} {things[q]}" for verb in self._changed for q in self._changed[verb]]
        names += [f"bring {things[q]} to {places[r]}" for q, r in self._pairs]
        names += [f"put down: {name}" for name in places]
        names += [f"go to {name}" for name in places]
        names += [f"search {name}" for name in rooms]
        families = [("find {name}", name) for name in things]
        families += [("fetch {name}", things[q]) for q in self._carried]
        families += [(f"{v} {{name}}", things[q]) for v in self._changed for q in self._changed[v]]
        families += [(f"bring {things[q]} to {{name}}", places[r]) for q, r in self._pairs]
        families += [("put down: {name}", name) for name in places]
        families += [("go to {name}", name) for name in places]
        families += [("search {name}", name) for name in rooms]
        names += ["look around", "turn on a lamp", "wait"]
        self.wait = len(names) - 1
        self._first_primitive = len(names)
        names += _primitives(home)
        self.families = (*families, *((name, "") for name in names[len(families) :]))
        self.names = tuple(names)
        self.instant = np.arange(len(names)) >= self.wait
        self._index = {name: i for i, name in enumerate(names)}
        self._compiled = jax.jit(self.details)
        lower = {name: name for name in (*things, *places, *rooms)}
        self._grammar = Grammar(
            _PHRASES,
            {
                "thing": {name: name for name in things},
                "place": {name: name for name in places},
                "room": {name: name for name in rooms},
                "verb": {v: v for v, *_ in _CHANGES} | _VERBS,
                "any": lower,
            },
        )

    def primitive(self, action: Array) -> Array:
        """The skill that takes one primitive action for one step; traceable."""
        skill = self._first_primitive + action - 1
        return jnp.where(action == Actions.WAIT, self.wait, skill).astype(jnp.int32)

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        """(action i32[S], done bool[S], possible bool[S]) of all skills, for one player."""
        details = self._compiled(perception)  # traced once, for all who call it
        return details.action, details.done, details.why == POSSIBLE

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        """(action, done, possible) of one skill, for one player."""
        action, done, possible = self.survey(perception)
        return action[skill], done[skill], possible[skill]

    def details(self, perception: Array) -> Details:
        home, catalog = self._home, self._home.catalog
        known = known_of(home, perception)
        ways = ways_of(home, known)
        one = _Kinds(home, known, ways)
        rows: list[tuple[Array, Array, Array, Array]] = []  # action, why, done, steps, [K] each

        def add(action: Array, why: Array, done: Array, steps: Array) -> None:
            rows.append((action, jnp.where(done, DONE, why), done, steps))

        # Find, fetch.
        seen = one.held | one.known | one.lamp
        add(one.look, jnp.where(one.look_steps < FAR, POSSIBLE, ALL_SEEN), seen, one.look_steps)
        fetch_why = jnp.where(one.known, jnp.where(one.free, POSSIBLE, HANDS), NOT_KNOWN)
        q = self._carried
        add(one.take[q], fetch_why[q], one.held[q], one.take_steps[q])
        # Clean, heat, cool.
        for verb, ability, bit in _CHANGES:
            q, numbers = self._changed[verb], Actions(home)
            able = looks_up(catalog.can[ability], known.kind)
            cost = jnp.where(able, known.steps, FAR)
            best = jnp.argmin(cost)
            act = getattr(numbers, verb) + one.hand[q]
            go = jnp.where(cost[best] == 0, act, numbers.go + best)
            why = jnp.where(one.held[q], POSSIBLE, fetch_why[q])
            why = jnp.where(cost[best] < FAR, why, NO_PLACE)
            action = jnp.where(one.held[q], go, one.take[q])
            steps = jnp.where(one.held[q], cost[best], one.take_steps[q])
            add(action, why, one.held_with(bit)[q], steps)
        # Bring, put down, go to.
        there = known.kind[:, None] == np.arange(len(catalog.receptacle_kinds))  # [C, kinds]
        reach = jnp.where(there, ways.reach[:, None], FAR)
        nearest, far = jnp.argmin(reach, axis=0), jnp.min(reach, axis=0)
        q, r = self._pairs[:, 0], self._pairs[:, 1]
        begin = ways.begin[nearest]
        put = jnp.where(begin[r] >= 0, begin[r], Actions(home).put + one.hand[q])
        why = jnp.where(one.held[q], POSSIBLE, fetch_why[q])
        fits = catalog.can["takes"][r, q]
        if home.family == "transport":
            targets = jnp.any(
                one.of_kind & known.target & (known.hands[:, None, None] == _things(home)),
                axis=(0, 2),
            )
            fits = fits | (targets[q] & delivers(known)[nearest[r]])
        why = jnp.where((far[r] < FAR) & fits, why, NO_PLACE)
        action = jnp.where(one.held[q], put, one.take[q])
        steps = jnp.where(one.held[q], far[r], one.take_steps[q])
        add(action, why, one.lies_at(there)[q, r], steps)
        full = known.hands >= 0
        accepted = ways.takes[:, jnp.maximum(known.hands, 0)] & full  # [C, H]
        can = jnp.any(accepted, axis=1)
        reach = jnp.where(there & can[:, None], ways.reach[:, None], FAR)
        spot, cost = jnp.argmin(reach, axis=0), jnp.min(reach, axis=0)
        hand = jnp.argmax(accepted[spot], axis=1)
        action = jnp.where(ways.begin[spot] >= 0, ways.begin[spot], Actions(home).put + hand)
        why = jnp.where(cost < FAR, POSSIBLE, jnp.where(jnp.any(full), NO_PLACE, HANDS))
        add(action, why, jnp.zeros_like(cost, bool), cost)
        go = jnp.where(there, known.steps[:, None], FAR)
        spot, cost = jnp.argmin(go, axis=0), jnp.min(go, axis=0)
        why = jnp.where(cost < FAR, POSSIBLE, NO_PLACE)
        add(Actions(home).go + spot, why, cost == 0, cost)
        # Search, look around, turn on a lamp.
        unseen = (known.kind >= 0) & (known.looked < 0)
        room_kind = jnp.where(known.place_room >= 0, known.room_kind[known.place_room], -1)
        in_room = room_kind[:, None] == np.arange(len(catalog.room_kinds))
        in_room = jnp.concatenate([in_room, jnp.ones_like(in_room[:, :1])], axis=1)
        reach = jnp.where(in_room & unseen[:, None], ways.reach[:, None], FAR)
        spot, cost = jnp.argmin(reach, axis=0), jnp.min(reach, axis=0)
        exists = jnp.any(in_room & (known.kind >= 0)[:, None], axis=0)
        why = jnp.where(exists, POSSIBLE, NO_PLACE)
        add(ways.begin[spot], why, exists & (cost >= FAR), cost)
        lamps = looks_up(catalog.may["lamp"], known.thing_kind)
        lamps = lamps & (known.place >= 0) & (known.place < home.receptacles)
        place = jnp.clip(known.place, 0, home.receptacles - 1)
        cost = jnp.where(lamps, ways.reach[place], FAR)
        lamp = jnp.argmin(cost)
        lit = jnp.any(lamps & ((known.bits & ON) != 0) & (place == known.at))
        begin = ways.begin[place[lamp]]
        action = jnp.where(begin >= 0, begin, Actions(home).use)
        why = jnp.where(cost[lamp] < FAR, POSSIBLE, NOT_KNOWN)
        add(action[None], why[None], lit[None], cost[lamp][None])
        # Wait, and the primitive actions.
        legal = legal_of(home, known)
        count = legal.shape[0]
        why = jnp.where(legal, POSSIBLE, HANDS)
        rows.append((jnp.arange(count), why, jnp.ones(count, bool), jnp.zeros(count, jnp.int32)))
        action, why, done, steps = (
            jnp.concatenate([jnp.asarray(row[k]) for row in rows]) for k in range(4)
        )
        # Where talk comes first, and for who has no body, there is nothing to do.
        able = (known.time >= home.discussion) & (known.me < home.players)
        why = jnp.where(able | self.instant, why, HANDS)
        action = jnp.where((why == POSSIBLE) & (action >= 0), action, Actions.WAIT)
        return Details(action.astype(jnp.int32), why, done, steps.astype(jnp.int32))

    # ---- in words -----------------------------------------------------------------------------

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill what it would do now, or, where it is impossible, why."""
        found = jax.device_get(self._compiled(np.asarray(perception)))
        held = {name for name, why in zip(self.names, found.why, strict=True) if why == DONE}
        said = []
        for i, (why, steps) in enumerate(zip(found.why, found.steps, strict=True)):
            if i >= self.wait:
                said.append("")  # the rules explain them
            elif why == DONE and self.names[i].startswith("find "):
                said.append("you know of one")
            elif why != POSSIBLE:
                said.append(_WHY[int(why)])
            else:
                verb, _, what = self.names[i].partition(" ")
                mine = f"fetch {what.partition(' to ')[0]}" in held
                said.append(_COMES_TO[verb, mine].format(counted(int(steps) + 1, "step")))
        return said

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        """The skill that a sentence names, None if it names none.

        Raises:
            IllegalAction: it speaks of a skill, but not of one in the table.
        """
        plain = " ".join(text.lower().split()).strip(" .")
        if plain in self._index:
            return self._index[plain]
        named = {self._named(verb, said) for verb, said in self._grammar.read(text)}
        if len(named) != 1:
            return None
        name = named.pop()
        if name not in self._index:
            raise IllegalAction(
                f"there is no skill {name!r}: things of that kind cannot be so, or do not go there"
            )
        return self._index[name]

    @staticmethod
    def _named(verb: str, said: dict[str, Any]) -> str:
        if verb in ("find", "fetch"):
            return f"{verb} {said['thing']}"
        if verb == "change":
            return f"{said['verb']} {said['thing']}"
        if verb == "bring":
            return f"bring {said['thing']} to {said['place']}"
        if verb == "put down":
            return f"put down: {said['place']}"
        if verb == "go to":
            return f"go to {said['place']}"
        if verb == "search":
            return f"search {said['room']}"
        return {"look": "look around", "lamp": "turn on a lamp"}.get(verb, "wait")

    def rules(self) -> str:
        """What a reader must know of the skills beyond the home's own rules."""
        return (
            "You act by skills. A skill goes, opens and looks for you, one step each time you name "
            "it; go on naming it until it is done, or name another one at any time. It takes the "
            "nearest of a kind.\n"
            "find KIND: look where such a thing may be, until you know of one.\n"
            "fetch KIND: take one that you know of.\n"
            "clean / heat / cool KIND: fetch one, and make it so.\n"
            "bring KIND to PLACE: fetch one, and put it in or on such a receptacle.\n"
            "put down: PLACE: put what you hold in or on such a receptacle.\n"
            "go to PLACE. search ROOM: look at all that you have not looked at in such rooms; look "
            "around: anywhere.\n"
            "turn on a lamp that you know of. wait: do nothing for one step.\n"
            'step: ...: one plain step, an action of the rules in words: "step: open drawer 1".'
        )


class _Kinds:
    """What a player knows of each kind of object, [Q] each.

    Attributes:
        of_kind: bool[Q, O]; held, known, lamp: whether one is in its hands, lies where it could be
            taken, is a lamp that it knows of; free: whether a hand is.
        hand: the hand that holds one.
        take, take_steps: the action with which taking the nearest begins, and the steps to it.
        look, look_steps: the same for looking where one may be, `FAR` where nothing is left.
    """

    def __init__(self, home: HomeConfig, known: Known, ways: Ways):
        catalog, count = home.catalog, len(home.catalog.object_kinds)
        self._home, self._known = home, known
        self.of_kind = known.thing_kind == np.arange(count)[:, None]
        in_hand = known.hands[:, None] == _things(home)  # [H, O]
        holds = jnp.any(self.of_kind[:, None] & in_hand[None], axis=2)  # [Q, H]
        self.held, self.hand = jnp.any(holds, axis=1), jnp.argmax(holds, axis=1)
        self.free = jnp.any(known.hands < 0)
        self.lies = (known.place >= 0) & (known.place < home.receptacles)
        self.place = jnp.clip(known.place, 0, home.receptacles - 1)
        takeable = self.lies & looks_up(catalog.may["carry"], known.thing_kind)
        if home.family == "transport":
            takeable = takeable & ~(delivers(known)[self.place] & known.target)
        cost = jnp.where(self.of_kind & takeable, ways.reach[self.place], FAR)  # [Q, O]
        best = jnp.argmin(cost, axis=1)
        self.take_steps = jnp.min(cost, axis=1)
        self.known = self.take_steps < FAR
        begin = ways.begin[self.place[best]]
        self.take = jnp.where(begin >= 0, begin, Actions(home).take + best)
        self.lamp = jnp.any(self.of_kind & self.lies, axis=1) & catalog.may["lamp"]
        may = looks_up(catalog.can["takes"], known.kind)  # [C, Q]
        unseen = (known.kind >= 0) & (known.looked < 0)
        reach = jnp.where(may & unseen[:, None], ways.reach[:, None], FAR)
        spot = jnp.argmin(reach, axis=0)
        self.look, self.look_steps = ways.begin[spot], jnp.min(reach, axis=0)

    def held_with(self, bit: int) -> Array:
        """bool[Q]: whether one is in hand that has a bit."""
        in_hand = jnp.any(self._known.hands[:, None] == _things(self._home), axis=0)
        return jnp.any(self.of_kind & in_hand & ((self._known.bits & bit) != 0), axis=1)

    def lies_at(self, there: Array) -> Array:
        """bool[Q, kinds]: whether one is known at each kind of receptacle (there, bool[C, kinds]),
        and none is in hand."""
        at = there[self.place] & self.lies[:, None]  # [O, kinds]
        found = jnp.any(self.of_kind[:, :, None] & at[None], axis=1)
        return found & ~self.held[:, None]


def _things(home: HomeConfig) -> np.ndarray:
    return np.arange(home.objects)


def _primitives(home: HomeConfig) -> list[str]:
    """Names of the primitive actions but waiting, by slot."""
    hands = ["left", "right"][: home.hands]
    names = [f"step: go to receptacle {c}" for c in range(home.receptacles)]
    names += [f"step: go to room {r}" for r in range(home.rooms)]
    names += ["step: open", "step: close"]
    names += [f"step: take object {o}" for o in range(home.objects)]
    for verb in ("put", "pack", "clean", "heat", "cool"):
        names += [f"step: {verb} {hand}" for hand in hands]
    names += ["step: use"]
    if home.slicing:
        names += [f"step: slice object {o}" for o in range(home.objects)]
    return names


# ---- ways to say skills ------------------------------------------------------------------------

_DET = "[(the|a|an|some|any|one|1|my|this|that|another|nearest|closest)]"
_ON = "[(keep|still|continue|keep on|go on|continue to|go on to|go and)]"
_VERBS = {
    "wash": "clean",
    "rinse": "clean",
    "warm": "heat",
    "warm up": "heat",
    "heat up": "heat",
    "microwave": "heat",
    "chill": "cool",
    "cool down": "cool",
}
_SEARCH = (
    "(search|explore|scour|comb|inspect|check|check out|cover|do|take|handle|scout|tackle"
    "|investigate|go through|(look|rummage|(have|take) [a] look) "
    "(through|around|around in|in|into|inside)"
    "|search (through|around) [in])"
)
_FETCH = "(fetch|get|take|grab|pick up|collect|retrieve|go for|go (get|fetch|grab))"
_PHRASES = {
    "find": [
        f"{_ON} (find|look for|search for|seek|locate|hunt for|track down|discover|spot|seek out) "
        f"{_DET} {{thing}}"
    ],
    "fetch": [f"{_ON} {_FETCH} {_DET} {{thing}}"],
    "change": [f"{_ON} {{verb}} {_DET} {{thing}}"],
    "bring": [
        f"{_ON} (bring|carry|put|place|take|move|deliver) {_DET} {{thing}} "
        f"(to|in|on|into|onto) {_DET} {{place}}",
        "{thing} (->|to|into|onto) {place}",
        f"{_ON} {_FETCH} {_DET} {{thing}} [(from|out of) {_DET} {{any}}] "
        f"and (bring|carry|put|place|take|move|deliver) (it|them) (to|in|on|into|onto) {_DET} "
        "{place}",
    ],
    "put down": [
        f"{_ON} put down [(it|that|what i hold)] [(in|on|into|onto|at)] {_DET} {{place}}",
        f"put (it|that|what i hold) [down] (in|on|into|onto|at) {_DET} {{place}}",
    ],
    "go to": [
        f"{_ON} [(go|walk|move|head|run|off|proceed|travel)] [(over|back|straight|on)] to "
        f"{_DET} {{place}}",
        f"(go|visit|approach|reach) {_DET} {{place}}",
    ],
    "search": [
        f"{_ON} {_SEARCH} {_DET} {{room}}",
    ],
    "look": [
        f"{_ON} (look [around]|explore [(further|on|more)]|search [(everywhere|the (house|home))])"
    ],
    "lamp": [f"{_ON} (turn on|switch on|light|use) {_DET} [(desk|floor)] (lamp|light)"],
    "wait": ["[(keep|keep on|continue to)] (wait|stay|do nothing|stand by|idle|pause) [here]"],
}
