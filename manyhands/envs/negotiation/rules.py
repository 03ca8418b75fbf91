"""The rules that all negotiations share: turns, offers and answers, rounds, delay, and grades.

Everything here is a pure function of a scenario, a state and a key, for states with any number of
trailing batch axes (none, or one). What an agreement or a choice does is the scenario's own
(`Scenario.settle`).
"""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.negotiation.forms.base import Scenario, Turn
from manyhands.envs.negotiation.state import (
    ACCEPT,
    CHAT,
    CLAIM,
    OFFER,
    OVER,
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

# ---- the first state, and what can be done -------------------------------------------------------


def reset(scenario: Scenario, key: Array) -> NegotiationState:
    """The first state of the episode of a key: private values, holdings and pools are drawn."""
    data, n, r = scenario, scenario.players, len(scenario.goods)
    keys = jax.random.split(key, 5)
    values, holdings, outside = (
        _drawn(k, span)
        for k, span in zip(keys, (data.values, data.holdings, data.outside), strict=False)
    )
    pool = jnp.asarray(data.pool)
    if data.table is not None:
        row = jnp.asarray(data.table[0])
        if len(data.table) > 1:
            which = jax.random.randint(keys[3], (), 0, len(data.table))
            row = jnp.asarray(data.table)[which]
        pool, values = row[:r], row[r:].reshape(n, r)
    return NegotiationState(
        phase=jnp.uint8(data.opening),
        time=jnp.int16(0),
        turn=jnp.uint8(0),
        talked=jnp.uint8(0),
        round=jnp.int16(0),
        pool=pool,
        values=values,
        outside=outside,
        holdings=holdings,
        start=holdings,
        offer=jnp.zeros(data.width, jnp.int16),
        offerer=jnp.uint8(0),
        claims=jnp.zeros((n, r), jnp.int16),
        record=jnp.zeros((n, 3), jnp.int16),
        receiver=data.draw_receiver(keys[4], jnp.uint8(0)),
        deals=jnp.int16(0),
        log=jnp.zeros((data.memory, 3 + data.width), jnp.int16),
    )


def acting(scenario: Scenario, state: NegotiationState, xp: Any = jnp) -> Array:
    """bool[N]: who moves now."""
    players = xp.arange(scenario.players).reshape(-1, *[1] * state.time.ndim)
    lead, phase = players == state.turn[None], state.phase[None]
    moves = lead & (phase < RESPOND)
    if scenario.flow == ROUNDS and scenario.decision == PROPOSE:
        moves = moves | (~lead & (phase == RESPOND))
    if scenario.chooses == "all":
        moves = moves | (phase == PICK)
    elif scenario.chooses == "leader":
        moves = moves | (lead & (phase == PICK))
    return moves


def legal(scenario: Scenario, state: NegotiationState, xp: Any = jnp) -> Array:
    """bool[N, A]; where offers are composed, the masks of the parts one after the other."""
    phase, batch = state.phase, state.time.shape
    moves = acting(scenario, state, xp)
    turns = phase == TURNS
    talks = turns | (phase == TALK)
    # By phase, an offer is made, or something is picked; both within the same bounds.
    picks = turns | (phase == PROPOSE) | (phase == PICK)
    rows = []
    for i in range(scenario.players):
        theirs = (state.offerer != 0) & (state.offerer != i + 1)
        answers = (turns & theirs) | (phase == RESPOND)
        fits = scenario.fits(state, i, xp)
        conditions = [  # by `KINDS`
            xp.ones_like(turns),
            answers & scenario.covers(state, i, xp),
            answers,
            phase != PICK,
            turns,
            xp.broadcast_to(picks, fits.shape) & fits,
            talks,
            talks,
        ]
        parts = []
        for kind, (size, condition) in enumerate(zip(scenario.sizes, conditions, strict=True)):
            rows_of_kind = condition if kind == OFFER else condition[None]
            if size:
                parts.append(xp.broadcast_to(rows_of_kind, (size, *batch)))
        parts += scenario.amounts(state, i, xp)
        rows.append(xp.concatenate(parts) & moves[i][None])
    return xp.stack(rows)


# ---- the step ------------------------------------------------------------------------------------


def step(
    scenario: Scenario, key: Array, state: NegotiationState, actions: Array
) -> tuple[NegotiationState, dict[str, Array], Array, dict[str, Array]]:
    """(the next state, the terms f32[N] each, bool[] whether all is over, the metrics f32[] each)
    of one step; an illegal action is played as a pass."""
    turn = _begin(scenario, state, actions)
    turn = _hear_claims(scenario, state, turn)
    turn = _answer_offers(scenario, state, turn)
    if scenario.flow == CHAT:
        turn = _choose_in_private(state, turn)
    if scenario.flow == ROUNDS:
        turn = _play_round(scenario, state, turn)
    turn = scenario.settle(state, turn)
    if scenario.flow == ROUNDS:
        turn = _end_round(scenario, state, turn)
    turn = _pay(scenario, key, state, turn)
    new, gain = jax.lax.optimization_barrier((_advance(scenario, key, state, turn), turn.gain))
    terms = {"gain": gain, **_grades(scenario, state, new, gain, turn.over), **turn.terms}
    if "truthful" in scenario.terms:
        terms |= {"truthful": turn.truthful, "untruthful": turn.untruthful}
    return new, terms, turn.over, _metrics(turn)


def _begin(scenario: Scenario, state: NegotiationState, actions: Array) -> Turn:
    """Each player's move, and everything else as it was."""
    moves, allowed = acting(scenario, state), legal(scenario, state)
    # Barriers: what is used in many places is computed once, not again in each.
    kind, number, content, illegal = jax.lax.optimization_barrier(
        _read(scenario, actions, moves, allowed)
    )
    zeros, no = jnp.zeros(moves.shape, jnp.float32), jnp.zeros(state.time.shape, bool)
    return Turn(
        acting=moves,
        kind=kind,
        number=number,
        content=content,
        illegal=illegal,
        offers=no,
        dealt=no,
        agreed=state.offer,
        by=state.offerer,
        finished=no,
        over=state.time + 1 >= scenario.max_steps,
        phase=state.phase,
        leader=state.turn,
        talked=state.talked,
        round=state.round,
        offer=state.offer,
        offerer=state.offerer,
        claims=state.claims,
        holdings=state.holdings,
        pool=state.pool,
        record=state.record,
        receiver=state.receiver,
        gain=zeros,
        truthful=zeros,
        untruthful=zeros,
        shown=content,
        terms={},
        collapsed=no,
    )


def _hear_claims(scenario: Scenario, state: NegotiationState, turn: Turn) -> Turn:
    """Claims are noted, and compared with the truth; pledges are compared when they are due."""
    if not scenario.sizes[CLAIM]:
        return turn
    stated = turn.acting & (turn.kind == CLAIM)
    good, number = (
        jnp.asarray(column)[turn.number] for column in scenario.claims.astype(np.int16).T
    )
    goods = jnp.arange(len(scenario.goods)).reshape(-1, *[1] * state.time.ndim)
    told = stated[:, None] & (good[:, None] == goods[None])
    claims = jnp.where(told, number[:, None] + 1, state.claims).astype(jnp.int16)
    if scenario.about == "pledge":
        return turn._replace(claims=claims)
    truth = state.outside[:, None] if scenario.about == "outside" else state.values
    off = jnp.abs(truth - number[:, None]).astype(jnp.float32)
    true = jnp.any(told & (off <= scenario.slack), axis=1)
    return turn._replace(
        claims=claims,
        truthful=(stated & true).astype(jnp.float32),
        untruthful=(stated & ~true).astype(jnp.float32),
    )


def _answer_offers(scenario: Scenario, state: NegotiationState, turn: Turn) -> Turn:
    """In turns and proposals one player moves: it offers, accepts, rejects, or walks away. A new
    offer replaces the one that stands, and an answered one is closed."""
    n = scenario.players
    turns, talk, proposing = (state.phase == phase for phase in (TURNS, TALK, PROPOSE))
    # Of those who act; where several do, the sum is not used.
    alone = [jnp.where(turn.acting[i], turn.kind[i], 0) for i in range(n)]
    move = sum(alone[1:], alone[0])
    mine = jnp.sum(jnp.where(turn.acting[:, None], turn.content, 0), axis=0)
    offers = (turns | proposing) & (move == OFFER)
    answered = turns & ((move == ACCEPT) | (move == REJECT))
    offer = jnp.where(offers[None], mine, state.offer)
    return turn._replace(
        offers=offers,
        offer=jnp.where(answered[None], 0, offer).astype(jnp.int16),
        offerer=jnp.where(answered, 0, jnp.where(offers, state.turn + 1, state.offerer)),
        dealt=turns & (move == ACCEPT),  # on `state.offer`, by `state.offerer`
        over=((turns | talk | proposing) & (move == WALK)) | turn.over,
        phase=jnp.where(turns & (move == READY), PICK, state.phase)
        if scenario.flow == CHAT
        else state.phase,
        leader=jnp.where(turns | talk, (state.turn + 1) % n, state.turn),
    )


def _choose_in_private(state: NegotiationState, turn: Turn) -> Turn:
    """After a chat: the choices in private make a deal if together they are the pool."""
    picking = state.phase == PICK
    chose = jnp.all(turn.kind == OFFER, axis=0)
    whole = jnp.all(jnp.sum(turn.content, axis=0) == state.pool, axis=0)
    return turn._replace(
        dealt=picking & chose & whole,
        agreed=turn.content[0],
        by=jnp.ones_like(state.offerer),
        over=turn.over | picking,
    )


def _play_round(scenario: Scenario, state: NegotiationState, turn: Turn) -> Turn:
    """A discussion, then a proposal and the answers to it, or choices."""
    n = scenario.players
    talk = state.phase == TALK
    talked = jnp.where(talk, turn.talked + 1, turn.talked)
    spoken = talk & (talked >= n * scenario.discussion)
    phase = jnp.where(spoken, scenario.decision, turn.phase)
    if scenario.decision == PICK:
        return turn._replace(talked=talked, phase=phase, finished=state.phase == PICK)
    proposing, responding = state.phase == PROPOSE, state.phase == RESPOND
    yes = jnp.sum(turn.acting & (turn.kind == ACCEPT), axis=0)
    walks = jnp.any(turn.acting & (turn.kind == WALK), axis=0)
    needed = n - 1 if scenario.unanimous else n // 2  # beside the proposer's own
    dealt = responding & (yes >= needed)
    return turn._replace(
        talked=talked,
        phase=jnp.where(proposing & turn.offers, RESPOND, phase),
        dealt=dealt,
        over=turn.over | (responding & walks & ~dealt),
        finished=(proposing & ~turn.offers) | (responding & ~dealt),
    )


def _end_round(scenario: Scenario, state: NegotiationState, turn: Turn) -> Turn:
    """The next round starts over with the next leader."""
    finished = turn.finished
    number = state.round + finished.astype(jnp.int16)
    return turn._replace(
        round=number,
        over=turn.over | (finished & (number >= scenario.rounds)),
        leader=jnp.where(finished, number % scenario.players, turn.leader),
        talked=jnp.where(finished, 0, turn.talked),
        phase=jnp.where(finished, scenario.opening, turn.phase),
        offer=jnp.where(finished[None] | turn.dealt[None], 0, turn.offer),
        offerer=jnp.where(finished | turn.dealt, 0, turn.offerer),
    )


def _pay(scenario: Scenario, key: Array, state: NegotiationState, turn: Turn) -> Turn:
    """Talks may break off; a late deal is worth less, and no deal what the outside option is."""
    over, gain = turn.over, turn.gain
    if scenario.break_off:
        draw = jax.vmap(jax.random.uniform) if key.ndim else jax.random.uniform
        over = over | ((state.phase == TURNS) & (draw(key) < scenario.break_off))
    if scenario.discount != 1:
        late = state.round if scenario.flow == ROUNDS else jnp.maximum(state.time - 1, 0)
        most = max(scenario.max_steps, scenario.rounds)
        powers = np.float32(scenario.discount ** np.arange(most + 1))
        gain = gain * jnp.asarray(powers)[late]
    if scenario.has_outside:
        missed = over & (state.deals + turn.dealt.astype(jnp.int16) == 0)
        gain = jnp.where(missed[None], state.outside, gain)
    return turn._replace(over=over, gain=gain.astype(jnp.float32))


def _advance(
    scenario: Scenario, key: Array, state: NegotiationState, turn: Turn
) -> NegotiationState:
    """The next state."""
    leader = turn.leader.astype(jnp.uint8)
    receiver = state.receiver
    if scenario.receives:
        receiver = jnp.where(turn.finished, scenario.draw_receiver(key, leader), receiver)
    said = (turn.kind == SAY) | (turn.kind == CLAIM)
    words = jnp.where(said, turn.number + 1, 0)
    if scenario.flow == CHAT:
        words = jnp.where((turn.kind == OFFER) & (state.phase == PICK)[None], 1, words)
    return NegotiationState(
        phase=jnp.where(turn.over, OVER, turn.phase).astype(jnp.uint8),
        time=state.time + jnp.int16(1),
        turn=leader,
        talked=turn.talked.astype(jnp.uint8),
        round=turn.round,
        pool=turn.pool.astype(jnp.int16),
        values=state.values,
        outside=state.outside,
        holdings=turn.holdings.astype(jnp.int16),
        start=state.start,
        offer=turn.offer.astype(jnp.int16),
        offerer=turn.offerer.astype(jnp.uint8),
        claims=turn.claims.astype(jnp.int16),
        record=turn.record.astype(jnp.int16),
        receiver=receiver,
        deals=state.deals + turn.dealt.astype(jnp.int16),
        log=_logged(scenario, state.log, turn, words),
    )


def _logged(scenario: Scenario, log: Array, turn: Turn, words: Array) -> Array:
    """The log with the moves of this step behind it."""
    kind, content = turn.kind, turn.shown
    for i in range(scenario.players):
        shown = content[i]
        if scenario.bargains:
            shown = jnp.where(kind[i][None] == OFFER, shown, 0)
        head = jnp.stack([jnp.full_like(words[i], i + 1), kind[i].astype(words.dtype), words[i]])
        row = jnp.concatenate([head, shown.astype(head.dtype)]).astype(jnp.int16)
        longer = jnp.concatenate([log[1:], row[None]])
        log = jnp.where(turn.acting[i][None, None], longer, log)
    return log


def _metrics(turn: Turn) -> dict[str, Array]:
    claims = turn.acting & (turn.kind == CLAIM)
    metrics = {
        "turns": jnp.ones_like(turn.over),
        "offers": turn.offers,
        "deals": turn.dealt,
        "messages": jnp.sum(turn.acting & ((turn.kind == SAY) | (turn.kind == CLAIM)), axis=0),
        "claims": jnp.sum(claims, axis=0),
        "collapsed": turn.collapsed,
        "illegal": jnp.sum(turn.illegal, axis=0),
    }
    return {name: value.astype(jnp.float32) for name, value in metrics.items()}


def _read(
    scenario: Scenario, actions: Array, moves: Array, allowed: Array
) -> tuple[Array, Array, Array, Array]:
    """(kind u8[N], number within the kind i32[N], offer i16[N, K], illegal bool[N]) of all
    actions; an illegal one is read as a pass."""
    first = scenario.first
    if scenario.composed:
        # The kind of move, then the amounts; each part has a mask of its own.
        sizes, masks, start = [scenario.moves, *(scenario.most + 1), *(scenario.most + 1)], [], 0
        for k, size in enumerate(map(int, sizes)):
            masks.append(_at(allowed[:, start : start + size], actions[:, k]))
            start += size
        code, content = actions[:, 0], actions[:, 1:]
        fits = masks[0]
        for mask in masks[1:]:
            fits = fits & mask
        fits = fits & (~(code == first[OFFER]) | jnp.any(content > 0, axis=1))
    else:
        code = actions
        fits = _at(allowed, code)
    illegal = moves & ~fits
    code = jnp.where(moves & fits, code, 0)
    steps = list(itertools.pairwise(k for k, size in enumerate(scenario.sizes) if size))
    kind = sum(
        ((code >= first[k]).astype(jnp.uint8) * (k - before) for before, k in steps),
        jnp.zeros(code.shape, jnp.uint8),
    )
    start_of_kind = sum(
        ((code >= first[k]) * (first[k] - first[before]) for before, k in steps),
        jnp.zeros_like(code),
    )
    number = code - start_of_kind
    offers = moves & (kind == OFFER)
    if not scenario.composed:
        index = jnp.where(offers, number, 0)
        content = jnp.moveaxis(jnp.asarray(scenario.offers)[index], -1, 1)
    content = jnp.where(offers[:, None], content, 0).astype(jnp.int16)
    return kind, number, content, illegal


# ---- grades of a whole episode -------------------------------------------------------------------


def broken_off(scenario: Scenario, state: NegotiationState) -> dict[str, Array]:
    """f32[N] each: the terms of a step in which the negotiation breaks off."""
    none = jnp.asarray(state.deals) == 0
    outside = jnp.where(none[None], jnp.asarray(state.outside), 0)
    gain = (outside if scenario.has_outside else jnp.zeros_like(outside)).astype(jnp.float32)
    return {"gain": gain, **_grades(scenario, state, state, gain, jnp.asarray(True))}


def _grades(
    scenario: Scenario, before: NegotiationState, after: NegotiationState, gain: Array, over: Array
) -> dict[str, Array]:
    """The terms that grade the whole episode, at its end, 0 before."""
    n = scenario.players
    values = before.values.astype(jnp.int32)
    worth = values[:, None] * after.holdings[None]  # [i, j, R]: j's goods, to i
    worth = jnp.sum(worth, axis=2).astype(jnp.float32)
    envy = jnp.stack([jnp.max(worth[i], axis=0) - worth[i, i] for i in range(n)])
    total = gain
    if scenario.accumulates:
        change = after.holdings - before.start
        total = jnp.sum(values * change, axis=1).astype(jnp.float32)
    best = jnp.max(total, axis=0)
    top = jnp.sum(total == best[None], axis=0)
    win = jnp.where(total == best[None], jnp.where(top == 1, 1, 0), jnp.where(top == 1, -1, 0))
    grades = {"win": win, **scenario.grades(before, after, total, envy)}
    end = jnp.broadcast_to(over[None], gain.shape)
    return {name: jnp.where(end, grade, 0).astype(jnp.float32) for name, grade in grades.items()}


# ---- small helpers -------------------------------------------------------------------------------


def _drawn(key: Array, span: np.ndarray) -> Array:
    """i16[...], whole numbers from the lowest to the highest (span: i16[..., 2])."""
    low, high = span[..., 0], span[..., 1]
    if (low == high).all():
        return jnp.asarray(low)
    return jax.random.randint(key, low.shape, np.int32(low), np.int32(high) + 1, jnp.int16)


def _at(masks: Array, index: Array) -> Array:
    """bool[N]: `masks[i, index[i]]`, False out of range."""
    size = masks.shape[1]
    inside = (index >= 0) & (index < size)
    safe = jnp.clip(index, 0, size - 1).astype(jnp.int32)
    return inside & jnp.take_along_axis(masks, safe[:, None], axis=1)[:, 0]
