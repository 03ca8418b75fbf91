"""Batches of environments against the same episodes played one by one."""

import importlib.util
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.core.batch import seats_of
from manyhands.core.env import ConfigError, EpisodeOver, SeatError, episode_key
from manyhands.core.pack import stepper
from manyhands.wrappers.pettingzoo import Parallel
from manyhands.wrappers.vector import Absent, Vector

sys.path.append(str(Path(__file__).parents[1] / "core"))
from coins import Coins


def first_state(vector, i):
    return jax.tree_util.tree_map(lambda leaf: leaf[..., i], vector.states)


def test_seeds_of_a_batch_are_whole_numbers():
    batch = manyhands.vector("kuhn_poker", 2)
    for wrong in (1.5, float("nan"), -1, True, "xy", {}, np.array(3.0), [1.5, 2], [1], [-1, 2]):
        with pytest.raises(ConfigError, match="seed"):
            batch.reset(seed=wrong)
    expected = batch.reset(seed=7)[0].copy()
    for same in (np.int64(7), 2**70 + 7, [7, 8], (7, 8), np.array([7, 8]), [2**32 + 7, 2**64 + 8]):
        np.testing.assert_array_equal(batch.reset(seed=same)[0], expected)
    batch.reset(seed=[3, None])


def test_a_batch_plays_the_episodes_of_its_seeds():
    batch = manyhands.vector("kitchen", 3, starts="random", max_steps=6)
    singles = [Parallel(batch.game) for _ in range(3)]
    seen, info = batch.reset(seed=10)
    for i, env in enumerate(singles):
        expected = env.reset(seed=10 + i)[0]
        assert (seen[i] == list(expected.values())).all()
    assert seen in batch.observation_space
    assert info["legal"].all() and info["acting"].shape == (3, 2)
    rng = np.random.default_rng(0)
    for step in range(6):
        actions = rng.integers(0, 6, (3, 2))
        seen, rewards, terminated, truncated, info = batch.step(actions)
        if step == 5:
            assert info["_final_obs"].all() and truncated.all() and not terminated.any()
            seen = info["final_obs"]
        for i, env in enumerate(singles):
            one = env.step(dict(zip(env.agents, actions[i].tolist(), strict=True)))
            assert (seen[i] == list(one[0].values())).all()
            assert rewards[i].tolist() == list(one[1].values())
            assert info["terms"]["dish_pickup"][i, 1] == one[4]["chef_1"]["terms"]["dish_pickup"]
            assert info["metrics"]["collisions"][i] == one[4]["chef_0"]["metrics"]["collisions"]
    # The second episode has the documented key.
    for i in range(3):
        key = jax.random.fold_in(episode_key(10 + i), np.uint32(2**31 + 1))
        assert (first_state(batch, i).position == batch.game.reset(key).position).all()
    assert batch._program.step._cache_size() == 1


@pytest.mark.parametrize("arrays", ("numpy", "jax"))
def test_random_games_of_different_lengths(arrays):
    """Each environment replays alone, over several episodes that end at different times."""
    game = Coins(players=2, turns=False, pile=9, max_steps=6)
    batch = manyhands.vector(game, 4, arrays=arrays)
    batch.reset(seed=[5, 6, 5, 8])
    single = stepper(game)
    keys = [episode_key(seed) for seed in (5, 6, 5, 8)]
    bases, times, numbers = list(keys), [0] * 4, [0] * 4
    states = [single.reset(key).state for key in keys]
    rng = np.random.default_rng(1)
    for _ in range(12):
        actions = rng.integers(0, 4, (4, 2))
        seen, rewards, *_, info = batch.step(jnp.asarray(actions) if arrays == "jax" else actions)
        for i in range(4):
            data = np.asarray(jax.random.key_data(keys[i]))
            frame = single.step(data, times[i], states[i], actions[i].astype(np.int32))
            states[i], times[i] = frame.state, times[i] + 1
            assert np.allclose(rewards[i], frame.reward)
            assert bool(info["_final_obs"][i]) == frame.over
            if frame.over:
                assert np.allclose(info["final_obs"][i], frame.vector)
                numbers[i] += 1
                keys[i] = jax.random.fold_in(bases[i], np.uint32(2**31 + numbers[i]))
                frame, times[i] = single.reset(keys[i]), 0
                states[i] = frame.state
            assert np.allclose(seen[i], frame.vector)
    assert min(numbers) >= 1
    assert batch._program.step._cache_size() == 1


def test_resets():
    batch = manyhands.vector("kitchen", 4, starts="random", seed=3)
    first = batch.reset()[0].copy()
    assert (manyhands.vector("kitchen", 4, starts="random").reset(seed=3)[0] == first).all()
    second = batch.reset()[0].copy()
    assert (second != first).any()
    batch.reset(seed=3)
    assert (batch.reset()[0] == second).all()  # the series is determined by the last seed
    mask = np.array([False, True, False, False])
    batch.reset(seed=3)
    batch.step(np.full((4, 2), 5))
    seen = batch.reset(seed=[None, 4, None, None], options={"reset_mask": mask})[0]
    assert (seen[1] == first[1]).all()
    times = np.asarray(batch.states.time)
    assert times.tolist() == [1, 0, 1, 1]
    batch.reset(options={"reset_mask": ~mask})
    assert np.asarray(batch.states.time).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("arrays", ("numpy", "jax"))
