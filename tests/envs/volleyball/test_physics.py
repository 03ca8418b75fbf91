"""Models, numbers and physics of drone volleyball by themselves; see tests/oracles/ for MuJoCo."""

from __future__ import annotations

import importlib.resources

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from manyhands.core.env import ConfigError
from manyhands.envs.volleyball import model as models
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.outside import Outside, outside_forces
from manyhands.envs.volleyball.physics import Bodies

FIELDS = ("racket", "hull", "net", "floor", "grounded", "netted", "collided")


@pytest.fixture(scope="module")
def params():
    return models.params_from_model(models.load_model("1v1"))


@pytest.fixture(scope="module")
def step():
    return jax.jit(physics.advance)


def serve(name: str, batch: int) -> Bodies:
    """The key frame of a model, `batch` times."""
    model = models.load_model(name)
    d = models.drone_count(model)
    places = model.key_qpos[0][: 7 * d].reshape(d, 7)
    one = Bodies(
        position=places[:, :3],
        quaternion=places[:, 3:],
        velocity=np.zeros((d, 3)),
        rates=np.zeros((d, 3)),
        thrust=model.key_act[0].reshape(d, 4),
        ball=model.key_qpos[0][7 * d : 7 * d + 3],
        ball_velocity=np.zeros(3),
    )
    return jax.tree.map(lambda leaf: jnp.asarray(np.stack([leaf] * batch, -1), jnp.float32), one)


# ---- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ball", models.BALLS)
@pytest.mark.parametrize("name", models.MODELS)
def test_the_committed_models_are_what_the_generator_writes(name, ball):
    assets = importlib.resources.files("manyhands") / "assets" / "volleyball"
    assert (assets / models.file_name(name, ball)).read_text() == models.mjcf(name, ball)
    model = models.load_model(name, ball)
    court = models.MODELS[name]
    assert models.drone_count(model) == len(court.starts) * (1 + court.far_team)
    assert model.geom("net").size[2] * 2 == pytest.approx(2.43)


def test_the_drone_is_the_published_one(params):
    assert params.mass[0] == 1.52
    weight = params.mass[0] * params.gravity
    assert 4 * params.power[0] / weight == pytest.approx(1.61, abs=0.005)
    assert physics.trim(params)[0] == pytest.approx([0.591, 0.651, 0.591, 0.651], abs=5e-4)
    front, back = params.rotors[0], params.rotors[1]
    assert np.hypot(*front) == pytest.approx(0.255539, abs=1e-6)
    assert np.arctan2(*front[::-1]) == pytest.approx(-0.533708, abs=1e-4)
    assert np.hypot(*back) == pytest.approx(0.238537, abs=1e-6)
    x, y, z = params.inertia[0]
    assert x + y >= z and y + z >= x and z + x >= y


def test_at_trim_a_drone_hovers(params, step):
    moved = serve("1v1", 1)
    order = jnp.asarray(2 * physics.trim(params) - 1, jnp.float32)[..., None]
    for _ in range(25):  # the ball comes down later
        moved, _ = step(params, moved, order)
    assert np.abs(moved.position - serve("1v1", 1).position).max() < 1e-3
    assert np.abs(moved.rates).max() < 1e-3


def test_halving_the_timestep_changes_little():
    """The 1v1 serve and its first bounce. A bounce begins up to a step too late, so that its place
    shifts by up to (1 + e) v h; until then, paths differ by g h t / 4."""
    paths = []
    for timestep in (0.005, 0.0025):
        model = models.compile_model(models.mjcf("1v1", timestep=timestep))
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        path, hits = [], 0
        for _ in range(50):
            for _ in range(round(0.02 / timestep)):
                mujoco.mj_step(model, data)
                hits += data.ncon
            path.append(data.qpos.copy())
        assert hits
        paths.append(np.array(path)[:, [0, 1, 2, 7, 8, 9, 14, 15, 16]])
    assert np.abs(paths[0] - paths[1]).max() < 0.01


