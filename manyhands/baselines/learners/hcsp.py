"""Hierarchical co-self-play (HCSP, Zhang et al. 2025): how a team learns a strategy over skills.

stage 1  skills: controllers that are good at one thing each, scripted, or learned (`hits.py`)
stage 2  strategy: who uses which skill, chosen whenever something happens, the skills being
         frozen: a population grows by self-play in a game of events (`psro`)
stage 3  both together, step by step (`Joint`): the strategy goes on learning, and with it
         corrections of what the skills do, while a penalty keeps both close to where they began
         (`finetune`)
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.learners.networks import Gaussian, Independent, Network
from manyhands.baselines.learners.on_policy import masked_mean
from manyhands.baselines.learners.ppo import PPO, Progress, Steps
from manyhands.baselines.learners.psro import PSROConfig, Response, begin_from, plain, respond
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.env import Array, ConfigError, Env, Outcome, state_dataclass
from manyhands.wrappers.events import Events, EventState

# ---- choices and numbers at once -----------------------------------------------------------------


class MixedSpace(gymnasium.spaces.Box):
    """f32[C + D]: C choices, as whole numbers from 0, and D numbers in [-1, 1] beside them."""

    def __init__(self, sizes: Sequence[int], numbers: int):
        self.sizes, self.numbers = tuple(sizes), numbers
        low = np.array([0.0] * len(self.sizes) + [-1.0] * numbers, np.float32)
        high = np.array([size - 1.0 for size in self.sizes] + [1.0] * numbers, np.float32)
        super().__init__(low, high, dtype=np.float32)

    def distribution(self) -> Mixed:
        return Mixed(self.sizes, self.numbers)


@dataclasses.dataclass(frozen=True)
class Mixed:
    """Distributions over a `MixedSpace`: categoricals, and a diagonal normal one beside them (see
    `networks.Actions`). `legal` is the masks of all choices."""

    sizes: tuple[int, ...]
    numbers: int

    @property
    def size(self) -> int:
        return sum(self.sizes) + 2 * self.numbers

    @property
    def choices(self) -> Independent:
        return Independent(self.sizes, (0,) * len(self.sizes))

    @property
    def rest(self) -> Gaussian:
        return Gaussian((-1.0,) * self.numbers, (1.0,) * self.numbers)

    def bias(self, noise: float) -> tuple[float, ...]:
        return (0.0,) * sum(self.sizes) + self.rest.bias(noise)

    def _outputs(self, outputs: Array) -> tuple[Array, Array]:
        return outputs[..., : sum(self.sizes)], outputs[..., sum(self.sizes) :]

    def _action(self, action: Array) -> tuple[Array, Array]:
        count = len(self.sizes)
        return jnp.round(action[..., :count]).astype(jnp.int32), action[..., count:]

    def sample(self, key: Array, outputs: Array, legal: Array) -> Array:
        first, second = jax.random.split(key)
        logits, moments = self._outputs(outputs)
        chosen = self.choices.sample(first, logits, legal)
        drawn = self.rest.sample(second, moments, legal)
        return jnp.concatenate([chosen.astype(jnp.float32), drawn], axis=-1)

    def mode(self, outputs: Array, legal: Array) -> Array:
        logits, moments = self._outputs(outputs)
        chosen = self.choices.mode(logits, legal).astype(jnp.float32)
        return jnp.concatenate([chosen, self.rest.mode(moments, legal)], axis=-1)

    def log_prob(self, outputs: Array, legal: Array, action: Array) -> Array:
        return self.log_probs(outputs, legal, action).sum(axis=-1)

    def log_probs(self, outputs: Array, legal: Array, action: Array) -> Array:
        """f32[..., 2]: of the choices, and of the numbers."""
        (logits, moments), (chosen, drawn) = self._outputs(outputs), self._action(action)
        of_choices = self.choices.log_prob(logits, legal, chosen)
        return jnp.stack([of_choices, self.rest.log_prob(moments, legal, drawn)], axis=-1)

    def entropy(self, outputs: Array, legal: Array) -> Array:
        logits, moments = self._outputs(outputs)
        return self.choices.entropy(logits, legal) + self.rest.entropy(moments, legal)

    def divergence(self, outputs: Array, others: Array, legal: Array) -> Array:
        return self.divergences(outputs, others, legal).sum(axis=-1)

    def divergences(self, outputs: Array, others: Array, legal: Array) -> Array:
        """f32[..., 2]: of the choices, and of the numbers."""
        (logits, moments), (other, mean) = self._outputs(outputs), self._outputs(others)
        of_choices = self.choices.divergence(logits, other, legal)
        return jnp.stack([of_choices, self.rest.divergence(moments, mean, legal)], axis=-1)

    def playable(self, action: Array) -> Array:
        count = len(self.sizes)
        numbers = jnp.clip(action[..., count:], -1.0, 1.0)
        return jnp.concatenate([action[..., :count], numbers], axis=-1)


# ---- strategy and skills in one game -------------------------------------------------------------


@state_dataclass
class JointState:
    """Between two steps; T teams, N agents of the game.

    Attributes:
        inner: of the game.
        option: i16[T], what each team is doing. skill: i16[N], what that is for each agent.
        fresh: bool[], whether something has happened, so that teams choose anew.
        waited: i16[], steps since they last did.
    """

    inner: Any
    option: Array
    skill: Array
    fresh: Array
    waited: Array


class Joint(Env[JointState]):
    """The game of events of stage 2, played step by step, with a hand in what the skills do.

    An action of a team is an option, which counts when something has happened (at other times only
    the one under way is legal), and for each number of its members' actions a correction, which
    always counts: `reach` times it is added to what the skill does.

    Args:
        events: teams that choose options, `Events(env, per="team")`; the actions of `env` are
            numbers from -1 to 1.
        reach: the largest correction.
    """

    id = "joint"

    def __init__(self, events: Events, reach: float = 0.1):
        if events.per != "team":
            raise ConfigError(f"teams choose as one here (per='team'), given {events!r}")
        self.events, self.env, self.skills = events, events.env, events.skills
        self.reach, self.members, self.batched = float(reach), events.members, events.batched
        self.agents, self.observation_space = events.agents, events.observation_space
        self.width = math.prod(events.env.action_space.shape or ())
        self.actions = Mixed((len(events.table),), self.members * self.width)
        self.action_space = MixedSpace(self.actions.sizes, self.actions.numbers)
        self.terms, self.reward_weights = events.terms, events.reward_weights
        self.max_steps, self.reset_pool = events.max_steps, events.reset_pool
        self.deterministic_reset = events.deterministic_reset
        self.noop = np.zeros(self.action_space.shape, np.float32)

    def config(self) -> dict[str, Any]:
        return {"reach": self.reach}

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "env": self.events.spec()}

    def reset(self, key: Array) -> JointState:
        return JointState(
            self.env.reset(key),
            jnp.full(self.num_agents, self.events.noop, jnp.int16),
            jnp.full(self.env.num_agents, self.skills.wait, jnp.int16),
            jnp.bool_(True),
            jnp.int16(0),
        )

    def step(self, key: Array, state: JointState, actions: Array) -> tuple[JointState, Outcome]:
        env, skills, batch = self.env, self.skills, jnp.shape(state.fresh)
        asked = jnp.clip(jnp.round(actions[:, 0]), 0, len(self.events.table) - 1)
        option = jnp.where(state.fresh, asked.astype(jnp.int16), state.option)
        obs = skills.parse_observation(jnp.moveaxis(env.perceive(state.inner), 0, 1))
        skill = self._assigned(state, obs, option)
        order = skills.order(skill.astype(jnp.int32))
        moves = jnp.moveaxis(skills.follow(obs, order), -1 - len(batch), 0)
        inner, outcome = env.step(key, state.inner, self.commands(state, moves, actions))

        seen = skills.parse_observation(jnp.moveaxis(env.perceive(inner), 0, 1))
        waited = jnp.where(state.fresh, 0, state.waited) + 1
        fresh = (skills.event(obs, seen)[0] != 0) | (waited >= self.events.patience)

        def of_team(rows: Array) -> Array:
            return rows.reshape(self.num_agents, self.members, *rows.shape[1:])

        terms = {name: jnp.mean(of_team(term), axis=1) for name, term in outcome.terms.items()}
        terminated = jnp.all(of_team(outcome.terminated), axis=1)
        truncated = jnp.all(of_team(outcome.truncated), axis=1)
        after = JointState(inner, option, skill, fresh, waited.astype(jnp.int16))
        return after, self.outcome(terms, terminated, truncated, outcome.metrics)

    def _assigned(self, state: JointState, obs: Any, option: Array) -> Array:
        """i16[N, ...]: what each agent does, anew where something has happened.

        That is seldom so, and some games at a time are looked at, since to tell what an attacker
        can do takes ten times as long as a step.
        """

        def assign(seen: Any, fresh: Array, ordered: Array, before: Array) -> Array:
            each = jnp.repeat(ordered, self.members, axis=0).astype(jnp.int32)
            return jnp.where(fresh, self.skills.assign(seen, each), before).astype(jnp.int16)

        if not jnp.ndim(state.fresh):
            known = (obs, state.fresh, option, state.skill)
            return jax.lax.cond(state.fresh, assign, lambda *known: known[-1], *known)
        count = state.fresh.shape[0]
        room = min(count, max(8, count // 16))
        turns = -(-jnp.sum(state.fresh) // room)
        queue = jnp.pad(jnp.argsort(~state.fresh), (0, -count % room), mode="edge")

        def some(turn: Array, skill: Array) -> Array:
            games = jax.lax.dynamic_slice(queue, (turn * room,), (room,))
            seen = jax.tree_util.tree_map(lambda rows: rows[..., games], obs)
            found = assign(seen, state.fresh[games], option[:, games], skill[:, games])
            return skill.at[:, games].set(found)

        return jax.lax.fori_loop(0, turns, some, state.skill)

    def commands(self, state: JointState, moves: Array, actions: Array) -> Array:
        """What the agents of the game do, [N, *shape, ...]: what their skills do (`moves`), and the
        corrections in the teams' actions."""
        batch = jnp.shape(state.fresh)
        correction = jnp.clip(actions[:, 1:], -1, 1).reshape(-1, self.width, *batch)
        return moves + self.reach * correction

    def _event(self, state: JointState) -> EventState:
        """As the game of events has it."""
        return EventState(state.inner, state.option, jnp.uint8(0), state.waited)

    def observe(self, state: JointState) -> Array:
        return self.events.observe(self._event(state))

    def perceive(self, state: JointState) -> Array:
        return self.events.perceive(self._event(state))

    def network_input(self, row: Array) -> Array:
        return self.events.network_input(row)

    def legal(self, state: JointState) -> Array:
        """bool[T, A]: all options for teams that may choose, else the one under way."""
        numbers = jnp.arange(len(self.events.table)).reshape(1, -1, *[1] * jnp.ndim(state.fresh))
        going = state.option[:, None] == numbers
        return (state.fresh | going) & self.acting(state)[:, None]

    def acting(self, state: JointState) -> Array:
        return self.events.acting(self._event(state))

    def summary(self, state: JointState) -> Array:
        return self.env.summary(state.inner)


