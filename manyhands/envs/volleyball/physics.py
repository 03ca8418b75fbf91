"""Flight and contact of quadrotors, a ball, a net and a floor: MuJoCo's model, in JAX, in batches.

`advance` moves all bodies by one control step of some physics steps. Each physics step is MuJoCo's
semi-implicit Euler step of the model that `model.py` writes, but for the gyroscopic torque (see
below): rigid bodies with quaternions, motors with a first order lag, and frictionless contacts,
each of which is one row of MuJoCo's constraint solver (MuJoCo documentation, "Computation" and
"Solver parameters"): with the reference acceleration a_ref = -b v - k r of the contact's distance r
< 0 and its rate v, the free acceleration a, the inverse inertia A along the normal and the
regularisation R, the contact's force is max(0, (a_ref - a) / (A + R)). Contacts that share a body
at the same moment are swept over until they agree.

**Integrators.** `"euler"` is MuJoCo's Euler step. Its gyroscopic torque is that of the step's
beginning, which adds rotational energy at every step. `"gyroscopic"`, the default, is the same step
with that torque's mean over the step, found by a Runge-Kutta step of Euler's equations of rotation
(`gyration`): while nothing acts on a drone, its rates are those of MuJoCo's `integrator="RK4"`,
and its rotational energy stays. Contacts are still solved once a step, as their numbers ask for.

All numbers come from the model (`params_from_model`), none stands here. Bodies are structures of
arrays: drones come first, then components, and then any number of batch axes. Inside, a vector is
a tuple of its components, so that the innermost loop of compiled code runs over the batch. On a CPU
this is ten times as fast as mapping over single games.

Two engines agree with this file: MuJoCo's own on the same model (`engine.py`), and, to 1e-9 m over
a second in double precision, every test in tests/oracles/test_volleyball_oracles.py.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import nearest, number
from manyhands.core.env import Array, ConfigError, names_of, shorten, state_dataclass
from manyhands.envs.volleyball.outside import Outside, outside_forces
from manyhands.envs.volleyball.vectors import Vector, axes_of
from manyhands.envs.volleyball.vectors import add as _add
from manyhands.envs.volleyball.vectors import cross as _cross
from manyhands.envs.volleyball.vectors import dot as _dot
from manyhands.envs.volleyball.vectors import scale as _scale
from manyhands.envs.volleyball.vectors import split as _split
from manyhands.envs.volleyball.vectors import sub as _sub

INTEGRATORS = ("gyroscopic", "euler")
SUBSTEPS = 4  # physics steps of 5 ms in a control step of 20 ms
SWEEPS = 100  # at most, over contacts that share a body
NEWTON_STEPS = 5  # in each, for those of the ball

# No component of a velocity grows beyond these, many times what play has. Euler's steps (not
# "gyroscopic" ones) turn a body that spins much faster into one that spins faster still, until its
# numbers overflow.
FASTEST = 100.0  # m/s
FASTEST_TURN = 100.0  # rad/s

# The kinds of contact, in the order of `Params.stiffness` and its siblings.
CONTACTS = (
    "ball_racket",
    "ball_hull",
    "ball_net",
    "ball_floor",
    "hull_net",
    "hull_floor",
    "hull_hull",
)

RACKET, HULL, NET, FLOOR = 1, 2, 4, 8  # bits: what a drone, or the ball, touches


@state_dataclass
class Bodies:
    """Where everything is and how it moves. D drones; any number of batch axes at the end.

    Attributes:
        position: f[D, 3], m, centres of mass in the world: x along the court with the net at
            x = 0, y across it, z up from the floor.
        quaternion: f[D, 4], (w, x, y, z), unit length, turns body axes into world axes.
        velocity: f[D, 3], m/s, in the world.
        rates: f[D, 3], rad/s, angular velocity about the *body's* axes, as of MuJoCo's free joint.
        thrust: f[D, 4], what each rotor gives now: 0 to 1 of its greatest thrust.
        ball: f[3], m, the ball's centre.
        ball_velocity: f[3], m/s.
    """

    position: Array
    quaternion: Array
    velocity: Array
    rates: Array
    thrust: Array
    ball: Array
    ball_velocity: Array


@state_dataclass
class Params:
    """All physical numbers of a model, by `model.params_from_model`. A leaf may have the batch's
    axes at its end, too: what `randomise` drew for each game.

    Attributes:
        timestep: f[], s, of one physics step.
        gravity: f[], m/s², downwards.
        mass: f[D], kg.
        inertia: f[D, 3], kg m², about the body's axes.
        power: f[D], N, the greatest thrust of one rotor.
        moment: f[D], m, moment about the body's z axis per thrust of one rotor; times `spin`.
        lag: f[D], s, time constant of the thrust.
        rotors: f[4, 2], m, where the rotors are: x forward, y left.
        spin: f[4], +1 or -1, the sense of the moment of each rotor.
        mixer: f[4, 4], 1/m and 1: thrust of each rotor (rows, N) for a force along the body's z
            axis (N) and moments about x, y and z (N m) of the drone as designed.
        racket: f[3], m: radius, half thickness and height above the centre of mass.
        hull: f[2], m: radius, and height of its centre above the centre of mass.
        ball_radius: f[], m.
        ball_mass: f[], kg.
        net: f[2, 3], m: centre and half sizes of the box.
        stiffness, damping, impedance: f[7], 1/s², 1/s and 1: k, b and d of the contacts
            (`CONTACTS`).
        ball_drag: f[] or None, kg/m: the force of the air on the ball is -drag |v| v.
        drag: f[D] or None, kg/s: the force of the air on a drone is -drag v.
        downwash: f[2] or None, 1 and 1/m: how fast a rotor's wind fades to the side and downwards.
        wind: f[3] or None, m/s in the world: how the air moves, where `drag` and `ball_drag` are
            felt.
        rise, fall: f[D] or None, s: time constants of a thrust that grows and of one that falls,
            in the place of `lag`, which controllers go by then.
        ground: f[D] or None, m: radius of the rotors whose thrust grows near the floor.
    """

    timestep: Array
    gravity: Array
    mass: Array
    inertia: Array
    power: Array
    moment: Array
    lag: Array
    rotors: Array
    spin: Array
    mixer: Array
    racket: Array
    hull: Array
    ball_radius: Array
    ball_mass: Array
    net: Array
    stiffness: Array
    damping: Array
    impedance: Array
    ball_drag: Array | None = None
    drag: Array | None = None
    downwash: Array | None = None
    wind: Array | None = None
    rise: Array | None = None
    fall: Array | None = None
    ground: Array | None = None


# Axes of each leaf of `Params` before those of the batch.
_AXES = dict.fromkeys(Params.__dataclass_fields__, 1)
_AXES |= dict.fromkeys(("timestep", "gravity", "ball_radius", "ball_mass", "ball_drag"), 0)
_AXES |= dict.fromkeys(("inertia", "rotors", "mixer", "net"), 2)


@state_dataclass
class Touched:
    """What touched what in any physics step of a control step.

    Attributes:
        racket: bool[D], the ball and this drone's racket.
        hull: bool[D], the ball and this drone's body.
        net: bool[], the ball and the net.
        floor: bool[], the ball and the floor.
        grounded: bool[D], this drone and the floor.
        netted: bool[D], this drone and the net.
        collided: bool[D, D], two drones; symmetric, the diagonal is False.
    """

    racket: Array
    hull: Array
    net: Array
    floor: Array
    grounded: Array
    netted: Array
    collided: Array


# ---- vectors of the world and of bodies ----------------------------------------------------------


def _to_world(rows: tuple[Vector, Vector, Vector], v: Vector) -> Vector:
    return (_dot(rows[0], v), _dot(rows[1], v), _dot(rows[2], v))


def _to_body(rows: tuple[Vector, Vector, Vector], v: Vector) -> Vector:
    return _add(_add(_scale(v[0], rows[0]), _scale(v[1], rows[1])), _scale(v[2], rows[2]))


def _quaternion_product(a: Any, b: Any) -> Any:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


# ---- for others: the same on arrays, drones first ------------------------------------------------


def matrix(quaternion: Array) -> Array:
    """f[D, 3, 3, ...]: rotation matrices, body to world, of f[D, 4, ...]; columns are the body's
    axes."""
    rows = axes_of(_split(quaternion, 1))
    return jnp.stack([jnp.stack(row, 1) for row in rows], 1)


def rotate(quaternion: Array, vector: Array) -> Array:
    """Vectors f[D, 3, ...] of the bodies' frames in the world's; quaternions are f[D, 4, ...]."""
    return jnp.stack(_to_world(axes_of(_split(quaternion, 1)), _split(vector, 1)), 1)  # type: ignore[arg-type]


def unrotate(quaternion: Array, vector: Array) -> Array:
    """Vectors f[D, 3, ...] of the world's frame in the bodies'; quaternions are f[D, 4, ...]."""
    return jnp.stack(_to_body(axes_of(_split(quaternion, 1)), _split(vector, 1)), 1)  # type: ignore[arg-type]


def multiply(a: Array, b: Array) -> Array:
    """Products of quaternions, f[D, 4, ...]: first `b`, then `a`."""
    return jnp.stack(_quaternion_product(_split(a, 1), _split(b, 1)), 1)


def trim(params: Params) -> Array:
    """f[D, 4]: the thrust of each rotor, 0 to 1 of its greatest, that holds a level drone."""
    # The mixer's first column is what each rotor gives of a force along z.
    weight = params.mass * params.gravity / params.power
    column = jnp.asarray(params.mixer)[:, 0]
    return jnp.expand_dims(jnp.asarray(weight), 1) * column.reshape(
        (1, 4) + (1,) * (weight.ndim - 1)
    )


# ---- domain randomisation ------------------------------------------------------------------------

# What `randomise` can draw: factors on the model's number, or the number itself.
FACTORS = ("mass", "inertia", "thrust", "moment", "lag", "ball_mass")
VALUES = ("drag", "restitution", "wind", "lag_rise", "lag_fall", "ground_effect")
RANDOMISED = FACTORS + VALUES  # new names go to the end: each draws by its index
MOST = {"restitution": 1.0, "wind": 20.0, "lag_rise": 1.0, "lag_fall": 1.0, "ground_effect": 1.0}
LEAST = dict.fromkeys(VALUES, 0.0) | {"lag_rise": 1e-3, "lag_fall": 1e-3}


def check_drawn(ranges: Any, known: Sequence[str] = RANDOMISED) -> None:
    """Raise ConfigError unless `randomise` is a mapping whose names are all `known`."""
    if not isinstance(ranges, Mapping):
        raise ConfigError(f"randomise is a mapping of names to (low, high), given {ranges!r}")
    for name in ranges:
        if name not in known:
            raise ConfigError(
                f"randomise has no {name!r};{nearest(name, known)} what can be drawn is "
                f"{names_of(known)}"
            )


def pair_of(name: str, given: Any) -> tuple[float, float]:
    """(low, high), two finite numbers, of one range of `randomise`."""
    try:
        if isinstance(given, (Mapping, str, bytes)):
            raise TypeError
        low, high = (number(name, value) for value in given)
    except (TypeError, ValueError, ConfigError):
        raise ConfigError(
            f"the range of {name} is a pair (low, high) of finite numbers, given {shorten(given)}"
        ) from None
    return low, high


def check_ranges(ranges: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Ranges of `randomise` as {name: (low, high)}; raises ConfigError for what cannot be drawn."""
    check_drawn(ranges)
    checked = {}
    for name, given in ranges.items():
        low, high = pair_of(name, given)
        least, most = LEAST.get(name, 1e-3), MOST.get(name, 1e3)  # nothing weighs nothing
        if not least <= low <= high <= most:
            raise ConfigError(
                f"the range of {name} is {least:g} <= low <= high <= {most:g}, given {given!r}"
            )
        checked[name] = (low, high)
    if "lag" in checked and {"lag_rise", "lag_fall"} & set(checked):
        raise ConfigError("lag_rise and lag_fall take the place of lag; draw either, not both")
    return checked


