"""Groups of episodes with the same start, and advantages from comparing them, in compiled code.

Environments are numbered so that each `size` in a row are a group. All arrays have the axes of
`ppo.Steps`: time, environments, agents. What is compared is always one agent's: two agents in the
same episode are two roles.

- `group_advantages` (GRPO, Shao et al. 2024): an episode's return, less the mean of its group, over
  the group's deviation.
- `anchor_advantages` (GiGPO, Feng et al. 2025): the same of the discounted return from each step
  on, among all steps of the group in which the agent observed the same: the anchor states.

Deviations are those of samples (n - 1) plus 1e-6, and what is alone in its group has the advantage
0: the same definitions as for conversations (`advantages.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, Env

_LITTLE = 1e-6


def group_advantages(returns: Array, size: int, scale: bool = True) -> Array:
    """f32[B, N] of the episodes' returns, f32[B, N]."""
    grouped = returns.reshape(-1, size, *returns.shape[1:])
    difference = grouped - jnp.mean(grouped, axis=1, keepdims=True)
    if scale and size > 1:
        difference = difference / (jnp.std(grouped, axis=1, keepdims=True, ddof=1) + _LITTLE)
    return difference.reshape(returns.shape)


class Anchors(NamedTuple):
    """What `compare_anchors` finds.

    Attributes:
        advantage: f32[T, B, N], 0 where the agent did not act.
        repeated: f32[], the share of an agent's steps in which it observed what it had observed
            before in the same episode.
        met: f32[], the share of steps whose observation there was in another step of the group.
    """

    advantage: Array
    repeated: Array
    met: Array


def compare_anchors(
    to_come: Array, anchors: Array, acts: Array, size: int, scale: bool = True
) -> Anchors:
    """Compare the steps in which an agent observed the same.

    Args:
        to_come: f32[T, B, N], the discounted return from each step on.
        anchors: u32[T, B, N, 2], fingerprints of the observations.
        acts: bool[T, B, N], the steps that count.
        size: of a group.
        scale: whether to divide by deviations.
    """
    steps, envs, agents = acts.shape
    count = steps * size

    def by_group(values: Array) -> Array:
        """[T, B, N, ...] as [B / size, N, T * size, ...], one row a group and role."""
        rows = values.reshape(steps, envs // size, size, *values.shape[2:])
        rows = jnp.moveaxis(rows, (1, 3), (0, 1))  # [groups, N, T, size, ...]
        return rows.reshape(envs // size, agents, count, *values.shape[3:])

    number = np.arange(count)
    before = (number[:, None] % size == number % size) & (number[:, None] > number)

    def role(to_come: Array, anchor: Array, acts: Array) -> tuple[Array, Array, Array]:
        same = (anchor[:, None] == anchor[None]).all(axis=-1) & acts[:, None] & acts[None]
        weight = same.astype(jnp.float32)
        among = jnp.maximum(weight.sum(axis=1), 1.0)
        difference = to_come - (weight @ to_come) / among
        if scale:
            # Means are of the same steps for all steps of a sight, so that differences can be
            # squared before they are added up.
            variance = (weight @ difference**2) / jnp.maximum(among - 1.0, 1.0)
            spread = jnp.where(among > 1, jnp.sqrt(variance) + _LITTLE, 1.0)
            difference = difference / spread
        again = jnp.any(same & before, axis=1)
        return jnp.where(acts, difference, 0.0), again, acts & (among > 1)

    # One group after the other: the comparisons of all at once would fill the memory.
    given = by_group(to_come), by_group(anchors), by_group(acts)
    advantage, again, met = jax.lax.map(lambda group: jax.vmap(role)(*group), given)
    advantage = advantage.reshape(envs // size, agents, steps, size)
    advantage = jnp.moveaxis(advantage, (0, 1), (1, 3)).reshape(acts.shape)
    total = jnp.maximum(jnp.sum(acts), 1)
    return Anchors(advantage, jnp.sum(again) / total, jnp.sum(met) / total)


def returns_to_come(rewards: Array, discount: float) -> Array:
    """f32[T, B, N]: the discounted sum of the rewards f32[T, B, N] from each step on."""

    def back(later: Array, reward: Array) -> tuple[Array, Array]:
        later = reward + discount * later
        return later, later

    return jax.lax.scan(back, jnp.zeros_like(rewards[0]), rewards, reverse=True)[1]


def fingerprints(rows: Array, leading: int, counts: Array) -> Array:
    """u32[..., 2], of rows [..., *shape] with `leading` leading axes: two sums with random odd
    weights, modulo 2**32. Different rows have the same pair once in about 2**50 times.

    Args:
        counts: bool of size prod(shape), what is compared.
    """
    flat = rows.reshape(*rows.shape[:leading], -1)
    if jnp.issubdtype(flat.dtype, jnp.floating):
        flat = jax.lax.bitcast_convert_type(flat.astype(jnp.float32), jnp.uint32)
    flat = flat.astype(jnp.uint32)
    weights = np.random.default_rng(0).integers(0, 2**31, (2, flat.shape[-1])) * 2 + 1
    weights = (weights * np.asarray(counts)).astype(np.uint32)
    return jnp.stack([jnp.sum(flat * w, axis=-1, dtype=jnp.uint32) for w in weights], axis=-1)


def compared(env: Env, ignores: Sequence[str]) -> np.ndarray:
    """bool[K], which numbers of an observation are compared: not those in `ignores`, names of
    pieces of `env.observation_layout`, or last words of the names of single numbers ("age" of
    "objects: object 3 age").

    Raises:
        ConfigError: the environment's observation has no names, or none like these.
    """
    layout = env.observation_layout
    if layout is None:
        raise ConfigError(f"{env!r} has no observation_layout whose pieces could be ignored")
    kept = np.ones(layout.size, bool)
    for name in ignores:
        like = np.array([full.endswith(f" {name}") for full in layout.names])
        if name in layout:
            like[layout[name]] = True
        if not like.any():
            raise ConfigError(
                f"anchor_ignores names {name!r}, which is no piece of the observation, and no "
                f"number's name ends so; the pieces are {', '.join(layout)}"
            )
        kept &= ~like
    return np.repeat(kept, int(np.prod(layout.over, dtype=int)))
