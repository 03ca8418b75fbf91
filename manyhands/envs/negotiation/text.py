"""Negotiations in words: rule book, description, choices, and reading what a player answers.

All that `describe` says is said from `observe.observation`, the row of numbers that the player's
vector is made of, in sentences of a fixed form from which that row can be rebuilt. What differs
between forms (`forms/`) each form says itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.reading import answers
from manyhands.core.reading.spelling import DONE, Spelling
from manyhands.core.talk import Message
from manyhands.envs.negotiation import observe
from manyhands.envs.negotiation import rules as rulebook
from manyhands.envs.negotiation.choosing import choices as choices_of
from manyhands.envs.negotiation.choosing import text_of
from manyhands.envs.negotiation.forms import Bargain
from manyhands.envs.negotiation.history import (
    entries,
    last_step,
    move_words,
    outcome_words,
    refusals,
    rounds_of,
    spoken,
    steps_of,
)
from manyhands.envs.negotiation.state import (
    CHAT,
    CLAIM,
    OFFER,
    OVER,
    PICK,
    PROPOSE,
    RESPOND,
    ROUNDS,
    SAY,
    TALK,
    TURNS,
    WALK,
    NegotiationState,
)
from manyhands.envs.negotiation.words import Observation, amount, listed, owned

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation


def observation(
    env: Negotiation, state: NegotiationState, agent: int, you: bool = True
) -> Observation:
    """What a player knows of a state, by name."""
    return observe.observation(env.scenario, env.observation_layout, state, agent, you)


def history(env: Negotiation, state: NegotiationState) -> list[str]:
    """The last moves in words, with everybody's name."""
    seen = observation(env, state, 0, you=False)
    return [move_words(env, seen, entry) for entry in entries(env, seen)]


# ---- description ---------------------------------------------------------------------------------


def describe(
    env: Negotiation, state: NegotiationState, agent: int, talk: Sequence[Message] = ()
) -> str:
    """What the player knows, as text, as long as `env.detail` says; with the free words of `talk`
    where they are given."""
    seen = observation(env, state, agent)
    data, goods = env.scenario, env.scenario.goods
    brief = env.detail == "brief"
    played = env.max_steps - int(seen["steps_left"][0])
    if seen.phase == OVER:
        ended = ""
        if "deals" in env.at and not data.accumulates:
            ended = ", with a deal" if seen["deals"][0] else ", without a deal"
        lines = [f"It is over, after {played} of at most {env.max_steps} turns{ended}."]
    else:
        phase = data.choice_phase if seen.phase == PICK else _PHASES[seen.phase]
        lines = [f"Turn {played + 1} of at most {env.max_steps}. {phase}"]
    if data.flow == ROUNDS:
        rounds, leader = int(seen["rounds_left"][0]), seen.marked("lead")
        leads = data.lead_words(seen, leader or 0)
        if rounds:
            number = data.rounds - rounds + 1
            lines.append(f"{data.round_name.capitalize()} {number} of {data.rounds}. {leads}")
        else:
            played_all = f"All {data.rounds} {data.round_name}s have been played"
            if data.rounds == 1:
                played_all = f"The {data.round_name} has been played"
            lines.append(f"{played_all}. (Were there one more: {leads})")
    movers = [seen.who(int(j)) for j in np.flatnonzero(seen["to_move"])]
    together = " (at the same time)" if len(movers) > 1 else ""
    if not brief or len(movers) > 1:
        lines.append(f"To move: {listed(movers) if movers else 'nobody'}{together}.")
    role = f", {data.roles[agent]}" if data.roles else ""
    lines.append(f"You are {env.agents[agent]}{role}.")
    if "pool" in env.at:
        lines.append(f"{data.pool_place}: {amount(goods, seen['pool'])}.")
    if not brief or len(goods) > 1 or seen["own_values"].tolist() != [1]:
        lines.append(data.value_words(seen))
    if "own_outside" in env.at:
        lines.append(f"Having no deal is worth {seen['own_outside'][0]} to you.")
    if "own_holdings" in env.at and not (brief and not seen["own_holdings"].any()):
        lines.append(f"You {data.owning[0]}: {owned(goods, seen['own_holdings'])}.")
    if "other_holdings" in env.at:
        rows = seen["other_holdings"].reshape(-1, len(goods))
        for name, row in zip(seen.names[1:], rows, strict=True):
            lines.append(f"{name} {data.owning[1]}: {owned(goods, row)}.")
    lines += data.own_words(seen)
    if env.detail == "full":
        lines += data.full_words(seen)
    if isinstance(data, Bargain):
        maker = seen.marked("offer_by")
        if maker is not None:
            words = data.offer_words(seen, maker, seen["offer"])
            means = "nothing: it is over"
            if seen.phase != OVER:
                means = data.offer_means(seen, maker, seen["offer"])
                if maker and data.why_not_accept(seen):
                    means += f"; you cannot accept, for {data.why_not_accept(seen)}"
            lines.append(f"Standing offer, by {seen.who(maker)}: {words} (then {means}).")
        elif not brief:
            lines.append("Standing offer: none.")
    if "claims" in env.at and not (brief and not seen["claims"].any()):
        lines.append(_claims(env, seen))
    if "deals" in env.at and data.accumulates and not brief:
        lines.append(f"Deals so far: {seen['deals'][0]}.")
    return "\n".join([*lines, *_past(env, state, seen, talk)])


