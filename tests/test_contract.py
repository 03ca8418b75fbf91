"""The contract of an environment, for every registered id (`CASES` gives each small variants)."""

import json
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from hypothesis import given, settings
from hypothesis import strategies as st

import manyhands
from manyhands.core.env import Env, Outcome, SnapshotError, episode_key
from manyhands.core.episode import episode_seed
from manyhands.core.pack import Frame, fingerprint, no_actions, restore, snapshot, stepper
from manyhands.core.play import play
from manyhands.core.registry import from_spec
from manyhands.wrappers.gymnasium import SeatEnv
from manyhands.wrappers.pettingzoo import Parallel

CASES: dict[str, dict[str, dict[str, Any]]] = {
    "kitchen": {
        "grid": {"max_steps": 20, "reward_weights": {"pot_placement": 0.3, "dish_pickup": 0.7}},
        "compact, three layouts": {
            "layout": ["cramped_room", "forced_coordination", "two_rooms"],
            "starts": "random",
            "observation": "compact",
            "max_steps": 24,
        },
        "features, short view": {
            "layout": "coordination_ring",
            "starts": "jaxmarl",
            "view_radius": 2,
            "observation": "features",
            "dynamics": "manual",
            "max_steps": 24,
        },
        "generated": {"layout": "generated", "num_levels": 4, "chefs": 3, "max_steps": 24},
    },
    "kuhn_poker": {
        "three players, two hands": {"players": 3, "hands": 2, "reward_weights": {"win": 0.3}}
    },
    "leduc_holdem": {"duplicate": {"hands": 4, "duplicate": True, "max_steps": 40}},
    "tic_tac_toe": {"as it is": {}},
    "connect_four": {"small, three in a line": {"rows": 4, "columns": 5, "connect": 3}},
    "negotiation": {
        "a deal by offers": {"protocol": "offers", "max_steps": 24, "discount": 0.9},
        "a small trade": {
            "scenario": "trade",
            "goods": ["wood", "gold"],
            "holdings": [[(2, 4), (2, 4)]] * 2,
            "values": [[(1, 3), (2, 4)]] * 2,
            "max_steps": 20,
        },
        "the commons": {
            "scenario": "commons",
            "players": 3,
            "months": 5,
            "values": (1, 3),
            "collapse": 0,
            "reward_weights": {"survival": 0.3},
        },
    },
    "volleyball": {
        "a match by velocities, noisy and late": {
            "points": 2,
            "lead": 1,
            "actions": "velocity",
            "randomise": {
                "mass": [0.9, 1.1],
                "restitution": [0.7, 0.8],
                "action_delay": [0, 2],
                "sensor_delay": [0, 1],
                "position_noise": [0.0, 0.02],
            },
            "max_steps": 24,
            "reward_weights": {"hit": 0.3},
        },
    },
    "craftworld": {
        "Craftax-Classic, two specialists": {
            "players": 2,
            "size": [16, 20],
            "roles": "specialists",
            "observation": "compact",
            "reward": "mixed",
            "max_steps": 40,
        },
        "Crafter on a map, with a beacon": {
            "rules": {"name": "crafter", "slots": [12], "plants": 4},
            "map": "TTWW..S\n.0.z..S\n..Bc.CO\n,k_<.1F",
            "start": {"inventory": {"wood": 5, "stone": 2}, "vitals": {"energy": 5}},
            "joint": "beacon",
            "world": [{"name": "brief days", "day_length": 20}, {"name": "usual"}],
            "spawning": True,
            "max_steps": 24,
            "reward_weights": {"joint": 0.3},
        },
    },
    # Wrappers keep the contract too.
    "chat": {"the kitchen": {"env": manyhands.make("kitchen", max_steps=24)}},
    "skills": {"the kitchen": {"env": manyhands.make("kitchen", max_steps=24)}},
    "events": {"volleyball": {"env": manyhands.make("volleyball", max_steps=300), "patience": 3}},
}
# What takes longest to compile.
SLOW = {("events", "volleyball"), ("craftworld", "Crafter on a map, with a beacon")}
STEPS, SEED = 16, 5


def same(left: Any, right: Any, exact: bool = True) -> None:
    """Equal pytrees, to the bit and to the dtype; where not `exact`, but for what rounding
    differently leaves in a few steps."""
    left, right = jax.device_get(left), jax.device_get(right)
    assert jax.tree_util.tree_structure(left) == jax.tree_util.tree_structure(right)
    for a, b in zip(jax.tree_util.tree_leaves(left), jax.tree_util.tree_leaves(right), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if exact or a.dtype.kind != "f":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def stacked(trees: list[Any]) -> Any:
    """A batch, its axis last."""
    return jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *trees)