def lift(joint: Joint, strategy: NetworkPolicy, noise: float = 0.01) -> NetworkPolicy:
    """A strategy of stage 2, over the same options, as a player of stage 3 that corrects nothing,
    but for normal noise of that standard deviation."""
    mixed, params = joint.actions, strategy.params["network"]["params"]
    head = f"Dense_{strategy.network.layers}"
    kernel, bias = (np.asarray(params[head][name]) for name in ("kernel", "bias"))
    row = jax.eval_shape(joint.reset, jax.random.key(0))
    width = jax.eval_shape(lambda s: joint.network_input(joint.perceive(s)[0]), row).shape[0]
    if bias.shape[0] != mixed.sizes[0] or np.shape(strategy.params["mean"]) != (width,):
        raise ConfigError(
            f"the strategy reads {np.shape(strategy.params['mean'])[0]} numbers and chooses among "
            f"{bias.shape[0]} options; this game shows {width} and has {mixed.sizes[0]}"
        )
    more = np.zeros((kernel.shape[0], 2 * mixed.numbers), kernel.dtype)
    widened = {
        "kernel": np.concatenate([kernel, more], axis=1),
        "bias": np.concatenate([bias, np.array(mixed.rest.bias(noise), np.float32)]),
    }
    network = {"params": {**params, head: widened}}
    return dataclasses.replace(
        strategy, params={**strategy.params, "network": network}, spec=joint.spec()
    )


