"""Boards against OpenSpiel (Lanctot et al. 2019): who moves, what is legal, and what it pays, move
by move; and the values of its positions, by a minimax on its own tree.

OpenSpiel plays one game at a time; ours replays all of them in one batch.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core.pack import stepper
from manyhands.envs.board import ConnectFour, TicTacToe
from manyhands.envs.board.solvers import best, solve
from manyhands.envs.board.state import NO_MOVE

pyspiel = pytest.importorskip("pyspiel")


@functools.partial(jax.jit, static_argnums=0)
def replay(board: Any, moves: Any) -> Any:
    """Who moves, what is legal, before each move of a batch of games and after the last, and what
    each move paid: moves are i32[T, B], `NO_MOVE` where a game has no more."""

    def step(state: Any, move: Any) -> Any:
        seen = board.acting(state), board.legal(state), state.stones
        state, outcome = board.step(None, state, jnp.stack([move, move]))
        return state, (*seen, outcome.reward, outcome.terminated, outcome.metrics["illegal"])

    keys = jax.random.split(jax.random.key(0), moves.shape[1])
    return jax.lax.scan(step, board.batch_reset(keys), moves)[1]


def compare(board: Any, histories: list[list[int]], nodes: list[Any]) -> None:
    """Every history of ours, at its end, with OpenSpiel's state there: (player or None, legal
    actions, returns)."""
    longest = max(map(len, histories)) + 1
    moves = np.full((longest, len(histories)), NO_MOVE, np.int32)
    for i, history in enumerate(histories):
        moves[: len(history), i] = history
    acting, legal, _, reward, terminated, illegal = map(np.asarray, replay(board, moves))
    assert illegal.sum() == 0
    end, which = np.array([len(h) for h in histories]), np.arange(len(histories))
    acting, legal = acting[end, :, which], legal[end, :, :, which]
    paid, over = reward.sum(0).T, terminated[end, :, which]  # the step there is nobody's
    for i, (player, actions, returns) in enumerate(nodes):
        expected = np.zeros((2, legal.shape[2]), bool)
        if player is not None:
            expected[player, actions] = True
        np.testing.assert_array_equal(legal[i], expected)
        assert acting[i].tolist() == [player == 0, player == 1]
        assert (over[i] == (player is None)).all()
        assert paid[i].tolist() == returns


def node(state: Any) -> tuple[int | None, list[int], list[float]]:
    if state.is_terminal():
        return None, [], state.returns()
    return state.current_player(), state.legal_actions(), [0.0, 0.0]


def walk(histories_of_a_position: bool) -> tuple[list[list[int]], list[Any]]:
    """Histories of tic-tac-toe with OpenSpiel's nodes: all of them, or one of each position."""
    histories, nodes, seen = [], [], set()
    waiting = [pyspiel.load_game("tic_tac_toe").new_initial_state()]
    while waiting:
        state = waiting.pop()
        if not histories_of_a_position:
            name = str(state)
            if name in seen:
                continue
            seen.add(name)
        histories.append(state.history())
        nodes.append(node(state))
        if not state.is_terminal():
            waiting += [state.child(action) for action in state.legal_actions()]
    return histories, nodes


def test_every_position_of_tic_tac_toe() -> None:
    histories, nodes = walk(False)
    assert len(histories) == 5478
    compare(TicTacToe(), histories, nodes)


@pytest.mark.slow
def test_every_history_of_tic_tac_toe() -> None:
    histories, nodes = walk(True)
    assert len(histories) == 549_946 and sum(n[0] is None for n in nodes) == 255_168
    for start in range(0, len(histories), 65_536):
        compare(TicTacToe(), histories[start : start + 65_536], nodes[start : start + 65_536])


