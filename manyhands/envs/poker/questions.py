"""Questions about what a seat knows of the cards (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyhands.core.probes import NOT_KNOWN, Question
from manyhands.envs.poker.observe import as_list, view_hand
from manyhands.envs.poker.state import PokerState

if TYPE_CHECKING:
    from manyhands.envs.poker.env import Poker


def questions(poker: Poker, state: PokerState, agent: int) -> list[Question]:
    """The rank of one's own card, and of each other seat and each rank whether it holds that: what
    one sees rules out ranks of which all cards are out, and leaves one where no other is left."""
    seen, cards = view_hand(poker, state, agent), as_list(state.cards)
    ranks = tuple(poker.ranks)

    def rank(card: int) -> str:
        return ranks[card // poker.suits]

    own = rank(cards[agent])
    found = [Question("Of which rank is your card?", ranks, own, own, "own card")]
    out = [card for card in [*seen.cards, *seen.board] if card is not None]
    left = {rank(card) for card in range(poker.num_cards) if card not in out}
    for seat, name in enumerate(poker.agents):
        if seat == agent:
            continue
        card = seen.cards[seat]
        possible = left if card is None else {rank(card)}
        for one in ranks:
            believed = NOT_KNOWN
            if one not in possible:
                believed = "no"
            elif len(possible) == 1:
                believed = "yes"
            true = "yes" if rank(cards[seat]) == one else "no"
            text = f"Does {name} hold a card of rank {one}?"
            found.append(Question(text, ("yes", "no", NOT_KNOWN), believed, true, "another's card"))
    return found
