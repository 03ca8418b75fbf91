"""Sentences are read word by word, or not at all."""

import pytest

from manyhands.core.grammar import Grammar, names, tokens, whole_number

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
