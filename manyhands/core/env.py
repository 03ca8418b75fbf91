"""The contract of an environment: `Env`, `Outcome`, `Wrapper`, the errors, and the keys.

An environment instance is frozen configuration. Everything that changes while it is played is in
its state, a frozen dataclass registered as a pytree (see `state_dataclass`).

**Axes.** Arrays carry the agent axis first: `N` agents, `A` discrete actions. A *batch* of states
is a state whose every leaf has one more axis, the *last* one: structure of arrays, so that the
innermost loop of compiled code runs over environments. `step`, `observe`, `perceive`, `legal`,
`acting` and `summary` of an environment with `batched = True` accept such states directly; other
environments are vmapped (`batch_step` and its siblings handle both).

**Keys.** The key of an episode is `episode_key(seed)`; `reset` gets it, and step `t` (from 0)
gets `fold_in(episode_key, t)`, in every loop and API. Keys are of threefry2x32, whatever JAX's
default is.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import importlib
import inspect
import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, dataclass_transform

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.choices import LIMIT, Choice, Spot, choices_of, fold
from manyhands.core.errors import ConfigError as ConfigError
from manyhands.core.errors import EpisodeOver as EpisodeOver
from manyhands.core.errors import IllegalAction as IllegalAction
from manyhands.core.errors import LayoutError as LayoutError
from manyhands.core.errors import ManyhandsError as ManyhandsError
from manyhands.core.errors import PolicyError as PolicyError
from manyhands.core.errors import RecordError as RecordError
from manyhands.core.errors import RenderError as RenderError
from manyhands.core.errors import SeatError as SeatError
from manyhands.core.errors import SnapshotError as SnapshotError
from manyhands.core.errors import TrainingError as TrainingError
from manyhands.core.reading.ranks import by_choice

if TYPE_CHECKING:
    from manyhands.core.probes import Question
    from manyhands.core.reading.spelling import Spelling
    from manyhands.core.talk import Message

DETAILS = ("brief", "normal", "full")  # of `Env.describe`

Array = Any  # a jax.Array, or a NumPy array where a function runs on the host
Action = Any  # int for Discrete, a NumPy array for MultiDiscrete and Box
State = TypeVar("State")
T = TypeVar("T")
E = TypeVar("E", bound="Env[Any]")


@dataclass_transform(frozen_default=True)
def state_dataclass(cls: type[T]) -> type[T]:
    """A frozen dataclass, registered as a pytree of all its fields."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True)(cls))


@state_dataclass
class Outcome:
    """The result of one step.

    Attributes:
        reward: f32[N], exactly `sum(weight * term)` over `Env.terms` in order.
        terminated: bool[N], the episode of this agent ended by the rules.
        truncated: bool[N], it ended by a time limit.
        terms: named parts of the reward, f32[N] each, before weighting.
        metrics: scalars for logging, one number each (never per agent).
    """

    reward: Array
    terminated: Array
    truncated: Array
    terms: dict[str, Array]
    metrics: dict[str, Array]


