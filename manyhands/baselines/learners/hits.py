"""Stage 1 of hierarchical co-self-play (`hcsp.py`): a volleyball team's hits, learned in turn.

    serve, receive, set, spike

Each is a network of its own that PPO trains in `Practice`. `situations` plays games against the
scripted team and keeps the states in which somebody is to do the hit in question; hits that are
learned already are played by their networks, so that a set is practised behind the passes that the
learned receiver makes, and a spike behind its sets. `Hitters` plays the game with them: who hits,
and where to, is chosen as the scripted team does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.bots.volleyball import Scripted, skills_of
from manyhands.baselines.learners.networks import Network, actions_of
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.env import Array, ConfigError
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.flight import falls_to
from manyhands.envs.volleyball.observe import Observation
from manyhands.envs.volleyball.practice import (
    AFTER,
    HITS,
    LONGEST,
    MEETS,
    Practice,
    Situations,
    aim,
    flown,
    seen,
)
from manyhands.envs.volleyball.skills import VolleyballSkills

LEAST = 0.4  # s, before the ball comes, in which a hit must begin


@dataclasses.dataclass(frozen=True)
class Hitters:
    """A team that chooses as the scripted one does, and does some hits by networks.

    Attributes:
        networks: of `Practice`, by the hit; others are done by the scripted controllers.
        command: what their actions mean (see `Practice`).
        attack: how a team attacks, `"deep"` or `"short"`.
    """

    networks: Mapping[str, NetworkPolicy]
    command: str = "velocity"
    attack: str = "deep"

    def act(
        self, court: Volleyball, skills: VolleyballSkills, obs: Observation, skill: Array
    ) -> Array:
        """f32[4, ...]: rotor commands of drones that do these skills, i32[...]."""
        order = aim(skills, obs, skill)
        rotors = skills.follow(obs, skills.order(skill))
        for hit, policy in self.networks.items():
            asked = advised(policy, seen(skills, obs, order.goal, hit))
            own = flown(skills, obs, asked, self.command, court.setup.max_yaw)
            rotors = jnp.where(order.kind == HITS[hit], own, rotors)
        return rotors


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


def situations(
    court: Volleyball, hit: str, player: Any, games: int, steps: int, seed: int, most: int = 2048
) -> Situations:
    """Where a hit begins, in games of `player` on the near side against the scripted team, at
    least `LEAST` before the ball comes.

    Args:
        court: with `actions="rotors"`, of teams.
        games, steps: how many are played at once, and for how long.
        most: how many situations are kept, drawn from all.

    Raises:
        ConfigError: nobody was to do this hit.
    """
    skills, members = skills_of(court), court.team_size
    keys = jax.vmap(jax.random.key)(jnp.arange(games, dtype=jnp.uint32) + np.uint32(seed))
    chooser, scripted = Scripted("team", player.attack), Hitters({}, player.command)
    ours = jnp.arange(court.num_agents)[:, None] < members

    def step(carry: Any, _: Any) -> Any:
        state, before = carry
        obs = skills.parse_observation(jnp.moveaxis(court.perceive(state), 0, 1))
        skill = chooser.choose(skills, obs)
        kind = skills.order(skill).kind
        begins = (kind == HITS[hit]) & (before != HITS[hit]) & ~state.over
        if hit != "serve":  # roles may change at the last moment, when nobody comes in time
            time, _ = falls_to(skills.body, obs.ball, obs.ball_velocity, jnp.float32(MEETS[hit]))
            begins &= time > LEAST
        rotors = jnp.where(
            ours, player.act(court, skills, obs, skill), scripted.act(court, skills, obs, skill)
        )
        after, _ = court.step(keys, state, jnp.moveaxis(rotors, 0, 1))
        drone = jnp.argmax(begins[:members], axis=0).astype(jnp.int8)
        chosen = jnp.sum(jnp.where(jnp.arange(members)[:, None] == drone, skill[:members], 0), 0)
        any_ = jnp.any(begins[:members], axis=0)
        return (after, kind), (state, chosen.astype(jnp.int16), drone, any_)

    @jax.jit
    def play(keys: Array) -> Any:
        state = court.batch_reset(keys)
        none = jnp.full((court.num_agents, games), -1, jnp.int32)
        return jax.lax.scan(step, (state, none), None, length=steps)[1]

    states, skill, drone, begins = jax.device_get(play(keys))
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
