"""Hidden-utility self-play (HSP): a learner that meets partners who want other things than it.

People, and other people's policies, do not only differ in how they play for the same points: they
care for other things. Yu et al., "Learning Zero-Shot Cooperation with Humans, Assuming Humans Are
Biased" (ICLR 2023), draw such preferences as weights of events, and learn what a player with each
of them does. Here, for every seed, in three stages of one compiled program:

1. The learner plays with itself and its past selves, who lapse (`SelfPlayPool`).
2. `habits` agents begin as copies of it. Each is paid by prices of its own, beside the learner,
   which stays as it is: for reward terms that the game itself does not pay for one of `prices`,
   drawn for each term; for those that it pays for as much as the game, or, every other agent,
   nothing.
3. The learner goes on beside these agents and itself, all of whom lapse.

In the paper both agents of a pair learn in the second stage, from random networks, and partners are
chosen by how much their events differ; its last stage begins with a new network.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.learners.population import (
    Lapses,
    Partnered,
    SelfPlayPool,
    SelfPlayPoolConfig,
    SelfPlayPoolProgress,
    beside_settings,
    combined,
    empty_pool,
    labelled,
    lapses_of,
    pairing,
    spread,
    staged,
    with_networks,
)
from manyhands.baselines.learners.ppo import PPO, Progress
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.env import Array, ConfigError, Env, Outcome, state_dataclass


@dataclasses.dataclass(frozen=True)
class HSPConfig(SelfPlayPoolConfig):
    """Beyond `SelfPlayPoolConfig`, whose `total_steps` are those of the first stage:

    Attributes:
        habits: agents with hidden utilities.
        habit_envs, habit_steps: environments at once, and environment steps, of each of them.
        prices: what they may be paid for each unit of a term that the game does not pay for.
        beside_steps: environment steps of the learner in the third stage.
        beside_rate: its learning rate there, as a share of that in the first stage.
        beside_shaping: `shaping_share` there.
    """

    habits: int = 12
    habit_envs: int = 64
    habit_steps: int = 400_000
    prices: tuple[float, ...] = (-3.0, 0.0, 3.0)
    beside_steps: int = 5_000_000
    beside_rate: float = 0.5
    beside_shaping: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.habits < 1 or self.habit_envs < 1 or self.latest < 1:
            raise ConfigError(
                "habits, habit_envs and latest are whole numbers from 1, given "
                f"{self.habits}, {self.habit_envs} and {self.latest}"
            )
        if self.habits * self.habit_envs % self.num_envs:
            raise ConfigError(
                "all habits together have a whole multiple of the learner's environments; given "
                f"{self.habits} habits x habit_envs={self.habit_envs}, and num_envs={self.num_envs}"
            )
        if not self.prices or not np.isfinite(self.prices).all():
            raise ConfigError(f"prices are finite numbers, at least one, given {self.prices}")
        if not 0 <= self.beside_shaping <= 1 or not self.beside_rate > 0:
            raise ConfigError(
                "beside_shaping is a share from 0 to 1 and beside_rate above 0, given "
                f"{self.beside_shaping} and {self.beside_rate}"
            )
        update = self.habits * self.habit_envs * self.num_steps
        least = {"total_steps": update, "beside_steps": update}
        least["habit_steps"] = self.habit_envs * self.num_steps
        for name, steps in least.items():
            if getattr(self, name) < steps:
                raise ConfigError(
                    f"{name}={getattr(self, name)} is less than an update has: {steps} at least"
                )


class Paid(Partnered):
    """`Partnered`, but that the learner is paid by prices of its own.

    Args:
        partnered: whose learner it is.
        prices: f32[terms], for a unit of each reward term.
    """

    def __init__(self, partnered: Partnered, prices: Array):
        self.__dict__.update(partnered.__dict__)
        self._prices = prices

    def step(self, key: Array, state: Any, actions: Array) -> tuple[Any, Outcome]:
        state, outcome = super().step(key, state, actions)
        paid = [self._prices[k] * outcome.terms[name] for k, name in enumerate(self.terms)]
        return state, dataclasses.replace(outcome, reward=sum(paid))


@state_dataclass
class HSPProgress:
    """All that changes.

    Attributes:
        first: the learner in the first stage, and its past selves.
        habits: `ppo.Progress` of each agent with a hidden utility, [habits, ...].
        prices: f32[habits, terms], what these are paid.
        learner: the learner in the third stage.
        update: i32[], updates made, of all stages.
    """

    first: SelfPlayPoolProgress
    habits: Progress
    prices: Array
    learner: Progress
    update: Array

    @property
    def params(self) -> Any:
        return self.first.params, self.habits.params, self.learner.params


@dataclasses.dataclass(frozen=True)
class HSP:
    """Hidden-utility self-play. An update is one of each habit in the second stage, and as many
    steps of the learner in the others."""

    env: Env
    config: HSPConfig

    def __post_init__(self) -> None:
        c = self.config
        pairing(self.env, c.num_envs, c.latest + c.habits)
        pairing(self.env, c.habit_envs, 1)
        if not self._unpaid:
            raise ConfigError(
                f"{self.env!r} has no reward term that it does not pay for, and none that a hidden "
                f"utility could be about: its terms are {', '.join(self.env.terms)}"
            )
        self._pool, self._lapses  # noqa: B018 - raises if this cannot be learned

    @property
    def name(self) -> str:
        return "hsp"

    @property
    def _unpaid(self) -> tuple[str, ...]:
        """Terms that the game does not pay for."""
        return tuple(name for name in self.env.terms if not self.env.reward_weights[name])

    @property
    def steps_per_update(self) -> int:
        return self.config.habits * self.config.habit_envs * self.config.num_steps

    @property
    def stages(self) -> tuple[int, int, int]:
        """Updates of each stage."""
        c = self.config
        each = self.steps_per_update
        habit = c.habit_steps // (c.habit_envs * c.num_steps)
        return c.total_steps // each, habit, c.beside_steps // each

    @property
    def num_updates(self) -> int:
        return sum(self.stages)

    @property
    def _times(self) -> int:
        """Updates of the learner in one of these."""
        return self.config.habits * self.config.habit_envs // self.config.num_envs

    @functools.cached_property
    def _pool(self) -> SelfPlayPool:
        """Of the first stage."""
        c = self.config
        names = {field.name for field in dataclasses.fields(SelfPlayPoolConfig)}
        settings = {name: getattr(c, name) for name in names}
        settings["total_steps"] = self.stages[0] * self.steps_per_update
        return SelfPlayPool(self.env, SelfPlayPoolConfig(**settings))

    @functools.cached_property
    def _solo(self) -> PPO:
        """For the shapes of policies."""
        return PPO(self.env, self._pool.config)

    @property
    def _lapses(self) -> Lapses | None:
        """Of the third stage."""
        c = self.config
        shares = spread(c.lapses, c.latest) + spread(c.lapses, c.habits)
        return lapses_of(self.env, shares, c.own_lapses, c.lapse_steps)

    def _habit(self, base: NetworkPolicy, prices: Array) -> PPO:
        """The learner of one agent with a hidden utility, beside the learner of the first stage."""
        c = self.config
        settings = dataclasses.replace(
            self._pool.config, num_envs=c.habit_envs, total_steps=c.habit_steps, shaping=()
        )
        one = jax.tree_util.tree_map(lambda leaf: leaf[None], base)
        beside = with_networks(self.env, c.habit_envs, one)
        return PPO(Paid(beside, prices), beside_settings(settings))

    def _last(self, pool: NetworkPolicy) -> PPO:
        """The learner of the third stage."""
        c = self.config
        settings = dataclasses.replace(
            self._pool.config,
            total_steps=self.stages[2] * self.steps_per_update,
            learning_rate=c.learning_rate * c.beside_rate,
            shaping_share=c.beside_shaping,
        )
        beside = with_networks(self.env, c.num_envs, pool, self._lapses, c.team_shaping)
        return PPO(beside, beside_settings(settings))

    def init(self, key: Array) -> HSPProgress:
        c = self.config
        first_key, price_key, habit_key, last_key = jax.random.split(key, 4)
        one = empty_pool(self._solo, 1)
        base = jax.tree_util.tree_map(lambda leaf: leaf[0], one)
        prices = self.draw_prices(price_key)
        keys = jax.random.split(habit_key, c.habits)
        return HSPProgress(
            first=self._pool.init(first_key),
            habits=jax.vmap(lambda key, own: self._habit(base, own).init(key))(keys, prices),
            prices=prices,
            learner=self._last(empty_pool(self._solo, c.latest + c.habits)).init(last_key),
            update=jnp.int32(0),
        )

    def draw_prices(self, key: Array) -> Array:
        """f32[habits, terms]: what each agent is paid for a unit of each term. Who would be paid
        for nothing, or only fined, is paid as the game pays."""
        c, env = self.config, self.env
        drawn = jax.random.choice(key, jnp.array(c.prices, jnp.float32), (c.habits, len(env.terms)))
        weights = jnp.array([env.reward_weights[name] for name in env.terms], jnp.float32)
        unpaid = np.array([name in self._unpaid for name in env.terms])
        honest = (jnp.arange(c.habits) % 2 == 1) | ~jnp.any(unpaid & (drawn > 0), axis=1)
        return jnp.where(unpaid, drawn, weights * honest[:, None])

    def update(self, progress: HSPProgress) -> tuple[HSPProgress, dict[str, Array]]:
        first, second, _ = self.stages
        made: tuple[HSPProgress, dict[str, Array]] = staged(
            lambda progress: (
                (progress.update >= first).astype(jnp.int32) + (progress.update >= first + second)
            ),
            (self._train_first, self._train_habits, self._train_last),
            progress,
        )
        return made

    def _train_first(self, progress: HSPProgress) -> tuple[HSPProgress, dict[str, Array]]:
        """Stage 1: the learner beside itself and its past."""
        learner, metrics = jax.lax.scan(
            lambda learner, _: self._pool.update(learner), progress.first, length=self._times
        )
        progress = dataclasses.replace(progress, first=learner, update=progress.update + 1)
        return progress, combined(metrics, stage=1)

    def _train_habits(self, progress: HSPProgress) -> tuple[HSPProgress, dict[str, Array]]:
        """Stage 2: every agent with a hidden utility."""
        base = self._solo.player(progress.first.learner)
        begins = progress.update == self.stages[0]

        def advance(habit: Progress, prices: Array) -> Any:
            habit = _taken_over(habit, progress.first.learner, begins)
            return self._habit(base, prices).update(habit)

        habits, metrics = jax.vmap(advance)(progress.habits, progress.prices)
        progress = dataclasses.replace(progress, habits=habits, update=progress.update + 1)
        return progress, combined(metrics, stage=2)

    def _train_last(self, progress: HSPProgress) -> tuple[HSPProgress, dict[str, Array]]:
        """Stage 3: the learner beside these and itself."""
        habits = jax.vmap(self._solo.player)(progress.habits)
        begins = progress.update == sum(self.stages[:2])

        def advance(learner: Progress, _: Any) -> Any:
            now = self._solo.player(learner)
            pool = jax.tree_util.tree_map(
                lambda new, others: jnp.concatenate(
                    [jnp.broadcast_to(new, (self.config.latest, *new.shape)), others]
                ),
                now,
                habits,
            )
            return self._last(pool).update(learner)

        learner = _taken_over(progress.learner, progress.first.learner, begins)
        learner, metrics = jax.lax.scan(advance, learner, length=self._times)
        progress = dataclasses.replace(progress, learner=learner, update=progress.update + 1)
        return progress, combined(metrics, stage=3)

    def policy(self, progress: HSPProgress) -> NetworkPolicy:
        """The learner of the third stage; before it begins, that of the first."""
        begun = progress.update > sum(self.stages[:2])
        learner = progress.learner if begun else progress.first.learner
        return labelled(self._solo.player(learner), self.env, self.name)


def _taken_over(progress: Progress, other: Progress, when: Array) -> Progress:
    """`progress` with the networks of another learner, and what it knows of inputs, if `when`."""
    names = ("params", "mean", "variance", "count")

    def choose(new: Array, old: Array) -> Array:
        return jnp.where(when, new, old)

    return dataclasses.replace(
        progress,
        **{
            name: jax.tree_util.tree_map(choose, getattr(other, name), getattr(progress, name))
            for name in names
        },
    )
