"""Players that know nothing but what the texts say: rules of thumb over `View.text` and the lines
of `View.choices`. What they need must be in the words. (Readers for the kitchen and volleyball have
tests of their own, in tests/baselines.)"""

import functools
import re

import manyhands
from manyhands.core.play import play

EPISODES = 10


def line(text, start):
    """The rest of the line that begins so."""
    (found,) = re.findall(rf"^{re.escape(start)}(.*)$", text, re.M)
    return found


# ---- boards --------------------------------------------------------------------------------------


def board(text):
    """(own squares, the other's, free squares, sides of the board) as the text lists them."""
    own, other = re.search(r"play (\w).*plays (\w)", text).groups()
    listed = {stone: re.findall(r"[a-z]\d", line(text, f"{stone} has:")) for stone in (own, other)}
    rows = re.findall(r"^\d+ [.XO ]+$", text, re.M)
    return listed[own], listed[other], re.findall(r"[a-z]\d", line(text, "Free:")), len(rows)


LINES = [{f"{c}{r}" for c in "abc"} for r in "123"] + [{f"{c}{r}" for r in "123"} for c in "abc"]
LINES += [{"a1", "b2", "c3"}, {"c1", "b2", "a3"}]


@functools.cache
def worth(own, other):
    """Of a tic-tac-toe position, for the one to move: 1 won, 0 drawn, -1 lost."""
    if any(row <= other for row in LINES):
        return -1
    free = {f"{c}{r}" for c in "abc" for r in "123"} - own - other
    return max((-worth(other, own | {square}) for square in free), default=0)


def perfect(view):
    own, other, free, _ = board(view.text)
    own, other = frozenset(own), frozenset(other)
    return min(free, key=lambda square: worth(other, own | {square}))


def test_tic_tac_toe_cannot_be_lost_by_who_reads():
    won = 0.0
    for partner in ("perfect", "random"):
        result = play("tic_tac_toe", [perfect, partner], EPISODES, rotate=True, on_illegal="raise")
        assert result.seat_rewards[:, 0].min() >= 0
        won += result.seat_rewards[:, 0].sum()
    assert won > EPISODES / 2


# ---- poker ---------------------------------------------------------------------------------------


def careful(view):
    """Bets a king or a pair, calls with a queen, else gives up."""
    own = line(view.text, "Your card: ").rstrip(".").split(" ")[0]
    public = re.search(r"Public card: (\w)", view.text)
    good = own == "K" or (public and public[1] == own)
    offered = {choice.text.split()[0]: choice.text for choice in view.choices}
    for action in ("raise", "bet", "call") if good else ("check", "call" if own == "Q" else "fold"):
        if action in offered:
            return offered[action]
    return offered.get("check") or offered.get("fold") or view.choices[0].text


def test_cards_and_bets_are_read():
    for game in ("kuhn_poker", "leduc_holdem"):
        env = manyhands.make(game, hands=20)
        result = play(env, [careful, "random"], EPISODES, rotate=True, on_illegal="raise")
        assert result.seat_rewards[:, 0].mean() > 2.0, game


# ---- negotiation ---------------------------------------------------------------------------------


def haggler(view):
    """Opens with a good price, concedes in each turn, accepts what gains."""
    seller = "the seller" in view.text
    own = int(re.search(r"Your (?:cost|value|limit)[^:]*: (\d+)", view.text)[1])
    turn, most = map(int, re.search(r"Turn (\d+) of at most (\d+)", view.text).groups())
    standing = re.search(r"Standing offer, by player_\d: a price of (\d+)", view.text)
    accept = any(choice.text == "accept" for choice in view.choices)
    if standing and accept:
        gain = (int(standing[1]) - own) * (1 if seller else -1)
        if gain > 0 and (gain >= 15 - turn or turn >= most - 2):
            return "accept"
    margin = max(20 - 3 * turn, 1)
    return f"offer a price of {max(own + margin if seller else own - margin, 0)}"


def test_prices_are_agreed_where_both_can_gain():
    env = manyhands.make("negotiation", scenario="buy_sell")
    result = play(env, haggler, 4 * EPISODES, on_illegal="raise")
    assert result.rewards.min() >= 0
    assert result.mean["agreement"] > 0.6
