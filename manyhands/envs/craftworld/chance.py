"""Chance: the random words of one step, and draws from them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, indices
from manyhands.core.env import Array


class Chance:
    """All that one step takes from its key: two words, and as many others as are asked for by
    mixing a counter with them (the mixing of `lowbias32`, C. Wellons 2018, twice)."""

    SALTS = ("sapling", "creatures", "chances", "where", "who")

    def __init__(self, key: Array):
        def bits(key: Array) -> Array:
            return jax.random.bits(key, (2,), jnp.uint32)

        self.seeds = jax.vmap(bits, out_axes=-1)(key) if key.ndim else bits(key)

    def words(self, name: str, count: int, salt: Any = 0) -> Array:
        """u32[count, ...]; other words for each name and salt (from 0, below 2^16)."""
        begin = jnp.uint32(self.SALTS.index(name) << 28) + (jnp.uint32(salt) << 12)
        counter = begin + expand(np.arange(count, dtype=np.uint32), self.seeds[0].ndim)
        mixed = counter * np.uint32(0x9E3779B1)
        for seed in self.seeds:
            mixed = mixed ^ seed[None]
            mixed = (mixed ^ (mixed >> 16)) * np.uint32(0x7FEB352D)
            mixed = (mixed ^ (mixed >> 15)) * np.uint32(0x846CA68B)
            mixed = mixed ^ (mixed >> 16)
        return mixed

    def draw(self, name: str, count: int, salt: Any = 0) -> Array:
        """u32[count, ...] from 0 to 65535, two from each word; to compare with `odds`."""
        words = self.words(name, -(-count // 2), salt)
        return jnp.concatenate([words >> 16, words & 0xFFFF], axis=0)[:count]


def odds(probability: float) -> int:
    """What a draw must be below (see `Chance.draw`)."""
    return round(65536 * probability)


def pick(mask: Array, words: Array) -> Array:
    """i32[...], the number of one that is true, each as likely, drawn by random words; or -1."""
    numbers = 1 + indices(mask.shape[0], mask.ndim, dtype=np.uint32)
    order = jnp.where(mask, (words & np.uint32(0xFFFFFC00)) | numbers, 0)
    return (jnp.max(order, axis=0) & 1023).astype(jnp.int32) - 1
