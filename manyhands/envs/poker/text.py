"""Poker in words: rule book, description, choices, and reading what a player answers.

`describe` says what the vector observations say, no less and no more, in sentences of a fixed form
from which the vectors can be rebuilt. All that is said is said from the view of one seat
(`observe.view_hand`).
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from manyhands.core.choices import Choice
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import decide, how_to_answer, number
from manyhands.core.reading.bare import Remarks
from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.parts import REASON, Answer
from manyhands.core.reading.words import tokens
from manyhands.envs.poker.observe import (
    HandView,
    Move,
    as_list,
    view_hand,
    view_last_hand,
    won_by_seat,
)
from manyhands.envs.poker.reading import GRAMMAR
from manyhands.envs.poker.state import PokerState

if TYPE_CHECKING:
    from manyhands.envs.poker.env import Poker

ROUNDS = ("first", "second")


# ---- description ---------------------------------------------------------------------------------


def describe(poker: Poker, state: PokerState, agent: int) -> str:
    """What a seat sees, as text."""
    n, turn, hand = poker.num_agents, int(state.turn), int(state.hand)
    seen = view_hand(poker, state, agent)
    brief = poker.detail == "brief"
    opens = "you open" if seen.first == agent else f"{poker.agents[seen.first]} opens"
    lines = [f"{poker.title}, hand {hand + 1} of {poker.hands}, {opens}. "
             f"You are {poker.agents[agent]}."]  # fmt: skip
    if brief:
        lines = [f"Hand {hand + 1} of {poker.hands}, {opens}. You are {poker.agents[agent]}."]
    if poker.hands > 1:
        lines.append(
            f"Chips won so far: {_amounts(poker, as_list(state.chips), agent, sign=True)}."
        )
        if hand and brief:
            last = view_last_hand(poker, state, agent)
            lines.append(
                f"Hand {hand}: {_shown(poker, last, agent)[0]} {_won_last(poker, state, agent)}"
            )
        elif hand:
            lines += _last(poker, state, agent)
    lines += _hand(poker, seen, agent)
    lines.append(_pot(poker, seen, agent))
    if turn == n:
        lines += _ending(poker, state, seen, agent)
    elif turn == agent:
        capped = poker.cap > 1 and int(state.raises) == poker.cap
        lines.append("It is your turn." + " No raise is left in this round." * capped)
    else:
        lines.append(f"It is {poker.agents[turn]}'s turn.")
    if poker.detail == "full":
        lines += _worked_out(poker, state, seen, agent)
    return "\n".join(lines)


def _worked_out(poker: Poker, state: PokerState, seen: HandView, agent: int) -> list[str]:
    """What follows from the rest: cards that may be out, what staying in costs, and a reminder."""
    known = {card for card in [*seen.cards, *seen.board] if card is not None}
    unseen = [poker.card_name(card) for card in range(poker.num_cards) if card not in known]
    lines = [f"Cards that you do not see: {', '.join(unseen) or 'none'}."]
    if int(state.turn) < poker.num_agents and not seen.folded[agent]:
        behind = max(seen.bets) - seen.bets[agent]
        left = poker.cap - int(state.raises)
        lines.append(
            f"Staying in costs you {_chips(behind)} now, for a pot of {sum(seen.bets) + behind}; "
            f"{left} bet{'s or raises are' if left != 1 else ' or raise is'} left in this round."
        )
    order = " < ".join(poker.ranks)
    pair = "; a pair with the public card beats them all" if poker.boards else ""
    return [*lines, f"Remember: {order}{pair}."]


def _hand(poker: Poker, seen: HandView, agent: int) -> list[str]:
    """The cards and the betting line, a sentence each."""
    own = seen.cards[agent]
    assert own is not None
    lines = [f"Your card: {poker.card_name(own)}."]
    if poker.boards:
        board = ", ".join(poker.card_name(card) for card in seen.board)
        lines.append(f"Public card: {board or 'face down until the second round'}.")
    for r, moves in enumerate(seen.rounds):
        where = f"Betting, {ROUNDS[r]} round" if poker.rounds > 1 else "Betting"
        lines.append(f"{where}: {told(poker, moves, agent)}.")
    return lines


def told(poker: Poker, moves: list[Move], agent: int | None) -> str:
    """The moves of a round, told to one seat, or to nobody in particular."""
    words = []
    for move in moves:
        verb = f"you {move.word}" if move.seat == agent else (
            f"{poker.agents[move.seat]} {move.word}s"
        )  # fmt: skip
        words.append(f"{verb} {move.chips}" if move.chips else verb)
    return ", ".join(words) or "nobody has acted yet"


def _pot(poker: Poker, seen: HandView, agent: int) -> str:
    return f"Pot: {_chips(sum(seen.bets))} ({_amounts(poker, seen.bets, agent)})."


def _ending(poker: Poker, state: PokerState, seen: HandView, agent: int) -> list[str]:
    """What came out, when a match is over."""
    if poker.hands > 1:
        won = _amounts(poker, won_by_seat(poker, state), agent, sign=True)
        return [*_shown(poker, seen, agent), f"The match is over. Won in this hand: {won}."]
    won = _amounts(poker, as_list(state.chips), agent, sign=True)
    return [*_shown(poker, seen, agent), f"The hand is over. Won: {won}."]


def _shown(poker: Poker, seen: HandView, agent: int) -> list[str]:
    """The others' cards, as far as they were shown."""
    shown = [
        f"{poker.agents[seat]} {poker.card_name(card)}"
        for seat, card in _round_table(seen.cards, agent)
        if card is not None and seat != agent
    ]
    return [f"Shown: {', '.join(shown)}." if shown else "Nobody showed a card."]


