"""Illegal answers: how many are borne, and what a forfeit costs, the same through every API."""

import json

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import ConfigError
from manyhands.core.episode import Game, Turn
from manyhands.core.export import export_chat
from manyhands.core.record import frames, parse_line, verify
from manyhands.wrappers.gymnasium import SeatEnv
from manyhands.wrappers.pettingzoo import env as aec_env
from manyhands.wrappers.pettingzoo import parallel_env

TOE = manyhands.make("tic_tac_toe")


def nonsense(view):
    return "purple elephants"


def bet(view):
    return "bet 1" if "bet 1" in [choice.text for choice in view.choices] else view.choices[-1]


def played(env, seats, **options):
    return manyhands.play(env, seats, progress=False, **options).episodes[0]


@pytest.mark.parametrize(
    ("id", "config", "price"),
    [
        ("tic_tac_toe", {}, (-1.0, 1.0)),
        ("connect_four", {"rows": 4, "columns": 4, "connect": 3}, (-1.0, 1.0)),
        ("kuhn_poker", {}, (-1.0, 1.0)),
        ("kuhn_poker", {"players": 3}, (-1.0, 0.5, 0.5)),
        ("leduc_holdem", {}, (-1.0, 1.0)),
        ("negotiation", {"scenario": "buy_sell"}, (0.0, 0.0)),
        ("negotiation", {"reward_weights": {"win": 1.0}}, (-1.0, 1.0)),
        ("kitchen", {"max_steps": 20}, (0.0, 0.0)),
    ],
)
def test_the_price(id, config, price, tmp_path):
    """Board: the game; poker: the pot, as a fold; negotiation: the break-off; kitchen: the rest."""
    env, path = manyhands.make(id, **config), tmp_path / "record"
    seats = [nonsense] + ["random"] * (env.num_agents - 1)
    episode = played(env, seats, on_illegal="forfeit", record=path)
    assert (episode.ended, episode.steps, episode.forfeits) == ("forfeit", 0, (env.agents[0],))
    assert episode.rewards == pytest.approx(price)
    assert verify(path)
    export_chat(path, tmp_path / "chat")
    first, *_ = map(json.loads, (tmp_path / "chat").read_text().splitlines())
    assert sum(first["rewards"]) == pytest.approx(first["total"]) == pytest.approx(price[0])
    assert first["illegal"][0] == 1 and first["forfeits"] == [env.agents[0]]


def test_a_bet_that_was_called_is_lost_with_the_forfeit():
    """Facing a bet: the ante, as for a fold; after betting oneself, both chips."""
    kuhn = manyhands.make("kuhn_poker", players=3)
    episode = played(kuhn, [bet, nonsense, "random"], on_illegal="forfeit")
    assert episode.rewards == pytest.approx((-2 + 2.0, -1.0, -1 + 2.0))


def test_the_outside_option_is_what_a_break_off_leaves():
    env = manyhands.make("negotiation", scenario="buy_sell")
    game = Game(env, 3)
    terms = env.forfeit_terms(game.frame.state, (0,))
    game.advance(Turn({0: env.parse("walk away", game.frame.state, 0)}))
    for name in set(terms) - {"win"}:
        np.testing.assert_allclose(terms[name], game.frame.terms[name], err_msg=name)


def test_a_volleyball_match_is_lost_point_by_point():
    env = manyhands.make("volleyball", points=3, max_steps=20)
    state = jax.jit(env.reset)(manyhands.core.env.episode_key(0))
    np.testing.assert_array_equal(env.forfeit_terms(state, (1,))["win"], [3, -3])
    solo = manyhands.make("volleyball", task="solo_bump", max_steps=20)
    state = jax.jit(solo.reset)(manyhands.core.env.episode_key(0))
    assert solo.forfeit_terms(state, (0,)) == {}


# ---- how many are borne --------------------------------------------------------------------------


def test_a_game_of_turns_cannot_be_stalled(tmp_path):
    episode = played(TOE, [nonsense, "random"], record=tmp_path / "r")
    assert (episode.ended, episode.illegal, episode.rewards) == ("forfeit", (4, 0), (-1.0, 1.0))
    assert verify(tmp_path / "r")


def test_a_legal_answer_begins_the_count_anew():
    answers = iter(["?", "?", "?", "A1", "?", "?", "?", "B1", "?", "?", "?", "?"])
    free = iter(["A2", "C3", "B3", "C2", "B2", "C1"])
    seats = [lambda view: next(answers), lambda view: next(free, "?")]
    episode = played(TOE, seats)
    assert episode.illegal[0] >= 6


def test_where_all_act_at_once_nobody_waits():
    kitchen = manyhands.make("kitchen", max_steps=9)
    episode = played(kitchen, [nonsense, "random"])
    assert (episode.ended, episode.illegal) == ("truncated", (9, 0))


