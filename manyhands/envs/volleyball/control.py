"""Flight controllers: from wanted velocities, attitudes and rates to the four rotors.

Cascaded, as on real quadrotors: a position controller asks for a velocity, a velocity controller
for an attitude and a thrust, an attitude controller for body rates, a rate controller for torques,
and the model's mixer for rotor forces. The lag of the motors, which is known, is undone as far as
their limits allow. All of it is proportional and remembers nothing: there is no steady error to
integrate away but what `physics.randomise` makes of the drone.

`from_rates`, `from_attitude`, `from_velocity` and `from_position` take drones as rows, `[D, ...]`,
with any batch axes last, as `physics.advance` does. The helpers take vectors with the component
axis first, `[3, ...]`, whatever follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax.numpy as jnp

from manyhands.core.env import Array

if TYPE_CHECKING:
    from manyhands.envs.volleyball.physics import Bodies, Params

Vector = Array | Sequence[Array]  # [3, ...], or its components [...]

CONTROL_STEP = 0.02  # s, of the environment
RATE_GAINS = (15.0, 15.0, 5.0)  # 1/s, of the rates about x, y and z
ATTITUDE_GAIN = 6.8  # 1/s
VELOCITY_GAIN = 3.0  # 1/s
POSITION_GAIN, HEADING_GAIN = 1.2, 1.2  # 1/s
MAX_SPEED, MAX_YAW_RATE = 5.0, 1.0  # m/s, rad/s, that the position controller asks for
MAX_RATE = 3.4  # rad/s, that the attitude controller asks for
MAX_TILT = 0.7  # rad, that the velocity controller asks for
MAX_TURN = 36.0  # rad/s², that the rate controller asks for about x and y
MAX_YAW = 0.1  # N m: yawing must leave the rotors enough of their range for tilting


def from_rates(
    params: Params, bodies: Bodies, rates: Array, thrust: Array, max_yaw: float = MAX_YAW
) -> Array:
    """Rotor commands f32[D, 4] for body rates f32[D, 3] (rad/s) and a collective thrust f32[D],
    0 to 1 of the greatest. Where the rotors cannot give both, tilting goes before thrust;
    `max_yaw` (N m) is the most about z."""
    batch = bodies.ball.ndim - 1
    commands = rotors(
        jnp.moveaxis(rates, 1, 0),
        thrust,
        jnp.moveaxis(bodies.rates, 1, 0),
        jnp.moveaxis(bodies.thrust, 1, 0),
        inertia=[_over(params.inertia[:, i], 1, batch) for i in range(3)],
        power=_over(params.power, 1, batch),
        lag=_over(params.lag, 1, batch),
        mixer=params.mixer,
        max_yaw=max_yaw,
    )
    return jnp.moveaxis(commands, 0, 1)


def from_attitude(
    params: Params,
    bodies: Bodies,
    normal: Array,
    thrust: Array,
    yaw_rate: Array | float = 0.0,
    max_yaw: float = MAX_YAW,
) -> Array:
    """Rotor commands f32[D, 4] that turn each body's z axis into `normal` f32[D, 3] (a unit vector
    in the world), at a collective thrust f32[D], 0 to 1 of the greatest; `yaw_rate` is in rad/s."""
    x, y = rates_to(jnp.moveaxis(bodies.quaternion, 1, 0), jnp.moveaxis(normal, 1, 0))
    rates = jnp.stack([x, y, jnp.broadcast_to(yaw_rate, x.shape)], 1)
    return from_rates(params, bodies, rates, thrust, max_yaw)


def from_velocity(
    params: Params, bodies: Bodies, velocity: Array, yaw_rate: Array, max_yaw: float = MAX_YAW
) -> Array:
    """Rotor commands f32[D, 4] for velocities f32[D, 3] (m/s, in the world) and rates of yaw
    f32[D] (rad/s)."""
    batch = bodies.ball.ndim - 1
    gravity = _over(params.gravity, 0, batch)
    ceiling = 4 * _over(params.power, 1, batch) / _over(params.mass, 1, batch)  # m/s²
    push = [VELOCITY_GAIN * (velocity[:, i] - bodies.velocity[:, i]) for i in range(3)]
    normal, thrust = attitude_for(
        push, gravity, ceiling, jnp.moveaxis(bodies.quaternion, 1, 0), MAX_TILT
    )
    return from_attitude(params, bodies, jnp.stack(normal, 1), thrust, yaw_rate, max_yaw)


def from_position(
    params: Params,
    bodies: Bodies,
    place: Array,
    heading: Array,
    max_yaw: float = MAX_YAW,
    max_speed: Array | float = MAX_SPEED,
) -> Array:
    """Rotor commands f32[D, 4] to a place f32[D, 3] (m, in the world) and a heading f32[D] (rad,
    of the nose from the world's x axis), at `max_speed` (m/s) at most."""
    way = jnp.moveaxis(place - bodies.position, 1, 0)
    speed = jnp.minimum(POSITION_GAIN, max_speed / length(way))
    w, x, y, z = jnp.moveaxis(bodies.quaternion, 1, 0)
    error = heading - jnp.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    turn = HEADING_GAIN * jnp.arctan2(jnp.sin(error), jnp.cos(error))  # the shorter way round
    yaw_rate = jnp.clip(turn, -MAX_YAW_RATE, MAX_YAW_RATE)
    return from_velocity(params, bodies, jnp.moveaxis(speed * way, 0, 1), yaw_rate, max_yaw)


def _over(leaf: Array, axes: int, batch: int) -> Array:
    """A leaf of `Params`, whose first `axes` axes are its own, broadcast to `batch` batch axes."""
    return jnp.reshape(leaf, leaf.shape + (1,) * (axes + batch - leaf.ndim))


# ---- with the component axis first ---------------------------------------------------------------
# Vectors are arrays [3, ...] or their three components. What is computed from others comes as its
# components: a compiler that joins a stack with what is made of it asks of every number which
# component it is, and computes all of them for each, again at the next stack.


def dot(a: Vector, b: Vector) -> Array:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def length(a: Vector) -> Array:
    return jnp.sqrt(dot(a, a) + 1e-12)


def body_axes(quaternion: Array) -> tuple[Vector, Vector, Vector]:
    """The body's x, y and z axes in the world, of quaternions f32[4, ...]."""
    w, x, y, z = quaternion
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )


