"""Boards: two players place stones in turn, and whoever first has a line of them wins.

Tic-tac-toe and Connect Four are one game with one difference: in Connect Four a player names a
column, and the stone falls to its lowest free square.

Everything here is written for a state with any number of trailing batch axes (none, or one). A
player's stones are a byte for each column, with a bit for each row: a line of four in any direction
is three shifts and three ands of bytes, for 64 boards at once where the processor has registers of
64 bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from manyhands.core.env import (
    Array,
    ConfigError,
    Env,
    Outcome,
    check_weights,
    state_dataclass,
)

PLAYERS = ("player_0", "player_1")
STONES = ("X", "O")  # in text and pictures; X moves first
# `BoardState.result`: 1 + i is a win of player i.
PLAYING, DRAW = 0, 3
NO_CELL = 255  # `BoardState.last` before the first move
# The action of nobody: it leaves the turn unused, and is not counted as illegal. -1 is, as it is
# what programs give by mistake.
NO_MOVE = -2


@state_dataclass
class BoardState:
    """One board at one moment; cells are numbered `row * columns + column` from the top left.

    Attributes:
        stones: u8[2, columns], bit r of a byte is the cell in row r; rows count from the top,
            or, where stones fall, from the bottom.
        turn: u8[], the player to move, or who would be.
        last: u8[], the cell of the last stone, `NO_CELL` before the first.
        result: u8[], 0 while the game is on, 1 or 2: the first or the second player has won, 3: a
            draw.
        time: i16[], steps played.
    """

    stones: Array
    turn: Array
    last: Array
    result: Array
    time: Array


class Board(Env[BoardState]):
    """What `TicTacToe` and `ConnectFour` share: all but the size, and whether stones fall.

    Terms: `win`, 1 for the winner and -1 for the loser in the step that ends the game. Metrics, per
    step: `player_0_wins`, `player_1_wins`, `draws` (1 in the step that ends a game so) and
    `illegal`.

    Only the action of the player to move counts. One that is not legal leaves the board as it is,
    with the same player to move, and is counted in `illegal`; `noop` (-2) does the same and is not
    counted. Steps wasted like that are all that `max_steps` is for: without them a board is full
    before. A game that is over stays as it is.

    **Observation**, u8[3, rows, columns] per player, row 0 at the top: plane 0 holds the own
    stones, plane 1 the other player's, and plane 2 is 1 everywhere while it is the observer's turn
    (0 for both players when the game is over).

    `summary`, u8[4, rows, columns]: the first player's stones, the second player's, and planes that
    are 1 everywhere while the first or the second player is to move.
    """

    package = "manyhands.envs.board"
    terms = ("win",)
    agents = PLAYERS
    noop = NO_MOVE
    batched = True
    deterministic_reset = True
    title: str  # what the game is called in text
    falling: bool  # whether a player names a column, and the stone falls

    def __init__(
        self,
        rows: int,
        columns: int,
        connect: int,
        max_steps: int | None,
        reward_weights: Mapping[str, float] | None,
    ):
        _whole("rows", rows, 1, 8)
        _whole("columns", columns, 1, 26)
        _whole("connect", connect, 2, max(rows, columns))
        max_steps = 2 * rows * columns if max_steps is None else max_steps
        _whole("max_steps", max_steps, 1, 30_000)
        self.rows, self.columns, self.connect = rows, columns, connect
        self.max_steps = max_steps
        self.reward_weights = check_weights(reward_weights, {"win": 1.0})
        self._config: dict[str, Any] = {
            "rows": rows,
            "columns": columns,
            "connect": connect,
            "max_steps": max_steps,
        }
        if reward_weights:
            self._config["reward_weights"] = dict(reward_weights)
        self.action_space = gymnasium.spaces.Discrete(columns if self.falling else rows * columns)
        self.observation_space = gymnasium.spaces.Box(0, 1, (3, rows, columns), np.uint8)

    # ---- the rules ----------------------------------------------------------------------------

    def reset(self, key: Array) -> BoardState:
        return BoardState(
            stones=jnp.zeros((2, self.columns), jnp.uint8),
            turn=jnp.uint8(0),
            last=jnp.uint8(NO_CELL),
            result=jnp.uint8(PLAYING),
            time=jnp.int16(0),
        )

    def step(self, key: Array, state: BoardState, actions: Array) -> tuple[BoardState, Outcome]:
        moves = state.turn == _players(state.turn)
        playing = state.result == PLAYING
        action = jnp.where(moves[0], actions[0], actions[1])
        placed, won, full = self._place(state.stones, moves[0], playing, action)
        moved = _or(placed) != 0
        drawn = moved & full & ~won

        result = jnp.where(won, state.turn + jnp.uint8(1), state.result)
        result = jnp.where(drawn, jnp.uint8(DRAW), result)
        time = state.time + jnp.int16(1)
        new = BoardState(
            stones=jnp.where(moves[:, None], state.stones | placed, state.stones),
            turn=jnp.where(moved, state.turn ^ jnp.uint8(1), state.turn),
            last=jnp.where(moved, self._cell(placed), state.last),
            result=result,
            time=time,
        )
        over = result != PLAYING
        sign = jnp.where(moves, jnp.float32(1), jnp.float32(-1))
        wasted = playing & ~moved & (action != NO_MOVE)
        metrics = {
            "player_0_wins": won & moves[0],
            "player_1_wins": won & moves[1],
            "draws": drawn,
            "illegal": wasted,
        }
        return new, self.outcome(
            {"win": jnp.where(won, sign, jnp.float32(0))},
            _both(over),
            _both(~over & (time >= self.max_steps)),
            {name: value.astype(jnp.float32) for name, value in metrics.items()},
        )

    def _place(
        self, stones: Array, first: Array, playing: Array, action: Array
    ) -> tuple[Array, Array, Array]:
        """What one action does: the bit of the stone that it places, u8[columns, ...] (none where
        it may not), and bool[...] whether that completes a line, and whether the board is full."""

        def place(stones: Array, first: Array, playing: Array, action: Array) -> Any:
            taken = stones[0] | stones[1]
            placed = jnp.where(playing, self._placed(taken, action), jnp.uint8(0))
            mine = jnp.where(first, stones[0], stones[1]) | placed
            won = (_or(placed) != 0) & self._has_line(mine)
            full = functools.reduce(jnp.bitwise_and, taken | placed) == self._whole_column
            return placed, won, full

        def apart(*arguments: Array) -> Any:
            # For a batch on a CPU, a call that XLA may not inline: it would fuse all this into each
            # array that depends on it, and compute it anew for every element of that.
            return set_xla_metadata(jax.jit(place)(*arguments), inlineable="false")

        arguments = (stones, first, playing, action)
        if action.ndim == 0:
            return place(*arguments)
        return jax.lax.platform_dependent(*arguments, cpu=apart, default=place)

    def _placed(self, taken: Array, action: Array) -> Array:
        """The bit of the stone that a legal action places, u8[columns, ...]; zeros for any other
        action."""
        columns = _along(np.arange(self.columns), action.ndim)
        if self.falling:
            named = action == columns
            # In a column of h stones, h bits are set, the lowest ones: the next is one more.
            return jnp.where(named, (taken + jnp.uint8(1)) & self._whole_column, jnp.uint8(0))
        bits = jnp.zeros(taken.shape, jnp.uint8)
        for row in range(self.rows):
            named = action == row * self.columns + columns
            bits = jnp.where(named, jnp.uint8(1 << row), bits)
        return bits & ~taken

    def _has_line(self, stones: Array) -> Array:
        """bool[...]: whether the stones of one player, u8[columns, ...], hold a line."""
        found = []
        if self.connect <= self.rows:
            upright = stones
            for i in range(1, self.connect):
                upright = upright & (stones >> np.uint8(i))
            found.append(_or(upright))
        starts = max(0, self.columns - self.connect + 1)
        if starts:
            parts = [stones[i : i + starts] for i in range(self.connect)]
            found.append(_or(functools.reduce(jnp.bitwise_and, parts)))
            if self.connect <= self.rows:
                for shift in (jnp.left_shift, jnp.right_shift):
                    shifted = [shift(part, np.uint8(i)) for i, part in enumerate(parts)]
                    found.append(_or(functools.reduce(jnp.bitwise_and, shifted)))
        return functools.reduce(jnp.bitwise_or, found) != 0

    def _cell(self, placed: Array) -> Array:
        """The number of the cell whose bit is set in u8[columns, ...]; rubbish if there is none."""
        column = jnp.zeros(placed.shape[1:], jnp.uint8)
        for i in range(1, self.columns):
            column = jnp.where(placed[i] != 0, jnp.uint8(i), column)
        bit = _or(placed)
        row = jnp.zeros_like(bit)
        for i in range(self.rows):
            row = jnp.where(bit == 1 << self._bit(i), jnp.uint8(i), row)
        return row * jnp.uint8(self.columns) + column

    def legal(self, state: BoardState) -> Array:
        """bool[2, actions]: free squares, or columns with a free square, of the player to move."""
        taken = state.stones[0] | state.stones[1]
        if self.falling:
            free = taken >> np.uint8(self.rows - 1) == 0
        else:
            free = self._spread(taken, 0) == 0
            free = free.reshape(-1, *free.shape[2:])
        return free & self.acting(state)[:, None]

    def acting(self, state: BoardState) -> Array:
        """bool[2]: the player whose turn it is; nobody when the game is over."""
        return (state.result == PLAYING) & (state.turn == _players(state.turn))

    # ---- observations -------------------------------------------------------------------------

    def observe(self, state: BoardState) -> Array:
        first, second = state.stones
        acting = self.acting(state)[:, None, None]
        # Which plane, and who looks: selected, not stacked, as compiled stacking is slow.
        plane = _along(np.arange(3), first.ndim)
        looker = _along(np.arange(2), first.ndim + 1)
        stones = jnp.where(plane == looker, first, second)
        turn = jnp.where(acting, jnp.uint8(255), jnp.uint8(0))
        columns = jnp.where(plane == 2, turn, stones)
        return self._spread(columns, 2)

    def summary(self, state: BoardState) -> Array:
        acting = jnp.where(self.acting(state), jnp.uint8(255), jnp.uint8(0))[:, None]
        acting = jnp.broadcast_to(acting, state.stones.shape)
        return self._spread(jnp.concatenate([state.stones, acting]), 1)

    def _spread(self, columns: Array, axis: int) -> Array:
        """u8[..., rows, columns, ...] of zeros and ones from the bits of u8[..., columns, ...],
        where `axis` is that of the columns."""
        bits = _along(np.array([self._bit(row) for row in range(self.rows)]), columns.ndim - axis)
        return (jnp.expand_dims(columns, axis) >> bits.astype(np.uint8)) & jnp.uint8(1)

    def _bit(self, row: int) -> int:
        """Which bit of a column stands for a row, counted from the top."""
        return self.rows - 1 - row if self.falling else row

    @property
    def _whole_column(self) -> np.uint8:
        return np.uint8((1 << self.rows) - 1)

    # ---- words and pictures -------------------------------------------------------------------

    def cells(self, state: BoardState) -> np.ndarray:
        """Who has which cell of a single state, i8[rows, columns] from the top: a player's index,
        or -1."""
        bits = np.array([self._bit(row) for row in range(self.rows)], np.uint8)
        planes = np.asarray(state.stones)[:, None, :] >> bits[:, None] & 1
        return np.where(planes.any(0), planes[1], -1).astype(np.int8)

    def winning_line(self, state: BoardState) -> list[tuple[int, int]]:
        """(row, column) of all stones in the lines of a finished game's winner; else empty."""
        if int(state.result) not in (1, 2):
            return []
        own = self.cells(state) == int(state.result) - 1
        found = set()
        for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for y in range(self.rows):
                for x in range(self.columns):
                    line = [(y + dy * i, x + dx * i) for i in range(self.connect)]
                    inside = all(0 <= b < self.rows and 0 <= a < self.columns for b, a in line)
                    if inside and all(own[cell] for cell in line):
                        found.update(line)
        return sorted(found)

    def to_dict(self, state: BoardState) -> dict[str, Any]:
        from manyhands.envs.board import text

        result, last = int(state.result), int(state.last)
        cells = self.cells(state)
        return {
            "board": ["".join(STONES[i] if i >= 0 else "." for i in row) for row in cells.tolist()],
            "to_move": None if result else PLAYERS[int(state.turn)],
            "last": None if last == NO_CELL else text.place(self, last),
            "winner": PLAYERS[result - 1] if result in (1, 2) else None,
            "draw": result == DRAW,
            "line": [text.place(self, y * self.columns + x) for y, x in self.winning_line(state)],
            "time": int(state.time),
        }

    def config(self) -> dict[str, Any]:
        return dict(self._config)


