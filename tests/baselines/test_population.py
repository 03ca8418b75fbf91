"""Learning beside partners, in a game small enough to know the answers: choose the same door."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines.evaluation import evaluate, play_matches, zero_shot
from manyhands.baselines.evaluation.matches import Lineup
from manyhands.baselines.learners.hsp import HSP, HSPConfig, _taken_over
from manyhands.baselines.learners.mep import MEP, Diverse, MEPConfig, Watched, _remembered
from manyhands.baselines.learners.population import (
    FCP,
    FIRST,
    ITSELF,
    STUCK,
    WILD,
    BestResponse,
    BestResponseConfig,
    FCPConfig,
    Lapses,
    Partnered,
    SelfPlayPool,
    SelfPlayPoolConfig,
    Spells,
    lapses_of,
    pairing,
    spread,
)
from manyhands.core.env import ConfigError, Env, PolicyError, SeatError, state_dataclass
from manyhands.core.episode import episode_seed
from manyhands.core.registry import register_seat

DOORS, STEPS = 3, 4
LAPSES = {"lapses": 0.5, "own_lapses": 0.1, "lapse_steps": 4}
SMALL = {"num_envs": 48, "num_steps": 8, "width": 16, "layers": 1, "learning_rate": 3e-2}


@state_dataclass
class DoorsState:
    """last: i32[N], the doors chosen last. time: i32[]. draw: i32[], random."""

    last: jax.Array
    time: jax.Array
    draw: jax.Array


class Doors(Env[DoorsState]):
    """At each step all choose a door; each earns a coin for every other one at the same door."""

    id = "test-doors"
    terms = ("coins",)
    batched = True

    def __init__(self, players: int = 2):
        self.agents = tuple(f"player_{i}" for i in range(players))
        self.action_space = gymnasium.spaces.Discrete(DOORS)
        self.observation_space = gymnasium.spaces.Box(0, 9, (players + 2,), np.int32)
        self.reward_weights, self.max_steps = {"coins": 1.0}, STEPS

    def config(self) -> dict[str, Any]:
        return {"players": self.num_agents}

    def reset(self, key: Any) -> DoorsState:
        draw = jax.random.randint(key, (), 0, DOORS)
        return DoorsState(jnp.zeros(self.num_agents, jnp.int32), jnp.int32(0), draw)

    def step(self, key: Any, state: DoorsState, actions: Any) -> Any:
        same = (actions[:, None] == actions[None]).sum(1).astype(jnp.float32) - 1
        time = state.time + 1
        over = jnp.broadcast_to(time == STEPS, actions.shape)
        metrics = {"coins": same.sum(0)}
        terms = self.paid_for(same, actions)
        outcome = self.outcome(terms, jnp.zeros_like(over), over, metrics)
        return DoorsState(actions, time, state.draw), outcome

    def paid_for(self, same: Any, actions: Any) -> dict[str, Any]:
        return {"coins": same}

    def observe(self, state: DoorsState) -> Any:
        """Everybody's last door from one's own on, the time, and one's seat."""
        rows = []
        for i in range(self.num_agents):
            about = jnp.stack([state.time, jnp.full_like(state.time, i)])
            rows.append(jnp.concatenate([jnp.roll(state.last, -i, axis=0), about]))
        return jnp.stack(rows)

    def legal(self, state: DoorsState) -> Any:
        return jnp.ones((self.num_agents, DOORS, *state.time.shape), bool)

    def acting(self, state: DoorsState) -> Any:
        return jnp.ones((self.num_agents, *state.time.shape), bool)

    def summary(self, state: DoorsState) -> Any:
        return jnp.concatenate([state.last, state.time[None]])


