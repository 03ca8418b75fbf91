"""Volleyball's skills: controllers that predict the ball, meet it, and send it where it should go.

A skill is a name in a table (`VolleyballSkills.names`). At every step its controller turns what one
drone perceives (a row of `Volleyball.perceive`) into rotor commands, and remembers nothing: a
skill may be dropped or changed at any step. Everything is in the drone's own frame, in which its
team defends x > 0; the other team's rows are turned by half a circle.

**Hitting.** The ball flies on a parabola (or, with air, along steps of one), so that a controller
knows when and where it falls through the heights at which it can be met, and takes the highest that
the drone can reach in time. From there the ball is to leave with a velocity that carries it over
the net to its target. A racket with unit normal n that moves at s along n turns the ball's velocity
u into u + g (s - u·n) n, g = (1 + restitution) / (1 + ball mass / drone mass); hence n is the
direction of the change of velocity that is wanted, and s = u·n + |change| / g. The drone flies a
path of least jerk to that place (Mueller, Hehn & D'Andrea 2013, "A computationally efficient
algorithm for state-to-state quadrocopter trajectory generation"), to be there at that time with the
acceleration that goes with the normal, since a quadrotor accelerates along it; over the last moment
the attitude alone counts.

All functions take vectors with the component axis first, [3, ...], and any axes after it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, least, take
from manyhands.core.choices import LIMIT, Choice, Form, fold
from manyhands.core.env import Array, ConfigError, IllegalAction, names_of
from manyhands.envs.volleyball import hits, naming, reading, spikes
from manyhands.envs.volleyball.control import body_axes, length, rates_to, rotors
from manyhands.envs.volleyball.flight import (
    BLOCK,
    BUMP,
    GO,
    GONE,
    HOVER,
    RECEIVE,
    SERVE,
    SET,
    SPIKE,
    VERBS,
    Body,
    Order,
    falls_to,
    lands,
)
from manyhands.envs.volleyball.hits import JUMP, NEAREST
from manyhands.envs.volleyball.observe import Observation, parse_observation, perception_layout
from manyhands.envs.volleyball.state import Setup

NOTHING, TOUCHED, CROSSED, BEGINS = range(4)
EVENTS = ("nothing", "the ball was touched", "the ball crossed the net", "a point begins")
LEAD_TIME = 0.65  # s before the touch, below which a `bump to` from rest often comes too late
SET_DEPTH, ATTACK_DEPTH = 1.5, 3.0  # m from the net, where a team sets and attacks
RUN_UP = 3.9  # m from the net, where the attacker waits before that
LOW_ARC = 4.6  # m, the height of balls that are met in haste, with skills="attack"
ROOM = 1.8  # m, that it leaves to the one who receives, with skills="attack"
DEEP, SHORT = 3.3, 1.2  # m behind the net, where attacks aim: few spikes come farther than that
# What a team can choose for its receiver, its setter and its attacker (the joint options of HCSP,
# Zhang et al. 2025). After a quick pass the attacker attacks short.
RECEIVER = ("go left", "go to the middle", "go right", "pass high", "pass quickly", "hover")
SETTER = ("go", "set", "hover")
ATTACKER = ("go", "spike left", "spike right", "hover")
Place = tuple[float, float, float]

READY, HIGH = 1.6, 2.4  # m, heights to wait for the ball at, and for a ball to attack


# ---- the skills ----------------------------------------------------------------------------------


class VolleyballSkills:
    """The skills of one court's drones: see the module's docstring, and `wrappers/skills.py`.

    In table order: `hover`; `receive`, which plays the ball high before the setter (in 1v1, to
    the middle of the other half); `serve`; `block`; `go to (x, y, z)`, `bump to (x, y)` and `spike
    to (x, y)` on the other half, and, in teams, `set to (x, y, z)`, where the ball is to fall
    through that place; each for a grid of places.

    Args:
        setup: the court's.
        drill: whether it is a drill's, whose scripted players need no table, but its controllers.

    Attributes:
        names: the table.
        kinds: i32[S], what each is, an index into `VERBS`.
        goals: f32[S, 3], its place, m.
        instant: bool[S], whether a skill ends with its first step.
        wait: index of the skill that does nothing (`hover`); `rests`: it has no end.
    """

    def __init__(self, setup: Setup, drill: bool = False):
        if setup.versus == drill or setup.actions != "rotors":
            tasks = "drills" if drill else "1v1, 3v3 and 6v6"
            raise ConfigError(
                f"the skills are for {tasks}, and for actions='rotors'; given "
                f"task={setup.task!r} and actions={setup.actions!r}"
            )
        self.params, self._layout = setup.params, perception_layout(setup)
        self.attack = setup.skills == "attack"
        if drill:
            self._styles = hits.STYLES_OF_DRILLS
        elif self.attack:
            self._styles = hits.STYLES_OF_ATTACK
        else:
            self._styles = hits.STYLES
        self.members, self.body = setup.team_size, _body(setup)
        self._stays_with = spikes.STUBBORN if self.members > 1 else spikes.COMMITTED
        # Where a team attacks, and where its attacker waits: at a height of its own, or between the
        # rows of those who stand there.
        self._depth, self._run_up, self._wait_at = ATTACK_DEPTH, RUN_UP, HIGH
        if self.attack:
            between = 0.35 * self.body.half_length
            self._depth, self._wait_at = JUMP, READY
            self._run_up = between if self.members > 3 else RUN_UP
        length, width = self.body.half_length, self.body.half_width
        middle = (-(0.8 if self.members == 1 else 0.65) * length, 0.0, self.body.radius)
        # From the end of the longest court no serve comes over the net: it goes to the front.
        serve = middle if length < 7 else (ATTACK_DEPTH, 0.0, 3.0)
        self._served_to = "middle of the far half" if serve is middle else "front of your half"
        if self.attack and serve is middle and self.members > 1:
            serve = (-0.55 * length, 0.0, self.body.radius)
        table: list[tuple[str, int, Place]] = [
            ("hover", HOVER, (0.0, 0.0, 0.0)),
            ("receive", RECEIVE, middle),  # in a team: to the one who sets
            ("serve", SERVE, serve),
            ("block", BLOCK, (-0.4 * length, 0.0, self.body.radius)),
        ]
        sides = [_round(width * part) for part in (-0.5, 0.0, 0.5)]
        for x in (_round(length * part) for part in (0.2, 0.35, 0.5, 0.65, 0.8)):
            for y in (_round(width * part) for part in (-0.35, 0.0, 0.35)):
                for z in (READY, HIGH) if x < 0.7 * length else (READY,):
                    table.append((f"go to ({x:g}, {y:g}, {z:g})", GO, (x, y, z)))
        for kind in (BUMP, SPIKE):
            for x in (_round(-length * part) for part in (0.3, 0.55, 0.8)):
                for y in sides:
                    place = (x, y, self.body.radius)
                    table.append((f"{VERBS[kind]} ({x:g}, {y:g})", kind, place))
        for y in (_round(width * part) for part in (-0.85, 0.0, 0.85)) if self.members > 1 else ():
            table.append((f"spike to ({-SHORT:g}, {y:g})", SPIKE, (-SHORT, y, self.body.radius)))
        for x in (SET_DEPTH, ATTACK_DEPTH) if self.members > 1 else ():
            for y in sides:
                table.append((f"set to ({x:g}, {y:g}, 3)", SET, (x, y, 3.0)))
        self.names = tuple(name for name, _, _ in table)
        self.kinds = np.array([kind for _, kind, _ in table], np.int32)
        self.goals = np.array([goal for _, _, goal in table], np.float32)
        self.instant = self.kinds == HOVER
        self.wait, self.rests = 0, True
        self.events = EVENTS
        self.example = "bump to (-2, 0)"
        self.options: tuple[str, ...] = ()
        self.plays = ""
        if self.members > 1:
            self.options = tuple(
                f"receiver: {receiver}; setter: {setter}; attacker: {attacker}"
                for receiver in RECEIVER
                for setter in SETTER
                for attacker in ATTACKER
            )
            over = serve[0] < 0
            self.plays = _PLAYS.format(
                serve=_SERVED_OVER if over else _SERVED_FRONT,
                instead=_INSTEAD if self.attack else "",
            )
            self._cast = jax.jit(self._roles)
        self._compiled = jax.jit(self._brief)
        self._last: tuple[bytes, tuple[list[Any], ...]] = (b"", ())

    # ---- pure, vectors first, any axes after ---------------------------------------------------

    def parse_observation(self, row: Array) -> Observation:
        """Rows of `perceive`, [K, ...], by names."""
        return parse_observation(self._layout, row)

    def order(self, skill: Array) -> Order:
        """Skills i32[...] of the table, with their places."""
        numbers = expand(jnp.arange(len(self.names)), jnp.ndim(skill))
        chosen = numbers == skill
        kinds = self.kinds.reshape(numbers.shape)
        kind = jnp.sum(jnp.where(chosen, kinds, 0), axis=0).astype(jnp.int32)
        goals = self.goals.T.reshape(3, *numbers.shape)
        return Order(kind, jnp.sum(jnp.where(chosen, goals, 0), axis=1))

    def aimed(self, obs: Observation, order: Order) -> Order:
        """With the place where the ball is to fall: a team receives to the one who sets."""
        if self.members == 1:
            return order
        setter = self.before(obs, self.roles(obs)[1], SET_DEPTH)
        return order._replace(goal=jnp.where(order.kind == RECEIVE, setter, order.goal))

    def follow(self, obs: Observation, order: Order) -> Array:
        """The next primitive action of a skill, f32[4, ...]."""
        body, kind, order = self.body, order.kind, self.aimed(obs, order)
        hit = hits.plan(body, obs, order, self._styles)
        # A block waits at the net until the ball comes to it there.
        comes = (hit.time > 0) & (hit.place[0] < 0.4 * body.half_length)
        strikes = (kind != HOVER) & (kind != GO) & ((kind != BLOCK) | comes)
        across = jnp.clip(obs.ball[1], -body.half_width, body.half_width)
        place = hits.GUARD if self.attack else (NEAREST + 0.1, body.net + 0.1)
        guard = [jnp.full_like(across, x) for x in place]
        goal = jnp.where(kind == BLOCK, jnp.stack([guard[0], across, guard[1]]), order.goal)
        goal = jnp.where(kind == HOVER, obs.position + 0.4 * obs.velocity, goal)
        aside = hits.give_way(obs) if self.attack and self.members > 1 else None
        calm, rest = hits.travel(body, obs, goal, aside)
        # A ball in a low arc leaves a team no time to dip, nor who receives it to aim to the last.
        apex = obs.ball[2] + obs.ball_velocity[2] ** 2 / (2 * body.gravity)
        low = (apex < LOW_ARC) & (self.members > 1)
        aims = ~(low & (kind == RECEIVE))
        firm = (kind != SERVE) & aims & ~(low & (kind == BUMP)) if self.attack else None
        normal, thrust = hits.strike(body, obs, hit, firm)
        normal = [jnp.where(strikes, a, b) for a, b in zip(normal, calm, strict=True)]
        thrust = jnp.where(strikes, thrust, rest)
        x, y = rates_to(obs.quaternion, normal)
        if self.attack:
            last = hits.finish(body, obs, hit, order.goal, (x, y, thrust))
            x, y, thrust = (
                jnp.where(strikes & aims, a, b) for a, b in zip(last, (x, y, thrust), strict=True)
            )
            x, y, thrust = self._attacking(obs, order, (x, y, thrust))
        params = self.params
        return rotors(
            (x, y, jnp.zeros_like(x)),
            thrust,
            obs.rates,
            obs.thrust,
            inertia=[params.inertia[0, i] for i in range(3)],
            power=params.power[0],
            lag=params.lag[0],
            mixer=params.mixer,
        ).astype(jnp.float32)

    def _attacking(self, obs: Observation, order: Order, plain: Any) -> tuple[Array, ...]:
        """(rate about x, rate about y, thrust) of skills="attack": what a spike asks for, what
        keeps a drone that has just spiked on its side, or what is `plain`."""
        spike = spikes.strike(self.body, obs, spikes.plan(self.body, obs, order.goal))
        x, y, z = obs.position
        back = spikes.recover(self.body, obs, (jnp.maximum(x, JUMP), y, jnp.clip(z, READY, HIGH)))
        recent = self.own(obs, obs.since) < spikes.AFTER
        drifts = x + 0.5 * obs.velocity[0] < 0.8
        leans = body_axes(obs.quaternion)[2][2] < 0.8
        hits = (order.kind == SPIKE) & ~recent
        waits = (order.kind == HOVER) | (order.kind == GO) | (order.kind == SPIKE)
        turns = recent & waits & (drifts | leans) & (x < JUMP + 0.5)
        # A sum, and so an array of its own: joined with what rotors make of it, a compiler works
        # the three out again for each rotor and each part of its command.
        which = jnp.where(hits, 2, jnp.where(turns, 1, 0))
        ways = zip(plain, back, spike, strict=True)
        return tuple(take(jnp.stack(parts), which) for parts in ways)

    def jumps(self, obs: Observation) -> spikes.Spike:
        """All K spikes of the table, [K, ...], as they are to be done now; of skills="attack"."""
        lifted, order = self._orders(obs, SPIKE)
        return spikes.plan(self.body, lifted, order.goal)

    def hittable(self, obs: Observation, kind: int) -> Array:
        """bool[K, ...]: which of the skills of one kind, other than spikes, the drone can do with
        the ball as it flies now; of skills="attack"."""
        lifted, order = self._orders(obs, kind)
        hit = hits.plan(self.body, lifted, order, self._styles)
        return hits.can(lifted, hit, order)

    def _orders(self, obs: Observation, kind: int) -> tuple[Observation, Order]:
        """All K skills of a kind, and what the drone perceives with an axis for them."""
        axes = obs.served.ndim
        goals = expand(self.goals[self.kinds == kind].T, axes)
        fields = ("position", "velocity", "quaternion", "rates", "ball", "ball_velocity", "me")
        goals = goals + jnp.zeros_like(obs.ball)[:, None]
        each = {name: getattr(obs, name)[:, None] for name in fields}
        each = {k: jnp.broadcast_to(x, (len(x), *goals.shape[1:])) for k, x in each.items()}
        lifted = obs._replace(**each, anchors=obs.anchors[:, :, None])
        return lifted, Order(jnp.full(goals.shape[1:], kind, jnp.int32), goals)

    def comes(self, obs: Observation) -> Array:
        """bool[...]: whether the ball will come down in the own half, untouched."""
        _, place = lands(self.body, obs)
        return place[0] > 0

    def touches(self, obs: Observation) -> Array:
        """bool[...]: who may touch the ball; in teams, all may prepare to receive a ball that comes
        from the other half."""
        allowed = self.own(obs, obs.allowed) > 0
        if self.members > 1:
            allowed = allowed | ((obs.mine == 0) & (obs.served > 0) & self.comes(obs))
        return allowed

    def possible(self, obs: Observation) -> Array:
        """bool[S, ...]: the skills that can be chosen. Who may not touch the ball can only get
        ready."""
        allowed = self.touches(obs)
        kinds = expand(self.kinds, obs.served.ndim)
        served = obs.served > 0
        ready = (kinds == HOVER) | (kinds == GO) | (kinds == BLOCK)
        found = ready | jnp.where(kinds == SERVE, allowed & ~served, allowed & served)
        if not self.attack:
            return found
        found = jnp.broadcast_to(found, (len(self.names), *obs.served.shape))
        for kind in (BUMP, SET, SPIKE, BLOCK) if self.members > 1 else (BUMP, SPIKE, BLOCK):
            rows = np.flatnonzero(self.kinds == kind)
            can = spikes.can(self.jumps(obs)) if kind == SPIKE else self.hittable(obs, kind)
            if kind == BLOCK:  # one may wait for a ball that nobody has hit yet; in 1v1 none works
                can = (can | ~self.comes(obs)) & (self.members > 1)
            found = found.at[rows].set(found[rows] & can)
        return found

    def done(self, obs: Observation, order: Order) -> Array:
        """bool[...]: a place is reached; the ball has been touched."""
        there = (length(order.goal - obs.position) < 0.25) & (length(obs.velocity) < 0.3)
        touched = self.own(obs, obs.last) > 0
        hits = (order.kind != HOVER) & (order.kind != BLOCK)
        return jnp.where(order.kind == GO, there, hits & touched)

    def event(self, before: Observation, after: Observation) -> Array:
        """u8[...]: what one step has changed, as an index into `events`."""
        event = jnp.where(before.mine != after.mine, CROSSED, NOTHING)
        event = jnp.where(jnp.any(after.since == 0, axis=0), TOUCHED, event)
        return jnp.where(after.clock < before.clock, BEGINS, event).astype(jnp.uint8)

    @staticmethod
    def own(obs: Observation, everyone: Array) -> Array:
        """The drone's own entry of [D, ...]."""
        return jnp.sum(obs.me * everyone[: obs.me.shape[0]], axis=0)

    def nearest(self, kind: int, place: Array) -> Array:
        """i32[...]: of the skills of one kind, the one whose place is nearest to f32[3, ...]."""
        rows = np.flatnonzero(self.kinds == kind)
        goals = expand(self.goals[rows], place.ndim - 1)
        apart = jnp.sum((goals - place) ** 2, axis=1)
        return jnp.int32(rows[0]) + jnp.argmin(apart, axis=0).astype(jnp.int32)

    def instead(self, skill: Array, legal: Array) -> Array:
        """i32[...]: the skill where it is in `legal`, bool[S, ...]; else the legal one of its kind
        whose place is nearest to its own, or to wait, where there is none."""
        kinds, goals = expand(self.kinds, skill.ndim), expand(self.goals, skill.ndim)
        chosen = jnp.arange(len(self.names)).reshape(-1, *(1,) * skill.ndim) == skill
        goal = jnp.sum(jnp.where(chosen[:, None], goals, 0), axis=0)
        fits = legal & (kinds == jnp.sum(jnp.where(chosen, kinds, 0), axis=0))
        apart = jnp.where(fits, jnp.sum((goals - goal) ** 2, axis=1), jnp.inf)
        near = jnp.argmin(apart, axis=0).astype(jnp.int32)
        near = jnp.where(jnp.any(fits, axis=0), near, self.wait)
        return jnp.where(jnp.any(chosen & legal, axis=0), skill, near)

    # ---- a team as one -------------------------------------------------------------------------

    def roles(self, obs: Observation) -> tuple[Array, Array, Array, Array]:
        """(receiver, setter, attacker, touches): one-hot f32[members, ...] each, the same for all
        of a team, and how often it has touched the ball in this possession.

        Next is the drone nearest to where the ball comes down to 2 m, of those that may still touch
        it; after it comes the one nearest to the net. The ball is played to where the next drone
        is, so that no paths cross.
        """
        height = jnp.minimum(2.0, obs.ball[2])
        _, falls = falls_to(self.body, obs.ball, obs.ball_velocity, height)
        coming = self.comes(obs) & (obs.served > 0)
        places = obs.positions[: self.members]
        touched = obs.touched[: self.members] * (obs.mine > 0)
        touches = jnp.sum(touched, axis=0)
        across = (places[:, 0] - falls[0]) ** 2 + (places[:, 1] - falls[1]) ** 2
        # Until it is known where the ball comes down, the one at the back receives.
        first = least(jnp.where(coming, across, -places[:, 0]) + 1e6 * touched)
        second = least(places[:, 0] + 1e6 * (touched + first))
        third = least(places[:, 0] + 1e6 * (touched + first + second))
        none = jnp.zeros_like(first)
        return (
            jnp.where(touches == 0, first, none),
            jnp.where(touches == 0, second, jnp.where(touches == 1, first, none)),
            jnp.where(touches == 0, third, jnp.where(touches == 1, second, first)),
            touches,
        )

    def before(self, obs: Observation, who: Array, depth: float) -> Array:
        """f32[3, ...]: the place before one of the team (one-hot f32[members, ...]), `depth`
        metres from the net, at a height that the ball is played to."""
        across = jnp.sum(who * obs.positions[: self.members, 1], axis=0)
        most = 0.6 * self.body.half_width
        away = jnp.full_like(across, depth)
        return jnp.stack([away, jnp.clip(across, -most, most), jnp.full_like(across, 3.0)])

    def assign(self, obs: Observation, option: Array) -> Array:
        """i32[...]: the skill that a team's option i32[...] means for this drone."""
        names, half = self.names.index, self.body.half_length
        *roles, touches = self.roles(obs)
        receiver, setter, attacker = (jnp.sum(part * obs.me, axis=0) > 0 for part in roles)
        receives = option // (len(SETTER) * len(ATTACKER))
        sets, attacks = option // len(ATTACKER) % len(SETTER), option % len(ATTACKER)
        ready = self.touches(obs) & (obs.served > 0)
        attack = self.nearest(SET, self.before(obs, roles[2], self._depth))

        def wait(depth: float, height: float) -> Array:
            x, y, _ = self.before(obs, obs.me, depth)
            return self.nearest(GO, jnp.stack([x, y, jnp.full_like(x, height)]))

        # Nearer to the net than they stand at first: there serves come down.
        x, y, _ = jnp.sum(obs.me[:, None] * obs.anchors[: self.members], axis=0)
        home = self.nearest(GO, jnp.stack([0.7 * x, y, jnp.full_like(x, READY)]))
        back = [
            self.nearest(GO, jnp.asarray((0.5 * half, side * self.body.half_width, READY)))
            for side in (-0.5, 0.0, 0.5)
        ]
        passes = jnp.where(receives == 3, names("receive"), attack)
        choice = jnp.where(ready & self.stays_in(obs), passes, home)
        for i, place in enumerate(back):
            choice = jnp.where(receives == i, place, choice)
        choice = jnp.where(receives == len(RECEIVER) - 1, self.wait, choice)
        skill = jnp.where(receiver, choice, home)

        choice = jnp.where((touches == 1) & ready & (sets == 1), attack, wait(SET_DEPTH, READY))
        choice = jnp.where(sets == len(SETTER) - 1, self.wait, choice)
        skill = jnp.where(setter, choice, skill)

        quick = receives == RECEIVER.index("pass quickly")
        left, right = (
            jnp.where(
                quick,
                self.nearest(SPIKE, jnp.asarray((-SHORT, 0.85 * side, 0.0))),
                self.nearest(SPIKE, jnp.asarray((-DEEP, 0.5 * side, 0.0))),
            )
            for side in (-self.body.half_width, self.body.half_width)
        )
        choice = jnp.where(attacks == 1, left, right)
        if self.attack:
            goal = self.order(choice).goal
            bump = jnp.stack([jnp.minimum(goal[0], -DEEP), goal[1], goal[2]])
            choice = self.attacks(obs, goal, self.nearest(BUMP, bump))
        early = wait(self._depth, self._wait_at)
        run_up = wait(self._run_up, self._wait_at)
        if self.attack:  # it comes into nobody's way who receives there
            _, place = falls_to(self.body, obs.ball, obs.ball_velocity, jnp.float32(2.0))
            gap = self.order(run_up).goal - place
            run_up = jnp.where(gap[0] ** 2 + gap[1] ** 2 < ROOM**2, home, run_up)
        early = jnp.where(touches > 0, early, run_up)
        choice = jnp.where((touches >= 2) & ready & (attacks > 0), choice, early)
        choice = jnp.where(attacks == len(ATTACKER) - 1, self.wait, choice)
        skill = jnp.where(attacker, choice, skill)

        serves = self.own(obs, obs.allowed) > 0
        start = jnp.where(serves, names("serve"), home)
        skill = jnp.where(self.comes(obs), skill, home)
        return jnp.where(obs.served > 0, skill, start).astype(jnp.int32)

    def attacks(self, obs: Observation, goal: Array, else_: Array) -> Array:
        """i32[...]: of the spikes that the drone can do, the one nearest to `goal` f32[3, ...], and
        when it has no time left to change its way, one that it is in place for; where it can do
        none, `else_`. Of skills="attack"."""
        rows = np.flatnonzero(self.kinds == SPIKE)
        plan = self.jumps(obs)
        goals = expand(self.goals[rows].T, obs.served.ndim)
        apart = jnp.sum((goals - goal[:, None]) ** 2, axis=0)
        can = plan.cost < jnp.where(plan.time < spikes.LATE, self._stays_with, spikes.OFFERED)
        rank = jnp.where(plan.time < spikes.LATE, plan.cost + spikes.STRAY * apart, apart)
        best = jnp.int32(rows[0]) + jnp.argmin(jnp.where(can, rank, 1e6), axis=0)
        return jnp.where(jnp.any(can, axis=0), best, else_).astype(jnp.int32)

    def stays_in(self, obs: Observation) -> Array:
        """bool[...]: whether the ball, untouched, comes down inside the own half, or nearly so."""
        _, place = lands(self.body, obs)
        slack = 2 * self.body.radius
        inside = jnp.abs(place[1]) < self.body.half_width + slack
        return inside & (place[0] > 0) & (place[0] < self.body.half_length + slack)

    def plain_orders(self, text: str) -> str:
        """An answer for a team in which what follows as a purpose is an order, too."""
        return reading.plain_orders(text)

    def parse_option(
        self, text: str, perception: np.ndarray | None = None, agents: Sequence[str] = ()
    ) -> int | None:
        """The option of a team that a sentence names, role by role; a role that is not named
        hovers. With what one of the team perceives, its `agents` may stand for the roles that they
        have now."""
        text = reading.PLAY.sub("", text.replace(f": {_IF_TURN}", ""))
        text = reading.WHO.sub(r"\1; \1 ", text)
        called = re.sub(r"(?<=[a-z]) (?=\d)", "_", text)
        if perception is not None and any(name in called for name in agents):
            text = self._by_role(text, perception, agents)
        readings = reading.options().read(text)
        who = next((name for name in agents if name in called), "")
        if not readings and who and reading.options().read(_numbered(called, agents)):
            raise IllegalAction(
                f"nobody has a role now, or {who} has none: say what the receiver, the setter and "
                "the attacker do"
            )
        if len(readings) != 1:
            return None
        if readings[0].meaning == "wait":
            return len(self.options) - 1
        number, said = 0, readings[0].values
        said = {role: what for roles, what in said.items() for role in roles.split("+")}
        for role, table in _TABLES.items():
            name = said.get(role, "hover")
            if name not in table:
                raise IllegalAction(f"the {role} can {names_of(table)}; not {name!r}")
            number = number * len(table) + table.index(name)
        return number

    # ---- as `wrappers/skills.py` asks ----------------------------------------------------------

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        """(action, done, possible) of one skill, for one drone."""
        obs, order = self.parse_observation(perception), self.order(skill)
        chosen = jnp.arange(len(self.names)) == skill
        possible = jnp.any(self.possible(obs) & chosen)
        return self.follow(obs, order), self.done(obs, order), possible

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        """(action f32[S, 4], done bool[S], possible bool[S]) of all skills, for one drone."""
        order, possible = (
            self.order(jnp.arange(len(self.names))),
            self.possible(self.parse_observation(perception)),
        )
        obs = self.parse_observation(
            jnp.broadcast_to(perception[:, None], (*perception.shape, len(possible)))
        )
        return self.follow(obs, order).T, self.done(obs, order), possible

    def _repeated(self, row: Array) -> Observation:
        """One drone's perception, once for each skill: components [..., S]."""
        shape = (*row.shape, len(self.names))
        return self.parse_observation(jnp.broadcast_to(row[:, None], shape))

    def primitive(self, action: Array) -> Array:
        raise ConfigError(
            "no skill of volleyball is one primitive action; to choose primitive actions, play the "
            "environment without skills"
        )

    # ---- in words ------------------------------------------------------------------------------

    def _brief(self, row: Array) -> tuple[Array, ...]:
        """For each skill whether it is possible, the time until the ball is met and by how much
        that is too late (s), and the way to its place (m); then for the drone whether it may
        touch the ball, whether that is in its half, and whether it is served."""
        order = self.order(jnp.arange(len(self.names)))
        obs, own = self._repeated(row), self.parse_observation(row)
        hit = hits.plan(self.body, obs, order, self._styles)
        late = jnp.broadcast_to(hit.late, hit.time.shape)
        told = jnp.stack([self.own(own, own.allowed), own.mine, own.served])
        return self.possible(own), hit.time, late, length(order.goal - obs.position), told

    def _survey(self, perception: np.ndarray) -> tuple[list[Any], ...]:
        """`_brief` as lists; that of the last row is kept, since it is asked for again."""
        row = np.asarray(perception, np.float32)
        known, facts = self._last
        if known != row.tobytes():
            facts = tuple(fact.tolist() for fact in jax.device_get(self._compiled(row)))
            self._last = row.tobytes(), facts
        return facts

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill what it would do now, or why it cannot be chosen."""
        facts = self._survey(perception)
        return [self._word(i, *facts) for i in range(len(self.names))]

    def offers(self, perception: np.ndarray, limit: int | None = LIMIT) -> list[Choice]:
        """The skills that can be chosen, with their effects: none of them is certain. Those that
        differ in their places are one `Form`."""
        facts = self._survey(perception)
        forms: dict[int, Form] = {}
        found = []
        for i, possible in enumerate(facts[0]):
            if not possible:
                continue
            kind, effect = int(self.kinds[i]), self._word(i, *facts)
            if kind in (GO, BUMP, SPIKE, SET) and kind not in forms:
                forms[kind] = naming.form(self, kind, effect)
            found.append(Choice(self.names[i], effect, i, certain=False, form=forms.get(kind)))
        return fold(found, limit)

    def _word(
        self,
        i: int,
        possible: list[bool],
        time: list[float],
        late: list[float],
        away: list[float],
        told: list[float],
    ) -> str:
        kind, (allowed, mine, served) = int(self.kinds[i]), told
        if kind == HOVER:
            return "come to rest about here"
        if kind == GO:
            return f"about {away[i]:.1f} m away, {1.07 * math.sqrt(away[i]):.1f} s"
        if kind == BLOCK:
            word = "wait at the net, hit the ball back if it comes"
            word += "" if self.attack else "; you may drift across it"
            if self.members == 1 and served and not allowed:
                return f"{word}; a touch before the other drone's loses the point"
            if served and not allowed and mine:
                return f"{word}; you have had your touch: another one now loses the point"
            return word
        if not possible[i]:
            if kind == SERVE:
                return "it is not yours to serve now"
            return "the ball is not yours to touch now"
        meets = f"you meet the ball in about {max(time[i], 0):.1f} s"
        if late[i] > GONE:
            meets = "the ball can no longer be met"
        elif late[i] > 0.1:
            meets = f"you would be about {late[i]:.1f} s too late to meet the ball"
        elif time[i] < LEAD_TIME and kind != SERVE and not self.attack:
            meets += ", soon: if you are not on your way to it yet, that may be too late"
        if self.members > 1 and not allowed and kind != SERVE:
            meets += ", if it comes over"
        if kind == RECEIVE:
            where = "the middle of the far half" if self.members == 1 else "the one who sets"
            return f"high to {where}; {meets}"
        if kind == SERVE:
            return f"to the {self._served_to}; {meets}"
        if kind == SPIKE:
            risk = "it often goes out or takes you across the net"
            if self.attack:
                return f"down over the net; {meets}"
            return f"flat and fast; {meets}" + (f"; {risk}" if self.members == 1 else "")
        arc = "in an arc" if self.attack else "high arc"
        return f"{arc if kind == BUMP else 'up for a team-mate'}; {meets}"

    def _roles(self, row: Array) -> tuple[Array, ...]:
        """The three roles i32[] of a team's drones, its touches, and whether the ball is served,
        comes down in its half, and is its own to serve."""
        obs = self.parse_observation(row)
        *roles, touches = self.roles(obs)
        ours = jnp.any(obs.allowed[: self.members] > 0)
        told = [jnp.where(jnp.any(role > 0), jnp.argmax(role), -1) for role in roles]
        return (*told, touches, obs.served > 0, self.comes(obs), ours)

    def _by_role(self, text: str, perception: np.ndarray, agents: Sequence[str]) -> str:
        """A sentence with roles in place of the drones that have them now."""
        *roles, touches, served, comes, _ = jax.device_get(self._cast(np.asarray(perception)))
        if not served or not comes:
            return text  # nobody has a role now
        for role, r in list(zip(_TABLES, roles, strict=True))[min(int(touches), 2) :]:
            if int(r) >= 0:
                name = re.escape(agents[int(r)]).replace("_", "[_ ]")
                text = re.sub(rf"\b{name}\b", role, text)
        return text

    def cast(self, perception: np.ndarray, agents: Sequence[str]) -> str:
        """Who of a team plays which role now, in words.

        Args:
            perception: of one of the team.
            agents: the names of the team's drones.
        """
        facts = jax.device_get(self._cast(np.asarray(perception, np.float32)))
        *roles, touches, served, comes, ours = facts
        receiver, setter, attacker = (agents[int(r)] if r >= 0 else "" for r in roles)
        if not served:
            who = (
                "Your server serves by itself; your other"
                if ours
                else "The other team serves; your"
            )
            return f"{who} drones fly to their places, whatever you choose."
        if not comes:
            return "The ball is not coming down in your half: whatever you choose, all get ready."
        parts = []
        if touches == 0:
            parts.append(f"{receiver} is the receiver")
        if touches <= 1:
            parts.append(f"{setter} is the setter")
        parts.append(f"{attacker} is the attacker")
        due = list(_TABLES)[min(int(touches), 2)]
        return f"{', '.join(parts)}; the next touch is the {due}'s."

    def option_choices(self, limit: int | None = LIMIT) -> list[Choice]:
        """The options of a team."""
        ways = {role: ", ".join(table) for role, table in _TABLES.items()}
        form = Form(
            "; ".join(f"{role}: {{{role}}}" for role in _TABLES),
            "for each role, if its turn comes: "
            + "; ".join(f"{role} {way}" for role, way in ways.items()),
            {role: tuple(table) for role, table in _TABLES.items()},
            "receiver: pass high; setter: set; attacker: spike left",
        )
        listed = [
            Choice(name, _IF_TURN, k, certain=False, form=form)
            for k, name in enumerate(self.options)
        ]
        return fold(listed, limit)

    def parse(self, text: str, perception: Any = None, current: int | None = None) -> int | None:
        """The skill that a sentence names, None if it names none; numbers mean the nearest place of
        the table, and so do words like "deep left", of the far half.

        Raises:
            IllegalAction: it names a skill that is not in the table, or no place on its half.
        """
        return naming.parse(self, text, perception, current)

    def _spike_rule(self) -> str:
        if self.attack:
            return (
                "meet a ball that falls from a height near the net, and hit it down to that place "
                "of the far half; offered while the drone can do it, so wait for a high ball "
                "about 1 to 1.5 m from the net."
            )
        word = "meet the ball as high as can be, and play it flat and fast to that place of the far"
        if self.members > 1:
            return f"{word} half; for a ball that is set high, 2 to 4 m from the net."
        return (
            f"{word} half. On this short court it often goes out, or takes you across the net: "
            "bump is safer."
        )

    def _block_rule(self) -> str:
        if self.attack and self.members == 1:
            return "here never offered: bump what comes over."
        if self.attack:
            return (
                "wait 1.2 m behind the net before the ball, and hit it back over the net if it "
                "comes to you; offered while nobody has hit it there, or you can reach it."
            )
        return (
            "wait at the net before the ball, and hit it back if it comes to you there; then go "
            "back, since the drone may drift across the net."
        )

    def rules(self) -> str:
        """The skills, explained to a player."""
        team = self.members > 1
        lines = [
            "hover, or wait: come to rest where you are, and leave the ball alone.",
            "go to (x, y, z): fly there" + (", around your team-mates." if team else "."),
            "receive: meet the ball, and play it high to "
            + (
                "the team-mate who sets, which is the one nearest to the net."
                if team
                else "the middle of the far half."
            ),
            "bump to (x, y): meet the ball, and play it in an arc to that place of the far half "
            "(x < 0)"
            + (
                "; lower than receive does, so far from the other drone it is hard to reach."
                if self.attack and not team
                else "."
            ),
        ]
        if team:
            lines.append(
                "set to (x, y, z): play the ball up so that it falls through that place of your "
                "half, for a team-mate to spike."
            )
        lines += [
            f"spike to (x, y): {self._spike_rule()}",
            f"serve: the ball that falls above you at the start, to the {self._served_to}.",
            f"block: {self._block_rule()}",
            "Places are in metres in your own frame; numbers near a place that is offered mean it. "
            'Of the far half also in words: "bump deep left". Only receive, bump, '
            + ("set, " if team else "")
            + "spike, serve and block hit the ball. While you may not touch it, "
            + ("none" if self.attack and not team else "only block")
            + " is offered of these"
            + (", and, while the ball comes over, those that receive it." if team else "."),
        ]
        return "\n".join(lines)


_IF_TURN = "if their turns come"  # the effect of each option
_TABLES = {"receiver": RECEIVER, "setter": SETTER, "attacker": ATTACKER}
_SERVED_OVER = "over the net"
_SERVED_FRONT = (
    "on this long court to the front of your half, which is the first touch: the setter's is next"
)
# With skills="attack", which spikes where it can.
_INSTEAD = ", or as near to that as it can; where it can do no spike, it bumps deep to that side"
_PLAYS = (
    "An option tells each role what to do; for example "
    '"ACTION: receiver: pass high; setter: set; attacker: spike left". You are told who has which '
    "role: it follows from where the ball comes down, who is near, and who has touched it. The "
    "drones fly and hit by themselves, and serve, {serve}; those whose touch is past, or not yet "
    "come, get ready.\n"
    "receiver (first touch): pass high (plays the ball up before the setter), pass quickly (at "
    "once before the attacker), or leave the ball alone and go left, go to the middle or go right, "
    "at the back.\n"
    "setter (second touch): set (plays it up before the attacker), or go (waits near the net).\n"
    "attacker: spike left or spike right, to that side of the far half as seen facing the net, "
    f"deep ({DEEP:g} m behind the net) or, with 'pass quickly' in the same option, short and wide "
    f"({SHORT:g} m behind it, near the side line){{instead}}; or go (waits where the ball will "
    "come).\n"
    "hover (or wait): stays where it is; so does a role that you leave out."
)


def _numbered(text: str, agents: Sequence[str]) -> str:
    """A sentence with roles in place of drones, in the order in which they are named."""
    named = sorted((text.index(name), name) for name in agents if name in text)
    for role, (_, name) in zip(reading.ROLES, named, strict=False):
        text = re.sub(rf"\b{re.escape(name)}\b", role, text)
    return text


def _round(value: float) -> float:
    return round(value, 2)


def _body(setup: Setup) -> Body:
    """What players know: the model's numbers, not those that an episode has drawn."""
    params, (length_, width) = setup.params, setup.plan.court
    # b = (1 + e) / (h d), see model.py.
    bounce = float(params.damping[0] * params.timestep * params.impedance[0])
    _, thickness, height = (float(x) for x in params.racket)
    mass, ball = float(params.mass[0]), float(params.ball_mass)
    drag = 0.0 if params.ball_drag is None else float(params.ball_drag) / ball
    return Body(
        gravity=float(params.gravity),
        ceiling=4 * float(params.power[0]) / mass,
        offset=height + thickness + float(params.ball_radius),
        gain=bounce / (1 + ball / mass),
        drag=drag,
        net=float(params.net[0, 2] + params.net[1, 2]),
        radius=float(params.ball_radius),
        half_length=length_ / 2,
        half_width=width / 2,
        run_up=0.2 + 0.35 * (setup.plan.ball - 1.5),  # more, where the ball comes down faster
    )
