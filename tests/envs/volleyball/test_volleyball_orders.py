"""Discrete actions, and places to fly to."""

from __future__ import annotations

import itertools
import re

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core.env import ConfigError, IllegalAction
from manyhands.envs.volleyball import Volleyball, orders

# ---- discrete ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [2, 3])
def test_discrete_actions_are_all_combinations_of_thrusts(bins):
    env = Volleyball("1v1", actions="discrete", bins=bins)
    assert env.action_space == gymnasium.spaces.Discrete(bins**4)
    rows = np.asarray(orders.thrusts_of(bins, np.arange(bins**4)))
    steps = np.linspace(-1, 1, bins)
    np.testing.assert_allclose(rows, list(itertools.product(steps, repeat=4)), atol=1e-6)
    for number, row in enumerate(rows):
        assert orders.number_of(bins, row.tolist()) == number
    state = env.place()
    assert env.legal(state).shape == (2, bins**4) and np.asarray(env.legal(state)).all()
    assert env.config().get("bins") == bins


def test_a_discrete_step_is_that_of_its_thrusts_and_knows_what_there_is():
    env, rotors = Volleyball("1v1", actions="discrete"), Volleyball("1v1")
    state = env.place()
    step, plain = jax.jit(env.step), jax.jit(rotors.step)
    numbers = jnp.asarray([5, 14])
    moved, outcome = step(jax.random.key(0), state, numbers)
    same, _ = plain(jax.random.key(0), state, orders.thrusts_of(2, numbers))
    jax.tree.map(np.testing.assert_array_equal, moved.bodies, same.bodies)
    assert outcome.metrics["illegal"] == 0
    # What there is not is the noop, the nearest to hovering: with two thrusts all of them.
    wrong, outcome = step(jax.random.key(0), state, jnp.asarray([-1, 16]))
    still, _ = step(jax.random.key(0), state, jnp.asarray([env.noop] * 2))
    jax.tree.map(np.testing.assert_array_equal, wrong.bodies, still.bodies)
    assert outcome.metrics["illegal"] == 2 and env.noop == 15


def test_discrete_actions_in_words():
    env = Volleyball("1v1", actions="discrete")
    state = env.place()
    choices = env.choices(state, "near_0")
    assert [choice.action for choice in choices] == list(range(16))
    for number, choice in enumerate(choices):
        assert env.parse(choice, state, 0) == env.parse(choice.text, state, 0) == number
    assert env.parse("I climb.", state, 0) == 15
    assert env.parse("ACTION: 1, -1, -1, 1", state, 0) == 9
    assert env.parse("nose down", state, 0) == 5  # back left and back right
    with pytest.raises(IllegalAction, match="each number is -1 or 1"):
        env.parse("0.5, -1, 1, 1", state, 0)
    with pytest.raises(IllegalAction):
        env.parse("hover", state, 0)
    assert "climb" in env.rules(0)
    with pytest.raises(ConfigError, match="bins"):
        Volleyball("1v1", bins=3)


def test_steps_of_thrust_tilt_a_drone_to_where_their_choices_say():
    env = Volleyball("1v1", actions="discrete")
    start, step = env.place(), jax.jit(env.step)
    for agent in (0, 1):
        for choice in env.choices(start, agent):
            state = start
            for _ in range(4):
                state, _ = step(jax.random.key(0), state, jnp.full(2, choice.action))
            told = re.search(r"up \(([-.\d]+), ([-.\d]+), ", env.describe(state, agent))
            assert told is not None
            x, y = float(told[1]), float(told[2])
            ways = {"to the net": x < -0.02, "away from the net": x > 0.02}
            ways |= {"to the left": y < -0.02, "to the right": y > 0.02}
            assert {way for way, goes in ways.items() if goes} == {
                way for way in ways if way in choice.effect
            }, str(choice)
    sinks, climbs = env.choices(start, 0)[0], env.choices(start, 0)[15]
    assert "you fall" in sinks.effect and "1.6 of your weight" in climbs.effect
    told = env.rules(0)
    assert "right-hand rule" in told and "with a lag: after 0.036 s" in told
    assert "right-hand rule" not in Volleyball("1v1", actions="velocity").rules(0)


