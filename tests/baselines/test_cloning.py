"""Behaviour cloning: which decisions it takes from records, and what it learns from them."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pytest

import manyhands
from manyhands.baselines import game_theory
from manyhands.baselines.learners import training
from manyhands.baselines.learners.cloning import Cloning, CloningConfig, decisions
from manyhands.core.env import ConfigError, RecordError


@pytest.fixture(scope="module")
def hands(tmp_path_factory):
    """Hands of Kuhn poker of equilibrium play, and some beside a random player."""
    path = tmp_path_factory.mktemp("hands") / "run.jsonl"
    manyhands.play("kuhn_poker", "equilibrium", episodes=1500, record=path, concurrency=256)
    other = path.with_name("mixed.jsonl")
    seats = ["equilibrium", "random"]
    manyhands.play("kuhn_poker", seats, episodes=20, record=other, rotate=True)
    return str(path), str(other)


def test_a_clone_plays_like_its_teacher(hands, tmp_path) -> None:
    env = manyhands.make("kuhn_poker")
    config = CloningConfig(data=hands[:1], epochs=15, batch=64, width=32, layers=1)
    learner = training.make_learner(env, "bc", dataclasses.replace(config, learning_rate=0.01))
    result = training.train(learner, 2, tmp_path / "run", episodes=4, progress=False)
    tree = game_theory.tree_of(env)
    for seed, policy in result.policies.items():
        table = game_theory.tabulate(tree, policy)
        assert game_theory.exploitability(tree, table) < 0.1, seed  # random: 0.458
    lines = (tmp_path / "run" / "curve.jsonl").read_text()
    assert '"held_out_accuracy"' in lines and (tmp_path / "run" / "curve.png").exists()
    seat = manyhands.seat(f"policy:file={tmp_path / 'run' / 'policy-1.safetensors'}", env)
    assert seat.algorithm == "bc"


def test_the_policy_is_that_of_the_best_pass(hands) -> None:
    config = CloningConfig(data=hands[:1], epochs=3, batch=64, width=8, layers=1)
    learner = Cloning(manyhands.make("kuhn_poker"), config)
    update = jax.jit(learner.update)
    progress, metrics = update(learner.init(jax.random.key(0)))
    worse = dataclasses.replace(progress, least=np.float32(0), best=progress.params)
    later, _ = update(worse)
    for best, params in zip(
        *map(jax.tree_util.tree_leaves, (later.best, progress.params)), strict=True
    ):
        np.testing.assert_array_equal(best, params)
    assert later.least == 0 and progress.least == metrics["held_out_loss"]


def test_whose_decisions_count(hands) -> None:
    env = manyhands.make("kuhn_poker")
    everybody, one = (
        sum(map(len, decisions(env, [hands[1]], players))) for players in ((), ("random",))
    )
    other = sum(map(len, decisions(env, hands[1:], ("equilibrium",))))
    assert 0 < one < everybody == one + other
    (first, *_) = decisions(env, hands[1:], reads="vector")
    assert first.rows.shape[1:] == env.observation_space.shape
    assert first.legal[np.arange(len(first)), first.action].all()
    with pytest.raises(
        ConfigError, match="'nobody'; the seats in the data are equilibrium, random"
    ):
        decisions(env, hands[1:], ("nobody",))


def test_refused_answers_are_no_decisions(tmp_path) -> None:
    path = tmp_path / "run.jsonl"

    def stubborn(view):
        return 7 if view.step == 0 else int(np.flatnonzero(view.legal)[0])

    manyhands.play("tic_tac_toe", stubborn, episodes=2, record=path)
    whole = [len(e.steps) for e in manyhands.core.record.read(path)]
    kept = list(map(len, decisions(manyhands.make("tic_tac_toe"), [str(path)])))
    assert kept == whole  # 7 is legal there
    path.unlink()
    manyhands.play("kuhn_poker", lambda view: 9, episodes=2, record=path, on_illegal="noop")
    assert decisions(manyhands.make("kuhn_poker"), [str(path)]) == []


def test_refusals(hands, tmp_path) -> None:
    def learner(id: str, **config) -> Cloning:
        return Cloning(manyhands.make(id), CloningConfig(**config))

    with pytest.raises(ConfigError, match="--data run"):
        learner("kuhn_poker")
    with pytest.raises(ConfigError, match=r"line 1.*environment 'kuhn_poker', not 'leduc_holdem'"):
        learner("leduc_holdem", data=hands)
    with pytest.raises(ConfigError, match="Discrete and MultiDiscrete"):
        learner("volleyball", data=hands)
    with pytest.raises(RecordError, match="cannot read"):
        learner("kuhn_poker", data=(str(tmp_path / "none.jsonl"),))
    (tmp_path / "diary.jsonl").write_bytes(b"dear diary\xff\n")
    with pytest.raises(RecordError, match=r"diary\.jsonl, line 1 is no JSON"):
        learner("kuhn_poker", data=(str(tmp_path / "diary.jsonl"),))
    manyhands.play("kuhn_poker", "random", record=tmp_path / "one.jsonl")
    with pytest.raises(ConfigError, match="1 episodes with decisions; at least 2"):
        learner("kuhn_poker", data=(str(tmp_path / "one.jsonl"),))
    for wrong in ({"epochs": 0}, {"held_out": 1.0}, {"reads": "text"}):
        with pytest.raises(ConfigError):
            CloningConfig(**wrong)
