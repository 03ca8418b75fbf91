"""Batched rollouts on a device: one compiled loop, which never waits for the host.

The batch axis is the last axis of every array inside the loop, and of the resulting trajectories:
`[num_steps, N, ..., num_envs]`.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from manyhands.core.batch import (
    BatchPolicy,
    BatchView,
    RandomActions,
    Seats,
    batch_policy_of,
    fresh_states,
    play_step,
    restart,
    rollout_key,
    rollout_keys,
    seats_of,
    view_of,
)
from manyhands.core.config import one_of, whole
from manyhands.core.env import Array, ConfigError, Env, own_key, shorten, state_dataclass
from manyhands.core.pack import no_actions
from manyhands.core.processes import check_process
from manyhands.core.registry import configured

__all__ = [
    "BatchPolicy",
    "BatchView",
    "Carry",
    "RandomActions",
    "Rollout",
    "Statistics",
    "Trajectory",
    "bytes_per_env",
    "rollout",
    "rollout_key",
    "seats_of",
    "view_of",
]


@state_dataclass
class Trajectory:
    """All steps of a rollout; time first, batch last.

    Attributes:
        observation: [T, N, *observation_space.shape, B], before the action.
        legal: bool[T, N, A, B].
        acting: bool[T, N, B].
        action: [T, N, *action_space.shape, B].
        reward: f32[T, N, B].
        terminated, truncated: bool[T, N, B]; where an episode is over for all of its agents, the
            next step is the first one of a new episode.
        terms, metrics: as in `Outcome`, f32[T, N, B] and f32[T, B] each.
    """

    observation: Array
    legal: Array
    acting: Array
    action: Array
    reward: Array
    terminated: Array
    truncated: Array
    terms: dict[str, Array]
    metrics: dict[str, Array]


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Sums and means over a rollout, on the host.

    Attributes:
        env_steps: environment steps made, all environments together.
        episodes: episodes finished.
        returns: f64[N], mean return of a finished episode, by agent; NaN if none finished.
        returns_std: f64[N], its standard deviation over episodes.
        length: mean number of steps of a finished episode.
        reward: f64[N], reward of all steps, finished episodes or not.
        terms: the same by term, before weighting, f64[N] each.
        metrics: sums over all steps.
    """

    env_steps: int
    episodes: int
    returns: np.ndarray
    returns_std: np.ndarray
    length: float
    reward: np.ndarray
    terms: dict[str, np.ndarray]
    metrics: dict[str, float]


@state_dataclass
class Carry:
    """The state of a rollout, to continue from (`rollout(..., carry=...)`).

    Attributes:
        state: batch of states.
        memory: of the policy.
        episode: u32[B], number of the current episode of each environment, from 0.
        time: i32[B], steps played in it.
        returns: f32[N, B], its rewards so far.
        step: i32[], steps since the first rollout.
    """

    state: Any
    memory: Any
    episode: Array
    time: Array
    returns: Array
    step: Array


@dataclasses.dataclass(frozen=True)
class Rollout:
    """The result of `rollout`; `trajectory` is None with `collect="statistics"`."""

    statistics: Statistics
    trajectory: Trajectory | None
    carry: Carry


