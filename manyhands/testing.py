"""The contract as checks: `check_env`, `check_wrapper` and `check_seat`, for environments, wrappers
and players of your own. They need no test framework; each failure names the agent, the step and the
field, and says what to do.

    from manyhands.testing import check_env

    check_env(MyGame())

`CHECKS` are the single checks; each takes a `Play` and raises `ContractError`.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from manyhands.core.batch import rollout_key
from manyhands.core.env import (
    ConfigError,
    Env,
    IllegalAction,
    ManyhandsError,
    SnapshotError,
    Wrapper,
    episode_key,
    is_device_policy,
    seed_key,
)
from manyhands.core.episode import Game, Moment, episode_seed
from manyhands.core.pack import Frame, fingerprint, no_actions, restore, snapshot, stepper
from manyhands.core.play import play, seat_policy
from manyhands.core.registry import from_spec, registered
from manyhands.core.rollout import rollout
from manyhands.wrappers.gymnasium import SeatEnv
from manyhands.wrappers.pettingzoo import Parallel

STEPS, SEED = 16, 5


class ContractError(ManyhandsError, AssertionError):
    """What an environment, a wrapper or a player does that its contract does not allow."""


@dataclasses.dataclass
class Play:
    """An environment, and random legal play in it.

    Attributes:
        env: the environment.
        frames: what each step yielded, the first state's frame first; frame t + 1 follows from
            frame t by `actions[t]`.
        actions: [N, *action_space.shape] each.
    """

    env: Env[Any]
    frames: list[Frame]
    actions: list[np.ndarray]

    @property
    def key(self) -> Any:
        return episode_key(SEED)

    @property
    def key_data(self) -> np.ndarray:
        return np.asarray(jax.random.key_data(self.key))


def play_at_random(env: Env[Any], steps: int = STEPS) -> Play:
    """Random legal play of `env` from the seed `SEED`: `steps` steps, or to the end."""
    env.action_space.seed(SEED)
    play = Play(env, [], [])
    play.frames.append(stepper(env).reset(play.key))
    while len(play.frames) <= steps and not play.frames[-1].over:
        rows = random_actions(env, play.frames[-1])
        t, state = len(play.actions), play.frames[-1].state
        play.actions.append(rows)
        play.frames.append(stepper(env).step(play.key_data, t, state, rows))
    return play


def random_actions(env: Env[Any], frame: Frame) -> np.ndarray:
    """A random legal action of each agent, [N, *action_space.shape]."""
    rows = no_actions(env)
    for i in range(env.num_agents):
        mask = frame.legal[i].astype(np.int8)
        if isinstance(env.action_space, Discrete):
            rows[i] = env.action_space.sample(mask if mask.any() else None)
        elif isinstance(env.action_space, MultiDiscrete):  # a mask for each part
            parts = np.split(mask, np.cumsum(env.action_space.nvec)[:-1])
            rows[i] = env.action_space.sample(tuple(parts))
        else:
            rows[i] = env.action_space.sample()
    return rows


# ---- comparing -----------------------------------------------------------------------------------


def _fail(message: str) -> None:
    raise ContractError(message)


def _same(found: Any, expected: Any, what: str, hint: str, exact: bool = True) -> None:
    """Equal pytrees, to the bit and to the dtype; where not `exact`, but for what rounding
    differently leaves in a few steps."""
    found, expected = jax.device_get(found), jax.device_get(expected)
    left, tree = jax.tree_util.tree_flatten_with_path(found)
    right, other = jax.tree_util.tree_flatten_with_path(expected)
    if str(tree) != str(other):
        _fail(f"{what}: the fields are {tree}, expected {other}; {hint}")
    for (path, a), (_, b) in zip(left, right, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        name = f"{what}, field {jax.tree_util.keystr(path)}" if path else what
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            _fail(
                f"{name}: {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}; keep shapes "
                f"and dtypes fixed, for example with `.astype`; {hint}"
            )
        if exact or a.dtype.kind != "f":
            equal = (a == b) | ((a != a) & (b != b))
        else:
            equal = np.isclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
        if not np.all(equal):
            first = tuple(int(k[0]) for k in np.nonzero(~np.atleast_1d(equal)))
            at = f" at index {list(first)}" if a.ndim else ""
            values = f"{np.atleast_1d(a)[first]!r}, expected {np.atleast_1d(b)[first]!r}"
            _fail(f"{name}{at}: {values}; {hint}")


def _parts(env: Env[Any], state: Any) -> dict[str, Any]:
    """Everything that agents and learners are given of a state."""
    return {
        "observe": env.observe(state),
        "perceive": env.perceive(state),
        "legal": env.legal(state),
        "acting": env.acting(state),
        "summary": env.summary(state),
    }


def _batch_parts(env: Env[Any], states: Any) -> dict[str, Any]:
    return {
        "observe": env.batch_observe(states),
        "perceive": env.batch_perceive(states),
        "legal": env.batch_legal(states),
        "acting": env.batch_acting(states),
        "summary": env.batch_summary(states),
    }


def _seen(frame: Frame) -> dict[str, Any]:
    """What `_parts` gives of a frame's state, but for the summary."""
    return {
        "observe": frame.vector,
        "perceive": frame.perception,
        "legal": frame.legal,
        "acting": frame.acting,
    }


