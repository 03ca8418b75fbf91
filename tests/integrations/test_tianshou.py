"""Tianshou 2: one seat with masks, and all seats through its PettingZoo wrapper."""

import numpy as np
import torch
from measure import alone_and_together, overhead, recipe
from tianshou.data import Batch
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv

from manyhands.wrappers.pettingzoo import env

torch.set_num_threads(1)
FORMAT = {"mask": "observation", "infos": "flat", "dtype": "float32"}


def table(game="kuhn_poker"):
    return PettingZooEnv(env(game, **FORMAT))


def test_seeds_masks_and_rewards_arrive():
    wrapped, own, seen = table("tic_tac_toe"), env("tic_tac_toe", **FORMAT), set()
    rng = np.random.default_rng(0)
    for seed in range(3):
        view, _ = wrapped.reset(seed=seed)
        own.reset(seed=seed)
        over = False
        while not over:
            expected, agent = own.observe(own.agent_selection), own.agent_selection
            assert view["agent_id"] == agent
            np.testing.assert_array_equal(view["obs"], expected["observation"])
            np.testing.assert_array_equal(view["mask"], expected["action_mask"].astype(bool))
            action = int(rng.choice(np.flatnonzero(view["mask"])))
            own.step(action)
            view, rewards, over, *_ = wrapped.step(action)
            assert rewards == [own.rewards[name] for name in own.possible_agents]
            seen.add(tuple(rewards))
    assert (1.0, -1.0) in seen or (-1.0, 1.0) in seen
    cards = {table().reset(seed=seed)[0]["obs"].tobytes() for seed in range(8)}
    assert len(cards) > 1
    assert table().reset(seed=5)[0]["obs"].tobytes() == table().reset(seed=5)[0]["obs"].tobytes()


def test_several_do_not_disturb_each_other():
    def steps(wrapped, seed):
        view, _ = wrapped.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(12):
            view, rewards, over, *_ = wrapped.step(int(rng.choice(np.flatnonzero(view["mask"]))))
            yield view["obs"].tobytes(), list(rewards)
            if over:
                view, _ = wrapped.reset(seed=seed + 100)

    alone_and_together(table, steps)
    batch = DummyVectorEnv([table] * 3)
    batch.seed([5, 6, 5])
    views, _ = batch.reset()
    assert (views[0]["obs"] == views[2]["obs"]).all()


def test_dqn_learns_one_seat_with_masks():
    """The recipe. An illegal action would raise; a random player wins 0.3 more than it loses."""
    result = recipe("Tianshou")["train_with_tianshou"]()
    print(f"\nDQN against random, best of 3 tests of 50 games: {result.best_reward:.2f}")
    assert result.train_step >= 3000
    assert result.best_reward > 0.5


def test_all_seats_learn():
    learners = recipe("Tianshou")["train_all_seats_with_tianshou"](300)
    for name in ("player_0", "player_1"):
        policy = learners.get_algorithm(name).policy
        # What is masked is never taken.
        masks = np.array([[True, False], [False, True]])
        zeros = np.zeros((2, *table().observation_space["observation"].shape), np.float32)
        views = Batch(obs=Batch(obs=zeros, mask=masks), info={})
        assert policy(views).act.tolist() == [0, 1]
        assert any(p.grad is not None for p in policy.parameters())


def test_overhead():
    wrapped = table()
    wrapped.reset(seed=0)
    with overhead("Tianshou's PettingZooEnv, Kuhn poker, vectors") as count:
        for seed in range(100):
            view, _ = wrapped.reset(seed=seed)
            over = False
            while not over:
                view, _, over, *_ = wrapped.step(int(np.flatnonzero(view["mask"])[0]))
                count.n += 1