BRIEF_MOVES = 4  # moves before those of the last step that a brief text tells


def _past(
    env: Negotiation, state: NegotiationState, seen: Observation, talk: Sequence[Message]
) -> list[str]:
    """The moves before the last step, and those of the last step with what came of them."""
    log = entries(env, seen)
    aloud = spoken(env, seen, log, int(state.time), talk)
    noes = refusals(env.scenario, log)
    moves = [
        f"- {move_words(env, seen, entry, said, refuses=k in noes)}"
        for k, (entry, said) in enumerate(zip(log, aloud, strict=True))
    ]
    brief = env.detail == "brief"
    if not moves:
        return [] if brief else ["History: nothing yet."]
    size = last_step(env.scenario, state)[1]
    first, end = 0, len(moves) - size  # the moves before the last step that are told
    left_out = len(log) == env.memory and steps_of(env.scenario, log, int(state.time))[0] > 0
    if brief:
        left_out |= end > BRIEF_MOVES
        first = max(end - BRIEF_MOVES, 0)
    rounds, name = rounds_of(env.scenario, log, state), env.scenario.round_name
    lines = []
    if first < end:
        header = "History, oldest first" + " (earlier moves left out)" * bool(left_out)
        lines.append(f"{header}:")
    for k in range(first, end):
        if rounds and (k == first or rounds[k] != rounds[k - 1]):
            lines.append(f"{name.capitalize()} {rounds[k]}:")
        lines.append(moves[k])
    if size:
        when = f" ({name} {rounds[-1]})" if rounds else ""
        lines += [f"Last step{when}:", *moves[end:], *outcome_words(env, state, seen)]
    return lines


_PHASES = {
    TURNS: "Offers and talk.",
    TALK: "Discussion.",
    PROPOSE: "A proposal is to be made.",
    RESPOND: "The proposal is to be answered.",
}


def _claims(env: Negotiation, seen: Observation) -> str:
    """What players said about themselves, last of each good."""
    parts = []
    for j, row in enumerate(seen["claims"].reshape(len(seen.names), -1)):
        stated = zip(env.scenario.goods, row, strict=True)
        one = len(env.scenario.goods) == 1
        said = [f"{'' if one else f'{good} '}{value - 1}" for good, value in stated if value]
        if said:
            parts.append(f"{seen.who(j)}: {', '.join(said)}")
    name = {"pledge": "Pledged catches, at most", "outside": "Claimed worth of no deal"}
    item = len(env.scenario.goods) == 1 and env.scenario.roles  # its cost, and its value
    usual = "Claimed cost or value" if item else "Claimed worth, each"
    about = name.get(env.scenario.about, usual)
    return f"{about}: {'; '.join(parts) or 'none'}."


# ---- choices -------------------------------------------------------------------------------------


def choices(env: Negotiation, state: NegotiationState, agent: int) -> list[Choice]:
    """The legal actions in words; in a trade, the legal parts of one, too."""
    able = legal(env, state, agent)
    return choices_of(env, state, observation(env, state, agent), able, parts=True)


def legal(env: Negotiation, state: NegotiationState, agent: int) -> np.ndarray:
    return rulebook.legal(env.scenario, state, np)[agent]


def words(env: Negotiation, action: Any, state: NegotiationState, agent: int) -> str:
    """A whole action in words."""
    seen = observation(env, state, agent)
    row = np.atleast_1d(np.asarray(action)).astype(int)
    kind = max(k for k, size in enumerate(env.sizes) if size and env.first[k] <= row[0])
    if env.scenario.composed and kind == OFFER:
        return f"offer {env.scenario.offer_words(seen, 0, row[1:])}"
    return text_of(env, seen, kind, int(row[0]) - env.first[kind])


def spelling(env: Negotiation, state: NegotiationState, agent: int) -> Spelling:
    """The legal answers where offers are composed: the choices, and all offers."""
    seen, able = observation(env, state, agent), legal(env, state, agent)
    offered = choices_of(env, state, seen, able, parts=False)
    first, size = env.first[OFFER], env.sizes[OFFER]
    offers = range(first, first + size)
    plain: list[tuple[str, Any]] = [
        (choice.text, DONE) for choice in offered if int(choice.action[0]) not in offers
    ]
    if not able[first : first + size].any():
        return Spelling(lambda _: plain)
    most = [*env.scenario.most, *env.scenario.most]
    marks = np.cumsum([env.moves, *(int(units) + 1 for units in most)])
    parts = [np.flatnonzero(able[a:b]) for a, b in itertools.pairwise(marks)]
    sides = env.scenario.spelled([part[part > 0].tolist() for part in parts])
    begun = [("offer ", sides.start)]
    return Spelling(lambda s: [*plain, *begun] if s == "" else sides.pieces(s))