def _outcome(frame: Frame) -> dict[str, Any]:
    names = ("reward", "terminated", "truncated", "terms", "metrics")
    return {name: getattr(frame, name) for name in names}


def _fields(outcome: Any) -> dict[str, Any]:
    return {field.name: getattr(outcome, field.name) for field in dataclasses.fields(outcome)}


def _without(parts: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in parts.items() if key != name}


def _column(tree: Any, i: int) -> Any:
    return jax.tree_util.tree_map(lambda leaf: leaf[..., i], jax.device_get(tree))


def _stacked(trees: Sequence[Any]) -> Any:
    """A batch, its axis last."""
    return jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *trees)


_PURE = "the functions of an environment are pure: state and key in, state and outcome out"


# ---- what an environment says of itself ----------------------------------------------------------


def check_attributes(play: Play) -> None:
    env, frames = play.env, play.frames
    if not env.agents or len(set(env.agents)) != len(env.agents):
        _fail(f"agents: different names, one for each agent; given {env.agents!r}")
    if not isinstance(env.action_space, (Discrete, MultiDiscrete, Box)):
        _fail(f"action_space: Discrete, MultiDiscrete or Box; given {env.action_space}")
    if set(env.reward_weights) != set(env.terms):
        _fail(
            f"reward_weights: a weight for each of terms={env.terms!r}; given {env.reward_weights}"
        )
    if not isinstance(env.max_steps, int) or env.max_steps < 1:
        _fail(f"max_steps: a whole number from 1, given {env.max_steps!r}")
    if len(frames[0].reward) != env.num_agents:
        _fail(f"reward: one number an agent, [{env.num_agents}]; given {frames[0].reward.shape}")
    for i, name in enumerate(env.agents):
        if not env.index(name) == env.index(i) == i:
            _fail(f"index({name!r}): expected {i}")
    for wrong in ("nobody", -1, env.num_agents):
        try:
            env.index(wrong)
        except ConfigError:
            continue
        _fail(f"index({wrong!r}): expected a ConfigError, since there is no such agent")


def check_spec(play: Play) -> None:
    env = play.env
    try:
        text = json.dumps(env.spec(), allow_nan=False)
    except (TypeError, ValueError) as error:
        _fail(f"config(): {error}; give plain numbers, strings, lists and dicts")
    innermost: Any = env.unwrapped
    if innermost.id not in registered():
        _fail(
            f"id: {innermost.id!r} is not registered; call manyhands.register"
            f"(Game({innermost.id!r}, 'your.module:{type(innermost).__name__}')), so that records "
            "and other processes can build it"
        )
    again = from_spec(json.loads(text))
    if again != env or hash(again) != hash(env):
        _fail(
            f"config(): make({env.id!r}, **config()) gives {again!r}, which is not equal to "
            f"{env!r}; config must hold all arguments of the constructor that matter"
        )


# ---- pure functions ------------------------------------------------------------------------------


def check_compiled(play: Play) -> None:
    """The plain call agrees with the compiled one."""
    env = play.env
    t = min(3, len(play.actions) - 1)
    frame, after = play.frames[t], play.frames[t + 1]
    state, outcome = env.step(jax.random.fold_in(play.key, t), frame.state, play.actions[t])
    where = f"step {t}, outside of jax.jit"
    _same(state, after.state, f"{where}: the state", _PURE, env.exact)
    _same(_fields(outcome), _outcome(after), f"{where}: the outcome", _PURE, env.exact)
    parts = _without(_parts(env, frame.state), "summary")
    _same(parts, _seen(frame), where, _PURE, env.exact)


