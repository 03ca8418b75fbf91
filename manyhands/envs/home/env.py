"""Homes: chores, watch-and-help, transport and following for one to six players.

Kinds are data (`catalog.py`); the rules are in `rules.py`, homes are drawn in `generator.py`, what
players know is in `observe.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from manyhands.core.choices import LIMIT, Choice, Spot, fold
from manyhands.core.config import (
    boolean,
    check_actions,
    check_reset_options,
    check_weights,
    nearest,
    one_of,
    whole,
)
from manyhands.core.env import DETAILS, Array, ConfigError, Env, Outcome, names_of
from manyhands.core.probes import Question
from manyhands.envs.home import catalog, events, features, generator, rules, starts
from manyhands.envs.home import observe as views
from manyhands.envs.home.phrases import phrasebook
from manyhands.envs.home.questions import questions
from manyhands.envs.home.skills import HomeSkills
from manyhands.envs.home.state import (
    MOST_CONDITIONS,
    MOST_HANDS,
    MOST_OBJECTS,
    MOST_PLAYERS,
    MOST_RECEPTACLES,
    MOST_ROOMS,
    MOST_STEPS,
    Actions,
    HomeConfig,
    HomeState,
)

# What each preset has where nothing else is said.
PRESETS: dict[str, dict[str, Any]] = {
    "chore_small": {
        "family": "chore",
        "players": 1,
        "hands": 1,
        "rooms": 1,
        "receptacles": (8, 12),
        "objects": (8, 12),
        "travel": "instant",
        "view": "receptacle",
        "max_steps": 50,
    },
    "chore": {
        "family": "chore",
        "players": 1,
        "hands": 1,
        "rooms": 1,
        "receptacles": (15, 24),
        "objects": (15, 24),
        "travel": "instant",
        "view": "receptacle",
        "max_steps": 50,
    },
    "house": {
        "family": "watch_and_help",
        "players": 2,
        "hands": 2,
        "rooms": 4,
        "receptacles": 24,
        "objects": 24,
        "travel": "steps",
        "view": "room",
        "max_steps": 250,
    },
    "transport": {
        "family": "transport",
        "players": 2,
        "hands": 2,
        "rooms": (6, 8),
        "receptacles": 24,
        "objects": 20,
        "travel": "steps",
        "view": "room",
        "max_steps": 150,
    },
    "follow": {
        "family": "follow",
        "players": 2,
        "hands": 1,
        "rooms": (4, 8),
        "receptacles": 24,
        "objects": 8,
        "travel": "steps",
        "view": "room",
        "max_steps": 200,
    },
}
USUAL = {"chore": "chore", "watch_and_help": "house", "transport": "transport", "follow": "follow"}
TRAVELS, VIEWS = ("instant", "steps"), ("receptacle", "room", "all")
OBSERVATIONS = ("codes", "features")
REPLIES = ("facts", "alfworld")
TOLD, HIDDEN = ("all", "first", "instructor"), ("object", "where", "state")
CONTAINERS = {"enough": 0.4, "rare": 0.2}  # containers for each object to be brought
WEIGHTS = {
    "success": {"follow": 0.0},
    "subgoal": {"watch_and_help": 2.0, "transport": 1.0},
    "follow": {"follow": 1.0},
    "errand": {"follow": 1.0},
}
ERRANDS = 12


class Home(HomeConfig, Env[HomeState]):
    """A home of rooms, receptacles and objects, in which players find, change and bring things, and
    know only what they saw.

    Args:
        task: a family of tasks, `"chore"`, `"watch_and_help"`, `"transport"` or `"follow"`; a
            preset, which also has sizes, `"chore_small"`, `"chore"`, `"house"`, `"transport"` or
            `"follow"`; one task, of the chores `"put"`, `"look"`, `"clean"`, `"heat"`, `"cool"` and
            `"two"`, or of those for several `"tea"`, `"dishes"`, `"meal"`, `"groceries"` and
            `"table"`; or a list of tasks of a family, of which each episode has one.
        players: how many players, 1 to 6.
        hands: how many each has, 1 or 2.
        rooms: how many rooms, 1 to 8, or `[least, most]`.
        receptacles: how many receptacles, up to 32, or `[least, most]`.
        objects: how many objects, up to 32, or `[least, most]`.
        travel: `"instant"`, anywhere in one step; or `"steps"`, a room a step, and one more step to
            a receptacle.
        view: what a player sees: `"receptacle"`, in or on the one where it is; `"room"`, in or on
            all that are open in its room; `"all"`, in or on all that are open.
        slicing: whether things can be sliced with knives; goals may then ask for it.
        split: which pairs of an object and its place, and which sets of rooms, there are: `"seen"`,
            `"unseen"`, or `"all"` of them.
        told: who knows the hidden parts of the goal: `"all"`; `"first"`, the first player; or
            `"instructor"`, one more agent that has no body, and can only wait and talk.
        hidden: which parts are hidden, a list of `"object"`, `"where"` and `"state"`; by default
            the object, unless all are told.
        containers: of `transport`: `"enough"`, two for five objects to be brought, in two rooms at
            most; or `"rare"`, half as many, in one room.
        discussion: steps at the start in which players can only wait, so that they can talk first;
            they count as steps.
        max_steps: steps after which an episode is truncated.
        observation: `"codes"` or `"features"`.
        reward_weights: weights of the terms: `success` (1; in `follow` 0), `subgoal` (2 in
            `watch_and_help`, 1 in `transport`, else 0), `progress` (0), `step` (0); in `follow`
            also `follow` (1) and `errand` (1).
        detail: how much `describe` tells: `"brief"`, `"normal"` or `"full"`.
        replies: the manner of texts: `"facts"`, all that a player knows; or `"alfworld"`, the
            names, commands and replies of ALFWorld, where a command that is not open is a wait.

    What is not given is that of the preset; of a family or a task, the preset is `"chore"`,
    `"house"`, `"transport"` or `"follow"`.

    Actions: `state.Actions`. Illegal ones wait, and are counted. Terms, per step: `success`, 1 for
    all when the goal is reached; `subgoal`, how many objects more than ever before are as a
    condition wants them; `progress`, 1 for a player who takes or changes for the first time what a
    condition asks for; `step`, 1; `follow`, 1 for a player who sees the leader and is not at the
    same receptacle; `errand`, 1 for the leader at its next receptacle. Metrics: `illegal`,
    `raced` (actions that another player made impossible), `grounded` (the share of players whose
    action was executed), `met` (the share of the goal that is reached), `success`; in `transport`
    also `delivered`, in `follow` `in_sight` and `errands`.

    **Observation**, per agent: as `observation_layout` names it. `summary`, i16[S]: the true home.
    """

    id = "home"
    package = "manyhands.envs.home"
    batched = True
    noop = Actions.WAIT
    reset_pool = 256
    reset_options = ("start",)
    pace = 2.0
    scripted_policy = "helper"

    def __init__(
        self,
        task: str | Sequence[str] = "chore",
        players: int | None = None,
        hands: int | None = None,
        rooms: int | Sequence[int] | None = None,
        receptacles: int | Sequence[int] | None = None,
        objects: int | Sequence[int] | None = None,
        travel: str | None = None,
        view: str | None = None,
        slicing: bool = False,
        split: str = "all",
        told: str = "all",
        hidden: Sequence[str] | None = None,
        containers: str = "enough",
        discussion: int = 0,
        max_steps: int | None = None,
        observation: str = "codes",
        reward_weights: Mapping[str, float] | None = None,
        detail: str = "normal",
        replies: str = "facts",
    ):
        self.detail = one_of("detail", detail, DETAILS)
        self.replies = one_of("replies", replies, REPLIES)
        preset, self.tasks = _tasks(task)
        sizes = PRESETS[preset]
        self.family = sizes["family"]
        self.catalog = catalog.shipped()

        def given(name: str, value: Any) -> Any:
            return sizes[name] if value is None else value

        follows = self.family == "follow"
        self.players = whole("players", given("players", players), 1 + follows, MOST_PLAYERS)
        self.hands = whole("hands", given("hands", hands), 1, MOST_HANDS)
        self.room_range = _span("rooms", given("rooms", rooms), 1, MOST_ROOMS)
        self.receptacle_range = _span(
            "receptacles", given("receptacles", receptacles), 2, MOST_RECEPTACLES
        )
        self.object_range = _span("objects", given("objects", objects), 1, MOST_OBJECTS)
        self.rooms, self.receptacles = self.room_range[1], self.receptacle_range[1]
        self.objects = self.object_range[1]
        self.travel = one_of("travel", given("travel", travel), TRAVELS)
        self.view = one_of("view", given("view", view), VIEWS)
        self.slicing = boolean("slicing", slicing)
        if self.slicing and self.family != "chore":
            raise ConfigError(f"slicing is for chores, given with {task!r}")
        self.split = one_of("split", split, generator.SPLITS)
        self.told = one_of("told", told, TOLD)
        self.hidden = self._hidden(hidden)
        self.containers = one_of("containers", containers, tuple(CONTAINERS))
        self.max_steps = whole("max_steps", given("max_steps", max_steps), 1, MOST_STEPS)
        self.discussion = whole("discussion", discussion, 0, self.max_steps - 1)
        self.observation = one_of("observation", observation, OBSERVATIONS)
        self._counts()
        self.errand_count = ERRANDS if follows else 1
        self.conditions = MOST_CONDITIONS if self.family == "watch_and_help" else 1
        self.plans = generator.plans(self)
        self.agents = tuple(f"player_{i}" for i in range(self.players))
        if self.told == "instructor":
            self.agents += ("instructor",)
        self.terms = ("success", "subgoal", "progress", "step")
        if follows:
            self.terms += ("follow", "errand")
        usual = {
            name: WEIGHTS.get(name, {}).get(self.family, float(name == "success"))
            for name in self.terms
        }
        self.reward_weights = check_weights(reward_weights, usual)
        self._config = self._configuration(task, preset, reward_weights)
        self.action_space = gymnasium.spaces.Discrete(Actions(self).count)
        shown = features if self.observation == "features" else views
        self.observation_layout = shown.layout(self)
        self.observation_space = self.observation_layout.space()
        self.event_names = events.NAMES
        self.event_kinds = tuple(events.KINDS.values())
        self.phrases = phrasebook(self)

    def _hidden(self, given: Sequence[str] | None) -> tuple[str, ...]:
        if self.told == "all":
            if given:
                raise ConfigError(
                    f"hidden={list(given)!r} is known to all where told is 'all'; give "
                    "told='first' or 'instructor'"
                )
            return ()
        if given is None:
            given = ("object",)
        if isinstance(given, str) or not given:
            raise ConfigError(f"hidden is a list of {names_of(HIDDEN)}, given {given!r}")
        for part in given:
            one_of("hidden", part, HIDDEN)
        return tuple(part for part in HIDDEN if part in given)

    def _counts(self) -> None:
        """How many objects are to be brought, and how many containers there are; whether all that
        a goal asks for fits in."""
        least = self.object_range[0]
        self.targets = self.containers_placed = 0
        if self.family == "transport":
            self.targets = max(1, least // 2)
            share = CONTAINERS[self.containers]
            self.containers_placed = max(1, round(share * self.targets))
            needed = self.targets + self.containers_placed
        else:
            needed = {"watch_and_help": generator.MOST, "chore": 3, "follow": 1}[self.family]
        if least < needed:
            raise ConfigError(
                f"{self.family!r} needs at least {needed} objects, given objects={least}"
            )

    def _configuration(
        self, task: Any, preset: str, weights: Mapping[str, float] | None
    ) -> dict[str, Any]:
        names = (
            *("players", "hands", "rooms", "receptacles", "objects", "travel", "view"),
            "max_steps",
        )
        sizes: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name in ("room", "receptacle", "object"):
            low, high = getattr(self, f"{name}_range")
            sizes[f"{name}s"] = low if low == high else [low, high]
        found = {"task": list(task) if not isinstance(task, str) else task, **sizes}
        usual = {"slicing": False, "split": "all", "told": "all", "discussion": 0}
        usual["observation"] = "codes"
        found |= {name: getattr(self, name) for name in usual if getattr(self, name) != usual[name]}
        if self.hidden:
            found["hidden"] = list(self.hidden)
        if self.family == "transport":
            found["containers"] = self.containers
        if weights:
            found["reward_weights"] = dict(weights)
        return found

    # ---- the contract, as functions of the configuration and the state ------------------------

    legal, acting = rules.legal, rules.acting
    perceive, summary = views.codes, views.summary
    network_input = features.network_input
    event_codes = events.event_codes
    reset = generator.generate

    def observe(self, state: HomeState) -> Array:
        given = features.features if self.observation == "features" else views.codes
        return given(self, state)

    def step(self, key: Array, state: HomeState, actions: Array) -> tuple[HomeState, Outcome]:
        check_actions(self, actions, state.time.shape)
        after, results = rules.step(self, state, actions)
        return after, self.outcome(**results)

    def choices(
        self, state: HomeState, agent: str | int, limit: int | None = LIMIT
    ) -> list[Choice]:
        text = self._module("text")
        listed = text.choices(self, state, self.index(agent))
        long = sum(len(choice) + 1 for choice in listed) > text.MOST_SHOWN
        return fold(listed, 0 if limit is not None and long else limit)

    def reset_to(self, key: Array, options: Mapping[str, Any]) -> HomeState:
        """The first state of a described home: `{"start": description}`, as `task_space.schema`
        has it."""
        known = check_reset_options(options, self.reset_options)
        return starts.start(self, known["start"]) if known else self.reset(key)

    @functools.cached_property
    def task_space(self) -> starts.TaskSpace:
        """The first states that episodes can have, as descriptions and as codes."""
        return starts.TaskSpace(self)

    def to_dict(self, state: HomeState) -> dict[str, Any]:
        return self._module("text").to_dict(self, state)

    def config(self) -> dict[str, Any]:
        return {**self._config, **self.text_options()}

    def text_options(self) -> dict[str, Any]:
        manner = {} if self.replies == "facts" else {"replies": self.replies}
        return {**super().text_options(), **manner}

    def questions(self, state: HomeState, agent: str | int) -> list[Question]:
        return questions(self, state, self.index(agent))

    def spots(self, state: HomeState, size: tuple[int, int], agent: str | int) -> list[Spot]:
        """What a click on a player's picture means: to go there, to take that."""
        return list(self._module("spots").spots(self, state, size, self.index(agent)))

    def skill_set(self) -> HomeSkills:
        """The skill set that `wrappers/skills.py` lifts this home to."""
        return HomeSkills(self)

    def last_events(self, state: HomeState, agent: str | int | None = None) -> list[dict[str, Any]]:
        return events.last_events(self, state, agent)


