"""Sentences are read word by word, or not at all."""

import sys

import pytest

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.word_order import as_own
from manyhands.core.reading.words import names, tokens, whole_number

GRAMMAR = Grammar(
    {
        "raise": ["(raise|bet) [by] [{n} [chip]]"],
        "give": ["give [{count}] {thing} [to {who}]", "give {who} [{count}] {thing}"],
        "column": ["{ordinal} column"],
    },
    {
        "thing": {"wood": "wood", "iron ore": "ore", "sheep": "sheep"},
        "who": names(["chef_0", "chef_1"]),
    },
)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("I'll go, please!", ["i'll", "go", "please", "."]),
        ("twenty-five, ninety nine", ["25", "99"]),
        ("chef_1 (2, -3)", ["chef", "1", "2", "-3"]),
        ("3-4 and well-known \u2013 1.5", ["3", "-", "4", "and", "well", "known", "-", "1.5"]),
        ("- a\n- b", ["a", ".", "-", "b"]),
        ("2nd, 3 nd", ["2nd", "3", "nd"]),
        ("a \u2192 b -> c", ["a", "->", "b", "->", "c"]),
        ("\u0663 \u00bd \U0001f642", ["\u0663", "\u00bd"]),
    ],
)
def test_tokens(text, right):
    assert tokens(text) == right


@pytest.mark.parametrize(
    ("text", "meaning", "values"),
    [
        ("raise", "raise", {}),
        ("I'm raising by two chips, thank you", "raise", {"n": 2}),
        ("Okay, let me bet 25 then.", "raise", {"n": 25}),
        ("give a sheep to chef 1", "give", {"count": 1, "thing": "sheep", "who": 1}),
        ("Give chef_0 three iron ores", "give", {"who": 0, "count": 3, "thing": "ore"}),
        ("the second column", "column", {"ordinal": 2}),
        ("7th column", "column", {"ordinal": 7}),
    ],
)
def test_every_word_counts(text, meaning, values):
    (reading,) = GRAMMAR.read(text)
    assert reading.meaning == meaning and reading.values.items() >= values.items()


@pytest.mark.parametrize(
    "text",
    ["", "raise or give wood", "don't raise", "raise?", "raise if you can", "raise 1.5",
     "raise 1 2", "you raise", "raise the roof", "give wood to chef_2", "raise \u0663",
     "raise " * 90, "I will", "raised", "the column"],
)  # fmt: skip
def test_what_is_left_over_makes_it_mean_nothing(text):
    assert GRAMMAR.read(text) == []


def test_two_readings_are_two():
    grammar = Grammar({"a": ["go {x:n} [{y:n}]"], "b": ["go {n}"]})
    assert {reading.meaning for reading in grammar.read("go 3")} == {"a", "b"}


def test_courtesy_can_be_switched_off_and_words_kept():
    assert Grammar({1: ["north"]}, courtesy=False).read("I go north") == []
    assert Grammar({1: ["yes"]}, keep=["yes"]).read("yes, yes") == []
    assert len(Grammar({1: ["yes"]}).read("yes, yes")) == 1


@pytest.mark.parametrize("pattern", ["(a|b", "a)", "a]", "{nothing}", "[a"])
def test_patterns_are_checked(pattern):
    with pytest.raises(ValueError):
        Grammar({1: [pattern]})


def test_whole_numbers():
    found = [whole_number(token) for token in ("12", "-3", "seven", "1.5", "\u0663", "9" * 12, "-")]
    assert found == [12, -3, 7, None, None, None, None]


TURNED = Grammar(
    {
        "put": ["put {thing} (in|into|on|onto) {place}", "put {thing} (in|down)"],
        "carry": ["carry {thing} [over] to {place}"],
        "fetch": ["fetch {thing}"],
        "go": ["go [off|over|back] to {place}"],
        "chop": ["chop {thing}"],
        "bet": ["bet [{n} chip]"],
    },
    {"thing": {"onion": "onion", "egg": "egg"}, "place": {"pot": "pot", "counter": "counter"}},
    short={"fetch": ["[(1|one)] {thing}"], "go": ["[over|back] to {place}"]},
)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("An onion is what I shall fetch.", "fetch"),
        ("The onion is what I'll put into the pot.", "put"),
        ("Off to the pot I go.", "go"),
        ("Into the pot I put the onion.", "put"),
        ("In goes the onion!", "put"),
        ("Into the pot goes the onion.", "put"),
        ("The onion goes onto the counter.", "put"),
        ("Into the pot with this onion.", None),  # no word is left out: "this"
        ("Into the pot with the onion.", "put"),
        ("With the onion over to the pot.", "carry"),
        ("Let the egg be chopped.", "chop"),
        ("Great, I bet two chips.", "bet"),
        ("Right, a bet from me, captain.", "bet"),
        ("One onion, please.", "fetch"),
        ("Back to the pot, chef!", "go"),
    ],
)
def test_turned_orders_and_things_alone(text, meaning):
    assert TURNED.meaning(text) == meaning


@pytest.mark.parametrize(
    "text",
    ["The onion is what I see.", "The onion is what you fetch.", "What I fetch is hot.",
     "You go off to the pot.", "Back then I go to the pot.", "The onion goes off.",
     "Here goes nothing.", "The onion usually goes into the pot.", "In went the onion.",
     "He goes into the pot.", "Where the onion goes.", "Let it be.", "Let the egg be.",
     "The egg is chopped.", "I'm onion.", "That onion!", "Nice onion.", "Great bet.",
     "Onion is hot.", "No onion.", "Onion or egg.", "Right, down.", "Good pot.",
     "With the onion I see the pot."],
)  # fmt: skip
def test_what_is_no_move_in_any_order(text):
    assert TURNED.read(text) == []


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("player_0 bets one chip", "I bets one chip"),
        ("Player 0 will bet", "I will bet"),
        ("player_0 is going to bet", "I'm going to bet"),
        ("player_0 would like to bet", "I would like to bet"),
        ("player_1 bets", "player_1 bets"),
        ("player_0 bet", "player_0 bet"),
        ("player_0 folded", "player_0 folded"),
        ("player_0 is next", "player_0 is next"),
        ("player_0 has chips", "player_0 has chips"),
        ("player_0's bets", "player_0's bets"),
        ("player_01 bets", "player_01 bets"),
        ("the bet of player_0", "the bet of player_0"),
    ],
)
def test_own_names(text, right):
    assert as_own(text, "player_0") == right


@pytest.mark.parametrize("piece", ["onion ", "goes in ", "what i ", "the onion is what i put ",
                                   "with ", "let be ", "off i go ", "right, ", "one "])  # fmt: skip
def test_work_of_reading_is_linear(piece):
    def work(count):
        steps = 0

        def step(frame, event, argument):
            nonlocal steps
            steps += 1
            return step

        sentence = " ".join((piece * count).split()[:count])
        sys.settrace(step)
        try:
            TURNED.read(sentence)
        finally:
            sys.settrace(None)
        return steps

    assert work(72) < 2.5 * work(36) + 500
