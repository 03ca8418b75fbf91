"""The contract of an environment: `Env`, `Outcome`, the errors, and the table of environment ids.

An environment instance is frozen configuration. Everything that changes while it is played is in
its state, a frozen dataclass registered as a pytree (see `state_dataclass`).

**Axes.** Arrays carry the agent axis first: `N` agents, `A` discrete actions. A *batch* of states
is a state whose every leaf has one more axis, the *last* one: structure of arrays, so that the
innermost loop of compiled code runs over environments. `step`, `observe`, `perceive`, `legal`,
`acting` and `summary` of an environment with `batched = True` accept such states directly; those
of any other environment are mapped (`batch_step` and its siblings do the right thing for both).

**Keys.** The key of an episode is `episode_key(seed)`; `reset` gets it, and step `t` (from 0)
gets `fold_in(episode_key, t)`, in every loop and API. Keys are of threefry2x32, whatever JAX's
default is.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Generic, Protocol, TypeVar, dataclass_transform

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

Array = Any  # a jax.Array, or a NumPy array where a function runs on the host
Action = Any  # int for Discrete, a NumPy array for MultiDiscrete and Box
State = TypeVar("State")
T = TypeVar("T")


class ManyhandsError(Exception):
    """Base of every error that Manyhands raises on purpose."""


class ConfigError(ManyhandsError, ValueError):
    """A configuration that no environment can be built from."""


class LayoutError(ConfigError):
    """A level text that cannot be played; `row` and `column` count from 0, or are None."""

    def __init__(self, reason: str, row: int | None = None, column: int | None = None):
        where = ""
        if row is not None:
            where = f"row {row}" + (f", column {column}" if column is not None else "") + ": "
        super().__init__(where + reason)
        self.reason, self.row, self.column = reason, row, column


class IllegalAction(ManyhandsError, ValueError):
    """An action that the agent may not take now; `reason` is written for the one who chose it."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class EpisodeOver(ManyhandsError, RuntimeError):
    """A finished episode was stepped; reset first."""


class SnapshotError(ManyhandsError, ValueError):
    """Bytes that are not a snapshot of this environment."""


class RecordError(ManyhandsError, ValueError):
    """A record file that cannot be read, or that does not match what is asked of it."""


class TrainingError(ManyhandsError, RuntimeError):
    """A run of training that cannot begin, go on or be kept; `result` is what it made so far."""

    result: Any = None


class SeatError(ManyhandsError, RuntimeError):
    """A seat that cannot play: a missing extra, a failing endpoint, a wrong name."""


class RenderError(ManyhandsError, RuntimeError):
    """A picture that cannot be made on this machine."""


class PolicyError(ManyhandsError, ValueError):
    """A file that is no policy, or a policy of something else than what it is asked to play."""


