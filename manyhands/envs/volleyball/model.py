"""The courts and drones of volleyball as MuJoCo models: the only source of physical numbers.

    python -m manyhands.envs.volleyball.model          # writes manyhands/assets/volleyball/*.xml

There is one model for each size of teams (`MODELS`) and each ball (`BALLS`). `load_model` compiles
one, `params_from_model` reads out of it what `physics.py` computes with.

Bodies, from VolleyBots (Xu et al., "VolleyBots: A Testbed for Multi-Drone Volleyball Game
Combining Motion Control and Strategic Play", 2025): the drone is an Iris quadrotor, with its
published mass, inertia, rotors and motors, but for its inertia about z, 0.0977 kg m², which no
rigid body with its other two could have (a moment is at most the sum of the two others). On top it
carries a round racket, below it a hull that stands for its body. The ball of that work weighs 5 g
and meets no air; `real` has the size and weight of the game's rules, and the drag of a sphere.

A contact gives the share e of the speed back because it turns the velocity around in one step:
MuJoCo's reference acceleration is -b v in the direct format `solref="0 -b d"`, and
b = (1 + e) / (h d) makes v + h d a_ref = -e v. So the numbers are made for one timestep h, and
`params_from_model` refuses a model whose timestep has been changed alone.
"""

from __future__ import annotations

import functools
import importlib.resources
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.env import ConfigError
from manyhands.envs.volleyball.physics import CONTACTS, ELASTIC, Params

if TYPE_CHECKING:
    import mujoco


class Court(NamedTuple):
    """What a model is about.

    Attributes:
        length, width: m.
        starts: where the near team's drones start, (x, y, z) in m.
        far_team: whether there is a far team, too, which stands the other way round.
        server: which drone of a team serves.
        drop: how far above the server the ball is let go, m.
        net: where the net stands, x in m: far off in worlds that have none.
    """

    length: float
    width: float
    starts: tuple[tuple[float, float, float], ...]
    far_team: bool
    server: int
    drop: float
    net: float = 0.0


MODELS = {
    "solo": Court(18, 9, ((4.5, 0, 2),), False, 0, 2),
    "pair": Court(18, 9, ((4.5, -2.5, 2), (4.5, 2.5, 2)), False, 0, 2),
    "1v1": Court(6, 3, ((1.5, 0, 2),), True, 0, 1.5),
    "3v3": Court(12, 6, ((3, -1.5, 2), (3, 1.5, 2), (6, 0, 2)), True, 2, 3),
    "6v6": Court(
        18,
        9,
        ((3, -3, 2), (3, 0, 2), (3, 3, 2), (6, -3, 2), (9, 0, 2), (6, 3, 2)),
        True,
        4,
        3,
    ),
}
# Of each ball: mass (kg), radius (m), drag coefficient of a sphere (0 where there is no air).
BALLS = {"volleybots": (0.005, 0.1, 0.0), "real": (0.27, 0.105, 0.47)}
AIR = 1.2  # kg/m³

TIMESTEP = 0.005  # s
NET_HEIGHT, NET_HALF_THICKNESS = 2.43, 0.02  # m
RESTITUTION = 0.8  # of the ball on rackets, hulls and the floor
NET_RESTITUTION = 0.2  # of the ball on the net
IMPEDANCE = 0.999
RECOVERY = 0.2  # share of an overlap of drones, floor and net that a step takes away

MASS, INERTIA = 1.52, (0.0347563, 0.0458929, 0.0806)  # kg, kg m²
ROTORS = ((0.22, -0.13), (-0.20, 0.13), (0.22, 0.13), (-0.20, -0.13))  # m
SPINS = (-1, -1, 1, 1)  # sense of a rotor's moment on the drone
KF, KM, FASTEST = 8.54858e-6, 1.3677728816e-7, 838.0  # N s², N m s², rad/s
LAG = 0.0356  # s
RACKET = (0.2, 0.02, 0.06)  # m: radius, half thickness, height of the middle
HULL = (0.15, -0.13)  # m: radius, height of the middle: a drone that stands is 0.28 m high
DRAG = 0.2  # kg/s, of a drone, where it is switched on
DOWNWASH = (2.0, 0.3)  # spread and fading (1/m), where it is switched on


