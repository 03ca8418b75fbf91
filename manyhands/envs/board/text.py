"""Boards in words: rule book, description, choices, and reading what a player answers.

`describe` says what the vector observation says, no less and no more: a map, and the same stones in
sentences. What the stones threaten is for the players to see.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.choices import Choice, Form
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import decide, how_to_answer, quoted
from manyhands.core.reading.bare import Remarks
from manyhands.core.reading.grammar import Reading
from manyhands.core.reading.parts import REASON, Answer
from manyhands.core.reading.words import whole_number
from manyhands.envs.board.events import letter, place
from manyhands.envs.board.reading import COLUMNS, SQUARES
from manyhands.envs.board.state import (
    DRAW,
    NO_CELL,
    PLAYERS,
    PLAYING,
    STONES,
    UNUSED,
    BoardState,
)

if TYPE_CHECKING:
    from manyhands.envs.board.env import Board


def name(board: Board, action: int) -> str:
    """An action in words, as `choices` says it."""
    return f"column {action + 1}" if board.falling else place(board, action)


# ---- description ---------------------------------------------------------------------------------


def describe(board: Board, state: BoardState, agent: int) -> str:
    """What the player sees, as text."""
    cells = board.cells(state)
    you, other = board.agents[agent], board.agents[1 - agent]
    lines = [
        f"You are {you} and play {STONES[agent]}; {other} plays {STONES[1 - agent]}. "
        f"{_standing(board, state, agent)}"
    ]
    wide = len(str(max(board.rows, board.columns)))
    columns = range(board.columns)
    heads = [str(x + 1) if board.falling else letter(x) for x in columns]
    lines.append(" ".join(f"{head:>{wide}}" for head in [" ", *heads]))
    for y, row in enumerate(cells.tolist()):
        number = board.rows - y if board.falling else y + 1
        marks = [STONES[i] if i >= 0 else "." for i in row]
        lines.append(" ".join(f"{mark:>{wide}}" for mark in [number, *marks]))
    if board.detail != "brief":
        lines += _stones(board, cells)
    if int(state.last) != NO_CELL:
        who = 1 - int(state.turn)  # the turn has passed
        where = place(board, int(state.last))
        lines.append(f"Last move: {'you' if who == agent else board.agents[who]}, {where}.")
    if int(state.recent) == UNUSED and int(state.result) == PLAYING:
        who = int(state.turn)
        lines.append(f"Last step: {'you' if who == agent else board.agents[who]} did not move.")
    if board.detail == "full" and int(state.result) == PLAYING:
        free = int((cells < 0).sum())
        lines.append(f"{free} free squares left. Remember: {board.connect} in a line win.")
    return "\n".join(lines)


def _stones(board: Board, cells: np.ndarray) -> list[str]:
    """The map once more, in words."""
    lines, columns = [], range(board.columns)
    if board.falling:
        piles = [(x, [STONES[i] for i in cells[::-1, x].tolist() if i >= 0]) for x in columns]
        stones = [f"column {x + 1}: {' '.join(pile)}" for x, pile in piles if pile]
        lines.append(f"Stones, from the bottom up: {'; '.join(stones) or 'none'}.")
        open_ = [str(x + 1) for x, pile in piles if len(pile) < board.rows]
        lines.append(f"Columns with room: {', '.join(open_) or 'none'}.")
    else:
        for label, owner in ((f"{STONES[0]} has", 0), (f"{STONES[1]} has", 1), ("Free", -1)):
            found = [place(board, int(cell)) for cell in (cells.ravel() == owner).nonzero()[0]]
            lines.append(f"{label}: {', '.join(found) or 'nothing'}.")
    return lines


def _standing(board: Board, state: BoardState, agent: int) -> str:
    """Whose turn it is, or how the game has ended."""
    result = int(state.result)
    if result == PLAYING:
        mover = int(state.turn)
        return "It is your turn." if mover == agent else f"It is {board.agents[mover]}'s turn."
    if result == DRAW:
        return "The game is over: a draw."
    return f"The game is over: you have {'won' if result - 1 == agent else 'lost'}."


def choices(board: Board, state: BoardState, agent: int) -> list[Choice]:
    """The moves that the player may make now, in action order; none if it is not to move. Whether a
    move wins is among its facts, not in its words: that is for the players to see."""
    moves = _free(board, state, agent)
    cells = board.cells(state).tolist() if moves else []
    free = sum(line.count(-1) for line in cells)
    # With fewer stones no move completes a line.
    may_win = sum(line.count(agent) for line in cells) >= board.connect - 1
    return [_choice(board, cells, agent, action, free, may_win) for action in moves]


def _choice(
    board: Board, cells: list[list[int]], agent: int, action: int, free: int, may_win: bool
) -> Choice:
    row, column = divmod(action, board.columns)
    if board.falling:
        row, column = sum(line[action] < 0 for line in cells) - 1, action
    where = place(board, row * board.columns + column)
    facts: dict[str, Any] = {"last": where, "to_move": board.agents[1 - agent]}
    won = may_win and _completes(board, cells, row, column, agent)
    if won or free == 1:
        weight = board.reward_weights["win"]
        facts |= {"over": True, "to_move": None, "winner": board.agents[agent] if won else None}
        for i, name_ in enumerate(board.agents):
            facts[f"reward.{name_}"] = weight * (1.0 if i == agent else -1.0) * won
    effect = f"row {board.rows - row}" if board.falling else ""
    return Choice(name(board, action), effect, action, facts=facts, form=_form(board))


def _completes(board: Board, cells: list[list[int]], row: int, column: int, agent: int) -> bool:
    """Whether a stone in a free cell completes a line."""

    def run(dy: int, dx: int) -> int:
        y, x, count = row + dy, column + dx, 0
        while 0 <= y < board.rows and 0 <= x < board.columns and cells[y][x] == agent:
            y, x, count = y + dy, x + dx, count + 1
        return count

    ways = ((0, 1), (1, 0), (1, 1), (1, -1))
    return any(1 + run(dy, dx) + run(-dy, -dx) >= board.connect for dy, dx in ways)


@functools.lru_cache(maxsize=64)
def _form(board: Board) -> Form:
    """All moves on a large board."""
    if board.falling:
        lines = "any column that is not full"
        return Form("column {number}", lines, {"number": (1, board.columns)})
    ends = place(board, 0), place(board, board.rows * board.columns - 1)
    return Form("{square}", f"any free square from {ends[0]} to {ends[1]}", {"square": ends})


def _free(board: Board, state: BoardState, agent: int) -> list[int]:
    """The legal actions, on the host."""
    if int(state.result) != PLAYING or int(state.turn) != agent:
        return []
    cells = board.cells(state)
    return (cells[0] < 0 if board.falling else cells.ravel() < 0).nonzero()[0].tolist()


# ---- rules ---------------------------------------------------------------------------------------


def rules(board: Board, agent: int) -> str:
    """The rule book of one player."""
    you, other = board.agents[agent], board.agents[1 - agent]
    order = "first" if agent == 0 else "second"
    last = board.rows * board.columns - 1
    lines = [
        board.title.upper(),
        f"You are {you} and place the stones {STONES[agent]}; {other} places {STONES[1 - agent]}. "
        f"You move {order}; then you take turns, one stone a turn. Stones stay where they are.",
        "",
        "AIM",
        f"Whoever first has {board.connect} own stones in a straight line without a gap (along a "
        "row, along a column, or on a diagonal) wins at once. When the board is full and nobody "
        "has, the game is a draw. The winner gets 1, the loser -1; a draw gives 0 to both.",
        "",
        "THE BOARD",
    ]
    if board.falling:
        lines += [
            f"{board.columns} columns, numbered 1 to {board.columns} from the left, of "
            f"{board.rows} squares each; row 1 is the lowest. A stone falls to the lowest free "
            "square of its column. A full column cannot be chosen.",
        ]
        example, sentence = "column 3", "the third column"
    else:
        lines += [
            f"{board.columns} columns, a to {letter(board.columns - 1)} from the left, and "
            f"{board.rows} rows, 1 to {board.rows} from the top: the top left square is a1, the "
            f"bottom right one {place(board, last)}. Choose any free square.",
        ]
        example, sentence = "b1", "row 1, column 2"
    lines += [
        f"On the map, {STONES[0]} and {STONES[1]} are stones, and . is a free square.",
        "",
        "HOW TO ANSWER",
        f"Name one {_kind(board)}: {example}, or {sentence}. {how_to_answer(example)}",
    ]
    return "\n".join(lines)


def _kind(board: Board) -> str:
    return "column" if board.falling else "square"


# ---- reading an answer ---------------------------------------------------------------------------


_HYPHENED = re.compile(r"\b([a-z])-([0-9]{1,2})\b")  # "c-1"
_LETTERED = re.compile(r"[a-z] ?[0-9]?")  # "c4" may be column c or column 4


def parse(board: Board, text: Any, state: BoardState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the player now."""
    if int(state.result) != PLAYING:
        raise IllegalAction("The game is over; there is nothing to answer.")
    if int(state.turn) != agent:
        raise IllegalAction(f"It is not your turn; {board.agents[1 - agent]} is to move.")
    read, kind = (_column if board.falling else _square), _kind(board)
    me = board.agents[agent]

    def mean(answer: Answer) -> int | None:
        named: set[int] = set()
        errors = []
        if board.falling and answer.kind != REASON and _LETTERED.fullmatch(answer.plain):
            raise _illegal(board, "columns have numbers, from the left")
        readings = _readings(board, _HYPHENED.sub(r"\1\2", answer.plain))
        for reading in readings:
            try:
                if reading.values.get("mark", agent) != agent:
                    raise _illegal(board, f"your stones are {STONES[agent]}")
                action = read(board, state, agent, reading, answer.plain)
                if not _agrees(board, action, reading.values):
                    raise _illegal(board, f"{quoted(answer.text)} names two columns")
                _check_neighbours(board, state, agent, action, reading.values)
                named.add(action)
            except IllegalAction as error:
                errors.append(error)
        if len(named) != 1:
            if errors and not named:
                raise errors[0]
            return None
        (action,) = named
        if action not in _free(board, state, agent):
            raise _taken(board, action, state, agent)
        said = {reading.values["row"] for reading in readings if "row" in reading.values}
        falls = board.falling and int((board.cells(state)[:, action] >= 0).sum()) + 1
        if falls and not said <= {falls}:
            raise _illegal(board, f"a stone in {name(board, action)} falls to row {falls}")
        return action

    remarks = Remarks(behind=False)
    return int(
        decide(text, mean, lambda why: _illegal(board, why), what=kind, me=me, remarks=remarks)
    )


