"""Missions: grid games for several players, as scenarios of one rule set.

A scenario is data (`scenarios.py`): its sizes, and which stages of the rules (`rules.py`) it has.
What players see is in `observe.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium

from manyhands.core.config import boolean, check_actions, check_weights, one_of
from manyhands.core.env import DETAILS, Array, ConfigError, Env, Outcome, squash
from manyhands.core.probes import Question
from manyhands.envs.mission import events, questions, rules, scenarios
from manyhands.envs.mission import observe as views
from manyhands.envs.mission.field import events as field_events
from manyhands.envs.mission.field import observe as field_views
from manyhands.envs.mission.field import rules as field_rules
from manyhands.envs.mission.field import scenario as fields
from manyhands.envs.mission.field.state import FieldConfig
from manyhands.envs.mission.state import ACTIONS, MissionConfig
from manyhands.envs.mission.warehouse import events as warehouse_events
from manyhands.envs.mission.warehouse import observe as warehouse_views
from manyhands.envs.mission.warehouse import rules as warehouse_rules
from manyhands.envs.mission.warehouse import scenario as warehouses
from manyhands.envs.mission.warehouse import state as warehouse_state

OBSERVATIONS = ("vector", "grid", "whole")
# What a person presses -> choices.
_FORAGING_KEYS = {
    **{"up": "north", "down": "south", "left": "west", "right": "east"},
    **{"space": "load", ".": "stay"},
}
_WAREHOUSE_KEYS = {
    **{"up": "forward", "left": "turn left", "right": "turn right"},
    **{"space": "load", "down": "unload", ".": "stay"},
}


def field_keys(actions: Sequence[str]) -> dict[str, str]:
    """Keys for the actions of a field: arrows or numbers for moves, the first letters of verbs."""
    keys = {".": "stay", "up": "north", "down": "south", "left": "west", "right": "east"}
    if actions[1] != "north":
        rooms = [action for action in actions if action.startswith("go to room ")]
        keys = {".": "stay"} | {str((k + 1) % 10): name for k, name in enumerate(rooms[:10])}
    verbs = [action for action in actions[1:] if action not in keys.values() and " " not in action]
    for name in verbs:
        key = next((c for c in ("space", *name) if c not in keys), "")
        if key:
            keys[key] = name
    return keys


class Mission(MissionConfig, warehouse_state.WarehouseConfig, FieldConfig, Env[Any]):
    """Grid games for several players. In level-based foraging, players gather food that takes
    several of them to load; in a warehouse, robots bring requested shelves to goals; all others are
    fields, whose rules are a list of stages.

    Args:
        scenario: the name of a shipped scenario, `"foraging"`, `"warehouse"`, `"pursuit"` and so
            on; a published name, `"foraging-8x8-2p-2f-coop"`, `"foraging-2s-10x10-3p-3f"`,
            `"warehouse-tiny-4ag-easy"`; the path of a JSON file; or its fields as a mapping
            (`scenarios.SCHEMA`).
        size: rows and columns, of foraging each 3 to 24, of generated fields 3 to 30. This and the
            next ten override the scenario.
        players: how many players, 1 to 10; of robots 1 to 19; of a field those of its first team.
        foods: how many pieces of food, 1 to 9.
        coop: whether all food has the highest level.
        requests: how many shelves of a warehouse are requested at any time.
        reward: whose reward a delivery is: `"individual"`, `"global"` (all robots') or
            `"two_stage"` (half of it when the shelf is put down again).
        sight: how many cells a player sees in each direction.
        levels: a generated field: how many levels there are, one of which each episode has.
        level_seed: the seed of the first of them; the others follow.
        coordinates: a field for two: `"shared"`, or `"turned"`: the second player sees the map
            turned by half, and calls the ways so.
        max_steps: steps after which an episode is truncated.
        observation: `"vector"` (the published numbers; of a field codes of all cells), `"grid"`
            (planes around the player), or `"whole"` (a warehouse: everything).
        egocentric: a field: whether `"grid"` is turned so that the player faces the first row.
        reward_weights: weights of the terms: `load` (1) and `failed_load` (minus the scenario's
            `penalty`); `delivery` (1; 0.5 in two stages) and `return` (0; 0.5 in two stages); of
            a field its `rewards`.
        detail: how much `describe` tells: `"brief"`, `"normal"` or `"full"`.

    **Foraging.**

    Actions: 0 stay, 1 north, 2 south, 3 west, 4 east, 5 load. Illegal ones stay, and are counted.
    Terms: `load`, the player's share of all food, 1 in sum over players and an episode that clears
    the field; `failed_load`, 1 for an attempt to load with too few levels. Metrics, per step:
    `illegal`, `blocked` (moves into a cell that another wanted, too), `failed_loads`, `food_left`
    (levels of food left).

    **Observation**, i8[3 (foods + players)] per player, or i8[3, 2 sight + 1, 2 sight + 1]: as
    `observation_layout` names them.

    `summary`, i8[3 (foods + players)]: row, column and level of all food, then of all players.

    **Warehouse.**

    Actions: 0 stay, 1 forward, 2 turn left, 3 turn right, 4 load (pick up the shelf here, or put
    the carried one down). Illegal ones stay, and are counted.
    Terms: `delivery`, requested shelves that the robot brought to a goal (all robots, with a global
    reward); `return`, 1 for putting a shelf down after a delivery. Metrics, per step: `illegal`,
    `blocked`, `loads`, `returns`, `deliveries`.

    **Observation**, i8[8 + 7 (2 sight + 1)²] per robot; i8[5, 2 sight + 1, 2 sight + 1], turned to
    its heading; or the whole warehouse, i8[4 players + rows * columns].

    `summary`, i8[4 players + rows * columns]: row, column, heading and load of all robots, then
    what stands on each cell.

    **Fields.**

    Actions: 0 stay; 1 north, 2 south, 3 west, 4 east, or one for each room; then the verbs of the
    teams, in order (`plan.actions`). Illegal ones stay, and are counted. Terms: the events in the
    scenario's `rewards`, how often they happened to the player (or its team, if `shared`). Metrics,
    per step: `illegal`, `blocked`, and where there are any `items` and `dirt` on the field, and
    `agreed` (1 if all named one move).

    **Observation**, i16[K] per player, or i16[planes, S, S]: as `observation_layout` names them.

    `summary`, i16[S]: all bodies, doors, scores and cells.
    """

    id = "mission"
    package = "manyhands.envs.mission"
    _rooms = package  # where the words and pictures of the scenario are
    noop = 0
    batched = True
    reset_pool = 1024
    reset_options: tuple[str, ...] = ("start",)

    def __init__(
        self,
        scenario: str | Path | Mapping[str, Any] = "foraging",
        size: Any = None,
        players: int | None = None,
        foods: int | None = None,
        coop: bool | None = None,
        requests: int | None = None,
        reward: str | None = None,
        sight: int | None = None,
        levels: int | None = None,
        level_seed: int | None = None,
        coordinates: str | None = None,
        max_steps: int | None = None,
        observation: str = "vector",
        egocentric: bool = False,
        reward_weights: Mapping[str, float] | None = None,
        detail: str = "normal",
    ):
        self.detail = one_of("detail", detail, DETAILS)
        self.observation = one_of("observation", observation, OBSERVATIONS)
        found = scenarios.load(scenario)
        given = {
            "size": size,
            "players": players,
            "foods": foods,
            "coop": coop,
            "requests": requests,
            "reward": reward,
            "sight": sight,
            "levels": levels,
            "level_seed": level_seed,
            "coordinates": coordinates,
            "max_steps": max_steps,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        self.kind = scenarios.kind(found)
        self.egocentric = boolean("egocentric", egocentric)
        if self.egocentric and (self.kind != "field" or observation != "grid"):
            raise ConfigError('egocentric is for a field with observation="grid"')
        for name in changes:
            if name not in scenarios.KINDS[self.kind]:
                raise ConfigError(f"there is no {name} in {self.kind}, given {changes[name]!r}")
        if self.kind == "foraging":
            if "size" in changes and sight is None and found["sight"] >= max(found["size"]):
                changes["sight"] = None  # it saw all of the field
            self._forage(scenarios.check({**found, **changes}))
            weights = {"load": 1.0, "failed_load": 0.0 - self.penalty}
        elif self.kind == "field":
            self._lay_out(scenarios.check({**found, **changes}))
            weights = dict(self.plan.rewards)
        else:
            self._store(scenarios.check({**found, **changes}))
            half = self.sharing == "two_stage"
            weights = {"delivery": 0.5 if half else 1.0, "return": 0.5 if half else 0.0}
        self.title: str = self.scenario["title"]
        self.players = len(self.agents)
        self.sight = self.scenario["sight"]
        self.max_steps = self.scenario["max_steps"]
        self.terms = tuple(weights)
        self.reward_weights = check_weights(reward_weights, weights)
        self._config: dict[str, Any] = {
            "scenario": fields.brief(self.scenario) if self.kind == "field" else self.scenario,
            "max_steps": self.max_steps,
            "observation": observation,
        }
        if self.egocentric:
            self._config["egocentric"] = True
        if reward_weights:
            self._config["reward_weights"] = dict(reward_weights)
        self.observation_layout = self._views.layout(self)
        self.observation_space = self.observation_layout.space()

    def _forage(self, scenario: dict[str, Any]) -> None:
        """Be a field of foraging."""
        if self.observation == "whole":
            raise ConfigError('foraging has observation="vector" or "grid", given "whole"')
        self.scenario = scenario
        self.size = tuple(scenario["size"])
        self.foods = scenario["foods"]
        self.player_levels = tuple(scenario["player_levels"])
        self.food_levels = tuple(scenario["food_levels"])
        self.coop = scenario["coop"]
        self.penalty = scenario["penalty"]
        self.agents = tuple(f"player_{i}" for i in range(scenario["players"]))
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.event_names = events.NAMES
        self.event_kinds = tuple(events.KINDS.values())
        self.scripted_policy = "forager"
        self.keys = _FORAGING_KEYS
        self._rules: Any = rules
        self._views: Any = views
        self._events: Any = events

    def _store(self, scenario: dict[str, Any]) -> None:
        """Be a warehouse."""
        self.scenario = scenario
        chart = warehouses.chart(scenario)
        self.size = (len(chart), len(chart[0]))
        self.racks, self.goals = warehouses.places(chart)
        self.requests = scenario["requests"]
        self.sharing = scenario["reward"]
        self.inactivity = scenario["inactivity"]
        self.agents = tuple(f"robot_{i}" for i in range(scenario["players"]))
        self.action_space = gymnasium.spaces.Discrete(len(warehouse_state.ACTIONS))
        self.event_names = warehouse_events.NAMES
        self.event_kinds = tuple(warehouse_events.KINDS.values())
        self.scripted_policy = "porter"
        self.keys = _WAREHOUSE_KEYS
        self._rooms = "manyhands.envs.mission.warehouse"
        self._rules, self._views, self._events = warehouse_rules, warehouse_views, warehouse_events

    def _lay_out(self, scenario: dict[str, Any]) -> None:
        """Be a field."""
        one_of("observation", self.observation, field_views.OBSERVATIONS)
        self.scenario = scenario
        self.plan = plan = fields.plan(scenario)
        self.size = plan.size
        single = len(plan.cells) == 1 and not plan.masks
        self.deterministic_reset = single and bool((plan.starts.sum(-1) == 1).all())
        self.agents = tuple(field_events.body_name(plan, i) for i in range(plan.agents))
        self.action_space = gymnasium.spaces.Discrete(len(plan.actions))
        self.event_names = field_events.names(plan)
        self.event_kinds = field_events.possible(plan)
        self.scripted_policy = "ranger"
        self.keys = field_keys(plan.actions)
        self.reset_options = ("start", "task") if scenario["generator"] else ("start",)
        self.phrases = fields.phrases(scenario)
        if len(plan.teams) == 2 and not plan.teams[1].mind:
            counts = [team.size for team in plan.teams]
            self.sides = (tuple(range(counts[0])), tuple(range(counts[0], sum(counts))))
        self._rooms = "manyhands.envs.mission.field"
        self._rules, self._views, self._events = field_rules, field_views, field_events

    # ---- the contract, as functions of the configuration and the state ------------------------

    def reset(self, key: Array) -> Any:
        return self._rules.reset(self, key)

    def reset_to(self, key: Array, options: Mapping[str, Any]) -> Any:
        """The episode of `key`, begun at `options["start"]`: in the words of `to_dict`, the
        "players" and "food" of foraging, the "robots" and "map" of a warehouse, or the "bodies" and
        "map" of a field; one may be left out. Of a field also at `options["task"]`, a task of
        `task_space`."""
        if self.kind == "field":
            return self._module("starts").reset_to(self, key, options)
        starts = importlib.import_module("manyhands.envs.mission.starts")
        return starts.reset_to(self, key, options["start"])

    def step(self, key: Array, state: Any, actions: Array) -> tuple[Any, Outcome]:
        check_actions(self, actions, state.time.shape)
        after, results = self._rules.step(self, key, state, actions)
        return after, self.outcome(**results)

    def legal(self, state: Any) -> Array:
        return self._rules.legal(self, state)

    def acting(self, state: Any) -> Array:
        return self._rules.acting(self, state)

    def observe(self, state: Any) -> Array:
        return self._views.observe(self, state)

    def perceive(self, state: Any) -> Array:
        return self._views.perceive(self, state)

    def network_input(self, row: Array) -> Array:
        """Of fields see `field/observe.py`; of others the row as it is, compressed."""
        return field_views.network_input(self, row) if self.kind == "field" else squash(row)

    def summary(self, state: Any) -> Array:
        return self._views.summary(self, state)

    def event_codes(self, state: Any) -> Array:
        return self._events.event_codes(self, state)

    def to_dict(self, state: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._module("text").to_dict(self, state)
        return found

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self._rooms}.{name}")

    def skill_set(self) -> Any:
        """Skills by path-finding, for the wrapper `skills`."""
        return self._module("skills").skill_set(self)

    def task_space(self) -> Any:
        """The tasks of a generated field: their schema, bounds, `encode`, `decode`, `sample` and
        held-out ones; `reset_to` begins one (`field/tasks.py`)."""
        return importlib.import_module("manyhands.envs.mission.field.tasks").task_space(self)

    def optimal_steps(self, state: Any) -> int | None:
        """The fewest steps in which agents who know everything reach the aim of a field, where a
        search can tell (`field/solve.py`); else None."""
        if self.kind != "field":
            return None
        solve = importlib.import_module("manyhands.envs.mission.field.solve")
        found: int | None = solve.optimal_steps(self.plan, state)
        return found

    def config(self) -> dict[str, Any]:
        return {**self._config, **self.text_options()}

    def questions(self, state: Any, agent: str | int) -> list[Question]:
        return questions.questions(self, state, self.index(agent))

    def last_events(self, state: Any, agent: str | int | None = None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._events.last_events(self, state, agent)
        return found
