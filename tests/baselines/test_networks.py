"""What networks begin with."""

from __future__ import annotations

import dataclasses
import json

import jax
import numpy as np
import pytest

import manyhands
from manyhands.baselines.learners.networks import (
    Network,
    NetworkConfig,
    Slots,
    orthogonal,
    slots_of,
)
from manyhands.core.env import ConfigError
from manyhands.envs.home.state import Actions


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


def test_rows_alike_are_scored_alike():
    """With `slots`, exchanging two rows of the input exchanges what the shared weights add to the
    scores of the actions about them; other actions get nothing."""
    slots = (Slots(2, 3, 4, (1, 6)), Slots(14, 2, 3, (4,)))
    config = NetworkConfig(width=8, layers=1, activation="relu", slots=slots, slot_width=5)
    net = Network(config, 10)
    x = jax.random.normal(jax.random.key(0), (7, 20))
    params = net.init(jax.random.key(1), net.start(7), x, np.zeros(7, bool))
    # Without the trunk and the head, all that is left comes from the rows.
    layers = params["params"]
    for name in ("Dense_0", "Dense_1"):
        layers[name] = jax.tree_util.tree_map(np.zeros_like, layers[name])

    def scores(x):
        return np.asarray(net.advance(params, net.start(7), x, np.zeros(7, bool))[1])

    swapped = x.at[:, 2:6].set(x[:, 10:14]).at[:, 10:14].set(x[:, 2:6])
    before, after = scores(x), scores(swapped)
    np.testing.assert_allclose(after, before[:, [0, 3, 2, 1, 4, 5, 8, 7, 6, 9]], atol=1e-6)
    assert (before[:, [0, 9]] == 0).all() and (before[:, 1:9] != 0).any(axis=0).all()
    # As read from a file.
    plain = json.loads(json.dumps(dataclasses.asdict(config)))
    assert NetworkConfig(**plain) == config
    with pytest.raises(ConfigError, match="-1"):
        NetworkConfig(slots=((-1, 3, 4, (0,)),))


def test_slots_are_those_of_the_observation():
    home = manyhands.make("home", task="transport", observation="features")
    layout = home.observation_layout
    found = {each.first: each for each in slots_of(home)}
    places = found[layout["receptacles"].start]
    assert (places.rows, places.columns) == layout.pieces["receptacles"].shape
    # The first row is about the place to which the first of these actions goes.
    assert places.actions == (Actions(home).go,)
    things = found[layout["objects"].start]
    assert things.actions == (Actions(home).take,) and things.rows == home.objects
    for env in (manyhands.make("kuhn_poker"), manyhands.make("home")):
        with pytest.raises(ConfigError, match="slots"):
            slots_of(env)
