"""The action at the end of an answer: behind dropped plans and remarks, and in lists of now and
later."""

import jax
import pytest

import manyhands
from manyhands.core.env import IllegalAction
from manyhands.core.reading.closing import closings


@pytest.fixture(scope="module")
def poker():
    env = manyhands.make("kuhn_poker")
    return env, jax.device_get(env.reset(jax.random.key(1)))


READ = {
    "was tempted to trap them, but value comes first: bet 1": "bet 1",
    "Had my heart set on a bluff, but nah, check for me.": "check",
    "Wanted to bluff, silly me, they always call; checking instead.": "check",
    "Betting crossed my mind, but that's risky. Checking instead.": "check",
    "Forget the bluff, my card is too low: check.": "check",
    "The deck holds three cards. The pot has little in it and a king is hard to beat: bet": "bet 1",
    "A king beats all and there is no reason to hide it: I bet 1.": "bet 1",
    "They are weak. No reason to change course: I check.": "check",
    "check, cheers": "check",
    "check, that's all a jack is good for": "check",
    "Bet 1, who knows what they hold.": "bet 1",
    "They look weak to me, guess I'll bet": "bet 1",
    "- this step: check\n- after that: see what they do": "check",
    "1. NOW: bet 1\n2. next turn: count the chips": "bet 1",
    "My route:\n* right away: check\n* a couple of steps on: call or fold": "check",
    "Step 1 (this one): bet 1\nStep 2: we'll see": "bet 1",
    "Plan:\n- check\n- see what they do\n- count the chips\n\nNow: check": "check",
    "Steps:\n1. Bet 1 (now)\n2. Hope for a fold\n\nI'll start with step 1: bet 1.": "bet 1",
    "1. check\n2. see what they do\n\nMy action this turn: check.": "check",
    "1. bet 1\n2. see what they do\n\nDecision - bet 1": "bet 1",
}
REFUSED = (
    "I wanted to bluff, but he said: bet 1",
    "was tempted to trap them, but later: bet 1",
    "was tempted to bluff, bet 1",  # nothing is turned
    "My fear: bet 1",
    "Last time: bet 1",
    "The deal is off: bet 1",
    "There is no point in it: bet.",
    "What the old man used to say: bet 1",
    "player_1 has one plan: bet 1",
    "The worst thing to do here: bet 1",
    "These are the options: bet 1",
    "Suppose it is my turn. Here is a fine move: bet 1",
    "check, that's what he wants",
    "check, that's what a coward does",
    "Check, maybe I bet",
    "Maybe check, who knows what they hold.",
    "They want me to check, guess I'll bet",
    "- this step: check\n- this step: bet 1",
    "- next turn: check\n- after that: bet 1",
    "- this step: check\n- or else: bet 1",
    "Plan:\n- check\n- bet 1\n\nNow: bet 1",
    "Plan:\n- check\n- see what they do\n\nLater: bet 1",
    "Plan:\n- bet 1\n- see what they do\n\nHis action this turn: bet 1",
    "Plan:\n- check\n- see what they do\n\nNow: player_1 may check",
)


@pytest.mark.parametrize("answer", READ)
def test_what_decides_is_read(poker, answer):
    env, state = poker
    assert env.parse(answer, state, 0) == env.parse(READ[answer], state, 0)


@pytest.mark.parametrize("answer", REFUSED)
def test_what_is_given_away_is_refused(poker, answer):
    env, state = poker
    with pytest.raises(IllegalAction):
        env.parse(answer, state, 0)


def test_long_answers_are_left_alone():
    for piece in ("I wanted to go, but ", "- now: go\n- later: ", "so: ", "a, b; ", "(1, 2) "):
        assert list(closings(piece * 10_000)) == []
        list(closings((piece * 300)[:600]))  # the longest that is read
    list(closings("I wanted to go, " + "(a)" * 190 + ","))  # in no exponential time
