"""Pairs of siblings, and the first errors of episodes."""

import json

import coins
import numpy as np
import pytest

import manyhands
from manyhands.baselines.evaluation.errors import export_errors, first_errors
from manyhands.core.env import ConfigError
from manyhands.core.export import export_pairs


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def record(path, env, seats, **options):
    manyhands.play(env, seats, record=path, progress=False, **options)
    return path


def taker(view):
    """Takes 0, 1, 2 or nothing readable, in turn by the member of the group."""
    if view.step:
        return "take 0"
    return ("take 0", "take 2", "take 1", "nonsense", "take 2")[view.episode % 5]


def test_siblings_become_pairs(tmp_path):
    path = record(tmp_path / "r", coins.Coins(players=1, max_steps=2), taker, episodes=2, group=5)
    assert export_pairs(path, tmp_path / "p") == 6
    found = lines(tmp_path / "p")
    first = found[0]
    assert [m["role"] for m in first["prompt"]] == ["system", "user"]
    assert first["prompt"][1]["content"].startswith("There are 12 coins.")
    assert {pair["chosen"][0]["content"] for pair in found} == {"take 2"}
    rejected = [pair["rejected"][0]["content"] for pair in found[:3]]
    assert sorted(rejected) == ["nonsense", "take 0", "take 1"]
    for pair in found:
        assert pair["chosen_return"] > pair["rejected_return"]
        assert (pair["chosen_count"], pair["rejected_count"]) == (2, 1)
        assert pair["agent"] == "player_0" and pair["turn"] == 0
        chosen, other = pair["episodes"]
        assert chosen // 5 == other // 5  # one group
    wide = found[0]["chosen_return"] - found[0]["rejected_return"]
    assert export_pairs(path, tmp_path / "few", gap=100 * wide) == 0
    with pytest.raises(ConfigError, match="-1"):
        export_pairs(path, tmp_path / "few", gap=-1)


def test_forks_of_one_state_are_siblings_whatever_came_before(tmp_path):
    env = coins.Coins(players=1, max_steps=3)
    states = []
    manyhands.play(env, "random", on_step=lambda m: states.append(m.frame.state), progress=False)
    fork = manyhands.snapshot(env, states[1])

    def act(view):
        return f"take {view.episode % 2}"

    path = record(tmp_path / "r", env, act, episodes=2, fork=fork, max_steps=1)
    assert export_pairs(path, tmp_path / "p") == 1
    assert lines(tmp_path / "p")[0]["chosen"][0]["content"] == "take 1"


def test_the_first_error_on_a_board(tmp_path):
    moves = iter([0, 1, 2, 3, 8, 4])  # X a1, O b1, X c1, O a2 (loses: b2 or c3), X c3, O b2

    path = record(tmp_path / "r", "tic_tac_toe", lambda view: next(moves), max_steps=6)
    found = {error.agent: error for error in first_errors(path)}
    # On an empty board X may play anything; after a1, b1 loses.
    assert (found["player_1"].step, found["player_1"].words) == (1, "b1")
    assert found["player_1"].value == -1 and found["player_1"].best_value == 0
    assert found["player_0"].step == 2 and found["player_0"].value == 0
    assert found["player_1"].prompt.count("- b2") == 1 and found["player_1"].answer == "b1"


def test_the_first_error_in_poker_and_by_a_value_of_ones_own(tmp_path):
    def folder(view):
        return "fold" if "fold" in [c.text for c in view.choices] else "bet 1"

    path = record(tmp_path / "r", "kuhn_poker", folder, episodes=30, seed=2)
    found = list(first_errors(path))
    folded = [e for e in found if e.words.startswith("fold")]
    assert folded and all("card: K" in e.prompt for e in folded)
    assert all(e.value == -1 and e.best_value == 2 for e in folded)
    # A queen never opens with a bet: it wins 1/3 less 1/2 (Kuhn 1950).
    opened = [e for e in found if e.step == 0]
    assert opened and all("card: Q" in e.prompt for e in opened)
    np.testing.assert_allclose([e.best_value - e.value for e in opened], 1 / 6)

    def value(env, state, agent):
        return {0: 0.0, 1: -1.0}

    out = tmp_path / "o"
    assert export_errors(path, out, value) == len(list(first_errors(path, value))) > 0
    assert lines(out)[0]["best_words"]
    with pytest.raises(ConfigError, match="value="):
        list(first_errors(record(tmp_path / "k", coins.Coins(), "random", max_steps=1)))
