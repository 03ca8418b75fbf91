"""MuJoCo's own engine in the place of `physics.advance`: the reference, and for the doubtful.

    engine = Engine(load_model("1v1"))
    bodies, touched = engine.advance(params, bodies, commands)      # also inside jax.jit

One game is stepped by `mujoco.mj_step`, a batch of them by `mujoco.batch` on all cores. Both run on
the host in double precision, from the state that they are given and nothing else: the solver is
started anew at each control step, so that the same state gives the same next one. Forces that are
not in the model (of drag, wind, downwash and the ground, `outside.py`) go in as `xfrc_applied`
at each physics step; which of two lags a rotor has (`Params.rise`) is set at each control step;
what was drawn for a game (`physics.randomise`) is written into its copy of the model. What the
gyroscopic torque of MuJoCo's Euler step lacks to its mean over the step (`physics.py`) goes in,
too, as `qfrc_applied`; with `Engine(model, "euler")` the step is MuJoCo's as it is.

`Engine.write` and `Engine.read` go between bodies and an `mujoco.MjData`, for MuJoCo's viewer and
for programs of one's own.
"""

from __future__ import annotations

import copy
import dataclasses
import threading
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import mujoco.batch
import numpy as np

from manyhands.core.env import Array, ConfigError
from manyhands.core.processes import usable_cores
from manyhands.envs.volleyball import model as models
from manyhands.envs.volleyball.outside import Outside, outside_forces
from manyhands.envs.volleyball.physics import (
    CONTACTS,
    FASTEST,
    FASTEST_TURN,
    INTEGRATORS,
    SUBSTEPS,
    Bodies,
    Params,
    Touched,
)
from manyhands.envs.volleyball.vectors import axes_of

# What `physics.randomise` changes and the model must be told.
_DRAWN = ("mass", "inertia", "power", "moment", "lag", "ball_mass", "damping")
# What it is told at each step.
_TOLD = (*Outside._fields, "rise", "fall")
# What of a simulation's state is read, and what is written: all that a step goes by.
_STATE = mujoco.mjtState
_MOVED = _STATE.mjSTATE_QPOS | _STATE.mjSTATE_QVEL | _STATE.mjSTATE_ACT
_APPLIED = _STATE.mjSTATE_QFRC_APPLIED | _STATE.mjSTATE_XFRC_APPLIED
_GIVEN = _MOVED | _STATE.mjSTATE_WARMSTART | _STATE.mjSTATE_CTRL | _APPLIED
_FIELDS = (
    "body_mass",
    "body_inertia",
    "actuator_gainprm",
    "actuator_gear",
    "actuator_dynprm",
    "pair_solref",
)


