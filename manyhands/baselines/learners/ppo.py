"""Proximal policy optimisation (Schulman et al. 2017) for any number of agents.

`PPO(env, PPOConfig())` is IPPO: every seat is played by one network, which learns from each of
them (de Witt et al. 2020). With `centralised_critic=True` it is MAPPO (Yu et al. 2022): the critic
also sees `Env.summary`. One `update` is a rollout, the advantages, and some epochs of minibatches:
one pure function, which `training.train` compiles, repeats, and maps over seeds.

**Turns.** Values are learned at every step, the policy where its agent is `acting`. Ends of
episodes are described in `on_policy`.

**Averages.** In a zero-sum game the policy of self-play cycles around an equilibrium, while its
average converges (as in fictitious play, Heinrich and Silver 2016). With `average=K` snapshots are
kept, and `PPO.average` is the player that draws one of them for each episode.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from manyhands.baselines.learners.groups import (
    Anchors,
    compare_anchors,
    compared,
    fingerprints,
    group_advantages,
    returns_to_come,
)
from manyhands.baselines.learners.networks import (
    Actions,
    Network,
    NetworkConfig,
    actions_of,
    slots_of,
)
from manyhands.baselines.learners.on_policy import (
    LearnerConfig,
    OnPolicyLearner,
    Playing,
    begin_groups,
    by_env,
    episode_stats,
    linear_decay,
    masked_mean,
    reset_envs,
    start_from,
    step_envs,
    update_epochs,
)
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.batch import Transition, fresh_states, play_episodes, seats_of
from manyhands.core.config import one_of
from manyhands.core.env import Array, ConfigError, squash, state_dataclass

ADVANTAGES = ("gae", "role", "group", "anchor")
COMPARED = ("group", "anchor")  # with episodes of the same start, without a critic
POOL = 512  # states to start from, of games played by `start_player`


@dataclasses.dataclass(frozen=True)
class PPOConfig(LearnerConfig):
    """Settings of PPO, beyond `LearnerConfig`; the optimiser is Adam.

    Attributes:
        gae_lambda: of generalised advantage estimation (Schulman et al. 2016).
        bootstrap: whether what would have come after the time limit counts, as the critic values
            the last state. False: the time limit is an end like any other, as it should be where
            the observation has a clock (Pardo et al. 2018). No step is ever learned from in the
            last state, so that its value is a guess; next to a clock the guess can feed itself.
        clip: of the probability ratio.
        entropy, entropy_end: weight of the entropy bonus, linear from the first to the last update.
        value_weight: weight of the critic's loss.
        team_shaping: every agent gets the sum over all agents of the shaping terms, not its own.
        start_player: a seat by name; where rewards are sparse, episodes may start in the middle of
            games that it played with itself (Salimans and Chen 2018), at a random step.
        start_share: share of such episodes at first; it decays linearly to 0 at half of the
            updates. Only whole episodes count in what is reported.
        centralised_critic: MAPPO instead of IPPO.
        advantage: "gae"; or, without a critic, "role": the return minus its running mean for the
            seat (role-conditioned advantage estimation, Liu et al. 2025, SPIRAL); "group": the
            return compared with those of the same start (Shao et al. 2024, GRPO); "anchor": that,
            and each step compared with those in which the same was observed (Feng et al. 2025,
            GiGPO). For the last two see `groups`.
        role_decay: decay of the running means per update.
        group: how many episodes have the same start. From 2 on an update plays one whole episode in
            each environment, so that `num_steps` is at least the length of the longest.
        group_scale: whether compared returns are divided by their deviations.
        anchor_weight: of the comparison of steps, beside that of episodes.
        anchor_ignores: pieces of the observation, or last words of the names of its numbers, in
            which two observations may differ and still count as the same: clocks, ages.
        average: how many snapshots of the policy are kept for the average strategy, at regular
            updates, each at most once; 0 keeps none.
        average_from: share of the updates after which the first is taken.
        normalise: shift and scale inputs by their running mean and deviation.
        noise: for continuous actions, the initial standard deviation, in units of half the space's
            width: too much of it must first be unlearned.
        slots: whether actions about rows of the observation (`Piece.actions`) are also scored by
            weights that all these rows share; with reads="vector".
    """

    gae_lambda: float = 0.95
    bootstrap: bool = True
    clip: float = 0.2
    entropy: float = 0.01
    entropy_end: float = 0.01
    value_weight: float = 0.5
    team_shaping: bool = False
    start_player: str = ""
    start_share: float = 0.5
    centralised_critic: bool = False
    advantage: str = "gae"
    role_decay: float = 0.95
    group: int = 1
    group_scale: bool = True
    anchor_weight: float = 1.0
    anchor_ignores: tuple[str, ...] = ()
    average: int = 0
    average_from: float = 0.5
    normalise: bool = False
    noise: float = 0.6
    slots: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slots and self.reads != "vector":
            raise ConfigError(f"slots needs reads='vector', given reads={self.reads!r}")
        if not 0 < self.noise <= 2:
            raise ConfigError(f"noise is above 0 and at most 2, given {self.noise}")
        one_of("advantage", self.advantage, ADVANTAGES)
        if self.group < 1 or self.num_envs % self.group:
            raise ConfigError(
                f"group divides num_envs={self.num_envs} into groups of equal size, given "
                f"{self.group}"
            )
        if self.advantage in COMPARED and self.group < 2:
            raise ConfigError(f"the advantage {self.advantage!r} compares a group: give group=8")
        if self.group > 1 and self.start_player:
            raise ConfigError("start_player is for episodes that are in no group")
        if self.average < 0 or not 0 <= self.average_from < 1:
            raise ConfigError(
                "average is a whole number from 0, average_from a share from 0 and below 1; given "
                f"{self.average} and {self.average_from}"
            )


@state_dataclass
class Steps:
    """The data of an update: time first, then environments, then agents.

    Attributes:
        row: [T, B, N, ...], what the network observes, as the environment gives it.
        summary: [T, B, ...], the global state for a centralised critic, or None.
        legal: bool[T, B, N, A].
        acts: bool[T, B, N], whether the action counted.
        counts: bool[T, B, N], whether the step is one of an episode in which the agent is not done.
        action: [T, B, N, ...]. log_prob: f32[T, B, N].
        reward: f32[T, B, N], scaled, with shaping.
        ended, terminated: bool[T, B, N].
        first: bool[T, B].
    """

    row: Array
    summary: Array | None
    legal: Array
    acts: Array
    counts: Array
    action: Array
    log_prob: Array
    reward: Array
    ended: Array
    terminated: Array
    first: Array


@state_dataclass
class Progress:
    """All that changes while learning.

    Attributes:
        params: {"actor": ..., "critic": ...}.
        optimiser: optax state.
        mean, variance, count: running moments of the inputs, f32[K], f32[K], f32[].
        baseline: f32[N], mean return of each seat, for `advantage="role"`.
        snapshots: what `policy` gave after some updates, along a first axis of `average`, or None.
        playing: the environments.
        fresh: first states to start episodes from (see `core.batch.fresh_states`).
        played: states from games of `start_player`, batch axis last, or None.
        key: of everything that is random. update: i32[], updates made.
    """

    params: dict[str, Any]
    optimiser: Any
    mean: Array
    variance: Array
    count: Array
    baseline: Array
    snapshots: Any
    playing: Playing
    fresh: Any
    played: Any
    key: Array
    update: Array


@dataclasses.dataclass(frozen=True)
class PPO(OnPolicyLearner):
    """A learner: see the module's text, and `PPOConfig`."""

    config: PPOConfig

    def __post_init__(self) -> None:
        super().__post_init__()
        actions_of(self.env.action_space)  # raises if networks cannot act there
        c = self.config
        if c.group > 1:
            if c.num_steps < self.env.max_steps:
                raise ConfigError(
                    f"with groups an update plays whole episodes: num_steps is at least "
                    f"{self.env.max_steps}, given {c.num_steps}"
                )
            if c.anchor_ignores:
                compared(self.env, c.anchor_ignores)
                if c.reads != "vector":
                    raise ConfigError("anchor_ignores names parts of what reads='vector' observes")

    @property
    def name(self) -> str:
        return "mappo" if self.config.centralised_critic else "ippo"

    @property
    def _kept(self) -> int:
        """How many snapshots there are at the end."""
        c = self.config
        return min(c.average, self.num_updates - int(c.average_from * self.num_updates))

    @property
    def network(self) -> NetworkConfig:
        c = self.config
        slots = slots_of(self.env) if c.slots else ()
        return NetworkConfig(c.width, c.layers, c.recurrent, c.activation, slots=slots)

    @property
    def _actions(self) -> Actions:
        return actions_of(self.env.action_space)

    @property
    def _actor(self) -> Network:
        actions = self._actions
        bias = actions.bias(self.config.noise) if hasattr(actions, "bias") else ()
        return Network(self.network, actions.size, head_scale=0.01, head_bias=bias)

    @property
    def _critic(self) -> Network:
        return Network(dataclasses.replace(self.network, slots=()), 1)

    @functools.cached_property
    def _optimiser(self) -> optax.GradientTransformation:
        clip = optax.clip_by_global_norm(self.config.max_grad_norm)
        return optax.chain(clip, optax.scale_by_adam(eps=1e-5))

    # ---- before the first update --------------------------------------------------------------

    def init(self, key: Array) -> Progress:
        """Networks and environments before the first update."""
        env, c = self.env, self.config
        actor_key, critic_key, pool_key, play_key = jax.random.split(key, 4)
        memory = {
            "actor": self._actor.start(c.num_envs, env.num_agents),
            "critic": self._critic.start(c.num_envs, env.num_agents),
        }
        playing = reset_envs(env, play_key, c.num_envs, memory)
        x = self._inputs(self._rows(playing.state), 2)
        first, summary = playing.first[:, None], self._summary(playing.state)
        seen = x if summary is None else self._critic_inputs(x[None], summary[None])[0]
        params = {
            "actor": self._actor.init(actor_key, memory["actor"], x, first),
            "critic": self._critic.init(critic_key, memory["critic"], seen, first),
        }
        progress = Progress(
            params=params,
            optimiser=self._optimiser.init(params),
            mean=jnp.zeros(x.shape[-1]),
            variance=jnp.ones(x.shape[-1]),
            count=jnp.float32(1e-4),
            baseline=jnp.zeros(env.num_agents),
            snapshots=None,
            playing=playing,
            fresh=fresh_states(env, pool_key, c.pool or env.reset_pool),
            played=self._played(pool_key) if c.start_player else None,
            key=play_key,
            update=jnp.int32(0),
        )
        if not c.average:
            return progress
        snapshots = jax.tree_util.tree_map(
            lambda leaf: jnp.zeros((self._kept, *leaf.shape), leaf.dtype), self.player(progress)
        )
        return dataclasses.replace(progress, snapshots=snapshots)

    def policy(self, progress: Progress) -> NetworkPolicy:
        """The policy of `progress` (of one seed), as a player."""
        policy: NetworkPolicy = jax.device_get(self.player(progress))
        return policy

    def average(self, progress: Progress) -> NetworkPolicy | None:
        """The average strategy of the updates until now, as a player that draws one of the
        snapshots for each episode; None if there are none."""
        taken = int(self._slot(progress.update)) + 1 if self.config.average else 0
        if taken < 1:
            return None
        snapshots = jax.tree_util.tree_map(lambda leaf: leaf[:taken], progress.snapshots)
        return dataclasses.replace(jax.device_get(snapshots), snapshots=taken)

    def player(self, progress: Progress) -> NetworkPolicy:
        """What `policy` gives, inside compiled code."""
        params = {
            "network": progress.params["actor"],
            "mean": progress.mean,
            "scale": self._input_scale(progress),
        }
        return NetworkPolicy(
            params, self.network, self.config.reads, self.env.spec(), False, self.name
        )

    def _slot(self, update: Array) -> Array:
        """Which snapshot the policy after so many updates belongs to; -1 before the first. Each
        snapshot is the last of its equal part of the updates that are averaged."""
        before = int(self.config.average_from * self.num_updates)
        done, averaged = update - before, self.num_updates - before
        return jnp.where(done > 0, (done - 1) * self._kept // averaged, -1)

    # ---- one update ---------------------------------------------------------------------------

    def update(self, progress: Progress) -> tuple[Progress, dict[str, Array]]:
        """Play `num_steps` steps in all environments, then learn from them. Pure."""
        c = self.config
        share = progress.update / max(self.num_updates - 1, 1)
        shaping = linear_decay(share, c.shaping_share)
        key = jax.random.fold_in(progress.key, progress.update)
        if c.group > 1:
            playing = begin_groups(
                self.env, progress.key, progress.fresh, progress.playing, c.group
            )
            progress = dataclasses.replace(progress, playing=playing)
        playing, (steps, report) = jax.lax.scan(
            functools.partial(self._step, progress, shaping),
            progress.playing,
            jax.random.split(key, c.num_steps),
        )
        steps, told = self._rewarded(progress, steps)
        values, critic = self._values(progress, playing, steps)
        stats = episode_stats(self.env, report) | told
        advantages = self._advantages(steps, values)
        if c.group > 1:
            anchors = self._anchors(steps)
            stats |= {"repeated": anchors.repeated, "met": anchors.met}
            if c.advantage == "anchor":
                advantages = advantages + c.anchor_weight * anchors.advantage
        targets = advantages + values[:-1]
        params, optimiser, losses = self._learn(
            progress, steps, advantages, targets, jax.random.fold_in(key, 0), share
        )
        playing = dataclasses.replace(playing, memory={**playing.memory, "critic": critic})
        returns = jnp.stack([stats[f"return/{name}"] for name in self.env.agents])
        baseline = progress.baseline
        if c.advantage == "role":
            moved = c.role_decay * baseline + (1 - c.role_decay) * returns * c.reward_scale
            baseline = jnp.where(stats["episodes"] > 0, moved, baseline)
        if c.normalise:  # from the next update on: this one's probabilities are of the old inputs
            progress = self._learn_scale(progress, steps)
        progress = dataclasses.replace(
            progress,
            params=params,
            optimiser=optimiser,
            baseline=baseline,
            playing=playing,
            update=progress.update + 1,
        )
        if c.average:
            slot = self._slot(progress.update)
            slot = jnp.where(slot < 0, self._kept, slot)  # out of bounds: dropped
            snapshots = jax.tree_util.tree_map(
                lambda kept, now: kept.at[slot].set(now, mode="drop"),
                progress.snapshots,
                self.player(progress),
            )
            progress = dataclasses.replace(progress, snapshots=snapshots)
        return progress, {**stats, **losses, "shaping": shaping}

    def _rewarded(self, progress: Progress, steps: Steps) -> tuple[Steps, dict[str, Array]]:
        """The steps, with what a subclass pays for besides; and its metrics."""
        return steps, {}

    def _step(
        self, progress: Progress, shaping: Array, playing: Playing, key: Array
    ) -> tuple[Playing, Any]:
        """One step of all environments."""
        env, c = self.env, self.config
        rows = self._rows(playing.state)
        legal = by_env(env.batch_legal(playing.state))
        acting = by_env(env.batch_acting(playing.state))
        x = self._scaled(progress, self._inputs(rows, 2))
        actor, outputs = self._actor.advance(
            progress.params["actor"], playing.memory["actor"], x, playing.first[:, None], acting
        )
        action = self._actions.sample(key, outputs, legal)
        log_prob = self._log_prob(outputs, legal, action)

        after, result = step_envs(
            env,
            progress.key,
            progress.fresh,
            playing,
            {**playing.memory, "actor": actor},
            self._actions.playable(action),
            [(name, shaping * weight) for name, weight in c.shaping],
            c.team_shaping,
            restarts=c.group == 1,
        )
        if c.start_player:
            share = c.start_share * linear_decay(progress.update / self.num_updates, 0.5)
            drawn = jax.random.uniform(jax.random.fold_in(key, 1), after.first.shape)
            within = after.first & (drawn < share)
            after = start_from(env, progress.key, progress.played, after, within)
            after = dataclasses.replace(after, whole=after.whole & ~within)
        counts = playing.alive & ~playing.cut[:, None]
        steps = Steps(
            row=rows,
            summary=self._summary(playing.state),
            legal=legal,
            acts=acting & counts,
            counts=counts,
            action=action,
            log_prob=log_prob,
            reward=result.reward * c.reward_scale,
            ended=result.ended,
            terminated=result.terminated if c.bootstrap else result.ended,
            first=playing.first,
        )
        return after, (steps, result.report)

    def _values(self, progress: Progress, playing: Playing, steps: Steps) -> tuple[Array, Array]:
        """(values f32[T + 1, B, N], the critic's memory after T steps)."""
        c = self.config
        if c.advantage != "gae":  # the means stay 0 where they are not used
            shape = (c.num_steps + 1, *steps.reward.shape[1:])
            return jnp.broadcast_to(progress.baseline, shape), playing.memory["critic"]
        after, later = self._rows(playing.state), self._summary(playing.state)
        x = self._scaled(progress, self._inputs(steps.row, 3))
        x = self._critic_inputs(x, steps.summary)
        memory, values = self._critic.unroll(
            progress.params["critic"], progress.playing.memory["critic"], x, steps.first[..., None]
        )
        x = self._scaled(progress, self._inputs(after, 2))[None]
        x = self._critic_inputs(x, None if later is None else later[None])[0]
        _, last = self._critic.advance(progress.params["critic"], memory, x, playing.first[:, None])
        return jnp.concatenate([values, last[None]])[..., 0], memory

    def _advantages(self, steps: Steps, values: Array) -> Array:
        """Of episodes or steps, f32[T, B, N]; without what `anchor` adds."""
        c = self.config
        if c.advantage in COMPARED:
            of_episode = group_advantages(jnp.sum(steps.reward, axis=0), c.group, c.group_scale)
            return jnp.broadcast_to(of_episode, steps.reward.shape)
        decay = c.discount * (1.0 if c.advantage == "role" else c.gae_lambda)

        def back(following: Array, at: tuple[Array, ...]) -> tuple[Array, Array]:
            reward, ended, terminated, value, next_value = at
            td_error = reward + c.discount * jnp.where(terminated, 0.0, next_value) - value
            advantage = td_error + decay * jnp.where(ended, 0.0, following)
            return advantage, advantage

        at = (steps.reward, steps.ended, steps.terminated, values[:-1], values[1:])
        return jax.lax.scan(back, jnp.zeros_like(values[0]), at, reverse=True)[1]

    def _anchors(self, steps: Steps) -> Anchors:
        """The steps of each group in which an agent observed the same, compared."""
        c = self.config
        rows = steps.row.shape[3:]
        counts = np.ones(int(np.prod(rows)), bool)
        if c.anchor_ignores:
            counts = compared(self.env, c.anchor_ignores)
        to_come = returns_to_come(steps.reward, c.discount)
        anchors = fingerprints(steps.row, 3, counts)
        return compare_anchors(to_come, anchors, steps.acts, c.group, c.group_scale)

    def _learn(
        self,
        progress: Progress,
        steps: Steps,
        advantages: Array,
        targets: Array,
        key: Array,
        share: Array,
    ) -> tuple[Any, Any, dict[str, Array]]:
        """(parameters, optimiser state, mean losses) after all epochs of minibatches."""
        c = self.config
        rate = self.learning_rate(share)
        bonus = c.entropy + share * (c.entropy_end - c.entropy)

        def loss(params: Any, part: tuple[Steps, Array, Array], memory: dict[str, Array]) -> Any:
            return self._loss(progress, part[0], part[1], part[2], memory, bonus, params)

        return update_epochs(
            loss,
            self._optimiser,
            rate,
            progress.params,
            progress.optimiser,
            (steps, advantages, targets),
            progress.playing.memory,
            key,
            c.epochs,
            c.minibatches,
        )

    def _loss(
        self,
        progress: Progress,
        steps: Steps,
        advantage: Array,
        target: Array,
        memory: dict[str, Array],
        bonus: Array,
        params: Any,
    ) -> tuple[Array, dict[str, Array]]:
        """The clipped objective, and metrics."""
        c = self.config
        first = steps.first[..., None]
        x = self._scaled(progress, self._inputs(steps.row, 3))
        _, outputs = self._actor.unroll(params["actor"], memory["actor"], x, first, steps.acts)
        counts = steps.counts
        policy_loss, losses = self._policy_loss(steps, outputs, advantage)
        entropy = self._entropy(steps, outputs)
        loss = policy_loss - bonus * entropy
        losses |= {"policy_loss": policy_loss, "entropy": entropy}
        if c.advantage == "gae":
            seen = self._critic_inputs(x, steps.summary)
            _, values = self._critic.unroll(params["critic"], memory["critic"], seen, first)
            error = target - values[..., 0]
            value_loss = 0.5 * masked_mean(error**2, counts)
            loss = loss + c.value_weight * value_loss
            variance = masked_mean((target - masked_mean(target, counts)) ** 2, counts)
            losses["value_loss"] = value_loss
            losses["explained_variance"] = 1 - 2 * value_loss / (variance + 1e-8)
        penalty, stats = self._penalty(steps, outputs)
        losses |= stats
        losses["loss"] = loss + penalty
        return losses["loss"], losses

    def _log_prob(self, outputs: Array, legal: Array, action: Array) -> Array:
        """What `_policy_loss` compares, before and after: f32[..., B, N] or more."""
        return self._actions.log_prob(outputs, legal, action)

    def _policy_loss(
        self, steps: Steps, outputs: Array, advantage: Array
    ) -> tuple[Array, dict[str, Array]]:
        """The clipped objective of the policy alone, and metrics."""
        log_prob = self._log_prob(outputs, steps.legal, steps.action)
        return self._clipped(log_prob - steps.log_prob, advantage, steps.acts)

    def _entropy(self, steps: Steps, outputs: Array) -> Array:
        """What the entropy bonus is paid for: the mean entropy of the policy."""
        return masked_mean(self._actions.entropy(outputs, steps.legal), steps.acts)

    def _clipped(
        self, change: Array, advantage: Array, acts: Array
    ) -> tuple[Array, dict[str, Array]]:
        """The clipped objective over the steps in `acts`, given by how much the logarithms of
        their probabilities have changed."""
        c = self.config
        if c.advantage not in COMPARED:  # those are already
            centre = masked_mean(advantage, acts)
            spread = jnp.sqrt(masked_mean((advantage - centre) ** 2, acts))
            advantage = (advantage - centre) / (spread + 1e-8)
        change = jnp.where(acts, change, 0.0)
        ratio = jnp.exp(change)
        clipped = jnp.clip(ratio, 1 - c.clip, 1 + c.clip)
        return -masked_mean(jnp.minimum(ratio * advantage, clipped * advantage), acts), {
            "kl": masked_mean(ratio - 1 - change, acts),
            "clip_fraction": masked_mean((jnp.abs(ratio - 1) > c.clip).astype(jnp.float32), acts),
        }

    def _penalty(self, steps: Steps, outputs: Array) -> tuple[Array, dict[str, Array]]:
        """What a subclass adds to the loss, given the actor's outputs; and its metrics."""
        return jnp.float32(0), {}

    # ---- what the networks see ----------------------------------------------------------------

    def _summary(self, state: Any) -> Array | None:
        if not self.config.centralised_critic:
            return None
        return by_env(self.env.batch_summary(state))

    def _critic_inputs(self, x: Array, summary: Array | None) -> Array:
        """The agents' own inputs [T, B, N, K], and beside them the summary [T, B, ...] if any."""
        if summary is None:
            return x
        wide = jax.vmap(jax.vmap(squash))(summary)[:, :, None]
        return jnp.concatenate([x, jnp.broadcast_to(wide, (*x.shape[:3], wide.shape[-1]))], axis=-1)

    def _input_scale(self, progress: Progress) -> Array:
        return jax.lax.rsqrt(progress.variance + 1e-8)

    def _scaled(self, progress: Progress, x: Array) -> Array:
        if not self.config.normalise:
            return x
        return (x - progress.mean) * self._input_scale(progress)

    def _learn_scale(self, progress: Progress, steps: Steps) -> Progress:
        """Running moments with the rows of `steps` counted in (Chan et al. 1979)."""
        x = self._inputs(steps.row, 3)
        weight = steps.counts[..., None].astype(jnp.float32)
        count = jnp.sum(weight)
        mean = jnp.sum(x * weight, axis=(0, 1, 2)) / count
        variance = jnp.sum((x - mean) ** 2 * weight, axis=(0, 1, 2)) / count
        total = progress.count + count
        shift = mean - progress.mean
        merged = progress.variance * progress.count + variance * count
        merged = merged + shift**2 * progress.count * count / total
        return dataclasses.replace(
            progress,
            mean=progress.mean + shift * count / total,
            variance=merged / total,
            count=total,
        )

    def _played(self, key: Array) -> Any:
        """`POOL` states from as many games of `start_player` with itself, each at a random step."""
        env = self.env
        seats = seats_of(env, self.config.start_player)
        keys = jax.random.split(key, POOL)
        chosen = jax.random.randint(key, (POOL,), 0, env.max_steps)

        def keep(kept: Any, made: Transition, playing: Array) -> Any:
            state, over = kept
            over = over | jnp.any(made.outcome.terminated | made.outcome.truncated, axis=0)
            reached = (made.time < chosen) & ~over
            state = jax.tree_util.tree_map(
                lambda new, old: jnp.where(reached, new, old), made.state, state
            )
            return state, over

        start = (env.batch_reset(keys), jnp.zeros(POOL, bool))
        play = functools.partial(seats.apply, env)
        return play_episodes(env, play, seats.init(env, POOL), keys, start, keep)[0]
