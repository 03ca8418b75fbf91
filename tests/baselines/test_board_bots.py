"""Players of boards: `perfect` never loses, `solver` sees what is near."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines.bots.board import Decisive, Perfect, Searcher
from manyhands.core.env import DeviceView, SeatError
from manyhands.core.play import play
from manyhands.envs.board import ConnectFour, TicTacToe
from manyhands.envs.board.state import BoardState


@pytest.mark.parametrize("seat", [0, 1])
def test_perfect_never_loses_whatever_is_replied(seat: int) -> None:
    """All replies to what it plays, layer after layer of positions, with fresh luck for each."""
    board = TicTacToe()
    policy = Perfect(board)

    @jax.jit
    def act(keys: Any, states: BoardState) -> Any:
        def one(key: Any, state: BoardState) -> Any:
            row = board.observe(state)[seat]
            view = DeviceView(row, row, board.legal(state)[seat], jnp.bool_(True))
            return policy.apply(board, seat, (), key, view)[0]

        return jax.vmap(one, in_axes=(0, -1))(keys, states)

    size, wins = 512, 0
    step, legal = jax.jit(board.step), jax.jit(board.legal)
    layer = [jax.device_get(board.reset(jax.random.key(0)))]
    for ply in range(9):
        size_now = len(layer)
        assert size_now <= size
        padded = layer + [layer[0]] * (size - size_now)
        states = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *padded)
        open_ = np.asarray(legal(states))[ply % 2]  # [9, size]
        if ply % 2 == seat:
            keys = jax.random.split(jax.random.key(ply), size)
            chosen = np.asarray(act(keys, states))
            assert open_[chosen, np.arange(size)].all()
            tried = [chosen]
        else:
            tried = [np.full(size, action) for action in range(9)]
        following: dict[bytes, BoardState] = {}
        for actions in tried:
            valid = open_[actions, np.arange(size)]
            rows = jnp.asarray(np.stack([actions, actions]), jnp.int32)
            new, outcome = jax.device_get(step(None, states, rows))
            for i in np.flatnonzero(valid[:size_now]):
                assert outcome.reward[seat, i] >= 0
                wins += outcome.reward[seat, i] > 0
                if not outcome.terminated[0, i]:
                    state = jax.tree_util.tree_map(lambda leaf, i=i: leaf[..., i], new)
                    following[state.stones.tobytes()] = state
        layer = list(following.values())
        if not layer:
            break
    assert not layer and wins > 20


def test_perfect_plays_in_rollouts_and_inside_chat() -> None:
    board = TicTacToe()
    played = manyhands.rollout(
        board, ["perfect", "random"], 64, 64, jax.random.key(0), collect="statistics"
    ).statistics
    assert played.metrics["player_1_wins"] == 0 and played.metrics["illegal"] == 0
    assert played.returns[0] > 0.9
    chat = manyhands.make("chat", env=board)
    result = play(chat, ["perfect", "solver:depth=9"], episodes=3, seed=0, progress=False)
    assert (result.rewards == 0).all() and all(e.steps == 9 for e in result.episodes)


def test_the_solver_beats_luck_and_shorter_sight() -> None:
    board = ConnectFour()
    luck = play(
        board, ["solver:depth=2", "random"], episodes=6, seed=0, rotate=True, progress=False
    )
    assert (
        luck.seat_rewards[:, 0].sum() >= 5
        and sum(map(sum, (e.illegal for e in luck.episodes))) == 0
    )
    seats = ["solver:depth=5", "solver:depth=1"]
    sight = play(board, seats, episodes=6, seed=0, rotate=True, progress=False)
    assert sight.seat_rewards[:, 0].sum() > 0


def test_games_are_the_same_again() -> None:
    board = TicTacToe()
    for seats in (["perfect", "perfect"], ["solver:depth=2", "solver:depth=2"]):
        games = [play(board, seats, episodes=4, seed=s, progress=False) for s in (0, 0)]
        assert games[0].episodes == games[1].episodes


def test_seats_that_do_not_fit_say_so() -> None:
    with pytest.raises(SeatError, match=r"9 squares.*6 rows and 7 columns.*solver:depth"):
        manyhands.seat("perfect", ConnectFour())
    with pytest.raises(SeatError, match="tic_tac_toe or connect_four"):
        manyhands.seat("perfect", manyhands.make("kitchen"))
    with pytest.raises(SeatError, match="tic_tac_toe or connect_four"):
        manyhands.seat("solver:depth=2", manyhands.make("kitchen"))
    for depth in ("0", "x", "1.5", "true"):
        with pytest.raises(SeatError, match="depth"):
            manyhands.seat(f"solver:depth={depth}", TicTacToe())
    assert Searcher(TicTacToe(), depth=3).name == "solver:depth=3"
    Perfect(ConnectFour(rows=3, columns=3, connect=3))


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([3, 0, 3, 0, 3, 0], 3),  # its own line first, though the other threatens one, too
        ([0, 3, 1, 3, 6, 3], 3),  # prevents a line upright
        ([6, 1, 6, 2, 0, 3], 4),  # prevents one in a row: column 1 is closed by its own stone
    ],
)
def test_decisive_completes_a_line_or_prevents_one(moves: list[int], expected: int) -> None:
    board = ConnectFour()
    policy, state = Decisive(board), board.reset(jax.random.key(0))
    for action in moves:
        state, _ = board.step(None, state, jnp.array([action, action]))
    row = board.perceive(state)[0]
    view = DeviceView(row, row, board.legal(state)[0], jnp.bool_(True))
    act = jax.jit(lambda key: policy.apply(board, 0, (), key, view)[0])
    assert {int(act(jax.random.key(k))) for k in range(8)} == {expected}


def test_decisive_beats_random_in_wrappers_too() -> None:
    board = manyhands.make("recent", env=manyhands.make("tic_tac_toe"))
    result = play(board, ["decisive", "random"], episodes=60, rotate=True)
    assert result.seat_rewards[:, 0].mean() > 0.5 and result.refused(0) == (0, 0)
