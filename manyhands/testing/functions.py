"""Checks of the pure functions, of snapshots, and of one game through every API."""

from __future__ import annotations

import json
from typing import Any

import jax
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from manyhands.core.env import (
    ConfigError,
    Env,
    SnapshotError,
    Wrapper,
    episode_key,
    seed_key,
)
from manyhands.core.episode import Game, Moment, episode_seed
from manyhands.core.pack import fingerprint, no_actions, restore, snapshot, stepper
from manyhands.core.play import play
from manyhands.core.registry import from_spec, registered
from manyhands.testing.random_play import (
    PURE,
    SEED,
    Play,
    batch_parts,
    column,
    fail,
    fields_of,
    outcome_of,
    parts_of,
    random_actions,
    same,
    seen_in,
    stacked,
    without,
)
from manyhands.wrappers.gymnasium import SeatEnv
from manyhands.wrappers.pettingzoo import Parallel

# ---- what an environment says of itself ----------------------------------------------------------


def check_attributes(play: Play) -> None:
    env, frames = play.env, play.frames
    if not env.agents or len(set(env.agents)) != len(env.agents):
        fail(f"agents: different names, one for each agent; given {env.agents!r}")
    if not isinstance(env.action_space, (Discrete, MultiDiscrete, Box)):
        fail(f"action_space: Discrete, MultiDiscrete or Box; given {env.action_space}")
    if set(env.reward_weights) != set(env.terms):
        fail(
            f"reward_weights: a weight for each of terms={env.terms!r}; given {env.reward_weights}"
        )
    if not isinstance(env.max_steps, int) or env.max_steps < 1:
        fail(f"max_steps: a whole number from 1, given {env.max_steps!r}")
    if len(frames[0].reward) != env.num_agents:
        fail(f"reward: one number an agent, [{env.num_agents}]; given {frames[0].reward.shape}")
    for i, name in enumerate(env.agents):
        if not env.index(name) == env.index(i) == i:
            fail(f"index({name!r}): expected {i}")
    wrongs: tuple[Any, ...] = ("nobody", -1, env.num_agents, None, [0], 0.5)
    for wrong in wrongs:
        try:
            env.index(wrong)
        except ConfigError:
            continue
        fail(f"index({wrong!r}): expected a ConfigError, since there is no such agent")


