"""The physics of drone volleyball against MuJoCo's C engine on the same models.

Every situation is one simulation of MuJoCo and one column of a single batch of ours: a second of
control steps with the same open-loop commands, compared after each of them.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from manyhands.envs.volleyball import model as models
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.engine import Engine

STEPS = 50  # control steps: one second
TRIM = models.hover_thrusts(models.MASS * 9.81 / (models.KF * models.FASTEST**2))

# Situations of the 1v1 model: where drones and ball are (m), how fast (m/s, rad/s) and what is to
# meet; drones that are not named hover at their places. Velocities of drones are linear, angular.
SITUATIONS: dict[str, dict[str, Any]] = {
    "flight": {"drone0": ((1.5, 0, 6), (1, -1, 0.5, 2, -1, 3)), "random": True},
    "ball on floor": {"ball": ((3, 1, 1), (1, 0.5, -4)), "meets": {"ball floor"}},
    "racket, centre": {"ball": ((1.5, 0, 2.5), (0, 0, -4)), "meets": {"ball racket0"}},
    "racket, off centre": {"ball": ((1.6, 0.05, 2.5), (0.1, 0, -4)), "meets": {"ball racket0"}},
    "racket, rim": {"ball": ((1.75, 0.03, 2.5), (0, 0, -4)), "meets": {"ball racket0"}},
    "racket, side": {"ball": ((2.3, 0.03, 2.06), (-8, 0, 0.3)), "meets": {"ball racket0"}},
    "racket, turning": {
        "drone0": ((1.5, 0, 2), (0.5, 0.3, 2, 1, -2, 0.5)),
        "ball": ((1.6, 0.05, 2.8), (0.5, 0, -5)),
        "random": True,
        "meets": {"ball racket0"},
    },
    "hull, side": {"ball": ((2.3, 0.03, 1.85), (-8, 0, 0)), "meets": {"ball hull0"}},
    "hull, below": {"ball": ((1.55, 0.03, 1.4), (0, 0, 8)), "meets": {"ball hull0"}},
    "net": {"ball": ((1, 0.4, 1.5), (-8, 0, 2)), "meets": {"ball net"}},
    "net, fast": {"ball": ((1, 0.4, 1.5), (-27, 0, 2)), "meets": {"ball net"}},
    "net, top": {"ball": ((0.05, 0.4, 3.2), (-0.1, 0, -2)), "meets": {"ball net"}},
    "net, corner": {"ball": ((0.06, 1.53, 3.2), (0, 0, -2)), "meets": {"ball net"}},
    "drone on floor": {
        "drone0": ((2, 0.1, 0.5), (1, 0, -2, 0.4, 0.5, 0.2)),
        "meets": {"hull0 floor"},
    },
    "drone on net": {"drone0": ((0.6, 0.1, 1.5), (-3, 0, 1, 0, 0, 0)), "meets": {"hull0 net"}},
    "drones": {
        "drone0": ((2, 0.05, 2), (3, 0, 0, 0.4, 0.5, 0.2)),
        "drone1": ((3, -0.05, 2.02), (-3, 0, 0, 0.4, 0.5, 0.2)),
        "meets": {"hull0 hull1"},
    },
}
# Bodies that touch two others at once, which MuJoCo solves as one problem.
TOGETHER: dict[str, dict[str, Any]] = {
    "ball in the corner of net and floor": {
        "ball": ((0.5, 0.4, 0.6), (-4, 0, -5)),
        "meets": {"ball net", "ball floor"},
    },
    "ball between rackets": {
        "drone0": ((2, 0, 2), (2, 0, 0, 0, 0, 0)),
        "drone1": ((2.56, -0.05, 2), (-2, 0, 0, 0, 0, 0)),
        "ball": ((2.3, 0.01, 2.06), (0, 0, 0)),
        "meets": {"ball racket0", "ball racket1"},
    },
    "drones on the floor beside each other": {
        "drone0": ((2, 0, 0.45), (0, 0, -2, 0, 0, 0)),
        "drone1": ((2.28, -0.05, 0.45), (0, 0, -2, 0, 0, 0)),
        "ball": ((2.05, 0.01, 0.8), (0, 0, 0)),
        "meets": {"hull0 hull1", "hull0 floor", "hull1 floor", "ball racket0"},
    },
}


@pytest.fixture
def double():
    """Double precision for one test."""
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def commands(situation: dict[str, Any], drones: int) -> np.ndarray:
    """f[STEPS, D, 4], from -1 to 1."""
    if situation.get("random"):
        return np.random.default_rng(7).uniform(-1, 1, (STEPS, drones, 4))
    return np.broadcast_to(2 * np.array(TRIM) - 1, (STEPS, drones, 4))


SPUN = mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <compiler inertiafromgeom="false"/>
  <option timestep="{models.TIMESTEP}" integrator="RK4" gravity="0 0 0"/>
  <worldbody><body><freejoint/>
    <inertial pos="0 0 0" mass="1" diaginertia="{" ".join(map(str, models.INERTIA))}"/>
  </body></worldbody>
</mujoco>""")


