"""CraftWorld's skills: path-finding controllers, as pure functions of what one player sees.

A skill is a name in a table (`CraftSkills.names`); at every step its controller turns the player's
own perception (`CraftWorld.perceive`) into one primitive action. Nothing is remembered: a skill may
be dropped or changed at any step, and what is out of view does not exist for it.

Paths lead around what stands in the way, or through it where that is quicker: trees are felled,
stone and ores are mined if the tool is there, and stones are laid into water. Lava is never
entered. Costs are in steps.

The functions of the first half take any number of trailing batch axes: `baselines/bots/` finds its
ways with them in batches of maps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.answers import normalise
from manyhands.core.env import Array, IllegalAction
from manyhands.core.grammar import Grammar
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.observe import PLAYER, Perception, one_of, parse_perception
from manyhands.envs.craftworld.reading import (
    MAKE,
    NEAR,
    PLACE,
    PUT,
    SEED,
    STATION,
    WAYS,
    spaced,
    tools,
)
from manyhands.envs.craftworld.rules import CraftRules
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import HERE, VIEW

# Costs are `steps << 3 | direction`, so that a minimum over cells also says how to begin.
STEP = 8
FAR = 1 << 13  # no way; twice as much still fits into i16


# ---- finding ways --------------------------------------------------------------------------------


def beside(maps: Array, direction: int, fill: int | bool) -> Array:
    """`maps` [H, W, ...] moved one cell in a direction (`rules.DELTAS`): each cell gets what lies
    behind it; `fill` comes in at the edge."""
    row, column = rl.DELTAS[direction]
    axis = 0 if row else 1
    size = maps.shape[axis]
    edge = jnp.full_like(jax.lax.slice_in_dim(maps, 0, 1, axis=axis), fill)
    if row + column > 0:
        return jnp.concatenate([edge, jax.lax.slice_in_dim(maps, 0, size - 1, axis=axis)], axis)
    return jnp.concatenate([jax.lax.slice_in_dim(maps, 1, size, axis=axis), edge], axis)


def nearest(maps: Array) -> Array:
    """The least cost among the four cells around each cell."""
    best = beside(maps, 0, FAR)
    for direction in (1, 2, 3):
        best = jnp.minimum(best, beside(maps, direction, FAR))
    return best


def starts(height: int, width: int, row: int, column: int) -> np.ndarray:
    """i16[H, W]: how one begins to walk from a cell: one step, and the direction, in the four cells
    around it."""
    seeds = np.full((height, width), FAR, np.int16)
    for direction, (down, right) in enumerate(rl.DELTAS):
        seeds[row + down, column + right] = STEP + direction
    return seeds


def flood(seeds: Array, cost: Array, sweeps: int) -> Array:
    """i16[H, W, ...]: the cheapest way to enter each cell.

    Args:
        seeds: i16, from `starts`, in the shape of `cost`.
        cost: i16[H, W, ...], what entering a cell costs, `FAR` where nobody can.
        sweeps: ways of more cells than this are not found.
    """

    def sweep(_: int, maps: Array) -> Array:
        return jnp.minimum(maps, nearest(maps) + cost)

    first = jnp.where(cost < FAR, seeds - STEP + cost, FAR)
    first = jnp.where(seeds < FAR, first, FAR).astype(jnp.int16)
    return jax.lax.fori_loop(0, sweeps, sweep, first)


def touching(ways: Array, seeds: Array) -> Array:
    """i16[H, W, ...]: the cheapest way to stand beside each cell and face it, by `flood`'s ways."""
    return jnp.minimum(jnp.minimum(nearest(ways) + STEP, seeds), FAR)


# ---- ways of one player --------------------------------------------------------------------------

ROWS, COLUMNS = VIEW
Mined = Mapping[int, int | None]  # material -> the number of the tool in the inventory, or None


def mined_by(rules: CraftRules) -> Mined:
    """What is in the way until it is mined, and with what."""
    items = rules.contents.items
    return {
        code: None if tool is None else items.index(tool)
        for code, (_, tool, _) in rules.contents.collect.items()
        if code not in (rl.WATER, rl.GRASS)
    }


MINED = mined_by(rl.PRESETS["crafter"])


