"""Sentences that say more than an action: reasons, alternatives that are ruled out, and names."""

from __future__ import annotations

import time

import pytest

from manyhands.core.env import IllegalAction
from manyhands.core.reading import answers, asides
from manyhands.core.reading.grammar import Grammar

GRAMMAR = Grammar(
    {
        "north": ["[(go|walk) [to]] (north|up)"],
        "south": ["[(go|walk) [to]] (south|down)"],
        "do": ["do"],
        "give": ["give {n} [coin]"],
    }
)


def mean(answer):
    found = GRAMMAR.read(answer.plain)
    if len(found) == 1 and found[0].meaning == "give":
        raise IllegalAction("there are no coins")
    return found[0].meaning if len(found) == 1 else None


def read(text, **options):
    return answers.decide(text, mean, **options)


@pytest.mark.parametrize(
    "text",
    [
        "I go north because the door is there",
        "You search the south room, I'll go north.",
        "You stay here, I'm going north",
        "I go north, you keep looking for the key",
        "I go north; player_1, wait by the door",
        "Go north, then I can open the door.",
        "go north, then open the door next step",
        "Go north, then I'm beside the door",
        "before resting I go north",
        "Never mind the door, I go north",
        "now that I hold the key I go north",
        "Go north, player_1 can open the door",
        "I go north and be ready to open the door",
        "maybe it is locked; I go north",
        "better go north",
        "me go north",
        "Yay, north!",
        "What's in there? I go north.",
        '{"skill": "go", "args": {"way": "north"}}',
        "north, since it's near",
        "I'll walk up so that I can see more",
        "I'll go north so I can see more.",
        "north \u2013 to reach the door",
        "go north to get to the far end of the south corridor",
        "To reach the door, I'll go north.",
        "Since the door is open, I'll go north.",
        "Because of the rain, the mud and the wind, I go north",
        "The door is open, so I go north.",
        "South is blocked. Therefore, I will go north.",
        "I cannot swim; thus north",
        "The door is open. It is near. I'll go north.",
        "- The door is open\n- It is near\n\nI go north.",
        "The door is open, so I go north, not south.",
        "Hence north.",
        "In the end, I go north",
        "I've decided: north",
        "ACTION - north",
        "ACTION \u2192 go north",
        'act("north")',
        "choose_action(action='go north')",
        "Okay player_1, I'm going north.",
        "player_1, I'll go north",
        "There is nothing I can do but go north",
        "The door is shut; nothing for me to do but go north.",
        "I have no other choice but to go north",
        "Keys are here or there, so I go north",
        "north, which is free",
        "Go north and hope that it stays open",
        "I go north, ready to go south next",
        "The goal asks for a key, so I go north",
        "Next the key: north",
        "Next stop is the door: I go north",
        "Let player_1 pass: north",
        "Let it run, I go north.",
        "I'll use the time to look around: go north",
        "To open the door I need a key: go north",
        "To open the door I go north",
        "player_1 can go south, I go north",
        "I go north; player_1 can go south.",
        "player_1 has the key, so the door is next: I go north",
        "player_1 hasn't moved; north.",
        "The door is two cells down, so I start by going north",
        "You see a door. Go north.",
        "I go north and be done",
        "I cannot swim, and the door is not far.\n\n**North**",
        "He may come or not, who knows.\n\nNorth",
        "1. The door is open.\n2. It is near.\n3. Therefore I go north.",
        "Option 1: south - blocked. Option 2: north - free. I pick north.",
        "My reasoning: the door is near. My answer is north.",
        "First, I'll go north",
        "I think the optimal move is to go north.",
        "I go north and see how my partner reacts",
        "I go north, planning to go south if it is shut",
        "North. If he follows, I will go south.",
        "Going north brings me closer to the door.",
        "Going north is the only sensible move with this key",
        "I'll reach the door by going north",
        "North. He may be there.",
        "I could go south, but I go north.",
        "Partner, I go north",
        "I'll go north, my friend!",
        "north, not south",
        "go north rather than south",
        "I go north instead of going south",
        "I'd rather go north than south",
        "not south, but north",
        "Instead of south, I go north.",
        "I won't go south; I'll go north.",
        "don't go south; go north",
        "south? No. I go north.",
        "No, I go north.",
        "north (the door is open)",
        "The door is open. Go north.",
        "Go north. The door is open.",
        "keep going north",
        "I have to give 3 coins, so I go north",
        "north before the door shuts",
        "go north so the others can pass",
        "go(to='north')",
        "I'd better go north",
        "I won't give 3 coins; I'll go north.",
        "I could stay here, but the door is better, so north.",
        "ACTION: north, because the door is open",
        '{"action": "north because the door is open"}',
        '{"selected_action": "north"}',
        '{"response": {"action": "north", "thought": "south?"}}',
        "south? <final_answer>north</final_answer>",
        "My map decides: I go north",
        "I want a better view -> north",
        "I go north too",
        "I also go north",
        "It is still raining; north",
        "North. This brings me to the door.",
        "north; it is the shortest way to the south corridor",
        "After weighing the options, I go north.",
        "I think north is best",
        "So I think that going north is best here",
        "The safest move is to go north.",
        "I want to go north to reach the door",
        "player_1 is near the wall. Go north.",
        "player_1 has a coin: go north",
        "My plan: north",
        "Best option: go north",
    ],
)
def test_what_stands_beside_an_action_is_read_past(text):
    assert read(text) == "north"


