"""Packing trees into bytes. Snapshots, fingerprints and
stepping are tested for every environment in `test_contract.py`."""

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core import pack
from manyhands.core.choices import LIMIT
from manyhands.core.env import SnapshotError, episode_key, episode_key_data
from manyhands.core.pack import Packing, Stepper, snapshot
from manyhands.core.view import View
from manyhands.envs.poker import KuhnPoker
from manyhands.wrappers.pettingzoo import Parallel

TREE = {
    "flags": np.array([[True, False, True]]),
    "small": np.array([7], np.uint8),
    "words": np.array([-3, 1 << 30], np.int32),
    "one": np.float32(np.pi),
    "short": np.arange(5, dtype=np.int16),
    "none": np.zeros((0, 3), np.float32),
}


def same(tree, other):
    for name, leaf in TREE.items():
        for given in (tree[name], other[name]):
            assert np.asarray(given).dtype == leaf.dtype and np.asarray(given).shape == leaf.shape
            np.testing.assert_array_equal(given, leaf)


def test_what_is_no_state_is_refused():
    env, other = KuhnPoker(), manyhands.make("tic_tac_toe")
    batch = env.batch_reset(jax.random.split(jax.random.key(0), 3))
    played = Parallel(env)
    for wrong in (5, None, {}, other.reset(episode_key(0)), batch):
        with pytest.raises(SnapshotError, match="state of KuhnPoker"):
            snapshot(env, wrong)
        if wrong is not None:
            with pytest.raises(SnapshotError, match="state of KuhnPoker"):
                played.reset(seed=0, options={"state": wrong})
    played.reset(seed=0, options={"state": env.reset(episode_key(3))})
    assert played.view(0).text == env.describe(env.reset(episode_key(3)), 0)


def test_trees_survive_packing_on_the_device_and_on_the_host():
    packing = Packing(TREE)
    buffer = np.asarray(jax.jit(packing.pack)(TREE))
    assert buffer.shape == (packing.size,) and packing.size % 8 == 0
    filled = np.zeros(packing.size, np.uint8)
    packing.fill(filled, TREE)
    np.testing.assert_array_equal(buffer, filled)
    assert packing.body(TREE) == filled.tobytes()
    same(packing.views(buffer), jax.jit(packing.unpack)(buffer))
    for name, leaf in TREE.items():
        np.testing.assert_array_equal(packing.part(name, 0)(buffer), leaf)


# ---- steps that are remembered -------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, -1, 2**31, 2**32 - 1, 2**40 + 5])
def test_the_key_of_a_seed_needs_no_call(seed):
    found = episode_key_data(seed)
    np.testing.assert_array_equal(found, jax.random.key_data(episode_key(seed)))
    assert found.dtype == np.uint32


@pytest.fixture(scope="module")
def steppers():
    """One that remembers its steps, and one that does not."""
    table, plain = Stepper(KuhnPoker()), Stepper(KuhnPoker())
    assert table.memoises
    plain.memoises = False
    return table, plain


def test_only_steps_without_chance_are_remembered():
    assert not Stepper(KuhnPoker(hands=3)).memoises  # the next hand is dealt from the key
    assert not Stepper(manyhands.make("kitchen")).memoises  # too large


def test_remembered_steps_are_those_of_the_environment(steppers):
    table, plain = steppers
    frames = []
    for episode in range(60):
        rng = np.random.default_rng(episode % 40)
        key_data = episode_key_data(episode % 20)  # the same deals, with other actions and again
        left, right, time = table.reset(key_data), plain.reset(key_data), 0
        while not right.over:
            np.testing.assert_array_equal(left.buffer, right.buffer)
            actions = rng.integers(-1, 3, 2)  # illegal ones too
            left = table.step(key_data, time, left, actions)
            right = plain.step(key_data, time, right, actions)
            time += 1
        np.testing.assert_array_equal(left.buffer, right.buffer)
        frames.append(left)
    assert all(frames[i] is frames[i + 40] for i in range(20))  # they came from the table


