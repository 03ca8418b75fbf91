"""The kitchen: chefs fetch ingredients, cook soups and serve them, together and against the clock.

The rules are those of Overcooked-AI (Carroll et al., "On the Utility of Learning about Humans for
Human-AI Coordination", NeurIPS 2019), in its original form (`dynamics="classic"`) and its later one
(`dynamics="manual"`). One step resolves, in this order:

1. every *interact*, one chef after the other in index order, on the cell that the chef faced before
   the step;
2. all moves at once: a chef turns to where it moves, and enters the cell if it is floor. If any two
   chefs would then share a cell, or would swap cells, nobody moves in this step (they still turn);
3. the clock, and the pots that cook.

Everything here is written for a state with any number of trailing batch axes (none, or one): per
cell arrays are `[cells, ...]`, per chef arrays `[chefs, ...]`. A faced cell is read and written by
comparing all cell numbers with it, never by a gather: on a CPU that is several times faster.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import (
    Array,
    ConfigError,
    Env,
    Outcome,
    check_weights,
    names_of,
    state_dataclass,
)
from manyhands.envs.kitchen import levels as lv
from manyhands.envs.kitchen.generator import GeneratorConfig, generate_levels
from manyhands.envs.kitchen.levels import (
    COUNTER,
    DISHES,
    FLOOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    VOID,
)

if TYPE_CHECKING:
    from manyhands.envs.kitchen.planning import FirstDelivery
    from manyhands.envs.kitchen.skills import KitchenSkills

ACTIONS = ("north", "south", "east", "west", "stay", "interact")
NORTH, SOUTH, EAST, WEST, STAY, INTERACT = range(6)

# Objects, in a hand, on a counter or in a pot: SOUP | onions << 2 | tomatoes is a soup, or what has
# been put into a pot so far.
NOTHING, ONION, TOMATO, DISH, SOUP = 0, 1, 2, 3, 16

# What a chef's last action did (`KitchenState.event`).
EVENTS = (
    "has just arrived",
    "waited",
    "moved",
    "turned",
    "was blocked by another chef",
    "did nothing useful",
    "took an onion",
    "took a tomato",
    "took a dish",
    "put something down",
    "picked something up",
    "put an ingredient into a pot",
    "started a pot",
    "plated a soup",
    "served a soup",
    "served a soup that nobody ordered",
)
(
    ARRIVED,
    WAITED,
    MOVED,
    TURNED,
    BLOCKED,
    USELESS,
    TOOK_ONION,
    TOOK_TOMATO,
    TOOK_DISH,
    PUT_DOWN,
    PICKED_UP,
    POTTED,
    STARTED,
    PLATED,
    SERVED,
    WASTED,
) = range(len(EVENTS))

# Published shaping, Overcooked-AI: ingredient into a pot 3, useful dish 3, soup onto a dish 5.
SHAPED = {"pot_placement": 3.0, "dish_pickup": 3.0, "soup_pickup": 5.0}
URGENT = 40  # "urgent" is on while fewer steps than this are left (Overcooked-AI)

OBSERVATIONS = ("grid", "compact", "features")
DYNAMICS = ("classic", "manual")


@state_dataclass
class KitchenState:
    """One kitchen at one moment; cells are numbered `y * width + x` from the top left.

    Attributes:
        terrain: u8[cells], the codes of `levels.py`.
        objects: u8[cells], the object on a counter, or the contents of a pot.
        timer: u8[cells], pots: 0 idle, 1 ready, 1 + n cooking with n steps left.
        position: u8[chefs], cell numbers.
        facing: u8[chefs], 0 north, 1 south, 2 east, 3 west.
        held: u8[chefs], the object in hand.
        time: i16[], steps played.
        level: i16[], which of `Kitchen.levels` this is.
        soups: i16[], soups served that were worth something.
        score: i32[], sum of their values.
        event: u8[chefs], what each chef's last action did (`EVENTS`).
    """

    terrain: Array
    objects: Array
    timer: Array
    position: Array
    facing: Array
    held: Array
    time: Array
    level: Array
    soups: Array
    score: Array
    event: Array


class Kitchen(Env[KitchenState]):
    """An Overcooked-like kitchen for 1 to 6 chefs.

    Args:
        layout: a name (`levels.LAYOUTS` and aliases), a layout as text, `"generated"`, or a list of
            names and texts, of which each episode draws one.
        starts: where chefs begin: `"overcooked_ai"` and `"jaxmarl"` are the published cells of the
            two packages, `"random"` draws a cell of the chef's own room and a facing per episode.
        dynamics: `"classic"`: the third ingredient starts the cooking; `"manual"`: an empty-handed
            interact does, with one to three ingredients.
        chefs: number of chefs; by default as many as the layout marks.
        observation: `"grid"`, `"compact"` or `"features"`, see below.
        view_radius: None, or r: chefs see the cells at most r columns and r rows away.
        max_steps: steps in an episode, which then is truncated; kitchens never terminate.
        orders, bonus_orders, order_bonus, values, times, onion_value, tomato_value, onion_time,
            tomato_time: override the layout's orders, as in `levels.load_level`.
        reward_weights: weights of the terms; by default `delivery` counts 1 and shaping 0.
        generator: knobs of `"generated"` kitchens, the fields of `generator.GeneratorConfig`.
        num_levels, level_seed: how many kitchens are generated, and from which seed; keep some
            seeds apart to test generalisation.

    Terms: `delivery` (what the soups served in this step are worth, the same for every chef),
    `pot_placement` (3 for an ingredient put into a pot), `dish_pickup` (3 for taking a dish when
    one is useful: none lies on a counter, and fewer are in hands than there were pots cooking,
    ready or partly filled at the start of the step) and `soup_pickup` (5 for plating a soup), each
    chef's own. Metrics, per step: `soups`, `wasted` (soups served for nothing), `collisions`
    (steps in which nobody could move), `illegal`.

    **Observation "compact"**, i32[height, width] per chef, one code a cell (`unpack` makes it a
    grid): bits 0-2 terrain; 3-5 the chef here (0 none, 1 yourself, 2 and up the others in index
    order); 6-7 that chef's facing; 8-12 the object lying or held here, or in the pot; 13-20 the
    pot's timer (0 idle, 1 ready, 1 + n cooking with n steps left); 21 urgent: fewer than 40 steps
    are left (set in every cell). A cell out of view has terrain `VOID` and no other bit but 21.

    **Observation "grid"**, u8[5 * chefs + 16, height, width] per chef; for two chefs it holds the
    26 channels of Overcooked-AI's lossless encoding in their order. With n chefs:
    `0` own position; `1 .. n-1` the others' positions, in index order; the next 4 own facing
    (north, south, east, west), set at the own cell; 4 for each other chef; then pots, counters,
    onion dispensers, tomato dispensers, dish dispensers, serving windows; onions in an idle pot,
    tomatoes in an idle pot (counts); onions, tomatoes (counts) in a soup that cooks, is ready, lies
    or is carried; steps left of a cooking pot; soup done (a ready pot, or a soup outside one);
    dishes; onions; tomatoes (lying or held); urgent (all cells).

    **Observation "features"**, f32[16 + 13 * (chefs - 1) + 27 + 9 * pots + 2] per chef, where
    `pots` is the largest number in any layout, see `features`.
    """

    id = "kitchen"
    package = "manyhands.envs.kitchen"
    # What chefs can say in a chat channel without free words (`wrappers/chat.py`).
    phrases = (
        "onion please",
        "tomato please",
        "dish please",
        "I take the dish",
        "I bring onions",
        "serving",
        "you are in my way",
        "left pot is ready",
        "right pot is ready",
        "take it from the counter",
        "wait for me",
        "well done",
    )
    terms = ("delivery", *SHAPED)
    noop = STAY
    batched = True
    reset_pool = 1024
    default_policy = "greedy"
    scripted_policy = "greedy"

    def __init__(
        self,
        layout: str | Sequence[str] = "cramped_room",
        *,
        starts: str = "overcooked_ai",
        dynamics: str = "classic",
        chefs: int | None = None,
        observation: str = "grid",
        view_radius: int | None = None,
        max_steps: int = 400,
        orders: Sequence[Any] | None = None,
        bonus_orders: Sequence[Any] | None = None,
        order_bonus: int | None = None,
        values: int | Mapping[Any, int] | None = None,
        times: int | Mapping[Any, int] | None = None,
        onion_value: int | None = None,
        tomato_value: int | None = None,
        onion_time: int | None = None,
        tomato_time: int | None = None,
        reward_weights: Mapping[str, float] | None = None,
        generator: Mapping[str, Any] | None = None,
        num_levels: int = 64,
        level_seed: int = 0,
    ):
        _one_of("starts", starts, lv.STARTS)
        _one_of("dynamics", dynamics, DYNAMICS)
        _one_of("observation", observation, OBSERVATIONS)
        if view_radius is not None and not (isinstance(view_radius, int) and view_radius >= 1):
            raise ConfigError(
                f"view_radius is None or a whole number from 1, given {view_radius!r}"
            )
        if not (isinstance(max_steps, int) and 1 <= max_steps <= 30_000):
            raise ConfigError(f"max_steps is a whole number from 1 to 30000, given {max_steps!r}")
        self._config: dict[str, Any] = {
            # By one name each, so that equal kitchens are equal.
            "layout": lv.ALIASES.get(layout, layout)
            if isinstance(layout, str)
            else [lv.ALIASES.get(name, name) for name in layout],
            "starts": starts,
            "dynamics": dynamics,
            "observation": observation,
            "max_steps": max_steps,
        }
        overrides = {
            "orders": orders,
            "bonus_orders": bonus_orders,
            "order_bonus": order_bonus,
            "values": values,
            "times": times,
            "onion_value": onion_value,
            "tomato_value": tomato_value,
            "onion_time": onion_time,
            "tomato_time": tomato_time,
        }
        overrides = {name: _plain(value) for name, value in overrides.items() if value is not None}
        given = {
            "chefs": chefs,
            "view_radius": view_radius,
            "reward_weights": dict(reward_weights) if reward_weights else None,
            **overrides,
        }
        if layout == "generated":
            given |= {"num_levels": num_levels, "level_seed": level_seed}
            given["generator"] = dict(generator) if generator else None
        elif generator is not None:
            raise ConfigError('generator= is for layout="generated"')
        self._config |= {name: value for name, value in given.items() if value is not None}

        self.levels = _load_levels(
            layout, starts, chefs, overrides, generator, num_levels, level_seed
        )
        if dynamics == "classic":
            self.levels = tuple(_cookable(level, orders) for level in self.levels)
        counts = {len(level.starts) for level in self.levels}
        if len(counts) > 1:
            raise ConfigError(
                f"the layouts mark different numbers of chefs ({sorted(counts)}); pass chefs="
            )
        n = counts.pop()
        self.dynamics, self.observation = dynamics, observation
        self.view_radius, self.max_steps = view_radius, max_steps
        self.random_starts = starts == "random"
        self.height = max(level.height for level in self.levels)
        self.width = max(level.width for level in self.levels)
        self.agents = tuple(f"chef_{i}" for i in range(n))
        self.reward_weights = check_weights(
            reward_weights, {"delivery": 1.0} | dict.fromkeys(SHAPED, 0.0)
        )
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.deterministic_reset = len(self.levels) == 1 and not self.random_starts
        self._tabulate()
        self.observation_space = self._observation_space()

    def _tabulate(self) -> None:
        """Per level constants, padded to the largest layout."""
        count, n, cells = len(self.levels), self.num_agents, self.height * self.width
        if cells > 255:
            raise ConfigError(
                f"layouts of up to {self.height} rows and {self.width} columns need {cells} cells; "
                "at most 255 fit (height x width)"
            )
        terrain = np.full((count, self.height, self.width), VOID, np.uint8)
        self._starts = np.zeros((count, n), np.uint8)
        self._rooms = np.zeros((count, n, cells), bool)
        self._values = np.zeros((count, 16), np.int32)
        self._times = np.zeros((count, 16), np.uint8)
        for i, level in enumerate(self.levels):
            terrain[i, : level.height, : level.width] = level.terrain
            self._values[i] = level.worth_table().ravel()
            self._times[i] = level.time_table().ravel()
            rooms = lv.connected_parts(level.cells(FLOOR))
            for j, (x, y) in enumerate(level.starts):
                self._starts[i, j] = y * self.width + x
                room = next(part for part in rooms if (x, y) in part)
                self._rooms[i, j, [b * self.width + a for a, b in room]] = True
        self._terrain = terrain.reshape(count, cells)
        self.max_pots = int((self._terrain == POT).sum(1).max())

    def _observation_space(self) -> gymnasium.Space:
        box = gymnasium.spaces.Box
        if self.observation == "compact":
            return box(0, 2**22 - 1, (self.height, self.width), np.int32)
        if self.observation == "grid":
            return box(0, 255, (5 * self.num_agents + 16, self.height, self.width), np.uint8)
        size = 16 + 13 * (self.num_agents - 1) + 27 + 9 * self.max_pots + 2
        farthest, highest = max(self.height, self.width), max(self.max_steps, 255)
        return box(-farthest, highest, (size,), np.float32)

    # ---- the rules ----------------------------------------------------------------------------

    def reset(self, key: Array) -> KitchenState:
        n, cells = self.num_agents, self.height * self.width
        level_key, start_key = jax.random.split(key)
        level = jnp.int16(0)
        if len(self.levels) > 1:
            level = jax.random.randint(level_key, (), 0, len(self.levels), jnp.int16)
        position = jnp.asarray(self._starts)[level]
        facing = jnp.full(n, NORTH, jnp.uint8)
        if self.random_starts:
            free = jnp.asarray(self._rooms)[level]
            keys = jax.random.split(start_key, n + 1)
            facing = jax.random.randint(keys[n], (n,), 0, 4).astype(jnp.uint8)
            drawn = []
            for i in range(n):
                noise = jax.random.uniform(keys[i], (cells,))
                cell = jnp.argmax(jnp.where(free[i], noise, -1.0)).astype(jnp.uint8)
                free = free & (jnp.arange(cells) != cell)
                drawn.append(cell)
            position = jnp.stack(drawn)
        return KitchenState(
            terrain=jnp.asarray(self._terrain)[level],
            objects=jnp.zeros(cells, jnp.uint8),
            timer=jnp.zeros(cells, jnp.uint8),
            position=position,
            facing=facing,
            held=jnp.zeros(n, jnp.uint8),
            time=jnp.int16(0),
            level=level,
            soups=jnp.int16(0),
            score=jnp.int32(0),
            event=jnp.full(n, ARRIVED, jnp.uint8),
        )

    def step(self, key: Array, state: KitchenState, actions: Array) -> tuple[KitchenState, Outcome]:
        n = self.num_agents
        cells = _cells(state)
        illegal = (actions < 0) | (actions > INTERACT)
        actions = jnp.where(illegal, STAY, actions).astype(jnp.uint8)
        terrain, objects, timer = state.terrain, state.objects, state.timer
        is_pot = terrain == POT
        busy_pots = _busy_pots(terrain, objects, timer)

        # 1. Interacts, in index order: the next chef sees what the last one did.
        held, events, worth = list(state.held), [], []
        shaped: dict[str, list[Array]] = {name: [] for name in SHAPED}
        soups = jnp.zeros_like(state.soups)
        wasted = jnp.zeros_like(state.soups)
        for i in range(n):
            interact = actions[i] == INTERACT
            ahead = state.position[i] + self._delta(state.facing[i])
            faced = cells == ahead[None]
            ground = _read(terrain, ahead)
            there = _read(objects, ahead)
            clock = _read(timer, ahead)
            hand = held[i]
            empty = hand == NOTHING

            counter = interact & (ground == COUNTER)
            put = counter & ~empty & (there == NOTHING)
            take = counter & empty & (there != NOTHING)
            fetch = interact & empty & (ground >= ONIONS) & (ground <= DISHES)
            pot = interact & (ground == POT)
            count = ((there >> 2) & 3) + (there & 3)
            add = pot & ((hand == ONION) | (hand == TOMATO)) & (clock == 0) & (count < 3)
            if self.dynamics == "classic":
                start = add & (count == 2)
            else:
                start = pot & empty & (clock == 0) & (count > 0)
            plate = pot & (hand == DISH) & (clock == 1)
            serve = interact & (ground == SERVING) & (hand >= SOUP)

            filled = SOUP | (there + jnp.where(hand == ONION, 4, 1).astype(jnp.uint8))
            now_there = jnp.where(put, hand, jnp.where(add, filled, there))
            now_there = jnp.where(take | plate, NOTHING, now_there)
            cook_time = self._lookup(self._times, state.level, now_there)
            now_clock = jnp.where(start, cook_time + 1, jnp.where(plate, 0, clock))
            now_held = jnp.where(put | add | serve, NOTHING, hand)
            now_held = jnp.where(take | plate, there, now_held)
            # Dispensers are numbered in the order of what they give.
            now_held = jnp.where(fetch, ground - (ONIONS - ONION), now_held)
            objects = jnp.where(faced, now_there.astype(jnp.uint8)[None], objects)
            timer = jnp.where(faced, now_clock.astype(jnp.uint8)[None], timer)

            value = jnp.where(serve, self._lookup(self._values, state.level, hand), 0)
            worth.append(value)
            soups = soups + (serve & (value != 0))
            wasted = wasted + (serve & (value == 0))

            fetch_dish = fetch & (ground == DISHES)
            in_hand = sum((h == DISH).astype(jnp.uint8) for h in held)
            lying = jnp.any((state.terrain == COUNTER) & (objects == DISH), axis=0)
            useful = fetch_dish & ~lying & (in_hand < busy_pots)
            for name, earned in zip(SHAPED, (add, useful, plate), strict=True):
                shaped[name].append(jnp.where(earned, jnp.float32(SHAPED[name]), 0.0))
            held[i] = now_held.astype(jnp.uint8)

            event = jnp.where(interact, USELESS, WAITED).astype(jnp.uint8)
            for happened, code in (
                (fetch & (ground == ONIONS), TOOK_ONION),
                (fetch & (ground == TOMATOES), TOOK_TOMATO),
                (fetch_dish, TOOK_DISH),
                (put, PUT_DOWN),
                (take, PICKED_UP),
                (start, STARTED),
                (add, POTTED),
                (plate, PLATED),
                (serve, WASTED),
                (serve & (value != 0), SERVED),
            ):
                event = jnp.where(happened, jnp.uint8(code), event)
            events.append(event)

        # 2. Moves, all at once.
        facing, target = [], []
        for i in range(n):
            moves = actions[i] < STAY
            to = state.position[i] + self._delta(actions[i])
            enters = moves & (_read(terrain, to) == FLOOR)
            facing.append(jnp.where(moves, actions[i], state.facing[i]))
            target.append(jnp.where(enters, to, state.position[i]))
        clash = jnp.zeros(state.time.shape, bool)
        for i in range(n):
            for j in range(i):
                swap = (target[i] == state.position[j]) & (target[j] == state.position[i])
                clash = clash | (target[i] == target[j]) | swap
        position = [jnp.where(clash, state.position[i], target[i]) for i in range(n)]
        for i in range(n):
            wanted = target[i] != state.position[i]
            moved = jnp.where(wanted & clash, BLOCKED, jnp.where(wanted, MOVED, TURNED))
            events[i] = jnp.where(actions[i] < STAY, moved.astype(jnp.uint8), events[i])

        # 3. The clock and the pots.
        timer = jnp.where(is_pot & (timer > 1), timer - 1, timer)
        time = state.time + jnp.int16(1)
        delivery = functools.reduce(jnp.add, worth)
        new = KitchenState(
            terrain=terrain,
            objects=objects,
            timer=timer,
            position=_stack(position),
            facing=_stack(facing),
            held=_stack(held),
            time=time,
            level=state.level,
            soups=state.soups + soups,
            score=state.score + delivery,
            event=_stack(events),
        )
        team = delivery.astype(jnp.float32)
        terms = {"delivery": jnp.broadcast_to(team[None], (n, *team.shape))}
        terms |= {name: _stack(earned) for name, earned in shaped.items()}
        over = time >= self.max_steps
        metrics = {
            "soups": soups.astype(jnp.float32),
            "wasted": wasted.astype(jnp.float32),
            "collisions": clash.astype(jnp.float32),
            "illegal": jnp.sum(illegal, axis=0).astype(jnp.float32),
        }
        truncated = jnp.broadcast_to(over[None], (n, *over.shape))
        return new, self.outcome(terms, jnp.zeros_like(truncated), truncated, metrics)

    def legal(self, state: KitchenState) -> Array:
        """Every action is legal at any time, as in the reference."""
        return jnp.ones((self.num_agents, len(ACTIONS), *state.time.shape), bool)

    def acting(self, state: KitchenState) -> Array:
        return jnp.ones((self.num_agents, *state.time.shape), bool)

    # ---- observations -------------------------------------------------------------------------

    def perceive(self, state: KitchenState) -> Array:
        """The compact observation, i32[chefs, height, width], whichever is configured."""
        rows = jnp.stack([self._codes(state, i, self.view_radius) for i in range(self.num_agents)])
        return self._as_map(rows, 1)

    def network_input(self, row: Array) -> Array:
        """What varies in this kitchen, as zeros and ones, from one compact observation: f32[K].

        Per chef, oneself first: facing (4), object held (onion, tomato, dish, soup), position
        among the cells that are floor in any layout, oneself by facing too (4 for each cell). Then
        for each cell that is a counter in any layout the object on it; for each pot cell: one, two,
        three onions in it, the same of tomatoes, cooking, ready, a twentieth of the steps left; the
        terrain of the cells in which layouts differ; urgent. What can never be is left out: the
        tomatoes of a kitchen without them.
        """
        codes = row.reshape(-1)
        terrain, chef, facing = codes & 7, (codes >> 3) & 7, (codes >> 6) & 3
        thing, timer = (codes >> 8) & 31, (codes >> 13) & 255
        ever = {code: np.flatnonzero((self._terrain == code).any(0)) for code in range(VOID)}
        floor, counters, pots = ever[FLOOR], ever[COUNTER], ever[POT]
        tomatoes = bool(len(ever[TOMATOES]))

        def objects(values: Array) -> list[Array]:
            kinds = [values == ONION, values == DISH, values >= SOUP]
            if tomatoes:  # soups differ then, too
                soup = values >= SOUP
                kinds += [values == TOMATO]
                kinds += [
                    soup & (((values >> bits) & 3) == k) for bits in (0, 2) for k in (1, 2, 3)
                ]
            return kinds

        parts = []
        for k in range(1, self.num_agents + 1):
            here = chef == k
            turned = [jnp.any(here & (facing == f)) for f in range(4)]
            held = jnp.sum(jnp.where(here, thing, 0))
            parts += [jnp.stack([*turned, *objects(held)]), here[floor]]
            if k == 1:  # what a chef can do follows from where it stands and faces
                parts += [here[floor] & side for side in turned]
        parts += objects(thing[counters])
        inside, clock = thing[pots], timer[pots]
        for bits in (2, 0) if tomatoes else (2,):
            parts += [((inside >> bits) & 3) == k for k in (1, 2, 3)]
        parts += [clock > 1, clock == 1, jnp.where(clock > 1, clock - 1, 0) / 20]
        differ = np.flatnonzero((self._terrain != self._terrain[:1]).any(0))
        if len(differ):
            parts += [terrain[differ] == code for code in range(VOID)]
        parts += [codes[:1] >> 21]
        return jnp.concatenate([part.astype(jnp.float32) for part in parts])

    def observe(self, state: KitchenState) -> Array:
        if self.observation == "compact":
            return self.perceive(state)
        if self.observation == "grid":
            planes = []
            for i in range(self.num_agents):
                planes += self._planes(state, i, self.view_radius)
            # Each plane is computed by itself, in one pass over the batch, and then copied: fused
            # into the copy, the compiler would choose among all planes for every single byte.
            grid = jnp.stack(jax.lax.optimization_barrier(planes))
            grid = grid.reshape(self.num_agents, -1, *grid.shape[1:])
            return self._as_map(grid, 2)
        left = (self.max_steps - state.time).astype(jnp.float32)
        return features(self.perceive(state), left, state.soups, self.num_agents, self.max_pots)

    def summary(self, state: KitchenState) -> Array:
        """The whole kitchen, u8[5 * chefs + 17, height, width]: the grid as chef 0 would see it
        with no limit of view (so chefs stand in index order), and a plane of the time left in
        255ths of the episode."""
        planes = self._planes(state, 0, None)
        left = (self.max_steps - state.time.astype(jnp.int32)) * 255 // self.max_steps
        planes.append(jnp.broadcast_to(left.astype(jnp.uint8)[None], planes[0].shape))
        return self._as_map(jnp.stack(jax.lax.optimization_barrier(planes)), 1)

    def _codes(self, state: KitchenState, agent: int, radius: int | None) -> Array:
        """The compact observation of one chef, i32[cells, ...]."""
        cells = _cells(state)
        lying = state.objects.astype(jnp.int32) << 8
        code = state.terrain.astype(jnp.int32) | lying | (state.timer.astype(jnp.int32) << 13)
        for order, i in enumerate(self._egocentric(agent), start=1):
            facing = state.facing[i].astype(jnp.int32) << 6
            chef = (order << 3) | facing | (state.held[i].astype(jnp.int32) << 8)
            code = code | jnp.where(cells == state.position[i][None], chef[None], 0)
        if radius is not None:
            code = jnp.where(self._in_view(state, agent, radius), code, VOID)
        urgent = (self.max_steps - state.time < URGENT).astype(jnp.int32) << 21
        return code | urgent[None]

    def _planes(self, state: KitchenState, agent: int, radius: int | None) -> list[Array]:
        """The grid observation of one chef, 5 * chefs + 16 planes u8[cells, ...]."""
        cells = _cells(state)
        terrain, objects, timer = state.terrain, state.objects, state.timer
        if radius is not None:
            seen = self._in_view(state, agent, radius)
            terrain = jnp.where(seen, terrain, VOID)
            objects = jnp.where(seen, objects, NOTHING)
            timer = jnp.where(seen, timer, 0)
        order = self._egocentric(agent)
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
        urgent = self.max_steps - state.time < URGENT
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
        return [plane.astype(jnp.uint8) for plane in planes]

    def _egocentric(self, agent: int) -> list[int]:
        return [agent, *(i for i in range(self.num_agents) if i != agent)]

    def _in_view(self, state: KitchenState, agent: int, radius: int) -> Array:
        """bool[cells, ...]: at most `radius` columns and rows from the chef."""
        cells = _cells(state).astype(jnp.int32)
        own = state.position[agent].astype(jnp.int32)[None]
        across = jnp.abs(cells % self.width - own % self.width)
        return (across <= radius) & (jnp.abs(cells // self.width - own // self.width) <= radius)

    def _as_map(self, rows: Array, axis: int) -> Array:
        """Split the axis of cells into rows and columns."""
        return rows.reshape(*rows.shape[:axis], self.height, self.width, *rows.shape[axis + 1 :])

    def _delta(self, direction: Array) -> Array:
        """Cell offset of a direction, in the wrapping arithmetic of u8."""
        east_west = jnp.where(direction == EAST, 1, 255)
        south = jnp.where(direction == SOUTH, self.width, east_west)
        return jnp.where(direction == NORTH, 256 - self.width, south).astype(jnp.uint8)

    def _lookup(self, table: np.ndarray, level: Array, contents: Array) -> Array:
        """`table[level, recipe]` for the recipe of a soup, by selects over what differs."""
        recipes = [bits for bits in range(16) if 1 <= (bits >> 2) + (bits & 3) <= 3]
        values, counts = np.unique(table[:, recipes], return_counts=True)
        common = values[np.argmax(counts)]
        found = jnp.full(contents.shape, common, table.dtype)
        recipe = contents & 15
        for bits in recipes:
            column = table[:, bits]
            if (column == common).all():
                continue
            value = column[0] if (column == column[0]).all() else jnp.asarray(column)[level]
            found = jnp.where(recipe == bits, jnp.asarray(value, table.dtype), found)
        return found

    # ---- words and pictures -------------------------------------------------------------------

    def skill_set(self) -> KitchenSkills:
        """The skill set that `wrappers/skills.py` lifts this kitchen to."""
        from manyhands.envs.kitchen.skills import KitchenSkills

        return KitchenSkills(self)

    def draw_speech(
        self,
        state: KitchenState,
        canvas: Any,
        texts: Mapping[int, str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> bool:
        """Paint what chefs say over a picture that `draw` made on this canvas."""
        from manyhands.envs.kitchen import draw

        draw.bubbles(self, state, canvas, texts, None if agent is None else self.index(agent))
        return True

    def shipped_levels(self) -> list[tuple[str, int, str]]:
        shipped = [lv.load_level(name) for name in lv.layout_names()]
        return [(level.name, level.chefs, level.text()) for level in shipped]

    def first_delivery(self, level: int = 0, **effort: Any) -> FirstDelivery:
        """The fewest steps in which the chefs can serve their first soup in `levels[level]`, from
        its own starts; see `planning.first_delivery`. It searches: seconds, in a large kitchen."""
        from manyhands.envs.kitchen import planning

        return planning.first_delivery(self.levels[level], self.dynamics, **effort)

    def to_dict(self, state: KitchenState) -> dict[str, Any]:
        width = self.width
        level = self.levels[int(state.level)]
        terrain, objects = np.asarray(state.terrain), np.asarray(state.objects)
        timer = np.asarray(state.timer)
        facing, held = np.asarray(state.facing), np.asarray(state.held)
        chefs = []
        for i, cell in enumerate(np.asarray(state.position)):
            chef = {"name": self.agents[i], "x": int(cell) % width, "y": int(cell) // width}
            chef |= {"facing": ACTIONS[facing[i]], **_object_dict("holding", held[i])}
            chefs.append(chef)
        pots, counters = [], []
        for cell in np.flatnonzero(terrain == POT):
            clock = int(timer[cell])
            pots.append(
                {
                    "x": int(cell) % width,
                    "y": int(cell) // width,
                    "onions": int(objects[cell]) >> 2 & 3,
                    "tomatoes": int(objects[cell]) & 3,
                    "status": ("idle", "ready", "cooking")[min(clock, 2)],
                    "steps_left": max(clock - 1, 0),
                }
            )
        for cell in np.flatnonzero((terrain == COUNTER) & (objects != NOTHING)):
            place = {"x": int(cell) % width, "y": int(cell) // width}
            counters.append(place | _object_dict("object", objects[cell]))
        return {
            "layout": level.name,
            "map": level.text().split("\n"),
            "time": int(state.time),
            "steps_left": self.max_steps - int(state.time),
            "soups": int(state.soups),
            "score": int(state.score),
            "chefs": chefs,
            "pots": pots,
            "counters": counters,
        }

    def config(self) -> dict[str, Any]:
        return dict(self._config)


# ---- observations from codes ---------------------------------------------------------------------


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

    Distances are columns to the east (dx) and rows to the south (dy) from the own cell; "nearest"
    is by |dx| + |dy|, the first in reading order on a tie. What is not there, or out of view, is 0.

    - 0-3 own facing (north, south, east, west); 4-7 holding onion, tomato, dish, soup; 8-9 onions
      and tomatoes in the soup held; 10-11 own column and row; 12-15 no floor, or another chef, to
      the north, south, east, west.
    - 13 for each other chef in index order: in view; facing (4); holding onion, tomato, dish, soup;
      onions, tomatoes in the soup held; dx, dy.
    - 27: (there is one, dx, dy) of the nearest onion dispenser, tomato dispenser, dish dispenser,
      serving window, empty counter, and of the nearest onion, tomato, dish, soup on a counter.
    - 9 for each pot in view, in reading order: there is one, dx, dy, empty, cooking, ready, onions,
      tomatoes, steps left.
    - 2: steps left in the episode; soups served so far.

    Args:
        codes: i32[chefs, height, width, ...].
        left, soups: [...].
    """
    height, width = codes.shape[1:3]
    batch = codes.shape[3:]
    codes = codes.reshape(chefs, height * width, *batch)
    one = (1,) * len(batch)
    columns = jnp.tile(jnp.arange(width), height).reshape(1, -1, *one)
    rows = jnp.repeat(jnp.arange(height), width).reshape(1, -1, *one)
    terrain, chef, facing = codes & 7, (codes >> 3) & 7, (codes >> 6) & 3
    thing, timer = (codes >> 8) & 31, (codes >> 13) & 255

    def pick(values: Array, mask: Array) -> Array:
        return jnp.sum(jnp.where(mask, values, 0), axis=1)

    own = chef == 1
    x, y = pick(columns, own), pick(rows, own)
    dx, dy = columns - x[:, None], rows - y[:, None]

    def body(mask: Array) -> list[Array]:
        turned, hand = pick(facing, mask), pick(thing, mask)
        there = mask.any(axis=1)
        soup = hand >= SOUP
        holding = [hand == ONION, hand == TOMATO, hand == DISH, soup]
        counts = [jnp.where(soup, (hand >> 2) & 3, 0), jnp.where(soup, hand & 3, 0)]
        return [*((turned == f) & there for f in range(4)), *holding, *counts]

    blocked = (terrain != FLOOR) | (chef > 1)
    beside = [(dx == a) & (dy == b) for a, b in ((0, -1), (0, 1), (1, 0), (-1, 0))]
    columns_out = [*body(own), x, y, *((blocked & mask).any(axis=1) for mask in beside)]
    for k in range(2, chefs + 1):
        mask = chef == k
        columns_out += [mask.any(axis=1), *body(mask), pick(dx, mask), pick(dy, mask)]

    order = jnp.arange(height * width).reshape(1, -1, *one)
    rank = (jnp.abs(dx) + jnp.abs(dy)) * (height * width) + order
    far = jnp.iinfo(jnp.int32).max
    counter = terrain == COUNTER
    wanted = [terrain == code for code in (ONIONS, TOMATOES, DISHES, SERVING)]
    wanted += [counter & (thing == NOTHING)]
    wanted += [counter & (thing == code) for code in (ONION, TOMATO, DISH)]
    wanted += [counter & (thing >= SOUP)]
    for mask in wanted:
        best = jnp.min(jnp.where(mask, rank, far), axis=1)
        nearest = mask & (rank == best[:, None])
        columns_out += [mask.any(axis=1), pick(dx, nearest), pick(dy, nearest)]

    is_pot = terrain == POT
    number = jnp.cumsum(is_pot, axis=1)
    for k in range(1, pots + 1):
        mask = is_pot & (number == k)
        there, clock, inside = mask.any(axis=1), pick(timer, mask), pick(thing, mask)
        columns_out += [there, pick(dx, mask), pick(dy, mask), there & (inside == NOTHING)]
        columns_out += [clock > 1, clock == 1, (inside >> 2) & 3, inside & 3]
        columns_out += [jnp.where(clock > 1, clock - 1, 0)]

    columns_out += [jnp.broadcast_to(value, x.shape) for value in (left, soups)]
    return jnp.stack([column.astype(jnp.float32) for column in columns_out], axis=1)


