"""Checks of options: what passes comes back in plain types, what does not is named."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.core import config
from manyhands.core.env import ConfigError, SeatError


def test_one_of_names_what_is_allowed_and_the_nearest():
    assert config.one_of("mode", "grid", ("grid", "compact")) == "grid"
    with pytest.raises(ConfigError, match=r'grid or compact.*gird.*"grid"'):
        config.one_of("mode", "gird", ("grid", "compact"))
    for wrong in (1, True, None, ["a"], np.zeros(2), math.nan):
        with pytest.raises(ConfigError, match="mode"):
            config.one_of("mode", wrong, ("grid", 0))


def test_whole_refuses_bools_and_floats_and_takes_numpy_integers():
    assert type(config.whole("steps", np.int16(7), 1, 9)) is int
    assert config.whole("steps", 10**20, 1) == 10**20
    for wrong in (True, np.True_, 2.0, "2", None, 0, 10, math.nan):
        with pytest.raises(ConfigError, match=r"steps.*from 1 to 9"):
            config.whole("steps", wrong, 1, 9)


def test_number_is_finite():
    assert config.number("share", np.float32(0.5), 0, 1) == 0.5
    assert type(config.number("share", 1)) is float
    for wrong in (math.nan, math.inf, -math.inf, True, "1", None, 10**400, -0.1, 1.1):
        with pytest.raises(ConfigError, match=r"share.*from 0 to 1"):
            config.number("share", wrong, 0, 1)


def test_boolean_takes_nothing_else():
    assert config.boolean("drag", np.True_) is True
    for wrong in (0, 1, "no", None):
        with pytest.raises(ConfigError, match="drag"):
            config.boolean("drag", wrong)


def test_plain_is_json():
    given = {1: (np.int8(1), np.array([[1.5]])), "b": [None, True, "x"]}
    found = config.plain(given)
    assert found == {"1": [1, [[1.5]]], "b": [None, True, "x"]}
    assert json.loads(json.dumps(found)) == found


def test_nearest():
    assert (
        config.nearest("Cramped_Rom", ("cramped_room", "ring")) == ' did you mean "cramped_room"?'
    )
    assert config.nearest("zzz", ("cramped_room", "ring")) == ""
    assert config.nearest(None, ("none",)) == config.nearest("x" * 10**6, ("x",)) == ""


def test_check_options_names_the_options_that_exist():
    def build(layout: str = "a", *, max_steps: int = 1) -> None: ...

    def loose(**options: int) -> None: ...

    config.check_options(build, ["layout", "max_steps"])
    config.check_options(loose, ["anything"])
    with pytest.raises(ConfigError, match=r"build.*'max_step'.*\"max_steps\".*layout, max_steps"):
        config.check_options(build, ["max_step"])
    with pytest.raises(SeatError, match=r"the kitchen.*'zzz'"):
        config.check_options(build, ["zzz"], "the kitchen", SeatError)


@pytest.mark.parametrize("weight", [math.nan, math.inf, True, "1", None])
def test_reward_weights_are_finite_numbers(weight):
    with pytest.raises(ConfigError, match="win"):
        config.check_weights({"win": weight}, {"win": 1.0})
    with pytest.raises(ConfigError, match="win"):
        manyhands.make("tic_tac_toe", reward_weights={"win": weight})


def test_reward_weights_are_of_terms():
    assert config.check_weights(None, {"win": 1.0}) == {"win": 1.0}
    assert config.check_weights({"win": np.float32(2)}, {"win": 1.0, "lose": 0.0}) == {
        "win": 2.0,
        "lose": 0.0,
    }
    with pytest.raises(ConfigError, match=r"'won'.*win"):
        config.check_weights({"won": 1.0}, {"win": 1.0})
    with pytest.raises(ConfigError, match="reward_weights"):
        config.check_weights([1.0], {"win": 1.0})  # type: ignore[arg-type]


def test_actions_are_checked_while_tracing():
    discrete = SimpleNamespace(num_agents=2, action_space=gymnasium.spaces.Discrete(6))
    box = SimpleNamespace(num_agents=2, action_space=gymnasium.spaces.Box(-1, 1, (4,)))

    def step(env, batch):
        def run(actions):
            config.check_actions(env, actions, batch)
            return actions

        return jax.make_jaxpr(run)

    assert not step(discrete, ())(jnp.zeros(2, jnp.uint8)).eqns
    step(discrete, (5,))(np.zeros((2, 5), int))
    step(box, ())(jnp.zeros((2, 4)))
    step(box, (3,))(jnp.zeros((2, 4, 3), int))
    with pytest.raises(ConfigError, match=r"\(2,\).*\(1,\)"):
        step(discrete, ())(jnp.zeros(1, int))
    with pytest.raises(ConfigError, match=r"\(2, 5\).*\(2,\)"):
        step(discrete, (5,))(jnp.zeros(2, int))
    for dtype in (jnp.float32, bool):
        with pytest.raises(ConfigError, match=str(np.dtype(dtype))):
            step(discrete, ())(jnp.zeros(2, dtype))
    with pytest.raises(ConfigError, match="bool"):
        step(box, ())(jnp.zeros((2, 4), bool))
