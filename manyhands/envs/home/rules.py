"""The rules of homes, as functions of the configuration, the state and the actions.

Their chores follow ALFWorld (Shridhar et al., "ALFWorld: Aligning Text and Embodied Environments
for Interactive Learning", 2021), tasks for several those of Communicative Watch-And-Help and
ThreeDWorld Multi-Agent Transport (Zhang et al., "Building Cooperative Embodied Agents Modularly
with Large Language Models", 2024), and following Habitat 3.0 (Puig et al., 2023).

All players act at once. Where two want the same, the player comes first whose (index + time) % N
is least; for the other nothing happens. Nothing in a step is random. How homes are made is in
`generator.py`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, indices, repeat
from manyhands.core.env import Array
from manyhands.envs.home.state import (
    CLEAN,
    CLEANABLE,
    CLEANED,
    CLEANS,
    CLOSED,
    COOL,
    COOLABLE,
    COOLED,
    COOLS,
    CUT,
    CUTS,
    HEATABLE,
    HEATED,
    HEATS,
    HOLDS,
    HOT,
    LAMP,
    LIGHTS,
    NONE,
    NOTHING,
    ON,
    OPEN,
    OPENED,
    OPENS,
    PACKABLE,
    PACKED,
    PUT,
    RACED,
    SHUT,
    SLICEABLE,
    SLICED,
    TAKEN,
    TARGETS,
    TOOK,
    USED,
    WENT,
    Actions,
    HomeConfig,
    HomeState,
)

NOWHERE = 254  # equal to no place, and to no `at`
U8, U16, U32, I16 = np.uint8, np.uint16, np.uint32, np.int16


def bits_of(mask: Array, dtype: Any = U32) -> Array:
    """A mask [K, ...] as the bits of one number, [...]: bit k is `mask[k]`."""
    weights = expand(np.left_shift(1, np.arange(mask.shape[0])).astype(dtype), mask.ndim - 1)
    return jnp.sum(jnp.where(mask, weights, dtype(0)), axis=0, dtype=dtype)


def has_bit(bits: Array, number: Array) -> Array:
    """bool: whether bit `number` (u8; False from 32 on) of u32 `bits` is set."""
    return ((bits >> number.astype(U32)) & U32(1)) != 0


def numbered(mask: Array, axis: int = 0) -> Array:
    """u8, the number of the one row of a mask that is True along `axis`; `NONE` where none is."""
    numbers = indices(mask.shape[axis], mask.ndim, axis, U8)
    found = jnp.sum(jnp.where(mask, numbers + U8(1), U8(0)), axis=axis, dtype=U8)
    return found - U8(1)


def at_rows(values: Array, number: Array) -> Array:
    """`values[number]` of values [K, ...] for numbers [N, ...], as [N, ...]; 0 where there is no
    such row."""
    rows = indices(values.shape[0], number.ndim + 1, 1, number.dtype)
    found = number[:, None] == rows
    return jnp.sum(jnp.where(found, values[None], 0), axis=1, dtype=values.dtype)


def hand_codes(config: HomeConfig) -> np.ndarray:
    """u8[N, H], the places that hands are."""
    codes = config.receptacles + np.arange(config.players * config.hands, dtype=U8)
    return codes.reshape(config.players, config.hands).astype(U8)


def inside_code(config: HomeConfig) -> int:
    """The place that the inside of object 0 is."""
    return config.receptacles + config.players * config.hands


def packs(config: HomeConfig) -> bool:
    """Whether things can be packed into containers."""
    return config.family == "transport" and config.hands == 2


def lights(config: HomeConfig) -> bool:
    """Whether there are lamps."""
    return config.family == "chore"


# ---- what is possible ----------------------------------------------------------------------------


class Possible(NamedTuple):
    """What players can do, bool each: go [N, C], room [N, R], open, close [N], take [N, O], put,
    pack, clean, heat, cool [N, H], use [N], slice [N, O]."""

    go: Array
    room: Array
    open: Array
    close: Array
    take: Array
    put: Array
    pack: Array
    clean: Array
    heat: Array
    cool: Array
    use: Array
    slice: Array


class Scene(NamedTuple):
    """What the rules compute of a state before anybody acts.

    Attributes:
        held: u8[N, H], the object in each hand, or `NONE`.
        traits: u8[N, H], its traits.
        packed: u8[N, H], how many objects are in it.
        abilities: u8[N], what the receptacle where a player is can do.
        opened: bool[N], whether a player is at a receptacle, and that is open.
        goal: u32[], bit c: what is brought to receptacle c is delivered (`transport`).
    """

    held: Array
    traits: Array
    packed: Array
    abilities: Array
    opened: Array
    goal: Array


def scene(config: HomeConfig, state: HomeState) -> Scene:
    """What players hold, and where they are."""
    axes = state.time.ndim
    codes = expand(hand_codes(config), axes)
    holds = state.place == codes[:, :, None]  # [N, H, O]
    held = numbered(holds, 2)
    traits = jnp.sum(jnp.where(holds, state.traits, U8(0)), axis=2, dtype=U8)
    packed, goal = jnp.zeros_like(held), jnp.zeros(state.time.shape, U32)
    if packs(config):
        code = held[:, :, None] + U8(inside_code(config))
        inside = (state.place == code) & (held[:, :, None] != NONE)
        packed = jnp.sum(inside, axis=2, dtype=U8)
        wanted = jnp.where(state.goal_kind[0] == TARGETS, state.goal_where[0], U8(NOWHERE))
        goal = bits_of(state.kind == wanted)
    is_open = bits_of(state.open)
    return Scene(
        held, traits, packed, at_rows(state.abilities, state.at), has_bit(is_open, state.at), goal
    )


def possible(config: HomeConfig, state: HomeState, found: Scene | None = None) -> Possible:
    """What each player can do at the start of a step, talk at the start left aside."""
    axes = state.time.ndim
    now = scene(config, state) if found is None else found
    places, rooms = (
        expand(np.arange(count, dtype=U8), axes) for count in (config.receptacles, config.rooms)
    )
    at, room = state.at[:, None], state.player_room[:, None]
    here = state.at != NONE
    here_open = now.opened
    empty = now.held == NONE
    free = jnp.any(empty, axis=1)
    lies = (state.place == jnp.where(here_open, state.at, U8(NOWHERE))[:, None]) & here_open[
        :, None
    ]
    takes = lies & free[:, None] & ((state.traits & LIGHTS) == 0)
    taken = at_rows(state.takes, state.at)
    put = ~empty & here_open[:, None] & has_bit(taken[:, None], now.held)
    pack = jnp.zeros_like(put)
    if packs(config):
        capacity = int(config.catalog.holds.max())
        other, packed = now.traits[:, ::-1], now.packed[:, ::-1]
        pack = ((now.traits & PACKABLE) != 0) & ((other & HOLDS) != 0) & (packed < capacity)
        delivered = has_bit(now.goal, state.at)[:, None] & state.target
        takes = takes & ~delivered

    def changes(ability: int, trait: int) -> Array:
        return ((now.abilities & ability) != 0)[:, None] & ((now.traits & trait) != 0)

    uses = jnp.zeros_like(here)
    if lights(config):
        dark = ((state.traits & LIGHTS) != 0) & ((state.bits & ON) == 0)
        uses = jnp.any(lies & dark, axis=1)
    slices = jnp.zeros((config.players, 0, *state.time.shape), bool)
    if config.slicing:
        whole = ((state.traits & SLICEABLE) != 0) & ((state.bits & SLICED) == 0)
        slices = lies & whole & jnp.any((now.traits & CUTS) != 0, axis=1)[:, None]
    opens = here & ((now.abilities & OPENS) != 0)
    return Possible(
        go=(state.kind != NONE) & (at != places),
        room=(state.room_kind != NONE) & ((room != rooms) | here[:, None]),
        open=opens & ~here_open,
        close=opens & here_open,
        take=takes,
        put=put,
        pack=pack,
        clean=changes(CLEANS, CLEANABLE),
        heat=changes(HEATS, HEATABLE),
        cool=changes(COOLS, COOLABLE),
        use=uses,
        slice=slices,
    )


def legal(config: HomeConfig, state: HomeState) -> Array:
    """bool[N, A]: waiting always, the others where `possible` has them; an instructor, and all
    while they talk at the start, can only wait."""
    can = possible(config, state)
    single = {"open", "close", "use"}
    parts = [part[:, None] if name in single else part for name, part in can._asdict().items()]
    if config.discussion:
        parts = [part & (state.time >= config.discussion) for part in parts]
    waits = jnp.ones((config.players, 1, *state.time.shape), bool)
    mask = jnp.concatenate([waits, *parts], axis=1)
    if config.told == "instructor":
        only = indices(mask.shape[1], mask.ndim, 1) == 0
        mask = jnp.concatenate([mask, jnp.broadcast_to(only, (1, *mask.shape[1:]))])
    return mask


def acting(config: HomeConfig, state: HomeState) -> Array:
    """bool[N]: all, always."""
    agents = config.players + (config.told == "instructor")
    return jnp.ones((agents, *state.time.shape), bool)


# ---- a step --------------------------------------------------------------------------------------


class _Deeds(NamedTuple):
    """What players do, of what is legal: bool[N] each but `takes`, `slices` (bool[N, O]);
    `hand`, bool[N, H], the hand that they do it with; `dest`, u8[N], the receptacle that they go
    to, and `dest_room`, the room (`NONE`: to none)."""

    opens: Array
    closes: Array
    takes: Array
    puts: Array
    packs: Array
    cleans: Array
    heats: Array
    cools: Array
    uses: Array
    slices: Array
    hand: Array
    dest: Array
    dest_room: Array


def _chosen(config: HomeConfig, can: Possible, actions: Array) -> tuple[_Deeds, Array]:
    """What players do, and bool[N], whether their actions are legal."""
    numbers = Actions(config)
    known = (actions >= 0) & (actions < numbers.count)
    code = jnp.where(known, actions, NONE).astype(U8)  # there are fewer than 255 actions

    def several(first: int, mask: Array) -> Array:
        wanted = code[:, None] - U8(first) == indices(mask.shape[1], mask.ndim, 1, U8)
        return mask & wanted

    go, room = several(numbers.go, can.go), several(numbers.room, can.room)
    hands = {
        name: several(getattr(numbers, name), getattr(can, name))
        for name in ("put", "pack", "clean", "heat", "cool")
    }
    did = {name: jnp.any(mask, axis=1) for name, mask in hands.items()}
    hand = hands["put"] | hands["pack"] | hands["clean"] | hands["heat"] | hands["cool"]
    takes, slices = several(numbers.take, can.take), several(numbers.slice, can.slice)
    opens, closes = can.open & (code == numbers.open), can.close & (code == numbers.close)
    uses = can.use & (code == numbers.use)
    dest, dest_room = numbered(go, 1), numbered(room, 1)
    legal_ = (code == Actions.WAIT) | (dest != NONE) | (dest_room != NONE)
    legal_ = legal_ | opens | closes | uses | jnp.any(takes, axis=1) | jnp.any(hand, axis=1)
    if config.slicing:
        legal_ = legal_ | jnp.any(slices, axis=1)
    deeds = _Deeds(
        opens=opens,
        closes=closes,
        takes=takes,
        puts=did["put"],
        packs=did["pack"],
        cleans=did["clean"],
        heats=did["heat"],
        cools=did["cool"],
        uses=uses,
        slices=slices,
        hand=hand,
        dest=dest,
        dest_room=dest_room,
    )
    return deeds, legal_


def _races(config: HomeConfig, state: HomeState, deeds: _Deeds, thing: Array) -> Array:
    """bool[N]: whose deed a player before has made impossible. `thing` is u8[N], the object that
    each takes or slices."""
    count = config.players
    if count == 1:
        return jnp.zeros((1, *state.time.shape), bool)
    order = (expand(np.arange(count, dtype=I16), state.time.ndim) + state.time) % count
    before = order[:, None] < order[None]  # [m, n]: m acts before n
    same = before & (state.at[:, None] == state.at[None])
    takes = jnp.any(deeds.takes, axis=1)
    inner = deeds.closes | takes | deeds.puts
    lost = (same & deeds.opens[:, None] & deeds.opens[None]) | (
        same & deeds.uses[:, None] & deeds.uses[None]
    )
    if config.slicing:
        inner = inner | jnp.any(deeds.slices, axis=1)
    lost = lost | (same & deeds.closes[:, None] & inner[None])
    reach = (thing != NONE) & before & (thing[:, None] == thing[None])
    gone = takes[:, None]
    if config.slicing:
        slices = jnp.any(deeds.slices, axis=1)
        gone = gone | (slices[:, None] & slices[None])
    return jnp.any(lost | (reach & gone), axis=0)


def step(config: HomeConfig, state: HomeState, actions: Array) -> tuple[HomeState, dict[str, Any]]:
    """One step: the new state, and the arguments of `Env.outcome`.

    Args:
        actions: whole numbers [agents, ...]. Illegal ones wait.
    """
    waits = actions[config.players :] == Actions.WAIT  # an instructor
    now = scene(config, state)
    can = possible(config, state, now)
    if config.discussion:
        can = Possible(*(part & (state.time >= config.discussion) for part in can))
    deeds, fits = _chosen(config, can, actions[: config.players])
    before = state
    state, raced, progress = _act(config, state, now, deeds)
    state = dataclasses.replace(state, time=state.time + I16(1))
    state = know(config, state)
    return _results(config, before, state, fits, waits, raced, progress)


def _act(
    config: HomeConfig, state: HomeState, now: Scene, deeds: _Deeds
) -> tuple[HomeState, Array, Array]:
    """The state after everybody acted. Also bool[N], whose deed a player before prevented, and
    bool[N], who took or changed for the first time what a condition asks for."""
    axes = state.time.ndim
    codes = expand(hand_codes(config), axes)
    taken, sliced = numbered(deeds.takes, 1), numbered(deeds.slices, 1)
    thing = jnp.where(taken != NONE, taken, sliced) if config.slicing else taken
    raced = _races(config, state, deeds, thing)
    fine = ~raced

    # Where players go.
    at, room = _go(config, state, deeds)
    went = (deeds.dest != NONE) | (deeds.dest_room != NONE)

    # Objects: taken, put, packed.
    takes = deeds.takes & fine[:, None]
    free = jnp.where(now.held[:, 0] == NONE, codes[:, 0], codes[:, -1])
    held = jnp.sum(jnp.where(deeds.hand, now.held, U8(0)), axis=1, dtype=U8)
    code = jnp.sum(jnp.where(deeds.hand, codes, U8(0)), axis=1, dtype=U8)
    code = jnp.where(jnp.any(deeds.hand, axis=1), code, U8(NOWHERE))
    mine = state.place == code[:, None]  # [N, O], what is handled
    puts = deeds.puts & fine
    place = state.place
    for n in range(config.players):
        place = jnp.where(takes[n], free[n], place)
        place = jnp.where(mine[n] & puts[n], state.at[n], place)
    container = jnp.full_like(held, NONE)
    if packs(config):
        container = jnp.sum(jnp.where(deeds.hand, now.held[:, ::-1], U8(0)), axis=1, dtype=U8)
        handled = jnp.sum(jnp.where(deeds.hand, now.traits, U8(0)), axis=1, dtype=U8)
        empties = puts & ((handled & HOLDS) != 0) & has_bit(now.goal, state.at)
        base = U8(inside_code(config))
        for n in range(config.players):
            place = jnp.where(mine[n] & deeds.packs[n], base + container[n], place)
            inside = (state.place == base + held[n]) & empties[n]
            place = jnp.where(inside, state.at[n], place)
            place = jnp.where(mine[n] & empties[n], U8(NONE), place)

    # What is changed.
    bits = state.bits
    lamps = (state.traits & LIGHTS) != 0
    switches = deeds.uses & fine
    for n in range(config.players):
        gain = jnp.where(deeds.cleans[n], U8(CLEAN), U8(0))
        gain = jnp.where(deeds.heats[n], U8(HOT), gain)
        gain = jnp.where(deeds.cools[n], U8(COOL), gain)
        lose = jnp.where(deeds.heats[n], U8(COOL), U8(0))
        lose = jnp.where(deeds.cools[n], U8(HOT), lose)
        bits = jnp.where(mine[n], (bits | gain) & ~lose, bits)
        if lights(config):
            lit = lamps & switches[n] & (state.place == state.at[n])
            bits = bits | jnp.where(lit, U8(ON), U8(0))
        if config.slicing:
            bits = bits | jnp.where(deeds.slices[n] & fine[n], U8(SLICED), U8(0))
    opens, closes = deeds.opens & fine, deeds.closes & fine
    places = expand(np.arange(config.receptacles, dtype=U8), axes)
    is_open = state.open
    for n in range(config.players):
        is_open = jnp.where((state.at[n] == places) & (opens | closes)[n], opens[n], is_open)

    # What was achieved for the first time.
    anew = (bits & ~state.once).astype(U8)
    grabbed = jnp.any(takes, axis=0) & ((state.once & TAKEN) == 0)
    wanted = jnp.zeros_like(state.bits)  # TAKEN and the bits, of kinds that are asked for
    for k in range(config.conditions):
        asked = state.goal_kind[k] == state.object_kind
        if config.family == "transport":
            asked = asked | ((state.goal_kind[k] == TARGETS) & state.target)
        wanted = wanted | jnp.where(asked, state.goal_bits[k] | U8(TAKEN), U8(0))
    if "look" in config.tasks:
        asked = jnp.any(state.goal_where == LAMP, axis=0) & lamps
        wanted = wanted | jnp.where(asked, U8(ON), U8(0))
    steps = (anew | jnp.where(grabbed, U8(TAKEN), U8(0))) & wanted
    touched = takes | (mine & jnp.any(deeds.hand, axis=1)[:, None])
    if "look" in config.tasks:
        touched = touched | (switches[:, None] & lamps & (state.place == state.at[:, None]))
    if config.slicing:
        touched = touched | (deeds.slices & fine[:, None])
    progress = jnp.any(touched & (steps != 0), axis=1)

    lamp = jnp.full_like(taken, NONE)
    if lights(config):
        lamp = numbered((state.place == state.at[:, None]) & lamps & deeds.uses[:, None], 1)
    what = jnp.full(raced.shape, NOTHING, U8)
    about, where = jnp.full_like(what, NONE), state.at
    for flag, deed, object_ in (
        (deeds.opens, OPENED, None),
        (deeds.closes, CLOSED, None),
        (taken != NONE, TOOK, taken),
        (deeds.puts, PUT, held),
        (deeds.packs, PACKED, held),
        (deeds.cleans, CLEANED, held),
        (deeds.heats, HEATED, held),
        (deeds.cools, COOLED, held),
        (deeds.uses, USED, lamp),
        (sliced != NONE, CUT, sliced),
        (went, WENT, room),
    ):
        what = jnp.where(flag, U8(deed), what)
        if object_ is not None:
            about = jnp.where(flag, object_, about)
    where = jnp.where(deeds.packs, container, where)
    where = jnp.where(went, at, where)
    where = jnp.where(what == NOTHING, U8(NONE), where)
    what = jnp.where(raced, U8(RACED), what)
    once = state.once | bits | jnp.where(jnp.any(takes, axis=0), U8(TAKEN), U8(0))
    state = dataclasses.replace(
        state,
        open=is_open,
        place=place,
        bits=bits,
        once=once,
        player_room=room,
        at=at,
        recent=jnp.stack([what, about, where], axis=1),
    )
    return state, raced, progress


def _go(config: HomeConfig, state: HomeState, deeds: _Deeds) -> tuple[Array, Array]:
    """(at, room), u8[N] each, after everybody went."""
    to_place, to_room = deeds.dest != NONE, deeds.dest_room != NONE
    goal = jnp.where(to_place, at_rows(state.room, deeds.dest), deeds.dest_room)
    if config.travel == "instant" or config.rooms == 1:
        at = jnp.where(to_place, deeds.dest, jnp.where(to_room, U8(NONE), state.at))
        return at, jnp.where(to_place | to_room, goal, state.player_room)
    rooms = expand(np.arange(config.rooms, dtype=U8), state.time.ndim)
    arrived = goal == state.player_room
    own = state.player_room[:, None] == rooms  # [N, R]
    # Steps from the own room to each, and from each room to the goal, [N, R].
    near = jnp.sum(jnp.where(own[:, :, None], state.steps[None], U8(0)), axis=1, dtype=U8)
    left = jnp.sum(
        jnp.where((goal[:, None] == rooms)[:, None], state.steps[None], U8(0)), axis=2, dtype=U8
    )
    total = jnp.sum(jnp.where(own, left, U8(0)), axis=1, dtype=U8)
    nearer = (near == 1) & (left + U8(1) == total[:, None])
    # The first such room.
    through = jnp.min(jnp.where(nearer, rooms, U8(NONE)), axis=1)
    goes = to_place | to_room
    room = jnp.where(goes & ~arrived, through, state.player_room)
    at = jnp.where(goes, jnp.where(to_place & arrived, deeds.dest, U8(NONE)), state.at)
    return at, room


# ---- what players know ---------------------------------------------------------------------------


def know(config: HomeConfig, state: HomeState) -> HomeState:
    """The state after every player has looked around."""
    axes, count, hands = state.time.ndim, config.players, config.hands
    first, time = config.receptacles, state.time
    places = expand(np.arange(first, dtype=U8), axes)
    at, room = state.at, state.player_room
    known = state.known_place

    # Who sees whom, [N, N], and so what they hold.
    if count > 1 and config.view != "all":
        meets = room[:, None] == room[None]
    else:
        meets = jnp.ones((count, count, *time.shape), bool)
    if count == 1:
        held = state.place - U8(first) < U8(hands)
        seen = held[None]
        expected = known - U8(first) < U8(hands)
    else:
        each = bits_of(jnp.repeat(jnp.moveaxis(meets, 1, 0), hands, axis=0))  # u32[N]
        seen = has_bit(each[:, None], state.place[None] - U8(first))
        expected = has_bit(each[:, None], known - U8(first))

    # What is in or on receptacles.
    if config.view == "receptacle":
        opened = has_bit(bits_of(state.open), at)
        here = jnp.where(opened, at, U8(NOWHERE))[:, None]
        looks = here == places
        seen = seen | (state.place == here)
        expected = expected | (known == here)
        near = at[:, None] == places
    elif config.view == "room":
        near = (state.room == room[:, None]) & (state.kind != NONE)
        looks = near & state.open
    else:
        near = jnp.broadcast_to(state.kind != NONE, (count, *state.kind.shape))
        looks = near & state.open
    if config.view != "receptacle":
        view = bits_of(jnp.moveaxis(looks, 1, 0))[:, None]
        seen = seen | has_bit(view, state.place[None])
        expected = expected | has_bit(view, known)
    if packs(config):
        base = U8(inside_code(config))
        containers = bits_of(jnp.moveaxis(seen, 1, 0))[:, None]
        expected = expected | has_bit(containers, known - base)
        seen = seen | has_bit(containers, state.place[None] - base)

    gone = U8(NONE)
    known = jnp.where(seen, state.place[None], jnp.where(expected, gone, known))
    changed: dict[str, Any] = {
        "known_place": known,
        "known_bits": jnp.where(seen, state.bits[None], state.known_bits),
        "seen": jnp.where(seen, time, state.seen),
        "known_open": jnp.where(
            near, jnp.where(state.open, U8(OPEN), U8(SHUT))[None], state.known_open
        ),
        "looked": jnp.where(looks, time, state.looked),
    }
    if count > 1:
        changed |= {
            "met_room": jnp.where(meets, room[None], state.met_room),
            "met_at": jnp.where(meets, at[None], state.met_at),
            "met": jnp.where(meets, time, state.met),
        }
    else:
        changed |= {
            "met_room": room[None],
            "met_at": at[None],
            "met": jnp.broadcast_to(time, state.met.shape),
        }
    return dataclasses.replace(state, **changed)


# ---- what it is worth ----------------------------------------------------------------------------


def met(config: HomeConfig, state: HomeState) -> Array:
    """u8[K], how many objects each condition has that it asks for, at most as many as it asks."""
    first = config.receptacles
    found = []
    lit = None
    if "look" in config.tasks:
        on = ((state.bits & ON) != 0) & (state.place < first)
        weights = jnp.where(on, U32(1) << state.place.astype(U32), U32(0))
        # Each receptacle has one lamp at most.
        glows = has_bit(jnp.sum(weights, axis=0, dtype=U32), state.at)  # [N]
        lit = bits_of(jnp.repeat(glows, config.hands, axis=0))
    for k in range(config.conditions):
        kind, asked, where = state.goal_kind[k], state.goal_bits[k], state.goal_where[k]
        fits = (state.object_kind == kind) & (kind != NONE)
        if config.family == "transport":
            fits = fits | ((kind == TARGETS) & state.target)
        there = has_bit(bits_of(state.kind == where), state.place)
        if lit is not None:
            there = there | ((where == LAMP) & has_bit(lit, state.place - U8(first)))
        fits = fits & there & ((state.bits & asked) == asked)
        number = jnp.sum(fits, axis=0, dtype=U8)
        found.append(jnp.minimum(number, state.goal_count[k]))
    return jnp.stack(found)


def _results(
    config: HomeConfig,
    before: HomeState,
    state: HomeState,
    fits: Array,
    waits: Array,
    raced: Array,
    progress: Array,
) -> tuple[HomeState, dict[str, Any]]:
    agents = config.players + waits.shape[0]
    f32 = jnp.float32

    def shared(value: Array) -> Array:
        return repeat(value.astype(f32), agents)

    def own(values: Array) -> Array:
        rest = jnp.zeros((waits.shape[0], *values.shape[1:]), f32)
        return jnp.concatenate([values.astype(f32), rest])

    number = met(config, state)
    best = jnp.maximum(state.best, number)
    gained = jnp.sum(best - state.best, axis=0, dtype=U8)
    asked = jnp.sum(state.goal_count, axis=0, dtype=U8)
    total = jnp.sum(number, axis=0, dtype=U8)
    success = total == asked
    terms = {"subgoal": shared(gained), "progress": own(progress), "step": shared(gained >= 0)}
    illegal = jnp.sum(~fits, axis=0, dtype=U8) + jnp.sum(~waits, axis=0, dtype=U8)
    metrics = {
        "illegal": illegal,
        "raced": jnp.sum(raced, axis=0, dtype=U8),
        "grounded": jnp.sum(fits & ~raced, axis=0, dtype=U8),
        "met": total,
    }
    changed: dict[str, Array] = {"best": best}
    if config.family == "follow":
        visited, follows = _followed(config, state)
        errands = state.errands + visited.astype(U8)
        changed["errands"] = errands
        success = errands == config.errand_count
        leads = indices(config.players, state.at.ndim, 0, U8) == 0
        terms |= {"follow": own(follows), "errand": own(leads & visited)}
        metrics |= {"in_sight": jnp.sum(follows, axis=0, dtype=U8), "errands": errands}
        total, asked = errands, jnp.full_like(errands, config.errand_count)
    if config.family == "transport":
        metrics["delivered"] = gained
    metrics["success"] = success
    terms["success"] = shared(success)
    numbers = {name: value.astype(f32) for name, value in metrics.items()}
    numbers["grounded"] = numbers["grounded"] / np.float32(config.players)
    numbers["met"] = total.astype(f32) / jnp.maximum(asked.astype(f32), 1)
    late = (state.time >= config.max_steps) & ~success
    return dataclasses.replace(state, **changed), {
        "terms": terms,
        "terminated": repeat(success, agents),
        "truncated": repeat(late, agents),
        "metrics": numbers,
    }


def _followed(config: HomeConfig, state: HomeState) -> tuple[Array, Array]:
    """bool[], whether the leader has come to its next errand; bool[N], which others see it without
    being at the same receptacle."""
    turn = expand(np.arange(config.errand_count, dtype=U8), state.time.ndim) == state.errands
    goal = jnp.sum(jnp.where(turn, state.errand, U8(0)), axis=0, dtype=U8)
    visited = jnp.any(turn, axis=0) & (state.at[0] == goal)
    apart = (state.at != state.at[0]) | (state.at[0] == NONE)
    follows = (state.player_room == state.player_room[0]) & apart
    others = indices(config.players, state.at.ndim, 0, U8) > 0
    return visited, follows & others
