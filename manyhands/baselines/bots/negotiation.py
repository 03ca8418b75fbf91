"""Scripted negotiators: `fair`, `tit_for_tat`, and two that concede with time.

Each reads its own row of `Negotiation.perceive` and its legal actions, like any learned policy. In
bargaining all do the same with a different aspiration, the least that an offer must be worth to
them: they make, of the offers that are worth as much, the one that seems best for the other, accept
the standing one if it is worth as much, and say nothing. What the other values they do not know:
they guess that it values all goods like the average player.

- `fair` wants half of what all is worth to it (among n players its equal share; in buying and
  selling half of what there is to gain if the other's limit is the middle one; in a trade an
  exchange at average worth), and takes no less. Of the offers worth as much it tries another one
  each time, as all do in a trade.
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

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import (
    Array,
    ConfigError,
    DeviceView,
    Env,
    SeatError,
    Unwrapped,
    state_dataclass,
    unwrap,
)
from manyhands.envs.negotiation.env import (
    ACCEPT,
    OFFER,
    OVER,
    PASS,
    PICK,
    PROPOSE,
    READY,
    RESPOND,
    TURNS,
    Negotiation,
)
from manyhands.envs.negotiation.scenarios import (
    CHAT,
    EXCHANGE,
    GIFT,
    HARVEST,
    POOL,
    PRICE,
    SHARES,
)

BARGAINING = (POOL, SHARES, PRICE, EXCHANGE)
# Of a trade, the exchanges that are considered: so many units of one good for as many of another as
# are worth these shares of them on average.
UNITS = (1, 2, 3, 5, 8, 10, 15, 20, 25)
RATES = (0.85, 0.92, 1.0, 1.08, 1.18)
TRIED = 16  # exchanges, the best ones, that are offered in turn
OWN_ACCORD = 0.5  # of the most, that tit_for_tat gives up by itself until the end


def fair(env: Env) -> Negotiator:
    """Wants half, or an equal share, and takes no less."""
    return Negotiator(env, "fair")


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
        if timed and game.scenario.form not in BARGAINING:
            raise SeatError(
                f"{self.style!r} concedes in bargaining, and there is none in "
                f"{game.scenario.name!r}; seat fair, tit_for_tat or random there"
            )
        if not 0.01 <= self.beta <= 100:
            raise ConfigError(f"beta is a number from 0.01 to 100, given {self.beta!r}")
        object.__setattr__(self, "_game", game)
        object.__setattr__(self, "_found", found)
        object.__setattr__(self, "_offers", _candidates(game))

    def init(self, env: Env, agent: int) -> Memory:
        return Memory(jnp.float32(0), jnp.float32(0), jnp.int32(0))

    def apply(
        self, env: Env, agent: int, memory: Memory, key: Array, view: DeviceView
    ) -> tuple[Array, Memory]:
        game = self._game
        look = {name: view.perception[where] for name, where in game.at.items()}
        phase = jnp.asarray(np.array(game.phases))[jnp.argmax(look["phase"])]
        form = game.scenario.form
        if form == HARVEST:
            action, after = self._catch(look, phase, view.legal, memory)
        elif form == GIFT:
            action, after = self._gift(look, phase, view.legal), memory
        else:
            action, after = self._bargain(look, phase, agent, view.legal, memory)
        acts = view.acting & (phase != OVER)
        new = Memory(
            jnp.where(acts, after.conceded, memory.conceded),
            jnp.where(acts, after.seen, memory.seen),
            jnp.where(acts, after.offers, memory.offers),
        )
        return self._found.lift(action), new

    # ---- bargaining -----------------------------------------------------------------------

    def _bargain(
        self, look: dict[str, Array], phase: Array, agent: int, legal: Array, memory: Memory
    ) -> tuple[Array, Memory]:
        game, data = self._game, self._game.scenario
        worth, others = self._worth(look, agent, jnp.asarray(self._offers, jnp.float32), True)
        possible = self._possible(legal, phase)
        if data.form in (POOL, SHARES):
            possible = possible & (others > 0)  # nobody takes less than nothing
        outside = look["own_outside"][0] if "own_outside" in game.at else 0
        floor = jnp.float32(outside)
        most = jnp.maximum(jnp.max(jnp.where(possible, worth, floor)), floor)

        # The standing offer, of another player or of its own.
        maker = jnp.argmax(look["offer_by"])
        stands = look["offer_by"].any()
        theirs = stands & (maker != 0)
        offer = look["offer"][None].astype(jnp.float32)
        if data.form == SHARES:
            offer = jnp.roll(offer, agent, axis=1)
        offered, left = (x[0] for x in self._worth(look, agent, offer, False))
        improved = jnp.where(theirs, jnp.maximum(offered - memory.seen, 0), 0)

        if self.style == "fair":
            want = accept = jnp.maximum(self._fair_share(look, agent), floor)
            if data.form == EXCHANGE:
                possible = possible & (others >= 0)
        elif self.style == "tit_for_tat":
            want, accept = (
                jnp.maximum(
                    most - memory.conceded - improved - OWN_ACCORD * (most - floor) * passed, floor
                )
                for passed in self._passed(look)
            )
        else:
            want, accept = (
                floor + (most - floor) * (1 - passed ** (1 / self.beta))
                for passed in self._passed(look)
            )
        # Of what is worth enough, what is best for the other; `fair` tries one after the other.
        enough = possible & (worth >= want - 1e-3)
        if data.form == EXCHANGE:
            enough = enough & (worth > 0)
        rank = jnp.argsort(jnp.where(enough, -others - worth * 1e-4, jnp.inf))
        count = jnp.sum(enough)
        # In a trade all do, among the best, as what the other has too much of cannot be seen.
        tried = TRIED if data.form == EXCHANGE else len(self._offers) if self.style == "fair" else 1
        pick = memory.offers % jnp.clip(count, 1, tried)
        if data.form == EXCHANGE and self.style == "fair":
            rank = jnp.argsort(jnp.where(enough, -worth, jnp.inf))
        best = rank[pick]
        good = theirs & (offered >= accept - 1e-3) & (offered > floor)
        if data.form == EXCHANGE and self.style == "fair":
            good = good & (left <= 0)  # average worth is not lost

        offers = ((phase == TURNS) | (phase == PROPOSE)) & ~good & (count > 0)
        agree = READY if data.flow == CHAT else ACCEPT
        takes = good & ((phase == TURNS) | (phase == RESPOND)) & legal[game.first[agree]]
        code = jnp.where(takes, game.first[agree], PASS)
        code = jnp.where(offers, game.first[OFFER] + (0 if data.form == EXCHANGE else best), code)
        if data.flow == CHAT:
            # As was agreed: one's own proposal, or the rest of the other's.
            share = jnp.where(maker == 0, offer[0], look["pool"] - offer[0])
            which = jnp.argmax(jnp.all(jnp.asarray(data.offers) == share[None], axis=1))
            code = jnp.where((phase == PICK) & stands, game.first[OFFER] + which, code)
        after = Memory(
            memory.conceded + improved,
            jnp.where(theirs, jnp.maximum(memory.seen, offered), memory.seen),
            memory.offers + offers,
        )
        if data.form == EXCHANGE:
            content = jnp.asarray(self._offers, jnp.int32)[best]
            content = jnp.where(offers & (code == game.first[OFFER]), content, 0)
            return jnp.concatenate([code.astype(jnp.int32)[None], content]), after
        return jnp.where(legal[code], code, PASS).astype(jnp.int32), after

    def _worth(
        self, look: dict[str, Array], agent: int, offers: Array, own: bool
    ) -> tuple[Array, Array]:
        """(worth to this player f32[O], to the other as far as can be guessed f32[O]) of offers,
        `own` ones or the other's."""
        game, data = self._game, self._game.scenario
        values = look["own_values"].astype(jnp.float32)
        if data.form == POOL:
            pool = look["pool"].astype(jnp.float32)
            mine, rest = (offers, pool - offers) if own else (pool - offers, offers)
            each = jnp.sum(values * pool) / jnp.maximum(jnp.sum(pool), 1)
            return mine @ values, jnp.sum(rest, axis=1) * each
        if data.form == PRICE:
            gain = (offers[:, 0] - values[0]) * (1 if agent == 0 else -1)
            return gain, -gain
        if data.form == SHARES:
            mine = offers[:, agent]
            rest = jnp.delete(offers, agent, axis=1, assume_unique_indices=True)
            return mine, jnp.min(rest, axis=1)
        goods = len(data.goods)
        give, get = offers[:, :goods], offers[:, goods:]
        if not own:
            give, get = get, give
        usual = jnp.asarray(_usual(game), jnp.float32)
        return (get - give) @ values, (give - get) @ usual

    def _fair_share(self, look: dict[str, Array], agent: int) -> Array:
        """What `fair` wants."""
        game, data = self._game, self._game.scenario
        values = look["own_values"].astype(jnp.float32)
        if data.form == POOL:
            return jnp.sum(values * look["pool"]) / 2
        if data.form == SHARES:
            step = np.unique(data.offers)[1] if len(np.unique(data.offers)) > 1 else 1
            return look["pool"][0] // game.num_agents // int(step) * jnp.float32(step)
        if data.form == PRICE:
            # Half of what there is to gain if the other's limit is the middle one.
            middle = data.values[1 - agent, 0].mean()
            gain = (middle - values[0]) if agent == 0 else (values[0] - middle)
            return jnp.maximum(gain / 2, 1)
        return jnp.float32(0)

    def _possible(self, legal: Array, phase: Array) -> Array:
        """bool[O], the offers that can be made now; where none can be, all that could be."""
        game = self._game
        if game.scenario.form != EXCHANGE:
            first = game.first[OFFER]
            now = legal[first : first + game.sizes[OFFER]]
            return now | (~now.any() & (phase == RESPOND))
        most = [*game.most, *game.most]
        starts = game.moves + np.cumsum([0, *(int(m) + 1 for m in most[:-1])])
        return jnp.all(legal[self._offers + starts], axis=1) & legal[game.first[OFFER]]

    def _passed(self, look: dict[str, Array]) -> tuple[Array, Array]:
        """The share of the time that has passed: before making an offer, and before accepting one
        (1 at the last chance)."""
        game = self._game
        if "rounds_left" in game.at:
            rounds = game.scenario.rounds
            played = (rounds - look["rounds_left"][0]).astype(jnp.float32)
            return played / rounds, (played + 1) / rounds
        # A chat has to end before the choice in private.
        total = game.max_steps - (game.scenario.flow == CHAT)
        played = (game.max_steps - look["steps_left"][0]).astype(jnp.float32)
        # The last turn but one is the last for the player who moves then.
        return jnp.minimum(played / total, 1), jnp.minimum((played + 2) / total, 1)

    # ---- living together ------------------------------------------------------------------

    def _catch(
        self, look: dict[str, Array], phase: Array, legal: Array, memory: Memory
    ) -> tuple[Array, Memory]:
        game, data, n = self._game, self._game.scenario, self._game.num_agents
        stock = look["pool"][0]
        keep = -int(-data.extra["capacity"] // data.extra["growth"])
        share = jnp.maximum(stock - keep, 0) // n
        share = jnp.where(look["rounds_left"][0] == 1, stock // n, share)
        total = jnp.sum(look["other_holdings"]).astype(jnp.float32)
        if self.style == "tit_for_tat":
            mean = jnp.round((total - memory.seen) / (n - 1)).astype(jnp.int32)
            share = jnp.where(memory.offers > 0, mean, share)
        first = game.first[OFFER]
        share = jnp.minimum(share, jnp.sum(legal[first : first + game.sizes[OFFER]]))
        now = phase == PICK
        code = jnp.where(now & (share > 0), first + share - 1, PASS).astype(jnp.int32)
        after = Memory(memory.conceded, jnp.where(now, total, memory.seen), memory.offers + now)
        return code, after

    def _gift(self, look: dict[str, Array], phase: Array, legal: Array) -> Array:
        game, most = self._game, int(self._game.scenario.extra["max_gift"])
        can = jnp.minimum(look["own_holdings"][0], most)
        gift = (can + 1) // 2
        if self.style == "tit_for_tat":
            record = look["record"].reshape(-1, 3)[jnp.argmax(look["receiver"])]
            mean = jnp.round(record[1] / jnp.maximum(record[0], 1)).astype(jnp.int32)
            gift = jnp.where(record[0] > 0, jnp.minimum(mean, can), gift)
        gives = (phase == PICK) & (gift > 0)
        return jnp.where(gives, game.first[OFFER] + gift - 1, PASS).astype(jnp.int32)


def _usual(game: Negotiation) -> np.ndarray:
    """The average worth of each good, over both players' ranges."""
    return game.scenario.values.mean(axis=(0, 2))


def _candidates(game: Negotiation) -> np.ndarray:
    """i[O, K], the offers that are considered: all that there are, or in a trade, exchanges of one
    good for another."""
    data = game.scenario
    if data.form != EXCHANGE:
        return data.offers.astype(int)
    usual, most, goods = _usual(game), game.most, len(data.goods)
    found = {(0,) * (2 * goods)}
    for give in range(goods):
        for get in range(goods):
            for units in UNITS:
                for rate in RATES:
                    back = round(units * rate * usual[give] / max(usual[get], 1e-6))
                    if give != get and units <= most[give] and 1 <= back <= most[get]:
                        row = [0] * (2 * goods)
                        row[give], row[goods + get] = units, back
                        found.add(tuple(row))
    return np.array(sorted(found))
