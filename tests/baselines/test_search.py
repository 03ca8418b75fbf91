"""Trees of forks, and the search seat."""

import numpy as np
import pytest

import manyhands
from manyhands.baselines.search import Search, tree
from manyhands.core.env import ConfigError, SeatError, SnapshotError
from manyhands.core.pack import fingerprint, snapshot, stepper
from manyhands.core.record import read
from manyhands.envs.board import solvers

BOARD = manyhands.make("tic_tac_toe")
KEY = np.array([0, 7], np.uint32)


def state_after(*squares):
    """The state after these moves in turn."""
    frame = stepper(BOARD).reset(KEY)
    for t, square in enumerate(squares):
        rows = np.full(2, BOARD.noop, np.int32)
        rows[t % 2] = square
        frame = stepper(BOARD).step(KEY, t, frame, rows)
    return frame.state


# X: a1, b1; O: b2, c3; X to move can win at c1.
WIN = state_after(0, 4, 1, 8)
# X: a1, c3; O: b2; O to move: a corner loses.
DANGER = state_after(0, 4, 8)


@pytest.mark.parametrize("state", [WIN, DANGER], ids=["win", "danger"])
def test_values_of_a_whole_tree_are_those_of_perfect_play(state):
    forks = tree(BOARD, state, 9)
    turn = int(state.turn)
    expected = {a: verdict.value for a, verdict in solvers.solve(BOARD, state).items()}
    found = {
        actions[turn]: float(values[turn]) for actions, values in forks.action_values().items()
    }
    assert found == expected and forks.complete
    assert forks.values[0, turn] == max(expected.values())


def test_the_arrays_tell_the_steps():
    forks = tree(BOARD, snapshot(BOARD, DANGER), 4)
    plain = tree(BOARD, DANGER, 4, merge=False)
    assert np.diff(plain.offsets)[:4].tolist() == [1, 6, 6 * 5, 6 * 5 * 4]
    assert len(forks) < len(plain) and len(forks.source) > len(forks) and forks.depth[-1] == 4
    node = len(forks) - 1
    state = DANGER
    for edge in forks.line(node):
        t = int(state.time)
        frame = stepper(BOARD).step(KEY, t, state, forks.actions[edge])
        np.testing.assert_array_equal(frame.reward, forks.rewards[edge])
        np.testing.assert_array_equal(frame.terminated, forks.terminated[edge])
        state = frame.state
    assert fingerprint(BOARD, state) == fingerprint(BOARD, forks.state(node))
    prints = [fingerprint(BOARD, forks.state(k)) for k in range(*forks.offsets[4:6])]
    assert len(set(prints)) == len(prints)


def test_trees_are_cut_at_the_limit_and_forked_for_one_agent():
    cut = tree(BOARD, DANGER, 5, max_nodes=10)
    assert not cut.complete and len(cut) == 7
    own = tree(BOARD, DANGER, 2, agent=1, partners="perfect", chances=2)
    assert len(own.source) == 6 * 2 + len(np.unique(own.target[:12])) * 2
    assert (own.actions[12:] == BOARD.noop).all()  # the partner's choices are not forked
    mean = tree(BOARD, DANGER, 1, backup="mean")
    np.testing.assert_allclose(
        mean.values[0], np.mean([v for v in mean.action_values().values()], axis=0)
    )
    with pytest.raises(ConfigError, match="best"):
        tree(BOARD, DANGER, 1, backup="worst")
    with pytest.raises(ConfigError, match="discount"):
        tree(BOARD, DANGER, 1, discount=float("nan"))
    with pytest.raises(SnapshotError, match="no state of TicTacToe"):
        tree(BOARD, 5, 1)
    over = state_after(0, 3, 1, 4, 2)
    assert len(tree(BOARD, over, 2)) == 1


def test_it_takes_a_win_and_stops_one():
    found = Search(BOARD, simulations=60).search([WIN, DANGER], [0, 1], [1, 2])
    assert found[0].best == 2 and found[0].values[2] == 1
    assert found[1].best % 2 == 1  # no corner
    assert found[0].visits.sum() == 60 and np.isnan(found[0].values[0])


