"""Exact game theory, against OpenSpiel's where it has the same, and against known numbers."""

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import cfr as spiel_cfr
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.algorithms import exploitability as spiel_exploitability

import manyhands
from manyhands.baselines import game_theory
from manyhands.baselines.game_theory import (
    Solver,
    TablePolicy,
    Tree,
    analyse,
    as_policy,
    best_response,
    dominated,
    expected_values,
    exploitability,
    from_counts,
    kuhn_equilibrium,
    nash_conv,
    plot,
    solve,
    tree_of,
    uniform,
    unroll,
)
from manyhands.cli import main
from manyhands.core.env import (
    ConfigError,
    DeviceView,
    Env,
    RecordError,
    SeatError,
    state_dataclass,
)
from manyhands.core.record import read

GAMES = {
    "kuhn2": ("kuhn_poker", {}, "kuhn_poker"),
    "kuhn3": ("kuhn_poker", {"players": 3}, "kuhn_poker(players=3)"),
    "leduc": ("leduc_holdem", {}, "leduc_poker"),
}


def tree(name: str) -> Tree:
    id, config, _ = GAMES[name]
    return tree_of(manyhands.make(id, **config))


@pytest.fixture(scope="module")
def kuhn() -> Tree:
    return tree("kuhn2")


def random_table(tree: Tree, seed: int = 0) -> np.ndarray:
    """Some policy with probabilities of all sizes, zeros included."""
    draw = np.random.default_rng(seed).exponential(size=tree.legal.shape) ** 2
    draw = np.where(draw < 0.05, 0, draw) * tree.legal + 1e-12 * tree.legal
    return draw / draw.sum(axis=1, keepdims=True)


class Twin:
    """OpenSpiel's game beside our tree: its information states by the numbers of ours.

    `actions[i]` gives OpenSpiel's numbers of our actions: in Leduc hold'em a check is its call.
    """

    def __init__(self, name: str):
        self.ours, self.game = tree(name), pyspiel.load_game(GAMES[name][2])
        self.leduc = name == "leduc"
        ours = self.ours
        deals = {deal: i for i, (deal, _) in enumerate(ours.env.deals())}
        self.points = {
            (int(ours.deal[m]), tuple(a for _, a in ours.line(m))): m
            for m in range(len(ours.parent))
        }
        self.deals = deals
        self.numbers: dict[str, int] = {}
        self.end_of = dict(zip(ours.ends.tolist(), range(len(ours.ends)), strict=True))
        self.ends = 0
        self._walk(self.game.new_initial_state(), (), ())

    def _walk(self, state: Any, deal: tuple[int, ...], line: tuple[int, ...]) -> None:
        if state.is_chance_node():
            for card, _ in state.chance_outcomes():
                self._walk(state.child(card), (*deal, card), line)
            return
        # Public cards that OpenSpiel has not dealt yet may be any.
        full = next(d for d in self.deals if d[: len(deal)] == deal)
        point = self.points[self.deals[full], line]
        ours = self.ours
        if state.is_terminal():
            self.ends += 1
            np.testing.assert_allclose(ours.payoffs[:, self.end_of[point]], state.returns())
            return
        player = state.current_player()
        assert ours.player[point] == player
        infoset = int(ours.infoset[point])
        key = state.information_state_string()
        assert self.numbers.setdefault(key, infoset) == infoset
        actions = self.actions(infoset)
        assert sorted(actions.values()) == state.legal_actions()
        for our, theirs in actions.items():
            self._walk(state.child(theirs), deal, (*line, our))

    def actions(self, infoset: int) -> dict[int, int]:
        legal = np.flatnonzero(self.ours.legal[infoset]).tolist()
        checks = self.leduc and 1 not in legal
        return {a: 1 if checks and a == 0 else a for a in legal}

    def to_spiel(self, table: np.ndarray) -> Any:
        policy = spiel_policy.TabularPolicy(self.game)
        for key, i in self.numbers.items():
            row = policy.policy_for_key(key)
            row[:] = 0
            for our, theirs in self.actions(i).items():
                row[theirs] = table[i, our]
        return policy

    def from_spiel(self, policy: Any) -> np.ndarray:
        table = np.zeros(self.ours.legal.shape)
        for key, i in self.numbers.items():
            for our, theirs in self.actions(i).items():
                table[i, our] = policy.policy_for_key(key)[theirs]
        return table


