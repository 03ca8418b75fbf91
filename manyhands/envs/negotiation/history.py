"""The last moves of a negotiation: in words, with what was said beside them, and as events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.core.talk import OTHER, Message, clean
from manyhands.envs.negotiation.forms import Bargain, Scenario
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
from manyhands.envs.negotiation.words import Observation

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation

SHOWN = 120  # characters of free words that are shown of steps before the last one


def entries(env: Negotiation, seen: Observation) -> np.ndarray:
    """[moves, 3 + K], the moves that are remembered."""
    log = seen["log"].reshape(env.memory, -1)
    return log[log[:, 0] > 0]


# ---- when moves were made ------------------------------------------------------------------------


def steps_of(data: Scenario, log: np.ndarray, time: int) -> list[int]:
    """The number of the step in which each of the last moves was made; `time` is the number of the
    next step."""
    steps: list[int] = []
    left, step = len(log), time - 1
    while left > 0:
        size = min(_together(data, log[:left], step), left)
        steps += [step] * size
        left, step = left - size, step - 1
    return steps[::-1]


def _together(data: Scenario, log: np.ndarray, step: int) -> int:
    """How many of the last moves were made in the last step."""
    n, kinds = data.players, log[:, 1]
    if data.flow == CHAT:
        picked = any(kind == OFFER and word for kind, word in log[-n:, 1:3].tolist())
        return n if picked or (len(log) > n and kinds[-n - 1] == READY) else 1
    if data.flow != ROUNDS:
        return 1
    if not data.bargains:
        talk = n * data.discussion
        return n if data.chooses == "all" and step % (talk + 1) == talk else 1
    answers = len(log) >= n and kinds[-n] == OFFER
    cut = len(log) < n and bool(np.isin(kinds, (ACCEPT, REJECT)).any())
    return n - 1 if answers or cut else 1


def rounds_of(data: Scenario, log: np.ndarray, state: NegotiationState) -> list[int]:
    """The number of the round, from 1, in which each of the last moves was made; empty where there
    are no rounds, or one only."""
    if data.flow != ROUNDS or data.rounds < 2:
        return []
    talk, time = data.players * data.discussion, int(state.time)
    steps = steps_of(data, log, time)
    if not data.bargains:
        return [step // (talk + 1) + 1 for step in steps]
    proposals = {
        step for step, kind in zip(steps, log[:, 1].tolist(), strict=True) if kind == OFFER
    }
    # Back from the round that is being played, whose first step is `start`: the one before ended
    # with the answers to a proposal, or with none.
    number, start, rounds = int(state.round) + 1, time - _in_round(data, state), []
    for step in reversed(steps):
        while step < start:
            number -= 1
            start -= talk + (2 if start - 2 in proposals else 1)
        rounds.append(number)
    return rounds[::-1]


def _in_round(data: Scenario, state: NegotiationState) -> int:
    """How many steps were made in the round that is being played, where there are proposals."""
    talk, phase = data.players * data.discussion, int(state.phase)
    if phase == OVER:  # in the middle of a round, unless it was the last one that was lost
        if last_step(data, state)[0] == RESPOND:
            return talk + 2 if state.deals else 0
        return talk + 1 if state.log[-1, 1] == OFFER else int(state.talked)
    return {PROPOSE: talk, RESPOND: talk + 1}.get(phase, int(state.talked))


def last_step(data: Scenario, state: NegotiationState) -> tuple[int, int]:
    """(the phase that the last step was made in, how many moves of the log were made in it); of the
    first state (`OVER`, 0)."""
    log, n = state.log[state.log[:, 0] > 0], data.players
    if not int(state.time) or not len(log):
        return OVER, 0
    step = int(state.time) - 1
    size = min(_together(data, log, step), len(log))
    if data.flow == CHAT:
        return (PICK if size == n else TURNS), size
    if data.flow != ROUNDS:
        return TURNS, size
    if not data.bargains:
        talk = n * data.discussion
        return (PICK if step % (talk + 1) == talk else TALK), size
    answers = len(log) >= n and log[-n, 1] == OFFER
    return (RESPOND if answers else PROPOSE), size


def refusals(data: Scenario, log: np.ndarray) -> list[int]:
    """Which of the last moves were passes in place of an answer to a proposal."""
    if data.flow != ROUNDS or not data.bargains:
        return []
    kinds = log[:, 1].tolist()
    return [
        k
        for k, kind in enumerate(kinds)
        if kind == PASS and OFFER in kinds[max(k - data.players + 1, 0) : k]
    ]


# ---- in words ------------------------------------------------------------------------------------


def move_words(
    env: Negotiation,
    seen: Observation,
    entry: np.ndarray,
    aloud: str = "",
    refuses: bool = False,
) -> str:
    """A line of the history: who did what, and the free words that were said with it; `refuses`:
    whether it is a pass in place of an answer."""
    number, kind, word = map(int, entry[:3])
    data, place, content = env.scenario, number - 1, entry[3:]
    own = data.entry_words(seen, entry)
    who, beside = seen.who(place), f", saying {_quoted(aloud)}" if aloud else ""
    if own is not None:
        return own + beside
    if kind == SAY:
        if aloud:
            return f"{who} said: {_quoted(aloud)}"
        return f"{who} said: " + (
            OTHER if word > len(env.phrases) else f'"{env.phrases[word - 1]}"'
        )
    if kind == CLAIM:
        verb = "pledged" if data.about == "pledge" else "claimed"
        return f'{who} {verb}: "{data.claim_words(seen, word - 1, place == 0)}"{beside}'
    if kind == OFFER:
        words = data.offer_words(seen, place, content)
        if word:
            return f"{who} chose in private: {words}{beside}"
        verb = "propose" if data.flow in (CHAT, ROUNDS) else "offer"
        return f"{who} {seen.verb(place, verb)}: {words}{beside}"
    no = " (no answer, which is a no)" if refuses else ""
    return f"{who}: {KINDS[kind]}{no}{beside}"


def _quoted(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


def spoken(
    env: Negotiation, seen: Observation, log: np.ndarray, time: int, talk: Sequence[Message]
) -> list[str]:
    """The free words that were said with each of the last moves, "" where there were none. Those of
    steps before the last one are cut to `SHOWN` characters."""
    if not talk or env.chat is None:
        return [""] * len(log)
    said = {(message.sender, message.step): message.text for message in talk}
    most = env.chat.max_length
    return [
        clean(
            said.get((seen.names[int(entry[0]) - 1], step), ""),
            most if step == time - 1 else min(SHOWN, most),
        )
        for entry, step in zip(log, steps_of(env.scenario, log, time), strict=True)
    ]


def outcome_words(env: Negotiation, state: NegotiationState, seen: Observation) -> list[str]:
    """What came of the last step, as sentences."""
    data, lines = env.scenario, []
    for event in last_events(env, state):
        kind = event["event"]
        if kind == "deal" and isinstance(data, Bargain):
            agreed = _agreed(data, state)
            if agreed is None:
                continue
            maker, content = agreed
            place = (maker - seen.agent) % data.players
            columns = [np.array([number]) for number in content]
            order = [(seen.agent + j) % data.players for j in range(data.players)]
            shown = np.concatenate(data.seen_offer(columns, seen.agent, order, np))
            lines.append(f"That is a deal: {data.deal_words(seen, place, shown)}.")
        elif kind == "no agreement":
            lines.append("That is no deal.")
        elif kind == "collapse":
            lines.append(f"The lake has collapsed: only {event['stock']} tons were left.")
        elif kind == "over" and event["why"] == "talks broke off":
            lines.append("The talks broke off.")
    return lines


# ---- as events -----------------------------------------------------------------------------------


def event_kinds(data: Scenario) -> tuple[str, ...]:
    """Each "event" that `last_events` may tell."""
    own = ("take", "pledge", "deal", "no agreement", "over")
    return tuple(dict.fromkeys((*KINDS, *own, *data.event_kinds)))


def last_events(env: Negotiation, state: NegotiationState) -> list[dict[str, Any]]:
    """What happened in the last step; all of it is public."""
    data, n = env.scenario, env.num_agents
    phase, size = last_step(data, state)
    if not size:
        return []
    rows = state.log[env.memory - size :]
    events = [_move_event(env, phase, row) for row in rows]
    kinds = rows[:, 1].tolist()
    yes = kinds.count(ACCEPT)
    dealt = phase == TURNS and yes > 0
    if phase == RESPOND:
        needed = n - 1 if data.unanimous else n // 2
        dealt = yes >= needed
    elif phase == PICK and data.bargains:
        dealt = bool(state.deals)
    if dealt:
        events.append({"event": "deal"})
        agreed = _agreed(data, state)
        if agreed is not None:
            maker, content = agreed
            events[-1] |= {"by": env.agents[maker], "offer": data.offer_data(content.tolist())}
    elif phase == RESPOND:
        events.append({"event": "no agreement", "votes": yes + 1})
    if phase == PICK and not data.bargains:
        events += data.outcome_events(state)
    if int(state.phase) == OVER:
        events.append({"event": "over", "why": _why(env, state, kinds, events)})
    return events


def _agreed(data: Scenario, state: NegotiationState) -> tuple[int, np.ndarray] | None:
    """(the index of the maker, i[K]) of the offer that a deal of the last step was made on; None
    where so much was said since that it is not remembered."""
    phase, size = last_step(data, state)
    if phase == PICK:  # both took what they had in mind
        return 0, np.asarray(state.holdings[0], int)
    before = state.log[: len(state.log) - size].astype(int)
    made = np.flatnonzero((before[:, 0] > 0) & (before[:, 1] == OFFER))
    return (int(before[made[-1], 0]) - 1, before[made[-1], 3:]) if len(made) else None


def _why(
    env: Negotiation, state: NegotiationState, kinds: list[int], events: list[dict[str, Any]]
) -> str:
    """Why all is over."""
    happened = {event["event"] for event in events}
    if "collapse" in happened:
        return "the lake collapsed"
    if "deal" in happened and not env.scenario.accumulates:
        return "deal"
    if WALK in kinds:
        return "walked away"
    if env.scenario.flow == ROUNDS and int(state.round) >= env.scenario.rounds:
        return "all rounds are played"
    if int(state.time) >= env.max_steps:
        return "time is up"
    picked = last_step(env.scenario, state)[0] == PICK
    return "no agreement" if picked else "talks broke off"


def _move_event(env: Negotiation, phase: int, row: np.ndarray) -> dict[str, Any]:
    """The event of one move."""
    data, kind, word = env.scenario, int(row[1]), int(row[2])
    content = row[3:].tolist()
    agent = {"agent": env.agents[int(row[0]) - 1]}
    if kind == SAY:
        known = word <= len(env.phrases)
        return {"event": "say", **agent, "phrase": env.phrases[word - 1] if known else None}
    if kind == CLAIM:
        good, number = map(int, data.claims[word - 1])
        if data.about == "pledge":
            return {"event": "pledge", **agent, "most": number}
        about = "no deal" if data.about == "outside" else data.goods[good]
        return {"event": "claim", **agent, "about": about, "worth": number}
    if kind == OFFER and data.bargains:
        name = "take" if phase == PICK else "offer"
        return {"event": name, **agent, "offer": data.offer_data(content)}
    if kind == OFFER:
        found = data.choice_event(content)
        return {"event": found["event"], **agent, **found}
    return {"event": "walk away" if kind == WALK else KINDS[kind], **agent}


# ---- as numbers ----------------------------------------------------------------------------------


def event_names(data: Scenario) -> tuple[str, ...]:
    """Names of the numbers of `event_codes`."""
    players = ["you", *(f"next_{j}" for j in range(1, data.players))]
    parts = [*KINDS, "words", *data.offer_names]
    return (*(f"{player}: {part}" for player in players for part in parts), "deal", "over")


def event_codes(data: Scenario, state: NegotiationState) -> Array:
    """f32[N, K, ...]: for each player, oneself first, which kind of move it made in the last step
    (a bit each; none if it did not move), the number of its phrase or claim, and its offer, divided
    by the largest; whether there was a deal, and whether all is over. Traceable."""
    n, axes = data.players, state.time.ndim
    log = state.log[data.memory - n :].astype(jnp.int32)
    kind, no = log[:, 1], jnp.zeros(state.time.shape, bool)
    picked = answered = no
    if data.flow == CHAT:
        picked = jnp.any((kind == OFFER) & (log[:, 2] > 0), axis=0)
        if data.memory > n:
            picked = picked | (state.log[data.memory - n - 1, 1] == READY)
    elif data.flow == ROUNDS and data.bargains:
        answered = kind[0] == OFFER
    elif data.flow == ROUNDS:
        talk = n * data.discussion
        picked = (state.time.astype(jnp.int32) - 1) % (talk + 1) == talk
    size = jnp.where(answered, n - 1, jnp.where(picked & (data.chooses != "leader"), n, 1))
    size = jnp.where(state.time > 0, size, 0)
    place = expand(np.arange(n), axes)
    fresh = place >= n - size[None]  # [n, ...], which of the last rows are of the last step
    most_words = max(data.sizes[SAY], data.sizes[CLAIM], 1)
    most_offered = max(data.most_offered, n, 1)
    kinds = expand(np.arange(len(KINDS)), axes)
    moved = []
    for i in range(n):
        own = fresh & (log[:, 0] == i + 1)
        row = jnp.sum(jnp.where(own[:, None], log, 0), axis=0)
        acted = jnp.any(own, axis=0)
        bits = (row[1][None] == kinds) & acted[None]
        moved.append((bits, row[2][None] / most_words, [row[3 + k] for k in range(data.width)]))
    over = (state.phase == OVER)[None]
    accepts = sum(bits[ACCEPT].astype(jnp.int32) for bits, _, _ in moved)
    needed = n - 1 if data.unanimous else n // 2
    dealt = answered & (accepts >= needed) if data.flow == ROUNDS else accepts > 0
    dealt = (dealt | (picked & (state.deals > 0)))[None]
    rows = []
    for i in range(n):
        order = [(i + j) % n for j in range(n)]
        parts = []
        for j in order:
            bits, words, content = moved[j]
            shown = data.seen_offer(content, i, order, jnp)
            parts += [bits, words, jnp.stack(list(shown)) / most_offered]
        rows.append(jnp.concatenate([part.astype(jnp.float32) for part in (*parts, dealt, over)]))
    return jnp.stack(rows)
