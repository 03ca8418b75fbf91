"""Players of missions: `forager` walks to food and loads it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, DeviceView, Env, SeatError, unwrap
from manyhands.envs.mission.env import Mission
from manyhands.envs.mission.state import COLUMNS, LOAD, ROWS

FAR = 1_000
NOISES = (0.75, 0.5, 0.25, 0.1)
# Roles, and options, of rangers that a scenario has beside the usual ones.
_ROLES = {
    "pursuit": ("wanderer",),
    "tag": ("wanderer", "evader"),
    "flag": ("raider", "guard", "wanderer"),
    "hide_and_seek": ("wanderer", "evader"),
    "cleanup": ("harvester",),
    "mining": ("wanderer",),
    "rendezvous": ("wanderer",),
}
_GREEDY = ("harvest", "cleanup", "coins")


def held_out(mission: Mission) -> dict[str, str]:
    """Partners for a zero-shot evaluation in a mission, by name, from the least able to the most:
    nothing that is trained by default has met them."""
    usual = mission.scripted_policy
    found = {"random": "random"}
    found |= {f"{usual}_noise_{round(100 * n)}": f"{usual}:noise={n:g}" for n in NOISES}
    if mission.kind == "foraging":
        return found | {"alone": "forager:team=false,noise=0", "forager": "forager:noise=0"}
    if mission.kind == "field":
        name = mission.scenario["name"]
        found |= {role: f"ranger:role={role}" for role in _ROLES.get(name, ())}
        if name in _GREEDY:
            found["greedy"] = "ranger:greedy=true"
    return found | {usual: usual}


class Forager:
    """A `DevicePolicy` that goes to food by the shortest way and loads it.

    Args:
        team: whether it prefers food that the players in view are nearest to together, so that all
            go to the same; otherwise it goes to the food that is nearest to itself and that it can
            load alone, or to the nearest of all if it can load none.
        noise: the share of its actions that are random legal ones.
    """

    def __init__(self, env: Env, team: bool = True, noise: float = 0.05):
        self._found = unwrap(env, Mission, SeatError)
        if not isinstance(team, bool):
            raise SeatError(f"forager:team is true or false, given {team!r}")
        if isinstance(noise, bool) or not isinstance(noise, (int, float)) or not 0 <= noise <= 1:
            raise SeatError(f"forager:noise is a share from 0 to 1, given {noise!r}")
        self.together, self.noise = team, float(noise)

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: tuple[()], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[()]]:
        mission = self._found.env
        rows = view.perception.reshape(-1, 3).astype(jnp.int32)
        food, players = rows[: mission.foods], rows[mission.foods :]
        legal = self._found.lower(view.legal) if self._found.wrappers else view.legal
        tie, chance, which = jax.random.split(key, 3)
        noise = jax.random.uniform(tie, legal.shape)

        # 1. Which food to go to.
        there = food[:, 2] > 0
        away = jnp.abs(food[:, None, :2] - players[None, :, :2]).sum(-1)  # [F, N]
        seen = players[:, 2] > 0
        if self.together:
            price = jnp.sum(jnp.where(seen, away, 0), axis=1)
        else:
            price = away[:, 0] + jnp.where(food[:, 2] > players[0, 2], FAR, 0)
        price = jnp.where(there, price, FAR * FAR)
        target = food[jnp.argmin(price)]

        # 2. Load beside it, else come nearer; wander where no food is in view.
        row, column = players[0, 0] + np.array(ROWS), players[0, 1] + np.array(COLUMNS)
        left = jnp.abs(target[0] - row) + jnp.abs(target[1] - column)
        beside = left[0] == 1
        busy = ((row[:, None] == players[1:, 0]) & (column[:, None] == players[1:, 1])).any(1)
        worth = -left - jnp.where(busy, 1.5, 0.0) + noise
        worth = jnp.where(jnp.arange(LOAD + 1) == LOAD, jnp.where(beside, FAR, -FAR), worth)
        worth = jnp.where(there.any(), worth, noise)
        astray = (jax.random.uniform(chance) < self.noise) & ~beside
        worth = jnp.where(astray, jax.random.uniform(which, legal.shape), worth)
        action = jnp.argmax(jnp.where(legal, worth, -2.0 * FAR)).astype(jnp.int32)
        return self._found.lift(action), memory