class Airframe(NamedTuple):
    """A quadrotor.

    Attributes:
        mass, inertia: kg, kg m² about the body's axes.
        rotors, spins: places (x, y) in m, and senses of a rotor's moment on the drone.
        greatest, moment: N of one rotor, and m: its moment per thrust.
        lag: s, time constant of the thrust.
        racket: m: radius, half thickness, height of the middle.
        hull: m: radius, height of the middle.
        drag: kg/s, where it is switched on.
        propeller: m, the radius of a rotor in pictures.
        yaw: N m, the most that controllers ask for about z.
    """

    mass: float
    inertia: tuple[float, float, float]
    rotors: tuple[tuple[float, float], ...]
    spins: tuple[int, ...]
    greatest: float
    moment: float
    lag: float
    racket: tuple[float, float, float]
    hull: tuple[float, float]
    drag: float
    propeller: float
    yaw: float


_ARM = 0.046 / math.sqrt(2)  # m, of a Crazyflie, along x and y
AIRFRAMES = {
    "iris": Airframe(
        MASS, INERTIA, ROTORS, SPINS, KF * FASTEST**2, KM / KF, LAG, RACKET, HULL, DRAG, 0.12, 0.1
    ),
    # Crazyflie 2.0, as identified by Foerster, "System Identification of the Crazyflie 2.0 Nano
    # Quadrocopter", ETH Zurich, 2015: inertia, thrust at full command (2.130295e-11 u² +
    # 1.032633e-6 u + 5.484560e-4 N at u = 65535), moment per thrust, the pole of 0.9695404 at
    # 500 Hz from command to thrust, and drag (9.1785e-7 kg/rad times the rotors' speeds, here of
    # hovering: 4 times 1863 rad/s). Racket and hull are those of the Iris, made smaller.
    "crazyflie": Airframe(
        mass=0.027,
        inertia=(16.571710e-6, 16.655602e-6, 29.261652e-6),
        rotors=((_ARM, -_ARM), (-_ARM, _ARM), (_ARM, _ARM), (-_ARM, -_ARM)),
        spins=SPINS,
        greatest=2.130295e-11 * 65535**2 + 1.032633e-6 * 65535 + 5.484560e-4,
        moment=0.005964552,
        lag=-1 / (500 * math.log(0.9695404)),
        racket=(0.08, 0.004, 0.02),
        hull=(0.04, -0.03),
        drag=9.1785e-7 * 4 * 1863,
        propeller=0.023,
        yaw=0.001,
    ),
}


# ---- writing -------------------------------------------------------------------------------------


