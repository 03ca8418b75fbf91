"""What was said belongs to views, anchors, texts, snapshots, forks, records and exports."""

import json

import pytest

import manyhands
from manyhands.core.env import SnapshotError
from manyhands.core.episode import Game, Turn
from manyhands.core.export import export_chat
from manyhands.core.pack import restore, restore_talk, snapshot
from manyhands.core.record import frames, read, verify
from manyhands.core.talk import Message, transcript
from manyhands.wrappers.chat import Chat
from manyhands.wrappers.gymnasium import SeatEnv
from manyhands.wrappers.pettingzoo import Parallel

KITCHEN = Chat(manyhands.make("kitchen", max_steps=12))
WORDS = "the pot on the left is mine"


def stay(view):
    return "stay"


def speaker(view):
    return f"stay; say: {WORDS} ({view.step})" if view.step in (1, 3) else "stay; say: thank you"


def moments(seats=(speaker, stay), **options):
    seen = []
    manyhands.play(KITCHEN, list(seats), on_step=seen.append, progress=False, **options)
    return seen


def test_views_hold_all_that_was_said_and_who_said_it_when():
    last = moments(max_steps=5)[-1]
    for view in last.views:
        found = [(m.step, m.sender, m.text) for m in view.talk]
        assert found == [
            (0, "chef_0", "thank you"),
            (1, "chef_0", f"{WORDS} (1)"),
            (2, "chef_0", "thank you"),
            (3, "chef_0", f"{WORDS} (3)"),
            (4, "chef_0", "thank you"),
        ]
    assert f'step 3, you: "{WORDS} (3)"' in last.views[0].text
    assert f'step 3, chef_0: "{WORDS} (3)"' in last.views[1].text


def test_phrases_of_seats_with_numbers_are_said_in_words():
    def token(view):
        return [4, 1]

    last = moments((token, stay), max_steps=2)[-1]
    assert [m.text for m in last.views[1].talk] == [KITCHEN.phrases[0]] * 2


def test_a_view_keeps_what_had_been_said_when_it_was_made():
    seen = moments(max_steps=4)
    assert [len(moment.views[1].talk) for moment in seen] == [0, 1, 2, 3, 4]


def test_who_does_not_hear_has_no_transcript_of_it():
    deaf = Chat(manyhands.make("kitchen", max_steps=12), hears=[[False, False], [False, False]])
    game = Game(deaf, 1)
    actions = {i: game.read(i, "stay", WORDS if i == 0 else None) for i in (0, 1)}
    game.advance(Turn(actions, said={0: WORDS}))
    assert [m.text for m in game.views[0].talk] == [WORDS] and game.views[1].talk == ()


def test_the_length_of_the_transcript_is_an_option():
    talk = [Message("a", f"word {k}", k) for k in range(30)]
    shown = transcript(talk, "a", 3)
    assert shown.count("\n") == 3 and "word 29" in shown and "word 26" not in shown
    assert "27 earlier" in shown
    env = Chat(manyhands.make("kitchen", max_steps=12), transcript=1)
    state = env.reset(manyhands.core.env.episode_key(0))
    assert "word 29" in env.describe(state, 0, talk=talk)
    assert "word 28" not in env.describe(state, 0, talk=talk)
    assert manyhands.core.registry.from_spec(env.spec()).transcript == 1


def test_different_words_give_different_anchors():
    def other(view):
        return "stay; say: the pot on the right is mine"

    first, second = (
        moments((speaker, stay), max_steps=2)[-1],
        moments((other, stay), max_steps=2)[-1],
    )
    again = moments((speaker, stay), max_steps=2)[-1]
    assert first.views[1].anchor != second.views[1].anchor
    assert first.views[1].anchor == again.views[1].anchor


def test_forks_go_on_with_what_was_said():
    game = Game(KITCHEN, 5)
    for step in range(3):
        said = {0: f"{WORDS} {step}"}
        game.advance(Turn({i: game.read(i, "stay", said.get(i)) for i in (0, 1)}, said=said))
    data = game.snapshot()
    fork = Game(KITCHEN, 5, fork=data)
    assert fork.talk() == game.talk() and fork.views[1].text == game.views[1].text
    assert fork.views[1].anchor == game.views[1].anchor
    assert [m.heard_by for m in fork.talk()] == [("chef_0", "chef_1")] * 3
    assert snapshot(KITCHEN, restore(KITCHEN, data), restore_talk(data)) == data
    # A snapshot of the state alone has none, and is what it was.
    plain = snapshot(KITCHEN, game.frame.state)
    assert data.startswith(plain[:8]) and restore_talk(plain) == ()


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_damaged_talk_is_refused(cut):
    game = Game(KITCHEN, 5)
    game.advance(Turn({i: game.read(i, "stay", WORDS) for i in (0, 1)}, said={0: WORDS}))
    data = game.snapshot()
    with pytest.raises(SnapshotError, match="talk"):
        restore(KITCHEN, data[:-cut])
    with pytest.raises(SnapshotError, match="talk"):
        restore(KITCHEN, data[:-cut] + bytes(cut))


def test_records_forks_and_exports_hold_it(tmp_path):
    moments(max_steps=3, record=tmp_path / "r")
    (episode,) = read(tmp_path / "r")
    again = list(frames(episode))[-1]
    assert [m.text for m in again.views[1].talk][1] == f"{WORDS} (1)"

    game = Game(KITCHEN, 7)
    game.advance(Turn({i: game.read(i, "stay", WORDS) for i in (0, 1)}, said={0: WORDS}))
    moments(max_steps=2, fork=game.snapshot(), record=tmp_path / "fork")
    assert verify(tmp_path / "fork")
    export_chat(tmp_path / "fork", tmp_path / "chat")
    _, listener = map(json.loads, (tmp_path / "chat").read_text().splitlines())
    prompts = [m["content"] for m in listener["messages"] if m["role"] == "user"]
    assert f'"{WORDS}"' in prompts[0] and prompts[1].count(f"{WORDS} (1)") <= 1


def test_the_other_interfaces_tell_it_too():
    parallel = Parallel(KITCHEN, observe="text")
    parallel.reset(seed=1)
    texts = parallel.step({"chef_0": f"stay; say: {WORDS}", "chef_1": "stay"})[0]
    assert WORDS in texts["chef_1"] and WORDS in parallel.view("chef_1").text
    other = Parallel(KITCHEN, observe="text")
    assert WORDS in other.reset(seed=1, options={"state": parallel.snapshot()})[0]["chef_1"]

    seat = SeatEnv(KITCHEN, seat=1, partners=speaker, observe="text")
    seat.reset(seed=1)
    text, *_ = seat.step(f"stay; say: {WORDS}")
    assert "thank you" in text and WORDS in text
