"""Self-play in games of turns: average strategies, and baselines that know the role."""

from __future__ import annotations

import dataclasses
import itertools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines import game_theory
from manyhands.baselines.learners import training
from manyhands.baselines.learners.networks import NetworkConfig
from manyhands.baselines.learners.ppo import PPO, PPOConfig, Steps
from manyhands.baselines.players import network as policies
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.cli import main
from manyhands.core.env import ConfigError, PolicyError

PASS, BET = 0, 1
TINY = {"num_envs": 8, "num_steps": 4, "minibatches": 1, "epochs": 1, "width": 4, "layers": 1}


@pytest.fixture(scope="module")
def tree() -> game_theory.Tree:
    return game_theory.tree_of(manyhands.make("kuhn_poker"))


def infoset(tree: game_theory.Tree, owner: int, card: int, *moves: int) -> int:
    """The information set after these moves, with the jack (0), the queen or the king."""
    (found,) = (
        i
        for i in range(tree.num_infosets)
        if tree.owner[i] == owner
        and tree.observations[i][:3].argmax() == card
        and tuple(action for _, action in tree.line(tree.example(i))) == moves
    )
    return found


# ---- tables --------------------------------------------------------------------------------------


def test_an_average_weighs_by_reach(tree):
    """By hand: who passes first 9 times in 10 and then calls, and who passes once in 10 and then
    folds, call 9 times in 10 on average."""
    first, again = infoset(tree, 0, 0), infoset(tree, 0, 0, PASS, BET)
    tables = np.stack([game_theory.uniform(tree)] * 2)
    tables[0, first], tables[0, again] = (0.9, 0.1), (0.0, 1.0)
    tables[1, first], tables[1, again] = (0.1, 0.9), (1.0, 0.0)
    mixed = game_theory.average(tree, tables)
    np.testing.assert_allclose(mixed[first], [0.5, 0.5])
    np.testing.assert_allclose(mixed[again], [0.1, 0.9])
    others = np.delete(np.arange(tree.num_infosets), [first, again])
    np.testing.assert_allclose(mixed[others], 0.5)
    tables[:, first] = 0.0, 1.0  # neither ever passes first, so that nothing can be told
    np.testing.assert_allclose(game_theory.average(tree, tables)[again], [0.5, 0.5])


def test_an_average_earns_what_drawing_earns(tree):
    """Beside every combination of draws, played out by itself; and against a stranger."""
    draw = np.random.default_rng(0).exponential(size=(3, *tree.legal.shape)) ** 3
    tables = draw / draw.sum(axis=2, keepdims=True)
    mixed, stranger = game_theory.average(tree, tables[:2]), tables[2]
    own = [np.where((tree.owner == p)[:, None], 1, 0) for p in range(2)]
    values = [
        game_theory.expected_values(tree, own[0] * tables[i] + own[1] * tables[j])
        for i, j in itertools.product(range(2), repeat=2)
    ]
    expected = game_theory.expected_values(tree, mixed)
    np.testing.assert_allclose(expected, np.mean(values, axis=0), atol=1e-12)
    for p in range(2):
        values = [
            game_theory.expected_values(tree, own[p] * tables[i] + own[1 - p] * stranger)
            for i in range(2)
        ]
        expected = game_theory.expected_values(tree, own[p] * mixed + own[1 - p] * stranger)
        np.testing.assert_allclose(expected, np.mean(values, axis=0), atol=1e-12)


# ---- networks ------------------------------------------------------------------------------------


def mixture(tree: game_theory.Tree, *logits: tuple[float, float]) -> NetworkPolicy:
    """Snapshots that look at nothing: each has its logits of passing and betting everywhere."""
    inputs, count = tree.observations.shape[1], len(logits)
    dense = {"kernel": np.zeros((count, inputs, 2), np.float32), "bias": np.float32(logits)}
    return NetworkPolicy(
        params={
            "network": {"params": {"Dense_0": dense}},
            "mean": np.zeros((count, inputs), np.float32),
            "scale": np.ones((count, inputs), np.float32),
        },
        network=NetworkConfig(layers=0),
        reads="perception",
        spec=tree.env.spec(),
        snapshots=count,
    )