class Engine:
    """MuJoCo's engine on a copy of `model`, for single games and for batches of any size; with
    one of `physics.INTEGRATORS`."""

    def __init__(self, model: mujoco.MjModel, integrator: str = "gyroscopic"):
        if integrator not in INTEGRATORS:
            raise ConfigError(f"the integrators are {', '.join(INTEGRATORS)}, given {integrator!r}")
        self.integrator = integrator
        self._params = models.params_from_model(model)  # says what is wrong with it
        self.model = copy.copy(model)
        self._drawn_model = copy.copy(model)  # with what is drawn for single games
        self.drones = d = models.drone_count(model)
        self._data = mujoco.MjData(self.model)
        self._batches: dict[int, mujoco.batch.Batch] = {}
        self._drawn: dict[int, Any] = {}
        self._lock = threading.Lock()

        joints = [self.model.joint(name) for name in (*(f"drone{i}" for i in range(d)), "ball")]
        self._place = np.stack([j.qposadr[0] + np.arange(7) for j in joints])  # [D + 1, 7]
        self._speed = np.stack([j.dofadr[0] + np.arange(6) for j in joints])
        self._turning = self._speed[:d, 3:]
        self._body = np.array([j.bodyid[0] for j in joints])
        motors = [[self.model.actuator(f"rotor{i}_{j}") for j in range(4)] for i in range(d)]
        self._motor = np.array([[motor.id for motor in row] for row in motors])  # [D, 4]
        self._thrust = np.array([[motor.actadr[0] for motor in row] for row in motors])
        # Which pair and which sensor tell of each kind of contact.
        pairs = {
            frozenset((int(a), int(b))): k
            for k, (a, b) in enumerate(zip(model.pair_geom1, model.pair_geom2, strict=True))
        }
        kinds = models.contact_geoms(d)
        self._pair_kind = np.zeros(self.model.npair, int)
        self._sensor: dict[str, np.ndarray] = {}
        for k, kind in enumerate(CONTACTS):
            found = []
            for one, other in kinds[kind]:
                geoms = frozenset((model.geom(one).id, model.geom(other).id))
                self._pair_kind[pairs[geoms]] = k
                sensor = models._id(model, "sensor", f"{one} {other}")
                found.append(int(model.sensor_adr[sensor]))
            self._sensor[kind] = np.array(found, int)
        # Of single games: where the numbers of `Bodies` are in what `_MOVED` and `_GIVEN` tell, the
        # latter when nothing moves, and how much each number may be.
        nq, nv, na = self.model.nq, self.model.nv, self.model.na
        parts = [self._place[:d, :3], self._place[:d, 3:], nq + self._speed[:d, :3]]
        parts += [nq + self._turning, nq + nv + self._thrust, self._place[d, :3]]
        parts += [nq + self._speed[d, :3]]
        self._spots = np.concatenate([part.ravel() for part in parts])
        self._control = nq + nv + na + nv + self._motor.ravel()
        self._still = np.zeros(mujoco.mj_stateSize(self.model, int(_GIVEN)))
        self._still[self._place[d, 3]] = 1  # the ball's quaternion, which never turns
        limits = (np.inf, np.inf, FASTEST, FASTEST_TURN, np.inf, np.inf, FASTEST)
        self._limits = np.repeat(limits, [part.size for part in parts])
        self._moved = np.empty(nq + nv + na)
        self._sensors = np.concatenate(list(self._sensor.values()))
        self._gyroscopes: dict[int, Gyroscopes] = {}
        self._gyroscope = Gyroscope(self._turning, self.model.opt.timestep)
        self._gyroscope.told(np.asarray(self._params.inertia))
        self._meetings = np.array([(i, j) for j in range(d) for i in range(j)], int).reshape(-1, 2)
        if self.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR:
            raise ConfigError("the model's sensors, which tell of contacts, are switched off")

    # ---- bodies and MjData -----------------------------------------------------------------------

    def write(self, data: mujoco.MjData, bodies: Bodies) -> None:
        """Put the bodies of one game into `data`, and start its solver anew."""
        self._write(data.qpos, data.qvel, data.act, jax.tree.map(np.asarray, bodies))
        data.qacc_warmstart[:] = 0
        data.xfrc_applied[:] = 0
        data.qfrc_applied[:] = 0

    def read(self, data: mujoco.MjData) -> Bodies:
        """The bodies in `data`, in double precision."""
        return self._read(data.qpos, data.qvel, data.act)

    def _write(self, qpos: np.ndarray, qvel: np.ndarray, act: np.ndarray, b: Bodies) -> None:
        """Into the arrays of one simulation, or of a batch, whose axis they have first."""
        d = self.drones
        first = lambda a: np.moveaxis(a, -1, 0) if qpos.ndim == 2 else a  # noqa: E731
        qpos[..., self._place[:d, :3]] = first(b.position)
        qpos[..., self._place[:d, 3:]] = first(b.quaternion)
        qpos[..., self._place[d, :3]] = first(b.ball)
        qpos[..., self._place[d, 3:]] = (1, 0, 0, 0)  # without friction it never turns
        qvel[..., self._speed[:d, :3]] = first(b.velocity)
        qvel[..., self._speed[:d, 3:]] = first(b.rates)
        qvel[..., self._speed[d, :3]] = first(b.ball_velocity)
        qvel[..., self._speed[d, 3:]] = 0
        act[..., self._thrust] = first(b.thrust)

    def _read(self, qpos: np.ndarray, qvel: np.ndarray, act: np.ndarray) -> Bodies:
        d = self.drones
        last = lambda a: np.moveaxis(a, 0, -1) if qpos.ndim == 2 else a  # noqa: E731
        return Bodies(
            position=last(qpos[..., self._place[:d, :3]]),
            quaternion=last(qpos[..., self._place[:d, 3:]]),
            velocity=last(qvel[..., self._speed[:d, :3]]),
            rates=last(qvel[..., self._speed[:d, 3:]]),
            thrust=last(act[..., self._thrust]),
            ball=last(qpos[..., self._place[d, :3]]),
            ball_velocity=last(qvel[..., self._speed[d, :3]]),
        )

    # ---- one control step ------------------------------------------------------------------------

    def advance(
        self, params: Params, bodies: Bodies, commands: Array, substeps: int = SUBSTEPS
    ) -> tuple[Bodies, Touched]:
        """`physics.advance`, computed by MuJoCo; differs from it by rounding (tests/oracles/)."""
        batch, dtype = bodies.ball.shape[1:], bodies.ball.dtype
        if len(batch) > 1:
            raise ConfigError(f"MuJoCo's engine takes one batch axis, given {len(batch)}")
        # One array in and one out: each further one costs as much as a physics step.
        leaves: list[Any]
        form: Any
        leaves, form = jax.tree.flatten(bodies)
        sizes = [leaf.ndim - len(batch) for leaf in leaves]
        shapes = [leaf.shape[:n] for leaf, n in zip(leaves, sizes, strict=True)]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])

        def joined(parts: Any, of: Any) -> Any:
            return of.concatenate([part.reshape(-1, *batch) for part in parts])

        def parted(array: Any) -> Any:
            parts = zip(np.split(array, ends[:-1]), shapes, strict=True)
            return form.unflatten([part.reshape(*shape, *batch) for part, shape in parts])

        told = {name: getattr(params, name) for name in (*_DRAWN, *_TOLD)}
        told = {name: value for name, value in told.items() if value is not None}
        fixed = {n: np.asarray(v) for n, v in told.items() if not isinstance(v, jax.core.Tracer)}
        traced = {name: value for name, value in told.items() if name not in fixed}

        def host(state: Any, commands: Any, drawn: Any) -> Any:
            given = np.asarray(state, np.float64)
            drawn = fixed | {n: np.asarray(v, np.float64) for n, v in drawn.items()}
            control = (np.asarray(commands, np.float64) + 1) / 2
            control = np.minimum(np.maximum(control, 0), 1)
            with self._lock:
                if not batch:
                    return self._step_one(given, control, drawn, substeps).astype(dtype)
                moved, touched = self._step_many(parted(given), control, drawn, substeps)
            parts = [np.asarray(leaf, dtype) for leaf in (*jax.tree.leaves(moved), *touched)]
            return joined(parts, np)

        contacts = sum(map(len, self._sensor.values()))
        shape = jax.ShapeDtypeStruct((int(ends[-1]) + contacts, *batch), dtype)
        state = joined(leaves, jnp)
        out = jax.pure_callback(host, shape, state, commands, traced, vmap_method="sequential")
        return self._split(out, ends, shapes, form, batch)

    def _split(self, out: Array, ends: Any, shapes: Any, form: Any, batch: Any) -> Any:
        """(bodies, touched) from what the host gave."""
        starts = [0, *ends[:-1]]
        leaves = [
            out[a:b].reshape(*shape, *batch)
            for a, b, shape in zip(starts, ends, shapes, strict=True)
        ]
        found, start = {}, int(ends[-1])
        for kind in CONTACTS:
            found[kind] = out[start : start + len(self._sensor[kind])] > 0
            start += len(self._sensor[kind])
        d = self.drones
        which = np.zeros((d, d), int)
        which[tuple(self._meetings.T)] = which[tuple(self._meetings.T[::-1])] = np.arange(
            len(self._meetings)
        )
        if d == 1:
            collided = jnp.zeros((1, 1, *batch), bool)
        else:
            others = ~np.eye(d, dtype=bool).reshape(d, d, *[1] * len(batch))
            collided = found["hull_hull"][which] & others
        touched = Touched(
            racket=found["ball_racket"],
            hull=found["ball_hull"],
            net=found["ball_net"][0],
            floor=found["ball_floor"][0],
            grounded=found["hull_floor"],
            netted=found["hull_net"],
            collided=collided,
        )
        return form.unflatten(leaves), touched

    # ---- on the host -----------------------------------------------------------------------------

    def _step_one(
        self, state: np.ndarray, control: np.ndarray, drawn: dict[str, np.ndarray], substeps: int
    ) -> np.ndarray:
        """f[...]: the bodies' numbers and whether each sensor found its contact in any physics
        step, by kind. Of single games a call of NumPy costs as much as a drone's physics."""
        model, data = self._drawn_model, self._data
        if self._new(0, drawn):
            self._tell({name: getattr(model, name) for name in _FIELDS}, drawn)
            mujoco.mj_setConst(model, data)
            self._gyroscope.told(drawn["inertia"])
        given = self._still.copy()
        given[self._spots], given[self._control] = state, control.ravel()
        mujoco.mj_setState(model, data, given, int(_GIVEN))
        if "rise" in drawn:
            thrust = state[-6 - control.size : -6].reshape(control.shape)
            model.actuator_dynprm[self._motor, 0] = self._lags(thrust, control, drawn)
        qvel, applied, sensordata = data.qvel, data.qfrc_applied, data.sensordata
        sensed = np.zeros(model.nsensordata)
        outside, gyroscopic = self._felt(drawn), self.integrator == "gyroscopic"
        for _ in range(substeps):
            if outside:
                force = self._outside(self.read(data), drawn)
                data.xfrc_applied[self._body, :3] = force
            if gyroscopic:
                self._gyroscope.missing(qvel, applied)
            mujoco.mj_step(model, data)
            sensed += sensordata
        mujoco.mj_getState(model, data, self._moved, int(_MOVED))
        moved = np.minimum(np.maximum(self._moved[self._spots], -self._limits), self._limits)
        return np.concatenate([moved, sensed[self._sensors]])

    def _step_many(
        self, bodies: Bodies, control: np.ndarray, drawn: dict[str, np.ndarray], substeps: int
    ) -> tuple[Bodies, list[np.ndarray]]:
        """(bodies, whether each sensor found its contact in any physics step), by kind."""
        size = bodies.ball.shape[-1]
        batch = self._batches.get(size)
        if batch is None:
            batch = self._batches[size] = mujoco.batch.Batch(self.model, size, usable_cores())
        if self._new(size, drawn):
            self._tell({name: batch.expand(name) for name in _FIELDS}, drawn)
            batch.set_const()
            self._gyroscopes.pop(size, None)
        qpos, qvel, act = batch.bind("qpos"), batch.bind("qvel"), batch.bind("act")
        self._write(qpos, qvel, act, bodies)
        batch.bind("qacc_warmstart")[:] = 0
        batch.bind("time")[:] = 0
        batch.bind("ctrl")[:, self._motor] = np.moveaxis(control, -1, 0)
        if "rise" in drawn:
            lags = np.moveaxis(self._lags(bodies.thrust, control, drawn), -1, 0)
            batch.expand("actuator_dynprm")[:, self._motor, 0] = lags
        outside = self._felt(drawn)
        gyroscopes = None
        if self.integrator == "gyroscopic":
            if size not in self._gyroscopes:
                step, inertia = self.model.opt.timestep, drawn["inertia"]
                self._gyroscopes[size] = Gyroscopes(self._turning, step, inertia)
            gyroscopes, applied = self._gyroscopes[size], batch.bind("qfrc_applied")
        each = outside or gyroscopes is not None  # something to apply at each physics step
        sensed = np.zeros((size, self.model.nsensordata))
        for _ in range(substeps if each else 1):
            if gyroscopes is not None:
                gyroscopes.missing(qvel, applied)
            if outside:
                force = self._outside(self._read(qpos, qvel, act), drawn)
                batch.bind("xfrc_applied")[:, self._body, :3] = np.moveaxis(force, -1, 0)
            seen = batch.rollout(1 if each else substeps, record=("sensordata",))
            sensed += seen["sensordata"].sum(1)
        moved = self._read(qpos, qvel, act)
        limits = {"velocity": FASTEST, "ball_velocity": FASTEST, "rates": FASTEST_TURN}
        slowed = {name: np.clip(getattr(moved, name), -m, m) for name, m in limits.items()}
        found = [sensed[:, self._sensor[kind]].T for kind in CONTACTS]
        return dataclasses.replace(moved, **slowed), found

    def _new(self, size: int, drawn: dict[str, np.ndarray]) -> bool:
        """Whether the model of single games (size 0) or of a batch has other numbers now."""
        known = self._drawn.get(size)
        if known is None:
            known = {name: getattr(self._params, name) for name in _DRAWN} | {"two lags": False}
        # Two lags leave one of them in the model, which is no longer the drawn one.
        lags = "rise" in drawn
        if known["two lags"] == lags and all(known[name] is drawn[name] for name in _DRAWN):
            return False
        self._drawn[size] = {name: drawn[name] for name in _DRAWN} | {"two lags": lags}
        same = all(np.array_equal(known[name], drawn[name]) for name in _DRAWN)
        return not same or (known["two lags"] and not lags)

    def _tell(self, fields: dict[str, np.ndarray], drawn: dict[str, np.ndarray]) -> None:
        """Write what was drawn into fields of the model, whose batch axis, if any, comes first."""
        many = fields["body_mass"].ndim == 2

        def put(name: str, axes: int) -> np.ndarray:
            value = drawn[name]
            return np.moveaxis(value, -1, 0) if many and value.ndim > axes else value

        drones, ball = self._body[:-1], self._body[-1]
        ball_mass = put("ball_mass", 0)
        share = ball_mass / self.model.body_mass[ball]
        fields["body_inertia"][..., ball, :] = np.multiply.outer(
            share, self.model.body_inertia[ball]
        )
        fields["body_mass"][..., ball] = ball_mass
        fields["body_mass"][..., drones] = put("mass", 1)
        fields["body_inertia"][..., drones, :] = put("inertia", 2)
        fields["actuator_gainprm"][..., self._motor, 0] = put("power", 1)[..., None]
        moment = put("moment", 1)[..., None] * self._params.spin
        fields["actuator_gear"][..., self._motor, 5] = moment
        fields["actuator_dynprm"][..., self._motor, 0] = put("lag", 1)[..., None]
        damping = put("damping", 1) * self._params.impedance
        fields["pair_solref"][..., 1] = -damping[..., self._pair_kind]

    @staticmethod
    def _felt(drawn: dict[str, np.ndarray]) -> bool:
        """Whether forces act that are not in the model."""
        return any(name in drawn for name in Outside._fields)

    @staticmethod
    def _lags(thrust: Any, control: np.ndarray, drawn: dict[str, np.ndarray]) -> np.ndarray:
        """f[D, 4, ...], s: the lag of each rotor in this control step."""
        rise, fall = (
            drawn[name].reshape(-1, 1, *drawn[name].shape[1:] or (1,) * (control.ndim - 2))
            for name in ("rise", "fall")
        )
        return np.where(control > np.asarray(thrust), rise, fall)

    def _outside(self, bodies: Bodies, drawn: dict[str, np.ndarray]) -> np.ndarray:
        """f[D + 1, 3, ...]: the forces on the drones and on the ball that are not in the model."""
        axes = bodies.ball.ndim  # of numbers for each drone, with those of the batch

        def lift(name: str) -> Any:
            value = drawn.get(name)
            return (
                None if value is None else value.reshape(value.shape + (1,) * (axes - value.ndim))
            )

        def split(array: np.ndarray) -> tuple[np.ndarray, ...]:
            return tuple(np.moveaxis(array, 1, 0))

        axis = tuple(row[2] for row in axes_of(split(bodies.quaternion)))
        thrust = lift("power") * bodies.thrust.sum(1)
        x, v = split(bodies.position), split(bodies.velocity)
        outside = Outside(*(lift(name) for name in Outside._fields))
        force = np.stack(outside_forces(outside, x, v, axis, thrust, np), 1)
        ball = np.zeros_like(bodies.ball)
        if outside.wind is not None and self._params.ball_drag is not None:
            # The model's own drag is that of still air.
            still, through = bodies.ball_velocity, bodies.ball_velocity - outside.wind
            speeds = [np.sqrt((v * v).sum(0)) for v in (still, through)]
            ball = self._params.ball_drag * (speeds[0] * still - speeds[1] * through)
        return np.concatenate([force, ball[None]])


