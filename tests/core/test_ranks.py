"""Choices that are named by their place."""

import pytest

from manyhands.core.choices import Choice, Form
from manyhands.core.errors import IllegalAction
from manyhands.core.reading.ranks import by_choice, ranked

LISTED = [Choice("north"), Choice("east", "step to (2, 1)"), Choice("stay", "wait here")]
FORM = Form("offer {price}", "any whole price from 0 to 30", {"price": (0, 30)})
OFFERS = [Choice(f"offer {n}", f"you gain {40 - n}", n, form=FORM) for n in range(31)]
MIXED = [Choice("pass"), Choice("accept"), *OFFERS, Choice("walk away")]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("the second option", "east"),
        ("I'll take the last of these, please.", "stay"),
        ("Option? No idea, the first choice", None),
        ("the 1st one on the list", "north"),
        ("the fourth option", None),
        ("the second one", None),  # of other things
        ("not the second option", None),
        ("the second option is bad", None),
        ("the second option?", None),
        ("option b", "east"),
        ("Option (C).", "stay"),
        ("option d", None),
        ("my choice is option b", "east"),
        ("the second to last option", "east"),
        ("the middle option", "east"),
        ("I'll go with the second option, since it is near.", "I choose east, since it is near."),
        ("The last option because I am tired", "stay because I am tired"),
        ("After weighing both, I choose the third option", "stay"),
        ('{"action": "the second option"}', '{"action": "east"}'),
        ("It is near.\nACTION: the second option", "It is near.\nACTION: east"),
        ("<answer>option A</answer>", "<answer>north</answer>"),
        ("not my last choice", None),
        ("Option A: stay. Option B: north. I choose north.", None),
        ("The first option is far, the second option near", None),
        ("option 2: east", "east"),
        ("Option two, east, please", "east, please"),
        ("option 1: stay", None),
        ("2. east", "east"),
        ("3. stay.", "stay."),
        ("3. north", None),
        ("1. stay", "stay"),
        ("1. stay\n2. north", None),
        ("Final choice: north", None),
        ("First option: stay", None),
        ("No clue, north", None),
        ("the one before the last", None),
        (3, None),
    ],
)
def test_a_choice_is_named_by_its_place_in_the_list(said, named):
    assert ranked(said, lambda: LISTED) == (said if named is None else named)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("the second one", "east"),
        ("Second one, please", "east"),
        ("the last", "stay"),
        ("2nd", "east"),
        ("the middle one", "east"),
        ("I'd pick the first one, it is free", "I choose north, it is free"),
        ("Second, the way is long", None),  # counts reasons
        ("the second one is bad", None),
        ("the last step", None),
        ("first north", None),
        ("the first two", None),
        ("the second one or the third", None),
        ("not the second one", None),
        ("ACTION: the second one", "ACTION: east"),
    ],
)
def test_one_is_a_choice_where_the_game_has_no_such_thing(said, named):
    assert ranked(said, lambda: LISTED, alone=True) == (said if named is None else named)

    def read(words):
        if words == said:
            raise IllegalAction("nothing")
        return words

    if named is None:
        with pytest.raises(IllegalAction):
            by_choice(said, lambda: LISTED, read)
    else:
        assert by_choice(said, lambda: LISTED, read) == named
    assert by_choice(said, lambda: LISTED, lambda words: words) == said


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("the second option", "accept"),
        ("the last option", "walk away"),
        ("the third option", None),  # a line that stands for many
        ("the fifth option", None),  # it depends on what is shown
        ("the middle option", None),
        ("the second to last option", None),
    ],
)
def test_a_place_counts_where_it_is_the_same_in_what_is_shown(said, named):
    assert ranked(said, lambda: MIXED) == (said if named is None else named)


def test_the_column_of_a_square_is_no_letter_of_the_list():
    assert ranked("option b", lambda: [Choice("a1"), Choice("b1")]) == "option b"