def test_random_games_of_connect_four() -> None:
    rng = np.random.default_rng(0)
    histories, nodes = [], []
    game = pyspiel.load_game("connect_four")
    ends = set()
    for _ in range(300):
        state = game.new_initial_state()
        while True:
            histories.append(state.history())
            nodes.append(node(state))
            if state.is_terminal():
                break
            state.apply_action(int(rng.choice(state.legal_actions())))
        ends.add(tuple(state.returns()))
    # A game that fills the board, too: random ones hardly ever do.
    state = game.new_initial_state()
    for column in [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 2, 3, 2, 3, 3, 2, 3, 2, 2, 3, 2, 3]:
        state.apply_action(column)
    for column in [4, 5, 4, 5, 5, 4, 5, 4, 4, 5, 4, 5, 6, 6, 6, 6, 6, 6]:
        state.apply_action(column)
    assert state.is_terminal() and state.returns() == [0.0, 0.0]
    histories.append(state.history())
    nodes.append(node(state))
    assert len(ends) >= 2
    compare(ConnectFour(), histories, nodes)


# ---- solvers -------------------------------------------------------------------------------------


def minimax(state: Any, mover: int, values: dict[str, float]) -> float:
    """What OpenSpiel's state is worth to the first player, by trying everything."""
    name = str(state)
    if name not in values:
        if state.is_terminal():
            values[name] = state.returns()[0]
        else:
            tried = [minimax(state.child(a), 1 - mover, values) for a in state.legal_actions()]
            values[name] = max(tried) if mover == 0 else min(tried)
    return values[name]


def states_of(board: Any, histories: list[list[int]]) -> list[Any]:
    """Our states at the ends of histories of one length."""

    @jax.jit
    def run(moves: Any) -> Any:
        def step(state: Any, move: Any) -> Any:
            return board.step(None, state, jnp.stack([move, move]))[0], None

        keys = jax.random.split(jax.random.key(0), moves.shape[1])
        return jax.lax.scan(step, board.batch_reset(keys), moves)[0]

    longest = max(map(len, histories))
    moves = np.full((longest, len(histories)), NO_MOVE, np.int32)
    for i, history in enumerate(histories):
        moves[: len(history), i] = history
    states = jax.device_get(run(moves))
    return [
        jax.tree_util.tree_map(lambda leaf, i=i: leaf[..., i], states)
        for i in range(len(histories))
    ]


def test_every_move_of_tic_tac_toe_is_valued_as_minimax_values_it() -> None:
    board, values = TicTacToe(), dict[str, float]()
    game = pyspiel.load_game("tic_tac_toe")
    histories, nodes = walk(False)
    assert minimax(game.new_initial_state(), 0, values) == 0
    for history, (player, actions, _), state in zip(
        histories, nodes, states_of(board, histories), strict=True
    ):
        if player is None:
            continue
        theirs = game.new_initial_state()
        for action in history:
            theirs.apply_action(action)
        verdicts = solve(board, state)
        assert list(verdicts) == actions
        for action in actions:
            value = values[str(theirs.child(action))] * (1 if player == 0 else -1)
            assert verdicts[action].value == value and verdicts[action].exact


def test_late_positions_of_connect_four_are_solved_exactly() -> None:
    """With at most nine squares left, to the end; best play by our verdicts ends when they say."""
    board, rng = ConnectFour(), np.random.default_rng(7)
    game = pyspiel.load_game("connect_four")
    late = []
    while len(late) < 25:
        state = game.new_initial_state()
        while not state.is_terminal() and len(state.history()) < 33:
            state.apply_action(int(rng.choice(state.legal_actions())))
        if not state.is_terminal():
            late.append(state)
    found = set()
    for state, ours in zip(late, states_of(board, [s.history() for s in late]), strict=True):
        verdicts, values = solve(board, ours, depth=9), dict[str, float]()
        player = state.current_player()
        for action in state.legal_actions():
            value = minimax(state.child(action), 1 - player, values) * (1 if player == 0 else -1)
            assert (verdicts[action].value, verdicts[action].exact) == (value, True)
            found.add(value)
        plies, line = verdicts[best(verdicts)[0]].plies, state.clone()
        while not line.is_terminal():
            move = best(solve(board, ours, depth=9))[0]
            line.apply_action(move)
            rows = np.array([move, move], np.int32)
            ours = stepper(board).step(np.zeros(2, np.uint32), 0, ours, rows).state
        assert len(line.history()) - 33 == plies
    assert found == {-1.0, 0.0, 1.0}
