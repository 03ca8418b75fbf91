"""Everyday words of all worlds: waiting, aims and what they come to."""

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import IllegalAction


@pytest.fixture(scope="module")
def kitchen():
    env = manyhands.make("kitchen", layout="asymmetric_advantages")
    return env, jax.device_get(env.reset(jax.random.key(1)))


READ = {
    "not moving a muscle this time": "stay",
    "I'll let this tick go by without touching anything.": "stay",
    "do nothing, just breathe": "stay",
    "sitting on my hands for this step": "stay",
    "twiddle my thumbs": "stay",
    "My idea is to fetch an onion first, and that means going west now.": "west",
    "I want the dishes. That means south.": "south",
    "What I want is a dish, hence for the moment I move one down": "south",
    "south, let's see whether he follows": "south",
    "the last option": "interact",
    "<-": "west",
    "`->`": "east",
    "^": "north",
    "go lft": "west",
    "try going down": "south",
    "oops, south": "south",
    "south rn": "south",
    "to the right": "east",
    '{"next_step": "south", "reason": "to the dishes"}': "south",
}
REFUSED = (
    "I want him to wait. That means south for him.",
    "If I want a dish, that means south",
    "I wanted a dish. That meant south.",
    "My plan would be the onions. That means west.",
    "we could twiddle our thumbs",
    "south, let's see if north is better",
    "chef_1 twiddles its thumbs",
    "I won't sit on my hands",
    "->?",
    "trying south was a mistake",
    "must I go south?",
    "oops, not south",
    '{"next_step": "south", "valid": false}',
    '{"direction": "south", "valid": false}',
    '{"next_step": "south", "other": "north"}',
)


@pytest.mark.parametrize("answer", READ)
def test_everyday_words_are_read(kitchen, answer):
    env, state = kitchen
    assert np.array_equal(env.parse(answer, state, 0), env.parse(READ[answer], state, 0))


@pytest.mark.parametrize("answer", REFUSED)
def test_what_they_do_not_mean_is_refused(kitchen, answer):
    env, state = kitchen
    with pytest.raises(IllegalAction):
        env.parse(answer, state, 0)
