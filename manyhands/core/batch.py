"""The batched episode loop: one step of many environments, and the policies that play them.

`play_step` makes one step, `restart` begins the next episode where one has ended, and
`play_episodes` plays one whole episode of each environment. Rollouts, vector environments, learners
and evaluation are built from these; they differ in the data that they keep. All functions are pure,
and the batch axis is the last axis of every array.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import (
    Array,
    ConfigError,
    DevicePolicy,
    DeviceView,
    Env,
    ManyhandsError,
    Outcome,
    agent_key,
    fixed_seat,
    is_device_policy,
    names_of,
    state_dataclass,
)
from manyhands.core.registry import seat

# ---- observations --------------------------------------------------------------------------------


@state_dataclass
class BatchView:
    """The observations of all agents of a batch, for a `BatchPolicy`; unread parts cost nothing.

    Attributes:
        vector: [N, *observation_space.shape, B].
        perception: [N, ..., B], the input of scripted players.
        legal: bool[N, A, B].
        acting: bool[N, B].
        first: bool[B], whether this is the first step of an episode, where memories reset.
        index: u32[B], the number of each environment in the whole rollout (see
            `BatchPolicy.separable`).
    """

    vector: Array
    perception: Array
    legal: Array
    acting: Array
    first: Array
    index: Array

    def row(self, agent: int) -> DeviceView:
        """The observations of one agent, [..., B]."""
        return DeviceView(
            self.vector[agent], self.perception[agent], self.legal[agent], self.acting[agent]
        )


def view_of(env: Env, states: Any, first: Any = None, index: Any = None) -> BatchView:
    """The observations of the agents in a batch of states."""
    return BatchView(
        vector=env.batch_observe(states),
        perception=env.batch_perceive(states),
        legal=env.batch_legal(states),
        acting=env.batch_acting(states),
        first=first,
        index=index,
    )


# ---- keys ----------------------------------------------------------------------------------------


def rollout_key(key: Array, env_index: Any, episode: Any) -> Array:
    """The key of one episode of a rollout."""
    return jax.random.fold_in(jax.random.fold_in(key, env_index), episode)


def rollout_keys(key: Array, index: Array, episode: Array) -> Array:
    """`rollout_key` of a batch: keys[B]."""
    return jax.vmap(rollout_key, (None, 0, 0))(key, index, episode)


# ---- the loop ------------------------------------------------------------------------------------

# f(memory, step keys[B], view) -> (actions [N, *action_space.shape, B], memory)
Player = Callable[[Any, Array, BatchView], tuple[Array, Any]]


@state_dataclass
class Transition:
    """One step of a batch.

    Attributes:
        time: i32[] or i32[B], the number of the step in its episode, from 0.
        view: the observations before it; None if the actions were given.
        actions: [N, *action_space.shape, B].
        state: batch of states after the step.
        memory: of the player, after the step.
        outcome: `Outcome`, [..., B].
        over: bool[B], whether the episode ended for all agents in this step.
    """

    time: Array
    view: BatchView | None
    actions: Array
    state: Any
    memory: Any
    outcome: Outcome
    over: Array


def play_step(
    env: Env,
    player: Player | Array,
    states: Any,
    memory: Any,
    keys: Array,
    time: Array,
    *,
    index: Array | None = None,
    done: Array | None = None,
) -> Transition:
    """One step of every environment.

    Args:
        player: chooses the actions of all seats; or the actions themselves.
        keys: [B], of the episodes; the key of a step is folded from it and `time`.
        time: i32[B], or one for all, i32[].
        index: u32[B], see `BatchView`; by default the position in this batch.
        done: bool[N, B], agents whose episode ended before that of others: they play no-ops.
    """
    count = keys.shape[0]
    step_keys = jax.vmap(jax.random.fold_in, (0, 0 if jnp.ndim(time) else None))(keys, time)
    if callable(player):
        index = jnp.arange(count, dtype=jnp.uint32) if index is None else index
        view = view_of(env, states, jnp.broadcast_to(time == 0, (count,)), index)
        if done is not None:
            view = dataclasses.replace(view, acting=view.acting & ~done)
        actions, memory = player(memory, step_keys, view)
        if done is not None:
            noop = jnp.asarray(env.noop, actions.dtype)[..., None]
            asked = view.acting.reshape(env.num_agents, *[1] * (actions.ndim - 2), count)
            actions = jnp.where(asked, actions, noop)
    else:
        view, actions = None, player
    states, outcome = env.batch_step(step_keys, states, actions)
    over = jnp.all(outcome.terminated | outcome.truncated, axis=0)
    return Transition(time, view, actions, states, memory, outcome, over)


def restart(
    env: Env,
    fresh: Any,
    over: Array,
    states: Any,
    time: Array,
    key: Array,
    index: Array,
    episode: Array,
) -> tuple[Any, Array, Array]:
    """(states, time, episode) with the next episode begun where `over`, bool[B].

    Args:
        fresh: from `fresh_states`.
        key, index: as `rollout_keys` takes them.
        time, episode: i32[B] and u32[B], steps played in the episode that is over, and its number.
    """
    episode = episode + over
    keys = rollout_keys(key, index, episode)
    states = auto_reset(env, fresh, over, states, keys, pool_draw(index, episode))
    return states, jnp.where(over, 0, time), episode


def play_episodes(
    env: Env,
    player: Player,
    memory: Any,
    keys: Array,
    totals: Any,
    add: Callable[[Any, Transition, Array], Any],
) -> Any:
    """One whole episode of every environment, in one loop: the `totals` after every `add`.

    Args:
        memory: of the player, at the start.
        keys: [B], of the episodes; the initial states are `env.reset` of them.
        totals: a pytree of arrays.
        add: f(totals, transition, playing) -> totals; `playing`, bool[B], is False for environments
            whose episode ended in an earlier step.
    """

    def step(at: Any) -> Any:
        time, states, memory, done, totals = at
        made = play_step(env, player, states, memory, keys, time, done=done)
        totals = add(totals, made, ~jnp.all(done, axis=0))
        done = done | made.outcome.terminated | made.outcome.truncated
        return time + 1, made.state, made.memory, done, totals

    done = jnp.zeros((env.num_agents, keys.shape[0]), bool)
    start = (jnp.int32(0), env.batch_reset(keys), memory, done, totals)
    return jax.lax.while_loop(lambda at: ~jnp.all(at[3]), step, start)[-1]


# ---- automatic resets ----------------------------------------------------------------------------


def fresh_states(env: Env, key: Array, pool: int) -> Any:
    """The initial states for `auto_reset`: one state, a pool of `pool`, or None (compute each
    reset)."""
    if env.deterministic_reset:
        return env.batch_reset(jax.random.split(key, 1))
    return env.batch_reset(jax.random.split(key, pool)) if pool else None


def pool_draw(index: Array, episode: Array) -> Array:
    """u32[B], the state of a pool that an episode starts from. The factor is odd, so that
    environments whose episodes end together draw different states."""
    return index + episode * np.uint32(0x9E3779B1)


def auto_reset(env: Env, fresh: Any, over: Array, states: Any, keys: Array, draw: Array) -> Any:
    """The batch `states` with an initial state where `over`.

    Args:
        fresh: from `fresh_states`.
        over: bool[B].
        keys: [B], the key of each environment's next episode.
        draw: u32[B], picks from a pool.
    """
    if fresh is None:
        first = env.batch_reset(keys)
    else:
        size = jax.tree_util.tree_leaves(fresh)[0].shape[-1]
        first = fresh
        if size > 1:
            first = jax.tree_util.tree_map(lambda leaf: leaf[..., draw % size], fresh)
    return jax.tree_util.tree_map(lambda new, old: jnp.where(over, new, old), first, states)


# ---- policies ------------------------------------------------------------------------------------


class BatchPolicy:
    """A policy that plays all seats of all environments in one call; subclass and override.

    Attributes:
        separable: whether it treats each environment independently, so that playing a batch in
            parts changes nothing: no mean over the batch, and randomness from keys like
            `jax.vmap(jax.random.fold_in, (None, 0))(key, view.index)`. Large batches of such
            policies run in chunks that fit the cache.
    """

    separable: bool = False

    def init(self, env: Env, num_envs: int) -> Any:
        """The memory before the first step: a pytree of arrays, batch axis last."""
        return ()

    def apply(
        self, env: Env, params: Any, memory: Any, key: Array, view: BatchView
    ) -> tuple[Array, Any]:
        """(actions [N, *action_space.shape, B], memory); `key` belongs to this step."""
        raise NotImplementedError


class RandomActions(BatchPolicy):
    """Uniform among the legal actions, for all seats and environments in one draw."""

    separable = True

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def apply(
        self, env: Env, params: Any, memory: Any, key: Array, view: BatchView
    ) -> tuple[Array, Any]:
        space = env.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise ConfigError(
                f'rollout(policy="random") draws from Discrete actions, not {space}; '
                'give the seats by name instead: ["random"] * env.num_agents'
            )
        # A key folded with the number of an environment is 64 random bits, of which each agent
        # gets 16, scaled to the number of legal actions: even to one part in 65,536 / A.
        fold_in = jax.vmap(jax.random.fold_in, (None, 0))
        halves: list[Array] = []
        while len(halves) < env.num_agents:
            words = jax.random.key_data(fold_in(jax.random.fold_in(key, len(halves)), view.index))
            halves += [half for i in (0, 1) for half in (words[:, i] >> 16, words[:, i] & 0xFFFF)]
        bits = jnp.stack(halves[: env.num_agents])
        # A running sum by a loop over the actions: `cumsum` takes 20 times as long. As a value of
        # its own, legality is not worked out again in every pass.
        legal = jnp.moveaxis(jax.lax.optimization_barrier(view.legal), 1, 0)
        dtype = jnp.uint8 if len(legal) < 256 else jnp.uint32
        count = jnp.sum(legal, axis=0, dtype=jnp.uint32)
        chosen = ((bits * count) >> 16).astype(dtype)

        def pass_by(at: tuple[Array, Array], fits: Array) -> tuple[tuple[Array, Array], None]:
            rank = at[0] + fits.astype(dtype)
            return (rank, at[1] + (rank <= chosen).astype(dtype)), None

        start = (jnp.zeros_like(chosen), jnp.zeros_like(chosen))
        (_, action), _ = jax.lax.scan(pass_by, start, legal, unroll=8)
        return action.astype(jnp.int32), memory


@dataclasses.dataclass(frozen=True)
class FunctionPolicy(BatchPolicy):
    """A plain function as a `BatchPolicy`."""

    function: Callable[..., Array]
    takes_params: bool

    def apply(
        self, env: Env, params: Any, memory: Any, key: Array, view: BatchView
    ) -> tuple[Array, Any]:
        arguments = (params, key, view) if self.takes_params else (key, view)
        return self.function(*arguments), memory


@dataclasses.dataclass(frozen=True)
class Seats:
    """One `DevicePolicy` per agent, mapped over the batch; each draws from its episode's key."""

    policies: tuple[DevicePolicy, ...]
    separable: ClassVar[bool] = True

    def init(self, env: Env, num_envs: int) -> Any:
        """Memories of all seats, batch axis last."""
        memory = tuple(policy.init(env, i) for i, policy in enumerate(self.policies))
        return jax.tree_util.tree_map(
            lambda leaf: jnp.broadcast_to(
                jnp.asarray(leaf)[..., None], (*jnp.shape(leaf), num_envs)
            ),
            memory,
        )

    def apply(self, env: Env, memory: Any, step_keys: Array, view: BatchView) -> tuple[Array, Any]:
        """Actions [N, ..., B] and memories, given the key of each environment's step, [B]."""
        start = self.init(env, step_keys.shape[0])
        memory = jax.tree_util.tree_map(
            lambda new, old: jnp.where(view.first, new, old), start, memory
        )
        groups: dict[Any, list[int]] = {}  # seats whose policy may play any of them play as one
        for i, policy in enumerate(self.policies):
            own = fixed_seat(policy, i)
            groups.setdefault(id(policy) if own is None else (id(policy), own), []).append(i)
        actions: list[Any] = [None] * len(self.policies)
        memories: list[Any] = [None] * len(self.policies)
        for seats in groups.values():
            policy, keys_of = self.policies[seats[0]], jax.vmap(agent_key, (0, None))
            if len(seats) < FEW:
                mapped = _mapped(policy, env)
                found = [mapped(i, memory[i], keys_of(step_keys, i), view.row(i)) for i in seats]
            else:
                found = _together(policy, env, seats, memory, step_keys, view)
            for i, (action, remembered) in zip(seats, found, strict=True):
                asked = functools.partial(jnp.where, view.acting[i])  # `play` skips the others
                actions[i] = action
                memories[i] = jax.tree_util.tree_map(asked, remembered, memory[i])
        return jnp.stack(actions), tuple(memories)


