"""Negotiations in words: rule book, description, choices, and reading what a player answers.

All that `describe` says is said from `observe.observation`, the row of numbers that the player's
vector is made of, in sentences of a fixed form from which that row can be rebuilt. What differs
between forms (`forms/`) each form says itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core import answers
from manyhands.core.talk import OTHER
from manyhands.envs.negotiation import observe
from manyhands.envs.negotiation import rules as rulebook
from manyhands.envs.negotiation.forms import Bargain
from manyhands.envs.negotiation.state import (
    ACCEPT,
    CHAT,
    CLAIM,
    KINDS,
    OFFER,
    OVER,
    PASS,
    PICK,
    PROPOSE,
    READY,
    REJECT,
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
    return [_move(env, seen, entry) for entry in entries(env, seen)]


def entries(env: Negotiation, seen: Observation) -> np.ndarray:
    """[moves, 3 + K], the moves that are remembered."""
    log = seen["log"].reshape(env.memory, -1)
    return log[log[:, 0] > 0]


def _move(env: Negotiation, seen: Observation, entry: np.ndarray) -> str:
    """A line of the history: who did what."""
    number, kind, word = map(int, entry[:3])
    data, place, content = env.scenario, number - 1, entry[3:]
    own = data.entry_words(seen, entry)
    if own is not None:
        return own
    who = seen.who(place)
    if kind == SAY:
        said = OTHER if word > len(env.phrases) else f'"{env.phrases[word - 1]}"'
        return f"{who} said: {said}"
    if kind == CLAIM:
        verb = "pledged" if data.about == "pledge" else "claimed"
        return f'{who} {verb}: "{data.claim_words(seen, word - 1, place == 0)}"'
    if kind == OFFER:
        words = data.offer_words(seen, place, content)
        if word:
            return f"{who} chose in private: {words}"
        verb = "propose" if data.flow in (CHAT, ROUNDS) else "offer"
        return f"{who} {seen.verb(place, verb)}: {words}"
    return f"{who}: {KINDS[kind]}"


# ---- description ---------------------------------------------------------------------------------


def describe(env: Negotiation, state: NegotiationState, agent: int) -> str:
    """What the player knows, as text."""
    seen = observation(env, state, agent)
    data, goods = env.scenario, env.scenario.goods
    played = env.max_steps - int(seen["steps_left"][0])
    if seen.phase == OVER:
        lines = [f"It is over, after {played} of at most {env.max_steps} turns."]
    else:
        phase = data.choice_phase if seen.phase == PICK else _PHASES[seen.phase]
        lines = [f"Turn {played + 1} of at most {env.max_steps}. {phase}"]
    if data.flow == ROUNDS:
        rounds, leader = int(seen["rounds_left"][0]), seen.marked("lead")
        if rounds:
            number = data.rounds - rounds + 1
            now = f"{data.round_name.capitalize()} {number} of {data.rounds}."
        else:
            now = f"All {data.rounds} {data.round_name}s have been played."
        lines.append(f"{now} {data.lead_words(seen, leader or 0)}")
    movers = [seen.who(int(j)) for j in np.flatnonzero(seen["to_move"])]
    together = " (at the same time)" if len(movers) > 1 else ""
    lines.append(f"To move: {listed(movers) if movers else 'nobody'}{together}.")
    role = f", {data.roles[agent]}" if data.roles else ""
    lines.append(f"You are {env.agents[agent]}{role}.")
    if "pool" in env.at:
        lines.append(f"{data.pool_place}: {amount(goods, seen['pool'])}.")
    lines.append(data.value_words(seen))
    if "own_outside" in env.at:
        lines.append(f"Having no deal is worth {seen['own_outside'][0]} to you.")
    if "own_holdings" in env.at:
        lines.append(f"You {data.owning[0]}: {owned(goods, seen['own_holdings'])}.")
    if "other_holdings" in env.at:
        rows = seen["other_holdings"].reshape(-1, len(goods))
        for name, row in zip(seen.names[1:], rows, strict=True):
            lines.append(f"{name} {data.owning[1]}: {owned(goods, row)}.")
    lines += data.own_words(seen)
    if isinstance(data, Bargain):
        maker = seen.marked("offer_by")
        if maker is None:
            lines.append("Standing offer: none.")
        else:
            words = data.offer_words(seen, maker, seen["offer"])
            means = data.offer_means(seen, maker, seen["offer"])
            lines.append(f"Standing offer, by {seen.who(maker)}: {words} (then {means}).")
    if "claims" in env.at:
        lines.append(_claims(env, seen))
    if "deals" in env.at:
        lines.append(f"Deals so far: {seen['deals'][0]}.")
    moves = [f"- {_move(env, seen, entry)}" for entry in entries(env, seen)]
    lines += ["History, oldest first:", *moves] if moves else ["History: nothing yet."]
    return "\n".join(lines)


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
        said = [f"{good} {value - 1}" for good, value in stated if value]
        if said:
            parts.append(f"{seen.who(j)}: {', '.join(said)}")
    name = {"pledge": "Pledged catches, at most", "outside": "Claimed worth of no deal"}
    about = name.get(env.scenario.about, "Claimed worth, each")
    return f"{about}: {'; '.join(parts) or 'none'}."


# ---- choices -------------------------------------------------------------------------------------


def choices(env: Negotiation, state: NegotiationState, agent: int) -> list[str]:
    """The legal actions in words; in a trade, the legal parts of one."""
    return choices_of(env, observation(env, state, agent), legal(env, state, agent))


def legal(env: Negotiation, state: NegotiationState, agent: int) -> np.ndarray:
    return rulebook.legal(env.scenario, state, np)[agent]


def choices_of(env: Negotiation, seen: Observation, able: np.ndarray) -> list[str]:
    data, found = env.scenario, []
    for kind, (first, size) in enumerate(zip(env.first, env.sizes, strict=True)):
        for number in np.flatnonzero(able[first : first + size]):
            found.append(_choice(env, seen, kind, int(number)))
    if data.composed and able.any():
        start = env.moves
        for verb in ("give", "ask"):
            for good, most in zip(data.goods, data.most, strict=True):
                for units in np.flatnonzero(able[start : start + int(most) + 1]):
                    found.append(f"{verb} {units or 'no'} {good}")
                start += int(most) + 1
    return found


def _choice(env: Negotiation, seen: Observation, kind: int, number: int) -> str:
    data, phrases = env.scenario, env.phrases
    if kind == PASS:
        what = data.choosing_nothing if seen.phase == PICK else _PASSING[seen.phase]
        return f"pass: {what}"
    if kind in (ACCEPT, REJECT):
        maker = seen.marked("offer_by")
        assert maker is not None and isinstance(data, Bargain)
        if kind == REJECT:
            return f"reject: turn down the offer of {seen.who(maker)}"
        return f"accept: {data.offer_means(seen, maker, seen['offer'])}"
    if kind == WALK:
        return f"walk away: {data.walking_away}"
    if kind == READY:
        return "ready: end the talk; then both state in private what they take"
    if kind == SAY:
        return f"say: {phrases[number] if number < len(phrases) else OTHER}"
    if kind == CLAIM:
        verb = "pledge" if data.about == "pledge" else "claim"
        return f"{verb}: {data.claim_words(seen, number, True)}"
    return data.choice_words(seen, data.example(seen) if data.composed else data.offers[number])


def words(env: Negotiation, action: Any, state: NegotiationState, agent: int) -> str:
    """A whole action in words."""
    seen = observation(env, state, agent)
    row = np.atleast_1d(np.asarray(action)).astype(int)
    kind = max(k for k, size in enumerate(env.sizes) if size and env.first[k] <= row[0])
    if env.scenario.composed and kind == OFFER:
        return f"offer {env.scenario.offer_words(seen, 0, row[1:])}"
    return _choice(env, seen, kind, int(row[0]) - env.first[kind])


_PASSING = {
    TURNS: "let the turn go by",
    TALK: "say nothing",
    PROPOSE: "propose nothing; the round is lost",
    RESPOND: "no answer, which is a no",
}

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
        what = {
            "pledge": "A pledge names the most that you will catch in this month's harvest.",
            "outside": "A claim states what having no deal is worth to you.",
        }.get(data.about, "A claim states what something is worth to you.")
        lines.append(f"{what} Nothing forces it to be true.")
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
            "while the two of you talk."
        )
    first = ""
    if data.discussion:
        times = "once" if data.discussion == 1 else f"{data.discussion} times"
        first = f"Each {data.round_name} begins with a discussion: everybody speaks {times}, "
        first += "in turns. "
    return first + data.decision_words()


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
    return [
        f'Moves are the choices offered; in short: {words}{claim}{speak}{away}, "pass". Amounts '
        f"are whole numbers. {answers.how_to_answer(example)}"
    ]
