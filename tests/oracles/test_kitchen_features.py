"""Overcooked-AI's features and statistics, in states that `record_kitchen_features.py` drew."""

from __future__ import annotations

import collections
import dataclasses
import functools
import gzip
import json
from pathlib import Path

import jax
import numpy as np
import pytest

from manyhands.core.env import ConfigError
from manyhands.core.play import play
from manyhands.envs.kitchen import Kitchen
from manyhands.envs.kitchen.potential import GAMMA, potential
from manyhands.envs.kitchen.statistics import METRICS, STATISTICS

DATA = Path(__file__).parent / "data" / "overcooked_ai_features.json.gz"
RECORDED = json.loads(gzip.decompress(DATA.read_bytes()))


def states(kitchen, trials):
    """The states of trials, batch axis last."""
    first = jax.device_get(jax.jit(kitchen.reset)(jax.random.key(0)))
    made = []
    for trial in trials:
        objects, timer = np.zeros_like(first.objects), np.zeros_like(first.timer)
        for cell, thing, time in trial["objects"]:
            objects[cell], timer[cell] = thing, time
        position, facing, held = np.array(trial["chefs"], np.uint8).T
        chefs = {"position": position, "facing": facing, "held": held}
        made.append(dataclasses.replace(first, objects=objects, timer=timer, **chefs))
    return made, jax.tree_util.tree_map(lambda *rows: np.stack(rows, -1), *made)


@pytest.mark.parametrize("name", RECORDED)
def test_features_and_statistics_are_overcooked_ais(name, tmp_path) -> None:
    path = tmp_path / f"{name}.layout"
    path.write_text(repr(RECORDED[name]["layout"]))
    kitchen = Kitchen(path, dynamics="manual", observation="featurized", statistics=True)
    trials = RECORDED[name]["trials"]
    made, batch = states(kitchen, trials)
    seen = np.asarray(jax.jit(kitchen.batch_observe)(batch))
    wanted = np.moveaxis(np.array([t["features"] for t in trials], np.float32), 0, -1)
    np.testing.assert_array_equal(seen, wanted)
    assert seen.shape[:2] == (kitchen.chefs, *kitchen.observation_space.shape)
    low, high = kitchen.observation_layout.low, kitchen.observation_layout.high
    assert (seen >= low[:, None]).all() and (seen <= high[:, None]).all()
    actions = np.array([trial["actions"] for trial in trials], np.int32).T
    keys = jax.random.split(jax.random.key(0), len(trials))
    _, outcome = jax.jit(kitchen.batch_step)(keys, batch, actions)
    for event, metric in zip(STATISTICS, METRICS, strict=True):
        expected = [trial["events"].get(event, 0) for trial in trials]
        np.testing.assert_array_equal(outcome.metrics[metric], expected, err_msg=event)
    values = np.asarray(jax.jit(functools.partial(potential, kitchen))(batch))
    wanted = np.array([trial["potential"] for trial in trials])
    # Where pots promise the same, which one chefs care for first is a matter of hashes there.
    assert np.mean(np.abs(values - wanted) < 1e-3) >= 0.98
    np.testing.assert_allclose(values, wanted, rtol=0.02)
    if name == "multiplayer_schelling":  # alone, many chefs are another program
        one = jax.jit(kitchen.step)
        for k in range(0, len(trials), 5):
            _, alone = one(keys[k], made[k], actions[:, k])
            for metric in METRICS:
                assert float(alone.metrics[metric]) == float(outcome.metrics[metric][k]), metric


def test_everything_was_recorded() -> None:
    events = collections.Counter()
    for layout in RECORDED.values():
        for trial in layout["trials"]:
            events.update(trial["events"])
    assert set(events) == set(STATISTICS)


def test_the_potential_shapes_rewards() -> None:
    kitchen = Kitchen(reward_weights={"potential": 0.5}, max_steps=30)
    frames = []
    play(kitchen, "greedy", seed=2, on_step=lambda moment: frames.append(moment.frame))
    value = jax.jit(functools.partial(potential, kitchen))
    values = [float(value(frame.state)) for frame in frames]
    gains = [frame.terms["potential"] for frame in frames[1:]]
    for before, after, gain, frame in zip(values, values[1:], gains, frames[1:], strict=False):
        np.testing.assert_allclose(gain, GAMMA * after - before, atol=1e-3)
        reward = frame.terms["delivery"] + 0.5 * gain
        np.testing.assert_allclose(frame.reward, reward, atol=1e-5)
    assert max(values) > values[0] + 3  # a soup is under way
    assert not kitchen.exact and Kitchen().exact  # sums of powers differ in their last bits
    assert "potential" not in Kitchen().terms and Kitchen(**kitchen.config()) == kitchen


def test_options() -> None:
    plain, counting = Kitchen(), Kitchen(statistics=True)
    assert (
        plain != counting
        and counting.config()["statistics"]
        and "statistics" not in (plain.config())
    )
    with pytest.raises(ConfigError, match="view_radius"):
        Kitchen(observation="featurized", view_radius=2)
