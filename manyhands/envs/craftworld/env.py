"""CraftWorld: an open world to survive in, mined, crafted and shared by one to eight players.

The rules are Crafter's or Craftax-Classic's, number by number (`rules.py`); worlds are generated
(`generation.py`), or given as text (`world.py`). `phases.py` has the phases of a step:

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

Everything is written for a state with any number of trailing batch axes (none, or one).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, Env, Outcome, seed_key
from manyhands.core.probes import Question
from manyhands.envs.craftworld import events, generation, observe, phases, sprites
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld import world as wd
from manyhands.envs.craftworld.goals import BUILD, Goal, parse_goal
from manyhands.envs.craftworld.rules import DEAD, NOOP
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.skills import PHRASES, CraftSkills
from manyhands.envs.craftworld.state import JOINT, CraftState, past


class CraftWorld(Setting, Env[CraftState]):
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
        goal: what the team is to reach, in words (`goals.parse_goal`); reaching it ends the
            episode. Of a list, each episode draws one.
        compass: whether players know their row and column.
        sees: `"all"`: players know where the others are, their vitals and what they ask for,
            wherever they are; `"near"`: only of those in view.
        told: `"all"`: every player knows the goal and the building site; `"first"`: only
            `player_0`, so that it has to tell the others, for whom these are zeros.
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
    `layout` maps the name of each part to its slice, and `layout.table()` shows what it holds. The
    view has 7 rows of 9 columns, the player in the middle.

    **Observation "symbolic"**, f32[S] per player, all from 0 to 1: the same, one-hot and scaled;
    `symbols` maps its parts.

    **Observation "pixels"**, u8[63, 63, 3]: the view, 7 x 7 pixels a cell, and under it two rows of
    cells with the vitals and the inventory (`sprites.pixels`).
    """

    id = "craftworld"
    package = "manyhands.envs.craftworld"
    terms = ("achievements", "health", "joint", "goal")
    noop = NOOP
    # What a person presses (`viewer/human.py`): Crafter's keys, and arrows for the moves.
    keys = {  # noqa: RUF012
        **{way: f"move {way}" for way in rl.FACINGS},
        **{".": "noop", "space": "do", "tab": "sleep"},
        **{key: f"place {name}" for key, name in zip("rtfp", rl.PLACES, strict=True)},
        **{
            key: f"make {name.replace('_', ' ')}"
            for key, name in zip("123456", rl.RECIPES, strict=True)
        },
    }
    batched = True
    reset_pool = 128
    reset_options = ("goal", "world")
    phrases = PHRASES
    scripted_policy = "survivor"

    # ---- beginning ----------------------------------------------------------------------------

    def reset(self, key: Array) -> CraftState:
        return _compiled(self, "_reset")(key)

    def _reset(self, key: Array) -> CraftState:
        world_key, ground_key = jax.random.split(key)
        world = jnp.uint8(0)
        if len(self.worlds) > 1:
            world = jax.random.randint(world_key, (), 0, len(self.worlds)).astype(jnp.uint8)
        goal = jnp.asarray(self.goal_rows[0])
        if len(self.goal_rows) > 1:
            drawn = jax.random.randint(jax.random.fold_in(world_key, 1), (), 0, len(self.goal_rows))
            goal = jnp.asarray(self.goal_rows)[drawn]
        return self._begin(ground_key, world, goal)

    def reset_to(self, key: Array, options: Mapping[str, Any]) -> CraftState:
        """The episode of `key` with `"goal"`, a text, and in `"world"`: a whole number, which names
        the ground (the same for every episode, and none that training meets by chance: see
        `tasks.HELD_OUT_WORLDS`), or the parameters of one of `worlds`."""
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
            state = _compiled(self, "_begin")(ground_key, number, jnp.asarray(self.goal_rows[0]))
        if state is None:
            state = _compiled(self, "_reset")(key)
        if options.get("goal") is None:
            return state
        goal = parse_goal(options["goal"], self.num_players, self.craft)
        row = jnp.asarray(goal.row(self.craft))
        site = _compiled(self, "_site")(state.map, row) if goal.kind == BUILD else state.site
        return dataclasses.replace(state, goal=row, site=site)

    def _site(self, ground: Array, goal: Array) -> Array:
        return generation.building_site(self, ground, goal)

    def _begin(self, ground_key: Array, world: Array, goal: Array) -> CraftState:
        return generation.begin(self, ground_key, world, goal)

    # ---- the rules ----------------------------------------------------------------------------

    def step(self, key: Array, state: CraftState, actions: Array) -> tuple[CraftState, Outcome]:
        # Compiled even where nobody asked for it: it is a thousand small operations.
        return _compiled(self, "_step")(key, state, actions)

    def _step(self, key: Array, state: CraftState, actions: Array) -> tuple[CraftState, Outcome]:
        new, *made = phases.step(self, key, state, actions)
        return new, self.outcome(*made)

    def elapsed(self, state: CraftState) -> Array:
        """Steps played in this episode, i32[...]: `state.clock` is the time of the world, which may
        have begun later than 0 (`start`)."""
        return self.played(state.clock)

    def legal(self, state: CraftState) -> Array:
        """bool[N, A, ...]: what can change something; see the class."""
        return observe.legal(self, state)

    def acting(self, state: CraftState) -> Array:
        return observe.acting(state)

    # ---- what players see ---------------------------------------------------------------------

    def perceive(self, state: CraftState) -> Array:
        """What each player may know, u8[N, K, ...]: see the class, and `layout`."""
        return observe.perceive(self, state)

    def observe(self, state: CraftState) -> Array:
        rows = self.perceive(state)
        if self.observation == "compact":
            return rows
        return self.symbolic(rows) if self.observation == "symbolic" else sprites.pixels(self, rows)

    def symbolic(self, rows: Array) -> Array:
        """Observation "symbolic", f32[N, S, ...], of rows of `perceive`, u8[N, K, ...]."""
        return observe.symbolic(self, rows)

    def network_input(self, row: Array) -> Array:
        """Where the nearest of everything is, whatever observation is configured: see
        `observe.network_input`. (A learner with `reads="vector"` gets the observation itself.)"""
        return observe.network_input(self, row)

    def summary(self, state: CraftState) -> Array:
        """u8[N * (K + 2) + 4, ...]: the rows of `perceive` of all players, their rows and columns,
        and the clock, lowest byte first."""
        return observe.summary(self, state)

    # ---- what happened ------------------------------------------------------------------------

    event_kinds = events.KINDS

    @functools.cached_property
    def event_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the numbers of `event_codes`."""
        return events.event_names(self)

    def last_events(
        self, state: CraftState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        """What happened in the last step (see `events`). A player knows all of what it did and what
        befell it; of the others, and of plants, what it sees; and wherever they are, that they ask
        for something, fall asleep, wake, go down and die."""
        return events.last_events(self, state, None if agent is None else self.index(agent))

    def concerns(self, state: CraftState, agent: str | int) -> bool:
        """See `events.concerns`."""
        return events.concerns(self, state, self.index(agent))

    def event_codes(self, state: CraftState) -> Array:
        """What happened in the last step as each player knows it, f32[N, K, ...]."""
        return events.event_codes(self, state)

    # ---- words and pictures -------------------------------------------------------------------

    def questions(self, state: CraftState, agent: str | int) -> list[Question]:
        found: list[Question] = self._module("questions").questions(self, state, self.index(agent))
        return found

    def skill_set(self) -> CraftSkills:
        """The skill set that `wrappers/skills.py` lifts this world to."""
        return CraftSkills(self)

    def draw(
        self,
        state: CraftState,
        canvas: Any,
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        """Paint the world as `agent` sees it, or for onlookers by `camera`, one of `cameras`."""
        who = None if agent is None else self.index(agent)
        self._module("draw").draw(self, state, canvas, who, camera or "map")

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
        recent = past(np.asarray(state.recent.players))
        for i, name in enumerate(self.agents):
            asked = int(np.asarray(state.request)[i])
            inventory = zip(self.contents.items, np.asarray(state.inventory)[i], strict=True)
            names = self.contents.achievements
            unlocked = zip(names, np.asarray(state.achievements)[i], strict=True)
            players.append(
                {
                    "name": name,
                    "row": int(position[i, 0]),
                    "column": int(position[i, 1]),
                    "facing": rl.FACINGS[int(np.asarray(state.facing)[i])],
                    "status": ("dead", "up", "down")[int(np.asarray(state.alive)[i])],
                    "asleep": bool(np.asarray(state.asleep)[i]),
                    "role": rl.ROLES[int(self.role[i])],
                    "inventory": {item: int(count) for item, count in inventory if count},
                    "achievements": [name for name, done in unlocked if done],
                    "request": self.craft.gifts[asked - 1] if asked else None,
                    "did": self.actions[int(recent.action[i])],
                    "worked": bool(recent.result[i] or recent.marks[i] & JOINT),
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
        ages, world = np.asarray(state.plant_age), int(state.world)
        return {
            "map": self.to_text(state).split("\n"),
            "clock": int(state.clock),
            "light": int(self.light[world, int(state.clock) % self.days[world]]) / 255,
            "world": self.worlds[int(state.world)].name,
            "players": players,
            "creatures": creatures,
            "plants": [
                {"row": int(plants[i, 0]), "column": int(plants[i, 1]), "age": int(age) - 1}
                for i, age in enumerate(ages)
                if age
            ],
            "goal": str(Goal.of_row(np.asarray(state.goal), self.craft)),
            "goal_step": int(state.goal_step),
        }


@functools.lru_cache(maxsize=16)
def _compiled(world: CraftWorld, name: str) -> Any:
    """A method of an environment, compiled."""
    return jax.jit(getattr(world, name))