def randomise(params: Params, ranges: Mapping[str, tuple[float, float]], key: Array) -> Params:
    """`params` of one game with what `ranges` names drawn uniformly, for each drone its own.

    Args:
        params: of a model, without batch axes.
        ranges: {name: (low, high)}. Factors on the model's numbers: `mass` (of a drone), `inertia`
            (all three), `thrust` (the greatest), `moment` (a rotor's about its axis), `lag`,
            `ball_mass`. The numbers themselves: `drag` (of a drone, kg/s), `restitution` (of the
            ball on rackets, bodies and the floor), `wind` (m/s, level, from anywhere; the same for
            all), `lag_rise` and `lag_fall` (s, time constants of the motors; one that is not drawn
            is the model's) and `ground_effect` (m, radius of a rotor).
        key: a PRNG key; each name draws from its own part of it, whatever else is drawn.
    """
    drones = params.mass.shape[0]

    def draw(name: str, shape: tuple[int, ...]) -> Array:
        low, high = ranges[name]
        part = jax.random.fold_in(key, RANDOMISED.index(name))
        return jax.random.uniform(part, shape, minval=low, maxval=high)

    changed: dict[str, Any] = {}
    for name in ("mass", "moment", "lag"):
        if name in ranges:
            changed[name] = getattr(params, name) * draw(name, (drones,))
    if "inertia" in ranges:
        changed["inertia"] = params.inertia * draw("inertia", (drones,))[:, None]
    if "thrust" in ranges:
        changed["power"] = params.power * draw("thrust", (drones,))
    if "ball_mass" in ranges:
        changed["ball_mass"] = params.ball_mass * draw("ball_mass", ())
    if "drag" in ranges:
        changed["drag"] = draw("drag", (drones,))
    if "restitution" in ranges:
        # b = (1 + e) / (h d): all of the velocity is turned in one step (model.py).
        wanted = (1 + draw("restitution", ())) / (params.timestep * params.impedance)
        elastic = np.array([kind in ELASTIC for kind in CONTACTS])
        changed["damping"] = jnp.where(elastic, wanted, params.damping)
    if "wind" in ranges:
        # A name's part of the key is split for what else it draws.
        part = jax.random.split(jax.random.fold_in(key, RANDOMISED.index("wind")))[1]
        heading = jax.random.uniform(part, (), maxval=2 * math.pi)
        speed = draw("wind", ())
        changed["wind"] = jnp.stack([speed * jnp.cos(heading), speed * jnp.sin(heading), 0 * speed])
    if "lag_rise" in ranges or "lag_fall" in ranges:
        rise, fall = (
            draw(name, (drones,)) if name in ranges else jnp.asarray(params.lag, jnp.float32)
            for name in ("lag_rise", "lag_fall")
        )
        changed |= {"rise": rise, "fall": fall, "lag": (rise + fall) / 2}
    if "ground_effect" in ranges:
        changed["ground"] = draw("ground_effect", (drones,))
    return dataclasses.replace(params, **changed)


