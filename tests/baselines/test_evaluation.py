"""Evaluation: the same episodes as `play`, one program for many policies, honest intervals."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import manyhands
from manyhands.baselines.evaluation import Estimate, evaluate, held_out, matches, zero_shot
from manyhands.baselines.evaluation.matches import split
from manyhands.cli import main
from manyhands.core.env import ConfigError, SeatError


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=("chances",), meta_fields=("name",)
)
@dataclasses.dataclass(frozen=True, eq=False)
class Counter:
    """Draws from chances f32[A] that a count of its own moves shifts: it has arrays and memory."""

    chances: Any
    name: str = "counter"

    def init(self, env, agent):
        return jnp.int32(agent)

    def apply(self, env, agent, memory, key, view):
        scores = jnp.log(jnp.roll(self.chances, memory)) + jnp.where(view.legal, 0.0, -1e9)
        return jax.random.categorical(key, scores).astype(jnp.int32), memory + 1


def counter(*chances: float) -> Counter:
    return Counter(np.array(chances, np.float32))


@pytest.fixture(scope="module")
def kitchen():
    return manyhands.make("kitchen", layout="cramped_room", max_steps=24)


@pytest.fixture(scope="module")
def poker():
    """Turns, episodes of different lengths, several hands."""
    return manyhands.make("kuhn_poker", hands=4)


def same(match: Any, played: Any) -> None:
    """That a match holds the episodes that `play` played."""
    assert np.array_equal(match.returns, played.rewards)
    assert match.lengths.tolist() == [e.steps for e in played.episodes]
    for name, values in match.terms.items():
        assert np.array_equal(values, [e.terms[name] for e in played.episodes]), name
    for name, values in match.metrics.items():
        assert np.array_equal(values, [e.metrics[name] for e in played.episodes]), name


def test_an_interval_is_students() -> None:
    values = np.random.default_rng(0).normal(3, 2, 17)
    ours = Estimate.of(values)
    low, high = stats.t.interval(0.95, 16, values.mean(), stats.sem(values))
    assert ours.mean - ours.margin == pytest.approx(low)
    assert ours.mean + ours.margin == pytest.approx(high)
    assert ours.to_dict() == {"mean": ours.mean, "low": ours.mean - ours.margin,
                              "high": ours.mean + ours.margin, "n": 17}  # fmt: skip
    # It covers the mean as often as it says: 95% of 400 samples, give or take three deviations.
    draws = np.random.default_rng(1).normal(3, 2, (400, 8))
    covered = sum(abs(e.mean - 3) <= e.margin for e in map(Estimate.of, draws))
    assert 380 - 3 * 4.4 <= covered <= 380 + 3 * 4.4
    alone = Estimate.of([5.0])
    assert math.isnan(alone.margin) and str(alone) == "5" and alone.to_dict()["low"] is None
    assert str(Estimate(231.26, 3.14, 9)) == "231.3 ± 3.1" and str(Estimate(2, 0, 9)) == "2 ± 0"
    assert str(Estimate(0.0512, 0.0031, 9)) == "0.0512 ± 0.0031"


@pytest.mark.slow
def test_device_policies_play_the_episodes_of_play(kitchen: Any, poker: Any) -> None:
    for env, policy in ((kitchen, counter(1, 1, 1, 1, 0.2, 2)), (poker, counter(1, 2))):
        result = evaluate(env, [policy, "random"], episodes=6, seed=3)
        assert [match.players for match in result.matches] == [(0, 1), (1, 0)]
        same(result.matches[0], manyhands.play(env, [policy, "random"], 6, 3))
        same(result.matches[1], manyhands.play(env, ["random", policy], 6, 3))
    lengths = result.matches[0].lengths
    assert len(set(lengths)) > 1  # the loop went on for some, and counted nothing for the rest


def test_host_seats_take_part(poker: Any) -> None:
    def careful(view):
        return 0

    result = evaluate(poker, [careful, "random"], episodes=3, seed=1)
    same(result.matches[1], manyhands.play(poker, ["random", careful], 3, 1))
    assert result.names == ("careful", "random")


def test_other_arrays_do_not_compile_anew(poker: Any) -> None:
    first = evaluate(poker, [counter(3, 1), counter(1, 3)], episodes=5)
    programs = matches._compile.cache_info().misses
    with jax.no_tracing():
        second = evaluate(poker, [counter(1, 9), counter(9, 1)], episodes=5, seed=4)
    assert matches._compile.cache_info().misses == programs
    assert (first.matches[0].returns != second.matches[0].returns).any()
    # Greedy chefs of all skills are one program, too.
    env = manyhands.make("kitchen")
    kinds = ("greedy", "greedy:noise=0.4", "onion_only", "plate_only:noise=0.1")
    assert len({split(manyhands.seat(kind, env))[0] for kind in kinds}) == 1
    assert len({split(manyhands.seat(kind, env))[0] for kind in ("random", "stationary")}) == 2


def test_chunks_change_nothing(poker: Any, monkeypatch: Any) -> None:
    whole = evaluate(poker, [counter(3, 1), "random"], episodes=7)
    monkeypatch.setattr(matches, "BATCH", 6)
    parts = evaluate(poker, [counter(3, 1), "random"], episodes=7)
    for match, other in zip(whole.matches, parts.matches, strict=True):
        assert np.array_equal(match.returns, other.returns) and len(match.lengths) == 7


@pytest.mark.slow
def test_one_policy_has_one_seat_order(poker: Any) -> None:
    result = evaluate(poker, "random", episodes=4)
    assert [match.players for match in result.matches] == [(0, 0)]
    assert result.mean["return"].mean == 0  # a zero-sum game
    three = manyhands.make("kuhn_poker", players=3)
    result = evaluate(three, ["random", counter(1, 1), "random"], episodes=4)
    assert [match.players for match in result.matches] == [(0, 1, 0), (0, 0, 1), (1, 0, 0)]
    own = result.quantities(result.matches[1])["return of counter"]
    assert np.array_equal(own, result.matches[1].returns[:, 2])
    report = str(result)
    assert "| return of counter" in report and "random, random, counter" in report
    assert json.loads(json.dumps(result.to_dict()))["seat_orders"][2]["seats"][0] == "counter"


def test_zero_shot_seats_the_policy_everywhere(poker: Any) -> None:
    bold = counter(1e-6, 1)
    result = zero_shot(poker, bold, {"timid": counter(1, 1e-6), "any": "random"}, episodes=8)
    assert result.partners == ("timid", "any") and result.returns.shape == (2, 2, 8)
    for seat in (0, 1):
        seats = ["random", "random"]
        seats[seat] = bold  # type: ignore[call-overload]
        assert np.array_equal(
            result.returns[1, seat], manyhands.play(poker, seats, 8).rewards[:, seat]
        )
    assert result.mean.mean == pytest.approx(result.returns.mean())
    # Seats and partners of one seed are averaged before the interval is made.
    by_seed = result.returns.mean((0, 1))
    assert result.mean.margin == pytest.approx(stats.t.ppf(0.975, 7) * stats.sem(by_seed))
    assert "| timid" in str(result) and "as player_1" in str(result)
    assert set(result.to_dict()["partners"]) == {"timid", "any"}


def test_the_held_out_partners_of_the_kitchen(kitchen: Any) -> None:
    partners = held_out(manyhands.make("chat", env=kitchen))
    assert {"random", "stationary", "onion_only", "plate_only", "greedy"} <= set(partners)
    assert sum(name.startswith("greedy") for name in partners) >= 4
    for spec in partners.values():
        assert hasattr(manyhands.seat(spec, kitchen), "apply")  # plays in compiled loops


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda env: evaluate(env, ["random"] * 3), ConfigError, "3 given"),
        (lambda env: evaluate(env, "nobody"), SeatError, "no seat is called"),
        (lambda env: evaluate(env, "random", episodes=0), ConfigError, "whole number from 1"),
        (lambda env: evaluate(env, [3, "random"]), SeatError, "cannot play"),
        (lambda env: zero_shot(env, "random"), ConfigError, "no held-out partners"),
        (lambda env: zero_shot(env, "random", []), ConfigError, "no partners"),
        (
            lambda env: zero_shot(manyhands.make("kitchen", chefs=1), "greedy"),
            ConfigError,
            "one agent",
        ),
    ],
)
def test_mistakes_are_explained(poker: Any, call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call(poker)


def test_the_command(capsys: Any, tmp_path: Any) -> None:
    file = tmp_path / "deep" / "result.json"
    arguments = ["kuhn_poker", "hands=4", "--episodes", "5", "--seats"]
    assert main(["evaluate", *arguments, "random", "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "| return" in out and "95% t-interval" in out and "hands=4" in out
    assert json.loads(file.read_text())["episodes"] == 5
    assert main(["evaluate", *arguments, "random", "--zero-shot", "random"]) == 0
    assert "partner" in capsys.readouterr().out
    assert main(["evaluate", *arguments, "random", "random", "--zero-shot"]) == 2
    assert "evaluates one policy, 2 given" in capsys.readouterr().err
