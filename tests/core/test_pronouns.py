"""Pronouns in answers."""

from __future__ import annotations

import pytest

from manyhands.core.reading.pronouns import MOST, before_it, named

OF_IT = (before_it("place", "open shut"), before_it("thing", "take pick_up"))
PLACES, THINGS, ROOMS = {"shelf": (1, 2), "desk": (3,)}, {"mug": (1, 2), "pen": (5,)}, {"den": (7,)}


def name(said, start):
    for kind, known in (("place", PLACES), ("thing", THINGS), ("room", ROOMS)):
        slots = known.get(said[start])
        if slots:
            yield kind, frozenset(slots), 1
            following = said[start + 1 : start + 2]
            if following and following[0].isdigit() and int(following[0]) <= len(slots):
                yield kind, frozenset([slots[int(following[0]) - 1]]), 2


def read(text):
    return named(text, name, OF_IT, ("place", "room"), lambda meaning: meaning == {3})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("The pen is on shelf 2, so I go there.", "The pen is on shelf 2, so I go to shelf 2."),
        ("Shelf 2 it is: head back there", "Shelf 2 it is: head back to Shelf 2"),
        ("The den is next. I walk over there!", "The den is next. I walk over to den!"),
        # The player is at the desk.
        (
            "Not at the desk but on shelf 1; go there",
            "Not at the desk but on shelf 1; go to shelf 1",
        ),
        ("I need a mug. Mug 2 is here: I take it", "I need a mug. Mug 2 is here: I take Mug 2"),
        ("A pen! I pick it up, I pick up it", "A pen! I pick it up, I pick up pen"),
        (
            "Mug 1 is in the desk: open it and take it",
            "Mug 1 is in the desk: open desk and take Mug 1",
        ),
    ],
)
def test_a_pronoun_is_the_one_thing_named_before(said, meant):
    assert read(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "I go there",
        "go there: shelf 1",
        "Shelf 1 or shelf 2: I go there",
        "A mug and a pen: I take it",
        "Shelf 1 is where I go there is nothing else",
        "The den: open it",
        "The desk is here, I go there",
        "ACTION: shelf 1, I go there",
        "The pen is on shelf 2, so I go there." + " " * MOST,
    ],
)
def test_where_two_or_none_are_named_it_stays(said):
    assert read(said) == said


def test_a_line_of_the_choices_stays_as_it_is_with_its_effect():
    choices = ["take mug 1", "go to desk"]
    for text in ("After all: take mug 1: take it", "the desk, TAKE MUG 1: take it"):
        assert named(text, name, OF_IT, ("place", "room"), listed=choices) == text
    text = "take mug 1; then: take it"
    found = named(text, name, OF_IT, ("place", "room"), listed=choices)
    assert found == "take mug 1; then: take mug 1"
    assert named(3, name, OF_IT, ("place",)) == 3


def test_there_is_nowhere_where_no_places_are_known():
    text = "the shelf is free, so go there"
    assert named(text, name, OF_IT, ()) == text
