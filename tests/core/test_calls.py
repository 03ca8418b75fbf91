"""Tool calls in tags and lines, as models write them without JSON."""

import pytest

from manyhands.core.env import IllegalAction
from manyhands.core.reading.answers import decide
from manyhands.core.reading.calls import calls_in

MOVES = ("go to drawer 2", "go to drawer 3", "take cup 1 from shelf 1", "wait", "north")


def mean(answer):
    said = answer.plain.replace("_", " ").replace(",", "")
    return said if said in MOVES else None


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ('<invoke name="go_to"><parameter name="target">drawer 2</parameter></invoke>', 0),
        (
            '<function_calls>\n<ns:invoke name="go_to">\n<parameter name="x">drawer 3</parameter>\n'
            "</ns:invoke>\n</function_calls>",
            1,
        ),
        ('<function=go_to>{"receptacle": "drawer 2"}</function>', 0),
        ("<function=go_to>\n<parameter=target>\ndrawer 2\n</parameter>\n</function>", 0),
        ("<tool_call><function=wait></function></tool_call>", 3),
        ("<tool>\n <name>go_to</name>\n <arg>drawer 3</arg>\n</tool>", 1),
        ("The cup is there.\n\nAction: go to\nAction Input: drawer 2", 0),
        ('Thought: it is near.\nAction: go to\nAction Input: "drawer 3"', 1),
        ("Action: wait\nAction Input: {}", 3),
        ("tool: go_to\nargs: {place: drawer 2}", 0),
        ('name: take\narguments: {"object": "cup 1", "source": "shelf 1"}', 2),
        ('take(object="cup 1", source="shelf 1")', 2),
        ('<invoke name="act"><parameter name="action">north</parameter></invoke>', 4),
        ('env.step("north")', 4),
        ('act("wait")', 3),
        ("<go>to drawer 2</go>", 0),
        ('{"hand": "full", "decision": "wait"}', 3),
        ('<go_to target="drawer 2"/>', 0),
        ("<go_to target='drawer 3'></go_to>", 1),
        ('<action type="go to" target="drawer 2"/>', 0),
        ("<action>\n <type>go to</type>\n <target>drawer 3</target>\n</action>", 1),
        ("<take><object>cup 1</object><source>shelf 1</source></take>", 2),
        ('{"action_name": "go_to", "action_args": {"target": "drawer 2"}}', 0),
        # Not these.
        ('<avoid action="north"/>', None),
        ('<last move="north"/>', None),
        ("<plan><move>north</move></plan>", None),
        ('<go_to target="drawer 2" target="drawer 3"/>', None),
        ('<go_to target="drawer 2" unless="north"/>', None),
        ("<tool>wait</tool>", 3),
        ('<go_to target="drawer 2"/>', 0),
        ("<take object='cup 1' source='shelf 1'></take>", 2),
        ('<action name="go to" place="drawer 3"/>', 1),
        ("<action>\n <name>north</name>\n <reason>it is near</reason>\n</action>", 4),
        ("<move><verb>go to</verb><place>drawer 2</place></move>", 0),
        ('CALL take(object="cup 1", source="shelf 1")', 2),
        ('{"action": "go to", "args": ["drawer 2"]}', 0),
        ('{"tool": "go to", "args": ["drawer 3"]}', 1),
        ('{"act": "go to", "obj": "drawer 3", "utterance": "which one?"}', 1),
        ("<go><to>drawer 2</to></go>", 0),
        ('<call tool="go_to"><target>drawer 3</target></call>', 1),
        ('{"verb": "go to", "where": "drawer 2"}', 0),
        ('<action name="north"/>', 4),
        ("I see.\n<answer><action><name>go to</name><place>drawer 2</place></action></answer>", 0),
        ('<go_to>{"target": "drawer 3"}</go_to>', 1),
        # Not these.
        ('{"type": {"of": "move"}, "value": ["north"]}', None),
        ('<avoid target="drawer 2"/>', None),
        ('<go_to target="drawer 2" target="drawer 3"/>', None),
        ('{"action": "go to", "args": ["drawer 2", "drawer 3"]}', None),
        ("<action><name>north</name><unless>it is far</unless></action>", None),
        ('avoid("north")', None),
        ("<avoid>drawer 2</avoid>", None),
        ("<thinking>north</thinking>", None),
        ('<invoke name="go_to"><parameter name="not">drawer 2</parameter></invoke>', None),
        ("Action: go to\nAction Input: not drawer 2", None),
        ("Action: go to\nAction Input: drawer 2 or drawer 3", None),
        (
            '<invoke name="go_to"><parameter name="a">drawer 2</parameter></invoke>\n'
            '<invoke name="go_to"><parameter name="a">drawer 3</parameter></invoke>',
            None,
        ),
        ('<invoke name="go_to">the drawer <parameter name="a">2</parameter></invoke>', None),
        ('<invoke name="go_to"><a>drawer 2</a><a>drawer 3</a></invoke>', None),
        ("tool: go_to\nargs: {place: drawer 2, place: drawer 3}", None),
    ],
)
def test_calls(text, move):
    if move is None:
        with pytest.raises(IllegalAction):
            decide(text, mean)
    else:
        assert decide(text, mean) == MOVES[move]


def test_long_texts_are_not_searched():
    for text in ("<tool>" * 5_000, "<invoke name=a>" * 5_000, "tool: a\nargs: " * 5_000):
        assert calls_in(text) == []
    assert calls_in("<tool " * 300) == [] and calls_in("tool:\n" * 300) == []
    assert calls_in("<go>" * 200 + "north" + "</go>" * 200) == []  # too deep