def test_a_value_and_a_prior_guide_it():
    def worth(env, states):
        import jax.numpy as jnp

        return jnp.zeros(states.turn.shape, jnp.float32) + jnp.zeros((2, 1))

    def prior(env, states):
        import jax.numpy as jnp

        return (jnp.arange(9) == 6)[None, :, None] * jnp.ones((2, 1, states.turn.shape[-1]))

    search = Search(BOARD, simulations=8, value=worth, prior=prior)
    (found,) = search.search([DANGER], [1], [0])
    assert found.visits[6] == 8


def test_answers_depend_on_the_episode_alone_and_are_recorded(tmp_path):
    path = tmp_path / "r.jsonl"
    seats = ["search:simulations=12,temperature=1", "random"]
    many = manyhands.play(BOARD, seats, 3, 5, record=path, progress=False)
    alone = manyhands.play(BOARD, seats, only=[2], seed=5, progress=False)
    assert many.episodes[2] == alone.episodes[0]
    info = next(read(path)).steps[0].turn.info[0]
    assert info["true_state"] and sum(info["search"]["visits"]) == 12
    assert info["policy"] == pytest.approx([v / 12 for v in info["search"]["visits"]])


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        ("kuhn_poker", {}, "peek=true"),
        ("craftworld", {}, "peek=true"),
        ("tic_tac_toe", {"value": "solver"}, "solver"),
        ("tic_tac_toe", {"partners": "solver"}, "solver"),
        ("tic_tac_toe", {"partners": "nope"}, "no seat is called 'nope'"),
        ("tic_tac_toe", {"partners": 5}, "5 cannot play"),
        ("tic_tac_toe", {"value": "nope"}, "no seat is called 'nope'"),
        ("tic_tac_toe", {"prior": "perfect"}, "from Python; given 'perfect'"),
    ],
)
def test_what_it_may_not_or_cannot_search_is_refused(env, options, message):
    env = manyhands.make(env)
    with pytest.raises(SeatError, match=message):
        Search(env, 1, **options)


def test_discounts_are_at_most_1():
    for discount in (2, -0.1):
        with pytest.raises(ConfigError, match=f"discount .* from 0 to 1, given {discount}"):
            Search(BOARD, discount=discount)
    with pytest.raises(ConfigError, match="discount"):
        manyhands.seat("search:discount=2", BOARD)
    with pytest.raises(ConfigError, match="discount"):
        tree(BOARD, WIN, 1, discount=2)


def test_functions_of_other_shapes_are_refused_when_the_seat_is_made():
    def zeros(*shape):
        return lambda env, states: np.zeros(shape + states.turn.shape, np.float32)

    seat = manyhands.seat("search", BOARD, value=zeros(2), prior=zeros(2, 9))
    assert isinstance(seat, Search)
    turned = lambda env, states: np.zeros((states.turn.shape[0], 2), np.float32)  # noqa: E731
    for name, function, given in (
        ("value", zeros(), r"\(12,\)"),
        ("value", zeros(1), r"\(1, 12\)"),
        ("value", turned, r"\(12, 2\)"),
        ("prior", zeros(9), r"\(9, 12\)"),
    ):
        with pytest.raises(SeatError, match=rf"{name}.*\(2, .*12\).*given {given}"):
            Search(BOARD, **{name: function})
    with pytest.raises(SeatError, match=r"value.*failed.*ZeroDivisionError"):
        Search(BOARD, value=lambda env, states: 1 / 0)
    with pytest.raises(SeatError, match=r"value.*failed.*ValueError.*many"):
        Search(BOARD, value=lambda env, states: "many")
    with pytest.raises(SeatError, match="value"):  # of trees, too
        tree(BOARD, WIN, 1, value=zeros())


def test_other_refusals():
    with pytest.raises(SeatError, match="peek=true"):
        Search(manyhands.make("kitchen", view_radius=2))
    with pytest.raises(SeatError, match="exact"):
        Search(manyhands.make("volleyball"))
    with pytest.raises(SeatError, match="Discrete"):
        Search(manyhands.make("chat", env=BOARD), peek=True)
    with pytest.raises(SeatError, match="states"):
        Search(BOARD, 1).act([])


@pytest.mark.slow
def test_a_chef_searches_with_a_modelled_partner():
    env = manyhands.make("kitchen", max_steps=30)
    seat = "search:simulations=6,value=greedy,rollouts=1,horizon=25,chances=1"
    result = manyhands.play(env, [seat, "greedy"], progress=False)
    other = manyhands.play(env, ["stationary", "greedy"], progress=False)
    assert result.rewards[0, 0] >= other.rewards[0, 0]