def column(tree: Any, i: int) -> Any:
    return jax.tree_util.tree_map(lambda leaf: leaf[..., i], jax.device_get(tree))


def parts(env: Env, state: Any) -> tuple[Any, ...]:
    """Everything that agents and learners are given of a state."""
    return (
        env.observe(state),
        env.perceive(state),
        env.legal(state),
        env.acting(state),
        env.summary(state),
    )


def batch_parts(env: Env, states: Any) -> tuple[Any, ...]:
    return (
        env.batch_observe(states),
        env.batch_perceive(states),
        env.batch_legal(states),
        env.batch_acting(states),
        env.batch_summary(states),
    )


def longer(env: Env) -> Env:
    """The same environment, but for the length of its episodes."""
    spec = json.loads(json.dumps(env.spec()))
    inner = spec
    while "env" in inner:
        inner = inner["env"]
    inner["config"]["max_steps"] = env.max_steps + 1
    return from_spec(spec)


def seen_of(frame: Frame) -> tuple[Any, ...]:
    """The first four of `parts`, of a frame."""
    return frame.vector, frame.perception, frame.legal, frame.acting


def outcome_of(frame: Frame) -> Outcome:
    return Outcome(frame.reward, frame.terminated, frame.truncated, frame.terms, frame.metrics)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            (id, name), id=f"{id}: {name}", marks=[pytest.mark.slow] * ((id, name) in SLOW)
        )
        for id, variants in CASES.items()
        for name in variants
    ],
)
def case(request) -> SimpleNamespace:
    """An environment, and random legal play in it: frame t + 1 comes from actions t."""
    id, name = request.param
    env = manyhands.make(id, **CASES[id][name])
    key = episode_key(SEED)
    key_data = np.asarray(jax.random.key_data(key))
    env.action_space.seed(SEED)
    frames, actions = [stepper(env).reset(key)], []
    while len(frames) <= STEPS and not frames[-1].over:
        rows = no_actions(env)
        for i in range(env.num_agents):
            mask = frames[-1].legal[i].astype(np.int8)
            if isinstance(env.action_space, Discrete):
                rows[i] = env.action_space.sample(mask if mask.any() else None)
            elif isinstance(env.action_space, Box):
                rows[i] = env.action_space.sample()
            else:  # a mask for each part
                firsts = np.cumsum(env.action_space.nvec)[:-1]
                rows[i] = env.action_space.sample(tuple(np.split(mask, firsts)))
        actions.append(rows)
        frames.append(stepper(env).step(key_data, len(actions) - 1, frames[-1].state, rows))
    return SimpleNamespace(
        id=id, env=env, key=key, key_data=key_data, frames=frames, actions=actions
    )


def test_every_environment_is_covered():
    # Other tests register environments of their own, all of them called "test-...".
    shipped = {name for name in manyhands.registered() if not name.startswith("test-")}
    assert set(CASES) == shipped | set(manyhands.registered(wrappers=True))


# ---- pure functions ------------------------------------------------------------------------------


def test_compiled_calls_agree_with_the_plain_one(case):
    env, t = case.env, 3
    frame, after = case.frames[t], case.frames[t + 1]
    state, outcome = env.step(jax.random.fold_in(case.key, t), frame.state, case.actions[t])
    same((state, outcome), (after.state, outcome_of(after)), env.exact)
    same(parts(env, frame.state)[:4], seen_of(frame), env.exact)


def test_mapped_calls_and_batches_agree_with_single_ones(case):
    env, size = case.env, 5
    keys = jax.vmap(lambda i: jax.random.fold_in(case.key, i))(np.arange(size))
    states = stacked([frame.state for frame in case.frames[:size]])
    rows = stacked(case.actions[:size])

    def step(key, state, actions):
        return env.step(key, state, actions), parts(env, state)

    def batch_step(keys, states, actions):
        return env.batch_step(keys, states, actions), batch_parts(env, states)

    mapped = jax.jit(jax.vmap(step, in_axes=(0, -1, -1), out_axes=-1))(keys, states, rows)
    batch = jax.jit(batch_step)(keys, states, rows)
    same(batch, mapped, env.exact)
    for i in range(size):
        (state, outcome), seen = column(batch, i)
        frame, after = case.frames[i], case.frames[i + 1]
        same((state, outcome), (after.state, outcome_of(after)), env.exact)
        same(seen[:4], seen_of(frame), env.exact)
    first = jax.tree_util.tree_map(lambda leaf: leaf[..., :1], (states, rows))
    same(column(jax.jit(batch_step)(keys[:1], *first), 0), column(batch, 0), env.exact)


