"""Drone volleyball: quadrotors with rackets play a ball over a net, alone, in pairs, in teams.

The tasks, courts, observations, rewards and point rules are those of VolleyBots (Xu et al.,
"VolleyBots: A Testbed for Multi-Drone Volleyball Game Combining Motion Control and Strategic Play",
2025). `rules="volleybots"` keeps its point rules as published; the default, `rules="manyhands"`,
repairs them (see `Volleyball`).

`state.py` has the state and the tasks, `rules.py` the phases of a step, `observe.py` the
observations; here are the options.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import repeat
from manyhands.core.config import boolean, check_actions, check_weights, one_of, plain, whole
from manyhands.core.env import DETAILS, Action, Array, ConfigError, Env, Outcome, names_of
from manyhands.core.probes import Question
from manyhands.envs.volleyball import (
    happened,
    model,
    observe,
    orders,
    randomise,
    rules,
    situations,
    start,
)
from manyhands.envs.volleyball import physics as jax_physics
from manyhands.envs.volleyball.physics import Bodies
from manyhands.envs.volleyball.skills import VolleyballSkills
from manyhands.envs.volleyball.state import (
    ACTIONS,
    CAMERAS,
    MAX_BINS,
    STEP,
    STEPPED,
    TASKS,
    Setup,
    VolleyballState,
)

PHYSICS = ("jax", "mujoco")
BALLS = ("volleybots", "real")
RULES = ("manyhands", "volleybots")
SERVES = ("random", "near", "far")
SKILLS = ("plain", "attack")
_MATCHES = tuple(name for name, plan in TASKS.items() if plan.teams == 2)


class Volleyball(Env[VolleyballState]):
    """Drone volleyball: a point, a match, or a drill.

    Args:
        task: `"1v1"`, `"3v3"`, `"6v6"`, or a drill: `"back_and_forth"`, `"hit"`, `"solo_bump"`,
            `"bump_and_pass"`, `"set_and_spike"`, `"set_and_spike_hard"` (against a scripted
            returner).
        actions: what the four numbers of an action, each in [-1, 1], mean:
            `"rotors"`: thrust of each rotor, -1 none, 1 all of it; `"ctbr"`: rates about the body's
            x, y, z axes (1 is 144 degrees/s) and collective thrust as of rotors; `"velocity"`: vx,
            vy, vz in the own frame (1 is 5 m/s) and rate of yaw (1 is 2 rad/s); `"position"`: a
            set-point, x, y, z over the own half from the floor to 5 m, and heading (-1 to 1 is
            half a turn to the right to half a turn to the left of the own x axis). `"discrete"`:
            no four numbers but one of `bins ** 4` combinations of the rotors' thrusts
            (`orders.py`). `"multidiscrete"`: the same as four whole numbers, one for each rotor.
        airframe: `"iris"`, or `"crazyflie"`: 27 g, with arms of 46 mm (`model.py`). Skills, and
            the scripted players that use them, are for the Iris.
        bins: with these two: how many values the thrust of each rotor has, from none to all.
        physics: `"jax"`, or `"mujoco"`: MuJoCo's C engine on the same model, on the host.
        integrator: `"gyroscopic"`: MuJoCo's Euler step with the gyroscopic torque's mean over the
            step, so that a free spin keeps its energy (`physics.py`); `"euler"`: that step as it
            is, in which a fast spin gains energy, as in earlier versions. With either `physics`.
        skills: what drones can do by name (`wrappers/skills.py`): `"attack"`: spikes go down, all
            hits are aimed to the last, and what a drone cannot do is no choice of its own;
            `"plain"`: the skills of earlier versions, whose spikes are flat hits that leave
            upwards. The table of skills is the same. By default `"attack"` where there are
            skills: drills, other actions and the Crazyflie have none.
        ball: `"volleybots"`: 5 g, no air; `"real"`: 0.27 kg, with air.
        drag: whether drones feel the air.
        downwash: whether drones feel the wind of those above them; not for one drone alone.
        rules: `"manyhands"`: touches are physical contacts at 200 Hz; a crash, or two team-mates
            too close, loses the point; in 1v1 standing at y = 0 costs nothing. `"volleybots"`: as
            published: touches are detected from the ball's change of velocity at 50 Hz, the net is
            0.3 m thick to either side, crashes end a point without a winner.
        points: 1: an episode is one point; n: a match to n points with a lead of `lead`, with
            rotation, score and a change of sides when a team first has half of n.
        lead: points of lead that a match is won by.
        serve: the team that serves (first): `"random"`, `"near"` or `"far"`.
        randomise: ranges by name, `{"mass": (0.9, 1.1), "action_delay": (0, 2)}`, from which every
            episode draws; the names are those of `physics.randomise`, and `action_delay`,
            `sensor_delay` (steps), `position_noise`, `attitude_noise`, `velocity_noise`,
            `rate_noise` (standard deviations of sensor readings, m, rad, m/s, rad/s), `gusts`
            (standard deviation, m/s), `push` and `push_rate` (N s, 1/s), `dropout` (share of
            steps). Wind and gusts act through `drag` and on `ball="real"`.
        reward_weights: weights of the terms; by default the published ones.
        max_steps: steps after which an episode is truncated; by default the task's, and in a match
            `2 * points` times that.
        detail: how much texts tell: `"brief"`, `"normal"` or `"full"`.

    An action with a number that is not finite is illegal: the agent's action is zeros for this
    step, counted in `metrics["illegal"]`. Numbers outside [-1, 1] are clipped. An episode that is
    over stays as it is. `docs/volleyball.md` lists rules, terms, metrics and observations, index by
    index.

    Attributes:
        observation_layout: the pieces of an observation.
        layout: where in a row of `perceive` each piece is (`observe.perception_layout`).
        setup: what the rules need of these options.
    """

    id = "volleyball"
    package = "manyhands.envs.volleyball"
    phrases = ("mine", "yours", "set me", "to the left", "to the right", "cover", "well played")
    added = MappingProxyType({"integrator": "euler", "skills": "plain"})
    noop: Action = np.zeros(4, np.float32)
    batched = True
    exact = False
    reset_pool = 1024
    pace = 1 / STEP
    cameras = CAMERAS

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
        detail: str = "normal",
        integrator: str = "gyroscopic",
        skills: str | None = None,
        bins: int = 2,
        airframe: str = "iris",
    ):
        self.task = one_of("task", task, tuple(TASKS))
        self.plan = plan = TASKS[task]
        self.versus = plan.teams == 2
        self.actions = one_of("actions", actions, ACTIONS)
        self.airframe = one_of("airframe", airframe, tuple(model.AIRFRAMES))
        if airframe != "iris" and rules == "volleybots":
            raise ConfigError(f'rules="volleybots" are about the Iris, not {airframe!r}')
        self.bins = whole("bins", bins, 2, MAX_BINS)
        if actions not in STEPPED and bins != 2:
            raise ConfigError(f"bins= is for {names_of(STEPPED)} actions, not for {actions!r}")
        self.physics = one_of("physics", physics, PHYSICS)
        self.integrator = one_of("integrator", integrator, jax_physics.INTEGRATORS)
        # The skills, which the scripted players of matches use, turn the Iris's rotors.
        self.skilled = skilled = self.versus and actions == "rotors" and airframe == "iris"
        if skills is None:
            skills = "attack" if skilled else "plain"
        self.skills = one_of("skills", skills, SKILLS)
        if skills != "plain" and not skilled:
            raise ConfigError(
                f'skills={skills!r} is for {names_of(_MATCHES)} with actions="rotors" and '
                f'airframe="iris"; there are no skills with task={task!r}, actions={actions!r} '
                f"and airframe={airframe!r}: leave it out"
            )
        self.ball = one_of("ball", ball, BALLS)
        self.rulebook = one_of("rules", rules, RULES)
        self.serve = one_of("serve", serve, SERVES)
        self.detail = one_of("detail", detail, DETAILS)
        self.points, self.lead = whole("points", points, 1, 1000), whole("lead", lead, 1, 100)
        if not self.versus and (points != 1 or serve != "random"):
            raise ConfigError(f"points= and serve= are for {names_of(_MATCHES)}, not for {task!r}")
        if self.points == 1 and lead != 2:
            raise ConfigError(f"lead= is for points=2 or more; given lead={lead} and points=1")
        if max_steps is None:
            max_steps = plan.steps if points == 1 else 2 * points * plan.steps
        self.max_steps = whole("max_steps", max_steps, 1, 10_000_000)
        self.drag, self.downwash = boolean("drag", drag), boolean("downwash", downwash)
        if self.downwash and plan.teams * len(plan.places) == 1:
            raise ConfigError(
                f"downwash is the wind of other drones, and there are none in {task!r}: leave it "
                "out"
            )
        self.reward_weights = check_weights(reward_weights, plan.weights)
        self._given_weights = plain(reward_weights or {})
        self.terms = tuple(plan.weights)
        self.setup = setup = self._setup({} if randomise is None else randomise)
        self.params, self.trim, self.ranges = setup.params, setup.trim, setup.ranges
        self.agents, self.team_size, self.faults = setup.agents, setup.team_size, setup.faults
        self.point_steps = setup.point_steps
        if self.versus:  # the teams, for learners that train a team at a time
            n = self.team_size
            self.sides = (tuple(range(n)), tuple(range(n, 2 * n)))
        self.action_space: gymnasium.Space[Any]
        if actions == "discrete":
            self.action_space = gymnasium.spaces.Discrete(bins**4)
            self.noop = orders.hovering(setup)
        elif actions == "multidiscrete":
            self.action_space = gymnasium.spaces.MultiDiscrete([bins] * 4, dtype=np.int32)
            self.noop = orders.action_of(setup, orders.hovering(setup))
        else:
            self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float32)
        self.observation_layout = observe.observation_layout(setup)
        self.observation_space = self.observation_layout.space()
        self.layout = observe.perception_layout(setup)
        self.event_names = happened.names(setup)
        self.event_kinds = happened.KINDS
        chance = self.versus and (serve == "random" or points > 1)
        self.deterministic_reset = not (start.varies(setup) or chance or self.ranges)
        spikes = task.startswith("set_and_spike")
        alone = "duel" if skills == "attack" else "rally"
        self.scripted_policy = "team" if self.team_size > 1 else alone
        if not self.versus:
            self.scripted_policy = (
                "spiker" if spikes and actions == "rotors" and airframe == "iris" else ""
            )
        self.default_policy = self.scripted_policy if skilled else "random"

    def _setup(self, ranges: Mapping[str, Sequence[float]]) -> Setup:
        loaded = model.load_model(self.plan.model, self.ball, self.airframe)
        checked = randomise.check_ranges(ranges)
        drag = self.drag or not {"wind", "gusts"}.isdisjoint(checked)  # wind acts through it
        advance: Any = functools.partial(jax_physics.advance, integrator=self.integrator)
        if self.physics == "mujoco":
            from manyhands.envs.volleyball.engine import Engine  # loads MuJoCo

            advance = Engine(loaded, self.integrator).advance
        return Setup(
            task=self.task,
            actions=self.actions,
            rulebook=self.rulebook,
            serve=self.serve,
            points=self.points,
            lead=self.lead,
            max_steps=self.max_steps,
            ranges=checked,
            params=model.params_from_model(loaded, drag=drag, downwash=self.downwash),
            advance=advance,
            skills=self.skills,
            bins=self.bins,
            max_yaw=model.AIRFRAMES[self.airframe].yaw,
        )

    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = {
            "task": self.task,
            "actions": self.actions,
            "physics": self.physics,
            "integrator": self.integrator,
            "ball": self.ball,
            "rules": self.rulebook,
            "max_steps": self.max_steps,
            "drag": self.drag,
            "downwash": self.downwash,
        }
        if self.versus:
            config |= {"points": self.points, "serve": self.serve}
        if self.skilled:
            config["skills"] = self.skills
        if self.airframe != "iris":
            config["airframe"] = self.airframe
        if self.actions in STEPPED:
            config["bins"] = self.bins
        if self.points > 1:
            config["lead"] = self.lead
        if self.ranges:
            config["randomise"] = {name: list(pair) for name, pair in self.ranges.items()}
        if self._given_weights:
            config["reward_weights"] = dict(self._given_weights)
        return config | self.text_options()

    # ---- pure and traceable -------------------------------------------------------------------

    def reset(self, key: Array) -> VolleyballState:
        return start.reset(self.setup, key)

    def step(
        self, key: Array, state: VolleyballState, actions: Array
    ) -> tuple[VolleyballState, Outcome]:
        check_actions(self, actions, state.time.shape)
        new, terms, metrics = rules.step(self.setup, key, state, actions)
        late = ~new.over & (new.time >= self.max_steps)
        everyone = self.num_agents
        ends = repeat(new.over, everyone), repeat(late, everyone)
        return new, self.outcome(terms, *ends, metrics)

    def observe(self, state: VolleyballState) -> Array:
        return observe.observe(self.setup, state)

    def perceive(self, state: VolleyballState) -> Array:
        """f32[D, K]: the observation, and then everything there is to know, in the own frame;
        `layout` names the parts."""
        return observe.perceive(self.setup, state)

    def network_input(self, row: Array) -> Array:
        """The observation, out of a row of `perceive`."""
        return row[self.layout["observation"]]

    def legal(self, state: VolleyballState) -> Array:
        """bool[D, 1], or bool[D, A] of A discrete actions, or of the values of all components:
        whether an agent may act; all actions within the space are legal then."""
        width = {"discrete": self.bins**4, "multidiscrete": self.bins * 4}.get(self.actions, 1)
        return jnp.repeat(self.acting(state)[:, None], width, axis=1)

    def words(self, action: Action, state: VolleyballState, agent: str | int) -> str | None:
        """A set-point in metres and degrees, as `parse` reads it."""
        return orders.spoken(self.setup, action) if self.actions == "position" else None

    def acting(self, state: VolleyballState) -> Array:
        return repeat(~state.over & (state.time < self.max_steps), self.num_agents)

    def summary(self, state: VolleyballState) -> Array:
        """f32[K]: everything there is to know, as the first agent perceives it, without noise or
        delay of the sensors."""
        return observe.summary(self.setup, state)

    def event_codes(self, state: VolleyballState) -> Array:
        return happened.codes(self.setup, state)

    def sensed(self, state: VolleyballState) -> Bodies:
        """The bodies as sensors report them now: late and noisy, where `randomise` makes them
        so."""
        return randomise.sensed(self.setup, state)

    def seen_by(self, state: VolleyballState, agent: int) -> Bodies:
        """`sensed`, as one agent sees it, which may have lost sight of the others and the ball."""
        if not self.setup.losing:
            return self.sensed(state)
        return jax.tree.map(lambda leaf: leaf[agent], randomise.sights(self.setup, state))

    def forfeit_terms(self, state: VolleyballState, agents: Sequence[int]) -> dict[str, Array]:
        """Between two teams: each point that the other team still needs is lost. Nothing in
        drills."""
        if not self.versus or not agents:
            return {}
        score, win = np.asarray(state.score).astype(int), np.zeros(self.num_agents, np.float32)
        lost = [not set(side).isdisjoint(agents) for side in self.sides or ()]
        for side in np.flatnonzero(lost):
            needs = max(self.points, int(score[side]) + self.lead) if self.points > 1 else 1
            price = max(needs - int(score[1 - side]), 1)
            win[list(self.sides[side])] -= price  # type: ignore[index]
            if not lost[1 - side]:
                win[list(self.sides[1 - side])] += price  # type: ignore[index]
        return {"win": win}

    def skill_set(self) -> VolleyballSkills:
        """What `wrappers/skills.py` plays this by."""
        if self.airframe != "iris":
            raise ConfigError(f'skills are for airframe="iris", not for {self.airframe!r}')
        return VolleyballSkills(self.setup)

    # ---- words, pictures, situations ----------------------------------------------------------

    def questions(self, state: VolleyballState, agent: str | int) -> list[Question]:
        found: list[Question] = self._module("questions").questions(self, state, self.index(agent))
        return found

    def last_events(
        self, state: VolleyballState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        """See `happened.events`. All agents know all of it, but where exactly the ball landed where
        sensors are noisy or late."""
        known = agent is None or not (self.setup.sensing or self.setup.losing)
        if agent is not None:
            self.index(agent)
        return happened.events(self.setup, state, known)

    def team_rules(self, agent: str | int) -> str:
        """`rules`, for a player that chooses for the whole team of `agent`."""
        return str(self._module("text").rules(self, self.index(agent), team=True))

    def team_describe(
        self, state: VolleyballState, agent: str | int, *, detail: str | None = None
    ) -> str:
        """`describe`, for a player that chooses for the whole team of `agent`."""
        game = self if detail is None else self.with_detail(detail)
        return str(self._module("text").describe_team(game, state, self.index(agent)))

    def place(self, **situation: Any) -> VolleyballState:
        """A situation from plain numbers, to step from: `place(ball=(1, 0, 3), turn="near")`.
        `situations.place` lists what can be given, by name."""
        return situations.place(self.setup, _compiled_start(self), **situation)

    def to_dict(self, state: VolleyballState) -> dict[str, Any]:
        return situations.to_dict(self.setup, state)

    def draw_doing(
        self,
        state: VolleyballState,
        canvas: Any,
        doing: Sequence[str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        """`draw`, with what each drone is doing written at it."""
        who = None if agent is None else self.index(agent)
        self._module("draw").draw(self, state, canvas, who, camera, doing)


@functools.lru_cache(maxsize=64)
def _compiled_start(env: Volleyball) -> Any:
    """The situation that `place` starts from, compiled once for equal environments."""
    return jax.jit(functools.partial(start.reset_without_noise, env.setup))