def rollout(
    env: str | Env,
    policy: Any,
    num_envs: int,
    num_steps: int,
    key: Array,
    *,
    collect: str = "trajectory",
    params: Any = None,
    carry: Carry | None = None,
    pool: int | None = None,
    devices: Sequence[Any] | None = None,
    chunk: int | None = None,
) -> Rollout:
    """Play `num_envs` environments for `num_steps` steps each, in one compiled call.

    Environments reset automatically. Environment `i` plays episode `e` with the key
    `rollout_key(key, i, e)`, and seats draw from it as in `play`: any single episode of a rollout
    can be played again (except for its initial state, if that came from a `pool`).

    Args:
        env: an environment, or the id of one with its default configuration.
        policy: one of
            a name or a `DevicePolicy`, which takes every seat (`"random"` draws faster than the
            seat of that name, from the key of the step);
            a sequence or mapping (by agent) of those, one per seat;
            a `BatchPolicy`, which plays all seats in one call;
            a function `f(key, view) -> actions`, or `f(params, key, view)` where `params` is given,
            of a `BatchView`.
        key: typed PRNG key for all randomness, of any of JAX's generators.
        collect: `"trajectory"`, or `"statistics"`, which keeps no steps: a billion steps need no
            more memory than one.
        params: pytree passed to the policy; new values do not recompile.
        carry: continue from the end of an earlier rollout, with the same key.
        pool: number of initial states drawn before the loop, from which episodes start; 0 computes
            a reset at every step for each environment. By default the environment's `reset_pool`.
            Not used for environments with a deterministic reset.
        devices: devices to divide the environments over; by default all local ones, if each gets
            at least one environment (on a CPU 128). If their number does not divide `num_envs`, all
            environments run on one device, with a warning. After `jax.distributed.initialize()`
            all processes may make the same call with `devices=jax.devices()`: then the environments
            are divided over the devices of all of them, the statistics are of all environments, and
            arrays are global, of which each process holds its own part (`addressable_shards`).
        chunk: how many environments play all their steps before the next ones begin; a divisor of
            `num_envs`. By default (None) as many as fit the cache of a CPU, and on other devices
            all. Results are the same, bit for bit, for policies that treat each environment
            independently: names, device policies, `BatchPolicy.separable` ones (a network's matrix
            products may round differently for another batch size). Other policies are divided only
            if `chunk` is given; then their batch is a chunk, and the key of the step is folded with
            the chunk's number.

    Raises:
        ConfigError: sizes or names that make no sense.
    """
    check_process()
    env = configured(env, {}, rollout)
    dtype = getattr(key, "dtype", None)
    if dtype is None or not jnp.issubdtype(dtype, jax.dtypes.prng_key) or key.shape:
        raise ConfigError(f"key is one typed key, jax.random.key(seed); given {shorten(key)}")
    num_envs, num_steps = whole("num_envs", num_envs, 1), whole("num_steps", num_steps, 1)
    one_of("collect", collect, ("trajectory", "statistics"))
    key, pool = own_key(key), env.reset_pool if pool is None else pool
    spread = _devices(devices, num_envs)
    player = batch_policy_of(env, policy, params is not None)
    chunk = _chunk(env, player, num_envs, spread, chunk)
    program = _compile(env, player, num_envs, num_steps, collect, pool, spread, chunk)
    if carry is None:
        carry = program.begin(key)
    carry, sums, trajectory = program.run(key, params, carry)
    return Rollout(_statistics(_fetched(sums), num_envs * num_steps), trajectory, carry)


# ---- the loop ------------------------------------------------------------------------------------

# On a CPU, the data of one chunk's step should fit the cache of a core, yet be enough work for each
# compiled loop (docs/performance.md).
CACHE = 2**18  # bytes
SMALLEST_CHUNK = 256  # environments


@dataclasses.dataclass(frozen=True)
class _Program:
    begin: Callable[[Array], Carry]
    run: Callable[..., tuple[Carry, dict[str, Any], Trajectory | None]]