ELASTIC = ("ball_racket", "ball_hull", "ball_floor")  # the contacts that give the ball back


# ---- one control step ----------------------------------------------------------------------------


def advance(
    params: Params,
    bodies: Bodies,
    commands: Array,
    substeps: int = SUBSTEPS,
    integrator: str = "gyroscopic",
) -> tuple[Bodies, Touched]:
    """Everything one control step later, and what touched what meanwhile.

    Args:
        params: with or without the batch axes.
        bodies: with or without batch axes; their dtype is that of the computation.
        commands: f[D, 4, ...], -1 to 1 for each rotor: (u + 1) / 2 of its greatest thrust, which
            it approaches with its lag. What is beyond is clamped; a NaN must not be among them.
        substeps: physics steps of `params.timestep`.
        integrator: one of `INTEGRATORS`.
    """
    if integrator not in INTEGRATORS:
        raise ConfigError(f"the integrators are {', '.join(INTEGRATORS)}, given {integrator!r}")
    p = _lifted(params, bodies)
    wanted = jnp.clip((commands.astype(bodies.thrust.dtype) + 1) / 2, 0, 1)
    drones, batch = bodies.position.shape[0], bodies.ball.shape[1:]
    state = (
        _split(bodies.position, 1),
        _split(bodies.quaternion, 1),
        _split(bodies.velocity, 1),
        _split(bodies.rates, 1),
        _split(bodies.thrust, 1),
        _split(bodies.ball, 0),
        _split(bodies.ball_velocity, 0),
    )
    touched = tuple(jnp.zeros(shape, jnp.uint8) for shape in ((drones, *batch), batch))
    touched = (*touched, jnp.zeros((drones, drones, *batch), bool))
    rotors = _split(wanted, 1)
    if p.rise is None:
        follow: Any = (1 - jnp.exp(-p.timestep / p.lag),) * 4
    else:
        # Commands stand still meanwhile, so that a thrust that grows goes on doing so.
        up, down = (1 - jnp.exp(-p.timestep / lag) for lag in (p.rise, p.fall))
        follow = tuple(jnp.where(u > t, up, down) for u, t in zip(rotors, state[4], strict=True))

    def physics_step(_: Any, carry: Any) -> Any:
        state, touched = carry
        state, now = _physics_step(p, state, rotors, follow, integrator)
        return state, tuple(a | b for a, b in zip(touched, now, strict=True))

    state, touched = jax.lax.fori_loop(0, substeps, physics_step, (state, touched))
    stacked = [jnp.stack(part, 1) for part in state[:5]] + [jnp.stack(x, 0) for x in state[5:]]
    of_drone, of_ball, collided = touched
    return Bodies(*stacked), Touched(
        racket=(of_drone & RACKET) > 0,
        hull=(of_drone & HULL) > 0,
        net=(of_ball & NET) > 0,
        floor=(of_ball & FLOOR) > 0,
        grounded=(of_drone & FLOOR) > 0,
        netted=(of_drone & NET) > 0,
        collided=collided,
    )