def _half_gains(inertia: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """f[3, ...] each, of moments of inertia f[3, ...], kg m²: what the products of two rates are
    multiplied by for the gains of half a step, and what turns these into torques, N m."""
    i, j, k = inertia
    changes = np.stack([(j - k) / i, (k - i) / j, (i - j) / k])
    return step / 2 * changes, inertia / (3 * step)


class Gyroscopes:
    """What MuJoCo's gyroscopic torque on a drone, w x (I w), lacks to its mean over the step
    (`physics.gyration`), N m about the body's axes: for a batch of games."""

    def __init__(self, turning: np.ndarray, step: float, inertia: np.ndarray):
        """`turning`: int[D, 3], where a drone's rates are in `qvel`; `step`: s; `inertia`: f[D, 3],
        or f[D, 3, B], kg m²."""
        inertia = inertia[:, :, None] if inertia.ndim == 2 else inertia
        self._places = turning.T
        self._factors, self._scales = _half_gains(inertia.swapaxes(0, 1), step)

    def missing(self, qvel: np.ndarray, applied: np.ndarray) -> None:
        """Write what is missing at the rates in `qvel`, f[B, ...], into `applied`."""
        rates = qvel.T[self._places]  # [3, D, B]
        ring = np.empty((5, *rates.shape[1:]))  # x, y, z and again x, y

        def gains(at: np.ndarray | None = None) -> np.ndarray:
            """Half a step's, at the rates and what is added to them."""
            if at is None:
                ring[:3] = rates
            else:
                np.add(rates, at, out=ring[:3])
            ring[3:] = ring[:2]
            products = ring[1:4] * ring[2:]
            products *= self._factors
            return products

        first = gains()
        second = gains(first)
        third = gains(second)
        second += third
        third += third  # the fourth stage is a whole step ahead
        total = gains(third)
        # (k1 + 2 k2 + 2 k3 + k4) / 6, less k1, which MuJoCo's step has
        second += second
        total += second
        first *= 5
        total -= first
        total *= self._scales
        applied.T[self._places] = total


class Gyroscope:
    """The same for the drones of a single game, in Python's own floats: of a few drones one call
    of NumPy costs as much as a Runge-Kutta step of two of them."""

    def __init__(self, turning: np.ndarray, step: float):
        """`turning`: int[D, 3], where a drone's rates are in `qvel`; `step`: s."""
        self._step, self._turning = step, turning.tolist()
        self._drones: list[tuple[Any, ...]] = []

    def told(self, inertia: np.ndarray) -> None:
        """Take these moments of inertia, f[D, 3], kg m²."""
        factors, scales = (part.T.tolist() for part in _half_gains(inertia.T, self._step))
        rows = zip(self._turning, factors, scales, strict=True)
        self._drones = [(*at, *factor, *scale) for at, factor, scale in rows]

    def missing(self, qvel: np.ndarray, applied: np.ndarray) -> None:
        """Write what is missing at the rates in `qvel` into `applied`, N m."""
        rates = qvel.tolist()
        for i, j, k, a, b, c, along, across, up in self._drones:
            x, y, z = rates[i], rates[j], rates[k]
            # Half a step's gains: the fourth stage is a whole step ahead.
            x1, y1, z1 = a * y * z, b * z * x, c * x * y
            u, v, w = x + x1, y + y1, z + z1
            x2, y2, z2 = a * v * w, b * w * u, c * u * v
            u, v, w = x + x2, y + y2, z + z2
            x3, y3, z3 = a * v * w, b * w * u, c * u * v
            u, v, w = x + x3 + x3, y + y3 + y3, z + z3 + z3
            x3, y3, z3 = x2 + x3, y2 + y3, z2 + z3
            # (k1 + 2 k2 + 2 k3 + k4) / 6, less k1, which MuJoCo's step has
            applied[i] = (x3 + x3 + a * v * w - 5 * x1) * along
            applied[j] = (y3 + y3 + b * w * u - 5 * y1) * across
            applied[k] = (z3 + z3 + c * u * v - 5 * z1) * up