# ---- small things --------------------------------------------------------------------------------


def _cells(state: KitchenState) -> Array:
    """Cell numbers u8[cells, 1...], to compare positions with."""
    shape = (-1,) + (1,) * state.time.ndim
    return jnp.arange(state.terrain.shape[0], dtype=jnp.uint8).reshape(shape)


def _stack(rows: list[Array]) -> Array:
    """Rows on a new first axis, each computed by itself: fused into the stacking, a batch would
    ask of every element which row it belongs to."""
    return jnp.stack(jax.lax.optimization_barrier(rows) if rows[0].ndim else rows)


def _read(values: Array, cell: Array) -> Array:
    """The value at a cell; in a batch by comparison, alone by indexing: both are the fastest."""
    if cell.ndim == 0:
        return jax.lax.dynamic_index_in_dim(values, cell.astype(jnp.int32), 0, keepdims=False)
    cells = jnp.arange(values.shape[0], dtype=cell.dtype)[:, None]
    return jnp.sum(jnp.where(cells == cell[None], values, 0), axis=0, dtype=values.dtype)


def _busy_pots(terrain: Array, objects: Array, timer: Array) -> Array:
    """How many pots are cooking, ready, or hold one or two ingredients."""
    count = ((objects >> 2) & 3) + (objects & 3)
    busy = (timer > 0) | ((count > 0) & (count < 3))
    return jnp.sum((terrain == POT) & busy, axis=0, dtype=jnp.uint8)


