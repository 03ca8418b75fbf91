"""Boards: two players place stones in turn, and whoever first has a line of them wins.

Tic-tac-toe and Connect Four are one game with one difference: in Connect Four a player names a
column, and the stone falls to its lowest free square. The rules are in `rules.py`, what players see
in `observe.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from manyhands.core.config import check_actions, check_weights, one_of, whole
from manyhands.core.env import DETAILS, Array, Env, Outcome
from manyhands.envs.board import events, rules
from manyhands.envs.board import observe as views
from manyhands.envs.board.state import NO_MOVE, PLAYERS, BoardConfig, BoardState


class Board(BoardConfig, Env[BoardState]):
    """What `TicTacToe` and `ConnectFour` share: all but the size, and whether stones fall.

    Args:
        rows, columns: size of the board, up to 8 and 26.
        connect: how many stones in a line win.
        max_steps: steps after which a game is truncated, by default twice the squares: only turns
            wasted by illegal actions can make it last so long.
        reward_weights: weight of the term `win`.
        detail: how much `describe` tells: `"brief"`, `"normal"` or `"full"`.

    Terms: `win`, 1 for the winner and -1 for the loser in the step that ends the game. Metrics, per
    step: `player_0_wins`, `player_1_wins`, `draws` (1 in the step that ends a game so) and
    `illegal`.

    Only the action of the player to move counts. An illegal one plays `noop` (-2, outside the
    action space): it leaves the board as it is, with the same player to move, and is counted in
    `illegal`, which `noop` itself is not. A game that is over stays as it is.

    **Observation**, u8[3, rows, columns] per player: the planes that `observation_layout` names,
    row 0 at the top.

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

    def __init__(
        self,
        rows: int,
        columns: int,
        connect: int,
        max_steps: int | None,
        reward_weights: Mapping[str, float] | None,
        detail: str,
    ):
        self.detail = one_of("detail", detail, DETAILS)
        self.rows = rows = whole("rows", rows, 1, 8)
        self.columns = columns = whole("columns", columns, 1, 26)
        self.connect = connect = whole("connect", connect, 2, max(rows, columns))
        max_steps = 2 * rows * columns if max_steps is None else max_steps
        self.max_steps = max_steps = whole("max_steps", max_steps, 1, 30_000)
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
        self.observation_layout = views.layout(self)
        self.observation_space = self.observation_layout.space()
        self.event_names = events.event_names(self)
        self.event_kinds = events.KINDS

    # ---- the contract, as functions of the configuration and the state ------------------------

    reset, legal, acting = rules.reset, rules.legal, rules.acting
    observe, summary, event_codes = views.observe, views.summary, events.event_codes
    cells, winning_line = views.cells, views.winning_line

    def step(self, key: Array, state: BoardState, actions: Array) -> tuple[BoardState, Outcome]:
        check_actions(self, actions, state.time.shape)
        after, results = rules.step(self, state, actions)
        return after, self.outcome(**results)

    def forfeit_terms(self, state: BoardState, agents: Sequence[int]) -> dict[str, Array]:
        """The game is lost: -1, and +1 for the other side."""
        win = np.ones(self.num_agents, np.float32)
        win[list(agents)] = -1.0
        return {"win": win if agents else np.zeros_like(win)}

    def to_dict(self, state: BoardState) -> dict[str, Any]:
        return self._module("text").to_dict(self, state)

    def config(self) -> dict[str, Any]:
        return {**self._config, **self.text_options()}

    def last_events(
        self, state: BoardState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        return events.last_events(self, state)


class TicTacToe(Board):
    """Tic-tac-toe: three in a line on three by three squares, or as you set it.

    Action `row * columns + column` takes that square, row 0 at the top. See `Board` for arguments,
    terms, metrics and observations.
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
        detail: str = "normal",
    ):
        super().__init__(rows, columns, connect, max_steps, reward_weights, detail)


class ConnectFour(Board):
    """Connect Four: stones fall down in seven columns of six squares; four in a line win.

    Action `i` drops a stone into column `i`, counted from 0 at the left (in text, columns count
    from 1). See `Board` for arguments, terms, metrics and observations.
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
        detail: str = "normal",
    ):
        super().__init__(rows, columns, connect, max_steps, reward_weights, detail)
