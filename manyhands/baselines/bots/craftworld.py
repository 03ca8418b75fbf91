"""Scripted players of CraftWorld: `survivor`, who works through the achievements by itself, and
`crew`, survivors that share the work by talking.

A survivor remembers the map as it has seen it, relative to itself, and finds its ways on the part
around it with one flood (`envs/craftworld/ways.py`). At each step it does the first thing that
applies: make a tool whose materials it holds, beside a table; hit a zombie that is near; see to
what it needs most; take the nearest of what it still has a use for; go where it remembers some;
explore. It sleeps in rock that it walls itself into.

Crew members do the same, and talk in phrases (`skills.PHRASES`) of the chat channel around the
world: they part at the start, each says what it has found, and whoever needs that, and knows of
none, goes there; they say what they lack for a tool, and who has more of it than it needs brings
some. All survivors help up those who are down.

All of it is written for any number of trailing batch axes: in compiled loops the batch is the
innermost axis, as in the game itself.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, DeviceView, Env, SeatError, Unwrapped, state_dataclass, unwrap
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld import skills as sk
from manyhands.envs.craftworld.env import CraftWorld
from manyhands.envs.craftworld.observe import PLAYER, Perception, one_of, parse_perception
from manyhands.envs.craftworld.seen import UNSEEN, map_shape, step_of, update, walks
from manyhands.envs.craftworld.setting import UNKNOWN
from manyhands.envs.craftworld.state import HERE
from manyhands.envs.craftworld.ways import (
    FAR,
    STEP,
    beside,
    entering,
    flood,
    starts,
    stride,
    strides,
    touching,
)
from manyhands.wrappers.chat import Chat

REACH = 15  # cells to each side in which ways are found; beyond, as the crow flies
SWEEPS = 36
PLACE_STONE, PLACE_TABLE, PLACE_FURNACE, PLACE_PLANT = range(rl.PLACE, rl.PLACE + 4)
ROCK = (rl.STONE, rl.COAL, rl.IRON, rl.DIAMOND)
# What crew members tell each other of: the phrase, the material (None: cows), most wanted first.
FINDS = {
    "diamonds here": rl.DIAMOND,
    "iron here": rl.IRON,
    "coal here": rl.COAL,
    "water here": rl.WATER,
    "cows here": None,
    "trees here": rl.TREE,
}
NEEDS = {"I need iron": "iron", "I need coal": "coal", "I need wood": "wood"}
LEAVES = ("I go west", "I go east", "I go north", "I go south")  # as `rules.FACINGS`
PAUSE = 40  # steps before the same is said again
PLEA = 25  # steps for which somebody's need is remembered
NOWHERE = 127  # in `Memory.hints`
DRINKING = 5  # number of the option in `_Plan.choose`


def survivor(env: Env) -> Survivor:
    """A player that looks after itself."""
    return Survivor(env)


def crew(env: Env) -> Survivor:
    """A survivor that shares the work with others by talking."""
    if not isinstance(env, Chat):
        raise SeatError(
            "crew members talk: put a chat channel around the world, "
            f"Chat(CraftWorld(players=2)); given {env!r}"
        )
    return Survivor(env, talks=True)


@state_dataclass
class Memory:
    """What a survivor remembers.

    Attributes:
        known: u8[H + 6, W + 8], 1 + the material of each cell when it was last seen, 0 for cells
            never seen. The player is in the middle; opposite edges meet. What is visible from any
            place on the map has a cell of its own here.
        moving: bool[], whether it meant to walk in the last step, to a cell that was free.
        heading: i8[2], rows and columns to a point that it explores towards.
        planted: i32[], the step in which it set its last plant; -1 before.
        clock: i32[], steps so far.
        stuck: u8[], steps in a row in which nothing came of what it did.
        before: u8[], its last action.
        hints: i8[finds, 2], rows and columns to where somebody has seen each of `FINDS`.
        pause: u8[finds + needs], steps before it tells of each again.
        plea: u8[others], 1 + the number in `NEEDS` of what each other player lacks.
        plea_left: u8[others], for how many more steps that is remembered.
    """

    known: Array
    moving: Array
    heading: Array
    planted: Array
    clock: Array
    stuck: Array
    before: Array
    hints: Array
    pause: Array
    plea: Array
    plea_left: Array


@dataclass(frozen=True)
class Survivor:
    """A `DevicePolicy`; see the module's docstring.

    Args:
        env: the world, or a wrapper of it.
        talks: whether it is of a crew; then `env` is a `Chat`.
    """

    env: Env
    talks: bool = False
    _world: CraftWorld = field(init=False, repr=False, compare=False)
    _found: Unwrapped[CraftWorld] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = unwrap(self.env, CraftWorld, SeatError)
        object.__setattr__(self, "_world", found.env)
        object.__setattr__(self, "_found", found)

    def init(self, env: Env, agent: int) -> Memory:
        world = self._world
        shape = map_shape(world.height, world.width)
        # Different players set out in different directions.
        heading = np.array([(-2, 14), (2, -14), (-14, -2), (14, 2)][agent % 4], np.int8)
        return Memory(
            known=jnp.zeros(shape, jnp.uint8),
            moving=jnp.bool_(False),
            heading=jnp.asarray(heading),
            planted=jnp.int32(-1),
            clock=jnp.int32(0),
            stuck=jnp.uint8(0),
            before=jnp.uint8(rl.NOOP),
            hints=jnp.full((len(FINDS), 2), NOWHERE, jnp.int8),
            pause=jnp.zeros(len(FINDS) + len(NEEDS), jnp.uint8),
            plea=jnp.zeros(world.num_agents - 1, jnp.uint8),
            plea_left=jnp.zeros(world.num_agents - 1, jnp.uint8),
        )

    def apply(
        self, env: Env, agent: int, memory: Memory, key: Array, view: DeviceView
    ) -> tuple[Array, Memory]:
        legal = self._found.lower(view.legal)
        luck = jax.random.bits(key, (), jnp.uint32)
        heard = jnp.zeros(self._world.num_agents - 1, jnp.uint8)
        chat = self.env if self.talks else None
        if isinstance(chat, Chat):
            tokens = chat.split(view.vector)[1].astype(jnp.uint8)
            heard = jnp.asarray(_numbers(chat.phrases, chat.tokens))[tokens[1:]]
        decision = _decide(self._world, self.talks)
        action, says, memory = decision(memory, view.perception, legal, luck, heard)
        action = self._found.lift(action)
        if isinstance(chat, Chat):
            action = action.at[-1].set(jnp.asarray(_tokens(chat.phrases))[says])
        return action, memory


def _numbers(phrases: tuple[str, ...], tokens: int) -> np.ndarray:
    """u8[tokens]: for each token of a channel 1 + the number of its phrase in `skills.PHRASES`; 0
    for silence and for other words."""
    numbers = np.zeros(tokens, np.uint8)
    for token, phrase in enumerate(phrases, 1):
        if phrase in sk.PHRASES:
            numbers[token] = _number(phrase)
    return numbers


def _tokens(phrases: tuple[str, ...]) -> np.ndarray:
    """i32: the inverse; silence for what the channel has no phrase for."""
    known = {
        _number(phrase): token for token, phrase in enumerate(phrases, 1) if phrase in sk.PHRASES
    }
    return np.array([known.get(number, 0) for number in range(len(sk.PHRASES) + 1)], np.int32)


@functools.lru_cache(maxsize=64)
def _decide(world: CraftWorld, talks: bool) -> Any:
    """`decide` in this world; under `vmap` the batch goes last instead of first."""
    function = jax.custom_batching.custom_vmap(functools.partial(decide, world, talks))

    @function.def_vmap
    def rule(size: int, batched: Any, *arguments: Any) -> Any:
        def last(leaf: Array, is_batched: bool) -> Array:
            if is_batched:
                return jnp.moveaxis(leaf, 0, -1)
            return jnp.broadcast_to(leaf[..., None], (*leaf.shape, size))

        out = function(*jax.tree_util.tree_map(last, list(arguments), batched))
        out = jax.tree_util.tree_map(lambda leaf: jnp.moveaxis(leaf, -1, 0), out)
        return out, jax.tree_util.tree_map(lambda _: True, out)

    return function


# ---- one step ------------------------------------------------------------------------------------


def decide(
    world: CraftWorld,
    talks: bool,
    memory: Memory,
    row: Array,
    legal: Array,
    luck: Array,
    heard: Array,
) -> tuple[Array, Array, Memory]:
    """(action, what it says, memory) for one step; to say is 0, or 1 + a number in `PHRASES`.

    Args:
        row: u8[K, ...] of `CraftWorld.perceive`. legal: bool[A, ...]. luck: u32[...], random.
        heard: u8[others, ...], what the others said.
    """
    sight = parse_perception(world.layout, row)
    known, moved = update(memory.known, memory.moving, sight)
    if talks:
        memory = _listen(memory, sight, moved, heard)
    plan = _Plan(world, memory, sight, known, luck)
    action, heading = plan.choose()
    says, pause = plan.speak() if talks else (jnp.zeros_like(action), memory.pause)
    # Nothing that changes anything: a stumble to the side breaks the spell.
    same = (action == memory.before) & ~moved & ~sight.asleep & (action != rl.NOOP)
    idle = (action == rl.NOOP) & ~sight.asleep
    stuck = jnp.where(same | idle, memory.stuck + (memory.stuck < 200), 0).astype(jnp.uint8)
    patience = jnp.where(action == rl.DO, 25, 6)
    stumble = (stuck > patience) & ~sight.asleep
    action = jnp.where(stumble, plan.stumble(), action)
    allowed = jnp.zeros_like(moved)
    for number in range(legal.shape[0]):
        allowed = allowed | ((action == number) & legal[number])
    action = jnp.where(allowed, action, rl.NOOP).astype(jnp.int32)
    planted = jnp.where(action == PLACE_PLANT, memory.clock, memory.planted)
    new = dataclasses.replace(
        memory,
        known=known,
        moving=walks(sight, action),
        heading=heading.astype(jnp.int8),
        planted=planted,
        clock=memory.clock + 1,
        stuck=jnp.where(stumble & ((luck & 3) == 0), 0, stuck).astype(jnp.uint8),
        before=action.astype(jnp.uint8),
        pause=pause,
    )
    return action, says, new


def _number(phrase: str) -> int:
    """How a phrase is heard and said: 1 + its number."""
    return 1 + sk.PHRASES.index(phrase)


def _listen(memory: Memory, sight: Perception, moved: Array, heard: Array) -> Memory:
    """What a crew member keeps of what it hears."""
    step = jnp.stack(step_of(sight, moved))  # [2, ...]
    hints = memory.hints.astype(jnp.int32)
    gone = jnp.abs(hints[:, 0]) + jnp.abs(hints[:, 1]) <= 2
    lost = (hints[:, 0] == NOWHERE) | gone
    hints = jnp.where(lost[:, None], NOWHERE, jnp.clip(hints - step[None], -100, 100))
    heading = memory.heading
    plea, left = memory.plea, jnp.maximum(memory.plea_left, 1) - np.uint8(1)
    for j in range(heard.shape[0]):
        mate = sight.teammates[j].astype(jnp.int32)
        spot = jnp.clip(jnp.stack([mate[0] - 128, mate[1] - 128]), -100, 100)
        known = mate[2] != UNKNOWN
        for number, phrase in enumerate(FINDS):
            told = (heard[j] == _number(phrase)) & known
            hints = hints.at[number].set(jnp.where(told, spot, hints[number]))
        for number, phrase in enumerate(NEEDS, 1):
            told = heard[j] == _number(phrase)
            plea = plea.at[j].set(jnp.where(told, np.uint8(number), plea[j]))
            left = left.at[j].set(jnp.where(told, np.uint8(PLEA), left[j]))
        for phrase, (row, column) in zip(LEAVES, rl.DELTAS, strict=True):
            # Away from where somebody goes who has a lower number.
            told = (heard[j] == _number(phrase)) & (memory.clock < 4)
            first = sight.bodies[HERE] > PLAYER + j
            same = heading[0].astype(jnp.int32) * row + heading[1].astype(jnp.int32) * column > 7
            heading = jnp.where(told & first & same, -heading, heading)
    return dataclasses.replace(
        memory, heading=heading, hints=hints.astype(jnp.int8), plea=plea, plea_left=left
    )


class _Plan:
    """A survivor's reckoning at one step. Maps are of the window around it, [R, C, ...]."""

    def __init__(
        self, world: CraftWorld, memory: Memory, sight: Perception, known: Array, luck: Array
    ):
        self.rules = world.craft
        self.memory, self.sight, self.known, self.luck = memory, sight, known, luck
        rows, columns = known.shape[:2]
        self.middle = rows // 2, columns // 2
        self.half = min(REACH, (rows - 1) // 2), min(REACH, (columns - 1) // 2)
        (r, c), (h, w) = self.middle, self.half
        window = known[r - h : r + h + 1, c - w : c + w + 1]
        self.unseen = window == UNSEEN
        self.cells = window - np.uint8(1)
        edges = [(h - HERE[0], h - HERE[0]), (w - HERE[1], w - HERE[1])]
        edges += [(0, 0)] * (window.ndim - 2)
        self.bodies = jnp.pad(sight.bodies, edges)
        cost = jnp.where(self.unseen, np.int16(2 * STEP), entering(self.cells, sight))
        strangers = (self.bodies > 0) & (cost < FAR)
        cost = jnp.where(strangers, np.int16(4 * STEP), cost)
        own = np.zeros((2 * h + 1, 2 * w + 1), bool)
        own[h, w] = True
        trailing = (1,) * (window.ndim - 2)
        self.own = own.reshape(*own.shape, *trailing)
        cost = jnp.where(self.own, np.int16(FAR), cost)
        begin = starts(2 * h + 1, 2 * w + 1, h, w).reshape(*own.shape, *trailing)
        seeds = jnp.broadcast_to(jnp.asarray(begin), cost.shape)
        self.ways = flood(seeds, cost, SWEEPS)
        self.touch = touching(self.ways, seeds)
        self.rows = np.arange(-h, h + 1).reshape(-1, 1, *trailing)
        self.columns = np.arange(-w, w + 1).reshape(1, -1, *trailing)
        self.open = one_of(sight.cells, rl.WALKABLE)  # of the view
        self.faced = sight.faced(sight.cells)
        self.blocker = sight.faced(sight.bodies)
        self.begin = strides(sight)

    # ---- what there is ------------------------------------------------------------------------

    def least(self, mask: Array, maps: Array) -> Array:
        """i16[...], the least cost where `mask` holds."""
        return jnp.min(jnp.where(mask, maps, np.int16(FAR)), (0, 1))

    def stuff(self, *codes: int) -> Array:
        """The least cost to stand before one of some materials."""
        return self.least(one_of(self.cells, codes) & ~self.unseen, self.touch)

    def creature(self, kind: int) -> Array:
        return self.least(self.bodies == kind, self.touch)

    def stumble(self) -> Array:
        """A random step that is not into lava."""
        turn = ((self.luck >> 8) & 3).astype(jnp.int32)
        action = jnp.full(turn.shape, rl.NOOP, jnp.int32)
        for d, (row, column) in enumerate(rl.DELTAS):
            safe = self.sight.cells[HERE[0] + row, HERE[1] + column] != rl.LAVA
            action = jnp.where((turn == d) & safe, rl.MOVE + d, action)
        return action

    # ---- what to do ---------------------------------------------------------------------------

    def choose(self) -> tuple[Array, Array]:
        """(action, heading)."""
        s, rules, m = self.sight, self.rules, self.memory
        has = {name: s.item(name).astype(jnp.int32) for name in rl.ITEMS}
        todo = {tool: has[tool] == 0 for tool in rl.MAKES}
        wood, stone = has["wood"], has["stone"]
        food, drink = s.vital(rl.FOOD), s.vital(rl.DRINK)
        energy, health = s.vital(rl.ENERGY), s.vital(rl.HEALTH)
        table = self.stuff(rl.TABLE)
        table_close = s.table | (table < 10 * STEP)
        pickaxe = ~todo["wood_pickaxe"]

        # What the tools to come still take.
        iron_todo = sum(todo[f"iron_{kind}"].astype(jnp.int32) for kind in ("pickaxe", "sword"))
        stone_todo = sum(todo[f"stone_{kind}"].astype(jnp.int32) for kind in ("pickaxe", "sword"))
        wood_todo = sum(todo[f"wood_{kind}"].astype(jnp.int32) for kind in ("pickaxe", "sword"))
        tools_todo = wood_todo + stone_todo + iron_todo
        new_table = jnp.where(table_close, 0, rules.table_wood)
        want_wood = jnp.where(pickaxe, tools_todo + rules.table_wood, wood_todo + new_table)
        want_wood = jnp.where(tools_todo > 0, jnp.minimum(want_wood, rl.MOST), 0)
        want_stone = stone_todo + iron_todo * rules.iron_stone + rules.furnace_stone + 3
        want_stone = jnp.minimum(want_stone, rl.MOST)
        want_coal = jnp.maximum(iron_todo, ~s.done("collect_coal"))
        want_iron = jnp.maximum(iron_todo, ~s.done("collect_iron"))

        # Which tools could be made now, but for a table (and a furnace).
        ready = {}
        for tool in rl.MAKES:
            enough = todo[tool]
            for item, count in rules.make_cost(tool).items():
                enough = enough & (has[item] >= count)
            ready[tool] = enough
        metal = ready["iron_pickaxe"] | ready["iron_sword"]
        wooden = ready["wood_pickaxe"] | ready["wood_sword"]
        simple = wooden | ready["stone_pickaxe"] | ready["stone_sword"]
        any_ready = metal | simple
        free = self.blocker == 0
        ground = free & one_of(self.faced, rules.place_on("table"))

        # -- sleep --
        hostile = (self.bodies == rl.ZOMBIE) | (self.bodies == rl.SKELETON)
        threat = self.least(hostile, self.touch)
        dark = s.light < 90
        urgent = (food <= 2) | (drink <= 2)
        tired = (energy <= 3) | (dark & (energy <= 6) & pickaxe)
        shelter_action, enclosed = self.shelter(stone)
        nap = ~s.done("wake_up") & (energy <= 8) & (threat >= FAR) & ~dark & (health >= 7)
        lie_down = (enclosed & (energy <= 7)) | ((energy <= 1) & (threat >= FAR)) | nap

        # -- targets within the window: (wanted, cost with direction, steps that it is worth) --
        zombie, skeleton = self.creature(rl.ZOMBIE), self.creature(rl.SKELETON)
        cow, water = self.creature(rl.COW), self.stuff(rl.WATER)
        grown = (m.planted >= 0) & (m.clock >= m.planted + rules.ripe)
        plant_due = grown & ~s.done("eat_plant")
        near = 3 * STEP
        wants: dict[int, Array] = {
            rl.TREE: wood < want_wood,
            rl.STONE: pickaxe & (stone < want_stone),
            rl.COAL: pickaxe & (has["coal"] < want_coal),
            rl.IRON: ~todo["stone_pickaxe"] & (has["iron"] < want_iron),
            rl.DIAMOND: ~todo["iron_pickaxe"] & (has["diamond"] < 1),
            rl.WATER: (drink <= 4) | ~s.done("collect_drink"),
            rl.RIPE_PLANT: ~s.done("eat_plant") | (food <= 5),
            rl.PLANT: plant_due,
            rl.TABLE: any_ready & ~s.table,
        }
        at_water = (self.faced == rl.WATER) & free & (drink < rl.MOST)
        options = [
            (
                wants[rl.TREE] | ((self.stuff(rl.TREE) < near) & (wood < tools_todo)),
                self.stuff(rl.TREE),
                0,
            ),
            (wants[rl.STONE], self.stuff(rl.STONE), 0),
            (wants[rl.COAL], self.stuff(rl.COAL), 12),
            (wants[rl.IRON], self.stuff(rl.IRON), 20),
            (wants[rl.DIAMOND], self.stuff(rl.DIAMOND), 30),
            (
                wants[rl.WATER] | at_water | ((water < near) & (drink <= 7)),
                water,
                jnp.where((drink <= 3) | at_water, 60, 4),
            ),
            (wants[rl.RIPE_PLANT], self.stuff(rl.RIPE_PLANT), 25),
            (wants[rl.PLANT], self.stuff(rl.PLANT), 15),
            (wants[rl.TABLE], table, 8),
            (
                (food <= 5) | ~s.done("eat_cow") | ((cow < near) & (food <= 6)),
                cow,
                jnp.where(food <= 3, 60, 6),
            ),
            (
                (zombie < near) | (~s.done("defeat_zombie") & (health >= 5) & (zombie < 9 * STEP)),
                zombie,
                jnp.where(zombie < 2 * STEP, 90, 12),
            ),
            (
                (skeleton < 2 * STEP) | (~s.done("defeat_skeleton") & (health >= 5)),
                skeleton,
                jnp.where(skeleton < 2 * STEP, 40, 10),
            ),
        ]
        gift, carry, recipient = self.bring(has, wood_todo, stone_todo, iron_todo)
        fallen, helps = self.fallen()
        options.append((carry < FAR, carry, 10))
        options.append((fallen < FAR, fallen, 40))
        best = jnp.full(food.shape, FAR, jnp.int32)
        direction = jnp.full(food.shape, 7, jnp.int32)
        picked = jnp.full(food.shape, -1, jnp.int32)
        for number, (wanted, cost, worth) in enumerate(options):
            score = (cost.astype(jnp.int32) >> 3) - worth
            better = wanted & (cost < FAR) & (score < best)
            best = jnp.where(better, score, best)
            direction = jnp.where(better, cost.astype(jnp.int32) & 7, direction)
            picked = jnp.where(better, number, picked)

        # -- beyond the window, and where nothing is known --
        thirsty, hungry = drink <= 3, food <= 3
        pressing = thirsty | hungry
        far_wants = {
            code: wanted & (~pressing | (thirsty if code == rl.WATER else False))
            for code, wanted in wants.items()
        }
        far, far_direction = self.remembered(far_wants)
        rocky = pickaxe & ~wants[rl.TREE] & ~pressing
        explore_direction, heading = self.explore(rocky)
        told, told_direction = self.told(wants, food)
        beyond = jnp.where(told < FAR, told_direction, explore_direction)
        beyond = jnp.where((far < 70) & (far <= told), far_direction, beyond)
        self.lacks = {
            "iron": (iron_todo > 0) & ~todo["stone_pickaxe"] & (has["iron"] < 1),
            "coal": (iron_todo > 0) & (has["iron"] > 0) & (has["coal"] < 1),
            "wood": (tools_todo > 0) & pickaxe & (wood < 1),
        }
        action = stride(self.begin, jnp.where(best < FAR, direction, beyond))
        action = jnp.where(at_water & (picked == DRINKING), rl.DO, action)
        if len(s.teammates):
            action = jnp.where(recipient & (picked == len(options) - 2), gift, action)
            action = jnp.where(helps & (picked == len(options) - 1), rl.DO, action)

        # -- what comes first, the last one before all others --
        grass = free & (self.faced == rl.GRASS)
        calm = threat > 5 * STEP
        seek_sapling = ~s.done("collect_sapling") & grass & calm & ~pressing
        action = jnp.where(seek_sapling, rl.DO, action)
        action = jnp.where(
            (has["sapling"] > 0) & grass & ~s.done("place_plant"), PLACE_PLANT, action
        )
        tunnel = free & one_of(self.faced, rules.place_on("stone"))
        action = jnp.where(
            ~s.done("place_stone") & (stone > 1) & tunnel & calm, PLACE_STONE, action
        )
        first_furnace = ~s.done("place_furnace") & (stone >= rules.furnace_stone + 1) & s.table
        spare = rules.furnace_stone + rules.iron_stone
        second = metal & s.table & ~s.furnace & (stone >= spare)
        action = jnp.where((first_furnace | second) & ground, PLACE_FURNACE, action)
        set_table = any_ready & ~table_close & (wood >= rules.table_wood + 1)
        worth_it = (wood >= rules.table_wood + jnp.minimum(tools_todo, 2)) | ~wooden
        set_table = set_table & worth_it & calm
        action = jnp.where(set_table & ground, PLACE_TABLE, action)
        turn = (set_table | second) & ~ground
        action = jnp.where(turn, self.stumble(), action)
        action = jnp.where(
            (tired | enclosed & (energy <= 7)) & ~urgent & calm, shelter_action, action
        )
        for tool in reversed(rl.MAKES):
            able = ready[tool] & s.table
            able = able & (s.furnace if tool.startswith("iron") else True)
            action = jnp.where(able, rl.MAKE + rl.MAKES.index(tool), action)
        fight = zombie < 2 * STEP
        action = jnp.where(fight, stride(self.begin, zombie.astype(jnp.int32) & 7), action)
        action = jnp.where(lie_down & ~fight & ~urgent, rl.SLEEP, action)
        return jnp.where(s.asleep, rl.NOOP, action), heading

    # ---- together -----------------------------------------------------------------------------

    def fallen(self) -> tuple[Array, Array]:
        """(the least cost to stand before a player who is down, whether one is faced)."""
        s, least = self.sight, jnp.full(self.faced.shape, FAR, jnp.int16)
        faces = jnp.zeros(self.faced.shape, bool)
        for j in range(len(s.teammates)):
            down = s.teammates[j, 2] == rl.DOWN
            least = jnp.where(down, jnp.minimum(least, self._mate(j)), least)
            faces = faces | (down & (self.blocker == self._body(j)))
        return least, faces

    def _body(self, j: int) -> Array:
        """How another player looks in `Perception.bodies`."""
        return PLAYER + j + (self.sight.bodies[HERE] <= PLAYER + j).astype(jnp.uint8)

    def _mate(self, j: int) -> Array:
        """The least cost to stand before another player; `FAR` out of reach of the map."""
        mate = self.sight.teammates[j].astype(jnp.int32)
        there = (self.rows == mate[0] - 128) & (self.columns == mate[1] - 128)
        return self.least(there, self.touch)

    def bring(
        self, has: dict[str, Array], wood_todo: Array, stone_todo: Array, iron_todo: Array
    ) -> tuple[Array, Array, Array]:
        """(the gift that somebody asked for, the least cost to stand before them, whether they are
        faced): what is more than the player needs itself."""
        s, m = self.sight, self.memory
        own = {"wood": wood_todo + stone_todo + iron_todo, "coal": iron_todo, "iron": iron_todo}
        gift = jnp.full(self.faced.shape, rl.NOOP, jnp.int32)
        least = jnp.full(self.faced.shape, FAR, jnp.int16)
        faces = jnp.zeros(self.faced.shape, bool)
        for j in range(len(s.teammates)):
            cost = self._mate(j)
            up = (s.teammates[j, 2] == rl.ALIVE) & (m.plea_left[j] > 0)
            for number, item in enumerate(NEEDS.values(), 1):
                spare = has[item] > own[item]
                fits = up & spare & (m.plea[j] == number) & (cost < least)
                give = self.rules.give + self.rules.gifts.index(item)
                gift = jnp.where(fits, give, gift)
                faces = jnp.where(fits, self.blocker == self._body(j), faces)
                least = jnp.where(fits, cost, least)
        return gift, least, faces

    def told(self, wants: dict[int, Array], food: Array) -> tuple[Array, Array]:
        """(distance, direction to go) to the nearest place of which somebody has told, of what the
        player wants; `FAR` if there is none."""
        best = jnp.full(food.shape, FAR, jnp.int32)
        row = column = jnp.zeros(food.shape, jnp.int32)
        for number, code in enumerate(FINDS.values()):
            wanted = wants[code] if code is not None else food <= 5
            spot = self.memory.hints[number].astype(jnp.int32)
            away = jnp.abs(spot[0]) + jnp.abs(spot[1])
            better = wanted & (spot[0] != NOWHERE) & (away < best)
            best = jnp.where(better, away, best)
            row, column = jnp.where(better, spot[0], row), jnp.where(better, spot[1], column)
        return best, self.towards(row, column)

    def speak(self) -> tuple[Array, Array]:
        """(what to say, the pauses that follow): at first where one goes; then what one lacks, and
        what one sees. After `choose`."""
        s, m = self.sight, self.memory
        says = jnp.zeros(self.faced.shape, jnp.int32)
        pause = m.pause
        offers = [
            (one_of(s.cells, (code,)) if code is not None else s.bodies == rl.COW, phrase)
            for phrase, code in FINDS.items()
        ]
        flags = [jnp.any(seen, (0, 1)) for seen, _ in offers]
        flags += [self.lacks[item] for item in NEEDS.values()]
        for number, phrase in enumerate((*FINDS, *NEEDS)):
            now = flags[number] & (pause[number] == 0) & (says == 0)
            says = jnp.where(now, _number(phrase), says)
            pause = pause.at[number].set(jnp.where(now, np.uint8(PAUSE), pause[number]))
        row, column = m.heading[0].astype(jnp.int32), m.heading[1].astype(jnp.int32)
        flat = jnp.abs(column) >= jnp.abs(row)
        side = jnp.where(flat, jnp.where(column < 0, 0, 1), jnp.where(row < 0, 2, 3))
        leave = jnp.asarray([_number(phrase) for phrase in LEAVES], jnp.int32)
        setting_out = m.clock == 0
        return jnp.where(setting_out, leave[side], says), jnp.where(setting_out, m.pause, pause)

    # ---- ways ---------------------------------------------------------------------------------

    def remembered(self, wants: dict[int, Array]) -> tuple[Array, Array]:
        """(distance, direction to go) to the nearest wanted material on the whole map, as the crow
        flies: ways end at the edge of the window."""
        rows, columns = self.known.shape[:2]
        wanted = jnp.zeros(self.known.shape, bool)
        for code, wish in wants.items():
            wanted = wanted | ((self.known == code + 1) & wish)
        down = np.arange(rows)[:, None] - self.middle[0]
        right = np.arange(columns)[None] - self.middle[1]
        number = (np.abs(down) + np.abs(right)) << 16 | (down + 128) << 8 | (right + 128)
        number = number.astype(np.int32).reshape(rows, columns, *(1,) * (self.known.ndim - 2))
        least = jnp.min(jnp.where(wanted, number, np.int32(1 << 30)), (0, 1))
        row, column = ((least >> 8) & 255) - 128, (least & 255) - 128
        return least >> 16, self.towards(row, column)

    def towards(self, row: Array, column: Array) -> Array:
        """The direction in which to go to reach a point, relative to the player. What is left of
        the way counts twice, so that pockets on the straight way are no traps."""
        left = jnp.abs(self.rows - row) + jnp.abs(self.columns - column)
        total = self.ways + (2 * left * STEP).astype(jnp.int16)
        total = jnp.where(self.ways < FAR, total, np.int16(2 * FAR))
        return jnp.min(total, (0, 1)).astype(jnp.int32) & 7

    def explore(self, rocky: Array) -> tuple[Array, Array]:
        """(direction, heading): towards cells that were never seen, rather ahead than behind, and
        near rock if that is looked for, else not."""
        rock = one_of(self.cells, (*ROCK, rl.PATH, rl.LAVA)) & ~self.unseen
        for _ in range(3):
            for side in range(4):
                rock = rock | beside(rock, side, False)
        ahead = jnp.abs(self.rows - self.memory.heading[0].astype(jnp.int16))
        ahead = ahead + jnp.abs(self.columns - self.memory.heading[1].astype(jnp.int16))
        score = self.touch + ahead.astype(jnp.int16) * STEP
        score = score + jnp.where(rock == rocky, 0, 10 * STEP).astype(jnp.int16)
        score = jnp.where(self.unseen & (self.touch < FAR), score, np.int16(2 * FAR))
        best = jnp.min(score, (0, 1))
        here = self.unseen & (score == best)
        # Of several equal ones the mean will do.
        count = jnp.maximum(jnp.sum(here, (0, 1), dtype=jnp.int32), 1)
        row = jnp.sum(jnp.where(here, self.rows, 0), (0, 1), dtype=jnp.int32) // count
        column = jnp.sum(jnp.where(here, self.columns, 0), (0, 1), dtype=jnp.int32) // count
        size = jnp.maximum(jnp.maximum(jnp.abs(row), jnp.abs(column)), 1)
        found = best < 2 * FAR
        heading = jnp.stack([row * 14 // size, column * 14 // size])
        heading = jnp.where(found, heading, self.memory.heading.astype(jnp.int32))
        direction = best.astype(jnp.int32) & 7
        # All around is known: on to the nearest unknown cell anywhere.
        _, other = self.remembered({UNSEEN - 1: jnp.ones(found.shape, bool)})
        return jnp.where(found, direction, other), heading

    def shelter(self, stone: Array) -> tuple[Array, Array]:
        """(action, whether the player is walled in): dig two cells into rock, step back, and lay a
        stone into the entrance. Leaks are open sides that lead on."""
        s, here = self.sight, HERE
        blocked = ~self.open
        able = s.item("wood_pickaxe") > 0
        rock = one_of(s.cells, (rl.STONE, rl.COAL)) & able

        def at(maps: Array, *steps: tuple[int, int]) -> Array:
            row = here[0] + sum(step[0] for step in steps)
            column = here[1] + sum(step[1] for step in steps)
            return maps[row, column]

        leaks, dead_ends, sides, digs = [], [], [], []
        for down, right in rl.DELTAS:
            step, one, other = (down, right), (right, down), (-right, -down)
            side = at(blocked, step, one) & at(blocked, step, other)
            beyond = at(blocked, step, step)
            leaks.append(at(self.open, step) & ~(side & beyond))
            sides.append(side)
            dead_ends.append(side & beyond)
            inner = [at(blocked, step, step, one), at(blocked, step, step, other)]
            inner.append(at(blocked, step, step, step))
            deep = at(rock, step, step) & functools.reduce(jnp.logical_and, inner)
            digs.append((at(rock, step) | at(self.open, step)) & side & deep)
        number = jnp.sum(jnp.stack(leaks), axis=0, dtype=jnp.int32)
        enclosed = number == 0
        action = jnp.full(stone.shape, rl.NOOP, jnp.int32)
        chosen = jnp.zeros(stone.shape, bool)

        def offer(good: Array, what: Any) -> None:
            nonlocal action, chosen
            action = jnp.where(good & ~chosen, what, action)
            chosen = chosen | good

        free = self.blocker == 0
        for d in range(4):
            seal = leaks[d] & (number == 1) & (s.facing == d) & free & (stone > 0)
            offer(seal, PLACE_STONE)
        for d in range(4):  # out of the pocket, to turn around
            offer(leaks[d] & (number == 1) & sides[d] & (stone > 0), rl.MOVE + d)
        for d, back in enumerate((1, 0, 3, 2)):
            dig = at(rock, rl.DELTAS[d]) & dead_ends[d] & leaks[back] & (number == 1)
            offer(dig, stride(self.begin, jnp.full(stone.shape, d)))
        for d in range(4):
            offer(digs[d] & (number > 0), stride(self.begin, jnp.full(stone.shape, d)))
        # To rock that is rock all around.
        solid = one_of(self.cells, ROCK) & ~self.unseen
        deep_rock = solid
        for d in range(4):
            deep_rock = deep_rock & beside(solid, d, False)
        way = self.least(deep_rock, self.ways)
        offer((way < FAR) & able, stride(self.begin, way.astype(jnp.int32) & 7))
        # Nowhere to hide: it lies down where it is.
        offer(~chosen, rl.SLEEP)
        return action, enclosed
