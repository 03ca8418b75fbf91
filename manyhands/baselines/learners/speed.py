"""Players that measure how fast an environment is, for `manyhands bench` and `benchmarks/`.

What a rollout does not use is not computed. So there are three loads: `Blind`, random actions and
nothing observed; `Watching`, random actions while every observation is written to memory; and
`Thinking`, a network that reads the observation and chooses.
"""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp

from manyhands.baselines.players.random import Random
from manyhands.core.batch import BatchPolicy, BatchView, RandomActions
from manyhands.core.env import Array, DeviceView, Env, agent_key
from manyhands.core.rollout import Carry, rollout


def _keys(key: Array, view: BatchView) -> Array:
    """One key for each environment, whatever part of the batch this is."""
    return jax.vmap(jax.random.fold_in, (None, 0))(key, view.index)


class Blind(BatchPolicy):
    """Random actions, of any action space."""

    separable = True

    def apply(
        self, env: Env, params: Any, memory: Any, key: Array, view: BatchView
    ) -> tuple[Array, Any]:
        if isinstance(env.action_space, gymnasium.spaces.Discrete):
            return RandomActions().apply(env, params, memory, key, view)
        chosen, keys = [], _keys(key, view)
        for i in range(env.num_agents):

            def act(key: Array, row: DeviceView, i: int = i) -> Array:
                return Random().apply(env, i, (), agent_key(key, i), row)[0]

            chosen.append(jax.vmap(act, in_axes=(0, -1), out_axes=-1)(keys, view.row(i)))
        return jnp.stack(chosen), memory


class Watching(Blind):
    """Random actions; remembers the last observation, so that each one must be written."""

    def init(self, env: Env, num_envs: int) -> Any:
        space: Any = env.observation_space
        return jnp.zeros((env.num_agents, *space.shape, num_envs), space.dtype)

    def apply(
        self, env: Env, params: Any, memory: Any, key: Array, view: BatchView
    ) -> tuple[Array, Any]:
        actions, _ = super().apply(env, params, (), key, view)
        return actions, jax.lax.optimization_barrier(view.vector)


class Thinking(BatchPolicy):
    """A network of two layers of 64 units, shared by all agents, that has learned nothing; its
    parameters are `weights(env)`."""

    separable = True

    def apply(
        self, env: Env, params: Any, memory: Any, key: Array, view: BatchView
    ) -> tuple[Array, Any]:
        from manyhands.baselines.learners.networks import Network, NetworkConfig, actions_of, inputs

        actions = actions_of(env.action_space)
        network = Network(NetworkConfig(), actions.size)
        rows, legal = (jnp.moveaxis(leaf, -1, 0) for leaf in (view.vector, view.legal))
        x = inputs(env, "vector", rows, 2)
        first = jnp.broadcast_to(view.first[:, None], x.shape[:2])
        _, outputs = network.advance(params, network.start(*x.shape[:2]), x, first)
        chosen = jax.vmap(actions.sample)(_keys(key, view), outputs, legal)
        return jnp.moveaxis(actions.playable(chosen), 0, -1), memory

    def weights(self, env: Env) -> Any:
        """Parameters for `env`, from a fixed key."""
        from manyhands.baselines.learners.networks import Network, NetworkConfig, actions_of, inputs

        x = inputs(env, "vector", env.observe(env.reset(jax.random.key(0))), 1)
        network = Network(NetworkConfig(), actions_of(env.action_space).size)
        start = network.start(env.num_agents)
        return network.init(jax.random.key(1), start, x, jnp.zeros(len(x), bool))


# One object each: a rollout compiles again for a new policy.
LOADS: dict[str, BatchPolicy] = {
    "none": Blind(),
    "observed": Watching(),
    "network": Thinking(),
}


class Course:
    """A rollout that can be timed again and again: it goes on where it stood."""

    def __init__(self, env: Env, load: str, num_envs: int, num_steps: int):
        policy = LOADS[load]
        self.env, self.policy = env, policy
        self.num_envs, self.num_steps = num_envs, num_steps
        self.params = policy.weights(env) if isinstance(policy, Thinking) else None
        self.carry: Carry | None = None

    def run(self) -> int:
        """Play on, and wait for the end; gives the environment steps made."""
        played = rollout(
            self.env,
            self.policy,
            self.num_envs,
            self.num_steps,
            jax.random.key(0),
            collect="statistics",
            params=self.params,
            carry=self.carry,
        )
        self.carry = jax.block_until_ready(played.carry)
        return played.statistics.env_steps

    def measure(self, repeats: int = 3) -> tuple[float, float]:
        """(environment steps a second, the best of the repeats; seconds that the first call took,
        compilation included)."""
        begun = time.perf_counter()
        self.run()
        first, best = time.perf_counter() - begun, 0.0
        for _ in range(repeats):
            begun = time.perf_counter()
            best = max(best, self.run() / (time.perf_counter() - begun))
        return best, first


def movers(env: Env) -> float:
    """How many agents act in a step, on average over 64 random steps of 16 environments."""
    devices = jax.local_devices()[:1]
    played = rollout(env, LOADS["none"], 16, 64, jax.random.key(0), devices=devices)
    assert played.trajectory is not None
    return float(jnp.mean(jnp.sum(played.trajectory.acting, axis=1)))
