"""A player that draws a random legal action."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, DeviceView, Env


@dataclasses.dataclass(frozen=True)
class Random:
    """A `DevicePolicy` that draws uniformly: among the legal actions of a `Discrete` space, among
    the legal values of each component of a `MultiDiscrete` one, within the bounds of a `Box`."""

    any_seat: ClassVar[bool] = True
    env: Env | None = None

    def __post_init__(self) -> None:
        if self.env is not None and isinstance(self.env.action_space, gymnasium.spaces.Box):
            _bounds(self.env.action_space)

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        space = env.action_space
        if isinstance(space, gymnasium.spaces.Discrete):
            return _draw(key, view.legal) + jnp.int32(space.start), memory
        if isinstance(space, gymnasium.spaces.MultiDiscrete):
            sizes = space.nvec.ravel()
            masks = jnp.split(view.legal, np.cumsum(sizes)[:-1].tolist())
            keys = jax.random.split(key, len(masks))
            drawn = jnp.stack([_draw(k, mask) for k, mask in zip(keys, masks, strict=True)])
            start = jnp.asarray(space.start, jnp.int32)
            return drawn.reshape(space.shape) + start, memory
        if isinstance(space, gymnasium.spaces.Box):
            low, high = _bounds(space)
            dtype = jax.dtypes.canonicalize_dtype(space.dtype)
            if jnp.issubdtype(dtype, jnp.integer):
                last = high.astype(np.int32)
                return jax.random.randint(key, space.shape, low, last + 1).astype(dtype), memory
            return jax.random.uniform(key, space.shape, dtype, low, high), memory
        raise ConfigError(f"a random player cannot draw from {space}")


def _draw(key: Array, legal: Array) -> Array:
    """The number of a uniformly drawn legal action; 0 if there is none."""
    noise = jax.random.uniform(key, legal.shape)
    return jnp.argmax(jnp.where(legal, noise, -1.0)).astype(jnp.int32)


def _bounds(space: gymnasium.spaces.Box) -> tuple[np.ndarray, np.ndarray]:
    if not space.is_bounded("both"):
        raise ConfigError(f"a random player needs bounds to draw within; {space} has none")
    return space.low, space.high
