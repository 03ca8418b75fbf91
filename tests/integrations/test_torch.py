"""PPO in one file of PyTorch, `examples/ppo_torch.py`, over our batches of torch tensors."""

import runpy
from pathlib import Path

import torch
from measure import overhead

import manyhands

torch.set_num_threads(1)
EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "ppo_torch.py"))
train = EXAMPLE["train"]


def test_masks_rewards_and_seeds_arrive():
    envs = manyhands.vector("tic_tac_toe", 32, arrays="torch", seed=3)
    again = manyhands.vector("tic_tac_toe", 32, arrays="torch", seed=3)
    torch.manual_seed(0)
    observation, info = envs.reset()
    other, _ = again.reset()
    assert torch.equal(observation, other)
    earned = 0.0
    for _ in range(20):
        legal = info["legal"]
        drawn = EXAMPLE["masked"](torch.zeros(legal.shape), legal).sample()
        moving = legal.any(-1)
        assert legal.gather(-1, drawn[..., None])[moving].all()
        observation, reward, *_, info = envs.step(drawn)
        assert torch.equal(reward[:, 0], -reward[:, 1])
        other, _, *_, _ = again.step(drawn)
        assert torch.equal(observation, other)  # two batches do not disturb each other
        assert info["metrics"]["illegal"].sum() == 0
        earned += float(reward.abs().sum())
    assert earned > 0


def test_it_learns():
    """The reward of a step rises from a random policy's, in every run of three."""
    for seed in range(3):
        log = train(
            "kitchen",
            num_envs=64,
            num_steps=32,
            env_steps=120_000,
            seed=seed,
            layout="cramped_room",
            observation="features",
            max_steps=100,
            reward_weights={"pot_placement": 1, "dish_pickup": 1, "soup_pickup": 1},
        )
        first = sum(row["reward"] for row in log[:8]) / 8
        last = sum(row["reward"] for row in log[-8:]) / 8
        speed = sorted(row["env_steps_per_second"] for row in log)[len(log) // 2]
        print(f"\nPPO in torch, seed {seed}: {first:.4f} -> {last:.4f}, {speed:.0f} env-steps/s")
        assert last > 1.5 * first


def test_overhead():
    envs = manyhands.vector("kuhn_poker", 256, arrays="torch", seed=0)
    _, info = envs.reset()
    step = lambda info: envs.step(info["legal"].int().argmax(-1))[-1]  # noqa: E731
    info = step(step(info))
    with overhead("vector(arrays='torch') of 256, Kuhn poker, vectors") as count:
        for _ in range(100):
            info = step(info)
            count.n += 256