def _lifted(params: Params, bodies: Bodies) -> Params:
    """`params` in the bodies' dtype, with axes of length 1 for the batch where they have none."""
    batch = bodies.ball.ndim - 1

    def lift(name: str) -> Array | None:
        leaf = getattr(params, name)
        if leaf is None:
            return None
        leaf = jnp.asarray(leaf, bodies.ball.dtype)
        return leaf.reshape(leaf.shape + (1,) * (_AXES[name] + batch - leaf.ndim))

    return Params(**{name: lift(name) for name in _AXES})


def _physics_step(
    p: Params, state: Any, rotors: Any, follow: Any, integrator: str
) -> tuple[Any, Any]:
    """One physics step: (state, what touches what: bits of each drone and of the ball, and pairs of
    drones)."""
    x, q, v, w, thrust, ball, ball_v = state
    rows = axes_of(q)
    axis = (rows[0][2], rows[1][2], rows[2][2])  # the bodies' z axes

    # What accelerates bodies that touch nothing.
    force = [p.power * t for t in thrust]
    lift = force[0] + force[1] + force[2] + force[3]
    spin = [p.spin[i] * f for i, f in enumerate(force)]
    torque = (
        _dot([p.rotors[i, 1] for i in range(4)], force),
        -_dot([p.rotors[i, 0] for i in range(4)], force),
        p.moment * (spin[0] + spin[1] + spin[2] + spin[3]),
    )
    inertia = _split(p.inertia, 1)
    if integrator == "gyroscopic":
        turn = _add(
            gyration(inertia, w, p.timestep),
            tuple(t / i for t, i in zip(torque, inertia, strict=True)),
        )
    else:
        turning = _cross(w, tuple(i * r for i, r in zip(inertia, w, strict=True)))  # type: ignore[arg-type]
        turn = tuple((t - c) / i for t, c, i in zip(torque, turning, inertia, strict=True))
    pull = _scale(lift, axis)
    outside = Outside(p.drag, p.downwash, p.wind, p.ground)
    if any(part is not None for part in outside):
        pull = _add(pull, outside_forces(outside, x, v, axis, lift))
    push = _scale(1 / p.mass, pull)
    push = (push[0], push[1], push[2] - p.gravity)
    zero = jnp.zeros_like(ball[0])
    fall: Any = (zero, zero, zero - p.gravity)
    if p.ball_drag is not None:
        through = ball_v if p.wind is None else _sub(ball_v, p.wind)
        fall = _sub(
            fall, _scale(p.ball_drag / p.ball_mass * jnp.sqrt(_dot(through, through)), through)
        )

    (push, turn, fall), touching = _contacts(p, state, (push, turn, fall))

    # Semi-implicit Euler: the new velocities move the bodies.
    h = p.timestep
    v = _within(FASTEST, _add(v, _scale(h, push)))
    w = _within(FASTEST_TURN, _add(w, _scale(h, turn)))
    ball_v = _within(FASTEST, _add(ball_v, _scale(h, fall)))
    x, ball = _add(x, _scale(h, v)), _add(ball, _scale(h, ball_v))
    q = _turned(q, w, h)
    thrust = tuple(t + (u - t) * f for t, u, f in zip(thrust, rotors, follow, strict=True))
    return (x, q, v, w, thrust, ball, ball_v), touching


