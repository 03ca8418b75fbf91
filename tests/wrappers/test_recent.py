"""What happened in the last step, behind the observation."""

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import ConfigError, Env, episode_key
from manyhands.core.registry import from_spec
from manyhands.wrappers.recent import Recent

KITCHEN = manyhands.make("kitchen", max_steps=12)


def test_the_numbers_follow_the_observation():
    env = Recent(KITCHEN)
    state, step = jax.jit(env.reset)(episode_key(1)), jax.jit(env.step)
    actions = np.array([KITCHEN.noop, 0])
    for t in range(2):
        state, _ = step(episode_key(t), state, actions)
    rows, plain, codes = map(
        np.asarray,
        jax.jit(lambda s: (env.observe(s), KITCHEN.observe(s), KITCHEN.event_codes(s)))(state),
    )
    size = int(np.prod(KITCHEN.observation_space.shape))
    assert rows.dtype == np.float32 and rows.shape == (2, size + len(KITCHEN.event_names))
    np.testing.assert_array_equal(rows[:, :size], plain.reshape(2, -1))
    np.testing.assert_array_equal(rows[:, size:], codes)
    named = dict(zip(KITCHEN.event_names, codes[0], strict=True))
    assert named["own_waited"] == 1 and named["other_1_waited"] == 0


def test_it_is_one_of_the_wrappers():
    env = manyhands.make("recent", env=KITCHEN)
    assert from_spec(env.spec()) == env and env.observation_space.dtype == np.float32
    result = manyhands.play(env, "greedy", max_steps=4, progress=False)
    assert result.episodes[0].steps == 4


def test_a_world_without_numbers_is_refused():
    class Silent(type(KITCHEN)):
        id = "test-silent"

    silent = Silent(max_steps=5)
    silent.event_names = ()
    assert isinstance(silent, Env)
    with pytest.raises(ConfigError, match="event_names"):
        Recent(silent)