def freely_turned(rates: np.ndarray) -> np.ndarray:
    """f[3]: the rates of a drone on which nothing acts, one physics step later, by MuJoCo's own
    Runge-Kutta integrator."""
    data = mujoco.MjData(SPUN)
    data.qvel[3:] = rates
    mujoco.mj_step(SPUN, data)
    return data.qvel[3:].copy()


def made_up(rates: np.ndarray) -> np.ndarray:
    """f[3], N m: what must act on a turning drone besides, for an Euler step to turn it so."""
    inertia = np.array(models.INERTIA)
    change = inertia * (freely_turned(rates) - rates) / models.TIMESTEP
    return change + np.cross(rates, inertia * rates)


@functools.cache
def simulated(
    ball: str, names: tuple[str, ...], integrator: str = "euler"
) -> tuple[Any, np.ndarray, list[Any], list[Any]]:
    """MuJoCo's second of each situation: (bodies at its start, commands, bodies after each control
    step, names of what met in it)."""
    model = models.load_model("1v1", ball)
    engine, data = Engine(model), mujoco.MjData(model)
    turning = [data.joint(f"drone{i}") for i in range(2)]
    starts, orders, paths, met = [], [], [], []
    for name in names:
        situation = (SITUATIONS | TOGETHER)[name]
        mujoco.mj_resetDataKeyframe(model, data, 0)
        for body in ("drone0", "drone1", "ball"):
            if body in situation:
                place, speed = situation[body]
                data.joint(body).qpos[:3] = place
                data.joint(body).qvel[: len(speed)] = speed
        starts.append(engine.read(data))
        orders.append(commands(situation, 2))
        path, meetings = [], set()
        for order in orders[-1]:
            data.ctrl[:] = ((order + 1) / 2).ravel()
            for _ in range(physics.SUBSTEPS):
                for joint in turning if integrator == "gyroscopic" else ():
                    joint.qfrc_applied[3:] = made_up(joint.qvel[3:])
                mujoco.mj_step(model, data)
                for pair in data.contact.geom:
                    a, b = (model.geom(int(geom)).name for geom in pair)
                    meetings |= {f"{a} {b}", f"{b} {a}"}
            path.append(jax.tree.map(np.copy, engine.read(data)))
        paths.append(path)
        met.append(meetings)

    def stack(parts: Any) -> Any:
        return jax.tree.map(lambda *leaves: np.stack(leaves, -1), *parts)

    path = [stack([path[t] for path in paths]) for t in range(STEPS)]
    return stack(starts), np.stack(orders, -1), path, met


def ours(
    ball: str, start: Any, orders: np.ndarray, dtype: Any, integrator: str = "euler"
) -> list[Any]:
    """Our second of the same, all situations at once."""
    params = models.params_from_model(models.load_model("1v1", ball))
    step = jax.jit(functools.partial(physics.advance, integrator=integrator))
    bodies = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), start)
    path = []
    for order in orders:
        bodies, _ = step(params, bodies, jnp.asarray(order, dtype))
        path.append(jax.tree.map(np.asarray, bodies))
    return path


