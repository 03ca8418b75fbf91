"""A person's seat at a terminal, and the spectator: what is typed and what is printed."""

from __future__ import annotations

import asyncio
import io
import itertools
import os

import pytest
from rich.console import Console

import manyhands
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.play import play
from manyhands.core.talk import Message
from manyhands.core.view import Reply
from manyhands.envs.board import ConnectFour
from manyhands.viewer.terminal import Spectator, Terminal, plain


def console() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, highlight=False, width=200), out


def seat(env: manyhands.Env, typed: str, **options) -> tuple[Terminal, io.StringIO]:
    printer, out = console()
    return Terminal(env, read=io.StringIO(typed), console=printer, **options), out


def test_a_game_by_numbers_and_in_words():
    env = ConnectFour()
    person, out = seat(env, "4\n\nthe fourth column\n9\nfly away\n4\nI'll take column 4.\n")
    moments = []
    other = iter(["column 1", "column 2", "column 3"])
    result = play(env, [person, lambda view: next(other)], on_step=moments.append)
    assert [m.turn.actions[0] for m in moments[1:] if 0 in m.turn.actions] == [3, 3, 3, 3]
    assert result.rewards.tolist() == [[1, -1]]
    told = out.getvalue()
    assert told.count("CONNECT FOUR") == 1  # the rules, once
    assert told.count("Answer with exactly one column") == 2
    assert told.count("  7 column 7: row 1") == 5  # before each move, and when asked
    assert "you have won" in told and "Your reward: 1." in told


def test_commands_are_no_moves():
    env = manyhands.make("chat", env=manyhands.make("kitchen", max_steps=2))
    person, out = seat(env, "/rules\n/look\n/help\n/say on my way\nnorth\n/say \n5\n")
    heard = []

    def partner(view):
        heard.extend(message.text for message in view.messages)
        return "stay"

    play(env, [person, partner])
    assert heard == ["on my way"]
    assert out.getvalue().count("THE KITCHEN") == 2 and "/say WORDS" in out.getvalue()


def test_a_line_that_stands_for_many_is_said_in_words():
    env = manyhands.make("negotiation")
    printer, out = console()
    listed: list[str] = []

    class Reading(Terminal):
        async def act(self, views):
            listed.extend(views[0].choices)
            return await super().act(views)

    person = Reading(env, read=io.StringIO("4\npropose to take 1 book\n"), console=printer)
    with pytest.raises(SeatError, match="has left the game"):
        play(env, [person, "fair"])
    assert listed[3].startswith("propose")
    assert "Say it in words, as in: propose" in out.getvalue()


@pytest.mark.parametrize("typed", ["/quit\n", ""])
def test_leaving_ends_the_run(typed):
    env = ConnectFour()
    person, _ = seat(env, typed)
    with pytest.raises(SeatError, match="has left the game"):
        play(env, [person, "random"])


def test_pace_plays_without_an_answer_and_keeps_what_is_being_typed():
    reading, writing = os.pipe()
    env = manyhands.make("kitchen", max_steps=2)
    printer, out = console()
    with os.fdopen(reading) as stream:
        person = Terminal(env, pace=0.2, read=stream, console=printer)
        answers = []

        class Typing:
            async def act(self, views):
                answers.extend(await person.act(views))
                os.write(writing, b"no")
                os.write(writing, b"rth\n")
                return answers[-1:]

        play(env, [Typing(), "random"])
        os.close(writing)
    assert [reply.action for reply in answers] == [env.noop, "north"]
    assert "no answer in time" in out.getvalue()
    with pytest.raises(ConfigError, match="pace"):
        Terminal(env, pace=0)


def test_two_people_share_a_terminal():
    env = ConnectFour()
    typed = io.StringIO("1\n2\n1\n2\n1\n2\n1\n")
    printer, out = console()
    people = [Terminal(env, read=typed, console=printer) for _ in range(2)]
    assert play(env, people).rewards.tolist() == [[1, -1]]
    assert "player_1, step 1" in out.getvalue()


HOSTILE = "\x1b[2J\x1b]0;owned\x07 hi\u202e [bold]there[/bold] \x9b1A\r"


def test_what_others_say_steers_no_terminal():
    assert plain("a\tb\nc\x1b[31md\u202e") == "a    b\nc[31md"
    env = manyhands.make("chat", env=manyhands.make("kitchen", max_steps=2))
    person, out = seat(env, "stay\nstay\n")
    spectator, seen = console()
    partner = lambda view: Reply("stay", say=HOSTILE)  # noqa: E731
    play(env, [person, partner], on_step=Spectator(console=spectator))
    for printed in (out.getvalue(), seen.getvalue()):
        assert "there" in printed
        assert not set(printed) & set("\x1b\x07\x9b\r\u202e")
    # A view may hold words that its text does not repeat.
    view = manyhands.View.__new__(manyhands.View)
    view.__dict__.update(agent="x", step=0, index=0, text="", rules="", choices=[], advice="")
    view.__dict__.update(messages=(Message("y\x1b", HOSTILE),))
    person._show(view)
    assert "[bold]there" in out.getvalue() and "\x1b" not in out.getvalue()


def test_a_spectator_tells_one_episode_at_a_time():
    env = ConnectFour()
    printer, out = console()
    play(env, "random", episodes=3, on_step=Spectator(console=printer, agent=1), concurrency=3)
    told = out.getvalue()
    assert "player_1 sees:" in told and "player_0 (random): column" in told
    # Of what it tells, nothing is out of order: episodes follow each other.
    episodes = [line.split("episode ")[1][0] for line in told.splitlines() if ", step " in line]
    changes = sum(a != b for a, b in itertools.pairwise(episodes))
    assert changes < told.count("the episode is over") == len(set(episodes))
    with pytest.raises(ConfigError, match="speed"):
        Spectator(speed=0)


def test_a_spectator_keeps_the_pace(monkeypatch):
    slept = []
    monkeypatch.setattr("manyhands.viewer.terminal.time.sleep", slept.append)
    monkeypatch.setattr("manyhands.viewer.terminal.time.monotonic", lambda: 100.0)
    printer, _ = console()
    env = manyhands.make("kitchen", max_steps=3)
    play(env, "random", on_step=Spectator(speed=4, console=printer))
    assert slept == [0.25] * 3


def test_answers_are_awaited_while_others_play():
    """A person who thinks holds up nobody else's episode."""
    reading, writing = os.pipe()
    env = ConnectFour()
    printer, _ = console()

    async def main():
        with os.fdopen(reading) as stream:
            person = Terminal(env, read=stream, console=printer)
            frame = manyhands.core.pack.stepper(env).reset(manyhands.core.env.episode_key(0))
            asked = asyncio.create_task(person.act([manyhands.View(env, frame, 0)]))
            for _ in range(5):
                await asyncio.sleep(0.01)
            assert not asked.done()
            os.write(writing, b"3\n")
            os.close(writing)
            return await asyncio.wait_for(asked, 20)

    assert str(asyncio.run(main())[0].action).startswith("column 3")
