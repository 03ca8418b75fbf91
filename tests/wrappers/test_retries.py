"""Several attempts at one start."""

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import ConfigError, episode_key
from manyhands.core.episode import Game, Turn
from manyhands.core.pack import fingerprint, restore, snapshot
from manyhands.wrappers.retries import Retries

BOARD = manyhands.make("tic_tac_toe")
POKER = manyhands.make("kuhn_poker")
# X takes the top row, O the middle one: 5 moves.
WON = (0, 3, 1, 4, 2)
# O wins with the middle row: 6 moves.
LOST = (0, 3, 1, 4, 8, 5)


def game(env, *moves, seed=3):
    """The episode after these moves, each of the player to move."""
    played = Game(env, seed)
    for move in moves:
        (i,) = played.asked()
        played.advance(Turn(actions={i: move}))
    return played


def test_attempts_begin_alike_and_only_the_last_one_ends():
    env = Retries(BOARD, attempts=2, improvement=0.5)
    between = game(env, *LOST)
    assert not between.over and between.step == 6 and between.asked() == [0]
    state = between.frame.state
    assert fingerprint(BOARD, env.inner(state)) == fingerprint(BOARD, state.first)
    assert between.frame.metrics["attempts_ended"] == 1
    over = game(env, *LOST, *WON)
    assert over.over and over.frame.terminated.all()
    assert over.rewards.tolist() == [-1 + 1 + 0.5 * 2, 1 - 1]
    assert over.frame.terms["improvement"].tolist() == [2, 0]
    assert env.max_steps == 2 * BOARD.max_steps


def test_vectors_and_texts_tell_of_earlier_attempts():
    env = Retries(BOARD, attempts=3)
    view = game(env, *LOST, 4).views[0]
    assert view.vector[-6:].tolist() == [1, 1, -1, -1, 0, 0]
    assert "Attempt 2 of 3" in view.text
    assert "Attempt 1: your return -1 in 6 steps; actions of yours: a1, b1, c3." in view.text
    other = game(env, *LOST, 4).views[1]
    assert other.vector[-6:].tolist() == [1, 1, 1, 1, 0, 0] and "a2, b2, c2" in other.text
    fresh = game(env, *LOST).views[0]
    assert "2 O O O" in fresh.text and fresh.concerns
    assert [event["event"] for event in fresh.events] == ["place", "win", "new attempt"]
    codes = np.asarray(env.event_codes(game(env, *LOST).frame.state))
    assert codes[0, BOARD.event_names.index("other_win")] == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"feedback": "outcome"}, "Attempt 1: your return -1 in 6 steps."),
        ({"feedback": "none"}, ""),
        ({"remember": 2}, "the last 2 actions of yours: c3."),
    ],
)
def test_what_is_told_is_bounded(options, told):
    env = Retries(BOARD, attempts=2, **options)
    view = game(env, *LOST, 4).views[0]
    assert told in view.text and ("Attempt 1:" in view.text) == bool(told)
    if options.get("feedback") == "none":
        assert view.vector[-4:-2].tolist() == [0, 0]


def test_deals_are_repeated():
    env = Retries(POKER, attempts=3)
    played = game(env, 0, 0, seed=5)  # check, check
    cards = POKER.to_dict(env.inner(played.frame.state))
    assert cards == POKER.to_dict(played.frame.state.first)
    assert env.deals() is None


@pytest.mark.parametrize("chance", ["fresh", "same"])
def test_chance_after_the_start(chance):
    class Dice(type(POKER)):
        """Kuhn poker whose state is changed by what a step draws."""

        id = "test-dice"

        def step(self, key, state, actions):
            new, outcome = super().step(key, state, actions)
            outcome.metrics["die"] = jax.random.uniform(key)
            return new, outcome

    env = Retries(Dice(), attempts=2, chance=chance)
    state, key = env.reset(episode_key(1)), episode_key(1)
    drawn, step = [], jax.jit(env.step)
    for t in range(4):
        state, outcome = step(jax.random.fold_in(key, t), state, np.zeros(2, np.int32))
        drawn.append(float(outcome.metrics["die"]))
    assert int(state.attempt) == 1 and (drawn[:2] == drawn[2:]) is (chance == "same")


def test_snapshots_and_forks_keep_the_attempts():
    env = Retries(BOARD, attempts=2)
    played = game(env, *LOST, 4)
    again = Game(env, 3, fork=played.snapshot())
    assert again.step == 7 and again.views[0].text == played.views[0].text
    state = restore(env, snapshot(env, played.frame.state))
    assert fingerprint(env, state) == fingerprint(env, played.frame.state)


def test_players_of_the_game_play_it_and_bad_options_are_refused():
    env = manyhands.make("retries", env=BOARD, attempts=2)
    result = manyhands.play(env, ["perfect", "random"], 2, progress=False)
    assert (result.rewards[:, 0] >= 0).all()
    for options in ({"attempts": 0}, {"feedback": "all"}, {"chance": 1}, {"improvement": -1}):
        with pytest.raises(ConfigError):
            Retries(BOARD, **options)
    with pytest.raises(ConfigError, match="improvement"):
        Retries(env)