def check_spec(play: Play) -> None:
    env = play.env
    try:
        text = json.dumps(env.spec(), allow_nan=False)
    except (TypeError, ValueError) as error:
        fail(f"config(): {error}; give plain numbers, strings, lists and dicts")
    innermost: Any = env.unwrapped
    if innermost.id not in registered():
        fail(
            f"id: {innermost.id!r} is not registered; call manyhands.register"
            f"(Game({innermost.id!r}, 'your.module:{type(innermost).__name__}')), so that records "
            "and other processes can build it"
        )
    again = from_spec(json.loads(text))
    if again != env or hash(again) != hash(env):
        fail(
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
    same(state, after.state, f"{where}: the state", PURE, env.exact)
    same(fields_of(outcome), outcome_of(after), f"{where}: the outcome", PURE, env.exact)
    parts = without(parts_of(env, frame.state), "summary")
    same(parts, seen_in(frame), where, PURE, env.exact)


def check_batches(play: Play) -> None:
    """Batches and mapped calls agree with single ones."""
    env, size = play.env, min(5, len(play.actions))
    keys = jax.vmap(lambda i: jax.random.fold_in(play.key, i))(np.arange(size))
    states = stacked([frame.state for frame in play.frames[:size]])
    rows = stacked(play.actions[:size])

    def step(key: Any, state: Any, actions: Any) -> Any:
        new, outcome = env.step(key, state, actions)
        return new, fields_of(outcome), parts_of(env, state)

    def batch_step(keys: Any, states: Any, actions: Any) -> Any:
        new, outcome = env.batch_step(keys, states, actions)
        return new, fields_of(outcome), batch_parts(env, states)

    mapped = jax.jit(jax.vmap(step, in_axes=(0, -1, -1), out_axes=-1))(keys, states, rows)
    batch = jax.jit(batch_step)(keys, states, rows)
    hint = "with `batched = True` every array has one more axis, the last, and nothing may mix it"
    same(batch, mapped, "a batch beside jax.vmap", hint, env.exact)
    for i in range(size):
        state, outcome, seen = column(batch, i)
        after = play.frames[i + 1]
        where = f"step {i} in a batch of {size}"
        same(state, after.state, f"{where}: the state", hint, env.exact)
        same(outcome, outcome_of(after), f"{where}: the outcome", hint, env.exact)
        same(without(seen, "summary"), seen_in(play.frames[i]), where, hint, env.exact)
    first = jax.tree_util.tree_map(lambda leaf: leaf[..., :1], (states, rows))
    one = column(jax.jit(batch_step)(keys[:1], *first), 0)
    same(one, column(batch, 0), "a batch of one", hint, env.exact)


def check_resets(play: Play) -> None:
    """A batch of resets holds single resets, and `deterministic_reset` is true."""
    env = play.env
    keys = jax.vmap(seed_key)(np.arange(6, dtype=np.uint32))
    states = jax.jit(env.batch_reset)(keys)
    singles = [stepper(env).reset(keys[i]).state for i in range(6)]
    for i, state in enumerate(singles):
        what = f"reset {i} in a batch"
        same(column(states, i), state, what, "all chance comes from the key", env.exact)
    different = len({snapshot(env, state) for state in singles})
    if env.deterministic_reset and different > 1:
        fail("deterministic_reset: True, but the states of different keys differ; set it to False")
    if not env.deterministic_reset and different == 1:
        fail(
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
        same(state, play.frames[t].state, f"step {t}: the state", hint, env.exact)
        key = jax.random.fold_in(play.key, t)
        compiled(key, play.frames[t].state, rows)  # NumPy states, as snapshots give
        state, _ = compiled(key, state, rows)
    if len(traces) != 1:
        fail(
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
        fail(f"step: gives a state with the fields {other}, reset one with {tree}")
    for (path, a), (_, b) in zip(left, right, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            fail(
                f"step: the state's field {jax.tree_util.keystr(path)} becomes "
                f"{b.dtype}{list(b.shape)}, reset gives {a.dtype}{list(a.shape)}; cast it in step"
            )
    for name, dtype in (("reward", np.float32), ("terminated", bool), ("truncated", bool)):
        found = getattr(outcome, name)
        if (found.shape, found.dtype) != ((n,), dtype):
            fail(
                f"step: outcome.{name} is {found.dtype}{list(found.shape)}, expected "
                f"{np.dtype(dtype)}[{n}]; build it with Env.outcome"
            )


# ---- what a step yields --------------------------------------------------------------------------


def check_spaces(play: Play) -> None:
    """The spaces contain what is emitted, and `legal` and `acting` agree."""
    env, space = play.env, play.env.observation_space
    for t, frame in enumerate(play.frames):
        if frame.vector.dtype != space.dtype:
            fail(
                f"observe: {frame.vector.dtype}, but observation_space has {space.dtype}; cast one"
            )
        if frame.vector.shape != (env.num_agents, *(space.shape or ())):
            fail(
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
                fail(
                    f"observe: agent {env.agents[i]}, step {t}: outside of observation_space"
                    f"{outside}; widen the space or clip the observation"
                )
        if frame.legal.shape[0] != env.num_agents or frame.acting.shape != (env.num_agents,):
            fail(
                f"legal is bool[N, A] and acting bool[N] with N = {env.num_agents}; given "
                f"{frame.legal.shape} and {frame.acting.shape}"
            )
        wrong = np.flatnonzero(frame.legal.any(1) != frame.acting)
        if len(wrong):
            fail(
                f"legal: agent {env.agents[wrong[0]]}, step {t}: acting is "
                f"{bool(frame.acting[wrong[0]])}, but {int(frame.legal[wrong[0]].sum())} actions "
                "are legal; whoever moves has a legal action, and whoever does not has none"
            )


def check_rewards(play: Play) -> None:
    """Rewards are the weighted sums of the terms, and names never change."""
    env, first = play.env, play.frames[0]
    for t, frame in enumerate(play.frames):
        if set(frame.terms) != set(env.terms):
            fail(f"terms: step {t}: {list(frame.terms)}, expected those of terms={env.terms}")
        if list(frame.metrics) != list(first.metrics) or "illegal" not in frame.metrics:
            fail(
                f"metrics: step {t}: {list(frame.metrics)}, expected the same names at every step, "
                "'illegal' (illegal actions) among them"
            )
        for name, value in frame.metrics.items():
            if np.shape(value) != ():
                fail(f"metrics: {name!r} is {np.shape(value)}, expected one number")
        expected = np.float32(0)
        for name in env.terms:
            expected = expected + np.float32(env.reward_weights[name]) * frame.terms[name]
        hint = "build outcomes with Env.outcome, which sums weight times term in order"
        same(frame.reward, np.broadcast_to(expected, frame.reward.shape), "reward", hint)


def check_random_play_ends(play: Play) -> None:
    env, frames = play.env, [play.frames[-1]]
    t = len(play.actions)
    while not frames[-1].over:
        if t >= env.max_steps:
            fail(f"step {t}: the episode goes on after max_steps={env.max_steps}; truncate it")
        rows = play.actions[t % len(play.actions)]
        frames.append(stepper(env).step(play.key_data, t, frames[-1].state, rows))
        t += 1
    last = frames[-1]
    if not last.terminated.any() and not (t == env.max_steps and last.truncated.all()):
        fail(f"step {t}: truncated before max_steps={env.max_steps}; use terminated for rules")


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
        fail(
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
        same(now, wanted, f"{where}: the state", hint)
        same(found.reward, expected.reward, f"{where}: the reward", hint)
        if found.metrics["illegal"] != 1:
            fail(f"{where}: metrics['illegal'] is {found.metrics['illegal']}, expected 1")


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
        fail("snapshot(restore(snapshot)) gives other bytes; a state holds arrays alone")
    for _ in range(2):  # the second fork sees nothing of the first
        state = restore(env, kept)
        for u in range(t, len(play.actions)):
            frame = stepper(env).step(play.key_data, u, state, play.actions[u])
            state = frame.state
            where, hint = f"step {u} of a fork from step {t}", "a state must hold all that matters"
            same(state, play.frames[u + 1].state, f"{where}: the state", hint)
            same(seen_in(frame), seen_in(play.frames[u + 1]), where, hint)
            same(outcome_of(frame), outcome_of(play.frames[u + 1]), f"{where}: the outcome", hint)
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
        fail("a damaged snapshot was restored")


def check_fingerprints(play: Play) -> None:
    env, states = play.env, [frame.state for frame in play.frames]
    prints = [fingerprint(env, state) for state in states]
    if len(set(prints)) != len({snapshot(env, state) for state in states}):
        fail("fingerprints do not tell the states apart as snapshots do")
    for i, agent in enumerate(env.agents):
        seen: dict[Any, set[str]] = {}
        for frame in play.frames:
            look = frame.vector[i].tobytes(), env.describe(frame.state, i)
            seen.setdefault(look, set()).add(fingerprint(env, frame.state, i))
        if any(len(found) > 1 for found in seen.values()):
            fail(
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
            fail(
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
        same(fork.frame.state, play.frames[t + 1].state, what, "see elapsed")


# ---- one game through every API ------------------------------------------------------------------


def check_pettingzoo(play: Play) -> None:
    """A seed gives the same bytes through PettingZoo."""
    env, parallel = play.env, Parallel(play.env)
    parallel.reset(seed=SEED)
    hint = "a step depends on its state, its actions and its key alone"
    for t, rows in enumerate(play.actions):
        same(parallel.current, play.frames[t].state, f"PettingZoo, step {t}: the state", hint)
        asked = {a: rows[i] for i, a in enumerate(env.agents) if play.frames[t].acting[i]}
        live = list(parallel.agents)
        observations, rewards, *_ = parallel.step(asked)
        for i, agent in enumerate(env.agents):
            if agent in live:
                where = f"PettingZoo, agent {agent}, step {t}"
                same(observations[agent], play.frames[t + 1].vector[i], where, hint)
                expected = float(play.frames[t + 1].reward[i])
                same(rewards[agent], expected, f"{where}: the reward", hint)


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
        same(vector, play.frames[t].vector[0], f"Gymnasium, step {t}", PURE)
        vector, reward, *_ = seat.step(rows[0])
        expected = float(play.frames[t + 1].reward[0])
        same(reward, expected, f"Gymnasium, step {t}: the reward", PURE)


def check_play(play_: Play) -> None:
    """`play` gives the episode that its seed names, from the same legal actions."""
    env, found = play_.env, []
    actions: list[np.ndarray] = []
    key = episode_key(episode_seed(3, 0))
    key_data = np.asarray(jax.random.key_data(key))
    frames = [stepper(env).reset(key)]
    while len(actions) < 6 and not frames[-1].over:
        actions.append(random_actions(env, frames[-1]))
        t, state = len(actions) - 1, frames[-1].state
        frames.append(stepper(env).step(key_data, t, state, actions[-1]))

    def player(view: Any) -> Any:
        rows = actions[view.step][view.index]
        return rows.item() if rows.shape == () else rows

    def on_step(moment: Moment) -> None:
        found.append(snapshot(env, moment.frame.state))

    players = [player] * env.num_agents
    play(env, players, seed=3, max_steps=len(actions), progress=False, on_step=on_step)
    for t, (bytes_, frame) in enumerate(zip(found, frames, strict=False)):
        if bytes_ != snapshot(env, frame.state):
            fail(f"play, step {t}: another state than by single steps; {PURE}")
