"""Batched rollouts: the same episodes as one by one, whatever the batch, the pool, the devices."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core import rollout as rollouts
from manyhands.core.env import ConfigError, agent_key
from manyhands.core.registry import make
from manyhands.core.rollout import BatchPolicy, RandomActions, rollout, rollout_key
from manyhands.envs.kitchen import Kitchen

KEY = jax.random.key(7)


@pytest.fixture(scope="module")
def kitchen():
    return Kitchen(max_steps=6, observation="compact")


class Wander:
    """A device policy that remembers: counts its steps, and draws from its key."""

    def init(self, env, agent):
        return jnp.int32(0)

    def apply(self, env, agent, memory, key, view):
        action = (jax.random.randint(key, (), 0, 6) + memory + agent) % 6
        return action.astype(jnp.int32), memory + 1


def by_hand(env, index, episode, steps):
    """The actions and rewards of one episode of a rollout of `Wander`, one step at a time."""
    key = rollout_key(KEY, index, episode)
    state, actions, rewards = env.reset(key), [], []
    step = jax.jit(env.step)
    for t in range(steps):
        step_key = jax.random.fold_in(key, t)
        chosen = [
            (int(jax.random.randint(agent_key(step_key, i), (), 0, 6)) + t + i) % 6 for i in (0, 1)
        ]
        state, outcome = step(step_key, state, jnp.asarray(chosen))
        actions.append(chosen)
        rewards.append(np.asarray(outcome.reward))
    return np.asarray(actions), np.asarray(rewards)


class WanderAnywhere(Wander):
    any_seat = True


@pytest.mark.parametrize("few", [1, 9])
def test_seats_that_share_a_program_play_as_they_do_apart(few, monkeypatch):
    from manyhands.core import batch

    crowd = Kitchen(layout="coordination_ring", chefs=3, max_steps=6, observation="compact")
    apart, anywhere = Wander(), WanderAnywhere()
    expected = rollout(crowd, [apart] * 3, 4, 12, KEY)
    monkeypatch.setattr(batch, "FEW", few)
    for seats in ([anywhere] * 3, [anywhere, apart, anywhere]):
        found = rollout(crowd, seats, 4, 12, KEY)
        assert np.array_equal(found.trajectory.action, expected.trajectory.action)
        assert np.array_equal(found.trajectory.reward, expected.trajectory.reward)


def test_a_rollouts_episodes_can_be_played_alone(kitchen):
    result = rollout(kitchen, Wander(), 3, 14, KEY)
    actions = np.asarray(result.trajectory.action)
    assert actions.shape == (14, 2, 3)
    for index in range(3):
        alone, _ = by_hand(kitchen, index, 1, 6)  # the second episode: steps 6 to 11
        np.testing.assert_array_equal(actions[6:12, :, index], alone)


@pytest.mark.slow
def test_random_starts_are_those_of_the_episodes_keys():
    env = Kitchen(starts="random", max_steps=3, observation="compact")
    result = rollout(env, "random", 2, 7, KEY, pool=0)
    seen = np.asarray(result.trajectory.observation)
    for index in range(2):
        for episode in range(3):
            first = env.observe(env.reset(rollout_key(KEY, index, episode)))
            np.testing.assert_array_equal(seen[3 * episode, ..., index], first)


def test_a_pool_gives_fresh_states_without_resetting():
    env = Kitchen(starts="random", max_steps=2, observation="compact")
    result = rollout(env, "random", 16, 21, KEY, pool=64)
    first = np.asarray(result.trajectory.observation)[2::2]  # the first steps of all but the first
    starts = {first[e, ..., i].tobytes() for e in range(len(first)) for i in range(16)}
    assert len(starts) > 40  # of 64 in the pool, 160 drawn


def test_statistics_are_those_of_the_trajectory(kitchen):
    whole = rollout(kitchen, "random", 5, 15, KEY)
    sums = rollout(kitchen, "random", 5, 15, KEY, collect="statistics")
    assert sums.trajectory is None
    track, stats = whole.trajectory, sums.statistics
    assert stats.env_steps == 75
    over = np.asarray(track.truncated | track.terminated).all(1)
    assert stats.episodes == over.sum() == 10
    assert stats.length == 6
    for name, values in track.terms.items():
        np.testing.assert_allclose(stats.terms[name], np.asarray(values).sum((0, 2)))
    for name, values in track.metrics.items():
        assert stats.metrics[name] == np.asarray(values).sum()
    finished = np.asarray(track.reward)[:12].reshape(2, 6, 2, 5).sum(1)
    np.testing.assert_allclose(stats.returns, finished.mean((0, 2)))
    np.testing.assert_allclose(stats.returns_std, finished.std((0, 2)), atol=1e-6)


def test_rewards_are_the_weighted_terms():
    weights = {"delivery": 0.0, "pot_placement": 0.5, "dish_pickup": 2.0}
    env = Kitchen(max_steps=8, reward_weights=weights)

    def policy(params, key, view):
        return jnp.broadcast_to(params, view.acting.shape)

    # Chef 1, at (3, 1): an onion from the east, then west and north to the pot. Chef 0, at (1, 2),
    # does the same moves and finds a counter, and no pot to its north.
    earned, carry = [], None
    for action in (2, 5, 3, 0, 5, 4, 4, 4):
        result = rollout(
            env, policy, 2, 1, KEY, params=jnp.int32(action), carry=carry, collect="trajectory"
        )
        carry = result.carry
        earned.append(np.asarray(result.trajectory.reward)[0, :, 0])
        terms = {name: np.asarray(values) for name, values in result.trajectory.terms.items()}
        weighted = sum(np.float32(env.reward_weights[name]) * terms[name] for name in env.terms)
        np.testing.assert_array_equal(np.asarray(result.trajectory.reward), weighted)
    assert np.sum(earned, 0).tolist() == [0.0, 1.5]


def test_going_on_is_the_same_as_going_through(kitchen):
    through = rollout(kitchen, Wander(), 2, 10, KEY).trajectory.action
    first = rollout(kitchen, Wander(), 2, 4, KEY)
    second = rollout(kitchen, Wander(), 2, 6, KEY, carry=first.carry)
    joined = jnp.concatenate([first.trajectory.action, second.trajectory.action])
    np.testing.assert_array_equal(through, joined)


def test_random_actions_are_legal_and_even(kitchen):
    actions = np.asarray(rollout(kitchen, "random", 64, 64, KEY).trajectory.action)
    counts = np.bincount(actions.ravel(), minlength=6)
    assert len(counts) == 6
    expected = actions.size / 6
    assert (abs(counts - expected) < 5 * np.sqrt(expected)).all()


def equal(one, other):
    """Whether two results hold the same bits."""

    def bits(leaf):
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        return np.asarray(leaf).tobytes()

    parts = [(r.carry, r.trajectory, dataclasses.asdict(r.statistics)) for r in (one, other)]
    for a, b in zip(*map(jax.tree_util.tree_leaves, parts), strict=True):
        assert bits(jnp.asarray(a)) == bits(jnp.asarray(b))
    return True


@pytest.mark.parametrize(
    ("policy", "collect"),
    [("random", "statistics"), (Wander(), "trajectory")],
    ids=["all", "seats"],
)
def test_chunks_change_nothing(policy, collect):
    env = Kitchen(starts="random", max_steps=4, observation="compact")
    whole = rollout(env, policy, 12, 6, KEY, collect=collect, pool=8)
    parts = rollout(env, policy, 12, 6, KEY, collect=collect, pool=8, chunk=4)
    assert whole.statistics.episodes == 12
    assert equal(whole, parts)
    whole = rollout(env, policy, 12, 6, KEY, collect=collect, pool=8, carry=whole.carry)
    parts = rollout(env, policy, 12, 6, KEY, collect=collect, pool=8, carry=parts.carry, chunk=4)
    assert whole.carry.step == 12
    assert equal(whole, parts)


def test_large_batches_are_divided_where_that_changes_nothing(kitchen):
    cpu = (jax.devices("cpu")[0],)
    sizes = {n: rollouts._chunk(kitchen, RandomActions(), n, cpu, None) for n in (1, 300, 8192)}
    assert sizes[1] == 1 and sizes[300] == 300
    assert 256 <= sizes[8192] <= 1024
    assert 8192 % sizes[8192] == 0
    assert rollouts._chunk(kitchen, RandomActions(), 8191, cpu, None) == 8191  # a prime number
    assert rollouts._chunk(kitchen, BatchPolicy(), 8192, cpu, None) == 8192
    assert rollouts._chunk(kitchen, RandomActions(), 8192, cpu * 2, None) == 2 * sizes[8192]
    wide = Kitchen(layout="counter_circuit", observation="grid")
    assert rollouts._chunk(wide, RandomActions(), 8192, cpu, None) <= sizes[8192]


@pytest.mark.slow
def test_a_policy_that_draws_for_the_batch_draws_for_a_chunk(kitchen):
    def policy(key, view):
        return jax.random.randint(key, view.acting.shape, 0, 6)

    whole = np.asarray(rollout(kitchen, policy, 4, 3, KEY).trajectory.action)
    parts = np.asarray(rollout(kitchen, policy, 4, 3, KEY, chunk=2).trajectory.action)
    for t in range(3):
        key = jax.random.fold_in(KEY, t)
        np.testing.assert_array_equal(whole[t], jax.random.randint(key, (2, 4), 0, 6))
        for i in range(2):
            drawn = jax.random.randint(jax.random.fold_in(key, i), (2, 2), 0, 6)
            np.testing.assert_array_equal(parts[t, :, 2 * i : 2 * i + 2], drawn)


@pytest.mark.parametrize("chunk", [None, 4])
def test_rollouts_compile_once_and_move_nothing_to_or_from_the_host(kitchen, chunk):
    traced = []

    class Spy(RandomActions):
        __hash__ = object.__hash__

        def apply(self, *args):
            traced.append(1)
            return super().apply(*args)

    policy, keys = Spy(), [jax.random.key(seed) for seed in range(3)]
    result = rollout(kitchen, policy, 8, 4, keys[0], collect="statistics", chunk=chunk)
    count = len(traced)
    # What comes out is fetched, explicitly; nothing else may cross over.
    with jax.transfer_guard("disallow"):
        for key in keys[1:]:
            result = rollout(
                kitchen, policy, 8, 4, key, collect="statistics", chunk=chunk, carry=result.carry
            )
    assert len(traced) == count
    assert result.statistics.env_steps == 32


class Recurrent(BatchPolicy):
    """Remembers how many steps the episode has, and forgets at its start."""

    def init(self, env, num_envs):
        return jnp.zeros(num_envs, jnp.int32)

    def apply(self, env, params, memory, key, view):
        memory = jnp.where(view.first, 0, memory) + 1
        actions = jnp.broadcast_to((memory * params) % 6, view.acting.shape)
        return actions, memory


def test_a_batch_policy_remembers_and_new_parameters_do_not_compile_anew(kitchen):
    policy, compiled = Recurrent(), []

    class Spy(Recurrent):
        def apply(self, *args):
            compiled.append(1)
            return super().apply(*args)

    policy = Spy()
    one = rollout(kitchen, policy, 2, 8, KEY, params=jnp.int32(1)).trajectory.action
    traces = len(compiled)
    two = rollout(kitchen, policy, 2, 8, KEY, params=jnp.int32(2)).trajectory.action
    assert len(compiled) == traces
    np.testing.assert_array_equal(one[:, 0, 0], [1, 2, 3, 4, 5, 0, 1, 2])
    np.testing.assert_array_equal(two[:, 0, 0], [2, 4, 0, 2, 4, 0, 2, 4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs"),
        ({"num_steps": 1.5}, "num_steps"),
        ({"collect": "everything"}, "collect"),
        ({"policy": ["random"]}, "2 seats"),
        ({"policy": {"chef_0": "random"}}, "chef_1"),
        ({"policy": [object(), object()]}, "init and apply"),
        ({"num_envs": 6, "chunk": 4}, "divisor of num_envs=6"),
    ],
)
def test_what_makes_no_sense_is_said(kitchen, arguments, message):
    given = {"policy": "random", "num_envs": 2, "num_steps": 2, "key": KEY} | arguments
    with pytest.raises(ConfigError, match=message):
        rollout(kitchen, **given)


def test_a_batch_that_devices_cannot_share_is_warned_of(kitchen, monkeypatch):
    two = [jax.devices()[0]] * 2
    monkeypatch.setattr(jax, "local_devices", lambda: two)
    with pytest.warns(UserWarning, match="num_envs=257 .* 2 devices"):
        rollout(kitchen, lambda key, view: view.acting * 0, 257, 1, KEY, collect="statistics")


SHARDED = """
import json, jax, numpy as np
from manyhands.core.rollout import rollout
from manyhands.envs.kitchen import Kitchen
env = Kitchen(max_steps=6, observation="compact")
result = rollout(env, "random", 4, 9, jax.random.key(7), chunk=2, devices=jax.devices())
spread = len(result.carry.state.position.sharding.device_set)
track = result.trajectory
print(json.dumps([spread, np.asarray(track.action).tolist(), np.asarray(track.observation).tolist(),
                  result.statistics.terms["pot_placement"].tolist()]))