@dataclass_transform(frozen_default=True)
def state_dataclass(cls: type[T]) -> type[T]:
    """A frozen dataclass, registered as a pytree of all its fields."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True)(cls))


@state_dataclass
class Outcome:
    """What one step did.

    Attributes:
        reward: f32[N], exactly `sum(weight * term)` over `Env.terms` in order.
        terminated: bool[N], the episode of this agent ended by the rules.
        truncated: bool[N], it ended by the clock.
        terms: named parts of the reward, f32[N] each, before weighting.
        metrics: scalars that people plot, one number each (never per agent).
    """

    reward: Array
    terminated: Array
    truncated: Array
    terms: dict[str, Array]
    metrics: dict[str, Array]


class Env(Generic[State]):
    """A multi-agent world. Subclasses set the attributes in `__init__`, then never change them.

    Attributes:
        id: the name it is registered under.
        agents: names of the N agents, in axis order.
        observation_space, action_space: Gymnasium spaces of ONE agent.
        terms: names of the reward terms; `reward_weights` maps each to its weight.
        max_steps: steps after which an episode is truncated.
        noop: the action an agent takes when a caller asks for none (`on_illegal="noop"`).
        batched: whether the pure functions (but `reset`) accept a trailing batch axis themselves.
        exact: whether a step gives the same bits however it is compiled. It does where states are
            whole numbers; in a physics of fractions a compiler may round a product and a sum once
            or twice, so that a batch and a single step differ in the last bits. One and the same
            compiled step gives the same bits everywhere: in `play`, PettingZoo and Gymnasium.
        deterministic_reset: whether `reset` gives one and the same state for every key.
        memoise: whether single steps may be remembered and looked up (`core/pack.py`): where the
            states are few, as in games small enough to solve, and `step` takes nothing from its
            key, or only what `luck` says.
        reset_pool: how many fresh states a rollout draws beforehand to start episodes from, where
            drawing one costs more than a step; 0 where resetting is cheap.
        usual_seat: the seat that plays where nobody says who does.
        pace: steps per second at which films and windows show it, unless told otherwise.
        reset_options: what `reset_to` reads of `reset(options=...)`, by name.
    """

    id: ClassVar[str]
    agents: tuple[str, ...]
    observation_space: gymnasium.Space
    action_space: gymnasium.Space
    terms: tuple[str, ...]
    reward_weights: dict[str, float]
    max_steps: int
    noop: Action = 0
    batched: bool = False
    exact: bool = True
    deterministic_reset: bool = False
    memoise: bool = False
    reset_pool: int = 0
    usual_seat: str = "random"
    pace: float = 6.0
    reset_options: tuple[str, ...] = ()

    # ---- pure and traceable -------------------------------------------------------------------

    def reset(self, key: Array) -> State:
        """First state of the episode that `key` (a scalar typed PRNG key) names."""
        raise NotImplementedError

    def step(self, key: Array, state: State, actions: Array) -> tuple[State, Outcome]:
        """One step; `actions` is [N, *action_space.shape]. An illegal action is a no-op, counted
        in `metrics["illegal"]`."""
        raise NotImplementedError

    def observe(self, state: State) -> Array:
        """Vector observations, [N, *observation_space.shape]."""
        raise NotImplementedError

    def perceive(self, state: State) -> Array:
        """What scripted players and skills read, [N, ...]: the facts of `observe` in the form
        that is easiest to compute with, whatever observation is configured."""
        return self.observe(state)

    def network_input(self, row: Array) -> Array:
        """What a network reads of one agent's row of `perceive`: f32[K]. By default `squash`."""
        return squash(row)

    def legal(self, state: State) -> Array:
        """bool[N, A]: legal actions; the row of an agent that is not to move is all False."""
        raise NotImplementedError

    def acting(self, state: State) -> Array:
        """bool[N]: who moves now."""
        raise NotImplementedError

    def summary(self, state: State) -> Array:
        """The global state as one array, for centralised critics."""
        raise NotImplementedError

    def luck(self, key: Array) -> Array | None:
        """u8[k]: all that `step` takes from its key; None where it takes nothing. For environments
        that `memoise`, with `lucky`."""
        return None

    # ---- on the host, one state at a time -----------------------------------------------------

    def reset_to(self, key: Array, options: Mapping[str, Any]) -> State:
        """`reset`, but for what `options` ask for, of `reset_options`: how a curriculum sets the
        next episode through `reset(options=...)` of the other APIs."""
        raise ConfigError(f"{self.id!r} has no options to reset to, given {options!r}")

    def lucky(self, before: State, after: State) -> bool:
        """Whether what followed upon `before` depended on luck."""
        return False

    def rules(self, agent: str | int) -> str:
        """The rule book that `agent` may read, complete enough to play from."""
        return str(self._module("text").rules(self, self.index(agent)))

    def describe(self, state: State, agent: str | int) -> str:
        """Text observation: deterministic, the same facts as `observe`."""
        return str(self._module("text").describe(self, state, self.index(agent)))

    def choices(self, state: State, agent: str | int) -> list[str]:
        """The legal actions in words, in action order; each one parses to its action."""
        return list(self._module("text").choices(self, state, self.index(agent)))

    def parse(self, text: str, state: State, agent: str | int) -> Action:
        """The action that `text` names; raises `IllegalAction` with a reason to act on."""
        return self._module("text").parse(self, text, state, self.index(agent))

    def draw(self, state: State, canvas: Any, agent: str | int | None = None) -> None:
        """Paint the state on a pygame surface of any size, as `agent` sees it (None: all of it)."""
        self._module("draw").draw(self, state, canvas, None if agent is None else self.index(agent))

    def to_dict(self, state: State) -> dict[str, Any]:
        """The true state in plain names and numbers, JSON-ready: for people, tools and tests."""
        raise NotImplementedError

    def config(self) -> dict[str, Any]:
        """JSON-ready keyword arguments that rebuild this environment with `make(id, **config)`."""
        raise NotImplementedError

    def shipped_levels(self) -> list[tuple[str, int, str]]:
        """(name, number of agents, map) of each level that comes with the environment."""
        return []

    # ---- what follows from the above ----------------------------------------------------------

    @property
    def num_agents(self) -> int:
        return len(self.agents)

    def index(self, agent: str | int) -> int:
        """Axis index of an agent given by name or index."""
        if isinstance(agent, str):
            if agent in self.agents:
                return self.agents.index(agent)
        elif 0 <= int(agent) < len(self.agents):
            return int(agent)
        raise ConfigError(f"no agent {agent!r} here; the agents are {', '.join(self.agents)}")

    def _module(self, name: str) -> Any:
        if not hasattr(self, "package"):
            raise NotImplementedError(
                f"{type(self).__name__} lacks a method of its own, or `package`"
            )
        return importlib.import_module(f"{self.package}.{name}")

    def spec(self) -> dict[str, Any]:
        """JSON-ready description that `from_spec` rebuilds an equal environment from."""
        return {"id": self.id, "config": self.config()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Env) and self.spec_json() == other.spec_json()

    def __hash__(self) -> int:
        return hash(self.spec_json())

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self.config().items())
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

    def _mapped(self, function: Any) -> Any:
        return function if self.batched else jax.vmap(function, in_axes=-1, out_axes=-1)


