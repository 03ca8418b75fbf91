"""Players of fields with flags: `raider` and `guard`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp

from manyhands.baselines.bots.field_ways import Sight, beside, foes_of
from manyhands.core.env import Array
from manyhands.envs.mission.field.state import BASE, FLAG, LAND

if TYPE_CHECKING:
    from manyhands.baselines.bots.field import Ranger


def raider(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Fetches the flag of the others and brings it home, around those who guard."""
    plan = ranger.plan
    team = int(plan.of_team[agent])
    foes = ranger.others_at(sight, foes_of(ranger, agent))
    land = (sight.cells == LAND + 1 - team) | (sight.cells == FLAG + 1 - team)
    danger = jnp.where(land & ((foes > 0) | beside(foes) | beside(beside(foes))), 12.0, 0.0)
    price = ranger.price(sight) + danger + 3.0 * ranger.others_at(sight)
    home = (sight.cells == BASE + team) | (sight.cells == FLAG + team)
    flag = sight.cells == FLAG + 1 - team
    carries = sight.own["carry"] > 0
    target = jnp.where(carries, home, jnp.where(jnp.any(flag), flag, home))
    worth, _ = ranger.towards(sight, target, price)
    return worth


def guard(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Stays near its flag, and goes for those who come onto its land."""
    plan = ranger.plan
    team = int(plan.of_team[agent])
    foes = ranger.others_at(sight, foes_of(ranger, agent))
    own = (sight.cells == LAND + team) | (sight.cells == BASE + team) | (sight.cells == FLAG + team)
    comes = (foes > 0) & own
    flag = (sight.cells == BASE + team) | (sight.cells == FLAG + team)
    price = ranger.price(sight) + 3.0 * ranger.others_at(sight) + jnp.where(own, 0.0, 10.0)
    target = jnp.where(jnp.any(comes), beside(comes), beside(beside(flag)) & own)
    worth, _ = ranger.towards(sight, target, price)
    return worth
