"""Teams of drones in an arena with obstacles, on the physics of `envs/volleyball`: they fly in
formation, or pursue an evader that is faster than they are.

The tasks are of the kind of OmniDrones' Formation (Xu et al., "OmniDrones: An Efficient and
Flexible Platform for Reinforcement Learning in Drone Control", 2024) and of pursuit-evasion with
obstacles as in Chen et al., "Multi-UAV Pursuit-Evasion with Online Planning in Unknown
Environments by Deep Reinforcement Learning", 2024; rules and numbers are our own (`state.py`).

`rules.py` has the steps, `start.py` the starts, `moves.py` what drones can do by name.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import (
    boolean,
    check_actions,
    check_weights,
    number,
    one_of,
    plain,
    whole,
)
from manyhands.core.env import DETAILS, Action, Array, ConfigError, Env, Outcome
from manyhands.core.probes import Question
from manyhands.envs.drones import events, moves, rules, start
from manyhands.envs.drones import observe as views
from manyhands.envs.drones.state import (
    ACTIONS,
    CAPTURE,
    FASTER,
    MOST_CYLINDERS,
    MOST_DRONES,
    MOST_GOALS,
    REPEATS,
    SHAPES,
    STEP,
    TASKS,
    DronesConfig,
    DronesState,
)
from manyhands.envs.volleyball import disturbances, model
from manyhands.envs.volleyball import physics as jax_physics

PHYSICS = ("jax", "mujoco")
COLLISIONS = ("cost", "end")
EVADERS = ("scripted", "agent")
# What `randomise` can draw of the physics: there is no ball.
DRAWN = tuple(n for n in jax_physics.RANDOMISED if n not in ("ball_mass", "restitution"))
_FAR_EDGE = 40.0  # m, more than across any arena


class Drones(DronesConfig, Env[DronesState]):
    """Drones in formation past obstacles, or in pursuit of a faster one.

    Args:
        task: `"formation"`: be at one goal after the other, in the shape; `"pursuit"`: catch the
            evader.
        drones: how many fly in formation (2 to 6) or pursue (1 to 6).
        actions: what an action means: `"velocity"`: four numbers in [-1, 1], the velocity to the
            east, to the north and up (a vector of length 1 is `speed`) and the rate of yaw (1 is
            2 rad/s); `"position"`: a set-point, x, y, z over the arena and heading (1 is half a
            turn to the left of east), flown to at `speed`; `"rotors"`: thrust of each rotor, -1
            none, 1 all of it; `"ctbr"`: rates about the body's axes (1 is 144 degrees/s) and
            collective thrust; `"moves"`: the number of a move by name (`moves.py`).
        shape: of the formation: `"line"` across the way, `"column"` along it, `"triangle"`,
            `"square"`, `"ring"` or `"wedge"`.
        goals: how many goals there are in formation, 1 to 8.
        cylinders: how many obstacles, 0 to 8.
        evader: `"scripted"`: it flees by a potential field and sees everything; `"agent"`: it is
            the last agent.
        faster: how many times as fast as the pursuers the evader is.
        capture: m, how near a pursuer has to come to the evader.
        sight: m, how far drones see the evader; cylinders hide it, too. Pursuers tell each other.
        collisions: of drones with cylinders, walls, the floor and each other: `"cost"`: they cost
            reward; `"end"`: they end the episode as well.
        speed: m/s, of the drones, where actions name velocities, places or moves.
        repeat: control steps of 20 ms in a step; by default 5, 25 with `"moves"`, 1 with
            `"rotors"` and `"ctbr"`.
        physics: `"jax"`, or `"mujoco"`: MuJoCo's C engine on the same model, on the host.
        integrator: `"gyroscopic"` or `"euler"`, as in volleyball.
        airframe: `"iris"` or `"crazyflie"`, as in volleyball.
        drag: whether drones feel the air.
        downwash: whether drones feel the wind of those above them.
        randomise: ranges by name, `{"mass": (0.9, 1.1)}`, from which every episode draws: `mass`,
            `inertia`, `thrust`, `moment`, `lag`, `drag`, `wind`, `lag_rise`, `lag_fall`,
            `ground_effect`, `gusts` (standard deviation, m/s), `push` and `push_rate` (N s, 1/s),
            `dropout` (share of steps), as in volleyball. Wind and gusts act through `drag`; they
            and pushes meet the evader, too.
        reward_weights: weights of the terms.
        max_steps: steps after which an episode is truncated; by default those of 40 s in
            formation and of 30 s in pursuit.
        detail: how much texts tell: `"brief"`, `"normal"` or `"full"`.

    An action with a number that is not finite, or a move that is not open to the drone, is illegal:
    it is zeros, or `hold`, for this step, and counted in `metrics["illegal"]`. An episode that is
    over stays as it is.

    **Observation**, f32[K] per drone: as `observation_layout` names it.

    `summary`, f32[S]: everything there is to know.
    """

    id = "drones"
    package = "manyhands.envs.drones"
    batched = True
    exact = False
    reset_pool = 1024
    pace = 10.0
    cameras = ("south", "above")
    phrases = (
        "I go left",
        "I go right",
        "I cut it off",
        "I see it",
        "I have lost it",
        "wait for me",
        "take my slot",
        "close ranks",
        "yes",
        "no",
    )

    def __init__(
        self,
        task: str = "formation",
        *,
        drones: int | None = None,
        actions: str = "velocity",
        shape: str = "triangle",
        goals: int = 3,
        cylinders: int | None = None,
        evader: str = "scripted",
        faster: float = FASTER,
        capture: float = CAPTURE,
        sight: float = _FAR_EDGE,
        collisions: str = "cost",
        speed: float | None = None,
        repeat: int | None = None,
        physics: str = "jax",
        integrator: str = "gyroscopic",
        airframe: str = "iris",
        drag: bool = False,
        downwash: bool = False,
        randomise: Mapping[str, Sequence[float]] | None = None,
        reward_weights: Mapping[str, float] | None = None,
        max_steps: int | None = None,
        detail: str = "normal",
    ):
        self.task = one_of("task", task, tuple(TASKS))
        plan = self.plan
        given = plan.drones if drones is None else drones
        self.team = whole("drones", given, plan.fewest, MOST_DRONES)
        self.actions = one_of("actions", actions, ACTIONS)
        self.shape = one_of("shape", shape, SHAPES)
        self.goals = whole("goals", goals, 1, MOST_GOALS)
        self.cylinders = whole(
            "cylinders", plan.cylinders if cylinders is None else cylinders, 0, MOST_CYLINDERS
        )
        self.evader = one_of("evader", evader, EVADERS)
        self.faster = number("faster", faster, 0.1, 3)
        self.capture = number("capture", capture, 0.35, 3)
        self.sight = number("sight", sight, 0.5, _FAR_EDGE)
        self._refuse_strangers()
        self.collisions = one_of("collisions", collisions, COLLISIONS)
        self.speed = number("speed", plan.speed if speed is None else speed, 0.2, 4)
        if not self.pursuit and actions in ("rotors", "ctbr") and self.speed != plan.speed:
            raise ConfigError(
                f"speed= is for actions that name velocities, places or moves, not for {actions!r}"
            )
        self.repeat = whole("repeat", REPEATS[actions] if repeat is None else repeat, 1, 100)
        self.physics = one_of("physics", physics, PHYSICS)
        self.integrator = one_of("integrator", integrator, jax_physics.INTEGRATORS)
        self.airframe = one_of("airframe", airframe, tuple(model.AIRFRAMES))
        self.drag, self.downwash = boolean("drag", drag), boolean("downwash", downwash)
        self.detail = one_of("detail", detail, DETAILS)
        if max_steps is None:
            max_steps = round(plan.seconds / (STEP * self.repeat))
        self.max_steps = whole("max_steps", max_steps, 1, 1_000_000)
        self.reward_weights = check_weights(reward_weights, plan.weights)
        self._given_weights = plain(reward_weights or {})
        self.terms = tuple(plan.weights)
        drawn = {} if randomise is None else randomise
        self.ranges = disturbances.check_ranges(drawn, DRAWN, disturbances.MOST)
        self._load()
        word = "pursuer" if self.pursuit else "drone"
        names = [f"{word}_{i}" for i in range(self.team)]
        self.agents = (*names, "evader") if self.versus else tuple(names)
        if self.versus:
            self.sides = (tuple(range(self.team)), (self.team,))
        self.action_space: gymnasium.Space[Any]
        if actions == "moves":
            self.action_space = gymnasium.spaces.Discrete(len(moves.move_names(self)))
            self.noop: Action = 0
        else:
            self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float32)
            self.noop = np.zeros(4, np.float32)
        self.observation_layout = views.layout(self)
        self.observation_space = self.observation_layout.space()
        self.event_names = events.names(self)
        self.event_kinds = events.KINDS
        self.reset_options = start.options_of(self)
        self.scripted_policy = ""
        if actions not in ("rotors", "ctbr"):
            self.scripted_policy = "surround" if self.pursuit else "keeper"
        self._scales = views.scales(self.observation_layout)

    def _refuse_strangers(self) -> None:
        """Options of one task are no options of the other."""
        own = {"shape": "triangle", "goals": 3}
        theirs = {"evader": "scripted", "faster": FASTER, "capture": CAPTURE, "sight": _FAR_EDGE}
        other = "formation" if self.pursuit else "pursuit"
        for name, default in (own if self.pursuit else theirs).items():
            if getattr(self, name) != default:
                raise ConfigError(f'{name}= is for task="{other}", not for {self.task!r}')

    def _load(self) -> None:
        """The model and its engine."""
        rows = tuple((0.0, 1.0 * i, 1.5) for i in range(self.count))
        court = model.Court(20.0, 20.0, rows, False, 0, 10.0, start.FAR)
        loaded = model.load_model(court, "volleybots", self.airframe)
        self.advance: Any = functools.partial(jax_physics.advance, integrator=self.integrator)
        if self.physics == "mujoco":
            from manyhands.envs.volleyball.engine import Engine  # loads MuJoCo

            self.advance = Engine(loaded, self.integrator).advance
        drag = self.drag or not {"wind", "gusts"}.isdisjoint(self.ranges)  # wind acts through it
        self.params = model.params_from_model(loaded, drag=drag, downwash=self.downwash)
        self.max_yaw = model.AIRFRAMES[self.airframe].yaw

    def config(self) -> dict[str, Any]:
        names = ["task", "actions", "cylinders", "collisions", "speed", "repeat", "physics"]
        names += ["integrator", "airframe", "drag", "downwash", "max_steps"]
        names += ["evader", "faster", "capture", "sight"] if self.pursuit else ["shape", "goals"]
        found = {name: getattr(self, name) for name in names} | {"drones": self.team}
        if self.ranges:
            found["randomise"] = {name: list(pair) for name, pair in self.ranges.items()}
        if self._given_weights:
            found["reward_weights"] = dict(self._given_weights)
        return found | self.text_options()

    # ---- the contract, as functions of the configuration and the state ------------------------

    reset, reset_to = start.reset, start.reset_to
    legal, acting = rules.legal, rules.acting
    observe, summary = views.observe, views.summary
    event_codes, last_events = events.event_codes, events.last_events

    def questions(self, state: DronesState, agent: str | int) -> list[Question]:
        found: list[Question] = self._module("questions").questions(self, state, self.index(agent))
        return found

    def step(self, key: Array, state: DronesState, actions: Array) -> tuple[DronesState, Outcome]:
        check_actions(self, actions, state.time.shape)
        after, results = rules.step(self, key, state, actions)
        return after, self.outcome(**results)

    def network_input(self, row: Array) -> Array:
        """The observation, scaled to about 1."""
        return row * jnp.asarray(self._scales)

    def forfeit_terms(self, state: DronesState, agents: Sequence[int]) -> dict[str, Array]:
        """Where the evader is an agent: a capture, or an escape. Nothing in cooperative tasks."""
        if not self.versus or not agents:
            return {}
        lost = [not set(side).isdisjoint(agents) for side in self.sides or ()]
        capture = np.zeros(self.num_agents, np.float32)
        capture[: self.team] = lost[1] and not lost[0]
        capture[: self.team] -= lost[0]
        capture[self.team] = float(lost[0] and not lost[1]) - float(lost[1])
        return {"capture": capture}

    def words(self, action: Action, state: DronesState, agent: str | int) -> str | None:
        """An action of four numbers in words, as `parse` reads it."""
        found: str | None = self._module("text").spoken(self, action)
        return found

    def draw_doing(
        self,
        state: DronesState,
        canvas: Any,
        doing: Sequence[str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        """`draw`, with what each drone is doing written at it."""
        who = None if agent is None else self.index(agent)
        self._module("draw").draw(self, state, canvas, who, camera, doing)

    def to_dict(self, state: DronesState) -> dict[str, Any]:
        found: dict[str, Any] = self._module("text").to_dict(self, state)
        return found
