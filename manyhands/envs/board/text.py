"""Boards in words: rule book, description, choices, and reading what a player answers.

`describe` says what the vector observation says, no less and no more: a map, and the same stones in
sentences. What the stones threaten is for the players to see.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from manyhands.core.answers import meant, quoted, read
from manyhands.core.env import IllegalAction, names_of
from manyhands.envs.board.state import DRAW, NO_CELL, PLAYERS, PLAYING, STONES, BoardState

if TYPE_CHECKING:
    from manyhands.envs.board.env import Board


def place(board: Board, cell: int) -> str:
    """A cell in words: "b3", or "column 2, row 1" where stones fall (row 1 is the lowest)."""
    row, column = divmod(cell, board.columns)
    if board.falling:
        return f"column {column + 1}, row {board.rows - row}"
    return f"{_letter(column)}{row + 1}"


def name(board: Board, action: int) -> str:
    """An action in words, as `choices` says it."""
    return f"column {action + 1}" if board.falling else place(board, action)


def _letter(column: int) -> str:
    return chr(ord("a") + column)


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
    heads = [str(x + 1) if board.falling else _letter(x) for x in columns]
    lines.append(" ".join(f"{head:>{wide}}" for head in [" ", *heads]))
    for y, row in enumerate(cells.tolist()):
        number = board.rows - y if board.falling else y + 1
        marks = [STONES[i] if i >= 0 else "." for i in row]
        lines.append(" ".join(f"{mark:>{wide}}" for mark in [number, *marks]))
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
    return "\n".join(lines)


def _standing(board: Board, state: BoardState, agent: int) -> str:
    """Whose turn it is, or how the game has ended."""
    result = int(state.result)
    if result == PLAYING:
        mover = int(state.turn)
        return "It is your turn." if mover == agent else f"It is {board.agents[mover]}'s turn."
    if result == DRAW:
        return "The game is over: a draw."
    return f"The game is over: you have {'won' if result - 1 == agent else 'lost'}."


def choices(board: Board, state: BoardState, agent: int) -> list[str]:
    """The moves that the player may make now, in action order; none if it is not to move."""
    return [name(board, action) for action in _free(board, state, agent)]


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
        example, sentence = "column 3", "I drop it in column 3"
    else:
        lines += [
            f"{board.columns} columns, a to {_letter(board.columns - 1)} from the left, and "
            f"{board.rows} rows, 1 to {board.rows} from the top: the top left square is a1, the "
            f"bottom right one {place(board, last)}. Choose any free square.",
        ]
        example, sentence = "b1", "I take row 1, column 2"
    lines += [
        f"On the map, {STONES[0]} and {STONES[1]} are stones, and . is a free square.",
        "",
        "HOW TO ANSWER",
        f'Name one {_kind(board)}, for example "{example}", "{sentence}", or a last line '
        f'"ACTION: {example}".',
    ]
    return "\n".join(lines)


def _kind(board: Board) -> str:
    return "column" if board.falling else "square"


# ---- reading an answer ---------------------------------------------------------------------------

_END = r"(?![\w-]|[.,][0-9])"  # of a number: 1.5, 1e9 and 1-2 are none

_ACROSS = {"left": 0, "middle": 1, "centre": 1, "center": 1, "right": 2}
_DOWN = {"top": 0, "upper": 0, "middle": 1, "centre": 1, "center": 1, "bottom": 2, "lower": 2}
_SIDE, _MIDDLE = "left|right", "middle|centre|center"
_SQUARE = re.compile(
    rf"\b(?P<letter>[a-z])(?P<number>[0-9]+){_END}"
    rf"|\brow (?P<row>[0-9]+),?(?: and| of)?(?: the)? col(?:umn)? (?P<column>[0-9]+|[a-z]){_END}"
    rf"|\bcol(?:umn)? (?P<column2>[0-9]+|[a-z]),?(?: and| of)?(?: the)? row (?P<row2>[0-9]+){_END}"
    rf"|\b(?P<down>top|upper|bottom|lower|{_MIDDLE})[ -](?P<across>{_SIDE}|{_MIDDLE})\b"
    rf"|\b(?P<across2>{_SIDE})[ -](?P<down2>{_MIDDLE})\b"
    rf"|\b(?P<centre>{_MIDDLE})\b"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_COLUMN = re.compile(
    rf"\bcol(?:umn)?s? ?#?(?P<numbers>[0-9]+(?:(?:,| or|,? and| ?/) ?[0-9]+)*){_END}"
    rf"|\b(?P<ordinal>{'|'.join(_ORDINALS)}|leftmost|rightmost|last|{_MIDDLE}|central) column\b"
    r"|\b(?P<nth>[0-9]+)(?:st|nd|rd|th) column\b"
    r"|\b(?:play|choose|pick|select|drop(?: it)? in(?:to)?) #?(?P<verb>[0-9]+)" + _END
)
_BARE = re.compile(r"#?\(?([0-9]+)\)?")


def parse(board: Board, text: Any, state: BoardState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the player now."""
    if int(state.result) != PLAYING:
        raise IllegalAction("The game is over; there is nothing to answer.")
    if int(state.turn) != agent:
        raise IllegalAction(f"It is not your turn; {board.agents[1 - agent]} is to move.")
    found = read(text, lambda reason: _illegal(board, reason))
    answer, plain, kind = found.text, found.plain, _kind(board)
    named = sorted(_columns(board, plain) if board.falling else _squares(board, plain, answer))
    if not named:
        raise _illegal(board, f"{quoted(answer)} names no {kind}")
    if len(named) > 1:
        several = names_of([name(board, action) for action in named])
        raise _illegal(board, f"{quoted(answer)} names more than one {kind} ({several})")
    (action,) = named
    if action not in _free(board, state, agent):
        what = name(board, action)
        if board.falling:
            raise _illegal(board, f"{what} is full", state)
        owner = int(board.cells(state).ravel()[action])
        whose = "your own stone" if owner == agent else f"a stone of {board.agents[owner]}"
        raise _illegal(board, f"{what} is taken by {whose}", state)
    return action


