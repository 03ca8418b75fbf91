"""Many copies of one environment, stepped together by one compiled call.

`vector("kitchen", num_envs=1024)` is for learners that keep their own loop, in NumPy, JAX or
PyTorch; a whole loop in JAX is faster still (`manyhands.rollout`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from manyhands.core.batch import BatchView, Seats, auto_reset, fresh_states, play_step
from manyhands.core.config import check_reset_options, one_of, whole
from manyhands.core.env import (
    Array,
    ConfigError,
    DeviceView,
    Env,
    EpisodeOver,
    SeatError,
    names_of,
    seed_key,
    state_dataclass,
)
from manyhands.core.episode import member_seed
from manyhands.core.pack import no_actions
from manyhands.core.processes import check_process
from manyhands.core.registry import configured

ARRAYS = ("numpy", "jax", "torch")


def vector(
    game: str | Env,
    num_envs: int,
    *,
    arrays: str = "numpy",
    seed: int | None = None,
    autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
    **config: Any,
) -> Vector:
    """`num_envs` copies of an environment, given by id (with its configuration) or as it is.

    Args:
        arrays: what comes out: `"numpy"`, `"jax"` or `"torch"` arrays. JAX arrays are handed over
            without waiting for the device; torch tensors share their memory (DLPack).
        seed: of the first `reset()`, where that is given none.
        autoreset_mode: as in Gymnasium; see `Vector`.
    """
    env = configured(game, config, vector)
    return Vector(env, num_envs, arrays=arrays, seed=seed, autoreset_mode=autoreset_mode)


class Vector:
    """A batch of environments with a multi-agent `reset` and `step`.

    Arrays are `[num_envs, num_agents, ...]`. NumPy ones are views (whose innermost axis in memory
    is `num_envs`) and read-only.

    Environment `i` of `reset(seed=s)` first plays the episode of the seed `s + i`, the same as
    through every other API; its episode `e` (from 1) has the key
    `fold_in(episode_key(s + i), 2**31 + e)`.

    When an episode ends for all agents (`autoreset_mode`): with `SAME_STEP` the observation is the
    first of the next episode, and `info["final_obs"]` holds the last one where
    `info["_final_obs"]`; with `NEXT_STEP` the next step ignores the actions and begins the next
    episode, with zero reward; with `DISABLED` the environment needs a
    `reset(options={"reset_mask": mask})`, and a further step raises `EpisodeOver` (with
    `arrays="jax"`, where checking would have to wait for the device, the state does not change, the
    reward is zero and the flags stay set).

    With `seat`, the caller controls only that agent, and arrays have no agent axis. `partners`
    control the other seats, within the compiled call; with `reset(options={"member": k})` they draw
    as in member `k` of a group (`play(group=)`). Where agents take turns, a step lasts until the
    seat is to move again (or its episode is over), and rewards, terms and metrics are summed; an
    episode that ends before the seat's first move is skipped.

    Attributes:
        game: the `Env`.
        num_envs, agents, num_agents: sizes and names.
        observation_space, action_space: of the whole batch; `single_...` of one agent.
    """

    def __init__(
        self,
        game: Env,
        num_envs: int,
        *,
        arrays: str = "numpy",
        seed: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        seat: int | None = None,
        partners: Seats | None = None,
    ):
        num_envs = whole("num_envs", num_envs, 1)
        one_of("arrays", arrays, ARRAYS)
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = names_of([repr(mode.value) for mode in AutoresetMode])
            raise ConfigError(f"autoreset_mode is {modes}, given {autoreset_mode!r}") from None
        self.game, self.num_envs, self.arrays = game, int(num_envs), arrays
        self.agents, self.num_agents = game.agents, game.num_agents
        self.single_observation_space = game.observation_space
        self.single_action_space = game.action_space
        each = (lambda space: space) if seat is not None else self._per_agent
        self.observation_space = batch_space(each(game.observation_space), self.num_envs)
        self.action_space = batch_space(each(game.action_space), self.num_envs)
        self._torch = _import_torch() if arrays == "torch" else None
        self._program = _compile(
            game, self.num_envs, self.autoreset_mode, seat, partners, arrays != "numpy"
        )
        self._seed, self._seat = seed, seat
        # On a CPU the arrays are host memory already; from elsewhere they are fetched together.
        on_host = jax.default_backend() == "cpu"
        self._fetch = (
            functools.partial(jax.tree_util.tree_map, np.asarray) if on_host else jax.device_get
        )
        self._np_random: np.random.Generator | None = None
        self._carry: _Carry | None = None
        self._over: np.ndarray | None = None
        shape = no_actions(game).shape[0 if seat is None else 1 :]
        continuous = np.issubdtype(no_actions(game).dtype, np.floating)
        self._action_shape, self._action_dtype = (self.num_envs, *shape), no_actions(game).dtype
        self._action_kinds = {"int", "uint"} | ({"float", "bfloat"} if continuous else set())
        self._accepted: set[Any] = set()  # dtypes that actions had
        self._has_partners = partners is not None

    def __reduce__(self) -> Any:
        raise TypeError(uncopied(self))

    def reset(
        self,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes: (observations, info).

        Args:
            seed: one for all (environment `i` gets `seed + i`) or one for each. Without one, the
                next of a random series, which the last seed given determines.
            options:
                `"reset_mask"`, bool[num_envs]: only these environments.
                `"member"`: a whole number from 0, or one for each environment: resets of one seed
                start from the same state, and partners draw differently in each member, as in
                `play(group=)`.
        """
        check_process()
        mask = self._mask(options)
        if seed is None and self._np_random is None:
            seed = self._seed
        seeds = self._seeds(seed)
        seats = self._seat_seeds(seeds, options)
        if mask is None:
            self._carry, out = self._program.reset(seeds, seats)
            self._over = None
        else:
            if seed is None and seats is None:
                self._carry, out = self._program.restart(self._carry, mask)
            else:
                self._carry, out = self._program.reseed(self._carry, mask, seeds, seats)
            if self._over is not None:
                self._over = self._over & ~mask
        return self._hand_over(out)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One step of every environment.

        Args:
            actions: [num_envs, num_agents, ...], of any kind of array.

        Returns:
            observations [num_envs, num_agents, ...], rewards f32[num_envs, num_agents], terminated
            and truncated bool[num_envs, num_agents], and the info: `"legal"`
            bool[num_envs, num_agents, A] and `"acting"` bool[num_envs, num_agents] of the new
            state, `"terms"` and `"metrics"` of the step by name, and `"final_obs"` (see the class).
        """
        check_process()
        if self._carry is None:
            raise EpisodeOver("no episode has begun; call reset() first")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over is not None:
            over = np.flatnonzero(self._over)
            if len(over):
                raise EpisodeOver(
                    f"the episodes of environments {', '.join(map(str, over[:8]))} are over; call "
                    'reset(options={"reset_mask": mask}) first'
                )
        self._carry, out = self._program.step(self._carry, self._read(actions))
        if self._seat is not None and self.arrays == "numpy":
            over = out[4].get("_final_obs")
            if over is not None and not np.asarray(over).any():
                for name in ("final_obs", "_final_obs", "final_info"):
                    del out[4][name]
        if self.autoreset_mode is AutoresetMode.DISABLED and self.arrays != "jax":
            self._over = np.asarray(self._carry.over)
        return self._hand_over(out)

    @property
    def states(self) -> Any:
        """The true states: a batch of them, batch axis last (see `core/env.py`)."""
        if self._carry is None:
            raise EpisodeOver("no episode has begun; call reset() first")
        return self._carry.state

    # ---- inside -------------------------------------------------------------------------------

    def _per_agent(self, space: Any) -> Any:
        return batch_space(space, self.num_agents)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> np.ndarray:
        """u32[num_envs]."""
        each: list[int | None] = [None] * self.num_envs
        several = isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, (str, bytes))
        if seed is not None and (not several or getattr(seed, "ndim", 1) == 0):
            first = whole("seed", seed, 0)
            self._np_random, _ = seeding.np_random(first)
            return ((first & 0xFFFFFFFF) + np.arange(self.num_envs)).astype(np.uint32)
        if seed is not None:
            given = list(seed)  # type: ignore[arg-type]
            if len(given) != self.num_envs:
                raise ConfigError(f"{self.num_envs} seeds are needed, one each; {len(given)} given")
            each = [None if s is None else whole(f"seed {i}", s, 0) for i, s in enumerate(given)]
        if each[0] is not None:
            self._np_random, _ = seeding.np_random(each[0])
        elif self._np_random is None:
            self._np_random, _ = seeding.np_random()
        seeds = self._np_random.integers(2**32, size=self.num_envs, dtype=np.uint32)
        for i, own in enumerate(each):
            if own is not None:
                seeds[i] = own & 0xFFFFFFFF
        return seeds

    def _mask(self, options: dict[str, Any] | None) -> np.ndarray | None:
        wishes = isinstance(options, Mapping) and [
            name for name in self.game.reset_options if name in options
        ]
        if wishes:
            raise ConfigError(
                f"a batch has no reset option {wishes[0]!r}: make the environment so that each "
                "episode draws its own, or reset single environments"
            )
        given = check_reset_options(options, ("reset_mask", "member"))
        if given.get("reset_mask") is None:
            return None
        mask = np.asarray(given["reset_mask"])
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ConfigError(
                f"reset_mask is bool[{self.num_envs}], given {mask.dtype}[{mask.shape}]"
            )
        if self._carry is None:
            raise EpisodeOver("no episode has begun; call reset() without a reset_mask first")
        return mask

    def _seat_seeds(self, seeds: np.ndarray, options: dict[str, Any] | None) -> np.ndarray | None:
        """u32[num_envs], of what partners draw; None where it is as in an episode of no group."""
        given = (options or {}).get("member")
        if given is None:
            return None
        if not self._has_partners:
            raise ConfigError(f"member={given!r} needs partners, and there are none here")
        members = [given] * self.num_envs if np.ndim(given) == 0 else list(given)
        if len(members) != self.num_envs:
            raise ConfigError(
                f"member is one whole number, or {self.num_envs} of them; {len(members)} given"
            )
        made = [
            member_seed(seed, whole("member", member, 0))
            for seed, member in zip(seeds.tolist(), members, strict=True)
        ]
        return np.array(made, np.uint32)

    def _read(self, actions: Any) -> Any:
        """Actions as one dtype, so that nothing compiles twice."""
        if not hasattr(actions, "dtype"):
            actions = np.asarray(actions)
        if tuple(actions.shape) != self._action_shape:
            raise ConfigError(
                f"actions have the shape {self._action_shape}, given {tuple(actions.shape)}"
            )
        if actions.dtype not in self._accepted:
            # "int64" of NumPy and JAX, "torch.int64" of PyTorch.
            kind = str(actions.dtype).rpartition(".")[2].rstrip("0123456789")
            if kind not in self._action_kinds:
                raise ConfigError(
                    f"actions of {self.game.action_space} are of a dtype like "
                    f"{self._action_dtype}, given {actions.dtype}"
                )
            self._accepted.add(actions.dtype)
        if self._torch is not None and isinstance(actions, self._torch.Tensor):
            # A copy: the device may still read it when the caller writes to its tensor again.
            kind = getattr(self._torch, self._action_dtype.name)
            actions = jnp.from_dlpack(actions.detach().to(kind, copy=True).contiguous())
        elif isinstance(actions, jax.Array):
            actions = actions.astype(self._action_dtype)
        else:
            actions = np.asarray(actions).astype(self._action_dtype)
        return actions

    def _hand_over(self, out: Any) -> Any:
        """The output of the compiled call, as the requested kind of arrays."""
        if self.arrays == "numpy":
            return jax.tree_util.tree_map(_batch_first, self._fetch(out))
        if self._torch is not None:
            return jax.tree_util.tree_map(self._torch.from_dlpack, jax.block_until_ready(out))
        return out


def uncopied(batch: Any) -> str:
    """Why a batch is neither pickled nor copied."""
    return (
        f"a {type(batch).__name__} is neither pickled nor copied: it holds compiled programs and "
        "the device's arrays. Build another one where it is needed, with the same arguments and "
        "reset(seed=...); single environments (gym.make, PettingZoo) can be copied in the middle "
        "of an episode"
    )


# ---- the compiled functions ----------------------------------------------------------------------


@state_dataclass
class _Carry:
    """The state of the batch.

    Attributes:
        state: batch of states.
        memory: of the partners.
        base: keys[B], of the first episodes.
        key: keys[B], of the current ones.
        seats: keys[B], used instead of `base` for partners; None if they are the same.
        episode: u32[B], their numbers, from 0.
        time: i32[B], steps played in them.
        over: bool[B], whether they are over and wait for a reset.
        terminated, truncated: bool[N, B], the flags of the last step.
    """

    state: Any
    memory: Any
    base: Array
    key: Array
    seats: Array | None
    episode: Array
    time: Array
    over: Array
    terminated: Array
    truncated: Array


@dataclasses.dataclass(frozen=True)
class _Program:
    """Compiled functions."""

    reset: Callable[..., Any]  # (seeds, seats) -> carry, out
    restart: Callable[..., Any]  # (carry, mask) -> carry, out
    reseed: Callable[..., Any]  # (carry, mask, seeds, seats) -> carry, out
    step: Callable[..., Any]  # (carry, actions) -> carry, out


@dataclasses.dataclass(frozen=True)
class Absent:
    """Holds the place of the seat that is played from outside."""

    def init(self, env: Env, agent: int) -> Any:
        return ()

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        return jnp.asarray(env.noop, no_actions(env).dtype), memory


@functools.lru_cache(maxsize=64)
def _compile(
    env: Env,
    num_envs: int,
    mode: AutoresetMode,
    seat: int | None,
    partners: Seats | None,
    batch_first: bool,
) -> _Program:
    """The functions of a batch. Inside, the batch axis is the last one; `batch_first` moves it to
    the front of what comes out."""
    fold_in = jax.vmap(jax.random.fold_in)
    rows = slice(None) if seat is None else seat  # the agents that are played from outside
    everywhere = np.ones(num_envs, bool)
    idle = np.zeros((*no_actions(env)[0].shape, num_envs), no_actions(env).dtype)
    idle[...] = np.asarray(env.noop)[..., None]

    def later(base: Array, episode: Array) -> Array:
        """The keys of episodes from 1 on."""
        return fold_in(base, episode + np.uint32(2**31))

    def where(mask: Array, new: Any, old: Any) -> Any:
        return jax.tree_util.tree_map(lambda a, b: jnp.where(mask, a, b), new, old)

    def observed(state: Any) -> tuple[Array, dict[str, Any]]:
        legal = env.batch_legal(state)
        if seat is None:
            return env.batch_observe(state), {"legal": legal, "acting": env.batch_acting(state)}
        if isinstance(env.action_space, Box):
            return env.batch_observe(state)[seat], {}
        # Gymnasium's name and dtype, as `Space.sample(mask=)` takes it.
        return env.batch_observe(state)[seat], {"action_mask": legal[seat].astype(jnp.int8)}

    def export(tree: Any) -> Any:
        if not batch_first:
            return tree
        return jax.tree_util.tree_map(lambda leaf: jnp.moveaxis(leaf, -1, 0), tree)

    def play(carry: _Carry, actions: Array) -> tuple[_Carry, Any]:
        """One step of the environment: the new carry, and (reward, terms, metrics)."""

        def choose(memory: Any, step_keys: Array, view: BatchView) -> tuple[Array, Any]:
            assert partners is not None
            if carry.seats is not None:
                key = where(carry.episode > 0, later(carry.seats, carry.episode), carry.seats)
                step_keys = fold_in(key, carry.time)
            chosen, memory = partners.apply(env, memory, step_keys, view)
            return chosen.astype(actions.dtype).at[seat].set(actions), memory

        player = actions if partners is None else choose
        made = play_step(env, player, carry.state, carry.memory, carry.key, carry.time)
        outcome = made.outcome
        carry = dataclasses.replace(
            carry,
            state=made.state,
            memory=made.memory,
            time=carry.time + 1,
            over=made.over if seat is None else (outcome.terminated | outcome.truncated)[seat],
            terminated=outcome.terminated,
            truncated=outcome.truncated,
        )
        return carry, (outcome.reward, outcome.terms, outcome.metrics)

    def others(carry: _Carry, gains: Any, mask: Array) -> tuple[_Carry, Any]:
        """Where `mask`: play on until the seat is to move, or its episode is over."""

        def moving(carry: _Carry) -> Array:
            return mask & ~carry.over & ~env.batch_acting(carry.state)[seat]

        def move(at: Any) -> Any:
            carry, gains = at
            moved, more = play(carry, idle)
            more = jax.tree_util.tree_map(jnp.add, gains, more)
            return where(moving(carry), (moved, more), at)

        return jax.lax.while_loop(lambda at: jnp.any(moving(at[0])), move, (carry, gains))

    def nothing(carry: _Carry) -> Any:
        """Zeros in the place of rewards, terms and metrics."""
        shape = (env.num_agents, *idle.shape) if seat is None else idle.shape
        gains = jax.eval_shape(play, carry, jax.ShapeDtypeStruct(shape, idle.dtype))[1]
        return jax.tree_util.tree_map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), gains)

    def again(carry: _Carry, mask: Array) -> _Carry:
        """The next episode where `mask`."""
        episode = carry.episode + mask
        key = where(mask, later(carry.base, episode), carry.key)
        # No pool: it would be drawn once, and a learner would see nothing else for ever.
        fresh = fresh_states(env, key[0], pool=0)
        return dataclasses.replace(
            carry,
            state=auto_reset(env, fresh, mask, carry.state, key, episode),
            key=key,
            episode=episode,
            time=jnp.where(mask, 0, carry.time),
            over=carry.over & ~mask,
            terminated=carry.terminated & ~mask,
            truncated=carry.truncated & ~mask,
        )

    def opened(carry: _Carry, mask: Array) -> _Carry:
        """Episodes that have just begun where `mask`, brought to the seat's first move."""
        if seat is None:
            return carry

        def pending(carry: _Carry) -> Array:
            return mask & (carry.over | ~env.batch_acting(carry.state)[seat])

        def move(carry: _Carry) -> _Carry:
            carry, _ = others(carry, nothing(carry), mask)
            return again(carry, mask & carry.over)

        return jax.lax.while_loop(lambda carry: jnp.any(pending(carry)), move, carry)

    def restarted(carry: _Carry, mask: Array) -> _Carry:
        def begin(carry: _Carry) -> _Carry:
            return opened(again(carry, mask), mask)

        return jax.lax.cond(jnp.any(mask), begin, lambda carry: carry, carry)

    def first(seeds: Array, seats: Array | None) -> _Carry:
        keys = jax.vmap(seed_key)(seeds)
        flags = jnp.zeros((env.num_agents, num_envs), bool)
        return _Carry(
            state=env.batch_reset(keys),
            memory=partners.init(env, num_envs) if partners is not None else (),
            base=keys,
            key=keys,
            seats=None if seats is None else jax.vmap(seed_key)(seats),
            episode=jnp.zeros(num_envs, jnp.uint32),
            time=jnp.zeros(num_envs, jnp.int32),
            over=jnp.zeros(num_envs, bool),
            terminated=flags,
            truncated=flags,
        )

    def reset(seeds: Array, seats: Array | None) -> Any:
        carry = opened(first(seeds, seats), everywhere)
        return carry, export(observed(carry.state))

    def restart(carry: _Carry, mask: Array) -> Any:
        carry = restarted(carry, mask)
        return carry, export(observed(carry.state))

    def reseed(carry: _Carry, mask: Array, seeds: Array, seats: Array | None) -> Any:
        begun = first(seeds, seats)
        if begun.seats is not None or carry.seats is not None:
            begun, carry = (
                dataclasses.replace(one, seats=one.base if one.seats is None else one.seats)
                for one in (begun, carry)
            )
        carry = opened(where(mask, begun, carry), mask)
        return carry, export(observed(carry.state))

    def step(carry: _Carry, actions: Array) -> Any:
        before = carry
        carry, gains = play(carry, jnp.moveaxis(actions, 0, -1))
        if seat is not None:
            carry, gains = others(carry, gains, ~before.over)
        if mode is not AutoresetMode.SAME_STEP:  # finished environments do not change
            carry, gains = where(before.over, (before, nothing(before)), (carry, gains))
        if mode is AutoresetMode.NEXT_STEP:
            carry = restarted(carry, before.over)
        reward, terms, metrics = gains
        terms = {name: values[rows] for name, values in terms.items()}
        flags = carry.terminated[rows], carry.truncated[rows]
        over, last = carry.over, carry.state
        if mode is AutoresetMode.SAME_STEP:
            carry = restarted(carry, over)
        observation, info = observed(carry.state)
        if mode is AutoresetMode.SAME_STEP:
            final = jax.lax.cond(
                jnp.any(over),
                lambda: observed(last),
                lambda: jax.tree_util.tree_map(jnp.zeros_like, (observation, info)),
            )
            info |= {"final_obs": final[0], "_final_obs": over}
            if seat is not None:  # as Gymnasium has it: the step belongs to the episode that ended
                info["final_info"] = final[1] | {"terms": terms, "metrics": metrics}
                zero = jax.tree_util.tree_map(jnp.zeros_like, (terms, metrics))
                terms, metrics = where(over, zero, (terms, metrics))
        info |= {"terms": terms, "metrics": metrics}
        return carry, export((observation, reward[rows], *flags, info))

    return _Program(jax.jit(reset), jax.jit(restart), jax.jit(reseed), jax.jit(step))


def _batch_first(leaf: np.ndarray) -> np.ndarray:
    """`np.moveaxis(leaf, -1, 0)`, many times faster."""
    return leaf.transpose(leaf.ndim - 1, *range(leaf.ndim - 1)) if leaf.ndim > 1 else leaf


def _import_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise SeatError(
            'arrays="torch" needs PyTorch, which is not installed: pip install torch, or use '
            'arrays="numpy"'
        ) from error
    return torch
