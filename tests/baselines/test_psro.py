"""Populations of strategies, in games small enough to know the answers."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines import game_theory
from manyhands.baselines.evaluation.league import elo, league, nash, sides_of, uniform
from manyhands.baselines.evaluation.matches import NOBODY, Lineup
from manyhands.baselines.learners.population import Partnered
from manyhands.baselines.learners.ppo import PPO
from manyhands.baselines.learners.psro import (
    PSROConfig,
    _allocate,
    _pretrain,
    exploitability,
    plain,
    psro,
    respond,
)
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.env import ConfigError, DeviceView, SeatError, TrainingError

QUICK = PSROConfig(
    total_steps=128 * 8 * 30,
    num_envs=128,
    num_steps=8,
    epochs=2,
    minibatches=1,
    learning_rate=0.03,
    discount=1.0,
    width=16,
    layers=1,
    counts="margin",
    strategies=3,
    opponents=4,
    checks=1,
    enough=1.0,
    matches=200,
)


# ---- the meta-game -------------------------------------------------------------------------------


def test_nash_of_weighted_rock_paper_scissors() -> None:
    payoffs = np.array([[0, -1, 2], [1, 0, -1], [-2, 1, 0]])
    np.testing.assert_allclose(nash(payoffs), [0.25, 0.5, 0.25], atol=1e-9)
    np.testing.assert_allclose(uniform(payoffs), [1 / 3] * 3)


def test_nash_leaves_out_what_is_dominated() -> None:
    # The first two rows are matching pennies; the third is worse than either.
    np.testing.assert_allclose(nash(np.array([[1, -1], [-1, 1], [-2, -1]])), [0.5, 0.5, 0])


@pytest.mark.parametrize("seed", range(3))
def test_nash_guarantees_the_value_of_any_game(seed: int) -> None:
    payoffs = np.random.default_rng(seed).normal(size=(5, 7))
    mixture = nash(payoffs)
    against = nash(-payoffs.T)
    assert mixture.sum() == pytest.approx(1) and (mixture >= 0).all()
    # What the rows can be sure of is what the columns can hold them to.
    assert (mixture @ payoffs).min() == pytest.approx((payoffs @ against).max(), abs=1e-8)


def test_elo_of_two_is_the_logistic_curve() -> None:
    ratings = elo(np.array([[0.5, 0.75], [0.25, 0.5]]), games=1000)
    assert ratings.mean() == pytest.approx(1000)
    assert ratings[0] - ratings[1] == pytest.approx(400 * math.log10(3), abs=0.1)


def test_elo_finds_the_strengths_that_made_the_table() -> None:
    true = np.array([1200.0, 1100.0, 1000.0, 850.0, 850.0])
    wins = 1 / (1 + 10 ** ((true[None] - true[:, None]) / 400))
    np.testing.assert_allclose(elo(wins, games=10**9), true, atol=0.5)


def test_elo_of_who_always_wins_is_finite() -> None:
    ratings = elo(np.array([[0.5, 1.0], [0.0, 0.5]]), games=100)
    assert ratings[0] - ratings[1] == pytest.approx(400 * math.log10(199), abs=0.5)


# ---- leagues -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables() -> Any:
    return league(manyhands.make("tic_tac_toe"), ["perfect", "random"], episodes=40, seed=3)


def test_league_knows_who_is_better(tables: Any, tmp_path: Any) -> None:
    assert tables.wins[0, 1] > 0.9 and tables.wins[0, 1] + tables.wins[1, 0] == pytest.approx(1)
    assert tables.margins[0, 1].min() >= 0 >= tables.margins[1, 0].max()  # perfect never loses
    assert tables.ratings[0] > 1200 > 800 > tables.ratings[1]
    np.testing.assert_allclose(tables.mixture(), [1, 0], atol=1e-9)
    np.testing.assert_allclose(tables.payoffs, -tables.payoffs.T)
    assert "| perfect" in str(tables)
    tables.save(tmp_path)
    data = json.loads((tmp_path / "league.json").read_text())
    assert data["wins"][0][1]["mean"] == pytest.approx(tables.wins[0, 1])
    rows = list(csv.DictReader(io.StringIO((tmp_path / "league.csv").read_text())))
    assert [(row["row"], row["column"]) for row in rows] == [
        ("perfect", "random"),
        ("random", "perfect"),
    ]
    assert (tmp_path / "league.md").read_text() == f"{tables}\n"


def test_leagues_need_two_sides_and_two_strategies() -> None:
    env = manyhands.make("tic_tac_toe")
    with pytest.raises(ConfigError, match="two strategies"):
        league(env, ["random"])
    with pytest.raises(ConfigError, match="'luck' is no reward term"):
        league(env, ["random", "perfect"], by="luck")
    with pytest.raises(ConfigError, match="two sides"):
        sides_of(manyhands.make("kuhn_poker", players=3))


# ---- learning ------------------------------------------------------------------------------------


def test_a_learner_can_have_all_seats_of_a_side() -> None:
    env = manyhands.make("kuhn_poker", players=3)
    rival = manyhands.seat("random", env)
    lineup, stacked = Lineup.of([rival], [(NOBODY, 0, NOBODY), (NOBODY, NOBODY, 0)])
    team = Partnered(env, lineup, stacked)
    assert team.agents == ("learner_0", "learner_1")
    states = jax.jit(team.batch_reset)(jax.random.split(jax.random.key(0), 6))
    rows, full = jax.jit(lambda s: (team.batch_observe(s), env.batch_observe(s.state)))(states)
    np.testing.assert_array_equal(rows[0], full[0])
    np.testing.assert_array_equal(rows[1, ..., :3], full[2, ..., :3])
    np.testing.assert_array_equal(rows[1, ..., 3:], full[1, ..., 3:])
    # All pass: whoever the rival is, the learner's own actions are what happens in its seats.
    step, acting = jax.jit(team.batch_step), jax.jit(env.batch_acting)
    for t in range(2):
        keys = jax.random.split(jax.random.key(t + 1), 6)
        before = acting(states.state)
        states, _ = step(keys, states, jnp.zeros((2, 6), jnp.int32))
        assert before[t].all()


def test_blocks_are_shared_out_as_the_mixture_says() -> None:
    mixture = np.array([0.5, 0.0, 0.3, 0.2])
    counts = np.zeros(4)
    for offset in (np.arange(1000) + 0.5) / 1000:
        shared = _allocate(mixture, 8, offset)
        assert shared == sorted(shared) and len(shared) == 8
        counts += np.bincount(shared, minlength=4) / 8000
        assert abs(np.bincount(shared, minlength=4) - 8 * mixture).max() < 1
    np.testing.assert_allclose(counts, mixture, atol=1e-3)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: Any) -> Any:
    env, out = manyhands.make("kuhn_poker"), tmp_path_factory.mktemp("psro")
    lines: list[str] = []
    two = dataclasses.replace(QUICK, strategies=2)
    first = psro(env, two, out, seed=1, log=lines.append)
    with pytest.raises(TrainingError, match="holds a run already"):
        psro(env, two, out, seed=1)
    return env, out, lines, first, psro(env, QUICK, out, seed=1, resume=True)


def test_a_population_grows_and_goes_on(grown: Any) -> None:
    env, out, lines, first, grown_on = grown
    assert grown_on.league.names == ("untrained", "response 1", "response 2")
    assert "learns against untrained (1.00)" in lines[0] and "wins" in lines[1]
    # What was there before is there still, and was not played again.
    np.testing.assert_array_equal(grown_on.league.margins[:2, :2], first.league.margins)
    for a, b in zip(
        *(jax.tree_util.tree_leaves(p.strategies[1].params) for p in (first, grown_on)),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    assert {path.name for path in out.iterdir()} >= {
        "psro.json",
        "league.md",
        "strategy-1.safetensors",
        "strategy-2.json",
    }
    with pytest.raises(TrainingError, match="another seed"):
        psro(env, QUICK, out, seed=2, resume=True)


def test_responses_beat_what_they_were_learned_against(grown: Any) -> None:
    *_, population = grown
    payoffs = population.league.payoffs
    assert payoffs[1, 0] > 0.05
    mixture = np.array(population.history[1]["mixture"])
    assert payoffs[2, :2] @ mixture > 0.02
    assert population.mixture.sum() == pytest.approx(1)


def test_the_mixture_is_harder_to_exploit_than_its_first_strategy(grown: Any) -> None:
    env, _, _, _, population = grown
    tree = game_theory.tree_of(env)
    gaps = [
        game_theory.exploitability(tree, game_theory.tabulate(tree, strategy))
        for strategy in population.strategies
        if isinstance(strategy, NetworkPolicy)
    ]
    response = exploitability(env, population, QUICK, seed=5)
    # A learned response never gains more than a perfect one would; chips, over both seats.
    found = response.margin(population.mixture)
    bound = population.mixture @ gaps
    assert 0 < found.mean - found.margin < bound
    assert response.steps == QUICK.total_steps and len(response.curve) == QUICK.checks


class Calls:
    """Bets or calls, whatever it holds."""

    def init(self, env: Any, agent: int) -> tuple[()]:
        return ()

    def apply(self, env: Any, agent: int, memory: Any, key: Any, view: Any) -> tuple[Any, Any]:
        return jnp.where(view.legal[1], 1, 0), memory


@pytest.mark.slow
def test_a_response_begins_with_what_a_script_teaches(monkeypatch: Any) -> None:
    env = manyhands.make("kuhn_poker")
    monkeypatch.setattr(
        "manyhands.baselines.learners.psro.read_players", lambda env, given: ([Calls()], ["calls"])
    )
    config = dataclasses.replace(QUICK, teacher="calls", lessons=128 * 8 * 20, strategies=1)
    lines: list[str] = []
    rival = [manyhands.seat("random", env)]
    progress = _pretrain(
        env, rival, np.ones(1), config, jax.random.key(0), seed=0, log=lines.append
    )
    player = PPO(env, plain(config)).player(progress)
    state = env.reset(jax.random.key(1))
    for action in (1, 0):  # a bet is called, a check is followed by a bet
        legal = env.legal(state)
        agent = int(np.argmax(np.asarray(env.acting(state))))
        view = DeviceView(
            env.observe(state)[agent], env.perceive(state)[agent], legal[agent], jnp.bool_(True)
        )
        chosen = [int(player.apply(env, agent, (), jax.random.key(k), view)[0]) for k in range(20)]
        assert sum(chosen) >= 18
        state, _ = env.step(jax.random.key(2), state, jnp.array([action, action]))
    assert len(lines) == 1 and "20,480 steps" in lines[0]


def test_opponents_must_compile() -> None:
    env = manyhands.make("kuhn_poker")
    with pytest.raises(SeatError, match="compiled loop"):
        respond(env, [lambda view: 0], np.ones(1), QUICK, jax.random.key(0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"meta_solver": "alpha"}, "meta_solver is nash or uniform"),
        ({"strategies": 0}, "strategies is from 1"),
        ({"enough": 0.0}, "enough is above 0"),
        ({"opponents": 3}, "multiple of 6"),
        ({"teacher": "random", "warm_start": False}, "who is taught .* warm_start=False"),
        ({"teacher": "random", "recurrent": True}, "recurrent=True"),
        ({"teacher": "random", "lessons": 0}, "lessons=0"),
    ],
)
def test_settings_that_make_no_sense(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        dataclasses.replace(QUICK, **change)