@pytest.fixture(scope="module", params=GAMES)
def twin(request: pytest.FixtureRequest) -> Twin:
    return Twin(request.param)


# ---- the tree ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("players", "infosets", "ends", "values", "gap"),
    [
        (2, 6, 30, (0.125, -0.125), 0.9167),
        (3, 16, 312, (0.2344, -0.0469, -0.1875), 2.0625),
        (4, 40, 3960, (0.3099, 0.0182, -0.1276, -0.2005), 3.476),
    ],
)
def test_uniform_kuhn(players, infosets, ends, values, gap):
    tree = tree_of(manyhands.make("kuhn_poker", players=players))
    assert np.diff(tree.first).tolist() == [infosets] * players
    assert len(tree.ends) == ends and tree.zero_sum
    assert tree.payoffs.min() == -2 and tree.payoffs.max() == 2 * (players - 1)
    assert len(tree.offsets) - 2 == 2 * players - 1  # decisions of the longest line
    np.testing.assert_allclose(expected_values(tree, uniform(tree)), values, atol=5e-5)
    assert nash_conv(tree, uniform(tree)) == pytest.approx(gap, abs=5e-5)


def test_tree_is_consistent():
    tree = tree_of(manyhands.make("kuhn_poker", players=3))
    inner = np.flatnonzero(tree.player >= 0)
    assert (tree.owner[tree.infoset[inner]] == tree.player[inner]).all()
    assert (tree.parent[tree.offsets[1] :] < np.arange(tree.offsets[1], len(tree.parent))).all()
    # A sequence is the last (information set, action) of the agent on the way.
    for t in range(0, len(tree.ends), 7):
        last = [tree.empty] * 3
        point = int(tree.ends[t])
        way = []
        while point >= 0:
            way.append(point)
            point = int(tree.parent[point])
        for before, after in zip(way[:0:-1], way[-2::-1], strict=True):
            last[tree.player[before]] = tree.infoset[before] * 2 + tree.action[after]
        assert tree.sequences[:, t].tolist() == last
    assert "48 information sets" in repr(tree)


def test_same_game_as_open_spiel(twin):
    """Twin compares the player, the legal actions and the returns of every history."""
    assert sorted(twin.numbers.values()) == list(range(twin.ours.num_infosets))
    assert twin.ends == {12: 30, 48: 312, 936: 5520}[twin.ours.num_infosets]
    assert twin.ours.merged[0].shape[1] == twin.ends  # the unseen public cards are merged


def test_values_agree_with_open_spiel(twin):
    for seed in range(2):
        table = random_table(twin.ours, seed)
        theirs = twin.to_spiel(table)
        root = twin.game.new_initial_state()
        players = [theirs] * twin.ours.num_agents
        score = expected_game_score.policy_value(root, players)
        np.testing.assert_allclose(expected_values(twin.ours, table), score, atol=1e-9)
        if seed or twin.leduc:  # theirs takes long
            gap = spiel_exploitability.nash_conv(twin.game, theirs)
            assert nash_conv(twin.ours, table) == pytest.approx(gap, abs=1e-9)
            assert exploitability(twin.ours, table) == pytest.approx(gap / len(players), abs=1e-9)


def test_best_response_earns_what_it_says():
    tree = tree_of(manyhands.make("kuhn_poker", players=3))
    table = random_table(tree)
    for agent, name in enumerate(tree.env.agents):
        value, best = best_response(tree, table, name)
        assert expected_values(tree, best)[agent] == pytest.approx(value, abs=1e-12)
        others = tree.owner != agent
        assert (best[others] == table[others]).all()
        assert set(np.unique(best[~others])) == {0.0, 1.0}
        for seed in range(3):
            deviation = table.copy()
            deviation[~others] = random_table(tree, seed)[~others]
            assert expected_values(tree, deviation)[agent] <= value + 1e-12


@state_dataclass
class Walk:
    """Two moves by one agent; with `flaw="turns"`, which is none, one by each of two."""

    moves: Any
    count: Any