class Dials(Doors):
    """The same, but that doors are numbers with fractions."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)


@functools.partial(jax.tree_util.register_dataclass, data_fields=("door",), meta_fields=())
@dataclasses.dataclass(frozen=True)
class Loyal:
    """Goes to one door in even steps, and somewhere at random in odd ones, by its own count."""

    door: Any

    def init(self, env: Env, agent: int) -> Any:
        return jnp.int32(agent)

    def apply(self, env: Env, agent: int, memory: Any, key: Any, view: Any) -> Any:
        wild = jax.random.randint(key, (), 0, DOORS)
        return jnp.where((memory - agent) % 2 == 0, self.door, wild), memory + 1


@dataclasses.dataclass(frozen=True)
class Stubborn:
    """Always goes to one door, which depends on the seat."""

    def init(self, env: Env, agent: int) -> Any:
        return ()

    def apply(self, env: Env, agent: int, memory: Any, key: Any, view: Any) -> Any:
        return jnp.int32(1 + agent), memory


def stubborn(env: Env) -> Stubborn:
    return Stubborn()


def host(env: Env) -> Any:
    return lambda view: 0


register_seat("test-stubborn", f"{__name__}:stubborn")
register_seat("test-host", f"{__name__}:host")


@pytest.fixture(scope="module")
def env() -> Doors:
    return Doors()


@functools.lru_cache
def programs(learner: Any) -> tuple[Any, Any]:
    """Compiled (init, update) for two seeds."""
    return jax.jit(jax.vmap(learner.init)), jax.jit(jax.vmap(learner.update))


def learn(learner: Any, updates: int | None = None) -> tuple[Any, list[dict[str, Any]]]:
    init, update = programs(learner)
    progress, metrics = init(jax.random.split(jax.random.key(0), 2)), []
    for _ in range(updates or learner.num_updates):
        progress, report = update(progress)
        metrics.append(jax.device_get(report))
    return progress, metrics


def seed_of(progress: Any, seed: int) -> Any:
    return jax.tree_util.tree_map(lambda leaf: leaf[seed], progress)


@pytest.mark.parametrize("players", [2, 3])
def test_partners_play_as_they_do_in_matches(players: int) -> None:
    """Every block: the learner's seat, the partner's arrays, memory and random numbers."""
    env = Doors(players)
    partners = [Loyal(np.int32(0)), Loyal(np.int32(2)), Stubborn()]
    size = 2
    num_envs = size * 3 * players
    rows = pairing(env, num_envs, 3)
    beside = Partnered(env, *Lineup.of(partners, rows))
    # The learner goes where Stubborn would, in its seat, always.
    own = [row.index(-1) for row in rows]
    doors = jnp.asarray(np.repeat(own, size) + 1)[None].astype(jnp.int32)
    seeds = np.array([episode_seed(0, e) for e in range(size)], np.uint32)
    keys = jnp.tile(jax.vmap(jax.random.key)(seeds), len(rows))
    state, earned = beside.batch_reset(keys), 0.0
    step = jax.jit(beside.batch_step)
    for time in range(STEPS):
        assert beside.batch_observe(state).shape == (1, players + 2, num_envs)
        state, outcome = step(jax.vmap(jax.random.fold_in, (0, None))(keys, time), state, doors)
        earned = earned + outcome.reward
    assert outcome.truncated.shape == (1, num_envs) and outcome.truncated.all()
    lineups = [tuple(2 if player == -1 else player for player in row) for row in rows]
    matches = play_matches(env, partners, lineups, episodes=size)
    expected = np.concatenate([m.returns[:, a] for m, a in zip(matches, own, strict=True)])
    assert np.array_equal(earned[0], expected)
    assert len(set(expected)) > 2


def lapse(lapses: Lapses, steps: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """(kinds, actions), i32[steps, size] each, of one agent that would always take action 7; the
    first step apart."""

    def step(spells: Spells, key: Any) -> Any:
        done, after = lapses.act(key, 5, spells, jnp.full((1, size), 7))
        return after, (spells.kind[0], done[0])

    start = Spells(jnp.full((1, size), FIRST), jnp.zeros((1, size), jnp.int32))
    keys = jax.random.split(jax.random.key(0), steps + 1)
    kinds, actions = map(np.asarray, jax.lax.scan(step, start, keys)[1])
    assert (kinds[0] == FIRST).all() and (actions[0] == 7).all()
    return kinds[1:], actions[1:]


def test_lapses_take_their_share_of_the_time() -> None:
    """Blocks that never lapse, half of the time, always; spells of 8 steps on average."""
    size, steps = 1000, 100
    states, actions = lapse(Lapses(((0.0,), (0.5,), (1.0,)), 8), steps, 3 * size)
    never, half, always = np.split(states, 3, axis=1)
    assert (never == ITSELF).all() and not (always == ITSELF).any()
    # Episodes are independent; within one, 100 steps are about 12 spells.
    sigma = np.sqrt(0.25 * 8 * 2 / (size * steps))
    assert abs((half == ITSELF).mean() - 0.5) < 4 * sigma
    assert abs((half == WILD).mean() - 0.25) < 4 * sigma
    assert abs((always == STUCK).mean() - 0.5) < 4 * sigma
    # Of two draws one in two is another state: a step in 16 where lapses are certain.
    changes = (always[1:] != always[:-1]).mean()
    assert abs(changes - 1 / 16) < 4 * np.sqrt(1 / 16 * 15 / 16 / (size * steps))
    assert (actions[states == ITSELF] == 7).all()
    for kind in (WILD, STUCK):
        shares = np.bincount(actions[states == kind], minlength=5) / (states == kind).sum()
        assert len(shares) == 5 and np.abs(shares - 0.2).max() < 0.03
    # Stuck, an action is repeated for as long as the spell lasts; wild, one time in five.
    stuck = (states[1:] == STUCK) & (states[:-1] == STUCK)
    repeats = (actions[1:] == actions[:-1])[stuck].mean()
    assert 7 / 8 < repeats < 1
    wild = (states[1:] == WILD) & (states[:-1] == WILD)
    assert abs((actions[1:] == actions[:-1])[wild].mean() - 0.2) < 0.01


def test_who_lapses_does_something_else() -> None:
    """A partner that always lapses, in spells without end, goes to one door for the whole episode,
    or to any; and so does the learner, which is not acting then."""
    env, size = Doors(), 200
    rows = pairing(env, 4 * size, 2)
    lapses = lapses_of(env, (0.0, 1.0), 0.5, 10**9)
    assert lapses is not None and lapses.shares == ((0.5, 0.0), (0.5, 1.0), (0.0, 0.5), (1.0, 0.5))
    lineup, stacked = Lineup.of([Stubborn(), Stubborn()], rows)
    beside = Partnered(env, lineup, stacked, lapses)
    keys = jax.random.split(jax.random.key(0), 4 * size)
    state, seen, kinds = beside.batch_reset(keys), [], []
    for time in range(4):
        kinds.append(np.asarray(state.spells.kind))
        asked = np.asarray(beside.batch_acting(state)[0])
        step_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, time)
        state, _ = beside.batch_step(step_keys, state, jnp.zeros((1, 4 * size), jnp.int32))
        seen.append(np.asarray(state.state.last))
    doors, kind = np.stack(seen), np.stack(kinds)
    own, block, at = np.repeat([0, 0, 1, 1], size), np.repeat([0, 1, 0, 1], size), range(4 * size)
    assert (kind[0] == FIRST).all() and (kind[1] == kind[3]).all()
    mine, theirs = doors[:, own, at], doors[:, 1 - own, at]
    my_kind, their_kind = kind[3, own, at], kind[3, 1 - own, at]
    assert (mine[0] == 0).all() and (theirs[0] == 2 - own).all()  # no lapse at first
    assert (mine[:, my_kind == ITSELF] == 0).all()
    assert (asked == (my_kind == ITSELF)).all() and abs(asked.mean() - 0.5) < 0.1
    assert (their_kind[block == 0] == ITSELF).all() and (their_kind[block == 1] > ITSELF).all()
    assert (theirs == 2 - own)[:, block == 0].all()
    for doors, kind in ((mine[1:], my_kind), (theirs[1:], their_kind)):
        stuck, wild = doors[:, kind == STUCK], doors[:, kind == WILD]
        assert (stuck == stuck[0]).all() and set(stuck[0]) == {0, 1, 2}
        assert 0.2 < (wild[0] == wild[2]).mean() < 0.5  # one in three


def test_the_team_terms_are_sums() -> None:
    """Three at two doors: two earn a coin each, the third none; the learner is told of both."""
    env = Doors(3)
    rows = pairing(env, 3, 1)
    told = {}
    for team in (False, True):
        lineup, stacked = Lineup.of([Stubborn()], rows)  # goes to door 1, 2 and 3
        beside = Partnered(env, lineup, stacked, team_terms=team)
        keys = jax.random.split(jax.random.key(0), 3)
        # In seat 0 to the door of seat 1; in seats 1 and 2 to a door of nobody.
        doors = jnp.array([[2, 0, 0]], jnp.int32)
        _, outcome = beside.batch_step(keys, beside.batch_reset(keys), doors)
        told[team] = outcome.terms["coins"].tolist(), outcome.reward.tolist()
    assert told[False] == ([[1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]])
    assert told[True] == ([[2.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]])


def test_shares_are_spread() -> None:
    assert spread(0.6, 4) == pytest.approx([0, 0.2, 0.4, 0.6])
    assert spread(0.6, 1) == [0.6] and spread(0.6, 0) == []


@pytest.mark.slow
def test_lapsing_partners_are_learned_with(env: Doors) -> None:
    """Half of the partners lapse half of the time: with itself it still agrees on a door."""
    config = SelfPlayPoolConfig(total_steps=48 * 8 * 30, partners=4, latest=2, **LAPSES, **SMALL)
    progress, metrics = learn(SelfPlayPool(env, config))
    assert metrics[-1]["return"].min() > metrics[0]["return"].mean()
    policy = SelfPlayPool(env, config).policy(seed_of(progress, 1))
    assert evaluate(env, policy, episodes=20).mean["return"].mean > 2.5


@pytest.mark.slow
def test_other_seats_are_learned_with(env: Doors) -> None:
    """Beside selves of every kind there is one who always takes its own door: it is followed."""
    others = " ".join(["test-stubborn"] * 4)
    settings = SMALL | {"num_envs": 64, "total_steps": 64 * 8 * 40}
    learner = SelfPlayPool(env, SelfPlayPoolConfig(partners=4, latest=2, others=others, **settings))
    progress, _ = learn(learner)
    policy = learner.policy(seed_of(progress, 0))
    assert policy.algorithm == "self_play_pool"
    assert evaluate(env, [policy, "test-stubborn"], episodes=20).mean["return"].mean > 3
    assert evaluate(env, policy, episodes=20).mean["return"].mean > 2


@pytest.mark.slow
def test_a_best_response_is_found(env: Doors) -> None:
    config = BestResponseConfig(total_steps=48 * 8 * 30, partner="test-stubborn", **SMALL)
    learner = BestResponse(env, config)
    progress, metrics = learn(learner)
    assert metrics[0]["return"].mean() < 2  # one door in three
    assert metrics[-1]["return"].min() > 3.7  # of four
    policy = learner.policy(seed_of(progress, 0))
    assert policy.algorithm == "best_response" and policy.spec == env.spec()
    result = evaluate(env, [policy, "test-stubborn"], episodes=20)
    assert result.mean["return"].mean > 3.7


def test_the_pool_is_drawn_evenly_from_the_past() -> None:
    """Reservoir sampling, the network replaced by the number of its snapshot."""
    config = SelfPlayPoolConfig(
        total_steps=48 * 8 * 24, partners=4, latest=1, snapshots=12, **SMALL
    )
    pool = SelfPlayPool(Doors(), config)

    def history(key: Any) -> Any:
        def update(past: Any, number: Any) -> Any:
            learner = types.SimpleNamespace(update=number, key=key)
            return pool._remember(learner, number, past), None  # type: ignore[arg-type]

        return jax.lax.scan(update, jnp.zeros(3, jnp.int32), jnp.arange(24))[0]

    held = np.asarray(jax.jit(jax.vmap(history))(jax.random.split(jax.random.key(0), 3000)))
    # Updates 2, 4, ..., 22 were put forward: 11 of them, 3 are held, all different.
    assert set(np.unique(held)) == set(range(2, 24, 2))
    assert all(len(set(row)) == 3 for row in held.tolist())
    shares = np.array([(held == number).any(1).mean() for number in range(2, 24, 2)])
    assert np.abs(shares - 3 / 11).max() < 4 * np.sqrt(3 / 11 * 8 / 11 / 3000)


@pytest.mark.slow
def test_self_play_with_past_selves(env: Doors) -> None:
    config = SelfPlayPoolConfig(
        total_steps=48 * 8 * 20, partners=4, latest=2, snapshots=20, **SMALL
    )
    learner = SelfPlayPool(env, config)
    init, update = programs(learner)
    progress = init(jax.random.split(jax.random.key(0), 2))
    selves, returns = [], []
    for _ in range(learner.num_updates):
        selves.append(jax.tree_util.tree_leaves(seed_of(progress.learner.params["actor"], 1))[0])
        progress, metrics = update(progress)
        returns.append(np.asarray(metrics["return"]))
    held = jax.tree_util.tree_leaves(seed_of(progress.past, 1).params["network"])[0]
    ages = [[np.array_equal(self, old) for self in selves].index(True) for old in held]
    assert len(set(ages)) == 2 and min(ages) >= 1  # two different ones, of its own
    assert returns[-1].min() > 2.5 > returns[0].mean()
    policy = learner.policy(seed_of(progress, 1))
    assert evaluate(env, policy, episodes=20).mean["return"].mean > 2.5


@pytest.mark.slow
def test_the_shipped_policy_gets_along_with_strangers() -> None:
    """Beside chefs that do half of the work, or none: far more than self-play's policy gets."""
    kitchen = manyhands.make("kitchen", layout="cramped_room")
    partners = ["onion_only", "random"]
    means = [
        zero_shot(kitchen, name, partners, episodes=4).mean.mean
        for name in ("self_play_pool", "ippo")
    ]
    assert means[0] > 150 and means[0] > 1.5 * means[1]


