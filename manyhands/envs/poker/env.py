"""Limit poker with one hole card a player: Kuhn poker and Leduc hold'em.

Kuhn poker is due to Kuhn ("A Simplified Two-Person Poker", Contributions to the Theory of Games I,
1950); with more players it is the game of Szafron, Gibson and Sturtevant ("A Parameterized Family
of Equilibrium Profiles for Three-Player Kuhn Poker", AAMAS 2013). Leduc hold'em is due to Southey
et al. ("Bayes' Bluff: Opponent Modelling in Poker", UAI 2005). Both are one game with other
numbers: how many cards, how many rounds, what a bet is and how often it may be raised. `Poker` has
the rules; the two classes below it say the numbers.

A hand: everybody antes a chip and is dealt a card. Seats act in turn, from the one that opens the
hand. Without a bet to answer a seat checks or bets; with one it folds, calls or, while the round
has raises left, raises. A round ends when all who are still in have answered the last bet. Before
each further round a public card is turned up. When one seat is left it takes the pot; after the
last round the best hand does (a pair with the public card, else the higher rank), and equal hands
share it. The whole deal, public card included, is drawn when the hand begins and lies in the state:
between deals a step is deterministic, so that a game tree is walked by `deals`, `with_deal` and
`step` alone.

Everything here is written for a state with any number of trailing batch axes (none, or one).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, Env, Outcome, check_weights, state_dataclass
from manyhands.envs.poker import text as words

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


class Poker(Env[PokerState]):
    """What Kuhn poker and Leduc hold'em share.

    Args:
        hands: hands in an episode, by default one. Seats take turns to open (the first hand is
            opened by `player_0`), and chips run on; whoever loses goes below zero.
        duplicate: play every deal once from each seat. The N seats play `hands / N` deals (by
            default one), and then the same deals again, each seat with the position and the card
            that the seat before it had, until everyone has played every side of every deal. What
            the cards gave to each is then equal. A seat that remembers the first hands could know
            the cards of the later ones: compare players that do not. What `observe` shows, this
            hand and the one before, gives nothing away from two deals on.
        max_steps: steps after which an episode is truncated, an unfinished hand without
            settlement; by default more than the longest match has.
        reward_weights: weights of the terms; by default `chips` counts 1 and `win` 0.

    An illegal action is played as 0 (check, or fold facing a bet) and counted in
    `metrics["illegal"]`. Actions of seats that are not to move are not looked at.

    Terms: `chips` (net chips, when a hand ends) and `win` (when the match ends: +1 for the seat
    with most chips and -1 / (N - 1) for the others; m seats that lead together get
    (N / m - 1) / (N - 1) each, so that all of one match sum to 0). Metrics, per step: `hands`
    that ended, `showdowns` among them, `pot` (chips in pots won), `bets` (bets and raises),
    `folds`, `illegal`.

    **Observation**, i16[size] per seat: an information state, with perfect recall of the hand.
    Seats are counted from the observer: 0 yourself, 1 the seat that acts after you, and so on.
    With N seats, C cards in the deck, B public cards, S slots and A actions:

    | Length | What |
    |---|---|
    | N C | cards: one-hot for each seat; others' only when shown, at the end |
    | B C | public cards turned up, one-hot |
    | S A | the betting line: for each slot the action, one-hot; the first S / (B + 1) slots are \
