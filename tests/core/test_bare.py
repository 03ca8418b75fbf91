"""A bare action at an end of an answer: what is read beside a remark, and what is refused."""

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import IllegalAction
from manyhands.core.reading.plain import clearly, plainly


@pytest.fixture(scope="module")
def poker():
    env = manyhands.make("kuhn_poker")
    return env, jax.device_get(env.reset(jax.random.key(1)))


READ = {
    "too rich for my blood, check": "check",
    "King is the top card -> bet": "bet",
    "Slow-playing the king: check": "check",
    "lol im checking": "check",
    "nah ill check it": "check",
    "Let's build the pot: bet!": "bet",
    "No need to hurry; check.": "check",
}
REFUSED = (
    "if he is weak, bet",
    "my fear: bet",
    "player_1: check",
    "player_1 plays: bet",
    "not yet, bet",
    "the worst thing, bet",
    "usually, bet",
    "maybe later, check",
    "he says, check",
    "fold, check",
    "e.g. bet",
    "bet, bet",
    "okay player_1, bet",
    "check, said nobody",
    "check, but not now",
)


@pytest.mark.parametrize(("said", "means"), READ.items())
def test_a_remark_and_an_action_are_read(poker, said, means):
    env, state = poker
    assert env.parse(said, state, 0) == env.parse(means, state, 0)


@pytest.mark.parametrize("said", REFUSED)
def test_a_remark_that_may_turn_the_action_round_is_refused(poker, said):
    env, state = poker
    with pytest.raises(IllegalAction):
        env.parse(said, state, 0)


def test_a_function_in_python_returns_an_action():
    assert plainly("return Action.TURN_LEFT  # it is not blocked") == "TURN LEFT"
    assert plainly('return "call"') == plainly("return 'call';") == "call"
    assert plainly('def act(view):\n    # all quiet\n    return "call"\n') == "call"
    for said in ('return "a" if free else "b"', "return north", 'if free:\n    return "north"'):
        assert plainly(said) == said


def test_spellings_of_chats():
    assert plainly("headin west w/ a lil step") == "heading west with one step"
    assert plainly("north w/o waiting") == "north without waiting"
    assert plainly("go in, the basin, w/e") == "go in, the basin, w/e"
    assert plainly("lol im going west lmao") == "I'm going west"
    assert plainly("I block it") == "I block it"
    assert plainly("bro, hold") == "hold"


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("I'll go north. That should help.", "I'll go north."),
        ("Check. No question.", "Check."),
        ("Assistant: check", "check"),
        ("TL;DR: check", "check"),
        ("Let me think... check", "check"),
        ("Check | Reason: a weak hand", "Check, Reason: a weak hand"),
        ("player_1: check", "player_1: check"),
        ("Check. I'm not sure.", "Check. I'm not sure."),
    ],
)
def test_what_says_nothing_of_the_action_is_left_out(said, plain):
    assert plainly(said) == plain


@pytest.mark.parametrize(
    ("said", "clear"),
    [
        ("Go north right now.", "Go north now."),
        ("Right now I go north.", "now I go north."),
        ("go right now", "go right now"),
        ("turning right now", "turning right now"),
        ("to the right now", "to the right now"),
        ("right now", "right now"),
        ("I'll do this: turn left", "turn left"),
        ("do this turn left", "do this turn left"),
    ],
)
def test_right_now_is_a_direction_only_where_it_may_be_one(said, clear):
    assert clearly(said) == clear


@pytest.mark.parametrize(
    ("id", "config", "said"),
    [
        ("drones", {"task": "formation", "actions": "position"}, "I'm at {place}, 0"),
        ("volleyball", {"task": "1v1", "actions": "position"}, "I am at {place}"),
    ],
)
def test_numbers_that_only_repeat_the_text_are_no_action(id, config, said):
    env = manyhands.make(id, **config)
    state = jax.device_get(env.reset(jax.random.key(0)))
    text = next(line for line in env.describe(state, 0).splitlines() if line.startswith("You"))
    text = text if "at (" in text else env.describe(state, 0).partition("You: ")[2]
    place = text.partition("at (")[2].partition(")")[0]
    with pytest.raises(IllegalAction):
        env.parse(said.format(place=place), state, 0)
    assert np.isfinite(env.parse(f"fly to {place}", state, 0)).all()


def test_the_last_of_four_numbers_may_stand_behind_the_brackets():
    env = manyhands.make("drones", task="formation", actions="velocity")
    state = jax.device_get(env.reset(jax.random.key(0)))
    said = env.parse("velocity (-0.9, 0.3, 0.0), yaw rate 0.1", state, 0)
    assert np.allclose(said, [-0.9, 0.3, 0.0, 0.1])
