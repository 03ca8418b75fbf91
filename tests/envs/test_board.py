"""Tic-tac-toe and Connect Four: rules, words, pictures, and what their solvers say."""

from __future__ import annotations

import itertools
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyhands
from manyhands.core.env import ConfigError, IllegalAction, episode_key
from manyhands.core.pack import stepper
from manyhands.core.render import render
from manyhands.envs.board import ConnectFour, TicTacToe, env, parallel_env
from manyhands.envs.board.solvers import best, grade, perfect_table, solve
from manyhands.envs.board.state import NO_MOVE
from manyhands.testing import broken_facts

KEY_DATA = np.asarray(jax.random.key_data(episode_key(0)))
TIC, FOUR = TicTacToe(), ConnectFour()
BOTH = pytest.mark.parametrize("board", [TIC, FOUR], ids=lambda b: b.id)


def frames(board: Any, moves: Any) -> list[Any]:
    """The frames of a game, from the empty board on."""
    found = [stepper(board).reset(episode_key(0))]
    for t, move in enumerate(moves):
        rows = np.full(2, move, np.int32)
        found.append(stepper(board).step(KEY_DATA, t, found[-1].state, rows))
    return found


def after(board: Any, *moves: int) -> Any:
    return frames(board, moves)[-1].state


def columns(text: str) -> list[int]:
    """Moves in Connect Four, written as columns from 1."""
    return [int(c) - 1 for c in text]