def test_a_table_has_an_end(steppers, monkeypatch):
    monkeypatch.setattr(pack, "_MEMORY", 50)
    table = Stepper(KuhnPoker(players=3))
    key_data = episode_key_data(3)
    first = table.reset(key_data)
    for number in range(3, 1200):
        table.step(key_data, 0, first, np.array([number, 0, 0]))
    assert len(first.notes["steps"]) <= 1000
    for episode in range(60):
        frame, time = table.reset(episode_key_data(episode)), 0
        while not frame.over:
            frame = table.step(key_data, time, frame, np.array([episode % 2, 0, episode % 3 == 0]))
            time += 1
        assert len(table._known) <= 50
    assert not table.memoises  # a game of many states is not worth remembering


def test_a_table_grows_where_steps_are_met_again(monkeypatch):
    monkeypatch.setattr(pack, "_TRIED", 8)
    table, key_data = Stepper(KuhnPoker()), episode_key_data(3)
    first = table.reset(key_data)
    for _ in range(20):
        table.step(key_data, 0, first, np.array([0, 0]))
    for number in range(8):
        table.step(key_data, 0, table.reset(episode_key_data(number)), np.array([1, 0]))
    assert table.memoises and table._room > 8


def test_what_is_remembered_cannot_be_changed_from_outside():
    table = Parallel(KuhnPoker(), observe="vector")
    first, infos = table.reset(seed=3)
    infos["player_0"]["terms"]["chips"] = infos["player_0"]["metrics"]["pot"] = 99.0
    first["player_0"][:] = -1
    again, infos = table.reset(seed=3)
    assert (again["player_0"] >= 0).all()
    assert infos["player_0"]["terms"]["chips"] == infos["player_0"]["metrics"]["pot"] == 0
    for array in (infos["player_0"]["action_mask"], table.current.cards, table.frame.vector):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


def test_texts_are_made_once_for_frames_of_equal_states(monkeypatch):
    made = []

    class Told(manyhands.make("kitchen").__class__):
        def describe(self, state, agent, *, detail=None, talk=()):
            made.append((int(state.time), agent, "text", detail))
            return super().describe(state, agent, detail=detail)

        def choices(self, state, agent, limit=LIMIT):
            made.append((int(state.time), agent, "choices", limit))
            return super().choices(state, agent, limit)

    env, plain = Told(), manyhands.make("kitchen")
    table = Stepper(env)
    frames = [table.reset(episode_key_data(seed)) for seed in range(3)]
    still = [table.step(episode_key_data(seed), 0, frames[seed], [4, 4]) for seed in range(3)]
    for frame in [*frames, *still]:
        for agent in (0, 1):
            view, state = View(Told(), frame, agent), frame.state
            assert view.text == frame.text(agent) == plain.describe(state, agent)
            assert view.describe("full") == plain.describe(state, agent, detail="full")
            assert view.choices == plain.choices(state, agent)
            view.choices.clear()  # the view's own list
            assert view.all_choices == plain.choices(state, agent, None)
    assert len(made) == len(set(made)) == 2 * 2 * 4
    # A view in another environment has texts of its own.
    other = manyhands.make("kitchen", detail="full")
    assert View(other, frames[0], 0).text == other.describe(frames[0].state, 0)
    # Of many states, those that were not met for longest are forgotten.
    monkeypatch.setattr(pack, "_STATES", 2)
    table, made[:] = Stepper(env), []
    frames = [table.reset(episode_key_data(0))]
    for time in range(2):
        frames.append(table.step(episode_key_data(0), time, frames[-1], [4, 4]))
    for time in (0, 1, 0, 2, 0, 1):
        table.view(frames[time].state).text(0)
    assert [time for time, *_ in made] == [0, 1, 2, 1]


def test_episodes_without_a_seed_begin_in_blocks_but_are_their_keys_own():
    table, plain = Parallel(KuhnPoker()), Stepper(KuhnPoker())
    table.reset(seed=1)
    begun = []
    for _ in range(2 * pack.BLOCK + 3):
        table.reset()
        np.testing.assert_array_equal(table.frame.buffer, plain.reset(table.key_data).buffer)
        begun.append(table.key_data.tolist())
    assert len({tuple(key) for key in begun}) == len(begun)
    table.reset(seed=1)
    table.reset()
    assert table.key_data.tolist() == begun[0]