def test_a_mixture_as_a_table(tree):
    bets, even = np.log([0.2, 0.8]), np.log([0.5, 0.5])
    table = game_theory.tabulate(tree, mixture(tree, bets, even))
    np.testing.assert_allclose(table[infoset(tree, 0, 2)], [0.35, 0.65], atol=1e-6)
    call = (0.2 * 0.8 + 0.5 * 0.5) / (0.2 + 0.5)
    np.testing.assert_allclose(table[infoset(tree, 0, 2, PASS, BET)][BET], call, atol=1e-6)
    alone = dataclasses.replace(
        mixture(tree, bets),
        snapshots=0,
        params=jax.tree_util.tree_map(lambda leaf: leaf[0], mixture(tree, bets).params),
    )
    np.testing.assert_allclose(game_theory.tabulate(tree, alone)[:, BET], 0.8, atol=1e-6)
    greedy = dataclasses.replace(alone, greedy=True)
    betting = game_theory.tabulate(tree, greedy)[:, BET]
    never = [infoset(tree, 0, card, PASS, BET) for card in range(3)]  # since it never passes
    assert all(betting[i] == (0.5 if i in never else 1.0) for i in range(tree.num_infosets))
    with pytest.raises(ConfigError, match="without memory"):
        forgetful = dataclasses.replace(alone, network=NetworkConfig(width=1, recurrent=True))
        game_theory.tabulate(tree, forgetful)


@pytest.mark.slow
def test_each_seat_draws_one_snapshot_for_each_episode(tree, tmp_path):
    """One always bets and one always passes: nobody ever passes and then bets."""
    path = tmp_path / "average.safetensors"
    policies.save(path, mixture(tree, (-50.0, 50.0), (50.0, -50.0)), {"seed": 0})
    player = policies.load(path, tree.env)
    assert player.snapshots == 2
    played = manyhands.rollout(tree.env, player, 512, 24, jax.random.key(0)).trajectory
    acting, action = np.asarray(played.acting), np.asarray(played.action)
    over = np.asarray(played.terminated).all(axis=1)
    episode = np.cumsum(over, axis=0) - over  # [T, B], the number of each step's episode
    taken = {}  # by (environment, episode): {seat: set of actions}
    for t, p, b in zip(*np.nonzero(acting), strict=True):
        taken.setdefault((b, episode[t, b]), {}).setdefault(p, set()).add(int(action[t, p, b]))
    assert all(len(done) == 1 for seats in taken.values() for done in seats.values())
    both = [tuple(min(seats[p]) for p in range(2)) for seats in taken.values() if len(seats) == 2]
    counts = np.array([both.count(pair) for pair in itertools.product((PASS, BET), repeat=2)])
    assert counts.sum() > 4000
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.03)  # and by themselves
    result = manyhands.play(tree.env, [f"policy:file={path}", "equilibrium"], episodes=4, seed=0)
    assert np.isfinite(result.rewards).all()

    lost = jax.tree_util.tree_map(lambda leaf: leaf[:1], player.params)
    policies.save(path, dataclasses.replace(player, params=lost), {})
    with pytest.raises(PolicyError, match="has the shape"):
        policies.load(path, tree.env)


# ---- learning ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_snapshots_are_taken_at_even_distances(tree):
    """Of seven updates the last four are averaged, in two parts: after the fifth and seventh."""
    learner = PPO(tree.env, PPOConfig(total_steps=7 * 32, average=2, average_from=0.5, **TINY))
    update, progress, players = jax.jit(learner.update), learner.init(jax.random.key(0)), []
    for _ in range(7):
        averages = learner.average(progress)
        assert (averages.snapshots if averages else 0) == (0, 0, 0, 0, 1, 1, 2)[len(players)]
        progress, _ = update(progress)
        players.append(learner.policy(progress))
    averages = learner.average(progress)
    assert averages.snapshots == 2
    for i, at in enumerate((5, 7)):
        jax.tree_util.tree_map(
            lambda kept, then, i=i: np.testing.assert_array_equal(kept[i], then),
            averages.params,
            players[at - 1].params,
        )
    tables = [game_theory.tabulate(tree, players[at - 1]) for at in (5, 7)]
    np.testing.assert_allclose(
        game_theory.tabulate(tree, averages), game_theory.average(tree, tables), atol=1e-6
    )
    many = PPO(tree.env, PPOConfig(total_steps=7 * 32, average=99, average_from=0.5, **TINY))
    assert many._kept == 4  # no update is kept twice
    for name, wrong in (("average", -1), ("average_from", 1.0)):
        with pytest.raises(ConfigError, match=name):
            PPOConfig(**{name: wrong})


