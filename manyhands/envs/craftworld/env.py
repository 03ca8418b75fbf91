"""CraftWorld: an open world to survive in, mined, crafted and shared by one to eight players.

The rules are Crafter's or Craftax-Classic's, number by number (`rules.py`); worlds are generated,
or given as text (`world.py`). One step resolves, in this order:

1. joint efforts: cells that enough players `do` in this step change;
2. the players, one after the other, each its whole action. The first to act changes from step to
   step: with N players, player `clock % N` begins, then the next in index order. So nobody wins
   every race for a tree or a cell, and no two bodies ever share a cell; a player may enter a cell
   that another left in the same step;
3. `crafter` only: the players' needs (hunger, thirst, fatigue, healing, waking);
4. the creatures, slot by slot, each towards the nearest player who is up (the first in index order
   on a tie);
5. `crafter`: plants, and at every 10th step each chunk of 12 x 12 cells gains or loses creatures;
   `craftax_classic`: creatures appear, plants, the players' needs;
6. deaths, goals, the reward.

Everything here is written for a state with any number of trailing batch axes (none, or one). The
map of a batch is read by gathers and written by scatters of single cells (20 ns each on a CPU,
where a select over 4,096 cells takes ten times as long); what is small is selected by comparison.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import boolean
from manyhands.core.env import (
    Array,
    ConfigError,
    Env,
    Outcome,
    check_weights,
    names_of,
    seed_key,
    state_dataclass,
)
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld import world as wd
from manyhands.envs.craftworld.rules import (
    ALIVE,
    ARROW,
    COW,
    DEAD,
    DELTAS,
    DO,
    DOWN,
    DRINK,
    ENERGY,
    FATIGUE,
    FOOD,
    FURNACE,
    GIVE,
    GRASS,
    HEALTH,
    HUNGER,
    LAVA,
    MAKE,
    MOST,
    MOVE,
    NOOP,
    PATH,
    PLACE,
    PLANT,
    RECOVER,
    REQUEST,
    RIPE_PLANT,
    SKELETON,
    SLEEP,
    TABLE,
    THIRST,
    VOID,
    WATER,
    ZOMBIE,
    CraftRules,
)
from manyhands.envs.craftworld.skills import PHRASES, gist

if TYPE_CHECKING:
    from manyhands.envs.craftworld.skills import CraftSkills

VIEW = (7, 9)  # rows and columns that a player sees, itself in the middle
OBSERVATIONS = ("symbolic", "compact", "pixels")
DETAILS = ("brief", "normal", "full")
REWARDS = ("own", "team", "mixed")
DEATHS = ("down", "final")
ROLES = ("none", "specialists")
CELLS = VIEW[0] * VIEW[1]
MATE = 10  # numbers of a teammate in a row of `perceive`
FAR = 999  # a distance to nobody
BREAKS = 4  # tables, furnaces and plants that arrows break in one step, at most
# Where and how often creatures appear (Craftax): odds a step, from this distance to that.
APPEARS = {COW: (GRASS,), ZOMBIE: (GRASS, PATH), SKELETON: (PATH,)}
CHANCE = {COW: 0.1, ZOMBIE: 0.02, SKELETON: 0.05}
NIGHT_CHANCE = 0.1  # of zombies, times the square of the darkness
ODD = (1, 0x9E3779B1, 0x85EBCA77)  # factors that reorder random words
CLOSEST, FARTHEST = {COW: 4, ZOMBIE: 10, SKELETON: 10}, 13
BALANCE, CHUNK = 10, 12  # Crafter: every so many steps, in chunks of so many rows and columns
GOAL, SITE = 29, 5  # bytes of a goal, and cells along a side of the building site (`tasks.py`)


@state_dataclass
class CraftState:
    """One world at one moment. N players, M slots of creatures, P slots of plants.

    Attributes:
        map: u8[H, W], codes of `rules.MATERIALS`; ripe plants and saplings are materials, too.
        position: u8[N, 2], row and column.
        facing: u8[N], 0 left, 1 right, 2 up, 3 down.
        inventory: u8[N, 12], `rules.ITEMS`.
        vitals: u8[N, 4], `rules.VITALS`.
        counters: i8[N, 4], `rules.COUNTERS` in half steps.
        felt: u8[N], health after a player's last own update (`crafter`: it wakes when it falls).
        asleep: bool[N].
        alive: u8[N], 1 up, 2 down, 0 dead.
        achievements: bool[N, 22].
        request: u8[N], 0, or 1 + the number in `rules.GIFTS` of what a player asks for.
        request_left: u8[N], for how many more steps the others see it.
        kind: u8[M], 0 or 1 + the number in `rules.CREATURES`.
        place: u8[M, 2], row and column of a creature.
        health: u8[M]; 0 is about to vanish.
        cooldown: u8[M], steps until it can hit or shoot.
        heading: u8[M], where an arrow flies, as `facing`.
        plant_place: u8[P, 2].
        plant_age: u16[P], 0 for an empty slot, else 1 + the age.
        clock: i32[], the time of the world: `start["clock"]` and the steps played since.
        world: u8[], which of `CraftWorld.worlds` this is.
        goal: u8[29], what is to be reached (`tasks.Goal.row`); zeros for nothing.
        site: u8[2], row and column of the top left cell of the building site (5 x 5 cells).
        goal_step: i32[], steps played when the goal was reached, from 1; 0 before.
    """

    map: Array
    position: Array
    facing: Array
    inventory: Array
    vitals: Array
    counters: Array
    felt: Array
    asleep: Array
    alive: Array
    achievements: Array
    request: Array
    request_left: Array
    kind: Array
    place: Array
    health: Array
    cooldown: Array
    heading: Array
    plant_place: Array
    plant_age: Array
    clock: Array
    world: Array
    goal: Array
    site: Array
    goal_step: Array


class CraftWorld(Env[CraftState]):
    """An open world for 1 to 8 players: gather, craft, fight, sleep, and help each other.

    Args:
        rules: `"craftax_classic"`, `"crafter"`, or one of them with other numbers, as in
            `{"name": "crafter", "furnace_stone": 2}` (`rules.CraftRules`).
        players: how many; by default as many as the map marks, or 1.
        size: rows and columns of generated worlds, 8 to 127 each, or one number for both.
        map: a world as text, one letter a cell (`world.LETTERS`), instead of generated ones.
        start: what players begin with: `{"inventory": {"wood": 3}, "vitals": {"energy": 4},
            "clock": 150}`; or a list of these, one for each player (the clock, which is the time of
            the world's day and not a step of the episode, from the first).
        world: parameters of generated worlds: a dict of `world.WORLD_SCHEMA`, the path of a JSON
            file with one, or a list of such, of which each episode draws one.
        spawning: whether creatures appear and vanish by themselves; by default (None) in generated
            worlds but not on a map that was given, where there is what was written.
        observation: `"symbolic"`, `"compact"` or `"pixels"`, see below.
        detail: how long the text observation is: `"brief"`, the facts; `"normal"`, with what is
            near, warnings and what is possible; `"full"`, with why other actions are not.
        reward: `"own"`; `"team"`, the sum over all players for each; `"mixed"`, half of each.
        death: `"down"`: who has no health left lies there until a neighbour does it; `"final"`.
            The episode is over once nobody is up. Lava is always final.
        friendly_fire: whether doing another player hurts.
        roles: `"specialists"`: players are forager, miner, warrior, forager, ... (`rules.ROLES`).
            Only foragers eat cows and plants and collect saplings, and they can hold 27 food and
            drink; only miners make pickaxes and place stone; only warriors make swords, and they
            hit twice as hard.
        joint: None, `"bridge"`, `"gate"` or `"beacon"`: something near the start that takes
            `helpers` players to `do` in one and the same step. A gate opens the way to a diamond,
            a bridge one over a gap; a beacon lights. On maps the letters are there anyway.
        helpers: how many that takes.
        goal: what the team is to reach, in words (`tasks.parse_goal`); reaching it ends the
            episode. Of a list, each episode draws one.
        compass: whether players know their row and column.
        max_steps: steps in an episode, which then is truncated.
        reward_weights: weights of the terms.

    Terms: `achievements` (what a player unlocks for its first time in the episode: 1 for each in
    `craftax_classic`, at most 1 a step in `crafter`), `health` (its change; weight 0.1), `joint`
    (1 for each player that took part), `goal` (1 for all when it is reached). Metrics, per step:
    `illegal`, `deaths`, `gifts` (things handed over), `steps_to_goal` (in the step that reaches the
    goal its number, from 1), and by the name of each achievement how many players unlocked it.

    **An action is legal if it can change something**: moving always (it turns), `do` where the
    faced cell has something for this player, `sleep` below 9 energy, and the others where what they
    need is there. Asleep, and down, only `noop` is.

    **`perceive` and observation "compact"**, u8[N, K]: one row a player, all that it may know;
    `layout` maps the name of each part to its slice. V = 63 cells of the view, 7 rows of 9 columns
    in reading order, the player in the middle (cell 31).

    | part | numbers | |
    |---|---|---|
    | `cells` | 63 | material, `rules.MATERIALS`; 0 outside the map |
    | `bodies` | 63 | 0, or 1 + the number in `rules.CREATURES`, or 5 + the index of a player |
    | `headings` | 63 | 0, or 1 + the facing of the player or the arrow there |
    | `facing` | 1 | `rules.FACINGS` |
    | `inventory` | 12 | `rules.ITEMS` |
    | `vitals` | 4 | `rules.VITALS` |
    | `asleep` | 1 | |
    | `alive` | 1 | 1 up, 2 down, 0 dead |
    | `light` | 1 | 0 (dark) to 255 |
    | `achievements` | 22 | `rules.ACHIEVEMENTS`: unlocked |
    | `near` | 2 | a table, a furnace in the 3 x 3 cells around |
    | `role` | 1 | `rules.ROLES` |
    | `request` | 2 | own request: 0, or 1 + the number in `rules.GIFTS`; steps left |
    | `teammates` | 10 each | the others, in index order, see below |
    | `goal` | 29 | `tasks.Goal.row` |
    | `site` | 2 | rows, columns to the building site's first cell, plus 128; zeros without goal |
    | `position` | 2 | row and column; zeros without `compass` |

    A teammate: rows down to it plus 128, columns to its right plus 128, alive, asleep, facing,
    health, food, request, steps left of it, role. Once dead: zeros.

    **Observation "symbolic"**, f32[S] per player, all from 0 to 1; `symbols` maps the name of each
    part to its slice:

    | part | numbers | |
    |---|---|---|
    | `materials` | 63 x 15 | one-hot material of each cell, cell by cell; 63 x 21 where there can \
be joint tasks |
    | `bodies` | 63 x 5 | zombie, skeleton, cow, arrow, player |
    | `headings` | 63 x 4 | one-hot facing of the player or the arrow in each cell |
    | `facing` | 4 | one-hot |
    | `inventory` | 12 | / 9 |
    | `vitals` | 4 | / 9, or / 27 with roles |
    | `asleep`, `alive`, `light` | 3 | the middle one / 2; light / 255 |
    | `achievements`, `near` | 24 | |
    | `role` | 4 | one-hot; only with roles |
    | `request` | 16 | one-hot (none, then `rules.GIFTS`), steps left / 10; only with others |
    | `teammates` | 34 each | see below |
    | `goal`, `site`, `position` | 33 | / 255 |

    A teammate: rows, columns as in `perceive` / 255; above, below, left, right of oneself; alive
    / 2, asleep, facing (4), health / 9, food / 27, request (15), steps left / 10, role (4).

    **Observation "pixels"**, u8[63, 63, 3]: the view, 7 x 7 pixels a cell, and under it two rows of
    cells with the vitals and the inventory (`sprites.pixels`).
    """

    id = "craftworld"
    package = "manyhands.envs.craftworld"
    terms = ("achievements", "health", "joint", "goal")
    noop = NOOP
    # What a person presses (`viewer/human.py`): Crafter's keys, and arrows for the moves.
    keys = {  # noqa: RUF012
        **dict(zip(("left", "right", "up", "down"), rl.SOLO_ACTIONS[MOVE:], strict=False)),
        **{".": "noop", "space": "do", "tab": "sleep"},
        **dict(zip("rtfp", rl.SOLO_ACTIONS[PLACE:], strict=False)),
        **dict(zip("123456", rl.SOLO_ACTIONS[MAKE:], strict=True)),
    }
    batched = True
    reset_pool = 128
    reset_options = ("goal", "world")
    phrases = PHRASES
    scripted_policy = "survivor"

    def __init__(
        self,
        rules: str | Mapping[str, Any] | CraftRules = "craftax_classic",
        *,
        players: int | None = None,
        size: int | Sequence[int] = 64,
        map: str | None = None,
        start: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        world: Any = None,
        spawning: bool | None = None,
        observation: str = "symbolic",
        detail: str = "normal",
        reward: str = "own",
        death: str = "down",
        friendly_fire: bool = False,
        roles: str = "none",
        joint: str | None = None,
        helpers: int = 2,
        goal: str | Sequence[str] | None = None,
        compass: bool = False,
        max_steps: int = 10_000,
        reward_weights: Mapping[str, float] | None = None,
    ):
        _one_of("observation", observation, OBSERVATIONS)
        _one_of("detail", detail, DETAILS)
        _one_of("reward", reward, REWARDS)
        _one_of("death", death, DEATHS)
        _one_of("roles", roles, ROLES)
        if joint is not None:
            _one_of("joint", joint, tuple(rl.JOINT))
        boolean("friendly_fire", friendly_fire)
        boolean("compass", compass)
        self.craft = rl.load_rules(rules)
        self.chart = None if map is None else wd.read_map(map)
        marked = 1 if self.chart is None else len(self.chart.players)
        n = marked if players is None else players
        _whole("players", n, 1, 8)
        _whole("helpers", helpers, 1, 8)
        _whole("max_steps", max_steps, 1, 1_000_000)
        if self.chart is not None and n != marked:
            raise ConfigError(f"the map marks {marked} players, given players={n}")
        if joint is not None and helpers > n:
            raise ConfigError(f"helpers={helpers} are needed, but there are {n} players")
        if self.chart is None:
            self.height, self.width = wd.check_size(size)
        else:
            self.height, self.width = self.chart.ground.shape
        self.worlds = wd.load_worlds(world)
        if spawning is None:
            self.spawning = self.chart is None
        else:
            self.spawning = boolean("spawning", spawning)
        self.agents = tuple(f"player_{i}" for i in range(n))
        self.cameras = ("map", *self.agents)
        self.actions = rl.actions(n)
        self.observation, self.detail, self.reward, self.death = observation, detail, reward, death
        self.friendly_fire, self.roles, self.joint = friendly_fire, roles, joint
        self.helpers, self.compass, self.max_steps = helpers, compass, max_steps
        self.reward_weights = check_weights(
            reward_weights, {"achievements": 1.0, "health": 0.1, "joint": 1.0, "goal": 1.0}
        )
        self.action_space = gymnasium.spaces.Discrete(len(self.actions))
        self._pockets, self._vitals, self._clock = wd.check_start(start, n)
        self.goals, self._goals = _goals(goal, n)
        several = f"one of these, drawn for each episode: {'; '.join(self.goals)}"
        self.goal = several if len(self.goals) > 1 else "".join(self.goals)
        drawn = len(self.worlds) > 1 or len(self.goals) > 1
        self.deterministic_reset = self.chart is not None and not drawn
        plain_rules = dataclasses.asdict(rules) if isinstance(rules, CraftRules) else rules
        self._config = {
            "rules": plain_rules if isinstance(plain_rules, str) else _plain(plain_rules),
            "players": n,
            "observation": observation,
            "reward": reward,
            "death": death,
            "friendly_fire": friendly_fire,
            "roles": roles,
            "compass": compass,
            "spawning": self.spawning,
            "max_steps": max_steps,
        }
        self._config |= {"map": map} if map else {"size": [self.height, self.width]}
        given = {
            "start": _plain(start),
            "world": None if world is None else [w.to_dict() for w in self.worlds],
            "detail": detail if detail != "normal" else None,
            "joint": joint,
            "helpers": helpers if joint else None,
            "goal": self.goals[0] if len(self.goals) == 1 else list(self.goals) or None,
            "reward_weights": dict(reward_weights) if reward_weights else None,
        }
        self._config |= {name: value for name, value in given.items() if value is not None}
        self._tabulate()

    def _tabulate(self) -> None:
        """What follows from the configuration: tables, slots, and where the parts of rows lie."""
        n, craft = self.num_agents, self.craft
        self._role = np.array([1 + i % 3 if self.roles != "none" else 0 for i in range(n)])
        self._cap = np.full((n, 4), MOST)
        self._cap[self._role == rl.FORAGER, FOOD : DRINK + 1] = craft.forager_capacity
        # What depends on the light, by world and step of the day: no floating point in a step.
        shape = (len(self.worlds), max(world.day_length for world in self.worlds))
        light = np.zeros(shape)
        for i, world in enumerate(self.worlds):
            light[i, : world.day_length] = wd.daylight(world.day_length)
        self._days = np.array([world.day_length for world in self.worlds], np.int32)
        self._light = np.round(light * 255).astype(np.uint8)
        numbers = {
            which: np.array([[getattr(w, f"{rl.CREATURES[which - 1]}s")] for w in self.worlds])
            for which in APPEARS
        }
        chance = {which: np.full(shape, CHANCE[which]) for which in APPEARS}
        chance[ZOMBIE] += NIGHT_CHANCE * (1 - light) ** 2
        self._odds = {
            which: np.round(65536 * np.minimum(numbers[which] * chance[which], 1)).astype(np.uint32)
            for which in APPEARS
        }
        wanted = {
            ZOMBIE: (3.5 - 3 * light, 3.5 - 3 * light),
            SKELETON: (np.ones(shape), np.full(shape, 2.0)),
            COW: (np.ones(shape), 1.5 + light),
        }
        self._targets = {
            which: np.floor(numbers[which] * np.array(pair)).astype(np.int32)
            for which, pair in wanted.items()
        }
        self._healths = {
            ZOMBIE: craft.zombie_health,
            SKELETON: craft.skeleton_health,
            COW: craft.cow_health,
        }
        # Slots of creatures: which kinds may use each.
        if len(craft.slots) == 1:
            self._slots = {kind: np.ones(craft.slots[0], bool) for kind in range(1, 5)}
        else:
            # In the order in which Craftax moves them.
            order = (ZOMBIE, COW, SKELETON, ARROW)
            kinds = np.concatenate([np.full(n * craft.slots[kind - 1], kind) for kind in order])
            self._slots = {kind: kinds == kind for kind in range(1, 5)}
        self.slots = len(self._slots[ZOMBIE])
        self._drawn = np.zeros((4, self.slots), np.uint8)  # kind, row, column, heading
        for body in self.chart.creatures if self.chart is not None else ():
            free = np.flatnonzero(self._slots[body[0]] & (self._drawn[0] == 0))
            if not len(free):
                most = int(self._slots[body[0]].sum())
                raise ConfigError(
                    f"the map has too many creatures: there is room for no more than {most}, "
                    f"{rl.CREATURES[body[0] - 1]}s among them (the rules' slots)"
                )
            self._drawn[:, free[0]] = body
        joint = self.joint is not None
        if self.chart is not None:
            joint |= bool((self.chart.ground >= rl.SINGLE).any())
        self.has_joint = joint
        self.materials = len(rl.MATERIALS) if joint else rl.SINGLE

        parts = {"cells": CELLS, "bodies": CELLS, "headings": CELLS, "facing": 1, "inventory": 12}
        parts |= {"vitals": 4, "asleep": 1, "alive": 1, "light": 1, "achievements": 22, "near": 2}
        parts |= {"role": 1, "request": 2, "teammates": MATE * (n - 1), "goal": GOAL, "site": 2}
        self.layout = _slices(parts | {"position": 2})
        others, roles = n > 1, self.roles != "none"
        symbols = {"materials": CELLS * self.materials, "bodies": CELLS * 5, "headings": CELLS * 4}
        symbols |= {"facing": 4, "inventory": 12, "vitals": 4, "asleep": 1, "alive": 1, "light": 1}
        symbols |= {"achievements": 22, "near": 2, "role": 4 * roles, "request": 16 * others}
        symbols |= {"teammates": 34 * (n - 1), "goal": GOAL, "site": 2, "position": 2}
        self.symbols = _slices(symbols)
        box = gymnasium.spaces.Box
        spaces: dict[str, Any] = {
            "symbolic": lambda: box(0, 1, (self.symbols["position"].stop,), np.float32),
            "compact": lambda: box(0, 255, (self.layout["position"].stop,), np.uint8),
            "pixels": lambda: box(0, 255, (63, 63, 3), np.uint8),
        }
        self.observation_space = spaces[self.observation]()

    # ---- beginning ----------------------------------------------------------------------------

    def reset(self, key: Array) -> CraftState:
        return _compiled(self, "_reset")(key)

    def _reset(self, key: Array) -> CraftState:
        world_key, ground_key = jax.random.split(key)
        world = jnp.uint8(0)
        if len(self.worlds) > 1:
            world = jax.random.randint(world_key, (), 0, len(self.worlds)).astype(jnp.uint8)
        goal = jnp.asarray(self._goals[0])
        if len(self._goals) > 1:
            drawn = jax.random.randint(jax.random.fold_in(world_key, 1), (), 0, len(self._goals))
            goal = jnp.asarray(self._goals)[drawn]
        return self._begin(ground_key, world, goal)

    def reset_to(self, key: Array, options: Mapping[str, Any]) -> CraftState:
        """The episode of `key` with `"goal"`, a text, and in `"world"`: a whole number, which names
        the ground (the same for every episode, and none that training meets by chance: see
        `tasks.HELD_OUT_WORLDS`), or the parameters of one of `worlds`."""
        from manyhands.envs.craftworld import tasks

        state = None
        given = options.get("world")
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
            if not 0 <= given < 2**32:
                raise ConfigError(f"worlds are numbered 0 to {2**32 - 1}, given {given}")
            state = _compiled(self, "_reset")(seed_key(np.uint32(given)))
        elif given is not None:
            wanted = wd.load_world(given)
            if wanted not in self.worlds:
                raise ConfigError(
                    "the option 'world' is a number, or one of the worlds that this environment "
                    f"was made with (world=[...], {len(self.worlds)} of them); given {given!r}"
                )
            number = jnp.uint8(self.worlds.index(wanted))
            ground_key = jax.random.split(key)[1]
            state = _compiled(self, "_begin")(ground_key, number, jnp.asarray(self._goals[0]))
        if state is None:
            state = _compiled(self, "_reset")(key)
        if options.get("goal") is None:
            return state
        row = tasks.parse_goal(options["goal"], self.num_agents).row()
        return dataclasses.replace(state, goal=jnp.asarray(row))

    def _begin(self, ground_key: Array, world: Array, goal: Array) -> CraftState:
        """The first state of an episode in one of the worlds."""
        n, slots = self.num_agents, self.slots
        plant_place = np.zeros((self.craft.plants, 2), np.uint8)
        plant_age = np.zeros(self.craft.plants, np.uint16)
        if self.chart is not None:
            ground = jnp.asarray(self.chart.ground)
            position = jnp.asarray(self.chart.players, jnp.uint8)
            kinds, rows, columns, headings = jnp.asarray(self._drawn)
            for i, (y, x, ripe) in enumerate(self.chart.plants[: self.craft.plants]):
                plant_place[i], plant_age[i] = (y, x), 1 + self.craft.ripe * ripe
        else:
            ground, position, found = wd.generate(self, ground_key, world)
            kinds, rows, columns = found
            headings = jnp.zeros(slots, jnp.uint8)
        healths = (0, *(self._healths[which] for which in (ZOMBIE, SKELETON, COW)), 1)
        health = jnp.asarray(healths, jnp.uint8)[kinds]
        return CraftState(
            map=ground,
            position=position,
            facing=jnp.full(n, self.craft.start_facing, jnp.uint8),
            inventory=jnp.asarray(self._pockets, jnp.uint8),
            vitals=jnp.asarray(self._vitals, jnp.uint8),
            counters=jnp.zeros((n, 4), jnp.int8),
            felt=jnp.asarray(self._vitals[:, HEALTH], jnp.uint8),
            asleep=jnp.zeros(n, bool),
            alive=jnp.full(n, ALIVE, jnp.uint8),
            achievements=jnp.zeros((n, len(rl.ACHIEVEMENTS)), bool),
            request=jnp.zeros(n, jnp.uint8),
            request_left=jnp.zeros(n, jnp.uint8),
            kind=kinds,
            place=jnp.stack([rows, columns], axis=1),
            health=health,
            cooldown=jnp.zeros(slots, jnp.uint8),
            heading=headings,
            plant_place=jnp.asarray(plant_place),
            plant_age=jnp.asarray(plant_age),
            clock=jnp.int32(self._clock),
            world=world,
            goal=goal,
            site=self._building_site(),
            goal_step=jnp.int32(0),
        )

    def _building_site(self) -> Array:
        """Two cells to the right of where player 0 starts, and within the map."""
        if self.chart is not None:
            row, column = self.chart.players[0]
        else:
            row, column = self.height // 2, self.width // 2
        row, column = row - SITE // 2, column + 2
        row = max(0, min(row, self.height - SITE))
        column = max(0, min(column, self.width - SITE))
        return jnp.asarray([row, column], jnp.uint8)

    # ---- the rules ----------------------------------------------------------------------------

    def step(self, key: Array, state: CraftState, actions: Array) -> tuple[CraftState, Outcome]:
        # Compiled even where nobody asked for it: it is a thousand small operations.
        return _compiled(self, "_step")(key, state, actions)

    def _step(self, key: Array, state: CraftState, actions: Array) -> tuple[CraftState, Outcome]:
        craft = self.craft
        luck = _Luck(key)
        before = _Now.of(state)
        known = (actions >= 0) & (actions < len(self.actions))
        chosen = _one_hot(actions, len(self.actions), axis=1)
        illegal = ~jnp.any(self.legal(state) & chosen, axis=1) & self.acting(state)
        actions = jnp.where(known, actions, NOOP).astype(jnp.int32)

        now = before._replace(
            request_left=jnp.maximum(before.request_left - 1, 0),
            request=jnp.where(before.request_left > 1, before.request, 0),
        )
        now, helped = self._join(now, actions)
        now, gifts = self._act(now, actions, luck)
        sleeps = actions == SLEEP
        if craft.name == "crafter":
            now = self._live(now, sleeps)
            now = self._move_creatures(now, luck)
            now = self._grow(now, state.plant_age > 0)
            if self.spawning:
                now = self._balance(now, state, luck)
        else:
            now = self._move_creatures(now, luck)
            if self.spawning:
                now = self._appear(now, state, luck)
            now = self._grow(now, jnp.ones(state.plant_age.shape, bool))
            now = self._live(now, sleeps)
            drowned = now.in_lava[:, None] & (np.arange(4) == HEALTH).reshape(_axes(now.vitals, 1))
            now = now._replace(vitals=jnp.where(drowned, 0, jnp.maximum(now.vitals, 0)))

        fallen = (now.alive == ALIVE) & (now.vitals[:, HEALTH] <= 0)
        left = jnp.int32(DOWN if self.death == "down" else DEAD)
        alive = jnp.where(fallen, jnp.where(now.in_lava, DEAD, left), now.alive)
        now = now._replace(alive=alive, asleep=now.asleep & ~fallen)
        clock = state.clock + 1
        played = self._played(clock)
        share = self._share_of_goal(now, state)
        reached = (state.goal_step == 0) & (share >= 1)
        new = now.state(state, clock, jnp.where(reached, played, state.goal_step))

        nobody = ~jnp.any(alive == ALIVE, axis=0)
        over = nobody | (new.goal_step > 0)
        terminated = (alive == DEAD) | over[None]
        truncated = jnp.broadcast_to((played >= self.max_steps)[None], terminated.shape)
        unlocked = now.done & ~before.done
        bits = [((unlocked >> i) & 1).astype(jnp.float32) for i in range(len(rl.ACHIEVEMENTS))]
        count = sum(bits)
        if not craft.achievement_each:
            count = jnp.minimum(count, 1.0)
        change = (now.vitals[:, HEALTH] - before.vitals[:, HEALTH]).astype(jnp.float32)
        everyone = jnp.broadcast_to(reached.astype(jnp.float32)[None], terminated.shape)
        terms = {"achievements": count, "health": change, "joint": helped.astype(jnp.float32)}
        terms = {name: self._shared(value) for name, value in terms.items()} | {"goal": everyone}
        metrics = {
            "illegal": jnp.sum(illegal, axis=0).astype(jnp.float32),
            "deaths": jnp.sum(fallen, axis=0).astype(jnp.float32),
            "gifts": gifts.astype(jnp.float32),
            "steps_to_goal": jnp.where(reached, played, 0).astype(jnp.float32),
        }
        for name, who in zip(rl.ACHIEVEMENTS, bits, strict=True):
            metrics[name] = jnp.sum(who, axis=0)
        return new, self.outcome(terms, terminated, truncated, metrics)

    def elapsed(self, state: CraftState) -> Array:
        """Steps played in this episode, i32[...]: `state.clock` is the time of the world, which may
        have begun later than 0 (`start`)."""
        return self._played(state.clock)

    def _played(self, clock: Array) -> Array:
        return clock - self._clock if self._clock else clock

    def _shared(self, term: Array) -> Array:
        """A term as each player's reward counts it."""
        if self.reward == "own" or self.num_agents == 1:
            return term
        team = jnp.broadcast_to(jnp.sum(term, axis=0, keepdims=True), term.shape)
        return team if self.reward == "team" else (term + team) / 2

    def _share_of_goal(self, now: _Now, state: CraftState) -> Array:
        """f32[...], how much of the goal is reached; see `tasks.fulfilled`."""
        from manyhands.envs.craftworld import tasks

        steps = np.arange(SITE)
        row, column = state.site[0].astype(jnp.int32), state.site[1].astype(jnp.int32)
        rows = row[None, None] + steps.reshape(-1, 1, *_ones(row))
        columns = column[None, None] + steps.reshape(1, -1, *_ones(row))
        inside = (rows < self.height) & (columns < self.width)
        site = _read(now.map, jnp.where(inside, rows * self.width + columns, 0))
        return tasks.fulfilled(
            state.goal,
            now.inventory.astype(jnp.uint8),
            _unpacked(now.done),
            now.alive != DEAD,
            jnp.where(inside, site, VOID).astype(jnp.uint8),
        )

    def _join(self, now: _Now, actions: Array) -> tuple[_Now, Array]:
        """Joint efforts: (what they changed, who took part, bool[N, ...])."""
        if not self.has_joint:
            return now, jnp.zeros(now.alive.shape, bool)
        ahead = now.spot + self._step_of(now.facing)
        cell, inside = self._cell(ahead)
        ground = jnp.where(inside, _read(now.map, cell), VOID)
        waits = functools.reduce(jnp.logical_or, [ground == m for m, _ in rl.JOINT.values()])
        tries = waits & (actions == DO) & (now.alive == ALIVE) & ~now.asleep
        together = tries[:, None] & tries[None] & (ahead[:, None] == ahead[None])
        helped = tries & (jnp.sum(together, axis=1) >= self.helpers)
        for i in range(self.num_agents):
            becomes = ground[i]
            for waiting, done in rl.JOINT.values():
                becomes = jnp.where(ground[i] == waiting, done, becomes)
            now = now._replace(map=_write(now.map, cell[i], becomes, helped[i]))
        return now, helped

    # ---- players ------------------------------------------------------------------------------

    def _act(self, now: _Now, actions: Array, luck: _Luck) -> tuple[_Now, Array]:
        """The actions of all players, one after the other: (what came of it, gifts made)."""
        n = self.num_agents
        chance = luck.draw("sapling", n) < _odds(self.craft.sapling_chance)
        role = jnp.asarray(self._role.reshape(n, *_axes(now.alive, 0)[1:]), jnp.int32)
        role = jnp.broadcast_to(role, now.alive.shape)
        none = jnp.zeros(now.clock.shape, jnp.int32)
        if n == 1:
            return self._act_one(now, 0, actions, role, chance), none
        order = (now.clock[None] + np.arange(n).reshape(_axes(now.alive, 0))) % n
        place = (np.arange(n).reshape(_axes(now.alive, 0)) - now.clock[None]) % n
        turns = now.rolled(order)
        mine = tuple(_rolled(values, order) for values in (actions, role, chance))

        def turn(k: Array, at: tuple[_Now, Array]) -> tuple[_Now, Array]:
            turns, gifts = at
            acted = self._act_one(turns, k, *mine)
            given = _at(mine[0], k)
            was, has = _at(turns.goods(), k), _at(acted.goods(), k)
            gave = (given >= GIVE) & (given < REQUEST) & jnp.any(was > has, axis=0)
            return acted, gifts + gave

        turns, gifts = jax.lax.fori_loop(0, n, turn, (turns, none))
        return turns.rolled(place), gifts

    def _act_one(self, now: _Now, k: Any, actions: Array, roles: Array, chances: Array) -> _Now:
        """What the player on place `k` of the player axis does."""
        craft = self.craft
        many = self.num_agents > 1
        spot, facing = _at(now.spot, k), _at(now.facing, k)
        vitals, pockets = _at(now.vitals, k), _at(now.inventory, k)
        counters, asleep, done = _at(now.counters, k), _at(now.asleep, k), _at(now.done, k)
        role, action = _at(roles, k), _at(actions, k)
        up = _at(now.alive, k) == ALIVE
        gets: dict[str, Array] = {}
        if craft.name == "crafter":
            # It wakes with all its energy, and goes on to act in the same step.
            gets["wake_up"] = up & asleep & (vitals[ENERGY] >= MOST)
            asleep = asleep & ~gets["wake_up"]
        action = jnp.where(up & ~asleep, action, NOOP)

        moves = (action >= MOVE) & (action < DO)
        facing = jnp.where(moves, action - MOVE, facing)
        ahead = spot + self._step_of(facing)
        cell, inside = self._cell(ahead)
        ground = jnp.where(inside, _read(now.map, cell), VOID)
        creature = (now.kind > 0) & (now.spot_of == ahead[None])
        if craft.name != "crafter":
            creature = creature & (now.kind != ARROW)
        met = jnp.max(jnp.where(creature, now.kind, 0), axis=0)
        other = (now.alive != DEAD) & (now.spot == ahead[None])
        blocked = (met > 0) | jnp.any(other, axis=0)
        ground, met, blocked, action, ahead = wd.alone(ground, met, blocked, action, ahead)

        # Moving.
        enters = moves & ~blocked & (_among(ground, rl.WALKABLE) | (ground == LAVA))
        spot = jnp.where(enters, ahead, spot)
        sinks = enters & (ground == LAVA)
        in_lava = (_at(now.in_lava, k) & ~enters) | sinks
        if craft.name == "crafter":
            vitals = _set(vitals, HEALTH, jnp.where(sinks, 0, vitals[HEALTH]))

        # Doing: hitting a creature, collecting, eating a plant.
        does = action == DO
        forages = (role == 0) | (role == rl.FORAGER)
        strength = self._strength(pockets, role)
        hits = does & (met > 0) & (met != ARROW) & ((met != COW) | forages)
        struck = creature & hits[None]
        health = jnp.where(struck, jnp.maximum(now.health - strength[None], 0), now.health)
        killed = hits & jnp.any(struck & (health == 0), axis=0)
        killed, hits, strength = wd.alone(killed, hits, strength)
        eats = killed & (met == COW)
        gets["defeat_zombie"] = killed & (met == ZOMBIE)
        gets["defeat_skeleton"] = killed & (met == SKELETON)
        gets["eat_cow"] = eats
        kind = now.kind
        if craft.name != "crafter":  # there it vanishes when its own turn comes
            kind = jnp.where(struck & (health == 0), 0, kind)

        works = does & ~blocked
        ripe = works & (ground == RIPE_PLANT) & forages
        gets["eat_plant"] = ripe
        table = _collecting()
        tool, item = table.tool[ground], table.item[ground]
        owns = (tool < 0) | jnp.any(_one_hot(tool, 12) & (pockets > 0), axis=0)
        takes = works & (item >= 0) & owns
        picks = takes & (ground == GRASS)
        takes = takes & (~picks | (_at(chances, k) & forages))
        takes, item = wd.alone(takes, item)
        drinks = works & (ground == WATER)
        for code, (name, _, _) in rl.COLLECT.items():
            gets[f"collect_{name}"] = (drinks if code == WATER else takes) & (ground == code)
        pockets = pockets + (_one_hot(item, 12) & takes[None])
        becomes = jnp.where(takes, table.left[ground], ground)
        becomes = jnp.where(ripe, PLANT, becomes)
        food = jnp.where(eats, craft.cow_food, 0) + jnp.where(ripe, craft.plant_food, 0)
        vitals = vitals + _row(food, FOOD) + _row(drinks.astype(jnp.int32), DRINK)
        sated = eats | (ripe if craft.plant_hunger else eats)
        counters = jnp.where(_row(sated, HUNGER) | _row(drinks, THIRST), 0, counters)
        plants = now.plant_spot == ahead[None]
        plant_age = jnp.where(plants & ripe[None] & (now.plant_age > 0), 1, now.plant_age)

        # Placing and making: one table of costs.
        costs = _costs(craft, len(self.actions))
        spends = (action >= PLACE) & (action < GIVE)
        cost = costs.cost[action]  # [..., 12]
        cost = jnp.moveaxis(cost, -1, 0)
        pays = spends & jnp.all(pockets >= cost, axis=0)
        places = pays & (action < MAKE) & ~blocked & inside
        places = places & ((costs.ground[action] >> ground.astype(jnp.uint32)) & 1 > 0)
        places = places & ((action != PLACE) | (role == 0) | (role == rl.MINER))
        near = self._near(now, spot)
        makes = pays & (action >= MAKE) & near[0] & (near[1] | ~costs.iron[action])
        makes = makes & ((role == 0) | (role == costs.role[action]))
        made = costs.made[action]
        places, makes, made, cost = wd.alone(places, makes, made, cost)
        pockets = jnp.where((places | makes)[None], pockets - cost, pockets)
        pockets = pockets + (_one_hot(made, 12) & makes[None])
        becomes = jnp.where(places, costs.placed[action], becomes)
        for i, name in enumerate(rl.PLACES):
            gets[f"place_{name}"] = places & (action == PLACE + i)
        for i, name in enumerate(rl.MAKES):
            gets[f"make_{name}"] = makes & (action == MAKE + i)
        plants = gets["place_plant"]
        slot = _first(plant_age == 0) & plants[None]
        plant_age = jnp.where(slot, 1, plant_age)
        plant_spot = jnp.where(slot, ahead[None], now.plant_spot)

        if craft.name == "crafter":
            asleep = asleep | ((action == SLEEP) & (vitals[ENERGY] < MOST))
        pockets = jnp.minimum(pockets, MOST)
        if craft.name != "crafter":  # there only after this step's needs
            vitals = jnp.minimum(vitals, self._most(role))
        for i, name in enumerate(rl.ACHIEVEMENTS):
            if name in gets:
                done = done | (gets[name].astype(jnp.uint32) << i)

        new = now._replace(
            map=_write(now.map, cell, becomes, inside),
            spot=_put(now.spot, k, spot),
            facing=_put(now.facing, k, facing),
            inventory=_put(now.inventory, k, pockets),
            vitals=_put(now.vitals, k, vitals),
            counters=_put(now.counters, k, counters),
            asleep=_put(now.asleep, k, asleep),
            in_lava=_put(now.in_lava, k, in_lava),
            done=_put(now.done, k, done),
            kind=kind,
            health=health,
            plant_spot=plant_spot,
            plant_age=plant_age,
        )
        if not many:
            return new
        return self._meet(new, k, action, other & (does & (met == 0))[None], strength, roles)

    def _meet(
        self, now: _Now, k: Any, action: Array, faced: Array, strength: Array, roles: Array
    ) -> _Now:
        """What a player does to others: `faced`, bool[N, ...], is whom it does."""
        craft = self.craft
        # Helping up, and hitting.
        raised = faced & (now.alive == DOWN)
        alive = jnp.where(raised, ALIVE, now.alive)
        hit = faced & (now.alive == ALIVE) & self.friendly_fire
        health = now.vitals[:, HEALTH]
        health = jnp.where(hit, jnp.maximum(health - strength[None], 0), health)
        health = jnp.where(raised, craft.revive_health, health)
        counters = jnp.where(raised[:, None], 0, now.counters)
        asleep = now.asleep & ~hit
        vitals = jnp.concatenate([health[:, None], now.vitals[:, 1:]], axis=1)
        now = now._replace(
            alive=alive,
            asleep=asleep,
            counters=counters,
            vitals=vitals,
            felt=jnp.where(raised, health, now.felt),
        )
        # Giving.
        ahead = _at(now.spot, k) + self._step_of(_at(now.facing, k))
        receiver = (now.alive == ALIVE) & (now.spot == ahead[None])
        which = _one_hot(action - GIVE, len(rl.GIFTS))
        goods = now.goods()
        has = jnp.any(which & (_at(goods, k) > 0), axis=0)
        cap = self._caps(roles)
        room = jnp.any(which[None] & (goods < cap), axis=1)
        passes = receiver & room & has[None]
        gain = passes[:, None] & which[None]
        lose = _is(k, now.alive)[:, None] & which[None] & jnp.any(passes, axis=0)[None, None]
        now = now.with_goods(goods + gain - lose)
        # Asking.
        asks = (action >= REQUEST) & (action < REQUEST + len(rl.GIFTS))
        me = _is(k, now.alive) & asks[None]
        return now._replace(
            request=jnp.where(me, action[None] - REQUEST + 1, now.request),
            request_left=jnp.where(me, craft.request_steps, now.request_left),
        )

    def _live(self, now: _Now, sleeps: Array) -> _Now:
        """Hunger, thirst, fatigue, healing, falling asleep and waking, of all who are up."""
        craft = self.craft
        vitals, counters, asleep, done = now.vitals, now.counters, now.asleep, now.done
        up = now.alive == ALIVE
        food, drink, energy = vitals[:, FOOD], vitals[:, DRINK], vitals[:, ENERGY]
        health = vitals[:, HEALTH]
        if craft.name != "crafter":
            asleep = asleep | (sleeps & (energy < MOST))
            wakes = asleep & (energy >= MOST) & up
            asleep = asleep & ~wakes
            done = done | (wakes.astype(jnp.uint32) << _WAKE_UP)
        # Counters are in half steps.
        half = jnp.where(asleep, 1, 2)

        def wear(counter: Array, vital: Array, limit: int) -> tuple[Array, Array]:
            counter = counter + half
            due = counter > 2 * limit
            return jnp.where(due, 0, counter), vital - due

        hunger, food = wear(counters[:, HUNGER], food, craft.hunger)
        thirst, drink = wear(counters[:, THIRST], drink, craft.thirst)
        fatigue = counters[:, FATIGUE]
        fatigue = jnp.where(asleep, jnp.minimum(fatigue - 2, 0), fatigue + 2)
        rested, tired = fatigue < -2 * craft.rest, fatigue > 2 * craft.fatigue
        energy = energy + rested - tired
        fatigue = jnp.where(rested | tired, 0, fatigue)
        well = (food > 0) & (drink > 0) & ((energy > 0) | asleep)
        recover = counters[:, RECOVER]
        recover = recover + jnp.where(well, jnp.where(asleep, 4, 2), -half)
        heals, harms = recover > 2 * craft.heal, recover < -2 * craft.harm
        recover = jnp.where(heals | harms, 0, recover)
        health = health + heals - harms
        most = jnp.asarray(self._cap.reshape(*self._cap.shape, *_ones(now.clock)))
        values = jnp.stack(_kept(health, food, drink, energy), axis=1)
        # Craftax lets health fall below zero until the end of the step.
        least = -255 if craft.name != "crafter" else 0
        lowest = np.array([least, 0, 0, 0]).reshape(1, 4, *_ones(now.clock))
        values = jnp.clip(values, lowest, most)
        counters = jnp.stack(_kept(hunger, thirst, fatigue, recover), axis=1)
        felt = now.felt
        if craft.name == "crafter":
            asleep = asleep & ~(values[:, HEALTH] < felt)
            felt = values[:, HEALTH]
        return now._replace(
            vitals=jnp.where(up[:, None], values, vitals),
            counters=jnp.where(up[:, None], counters, now.counters),
            asleep=jnp.where(up, asleep, now.asleep),
            felt=jnp.where(up, felt, now.felt),
            done=done,
        )

    # ---- creatures and plants -----------------------------------------------------------------

    def _move_creatures(self, now: _Now, luck: _Luck) -> _Now:
        """Every creature's turn, slot by slot: each sees what those before it did."""
        craft, slots = self.craft, self.slots
        crafter = craft.name == "crafter"
        chances = luck.draw("creatures", slots * 6).reshape(slots, 6, *now.clock.shape)
        standing = now.alive != DEAD
        up = now.alive == ALIVE
        damage = jnp.zeros(now.alive.shape, jnp.int32)
        broken = jnp.zeros((BREAKS, *now.clock.shape), jnp.int32)  # 1 + cell; 0 for none
        fresh = jnp.zeros(now.kind.shape, bool)

        def turn(i: Any, at: _Turns) -> _Turns:
            kind, spot, wait = _at(at.kind, i), _at(at.spot, i), _at(at.cooldown, i)
            dying = _at(at.health, i) == 0
            heading, draw = _at(at.heading, i), _at(chances, i)
            rows, columns, distances = self._offsets(now.spot, spot[None])
            distances = jnp.where(up, distances, FAR)
            distance = jnp.min(distances, axis=0)
            prey = _first(distances == distance[None]) & up
            row = jnp.sum(jnp.where(prey, rows, 0), axis=0)
            column = jnp.sum(jnp.where(prey, columns, 0), axis=0)
            napping = jnp.any(prey & at.asleep, axis=0)
            prey, row, column, distance, napping = wd.alone(prey, row, column, distance, napping)
            acts = kind > 0
            if crafter:
                acts = acts & (distance < craft.near) & ~_at(at.fresh, i)
            is_zombie = acts & (kind == ZOMBIE)
            is_skeleton = acts & (kind == SKELETON)
            is_cow = acts & (kind == COW)
            is_arrow = acts & (kind == ARROW)

            solid = (at.kind > 0) if crafter else (at.kind > 0) & (at.kind < ARROW)

            def look(to: Array) -> tuple[Array, Array, Array, Array]:
                """(material, whether a creature is there, whether a player is, cell)."""
                cell, inside = self._cell(to)
                ground = jnp.where(inside, _read(now.map, cell), VOID)
                creature = jnp.any(solid & (at.spot == to[None]), axis=0)
                player = jnp.any(standing & (now.spot == to[None]), axis=0)
                return wd.alone(ground, creature, player, cell)

            def free(seen: tuple[Array, Array, Array, Array]) -> Array:
                return _among(seen[0], rl.WALKABLE) & ~seen[1] & ~seen[2]

            def toward(long: Array) -> Array:
                """The step towards the prey along the longer axis, or along the other."""
                down, right = jnp.abs(row), jnp.abs(column)
                across = jnp.where(long, right > down, right <= down)
                return jnp.where(across, jnp.sign(column), jnp.sign(row) * 256)

            anywhere = self._step_of((draw[0] & 3).astype(jnp.int32))
            shoots = jnp.zeros_like(acts)
            if crafter:
                chases = (distance <= 8) & (draw[1] < _odds(0.9))
                zombie_step = jnp.where(chases, toward(draw[2] < _odds(0.8)), anywhere)
                cow_step = jnp.where(draw[1] < _odds(0.5), anywhere, 0)
                # A skeleton first tries to step back.
                back = spot - toward(draw[1] < _odds(0.6))
                retreats = is_skeleton & (distance <= 3) & free(look(back))
                wants_shot = (distance <= 5) & (draw[2] < _odds(0.5))
                approaches = ~wants_shot & (distance <= 8) & (draw[3] < _odds(0.3))
                strolls = ~wants_shot & ~approaches & (draw[4] < _odds(0.2))
                aim = toward(jnp.ones_like(acts))
                skeleton_step = jnp.where(wants_shot, aim, 0)
                skeleton_step = jnp.where(approaches, toward(draw[5] < _odds(0.6)), skeleton_step)
                skeleton_step = jnp.where(strolls, anywhere, skeleton_step)
                step = jnp.where(is_zombie, zombie_step, jnp.where(is_cow, cow_step, skeleton_step))
                step = jnp.where(is_arrow, self._step_of(heading), step)
                to = wd.alone(spot + step)[0]
                seen = look(to)
                open_ = free(seen)
                loaded = jnp.where(is_skeleton, jnp.maximum(wait - 1, 0), wait)
                flies = _among(seen[0], (*rl.WALKABLE, WATER, LAVA)) & ~seen[1] & ~seen[2]
                shoots = is_skeleton & ~retreats & wants_shot & (loaded == 0) & flies & (aim != 0)
                walks = (is_zombie | is_cow | (is_skeleton & ~retreats & ~wants_shot)) & open_
                walks = walks & (step != 0)
                to = jnp.where(retreats, back, to)
                moves = (walks | retreats | (is_arrow & flies)) & ~dying
                here = jnp.where(moves, to, spot)
                # A zombie hits after its move, even in the step in which it dies.
                _, _, after = self._offsets(now.spot, here[None])
                close = is_zombie & (jnp.sum(jnp.where(prey, after, 0), axis=0) <= 1)
                close = close & (distance < FAR)
                bites = close & (wait == 0)
                loaded = jnp.where(close & ~bites, wait - 1, loaded)
                loaded = jnp.where(bites, craft.zombie_cooldown, loaded)
                loaded = jnp.where(shoots, craft.arrow_cooldown, loaded)
                bow, arrow_spot = aim, to
                stays = acts & ~dying
            else:
                # Towards the prey along the longer axis; on a tie along either.
                down, right = jnp.abs(row), jnp.abs(column)
                tie = (down == right) & (draw[2] < _odds(0.5))
                aim = jnp.where(tie, jnp.sign(row) * 256, toward(down != right))
                bites = is_zombie & (distance == 1) & (wait == 0)
                chases = (distance < 10) & (draw[1] < _odds(0.75))
                zombie_step = jnp.where(chases, aim, anywhere)
                cow_step = jnp.where(draw[1] < _odds(0.5), anywhere, 0)
                planned = jnp.where(distance >= 10, aim, anywhere)
                planned = jnp.where(distance <= 3, -aim, planned)
                skeleton_step = jnp.where(draw[1] < _odds(0.15), planned, anywhere)
                step = jnp.where(is_zombie, zombie_step, jnp.where(is_cow, cow_step, skeleton_step))
                step = jnp.where(is_arrow, self._step_of(heading), step)
                to = wd.alone(spot + step)[0]
                seen = look(to)
                open_ = free(seen)
                cornered = (distance <= 3) & ~open_
                wants_shot = ((distance == 4) | (distance == 5) | cornered) & (wait == 0)
                wants_shot = is_skeleton & wants_shot
                room = jnp.any(self._slot_mask(ARROW, at.kind) & (at.kind == 0), axis=0)
                shoots = wants_shot & room
                walks = (is_zombie | is_cow | is_skeleton) & open_ & ~bites & ~wants_shot
                flies = _among(seen[0], (*rl.WALKABLE, WATER, LAVA)) & ~seen[1] & ~seen[2]
                moves = walks | (is_arrow & flies)
                here = jnp.where(moves, to, spot)
                loaded = jnp.where(bites, craft.zombie_cooldown, jnp.maximum(wait - 1, 0))
                loaded = jnp.where(wants_shot, craft.arrow_cooldown, loaded)
                bow, arrow_spot = aim, spot
                stays = acts
                if craft.despawn:
                    stays = stays & (is_arrow | (distance < craft.despawn))
            # An arrow that cannot fly on vanishes, whatever it hit.
            stays = stays & ~(is_arrow & ~flies)
            kept = jnp.where(acts, jnp.where(stays, kind, 0), kind)
            loaded = jnp.where(acts, loaded, wait)
            kept, here, loaded, bites, shoots, struck = wd.alone(
                kept, here, loaded, bites, shoots, is_arrow & ~flies
            )
            new_kind = _put(at.kind, i, kept)
            new_spot = _put(at.spot, i, here)
            cooldown = _put(at.cooldown, i, loaded)

            hurt = jnp.where(
                bites, jnp.where(napping, craft.zombie_damage_asleep, craft.zombie_damage), 0
            )
            damage = at.damage + jnp.where(prey, hurt[None], 0)
            target = struck[None] & up & (now.spot == to[None])
            damage = damage + jnp.where(target, craft.arrow_damage, 0)
            asleep, done, health = at.asleep, at.done, at.health
            if craft.zombie_wakes:
                woken = prey & (bites & napping)[None]
                done = done | (woken.astype(jnp.uint32) << _WAKE_UP)
            if not crafter:
                asleep = asleep & ~(prey & bites[None]) & ~target
            if craft.arrows_hit_creatures:
                shot = struck[None] & (at.kind > 0) & (at.spot == to[None])
                health = jnp.where(shot, jnp.maximum(health - craft.arrow_damage, 0), health)
            breakable = (seen[0] == TABLE) | (seen[0] == FURNACE)
            if craft.trampled:
                breakable = breakable | (seen[0] == PLANT) | (seen[0] == RIPE_PLANT)
            mark = jnp.where(struck & breakable, seen[3] + 1, 0)
            # The last few breaks of this step: more than one is rare.
            shifted = jnp.concatenate([mark[None], at.broken[:-1]], axis=0)
            broken = jnp.where((mark > 0)[None], shifted, at.broken)

            slot = _first(self._slot_mask(ARROW, new_kind) & (new_kind == 0)) & shoots[None]
            return _Turns(
                kind=jnp.where(slot, ARROW, new_kind),
                spot=jnp.where(slot, arrow_spot[None], new_spot),
                health=jnp.where(slot, 1, health),
                cooldown=jnp.where(slot, 0, cooldown),
                heading=jnp.where(slot, self._heading_of(bow)[None], at.heading),
                fresh=at.fresh | slot,
                damage=damage,
                asleep=asleep,
                done=done,
                broken=broken,
            )

        last: Any = slots
        if len(craft.slots) == 1:  # many, of which the first ones are in use
            used = jnp.max(
                jnp.where(now.kind > 0, np.arange(slots).reshape(_axes(now.kind, 0)), -1)
            )
            last = used + 1
        turns = jax.lax.fori_loop(
            0,
            last,
            turn,
            _Turns(
                now.kind,
                now.spot_of,
                now.health,
                now.cooldown,
                now.heading,
                fresh,
                damage,
                now.asleep,
                now.done,
                broken,
            ),
        )
        health = now.vitals[:, HEALTH] - turns.damage
        if crafter:
            health = jnp.maximum(health, 0)
        ground = now.map
        for mark in turns.broken:
            cell = jnp.maximum(mark - 1, 0)
            was = _read(ground, cell)
            left = jnp.where((was == TABLE) | (was == FURNACE), PATH, GRASS)
            ground = _write(ground, cell, left, mark > 0)
        return now._replace(
            map=ground,
            vitals=jnp.concatenate([health[:, None], now.vitals[:, 1:]], axis=1),
            asleep=turns.asleep,
            done=turns.done,
            kind=turns.kind,
            spot_of=turns.spot,
            health=turns.health,
            cooldown=turns.cooldown,
            heading=turns.heading,
        )

    def _grow(self, now: _Now, rooted: Array) -> _Now:
        """Plants grow older, ripen, and die if something tramples them; `rooted`, bool[P, ...]:
        those that may in this step."""
        craft = self.craft
        planted = now.plant_age > 0
        cell, _ = self._cell(now.plant_spot)
        ground = _read(now.map, cell)
        planted = planted & ((ground == PLANT) | (ground == RIPE_PLANT))
        grows, dies = planted & rooted, jnp.zeros_like(planted)
        if craft.near:
            _, _, distance = self._offsets(now.spot[:, None], now.plant_spot[None])
            distance = jnp.where((now.alive == ALIVE)[:, None], distance, FAR)
            grows = grows & (jnp.min(distance, axis=0) < craft.near)
        if craft.trampled:
            animal = (now.kind > 0) & (now.kind < ARROW)
            gap = now.spot_of[None] - now.plant_spot[:, None]  # [P, M, ...]
            beside = functools.reduce(jnp.logical_or, [gap == r * 256 + c for r, c in DELTAS])
            dies = grows & jnp.any(beside & animal[None], axis=1)
        age = jnp.where(planted, now.plant_age, 0) + grows
        ripens = grows & (age == craft.ripe + 1)
        becomes = jnp.where(dies, GRASS, RIPE_PLANT)
        return now._replace(
            map=_write_all(now.map, cell, becomes, ripens | dies),
            plant_age=jnp.where(dies, 0, jnp.minimum(age, craft.ripe + 1)),
        )

    def _appear(self, now: _Now, state: CraftState, luck: _Luck) -> _Now:
        """Craftax's spawning: near each player, in each step, one cow, zombie and skeleton may
        appear, on any free cell of the right ground and distance."""
        n = self.num_agents
        rings = _ring(CLOSEST[COW], FARTHEST)
        chances = luck.draw("chances", 3 * n).reshape(n, 3, *now.clock.shape)
        odds = [self._by_time(self._odds[which], state) for which in APPEARS]
        up = now.alive == ALIVE

        def near(k: Any, now: _Now) -> _Now:
            spot = _at(now.spot, k)
            to = spot[None] + rings.reshape(_axes(now.kind, 0))
            cell, inside = self._cell(to)
            ground = jnp.where(inside, _read(now.map, cell), VOID)
            distance = np.abs((rings + 128) >> 8) + np.abs((rings + 128) % 256 - 128)
            distance = distance.reshape(_axes(now.kind, 0))
            if n > 1:
                _, _, distances = self._offsets(now.spot[:, None], to[None])
                distance = jnp.min(jnp.where(up[:, None], distances, FAR), axis=0)
            solid = jnp.where((now.kind > 0) & (now.kind < ARROW), now.spot_of, -1)
            taken = jnp.any(solid[None] == to[:, None], axis=1)
            if n > 1:
                taken = taken | jnp.any(now.spot[None] == to[:, None], axis=1)
            words = luck.words("where", len(rings), salt=k)
            ground, words = wd.alone(jnp.where(taken, VOID, ground), words)
            kind, spot_of, health, cooldown = now.kind, now.spot_of, now.health, now.cooldown
            before = jnp.full_like(spot, -1)
            for j, (which, grounds) in enumerate(APPEARS.items()):
                fits = (distance >= CLOSEST[which]) & _among(ground, grounds) & (to != before[None])
                # The same words in another order for each kind.
                index = _pick(fits, words * np.uint32(ODD[j]))
                comes = (index >= 0) & (_at(chances, k)[j] < odds[j]) & _at(up, k)
                chosen = jnp.asarray(rings)[jnp.maximum(index, 0)] + spot
                comes, chosen = wd.alone(comes, chosen)
                slot = _first(self._slot_mask(which, kind) & (kind == 0)) & comes[None]
                kind = jnp.where(slot, which, kind)
                spot_of = jnp.where(slot, chosen[None], spot_of)
                health = jnp.where(slot, self._healths[which], health)
                cooldown = jnp.where(slot, 0, cooldown)
                before = jnp.where(comes, chosen, before)
            return now._replace(kind=kind, spot_of=spot_of, health=health, cooldown=cooldown)

        if n == 1:
            return near(0, now)
        return jax.lax.fori_loop(0, n, near, now)

    def _balance(self, now: _Now, state: CraftState, luck: _Luck) -> _Now:
        """Crafter's spawning: every 10 steps, each chunk of 12 x 12 cells gains or loses at most a
        zombie, a skeleton and a cow, as its ground and the light want it."""
        due = (state.clock + 1) % BALANCE == 0
        shape = now.clock.shape
        down, across = -(-self.height // CHUNK), -(-self.width // CHUNK)
        # Kind, ground, cells of it to want any, distances and odds to come and to go.
        meadow = (GRASS, PLANT, RIPE_PLANT)
        wants = (
            (ZOMBIE, meadow, 50, (6, 0), (0.3, 0.4)),
            (SKELETON, (PATH,), 6, (7, 7), (0.1, 0.1)),
            (COW, meadow, 30, (5, 5), (0.01, 0.1)),
        )
        targets = {k: self._by_time(table, state, 1) for k, table in self._targets.items()}
        up = now.alive == ALIVE

        def away(spot: Array) -> Array:
            distance = self._offsets(now.spot, spot[None])[2]
            return jnp.min(jnp.where(up, distance, FAR), axis=0)

        def chunk(q: Any, at: tuple[Array, ...]) -> tuple[Array, ...]:
            kind, spot_of, health, cooldown = at
            row, column = q // across * CHUNK, q % across * CHUNK
            begin = (row, column, *(0 for _ in shape))
            ground = jax.lax.dynamic_slice(padded, begin, (CHUNK, CHUNK, *shape))
            ground = ground.reshape(CHUNK**2, *shape)
            corner = row * 256 + column
            rows, columns = (spot_of >> 8) - row, (spot_of & 255) - column
            here = (rows >= 0) & (rows < CHUNK) & (columns >= 0) & (columns < CHUNK)
            chances = luck.draw("chances", 3, salt=q)
            for j, (which, grounds, enough, far, odds) in enumerate(wants):
                least, most = targets[which]
                ours = here & (kind == which)
                count = jnp.sum(ours, axis=0)
                fits = _among(ground, grounds)
                wanted = count < jnp.where(jnp.sum(fits, axis=0) < enough, 0, least)
                comes = due & wanted & (chances[j] < _odds(odds[0]))
                goes = due & ~wanted & (count > most) & (chances[j] < _odds(odds[1]))
                index = _pick(fits, luck.words("where", CHUNK**2, salt=3 * q + j))
                to = (index // CHUNK) * 256 + index % CHUNK + corner
                empty = ~jnp.any((kind > 0) & (spot_of == to[None]), axis=0)
                empty = empty & ~jnp.any((now.alive != DEAD) & (now.spot == to[None]), axis=0)
                chosen = index[None] == np.arange(CHUNK**2).reshape(_axes(fits, 0))
                empty = empty & jnp.any(chosen & _among(ground, (GRASS, PATH)), axis=0)
                comes = comes & empty & (away(to) >= far[0])
                slot = _first(kind == 0) & comes[None]
                loser = _pick(ours, luck.words("who", self.slots, salt=3 * q + j))
                loser = loser[None] == np.arange(self.slots).reshape(_axes(ours, 0))
                gone = jnp.sum(jnp.where(loser, spot_of, 0), axis=0)
                goes = goes & (away(gone) >= far[1])
                kind = jnp.where(loser & goes[None], 0, jnp.where(slot, which, kind))
                spot_of = jnp.where(slot, to[None], spot_of)
                health = jnp.where(slot, self._healths[which], health)
                cooldown = jnp.where(slot, 0, cooldown)
            return kind, spot_of, health, cooldown

        at = (now.kind, now.spot_of, now.health, now.cooldown)
        padding = [(0, down * CHUNK - self.height), (0, across * CHUNK - self.width)]
        plane = now.map.reshape(self.height, self.width, *shape)
        padded = jnp.pad(plane, [*padding, *((0, 0) for _ in shape)], constant_values=VOID)
        at = jax.lax.cond(
            jnp.any(due),
            lambda at: jax.lax.fori_loop(0, down * across, chunk, at),
            lambda at: at,
            at,
        )
        return now._replace(kind=at[0], spot_of=at[1], health=at[2], cooldown=at[3])

    def _by_time(self, table: np.ndarray, state: CraftState, ahead: int = 0) -> Array:
        """A row of a table [..., worlds, steps of a day], at this moment or later."""
        world = state.world.astype(jnp.int32)
        time = (state.clock + ahead) % jnp.asarray(self._days)[world]
        return jnp.asarray(table)[..., world, time]

    # ---- small things about cells ------------------------------------------------------------

    def _cell(self, spot: Array) -> tuple[Array, Array]:
        """(number of the cell, whether it is on the map) of a place `row << 8 | column`; number 0
        where it is not."""
        row, column = spot >> 8, spot & 255
        inside = (row >= 0) & (row < self.height) & (column < self.width)
        return jnp.where(inside, row * self.width + column, 0), inside

    def _step_of(self, facing: Array) -> Array:
        """What a facing adds to a place."""
        sideways = jnp.where(facing == 0, -1, 1)
        return jnp.where(facing < 2, sideways, jnp.where(facing == 2, -256, 256))

    def _heading_of(self, step: Array) -> Array:
        """The facing of a step."""
        sideways = jnp.where(step == 1, 1, 0)
        return jnp.where(step == -256, 2, jnp.where(step == 256, 3, sideways))

    def _offsets(self, to: Array, spot: Array) -> tuple[Array, Array, Array]:
        """Rows, columns, and their sum as a distance, from `spot` to `to`."""
        rows, columns = (to >> 8) - (spot >> 8), (to & 255) - (spot & 255)
        return rows, columns, jnp.abs(rows) + jnp.abs(columns)

    def _slot_mask(self, kind: int, like: Array) -> Array:
        """Which slots creatures of a kind may take."""
        return jnp.asarray(self._slots[kind].reshape(_axes(like, 0)))

    def _near(self, now: _Now, spot: Array) -> tuple[Array, Array]:
        """Whether a table, and a furnace, is among the 3 x 3 cells around a place."""
        around = np.array([r * 256 + c for r in (-1, 0, 1) for c in (-1, 0, 1)])
        cell, inside = self._cell(spot[None] + around.reshape(-1, *_ones(spot)))
        ground = jnp.where(inside, _read(now.map, cell), VOID)
        return jnp.any(ground == TABLE, axis=0), jnp.any(ground == FURNACE, axis=0)

    def _strength(self, pockets: Array, role: Array) -> Array:
        """How much health a hit of this player takes."""
        damage = jnp.full(role.shape, self.craft.damage[0], jnp.int32)
        for i, name in enumerate(("wood_sword", "stone_sword", "iron_sword")):
            swords = pockets[rl.ITEMS.index(name)]
            if not self.craft.swords_add_up:
                swords = jnp.minimum(swords, 1)
            damage = jnp.maximum(damage, swords * self.craft.damage[i + 1])
        return jnp.where(role == rl.WARRIOR, damage * self.craft.warrior_damage, damage)

    def _most(self, role: Array) -> Array:
        """i32[4, ...], the vitals that a player of this role can have."""
        forages = (role == rl.FORAGER)[None]
        fed = np.array([FOOD, DRINK])
        of_food = np.isin(np.arange(4), fed).reshape(_axes(forages, 0))
        return jnp.where(forages & of_food, self.craft.forager_capacity, MOST)

    def _caps(self, roles: Array) -> Array:
        """i32[N, 14, ...], how many of each of `rules.GIFTS` players of these roles can hold."""
        of_food = (np.arange(len(rl.GIFTS)) < 2).reshape(1, -1, *_ones(roles[0]))
        forages = (roles == rl.FORAGER)[:, None]
        return jnp.where(forages & of_food, self.craft.forager_capacity, MOST)

    # ---- what players see ---------------------------------------------------------------------

    def legal(self, state: CraftState) -> Array:
        """bool[N, A, ...]: what can change something; see the class."""
        craft, n, now = self.craft, self.num_agents, _Now.of(state)
        ground, (table, furnace) = self._around(now)
        sides = now.spot[:, None] + np.array([r * 256 + c for r, c in DELTAS]).reshape(
            1, -1, *_ones(now.clock)
        )
        turned = _one_hot(now.facing, 4, axis=1)
        ahead = jnp.sum(jnp.where(turned, sides, 0), axis=1)
        faced = jnp.sum(jnp.where(turned, ground[:, np.array(BESIDE)], 0), axis=1)
        role = jnp.asarray(self._role.reshape(_axes(now.alive, 0)))
        creature = (now.kind > 0)[None] & (now.spot_of[None] == ahead[:, None])
        if craft.name != "crafter":
            creature = creature & (now.kind != ARROW)[None]
        met = jnp.max(jnp.where(creature, now.kind[None], 0), axis=1)
        other = (now.alive != DEAD)[None] & (now.spot[None] == ahead[:, None])
        clear = (met == 0) & ~jnp.any(other, axis=1)
        forages = (role == 0) | (role == rl.FORAGER)
        pockets = now.inventory

        does = (met > 0) & (met != ARROW) & ((met != COW) | forages)
        works = (faced == RIPE_PLANT) & forages
        for material, (_, tool, _) in rl.COLLECT.items():
            can = faced == material
            if tool is not None:
                can = can & (pockets[:, rl.ITEMS.index(tool)] > 0)
            if material == GRASS:
                can = can & forages
            works = works | can
        for waiting, _ in rl.JOINT.values():
            works = works | (faced == waiting)
        does = does | (works & clear)
        down = jnp.any(other & (now.alive == DOWN)[None], axis=1)
        does = does | ((met == 0) & down)
        mates = jnp.any(other & (now.alive == ALIVE)[None], axis=1)
        if self.friendly_fire:
            does = does | ((met == 0) & mates)
        true = jnp.ones(does.shape, bool)
        rows = [true] * 5 + [does, now.vitals[:, ENERGY] < MOST]
        for i, name in enumerate(rl.PLACES):
            item, count = craft.place_cost(name)
            can = clear & (pockets[:, rl.ITEMS.index(item)] >= count)
            can = can & _among(faced, craft.place_on(name))
            rows.append(can & ((role == 0) | (role == rl.MINER)) if i == 0 else can)
        for name in rl.MAKES:
            can = table & furnace if len(craft.make_near(name)) > 1 else table
            for item, count in craft.make_cost(name).items():
                can = can & (pockets[:, rl.ITEMS.index(item)] >= count)
            rows.append(can & ((role == 0) | (role == _maker(name))))
        if n > 1:
            goods, caps = now.goods(), self._caps(jnp.broadcast_to(role, does.shape))
            room = (goods < caps) & (now.alive == ALIVE)[:, None]
            for i in range(len(rl.GIFTS)):
                takes = jnp.any(other & room[None, :, i], axis=1)
                rows.append((goods[:, i] > 0) & takes)
            rows += [true] * len(rl.GIFTS)
        mask = jnp.stack(_kept(*(jnp.broadcast_to(row, true.shape) for row in rows)), axis=1)
        awake = (now.alive == ALIVE) & ~now.asleep
        if craft.name == "crafter":
            awake = awake | ((now.alive == ALIVE) & (now.vitals[:, ENERGY] >= MOST))
        only = (np.arange(len(self.actions)) == NOOP).reshape(1, -1, *_ones(now.clock))
        return (mask & awake[:, None]) | (only & (now.alive != DEAD)[:, None])

    def acting(self, state: CraftState) -> Array:
        return state.alive != DEAD

    def _around(self, now: _Now) -> tuple[Array, tuple[Array, Array]]:
        """The materials in view, i32[N, 63, ...], and whether a table, a furnace is near."""
        to = now.spot[:, None] + _view().reshape(1, -1, *_ones(now.clock))
        cell, inside = self._cell(to)
        ground = jnp.where(inside, _read(now.map, cell), VOID)
        close = ground[:, np.array(NEAR)]
        return ground, (jnp.any(close == TABLE, axis=1), jnp.any(close == FURNACE, axis=1))

    def perceive(self, state: CraftState) -> Array:
        """What each player may know, u8[N, K, ...]: see the class, and `layout`."""
        n, now = self.num_agents, _Now.of(state)
        ground, near = self._around(now)
        # Who is where in view: arrows over other creatures, players over all.
        codes = [jnp.where(now.kind == ARROW, now.kind << 3 | now.heading + 1, now.kind << 3)]
        standing = now.alive != DEAD
        numbers = np.arange(n).reshape(_axes(now.alive, 0))
        codes.append(jnp.where(standing, (5 + numbers) << 3 | now.facing + 1, 0))
        code = jnp.concatenate(codes).astype(jnp.uint8)  # [M + N, ...]
        where = jnp.concatenate([now.spot_of, now.spot])
        rows, columns, _ = self._offsets(where[None], now.spot[:, None])  # [N, M + N, ...]
        rows, columns = rows + VIEW[0] // 2, columns + VIEW[1] // 2
        seen = (rows >= 0) & (rows < VIEW[0]) & (columns >= 0) & (columns < VIEW[1])
        index = jnp.where(seen, rows * VIEW[1] + columns, CELLS).astype(jnp.uint8)
        cells = np.arange(CELLS, dtype=np.uint8).reshape(1, -1, 1, *_ones(now.clock))
        there = jnp.where(index[:, None] == cells, code[None, None], 0)
        bodies = jnp.max(there, axis=2)  # [N, 63, ...]

        def column(values: Array) -> Array:
            shape = (n, 1, *now.clock.shape)
            return jnp.broadcast_to(jnp.asarray(values), shape).astype(jnp.uint8)

        roles = self._role.reshape(_axes(now.alive, 0))
        light = self._by_time(self._light, state)
        parts = {
            "cells": ground,
            "bodies": bodies >> 3,
            "headings": bodies & 7,
            "facing": now.facing[:, None],
            "inventory": now.inventory,
            "vitals": now.vitals,
            "asleep": now.asleep[:, None],
            "alive": now.alive[:, None],
            "light": column(light[None, None]),
            "achievements": _unpacked(now.done),
            "near": jnp.stack(near, axis=1),
            "role": column(roles[:, None]),
            "request": jnp.stack([now.request, now.request_left], axis=1),
        }
        if n > 1:
            parts["teammates"] = self._teammates(now)
        goal = jnp.broadcast_to(state.goal[None], (n, *state.goal.shape))
        site = state.site[0].astype(jnp.int32) << 8 | state.site[1].astype(jnp.int32)
        wanted = state.goal[0] > 0
        rows, columns, _ = self._offsets(site[None], now.spot)
        here = jnp.stack([now.spot >> 8, now.spot & 255], axis=1)
        parts |= {"goal": goal, "site": jnp.stack([rows + 128, columns + 128], axis=1) * wanted}
        parts |= {"position": here if self.compass else jnp.zeros_like(here)}
        ready = _kept(*(part.astype(jnp.uint8) for part in parts.values()))
        return jnp.concatenate(ready, axis=1)

    def _teammates(self, now: _Now) -> Array:
        """The part `teammates` of `perceive`, i32[N, 10 (N - 1), ...]."""
        n = self.num_agents
        roles = jnp.broadcast_to(self._role.reshape(_axes(now.alive, 0)), now.alive.shape)
        rows = []
        for i in range(n):
            others = [j for j in range(n) if j != i]
            for j in others:
                down, right, _ = self._offsets(now.spot[j], now.spot[i])
                numbers = [down + 128, right + 128, now.alive[j], now.asleep[j], now.facing[j]]
                numbers += [now.vitals[j, HEALTH], now.vitals[j, FOOD], now.request[j]]
                numbers += [now.request_left[j], roles[j]]
                there = now.alive[j] != DEAD
                rows += [jnp.where(there, number, 0).astype(jnp.uint8) for number in numbers]
        table = jnp.stack(_kept(*rows))
        return table.reshape(n, MATE * (n - 1), *now.clock.shape)

    def observe(self, state: CraftState) -> Array:
        rows = self.perceive(state)
        if self.observation == "compact":
            return rows
        if self.observation == "symbolic":
            return self.symbolic(rows)
        from manyhands.envs.craftworld import sprites

        return sprites.pixels(self, rows)

    def symbolic(self, rows: Array) -> Array:
        """Observation "symbolic", f32[..., S, ...], of rows of `perceive`, u8[N, K, ...]."""
        ones = _ones(rows[0, 0])

        def part(name: str) -> Array:
            return rows[:, self.layout[name]]

        def hot(values: Array, codes: Any) -> Array:
            """f32[N, k * codes, ...]: one-hot codes of each of k numbers."""
            codes = np.asarray(codes, np.uint8).reshape(1, 1, -1, *ones)
            found = values[:, :, None] == codes
            return found.astype(jnp.float32).reshape(rows.shape[0], -1, *rows.shape[2:])

        def scaled(values: Array, most: Any) -> Array:
            return values.astype(jnp.float32) / np.float32(most)

        n, roles = self.num_agents, self.roles != "none"
        bodies = jnp.minimum(part("bodies"), 5)
        most = self.craft.forager_capacity if roles else MOST
        parts = {
            "materials": hot(part("cells"), range(self.materials)),
            "bodies": hot(bodies, range(1, 6)),
            "headings": hot(part("headings"), range(1, 5)),
            "facing": hot(part("facing"), range(4)),
            "inventory": scaled(part("inventory"), MOST),
            "vitals": scaled(part("vitals"), most),
            "asleep": scaled(part("asleep"), 1),
            "alive": scaled(part("alive"), 2),
            "light": scaled(part("light"), 255),
            "achievements": scaled(part("achievements"), 1),
            "near": scaled(part("near"), 1),
        }
        if roles:
            parts["role"] = hot(part("role"), range(4))
        asked = range(len(rl.GIFTS) + 1)
        steps = self.craft.request_steps
        if n > 1:
            request = part("request")
            own = [hot(request[:, :1], asked), scaled(request[:, 1:], steps)]
            parts["request"] = jnp.concatenate(own, axis=1)
            mates = part("teammates")
            columns = []
            for j in range(n - 1):
                mate = mates[:, MATE * j : MATE * (j + 1)]
                row, column, present = mate[:, :1], mate[:, 1:2], mate[:, 2:3] > 0
                where = [row < 128, row > 128, column < 128, column > 128]
                columns += [scaled(mate[:, :2], 255)]
                columns += [(side & present).astype(jnp.float32) for side in where]
                columns += [scaled(mate[:, 2:3], 2), scaled(mate[:, 3:4], 1)]
                columns += [hot(mate[:, 4:5], range(4)) * present]
                columns += [scaled(mate[:, 5:6], MOST), scaled(mate[:, 6:7], 27)]
                columns += [hot(mate[:, 7:8], asked) * present, scaled(mate[:, 8:9], steps)]
                columns += [hot(mate[:, 9:10], range(4)) * present]
            parts["teammates"] = jnp.concatenate(_kept(*columns), axis=1)
        for name in ("goal", "site", "position"):
            parts[name] = scaled(part(name), 255)
        return jnp.concatenate(_kept(*parts.values()), axis=1)

    def network_input(self, row: Array) -> Array:
        """Where the nearest of everything is, whatever observation is configured: see
        `skills.gist`. (A learner with `reads="vector"` gets the observation itself.)"""
        return gist(self.layout, row)

    def summary(self, state: CraftState) -> Array:
        """u8[N * (K + 2) + 4, ...]: the rows of `perceive` of all players, their rows and columns,
        and the clock, lowest byte first."""
        rows = self.perceive(state)
        rows = rows.reshape(-1, *state.clock.shape)
        where = state.position.reshape(-1, *state.clock.shape)
        clock = [((state.clock >> bits) & 255).astype(jnp.uint8)[None] for bits in (0, 8, 16, 24)]
        return jnp.concatenate([rows, where, *clock], axis=0)

    # ---- words and pictures -------------------------------------------------------------------

    def skill_set(self) -> CraftSkills:
        """The skill set that `wrappers/skills.py` lifts this world to."""
        from manyhands.envs.craftworld.skills import CraftSkills

        return CraftSkills(self)

    def draw(
        self,
        state: CraftState,
        canvas: Any,
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        """Paint the world as `agent` sees it, or for onlookers by `camera`, one of `cameras`."""
        from manyhands.envs.craftworld import draw

        who = None if agent is None else self.index(agent)
        draw.draw(self, state, canvas, who, camera or "map")

    def draw_speech(
        self,
        state: CraftState,
        canvas: Any,
        texts: Mapping[int, str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> bool:
        """Paint what players say over a picture that `draw` made on this canvas."""
        from manyhands.envs.craftworld import draw

        who = None if agent is None else self.index(agent)
        draw.bubbles(self, state, canvas, texts, who, camera or "map")
        return True

    def to_text(self, state: CraftState) -> str:
        """The map as text, as `CraftWorld(map=...)` takes it; the dead are not on it."""
        place = np.asarray(state.place)
        creatures = [
            (int(kind), int(place[i, 0]), int(place[i, 1]), int(np.asarray(state.heading)[i]))
            for i, kind in enumerate(np.asarray(state.kind))
            if kind
        ]
        players = {
            i: (int(row), int(column))
            for i, (row, column) in enumerate(np.asarray(state.position))
            if np.asarray(state.alive)[i] != DEAD
        }
        return wd.write_map(np.asarray(state.map), players, creatures)

    def to_dict(self, state: CraftState) -> dict[str, Any]:
        position, place = np.asarray(state.position), np.asarray(state.place)
        plants = np.asarray(state.plant_place)
        players = []
        for i, name in enumerate(self.agents):
            asked = int(np.asarray(state.request)[i])
            inventory = zip(rl.ITEMS, np.asarray(state.inventory)[i], strict=True)
            unlocked = zip(rl.ACHIEVEMENTS, np.asarray(state.achievements)[i], strict=True)
            players.append(
                {
                    "name": name,
                    "row": int(position[i, 0]),
                    "column": int(position[i, 1]),
                    "facing": rl.FACINGS[int(np.asarray(state.facing)[i])],
                    "status": ("dead", "up", "down")[int(np.asarray(state.alive)[i])],
                    "asleep": bool(np.asarray(state.asleep)[i]),
                    "role": rl.ROLES[int(self._role[i])],
                    "inventory": {item: int(count) for item, count in inventory if count},
                    "achievements": [name for name, done in unlocked if done],
                    "request": rl.GIFTS[asked - 1] if asked else None,
                }
                | dict(zip(rl.VITALS, np.asarray(state.vitals)[i].tolist(), strict=True))
            )
        creatures = [
            {
                "kind": rl.CREATURES[int(kind) - 1],
                "row": int(place[i, 0]),
                "column": int(place[i, 1]),
                "health": int(np.asarray(state.health)[i]),
                "cooldown": int(np.asarray(state.cooldown)[i]),
            }
            for i, kind in enumerate(np.asarray(state.kind))
            if kind
        ]
        ages = np.asarray(state.plant_age)
        return {
            "map": self.to_text(state).split("\n"),
            "clock": int(state.clock),
            "light": int(self._by_time(self._light, state)) / 255,
            "world": self.worlds[int(state.world)].name,
            "players": players,
            "creatures": creatures,
            "plants": [
                {"row": int(plants[i, 0]), "column": int(plants[i, 1]), "age": int(age) - 1}
                for i, age in enumerate(ages)
                if age
            ],
            "goal": self._goal_words(state),
            "goal_step": int(state.goal_step),
        }

    def _goal_words(self, state: CraftState) -> str:
        from manyhands.envs.craftworld import tasks

        return str(tasks.Goal.of_row(np.asarray(state.goal)))

    def config(self) -> dict[str, Any]:
        return dict(self._config)


# ---- what a step works on ------------------------------------------------------------------------


class _Luck:
    """All that one step takes from its key: two words, and as many others as are asked for by
    mixing a counter with them (the mixing of `lowbias32`, C. Wellons 2018, twice)."""

    SALTS = ("sapling", "creatures", "chances", "where", "who")

    def __init__(self, key: Array):
        def bits(key: Array) -> Array:
            return jax.random.bits(key, (2,), jnp.uint32)

        self.seeds = jax.vmap(bits, out_axes=-1)(key) if key.ndim else bits(key)

    def words(self, name: str, count: int, salt: Any = 0) -> Array:
        """u32[count, ...]; other words for each name and salt (from 0, below 2^16)."""
        begin = jnp.uint32(self.SALTS.index(name) << 28) + (jnp.uint32(salt) << 12)
        counter = begin + np.arange(count, dtype=np.uint32).reshape(-1, *_ones(self.seeds[0]))
        mixed = counter * np.uint32(0x9E3779B1)
        for seed in self.seeds:
            mixed = mixed ^ seed[None]
            mixed = (mixed ^ (mixed >> 16)) * np.uint32(0x7FEB352D)
            mixed = (mixed ^ (mixed >> 15)) * np.uint32(0x846CA68B)
            mixed = mixed ^ (mixed >> 16)
        return mixed

    def draw(self, name: str, count: int, salt: Any = 0) -> Array:
        """u32[count, ...] from 0 to 65535, two from each word; to compare with `_odds`."""
        words = self.words(name, -(-count // 2), salt)
        return jnp.concatenate([words >> 16, words & 0xFFFF], axis=0)[:count]


class _Now(NamedTuple):
    """A state while a step changes it: i32 and bool, places as `row << 8 | column`, the map as one
    axis of cells, achievements as bits."""

    map: Array
    spot: Array
    facing: Array
    inventory: Array
    vitals: Array
    counters: Array
    felt: Array
    asleep: Array
    alive: Array
    in_lava: Array
    done: Array
    request: Array
    request_left: Array
    kind: Array
    spot_of: Array
    health: Array
    cooldown: Array
    heading: Array
    plant_spot: Array
    plant_age: Array
    clock: Array

    @classmethod
    def of(cls, state: CraftState) -> _Now:
        def wide(values: Array) -> Array:
            return jnp.asarray(values).astype(jnp.int32)

        def place(values: Array) -> Array:
            return wide(values[:, 0]) << 8 | wide(values[:, 1])

        bits = np.arange(len(rl.ACHIEVEMENTS), dtype=np.uint32)
        bits = bits.reshape(1, -1, *_ones(state.clock))
        done = jnp.sum(jnp.asarray(state.achievements).astype(jnp.uint32) << bits, axis=1)
        ground = jnp.asarray(state.map)
        return cls(
            map=ground.reshape(-1, *ground.shape[2:]),
            spot=place(state.position),
            facing=wide(state.facing),
            inventory=wide(state.inventory),
            vitals=wide(state.vitals),
            counters=wide(state.counters),
            felt=wide(state.felt),
            asleep=jnp.asarray(state.asleep),
            alive=wide(state.alive),
            in_lava=jnp.zeros(state.alive.shape, bool),
            done=done.astype(jnp.uint32),
            request=wide(state.request),
            request_left=wide(state.request_left),
            kind=wide(state.kind),
            spot_of=place(state.place),
            health=wide(state.health),
            cooldown=wide(state.cooldown),
            heading=wide(state.heading),
            plant_spot=place(state.plant_place),
            plant_age=wide(state.plant_age),
            clock=jnp.asarray(state.clock),
        )

    def state(self, old: CraftState, clock: Array, goal_step: Array) -> CraftState:
        """What came of it, as a state again."""

        def byte(values: Array) -> Array:
            return values.astype(jnp.uint8)

        def place(spots: Array) -> Array:
            return jnp.stack([byte(spots >> 8), byte(spots & 255)], axis=1)

        return CraftState(
            map=self.map.reshape(old.map.shape),
            position=place(self.spot),
            facing=byte(self.facing),
            inventory=byte(self.inventory),
            vitals=byte(self.vitals),
            counters=self.counters.astype(jnp.int8),
            felt=byte(self.felt),
            asleep=self.asleep,
            alive=byte(self.alive),
            achievements=_unpacked(self.done),
            request=byte(self.request),
            request_left=byte(self.request_left),
            kind=byte(self.kind),
            place=place(self.spot_of),
            health=byte(self.health),
            cooldown=byte(self.cooldown),
            heading=byte(self.heading),
            plant_place=place(self.plant_spot),
            plant_age=self.plant_age.astype(jnp.uint16),
            clock=clock,
            world=jnp.asarray(old.world),
            goal=jnp.asarray(old.goal),
            site=jnp.asarray(old.site),
            goal_step=goal_step,
        )

    def goods(self) -> Array:
        """How many of each of `rules.GIFTS` each player has, i32[N, 14, ...]."""
        return jnp.concatenate([self.vitals[:, FOOD : DRINK + 1], self.inventory], axis=1)

    def with_goods(self, goods: Array) -> _Now:
        health, energy = self.vitals[:, :FOOD], self.vitals[:, ENERGY:]
        vitals = jnp.concatenate([health, goods[:, :2], energy], axis=1)
        return self._replace(vitals=vitals, inventory=goods[:, 2:])

    def rolled(self, order: Array) -> _Now:
        """The same with the players in another order, i32[N, ...]."""
        names = ["spot", "facing", "inventory", "vitals", "counters", "felt", "asleep", "alive"]
        names += ["in_lava", "done", "request", "request_left"]
        return self._replace(**{name: _rolled(getattr(self, name), order) for name in names})


class _Turns(NamedTuple):
    """What the creatures' turns change."""

    kind: Array
    spot: Array
    health: Array
    cooldown: Array
    heading: Array
    fresh: Array
    damage: Array
    asleep: Array
    done: Array
    broken: Array


# ---- small things --------------------------------------------------------------------------------

_WAKE_UP = rl.ACHIEVEMENTS.index("wake_up")
_MIDDLE = VIEW[0] // 2 * VIEW[1] + VIEW[1] // 2
NEAR = [_MIDDLE + r * VIEW[1] + c for r in (-1, 0, 1) for c in (-1, 0, 1)]  # cells of the view
BESIDE = [_MIDDLE + r * VIEW[1] + c for r, c in DELTAS]


class _Collecting(NamedTuple):
    tool: Array
    item: Array
    left: Array


def _collecting() -> _Collecting:
    """By material: the tool and the item of `rules.COLLECT` (-1: none), and what is left."""
    count = len(rl.MATERIALS)
    tool, item, left = np.full(count, -1), np.full(count, -1), np.arange(count)
    for material, (name, needs, leaves) in rl.COLLECT.items():
        if material != WATER:
            item[material], left[material] = rl.ITEMS.index(name), leaves
            tool[material] = -1 if needs is None else rl.ITEMS.index(needs)
    return _Collecting(*(jnp.asarray(row, jnp.int32) for row in (tool, item, left)))


class _Costs(NamedTuple):
    cost: Array
    ground: Array
    placed: Array
    made: Array
    iron: Array
    role: Array


def _costs(craft: CraftRules, count: int) -> _Costs:
    """By action: what it costs, i32[A, 12]; where it can be placed, bits of materials; what is
    placed; what is made (-1: nothing), whether that takes a furnace, and whose task it is."""
    cost, ground = np.zeros((count, 12), np.int32), np.zeros(count, np.uint32)
    placed, made = np.zeros(count, np.int32), np.full(count, -1, np.int32)
    iron, role = np.zeros(count, bool), np.zeros(count, np.int32)
    for i, name in enumerate(rl.PLACES):
        item, number = craft.place_cost(name)
        cost[PLACE + i, rl.ITEMS.index(item)] = number
        ground[PLACE + i] = sum(1 << material for material in craft.place_on(name))
        placed[PLACE + i] = rl.PLACED[i]
    for i, name in enumerate(rl.MAKES):
        for item, number in craft.make_cost(name).items():
            cost[MAKE + i, rl.ITEMS.index(item)] = number
        made[MAKE + i] = rl.ITEMS.index(name)
        iron[MAKE + i], role[MAKE + i] = FURNACE in craft.make_near(name), _maker(name)
    return _Costs(*map(jnp.asarray, (cost, ground, placed, made, iron, role)))


def _maker(tool: str) -> int:
    """The role that makes a tool."""
    return rl.MINER if tool.endswith("pickaxe") else rl.WARRIOR


def _view() -> np.ndarray:
    """i32[63], what the cells of the view add to a place."""
    rows, columns = np.indices(VIEW)
    return ((rows - VIEW[0] // 2) * 256 + columns - VIEW[1] // 2).ravel().astype(np.int32)


def _ring(least: int, most: int) -> np.ndarray:
    """i32[cells], what cells at these distances add to a place."""
    span = range(-most, most + 1)
    cells = [r * 256 + c for r in span for c in span if least <= abs(r) + abs(c) <= most]
    return np.array(cells, np.int32)


def _ones(like: Array) -> tuple[int, ...]:
    return (1,) * like.ndim


def _axes(like: Array, axis: int) -> tuple[int, ...]:
    """The shape of a vector that lies along one axis of `like`."""
    return tuple(-1 if i == axis else 1 for i in range(like.ndim))


def _one_hot(values: Array, count: int, axis: int = 0) -> Array:
    """bool, with a new axis of `count` numbers."""
    shape = [1] * (values.ndim + 1)
    shape[axis] = count
    return jnp.expand_dims(values, axis) == np.arange(count, dtype=np.int32).reshape(shape)


def _kept(*rows: Array) -> tuple[Array, ...]:
    """Rows to be stacked, each computed by itself: fused into the stacking, a batch would ask of
    every element which row it belongs to."""
    return jax.lax.optimization_barrier(rows) if rows[0].ndim > 1 else rows


def _among(values: Array, codes: Sequence[int]) -> Array:
    """Whether each value is one of a few small codes."""
    bits = np.uint32(sum(1 << code for code in codes))
    return (bits >> values.astype(jnp.uint32)) & 1 > 0


def _odds(probability: float) -> int:
    """What a draw must be below (see `_Luck.draw`)."""
    return round(65536 * probability)


def _first(mask: Array) -> Array:
    """One-hot along the first axis: the first that is true, if any is."""
    numbers = np.arange(mask.shape[0], dtype=np.int32).reshape(_axes(mask, 0))
    least = jnp.min(jnp.where(mask, numbers, mask.shape[0]), axis=0)
    return numbers == least[None]


def _pick(mask: Array, words: Array) -> Array:
    """i32[...], the number of one that is true, each as likely, drawn by random words; or -1."""
    numbers = np.arange(1, mask.shape[0] + 1, dtype=np.uint32).reshape(_axes(mask, 0))
    order = jnp.where(mask, (words & np.uint32(0xFFFFFC00)) | numbers, 0)
    return (jnp.max(order, axis=0) & 1023).astype(jnp.int32) - 1


def _at(values: Array, k: Any) -> Array:
    """Row `k` of the first axis."""
    if isinstance(k, int):
        return values[k]
    return jax.lax.dynamic_index_in_dim(values, k, 0, keepdims=False)


def _put(values: Array, k: Any, row: Array) -> Array:
    """The same with another row `k`."""
    row = row.astype(values.dtype)
    if isinstance(k, int) and values.shape[0] == 1:
        return row[None]
    return jax.lax.dynamic_update_index_in_dim(values, row, k, 0)


def _is(k: Any, like: Array) -> Array:
    """bool, one-hot along the first axis of `like`: number `k`."""
    return np.arange(like.shape[0]).reshape(_axes(like, 0)) == k


def _row(value: Array, index: int) -> Array:
    """[4, ...], a value at one index and zero at the others."""
    here = (np.arange(4) == index).reshape(4, *_ones(value))
    return jnp.where(here, value[None], jnp.zeros_like(value)[None])


def _set(rows: Array, index: int, value: Array) -> Array:
    """The same rows but for one."""
    here = (np.arange(rows.shape[0]) == index).reshape(_axes(rows, 0))
    return jnp.where(here, value[None], rows)


def _rolled(values: Array, order: Array) -> Array:
    """Rows in another order, which may differ over the batch."""
    index = order.reshape(order.shape[0], *(1,) * (values.ndim - order.ndim), *order.shape[1:])
    return jnp.take_along_axis(values, index, axis=0)


def _unpacked(bits: Array) -> Array:
    """Achievements as bool[N, 22, ...]."""
    numbers = np.arange(len(rl.ACHIEVEMENTS), dtype=np.uint32)
    return (bits[:, None] >> numbers.reshape(1, -1, *_ones(bits[0]))) & 1 > 0


def _read(ground: Array, cell: Array) -> Array:
    """i32, the materials at cells, whose numbers are sure to be right."""
    if ground.ndim == 1:
        return ground[cell].astype(jnp.int32)
    index = cell.reshape(-1, cell.shape[-1])
    found = jnp.take_along_axis(ground, index, axis=0, mode="promise_in_bounds")
    return found.reshape(cell.shape).astype(jnp.int32)


def _write(ground: Array, cell: Array, material: Array, where: Array) -> Array:
    """The map with one cell changed, where `where`."""
    material = material.astype(ground.dtype)
    if ground.ndim == 1:
        value = jnp.where(where, material, ground[cell])
        return jax.lax.dynamic_update_index_in_dim(ground, value, cell, 0)
    lane = jnp.arange(ground.shape[1])
    cell = jnp.where(where, cell, ground.shape[0])
    return ground.at[cell, lane].set(material, mode="drop", unique_indices=True)


def _write_all(ground: Array, cells: Array, materials: Array, where: Array) -> Array:
    """The map with several cells changed, those where `where`."""
    if ground.ndim > 1:
        lane = jnp.broadcast_to(jnp.arange(ground.shape[1]), cells.shape)
        cells = jnp.where(where, cells, ground.shape[0])
        return ground.at[cells, lane].set(materials.astype(ground.dtype), mode="drop")
    return jax.lax.fori_loop(
        0,
        cells.shape[0],
        lambda i, ground: _write(ground, cells[i], materials[i], where[i]),
        ground,
    )


def _slices(sizes: Mapping[str, int]) -> dict[str, slice]:
    """Where parts of these sizes lie, one after the other; those of no size are left out."""
    found, begin = {}, 0
    for name, size in sizes.items():
        if size:
            found[name] = slice(begin, begin + size)
            begin += size
    return found


def _goals(given: Any, players: int) -> tuple[tuple[str, ...], np.ndarray]:
    """Goals in words as `tasks` writes them, and as states hold them, u8[1 or more, GOAL]."""
    if not given:
        return (), np.zeros((1, GOAL), np.uint8)
    from manyhands.envs.craftworld import tasks

    texts = [given] if isinstance(given, str) else list(given)
    goals = [tasks.parse_goal(text, players) for text in texts]
    return tuple(map(str, goals)), np.stack([goal.row() for goal in goals])


@functools.lru_cache(maxsize=16)
def _compiled(world: CraftWorld, name: str) -> Any:
    """A method of an environment, compiled."""
    return jax.jit(getattr(world, name))


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ConfigError(f"{name} is {names_of(allowed)}, given {value!r}")


def _whole(name: str, value: Any, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ConfigError(f"{name} is a whole number from {least} to {most}, given {value!r}")


def _plain(value: Any) -> Any:
    """The same in dicts, lists, numbers and words: JSON-ready."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
