"""Players that know nothing but what the texts say: rules of thumb over `View.text` and the lines
of `View.choices`. What they need must be in the words. (Readers for the kitchen and volleyball have
tests of their own, in tests/baselines.)"""

import functools
import re

import pytest

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


def connect(view):
    """Completes four of its own, stops four of the other's, else stays near the middle."""
    own, other = re.search(r"play (\w).*plays (\w)", view.text).groups()
    rows = {
        int(number): squares.split()
        for number, squares in re.findall(r"^(\d) ((?:[.XO] ?)+)$", view.text, re.M)
    }
    stones = {(c, r): what for r, row in rows.items() for c, what in enumerate(row, 1)}
    # Where the stone would come to lie, as each choice says.
    falls = {
        str(choice.text): tuple(map(int, re.search(r"column (\d+): row (\d+)", choice).groups()))
        for choice in view.choices
    }

    def makes_four(square, stone):
        for step in ((1, 0), (0, 1), (1, 1), (1, -1)):
            count = 1
            for sign in (1, -1):
                c, r = square
                while stones.get((c := c + sign * step[0], r := r + sign * step[1])) == stone:
                    count += 1
            if count >= 4:
                return True
        return False

    def rank(text):
        square = falls[text]
        above = square[0], square[1] + 1
        gives = makes_four(above, other)
        mine, theirs = makes_four(square, own), makes_four(square, other)
        return not mine, not theirs, gives, abs(square[0] - 4), square

    return min(falls, key=rank)


def test_connect_four_is_won_by_who_reads():
    result = play("connect_four", [connect, "random"], EPISODES, rotate=True, on_illegal="raise")
    assert result.seat_rewards[:, 0].mean() > 0.8


# ---- the other negotiations ----------------------------------------------------------------------


def amounts(words):
    """`2 books and 1 hat` -> {"book": 2, "hat": 1}."""
    return {name.rstrip("s"): int(number) for number, name in re.findall(r"(\d+) ([a-z]+)", words)}


