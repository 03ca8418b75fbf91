"""RLlib's new API stack: its PettingZoo wrappers, its Gymnasium ids, and PPO with masks."""

import numpy as np
import pytest
import ray
import torch
from measure import alone_and_together, overhead, recipe
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
from ray.tune.registry import register_env

from manyhands.integrations.rllib import MaskedPPO
from manyhands.wrappers.pettingzoo import env, parallel_env

torch.set_num_threads(1)
FORMAT = {"mask": "observation", "dtype": "float32"}
SEEDS = []


class Watched(PettingZooEnv):
    """Notes the seeds that RLlib gives."""

    def reset(self, *, seed=None, options=None):
        SEEDS.append(seed)
        return super().reset(seed=seed, options=options)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=2**27)
    yield
    ray.shutdown()


def first_legal(mask):
    return int(np.flatnonzero(mask)[0])


def test_seeds_masks_and_rewards_arrive():
    wrapped = PettingZooEnv(env("kuhn_poker", **FORMAT))
    own = env("kuhn_poker", **FORMAT)
    starts = set()
    for seed in range(8):
        own.reset(seed=seed)
        seen, _ = wrapped.reset(seed=seed)
        totals = dict.fromkeys(own.possible_agents, 0.0)
        while True:
            ((agent, view),) = seen.items()
            expected = own.observe(agent)
            np.testing.assert_array_equal(view["observation"], expected["observation"])
            np.testing.assert_array_equal(view["action_mask"], expected["action_mask"])
            starts.add(view["observation"].tobytes())
            action = first_legal(view["action_mask"])
            own.step(action)
            seen, rewards, ended, _, _ = wrapped.step({agent: action})
            for name, reward in rewards.items():
                totals[name] += reward
            if ended["__all__"]:
                break
        assert sum(totals.values()) == 0 and abs(totals["player_0"]) in (1, 2)
    assert len(starts) > 3


def test_several_do_not_disturb_each_other():
    def steps(wrapped, seed):
        seen, _ = wrapped.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(30):
            actions = {agent: int(rng.integers(6)) for agent in seen}
            seen, rewards, *_ = wrapped.step(actions)
            yield [seen[a]["observation"].tobytes() for a in sorted(seen)], sorted(rewards.items())

    def kitchen():
        return ParallelPettingZooEnv(
            parallel_env("kitchen", layout="cramped_room", observation="features", **FORMAT)
        )

    alone_and_together(kitchen, steps)


def trainer(name, **config):
    found = (
        PPOConfig()
        .environment(name, env_config=config)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedPPO, model_config={"fcnet_hiddens": [32]}
            )
        )
        .env_runners(num_env_runners=0, num_envs_per_env_runner=2)
        .training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=2)
        .debugging(seed=7)
    )
    if ":" not in name:
        found = found.multi_agent(
            policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared"
        )
    return found.build_algo()


def weights(algorithm, module):
    found = algorithm.get_module(module).state_dict()
    return {name: value.detach().clone() for name, value in found.items()}


def moved(algorithm, module, updates=1):
    """Trains; whether weights changed, and the figures of the last update."""
    before = weights(algorithm, module)
    for _ in range(updates):
        figures = algorithm.train()["env_runners"]
    after = weights(algorithm, module)
    algorithm.stop()
    return any(not torch.equal(before[k], after[k]) for k in before), figures


def test_ppo_on_all_seats_never_plays_what_is_illegal():
    """An illegal action would raise: the default of `on_illegal`."""
    register_env("watched", lambda config: Watched(env("tic_tac_toe", **FORMAT)))
    changed, figures = moved(trainer("watched"), "shared")
    assert changed and figures["num_env_steps_sampled"] >= 128
    returns = figures["agent_episode_returns_mean"]
    assert returns["player_0"] == -returns["player_1"]
    # RLlib's seed reaches the first game of each environment, and they differ.
    given = [seed for seed in SEEDS if seed is not None]
    assert len(set(given)) >= 2


def test_masks_are_applied():
    game = env("tic_tac_toe", **FORMAT)
    game.reset(seed=0)
    space = game.observation_space("player_0")
    space.seed(0)
    module = MaskedPPO(
        observation_space=space,
        action_space=game.action_space("player_0"),
        model_config={"fcnet_hiddens": [16]},
    )
    views = [space.sample() for _ in range(64)]
    for view in views:  # a sampled mask may forbid everything, as it does for who is not to move
        view["action_mask"][0] = 1
    views[0]["action_mask"][:] = 0
    batch = {
        "obs": {key: torch.as_tensor(np.stack([view[key] for view in views])) for key in views[0]}
    }
    for found in (
        module.forward_exploration(batch),
        module.forward_inference(batch),
        module.forward_train(batch),
    ):
        chance = found["action_dist_inputs"].softmax(-1)
        legal = batch["obs"]["action_mask"].bool()
        assert (chance[1:][~legal[1:]] == 0).all() and (chance[1:][legal[1:]] > 0).all()
        assert (chance[0] > 0).all()
    assert module.compute_values(batch).shape == (64,)


def test_one_seat_by_its_id():
    name = "manyhands:manyhands/KuhnPoker-v0"
    changed, figures = moved(trainer(name, partners="random", **FORMAT), "default_policy")
    assert changed and -2 <= figures["episode_return_mean"] <= 2


def test_agents_that_act_at_once():
    options = {"layout": "cramped_room", "observation": "features", "max_steps": 20}
    register_env(
        "kitchens",
        lambda config: ParallelPettingZooEnv(parallel_env("kitchen", **options, **FORMAT)),
    )
    changed, figures = moved(trainer("kitchens"), "shared")
    assert changed and set(figures["agent_episode_returns_mean"]) == {"chef_0", "chef_1"}


def test_the_recipe():
    returns = recipe("RLlib")["train_with_rllib"](2)
    assert len(returns) == 2 and all(set(r) == {"player_0", "player_1"} for r in returns)
    print(
        "\nreturns of the seats:", [{k: round(float(v), 2) for k, v in r.items()} for r in returns]
    )


def test_overhead():
    wrapped = PettingZooEnv(env("kuhn_poker", **FORMAT))
    wrapped.reset(seed=0)
    with overhead("RLlib's PettingZooEnv, Kuhn poker, vectors") as count:
        for seed in range(100):
            seen, _ = wrapped.reset(seed=seed)
            over = False
            while not over:
                ((agent, view),) = seen.items()
                seen, _, ended, _, _ = wrapped.step({agent: first_legal(view["action_mask"])})
                over = ended["__all__"]
                count.n += 1
