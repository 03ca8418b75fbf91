"""CraftWorld's skills: path-finding controllers, as pure functions of what one player sees.

A skill is a name in a table (`CraftSkills.names`); at every step its controller turns the player's
own perception (`CraftWorld.perceive`) into one primitive action. A skill may be dropped or changed
at any step. By themselves skills remember nothing: what is out of view does not exist for them.
With memory (`CraftSkills.with_memory`) they know the map as it was seen (`seen.py`), and there are
more of them; they then read the perception followed by the memory, both bytes.

Paths lead around lava and what stands in the way, or through it where that is quicker: trees are
felled, stone and ores are mined if the tool is there, stones are laid into water.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, IllegalAction
from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.parts import normalise
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.observe import PLAYER, Perception, one_of, parse_perception
from manyhands.envs.craftworld.reading import (
    PUT,
    SEED,
    STATION,
    WAYS,
    spaced,
    tools,
    without_price,
)
from manyhands.envs.craftworld.seen import UNSEEN, map_shape, step_of, update, walks
from manyhands.envs.craftworld.setting import UNKNOWN, Setting
from manyhands.envs.craftworld.shelter import PLAN, shelter
from manyhands.envs.craftworld.shelter import moved as moved_plan
from manyhands.envs.craftworld.skill_phrases import SAID, SHORT
from manyhands.envs.craftworld.skill_words import (
    FILLS,
    NEAR_BY,
    WATERSIDE,
    check_beside,
    deeds_of,
    lies_on,
    seen_names,
    spelled_before,
    wanted,
)
from manyhands.envs.craftworld.state import HERE
from manyhands.envs.craftworld.tails import SKILL_KINDS, SKILL_TAILS, heads, split
from manyhands.envs.craftworld.ways import (
    COLUMNS,
    FAR,
    ROWS,
    STEP,
    beside,
    entering,
    flood,
    mined_by,
    starts,
    stride,
    strides,
    touching,
    turn_to,
)

# ---- the skills ----------------------------------------------------------------------------------

POSSIBLE, ASLEEP, ALREADY, NEEDS, NO_TARGET, NO_WAY = range(6)
MOVES = (*(f"move_{way}" for way in rl.FACINGS), "do")
HUNTED = {"eat cow": rl.COW, "fight zombie": rl.ZOMBIE, "fight skeleton": rl.SKELETON}
TARGETS = (
    *("tree", "grass", "sand", "path", "water", "stone", "coal", "iron", "diamond"),
    *("table", "furnace", "plant", "ripe plant"),
)
FARTHEST = 254  # rows and columns of a remembered map, so that places in it fit a byte
REACH = 15  # cells to each side in which ways are found by memory; beyond, as the crow flies
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


class Field(NamedTuple):
    """What a player knows of the cells around it.

    Attributes:
        cells, bodies: u8[R, C], as in `Perception`; cells that were never seen are void.
        cost: i16[R, C], of entering them.
        middle: where the player is.
        known: u8[H, W], the whole map as it was seen (`seen.py`), or None without memory.
    """

    cells: Array
    bodies: Array
    cost: Array
    middle: tuple[int, ...]
    known: Array | None


def around(mask: Array) -> Array:
    """bool[R, C], where one of the 3 x 3 cells around is one of these."""
    for first, second in ((0, 1), (2, 3)):
        mask = mask | beside(mask, first, False) | beside(mask, second, False)
    return mask


def _far(steps: int) -> str:
    """How far away the place is where a skill does its thing."""
    return "about here" if steps <= 0 else f"about {steps} step{'s' * (steps > 1)} away"


class CraftSkills:
    """The skills of one world's players: see the module's docstring, and `wrappers/skills.py`.

    Args:
        env: the world.
        remembers: whether they have memory.

    In table order: `collect wood until you hold 1`, ..., 9, and so for saplings, stone, coal, iron,
    diamonds; `drink`, `eat plant`, `eat cow`, `fight zombie`, `fight skeleton`; `place stone`, ...;
    `make wood pickaxe`, ...; `sleep`; `wait`; with memory `shelter` and `build workshop`; `go to
    tree`, ... (the nearest in view, or with memory of those that were seen; gaps, gates and beacons
    where there can be joint tasks); `explore west`, ...;
    for each other player `follow player_1`, `help player_1` (who is down), and `give stone to
    player_1 until you hold 0`, ..., 8; and the other primitive actions, for one step each.

    Attributes:
        names: the table.
        instant: bool[S], whether a skill ends with its first step.
        wait: index of the skill that does nothing.
        memory: bytes of a player's memory.
        example: a skill, for the rules.
    """

    example = "collect wood"

    def __init__(self, env: Setting, remembers: bool = False):
        self._env, contents = env, env.contents
        # Twice the world's size, so that what is far on one side is not taken to be on the other.
        whole = map_shape(2 * env.height, 2 * env.width)
        self._map = min(whole[0], FARTHEST), min(whole[1], FARTHEST)
        self.memory = int(np.prod(self._map)) + 1 + PLAN if remembers else 0
        self._mined = mined_by(env.craft)
        self._gathered = {"wood": rl.TREE, "sapling": rl.GRASS}
        for code, (name, _, _) in contents.collect.items():
            if code in self._mined:
                self._gathered.setdefault(name, code)
        joint = [before for before, _ in rl.JOINT.values()] if env.has_joint else []
        self._targets = (*TARGETS, *(rl.MATERIALS[code] for code in (*joint, *contents.materials)))
        names = [f"collect {x} until you hold {k}" for x in self._gathered for k in range(1, 10)]
        names += ["drink", "eat plant", *HUNTED]
        names += [f"place {name}" for name in rl.PLACES]
        names += [f"make {name.replace('_', ' ')}" for name in contents.makes]
        names += ["sleep", "wait"]
        self.wait = len(names) - 1
        names += ["shelter", "build workshop"] if remembers else []
        names += [f"go to {name}" for name in self._targets]
        names += [f"explore {name}" for name in COMPASS]
        self._gifts = [
            (item, keep)
            for item in contents.items
            for keep in (range(rl.MOST) if item in self._gathered else range(1))
        ]
        for mate in env.agents if env.num_players > 1 else ():
            names += [f"follow {mate}", f"help {mate}"]
            names += [
                f"give {spaced(item)} to {mate} until you hold {k}" for item, k in self._gifts
            ]
        self._first_primitive = len(names)
        names += [name for name in env.actions[1:] if name != "sleep"]
        self.names = tuple(names)
        self.instant = np.arange(len(names)) >= self._first_primitive
        self.instant[self.wait] = True
        self._index = {name: i for i, name in enumerate(names)}
        self.lawful_steps = [self._index.get(name, self.wait) for name in env.actions]
        self._grammar = self._words()
        things = {
            "seen": seen_names(self._targets, env.agents),
            "tool": tools(env.craft),
            "put": PUT,
            "gift": {spaced(name): name for name in env.craft.gifts},
        }
        self._tails = Grammar(SKILL_TAILS, things)
        written = sorted((n for n in names[self._first_primitive :] if "_" in n), key=len)
        self._steps = re.compile(rf"(?<!\w)(?:{'|'.join(reversed(written))})(?!\w)")
        self._compiled = jax.jit(self.details)

    def with_memory(self) -> CraftSkills:
        """The same skills with memory, and those that take one."""
        return CraftSkills(self._env, remembers=True)

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
            SAID,
            {
                "goods": {name: item for name, item in gathered.items() if item in self._gathered},
                "item": {name: item for name, item in found.items() if item in self._gathered},
                "seedling": {"sapling": "sapling"},
                "foe": {"zombie": "zombie", "skeleton": "skeleton"},
                "put": PUT,
                "seed": SEED,
                "station": STATION,
                "tool": {name: spaced(tool) for name, tool in tools(craft).items()},
                "sight": {name: name for name in self._targets}
                | {
                    **dict.fromkeys(("lake", "pond", "pool", "river"), "water"),
                    "rock": "stone",
                    "crafting table": "table",
                    "workbench": "table",
                    **dict.fromkeys(WATERSIDE, "water"),
                },
                "near": NEAR_BY,
                "seen": seen_names(self._targets, self._env.agents),
                "way": WAYS | {f"{side}ern": WAYS[side] for side in COMPASS},
                "name": {name: i for i, name in enumerate(names) if i < first}
                | spelled_before(names[:first], craft.gifts)
                | {name: names.index(name) for name in names[first:] if name in MOVES}
                | dict.fromkeys(("interact", "interact with it", "use it"), names.index("do")),
                "gift": gifts | tools(craft),
                "player": players | dict.fromkeys(others, -1),
                "both": {"both": 2},
                "joint": {rl.MATERIALS[code]: code for code, _ in rl.JOINT.values()} | {"it": -1},
            },
            short=SHORT,
        )

    def _held(self, sight: Perception, item: str) -> Array:
        """How many of an item the player holds."""
        return sight.inventory[self._env.contents.items.index(item)]

    def primitive(self, action: Array) -> Array:
        """The skill that takes one primitive action (`sleep` is one already); traceable."""
        return jnp.asarray(self.lawful_steps, jnp.int32)[action]

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        """(action i32[S], done bool[S], possible bool[S]) of all skills, for one player."""
        details = self._compiled(perception)  # traced once, for all who call it
        return details.action, details.done, details.why == POSSIBLE

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        """(action, done, possible) of one skill, for one player."""
        action, done, possible = self.survey(perception)
        return action[skill], done[skill], possible[skill]

    # ---- memory -------------------------------------------------------------------------------

    def first(self, perception: Array) -> Array:
        """u8[memory], of a player who has seen no more than this."""
        nothing = jnp.zeros(self.memory, jnp.uint8)
        row = jnp.concatenate([perception, nothing])
        return self.remember(row, jnp.int32(rl.NOOP), perception).at[-1 - PLAN :].set(0)

    def remember(self, row: Array, action: Array, perception: Array) -> Array:
        """u8[memory], after an action. `row`: the perception and the memory before it."""
        before = parse_perception(self._env.layout, row)
        sight = parse_perception(self._env.layout, perception)
        known, _, plan = self._parts(row)
        known, moved = update(known, walks(before, action), sight)
        plan = shelter(before, self._mined, plan).plan
        plan = moved_plan(plan, jnp.stack(step_of(sight, moved)))
        woken = (before.asleep & ~sight.asleep).astype(jnp.uint8)
        return jnp.concatenate([known.reshape(-1), woken[None], plan])

    def _parts(self, row: Array) -> tuple[Array, Array, Array]:
        """The parts of a memory: (the map, whether the player has just been woken, its plan of a
        shelter)."""
        memory = row[-self.memory :]
        known, (woken, *plan) = memory[: -1 - PLAN].reshape(self._map), memory[-1 - PLAN :]
        return known, woken > 0, jnp.stack(plan)

    def _field(self, s: Perception, row: Array) -> Field:
        """What a player knows of the cells around it."""
        if not self.memory:
            cost = entering(s.cells, s, mined=self._mined)
            return Field(s.cells, s.bodies, cost, HERE, None)
        known, _, _ = self._parts(row)
        rows, columns = self._map
        middle = rows // 2, columns // 2
        half = min(REACH, (rows - 1) // 2), min(REACH, (columns - 1) // 2)
        window = tuple(slice(m - h, m + h + 1) for m, h in zip(middle, half, strict=True))
        cells = jnp.where(known[window] == UNSEEN, np.uint8(1 + rl.VOID), known[window]) - np.uint8(
            1
        )
        bodies = jnp.pad(s.bodies, [(h - here,) * 2 for h, here in zip(half, HERE, strict=True)])
        cost = entering(cells, s, mined=self._mined)
        cost = jnp.where(known[window] == UNSEEN, np.int16(2 * STEP), cost)
        return Field(cells, bodies, cost, half, known)

    def _beyond(self, known: Array, codes: Array) -> tuple[Array, Array, Array]:
        """(distance, rows, columns), i32[], to the nearest cell of a map that holds one of some
        materials, as the crow flies."""
        rows, columns = self._map
        down = np.arange(rows)[:, None] - rows // 2
        right = np.arange(columns)[None] - columns // 2
        number = (np.abs(down) + np.abs(right)) << 16 | (down + 128) << 8 | (right + 128)
        least = jnp.min(jnp.where(known == codes + 1, number.astype(np.int32), 1 << 30))
        return least >> 16, ((least >> 8) & 255) - 128, (least & 255) - 128

    # ---- what they do -------------------------------------------------------------------------

    def details(self, perception: Array) -> Details:
        s, craft, held = parse_perception(self._env.layout, perception), self._env.craft, self._held
        cells, bodies, cost, middle, known = self._field(s, perception)
        height, width = cells.shape
        seeds = jnp.asarray(starts(height, width, *middle))
        others = jnp.asarray(bodies > 0).at[middle].set(False)
        cost = jnp.where(others & (cost < FAR), 4 * STEP, cost).at[middle].set(FAR)
        sweeps = ROWS * COLUMNS // 2 if known is None else 3 * REACH
        ways = flood(seeds, cost.astype(jnp.int16), sweeps)
        touch = touching(ways, seeds)
        away_down = np.arange(height)[:, None] - middle[0]
        away_right = np.arange(width)[None] - middle[1]
        begin = strides(s, self._mined)
        groups: list[Details] = []

        def add(action: Any, done: Any, why: Any, steps: Any = 0) -> None:
            """One skill, or as many as any of these is long."""
            parts = jnp.broadcast_arrays(*(jnp.atleast_1d(x) for x in (action, done, why, steps)))
            groups.append(Details(*parts))

        def nearest_of(mask: Array) -> tuple[Array, Array, Array]:
            """(the action that leads to the nearest of some cells, why not, steps)."""
            least = jnp.min(jnp.where(mask, touch, FAR)).astype(jnp.int32)
            why = jnp.where(least < FAR, POSSIBLE, jnp.where(jnp.any(mask), NO_WAY, NO_TARGET))
            return stride(begin, least & 7), why, (least >> 3) - 1

        def towards(row: Array, column: Array) -> Array:
            """How to begin to go to a place; what is left of the way counts twice."""
            left = jnp.abs(away_down - row) + jnp.abs(away_right - column)
            total = jnp.where(ways < FAR, ways + 2 * left * STEP, 4 * FAR)
            return stride(begin, jnp.min(total).astype(jnp.int32) & 7)

        def nearest_cell(code: int) -> tuple[Array, Array, Array]:
            """As `nearest_of` cells of a material, with memory of all that were seen."""
            action, why, steps = nearest_of((cells == code) & free)
            if known is None:
                return action, why, steps
            away, row, column = self._beyond(known, code)
            far = (why != POSSIBLE) & (away < 1 << 13) & (away > 1)
            return (
                jnp.where(far, towards(row, column), action),
                jnp.where(far, POSSIBLE, why),
                jnp.where(far, away - 1, steps),
            )

        def facing(good: Array, act: int) -> Array:
            """What leads to facing a good cell, and then to acting on it."""
            walk, faces = turn_to(s, good)
            return jnp.where(faces, act, walk)

        free = bodies == 0
        counts = np.arange(1, rl.MOST + 1)
        for item, code in self._gathered.items():
            action, why, steps = nearest_cell(code)
            if code == rl.GRASS:
                action = facing(s.cells == code, rl.DO)
            tool = self._mined.get(code)
            if tool is not None:
                why = jnp.where(s.inventory[tool] > 0, why, NEEDS)
            add(action, held(s, item) >= counts, why, steps)
        water, why, steps = nearest_cell(rl.WATER)
        at_water = (s.faced(s.cells) == rl.WATER) & (s.faced(s.bodies) == 0)
        add(jnp.where(at_water, rl.DO, water), s.vital(rl.DRINK) >= rl.MOST, why, steps)
        fed = s.vital(rl.FOOD) >= rl.MOST
        plant, why, steps = nearest_cell(rl.RIPE_PLANT)
        add(plant, fed & s.done("eat_plant"), why, steps)
        for kind in HUNTED.values():
            there = bodies == kind
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
            near = s.table & (s.furnace if rl.FURNACE in recipe.near else True)
            enough = jnp.bool_(True)
            for item, count in craft.make_cost(name).items():
                enough = enough & (held(s, item) >= count)
            action, steps = jnp.int32(rl.MAKE + i), jnp.int32(0)
            if known is not None:
                go, found, steps = self._to_workshop(
                    s, begin, cells, ways, known, towards, recipe.near
                )
                action, steps = jnp.where(near, action, go), jnp.where(near, 0, steps)
                near = near | found
            add(action, held(s, name) > 0, jnp.where(enough & near, POSSIBLE, NEEDS), steps)
        rested = (s.vital(rl.ENERGY) >= rl.MOST) & ~s.asleep
        if known is not None:
            # It goes on asleep, and ends when the player is woken.
            rested = rested | self._parts(perception)[1]
        lie_down = jnp.where(s.asleep, rl.NOOP, rl.SLEEP)
        add(lie_down, rested, jnp.where(rested, ALREADY, POSSIBLE))
        add(rl.NOOP, True, POSSIBLE)
        if known is not None:
            self._places_to_stay(s, begin, perception, cells, ways, known, towards, add)

        for name in self._targets:
            here = s.cells == rl.MATERIALS.index(name)
            action, why, steps = nearest_cell(rl.MATERIALS.index(name))
            done = s.faced(here) | (here[HERE] if name in ("grass", "sand", "path") else False)
            add(action, done, why, steps)
        rows = np.arange(ROWS)[:, None] - HERE[0]
        columns = np.arange(COLUMNS)[None] - HERE[1]
        top, left_ = middle[0] - HERE[0], middle[1] - HERE[1]
        ways = ways[top : top + ROWS, left_ : left_ + COLUMNS]  # of the view
        seeds = jnp.asarray(starts(ROWS, COLUMNS, *HERE))
        for down, right in rl.DELTAS:
            # Towards the edge of the view on that side, and as straight as can be.
            ahead = rows * down + columns * right
            aside = np.abs(rows * right) + np.abs(columns * down)
            left = (HERE[0] if down else HERE[1]) - ahead
            total = jnp.where(ways < FAR, ways + (2 * left + aside) * STEP, 2 * FAR)
            best = jnp.min(jnp.where(ahead > 0, total, 2 * FAR)).astype(jnp.int32)
            edge = s.cells[HERE[0] + down, HERE[1] + right] == rl.VOID
            why = jnp.where(best < 2 * FAR, POSSIBLE, NO_WAY)
            add(stride(begin, best & 7), edge, why, left[HERE])

        if self._env.num_players > 1:
            self._with_others(s, begin, seeds, add)
        every = np.arange(1, len(self._env.actions))
        add(every[every != rl.SLEEP], True, POSSIBLE)
        joined = Details(*(jnp.concatenate(part) for part in zip(*groups, strict=True)))
        instant = jnp.asarray(self.instant)
        why = jnp.where(joined.done & ~instant & (joined.why == POSSIBLE), ALREADY, joined.why)
        # The only thing to do asleep, and down, is to wait; a skill begun goes on afterwards.
        awake = ~s.asleep
        waits = np.arange(len(self.names)) == self.wait
        if self.memory:
            waits = waits | (np.arange(len(self.names)) == self._index["sleep"])
        why = jnp.where(awake | waits, why, ASLEEP)
        action = jnp.where(why == POSSIBLE, joined.action, rl.NOOP)
        return Details(action.astype(jnp.int32), joined.done, why, joined.steps)

    def _to_workshop(
        self,
        s: Perception,
        begin: tuple[Array, ...],
        cells: Array,
        ways: Array,
        known: Array,
        towards: Any,
        needs: tuple[int, ...],
    ) -> tuple[Array, Array, Array]:
        """(the action that leads to where these stations are within reach, whether such a place was
        seen, steps)."""
        place = ways < FAR
        for code in needs:
            place = place & around(cells == code)
        least = jnp.min(jnp.where(place, ways, FAR)).astype(jnp.int32)
        there = least < FAR
        action, steps = stride(begin, least & 7), least >> 3
        far_place = jnp.ones(known.shape, bool)
        for code in needs:
            far_place = far_place & around(known == code + 1)
        marked = jnp.where(far_place, np.uint8(1), np.uint8(0))
        away, row, column = self._beyond(marked, jnp.int32(0))
        far = ~there & (away < 1 << 13)
        action = jnp.where(far, towards(row, column), action)
        return action, there | far, jnp.where(far, away, steps)

    def _places_to_stay(
        self,
        s: Perception,
        begin: tuple[Array, ...],
        perception: Array,
        cells: Array,
        ways: Array,
        known: Array,
        towards: Any,
        add: Any,
    ) -> None:
        """The skills `shelter` and `build workshop`."""
        craft, held = self._env.craft, self._held
        found = shelter(s, self._mined, self._parts(perception)[2])
        lays = (s.role == 0) | (s.role == rl.MINER)
        able = lays & (held(s, "stone").astype(jnp.int32) >= found.stones)
        why = jnp.where(found.possible, jnp.where(able, POSSIBLE, NEEDS), NO_WAY)
        add(found.action, found.closed, why, found.stones)

        both, finished, _ = self._to_workshop(
            s, begin, cells, ways, known, towards, (rl.TABLE, rl.FURNACE)
        )
        table, has_table, steps = self._to_workshop(
            s, begin, cells, ways, known, towards, (rl.TABLE,)
        )
        ground = one_of(s.cells, craft.place_on("furnace")) & (s.cells != rl.LAVA)
        ground = ground & (s.bodies == 0)
        open_ = one_of(s.cells, rl.WALKABLE) & (s.bodies == 0)
        reach = around(s.cells == rl.TABLE)
        # Beside the table, and with room in front for the furnace.
        turn = jnp.full((), rl.NOOP, jnp.int32)
        for rank in range(2):
            for d, (row, column) in enumerate(rl.DELTAS):
                to = HERE[0] + row, HERE[1] + column
                on = HERE[0] + 2 * row, HERE[1] + 2 * column
                fits = open_[to] & reach[to] & (ground[on] if rank else True)
                turn = jnp.where(fits, rl.MOVE + d, turn)
        room = s.faced(ground)
        furnace = jnp.where(room, rl.PLACE + rl.PLACES.index("furnace"), turn)
        walk, faces = turn_to(s, ground)
        set_table = jnp.where(faces, rl.PLACE + rl.PLACES.index("table"), walk)
        action = jnp.where(s.table, furnace, jnp.where(has_table, table, set_table))
        action = jnp.where(finished, both, action)
        wood = has_table | (held(s, "wood") >= craft.table_wood)
        enough = finished | (wood & (held(s, "stone") >= craft.furnace_stone))
        done = s.table & s.furnace
        add(action, done, jnp.where(enough, POSSIBLE, NEEDS), jnp.where(s.table, 0, steps))

    def _with_others(self, s: Perception, begin: tuple[Array, ...], seeds: Array, add: Any) -> None:
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
            known = (alive != rl.DEAD) & (alive != UNKNOWN)
            why = jnp.where(known & (own != k), why, NO_TARGET)
            steps = jnp.abs(row) + jnp.abs(column) - 1
            faces = s.faced(there)
            walk = jnp.where(faces, rl.NOOP, stride(begin, cost & 7))
            add(walk, (steps <= 0) & (own != k), why, steps)
            down = jnp.where(alive == rl.DOWN, why, NO_TARGET)
            add(jnp.where(faces, rl.DO, walk), (alive == rl.ALIVE) & (own != k), down, steps)
            up = jnp.where(alive == rl.ALIVE, why, NO_TARGET)
            done = (held <= keeps) & (own != k)
            add(jnp.where(faces, gives, walk), done, jnp.where(held > keeps, up, NEEDS), steps)

    # ---- in words -----------------------------------------------------------------------------

    def idle(self, perception: np.ndarray) -> tuple[int, ...]:
        """The skills that are no more than to wait now: to sleep, for who is asleep."""
        asleep = bool(parse_perception(self._env.layout, np.asarray(perception)).asleep)
        return (self._index["sleep"],) if asleep else ()

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill what it would do now, or, where it is impossible, why."""
        details = jax.device_get(self._compiled(np.asarray(perception)))
        sight = parse_perception(self._env.layout, np.asarray(perception))
        return [self._word(i, details, sight) for i in range(len(self.names))]

    def _word(self, i: int, details: Details, sight: Perception) -> str:
        name, why, steps = self.names[i], int(details.why[i]), int(details.steps[i])
        if why == ASLEEP:
            return "you are asleep"
        if i >= self._first_primitive or i == self.wait:
            return ""
        if why == ALREADY and name in FILLS:
            full = f"your {FILLS[name]} is full"
            return f"{full}; at the water, do drinks all the same" * (name == "drink") or full
        if why == ALREADY:
            return "done already"
        if why == NEEDS:
            return self._needs(name, sight, steps)
        if why == NO_WAY:
            return "no way leads there"
        if why == NO_TARGET:
            if name.startswith(("follow", "help", "give")):
                return "not now: that is you, or nobody who can take it"
            return "you know of none" if self.memory else "there is none in view"
        if name == "sleep":
            return "until you have all your energy, unless you are hit"
        if name == "shelter":
            return f"may take {steps} stones: you can sleep there"
        if name == "build workshop":
            return "a table and a furnace beside one cell, if there is room"
        if name.startswith(("place", "make")):
            return f"{_far(steps)}, costs {self._price(name)}"
        if name.startswith("explore"):
            return f"about {steps} step{'s' * (steps != 1)} to the edge of what you see"
        return _far(steps)

    def _price(self, name: str) -> str:
        """What a thing costs to place or to make, in words."""
        craft, (verb, _, thing) = self._env.craft, name.partition(" ")
        costs = [craft.place_cost(thing)] if verb == "place" else None
        cost = dict(costs) if costs else craft.make_cost(thing.replace(" ", "_"))
        return ", ".join(f"{count} {item}" for item, count in cost.items())

    def _needs(self, name: str, sight: Perception, steps: int) -> str:
        if name.startswith("collect"):
            item = name.split(" ")[1]
            tool = self._env.contents.collect[self._gathered[item]][1]
            return f"needs a {str(tool).replace('_', ' ')}"
        if name.startswith("give"):
            return f"you hold {int(self._held(sight, name.split(' ')[1]))}"
        if name.startswith("place"):
            return f"needs {self._price(name)}"
        if name == "shelter":
            held = int(self._held(sight, "stone"))
            if int(sight.role) not in (0, rl.MINER):
                return "only miners place stone"
            return f"needs {steps} stones, you hold {held}"
        if name == "build workshop":
            craft = self._env.craft
            return (
                f"needs {craft.furnace_stone} stone for a furnace, and {craft.table_wood} wood "
                "where you know of no table"
            )
        stations = self._env.craft.make_near(name.removeprefix("make ").replace(" ", "_"))
        near = " and a ".join(rl.MATERIALS[station] for station in stations)
        where = "that you have seen" if self.memory else "within reach"
        return f"needs {self._price(name)}, and a {near} {where}"

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
        if not readings:
            readings = self._with_tail(plain)
        priced = without_price(plain)
        if not readings and priced != plain:
            found = self._grammar.read(priced)
            readings = [r for r in found if r.meaning in ("named", "make", "place", "put", "build")]
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
        if verb == "asleep":
            if sight is not None and not sight.asleep:
                raise IllegalAction("you are not asleep")
            return self._index["sleep"]
        if verb == "one way":
            way = said["way"]
            raise IllegalAction(
                f"say 'move_{rl.FACINGS[way]}' for one step, or 'explore {COMPASS[way]}'"
            )
        if verb in ("move", "do") and "at" in said:
            check_beside(sight, said["at"], said.get("way", said.get("where")), verb == "do")
        if verb == "do":
            return self._index["do"]
        if verb in ("still", "under way"):
            return self._still(said, current)
        if verb == "move":
            return self._index[f"move_{rl.FACINGS[said['way']]}"]
        if verb == "explore":
            return self._index[f"explore {COMPASS[said['way']]}"]
        if verb == "work":
            code = said.get("joint", -1)
            faced = -1 if sight is None else int(sight.faced(sight.cells))
            if faced not in _WAITING or code not in (-1, faced):
                name = rl.MATERIALS[code] if code >= 0 else "anything that takes several players"
                raise IllegalAction(f"you do not face {'a ' * (code >= 0)}{name}: go to it first")
            return self._index["do"]
        if verb == "request":
            return self._named(f"request_{said['gift']}", "there is no other player")
        if verb in ("collect", "collect all", "search"):
            if verb == "collect all":
                said = {"n": rl.MOST, **said}
            if verb == "search":  # in grass there is nothing else
                said = {"item": "sapling", "again": "sapling", **said}
            return self._collect(said, sight, current)
        if verb in ("follow", "help", "give"):
            mate = self._mate(verb, said.get("player", -1), sight)
            if verb == "give":
                return self._give(mate, said, sight, current)
            return self._named(f"{verb} {mate}", "there is no such player")
        what = said.get("what")
        if verb == "eat cow":
            what = None
        if "where" in said and not lies_on(sight, what or verb[4:], said["where"]):
            raise IllegalAction(f"you do not see each {what} on that side")
        return self._named(verb if what is None else f"{verb} {what}", "there is no such thing")

    def _collect(self, said: dict[str, Any], sight: Perception | None, current: int | None) -> int:
        item = said.get("item", said.get("again"))
        if item is None:
            raise IllegalAction("say what to collect: 'collect wood until you hold 5'")
        count, goal = said.get("count"), said.get("n", rl.MOST)
        if said.get("again", item) != item:
            raise IllegalAction(f"{item} and {said['again']} are two things")
        source = "tree" if item == "wood" else item
        if "where" in said and not lies_on(sight, source, said["where"]):
            raise IllegalAction(f"you do not see each {source} on that side")
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

    def _still(self, said: dict[str, Any], current: int | None) -> int:
        """ "Still heading for that tree": the skill under way, if it leads there."""
        item = said.get("item", "wood" if said.get("what") == "tree" else said.get("what"))
        if current is not None and self.names[current].startswith(f"collect {item} "):
            return current
        if "what" not in said:
            raise IllegalAction(f"no collecting of {item} is under way")
        return self._index[f"go to {said['what']}"]

    def doing(self, skill: int) -> list[str]:
        """What a skill is called while it is under way."""
        return deeds_of(self.names[skill])

    def settled(self, skill: int, text: str, row: np.ndarray) -> int:
        """How many to collect, where another part of the answer than the order tells it: "I need
        five wood, so I chop the tree"."""
        name = self.names[skill]
        if not name.startswith("collect") or not name.endswith(f" {rl.MOST}"):
            return skill
        item = name.split(" ")[1]
        count, more = wanted(item, normalise(text))
        held = int(self._held(parse_perception(self._env.layout, row), item)) if more else 0
        return self._index.get(f"collect {item} until you hold {count + held}", skill)

    def _with_tail(self, plain: str) -> list[Reading]:
        """The readings of a sentence without what its skill is for."""
        if plain.startswith(("i want", "i need", "we need")):  # a reason
            return []
        for inner in heads(plain):
            if inner.startswith("->"):
                return [r for r in self._grammar.read(inner) if r.meaning == "request"]
        for before, kinds, _ in split(plain, self._tails, SKILL_KINDS):
            readings = [r for r in self._grammar.read(before) if r.meaning in kinds]
            if readings:
                return readings
        return []

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
            items = ", ".join(map(spaced, self._env.contents.items))
            raise IllegalAction(f"{spaced(item)} cannot be carried over; there are {items}")
        begun = f"give {spaced(item)} to {mate} until you hold"
        if count is not None and sight is not None:
            held = int(self._held(sight, item))
            if current is not None and self.names[current].startswith(begun):
                return current
            keep = held - count
            if keep < 0:
                raise IllegalAction(f"you hold {held} {spaced(item)}, and cannot give {count}")
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
        stay = (
            "shelter: close yourself in with stones (six on open ground, fewer between rocks). "
            "build workshop: a table, and a furnace beside it.\n"
        )
        seen = "never saw" if self.memory else "do not see"
        where = "where such are that you saw" if self.memory else "what stands beside you"
        return (
            "You act by skills. A skill walks, mines and builds for you, one step each time you "
            "name it; go on naming it until it is done, or name another one at any time.\n"
            "collect wood (sapling, stone, coal, iron, diamond) until you hold 3: take them from "
            "the nearest in view, with the tool that this needs; without a number, until you hold "
            f"{rl.MOST}.\n"
            "drink, eat plant, eat cow: go there, and do it until you are full.\n"
            "fight zombie (skeleton): go there and hit it.\n"
            "place stone (table, furnace, plant): in front of you, or where you can turn to.\n"
            f"make wood pickaxe, ...: {where} and what you hold must suffice.\n"
            "sleep: until you have all your energy. wait: do nothing for one step.\n"
            f"{stay if self.memory else ''}"
            f"go to tree ({', '.join(self._targets[1:])}): the nearest in view.\n"
            f"explore west (east, north, south): walk on that way, around what is in the way.\n"
            f"{others if self._env.num_players > 1 else ''}"
            f"{', '.join(self._env.actions[1:6])}, ...: one plain step, "
            "an action with _ between its words.\n"
            "On the way trees are felled, stones mined, and stones laid into water; nobody walks "
            f"into lava. A skill whose target you {seen} is impossible: explore first."
        )


_WAITING = frozenset(before for before, _ in rl.JOINT.values())