class Walker(Env[Walk]):
    """A toy game for errors: `flaw` says what is wrong with it."""

    id = "walker"
    terms = ("score",)
    max_steps = 2
    deterministic_reset = True

    def __init__(self, flaw: str = ""):
        import gymnasium

        self.flaw = flaw
        self.agents = ("a", "b")
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Box(-1, 2, (3,), np.int8)
        self.reward_weights = {"score": 1.0}
        self.deterministic_reset = flaw != "unlisted"

    def config(self):
        return {"flaw": self.flaw}

    def reset(self, key):
        return Walk(jnp.full(2, -1, jnp.int8), jnp.int8(0))

    def acting(self, state):
        both = jnp.asarray(self.flaw == "simultaneous")
        turns = self.flaw == "turns"
        second = jnp.logical_and(turns, state.count == 1)
        return jnp.stack([~second, both | second])

    def legal(self, state):
        choice = jnp.asarray([True, True])
        if self.flaw == "masks":
            choice = choice.at[1].set(state.moves[0] != 0)
        return self.acting(state)[:, None] & choice

    def choices(self, state, agent):
        return ["left", "right"]

    def observe(self, state):
        hidden = self.flaw in ("forgetful", "masks")
        moves = jnp.where(hidden, -1, state.moves)
        return jnp.broadcast_to(jnp.append(moves, state.count), (2, 3)).astype(jnp.int8)

    def step(self, key, state, actions):
        who = jnp.where(self.flaw == "turns", state.count, 0)
        moves = state.moves.at[state.count].set(actions[who].astype(jnp.int8))
        count = state.count + jnp.int8(1)
        over = count == 2
        luck = jax.random.bernoulli(key) if self.flaw == "luck" else False
        score = jnp.where(over, moves.sum() + luck, 0.0) * jnp.asarray([1.0, -1.0])
        over = jnp.broadcast_to(over, 2)
        state = Walk(moves, count)
        return state, self.outcome(
            {"score": score}, over, over & False, {"illegal": jnp.float32(0)}
        )


def test_games_without_chance():
    tree = unroll(Walker())
    assert len(tree.parent) == 7 and np.diff(tree.first).tolist() == [3, 0]
    assert expected_values(tree, uniform(tree)).tolist() == [1, -1]
    assert best_response(tree, uniform(tree), 0)[0] == 2
    for algorithm in ("cfr", "mccfr"):
        solver = Solver(tree, algorithm)
        solver.run(200)
        assert expected_values(tree, solver.average())[0] > 1.95
    tree = unroll(Walker("turns"))  # the second subtracts what it can
    assert np.diff(tree.first).tolist() == [1, 2]
    for algorithm in ("cfr", "cfr+", "mccfr"):
        solver = Solver(tree, algorithm)
        solver.run(200)
        np.testing.assert_allclose(expected_values(tree, solver.average()), [1, -1], atol=0.05)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (lambda: Walker("simultaneous"), "needs turns"),
        (lambda: Walker("forgetful"), "no perfect recall"),
        (lambda: Walker("masks"), r"perfect recall|different actions"),
        (lambda: Walker("luck"), "draws from its key"),
        (lambda: Walker("unlisted"), "its resets draw"),
        (lambda: manyhands.make("kitchen"), r"needs turns|resets draw"),
        (lambda: manyhands.make("kuhn_poker", hands=2), "unroll one"),
        (lambda: manyhands.make("kuhn_poker", players=7), "too large"),
        (lambda: manyhands.make("kuhn_poker", players=10), "too large"),
    ],
)
def test_games_without_a_tree(env, words):
    with pytest.raises(ConfigError, match=words):
        unroll(env(), max_points=20_000)


# ---- policies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", [0, 1 / 9, 1 / 6, 1 / 3])
def test_kuhn_family(kuhn, a):
    table = kuhn_equilibrium(kuhn, a)
    assert abs(nash_conv(kuhn, table)) < 1e-9
    np.testing.assert_allclose(expected_values(kuhn, table), [-1 / 18, 1 / 18], atol=1e-12)


def test_known_numbers_of_kuhn(kuhn):
    passes = np.tile([1.0, 0.0], (12, 1))
    assert nash_conv(kuhn, passes) == pytest.approx(2.0)
    assert nash_conv(kuhn, 1 - passes) == pytest.approx(0.6667, abs=5e-5)
    best = kuhn_equilibrium(kuhn)
    first = (kuhn.owner == 0)[:, None]
    for other, as_first, as_second in (
        (uniform(kuhn), 0.1111, 0.1667),
        (passes, 0.1111, 0.2222),
        (1 - passes, 0.1111, 0.1111),
    ):
        assert expected_values(kuhn, np.where(first, best, other))[0] == pytest.approx(
            as_first, abs=5e-5
        )
        assert expected_values(kuhn, np.where(first, other, best))[1] == pytest.approx(
            as_second, abs=5e-5
        )