def test_hidden_utilities_come_with_two_kitchens() -> None:
    ring = manyhands.make("kitchen", layout="coordination_ring")
    assert zero_shot(ring, "hsp", ["onion_only"], episodes=1).mean.mean > 100
    with pytest.raises(PolicyError, match="manyhands train kitchen --algorithm hsp"):
        manyhands.seat("hsp", manyhands.make("kitchen", layout="cramped_room"))


@pytest.fixture(scope="module")
def fcp(env: Doors) -> FCP:
    config = FCPConfig(
        total_steps=48 * 8 * 2 * 8, members=2, member_steps=48 * 8 * 12, snapshots=3, **SMALL
    )
    return FCP(env, config)


@pytest.mark.slow
def test_fictitious_co_play(env: Doors, fcp: FCP) -> None:
    assert fcp.stages == (12, 8) and fcp.steps_per_update == 48 * 8 * 2
    init, update = programs(fcp)
    begun = progress = init(jax.random.split(jax.random.key(0), 2))
    stages, returns = [], []
    for number in range(fcp.num_updates):
        before, (progress, metrics) = progress, update(progress)
        stages.append(float(metrics["stage"][0]))
        returns.append(np.asarray(metrics["return"]))
        moved = [
            any(
                not np.array_equal(a, b)
                for a, b in zip(*map(jax.tree_util.tree_leaves, pair), strict=True)
            )
            for pair in (
                (before.members.params, progress.members.params),
                (before.learner.params, progress.learner.params),
            )
        ]
        own = int(number >= 12)
        assert not moved[1 - own], number
        assert moved[own] or number in (11, 19)  # the last step of a stage has a length of 0
        assert (metrics["length"] == STEPS).all() and (metrics["episodes"] % 48 == 0).all()
    assert stages == [1.0] * 12 + [2.0] * 8
    assert returns[11].min() > returns[0].max()
    # The pool: untrained, in between, and as they are now.
    one = seed_of(progress, 0)
    pool = jax.tree_util.tree_leaves(fcp.pool(one).params["network"])
    first = jax.tree_util.tree_leaves(seed_of(begun, 0).members.params["actor"])
    last = jax.tree_util.tree_leaves(one.members.params["actor"])
    for leaf, old, new in zip(pool, first, last, strict=True):
        assert len(leaf) == 6
        assert np.array_equal(leaf[:2], old) and np.array_equal(leaf[4:], new)
    assert not np.array_equal(pool[-1][2:4], pool[-1][:2])
    policy = fcp.policy(one)
    assert policy.algorithm == "fcp"
    assert manyhands.play(env, [policy, "random"], episodes=2).rewards.shape == (2, 2)