def broken(old: str, new: str) -> str:
    text = models.mjcf("1v1")
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('diaginertia="0.0347563 0.0458929 0.0806"', 'diaginertia="0.03 0.04 0.0977"', "sum of"),
        ('name="racket1"', 'name="bat1"', "MuJoCo cannot compile"),
        ('name="ball" type="sphere"', 'type="sphere"', "MuJoCo cannot compile"),
        ('timestep="0.005"', 'timestep="0.002"', "made for 0.005 s"),
        ('integrator="Euler"', 'integrator="RK4"', "Euler"),
        ("<mujoco", "<mujocoo", "MuJoCo cannot compile"),
        ('<pair name="ball racket1"', '<pair name="ball racket1" margin="0.01"', "margin"),
        ('gear="0 0 1 0 0 0.0160000009545"', 'gear="0 0 1 0 0 0"', "moment"),
        ('gravity="0 0 -9.81"', 'gravity="0 -9.81 0"', "down"),
        ('dyntype="filterexact"', 'dyntype="filter"', "filterexact"),
    ],
)
def test_a_model_that_the_physics_cannot_follow_is_refused(old, new, reason):
    with pytest.raises(ConfigError, match=reason):
        models.params_from_model(models.compile_model(broken(old, new)))


def test_missing_parts_are_named():
    model = models.compile_model(models.mjcf("solo"))
    text = models.mjcf("solo")
    for part in ('<pair name="ball net"', '<contact name="ball net"'):
        start = text.index(part)
        text = text[:start] + text[text.index("/>", start) + 2 :]
    with pytest.raises(ConfigError, match="no contact pair of 'ball' and 'net'"):
        models.params_from_model(models.compile_model(text))
    nobody = "<mujoco><worldbody/></mujoco>"
    with pytest.raises(ConfigError, match="drone0"):
        models.params_from_model(models.compile_model(nobody))
    renamed = models.mjcf("solo").replace("racket0", "bat")
    with pytest.raises(ConfigError, match="no geom called 'racket0'"):
        models.params_from_model(models.compile_model(renamed))
    with pytest.raises(ConfigError, match="no model '2v2'; the models are solo"):
        models.load_model("2v2")
    with pytest.raises(ConfigError, match="no ball 'beach'"):
        models.load_model("solo", ball="beach")
    assert models.params_from_model(model).drag is None


# ---- randomisation -------------------------------------------------------------------------------


def test_every_name_draws_within_its_range_and_for_itself(params):
    ranges = dict.fromkeys(physics.FACTORS, (0.5, 2.0)) | {
        "drag": (0.1, 0.3),
        "restitution": (0.6, 0.9),
    }
    drawn = physics.randomise(params, physics.check_ranges(ranges), jax.random.key(3))
    for name in ("mass", "power", "moment", "lag", "ball_mass"):
        factor = np.asarray(getattr(drawn, name) / getattr(params, name))
        assert ((factor >= 0.5) & (factor <= 2)).all() and np.ptp(np.append(factor, 1)) > 0.01
    factors = np.asarray(drawn.inertia / params.inertia)
    np.testing.assert_allclose(factors, factors[:, :1] * np.ones(3), rtol=1e-6)
    assert ((drawn.drag >= 0.1) & (drawn.drag <= 0.3)).all()
    e = np.asarray(drawn.damping * params.impedance * params.timestep - 1)
    for i, kind in enumerate(physics.CONTACTS):
        if kind in physics.ELASTIC:
            assert 0.6 <= e[i] <= 0.9
        else:
            assert drawn.damping[i] == pytest.approx(params.damping[i])
    # What else is drawn changes nothing: each name has a stream of its own.
    alone = physics.randomise(params, {"lag": (0.5, 2.0)}, jax.random.key(3))
    np.testing.assert_array_equal(alone.lag, drawn.lag)
    assert alone.mass is params.mass


