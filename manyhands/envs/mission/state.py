"""A mission's state and its fixed configuration.

Every function of the rules (`rules.py`) and of the observations (`observe.py`) takes a
`MissionConfig` and a `MissionState`, with any number of trailing batch axes (none, or one).
"""

from __future__ import annotations

from manyhands.core.env import Array, state_dataclass

STAY, NORTH, SOUTH, WEST, EAST, LOAD = range(6)
ACTIONS = ("stay", "north", "south", "west", "east", "load")
# Change of row and column by action.
ROWS, COLUMNS = (0, -1, 1, 0, 0, 0), (0, 0, 0, -1, 1, 0)

# `MissionState.recent`: what a player did in the last step.
NOTHING, MOVED, BLOCKED, LOADED, TOO_WEAK = range(5)
MOST_PLAYERS, MOST_FOODS, MOST_SIDE, MOST_LEVEL = 10, 9, 24, 20


@state_dataclass
class MissionState:
    """One field at one moment. Rows count from the top, columns from the left, from 0.

    Attributes:
        row, column: i8[N], where the players are.
        level: i8[N], their levels.
        food_row, food_column: i8[F], where the food is, in reading order.
        food_level: i8[F], its level; 0 for food that was loaded, or that found no place.
        spawned: i16[], sum of all levels of food at the start.
        time: i16[], steps played.
        recent: u8[N], what each player did in the last step: `MOVED`, `BLOCKED` (wanted a cell that
            another wanted too), `LOADED`, `TOO_WEAK` (tried to load, with too few levels) or
            `NOTHING`.
    """

    row: Array
    column: Array
    level: Array
    food_row: Array
    food_column: Array
    food_level: Array
    spawned: Array
    time: Array
    recent: Array


class MissionConfig:
    """What the rules and observations read of a mission, fixed while it is played; `Mission`
    (`env.py`) is one.

    Attributes:
        size: rows and columns.
        players: how many players, N.
        foods: how many pieces of food, F.
        player_levels: lowest and highest level of a player.
        food_levels: lowest and highest level of food; None: the sum of the three lowest levels of
            players.
        coop: whether all food has the highest level.
        sight: how many cells a player sees in each direction.
        penalty: what a failed attempt to load costs.
        observation: `"vector"` or `"grid"`.
        max_steps: steps after which an episode is truncated.
    """

    size: tuple[int, int]
    players: int
    foods: int
    player_levels: tuple[int, int]
    food_levels: tuple[int, int | None]
    coop: bool
    sight: int
    penalty: float
    observation: str
    max_steps: int


def highest_food(config: MissionConfig) -> int:
    """The highest level that food can have."""
    highest = config.food_levels[1]
    return min(3, config.players) * config.player_levels[1] if highest is None else highest
