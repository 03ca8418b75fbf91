"""Players of homes that know only texts: the reader and the instructor."""

import pytest

import manyhands
from manyhands.baselines.players.home_reader import kind_of, wishes

SMALL = {"receptacles": [8, 10], "objects": [8, 10]}


def test_goals_are_read():
    for goal, expected in {
        "put a clean hand towel in a cabinet": [(1, ("clean",), "hand towel", "cabinet")],
        "put two hot and sliced apples on a counter top": [
            (2, ("hot", "sliced"), "apples", "counter top")
        ],
        "look at an alarm clock under a lamp": [(1, (), "alarm clock", "")],
        "put two forks, a plate and a mug on a dining table": [
            (2, (), "forks", "dining table"),
            (1, (), "plate", "dining table"),
            (1, (), "mug", "dining table"),
        ],
        "bring ten targets to a bed": [(10, (), "targets", "bed")],
    }.items():
        found = [(w.count, w.states, w.kind, w.place) for w in wishes(goal)]
        assert found == expected, goal
    assert kind_of("counter top 2") == "counter top"


@pytest.mark.parametrize("task", ["chore_small", "house"])
def test_who_reads_reaches_the_goal(task):
    options = SMALL if task == "chore_small" else {"rooms": 3, "receptacles": 18, "objects": 12}
    env = manyhands.make("home", task=task, players=2, **options)
    result = manyhands.play(env, "text", 6, 4, on_illegal="raise", progress=False)
    assert all(episode.metrics["success"] for episode in result.episodes)


def test_an_instructor_answers_what_it_is_asked():
    home = manyhands.make("home", task="chore_small", told="instructor", **SMALL)
    env = manyhands.make("chat", env=home)
    said = []

    def listen(moment):
        if moment.turn is not None:
            said.append(moment.turn.said)

    result = manyhands.play(
        env, ["text", "instructor"], 4, 1, on_illegal="raise", on_step=listen, progress=False
    )
    assert all(episode.metrics["success"] for episode in result.episodes)
    answers = [words[1] for words in said if 1 in words]
    assert answers and all(answer.startswith("The goal is: ") for answer in answers)
    assert sum(len(words) for words in said) < len(said)  # it does not talk all the time
    quiet = manyhands.play(env, ["random", "instructor"], 1, max_steps=6, progress=False)
    assert sum(quiet.episodes[0].illegal) == 0
    for wrong in (home, manyhands.make("chat", env=manyhands.make("home", **SMALL))):
        with pytest.raises(manyhands.SeatError):
            manyhands.seat("instructor", wrong)
