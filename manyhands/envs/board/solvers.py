"""What moves are worth: perfect play on small boards, a search to a limited depth on large ones.

    solve(env, state)          -> {action: Verdict} of every legal move
    grade(env, state, action)  -> the value that the move gives away, 0 for a best one

One search serves both: negamax with alpha-beta bounds and a table of positions. A position is two
whole numbers, the stones of the player to move and of the other, whose bits are the cells, column
after column with one bit left free between them, so that a shift never runs from one column into
the next. Searched to the end, the values are exact.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyhands.core.config import whole
from manyhands.core.env import ConfigError, IllegalAction
from manyhands.envs.board.env import Board
from manyhands.envs.board.state import BoardState

SMALL = 9  # squares up to which a board is searched to the end if no depth is given
DEPTH = 8  # moves that are looked ahead on any other
_WIN = 100_000  # a win is worth that less the stones on the board when it comes
_DECIDED = _WIN - 1_000
_ESTIMATE = 1_000  # estimates are smaller
_ENTRIES = 400_000  # positions remembered


@dataclass(frozen=True)
class Verdict:
    """What a move is worth to the player who makes it.

    Attributes:
        value: 1 wins, -1 loses, 0 draws; strictly between, an estimate of an undecided position.
        exact: whether that is proved, not estimated.
        plies: moves of both players until the game ends if the winner hurries and the loser holds
            out, this one included; None where the value is an estimate.
    """

    value: float
    exact: bool
    plies: int | None

    @property
    def rank(self) -> tuple[float, int]:
        """Larger is better: the value, then an early win or a late loss."""
        if self.plies is None or self.value == 0:
            return self.value, 0
        return self.value, -self.plies if self.value > 0 else self.plies


def solve(board: Board, state: BoardState, depth: int | None = None) -> dict[int, Verdict]:
    """A verdict on every legal move of the player to move; empty if the game is over.

    Args:
        state: a single state.
        depth: how many moves are looked ahead, forced replies not counted. By default all on
            boards of up to 9 squares, 8 on larger ones.
    """
    stones = np.asarray(state.stones)
    turn = int(state.turn)
    if int(state.result):
        return {}
    return solve_stones(board, stones[turn], stones[1 - turn], depth)


def solve_stones(
    board: Board, mine: np.ndarray, theirs: np.ndarray, depth: int | None = None
) -> dict[int, Verdict]:
    """`solve` of a position given as the stones of the player to move, and of the other, in the
    bits of u8[columns] (`BoardState.stones`)."""
    if depth is None:
        depth = board.rows * board.columns if board.rows * board.columns <= SMALL else DEPTH
    depth = whole("depth", depth, 1)
    search = _search(board.rows, board.columns, board.connect, board.falling)
    return search.verdicts(search.bits(mine), search.bits(theirs), depth)


def best(verdicts: dict[int, Verdict]) -> list[int]:
    """The moves that nothing beats, in action order."""
    top = max(verdict.rank for verdict in verdicts.values())
    return [action for action, verdict in verdicts.items() if verdict.rank == top]


def grade(board: Board, state: BoardState, action: int, depth: int | None = None) -> float:
    """The value that a move gives away, from 0 (nothing beats it) to 2 (a win turned into a loss).

    A slower win costs nothing. Exact where `solve` is.

    Raises:
        IllegalAction: the move is not legal.
    """
    verdicts = solve(board, state, depth)
    if int(action) not in verdicts:
        raise IllegalAction(f"action {action!r} is not legal here; legal are {list(verdicts)}")
    return max(v.value for v in verdicts.values()) - verdicts[int(action)].value


@functools.lru_cache(maxsize=8)
def perfect_table(rows: int, columns: int, connect: int, falling: bool) -> np.ndarray:
    """The best moves of every position that play can reach, u16[3 ** cells]: bit a is set if
    nothing beats action a. The index of a position is the sum over cells, numbered as in
    `BoardState`, of 3 ** cell for a stone of the player to move, and twice that for the other's."""
    if rows * columns > SMALL:
        raise ConfigError(
            f"perfect play is tabulated for boards of up to {SMALL} squares, given {rows} rows and "
            f"{columns} columns"
        )
    search = _search(rows, columns, connect, falling)
    table = np.zeros(3 ** (rows * columns), np.uint16)
    seen, waiting = {(0, 0)}, [(0, 0)]
    while waiting:
        mine, theirs = waiting.pop()
        table[search.index(mine, theirs)] = sum(
            1 << action for action in best(search.verdicts(mine, theirs, rows * columns))
        )
        for _, bit in search.moves(mine | theirs):
            after = (theirs, mine | bit)
            over = search.completes(mine, bit) or (mine | theirs | bit) == search.full
            if not over and after not in seen:
                seen.add(after)
                waiting.append(after)
    return table


