"""Scripted negotiators: `fair`, `tit_for_tat`, and two that concede with time.

Each reads its own row of `Negotiation.perceive` and its legal actions, like any learned policy. In
bargaining all do the same with a different aspiration, the least that an offer must be worth to
them: they make, of the offers that are worth as much, the one that seems best for the other, accept
the standing one if it is worth as much, and say nothing. What the other values they do not know:
they guess that it values all goods like the average player.

- `fair` wants half of what all is worth to it (among n players its equal share; in buying and
  selling half of what there is to gain if the other's limit is the middle one; in a trade an
  exchange at average worth), and takes no less. Of the offers worth as much it tries another one
  each time (of prices none: it keeps its own), as all do in a trade.
- `tit_for_tat` begins with the most, and concedes as much as the other's offers have improved for
  it; and of its own accord, with time, half.
- `boulware` and `conceder` follow the time-dependent tactics of Faratin, Sierra and Jennings
  ("Negotiation decision functions for autonomous agents", 1998): the share of the most that is
  given up grows as (time passed / time in all) ** (1 / beta), with beta 0.2 (firm until late) or 5
  (soon soft).

In the commons, `fair` catches its share of what grows back, and `tit_for_tat` as much as the others
did on average in the month before. As a donor, `fair` gives half of what it can, and `tit_for_tat`
as much as the receiver gave on average when it was a donor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.config import boolean, number
from manyhands.core.env import (
    Array,
    DeviceView,
    Env,
    SeatError,
    Unwrapped,
    state_dataclass,
    unwrap,
)
from manyhands.envs.negotiation.env import Negotiation
from manyhands.envs.negotiation.forms import Bargain, Choice
from manyhands.envs.negotiation.state import (
    ACCEPT,
    CHAT,
    OFFER,
    OVER,
    PASS,
    PICK,
    PROPOSE,
    READY,
    RESPOND,
    TURNS,
)

TRIED = 16  # exchanges, the best ones, that are offered in turn
OWN_ACCORD = 0.5  # of the most, that tit_for_tat gives up by itself until the end


def fair(env: Env, talk: bool = False) -> Any:
    """Wants half, or an equal share, and takes no less; with `talk` one that speaks and listens
    (`talkers.py`), a host policy."""
    if not boolean("talk", talk):
        return Negotiator(env, "fair")
    from manyhands.baselines.bots.talkers import Talker

    return Talker(env, "fair")


def tit_for_tat(env: Env) -> Negotiator:
    """Concedes as the other does; does in the commons, and as a donor, as others did."""
    return Negotiator(env, "tit_for_tat")


def boulware(env: Env, beta: float = 0.2) -> Negotiator:
    """Stays firm until late; bargaining scenarios only."""
    return Negotiator(env, "boulware", beta)


def conceder(env: Env, beta: float = 5.0) -> Negotiator:
    """Gives way soon; bargaining scenarios only."""
    return Negotiator(env, "conceder", beta)


@state_dataclass
class Memory:
    """What a negotiator remembers.

    Attributes:
        conceded: f32[], what it gave up so far of the most that it could get.
        seen: f32[], the best that the other has offered so far; in the commons, what the others had
            caught in all.
        offers: i32[], offers (or catches) made.
    """

    conceded: Array
    seen: Array
    offers: Array


@dataclass(frozen=True)
class Negotiator:
    """A `DevicePolicy`; see the module's docstring.

    Args:
        env: a negotiation, or a wrapper of one.
        style: "fair", "tit_for_tat", "boulware" or "conceder".
        beta: for the last two, how soon they concede.
    """

    env: Env
    style: str
    beta: float = 1.0
    _game: Negotiation = field(init=False, repr=False, compare=False)
    _found: Unwrapped[Negotiation] = field(init=False, repr=False, compare=False)
    _offers: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = unwrap(self.env, Negotiation, SeatError)
        game = found.env
        timed = self.style in ("boulware", "conceder")
        if timed and not isinstance(game.scenario, Bargain):
            raise SeatError(
                f"{self.style!r} concedes in bargaining, and there is none in "
                f"{game.scenario.name!r}; seat fair, tit_for_tat or random there"
            )
        number("beta", self.beta, 0.01, 100)
        object.__setattr__(self, "_game", game)
        object.__setattr__(self, "_found", found)
        data = game.scenario
        none = np.zeros((0, data.width), int)
        offers = data.considered() if isinstance(data, Bargain) else none
        object.__setattr__(self, "_offers", offers)

    def init(self, env: Env, agent: int) -> Memory:
        return Memory(jnp.float32(0), jnp.float32(0), jnp.int32(0))

    def apply(
        self, env: Env, agent: int, memory: Memory, key: Array, view: DeviceView
    ) -> tuple[Array, Memory]:
        game = self._game
        seen = {name: view.perception[where] for name, where in game.at.items()}
        phase = jnp.asarray(np.array(game.phases))[jnp.argmax(seen["phase"])]
        data = game.scenario
        if isinstance(data, Bargain):
            action, after = self._bargain(data, seen, phase, agent, view.legal, memory)
        else:
            assert isinstance(data, Choice)
            action, after = self._choose(data, seen, phase, view.legal, memory)
        acts = view.acting & (phase != OVER)
        new = Memory(
            jnp.where(acts, after.conceded, memory.conceded),
            jnp.where(acts, after.seen, memory.seen),
            jnp.where(acts, after.offers, memory.offers),
        )
        return self._found.lift(action), new

    # ---- bargaining -----------------------------------------------------------------------

    def _bargain(
        self,
        data: Bargain,
        seen: dict[str, Array],
        phase: Array,
        agent: int,
        legal: Array,
        memory: Memory,
    ) -> tuple[Array, Memory]:
        game, fair = self._game, self.style == "fair"
        offers = jnp.asarray(self._offers, jnp.float32)
        worth, others = data.appraise(seen, agent, offers, True)
        possible = self._possible(legal, phase)
        if data.spares:
            possible = possible & (others > 0)  # nobody takes less than nothing
        outside = seen["own_outside"][0] if "own_outside" in game.at else 0
        floor = jnp.float32(outside)
        most = jnp.maximum(jnp.max(jnp.where(possible, worth, floor)), floor)

        # The standing offer, of another player or of its own.
        maker = jnp.argmax(seen["offer_by"])
        stands = seen["offer_by"].any()
        theirs = stands & (maker != 0)
        offer = data.standing(seen, agent)
        offered, left = (x[0] for x in data.appraise(seen, agent, offer, False))
        improved = jnp.where(theirs, jnp.maximum(offered - memory.seen, 0), 0)

        if fair:
            want = accept = jnp.maximum(data.fair_share(seen, agent), floor)
            if data.composed:
                possible = possible & (others >= 0)
        elif self.style == "tit_for_tat":
            want, accept = (
                jnp.maximum(
                    most - memory.conceded - improved - OWN_ACCORD * (most - floor) * passed, floor
                )
                for passed in self._passed(seen)
            )
        else:
            want, accept = (
                floor + (most - floor) * (1 - passed ** (1 / self.beta))
                for passed in self._passed(seen)
            )
        # Of what is worth enough, what is best for the other; `fair` tries one after the other.
        enough = possible & (worth >= want - 1e-3)
        if data.composed:
            enough = enough & (worth > 0)
        rank = jnp.argsort(jnp.where(enough, -others - worth * 1e-4, jnp.inf))
        count = jnp.sum(enough)
        # In a trade all do, among the best, as what the other has too much of cannot be seen.
        # Of prices, the best for the other is kept: any other one takes back what was conceded.
        varied = fair and data.width > 1
        tried = TRIED if data.composed else len(self._offers) if varied else 1
        pick = memory.offers % jnp.clip(count, 1, tried)
        if data.composed and fair:
            rank = jnp.argsort(jnp.where(enough, -worth, jnp.inf))
        best = rank[pick]
        good = theirs & (offered >= accept - 1e-3) & (offered > floor)
        if data.composed and fair:
            good = good & (left <= 0)  # average worth is not lost

        offers_now = ((phase == TURNS) | (phase == PROPOSE)) & ~good & (count > 0)
        agree = READY if data.flow == CHAT else ACCEPT
        takes = good & ((phase == TURNS) | (phase == RESPOND)) & legal[game.first[agree]]
        code = jnp.where(takes, game.first[agree], PASS)
        code = jnp.where(offers_now, game.first[OFFER] + (0 if data.composed else best), code)
        if data.flow == CHAT:
            # As was agreed: one's own proposal, or the rest of the other's.
            share = jnp.where(maker == 0, offer[0], seen["pool"] - offer[0])
            which = jnp.argmax(jnp.all(jnp.asarray(data.offers) == share[None], axis=1))
            code = jnp.where((phase == PICK) & stands, game.first[OFFER] + which, code)
        after = Memory(
            memory.conceded + improved,
            jnp.where(theirs, jnp.maximum(memory.seen, offered), memory.seen),
            memory.offers + offers_now,
        )
        if data.composed:
            content = jnp.asarray(self._offers, jnp.int32)[best]
            content = jnp.where(offers_now & (code == game.first[OFFER]), content, 0)
            return jnp.concatenate([code.astype(jnp.int32)[None], content]), after
        return jnp.where(legal[code], code, PASS).astype(jnp.int32), after

    def _possible(self, legal: Array, phase: Array) -> Array:
        """bool[O], the offers that can be made now; where none can be, all that could be."""
        game = self._game
        if not game.scenario.composed:
            first = game.first[OFFER]
            now = legal[first : first + game.sizes[OFFER]]
            return now | (~now.any() & (phase == RESPOND))
        most = [*game.scenario.most, *game.scenario.most]
        starts = game.moves + np.cumsum([0, *(int(m) + 1 for m in most[:-1])])
        return jnp.all(legal[self._offers + starts], axis=1) & legal[game.first[OFFER]]

    def _passed(self, seen: dict[str, Array]) -> tuple[Array, Array]:
        """The share of the time that has passed: before making an offer, and before accepting one
        (1 at the last chance)."""
        game = self._game
        if "rounds_left" in game.at:
            rounds = game.scenario.rounds
            played = (rounds - seen["rounds_left"][0]).astype(jnp.float32)
            return played / rounds, (played + 1) / rounds
        # A chat has to end before the choice in private.
        total = game.max_steps - (game.scenario.flow == CHAT)
        played = (game.max_steps - seen["steps_left"][0]).astype(jnp.float32)
        # The last turn but one is the last for the player who moves then.
        return jnp.minimum(played / total, 1), jnp.minimum((played + 2) / total, 1)

    # ---- living together ------------------------------------------------------------------

    def _choose(
        self, data: Choice, seen: dict[str, Array], phase: Array, legal: Array, memory: Memory
    ) -> tuple[Array, Memory]:
        first, now = self._game.first[OFFER], phase == PICK
        options = legal[first : first + self._game.sizes[OFFER]]
        choice, noted = data.scripted(self.style, seen, options, memory.seen, memory.offers)
        code = jnp.where(now & (choice > 0), first + choice - 1, PASS).astype(jnp.int32)
        after = Memory(memory.conceded, jnp.where(now, noted, memory.seen), memory.offers + now)
        return code, after