class TicTacToe(Board):
    """Tic-tac-toe: three in a line on three by three squares, or as you set it.

    Action `row * columns + column` takes that square, row 0 at the top. See `Board` for terms,
    metrics and observations.

    Args:
        rows, columns: size of the board, up to 8 and 26.
        connect: how many stones in a line win.
        max_steps: steps after which a game is truncated, by default twice the squares: only turns
            wasted by illegal actions can make it last so long.
        reward_weights: weight of the term `win`.
    """

    id = "tic_tac_toe"
    scripted_policy = "perfect"
    title = "tic-tac-toe"
    falling = False

    def __init__(
        self,
        rows: int = 3,
        columns: int = 3,
        connect: int = 3,
        max_steps: int | None = None,
        reward_weights: Mapping[str, float] | None = None,
    ):
        super().__init__(rows, columns, connect, max_steps, reward_weights)


class ConnectFour(Board):
    """Connect Four: stones fall down in seven columns of six squares; four in a line win.

    Action `i` drops a stone into column `i`, counted from 0 at the left (in text, columns count
    from 1). See `Board` for terms, metrics and observations, and `TicTacToe` for the arguments.
    """

    id = "connect_four"
    scripted_policy = "solver"
    title = "Connect Four"
    falling = True

    def __init__(
        self,
        rows: int = 6,
        columns: int = 7,
        connect: int = 4,
        max_steps: int | None = None,
        reward_weights: Mapping[str, float] | None = None,
    ):
        super().__init__(rows, columns, connect, max_steps, reward_weights)


# ---- small things --------------------------------------------------------------------------------


def _or(columns: Array) -> Array:
    """All bits of u8[n, ...] together, u8[...]."""
    return functools.reduce(jnp.bitwise_or, columns)


def _both(value: Array) -> Array:
    """The same for both players."""
    return jnp.broadcast_to(value[None], (2, *value.shape))


def _along(values: np.ndarray, axes: int) -> np.ndarray:
    """Values along an axis before `axes` others."""
    return values.reshape(-1, *(1,) * axes)


def _players(batch: Array) -> np.ndarray:
    """The players' numbers, to compare `turn` with."""
    return _along(np.arange(2, dtype=np.uint8), batch.ndim)


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConfigError(f"{name} is a whole number from {low} to {high}, given {value!r}")