def test_a_batch_of_resets_holds_single_resets(case):
    env = case.env
    keys = jax.vmap(jax.random.key)(np.arange(6))
    states = jax.jit(env.batch_reset)(keys)
    singles = [stepper(env).reset(keys[i]).state for i in range(6)]
    for i, state in enumerate(singles):
        same(column(states, i), state, env.exact)
    if env.deterministic_reset:
        for state in singles[1:]:
            same(state, singles[0])
    else:
        assert len({snapshot(env, state) for state in singles}) > 1


def test_stepping_compiles_once_and_needs_no_packing(case):
    env, traces = case.env, []

    def step(key, state, actions):
        traces.append(1)
        return env.step(key, state, actions)

    step = jax.jit(step)
    state = jax.jit(env.reset)(case.key)
    for t, rows in enumerate(case.actions):
        same(state, case.frames[t].state, env.exact)
        key = jax.random.fold_in(case.key, t)
        step(key, case.frames[t].state, rows)  # NumPy states, as snapshots give
        state, _ = step(key, state, rows)
    assert len(traces) == 1
    assert stepper(env)._step.compilations == 1


def test_a_step_changes_no_shape_and_no_dtype(case):
    before = jax.eval_shape(case.env.reset, case.key)
    after, outcome = jax.eval_shape(case.env.step, case.key, before, no_actions(case.env))
    assert jax.tree_util.tree_structure(before) == jax.tree_util.tree_structure(after)
    for a, b in zip(
        jax.tree_util.tree_leaves(before), jax.tree_util.tree_leaves(after), strict=True
    ):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
    n = case.env.num_agents
    assert (outcome.reward.shape, outcome.reward.dtype) == ((n,), np.float32)
    assert (outcome.terminated.shape, outcome.terminated.dtype) == ((n,), bool)
    assert (outcome.truncated.shape, outcome.truncated.dtype) == ((n,), bool)


# ---- what a step yields --------------------------------------------------------------------------


def test_spaces_contain_what_is_emitted(case):
    env = case.env
    for frame in case.frames:
        assert frame.vector.shape == (env.num_agents, *env.observation_space.shape)
        assert frame.vector.dtype == env.observation_space.dtype
        for row in frame.vector:
            assert env.observation_space.contains(row)
        assert frame.legal.shape[0] == frame.acting.shape[0] == env.num_agents
        assert (frame.legal.any(1) == frame.acting).all()


def test_rewards_are_the_weighted_sums_of_the_terms(case):
    env = case.env
    assert set(env.reward_weights) == set(env.terms)
    for frame in case.frames:
        assert tuple(frame.terms) == tuple(sorted(env.terms)) or tuple(frame.terms) == env.terms
        expected = np.float32(0)
        for name in env.terms:
            expected = expected + np.float32(env.reward_weights[name]) * frame.terms[name]
        np.testing.assert_array_equal(frame.reward, expected)


def test_names_never_change(case):
    env = case.env
    for frame in case.frames:
        assert set(frame.terms) == set(env.terms)
        assert list(frame.metrics) == list(case.frames[0].metrics)
        assert "illegal" in frame.metrics
        assert all(np.shape(value) == () for value in frame.metrics.values())
    assert len(set(env.agents)) == env.num_agents == len(case.frames[0].reward)
    assert all(env.index(name) == env.index(i) == i for i, name in enumerate(env.agents))
    for wrong in ("nobody", -1, env.num_agents):
        with pytest.raises(manyhands.ConfigError, match=env.agents[0]):
            env.index(wrong)


def test_random_play_goes_on_to_the_end(case):
    env, frames = case.env, list(case.frames)
    t = len(frames) - 1
    while not frames[-1].over:
        assert t < env.max_steps
        rows = case.actions[t % len(case.actions)]
        frames.append(stepper(env).step(case.key_data, t, frames[-1].state, rows))
        t += 1
    last = frames[-1]
    assert (last.terminated | last.truncated).all()
    assert not any(frame.over for frame in frames[:-1])
    if not last.terminated.any():
        assert t == env.max_steps and last.truncated.all()


