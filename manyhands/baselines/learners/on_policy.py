"""What on-policy learners share: settings, environments that are stepped while learning, and epochs
of minibatch updates.

**Ends of episodes.** A terminated episode is reset at once. A truncated one takes one extra, masked
step, so that the value of its final state can be bootstrapped: nobody acts in that step, and
nothing is learned from it. An agent that is done before the others neither acts nor learns until
the next episode.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import optax

from manyhands.baselines.learners.networks import READS, inputs
from manyhands.baselines.learners.settings import check_settings
from manyhands.core.batch import auto_reset, play_step, pool_draw, restart, rollout_keys
from manyhands.core.config import number, one_of, whole
from manyhands.core.env import Array, ConfigError, Env, Outcome, state_dataclass
from manyhands.core.pack import no_actions

# ---- settings ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class LearnerConfig:
    """Settings of every on-policy learner. "Share" means share of all updates, from 0 to 1.

    Attributes:
        total_steps: environment steps, of one seed.
        num_envs: parallel environments.
        num_steps: steps of each environment per update.
        epochs, minibatches: passes over the data of an update, and parts of the environments
            that each pass is divided into.
        learning_rate: decays linearly to `learning_rate_end` times itself.
        discount: of later rewards.
        max_grad_norm: gradients are clipped to this global norm.
        reward_scale: what the reward is multiplied with before learning, so that values are of
            order one.
        shaping: (reward term, weight) pairs, added to the environment's own reward while learning;
            the weights decay linearly to 0 over `shaping_share` of the updates.
        pool: first states that episodes start from, drawn once; 0: the environment's `reset_pool`.
            Where episodes differ much, a small pool is learned by heart.
        reads: what the network observes, "perception" or "vector" (see `NetworkPolicy`).
        width, layers, recurrent, activation: of the networks, see `networks.NetworkConfig`.
    """

    total_steps: int = 5_000_000
    num_envs: int = 256
    num_steps: int = 100
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 1e-3
    learning_rate_end: float = 0.0
    discount: float = 0.99
    max_grad_norm: float = 0.5
    reward_scale: float = 1.0
    shaping: tuple[tuple[str, float], ...] = ()
    shaping_share: float = 0.5
    pool: int = 0
    reads: str = "perception"
    width: int = 64
    layers: int = 2
    recurrent: bool = False
    activation: str = "tanh"

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("total_steps", "num_envs", "num_steps", "epochs", "minibatches"):
            whole(name, getattr(self, name), 1)
        for _, weight in self.shaping:
            number("a weight of shaping", weight)
        if self.num_envs % self.minibatches:
            raise ConfigError(
                f"num_envs={self.num_envs} cannot be divided into minibatches={self.minibatches}"
            )
        one_of("reads", self.reads, READS)
        if self.total_steps < self.num_envs * self.num_steps:
            raise ConfigError(
                f"total_steps={self.total_steps} is less than one update, num_envs x num_steps = "
                f"{self.num_envs * self.num_steps}; give more, or fewer environments or steps"
            )


@dataclasses.dataclass(frozen=True)
class OnPolicyLearner:
    """The part of a learner (see `runs.Learner`) that follows from its settings."""

    env: Env
    config: Any

    def __post_init__(self) -> None:
        check_shaping(self.env, self.config.shaping)

    @property
    def steps_per_update(self) -> int:
        return self.config.num_envs * self.config.num_steps

    @property
    def num_updates(self) -> int:
        return self.config.total_steps // self.steps_per_update

    def learning_rate(self, share: Array) -> Array:
        """At this share of the updates."""
        c = self.config
        return c.learning_rate * (1.0 + share * (c.learning_rate_end - 1.0))

    def _rows(self, state: Any) -> Array:
        """What each agent's network observes, [B, N, ...]."""
        env = self.env
        perceive = self.config.reads == "perception"
        return by_env(env.batch_perceive(state) if perceive else env.batch_observe(state))

    def _inputs(self, rows: Array, leading: int) -> Array:
        return inputs(self.env, self.config.reads, rows, leading)


def check_shaping(env: Env, shaping: Sequence[tuple[str, float]]) -> None:
    """That shaping names reward terms."""
    for name, _ in shaping:
        if name not in env.terms:
            raise ConfigError(
                f"shaping names {name!r}, which is no reward term; "
                f"the terms are {', '.join(env.terms)}"
            )


def linear_decay(share: Array, over: float) -> Array:
    """From 1 linearly to 0, while `share` (of the updates) goes from 0 to `over`."""
    return jnp.maximum(0.0, 1.0 - share / over) if over else jnp.float32(0)


# ---- environments --------------------------------------------------------------------------------


@state_dataclass
class Playing:
    """The environments between two steps, batch axis last, and what goes with each.

    Attributes:
        state: batch of states.
        memory: what networks remember, arrays f32[B, N, width] by name.
        first: bool[B], whether the next step is the first of an episode.
        cut: bool[B], whether the episode was truncated, and is reset after one more, masked step.
        whole: bool[B], whether the episode started at its initial state.
        alive: bool[B, N], agents that are not done; where an episode was truncated, those that were
            not done before.
        episode, time: u32[B], i32[B]: the episode's number, and its steps so far.
        returns: f32[B, N], its rewards so far, unscaled and unshaped.
        metrics: its metrics and terms so far, f32[B] each.
    """

    state: Any
    memory: dict[str, Array]
    first: Array
    cut: Array
    whole: Array
    alive: Array
    episode: Array
    time: Array
    returns: Array
    metrics: dict[str, Array]