def test_the_middle_checkpoint_has_half_the_return(fcp: FCP) -> None:
    scores = jnp.array([[0.0, 0.0], [0.9, 2.0], [2.9, 3.0], [4.0, 4.4]])
    snapshots = jnp.arange(8).reshape(4, 2)
    progress = types.SimpleNamespace(scores=scores, snapshots=snapshots)
    # Halves are 2 and 2.2: closest are the second snapshot of member 0, the first of member 1.
    assert fcp.pool(progress).tolist() == [0, 1, 4, 3, 6, 7]  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_seed_alone_learns_the_same(fcp: FCP) -> None:
    """Mapped over seeds only the stage that is on is computed; alone, the same comes out."""
    init, update = programs(fcp)
    many = init(jax.random.split(jax.random.key(0), 2))
    alone = jax.jit(fcp.update)
    for number in (0, 12):
        many = dataclasses.replace(many, update=jnp.full(2, number, jnp.int32))
        mapped, _ = update(many)
        single, _ = alone(seed_of(many, 1))
        for a, b in zip(
            jax.tree_util.tree_leaves(mapped.params), jax.tree_util.tree_leaves(single.params),
            strict=True,
        ):  # fmt: skip
            np.testing.assert_allclose(a[1], b, rtol=1e-3, atol=1e-4)