def test_illegal_actions_are_counted_and_do_nothing(case):
    env = case.env
    if not isinstance(env.action_space, Discrete):
        pytest.skip("every number of this action space is legal")
    frame = case.frames[2]
    actor = int(np.flatnonzero(frame.acting)[0])
    noops = no_actions(env)
    noops[:] = env.noop
    expected = stepper(env).step(case.key_data, 2, frame.state, noops)
    assert expected.metrics["illegal"] == 0
    for wrong in (-1, int(env.action_space.n), 2**31 - 1, -(2**31)):
        rows = noops.copy()
        rows[actor] = wrong
        found = stepper(env).step(case.key_data, 2, frame.state, rows)
        # A wrapper may remember that something was tried; the game does not.
        same(
            getattr(found.state, "inner", found.state),
            getattr(expected.state, "inner", expected.state),
        )
        same(found.reward, expected.reward)
        assert found.metrics["illegal"] == 1


# ---- snapshots and fingerprints ------------------------------------------------------------------


def test_snapshots_restore_and_fork_exactly(case):
    env, t = case.env, len(case.actions) // 2
    kept = snapshot(env, case.frames[t].state)
    assert kept == snapshot(env, restore(env, kept))
    for _ in range(2):  # the second fork sees nothing of the first
        state = restore(env, kept)
        same(state, case.frames[t].state)
        view = stepper(env).view(state)
        same((view.vector, view.legal), (case.frames[t].vector, case.frames[t].legal))
        for u in range(t, len(case.actions)):
            frame = stepper(env).step(case.key_data, u, state, case.actions[u])
            state = frame.state
            same(seen_of(frame), seen_of(case.frames[u + 1]))
            same(outcome_of(frame), outcome_of(case.frames[u + 1]))
            assert snapshot(env, state) == snapshot(env, case.frames[u + 1].state)


def test_snapshots_of_others_are_refused(case):
    env = case.env
    good = snapshot(env, case.frames[1].state)
    with pytest.raises(SnapshotError, match="another environment or configuration"):
        restore(longer(env), good)
    for size in (0, 7, 35, 36, len(good) - 1):
        with pytest.raises(SnapshotError):
            restore(env, good[:size])
    with pytest.raises(SnapshotError):
        restore(env, good + b"\x00")
    for position in range(0, len(good), 7):
        damaged = bytearray(good)
        damaged[position] ^= 0x10
        with pytest.raises(SnapshotError):
            restore(env, bytes(damaged))


@settings(deadline=None, max_examples=40)
@given(data=st.binary(max_size=300), keep=st.integers(0, 60))
def test_any_bytes_are_refused_politely(case, data, keep):
    good = snapshot(case.env, case.frames[0].state)
    for attempt in (data, good[:keep] + data):
        if attempt != good:
            with pytest.raises(SnapshotError):
                restore(case.env, attempt)


def test_fingerprints_tell_states_apart(case):
    env = case.env
    prints = [fingerprint(env, frame.state) for frame in case.frames]
    assert len(set(prints)) == len({snapshot(env, frame.state) for frame in case.frames})
    assert prints[3] == fingerprint(env, restore(env, snapshot(env, case.frames[3].state)))
    assert all(len(found) == 32 and int(found, 16) >= 0 for found in prints)
    for i in range(env.num_agents):
        looks = {}
        for frame in case.frames:
            look = frame.vector[i].tobytes(), env.describe(frame.state, i)
            looks.setdefault(look, set()).add(fingerprint(env, frame.state, i))
        assert all(len(found) == 1 for found in looks.values())
        assert len(set().union(*looks.values())) == len(looks)


# ---- one game through every API ------------------------------------------------------------------


def test_a_seed_gives_the_same_bytes_through_pettingzoo(case):
    env = case.env
    expected = [snapshot(env, frame.state) for frame in case.frames]
    parallel = Parallel(env)
    observations, _ = parallel.reset(seed=SEED)
    found = [snapshot(env, parallel.current)]
    for t, rows in enumerate(case.actions):
        asked = {a: rows[i] for i, a in enumerate(env.agents) if case.frames[t].acting[i]}
        observations, rewards, *_ = parallel.step(asked)
        for i, agent in enumerate(env.agents):
            same(observations[agent], case.frames[t + 1].vector[i])
            assert rewards[agent] == case.frames[t + 1].reward[i]
        found.append(snapshot(env, parallel.current))
    assert found == expected