@state_dataclass
class StepResult:
    """What one step did.

    Attributes:
        reward: f32[B, N], of agents that are not done, with shaping.
        ended: bool[B, N], agents that are done, since this step or an earlier one.
        terminated: bool[B, N], in this step.
        over: bool[B], whether the episode ended in this step.
        report: sums over the episodes that ended, for `episode_stats`.
    """

    reward: Array
    ended: Array
    terminated: Array
    over: Array
    report: dict[str, Any]


def reset_envs(env: Env, key: Array, num_envs: int, memory: dict[str, Array]) -> Playing:
    """All environments at the initial states of their first episodes."""
    index, episode = jnp.arange(num_envs, dtype=jnp.uint32), jnp.zeros(num_envs, jnp.uint32)
    return Playing(
        state=env.batch_reset(rollout_keys(key, index, episode)),
        memory=memory,
        first=jnp.ones(num_envs, bool),
        cut=jnp.zeros(num_envs, bool),
        whole=jnp.ones(num_envs, bool),
        alive=jnp.ones((num_envs, env.num_agents), bool),
        episode=episode,
        time=jnp.zeros(num_envs, jnp.int32),
        returns=jnp.zeros((num_envs, env.num_agents)),
        metrics={name: jnp.zeros(num_envs) for name in _plotted_names(env, num_envs)},
    )


def step_envs(
    env: Env,
    key: Array,
    fresh: Any,
    playing: Playing,
    memory: dict[str, Array],
    actions: Array,
    shaping: Sequence[tuple[str, Array]],
    team_shaping: bool = False,
    restarts: bool = True,
) -> tuple[Playing, StepResult]:
    """One step of all environments.

    Args:
        key: the one that `reset_envs` got.
        fresh: first states to start episodes from (see `core.batch.fresh_states`).
        memory: what networks remember after this step.
        actions: [B, N, ...], as the environment takes them.
        shaping: (reward term, weight now) pairs, added to the reward.
        team_shaping: every agent gets what these terms pay to all of them.
        restarts: whether another episode begins where one has ended; otherwise nothing happens
            there any more, and no agent is alive.
    """
    index = jnp.arange(actions.shape[0], dtype=jnp.uint32)
    keys = rollout_keys(key, index, playing.episode)
    actions = jnp.moveaxis(actions, 0, -1)
    made = play_step(env, actions, playing.state, memory, keys, playing.time)
    outcome = made.outcome

    counts = playing.alive & ~playing.cut[:, None]
    own = by_env(outcome.reward) * counts
    reward = own
    for name, weight in shaping:
        term = by_env(outcome.terms[name])
        if team_shaping:
            term = jnp.sum(term, axis=1, keepdims=True)
        reward = reward + weight * term * counts
    terminated = by_env(outcome.terminated)
    ended = terminated | by_env(outcome.truncated) | ~playing.alive
    live = jnp.any(playing.alive, axis=1) & ~playing.cut
    over = jnp.all(ended, axis=1) & live
    # Truncated, for at least one agent that was not done before.
    lasting = playing.alive & ~terminated
    cut = over & jnp.any(lasting, axis=1) & restarts
    reset = ((over & ~cut) | playing.cut) & restarts

    returns = playing.returns + own
    time = playing.time + live
    metrics = {
        name: playing.metrics[name] + jnp.where(live, value, 0.0)
        for name, value in _plotted(outcome).items()
    }
    counted = over & playing.whole
    report = {
        "episodes": jnp.sum(counted, dtype=jnp.float32),
        "returns": jnp.sum(jnp.where(counted[:, None], returns, 0.0), axis=0),
        "length": jnp.sum(jnp.where(counted, time, 0), dtype=jnp.float32),
        "metrics": {
            name: jnp.sum(jnp.where(counted, value, 0.0)) for name, value in metrics.items()
        },
    }
    state = jax.tree_util.tree_map(
        lambda new, old: jnp.where(live, new, old), made.state, playing.state
    )
    episode = playing.episode
    if restarts:
        state, time, episode = restart(env, fresh, reset, state, time, key, index, episode)
    after = Playing(
        state=state,
        memory=memory,
        first=reset,
        cut=cut,
        whole=reset | playing.whole,
        alive=jnp.where(reset[:, None], True, jnp.where(cut[:, None], lasting, ~ended)),
        episode=episode,
        time=time,
        returns=jnp.where(reset[:, None], 0.0, returns),
        metrics={name: jnp.where(reset, 0.0, value) for name, value in metrics.items()},
    )
    return after, StepResult(reward, ended, terminated, over, report)


