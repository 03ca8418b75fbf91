"""What chefs and networks are given of a kitchen: observations, perception and the summary.

Functions of the configuration and the state, with any number of trailing batch axes (none, or one).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, stack
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen import featurize, relabel, routes
from manyhands.envs.kitchen.levels import (
    BUTTON,
    COUNTER,
    DISHES,
    DISPENSERS,
    FLOOR,
    INDICATOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    VOID,
)
from manyhands.envs.kitchen.state import (
    DISH,
    NOTHING,
    ONION,
    SOUP,
    TOMATO,
    URGENT,
    WRITTEN_OUT,
    Bits,
    KitchenConfig,
    KitchenState,
    cell_numbers,
)

SIDES = ("north", "south", "east", "west")
NEAREST = (
    "onion dispenser",
    "tomato dispenser",
    "dish dispenser",
    "serving window",
    "empty counter",
    "onion on a counter",
    "tomato on a counter",
    "dish on a counter",
    "soup on a counter",
)


def layout(config: KitchenConfig) -> Layout | None:
    """The pieces of the configured observation; None for "compact", which is a map of codes."""
    others = config.chefs - 1
    if config.observation == "compact":
        return None
    if config.observation == "featurized":
        return featurize.layout(config.chefs, max(config.height, config.width))
    if config.observation == "routes":
        return routes.layout(config.chefs, routes.most(config))
    if config.observation == "grid" and config.asked:
        return _asked_layout(config)
    if config.observation == "grid":
        grid: list[tuple[str, Any, str]] = [
            ("own_position", 1, "1 at the own cell"),
            ("positions", others, "1 at the cell of each other chef"),
            ("own_facing", 4, "1 at the own cell, if it faces north, south, east, west"),
            ("facings", (others, 4), "the same of each other chef, at its cell"),
            ("terrain", 6, "pots, counters, onion, tomato, dish dispensers, serving windows"),
            ("idle_pot", 2, "onions, tomatoes in a pot that does not cook yet (counts)"),
            ("soup", 2, "onions, tomatoes in a soup that cooks, is ready, lies or is carried"),
            ("steps_left", 1, "of a cooking pot"),
            ("soup_done", 1, "a soup that is done, in a pot or outside one"),
            ("objects", 3, "dishes, onions, tomatoes that lie or are held"),
            ("urgent", 1, f"1 everywhere while fewer than {URGENT} steps are left"),
        ]
        over = (config.height, config.width)
        return Layout([Piece(name, n, 0, 255, text) for name, n, text in grid], np.uint8, over)
    low, high = -max(config.height, config.width), max(config.max_steps, 255)
    pieces: list[tuple[str, Any, str, Sequence[str]]] = [
        ("own_facing", 4, "facing north, south, east, west", SIDES),
        ("holding", 4, "an onion, a tomato, a dish, a soup", ("onion", "tomato", "dish", "soup")),
        ("soup_held", 2, "onions, tomatoes in the soup held", ("onions", "tomatoes")),
        ("own_cell", 2, "column and row", ("column", "row")),
        ("blocked", 4, "no floor, or another chef, to the north, south, east, west", SIDES),
        (
            "others",
            (others, 13),
            "of each other chef: in view; facing (4); holding (4); its soup (2); dx, dy",
            (),
        ),
        (
            "nearest",
            (9, 3),
            f"there is one, dx, dy of the nearest {', '.join(NEAREST)}",
            labelled(NEAREST, ("there", "dx", "dy")),
        ),
        (
            "pots",
            (config.max_pots, 9),
            "of each pot in view, in reading order: there is one, dx, dy, empty, cooking, ready, "
            "onions, tomatoes, steps left",
            (),
        ),
        ("steps_left", 1, "in the episode", ()),
        ("soups", 1, "served", ()),
    ]
    return Layout([Piece(n, k, low, high, text, of) for n, k, text, of in pieces], np.float32)


def _asked_layout(config: KitchenConfig) -> Layout:
    """The grid where one recipe is asked for at a time: OvercookedV2's channels, in their order."""
    kinds = config.kinds
    things = f"plated, cooked, {', '.join(ask.PLURALS[:kinds])}"
    grid: list[tuple[str, Any, str]] = []
    for who, whom in (("own", "the chef itself"), ("other", "the others, summed up")):
        grid += [
            (f"{who}_position", 1, f"1 at the cell of {whom}"),
            (f"{who}_facing", 4, "1 there, if facing north, south, east, west"),
            (f"{who}_hand", kinds + 2, f"there, what is held: {things}"),
        ]
    grid += [
        ("terrain", 6, "counters, serving windows, pots, indicators, buttons, dish dispensers"),
        ("dispensers", kinds, f"of {', '.join(ask.PLURALS[:kinds])}"),
        ("objects", kinds + 2, f"lying or in a pot: {things}"),
        ("recipe", kinds + 2, f"shown by indicators and by pressed buttons: {things}"),
        ("steps_left", 1, "of a cooking pot"),
    ]
    if config.show_delivery:
        grid.append(("delivered", 1, "at serving windows: what was asked for was just served"))
    over = (config.height, config.width)
    return Layout([Piece(name, n, 0, 255, text) for name, n, text in grid], np.uint8, over)