# ---- staying close to a policy -------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Anchored(PPO):
    """PPO that is kept close to a policy: to the loss is added `weight` times the divergence
    (Kullback and Leibler's) from that policy, averaged over the steps.

    Inputs are scaled as they were for the policy that it begins from: other moments would make
    another policy of the same weights.

    Attributes:
        anchor: a network without a memory, of the same actions, which reads what the learner reads.
        weight: of the penalty.
        critic_alone: for so many updates the policy stays as it is and only the critic learns,
            since a fresh one praises and blames at random.
    """

    anchor: NetworkPolicy
    weight: float
    critic_alone: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.anchor.network.recurrent or self.anchor.snapshots:
            raise ConfigError("an anchor is one network without a memory")
        if self.anchor.reads != self.config.reads or self.weight < 0:
            raise ConfigError(
                f"an anchor reads what the learner reads ({self.config.reads}), and weighs 0 or "
                f"more; given {self.anchor.reads} and {self.weight}"
            )

    def update(self, progress: Progress) -> tuple[Progress, dict[str, Array]]:
        after, stats = super().update(progress)
        if not self.critic_alone:
            return after, stats
        learns = progress.update >= self.critic_alone
        actor = jax.tree_util.tree_map(
            lambda new, old: jnp.where(learns, new, old),
            after.params["actor"],
            progress.params["actor"],
        )
        return dataclasses.replace(after, params={**after.params, "actor": actor}), stats

    def _learn_scale(self, progress: Progress, steps: Steps) -> Progress:
        return progress

    def _penalty(self, steps: Steps, outputs: Array) -> tuple[Array, dict[str, Array]]:
        gap = self._actions.divergence(outputs, self._held(steps), steps.legal)
        mean = masked_mean(gap, steps.acts)
        return self.weight * mean, {"anchor_divergence": mean}

    def _held(self, steps: Steps) -> Array:
        """The outputs of the anchor at each step."""
        params = self.anchor.params
        x = (self._inputs(steps.row, 3) - params["mean"]) * params["scale"]
        network = Network(self.anchor.network, self._actions.size)
        memory = jnp.zeros((*x.shape[:-1], 0))
        return network.advance(params["network"], memory, x, steps.first)[1]