def _within(limit: float, v: Any) -> Any:
    return tuple(jnp.clip(c, -limit, limit) for c in v)


def _turned(q: Any, w: Vector, h: Array) -> Any:
    """Unit quaternions after turning at the rates `w` about the body's axes for `h` seconds."""
    half = _scale(h / 2, w)
    square = _dot(half, half)  # at most 0.75, by FASTEST_TURN and the longest timestep
    # cos and sin(a) / a as series, to the precision of doubles; a library's would be scalar code
    cosine = ratio = jnp.zeros_like(square)
    for k in range(8, -1, -1):
        cosine = cosine * square + (-1) ** k / math.factorial(2 * k)
        ratio = ratio * square + (-1) ** k / math.factorial(2 * k + 1)
    q = _quaternion_product(q, (cosine, *_scale(ratio, half)))
    return _scale(jax.lax.rsqrt(_dot(q, q)), q)


def gyration(inertia: Any, w: Any, h: Any) -> Any:
    """The mean angular acceleration over `h` seconds of a body that turns freely at the rates `w`,
    both about its axes of inertia: a step of the classical Runge-Kutta method. Of arrays of JAX or
    NumPy, and of plain numbers."""
    i, j, k = inertia
    a, b, c = (j - k) / i, (k - i) / j, (i - j) / k
    x, y, z = w
    x1, y1, z1 = a * y * z, b * z * x, c * x * y
    half = h / 2
    p, q, r = x + half * x1, y + half * y1, z + half * z1
    x2, y2, z2 = a * q * r, b * r * p, c * p * q
    p, q, r = x + half * x2, y + half * y2, z + half * z2
    x3, y3, z3 = a * q * r, b * r * p, c * p * q
    p, q, r = x + h * x3, y + h * y3, z + h * z3
    return (
        (x1 + 2 * (x2 + x3) + a * q * r) / 6,
        (y1 + 2 * (y2 + y3) + b * r * p) / 6,
        (z1 + 2 * (z2 + z3) + c * p * q) / 6,
    )


# ---- contacts ------------------------------------------------------------------------------------


