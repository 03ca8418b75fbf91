"""A player of mazes for two that knows nothing but texts, and talks freely: in its first message it
names every wall that it sees, and it reads the places of walls out of whatever the other says.

Both plan by what has been said alone, so that they name the same ways though neither sees what the
other sees. A way that the other proposes is taken unless a wall is known there. It is stateless:
the same words always get the same answer.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from manyhands.core.env import Env, SeatError, unwrap
from manyhands.core.view import Reply, View
from manyhands.envs.mission.env import Mission

Cell = tuple[int, int]

_WAYS: dict[str, Cell] = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
_OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}
_TOKEN = re.compile(r"The token \(A\).*? is at row (\d+), column (\d+)\.")
_SIZE = re.compile(r"The field has (\d+) rows and (\d+) columns\.")
_COLUMNS = re.compile(r"^ +\d+(?: +\d+)*$", re.M)
_ROW = re.compile(r"^ *(\d+) ((?:[?.#AX] *)+)$", re.M)
_LONGEST = re.compile(r"in at most (\d+) characters")
_CLAUSE = re.compile(r"[.;!?\n]|, but\b|\bbut\b|\bwhile\b")
_PLACE = re.compile(
    r"\br(?:ow)? ?(\d+)(?:,| and)? ?c(?:ol|olumn)? ?(\d+)|\((\d+) ?, ?(\d+)\)", re.I
)
_WALL = re.compile(r"\b(?:walls?|blocked|closed|#)", re.I)
_OTHERWISE = re.compile(r"\b(?:no|not|isn't|aren't|don't|can't|never|free|open|floor)\b", re.I)
_PROPOSAL = re.compile(
    r"\b(?:go|going|move|moving|head|heading|step|take|name|next:?) (?:\w+ )?"
    r"(north|south|west|east)\b",
    re.I,
)


class MazeReader:
    """A text player for `maze_pair` with a channel; a host policy."""

    name = "text"

    def act(self, views: Sequence[View]) -> list[Reply]:
        return [self._answer(view) for view in views]

    def _answer(self, view: View) -> Reply:
        maze = _Maze(view)
        own = {cell for message in maze.own for cell in walls_in(message)}
        told = own | {maze.turn(cell) for message in maze.theirs for cell in walls_in(message)}
        untold = sorted(maze.walls - own, key=maze.away)
        asked = bool(view.messages) and "?" in view.messages[-1].text
        say = _tell(untold or (sorted(maze.walls) if asked else []), maze.longest)
        proposed = proposal_in(maze.theirs[-1]) if maze.theirs else None
        if proposed is not None:
            way = _OPPOSITE[proposed] if maze.turned else proposed
            if way in maze.open and maze.beside(way) not in told:
                return Reply(f"We go the way that was proposed.\nACTION: {way}", say=say)
        way = maze.best(told)
        if way in maze.open:
            return Reply(f"The way by what we said goes {way}.\nACTION: {way}", say=say)
        return Reply("I see a wall on the way that the other takes.\nACTION: stay", say=say)


class _Maze:
    """What a text, its rules and its choices say."""

    def __init__(self, view: View):
        token, size = _TOKEN.search(view.text), _SIZE.search(view.rules)
        columns, rows = _COLUMNS.search(view.text), _ROW.findall(view.text)
        if token is None or size is None or columns is None or not rows:
            raise SeatError(f"this is no text of a maze for two: {view.text[:60]!r}")
        self.token = int(token[1]), int(token[2])
        self.size = int(size[1]), int(size[2])
        # Rows and columns of which nothing is known are left out of the map.
        cells = {
            (int(row), int(column)): letter
            for row, letters in rows
            for column, letter in zip(columns[0].split(), letters.split(), strict=True)
        }
        self.walls = {cell for cell, letter in cells.items() if letter == "#"}
        (self.goal,) = (cell for cell, letter in cells.items() if letter == "X")
        offered = {choice.text for choice in view.all_choices} & set(_WAYS)
        self.open = {way for way in offered if self.beside(way) not in self.walls}
        self.turned = "turned by half" in view.rules
        self.first = view.index == 0
        longest = _LONGEST.search(view.rules)
        self.longest = int(longest[1]) if longest else 200
        self.own = [m.text for m in view.talk if m.sender == view.agent]
        self.theirs = [m.text for m in view.talk if m.sender != view.agent]

    def turn(self, cell: Cell) -> Cell:
        """A cell that the other named, as this player counts."""
        y, x = cell
        return (self.size[0] - 1 - y, self.size[1] - 1 - x) if self.turned else cell

    def beside(self, way: str) -> Cell:
        return self.token[0] + _WAYS[way][0], self.token[1] + _WAYS[way][1]

    def away(self, cell: Cell) -> tuple[int, Cell]:
        return abs(cell[0] - self.token[0]) + abs(cell[1] - self.token[1]), cell

    def best(self, walls: set[Cell]) -> str:
        """The first step of a shortest way to the goal past these walls; of equal ones the same for
        both players, whatever they call it."""
        steps, queue = {self.goal: 0}, deque([self.goal])
        while queue:
            cell = queue.popleft()
            for down, across in _WAYS.values():
                near = cell[0] + down, cell[1] + across
                inside = 0 <= near[0] < self.size[0] and 0 <= near[1] < self.size[1]
                if inside and near not in walls and near not in steps:
                    steps[near] = steps[cell] + 1
                    queue.append(near)
        ways = list(_WAYS)
        if self.turned and not self.first:
            ways = [_OPPOSITE[way] for way in ways]
        return min(ways, key=lambda way: steps.get(self.beside(way), self.size[0] * self.size[1]))


def walls_in(message: str) -> Iterator[Cell]:
    """The cells that a message says are walls, as its speaker counts rows and columns."""
    for clause in _CLAUSE.split(message):
        if _WALL.search(clause) and not _OTHERWISE.search(clause):
            for places in _PLACE.findall(clause):
                row, column = (int(number) for number in places if number)
                yield row, column


def proposal_in(message: str) -> str | None:
    """The way that a message proposes; None where it proposes none, or several."""
    ways = {
        way.lower()
        for clause in _CLAUSE.split(message)
        if not (_WALL.search(clause) or _OTHERWISE.search(clause))
        for way in _PROPOSAL.findall(clause)
    }
    return ways.pop() if len(ways) == 1 else None


def _tell(cells: Sequence[Cell], longest: int) -> str | None:
    """As many of the cells as a message holds."""
    if not cells:
        return None
    said = "I see walls at "
    for row, column in cells:
        more = f"r{row} c{column}, "
        if len(said) + len(more) > longest + 2:
            break
        said += more
    return said.removesuffix(", ")


def reader(env: Env) -> MazeReader:
    """The text player for `env`, a maze for two in a channel."""
    mission = unwrap(env, Mission, SeatError).env
    if not (mission.kind == "field" and mission.plan.token and mission.num_agents == 2):
        raise SeatError(f"this reader plays scenario='maze_pair' of missions; given {env!r}")
    if env.chat is None:
        raise SeatError("a reader of mazes talks: give it a channel, make('chat', env=...)")
    return MazeReader()
