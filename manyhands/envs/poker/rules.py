"""The rules of limit poker with one hole card a player, as functions of the configuration, the
state and the deal.

A hand: everybody antes a chip and is dealt a card. Seats act in turn, from the one that opens the
hand. Without a bet to answer a seat checks or bets; with one it folds, calls or, while the round
has raises left, raises. A round ends when all who are still in have answered the last bet. Before
each further round a public card is turned up. When one seat is left it takes the pot; after the
last round the best hand does (a pair with the public card, else the higher rank), and equal hands
share it. The whole deal, public card included, is drawn when the hand begins and lies in the state:
between deals a step is deterministic, so that a game tree is walked by `deals`, `with_deal` and
`step` alone.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError
from manyhands.envs.poker.state import (
    ANTE,
    CALL,
    PASS,
    LastHand,
    PokerConfig,
    PokerState,
    numbers,
)


def deal(config: PokerConfig, key: Array) -> Array:
    """u8[N + boards]: the cards by position in the hand, then the public cards; each ordered
    choice of different cards is as likely as another."""
    # Card i is the n-th of those that are left: one random number serves as many cards as keep
    # the choice even to one part in 2 ** 16.
    drawn, ways = config.players + config.boards, 2**16
    groups: list[list[int]] = []
    for left in range(config.num_cards, config.num_cards - drawn, -1):
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


def reset(config: PokerConfig, key: Array) -> PokerState:
    """The first moment of a match, the first hand dealt."""
    n = config.players
    dealt = deal(config, key)
    zero = jnp.uint8(0)
    nobody = jnp.zeros(n, bool)
    chips = jnp.zeros(n, jnp.int16)
    line = jnp.zeros(config.slots, jnp.uint8)
    nothing = jnp.zeros(n, jnp.uint8)
    last = deals = None
    if config.hands > 1:
        board = jnp.zeros(config.boards, jnp.uint8)
        last = LastHand(nothing, nobody, board, line, nothing, jnp.zeros(n, jnp.int8))
    if config.duplicate:
        later = jnp.zeros((config.num_deals - 1, *dealt.shape), jnp.uint8)
        deals = jnp.concatenate([dealt[None], later])
    return PokerState(
        cards=dealt[:n],
        board=dealt[n:],
        bets=jnp.full(n, ANTE, jnp.uint8),
        folded=nobody,
        line=line,
        turn=zero,
        round=zero,
        count=zero,
        raises=zero,
        waiting=jnp.uint8(n),
        hand=jnp.uint16(0),
        time=jnp.uint16(0) if config.counts_time else None,
        chips=chips,
        last=last,
        deals=deals,
    )


class _Decision(NamedTuple):
    """What the seat to move does."""

    mover: Array  # bool[N, ...]
    going: Array  # bool[...], whether the match is still played
    raises: Array  # bool[...], as the next three
    calls: Array
    folds: Array
    illegal: Array
    taken: Array  # the action that is played


class _Turn(NamedTuple):
    """How the hand goes on."""

    seat: Array  # u8[...], the next seat to move
    waiting: Array  # u8[...], seats that have yet to act in this round
    opens: Array  # bool[...], whether a further round begins
    final: Array  # bool[...], whether the hand is over
    alone: Array  # bool[...], whether a single seat is left

    @property
    def showdown(self) -> Array:
        return self.final & ~self.alone


def step(
    config: PokerConfig, key: Array, state: PokerState, actions: Array
) -> tuple[PokerState, dict[str, Any]]:
    """One decision: the new state, and the arguments of `Env.outcome`.

    Args:
        key: what the next hand is dealt from, where this step ends one.
        actions: whole numbers [N, ...]; only that of the seat to move counts.
    """
    decision = _decide(config, state, actions)
    bets, folded, live, line = _pay(config, state, decision)
    turn = _pass_turn(config, state, decision, folded, live)
    pot, won = settle(config, state, bets, folded, turn.final)
    chips = state.chips + won
    over = turn.final & (state.hand == config.hands - 1)
    time, late = _count(config, state, decision.going)
    after = PokerState(
        cards=state.cards,
        board=state.board,
        bets=bets,
        folded=folded,
        line=line,
        turn=jnp.where(over | ~decision.going, config.players, turn.seat).astype(jnp.uint8),
        round=state.round + turn.opens,
        count=jnp.where(turn.opens, 0, state.count + jnp.uint8(1)).astype(jnp.uint8),
        raises=jnp.where(turn.opens, 0, state.raises + decision.raises).astype(jnp.uint8),
        waiting=jnp.where(turn.opens, live, turn.waiting).astype(jnp.uint8),
        hand=state.hand,
        time=time,
        chips=chips,
        last=state.last,
        deals=state.deals,
    )
    if config.hands > 1:
        again = turn.final & ~over
        following = _next_hand(config, key, after, turn.showdown, won)
        after = jax.tree_util.tree_map(
            lambda new, old: jnp.where(again, new, old), following, after
        )
    ended = jnp.broadcast_to(over | ~decision.going, decision.mover.shape)
    cut = jnp.broadcast_to(late & ~over & decision.going, decision.mover.shape)
    metrics = {
        "hands": turn.final,
        "showdowns": turn.showdown,
        "pot": jnp.where(turn.final, pot, 0),
        "bets": decision.raises,
        "folds": decision.folds,
        "illegal": decision.illegal,
    }
    return after, {
        "terms": {"chips": won.astype(jnp.float32), "win": victory(config, chips, over)},
        "terminated": ended,
        "truncated": cut,
        "metrics": {name: jnp.asarray(value, jnp.float32) for name, value in metrics.items()},
    }


def _decide(config: PokerConfig, state: PokerState, actions: Array) -> _Decision:
    """The action of the seat to move; an illegal one is played as `PASS`."""
    mover = acting(config, state)
    going = state.turn < config.players
    asked = jnp.sum(jnp.where(mover, actions, PASS), axis=0)
    facing = state.raises > 0
    raises = going & (asked == config.raise_action) & (state.raises < config.cap)
    calls = going & (asked == CALL) & facing
    folds = going & facing & ~calls & ~raises
    illegal = going & (asked != PASS) & ~calls & ~raises
    taken = jnp.where(raises, config.raise_action, jnp.where(calls, CALL, PASS))
    return _Decision(mover, going, raises, calls, folds, illegal, taken)


def _pay(
    config: PokerConfig, state: PokerState, decision: _Decision
) -> tuple[Array, Array, Array, Array]:
    """Chips in the pot, who has folded, how many seats are still in, and the betting line."""
    mover, going, raises, calls, folds, _, taken = decision
    top = jnp.max(state.bets, axis=0)
    size = jnp.where(raises, _of_round(config, state.round), 0)
    level = jnp.where(calls | raises, top + size, 0).astype(jnp.uint8)
    bets = jnp.where(mover, jnp.maximum(state.bets, level), state.bets)
    folded = state.folded | (mover & folds)
    live = config.players - jnp.sum(folded, axis=0, dtype=jnp.uint8)
    slot = state.round * np.uint8(config.round_slots) + state.count
    here = going & (numbers(config.slots, slot) == slot)
    line = jnp.where(here, (taken + 1).astype(jnp.uint8), state.line)
    return bets, folded, live, line


def _pass_turn(
    config: PokerConfig, state: PokerState, decision: _Decision, folded: Array, live: Array
) -> _Turn:
    """Whose turn it is, and whether the round and the hand are over."""
    waiting = jnp.where(decision.raises, live, state.waiting) - jnp.uint8(1)
    alone = live == 1
    closed = decision.going & ((waiting == 0) | alone)
    final = closed & (alone | (state.round == config.rounds - 1))
    opens = closed & ~final
    first = first_seat(config, state.hand)
    last = jnp.where(opens, first + (config.players - 1), state.turn)
    return _Turn(next_seat(config, folded, last), waiting, opens, final, alone)


def settle(
    config: PokerConfig, state: PokerState, bets: Array, folded: Array, final: Array
) -> tuple[Array, Array]:
    """The pot, and i16[N, ...], what each seat wins of it, net, when the hand is over. All who have
    not folded have paid the same; seats tie in twos at most, with equal stakes, so that the shares
    are whole."""
    pot = jnp.sum(bets, axis=0, dtype=jnp.int16)
    strength = jnp.where(folded, 0, 1 + _strength(config, state)).astype(jnp.uint8)
    wins = strength == jnp.max(strength, axis=0)
    share = pot // jnp.sum(wins, axis=0, dtype=jnp.int16)
    return pot, jnp.where(final, jnp.where(wins, share, 0) - bets, 0).astype(jnp.int16)


def _count(config: PokerConfig, state: PokerState, going: Array) -> tuple[Array | None, Array]:
    """The clock, if there is one, and whether it has run out."""
    late = jnp.zeros_like(going)
    if state.time is None:
        return None, late
    time = state.time + going.astype(jnp.uint16)
    return time, time >= config.max_steps


def _next_hand(
    config: PokerConfig, key: Array, state: PokerState, showdown: Array, won: Array
) -> PokerState:
    """The first moment of the hand after a finished one, the seats moved on by one."""
    n = config.players
    hand = state.hand + jnp.uint16(1)
    draw = functools.partial(deal, config)
    drawn = draw(key) if state.hand.ndim == 0 else jax.vmap(draw, 0, -1)(key)
    deals = state.deals
    if deals is not None:
        which = (hand % np.uint16(config.num_deals))[None]
        chosen = numbers(config.num_deals, hand) == which
        fresh = hand < config.num_deals
        deals = jnp.where((chosen & fresh)[:, None], drawn[None], deals)
        drawn = jnp.sum(jnp.where(chosen[:, None], deals, 0), axis=0, dtype=jnp.uint8)
    first = first_seat(config, hand)
    cards = []
    for seat in range(n):
        position = (seat + n - first) % n
        chosen = numbers(n, position) == position
        cards.append(jnp.sum(jnp.where(chosen, drawn[:n], 0), axis=0, dtype=jnp.uint8))
    zero = jnp.zeros_like(state.turn)
    unseen = numbers(config.boards, state.round) >= state.round
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
            board=jnp.where(unseen, config.num_cards, state.board).astype(jnp.uint8),
            line=state.line,
            bets=state.bets,
            won=won.astype(jnp.int8),
        ),
        deals=deals,
    )


def first_seat(config: PokerConfig, hand: Array) -> Array:
    """u8[...]: the seat that opens a hand."""
    return config.opener(hand).astype(jnp.uint8)


def next_seat(config: PokerConfig, folded: Array, seat: Array) -> Array:
    """The next seat after `seat` that has not folded."""
    n = config.players
    found = seat
    for k in reversed(range(1, n + 1)):
        candidate = (seat + k) % n
        out = jnp.any(folded & (numbers(n, seat) == candidate), axis=0)
        found = jnp.where(out, found, candidate)
    return found


def _of_round(config: PokerConfig, round: Array) -> Array:
    """What a bet is in a round."""
    sizes = [jnp.where(round == r, size, 0) for r, size in enumerate(config.sizes)]
    return functools.reduce(jnp.add, sizes).astype(jnp.uint8)


def _strength(config: PokerConfig, state: PokerState) -> Array:
    """u8[N]: the higher, the better. A pair with the public card beats every other card."""
    rank = state.cards // np.uint8(config.suits)
    for card in state.board // np.uint8(config.suits):
        rank = rank + jnp.where(rank == card, np.uint8(len(config.ranks)), np.uint8(0))
    return rank


def victory(config: PokerConfig, chips: Array, over: Array) -> Array:
    """f32[N]: the term `win`."""
    n = config.players
    leads = chips == jnp.max(chips, axis=0)
    part = n / jnp.sum(leads, axis=0, dtype=jnp.float32)
    score = (jnp.where(leads, part, 0.0) - 1.0) / (n - 1)
    return jnp.where(over, score, 0.0)


def forfeit(config: PokerConfig, state: PokerState, agents: Sequence[int]) -> dict[str, Array]:
    """f32[N] each: the terms of a step in which seats forfeit; on the host."""
    n, out = config.players, np.array(state.folded)
    if not agents:
        return {}
    out[list(agents)] = True
    lost = np.zeros(n, bool)
    lost[list(agents)] = True
    bets = np.asarray(state.bets, np.float32)
    share = bets.sum() / max(np.sum(~out), 1)
    chips = np.where(out, 0, share) - bets
    left = np.sum(~lost)
    win = np.where(lost, 0, n / max(left, 1)).astype(np.float32) - 1
    return {"chips": chips.astype(np.float32), "win": win / np.float32(n - 1)}


def acting(config: PokerConfig, state: PokerState) -> Array:
    """bool[N]: the seat to move."""
    return numbers(config.players, state.turn) == state.turn


def legal(config: PokerConfig, state: PokerState) -> Array:
    """bool[N, A]: the legal actions of the seat to move."""
    facing, more = state.raises > 0, state.raises < config.cap
    allowed = [jnp.ones_like(facing), facing, more] if config.cap > 1 else None
    row = jnp.stack(allowed or [jnp.ones_like(facing)] * 2)
    return acting(config, state)[:, None] & row[None]


# ---- the deals: all that is random ---------------------------------------------------------------


def deals(config: PokerConfig) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every deal of a hand with its probability: the cards by position (the seat that opens,
    the next, ...), then the public cards. For ten players there are 40 million."""
    drawn = config.players + config.boards
    chance = 1 / math.perm(config.num_cards, drawn)
    for deal in itertools.permutations(range(config.num_cards), drawn):
        yield deal, chance


def with_deal(config: PokerConfig, state: PokerState, deal: Sequence[int]) -> PokerState:
    """The state with other cards in the hand that is played: `deal` is one of `deals()`."""
    n = config.players
    given = list(deal)
    if (
        len(given) != n + config.boards
        or len(set(given)) != len(given)
        or not all(0 <= int(card) < config.num_cards for card in given)
    ):
        raise ConfigError(
            f"a deal is {n + config.boards} different cards from 0 to {config.num_cards - 1}, "
            f"given {given!r}"
        )
    first = config.opener(int(state.hand))
    by_seat = [given[(seat - first) % n] for seat in range(n)]
    return dataclasses.replace(
        state, cards=np.array(by_seat, np.uint8), board=np.array(given[n:], np.uint8)
    )