def test_multidiscrete_actions_are_the_digits_of_discrete_ones():
    env = Volleyball("1v1", actions="multidiscrete", bins=3)
    single = Volleyball("1v1", actions="discrete", bins=3)
    assert env.action_space == gymnasium.spaces.MultiDiscrete([3] * 4, dtype=np.int32)
    state, numbers = env.place(), np.array([47, 5])
    digits = np.stack(orders.digits_of(3, numbers), axis=1)
    np.testing.assert_array_equal(digits, [[1, 2, 0, 2], [0, 0, 1, 2]])
    assert env.legal(state).shape == (2, 12) and np.asarray(env.legal(state)).all()
    thrusts, known = orders.decided(env.setup, jnp.asarray(digits))
    same, _ = orders.decided(single.setup, jnp.asarray(numbers))
    np.testing.assert_array_equal(thrusts, same)
    assert known.all()
    # What there is not is the noop, here of one of the two; in a step it is counted.
    wrong = jnp.asarray([[0, 0, 0, 3], env.noop])
    thrusts, known = orders.decided(env.setup, wrong)
    np.testing.assert_array_equal(thrusts[0], thrusts[1])
    assert known.tolist() == [False, True]
    assert jax.jit(env.step)(jax.random.key(0), state, wrong)[1].metrics["illegal"] == 1
    for choice, other in zip(env.choices(state, 0), single.choices(state, 0), strict=True):
        assert choice == other and env.parse(choice, state, 0).tolist() == choice.action.tolist()
        assert single.parse(choice.text, state, 0) == orders.number_of(3, choice.action - 1)
    assert env.parse("ACTION: 0, 1, -1, 1", state, 0).tolist() == digits[0].tolist()


# ---- places --------------------------------------------------------------------------------------


@pytest.mark.parametrize("far", [False, True])
def test_a_drone_flies_to_its_place_and_stays(far):
    """From its start across the half and up, nose to the side; on either side of the net."""
    env = Volleyball("3v3", actions="position", serve="near")
    state, step = env.place(ball=(3, 0, 40)), jax.jit(env.step)
    i = 3 if far else 0
    hold = [env.parse("hold", state, k) for k in range(6)]
    goal = (5.0, -2.0, 3.0, np.pi / 2)
    hold[i] = orders.action_for(env.setup, goal)
    actions, sign = jnp.asarray(np.stack(hold)), -1 if far else 1
    fastest, past = 0.0, 0.0
    for _ in range(200):
        state, _ = step(jax.random.key(0), state, actions)
        fastest = max(fastest, float(np.linalg.norm(state.bodies.velocity[i])))
        past = max(past, sign * float(state.bodies.position[i, 0]) - goal[0])
    assert not bool(state.over) and fastest < 5 and past < 0.05
    own = np.asarray(env.observe(state)[i])
    np.testing.assert_allclose(own[:3], goal[:3], atol=0.03)
    np.testing.assert_allclose(own[13:16], [0, 1, 0], atol=0.05)  # the nose
    assert np.abs(own[7:10]).max() < 0.05
    others = np.delete(np.asarray(state.bodies.position), i, 0)
    start = np.delete(np.asarray(env.place().bodies.position), i, 0)
    np.testing.assert_allclose(others, start, atol=0.02)  # "hold"


def test_places_in_words():
    env = Volleyball("1v1", actions="position")
    state = env.place(positions={"far_0": (-2.0, 0.5, 1.5)})
    for who, (x, y, z) in (("near_0", (1.5, 0, 2)), ("far_0", (2.0, -0.5, 1.5))):
        found = {
            choice.text: orders.place_of(env.setup, choice.action)
            for choice in env.choices(state, who)
        }
        np.testing.assert_allclose(found["hold"][:3], (x, y, z), atol=1e-5)
        np.testing.assert_allclose(found["left"][:3], (x, max(y - 1, -1.5), z), atol=1e-5)
        np.testing.assert_allclose(found["to the net"][:3], (max(x - 1, 0.6), y, z), atol=1e-5)
        np.testing.assert_allclose(found["up"][:3], (x, y, z + 0.5), atol=1e-5)
        turned = found["turn left"][3] - found["hold"][3]
        assert turned == pytest.approx(np.pi / 4, abs=1e-5)
        for text, place in found.items():
            np.testing.assert_allclose(
                orders.place_of(env.setup, env.parse(f"I go {text}. ACTION: {text}", state, who)),
                place, atol=1e-5,
            )  # fmt: skip
    for text, place in (
        ("2, -0.5, 1.8", (2, -0.5, 1.8, 0)),
        ("ACTION: 2, -0.5, 1.8, 90", (2, -0.5, 1.8, np.pi / 2)),
        ("x 1, y 0.5, z 3, heading -45", (1, 0.5, 3, -np.pi / 4)),
    ):
        action = env.parse(text, state, 0)
        assert env.action_space.contains(action)
        np.testing.assert_allclose(orders.place_of(env.setup, action), place, atol=1e-5)
        again = env.parse(env.words(action, state, 0), state, 0)
        np.testing.assert_allclose(again, action, atol=0.01)
    for text, why in (
        ("4, 0, 2", "x is within 0 and 3 m"),
        ("1, 0, -1", "z is within"),
        ("1, 0", "numbers given"),
    ):
        with pytest.raises(IllegalAction, match=why):
            env.parse(text, state, 0)
    assert "degrees to the left" in env.rules(0)