@pytest.mark.parametrize(
    "text",
    [
        "I go north if you do, because it is near",
        "I won't go north because it is far",
        "do not south",
        "ACTION: do not go south",
        "Should I go north because it is near?",
        "He goes north because he is thirsty",
        "I went north because it is near",
        "go north because you said so",
        "I'll go north. Just kidding.",
        "I'll go north. Or not.",
        "I'll go north. I'll go south.",
        "I'll go south. No, I'll go north.",
        "First I'll open the door. I'll go north.",
        "Suppose that I am brave. I'll go north.",
        "My friend told me his plan. I'll go north.",
        "You are late, so go north",
        "I refuse, so go north",
        "I'm not sure, so north",
        "oh sure, north, because that worked so well",
        "player_1, go north",
        "Okay player_1, go north",
        "partner, go north",
        "north, not now",
        "north, not north",
        "north, not because it is near",
        "rather than north",
        "So you go north",
        "as if I would go north because of that",
        "action -1",
        'undo("north")',
        'act("north", "south")',
        "go(to='north') + go(to='south')",
        "go(to='north')(to='south')",
        "go(to='north', **{})",
        "not(action=north)",
        "north (not)",
        "north (player_1)",
        "player_1 is there. Go north.",
        "South. North.",
        "stop going north",
        'He said: "I go north because it is near"',
        "It would be good to go north because it is near",
        "The old man: I go north",
        "My first thought: I go north",
        "My move of last time: I go north",
        "No good idea: I go north",
        "He wants a better view -> north",
        "north is fine too",
        "e.g. north",
        "North. That is where he went.",
        "North. It is better to stay.",
        "North. That was a joke.",
        "After going south, I go north",
        "I am not going to say it: north",
        "It is too early to go: north",
        "Is north best?",
        "north is best avoided",
        "I think he is best",
        "I refuse to go north",
        "I hesitate to go north",
        "player_1 is going: north",
        "player_1 is on his way: north",
        "player_1 has decided. Go north",
        "player_1 is near and says: go north",
        "Another option: go north",
        "There is nothing I hate but going north",
        "There is nothing to do",
        "north, which is wrong",
        "I hope to go north",
        "Go north and hope to go south",
        "Next player: north",
        "Next the other player: north",
        "Let player_1 go north",
        "let us see: player_1 goes north",
        "To go north I need luck",
        "to be clear, player_1: I go north",
        "player_1 can go north",
        "player_1 can go north, and he says I go south",
        "I don't go north; player_1 can go south",
        "player_1 is clear: I go north",
        "The plan of player_1 is: I go north",
        "player_1 has moved: north",
        "Two cells down. North.",
        "You must see it. Go north.",
        "I go south.\n\n**North**",
        "- south\n- west\n\nNorth",
        "player_1 says:\n\nnorth",
        "Anything but\n\n**north**",
        "Is it far?\n\nNorth",
        "If it is open, fine. I pick north or south.",
        "You said so. I pick north.",
        "I go south. I pick north.",
        "Going north brings me into trouble",
        "Going north is never right",
        "He wins by going north",
        "I could reach it by going north",
        "North. He went there.",
        "North. South is free.",
        "I could go north, but it is shut",
        "I could go north, but I go north",
        "You go north, I'll go north if you do",
        "You help me, I'll go north",
        "You go north and I'll go north",
        "I go north; player_1, no",
        "North, then it is south",
        "Go north to get a coin, go south",
        "Nothing to do here, north",
        "wait, player_1 can go north",
        "better not go north",
        "I no go north",
        "before I go north, you go",
        '{"skill": "north", "args": {"way": "south"}}',
    ],
)
def test_what_turns_an_action_round_is_refused(text):
    with pytest.raises(IllegalAction):
        read(text)


