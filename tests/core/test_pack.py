"""Packing trees into bytes, and functions compiled as one kernel. Snapshots, fingerprints and
stepping are tested for every environment in `test_contract.py`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core.pack import Packing, SmallCall

TREE = {
    "flags": np.array([[True, False, True]]),
    "small": np.array([7], np.uint8),
    "words": np.array([-3, 1 << 30], np.int32),
    "one": np.float32(np.pi),
    "short": np.arange(5, dtype=np.int16),
    "none": np.zeros((0, 3), np.float32),
}


def same(tree, other):
    for name, leaf in TREE.items():
        for given in (tree[name], other[name]):
            assert np.asarray(given).dtype == leaf.dtype and np.asarray(given).shape == leaf.shape
            np.testing.assert_array_equal(given, leaf)


def test_trees_survive_packing_on_the_device_and_on_the_host():
    packing = Packing(TREE)
    buffer = np.asarray(jax.jit(packing.pack)(TREE))
    assert buffer.shape == (packing.size,) and packing.size % 8 == 0
    filled = np.zeros(packing.size, np.uint8)
    packing.fill(filled, TREE)
    np.testing.assert_array_equal(buffer, filled)
    same(packing.views(buffer), jax.jit(packing.unpack)(buffer))
    for name, leaf in TREE.items():
        np.testing.assert_array_equal(packing.part(name, 0)(buffer), leaf)


@pytest.mark.parametrize(
    ("function", "one_kernel"),
    [
        (lambda x: jnp.cumsum(x) * 2, True),
        (lambda x: jax.lax.fori_loop(0, 5, lambda i, c: c + i * x, x), True),
        (lambda x: jax.random.uniform(jax.random.key(3), x.shape) + x, True),
        (lambda x: jax.lax.cond(x[0] > 2, lambda y: y + 1, lambda y: y - 1, x), True),
        (jnp.sort, False),
        (lambda x: x.at[jnp.array([1, 1])].add(x[:2]), False),
        (lambda x: jax.jit(jnp.argsort)(x).astype(jnp.float32), False),
    ],
)
def test_small_calls_compute_what_plain_ones_do(function, one_kernel):
    x = np.linspace(3, -1, 16, dtype=np.float32)
    call = SmallCall(function, 16, np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(call(x), jax.jit(function)(x))
    assert call.compilations == 1
    assert call.one_kernel == one_kernel


def test_a_small_call_that_cannot_be_compiled_is_compiled_as_usual(monkeypatch):
    monkeypatch.setattr("manyhands.core.pack._NOT_SMALL", ("nothing",))
    call = SmallCall(jnp.sort, 4, np.float32)
    assert call.one_kernel
    np.testing.assert_array_equal(call(np.array([2, 1, 3, 0], np.float32)), [0, 1, 2, 3])
    assert not call.one_kernel
