"""Behaviour cloning (Pomerleau 1989): a network that learns to do what the players of a record did.

Any record will do, of people at the window, of bots, of language models: what the network learns
from are the decisions, each what the agent saw, what was legal, and what it did. All agents share
one network, as in the other learners, so that it can take any seat. One update is one pass over the
decisions; those of some episodes are held out, and the policy is that of the update in which they
were most likely.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from manyhands.baselines.learners.networks import (
    READS,
    Actions,
    Categorical,
    Independent,
    Network,
    NetworkConfig,
    actions_of,
    inputs,
)
from manyhands.baselines.learners.settings import check_settings
from manyhands.baselines.players.network import NetworkPolicy, differences
from manyhands.core.config import one_of
from manyhands.core.env import Array, ConfigError, Env, state_dataclass
from manyhands.core.record import frames, read

_BLOCK = 4096  # held-out decisions that are judged at once


@dataclasses.dataclass(frozen=True)
class CloningConfig:
    """Settings of behaviour cloning; the optimiser is AdamW (Loshchilov and Hutter 2019).

    Attributes:
        data: records of `play(record=)`, all of the environment that is trained for.
        players: names of the seats whose decisions count, as records have them; by default all.
        epochs: passes over the decisions.
        batch: decisions in a minibatch.
        held_out: share of the episodes, at least one, that the network is judged by.
        learning_rate: falls linearly to 0.
        weight_decay: of the parameters.
        max_grad_norm: gradients are clipped to this global norm.
        reads: what the network observes, "perception" or "vector" (see `NetworkPolicy`).
        width, layers, activation: of the network, see `networks.NetworkConfig`.
    """

    data: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    epochs: int = 40
    batch: int = 256
    held_out: float = 0.1
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    max_grad_norm: float = 1.0
    reads: str = "perception"
    width: int = 128
    layers: int = 2
    activation: str = "relu"

    def __post_init__(self) -> None:
        check_settings(self)
        one_of("reads", self.reads, READS)
        if self.epochs < 1 or self.batch < 1:
            raise ConfigError(
                f"epochs and batch are whole numbers from 1, given {self.epochs}, {self.batch}"
            )
        if not 0 < self.held_out < 1:
            raise ConfigError(f"held_out is above 0 and below 1, given {self.held_out}")


@dataclasses.dataclass(frozen=True)
class Decisions:
    """What somebody saw, and did.

    Attributes:
        rows: [M, ...], what an agent observed, as the environment gives it.
        legal: bool[M, A].
        action: [M, ...].
    """

    rows: np.ndarray
    legal: np.ndarray
    action: np.ndarray

    def __len__(self) -> int:
        return len(self.action)


def decisions(
    env: Env, data: Sequence[str], players: Sequence[str] = (), reads: str = "perception"
) -> list[Decisions]:
    """The decisions in records, by episode; refused answers are left out.

    Args:
        env: the environment that a network is to play.
        data: files.
        players: names of the seats that count; all by default.
        reads: "perception" or "vector".

    Raises:
        ConfigError: nobody is called so, an episode is of another environment or holds none of
            their decisions at all.
        RecordError: a file is missing or damaged.
    """
    found, names = [], set()
    for path in data:
        for episode in read(path):
            played = episode.env()
            different = differences(played.spec(), env.spec(), vector=reads == "vector")
            if different:
                raise ConfigError(
                    f"{os.fspath(path)}, line {episode.line}, is of another environment than the "
                    f"one to train in, {env!r}: it has {'; '.join(different)}"
                )
            names |= set(episode.players)
            counts = [not players or player in players for player in episode.players]
            rows: list[Any] = []
            last = None
            for moment in frames(episode, played):
                if last is not None and moment.turn is not None:
                    seen = last.frame.perception if reads == "perception" else last.frame.vector
                    rows += [
                        (seen[i], last.frame.legal[i], np.asarray(action))
                        for i, action in moment.turn.actions.items()
                        if counts[i] and i not in moment.turn.illegal
                    ]
                last = moment
            if rows:
                found.append(Decisions(*map(np.stack, zip(*rows, strict=True))))
    unknown = set(players) - names
    if unknown:
        raise ConfigError(
            f"players names {', '.join(map(repr, sorted(unknown)))}; the seats in the data are "
            f"{', '.join(sorted(names)) or 'none'}"
        )
    return found


@functools.lru_cache(maxsize=4)
def _lessons(env: Env, config: CloningConfig, _: tuple[Any, ...]) -> tuple[Decisions, Decisions]:
    """(to learn from, held out). Episodes are held out at regular intervals."""
    episodes = decisions(env, config.data, config.players, config.reads)
    if len(episodes) < 2:
        raise ConfigError(
            f"{', '.join(config.data)}: {len(episodes)} episodes with decisions; at least 2 are "
            "needed, one to learn from and one that is held out"
        )
    count = min(max(round(config.held_out * len(episodes)), 1), len(episodes) - 1)
    held = set(np.linspace(0, len(episodes) - 1, count + 2).round().astype(int)[1:-1].tolist())
    held = held or {len(episodes) - 1}
    parts = [e for i, e in enumerate(episodes) if i not in held], [episodes[i] for i in held]
    return _joined(parts[0]), _joined(parts[1])


def _joined(parts: Sequence[Decisions]) -> Decisions:
    fields = [field.name for field in dataclasses.fields(Decisions)]
    return Decisions(*(np.concatenate([getattr(p, name) for p in parts]) for name in fields))


@state_dataclass
class Progress:
    """All that changes while learning.

    Attributes:
        params: of the network, and best: those that the held-out decisions were most likely with.
        least: f32[], the held-out loss of `best`.
        optimiser: optax state.
        key: of everything that is random. update: i32[], updates made.
    """

    params: Any
    best: Any
    least: Array
    optimiser: Any
    key: Array
    update: Array


@dataclasses.dataclass(frozen=True)
class Cloning:
    """A learner (see `runs.Learner`): see the module's text, and `CloningConfig`.

    Raises:
        ConfigError: no data, data of something else, or an environment without discrete actions.
    """

    env: Env
    config: CloningConfig

    measure = "held_out_accuracy"  # what its curve shows

    def __post_init__(self) -> None:
        if not isinstance(actions_of(self.env.action_space), (Categorical, Independent)):
            raise ConfigError(
                f"behaviour cloning is for Discrete and MultiDiscrete actions, not for "
                f"{self.env.action_space}"
            )
        if not self.config.data:
            raise ConfigError(
                "behaviour cloning learns from records: --data run.jsonl, which "
                f"`manyhands play {self.env.id} --record run.jsonl` writes"
            )
        _ = self.lessons

    @property
    def lessons(self) -> tuple[Decisions, Decisions]:
        """The decisions to learn from, and those held out."""
        stamps = tuple(
            (os.path.getmtime(path), os.path.getsize(path))
            for path in self.config.data
            if os.path.exists(path)
        )
        return _lessons(self.env, self.config, stamps)

    @property
    def name(self) -> str:
        return "bc"

    @property
    def steps_per_update(self) -> int:
        """Decisions of one pass."""
        return self._batches * self._batch

    @property
    def num_updates(self) -> int:
        return self.config.epochs

    @property
    def _batch(self) -> int:
        return min(self.config.batch, len(self.lessons[0]))

    @property
    def _batches(self) -> int:
        return len(self.lessons[0]) // self._batch

    @property
    def network(self) -> NetworkConfig:
        c = self.config
        return NetworkConfig(c.width, c.layers, activation=c.activation)

    @property
    def _actions(self) -> Actions:
        return actions_of(self.env.action_space)

    @property
    def _actor(self) -> Network:
        return Network(self.network, self._actions.size, head_scale=0.01)

    @functools.cached_property
    def _optimiser(self) -> optax.GradientTransformation:
        c = self.config
        rate = optax.linear_schedule(c.learning_rate, 0.0, self.num_updates * self._batches)
        clip = optax.clip_by_global_norm(c.max_grad_norm)
        return optax.chain(clip, optax.adamw(rate, weight_decay=c.weight_decay))

    def init(self, key: Array) -> Progress:
        """The network before the first pass."""
        network_key, key = jax.random.split(key)
        x = self._inputs(self.lessons[0].rows[:1])
        params = self._actor.init(network_key, self._actor.start(1), x, jnp.zeros(1, bool))
        return Progress(
            params=params,
            best=params,
            least=jnp.float32(np.inf),
            optimiser=self._optimiser.init(params),
            key=key,
            update=jnp.int32(0),
        )

    def policy(self, progress: Progress) -> NetworkPolicy:
        """What the progress of one seed has learned, as a player."""
        width = self._inputs(self.lessons[0].rows[:1]).shape[-1]
        params = {
            "network": progress.best,
            "mean": jnp.zeros(width),
            "scale": jnp.ones(width),
        }
        policy = NetworkPolicy(
            params, self.network, self.config.reads, self.env.spec(), False, self.name
        )
        return jax.device_get(policy)  # type: ignore[no-any-return]

    def update(self, progress: Progress) -> tuple[Progress, dict[str, Array]]:
        """One pass over the decisions, in a new order. Pure."""
        learned, held = self.lessons
        key = jax.random.fold_in(progress.key, progress.update)
        order = jax.random.permutation(key, len(learned))[: self.steps_per_update]
        rows, legal, action = (
            jnp.asarray(part) for part in (learned.rows, learned.legal, learned.action)
        )

        def step(at: Any, chosen: Array) -> tuple[Any, tuple[Array, Array]]:
            params, optimiser = at
            part = rows[chosen], legal[chosen], action[chosen]
            (loss, hits), slope = jax.value_and_grad(self._loss, has_aux=True)(params, *part)
            change, optimiser = self._optimiser.update(slope, optimiser, params)
            return (optax.apply_updates(params, change), optimiser), (loss, hits)

        (params, optimiser), (losses, hits) = jax.lax.scan(
            step, (progress.params, progress.optimiser), order.reshape(self._batches, self._batch)
        )
        held_loss, held_hits = self._judged(params, held)
        better = held_loss < progress.least
        best = jax.tree_util.tree_map(
            lambda new, old: jnp.where(better, new, old), params, progress.best
        )
        progress = dataclasses.replace(
            progress,
            params=params,
            best=best,
            least=jnp.minimum(progress.least, held_loss),
            optimiser=optimiser,
            update=progress.update + 1,
        )
        return progress, {
            "loss": losses.mean(),
            "accuracy": hits.mean(),
            "held_out_loss": held_loss,
            "held_out_accuracy": held_hits,
            "episodes": jnp.float32(0),
            "return": jnp.float32(jnp.nan),
        }

    def _inputs(self, rows: Any) -> Array:
        return inputs(self.env, self.config.reads, jnp.asarray(rows), 1)

    def _loss(self, params: Any, rows: Array, legal: Array, action: Array) -> tuple[Array, Array]:
        """(mean negative log-likelihood, share of decisions that are the network's likeliest)."""
        outputs = self._outputs(params, rows)
        hits = self._actions.mode(outputs, legal) == action
        return -self._actions.log_prob(outputs, legal, action).mean(), hits.mean()

    def _outputs(self, params: Any, rows: Array) -> Array:
        first = jnp.zeros(rows.shape[0], bool)
        return self._actor.advance(
            params, self._actor.start(rows.shape[0]), self._inputs(rows), first
        )[1]

    def _judged(self, params: Any, held: Decisions) -> tuple[Array, Array]:
        """`_loss` of held-out decisions, some at a time."""
        sums = jnp.zeros(2)
        for start in range(0, len(held), _BLOCK):
            part = (
                jnp.asarray(array[start : start + _BLOCK])
                for array in (held.rows, held.legal, held.action)
            )
            size = min(_BLOCK, len(held) - start)
            sums = sums + jnp.stack(self._loss(params, *part)) * size
        return sums[0] / len(held), sums[1] / len(held)