@pytest.mark.parametrize("allow", [0, 1, 2])
def test_an_allowance_of_illegal_answers(allow):
    episode = played(TOE, [nonsense, "random"], on_illegal="forfeit", allow_illegal=allow)
    assert (episode.ended, episode.illegal[0]) == ("forfeit", allow + 1)
    episode = played(TOE, [nonsense, "random"], on_illegal="noop", allow_illegal=allow)
    assert (episode.ended, episode.illegal[0]) == ("forfeit", allow + 1)
    for wrong in (-1, True, 1.5):
        with pytest.raises(ConfigError, match="allow_illegal"):
            played(TOE, [nonsense, "random"], allow_illegal=wrong)


@pytest.mark.parametrize(("how", "borne"), [("forfeit", 0), ("noop", 3)])
def test_pettingzoo_and_gymnasium_do_as_play_does(how, borne):
    for allow in (None, 1):
        most = borne if allow is None else allow
        game = parallel_env("tic_tac_toe", on_illegal=how, allow_illegal=allow)
        game.reset(seed=1)
        for _ in range(most):
            infos = game.step({"player_0": "?"})[4]
            assert infos["player_0"]["parse"]["status"] == "illegal"
        _, rewards, ends, cuts, infos = game.step({"player_0": "?"})
        assert infos["player_0"]["parse"]["status"] == "forfeit" and not game.agents
        assert (
            rewards == {"player_0": -1.0, "player_1": 1.0}
            and all(ends.values())
            and not any(cuts.values())
        )

        turns = aec_env("tic_tac_toe", on_illegal=how, allow_illegal=allow)
        turns.reset(seed=1)
        for _ in range(most):
            turns.step("?")
        turns.step("?")
        assert turns.rewards == {"player_0": -1.0, "player_1": 1.0} and all(
            turns.terminations.values()
        )

        seat = SeatEnv("tic_tac_toe", partners="random", on_illegal=how, allow_illegal=allow)
        seat.reset(seed=2)
        for _ in range(most):
            _, reward, over, _, _ = seat.step("?")
            assert (reward, over) == (0.0, False)
        _, reward, over, cut, info = seat.step("?")
        assert (reward, over, cut) == (-1.0, True, False)
        assert info["parse"]["status"] == "forfeit"


# ---- apart from losses ---------------------------------------------------------------------------


def test_records_without_a_price_stay_free(tmp_path):
    """Records that were made before a forfeit had a price."""
    played(TOE, [nonsense, "random"], on_illegal="forfeit", record=tmp_path / "r")
    line = json.loads((tmp_path / "r").read_text().splitlines()[0])
    assert line["steps"][-1].pop("terms") == {"win": [-1.0, 1.0]}
    episode = parse_line(1, json.dumps(line, separators=(",", ":")).encode() + b"\n")
    assert episode.steps[-1].turn.free
    last = list(frames(episode, TOE))[-1]
    assert last.over and last.rewards.tolist() == [0.0, 0.0]


def test_results_leagues_and_evaluations_count_them_apart():
    result = manyhands.play(TOE, [nonsense, "random"], 3, progress=False)
    assert result.refused(0) == (12, 3) and result.refused(1) == (0, 0)
    assert "12 illegal answers, 3 forfeits" in str(result)

    from manyhands.baselines.evaluation import evaluate
    from manyhands.baselines.evaluation.league import league

    table = league(TOE, {"bad": nonsense, "random": "random"}, episodes=3)
    assert table.forfeits.tolist() == [1.0, 0.0] and table.illegal.tolist() == [4.0, 0.0]
    assert table.to_dict()["forfeits"] == [1.0, 0.0] and "forfeits" in str(table)
    assert table.wins[0, 1] == 0.0
    found = evaluate(TOE, [nonsense, "random"], episodes=2)
    assert found.mean["forfeits of nonsense"].mean == 1.0


def test_an_analysis_keeps_refused_answers_out_of_the_policy(tmp_path):
    from manyhands.baselines.game_theory import analyse

    kuhn = manyhands.make("kuhn_poker")
    answers = {"player_0": "bet 1", "player_1": "?"}
    seats = [lambda view: answers["player_0"], nonsense]
    manyhands.play(kuhn, seats, 5, on_illegal="forfeit", record=tmp_path / "r", progress=False)
    report = analyse(tmp_path / "r").seats[1]
    assert (report.illegal, report.forfeits, report.forfeited) == (5, 5, 5.0)
    assert (report.decisions, report.hands) == (0, 0)


def test_advantages_know_of_forfeits(tmp_path):
    from manyhands.baselines.learners.advantages import advantages

    seats = [nonsense, "random"]
    manyhands.play(TOE, seats, 2, on_illegal="forfeit", record=tmp_path / "r", progress=False)
    export_chat(tmp_path / "r", tmp_path / "chat")
    bad, good, *_ = advantages(tmp_path / "chat")
    assert (bad.illegal, bad.forfeit, good.illegal, good.forfeit) == (1, True, 0, False)
    assert bad.role == -1.0
