"""TorchRL: its wrappers take our environments with flat infos, masks included."""

import gymnasium as gym
import torch
from measure import alone_and_together, overhead, recipe
from torchrl.envs import GymWrapper, PettingZooWrapper
from torchrl.envs.utils import check_env_specs

from manyhands.wrappers.pettingzoo import env, parallel_env

torch.set_num_threads(1)


def test_games_of_turns():
    game = parallel_env("kuhn_poker", infos="flat", empty_mask="noop", dtype="float32")
    wrapped = PettingZooWrapper(game, use_mask=True)
    check_env_specs(wrapped)
    found = wrapped.rollout(8, break_when_any_done=False)
    assert found.batch_size == torch.Size([8])
    group = next(name for name in wrapped.group_map)
    mask, action = found[group, "action_mask"], found[group, "action"]
    assert mask.any(-1).all() and mask.shape[1] == 2
    taken = action if action.shape == mask.shape else torch.nn.functional.one_hot(action, 2)
    assert (mask & taken.bool()).any(-1).all()  # only legal actions were drawn
    assert found["next", group, "reward"].abs().sum() > 0


def test_in_turns():
    game = env("kuhn_poker", infos="flat", empty_mask="noop", dtype="float32")
    wrapped = PettingZooWrapper(game, use_mask=True)
    found = wrapped.rollout(4, break_when_any_done=True)
    assert len(found) >= 2


def test_one_seat():
    game = gym.make(
        "manyhands/KuhnPoker-v0",
        partners="random",
        infos="flat",
        dtype="float32",
        on_illegal="noop",
    )
    wrapped = GymWrapper(game)
    wrapped.set_seed(3)
    first = wrapped.reset()["observation"]
    wrapped.set_seed(3)
    assert torch.equal(wrapped.reset()["observation"], first)
    assert len(wrapped.rollout(20, break_when_any_done=False)) == 20


def test_a_batch():
    games = gym.make_vec("manyhands/KuhnPoker-v0", num_envs=4, partners="random", infos="flat")
    found = GymWrapper(games).rollout(10, break_when_any_done=False)
    assert found.batch_size == torch.Size([4, 10])


def test_several_do_not_disturb_each_other():
    def steps(wrapped, seed):
        wrapped.set_seed(seed)
        found = wrapped.reset()
        for k in range(8):
            mask = found["player", "action_mask"]
            found["player", "action"] = torch.nn.functional.one_hot(mask.long().argmax(-1), 2)
            _, found = wrapped.step_and_maybe_reset(found)
            yield k, found["player", "observation"].tolist()

    def table():
        game = parallel_env("kuhn_poker", infos="flat", empty_mask="noop", dtype="float32")
        return PettingZooWrapper(game, use_mask=True, categorical_actions=False)

    alone_and_together(table, steps)


def test_the_recipe():
    all_seats, one_seat = recipe("TorchRL")["play_with_torchrl"]()
    assert all_seats.batch_size == torch.Size([8]) and one_seat.batch_size == torch.Size([4, 8])


def test_overhead():
    game = parallel_env("kuhn_poker", infos="flat", empty_mask="noop", dtype="float32")
    wrapped = PettingZooWrapper(game, use_mask=True)
    wrapped.rollout(8, break_when_any_done=False)
    with overhead("TorchRL's PettingZooWrapper, Kuhn poker, vectors") as count:
        found = wrapped.rollout(200, break_when_any_done=False)
        count.n = len(found)
