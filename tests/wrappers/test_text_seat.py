"""One seat in words: seeds, groups, refused answers, forfeits, several at once, and tables."""

import json

import numpy as np
import pytest

import manyhands
from manyhands.core.env import ConfigError, EpisodeOver, SeatError
from manyhands.core.view import Reply
from manyhands.wrappers.gymnasium import SeatEnv
from manyhands.wrappers.text_seat import TextSeat, TextTable

KUHN = manyhands.make("kuhn_poker")
TOE = manyhands.make("tic_tac_toe")


def nonsense(view):
    return "purple elephants"


def first(view):
    return view.choices[0]


def played(seat, seed, choose=lambda seat: seat.choices[-1], member=0):
    """[(what was read, reward)] of an episode."""
    found = [(seat.reset(seed, member), 0.0)]
    while not seat.done:
        text, reward, _, _ = seat.act(choose(seat))
        found.append((text, reward))
    return found


def test_a_seat_plays_the_same_game_as_gymnasium():
    seat = manyhands.text_seat(KUHN, 1, "random")
    env = SeatEnv(KUHN, seat=1, partners="random", observe="text")
    for seed in range(8):
        text, done = seat.reset(seed), False
        seen, _ = env.reset(seed=seed)
        while not done:
            assert text.startswith(seen) and all(choice in text for choice in seat.choices)
            word = seat.choices[seed % 2].text
            text, reward, done, info = seat.act(word)
            seen, expected, *ends, _ = env.step(word)
            assert (reward, done, info["status"]) == (expected, any(ends), "ok")
        assert info["return"] == seat.total and info["ended"] == "terminated"
        assert json.loads(json.dumps(info)) == info and f"{seat.total:g}" in text
        assert seat.choices == [] and seat.act("check")[3]["status"] == "over"
    assert seat.rules == KUHN.rules(1)


def test_groups_share_a_start():
    seat = manyhands.text_seat(KUHN, 0, "random")
    games = [played(seat, 7, lambda seat: seat.choices[0], member) for member in range(8)]
    assert len({game[0] for game in games}) == 1  # the same cards
    assert len({game[1] for game in games}) > 1  # other answers of the partner
    assert played(seat, 7, lambda seat: seat.choices[0], 3) == games[3]
    seat.reset(4)
    after = [seat.reset(), seat.reset()]
    seat.reset(4)
    assert after == [seat.reset(), seat.reset()]  # the series that the last seed determines


def test_refused_answers_are_retried_and_then_a_forfeit():
    seat = manyhands.text_seat(TOE, 0, first, retries=2)
    before = seat.reset(1)
    for number, words in enumerate(("purple elephants", "", "c9; a1")[:2]):
        text, reward, done, info = seat.act(words)
        assert (reward, done, info["status"], info["illegal"]) == (0, False, "illegal", number + 1)
        assert text.endswith(before) and info["reason"] in text
    assert seat.act("a1")[3]["status"] == "ok"  # which begins the count anew
    for _ in range(2):
        assert seat.act("a1")[3]["status"] == "illegal"
    text, reward, done, info = seat.act("a1")
    assert (reward, done, info["status"]) == (-1.0, True, "forfeit")
    assert info["forfeited"] and info["ended"] == "forfeit" and seat.illegal == 5
    assert seat.finish() == -1.0


@pytest.mark.parametrize("words", [None, 17, {"action": "a1"}, ["a1"], "\ud800", "x" * 10**6, b"a"])
def test_no_words_raise(words):
    seat = manyhands.text_seat(TOE, 0, first)
    seat.reset(0)
    status = seat.act(words)[3]["status"]
    assert status == ("ok" if isinstance(words, (dict, list)) else "illegal")


def test_an_unfinished_game_is_a_forfeit():
    seat = manyhands.text_seat(KUHN, 0, "random")
    with pytest.raises(EpisodeOver):
        seat.look()
    seat.close()  # nothing has begun
    seat.reset(0)
    assert seat.finish() == -1.0 == seat.total and seat.forfeited and "you" in seat.look()
    with manyhands.text_seat(KUHN, 0, "random") as seat:
        seat.reset(0)
    assert seat.done and seat.total == -1.0


def test_noop_in_place_of_a_forfeit():
    seat = manyhands.text_seat(KUHN, 0, first, retries=0, on_illegal="noop")
    seat.reset(0)
    _, _, done, info = seat.act("purple elephants")  # a check
    assert info["status"] == "illegal" and done and not seat.forfeited
    assert seat.table.result().illegal == (1, 0)