def check_batches(play: Play) -> None:
    """Batches and mapped calls agree with single ones."""
    env, size = play.env, min(5, len(play.actions))
    keys = jax.vmap(lambda i: jax.random.fold_in(play.key, i))(np.arange(size))
    states = _stacked([frame.state for frame in play.frames[:size]])
    rows = _stacked(play.actions[:size])

    def step(key: Any, state: Any, actions: Any) -> Any:
        new, outcome = env.step(key, state, actions)
        return new, _fields(outcome), _parts(env, state)

    def batch_step(keys: Any, states: Any, actions: Any) -> Any:
        new, outcome = env.batch_step(keys, states, actions)
        return new, _fields(outcome), _batch_parts(env, states)

    mapped = jax.jit(jax.vmap(step, in_axes=(0, -1, -1), out_axes=-1))(keys, states, rows)
    batch = jax.jit(batch_step)(keys, states, rows)
    hint = "with `batched = True` every array has one more axis, the last, and nothing may mix it"
    _same(batch, mapped, "a batch beside jax.vmap", hint, env.exact)
    for i in range(size):
        state, outcome, seen = _column(batch, i)
        after = play.frames[i + 1]
        where = f"step {i} in a batch of {size}"
        _same(state, after.state, f"{where}: the state", hint, env.exact)
        _same(outcome, _outcome(after), f"{where}: the outcome", hint, env.exact)
        _same(_without(seen, "summary"), _seen(play.frames[i]), where, hint, env.exact)
    first = jax.tree_util.tree_map(lambda leaf: leaf[..., :1], (states, rows))
    one = _column(jax.jit(batch_step)(keys[:1], *first), 0)
    _same(one, _column(batch, 0), "a batch of one", hint, env.exact)


def check_resets(play: Play) -> None:
    """A batch of resets holds single resets, and `deterministic_reset` is true."""
    env = play.env
    keys = jax.vmap(seed_key)(np.arange(6, dtype=np.uint32))
    states = jax.jit(env.batch_reset)(keys)
    singles = [stepper(env).reset(keys[i]).state for i in range(6)]
    for i, state in enumerate(singles):
        what = f"reset {i} in a batch"
        _same(_column(states, i), state, what, "all chance comes from the key", env.exact)
    different = len({snapshot(env, state) for state in singles})
    if env.deterministic_reset and different > 1:
        _fail("deterministic_reset: True, but the states of different keys differ; set it to False")
    if not env.deterministic_reset and different == 1:
        _fail(
            "deterministic_reset: False, but six keys gave one and the same state; set it to True, "
            "or draw from the key in reset"
        )


def check_compiles_once(play: Play) -> None:
    env, traces = play.env, []

    def step(key: Any, state: Any, actions: Any) -> Any:
        traces.append(1)
        return env.step(key, state, actions)

    compiled = jax.jit(step)
    state = jax.jit(env.reset)(play.key)
    for t, rows in enumerate(play.actions):
        hint = "a step gives the same wherever its state comes from"
        _same(state, play.frames[t].state, f"step {t}: the state", hint, env.exact)
        key = jax.random.fold_in(play.key, t)
        compiled(key, play.frames[t].state, rows)  # NumPy states, as snapshots give
        state, _ = compiled(key, state, rows)
    if len(traces) != 1:
        _fail(
            f"step was traced {len(traces)} times in {len(play.actions)} steps: a shape, dtype or "
            "weak type of the state changes; give every field one dtype, with jnp.int32(0) and "
            "the like"
        )


