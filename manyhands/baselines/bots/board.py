"""Players of board games: `perfect` on small boards, `solver` and `decisive` on any.

They see what a player sees; the first two judge moves by `envs/board/solvers.py`. Among equally
good moves they draw; `solver:draw=false` always takes the one nearest the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, DeviceView, Env, SeatError, unwrap
from manyhands.core.view import View
from manyhands.envs.board import solvers
from manyhands.envs.board.env import Board
from manyhands.envs.board.rules import completing
from manyhands.envs.board.state import bit


class Perfect:
    """A `DevicePolicy` that never gives anything away, wins as soon and loses as late as it can: a
    look into a table of all positions, on boards of up to 9 squares."""

    def __init__(self, env: Env):
        self._found = unwrap(env, Board, SeatError)
        board = self._found.env
        try:
            self._table = solvers.perfect_table(
                board.rows, board.columns, board.connect, board.falling
            )
        except ConfigError as error:
            raise SeatError(f"{error}; for larger ones there is the seat solver:depth=8") from error
        self._actions = int(board.action_space.n)  # type: ignore[attr-defined]

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: tuple[()], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[()]]:
        stones = view.perception[:2].reshape(2, -1).astype(jnp.int32)
        digits = stones[0] + 2 * stones[1]
        index = jnp.sum(digits * 3 ** np.arange(len(digits)))
        good = (jnp.asarray(self._table)[index] >> np.arange(self._actions)) & 1
        noise = jax.random.uniform(key, good.shape)
        action = jnp.argmax(jnp.where(good == 1, noise, -1.0)).astype(jnp.int32)
        return self._found.lift(action), memory


class Decisive:
    """A `DevicePolicy` that completes a line where it can, else prevents the other's, else plays at
    random (decisive and anti-decisive moves: Teytaud & Teytaud 2010). Playouts by it say more of a
    position than random ones: `search:value=decisive`."""

    def __init__(self, env: Env):
        self._found = unwrap(env, Board, SeatError)

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: tuple[()], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[()]]:
        board = self._found.env
        rows = np.array([bit(board, row) for row in range(board.rows)], np.uint8)[:, None]
        own, other = jnp.sum(view.perception[:2].astype(jnp.uint8) << rows, axis=1, dtype=jnp.uint8)
        wins, loses = (completing(board, stones, own | other) for stones in (own, other))
        legal = self._found.lower(view.legal)
        worth = jnp.where(wins, 2.0, jnp.where(loses, 1.0, 0.0))
        worth = worth + jax.random.uniform(key, worth.shape)
        action = jnp.argmax(jnp.where(legal, worth, -1.0)).astype(jnp.int32)
        return self._found.lift(action), memory


class Searcher:
    """A host policy that looks `depth` moves ahead, forced replies not counted.

    Args:
        draw: whether it draws among equally good moves; else it takes the one nearest the middle of
            the board (of those the first), and always plays a position alike.
    """

    def __init__(self, env: Env, depth: int = 6, draw: bool = True):
        self._found = unwrap(env, Board, SeatError)
        self._board = self._found.env
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise SeatError(f"solver:depth=N looks N moves ahead, N from 1; given {depth!r}")
        if not isinstance(draw, bool):
            raise SeatError(f"solver:draw=true or false, given {draw!r}")
        self.depth, self.draw = depth, draw
        self.name = f"solver:depth={depth}" + ("" if draw else ",draw=false")

    def act(self, views: Sequence[View]) -> list[Any]:
        return [self._move(view) for view in views]

    def _move(self, view: View) -> Any:
        stones = solvers.stones_of(self._board, view.perception)
        good = solvers.best(solvers.solve_stones(self._board, *stones, self.depth))
        if self.draw:
            action = good[int(view.rng().integers(len(good)))]
        else:
            action = min(good, key=self._off_centre)
        return np.asarray(self._found.lift(action)) if self._found.wrappers else action

    def _off_centre(self, action: int) -> int:
        """Four times the squared distance of a move from the middle."""
        board = self._board
        row, column = (0, action) if board.falling else divmod(action, board.columns)
        across = 2 * column - (board.columns - 1)
        return across**2 + (0 if board.falling else (2 * row - (board.rows - 1)) ** 2)
