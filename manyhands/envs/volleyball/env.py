"""Drone volleyball: quadrotors with rackets play a ball over a net, alone, in pairs, in teams.

The tasks, courts, observations, rewards and point rules are those of VolleyBots (Xu et al.,
"VolleyBots: A Testbed for Multi-Drone Volleyball Game Combining Motion Control and Strategic Play",
2025). `rules="volleybots"` keeps its point rules as published; the default, `rules="manyhands"`,
repairs them (see `Volleyball`). One step is 0.02 s: four steps of the physics, then the referee.

**Frames.** x runs along the court, the net is the plane x = 0, z points up; metres, seconds,
radians. The near team plays in x > 0, the far team in x < 0. A drone of the near side has its nose
(body x axis) towards +x, one of the far side towards -x: both away from the net. Whatever an agent
is given is in its *own frame*: turned by half a turn about z for who plays on the far side, so
that everybody's own half is x > 0, and one policy plays both sides.

Everything here is written for a state with any number of trailing batch axes (none, or one). Drones
are an array axis, never a loop; a team's drones are neighbours on it, the near team's first.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import (
    Action,
    Array,
    ConfigError,
    Env,
    Outcome,
    check_weights,
    names_of,
    state_dataclass,
)
from manyhands.envs.volleyball import physics
from manyhands.envs.volleyball.physics import Bodies, Touched

if TYPE_CHECKING:
    from manyhands.envs.volleyball.skills import VolleyballSkills

STEP = 0.02  # s, one step of the environment
NET = 2.43  # m, height of the net
RADIUS = 0.1  # m, of the ball, as the published rules write it
LANDED = 0.2  # m, a ball whose centre is lower has landed
CRASHED = 0.3  # m, a drone whose centre is lower has crashed
CLOSE = 0.8  # m, team-mates nearer than this have collided
DEBOUNCE = 3  # steps after a counted touch in which a drone's touches are the same one
LONG_AGO = 1000  # `VolleyballState.since` of who has not touched the ball

ACTIONS = ("rotors", "ctbr", "velocity")
PHYSICS = ("jax", "mujoco")
BALLS = ("volleybots", "real")
RULES = ("manyhands", "volleybots")
SERVES = ("random", "near", "far")
TEAMS = ("near", "far")

# Full deflection of an action. VolleyBots: 180 degrees/s, of which 0.8 are used.
MAX_RATE = 0.8 * np.pi  # rad/s
MAX_VELOCITY = 5.0  # m/s along each axis
MAX_YAW_RATE = 2.0  # rad/s

# Ranges that an episode draws from, beside those of `physics.randomise`.
DELAYS = ("action_delay", "sensor_delay")  # steps
NOISES = ("position_noise", "attitude_noise", "velocity_noise", "rate_noise")
MAX_DELAY = 25  # steps

# Point rules. The last two end a point without a winner under rules="volleybots".
POINT_FAULTS = ("wrong_turn", "body", "crossed", "own_floor", "out", "net", "crash", "close")
DRILL_FAULTS = (
    "wrong_turn",
    "double",
    "body",
    "crossed",
    "ball_low",
    "ball_high",
    "out",
    "net",
    "drone_low",
    "drone_high",
    "drone_net",
    "far_away",
)
PAUSE = 25  # steps between two touches of a solo drill; a sooner one is a fault ("double")
RETURNER = (-4.0, 0.0, 0.5)  # m, where the scripted returner's board begins
BOARD = (0.5, 0.15)  # m, its radius and half its height
BOARD_SPEED, BOARD_RESTITUTION, BOARD_FLIGHT = 8.0, 0.77, 1.5  # m/s, 1, s


@dataclasses.dataclass(frozen=True)
class Task:
    """What is played; lengths in m, for the near team.

    Attributes:
        title: in words.
        model: the name of its MuJoCo model (`model.load_model`).
        court: length and width.
        places: where each drone of a team stands at first; the far team's are turned by pi.
        teams: 1 for a drill, 2 for a match.
        server: the place that serves.
        ball: height of the ball above the server at first.
        steps: the longest a point or a drill lasts.
        spread, tilt, yaw: ranges of the start: position m, roll and pitch rad, yaw rad (0 to yaw).
        weights: terms and their published weights.
        target: what a drill aims at.
    """

    title: str
    model: str
    court: tuple[float, float]
    places: tuple[tuple[float, float, float], ...]
    weights: Mapping[str, float]
    teams: int = 1
    server: int = 0
    ball: float = 2.0
    steps: int = 800
    spread: tuple[float, float, float] = (0.5, 0.5, 0.2)
    tilt: float = 0.0
    yaw: float = 0.0
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)


_SOLO: dict[str, Any] = dict(court=(18.0, 9.0), places=((4.5, 0.0, 2.0),), model="solo")
_TEAM_WEIGHTS = dict(win=100.0, hit=10.0, approach=0.5, anchor=0.05, ground=100.0, close=100.0)
_SPIKE: dict[str, Any] = dict(
    model="pair",
    court=(18.0, 9.0),
    places=((2.0, -2.5, 2.5), (2.0, 2.5, 3.5)),
    target=(-4.5, 0.0, 0.0),
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
        teams=2,
        server=4,
        ball=3.0,
        steps=500,
        spread=(0.0, 0.0, 0.0),
    ),
    "back_and_forth": Task(
        "back and forth",
        weights=dict(stay=2.5, approach=0.5, mistake=10.0),
        tilt=0.1 * np.pi,
        yaw=2 * np.pi,
        target=(9.0, 4.5, 2.0),
        spread=(0.0, 0.0, 0.0),
        **_SOLO,
    ),
    "hit": Task(
        "hit the ball",
        weights=dict(hit=1.0, anchor=0.05, distance=2.0, mistake=10.0),
        ball=3.0,
        steps=500,
        tilt=0.1 * np.pi,
        yaw=2 * np.pi,
        **_SOLO,
    ),
    "solo_bump": Task(
        "solo bump",
        weights=dict(hit=2.0, high=8.0, approach=1.0, lift=0.5, mistake=10.0),
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
class VolleyballState:
    """One court at one moment; D drones, T teams (1 in a drill). What a configuration has no use
    for is `()`.

    Attributes:
        bodies: drones and ball, in the world's frame.
        params: this episode's physics, where it is randomised.
        seen: what the sensors have said, newest first: `Bodies` with a first axis, where they are
            noisy or late.
        pending: f32[K, D, 4], the last actions, newest first, where they act late.
        delays: i8[2], steps by which actions and sensors are late.
        noise: f32[4], standard deviations of position (m), attitude (rad), velocity (m/s) and
            rates (rad/s).
        turn: i8[], whose touch is next: the team in 1v1, the drone in a drill (2 when setter and
            attacker are both done). Elsewhere the team in possession.
        possession: i8[], the team in whose half the ball is.
        touched: bool[D], who has touched the ball in this possession.
        since: i16[D], steps since each drone's last counted touch, at most `LONG_AGO`.
        last: i8[], the drone that touched the ball last; the server before the first touch.
        server: i8[], the drone that serves, or is served to in a drill.
        served: bool[], whether the first touch has been made.
        hits, crossings: i16[], legal touches and net crossings in this point.
        clock: i16[], steps of this point.
        time: i32[], steps of the episode.
        score: i16[T], points won.
        faults: bool[F, T], `Volleyball.faults` by team: why the last point ended.
        over: bool[], whether the episode has ended by the rules.
        match, drill: see there.
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


@dataclasses.dataclass(frozen=True)
class _Sight:
    """What the referee knows of one step, arrays with the trailing batch axis.

    Attributes:
        before, now: the bodies.
        racket, body: bool[D], counted touches of the ball by racket and by the rest of the drone.
        net, landed: bool[], ball in the net, ball down.
        netted: bool[D], drones that touch the net, or would if it went on upwards.
        inside: bool[], the ball's centre is over the court.
        sign: f32[D], +1 for who plays in x > 0, else -1.
        anchor: f32[D, 3], where each drone belongs, m.
        gap: f32[D], m from drone to ball.
        flat: f32[D], the same without height.
    """

    before: Bodies
    now: Bodies
    racket: Array
    body: Array
    net: Array
    landed: Array
    netted: Array
    inside: Array
    sign: Array
    anchor: Array
    gap: Array
    flat: Array