@functools.lru_cache(maxsize=128)
def _compile(
    env: Env,
    player: BatchPolicy | Seats,
    num_envs: int,
    num_steps: int,
    collect: str,
    pool: int,
    devices: tuple[Any, ...],
    chunk: int,
) -> _Program:
    chunks = num_envs // chunk

    def spread(tree: Any) -> Any:
        """Keep the batch axis divided over the devices."""
        if len(devices) < 2:
            return tree
        mesh = Mesh(np.asarray(devices), ("envs",))

        def place(leaf: Array) -> Array:
            if leaf.ndim == 0:
                return leaf
            where = PartitionSpec(*[None] * (leaf.ndim - 1), "envs")
            return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, where))

        return jax.tree_util.tree_map(place, tree)

    def divide(tree: Any) -> Any:
        """Batches [..., B] as [..., devices, chunks, rest]: each chunk has a share of a device."""
        shape = (len(devices), chunks, chunk // len(devices))
        return jax.tree_util.tree_map(lambda leaf: leaf.reshape(*leaf.shape[:-1], *shape), tree)

    def unite(tree: Any) -> Any:
        """What was divided, as batches."""
        return jax.tree_util.tree_map(lambda leaf: leaf.reshape(*leaf.shape[:-3], num_envs), tree)

    def take(tree: Any, number: Array) -> Any:
        """One chunk of what was divided, as a batch."""

        def one(leaf: Array) -> Array:
            part = jax.lax.dynamic_index_in_dim(leaf, number, -2, keepdims=False)
            return part.reshape(*leaf.shape[:-3], chunk)

        return jax.tree_util.tree_map(one, tree)

    def put(tree: Any, part: Any, number: Array, *time: Array) -> Any:
        """What was divided with one chunk (at one step) replaced: the compiler writes in place."""

        def one(leaf: Array, new: Array) -> Array:
            shape = (*leaf.shape[len(time) : -2], 1, leaf.shape[-1])
            new = new.reshape(*(1 for _ in time), *shape)
            between = (0,) * (leaf.ndim - len(time) - 2)
            return jax.lax.dynamic_update_slice(leaf, new, (*time, *between, number, 0))

        return jax.tree_util.tree_map(one, tree, part)

    def begin(key: Array) -> Carry:
        episode = jnp.zeros(num_envs, jnp.uint32)
        indices = jnp.arange(num_envs, dtype=jnp.uint32)
        return spread(
            Carry(
                state=env.batch_reset(rollout_keys(key, indices, episode)),
                memory=player.init(env, num_envs),
                episode=episode,
                time=jnp.zeros(num_envs, jnp.int32),
                returns=jnp.zeros((env.num_agents, num_envs), jnp.float32),
                step=jnp.int32(0),
            )
        )

    @functools.partial(jax.jit, inline=True)  # traced once: for the shapes, and again for the loop
    def step(
        key: Array, policy_key: Array, params: Any, fresh: Any, indices: Array, carry: Carry
    ) -> tuple[Carry, dict[str, Any], Trajectory]:
        """One step of the environments `indices`: the new carry, the summands of the statistics,
        and the row of the trajectory."""

        def choose(memory: Any, step_keys: Array, view: BatchView) -> tuple[Array, Any]:
            if isinstance(player, Seats):
                return player.apply(env, memory, step_keys, view)
            return player.apply(env, params, memory, policy_key, view)

        keys = rollout_keys(key, indices, carry.episode)
        made = play_step(env, choose, carry.state, carry.memory, keys, carry.time, index=indices)
        view, outcome, over = made.view, made.outcome, made.over
        assert view is not None
        returns = carry.returns + outcome.reward
        time = carry.time + 1
        done = over.astype(jnp.float32)
        gains = {
            "episodes": over.astype(jnp.int32),
            "returns": returns * done,
            "squares": returns * returns * done,
            "length": time * over,
            "reward": outcome.reward,
            "terms": outcome.terms,
            "metrics": {name: x.astype(jnp.float32) for name, x in outcome.metrics.items()},
        }
        kept = Trajectory(
            observation=view.vector,
            legal=view.legal,
            acting=view.acting,
            action=made.actions,
            reward=outcome.reward,
            terminated=outcome.terminated,
            truncated=outcome.truncated,
            terms=outcome.terms,
            metrics=outcome.metrics,
        )
        state, time, episode = restart(
            env, fresh, over, made.state, time, key, indices, carry.episode
        )
        carry = Carry(
            state=state,
            memory=made.memory,
            episode=episode,
            time=time,
            returns=jnp.where(over, 0.0, returns),
            step=carry.step + 1,
        )
        return carry, gains, kept

    def run(key: Array, params: Any, carry: Carry) -> Any:
        everyone = jnp.arange(num_envs, dtype=jnp.uint32)
        fresh = fresh_states(env, jax.random.fold_in(key, num_envs), pool)
        begun = carry.step
        carry = dataclasses.replace(carry, step=None)  # the same for all

        def chunk_of(number: Array) -> tuple[Carry, Array]:
            part, indices = take(divide((carry, everyone)), number)
            return spread(dataclasses.replace(part, step=begun)), indices

        part, indices = jax.eval_shape(chunk_of, jnp.int32(0))
        _, gains, kept = jax.eval_shape(step, key, key, params, fresh, indices, part)

        def zeros(leaf: Any, *time: int) -> Array:
            return jnp.zeros((*time, *leaf.shape[:-1], num_envs), leaf.dtype)

        sums = jax.tree_util.tree_map(zeros, gains)
        track = None
        if collect == "trajectory":
            track = jax.tree_util.tree_map(lambda leaf: zeros(leaf, num_steps), kept)

        def play(whole: Any, number: Array) -> tuple[Any, None]:
            """All steps of one chunk."""
            carry, sums, track = whole
            indices = take(divide(everyone), number)

            def once(at: Any, time: Array) -> tuple[Any, None]:
                part, totals, track = at
                policy_key = jax.random.fold_in(key, part.step)
                if chunks > 1 and not player.separable:
                    policy_key = jax.random.fold_in(policy_key, number)
                part, gains, kept = step(key, policy_key, params, fresh, indices, part)
                totals = jax.tree_util.tree_map(jnp.add, totals, gains)
                if track is not None:
                    track = put(track, kept, number, time)
                return (spread(part), totals, track), None

            part = spread(dataclasses.replace(take(carry, number), step=begun))
            (part, totals, track), _ = jax.lax.scan(
                once, (part, take(sums, number), track), jnp.arange(num_steps)
            )
            carry = put(carry, dataclasses.replace(part, step=None), number)
            return (carry, put(sums, totals, number), track), None

        whole = divide(spread((carry, sums, track)))
        whole, _ = jax.lax.scan(play, whole, jnp.arange(chunks))
        carry, sums, track = spread(unite(whole))
        return dataclasses.replace(carry, step=begun + num_steps), sums, track

    return _Program(jax.jit(begin), jax.jit(run))


def _chunk(
    env: Env,
    player: BatchPolicy | Seats,
    num_envs: int,
    devices: tuple[Any, ...],
    given: int | None,
) -> int:
    """How many environments play together."""
    if given is not None:
        if not isinstance(given, (int, np.integer)) or given < 1 or num_envs % given:
            raise ConfigError(f"chunk is a divisor of num_envs={num_envs}, given {given!r}")
        if given % len(devices):
            raise ConfigError(f"chunk={given} cannot be divided over {len(devices)} devices evenly")
        return int(given)
    if not player.separable or devices[0].platform != "cpu":
        return num_envs
    each = num_envs // len(devices)
    most = max(SMALLEST_CHUNK, CACHE // bytes_per_env(env))
    chunks = next(n for n in range(-(-each // most), each + 1) if each % n == 0)
    # Without suitable divisors one large chunk is faster than tiny ones.
    return num_envs // chunks if each // chunks >= SMALLEST_CHUNK // 2 else num_envs


@functools.lru_cache(maxsize=128)
def bytes_per_env(env: Env) -> int:
    """The bytes that one step of one environment moves, at least: its state twice, its observation
    and its outcome."""

    def step(key: Array) -> Any:
        state = env.batch_reset(key[None])
        actions = jnp.asarray(no_actions(env))[..., None]
        return state, env.batch_observe(state), env.batch_step(key[None], state, actions)

    leaves = jax.tree_util.tree_leaves(jax.eval_shape(step, jax.random.key(0)))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)


def _devices(given: Sequence[Any] | None, num_envs: int) -> tuple[Any, ...]:
    if given is not None:
        if not given or num_envs % len(given):
            raise ConfigError(
                f"num_envs={num_envs} cannot be divided over {len(given)} devices evenly"
            )
        return tuple(given)
    local = tuple(jax.local_devices())
    # With few environments, synchronising devices at every step costs more than it gains.
    least = SMALLEST_CHUNK // 2 if local[0].platform == "cpu" else 1
    if num_envs < least * len(local):
        return local[:1]
    if num_envs % len(local):
        warnings.warn(
            f"num_envs={num_envs} cannot be divided over {len(local)} devices evenly, so all of "
            f"them run on one; choose a multiple of {len(local)}, or name the devices (devices=)",
            stacklevel=3,
        )
        return local[:1]
    return local


def _fetched(sums: dict[str, Any]) -> dict[str, Any]:
    """As NumPy arrays, those too that are divided over several processes."""
    if all(leaf.is_fully_addressable for leaf in jax.tree_util.tree_leaves(sums)):
        return jax.device_get(sums)
    from jax.experimental import multihost_utils  # collective: every process gets here

    gathered: dict[str, Any] = multihost_utils.process_allgather(sums, tiled=True)
    return gathered


def _statistics(sums: dict[str, Any], env_steps: int) -> Statistics:
    """Sum over the batch, in double precision."""

    def total(values: Any) -> Any:
        return np.asarray(values, np.float64).sum(axis=-1)

    episodes = int(total(sums["episodes"]))
    count = episodes or np.nan
    mean = total(sums["returns"]) / count
    variance = np.maximum(total(sums["squares"]) / count - mean**2, 0.0)
    return Statistics(
        env_steps=env_steps,
        episodes=episodes,
        returns=mean,
        returns_std=np.sqrt(variance),
        length=float(total(sums["length"]) / count),
        reward=total(sums["reward"]),
        terms={name: total(values) for name, values in sums["terms"].items()},
        metrics={name: float(total(values)) for name, values in sums["metrics"].items()},
    )