def _last(poker: Poker, state: PokerState, agent: int) -> list[str]:
    """The hand before, told in the same sentences."""
    assert state.last is not None
    seen = view_last_hand(poker, state, agent)
    lines = [*_hand(poker, seen, agent), _pot(poker, seen, agent), *_shown(poker, seen, agent)]
    return [
        f"The hand before (hand {int(state.hand)}):",
        *(f"  {line}" for line in [*lines, _won_last(poker, state, agent)]),
        "This hand:",
    ]


def _won_last(poker: Poker, state: PokerState, agent: int) -> str:
    assert state.last is not None
    return f"Won: {_amounts(poker, as_list(state.last.won), agent, sign=True)}."


def _amounts(poker: Poker, chips: list[int], agent: int, sign: bool = False) -> str:
    """ "you 2, player_1 1"."""
    return ", ".join(
        f"{'you' if seat == agent else poker.agents[seat]} {amount:+d}"
        if sign and amount
        else f"{'you' if seat == agent else poker.agents[seat]} {amount}"
        for seat, amount in _round_table(chips, agent)
    )


def _round_table(values: list[Any], agent: int) -> list[tuple[int, Any]]:
    """(seat, value) in the order of seats, from one on."""
    n = len(values)
    return [((agent + k) % n, values[(agent + k) % n]) for k in range(n)]


def _chips(count: int) -> str:
    return f"{count} chip{'s' * (count != 1)}"


# ---- choices -------------------------------------------------------------------------------------


def choices(poker: Poker, state: PokerState, agent: int) -> list[Choice]:
    """The legal actions in words, in action order, and what they do."""
    return [
        _choice(poker, state, agent, action, words)
        for action, words in _offers(poker, state, agent).items()
    ]


def _offers(poker: Poker, state: PokerState, agent: int) -> dict[int, str]:
    """What each legal action is called now."""
    if int(state.turn) != agent:
        return {}
    size, raises = poker.sizes[int(state.round)], int(state.raises)
    if not raises:
        return {0: "check", poker.raise_action: f"bet {size}"}
    bets = as_list(state.bets)
    offers = {0: "fold", 1: f"call {max(bets) - bets[agent]}"}
    if raises < poker.cap:
        offers[poker.raise_action] = f"raise {size}"
    return offers