# From so many seats of one policy on they play as one program, which compiles sooner, and in which
# six drones take a fifth of the time. Fewer are as fast apart, or faster.
FEW = 5


def _mapped(policy: DevicePolicy, env: Env) -> Callable[..., Any]:
    """`policy.apply` of a batch: f(agent, memory, keys[B], rows)."""
    apply = functools.partial(policy.apply, env)
    return jax.vmap(apply, in_axes=(None, -1, 0, -1), out_axes=-1)


def _together(
    policy: DevicePolicy, env: Env, seats: list[int], memory: Any, step_keys: Array, view: BatchView
) -> list[tuple[Array, Any]]:
    """(action, memory) of each of these seats, which one program plays."""
    tree, numbers = jax.tree_util, np.array(seats, np.int32)
    keys = jnp.stack([jax.vmap(agent_key, (0, None))(step_keys, i) for i in seats])
    rows = tree.tree_map(lambda *parts: jnp.stack(parts), *(view.row(i) for i in seats))
    memories = tree.tree_map(lambda *parts: jnp.stack(parts), *(memory[i] for i in seats))
    found = jax.vmap(_mapped(policy, env))(numbers, memories, keys, rows)
    return [tree.tree_map(lambda leaf, k=k: leaf[k], found) for k in range(len(seats))]


