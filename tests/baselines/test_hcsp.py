"""Strategies over skills: distributions over choices and numbers, anchors, and the joint game."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines.learners.hcsp import (
    Anchored,
    Joint,
    Mixed,
    MixedSpace,
    TwoScales,
    finetune,
    lift,
)
from manyhands.baselines.learners.networks import actions_of
from manyhands.baselines.learners.ppo import PPO, PPOConfig, Steps
from manyhands.baselines.learners.psro import PSROConfig
from manyhands.core.env import ConfigError
from manyhands.wrappers.events import Events

# ---- distributions -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed() -> Any:
    found = actions_of(MixedSpace((3, 2), 2))
    assert found == Mixed((3, 2), 2) and found.size == 9
    return found


LEGAL = jnp.array([True, True, False, True, True])


def test_what_is_drawn_fits_the_space_and_the_probabilities(mixed: Mixed) -> None:
    outputs = jnp.array([0.5, -0.5, 9.0, 1.0, 0.0, 0.3, -0.2, 0.4, -0.6])
    draw = jax.jit(jax.vmap(lambda key: mixed.sample(key, outputs, LEGAL)))
    drawn = np.asarray(draw(jax.random.split(jax.random.key(0), 20_000)))
    space = MixedSpace((3, 2), 2)
    assert all(space.contains(row) for row in np.asarray(mixed.playable(drawn[:100])))
    first = np.bincount(drawn[:, 0].astype(int), minlength=3) / len(drawn)
    chance = 1 / (1 + math.exp(-1.0))
    np.testing.assert_allclose(first, [chance, 1 - chance, 0], atol=0.02)
    spread = np.exp(np.array([0.4, -0.6]) - 0.5)
    np.testing.assert_allclose(drawn[:, 2:].mean(0), [0.3, -0.2], atol=0.03)
    np.testing.assert_allclose(drawn[:, 2:].std(0), spread, rtol=0.03)
    # The density of what was drawn: the choices' chances times the normal densities.
    row = drawn[0]
    density = -0.5 * ((row[2:] - [0.3, -0.2]) / spread) ** 2 - np.log(spread * np.sqrt(2 * np.pi))
    second = jax.nn.log_softmax(jnp.array([1.0, 0.0]))[int(row[1])]
    expected = math.log(first[int(row[0])]) + float(second) + density.sum()
    assert float(mixed.log_prob(outputs, LEGAL, row)) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_divergence_is_the_mean_log_ratio(mixed: Mixed, shift: float) -> None:
    outputs = jnp.linspace(-1, 1, 9)
    others = outputs + shift * jnp.array([1.0, -1, 0, 1, 0, -1, 0.5, 0.3, -0.4])
    drawn = jax.vmap(lambda key: mixed.sample(key, outputs, LEGAL))(
        jax.random.split(jax.random.key(1), 20_000)
    )
    ratio = mixed.log_prob(outputs, LEGAL, drawn) - mixed.log_prob(others, LEGAL, drawn)
    gap = float(mixed.divergence(outputs, others, LEGAL))
    assert gap == pytest.approx(float(ratio.mean()), abs=4 * float(ratio.std()) / 140 + 1e-6)
    assert (gap > 0.1) == (shift > 0)


def test_one_choice_alone_is_certain(mixed: Mixed) -> None:
    only = jnp.array([False, True, False, True, False])
    outputs = jnp.linspace(-1, 1, 9)
    assert mixed.mode(outputs, only)[:2].tolist() == [1.0, 0.0]
    rest = mixed.rest.entropy(outputs[5:], only)
    assert float(mixed.entropy(outputs, only)) == pytest.approx(float(rest), abs=1e-5)


# ---- anchors -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_anchor_holds() -> None:
    """The more it weighs, the closer a learner stays to it."""
    config = PPOConfig(
        total_steps=64 * 8 * 12, num_envs=64, num_steps=8, minibatches=1, width=8, layers=1,
        learning_rate=0.05,
    )  # fmt: skip
    env = manyhands.make("kuhn_poker")
    anchor = PPO(env, config).policy(PPO(env, config).init(jax.random.key(0)))
    gaps = []
    for weight in (0.0, 10.0):
        learner = Anchored(env, config, anchor, weight)
        progress = learner.init(jax.random.key(1))
        update = jax.jit(learner.update)
        for _ in range(learner.num_updates):
            progress, metrics = update(progress)
        gaps.append(float(metrics["anchor_divergence"]))
    assert gaps[0] > 0.1 and gaps[1] < gaps[0] / 10


def test_a_strategy_is_read_as_it_was_and_waits_for_its_critic() -> None:
    """Other moments of the inputs would make another policy of the same weights."""
    config = PPOConfig(
        total_steps=16 * 4 * 3, num_envs=16, num_steps=4, minibatches=1, epochs=1, width=8,
        layers=1, normalise=True,
    )  # fmt: skip
    env = manyhands.make("kuhn_poker")
    anchor = PPO(env, config).policy(PPO(env, config).init(jax.random.key(0)))
    learner = Anchored(env, config, anchor, 0.1, critic_alone=1)
    first = learner.init(jax.random.key(1))
    update = jax.jit(learner.update)
    second, _ = update(first)
    third, _ = update(second)

    def moved(part: str, a: Any, b: Any) -> bool:
        pairs = zip(
            jax.tree_util.tree_leaves(a.params[part]),
            jax.tree_util.tree_leaves(b.params[part]),
            strict=True,
        )
        return any(bool((x != y).any()) for x, y in pairs)

    assert moved("critic", first, second) and not moved("actor", first, second)
    assert moved("actor", second, third)
    np.testing.assert_array_equal(first.mean, third.mean)
    np.testing.assert_array_equal(first.variance, third.variance)


@pytest.mark.slow
def test_anchors_that_cannot_hold() -> None:
    env, config = manyhands.make("kuhn_poker"), PPOConfig(total_steps=256 * 100, width=8)
    policy = PPO(env, config).policy(PPO(env, config).init(jax.random.key(0)))
    with pytest.raises(ConfigError, match="weighs 0 or more"):
        Anchored(env, config, policy, -1.0)
    with pytest.raises(ConfigError, match="one network"):
        Anchored(env, config, dataclasses.replace(policy, snapshots=2), 1.0)


# ---- the joint game ------------------------------------------------------------------------------


@functools.lru_cache
def joint() -> Joint:
    game = manyhands.make("volleyball", task="3v3", max_steps=120)
    return Joint(Events(game, per="team"))


@pytest.mark.slow
def test_without_corrections_it_is_the_game_of_events() -> None:
    """Step by step, until the first event and the next, the same states."""
    game = joint()
    events, key = game.events, jax.random.key(4)
    at, state = events.reset(key), game.reset(key)
    step, leap = jax.jit(game.step), jax.jit(events.step)
    for turn in range(3):
        options = jnp.array([7 * turn + 3, 11 * turn + 5])
        before = at
        at, _ = leap(key, before, options)
        assert bool(state.fresh)
        for t in range(int(at.steps)):
            asked = options if t == 0 else options + 1  # which is not legal, and does not count
            action = jnp.zeros((2, 1 + game.actions.numbers)).at[:, 0].set(asked)
            state, _ = step(jax.random.fold_in(key, t), state, action)
            assert bool(state.fresh) == (t + 1 == int(at.steps))
        for a, b in zip(
            jax.tree_util.tree_leaves(state.inner.bodies),
            jax.tree_util.tree_leaves(at.inner.bodies),
            strict=True,
        ):
            np.testing.assert_allclose(a, b, atol=1e-4)


@pytest.mark.slow
def test_games_played_at_once_assign_skills_as_single_ones_do() -> None:
    """With more games than are looked at together, of which some, none or all choose anew."""
    game, count = joint(), 20
    keys = jax.random.split(jax.random.key(5), count)
    one = jax.jit(jax.vmap(game.reset, out_axes=-1))(keys)
    assigned = jax.jit(game._assigned)
    parse = jax.jit(lambda s: game.skills.parse_observation(jnp.moveaxis(s, 0, 1)))
    options = jax.random.randint(jax.random.key(6), (2, count), 0, 72).astype(jnp.int16)
    rows = jax.vmap(game.env.perceive, in_axes=-1, out_axes=-1)(one.inner)
    for fresh in (jnp.arange(count) % 3 == 1, jnp.zeros(count, bool), jnp.ones(count, bool)):
        batch = dataclasses.replace(one, fresh=fresh)
        found = np.asarray(assigned(batch, parse(rows), options))
        for k in range(count):
            state = jax.tree_util.tree_map(lambda leaf, k=k: leaf[..., k], batch)
            own = assigned(state, parse(rows[..., k]), options[:, k])
            np.testing.assert_array_equal(found[:, k], own)
        assert np.any(found != np.asarray(one.skill)) == bool(jnp.any(fresh))


@pytest.mark.slow
def test_choices_and_corrections_have_objectives_of_their_own() -> None:
    """A choice counts where it was open, a correction at each step, and neither clips the other."""
    game = joint()
    config = PPOConfig(total_steps=64, num_envs=4, num_steps=4, width=8, layers=1, minibatches=1)
    plain = PPO(game.events, config)
    anchor = lift(game, plain.policy(plain.init(jax.random.key(0))))
    learner = TwoScales(game, config, anchor, 0.1)
    shape = (4, 4, 1)  # steps, games, teams
    keys = iter(jax.random.split(jax.random.key(1), 6))
    outputs = jax.random.normal(next(keys), (*shape, game.actions.size))
    open_ = jnp.zeros(shape, bool).at[1].set(True)
    chosen = jnp.zeros((*shape, 72)).at[..., 5].set(1) > 0
    legal = open_[..., None] | chosen
    action = jax.random.normal(next(keys), (*shape, 1 + game.actions.numbers)).at[..., 0].set(5)
    now = learner._log_prob(outputs, legal, action)
    np.testing.assert_allclose(
        now.sum(-1), game.actions.log_prob(outputs, legal, action), rtol=1e-5
    )
    assert not np.any(now[..., 0][~np.asarray(open_)])  # certain, where nothing else was legal
    was = now - jnp.stack([0.1 * open_, jnp.full(shape, 9.0)], axis=-1)  # corrections: all clipped
    every = jnp.ones(shape, bool)
    steps = Steps(
        row=jnp.zeros(shape), summary=None, legal=legal, acts=every, counts=every, action=action,
        log_prob=was, reward=jnp.zeros(shape), ended=~every, terminated=~every,
        first=~every[..., 0],
    )  # fmt: skip
    advantage = jax.random.normal(next(keys), shape)
    loss, stats = learner._policy_loss(steps, outputs, advantage)
    of_choices, _ = learner._clipped(now[..., 0] - was[..., 0], advantage, open_)
    of_corrections, _ = learner._clipped(now[..., 1] - was[..., 1], advantage, every)
    assert float(loss) == pytest.approx(float(of_choices + of_corrections), rel=1e-5)
    assert float(stats["clip_fraction"]) == 0 and float(stats["clip_fraction_corrections"]) == 1
    gap = game.actions.choices.entropy(outputs[1, ..., :72], legal[1])
    assert float(learner._entropy(steps, outputs)) == pytest.approx(float(gap.mean()), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("itself", [True, False])
def test_strategy_and_corrections_learn_together(itself: bool) -> None:
    game = joint()
    config = PSROConfig(
        total_steps=16 * 16 * 2, num_envs=16, num_steps=16, minibatches=1, epochs=1, width=16,
        layers=1, noise=0.05, opponents=2, checks=1, matches=4, strategies=2, decided_by="win",
    )  # fmt: skip
    learner = PPO(game.events, dataclasses.replace(config, total_steps=10**4))
    strategy = learner.policy(learner.init(jax.random.key(0)))
    lifted = lift(game, strategy, 0.05)
    key, mixture = jax.random.key(1), np.ones(1)
    response = finetune(game, [strategy], mixture, config, key, weight=0.5, itself=itself)
    assert response.steps == config.total_steps
    for name, leaf in lifted.params["network"]["params"]["Dense_0"].items():
        moved = np.abs(response.policy.params["network"]["params"]["Dense_0"][name] - leaf).max()
        assert 0 < moved < 0.1  # it has learned, from where the strategy was
    with pytest.raises(ConfigError, match="another network"):
        finetune(game, [strategy], mixture, dataclasses.replace(config, width=8), key)