def _choice(poker: Poker, state: PokerState, agent: int, action: int, words: str) -> Choice:
    """A choice. All that it says is certain: only the seat to move acts, and what chance decides
    (the cards) is left out."""
    n, name, verb = poker.num_agents, poker.agents[agent], words.partition(" ")[0]
    bets, folded = as_list(state.bets), as_list(state.folded)
    hand, round = int(state.hand), int(state.round)
    paid, top = bets[agent], max(bets)
    if verb in ("bet", "raise"):
        bets[agent] = top + poker.sizes[round]
    elif verb == "call":
        bets[agent] = top
    folded[agent] = verb == "fold"
    live = n - sum(folded)
    waiting = (live if verb in ("bet", "raise") else int(state.waiting)) - 1
    closed, last = waiting == 0 or live == 1, hand == poker.hands - 1
    final = closed and (live == 1 or round == poker.rounds - 1)

    # What comes next.
    facts: dict[str, Any] = {}
    if not final:
        seat = poker.opener(hand) if closed else (agent + 1) % n
        while folded[seat]:
            seat = (seat + 1) % n
        facts = {"turn": poker.agents[seat], f"pot.{name}": bets[agent]}
        after = "the public card is turned up" if closed else f"{poker.agents[seat]} is next"
    else:
        # Chips of the hand that is over are told of the hand before, once there is a next one.
        facts = {"over": True, "turn": None} if last else {"hand": hand + 2}
        facts[f"{'' if last else 'last_hand.'}pot.{name}"] = bets[agent]
        if live > 1:
            after = f"showdown for {_chips(sum(bets))}"
        else:
            after = f"{poker.agents[folded.index(False)]} takes the pot"
        if not last:
            after += f", then hand {hand + 2}"
    if verb == "fold":
        if final:
            facts[f"chips.{name}"] = as_list(state.chips)[agent] - paid
        effect = f"lose the {_chips(paid)} you paid; {after}"
    elif verb == "check":
        effect = after
    elif verb == "raise":
        cost = bets[agent] - paid
        effect = f"pay {_chips(cost)} ({top - paid} to call, {cost - top + paid} more); {after}"
    else:
        effect = f"pay {_chips(bets[agent] - paid)}; {after}"
    return Choice(words, effect, action, facts=facts)


# ---- rules ---------------------------------------------------------------------------------------


def rules(poker: Poker, agent: int) -> str:
    """The rule book of one seat."""
    n, most = poker.num_agents, poker.most
    others = [name for i, name in enumerate(poker.agents) if i != agent]
    sizes = poker.sizes
    lines = [
        poker.title.upper(),
        f"You are {poker.agents[agent]}, at a table with {_all(others)}. " + _aim(poker),
        "",
        "CARDS",
        _deck(poker),
        "",
        "A HAND",
        f"Everybody pays 1 chip into the pot and is dealt one card, which only its owner sees. "
        f"Seats act in turn, from the one that opens the hand: {_order(poker)}, and round again.",
        "- Nobody has bet in this round: check (do nothing), or bet.",
        "- Somebody has bet: fold (give up the hand and what you paid), or call (pay what you are "
        "behind)" + (", or raise (call, and bet as much again)." if poker.cap > 1 else "."),
        f"- A bet{' or a raise' if poker.cap > 1 else ''} is always {_sizes(poker)}.",
    ]
    if poker.cap > 1:
        lines.append(
            f"- A round has at most {poker.cap} bets and raises together; after that only fold and "
            "call are left."
        )
    else:
        lines.append("- There is one bet in a hand at most; nobody can raise it.")
    lines.append(
        "A round ends when everybody has checked, or when all who are still in have answered the "
        "last bet."
    )
    if poker.boards:
        lines += [
            "After the first round the public card is turned up, which counts for both. Then the "
            "second round begins, with the seat that opened the hand.",
        ]
    lines += [
        "If all others fold, the last one in takes the pot and shows no card. Otherwise, after the "
        "last round, all who are still in show their cards: "
        + (
            "a card of the same rank as the public card (a pair) wins; with no pair, the higher "
            "rank. Equal ranks share the pot."
            if poker.boards
            else "the highest card takes the pot."
        )
        + " Folded cards stay hidden for ever.",
        f"So one hand costs you at most {_chips(most)}.",
    ]
    if poker.hands > 1:
        lines += [
            "",
            "THE MATCH",
            f"The match has {poker.hands} hands. {poker.agents[0]} opens the first, then each hand "
            "is opened by the next seat. Chips count from 0 and may fall below it; everybody plays "
            "to the end.",
        ]
        if poker.duplicate:
            lines[-1] = (
                f"The match has {poker.hands} hands: {_deals(poker)}. Then the same "
                f"{'deals are' if poker.num_deals > 1 else 'deal is'} played again with every seat "
                "in the place, and with the cards, of the seat before it"
                + (", until everybody has been in every place." if n > 2 else ".")
                + f" {poker.agents[0]} opens the first hand. Chips count from 0 and may fall below "
                "it; everybody plays to the end."
            )
    calls = ["check", f"bet {sizes[0]}", "fold", f"call {sizes[0]}"]
    if poker.cap > 1:
        calls.append(f"raise {sizes[0]}")
    later = ""
    if len(set(sizes)) > 1:
        later = f" ({sizes[-1]} instead of {sizes[0]} in the second round)"
    lines += [
        "",
        "HOW TO ANSWER",
        f"Name one action that is open to you: {names_of(calls)}{later}; the number of chips may "
        f"be left out. {how_to_answer('check')}",
    ]
    return "\n".join(lines)


