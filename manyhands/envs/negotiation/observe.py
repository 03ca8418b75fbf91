"""What players see of a negotiation: one row of whole numbers for each.

A row is all that its player may know, cut out of the state in this one place; vectors, texts and
pictures are made of it alone. Players come in the order of their seats, beginning with the one who
sees ("you"), then the next one.

- `phase`: which (one bit each); `to_move`: who moves now; `seat`: which player you are.
- `steps_left`; with rounds `rounds_left` (this one included) and `lead`: who proposes, gives, or
  speaks first in this round.
- `pool`: what lies on the table; `own_holdings`, and where they are public `other_holdings`;
  `own_values`; the form's own parts (`Scenario.own_pieces`); `own_outside`.
- `offer_by`: who made the standing offer, no bit: none stands; `offer`: what it says: what its
  maker takes (pool), a price, each player's share, or amounts given and asked for.
- `claims`: one more than what each player last claimed of each good; 0: nothing.
- `deals`: agreements so far.
- `log`: the last moves, oldest first: player (1 you, 2 the next one, ...; 0: no move), kind
  (`KINDS`), phrase or claim (from 1; 1 with an offer: chosen in private), offer. The receiver of a
  gift is numbered like the player.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import flat
from manyhands.core.env import Array
from manyhands.core.layout import Layout, Piece, labelled
from manyhands.envs.negotiation.forms.base import Scenario
from manyhands.envs.negotiation.rules import acting
from manyhands.envs.negotiation.state import CLAIM, KINDS, PHASES, ROUNDS, SAY, NegotiationState
from manyhands.envs.negotiation.words import Observation


def layout(scenario: Scenario) -> Layout:
    """The pieces of this scenario's rows."""
    data, n, goods = scenario, scenario.players, scenario.goods
    players = ["you", *(f"next_{j}" for j in range(1, n))]
    most, most_offered, content = data.most_owned, data.most_offered, data.offer_names
    pieces = [
        Piece("phase", len(data.phases), labels=[PHASES[phase] for phase in data.phases]),
        Piece("to_move", n, labels=players),
        Piece("seat", n, labels=data.agents),
        Piece("steps_left", high=data.max_steps),
    ]
    if data.flow == ROUNDS:
        pieces += [Piece("rounds_left", high=data.rounds), Piece("lead", n, labels=players)]
    if data.shows_pool:
        pieces.append(Piece("pool", len(goods), high=data.pool.max(), labels=goods))
    if data.shows_holdings:
        pieces.append(Piece("own_holdings", len(goods), high=most, labels=goods))
    if data.shows_holdings and data.public:
        others = labelled(players[1:], goods)
        pieces.append(Piece("other_holdings", len(others), high=most, labels=others))
    pieces.append(Piece("own_values", len(goods), high=data.values[..., 1].max(), labels=goods))
    pieces += data.own_pieces(players)
    if data.has_outside:
        pieces.append(Piece("own_outside", high=data.outside.max()))
    if data.bargains:
        pieces.append(Piece("offer_by", n, labels=players))
        pieces.append(Piece("offer", len(content), high=most_offered, labels=content))
    if data.sizes[CLAIM]:
        labels, stated = labelled(players, goods), data.claims[:, 1].max()
        pieces.append(Piece("claims", len(labels), high=int(stated) + 1, labels=labels))
    if data.bargains:
        pieces.append(Piece("deals", high=data.max_steps))
    labels = labelled(range(data.memory), ["player", "kind", "words", *content])
    most_words = max(data.sizes[SAY], data.sizes[CLAIM], 1)
    row = [n, len(KINDS) - 1, most_words, *[max(most_offered, n)] * len(content)]
    pieces.append(Piece("log", len(labels), high=row * data.memory, labels=labels))
    return Layout(pieces, np.int32)


def observe_one(
    scenario: Scenario, parts: Layout, state: NegotiationState, i: int, xp: Any = np
) -> Array:
    """i32[F, ...], the row of player i."""
    data, n = scenario, scenario.players
    order = [(i + j) % n for j in range(n)]
    players = xp.arange(n).reshape(-1, *[1] * state.time.ndim)
    ego = xp.array(order).reshape(players.shape)
    found: dict[str, Any] = {
        "phase": xp.stack([state.phase == phase for phase in data.phases]),
        "to_move": acting(data, state, xp)[np.array(order)],
        "seat": xp.broadcast_to(players == i, (n, *state.time.shape)),
        "steps_left": (data.max_steps - state.time.astype(np.int32))[None],
        "rounds_left": (data.rounds - state.round.astype(np.int32))[None],
        # Not `turn`: in a discussion that is whoever speaks.
        "lead": ego == (state.round.astype(np.int32) % n)[None],
        "pool": state.pool,
        "own_holdings": state.holdings[i],
        "own_values": state.values[i],
        "own_outside": state.outside[i][None],
        "offer_by": ego + 1 == state.offerer[None],
        "offer": state.offer,
        "claims": flat(state.claims[np.array(order)]),
        "other_holdings": flat(state.holdings[np.array(order[1:])]),
        "deals": state.deals[None],
    }
    found |= data.observe_own(state, i, order, xp)
    log = state.log.astype(np.int32)
    who, content = log[:, 0], [log[:, 3 + k] for k in range(data.width)]
    columns = [xp.where(who > 0, (who - 1 - i) % n + 1, 0), log[:, 1], log[:, 2]]
    content = data.seen_offer(content, i, order, xp)
    found["log"] = flat(xp.stack([*columns, *content], axis=1))
    return xp.concatenate([found[name].astype(np.int32) for name in parts])


def perceive(scenario: Scenario, parts: Layout, state: NegotiationState) -> Array:
    """i32[N, F, ...], the rows of all players."""
    rows = [observe_one(scenario, parts, state, i, jnp) for i in range(scenario.players)]
    return jnp.stack(jax.lax.optimization_barrier(rows))


def observation(
    scenario: Scenario, parts: Layout, state: NegotiationState, i: int, you: bool = True
) -> Observation:
    """The row of player i by name; `state` is one state on the host."""
    n = scenario.players
    row = observe_one(scenario, parts, state, i).astype(int)
    names = [scenario.agents[(i + j) % n] for j in range(n)]
    return Observation(row, parts, names, i, scenario.phases, you)
