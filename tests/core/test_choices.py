"""Choices: lines with an effect, and families of them told as one."""

import json
import pickle

import pytest
from coins import Coins

from manyhands.core.choices import Choice, Form, choices_of, fold, without_effects

FORM = Form("offer {price}", "any whole price from 0 to 30", {"price": (0, 30)})
OFFERS = [Choice(f"offer {n}", f"you gain {40 - n}", n, form=FORM) for n in range(31)]


def test_a_choice_is_its_line_and_knows_its_parts():
    north = Choice("north", "step to (2, 1)", 0, facts={"chefs.chef_0.position": [2, 1]})
    assert north == "north: step to (2, 1)" and json.dumps([north]) == f'["{north}"]'
    assert (north.text, north.effect, north.action, north.certain) == (
        "north", "step to (2, 1)", 0, True,
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(north))
    assert again == north and again.facts == north.facts and again.action == 0
    other = north.but(effect="step to (2, 1), if nobody else does", certain=False, facts={})
    assert (other.text, other.certain) == ("north", False) and other != north


def test_plain_lines_promise_nothing():
    fold_, check = Choice.of("fold: lose 1 chip"), Choice.of("check")
    assert (fold_.text, fold_.effect, fold_.certain) == ("fold", "lose 1 chip", False)
    assert (check.text, check.effect, check.action) == ("check", "", None)


def test_a_family_is_one_line_only_where_there_are_too_many():
    listed = [Choice("pass", "", -1), *OFFERS]
    assert fold(listed, None) == listed and fold(listed, 32) == listed
    short = fold(listed, 31)
    assert [choice.text for choice in short] == ["pass", "offer 15"]
    assert short[1].effect == FORM.effect and short[1].action == 15 and short[1].form is FORM
    assert fold([*OFFERS[:2], *["say"] * 30], 24) == [*OFFERS[:2], *["say"] * 30]


LINES = [
    Choice("stay", "wait here"),
    Choice("east", "step to (2, 1), unless chef_1 enters it; the pot is there"),
    *OFFERS,
]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("I won't stay: wait here.", "I won't stay."),
        ("Let chef_1 Stay:  wait\nhere so that I can go", "Let chef_1 Stay so that I can go"),
        ("**east**: step to (2, 1), then south", "**east**, then south"),
        ("never east: step to (2, 1), unless chef_1 enters it, no", "never east, no"),
        ('{"action": "east: step to (2, 1)"}', '{"action": "east"}'),
        ("not offer 12: any whole price from 0 to 30", "not offer 12"),
        ("offer_12: you gain 28", "offer_12"),
        ("no offer 12: you gain 28, ever", "no offer 12, ever"),
    ],
)
def test_a_copied_effect_is_taken_off_its_choice(said, left):
    assert without_effects(said, lambda: LINES) == left


@pytest.mark.parametrize(
    "said",
    [
        "My plan: wait here",  # of no choice by that name
        "east: step to (2, 10)",
        "east: step to (2, 1) and go",  # more than the effect
        "offer 12: you gain 29",  # of another one
        "ACTION: stay",
        None,
    ],
)
def test_other_words_behind_a_colon_stay(said):
    assert without_effects(said, lambda: LINES) == said


def test_games_that_list_strings_need_not_know_of_limits():
    coins = Coins()
    state = coins.reset(coins_key())
    found = choices_of(coins, state, 0, None)
    assert [choice.text for choice in found] == ["take 0", "take 1", "take 2", "take 3"]
    assert not any(choice.facts for choice in found)


def coins_key():
    from manyhands.core.env import episode_key

    return episode_key(0)