def test_bad_tables(kuhn):
    for table in (np.ones((3, 2)), np.ones((12, 2)), np.tile([1.5, -0.5], (12, 1))):
        with pytest.raises(ConfigError):
            expected_values(kuhn, table)
    leduc = tree("leduc")
    with pytest.raises(ConfigError, match="no distribution"):
        nash_conv(leduc, np.full(leduc.legal.shape, 1 / 3))  # some are not legal
    for a in (-0.1, 0.4, "x"):
        with pytest.raises(ConfigError, match="from 0 to 1/3"):
            kuhn_equilibrium(kuhn, a)
    with pytest.raises(ConfigError, match="two players"):
        kuhn_equilibrium(leduc)


def test_from_counts(kuhn):
    counts = np.zeros((12, 2))
    counts[3] = 1, 3
    table, seen = from_counts(kuhn, counts)
    assert table[3].tolist() == [0.25, 0.75] and table[4].tolist() == [0.5, 0.5]
    assert seen.tolist() == [i == 3 for i in range(12)]
    best = kuhn_equilibrium(kuhn)
    assert (from_counts(kuhn, counts, best)[0][4] == best[4]).all()


def test_seat_plays_its_table(kuhn):
    """Every observation of the tree is found, and actions come as often as they should."""
    table = random_table(kuhn, 3)
    player = as_policy(kuhn, table)
    env = kuhn.env
    keys = jax.random.split(jax.random.key(0), 4000)

    @jax.jit
    def shares(row, legal):
        view = DeviceView(row, row, legal, jnp.asarray(True))
        actions, _ = jax.vmap(lambda key: player.apply(env, 0, (), key, view))(keys)
        return jnp.stack([(actions == a).mean() for a in range(2)])

    for i in range(kuhn.num_infosets):
        played = shares(kuhn.observations[i], kuhn.legal[i])
        np.testing.assert_allclose(played, table[i], atol=0.035)
    stranger = shares(kuhn.observations[0] * 0, kuhn.legal[0])
    np.testing.assert_allclose(stranger, [0.5, 0.5], atol=0.035)


@pytest.mark.slow
def test_seats_everywhere(kuhn, tmp_path):
    file = tmp_path / "policy.safetensors"
    as_policy(kuhn, kuhn_equilibrium(kuhn, 0.25)).save(file, note="a")
    assert TablePolicy.load(file) == as_policy(kuhn, kuhn_equilibrium(kuhn, 0.25))
    result = manyhands.rollout(
        kuhn.env, ["equilibrium:a=0.3", f"table:file={file}"], 2048, 60, jax.random.key(1),
        collect="statistics",
    ).statistics  # fmt: skip
    error = result.returns_std / result.episodes**0.5
    assert (np.abs(result.returns - [-1 / 18, 1 / 18]) < 4 * error).all() and error.max() < 0.01
    # In a match the seats open in turn, and nobody gains.
    match = manyhands.make("kuhn_poker", hands=4)
    result = manyhands.rollout(
        match, ["equilibrium", "random"], 1024, 40, jax.random.key(1), collect="statistics"
    ).statistics
    error = result.returns_std / result.episodes**0.5
    assert abs(result.returns[0] - 4 * (0.1111 + 0.1667) / 2) < 4 * error[0]
    manyhands.play(kuhn.env, [f"table:file={file}", "equilibrium"], 3)


def test_wrong_seats(kuhn, tmp_path):
    file = tmp_path / "policy.safetensors"
    as_policy(kuhn, uniform(kuhn)).save(file)
    leduc = manyhands.make("leduc_holdem")
    for name, env, words in (
        (f"table:file={file}", leduc, "cannot play"),
        (f"table:file={file}", manyhands.make("kuhn_poker", players=3), "cannot play"),
        (f"table:file={tmp_path}/none", leduc, "cannot read"),
        ("equilibrium", leduc, "two players"),
        ("equilibrium:a=2", kuhn.env, "from 0 to 1/3"),
    ):
        with pytest.raises(ConfigError, match=words):
            manyhands.seat(name, env)
    with pytest.raises(SeatError):
        manyhands.seat("table", kuhn.env)


