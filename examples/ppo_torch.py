"""PPO in PyTorch, in one file, over a batch of kitchens: every seat plays by one network.

`manyhands.vector(arrays="torch")` steps all environments in one compiled call and hands over torch
tensors; the rest is the usual loop: collect, estimate advantages, update. Masks keep illegal
actions from being drawn.

    pip install torch
    python examples/ppo_torch.py --env-steps 2000000
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import nn
from torch.distributions import Categorical

import manyhands


def masked(logits: torch.Tensor, legal: torch.Tensor) -> Categorical:
    """Agents that are not to move have no legal action: theirs is drawn from all, and ignored."""
    allowed = legal | ~legal.any(-1, keepdim=True)
    return Categorical(logits=logits.masked_fill(~allowed, -1e9))


class Network(nn.Module):
    def __init__(self, size: int, actions: int, width: int = 64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(size, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()
        )
        self.policy, self.value = nn.Linear(width, actions), nn.Linear(width, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.body(x)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


def train(
    game: str = "kitchen",
    num_envs: int = 256,
    num_steps: int = 64,
    env_steps: int = 2_000_000,
    gamma: float = 0.99,
    lam: float = 0.95,
    clip: float = 0.2,
    epochs: int = 2,
    batch: int = 4096,
    entropy: float = 0.01,
    learning_rate: float = 1e-3,
    seed: int = 0,
    **config,
) -> list[dict]:
    """Returns a row for each update: env-steps, reward a step and agent, env-steps a second."""
    torch.manual_seed(seed)
    envs = manyhands.vector(game, num_envs, arrays="torch", seed=seed, **config)
    observation, info = envs.reset()
    # Vectors of all agents: [environments, agents, features].
    flat = lambda x: x.flatten(2).float()  # noqa: E731
    size, actions = flat(observation).shape[-1], int(envs.single_action_space.n)
    network = Network(size, actions)
    optimizer = torch.optim.Adam(network.parameters(), learning_rate, eps=1e-5)
    updates = max(1, env_steps // (num_envs * num_steps))
    log: list[dict] = []
    done = torch.zeros(num_envs, envs.num_agents)
    for update in range(updates):
        began, stepping = time.perf_counter(), 0.0
        optimizer.param_groups[0]["lr"] = learning_rate * (1 - update / updates)
        rows: dict[str, list[torch.Tensor]] = {
            name: [] for name in ("x", "legal", "action", "chance", "value", "reward", "done")
        }
        for _ in range(num_steps):
            x, legal = flat(observation), info["legal"]
            with torch.no_grad():
                logits, value = network(x)
                drawn = masked(logits, legal)
                action = drawn.sample()
            before = time.perf_counter()
            observation, reward, terminated, truncated, info = envs.step(action)
            stepping += time.perf_counter() - before
            done = (terminated | truncated).float()
            for name, tensor in (
                ("x", x),
                ("legal", legal),
                ("action", action),
                ("chance", drawn.log_prob(action)),
                ("value", value),
                ("reward", reward),
                ("done", done),
            ):
                rows[name].append(tensor)
        with torch.no_grad():
            _, following = network(flat(observation))
        # Generalised advantage estimation (Schulman et al. 2016). Episodes of a fixed length are
        # treated as if they ended there.
        gain = torch.zeros_like(following)
        gains: list[torch.Tensor] = []
        for t in reversed(range(num_steps)):
            alive = 1 - rows["done"][t]
            error = rows["reward"][t] + gamma * following * alive - rows["value"][t]
            gain = error + gamma * lam * alive * gain
            following = rows["value"][t]
            gains.insert(0, gain)
        data = {name: torch.stack(rows[name]).flatten(0, 2) for name in rows}
        gained = torch.stack(gains).flatten()
        target = gained + data["value"]
        moves = data["legal"].any(-1)  # only agents that were to move are learned from
        for _ in range(epochs):
            for rows_of in torch.randperm(len(gained)).split(batch):
                k = rows_of[moves[rows_of]]
                logits, value = network(data["x"][k])
                drawn = masked(logits, data["legal"][k])
                ratio = (drawn.log_prob(data["action"][k]) - data["chance"][k]).exp()
                g = (gained[k] - gained[k].mean()) / (gained[k].std() + 1e-8)
                policy_loss = -torch.min(ratio * g, ratio.clamp(1 - clip, 1 + clip) * g).mean()
                value_loss = (value - target[k]).pow(2).mean()
                loss = policy_loss + 0.5 * value_loss - entropy * drawn.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        seconds = time.perf_counter() - began
        log.append(
            {
                "env_steps": (update + 1) * num_envs * num_steps,
                "reward": float(torch.stack(rows["reward"]).mean()),
                "env_steps_per_second": num_envs * num_steps / seconds,
                "share_in_step": stepping / seconds,
            }
        )
    return log


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env-steps", type=int, default=2_000_000)
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--layout", default="cramped_room")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    log = train(
        env_steps=options.env_steps,
        num_envs=options.num_envs,
        seed=options.seed,
        layout=options.layout,
        observation="features",
        max_steps=200,
        reward_weights={"pot_placement": 1, "dish_pickup": 1, "soup_pickup": 1},
    )
    for row in log[:: max(1, len(log) // 20)]:
        print({name: round(value, 4) for name, value in row.items()})
    steady = log[1:] or log
    steady = sorted(row["env_steps_per_second"] for row in steady)
    print(f"median: {steady[len(steady) // 2]:.0f} env-steps/s")


if __name__ == "__main__":
    main()
