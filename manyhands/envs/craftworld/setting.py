"""What a world is configured with: its options, checked, and the tables that follow from them.

The rules (`players.py`, `creatures.py`, `spawning.py`, `step.py`) and the observations
(`observe.py`) are functions of a `Setting`, a state and the chance of a step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.config import boolean, check_weights, one_of, plain, whole
from manyhands.core.env import DETAILS, Array, ConfigError, LayoutError
from manyhands.core.layout import Layout, Piece
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld import world as wd
from manyhands.envs.craftworld.cells import cell_of
from manyhands.envs.craftworld.goals import GOAL, parse_goal
from manyhands.envs.craftworld.rules import (
    COW,
    DRINK,
    FOOD,
    GRASS,
    MOST,
    PATH,
    SKELETON,
    ZOMBIE,
    CraftRules,
)
from manyhands.envs.craftworld.state import CELLS, VIEW, CraftState

OBSERVATIONS = ("symbolic", "compact", "pixels")
REWARDS = ("own", "team", "mixed")
DEATHS = ("down", "final")
ROLES = ("none", "specialists")
SEES = ("all", "near")
TOLD = ("all", "first")
NEAR = ("table", "furnace")
MATE = 10  # numbers of a teammate in a row of `perceive`
UNKNOWN = 3  # `alive` of a teammate that is out of view, where only those in view are known
BODIES = ", ".join(f"{i} {name}" for i, name in enumerate(rl.CREATURES, 1))
# Where and how often creatures appear (Craftax): the ground, and odds a step.
APPEARS = {COW: (GRASS,), ZOMBIE: (GRASS, PATH), SKELETON: (PATH,)}
CHANCE = {COW: 0.1, ZOMBIE: 0.02, SKELETON: 0.05}
NIGHT_CHANCE = 0.1  # of zombies, times the square of the darkness


class Setting:
    """The options of `CraftWorld`, and the tables that its rules read.

    Attributes:
        craft: the numbers of the rules.
        contents, book: what the preset has, and how its game runs.
        chart: the map that was given, or None. height, width: of every map.
        worlds: kinds of generated worlds. days: i32[worlds], steps of a day in each.
        role: i64[N], of each player, in `rules.ROLES`. caps: i64[N, 4], the most of each vital.
        light: u8[worlds, steps of a day]. spawn_odds, targets: by kind of creature, how often it
            appears (Craftax), and how many a chunk wants at least and at most (Crafter); the last
            two axes as of `light`.
        healths: of creatures, by kind. slots: slots of creatures. slot_kinds: bool[slots] by kind,
            the slots that it may use. apart: whether the damage by zombies and that by arrows are
            told apart. drawn: u8[4, slots], creatures of the given map: kind, row,
            column, heading.
        codes: the materials that a map can have, all of which observations tell apart.
        has_joint: whether there can be joint tasks.
        pockets, first_vitals, start_clock: what an episode begins with.
        goals, goal_rows: goals to draw from, in words and as states hold them.
        layout, symbols: where the parts of a row of `perceive`, and of "symbolic", lie.
    """

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
        sees: str = "all",
        told: str = "all",
        max_steps: int = 10_000,
        reward_weights: Mapping[str, float] | None = None,
    ):
        self.observation = one_of("observation", observation, OBSERVATIONS)
        self.detail = one_of("detail", detail, DETAILS)
        self.reward = one_of("reward", reward, REWARDS)
        self.death = one_of("death", death, DEATHS)
        self.roles = one_of("roles", roles, ROLES)
        self.joint = joint if joint is None else one_of("joint", joint, tuple(rl.JOINT))
        self.friendly_fire = boolean("friendly_fire", friendly_fire)
        self.compass = boolean("compass", compass)
        self.sees = one_of("sees", sees, SEES)
        self.told = one_of("told", told, TOLD)
        self.craft = rl.load_rules(rules)
        self.contents, self.book = self.craft.contents, self.craft.book
        self.chart = None if map is None else wd.read_map(map)
        marked = 1 if self.chart is None else len(self.chart.players)
        n = self.num_players = whole("players", marked if players is None else players, 1, 8)
        self.helpers = whole("helpers", helpers, 1, 8)
        self.max_steps = whole("max_steps", max_steps, 1, 1_000_000)
        if self.chart is not None and n != marked:
            raise ConfigError(f"the map marks {marked} players, given players={n}")
        if joint is not None and helpers > n:
            raise ConfigError(f"helpers={helpers} are needed, but there are {n} players")
        if self.chart is None:
            self.height, self.width = wd.check_size(size)
        else:
            self.height, self.width = self.chart.ground.shape
        self.worlds = wd.load_worlds(world)
        given = self.chart is None if spawning is None else spawning
        self.spawning = boolean("spawning", given)
        self.agents = tuple(f"player_{i}" for i in range(n))
        self.cameras = ("map", *self.agents)
        self.actions = self.craft.actions(n)
        self.reward_weights = check_weights(
            reward_weights, {"achievements": 1.0, "health": 0.1, "joint": 1.0, "goal": 1.0}
        )
        self.action_space: gymnasium.Space = gymnasium.spaces.Discrete(len(self.actions))
        items = self.contents.items
        self.pockets, self.first_vitals, self.start_clock = wd.check_start(start, n, items)
        self._read_goals(goal)
        drawn = len(self.worlds) > 1 or len(self.goals) > 1
        self.deterministic_reset: bool = self.chart is not None and not drawn
        self._config = {
            "rules": plain(dataclasses.asdict(rules) if isinstance(rules, CraftRules) else rules),
            "players": n,
            "observation": observation,
            "reward": reward,
            "death": death,
            "friendly_fire": self.friendly_fire,
            "roles": roles,
            "compass": self.compass,
            "spawning": self.spawning,
            "max_steps": self.max_steps,
        }
        self._config |= {"map": map} if map else {"size": [self.height, self.width]}
        others = {
            "start": plain(start),
            "world": None if world is None else [w.to_dict() for w in self.worlds],
            "detail": detail if detail != "normal" else None,
            "joint": joint,
            # Of a map with joint tasks, whether or not `joint` names them.
            "helpers": self.helpers if joint or self.helpers != 2 else None,
            "sees": sees if sees != "all" else None,
            "told": told if told != "all" else None,
            "goal": self.goals[0] if len(self.goals) == 1 else list(self.goals) or None,
            "reward_weights": dict(reward_weights) if reward_weights else None,
        }
        self._config |= {name: value for name, value in others.items() if value is not None}
        self._check_materials()
        self._tabulate_players()
        self._tabulate_days()
        self._tabulate_slots()
        self._lay_out()

    def config(self) -> dict[str, Any]:
        """JSON-ready keyword arguments that make an equal world."""
        return dict(self._config)

    def _read_goals(self, given: Any) -> None:
        texts = [given] if given and isinstance(given, str) else list(given or ())
        goals = [parse_goal(text, self.num_players, self.craft) for text in texts]
        self.goals = tuple(map(str, goals))
        rows = [goal.row(self.craft) for goal in goals]
        self.goal_rows = np.stack(rows or [np.zeros(GOAL, np.uint8)])
        several = f"one of these, drawn for each episode: {'; '.join(self.goals)}"
        self.goal = several if len(self.goals) > 1 else "".join(self.goals)

    def _check_materials(self) -> None:
        joint = self.joint is not None
        if self.chart is not None:
            used = set(np.unique(self.chart.ground).tolist())
            alien = sorted(used - set(self.contents.codes))
            if alien:
                names = ", ".join(rl.MATERIALS[code] for code in alien)
                raise LayoutError(f"the map has {names}, which {self.craft.name!r} does not have")
            joint |= bool(used & set(rl.TOGETHER))
        self.has_joint = joint
        self.codes = (*rl.CORE, *(rl.TOGETHER if joint else ()), *self.contents.materials)

    def _tabulate_players(self) -> None:
        n = self.num_players
        self.role = np.array([1 + i % 3 if self.roles != "none" else 0 for i in range(n)])
        self.caps = np.full((n, 4), MOST)
        self.caps[self.role == rl.FORAGER, FOOD : DRINK + 1] = self.craft.forager_capacity

    def _tabulate_days(self) -> None:
        """What depends on the light, by world and step of the day: no floating point in a step."""
        shape = (len(self.worlds), max(world.day_length for world in self.worlds))
        light = np.zeros(shape)
        for i, world in enumerate(self.worlds):
            light[i, : world.day_length] = wd.daylight(world.day_length)
        self.days = np.array([world.day_length for world in self.worlds], np.int32)
        self.light = np.round(light * 255).astype(np.uint8)
        numbers = {
            which: np.array([[getattr(w, f"{rl.CREATURES[which - 1]}s")] for w in self.worlds])
            for which in APPEARS
        }
        chance = {which: np.full(shape, CHANCE[which]) for which in APPEARS}
        chance[ZOMBIE] += NIGHT_CHANCE * (1 - light) ** 2
        self.spawn_odds = {
            which: np.round(65536 * np.minimum(numbers[which] * chance[which], 1)).astype(np.uint32)
            for which in APPEARS
        }
        wanted = {
            ZOMBIE: (3.5 - 3 * light, 3.5 - 3 * light),
            SKELETON: (np.ones(shape), np.full(shape, 2.0)),
            COW: (np.ones(shape), 1.5 + light),
        }
        self.targets = {
            which: np.floor(numbers[which] * np.array(pair)).astype(np.int32)
            for which, pair in wanted.items()
        }

    def _tabulate_slots(self) -> None:
        """Slots of creatures: which kinds may use each, and what the given map has in them."""
        craft = self.craft
        self.healths = {
            ZOMBIE: craft.zombie_health,
            SKELETON: craft.skeleton_health,
            COW: craft.cow_health,
        }
        if len(craft.slots) == 1:
            self.slot_kinds = {kind: np.ones(craft.slots[0], bool) for kind in range(1, 5)}
        else:
            # In the order in which Craftax moves them.
            order = (ZOMBIE, COW, SKELETON, rl.ARROW)
            each = [np.full(self.num_players * craft.slots[kind - 1], kind) for kind in order]
            self.slot_kinds = {kind: np.concatenate(each) == kind for kind in range(1, 5)}
        self.slots = len(self.slot_kinds[ZOMBIE])
        # Whether 12 bits each hold the damage by zombies and by arrows in one step (`Now.toll`).
        hits = craft.zombie_damage, craft.zombie_damage_asleep, craft.arrow_damage
        self.apart = max(hits) * self.slots < 4096
        self.drawn = np.zeros((4, self.slots), np.uint8)
        for body in self.chart.creatures if self.chart is not None else ():
            free = np.flatnonzero(self.slot_kinds[body[0]] & (self.drawn[0] == 0))
            if not len(free):
                most = int(self.slot_kinds[body[0]].sum())
                raise ConfigError(
                    f"the map has too many creatures: there is room for no more than {most}, "
                    f"{rl.CREATURES[body[0] - 1]}s among them (the rules' slots)"
                )
            self.drawn[:, free[0]] = body

    def _lay_out(self) -> None:
        """Where the parts of observations lie, and the space of the one that is configured."""
        others, items = self.num_players - 1, self.contents.items
        gifts, achievements = self.craft.gifts, self.contents.achievements
        if self.observation == "pixels" and len(items) > len(rl.ITEMS):
            raise ConfigError(
                f'observation "pixels" has room for {len(rl.ITEMS)} items, but the rules '
                f"{self.craft.name!r} have {len(items)}; use symbolic or compact"
            )
        most, codes = int(self.caps.max()), max(self.codes)
        self.layout = Layout(
            [
                Piece("cells", VIEW, 0, codes, "material of each cell; 0 outside the map"),
                Piece("bodies", VIEW, 0, 5 + others, f"0; {BODIES}; 5 + index of a player"),
                Piece("headings", VIEW, 0, 4, "0; 1 + the facing of the player or the arrow there"),
                Piece("facing", 1, 0, 3, ", ".join(rl.FACINGS)),
                Piece("inventory", len(items), 0, MOST, "", items),
                Piece("vitals", 4, 0, most, "", rl.VITALS),
                Piece("asleep", meaning="0 or 1"),
                Piece("alive", 1, 0, 2, "1 up, 2 down, 0 dead"),
                Piece("light", 1, 0, 255, "0 dark to 255"),
                Piece("achievements", len(achievements), 0, 1, "unlocked", achievements),
                Piece("near", 2, 0, 1, "a table, a furnace in the 3 x 3 cells around", NEAR),
                Piece("role", 1, 0, 3, ", ".join(rl.ROLES)),
                Piece("request", 2, 0, (len(gifts), 255), "own: 0, or 1 + the gift; steps left"),
                Piece("teammates", (others, MATE), 0, 255, "the others, in index order; see below"),
                Piece("goal", GOAL, 0, 255, "kind, target, count, everyone, plan"),
                Piece("site", 2, 0, 255, "rows, columns to the building site, + 128"),
                Piece("position", 2, 0, 255, "row, column; zeros without `compass`"),
            ],
            np.uint8,
        )
        request = len(gifts) + 2 if others else 0
        self.symbols = Layout(
            [
                Piece("materials", (CELLS, len(self.codes)), meaning="of each cell, one-hot"),
                Piece("bodies", (CELLS, 5), meaning="zombie, skeleton, cow, arrow, player"),
                Piece("headings", (CELLS, 4), meaning="facing of the player or the arrow there"),
                Piece("facing", 4, labels=rl.FACINGS),
                Piece("inventory", len(items), meaning="/ 9", labels=items),
                Piece("vitals", 4, meaning="/ 9, or / 27 with roles", labels=rl.VITALS),
                Piece("asleep", meaning="0 or 1"),
                Piece("alive", meaning="/ 2"),
                Piece("light", meaning="/ 255"),
                Piece("achievements", len(achievements), meaning="unlocked", labels=achievements),
                Piece("near", 2, labels=NEAR),
                Piece("role", 4 if self.roles != "none" else 0, meaning="one-hot"),
                Piece("request", request, meaning="one-hot gift (none first), steps left / 10"),
                Piece("teammates", (others, 18 + request), meaning="the others; see below"),
                Piece("goal", GOAL, meaning="/ 255"),
                Piece("site", 2, meaning="/ 255"),
                Piece("position", 2, meaning="/ 255"),
            ],
            np.float32,
        )
        shapes = {"symbolic": self.symbols.shape, "compact": self.layout.shape}
        high, dtype = (1, np.float32) if self.observation == "symbolic" else (255, np.uint8)
        self.observation_space: gymnasium.Space = gymnasium.spaces.Box(
            0, high, shapes.get(self.observation, (63, 63, 3)), dtype
        )

    # ---- tables at a moment --------------------------------------------------------------------

    def cell(self, spot: Array) -> tuple[Array, Array]:
        """(number of the cell, whether it is on the map) of a place; number 0 where it is not."""
        return cell_of(spot, self.height, self.width)

    def by_time(self, table: np.ndarray, state: CraftState, ahead: int = 0) -> Array:
        """A row of a table [..., worlds, steps of a day], at this moment or later."""
        world = state.world.astype(jnp.int32)
        time = (state.clock + ahead) % jnp.asarray(self.days)[world]
        return jnp.asarray(table)[..., world, time]

    def slot_mask(self, kind: int, like: Array) -> Array:
        """Which slots creatures of a kind may take."""
        return jnp.asarray(expand(self.slot_kinds[kind], like.ndim - 1))

    def played(self, clock: Array) -> Array:
        """Steps played when the world's clock shows this."""
        return clock - self.start_clock if self.start_clock else clock
