"""Players of fields with flags: `raider`, `guard`, and `allrounder`, who is both by turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from manyhands.baselines.bots.field_ways import FAR, Sight, beside, distances, foes_of
from manyhands.core.env import Array
from manyhands.envs.mission.field.state import BASE, FLAG, LAND

if TYPE_CHECKING:
    from manyhands.baselines.bots.field import Ranger

_RISK = 15.0  # steps that it goes around a cell where a foe could catch it
_CLOSE = 6  # steps from a flag at which somebody has to be there
_BOLD = 1.5  # the same, while all attack
_ROUND, _RUSH = 16, 10  # in each round of steps, all attack at once in so many of them


def allrounder(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """One of a team stands on its flag while a foe is near, and one more hunts who carries it,
    those who are nearest; all others attack."""
    own, flag = _own(ranger, agent, sight)
    price = ranger.price(sight)
    way = distances(flag, price)  # [H, W] to the own flag
    foes = ranger.others_at(sight, foes_of(ranger, agent))
    carries = jnp.any(sight.there & foes_of(ranger, agent) & (sight.others["carry"] > 0))
    near = jnp.any((foes > 0) & (way <= _CLOSE)).astype(jnp.float32)
    threats = near + carries
    mine = _at(way, sight.own["row"], sight.own["column"])
    theirs = _at(way, sight.others["row"], sight.others["column"])
    mates = sight.there & ~foes_of(ranger, agent)
    index = np.arange(ranger.plan.bodies - 1)
    earlier = index < agent  # of equally near ones the first defends
    nearer = (theirs < mine) | ((theirs == mine) & earlier)
    defends = jnp.sum(mates & nearer) < threats
    loaded = sight.own["carry"] > 0
    return jnp.where(
        defends & ~loaded,
        _defend(ranger, agent, sight, own, flag),
        _attack(ranger, agent, sight),
    )


def _own(ranger: Ranger, agent: int, sight: Sight) -> tuple[Array, Array]:
    """bool[H, W]: the land of the own team, and the place of its flag."""
    team = int(ranger.plan.of_team[agent])
    flag = (sight.cells == BASE + team) | (sight.cells == FLAG + team)
    return (sight.cells == LAND + team) | flag, flag


def _at(values: Array, row: Array, column: Array) -> Array:
    """The values of places, FAR beyond the field."""
    y, x = row.astype(jnp.int32), column.astype(jnp.int32)
    return jnp.where(y >= 0, values[jnp.maximum(y, 0), jnp.maximum(x, 0)], FAR)


def _attack(ranger: Ranger, agent: int, sight: Sight) -> Array:
    """To the flag of the others by cells that no foe comes near in time, and home with it; while
    there is no such way, as near to it as is safe, on another side than the mates."""
    team = 1 - int(ranger.plan.of_team[agent])
    y, x = np.indices(ranger.plan.size)
    me = (sight.own["row"] == y) & (sight.own["column"] == x)
    usual = ranger.price(sight)
    mates = ranger.others_at(sight, ~foes_of(ranger, agent))
    foes = ranger.others_at(sight, foes_of(ranger, agent))
    flag = sight.cells == FLAG + team
    land = flag | (sight.cells == LAND + team) | (sight.cells == BASE + team)
    ahead = distances(foes > 0, usual) - distances(me, usual)
    risk = land & (ahead <= 1.0)
    rush = sight.time % _ROUND < _RUSH  # all have one clock
    close = land & ((foes > 0) | beside(foes))
    price = usual + 3.0 * mates + jnp.where(close, 6.0, 0.0)
    price = price + jnp.where(risk, jnp.where(rush, _BOLD, _RISK), 0.0)
    home = _own(ranger, agent, sight)[1]
    to_home, _ = ranger.towards(sight, home, price)
    to_flag, cost = ranger.towards(sight, flag, price)
    apart = jnp.where(jnp.any(mates > 0), jnp.minimum(distances(mates > 0, usual), 6.0), 0.0)
    near = distances(flag, usual) + jnp.where(risk, _RISK, 0.0) - 0.7 * apart
    near = jnp.where(usual < FAR, 2.0 * jnp.maximum(near + 6.0, 0.0), FAR)
    to_wait, _ = ranger.towards(sight, near, price)
    free = cost < _RISK + jnp.min(jnp.where(me, distances(flag, usual), FAR))
    worth = jnp.where(free | (rush & (cost < FAR)), to_flag, to_wait)
    return jnp.where(sight.own["carry"] > 0, to_home, worth)


def _defend(ranger: Ranger, agent: int, sight: Sight, own: Array, flag: Array) -> Array:
    """Cuts off who carries the flag; else stands on it."""
    y, x = np.indices(ranger.plan.size)
    me = (sight.own["row"] == y) & (sight.own["column"] == x)
    usual = ranger.price(sight)
    others = foes_of(ranger, agent)
    foes = ranger.others_at(sight, others)
    loaded = ranger.others_at(sight, others & (sight.others["carry"] > 0)) > 0
    price = usual + 3.0 * ranger.others_at(sight, ~others) + FAR * (foes > 0)

    team = 1 - int(ranger.plan.of_team[agent])
    base = (sight.cells == BASE + team) | (sight.cells == FLAG + team)
    run, home = distances(loaded, usual), distances(base, usual)
    total = jnp.min(jnp.where(loaded, home, FAR))
    met = own & (run + home <= total + 1.0) & (distances(me, usual) <= run + 1.0)
    cut, there = ranger.towards(sight, jnp.where(met, 0.5 * run, FAR), price)
    after, _ = ranger.towards(sight, beside(loaded), price)
    hunt = jnp.where(there < FAR, cut, after)

    # Nobody can take a flag on which somebody stands, and who comes beside it is caught.
    worth, _ = ranger.towards(sight, flag, price)
    return jnp.where(jnp.any(loaded), hunt, worth)


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