def test_damaged_files(kuhn, tmp_path):
    file = tmp_path / "policy.safetensors"
    as_policy(kuhn, uniform(kuhn)).save(file)
    whole = file.read_bytes()
    for data in (
        b"",
        whole[:50],
        whole[:-9],
        b"\x80\x04K\x01.",
        b"{" * 5000,
        whole[8:],
        b"\xff" * 99,
    ):
        file.write_bytes(data)
        with pytest.raises(ConfigError, match=r"no file of Manyhands|no table"):
            TablePolicy.load(file)
    file.write_bytes(whole.replace(b"kuhn_poker", b"kuhn_joker"))
    with pytest.raises(ConfigError):
        TablePolicy.load(file)
    solver = Solver(kuhn)
    solver.run(1)
    solver.save(file)
    with pytest.raises(ConfigError, match="is a checkpoint"):
        TablePolicy.load(file)


# ---- solving -------------------------------------------------------------------------------------

THEIRS = {"cfr": spiel_cfr.CFRSolver, "cfr+": spiel_cfr.CFRPlusSolver}


@pytest.mark.parametrize("algorithm", THEIRS)
def test_iterations_agree_with_open_spiel(twin, algorithm):
    solver, theirs = Solver(twin.ours, algorithm), THEIRS[algorithm](twin.game)
    for count in (1, 2) if twin.leduc else (1, 4, 15):
        for _ in range(count):
            theirs.evaluate_and_update_policy()
        solver.run(count)
        average = twin.from_spiel(theirs.average_policy())
        current = twin.from_spiel(theirs.current_policy())
        np.testing.assert_allclose(solver.average(), average, atol=1e-6)
        np.testing.assert_allclose(solver.current(), current, atol=1e-6)


def test_cfr_plus_solves_kuhn(kuhn):
    solver = Solver(kuhn, "cfr+")
    solver.run(20_000)
    assert exploitability(kuhn, solver.average()) < 1e-5
    values = expected_values(kuhn, solver.average())
    np.testing.assert_allclose(values, [-1 / 18, 1 / 18], atol=1e-6)


def test_three_players():
    tree = tree_of(manyhands.make("kuhn_poker", players=3))
    solver = Solver(tree, "cfr+")
    solver.run(2000)
    assert nash_conv(tree, solver.average()) < 2e-5
    assert expected_values(tree, solver.average())[1] == pytest.approx(-1 / 48, abs=1e-4)


@pytest.mark.slow
def test_large_tables(monkeypatch):
    """Trees of many ends are iterated in another layout, with the same results."""
    tree = tree_of(manyhands.make("kuhn_poker", players=4))
    small = Solver(tree, "cfr")
    monkeypatch.setattr(game_theory.cfr, "_SMALL", 0)
    large = Solver(tree, "cfr")
    assert "end" in large._buffers[0]
    # Away from ties, which any rounding breaks.
    regrets = np.random.default_rng(0).normal(size=tree.legal.shape) * tree.legal
    for solver in (small, large):
        solver.regrets = regrets
        solver.run(10)
    np.testing.assert_allclose(large.regrets, small.regrets, atol=1e-12)
    np.testing.assert_allclose(large.average(), small.average(), atol=1e-12)


def test_leduc():
    tree = tree_of(manyhands.make("leduc_holdem"))
    assert tree.num_infosets == 936
    solver = Solver(tree, "cfr+")
    solver.run(1000)
    assert exploitability(tree, solver.average()) < 1e-3
    # The value of the game, -0.0856 (Southey et al. 2005 and everybody since).
    assert expected_values(tree, solver.average())[0] == pytest.approx(-0.0856, abs=2e-4)


@pytest.mark.parametrize(
    ("name", "count", "gap"), [("kuhn2", 20_000, 0.02), ("kuhn3", 30_000, 0.06)]
)
def test_sampling_converges(name, count, gap):
    solver = Solver(tree(name), "mccfr", seed=1)
    solver.run(count)
    assert nash_conv(tree(name), solver.average()) < gap
    other = Solver(tree(name), "mccfr", seed=2)
    other.run(10)
    solver = Solver(tree(name), "mccfr", seed=1)
    solver.run(10)
    assert (solver.sums != other.sums).any()


