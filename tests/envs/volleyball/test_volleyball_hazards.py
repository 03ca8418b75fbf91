"""Wind, pushes, motors that rise and fall apart, the ground, and readings that are lost."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from manyhands.core.env import ConfigError
from manyhands.envs.volleyball import Volleyball, physics
from manyhands.envs.volleyball import model as models
from manyhands.envs.volleyball.engine import Engine
from manyhands.envs.volleyball.outside import Outside, outside_forces
from manyhands.envs.volleyball.randomise import MOST

EVERYTHING = {
    "wind": (2.0, 4.0),
    "gusts": (0.5, 1.0),
    "push": (0.5, 1.0),
    "push_rate": (1.0, 2.0),
    "lag_rise": (0.03, 0.05),
    "lag_fall": (0.01, 0.02),
    "ground_effect": (0.127, 0.127),
    "dropout": (0.2, 0.4),
}


def operations(env: Volleyball) -> int:
    """How many primitives one step has, those of loops and calls among them."""

    def count(jaxpr: Any) -> int:
        total = 0
        for equation in jaxpr.eqns:
            total += 1
            for value in jax.tree.leaves(list(equation.params.values())):
                inner = getattr(value, "jaxpr", value)
                total += count(inner) if hasattr(inner, "eqns") else 0
        return total

    state = jax.eval_shape(env.reset, jax.random.key(0))
    actions = jax.ShapeDtypeStruct((env.num_agents, 4), jnp.float32)
    return count(jax.make_jaxpr(env.step)(jax.random.key(0), state, actions).jaxpr)


def test_what_is_off_costs_nothing_and_leaves_no_trace():
    plain, noisy = Volleyball("1v1"), Volleyball("1v1", randomise=EVERYTHING)
    state = jax.eval_shape(plain.reset, jax.random.key(0))
    assert state.disturbance == state.held == ()  # no leaf, so that states keep their bytes
    for name in ("wind", "rise", "fall", "ground"):
        assert getattr(plain.params, name) is None
    text = str(jax.make_jaxpr(plain.step)(jax.random.key(0), state, jnp.zeros((2, 4))))
    assert "random_" not in text and "threefry" not in text
    # Of each name alone, what it adds is its own; an episode without any of it adds nothing.
    base = operations(plain)
    for name in ("wind", "ground_effect", "dropout"):
        assert operations(Volleyball("1v1", randomise={name: EVERYTHING[name]})) > base
    assert operations(noisy) > base == operations(Volleyball("1v1", randomise={}))


@pytest.mark.parametrize(
    ("ranges", "what"),
    [
        ({"wind": (0, 30)}, "range of wind"),
        ({"gusts": ("0", "1")}, "range of gusts"),
        ({"gusts": (-1, 1)}, "range of gusts"),
        ({"push": (0, 1)}, "drawn together"),
        ({"push": (0, 1), "push_rate": (0, 60)}, "up to 50"),
        ({"lag_rise": (0, 0.1)}, "range of lag_rise"),
        ({"lag": (1, 1), "lag_fall": (0.1, 0.1)}, "not both"),
        ({"ground_effect": (0, 2)}, "range of ground_effect"),
        ({"dropout": (0, 1.5)}, "range of dropout"),
    ],
)
def test_ranges_are_checked(ranges, what):
    with pytest.raises(ConfigError, match=what):
        Volleyball("1v1", randomise=ranges)


def test_the_ground_lifts_as_published():
    radius, weight = 0.127, 10.0

    def gain(height: float) -> float:
        place = tuple(np.array([x]) for x in (0.0, 0.0, height))
        still, up = tuple(np.zeros(1) for _ in range(3)), tuple(np.array([x]) for x in (0, 0, 1))
        outside = Outside(ground=np.array([radius]))
        force = outside_forces(outside, place, still, up, np.array([weight]), np)
        assert not force[0].any() and not force[1].any()
        return 1 + float(force[2][0]) / weight

    # Cheeseman and Bennett (1955): 1 / (1 - (R / 4z)^2).
    assert gain(radius) == pytest.approx(16 / 15)
    assert gain(2 * radius) == pytest.approx(64 / 63)
    assert gain(radius / 2) == gain(radius / 8) == pytest.approx(4 / 3)
    assert gain(100.0) == pytest.approx(1, abs=1e-6)


def test_thrust_rises_and_falls_at_its_own_rate():
    params = models.params_from_model(models.load_model("solo"))
    params = dataclasses.replace(params, rise=np.array([0.05]), fall=np.array([0.01]))
    bodies = Volleyball("hit").place().bodies
    thrust = jnp.asarray([[0.5, 0.5, 0.5, 0.5]])
    bodies = dataclasses.replace(bodies, thrust=thrust)
    commands = jnp.asarray([[1.0, -1.0, 1.0, -1.0]])
    moved, _ = jax.jit(physics.advance)(params, bodies, commands)
    up, down = 1 - np.exp(-0.02 / 0.05), 1 - np.exp(-0.02 / 0.01)
    expected = [0.5 + 0.5 * up, 0.5 - 0.5 * down] * 2
    np.testing.assert_allclose(moved.thrust[0], expected, atol=1e-6)


def test_drones_drift_with_the_wind_and_are_pushed():
    env = Volleyball("3v3", randomise={"wind": (4.0, 4.0)})
    state = env.reset(jax.random.key(1))
    wind = np.asarray(state.params.wind)
    assert np.linalg.norm(wind) == pytest.approx(4, abs=1e-5) and wind[2] == 0
    hover = jnp.asarray(2 * env.trim - 1)
    step = jax.jit(env.step)
    after = state
    for _ in range(10):
        after, _ = step(jax.random.key(0), after, hover)
    speed = 4 * (1 - np.exp(-0.2 * models.DRAG / models.MASS))
    gained = np.asarray(after.bodies.velocity) @ (wind / 4)
    np.testing.assert_allclose(gained, speed, rtol=0.05)
    assert np.asarray(after.bodies.ball)[0] == pytest.approx(float(state.bodies.ball[0]))

    env = Volleyball("3v3", randomise={"push": (1.52, 1.52), "push_rate": (50, 50)})
    state = env.reset(jax.random.key(1))
    after, _ = jax.jit(env.step)(jax.random.key(0), state, hover)
    speed = np.linalg.norm(np.asarray(after.bodies.velocity), axis=1)
    np.testing.assert_allclose(speed, 1, atol=0.01)  # 1.52 N s at 1.52 kg


def test_gusts_have_their_deviation_and_last_a_second():
    env = Volleyball("hit", randomise={"gusts": (2.0, 2.0)})
    size, hover = 512, jnp.asarray(2 * env.trim - 1)
    states = jax.jit(env.batch_reset)(jax.vmap(jax.random.key)(np.arange(size)))
    first = np.asarray(states.disturbance.gust)
    assert first.std() == pytest.approx(2, rel=0.1)
    step, actions = jax.jit(env.batch_step), jnp.stack([hover] * size, -1)
    for t in range(25):
        keys = jax.vmap(jax.random.key)(np.arange(size) + size * t)
        states, _ = step(keys, states, actions)
    last = np.asarray(states.disturbance.gust)
    assert last.std() == pytest.approx(2, rel=0.1)
    assert np.corrcoef(first.ravel(), last.ravel())[0, 1] == pytest.approx(np.exp(-0.5), abs=0.1)
    assert np.abs(np.asarray(states.bodies.velocity)[0, 1]).mean() > 0.02


def test_lost_readings_are_the_last_ones():
    env = Volleyball("1v1", randomise={"dropout": (1.0, 1.0)})
    state = env.place(ball=(1.5, 0.3, 3.0), ball_velocity=(1, 0, 2))
    hover = jnp.asarray(2 * env.trim - 1) + 0.2
    after, step = state, jax.jit(env.step)
    for k in range(3):
        after, _ = step(jax.random.key(k), after, hover)
    layout, row = env.observation_layout, np.asarray(jax.jit(env.observe)(after)[0])
    parts = {name: row[layout[name]] for name in layout.pieces}
    # The drone itself is seen as it is; ball and opponent where they were.
    own = np.asarray(after.bodies.position[0])
    np.testing.assert_allclose(parts["position"], own, atol=1e-6)
    np.testing.assert_allclose(parts["ball"], own - np.array([1.5, 0.3, 3.0]), atol=1e-5)
    np.testing.assert_allclose(parts["ball_velocity"], [1, 0, 2], atol=1e-6)
    other = np.asarray(state.bodies.position[1])
    np.testing.assert_allclose(parts["other"], own - other, atol=1e-5)
    assert abs(float(after.bodies.ball[0]) - 1.5) > 0.01
    # The text says the same.
    told = env.describe(after, "near_0")
    assert "Ball: at (1.50, 0.30, 3.00) m" in told
    height = float(re.search(r"You: at \([^,]+, [^,]+, ([\d.]+)\)", told)[1])  # type: ignore[index]
    assert height == pytest.approx(own[2], abs=0.006)
    assert "as you saw them last" in env.rules("near_0")
    row = np.asarray(jax.jit(env.perceive)(after)[1])
    np.testing.assert_allclose(row[env.layout["ball"]], [-1.5, -0.3, 3.0], atol=1e-6)


def test_a_share_of_the_readings_is_lost():
    env = Volleyball("1v1", randomise={"dropout": (0.25, 0.25)})
    size = 256
    states = jax.jit(env.batch_reset)(jax.vmap(jax.random.key)(np.arange(size)))
    actions = jnp.stack([jnp.asarray(2 * env.trim - 1)] * size, -1)
    moved, _ = jax.jit(env.batch_step)(jax.vmap(jax.random.key)(np.arange(size)), states, actions)
    lost = np.asarray(moved.held.ball[:, 2] != moved.bodies.ball[2])  # bool[D, B]
    assert lost.mean() == pytest.approx(0.25, abs=0.06)
    assert (lost[0] != lost[1]).any()  # each agent for itself


RANGES = {name: EVERYTHING[name] for name in ("wind", "lag_rise", "lag_fall", "ground_effect")}


@pytest.mark.parametrize("ball", models.BALLS)
def test_both_engines_agree(ball):
    """In a batch and alone, in wind, near the floor, with motors that rise and fall apart."""
    model = models.load_model("1v1", ball)
    engine, data = Engine(model), mujoco.MjData(model)
    params = models.params_from_model(model, drag=True)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.joint("drone0").qpos[2] = 0.35
    data.joint("ball").qvel[:] = (3, 1, 2, 0, 0, 0)
    with jax.enable_x64(True):
        start = jax.tree.map(lambda leaf: jnp.asarray(np.stack([leaf] * 2, -1)), engine.read(data))
        keys = jax.random.split(jax.random.key(1), 2)
        drawn = jax.vmap(lambda k: physics.randomise(params, RANGES, k), out_axes=-1)(keys)
        alone_drawn = jax.tree.map(lambda leaf: leaf[..., 1], jax.tree.map(jnp.asarray, drawn))
        own = jax.jit(physics.advance)
        batch, one = jax.jit(engine.advance), jax.jit(engine.advance)
        bodies = other = start
        alone = jax.tree.map(lambda leaf: leaf[..., 1], start)
        drawn_by = np.random.default_rng(0)
        close = functools.partial(np.testing.assert_allclose, atol=1e-9)

        def same(many: Any, single: Any) -> None:
            close(many[..., 1], single)

        for _ in range(15):
            order = jnp.asarray(drawn_by.uniform(-0.2, 0.8, (2, 4, 2)))
            bodies, _ = own(drawn, bodies, order)
            other, _ = batch(drawn, other, order)
            alone, _ = one(alone_drawn, alone, order[..., 1])
            jax.tree.map(close, bodies, other)
            jax.tree.map(same, other, alone)


def test_the_wind_of_other_drones_needs_some():
    assert Volleyball("bump_and_pass", downwash=True).downwash
    with pytest.raises(ConfigError, match="downwash is the wind of other drones"):
        Volleyball("hit", downwash=True)


def test_the_rules_name_all_that_is_drawn():
    ranges = EVERYTHING | {"mass": (0.9, 1.1), "restitution": (0.7, 0.8), "drag": (0.1, 0.3)}
    ranges |= {"action_delay": (0, 2), "sensor_delay": (1, 1), "position_noise": (0.02, 0.05)}
    told = Volleyball("1v1", randomise=ranges).rules("near_0")
    for words in ("mass of the drones (0.9 to 1.1 times)", "drag of the drones (0.1 to 0.3 kg/s)"):
        assert words in told
    assert "take effect 0 to 2 steps late" in told and "What you see is 1 step old" in told
    assert "positions by 0.02 to 0.05 m" in told
    # Each name has its words.
    alone = len(Volleyball("1v1", randomise={}).rules("near_0"))
    for name in (*physics.RANDOMISED, *MOST):
        pair = (1, 1) if name.endswith("delay") else (0.5, 0.5)
        given = {"push": pair, "push_rate": pair} if name.startswith("push") else {name: pair}
        assert len(Volleyball("1v1", randomise=given).rules("near_0")) > alone, name
