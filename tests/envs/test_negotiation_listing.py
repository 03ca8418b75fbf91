"""Lists, small tables and JSON of amounts in an answer."""

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import IllegalAction
from manyhands.envs.negotiation.listing import in_one_line


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("- give: 3 brick\n- get: 2 ore", "give: 3 brick, get: 2 ore\n"),
        ("* **me**: 30\n* player_1: 70", "me: 30, player_1: 70\n"),
        ("| I give | I get |\n|---|---|\n| 3 brick | 2 ore |", "I give: 3 brick, I get: 2 ore"),
        ("| who | gets |\n|---|:--|\n| me | 3 hats |\n| player_1 | 1 book, 1 ball |",
         "me: 3 hats, player_1: 1 book and 1 ball"),
        ('{"self": 9, "opponent": 1}', '{"me": 9, "player_1": 1}'),
    ],
)  # fmt: skip
def test_parts_of_one_move_become_one_line(said, line):
    assert in_one_line(said, "player_1") == line


@pytest.mark.parametrize(
    "said",
    [
        "- option A: 3 brick for 2 ore\n- option B: 2 brick for 1 ore",
        "| player | coins last round |\n|---|---|\n| me | 6 |\n| player_1 | 4 |",
        "| me | 6 |\n| player_1 | 4 |",  # without a head
        "- give: 3 brick",
        '{"opponents": 9}',
    ],
)
def test_other_lists_stay_as_they_are(said):
    assert in_one_line(said, "player_1") == said


def test_halves_are_of_two_who_are_named():
    env = manyhands.make("negotiation", scenario="divide", discussion=0)
    state = jax.device_get(env.reset(jax.random.key(1)))
    halves = env.parse("50 for me, 50 for player_1, 0 for player_2", state, 0)
    for said in (
        "player_1 and I go halves, player_2 gets nothing",
        "player_1 and I split it evenly",
        "player_1 and I go halves, and player_2 goes empty-handed",
    ):
        assert np.array_equal(env.parse(said, state, 0), halves), said
    fewer = env.parse("40 for me, 40 for player_1, 20 for player_2", state, 0)
    assert np.array_equal(env.parse("player_1 and I go halves, player_2 gets 20", state, 0), fewer)
    for said in ("player_1 and player_2 go halves", "player_1 and I go halves, player_2 gets 30"):
        with pytest.raises(IllegalAction):
            env.parse(said, state, 0)