class Marked(Doors):
    """The same, and a term for those who choose the first door, that the game does not pay for."""

    terms = ("coins", "first")

    def __init__(self) -> None:
        super().__init__()
        self.reward_weights = {"coins": 1.0, "first": 0.0}

    def paid_for(self, same: Any, actions: Any) -> dict[str, Any]:
        return {"coins": same, "first": (actions == 0).astype(jnp.float32)}


HABITS = {"habits": 4, "habit_envs": 24, "partners": 4, "latest": 2}


@pytest.fixture(scope="module")
def hsp() -> HSP:
    config = HSPConfig(
        total_steps=96 * 8 * 3,
        habit_steps=24 * 8 * 30,
        beside_steps=96 * 8 * 2,
        **HABITS,
        **SMALL,
        **LAPSES,
    )
    return HSP(Marked(), config)


@pytest.mark.slow
def test_hidden_utilities_are_learned(hsp: HSP) -> None:
    assert hsp.stages == (3, 30, 2) and hsp.steps_per_update == 96 * 8
    init, update = programs(hsp)
    progress = init(jax.random.split(jax.random.key(1), 2))
    stages = []
    for number in range(hsp.num_updates):
        before, (progress, metrics) = progress, update(progress)
        stages.append(int(metrics["stage"][0]))
        pairs = [
            (getattr(before, part), getattr(progress, part))
            for part in ("first", "habits", "learner")
        ]
        moved = [
            any(
                not np.array_equal(a, b)
                for a, b in zip(*(jax.tree_util.tree_leaves(p.params) for p in pair), strict=True)
            )
            for pair in pairs
        ]
        own = stages[-1] - 1
        assert not any(moved[:own] + moved[own + 1 :]), number
        assert moved[own] or number == 32  # the last step of a stage has a length of 0
        assert (metrics["length"] == STEPS).all()
    assert stages == [1] * 3 + [2] * 30 + [3] * 2
    # Who is paid more for the first door than for coins goes there.
    env, one = hsp.env, seed_of(progress, 0)
    prices = np.asarray(one.prices)
    paid = [i for i in range(4) if prices[i, 1] > 0]
    assert paid
    habits = jax.vmap(hsp._solo.player)(one.habits)
    for i in paid:
        habit = jax.tree_util.tree_map(lambda leaf, i=i: leaf[i], habits)
        matches = play_matches(env, [habit, "random"], [(0, 1)], 50, 0)
        assert matches[0].terms["first"][:, 0].mean() > 0.8 * STEPS
    policy = hsp.policy(one)
    assert policy.algorithm == "hsp"
    assert manyhands.play(env, [policy, "random"], episodes=2).rewards.shape == (2, 2)