def mjcf(
    court: str | Court,
    ball: str = "volleybots",
    timestep: float = TIMESTEP,
    airframe: str = "iris",
) -> str:
    """The model of a court, one of `MODELS` or another one, as MJCF text, with contacts made for
    `timestep` (s)."""
    frame = _airframe(airframe)
    name = court if isinstance(court, str) else "drones"
    length, width, starts, far_team, server, drop, net = _court(court)
    mass, radius, drag = _ball(ball)
    if not (isinstance(timestep, (int, float)) and 1e-5 <= timestep <= 0.01):
        raise ConfigError(f"timestep is a number of seconds from 1e-5 to 0.01, given {timestep!r}")
    half = NET_HEIGHT / 2
    greatest, lag, (wide, low) = frame.greatest, frame.lag, frame.hull
    disk = (frame.propeller, frame.propeller / 30)
    places = [(x, y, z, False) for x, y, z in starts]
    places += [(-x, -y, z, True) for x, y, z in starts] if far_team else []
    drones = range(len(places))
    hover = hover_thrusts(frame.mass * 9.81 / greatest, airframe)

    def bounce(restitution: float) -> str:
        damping = (1 + restitution) / timestep
        return f'solref="0 {-damping:.12g}"'

    # No bounce; what overlaps comes apart again step by step.
    dull = f'solref="{-RECOVERY / timestep**2:.12g} {-1 / timestep:.12g}"'
    solref = dict.fromkeys(CONTACTS, dull) | dict.fromkeys(ELASTIC, bounce(RESTITUTION))
    solref["ball_net"] = bounce(NET_RESTITUTION)
    pairs = [
        (*geoms, solref[kind])
        for kind, found in contact_geoms(len(places)).items()
        for geoms in found
    ]

    # MuJoCo's air: on a body with an ellipsoid of air only that is felt, on any other one its box
    # of inertia. The drones meet none (but see "drag"), so each has a speck for an ellipsoid.
    # The force on a sphere is air * blunt * pi r² |v| v, half of which is what others call drag.
    blunt = f' fluidshape="ellipsoid" fluidcoef="{drag / 2:g} 0 0 0 0"' if drag else ""
    speck = '\n      <geom class="speck"/>' if drag else ""
    air = f' density="{AIR:g}"' if drag else ""

    def drone(i: int) -> str:
        x, y, z, far = places[i]
        turned = "0 0 0 1" if far else "1 0 0 0"
        team = "far" if far else "near"
        sites = "\n      ".join(
            f'<site name="rotor{i}_{j}" pos="{a:g} {b:g} 0" class="rotor"/>'
            for j, (a, b) in enumerate(frame.rotors)
        )
        arms = "\n      ".join(
            f'<geom class="arm" fromto="{_row(frame.rotors[a])} 0 {_row(frame.rotors[b])} 0"/>'
            for a, b in ((0, 1), (2, 3))
        )
        return f"""
    <body name="drone{i}" pos="{x:g} {y:g} {z:g}" quat="{turned}">
      <freejoint name="drone{i}"/>
      <inertial pos="0 0 0" mass="{frame.mass:g}" diaginertia="{_row(frame.inertia)}"/>
      <geom name="racket{i}" class="racket" material="{team}"/>
      <geom name="hull{i}" class="hull" material="{team}"/>
      {arms}{speck}
      {sites}
    </body>"""

    lines = [
        (0, 0, 0.03, width / 2),
        *((side * length / 2, 0, 0.03, width / 2) for side in (-1, 1)),
        *((0, side * width / 2, length / 2, 0.03) for side in (-1, 1)),
    ]
    ground = "\n    ".join(
        f'<geom class="line" pos="{x:g} {y:g} 0.001" size="{a:g} {b:g} 0.001"/>'
        for x, y, a, b in lines
    )
    actuators = "\n    ".join(
        f'<general name="rotor{i}_{j}" site="rotor{i}_{j}" class="motor" '
        f'gear="0 0 1 0 0 {frame.spins[j] * frame.moment:.12g}"/>'
        for i in drones
        for j in range(len(frame.rotors))
    )
    contacts = "\n    ".join(
        f'<pair name="{a} {b}" geom1="{a}" geom2="{b}" condim="1" {solref} '
        f'solimp="{IMPEDANCE:g} {IMPEDANCE:g} 0.001"/>'
        for a, b, solref in pairs
    )
    sensors = "\n    ".join(
        f'<contact name="{a} {b}" geom1="{a}" geom2="{b}" data="found"/>' for a, b, _ in pairs
    )
    qpos = [(x, y, z, *((0, 0, 0, 1) if far else (1, 0, 0, 0))) for x, y, z, far in places]
    x, y, z = starts[server]
    qpos.append((x, y, z + drop, 1, 0, 0, 0))
    key = "  ".join(_row(part) for part in qpos)
    controls = _row([f"{t:.9g}" for t in hover] * len(places))
    return f"""<!-- Written by manyhands/envs/volleyball/model.py. Units: m, kg, s, rad. -->
<mujoco model="volleyball {name}">
  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>
  <option timestep="{timestep:g}" integrator="Euler" gravity="0 0 -9.81"{air}
          iterations="200" tolerance="1e-14"/>
  <visual>
    <global offwidth="1280" offheight="720"/>
    <headlight ambient="0.4 0.4 0.4" diffuse="0.5 0.5 0.5"/>
  </visual>
  <statistic extent="{length / 2:g}" center="0 0 1"/>
  <custom>
    <!-- of the ball on rackets, hulls and the floor; the contacts below are made from it -->
    <numeric name="restitution" data="{RESTITUTION:g}"/>
    <!-- kg/s, and spread (1) with fading (1/m): forces outside MuJoCo's step, where switched on -->
    <numeric name="drag" data="{frame.drag:g}"/>
    <numeric name="downwash" data="{_row(DOWNWASH)}"/>
  </custom>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.55 0.7 0.9" rgb2="0.2 0.3 0.45"
             width="256" height="256"/>
    <material name="ground" rgba="0.85 0.72 0.5 1"/>
    <material name="mesh" rgba="0.95 0.95 0.95 0.45"/>
    <material name="ball" rgba="0.98 0.85 0.2 1"/>
    <material name="near" rgba="0.2 0.45 0.85 1"/>
    <material name="far" rgba="0.85 0.3 0.25 1"/>
  </asset>
  <default>
    <!-- contacts are the pairs below and no others -->
    <geom contype="0" conaffinity="0" mass="0"/>
    <default class="racket">
      <geom type="cylinder" size="{_row(frame.racket[:2])}" pos="0 0 {frame.racket[2]:g}"/>
    </default>
    <default class="hull"><geom type="sphere" size="{wide:g}" pos="0 0 {low:g}"/></default>
    <default class="arm">
      <geom type="capsule" size="{frame.propeller / 10:g}" rgba="0.15 0.15 0.15 1" group="1"/>
    </default>
    <default class="line"><geom type="box" rgba="1 1 1 1" group="1"/></default>
    <default class="speck">
      <geom type="sphere" size="1e-4" group="3" fluidshape="ellipsoid" fluidcoef="0 0 0 0 0"/>
    </default>
    <default class="rotor">
      <site type="cylinder" size="{_row(disk)}" rgba="0.1 0.1 0.1 0.35" group="1"/>
    </default>
    <!-- control: 0 to 1 of the greatest thrust (N), which it approaches with the lag (s) -->
    <default class="motor">
      <general dyntype="filterexact" dynprm="{lag:g}" gaintype="fixed" gainprm="{greatest:.12g}"
               biastype="none" ctrlrange="0 1" ctrllimited="true"/>
    </default>
  </default>
  <worldbody>
    <light pos="0 0 12" dir="0 0 -1" directional="true" diffuse="0.5 0.5 0.5"/>
    <camera name="side" pos="0 {-1.1 * length:g} {0.45 * length:g}" xyaxes="1 0 0 0 0.3 1"/>
    <camera name="behind" pos="{1.15 * length:g} 0 {0.5 * length:g}" xyaxes="0 1 0 -0.35 0 1"/>
    <geom name="floor" type="plane" size="{length:g} {width:g} 0.1" material="ground"/>
    {ground}
    <geom name="net" type="box" pos="{net:g} 0 {half:g}" material="mesh"
          size="{NET_HALF_THICKNESS:g} {width / 2:g} {half:g}"/>{"".join(drone(i) for i in drones)}
    <body name="ball" pos="{x:g} {y:g} {z + drop:g}">
      <freejoint name="ball"/>
      <inertial pos="0 0 0" mass="{mass:g}" diaginertia="{_row([0.4 * mass * radius**2] * 3)}"/>
      <geom name="ball" type="sphere" size="{radius:g}" material="ball"{blunt}/>
    </body>
  </worldbody>
  <contact>
    {contacts}
  </contact>
  <actuator>
    {actuators}
  </actuator>
  <sensor>
    {sensors}
  </sensor>
  <keyframe>
    <key name="serve" qpos="{key}"
         act="{controls}"
         ctrl="{controls}"/>
  </keyframe>
</mujoco>
"""


