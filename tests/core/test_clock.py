"""Real time: the world steps on time, whether or not its seats have answered."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import manyhands
from manyhands.core.clock import punctuality
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.play import play
from manyhands.core.record import verify

STAY, NORTH = 4, 0


class Slow:
    """Answers when the world has made so many steps since it was asked."""

    name = "slow"

    def __init__(self, steps: int, answer: str = "north"):
        self.steps, self.answer = steps, answer
        self.moments: list = []
        self.asked: list[int] = []

    async def act(self, views):
        self.asked.append(views[0].step)
        while len(self.moments) - 1 < views[0].step + self.steps:
            await asyncio.sleep(0.001)
        return [self.answer]


def test_what_is_late_counts_when_it_comes(tmp_path):
    env = manyhands.make("kitchen", max_steps=12)
    slow, path = Slow(3), tmp_path / "run.jsonl"
    play(env, [slow, "greedy"], clock=0.03, on_step=slow.moments.append, record=path)
    turns = [moment.turn for moment in slow.moments[1:]]
    assert len(turns) == 12 and all(1 in turn.actions for turn in turns)
    answered = [t for t, turn in enumerate(turns) if 0 in turn.answers]
    assert len(answered) >= 2 and all(turns[t].actions[0] == NORTH for t in answered)
    assert all(turn.actions[0] == STAY for t, turn in enumerate(turns) if t not in answered)
    # It is not asked again before it has answered.
    assert slow.asked[0] == 0 and slow.asked[1:] == [t + 1 for t in answered][: len(slow.asked) - 1]
    for t, asked in zip(answered, slow.asked, strict=False):
        note = turns[t].info[0]["clock"]
        assert note["late"] == t - asked >= 3 and note["seconds"] > 0
    assert turns[0].info[0]["clock"] == {"waiting": True}
    assert verify(path)
    first, second = punctuality(path)
    assert (first.seat, first.steps, first.decisions) == ("slow", 12, len(answered))
    assert first.late == len(answered) and second.late == 0 and second.decisions == 12
    assert first.per_second == pytest.approx(len(answered) / (12 * 0.03))


def test_a_skill_under_way_goes_on():
    env = manyhands.make("skills", env=manyhands.make("kitchen", max_steps=10))
    slow = Slow(20, "fetch onion")  # it answers once, after a first skill
    first = iter(["fetch onion"])

    async def seat(view):
        return next(first, None) or (await slow.act([view]))[0]

    play(env, [seat, "random"], clock=0.01, on_step=slow.moments.append)
    held = [moment.frame.state.inner.held[0] for moment in slow.moments]
    assert held[0] == 0 and held[-1] != 0


def test_games_of_turns_wait_for_who_is_to_move():
    async def thinks(view):
        await asyncio.sleep(0.02)
        return int(np.flatnonzero(view.legal)[0])

    result = play("tic_tac_toe", thinks, clock=0.001)
    assert result.episodes[0].illegal == (0, 0) and result.episodes[0].steps == 7


def test_episodes_with_a_clock_run_beside_each_other():
    env = manyhands.make("kitchen", max_steps=5)
    result = play(env, ["greedy", "random"], episodes=4, clock=0.01, concurrency=4)
    assert [episode.steps for episode in result.episodes] == [5] * 4


def test_answers_that_nobody_awaits_any_more_are_cancelled():
    ended = []

    async def never(view):
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(view.step)

    play(manyhands.make("kitchen", max_steps=3), [never, "random"], clock=0.005)
    assert ended == [0]

    async def breaks(view):
        raise ValueError("no")

    with pytest.raises(SeatError, match="no"):
        play(manyhands.make("kitchen", max_steps=3), [never, breaks], clock=0.005)
    assert ended == [0, 0]


@pytest.mark.parametrize("clock", [0, -1, True, float("inf")])
def test_a_clock_is_seconds(clock):
    with pytest.raises(ConfigError, match="seconds of a step"):
        play("kitchen", "random", clock=clock)
    with pytest.raises(ConfigError, match="coach"):
        play("kitchen", "random", clock=1.0, coach="random")


def test_a_record_without_a_clock_tells_no_punctuality(tmp_path):
    play("tic_tac_toe", "random", record=tmp_path / "run.jsonl")
    with pytest.raises(ConfigError, match="clock"):
        punctuality(tmp_path / "run.jsonl")