def farthest(path: list[Any], other: list[Any]) -> np.ndarray:
    """f[B], m: the greatest distance of any body between two paths, along an axis."""
    gaps = [
        np.maximum(np.abs(a.position - b.position).max((0, 1)), np.abs(a.ball - b.ball).max(0))
        for a, b in zip(path, other, strict=True)
    ]
    return np.max(gaps, 0)


@pytest.mark.parametrize(
    ("ball", "integrator"),
    [
        ("volleybots", "gyroscopic"),
        ("real", "euler"),
        pytest.param("real", "gyroscopic", marks=pytest.mark.slow),
        pytest.param("volleybots", "euler", marks=pytest.mark.slow),
    ],
)
def test_flight_and_contacts_are_those_of_mujoco(ball, integrator, double):
    """With "gyroscopic", MuJoCo is handed at each step what makes its rates those of its own
    Runge-Kutta step."""
    names = tuple(SITUATIONS | TOGETHER)
    start, orders, path, met = simulated(ball, names, integrator)
    for name, meetings in zip(names, met, strict=True):
        assert (SITUATIONS | TOGETHER)[name].get("meets", set()) <= meetings, name
    gaps = farthest(ours(ball, start, orders, np.float64, integrator), path)
    assert dict(zip(names, gaps < 1e-9, strict=True)) == dict.fromkeys(names, True), gaps


def test_single_precision_stays_within_a_millimetre():
    names = tuple(SITUATIONS | TOGETHER)
    start, orders, path, _ = simulated("volleybots", names)
    gaps = farthest(ours("volleybots", start, orders, np.float32), path)
    assert dict(zip(names, gaps < 1e-3, strict=True)) == dict.fromkeys(names, True), gaps


def test_what_touches_is_what_mujoco_finds(double):
    """Through the engine, whose contacts come from MuJoCo's sensors, for the same batch; and single
    games as in the batch."""
    names = tuple(SITUATIONS | TOGETHER)
    start, orders, _, _ = simulated("volleybots", names)
    model = models.load_model("1v1")
    engine, params = Engine(model), models.params_from_model(model)
    mine, theirs = jax.jit(physics.advance), jax.jit(engine.advance)
    bodies = other = jax.tree.map(jnp.asarray, start)
    seen = 0
    for t, order in enumerate(orders):
        pick = functools.partial(jax.tree.map, operator.itemgetter((..., t % len(names))))
        alone, felt = theirs(params, *pick((other, order)))
        bodies, touched = mine(params, bodies, jnp.asarray(order))
        other, found = theirs(params, other, jnp.asarray(order))
        jax.tree.map(np.testing.assert_array_equal, touched, found)
        one, sensed = pick((other, found))
        jax.tree.map(np.testing.assert_array_equal, sensed, felt)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-9), one, alone)
        seen += sum(int(np.sum(leaf)) for leaf in jax.tree.leaves(touched))
    assert seen > 100
    assert farthest([bodies], [other]).max() < 1e-9


# rad/s, 25 in all; the middle axis is the one about which free bodies tumble
SPINS = ((25, 0, 0), (0.1, 25, 0.1), (0, 0.1, 25), (14.4, 14.4, 14.4), (17, -5, 17), (-20, 14, 5))


@pytest.mark.parametrize("through", ["physics", "engine"])
def test_a_free_spin_keeps_its_energy(through, double):
    """Five seconds without thrust, in both engines; the rates are those of MuJoCo's Runge-Kutta."""
    model = models.load_model("solo")
    params, engine = models.params_from_model(model), Engine(model)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.joint("drone0").qpos[2] = data.joint("ball").qpos[2] = 200.0
    data.joint("ball").qpos[0] = -5.0
    start = engine.read(data)
    start = jax.tree.map(lambda leaf: np.stack([leaf] * len(SPINS), -1), start)
    start.rates[0], start.thrust[:] = np.array(SPINS).T, 0
    bodies = jax.tree.map(jnp.asarray, start)
    step = jax.jit(engine.advance if through == "engine" else physics.advance)
    off, inertia = jnp.full((1, 4, len(SPINS)), -1.0), np.array(models.INERTIA)[:, None]

    def energy(rates: Any) -> Any:
        return np.sum(inertia * np.asarray(rates[0]) ** 2, 0)

    rates = np.array(SPINS, float)
    for t in range(5 * STEPS):
        bodies, touched = step(params, bodies, off)
        assert not np.any(touched.grounded)
        np.testing.assert_allclose(energy(bodies.rates), energy(start.rates), rtol=0.01)
        if t < STEPS:
            for _ in range(physics.SUBSTEPS):
                rates = np.array([freely_turned(row) for row in rates])
            np.testing.assert_allclose(bodies.rates[0], rates.T, atol=1e-9)