def check_shapes(play: Play) -> None:
    """A step changes no shape and no dtype."""
    env, n = play.env, play.env.num_agents
    before = jax.eval_shape(env.reset, play.key)
    after, outcome = jax.eval_shape(env.step, play.key, before, no_actions(env))
    left, tree = jax.tree_util.tree_flatten_with_path(before)
    right, other = jax.tree_util.tree_flatten_with_path(after)
    if str(tree) != str(other):
        _fail(f"step: gives a state with the fields {other}, reset one with {tree}")
    for (path, a), (_, b) in zip(left, right, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            _fail(
                f"step: the state's field {jax.tree_util.keystr(path)} becomes "
                f"{b.dtype}{list(b.shape)}, reset gives {a.dtype}{list(a.shape)}; cast it in step"
            )
    for name, dtype in (("reward", np.float32), ("terminated", bool), ("truncated", bool)):
        found = getattr(outcome, name)
        if (found.shape, found.dtype) != ((n,), dtype):
            _fail(
                f"step: outcome.{name} is {found.dtype}{list(found.shape)}, expected "
                f"{np.dtype(dtype)}[{n}]; build it with Env.outcome"
            )


# ---- what a step yields --------------------------------------------------------------------------


def check_spaces(play: Play) -> None:
    """The spaces contain what is emitted, and `legal` and `acting` agree."""
    env, space = play.env, play.env.observation_space
    for t, frame in enumerate(play.frames):
        if frame.vector.dtype != space.dtype:
            _fail(
                f"observe: {frame.vector.dtype}, but observation_space has {space.dtype}; cast one"
            )
        if frame.vector.shape != (env.num_agents, *(space.shape or ())):
            _fail(
                f"observe: shape {frame.vector.shape}, expected (agents, *observation_space.shape) "
                f"= {(env.num_agents, *(space.shape or ()))}"
            )
        for i, row in enumerate(frame.vector):
            if not space.contains(row):
                outside = ""
                if isinstance(space, Box):
                    index = np.argwhere(~((row >= space.low) & (row <= space.high)))
                    if len(index):
                        k = tuple(index[0])
                        bounds = f"{space.low[k]} to {space.high[k]}"
                        outside = f" at index {list(map(int, k))}: {row[k]}, allowed {bounds}"
                _fail(
                    f"observe: agent {env.agents[i]}, step {t}: outside of observation_space"
                    f"{outside}; widen the space or clip the observation"
                )
        if frame.legal.shape[0] != env.num_agents or frame.acting.shape != (env.num_agents,):
            _fail(
                f"legal is bool[N, A] and acting bool[N] with N = {env.num_agents}; given "
                f"{frame.legal.shape} and {frame.acting.shape}"
            )
        wrong = np.flatnonzero(frame.legal.any(1) != frame.acting)
        if len(wrong):
            _fail(
                f"legal: agent {env.agents[wrong[0]]}, step {t}: acting is "
                f"{bool(frame.acting[wrong[0]])}, but {int(frame.legal[wrong[0]].sum())} actions "
                "are legal; whoever moves has a legal action, and whoever does not has none"
            )


def check_rewards(play: Play) -> None:
    """Rewards are the weighted sums of the terms, and names never change."""
    env, first = play.env, play.frames[0]
    for t, frame in enumerate(play.frames):
        if set(frame.terms) != set(env.terms):
            _fail(f"terms: step {t}: {list(frame.terms)}, expected those of terms={env.terms}")
        if list(frame.metrics) != list(first.metrics) or "illegal" not in frame.metrics:
            _fail(
                f"metrics: step {t}: {list(frame.metrics)}, expected the same names at every step, "
                "'illegal' (illegal actions) among them"
            )
        for name, value in frame.metrics.items():
            if np.shape(value) != ():
                _fail(f"metrics: {name!r} is {np.shape(value)}, expected one number")
        expected = np.float32(0)
        for name in env.terms:
            expected = expected + np.float32(env.reward_weights[name]) * frame.terms[name]
        hint = "build outcomes with Env.outcome, which sums weight times term in order"
        _same(frame.reward, np.broadcast_to(expected, frame.reward.shape), "reward", hint)


def check_random_play_ends(play: Play) -> None:
    env, frames = play.env, [play.frames[-1]]
    t = len(play.actions)
    while not frames[-1].over:
        if t >= env.max_steps:
            _fail(f"step {t}: the episode goes on after max_steps={env.max_steps}; truncate it")
        rows = play.actions[t % len(play.actions)]
        frames.append(stepper(env).step(play.key_data, t, frames[-1].state, rows))
        t += 1
    last = frames[-1]
    if not last.terminated.any() and not (t == env.max_steps and last.truncated.all()):
        _fail(f"step {t}: truncated before max_steps={env.max_steps}; use terminated for rules")


def check_illegal_actions(play: Play) -> None:
    """An illegal number does what the no-op does, and is counted."""
    env = play.env
    if not isinstance(env.action_space, Discrete) or len(play.frames) < 3:
        return
    frame = play.frames[2]
    actors = np.flatnonzero(frame.acting)
    if not len(actors):
        return
    actor = int(actors[0])
    noops = no_actions(env)
    noops[:] = env.noop
    expected = stepper(env).step(play.key_data, 2, frame.state, noops)
    if expected.metrics["illegal"] != 0:
        _fail(
            f"noop: {env.noop!r} is counted in metrics['illegal'] at step 2; it is what an illegal "
            "action becomes, so it may not be one"
        )
    for wrong in (-1, int(env.action_space.n), 2**31 - 1, -(2**31)):
        if wrong == env.noop:
            continue
        rows = noops.copy()
        rows[actor] = wrong
        found = stepper(env).step(play.key_data, 2, frame.state, rows)
        where = f"action {wrong} of {env.agents[actor]} at step 2"
        # A wrapper may remember that something was tried; the game does not.
        hint = f"an illegal action is played as noop={env.noop!r}"
        now, wanted = _innermost(env, found.state), _innermost(env, expected.state)
        _same(now, wanted, f"{where}: the state", hint)
        _same(found.reward, expected.reward, f"{where}: the reward", hint)
        if found.metrics["illegal"] != 1:
            _fail(f"{where}: metrics['illegal'] is {found.metrics['illegal']}, expected 1")


def _innermost(env: Env[Any], state: Any) -> Any:
    """The state beneath all wrappers."""
    while isinstance(env, Wrapper):
        state, env = env.inner(state), env.env
    return state


# ---- snapshots and fingerprints ------------------------------------------------------------------


def check_snapshots(play: Play) -> None:
    """Snapshots restore and fork exactly, and damaged ones are refused."""
    env, t = play.env, len(play.actions) // 2
    kept = snapshot(env, play.frames[t].state)
    if kept != snapshot(env, restore(env, kept)):
        _fail("snapshot(restore(snapshot)) gives other bytes; a state holds arrays alone")
    for _ in range(2):  # the second fork sees nothing of the first
        state = restore(env, kept)
        for u in range(t, len(play.actions)):
            frame = stepper(env).step(play.key_data, u, state, play.actions[u])
            state = frame.state
            where, hint = f"step {u} of a fork from step {t}", "a state must hold all that matters"
            _same(state, play.frames[u + 1].state, f"{where}: the state", hint)
            _same(_seen(frame), _seen(play.frames[u + 1]), where, hint)
            _same(_outcome(frame), _outcome(play.frames[u + 1]), f"{where}: the outcome", hint)
    damages = [kept[:size] for size in (0, 7, 35, 36, len(kept) - 1)] + [kept + b"\x00"]
    for position in range(0, len(kept), max(1, len(kept) // 40)):
        damaged = bytearray(kept)
        damaged[position] ^= 0x10
        damages.append(bytes(damaged))
    for damage in damages:
        try:
            restore(env, damage)
        except SnapshotError:
            continue
        _fail("a damaged snapshot was restored")


def check_fingerprints(play: Play) -> None:
    env, states = play.env, [frame.state for frame in play.frames]
    prints = [fingerprint(env, state) for state in states]
    if len(set(prints)) != len({snapshot(env, state) for state in states}):
        _fail("fingerprints do not tell the states apart as snapshots do")
    for i, agent in enumerate(env.agents):
        seen: dict[Any, set[str]] = {}
        for frame in play.frames:
            look = frame.vector[i].tobytes(), env.describe(frame.state, i)
            seen.setdefault(look, set()).add(fingerprint(env, frame.state, i))
        if any(len(found) > 1 for found in seen.values()):
            _fail(
                f"agent {agent}: two states with the same vector and text have different legal "
                "actions or acting; show in observe and describe whose turn it is"
            )


def check_elapsed(play: Play) -> None:
    """`elapsed` counts the steps; a fork of an episode meets the chance that the episode met."""
    env = play.env
    if env.elapsed(play.frames[0].state) is None:
        return
    for t, frame in enumerate(play.frames):
        found = int(np.asarray(env.elapsed(frame.state)))
        if found != t:
            _fail(
                f"elapsed: {found} after {t} steps; give the number of steps played, or None where "
                "states do not count them"
            )
    middle = len(play.actions) // 2
    if play.frames[middle].over:
        return
    fork = Game(env, SEED, fork=snapshot(env, play.frames[middle].state))
    for t in range(middle, len(play.actions)):
        fork.make(play.actions[t])
        what = f"step {t} of a fork under its own seed: the state"
        _same(fork.frame.state, play.frames[t + 1].state, what, "see elapsed")


# ---- one game through every API ------------------------------------------------------------------


def check_pettingzoo(play: Play) -> None:
    """A seed gives the same bytes through PettingZoo."""
    env, parallel = play.env, Parallel(play.env)
    parallel.reset(seed=SEED)
    hint = "a step depends on its state, its actions and its key alone"
    for t, rows in enumerate(play.actions):
        _same(parallel.current, play.frames[t].state, f"PettingZoo, step {t}: the state", hint)
        asked = {a: rows[i] for i, a in enumerate(env.agents) if play.frames[t].acting[i]}
        live = list(parallel.agents)
        observations, rewards, *_ = parallel.step(asked)
        for i, agent in enumerate(env.agents):
            if agent in live:
                where = f"PettingZoo, agent {agent}, step {t}"
                _same(observations[agent], play.frames[t + 1].vector[i], where, hint)
                expected = float(play.frames[t + 1].reward[i])
                _same(rewards[agent], expected, f"{where}: the reward", hint)


def check_gymnasium(play: Play) -> None:
    """A seed gives the same bytes through Gymnasium, where all agents move at once."""
    env = play.env
    if not all(frame.acting.all() for frame in play.frames[:-1]):
        return

    def partner(view: Any) -> Any:
        return play.actions[view.step][view.index]

    seat = SeatEnv(env, seat=0, partners=partner)
    vector, _ = seat.reset(seed=SEED)
    for t, rows in enumerate(play.actions):
        _same(vector, play.frames[t].vector[0], f"Gymnasium, step {t}", _PURE)
        vector, reward, *_ = seat.step(rows[0])
        expected = float(play.frames[t + 1].reward[0])
        _same(reward, expected, f"Gymnasium, step {t}: the reward", _PURE)


def check_play(play_: Play) -> None:
    """`play` gives the episode that its seed names."""
    env, found = play_.env, []

    def player(view: Any) -> Any:
        rows = play_.actions[view.step % len(play_.actions)][view.index]
        return rows.item() if rows.shape == () else rows

    def on_step(moment: Moment) -> None:
        found.append(snapshot(env, moment.frame.state))

    players = [player] * env.num_agents
    play(env, players, seed=3, max_steps=6, progress=False, on_step=on_step)
    key = episode_key(episode_seed(3, 0))
    key_data = np.asarray(jax.random.key_data(key))
    frame = stepper(env).reset(key)
    for t, bytes_ in enumerate(found):
        if bytes_ != snapshot(env, frame.state):
            _fail(f"play, step {t}: another state than by single steps; {_PURE}")
        rows = play_.actions[t % len(play_.actions)]
        if t + 1 < len(found):
            frame = stepper(env).step(key_data, t, frame.state, rows)


# ---- words and pictures --------------------------------------------------------------------------

_NONSENSE = ("", " ", "\n", "\x00", "ACTION:", "ACTION: ", "99999999999999999999", "-1", "{}", "[]")


def check_choices(play: Play) -> None:
    """Every choice parses to its action, alone and behind some thoughts."""
    env, space = play.env, play.env.action_space
    for t, i in itertools.product(range(0, len(play.frames), 3), range(env.num_agents)):
        frame = play.frames[t]
        where = f"choices: agent {env.agents[i]}, step {t}"
        choices = env.choices(frame.state, i)
        legal: Any = np.flatnonzero(frame.legal[i])
        if len(set(choices)) != len(choices):
            _fail(f"{where}: one choice twice; every legal action has words of its own")
        if isinstance(space, Box):  # choices are some of what is legal
            if bool(choices) != bool(frame.acting[i]):
                _fail(f"{where}: {len(choices)} choices, although acting is {frame.acting[i]}")
            legal = range(len(choices))
        if len(choices) != len(legal):
            _fail(
                f"{where}: {len(choices)} choices for {len(legal)} legal actions; give one for "
                "each, in action order"
            )
        for choice, number in zip(choices, legal, strict=True):
            for text in (choice, f"Let me think.\nACTION: {choice}"):
                try:
                    action = env.parse(text, frame.state, i)
                except IllegalAction as error:
                    _fail(f"{where}: parse refuses {text!r}, which is offered: {error.reason}")
                if isinstance(space, Discrete):
                    right = action == number
                elif isinstance(space, Box):
                    right = space.contains(action)
                else:  # a choice of one part, beside a choice of each other part
                    firsts = np.cumsum([0, *space.nvec[:-1]])  # type: ignore[attr-defined]
                    right = number in action + firsts
                    right = right and space.contains(np.asarray(action, space.dtype))
                if not right:
                    _fail(f"{where}: {text!r} parses to {action!r}, expected action {number}")


def check_texts(play: Play) -> None:
    """Texts are deterministic, by name or index, and any text is an action or refused."""
    env = play.env
    for t in range(0, len(play.frames), 4):
        state = play.frames[t].state
        again = restore(env, snapshot(env, state))
        for i, name in enumerate(env.agents):
            where = f"agent {name}, step {t}"
            if env.describe(state, i) != env.describe(again, name):
                _fail(f"describe: {where}: not the same text for equal states")
            if env.choices(state, i) != env.choices(again, name):
                _fail(f"choices: {where}: not the same for equal states")
    for i, name in enumerate(env.agents):
        if env.rules(i) != env.rules(name) or name not in env.rules(i):
            _fail(f"rules: agent {name}: the rule book tells its reader who it is, by name")
    frame = play.frames[0]
    actor = int(np.flatnonzero(frame.acting)[0])
    for text in _NONSENSE:
        try:
            action = env.parse(text, frame.state, actor)
        except IllegalAction as error:
            if not error.reason:
                _fail(f"parse: {text!r} is refused without a reason")
        except Exception as error:
            _fail(f"parse: {text!r} raises {error!r}; raise IllegalAction with a reason")
        else:
            if not env.action_space.contains(np.asarray(action, env.action_space.dtype)):
                _fail(f"parse: {text!r} gives {action!r}, which is not in action_space")


def check_json(play: Play) -> None:
    """True states are ready for JSON."""
    for t in range(0, len(play.frames), 5):
        found = play.env.to_dict(play.frames[t].state)
        try:
            again = json.loads(json.dumps(found, allow_nan=False))
        except (TypeError, ValueError) as error:
            _fail(f"to_dict: step {t}: {error}; give Python's own numbers, strings, lists, dicts")
        if again != found:
            _fail(f"to_dict: step {t}: JSON changes it; use strings as keys, and lists")


def check_pictures(play: Play) -> None:
    """Pictures can be made in any size, by each camera, and do not depend on what was there."""
    from manyhands.core.render import load_pygame

    env, frame = play.env, play.frames[len(play.frames) // 2]
    pygame = load_pygame()
    for size, agent in (((320, 240), None), ((200, 320), 0)):
        pictures = []
        for colour in ((0, 0, 0), (255, 0, 255)):
            canvas = pygame.Surface(size)
            canvas.fill(colour)
            env.draw(frame.state, canvas, agent)
            pictures.append(pygame.surfarray.array3d(canvas))
        if (pictures[0] != pictures[1]).any():
            _fail(f"draw: agent {agent}: leaves parts of a {size} canvas as they were; fill it")
    for camera in env.cameras:
        env.draw(frame.state, pygame.Surface((320, 240)), None, camera)


CHECKS: tuple[Callable[[Play], None], ...] = (
    check_attributes,
    check_spec,
    check_shapes,
    check_spaces,
    check_rewards,
    check_compiled,
    check_batches,
    check_resets,
    check_compiles_once,
    check_random_play_ends,
    check_illegal_actions,
    check_snapshots,
    check_fingerprints,
    check_elapsed,
    check_pettingzoo,
    check_gymnasium,
    check_play,
    check_choices,
    check_texts,
    check_json,
    check_pictures,
)


# ---- the checkers --------------------------------------------------------------------------------


def check_env(env: Env[Any], steps: int = STEPS) -> None:
    """Check that an environment keeps its contract (`docs/extending.md`): all of `CHECKS`, on
    `steps` steps of random legal play.

    Raises:
        ContractError: it does not; lists what every check found.
    """
    problems = list(problems_of(env, steps))
    if problems:
        raise ContractError(
            f"{env!r} breaks the contract in {len(problems)} of {len(CHECKS)} checks:\n"
            + "\n".join(f"- {problem}" for problem in problems)
        )


def problems_of(env: Env[Any], steps: int = STEPS) -> Iterator[str]:
    """What `check_env` finds, check by check."""
    if not isinstance(env, Env):
        yield f"an environment is a manyhands.Env, given {env!r}"
        return
    try:
        play = play_at_random(env, steps)
    except Exception as error:
        yield (
            f"random play: {type(error).__name__}: {error}; reset, step, observe, perceive, legal "
            "and acting must work inside jax.jit before anything else can be checked"
        )
        return
    for check in CHECKS:
        try:
            check(play)
        except ContractError as error:
            yield f"{check.__name__.removeprefix('check_')}: {error}"
        except NotImplementedError as error:
            yield f"{check.__name__.removeprefix('check_')}: {error or 'not implemented'}"
        except Exception as error:
            yield f"{check.__name__.removeprefix('check_')}: {type(error).__name__}: {error}"


def check_wrapper(env: Wrapper[Any], steps: int = STEPS) -> None:
    """`check_env`, and what a wrapper owes to what it wraps: it forwards what it does not change,
    its spec holds the other's, and `inner`, `lift` and `lower` fit.

    Raises:
        ContractError: it does not keep the contract.
    """
    if not isinstance(env, Wrapper):
        _fail(f"a wrapper is a manyhands.Wrapper, given {env!r}")
    check_env(env, steps)
    check_forwarding(play_at_random(env, steps))


def check_forwarding(play: Play) -> None:
    """What `check_wrapper` checks besides the contract."""
    env = play.env
    assert isinstance(env, Wrapper)
    inner = env.env
    if env.spec().get("env") != inner.spec():
        _fail("spec: holds the wrapped environment's spec as 'env'; call super().spec()")
    if env.unwrapped is not inner.unwrapped:
        _fail("unwrapped: the innermost environment")
    for t, frame in enumerate(play.frames):
        state = env.inner(frame.state)
        hint = "inner gives the wrapped state"
        _same(
            jax.tree_util.tree_map(np.asarray, env.elapsed(frame.state)),
            jax.tree_util.tree_map(np.asarray, inner.elapsed(state)),
            f"elapsed, step {t}",
            hint,
        )
    if not env.lifts:
        return
    frame = play.frames[0]
    legal = np.asarray(inner.legal(env.inner(frame.state)))
    for i, agent in enumerate(env.agents):
        lowered = np.asarray(env.lower(frame.legal[i]))
        if lowered.shape != legal[i].shape:
            _fail(
                f"lower: agent {agent}: {lowered.shape}, expected a row of the wrapped legal, "
                f"{legal[i].shape}"
            )
        for number in np.flatnonzero(lowered) if isinstance(inner.action_space, Discrete) else ():
            lifted = np.asarray(env.lift(np.int32(number)), env.action_space.dtype)
            if not env.action_space.contains(
                lifted if lifted.shape else lifted[()]
            ):  # a Discrete space takes numbers
                _fail(f"lift: action {number} becomes {lifted!r}, which is not in action_space")


def check_seat(seat: Any, env: Env[Any], episodes: int = 2, max_steps: int = 40) -> None:
    """Check that a player can take every seat of `env`: it answers with legal actions or words that
    mean one, the same ones whenever an episode is played again, and, if it is a device policy,
    legal ones in compiled rollouts too.

    Args:
        seat: a name, a policy, a device policy, or a function of a view.

    Raises:
        ContractError: it does not.
    """
    seat_policy(env, seat)  # refuses what is no player
    runs: list[list[Any]] = []
    for _ in range(2):
        moves: list[Any] = []

        def on_step(moment: Moment, moves: list[Any] = moves) -> None:
            if moment.turn is None:
                return
            for i, reason in moment.turn.illegal.items():
                _fail(
                    f"agent {env.agents[i]}, episode {moment.episode}, step {moment.step - 1}: an "
                    f"illegal answer: {reason}; choose among view.legal or view.choices"
                )
            actions = {i: np.asarray(a).tolist() for i, a in moment.turn.actions.items()}
            moves.append((moment.episode, moment.step, actions))

        play(
            env,
            [seat] * env.num_agents,
            episodes,
            seed=SEED,
            max_steps=max_steps,
            progress=False,
            on_step=on_step,
            concurrency=1,
        )
        runs.append(moves)
    for first, second in zip(*runs, strict=False):
        if first != second:
            _fail(
                f"episode {first[0]}, step {first[1] - 1}: {first[2]} in one run, {second[2]} in "
                "the next; draw from view.rng(), or from the key that a device policy is given"
            )
    policy, _ = seat_policy(env, seat)
    if is_device_policy(policy):
        _check_rollout(policy, env, max_steps)


def _check_rollout(policy: Any, env: Env[Any], max_steps: int) -> None:
    """A device policy plays legal actions in a compiled rollout, too."""
    key, steps = episode_key(SEED), min(max_steps, env.max_steps)
    track = rollout(env, policy, 2, steps, key, pool=0).trajectory
    assert track is not None
    episode = rollout_key(key, 0, 0)
    frame = stepper(env).reset(episode)
    key_data = np.asarray(jax.random.key_data(episode))
    actions = np.asarray(track.action)[..., 0]
    for t in range(steps):
        if frame.over:
            return
        for i in np.flatnonzero(frame.acting):
            action = actions[t, i]
            legal = frame.legal[i]
            if isinstance(env.action_space, Discrete) and not legal[int(action)]:
                _fail(f"rollout: agent {env.agents[i]}, step {t}: plays {action}, which is illegal")
        frame = stepper(env).step(key_data, t, frame.state, actions[t])