def begin_groups(env: Env, key: Array, fresh: Any, playing: Playing, size: int) -> Playing:
    """All environments at the start of their next episodes, which is the same for each `size` in a
    row; see `step_envs` for the others. What happens later differs, as far as it is random."""
    count = playing.first.shape[0]
    index, every = jnp.arange(count, dtype=jnp.uint32) // size, jnp.ones(count, bool)
    state, time, episode = restart(
        env, fresh, every, playing.state, playing.time, key, index, playing.episode
    )
    zero = jax.tree_util.tree_map(jnp.zeros_like, (playing.cut, playing.returns, playing.metrics))
    return dataclasses.replace(
        playing,
        state=state,
        first=every,
        cut=zero[0],
        whole=every,
        alive=jnp.ones_like(playing.alive),
        episode=episode,
        time=time,
        returns=zero[1],
        metrics=zero[2],
    )


def start_from(env: Env, key: Array, fresh: Any, playing: Playing, chosen: Array) -> Playing:
    """`playing` with a state of `fresh` wherever `chosen`, bool[B], as an episode's first."""
    index = jnp.arange(chosen.shape[0], dtype=jnp.uint32)
    keys = rollout_keys(key, index, playing.episode)
    draw = pool_draw(index, playing.episode)
    state = auto_reset(env, fresh, chosen, playing.state, keys, draw)
    return dataclasses.replace(playing, state=state)


def episode_stats(env: Env, report: dict[str, Any]) -> dict[str, Array]:
    """Statistics of the episodes that ended in an update, given the reports of its steps, time
    first: means over them, NaN if there were none, and their number."""
    episodes = jnp.sum(report["episodes"])  # 0 / 0 below is NaN, as it should be
    returns = jnp.sum(report["returns"], axis=0) / episodes
    return {
        "return": jnp.mean(returns),
        **{f"return/{name}": returns[i] for i, name in enumerate(env.agents)},
        "episodes": episodes,
        "length": jnp.sum(report["length"]) / episodes,
        **{name: jnp.sum(values) / episodes for name, values in report["metrics"].items()},
    }


def by_env(values: Array) -> Array:
    """[N, ..., B] as [B, N, ...]."""
    return jnp.moveaxis(values, -1, 0)


def _plotted(outcome: Outcome) -> dict[str, Array]:
    """The metrics, and the reward terms as means over agents."""
    terms = {f"terms/{name}": jnp.mean(value, axis=0) for name, value in outcome.terms.items()}
    return {f"metrics/{name}": value for name, value in outcome.metrics.items()} | terms


def _plotted_names(env: Env, num_envs: int) -> tuple[str, ...]:
    def plotted() -> Any:
        keys = jax.random.split(jax.random.key(0), num_envs)
        none = no_actions(env)
        idle = jnp.zeros((*none.shape, num_envs), none.dtype)
        return _plotted(env.batch_step(keys, env.batch_reset(keys), idle)[1])

    return tuple(jax.eval_shape(plotted))


# ---- updates -------------------------------------------------------------------------------------


def update_epochs(
    loss: Callable[[Any, Any, Any], tuple[Array, dict[str, Array]]],
    optimiser: optax.GradientTransformation,
    rate: Array,
    params: Any,
    moments: Any,
    steps: Any,
    memory: Any,
    key: Array,
    epochs: int,
    minibatches: int,
) -> tuple[Any, Any, dict[str, Array]]:
    """(parameters, optimiser state, mean losses) after all epochs of minibatches.

    Args:
        loss: of parameters, and of the parts of `steps` and `memory` that are in a minibatch.
        optimiser, rate: a step is `rate` times the optimiser's update.
        params, moments: parameters and optimiser state before.
        steps, memory: what is learned from: [T, B, ...], and before its first step, [B, ...];
            minibatches are of environments, so that sequences stay whole.
    """
    count = jax.tree_util.tree_leaves(steps)[0].shape[1]

    def minibatch(at: tuple[Any, Any], chosen: Array) -> Any:
        params, moments = at
        part = jax.tree_util.tree_map(
            lambda leaf: jnp.take(leaf, chosen, axis=1, mode="clip"), steps
        )
        before = jax.tree_util.tree_map(
            lambda leaf: jnp.take(leaf, chosen, axis=0, mode="clip"), memory
        )
        (_, losses), gradient = jax.value_and_grad(loss, has_aux=True)(params, part, before)
        losses["grad_norm"] = optax.tree.norm(gradient)
        change, moments = optimiser.update(gradient, moments, params)
        params = jax.tree_util.tree_map(lambda p, d: p - rate * d, params, change)
        return (params, moments), losses

    def epoch(at: tuple[Any, Any], key: Array) -> Any:
        order = jax.random.permutation(key, count).reshape(minibatches, -1)
        return jax.lax.scan(minibatch, at, order)

    (params, moments), losses = jax.lax.scan(
        epoch, (params, moments), jax.random.split(key, epochs)
    )
    return params, moments, jax.tree_util.tree_map(jnp.mean, losses)


def masked_mean(values: Array, mask: Array) -> Array:
    """The mean where `mask` holds; 0 if it holds nowhere."""
    return jnp.sum(jnp.where(mask, values, 0.0)) / jnp.maximum(jnp.sum(mask), 1)
