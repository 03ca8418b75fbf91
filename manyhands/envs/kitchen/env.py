"""`Kitchen`: the environment's class, its options, and what of it other modules compute.

The rules are in `rules.py`, what chefs see in `observe.py`, layouts in `levels.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from manyhands.core.config import (
    boolean,
    check_actions,
    check_options,
    check_weights,
    one_of,
    plain,
    whole,
)
from manyhands.core.env import DETAILS, Array, ConfigError, Env, Outcome, names_of
from manyhands.core.probes import Question
from manyhands.envs.kitchen import events, overcooked_ai, planning, rules
from manyhands.envs.kitchen import levels as lv
from manyhands.envs.kitchen import observe as views
from manyhands.envs.kitchen import relabel as relabelling
from manyhands.envs.kitchen.generator import GeneratorConfig, generate_levels
from manyhands.envs.kitchen.potential import TERM
from manyhands.envs.kitchen.questions import questions
from manyhands.envs.kitchen.skills import KitchenSkills
from manyhands.envs.kitchen.state import (
    ACTIONS,
    DYNAMICS,
    OBSERVATIONS,
    SHAPED,
    STAY,
    KitchenConfig,
    KitchenState,
)


class Kitchen(KitchenConfig, Env[KitchenState]):
    """An Overcooked-like kitchen for 1 to 6 chefs.

    Args:
        layout: a name (`levels.LAYOUTS` and aliases), a layout as text, a `.layout` file of
            Overcooked-AI, `"generated"`, or a list of names and texts, of which each episode draws
            one.
        starts: where chefs begin: `"overcooked_ai"` and `"jaxmarl"` are the published cells of the
            two packages, `"random"` draws a cell of the chef's own room and a facing per episode.
        dynamics: `"classic"`: the third ingredient starts the cooking; `"manual"`: an empty-handed
            interact does, with one to three ingredients.
        chefs: number of chefs; by default as many as the layout marks.
        observation: `"grid"`, `"compact"`, `"features"`, `"featurized"` or `"routes"`, see below.
        asked: whether one of the orders is asked for at a time, as in OvercookedV2; by default in
            its layouts, `"overcooked_v2/..."`, and in those with recipe indicators or buttons. The
            options up to `button_steps` are for such kitchens alone.
        resample: whether another recipe is drawn (it may be the same) when a soup of the one asked
            for is served; else it is the same all episode.
        penalty: whether a soup that is not asked for costs its value; else it is worth nothing.
        show_delivery: whether chefs see at the serving windows that the soup asked for was served
            in the last step.
        random_reset: whether episodes start amid a game, as with JaxMARL's option of that name:
            chefs at random cells of their rooms, and things at random in hands, pots and on
            counters (`random_start.py`).
        relabel: None, or names of kinds of ingredients, e.g. `["onion", "tomato"]`, that each chef
            sees exchanged at random, anew in each episode and for each chef (`relabel.py`).
        button_cost, button_steps: points that pressing a recipe button costs, and steps that it
            shows the recipe, the one in which it is pressed included.
        view_radius: None, or r: chefs see the cells at most r columns and r rows away.
        max_steps: steps in an episode, which then is truncated; kitchens never terminate.
        orders, bonus_orders, order_bonus, values, times, onion_value, tomato_value, onion_time,
            tomato_time: override the layout's orders, as in `levels.load_level`.
        reward_weights: weights of the terms; by default `delivery` counts 1 and shaping 0.
        generator: knobs of `"generated"` kitchens, the fields of `generator.GeneratorConfig`.
        num_levels, level_seed: how many kitchens are generated, and from which seed; keep some
            seeds apart to test generalisation.
        detail: how much `describe` tells: `"brief"`, `"normal"`, or `"full"`, with distances, who
            reaches what, and orders.
        statistics: whether metrics count the events that Overcooked-AI counts, `event_...`
            (`statistics.METRICS`), over all chefs.

    Terms: `delivery` (what the soups served in this step are worth, the same for every chef),
    `pot_placement` (3 for an ingredient put into a pot), `dish_pickup` (3 for taking a dish when
    one is useful: none lies on a counter, and fewer are in hands than there were pots cooking,
    ready or partly filled at the start of the step) and `soup_pickup` (5 for plating a soup), each
    chef's own; if `reward_weights` names it, `potential` (Overcooked-AI's, `potential.py`).
    Metrics, per step: `soups`, `wasted` (soups served for nothing), `collisions` (steps in which
    nobody could move), `illegal`.

    **Observation "compact"**, i32[height, width] per chef, one code a cell (`unpack` makes it a
    grid): bits 0-2 terrain; 3-5 the chef here (0 none, 1 yourself, 2 and up the others in index
    order); 6-7 that chef's facing; 8-12 the object lying or held here, or in the pot; 13-20 the
    pot's timer (0 idle, 1 ready, 1 + n cooking with n steps left); 21 urgent: fewer than 40 steps
    are left (set in every cell). A cell out of view has terrain `VOID` and no other bit but 21.

    **Observation "grid"**, u8[5 * chefs + 16, height, width] per chef: the planes that
    `observation_layout` names; for two chefs the 26 channels of Overcooked-AI's lossless encoding
    in their order.

    **Observation "features"**, f32[16 + 13 * (chefs - 1) + 27 + 9 * pots + 2] per chef, where
    `pots` is the largest number in any layout: the numbers that `observation_layout` names.

    **Observation "featurized"**, f32[48 * chefs] per chef: Overcooked-AI's `featurize_state` with
    two pots (`featurize.py`).

    **Observation "routes"**, f32[139 + 13 * (chefs - 1)] per chef: how near the nearest place of
    each kind is, and how the way to it begins; as many numbers in every kitchen (`routes.py`).
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
        detail: str = "normal",
        statistics: bool = False,
        asked: bool | None = None,
        resample: bool = False,
        penalty: bool = False,
        show_delivery: bool = False,
        button_cost: int = 5,
        button_steps: int = 10,
        random_reset: bool = False,
        relabel: Sequence[str] | None = None,
    ):
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
        overcooked_ai.check_layout(layout)
        if overcooked_ai.is_layout_file(layout):
            layout, told = overcooked_ai.read_layout(str(layout))
            overrides = overcooked_ai.merged(told, overrides)
        one_of("starts", starts, lv.STARTS)
        self.dynamics = one_of("dynamics", dynamics, DYNAMICS)
        self.observation = one_of("observation", observation, OBSERVATIONS)
        self.view_radius = None if view_radius is None else whole("view_radius", view_radius, 1)
        if observation == "featurized" and view_radius is not None:
            raise ConfigError('observation="featurized" shows the whole kitchen: no view_radius')
        self.max_steps = whole("max_steps", max_steps, 1, 30_000)
        self.detail = one_of("detail", detail, DETAILS)
        self.statistics = boolean("statistics", statistics)
        self.random_starts = starts == "random"
        self._config: dict[str, Any] = {
            # By one name each, so that equal kitchens are equal.
            "layout": lv.ALIASES.get(layout, layout)
            if isinstance(layout, str)
            else [lv.ALIASES.get(name, name) for name in layout],
            "starts": starts,
            "dynamics": dynamics,
            "observation": observation,
            "max_steps": self.max_steps,
        }
        overrides = {
            name: _by_recipe(name, value) for name, value in overrides.items() if value is not None
        }
        given = {
            "chefs": plain(chefs),
            "view_radius": self.view_radius,
            "statistics": self.statistics or None,
            "reward_weights": dict(reward_weights) if reward_weights else None,
            "asked": None if asked is None else boolean("asked", asked),
            **overrides,
        }
        if layout == "generated":
            given |= {"num_levels": num_levels, "level_seed": level_seed}
            given["generator"] = dict(generator) if generator else None
        elif generator is not None or num_levels != 64 or level_seed != 0:
            raise ConfigError(
                'generator=, num_levels= and level_seed= are for layout="generated", '
                f"given layout={layout!r}"
            )
        self._config |= {name: value for name, value in given.items() if value is not None}

        self.levels = _load_levels(
            layout, starts, chefs, overrides, asked, generator, num_levels, level_seed
        )
        self.asked = _all_asked(self.levels)
        self.resample = boolean("resample", resample)
        self.penalty = boolean("penalty", penalty)
        self.show_delivery = boolean("show_delivery", show_delivery)
        self.button_cost = whole("button_cost", button_cost, 0, 10_000)
        self.button_steps = whole("button_steps", button_steps, 1, 250)
        self.random_reset = boolean("random_reset", random_reset)
        self.random_starts = self.random_starts or self.random_reset
        self.relabel: tuple[str, ...] = ()
        for name, usual in _ASKED_OPTIONS.items():
            if (value := plain(getattr(self, name))) != usual:
                self._config[name] = value
                if not self.asked:
                    raise ConfigError(
                        f"{name}={value!r} is for kitchens in which one recipe is asked for at a "
                        f"time (asked=True), given layout={layout!r}"
                    )
        if self.asked:
            self._check_asked(overrides, reward_weights)
        if dynamics == "classic":
            self.levels = tuple(_cookable(level, orders) for level in self.levels)
            if "orders" in self._config:  # of a file, without those that were left out
                self._config |= {
                    name: [lv.recipe_name(recipe) for recipe in getattr(self.levels[0], name)]
                    for name in ("orders", "bonus_orders")
                    if name in self._config
                }
        if relabel is not None:
            if not self.asked:
                raise ConfigError(
                    f"relabel={relabel!r} is for kitchens in which one recipe is asked for at a "
                    f"time (asked=True), given layout={layout!r}"
                )
            self.relabel = relabelling.checked(relabel, self.levels)
            self._config["relabel"] = list(self.relabel)
        counts = {len(level.starts) for level in self.levels}
        if len(counts) > 1:
            raise ConfigError(
                f"the layouts mark different numbers of chefs ({sorted(counts)}); pass chefs="
            )
        self.tabulate()
        self.potential = TERM in (reward_weights or {})
        self.exact = not self.potential  # a sum of powers, whose last bits depend on the compiler
        if self.potential:
            self.terms = (*type(self).terms, TERM)
        self.terms = ("delivery", *self.shaped, *self.terms[len(SHAPED) + 1 :])
        weights = {"delivery": 1.0} | dict.fromkeys(self.terms[1:], 0.0)
        if self.asked:
            self.terms = (*self.terms, "button_press")
            weights["button_press"] = 1.0
        self.reward_weights = check_weights(reward_weights, weights)
        self.agents = tuple(f"chef_{i}" for i in range(self.chefs))
        self.deterministic_reset = len(self.levels) == 1 and not self.random_starts
        if self.relabel or (self.asked and self.recipes.shape[1] > 1):
            self.deterministic_reset = False
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.observation_layout = views.layout(self)
        self.observation_space = views.space(self)
        self.event_names = events.event_names(self)
        self.event_kinds = events.EVENTS

    # ---- the contract, as functions of the configuration and the state ------------------------

    reset, legal, acting = rules.reset, rules.legal, rules.acting
    summary, network_input = views.summary, views.network_input

    def observe(self, state: KitchenState) -> Array:
        return relabelling.each(self, views.observe, state)

    def perceive(self, state: KitchenState) -> Array:
        return relabelling.each(self, views.perceive, state)

    def event_codes(self, state: KitchenState) -> Array:
        return relabelling.each(self, events.event_codes, state)

    def step(self, key: Array, state: KitchenState, actions: Array) -> tuple[KitchenState, Outcome]:
        check_actions(self, actions, state.time.shape)
        after, results = rules.step(self, key, state, actions)
        return after, self.outcome(**results)

    def to_dict(self, state: KitchenState) -> dict[str, Any]:
        return self._module("text").to_dict(self, state)

    def config(self) -> dict[str, Any]:
        return {**self._config, **self.text_options()}

    def questions(self, state: KitchenState, agent: str | int) -> list[Question]:
        return questions(self, state, self.index(agent))

    def last_events(
        self, state: KitchenState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        return events.last_events(self, state, None if agent is None else self.index(agent))

    def concerns(self, state: KitchenState, agent: str | int) -> bool:
        return events.concerns(self, state, self.index(agent))

    def skill_set(self) -> KitchenSkills:
        """The skill set that `wrappers/skills.py` lifts this kitchen to."""
        return KitchenSkills(self)

    def shipped_levels(self) -> list[tuple[str, int, str]]:
        shipped = [lv.load_level(name) for name in lv.layout_names()]
        return [(level.name, level.chefs, level.text()) for level in shipped]

    def first_delivery(self, level: int = 0, **effort: Any) -> planning.FirstDelivery:
        """The fewest steps in which the chefs can serve their first soup in `levels[level]`, from
        its own starts; see `planning.first_delivery`. It searches: seconds, in a large kitchen."""
        return planning.first_delivery(self.levels[level], self.dynamics, **effort)

    def _check_asked(self, overrides: Mapping[str, Any], reward_weights: Any) -> None:
        """Refuse what kitchens in which one recipe is asked for do not have."""
        if self.observation in ("features", "featurized", "routes"):
            raise ConfigError(
                f'observation="{self.observation}" knows onions and tomatoes only; where one '
                'recipe is asked for at a time there are "grid" and "compact"'
            )
        for name, given in (
            ("statistics", self.statistics),
            (TERM, TERM in (reward_weights or {})),
        ):
            if given:
                raise ConfigError(
                    f"{name} is defined by Overcooked-AI for kitchens whose orders are all open; "
                    "not where one recipe is asked for at a time"
                )
        wrong = [name for name in _ONE_OF_TWO if name in overrides]
        if wrong:
            raise ConfigError(
                f"{names_of(wrong)} cannot be given where one recipe is asked for at a time; "
                "give values= and times="
            )


# ---- small things --------------------------------------------------------------------------------


_ASKED_OPTIONS: dict[str, Any] = {
    "resample": False,
    "penalty": False,
    "show_delivery": False,
    "button_cost": 5,
    "button_steps": 10,
    "random_reset": False,
}
_ONE_OF_TWO = (
    "bonus_orders",
    "order_bonus",
    "onion_value",
    "tomato_value",
    "onion_time",
    "tomato_time",
)


def _all_asked(levels: Sequence[lv.Level]) -> bool:
    """Whether one recipe is asked for at a time, in all levels or in none."""
    found = {level.asked for level in levels}
    if len(found) > 1:
        one, every = ([lev.name for lev in levels if lev.asked is a] for a in (True, False))
        raise ConfigError(
            f"one recipe is asked for at a time in {names_of(one)}, and all orders are open in "
            f"{names_of(every)}; pass asked=True, or play them apart"
        )
    return found.pop()


def _by_recipe(name: str, value: Any) -> Any:
    """Orders, and numbers that are given by recipe, with the names of the recipes: JSON-ready."""
    if name.endswith("orders"):
        return [lv.recipe_name(recipe) for recipe in lv.parse_orders(value, name, 4)]
    if isinstance(value, Mapping):
        value = {lv.recipe_name(lv.parse_recipe(recipe, 4)): item for recipe, item in value.items()}
    return plain(value)


def _cookable(level: lv.Level, given: Any) -> lv.Level:
    """The level without orders that classic dynamics cannot cook: only three ingredients start."""
    short = [recipe for recipe in level.orders if sum(recipe) < 3]
    if not short:
        return level
    if given is not None or len(short) == len(level.orders):
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
    asked: bool | None,
    generator: Mapping[str, Any] | None,
    num_levels: int,
    level_seed: int,
) -> tuple[lv.Level, ...]:
    if layout == "generated":
        knobs = dict(generator or {})
        if chefs is not None:
            knobs["chefs"] = chefs
        check_options(GeneratorConfig, knobs, "generator=")
        config = GeneratorConfig(**knobs)
        if asked:
            raise ConfigError(
                'asked=True: layout="generated" has no recipe indicators; name or draw a layout'
            )
        return tuple(generate_levels(config, num_levels, level_seed, rules=overrides))
    names = [layout] if isinstance(layout, str) else list(layout)
    if not names:
        raise ConfigError("layout=[] is empty; give at least one layout")
    return tuple(
        lv.load_level(name, starts=starts, chefs=chefs, asked=asked, **overrides) for name in names
    )