def _aim(poker: Poker) -> str:
    weights = poker.reward_weights
    parts = []
    if weights["chips"]:
        parts.append(f"{weights['chips']:g} for each chip that you win, net of what you paid")
    if weights["win"]:
        parts.append(
            f"{weights['win']:g} if you have most chips at the end, and if another has, "
            f"{-weights['win'] / (poker.num_agents - 1):g} (those who lead together share)"
        )
    return f"Your reward: {'; '.join(parts) or 'nothing'}."


def _deck(poker: Poker) -> str:
    ranks = " < ".join(poker.ranks)
    if poker.suits > 1:
        return (
            f"The deck has {poker.num_cards} cards: the ranks {ranks}, each once in spades and "
            "once in hearts. Suits count for nothing."
        )
    return f"The deck has {poker.num_cards} cards: {ranks}, one of each. One card is not dealt."


def _all(names: list[str]) -> str:
    """ "player_1, player_2 and player_3"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _order(poker: Poker) -> str:
    return ", ".join(poker.agents)


def _sizes(poker: Poker) -> str:
    if poker.rounds == 1:
        return _chips(poker.sizes[0])
    return " and ".join(
        f"{_chips(size)} in the {ROUNDS[r]} round" for r, size in enumerate(poker.sizes)
    )


def _deals(poker: Poker) -> str:
    return f"first {poker.num_deals} with new deals" if poker.num_deals > 1 else "one deal first"


# ---- reading an answer ---------------------------------------------------------------------------


def parse(poker: Poker, text: Any, state: PokerState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one
    that is not open."""
    offers = _offers(poker, state, agent)
    if not offers:
        raise IllegalAction("It is not your turn.")

    others = {"other": {name: i for i, name in enumerate(poker.agents) if i != agent}}

    def refuse(reason: str) -> IllegalAction:
        return _illegal(reason, offers)

    def mean(answer: Answer) -> int | None:
        action = number(answer.plain)
        if action is not None:
            if action not in offers:
                raise refuse(f"there is no action {action} now")
            return action
        plain = answer.plain if answer.kind == REASON else _spelt_out(answer.plain, offers)
        readings = GRAMMAR.read(plain, others)
        if not readings:  # a whole choice
            return _shown_choices(tuple(choices(poker, state, agent))).meaning(answer.plain)
        named: set[int] = set()
        errors = []
        for reading in readings:
            try:
                _check_held(poker, state, agent, reading.values.get("held"))
                named.add(_open(reading, offers, _to_call(state, agent)))
            except IllegalAction as error:
                errors.append(error)
        if errors and not named:
            raise errors[0]
        return named.pop() if len(named) == 1 else None

    remarks = Remarks(figures=False)
    return int(decide(text, mean, refuse, me=poker.agents[agent], remarks=remarks))


# As it is noted down: "f", "x", "b4", "c".
_NOTED = re.compile(r"(?P<letter>[fcxbr]) ?(?P<chips>\d{0,2})")
_NOTES = {"f": "fold", "x": "check", "b": "bet", "r": "raise"}


def _spelt_out(plain: str, offers: dict[int, str]) -> str:
    """An answer with the word for its letter, where it is nothing else; "c" is what is free to do:
    a call or a check."""
    if plain == "chk":
        return "check"
    noted = _NOTED.fullmatch(plain)
    if noted is None or (noted["chips"] and noted["letter"] in "fx"):
        return plain
    passive = "check" if "check" in offers.values() else "call"
    return f"{_NOTES.get(noted['letter'], passive)} {noted['chips']}".strip()


@functools.lru_cache(maxsize=256)
def _shown_choices(shown: tuple[Choice, ...]) -> Grammar:
    """The choices as they are shown, with their effects."""
    return Grammar({choice.action: [" ".join(tokens(choice))] for choice in shown})


def _check_held(poker: Poker, state: PokerState, agent: int, said: str | None) -> None:
    """That the card which an answer names is the player's own."""
    if said is None or said in ("hand", "card", "holding"):
        return
    seen = view_hand(poker, state, agent)
    own, *board = [poker.card_name(card or 0)[0] for card in (seen.cards[agent], *seen.board)]
    if said[0].upper() != own and not (said == "pair" and own in board):
        raise IllegalAction(f"you hold one {own}, no {said}")


