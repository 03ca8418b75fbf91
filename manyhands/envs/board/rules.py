"""The rules of the boards, as functions of the configuration, the state and the actions.

A line of four in any direction is three shifts and three ands of bytes, for 64 boards at once where
the processor has registers of 64 bytes.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from manyhands.core.axes import expand, repeat
from manyhands.core.env import Array
from manyhands.envs.board.state import (
    DRAW,
    NO_CELL,
    NO_MOVE,
    PLACED,
    PLAYING,
    UNUSED,
    BoardConfig,
    BoardState,
    bit,
    spread,
)


def reset(config: BoardConfig, key: Array) -> BoardState:
    """The empty board, whatever the key."""
    return BoardState(
        stones=jnp.zeros((2, config.columns), jnp.uint8),
        turn=jnp.uint8(0),
        last=jnp.uint8(NO_CELL),
        result=jnp.uint8(PLAYING),
        time=jnp.int16(0),
        recent=jnp.uint8(0),
    )


def step(
    config: BoardConfig, state: BoardState, actions: Array
) -> tuple[BoardState, dict[str, Any]]:
    """One step: the new state, and the arguments of `Env.outcome`.

    Args:
        actions: whole numbers [2, ...].
    """
    # 1. The stone of the player to move is placed, where that is legal.
    moves = state.turn == _players(state.turn)
    playing = state.result == PLAYING
    action = jnp.where(moves[0], actions[0], actions[1])
    placed, won, full = _place(config, state.stones, moves[0], playing, action)
    moved = _or(placed) != 0

    # 2. A line wins, and a full board without one is a draw; else the turn passes.
    drawn = moved & full & ~won
    result = jnp.where(won, state.turn + jnp.uint8(1), state.result)
    result = jnp.where(drawn, jnp.uint8(DRAW), result)
    time = state.time + jnp.int16(1)
    after = BoardState(
        stones=jnp.where(moves[:, None], state.stones | placed, state.stones),
        turn=jnp.where(moved, state.turn ^ jnp.uint8(1), state.turn),
        last=jnp.where(moved, _cell(config, placed), state.last),
        result=result,
        time=time,
        recent=jnp.where(moved, jnp.uint8(PLACED), jnp.uint8(UNUSED)),
    )

    # 3. Rewards and metrics.
    over = result != PLAYING
    sign = jnp.where(moves, jnp.float32(1), jnp.float32(-1))
    wasted = playing & ~moved & (action != NO_MOVE)
    metrics = {
        "player_0_wins": won & moves[0],
        "player_1_wins": won & moves[1],
        "draws": drawn,
        "illegal": wasted,
    }
    return after, {
        "terms": {"win": jnp.where(won, sign, jnp.float32(0))},
        "terminated": repeat(over, 2),
        "truncated": repeat(~over & (time >= config.max_steps), 2),
        "metrics": {name: value.astype(jnp.float32) for name, value in metrics.items()},
    }


def _place(
    config: BoardConfig, stones: Array, first: Array, playing: Array, action: Array
) -> tuple[Array, Array, Array]:
    """What one action does: the bit of the stone that it places, u8[columns, ...] (none where
    it may not), and bool[...] whether that completes a line, and whether the board is full."""

    def place(stones: Array, first: Array, playing: Array, action: Array) -> Any:
        taken = stones[0] | stones[1]
        placed = jnp.where(playing, _placed(config, taken, action), jnp.uint8(0))
        mine = jnp.where(first, stones[0], stones[1]) | placed
        won = (_or(placed) != 0) & _has_line(config, mine)
        full = functools.reduce(jnp.bitwise_and, taken | placed) == _whole_column(config)
        return placed, won, full

    def apart(*arguments: Array) -> Any:
        # For a batch on a CPU, a call that XLA may not inline: it would fuse all this into each
        # array that depends on it, and compute it anew for every element of that.
        return set_xla_metadata(jax.jit(place)(*arguments), inlineable="false")

    arguments = (stones, first, playing, action)
    if action.ndim == 0:
        return place(*arguments)
    return jax.lax.platform_dependent(*arguments, cpu=apart, default=place)


def _placed(config: BoardConfig, taken: Array, action: Array) -> Array:
    """The bit of the stone that a legal action places, u8[columns, ...]; zeros for any other
    action."""
    columns = expand(np.arange(config.columns), action.ndim)
    if config.falling:
        named = action == columns
        # In a column of h stones, h bits are set, the lowest ones: the next is one more.
        return jnp.where(named, (taken + jnp.uint8(1)) & _whole_column(config), jnp.uint8(0))
    bits = jnp.zeros(taken.shape, jnp.uint8)
    for row in range(config.rows):
        named = action == row * config.columns + columns
        bits = jnp.where(named, jnp.uint8(1 << row), bits)
    return bits & ~taken


def _has_line(config: BoardConfig, stones: Array) -> Array:
    """bool[...]: whether the stones of one player, u8[columns, ...], hold a line."""
    found = []
    if config.connect <= config.rows:
        upright = stones
        for i in range(1, config.connect):
            upright = upright & (stones >> np.uint8(i))
        found.append(_or(upright))
    starts = max(0, config.columns - config.connect + 1)
    if starts:
        parts = [stones[i : i + starts] for i in range(config.connect)]
        found.append(_or(functools.reduce(jnp.bitwise_and, parts)))
        if config.connect <= config.rows:
            for shift in (jnp.left_shift, jnp.right_shift):
                shifted = [shift(part, np.uint8(i)) for i, part in enumerate(parts)]
                found.append(_or(functools.reduce(jnp.bitwise_and, shifted)))
    return functools.reduce(jnp.bitwise_or, found) != 0


def completing(config: BoardConfig, own: Array, taken: Array) -> Array:
    """bool[A]: whether each action would complete a line.

    Args:
        own: u8[columns], the stones of who would move.
        taken: u8[columns], the stones of both.
    """

    def completes(action: Array) -> Array:
        placed = _placed(config, taken, action)
        return (_or(placed) != 0) & _has_line(config, own | placed)

    actions = config.columns if config.falling else config.rows * config.columns
    return jax.vmap(completes)(jnp.arange(actions))


def _cell(config: BoardConfig, placed: Array) -> Array:
    """The number of the cell whose bit is set in u8[columns, ...]; rubbish if there is none."""
    column = jnp.zeros(placed.shape[1:], jnp.uint8)
    for i in range(1, config.columns):
        column = jnp.where(placed[i] != 0, jnp.uint8(i), column)
    placed_bit = _or(placed)
    row = jnp.zeros_like(placed_bit)
    for i in range(config.rows):
        row = jnp.where(placed_bit == 1 << bit(config, i), jnp.uint8(i), row)
    return row * jnp.uint8(config.columns) + column


def legal(config: BoardConfig, state: BoardState) -> Array:
    """bool[2, actions]: free squares, or columns with a free square, of the player to move."""
    taken = state.stones[0] | state.stones[1]
    if config.falling:
        free = taken >> np.uint8(config.rows - 1) == 0
    else:
        free = spread(config, taken, 0) == 0
        free = free.reshape(-1, *free.shape[2:])
    return free & acting(config, state)[:, None]


def acting(config: BoardConfig, state: BoardState) -> Array:
    """bool[2]: the player whose turn it is; nobody when the game is over."""
    return (state.result == PLAYING) & (state.turn == _players(state.turn))


# ---- small things --------------------------------------------------------------------------------


def _or(columns: Array) -> Array:
    """All bits of u8[n, ...] together, u8[...]."""
    return functools.reduce(jnp.bitwise_or, columns)


def _players(batch: Array) -> np.ndarray:
    """The players' numbers, to compare `turn` with."""
    return expand(np.arange(2, dtype=np.uint8), batch.ndim)


def _whole_column(config: BoardConfig) -> np.uint8:
    """The bits of all squares of a column."""
    return np.uint8((1 << config.rows) - 1)