def test_the_third_stage_begins_with_the_first(hsp: HSP) -> None:
    """And so do the agents with hidden utilities. Until then the first is the policy."""
    init, _ = programs(hsp)
    one = seed_of(init(jax.random.split(jax.random.key(0), 2)), 0)
    taken = [_taken_over(one.learner, one.first.learner, jnp.bool_(when)) for when in (False, True)]
    for chosen, source in zip(taken, (one.learner, one.first.learner), strict=True):
        for a, b in zip(
            jax.tree_util.tree_leaves(chosen.params), jax.tree_util.tree_leaves(source.params),
            strict=True,
        ):  # fmt: skip
            assert np.array_equal(a, b)
    first = hsp._solo.player(one.first.learner)
    policy = hsp.policy(one)
    for a, b in zip(
        jax.tree_util.tree_leaves(policy.params), jax.tree_util.tree_leaves(first.params),
        strict=True,
    ):  # fmt: skip
        assert np.array_equal(a, b)


def test_prices_of_hidden_utilities(hsp: HSP) -> None:
    """Other terms have a drawn price; coins are paid for in every other agent, and where else
    nothing would be."""
    prices = np.asarray(jax.vmap(hsp.draw_prices)(jax.random.split(jax.random.key(0), 50)))
    assert prices.shape == (50, 4, 2)
    assert set(np.unique(prices[..., 1])) == {-3.0, 0.0, 3.0}
    assert (prices[:, 1::2, 0] == 1).all()
    assert (prices[:, ::2, 0] == (prices[:, ::2, 1] <= 0)).all()


@pytest.fixture(scope="module")
def mep(env: Doors) -> MEP:
    return MEP(env, mep_config())


def mep_config(**changed: Any) -> MEPConfig:
    settings: dict[str, Any] = {
        "members": 2,
        "snapshots": 3,
        "population_entropy": 0.5,
        "selves": 2,
        **SMALL,
    }
    settings |= changed
    update = settings["num_envs"] * settings["num_steps"]
    settings = {"member_steps": update * 12, "total_steps": update * 16} | settings
    return MEPConfig(**settings)


