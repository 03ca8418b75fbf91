"""A player of warehouses: `porter` fetches requested shelves, brings them to a goal and puts them
back."""

from __future__ import annotations

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import number
from manyhands.core.env import Array, DeviceView, Env, SeatError, unwrap
from manyhands.envs.mission.env import Mission
from manyhands.envs.mission.warehouse.state import (
    COLUMNS,
    FORWARD,
    LEFT,
    LOAD,
    REQUESTED,
    RIGHT,
    ROWS,
    SHELF,
    STAY,
    TURNED_LEFT,
    TURNED_RIGHT,
)
from manyhands.envs.mission.ways import FAR, driving, forward

NEAR = 6  # cells within which other robots are driven around
ROOM = 2  # cells around goals that are kept free for those who are next


class Porter:
    """A `DevicePolicy` that knows the whole warehouse, as a control room would, and plans its own
    way in it: all robots divide the requested shelves alike, nearest first. It drives the quickest
    way, turns counted, around others that are near, and further around the longer it is held up.
    Near the goals, few more robots than there are goals have something to deliver, so that they can
    leave. Where nothing is left to fetch, it waits under a shelf, out of the way.

    Args:
        noise: the share of its actions that are random legal ones.
    """

    any_seat: ClassVar[bool] = True

    def __init__(self, env: Env, noise: float = 0.0):
        self._found = unwrap(env, Mission, SeatError)
        if self._found.env.kind != "warehouse":
            raise SeatError(
                f"porter plays warehouses, given the scenario {self._found.env.kind!r}; forager "
                "plays that one"
            )
        self.noise = number("noise", noise, 0, 1)

    def init(self, env: Env, agent: int) -> tuple[Array, Array]:
        """(steps that it has been held up, the cell that it wanted to drive to)."""
        return jnp.int32(0), jnp.int32(-1)

    def apply(
        self, env: Env, agent: int, memory: tuple[Array, Array], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[Array, Array]]:
        mission = self._found.env
        rows, columns = mission.size
        split = 4 * mission.players
        listed = view.perception[:split].reshape(-1, 4).astype(jnp.int32)
        shelves = view.perception[split:].reshape(rows, columns)
        legal = self._found.lower(view.legal) if self._found.wrappers else view.legal
        number = np.arange(mission.players)
        robots = listed[
            jnp.where(number == agent, 0, jnp.where(number < agent, number + 1, number))
        ]
        y, x, heading, load = listed[0]
        random, chance, which = jax.random.split(key, 3)

        held, wanted = memory
        missed = (wanted >= 0) & (wanted != y * columns + x)
        held = jnp.where(missed, held + 1, jnp.where(wanted == -2, held, 0))

        # 1. Where to go.
        down, across = (jnp.asarray(part) for part in np.indices((rows, columns)))
        others = jnp.zeros((rows, columns), bool)
        for other in listed[1:]:
            others |= (down == other[0]) & (across == other[1])
        goals = np.zeros(rows * columns, bool)
        goals[list(mission.goals)] = True
        racks = mission.racks.reshape(rows, columns)
        fetch = self._fetch(mission, robots, shelves, agent)
        fetched = (down * columns + across) == fetch
        quiet = (shelves == SHELF) & ~others  # where to wait under a shelf
        target = jnp.where(fetch >= 0, fetched, quiet)
        target = jnp.where(load == SHELF, racks & (shelves == 0) & ~others, target)
        # Only so many come near the goals with something to deliver that others can leave.
        spots = np.array([divmod(goal, columns) for goal in mission.goals])
        apart = jnp.abs(robots[:, None, :2] - spots).sum(-1).min(1)
        rank = jnp.where(robots[:, 3] == REQUESTED, apart * mission.players + number, int(FAR))
        early = jnp.sum(rank < rank[agent]) <= len(spots) + 1
        space = np.abs(np.argwhere(np.ones((rows, columns)))[:, None] - spots).sum(-1).min(1)
        ring = (space > ROOM) & (space <= ROOM + 3)
        outside = ring.reshape(rows, columns) & ~others
        deliver = jnp.where(early, goals.reshape(rows, columns), outside)
        target = jnp.where(load == REQUESTED, deliver, target)

        # 2. The time that it takes from each cell with each heading.
        near = jnp.abs(down - y) + jnp.abs(across - x) <= NEAR
        late = 2.0 + 3.0 * held * jax.random.uniform(random, minval=0.5, maxval=1.5)
        price = 1.0 + jnp.where(others & near, late, 0.0)
        price = jnp.where((load > 0) & (shelves > 0), FAR, price)
        times = driving(target, price)

        # 3. The quickest action.
        here = times[y, x]
        ahead = forward(times, price)[y, x]
        turn_left = here[jnp.asarray(TURNED_LEFT)[heading]] + 1.0
        turn_right = here[jnp.asarray(TURNED_RIGHT)[heading]] + 1.0
        cost = jnp.array([FAR, 0.0, 0.0, 0.0, FAR]).at[FORWARD].set(ahead[heading])
        cost = cost.at[LEFT].set(turn_left).at[RIGHT].set(turn_right)
        there = target[y, x]
        acts = jnp.where((load == SHELF) | (fetch >= 0), LOAD, STAY)
        acts = jnp.where(load == REQUESTED, STAY, acts)
        cost = jnp.where(there, jnp.arange(5) != acts, cost)
        cost = jnp.where(jnp.min(jnp.where(legal, cost, FAR)) >= FAR, jnp.arange(5.0), cost)
        astray = jax.random.uniform(chance) < jnp.where(held > 8, 0.3, self.noise)
        cost = jnp.where(astray, jax.random.uniform(which, (5,)), cost)
        action = jnp.argmin(jnp.where(legal, cost, 2 * FAR)).astype(jnp.int32)
        next_cell = (y + jnp.asarray(ROWS)[heading]) * columns + x + jnp.asarray(COLUMNS)[heading]
        # Turning to get around does not end being held up: only driving does.
        turned = (action == LEFT) | (action == RIGHT)
        wanted = jnp.where(action == FORWARD, next_cell, jnp.where(turned & (held > 0), -2, -1))
        return self._found.lift(action), (held, wanted.astype(jnp.int32))

    def _fetch(self, mission: Mission, robots: Array, shelves: Array, agent: int) -> Array:
        """i32[]: the cell of the requested shelf that this robot fetches; -1 for none. The nearest
        pair of a robot without a load and a shelf is settled first."""
        count, columns = mission.requests, mission.size[1]
        cells = jnp.nonzero((shelves == REQUESTED).ravel(), size=count, fill_value=-1)[0]
        away = jnp.abs(robots[:, 0, None] - cells // columns)
        away += jnp.abs(robots[:, 1, None] - cells % columns)
        open_ = (robots[:, 3, None] == 0) & (cells >= 0)
        away = jnp.where(open_, away, int(FAR)).astype(jnp.int32)
        numbers = jnp.arange(mission.players)

        def settle(_: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            away, chosen = carry
            best = jnp.argmin(away)
            robot, shelf = best // count, best % count
            sure = away[robot, shelf] < FAR
            chosen = jnp.where(sure & (numbers == robot), cells[shelf], chosen)
            taken = (numbers[:, None] == robot) | (jnp.arange(count) == shelf)
            return jnp.where(sure & taken, int(FAR), away), chosen

        start = away, jnp.full(mission.players, -1, cells.dtype)
        chosen = jax.lax.fori_loop(0, min(mission.players, count), settle, start)[1]
        return chosen[agent]
