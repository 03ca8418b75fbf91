"""The base of wrappers, on one that changes nothing but the rewards' weights, and on stacks."""

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import ConfigError, Outcome, Wrapper, layers, unwrap
from manyhands.envs.kitchen import Kitchen
from manyhands.envs.volleyball import Volleyball
from manyhands.wrappers.chat import Chat
from manyhands.wrappers.events import Events
from manyhands.wrappers.skills import Skills


class Doubled(Wrapper):
    """Every reward twice."""

    id = "test-doubled"

    def __init__(self, env):
        super().__init__(env)
        self.reward_weights = {name: 2 * weight for name, weight in env.reward_weights.items()}

    def step(self, key, state, actions):
        state, outcome = self.env.step(key, state, actions)
        return state, self.outcome(
            outcome.terms, outcome.terminated, outcome.truncated, outcome.metrics
        )


@pytest.fixture(scope="module")
def kitchen():
    return manyhands.make("kitchen", max_steps=12)


def test_a_wrapper_forwards_what_it_does_not_change(kitchen):
    doubled = Doubled(kitchen)
    for name in ("agents", "max_steps", "noop", "batched", "exact", "phrases", "default_policy"):
        assert getattr(doubled, name) == getattr(kitchen, name)
    assert doubled.shipped_levels() == kitchen.shipped_levels()
    assert doubled.skill_set().names == kitchen.skill_set().names
    state = doubled.reset(jax.random.key(0))
    assert doubled.describe(state, 0) == kitchen.describe(state, 0)
    assert int(doubled.elapsed(state)) == 0
    _, outcome = jax.eval_shape(doubled.step, jax.random.key(1), state, np.array([4, 4]))
    assert isinstance(outcome, Outcome)
    assert doubled.spec()["env"] == kitchen.spec() and doubled.unwrapped is kitchen
    assert doubled.reward_weights["delivery"] == 2 * kitchen.reward_weights["delivery"]


def test_chat_is_no_more_exact_than_what_it_wraps():
    game = manyhands.make("volleyball", max_steps=20)
    assert not game.exact
    for wrapped in (Skills(game), Events(game), Chat(Skills(game))):
        assert wrapped.exact is game.exact and wrapped.sides == game.sides
        assert wrapped.reset_options == game.reset_options
    world = manyhands.make("craftworld", players=2, size=[16, 16])
    assert Chat(world).cameras == world.cameras and Chat(world).keys == world.keys


def test_a_stack_is_unwrapped_with_the_way_back(kitchen):
    stack = Chat(Skills(Doubled(kitchen)))
    found = unwrap(stack, Kitchen)
    assert found.env is kitchen and len(found.wrappers) == 3
    assert [type(layer).__name__ for layer in layers(stack)] == [
        "Chat",
        "Skills",
        "Doubled",
        "Kitchen",
    ]
    state = stack.reset(jax.random.key(0))
    np.testing.assert_array_equal(
        found.inner(state).position, kitchen.reset(jax.random.key(0)).position
    )
    action = np.asarray(found.lift(np.int32(2)))
    assert stack.action_space.contains(action.astype(np.int32))
    assert found.lower(stack.legal(state)[0]).shape == kitchen.legal(found.inner(state))[0].shape
    assert unwrap(stack, Skills).env is stack.env


def test_what_cannot_be_lifted_is_not_unwrapped():
    events = Events(manyhands.make("volleyball", max_steps=20))
    with pytest.raises(ConfigError, match="volleyball"):
        unwrap(events, Volleyball)
    with pytest.raises(ConfigError, match="kitchen"):
        unwrap(events.env, Kitchen)
    assert events.unwrapped is events.env
