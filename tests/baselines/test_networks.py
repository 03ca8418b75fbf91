"""What networks begin with."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from manyhands.baselines.learners.networks import orthogonal


@pytest.mark.parametrize("shape", [(64, 64), (200, 24), (5, 32), (32, 1)])
def test_orthogonal_weights(shape: tuple[int, int]) -> None:
    init = jax.jit(jax.vmap(lambda key: orthogonal(2.0)(key, shape)))
    drawn = np.asarray(init(jax.random.split(jax.random.key(0), 16)))
    for w in drawn:
        product = w.T @ w if shape[0] >= shape[1] else w @ w.T
        np.testing.assert_allclose(product, 4 * np.eye(min(shape)), atol=1e-4)
    # Every direction alike: entries have the mean 0 and the variance scale^2 / the longer side.
    assert abs(drawn.mean()) < 0.1
    assert drawn.var() == pytest.approx(4 / max(shape), rel=0.1)
