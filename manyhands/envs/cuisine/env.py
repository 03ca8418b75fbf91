"""Cuisines: a kitchen without a grid, whose chefs go from tool to tool.

Dishes, tools and levels are data (`menu.py`); the rules are in `rules.py`, what chefs see is in
`observe.py`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium

from manyhands.core.config import boolean, check_actions, check_weights, number, one_of, whole
from manyhands.core.env import DETAILS, Array, ConfigError, Env, Outcome
from manyhands.core.probes import Question
from manyhands.envs.cuisine import events, menu, rules, shortest
from manyhands.envs.cuisine import observe as views
from manyhands.envs.cuisine.generator import generate
from manyhands.envs.cuisine.state import (
    MOST_ORDERS,
    MOST_STEPS,
    WAIT,
    CuisineConfig,
    CuisineState,
    actions_of,
)

BETA = 2.5  # how many times as long as the interval an order can be served
_GENERATED = ("num_levels", "level_seed", "difficulty")  # the options of generated levels
SHARE = 0.3  # of a dish's `wait`, the interval at alpha = 1


class Cuisine(CuisineConfig, Env[CuisineState]):
    """CuisineWorld: chefs go from tool to tool, make dishes in several steps, and serve a stream of
    orders with deadlines.

    Args:
        level: the number of a shipped level, 0 to 12, or its name, `"level_3"`; `"generated"`; the
            path of a JSON file; its fields as a mapping (`menu.LEVEL_SCHEMA`); or a list of these,
            of which each episode has one.
        chefs: how many chefs, 1 to 6; by default as the level says.
        alpha: how much time there is: the steps between two orders are 0.3 `alpha` times the
            largest `wait` of a dish, and each can be served for 2.5 times as long. A list has one
            for each level.
        interval: steps between two orders, in place of what `alpha` gives.
        lifetime: steps in which an order can be served, in place of what `alpha` gives.
        reachable: whether orders can be served at least for as long as one chef needs alone.
        max_orders: open orders at most, 1 to 10; while there are as many, no new one comes.
        max_steps: steps after which an episode is truncated.
        num_levels: how many levels `"generated"` stands for.
        level_seed: the seed of the first of them; the others follow.
        difficulty: of generated levels, 0 to 4.
        reward_weights: weights of the terms `delivery` (1), `expiry` (-1) and `start` (0).
        detail: how much `describe` tells: `"brief"`, `"normal"` or `"full"`.

    Actions: 0 wait; go to each place, `book.place_names` in order; get each item,
    `book.item_names` in order; put; activate. Illegal ones wait, and are counted. Terms, per step:
    `delivery` and `expiry`, the orders served and expired, shared; `start`, 1 for the chef who
    activated a tool. Metrics: `illegal`, `failed` (actions that a chef before made impossible),
    `activations`, `thrown_away`, `served`, `expired`.

    **Observation**, i16[F] per chef: as `observation_layout` names it.

    `summary`, i16[S]: the chefs in index order, then what all see alike.
    """

    id = "cuisine"
    package = "manyhands.envs.cuisine"
    terms = ("delivery", "expiry", "start")
    noop = WAIT
    batched = True
    scripted_policy = "dispatched"
    pace = 2.0
    phrases = (
        "I fetch the ingredients",
        "I prepare the next order",
        "I serve",
        "please activate it",
        "please take it out",
        "I need this tool",
        "yes",
        "no",
    )

    def __init__(
        self,
        level: int | str | Path | Mapping[str, Any] | Sequence[Any] = 3,
        chefs: int | None = None,
        alpha: float | Sequence[float] = 2.0,
        interval: int | None = None,
        lifetime: int | None = None,
        reachable: bool = True,
        max_orders: int = 6,
        max_steps: int = 60,
        num_levels: int = 4,
        level_seed: int = 0,
        difficulty: int = 2,
        reward_weights: Mapping[str, float] | None = None,
        detail: str = "normal",
    ):
        self.detail = one_of("detail", detail, DETAILS)
        self.num_levels = whole("num_levels", num_levels, 1, 64)
        self.level_seed = whole("level_seed", level_seed, 0)
        self.difficulty = whole("difficulty", difficulty, 0, 4)
        generated = "generated" in (level if isinstance(level, (list, tuple)) else [level])
        if not generated:
            options = inspect.signature(Cuisine).parameters
            for name in _GENERATED:
                if getattr(self, name) != options[name].default:
                    raise ConfigError(
                        f"{name} is for generated levels: set level='generated', or leave it out; "
                        f"given level={level!r}"
                    )
        levels = self._levels(level)
        self.book = menu.Book(levels)
        if chefs is None:
            chefs = max(found.chefs for found in levels)
        self.chefs = whole("chefs", chefs, 1, menu.MOST_CHEFS)
        alphas = list(alpha) if isinstance(alpha, (list, tuple)) else [alpha] * len(levels)
        if len(alphas) != len(levels):
            raise ConfigError(
                f"alpha is a number, or a list with one for each of {len(levels)} levels; given "
                f"{len(alphas)}"
            )
        self.alphas = tuple(number("alpha", each, 0.1, 20) for each in alphas)
        self.reachable = boolean("reachable", reachable)
        self.max_orders = whole("max_orders", max_orders, 1, MOST_ORDERS)
        self.max_steps = whole("max_steps", max_steps, 1, MOST_STEPS)
        if interval is not None:
            whole("interval", interval, 1, MOST_STEPS)
        if lifetime is not None:
            whole("lifetime", lifetime, 1, MOST_STEPS)
        times = [
            self._times(found, each, interval, lifetime)
            for found, each in zip(levels, self.alphas, strict=True)
        ]
        self.intervals = tuple(each for each, _ in times)
        self.lifetimes = tuple(each for _, each in times)
        weights = {"delivery": 1.0, "expiry": -1.0, "start": 0.0}
        self.reward_weights = check_weights(reward_weights, weights)
        self.agents = tuple(f"chef_{i}" for i in range(self.chefs))
        self.dish_names = [self.book.item_names[dish] for dish in self.book.dishes]
        self.deterministic_reset = len(levels) == len(self.book.dishes) == 1
        self._config: dict[str, Any] = {
            "level": self._named(level, levels),
            "chefs": self.chefs,
            "alpha": list(self.alphas) if isinstance(alpha, (list, tuple)) else self.alphas[0],
            "interval": interval,
            "lifetime": lifetime,
            "reachable": self.reachable,
            "max_orders": self.max_orders,
            "max_steps": self.max_steps,
        }
        if generated:
            self._config |= {name: getattr(self, name) for name in _GENERATED}
        if reward_weights:
            self._config["reward_weights"] = dict(reward_weights)
        self.action_space = gymnasium.spaces.Discrete(actions_of(self.book)[-1] + 1)
        self.observation_layout = views.layout(self)
        self.observation_space = self.observation_layout.space()
        self.event_names = events.NAMES
        self.event_kinds = (*events.KINDS.values(), *events.OF_ORDERS)

    def _levels(self, given: Any) -> list[menu.Level]:
        listed = list(given) if isinstance(given, (list, tuple)) else [given]
        if not listed:
            raise ConfigError("level is a level or a list of at least one, given an empty list")
        found: list[menu.Level] = []
        for each in listed:
            if isinstance(each, str) and each == "generated":
                seeds = range(self.level_seed, self.level_seed + self.num_levels)
                found += [generate(seed, self.difficulty) for seed in seeds]
                continue
            level = menu.load(each)
            if level != menu.shipped_or_none(level.name):
                for dish in level.dishes:
                    shortest.alone(level, dish)  # refuses what cannot be made
            found.append(level)
        return found

    def _named(self, given: Any, levels: list[menu.Level]) -> Any:
        """The levels as `config` has them: names of shipped ones, else their fields."""
        if isinstance(given, str) and given == "generated":
            return given
        if isinstance(given, (list, tuple)):
            return [self._named(each, self._levels(each)) for each in given]
        (level,) = levels
        return level.name if level == menu.shipped_or_none(level.name) else dict(level.source)

    def _times(
        self, level: menu.Level, alpha: float, interval: int | None, lifetime: int | None
    ) -> tuple[int, int]:
        """(interval, lifetime) of a level's orders."""
        wait = max(level.wait(dish) for dish in level.dishes)
        every = max(1, math.ceil(SHARE * alpha * wait)) if interval is None else interval
        if lifetime is None:
            lifetime = max(1, math.ceil(BETA * SHARE * alpha * wait))
            if self.reachable and lifetime < max(shortest.at_most(level, d) for d in level.dishes):
                lifetime = max(lifetime, *(shortest.alone(level, d) for d in level.dishes))
        elif self.reachable:
            for dish in level.dishes:
                if shortest.together(level, dish) > lifetime:
                    raise ConfigError(
                        f"lifetime={lifetime} is too short for {dish}, which takes any number of "
                        f"chefs {shortest.together(level, dish)} steps; give more, or "
                        "reachable=False, where only dishes made ahead are in time"
                    )
        return every, min(lifetime, MOST_STEPS)

    # ---- the contract, as functions of the configuration and the state ------------------------

    reset, legal, acting = rules.reset, rules.legal, rules.acting
    observe, summary = views.observe, views.summary
    event_codes = events.event_codes

    def step(self, key: Array, state: CuisineState, actions: Array) -> tuple[CuisineState, Outcome]:
        check_actions(self, actions, state.time.shape)
        after, results = rules.step(self, state, actions)
        return after, self.outcome(**results)

    def to_dict(self, state: CuisineState) -> dict[str, Any]:
        return self._module("text").to_dict(self, state)

    def config(self) -> dict[str, Any]:
        return {**self._config, **self.text_options()}

    def questions(self, state: CuisineState, agent: str | int) -> list[Question]:
        found: list[Question] = self._module("questions").questions(self, state, self.index(agent))
        return found

    def last_events(
        self, state: CuisineState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        return events.last_events(self, state, agent)

    def shipped_levels(self) -> list[tuple[str, int, str]]:
        found = [menu.shipped(name) for name in menu.SHIPPED]
        return [(level.name, level.chefs, level_card(level)) for level in found]


def level_card(level: menu.Level) -> str:
    """A level in a few lines: its dishes and tools."""
    dishes = ", ".join(menu.words(dish) for dish in level.dishes)
    kinds = dict.fromkeys(level.tools)
    tools = ", ".join(
        menu.words(kind) + (f" x {count}" if (count := level.tools.count(kind)) > 1 else "")
        for kind in kinds
    )
    return f"{level.title}\ndishes: {dishes}\ntools: {tools}"
