"""The state of a negotiation, and the constants that all of its files share."""

from __future__ import annotations

from manyhands.core.env import Array, state_dataclass

TURNS, TALK, PROPOSE, RESPOND, PICK, OVER = range(6)
PHASES = ("turns", "talk", "propose", "respond", "pick", "over")

# Kinds of moves, in the order in which they are numbered as actions.
PASS, ACCEPT, REJECT, WALK, READY, OFFER, SAY, CLAIM = range(8)
KINDS = ("pass", "accept", "reject", "walk away", "ready", "offer", "say", "claim")

# The protocol: who moves when.
OFFERS = "offers"  # alternating turns of any move; an accepted offer binds
CHAT = "chat"  # alternating turns of any move, nothing binds; then everybody chooses in private
ROUNDS = "rounds"  # a discussion, then a decision, round after round

MOST = 1000  # units, coins, points: the largest number in any scenario


@state_dataclass
class NegotiationState:
    """One negotiation at one moment; N players, R goods, K numbers in an offer, M remembered moves.

    Attributes:
        phase: u8[], index into `PHASES`.
        time: i16[], steps played.
        turn: u8[], who moves (TURNS, TALK), or who leads the round.
        talked: u8[], turns of talk in this round.
        round: i16[], rounds played.
        pool: i16[R], what lies on the table: items, coins, fish.
        values: i16[N, R], worth of one unit to each player.
        outside: i16[N], worth of having no deal.
        holdings, start: i16[N, R], units that each player owns, and owned at first.
        offer: i16[K], the offer that stands.
        offerer: u8[], who made it, from 1; 0: none stands.
        claims: i16[N, R], one more than what each player last stated (or pledged); 0: nothing.
        record: i16[N, 3], gifts only: times a donor, coins given, coins spent on punishing.
        receiver: u8[], gifts only: who receives in this round.
        deals: i16[], agreements so far.
        log: i16[M, 3 + K], the last moves, oldest first: (player from 1, kind, phrase or claim from
            1, offer); rows of 0 before there are any. Of a catch or a gift, what came of it; a
            choice in private after a chat has a 1 in place of a phrase, and is known at the end.
    """

    phase: Array
    time: Array
    turn: Array
    talked: Array
    round: Array
    pool: Array
    values: Array
    outside: Array
    holdings: Array
    start: Array
    offer: Array
    offerer: Array
    claims: Array
    record: Array
    receiver: Array
    deals: Array
    log: Array