RANGES = {
    "mass": (0.8, 1.2),
    "inertia": (0.8, 1.2),
    "thrust": (0.9, 1.1),
    "moment": (0.5, 2.0),
    "lag": (0.5, 2.0),
    "ball_mass": (0.5, 2.0),
    "restitution": (0.5, 0.9),
    "drag": (0.0, 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("integrator", physics.INTEGRATORS)
def test_drawn_numbers_drag_and_downwash_act_in_both_engines(integrator, double):
    """3v3 with everything on: one drone above another, and the ball falling on a third."""
    model = models.load_model("3v3", "real")
    params = models.params_from_model(model, downwash=True)
    engine = Engine(model, integrator)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.joint("drone0").qvel[3:] = (5, -3, 4)
    data.joint("drone1").qpos[:3] = data.joint("drone0").qpos[:3] + np.array((0.1, 0.2, 1.5))
    data.joint("ball").qpos[:3] = data.joint("drone2").qpos[:3] + np.array((0.05, 0, 0.6))
    start = engine.read(data)
    start = jax.tree.map(lambda leaf: jnp.asarray(np.stack([leaf] * 3, -1)), start)
    keys = jax.random.split(jax.random.key(1), 3)
    drawn = jax.vmap(lambda k: physics.randomise(params, RANGES, k), out_axes=-1)(keys)
    own = functools.partial(physics.advance, integrator=integrator)
    mine, batch, one = (jax.jit(f) for f in (own, engine.advance, engine.advance))

    def second(tree: Any) -> Any:
        return jax.tree.map(lambda leaf: leaf[..., 1], tree)

    alone_drawn = physics.randomise(params, RANGES, keys[1])
    order = jnp.full((6, 4, 3), 0.25)
    bodies = other = start
    alone = second(start)
    hits = 0
    for _ in range(25):
        bodies, touched = mine(drawn, bodies, order)
        other, found = batch(drawn, other, order)
        alone, found_alone = one(alone_drawn, alone, order[..., 1])
        jax.tree.map(np.testing.assert_array_equal, touched, found)
        jax.tree.map(np.testing.assert_array_equal, second(found), found_alone)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-9), bodies, other)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-9), second(other), alone)
        hits += int(np.sum(touched.racket))
    assert hits and float(np.ptp(bodies.position[:, 2], -1).min()) > 0.01  # each its own numbers


@pytest.mark.parametrize("ball", models.BALLS)
def test_the_ball_comes_back_with_four_fifths_of_its_speed(ball):
    """In MuJoCo itself, from the floor and from a racket that cannot give way, in any phase of the
    timestep."""
    model = models.load_model("solo", ball)
    model.opt.density = 0  # the air would take its share
    data = mujoco.MjData(model)
    for what, place in (("floor", (3.0, 2.0)), ("racket", (4.5, 0.0))):
        for speed in np.linspace(3, 12, 7):
            mujoco.mj_resetDataKeyframe(model, data, 0)
            data.ctrl[:] = TRIM
            top = 0.0 if what == "floor" else 2 + models.RACKET[2] + models.RACKET[1]
            radius = models.BALLS[ball][1]
            data.joint("ball").qpos[:3] = (*place, top + radius + 0.02 + 0.004 * speed)
            data.joint("ball").qvel[2] = -speed
            before = after = drone = 0.0
            for _ in range(20):
                before = data.joint("ball").qvel[2]
                drone = data.joint("drone0").qvel[2]
                mujoco.mj_step(model, data)
                after = data.joint("ball").qvel[2]
                if after > before + 1:
                    break
            if what == "racket":  # relative to the drone, which gives way
                before, after = before - drone, after - data.joint("drone0").qvel[2]
            assert -after / before == pytest.approx(0.8, abs=0.02), (what, speed)
