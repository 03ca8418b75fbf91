"""A slip of the pen is mended where it can be but one word of the game, and nothing else is."""

from __future__ import annotations

import time

import pytest

from manyhands.core.env import IllegalAction
from manyhands.core.reading import slips
from manyhands.core.reading.answers import decide
from manyhands.core.reading.grammar import Grammar

GRAMMAR = Grammar(
    {
        "north": ["(go|move) north", "northward"],
        "south": ["(go|move) south"],
        "raise": ["raise [by] {n}"],
        "wheat": ["(take|collect) wheat"],
        "throw": ["throw [the] onion"],
        "chase": ["chase [the] {who}"],
        "east": ["(go|move) east"],
        "down": ["(go|move) down", "salt [the] soup"],
    },
    {"who": {"pursuer": 0, "rabbit": 1}},
    short={"north": ["north"], "south": ["south"], "east": ["east"], "down": ["down"]},
)
READ = 0


def read(text, me="player_0"):
    def mean(answer):
        global READ
        READ += 1
        return GRAMMAR.meaning(answer.plain)

    try:
        return decide(text, mean, me=me)
    except IllegalAction:
        return None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("nroth", "north"),
        ("Go Norht!", "north"),
        ("I'll go sotuh, please", "south"),
        ("norrth", "north"),
        ("nothward", "north"),  # "northward" without a letter
        ("rasie by 4", "raise"),
        ("trhow the onoin", "throw"),
        ("ACTION: go soouth", "south"),
        ('{"action": "go nroth"}', "north"),
        ("My thoughts are long.\n\n**go nroth**", "north"),
        ("Chase the rabbbit", "chase"),
        ("dwon", "down"),  # of four letters, two neighbours that are swapped
        ("go esat", "east"),
        ("mvoe north", "north"),
    ],
)
def test_a_slip_is_read_as_the_one_word_that_is_near(text, meant):
    assert read(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "sorth", "go sorth",  # north or south
        "raised by 4", "raiser by 4",  # of another time, or of another
        "threw the onion", "throe the onion",  # words of their own
        "collect cheat", "take cheat", "collect wheal",  # neither the first letter nor the last
        "go nrth", "go nort", "easd", "eats", "wset",  # of four letters
        "slat the soup", "raise by fuor", "don't go esat", "go esat?",
        "go norrrth", "go nrtho",  # two slips
        "go wetlands", "zzzzz",
        "raise by thre", "raise by threee", "raise by fuor",  # numbers
        "chase pursuer_1", "chase the pursur", "chase pursur_1",  # names
        "raise by 4x", "gonorth",
        # What is refused stays refused, and so it does with a slip in it.
        "don't go nroth", "do not go nroth", "never go nroth", "nevver go nroth", "neverr go north",
        "go nroth?", "should I go nroth?", "shuold I go north", "I woudl go north",
        "if he waits, go nroth", "go nroth unles he does", "unlses he does, go north",
        "go nroth or south", "go nroth or sotuh", "either nroth or sotuh", "eithr go north or not",
        "maybe nroth", "maybbe north", "perhpas north", "not nroth", "anything but nroth",
        "player_1: go nroth", "you go nroth", "he says go nroth", "they wnat me to go north",
        "I refuse to go nroth", "I refsue to go north", "insetad of north", "rahter not north",
        "next turn I go nroth", "I was about to go nroth but no", "nroth is too risky",
        "nroth nroth sotuh", "ACTION: nroth\nACTION: sotuh", "go nroth, then sotuh",
    ],
)  # fmt: skip
def test_what_is_no_slip_or_is_a_trap_stays_refused(text):
    assert read(text) is None


def test_what_is_read_anyway_is_read_once_and_what_is_said_inside_is_not_mended():
    global READ
    READ = 0
    assert read("go north") == "north"
    assert READ == 1

    inner = []

    def asks_another(answer):
        inner.append((answer.plain, read(answer.plain)))
        return inner[-1][1]

    # Only the whole answer is mended, not what a reader asks another one of.
    assert decide("go nroth", asks_another) == "north"
    assert ("go nroth", None) in inner and ("go north", "north") in inner


def test_a_long_answer_of_unknown_words_takes_no_longer_for_each_word():
    words = [f"n{chr(97 + k % 26)}{chr(97 + k // 26)}orth" for k in range(600)]
    for answer in (" ".join(words), " ".join(words) + " go nroth", "go nroth " * 2000):
        start = time.perf_counter()
        assert read(answer) is None
        assert time.perf_counter() - start < 2
    few = words[: slips.MOST_UNKNOWN + 1]
    assert slips.mended(" ".join(few), " ".join(few), [GRAMMAR]) == " ".join(few)
    assert slips.mended("nroth sotuh rasie trhow", "nroth sotuh rasie trhow", [GRAMMAR]) == (
        "nroth sotuh rasie trhow"  # four slips are no slips
    )
