"""Coaches and judges beside the seats, and policies with more rights: states, teams, routes."""

import asyncio
import json

import coins
import pytest

import manyhands
from manyhands.core.coach import Coach, Verdict
from manyhands.core.env import SeatError
from manyhands.core.export import export_chat
from manyhands.core.pack import restore
from manyhands.core.record import read, verify
from manyhands.core.view import Reply

BOARD = manyhands.make("tic_tac_toe")
TOGETHER = coins.Coins(turns=False)


def play(seats, **options):
    return manyhands.play(BOARD, seats, progress=False, **options)


def obedient(view):
    """Takes the middle when told to, else the first square."""
    return "b2" if "middle" in view.advice else view.choices[0].text


def last(view):
    return view.choices[-1].text


def notes_of(path):
    return [step.turn.info for episode in read(path) for step in episode.steps]


def test_advice_vetoes_and_scores_are_in_records_and_exports(tmp_path):
    path, out = tmp_path / "r.jsonl", tmp_path / "o.jsonl"

    async def advise(view):
        await asyncio.sleep(0)
        return "look around" if view.step == 0 else None

    def judge(view, answer):
        veto = "the middle is better" if view.step == 0 and answer != "b2" else None
        return Verdict(score=float(view.step), veto=veto)

    play([obedient, last], coach={"player_0": Coach(advise, judge, "tutor")}, record=path,
         max_steps=3)  # fmt: skip
    notes = notes_of(path)
    coached = {"advice": "look around", "veto": "the middle is better", "refused": "a1"}
    assert notes[0] == {0: {"coach": {**coached, "score": 0.0}}}
    assert notes[1] == {} and notes[2] == {0: {"coach": {"score": 2.0}}}
    episode = next(read(path))
    assert episode.steps[0].turn.actions[0] == 4 and episode.options["coach"] == {
        "player_0": "tutor"
    }
    assert verify(path)
    export_chat(path, out)
    first, second = map(json.loads, out.read_text().splitlines())
    assert first["advice"] == ["look around", ""] and first["scores"] == [0.0, 2.0]
    assert first["vetoes"] == ["the middle is better", ""] and second["scores"] == [None]
    asked = first["messages"][1]["content"]
    assert 'look around\nYour answer "a1" was refused: the middle is better' in asked


def test_a_seat_coaches_by_its_answers():
    heard = []

    def follow(view):
        heard.append(view.advice)
        return view.advice

    result = play([follow, "perfect"], coach={"player_0": "perfect"}, episodes=2, seed=3)
    assert (result.rewards == 0).all() and all(word in "a1b1c1a2b2c2a3b3c3" for word in heard)


def test_a_second_veto_is_not_asked_about_and_device_seats_are_not_asked_again():
    asked = []

    def stubborn(view):
        asked.append(view.step)
        return "a1"

    play([stubborn, "perfect"], coach=Coach(judge=lambda view, answer: "no"), max_steps=2)
    assert asked == [0, 0]


def test_an_illegal_answer_is_not_judged():
    judged = []
    coach = Coach(judge=lambda view, answer: judged.append(answer))
    play([lambda view: "nonsense", last], coach=coach, max_steps=1)
    assert judged == []


@pytest.mark.parametrize(
    ("coach", "message"),
    [
        ({"nobody": "perfect"}, "nobody"),
        ({}, "player_0"),
        (Coach(judge=lambda view, answer: [1]), r"\[1\]"),
        (Coach(judge=lambda view, answer: Verdict(score="good")), "score .*'good'"),
        (Coach(judge=lambda view, answer: Verdict(score=float("nan"))), "score .*nan"),
        (Coach(judge=lambda view, answer: float("inf")), "score .*inf"),
        (Coach(judge=lambda view, answer: Verdict(veto=True)), "veto=True"),
        (Coach(advise=lambda view: [1, 2]), r"\[1, 2\] as advice"),
        (Coach(advise=lambda view: 1 / 0), "division"),
        (3, "3 cannot play"),
    ],
)
def test_bad_coaches_fail_with_a_reason(coach, message):
    with pytest.raises(SeatError, match=message):
        play([last, last], coach=coach, max_steps=1)
    with pytest.raises(SeatError, match="judge"):
        Coach()
    with pytest.raises(SeatError, match="given 5"):
        Coach(5)


def test_the_anchor_and_the_text_do_not_hold_the_advice():
    found = []

    def note(view):
        found.append((view.anchor, view.text))
        return last(view)

    play([note, last], max_steps=1)
    play([note, last], coach=Coach(lambda view: "advice"), max_steps=1)
    assert found[0] == found[1]


def test_states_are_given_to_those_who_declare_it_and_marked(tmp_path):
    class Peeks:
        needs_state = True

        def act(self, views, states):
            for view, state in zip(views, states, strict=True):
                assert int(restore(BOARD, state).time) == view.step
            return [Reply(last(view), info={"own": 1}) for view in views]

    path = tmp_path / "r.jsonl"
    play([Peeks(), last], record=path, episodes=2, max_steps=2)
    marked = {0: {"own": 1, "true_state": True}}
    assert notes_of(path) == [marked, {}, marked, {}]
    play([last, last], coach=Peeks(), record=tmp_path / "c", max_steps=1)
    assert notes_of(tmp_path / "c") == [{0: {"coach": {"advice": "c3", "true_state": True}}}]


def test_a_team_is_asked_once_for_each_episode():
    calls = []

    class Team:
        team = True

        async def act(self, views):
            calls.append([(view.episode, view.agent) for view in views])
            return ["take 0"] * len(views)

    team = Team()
    manyhands.play(TOGETHER, [team, team], 2, max_steps=2, progress=False)
    assert sorted(calls) == [[(e, "player_0"), (e, "player_1")] for e in (0, 0, 1, 1)]


def test_a_failing_team_is_a_failing_seat():
    class Team:
        team = True

        async def act(self, views):
            return ["take 0"]

    team = Team()
    with pytest.raises(SeatError, match="1 answers to 2 views"):
        manyhands.play(TOGETHER, [team, team], max_steps=2, progress=False)