"""


def test_devices_share_the_batch_and_change_nothing(kitchen):
    environment = os.environ | {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        "JAX_PLATFORMS": "cpu",
    }
    output = subprocess.run(
        [sys.executable, "-c", SHARDED], env=environment, capture_output=True, text=True, check=True
    ).stdout
    spread, actions, observations, placements = json.loads(output)
    assert spread == 2
    result = rollout(kitchen, "random", 4, 9, KEY)
    np.testing.assert_array_equal(result.trajectory.action, actions)
    np.testing.assert_array_equal(result.trajectory.observation, observations)
    np.testing.assert_array_equal(result.statistics.terms["pot_placement"], placements)


def test_an_environment_by_id_and_keys_that_are_none():
    results = [
        rollout(env, "random", 4, 5, jax.random.key(0)).trajectory
        for env in ("kuhn_poker", make("kuhn_poker"))
    ]
    for leaf, same in zip(*map(jax.tree_util.tree_leaves, results), strict=True):
        np.testing.assert_array_equal(leaf, same)
    for env in ("khun_poker", 5, None):
        with pytest.raises(ConfigError):
            rollout(env, "random", 4, 5, jax.random.key(0))
    untyped = (jax.random.PRNGKey(0), np.zeros(2, np.uint32))
    for key in (5, None, "x", *untyped, jax.random.split(jax.random.key(0))):
        with pytest.raises(ConfigError, match="typed key"):
            rollout("kuhn_poker", "random", 4, 5, key)