def numbers(words):
    """`book 5, hat 1` -> {"book": 5, "hat": 1}."""
    return {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", words)}


def first_words(view):
    return {re.split(r"[ :]", choice.text)[0] for choice in view.choices}


def sharer(view):
    """Asks for what is worth most to it, up to 6 points; ends the talk when the other's proposal
    leaves it 5, and takes then what that leaves."""
    worth = numbers(line(view.text, "Worth to you, each:"))
    table = amounts(line(view.text, "On the table:"))
    left = re.search(r"\(then you get (.*?), worth (\d+) to you\)", view.text)
    mine = re.search(r"Standing offer, by you: you take (.*?) \(", view.text)
    if "propose" not in first_words(view):  # the talk is over; in private
        return f"take {left[1] if left else mine[1] if mine else 'nothing'}"
    if left and int(left[2]) >= 5:
        return "ready"
    total, part = 0, {}
    for name in sorted(worth, key=worth.get, reverse=True):
        for _ in range(table[name]):
            if total < 6 and worth[name]:
                total, part[name] = total + worth[name], part.get(name, 0) + 1
    return f"propose to take {' and '.join(f'{count} {name}' for name, count in part.items())}"


def trader(view):
    """Sells what is worth little to it for what is worth much, as far as the rules say what goods
    are worth to the other; accepts what gains."""
    gains = re.search(r"^Standing offer.* and gain [1-9]\d*\)", view.text, re.M)
    if gains and "accept" in first_words(view):
        return "accept"
    own = numbers(line(view.text, "Worth to you, each:"))
    held = amounts(line(view.text, "You own:"))
    middle = {
        name: (int(low) + int(high)) / 2
        for name, low, high in re.findall(r"(\w+) (\d+) to (\d+)", view.rules)
    }
    found = []
    for give in own:
        for get in own:
            for m in range(1, 4):
                n = int(m * middle[get] / middle[give]) + 1
                gain = m * own[get] - n * own[give], n * middle[give] - m * middle[get]
                if give != get and n <= held.get(give, 0) and min(gain) > 0:
                    found.append((min(gain), f"offer {n} {give} for {m} {get}"))
    found.sort(reverse=True)
    turn = int(re.search(r"Turn (\d+)", view.text)[1])
    return found[turn // 2 % len(found)][1] if found else "pass"


def even(view):
    """Halves and equal shares; accepts no less than nearly that."""
    words = first_words(view)
    coins = amounts(line(view.text, "On the table:"))["coin"]
    names = [view.agent, *re.findall(r"player_\d", view.rules.split("The game lasts")[0])]
    names = sorted(set(names))
    if "accept" in words:
        (share,) = re.findall(r"(?:you get|for you:?|(\d+) for you)[^\d]*(\d*)", view.text)[:1]
        got = int(next(number for number in share if number))
        return "accept" if got >= coins // len(names) - 10 else "reject"
    if "offer" in words:
        return f"offer to take {coins // 2} coins"
    if "propose" in words:
        parts = [coins // len(names) // 10 * 10] * len(names)
        parts[names.index(view.agent)] += coins - sum(parts)
        return ", ".join(f"{part} for {name}" for name, part in zip(names, parts, strict=True))
    return "pass"


def fisher(view):
    """Takes its part of what grows again, and in the end of all."""
    if "catch" not in first_words(view):
        return "pass"
    tons = amounts(line(view.text, "In the lake:"))["ton"]
    crew = 1 + len(re.findall(r"^player_\d has caught", view.text, re.M))
    month, last = re.search(r"Month (\d+) of (\d+)", view.text).groups()
    return f"catch {min(int(tons / (1 if month == last else 2) / crew), 20)}"


def helper(view):
    """Gives half of what it owns to whoever has given."""
    receiver = re.search(r"Donor: you. Receiver: (player_\d)", view.text)
    if receiver is None or "give" not in first_words(view):
        return "pass"
    times, gave = re.search(
        rf"As a donor (\d+) times?, {receiver[1]} gave (\d+)", view.text
    ).groups()
    own = amounts(line(view.text, "You own:"))["coin"]
    return f"give {min(own // 2, 10)}" if times == "0" or gave != "0" else "pass"


@pytest.mark.parametrize(
    ("scenario", "reader", "agreement"),
    [
        ("deal_or_no_deal", sharer, 0.8),
        pytest.param("trade", trader, 0.6, marks=pytest.mark.slow),
        ("ultimatum", even, 1.0),
        ("divide", even, 1.0),
        pytest.param("commons", fisher, None, marks=pytest.mark.slow),
        pytest.param("donor", helper, None, marks=pytest.mark.slow),
    ],
)
def test_other_negotiations_are_read(scenario, reader, agreement):
    env = manyhands.make("negotiation", scenario=scenario)
    result = play(env, reader, EPISODES, on_illegal="raise")
    # Agreed, and to nobody's loss; where nothing is agreed, all gain by what they do.
    if agreement is not None:
        assert result.mean["agreement"] >= agreement
        assert result.rewards.min() >= 0
    assert result.rewards.mean() > 0
    if scenario == "commons":
        # Nothing is left after the twelfth month.
        assert result.mean["survival"] == 11 and result.mean["efficiency"] == pytest.approx(1)


# ---- CraftWorld ----------------------------------------------------------------------------------

MEADOW = """
............
.TT...S.....
............
....0...S...
.T..........
.......TT...
..W.........
............
"""
WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


def settler(view):
    """Wood, a table, a wood pickaxe, stone, a stone pickaxe; one thing after the other, each by the
    map of the text and what the choices say."""
    held = amounts(line(view.text, "You carry "))
    tools = line(view.text, "You carry ").split(". Within reach")[0]
    offered = [choice.text for choice in view.choices]
    table = "Within reach: a table" in view.text
    for made in ("make stone pickaxe", "make wood pickaxe"):
        if made.removeprefix("make ") not in tools and made in offered:
            return made
    pickaxe = "wood pickaxe" in tools
    wood = int((re.findall(r"(\d) wood\b(?! )", tools) or [0])[0])
    price = int(re.search(r"place table: costs (\d) wood", view.rules)[1])
    grid = re.findall(r"^[-.WTSBcz@_,pP]{9}$", view.text, re.M)
    known = "".join(grid)
    if not pickaxe and wood >= price + 2 and "B" not in known:
        place = [text for text in offered if text.startswith("place table")]
        return place[0] if place else walk_to(grid, ".")
    if "B" not in known or wood < 1:
        aim = "T"
    elif pickaxe and not held.get("stone"):
        aim = "S"
    else:
        aim = "B" if not table else "T"
    do = {"T": "1 wood", "S": "1 stone"}.get(aim)
    if do and any(choice.startswith("do: ") and do in choice for choice in view.choices):
        return "do"
    return walk_to(grid, aim)


def walk_to(grid, letter):
    """The first step to stand beside the nearest cell with a letter, or towards it."""
    start, before = (4, 3), {(4, 3): None}
    queue = [start]
    for at in queue:
        for way, (x, y) in WAYS.items():
            to = at[0] + x, at[1] + y
            if not (0 <= to[0] < 9 and 0 <= to[1] < 7) or to in before:
                continue
            before[to] = at, way
            if grid[to[1]][to[0]] == letter and not (letter == "." and at == start):
                while before[to][0] != start:
                    to = before[to][0]
                return f"move_{before[to][1]}"
            if grid[to[1]][to[0]] in ".,_":
                queue.append(to)
    return "move_right"  # nothing of use in view: walk in one direction


@pytest.mark.slow
def test_craftworld_is_played_by_who_reads():
    env = manyhands.make("craftworld", map=MEADOW, goal="make stone pickaxe", max_steps=150)
    result = play(env, settler, EPISODES, on_illegal="raise")
    assert result.mean["goal"] == 1
    assert result.mean["steps"] < 100
