"""What happened in the last step, as data and as numbers: it all follows from the betting lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.poker.observe import (
    HandView,
    as_list,
    view_hand,
    view_last_hand,
    won_by_seat,
)
from manyhands.envs.poker.rules import first_seat, next_seat, settle
from manyhands.envs.poker.state import PokerConfig, PokerState

if TYPE_CHECKING:
    from manyhands.envs.poker.env import Poker

KINDS = ("check", "bet", "call", "raise", "fold")
OF_HANDS = ("public card", "show", "hand ends", "deal")


# ---- as data -------------------------------------------------------------------------------------


def last_events(poker: Poker, state: PokerState, agent: int | None) -> list[dict[str, Any]]:
    """What happened in the last step, in order, as one seat may know it, or all of it: the move,
    the public card, cards that were shown, how the hand ended, and the next deal."""
    hand = view_hand(poker, state, agent)
    over, dealt = int(state.turn) == poker.num_agents, False
    won: list[int] = []
    if not any(hand.rounds):
        if not int(state.hand):
            return []
        assert state.last is not None
        won, dealt, over = as_list(state.last.won), True, True
        hand, new = view_last_hand(poker, state, agent), hand
    elif over:
        won = won_by_seat(poker, state)
    found = [_last_move(poker, hand)]
    if not over and len(hand.rounds) > 1 and not hand.rounds[-1]:
        found.append({"event": "public card", "card": poker.card_name(hand.board[-1])})
    if not over:
        return found
    if hand.folded.count(False) > 1:
        for seat, card in enumerate(hand.cards):
            if card is not None and not hand.folded[seat]:
                shown = {"agent": poker.agents[seat], "card": poker.card_name(card)}
                found.append({"event": "show", **shown})
    found.append({"event": "hand ends", "won": dict(zip(poker.agents, won, strict=True))})
    if dealt:
        for seat, card in enumerate(new.cards):
            if card is not None:
                own = {"agent": poker.agents[seat], "card": poker.card_name(card)}
                found.append({"event": "deal", "hand": int(state.hand) + 1, **own})
    return found


def _last_move(poker: Poker, hand: HandView) -> dict[str, Any]:
    move = next(moves[-1] for moves in reversed(hand.rounds) if moves)
    found = {"event": move.word, "agent": poker.agents[move.seat]}
    return {**found, "chips": move.chips} if move.chips else found


# ---- as numbers ----------------------------------------------------------------------------------


def event_names(config: PokerConfig) -> tuple[str, ...]:
    """Names of the numbers of `event_codes`; seats are counted from the observer."""
    seats = range(config.players)
    moved, won = [f"moved_{k}" for k in seats], [f"won_{k}" for k in seats]
    return (*moved, *KINDS, "chips", "public_card", "hand_ended", *won)


def event_codes(config: PokerConfig, state: PokerState) -> Array:
    """f32[N, K, ...]: who moved, what, with how many chips; whether the public card was turned up
    and the hand ended, and what each seat then won, net."""
    n, none = config.players, jnp.all(state.line == 0, axis=0)
    over = state.turn == n
    line, hand, won = (
        state.line,
        state.hand,
        settle(config, state, state.bets, state.folded, over)[1],
    )
    ended, begun = over & ~none, ~none
    if state.last is not None:
        dealt = none & (state.hand > 0)
        line = jnp.where(dealt, state.last.line, line)
        hand = jnp.where(dealt, hand - jnp.uint16(1), hand)
        won = jnp.where(dealt, state.last.won, won)
        ended, begun = ended | dealt, begun | dealt
    seat, kind, chips = _moved(config, line, first_seat(config, hand))
    turned = begun & ~ended & (state.round > 0) & (state.count == 0)
    rows = []
    for own in range(n):
        seats = np.array([(own + k) % n for k in range(n)])
        moved = [begun & (seat == other) for other in seats.tolist()]
        kinds = [begun & (kind == k) for k in range(len(KINDS))]
        parts = [*moved, *kinds, jnp.where(begun, chips, 0), turned, ended]
        gains = jnp.where(ended, won, 0)[seats].astype(jnp.float32)
        rows.append(jnp.concatenate([jnp.stack([p.astype(jnp.float32) for p in parts]), gains]))
    return jnp.stack(rows)


def _moved(config: PokerConfig, line: Array, first: Array) -> tuple[Array, Array, Array]:
    """(seat, index of the kind, chips) of the last decision of a betting line."""
    n = config.players
    bets = [jnp.ones_like(first)] * n
    folded = [jnp.zeros(first.shape, bool)] * n
    before, raises = first, jnp.zeros_like(first)
    found: list[Array] = [jnp.zeros_like(first)] * 3
    for slot in range(config.slots):
        if slot % config.round_slots == 0:
            before, raises = first + jnp.uint8(n - 1), jnp.zeros_like(first)
        here, action = line[slot] > 0, line[slot] - jnp.uint8(1)
        seat = next_seat(config, jnp.stack(folded), before).astype(jnp.uint8)
        ups = here & (action == config.raise_action) & (raises < config.cap)
        calls = here & ~ups & (action > 0)
        folds = here & (action == 0) & (raises > 0)
        top = jnp.max(jnp.stack(bets), axis=0)
        mine = sum(jnp.where(seat == k, bets[k], 0) for k in range(n))
        size = jnp.uint8(config.sizes[slot // config.round_slots])
        chips = jnp.where(ups, size, jnp.where(calls, top - mine, 0))
        kind = jnp.where(ups, jnp.where(raises > 0, 3, 1), jnp.where(calls, 2, 4 * folds))
        found = [
            jnp.where(here, new, old).astype(jnp.uint8)
            for new, old in zip((seat, kind, chips), found, strict=True)
        ]
        level = jnp.where(ups, top + size, top)
        pays = ups | calls
        bets = [jnp.where(pays & (seat == k), level, bets[k]) for k in range(n)]
        folded = [folded[k] | (folds & (seat == k)) for k in range(n)]
        raises = raises + ups
        before = jnp.where(here, seat, before)
    return found[0], found[1], found[2]
