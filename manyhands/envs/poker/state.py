"""The state of limit poker, and its fixed configuration.

Every function of the rules (`rules.py`) and of the observations (`observe.py`) takes a
`PokerConfig` and a `PokerState`, with any number of trailing batch axes (none, or one). Cards are
numbered `rank * suits + suit`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manyhands.core.axes import indices
from manyhands.core.env import Array, state_dataclass

# Actions. Where a bet cannot be raised nobody can both call and raise: the two share number 1.
PASS, CALL, RAISE = 0, 1, 2

RANKS = ("3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
SUITS = ("spades", "hearts")
ANTE = 1
MAX_HANDS = 1000


@state_dataclass
class LastHand:
    """The hand before this one, in a match; all zeros during the first.

    Attributes:
        cards: u8[N], the seats' cards.
        shown: bool[N], whose card everybody saw: those still in at a showdown.
        board: u8[boards], public cards; the size of the deck where none was turned up.
        line: u8[slots], bets: u8[N]: as in `PokerState`.
        won: i8[N], chips won, net of what was paid in.
    """

    cards: Array
    shown: Array
    board: Array
    line: Array
    bets: Array
    won: Array


@state_dataclass
class PokerState:
    """A hand, and how the match stands. Cards are numbered `rank * suits + suit`.

    Attributes:
        cards: u8[N], the card of each seat.
        board: u8[boards], the public cards, dealt but face down until their round.
        bets: u8[N], chips each seat has put into this pot, ante included.
        folded: bool[N].
        line: u8[slots], 1 + action for each decision of the hand, 0 where there was none (yet);
            the slots of a round lie together.
        turn: u8[], the seat to move; N when the match is over.
        round: u8[], from 0.
        count: u8[], decisions taken in this round.
        raises: u8[], bets and raises in this round.
        waiting: u8[], seats that have yet to act before the round ends.
        hand: u16[], the number of this hand, from 0.
        time: u16[], steps played; None where `max_steps` is not given, which changes nothing then.
        chips: i16[N], won and lost so far; this hand counts when it ends.
        last: the hand before; None where the episode is one hand.
        deals: u8[deals, N + boards], duplicate matches: cards by position, as first dealt; else
            None.
    """

    cards: Array
    board: Array
    bets: Array
    folded: Array
    line: Array
    turn: Array
    round: Array
    count: Array
    raises: Array
    waiting: Array
    hand: Array
    time: Array | None
    chips: Array
    last: LastHand | None
    deals: Array | None


class PokerConfig:
    """What the rules and observations read of a game, fixed while it is played; `Poker` (`env.py`)
    is one.

    Attributes:
        players: number of seats.
        ranks: names of the ranks, from the lowest.
        suits: number of suits.
        sizes: chips of a bet in each round.
        cap: the most bets and raises in a round.
        hands, duplicate, max_steps: as in `Poker`.
        num_deals: different deals in a match; a duplicate match plays each once from each seat.
        counts_time: whether the state has a clock, `PokerState.time`.
    """

    players: int
    ranks: tuple[str, ...]
    suits: int
    sizes: tuple[int, ...]
    cap: int
    hands: int
    duplicate: bool
    num_deals: int
    max_steps: int
    counts_time: bool

    @property
    def num_cards(self) -> int:
        return len(self.ranks) * self.suits

    @property
    def rounds(self) -> int:
        return len(self.sizes)

    @property
    def boards(self) -> int:
        """Public cards: one is turned up before each round but the first."""
        return self.rounds - 1

    @property
    def round_slots(self) -> int:
        """The most decisions in a round: each raise asks everybody else again."""
        return self.players + self.cap * (self.players - 1)

    @property
    def slots(self) -> int:
        """The most decisions in a hand."""
        return self.rounds * self.round_slots

    @property
    def raise_action(self) -> int:
        return RAISE if self.cap > 1 else CALL

    @property
    def num_actions(self) -> int:
        return self.raise_action + 1

    @property
    def most(self) -> int:
        """The most chips that one seat can put into a pot."""
        return ANTE + self.cap * sum(self.sizes)

    def opener(self, hand: Any) -> Any:
        """The seat that opens a hand, of that number from 0."""
        if self.duplicate:
            hand = hand % self.num_deals + hand // self.num_deals
        return hand % self.players

    def short(self, card: int) -> str:
        """`"Q"`, or with suits `"Qs"`."""
        rank, suit = divmod(card, self.suits)
        return self.ranks[rank] + (SUITS[suit][0] if self.suits > 1 else "")

    def card_name(self, card: int) -> str:
        """`"Q"`, or with suits `"Q of hearts"`."""
        rank, suit = divmod(card, self.suits)
        return self.ranks[rank] + (f" of {SUITS[suit]}" if self.suits > 1 else "")


def numbers(count: int, like: Array) -> np.ndarray:
    """[count, 1, ...]: 0, 1, 2, ... to compare an array with, of its dtype."""
    return indices(count, like.ndim + 1, dtype=like.dtype)