def _contacts(p: Params, state: Any, free: Any) -> tuple[Any, Any]:
    """The accelerations with the forces of all contacts, and what touches what.

    A body seldom touches two others at once. So each drone has one row here, for the contact it
    has, if any, and so has the ball for net and floor; what these say is right unless a body has
    two contacts, or drones touch each other. Such games, all rare, go through `_settled`.
    """
    x, q, v, w, _, ball, ball_v = state
    push, turn, fall = free
    rows = axes_of(q)
    radius, height = p.hull[0], p.hull[1]
    centre: Any = tuple(a + height * row[2] for a, row in zip(x, rows, strict=True))

    # The ball, net and floor.
    from_net, off_net, net_length = _from_net(p, ball)
    ball_net, ball_floor = from_net < p.ball_radius, ball[2] < p.ball_radius
    gap = jnp.where(ball_net, from_net, ball[2]) - p.ball_radius
    n: Any = tuple(
        jnp.where(ball_net, c, up) / jnp.where(ball_net, net_length, 1)
        for c, up in zip(off_net, (0, 0, 1), strict=True)
    )
    k, b, d = _chosen(p, ((ball_net, "ball_net"),), "ball_floor")
    here = ball_net | ball_floor
    asked = -b * _dot(n, ball_v) - k * gap - _dot(n, fall)
    # A + R is A / d here, as R = (1 - d) / d A
    force = jnp.where(here, jnp.maximum(asked * d * p.ball_mass, 0), 0)
    thrown = _scale(force, n)

    # The drones: direction `u` in which one is pushed, and the arm at which.
    offset: Any = _to_body(rows, tuple(a - c for a, c in zip(ball, x, strict=True)))  # type: ignore[arg-type]
    from_racket, off_racket, racket_length = _from_racket(p, offset)
    below = (offset[0], offset[1], offset[2] - height)
    from_hull, off_hull, hull_length = _from_point(below, radius)
    from_net, off_net, net_length = _from_net(p, centre)
    racket, hull = from_racket < p.ball_radius, from_hull < p.ball_radius
    net, floor = from_net < radius, centre[2] < radius
    by_ball, there = racket | hull, racket | hull | net | floor
    gap = jnp.where(
        by_ball,
        jnp.where(racket, from_racket, from_hull) - p.ball_radius,
        jnp.where(net, from_net, centre[2]) - radius,
    )
    length = jnp.where(
        by_ball,
        -jnp.where(racket, racket_length, hull_length),
        jnp.where(net, net_length, 1),
    )
    local = tuple(
        jnp.where(by_ball, jnp.where(racket, r, h), jnp.where(net, c, up)) / length
        for r, h, c, up in zip(off_racket, off_hull, _to_body(rows, off_net), rows[2], strict=True)
    )
    arm = tuple(jnp.where(racket, o, c) for o, c in zip(offset, (0, 0, height), strict=True))
    u, moment = _to_world(rows, local), _cross(arm, local)  # type: ignore[arg-type]
    kinds = ((racket, "ball_racket"), (hull, "ball_hull"), (net, "hull_net"))
    k, b, d = _chosen(p, kinds, "hull_floor")
    with_ball = by_ball.astype(gap.dtype)

    def parting(linear: Any, angular: Any, of_ball: Any) -> Array:
        other = _scale(with_ball, of_ball)
        return _dot(u, _sub(linear, other)) + _dot(moment, angular)

    lightness = 1 / p.mass + with_ball / p.ball_mass
    agility = tuple(1 / i for i in _split(p.inertia, 1))
    weight = lightness + _dot(tuple(m * m for m in moment), agility)
    asked = -b * parting(v, w, ball_v) - k * gap - parting(push, turn, fall)
    # The quotient comes last, and what reads it is cheap: a compiler computes products again for
    # each of their readers, but not quotients.
    force = jnp.maximum(asked, 0) / (weight + (1 - d) / d * lightness)
    force = jnp.where(there, force, 0)
    struck = tuple(jnp.sum(force * with_ball * c, 0) for c in u)
    found = (
        _add(push, _scale(force / p.mass, u)),
        tuple(t + force * m * i for t, m, i in zip(turn, moment, agility, strict=True)),
        _add(fall, _scale(1 / p.ball_mass, _sub(thrown, struck))),
    )

    apart = tuple(c[None, :] - c[:, None] for c in centre)
    others = ~np.eye(len(x[0]), dtype=bool).reshape(len(x[0]), -1, *[1] * ball[0].ndim)
    near = (_dot(apart, apart) < 4 * radius**2) & others
    few = jnp.uint8
    of_drone = racket * few(RACKET) | hull * few(HULL) | net * few(NET) | floor * few(FLOOR)
    of_ball = ball_net * few(NET) | ball_floor * few(FLOOR)
    crowded = jnp.any((of_drone & (of_drone - few(1))) > 0, 0) | jnp.any(near, (0, 1))
    on_ball = jnp.sum(by_ball, 0, few) + ball_net.astype(few) + ball_floor.astype(few)
    crowded = crowded | (on_ball > 1)
    found = jax.lax.cond(
        jnp.any(crowded), lambda: _settled(p, state, free, found, crowded), lambda: found
    )
    return found, (of_drone, of_ball, near)


def _chosen(p: Params, kinds: Any, other: str) -> tuple[Array, Array, Array]:
    """k, b and d of the first kind of contact whose mask is set, or of the other one."""

    def choose(numbers: Array) -> Array:
        chosen = numbers[CONTACTS.index(other)]
        for there, kind in reversed(kinds):
            chosen = jnp.where(there, numbers[CONTACTS.index(kind)], chosen)
        return chosen

    return choose(p.stiffness), choose(p.damping), choose(p.impedance)