def space(config: KitchenConfig) -> gymnasium.Space:
    """The space of one chef's observation."""
    if config.observation == "compact":
        top = 2 ** (28 if config.asked else 22) - 1
        return gymnasium.spaces.Box(0, top, (config.height, config.width), np.int32)
    found = layout(config)
    assert found is not None
    return found.space()


def perceive(config: KitchenConfig, state: KitchenState) -> Array:
    """The compact observation, i32[chefs, height, width], whichever is configured."""
    if state.time.ndim or config.chefs <= WRITTEN_OUT:
        rows = [_codes(config, state, i, config.view_radius) for i in range(config.chefs)]
        return _as_map(config, jnp.stack(rows), 1)
    return _as_map(config, _all_codes(config, state), 1)


def network_input(config: KitchenConfig, row: Array) -> Array:
    """What varies in this kitchen, as zeros and ones, from one compact observation: f32[K].

    Per chef, oneself first: facing (4), object held (onion, tomato, dish, soup), position
    among the cells that are floor in any layout, oneself by facing too (4 for each cell). Then
    for each cell that is a counter in any layout the object on it; for each pot cell: one, two,
    three onions in it, the same of tomatoes, cooking, ready, a twentieth of the steps left; the
    terrain of the cells in which layouts differ; urgent. What can never be is left out: the
    tomatoes of a kitchen without them.
    """
    codes = row.reshape(-1)
    terrain, chef, facing, thing, timer = fields(codes, config.bits)
    known = [code for code in range(BUTTON + 1) if code != VOID] if config.asked else range(VOID)
    terrains = relabel.terrains(config)
    ever = {code: np.flatnonzero((terrains == code).any(0)) for code in known}
    floor, counters, pots = ever[FLOOR], ever[COUNTER], ever[POT]
    tomatoes = bool(len(ever[TOMATOES]))
    shifts = ask.SHIFTS[: config.kinds]

    def numbers(values: Array) -> list[Array]:
        return [((values >> shift) & 3) == k for shift in shifts for k in (1, 2, 3)]

    def objects(values: Array) -> list[Array]:
        if config.asked:
            soup = values >= SOUP
            raw = [values == code for code in ask.INGREDIENTS[: config.kinds]]
            return [*raw, values == DISH, *(soup & part for part in numbers(values))]
        kinds = [values == ONION, values == DISH, values >= SOUP]
        if tomatoes:  # soups differ then, too
            soup = values >= SOUP
            kinds += [values == TOMATO]
            kinds += [soup & (((values >> bits) & 3) == k) for bits in (0, 2) for k in (1, 2, 3)]
        return kinds

    parts = []
    for k in range(1, config.chefs + 1):
        here = chef == k
        turned = [jnp.any(here & (facing == f)) for f in range(4)]
        held = jnp.sum(jnp.where(here, thing, 0))
        parts += [jnp.stack([*turned, *objects(held)]), here[floor]]
        if k == 1:  # what a chef can do follows from where it stands and faces
            parts += [here[floor] & side for side in turned]
    parts += objects(thing[counters])
    inside, clock = thing[pots], timer[pots]
    if config.asked:
        parts += numbers(inside)
        # A recipe that several cells show is the same one.
        shown = thing[np.union1d(ever[INDICATOR], ever[BUTTON])].max(initial=0)
        parts += [part[None] for part in numbers(shown)]
        parts += [timer[ever[BUTTON]] / config.button_steps]
        parts += [(codes >> config.bits.delivered).max()[None]]
    else:
        for bits in (2, 0) if tomatoes else (2,):
            parts += [((inside >> bits) & 3) == k for k in (1, 2, 3)]
    parts += [clock > 1, clock == 1, jnp.where(clock > 1, clock - 1, 0) / 20]
    differ = np.flatnonzero((terrains != terrains[:1]).any(0))
    if len(differ):
        parts += [terrain[differ] == code for code in known]
    parts += [codes[:1] >> config.bits.urgent & 1]
    return jnp.concatenate([part.astype(jnp.float32) for part in parts])