@pytest.mark.slow
def test_the_baseline_of_a_role(tree):
    """It follows the mean return of each seat, and is what advantages are counted from."""
    config = PPOConfig(
        total_steps=96, advantage="role", discount=1.0, role_decay=0.9, reward_scale=0.5, **TINY
    )
    learner = PPO(tree.env, config)
    progress, expected = learner.init(jax.random.key(3)), np.zeros(2)
    update = jax.jit(learner.update)
    for _ in range(3):
        progress, metrics = update(progress)
        assert metrics["episodes"] > 0
        returns = np.array([metrics[f"return/{agent}"] for agent in tree.env.agents])
        expected = 0.9 * expected + 0.1 * 0.5 * returns
        np.testing.assert_allclose(progress.baseline, expected, rtol=1e-5)
    assert abs(progress.baseline).min() > 0

    # An episode of two steps that pays 2 and -2 at its end, and one that goes on.
    reward, ended = np.zeros((4, 8, 2), np.float32), np.zeros((4, 8, 2), bool)
    reward[1], ended[1] = (2.0, -2.0), True
    empty = jnp.zeros((4, 8, 2))
    steps = Steps(
        row=empty, summary=None, legal=empty, acts=empty, counts=empty, action=empty,
        log_prob=empty, reward=jnp.asarray(reward), ended=jnp.asarray(ended),
        terminated=jnp.asarray(ended), first=empty,
    )  # fmt: skip
    progress = dataclasses.replace(progress, baseline=jnp.array([0.5, -0.25]))
    values, _ = learner._values(progress, progress.playing, steps)
    advantages = np.asarray(learner._advantages(steps, values))
    np.testing.assert_allclose(advantages[:2], np.broadcast_to([1.5, -1.75], (2, 8, 2)), rtol=1e-6)
    np.testing.assert_allclose(advantages[2:], 0.0, atol=1e-6)


@pytest.mark.slow
def test_one_command_trains_several_games(tmp_path):
    """Each by a learner of its own, with the baselines and snapshots of its own roles."""
    words = ["kuhn_poker", "leduc_holdem", "--advantage", "role", "--average", "2", "--epochs", "1"]
    words += ["--total-steps", "256", "--num-envs", "8", "--num-steps", "16", "--minibatches", "1"]
    words += ["--average-from", "0", "--width", "4", "--seeds", "5,", "--episodes", "4"]
    assert main(["train", *words, "--out", str(tmp_path)]) == 0
    for id in ("kuhn_poker", "leduc_holdem"):
        out, env = tmp_path / f"{id}", manyhands.make(id)
        card = json.loads((out / "average-5.json").read_text())
        policy = policies.load(out / "average-5.safetensors", env)
        tree = game_theory.tree_of(env)
        table = game_theory.tabulate(tree, policy)
        assert card["seed"] == 5 and policy.snapshots == 2
        assert card["score"]["exploitability"] == game_theory.exploitability(tree, table) > 0.1
        last = game_theory.tabulate(tree, policies.load(out / "policy-5.safetensors", env))
        gap = game_theory.exploitability(tree, last)
        np.testing.assert_allclose(card["score"]["exploitability_of_last"], gap)


@pytest.mark.slow
def test_kuhn_is_solved_by_self_play(tree, tmp_path):
    """With the settings that `manyhands train kuhn_poker` starts from."""
    learner = training.make_learner(tree.env, "ippo")
    result = training.train(learner, [0], tmp_path, progress=False)
    assert result.exploitability[0] < 0.05
    table = game_theory.tabulate(tree, result.averages[0])
    np.testing.assert_allclose(game_theory.expected_values(tree, table)[0], -1 / 18, atol=0.03)