def seats_of(env: Env, given: Any) -> Seats:
    """`Seats` from one policy or name for all, or a sequence or mapping with one for each."""
    if isinstance(given, Mapping):
        missing = [agent for agent in env.agents if agent not in given]
        if missing or len(given) != env.num_agents:
            raise ConfigError(
                f"seats are needed for {', '.join(env.agents)}; given {', '.join(map(str, given))}"
            )
        given = [given[agent] for agent in env.agents]
    elif isinstance(given, str) or not isinstance(given, Sequence):
        given = [given] * env.num_agents
    if len(given) != env.num_agents:
        raise ConfigError(f"{env.num_agents} seats are needed, {len(given)} given")
    made: dict[str, Any] = {}
    policies = []
    for wanted in given:
        policy = wanted
        if isinstance(policy, str):
            made.setdefault(policy, seat(policy, env))
            policy = made[policy]
        if not is_device_policy(policy):
            name = wanted.partition(":")[0] if isinstance(wanted, str) else wanted
            raise ConfigError(
                f"{name!r} cannot play inside a compiled rollout: it has no init and apply (see "
                f"DevicePolicy). Try {names_of(_device_seats(env))}; play() accepts any kind of "
                "policy"
            )
        policies.append(policy)
    return Seats(tuple(policies))


def _device_seats(env: Env) -> list[str]:
    """Names of usual seats that are device policies, for an error message."""
    found = []
    for name in dict.fromkeys(("random", env.default_policy, env.scripted_policy)):
        with contextlib.suppress(ManyhandsError):
            if name and is_device_policy(seat(name, env)):
                found.append(repr(name))
    return found


def batch_policy_of(env: Env, policy: Any, takes_params: bool = False) -> BatchPolicy | Seats:
    """The policy for all seats of a batch, from any argument that `rollout` accepts."""
    if isinstance(policy, (BatchPolicy, Seats)):
        return policy
    if isinstance(policy, str) and policy == "random":
        return RandomActions()
    if callable(policy) and not hasattr(policy, "apply"):
        return FunctionPolicy(policy, takes_params)
    return seats_of(env, policy)