def _readings(board: Board, plain: str) -> list[Reading]:
    if board.falling:
        return COLUMNS.read(plain.replace("#", ""))
    if whole_number(plain) is not None:
        raise _illegal(board, f"the number {plain} alone does not say which square")
    found = SQUARES.read(plain)
    small = (board.rows, board.columns) == (3, 3)
    anywhere = (
        *("square", "square and corner", "kind and square", "by a square", "numbers"),
        *("by a stone", "between squares", "between stones"),
    )
    return [
        reading for reading in found if small or reading.meaning in anywhere or _is_corner(reading)
    ]


def _is_corner(reading: Reading) -> bool:
    """Whether it is the corner of a board of any size."""
    values = reading.values
    return reading.meaning == "words" and values.get("down") != 1 != values.get("across")


def _column(board: Board, state: BoardState, agent: int, reading: Reading, plain: str) -> int:
    meaning, values, last = reading.meaning, reading.values, board.columns
    if meaning in ("middle", "by the middle") and not last % 2:
        raise _illegal(board, f"{last} columns have no middle one")
    if meaning in ("between columns", "gap"):
        return _between(board, state, agent, values)
    if meaning in ("on a stone", "column by a stone"):
        row, column = _stone(board, state, agent, values)
        if meaning == "on a stone" and row and board.cells(state)[row - 1, column] >= 0:
            raise _illegal(board, "another stone lies on that one")
        return column + int(values.get("beside", 0))
    if meaning in ("beside", "column beside"):
        free = set(_free(board, state, agent))
        full = [x for x in range(last) if x not in free]
        beside = {x for x in free if x - 1 in full or x + 1 in full}
        if meaning == "column beside":
            beside &= {values["ordinal"] - 1}
        if len(full) != 1 or len(beside) != 1:
            raise _illegal(board, f"{quoted(plain)} leaves it open which column is meant")
        return beside.pop()
    number = {
        "column": values.get("n", values.get("letter")),
        "by it": values.get("n"),
        "ordinal": values.get("ordinal"),
        "from the right": last + 1 - values.get("ordinal", 0),
        "penultimate": last - 1,
        "leftmost": 1,
        "second": 2,
        "last": last,
        "middle": (last + 1) // 2,
        "by the middle": (last + 1) // 2 + values.get("beside", 0),
        "by a column": values.get("n", 0) + values.get("beside", 0),
    }[meaning]
    if not 1 <= number <= last:
        raise _illegal(board, f"there is no column {number}")
    return int(number) - 1


