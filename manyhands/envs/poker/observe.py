"""What seats and networks are given of a game: observations, information states and the summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import flat, indices, one_hot
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece
from manyhands.envs.poker.rules import acting
from manyhands.envs.poker.state import CALL, PokerConfig, PokerState, numbers


def layout(config: PokerConfig) -> Layout:
    """The pieces of one seat's observation. Seats are counted from the observer: 0 yourself, 1 the
    seat that acts after you, and so on."""
    n, most, won = config.players, config.most, config.most * (config.players - 1)

    def hand(before: str, last: str) -> list[Piece]:
        return [
            Piece(f"{before}cards", (n, config.num_cards), 0, 1, f"one-hot; {last}"),
            Piece(f"{before}board", (config.boards, config.num_cards), 0, 1, "public cards"),
            Piece(f"{before}line", (config.slots, config.num_actions), 0, 1, "actions, one-hot"),
            Piece(f"{before}pot", n, 0, most, "chips paid into the pot by each seat"),
        ]

    pieces = [
        *hand("", "your own, and others' when shown at the end"),
        Piece("position", n, 0, 1, "yours, one-hot: 0 opened the hand"),
        Piece("turn", n, 0, 1, "the seat to move, one-hot; zeros when the match is over"),
    ]
    if config.hands > 1:
        pieces += [
            Piece("chips", n, -most * config.hands, won * config.hands, "won by each seat so far"),
            Piece("hand", 1, 1, config.hands, "the number of this hand, from 1"),
            *hand("last_", "of the hand before: your own, and those that were shown"),
            Piece("last_won", n, -most, won, "chips won in the hand before, net"),
        ]
    return Layout(pieces, np.int16)


def shown(config: PokerConfig, state: PokerState) -> Array:
    """bool[N]: whose cards everybody sees: those still in, after the showdown of the match."""
    alone = jnp.sum(~state.folded, axis=0) == 1
    return ~state.folded & (state.turn == config.players) & ~alone


def observe(config: PokerConfig, state: PokerState) -> Array:
    """i16[N, size]; see `Poker`."""
    n, last = config.players, state.last
    turned = numbers(config.boards, state.round) < state.round
    public = _cards(config, state.board) & turned[:, None]
    now = _cards(config, state.cards), shown(config, state), public, state.line, state.bets
    if last is not None:
        dealt = state.hand > 0
        cards = _cards(config, last.cards) & dealt
        before = cards, last.shown, _cards(config, last.board) & dealt, last.line, last.bets
    first, turn = config.opener(state.hand).astype(jnp.uint8), acting(config, state)
    rows = []
    for own in range(n):
        seats = [(own + k) % n for k in range(n)]
        position = (own + n - first) % n
        table = np.array(seats)
        parts = [
            *_hand(config, seats, *now),
            numbers(n, position) == position,
            turn[table],
        ]
        if last is not None:
            number = (state.hand + jnp.uint16(1))[None]
            parts += [state.chips[table], number]
            parts += [*_hand(config, seats, *before), last.won[table]]
        rows.append(jnp.concatenate([jnp.asarray(part, jnp.int16) for part in parts]))
    return jnp.stack(jax.lax.optimization_barrier(rows))


def _hand(
    config: PokerConfig,
    seats: list[int],
    cards: Array,
    shown: Array,
    public: Array,
    line: Array,
    bets: Array,
) -> list[Array]:
    """A hand as the first of `seats` sees it."""
    own, *others = seats
    seen = [cards[own], *(cards[seat] & shown[seat] for seat in others)]
    return [*seen, flat(public), flat(_line(config, line)), bets[np.array(seats)]]


def _cards(config: PokerConfig, cards: Array) -> Array:
    """bool[K, C], one-hot, of K cards."""
    return one_hot(cards, config.num_cards, axis=1, dtype=np.uint8)


def _line(config: PokerConfig, line: Array) -> Array:
    """bool[S, A], one-hot, of a betting line."""
    return line[:, None] == 1 + indices(config.num_actions, line.ndim + 1, 1, np.uint8)


def summary(config: PokerConfig, state: PokerState) -> Array:
    """i16[size], all cards open, by seat: one-hot cards, one-hot public cards (still face down
    too), the line, chips in the pot, who has folded, whose turn it is, chips, and the
    number of the hand, from 1."""
    parts = [
        flat(_cards(config, state.cards)),
        flat(_cards(config, state.board)),
        flat(_line(config, state.line)),
        state.bets,
        state.folded,
        acting(config, state),
        state.chips,
        (state.hand + jnp.uint16(1))[None],
    ]
    return jnp.concatenate([jnp.asarray(part, jnp.int16) for part in parts])


def information_state(config: PokerConfig, state: PokerState, seat: int) -> str:
    """What a seat knows of the hand that is played; see `Poker.information_state`."""
    parts = [config.short(int(state.cards[seat]))]
    line = np.asarray(state.line).reshape(config.rounds, -1)
    for r in range(int(state.round) + 1):
        taken, facing = "", False
        for code in line[r][line[r] > 0]:
            action = int(code) - 1
            raises = action == config.raise_action and (config.cap > 1 or not facing)
            taken += "r" if raises else "c" if action == CALL else "p"
            facing |= raises
        parts.append(taken if r == 0 else f"/{config.short(int(state.board[r - 1]))} {taken}")
    return " ".join(parts).strip()


# ---- on the host: what a seat sees of a hand -----------------------------------------------------


@dataclass(frozen=True)
class Move:
    """One decision of a betting line."""

    seat: int
    word: str  # check, bet, call, raise, fold
    chips: int  # of a bet, a call or a raise


@dataclass(frozen=True)
class HandView:
    """A hand as one seat sees it, or with all cards open."""

    first: int  # the seat that opens
    cards: list[int | None]  # of each seat; None: face down
    board: list[int]  # public cards turned up
    rounds: list[list[Move]]  # the rounds that were begun
    bets: list[int]
    folded: list[bool]


def view_hand(config: PokerConfig, state: PokerState, agent: int | None) -> HandView:
    """The hand that is played; all cards open where `agent` is None."""
    n = config.players
    cards, folded = as_list(state.cards), [bool(out) for out in as_list(state.folded)]
    showdown = int(state.turn) == n and n - sum(folded) > 1
    seen = [
        card if agent is None or seat == agent or (showdown and not folded[seat]) else None
        for seat, card in enumerate(cards)
    ]
    begun = int(state.round) + 1
    first = config.opener(int(state.hand))
    rounds = betting(config, as_list(state.line), first, begun)
    return HandView(
        first, seen, as_list(state.board)[: begun - 1], rounds, as_list(state.bets), folded
    )


def view_last_hand(config: PokerConfig, state: PokerState, agent: int | None) -> HandView:
    """The hand before, in a match that has had one."""
    last = state.last
    assert last is not None
    shown = as_list(last.shown)
    cards = [
        card if agent is None or seat == agent or shown[seat] else None
        for seat, card in enumerate(as_list(last.cards))
    ]
    board = [card for card in as_list(last.board) if card < config.num_cards]
    first = config.opener(int(state.hand) - 1)
    rounds = betting(config, as_list(last.line), first, len(board) + 1)
    gone = {move.seat for moves in rounds for move in moves if move.word == "fold"}
    folded = [seat in gone for seat in range(config.players)]
    return HandView(first, cards, board, rounds, as_list(last.bets), folded)


def won_by_seat(config: PokerConfig, state: PokerState) -> list[int]:
    """What each seat has won in the hand of a match that is over, net."""
    bets, board = as_list(state.bets), as_list(state.board)
    strength = []
    for card, out in zip(as_list(state.cards), as_list(state.folded), strict=True):
        rank = card // config.suits
        pair = any(rank == public // config.suits for public in board)
        strength.append(-1 if out else rank + pair * len(config.ranks))
    best = max(strength)
    share = sum(bets) // strength.count(best)
    return [share * (s == best) - bet for s, bet in zip(strength, bets, strict=True)]


def betting(config: PokerConfig, line: list[int], first: int, begun: int) -> list[list[Move]]:
    """The betting line in words, for the rounds that were begun."""
    n = config.players
    bets, folded = [1] * n, [False] * n
    rounds: list[list[Move]] = []
    for r in range(begun):
        moves: list[Move] = []
        seat, raises = first, 0
        for code in line[r * config.round_slots : (r + 1) * config.round_slots]:
            if not code:
                break
            while folded[seat]:
                seat = (seat + 1) % n
            action, top, chips = code - 1, max(bets), 0
            if action == config.raise_action and raises < config.cap:
                word, chips = "raise" if raises else "bet", config.sizes[r]
                bets[seat], raises = top + chips, raises + 1
            elif action:
                word, chips = "call", top - bets[seat]
                bets[seat] = top
            else:
                word = "fold" if raises else "check"
                folded[seat] = bool(raises)
            moves.append(Move(seat, word, chips))
            seat = (seat + 1) % n
        rounds.append(moves)
    return rounds


def as_list(array: Any) -> list[int]:
    return np.asarray(array).tolist()
