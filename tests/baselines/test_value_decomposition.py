"""Value decomposition: its targets and mixtures by hand, and what it learns in small worlds."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_ppo import Echo

import manyhands
from manyhands.baselines.learners import training
from manyhands.baselines.learners.value_decomposition import (
    Mixer,
    Steps,
    ValueConfig,
    ValueDecomposition,
)
from manyhands.baselines.players import network as policies
from manyhands.core.env import ConfigError

QUICK = {
    "num_envs": 64,
    "num_steps": 6,
    "learning_rate": 0.01,
    "width": 16,
    "layers": 1,
    "minibatches": 2,
    "epsilon_share": 0.5,
}


@functools.lru_cache
def learned(updates: int, **options: Any) -> tuple[ValueDecomposition, Any, np.ndarray]:
    """A learner after some updates in `Echo`, and the returns on the way."""
    own = {field.name for field in dataclasses.fields(ValueConfig)}
    config = QUICK | {name: value for name, value in options.items() if name in own}
    env = Echo(**{name: value for name, value in options.items() if name not in own})
    config["total_steps"] = updates * config["num_envs"] * config["num_steps"]
    learner = ValueDecomposition(env, ValueConfig(**config))

    @jax.jit
    def run(key: jax.Array) -> Any:
        return jax.lax.scan(lambda p, _: learner.update(p), learner.init(key), None, updates)

    progress, metrics = run(jax.random.key(1))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree_util.tree_leaves(progress.params))
    assert np.isfinite(metrics["loss"]).all()
    np.testing.assert_allclose(np.asarray(metrics["epsilon"])[[0, -1]], [1.0, 0.05], rtol=1e-5)
    return learner, progress, np.asarray(metrics["return"])


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            {"players": 3, "leave": True, "steps": 2, "clock": True}, marks=pytest.mark.slow
        ),
        {"mixer": "monotonic", "steps": 3, "recurrent": True, "turns": True},
    ],
    ids=["vdn", "qmix"],
)
def test_learns(options: dict[str, Any]) -> None:
    """Also to remember a cue until it is one's turn; where one player leaves before the others,
    the cue is gone for them, so that one in three guesses is all that they can do."""
    learner, progress, returns = learned(60, **options)
    policy = learner.policy(progress)
    assert policy.greedy and policy.algorithm == learner.name
    played = manyhands.rollout(
        learner.env, policy, 256, 12, jax.random.key(0), collect="statistics"
    ).statistics.returns
    assert returns[0] < 0.5
    if learner.name == "vdn":  # player_0 answers at the first step, while it sees its cue
        assert played[0] > 0.95 and 0.2 < played[1:].mean() < 0.5
    else:
        assert played.min() > 0.9, played


@pytest.mark.slow
def test_policies_on_disk(tmp_path) -> None:
    learner, progress, _ = learned(60, players=3, leave=True, steps=2, clock=True)
    policy = learner.policy(progress)
    path = tmp_path / "echo-vdn.safetensors"
    policies.save(path, policy, {"seeds": [1]})
    again = policies.load(path, learner.env)
    assert again.greedy and again.network == policy.network and again.network.layer_norm
    one, two = (
        manyhands.rollout(learner.env, player, 16, 4, jax.random.key(5)).trajectory.action
        for player in (policy, again)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("mixer", ["sum", "monotonic"])
def test_targets(mixer: str) -> None:
    """Lambda-returns against the plain sum over what follows, with an early end, turns, and a
    clock; and who contributes where."""
    env = Echo(steps=3, players=2, leave=True, turns=True, clock=True)
    config = ValueConfig(**QUICK | {"num_envs": 2, "num_steps": 9, "total_steps": 18}, mixer=mixer)
    learner = ValueDecomposition(env, config)
    progress = learner.init(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), config.num_steps)
    step = functools.partial(learner._step, progress, 0.0, 1.0)
    playing, (steps, _) = jax.jit(jax.lax.scan, static_argnums=0)(step, progress.playing, keys)
    values, anybody = learner._values(progress, playing, steps)
    targets = np.asarray(learner._targets(steps, values, anybody))

    # Three steps and, since the clock cuts them, one more in which nobody plays. Both see the cue,
    # then player_0 is to move and leaves; then it is player_1's turn.
    phase = np.arange(9) % 4
    moves = np.stack([phase < 2, (phase == 0) | (phase == 2)], axis=-1)
    np.testing.assert_array_equal(steps.moves[:, 0], moves)
    np.testing.assert_array_equal(steps.counts[:, 0], phase < 3)
    np.testing.assert_array_equal(steps.over[:, 0], phase == 2)
    np.testing.assert_array_equal(steps.cut[:, 0], phase == 2)
    assert not np.asarray(anybody)[3].any()
    values, rewards = np.asarray(values), np.asarray(steps.reward)
    if mixer == "sum":
        expected = np.sum(np.asarray(steps.best) * moves[:, None], axis=-1)
        np.testing.assert_allclose(values[:9], expected, atol=1e-6)
    assert np.all(values[3] == 0) and np.all(values[4] != 0)
    lam, discount = config.td_lambda, config.discount
    for start in (0, 4):
        following = rewards[start + 2]  # nobody moves after the cut
        for t in (start + 1, start):
            np.testing.assert_allclose(targets[t + 1], following, atol=1e-6)
            ahead = (1 - lam) * values[t + 1] + lam * following
            following = rewards[t] + discount * ahead
        np.testing.assert_allclose(targets[start], following, atol=1e-6)
    np.testing.assert_allclose(targets[8], rewards[8] + discount * values[9], atol=1e-6)


def test_targets_at_ends() -> None:
    """After the rules' end nothing follows, after a cut the last state's value; where nobody is to
    move the return passes through."""
    config = ValueConfig(**QUICK, total_steps=64 * 6, td_lambda=0.65)
    learner = ValueDecomposition(Echo(), config)
    told = {
        "reward": [1.0, 2.0, 3.0, 4.0, 5.0],
        "over": [False, True, False, False, True],
        "cut": [False, False, False, False, True],
    }
    unread = {field.name: None for field in dataclasses.fields(Steps)}
    steps = Steps(**unread | {name: jnp.array(given)[:, None] for name, given in told.items()})
    values = jnp.array([9.0, 10.0, 20.0, 0.0, 40.0, 50.0])[:, None]
    anybody = jnp.array([True, True, True, False, True, True])[:, None]
    g = 0.99
    last = 5 + g * 50  # cut: the value of what it would have gone on with
    fourth = 4 + g * (0.35 * 40 + 0.65 * last)
    third = 3 + g * fourth  # nobody moves in between
    second = 2.0  # the end
    first = 1 + g * (0.35 * 10 + 0.65 * second)
    targets = learner._targets(steps, values, anybody)[:, 0]
    np.testing.assert_allclose(targets, [first, second, third, fourth, last], rtol=1e-6)


@pytest.mark.slow
def test_mixtures() -> None:
    """Sums are sums; monotonic mixtures never fall when a utility rises, and depend on the state;
    who does not move does not matter."""
    total = 64 * 6
    vdn = ValueDecomposition(Echo(players=3), ValueConfig(**QUICK, total_steps=total))
    utilities = jax.random.normal(jax.random.key(0), (2, 4, 3))
    moves = jnp.array([True, True, False])
    mixed = vdn._mix({}, utilities, moves, None)
    np.testing.assert_allclose(mixed, utilities[..., 0] + utilities[..., 1], rtol=1e-6)

    mixer = Mixer(8)
    summary = jax.random.normal(jax.random.key(1), (500, 7))
    utilities = 3 * jax.random.normal(jax.random.key(2), (500, 3))
    params = mixer.init(jax.random.key(3), utilities, summary)
    slopes = jax.vmap(jax.grad(lambda u, s: mixer.apply(params, u[None], s[None])[0]))(
        utilities, summary
    )
    assert np.all(np.asarray(slopes) >= 0) and np.asarray(slopes).min(axis=1).max() > 0.01
    value = mixer.apply(params, utilities, summary)
    for agent in range(3):
        raised = mixer.apply(params, utilities.at[:, agent].add(0.7), summary)
        assert np.all(raised >= value) and np.mean(raised > value + 1e-4) > 0.9
    assert np.std(mixer.apply(params, utilities[:1].repeat(500, 0), summary)) > 0.1

    qmix = ValueDecomposition(
        Echo(players=3), ValueConfig(**QUICK, total_steps=total, mixer="monotonic", mixing_width=8)
    )
    given = {"mixer": params}
    rows, states = utilities[None], summary[None]
    one = qmix._mix(given, rows, moves, states)
    two = qmix._mix(given, rows.at[..., 2].add(5.0), moves, states)
    np.testing.assert_array_equal(one, two)
    assert not np.allclose(one, qmix._mix(given, rows, jnp.ones(3, bool), states))


def test_only_legal_actions_are_taken_and_valued() -> None:
    learner = ValueDecomposition(Echo(), ValueConfig(**QUICK, total_steps=64 * 6))
    progress = learner.init(jax.random.key(0))
    bias = progress.params["utility"]["params"]["Dense_1"]["bias"]
    progress.params["utility"]["params"]["Dense_1"]["bias"] = bias.at[3].set(99.0)  # is never legal
    for epsilon in (0.0, 1.0):
        _, (steps, _) = learner._step(
            progress, 0.0, epsilon, progress.playing, jax.random.key(int(epsilon))
        )
        actions = np.asarray(steps.action)
        assert actions.max() <= 2 and np.asarray(steps.best).max() < 50
        seen = np.bincount(actions.ravel(), minlength=3) / actions.size
        assert epsilon == 0.0 or seen.min() > 0.2  # all alike


def test_the_team_earns_the_mean_with_shaping() -> None:
    config = {**QUICK, "shaping": (("echo", 4.0),), "reward_scale": 0.5, "total_steps": 64 * 6}
    learner = ValueDecomposition(Echo(), ValueConfig(**config))
    progress = learner.init(jax.random.key(0))
    cues = np.asarray(progress.playing.state.cue).T
    for weight in (0.0, 1.0):
        _, (steps, report) = learner._step(
            progress, weight, 1.0, progress.playing, jax.random.key(0)
        )
        right = (np.asarray(steps.action) == cues).mean(axis=1)
        assert 0 < right.mean() < 1
        np.testing.assert_allclose(steps.reward, 0.5 * (1 + 4 * weight) * right, rtol=1e-6)
        assert report["returns"].mean() == pytest.approx(right.sum())  # not shaped, not scaled


@pytest.mark.parametrize(
    ("config", "options", "words"),
    [
        ({"mixer": "product"}, {}, "sum or monotonic"),
        ({"mixing_width": 0}, {}, "mixing_width"),
        ({"epsilon": 1.5}, {}, "epsilon is .* from 0 to 1"),
        ({"num_envs": 10, "minibatches": 4}, {}, "cannot be divided"),
        ({"shaping": (("soups", 1.0),)}, {}, "no reward term"),
        ({}, {"space": "box"}, "vdn needs .* Discrete"),
        ({"mixer": "monotonic"}, {"space": "multi"}, "qmix needs .* Discrete"),
    ],
)
def test_bad_configurations(config: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        ValueDecomposition(Echo(**options), ValueConfig(**config))


def test_by_name() -> None:
    for name in ("vdn", "qmix"):
        learner = training.make_learner(manyhands.make("kitchen"), name)
        assert learner.name == name
        assert learner.config.shaping