def _agrees(board: Board, action: int, values: dict[str, Any]) -> bool:
    """Whether a column is the one that is named beside it, and beside the middle if it is told
    so."""
    beside = "central" not in values or abs(2 * action + 1 - board.columns) == 2
    return beside and values.get("same", action + 1) == action + 1


def _between(board: Board, state: BoardState, agent: int, values: dict[str, Any]) -> int:
    """The one column between two others, or between two stones of a player that lie in the row that
    a stone would fall to."""
    if "low" in values:
        if values["high"] - values["low"] != 2:
            raise _illegal(board, "there is not just one column between these")
        return int(values["low"])
    owner, cells = _owner(agent, values["owner"], -1), board.cells(state)
    found = []
    for column in _free(board, state, agent):
        row = int((cells[:, column] < 0).sum()) - 1
        sides = [x for x in (column - 1, column + 1) if 0 <= x < board.columns]
        if len(sides) == 2 and all(cells[row, x] == owner for x in sides):
            found.append(column)
    if len(found) != 1:
        raise _illegal(board, "it is open which gap is meant")
    return found[0]


def _tower(board: Board, state: BoardState, owner: int) -> tuple[int, int]:
    """Where the upper end of the one column lies whose two upper stones are of this player."""
    found, cells = [], board.cells(state)
    for column in range(board.columns):
        top = int((cells[:, column] < 0).sum())
        if top + 1 < board.rows and (cells[top : top + 2, column] == owner).all():
            found.append((top, column))
    if len(found) != 1:
        raise _illegal(board, "it is open which column is meant")
    return found[0]


