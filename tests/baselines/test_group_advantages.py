"""Advantages of groups that begin alike (GRPO, GiGPO): by hand, and beside those of records."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.baselines.learners import groups, training
from manyhands.baselines.learners.advantages import compared, discounted
from manyhands.baselines.learners.on_policy import begin_groups
from manyhands.baselines.learners.ppo import PPO, PPOConfig
from manyhands.core.env import ConfigError, Env, state_dataclass
from manyhands.core.layout import Layout, Piece
from manyhands.core.registry import register


@state_dataclass
class WalkState:
    """goal, place: i32[], time: i32[]."""

    goal: jax.Array
    place: jax.Array
    time: jax.Array


class Walk(Env[WalkState]):
    """Eight places in a ring; 0 goes back, 1 on; it pays, and ends, to come to the goal."""

    id = "test-walk"
    terms = ("goal",)
    max_steps = 12

    def __init__(self):
        self.agents = ("player_0",)
        self.reward_weights = {"goal": 1.0}
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_layout = Layout(
            [Piece("goal", 8), Piece("place", 8), Piece("clock", 1, 0, 12)], np.uint8
        )
        self.observation_space = self.observation_layout.space()
        self.noop = 0

    def config(self):
        return {}

    def reset(self, key):
        return WalkState(jax.random.randint(key, (), 2, 7), jnp.int32(0), jnp.int32(0))

    def step(self, key, state, actions):
        place = (state.place + 2 * actions[0] - 1) % 8
        state = WalkState(state.goal, place, state.time + 1)
        there = (place == state.goal)[None]
        late = (state.time >= self.max_steps)[None]
        return state, self.outcome(
            {"goal": there.astype(jnp.float32)}, there, late & ~there, {"illegal": jnp.float32(0)}
        )

    def observe(self, state):
        goal, place = (jax.nn.one_hot(k, 8, dtype=jnp.uint8) for k in (state.goal, state.place))
        return jnp.concatenate([goal, place, state.time[None].astype(jnp.uint8)])[None]

    def legal(self, state):
        return jnp.ones((1, 2), bool)

    def acting(self, state):
        return jnp.ones(1, bool)


register("test-walk", f"{__name__}:Walk")
CONFIG: dict[str, Any] = {
    "num_envs": 16,
    "num_steps": 12,
    "minibatches": 2,
    "epochs": 2,
    "learning_rate": 0.02,
    "width": 16,
    "layers": 1,
    "group": 4,
    "reads": "vector",
    "anchor_ignores": ("clock",),
}


def test_group_advantages_by_hand() -> None:
    returns = jnp.array([[1.0, 0.0], [3.0, 0.0], [5.0, 2.0], [5.0, 4.0]])  # two groups, two agents
    found = groups.group_advantages(returns, 2)
    half = 1 / 2**0.5  # means 2 and 4.5, deviations sqrt(2) and sqrt(1/2)
    expected = [[-half, 0], [half, 0], [0, -half], [0, half]]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    plain = groups.group_advantages(returns, 2, scale=False)
    np.testing.assert_allclose(plain, [[-1, 0], [1, 0], [0, -1], [0, 1]])


def test_anchors_by_hand() -> None:
    """One agent, two episodes of three steps: it observes A, A, B, and A, C, B."""
    to_come = jnp.array([[1.0, 5.0], [3.0, 7.0], [2.0, 4.0]])[..., None]
    seen = jnp.array([[0, 0], [0, 2], [1, 1]], jnp.uint32)[..., None]
    anchors = jnp.stack([seen, seen], axis=-1)
    acts = jnp.ones((3, 2, 1), bool)
    found = groups.compare_anchors(to_come, anchors, acts, 2, scale=False)
    # A: 1, 3 and 5; B: 2 and 4; C alone.
    np.testing.assert_allclose(found.advantage[..., 0], [[-2, 2], [0, 0], [-1, 1]], atol=1e-6)
    np.testing.assert_allclose(found.repeated, 1 / 6)
    np.testing.assert_allclose(found.met, 5 / 6)
    scaled = groups.compare_anchors(to_come, anchors, acts, 2).advantage
    half = 1 / 2**0.5
    np.testing.assert_allclose(scaled[..., 0], [[-1, 1], [0, 0], [-half, half]], atol=1e-5)
    # Steps in which nobody acts are compared with nothing.
    found = groups.compare_anchors(to_come, anchors, acts.at[1, 0].set(False), 2, scale=False)
    np.testing.assert_allclose(found.advantage[..., 0], [[-2, 2], [0, 0], [-1, 1]], atol=1e-6)
    assert float(found.repeated) == 0
    np.testing.assert_allclose(found.met, 4 / 5)


@pytest.mark.parametrize("scale", [True, False])
def test_anchors_as_those_of_records(scale: bool) -> None:
    """Several groups and agents, against the advantages of conversations."""
    rng = np.random.default_rng(0)
    steps, envs, agents, size = 6, 6, 2, 3
    rewards = rng.normal(size=(steps, envs, agents)).astype(np.float32)
    acts = rng.random((steps, envs, agents)) < 0.8
    rewards = np.where(acts, rewards, 0)
    seen = rng.integers(0, 3, (steps, envs, agents)).astype(np.uint32)
    to_come = groups.returns_to_come(jnp.asarray(rewards), 0.9)
    for env in range(envs):
        for agent in range(agents):
            expected = discounted(rewards[:, env, agent], 0.9)
            np.testing.assert_allclose(to_come[:, env, agent], expected, atol=1e-5)
    anchors = jnp.stack([seen, seen], axis=-1)
    found = groups.compare_anchors(to_come, anchors, jnp.asarray(acts), size, scale)
    where = np.argwhere(acts)
    keys = [(env // size, agent, int(seen[t, env, agent])) for t, env, agent in where]
    expected = compared([float(to_come[tuple(at)]) for at in where], keys, scale)
    np.testing.assert_allclose(np.asarray(found.advantage)[acts], expected, atol=2e-4)
    assert not np.asarray(found.advantage)[~acts].any()
    again = [
        any((t < at[0]) and acts[t, at[1], at[2]] and seen[t, at[1], at[2]] == seen[tuple(at)]
            for t in range(steps))
        for at in where
    ]  # fmt: skip
    np.testing.assert_allclose(found.repeated, np.mean(again))
    np.testing.assert_allclose(found.met, np.mean([keys.count(key) > 1 for key in keys]))


def test_fingerprints() -> None:
    rows = np.random.default_rng(1).integers(0, 3, (40, 50, 6)).astype(np.uint8)
    every = np.ones(6, bool)
    found = np.asarray(groups.fingerprints(jnp.asarray(rows), 2, every))
    pairs: dict[bytes, set[tuple[int, ...]]] = {}
    for row, pair in zip(rows.reshape(-1, 6), found.reshape(-1, 2), strict=True):
        pairs.setdefault(row.tobytes(), set()).add(tuple(pair))
    assert all(len(each) == 1 for each in pairs.values())
    assert len(set.union(*pairs.values())) == len(pairs) > 600
    without = groups.fingerprints(jnp.asarray(rows), 2, every & (np.arange(6) != 2))
    other = groups.fingerprints(jnp.asarray(rows).at[..., 2].set(9), 2, every)
    np.testing.assert_array_equal(
        without, groups.fingerprints(jnp.asarray(rows).at[..., 2].set(0), 2, every)
    )
    assert (np.asarray(other) != found).any(axis=-1).all()
    # Numbers with a point are compared by their bits.
    small = groups.fingerprints(jnp.array([[0.25], [0.5], [0.25]]), 1, np.ones(1, bool))
    assert (small[0] == small[2]).all()
    assert (small[0] != small[1]).any()


@functools.lru_cache
def learner(**options: Any) -> PPO:
    config = {**CONFIG, "total_steps": 40 * 16 * 12, **options}
    return PPO(Walk(), PPOConfig(**config))


def test_episodes_of_groups() -> None:
    """Members begin alike, play one episode each, and are compared by what it brought."""
    ppo = learner(advantage="anchor")
    progress = ppo.init(jax.random.key(0))
    for _ in range(2):
        begun = begin_groups(ppo.env, progress.key, progress.fresh, progress.playing, 4)
        goals = np.asarray(begun.state.goal).reshape(4, 4)
        assert (goals == goals[:, :1]).all()
        assert len(set(goals[:, 0])) > 1
        assert not np.asarray(begun.state.time).any()
        step = functools.partial(ppo._step, progress, 0.0)
        after, (steps, report) = jax.jit(jax.lax.scan, static_argnums=0)(
            step, begun, jax.random.split(jax.random.key(1), 12)
        )
        counts, rewards = np.asarray(steps.counts)[..., 0], np.asarray(steps.reward)[..., 0]
        lengths = counts.sum(axis=0)
        assert (counts == (np.arange(12)[:, None] < lengths)).all()  # then nobody plays
        won = rewards.sum(axis=0)
        assert (won[lengths < 12] == 1).all()
        assert 0 < won.mean() < 1
        assert float(report["episodes"].sum()) == 16
        assert float(report["length"].sum()) == lengths.sum()
        np.testing.assert_array_equal(after.time, lengths)
        found = np.asarray(ppo._advantages(steps, ppo._values(progress, after, steps)[0]))[..., 0]
        expected = compared(won.tolist(), (np.arange(16) // 4).tolist(), True)
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=1e-4)
        progress = dataclasses.replace(progress, playing=after)


def test_the_value_of_a_cut_episode_counts_once() -> None:
    """GAE of whole episodes: the last state of one that was cut is bootstrapped, if at all."""
    for bootstrap in (True, False):
        ppo = learner(advantage="gae", bootstrap=bootstrap)
        progress = ppo.init(jax.random.key(0))
        begun = begin_groups(ppo.env, progress.key, progress.fresh, progress.playing, 4)
        step = functools.partial(ppo._step, progress, 0.0)
        after, (steps, _) = jax.jit(jax.lax.scan, static_argnums=0)(
            step, begun, jax.random.split(jax.random.key(1), 12)
        )
        values = np.asarray(ppo._values(progress, after, steps)[0])[..., 0]
        found = np.asarray(ppo._advantages(steps, jnp.asarray(values)[..., None]))[..., 0]
        rewards = np.asarray(steps.reward)[..., 0]
        lengths = np.asarray(steps.counts)[..., 0].sum(axis=0)
        late = (lengths == 12) & (rewards.sum(axis=0) == 0)
        assert late.any()
        assert not late.all()
        for env in range(16):
            expected, last = 0.0, lengths[env] - 1
            for t in range(last, -1, -1):
                later = values[t + 1, env] * (t < last or (late[env] and bootstrap))
                error = rewards[t, env] + 0.99 * later - values[t, env]
                expected = error + 0.99 * 0.95 * expected
                np.testing.assert_allclose(found[t, env], expected, atol=1e-5)


@pytest.mark.parametrize(
    "advantage", [pytest.param("gae", marks=pytest.mark.slow), "group", "anchor"]
)
def test_learns(advantage: str) -> None:
    ppo = learner(advantage=advantage)
    run = jax.jit(lambda p: jax.lax.scan(lambda p, _: ppo.update(p), p, None, 40))
    _, metrics = run(ppo.init(jax.random.key(0)))
    lengths, repeated = np.asarray(metrics["length"]), np.asarray(metrics["repeated"])
    assert (np.asarray(metrics["episodes"]) == 16).all()
    assert lengths[-5:].mean() < 5 < lengths[:3].mean()  # at random about 10, at best 3.1
    assert repeated[-5:].mean() < 0.25 < repeated[:3].mean()
    assert np.asarray(metrics["met"])[:3].mean() > 0.9


@pytest.mark.slow
def test_goes_on_as_if_never_stopped(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(training, "render_gif", lambda *_: None)  # this game has no pictures
    ppo = learner(advantage="anchor", total_steps=6 * 16 * 12)
    kept = []
    options: dict[str, Any] = {"episodes": 4, "progress": False, "updates_per_report": 2}
    whole = training.train(ppo, 1, tmp_path / "whole", **options)

    def stop(at: training.Report) -> None:
        kept.append(at.update)
        if at.update == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train(ppo, 1, tmp_path / "halves", report=stop, **options)
    halves = training.train(ppo, 1, tmp_path / "halves", resume=True, **options)
    assert kept == [2, 4]
    for one, two in zip(
        *(jax.tree_util.tree_leaves(each.policies[0].params) for each in (whole, halves)),
        strict=True,
    ):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"advantage": "group", "group": 1}, "group=8"),
        ({"group": 3}, "num_envs=16"),
        ({"num_steps": 11}, "at least 12"),
        ({"start_player": "random"}, "start_player"),
        ({"anchor_ignores": ("ages",)}, "'ages'.*goal, place, clock"),
        ({"reads": "perception"}, "reads='vector'"),
    ],
)
def test_bad_configurations(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        PPO(Walk(), PPOConfig(**{**CONFIG, "total_steps": 192, **options}))