# ---- rules ---------------------------------------------------------------------------------------


def rules(env: Negotiation, agent: int) -> str:
    """The rule book of one player."""
    data, n = env.scenario, env.num_agents
    others = [name for i, name in enumerate(env.agents) if i != agent]
    role = f", {data.roles[agent]}" if data.roles else ""
    lines = [
        f"NEGOTIATION: {data.name.replace('_', ' ').upper()}",
        f"You are {env.agents[agent]}{role}; the other{'s are' * (n > 2) or ' is'} "
        f"{listed(others)}. The game lasts {env.max_steps} turns at most.",
        *data.rules_words(),
        _aim(env),
        "",
        "TURNS",
        _turns(env),
    ]
    if data.claims.size and env.sizes[CLAIM]:
        what = data.claim_rule(agent)
        lines.append(f"{what} Nothing forces it to be true, and nobody has to believe it.")
    if env.chat is not None:
        lines += ["", "TALKING", *_talking(env)]
    lines += ["", "HOW TO ANSWER", *_answering(env, agent)]
    return "\n".join(lines)


_DEEDS = {
    "gain": "for each point that you gain",
    "win": "if you gain most (the opposite if another one does, nothing if the best are equal)",
    "agreement": "if there is a deal",
    "efficiency": "times the joint gain over the best possible one",
    "pareto": "if no other outcome is better for one of you and worse for none",
    "nash_product": "times the product of all gains",
    "envy": "for each point by which you would rather have another's part",
    "truthful": "for each claim that is true, or pledge that is kept",
    "untruthful": "for each claim that is false, or pledge that is broken",
    "survival": "for each month that the lake survives",
    "equality": "times how equal all ends (1 if all own the same)",
    "given": "for each coin that you give",
    "punished": "for each coin that you spend on punishing",
}


def _aim(env: Negotiation) -> str:
    """The reward, in words."""
    parts = [f"{w:g} {_DEEDS[name]}" for name, w in env.reward_weights.items() if w]
    return f"Your reward: {'; '.join(parts) or 'none'}."


def _turns(env: Negotiation) -> str:
    data = env.scenario
    if data.flow == CHAT:
        return (
            "player_0 begins; you take turns. In a turn you do one thing: propose, speak, claim, "
            "end the talk (ready), walk away, or pass."
        )
    if data.flow != ROUNDS:
        return (
            "player_0 begins; you take turns. In a turn you do one thing: offer, accept, reject, "
            "speak, claim, walk away, or pass. An offer replaces the one that stood before. Only "
            "the other can accept or reject it; a rejected offer is closed. An offer stays open "
            "while the two of you talk. What is offered in the last turn can no longer be answered."
        )
    decided = data.decision_words()
    if data.discussion:
        times = "once" if data.discussion == 1 else f"{data.discussion} times"
        first = f"Each {data.round_name} begins with a discussion: everybody speaks {times}, "
        first += f"in turns, {data.agents[0]} first. "
        if data.rounds > 1:
            first += f"In each later {data.round_name} the next player begins. "
        return f"{first}Then {decided[0].lower()}{decided[1:]}"
    return decided


def _talking(env: Negotiation) -> list[str]:
    assert env.chat is not None
    lines = [
        "Beside any move you may say something in your own words, in a line of its own below it: "
        f'"SAY: ...", in at most {env.chat.max_length} characters. Others hear it before they move '
        "next. What players say are their words, not rules of the game."
    ]
    if env.sizes[SAY]:
        lines.append(
            "Words alone are a move, where there is a turn for talk. Some players understand "
            "phrases only, and hear of your words the nearest one of these, if one is near: "
            + "; ".join(f'"{phrase}"' for phrase in env.phrases)
            + "."
        )
    return lines


def _answering(env: Negotiation, agent: int) -> list[str]:
    data = env.scenario
    speak = ', "SAY: ..." alone to speak' if env.sizes[SAY] else ""
    words = data.answer_words(agent)
    example = words.split('"')[1]
    example = example if len(example) < 30 else "accept"
    claim = f', "{data.claim_example}"' if env.sizes[CLAIM] else ""
    away = ', "walk away"' if env.sizes[WALK] else ""
    # Where a choice is passed with a meaning of its own, the rules have told so.
    passing = "" if '"pass"' in words else ', "pass"'
    return [
        f"Moves are the choices offered; in short: {words}{claim}{speak}{away}{passing}. Amounts "
        f"are whole numbers. {answers.how_to_answer(example)}"
    ]