@pytest.mark.slow
def test_sampling_converges_in_leduc():
    solver = Solver(tree("leduc"), "mccfr")
    solver.run(30_000)
    first = exploitability(tree("leduc"), solver.average())
    solver.run(120_000)
    assert exploitability(tree("leduc"), solver.average()) < 0.6 * first < 0.3


def test_sampled_regrets_are_unbiased(kuhn):
    """Over many draws, the first iteration's regrets are those of CFR."""
    exact = Solver(kuhn, "cfr")
    exact.run(1)
    # Of player 0 alone: its opponent has not moved from the uniform policy yet.
    first = kuhn.owner == 0
    solver, draws = Solver(kuhn, "mccfr"), []
    for seed in range(1500):
        solver.seed, solver.iteration = seed, 0
        solver.regrets, solver.sums = np.zeros((12, 2)), np.zeros((12, 2))
        solver.run(1)
        draws.append(solver.regrets[first])
    error = np.std(draws, axis=0) / len(draws) ** 0.5
    assert (np.abs(np.mean(draws, axis=0) - exact.regrets[first]) < 4 * error + 1e-12).all()
    assert error.max() < 0.05 < np.abs(exact.regrets[first]).max()


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "mccfr"])
def test_resuming_changes_nothing(kuhn, tmp_path, algorithm):
    whole, parts = Solver(kuhn, algorithm, seed=7), Solver(kuhn, algorithm, seed=7)
    whole.run(300)
    parts.run(1)
    parts.run(116)
    parts.save(tmp_path / "c")
    resumed = Solver(kuhn, algorithm, seed=7)
    assert resumed.load(tmp_path / "c") == {}
    resumed.run(183)
    whole.save(tmp_path / "whole")
    resumed.save(tmp_path / "resumed")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


def test_foreign_checkpoints(kuhn, tmp_path):
    solver = Solver(kuhn, "cfr")
    solver.run(2)
    solver.save(tmp_path / "c")
    for other in (Solver(kuhn, "cfr+"), Solver(kuhn, "cfr", seed=1), Solver(tree("kuhn3"), "cfr")):
        with pytest.raises(ConfigError, match="another run"):
            other.load(tmp_path / "c")
        assert other.iteration == 0
    as_policy(kuhn, uniform(kuhn)).save(tmp_path / "t")
    with pytest.raises(ConfigError, match="is a table"):
        solver.load(tmp_path / "t")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:-1])
    with pytest.raises(ConfigError, match="damaged"):
        solver.load(tmp_path / "c")
    with pytest.raises(ConfigError, match="algorithm is"):
        Solver(kuhn, "cfr++")


# ---- the command ---------------------------------------------------------------------------------