def _settled(p: Params, state: Any, free: Any, plain: Any, crowded: Array) -> Any:
    """The accelerations with the forces of all contacts together in the games that are `crowded`,
    and `plain` in the others: sweeps over all contacts until their forces agree.

    There are 4 + D rows for each drone: the ball on its racket, the ball on its hull, net, floor,
    and each of the drones; and two of the ball alone, net and floor. Contacts of a drone share it,
    as if it were split into as many parts: so all rows can be solved at once, and still converge
    (Tonge et al., "Mass splitting for jitter-free parallel rigid body simulation", 2012).
    """
    x, q, v, w, _, ball, ball_v = state
    rows = axes_of(q)
    radius, height = p.hull[0], p.hull[1]
    centre: Any = tuple(a + height * row[2] for a, row in zip(x, rows, strict=True))
    drones, trailing = len(x[0]), [1] * ball[0].ndim

    # Where each row pushes its drone (`u`), how it turns it, and whether there is a contact.
    offset: Any = _to_body(rows, tuple(a - c for a, c in zip(ball, x, strict=True)))  # type: ignore[arg-type]
    racket = _unit(_from_racket(p, offset))
    hull = _unit(_from_point((offset[0], offset[1], offset[2] - height), radius))
    net = _unit(_from_net(p, centre))
    apart: Any = tuple(c[None, :] - c[:, None] for c in centre)  # [other, this]
    others = ~np.eye(drones, dtype=bool).reshape(drones, drones, *trailing)
    length = jnp.sqrt(jnp.where(others, _dot(apart, apart), 1))
    from_others = tuple(jnp.where(others, c, 0) / length for c in apart)

    def table(four: Any, others: Array) -> Array:
        return jnp.concatenate([jnp.stack(four), others])

    local: Any = tuple(
        table((-r, -h, n, up), o)
        for r, h, n, up, o in zip(
            racket[1],
            hull[1],
            _to_body(rows, net[1]),
            rows[2],
            _to_body(rows, from_others),  # type: ignore[arg-type]
            strict=True,
        )
    )
    ball_gaps = (racket[0] - p.ball_radius, hull[0] - p.ball_radius)
    gap = table((*ball_gaps, net[0] - radius, centre[2] - radius), length - 2 * radius)
    there = (gap < 0) & np.concatenate([np.ones((4, *others.shape[1:]), bool), others])
    u = _to_world(rows, local)
    at_racket = _cross(offset, tuple(c[0] for c in local))  # type: ignore[arg-type]
    at_hull = (-height * local[1], height * local[0], jnp.zeros_like(local[0]))
    moment = tuple(
        jnp.concatenate([first[None], rest[1:]])
        for first, rest in zip(at_racket, at_hull, strict=True)
    )
    by_ball = np.array([1, 1] + [0] * (2 + drones)).reshape(-1, 1, *trailing).astype(x[0].dtype)
    from_net, off_net = _unit(_from_net(p, ball))
    n: Any = tuple(
        jnp.stack((c, jnp.full_like(c, up))) for c, up in zip(off_net, (0, 0, 1), strict=True)
    )
    ball_gap = jnp.stack((from_net, ball[2])) - p.ball_radius

    def partner(rows: Array) -> Array:
        """What the other drone of a row adds."""
        return jnp.concatenate([jnp.zeros_like(rows[:4]), jnp.swapaxes(rows[4:], 0, 1)])

    def parting(linear: Any, angular: Any, of_ball: Any) -> tuple[Array, Array]:
        """How fast the bodies of each row part: of the drones, and of the ball alone."""
        own = _dot(u, linear) + _dot(moment, angular) - by_ball * _dot(u, of_ball)
        return own + partner(own), _dot(n, of_ball)

    kinds = ["ball_racket", "ball_hull", "hull_net", "hull_floor"] + ["hull_hull"] * drones
    of_rows = np.array([CONTACTS.index(kind) for kind in kinds])
    of_ball = np.array([CONTACTS.index(kind) for kind in ("ball_net", "ball_floor")])
    k, b, d = (c[of_rows][:, None] for c in (p.stiffness, p.damping, p.impedance))
    ball_k, ball_b, ball_d = (c[of_ball] for c in (p.stiffness, p.damping, p.impedance))
    closing, ball_closing = parting(v, w, ball_v)
    wanted, ball_wanted = -b * closing - k * gap, -ball_b * ball_closing - ball_k * ball_gap

    agility = tuple(1 / i for i in _split(p.inertia, 1))
    lightness = jnp.broadcast_to(1 / p.mass, gap.shape)
    weight = lightness + _dot(tuple(m * m for m in moment), agility)
    weight = weight * jnp.maximum(jnp.sum(there, 0), 1).astype(weight.dtype)
    weight = weight + partner(weight)
    soft = (1 - d) / d * (lightness + partner(lightness) + by_ball / p.ball_mass)
    ball_soft = (1 - ball_d) / ball_d / p.ball_mass + jnp.zeros_like(ball_gap)

    # The rows of the ball. It is light beside the drones: solved one by one, contacts that squeeze
    # it would take thousands of sweeps to agree. With y the acceleration that they give it, and A
    # and R of each row without it, each force is f = max(0, (c - n y) / (A + R)), and
    # y = sum(n f) / mass is three equations with a kink for each row, for Newton's method.
    def flat(of_drones: Array, of_ball: Array) -> Array:
        return jnp.concatenate([of_drones[0], of_drones[1], of_ball])

    all_n = tuple(flat(-a, b) for a, b in zip(u, n, strict=True))
    all_weight, all_soft = flat(weight, jnp.zeros_like(ball_soft)), flat(soft, ball_soft)
    all_there = flat(there, ball_gap < 0)
    share = 1 / (all_weight + all_soft) / p.ball_mass

    def thrown(f: Array) -> Any:
        return tuple(jnp.sum(f * a, 0) / p.ball_mass for a in all_n)

    def on_ball(f: Array, left: Array) -> Array:
        c = left + all_weight * f + _dot(all_n, thrown(f))

        def newton(_: Any, y: Any) -> Any:
            active = jnp.where(all_there & (c > _dot(all_n, y)), share, 0)
            xx, yy, zz = (1 + jnp.sum(active * a * a, 0) for a in all_n)
            xy, xz, yz = (
                jnp.sum(active * all_n[i] * all_n[j], 0) for i, j in ((0, 1), (0, 2), (1, 2))
            )
            right = tuple(jnp.sum(active * a * c, 0) for a in all_n)
            # Cramer's rule
            first = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy)
            second = (first[1], xx * zz - xz * xz, xy * xz - xx * yz)
            third = (first[2], second[2], xx * yy - xy * xy)
            whole = _dot((xx, xy, xz), first)
            return tuple(_dot(row, right) / whole for row in (first, second, third))

        y = jax.lax.fori_loop(0, NEWTON_STEPS, newton, thrown(f))
        force = jnp.maximum(c - _dot(all_n, y), 0) / (all_weight + all_soft)
        return jnp.where(all_there, force, 0)

    scale = jnp.maximum(
        jnp.max(jnp.where(there, jnp.abs(wanted), 1), (0, 1)), jnp.max(jnp.abs(ball_wanted), 0)
    )
    near_enough = 8 * jnp.finfo(scale.dtype).eps * scale

    def sweep(carry: Any) -> Any:
        (linear, angular, fall), f, ball_f, going, sweeps = carry
        left, ball_left = parting(linear, angular, fall)
        left, ball_left = wanted - left, ball_wanted - ball_left
        new = jnp.maximum(f + (left - soft * f) / (weight + soft), 0)
        by_newton = on_ball(flat(f, ball_f), flat(left, ball_left))
        new = jnp.concatenate([by_newton[: 2 * drones].reshape(2, drones, *f.shape[2:]), new[2:]])
        change = jnp.where(there & going, new - f, 0)
        ball_change = jnp.where(going, by_newton[2 * drones :] - ball_f, 0)
        thrust = tuple(a + jnp.sum(change * c, 0) / p.mass for a, c in zip(linear, u, strict=True))
        turned = tuple(
            a + i * jnp.sum(change * m, 0) for a, m, i in zip(angular, moment, agility, strict=True)
        )
        fall = _add(fall, thrown(flat(change, ball_change)))
        changed = jnp.maximum(
            jnp.max(jnp.abs(change) * (weight + soft + by_ball / p.ball_mass), (0, 1)),
            jnp.max(jnp.abs(ball_change), 0) / p.ball_mass,
        )
        # A game stops by what happens in it, whatever games are beside it.
        going = going & (changed > near_enough)
        return (thrust, turned, fall), f + change, ball_f + ball_change, going, sweeps + 1

    def unsettled(carry: Any) -> Any:
        return jnp.any(carry[3]) & (carry[4] < SWEEPS)

    start = (free, jnp.zeros_like(gap), jnp.zeros_like(ball_gap), crowded, 0)
    found = jax.lax.while_loop(unsettled, sweep, start)[0]
    return jax.tree.map(lambda a, b: jnp.where(crowded, a, b), found, plain)


