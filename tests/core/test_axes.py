"""Helpers for batch-last arrays: a batch gives what each of its members gives alone."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core import axes

ROWS = np.random.default_rng(0).integers(0, 9, (4, 3, 5)).astype(np.int16)  # [K, D, batch]
INDEX = np.array([0, 3, 2, 1, 3])


def test_constants_stay_numpy():
    assert axes.expand([[1, 2]], 2).shape == (1, 2, 1, 1)
    assert isinstance(axes.expand((1.0, 2.0), 1), np.ndarray)
    assert isinstance(axes.expand(jnp.arange(3), 1), jax.Array)
    numbers = axes.indices(3, 4, axis=1, dtype=np.uint8)
    assert numbers.shape == (1, 3, 1, 1) and numbers.dtype == np.uint8
    assert numbers.ravel().tolist() == [0, 1, 2]


def test_one_hot():
    found = axes.one_hot(jnp.array([2, -1, 3, 0]), 3)
    assert found.T.astype(int).tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert axes.one_hot(jnp.zeros((2, 5), int), 3, axis=1).shape == (2, 3, 5)


def test_take_and_set_rows():
    alone = np.stack([ROWS[INDEX[b], :, b] for b in range(5)], -1)
    np.testing.assert_array_equal(axes.take(ROWS, INDEX), alone)
    changed = axes.set_row(ROWS, 2, jnp.zeros((3, 5), ROWS.dtype))
    assert not changed[2].any()
    np.testing.assert_array_equal(np.delete(changed, 2, 0), np.delete(ROWS, 2, 0))


def test_take_mask_is_false_out_of_range():
    masks = jnp.asarray(ROWS > 4)
    index = jnp.array([[0, 1, 2, 3, -1]] * 4)
    found = axes.take_mask(masks, index)
    for n in range(4):
        for b in range(5):
            right = bool(0 <= index[n, b] < 3 and masks[n, index[n, b], b])
            assert bool(found[n, b]) == right


def test_first_and_least():
    mask = jnp.array([[0, 0, 1], [1, 0, 1], [1, 0, 0]], bool)
    assert axes.first(mask).astype(int).tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0]]
    costs = jnp.array([[2.0, 1.0], [1.0, 1.0], [1.0, 3.0]])
    assert axes.least(costs).tolist() == [[0, 1], [1, 0], [0, 0]]
    chosen = axes.least(costs)
    assert axes.select(chosen, costs).tolist() == [1, 1]
    vectors = jnp.stack([costs, 10 * costs])
    assert axes.select(chosen, vectors).tolist() == [[1, 1], [10, 10]]


def test_cheapest_is_the_row_of_the_least_cost():
    costs = np.random.default_rng(1).exponential(size=(70, 3, 50)).astype(np.float32)
    costs[5, 0, 0] = costs[9, 0, 0] = 0.0  # equal ones: the first
    found = axes.cheapest(jnp.asarray(costs))
    assert np.array_equal(found, costs.argmin(0))
    assert int(axes.cheapest(jnp.array([1e9, 2.0, 2.5]))) == 1


def test_repeat_and_flat():
    assert axes.repeat(jnp.arange(5), 2).tolist() == [[0, 1, 2, 3, 4]] * 2
    assert axes.flat(ROWS).shape == (12, 5)


@pytest.mark.parametrize(("ndim", "barrier"), [(1, False), (2, True)])
def test_rows_are_kept_apart_in_a_batch_alone(ndim, barrier):
    rows = [jnp.ones((2,) * ndim), jnp.zeros((2,) * ndim)]
    np.testing.assert_array_equal(axes.stack(rows), np.stack(rows))
    text = str(jax.make_jaxpr(lambda *rows: axes.stack(rows))(*rows))
    assert ("optimization_barrier" in text) is barrier
