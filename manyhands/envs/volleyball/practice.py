"""One drone practises one hit of a team, from situations of play: stage 1 of HCSP (Zhang et al.
2025), in which skills are learned one after the other.

`Practice` is a game of 3v3 or 6v6 that begins amid a point, when somebody is to serve, receive, set
or spike, and ends soon after that drone's touch. What comes of the touch is computed from the
ball's flight: how near it falls to where it should. All other drones hover, and so does this one
after its touch, since a hit is none that leaves it in a dive to the floor. A situation is a state
of the game and what it asks for (`Situations`); what the hit before has left behind are the
situations of the next one, so that skills are chained.

All functions take any axes after their own, as those of the game do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.config import one_of, whole
from manyhands.core.env import Array, ConfigError, Env, Outcome, state_dataclass
from manyhands.envs.volleyball import control
from manyhands.envs.volleyball.control import body_axes, length
from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.flight import RECEIVE, SERVE, SET, SPIKE, falls_to
from manyhands.envs.volleyball.observe import Observation
from manyhands.envs.volleyball.physics import Bodies
from manyhands.envs.volleyball.skills import VolleyballSkills
from manyhands.envs.volleyball.state import (
    MAX_RATE,
    MAX_VELOCITY,
    MAX_YAW_RATE,
    VolleyballState,
)

HITS = {"serve": SERVE, "receive": RECEIVE, "set": SET, "spike": SPIKE}
COMMANDS = ("velocity", "ctbr", "rotors")
MEETS = {"serve": 2.3, "receive": 2.1, "set": 2.2, "spike": 3.0}  # m, where the ball is looked for
LONGEST = 150  # steps until the touch
AFTER = 30  # steps after it, in which the drone only brakes, and may still crash
HOLDS = (1, 5)  # steps for which actions are flown, those of an episode one of these
LOST = ("crash", "close", "crossed", "body")  # faults that the hit is to blame for, even then
MISSES = (0.5, 1.5, 5.0)  # m, on which it depends alike what a touch is worth
FARTHEST = 15.0  # m, up to which a ball to the other half is worth more the nearer it comes
APPROACH = 0.5  # 1/m, of coming nearer to where the ball is met
SHAKE = 0.2  # m and m/s, by which situations are moved (standard deviation)
WIDTH = 40  # numbers that a hit is learned from


@state_dataclass
class Situations:
    """State of the game, leaves [..., P]; skill: i16[P], a row of the table; drone: i8[P], of the
    near team."""

    state: VolleyballState
    skill: Array
    drone: Array


@state_dataclass
class PracticeState:
    """inner: of the game. skill, drone: as in `Situations`. ended: bool[]. time, after: i16[],
    steps in all, and since the touch, of which the first is 1. worth: f32[], of the touch. hold:
    i8[], for how many steps each action is flown; asked: f32[4], the one that is."""

    inner: VolleyballState
    skill: Array
    drone: Array
    ended: Array
    time: Array
    after: Array
    worth: Array
    hold: Array
    asked: Array


def seen(skills: VolleyballSkills, obs: Observation, goal: Array, hit: str) -> Array:
    """f32[40, ...]: what a hit goes by, in the own frame."""
    body = skills.body
    time, place = falls_to(body, obs.ball, obs.ball_velocity, jnp.float32(MEETS[hit]))
    there = time > 0
    place = jnp.where(there, place, obs.ball)
    x, y, z = (jnp.stack(axis) for axis in body_axes(obs.quaternion))
    parts = [
        obs.position,
        obs.velocity / 3,
        x,
        y,
        z,
        obs.rates / 3,
        obs.thrust,
        obs.ball - obs.position,
        obs.ball_velocity / 5,
        place - obs.position,
        goal - place,
        goal / 3,
        jnp.where(there, time, 0.0)[None],
        there[None],
        (place[2] - obs.position[2] - obs.velocity[2] * jnp.where(there, time, 0.0))[None],
    ]
    return jnp.concatenate([part.astype(jnp.float32) for part in parts])


def flown(
    skills: VolleyballSkills, obs: Observation, asked: Array, command: str, max_yaw: float
) -> Array:
    """f32[4, ...]: the rotors' commands of a drone that asks for a velocity, for rates and thrust,
    or for these themselves (`asked` f32[4, ...] in [-1, 1], as actions of the game are)."""
    asked = jnp.clip(asked, -1, 1)
    if command == "rotors":
        return asked
    one = lambda part: part[None]  # noqa: E731 - an axis of drones
    bodies = Bodies(
        position=one(obs.position),
        quaternion=one(obs.quaternion),
        velocity=one(obs.velocity),
        rates=one(obs.rates),
        thrust=one(obs.thrust),
        ball=obs.ball,
        ball_velocity=obs.ball_velocity,
    )
    params = dataclasses.replace(skills.params, **_first(skills.params))
    if command == "ctbr":
        rates, thrust = asked[:3] * MAX_RATE, (asked[3] + 1) / 2
        return control.from_rates(params, bodies, one(rates), one(thrust), max_yaw)[0]
    velocity, yaw = asked[:3] * MAX_VELOCITY, asked[3] * MAX_YAW_RATE
    return control.from_velocity(params, bodies, one(velocity), one(yaw), max_yaw)[0]


def _first(params: Any) -> dict[str, Any]:
    """The numbers of the first drone alone: all are built alike."""
    names = ("mass", "inertia", "power", "lag")
    return {name: getattr(params, name)[:1] for name in names}


class Practice(Env[PracticeState]):
    """One agent, `learner`: a drone of the near team that is to hit the ball once.

    Rewards are named terms: `approach`, how much nearer it has come to where the ball is met (m, by
    half); `hit`, at a legal touch: 0.1, and up to 0.9 more the nearer the ball falls to its place;
    of a ball that must cross the net and does not, or must stay and does not, half of it; of a
    spike down to a third where it leaves upwards, as of one that is not fair; and `kept`, the same
    again, counted twice, when the episode ends after the touch, unless a drone of the team has
    crashed or come over the net. It ends 0.6 s after the touch, or when the point does, or without
    a touch after 3 s.

    Args:
        court: the game, with `actions="rotors"`.
        hit: `"serve"`, `"receive"`, `"set"` or `"spike"`.
        situations: where episodes begin.
        command: what the four numbers of an action mean: `"velocity"`, `"ctbr"` or `"rotors"`.
        holds: for how many steps of the game (0.02 s each) an action is flown, drawn for each
            episode. What varies from step to step is averaged away by a drone's inertia, so that
            noise which is held finds what it takes to strike a ball hard; and what is learned only
            where it is held fails where it is not, as in games.
    """

    id = "practice"
    batched = True
    max_steps = LONGEST + AFTER
    reset_pool = 4096
    deterministic_reset = False
    terms = ("approach", "hit", "kept")
    noop = np.zeros(4, np.float32)

    def __init__(
        self,
        court: Volleyball,
        hit: str,
        situations: Situations,
        command: str = "velocity",
        holds: Sequence[int] = HOLDS,
    ):
        self.hit = one_of("hit", hit, tuple(HITS))
        self.command = one_of("command", command, COMMANDS)
        if court.actions != "rotors" or court.team_size < 2:
            raise ConfigError(f"hits of a team are practised with rotors, given {court!r}")
        self.holds = tuple(whole("each of holds", hold, 1, AFTER) for hold in holds)
        if not self.holds:
            raise ConfigError("holds names no number of steps")
        self.court, self.skills = court, court.skill_set()
        self.situations = jax.tree.map(jnp.asarray, situations)
        self.agents = ("learner",)
        self.reward_weights = {"approach": 1.0, "hit": 1.0, "kept": 2.0}
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (WIDTH,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float32)

    def config(self) -> dict[str, Any]:
        return {
            "court": self.court.spec(),
            "hit": self.hit,
            "command": self.command,
            "holds": list(self.holds),
        }

    def reset(self, key: Array) -> PracticeState:
        pick, move, push, turn, holding = jax.random.split(key, 5)
        number = jax.random.randint(pick, (), 0, self.situations.skill.shape[-1])
        one = jax.tree.map(lambda leaf: leaf[..., number], self.situations)
        bodies, still = one.state.bodies, 0.1 if self.hit == "serve" else 1.0
        place = jax.random.normal(move, (3,)) * SHAKE * still
        speed = jax.random.normal(push, (3,)) * SHAKE * still
        moved = jax.random.normal(turn, (3,)) * SHAKE * still
        own = expand(np.arange(self.court.num_agents), 1) == one.drone
        position = bodies.position + jnp.where(own, place, 0.0)
        velocity = bodies.velocity + jnp.where(own, moved, 0.0)
        bodies = dataclasses.replace(
            bodies,
            position=position,
            velocity=velocity,
            ball_velocity=bodies.ball_velocity + (0.0 if self.hit == "serve" else 1.0) * speed,
        )
        inner = dataclasses.replace(one.state, bodies=bodies)
        hold = jax.random.choice(holding, jnp.array(self.holds, jnp.int8))
        none = jnp.bool_(False), jnp.int16(0), jnp.int16(0), jnp.float32(0)
        return PracticeState(inner, one.skill, one.drone, *none, hold, jnp.zeros(4))

    def begin(self) -> PracticeState:
        """All situations at once, as they are."""
        count = self.situations.skill.shape[-1]
        still = jnp.zeros(count, jnp.int16)
        none = jnp.zeros(count, bool), still, still, jnp.zeros(count)
        every = jnp.ones(count, jnp.int8), jnp.zeros((4, count))
        found = self.situations
        return PracticeState(found.state, found.skill, found.drone, *none, *every)

    def step(
        self, key: Array, state: PracticeState, actions: Array
    ) -> tuple[PracticeState, Outcome]:
        before = self._gap(self.mine(state))
        asked = jnp.where(self._decides(state), actions[0], state.asked)
        new, touched, obs = self.played(key, state, asked, self.command)
        score = jnp.where(touched, self.score(obs, self.goal(new, obs)), 0.0)
        flies = ~touched & ~state.ended & (state.after == 0)
        nearer = jnp.where(flies, before - self._gap(obs), 0.0)
        ends = new.ended & ~state.ended & (state.after > 0)
        lost = ends & self.lost(new)
        kept = jnp.where(ends & ~lost, state.worth, 0.0)
        late = (new.after == 0) & (new.time >= LONGEST) & ~new.ended
        terms = {"approach": APPROACH * nearer, "hit": score, "kept": kept}
        terms = {name: term[None] for name, term in terms.items()}
        worth = jnp.where(touched, score, state.worth)
        new = dataclasses.replace(new, worth=worth, asked=asked)
        metrics = {"touches": touched, "lost": lost}
        return new, self.outcome(terms, new.ended[None], late[None], metrics)

    def _decides(self, state: PracticeState) -> Array:
        """bool[...]: whether an action begins now."""
        return state.time % state.hold.astype(jnp.int16) == 0

    def lost(self, state: PracticeState) -> Array:
        """bool[...]: whether the near team has committed one of the faults in `LOST`."""
        rows = [self.court.faults.index(name) for name in LOST]
        return jnp.any(state.inner.faults[np.array(rows), 0], axis=0)

    def played(
        self, key: Array, state: PracticeState, asked: Array, command: str
    ) -> tuple[PracticeState, Array, Observation]:
        """(the next state; whether the ball was touched now, by the rules; what the learner
        perceives then), with what it asks for, f32[4, ...]."""
        court, inner = self.court, state.inner
        everyone = self.skills.parse_observation(jnp.moveaxis(court.perceive(inner), 0, 1))
        who = self._who(state)
        flies = who & (state.after == 0)
        asked = jnp.where(flies, asked[:, None], 0.0)  # [4, D, ...]
        rotors = flown(self.skills, everyone, asked, command, court.setup.max_yaw)
        if command != "velocity":  # in which nothing asked for means to hover
            none = jnp.zeros_like(asked)
            calm = flown(self.skills, everyone, none, "velocity", court.setup.max_yaw)
            rotors = jnp.where(flies, rotors, calm)
        after, _ = court.step(key, inner, jnp.moveaxis(rotors, 0, 1))
        hit = jnp.any(who & (after.since == 0), axis=0)
        touched = hit & ~state.ended & ~after.over & (state.after == 0)
        since = jnp.where(touched | (state.after > 0), state.after + jnp.int16(1), jnp.int16(0))
        new = dataclasses.replace(
            state,
            inner=after,
            ended=state.ended | after.over | (since > AFTER),
            time=state.time + jnp.int16(1),
            after=since,
        )
        return new, touched, self.mine(new)

    def score(self, obs: Observation, goal: Array) -> Array:
        """f32[...]: what a touch is worth, above 0 and at most 1, by the ball's flight after it."""
        fall = self.falls(obs, goal)
        near = [jnp.exp(-fall["miss"] / scale) for scale in MISSES]
        good = sum(near) / len(MISSES)
        if self._far:  # at first it falls far from there
            good = (good + jnp.clip(1 - fall["miss"] / FARTHEST, 0, 1)) / 2
        worth = 0.1 + 0.9 * good
        if HITS[self.hit] == SPIKE:
            down = jnp.clip(-obs.ball_velocity[2] / 3, -1, 1)
            worth = worth * jnp.where(fall["fair"], 2 + down, 1) / 3
        return jnp.where(fall["fair"], worth, worth / 2)

    def falls(self, obs: Observation, goal: Array) -> dict[str, Array]:
        """Of a ball that has just been hit: `miss` (m), how far from its place it falls through the
        height of that, with what it lacks in height; `fair`, whether it comes over the net where it
        must, and stays on the own half else; `inside`, whether it comes down in the court."""
        body, g = self.skills.body, self.skills.body.gravity
        top = obs.ball[2] + jnp.maximum(obs.ball_velocity[2], 0) ** 2 / (2 * g)
        lacks = jnp.maximum(goal[2] - top, 0)
        height = jnp.minimum(goal[2], top - 1e-3)
        _, place = falls_to(body, obs.ball, obs.ball_velocity, height)
        miss = jnp.hypot(place[0] - goal[0], place[1] - goal[1]) + 2 * lacks
        inside = (jnp.abs(place[0]) < body.half_length) & (jnp.abs(place[1]) < body.half_width)
        if self._far:
            at_net = obs.ball[0] / jnp.maximum(-obs.ball_velocity[0], 1e-3)
            z = obs.ball[2] + obs.ball_velocity[2] * at_net - g / 2 * at_net**2
            fair = (obs.ball_velocity[0] < 0) & (z > body.net + body.radius) & (place[0] < 0)
        else:
            fair = (place[0] > 0) & (lacks <= 0)
        return {"miss": miss, "fair": fair, "inside": inside & fair}

    @property
    def _far(self) -> bool:
        """Whether the ball is to be played to the other half."""
        names = self.skills.names
        goal = self.skills.goals[names.index("serve")]
        return self.hit == "spike" or (self.hit == "serve" and bool(goal[0] < 0))

    def observe(self, state: PracticeState) -> Array:
        obs = self.mine(state)
        return seen(self.skills, obs, self.goal(state, obs), self.hit)[None]

    def perceive(self, state: PracticeState) -> Array:
        return self.observe(state)

    def network_input(self, row: Array) -> Array:
        return row

    def legal(self, state: PracticeState) -> Array:
        return self.acting(state)[:, None]

    def acting(self, state: PracticeState) -> Array:
        """Where an action begins, but not after the touch: what it asks for then is not flown."""
        flies = ~state.ended & (state.after == 0) & (state.time < LONGEST)
        return (flies & self._decides(state))[None]

    def summary(self, state: PracticeState) -> Array:
        return self.observe(state)[0]

    def _who(self, state: PracticeState) -> Array:
        """bool[D, ...]: the drone that learns."""
        return expand(np.arange(self.court.num_agents), state.drone.ndim) == state.drone

    def mine(self, state: PracticeState) -> Observation:
        """What the drone that learns perceives."""
        rows = self.court.perceive(state.inner)
        own = jnp.sum(jnp.where(self._who(state)[:, None], rows, 0), axis=0)
        return self.skills.parse_observation(own)

    def goal(self, state: PracticeState, obs: Observation) -> Array:
        """f32[3, ...], m: where the ball is to fall."""
        order = self.skills.order(state.skill.astype(jnp.int32))
        return self.skills.aimed(obs, order).goal

    def _gap(self, obs: Observation) -> Array:
        """m, from the racket to where the ball is met."""
        time, place = falls_to(
            self.skills.body, obs.ball, obs.ball_velocity, jnp.float32(MEETS[self.hit])
        )
        place = jnp.where(time > 0, place, obs.ball)
        racket = obs.position + self.skills.body.offset * jnp.stack(body_axes(obs.quaternion)[2])
        return length(place - racket)
