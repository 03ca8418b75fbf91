"""A home's state and its fixed configuration.

Every function of the rules (`rules.py`) and of the observations (`observe.py`) takes a `HomeConfig`
and a `HomeState`, with any number of trailing batch axes (none, or one).

Things are numbered: rooms 0 to R - 1, receptacles 0 to C - 1, objects 0 to O - 1, players 0 to
N - 1, each with H hands. What varies between homes (which kinds of receptacles and objects there
are, and what is asked) lies in the state, so that one compiled step serves all homes of a size.
"""

from __future__ import annotations

from typing import Any

from manyhands.core.env import Array, state_dataclass
from manyhands.envs.home.catalog import Catalog

CLEAN, HOT, COOL, ON, SLICED = 1, 2, 4, 8, 16  # bits of objects
BITS = {CLEAN: "clean", HOT: "hot", COOL: "cool", ON: "on", SLICED: "sliced"}
TAKEN = 32  # of `HomeState.once`
NONE = 255  # no kind, no receptacle, no place, unknown
TARGETS = 254  # of `goal_kind`: the objects that are to be brought, whatever their kind
LAMP = 254  # of `goal_where`: in a hand, at a lamp that is on
CLEANABLE, HEATABLE, COOLABLE, SLICEABLE, CUTS, LIGHTS, PACKABLE, HOLDS = (
    1 << bit for bit in range(8)
)  # bits of `HomeState.traits`
OPENS, CLEANS, HEATS, COOLS = 1, 2, 4, 8  # bits of `HomeState.abilities`
UNSEEN, SHUT, OPEN = range(3)  # of `known_open`

# `HomeState.recent`: what a player did in the last step.
NOTHING, WENT, OPENED, CLOSED, TOOK, PUT, PACKED, CLEANED, HEATED, COOLED, USED, CUT, RACED = range(
    13
)
MOST_PLAYERS, MOST_HANDS, MOST_ROOMS, MOST_RECEPTACLES, MOST_OBJECTS = 6, 2, 8, 32, 32
MOST_CONDITIONS, MOST_PACKED, MOST_STEPS = 5, 3, 10_000


@state_dataclass
class HomeState:
    """One home at one moment.

    A *place* is where an object is: receptacle c is c; hand h of player n is C + H n + h; inside
    object o, which is a container, is C + H N + o; `NONE` for slots without an object, and for
    containers that are used up.

    Attributes:
        room_kind: u8[R], kinds of the rooms, sorted; `NONE` for slots without a room.
        steps: u8[R, R], doors between two rooms on the shortest way; `NONE` where there is none.
        kind: u8[C], kinds of the receptacles, sorted; `NONE` for slots without one.
        room: u8[C], the room of each receptacle.
        open: bool[C], whether it is open; always True of those that cannot be closed.
        abilities: u8[C], `OPENS`, `CLEANS`, `HEATS` and `COOLS`, added up: what its kind can do.
        takes: u32[C], bit o: object o may be put there.
        object_kind: u8[O], kinds of the objects, sorted; `NONE` for slots without one.
        traits: u8[O], what its kind allows: `CLEANABLE`, `HEATABLE`, `COOLABLE`, `SLICEABLE`,
            `CUTS`, `LIGHTS` (a lamp; it cannot be carried), `PACKABLE` and `HOLDS` (a container).
        target: bool[O], whether an object is to be brought (`transport`).
        place: u8[O], where each object is.
        bits: u8[O], `CLEAN`, `HOT`, `COOL`, `ON` and `SLICED`, added up.
        once: u8[O], the bits that an object ever had, and `TAKEN`: was it ever taken.
        player_room: u8[N], the room in which each player is.
        at: u8[N], the receptacle at which each player is; `NONE`: in the middle of the room.
        known_place: u8[N, O], where each player last saw each object; `NONE`: never seen, or seen
            to be where it was believed to be no more.
        known_bits: u8[N, O], the bits that it then had.
        seen: i16[N, O], in which step that was; -1: never.
        known_open: u8[N, C], `UNSEEN`, `SHUT` or `OPEN`, as each player last saw it.
        looked: i16[N, C], the step in which each player last saw what is in or on it; -1: never.
        met_room: u8[N, N], the room in which each player (first axis) last saw each other.
        met_at: u8[N, N], the receptacle at which that was, or `NONE`.
        met: i16[N, N], in which step that was; -1: never. On the diagonal, what holds of oneself.
        goal_kind: u8[K], the kind of object that each condition asks for; `NONE`: no condition;
            `TARGETS`.
        goal_count: u8[K], how many.
        goal_bits: u8[K], the bits that they must have.
        goal_where: u8[K], the kind of receptacle where they must be, or `LAMP`.
        told: bool[N, K], which players know the hidden part of which condition from the start. An
            instructor, who is no player, always knows it.
        task: u8[], which of the configuration's tasks it is.
        errand: u8[E], the receptacles that the leader of `follow` visits, in order.
        errands: u8[], how many of them it has visited.
        best: u8[K], how many objects of each condition were in place at best, of which the
            rewards were given.
        time: i16[], steps played.
        recent: u8[N, 3], what each player did in the last step, with which object and which
            receptacle (`NONE`: with none). Of `WENT`, the room where it now is in place of the
            object, and the receptacle or `NONE`; of `PACKED`, the container in place of the
            receptacle; of `RACED`, what it wanted.
    """

    room_kind: Array
    steps: Array
    kind: Array
    room: Array
    open: Array
    abilities: Array
    takes: Array
    object_kind: Array
    traits: Array
    target: Array
    place: Array
    bits: Array
    once: Array
    player_room: Array
    at: Array
    known_place: Array
    known_bits: Array
    seen: Array
    known_open: Array
    looked: Array
    met_room: Array
    met_at: Array
    met: Array
    goal_kind: Array
    goal_count: Array
    goal_bits: Array
    goal_where: Array
    told: Array
    task: Array
    errand: Array
    errands: Array
    best: Array
    time: Array
    recent: Array