def test_partners_forfeit_as_in_play():
    found = manyhands.play(KUHN, [first, nonsense], on_illegal="forfeit", progress=False)
    seat = manyhands.text_seat(KUHN, 0, nonsense)
    seat.reset(0)
    _, reward, done, info = seat.act("check")
    assert (reward, done) == (found.episodes[0].rewards[0], True) == (1.0, True)
    assert info["ended"] == "forfeit" and not seat.forfeited and "player_1" in seat.look()
    seat = manyhands.text_seat(KUHN, 1, nonsense)  # over before its first move
    assert "return: 1" in seat.reset(0) and seat.done
    env = SeatEnv(KUHN, partners=nonsense, on_illegal="forfeit")
    env.reset(seed=0)
    assert env.step(0)[1:4] == (1.0, True, False)
    with pytest.raises(SeatError, match="player_1"):
        SeatEnv(KUHN, seat=1, partners=nonsense, on_illegal="forfeit").reset(seed=0)


def test_several_do_not_disturb_each_other():
    seats = [manyhands.text_seat(KUHN, k % 2, "random") for k in range(4)]
    alone = [played(seat, seed) for seed, seat in enumerate(seats)]
    together = [[(seat.reset(seed), 0.0)] for seed, seat in enumerate(seats)]
    while not all(seat.done for seat in seats):
        for seat, found in zip(seats, together, strict=True):
            if not seat.done:
                found.append(seat.act(seat.choices[-1])[:2])
    assert together == alone


def test_a_partner_of_several_tables_can_tell_them_apart():
    seen = []

    def partner(view):
        seen.append(view.episode)
        return view.choices[0]

    for seat in (manyhands.text_seat(KUHN, 0, partner) for _ in range(2)):
        seat.reset(0)
        seat.act("check")
    assert len(set(seen)) == 2


def test_a_table_of_all_seats():
    table = TextTable(KUHN)
    table.reset(5)
    seats = [TextSeat(table, k) for k in range(2)]
    assert table.waiting == [0] and seats[1].choices == [] and "Wait" in seats[1].look()
    assert table.act(1, "check")["status"] == "waiting"
    expected = manyhands.text_seat(KUHN, 0, first)
    assert seats[0].look() == expected.reset(5)
    assert seats[0].act("check")[2] is False and table.waiting == [1]
    assert seats[1].act("check")[1:3] == (seats[1].total, True)
    expected.act("check")
    assert seats[0].total == expected.total == -seats[1].total
    table.reset(5)
    table.act(0, "check")
    np.testing.assert_array_equal(table.finish(), [1.0, -1.0])  # who was to move forfeits


def test_agents_that_act_at_once_and_talk():
    env = manyhands.make("chat", env=manyhands.make("kuhn_poker"))
    table = TextTable(env)
    table.reset(0)
    table.act(0, "check", say="good luck to you")
    assert "good luck to you" in table.look(1)
    heard = []

    def partner(view):
        heard.extend(message.text for message in view.messages)
        return Reply("check" if view.legal[0] else "fold")

    seat = manyhands.text_seat(env, 0, partner)
    seat.reset(0)
    seat.act('{"action": "check", "say": "hello there"}')
    assert heard == ["hello there"]


def test_mistakes():
    with pytest.raises(ConfigError, match="player_2"):
        manyhands.text_seat(KUHN, "player_2")
    for seat in (True, -1, 2, 0.0, "player_9"):
        with pytest.raises(ConfigError, match="no agent"):
            manyhands.text_seat(KUHN, seat)
    with pytest.raises(ConfigError, match="1 partners"):
        manyhands.text_seat(KUHN, 0, ["random", "random"])
    with pytest.raises(ConfigError, match="give_up"):
        manyhands.text_seat(KUHN, on_illegal="give_up")
    with pytest.raises(ConfigError, match="configured already"):
        manyhands.text_seat(KUHN, players=3)
    with pytest.raises(ConfigError, match="seeed") as caught:
        manyhands.text_seat("kuhn_poker", seeed=3)
    assert str(caught.value).count("detail") == 1  # an option of both the seat and the game
    with pytest.raises(ConfigError, match="seed"):
        manyhands.text_seat(KUHN).reset(-1)
    for seat in (manyhands.text_seat(KUHN), TextTable(KUHN)):
        with pytest.raises(ConfigError, match="no reset option 'foo'"):
            seat.reset(3, foo=1)
    with pytest.raises(ConfigError, match="partner"):
        TextSeat(TextTable(KUHN, [0]), 1)
    with pytest.raises(ConfigError, match="2 seats"):
        TextSeat(TextTable(KUHN))
    with pytest.raises(ConfigError, match="differ"):
        TextTable(KUHN, [])