def observe(config: KitchenConfig, state: KitchenState) -> Array:
    """The configured observation of every chef, [chefs, *space.shape]; see `Kitchen`."""
    if config.observation == "compact":
        return perceive(config, state)
    if config.observation == "featurized":
        return featurize.observe(config, state)
    if config.observation == "routes":
        return routes.observe(config, perceive(config, state))
    if config.observation == "grid" and config.asked:
        return _as_map(config, _asked_grid(config, state), 2)
    if config.observation == "grid":
        if not state.time.ndim and config.chefs > WRITTEN_OUT:
            return jax.lax.map(functools.partial(_unpacked, config), perceive(config, state))
        planes = []
        for i in range(config.chefs):
            planes += _planes(config, state, i, config.view_radius)
        # Each plane is computed by itself, in one pass over the batch, and then copied: fused
        # into the copy, the compiler would choose among all planes for every single byte.
        grid = jnp.stack(jax.lax.optimization_barrier(planes))
        grid = grid.reshape(config.chefs, -1, *grid.shape[1:])
        return _as_map(config, grid, 2)
    left = (config.max_steps - state.time).astype(jnp.float32)
    return features(perceive(config, state), left, state.soups, config.chefs, config.max_pots)


def summary(config: KitchenConfig, state: KitchenState) -> Array:
    """The whole kitchen, u8[5 * chefs + 17, height, width]: the grid as chef 0 would see it
    with no limit of view (so chefs stand in index order), and a plane of the time left in
    255ths of the episode. Where one recipe is asked for at a time it is in planes of its own before
    that, one for each kind, and those of chefs but the first follow one by one."""
    planes = _asked_summary(config, state) if config.asked else _planes(config, state, 0, None)
    left = (config.max_steps - state.time.astype(jnp.int32)) * 255 // config.max_steps
    planes.append(jnp.broadcast_to(left.astype(jnp.uint8)[None], planes[0].shape))
    return _as_map(config, jnp.stack(jax.lax.optimization_barrier(planes)), 1)


def _asked_summary(config: KitchenConfig, state: KitchenState) -> list[Array]:
    assert state.asked is not None
    bodies, rest = _asked_planes(config, state)
    at = [cell_numbers(state) == cell[None] for cell in state.position]
    own = [jnp.where(here, plane, 0) for here in at for plane in bodies]
    others = [jnp.where(at[0], 0, plane) for plane in bodies]
    planes = [*own[: len(bodies)], *others, *rest, *own[len(bodies) :]]
    for shift in ask.SHIFTS[: config.kinds]:
        wanted = (state.asked.recipe >> shift & 3).astype(jnp.uint8)
        planes.append(jnp.broadcast_to(wanted[None], planes[0].shape))
    return planes


def _unpacked(config: KitchenConfig, codes: Array) -> Array:
    """One chef's grid. Without the barrier the compiler would compute the codes for each plane."""
    return unpack(jax.lax.optimization_barrier(codes), config.chefs)


def _all_codes(config: KitchenConfig, state: KitchenState) -> Array:
    """The compact observations of all chefs in a single kitchen, i32[chefs, cells], in a few
    operations whatever the number of chefs; `_codes` is faster in a batch."""
    numbers = np.arange(config.chefs)
    # Oneself is 1, then the others in index order: [agent, chef].
    order = np.where(numbers < numbers[:, None], numbers + 2, numbers + 1)
    order = np.where(numbers == numbers[:, None], 1, order)
    bits = config.bits
    ground = _ground(config, state)
    own = state.facing.astype(jnp.int32) << bits.facing
    own = own | (state.held.astype(jnp.int32) << bits.thing)
    cells = cell_numbers(state)
    here = cells == state.position[:, None]  # [chefs, cells]
    # No two chefs share a cell, so that a sum of their codes is one of them.
    chef = (order << bits.chef)[:, :, None] | own[None, :, None]
    code = ground | jnp.sum(jnp.where(here, chef, 0), axis=1, dtype=jnp.int32)
    if config.view_radius is not None:
        code = jnp.where(in_view(config, state, config.view_radius), code, VOID)
    urgent = (config.max_steps - state.time < URGENT).astype(jnp.int32) << bits.urgent
    return code | urgent