def hover_thrusts(weight: float, airframe: str = "iris") -> tuple[float, ...]:
    """The rotors' thrusts that carry `weight` and turn nothing, in the weight's unit."""
    frame = _airframe(airframe)
    mixer = _mixer(np.array(frame.rotors), np.array(frame.spins), frame.moment)
    return tuple(float(t) for t in mixer[:, 0] * weight)


def _mixer(rotors: np.ndarray, spins: np.ndarray, moment: float) -> np.ndarray:
    """f[4, 4]: thrusts of the rotors for a force along z and moments about x, y, z."""
    effects = np.stack([np.ones(4), rotors[:, 1], -rotors[:, 0], spins * moment])
    if np.linalg.matrix_rank(effects) < 4:
        raise ConfigError(f"rotors at {rotors.tolist()} that turn {spins} cannot steer a drone")
    return np.linalg.inv(effects)


def _row(numbers: Any) -> str:
    return " ".join(n if isinstance(n, str) else f"{n:.12g}" for n in numbers)


def _court(name: str | Court) -> Court:
    if isinstance(name, Court):
        return name
    if name not in MODELS:
        raise ConfigError(f"there is no model {name!r}; the models are {', '.join(MODELS)}")
    return MODELS[name]


def _airframe(airframe: str) -> Airframe:
    if airframe not in AIRFRAMES:
        raise ConfigError(f"there is no {airframe!r}; the airframes are {', '.join(AIRFRAMES)}")
    return AIRFRAMES[airframe]