def test_a_seed_gives_the_same_bytes_through_gymnasium(case):
    env = case.env
    if not all(frame.acting.all() for frame in case.frames):
        pytest.skip("with turns, a step of one seat is several of the game")

    def partner(view):
        return case.actions[view.step][view.index]

    seat = SeatEnv(env, seat=0, partners=partner)
    vector, _ = seat.reset(seed=SEED)
    for t, rows in enumerate(case.actions):
        same(vector, case.frames[t].vector[0])
        vector, reward, *_ = seat.step(rows[0])
        assert reward == case.frames[t + 1].reward[0]
    same(vector, case.frames[-1].vector[0])


def test_play_gives_the_episode_that_its_seed_names(case):
    env, seen = case.env, []

    def player(view):
        rows = case.actions[view.step % len(case.actions)][view.index]
        return rows.item() if rows.shape == () else rows

    play(
        env,
        [player] * env.num_agents,
        seed=3,
        max_steps=6,
        progress=False,
        on_step=lambda moment: seen.append(snapshot(env, moment.frame.state)),
    )
    key = episode_key(episode_seed(3, 0))
    frame = stepper(env).reset(key)
    expected = [snapshot(env, frame.state)]
    for t in range(len(seen) - 1):
        key_data = np.asarray(jax.random.key_data(key))
        frame = stepper(env).step(key_data, t, frame.state, case.actions[t % len(case.actions)])
        expected.append(snapshot(env, frame.state))
    assert seen == expected and len(seen) == 7


# ---- words ---------------------------------------------------------------------------------------


def test_every_choice_parses_to_its_action(case):
    env = case.env
    for frame in case.frames[::3]:
        for i in range(env.num_agents):
            choices = env.choices(frame.state, i)
            legal = np.flatnonzero(frame.legal[i])
            assert len(set(choices)) == len(choices)
            if isinstance(env.action_space, Box):  # choices are some of what is legal
                assert bool(choices) == frame.acting[i]
                legal = range(len(choices))
            assert len(choices) == len(legal)
            for choice, number in zip(choices, legal, strict=True):
                action = env.parse(choice, frame.state, i)
                if isinstance(env.action_space, Discrete):
                    assert action == number
                elif isinstance(env.action_space, Box):
                    assert env.action_space.contains(action)
                else:  # a choice of one part, beside a choice of each other part
                    sizes = env.action_space.nvec
                    assert number in action + np.cumsum([0, *sizes[:-1]])
                    assert env.action_space.contains(np.asarray(action, sizes.dtype))
                again = env.parse(f"Let me think.\nACTION: {choice}", frame.state, i)
                np.testing.assert_array_equal(again, action)


def test_texts_are_deterministic_and_by_name_or_index(case):
    env = case.env
    for frame in case.frames[::4]:
        again = restore(env, snapshot(env, frame.state))
        for i, name in enumerate(env.agents):
            assert env.describe(frame.state, i) == env.describe(again, name)
            assert env.choices(frame.state, i) == env.choices(again, name)
    for i, name in enumerate(env.agents):
        assert env.rules(i) == env.rules(name) and name in env.rules(i)


@settings(deadline=None, max_examples=40)
@given(text=st.text(max_size=60))
def test_any_text_is_an_action_or_is_refused_with_a_reason(case, text):
    env, state = case.env, case.frames[0].state
    agent = int(np.flatnonzero(case.frames[0].acting)[0])
    try:
        action = env.parse(text, state, agent)
    except manyhands.IllegalAction as error:
        assert error.reason
    else:
        assert env.action_space.contains(np.asarray(action, env.action_space.dtype))


def test_true_states_are_ready_for_json(case):
    env = case.env
    for frame in case.frames[::5]:
        found = env.to_dict(frame.state)
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_specs_rebuild_equal_environments(case):
    env = case.env
    spec = json.loads(json.dumps(env.spec()))
    again = from_spec(spec)
    assert again == env and hash(again) == hash(env) and again.spec_json() == env.spec_json()
    assert again is not env and stepper(again) is stepper(env)
    other = longer(env)
    assert other != env
    names, inner = {}, env
    while inner is not None:
        names[type(inner).__name__] = type(inner)
        inner = vars(inner).get("env")
    assert eval(repr(env), names) == env
