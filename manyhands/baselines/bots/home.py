"""Players of homes: `tidy`, `helper`, `follower` and `leader`.

A player weighs jobs by the steps until they are done: bring what it holds (first to where it gets
clean, hot or cool), fetch what it knows, look where something is likely to be that it does not
know. How likely follows from the catalog: a thing may be wherever its kind is kept, and nothing is
where the goal wants it already. A tidy player does so as if it were alone; a helper leaves to the
others what they are nearer to, and looks for things in other rooms than they do.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import boolean, number
from manyhands.core.env import Array, DeviceView, Env, SeatError, unwrap
from manyhands.envs.home.env import Home
from manyhands.envs.home.known import FAR, Known, first_inside, known_of, looks_up, ways_of
from manyhands.envs.home.state import (
    CLEAN,
    COOL,
    HOT,
    LAMP,
    ON,
    SLICED,
    TARGETS,
    Actions,
    HomeConfig,
)

NEVER = 1000.0  # the cost of what cannot or need not be done
LONG = 12.0  # steps by which what another player is about to do is put off
FULL = 3.0  # steps that a container waits for each thing that still fits in
AGAIN = 60.0  # of looking where one has looked before


def tidy(
    env: Env,
    memory: bool = True,
    noise: float = 0.0,
    speed: float = 1.0,
    containers: bool = True,
) -> Keeper:
    """A player that does all by itself.

    Args:
        memory: whether it knows what it saw earlier, or only what it sees now.
        noise: the share of its actions that are random legal ones.
        speed: the share of steps in which it acts; in the others it waits.
        containers: whether it carries things in containers (`transport`).
    """
    return _keeper(env, "tidy", memory, noise, speed, containers)


def helper(
    env: Env,
    memory: bool = True,
    noise: float = 0.0,
    speed: float = 1.0,
    containers: bool = True,
) -> Keeper:
    """A player that does what the others do not; options as for `tidy`."""
    return _keeper(env, "helper", memory, noise, speed, containers)


def follower(env: Env, noise: float = 0.0, speed: float = 1.0) -> Keeper:
    """A player that stays in the room of `player_0`, and out of its way; in other tasks than
    `follow` it looks after it and does nothing else. Options as for `tidy`."""
    return _keeper(env, "follower", True, noise, speed)


def leader(env: Env, noise: float = 0.0, speed: float = 0.5) -> Keeper:
    """A player with the pace of a person, who does its errands in `follow`, and elsewhere what a
    tidy one does; options as for `tidy`."""
    return _keeper(env, "leader", True, noise, speed)


def _keeper(
    env: Env, style: str, memory: bool, noise: float, speed: float, containers: bool = True
) -> Keeper:
    return Keeper(
        env,
        style,
        boolean("memory", memory),
        boolean("containers", containers),
        number("noise", noise, 0, 1),
        number("speed", speed, 0, 1),
    )


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("noise", "speed"),
    meta_fields=("env", "style", "memory", "containers"),
)
@dataclasses.dataclass(frozen=True)
class Keeper:
    """A `DevicePolicy`; see the module's docstring.

    Args:
        env: the home, or a wrapper of it.
        style: `"tidy"`, `"helper"`, `"follower"` or `"leader"`.
        memory, containers, noise, speed: as of `tidy`.
    """

    any_seat: ClassVar[bool] = True
    env: Env
    style: str
    memory: bool
    containers: bool
    noise: float
    speed: float

    def __post_init__(self) -> None:
        unwrap(self.env, Home, SeatError)

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: tuple[()], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[()]]:
        found = unwrap(self.env, Home)
        home = found.env
        legal = found.lower(view.legal) if found.wrappers else view.legal
        tie, wild, which, pause = jax.random.split(key, 4)
        known = known_of(home, view.perception)
        if not self.memory:
            known = _forget(home, known)
        if self.style == "follower" or (home.family == "follow" and self.style != "leader"):
            action = _follow(home, known, tie)
        elif home.family == "follow":
            action = 1 + jnp.maximum(known.errand, 0)
        else:
            boxes = self.containers and home.family == "transport" and home.hands == 2
            action = _keep(home, known, tie, self.style == "helper", self.memory, boxes)
        random = jnp.argmax(jnp.where(legal, jax.random.uniform(which, legal.shape), -1.0))
        astray = jax.random.uniform(wild) < self.noise
        action = jnp.where(astray, random, action)
        slow = jax.random.uniform(pause) >= self.speed
        action = jnp.where(slow | ~legal[action], Actions.WAIT, action).astype(jnp.int32)
        return found.lift(action), memory


def _forget(home: HomeConfig, known: Known) -> Known:
    """What a player without memory knows: what it sees now."""
    now = known.seen == known.time
    closes = looks_up(home.catalog.can["opens"], known.kind)
    here = known.place_room == known.room if home.view != "receptacle" else False
    here = here | (known.at == np.arange(home.receptacles))
    return known._replace(
        place=jnp.where(now, known.place, -1),
        open=jnp.where(closes & ~here & (home.view != "all"), 0, known.open),
        looked=jnp.where(known.looked == known.time, known.looked, -1),
    )


# ---- keeping house -------------------------------------------------------------------------------


class _Needs(NamedTuple):
    """What is missing for the goal.

    Attributes:
        matches: bool[K, O], which objects each condition asks for; done: those that are in place.
        condition: i32[O], the first that an object matches.
        lacks: i32[K], how many are not in place; more: of them, how many nobody carries.
        wanted: bool[O], what a condition still asks for.
        cut: bool[O], of them, what has to be sliced first.
    """

    matches: Array
    done: Array
    condition: Array
    lacks: Array
    more: Array
    wanted: Array
    cut: Array


def _needs(home: HomeConfig, known: Known, mine: Array) -> _Needs:
    """`mine`, bool[O], is what this player carries."""
    kind, where = known.goal_kind[:, None], known.goal_where[:, None]
    matches = (known.thing_kind == kind) & (kind >= 0) & (known.thing_kind >= 0)
    if home.family == "transport":
        matches = matches | ((kind == TARGETS) & known.target)
    lies = (known.place >= 0) & (known.place < home.receptacles)
    there = jnp.where(lies, known.kind[jnp.clip(known.place, 0, home.receptacles - 1)], -1)
    bits = known.goal_bits[:, None]
    done = matches & (there == where) & lies & ((known.bits & bits) == bits)
    lacks = jnp.maximum(known.goal_count - jnp.sum(done, axis=1), 0)
    carried = matches & (known.place >= home.receptacles)
    more = jnp.maximum(lacks - jnp.sum(carried, axis=1), 0)
    condition = jnp.argmax(matches, axis=0)
    wanted = jnp.any(matches & ~done & (lacks > 0)[:, None], axis=0)
    unsliced = (bits[:, 0][condition] & SLICED & ~known.bits) != 0
    return _Needs(matches, done, condition, lacks, more, wanted, wanted & unsliced)


class _Jobs:
    """Costs and first actions of jobs, gathered one after the other."""

    def __init__(self) -> None:
        self._costs: list[Array] = []
        self._actions: list[Array] = []

    def add(self, cost: Array, action: Array) -> None:
        self._costs.append(jnp.asarray(cost, jnp.float32).reshape(-1))
        self._actions.append(jnp.broadcast_to(jnp.asarray(action, jnp.int32).reshape(-1),
                                              self._costs[-1].shape))  # fmt: skip

    def best(self, key: Array) -> Array:
        """The action of the cheapest job, ties broken by chance; waiting, if there is none."""
        costs, actions = jnp.concatenate(self._costs), jnp.concatenate(self._actions)
        costs = costs + jax.random.uniform(key, costs.shape, maxval=0.01)
        best = jnp.argmin(costs)
        return jnp.where(costs[best] < NEVER, actions[best], Actions.WAIT)


def _keep(
    home: HomeConfig, known: Known, key: Array, helps: bool, remembers: bool, packs: bool
) -> Array:
    catalog, numbers = home.catalog, Actions(home)
    places, things, hands = home.receptacles, home.objects, home.hands
    c, o = np.arange(places), np.arange(things)
    ways = ways_of(home, known)
    shut, begin, reach = ways.shut, ways.begin, ways.reach.astype(jnp.float32)
    takes = looks_up(catalog.can["takes"], known.kind)  # [C, kinds]
    held = known.hands
    in_hand = held[:, None] == o  # [H, O]
    base = first_inside(home)
    inside = (known.place >= base) & (known.place < base + things)
    box = jnp.where(inside, known.place - base, things)
    boxed = inside & jnp.any(in_hand[:, jnp.minimum(box, things - 1)], axis=0)
    mine = jnp.any(in_hand, axis=0) | boxed
    needs = _needs(home, known, mine)
    free = jnp.any(held < 0)
    lies = (known.place >= 0) & (known.place < places)
    spot = jnp.clip(known.place, 0, places - 1)
    left = home.max_steps - known.time
    jobs = _Jobs()

    def accepts(hand: Array) -> Array:
        return ways.takes[:, jnp.maximum(hand, 0)] & (hand >= 0)

    knives = looks_up(catalog.may["cut"], known.thing_kind)
    cuts = jnp.any(needs.cut) if home.slicing else jnp.bool_(False)
    knife = jnp.any(in_hand & knives)
    lamps = looks_up(catalog.may["lamp"], known.thing_kind) & lies
    holds = looks_up(catalog.holds, known.thing_kind)  # [O]
    load = jnp.sum(inside[None] & (box[None] == o[:, None]), axis=1)  # [O], in each container
    carries = jnp.any(in_hand & (holds > 0)) if packs else jnp.bool_(False)
    looks_for_lamp = jnp.bool_(False)

    for h in range(hands):
        hand = held[h]
        one = jnp.maximum(hand, 0)
        wanted = (hand >= 0) & needs.wanted[one] & ~needs.cut[one]
        k = needs.condition[one]
        missing = known.goal_bits[k] & ~known.bits[one]
        # What it needs to become, one after the other.
        for bit, ability, verb in (
            (CLEAN, "cleans", numbers.clean),
            (HOT, "heats", numbers.heat),
            (COOL, "cools", numbers.cool),
        ):
            able = looks_up(catalog.can[ability], known.kind)
            asks = wanted & ((missing & bit) != 0)
            action = jnp.where(known.at == c, verb + h, numbers.go + c)
            jobs.add(jnp.where(asks & able, known.steps, NEVER), action)
        ready = wanted & ((missing & (CLEAN | HOT | COOL)) == 0)
        # To a lamp.
        at_lamp = known.goal_where[k] == LAMP
        lit = lamps & ((known.bits & ON) != 0)
        beside = jnp.any(lamps[None] & (spot[None] == c[:, None]), axis=1)
        light = jnp.where(begin >= 0, begin, numbers.use)
        jobs.add(jnp.where(ready & at_lamp & beside, reach, NEVER), light)
        looks_for_lamp = looks_for_lamp | (ready & at_lamp & ~jnp.any(lamps | lit))
        # To where it belongs.
        goal = ready & (known.kind == known.goal_where[k]) & accepts(hand)
        put = jnp.where(begin >= 0, begin, numbers.put + h)
        jobs.add(jnp.where(goal, reach, NEVER), put)
        if packs:
            other = held[1 - h]
            room_left = (holds[jnp.maximum(other, 0)] > load[jnp.maximum(other, 0)]) & (other >= 0)
            packable = wanted & (holds[one] == 0)
            jobs.add(jnp.where(packable & room_left, -1.0, NEVER), numbers.pack + h)
            # A container is brought when it is full, when nothing else is to be found, or in time.
            loaded = (hand >= 0) & (holds[one] > 0) & (load[one] > 0)
            bed = jnp.any(known.kind[:, None] == known.goal_where, axis=1) & accepts(hand)
            waits = FULL * (holds[one] - load[one])
            late = left <= jnp.min(jnp.where(bed, reach, FAR)) + 3
            waits = jnp.where(late, -50.0, jnp.where(jnp.sum(needs.more) > 0, waits, 0.0))
            jobs.add(jnp.where(loaded & bed, reach + waits, NEVER), put)
        # Put down what is of no use, where a hand is needed for something else.
        useful = needs.wanted[one] & ~needs.cut[one]
        useful = useful | (knives[one] & cuts) | ((holds[one] > 0) & packs)
        junk = (hand >= 0) & ~useful
        urgent = ~free & ((jnp.sum(needs.more) > 0) | cuts)
        jobs.add(jnp.where(junk & urgent & accepts(hand), reach + 0.5, NEVER), put)

    # Fetch what is known.
    away = _taken(home, known, helps)  # f32[C], put off
    first = begin[spot]
    take = jnp.where(first >= 0, first, numbers.take + o)
    fetches = needs.wanted & ~needs.cut & lies & (needs.more[needs.condition] > 0) & free
    fetches = fetches & ~jnp.any(needs.done, axis=0)
    jobs.add(jnp.where(fetches, reach[spot] + away[spot], NEVER), take)
    if home.slicing:
        jobs.add(jnp.where(knives & lies & cuts & ~knife & free, reach[spot], NEVER), take)
        cut = jnp.where(first >= 0, first, numbers.slice + o)
        jobs.add(jnp.where(needs.cut & lies & knife, reach[spot], NEVER), cut)
    if packs:
        useful = (holds > 0) & lies & (load == 0) & free & ~carries
        useful = useful & (jnp.sum(needs.lacks) >= 3) & (left > 30)
        jobs.add(jnp.where(useful, reach[spot] + away[spot] + 1.0, NEVER), take)

    # Look for what is not known.
    unknown = jnp.maximum(needs.more - jnp.sum(needs.matches & lies & ~needs.done, axis=1), 0)
    likely = _likely(home, known, takes, unknown)
    if home.slicing:
        likely = likely + (cuts & ~jnp.any(knives)) * _share(takes @ catalog.may["cut"], known)
    likely = jnp.where(free, likely, 0.0)
    likely = likely + looks_for_lamp * _share(takes @ catalog.may["lamp"], known)
    cost, action = _search(home, known, likely, reach, shut, begin, helps, key, remembers)
    jobs.add(cost, action)
    return jobs.best(key)


def _share(fits: Array, known: Known) -> Array:
    """f32[C], how likely something is at each receptacle, if it is equally likely at all that fit,
    and at none whose contents are known."""
    fits = (fits > 0) & (known.kind >= 0)
    return jnp.where(fits & (known.looked < 0), 1.0 / jnp.maximum(jnp.sum(fits), 1), 0.0)


def _likely(home: HomeConfig, known: Known, takes: Array, unknown: Array) -> Array:
    """f32[C], how many of the things that are missing are to be expected at each receptacle."""
    plain = jnp.asarray(home.catalog.may["carry"] & (home.catalog.holds == 0))
    total = jnp.zeros(home.receptacles)
    for k in range(home.conditions):
        kind = known.goal_kind[k]
        elsewhere = known.kind != known.goal_where[k]
        fits = takes[:, jnp.clip(kind, 0, takes.shape[1] - 1)] & elsewhere
        share = _share(fits, known)
        if home.family == "transport":  # any kind: each is somewhere that takes it
            some = takes & plain & elsewhere[:, None]
            each = some / jnp.maximum(jnp.sum(some, axis=0), 1)
            mean = jnp.sum(each, axis=1) / jnp.maximum(jnp.sum(jnp.any(some, axis=0)), 1)
            share = jnp.where(known.looked < 0, mean, 0.0)
        asked = (kind >= 0) & ((kind < takes.shape[1]) | (kind == TARGETS))
        total = total + jnp.where(asked, unknown[k] * share, 0.0)
    return total


def _search(
    home: HomeConfig,
    known: Known,
    likely: Array,
    reach: Array,
    shut: Array,
    begin: Array,
    helps: bool,
    key: Array,
    remembers: bool,
) -> tuple[Array, Array]:
    """(cost, first action) of looking at the receptacle that promises most for each step; where
    nothing is promising, at the one that it has not looked at for longest."""
    c = np.arange(home.receptacles)
    gain = likely
    if home.view != "receptacle":  # who enters a room sees all that is open there
        same = known.place_room[:, None] == known.place_room[None]
        others = same & ~shut[None] & (c[:, None] != c[None])
        away = known.place_room != known.room
        gain = likely + jnp.where(away, jnp.sum(jnp.where(others, likely[None], 0.0), axis=1), 0.0)
    if helps and home.players > 1:
        # Half of the rooms, or of the receptacles, are the other's to look at first.
        part = known.place_room if home.rooms > home.players else jnp.asarray(c)
        gain = gain * jnp.where(part % home.players == known.me % home.players, 1.0, 0.2)
    if not remembers:
        gain = gain * jax.random.uniform(key, gain.shape)
    rate = gain / jnp.maximum(reach, 0.5)
    best = jnp.argmax(rate)
    promising = rate[best] > 0
    # Again, where it saw things longest ago.
    age = (known.time - known.looked).astype(jnp.float32)
    stale = jnp.where((known.kind >= 0) & (age > 0), age / jnp.maximum(reach, 0.5), -1.0)
    if not remembers:
        stale = jnp.where(stale > 0, jax.random.uniform(key, stale.shape), -1.0)
    oldest = jnp.argmax(stale)
    where = jnp.where(promising, best, oldest)
    looks = promising | (stale[oldest] > 0)
    cost = jnp.where(promising, reach[best] + 1.0, AGAIN)
    action = jnp.where(begin[where] >= 0, begin[where], Actions.WAIT)
    return jnp.where(looks, cost, NEVER), action


def _taken(home: HomeConfig, known: Known, helps: bool) -> Array:
    """f32[C], by how much a helper puts off going to each receptacle: where another player is, that
    it saw lately, or that is nearer."""
    found = jnp.zeros(home.receptacles)
    if not helps:
        return found
    for other in range(home.players):
        fresh = (known.player_seen[other] >= 0) & (known.player_seen[other] >= known.time - 3)
        theirs = known.doors[jnp.maximum(known.player_room[other], 0)]
        theirs = theirs[jnp.maximum(known.place_room, 0)]
        theirs = theirs + (known.player_at[other] != np.arange(home.receptacles))
        nearer = (theirs < known.steps) | ((theirs == known.steps) & (other < known.me))
        late = fresh & nearer & (other != known.me)
        found = jnp.maximum(found, jnp.where(late, LONG, 0.0))
    return found


# ---- following -----------------------------------------------------------------------------------


def _follow(home: HomeConfig, known: Known, key: Array) -> Array:
    """Stay in the room of player 0, at another place than it is; go to where it was last seen, and
    from there to the neighbouring rooms, those first that were not seen for longest."""
    numbers = Actions(home)
    rooms = np.arange(home.rooms)
    if home.players < 2:
        return jnp.int32(Actions.WAIT)
    there, seen = known.player_room[0], known.player_seen[0]
    sight = (seen == known.time) & (there == known.room)
    close = sight & (known.at >= 0) & (known.at == known.player_at[0])
    here = numbers.room + jnp.maximum(known.room, 0)
    # Since when each room was not seen: by what was seen in it.
    places = known.place_room[None] == rooms[:, None]
    looked = jnp.max(jnp.where(places, known.looked[None], -1), axis=1)
    near = known.doors[jnp.maximum(known.room, 0)]
    exists = (known.room_kind >= 0) & (rooms != known.room)
    # Since it was lost, those next to where that was; else any.
    lost = jnp.where(there >= 0, known.doors[jnp.maximum(there, 0)], 0)
    age = (known.time - looked).astype(jnp.float32)
    score = age - 4.0 * near - 3.0 * lost + jax.random.uniform(key, (home.rooms,))
    guess = jnp.argmax(jnp.where(exists, score, -NEVER))
    arrived = known.room == there
    goal = jnp.where(
        (there >= 0) & ~arrived & (looked[jnp.maximum(there, 0)] <= seen), there, guess
    )
    action = numbers.room + goal
    return jnp.where(sight, jnp.where(close, here, Actions.WAIT), action)