# Named wherever a key is made: another default of JAX (JAX_DEFAULT_PRNG_IMPL) changes nothing.
_PRNG = "threefry2x32"


def seed_key(seed: Any) -> Array:
    """The key of a 32-bit seed; traceable."""
    return jax.random.key(seed, impl=_PRNG)


def wrap_key(data: Array) -> Array:
    """The key whose data is u32[..., 2]; traceable."""
    return jax.random.wrap_key_data(data, impl=_PRNG)


def own_key(key: Array) -> Array:
    """A typed key that a caller made with any of JAX's generators, as one of threefry2x32. Made
    from one seed, they are one key: the data of an "rbg" key is that of the threefry key twice."""
    if jax.random.key_impl(key) == _PRNG:
        return key
    return wrap_key(jax.random.key_data(key)[..., :2])


def episode_key(seed: int) -> Array:
    """The key of the episode that an integer seed names."""
    return seed_key(np.uint32(seed & 0xFFFFFFFF))


def episode_key_data(seed: int) -> np.ndarray:
    """u32[2], the data of `episode_key(seed)`; without a call of JAX, which would take longer than
    a step of a small game."""
    return np.array([0, seed & 0xFFFFFFFF], np.uint32)


def episode_keys_data(seeds: np.ndarray) -> np.ndarray:
    """u32[K, 2], `episode_key_data` of K whole numbers from 0."""
    data = np.zeros((len(seeds), 2), np.uint32)
    data[:, 1] = seeds & 0xFFFFFFFF
    return data


def warn_of_x64() -> None:
    """Warn where JAX computes in 64 bits: states then have other bytes, so records, snapshots and
    fingerprints do not fit those of other processes."""
    if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        warnings.warn(
            "jax_enable_x64 is set: states, snapshots, records and fingerprints differ from those "
            "made without it. Unset JAX_ENABLE_X64, or call "
            "jax.config.update('jax_enable_x64', False) before an environment is played; for your "
            "own computations in 64 bits use `with jax.enable_x64(True):`",
            stacklevel=3,
        )


def check_weights(
    given: Mapping[str, float] | None, defaults: Mapping[str, float]
) -> dict[str, float]:
    """Reward weights: `defaults` overridden by `given`, whose names must be terms and whose
    values finite numbers."""
    if given is not None and not isinstance(given, Mapping):
        raise ConfigError(f"reward_weights maps reward terms to numbers, given {given!r}")
    weights = dict(defaults)
    for name, weight in (given or {}).items():
        if name not in weights:
            raise ConfigError(
                f"reward_weights names {name!r}, which is no reward term; "
                f"the terms are {', '.join(weights)}"
            )
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight):
            raise ConfigError(f"the weight of {name!r} is a finite number, given {weight!r}")
        weights[name] = float(weight)
    return weights


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