def entering(cells: Array, sight: Perception, swim: bool = True, mined: Mined = MINED) -> Array:
    """i16: what it costs the player to enter cells (codes of `rules.MATERIALS`, of any map that it
    knows), with what it holds now; `FAR` where it cannot, or should not.

    Args:
        swim: whether to lay stones into water.
        mined: from `mined_by`.
    """
    cost = jnp.where(one_of(cells, rl.WALKABLE), STEP, FAR).astype(jnp.int16)
    for code, tool in mined.items():
        able = True if tool is None else sight.inventory[tool] > 0
        cost = jnp.where((cells == code) & able, np.int16(2 * STEP), cost)
    if swim:
        able = (sight.item("stone") > 0) & (sight.item("wood_pickaxe") > 0)
        cost = jnp.where((cells == rl.WATER) & able, np.int16(4 * STEP), cost)
    return cost


def turn_to(sight: Perception, good: Array) -> tuple[Array, Array]:
    """(action, whether the faced cell is good): how the player comes to face a good cell that
    nobody is on (`good` is bool[7, 9, ...]): where it can turn without walking off it does, else it
    walks to where it will face one."""
    good = good & (sight.bodies == 0)
    free = one_of(sight.cells, rl.WALKABLE) & (sight.bodies == 0)
    action = jnp.full(sight.facing.shape, rl.NOOP, jnp.int32)
    for rank in range(3):
        for d, (row, column) in enumerate(rl.DELTAS):
            there = HERE[0] + row, HERE[1] + column
            on = HERE[0] + 2 * row, HERE[1] + 2 * column
            fits = [free[there], free[there] & good[on], good[there] & ~free[there]][rank]
            action = jnp.where(fits, rl.MOVE + d, action)
    return action, sight.faced(good)


def stride(sight: Perception, direction: Array, mined: Mined = MINED) -> Array:
    """The action that begins to go in a direction: turn, strike or mine what is there, lay a stone
    into water, or walk; noop before lava, and where nothing helps."""
    action = jnp.full(direction.shape, rl.NOOP, jnp.int32)
    for d, (row, column) in enumerate(rl.DELTAS):
        cell = sight.cells[HERE[0] + row, HERE[1] + column]
        body = sight.bodies[HERE[0] + row, HERE[1] + column]
        creature = (body > 0) & (body < PLAYER)
        facing = sight.facing == d
        use = creature | one_of(cell, (*mined, rl.RIPE_PLANT))
        fill = (cell == rl.WATER) & ~creature
        here = jnp.where(facing & use, rl.DO, rl.MOVE + d)
        here = jnp.where(facing & fill, rl.PLACE + rl.PLACES.index("stone"), here)
        here = jnp.where((cell == rl.LAVA) & ~creature, rl.NOOP, here)
        action = jnp.where(direction == d, here, action)
    return action


# ---- the skills ----------------------------------------------------------------------------------

POSSIBLE, ASLEEP, ALREADY, NEEDS, NO_TARGET, NO_WAY = range(6)
MOVES = (*(f"move_{way}" for way in rl.FACINGS), "do")
HUNTED = {"eat cow": rl.COW, "fight zombie": rl.ZOMBIE, "fight skeleton": rl.SKELETON}
TARGETS = (
    *("tree", "grass", "sand", "path", "water", "stone", "coal", "iron", "diamond"),
    *("table", "furnace", "plant", "ripe plant"),
)
COMPASS = ("west", "east", "north", "south")  # as `rules.FACINGS`
# What players of a chat channel around CraftWorld may say.
PHRASES = (
    "yes",
    "no",
    "thank you",
    "please help me",
    "come here",
    "I go west",
    "I go east",
    "I go north",
    "I go south",
    "I gather wood",
    "I gather stone",
    "I look for iron",
    "I look for diamonds",
    "trees here",
    "water here",
    "cows here",
    "coal here",
    "iron here",
    "diamonds here",
    "table here",
    "I need wood",
    "I need stone",
    "I need coal",
    "I need iron",
    "take this",
    "I have an iron pickaxe",
    "zombies here",
    "I sleep now",
)


class Details(NamedTuple):
    """All skills at once, as one player sees them now.

    Attributes:
        action: i32[S], the primitive action to take; noop where the skill is impossible or done.
        done: bool[S], what the skill is for holds now.
        why: i32[S], `POSSIBLE`, or what stands against it.
        steps: i32[S], how far the target is, about.
    """

    action: Array
    done: Array
    why: Array
    steps: Array


