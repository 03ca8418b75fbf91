"""Reading of answers: what decides, what is said, what is refused, and how much work it is."""

from __future__ import annotations

import contextlib
import pickle
import sys

import pytest

from manyhands.core.env import IllegalAction
from manyhands.core.reading import answers, parts
from manyhands.core.reading.grammar import Grammar
from manyhands.core.talk import Channel

GRAMMAR = Grammar(
    {"north": ["[(go|walk) [to]] (north|up)"], "south": ["[(go|walk) [to]] (south|down)"]}
)


def mean(answer):
    found = GRAMMAR.read(answer.plain)
    return found[0].meaning if len(found) == 1 else None


def read(text, **options):
    return answers.decide(text, mean, **options)


@pytest.mark.parametrize(
    "text",
    [
        "North",
        "  **north.** ",
        '"north;"',
        "I think so.\nACTION: north",
        "no, wait\n**Action:** `north`",
        "> ACTION: south\nACTION: north",
        "action = north",
        "## ACTION\uff1anorth",
        "ACTION:\n\n  north\n",
        "\u201cNorth\u201d",
        "I go there, since south is far. ACTION: I walk up now",
        '{"action": "north"}',
        '{"thought": "south?", "Action": "go north", "say": "hi"}',
        'Well:\n```json\n{"action": "north"}\n```\nNot south.',
        '{"name": "act", "arguments": "{\\"action\\": \\"north\\"}"}',
        '[{"function": {"name": "act", "arguments": {"action": "north"}}}]',
        '{"tool_calls": [{"function": {"arguments": {"action": "north"}}}]}',
        "{x} {'a'} {\"action\": \"north\"}",
        '{"action": "go", "direction": "north"}',
        '{"action": "go", "to": "north"}',
        '{"action": {"type": "go", "direction": "north"}, "confidence": 0.9}',
        '{"action": {"name": "go", "arguments": {"direction": "north"}}}',
        '{"action": {"north": true}}',
        '{"action": {"north": true, "south": false}}',
        '{"north": true, "south": false}',
        '{"action": "north", "decision": "Go north"}',
        '{"action": "north", "decision": "the pot is there and it has room"}',
        '{"direction": "north", "cancelled": false}',
        "// south is far\nnorth",
        "north <!-- south is far -->",
        "Suggested action: south\nAction: north",
        '{"action": "north", "direction": "north", "turn": 3, "amount": 0}',
        '{"name": "north", "arguments": {}}',
        '{"name": "go", "arguments": {"direction": "north", "reason": "south is far"}}',
        '{"name": "choose_action", "arguments": {"direction": "north"}}',
        '{"type": "tool_use", "name": "go", "input": {"direction": "north"}}',
        '{"tool_calls": [{"function": {"name": "go", "arguments": "{\\"to\\": \\"north\\"}"}}]}',
        '```json\n{"direction": "north"}\n```',
        "south? <answer>north</answer>",
        "<ACTION> Go North! </ACTION>",
        "\\boxed{north}",
        "so $\\boxed{\\text{north}}$.",
        "South is tempting. [north]",
        "[Thought] South? No. [1] says so. [north]",
        "[note] south\nACTION: north",
        "see [south](south.html). [north]",
        "<think>ACTION: south</think>north",
        "ACTION: south, no ...</think>\nACTION: north",
        "ACTION: north\n<think>ACTION: south",
        "<think>a</reasoning>ACTION: south</think>ACTION: north",
        "ACTION: north\nACTION: go north!",
        "[north] [North]",
        "Your last action: south.\nACTION: north",
        "He wrote \"ACTION: south\".\nACTION: north",
        '{"action": "north"}\nACTION: south',
        "<answer>north</answer> [south]",
        "```\nnorth\n```",
        "SAY: shall we go [south]?\nnorth",
        "north; say: ACTION south",
    ],
)  # fmt: skip
def test_what_decides(text):
    assert read(text) == "north"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "NoneType"),
        (3, "int"),
        ("", "empty"),
        (" .\n() ", "empty"),
        ("well\nACTION: **", "empty"),
        ('{"action": null}', "empty"),
        ("x" * 20_001, "20001"),
        ("ACTION: north\nACTION: south", "differ"),
        ("[north] or [south]", "differ"),
        ("<answer>north</answer><answer>south</answer>", "differ"),
        ('{"action": "north"}{"action": "south"}', "differ"),
        ('{"action": "north", "action": "south"}', "no action"),
        ('{"action": "north", "decision": "south"}', "differ"),
        ('{"action": "north", "final_decision": "not that"}', "differ"),
        ('{"direction": "north", "valid": false}', "valid is false"),
        ('{"north": null}', "null"),
        ('{"last_direction": "north"}', "last_direction"),
        ('{"north": false}', "denies"),
        ("!north", "no action"),
        ("!go(to='north')", "no action"),
        ('action == "north"', "compares"),
        ('action != "north"', "compares"),
        ("// north", "empty"),
        ("<!-- north -->", "empty"),
        ("suggested action: north", "no action"),
        ("Expected action: north", "no action"),
        ("My planned action: north", "no action"),
        ("**Previous action:** north", "no action"),
        ("opponent's action: north", "no action"),
        ("north south", "no action"),
        ('{"action": "go", "direction": "north", "or": "south"}', "choice"),
        ('{"action": "north", "direction": "south"}', "no action"),
        ('{"action": "go", "avoid": "north"}', "denies"),
        ('{"action": {"avoid": "north"}}', "denies"),
        ('{"action": {"north": 1}}', "no action"),
        ('{"action": {"north": 1, "south": 0}}', "no action"),
        ('{"action": {"north": false}}', "empty"),
        ('{"name": "never", "arguments": {"direction": "north"}}', "denies"),
        ('{"partner": "north"}', "no action"),
        ('{"direction": "north"} is bad', "no action"),
        ("I won't go north", "denies"),
        ("north, unless you do", "condition"),
        ("north or south", "choice"),
        ("north?", "question"),
        ("north is better", "compares"),
        ("maybe north", "sure"),
        ("you go north", "others"),
        ("I looked around, I thought of this and of that, and in the end it is north", "ACTION"),
    ],
)
def test_what_is_no_answer_is_refused_with_a_reason(text, reason):
    with pytest.raises(IllegalAction, match=reason) as error:
        read(text, refuse=lambda why: IllegalAction(f"{why}. Answer north."))
    assert error.value.reason.endswith("Answer north.") and len(error.value.reason) < 200


