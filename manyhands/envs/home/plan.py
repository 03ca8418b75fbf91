"""Shortest plans of players who know where everything is, and what searching costs those who do
not; on the host.

`shortest` is exact for one player with one hand: A* (Hart, Nilsson, Raphael, 1968) over where the
player is, where the objects are that matter, their bits, and what is open. With two hands it is
exact among plans that put things down only where the goal wants them. `bounds` are for several
players, and for `transport`, whose plans are too many.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.env import ConfigError
from manyhands.envs.home.rules import hand_codes
from manyhands.envs.home.state import (
    CLEAN,
    CLEANS,
    COOL,
    COOLS,
    CUTS,
    HEATS,
    HOT,
    LAMP,
    LIGHTS,
    NONE,
    ON,
    OPENS,
    SLICED,
    Actions,
    HomeState,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

MOST_NODES = 400_000  # of one search
CHANGES = ((CLEAN, CLEANS, "clean"), (HOT, HEATS, "heat"), (COOL, COOLS, "cool"))


class Plan(NamedTuple):
    """A shortest plan: how many steps it takes, and the actions, one for each step."""

    steps: int
    actions: tuple[int, ...]


class _Node(NamedTuple):
    """A player's room and receptacle (`NONE`: none), the place and the bits of each object that
    matters (a hand h is C + h), and the open receptacles."""

    room: int
    at: int
    places: tuple[int, ...]
    bits: tuple[int, ...]
    open: frozenset[int]


class _Problem:
    """The part of a home that matters for a goal, as plain numbers.

    Args:
        player: who acts; the others stand still.
        conditions: (kind, count, bits, where) of what is still to be done; by default the goal.
        only: the objects that may be used for it; by default any.
        drops: whether things may be put down anywhere.
    """

    def __init__(
        self,
        home: Home,
        state: HomeState,
        player: int = 0,
        conditions: Sequence[tuple[int, int, int, int]] | None = None,
        only: Sequence[int] | None = None,
        drops: bool = False,
    ):
        if home.family not in ("chore", "watch_and_help"):
            raise ConfigError(f"there are no shortest plans of {home.family!r}; see `bounds`")
        self.home, self.drops = home, drops
        fields = ("kind", "room", "abilities", "traits", "object_kind", "place", "bits", "takes")
        raw = {name: np.asarray(getattr(state, name)).tolist() for name in fields}
        self.kind, self.room, self.abilities = raw["kind"], raw["room"], raw["abilities"]
        self.takes, self.steps = raw["takes"], np.asarray(state.steps).tolist()
        self.conditions = conditions_of(state) if conditions is None else list(conditions)
        self.first, self.hands = home.receptacles, home.hands
        own = hand_codes(home)[player].tolist()
        kinds = {kind for kind, *_ in self.conditions}
        sliced = any(bits & SLICED for _, _, bits, _ in self.conditions)
        look = any(where == LAMP for *_, where in self.conditions)
        chosen = []
        for o, kind in enumerate(raw["object_kind"]):
            place, traits = raw["place"][o], raw["traits"][o]
            usable = kind in kinds and (only is None or o in only)
            usable = usable or (sliced and traits & CUTS) or (look and traits & LIGHTS)
            if kind != NONE and (place in own or (usable and place < self.first)):
                chosen.append(o)
        self.objects = chosen
        self.kinds = [raw["object_kind"][o] for o in chosen]
        self.usable = [only is None or o in only for o in chosen]
        self.traits = [raw["traits"][o] for o in chosen]
        places = [raw["place"][o] for o in chosen]
        places = [self.first + own.index(p) if p in own else p for p in places]
        bits = tuple(raw["bits"][o] for o in chosen)
        is_open = np.flatnonzero(np.asarray(state.open)).tolist()
        room, at = int(state.player_room[player]), int(state.at[player])
        self.start = _Node(room, at, tuple(places), bits, frozenset(is_open))
        needed = 0
        for _, ability, _ in CHANGES:
            needed |= ability
        wheres = {where for *_, where in self.conditions}
        self.wheres = wheres
        self.wanted = {kind: (bits, where) for kind, _, bits, where in self.conditions}
        # Hands that are full of other things, and knives, are emptied anywhere.
        full = any(p >= self.first and not self._asked(i) for i, p in enumerate(places)) or sliced
        self.relevant = [
            c
            for c, kind in enumerate(self.kind)
            if kind != NONE
            and (
                kind in wheres
                or self.abilities[c] & needed & self._asked_abilities()
                or c in places
                or ((full or drops) and any(self.takes[c] >> o & 1 for o in chosen))
            )
        ]

    def _asked(self, i: int) -> bool:
        return self.usable[i] and self.kinds[i] in self.wanted

    def _asked_abilities(self) -> int:
        found = 0
        for bit, ability, _ in CHANGES:
            if any(bits & bit for _, _, bits, _ in self.conditions):
                found |= ability
        return found

    def done(self, node: _Node) -> bool:
        return all(self._missing(node, *condition) == 0 for condition in self.conditions)

    def _fulfils(self, node: _Node, i: int, bits: int, where: int) -> bool:
        if node.bits[i] & bits != bits:
            return False
        place = node.places[i]
        if where == LAMP:
            return place >= self.first and any(
                node.places[j] == node.at and node.bits[j] & ON for j in self._lamps
            )
        return place < self.first and self.kind[place] == where

    @functools.cached_property
    def _lamps(self) -> list[int]:
        return [i for i, traits in enumerate(self.traits) if traits & LIGHTS]

    def _missing(self, node: _Node, kind: int, count: int, bits: int, where: int) -> int:
        found = sum(
            self._fulfils(node, i, bits, where)
            for i, other in enumerate(self.kinds)
            if other == kind and self.usable[i]
        )
        return max(0, count - found)

    def least(self, node: _Node) -> int:
        """A number of steps that are certainly needed."""
        total = 0
        for kind, count, bits, where in self.conditions:
            missing = self._missing(node, kind, count, bits, where)
            if not missing:
                continue
            costs = []
            for i, other in enumerate(self.kinds):
                if other != kind or not self.usable[i] or self._fulfils(node, i, bits, where):
                    continue
                cost = (node.places[i] < self.first) + (where != LAMP)
                costs.append(cost + (bits & ~node.bits[i]).bit_count())
            total += sum(sorted(costs)[:missing])
            if where != LAMP and (node.at == NONE or self.kind[node.at] != where):
                total += len(self.conditions) == 1
        return total

    def moves(self, node: _Node) -> Iterator[tuple[int, _Node, tuple[str, int]]]:
        """(steps, what follows, (verb, number)) of what makes sense to do."""
        for c in self.relevant:
            if c != node.at:
                far = 0
                if self.home.travel == "steps":
                    far = self.steps[node.room][self.room[c]]
                    if far == NONE:
                        continue
                yield 1 + far, node._replace(room=self.room[c], at=c), ("go", c)
        at = node.at
        if at == NONE:
            return
        if at not in node.open:
            if self.abilities[at] & OPENS:
                yield 1, node._replace(open=node.open | {at}), ("open", 0)
        else:
            yield from self._handles(node)
        for i, place in enumerate(node.places):
            if place < self.first or not self._asked(i):
                continue
            asked = self.wanted[self.kinds[i]][0]
            for bit, ability, verb in CHANGES:
                if asked & bit & ~node.bits[i] and self.abilities[at] & ability:
                    lost = HOT if bit == COOL else COOL if bit == HOT else 0
                    changed = _with(node.bits, i, (node.bits[i] | bit) & ~lost)
                    yield 1, node._replace(bits=changed), (verb, place - self.first)

    def _handles(self, node: _Node) -> Iterator[tuple[int, _Node, tuple[str, int]]]:
        """What can be done with things at an open receptacle."""
        at, first = node.at, self.first
        held = {place: i for i, place in enumerate(node.places) if place >= first}
        free = [first + h for h in range(self.hands) if first + h not in held]
        knife = any(self.traits[i] & CUTS for i in held.values())
        for i, place in enumerate(node.places):
            if place == at and self.traits[i] & LIGHTS:
                if not node.bits[i] & ON:
                    yield 1, node._replace(bits=_with(node.bits, i, node.bits[i] | ON)), ("use", 0)
            elif place == at:
                asked = self._asked(i)
                if free and (asked or self.traits[i] & CUTS):
                    places = _with(node.places, i, free[0])
                    yield 1, node._replace(places=places), ("take", self.objects[i])
                if asked and knife and self.wanted[self.kinds[i]][0] & SLICED & ~node.bits[i]:
                    changed = _with(node.bits, i, node.bits[i] | SLICED)
                    yield 1, node._replace(bits=changed), ("slice", self.objects[i])
            elif place >= first and self.takes[at] >> self.objects[i] & 1:
                asked = self._asked(i)
                bits, where = self.wanted[self.kinds[i]] if asked else (0, NONE)
                home = where == self.kind[at] and node.bits[i] & bits == bits
                # What must be sliced is put down for it.
                cut = bits & SLICED & ~node.bits[i]
                if not asked or home or cut or self.drops:
                    places = _with(node.places, i, at)
                    yield 1, node._replace(places=places), ("put", place - first)


def _with(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])


def conditions_of(state: HomeState) -> list[tuple[int, int, int, int]]:
    """(kind, count, bits, where) of each condition of the goal."""
    parts = (state.goal_kind, state.goal_count, state.goal_bits, state.goal_where)
    rows = zip(*(np.asarray(part).tolist() for part in parts), strict=True)
    return [row for row in rows if row[0] != NONE]


def _search(problem: _Problem) -> tuple[int, list[tuple[_Node, tuple[str, int]]]] | None:
    """(steps, what is done, with the state before it); None if there is no plan."""
    start = problem.start
    best = {start: 0}
    came: dict[_Node, tuple[_Node, tuple[str, int]]] = {}
    count = itertools.count()
    queue = [(problem.least(start), next(count), start)]
    closed: set[_Node] = set()
    while queue:
        _, _, node = heapq.heappop(queue)
        if node in closed:
            continue
        if problem.done(node):
            path = []
            cost = best[node]
            while node in came:
                node, move = came[node]
                path.append((node, move))
            return cost, path[::-1]
        closed.add(node)
        if len(closed) > MOST_NODES:
            raise ConfigError(f"the search for a plan needs more than {MOST_NODES} states")
        for cost, after, move in problem.moves(node):
            total = best[node] + cost
            if total < best.get(after, math.inf):
                best[after], came[after] = total, (node, move)
                heapq.heappush(queue, (total + problem.least(after), next(count), after))
    return None


def shortest(
    home: Home, state: HomeState, player: int = 0, *, drops: bool = False, **part: Any
) -> Plan:
    """A shortest plan of one player, from any state, while the others stand still.

    Args:
        drops: whether things may be put down anywhere, which takes long, and with one hand changes
            nothing.
        part: `conditions` and `only`, see `_Problem`.

    Raises:
        ConfigError: there is no plan, or too many states.
    """
    problem = _Problem(home, state, player, drops=drops, **part)
    found = _search(problem)
    if found is None:
        raise ConfigError("the goal cannot be reached")
    steps, path = found
    numbers, actions = Actions(home), []
    for node, (verb, number) in path:
        action = getattr(numbers, verb) + number
        far = 0
        if verb == "go" and home.travel == "steps":
            far = problem.steps[node.room][problem.room[number]]
        actions += [action] * (1 + far)
    assert len(actions) == steps
    return Plan(steps, tuple(actions))


def optimal_steps(home: Home, state: HomeState, player: int = 0) -> int:
    """The steps that one player needs who knows where everything is."""
    return shortest(home, state, player).steps


# ---- several players -----------------------------------------------------------------------------


class Bounds(NamedTuple):
    """The steps that players need together, who know where everything is: at least and at most.
    Where both are equal, they are exact."""

    lower: int
    upper: int


def bounds(home: Home, state: HomeState) -> Bounds:
    """Bounds for all players together.

    Chores and `watch_and_help`: not less than what the hardest object takes the player for whom it
    is easiest, nor than the needed takes, puts and changes shared evenly. Not more than when the
    objects of a shortest plan of one player are divided among all in the best way, each of whom
    then follows a shortest plan for its own.

    `transport`: not less than one go, one take and one put of what must be carried at once,
    shared evenly, nor than the farthest object takes; not more than when the players take turns to
    bring the nearest objects two by two, without containers.
    """
    if home.family == "transport":
        return _bounds_of_transport(home, state)
    players = range(home.players)
    conditions = conditions_of(state)
    alone = [shortest(home, state, n) for n in players]
    if home.players == 1:
        return Bounds(alone[0].steps, alone[0].steps)
    best = min(players, key=lambda n: alone[n].steps)
    problem = _Problem(home, state, best)
    work = problem.least(problem.start)
    lower = math.ceil(work / home.players)
    for kind, _, bits, where in conditions:
        easiest = min(
            shortest(home, state, n, conditions=[(kind, 1, bits, where)]).steps for n in players
        )
        lower = max(lower, easiest)
    return Bounds(lower, min(alone[best].steps, _divided(home, state, alone[best], conditions)))


def _divided(
    home: Home, state: HomeState, plan: Plan, conditions: Sequence[tuple[int, int, int, int]]
) -> int:
    """The steps of the best division of the objects that a plan takes."""
    kinds = np.asarray(state.object_kind).tolist()
    numbers, wanted = Actions(home), {kind: (bits, where) for kind, _, bits, where in conditions}
    taken = dict.fromkeys(
        action - numbers.take
        for action in plan.actions
        if numbers.take <= action < numbers.put and kinds[action - numbers.take] in wanted
    )
    things = list(taken)
    place = np.asarray(state.place).tolist()
    if len(things) < sum(count for _, count, _, _ in conditions) or any(
        place[o] >= home.receptacles for o in things
    ):
        return plan.steps  # something is held, or in place already

    @functools.cache
    def cost(player: int, part: tuple[int, ...]) -> int:
        if not part:
            return 0
        asked = [
            (kind, sum(kinds[o] == kind for o in part), *wanted[kind])
            for kind in dict.fromkeys(kinds[o] for o in part)
        ]
        return shortest(home, state, player, conditions=asked, only=part).steps

    least = plan.steps
    for division in itertools.product(range(home.players), repeat=len(things)):
        parts = [
            tuple(o for o, n in zip(things, division, strict=True) if n == player)
            for player in range(home.players)
        ]
        least = min(least, max(cost(n, part) for n, part in enumerate(parts)))
    return least


def _bounds_of_transport(home: Home, state: HomeState) -> Bounds:
    kind, room = (np.asarray(getattr(state, name)).tolist() for name in ("kind", "room"))
    place, steps = np.asarray(state.place).tolist(), np.asarray(state.steps).tolist()
    rooms = np.asarray(state.player_room).tolist()
    goals = [c for c, each in enumerate(kind) if each == int(state.goal_where[0])]
    lying = [
        o
        for o in np.flatnonzero(np.asarray(state.target)).tolist()
        if place[o] < home.receptacles and place[o] not in goals
    ]
    instant = home.travel == "instant"
    shut = {c for c, is_open in enumerate(np.asarray(state.open).tolist()) if not is_open}

    def far(a: int, b: int) -> int:
        return 0 if instant else steps[a][b]

    def back(a: int) -> int:
        return min(far(a, room[c]) for c in goals)

    # Each object: go there, open, take it, go to the goal, put it.
    single = [
        min(far(start, room[place[o]]) for start in rooms)
        + 1
        + (place[o] in shut)
        + 1
        + back(room[place[o]])
        + 2
        for o in lying
    ]
    most = home.hands if home.hands == 1 else 1 + int(home.catalog.holds.max())
    takes = len(lying)
    lower = max([*single, math.ceil((takes + 2 * math.ceil(takes / most)) / home.players), 0])
    # The players bring what is nearest to the goal, as many at once as they have hands.
    clocks, where = [0] * home.players, list(rooms)
    left, opened = sorted(lying, key=lambda o: (back(room[place[o]]), place[o])), set[int]()
    while left:
        n = min(range(home.players), key=clocks.__getitem__)
        for o in left[: home.hands]:
            same = place[o] in opened
            clocks[n] += far(where[n], room[place[o]]) + 1 + (place[o] in shut and not same) + 1
            where[n] = room[place[o]]
            opened.add(place[o])
        count = len(left[: home.hands])
        left = left[count:]
        nearest = min(goals, key=lambda c: far(where[n], room[c]))
        clocks[n] += far(where[n], room[nearest]) + 1 + count
        where[n] = room[nearest]
    return Bounds(lower, max(clocks))


# ---- searching -----------------------------------------------------------------------------------


def expected_steps(
    home: Home, state: HomeState, player: int = 0, samples: int = 64, seed: int = 0
) -> float:
    """The mean number of steps of one player who searches first: it looks into the receptacles that
    may hold what the goal asks for, in a random order, until it has seen enough objects, and then
    follows a shortest plan. Of `samples` orders; those who look where things are likely, or act
    while they search, need fewer.
    """
    rng = np.random.default_rng(seed)
    catalog = home.catalog
    kind = np.asarray(state.kind).tolist()
    conditions = conditions_of(state)
    object_kinds, place = (
        np.asarray(getattr(state, name)).tolist() for name in ("object_kind", "place")
    )
    asked = {condition[0]: condition[1] for condition in conditions}
    if any(where == LAMP for *_, where in conditions):
        lamps = [k for k in np.flatnonzero(catalog.may["lamp"]).tolist() if k in object_kinds]
        asked |= {lamps[0]: 1}
    takes = catalog.can["takes"]
    may = [
        c
        for c, each in enumerate(kind)
        if each != NONE and any(takes[each, wanted] for wanted in asked)
    ]
    steps = np.asarray(state.steps).tolist()
    rooms = np.asarray(state.room).tolist()
    closed = ~np.asarray(state.open)
    total = 0.0
    for _ in range(samples):
        seen = dict.fromkeys(asked, 0)
        spent, room, at = 0, int(state.player_room[player]), int(state.at[player])
        is_open = ~closed
        for c in rng.permutation(may).tolist():
            if all(seen[wanted] >= count for wanted, count in asked.items()):
                break
            if c != at:
                spent += 1 + (steps[room][rooms[c]] if home.travel == "steps" else 0)
            spent += bool(closed[c])
            is_open[c], room, at = True, rooms[c], c
            for wanted in asked:
                seen[wanted] += sum(
                    p == c and o == wanted for p, o in zip(place, object_kinds, strict=True)
                )
        now = dataclasses.replace(
            state,
            player_room=_put(state.player_room, player, room),
            at=_put(state.at, player, at),
            open=is_open,
        )
        total += spent + optimal_steps(home, now, player)
    return total / samples


def _put(values: Any, index: int, value: int) -> np.ndarray:
    copy = np.array(values)
    copy[index] = value
    return copy