def _ground(config: KitchenConfig, state: KitchenState) -> Array:
    """What the compact observation tells of cells without chefs, i32[cells, ...]."""
    bits = config.bits
    lying = things_in_sight(state).astype(jnp.int32) << bits.thing
    timer = state.timer.astype(jnp.int32) << bits.timer
    code = state.terrain.astype(jnp.int32) | lying | timer
    if config.show_delivery:
        assert state.asked is not None
        news = (state.terrain == SERVING) & state.asked.delivered[None]
        code = code | (news.astype(jnp.int32) << bits.delivered)
    return code


def things_in_sight(state: KitchenState) -> Array:
    """Objects, and the recipe where it is shown, [cells, ...]."""
    if state.asked is None:
        return state.objects
    shows = (state.terrain == INDICATOR) | ((state.terrain == BUTTON) & (state.timer > 0))
    return jnp.where(shows, state.asked.recipe[None], state.objects)


def _codes(config: KitchenConfig, state: KitchenState, agent: int, radius: int | None) -> Array:
    """The compact observation of one chef, i32[cells, ...]."""
    cells, bits = cell_numbers(state), config.bits
    code = _ground(config, state)
    for order, i in enumerate(egocentric(config, agent), start=1):
        facing = state.facing[i].astype(jnp.int32) << bits.facing
        chef = (order << bits.chef) | facing | (state.held[i].astype(jnp.int32) << bits.thing)
        code = code | jnp.where(cells == state.position[i][None], chef[None], 0)
    if radius is not None:
        code = jnp.where(in_view(config, state, radius, agent), code, VOID)
    urgent = (config.max_steps - state.time < URGENT).astype(jnp.int32) << bits.urgent
    return code | urgent[None]


def _planes(
    config: KitchenConfig, state: KitchenState, agent: int, radius: int | None
) -> list[Array]:
    """The grid observation of one chef, 5 * chefs + 16 planes u8[cells, ...]."""
    cells = cell_numbers(state)
    terrain, objects, timer = state.terrain, state.objects, state.timer
    if radius is not None:
        seen = in_view(config, state, radius, agent)
        terrain = jnp.where(seen, terrain, VOID)
        objects = jnp.where(seen, objects, NOTHING)
        timer = jnp.where(seen, timer, 0)
    order = egocentric(config, agent)
    here = [cells == state.position[i][None] for i in order]
    if radius is not None:
        here = [mask & seen for mask in here]
    carried = objects
    for mask, i in zip(here, order, strict=True):
        carried = jnp.where(mask, state.held[i][None], carried)
    is_pot = terrain == POT
    idle = is_pot & (timer == 0)
    soup = (carried >= SOUP) & ~idle
    # What is neither a soup nor in a pot: pots hold contents with the SOUP bit, or nothing.
    urgent = config.max_steps - state.time < URGENT
    planes = list(here)
    for mask, i in zip(here, order, strict=True):
        planes += [mask & (state.facing[i] == f)[None] for f in range(4)]
    planes += [
        is_pot,
        *(terrain == code for code in (COUNTER, ONIONS, TOMATOES, DISHES, SERVING)),
        jnp.where(idle, (objects >> 2) & 3, 0),
        jnp.where(idle, objects & 3, 0),
        jnp.where(soup, (carried >> 2) & 3, 0),
        jnp.where(soup, carried & 3, 0),
        jnp.where(timer > 1, timer - 1, 0),
        soup & (timer < 2),
        carried == DISH,
        carried == ONION,
        carried == TOMATO,
        jnp.broadcast_to(urgent[None], terrain.shape),
    ]
    return _bytes(planes)


def _bytes(planes: list[Array]) -> list[Array]:
    return [plane.astype(jnp.uint8) for plane in planes]


def _asked_grid(config: KitchenConfig, state: KitchenState) -> Array:
    """The grids of all chefs where one recipe is asked for at a time, u8[chefs, P, cells, ...]:
    planes of the whole kitchen, of which each chef gets what it sees."""
    bodies, rest = _asked_planes(config, state)
    own = cell_numbers(state) == state.position[:, None]  # [chefs, cells, ...]
    seen = jnp.ones_like(own)
    if config.view_radius is not None:
        seen = in_view(config, state, config.view_radius)
    barrier = jax.lax.optimization_barrier
    pieces: list[Array] = []
    for mask, planes in ((own, bodies), (seen & ~own, bodies), (seen, rest)):
        if state.time.ndim:
            whole = barrier(jnp.stack(barrier(planes)))
            pieces.append(jnp.where(mask[:, None], whole[None], 0))
        else:  # no array of three axes: the loops over them run several times slower
            pieces += [jnp.where(mask, plane[None], 0) for plane in planes]
    grid = jnp.concatenate(barrier(pieces), axis=1)
    return grid.reshape(config.chefs, -1, *own.shape[1:])