def test_an_action_that_is_closed_is_refused_as_the_game_says():
    def closed(answer):
        raise IllegalAction("the way is blocked")

    with pytest.raises(IllegalAction, match="blocked"):
        answers.decide("[north] ACTION: south", closed)


def test_the_limit_is_an_option():
    assert read("x" * 3000 + "\nACTION: north") == "north"
    with pytest.raises(IllegalAction, match="11"):
        read("x" * 11, limit=10)


@pytest.mark.parametrize(
    ("text", "rest", "say"),
    [
        ("north", "north", None),
        ("north; say: hello, you", "north", "hello, you"),
        ("north\nSAY: say: hello", "north", "say: hello"),
        ("**SAY:** hello\nACTION: north", "ACTION: north", "hello"),
        ("ACTION: north | say = hello", "ACTION: north", "hello"),
        ("ACTION: north SAY: hello", "ACTION: north", "hello"),
        ("SAY: hello ACTION: north", "ACTION: north", "hello"),
        ("north\r\n> say: a\r\nsay: hello\r\n", "north", "hello"),
        ("I go north.\n\n- say: hello", "I go north.", "hello"),
        ("say: hello", "", "hello"),
        ("well\nACTION:\nSAY: hello", "well\nACTION:", "hello"),
        ('{"action": "north", "say": "hello"}', '{"action": "north", "say": "hello"}', "hello"),
        ('{"say": "hello"}', "", "hello"),
        ('{"say": "hello", "to": "player_1"}', "", "hello"),
        # More than speaking.
        (
            '{"direction": "north", "say": "hello"}',
            '{"direction": "north", "say": "hello"}',
            "hello",
        ),
        ('{"act": "go", "chat": "hello"}', '{"act": "go", "chat": "hello"}', "hello"),
        ("<think>say: no</think>north", "north", None),
        ("well\nACTION: say: hello", "", "hello"),
        ('{"action": "say: hello"}', "", "hello"),
        ('{"action": "north; say: hello"}', "ACTION: north", "hello"),
        ("<answer>north; say: hello</answer> yes", "<answer>north</answer>", "hello"),
        ("<answer>say: hello</answer>", "", "hello"),
        ("far [north; say: hello]", "[north]", "hello"),
        ("I say: hello", "I say: hello", None),
        ("say nothing", "say nothing", None),
    ],
)
def test_words_to_say(text, rest, say):
    assert parts.split_say(text) == (rest, say)
    assert Channel(("a", "b"), ("hello",)).speech(text) == say


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("north", None),
        ("no line", None),
        ('"ACTION: north"', None),
        ("Hm.\nACTION: north\nYes.", "ACTION: north"),
        ("Hm.\nACTION: north\nACTION: south", "ACTION: north\nACTION: south"),
        ('I think {"action": "north"}', "ACTION: north"),
        ('I {"action": "go", "to": "north"} think', "ACTION: go to north"),
        ('So {"action": "go", "way": "north"}', '{"action": "go", "way": "north"}'),
        ("far <answer>north</answer> far", "ACTION: north"),
        ("why [not] go\nACTION: north", "[not]\nACTION: north"),
    ],
)
def test_condensed_answers_mean_the_same(text, short):
    assert parts.condense(text) == short
    if short is not None:

        def outcome(answer):
            try:
                return read(answer)
            except IllegalAction as error:
                return error.reason

        assert outcome(short) == outcome(text)


