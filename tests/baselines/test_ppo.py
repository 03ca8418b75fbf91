"""PPO: its estimates by hand, what it learns in small worlds, and the policies it leaves."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines.learners import networks
from manyhands.baselines.learners.ppo import PPO, PPOConfig
from manyhands.baselines.players import network as policies
from manyhands.core.env import (
    ConfigError,
    DeviceView,
    Env,
    PolicyError,
    state_dataclass,
)
from manyhands.core.registry import register


@state_dataclass
class EchoState:
    """cue: i32[N]; time: i32[]."""

    cue: jax.Array
    time: jax.Array


class Echo(Env[EchoState]):
    """Show each player a cue at the first step; at the last of `steps` it pays to answer it.

    `space`: "discrete", "multi" (two components), "box" (the answer is cue - 1). With `turns`,
    players answer one after the other, each at a last step of its own; with `leave`, player_0 is
    done one step before the others. The episode ends by the rules, or by the clock with `clock`.
    """

    id = "test-echo"
    terms = ("echo",)

    def __init__(self, steps=1, players=2, space="discrete", turns=False, leave=False, clock=False):
        self.steps, self.space, self.turns, self.leave = steps, space, turns, leave
        self.clock, self.max_steps = clock, steps
        self.agents = tuple(f"player_{i}" for i in range(players))
        self.reward_weights = {"echo": 1.0}
        self.action_space = {
            "discrete": gymnasium.spaces.Discrete(4),
            "multi": gymnasium.spaces.MultiDiscrete([3, 2]),
            "box": gymnasium.spaces.Box(-2.0, 2.0, (1,), np.float32),
        }[space]
        self.observation_space = gymnasium.spaces.Box(-1, 4, (4,), np.float32)
        self.noop = 0 if space == "discrete" else np.zeros(2 if space == "multi" else 1)

    def config(self):
        names = ("steps", "space", "turns", "leave", "clock")
        return {"players": self.num_agents} | {name: getattr(self, name) for name in names}

    def reset(self, key):
        return EchoState(jax.random.randint(key, (self.num_agents,), 0, 3), jnp.int32(0))

    def step(self, key, state, actions):
        agents = jnp.arange(self.num_agents)
        time = state.time + 1
        end = jnp.full(self.num_agents, self.steps) - (agents == 0) * self.leave
        answers = time == (end - (self.num_agents - 1 - agents) if self.turns else end)
        if self.space == "discrete":
            right = (actions == state.cue).astype(jnp.float32)
        elif self.space == "multi":
            right = (actions[:, 0] == state.cue) * (actions[:, 1] == state.cue % 2) * 1.0
        else:
            right = 1 - jnp.abs(actions[:, 0] - (state.cue - 1.0))
        over = time >= end
        never = jnp.zeros_like(over)
        return EchoState(state.cue, time), self.outcome(
            {"echo": jnp.where(answers, right, 0.0)},
            never if self.clock else over,
            over if self.clock else never,
            {"answers": jnp.sum(answers, dtype=jnp.float32), "illegal": jnp.float32(0)},
        )

    def observe(self, state):
        cue = jnp.where(state.time == 0, jax.nn.one_hot(state.cue, 3).T, 0.0).T
        left = jnp.full((self.num_agents, 1), self.steps - state.time, jnp.float32)
        return jnp.concatenate([cue, left], axis=1)

    def legal(self, state):
        size = {"discrete": 4, "multi": 5, "box": 1}[self.space]
        allowed = jnp.ones((self.num_agents, size), bool) & self.acting(state)[:, None]
        return allowed.at[:, 3].set(False) if self.space == "discrete" else allowed

    def acting(self, state):
        if not self.turns:
            return jnp.ones(self.num_agents, bool)
        turn = state.time - (self.steps - self.num_agents)
        return (jnp.arange(self.num_agents) == turn) | (turn < 0)

    def summary(self, state):
        return self.observe(state).reshape(-1)


register("test-echo", f"{__name__}:Echo")
QUICK = {
    "num_envs": 64,
    "num_steps": 8,
    "learning_rate": 0.01,
    "width": 16,
    "layers": 1,
    "minibatches": 2,
}


@functools.lru_cache
def learned(updates: int, **options: Any) -> tuple[PPO, Any, np.ndarray]:
    """A learner after some updates in `Echo`, and the returns on the way."""
    own = {field.name for field in dataclasses.fields(PPOConfig)}
    config = QUICK | {name: value for name, value in options.items() if name in own}
    env = Echo(**{name: value for name, value in options.items() if name not in own})
    config["total_steps"] = updates * config["num_envs"] * config["num_steps"]
    learner = PPO(env, PPOConfig(**config))

    @jax.jit
    def run(key: jax.Array) -> Any:
        return jax.lax.scan(lambda p, _: learner.update(p), learner.init(key), None, updates)

    progress, metrics = run(jax.random.key(1))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree_util.tree_leaves(progress.params))
    return learner, progress, np.asarray(metrics["return"])


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({"space": "discrete"}, 0.95),
        pytest.param(
            {"space": "multi", "normalise": True, "centralised_critic": True, "reads": "vector"},
            0.9,
            marks=pytest.mark.slow,
        ),
        ({"space": "box", "entropy": 0.0, "entropy_end": 0.0, "clock": True}, 0.7),
        ({"steps": 3, "recurrent": True, "turns": True}, 0.9),  # remember the cue until one's turn
        pytest.param(
            {"advantage": "role", "discount": 1.0, "players": 3, "leave": True, "steps": 2},
            0.5,
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda value: (
        ", ".join(f"{k}={v}" for k, v in value.items()) if type(value) is dict else ""
    ),
)
def test_learns(options: dict[str, Any], least: float) -> None:
    _, _, returns = learned(60, **options)
    assert returns[-5:].mean() > least, returns
    assert returns[0] < 0.6


def test_ends_and_values() -> None:
    """Advantages against the plain sum, in an environment where one player leaves early."""
    for clock in (False, True):
        env = Echo(steps=3, players=2, leave=True, clock=clock)
        config = PPOConfig(**{**QUICK, "num_envs": 2, "num_steps": 9, "total_steps": 18})
        learner = PPO(env, config)
        progress = learner.init(jax.random.key(0))
        keys = jax.random.split(jax.random.key(1), config.num_steps)
        step = functools.partial(learner._step, progress, 0.0)
        playing, (steps, report) = jax.jit(jax.lax.scan, static_argnums=0)(
            step, progress.playing, keys
        )
        values, _ = learner._values(progress, playing, steps)
        advantages = np.asarray(learner._advantages(steps, values))
        # By the rules episodes take 3 steps; cut by the clock, one more in which nobody plays.
        length = 4 if clock else 3
        phase = np.arange(9) % length
        np.testing.assert_array_equal(np.asarray(steps.first)[:, 0], phase == 0)
        counts = np.asarray(steps.counts)
        np.testing.assert_array_equal(counts[:, 0, 0], phase < 2)  # player_0 leaves after two
        np.testing.assert_array_equal(counts[:, 0, 1], phase < 3)
        assert float(report["episodes"].sum()) == 2 * np.sum(phase == 2)
        rewards, values = np.asarray(steps.reward), np.asarray(values)
        for agent, last in ((0, 1), (1, 2)):
            for start in range(0, 9 - length + 1, length):
                expected = 0.0
                for t in range(start + last, start - 1, -1):
                    after = values[t + 1, :, agent]
                    if t == start + last:  # the value after the end counts only if it was cut
                        after, expected = after * clock, np.zeros(2)
                    surprise = rewards[t, :, agent] + 0.99 * after - values[t, :, agent]
                    expected = surprise + 0.99 * 0.95 * expected
                    np.testing.assert_allclose(advantages[t, :, agent], expected, atol=1e-5)


@pytest.mark.slow
def test_seeds_at_once_learn_what_each_learns_alone() -> None:
    learner, alone, _ = learned(2)
    keys = jnp.stack([jax.random.key(0), jax.random.key(1)])

    @jax.jit
    def run(keys: jax.Array) -> Any:
        progress = jax.vmap(learner.init)(keys)
        return jax.lax.scan(lambda p, _: jax.vmap(learner.update)(p), progress, None, 2)[0]

    both = run(keys)
    for one, two in zip(*map(jax.tree_util.tree_leaves, (alone.params, both.params)), strict=True):
        np.testing.assert_allclose(one, two[1], atol=1e-5)
        assert two.shape[0] == 2


@pytest.mark.slow
def test_shaping_is_learned_from_and_not_reported() -> None:
    env = manyhands.make("kitchen", max_steps=20)
    config = {**QUICK, "total_steps": 64 * 8, "shaping": (("pot_placement", 1.0),)}
    learner = PPO(env, PPOConfig(**config))
    progress = learner.init(jax.random.key(0))
    held = dataclasses.replace(
        progress.playing.state,
        held=jnp.ones_like(progress.playing.state.held),  # onions
        facing=jnp.zeros_like(progress.playing.state.facing),
    )
    pot = int(np.flatnonzero(np.asarray(held.terrain[:, 0]) == 5)[0])
    held = dataclasses.replace(held, position=held.position.at[0].set(pot + env.width))
    playing = dataclasses.replace(progress.playing, state=held)
    seen = []
    for weight in (1.0, 0.5, 0.0):
        _, (steps, _) = learner._step(progress, weight, playing, jax.random.key(3))
        placed = np.asarray(steps.action)[:, 0] == 5
        assert placed.any()
        assert np.asarray(steps.reward)[placed, 0].tolist() == [3.0 * weight] * placed.sum()
        seen.append(np.asarray(_["returns"]))
    assert not np.any(seen)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"num_envs": 10, "minibatches": 4}, "cannot be divided"),
        ({"total_steps": 10}, "less than one update"),
        ({"reads": "thoughts"}, "perception or vector"),
        ({"shaping": (("soups", 1.0),)}, "no reward term"),
        ({"activation": "step"}, "tanh or relu"),
        ({"learning_rate": float("nan")}, "learning_rate is a finite number from 0"),
        ({"learning_rate": -1.0}, "learning_rate is a finite number from 0"),
        ({"learning_rate": "fast"}, "learning_rate is a finite number from 0"),
        ({"discount": 2.0}, "discount is a finite number from 0 to 1"),
        ({"max_grad_norm": 0.0}, "max_grad_norm is a finite number above 0"),
        ({"entropy": float("inf")}, "entropy is a finite number"),
        ({"total_steps": 1e6}, "total_steps is a whole number"),
        ({"recurrent": "no"}, "recurrent is True or False"),
        ({"start_player": None}, "start_player is a word"),
        ({"shaping": (("delivery", float("nan")),)}, "weight of shaping"),
    ],
)
def test_bad_configurations(config: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        PPO(Echo(), PPOConfig(**config)).init(jax.random.key(0))


# ---- distributions -------------------------------------------------------------------------------


def test_categorical_draws_what_it_says() -> None:
    actions = networks.actions_of(gymnasium.spaces.Discrete(4, start=2))
    outputs = jnp.array([0.3, -0.5, 9.0, 1.0])
    legal = jnp.array([True, True, False, True])
    many = jnp.broadcast_to(outputs, (20_000, 4))
    drawn = np.asarray(actions.sample(jax.random.key(0), many, legal))
    says = np.exp(actions.log_prob(many[:4], legal, jnp.arange(2, 6)))
    share = np.bincount(drawn - 2, minlength=4) / len(drawn)
    np.testing.assert_allclose(share, says, atol=0.015)
    assert share[2] == 0 and says.sum() == pytest.approx(1)
    entropy = -np.sum(says[says > 0] * np.log(says[says > 0]))
    assert actions.entropy(outputs, legal) == pytest.approx(entropy, abs=1e-5)
    assert actions.mode(outputs, legal) == 5
    nobody = jnp.zeros(4, bool)  # of an agent that is not to move: anything, but finite
    assert np.isfinite(actions.log_prob(outputs, nobody, jnp.int32(2)))
    assert actions.mode(outputs, nobody) == 4


def test_independent_components() -> None:
    space = gymnasium.spaces.MultiDiscrete([3, 2])
    actions = networks.actions_of(space)
    outputs = jax.random.normal(jax.random.key(1), (500, 5))
    legal = jnp.array([True, False, True, True, True])
    drawn = actions.sample(jax.random.key(2), outputs, legal)
    assert all(space.contains(row) for row in np.asarray(drawn, np.int64))
    assert not np.any(np.asarray(drawn)[:, 0] == 1)
    pairs = jnp.array([[a, b] for a in range(3) for b in range(2)])
    total = sum(np.exp(actions.log_prob(outputs, legal, pair)) for pair in pairs)
    np.testing.assert_allclose(total, 1, atol=1e-5)
    assert np.all(actions.entropy(outputs, legal) <= np.log(2) + np.log(2) + 1e-6)


def test_gaussian_stays_in_its_box() -> None:
    space = gymnasium.spaces.Box(np.array([-1, 0, -np.inf]), np.array([3, 1, np.inf]), (3,), float)
    actions = networks.actions_of(space)
    outputs = jnp.array([0.5, -0.5, 7.0, 0.1, 0.2, 0.3])
    played = actions.playable(actions.mode(outputs, None))
    np.testing.assert_allclose(played, [1 + 2 * 0.5, 0.25, 7.0])
    drawn = actions.sample(jax.random.key(0), jnp.broadcast_to(outputs, (999, 6)), None)
    assert all(space.contains(np.asarray(row, float)) for row in actions.playable(drawn))
    std = np.exp(np.array([0.1, 0.2, 0.3]) - 0.5)
    np.testing.assert_allclose(drawn.std(0), std, rtol=0.1)
    z = (np.asarray(drawn[0]) - np.asarray(outputs[:3])) / std
    expected = np.sum(-0.5 * z**2 - np.log(std) - 0.5 * np.log(2 * np.pi))
    assert actions.log_prob(outputs, None, drawn[0]) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "space", [gymnasium.spaces.MultiBinary(3), gymnasium.spaces.Box(0, 255, (2, 2), np.uint8)]
)
def test_spaces_that_networks_cannot_act_in(space: gymnasium.Space) -> None:
    with pytest.raises(ConfigError, match="networks act in"):
        networks.actions_of(space)


@pytest.mark.slow
def test_kitchen_inputs_tell_states_apart() -> None:
    """They differ wherever compact observations do."""
    layouts = ["cramped_room", "counter_circuit_tomato"]
    env = manyhands.make("kitchen", layout=layouts, observation="compact", starts="random")
    result = manyhands.rollout(env, "random", 64, 200, jax.random.key(0))
    codes = np.moveaxis(np.asarray(result.trajectory.observation), -1, 0)
    codes = np.unique(codes.reshape(-1, *codes.shape[-2:]), axis=0)
    read = np.asarray(jax.jit(jax.vmap(env.network_input))(jnp.asarray(codes)))
    assert read.min() == 0 and read.max() < 3  # times are in units of 20 steps
    assert len(np.unique(read, axis=0)) == len(codes) > 9000


# ---- policies and their files --------------------------------------------------------------------


@pytest.fixture
def trained() -> tuple[Env, policies.NetworkPolicy]:
    learner, progress, _ = learned(60)
    return learner.env, learner.policy(progress)


def actions_taken(env: Env, policy: policies.NetworkPolicy) -> np.ndarray:
    result = manyhands.rollout(env, policy, 16, 4, jax.random.key(5))
    return np.asarray(result.trajectory.action)


def test_policies_on_disk(trained, tmp_path) -> None:
    env, policy = trained
    path = tmp_path / "new" / "echo.safetensors"
    policies.save(path, policy, {"seeds": [1]})
    again = policies.load(path, env)
    np.testing.assert_array_equal(actions_taken(env, policy), actions_taken(env, again))
    assert sorted(file.name for file in path.parent.iterdir()) == ["echo.json", "echo.safetensors"]
    seat = manyhands.seat(f"policy:file={path},greedy=true", env)
    result = manyhands.play(env, [seat, "random"], episodes=20, seed=0)
    assert result.rewards[:, 0].mean() == 1.0


def test_files_that_are_no_policies_for_this(trained, tmp_path) -> None:
    env, policy = trained
    path = tmp_path / "echo.safetensors"
    policies.save(path, policy, {})
    whole = path.read_bytes()

    def refused(words: str, target: Env = env, file=path) -> None:
        with pytest.raises(PolicyError, match=words):
            policies.load(file, target)

    refused("players=2, not 3", Echo(players=3))
    refused("'test-echo', not 'kitchen'", manyhands.make("kitchen"))
    refused("there is no file", file=tmp_path / "none.safetensors")
    refused("is a folder", file=tmp_path)
    for cut in (0, 5, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        refused("cannot be read as safetensors")
    path.write_bytes(b"\x80\x04\x95" + whole[3:])  # how a pickle begins
    refused("cannot be read as safetensors")
    policies.write_tensors(path, {"a": np.zeros(3)}, {})
    refused("not a policy")
    policies.write_tensors(path, {"a": np.zeros(3)}, {"format": policies.FORMAT, "about": "{}"})
    refused("does not say")
    wide = dataclasses.replace(policy.network, width=99)
    policies.save(path, dataclasses.replace(policy, network=wide), {})
    refused("does not fit")
    with pytest.raises(PolicyError, match=r"\.safetensors"):
        policies.save(tmp_path / "policy.pkl", policy, {})


def test_a_full_disk_leaves_the_old_file(trained, tmp_path, monkeypatch) -> None:
    _, policy = trained
    path = tmp_path / "echo.safetensors"
    policies.save(path, policy, {"version": 1})
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        policies.save(path, policy, {"version": 2})
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_a_recurrent_policy_remembers_in_every_loop(tmp_path) -> None:
    learner, progress, _ = learned(60, steps=3, recurrent=True, turns=True)
    policy = learner.policy(progress)
    result = manyhands.play(learner.env, [policy, policy], episodes=20, seed=0)
    assert result.rewards.mean() > 0.9
    batch = manyhands.rollout(learner.env, policy, 64, 30, jax.random.key(0), collect="statistics")
    assert batch.statistics.returns.mean() > 0.9


def test_seats_that_are_not_shipped() -> None:
    with pytest.raises(PolicyError, match="manyhands train test-echo --algorithm ippo"):
        manyhands.seat("ippo", Echo())
    with pytest.raises(PolicyError, match="name its file"):
        manyhands.seat("policy", Echo())


def test_views_may_hold_any_observation(trained) -> None:
    """A policy that reads perceptions plays whatever observation is configured."""
    policy = manyhands.seat("ippo", manyhands.make("kitchen"))
    taken = []
    for kind in ("grid", "compact", "features"):
        env = manyhands.make("kitchen", observation=kind)
        state = env.reset(jax.random.key(0))
        view = DeviceView(
            env.observe(state)[0], env.perceive(state)[0], env.legal(state)[0], jnp.bool_(True)
        )
        taken.append(int(policy.apply(env, 0, policy.init(env, 0), jax.random.key(7), view)[0]))
    assert len(set(taken)) == 1


@pytest.mark.parametrize("wrapper", ["chat", "skills"])
def test_policies_play_wrapped_environments(wrapper: str) -> None:
    """The same moves in a wrapper as without."""
    kitchen = manyhands.make("kitchen", observation="compact", max_steps=20)
    learner = PPO(kitchen, PPOConfig(**{**QUICK, "total_steps": 64 * 8}))
    policy = learner.policy(learner.init(jax.random.key(0)))
    wrapped = manyhands.make(wrapper, env=kitchen)
    taken = []
    for env in (kitchen, wrapped):
        state = env.reset(jax.random.key(0))
        view = DeviceView(
            env.observe(state)[0], env.perceive(state)[0], env.legal(state)[0], jnp.bool_(True)
        )
        taken.append(policy.apply(env, 0, policy.init(env, 0), jax.random.key(7), view)[0])
    np.testing.assert_array_equal(taken[1], wrapped.lift(taken[0]))
    assert wrapped.lower(wrapped.legal(wrapped.reset(jax.random.key(0)))[0]).shape == (6,)


@pytest.mark.parametrize(
    "layout",
    [
        "cramped_room",
        "asymmetric_advantages",
        "coordination_ring",
        "forced_coordination",
        "counter_circuit",
    ],
)
def test_shipped_policies_fit_their_kitchens(layout: str) -> None:
    """Whatever else is configured; what they score is in their cards."""
    env = manyhands.make("kitchen", layout=layout, observation="features", max_steps=100)
    policy = manyhands.seat("ippo", env)
    assert policy.spec["config"]["layout"] == env.config()["layout"]
    folder = pathlib.Path(manyhands.__file__).parent / "assets" / "policies" / "kitchen"
    card = json.loads((folder / f"{layout}-ippo.json").read_text())
    assert len(card["scores_of_all_seeds"]) >= 3 and card["command"].startswith("manyhands train")
    assert (folder / f"{layout}-ippo.safetensors").stat().st_size < 1_000_000


@pytest.mark.slow
def test_a_shipped_policy_cooks() -> None:
    """Two soups at least in the first hundred steps; partners of a batch, too."""
    env = manyhands.make("kitchen", layout="cramped_room", max_steps=100)
    result = manyhands.rollout(env, ["ippo", "ippo"], 4, 100, jax.random.key(0))
    assert np.asarray(result.trajectory.metrics["soups"]).sum(axis=0).min() >= 2
    envs = gymnasium.make_vec("manyhands/Kitchen-v0", num_envs=2, partners="ippo")
    envs.reset(seed=0)
    assert envs.step(envs.action_space.sample())[0].shape[0] == 2
    with pytest.raises(PolicyError, match="manyhands train kitchen"):
        manyhands.seat("ippo", manyhands.make("kitchen", layout="two_rooms"))