def _asked_planes(config: KitchenConfig, state: KitchenState) -> tuple[list[Array], list[Array]]:
    """The planes of `_asked_layout` for the whole kitchen, u8[cells, ...]: of chefs, the same for
    oneself and others, and of all else."""
    assert state.asked is not None
    cells, terrain = cell_numbers(state), state.terrain

    def contents(things: Array, cooked: Array) -> list[Array]:
        """Plated, cooked, and how many of each kind."""
        soup = things >= SOUP
        found = [(things == DISH) | (soup & cooked), soup & cooked]
        for thing, shift in list(zip(ask.INGREDIENTS, ask.SHIFTS, strict=True))[: config.kinds]:
            found.append(jnp.where(soup, things >> shift & 3, things == thing))
        return found

    always = jnp.ones_like(terrain, bool)
    held, facing = jnp.zeros_like(state.objects), jnp.full_like(terrain, 4)
    for i in range(config.chefs):
        here = cells == state.position[i][None]
        held = jnp.where(here, state.held[i][None], held)
        facing = jnp.where(here, state.facing[i][None], facing)
    bodies = [facing < 4, *(facing == way for way in range(4)), *contents(held, always)]
    planes = [terrain == code for code in (COUNTER, SERVING, POT, INDICATOR, BUTTON, DISHES)]
    planes += [terrain == code for code in DISPENSERS[: config.kinds]]
    is_pot = terrain == POT
    inside = contents(state.objects, ~is_pot | (state.timer == 1))
    inside[0] = inside[0] & ~is_pot
    shown = jnp.where(is_pot | (terrain == COUNTER), 0, things_in_sight(state))
    planes += [*inside, *contents(shown, ~always)]
    planes.append(jnp.where(is_pot & (state.timer > 1), state.timer - 1, 0))
    if config.show_delivery:
        planes.append((terrain == SERVING) & state.asked.delivered[None])
    return _bytes(bodies), _bytes(planes)


def egocentric(config: KitchenConfig, agent: int) -> list[int]:
    return [agent, *(i for i in range(config.chefs) if i != agent)]