def _ball(ball: str) -> Any:
    if ball not in BALLS:
        raise ConfigError(f"there is no ball {ball!r}; the balls are {', '.join(BALLS)}")
    return BALLS[ball]


def file_name(name: str, ball: str = "volleybots") -> str:
    """Which file of manyhands/assets/volleyball/ has a model."""
    _court(name), _ball(ball)
    return f"{name}.xml" if ball == "volleybots" else f"{name}-{ball}.xml"


def write_models(folder: Path) -> list[Path]:
    """Write all models into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in MODELS:
        for ball in BALLS:
            path = folder / file_name(name, ball)
            path.write_text(mjcf(name, ball))
            written.append(path)
    return written


# ---- reading -------------------------------------------------------------------------------------


@functools.cache
def load_model(
    court: str | Court, ball: str = "volleybots", airframe: str = "iris"
) -> mujoco.MjModel:
    """The compiled model of a court, one object for each: of the Iris on one of `MODELS` from the
    file that comes with the package."""
    if airframe != "iris" or not isinstance(court, str):
        return compile_model(mjcf(court, ball, airframe=airframe))
    assets = importlib.resources.files("manyhands") / "assets" / "volleyball"
    return compile_model((assets / file_name(court, ball)).read_text(encoding="utf-8"))


def compile_model(text: str) -> mujoco.MjModel:
    """MJCF text, compiled; what MuJoCo says of a broken one is in the ConfigError."""
    import mujoco  # takes longer to load than the rest of the package

    try:
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())
        if "inertia must satisfy A + B >= C" in reason:
            reason += " (no moment of inertia may be greater than the sum of the two others)"
        raise ConfigError(f"MuJoCo cannot compile this model: {reason}") from None


def drone_count(model: mujoco.MjModel) -> int:
    """How many drones there are: bodies drone0, drone1, ..."""
    drones = 0
    while _id(model, "body", f"drone{drones}", missing_ok=True) >= 0:
        drones += 1
    return drones


def params_from_model(
    model: mujoco.MjModel, *, drag: bool = False, downwash: bool = False
) -> Params:
    """What `physics.advance` computes with, in double precision.

    Args:
        model: of `load_model`, or any with the same names (bodies, joints, geoms, sites, actuators)
            and one contact pair for each that the physics has. A ConfigError says what is missing
            or what the physics cannot do.
        drag: whether the drones feel the air, as the model's number `drag` says.
        downwash: whether they feel the wind of those above, as its number `downwash` says.
    """
    drones = drone_count(model)
    if not drones:
        raise ConfigError("the model has no body called 'drone0', so there is nobody to play")
    h = float(model.opt.timestep)
    _check_options(model)

    mass: list[float] = []
    inertia: list[np.ndarray] = []
    motors: list[list[tuple[float, ...]]] = []
    rackets: list[tuple[float, ...]] = []
    hulls: list[tuple[float, ...]] = []
    for i in range(drones):
        body = _free_body(model, f"drone{i}")
        mass.append(model.body_mass[body])
        inertia.append(model.body_inertia[body].copy())
        racket = _geom(model, f"racket{i}", "cylinder", body)
        hull = _geom(model, f"hull{i}", "sphere", body)
        rackets.append((*model.geom_size[racket][:2], model.geom_pos[racket][2]))
        hulls.append((model.geom_size[hull][0], model.geom_pos[hull][2]))
        motors.append([_motor(model, f"rotor{i}_{j}", body) for j in range(4)])
    power, moment, lag, x, y = np.moveaxis(np.asarray(motors), -1, 0)  # each [D, 4]
    spin, arm = np.sign(moment), np.abs(moment)
    for what, values in (("thrust (gainprm)", power), ("lag (dynprm)", lag), ("moment", arm)):
        if np.ptp(values, axis=1).max() > 1e-12 * values.max():
            raise ConfigError(f"the four rotors of a drone must have one {what}, given {values}")
    rotors = np.stack([x, y], -1)
    for part, alike in (
        ("rackets' size and height", rackets),
        ("hulls' size and height", hulls),
        ("rotors' places", rotors),
        ("rotors' senses of turning", spin),
    ):
        if np.ptp(np.asarray(alike), axis=0).max() > 0:
            raise ConfigError(f"the {part} must be the same on all drones, given {alike}")
    mixer = _mixer(rotors[0], spin[0], arm[0, 0])

    ball = _free_body(model, "ball")
    ball_geom = _geom(model, "ball", "sphere", ball)
    net, floor = _geom(model, "net", "box", 0), _geom(model, "floor", "plane", 0)
    if np.any(model.geom_pos[floor]):
        raise ConfigError(f"the floor must be at z = 0, given pos {model.geom_pos[floor]}")
    stiffness, damping, impedance = _contacts(model, drones)
    _check_restitution(model, h, dict(zip(CONTACTS, damping * impedance, strict=True)))

    blunt = model.geom_fluid[ball_geom][1] if model.geom_fluid[ball_geom][0] > 0 else 0.0
    radius = float(model.geom_size[ball_geom][0])
    air = float(model.opt.density) * blunt * math.pi * radius**2
    return Params(
        timestep=np.float64(h),
        gravity=np.float64(-model.opt.gravity[2]),
        mass=np.asarray(mass, np.float64),
        inertia=np.asarray(inertia, np.float64),
        power=power[:, 0],
        moment=arm[:, 0],
        lag=lag[:, 0],
        rotors=rotors[0],
        spin=spin[0],
        mixer=mixer,
        racket=np.asarray(rackets[0], np.float64),
        hull=np.asarray(hulls[0], np.float64),
        ball_radius=np.float64(radius),
        ball_mass=np.float64(model.body_mass[ball]),
        net=np.stack([model.geom_pos[net], model.geom_size[net]]),
        stiffness=stiffness,
        damping=damping,
        impedance=impedance,
        ball_drag=np.float64(air) if air else None,
        drag=np.full(drones, _number(model, "drag", 1)[0]) if drag else None,
        downwash=_number(model, "downwash", 2) if downwash else None,
    )


def _id(model: Any, kind: str, name: str, missing_ok: bool = False) -> int:
    import mujoco

    found = mujoco.mj_name2id(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), name)
    if found < 0 and not missing_ok:
        raise ConfigError(f"the model has no {kind} called {name!r}")
    return found


def _number(model: Any, name: str, size: int) -> np.ndarray:
    """A <numeric> of the model."""
    found = _id(model, "numeric", name)
    start = model.numeric_adr[found]
    given = model.numeric_data[start : start + model.numeric_size[found]].copy()
    if len(given) != size:
        raise ConfigError(f"the model's numeric {name!r} holds {size} numbers, given {given}")
    return given


def _check_options(model: Any) -> None:
    import mujoco

    option = model.opt
    if option.integrator != mujoco.mjtIntegrator.mjINT_EULER:
        raise ConfigError('the physics is that of integrator="Euler"; the model has another one')
    if option.gravity[0] or option.gravity[1] or option.gravity[2] >= 0:
        raise ConfigError(f"gravity must point down, along -z, given {option.gravity}")
    if option.viscosity or np.any(option.wind):
        raise ConfigError("the physics has neither viscosity nor wind; the model has")
    enabled = {
        "override": mujoco.mjtEnableBit.mjENBL_OVERRIDE,
        "diagexact": mujoco.mjtEnableBit.mjENBL_DIAGEXACT,
        "speculative": mujoco.mjtEnableBit.mjENBL_SPECULATIVE,
    }
    for name, bit in enabled.items():
        if option.enableflags & bit:
            raise ConfigError(f"the physics cannot follow the option flag {name}; switch it off")
    free = mujoco.mjtDisableBit.mjDSBL_SENSOR | mujoco.mjtDisableBit.mjDSBL_WARMSTART
    if (option.disableflags ^ mujoco.MjOption().disableflags) & ~free:
        raise ConfigError("the physics needs everything that MuJoCo does not disable by itself")


def _free_body(model: Any, name: str) -> int:
    """A body that has a free joint of its name and its centre of mass at its origin."""
    import mujoco

    body, joint = _id(model, "body", name), _id(model, "joint", name)
    if model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE or model.jnt_bodyid[joint] != body:
        raise ConfigError(f"the joint {name!r} must be the free joint of the body {name!r}")
    if model.body_dofnum[body] != 6 or np.any(model.body_ipos[body]):
        raise ConfigError(f"the centre of mass of {name!r} must be the origin of its frame")
    if abs(abs(model.body_iquat[body][0]) - 1) > 1e-12:
        raise ConfigError(f"the axes of inertia of {name!r} must be those of its frame")
    dofs = slice(model.body_dofadr[body], model.body_dofadr[body] + 6)
    if np.any(model.dof_damping[dofs]) or np.any(model.dof_armature[dofs]):
        raise ConfigError(f"the joint {name!r} must have neither damping nor armature")
    return body


def _geom(model: Any, name: str, shape: str, body: int) -> int:
    import mujoco

    geom = _id(model, "geom", name)
    wanted = getattr(mujoco.mjtGeom, f"mjGEOM_{shape.upper()}")
    if model.geom_type[geom] != wanted or model.geom_bodyid[geom] != body:
        raise ConfigError(f"the geom {name!r} must be a {shape} of its own body")
    if abs(abs(model.geom_quat[geom][0]) - 1) > 1e-12:
        raise ConfigError(f"the geom {name!r} must not be turned in its body")
    across = model.geom_pos[geom][:2] if body and name != "ball" else model.geom_pos[geom]
    if body and np.any(across):
        raise ConfigError(f"the geom {name!r} must lie on the z axis of its body")
    if model.geom_contype[geom] or model.geom_conaffinity[geom]:
        raise ConfigError(
            f"the geom {name!r} must have contype and conaffinity 0: contacts are pairs"
        )
    return geom


def _motor(model: Any, name: str, body: int) -> tuple[float, float, float, float, float]:
    """(greatest thrust, moment per thrust, lag, x, y) of a rotor."""
    import mujoco

    motor, site = _id(model, "actuator", name), _id(model, "site", name)
    if (
        model.actuator_trntype[motor] != mujoco.mjtTrn.mjTRN_SITE
        or model.actuator_trnid[motor][0] != site
        or model.site_bodyid[site] != body
    ):
        raise ConfigError(f"the actuator {name!r} must drive the site {name!r} of its drone")
    if (
        model.actuator_dyntype[motor] != mujoco.mjtDyn.mjDYN_FILTEREXACT
        or model.actuator_gaintype[motor] != mujoco.mjtGain.mjGAIN_FIXED
        or model.actuator_biastype[motor] != mujoco.mjtBias.mjBIAS_NONE
        or model.actuator_actearly[motor]
        or not np.array_equal(model.actuator_ctrlrange[motor], (0, 1))
        or not model.actuator_ctrllimited[motor]
        or model.actuator_dynprm[motor][0] <= 0
        or model.actuator_gainprm[motor][0] <= 0
    ):
        raise ConfigError(
            f'the actuator {name!r} must be general with dyntype="filterexact", a fixed gain, no '
            'bias, ctrlrange="0 1" and the defaults elsewhere'
        )
    gear = model.actuator_gear[motor]
    if gear[2] != 1 or np.any(gear[[0, 1, 3, 4]]) or abs(model.site_quat[site][0]) != 1:
        raise ConfigError(f'the gear of {name!r} must be "0 0 1 0 0 moment" in its drone\'s frame')
    x, y, _ = model.site_pos[site]
    gain, lag = float(model.actuator_gainprm[motor][0]), float(model.actuator_dynprm[motor][0])
    return gain, float(gear[5]), lag, float(x), float(y)


def contact_geoms(drones: int) -> dict[str, list[tuple[str, str]]]:
    """The geoms of each kind of contact (`physics.CONTACTS`)."""
    return {
        "ball_racket": [("ball", f"racket{i}") for i in range(drones)],
        "ball_hull": [("ball", f"hull{i}") for i in range(drones)],
        "ball_net": [("ball", "net")],
        "ball_floor": [("ball", "floor")],
        "hull_net": [(f"hull{i}", "net") for i in range(drones)],
        "hull_floor": [(f"hull{i}", "floor") for i in range(drones)],
        "hull_hull": [(f"hull{i}", f"hull{j}") for j in range(drones) for i in range(j)],
    }


def _contacts(model: Any, drones: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stiffness, damping and impedance of each kind of contact (`CONTACTS`)."""
    wanted = contact_geoms(drones)
    pairs = {
        frozenset((int(model.pair_geom1[k]), int(model.pair_geom2[k]))): k
        for k in range(model.npair)
    }
    numbers = []
    for kind in CONTACTS:
        found = set()
        for one, other in wanted[kind]:
            key = frozenset((_id(model, "geom", one), _id(model, "geom", other)))
            if key not in pairs:
                raise ConfigError(f"the model has no contact pair of {one!r} and {other!r}")
            found.add(_row_numbers(model, pairs.pop(key), f"{one} and {other}"))
        if len(found) > 1:
            raise ConfigError(f"all contacts {kind} must have the same solref and solimp")
        numbers.append(found.pop() if found else (0.0, 0.0, 0.5))
    if pairs:
        raise ConfigError(f"the model has {len(pairs)} contact pairs that the physics has not")
    stiffness, damping, impedance = np.array(numbers).T
    return stiffness, damping, impedance