# ---- policies: pure functions for compiled loops -------------------------------------------------


@state_dataclass
class DeviceView:
    """What one agent may know, inside compiled code (see `DevicePolicy`).

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
    partner in `gym.make_vec`, and as a seat of `play`. Loops map it over episodes."""

    def init(self, env: Env, agent: int) -> Any:
        """What the policy remembers at the start of an episode: a pytree of arrays, or ()."""

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        """(action, memory) for one step; `key` is this agent's own at this step. Where
        `view.acting` is False the action is not used."""


def is_device_policy(policy: Any) -> bool:
    """Whether `policy` has the methods of a `DevicePolicy`."""
    return hasattr(policy, "init") and hasattr(policy, "apply")


# ---- the table of ids ----------------------------------------------------------------------------

_ENVS: dict[str, str] = {}
_WRAPPERS: dict[str, str] = {}


def register(id: str, entry_point: str, *, wrapper: bool = False) -> None:
    """Make `make(id)` build the class at `entry_point` ("package.module:Class"); a wrapper's class
    takes the environment that it wraps as `env=`."""
    (_WRAPPERS if wrapper else _ENVS)[id] = entry_point


def registered(*, wrappers: bool = False) -> tuple[str, ...]:
    """The ids of all environments, or of all wrappers, sorted."""
    return tuple(sorted(_WRAPPERS if wrappers else _ENVS))


def load(id: str) -> Any:
    """The class registered under `id`."""
    entry_point = _ENVS.get(id) or _WRAPPERS.get(id)
    if entry_point is None:
        raise ConfigError(f"no environment is called {id!r}; there are {', '.join(registered())}")
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)


def make(id: str, **config: Any) -> Env:
    """Build a registered environment: `make("kitchen", layout="coordination_ring")`."""
    return load(id)(**config)


def from_spec(spec: Mapping[str, Any]) -> Env:
    """The environment that `Env.spec()` described. Only registered ids are built."""
    if not isinstance(spec, Mapping) or not isinstance(spec.get("id"), str):
        raise ConfigError(f"an environment spec has an 'id' and a 'config'; given {spec!r}")
    config = dict(spec.get("config") or {})
    if "env" in spec:
        config["env"] = from_spec(spec["env"])
    try:
        return make(spec["id"], **config)
    except TypeError as error:
        raise ConfigError(f"{spec['id']!r} cannot be built from {config!r}: {error}") from error


def names_of(values: Sequence[str]) -> str:
    """`a, b or c`, for error messages."""
    values = list(values)
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


# ---- seats by name -------------------------------------------------------------------------------

_SEATS: dict[str, tuple[str, str]] = {}


def register_seat(name: str, entry_point: str, *, extra: str = "") -> None:
    """Make `seat(name, env, **options)` call `entry_point` ("package.module:factory") with the
    environment and the options; it gives a `Policy` (`core/play.py`) or
    a `DevicePolicy`. `extra` names the extra of this package that it cannot be loaded without."""
    _SEATS[name] = (entry_point, extra)


def registered_seats() -> tuple[str, ...]:
    return tuple(sorted(_SEATS))


def seat(name: str, env: Env, **options: Any) -> Any:
    """The player registered under `name`; `"name:key=value,key=value"` passes options too, whose
    values are numbers, true, false or words."""
    name, _, rest = name.partition(":")
    if name not in _SEATS:
        raise SeatError(f"no seat is called {name!r}; there are {', '.join(registered_seats())}")
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise SeatError(f"{pair!r} in the seat {name!r} is not of the form key=value")
        options[key.strip()] = _value(value.strip())
    entry_point, extra = _SEATS[name]
    module, _, factory = entry_point.partition(":")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not extra:
            raise
        raise SeatError(
            f'the seat {name!r} needs the package {error.name!r}: pip install "manyhands[{extra}]"'
        ) from error
    try:
        return getattr(loaded, factory)(env, **options)
    except TypeError as error:
        # The names alone: a value may be a key that is nobody's business.
        given = ", ".join(options) or "no options"
        raise SeatError(f"the seat {name!r} cannot be set up with {given}: {error}") from error


def _value(word: str) -> Any:
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