# Each of these gives the distance of points from a body, and the direction from it as a vector and
# what to divide it by. A quotient is computed once; products, for each of their readers.


def _from_point(offset: Vector, radius: Array) -> tuple[Array, Vector, Array]:
    """From a sphere around the origin."""
    square = _dot(offset, offset)
    apart = square > 0
    length = jnp.sqrt(jnp.where(apart, square, 1))
    x, y, z = offset
    return jnp.where(apart, length, 0) - radius, (x, y, jnp.where(apart, z, 1)), length


def _from_racket(p: Params, offset: Vector) -> tuple[Array, Vector, Array]:
    """From the racket, a cylinder about the drone's z axis.

    As MuJoCo's sphere and cylinder: where the point is above or below a face or beside the wall,
    the nearest of these; else the rim.
    """
    radius, half, height = p.racket[0], p.racket[1], p.racket[2]
    x, y, z = offset[0], offset[1], offset[2] - height
    square = x * x + y * y
    beside = square > 0
    distance = jnp.sqrt(jnp.where(beside, square, 1))
    x, up = jnp.where(beside, x, 1), jnp.where(z > 0, 1, -1).astype(z.dtype)
    over = jnp.abs(z) - half  # of the face
    wide = jnp.where(beside, distance, 0) - radius  # of the wall
    square = over * over + wide * wide
    at_corner = (over >= 0) & (wide >= 0) & (square > 0)
    at_face = ~at_corner & (over > wide)
    corner = jnp.sqrt(jnp.where(at_corner, square, 1))
    outwards = jnp.where(at_corner, wide / distance, jnp.where(at_face, 0, 1))
    upwards = jnp.where(at_corner, over, jnp.where(at_face, 1, 0)) * up
    gap = jnp.where(at_corner, corner, jnp.maximum(over, wide))
    length = jnp.where(at_corner, corner, jnp.where(at_face, 1, distance))
    return gap, (outwards * x, outwards * y, upwards), length


def _from_net(p: Params, point: Any) -> tuple[Array, Vector, Array]:
    """From the net, a box; points are [...] or [D, ...]."""
    middle, half = p.net[0], p.net[1]
    away = tuple(c - middle[i] for i, c in enumerate(point))
    over = tuple(jnp.abs(c) - half[i] for i, c in enumerate(away))
    outside = tuple(jnp.maximum(c, 0) for c in over)
    square = _dot(outside, outside)
    is_out = square > 0
    length = jnp.sqrt(jnp.where(is_out, square, 1))
    deepest = jnp.maximum(jnp.maximum(over[0], over[1]), over[2])
    # Inside the box, the nearest face pushes: the first one where two are as near.
    first = over[0] >= deepest
    second = ~first & (over[1] >= deepest)
    inside = (first, second, ~first & ~second)
    x, y, z = (
        jnp.where(is_out, o, i.astype(o.dtype)) * jnp.where(c > 0, 1, -1).astype(o.dtype)
        for c, o, i in zip(away, outside, inside, strict=True)
    )
    return jnp.where(is_out, length, deepest), (x, y, z), length


def _unit(found: tuple[Array, Vector, Array]) -> tuple[Array, Vector]:
    """(distance, direction) of what one of these gives."""
    x, y, z = (c / found[2] for c in found[1])
    return found[0], (x, y, z)
