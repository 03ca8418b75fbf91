"""The sentence of an answer that decides, beside others that are weighed."""

import jax
import pytest

import manyhands
from manyhands.core.env import IllegalAction
from manyhands.core.reading.verdict import verdicts


@pytest.fixture(scope="module")
def poker():
    env = manyhands.make("kuhn_poker")
    return env, jax.device_get(env.reset(jax.random.key(1)))


READ = {
    "If he has the king I lose two chips. A queen would fold here. So I check.": "check",
    "I'd fold to a raise with this. He may well have nothing. I bet 1.": "bet 1",
    "Bet 1... no wait, player_2 could hold the king. Check.": "check",
    "I bet, uh sorry, check": "check",
    "## Move\n\ncheck\n\n## Why\n\nBetting would be better with a king, and I have none.": "check",
    "**Decision:** bet 1\n**Reason:** if he folds, I win; a check would be weak.": "bet 1",
    "No bet from me, I check.": "check",
    "Answer: check": "check",
    "I'll check and see what player_1 does.": "check",
    "I was tempted to bet, but a jack never wins, so I check": "check",
    "Bet? No, too risky. Check.": "check",
    "Check. Too risky with a jack.": "check",
    "*slides a chip forward* I bet.": "bet 1",
    "Good luck everyone! I bet.": "bet 1",
    "Let's not waste time: bet.": "bet 1",
    "The safest option is to check.": "check",
    "## Decision\n\nBet. It makes him think.": "bet 1",
    "1. Card: K\n2. Options: check / bet\n3. Selected: bet": "bet 1",
    "Action chosen -> bet": "bet 1",
    'tool: act(action="bet")': "bet 1",
    "Bet, even though I hold a jack.": "bet 1",
    "Check, although a king is good.": "check",
    "He sleeps. Meanwhile I bet.": "bet 1",
    "check, see what player_1 does": "check",
    "I was tempted to check, but aggression wins small games. Betting.": "bet 1",
    "Player_2 showed weakness, and weakness deserves a poke: I'm betting.": "bet 1",
    "A jack can lose this twice over, so I'm checking this turn.": "check",
    "One time in three it pays to bluff, and this is that time, so a bet it is.": "bet 1",
    "Why pay more when a look is free? I'm checking.": "check",
    "A king would raise here. Guess I'll check.": "check",
    "I bet 1 and hope for the best.": "bet 1",
    "My next move this turn: I check.": "check",
    "I'm not sinking another coin into this. I check and take the small loss.": "check",
}
REFUSED = (
    "Suppose I am him. I bet 1.",
    "He said the following. I bet 1.",
    "Is he weak? I bet.",
    "My friend told me his plan. I bet 1.",
    "player_1: what now. I bet 1.",
    "I fold. I bet 1.",
    "He is clever. Bet.",
    "You should never check. Bet 1.",
    "Bet. That is what he did.",
    "Bet. He was bluffing.",
    "My opponent has a queen, I bet",
    "When he checks, I bet 1",
    "Next turn, I bet 1.",
    "bet 1, no wait",
    "call, no wait... I call",
    "1. check\n2. bet\nI'd say 2.",
    "oh great, so I bet",
    "I said so I bet",
    "to be clear, player_1: I bet",
    "If he is weak he checks, so I bet",
    "What I would never say here: I bet",
    "My plan for the next hand: I bet",
    "Why would he check? Bet.",
    "Betting is what I like. Checking is what I do.",
    "I bet and you fold",
    "I check and then bet",
    "As player_1 you bet",
    "Bet, even though he said check or fold?",
    "Check, although I would rather bet",
    "He bets, although I check",
    "Bet, I know, but he may call",
    "Meanwhile, betting is what he does",
    "As the coach says I will bet",
    "I was tempted to bet, but no",
    "bet... no, that was a joke",
    "Check. Too bad",
    "bet. I know you would",
    "Good luck betting, everyone",
    "The safest option is to check, but who wants that?",
    "Reason: I want to bet\n\nNot sure yet",
    "1. Rejected: check\n2. Selected: neither",
    "Action taken by player_1 -> bet",
    '{"function": "opponent_action", "args": {"type": "bet"}}',
)


@pytest.mark.parametrize(("said", "means"), READ.items())
def test_a_sentence_decides(poker, said, means):
    env, state = poker
    assert env.parse(said, state, 0) == env.parse(means, state, 0)


@pytest.mark.parametrize("said", REFUSED)
def test_what_only_sounds_like_a_decision_is_refused(poker, said):
    env, state = poker
    with pytest.raises(IllegalAction):
        env.parse(said, state, 0)


def test_long_answers_have_no_verdict():
    assert not list(verdicts("I think about it. " * 200 + "I bet."))


@pytest.mark.parametrize("piece", ["a - ", "a (b) ", "so ", "it is ", "x, it is "])
def test_long_sentences_are_not_taken_apart(piece):
    assert not list(verdicts(piece * (1_900 // len(piece))))
