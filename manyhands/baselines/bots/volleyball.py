"""Scripted volleyball players, on the skills of `envs/volleyball/skills.py`.

They are pure functions of what one drone perceives, and play wherever volleyball is played: drone
by drone with rotors, by skills, or from event to event, for a drone or for a team.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar

import jax.numpy as jnp

from manyhands.core.env import Array, DeviceView, Env, SeatError, names_of
from manyhands.envs.volleyball.env import Volleyball
from manyhands.envs.volleyball.flight import BUMP, GO, SERVE, SPIKE, Order, falls_to
from manyhands.envs.volleyball.observe import Observation
from manyhands.envs.volleyball.skills import (
    ATTACKER,
    DEEP,
    READY,
    RECEIVER,
    SETTER,
    SHORT,
    VolleyballSkills,
)
from manyhands.wrappers.events import Events
from manyhands.wrappers.skills import Skills


def court_of(env: Env) -> Volleyball:
    """The volleyball inside the wrappers that these players know."""
    inner = env
    while isinstance(inner, (Events, Skills)):
        inner = inner.env
    if not isinstance(inner, Volleyball):
        raise SeatError(
            f"this seat plays volleyball, by itself or in `skills` or `events`; given {env!r}"
        )
    return inner


@functools.lru_cache(maxsize=32)
def skills_of(court: Volleyball) -> VolleyballSkills:
    return court.skill_set()


@dataclasses.dataclass(frozen=True)
class Scripted:
    """A `DevicePolicy` that chooses a skill from what it perceives, and follows it.

    Attributes:
        name: `"hover"`, `"rally"`, `"duel"` or `"team"`.
        attack: how a team does: `"deep"` or `"short"` (see `strategy`).
    """

    name: str
    attack: str = "deep"
    any_seat: ClassVar[bool] = True

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        skills = skills_of(court_of(env))
        if isinstance(env, Events) and env.per == "team":
            return self.option(skills, skills.parse_observation(view.perception[0])), memory
        obs = skills.parse_observation(view.perception)
        skill = self.choose(skills, obs)
        if isinstance(env, (Events, Skills)):
            return skills.instead(skill, view.legal), memory
        return skills.follow(obs, skills.order(skill)), memory

    def choose(self, skills: VolleyballSkills, obs: Observation) -> Array:
        """The skill of one drone."""
        if self.name == "hover":
            return jnp.full(obs.served.shape, skills.wait, jnp.int32)
        if self.name == "team":
            return skills.assign(obs, self.option(skills, obs))
        if self.name == "duel":
            return attacking(skills, obs)
        return returning(skills, obs)

    def option(self, skills: VolleyballSkills, obs: Observation) -> Array:
        """The option of a team, as one of its drones sees the court."""
        if self.name == "hover":
            return jnp.full(obs.served.shape, len(skills.options) - 1, jnp.int32)
        return strategy(skills, obs, self.attack)


def returning(skills: VolleyballSkills, obs: Observation) -> Array:
    """One against one: serve, bump the ball back to where the other one stands, and go to the
    middle of the own half; what would land outside is left alone."""
    body = skills.body
    names = skills.names.index
    home = skills.nearest(GO, jnp.asarray((0.45 * body.half_length, 0.0, READY)))
    back = skills.nearest(BUMP, jnp.asarray((-0.8 * body.half_length, 0.0, body.radius)))
    mine = skills.own(obs, obs.allowed) > 0
    play = jnp.where(skills.stays_in(obs), back, home)
    play = jnp.where(obs.served > 0, play, names("serve"))
    return jnp.where(mine, play, home).astype(jnp.int32)


def attacking(skills: VolleyballSkills, obs: Observation) -> Array:
    """One against one: as `returning`, but to the side that is farther from the other drone, half
    way to the back line, where it must run to both sides; by a spike, where one is possible."""
    body = skills.body
    play = returning(skills, obs)
    other = obs.positions[1, 1] + 0.3 * obs.position[1]  # it comes back to the middle
    side = jnp.where(other > 0, -0.5, 0.5) * body.half_width
    away = jnp.full_like(side, -0.55 * body.half_length)
    low = jnp.full_like(side, body.radius)
    place = jnp.stack([away, side, low])
    shot = skills.nearest(BUMP, place)
    if skills.attack:
        shot = skills.attacks(obs, place, shot)
    back = skills.nearest(BUMP, jnp.asarray((-0.8 * body.half_length, 0.0, body.radius)))
    return jnp.where(play == back, shot, play).astype(jnp.int32)


ATTACKS = ("deep", "short")


def strategy(skills: VolleyballSkills, obs: Observation, attack: str = "deep") -> Array:
    """A team: receive, set, and spike deep, to the side that is farther from the other team; or
    always short, to the right."""
    set_ = len(SETTER) * RECEIVER.index("pass high" if attack == "deep" else "pass quickly")
    play = (set_ + SETTER.index("set")) * len(ATTACKER)
    right = jnp.full(obs.served.shape, play + ATTACKER.index("spike right"), jnp.int32)
    if attack == "short":
        return right
    body, members = skills.body, obs.me.shape[0]
    others = obs.positions[members:]
    gaps = []
    for side in (-0.5, 0.5):
        x, y = others[:, 0] + DEEP, others[:, 1] - side * body.half_width
        gaps.append(jnp.min(x**2 + y**2, axis=0))
    left = jnp.int32(play + ATTACKER.index("spike left"))
    return jnp.where(gaps[0] >= gaps[1], left, right)


SET_TO = (1.88, 1.22, 2.7)  # m, where the drill's setter plays the ball, and the height there
AIM = (-4.4, 0.0, 0.1)  # m: of the target, a metre around (-4.5, 0), a little of the nearer part
BESIDE = (3.0, -3.0, READY)  # m, where the setter goes then
RUN_UP = (3.0, 0.45, 1.65)  # m, where the attacker waits for the set
IN_TIME = 1.7  # s until the ball falls to that height, from when on the attacker jumps for it


@functools.lru_cache(maxsize=8)
def pair_of(court: Volleyball) -> VolleyballSkills:
    """The controllers of set_and_spike, those of `skills="attack"`."""
    return VolleyballSkills(dataclasses.replace(court.setup, skills="attack"), drill=True)


@dataclasses.dataclass(frozen=True)
class Pair:
    """The `DevicePolicy` of set_and_spike: drone_0 plays the ball up beside the net, drone_1 comes
    down from where it begins, waits below, and spikes the ball at the target."""

    any_seat: ClassVar[bool] = True

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        skills = pair_of(court_of(env))
        obs = skills.parse_observation(view.perception)
        return skills.follow(obs, self.order(skills, obs)), memory

    def order(self, skills: VolleyballSkills, obs: Observation) -> Order:
        """What one of the two does."""

        def at(place: tuple[float, float, float]) -> Array:
            return jnp.stack([jnp.full_like(obs.served, part) for part in place])

        sets, mine = obs.me[0] > 0, skills.own(obs, obs.allowed) > 0
        time, _ = falls_to(skills.body, obs.ball, obs.ball_velocity, at(SET_TO)[2])
        attacks = mine & ~sets & (time < IN_TIME)
        kind = jnp.where(sets & mine, SERVE, jnp.where(attacks, SPIKE, GO))
        goal = jnp.where(sets, jnp.where(mine, at(SET_TO), at(BESIDE)), at(RUN_UP))
        return Order(kind.astype(jnp.int32), jnp.where(attacks, at(AIM), goal))


@dataclasses.dataclass(frozen=True)
class Still:
    """The `DevicePolicy` of velocities that asks for none."""

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        return jnp.zeros((4, *jnp.shape(view.acting)), jnp.float32), memory


def hover(env: Env) -> Scripted | Still:
    """The player that stays where it is."""
    return Still() if court_of(env).actions == "velocity" else _scripted(env, "hover")


def rally(env: Env) -> Scripted:
    """The player of one against one."""
    return _scripted(env, "rally")


def duel(env: Env) -> Scripted:
    """The player of one against one that attacks."""
    return _scripted(env, "duel")


def spiker(env: Env) -> Pair:
    """The players of set_and_spike and set_and_spike_hard."""
    court = court_of(env)
    if not court.task.startswith("set_and_spike"):
        raise SeatError(f"the seat 'spiker' plays set_and_spike, not {court.task}")
    pair_of(court)  # refuses actions that are no rotors
    return Pair()


def team(env: Env, attack: str = "deep") -> Scripted:
    """The player in a team, which is a whole team where teams choose as one; it attacks deep or,
    by plain skills, short."""
    if attack not in ATTACKS:
        raise SeatError(f"a team's attack is {names_of(ATTACKS)}, given {attack!r}")
    if attack == "short" and court_of(env).skills == "attack":
        raise SeatError(
            "the seat 'team:attack=short' is for volleyball with skills=\"plain\"; given "
            f'skills="attack", where drones can hardly spike as short as {SHORT:g} m behind the '
            "net: seat 'team', which attacks deep, or choose skills=\"plain\""
        )
    return dataclasses.replace(_scripted(env, "team"), attack=attack)


def _scripted(env: Env, name: str) -> Scripted:
    court = court_of(env)
    skills_of(court)  # refuses what cannot be played
    if name != "hover" and (name == "team") != (court.team_size > 1):
        fits = "team" if court.team_size > 1 else "rally"
        raise SeatError(f"the seat {name!r} does not play {court.task}; {fits!r} does")
    return Scripted(name)