def _square(board: Board, state: BoardState, agent: int, reading: Reading, plain: str) -> int:
    meaning, values = reading.meaning, reading.values
    if meaning == "several":
        raise _illegal(board, f"{quoted(plain)} leaves it open which square is meant")
    if meaning == "centre":
        row, column = 1, 1
    elif meaning in ("words", "square and corner"):
        # "Middle" is said of boards of three rows and columns only.
        ends = {2: board.rows - 1}, {2: board.columns - 1}
        row, column = (
            end.get(values.get(way, 1), values.get(way, 1))
            for end, way in zip(ends, ("down", "across"), strict=True)
        )
        if meaning != "words" and (row, column) != (values["row"] - 1, values["column"]):
            raise _illegal(board, f"{quoted(plain)} names two squares")
    elif meaning == "kind and square":
        row, column = values["row"] - 1, values["column"]
        outer = row in (0, board.rows - 1), column in (0, board.columns - 1)
        sides = {"down": (row, board.rows), "across": (column, board.columns)}
        if sum(outer) != (2 if values["kind"] == "corner" else 1) or any(
            place != (size - 1 if values[way] else 0)
            for way, (place, size) in sides.items()
            if way in values
        ):
            raise _illegal(board, f"{quoted(plain)} names two squares")
    elif meaning == "between stones":
        row, column = _gap(board, state, agent, values)
    elif meaning == "by a square":
        if "stone" in values or "owner" in values:
            said = values.get("stone", -1)
            owner = _owner(agent, values.get("owner"), said)
            lies = int(board.cells(state)[values["row"] - 1, values["column"]])
            if said not in (-1, owner) or lies != owner:
                raise _illegal(board, "no such stone lies there")
        row = values["row"] - 1 + values["side"][0]
        column = values["column"] + values["side"][1]
    elif meaning == "between squares":
        first = values["row"] - 1, values["column"]
        second = values["next_row"] - 1, values["next"]
        row, column = _halfway(board, first, second)
    elif meaning == "free in a line":
        row, column = _free_in_line(board, state, values)
    elif meaning == "line by a side":
        row, column = values["down"], values["across"]
    elif meaning == "by the centre":
        row, column = 1 + values["side"][0], 1 + values["side"][1]
    elif meaning in ("by a stone", "between", "opposite", "across"):
        row, column = _beside(board, _stone(board, state, agent, values), meaning, values)
    else:
        row = values["row"] - 1
        column = values["column"] - (meaning == "numbers")
    if not (0 <= row < board.rows and 0 <= column < board.columns):
        raise _illegal(board, f"there is no square {quoted(plain)[1:-1]}")
    return int(row * board.columns + column)


