"""The state of a court, the tasks, and their constants.

One step is 0.02 s: four steps of the physics, then the referee.

**Frames.** x runs along the court, the net is the plane x = 0, z points up; metres, seconds,
radians. The near team plays in x > 0, the far team in x < 0. A drone of the near side has its nose
(body x axis) towards +x, one of the far side towards -x: both away from the net. Agents observe and
act in their *own frame*: on the far side it is turned by half a turn about z, so that the own half
is always x > 0 and one policy plays both sides.

**Axes.** All functions of this package take states with any number of trailing batch axes (none, or
one), written `...`. D drones are an array axis, never a loop; the drones of a team are neighbours
on it, the near team's first. T is the number of teams, F that of faults.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from manyhands.core.env import Array, state_dataclass
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.physics import Bodies, Params

STEP = 0.02  # s, one step of the environment
NET = 2.43  # m, height of the net
RADIUS = 0.1  # m, of the ball, as the published rules write it
LANDED = 0.2  # m, a ball whose centre is lower has landed
CRASHED = 0.3  # m, a drone whose centre is lower has crashed
CLOSE = 0.8  # m, team-mates nearer than this have collided
DEBOUNCE = 3  # steps after a counted touch in which a drone's touches are the same one
LONG_AGO = 1000  # steps: `VolleyballState.since` of a drone that has not touched the ball

ACTIONS = ("rotors", "ctbr", "velocity", "position", "discrete", "multidiscrete")
STEPPED = ("discrete", "multidiscrete")  # of some values of each thrust
PHYSICS = ("jax", "mujoco")
BALLS = ("volleybots", "real")
RULES = ("manyhands", "volleybots")
SERVES = ("random", "near", "far")
TEAMS = ("near", "far")
CAMERAS = ("behind", "side")

# Full deflection of an action. VolleyBots: 180 degrees/s, of which 0.8 are used.
MAX_RATE = 0.8 * np.pi  # rad/s
MAX_VELOCITY = 5.0  # m/s along each axis
MAX_YAW_RATE = 2.0  # rad/s
HIGHEST = 5.0  # m, of set-points
MAX_BINS = 5  # values of each rotor's thrust, of discrete actions

# Ranges that an episode draws from, besides those of `physics.randomise`.
DELAYS = ("action_delay", "sensor_delay")  # steps
NOISES = ("position_noise", "attitude_noise", "velocity_noise", "rate_noise")
MAX_DELAY = 25  # steps
DISTURBANCES = ("gusts", "push", "push_rate", "dropout")
GUST_TIME = 1.0  # s, after which a gust is a new one

# Of drills.
PAUSE = 25  # steps between two touches of a solo drill; a sooner one is a fault ("double")
RETURNER = (-4.0, 0.0, 0.5)  # m, where the scripted returner's board begins
BOARD = (0.5, 0.15)  # m, its radius and half its height
BOARD_SPEED, BOARD_RESTITUTION, BOARD_FLIGHT = 8.0, 0.77, 1.5  # m/s, 1, s


@dataclasses.dataclass(frozen=True)
class Task:
    """One task; lengths in m, for the near team.

    Attributes:
        title: in words.
        model: the name of its MuJoCo model (`model.load_model`).
        court: length and width.
        places: where each drone of a team stands at first; the far team's are turned by pi.
        weights: reward terms and their published weights.
        faults: what ends a point or a drill; the rows of `VolleyballState.faults`.
        teams: 1 for a drill, 2 for a match.
        server: the place that serves.
        ball: height of the ball above the server at first.
        steps: the longest a point or a drill lasts.
        spread, tilt, yaw: ranges of the start: position m, roll and pitch rad, yaw rad (0 to yaw).
        target: what a drill aims at.
    """

    title: str
    model: str
    court: tuple[float, float]
    places: tuple[tuple[float, float, float], ...]
    weights: Mapping[str, float]
    faults: tuple[str, ...]
    teams: int = 1
    server: int = 0
    ball: float = 2.0
    steps: int = 800
    spread: tuple[float, float, float] = (0.5, 0.5, 0.2)
    tilt: float = 0.0
    yaw: float = 0.0
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)


# Faults of a team in a match. The last two end a point without a winner under rules="volleybots".
POINT_FAULTS = ("wrong_turn", "body", "crossed", "own_floor", "out", "net", "crash", "close")
UNDECIDED = ("crash", "close")
_PAIR_FAULTS = ("ball_low", "ball_high", "out", "net", "drone_low", "drone_net")
_SOLO: dict[str, Any] = dict(court=(18.0, 9.0), places=((4.5, 0.0, 2.0),), model="solo")
_TEAM_WEIGHTS = dict(win=100.0, hit=10.0, approach=0.5, anchor=0.05, ground=100.0, close=100.0)
_SPIKE: dict[str, Any] = dict(
    model="pair",
    court=(18.0, 9.0),
    places=((2.0, -2.5, 2.5), (2.0, 2.5, 3.5)),
    target=(-4.5, 0.0, 0.0),
    faults=("wrong_turn", "body", "crossed", *_PAIR_FAULTS),
    weights=dict(
        hit=5.0,
        spike=5.0,
        cross=5.0,
        on_target=5.0,
        approach=0.05,
        aim=0.05,
        power=0.2,
        placing=0.2,
        mistake=10.0,
    ),
)
TASKS: dict[str, Task] = {
    "1v1": Task(
        "one against one",
        "1v1",
        (6.0, 3.0),
        ((1.5, 0.0, 2.0),),
        dict(win=100.0, hit=5.0, approach=0.5, position=0.2, ground=100.0),
        POINT_FAULTS[:-1],
        teams=2,
        ball=1.5,
        steps=1000,
        spread=(0.1, 0.1, 0.1),
        tilt=0.1,
    ),
    "3v3": Task(
        "three against three",
        "3v3",
        (12.0, 6.0),
        ((3.0, -1.5, 2.0), (3.0, 1.5, 2.0), (6.0, 0.0, 2.0)),
        _TEAM_WEIGHTS,
        POINT_FAULTS,
        teams=2,
        server=2,
        ball=3.0,
        steps=500,
        spread=(0.0, 0.0, 0.0),
    ),
    "6v6": Task(
        "six against six",
        "6v6",
        (18.0, 9.0),
        tuple((x, y, 2.0) for x, y in ((3, -3), (3, 0), (3, 3), (6, -3), (9, 0), (6, 3))),
        _TEAM_WEIGHTS,
        POINT_FAULTS,
        teams=2,
        server=4,
        ball=3.0,
        steps=500,
        spread=(0.0, 0.0, 0.0),
    ),
    "back_and_forth": Task(
        "back and forth",
        weights=dict(stay=2.5, approach=0.5, mistake=10.0),
        faults=("drone_low", "drone_high", "far_away"),
        tilt=0.1 * np.pi,
        yaw=2 * np.pi,
        target=(9.0, 4.5, 2.0),
        spread=(0.0, 0.0, 0.0),
        **_SOLO,
    ),
    "hit": Task(
        "hit the ball",
        weights=dict(hit=1.0, anchor=0.05, distance=2.0, mistake=10.0),
        faults=("double", "body", "ball_low", "ball_high", "drone_low", "drone_net"),
        ball=3.0,
        steps=500,
        tilt=0.1 * np.pi,
        yaw=2 * np.pi,
        **_SOLO,
    ),
    "solo_bump": Task(
        "solo bump",
        weights=dict(hit=2.0, high=8.0, approach=1.0, lift=0.5, mistake=10.0),
        faults=(
            "double",
            "body",
            "ball_low",
            "ball_high",
            "out",
            "drone_low",
            "drone_high",
            "drone_net",
        ),
        tilt=0.1 * np.pi,
        yaw=2 * np.pi,
        **_SOLO,
    ),
    "bump_and_pass": Task(
        "bump and pass",
        "pair",
        (18.0, 9.0),
        ((4.5, -2.5, 2.0), (4.5, 2.5, 2.0)),
        dict(hit=1.0, crossing=1.0, anchor=0.05, approach=0.05, aim=0.05, mistake=10.0),
        ("wrong_turn", "body", *_PAIR_FAULTS),
    ),
    "set_and_spike": Task("set and spike", **_SPIKE),
    "set_and_spike_hard": Task("set and spike against a returner", **_SPIKE),
}


@state_dataclass
class Match:
    """What lasts longer than a point (`points` > 1).

    Attributes:
        swapped: bool[], whether the teams have changed sides.
        rotation: i8[2], how many places each team has moved on; its drone i stands at place
            (i + rotation) mod n.
        seed: u32[], from which the start of each point is drawn.
        number: i16[], points begun before this one, replayed ones too.
    """

    swapped: Array
    rotation: Array
    seed: Array
    number: Array


@state_dataclass
class Drill:
    """What only drills count.

    Attributes:
        target: f32[3], the place to be (back_and_forth), m.
        streak: i16[], steps on end that the drone has been there.
        apex, apexes: f32[], highest place of the ball since the last touch, and the sum of those
            between touches, m.
        done: i16[], targets reached, high bumps, passes across.
        board, tilt: f32[3], the returner's board and its upward normal.
    """

    target: Array
    streak: Array
    apex: Array
    apexes: Array
    done: Array
    board: Array
    tilt: Array


@state_dataclass
class Disturbance:
    """What disturbs flight and sight from step to step, where `randomise` makes it.

    Attributes:
        gust: f32[3], m/s, how the air moves beside the episode's wind.
        gusts: f32[], m/s, the standard deviation of each part of it.
        push, push_rate: f32[], N s and 1/s, the impulses that drones get, and how often.
        dropout: f32[], the share of steps in which an agent sees nothing new.
    """

    gust: Array
    gusts: Array
    push: Array
    push_rate: Array
    dropout: Array


# How a drone touched the ball: not, lawfully, out of turn (or twice), with another part than the
# racket; and how a point ended.
UNTOUCHED, LAWFUL, OUT_OF_TURN, WITH_BODY = range(4)
GOES_ON, NEAR_WON, FAR_WON, DRAWN = range(4)


@state_dataclass
class Recent:
    """What happened in the last step. No rule depends on it.

    Attributes:
        touch: u8[D], how each drone touched the ball: `UNTOUCHED`, `LAWFUL`, ...
        foul: u8[D], 1 + the fault that each drone committed, by its row in `Setup.faults`; 0: none.
        crossed: u8[], the half that the ball came into: 1 near team's, 2 far team's; 0: neither.
        ended: u8[], how the point ended: `GOES_ON`, `NEAR_WON`, ...
        gained: u8[], what was added to `Drill.done`.
        last: i8[], the drone that touched the ball last.
        ball: f32[2], m, where the ball was then, from above: the next point of a match moves it.
    """

    touch: Array
    foul: Array
    crossed: Array
    ended: Array
    gained: Array
    last: Array
    ball: Array


@state_dataclass
class VolleyballState:
    """One court at one moment. What a configuration has no use for is `()`.

    Attributes:
        bodies: drones and ball, in the world's frame.
        params: this episode's physics, where it is randomised.
        seen: sensor readings, newest first: `Bodies` with a first axis, where they are noisy or
            late.
        pending: f32[K, D, 4], the last actions, newest first, where they act late.
        delays: i8[2], steps by which actions and sensors are late.
        noise: f32[4], standard deviations of position (m), attitude (rad), velocity (m/s) and
            rates (rad/s).
        turn: i8[], whose touch is next: the team in 1v1, the drone in a drill (2 when setter and
            attacker are both done). Elsewhere the team in possession.
        possession: i8[], the team in whose half the ball is.
        touched: bool[D], the drones that have touched the ball in this possession.
        since: i16[D], steps since each drone's last counted touch, at most `LONG_AGO`.
        last: i8[], the drone that touched the ball last; the server before the first touch.
        server: i8[], the drone that serves, or is served to in a drill.
        served: bool[], whether the first touch has been made.
        hits, crossings: i16[], legal touches and net crossings in this point.
        clock: i16[], steps of this point.
        time: i32[], steps of the episode.
        score: i16[T], points won.
        faults: bool[F, T], `Setup.faults` by team: why the last point ended.
        over: bool[], whether the episode has ended by the rules.
        match, drill, recent: see there.
        disturbance: a `Disturbance`.
        held: `Bodies` with a first axis for the agent: the readings that each had last, where some
            are lost.
    """

    bodies: Bodies
    params: Any
    seen: Any
    pending: Any
    delays: Any
    noise: Any
    turn: Array
    possession: Array
    touched: Array
    since: Array
    last: Array
    server: Array
    served: Array
    hits: Array
    crossings: Array
    clock: Array
    time: Array
    score: Array
    faults: Array
    over: Array
    match: Any
    drill: Any
    recent: Recent
    disturbance: Any = ()
    held: Any = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Setup:
    """What the rules need of a configuration; made by `Volleyball`.

    Attributes:
        task, actions, rulebook, serve, points, lead, max_steps: the options (`rulebook` is
            `rules`).
        ranges: (low, high) by name, of `randomise`.
        params: the physics as designed.
        skills, bins: the options.
        max_yaw: N m, the most that the airframe's controllers ask for about z.
        advance: `(params, bodies, commands) -> (bodies, touched)`, of `physics` or of `Engine`.
    """

    task: str
    actions: str
    rulebook: str
    serve: str
    points: int
    lead: int
    max_steps: int
    ranges: Mapping[str, tuple[float, float]]
    params: Params
    advance: Callable[..., tuple[Bodies, physics.Touched]]
    skills: str = "plain"
    bins: int = 2
    max_yaw: float = 0.1

    @functools.cached_property
    def plan(self) -> Task:
        return TASKS[self.task]

    @functools.cached_property
    def versus(self) -> bool:
        """Whether two teams play against each other; else it is a drill."""
        return self.plan.teams == 2

    @functools.cached_property
    def point_steps(self) -> int:
        """The longest a point or a drill lasts."""
        return self.max_steps if self.points == 1 else min(self.plan.steps, self.max_steps)

    @functools.cached_property
    def team_size(self) -> int:
        return len(self.plan.places)

    @functools.cached_property
    def agents(self) -> tuple[str, ...]:
        teams = TEAMS if self.versus else ("drone",)
        return tuple(f"{team}_{i}" for team in teams for i in range(self.team_size))

    @functools.cached_property
    def count(self) -> int:
        """D, the number of drones."""
        return len(self.agents)

    @functools.cached_property
    def faults(self) -> tuple[str, ...]:
        """What ends a point or a drill. Published solo drills allow touches with the body."""
        solo = self.task in ("hit", "solo_bump") and self.rulebook == "volleybots"
        return tuple(name for name in self.plan.faults if not (solo and name == "body"))

    @functools.cached_property
    def team(self) -> np.ndarray:
        """i8[D], the team of each drone."""
        return np.repeat(np.arange(self.plan.teams, dtype=np.int8), self.team_size)

    @functools.cached_property
    def mates(self) -> np.ndarray:
        """bool[D, D], which drones are team-mates."""
        return (self.team[:, None] == self.team) & ~np.eye(self.count, dtype=bool)

    @functools.cached_property
    def places(self) -> np.ndarray:
        """f32[team_size, 3], m, `plan.places`."""
        return np.asarray(self.plan.places, np.float32)

    @functools.cached_property
    def trim(self) -> np.ndarray:
        """f32[D, 4], the share of its greatest thrust at which each rotor hovers."""
        return np.asarray(physics.trim(self.params), np.float32)

    # ---- what is randomised -------------------------------------------------------------------

    @functools.cached_property
    def physical(self) -> dict[str, tuple[float, float]]:
        """The ranges that `physics.randomise` draws from."""
        return {name: pair for name, pair in self.ranges.items() if name in physics.RANDOMISED}

    @functools.cached_property
    def action_delay(self) -> int:
        """Steps by which actions are late at most."""
        return int(self.ranges.get("action_delay", (0, 0))[1])

    @functools.cached_property
    def sensor_delay(self) -> int:
        """Steps by which sensors are late at most."""
        return int(self.ranges.get("sensor_delay", (0, 0))[1])

    @functools.cached_property
    def noisy(self) -> bool:
        """Whether sensors are noisy."""
        return any(name in self.ranges for name in NOISES)

    @functools.cached_property
    def sensing(self) -> bool:
        """Whether sensors are noisy or late."""
        return self.noisy or self.sensor_delay > 0

    @functools.cached_property
    def disturbed(self) -> bool:
        """Whether there are gusts, pushes or losses."""
        return any(name in self.ranges for name in DISTURBANCES)

    @functools.cached_property
    def losing(self) -> bool:
        """Whether agents lose sight of the others and the ball now and then."""
        return "dropout" in self.ranges
