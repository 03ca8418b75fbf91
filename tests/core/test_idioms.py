"""Set phrases around an action, and chains of words that take something back."""

import jax
import pytest

import manyhands
from manyhands.core.env import IllegalAction
from manyhands.core.reading.idioms import without_idioms


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("nothing to lose, north", "north"),
        ("Why not: north.", "north."),
        ("north, why not", "north"),
        ("North. No regrets!", "North!"),
        ("I go north, what the heck, no harm done.", "I go north."),
        ("After a long think, I fold.", "I fold."),
        ("The pot is full. Nothing to lose, north", "The pot is full. north"),
        ("My pick for this turn: north", "north"),
        ("Everything points to b2.", "b2."),
        ("north before it gets any worse", "north before it gets any worse"),  # no comma
        ("why not north", "why not north"),
        ("why not, north?", "why not, north?"),
        ("nothing to lose", "nothing to lose"),
        ("everything points to north being a trap", "everything points to north being a trap"),
        ("my pick for this turn is not north", "my pick for this turn is not north"),
        ("south... argh no, other way, north!", "south... no wait, north!"),
        ("oops, wrong way. East.", "East."),
        ("Sorry, no deal.", "Sorry, no deal."),
        ("wait, no, left", "wait, no, left"),
        ("(3, 3), actually nvm, (3, 2) is plenty", "(3, 3)... no wait, (3, 2)"),
        ("no, north", "no, north"),
    ],
)
def test_set_phrases_are_taken_off_the_ends(said, left):
    assert without_idioms(said) == left


@pytest.fixture(scope="module")
def tables():
    """An action of three worlds, with who plays it."""
    worlds = {
        "east": manyhands.make("kitchen", layout="cramped_room"),
        "bet 1": manyhands.make("kuhn_poker"),
        "column 6": manyhands.make("connect_four"),
    }
    states = {name: jax.device_get(env.reset(jax.random.key(3))) for name, env in worlds.items()}
    return {
        name: (env, states[name], int(env.acting(states[name]).argmax()))
        for name, env in worlds.items()
    }


READ = (
    "{}, nothing to lose",
    "tough guy mode: {}",
    "boring but correct, {}",
    "For lack of a better idea, {}.",
    "My pick for this turn: {}.",
    "Not much to see here yet. No time to lose, {}!",
    "{}, and that's final.",
    "With nothing better to do: {}",
    "I choose {}, just because.",
    "oops, wrong one. {}",
    "hmm... no wait, hang on, scratch that, {}",
    "All signs point to {}.",
    "There is little to gain by doing anything else now, so {} it is.",
)
REFUSED = (
    "nothing to lose, but not {}",
    "I would never {}, no regrets",
    "{}? why not",
    "why not {}?",
    "you {}, no hard feelings",
    "if he sleeps, {}, why not",
    "All signs point to {} being a trap.",
    "My pick for this turn was {}.",
    "{}, no wait, my mistake",
    "{}, oh no, sorry, I can't",
    "my gut says {}, my head says no",
    "everyone expects {}, easy",
)


@pytest.mark.parametrize("frame", READ)
def test_an_action_with_set_phrases_is_read(tables, frame):
    for name, (env, state, agent) in tables.items():
        assert env.parse(frame.format(name), state, agent) == env.parse(name, state, agent), name


@pytest.mark.parametrize("frame", REFUSED)
def test_set_phrases_turn_no_refusal_into_an_action(tables, frame):
    for name, (env, state, agent) in tables.items():
        with pytest.raises(IllegalAction):
            env.parse(frame.format(name), state, agent)
