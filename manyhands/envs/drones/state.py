"""The tasks and shapes as data, the state, and what the rules need of a configuration."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from manyhands.core.env import Array, state_dataclass
from manyhands.envs.volleyball.physics import RANDOMISED, Bodies, Params, Touched

STEP = 0.02  # s, of a control step
ACTIONS = ("velocity", "position", "rotors", "ctbr", "moves")
# Control steps that one action lasts, by default.
REPEATS = {"velocity": 5, "position": 5, "rotors": 1, "ctbr": 1, "moves": 25}
MAX_YAW_RATE = 2.0  # rad/s, of a velocity action of 1
MAX_RATE = 2.513274  # rad/s, of a "ctbr" action of 1: 144 degrees/s
LONG_AGO = 3000  # control steps; longer is not counted

MOST_DRONES, MOST_CYLINDERS, MOST_GOALS = 6, 8, 8
REACHED = 0.5  # m: how near to the goal the drones' middle must be
IN_SHAPE = 0.4  # m: the greatest error of a shape that counts


class Task(NamedTuple):
    """A task.

    Attributes:
        title: in texts and pictures.
        half: m, half the length (x) and half the width (y) of the arena. height: m.
        drones, fewest: how many drones by default, and at least.
        cylinders, radius: how many obstacles by default, and their radius in m.
        cells: (x, y) in m, about which cylinders stand, each by chance somewhere else.
        jitter: m, how far from its cell a cylinder stands at most, in x and in y.
        speed: m/s, of the drones in the actions that name velocities, places or moves.
        seconds: how long an episode is.
        weights: of the reward terms.
    """

    title: str
    half: tuple[float, float]
    height: float
    drones: int
    fewest: int
    cylinders: int
    radius: float
    cells: tuple[tuple[float, float], ...]
    jitter: float
    speed: float
    seconds: float
    weights: Mapping[str, float]


TASKS = {
    "formation": Task(
        title="Formation",
        half=(9.5, 5.0),
        height=4.0,
        drones=3,
        fewest=2,
        cylinders=4,
        radius=0.4,
        cells=tuple((x, y) for x in (-1.4, 1.4) for y in (-3.6, -1.2, 1.2, 3.6)),
        jitter=0.3,
        speed=2.0,
        seconds=40.0,
        weights={
            "progress": 1.0,
            "shape": -0.5,
            "reached": 10.0,
            "collision": -0.5,
            "crash": -20.0,
        },
    ),
    "pursuit": Task(
        title="Pursuit",
        half=(4.5, 4.5),
        height=3.0,
        drones=3,
        fewest=1,
        cylinders=4,
        radius=0.4,
        cells=tuple((x, y) for x in (-2.0, 0.0, 2.0) for y in (-2.4, 0.0, 2.4)),
        jitter=0.25,
        speed=2.0,
        seconds=30.0,
        weights={"capture": 10.0, "approach": 0.5, "collision": -0.5, "crash": -10.0},
    ),
}
STARTS = {"formation": 6.0, "pursuit": 3.3}  # m from the middle along x, to both sides
FASTER = 1.3  # how much faster the evader is (Chen et al. 2024)
CAPTURE = 0.6  # m

# ---- shapes --------------------------------------------------------------------------------------

SHAPES = ("line", "column", "triangle", "square", "ring", "wedge")
SPACING = 1.1  # m between neighbours


def slots(shape: str, count: int) -> np.ndarray:
    """f64[count, 3], m: the places of a shape, about their mean."""
    k = np.arange(count, dtype=float)
    if shape == "line":  # across the way from one side of the arena to the other
        flat = np.stack([0 * k, k], 1)
    elif shape == "column":
        flat = np.stack([k, 0 * k], 1)
    elif shape == "wedge":  # one ahead, the others behind it to either side
        rank = np.ceil(k / 2)
        flat = np.stack([-rank, rank * np.where(k % 2, 1, -1)], 1) * math.sqrt(0.5)
    elif shape == "ring":
        turn = 2 * math.pi * k / count
        flat = np.stack([np.cos(turn), np.sin(turn)], 1) / (2 * math.sin(math.pi / count))
    else:  # along the sides of a regular polygon, at equal distances
        sides = {"triangle": 3, "square": 4}[shape]
        turn = 2 * math.pi * np.arange(sides + 1) / sides
        corners = np.stack([np.cos(turn), np.sin(turn)], 1)
        at = k * sides / count
        side, part = at.astype(int), (at % 1)[:, None]
        flat = corners[side] * (1 - part) + corners[side + 1] * part
        if count > 1:
            apart = np.linalg.norm(flat[:, None] - flat[None], axis=2) + 9 * np.eye(count)
            flat = flat / apart.min()
    flat = (flat - flat.mean(0)) * SPACING
    return np.concatenate([flat, np.zeros((count, 1))], 1)


# ---- the state -----------------------------------------------------------------------------------


@state_dataclass
class Reading:
    """What an agent reads of the others. The last three are `()` in formation.

    Attributes:
        position, velocity: f32[D, 3], m and m/s, of all drones.
        seen, known, unseen: as in `DronesState`.
    """

    position: Array
    velocity: Array
    seen: Any
    known: Any
    unseen: Any


@state_dataclass
class DronesState:
    """One arena at one moment. What a task has no use for is `()`.

    Attributes:
        bodies: the drones; in pursuit the evader is the last one. The ball, which this physics has,
            lies far away.
        params: this episode's physics, where it is randomised.
        cylinders: f32[C, 2], m, where the obstacles stand, from floor to ceiling.
        goals: f32[K, 3], m, where the shape is to be, one after the other.
        reached: i8[], how many of them were.
        seen: bool[N], which pursuers see the evader.
        known: f32[6], place (m) and velocity (m/s) of the evader when it was seen last.
        unseen: i16[], control steps since.
        catcher: i8[], which pursuer caught the evader, counted from 1; 0 as long as none.
        touched: bool[D], who touched a cylinder, a wall, the floor or another drone in the last
            step.
        gained: i8[], goals reached in the last step.
        sighting: i8[], in the last step: 1 the evader came into sight, -1 it went out of sight.
        collisions: i32[], counted over drones and steps.
        crashed: bool[], whether a collision ended the episode.
        over: bool[], whether the episode has ended by the rules.
        time: i32[], steps.
        recent: i16[A], with `actions="moves"`: the move of each agent in the last step, counted
            from 1; 0 at the start. What comes next does not depend on it.
        disturbance: a `Disturbance` of volleyball, where there are gusts, pushes or lost readings.
        held: a `Reading` with a first axis for the agent: what each read last of the others, where
            some readings are lost.
        lost: bool[A], which agents read nothing new of the others in the last step.
    """

    bodies: Bodies
    params: Any
    cylinders: Array
    goals: Any
    reached: Any
    seen: Any
    known: Any
    unseen: Any
    catcher: Any
    touched: Array
    gained: Any
    sighting: Any
    collisions: Array
    crashed: Array
    over: Array
    time: Array
    recent: Any = ()
    disturbance: Any = ()
    held: Any = ()
    lost: Any = ()


class DronesConfig:
    """The options and what follows from them; made by `Drones`.

    Attributes:
        task, actions, physics, integrator, airframe, evader, collisions, shape: the options.
        team: N, the drones that fly in formation, or pursue.
        cylinders, goals: how many. repeat: control steps in a step.
        speed, faster, capture, sight: the options.
        params: the physics as designed. ranges: what episodes draw, by name.
        advance: `(params, bodies, commands) -> (bodies, touched)`.
        max_yaw: N m, the most that controllers ask for about z.
    """

    task: str
    actions: str
    shape: str
    evader: str
    collisions: str
    team: int
    cylinders: int
    goals: int
    repeat: int
    speed: float
    faster: float
    capture: float
    sight: float
    max_steps: int
    params: Params
    ranges: Mapping[str, tuple[float, float]]
    advance: Callable[..., tuple[Bodies, Touched]]
    max_yaw: float
    agents: tuple[str, ...]

    @functools.cached_property
    def plan(self) -> Task:
        return TASKS[self.task]

    @functools.cached_property
    def pursuit(self) -> bool:
        return self.task == "pursuit"

    @functools.cached_property
    def versus(self) -> bool:
        """Whether the evader is an agent."""
        return self.pursuit and self.evader == "agent"

    @functools.cached_property
    def count(self) -> int:
        """D, the number of bodies: the team, and the evader."""
        return self.team + self.pursuit

    @functools.cached_property
    def players(self) -> int:
        """A, the number of agents."""
        return self.team + self.versus

    @functools.cached_property
    def physical(self) -> dict[str, tuple[float, float]]:
        """The ranges that `physics.randomise` draws from."""
        return {name: pair for name, pair in self.ranges.items() if name in RANDOMISED}

    @functools.cached_property
    def disturbed(self) -> bool:
        """Whether there are gusts or pushes."""
        return "gusts" in self.ranges or "push" in self.ranges

    @functools.cached_property
    def losing(self) -> bool:
        """Whether agents read nothing new of the others now and then."""
        return "dropout" in self.ranges

    @functools.cached_property
    def slots(self) -> np.ndarray:
        """f32[N, 3], m: the places of the shape about their mean."""
        return slots(self.shape, self.team).astype(np.float32)

    @functools.cached_property
    def speeds(self) -> np.ndarray:
        """f32[D], m/s, the greatest of each drone."""
        found = np.full(self.count, self.speed, np.float32)
        if self.pursuit:
            found[-1] *= self.faster
        return found

    @functools.cached_property
    def body(self) -> float:
        """m, the radius of a drone where it touches things."""
        return float(self.params.hull[0])

    @functools.cached_property
    def room(self) -> np.ndarray:
        """f32[2, 3], m: the least and the greatest place of a drone's middle."""
        (x, y), z = self.plan.half, self.plan.height
        low = -float(self.params.hull[1]) + self.body
        inner = self.body
        return np.array(
            [[inner - x, inner - y, low], [x - inner, y - inner, z - inner]], np.float32
        )