def _halfway(board: Board, one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The one square just between two others."""
    rows, columns = one[0] + other[0], one[1] + other[1]
    apart = max(abs(one[0] - other[0]), abs(one[1] - other[1]))
    if rows % 2 or columns % 2 or apart != 2:
        raise _illegal(board, "there is no square just between these")
    return rows // 2, columns // 2


def _gap(board: Board, state: BoardState, agent: int, values: dict[str, Any]) -> tuple[int, int]:
    """The free square between two stones of a player: the only one that they enclose, or one that
    is named and lies anywhere between two."""
    cells, said = board.cells(state), values.get("stone", -1)
    owner = _owner(agent, values.get("owner"), said)
    if said not in (-1, owner):
        raise _illegal(board, f"your stones are {STONES[agent]}")
    lines: tuple[tuple[int, int], ...] = ((0, 1), (1, 0), (1, 1), (1, -1))
    if {"line", "down"} & set(values):
        lines = ((0, 1),)
    elif {"lettered", "across"} & set(values):
        lines = ((1, 0),)
    row = values["line"] - 1 if "line" in values else _end(values.get("down"), board.rows)
    column = values.get("lettered", _end(values.get("across"), board.columns))
    named = (values["row"] - 1, values["column"]) if "column" in values else None
    far = max(board.rows, board.columns) if named else 1
    found = []
    for action in _free(board, state, agent):
        y, x = divmod(action, board.columns)
        if row not in (None, y) or column not in (None, x) or named not in (None, (y, x)):
            continue
        for down, right in lines:
            ends = [
                any(
                    0 <= y + k * down < board.rows
                    and 0 <= x + k * right < board.columns
                    and int(cells[y + k * down, x + k * right]) == owner
                    for k in range(sign, sign * (far + 1), sign)
                )
                for sign in (-1, 1)
            ]
            if all(ends):
                found.append((y, x))
    if len(set(found)) != 1:
        raise _illegal(board, "it is open which square between stones is meant")
    return found[0]


def _end(place: int | None, size: int) -> int | None:
    """A row or a column of a board of any size, by its name: first, middle (of three) or last."""
    return {0: 0, 2: size - 1}.get(place, place) if place is not None else None


def _free_in_line(board: Board, state: BoardState, values: dict[str, Any]) -> tuple[int, int]:
    """The one free square of a row or a column."""
    row = values["row"] - 1 if "row" in values else values.get("down")
    column = values["column"] - 1 if "column" in values else values.get("across")
    column = values.get("lettered", column)
    free = [divmod(action, board.columns) for action in _free(board, state, int(state.turn))]
    found = [(y, x) for y, x in free if row in (None, y) and column in (None, x)]
    if len(found) != 1:
        raise _illegal(board, "it is open which square of that line is meant")
    return found[0]


def _owner(agent: int, whose: str | None, mark: int) -> int:
    """The player whose stone is spoken of, by "my" and the like, or else by its mark."""
    return {"me": agent, "you": 1 - agent, "p0": 0, "p1": 1}.get(whose or "", mark)


def _check_neighbours(
    board: Board, state: BoardState, agent: int, action: int, values: dict[str, Any]
) -> None:
    """That the stones lie around a square of which an answer says so: beside it, below it, or in
    the corner that is opposite."""
    row, column = divmod(action, board.columns)
    cells = board.cells(state)
    if board.falling:
        row, column = int((cells[:, action] < 0).sum()) - 1, action
    for label in {"near", "on", "opposite", "facing", "far"} & set(values):
        whose, mark = values[label]
        owner = _owner(agent, whose, mark)
        if mark not in (-1, owner):
            raise _illegal(board, f"your stones are {STONES[agent]}")
        found = np.argwhere(cells >= 0 if owner < 0 else cells == owner).tolist()
        if not any(_lies(board, label, (y, x), (row, column), values) for y, x in found):
            raise _illegal(board, "no such stone lies there")


def _lies(
    board: Board, how: str, stone: tuple[int, int], at: tuple[int, int], values: dict[str, Any]
) -> bool:
    """Whether a stone lies as it is said of a square."""
    down, right = at[0] - stone[0], at[1] - stone[1]
    if how == "on":
        return (down, right) == (-1, 0)
    if how == "far":
        return max(abs(down), abs(right)) > 1
    if how == "facing":
        mirrored = board.rows - 1 - stone[0], board.columns - 1 - stone[1]
        ways = mirrored, (stone[0], mirrored[1]), (mirrored[0], stone[1])
        return at != stone and at in ways
    if how == "opposite":
        corners = (0, board.rows - 1), (0, board.columns - 1)
        return all(
            {here, there} == set(ends) for here, there, ends in zip(at, stone, corners, strict=True)
        )
    side = values.get("hand")
    return max(abs(down), abs(right)) == 1 and (side is None or (down, right) == (0, side))


def _stone(board: Board, state: BoardState, agent: int, values: dict[str, Any]) -> tuple[int, int]:
    """Where the one stone lies that an answer speaks of."""
    if "tower" in values:
        return _tower(board, state, _owner(agent, values["tower"], -1))
    said, of = values.get("stone", -1), values.get("owner")
    owner = _owner(agent, of, said)
    if said not in (-1, owner):
        raise _illegal(board, f"your stones are {STONES[agent]}")
    where = np.argwhere(board.cells(state) == owner)
    if len(where) != 1:
        raise _illegal(board, "it is open which stone is meant")
    return int(where[0][0]), int(where[0][1])


def _beside(
    board: Board, stone: tuple[int, int], meaning: str, values: dict[str, Any]
) -> tuple[int, int]:
    """The square that is named by a stone."""
    row, column = stone
    if meaning == "by a stone":
        return row + values["side"][0], column + values["side"][1]
    if meaning == "across":
        if (row == 1) == (column == 1):
            raise _illegal(board, "that stone does not lie in the middle of a side")
        return 2 - row, 2 - column
    if meaning == "opposite":
        if row == 1 or column == 1:
            raise _illegal(board, "that stone is in no corner")
        return 2 - row, 2 - column
    return _halfway(board, (row, column), (values["down"], values["across"]))


def _taken(board: Board, action: int, state: BoardState, agent: int) -> IllegalAction:
    what = name(board, action)
    if board.falling:
        return _illegal(board, f"{what} is full", state)
    owner = int(board.cells(state).ravel()[action])
    whose = "your own stone" if owner == agent else f"a stone of {board.agents[owner]}"
    return _illegal(board, f"{what} is taken by {whose}", state)


def _illegal(board: Board, reason: str, state: BoardState | None = None) -> IllegalAction:
    """With what could be answered instead: the whole board, or what is free on it now."""
    if state is not None:
        allowed = names_of([name(board, move) for move in _free(board, state, int(state.turn))])
    elif board.falling:
        allowed = f"column 1 to column {board.columns}"
    else:
        allowed = f"a1 to {place(board, board.rows * board.columns - 1)}"
    return IllegalAction(f"{reason}. Answer with exactly one {_kind(board)}: {allowed}.")


# ---- the true state ------------------------------------------------------------------------------


def to_dict(board: Board, state: BoardState) -> dict[str, Any]:
    """The true state in plain names and numbers."""
    result, last = int(state.result), int(state.last)
    cells = board.cells(state)
    return {
        "board": ["".join(STONES[i] if i >= 0 else "." for i in row) for row in cells.tolist()],
        "to_move": None if result else PLAYERS[int(state.turn)],
        "last": None if last == NO_CELL else place(board, last),
        "winner": PLAYERS[result - 1] if result in (1, 2) else None,
        "draw": result == DRAW,
        "line": [place(board, y * board.columns + x) for y, x in board.winning_line(state)],
        "time": int(state.time),
    }