class HomeConfig:
    """What the rules and observations read of a home, fixed while it is played; `Home` (`env.py`)
    is one.

    Attributes:
        catalog: kinds of rooms, receptacles and objects.
        family: `"chore"`, `"watch_and_help"`, `"transport"` or `"follow"`.
        tasks: names of the tasks that episodes have, of the family's.
        players: how many players with hands, N.
        hands: how many each has, H.
        rooms, receptacles, objects: numbers of slots, R, C and O.
        travel: `"instant"`: anywhere in one step; `"steps"`: a room a step, and one more step to a
            receptacle.
        view: what a player sees: `"receptacle"` (in or on the one where it is), `"room"` (all that
            is open in its room) or `"all"` (all that is open anywhere).
        slicing: whether things can be sliced with knives.
        told: who knows the hidden part of the goal: `"all"`, `"first"` or `"instructor"`.
        hidden: which parts are hidden: `"object"`, `"where"`, `"state"`.
        discussion: first steps in which players can only wait.
        conditions: slots for conditions of the goal, K.
        errand_count: errands of the leader of `follow`, E.
        max_steps: steps after which an episode is truncated.
        observation: `"codes"` or `"features"`.
    """

    catalog: Catalog
    family: str
    tasks: tuple[str, ...]
    players: int
    hands: int
    rooms: int
    receptacles: int
    objects: int
    travel: str
    view: str
    slicing: bool
    told: str
    hidden: tuple[str, ...]
    discussion: int
    conditions: int
    errand_count: int
    max_steps: int
    observation: str


class Actions:
    """The numbers of the actions: `wait` is 0; then go to each receptacle, go to each room, open,
    close, take each object, put what is in each hand into or onto the receptacle here, pack what
    is in each hand into the container in the other, clean, heat and cool what is in each hand,
    use the lamp here, and, where there is `slicing`, slice each object.

    Attributes:
        go, room, open, close, take, put, pack, clean, heat, cool, use, slice: the first number of
            each verb.
        count: how many actions there are.
    """

    WAIT = 0

    def __init__(self, config: Any):
        self.go = 1
        self.room = self.go + config.receptacles
        self.open = self.room + config.rooms
        self.close = self.open + 1
        self.take = self.close + 1
        self.put = self.take + config.objects
        self.pack = self.put + config.hands
        self.clean = self.pack + config.hands
        self.heat = self.clean + config.hands
        self.cool = self.heat + config.hands
        self.use = self.cool + config.hands
        self.slice = self.use + 1
        self.count = self.slice + (config.objects if config.slicing else 0)
