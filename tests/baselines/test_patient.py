"""Standing orders: "wait until something happens", "go on"."""

import pytest

import manyhands
from manyhands.baselines.players.patient import Patience, Patient
from manyhands.core.env import ConfigError
from manyhands.core.view import Reply

KITCHEN = manyhands.make("kitchen", max_steps=30)


class Scribe:
    """Answers from a list, and notes at which steps it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def act(self, views):
        self.asked += [view.step for view in views]
        return [self.answers.pop(0) if self.answers else "stay" for _ in views]


def played(scribe, partner="stay", patience=5, steps=12, env=KITCHEN):
    seats = [Patient(scribe, env, patience), lambda view: partner]
    return manyhands.play(env, seats, max_steps=steps, on_illegal="raise", progress=False)


@pytest.mark.parametrize(
    ("answer", "steps"),
    [
        ("wait until something happens", 5),
        ("ACTION: wait until something concerns me", 5),
        ("I'll keep waiting.", 5),
        ("wait for a change", 5),
        ("wait 3 steps", 3),
        ("Wait for two turns, please", 2),
        ("wait 50 steps", 5),
        ("stay", 1),
    ],
)
def test_an_order_holds_for_so_many_steps(answer, steps):
    scribe = Scribe(answer)
    played(scribe)
    assert scribe.asked[:2] == [0, steps]


@pytest.mark.parametrize(
    "answer",
    ["don't wait until something happens", "wait until noon", "wait 5 onions", "should I go on?"],
)
def test_what_is_no_order_is_an_answer_like_any_other(answer):
    assert Patience(KITCHEN, 5).read(answer) is None


def test_going_on_repeats_the_last_action():
    scribe, played_ = Scribe("north", "go on"), []
    seats = [Patient(scribe, KITCHEN, 4), lambda view: "stay"]
    manyhands.play(KITCHEN, seats, max_steps=7, on_step=played_.append, progress=False)
    assert scribe.asked == [0, 1, 5, 6]
    actions = [int(moment.turn.actions[0]) for moment in played_[1:]]
    assert actions == [KITCHEN.parse("north", played_[0].frame.state, 0)] * 5 + [KITCHEN.noop] * 2


def test_an_order_ends_when_something_concerns_the_agent(monkeypatch):
    monkeypatch.setattr(type(KITCHEN), "concerns", lambda self, state, agent: int(state.time) == 3)
    scribe = Scribe("stay", "wait until something happens")
    played(scribe, steps=5)
    assert scribe.asked == [0, 1, 3, 4]


def test_a_message_ends_an_order():
    env = manyhands.make("chat", env=KITCHEN)
    scribe = Scribe("wait until something happens")
    partner = [
        lambda view: Reply("stay", "come here") if view.step == 2 else Reply("stay"),
    ]
    seats = [Patient(scribe, env, 9), *partner]
    manyhands.play(env, seats, max_steps=5, on_illegal="raise", progress=False)
    assert scribe.asked[:2] == [0, 3]


def test_orders_are_recorded_and_play_again(tmp_path):
    from manyhands.core.record import read, verify

    seats = [Patient(Scribe("wait 4 steps"), KITCHEN, 9), lambda view: "stay"]
    manyhands.play(KITCHEN, seats, max_steps=6, record=tmp_path / "r", progress=False)
    assert verify(tmp_path / "r")
    (episode,) = read(tmp_path / "r")
    noted = [step.turn.info.get(0, {}).get("standing_order") for step in episode.steps]
    assert noted == [None, *["wait 4 steps"] * 3, None, None]


def test_patience_is_a_whole_number():
    with pytest.raises(ConfigError, match="patience"):
        Patient(Scribe(), KITCHEN, 0)
