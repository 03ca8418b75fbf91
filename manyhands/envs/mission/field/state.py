"""The state of a field and its fixed plan.

A field is a grid of cells, or a graph of rooms (then it has one row, and a column for each room).
Cells are numbered in reading order. Every function of the rules and of the observations takes a
`FieldConfig` and a `FieldState`, with any number of trailing batch axes (none, or one).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from manyhands.core.env import Array, state_dataclass

HEADINGS = ("north", "south", "west", "east")
ROWS, COLUMNS = (-1, 1, 0, 0), (0, 0, -1, 1)  # change of row and column by heading
OPPOSITE = (1, 0, 3, 2)
LETTERS = "ABCDEFGHIJ"  # of the bodies, on maps
MOST_BODIES, MOST_SIDE, MOST_CELLS, MOST_STEPS = len(LETTERS), 30, 400, 5_000
GROUPS = 3  # of doors
CAUGHT = -1  # `FieldState.out` of who is out for good


class Cell(NamedTuple):
    """What can be on a cell.

    Attributes:
        name: in scenarios and `to_dict`.
        mark: on maps.
        words: in texts.
        walk: whether bodies can be on it.
        clear: whether one sees across it.
        under: what is left when it is taken away, by name.
    """

    name: str
    mark: str
    words: str
    walk: bool = True
    clear: bool = True
    under: str = ""


CELLS = (
    Cell("floor", ".", "floor"),
    Cell("wall", "#", "a wall", False, False),
    Cell("water", "~", "clean water", False),
    Cell("soil", ",", "soil"),
    Cell("goal", "X", "a goal"),
    Cell("land_0", ":", "land of the {team_0}"),
    Cell("land_1", ";", "land of the {team_1}"),
    Cell("base_0", "p", "the base of the {team_0}, without their flag"),
    Cell("base_1", "q", "the base of the {team_1}, without their flag"),
    Cell("flag_0", "P", "the base of the {team_0} with their flag", under="base_0"),
    Cell("flag_1", "Q", "the base of the {team_1} with their flag", under="base_1"),
    *(Cell(f"door_{g}", str(g), f"door {g}", False, False) for g in (1, 2, 3)),
    *(Cell(f"plate_{g}", "uvw"[g - 1], f"a plate of door {g}") for g in (1, 2, 3)),
    *(Cell(f"button_{g}", "rst"[g - 1], f"a button of door {g}") for g in (1, 2, 3)),
    *(Cell(f"key_{g}", "klm"[g - 1], f"a key of door {g}", under="floor") for g in (1, 2, 3)),
    Cell("box", "b", "a box", False, False, "floor"),
    Cell("locked_box", "Z", "a locked box", False, False, "floor"),
    Cell("apple", "o", "an apple", under="soil"),
    Cell("dirt", "%", "dirty water", False, True, "water"),
    Cell("iron", "+", "iron ore", False, True, "soil"),
    Cell("gold", "*", "gold ore", False, True, "soil"),
    *(Cell(f"coin_{i}", "cdef"[i], f"a coin of {{agent_{i}}}", under="soil") for i in range(4)),
    Cell("machine", "M", "a broken generator"),
    Cell("repaired", "N", "a repaired generator"),
)
CODES = {cell.name: code for code, cell in enumerate(CELLS)}
MARKS = {cell.mark: code for code, cell in enumerate(CELLS)}
STARTS = "STU"  # on maps: floor where members of the first, second, third team start
UNDER = {CODES[cell.name]: CODES[cell.under] for cell in CELLS if cell.under}
WALK = tuple(code for code, cell in enumerate(CELLS) if cell.walk)
CLEAR = tuple(code for code, cell in enumerate(CELLS) if cell.clear)
(FLOOR, WALL, WATER, SOIL, GOAL) = range(5)
LAND, BASE, FLAG = CODES["land_0"], CODES["base_0"], CODES["flag_0"]
DOOR, PLATE, BUTTON, KEY = (CODES[f"{name}_1"] for name in ("door", "plate", "button", "key"))
BOX, LOCKED, APPLE, DIRT = (CODES[name] for name in ("box", "locked_box", "apple", "dirt"))
IRON, GOLD, COIN, MACHINE = (CODES[name] for name in ("iron", "gold", "coin_0", "machine"))
REPAIRED = CODES["repaired"]
BY_PLATE, BY_KEY, BY_BUTTON = 1, 2, 4  # `FieldState.doors`: what holds a door open

# What happens to bodies, in the order of the bits of `FieldState.recent`. The words follow the name
# of the body.
EVENTS: dict[str, str] = {
    "move": "moved",
    "blocked": "could not move",
    "push": "pushed a box",
    "lock": "locked or unlocked a box",
    "press": "pressed a button",
    "open": "opened a door with a key",
    "key": "took a key",
    "drop": "put a key down",
    "apple": "ate an apple",
    "coin": "took a coin of its own",
    "theft": "took a coin of another",
    "robbed": "lost a coin to another",
    "iron": "mined iron",
    "strike": "struck gold ore",
    "gold": "mined gold with others",
    "hit": "hit another",
    "struck": "was hit",
    "clean": "cleaned water",
    "capture": "caught another",
    "caught": "was caught",
    "flag": "took a flag",
    "delivery": "brought a flag home",
    "conceded": "conceded a flag",
    "repair": "repaired a generator",
    "goal": "came to a goal",
    "spotting": "had somebody of the hidden team in view",
    "searching": "had nobody of the hidden team in view",
    "seen": "had somebody of the team seen",
    "hidden": "had nobody of the team seen",
    "win": "won",
    "loss": "lost",
    "step": "played on",
}


class Team(NamedTuple):
    """Bodies alike.

    Attributes:
        name: "chasers".
        member: one of them, "chaser"; agents are chaser_0, chaser_1, ...
        first, size: their numbers are `first` to `first + size - 1`.
        verbs: what they can do besides staying and moving.
        mind: of a team that the rules play: "flee", "wander", "chase", "thief" or "killer"; "" for
            one that agents play.
        rest: such a body stays in each `rest`-th step; 0: never.
        wait: steps at the start in which they cannot act.
    """

    name: str
    member: str
    first: int
    size: int
    verbs: tuple[str, ...]
    mind: str
    rest: int
    wait: int


class Beam(NamedTuple):
    """What a verb does from a distance.

    Attributes:
        length, radius: cells ahead, and to each side, that it reaches; walls stop it.
        around: in place of a beam: how many steps away in any direction it reaches; 0: a beam.
        cooldown: steps before it can be used again.
        effect: "out" (taken away, back at the start after `steps`), "freeze" (cannot act for
            `steps`), "home" (back at the start at once), "clean" or "mine".
        steps: see `effect`.
        everybody: whether it hits members of the own team, too.
    """

    length: int
    radius: int
    around: int
    cooldown: int
    effect: str
    steps: int
    everybody: bool


class Capture(NamedTuple):
    """How members of a team are caught.

    Attributes:
        team, by: numbers of teams.
        needed: how many catchers it takes.
        reach: 0: on the same cell; 1: beside it, and so on.
        passing: whether with a reach of 0 also those are caught who pass a catcher, each entering
            the cell that the other leaves.
        land: whether only on the land of the catchers.
        effect: "caught" (out for good), "home" or "freeze" (for `steps`).
    """

    team: int
    by: int
    needed: int
    reach: int
    passing: bool
    land: bool
    effect: str
    steps: int


class Growth(NamedTuple):
    """How something comes up on free soil (dirt on clean water).

    Attributes:
        code: of the cell.
        rates: chance a step and cell, by how many of its kind are within `radius`; the last counts
            for more of them.
        radius: (L2) of that neighbourhood.
        dirt_limit: share of dirty water from which nothing grows; the rates fall linearly to it. 0:
            dirt does not matter.
        after: step from which it grows.
        one: the rate is the chance that it comes up on one cell of all that are free.
    """

    code: int
    rates: tuple[float, ...]
    radius: int
    dirt_limit: float
    after: int
    one: bool


class End(NamedTuple):
    """When an episode ends, and who has won then.

    Attributes:
        when: "caught" (of `team`), "goal" (members of `team` are on goals), "meet" (`team` is on
            one cell), "score" (a team has `points`) or "gone" (no cell is `code` any more).
        team: number of a team, -1 where it is none.
        all: all of the team, or any one of them.
        points: see `when`.
        code: see `when`.
        repaired: only once all generators are repaired.
        wins: number of the team that has won; -1: nobody; with "score" it is the scorer.
    """

    when: str
    team: int
    all: bool
    points: int
    code: int
    repaired: bool
    wins: int


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """A checked scenario as tables.

    Attributes:
        size: rows and columns.
        teams: those of agents first.
        agents, bodies: how many agents (N) and bodies (M) there are; the first N bodies are theirs.
        actions: names of all actions.
        moves: how many of them are moves; they follow "stay".
        verbs: name -> action.
        able: bool[N, A], who can do what.
        of_team: i8[M].
        stages: names, in order.
        conflict: what happens if several want a cell.
        beams, captures, growths, ends: see there.
        spotting: numbers of the team that hides and of the team that looks for it, or None.
        needed, most: miners that it takes for gold, at least and at most.
        work: steps in a row that it takes to repair a generator.
        rewards: event -> weight.
        shared: events that count for all of the team.
        radius: how far agents see; None: everything.
        lines: whether walls, doors and boxes hide what is behind them.
        masks: whether each cell is seen by one of two alone.
        turned: bool[N], who sees the map turned by half.
        groups: how many doors groups there are.
        open: u8[G], of doors at the start.
        cells: u8[L, C], of each level.
        starts: bool[L, M, C], where bodies may start.
        exits: bool[R, R] of rooms, [from, to]; None for grids.
        gates: u8[R, R], the door group of an exit, 0 for none.
        room_names: of rooms.
        used: codes that can occur.
        features: which fields bodies have in observations.
    """

    size: tuple[int, int]
    teams: tuple[Team, ...]
    agents: int
    bodies: int
    actions: tuple[str, ...]
    moves: int
    verbs: Mapping[str, int]
    able: np.ndarray
    of_team: np.ndarray
    stages: tuple[str, ...]
    conflict: str
    beams: Mapping[str, Beam]
    captures: tuple[Capture, ...]
    growths: tuple[Growth, ...]
    ends: tuple[End, ...]
    spotting: tuple[int, int] | None
    needed: int
    most: int
    work: int
    rewards: Mapping[str, float]
    shared: frozenset[str]
    radius: int | None
    lines: bool
    masks: bool
    turned: np.ndarray
    groups: int
    open: np.ndarray
    cells: np.ndarray
    starts: np.ndarray
    exits: np.ndarray | None
    gates: np.ndarray | None
    room_names: tuple[str, ...]
    used: tuple[int, ...]
    features: tuple[str, ...]

    @property
    def token(self) -> bool:
        """Whether all agents move one thing together."""
        return self.conflict == "agree"

    @property
    def numbered(self) -> bool:
        """Whether agents are told which one they are."""
        return self.agents > 1


@state_dataclass
class FieldState:
    """A field at one moment. Rows count from the top, columns from the left, from 0.

    Attributes:
        cells: u8[C], codes of `CELLS`.
        viewer: u8[C], which of two agents sees a cell (2: both), with masks; else u8[0].
        doors: u8[G], what holds the doors of each group open; 0: they are closed.
        work: u8[C], steps in which each generator was worked on; u8[0] without repairs.
        row, column: i8[M], where the bodies are; -1 for those that are not on the field.
        home_row, home_column: i8[M], where they started.
        heading: i8[M], numbers of `HEADINGS`: where they last wanted to move.
        carry: u8[M], the code of a key or flag; 0: nothing.
        out: i16[M], steps in which they cannot act; `CAUGHT` for good.
        cool: u8[M], steps until they can use a beam again.
        ago: u8[M], steps that their last strike at gold still counts.
        struck: i16[M], the cell of that strike, or of whom a killer is after (-1: nobody).
        score: i16[T], flags that each team brought home.
        level: i16[], which of the levels it began with; -1: another.
        over: bool[], whether the episode has ended by the rules.
        time: i16[], steps played.
        recent: u32[M], what happened to each body in the last step, a bit for each of `EVENTS`.
    """

    cells: Array
    viewer: Array
    doors: Array
    work: Array
    row: Array
    column: Array
    home_row: Array
    home_column: Array
    heading: Array
    carry: Array
    out: Array
    cool: Array
    ago: Array
    struck: Array
    score: Array
    level: Array
    over: Array
    time: Array
    recent: Array


class FieldConfig:
    """What the rules and observations read of a field, fixed while it is played; `Mission`
    (`mission/env.py`) is one.

    Attributes:
        plan: the scenario as tables.
        scenario: its fields, checked.
        observation: `"vector"` or `"grid"`.
        egocentric: whether `"grid"` is turned so that the agent faces the first row.
        max_steps: steps after which an episode is truncated.
    """

    plan: Plan
    scenario: dict[str, Any]
    observation: str
    egocentric: bool
    max_steps: int
