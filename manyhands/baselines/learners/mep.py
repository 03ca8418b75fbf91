"""Maximum-entropy population (MEP): fictitious co-play beside partners who learned to differ.

Members of a population that learn in self-play alone may come to play alike. Zhao et al., "Maximum
Entropy Population-Based Training for Zero-Shot Human-AI Coordination" (AAAI 2023), pay them for
what the population seldom does: for an action a that was taken on observing o, every member gets
`population_entropy` times -log p(a | o), where p is the mean of all members' policies. On average
that is the entropy of this mean policy, so that members differ from each other, and each stays
random where that costs nothing.

The learner then meets the first, middle and last checkpoints of all members, as in `FCP`, but the
harder ones more often: a partner is drawn with a chance proportional to its rank to the power of
`priority`, where rank 1 is the one beside whom the learner gets most. It is drawn anew each time
that an episode could have ended. In some places (`selves`) the learner meets itself.

In the paper the rank is by the return of episodes played for that; here, by the reward of the
steps that are learned from. There the learner does not meet itself, and need not play well with
itself in the end.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from manyhands.baselines.learners.on_policy import masked_mean
from manyhands.baselines.learners.population import (
    FCP,
    FCPConfig,
    FCPProgress,
    Lapses,
    combined,
    lapses_of,
    spread,
)
from manyhands.baselines.learners.ppo import PPO, Progress, Steps
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.env import Array, ConfigError, state_dataclass

DRAWS = 2_000_000  # folded into a learner's key: beyond the numbers of its updates and past selves
KEPT = 0.5  # of what was known of a partner, when it is met again


@dataclasses.dataclass(frozen=True)
class MEPConfig(FCPConfig):
    """Beyond `FCPConfig`:

    Attributes:
        population_entropy: what a member is paid for a step in which the population would take its
            action with a chance of 1/e, in points of the game.
        priority: the power of a partner's rank, from which its chance follows; 0 draws evenly.
        selves: how many more partners are the learner as it is now.
    """

    population_entropy: float = 0.01
    priority: float = 3.0
    selves: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.population_entropy >= 0 or not self.priority >= 0:
            raise ConfigError(
                "population_entropy and priority are numbers from 0, given "
                f"{self.population_entropy} and {self.priority}"
            )
        if self.selves < 0:
            raise ConfigError(f"selves is a whole number from 0, given {self.selves}")
        if self.recurrent:
            raise ConfigError(
                "mep asks every member what it would do in another's place, which needs networks "
                "without memory: leave out recurrent, or choose fcp"
            )


@dataclasses.dataclass(frozen=True)
class Diverse(PPO):
    """A member, which is also paid for what the population seldom does.

    Attributes:
        everyone: `Progress` of all members as they are now, [members, ...].
        weight: `MEPConfig.population_entropy`.
    """

    everyone: Progress
    weight: float

    def _rewarded(self, progress: Progress, steps: Steps) -> tuple[Steps, dict[str, Array]]:
        x, first = self._inputs(steps.row, 3), steps.first[..., None]
        memory = progress.playing.memory["actor"]  # none: networks are not recurrent

        def log_prob(member: Progress) -> Array:
            seen = self._scaled(member, x)
            _, outputs = self._actor.unroll(member.params["actor"], memory, seen, first, steps.acts)
            return self._actions.log_prob(outputs, steps.legal, steps.action)

        each = jax.vmap(log_prob)(self.everyone)
        surprise = jnp.log(len(each)) - jax.nn.logsumexp(each, axis=0)
        bonus = self.weight * jnp.where(steps.acts, surprise, 0.0)
        reward = steps.reward + self.config.reward_scale * bonus
        return dataclasses.replace(steps, reward=reward), {"bonus": masked_mean(bonus, steps.acts)}


@dataclasses.dataclass(frozen=True)
class Watched(PPO):
    """The learner, which tells what it gets in a step beside each of the first partners,
    f32[partners], of so many `places`."""

    places: int
    partners: int

    def _rewarded(self, progress: Progress, steps: Steps) -> tuple[Steps, dict[str, Array]]:
        seats = len(self.env.config()["players"]) // self.places  # see `population.pairing`
        blocks = jnp.mean(steps.reward, axis=(0, 2)).reshape(seats, self.places, -1)
        beside = jnp.mean(blocks, axis=(0, 2))[: self.partners]
        return steps, {"beside": beside, "bonus": jnp.float32(0)}


@state_dataclass
class MEPProgress(FCPProgress):
    """Beyond `FCPProgress`:

    Attributes:
        rewards: f32[partners], what the learner got in a step beside each partner of the pool, a
            moving mean; -inf of those not met yet.
        drawn: i32[partners], who is met now: places in the pool.
    """

    rewards: Array
    drawn: Array


@dataclasses.dataclass(frozen=True)
class MEP(FCP):
    """Maximum-entropy population: the stages of `FCP`."""

    config: MEPConfig

    @property
    def name(self) -> str:
        return "mep"

    @property
    def _partners(self) -> int:
        """In the pool."""
        return 3 * self.config.members

    @property
    def _places(self) -> int:
        return self._partners + self.config.selves

    @property
    def _lapses(self) -> Lapses | None:
        c = self.config
        shares = spread(c.lapses, self._partners) + spread(c.lapses, c.selves)
        return lapses_of(self.env, shares, c.own_lapses, c.lapse_steps)

    def _member(self, members: Progress) -> PPO:
        return Diverse(self.env, self._solo.config, members, self.config.population_entropy)

    def _with_partners(self, pool: NetworkPolicy) -> PPO:
        ppo = super()._with_partners(pool)
        return Watched(ppo.env, ppo.config, self._places, self._partners)

    def init(self, key: Array) -> MEPProgress:
        begun = super().init(key)
        fields = {field.name: getattr(begun, field.name) for field in dataclasses.fields(begun)}
        return MEPProgress(
            **fields,
            rewards=jnp.full(self._partners, -jnp.inf),
            drawn=jnp.arange(self._partners, dtype=jnp.int32),
        )

    def _train_learner(self, progress: Any) -> tuple[Any, dict[str, Array]]:
        """Stage 2: the learner beside partners that are drawn."""
        c, pool = self.config, self.pool(progress)
        episode = -(-self.env.max_steps // c.num_steps)  # updates

        def advance(at: tuple[Progress, Array, Array], _: Any) -> Any:
            learner, rewards, drawn = at
            key = jax.random.fold_in(learner.key, DRAWS + learner.update)
            anew = self.draw_partners(key, rewards)
            drawn = jnp.where(learner.update % episode == 0, anew, drawn)
            met = jax.tree_util.tree_map(
                lambda others, own: jnp.concatenate(
                    [others[drawn], jnp.broadcast_to(own, (c.selves, *own.shape))]
                ),
                pool,
                self._solo.player(learner),
            )
            learner, metrics = self._with_partners(met).update(learner)
            rewards = _remembered(rewards, drawn, metrics.pop("beside"))
            return (learner, rewards, drawn), metrics

        begun = (progress.learner, progress.rewards, progress.drawn)
        (learner, rewards, drawn), metrics = jax.lax.scan(advance, begun, length=c.members)
        progress = dataclasses.replace(
            progress, learner=learner, rewards=rewards, drawn=drawn, update=progress.update + 1
        )
        return progress, combined(metrics, stage=2)

    def draw_partners(self, key: Array, rewards: Array) -> Array:
        """i32[partners]: places in the pool, those with small rewards more often."""
        rank = 1 + jnp.argsort(jnp.argsort(-rewards))
        chance = self.config.priority * jnp.log(rank)
        return jax.random.categorical(key, chance, shape=rewards.shape).astype(jnp.int32)


def _remembered(rewards: Array, drawn: Array, beside: Array) -> Array:
    """The moving means, with what the learner now got beside those who were drawn."""
    met = drawn == jnp.arange(len(rewards))[:, None]
    times = jnp.sum(met, axis=1)
    now = jnp.sum(jnp.where(met, beside, 0.0), axis=1) / jnp.maximum(times, 1)
    moved = jnp.where(jnp.isfinite(rewards), KEPT * rewards + (1 - KEPT) * now, now)
    return jnp.where(times > 0, moved, rewards)