def _columns(board: Board, plain: str) -> set[int]:
    """The columns that an answer names, from 0."""
    bare = _BARE.fullmatch(plain)
    if bare:
        return {_column(board, bare[1])}
    named = set()
    middle = (board.columns + 1) / 2  # between two columns where their number is even
    by_word: dict[str, float] = {word: i for i, word in enumerate(_ORDINALS, start=1)}
    by_word |= {"leftmost": 1, "rightmost": board.columns, "last": board.columns}
    for found in meant(_COLUMN, plain):
        if found["ordinal"]:
            number = by_word.get(found["ordinal"], middle)
            if number != int(number):
                raise _illegal(board, f"{board.columns} columns have no {found['ordinal']} one")
            named.add(_column(board, str(int(number))))
        else:
            digits = found["numbers"] or found["nth"] or found["verb"]
            named |= {_column(board, number) for number in re.findall("[0-9]+", digits)}
    return named


def _column(board: Board, digits: str) -> int:
    if not 1 <= int(digits) <= board.columns:
        raise _illegal(board, f"there is no column {quoted(digits)[1:-1]}")
    return int(digits) - 1


def _squares(board: Board, plain: str, answer: str) -> set[int]:
    """The squares that an answer names, as actions."""
    if _BARE.fullmatch(plain):
        raise _illegal(board, f"the number {quoted(answer)} alone does not say which square")
    named = set()
    for found in meant(_SQUARE, plain):
        if found["down"] or found["across2"] or found["centre"]:
            if (board.rows, board.columns) != (3, 3):
                continue
            down, across = found["down"] or found["down2"], found["across"] or found["across2"]
            row = _DOWN[down or found["centre"]]
            column = _ACROSS[across or found["centre"]]
        else:
            letter = found["letter"] or found["column"] or found["column2"]
            row = int(found["number"] or found["row"] or found["row2"]) - 1
            column = int(letter) - 1 if letter.isdigit() else ord(letter) - ord("a")
        if not (0 <= row < board.rows and 0 <= column < board.columns):
            raise _illegal(board, f"there is no square {quoted(found[0])[1:-1]}")
        named.add(row * board.columns + column)
    return named


def _illegal(board: Board, reason: str, state: BoardState | None = None) -> IllegalAction:
    """With what could be answered instead: the whole board, or what is free on it now."""
    if state is not None:
        allowed = names_of(choices(board, state, int(state.turn)))
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
