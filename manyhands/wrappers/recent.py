"""What happened in the last step, as part of vector observations."""

from __future__ import annotations

from typing import Any

import gymnasium
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, Env, Wrapper


class Recent(Wrapper[Any]):
    """The environment `env`, whose observations are followed by `Env.event_codes`: what happened in
    the last step, as texts tell it (`Env.last_events`).

    **Observations**: the wrapped observation, flattened, as f32, followed by K numbers, named by
    `env.event_names`. Everything else is as in `env`.

    Args:
        env: an environment with `Box` observations.
    """

    id = "recent"

    def __init__(self, env: Env[Any]):
        inner = env.observation_space
        if not isinstance(inner, gymnasium.spaces.Box):
            raise ConfigError(f"recent needs Box observations, {env.id!r} has {inner}")
        if not env.event_names:
            raise ConfigError(f"{env.id!r} has no numbers for events (`Env.event_names`)")
        super().__init__(env)
        more = np.full(len(env.event_names), np.inf, np.float32)
        low = np.concatenate([inner.low.ravel().astype(np.float32), -more])
        high = np.concatenate([inner.high.ravel().astype(np.float32), more])
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)

    def observe(self, state: Any) -> Array:
        inner, codes = self.env.observe(state), self.env.event_codes(state)
        rank = len(self.env.observation_space.shape or ())
        flat = inner.reshape(self.num_agents, -1, *inner.shape[1 + rank :])
        return jnp.concatenate([flat.astype(jnp.float32), codes.astype(jnp.float32)], axis=1)