@pytest.mark.parametrize(
    ("actions", "given"),
    [
        (np.full((2, 2), 1.9), "float64"),
        (np.full((2, 2), np.nan, np.float32), "float32"),
        ([[1.0, 0.0], [0.0, 0.0]], "float64"),
        (np.zeros((2, 2), bool), "bool"),
        (np.zeros(2, int), r"\(2, 2\)"),
    ],
)
def test_actions_of_another_kind_are_refused(arrays, actions, given):
    batch = manyhands.vector(Coins(players=2), 2, arrays=arrays)
    batch.reset(seed=0)
    given = given.replace("float64", "float32") if arrays == "jax" else given
    with pytest.raises(ConfigError, match=given):
        batch.step(jnp.asarray(actions) if arrays == "jax" else actions)
    batch.step(np.zeros((2, 2), np.uint8))
    assert batch._program.step._cache_size() == 1


def test_members_of_a_group_begin_alike_and_meet_partners_that_draw_differently():
    game = Coins(players=2, turns=False, pile=60, max_steps=20)
    partners = seats_of(game, [Absent(), "random"])
    batch = Vector(game, 4, seat=0, partners=partners)

    def episode(**options):
        batch.reset(seed=[5] * 4, options=options)
        first = np.asarray(jax.tree_util.tree_leaves(batch.states)[0])
        steps = [batch.step(np.zeros(4, int)) for _ in range(6)]
        return first, np.stack([observation for observation, *_ in steps])

    first, alone = episode()
    same, together = episode(member=[0, 1, 2, 1])
    assert (first == same).all() and (alone == alone[:, :1]).all()
    assert (together[:, 0] == alone[:, 0]).all()  # member 0 is the episode of no group
    assert (together[:, 1] == together[:, 3]).all()
    assert (together[:, 1] != together[:, 0]).any() and (together[:, 2] != together[:, 1]).any()
    assert (episode(member=1)[1] == together[:, [1] * 4]).all()
    batch.reset(seed=5, options={"reset_mask": np.array([True, False, False, False])})
    batch.step(np.zeros(4, int))
    with pytest.raises(ConfigError, match="-1"):
        episode(member=-1)
    with pytest.raises(ConfigError, match="3 given"):
        episode(member=[0, 1, 2])
    with pytest.raises(ConfigError, match='"member"'):
        episode(members=1)
    with pytest.raises(ConfigError, match="member=1"):
        manyhands.vector(game, 2).reset(seed=0, options={"member": 1})


def test_finished_episodes_stand_still_on_the_device():
    batch = manyhands.vector("kitchen", 2, arrays="jax", autoreset_mode="Disabled", max_steps=2)
    batch.reset(seed=0)
    for _ in range(3):
        _, rewards, _, truncated, _ = batch.step(np.zeros((2, 2), int))
    assert truncated.all() and not rewards.any()
    assert np.asarray(batch.states.time).tolist() == [2, 2]


def test_wrong_callers():
    batch = manyhands.vector("kitchen", 2, autoreset_mode="Disabled", max_steps=1)
    with pytest.raises(EpisodeOver, match="reset"):
        batch.step(np.zeros((2, 2), int))
    batch.reset()
    with pytest.raises(ConfigError, match="shape"):
        batch.step(np.zeros((2, 3), int))
    with pytest.raises(ConfigError, match="reset_mask"):
        batch.reset(options={"reset_mask": np.ones(3, bool)})
    with pytest.raises(ConfigError, match="2 seeds"):
        batch.reset(seed=[1, 2, 3])
    batch.step(np.zeros((2, 2), int))
    with pytest.raises(EpisodeOver, match="0, 1"):
        batch.step(np.zeros((2, 2), int))
    for wrong in ({"num_envs": 0}, {"num_envs": 2, "arrays": "lists"}):
        with pytest.raises(ConfigError):
            manyhands.vector("kitchen", **wrong)
    with pytest.raises(ConfigError, match="SameStep"):
        manyhands.vector("kitchen", 2, autoreset_mode="sometimes")


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_missing_torch_is_explained():
    with pytest.raises(SeatError, match="pip install torch"):
        manyhands.vector("kitchen", 2, arrays="torch")


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    batch = manyhands.vector("kitchen", 3, arrays="torch", max_steps=2)
    twin = manyhands.vector("kitchen", 3, max_steps=2)
    seen, _ = batch.reset(seed=1)
    assert isinstance(seen, torch.Tensor) and (seen.numpy() == twin.reset(seed=1)[0]).all()
    for _ in range(3):
        actions = torch.randint(0, 6, (3, 2))
        got, expected = batch.step(actions), twin.step(actions.numpy())
        for a, b in zip(got[:4], expected[:4], strict=True):
            assert isinstance(a, torch.Tensor) and (a.numpy() == b).all()
        assert (got[4]["legal"].numpy() == expected[4]["legal"]).all()