@pytest.mark.parametrize(
    "text",
    [
        "ACTION: {}<|im_end|>",
        "ACTION: {}</s>",
        "{}<|eot_id|>\n<|start_header_id|>user<|end_header_id|>\n\nfold",
        "<|im_start|>assistant\n{}<|im_end|>",
        "<|channel|>analysis<|message|>I could fold.<|end|><|start|>assistant"
        "<|channel|>final<|message|>{}<|return|>",
        "ACTION: {}  # the pot is small",
        "ACTION: {}  // the pot is small",
        "[ACTION] {} [/ACTION]",
        "[THOUGHT] hm [/THOUGHT]\n[ACTION]: {}",
        "Okay, final move -> {}",
        "Selected action: {}",
        "Action (final): {}",
        "think: hm\nact: {}",
        "<scratchpad>fold, or not?</scratchpad>{}",
        "<plan>fold</plan>\nACTION: {}",
        "<output>Let me see.\nACTION: {}</output>",
        "<command>{}</command>",
        '{{"action": "{}" // the pot is small\n}}',
        '{{"action": "{}",}}',
        "{{'action': '{}', 'thought': 'hm'}}",
        '{{"role": "assistant", "content": "{}"}}',
        '{{"type": "action", "content": "{}"}}',
        "Given the situation, I will choose: {}",
        "The best action for me is: {}",
        "Okay, let me do this. {}",
    ],
)
def test_forms_of_models(text):
    assert (read(text.format("north")), read(text.format("go south"))) == ("north", "south")


@pytest.mark.parametrize(
    "text",
    [
        "<|im_end|>north",
        "<plan>north</plan>",
        "Action (rejected): north",
        "Action (last turn): north",
        "{'action': 'not north'}",
        "{'action': 'north', 'action': 'south'}",
        '{"role": "user", "content": "north"}',
        '{"type": "thought", "content": "north"}',
        "*goes to the pot* North",
        "ACTION: north  # or south?",
        "[ACTION] north [/ACTION] [ACTION] south [/ACTION]",
    ],
)
def test_forms_that_mean_nothing(text):
    with pytest.raises(IllegalAction):
        read(text)


def test_numbers():
    assert [answers.number(text) for text in ("5", "#5", "(12)", "option 3")] == [5, 5, 12, 3]
    assert [answers.number(text) for text in ("-1", "1.5", "5 north", "12345", "")] == [None] * 5
    assert answers.numbered("5. go north") == (5, "go north")
    assert answers.numbered("action 12) north") == (12, "north")
    assert answers.numbered("north") is answers.numbered("5") is None


def test_quoted_is_short():
    assert answers.quoted(" a\n") == "'a'"
    assert len(answers.quoted("x" * 99)) == 62


PIECES = ["; ", " ", "\n", "say ", "say:", "\nsay", "ACTION:", "ACTION:\n", "<think>", "</think>",
          "not ", "north ", "a", "*", "5", "[", "[a", "[a]", "{", '{"a":', '{"action": "north"}',
          '{"action": {"a": ', '{"name": "a", "arguments": ', '{"a": {"action": "x", "to": ',
          "<answer>", "</answer>", "\\boxed{", "action ", "- ", "```\n", ", say",
          "{'a': ", "{'a': 1, }", "<|im_end|>", "<|channel|>final<|message|>", "[ACTION]",
          "ACTION: a # ", "<!-- ", "// a\n"]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_work_is_linear(piece):
    """Twice as long an answer takes at most little more than twice as many steps."""

    def work(size):
        text, steps = (piece * size)[: size * 4], 0

        def count(frame, event, argument):
            nonlocal steps
            steps += 1
            return count

        sys.settrace(count)
        try:
            for reader in (read, parts.split_say, parts.condense):
                with contextlib.suppress(IllegalAction):
                    reader(text)
        finally:
            sys.settrace(None)
        return steps

    small, large = work(300), work(600)
    assert large < 2.5 * small + 500


def test_a_reason_is_made_when_it_is_asked_for():
    made = []

    def reason():
        made.append(1)
        return "the way is blocked"

    error = IllegalAction(reason, " (wait)")
    assert not made
    assert error.reason == "the way is blocked"
    assert str(error) == "the way is blocked (wait)"
    assert error.args == (str(error),)
    assert repr(error) == "IllegalAction('the way is blocked (wait)')"
    again = pickle.loads(pickle.dumps(error))
    assert (again.reason, str(again), len(made)) == (error.reason, str(error), 1)
