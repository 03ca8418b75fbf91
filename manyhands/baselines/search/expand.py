"""Steps of many forks in one compiled call.

States travel as bytes, one row of `u8[size]` for each fork, so that a call takes and gives few
arrays. Calls are made in blocks of one size, the last one filled up, so that one program serves any
number of forks, and rounding does not depend on it.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.batch import Seats, view_of
from manyhands.core.env import (
    Array,
    DeviceView,
    Env,
    SeatError,
    agent_key,
    episode_key,
    is_device_policy,
    shorten,
    wrap_key,
)
from manyhands.core.pack import Packing, state_packing
from manyhands.core.registry import seat

# f(env, states) -> f32[N, B], what the rest of the episode is worth to each agent; traceable.
Value = Callable[[Env, Any], Array]
# f(env, states) -> f32[N, A, B], weights of the actions, from 0; traceable.
Prior = Callable[[Env, Any], Array]


@dataclasses.dataclass(frozen=True)
class Playouts:
    """The value of a state by playing on: the mean return of `count` playouts.

    Attributes:
        seat: name of the device seat that plays all agents.
        count: playouts of each state, in one batch.
        horizon: steps after which a playout is broken off; what follows counts nothing.
        discount: of a step.
    """

    seat: str = "random"
    count: int = 1
    horizon: int = 100
    discount: float = 1.0


@dataclasses.dataclass(frozen=True)
class Expanded:
    """What a step of B forks gave; arrays on the host, one row a fork.

    Attributes:
        rows: u8[B, size], the states (and memories of partners) after it.
        reward: f32[B, N].
        terminated, truncated: bool[B, N].
        legal: bool[B, N, A]; acting: bool[B, N].
        value: f32[B, N], by the value function; 0 where the episode is over.
        prior: f32[B, N, A], or None.
    """

    rows: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    legal: np.ndarray
    acting: np.ndarray
    value: np.ndarray
    prior: np.ndarray | None

    @property
    def over(self) -> np.ndarray:
        """bool[B]: whether the episode is over for all agents."""
        return (self.terminated | self.truncated).all(axis=1)


class Expander:
    """Forks of one environment.

    Args:
        env: an environment with `Discrete` actions.
        partners: by agent index, device policies that play the agents that do not choose
            themselves.
        value, prior: functions of batches of states, or `Playouts` as the value; None: 0.
        block: forks in one compiled call.
    """

    def __init__(
        self,
        env: Env,
        partners: Mapping[int, Any] | None = None,
        value: Value | Playouts | None = None,
        prior: Prior | None = None,
        block: int = 16,
    ):
        check_discrete(env)
        check_hooks(env, value, prior)
        self.env, self.partners, self.prior = env, dict(partners or {}), prior
        self.block = block
        self.first = int(env.action_space.start)  # type: ignore[attr-defined]
        self.num_actions = int(env.action_space.n)  # type: ignore[attr-defined]
        self._states = state_packing(env).whole
        self._start = {
            i: jax.tree_util.tree_map(np.asarray, policy.init(env, i))
            for i, policy in self.partners.items()
        }
        self._memory = Packing(self._start)
        self._size = self._states.size
        # All bytes but those that tell of the last step alone.
        self._lasting = np.ones(self._size + self._memory.size, bool)
        leaves = zip(self._states.recent, self._states.offsets, self._states.leaves, strict=True)
        for recent, offset, (shape, dtype) in leaves:
            if recent:
                self._lasting[offset : offset + math.prod(shape) * dtype.itemsize] = False
        self._value = _playouts(env, value) if isinstance(value, Playouts) else value
        self._run = jax.jit(self._step)
        self._see = jax.jit(self._look)

    def row(self, state: Any) -> np.ndarray:
        """A state as a row of bytes, with fresh memories of partners.

        Raises:
            SnapshotError: it is no state of the environment, or a batch of them.
        """
        self._states.check(state, self.env)
        body = self._states.body(state) + self._memory.body(self._start)
        return np.frombuffer(body, np.uint8)

    def state(self, row: np.ndarray) -> Any:
        """The state in a row, as NumPy views."""
        return self._states.views(np.ascontiguousarray(row[: self._size]))

    def keys(self, rows: np.ndarray) -> list[bytes]:
        """What the future of each row depends on: equal for equal states."""
        lasting = np.ascontiguousarray(rows[:, self._lasting])
        return [row.tobytes() for row in lasting]

    def look(self, rows: np.ndarray, keys: np.ndarray) -> Expanded:
        """What is known of states before any step; `Playouts` are not made for them."""
        n, size = self.env.num_agents, len(rows)
        seen = self._in_blocks(self._see, rows, keys)
        none, ended = np.zeros((size, n), np.float32), np.zeros((size, n), bool)
        return Expanded(rows, none, ended, ended, *seen)

    def step(self, rows: np.ndarray, actions: np.ndarray, keys: np.ndarray) -> Expanded:
        """One step of every fork.

        Args:
            rows: u8[B, size].
            actions: i32[B, N], numbers from 0; those of partners are not read.
            keys: u32[B, 2], the chance of each step.
        """
        return Expanded(*self._in_blocks(self._run, rows, actions.astype(np.int32), keys))

    def _in_blocks(self, call: Any, *columns: np.ndarray) -> tuple[Any, ...]:
        """A compiled call in blocks; its results on the host."""
        size, parts = len(columns[0]), []
        for begin in range(0, size, self.block):
            index = np.arange(begin, begin + self.block)
            index = np.where(index < size, index, begin)  # filled up with copies
            found = jax.device_get(call(*(column[index] for column in columns)))
            count = min(size - begin, self.block)
            parts.append([None if part is None else np.asarray(part)[:count] for part in found])
        return tuple(
            None if column[0] is None else np.concatenate(column)
            for column in zip(*parts, strict=True)
        )

    # ---- compiled -----------------------------------------------------------------------------

    def _unpack(self, rows: Array) -> tuple[Any, dict[int, Any]]:
        states = jax.vmap(self._states.unpack, out_axes=-1)(rows[:, : self._size])
        if not self._memory.size:  # partners without a memory, or none
            return states, dict(self._start)
        return states, jax.vmap(self._memory.unpack, out_axes=-1)(rows[:, self._size :])

    def _look(self, rows: Array, keys: Array) -> Any:
        states, _ = self._unpack(rows)
        return self._seen(states, keys, jnp.zeros(rows.shape[0], bool), False)

    def _seen(self, states: Any, keys: Array, over: Array, play_on: bool = True) -> Any:
        env = self.env
        legal = jnp.moveaxis(env.batch_legal(states), -1, 0)
        acting = jnp.moveaxis(env.batch_acting(states), -1, 0)
        value = jnp.zeros(acting.shape, jnp.float32)
        playouts = isinstance(self._value, _Rollouts)
        if self._value is not None and (play_on or not playouts):
            if isinstance(self._value, _Rollouts):
                found = self._value(states, jax.vmap(_after)(keys), over)
            else:
                found = jnp.asarray(self._value(env, states), jnp.float32)
            value = jnp.where(over[:, None], 0.0, jnp.moveaxis(found, -1, 0))
        prior = None
        if self.prior is not None:
            prior = jnp.moveaxis(jnp.asarray(self.prior(env, states), jnp.float32), -1, 0)
        return legal, acting, value, prior

    def _step(self, rows: Array, actions: Array, key_data: Array) -> Any:
        env = self.env
        states, memories = self._unpack(rows)
        keys = wrap_key(key_data)
        moves = jnp.moveaxis(actions, 0, -1) + jnp.int32(self.first)
        if self.partners:
            vector, perception = env.batch_observe(states), env.batch_perceive(states)
            legal, acting = env.batch_legal(states), env.batch_acting(states)
            for i, policy in self.partners.items():
                own = jax.vmap(agent_key, (0, None))(keys, i)
                act = functools.partial(policy.apply, env, i)
                view = DeviceView(vector[i], perception[i], legal[i], acting[i])
                chosen, memory = jax.vmap(act, in_axes=(-1, 0, -1), out_axes=-1)(
                    memories[i], own, view
                )
                moves = moves.at[i].set(chosen.astype(jnp.int32))
                memories[i] = jax.tree_util.tree_map(
                    functools.partial(jnp.where, acting[i]), memory, memories[i]
                )
        acting = env.batch_acting(states)
        noop = jnp.asarray(env.noop, moves.dtype)
        moves = jnp.where(acting, moves, noop)
        dtype = jax.dtypes.canonicalize_dtype(env.action_space.dtype)
        states, outcome = env.batch_step(keys, states, moves.astype(dtype))
        over = jnp.all(outcome.terminated | outcome.truncated, axis=0)
        packed = jax.vmap(self._states.pack, in_axes=-1)(states)
        parts = [packed]
        if self._memory.size:
            parts.append(jax.vmap(self._memory.pack, in_axes=-1)(memories))
        batch = [
            jnp.moveaxis(part, -1, 0)
            for part in (outcome.reward, outcome.terminated, outcome.truncated)
        ]
        return (jnp.concatenate(parts, axis=1), *batch, *self._seen(states, key_data, over))


class _Rollouts:
    """`Playouts`, compiled into a step."""

    def __init__(self, env: Env, options: Playouts):
        self.env, self.options = env, options
        self.seats = None  # random players, by fewer draws than the seat's
        if options.seat != "random":
            policy = device_seat(env, options.seat)
            self.seats = Seats((policy,) * env.num_agents)

    def __call__(self, states: Any, key_data: Array, over: Array) -> Array:
        """f32[N, B]: the mean return after each state."""
        env, options = self.env, self.options
        count, size = options.count, key_data.shape[0]
        wide = jax.tree_util.tree_map(lambda leaf: jnp.repeat(leaf, count, axis=-1), states)
        data = jnp.repeat(key_data, count, axis=0)
        index = jnp.tile(jnp.arange(count, dtype=jnp.uint32), size)
        keys = jax.vmap(jax.random.fold_in)(wrap_key(data), index)
        done = jnp.broadcast_to(jnp.repeat(over, count), (env.num_agents, size * count))
        memory = () if self.seats is None else self.seats.init(env, size * count)
        total = jnp.zeros((env.num_agents, size * count), jnp.float32)

        def go_on(at: Any) -> Any:
            time, states, memory, done, total, weight = at
            first = jnp.broadcast_to(time == 0, index.shape)
            view = view_of(env, states, first, index)
            view = dataclasses.replace(view, acting=view.acting & ~done)
            step_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, time)
            if self.seats is not None:
                actions, memory = self.seats.apply(env, memory, step_keys, view)
            else:
                actions = _random(view.legal, step_keys)
                actions = actions + jnp.int32(env.action_space.start)  # type: ignore[attr-defined]
            noop = jnp.asarray(env.noop, actions.dtype)
            actions = jnp.where(view.acting, actions, noop)
            dtype = jax.dtypes.canonicalize_dtype(env.action_space.dtype)
            states, outcome = env.batch_step(step_keys, states, actions.astype(dtype))
            alive = ~jnp.all(done, axis=0)
            total = total + weight * jnp.where(alive, outcome.reward, 0.0)
            done = done | outcome.terminated | outcome.truncated
            return time + 1, states, memory, done, total, weight * options.discount

        start = (jnp.int32(0), wide, memory, done, total, jnp.float32(1.0))
        end = jax.lax.while_loop(
            lambda at: (at[0] < options.horizon) & ~jnp.all(at[3]), go_on, start
        )
        return jnp.mean(end[4].reshape(env.num_agents, size, count), axis=2)


def _random(legal: Array, keys: Array) -> Array:
    """i32[N, B]: an even draw among the legal actions, bool[N, A, B], of 16 random bits an agent,
    from keys[B]."""
    parts: list[Array] = []
    while len(parts) < legal.shape[0]:
        own = jax.vmap(jax.random.fold_in, (0, None))(keys, 2_000_000 + len(parts))
        words = jax.random.key_data(own)
        parts += [half for i in (0, 1) for half in (words[:, i] >> 16, words[:, i] & 0xFFFF)]
    bits = jnp.stack(parts[: legal.shape[0]])
    count = jnp.sum(legal, axis=1, dtype=jnp.uint32)
    chosen = (bits * count) >> 16
    rank = jnp.cumsum(legal, axis=1, dtype=jnp.uint32)
    return jnp.sum(rank <= chosen[:, None], axis=1, dtype=jnp.int32)


def _playouts(env: Env, options: Playouts) -> _Rollouts:
    return _Rollouts(env, options)


def expander(
    env: Env,
    partners: Mapping[int, Any] | None = None,
    value: Value | Playouts | None = None,
    prior: Prior | None = None,
    block: int = 16,
) -> Expander:
    """An `Expander`; equal ones are shared, so that nothing compiles twice."""
    given = tuple((partners or {}).items())
    try:
        return _shared(env, given, value, prior, block)
    except TypeError:  # a partner that cannot be hashed
        return Expander(env, partners, value, prior, block)


@functools.lru_cache(maxsize=32)
def _shared(env: Env, partners: Any, value: Any, prior: Any, block: int) -> Expander:
    return Expander(env, dict(partners), value, prior, block)


def check_discrete(env: Env) -> None:
    """Raises a `SeatError` where actions are no `Discrete` ones."""
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        raise SeatError(
            f"search needs Discrete actions; {env!r} has {env.action_space}: wrap it in skills, or "
            "search without the channel"
        )


def check_hooks(env: Env, value: Any, prior: Any) -> None:
    """Trace functions of states, without running them, and check the shapes that they give.

    Raises:
        SeatError: another shape or no numbers, or a function failed.
    """
    n, actions = env.num_agents, int(env.action_space.n)  # type: ignore[attr-defined]
    size = n + actions + 1  # of the batch: unlike all other axes, so that an exchange is seen
    for name, hook, axes, shape in (
        ("value", value, "[N, B]", (n, size)),
        ("prior", prior, "[N, A, B]", (n, actions, size)),
    ):
        if hook is None or isinstance(hook, Playouts):
            continue
        states = jax.tree_util.tree_map(
            lambda leaf: jax.ShapeDtypeStruct((*leaf.shape, size), leaf.dtype),
            jax.eval_shape(env.reset, episode_key(0)),
        )
        try:
            given = jax.eval_shape(
                lambda states, hook=hook: jnp.asarray(hook(env, states), jnp.float32), states
            ).shape
        except Exception as error:
            raise SeatError(
                f"{name}(env, states) failed on a batch of {size} states: "
                f"{type(error).__name__}: {error}"
            ) from error
        if given != shape:
            raise SeatError(
                f"{name}(env, states) gives f32{axes}: {shape} for {n} agents and a batch of "
                f"{size} states (the batch axis last), given {given}"
            )


def device_seat(env: Env, name: Any) -> Any:
    """A device policy by name, or as it is.

    Raises:
        SeatError: it is none, so it cannot play inside a compiled search.
    """
    policy = seat(name, env) if isinstance(name, str) else name
    if not is_device_policy(policy):
        raise SeatError(
            f"{shorten(name)} cannot play inside a search: it has no init and apply; name a device "
            "policy, such as random, greedy or policy:file=..."
        )
    return policy


def _after(data: Array) -> Array:
    """Another key, from the data of one."""
    return jax.random.key_data(jax.random.fold_in(wrap_key(data), 1))