def games(board: Any, count: int) -> list[list[Any]]:
    """Random games."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(count):
        game = frames(board, [])
        while not game[-1].over:
            legal = np.flatnonzero(game[-1].legal.any(0))
            rows = np.full(2, rng.choice(legal), np.int32)
            game.append(stepper(board).step(KEY_DATA, len(game) - 1, game[-1].state, rows))
        found.append(game)
    return found


# ---- rules ---------------------------------------------------------------------------------------


def test_a_win_ends_the_game_and_pays_both() -> None:
    game = frames(TIC, [4, 0, 2, 8, 6])
    for frame in game[:-1]:
        assert not frame.over and (frame.reward == 0).all()
    last = game[-1]
    assert last.terminated.all() and not last.truncated.any()
    assert last.reward.tolist() == [1, -1] and last.terms["win"].tolist() == [1, -1]
    assert not last.acting.any() and not last.legal.any()
    assert last.metrics["player_0_wins"] == 1 and last.metrics["player_1_wins"] == 0
    lost = frames(FOUR, columns("12324252"))[-1]
    assert lost.over and lost.reward.tolist() == [-1, 1] and lost.metrics["player_1_wins"] == 1


def test_a_full_board_is_a_draw() -> None:
    last = frames(TIC, [0, 1, 2, 4, 3, 5, 7, 6, 8])[-1]
    assert last.terminated.all() and last.reward.tolist() == [0, 0]
    assert last.metrics["draws"] == 1
    won = frames(TIC, [0, 1, 2, 3, 4, 6, 5, 7, 8])[-1]  # the last square, and a line
    assert won.reward.tolist() == [1, -1] and won.metrics["draws"] == 0


def test_a_finished_game_stays_as_it_is() -> None:
    end = frames(TIC, [4, 0, 2, 8, 6])[-1]
    again = stepper(TIC).step(KEY_DATA, 5, end.state, np.array([1, 1], np.int32))
    assert again.terminated.all() and (again.reward == 0).all() and again.metrics["illegal"] == 0
    np.testing.assert_array_equal(again.state.stones, end.state.stones)


@BOTH
def test_illegal_moves_waste_the_turn_and_are_counted(board: Any) -> None:
    taken = [4] if board is TIC else columns("111111")
    state = after(board, *taken)
    mover = int(state.turn)
    for move, counted in ((taken[-1], 1), (99, 1), (-1, 1), (NO_MOVE, 0)):
        rows = np.full(2, 1, np.int32)
        rows[mover] = move  # the other's move is legal, and is not looked at
        frame = stepper(board).step(KEY_DATA, 1, state, rows)
        assert frame.metrics["illegal"] == counted
        assert int(frame.state.turn) == mover and frame.legal[mover].any()
        np.testing.assert_array_equal(frame.state.stones, state.stones)
        assert int(frame.state.last) == int(state.last)


def test_wasted_turns_end_in_truncation() -> None:
    board = TicTacToe(max_steps=3)
    game = frames(board, [NO_MOVE, 0, 0])
    assert [f.truncated.all() for f in game] == [False, False, False, True]
    assert not game[-1].terminated.any()
    win = frames(TicTacToe(max_steps=5), [4, 0, 2, 8, 6])[-1]
    assert win.terminated.all() and not win.truncated.any()


@pytest.mark.parametrize(
    "board",
    [
        TicTacToe(rows=4, columns=6, connect=4),
        ConnectFour(rows=8, columns=9, connect=5),
        TicTacToe(rows=1, columns=5, connect=3),
        ConnectFour(rows=5, columns=2, connect=4),
    ],
    ids=repr,
)
def test_lines_of_any_size(board: Any) -> None:
    """The result of random games, by a count of stones along every line of the board."""
    for game in games(board, 12):
        for frame in game:
            cells = board.cells(frame.state)
            assert bool(frame.over) == (winner(cells, board.connect) >= 0 or (cells >= 0).all())
            assert int(frame.state.result) in (0, 3) or (
                int(frame.state.result) - 1 == winner(cells, board.connect)
            )
        lit = board.winning_line(game[-1].state)
        assert bool(lit) == (int(game[-1].state.result) in (1, 2))
        assert not lit or len(lit) >= board.connect


def winner(cells: np.ndarray, connect: int) -> int:
    """Whoever has a line, as text searched for a run of digits; -1 if nobody."""
    height, width = cells.shape
    lines = [*cells, *cells.T]
    for grid in (cells, cells[:, ::-1]):
        lines += [grid.diagonal(k) for k in range(-height, width)]
    runs = [
        max((len(r[0]), r[0][0]) for r in groups) for line in lines if (groups := runs_of(line))
    ]
    longest = max(runs, default=(0, ""))
    return int(longest[1]) if longest[0] >= connect else -1


def runs_of(line: np.ndarray) -> list[Any]:
    text = "".join("." if c < 0 else str(c) for c in line)
    return list(re.finditer(r"0+|1+", text))


def test_bad_sizes_are_refused() -> None:
    for wrong in ({"rows": 9}, {"columns": 0}, {"connect": 1}, {"connect": 4}, {"max_steps": 0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            TicTacToe(**wrong)
    with pytest.raises(ConfigError, match="win"):
        ConnectFour(reward_weights={"draw": 1})
    assert manyhands.make("connect_four", rows=4, columns=4).observation_space.shape == (3, 4, 4)


def test_random_play_scores_as_counted_by_hand() -> None:
    """Random tic-tac-toe, by enumeration: X wins 737/1260 of games, O 121/420, 8/63 are drawn."""
    played = manyhands.rollout(TIC, "random", 512, 256, jax.random.key(3), collect="statistics")
    found = played.statistics
    assert found.metrics["illegal"] == 0 and found.episodes > 15_000
    for name, share in (
        ("player_0_wins", 737 / 1260),
        ("player_1_wins", 121 / 420),
        ("draws", 8 / 63),
    ):
        assert abs(found.metrics[name] / found.episodes - share) < 0.015


# ---- vectors and words ---------------------------------------------------------------------------


@BOTH
def test_observations_are_the_stones_relative_to_the_observer(board: Any) -> None:
    for game in games(board, 3):
        for t, frame in enumerate(game):
            cells = board.cells(frame.state)
            for i in (0, 1):
                own, other, turn = frame.vector[i]
                np.testing.assert_array_equal(own, cells == i)
                np.testing.assert_array_equal(other, cells == 1 - i)
                assert (turn == (not frame.over and t % 2 == i)).all()
            whole = np.asarray(board.summary(frame.state))
            np.testing.assert_array_equal(whole[:2], frame.vector[0][:2])
            np.testing.assert_array_equal(whole[2:], frame.vector[:, 2])


def read_map(text: str, board: Any) -> np.ndarray:
    """The vector from the map and the first line alone."""
    first, _, rest = text.partition("\n")
    own = re.match(r"You are player_[01] and play ([XO]);", first).group(1)  # type: ignore[union-attr]
    rows = [line.split()[1:] for line in rest.split("\n")[1 : board.rows + 1]]
    marks = np.array(rows)
    turn = np.full(marks.shape, "It is your turn." in first)
    return np.stack([marks == own, (marks != own) & (marks != "."), turn]).astype(np.uint8)


def read_words(text: str, board: Any) -> np.ndarray:
    """The vector from the sentences, without the map."""
    own = 0 if "You are player_0" in text else 1
    cells = np.full((board.rows, board.columns), -1)
    if board.falling:
        for column, pile in re.findall(r"column (\d): ([XO ]+)", text):
            for y, mark in enumerate(pile.split()):
                cells[board.rows - 1 - y, int(column) - 1] = "XO".index(mark)
    else:
        for i, mark in enumerate("XO"):
            for name in re.search(rf"{mark} has: (.*)\.", text).group(1).split(", "):  # type: ignore[union-attr]
                if name != "nothing":
                    cells[int(name[1]) - 1, "abc".index(name[0])] = i
    turn = np.full(cells.shape, "It is your turn." in text)
    return np.stack([cells == own, cells == 1 - own, turn]).astype(np.uint8)


@BOTH
def test_text_and_vector_hold_the_same_facts(board: Any) -> None:
    texts: dict[bytes, str] = {}
    for game in games(board, 8):
        for frame in game:
            for i in (0, 1):
                text = board.describe(frame.state, i)
                np.testing.assert_array_equal(read_map(text, board), frame.vector[i])
                np.testing.assert_array_equal(read_words(text, board), frame.vector[i])
                # No more either: with the agent's name, the vector gives the text, but for the
                # last move.
                key = bytes([i]) + frame.vector[i].tobytes()
                text = "\n".join(k for k in text.split("\n") if not k.startswith("Last "))
                assert texts.setdefault(key, text) == text


def test_the_end_is_told() -> None:
    won = after(TIC, 4, 0, 2, 8, 6)
    assert "you have won" in TIC.describe(won, 0) and "you have lost" in TIC.describe(won, 1)
    assert "a draw" in TIC.describe(after(TIC, 0, 1, 2, 4, 3, 5, 7, 6, 8), 0)
    assert TIC.choices(won, 0) == TIC.choices(won, 1) == []
    assert TIC.to_dict(won)["line"] == ["c1", "b2", "a3"]
    with pytest.raises(IllegalAction, match="over"):
        TIC.parse("b1", won, 1)


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("a1", 0),
        ("C3.", 8),
        ("[b2]", 4),
        ("row 1, column 2", 1),
        ("Row 3 column a", 6),
        ("column c, row 2", 5),
        ("I'll take the centre!", 4),
        ("top left", 0),
        ("the bottom-right corner", 8),
        ("left middle", 3),
        ("I would not play a1.\n[b2]", 4),
        ("a1 is tempting, b1 too.\nACTION: c2", 5),
        ("**ACTION:** `a3`", 6),
        ("\\boxed{c1}", 2),
    ],
)
def test_squares_are_understood(answer: str, action: int) -> None:
    assert TIC.parse(answer, after(TIC), 0) == action


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("column 3", 2),
        ("3", 2),
        ("#7", 6),
        ("(1)", 0),
        ("Drop it in column 4, please", 3),
        ("I play 5", 4),
        ("the third column", 2),
        ("the 6th column", 5),
        ("leftmost column", 0),
        ("the middle column", 3),
        ("not column 1. Action: column 2", 1),
        ("col 7", 6),
        ("4 in a row needs <answer>column 2</answer>", 1),
        ("column 1 or column 2?\nACTION: column 6", 5),
        ("column 2: row 1", 1),
        ("I drop it into column 2, row 1", 1),
    ],
)
def test_columns_are_understood(answer: str, action: int) -> None:
    assert FOUR.parse(answer, after(FOUR), 0) == action


@pytest.mark.parametrize(
    ("board", "moves", "agent", "answer", "reason"),
    [
        (TIC, [4], 1, "b2", "b2 is taken by a stone of player_0.*a1, b1"),
        (TIC, [4, 0], 0, "centre", "b2 is taken by your own stone"),
        (TIC, [], 0, "a1 or b2", "choice open"),
        (TIC, [], 0, "d4", "no square d4.*a1 to c3"),
        (TIC, [], 0, "row 0, column 1", "no square row 0"),
        (TIC, [], 0, "5", "does not say which square"),
        (TIC, [], 0, "-0", "which square"),
        (TIC, [], 0, "hello", "names no square"),
        (TIC, [], 0, "", "empty"),
        (TIC, [], 0, "ACTION: ", "empty"),
        (TIC, [], 1, "a1", "not your turn; player_0 is to move"),
        (TIC, [], 0, "a" * 100_000, "100000 characters"),
        (TIC, [], 0, None, "NoneType"),
        (FOUR, columns("111111"), 0, "column 1", "column 1 is full.*column 2, column 3"),
        (FOUR, [], 0, "column 3 or 4", "choice open"),
        (FOUR, [], 0, "columns 1, 2 and 3", "names no column"),
        (FOUR, [], 0, "0", "no column 0.*column 1 to column 7"),
        (FOUR, [], 0, "column 8", "no column 8"),
        (FOUR, columns("4"), 1, "column 4, row 1", "falls to row 2"),
        (FOUR, [], 0, "-1", "no column -1"),
        (FOUR, [], 0, "column -0", "no column 0"),
        (FOUR, [], 0, "1e9", "names no column"),
        (FOUR, [], 0, "column 1e9", "names no column"),
        (FOUR, [], 0, "1.5", "names no column"),
        (FOUR, [], 0, "9" * 1999, "names no column"),
        (FOUR, [], 0, "٣", "names no column"),
        (FOUR, [], 0, "第三列", "names no column"),
        (FOUR, [], 0, "\x00\x1b[2J", "names no column"),
        (FOUR, columns("4"), 0, "column 1", "not your turn"),
    ],
)
def test_what_is_refused_and_why(
    board: Any, moves: Any, agent: int, answer: Any, reason: str
) -> None:
    with pytest.raises(IllegalAction, match=f"(?s){reason}") as error:
        board.parse(answer, after(board, *moves), agent)
    assert len(str(error.value)) < 300 and str(error.value).isprintable()


WORDS = [
    "column",
    "row",
    "a1",
    "b2",
    "3",
    "not",
    "or",
    "top left",
    "-",
    "1e9",
    "٣",
    "\x00",
    ",",
    "9",
]


@settings(deadline=None, max_examples=150)
@given(text=st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_any_text_is_a_legal_move_or_is_refused(text: str) -> None:
    for board, moves in ((TIC, (4, 0)), (FOUR, tuple(columns("111111")))):
        state = _middle(board, moves)
        try:
            action = board.parse(text, state, 0)
        except IllegalAction as error:
            assert error.reason
        else:
            assert np.asarray(board.legal(state))[0, action]


_MIDDLE: dict[str, Any] = {}


def _middle(board: Any, moves: Any) -> Any:
    return _MIDDLE.setdefault(board.id, after(board, *moves))


def test_words_through_pettingzoo() -> None:
    game = env(observe="text")
    game.reset(seed=0)
    assert game.agent_selection == "player_0" and "It is your turn." in game.observe("player_0")
    with pytest.raises(IllegalAction, match="player_0"):
        game.step("d9")
    for move in ("b2", "a1", "I take c1", "c3", 6):
        game.step(move)
    assert game.terminations == {"player_0": True, "player_1": True}
    assert game.rewards == {"player_0": 1.0, "player_1": -1.0}
    four = parallel_env("connect_four", on_illegal="noop")
    four.reset(seed=0)
    _, _, _, _, infos = four.step({"player_0": "column 9"})
    assert infos["player_0"]["parse"]["status"] == "illegal"
    assert four.current.turn == 0 and infos["player_0"]["metrics"]["illegal"] == 0


def test_talking_wastes_no_turn_by_mistake() -> None:
    chat = manyhands.make("chat", env=TicTacToe())
    state = chat.reset(jax.random.key(0))
    with pytest.raises(IllegalAction, match="act now"):
        chat.parse("SAY: hello", state, 0)
    assert chat.parse("b2; say: hello", state, 0)[0] == 4


# ---- pictures ------------------------------------------------------------------------------------


@BOTH
def test_pictures_show_the_stones(board: Any) -> None:
    moves = [0, 1, 0, 1, 0, 1, 0][: 7 if board is FOUR else 2]
    pictures = [render(board, frame.state, None, (320, 240)) for frame in frames(board, moves)]
    assert all((a != b).any() for a, b in itertools.pairwise(pictures))
    for size in ((1, 1), (40, 700), (900, 60), (1200, 900)):
        assert render(board, after(board, *moves), 0, size).shape == (size[1], size[0], 3)


# ---- solvers -------------------------------------------------------------------------------------


def test_tic_tac_toe_is_a_draw() -> None:
    verdicts = solve(TIC, after(TIC))
    assert {v.value for v in verdicts.values()} == {0.0} and len(verdicts) == 9
    assert all(v.exact and v.plies == 9 for v in verdicts.values())
    # After a corner, only the centre holds; after the centre, only corners do.
    assert best(solve(TIC, after(TIC, 0))) == [4]
    assert best(solve(TIC, after(TIC, 4))) == [0, 2, 6, 8]


def test_known_wins_are_found_with_their_distance() -> None:
    fork = after(TIC, 0, 1)  # X in a corner, O beside it: X wins by force
    verdicts = solve(TIC, fork)
    wins = {a: v.plies for a, v in verdicts.items() if v.value == 1}
    assert wins == {3: 5, 4: 5, 6: 5} and all(v.exact for v in verdicts.values())
    at_once = solve(TIC, after(TIC, 0, 3, 1, 4))
    assert best(at_once) == [2] and at_once[2].plies == 1
    assert at_once[5].value == 0 and at_once[8].value == -1 and at_once[8].plies == 2


def test_grades_are_the_value_given_away() -> None:
    corner = after(TIC, 0)
    assert grade(TIC, corner, 4) == 0 and grade(TIC, corner, 1) == 1
    winning = after(TIC, 0, 3, 1, 4)
    assert [grade(TIC, winning, a) for a in (2, 5, 8)] == [0, 1, 2]
    with pytest.raises(IllegalAction):
        grade(TIC, winning, 0)
    with pytest.raises(ConfigError):
        grade(TIC, winning, 2, depth=0)
    assert solve(TIC, after(TIC, 4, 0, 2, 8, 6)) == {}
    assert grade(FOUR, after(FOUR, *columns("414141")), 3, depth=2) == 0
    given_away = grade(FOUR, after(FOUR, *columns("4151")), 6, depth=4)  # a win for a block
    assert 0.5 < given_away < 1.5


@pytest.mark.parametrize(
    ("moves", "answers", "value", "plies"),
    [
        ("414141", "4", 1, 1),  # three on top of each other
        ("142434", "4", None, None),  # three of the other's to block
        ("4151", "36", 1, 3),  # two in the middle of the lowest row: an open three
    ],
)
def test_tactics_in_connect_four(moves: str, answers: str, value: Any, plies: Any) -> None:
    verdicts = solve(FOUR, after(FOUR, *columns(moves)), depth=4)
    assert set(best(verdicts)) <= set(columns(answers))
    if value is not None:
        assert {verdicts[a].value for a in columns(answers)} == {value}
        assert verdicts[columns(answers)[0]].plies == plies


def test_an_open_three_is_stopped_in_time() -> None:
    """The first player has two in the lowest row: all but the squares beside them lose."""
    verdicts = solve(FOUR, after(FOUR, *columns("443")), depth=4)
    lost = {action: v.plies for action, v in verdicts.items() if v.value == -1}
    assert lost == dict.fromkeys(columns("13467"), 4)
    assert not verdicts[1].exact and verdicts[1].plies is None


def test_the_table_is_what_the_search_says() -> None:
    table = perfect_table(3, 3, 3, False)
    assert (table > 0).sum() == 4520  # of 5,478 positions, 958 are over
    for moves in ((), (0,), (4,), (0, 1), (0, 3, 1, 4)):
        state = after(TIC, *moves)
        cells = TIC.cells(state).ravel()
        mover = len(moves) % 2
        digits = np.where(cells < 0, 0, np.where(cells == mover, 1, 2))
        bits = int(table[(digits * 3 ** np.arange(9)).sum()])
        assert [a for a in range(9) if bits >> a & 1] == best(solve(TIC, state))


def test_batches_are_compiled_once_for_all_that_depends_on_a_move() -> None:
    states = TIC.batch_reset(jax.random.split(jax.random.key(0), 3))
    actions = jnp.array([[0, 9, 4], [1, 1, 1]])
    states, outcome = jax.jit(TIC.step)(None, states, actions)
    assert outcome.metrics["illegal"].tolist() == [0, 1, 0]
    assert states.turn.tolist() == [1, 0, 1] and states.last.tolist() == [0, 255, 4]


# ---- what is promised, and what is told ----------------------------------------------------------

LARGE = manyhands.make("tic_tac_toe", rows=8, columns=12, connect=5)
WORDY = pytest.mark.parametrize("board", [TIC, FOUR, LARGE], ids=lambda board: repr(board)[:16])


@WORDY
def test_choices_come_true_and_events_are_what_happened(board: Any) -> None:
    ends, every = 0, max(3, board.action_space.n // 6)
    for seed, game in enumerate(games(board, 6)):
        for t, frame in enumerate(game):
            state = frame.state
            for i in (0, 1):
                choices = board.choices(state, i, None)
                assert len(choices) == frame.legal[i].sum()
                for choice in choices[seed % every :: every]:
                    assert board.parse(choice, state, i) == choice.action
                    rows = np.full(2, choice.action, np.int32)
                    after_ = stepper(board).step(np.zeros(2, np.uint32), t, state, rows)
                    assert broken_facts(board, choice, after_) == ""
                    assert choice.facts.get("over", False) == after_.over
                    ends += after_.over
                    where = {"at": choice.facts["last"]}
                    events = board.last_events(after_.state, i)
                    assert events[0] == {"event": "place", "agent": board.agents[i], **where}
                    assert (len(events) == 2) == after_.over
                    codes = np.asarray(board.event_codes(after_.state))
                    row = dict(zip(board.event_names, codes[i], strict=True))
                    assert row["own_stone"] == row[f"at {where['at']}"] == 1
                    assert sum(row.values()) == 2 + after_.over
                    assert "Last move: you, " + where["at"] in board.describe(after_.state, i)
    assert ends > 3


@WORDY
def test_texts_are_short(board: Any) -> None:
    assert len(board.rules(0)) <= 5_000
    for game in games(board, 3):
        for frame in game:
            for i in (0, 1):
                sizes = [len(board.describe(frame.state, i, detail=d)) for d in
                         ("brief", "normal", "full")]  # fmt: skip
                assert sizes[0] <= sizes[1] <= sizes[2]
                assert sizes[1] <= 1_200
                assert len("\n".join(board.choices(frame.state, i))) <= 800


def test_numbers_of_a_batch_are_those_of_its_states() -> None:
    states = [after(TIC, *range(k)) for k in range(8)]
    batch = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *states)
    codes = np.asarray(TIC.batch_event_codes(batch))
    for i, state in enumerate(states):
        np.testing.assert_array_equal(codes[..., i], TIC.event_codes(state))


def test_an_unused_turn_is_told() -> None:
    first = stepper(TIC).reset(episode_key(0)).state
    rows = np.full(2, TIC.noop, np.int32)
    state = stepper(TIC).step(np.zeros(2, np.uint32), 0, first, rows).state
    assert TIC.last_events(first) == []
    assert TIC.last_events(state) == [{"event": "no move", "agent": "player_0"}]
    assert "Last step: player_0 did not move." in TIC.describe(state, 1)
    assert manyhands.make("tic_tac_toe", detail="brief").config()["detail"] == "brief"