def rotors(
    wanted: Vector,
    thrust: Array,
    rates: Array,
    now: Array,
    *,
    inertia: Sequence[Array],
    power: Array,
    lag: Array,
    mixer: Array,
    max_yaw: float = MAX_YAW,
) -> Array:
    """Rotor commands f32[4, ...] in [-1, 1].

    Args:
        wanted, rates: rad/s about the body's axes, f32[3, ...].
        thrust: f32[...], of all rotors, 0 to 1. now: f32[4, ...], of each rotor.
        inertia (kg m², three), power (N), lag (s), mixer (f32[4, 4]): as in `physics.Params`.
        max_yaw: N m, the most about z.
    """
    torque = []
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        turn = jnp.clip(RATE_GAINS[i] * (wanted[i] - rates[i]), -MAX_TURN, MAX_TURN)
        # What turning about two axes does to the third is made up for.
        torque.append(inertia[i] * turn + (inertia[k] - inertia[j]) * rates[j] * rates[k])
    forces = (thrust * 4 * power, torque[0], torque[1], jnp.clip(torque[2], -max_yaw, max_yaw))
    shares = [sum(mixer[i, k] * forces[k] for k in range(4)) / power for i in range(4)]
    top = jnp.maximum(jnp.maximum(shares[0], shares[1]), jnp.maximum(shares[2], shares[3]))
    shares = [share - jnp.maximum(top - 1, 0) for share in shares]
    low = jnp.minimum(jnp.minimum(shares[0], shares[1]), jnp.minimum(shares[2], shares[3]))
    follow = 1 - jnp.exp(-CONTROL_STEP / lag)
    commands = []
    for i, share in enumerate(shares):
        share = jnp.clip(share - jnp.minimum(low, 0), 0, 1)
        commands.append(jnp.clip(2 * (now[i] + (share - now[i]) / follow) - 1, -1, 1))
    return jnp.stack(commands)


def rates_to(quaternion: Array, normal: Vector) -> tuple[Array, Array]:
    """Rates about the body's x and y axes (rad/s) that turn its z axis into `normal`."""
    x, y, z = body_axes(quaternion)
    error = tuple(ATTITUDE_GAIN * part for part in cross(z, normal))
    # The sine of the angle falls again beyond a right angle; a drone upside down must still turn.
    behind = dot(z, normal) < 0
    scale = jnp.where(behind, ATTITUDE_GAIN / length(error), 1.0)
    return (
        jnp.clip(scale * dot(error, x), -MAX_RATE, MAX_RATE),
        jnp.clip(scale * dot(error, y), -MAX_RATE, MAX_RATE),
    )


def attitude_for(
    push: Vector, gravity: Array, ceiling: Array, quaternion: Array, tilt: float
) -> tuple[Vector, Array]:
    """The body's z axis and the thrust (0 to 1) that accelerate a drone by `push` (m/s²): height
    goes before the rest, and the axis within `tilt` (rad) of upright.

    Args:
        gravity: m/s².
        ceiling: m/s², what all rotors together can give.
        quaternion: f32[4, ...], the attitude now, which the thrust acts along.
    """
    up = jnp.clip(push[2] + gravity, 0.6 * gravity, ceiling)
    across = jnp.sqrt(push[0] ** 2 + push[1] ** 2 + 1e-12)
    shrink = jnp.minimum(1.0, jnp.tan(tilt) * up / across)
    force = push[0] * shrink, push[1] * shrink, up
    size, upright = length(force), jnp.maximum(body_axes(quaternion)[2][2], 0.3)
    normal = tuple(part / size for part in force)
    return normal, jnp.clip(up / (upright * ceiling), 0.05, 1.0)