@pytest.mark.parametrize(
    ("ranges", "reason"),
    [
        ({"weight": (1, 2)}, "no 'weight'"),
        ({"mass": (2, 1)}, "low <= high"),
        ({"mass": (0, 1)}, "low <= high"),
        ({"mass": (float("nan"), 1)}, "finite numbers, given .nan, 1."),
        ({"mass": (10**400, 1)}, "finite numbers"),
        ({"mass": ("1", "2")}, "finite numbers"),
        ({"mass": (True, True)}, "finite numbers"),
        ({"mass": {1: 2, 3: 4}}, "finite numbers"),
        ({"mass": 1.0}, "pair"),
        ({"restitution": (0.5, 1.5)}, "low <= high <= 1"),
    ],
)
def test_ranges_that_cannot_be_drawn_are_refused(ranges, reason):
    with pytest.raises(ConfigError, match=reason):
        physics.check_ranges(ranges)


def test_drag_slows_and_downwash_pushes_down():
    """Two drones, the second 1.5 m above the first and 0.1 m beside it; the first one moves."""
    model = models.load_model("pair")
    params = models.params_from_model(model, drag=True, downwash=True)
    x = tuple(np.array(c) for c in ((4.5, 4.5), (0.0, 0.1), (2.0, 3.5)))
    v = tuple(np.array(c) for c in ((5.0, 0.0), (0.0, 0.0), (0.0, 0.0)))
    axis = tuple(np.array(c) for c in ((0.0, 0.0), (0.0, 0.0), (1.0, 1.0)))
    lift = np.array((10.0, 15.0))
    slowed = np.array(outside_forces(Outside(drag=params.drag), x, v, axis, lift, np))
    np.testing.assert_allclose(slowed, [[-1, 0], [0, 0], [0, 0]], atol=1e-12)  # 0.2 kg/s, 5 m/s
    blown = np.array(outside_forces(Outside(downwash=params.downwash), x, v, axis, lift, np))
    share = np.exp(-0.5 * (2 * 0.1 / 1.5) ** 2) / (1 + 0.3 * 1.5) ** 2
    np.testing.assert_allclose(blown, [[0, 0], [0, 0], [-15 * share, 0]], atol=1e-12)
    # Upside down, the upper one blows upwards, and nobody is there.
    over = (axis[0], axis[1], np.array((1.0, -1.0)))
    assert not np.any(outside_forces(Outside(downwash=params.downwash), x, v, over, lift, np))
    off = models.params_from_model(model)
    assert off.drag is None and off.downwash is None


# ---- batches -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_game_in_a_batch_is_the_game_alone(params, step):
    rng = np.random.default_rng(0)
    batch = serve("1v1", 8)
    noise = rng.normal(0, 0.3, batch.position.shape).astype(np.float32)
    leaves = jax.tree.leaves(batch)
    low = np.array((0, 0, 1.3), np.float32)
    places = leaves[0] + noise - low[:, None]
    batch = Bodies(places, *leaves[1:5], leaves[5] - low[:, None], leaves[6])
    orders = rng.uniform(-1, 1, (40, 2, 4, 8)).astype(np.float32)
    alone = jax.tree.map(lambda leaf: leaf[..., 3], batch)
    touched = {name: 0 for name in FIELDS}
    for order in orders:
        batch, met = step(params, batch, order)
        alone, met_alone = step(params, alone, order[..., 3])
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(met, name)[..., 3], getattr(met_alone, name))
            touched[name] += int(np.sum(getattr(met, name)))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a[..., 3], b, rtol=1e-4, atol=1e-4), batch, alone
    )
    assert touched["floor"] and touched["grounded"], touched


def test_extremes_reach_no_state(params):
    """10,000 control steps of random extremes: all stays finite, and quaternions of unit length."""
    bodies = serve("1v1", 4)

    def play(carry, t):
        bodies, key = carry
        key, now = jax.random.split(key)
        order = jnp.where(jax.random.bernoulli(now, 0.5, (2, 4, 4)), 1e30, -jnp.inf)
        bodies, _ = physics.advance(params, bodies, order)
        length = jnp.sqrt(jnp.sum(bodies.quaternion**2, 1))
        good = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(bodies)]))
        return (bodies, key), (good, jnp.max(jnp.abs(length - 1)))

    run = jax.jit(lambda b, k: jax.lax.scan(play, (b, k), jnp.arange(10_000))[1])
    good, length = run(bodies, jax.random.key(0))
    assert bool(good.all()) and float(length.max()) < 1e-5
