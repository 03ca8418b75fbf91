"""The scenarios of the negotiation engine, as data.

A scenario says who owns what, what it is worth to whom, which offers there are, and in which order
players move; its form (`forms/`) says what an agreement does. Each function here builds one from
its options, checks that it can be played, and raises `ConfigError` where it cannot.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from manyhands.core.config import boolean, check_options, number, one_of, whole
from manyhands.core.env import ConfigError
from manyhands.envs.negotiation.forms import (
    Exchange,
    Gift,
    Harvest,
    Pool,
    Price,
    Scenario,
    Shares,
)
from manyhands.envs.negotiation.forms.base import COMMUNITY_PHRASES, GIFT_PHRASES, SALE_PHRASES
from manyhands.envs.negotiation.forms.pool import POINTS, is_deal, valuations
from manyhands.envs.negotiation.state import CHAT, MOST, OFFERS, ROUNDS

PLAYERS = (2, 6)
MOST_OFFERS = 1024  # that are enumerated as actions

# ---- Deal or No Deal -----------------------------------------------------------------------------

ITEMS = ("book", "hat", "ball")


@functools.cache
def deal_scenarios() -> np.ndarray:
    """i16[5295, 9]: counts of the three items, their values to player 0, and to player 1.

    All that meet the constraints of Lewis et al. ("Deal or No Deal? End-to-End Learning for
    Negotiation Dialogues", EMNLP 2017): 1 to 4 of each item and 5 to 7 in all; the pool is worth
    10 to each player; every item is worth something to somebody, and one is to both.
    """
    found = []
    for counts in itertools.product(range(1, 5), repeat=3):
        if 5 <= sum(counts) <= 7:
            for a, b in itertools.product(valuations(counts), repeat=2):
                if is_deal(counts, a, b):
                    found.append((*counts, *a, *b))
    return np.array(found, np.int16)


def deal_or_no_deal(
    protocol: str = CHAT,
    max_steps: int = 10,
    counts: Sequence[int] | None = None,
    values: Sequence[Sequence[int]] | None = None,
    discount: float = 1.0,
    break_off: float = 0.0,
) -> Scenario:
    """Two players divide books, hats and balls, which are worth different points to each.

    Args:
        protocol: `"chat"`: players talk, and propose without being bound, until one ends the talk;
            then both state in private what they take. If the two parts make up the pool exactly,
            each gets the points of its part, otherwise nobody gets any. `"offers"`: they take turns
            at offers, and an accepted one is the deal.
        max_steps: steps until it is too late; the private choice is one.
        counts, values: one pool, and its values to both players, instead of one of all 5,295.
        discount: with `"offers"`, a deal in turn t (from 1) is worth `discount ** (t - 2)` of its
            points: the first that is possible is worth all.
        break_off: with `"offers"`, the probability that talks end without a deal after each turn.
    """
    one_of("protocol", protocol, (CHAT, OFFERS))
    if protocol == CHAT and (discount != 1 or break_off != 0):
        raise ConfigError('discount and break_off are for protocol="offers"')
    if (counts is None) != (values is None):
        raise ConfigError("give both counts= and values=, or neither")
    if counts is None:
        table = deal_scenarios()
    else:
        pool = _numbers("counts", counts, (3,), 1, MOST)
        worth = _numbers("values", values, (2, 3), 0, POINTS)
        if int(pool.sum()) > 12 or not is_deal(pool.tolist(), *worth.tolist()):
            raise ConfigError(
                f"counts={pool.tolist()} and values={worth.tolist()} are no scenario: at most 12 "
                f"items, worth {POINTS} in all to each player; every item is worth something to "
                "somebody, and one is to both"
            )
        table = np.concatenate([pool, worth.ravel()])[None].astype(np.int16)
    pools = {tuple(row) for row in table[:, :3].tolist()}
    parts = {part for pool in pools for part in itertools.product(*(range(c + 1) for c in pool))}
    claims = [(good, number) for good in range(3) for number in range(POINTS + 1)]
    return Pool(
        name="deal_or_no_deal",
        flow=protocol,
        goods=ITEMS,
        offers=np.array(sorted(parts), np.int16),
        table=table,
        pool=table[:, :3].max(0),
        values=_ranges(2, 3, 0, POINTS),
        holdings=_ranges(2, 3, 0, 0),
        outside=np.zeros((2, 2), np.int16),
        claims=np.array(claims, np.int16),
        max_steps=whole("max_steps", max_steps, 2, 10_000),
        discount=_share("discount", discount, 1),
        break_off=_share("break_off", break_off, 0),
    )


# ---- trade ---------------------------------------------------------------------------------------

# TextArena 0.7.4 `SimpleNegotiation`: base values of the goods; private values are whole numbers
# within a fifth (rounded down) of them, kept within 5 and 40, and everybody starts with 5 to 25.
_TEXTARENA = {"wheat": 5, "wood": 10, "sheep": 15, "brick": 25, "ore": 40}


def _textarena() -> dict[str, Any]:
    values = [(max(v - v // 5, 5), min(v + v // 5, 40)) for v in _TEXTARENA.values()]
    return {"goods": tuple(_TEXTARENA), "holdings": [[(5, 25)] * 5] * 2, "values": [values] * 2}


def _spiral() -> dict[str, Any]:
    # SPIRAL (arXiv 2506.24119) `SimpleNegotiation`: mirrored values, so 200 can be gained.
    return {
        "goods": ("wood", "gold"),
        "holdings": [[10, 10], [10, 10]],
        "values": [[5, 15], [15, 5]],
    }


TRADES: dict[str, Callable[[], dict[str, Any]]] = {"textarena": _textarena, "spiral": _spiral}


def trade(
    preset: str = "textarena",
    max_steps: int = 10,
    goods: Sequence[str] | None = None,
    holdings: Any = None,
    values: Any = None,
) -> Scenario:
    """Two players own goods that are worth different amounts to each, and exchange bundles.

    Args:
        preset: `"textarena"`, five goods with drawn holdings and values, or `"spiral"`, two goods,
            10 of each, worth 5 and 15 to one player and 15 and 5 to the other.
        max_steps: turns of both players together (TextArena: 6 short, 10, 30 long).
        goods: names, instead of the preset's; then `holdings` and `values` are needed too.
        holdings, values: for each of the two players and each good a number, or (lowest, highest)
            of what is drawn.
    """
    one_of("preset", preset, tuple(TRADES))
    given = TRADES[preset]()
    if goods is not None:
        if holdings is None or values is None:
            raise ConfigError("goods= needs holdings= and values= as well")
        given["goods"] = _names(goods)
    count = len(given["goods"])
    owned = _spans("holdings", given["holdings"] if holdings is None else holdings, 2, count)
    worth = _spans("values", given["values"] if values is None else values, 2, count)
    if int(owned[..., 1].sum(0).max()) > 100:
        raise ConfigError("at most 100 units of one good can be in the game")
    if not worth[..., 1].any() or not owned[..., 1].any():
        raise ConfigError("somebody must own something that is worth something to somebody")
    claims = [
        (good, number)
        for good in range(count)
        for number in range(int(worth[:, good, 0].min()), int(worth[:, good, 1].max()) + 1)
    ]
    if len(claims) > 250:
        raise ConfigError("the values of all goods together may differ by at most 250 numbers")
    return Exchange(
        name="trade",
        flow=OFFERS,
        goods=given["goods"],
        offers=np.zeros((0, 2 * count), np.int16),
        pool=np.zeros(count, np.int16),
        values=worth,
        holdings=owned,
        outside=np.zeros((2, 2), np.int16),
        claims=np.array(claims, np.int16),
        max_steps=whole("max_steps", max_steps, 2, 10_000),
        public=bool((owned[..., 0] == owned[..., 1]).all()),
    )


# ---- buying and selling --------------------------------------------------------------------------


def buy_sell(
    cost: Any = (10, 40),
    value: Any = (20, 50),
    prices: Sequence[int] = (0, 60),
    max_steps: int = 10,
    discount: float = 1.0,
    break_off: float = 0.0,
) -> Scenario:
    """A seller (player 0) and a buyer (player 1) agree on the price of one item, or on none.

    The seller gains the price less its cost, the buyer its value less the price; where the cost is
    above the value, no deal is best. (NegotiationArena's game: cost 40, value 60.)

    Args:
        cost, value: a number, or (lowest, highest) of what is drawn; each known to one player only.
        prices: the lowest and the highest price that can be named.
        max_steps, discount, break_off: as in `deal_or_no_deal(protocol="offers")`.
    """
    worth = np.stack([_span("cost", cost), _span("value", value)])[:, None]
    low, high = _numbers("prices", prices, (2,), 0, MOST).tolist()
    if not low < high or high - low >= 250:
        raise ConfigError(f"prices is a lowest and a highest, at most 249 apart, given {prices!r}")
    if int(worth[0, 0, 0]) > high or int(worth[1, 0, 1]) < low:
        raise ConfigError(
            f"no price from {low} to {high} covers a cost of {cost!r} or is within a value of "
            f"{value!r}; widen prices="
        )
    first, last = int(worth[..., 0].min()), int(worth[..., 1].max())
    step = 5 if last - first > 10 else 1
    claims = [(0, number) for number in range(first, last + 1, step)]
    return Price(
        name="buy_sell",
        flow=OFFERS,
        goods=("item",),
        offers=np.arange(low, high + 1, dtype=np.int16)[:, None],
        pool=np.ones(1, np.int16),
        values=worth,
        holdings=_ranges(2, 1, 0, 0),
        outside=np.zeros((2, 2), np.int16),
        claims=np.array(claims, np.int16),
        slack=step / 2 if step > 1 else 0,
        max_steps=whole("max_steps", max_steps, 2, 10_000),
        roles=("the seller", "the buyer"),
        phrases=SALE_PHRASES,
        discount=_share("discount", discount, 1),
        break_off=_share("break_off", break_off, 0),
    )


# ---- splitting a sum -----------------------------------------------------------------------------


def ultimatum(
    amount: int = 10,
    rounds: int = 1,
    outside: Any = 0,
    discussion: int = 1,
    discount: float = 1.0,
    max_steps: int | None = None,
) -> Scenario:
    """One player proposes how to split a sum, the other takes it or leaves it.

    Args:
        amount: the sum, in coins.
        rounds: after a refusal the other proposes, until all rounds are played; player 0 proposes
            in the first. After the last, nobody gets anything from the sum.
        outside: what having no deal is worth: a number, or (lowest, highest) of what is drawn for
            each player, which only that player knows.
        discussion: how often each player may speak before each proposal.
        discount: a deal in round r (from 1) is worth `discount ** (r - 1)` of its coins.
        max_steps: a limit on the steps of all rounds together.
    """
    amount = whole("amount", amount, 1, 249)
    rounds = whole("rounds", rounds, 1, 100)
    discussion = whole("discussion", discussion, 0, 10)
    span, claims = _outside(outside, 2, amount)
    return Pool(
        name="ultimatum",
        flow=ROUNDS,
        goods=("coin",),
        offers=np.arange(amount + 1, dtype=np.int16)[:, None],
        pool=np.array([amount], np.int16),
        values=_ranges(2, 1, 1, 1),
        holdings=_ranges(2, 1, 0, 0),
        outside=span,
        claims=claims,
        about="outside",
        max_steps=_length(max_steps, rounds * (2 * discussion + 2)),
        rounds=rounds,
        discussion=discussion,
        discount=_share("discount", discount, 1),
    )


def divide(
    players: int = 3,
    amount: int = 100,
    parts: int | None = None,
    vote: str = "majority",
    rounds: int | None = None,
    outside: Any = 0,
    discussion: int = 1,
    discount: float = 1.0,
    max_steps: int | None = None,
) -> Scenario:
    """Players split a sum: one proposes, the others vote at the same time, in turns.

    Args:
        players: 2 to 6.
        amount: the sum, in coins.
        parts: how many equal parts it is split into at most: shares are multiples of one; by
            default 10, with 5 or 6 players the largest number of parts whose splits are few enough.
        vote: `"majority"` (more than half of all, the proposer's yes counted) or `"unanimity"`.
        rounds: how many proposals there are, one a player in turn; by default one for each player.
        outside, discussion, discount, max_steps: as in `ultimatum`.
    """
    players = _players(players)
    amount = whole("amount", amount, 1, MOST)
    one_of("vote", vote, ("majority", "unanimity"))
    if parts is None:
        allowed = [p for p in range(1, 11) if amount % p == 0 and _splits(p, players) <= 500]
        parts = allowed[-1]
    parts = whole("parts", parts, 1, amount)
    if amount % parts:
        raise ConfigError(f"amount={amount} cannot be split into {parts} equal parts")
    if _splits(parts, players) > MOST_OFFERS:
        raise ConfigError(
            f"{parts} parts can be split among {players} players in {_splits(parts, players)} "
            f"ways; at most {MOST_OFFERS} are offered, take fewer parts"
        )
    cuts = itertools.combinations(range(parts + players - 1), players - 1)
    shares = np.diff([(-1, *cut, parts + players - 1) for cut in cuts], axis=1) - 1
    rounds = whole("rounds", players if rounds is None else rounds, 1, 100)
    discussion = whole("discussion", discussion, 0, 10)
    span, claims = _outside(outside, players, amount)
    return Shares(
        name="divide",
        flow=ROUNDS,
        goods=("coin",),
        offers=(shares * (amount // parts)).astype(np.int16),
        pool=np.array([amount], np.int16),
        values=_ranges(players, 1, 1, 1),
        holdings=_ranges(players, 1, 0, 0),
        outside=span,
        claims=claims,
        about="outside",
        max_steps=_length(max_steps, rounds * (players * discussion + 2)),
        rounds=rounds,
        discussion=discussion,
        unanimous=vote == "unanimity",
        discount=_share("discount", discount, 1),
    )


def _splits(parts: int, players: int) -> int:
    """In how many ways `parts` can be split among `players`."""
    return math.comb(parts + players - 1, players - 1)


# ---- living together -----------------------------------------------------------------------------


def commons(
    players: int = 5,
    months: int = 12,
    capacity: int = 100,
    growth: float = 2.0,
    collapse: int = 5,
    max_harvest: int | None = None,
    discussion: int = 1,
    values: Any = 1,
    max_steps: int | None = None,
) -> Scenario:
    """A lake that all fish in: what is left after a month multiplies, up to what the lake holds.

    The fishery of GovSim (Piatti et al., "Cooperate or Collapse", NeurIPS 2024): 100 tons of fish
    at first, which double each month; below 5 after a harvest the lake is empty for ever.

    Args:
        players: 2 to 6.
        months: how many harvests there are at most, each after a discussion.
        capacity: tons that the lake holds, at first and at most.
        growth: what the rest is multiplied with after each month (rounded down).
        collapse: if fewer tons than this are left after a harvest, all is over.
        max_harvest: tons that one player can catch in a month; by default an equal share of the
            full lake. If all together want more than there is, each gets the same share of its
            wish, rounded down.
        discussion: how often each player speaks before each harvest.
        values: what a ton is worth: a number, or (lowest, highest) of what is drawn for each
            player, which only that player knows.
        max_steps: a limit on the steps of all months together.
    """
    players = _players(players)
    months = whole("months", months, 1, 1000)
    capacity = whole("capacity", capacity, 1, MOST)
    most = capacity // players if max_harvest is None else max_harvest
    most = whole("max_harvest", most, 1, min(capacity, 249))
    if months * most > 30_000:
        raise ConfigError(f"{months} catches of {most} tons are too much: at most 30000 in all")
    collapse = whole("collapse", collapse, 0, capacity)
    discussion = whole("discussion", discussion, 0, 10)
    step = max(1, most // 10)
    pledges = [(0, number) for number in range(0, most + 1, step)]
    return Harvest(
        name="commons",
        flow=ROUNDS,
        goods=("ton",),
        offers=np.arange(1, most + 1, dtype=np.int16)[:, None],
        pool=np.array([capacity], np.int16),
        values=np.repeat(_span("values", values)[None, None], players, 0),
        holdings=_ranges(players, 1, 0, 0),
        outside=np.zeros((players, 2), np.int16),
        claims=np.array(pledges, np.int16),
        about="pledge",
        max_steps=_length(max_steps, months * (players * discussion + 1)),
        rounds=months,
        discussion=discussion,
        phrases=COMMUNITY_PHRASES,
        public=True,
        growth=number("growth", growth, 1, 10),
        capacity=capacity,
        collapse=collapse,
    )


def donor(
    players: int = 4,
    rounds: int = 8,
    wealth: int = 10,
    max_gift: int = 10,
    multiplier: int = 2,
    punishment: bool = False,
    discussion: int = 1,
    values: Any = 1,
    max_steps: int | None = None,
) -> Scenario:
    """The donor game: each round one player may give to another, who gets a multiple of it.

    Players are donors in turn; who receives is drawn. Everybody knows everybody's wealth, and what
    they gave (and punished) so far. After Vallinder and Hughes, "Cultural Evolution of Cooperation
    among LLM Agents" (2024), where donors give a share of what they own, doubled on the way.

    Args:
        players: 2 to 6.
        rounds: how many gifts can be made.
        wealth: coins that everybody starts with.
        max_gift: coins that a donor can give (or spend on punishing) at most.
        multiplier: how many coins arrive for each one given.
        punishment: whether a donor may instead spend coins to take twice as many from the receiver.
        discussion: how often each player speaks before each gift.
        values: what a coin is worth, as in `commons`.
        max_steps: a limit on the steps of all rounds together.
    """
    players = _players(players)
    rounds = whole("rounds", rounds, 1, 1000)
    wealth = whole("wealth", wealth, 0, MOST)
    most = whole("max_gift", max_gift, 1, 100)
    multiplier = whole("multiplier", multiplier, 1, 10)
    punishment = boolean("punishment", punishment)
    discussion = whole("discussion", discussion, 0, 10)
    if wealth + rounds * most * multiplier > 30_000:
        raise ConfigError("too many coins: take fewer rounds, or smaller gifts")
    amounts = np.arange(1, most + 1)
    offers = np.stack([amounts, 0 * amounts, 0 * amounts], 1)  # given, spent on punishing, to whom
    if punishment:
        offers = np.concatenate([offers, offers[:, [1, 0, 2]]])
    return Gift(
        name="donor",
        flow=ROUNDS,
        goods=("coin",),
        offers=offers.astype(np.int16),
        pool=np.zeros(1, np.int16),
        values=np.repeat(_span("values", values)[None, None], players, 0),
        holdings=_ranges(players, 1, wealth, wealth),
        outside=np.zeros((players, 2), np.int16),
        max_steps=_length(max_steps, rounds * (players * discussion + 1)),
        rounds=rounds,
        discussion=discussion,
        phrases=GIFT_PHRASES,
        public=True,
        max_gift=most,
        multiplier=multiplier,
        punishment=punishment,
    )


SCENARIOS: dict[str, Callable[..., Scenario]] = {
    "deal_or_no_deal": deal_or_no_deal,
    "trade": trade,
    "buy_sell": buy_sell,
    "ultimatum": ultimatum,
    "divide": divide,
    "commons": commons,
    "donor": donor,
}


def register_scenario(name: str, builder: Callable[..., Scenario]) -> None:
    """Make `Negotiation(scenario=name, **options)` play what `builder(**options)` gives."""
    SCENARIOS[name] = builder


def build(name: Any, options: Mapping[str, Any]) -> Scenario:
    """The scenario `name` with these options."""
    one_of("scenario", name, tuple(SCENARIOS))
    check_options(SCENARIOS[name], options, f"the scenario {name!r}")
    return SCENARIOS[name](**options)


# ---- checks --------------------------------------------------------------------------------------


def _share(name: str, value: Any, default: float) -> float:
    """A number from 0 to 1, of which 0 is allowed only where it is the default."""
    share = number(name, value, 0, 1)
    if default and not share:
        raise ConfigError(f"{name} is a number above 0, up to 1, given {value!r}")
    return share


def _players(value: Any) -> int:
    return whole("players", value, *PLAYERS)


def _length(given: Any, all_rounds: int) -> int:
    """The number of steps: of all rounds, or fewer."""
    if all_rounds > 30_000:
        raise ConfigError(f"all rounds together take {all_rounds} steps; at most 30000 are played")
    if given is None:
        return all_rounds
    return min(whole("max_steps", given, 1, 30_000), all_rounds)


def _numbers(name: str, value: Any, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Whole numbers in a shape."""
    try:
        array = np.array(value)
    except ValueError:
        array = np.array(None)
    fits = array.shape == shape and array.dtype.kind in "iu"
    if not fits or array.min() < low or array.max() > high:
        size = " x ".join(map(str, shape))
        raise ConfigError(f"{name} is {size} whole numbers from {low} to {high}, given {value!r}")
    return array.astype(np.int16)


def _span(name: str, value: Any) -> np.ndarray:
    """i16[2], lowest and highest, of a number or a pair."""
    pair = (value, value) if isinstance(value, (int, np.integer)) else value
    found = _numbers(name, pair, (2,), 0, MOST)
    if found[0] > found[1]:
        raise ConfigError(f"{name} is (lowest, highest), given {value!r}")
    return found


def _spans(name: str, rows: Any, players: int, goods: int) -> np.ndarray:
    """i16[players, goods, 2] of a number or a pair for each player and good."""
    try:
        shape_fits = len(rows) == players and all(len(row) == goods for row in rows)
    except TypeError:
        shape_fits = False
    if not shape_fits:
        raise ConfigError(
            f"{name} has {players} rows, one a player, of {goods} entries, one a good; "
            f"given {rows!r}"
        )
    return np.array([[_span(name, entry) for entry in row] for row in rows], np.int16)


def _ranges(players: int, goods: int, low: int, high: int) -> np.ndarray:
    return np.broadcast_to(np.array([low, high], np.int16), (players, goods, 2))


def _outside(value: Any, players: int, amount: int) -> tuple[np.ndarray, np.ndarray]:
    """What having no deal is worth (i16[players, 2]), and what can be claimed about it."""
    span = _span("outside", value)
    if int(span[0]) * players > amount:
        raise ConfigError(
            f"outside={value!r}: then no split of {amount} among {players} players is worth it"
        )
    claims = [(0, v) for v in range(int(span[0]), int(span[1]) + 1)] if span[0] < span[1] else []
    if len(claims) > 100:
        raise ConfigError("the highest and the lowest outside= differ by at most 99")
    return np.repeat(span[None], players, 0), np.array(claims, np.int16).reshape(-1, 2)


def _names(goods: Any) -> tuple[str, ...]:
    names = tuple(goods)
    plain = all(isinstance(g, str) and g.isascii() and g.isalpha() and g.islower() for g in names)
    if not plain or not 1 <= len(names) <= 6 or len(set(names)) < len(names):
        raise ConfigError(f"goods are 1 to 6 different words in small letters, given {goods!r}")
    return names