class Volleyball(Env[VolleyballState]):
    """Drone volleyball: a point, a match, or a drill.

    Args:
        task: `"1v1"`, `"3v3"`, `"6v6"`, or a drill: `"back_and_forth"`, `"hit"`, `"solo_bump"`,
            `"bump_and_pass"`, `"set_and_spike"`, `"set_and_spike_hard"` (against a scripted
            returner).
        actions: what the four numbers of an action, each in [-1, 1], mean:
            `"rotors"`: thrust of each rotor, -1 none, 1 all of it; `"ctbr"`: rates about the body's
            x, y, z axes (1 is 144 degrees/s) and collective thrust as of rotors; `"velocity"`: vx,
            vy, vz in the own frame (1 is 5 m/s) and rate of yaw (1 is 2 rad/s).
        physics: `"jax"`, or `"mujoco"`: MuJoCo's C engine on the same model, on the host.
        ball: `"volleybots"`: 5 g, no air; `"real"`: 0.27 kg, with air.
        drag: whether drones feel the air.
        downwash: whether drones feel the wind of those above them.
        rules: `"manyhands"`: touches are physical contacts at 200 Hz; a crash, or two team-mates
            too close, loses the point; in 1v1 standing at y = 0 costs nothing. `"volleybots"`: as
            published: touches are told from the ball's change of velocity at 50 Hz, the net is
            0.3 m thick to either side, crashes end a point without a winner.
        points: 1: an episode is one point; n: a match to n points with a lead of `lead`, with
            rotation, score and a change of sides when a team first has half of n.
        lead: points of lead that a match is won by.
        serve: who serves (first): `"random"`, `"near"` or `"far"`.
        randomise: ranges by name, `{"mass": (0.9, 1.1), "action_delay": (0, 2)}`, from which every
            episode draws; the names are those of `physics.randomise`, and `action_delay`,
            `sensor_delay` (steps), `position_noise`, `attitude_noise`, `velocity_noise`,
            `rate_noise` (standard deviations of what the sensors say, m, rad, m/s, rad/s).
        reward_weights: weights of the terms; by default the published ones.
        max_steps: steps after which an episode is truncated; by default the task's, and in a match
            `2 * points` times that.

    Not a finite number in an agent's action makes it zeros for this step, and is counted in
    `metrics["illegal"]`; numbers outside [-1, 1] are clipped. An episode that is over stays as it
    is. `docs/volleyball.md` lists rules, terms, metrics and observations, index by index.
    """

    id = "volleyball"
    package = "manyhands.envs.volleyball"
    phrases = ("mine", "yours", "set me", "to the left", "to the right", "cover", "well played")
    noop: Action = np.zeros(4, np.float32)
    batched = True
    exact = False
    reset_pool = 1024
    pace = 1 / STEP

    def __init__(
        self,
        task: str = "1v1",
        *,
        actions: str = "rotors",
        physics: str = "jax",
        ball: str = "volleybots",
        drag: bool = False,
        downwash: bool = False,
        rules: str = "manyhands",
        points: int = 1,
        lead: int = 2,
        serve: str = "random",
        randomise: Mapping[str, Sequence[float]] | None = None,
        reward_weights: Mapping[str, float] | None = None,
        max_steps: int | None = None,
    ):
        _one_of("task", task, tuple(TASKS))
        _one_of("actions", actions, ACTIONS)
        _one_of("physics", physics, PHYSICS)
        _one_of("ball", ball, BALLS)
        _one_of("rules", rules, RULES)
        _one_of("serve", serve, SERVES)
        _whole("points", points, 1, 1000)
        _whole("lead", lead, 1, 100)
        self.task, self.plan = task, TASKS[task]
        plan = self.plan
        self.versus = plan.teams == 2
        for name, value in (("drag", drag), ("downwash", downwash)):
            if not isinstance(value, bool):
                raise ConfigError(f"{name} is True or False, given {value!r}")
        if not self.versus and (points != 1 or serve != "random"):
            raise ConfigError(f"points= and serve= are for {names_of(_MATCHES)}, not for {task!r}")
        if max_steps is None:
            max_steps = plan.steps if points == 1 else 2 * points * plan.steps
        _whole("max_steps", max_steps, 1, 10_000_000)
        self.actions, self.physics, self.ball, self.rulebook = actions, physics, ball, rules
        self.points, self.lead, self.serve, self.max_steps = points, lead, serve, max_steps
        self.point_steps = min(plan.steps, max_steps)
        self._config: dict[str, Any] = {"task": task, "actions": actions, "physics": physics}
        self._config |= {"ball": ball, "rules": rules, "max_steps": max_steps}
        self._config |= {"drag": drag, "downwash": downwash}
        if self.versus:
            self._config |= {"points": points, "serve": serve}
        if points > 1:
            self._config["lead"] = lead
        self._prepare(_check_ranges(randomise or {}))
        if self.ranges:
            self._config["randomise"] = {name: list(pair) for name, pair in self.ranges.items()}
        if reward_weights:
            self._config["reward_weights"] = dict(reward_weights)
        self.terms = tuple(plan.weights)
        self.reward_weights = check_weights(reward_weights, plan.weights)
        self.faults = self._possible_faults()
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float32)
        state = jax.eval_shape(self.reset, jax.random.key(0))
        size = jax.eval_shape(self.observe, state).shape[1]
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        noise = any(plan.spread) or plan.tilt or plan.yaw
        chance = self.versus and (serve == "random" or points > 1)
        self.deterministic_reset = not (noise or chance or self.ranges)
        # The skills, which the scripted players use, turn rotors.
        self.scripted_policy = "team" if self.team_size > 1 else "rally"
        scripted = self.versus and actions == "rotors"
        self.default_policy = self.scripted_policy if scripted else "random"

    def _prepare(self, ranges: dict[str, tuple[float, float]]) -> None:
        """Bodies, teams and constants."""
        from manyhands.envs.volleyball import model

        plan, team_size = self.plan, len(self.plan.places)
        count = team_size * plan.teams
        if plan.teams == 2:
            self.agents = tuple(f"{team}_{i}" for team in TEAMS for i in range(team_size))
        else:
            self.agents = tuple(f"drone_{i}" for i in range(count))
        self.team_size = team_size
        if plan.teams == 2:  # who plays with whom, for whatever learns in teams
            self.sides = (tuple(range(team_size)), tuple(range(team_size, count)))
        self._team = np.repeat(np.arange(plan.teams, dtype=np.int8), team_size)
        self._mates = (self._team[:, None] == self._team) & ~np.eye(count, dtype=bool)
        self._places = np.asarray(plan.places, np.float32)
        loaded = model.load_model(plan.model, ball=self.ball)
        self.params = model.params_from_model(
            loaded, drag=self._config["drag"], downwash=self._config["downwash"]
        )
        self.trim = np.asarray(physics.trim(self.params), np.float32)  # of the greatest thrust
        if self.physics == "mujoco":
            from manyhands.envs.volleyball.engine import Engine

            self._advance = Engine(loaded).advance
        else:
            self._advance = physics.advance
        self.ranges = ranges
        self._physical = {name: ranges[name] for name in ranges if name in physics.RANDOMISED}
        self._late = int(ranges.get("action_delay", (0, 0))[1])
        self._ages = int(ranges.get("sensor_delay", (0, 0))[1]) + 1
        self._noisy = any(name in ranges for name in NOISES)
        self._sensing = self._noisy or self._ages > 1

    def _possible_faults(self) -> tuple[str, ...]:
        if self.versus:
            return POINT_FAULTS if self.team_size > 1 else POINT_FAULTS[:-1]
        low = ("ball_low", "ball_high", "drone_low")
        mine: dict[str, tuple[str, ...]] = {
            "back_and_forth": ("drone_low", "drone_high", "far_away"),
            "hit": ("double", *low, "drone_net"),
            "solo_bump": ("double", *low, "out", "drone_high", "drone_net"),
            "bump_and_pass": ("wrong_turn", "body", *low, "out", "net", "drone_net"),
            "set_and_spike": ("wrong_turn", "body", "crossed", *low, "out", "net", "drone_net"),
        }
        possible = mine[self.task.removesuffix("_hard")]
        if self.task in ("hit", "solo_bump") and self.rulebook == "manyhands":
            possible = (*possible, "body")
        return tuple(name for name in DRILL_FAULTS if name in possible)

    # ---- the start of an episode and of a point -----------------------------------------------

    def reset(self, key: Array) -> VolleyballState:
        plan, count = self.plan, self.num_agents
        start_key, serve_key, physics_key, sensor_key, level_key = jax.random.split(key, 5)
        params: Any = self.params
        if self._physical:
            params = physics.randomise(params, self._physical, physics_key)
        match: Any = ()
        if self.points > 1:
            match = Match(
                swapped=jnp.bool_(False),
                rotation=jnp.zeros(2, jnp.int8),
                seed=jax.random.bits(start_key, (), jnp.uint32),
                number=jnp.int16(0),
            )
        serving = jnp.int8(0 if self.serve != "far" else 1)
        if self.versus and self.serve == "random":
            serving = jax.random.bernoulli(serve_key).astype(jnp.int8)
        if any(plan.spread) or plan.tilt or plan.yaw:
            noise = jax.random.uniform(start_key, (count, 6), jnp.float32, -1.0, 1.0)
        else:
            noise = jnp.zeros((count, 6), jnp.float32)
        point = self._point(serving, match, noise)
        drill: Any = ()
        if not self.versus:
            zero = jnp.float32(0)
            drill = Drill(
                target=jnp.asarray(plan.target, jnp.float32),
                streak=jnp.int16(0),
                apex=point["bodies"].ball[2],
                apexes=zero,
                done=jnp.int16(0),
                board=jnp.asarray(RETURNER, jnp.float32),
                tilt=jnp.asarray((0.0, 0.0, 1.0), jnp.float32),
            )
        delays: Any = ()
        if self._late or self._ages > 1:
            ends = np.array([self.ranges.get(name, (0, 0)) for name in DELAYS], np.int32)
            drawn = jax.random.randint(level_key, (2,), ends[:, 0], ends[:, 1] + 1)
            delays = drawn.astype(jnp.int8)
        levels: Any = ()
        if self._noisy:
            ends = np.array([self.ranges.get(name, (0.0, 0.0)) for name in NOISES], np.float32)
            levels = jax.random.uniform(level_key, (4,), jnp.float32, ends[:, 0], ends[:, 1])
        pending: Any = ()
        if self._late:
            pending = jnp.zeros((self._late, count, 4), jnp.float32)
        seen: Any = ()
        if self._sensing:
            sensed = point["bodies"]
            if self._noisy:
                sensed = _disturbed(sensed, levels, sensor_key)
            seen = jax.tree_util.tree_map(lambda leaf: jnp.stack([leaf] * self._ages), sensed)
        return VolleyballState(
            params=params if self._physical else (),
            seen=seen,
            pending=pending,
            delays=delays,
            noise=levels,
            time=jnp.int32(0),
            score=jnp.zeros(plan.teams, jnp.int16),
            faults=jnp.zeros((len(self.faults), plan.teams), bool),
            over=jnp.bool_(False),
            match=match,
            drill=drill,
            **point,
        )

    def _point(self, serving: Array, match: Any, noise: Array) -> dict[str, Any]:
        """The fields of a state at the start of a point.

        Args:
            serving: i8[...], the team that serves.
            match: `Match` or ().
            noise: f32[D, 6, ...] in [-1, 1], for x, y, z, roll, pitch, yaw.
        """
        plan, count, axes = self.plan, self.num_agents, serving.ndim
        sign, anchor = self._sides(match, serving.shape), self._anchors(match, serving.shape)
        spread = _along(np.asarray(plan.spread, np.float32)[None], axes)
        position = anchor + spread * noise[:, :3]
        half = jnp.float32(0.5)
        roll, pitch = half * plan.tilt * noise[:, 3], half * plan.tilt * noise[:, 4]
        yaw = half * plan.yaw * half * (noise[:, 5] + 1)
        yaw = jnp.where(sign > 0, yaw, yaw + half * jnp.float32(np.pi))
        cr, sr, cp, sp = jnp.cos(roll), jnp.sin(roll), jnp.cos(pitch), jnp.sin(pitch)
        cy, sy = jnp.cos(yaw), jnp.sin(yaw)
        quaternion = jnp.stack(
            [
                cr * cp * cy + sr * sp * sy,
                sr * cp * cy - cr * sp * sy,
                cr * sp * cy + sr * cp * sy,
                cr * cp * sy - sr * sp * cy,
            ],
            axis=1,
        )
        server = self._server(serving, match)
        serves = _numbers(count, axes) == server[None]
        ball = jnp.sum(jnp.where(serves[:, None], position, 0), axis=0)
        if self.task == "back_and_forth":  # it lies where it is in nobody's way
            ball = jnp.broadcast_to(_along(_floats([-8.0, -4.0, RADIUS]), axes), ball.shape)
        else:
            ball = ball + _along(_floats([0.0, 0.0, plan.ball]), axes)
        zeros = jnp.zeros_like(position)
        zero = jnp.zeros_like(serving)
        bodies = Bodies(
            position=position,
            quaternion=quaternion,
            velocity=zeros,
            rates=zeros,
            thrust=jnp.broadcast_to(_along(self.trim, axes), (count, 4, *serving.shape)),
            ball=ball,
            ball_velocity=jnp.zeros_like(ball),
        )
        return {
            "bodies": bodies,
            "turn": serving if self.versus else zero,
            "possession": serving if self.versus else zero,
            "touched": jnp.zeros((count, *serving.shape), bool),
            "since": jnp.full((count, *serving.shape), LONG_AGO, jnp.int16),
            "last": server,
            "server": server,
            "served": zero != 0,
            "hits": zero.astype(jnp.int16),
            "crossings": zero.astype(jnp.int16),
            "clock": zero.astype(jnp.int16),
        }

    def _sides(self, match: Any, batch: tuple[int, ...]) -> Array:
        """f32[D, ...]: +1 for drones that play in x > 0, -1 for the others."""
        sign = _along(1 - 2 * self._team.astype(np.float32), len(batch))
        if self.points > 1:
            sign = jnp.where(match.swapped[None], -sign, sign)
        return jnp.broadcast_to(sign, (self.num_agents, *batch))

    def _anchors(self, match: Any, batch: tuple[int, ...]) -> Array:
        """f32[D, 3, ...]: where each drone belongs, in the world's frame."""
        axes = len(batch)
        turned = _along(_floats([[1, 1, 1], [-1, -1, 1]])[self._team], axes)
        n = self.team_size
        if self.points == 1 or n == 1:
            anchor = turned * _along(np.tile(self._places, (self.plan.teams, 1)), axes)
        else:
            number = _along(np.tile(np.arange(n), 2), axes)
            place = (number + jnp.repeat(match.rotation, n, axis=0)) % n
            at = place[:, None, None] == _along(np.arange(n)[None, :, None], axes)
            anchor = turned * jnp.sum(jnp.where(at, _along(self._places[None], axes), 0), axis=1)
        if self.points > 1:
            flip = _along(_floats([[-1, -1, 1]]), axes)
            anchor = jnp.where(match.swapped[None, None], anchor * flip, anchor)
        return jnp.broadcast_to(anchor, (self.num_agents, 3, *batch))

    def _server(self, serving: Array, match: Any) -> Array:
        """i8[...]: the drone of the serving team that stands at the serving place."""
        n, place = self.team_size, self.plan.server
        if self.points == 1 or n == 1:
            return (serving * n + place).astype(jnp.int8)
        rotation = jnp.where(serving == 0, match.rotation[0], match.rotation[1])
        return (serving * n + (place - rotation) % n).astype(jnp.int8)

    # ---- one step -----------------------------------------------------------------------------

    def step(
        self, key: Array, state: VolleyballState, actions: Array
    ) -> tuple[VolleyballState, Outcome]:
        shape = (self.num_agents, 4, *state.time.shape)
        if jnp.shape(actions) != shape:
            raise ConfigError(f"actions have the shape {shape}, given {jnp.shape(actions)}")
        done = state.over | (state.time >= self.max_steps)
        finite = jnp.all(jnp.isfinite(actions), axis=1)
        actions = jnp.where(finite[:, None], jnp.clip(actions, -1.0, 1.0), 0.0)
        pending, acting = state.pending, actions.astype(jnp.float32)
        if self._late:
            line = jnp.concatenate([acting[None], state.pending])
            acting, pending = _pick(line, state.delays[0]), line[:-1]
        params = state.params if self._physical else self.params
        commands = self._commands(params, state, acting)
        moved, touched = self._advance(params, state.bodies, commands)
        bodies, broken = _sound(state.bodies, moved)
        # Computed once, then read: fused into each rule, the physics would be computed for each.
        bodies, touched, broken = jax.lax.optimization_barrier((bodies, touched, broken))

        sight = self._see(state, bodies, touched)
        since = jnp.minimum(state.since + jnp.int16(1), jnp.int16(LONG_AGO))
        new = dataclasses.replace(
            state,
            bodies=bodies,
            pending=pending,
            since=jnp.where(sight.racket | sight.body, jnp.int16(0), since),
            clock=state.clock + jnp.int16(1),
            time=state.time + 1,
        )
        crash = "crash" if self.versus else "drone_low"
        referee = self._rally if self.versus else getattr(self, f"_{self.task}")
        new, faults, terms, metrics, ends = referee(state, new, sight)
        faults[crash] = faults[crash] | self._by_team(broken)
        table = _stack([faults[name] for name in self.faults])
        new = dataclasses.replace(new, faults=table)
        if self.versus:
            new, terms["win"], result = self._score(state, new)
            metrics |= result
        else:
            mistake = jnp.any(table, axis=(0, 1))
            terms["mistake"] = self._everyone(-_number(mistake))
            new = dataclasses.replace(new, over=mistake | ends)
        for i, name in enumerate(self.faults):
            metrics[f"fault_{name}"] = jnp.sum(_number(table[i]), axis=0)
        metrics["illegal"] = jnp.sum(_number(~finite), axis=0)
        if self._sensing:
            new = dataclasses.replace(new, seen=self._sense(key, new))

        # An episode that is over stays as it is.
        new = jax.tree_util.tree_map(lambda old, now: jnp.where(done, old, now), state, new)
        terms = {name: jnp.where(done, 0.0, value) for name, value in terms.items()}
        metrics = {name: jnp.where(done, 0.0, _number(x)) for name, x in metrics.items()}
        late = ~new.over & (new.time >= self.max_steps)
        return new, self.outcome(terms, self._everyone(new.over), self._everyone(late), metrics)

    def _commands(self, params: Any, state: VolleyballState, actions: Array) -> Array:
        """What the rotors are asked for, f32[D, 4, ...] in [-1, 1]."""
        if self.actions == "rotors":
            return actions
        from manyhands.envs.volleyball import control

        bodies = state.bodies
        if self.actions == "ctbr":
            rates = actions[:, :3] * jnp.float32(MAX_RATE)
            return control.from_rates(params, bodies, rates, (actions[:, 3] + 1) / 2)
        own = actions[:, :3] * jnp.float32(MAX_VELOCITY)
        velocity = _turn(own, self._sides(state.match, state.time.shape))
        return control.from_velocity(
            params, bodies, velocity, actions[:, 3] * jnp.float32(MAX_YAW_RATE)
        )

    def _sense(self, key: Array, state: VolleyballState) -> Bodies:
        """What the sensors have said, the newest first."""
        now = state.bodies
        if self._noisy:
            now = _disturbed(now, state.noise, key)
        return jax.tree_util.tree_map(
            lambda newest, past: jnp.concatenate([newest[None], past[:-1]]), now, state.seen
        )

    def sensed(self, state: VolleyballState) -> Bodies:
        """The bodies as sensors tell them now: late and noisy, where `randomise` makes them so."""
        if not self._sensing:
            return state.bodies
        age = state.delays[1] if self._late or self._ages > 1 else jnp.int8(0)
        return jax.tree_util.tree_map(lambda leaf: _pick(leaf, age), state.seen)

    # ---- the referee --------------------------------------------------------------------------

    def _see(self, state: VolleyballState, now: Bodies, touched: Touched) -> _Sight:
        """What happened in a step, as the rules tell it."""
        before = state.bodies
        length, width = self.plan.court
        ball, was = now.ball, before.ball
        racket, body = touched.racket, touched.hull
        within = jnp.abs(ball[1]) < width / 2
        if self.rulebook == "volleybots":
            if self.versus:
                racket, body = _told_from_velocity(before, now)
            net = (jnp.abs(ball[0]) < 3 * RADIUS) & within & (ball[2] < NET)
        else:
            # Through it in one step, in it, or touching it.
            share = was[0] / jnp.where(was[0] == ball[0], 1.0, was[0] - ball[0])
            y, z = (was[i] + share * (ball[i] - was[i]) for i in (1, 2))
            through = (was[0] * ball[0] < 0) & (jnp.abs(y) < width / 2) & (z < NET)
            inside = (jnp.abs(ball[0]) < RADIUS) & within & (ball[2] < NET)
            net = touched.net | through | inside
        fresh = state.since + jnp.int16(1) > DEBOUNCE
        offset = ball[None] - now.position
        flat = jnp.sqrt(offset[:, 0] * offset[:, 0] + offset[:, 1] * offset[:, 1])
        return _Sight(
            before=before,
            now=now,
            racket=racket & fresh,
            body=body & ~racket & fresh,
            net=net,
            landed=ball[2] < LANDED,
            netted=touched.netted | (jnp.abs(now.position[:, 0]) < 0.01),
            inside=within & (jnp.abs(ball[0]) < length / 2),
            sign=self._sides(state.match, state.time.shape),
            anchor=self._anchors(state.match, state.time.shape),
            gap=_length(offset),
            flat=flat,
        )

    def _side_of(self, sign: Array, x: Array) -> Array:
        """i8[...]: the team in whose half x is; the far one's at x = 0."""
        return ((x > 0) != (sign[0] > 0)).astype(jnp.int8)

    def _allowed(self, state: VolleyballState) -> Array:
        """bool[D, ...]: who may touch the ball next."""
        axes = state.time.ndim
        numbers, team = _numbers(self.num_agents, axes), _along(self._team, axes)
        if self.task == "solo_bump" or self.task == "hit":
            return state.since >= PAUSE
        if self.task == "back_and_forth":
            return jnp.zeros_like(state.touched)
        if not self.versus:
            return numbers == state.turn[None]
        if self.team_size == 1:
            return team == state.turn[None]
        turn = (team == state.possession[None]) & ~state.touched
        return jnp.where(state.served[None], turn, numbers == state.server[None])

    def _rally(
        self, state: VolleyballState, new: VolleyballState, sight: _Sight
    ) -> tuple[VolleyballState, dict[str, Array], dict[str, Array], dict[str, Array], Any]:
        """A step of a point between two teams."""
        axes, now = state.time.ndim, sight.now
        team = _along(self._team, axes)
        length, width = self.plan.court
        x, y, z = now.position[:, 0], now.position[:, 1], now.position[:, 2]
        own_x = x * sight.sign
        side = self._side_of(sight.sign, now.ball[0])
        side = jnp.where(now.ball[0] == 0, state.possession, side)
        crossed = side != state.possession

        allowed = self._allowed(state)
        if self.team_size > 1:
            # Who gets the ball over the net may touch it in the very step that it comes.
            arrives = (crossed & state.served)[None] & (team == side[None])
            allowed = allowed | arrives
        legal, wrong = sight.racket & allowed, sight.racket & ~allowed
        hit, any_wrong = jnp.any(legal, axis=0), jnp.any(wrong, axis=0)

        touching = jnp.where(any_wrong[None], wrong, sight.racket)
        toucher = jnp.argmax(touching, axis=0).astype(jnp.int8)
        last = jnp.where(jnp.any(sight.racket, axis=0), toucher, state.last)
        last_team = (last >= self.team_size).astype(jnp.int8)
        if self.team_size == 1:
            turn = jnp.where(hit, jnp.int8(1) - state.turn, state.turn)
            touched = state.touched | legal
        else:
            turn = side
            touched = jnp.where(crossed[None], legal & (team == side[None]), state.touched | legal)
        new = dataclasses.replace(
            new,
            turn=turn,
            possession=side,
            touched=touched,
            last=last,
            served=state.served | hit,
            hits=state.hits + hit,
            crossings=state.crossings + crossed,
        )

        teams = _along(np.arange(2, dtype=np.int8), axes)
        blamed = teams == last_team[None]
        out = ~sight.inside
        if self.team_size > 1:
            out = out & sight.landed
        half = (teams == side[None]) & (sight.inside & sight.landed)[None]
        faults = {
            "wrong_turn": self._by_team(wrong),
            "body": self._by_team(sight.body),
            "crossed": self._by_team(own_x < 0),
            "own_floor": half,
            "out": blamed & out[None],
            "net": blamed & sight.net[None],
            "crash": self._by_team(z < CRASHED),
        }

        after = self._allowed(new)
        down = -_number(z < CRASHED)
        if self.team_size == 1:
            astray = (own_x < 0.5) | (own_x > length / 2 - 0.5) | (jnp.abs(y) > width / 2 - 0.5)
            astray = astray | (jnp.abs(z - sight.anchor[:, 2]) > 1)
            if self.rulebook == "volleybots":
                astray = astray | (jnp.abs(y) < 0.5)
            terms = {
                "hit": _number(legal),
                "approach": jnp.where(after, 1 / (1 + sight.flat), 0.0),
                "position": -_number(astray),
                "ground": down,
            }
        else:
            gaps = _length(now.position[:, None] - now.position[None], axis=2)
            mates = self._mates.reshape(*self._mates.shape, *(1,) * axes)
            close = jnp.any((gaps < CLOSE) & mates, axis=1)
            faults["close"] = self._by_team(close)
            team_hit = self._of_team(self._by_team(legal))
            terms = {
                "hit": _number(team_hit),
                "approach": jnp.where(after, 1 / (1 + sight.gap), 0.0),
                "anchor": 1 / (1 + _length(now.position - sight.anchor)),
                "ground": down,
                "close": -_number(close),
            }
        metrics = {"hits": hit, "crossings": crossed & state.served}
        return new, faults, terms, metrics, False

    def _score(
        self, state: VolleyballState, new: VolleyballState
    ) -> tuple[VolleyballState, Array, dict[str, Array]]:
        """Who wins the point, if it has ended, and the next point of a match: the state, the term
        `win` and metrics."""
        table = new.faults
        losing = [
            self.rulebook == "manyhands" or name not in ("crash", "close") for name in self.faults
        ]
        lost = jnp.any(table[np.flatnonzero(losing)], axis=0)
        won = lost[::-1] & ~lost
        ended = jnp.any(table, axis=(0, 1))
        win = self._of_team(_number(won) - _number(won[::-1]))
        score = state.score + won
        late = ended
        if self.points > 1:
            late = ended | (new.clock >= self.point_steps)
        metrics = {
            "near_points": won[0],
            "far_points": won[1],
            "draws": late & ~jnp.any(won, axis=0),
            "rally": jnp.where(late, new.crossings, 0),
        }
        if self.points == 1:
            return dataclasses.replace(new, score=score, over=ended), win, metrics

        high = jnp.max(score, axis=0)
        over = (high >= self.points) & (high - jnp.min(score, axis=0) >= self.lead)
        serving = (state.server >= self.team_size).astype(jnp.int8)
        scorer = won[1].astype(jnp.int8)
        gained = jnp.any(won, axis=0) & (scorer != serving)  # a side-out
        serving = jnp.where(gained, scorer, serving)
        moves = gained[None] & won
        half = -(-self.points // 2)
        changes = (high >= half) & (jnp.max(state.score, axis=0) < half)
        match = Match(
            swapped=state.match.swapped ^ changes,
            rotation=((state.match.rotation + moves) % self.team_size).astype(jnp.int8),
            seed=state.match.seed,
            number=state.match.number + jnp.int16(1),
        )
        start = self._point(serving, match, _mixed(match, self.num_agents))
        start |= {"match": match}
        begins = late & ~over
        kept = {name: getattr(new, name) for name in start}
        chosen = jax.tree_util.tree_map(lambda a, b: jnp.where(begins, a, b), start, kept)
        faults = jnp.where(late, table, state.faults)
        new = dataclasses.replace(new, score=score, over=over, faults=faults, **chosen)
        return new, win, metrics

    # ---- drills -------------------------------------------------------------------------------

    def _back_and_forth(
        self, state: VolleyballState, new: VolleyballState, sight: _Sight
    ) -> tuple[VolleyballState, dict[str, Array], dict[str, Array], dict[str, Array], Any]:
        drill, position = state.drill, sight.now.position
        distance = _length(position[0] - drill.target, axis=0)
        streak = jnp.where(distance < 0.6, drill.streak + jnp.int16(1), jnp.int16(0))
        reached = streak >= 5
        ends = [_along(_floats(end), state.time.ndim) for end in self._ends()]
        away = jnp.where(drill.target == ends[0], ends[1], ends[0])
        new = dataclasses.replace(
            new,
            drill=dataclasses.replace(
                drill,
                target=jnp.where(reached, away, drill.target),
                streak=jnp.where(reached, jnp.int16(0), streak),
                done=drill.done + reached,
            ),
        )
        left = (50 - streak).astype(jnp.float32) * jnp.float32(0.02)
        terms = {
            "stay": self._everyone(_number(streak)),
            "approach": self._everyone(left / (1 + distance * distance)),
        }
        faults = {
            "drone_low": position[:, 2] < 0.4,
            "drone_high": position[:, 2] > 5.0,
            "far_away": (distance > 7.5)[None],
        }
        return new, faults, terms, {"targets": reached}, False

    def _ends(self) -> tuple[Sequence[float], Sequence[float]]:
        """The two ends of back_and_forth."""
        return self.plan.target, self.plan.places[0]

    def _touch(
        self, state: VolleyballState, new: VolleyballState, sight: _Sight
    ) -> tuple[VolleyballState, Array, Array, Array, Array]:
        """The bookkeeping of touches in a drill, and bool[D, ...]: legal touches, touches out of
        turn, touches with the body; and bool[...]: whether the ball has crossed the net."""
        racket, body = sight.racket, sight.body
        if self.rulebook == "volleybots" and self.num_agents == 1:
            racket, body = racket | body, jnp.zeros_like(body)  # any contact counts
        allowed = self._allowed(state)
        legal, wrong = racket & allowed, racket & ~allowed
        hit = jnp.any(legal, axis=0)
        side = self._side_of(sight.sign, sight.now.ball[0])
        side = jnp.where(sight.now.ball[0] == 0, state.possession, side)
        crossed = side != state.possession
        new = dataclasses.replace(
            new,
            touched=state.touched | legal,
            possession=side,
            last=jnp.where(hit, jnp.argmax(legal, axis=0).astype(jnp.int8), state.last),
            served=state.served | hit,
            hits=state.hits + hit,
            crossings=state.crossings + crossed,
        )
        return new, legal, wrong, body, crossed

    def _solo_faults(self, sight: _Sight, wrong: Array, body: Array) -> dict[str, Array]:
        z, ball = sight.now.position[:, 2], sight.now.ball
        return {
            "double": wrong,
            "body": body,
            "ball_low": (ball[2] < 0.15)[None],
            "drone_low": z < 0.4,
            "drone_net": sight.netted,
        }

    def _hit(
        self, state: VolleyballState, new: VolleyballState, sight: _Sight
    ) -> tuple[VolleyballState, dict[str, Array], dict[str, Array], dict[str, Array], Any]:
        new, legal, wrong, body, _ = self._touch(state, new, sight)
        ball, falling = sight.now.ball, sight.now.ball_velocity[2] < 0
        down = (new.hits == 1) & falling & (ball[2] <= 2.0)
        flown = jnp.where(down, sight.anchor[0, 0] - ball[0], 0.0)
        away = _length(sight.now.position - sight.anchor) > 1.0
        terms = {
            "hit": _number(legal),
            "anchor": -_number(away),
            "distance": self._everyone(flown),
        }
        faults = self._solo_faults(sight, wrong, body)
        faults["ball_high"] = (ball[2] > 16.0)[None]
        hit = jnp.any(legal, axis=0)
        return new, faults, terms, {"hits": hit, "distance": flown}, down

    def _solo_bump(
        self, state: VolleyballState, new: VolleyballState, sight: _Sight
    ) -> tuple[VolleyballState, dict[str, Array], dict[str, Array], dict[str, Array], Any]:
        new, legal, wrong, body, _ = self._touch(state, new, sight)
        drill, ball = state.drill, sight.now.ball
        hit = jnp.any(legal, axis=0)
        apex = jnp.maximum(drill.apex, ball[2])
        between = hit & state.served
        apexes = drill.apexes + jnp.where(between, apex, 0.0)
        mean = apexes / jnp.maximum(new.hits - 1, 1).astype(jnp.float32)
        high = between & (mean > 3.5)
        drill = dataclasses.replace(
            drill,
            apex=jnp.where(hit, ball[2], apex),
            apexes=apexes,
            done=drill.done + high,
        )
        new = dataclasses.replace(new, drill=drill)
        z = sight.now.position[:, 2]
        terms = {
            "hit": _number(legal),
            "high": self._everyone(_number(high)),
            "approach": 1 / (1 + sight.flat),
            "lift": jnp.clip(ball[2][None] - jnp.maximum(z, 1.0), 0.0, 2.0),
        }
        faults = self._solo_faults(sight, wrong, body)
        faults["ball_high"] = (ball[2] > 4.5)[None]
        faults["drone_high"] = z > 2.5
        faults["out"] = ~sight.inside[None]
        return new, faults, terms, {"hits": hit, "high_hits": high}, False

    def _pair_faults(self, sight: _Sight, wrong: Array, body: Array) -> dict[str, Array]:
        z, ball = sight.now.position[:, 2], sight.now.ball

        def any_of(mask: Array) -> Array:
            return jnp.any(mask, axis=0, keepdims=True)

        return {
            "wrong_turn": any_of(wrong),
            "body": any_of(body),
            "ball_high": (ball[2] > 16.0)[None],
            "out": ~sight.inside[None],
            "net": sight.net[None],
            "drone_low": any_of(z < 0.4),
            "drone_net": any_of(sight.netted),
        }

    def _toward(self, sight: _Sight, goal: Array) -> Array:
        """Cosine between the ball's way over ground and the direction to `goal` [>=2, ...]."""
        ball, velocity = sight.now.ball, sight.now.ball_velocity
        dx, dy = goal[0] - ball[0], goal[1] - ball[1]
        vx, vy = velocity[0], velocity[1]
        size = jnp.sqrt((dx * dx + dy * dy) * (vx * vx + vy * vy))
        return (dx * vx + dy * vy) / jnp.maximum(size, 1e-6)

    def _bump_and_pass(
        self, state: VolleyballState, new: VolleyballState, sight: _Sight
    ) -> tuple[VolleyballState, dict[str, Array], dict[str, Array], dict[str, Array], Any]:
        new, legal, wrong, body, _ = self._touch(state, new, sight)
        ball = sight.now.ball
        hit = jnp.any(legal, axis=0)
        turn = jnp.where(hit, jnp.int8(1) - state.turn, state.turn)
        # The ball goes across once a touch, however many steps it spends near y = 0.
        over = (jnp.abs(ball[1]) <= 0.1) & (ball[2] > 4.0) & new.served
        across = over & (state.drill.streak == 0)
        streak = jnp.where(hit, jnp.int16(0), state.drill.streak + across)
        drill = dataclasses.replace(state.drill, streak=streak, done=state.drill.done + across)
        new = dataclasses.replace(new, turn=turn, drill=drill)
        mine = self._allowed(new)
        partner = jnp.where(turn == 0, sight.now.position[0], sight.now.position[1])
        excess = jnp.maximum(_length(sight.now.position - sight.anchor) - 0.5, 0.0)
        aim = jnp.where(hit, self._toward(sight, partner), 0.0)
        terms = {
            "hit": self._everyone(_number(hit)),
            "crossing": self._everyone(_number(across)),
            "anchor": self._everyone(-(excess[0] + excess[1]) / 2),
            "approach": jnp.where(mine, 1.0, -1.0) / (1 + sight.gap),
            "aim": self._everyone(aim),
        }
        faults = self._pair_faults(sight, wrong, body)
        faults["ball_low"] = (ball[2] < 0.15)[None]
        return new, faults, terms, {"hits": hit, "passes": across}, False

    def _set_and_spike(
        self, state: VolleyballState, new: VolleyballState, sight: _Sight
    ) -> tuple[VolleyballState, dict[str, Array], dict[str, Array], dict[str, Array], Any]:
        new, legal, wrong, body, crossed = self._touch(state, new, sight)
        axes, now = state.time.ndim, sight.now
        hit = jnp.any(legal, axis=0)
        turn = state.turn + hit.astype(jnp.int8)
        spiked = hit & (state.turn == 1)
        new = dataclasses.replace(new, turn=turn)
        crossing = crossed & (turn == 2) & (new.possession == 1)
        landing = sight.landed & (turn == 2) & (now.ball[0] < 0) & sight.inside
        target = _along(_floats(self.plan.target), axes)
        miss = jnp.sqrt((now.ball[0] - target[0]) ** 2 + (now.ball[1] - target[1]) ** 2)
        # A spike is told by where the ball goes after it, at the attacker's touch.
        vz = now.ball_velocity[2]
        returned = jnp.zeros_like(hit)
        good = landing & (miss < 1.0)
        if self.task == "set_and_spike_hard":
            new, returned = self._return(state, new, sight)
            good = landing
        goal = jnp.where(turn == 2, target, now.position[1])
        mine = self._allowed(new)
        terms = {
            "hit": _number(hit),
            "spike": _number(spiked & (vz < 0)),
            "cross": _number(crossing),
            "on_target": _number(good),
            "approach": jnp.where(mine, 1 / (1 + sight.gap), 0.0),
            "aim": jnp.where(hit, self._toward(sight, goal), 0.0),
            "power": jnp.where(spiked, jnp.maximum(0.0, 5.0 - vz), 0.0),
            "placing": jnp.where(landing, jnp.maximum(0.0, 10.0 - miss), 0.0),
        }
        terms = {
            name: value if name == "approach" else self._everyone(value)
            for name, value in terms.items()
        }
        faults = self._pair_faults(sight, wrong, body)
        faults["crossed"] = jnp.any(now.position[:, 0] < 0, axis=0, keepdims=True)
        faults["ball_low"] = ((now.ball[2] < 0.15) & ~landing)[None]
        metrics = {
            "hits": hit,
            "spikes": spiked & (vz < 0),
            "crossings": crossing,
            "on_target": good,
            "returns": returned,
        }
        return new, faults, terms, metrics, landing | returned

    _set_and_spike_hard = _set_and_spike

    def _return(
        self, state: VolleyballState, new: VolleyballState, sight: _Sight
    ) -> tuple[VolleyballState, Array]:
        """The scripted returner of set_and_spike_hard: a board that runs to where the ball comes
        down and, if it gets there, bats it back. The state, and whether it has returned the ball.

        It moves at most 8 m/s and tilts at most 4 rad/s; the ball bounces off it with restitution
        0.77, at a speed of the board along its normal (at most 8 m/s) that makes the ball arrive
        at the middle of the near half 1.5 s later, if it can.
        """
        axes, drill, now = state.time.ndim, state.drill, sight.now
        ball, velocity = now.ball, now.ball_velocity
        radius, thickness = BOARD
        level = drill.board[2] + thickness + RADIUS
        gravity = self.params.gravity
        rise = velocity[2] * velocity[2] + 2 * gravity * (ball[2] - level)
        wait = (velocity[2] + jnp.sqrt(jnp.maximum(rise, 0.0))) / gravity
        spot = ball + velocity * wait
        length, width = self.plan.court
        spot_x = jnp.clip(spot[0], -length / 2, -radius)
        spot_y = jnp.clip(spot[1], -width / 2, width / 2)
        dx, dy = spot_x - drill.board[0], spot_y - drill.board[1]
        far = jnp.sqrt(dx * dx + dy * dy)
        share = jnp.minimum(1.0, BOARD_SPEED * STEP / jnp.maximum(far, 1e-6))
        share = jnp.where(new.turn == 2, share, 0.0)
        board = jnp.stack(
            [drill.board[0] + share * dx, drill.board[1] + share * dy, drill.board[2]]
        )

        goal = _along(_floats([length / 4, 0.0, RADIUS]), axes)
        half = jnp.float32(0.5 * BOARD_FLIGHT)
        wanted = (goal - ball) / BOARD_FLIGHT
        wanted = wanted + _along(_floats([0, 0, 1]), axes) * gravity * half
        change = wanted - velocity
        normal = change / jnp.maximum(_length(change, axis=0), 1e-6)
        turn = normal - drill.tilt
        size = _length(turn, axis=0)
        turn = turn * jnp.minimum(1.0, 4.0 * STEP / jnp.maximum(size, 1e-6))
        tilt = drill.tilt + jnp.where(new.turn == 2, turn, 0.0)
        tilt = tilt / _length(tilt, axis=0)

        was = sight.before.ball[2]
        over = jnp.sqrt((ball[0] - board[0]) ** 2 + (ball[1] - board[1]) ** 2) < radius
        meets = (new.turn == 2) & (ball[2] <= level) & (was > level) & over
        along = _dot(velocity, tilt)
        bounce = jnp.float32(BOARD_RESTITUTION)
        push = (_dot(wanted, tilt) + bounce * along) / (1 + bounce)
        push = jnp.clip(push, 0.0, BOARD_SPEED)
        after = velocity + (1 + bounce) * (push - along) * tilt
        bodies = dataclasses.replace(new.bodies, ball_velocity=jnp.where(meets, after, velocity))
        drill = dataclasses.replace(drill, board=board, tilt=tilt)
        return dataclasses.replace(new, bodies=bodies, drill=drill), meets

    # ---- what agents are given ----------------------------------------------------------------

    def legal(self, state: VolleyballState) -> Array:
        """bool[D, 1]: whether an agent may act; all actions within the space are legal then."""
        return self.acting(state)[:, None]

    def acting(self, state: VolleyballState) -> Array:
        return self._everyone(~state.over & (state.time < self.max_steps))

    def observe(self, state: VolleyballState) -> Array:
        return _beside(self._published(state, self.sensed(state)))

    def perceive(self, state: VolleyballState) -> Array:
        """f32[D, K]: the observation, and then all there is to know, in the own frame; `layout`
        names the parts."""
        return _beside(list(self._facts(state, self.sensed(state)).values()))

    @functools.cached_property
    def layout(self) -> dict[str, slice]:
        """Where in a row of `perceive` each part is. Where a part holds something of each drone,
        the own team's come first, in the order of their numbers.

        `observation`: the row of `observe`. `me`: one-hot, which of the own team's drones this is.
        `position`, `quaternion`, `velocity`, `rates` (about the body's axes), `thrust`, `anchor`:
        of each drone. `ball`, `ball_velocity`. `allowed`, `touched`: of each drone, whether it may
        touch the ball next, and has in this possession. `last`: one-hot, who touched the ball last
        (all zeros before the first touch). `since`: of each drone, steps since its last touch, at
        most 1000. `clock`: steps played and steps left in this point. Between teams: `possession`
        (the ball is in the own half, in the other), `serving` (own team, other), `served`, `score`
        (own, other). In drills: `target`, `streak` and `board`, as in `Drill`.
        """
        state = jax.eval_shape(self.reset, jax.random.key(0))
        # The dicts that come out of eval_shape are sorted.
        names: list[str] = []

        def facts(state: VolleyballState) -> list[Array]:
            found = self._facts(state, state.bodies)
            names.extend(found)
            return list(found.values())

        sizes = jax.eval_shape(facts, state)
        parts = dict(zip(names, sizes, strict=True))
        found, start = {}, 0
        for name, part in parts.items():
            found[name] = slice(start, start + part.shape[1])
            start += part.shape[1]
        return found

    def skill_set(self) -> VolleyballSkills:
        """What `wrappers/skills.py` plays this by."""
        from manyhands.envs.volleyball.skills import VolleyballSkills

        return VolleyballSkills(self)

    def network_input(self, row: Array) -> Array:
        """The observation, out of a row of `perceive`."""
        return row[self.layout["observation"]]

    def summary(self, state: VolleyballState) -> Array:
        """f32[K]: all there is to know, as `perceive` tells it to the first agent, without noise
        or delay of the sensors."""
        return _beside(list(self._facts(state, state.bodies).values()))[0]

    def _published(self, state: VolleyballState, bodies: Bodies) -> list[Array]:
        """The parts of the observation, f32[D, k, ...] each (docs/volleyball.md)."""
        axes, count, n = state.time.ndim, self.num_agents, self.team_size
        sign = self._sides(state.match, state.time.shape)
        position = _turn(bodies.position, sign)
        quaternion = _half_turn(bodies.quaternion, sign)
        rotation = physics.matrix(quaternion)
        rates = physics.rotate(quaternion, bodies.rates)
        throttle = 2 * jnp.sqrt(jnp.clip(bodies.thrust, 0.0, 1.0)) - 1
        parts = [position, quaternion, _turn(bodies.velocity, sign), rates]
        parts += [rotation[:, :, 0], rotation[:, :, 2], throttle]
        anchor = position - _turn(self._anchors(state.match, state.time.shape), sign)
        ball = _turn(_each(bodies.ball, count), sign)
        away, ball_velocity = position - ball, _turn(_each(bodies.ball_velocity, count), sign)
        numbers = _along(np.tile(np.eye(n, dtype=np.float32), (self.plan.teams, 1)), axes)
        numbers = jnp.broadcast_to(numbers, (count, n, *state.time.shape))
        if self.task == "back_and_forth":
            return [*parts, _each(state.drill.target, count) - position]
        if count == 1:
            return [*parts, anchor, away, ball_velocity]
        if self.versus and n > 1:
            own = _along(self._team, axes) == state.possession[None]
            everyone = self._of_all(bodies.position, sign)
            return [
                *parts,
                anchor,
                -away,
                ball_velocity,
                _one_hot(own),
                numbers,
                jnp.flip(_one_hot(state.touched), 1),
                everyone.reshape(count, -1, *state.time.shape),
            ]
        other = position - _turn(bodies.position[::-1], sign)
        parts += [anchor, other, away, ball_velocity]
        if self.versus:
            return [*parts, _one_hot(_along(self._team, axes) == state.turn[None])]
        turns = _along(np.arange(2 if self.task == "bump_and_pass" else 3), axes)
        turn = _number(state.turn[None] == turns)
        return [*parts, _each(turn, count), numbers]

    def _facts(self, state: VolleyballState, bodies: Bodies) -> dict[str, Array]:
        """The parts of `perceive`, f32[D, k, ...] each."""
        axes, count, n = state.time.ndim, self.num_agents, self.team_size
        batch = state.time.shape
        sign, team = self._sides(state.match, state.time.shape), _along(self._team, axes)
        everyone = functools.partial(self._of_all, sign=sign)

        def flat(parts: Array) -> Array:
            return parts.reshape(count, -1, *batch)

        turned = _half_turn(bodies.quaternion, jnp.ones_like(sign))
        seen = self._ordered(turned)
        other = jnp.broadcast_to(sign[:, None], (count, count, *batch)).reshape(-1, *batch)
        attitude = _half_turn(seen.reshape(-1, 4, *batch), other)
        me = _along(np.tile(np.eye(n, dtype=np.float32), (self.plan.teams, 1)), axes)
        numbers = _numbers(count, axes)
        last = (numbers == state.last[None]) & state.served[None]
        clock = [state.clock, self.point_steps - state.clock]
        facts = {
            "observation": _beside(self._published(state, bodies)),
            "me": jnp.broadcast_to(me, (count, n, *batch)),
            "position": flat(everyone(bodies.position)),
            "quaternion": attitude.reshape(count, -1, *batch),
            "velocity": flat(everyone(bodies.velocity)),
            "rates": flat(self._ordered(bodies.rates)),
            "thrust": flat(self._ordered(bodies.thrust)),
            "anchor": flat(everyone(self._anchors(state.match, state.time.shape))),
            "ball": _turn(_each(bodies.ball, count), sign),
            "ball_velocity": _turn(_each(bodies.ball_velocity, count), sign),
            "allowed": flat(self._ordered(self._allowed(state)[:, None])),
            "touched": flat(self._ordered(state.touched[:, None])),
            "last": flat(self._ordered(last[:, None])),
            "since": flat(self._ordered(state.since[:, None])),
            "clock": _each(jnp.stack(clock), count),
        }
        if self.versus:
            serving = state.server >= n
            score = jnp.where(
                (team == 0)[:, None], state.score[None], jnp.flip(state.score, 0)[None]
            )
            facts |= {
                "possession": _one_hot(team == state.possession[None]),
                "serving": _one_hot((team == 1) == serving[None]),
                "served": _each(state.served[None], count),
                "score": score,
            }
        else:
            facts |= {
                "target": _each(state.drill.target, count),
                "streak": _each(state.drill.streak[None], count),
                "board": _each(state.drill.board, count),
            }
        return {
            name: jnp.broadcast_to(part, (*part.shape[:2], *batch)).astype(jnp.float32)
            for name, part in facts.items()
        }

    def _ordered(self, rows: Array) -> Array:
        """What each drone knows of all, [D, D, ...], from [D, ...]: the own team's first."""
        count, n = self.num_agents, self.team_size
        if self.plan.teams == 1:
            return jnp.broadcast_to(rows[None], (count, *rows.shape))
        tables = jnp.stack([rows, jnp.concatenate([rows[n:], rows[:n]])])
        return jnp.repeat(tables, n, axis=0)

    def _of_all(self, vectors: Array, sign: Array) -> Array:
        """Vectors [D, 3, ...] of all drones, as each drone sees them: [D, D, 3, ...]."""
        ordered = self._ordered(vectors)
        turned = ordered[:, :, :2] * sign[:, None, None]
        up = jnp.broadcast_to(ordered[:, :, 2:], (*ordered.shape[:2], 1, *turned.shape[3:]))
        return jnp.concatenate([turned, up], axis=2)

    def _by_team(self, mask: Array) -> Array:
        """bool[T, ...]: whether it holds of any of a team's drones."""
        return jnp.any(mask.reshape(self.plan.teams, self.team_size, *mask.shape[1:]), axis=1)

    def _of_team(self, values: Array) -> Array:
        """What holds of a team, [T, ...], for each of its drones, [D, ...]."""
        return jnp.repeat(values, self.team_size, axis=0)

    def _everyone(self, value: Array) -> Array:
        """The same for every agent."""
        return jnp.broadcast_to(value[None], (self.num_agents, *value.shape))

    # ---- words, pictures, situations ----------------------------------------------------------

    def draw_doing(
        self,
        state: VolleyballState,
        canvas: Any,
        doing: Sequence[str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        """`draw`, with what each drone is doing written at it."""
        from manyhands.envs.volleyball import draw

        draw.draw(self, state, canvas, None if agent is None else self.index(agent), doing)

    def draw_speech(
        self,
        state: VolleyballState,
        canvas: Any,
        texts: Mapping[int, str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> bool:
        """Paint what drones say, by axis index, over a picture that `draw` made on this canvas."""
        from manyhands.envs.volleyball import draw

        draw.bubbles(self, state, canvas, texts, None if agent is None else self.index(agent))
        return True

    def place(
        self,
        *,
        positions: Any = None,
        velocities: Any = None,
        quaternions: Any = None,
        rates: Any = None,
        thrust: Any = None,
        ball: Sequence[float] | None = None,
        ball_velocity: Sequence[float] | None = None,
        serving: str = "near",
        turn: str | None = None,
        touched: Sequence[str] = (),
        last: str | None = None,
        served: bool | None = None,
        score: Sequence[int] | None = None,
        clock: int = 0,
        swapped: bool = False,
        rotation: Sequence[int] = (0, 0),
    ) -> VolleyballState:
        """A situation from plain numbers, in the world's frame, to step from.

        What is not given is as at the start of a point: drones level and still at their anchors,
        rotors hovering, the ball at rest above the server.

        Args:
            positions, velocities, quaternions, rates, thrust: as in `physics.Bodies`: for all
                drones, [D, 3] or [D, 4], or `{"near_0": [...]}` for some. Quaternions are made
                unit length.
            ball, ball_velocity: three numbers each.
            serving: the team that has served, or will.
            turn: whose touch is next: `"near"` or `"far"` in 1v1, a drone (or `"done"`) in the
                drills of two.
            touched: drones that have touched the ball in this possession, a second ago.
            last: the drone that touched the ball last, a second ago.
            served: whether the first touch has been made; by default, if `turn`, `touched` or
                `last` says so.
            score: points of the near and of the far team.
            clock: steps of the point played.
            swapped, rotation: as in `Match`, in a match of several points.
        """
        _one_of("serving", serving, TEAMS)
        team = np.int8(TEAMS.index(serving) if self.versus else 0)
        if self.points == 1 and (swapped or any(rotation)):
            raise ConfigError("swapped= and rotation= are of matches: points= more than 1")
        places = np.asarray(rotation, np.int8) % self.team_size
        state = jax.device_get(_beginning(self)(team, np.bool_(swapped), places.astype(np.int8)))
        bodies = state.bodies
        point: dict[str, Any] = {}
        given = {
            "position": positions,
            "quaternion": quaternions,
            "velocity": velocities,
            "rates": rates,
            "thrust": thrust,
        }
        changed = {
            name: self._rows(name, value, np.asarray(getattr(bodies, name)))
            for name, value in given.items()
            if value is not None
        }
        if "quaternion" in changed:
            size = np.linalg.norm(changed["quaternion"], axis=1, keepdims=True)
            if (size < 1e-6).any():
                raise ConfigError("quaternions are not zero")
            changed["quaternion"] = changed["quaternion"] / size
        for name, value in (("ball", ball), ("ball_velocity", ball_velocity)):
            if value is not None:
                changed[name] = _finite(name, value, (3,))
        point["bodies"] = dataclasses.replace(
            bodies, **{name: np.asarray(x, np.float32) for name, x in changed.items()}
        )
        if served is None:
            served = turn is not None or bool(touched) or last is not None
        point["served"] = np.bool_(served)
        point["clock"] = np.int16(clock)
        hit = [self.index(agent) for agent in touched]
        point["touched"] = np.asarray([i in hit for i in range(self.num_agents)])
        point["hits"] = np.int16(len(hit))
        if turn is not None:
            point["turn"] = np.int8(self._turn_number(turn))
            if self.versus:
                point["last"] = np.int8(1 - int(point["turn"]))
        if last is not None:
            point["last"] = np.int8(self.index(last))
            hit.append(self.index(last))
        ago = [round(1 / STEP) if i in hit else LONG_AGO for i in range(self.num_agents)]
        point["since"] = np.asarray(ago, np.int16)
        if ball is not None and float(ball[0]) != 0 and self.task != "back_and_forth":
            side = np.int8((ball[0] > 0) == swapped)
            point["possession"] = side
            if self.versus and self.team_size > 1:
                point["turn"] = side
        seen = state.seen
        if self._sensing:
            seen = jax.tree_util.tree_map(
                lambda leaf: np.stack([leaf] * self._ages), point["bodies"]
            )
        if score is not None:
            points = np.asarray(_finite("score", score, (self.plan.teams,)), np.int16)
            state = dataclasses.replace(state, score=points)
        drill = state.drill
        if not self.versus:
            drill = dataclasses.replace(drill, apex=point["bodies"].ball[2])
        placed: VolleyballState = dataclasses.replace(
            state, seen=seen, drill=drill, time=np.int32(clock), **point
        )
        return placed

    def _turn_number(self, turn: str) -> int:
        if self.versus and self.team_size == 1:
            _one_of("turn", turn, TEAMS)
            return TEAMS.index(turn)
        if self.versus or self.num_agents == 1:
            raise ConfigError("turn= is for 1v1 and for the drills of two drones")
        if turn == "done" and self.task != "bump_and_pass":
            return 2
        return self.index(turn)

    def _rows(self, name: str, given: Any, rows: np.ndarray) -> np.ndarray:
        """Rows with those replaced that are given, by agent or all."""
        if not isinstance(given, Mapping):
            return _finite(name, given, rows.shape)
        rows = rows.copy()
        for agent, values in given.items():
            rows[self.index(agent)] = _finite(f"{name} of {agent}", values, rows.shape[1:])
        return rows

    def to_dict(self, state: VolleyballState) -> dict[str, Any]:
        bodies, allowed = state.bodies, np.asarray(self._allowed(state))
        anchors = np.asarray(self._anchors(state.match, ()))
        sign = np.asarray(self._sides(state.match, ()))

        def numbers(values: Any) -> list[float]:
            return [float(x) for x in np.asarray(values)]

        drones = []
        for i, agent in enumerate(self.agents):
            drone: dict[str, Any] = {"name": agent}
            if self.versus:
                drone |= {"team": TEAMS[self._team[i]], "side": TEAMS[int(sign[i] < 0)]}
            drone |= {
                "position": numbers(bodies.position[i]),
                "quaternion": numbers(bodies.quaternion[i]),
                "velocity": numbers(bodies.velocity[i]),
                "rates": numbers(bodies.rates[i]),
                "thrust": numbers(bodies.thrust[i]),
                "anchor": numbers(anchors[i]),
                "may_touch": bool(allowed[i]),
                "touched": bool(state.touched[i]),
                "steps_since_touch": int(state.since[i]),
            }
            drones.append(drone)
        faults = np.asarray(state.faults)
        teams = TEAMS if self.versus else ("drones",)
        found: dict[str, Any] = {
            "task": self.task,
            "time": int(state.time),
            "steps_left": self.max_steps - int(state.time),
            "point_steps": int(state.clock),
            "over": bool(state.over),
            "ball": {
                "position": numbers(bodies.ball),
                "velocity": numbers(bodies.ball_velocity),
            },
            "drones": drones,
            "served": bool(state.served),
            "last_touch": self.agents[int(state.last)] if bool(state.served) else None,
            "hits": int(state.hits),
            "crossings": int(state.crossings),
            "faults": {
                name: [team for t, team in enumerate(teams) if faults[f, t]]
                for f, name in enumerate(self.faults)
            },
        }
        if self.versus:
            found |= {
                "server": self.agents[int(state.server)],
                "possession": TEAMS[int(state.possession)],
                "turn": TEAMS[int(state.turn)],
                "score": dict(zip(TEAMS, map(int, np.asarray(state.score)), strict=True)),
            }
        else:
            turn, drill = int(state.turn), state.drill
            found["turn"] = self.agents[turn] if turn < self.num_agents else None
            found["drill"] = {
                "target": numbers(drill.target),
                "streak": int(drill.streak),
                "apex": float(drill.apex),
                "apexes": float(drill.apexes),
                "done": int(drill.done),
            }
            if self.task == "set_and_spike_hard":
                found["drill"] |= {"board": numbers(drill.board), "tilt": numbers(drill.tilt)}
        if self.points > 1:
            match = state.match
            found["match"] = {
                "points": self.points,
                "lead": self.lead,
                "swapped": bool(match.swapped),
                "rotation": [int(r) for r in np.asarray(match.rotation)],
                "number": int(match.number),
                "seed": int(match.seed),
            }
        if self._physical:
            found["params"] = {
                field.name: np.asarray(getattr(state.params, field.name)).tolist()
                for field in dataclasses.fields(state.params)
                if getattr(state.params, field.name) is not None
            }
        if self._late or self._ages > 1:
            found["delays"] = dict(zip(DELAYS, map(int, np.asarray(state.delays)), strict=True))
        if self._late:
            found["pending"] = np.asarray(state.pending).tolist()
        if self._noisy:
            found["noise"] = dict(zip(NOISES, numbers(state.noise), strict=True))
        if self._sensing:
            found["seen"] = {
                field.name: np.asarray(getattr(state.seen, field.name)).tolist()
                for field in dataclasses.fields(state.seen)
            }
        return found

    def config(self) -> dict[str, Any]:
        return dict(self._config)


# ---- small things --------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def _beginning(env: Volleyball) -> Any:
    """What `place` starts from, compiled: the first state with this team serving, without noise."""
    still = np.zeros((env.num_agents, 6), np.float32)

    def begin(team: Array, swapped: Array, rotation: Array) -> VolleyballState:
        state = env.reset(jax.random.key(0))
        match = state.match
        if env.points > 1:
            match = dataclasses.replace(match, swapped=swapped, rotation=rotation)
        return dataclasses.replace(state, match=match, **env._point(team, match, still))

    return jax.jit(begin)


_MATCHES = tuple(name for name, plan in TASKS.items() if plan.teams == 2)


def _told_from_velocity(before: Bodies, now: Bodies) -> tuple[Array, Array]:
    """Touches as VolleyBots tells them, bool[D, ...] by racket and by any part of a drone: the
    ball's velocity has jumped, and the ball was or is within 0.5 m of the drone; or over its
    racket: in a cylinder of radius 0.2 m that stands 0.2 m high on the drone's centre."""
    change = now.ball_velocity - before.ball_velocity
    level = jnp.sqrt(change[0] * change[0] + change[1] * change[1])
    jumped = (change[2] > 9.8 * STEP) | (level > 0.5)

    def around(bodies: Bodies) -> tuple[Array, Array]:
        offset = bodies.ball[None] - bodies.position
        local = physics.unrotate(bodies.quaternion, offset)
        beside = local[:, 0] * local[:, 0] + local[:, 1] * local[:, 1]
        over = (local[:, 2] >= 0) & (local[:, 2] <= 2 * RADIUS) & (beside < 0.04)
        return over, _length(offset) < 0.5

    over, near = (a | b for a, b in zip(around(before), around(now), strict=True))
    return over & jumped[None], near & jumped[None]


def _sound(before: Bodies, now: Bodies) -> tuple[Bodies, Array]:
    """Bodies without a number that is not finite: a drone (or the ball) that has one stops where
    it was. And bool[D, ...], which drones: random extremes may spin one faster than a step of the
    physics can follow."""
    parts = (now.position, now.quaternion, now.velocity, now.rates, now.thrust)
    bad = ~functools.reduce(jnp.logical_and, (jnp.all(jnp.isfinite(x), axis=1) for x in parts))
    lost = ~(jnp.all(jnp.isfinite(now.ball), 0) & jnp.all(jnp.isfinite(now.ball_velocity), 0))
    still = {"velocity", "rates", "ball_velocity"}
    found = {}
    for field in dataclasses.fields(now):
        old, new = getattr(before, field.name), getattr(now, field.name)
        mask = lost[None] if field.name.startswith("ball") else bad[:, None]
        found[field.name] = jnp.where(mask, 0.0 if field.name in still else old, new)
    return Bodies(**found), bad


def _disturbed(bodies: Bodies, levels: Array, key: Array) -> Bodies:
    """The bodies as noisy sensors tell them; `levels` are `VolleyballState.noise`."""
    count = bodies.position.shape[0]

    def draw(key: Array) -> Array:
        return jax.random.normal(key, (count * 12 + 6,), jnp.float32)

    noise = jax.vmap(draw, out_axes=-1)(key) if key.ndim else draw(key)
    own = noise[: count * 12].reshape(count, 4, 3, *noise.shape[1:])
    place, twist, speed, rates = (own[:, i] * levels[i] for i in range(4))
    small = jnp.concatenate([jnp.ones_like(twist[:, :1]), twist / 2], axis=1)
    quaternion = physics.multiply(bodies.quaternion, small)
    return dataclasses.replace(
        bodies,
        position=bodies.position + place,
        quaternion=quaternion / _length(quaternion)[:, None],
        velocity=bodies.velocity + speed,
        rates=bodies.rates + rates,
        ball=bodies.ball + noise[-6:-3] * levels[0],
        ball_velocity=bodies.ball_velocity + noise[-3:] * levels[2],
    )


def _mixed(match: Match, count: int) -> Array:
    """f32[count, 6, ...] in [-1, 1): the noise of a point's start, from the match's seed and the
    point's number (the finaliser of MurmurHash3): nothing is drawn in steps that start none."""
    axes = match.seed.ndim
    index = _along(np.arange(count * 6, dtype=np.uint32) * np.uint32(0x9E3779B1), axes)
    bits = match.seed[None] + match.number.astype(jnp.uint32)[None] * np.uint32(0x85EBCA6B) + index
    for factor in (0x85EBCA6B, 0xC2B2AE35):
        bits = (bits ^ (bits >> 16)) * np.uint32(factor)
    bits = bits ^ (bits >> 16)
    unit = (bits >> 8).astype(jnp.float32) * jnp.float32(2.0**-23) - 1
    return unit.reshape(count, 6, *match.seed.shape)


def _turn(vectors: Array, sign: Array) -> Array:
    """Vectors f32[D, 3, ...], turned by pi about z where `sign` [D, ...] is -1."""
    turned = vectors[:, :2] * sign[:, None]
    up = jnp.broadcast_to(vectors[:, 2:], (turned.shape[0], 1, *turned.shape[2:]))
    return jnp.concatenate([turned, up], axis=1)


def _half_turn(quaternion: Array, sign: Array) -> Array:
    """Attitudes f32[D, 4, ...], turned by pi about z where `sign` is -1, with w >= 0."""
    w, x, y, z = (quaternion[:, i] for i in range(4))
    near = sign > 0
    parts = [jnp.where(near, a, b) for a, b in ((w, -z), (x, -y), (y, x), (z, w))]
    flip = jnp.where(parts[0] < 0, jnp.float32(-1), jnp.float32(1))
    return jnp.stack([part * flip for part in parts], axis=1)


def _dot(a: Array, b: Array) -> Array:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _length(vectors: Array, axis: int = 1) -> Array:
    x, y, z = (jax.lax.index_in_dim(vectors, i, axis, keepdims=False) for i in range(3))
    return jnp.sqrt(x * x + y * y + z * z)


def _pick(line: Array, number: Array) -> Array:
    """`line[number]` by a select over the first axis, for `number` [...]."""
    numbers = np.arange(line.shape[0]).reshape(-1, *(1,) * (line.ndim - 1))
    return jnp.sum(jnp.where(numbers == number, line, 0), axis=0)


def _floats(values: Any) -> np.ndarray:
    return np.asarray(values, np.float32)


def _numbers(count: int, axes: int) -> Any:
    """i8[count, 1...], to compare numbers of drones with."""
    return _along(np.arange(count, dtype=np.int8), axes)


def _along(values: Any, axes: int) -> Any:
    """Values before `axes` batch axes."""
    return np.asarray(values).reshape(*np.shape(values), *(1,) * axes)


def _each(value: Array, count: int) -> Array:
    """The same for each drone."""
    return jnp.broadcast_to(value[None], (count, *value.shape))


def _one_hot(mask: Array) -> Array:
    """f32[D, 2, ...]: (1, 0) where a mask bool[D, ...] holds, else (0, 1)."""
    return _number(jnp.stack([mask, ~mask], axis=1))


def _number(value: Array) -> Array:
    return jnp.asarray(value).astype(jnp.float32)


def _stack(rows: list[Array]) -> Array:
    """Rows on a new first axis, each computed by itself in a batch."""
    return jnp.stack(jax.lax.optimization_barrier(rows) if rows[0].ndim > 1 else rows)


def _beside(parts: list[Array]) -> Array:
    """Parts f32[D, k, ...] beside each other, each computed by itself in a batch: fused into the
    copy, every element would ask which part it is of."""
    batch = jnp.broadcast_shapes(*(part.shape[2:] for part in parts))
    whole = [jnp.broadcast_to(part, (*part.shape[:2], *batch)) for part in parts]
    if batch:
        whole = jax.lax.optimization_barrier(whole)
    return jnp.concatenate([part.astype(jnp.float32) for part in whole], axis=1)


def _check_ranges(given: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """The ranges of `randomise`, checked."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"randomise is a mapping of names to (low, high), given {given!r}")
    own = {name: given[name] for name in given if name in (*DELAYS, *NOISES)}
    rest = {name: given[name] for name in given if name not in own}
    unknown = [name for name in rest if name not in physics.RANDOMISED]
    if unknown:
        known = names_of([*physics.RANDOMISED, *DELAYS, *NOISES])
        raise ConfigError(f"randomise names {unknown[0]!r}; what can be drawn is {known}")
    found = physics.check_ranges(rest)
    for name, pair in own.items():
        try:
            low, high = (float(value) for value in pair)
        except (TypeError, ValueError):
            raise ConfigError(f"the range of {name} is (low, high), given {pair!r}") from None
        whole = name in DELAYS
        if not 0 <= low <= high <= (MAX_DELAY if whole else 10) or (whole and low % 1 + high % 1):
            what = f"whole steps up to {MAX_DELAY}" if whole else "numbers up to 10"
            raise ConfigError(f"the range of {name} is (low, high), {what} from 0, given {pair!r}")
        found[name] = (low, high)
    return {name: found[name] for name in sorted(found)}


def _finite(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        values = np.asarray(given, np.float32)
    except (TypeError, ValueError):
        values = np.zeros(0, np.float32)
    if values.shape != shape or not np.isfinite(values).all():
        raise ConfigError(f"{name} is {shape} finite numbers, given {given!r}")
    return values


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(f"{name} is {names_of(allowed)}, given {value!r}")


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConfigError(f"{name} is a whole number from {low} to {high}, given {value!r}")