class CraftSkills:
    """The skills of one world's players: see the module's docstring, and `wrappers/skills.py`.

    In table order: `collect wood until you hold 1`, ..., 9, and so for saplings, stone, coal, iron,
    diamonds; `drink`, `eat plant`, `eat cow`, `fight zombie`, `fight skeleton`; `place stone`, ...;
    `make wood pickaxe`, ...; `sleep`; `wait`; `go to tree`, ... (the nearest in view); `explore
    west`, ...; for each other player `follow player_1`, `help player_1` (who is down), and `give
    stone to player_1 until you hold 0`, ..., 8; and the other primitive actions, for one step each.

    Attributes:
        names: the table.
        instant: bool[S], whether a skill ends with its first step.
        wait: index of the skill that does nothing.
    """

    def __init__(self, env: Setting):
        self._env, contents = env, env.contents
        self._mined = mined_by(env.craft)
        self._gathered = {"wood": rl.TREE, "sapling": rl.GRASS}
        for code, (name, _, _) in contents.collect.items():
            if code in self._mined:
                self._gathered.setdefault(name, code)
        self._targets = (*TARGETS, *(rl.MATERIALS[code] for code in contents.materials))
        names = [f"collect {x} until you hold {k}" for x in self._gathered for k in range(1, 10)]
        names += ["drink", "eat plant", *HUNTED]
        names += [f"place {name}" for name in rl.PLACES]
        names += [f"make {name.replace('_', ' ')}" for name in contents.makes]
        names += ["sleep", "wait"]
        self.wait = len(names) - 1
        names += [f"go to {name}" for name in self._targets]
        names += [f"explore {name}" for name in COMPASS]
        self._gifts = [
            (item, keep)
            for item in contents.items
            for keep in (range(rl.MOST) if item in self._gathered else range(1))
        ]
        for mate in env.agents if env.num_players > 1 else ():
            names += [f"follow {mate}", f"help {mate}"]
            names += [f"give {item} to {mate} until you hold {k}" for item, k in self._gifts]
        self._first_primitive = len(names)
        names += [name for name in env.actions[1:] if name != "sleep"]
        self.names = tuple(names)
        self.instant = np.arange(len(names)) >= self._first_primitive
        self.instant[self.wait] = True
        self._index = {name: i for i, name in enumerate(names)}
        self._primitives = [self._index.get(name, self.wait) for name in env.actions]
        self._grammar = self._words()
        written = sorted((n for n in names[self._first_primitive :] if "_" in n), key=len)
        self._steps = re.compile(rf"(?<!\w)(?:{'|'.join(reversed(written))})(?!\w)")
        self._compiled = jax.jit(self.details)

    def _words(self) -> Grammar:
        """What names a skill."""
        craft, names, first = self._env.craft, self.names, self._first_primitive
        gathered = {spaced(item): item for item in self._gathered}
        gathered |= {f"{name} ore": name for name in ("coal", "iron", "diamond")}
        gathered |= {"log": "wood", "piece of wood": "wood"}
        found = gathered | {"tree": "wood", "timber": "wood", "rock": "stone"}
        gifts = {spaced(name): name for name in craft.gifts} | {"water": "drink", "log": "wood"}
        players = {name: i for i, name in enumerate(self._env.agents)}
        others = ("teammate", "partner", "friend", "ally", "other player", "him", "her", "them")
        return Grammar(
            _PHRASES,
            {
                "goods": {name: item for name, item in gathered.items() if item in self._gathered},
                "item": {name: item for name, item in found.items() if item in self._gathered},
                "foe": {"zombie": "zombie", "skeleton": "skeleton"},
                "put": PUT,
                "seed": SEED,
                "station": STATION,
                "tool": {name: spaced(tool) for name, tool in tools(craft).items()},
                "sight": {name: name for name in self._targets}
                | {"lake": "water", "crafting table": "table", "workbench": "table"},
                "way": WAYS,
                "name": {name: i for i, name in enumerate(names) if i < first}
                | {name: names.index(name) for name in names[first:] if name in MOVES}
                | dict.fromkeys(("interact", "interact with it", "use it"), names.index("do")),
                "gift": gifts | tools(craft),
                "player": players | dict.fromkeys(others, -1),
            },
        )

    def _held(self, sight: Perception, item: str) -> Array:
        """How many of an item the player holds."""
        return sight.inventory[self._env.contents.items.index(item)]

    def primitive(self, action: Array) -> Array:
        """The skill that takes one primitive action (`sleep` is one already); traceable."""
        return jnp.asarray(self._primitives, jnp.int32)[action]

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        """(action i32[S], done bool[S], possible bool[S]) of all skills, for one player."""
        details = self.details(perception)
        return details.action, details.done, details.why == POSSIBLE

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        """(action, done, possible) of one skill, for one player."""
        action, done, possible = self.survey(perception)
        return action[skill], done[skill], possible[skill]

    def details(self, perception: Array) -> Details:
        s, craft, held = parse_perception(self._env.layout, perception), self._env.craft, self._held
        seeds = jnp.asarray(starts(ROWS, COLUMNS, *HERE))
        others = jnp.asarray(s.bodies > 0).at[HERE].set(False)
        cost = entering(s.cells, s, mined=self._mined)
        cost = jnp.where(others & (cost < FAR), 4 * STEP, cost).at[HERE].set(FAR)
        ways = flood(seeds, cost.astype(jnp.int16), ROWS * COLUMNS // 2)
        touch = touching(ways, seeds)
        groups: list[Details] = []

        def add(action: Any, done: Any, why: Any, steps: Any = 0) -> None:
            """One skill, or as many as any of these is long."""
            parts = jnp.broadcast_arrays(*(jnp.atleast_1d(x) for x in (action, done, why, steps)))
            groups.append(Details(*parts))

        def nearest_of(mask: Array) -> tuple[Array, Array, Array]:
            """(the action that leads to the nearest of some cells, why not, steps)."""
            least = jnp.min(jnp.where(mask, touch, FAR)).astype(jnp.int32)
            why = jnp.where(least < FAR, POSSIBLE, jnp.where(jnp.any(mask), NO_WAY, NO_TARGET))
            return stride(s, least & 7, self._mined), why, (least >> 3) - 1

        def facing(good: Array, act: int) -> Array:
            """What leads to facing a good cell, and then to acting on it."""
            walk, faces = turn_to(s, good)
            return jnp.where(faces, act, walk)

        free = s.bodies == 0
        counts = np.arange(1, rl.MOST + 1)
        for item, code in self._gathered.items():
            action, why, steps = nearest_of((s.cells == code) & free)
            if code == rl.GRASS:
                action = facing(s.cells == code, rl.DO)
            tool = self._mined.get(code)
            if tool is not None:
                why = jnp.where(s.inventory[tool] > 0, why, NEEDS)
            add(action, held(s, item) >= counts, why, steps)
        water, why, steps = nearest_of((s.cells == rl.WATER) & free)
        at_water = (s.faced(s.cells) == rl.WATER) & (s.faced(s.bodies) == 0)
        add(jnp.where(at_water, rl.DO, water), s.vital(rl.DRINK) >= rl.MOST, why, steps)
        fed = s.vital(rl.FOOD) >= rl.MOST
        plant, why, steps = nearest_of((s.cells == rl.RIPE_PLANT) & free)
        add(plant, fed & s.done("eat_plant"), why, steps)
        for kind in HUNTED.values():
            there = s.bodies == kind
            if kind == rl.COW:
                done = fed & s.done("eat_cow")
            else:
                done = s.done(f"defeat_{rl.CREATURES[kind - 1]}") & ~jnp.any(there)
            action, why, steps = nearest_of(there)
            add(action, done, why, steps)
        for i, name in enumerate(rl.PLACES):
            item, count = craft.place_cost(name)
            ground = one_of(s.cells, craft.place_on(name))
            why = jnp.where(held(s, item) >= count, POSSIBLE, NEEDS)
            done = s.faced(s.cells) == rl.PLACED[i]
            add(facing(ground, rl.PLACE + i), done, why)
        for i, (name, recipe) in enumerate(self._env.contents.recipes.items()):
            able = s.table & (s.furnace if rl.FURNACE in recipe.near else True)
            for item, count in craft.make_cost(name).items():
                able = able & (held(s, item) >= count)
            add(rl.MAKE + i, held(s, name) > 0, jnp.where(able, POSSIBLE, NEEDS))
        rested = (s.vital(rl.ENERGY) >= rl.MOST) & ~s.asleep
        add(rl.SLEEP, rested, jnp.where(rested, ALREADY, POSSIBLE))
        add(rl.NOOP, True, POSSIBLE)

        for name in self._targets:
            here = s.cells == rl.MATERIALS.index(name)
            action, why, steps = nearest_of(here & free)
            done = s.faced(here) | (here[HERE] if name in ("grass", "sand", "path") else False)
            add(action, done, why, steps)
        rows = np.arange(ROWS)[:, None] - HERE[0]
        columns = np.arange(COLUMNS)[None] - HERE[1]
        for down, right in rl.DELTAS:
            # Towards the edge of the view on that side, and as straight as can be.
            ahead = rows * down + columns * right
            aside = np.abs(rows * right) + np.abs(columns * down)
            left = (HERE[0] if down else HERE[1]) - ahead
            total = jnp.where(ways < FAR, ways + (2 * left + aside) * STEP, 2 * FAR)
            best = jnp.min(jnp.where(ahead > 0, total, 2 * FAR)).astype(jnp.int32)
            edge = s.cells[HERE[0] + down, HERE[1] + right] == rl.VOID
            why = jnp.where(best < 2 * FAR, POSSIBLE, NO_WAY)
            add(stride(s, best & 7, self._mined), edge, why, left[HERE])

        if self._env.num_players > 1:
            self._with_others(s, seeds, add)
        every = np.arange(1, len(self._env.actions))
        add(every[every != rl.SLEEP], True, POSSIBLE)
        joined = Details(*(jnp.concatenate(part) for part in zip(*groups, strict=True)))
        instant = jnp.asarray(self.instant)
        why = jnp.where(joined.done & ~instant & (joined.why == POSSIBLE), ALREADY, joined.why)
        # The only thing to do asleep, and down, is to wait; a skill begun goes on afterwards.
        awake = ~s.asleep
        waits = np.arange(len(self.names)) == self.wait
        why = jnp.where(awake | waits, why, ASLEEP)
        action = jnp.where(why == POSSIBLE, joined.action, rl.NOOP)
        return Details(action.astype(jnp.int32), joined.done, why, joined.steps)

    def _with_others(self, s: Perception, seeds: Array, add: Any) -> None:
        """The skills that concern another player, for each of all players. On the way nothing is
        mined and no stone is laid, so that what is given is what was meant."""
        walkable = one_of(s.cells, rl.WALKABLE) & (s.bodies == 0)
        ways = flood(seeds, jnp.where(walkable, np.int16(STEP), FAR), ROWS * COLUMNS // 2)
        touch = touching(ways, seeds)
        own = s.bodies[HERE].astype(jnp.int32) - PLAYER
        rows = np.arange(ROWS)[:, None] - HERE[0]
        columns = np.arange(COLUMNS)[None] - HERE[1]
        keeps = np.array([keep for _, keep in self._gifts])
        craft = self._env.craft
        gives = np.array([craft.give + craft.gifts.index(item) for item, _ in self._gifts])
        held = jnp.stack([self._held(s, item) for item, _ in self._gifts])
        for k in range(self._env.num_players):
            slot = jnp.clip(jnp.where(k < own, k, k - 1), 0, self._env.num_players - 2)
            mate = s.teammates[slot].astype(jnp.int32)
            row, column, alive = mate[0] - 128, mate[1] - 128, mate[2]
            there = s.bodies == PLAYER + k
            # Out of view, as the crow flies; that counts twice, so that pockets on the straight
            # way are no traps.
            left = jnp.abs(rows - row) + jnp.abs(columns - column)
            far = jnp.min(jnp.where(ways < FAR, ways + 2 * left * STEP, 2 * FAR)).astype(jnp.int32)
            close = jnp.min(jnp.where(there, touch, FAR)).astype(jnp.int32)
            cost = jnp.where(close < FAR, close, far)
            why = jnp.where(cost < 2 * FAR, POSSIBLE, NO_WAY)
            why = jnp.where((alive != rl.DEAD) & (own != k), why, NO_TARGET)
            steps = jnp.abs(row) + jnp.abs(column) - 1
            faces = s.faced(there)
            walk = jnp.where(faces, rl.NOOP, stride(s, cost & 7, self._mined))
            add(walk, (steps <= 0) & (own != k), why, steps)
            down = jnp.where(alive == rl.DOWN, why, NO_TARGET)
            add(jnp.where(faces, rl.DO, walk), (alive == rl.ALIVE) & (own != k), down, steps)
            up = jnp.where(alive == rl.ALIVE, why, NO_TARGET)
            done = (held <= keeps) & (own != k)
            add(jnp.where(faces, gives, walk), done, jnp.where(held > keeps, up, NEEDS), steps)

    # ---- in words -----------------------------------------------------------------------------

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill what it would do now, or, where it is impossible, why."""
        details = jax.device_get(self._compiled(np.asarray(perception)))
        sight = parse_perception(self._env.layout, np.asarray(perception))
        return [self._word(i, details, sight) for i in range(len(self.names))]

    def _word(self, i: int, details: Details, sight: Perception) -> str:
        name, why, steps = self.names[i], int(details.why[i]), int(details.steps[i])
        if why == ASLEEP:
            return "you are asleep"
        if i >= self._first_primitive:
            return "this one step only"
        if i == self.wait:
            return "do nothing for one step"
        if why == ALREADY:
            return "done already"
        if why == NEEDS:
            return self._needs(name, sight)
        if why == NO_WAY:
            return "no way leads there"
        if why == NO_TARGET:
            if name.startswith(("follow", "help", "give")):
                return "not now: that is you, or nobody who can take it"
            return "there is none in view"
        if name == "sleep":
            return "until you have all your energy; you can be attacked meanwhile"
        if name.startswith(("place", "make")):
            return f"takes {self._price(name)}"
        return "now" if steps <= 0 else f"{steps} step{'s' * (steps > 1)} away"

    def _price(self, name: str) -> str:
        """What a thing costs to place or to make, in words."""
        craft, (verb, _, thing) = self._env.craft, name.partition(" ")
        costs = [craft.place_cost(thing)] if verb == "place" else None
        cost = dict(costs) if costs else craft.make_cost(thing.replace(" ", "_"))
        return ", ".join(f"{count} {item}" for item, count in cost.items())

    def _needs(self, name: str, sight: Perception) -> str:
        if name.startswith("collect"):
            item = name.split(" ")[1]
            tool = self._env.contents.collect[self._gathered[item]][1]
            return f"needs a {str(tool).replace('_', ' ')}"
        if name.startswith("give"):
            return f"you hold {int(self._held(sight, name.split(' ')[1]))}"
        if name.startswith("place"):
            return f"needs {self._price(name)}"
        stations = self._env.craft.make_near(name.removeprefix("make ").replace(" ", "_"))
        near = " and a ".join(rl.MATERIALS[station] for station in stations)
        return f"needs {self._price(name)}, and a {near} within reach"

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        """The skill that a sentence names, None if it names none.

        "collect 2 stone" and "give 2 stone to player_1" count from what the player holds; said
        again while that skill is under way (`current`), they mean the same one.

        Raises:
            IllegalAction: it speaks of a skill, but not of one in the table.
        """
        # "place_stone" is one step, "place stone" is a skill.
        plain = normalise(text)
        steps = {found[0] for found in self._steps.finditer(plain)}
        if len(steps) == 1:
            plain = self._steps.sub("@", plain)
        sight = None if perception is None else parse_perception(self._env.layout, perception)
        readings = self._grammar.read(plain)
        if any(reading.meaning != "one way" for reading in readings):
            readings = [reading for reading in readings if reading.meaning != "one way"]
        # "Give a stone" is to give one.
        most = max((len(reading.values) for reading in readings), default=0)
        meant = [reading for reading in readings if len(reading.values) == most]
        if any(reading.meaning == "one step" for reading in meant):
            return self._index[steps.pop()] if len(steps) == 1 else None
        named = {self._skill(meaning, said, sight, current) for meaning, said in meant}
        return named.pop() if len(named) == 1 else None

    def _skill(
        self, verb: str, said: dict[str, Any], sight: Perception | None, current: int | None
    ) -> int:
        if verb == "named":
            return int(said["name"])
        if verb == "one way":
            way = said["way"]
            raise IllegalAction(
                f"say 'move_{rl.FACINGS[way]}' for one step, or 'explore {COMPASS[way]}'"
            )
        if verb == "move":
            return self._index[f"move_{rl.FACINGS[said['way']]}"]
        if verb == "explore":
            return self._index[f"explore {COMPASS[said['way']]}"]
        if verb == "request":
            return self._named(f"request_{said['gift']}", "there is no other player")
        if verb == "collect":
            return self._collect(said, sight, current)
        if verb in ("follow", "help", "give"):
            mate = self._mate(verb, said.get("player", -1), sight)
            if verb == "give":
                return self._give(mate, said, sight, current)
            return self._named(f"{verb} {mate}", "there is no such player")
        what = said.get("what")
        return self._named(verb if what is None else f"{verb} {what}", "there is no such thing")

    def _collect(self, said: dict[str, Any], sight: Perception | None, current: int | None) -> int:
        item, count, goal = said["item"], said.get("count"), said.get("n", rl.MOST)
        begun = f"collect {item} until you hold"
        under_way = -1
        if current is not None and self.names[current].startswith(begun):
            under_way = int(self.names[current].removeprefix(begun))
            if count is None and "n" not in said:
                return int(current)  # type: ignore[arg-type]
        if count is not None:
            held = 0 if sight is None else int(self._held(sight, item))
            goal = under_way if 0 <= under_way - count <= held else held + count
        if not 0 < goal <= rl.MOST:
            raise IllegalAction(f"one can hold {rl.MOST} {item}; {goal} is asked for")
        return self._index[f"{begun} {goal}"]

    def _mate(self, verb: str, player: int, sight: Perception | None) -> str:
        agents = self._env.agents
        if player < 0 and len(agents) == 2 and sight is not None:
            player = 1 - (int(sight.bodies[HERE]) - PLAYER)
        if player < 0 or len(agents) == 1:
            raise IllegalAction(f"{verb} whom? The players are {', '.join(agents)}")
        return agents[player]

    def _give(
        self, mate: str, said: dict[str, Any], sight: Perception | None, current: int | None
    ) -> int:
        item, count, keep = said["gift"], said.get("count"), said.get("n", 0)
        if item not in self._env.contents.items:
            items = ", ".join(self._env.contents.items)
            raise IllegalAction(f"{item} cannot be carried over; there are {items}")
        begun = f"give {item} to {mate} until you hold"
        if count is not None and sight is not None:
            held = int(self._held(sight, item))
            if current is not None and self.names[current].startswith(begun):
                return current
            keep = held - count
            if keep < 0:
                raise IllegalAction(f"you hold {held} {item}, and cannot give {count}")
        return self._named(f"{begun} {keep}", "there is no such player, or not so many")

    def _named(self, name: str, otherwise: str) -> int:
        if name not in self._index:
            raise IllegalAction(f"there is no skill {name!r}: {otherwise}")
        return self._index[name]

    def rules(self) -> str:
        """What a reader must know of the skills beyond the rules of the world."""
        others = (
            "follow player_1: go to that player and stay near.\n"
            "help player_1: go to that player, who is down, and help them up.\n"
            "give 2 stone to player_1: go there and hand them over, one in each step. In the list "
            "it is called by what is left: give stone to player_1 until you hold 3.\n"
        )
        return (
            "You act by skills. A skill walks, mines and builds for you, one step each time you "
            "name it; go on naming it until it is done, or name another one at any time.\n"
            "collect wood (sapling, stone, coal, iron, diamond) until you hold 3: take them from "
            "the nearest in view, with the tool that this needs.\n"
            "drink, eat plant, eat cow: go there, and do it until you are full.\n"
            "fight zombie (skeleton): go there and hit it.\n"
            "place stone (table, furnace, plant): in front of you, or where you can turn to.\n"
            "make wood pickaxe, ...: what stands beside you and what you hold must suffice.\n"
            "sleep: until you have all your energy. wait: do nothing for one step.\n"
            f"go to tree ({', '.join(self._targets[1:])}): the nearest in view.\n"
            f"explore west (east, north, south): walk on that way, around what is in the way.\n"
            f"{others if self._env.num_players > 1 else ''}"
            f"{', '.join(self._env.actions[1:6])}, ...: one plain step, an action by its name.\n"
            "On the way trees are felled, stones mined, and stones laid into water; nobody walks "
            "into lava. A skill whose target you do not see is impossible: explore first."
        )


# ---- ways to say skills --------------------------------------------------------------------------

_ON = "[(keep|still|continue [(with|to)]|keep on|go on [(with|to)]|go|go and|start)]"
_NEAREST = "[(nearest|closest|this|that|some|my|next|nearby)]"
_GATHER = (
    "(collect|gather|get|mine|chop|take|harvest|pick|pick up|cut|obtain|fetch|dig|dig up|chop down|"
    "cut down|fell)"
)
_UNTIL = "until (you|i|we) (hold|have|carry|own) {n}"
_HAND = "(give|hand|hand over|pass|bring|deliver)"
_BACK = "(give|hand|pass|bring)"
_PHRASES = {
    "collect": [f"{_ON} {_GATHER} {_NEAREST} {{item}} [{_UNTIL}]",
                f"{_ON} {_GATHER} {{count}} [(more|piece of|unit of)] {{item:goods}}",
                f"{_ON} {_GATHER} {_NEAREST} {{item}} (until|up to) {{n}}",
                f"{_ON} {_GATHER} up to {{n}} {{item}}"],
    "drink": [f"{_ON} drink [some] [(water|from water|from lake)] [until [(i am|i'm)] full]",
              f"{_ON} (collect|get|fetch) [some] (water|drink)", "have [a] drink",
              "take [a] drink [of water]"],
    "eat plant": [f"{_ON} eat {_NEAREST} [ripe] (plant|fruit|crop)"],
    "eat cow": [f"{_ON} (eat|hunt|kill|attack|fight|kill and eat|hunt and eat) {_NEAREST} cow"],
    "fight": [f"{_ON} (fight|attack|kill|hit|defeat|slay) [off] {_NEAREST} {{what:foe}}"],
    "place": [f"{PLACE} {_NEAREST} [1|one] {{what:put}} [(here|in front of me|down|in front)]",
              "plant {_NEAREST} {what:seed} [here]".replace("{_NEAREST}", _NEAREST),
              "(make|craft|create) [(my|1|one)] {what:station} [here]"],
    "make": [f"{MAKE} [(myself|me|my|1|one|us)] {{what:tool}} {NEAR}"],
    "sleep": [f"{_ON} (sleep|rest|nap)", "(go to sleep|fall asleep|go to bed|lie down to sleep)",
              "(get|take|have) [some|a] (sleep|rest|nap)"],
    "wait": ["(wait|stay|remain|stand|idle|hold) [(here|still|put|in place|where i am|1 step|"
             "one step)]", "do nothing", "(no op|noop)", "(skip|pass) [(my|this)] (turn|step)"],
    "go to": [f"{_ON} (go|walk|move|run|head|travel|get|go back|walk over|go over) (to|toward) "
              f"{_NEAREST} {{what:sight}}", f"(approach|reach|find [my] way to) {_NEAREST} "
              "{what:sight}"],
    "explore": ["[(go|keep|continue|start|go on)] (explore|scout) [further] [(to|toward|in|into)] "
                "{way} [(direction|side)]"],
    "one way": ["[(go|walk|run|head|travel|turn|face|explore to)] [to] {way}"],
    "move": ["(move|step) [(1|one) (step|cell|tile)] [to] {way} [(1|one) (step|cell|tile)]",
             "take [(1|one)] step [to|toward] {way}", "(go|walk) (1|one) step [to] {way}"],
    "named": ["{name}"],
    "one step": ["@"],
    "follow": ["(follow|accompany|join|stay with|stay near|stay close to|go with|go to|walk to|"
               "come to|go over to|head to|keep follow|keep up with) [my] [{player}]"],
    "help": ["(help|help up|revive|rescue|save|go help|go and help) [my] {player} [(up|get up)]",
             "help up", "go help"],
    "give": [f"{_HAND} [(all|all my|all of my|my)] {{gift}} [over] to [my] {{player}} [{_UNTIL}]",
             f"{_HAND} {{count}} [of my] {{gift}} [over] to [my] {{player}}",
             f"{_BACK} [my] {{player}} [(all my|all of my|my)] {{gift}} [{_UNTIL}]",
             f"{_BACK} [my] {{player}} {{count}} [of my] {{gift}}", f"{_HAND} {{gift}}"],
    "request": ["(request|ask for|beg for|call for) [(some|1|one|more)] {gift}",
                "ask (everyone|others|all|[my] {player}) for [(some|1|one|more)] {gift}"],
}  # fmt: skip
