"""Reading of answers: what counts of them, what is refused, and how long it takes."""

from __future__ import annotations

import re
import time

import pytest

from manyhands.core import answers
from manyhands.core.env import IllegalAction
from manyhands.core.talk import Channel

WAYS = re.compile(r"\b(?:north|south)\b")


@pytest.mark.parametrize(
    "text",
    [
        "North",
        "  **north.** ",
        '"north;"',
        "I think so.\nACTION: north",
        "ACTION: south\nno, wait\n> **Action:** `north`",
        "action = north",
        "## ACTION\uff1anorth",
        "ACTION:\n\n  north\n",
        "\u201cNorth\u201d",
    ],
)
def test_the_words_that_count(text):
    assert answers.read(text).plain == "north"


def test_parts_of_an_answer():
    found = answers.read("why\nACTION: (Don\u2019t  GO) . \n")
    assert (found.text, found.plain) == ("(Don\u2019t  GO)", "(don't go)")
    assert (found.raw, found.lined) == (" (Don\u2019t  GO) . ", True)
    assert not answers.read("go").lined


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "NoneType"),
        (3, "int"),
        ("", "empty"),
        (" .\n() ", "empty"),
        ("well\nACTION: **", "ACTION"),
        ("x" * 2001, "2001"),
    ],
)
def test_what_is_no_answer_is_refused_with_a_reason(text, reason):
    with pytest.raises(IllegalAction, match=reason) as error:
        answers.read(text, lambda why: IllegalAction(f"{why}. Answer north."))
    assert error.value.reason.endswith("Answer north.")


def test_the_limit_is_an_option():
    assert answers.read("x" * 3000, limit=3000).plain
    with pytest.raises(IllegalAction, match="11"):
        answers.read("x" * 11, limit=10)


@pytest.mark.parametrize(
    ("text", "rest", "say"),
    [
        ("north", "north", None),
        ("north; say: hello, you", "north", "hello, you"),
        ("north\nSAY: say: hello", "north", "say: hello"),
        ("**SAY:** hello\nACTION: north", "ACTION: north", "hello"),
        ("ACTION: north | say = hello", "ACTION: north", "hello"),
        ("north\r\n> say: a\r\nsay: hello\r\n", "north\r\n> say: a", "hello"),
        ("I go north.\n\n- say: hello", "I go north", "hello"),
        ("well\nACTION: say: hello", "", "hello"),
        ("well\nACTION:\nSAY: hello", "", "hello"),
        ("I say: hello", "I say: hello", None),
        ("say nothing", "say nothing", None),
    ],
)
def test_words_to_say(text, rest, say):
    assert answers.split_say(text) == (rest, say)
    channel = Channel(("a", "b"), ("hello",))
    assert channel.speech(text) == say


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("go north", ["north"]),
        ("not south, north", ["north"]),
        ("not south but north, never south", ["north"]),
        ("I don't go south so north", ["north"]),
        ("i won\u2019t go north", []),
        ("north instead of south", ["north"]),
        ("north rather than south; south", ["north", "south"]),
        ("do nothing", []),
    ],
)
def test_what_is_denied_is_not_meant(text, right):
    assert [found[0] for found in answers.meant(WAYS, text)] == right


def test_numbers():
    assert [answers.number(text) for text in ("5", "#5", "(12)", "option 3")] == [5, 5, 12, 3]
    assert [answers.number(text) for text in ("-1", "1.5", "5 north", "12345", "")] == [None] * 5
    assert answers.numbered("5. go north") == (5, "go north")
    assert answers.numbered("action 12) north") == (12, "north")
    assert answers.numbered("north") is answers.numbered("5") is None


def test_quoted_is_short():
    assert answers.quoted(" a\n") == "'a'"
    assert len(answers.quoted("x" * 99)) == 62


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("ACTION: north", ("north", None)),
        ("action : north", ("north", None)),
        ("**ACTION:** `north`", ("north", None)),
        ("**Action: north**", ("north", None)),
        ("- ACTION: <north>", ("north", None)),
        ("### ACTION:\n\n`north`", ("north", None)),
        ("```\nACTION: north\nSAY: hi\n```", ("north", "hi")),
        ("ACTION: north | SAY: hi", ("north", "hi")),
        ('ACTION: north; SAY: "hi: there"', ("north", "hi: there")),
        ("SAY: hi\nACTION: north", ("north", "hi")),
        ("ACTION: south\nSAY: no\nWait.\nACTION: north", ("north", None)),
        ("ACTION: north\nSAY: a\nSAY: b", ("north", "b")),
        ("ACTION: go to (1, 2)", ("go to (1, 2)", None)),
        ("<think>ACTION: south</think>ACTION: north", ("north", None)),
        ("ACTION: south, no ...</think>\nACTION: north", ("north", None)),
        ("ACTION: north\n<think>ACTION: south", ("north", None)),
        ("REACTION: north", (None, None)),
        ('"ACTION: north"', (None, None)),
        ("> ACTION: north", (None, None)),
        ("ACTION:", (None, None)),
        ("SAY: hi", (None, "hi")),
        ("", (None, None)),
        ("ACTION: south\nACTION: north\nSAY: hi", ("north", "hi")),
        ("ACTION: north; SAY: hi", ("north", "hi")),
        ("**ACTION**:\n`north`\nSAY:\nhi", ("north", "hi")),
        ("ACTION: south</Think>\nACTION: north", ("north", None)),
        ("ACTION: north\n<reasoning>ACTION: south", ("north", None)),
        ("<think>a</reasoning>ACTION: south</think>ACTION: north", ("north", None)),
        ("no line", (None, None)),
    ],
)
def test_replies_of_language_models(reply, right):
    assert answers.read_reply(reply) == right


@pytest.mark.parametrize(
    "piece",
    ["; ", " ", "\n", "say ", "say:", "\nsay", "ACTION:", "ACTION:\n", "<think>", "</think>",
     "not ", "north ", "a", "*", "5"],
)  # fmt: skip
def test_time_is_linear(piece):
    text = piece * (200_000 // len(piece))
    readers = [answers.find, answers.split_say, answers.read_reply, answers.number]
    readers += [answers.numbered, answers.denies, lambda text: answers.meant(WAYS, text)]
    for reader in readers:
        start = time.process_time()
        reader(text)
        assert time.process_time() - start < 2, reader