those of the first round |
    | N | chips in the pot from each seat |
    | N | your position: 0 opened the hand |
    | N | whose turn it is; zeros when the match is over |

    and in a match of several hands also

    | Length | What |
    |---|---|
    | N | chips of each seat |
    | 1 | the number of this hand, from 1 |
    | N C + B C + S A + N | the hand before, as above: your card, and those that were shown |
    | N | chips won in it by each seat |
    """

    package = "manyhands.envs.poker"
    terms = ("chips", "win")
    noop = PASS
    batched = True

    title: str  # the name of the game in words
    suits: int
    sizes: tuple[int, ...]  # chips of a bet in each round
    cap: int  # bets and raises in a round

    def __init__(
        self,
        players: int,
        ranks: Sequence[str],
        hands: int | None,
        duplicate: bool,
        max_steps: int | None,
        reward_weights: Mapping[str, float] | None,
    ):
        n = players
        least = n if duplicate else 1
        hands = least if hands is None else hands
        if not _whole(hands, 1, MAX_HANDS):
            raise ConfigError(f"hands is a whole number from 1 to {MAX_HANDS}, given {hands!r}")
        if not isinstance(duplicate, bool):
            raise ConfigError(f"duplicate is True or False, given {duplicate!r}")
        if hands % least:
            raise ConfigError(
                f"with duplicate=True every deal is played {n} times: hands is a multiple of {n}, "
                f"given {hands}"
            )
        self._config: dict[str, Any] = {"hands": hands, "duplicate": duplicate}
        self.agents = tuple(f"player_{i}" for i in range(n))
        self.ranks, self.hands, self.duplicate = tuple(ranks), hands, duplicate
        self.num_deals = hands // least
        self.num_cards = len(self.ranks) * self.suits
        self.rounds = len(self.sizes)
        self.boards = self.rounds - 1
        # Each raise asks everybody else again.
        self.round_slots = n + self.cap * (n - 1)
        self.slots = self.rounds * self.round_slots
        if max_steps is not None:
            if not _whole(max_steps, 1, 60_000):
                raise ConfigError(
                    f"max_steps is a whole number from 1 to 60000, given {max_steps!r}"
                )
            self._config["max_steps"] = max_steps
        self.max_steps = max_steps or hands * self.slots
        self.reward_weights = check_weights(reward_weights, {"chips": 1.0, "win": 0.0})
        if reward_weights:
            self._config["reward_weights"] = dict(self.reward_weights)
        self.raise_action = RAISE if self.cap > 1 else CALL
        self.action_space = gymnasium.spaces.Discrete(self.raise_action + 1)
        # The most that one seat can put into a pot.
        self.most = ANTE + self.cap * sum(self.sizes)
        self.observation_space = self._observation_space()

    def _observation_space(self) -> gymnasium.Space:
        n, bits = self.num_agents, np.ones
        hand_bits = (n + self.boards) * self.num_cards + self.slots * self.num_actions
        hand = [bits(hand_bits), np.full(n, self.most)]
        high = [*hand, bits(2 * n)]
        low = [np.zeros(hand_bits + 3 * n)]
        if self.hands > 1:
            won = self.most * (n - 1)
            high += [np.full(n, won * self.hands), np.full(1, self.hands), *hand, np.full(n, won)]
            low += [np.full(n, -self.most * self.hands), np.ones(1), np.zeros(hand_bits + n)]
            low += [np.full(n, -self.most)]
        return gymnasium.spaces.Box(
            np.concatenate(low).astype(np.int16), np.concatenate(high).astype(np.int16), None,
            np.int16,
        )  # fmt: skip

    @property
    def num_actions(self) -> int:
        return self.raise_action + 1

    # ---- the rules ----------------------------------------------------------------------------

    def deal(self, key: Array) -> Array:
        """u8[N + boards]: the cards by position in the hand, then the public cards; each ordered
        choice of different cards is as likely as another."""
        # Card i is the n-th of those that are left: one random number serves as many cards as keep
        # the choice even to one part in 2 ** 16.
        drawn, ways = self.num_agents + self.boards, 2**16
        groups: list[list[int]] = []
        for left in range(self.num_cards, self.num_cards - drawn, -1):
            if ways * left > 2**16:
                groups.append([])
                ways = 1
            groups[-1].append(left)
            ways *= left
        bits = jax.random.bits(key, (len(groups),), jnp.uint32)
        cards = []
        for number, group in zip(bits, groups, strict=True):
            for left in group:
                cards.append(number % np.uint32(left))
                number = number // np.uint32(left)
        for i in reversed(range(drawn)):
            for j in range(i + 1, drawn):
                cards[j] += cards[j] >= cards[i]
        return jnp.stack(cards).astype(jnp.uint8)

    def reset(self, key: Array) -> PokerState:
        n = self.num_agents
        deal = self.deal(key)
        zero = jnp.uint8(0)
        nobody = jnp.zeros(n, bool)
        chips = jnp.zeros(n, jnp.int16)
        line = jnp.zeros(self.slots, jnp.uint8)
        nothing = jnp.zeros(n, jnp.uint8)
        last = deals = None
        if self.hands > 1:
            board = jnp.zeros(self.boards, jnp.uint8)
            last = LastHand(nothing, nobody, board, line, nothing, jnp.zeros(n, jnp.int8))
        if self.duplicate:
            later = jnp.zeros((self.num_deals - 1, *deal.shape), jnp.uint8)
            deals = jnp.concatenate([deal[None], later])
        return PokerState(
            cards=deal[:n],
            board=deal[n:],
            bets=jnp.full(n, ANTE, jnp.uint8),
            folded=nobody,
            line=line,
            turn=zero,
            round=zero,
            count=zero,
            raises=zero,
            waiting=jnp.uint8(n),
            hand=jnp.uint16(0),
            time=jnp.uint16(0) if "max_steps" in self._config else None,
            chips=chips,
            last=last,
            deals=deals,
        )

    def step(self, key: Array, state: PokerState, actions: Array) -> tuple[PokerState, Outcome]:
        n = self.num_agents
        mover = self.acting(state)
        going = state.turn < n
        asked = jnp.sum(jnp.where(mover, actions, PASS), axis=0)
        facing = state.raises > 0
        raises = going & (asked == self.raise_action) & (state.raises < self.cap)
        calls = going & (asked == CALL) & facing
        folds = going & facing & ~calls & ~raises
        illegal = going & (asked != PASS) & ~calls & ~raises
        taken = jnp.where(raises, self.raise_action, jnp.where(calls, CALL, PASS))

        # Chips, and who is still in.
        top = jnp.max(state.bets, axis=0)
        size = jnp.where(raises, self._of_round(state.round), 0)
        level = jnp.where(calls | raises, top + size, 0).astype(jnp.uint8)
        bets = jnp.where(mover, jnp.maximum(state.bets, level), state.bets)
        folded = state.folded | (mover & folds)
        live = n - jnp.sum(folded, axis=0, dtype=jnp.uint8)
        slot = state.round * np.uint8(self.round_slots) + state.count
        here = going & (_numbers(self.slots, slot) == slot)
        line = jnp.where(here, (taken + 1).astype(jnp.uint8), state.line)

        # Whose turn it is; whether the round and the hand are over.
        waiting = jnp.where(raises, live, state.waiting) - jnp.uint8(1)
        alone = live == 1
        closed = going & ((waiting == 0) | alone)
        final = closed & (alone | (state.round == self.rounds - 1))
        opens = closed & ~final
        first = self._first(state.hand)
        turn = self._next(folded, jnp.where(opens, first + (n - 1), state.turn))
        one = jnp.uint8(1)

        # The pot. All who have not folded have paid the same; seats tie in twos at most, with equal
        # stakes, so that the shares are whole.
        pot = jnp.sum(bets, axis=0, dtype=jnp.int16)
        strength = jnp.where(folded, 0, 1 + self._strength(state)).astype(jnp.uint8)
        wins = strength == jnp.max(strength, axis=0)
        share = pot // jnp.sum(wins, axis=0, dtype=jnp.int16)
        won = jnp.where(final, jnp.where(wins, share, 0) - bets, 0).astype(jnp.int16)
        chips = state.chips + won
        over = final & (state.hand == self.hands - 1)
        time, late = state.time, jnp.zeros_like(going)
        if time is not None:
            time = time + going.astype(jnp.uint16)
            late = time >= self.max_steps
        after = PokerState(
            cards=state.cards,
            board=state.board,
            bets=bets,
            folded=folded,
            line=line,
            turn=jnp.where(over | ~going, n, turn).astype(jnp.uint8),
            round=state.round + opens,
            count=jnp.where(opens, 0, state.count + one).astype(jnp.uint8),
            raises=jnp.where(opens, 0, state.raises + raises).astype(jnp.uint8),
            waiting=jnp.where(opens, live, waiting).astype(jnp.uint8),
            hand=state.hand,
            time=time,
            chips=chips,
            last=state.last,
            deals=state.deals,
        )
        if self.hands > 1:
            again = final & ~over
            following = self._next_hand(key, after, final & ~alone, won)
            after = jax.tree_util.tree_map(
                lambda new, old: jnp.where(again, new, old), following, after
            )
        ended = jnp.broadcast_to(over | ~going, mover.shape)
        cut = jnp.broadcast_to(late & ~over & going, mover.shape)
        numbers = {
            "hands": final,
            "showdowns": final & ~alone,
            "pot": jnp.where(final, pot, 0),
            "bets": raises,
            "folds": folds,
            "illegal": illegal,
        }
        return after, self.outcome(
            {"chips": won.astype(jnp.float32), "win": self._victory(chips, over)},
            ended,
            cut,
            {name: jnp.asarray(value, jnp.float32) for name, value in numbers.items()},
        )

    def _next_hand(self, key: Array, state: PokerState, showdown: Array, won: Array) -> PokerState:
        """The first moment of the hand after a finished one, the seats moved on by one."""
        n = self.num_agents
        hand = state.hand + jnp.uint16(1)
        drawn = self.deal(key) if state.hand.ndim == 0 else jax.vmap(self.deal, 0, -1)(key)
        deals = state.deals
        if deals is not None:
            which = (hand % np.uint16(self.num_deals))[None]
            chosen = _numbers(self.num_deals, hand) == which
            fresh = hand < self.num_deals
            deals = jnp.where((chosen & fresh)[:, None], drawn[None], deals)
            drawn = jnp.sum(jnp.where(chosen[:, None], deals, 0), axis=0, dtype=jnp.uint8)
        first = self._first(hand)
        cards = []
        for seat in range(n):
            position = (seat + n - first) % n
            chosen = _numbers(n, position) == position
            cards.append(jnp.sum(jnp.where(chosen, drawn[:n], 0), axis=0, dtype=jnp.uint8))
        zero = jnp.zeros_like(state.turn)
        unseen = _numbers(self.boards, state.round) >= state.round
        return PokerState(
            cards=jnp.stack(cards),
            board=drawn[n:],
            bets=jnp.full_like(state.bets, ANTE),
            folded=jnp.zeros_like(state.folded),
            line=jnp.zeros_like(state.line),
            turn=first,
            round=zero,
            count=zero,
            raises=zero,
            waiting=jnp.full_like(state.waiting, n),
            hand=hand,
            time=state.time,
            chips=state.chips,
            last=LastHand(
                cards=state.cards,
                shown=showdown & ~state.folded,
                board=jnp.where(unseen, self.num_cards, state.board).astype(jnp.uint8),
                line=state.line,
                bets=state.bets,
                won=won.astype(jnp.int8),
            ),
            deals=deals,
        )

    def opener(self, hand: Any) -> Any:
        """The seat that opens a hand, of that number from 0."""
        if self.duplicate:
            hand = hand % self.num_deals + hand // self.num_deals
        return hand % self.num_agents

    def _first(self, hand: Array) -> Array:
        return self.opener(hand).astype(jnp.uint8)

    def _next(self, folded: Array, seat: Array) -> Array:
        """The next seat after `seat` that has not folded."""
        n = self.num_agents
        found = seat
        for k in reversed(range(1, n + 1)):
            candidate = (seat + k) % n
            out = jnp.any(folded & (_numbers(n, seat) == candidate), axis=0)
            found = jnp.where(out, found, candidate)
        return found

    def _of_round(self, round: Array) -> Array:
        """What a bet is in a round."""
        sizes = [jnp.where(round == r, size, 0) for r, size in enumerate(self.sizes)]
        return functools.reduce(jnp.add, sizes).astype(jnp.uint8)

    def _strength(self, state: PokerState) -> Array:
        """u8[N]: the higher, the better. A pair with the public card beats every other card."""
        rank = state.cards // np.uint8(self.suits)
        for card in state.board // np.uint8(self.suits):
            rank = rank + jnp.where(rank == card, np.uint8(len(self.ranks)), np.uint8(0))
        return rank

    def _victory(self, chips: Array, over: Array) -> Array:
        n = self.num_agents
        leads = chips == jnp.max(chips, axis=0)
        part = n / jnp.sum(leads, axis=0, dtype=jnp.float32)
        score = (jnp.where(leads, part, 0.0) - 1.0) / (n - 1)
        return jnp.where(over, score, 0.0)

    def acting(self, state: PokerState) -> Array:
        return _numbers(self.num_agents, state.turn) == state.turn

    def legal(self, state: PokerState) -> Array:
        facing, more = state.raises > 0, state.raises < self.cap
        allowed = [jnp.ones_like(facing), facing, more] if self.cap > 1 else None
        row = jnp.stack(allowed or [jnp.ones_like(facing)] * 2)
        return self.acting(state)[:, None] & row[None]

    # ---- the deals: all that is random --------------------------------------------------------

    def deals(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """Every deal of a hand with its probability: the cards by position (the seat that opens,
        the next, ...), then the public cards. For ten players there are 40 million."""
        drawn = self.num_agents + self.boards
        chance = 1 / math.perm(self.num_cards, drawn)
        for deal in itertools.permutations(range(self.num_cards), drawn):
            yield deal, chance

    def with_deal(self, state: PokerState, deal: Sequence[int]) -> PokerState:
        """The state with other cards in the hand that is played: `deal` is one of `deals()`."""
        n = self.num_agents
        given = list(deal)
        if (
            len(given) != n + self.boards
            or len(set(given)) != len(given)
            or not all(_whole(int(card), 0, self.num_cards - 1) for card in given)
        ):
            raise ConfigError(
                f"a deal is {n + self.boards} different cards from 0 to {self.num_cards - 1}, "
                f"given {given!r}"
            )
        first = self.opener(int(state.hand))
        by_seat = [given[(seat - first) % n] for seat in range(n)]
        return dataclasses.replace(
            state, cards=np.array(by_seat, np.uint8), board=np.array(given[n:], np.uint8)
        )

    def elapsed(self, state: PokerState) -> Array | None:
        return state.time

    # ---- what is seen -------------------------------------------------------------------------

    def shown(self, state: PokerState) -> Array:
        """bool[N]: whose cards everybody sees: those still in, after the showdown of the match."""
        alone = jnp.sum(~state.folded, axis=0) == 1
        return ~state.folded & (state.turn == self.num_agents) & ~alone

    def observe(self, state: PokerState) -> Array:
        n, last = self.num_agents, state.last
        turned = _numbers(self.boards, state.round) < state.round
        public = self._one_hot(state.board) & turned[:, None]
        now = self._one_hot(state.cards), self.shown(state), public, state.line, state.bets
        if last is not None:
            dealt = state.hand > 0
            cards = self._one_hot(last.cards) & dealt
            before = cards, last.shown, self._one_hot(last.board) & dealt, last.line, last.bets
        first, turn = self._first(state.hand), self.acting(state)
        rows = []
        for own in range(n):
            seats = [(own + k) % n for k in range(n)]
            position = (own + n - first) % n
            table = np.array(seats)
            parts = [
                *self._hand(seats, *now),
                _numbers(n, position) == position,
                turn[table],
            ]
            if last is not None:
                number = (state.hand + jnp.uint16(1))[None]
                parts += [state.chips[table], number]
                parts += [*self._hand(seats, *before), last.won[table]]
            rows.append(jnp.concatenate([jnp.asarray(part, jnp.int16) for part in parts]))
        return jnp.stack(jax.lax.optimization_barrier(rows))

    def _hand(
        self, seats: list[int], cards: Array, shown: Array, public: Array, line: Array, bets: Array
    ) -> list[Array]:
        """A hand as the first of `seats` sees it."""
        own, *others = seats
        seen = [cards[own], *(cards[seat] & shown[seat] for seat in others)]
        return [*seen, self._flat(public), self._flat(self._line(line)), bets[np.array(seats)]]

    def _one_hot(self, cards: Array) -> Array:
        """bool[K, C], of K cards."""
        return cards[:, None] == _columns(self.num_cards, cards)

    def _line(self, line: Array) -> Array:
        """bool[S, A], of a betting line."""
        return line[:, None] == 1 + _columns(self.num_actions, line)

    def _flat(self, rows: Array) -> Array:
        return rows.reshape(-1, *rows.shape[2:])

    def summary(self, state: PokerState) -> Array:
        """i16[size], all cards open, by seat: one-hot cards, one-hot public cards (still face down
        too), the line, chips in the pot, who has folded, whose turn it is, chips, and the
        number of the hand, from 1."""
        parts = [
            self._flat(self._one_hot(state.cards)),
            self._flat(self._one_hot(state.board)),
            self._flat(self._line(state.line)),
            state.bets,
            state.folded,
            self.acting(state),
            state.chips,
            (state.hand + jnp.uint16(1))[None],
        ]
        return jnp.concatenate([jnp.asarray(part, jnp.int16) for part in parts])

    def information_state(self, state: PokerState, agent: str | int) -> str:
        """What a seat knows of the hand that is played, as a short key with perfect recall: its
        card, then the line, `p` pass (check or fold), `c` call, `r` bet or raise; a public card
        stands where it was turned up. `"Q pr"`, or `"Js prc /Kh p"`. Two states of different
        seats may have the same key: a policy has a table for each seat."""
        index = self.index(agent)
        parts = [self.short(int(state.cards[index]))]
        line = np.asarray(state.line).reshape(self.rounds, -1)
        for r in range(int(state.round) + 1):
            taken, facing = "", False
            for code in line[r][line[r] > 0]:
                action = int(code) - 1
                raises = action == self.raise_action and (self.cap > 1 or not facing)
                taken += "r" if raises else "c" if action == CALL else "p"
                facing |= raises
            parts.append(taken if r == 0 else f"/{self.short(int(state.board[r - 1]))} {taken}")
        return " ".join(parts).strip()

    # ---- words --------------------------------------------------------------------------------

    def short(self, card: int) -> str:
        """`"Q"`, or with suits `"Qs"`."""
        rank, suit = divmod(card, self.suits)
        return self.ranks[rank] + (SUITS[suit][0] if self.suits > 1 else "")

    def card_name(self, card: int) -> str:
        """`"Q"`, or with suits `"Q of hearts"`."""
        rank, suit = divmod(card, self.suits)
        return self.ranks[rank] + (f" of {SUITS[suit]}" if self.suits > 1 else "")

    def to_dict(self, state: PokerState) -> dict[str, Any]:
        return words.to_dict(self, state)

    def config(self) -> dict[str, Any]:
        return dict(self._config)


class KuhnPoker(Poker):
    """Kuhn poker for 2 to 10 players: one round, one bet of 1 chip, no raises, and a deck of one
    card more than there are players. Actions: 0 pass (check, or fold facing a bet), 1 bet (or call
    it); the numbers are those of OpenSpiel's `kuhn_poker`.

    Args:
        players: 2 to 10. With n players the ranks are the n + 1 up to the king: J Q K for two.

    The other arguments, the terms and the observation are those of `Poker`, with C = n + 1 cards,
    B = 0, S = 2 n - 1 slots and A = 2 actions: 18 numbers for two players in a single hand.
    """

    id = "kuhn_poker"
    title = "Kuhn poker"
    suits = 1
    sizes = (1,)
    cap = 1

    def __init__(
        self,
        players: int = 2,
        *,
        hands: int | None = None,
        duplicate: bool = False,
        max_steps: int | None = None,
        reward_weights: Mapping[str, float] | None = None,
    ):
        if not _whole(players, 2, len(RANKS) - 1):
            raise ConfigError(
                f"players is a whole number from 2 to {len(RANKS) - 1}, given {players!r}"
            )
        ranks = RANKS[-players - 1 :]
        super().__init__(players, ranks, hands, duplicate, max_steps, reward_weights)
        self._config["players"] = players


class LeducHoldem(Poker):
    """Leduc hold'em for two players: six cards, J Q K in two suits; two rounds, with a public card
    turned up before the second; bets and raises of 2 chips in the first round and 4 in the second,
    at most two of them a round. A pair with the public card wins, else the higher rank; equal ranks
    share the pot. Actions: 0 pass (check, or fold facing a bet), 1 call, 2 bet or raise. (OpenSpiel
    numbers fold, call, raise the same way, but checks with its call.)

    The arguments, the terms and the observation are those of `Poker`, with C = 6 cards, numbered
    J of spades, J of hearts, Q of spades, ...; B = 1, S = 8 slots (4 a round) and A = 3 actions: 48
    numbers in a single hand.
    """

    id = "leduc_holdem"
    title = "Leduc hold'em"
    suits = 2
    sizes = (2, 4)
    cap = 2

    def __init__(
        self,
        *,
        hands: int | None = None,
        duplicate: bool = False,
        max_steps: int | None = None,
        reward_weights: Mapping[str, float] | None = None,
    ):
        super().__init__(2, RANKS[-3:], hands, duplicate, max_steps, reward_weights)


def _numbers(count: int, like: Array) -> Array:
    """u8 or u16[count, 1, ...]: 0, 1, 2, ... to compare an array like `like` with."""
    return np.arange(count, dtype=like.dtype).reshape(count, *[1] * like.ndim)


def _columns(count: int, like: Array) -> Array:
    """u8[1, count, 1, ...]: the same, beside an axis of many."""
    return np.arange(count, dtype=np.uint8).reshape(1, count, *[1] * (like.ndim - 1))


def _whole(value: Any, low: int, high: int) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and bool(low <= value <= high)