def test_solve_command(kuhn, tmp_path, capsys):
    once, twice = tmp_path / "once", tmp_path / "twice"
    line = ["solve", "kuhn_poker", "--algorithm", "cfr+", "--iterations"]
    assert main([*line, "500", "--out", str(once)]) == 0
    assert main([*line, "123", "--out", str(twice)]) == 0
    assert main([*line, "500", "--out", str(twice)]) == 2  # holds a run already
    assert "resume" in capsys.readouterr().err
    assert main([*line, "500", "--out", str(twice), "--resume"]) == 0
    for name in ("policy.safetensors", "checkpoint.safetensors", "result.json"):
        assert (once / name).read_bytes() == (twice / name).read_bytes()
    assert main([*line, "100", "--out", str(twice), "--resume"]) == 2
    result = json.loads((once / "result.json").read_text())
    assert result["values"]["player_0"] == pytest.approx(-1 / 18, abs=1e-4)
    assert result["curve"][-1] == [500, result["exploitability"]]
    assert result["policy"]["player_1"]["K r"][1] > 0.99
    assert (once / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert not [path for path in once.iterdir() if path.name.startswith(".")]
    out = capsys.readouterr().out
    assert "player_0" in out and "exploitability" in out
    player = manyhands.seat(f"table:file={once / 'policy.safetensors'}", kuhn.env)
    assert exploitability(kuhn, player.on(kuhn)) == pytest.approx(result["exploitability"])


def test_interrupted_before_a_point_of_the_curve(kuhn, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(game_theory.cfr, "nash_conv", interrupt)
        with pytest.raises(KeyboardInterrupt):
            solve(kuhn.env, "cfr", 50, out=tmp_path / "a")
    parts = solve(kuhn.env, "cfr", 50, out=tmp_path / "a", resume=True)
    assert parts.curve == solve(kuhn.env, "cfr", 50, out=tmp_path / "b").curve
    for name in ("checkpoint.safetensors", "result.json", "curve.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_solve_arguments(kuhn, tmp_path):
    for bad in ({"iterations": 0}, {"iterations": 1.5}, {"resume": True}, {"algorithm": "x"}):
        with pytest.raises(ConfigError):
            solve(kuhn.env, **bad)
    solution = solve(kuhn.env, "mccfr", 50, seed=3)
    assert solution.iterations == 50 and len(solution.curve) > 5
    plot([solution], tmp_path / "curve.png")


# ---- what records show ---------------------------------------------------------------------------


def test_dominated_actions_of_kuhn(kuhn):
    def named(marked):
        return {
            f"{kuhn.owner[i]} {kuhn.names[i]}: {kuhn.word(i, a)}" for i, a in np.argwhere(marked)
        }

    plain = {"0 J pr: call 1", "0 K pr: fold", "1 K p: check", "1 K r: fold", "1 J r: call 1"}
    assert named(dominated(kuhn)) == plain
    # Nobody calls with the jack or folds the king: then a bet with the queen gains nothing.
    assert named(dominated(kuhn, iterated=True)) == plain | {"0 Q: bet 1", "1 Q p: bet 1"}


@pytest.mark.parametrize("name", ["kuhn3", "leduc"])
def test_dominated_actions_never_pay(name):
    """Against any play of the others, what is marked earns no more than something else."""
    ours = tree(name)
    marked = dominated(ours)
    assert 20 < marked.sum() < 0.25 * ours.legal.sum()
    for seed in range(20):
        others = random_table(ours, seed)
        if seed % 2:  # pure ones
            others = np.eye(ours.num_actions)[others.argmax(axis=1)]
        for agent in range(ours.num_agents):
            values = game_theory.policies.direct_values(
                ours, game_theory.policies.reach(ours, others), agent
            )
            rows = values[:-1].reshape(ours.legal.shape)
            for level in reversed(ours.levels(agent)):
                best = np.where(ours.legal[level], rows[level], -np.inf).max(axis=1)
                unmarked = np.where(ours.legal & ~marked, rows, -np.inf)[level].max(axis=1)
                assert (best <= unmarked + 1e-12).all()
                np.add.at(values, ours.before[level], best)


def record_of(path, env, seats, episodes, **options):
    manyhands.play(env, seats, episodes, 5, record=path, rotate=True, **options)
    return path


class Passive:
    """Checks and folds."""

    def act(self, views):
        return [0] * len(views)


def test_analysis_of_a_record(kuhn, tmp_path):
    path = record_of(tmp_path / "r.jsonl", kuhn.env, [Passive(), "random"], 200)
    analysis = analyse(path)
    calm, wild = analysis.seats
    assert analysis.episodes == 200 and calm.hands == wild.hands == 200
    assert calm.seen == calm.known == 12
    # It passes everywhere: NashConv 2, half of it a seat.
    assert calm.exploitability == pytest.approx(1.0, abs=1e-3)
    assert (calm.policy == [1.0, 0.0]).all()
    # Its dominated actions: every fold of a king, and every check of the last king.
    rows = {name: i for i, name in enumerate(kuhn.names)}
    folds = sum(calm.counts[rows[name], 0] for name in ("K pr", "K r", "K p"))
    assert calm.dominated.count == folds > 20
    assert calm.dominated.of == folds + calm.counts[[rows["J pr"], rows["J r"]]].sum()
    assert {share.what for share in calm.mistakes} == {
        "player_0 with K pr: fold", "player_1 with K r: fold", "player_1 with K p: check",
    }  # fmt: skip
    bluff = next(share for share in calm.frequencies if share.what.startswith("second: J bets"))
    assert bluff.count == 0 and bluff.of == calm.counts[rows["J p"]].sum() and not bluff.fits
    # Chips from the record's own totals.
    chips, by_position = [], {0: [], 1: []}
    for episode in read(path):
        position = episode.result.players.index(0)
        chips.append(episode.result.rewards[position])
        by_position[position].append(chips[-1])
    assert calm.chips == pytest.approx(np.mean(chips))
    assert calm.error == pytest.approx(1.96 * np.std(chips, ddof=1) / 200**0.5, rel=1e-4)
    assert [row[1] for row in calm.by_position] == [100, 100]
    assert calm.by_position[1][2] == pytest.approx(np.mean(by_position[1]))
    assert wild.chips == pytest.approx(-calm.chips)
    assert calm.decisions + wild.decisions == sum(e.result.steps for e in read(path))


def test_analysis_of_perfect_play(kuhn, tmp_path):
    path = record_of(tmp_path / "r.jsonl", kuhn.env, ["equilibrium:a=0.2", "random"], 400)
    perfect, wild = analyse(path).seats
    assert perfect.dominated_iterated.count == 0 < wild.dominated.count
    assert perfect.exploitability < 0.12 < wild.exploitability
    assert sum(share.fits is False for share in perfect.frequencies) <= 2
    assert sum(share.fits is False for share in wild.frequencies) >= 6


def test_analysis_of_matches(tmp_path):
    env = manyhands.make("kuhn_poker", hands=8, duplicate=True)
    analysis = analyse(record_of(tmp_path / "m.jsonl", env, [Passive(), "random"], 6))
    calm, wild = analysis.seats
    assert calm.hands == 48 and [row[1] for row in calm.by_position] == [24, 24]
    total = sum(sum(e.result.rewards) * 0 + e.result.rewards[e.result.players.index(0)]
                for e in read(tmp_path / "m.jsonl"))  # fmt: skip
    assert calm.chips == pytest.approx(total / 48) and wild.chips == pytest.approx(-total / 48)
    assert calm.error is not None


def test_analysis_through_chat_and_leduc(tmp_path):
    env = manyhands.make("chat", env=manyhands.make("leduc_holdem"))
    path = record_of(tmp_path / "c.jsonl", env, ["random", "random"], 30)
    analysis = analyse(path, fill="equilibrium")
    first, second = analysis.seats
    assert first.name == "random (0)" and first.hands == 30
    assert first.decisions + second.decisions == sum(e.result.steps for e in read(path))
    assert first.exploitability < analyse(path).seats[0].exploitability
    assert first.dominated.of > 0
    for share in first.frequencies:
        assert share.fits is None and 0 <= share.reference <= 1 and share.of >= share.count
    assert sum(share.count for share in first.frequencies) == first.decisions


def test_analysis_of_three_players(tmp_path):
    env = manyhands.make("kuhn_poker", players=3)
    path = record_of(tmp_path / "t.jsonl", env, [Passive(), "random", "random"], 30)
    calm = analyse(path).seats[0]
    assert calm.hands == 30 and {row[0] for row in calm.by_position} == {0, 1, 2}
    assert calm.exploitability > 0.3


def test_bad_records(kuhn, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(RecordError, match="no finished episode"):
        analyse(tmp_path / "empty")
    with pytest.raises(RecordError, match="cannot read"):
        analyse(tmp_path / "none")
    with pytest.raises(ConfigError, match="fill is"):
        analyse(tmp_path / "none", fill="x")
    a = record_of(tmp_path / "a", kuhn.env, ["random", "random"], 1)
    b = record_of(tmp_path / "b", manyhands.make("kuhn_poker", players=3), "random", 1)
    (tmp_path / "both").write_bytes(a.read_bytes() + b.read_bytes())
    with pytest.raises(RecordError, match="another game"):
        analyse(tmp_path / "both")


def test_analyse_command(kuhn, tmp_path, capsys):
    path = record_of(tmp_path / "r.jsonl", kuhn.env, ["equilibrium", "random"], 40)
    assert main(["analyse", str(path), "--out", str(tmp_path / "a.json")]) == 0
    out = capsys.readouterr().out
    for words in ("dominated actions", "exploitability", "J bets", "equilibrium"):
        assert words in out
    result = json.loads((tmp_path / "a.json").read_text())
    assert result["episodes"] == 40 and result["seats"][0]["hands"] == 40
    assert (
        sum(sum(row["counts"]) for row in result["seats"][1]["policy"])
        == (result["seats"][1]["decisions"])
    )
    assert main(["analyse", str(tmp_path / "none")]) == 1