def in_view(
    config: KitchenConfig, state: KitchenState, radius: int, agent: int | None = None
) -> Array:
    """The cells at most `radius` columns and rows from each chef, bool[chefs, cells, ...], or from
    one, bool[cells, ...]."""
    numbers = expand(np.arange(state.terrain.shape[0], dtype=np.int32), state.time.ndim)
    at = (state.position if agent is None else state.position[agent]).astype(jnp.int32)
    of_cells = at.ndim - state.time.ndim  # their axis in the result
    at = jnp.expand_dims(at, of_cells)
    # Without the barrier the compiler would divide for each cell.
    column, row = jax.lax.optimization_barrier((at % config.width, at // config.width))
    across, along = jnp.abs(numbers % config.width - column), numbers // config.width - row
    return (across <= radius) & (jnp.abs(along) <= radius)


def _as_map(config: KitchenConfig, rows: Array, axis: int) -> Array:
    """Split the axis of cells into rows and columns."""
    return rows.reshape(*rows.shape[:axis], config.height, config.width, *rows.shape[axis + 1 :])


def fields(codes: Array, bits: Bits) -> tuple[Array, Array, Array, Array, Array]:
    """Terrain, chef, facing, thing and timer of compact codes."""
    return (
        codes & (bits.terrain - 1),
        (codes >> bits.chef) & 7,
        (codes >> bits.facing) & 3,
        (codes >> bits.thing) & (bits.things - 1),
        (codes >> bits.timer) & 255,
    )


def unpack(codes: Array, chefs: int) -> Array:
    """The grid observation from the compact one.

    Args:
        codes: i32[..., height, width], one chef's view in each row of the leading axes.
        chefs: how many chefs are in the kitchen.

    Returns:
        u8[..., 5 * chefs + 16, height, width]. Works on NumPy and JAX arrays alike.
    """
    xp = np if isinstance(codes, np.ndarray) else jnp
    order, facings = range(1, chefs + 1), range(4)
    here = [(7 << 3, k << 3) for k in order]
    here += [(31 << 3, k << 3 | f << 6) for k in order for f in facings]
    here += [(7, code) for code in (POT, COUNTER, ONIONS, TOMATOES, DISHES, SERVING)]
    last = [(31 << 8, code << 8) for code in (DISH, ONION, TOMATO)] + [(1 << 21, 1 << 21)]

    def equal(fields: list[tuple[int, int]]) -> Array:
        """A plane for each (bits, value of these bits)."""
        bits, value = np.asarray(fields, np.int32).T[:, :, None, None]
        return ((codes[..., None, :, :] & bits) == value).astype(xp.uint8)

    thing, timer = (codes >> 8) & 31, (codes >> 13) & 255
    idle = ((codes & 7) == POT) & (timer == 0)
    soup = (thing >= SOUP) & ~idle
    counts = [
        xp.where(mask, count, 0) for mask in (idle, soup) for count in (thing >> 2 & 3, thing & 3)
    ]
    counts += [xp.where(timer > 1, timer - 1, 0), soup & (timer < 2)]
    middle = xp.stack([plane.astype(xp.uint8) for plane in counts], axis=-3)
    return xp.concatenate([equal(here), middle, equal(last)], axis=-3)


def features(codes: Array, left: Array, soups: Array, chefs: int, pots: int) -> Array:
    """The "features" observation from the compact one, f32[chefs, F, ...].

    `layout` names the pieces. Distances are columns to the east (dx) and rows to the south (dy)
    from the own cell; "nearest" is by |dx| + |dy|, the first in reading order on a tie. What is
    not there, or out of view, is 0.

    Args:
        codes: i32[chefs, height, width, ...].
        left, soups: [...].
    """
    height, width = codes.shape[1:3]
    batch = codes.ndim - 3
    codes = codes.reshape(chefs, height * width, *codes.shape[3:])
    order = expand(np.arange(height * width), batch)
    columns, rows = order % width, order // width
    terrain, chef = codes & 7, (codes >> 3) & 7
    thing, timer = (codes >> 8) & 31, (codes >> 13) & 255

    def pick(values: Array, mask: Array) -> Array:
        """The value at the one cell of masks [K, chefs, cells, ...]."""
        return jnp.sum(jnp.where(mask, values, 0), axis=2)

    seen = routes.bodies(codes, width)
    dx, dy = columns - seen.column[0][:, None], rows - seen.row[0][:, None]
    blocked = (terrain != FLOOR) | (chef > 1)
    beside = [(dx == a) & (dy == b) for a, b in ((0, -1), (0, 1), (1, 0), (-1, 0))]

    rank = (jnp.abs(dx) + jnp.abs(dy)) * (height * width) + order
    far = jnp.iinfo(jnp.int32).max
    counter = terrain == COUNTER
    kinds = [terrain == code for code in (ONIONS, TOMATOES, DISHES, SERVING)]
    kinds += [counter & (thing == NOTHING)]
    kinds += [counter & (thing == code) for code in (ONION, TOMATO, DISH)]
    kinds += [counter & (thing >= SOUP)]
    wanted = stack(kinds, ndim=2)
    best = jnp.min(jnp.where(wanted, rank, far), axis=2)
    nearest = wanted & (rank == best[:, :, None])
    places = [wanted.any(axis=2), pick(dx, nearest), pick(dy, nearest)]

    is_pot = terrain == POT
    ats = [jnp.min(jnp.where(is_pot, order, height * width), axis=1)]  # faster than a cumsum
    for _ in range(1, pots):
        later = is_pot & (order > ats[-1][:, None])
        ats.append(jnp.min(jnp.where(later, order, height * width), axis=1))
    mask = stack(ats, ndim=1)[:, :, None] == order  # [pots, chefs, cells, ...]
    there, clock, inside = mask.any(axis=2), pick(timer, mask), pick(thing, mask)
    of_pots = [there, pick(dx, mask), pick(dy, mask), there & (inside == NOTHING)]
    of_pots += [clock > 1, clock == 1, (inside >> 2) & 3, inside & 3]
    of_pots += [jnp.where(clock > 1, clock - 1, 0)]

    return routes.table(
        [part[:1] for part in (*seen.told, seen.column, seen.row)],
        [(blocked & mask).any(axis=1)[None] for mask in beside],
        [part[1:] for part in seen.others()],
        places,
        of_pots,
        [jnp.broadcast_to(value, seen.row[:1].shape) for value in (left, soups)],
    )
