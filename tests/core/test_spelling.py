"""Answers as automata: lists, pieces, and the offers of a trade."""

from __future__ import annotations

import numpy as np
import pytest

import manyhands
from manyhands.core.env import IllegalAction
from manyhands.core.episode import Game, check_action
from manyhands.core.reading.spelling import DONE, Speller, Spelling, listed


def written(speller: Speller) -> set[str]:
    """All answers, where they are few."""
    found, waiting = set(), [(speller.start, b"")]
    while waiting:
        place, text = waiting.pop()
        if place.whole:
            found.add(text.decode())
        waiting += [(later, text + bytes([byte])) for byte, later in place.after.items()]
    return found


def test_a_list_is_spelled_as_it_is():
    texts = ["go", "go on", "stop", "größer"]
    speller = Speller(listed(texts))
    assert written(speller) == set(texts)
    assert written(Speller(listed(texts).after("ACTION: "))) == {f"ACTION: {t}" for t in texts}
    assert speller.start.finish() == b"go"
    assert speller.start.after[ord("s")].finish() == b"top"
    assert not speller.start.whole


def test_pieces_follow_one_another():
    def pieces(count):
        return [("a", count + 1), ("ab", DONE)] if count < 2 else [("b", DONE)]

    speller = Speller(Spelling(pieces, 0))
    assert written(speller) == {"ab", "aab"}
    # Equal places are one, so that an automaton stays small.
    place = speller.start.after[ord("a")]
    assert speller.start.after[ord("a")] is place


def test_an_endless_spelling_is_expanded_as_it_is_read():
    speller = Speller(Spelling(lambda count: [("a", count + 1), ("b", DONE)], 0))
    place = speller.start
    for _ in range(50):
        place = place.after[ord("a")]
    assert place.finish() == b"b"


def test_nothing_can_be_finished_where_nothing_ends():
    with pytest.raises(ValueError, match="without an answer"):
        Speller(Spelling(lambda state: [("a", DONE)] if state else [], "")).start.finish()


@pytest.fixture(scope="module")
def trade():
    return manyhands.make("negotiation", scenario="trade")


def test_the_answers_of_a_trade_are_legal(trade):
    """Drawn at random, in states to which they lead."""
    rng, offers, sizes = np.random.default_rng(0), set(), set()
    for seed in range(6):
        game = Game(trade, seed)
        while game.asked():
            mover = game.asked()[0]
            view = game.views[mover]
            speller = Speller(view.spelling)
            for draw in range(8):
                place, text = speller.start, b""
                for byte in b"offer " if draw < 6 else b"":
                    place, text = place.after.get(byte, place), b"offer "
                if place is speller.start:
                    text = b""
                while not (place.whole and (not place.after or rng.random() < 0.3)):
                    byte = int(rng.choice(sorted(place.after)))
                    place, text = place.after[byte], text + bytes([byte])
                action = view.parse(text.decode())
                check_action(trade, view.legal, action)
                if text.startswith(b"offer"):
                    offers.add(text.decode())
                    sizes.add(int((np.asarray(action)[1:] > 0).sum()))
            rows = np.stack([trade.noop] * 2)
            rows[mover] = action
            game.hear([mover], {})
            game.make(rows)
    assert len(offers) > 20 and max(sizes) >= 5


def test_what_a_trade_refuses_is_not_spelled(trade):
    view = Game(trade, 3).views[0]
    own = [int(np.flatnonzero(row)[-1]) for row in _amounts(trade, view.legal)[:5]]
    goods = trade.scenario.goods
    texts = {
        f"offer {own[0]} {goods[0]} for 1 {goods[1]}": True,
        f"offer {own[0] + 1} {goods[0]} for 1 {goods[1]}": False,
        f"offer {own[0]} {goods[0]}, 1 {goods[1]} and {own[4]} {goods[4]} for nothing": True,
        f"offer nothing for 25 {goods[2]} and 3 {goods[3]}": True,
        f"offer nothing for 26 {goods[2]}": False,
        "offer nothing for nothing": False,
        "accept": False,
        "pass": True,
    }
    speller = Speller(view.spelling)
    for text, legal in texts.items():
        place = speller.start
        for byte in text.encode():
            place = place and place.after.get(byte)
        assert bool(place and place.whole) == legal, text
        try:
            check_action(trade, view.legal, view.parse(text))
        except IllegalAction:
            assert not legal
        else:
            assert legal


def test_choices_are_spelled_where_actions_are_numbers():
    env = manyhands.make("tic_tac_toe")
    game = Game(env, 0)
    assert written(Speller(game.views[0].spelling)) == {c.text for c in game.views[0].all_choices}
    # Two things in one action: choices are parts.
    assert Game(manyhands.make("chat", env=env), 0).views[0].spelling is None


def _amounts(trade, legal):
    """The mask of each part of an offer."""
    start, rows = trade.moves, []
    for most in [*trade.scenario.most, *trade.scenario.most]:
        rows.append(legal[start : start + int(most) + 1])
        start += int(most) + 1
    return rows