def _row_numbers(model: Any, pair: int, who: str) -> tuple[float, float, float]:
    """(k, b, d) of a pair, as MuJoCo derives them from solref and solimp."""
    if model.pair_dim[pair] != 1:
        raise ConfigError(f"the contact of {who} must have condim 1: the physics has no friction")
    if model.pair_margin[pair] or model.pair_gap[pair]:
        raise ConfigError(f"the contact of {who} must have neither margin nor gap")
    first, second = (float(value) for value in model.pair_solref[pair])
    d, most = (float(value) for value in model.pair_solimp[pair][:2])
    if d != most or not 0.0001 <= d <= 0.9999:  # beyond, MuJoCo clamps it
        raise ConfigError(
            f'the contact of {who} must have a constant impedance (solimp="0.999 0.999 0.001"), '
            f"given {model.pair_solimp[pair]}"
        )
    if first > 0:
        raise ConfigError(
            f"the contact of {who} must give its solref in the direct format, two numbers that are "
            f"0 or negative, given {model.pair_solref[pair]}"
        )
    return -first / d, -second / d, d


def _check_restitution(model: Any, timestep: float, turned: dict[str, float]) -> None:
    """A contact gives e of the speed back where (1 + e) of it is taken away in one step."""
    restitution = float(_number(model, "restitution", 1)[0])
    for kind in ELASTIC:
        given = turned[kind] * timestep - 1
        if abs(given - restitution) > 0.01:
            raise ConfigError(
                f"the model wants a restitution of {restitution:g}, but with a timestep of "
                f"{timestep:g} s its contacts {kind} give {given:.3g}: solref was made for "
                f"{(1 + restitution) / turned[kind]:g} s. Write the model for this timestep: "
                "manyhands.envs.volleyball.model.mjcf(name, timestep=...)"
            )


if __name__ == "__main__":
    target = Path(__file__).parents[2] / "assets" / "volleyball"
    for path in write_models(Path(sys.argv[1]) if len(sys.argv) > 1 else target):
        print(path)