@dataclasses.dataclass(frozen=True)
class TwoScales(Anchored):
    """What learns in stage 3: choices, which are open at one step in some thirty, and corrections,
    made at each. Both have a clipped objective and a penalty of their own, over the steps at which
    they act: as one, the noise of many corrections clips the gradient of the choice beside them,
    and choices count for a thirtieth of the mean. The entropy bonus is for choices alone."""

    def _log_prob(self, outputs: Array, legal: Array, action: Array) -> Array:
        """f32[..., B, N, 2], of choices and of corrections."""
        return self._mixed.log_probs(outputs, legal, action)

    def _policy_loss(
        self, steps: Steps, outputs: Array, advantage: Array
    ) -> tuple[Array, dict[str, Array]]:
        change = self._log_prob(outputs, steps.legal, steps.action) - steps.log_prob
        chosen, stats = self._clipped(change[..., 0], advantage, self._chooses(steps))
        corrected, others = self._clipped(change[..., 1], advantage, steps.acts)
        return chosen + corrected, stats | {f"{name}_corrections": v for name, v in others.items()}

    def _penalty(self, steps: Steps, outputs: Array) -> tuple[Array, dict[str, Array]]:
        gaps = self._mixed.divergences(outputs, self._held(steps), steps.legal)
        chosen = masked_mean(gaps[..., 0], self._chooses(steps))
        corrected = masked_mean(gaps[..., 1], steps.acts)
        return self.weight * (chosen + corrected), {
            "anchor_divergence": chosen,
            "anchor_divergence_corrections": corrected,
        }

    def _entropy(self, steps: Steps, outputs: Array) -> Array:
        logits = outputs[..., : sum(self._mixed.sizes)]
        return masked_mean(self._mixed.choices.entropy(logits, steps.legal), self._chooses(steps))

    @property
    def _mixed(self) -> Mixed:
        assert isinstance(self._actions, Mixed)
        return self._actions

    @staticmethod
    def _chooses(steps: Steps) -> Array:
        """bool[T, B, N]: where more than one option is legal."""
        return steps.acts & (jnp.sum(steps.legal, axis=-1) > 1)


def finetune(
    joint: Joint,
    strategies: Sequence[NetworkPolicy],
    mixture: np.ndarray,
    config: PSROConfig,
    key: Any,
    weight: float = 0.1,
    seed: int = 0,
    log: Callable[[str], None] | None = None,
    *,
    itself: bool = False,
) -> Response:
    """Stage 3: let strategy and corrections learn together against the population of stage 2. In
    the first tenth of the updates only the critic learns.

    Args:
        strategies, mixture: networks of stage 2 and their chances (`psro.Population`); the most
            likely one is what is tuned, and what the tuned one is kept close to.
        weight: of the divergence from it.
        itself: learn in self-play instead, and only be measured by the population.
        key, seed, log: see `psro.respond`.
    """
    best = strategies[int(np.argmax(mixture))]
    anchor = lift(joint, best, config.noise)
    opponents = [lift(joint, strategy) for strategy in strategies]
    solo = PPO(joint, plain(config))
    alone = solo.num_updates // 10
    learner = functools.partial(TwoScales, anchor=anchor, weight=weight, critic_alone=alone)
    warm = begin_from(solo, [anchor], key)
    if warm is None:
        raise ConfigError(
            f"the settings describe another network than that of the strategy: {anchor.network}"
        )
    return respond(joint, opponents, mixture, config, key, seed, warm, log, learner, itself)
