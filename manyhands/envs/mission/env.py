"""Missions: grid games for several players, as scenarios of one rule set.

A scenario is data (`scenarios.py`): its sizes, and which stages of the rules (`rules.py`) it has.
What players see is in `observe.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium

from manyhands.core.config import check_actions, check_weights, one_of
from manyhands.core.env import DETAILS, Array, Env, Outcome
from manyhands.envs.mission import events, rules, scenarios
from manyhands.envs.mission import observe as views
from manyhands.envs.mission.state import ACTIONS, STAY, MissionConfig, MissionState

OBSERVATIONS = ("vector", "grid")


class Mission(MissionConfig, Env[MissionState]):
    """Level-based foraging: players gather food that takes several of them to load.

    Args:
        scenario: the name of a shipped scenario, `"foraging"`; a published name,
            `"foraging-8x8-2p-2f-coop"` or `"foraging-2s-10x10-3p-3f"`; the path of a JSON file; or
            its fields as a mapping (`scenarios.SCHEMA`).
        size: rows and columns, each 3 to 24. This and the next five override the scenario.
        players: how many players, 1 to 10.
        foods: how many pieces of food, 1 to 9.
        coop: whether all food has the highest level, so that players must work together.
        sight: how many cells a player sees in each direction.
        max_steps: steps after which an episode is truncated.
        observation: `"vector"` (positions and levels) or `"grid"` (planes around the player).
        reward_weights: weights of the terms `load` (1) and `failed_load` (minus the scenario's
            `penalty`).
        detail: how much `describe` tells: `"brief"`, `"normal"` or `"full"`.

    Actions: 0 stay, 1 north, 2 south, 3 west, 4 east, 5 load. Illegal ones stay, and are counted.
    Terms: `load`, the player's share of all food, 1 in sum over players and an episode that clears
    the field; `failed_load`, 1 for an attempt to load with too few levels. Metrics, per step:
    `illegal`, `blocked` (moves into a cell that another wanted, too), `failed_loads`, `food_left`
    (levels of food left).

    **Observation**, i8[3 (foods + players)] per player, or i8[3, 2 sight + 1, 2 sight + 1]: as
    `observation_layout` names them.

    `summary`, i8[3 (foods + players)]: row, column and level of all food, then of all players.
    """

    id = "mission"
    package = "manyhands.envs.mission"
    terms = ("load", "failed_load")
    noop = STAY
    batched = True
    reset_pool = 1024
    scripted_policy = "forager"

    def __init__(
        self,
        scenario: str | Path | Mapping[str, Any] = "foraging",
        size: Any = None,
        players: int | None = None,
        foods: int | None = None,
        coop: bool | None = None,
        sight: int | None = None,
        max_steps: int | None = None,
        observation: str = "vector",
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
            "sight": sight,
            "max_steps": max_steps,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        if "size" in changes and sight is None and found["sight"] >= max(found["size"]):
            changes["sight"] = None  # it saw all of the field
        self.scenario = scenarios.check({**found, **changes})
        self.title: str = self.scenario["title"]
        self.size = tuple(self.scenario["size"])
        self.players = self.scenario["players"]
        self.foods = self.scenario["foods"]
        self.player_levels = tuple(self.scenario["player_levels"])
        self.food_levels = tuple(self.scenario["food_levels"])
        self.coop = self.scenario["coop"]
        self.sight = self.scenario["sight"]
        self.penalty = self.scenario["penalty"]
        self.max_steps = self.scenario["max_steps"]
        weights = {"load": 1.0, "failed_load": 0.0 - self.penalty}
        self.reward_weights = check_weights(reward_weights, weights)
        self.agents = tuple(f"player_{i}" for i in range(self.players))
        self._config: dict[str, Any] = {
            "scenario": self.scenario,
            "max_steps": self.max_steps,
            "observation": observation,
        }
        if reward_weights:
            self._config["reward_weights"] = dict(reward_weights)
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.observation_layout = views.layout(self)
        self.observation_space = self.observation_layout.space()
        self.event_names = events.NAMES

    # ---- the contract, as functions of the configuration and the state ------------------------

    reset, legal, acting = rules.reset, rules.legal, rules.acting
    observe, summary, perceive = views.observe, views.summary, views.vector
    event_codes = events.event_codes

    def step(self, key: Array, state: MissionState, actions: Array) -> tuple[MissionState, Outcome]:
        check_actions(self, actions, state.time.shape)
        after, results = rules.step(self, state, actions)
        return after, self.outcome(**results)

    def to_dict(self, state: MissionState) -> dict[str, Any]:
        return self._module("text").to_dict(self, state)

    def config(self) -> dict[str, Any]:
        return {**self._config, **self.text_options()}

    def last_events(
        self, state: MissionState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        return events.last_events(self, state, agent)
