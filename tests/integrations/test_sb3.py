"""Stable-Baselines3 and sb3-contrib's MaskablePPO, alone and in batches."""

import time

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor

import manyhands  # noqa: F401 - registers the ids
from manyhands.core.env import ConfigError
from manyhands.integrations.sb3 import SB3VecEnv
from manyhands.wrappers.gymnasium import SeatVectorEnv

torch.set_num_threads(1)
KITCHEN = {"layout": "cramped_room", "partners": "greedy", "observation": "features"}


@pytest.fixture(scope="module")
def kitchens():
    return SB3VecEnv("kitchen", 16, max_steps=60, **KITCHEN)


def test_a_batch_is_a_batch(kitchens):
    own = SeatVectorEnv("kitchen", 16, max_steps=60, **KITCHEN)
    kitchens.seed(5)
    first, _ = own.reset(seed=[5 + i for i in range(16)])
    np.testing.assert_array_equal(kitchens.reset(), first)  # the seed reaches the game
    rng, ends = np.random.default_rng(0), 0
    for _ in range(65):
        actions = rng.integers(0, 6, 16)
        observation, reward, done, infos = kitchens.step(actions)
        expected = own.step(actions)
        np.testing.assert_array_equal(observation, expected[0])
        np.testing.assert_array_equal(reward, expected[1])
        np.testing.assert_array_equal(done, expected[2] | expected[3])
        assert observation.flags.writeable
        for i in np.flatnonzero(done):
            ends += 1
            assert infos[i]["TimeLimit.truncated"] and "soups" in infos[i]["metrics"]
            np.testing.assert_array_equal(
                infos[i]["terminal_observation"], expected[4]["final_obs"][i]
            )
        np.testing.assert_array_equal(kitchens.action_masks(), expected[4]["action_mask"])
    assert ends == 16
    with pytest.raises(ConfigError, match="set"):
        kitchens.set_attr("max_steps", 3)


def test_ppo_trains_on_a_batch(kitchens):
    model = PPO(
        "MlpPolicy",
        VecMonitor(kitchens),
        n_steps=64,
        batch_size=512,
        n_epochs=2,
        device="cpu",
        seed=0,
    )
    before = [p.detach().clone() for p in model.policy.parameters()]
    model.learn(1024)
    began, busy = time.perf_counter(), time.process_time()
    model.learn(4096)
    wall, busy = time.perf_counter() - began, time.process_time() - busy
    print(f"\nPPO, 16 kitchens: {4096 / wall:.0f} steps/s, {4096 / busy:.0f} a CPU second")
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))


def test_masks_reach_maskable_ppo():
    env = SB3VecEnv("kuhn_poker", 8, partners="random")
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (8, 2)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, device="cpu", seed=0)
    model.learn(256)
    # Tic-tac-toe has taken fields: every action that is sampled has to be legal.
    boards = SB3VecEnv("tic_tac_toe", 4, partners="random")
    player = MaskablePPO("MlpPolicy", boards, n_steps=16, batch_size=32, device="cpu", seed=0)
    observation = boards.reset()
    for _ in range(20):
        masks = get_action_masks(boards)
        actions, _ = player.predict(observation, action_masks=masks)
        assert masks[np.arange(4), actions].all()
        observation, *_ = boards.step(actions)


def test_single_environments():
    env = gym.make("manyhands/KuhnPoker-v0", partners="random")
    assert is_masking_supported(env)
    MaskablePPO("MlpPolicy", env, n_steps=64, device="cpu", seed=0).learn(64)
    env = gym.make("manyhands/KuhnPoker-v0", partners="random", on_illegal="noop")
    PPO("MlpPolicy", env, n_steps=64, device="cpu", seed=0).learn(64)