class Env(Generic[State]):
    """A multi-agent environment. Subclasses set the attributes in `__init__`, then never change
    them.

    Subclasses must implement `reset`, `step`, `observe`, `legal`, `acting`, `to_dict`, `config`,
    and `rules`, `describe`, `choices`, `parse` and `draw`, as methods or as functions of the
    modules `text` and `draw` of `package`. Everything else has a default.

    Attributes:
        id: the name it is registered under.
        version: of rules and observations; policies and records of another one are recognised.
        added: options that earlier versions did not have, with the value that they played by, which
            is not the default now: a spec that does not name them is of those versions.
        package: the package whose modules `text` and `draw` hold the words and pictures.
        agents: names of the N agents, in axis order.
        observation_space, action_space: Gymnasium spaces of ONE agent.
        observation_layout: the named pieces of an observation (`core/layout.py`), None if unnamed.
        terms: names of the reward terms; `reward_weights` maps each to its weight.
        max_steps: steps after which an episode is truncated.
        noop: the action that replaces an illegal one (`on_illegal="noop"`).
        batched: whether the pure functions (but `reset`) accept a trailing batch axis themselves.
        exact: whether a step gives the same bits however it is compiled. True for integer states;
            with floating-point physics a compiler may fuse a product and a sum, so that a batch
            and a single step differ in the last bits. The same compiled step gives the same bits
            everywhere: in `play`, PettingZoo and Gymnasium.
        deterministic_reset: whether `reset` gives the same state for every key.
        reset_pool: number of initial states that a rollout draws beforehand and starts episodes
            from, where a reset costs more than a step; 0 where resetting is cheap.
        default_policy: the seat that is used when no policy is given.
        scripted_policy: the seat named "bot"; empty if there is no scripted player.
        pace: default steps per second of videos and windows.
        reset_options: names of the `reset(options=...)` that `reset_to` reads.
        chat: the channel for free words (`core/talk.py`), None where there is none.
        phrases: the phrasebook of a chat channel around the environment; empty for the default.
        detail: how much `describe` tells: one of `DETAILS`.
        event_names: names of the numbers of `event_codes`.
        event_kinds: each "event" that `last_events` may tell; empty where that is not said.
        keys: keyboard key -> choice, for a person at the window; empty for automatic keys.
        cameras: names that `draw` takes as `camera`, the default first; empty for one view.
        sides: the agents of both sides in a game between two teams; None elsewhere.
        num_deals: how many deals a match of cards plays before it repeats them; 0 elsewhere.
    """

    id: ClassVar[str]
    version: ClassVar[int] = 0
    added: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    package: ClassVar[str] = ""
    agents: tuple[str, ...]
    observation_space: gymnasium.Space
    action_space: gymnasium.Space
    observation_layout: Any = None
    terms: tuple[str, ...]
    reward_weights: dict[str, float]
    max_steps: int
    noop: Action = 0
    batched: bool = False
    exact: bool = True
    deterministic_reset: bool = False
    reset_pool: int = 0
    default_policy: str = "random"
    scripted_policy: str = ""
    pace: float = 6.0
    reset_options: tuple[str, ...] = ()
    chat: Any = None
    phrases: tuple[str, ...] = ()
    detail: str = "normal"
    event_names: tuple[str, ...] = ()
    event_kinds: tuple[str, ...] = ()
    keys: Mapping[str, str] = MappingProxyType({})
    cameras: tuple[str, ...] = ()
    sides: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    num_deals: int = 0

    # ---- pure and traceable -------------------------------------------------------------------

    def reset(self, key: Array) -> State:
        """Initial state of the episode with this `key` (a scalar typed PRNG key)."""
        raise NotImplementedError

    def step(self, key: Array, state: State, actions: Array) -> tuple[State, Outcome]:
        """One step; `actions` is [N, *action_space.shape]. An illegal action is a no-op, counted
        in `metrics["illegal"]`."""
        raise NotImplementedError

    def observe(self, state: State) -> Array:
        """Vector observations, [N, *observation_space.shape]."""
        raise NotImplementedError

    def perceive(self, state: State) -> Array:
        """Input of scripted players and skills, [N, ...]: the facts of `observe` in a form that is
        easy to compute with, independent of the configured observation."""
        return self.observe(state)

    def network_input(self, row: Array) -> Array:
        """Network input, f32[K], from one agent's row of `perceive`. By default `squash`."""
        return squash(row)

    def legal(self, state: State) -> Array:
        """bool[N, A]: legal actions; the row of an agent that is not to move is all False."""
        raise NotImplementedError

    def acting(self, state: State) -> Array:
        """bool[N]: the agents that move now."""
        raise NotImplementedError

    def summary(self, state: State) -> Array:
        """The global state as one array, for centralised critics."""
        raise NotImplementedError

    # ---- on the host, one state at a time -----------------------------------------------------

    def reset_to(self, key: Array, options: Mapping[str, Any]) -> State:
        """`reset`, with the requested `options` (named in `reset_options`): a curriculum sets the
        next episode with `reset(options=...)` of the other APIs."""
        raise ConfigError(f"{self.id!r} has no options to reset to, given {options!r}")

    def elapsed(self, state: State) -> Array | None:
        """Steps played in the episode of a state, i32[]; traceable. By default its field `time`;
        None where states do not count them: a fork then numbers its steps from 0."""
        return state.time  # type: ignore[attr-defined]

    def rules(self, agent: str | int) -> str:
        """The rules as `agent` may know them, complete enough to play from."""
        return str(self._module("text").rules(self, self.index(agent)))

    def describe(
        self,
        state: State,
        agent: str | int,
        *,
        detail: str | None = None,
        talk: Sequence[Message] = (),
    ) -> str:
        """Text observation: deterministic, the same facts as `observe`, what happened in the last
        step included.

        Args:
            detail: how much it tells, one of `DETAILS`; by default `Env.detail`. "brief" may leave
                out facts that change nothing for most decisions; "full" repeats what the rules
                say or what can be worked out.
            talk: what the agent has heard and said in this episode, oldest first
                (`View.talk`): shown where the environment has a `chat` channel.
        """
        env = self if detail is None else self.with_detail(detail)
        return str(self._module("text").describe(env, state, self.index(agent)))

    def with_detail(self: E, detail: str) -> E:
        """The same environment, whose texts tell more or less: `detail` is one of `DETAILS`."""
        if detail not in DETAILS:
            raise ConfigError(f"detail is {names_of(DETAILS)}, given {detail!r}")
        if detail == self.detail:
            return self
        known = self.__dict__.setdefault("_details", {})
        if detail not in known:
            other = copy.copy(self)
            other.__dict__.pop("_spec_json", None)
            other.__dict__.pop("_details", None)
            other.detail = detail
            known[detail] = other
        found: E = known[detail]
        return found

    def choices(self, state: State, agent: str | int, limit: int | None = LIMIT) -> list[Choice]:
        """The legal actions in words, in action order; each one parses to its action.

        Args:
            limit: where there are more choices, those that differ only in numbers are told as one
                `Form` with ranges; None lists all of them.
        """
        return fold(self._module("text").choices(self, state, self.index(agent)), limit)

    def forfeit_terms(self, state: State, agents: Sequence[int]) -> dict[str, Array]:
        """The price of a forfeit: the reward terms, f[N] each, of the step in which these agents
        (by index) end the episode with illegal answers; terms that are left out are 0. It is the
        worst that a loss costs; nothing in cooperative games, where the rest of the episode is
        lost for all."""
        return {}

    def last_events(self, state: State, agent: str | int | None = None) -> list[dict[str, Any]]:
        """What happened in the last step, oldest first, JSON-ready: each event has an "event" (its
        kind), and the "agent" that it happened to or that caused it, where there is one.

        Args:
            agent: only what this agent may know; None: all that happened.
        """
        return []

    def concerns(self, state: State, agent: str | int) -> bool:
        """Whether something happened in the last step for which an agent that waits, or goes on
        with what it does, should be asked again. By default any event of `last_events` that is not
        its own."""
        own = self.agents[self.index(agent)]
        return any(event.get("agent") != own for event in self.last_events(state, agent))

    def questions(self, state: State, agent: str | int) -> list[Question]:
        """Questions on what is hidden, with the answer of an agent's knowledge and the true one."""
        return []

    def event_codes(self, state: State) -> Array:
        """What happened in the last step as each agent may know it, f32[N, K], named by
        `event_names`; traceable. `wrappers.recent.Recent` adds it to observations."""
        return jnp.zeros((self.num_agents, 0), jnp.float32)

    def parse(self, text: str, state: State, agent: str | int) -> Action:
        """The action that `text` names; raises `IllegalAction` with a reason to act on."""
        i, read = self.index(agent), self._module("text").parse
        choices = functools.partial(self.choices, state, i, None)
        return by_choice(text, choices, lambda said: read(self, said, state, i))

    def words(self, action: Action, state: State, agent: str | int) -> str | None:
        """A legal action in words, where choices are parts of an action; None: as in `choices`."""
        return None

    def spelling(self, state: State, agent: str | int) -> Spelling | None:
        """All answers that name a legal action, where `choices` are parts of one; None: those."""
        return None

    def compose(self, action: Action, say: str | None, state: State, agent: str | int) -> Action:
        """Combine an action and a free-text message, where there is a `chat` channel."""
        return action

    def said(self, state: State) -> dict[int, str]:
        """The phrases that agents said in the last step, by index, where the state knows."""
        return {}

    def draw(
        self, state: State, canvas: Any, agent: str | int | None = None, camera: str = ""
    ) -> None:
        """Paint the state on a pygame surface of any size, as `agent` sees it (None: all of it, by
        one of `cameras` where there are several)."""
        who = None if agent is None else self.index(agent)
        chosen = {"camera": camera} if camera else {}
        self._module("draw").draw(self, state, canvas, who, **chosen)

    def spots(self, state: State, size: tuple[int, int], agent: str | int) -> list[Spot]:
        """The areas of an agent's picture of this size that a click chooses; later ones on top."""
        return []

    def draw_doing(
        self,
        state: State,
        canvas: Any,
        doing: Sequence[str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        """`draw`, with each agent's activity in words, where it can be shown; maybe empty."""
        self.draw(state, canvas, agent, camera)

    def draw_speech(
        self,
        state: State,
        canvas: Any,
        texts: Mapping[int, str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> bool:
        """Add messages, by index of the speaker (`draw.bubbles`); False without that function."""
        bubbles = getattr(self._module("draw"), "bubbles", None) if self.package else None
        if bubbles is None:
            return False
        bubbles(self, state, canvas, texts, None if agent is None else self.index(agent), camera)
        return True

    def to_dict(self, state: State) -> dict[str, Any]:
        """The true state in plain names and numbers, JSON-ready: for people, tools and tests."""
        raise NotImplementedError

    def config(self) -> dict[str, Any]:
        """JSON-ready keyword arguments that rebuild this environment with `make(id, **config)`."""
        raise NotImplementedError

    def text_options(self) -> dict[str, Any]:
        """The part of `config` that changes texts alone: empty by default, so that records made
        before there was such an option name the same environment."""
        return {} if self.detail == "normal" else {"detail": self.detail}

    def shipped_levels(self) -> list[tuple[str, int, str]]:
        """(name, number of agents, map) of each level that comes with the environment."""
        return []

    def skill_set(self) -> Any:
        """The named skills of its agents (`wrappers.skills.SkillSet`), or None."""
        return None

    def deals(self) -> Iterator[tuple[Any, float]] | None:
        """(deal, probability) of every deal of `reset`, for solvers; None if not listed."""
        return None

    def with_deal(self, state: State, deal: Any) -> State:
        """The initial state with one of `deals`."""
        raise NotImplementedError(f"{type(self).__name__} lists no deals")

    def information_state(self, state: State, agent: str | int) -> str:
        """The name of the information set of `agent`, as solvers print it; empty if it has none."""
        return ""

    # ---- what follows from the above ----------------------------------------------------------

    @property
    def num_agents(self) -> int:
        return len(self.agents)

    def index(self, agent: str | int) -> int:
        """Axis index of an agent given by name or index."""
        if isinstance(agent, str):
            if agent in self.agents:
                return self.agents.index(agent)
        elif not isinstance(agent, bool):
            with contextlib.suppress(TypeError):  # no whole number
                number = operator.index(agent)
                if 0 <= number < len(self.agents):
                    return number
        raise ConfigError(f"no agent {agent!r} here; the agents are {', '.join(self.agents)}")

    def _module(self, name: str) -> Any:
        if not self.package:
            raise NotImplementedError(
                f"{type(self).__name__} needs a method of its own in place of the module {name!r}, "
                "or the attribute `package`"
            )
        return importlib.import_module(f"{self.package}.{name}")

    def spec(self) -> dict[str, Any]:
        """JSON-ready description that `from_spec` rebuilds an equal environment from."""
        version = {"version": self.version} if self.version else {}
        # As of earlier versions where the game is theirs: their records and snapshots name it so.
        config = {
            name: value
            for name, value in self.config().items()
            if name not in self.added or value != self.added[name]
        }
        return {"id": self.id, **version, "config": config}

    @property
    def unwrapped(self) -> Env[Any]:
        """The environment beneath all wrappers."""
        return self

    def __eq__(self, other: object) -> bool:
        # A subclass may have other rules under the same id, and equals share compiled functions.
        return type(self) is type(other) and self.spec_json() == other.spec_json()

    def __hash__(self) -> int:
        return hash(self.spec_json())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its configuration, without what is kept (compiled functions, readers)."""
        return functools.partial(type(self), **self.config()), ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Env[State]:
        """Itself, since it never changes: copies of what holds it share its compiled functions."""
        return self

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={shorten(v)}" for k, v in self.config().items())
        return f"{type(self).__name__}({arguments})"

    def spec_json(self) -> str:
        """`spec()` as canonical JSON: equal environments have equal strings."""
        cached = self.__dict__.get("_spec_json")
        if cached is None:
            cached = json.dumps(self.spec(), sort_keys=True, separators=(",", ":"))
            self.__dict__["_spec_json"] = cached
        return cached

    def outcome(
        self,
        terms: Mapping[str, Array],
        terminated: Array,
        truncated: Array,
        metrics: Mapping[str, Array],
    ) -> Outcome:
        """An `Outcome` whose reward is the weighted sum of `terms`."""
        reward = sum(jnp.float32(self.reward_weights[name]) * terms[name] for name in self.terms)
        ordered = {name: terms[name] for name in self.terms}
        return Outcome(reward, terminated, truncated, ordered, dict(metrics))

    def batch_reset(self, keys: Array) -> State:
        """States for a vector of keys, batch axis last."""
        return jax.vmap(self.reset, out_axes=-1)(keys)

    def batch_step(self, keys: Array, states: State, actions: Array) -> tuple[State, Outcome]:
        """`step` of a batch: `keys` is [B], `actions` is [N, ..., B]."""
        if self.batched:
            return self.step(keys, states, actions)
        return jax.vmap(self.step, in_axes=(0, -1, -1), out_axes=-1)(keys, states, actions)

    def batch_observe(self, states: State) -> Array:
        return self._mapped(self.observe)(states)

    def batch_perceive(self, states: State) -> Array:
        return self._mapped(self.perceive)(states)

    def batch_legal(self, states: State) -> Array:
        return self._mapped(self.legal)(states)

    def batch_acting(self, states: State) -> Array:
        return self._mapped(self.acting)(states)

    def batch_summary(self, states: State) -> Array:
        return self._mapped(self.summary)(states)

    def batch_event_codes(self, states: State) -> Array:
        return self._mapped(self.event_codes)(states)

    def _mapped(self, function: Any) -> Any:
        return function if self.batched else jax.vmap(function, in_axes=-1, out_axes=-1)


# ---- wrappers ------------------------------------------------------------------------------------


class Wrapper(Env[State]):
    """An environment that changes another one, `env`: every member is forwarded, and a subclass
    overrides what differs. A wrapper whose states hold more than those of `env` overrides `begin`
    and `inner`, which turn one into the other.

    Subclasses override `config` (their own arguments but `env`), and `lift` and `lower` where
    actions differ, so that players of `env` can take a seat here.

    Attributes:
        env: the wrapped environment.
        lifts: whether actions of `env` can be taken here, through `lift`.
    """

    lifts: ClassVar[bool] = True
    _FORWARDED = (
        "agents",
        "observation_space",
        "action_space",
        "observation_layout",
        "terms",
        "reward_weights",
        "max_steps",
        "noop",
        "batched",
        "exact",
        "deterministic_reset",
        "reset_pool",
        "default_policy",
        "scripted_policy",
        "pace",
        "reset_options",
        "chat",
        "phrases",
        "detail",
        "event_names",
        "event_kinds",
        "keys",
        "cameras",
        "sides",
        "num_deals",
    )

    def __init__(self, env: Env[Any]):
        self.env = env
        for name in self._FORWARDED:
            # Not where the subclass computes it.
            if not isinstance(inspect.getattr_static(type(self), name, None), property):
                setattr(self, name, getattr(env, name))

    # ---- for subclasses to override -----------------------------------------------------------

    def begin(self, inner: Any) -> State:
        """The initial state, from the initial state of `env`; traceable."""
        state: State = inner
        return state

    def inner(self, state: State) -> Any:
        """The state of `env` in a state of this environment; traceable."""
        return state

    def lift(self, action: Array) -> Array:
        """The action here that plays an action of `env`; traceable."""
        return action

    def lower(self, legal: Array) -> Array:
        """A row of `env.legal`, from a row of `legal` here; traceable."""
        return legal

    def config(self) -> dict[str, Any]:
        return {}

    # ---- forwarded members ---------------------------------------------------------------------

    @property
    def unwrapped(self) -> Env[Any]:
        return self.env.unwrapped

    def reset(self, key: Array) -> State:
        return self.begin(self.env.reset(key))

    def reset_to(self, key: Array, options: Mapping[str, Any]) -> State:
        return self.begin(self.env.reset_to(key, options))

    def step(self, key: Array, state: State, actions: Array) -> tuple[State, Outcome]:
        new, outcome = self.env.step(key, self.inner(state), actions)
        return new, outcome

    def observe(self, state: State) -> Array:
        return self.env.observe(self.inner(state))

    def perceive(self, state: State) -> Array:
        return self.env.perceive(self.inner(state))

    def network_input(self, row: Array) -> Array:
        return self.env.network_input(row)

    def legal(self, state: State) -> Array:
        return self.env.legal(self.inner(state))

    def acting(self, state: State) -> Array:
        return self.env.acting(self.inner(state))

    def summary(self, state: State) -> Array:
        return self.env.summary(self.inner(state))

    def elapsed(self, state: State) -> Array | None:
        return self.env.elapsed(self.inner(state))

    def rules(self, agent: str | int) -> str:
        return self.env.rules(agent)

    def describe(
        self,
        state: State,
        agent: str | int,
        *,
        detail: str | None = None,
        talk: Sequence[Message] = (),
    ) -> str:
        return describe_with(self.env, self.inner(state), agent, detail, talk)

    def choices(self, state: State, agent: str | int, limit: int | None = LIMIT) -> list[Choice]:
        return choices_of(self.env, self.inner(state), agent, limit)

    def forfeit_terms(self, state: State, agents: Sequence[int]) -> dict[str, Array]:
        return self.env.forfeit_terms(self.inner(state), agents)

    def last_events(self, state: State, agent: str | int | None = None) -> list[dict[str, Any]]:
        return self.env.last_events(self.inner(state), agent)

    def concerns(self, state: State, agent: str | int) -> bool:
        return self.env.concerns(self.inner(state), agent)

    def questions(self, state: State, agent: str | int) -> list[Question]:
        return self.env.questions(self.inner(state), agent)

    def event_codes(self, state: State) -> Array:
        return self.env.event_codes(self.inner(state))

    def parse(self, text: str, state: State, agent: str | int) -> Action:
        return self.env.parse(text, self.inner(state), agent)

    def words(self, action: Action, state: State, agent: str | int) -> str | None:
        return self.env.words(action, self.inner(state), agent)

    def spelling(self, state: State, agent: str | int) -> Spelling | None:
        same = self.action_space == self.env.action_space
        return self.env.spelling(self.inner(state), agent) if same else None

    def compose(self, action: Action, say: str | None, state: State, agent: str | int) -> Action:
        return self.env.compose(action, say, self.inner(state), agent)

    def said(self, state: State) -> dict[int, str]:
        return self.env.said(self.inner(state))

    def draw(
        self, state: State, canvas: Any, agent: str | int | None = None, camera: str = ""
    ) -> None:
        self.env.draw(self.inner(state), canvas, agent, camera)

    def spots(self, state: State, size: tuple[int, int], agent: str | int) -> list[Spot]:
        return self.env.spots(self.inner(state), size, agent)

    def draw_doing(
        self,
        state: State,
        canvas: Any,
        doing: Sequence[str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        self.env.draw_doing(self.inner(state), canvas, doing, agent, camera)

    def draw_speech(
        self,
        state: State,
        canvas: Any,
        texts: Mapping[int, str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> bool:
        return self.env.draw_speech(self.inner(state), canvas, texts, agent, camera)

    def to_dict(self, state: State) -> dict[str, Any]:
        return self.env.to_dict(self.inner(state))

    def shipped_levels(self) -> list[tuple[str, int, str]]:
        return self.env.shipped_levels()

    def skill_set(self) -> Any:
        return self.env.skill_set()

    def deals(self) -> Iterator[tuple[Any, float]] | None:
        return self.env.deals()

    def with_deal(self, state: State, deal: Any) -> State:
        return self.begin(self.env.with_deal(self.inner(state), deal))

    def information_state(self, state: State, agent: str | int) -> str:
        return self.env.information_state(self.inner(state), agent)

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "env": self.env.spec()}

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), env=self.env, **self.config()), ()

    def __repr__(self) -> str:
        own = "".join(f", {k}={shorten(v)}" for k, v in self.config().items())
        return f"{type(self).__name__}({self.env!r}{own})"


class Unwrapped(Generic[E]):
    """The result of `unwrap`.

    Attributes:
        env: the environment of the kind asked for.
        wrappers: the wrappers around it, from the inside out.
    """

    def __init__(self, env: E, wrappers: tuple[Wrapper[Any], ...]):
        self.env, self.wrappers = env, wrappers

    def lift(self, action: Array) -> Array:
        """The outermost environment's action that plays an action of `env`; traceable."""
        for wrapper in self.wrappers:
            action = wrapper.lift(action)
        return action

    def lower(self, legal: Array) -> Array:
        """A row of `env.legal`, from one of the outermost environment; traceable."""
        for wrapper in reversed(self.wrappers):
            legal = wrapper.lower(legal)
        return legal

    def inner(self, state: Any) -> Any:
        """The state of `env`, from one of the outermost environment; traceable."""
        for wrapper in reversed(self.wrappers):
            state = wrapper.inner(state)
        return state


def layers(env: Env[Any]) -> tuple[Env[Any], ...]:
    """An environment and those inside it, from the outside in, as far as actions can be lifted."""
    found = [env]
    while isinstance(found[-1], Wrapper) and found[-1].lifts:
        found.append(found[-1].env)
    return tuple(found)


def unwrap(env: Env[Any], kind: type[E], error: type[ManyhandsError] = ConfigError) -> Unwrapped[E]:
    """The outermost environment of a class in a stack of wrappers, and the way to it:
    `unwrap(env, Kitchen).lift(action)` takes an action of the kitchen in `env`.

    Raises:
        error: there is none, or actions cannot be lifted to `env`.
    """
    stack = layers(env)
    for depth, inner in enumerate(stack):
        if isinstance(inner, kind):
            return Unwrapped(inner, stack[:depth][::-1])  # type: ignore[arg-type]
    ids = [vars(known)["id"] for known in (kind, *kind.__subclasses__()) if "id" in vars(known)]
    raise error(
        f"expected {names_of(ids or [kind.__name__])}, itself or in wrappers that lift actions; "
        f"given {env!r}"
    )


# ---- keys ----------------------------------------------------------------------------------------


# Named wherever a key is made: another default of JAX (JAX_DEFAULT_PRNG_IMPL) changes nothing.
_PRNG = "threefry2x32"


def seed_key(seed: Any) -> Array:
    """The key of a 32-bit seed; traceable."""
    return jax.random.key(seed, impl=_PRNG)


def wrap_key(data: Array) -> Array:
    """The key whose data is u32[..., 2]; traceable."""
    return jax.random.wrap_key_data(data, impl=_PRNG)


def own_key(key: Array) -> Array:
    """A typed key of any of JAX's generators, converted to threefry2x32. Keys of the same seed are
    equal: the data of an "rbg" key is that of the threefry key, twice."""
    if jax.random.key_impl(key) == _PRNG:
        return key
    return wrap_key(jax.random.key_data(key)[..., :2])


def episode_key(seed: int) -> Array:
    """The key of the episode that an integer seed names."""
    return seed_key(np.uint32(seed & 0xFFFFFFFF))


def episode_key_data(seed: int) -> np.ndarray:
    """u32[2], the data of `episode_key(seed)`, without a call to JAX, which would take longer than
    a step of a small game."""
    return np.array([0, seed & 0xFFFFFFFF], np.uint32)


def episode_keys_data(seeds: np.ndarray) -> np.ndarray:
    """u32[K, 2], `episode_key_data` of K whole numbers from 0."""
    data = np.zeros((len(seeds), 2), np.uint32)
    data[:, 1] = seeds & 0xFFFFFFFF
    return data


def squash(values: Array) -> Array:
    """An array of anything as f32[K]: flattened; whole numbers become sign(x) log(1 + |x|) (Hafner
    et al. 2023), so that counts and codes of any size stay small for a network."""
    wide = values.reshape(-1).astype(jnp.float32)
    if jnp.issubdtype(values.dtype, jnp.floating) or values.dtype == bool:
        return wide
    return jnp.sign(wide) * jnp.log1p(jnp.abs(wide))


def agent_key(step_key: Array, agent: int) -> Array:
    """The key of one agent's policy at one step, from the key of that step."""
    return jax.random.fold_in(step_key, 1_000_000 + agent)


def describe_with(
    env: Env[Any],
    state: Any,
    agent: str | int,
    detail: str | None = None,
    talk: Sequence[Message] = (),
) -> str:
    """`Env.describe`, also of games whose own method knows no `detail` or `talk`."""
    options: dict[str, Any] = {"detail": detail, "talk": talk or None}
    kind: Any = type(env)
    known = _describes_with(kind)
    return env.describe(state, agent, **{k: v for k, v in options.items() if v and k in known})


@functools.lru_cache(maxsize=256)
def _describes_with(kind: Any) -> frozenset[str]:
    return frozenset(inspect.signature(kind.describe).parameters)


def names_of(values: Sequence[str]) -> str:
    """`a, b or c`, for error messages."""
    values = list(values)
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


def shorten(value: Any, limit: int = 80) -> str:
    """`repr(value)`, cut to a length that fits an error message."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


# ---- policies: pure functions for compiled loops -------------------------------------------------


@state_dataclass
class DeviceView:
    """The view of one agent inside compiled code (see `DevicePolicy`).

    Attributes:
        vector: the observation row, [*observation_space.shape].
        perception: the row of `Env.perceive`.
        legal: bool[A].
        acting: bool.
    """

    vector: Array
    perception: Array
    legal: Array
    acting: Array


class DevicePolicy(Protocol):
    """A policy as pure functions of one agent's view: it runs inside compiled rollouts, as a
    partner in `gym.make_vec`, and as a seat of `play`. Loops map it over episodes. One that sets
    `any_seat = True` may get `agent` as i32[]: its seats then share a program."""

    def init(self, env: Env, agent: int) -> Any:
        """The policy's memory at the start of an episode: a pytree of arrays, or ()."""

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        """(action, memory) for one step; `key` belongs to this agent and step. The action is
        ignored where `view.acting` is False."""


def fixed_seat(policy: Any, index: int) -> int | None:
    """The seat that a program for this device policy is made for; None for any of them."""
    return None if getattr(policy, "any_seat", False) else index


def is_device_policy(policy: Any) -> bool:
    """Whether `policy` has the methods of a `DevicePolicy`."""
    return hasattr(policy, "init") and hasattr(policy, "apply")