def test_the_reason_of_a_closed_action_is_no_excuse():
    with pytest.raises(IllegalAction, match="no coins"):
        read("You are poor, so I give 3 coins")


def test_a_game_may_say_which_reasons_count():
    assert read("it is 3, so north") == "north"
    with pytest.raises(IllegalAction):
        read("it is 3, so north", calm=lambda reason: "3" not in reason)


def test_objects_count_what_they_hold():
    grammar = Grammar({"swap": ["(offer|trade|swap) give {a:n} wood get {b:n} ore"]})

    def swap(answer):
        found = grammar.read(answer.plain)
        return tuple(found[0].values.values()) if len(found) == 1 else None

    for text in (
        '{"action": "offer", "give": {"wood": 2}, "get": {"ore": 1}}',
        '{"type": "offer", "give": {"wood": 2, "sheep": 0}, "get": {"ore": 1}}',
        '{"action": {"offer": {"give": {"wood": 2}, "get": {"ore": 1}}}}',
    ):
        assert answers.decide(text, swap) == (2, 1), text


def test_a_refused_object_is_quoted_whole():
    with pytest.raises(IllegalAction, match="wood"):
        read('{"action": "offer", "give": {"wood": 2}}')


@pytest.mark.parametrize(
    "text",
    [
        "so " * 190,
        "not " * 140,
        ", so I go" * 60,
        "a, " * 190,
        "because " * 70,
        "I won't " * 70,
        "I go" + " " * 590 + "on",
        "you take " * 60,
        "before going " * 45,
        "never mind the " * 38,
    ],
)
def test_long_sentences_take_no_time(text):
    assert len(text) <= asides.MOST
    start = time.perf_counter()
    with pytest.raises(IllegalAction):
        read(text)
    assert time.perf_counter() - start < 1


def test_longer_ones_must_mark_their_action():
    reason = "the door is open " * 40
    with pytest.raises(IllegalAction, match="ACTION"):
        read(f"I go north because {reason}")


@pytest.mark.parametrize(
    "text",
    [
        "I go north, back beside the box.",
        "North, onto the path.",
        "Key in hand, I go north.",
        "With nobody around, I walk north.",
        "I go north, which brings me beside it.",
        "I go north to be beside it.",
        "I go north to see if anything is there.",
        "I go north now that the door is open.",
        "I go north so player_1 can pass.",
        "I go north and let player_1 finish.",
        "I go north and see what he does.",
        "I go north, player_1, so please hold the door.",
        "player_1, I go north, you hold the door.",
        "You hold the door, partner. I go north.",
        "player_1, hold the door while I go north.",
        "player_1, hold the door; meanwhile I go north.",
        "Heads up, player_1: I go north.",
        "North is where I go.",
        "Going north is what I do now.",
        "North, and the door is mine.",
    ],
)
def test_tails_leads_and_talk_leave_an_action_as_it_is(text):
    assert read(text) == "north"


@pytest.mark.parametrize(
    "text",
    [
        "North, he says.",
        "North, that was my last move.",
        "North, blocked.",
        "North, for some coins.",
        "North, with a key.",
        "North, take the apple.",
        "North, south.",
        "Yeah right, I go north.",
        "Next turn, I go north.",
        "You said so, partner. I go north or south.",
        "I go north, you said.",
        "I go north, you give me 3 coins.",
        "I'd like the door to be north.",
        "North is where he goes.",
        "North is what I never do.",
        "No north is what I want.",
        "player_1: I go north.",
    ],
)
def test_tails_and_talk_that_change_an_action_are_refused(text):
    with pytest.raises(IllegalAction):
        read(text)