@pytest.mark.slow
def test_members_differ_where_that_is_paid_for(env: Doors) -> None:
    """Three members and three doors: without the bonus most of them choose alike or by chance."""

    def entropies(weight: float) -> tuple[float, float]:
        """Of the mean policy at the start of an episode, and the mean of those of the members."""
        learner = MEP(env, mep_config(
            members=3, num_envs=72, selves=3, population_entropy=weight, member_steps=72 * 8 * 40,
            total_steps=72 * 8 * 3,
        ))  # fmt: skip
        init, update = programs(learner)
        progress = init(jax.random.split(jax.random.key(3), 1))
        for _ in range(learner.stages[0]):
            progress, metrics = update(progress)
        assert (metrics["bonus"] > 0).all() == (weight > 0)
        one = seed_of(progress, 0)
        row = env.batch_observe(env.batch_reset(jax.random.split(jax.random.key(0), 1)))[0, :, 0]
        chances = []
        for i in range(3):
            member = jax.tree_util.tree_map(lambda leaf, i=i: leaf[i], one.members)
            x = learner._solo._inputs(row[None], 1)
            memory = learner._solo._actor.start(1)
            _, logits = learner._solo._actor.advance(
                member.params["actor"], memory, x, jnp.ones(1, bool)
            )
            chances.append(np.asarray(jax.nn.softmax(logits[0])))
        of = [float(-(p * np.log(p + 1e-9)).sum()) for p in [np.mean(chances, axis=0), *chances]]
        return of[0], float(np.mean(of[1:]))

    together, each = entropies(0.3)
    assert together > 0.9 * np.log(DOORS) and each < 0.5
    assert entropies(0.0)[0] < together - 0.2


def test_members_are_paid_for_what_the_population_seldom_does(env: Doors, mep: MEP) -> None:
    solo = mep._solo
    progress = jax.vmap(solo.init)(jax.random.split(jax.random.key(0), 2))
    one = seed_of(progress, 0)
    shape = (3, mep.config.num_envs, env.num_agents)
    steps = types.SimpleNamespace(
        row=jnp.ones((*shape, 4), jnp.int32),
        first=jnp.zeros(shape[:2], bool),
        acts=jnp.ones(shape, bool).at[0].set(False),
        legal=jnp.ones((*shape, DOORS), bool),
        action=jnp.zeros(shape, jnp.int32),
        reward=jnp.ones(shape),
    )
    steps = dataclasses.replace(Marks(), **vars(steps))
    config = dataclasses.replace(solo.config, reward_scale=0.1)
    paid, told = Diverse(env, config, progress, 0.5)._rewarded(one, steps)  # type: ignore[arg-type]
    chances = []
    for i in range(2):
        member = seed_of(progress, i)
        x = solo._inputs(steps.row, 3)
        memory = solo._actor.start(*shape[1:])
        _, logits = solo._actor.unroll(
            member.params["actor"], memory, x, steps.first[..., None], steps.acts
        )
        chances.append(np.asarray(jax.nn.softmax(logits))[..., 0])
    bonus = -0.5 * np.log(np.mean(chances, axis=0))
    bonus[0] = 0  # where nobody acted
    np.testing.assert_allclose(paid.reward, 1 + 0.1 * bonus, rtol=1e-5)
    np.testing.assert_allclose(told["bonus"], bonus[1:].mean(), rtol=1e-5)


@dataclasses.dataclass
class Marks:
    """The part of `ppo.Steps` that is read above."""

    row: Any = None
    first: Any = None
    acts: Any = None
    legal: Any = None
    action: Any = None
    reward: Any = None


def test_hard_partners_are_drawn_more_often(env: Doors, mep: MEP) -> None:
    """Six partners; the one that was not met is the hardest."""
    rewards = jnp.array([5.0, 1.0, 3.0, -jnp.inf, 4.0, 2.0])
    keys = jax.random.split(jax.random.key(0), 2000)
    drawn = np.asarray(jax.vmap(lambda key: mep.draw_partners(key, rewards))(keys))
    assert drawn.shape == (2000, 6)
    ranks = np.array([1, 5, 3, 6, 2, 4]) ** 3.0
    shares = np.bincount(drawn.ravel(), minlength=6) / drawn.size
    np.testing.assert_allclose(shares, ranks / ranks.sum(), atol=0.02)
    even = MEP(env, dataclasses.replace(mep.config, priority=0.0))
    drawn = np.asarray(jax.vmap(lambda key: even.draw_partners(key, rewards))(keys))
    np.testing.assert_allclose(np.bincount(drawn.ravel()) / drawn.size, 1 / 6, atol=0.02)


def test_what_is_remembered_of_partners() -> None:
    drawn, beside = jnp.array([0, 0, 2, 2]), jnp.array([1.0, 3.0, 5.0, 7.0])
    rewards = _remembered(jnp.array([-jnp.inf, 8.0, 2.0, -jnp.inf]), drawn, beside)
    assert rewards.tolist() == [2.0, 8.0, 4.0, -np.inf]