def _tasks(given: Any) -> tuple[str, tuple[str, ...]]:
    """(preset, tasks) that the option `task` names."""
    families = generator.FAMILIES
    known = [name for tasks in families.values() for name in tasks]
    if isinstance(given, str) and given in PRESETS:
        return given, families[PRESETS[given]["family"]]
    if isinstance(given, str) and given in families:
        return USUAL[given], families[given]
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, (list, tuple)) or not listed:
        raise ConfigError(f"task is a family, a preset, a task or a list of tasks, given {given!r}")
    for name in listed:
        if name not in known:
            every = dict.fromkeys([*families, *PRESETS, *known])
            raise ConfigError(
                f"there is no task {name!r};{nearest(name, every)} there are {names_of([*every])}"
            )
    found = {family for family, tasks in families.items() if set(tasks) & set(listed)}
    if len(found) > 1 or len(set(listed)) < len(listed):
        raise ConfigError(f"task is a list of different tasks of one family, given {given!r}")
    (family,) = found
    return USUAL[family], tuple(listed)


def _span(name: str, given: Any, low: int, high: int) -> tuple[int, int]:
    """A number, or the least and the most."""
    if isinstance(given, (list, tuple)):
        if len(given) != 2:
            raise ConfigError(f"{name} is a number or [least, most], given {given!r}")
        least, most = (whole(name, each, low, high) for each in given)
        if least > most:
            raise ConfigError(f"{name} is [least, most], given {given!r}")
        return least, most
    found = whole(name, given, low, high)
    return found, found
