"""Players of fields whose agents move one token together, silent or with a channel.

Who can talk tells walls by their places. Both keep what was told, and both take the way that is
best by that alone: so they name the same ways, though neither knows what the other sees. Each tells
the first wall that it sees on that way, before they come to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.bots.field_ways import FAR, Sight, around, distances
from manyhands.core.env import Array
from manyhands.envs.mission.field.scenario import wall_phrase
from manyhands.envs.mission.field.state import COLUMNS, GOAL, HEADINGS, ROWS, WALL, Plan
from manyhands.wrappers.chat import Chat

if TYPE_CHECKING:
    from manyhands.baselines.bots.field import Ranger

_FAILURE = 3.0  # what entering a cell costs more for each time that it failed


def silent(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Names the way to the goal that is best as far as it sees: what it does not see may be free,
    and costs more each time that nothing came of naming it. When the other disagrees, it goes by
    chance now and then, so that both come to name one way."""
    price = ranger.price(sight) + 0.8 * sight.failed + jnp.where(sight.cells < 0, 0.35, 0.0)
    worth, _ = ranger.towards(sight, sight.cells == GOAL, price)
    worth = worth.at[0].set(-FAR)
    y, x = sight.own["row"].astype(jnp.int32), sight.own["column"].astype(jnp.int32)
    wide = jnp.pad(sight.failed, 1)
    tried = sum(wide[y + 1 + dy, x + 1 + dx] for dy, dx in zip(ROWS, COLUMNS, strict=True))
    return worth + jnp.where(tried > 0, 2.0, 0.0) * noise[: len(worth)]


class Talk:
    """What a pair can say to each other in a channel, as tokens.

    Attributes:
        places: i32[agents, tokens], the cell whose wall a token of each agent tells, as agent 0
            counts cells; -1 for others.
        walls: i32[agents, C], the tokens of the walls of cells, likewise.
        turned: which agents see the map turned by half.
        ways: i32[4], the tokens that propose a way.
        order: f32[C], what makes one of several equal ways the best for all.
    """

    def __init__(self, plan: Plan, channel: Chat):
        phrases = {phrase: 1 + k for k, phrase in enumerate(channel.phrases)}
        rows, columns = plan.size
        cells = rows * columns
        here = [phrases[wall_phrase(*divmod(cell, columns))] for cell in range(cells)]
        self.walls = np.array([here[::-1] if turned else here for turned in plan.turned])
        self.places = np.full((plan.agents, channel.tokens), -1)
        for agent in range(plan.agents):
            self.places[agent, self.walls[agent]] = np.arange(cells)
        self.turned = tuple(plan.turned.tolist())
        self.ways = np.array([phrases[f"let us go {way}"] for way in HEADINGS])
        self.order = np.random.default_rng(0).uniform(0.0, 0.05, cells)

    @staticmethod
    def fits(plan: Plan, env: object) -> bool:
        """Whether it can be had in an environment: a channel with the phrases of a field for a
        pair, and nothing around it."""
        if not (plan.token and plan.agents == 2 and isinstance(env, Chat)):
            return False
        wanted = {wall_phrase(0, 0), wall_phrase(plan.size[0] - 1, plan.size[1] - 1)}
        return wanted | {f"let us go {way}" for way in HEADINGS} <= set(env.phrases)

    def heard(self, agent: int, tokens: Array) -> Array:
        """bool[C]: the walls that were told last, by the tokens of oneself and of the other, as the
        agent counts cells."""
        places = jnp.asarray(self.places)
        told = jnp.zeros(self.order.size, bool)
        for speaker, token in ((agent, tokens[0]), (1 - agent, tokens[1])):
            told = told | (jnp.arange(self.order.size) == places[speaker, token])
        return told[::-1] if self.turned[agent] else told

    def plan(
        self, ranger: Ranger, agent: int, sight: Sight, told: Array, legal: Array
    ) -> tuple[Array, Array]:
        """(what actions are worth, the token to say)"""
        plan = ranger.plan
        turned = self.turned[agent]
        order = self.order[::-1] if turned else self.order
        price = 1.0 + jnp.asarray(order.reshape(plan.size), jnp.float32)
        price = price + _FAILURE * sight.failed + jnp.where(told, FAR, 0.0)
        times = distances(sight.cells == GOAL, price)
        cost = around(times, price, sight)
        best = jnp.argmin(cost[1:]) + 1
        stays = jnp.zeros(len(plan.actions)).at[0].set(FAR)
        goes = jnp.zeros(len(plan.actions)).at[best].set(FAR)
        worth = jnp.where(legal[best], goes, stays)
        wall = self._first_wall(sight, times, price)
        place = jnp.where(turned, self.order.size - 1 - wall, wall)
        tells = jnp.asarray(self.walls[agent])[jnp.maximum(place, 0)]
        return worth, jnp.where(wall >= 0, tells, jnp.asarray(self.ways)[best - 1])

    def _first_wall(self, sight: Sight, times: Array, price: Array) -> Array:
        """The first wall in view on the best way; -1: none."""
        rows, columns = times.shape
        wide = jnp.pad(times + price, 1, constant_values=2 * FAR)
        down, across = jnp.asarray(ROWS), jnp.asarray(COLUMNS)

        def step(carry: tuple[Array, Array, Array], _: None) -> tuple[tuple[Array, ...], None]:
            y, x, found = carry
            way = jnp.argmin(wide[y + 1 + down, x + 1 + across])
            y = jnp.clip(y + down[way], 0, rows - 1)
            x = jnp.clip(x + across[way], 0, columns - 1)
            new = (found < 0) & (sight.cells[y, x] == WALL)
            return (y, x, jnp.where(new, y * columns + x, found)), None

        start = (
            jnp.maximum(sight.own["row"], 0).astype(jnp.int32),
            jnp.maximum(sight.own["column"], 0).astype(jnp.int32),
            jnp.int32(-1),
        )
        ahead = min(rows * columns, 2 * (rows + columns))
        (_, _, wall), _ = jax.lax.scan(step, start, None, length=ahead)
        return wall