# ---- the search ----------------------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def _search(rows: int, columns: int, connect: int, falling: bool) -> _Search:
    return _Search(rows, columns, connect, falling)


class _Search:
    """Negamax on one kind of board; what it has found out is kept for later calls."""

    def __init__(self, rows: int, columns: int, connect: int, falling: bool):
        self.rows, self.columns, self.connect, self.falling = rows, columns, connect, falling
        self.stride = rows + 1
        self.steps = (1, self.stride, self.stride + 1, self.stride - 1)
        self.bottom = sum(1 << x * self.stride for x in range(columns))
        self.full = self.bottom * ((1 << rows) - 1)
        # A line that misses one stone: where its others lie, seen from the gap.
        self.lines = [
            [(i - gap) * step for i in range(connect) if i != gap]
            for step in self.steps
            for gap in range(connect)
        ]
        # Squares near the middle are part of more lines: they are tried first.
        cells = [(x, y) for x in range(columns) for y in range(rows)]
        groups: dict[int, int] = {}
        for x, y in cells:
            off = abs(2 * x - columns + 1) + (0 if falling else abs(2 * y - rows + 1))
            groups[off] = groups.get(off, 0) | 1 << x * self.stride + y
        self.order = [groups[off] for off in sorted(groups)]
        # Rows 1, 3, 5 counted from the bottom: where the first player's threats last.
        self.odd = sum(1 << x * self.stride + y for x, y in cells if y % 2 == 0)
        self.known: dict[tuple[int, int], tuple[int, int, int]] = {}

    def bits(self, stones: np.ndarray) -> int:
        """A player's stones, u8[columns], as one number."""
        return sum(int(byte) << x * self.stride for x, byte in enumerate(stones))

    def open(self, taken: int) -> int:
        """The squares that can be taken now."""
        free = self.full & ~taken
        return free & (taken + self.bottom) if self.falling else free

    def moves(self, taken: int) -> list[tuple[int, int]]:
        """(action, bit) of all legal moves, in action order."""
        found = []
        left = self.open(taken)
        while left:
            bit = left & -left
            left ^= bit
            x, y = divmod(bit.bit_length() - 1, self.stride)
            found.append((x if self.falling else y * self.columns + x, bit))
        return sorted(found)

    def index(self, mine: int, theirs: int) -> int:
        """See `perfect_table`."""
        total = 0
        for x in range(self.columns):
            for y in range(self.rows):
                cell = (self.rows - 1 - y if self.falling else y) * self.columns + x
                bit = 1 << x * self.stride + y
                total += 3**cell * (1 if mine & bit else 2 if theirs & bit else 0)
        return total

    def gaps(self, stones: int, where: int) -> int:
        """The squares of `where` that complete a line of these stones."""
        found = 0
        for line in self.lines:
            hit = where
            for step in line:
                hit &= stones >> step if step > 0 else stones << -step
                if not hit:
                    break
            found |= hit
        return found

    def room(self, cells: int) -> int:
        """How many lines lie wholly in these squares."""
        total = 0
        for step in self.steps:
            lines = cells
            for i in range(1, self.connect):
                lines &= cells >> i * step
            total += lines.bit_count()
        return total

    def completes(self, stones: int, bit: int) -> bool:
        return bool(self.gaps(stones, bit))

    def verdicts(self, mine: int, theirs: int, depth: int) -> dict[int, Verdict]:
        """A verdict on every move, by searching behind each of them."""
        if len(self.known) > _ENTRIES:
            self.known.clear()
        taken = mine | theirs
        count, cells = taken.bit_count(), self.full.bit_count()
        found = {}
        for action, bit in self.moves(taken):
            if self.completes(mine, bit):
                score = _WIN - (count + 1)
            else:
                score = -self.value(theirs, mine | bit, depth - 1, -_WIN, _WIN)
            if abs(score) > _DECIDED:
                value = 1.0 if score > 0 else -1.0
                found[action] = Verdict(value, True, _WIN - abs(score) - count)
            elif depth >= cells - count:
                found[action] = Verdict(0.0, True, cells - count)
            else:
                found[action] = Verdict(score / _ESTIMATE, False, None)
        return found

    def value(self, mine: int, theirs: int, depth: int, alpha: int, beta: int) -> int:
        """What a position is worth to the player to move, in steps of the search: exact between
        `alpha` and `beta`, else a bound beyond them."""
        taken = mine | theirs
        moves = self.open(taken)
        if not moves:
            return 0
        count = taken.bit_count()
        if self.gaps(mine, moves):
            return _WIN - (count + 1)
        must = self.gaps(theirs, moves)
        if must & (must - 1):  # two at once cannot be stopped
            return (count + 2) - _WIN
        if must:
            # One reply is no choice: it costs no depth.
            return -self.value(theirs, mine | must, depth, -beta, -alpha)
        if depth <= 0:
            return self.estimate(mine, theirs, count)
        key = (mine, theirs)
        known = self.known.get(key)
        low, high = -_WIN, _WIN
        if known is not None and known[0] == depth:
            _, low, high = known
            if low >= beta or low == high:
                return low
            if high <= alpha:
                return high
        top, floor = -_WIN, alpha
        for group in self.order:
            left = moves & group
            while left:
                bit = left & -left
                left ^= bit
                score = -self.value(theirs, mine | bit, depth - 1, -beta, -floor)
                if score > top:
                    top = score
                    floor = max(floor, score)
                    if floor >= beta:
                        self.known[key] = (depth, top, high)
                        return top
        self.known[key] = (depth, low, top) if top <= alpha else (depth, top, top)
        return top

    def estimate(self, mine: int, theirs: int, count: int) -> int:
        """A guess at an undecided position: squares that would complete a line, above all those
        that the other player cannot spoil in the end, and lines that are still open."""
        free = self.full & ~(mine | theirs)
        ours, others = self.gaps(mine, free), self.gaps(theirs, free)
        score = 40 * (ours.bit_count() - others.bit_count())
        if self.falling:
            first, second = (ours, others) if count % 2 == 0 else (others, ours)
            lasting = (first & self.odd).bit_count() - (second & ~self.odd).bit_count()
            score += 30 * lasting if count % 2 == 0 else -30 * lasting
        score += 4 * (self.room(self.full & ~theirs) - self.room(self.full & ~mine))
        return max(1 - _ESTIMATE, min(_ESTIMATE - 1, score))


def stones_of(board: Board, planes: Any) -> tuple[np.ndarray, np.ndarray]:
    """The observer's stones and the other player's, u8[columns] each (`BoardState.stones`), from
    an observation u8[3, rows, columns]."""
    bits = np.arange(board.rows - 1, -1, -1) if board.falling else np.arange(board.rows)
    columns = np.sum(np.asarray(planes)[:2].astype(np.uint8) << bits[:, None], axis=1)
    return columns[0], columns[1]