def _object_dict(name: str, code: int) -> dict[str, Any]:
    """An object in words, with the contents of a soup beside it."""
    code = int(code)
    if code < SOUP:
        return {name: (None, "onion", "tomato", "dish")[code]}
    return {name: "soup", "onions": code >> 2 & 3, "tomatoes": code & 3}


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ConfigError(f"{name} is {names_of(allowed)}, given {value!r}")


def _plain(value: Any) -> Any:
    """Orders, and what is given by recipe, with the recipes' names: JSON-ready."""
    if isinstance(value, Mapping):
        return {lv.recipe_name(lv.parse_recipe(key)): item for key, item in value.items()}
    if isinstance(value, (str, int, np.integer)):
        return value
    return [lv.recipe_name(recipe) for recipe in lv.parse_orders(value)]


def _cookable(level: lv.Level, given: Any) -> lv.Level:
    """The level without orders that classic dynamics cannot cook: only three ingredients start."""
    short = [recipe for recipe in level.orders if sum(recipe) < 3]
    if not short:
        return level
    if given is not None:
        raise ConfigError(
            f"{names_of([lv.recipe_name(recipe) for recipe in short])} cannot be cooked with "
            'dynamics="classic", where the third ingredient starts the pot; use "manual"'
        )
    orders = tuple(recipe for recipe in level.orders if recipe not in short)
    bonus = tuple(recipe for recipe in level.bonus_orders if recipe not in short)
    return dataclasses.replace(level, orders=orders, bonus_orders=bonus)


def _load_levels(
    layout: Any,
    starts: str,
    chefs: int | None,
    overrides: dict[str, Any],
    generator: Mapping[str, Any] | None,
    num_levels: int,
    level_seed: int,
) -> tuple[lv.Level, ...]:
    if layout == "generated":
        knobs = dict(generator or {})
        if chefs is not None:
            knobs["chefs"] = chefs
        try:
            config = GeneratorConfig(**knobs)
        except TypeError as error:
            known = ", ".join(field.name for field in dataclasses.fields(GeneratorConfig))
            raise ConfigError(f"generator={knobs!r}: {error}; the knobs are {known}") from error
        return tuple(generate_levels(config, num_levels, level_seed, rules=overrides))
    names = [layout] if isinstance(layout, str) else list(layout)
    if not names:
        raise ConfigError("layout=[] is empty; give at least one layout")
    return tuple(lv.load_level(name, starts=starts, chefs=chefs, **overrides) for name in names)