def _to_call(state: PokerState, agent: int) -> int:
    bets = as_list(state.bets)
    return int(max(bets) - bets[agent])


def _open(reading: Reading, offers: dict[int, str], due: int) -> int:
    """The action of a reading, if it is open and the chips said with it are right."""
    word, amount, to = reading.meaning, reading.values.get("n"), reading.values.get("to")
    if word == "pass":
        word = "fold" if "fold" in offers.values() else "check"
    if word in ("chips", "all chips"):
        word, amount = _paid(amount, reading, offers, due)
    for action, offer in offers.items():
        name, _, chips = offer.partition(" ")
        if name == word:
            if to is not None and to != due + int(chips):
                raise _illegal(f"you cannot {word} to {to}; it is {offer}", offers)
            if amount is not None and str(amount) != chips:
                raise _illegal(f"you cannot {word} {amount}; it is {offer}", offers)
            _check_said(reading, list(offers).index(action) - len(offers), offers, due)
            return action
    facing = "fold" in offers.values()
    reasons = {
        "check": "there is a bet to answer, so you cannot check",
        "bet": "there is a bet already, so you cannot bet",
        "raise": "no raise is left in this round" if facing else "there is nothing to raise yet",
        "call": "there is no bet to call",
        "fold": "there is no bet to fold to, and checking is free",
    }
    raise _illegal(reasons[word], offers)


def _paid(
    chips: int | None, reading: Reading, offers: dict[int, str], due: int
) -> tuple[str, int | None]:
    """The move that pays so many chips, and its own number of them: a bet; a raise, if it is said
    that they are all that it costs; or a call, where they cannot be a raise."""
    if "fold" not in offers.values():
        return "bet", chips
    raises = [int(offer.split()[1]) for offer in offers.values() if offer.startswith("raise")]
    if not raises:
        return "call", chips
    if reading.meaning == "chips" or chips != due + raises[0]:
        return "bet", chips
    if reading.values.get("by", raises[0]) != raises[0]:
        raise _illegal(f"{chips} chips are a raise of {raises[0]}", offers)
    return "raise", raises[0]


def _check_said(reading: Reading, behind: int, offers: dict[int, str], due: int) -> None:
    """What an answer says of its move: its place among the options, counted from the last one in
    `behind`, and the chips that a call would cost."""
    values = reading.values
    if values.get("at", behind) not in (behind, behind + len(offers) + 1):
        raise _illegal(f"{offers[list(offers)[behind]]} is another option", offers)
    if values.get("due", due) != due:
        raise _illegal(f"to call costs {due}, not {values['due']}", offers)


def _illegal(reason: str, offers: dict[int, str]) -> IllegalAction:
    return IllegalAction(
        f"{reason}. Answer with exactly one of the actions open to you: "
        f"{names_of(list(offers.values()))}."
    )


# ---- the true state ------------------------------------------------------------------------------


def to_dict(poker: Poker, state: PokerState) -> dict[str, Any]:
    """The true state in plain names and numbers."""
    n, turn = poker.num_agents, int(state.turn)
    found = {
        "hand": int(state.hand) + 1,
        "hands": poker.hands,
        **_hand_dict(poker, view_hand(poker, state, None)),
        "face_down": [poker.card_name(card) for card in as_list(state.board)[int(state.round) :]],
        "turn": poker.agents[turn] if turn < n else None,
        "chips": dict(zip(poker.agents, as_list(state.chips), strict=True)),
    }
    if poker.hands > 1 and int(state.hand):
        assert state.last is not None
        won = dict(zip(poker.agents, as_list(state.last.won), strict=True))
        found["last_hand"] = _hand_dict(poker, view_last_hand(poker, state, None)) | {"won": won}
    return found


def _hand_dict(poker: Poker, seen: HandView) -> dict[str, Any]:
    names = poker.agents
    return {
        "opens": names[seen.first],
        "cards": {
            name: poker.card_name(card)
            for name, card in zip(names, seen.cards, strict=True)
            if card is not None
        },
        "board": [poker.card_name(card) for card in seen.board],
        "betting": [
            [f"{names[move.seat]} {move.word} {move.chips or ''}".strip() for move in moves]
            for moves in seen.rounds
        ],
        "pot": dict(zip(names, seen.bets, strict=True)),
        "folded": [name for name, out in zip(names, seen.folded, strict=True) if out],
    }
