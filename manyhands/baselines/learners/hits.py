"""Stage 1 of hierarchical co-self-play (`hcsp.py`): a volleyball team's hits, learned in turn.

    serve, receive, set, spike

Each is a network of its own that PPO trains in `Practice`. `situations` plays games against the
scripted team and keeps the states in which somebody is to do the hit in question; hits that are
learned already are played by their networks, so that a set is practised behind the passes that the
learned receiver makes, and a spike behind its sets. `LearnedSkills` are the court's skills with
these hits, and `LearnedCourt` is a court that has them: over it, strategies are learned as over any
other (`wrappers/events.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.bots.volleyball import Scripted
from manyhands.baselines.learners.networks import Network, actions_of
from manyhands.baselines.players import network as policies
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.axes import expand
from manyhands.core.env import Array, ConfigError
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.flight import Order, falls_to
from manyhands.envs.volleyball.observe import Observation
from manyhands.envs.volleyball.practice import (
    AFTER,
    HITS,
    LONGEST,
    MEETS,
    Practice,
    Situations,
    flown,
    seen,
)
from manyhands.envs.volleyball.skills import VolleyballSkills
from manyhands.envs.volleyball.state import Setup

LEAST = 0.4  # s, before the ball comes, in which a hit must begin
TEAM = Scripted("team")


class LearnedSkills(VolleyballSkills):
    """The skills of a court, some hits of which networks do, and the scripted controllers the rest.

    Args:
        setup: the court's.
        networks: of `Practice`, by the hit.
        command: what their actions mean (see `Practice`).
        sides: which teams use them, near and far.
    """

    def __init__(
        self,
        setup: Setup,
        networks: Mapping[str, NetworkPolicy],
        command: str = "velocity",
        sides: Sequence[bool] = (True, True),
    ):
        super().__init__(setup)
        self.networks, self.command, self.sides = dict(networks), command, tuple(sides)
        self._max_yaw = setup.max_yaw

    def follow(self, obs: Observation, order: Order) -> Array:
        """As in `VolleyballSkills`; where only one side uses networks, the axis after the
        components is that of all drones."""
        scripted = super().follow(obs, order)
        goal, rotors = self.aimed(obs, order).goal, scripted
        for hit, policy in self.networks.items():
            asked = advised(policy, seen(self, obs, goal, hit))
            own = flown(self, obs, asked, self.command, self._max_yaw)
            rotors = jnp.where(order.kind == HITS[hit], own, rotors)
        if all(self.sides):
            return rotors
        ours = np.repeat(np.array(self.sides), self.members)
        return jnp.where(expand(ours, order.kind.ndim - 1), rotors, scripted)


class LearnedCourt(Volleyball):
    """`Volleyball` whose skills have the hits that a folder holds, "serve.safetensors" and so on.

    It is for learning and measuring: `make` does not know it.

    Args:
        hits: the folder; a hit without a file is scripted.
        command, sides: as in `LearnedSkills`.
        options: of `Volleyball`.
    """

    def __init__(
        self,
        hits: str | Path,
        command: str = "velocity",
        sides: Sequence[bool] = (True, True),
        **options: Any,
    ):
        super().__init__(**options)
        self.hits, self.command, self.team_sides = str(hits), command, tuple(map(bool, sides))

    def config(self) -> dict[str, Any]:
        own = {"hits": self.hits, "command": self.command, "sides": list(self.team_sides)}
        return super().config() | own

    def skill_set(self) -> LearnedSkills:
        files = {hit: Path(self.hits) / f"{hit}.safetensors" for hit in HITS}
        networks = {hit: policies.load(file) for hit, file in files.items() if file.exists()}
        if not networks:
            raise ConfigError(f"{self.hits} holds no hit: {', '.join(HITS)} as .safetensors")
        return LearnedSkills(self.setup, networks, self.command, self.team_sides)


def advised(policy: NetworkPolicy, row: Array) -> Array:
    """f32[4, ...]: the mean action of a network without memory that sees f32[K, ...]."""
    params, rows = policy.params, jnp.moveaxis(row, 0, -1)
    x = (rows - params["mean"]) * params["scale"]
    actions = actions_of(gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float32))
    network = Network(policy.network, actions.size)
    _, outputs = network.advance(
        params["network"], jnp.zeros((*x.shape[:-1], 0)), x, jnp.zeros(x.shape[:-1], bool)
    )
    legal = jnp.ones((*x.shape[:-1], 1), bool)
    return jnp.moveaxis(actions.playable(actions.mode(outputs, legal)), -1, 0)


def playing(court: Volleyball, skills: VolleyballSkills, keys: Array) -> Callable[[Any], Any]:
    """A step of games in which the scripted team's choices are made with these skills: from a state
    to (the next one, the outcome, what all perceive, i32[D, B] the skill of each drone)."""

    def step(state: Any) -> Any:
        obs = skills.parse_observation(jnp.moveaxis(court.perceive(state), 0, 1))
        skill = TEAM.choose(skills, obs)
        moves = skills.follow(obs, skills.order(skill))
        after, outcome = court.step(keys, state, jnp.moveaxis(moves, 0, 1))
        return after, outcome, obs, skill

    return step


def situations(
    court: Volleyball,
    hit: str,
    skills: VolleyballSkills,
    games: int,
    steps: int,
    seed: int,
    most: int = 2048,
) -> Situations:
    """Where a hit of the near side begins in games of the scripted team, at least `LEAST` before
    the ball comes.

    Args:
        court: with `actions="rotors"`, of teams.
        skills: those by which both teams play.
        games, steps: how many are played at once, and for how long.
        most: how many situations are kept, drawn from all.

    Raises:
        ConfigError: nobody was to do this hit.
    """
    members = court.team_size
    keys = jax.vmap(jax.random.key)(jnp.arange(games, dtype=jnp.uint32) + np.uint32(seed))
    play = playing(court, skills, keys)

    def step(carry: Any, _: Any) -> Any:
        state, before = carry
        after, _outcome, obs, skill = play(state)
        kind = skills.order(skill).kind
        begins = (kind == HITS[hit]) & (before != HITS[hit]) & ~state.over
        if hit != "serve":  # roles may change at the last moment, when nobody comes in time
            time, _ = falls_to(skills.body, obs.ball, obs.ball_velocity, jnp.float32(MEETS[hit]))
            begins &= time > LEAST
        drone = jnp.argmax(begins[:members], axis=0).astype(jnp.int8)
        chosen = jnp.sum(jnp.where(jnp.arange(members)[:, None] == drone, skill[:members], 0), 0)
        any_ = jnp.any(begins[:members], axis=0)
        return (after, kind), (state, chosen.astype(jnp.int16), drone, any_)

    @jax.jit
    def played(keys: Array) -> Any:
        state = court.batch_reset(keys)
        none = jnp.full((court.num_agents, games), -1, jnp.int32)
        return jax.lax.scan(step, (state, none), None, length=steps)[1]

    states, skill, drone, begins = jax.device_get(played(keys))
    rows = np.argwhere(begins)
    if not len(rows):
        raise ConfigError(f"in {games} games of {steps} steps nobody was to {hit}")
    rows = rows[np.random.default_rng(seed).permutation(len(rows))[:most]]
    t, game = rows.T
    kept = jax.tree.map(lambda leaf: np.moveaxis(leaf[t, ..., game], 0, -1), states)
    return Situations(kept, skill[t, game], drone[t, game])


def measure(practice: Practice, policy: NetworkPolicy | None, seed: int = 0) -> dict[str, Any]:
    """What comes of a hit in each situation of `practice`, once, unmoved: shares that are
    `touched`, whose ball comes down `in_court` (see `Practice.falls`), and `within_1m` of its place
    besides, that leave `downwards`, and in which nobody crashes within 0.6 s (`stays`); of those
    touched, `median_miss_m`.

    Args:
        policy: a network of `Practice`, or None: the scripted controller.
    """
    skills, start = practice.skills, practice.begin()
    count = start.drone.shape[-1]
    keys = jax.vmap(jax.random.key)(jnp.arange(count, dtype=jnp.uint32) + np.uint32(seed))

    def step(carry: Any, _: Any) -> Any:
        state, found = carry
        if policy is None:
            obs = practice.mine(state)
            order = skills.order(state.skill.astype(jnp.int32))
            after = practice.played(keys, state, skills.follow(obs, order), "rotors")
        else:
            asked = advised(policy, practice.observe(state)[0])
            after = practice.played(keys, state, asked, practice.command)
        new, touched, obs = after
        falls = practice.falls(obs, practice.goal(new, obs))
        falls |= {"down": obs.ball_velocity[2] < 0, "touched": touched}
        found = {name: jnp.where(touched, falls[name], old) for name, old in found.items()}
        return (new, found), None

    @jax.jit
    def play(start: Any) -> Any:
        no = jnp.zeros(count, bool)
        found = {"miss": jnp.full(count, jnp.inf), "inside": no, "down": no, "touched": no}
        last, found = jax.lax.scan(step, (start, found), None, length=LONGEST + AFTER)[0]
        return found | {"stays": found["touched"] & ~practice.lost(last)}

    found = jax.device_get(play(start))
    touched = found["touched"]
    return {
        "situations": count,
        "touched": float(np.mean(touched)),
        "in_court": float(np.mean(found["inside"])),
        "within_1m": float(np.mean(found["inside"] & (found["miss"] < 1))),
        "downwards": float(np.mean(found["down"])),
        "stays": float(np.mean(found["stays"])),
        "median_miss_m": float(np.median(found["miss"][touched])) if touched.any() else 99.0,
    }
