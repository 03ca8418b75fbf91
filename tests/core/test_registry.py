"""Games, wrappers and seats by name."""

import gymnasium
import pettingzoo
import pytest
from coins import Coins

import manyhands
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.registry import Game, from_spec, load, make, register, seat


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: make("kichen"), ['"kitchen"']),
        (lambda: make("kitchen", layot="cramped_room"), ["'layot'", '"layout"']),
        (lambda: make("volleyball", taks="1v1"), ["'taks'", '"task"']),
        (lambda: make("kitchen-v7"), ["version 0", "kitchen-v7"]),
        (lambda: make("no_such_module:kitchen"), ["no_such_module"]),
        (lambda: make(7), ["7"]),
        (lambda: from_spec({"id": "os:kitchen"}), ["os:kitchen"]),
        (lambda: from_spec({"id": "kitchen", "config": [1]}), ["[1]"]),
        (lambda: register("two words", "a:B"), ["two words"]),
        (lambda: register("fine", "a.B"), ["a.B"]),
    ],
)
def test_what_is_not_known_is_said_with_what_is(call, words):
    with pytest.raises(ConfigError) as caught:
        call()
    assert all(word in str(caught.value) for word in words)


def test_seats_are_known_by_name_and_options():
    kitchen = make("kitchen")
    with pytest.raises(SeatError, match='"greedy"'):
        seat("gredy", kitchen)
    with pytest.raises(SeatError, match='"noise"'):
        seat("greedy:nois=0.5", kitchen)
    with pytest.raises(SeatError) as caught:
        seat("language:model=m,api_kez=secret", kitchen)
    assert "secret" not in str(caught.value) and "api_kez" in str(caught.value)


@pytest.mark.parametrize("given", ["greedy,random", "greedy, random", "greedy random"])
def test_seats_in_one_word_are_told_how_to_be_divided(given):
    with pytest.raises(SeatError) as caught:
        manyhands.play("kitchen", given)
    assert "['greedy', 'random']" in str(caught.value)
    assert "--seats greedy random" in str(caught.value)
    with pytest.raises(SeatError) as caught:
        seat("greedy:noise=0.5,random", make("kitchen"))
    assert "option 2" in str(caught.value) and "spaces" in str(caught.value)
    with pytest.raises(SeatError) as caught:
        seat("gredy", make("kitchen"))
    assert "--seats" not in str(caught.value)


def test_ids_may_name_a_version_and_a_module(monkeypatch, tmp_path):
    assert make("kitchen-v0") == make("kitchen")
    (tmp_path / "kitchens_of_mine.py").write_text(
        "from manyhands import register\n"
        "from manyhands.envs.board import TicTacToe\n"
        # Of its own module, since it stays registered: pages of the site list what is shipped.
        "class Mine(TicTacToe): pass\n"
        "register('test-mine', 'kitchens_of_mine:Mine', gym_id='TestMine',\n"
        "         variants={'short': {'max_steps': 9}})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert load("kitchens_of_mine:test-mine").id == "tic_tac_toe"
    env = gymnasium.make("kitchens_of_mine:manyhands/TestMine-v0")
    assert env.unwrapped.game.max_steps == 18
    assert gymnasium.make("manyhands/TestMineShort-v0").unwrapped.game.max_steps == 9
    parallel = pettingzoo.make("parallel", "manyhands/test-mine_short-v0")
    assert parallel.unwrapped.game.max_steps == 9


def test_every_game_has_its_names():
    for id in manyhands.registered():
        if not id.startswith("test-"):
            assert f"manyhands/{id}-v0" in pettingzoo.aec_registry
            assert f"manyhands/{id}-v0" in pettingzoo.parallel_registry
    for name in ("Kitchen", "CraftWorld", "Volleyball1v1", "VolleyballSoloBump", "KuhnPoker"):
        assert f"manyhands/{name}-v0" in gymnasium.registry
    assert Game("kitchen", "a:B").variants == {}


def test_a_part_of_a_key_is_not_shown():
    with pytest.raises(SeatError, match="option 3 of the seat 'language'") as refused:
        seat("language:model=m,api_key=abc,sk-secret", make("tic_tac_toe"))
    assert "secret" not in str(refused.value)


def test_a_subclass_with_other_rules_is_another_game():
    """Compiled functions are kept by environment: they are not those of the class it came from."""

    class Generous(Coins):
        def legal(self, state):
            return super().legal(state) & False

    plain, generous = Coins(), Generous()
    assert plain == Coins() and generous == Generous() and plain != generous
    kept = {plain: "plain", generous: "generous"}
    assert kept[Coins()] == "plain" and kept[Generous()] == "generous"


def test_a_wrong_option_of_a_seat_is_named_alone():
    with pytest.raises(SeatError) as caught:
        manyhands.seat("language:model=m,retriez=1", manyhands.make("kuhn_poker"))
    named = str(caught.value).partition("its options are")[0]
    assert "retriez" in named and '"retries"' in named and "model" not in named
