"""A step is found by its head, and only where all of the sentence is about it."""

import pytest

from manyhands.core.reading.steps import step_clauses

STEPS = {
    "I keep on westward to line up with the food.": "go west",
    "Another cell down gets me closer.": "go down",
    "I'm going for the last food, so west again.": "go west",
    "One more step to the left brings me right beside the tree.": "go left",
    "Continue upward another cell, since the tree is up there.": "go up",
    "The food lies to the northwest, so I head west along my row.": "go west",
    "I want to face the box below, so another step south.": "go south",
    "North it is; I leave the box behind.": "go north",
    "I'll walk back north to where the onions are.": "go north",
    "On we go eastwards.": "go east",
    "I go west, one more step.": "go west",
    "Key in hand, I walk east.": "go east",
}
NONE = [
    "I keep up the pursuit.",
    "One step left.",
    "Right again.",
    "One step north is blocked.",
    "Go down to the bottom cell of my side.",
    "One step north is the wall.",
    "I walk up to the box.",
    "I step right beside the tree.",
    "I walk to the northern wall.",
    "The box is north of me, so I wait there.",
    "He goes north to the door.",
    "player_1, go north to the door.",
    "Partner, go north.",
    "I would go north to the door.",
    "I go north, then east.",
    "I go north or east.",
    "I go north once the door is open.",
    "I went north to the door.",
    "Going north is too slow.",
    "I don't go north.",
    "Should I go north?",
    "Go west, which loses time.",
    "Move north by 2.",
    "One step north brings me into trouble.",
    "The food goes north.",
    "West, west, west.",
]


@pytest.mark.parametrize("text", STEPS)
def test_a_step_is_found_with_what_is_told_around_it(text):
    assert {clause.main for clause in step_clauses(text)} == {STEPS[text]}


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_step_or_more_than_one_is_none(text):
    assert not list(step_clauses(text))