def test_rewards_are_told_by_partner(env: Doors) -> None:
    players = pairing(env, 32, 4)
    lineup, stacked = Lineup.of([stubborn(env)] * 4, players)
    partnered = Partnered(env, lineup, stacked)
    ppo = Watched(partnered, mep_config(num_envs=32), places=4, partners=3)
    # Blocks of four environments: the partners 0 to 3 in the one seat, then in the other.
    reward = jnp.repeat(jnp.array([0.0, 1.0, 2.0, 9.0, 4.0, 5.0, 6.0, 9.0]), 4)
    steps = Marks(reward=jnp.broadcast_to(reward[None, :, None], (8, 32, 1)))
    assert ppo._rewarded(None, steps)[1]["beside"].tolist() == [2.0, 3.0, 4.0]  # type: ignore[arg-type]


@pytest.mark.slow
def test_maximum_entropy_population(env: Doors, mep: MEP) -> None:
    """The stages of `FCP`, but that partners are drawn, and what is got beside them is kept."""
    assert mep.stages == (12, 8)
    init, update = programs(mep)
    progress = init(jax.random.split(jax.random.key(0), 2))
    for number in range(mep.num_updates):
        before, (progress, metrics) = progress, update(progress)
        changed = [
            not np.array_equal(getattr(before, name), getattr(progress, name))
            for name in ("rewards", "drawn")
        ]
        assert changed[0] == (number >= 12) and (number >= 12 or not changed[1])
        assert ((metrics["bonus"] > 0) == (number < 12)).all()
        assert "beside" not in metrics
    assert np.isfinite(progress.rewards).all() and (progress.drawn < 6).all()
    assert not np.array_equal(progress.drawn[0], np.arange(6))
    policy = mep.policy(seed_of(progress, 0))
    assert policy.algorithm == "mep"
    assert manyhands.play(env, [policy, "random"], episodes=2).rewards.shape == (2, 2)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda env: mep_config(priority=-1.0), ConfigError, "priority are numbers from 0"),
        (lambda env: mep_config(population_entropy=-0.1), ConfigError, "given -0.1 and 3.0"),
        (lambda env: mep_config(selves=-1), ConfigError, "selves is a whole number from 0"),
        (lambda env: mep_config(recurrent=True), ConfigError, "networks without memory"),
        (lambda env: HSP(env, HSPConfig()), ConfigError, "its terms are coins"),
        (lambda env: HSPConfig(habits=5), ConfigError, "whole multiple"),
        (lambda env: HSPConfig(prices=()), ConfigError, "prices are finite"),
        (lambda env: HSPConfig(prices=(1.0, np.nan)), ConfigError, "prices are finite"),
        (lambda env: HSPConfig(beside_shaping=2), ConfigError, "beside_shaping is a share"),
        (lambda env: HSPConfig(habit_steps=10), ConfigError, "habit_steps=10 is less than"),
        (
            lambda env: FCP(env, FCPConfig(num_envs=64)),
            ConfigError,
            "24 partners and 2 seats; choose a multiple of 48",
        ),
        (
            lambda env: BestResponse(env, BestResponseConfig(partner="test-host")),
            SeatError,
            "cannot play inside",
        ),
        (
            lambda env: BestResponse(env, BestResponseConfig(partner="nobody")),
            SeatError,
            "no seat is called",
        ),
        (
            lambda env: BestResponse(Doors(1), BestResponseConfig(partner="random")),
            ConfigError,
            "one agent",
        ),
        (lambda env: SelfPlayPoolConfig(latest=8), ConfigError, "below partners"),
        (
            lambda env: SelfPlayPool(env, SelfPlayPoolConfig(others="test-host")),
            SeatError,
            "cannot play inside",
        ),
        (
            lambda env: SelfPlayPool(env, SelfPlayPoolConfig(others="test-stubborn random")),
            ConfigError,
            "10 partners and 2 seats; choose a multiple of 20",
        ),
        (
            lambda env: SelfPlayPool(env, SelfPlayPoolConfig(lapses=1.5)),
            ConfigError,
            "shares from 0 to 1, lapse_steps from 1; given 1.5, 0.0 and 20",
        ),
        (
            lambda env: FCP(env, FCPConfig(lapse_steps=0)),
            ConfigError,
            "given 0.0, 0.0 and 0",
        ),
        (
            lambda env: lapses_of(Dials(), (0.0, 0.5), 0.0, 3),
            ConfigError,
            "Discrete actions, not Box",
        ),
        (lambda env: FCPConfig(snapshots=1), ConfigError, "snapshots from 2"),
        (lambda env: FCPConfig(member_steps=1000), ConfigError, "member_steps=1000 is too little"),
    ],
)
def test_mistakes_are_explained(env: Doors, make: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make(env)
