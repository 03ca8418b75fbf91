"""Answers that correct themselves: what is said last counts, if it is unmistakable."""

import signal

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import IllegalAction
from manyhands.core.reading.corrections import corrections


@pytest.fixture(scope="module")
def kitchen():
    env = manyhands.make("kitchen", layout="asymmetric_advantages")
    return env, jax.device_get(env.reset(jax.random.key(1)))


READ = {
    "north, no, east": "east",
    "north - nope, east!": "east",
    "stay? No. East.": "east",
    "north? no: east": "east",
    "north, I mean east": "east",
    "go north, no, east": "east",
    "stay, no, north, er, south": "south",
    "north, no, south, there are more plates": "south",
    "north - no wait, that pot - south": "south",
    "I go north - no, chef_1 is up there - I go south.": "south",
    "stay... hang on, the pot boils! South.": "south",
    "interact - hmm, no, that would put it down again. south": "south",
    "west? No, the pot first: south": "south",
}
REFUSED = (
    "north, no",
    "north? no",
    "north, no, not east either",
    "east? no, not yet",
    "chef_1 goes north, no, east",
    "north - no wait, east or south?",
    "north... no wait, if chef_1 moves, east",
    "don't go north, no, east",
    "north? no, maybe east",
    "north? no, chef_1: east",
    "north? no, chef_1 goes: east",
    "north? no, later: east",
    "north, no, chef_1 says: east",
    "I go south, no?",
    "north, no, north",
    "I go south. No, I go north.",
    "I go south, no, I go north",
    "No, no, east",
    "north, actually east",
    "north, or rather east",
    "wait, no, east",
    "north, no, east, then south",
    "north, no, it's better to think again",
    "north, sorry, I was talking to chef_1: east",
    "north, no, that was meant for chef_1: east",
)


@pytest.mark.parametrize("answer", READ)
def test_what_is_said_last_counts(kitchen, answer):
    env, state = kitchen
    right = env.parse(READ[answer], state, 0)
    assert np.array_equal(env.parse(answer, state, 0), right)


@pytest.mark.parametrize("answer", REFUSED)
def test_what_stays_open_is_refused(kitchen, answer):
    env, state = kitchen
    with pytest.raises(IllegalAction):
        env.parse(answer, state, 0)


@pytest.mark.parametrize(
    "answer",
    ["north" + "." * 280, "north" + ", " * 140 + "?", "north" + " - ," * 60, "no, wait, no, " * 20],
)
def test_a_long_row_of_marks_is_read_at_once(answer):
    """A pattern that tries every way to part it would take years."""

    def late(*_):
        raise TimeoutError("it is still being read")

    earlier = signal.signal(signal.SIGALRM, late)
    signal.alarm(30)
    try:
        assert not list(corrections(answer))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)


def test_a_short_correction_stands_in_the_place_of_what_it_corrects():
    (found,) = corrections("turn left, no, right")
    assert found.inserted == "turn right"
    (found,) = corrections("take 7 coins... no, make that 8")
    assert (found.inserted, found.main) == ("take 8 coins", "8")
    (found,) = corrections("2 wood for 3 ore, no, 4")  # of two numbers
    assert found.inserted == ""


def test_a_number_that_may_be_another_one_is_refused():
    env = manyhands.make("negotiation", scenario="ultimatum", discussion=0)
    state = jax.device_get(env.reset(jax.random.key(1)))
    keep = env.parse("keep 7", state, 0)
    assert np.array_equal(env.parse("keep 6, no, 7", state, 0), keep)
    assert np.array_equal(env.parse("give 4, no, 3", state, 0), keep)
    with pytest.raises(IllegalAction):
        env.parse("you take 6, no, they want 7", state, 0)
