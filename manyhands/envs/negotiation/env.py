"""Negotiation: one engine of turns, offers and talk; what is negotiated is data (`scenarios.py`).

Players move in one of these phases:

- TURNS: one player after the other, any move: an offer, an answer to the standing offer, words, or
  nothing. An offer replaces the one that stands; a rejected one is closed; nobody accepts his own.
- TALK: a discussion, one player after the other: words, or nothing.
- PROPOSE: the leader of the round makes an offer; RESPOND: all others answer it at the same time.
- PICK: a choice in private: what to take after a chat, what to catch, what to give. All who are to
  choose do so at the same time.
- OVER.

`"turns"` scenarios are played in TURNS (with `protocol="chat"`, then PICK); `"rounds"` scenarios
repeat TALK and then PROPOSE and RESPOND, or PICK.

Everything pure here is written for a state with any number of trailing batch axes (none, or one).
What a player may know is cut out of the state in one place, `Negotiation.sight`: vectors, texts and
pictures are made of that alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import (
    Action,
    Array,
    ConfigError,
    Env,
    Outcome,
    check_weights,
    state_dataclass,
)
from manyhands.core.talk import Channel
from manyhands.envs.negotiation import scenarios as sc
from manyhands.envs.negotiation.scenarios import (
    CHAT,
    EXCHANGE,
    GIFT,
    HARVEST,
    POOL,
    PRICE,
    ROUNDS,
    SHARES,
)

if TYPE_CHECKING:
    from manyhands.envs.negotiation.solve import Deal

TURNS, TALK, PROPOSE, RESPOND, PICK, OVER = range(6)
PHASES = ("turns", "talk", "propose", "respond", "pick", "over")

# Kinds of moves, in the order in which they are numbered as actions.
PASS, ACCEPT, REJECT, WALK, READY, OFFER, SAY, CLAIM = range(8)
KINDS = ("pass", "accept", "reject", "walk away", "ready", "offer", "say", "claim")

SCORES = ("gain", "win")
_BARGAINING = ("gain", "win", "agreement", "efficiency", "pareto", "nash_product", "envy")
TERMS = {
    HARVEST: ("gain", "win", "survival", "efficiency", "equality", "truthful", "untruthful"),
    GIFT: ("gain", "win", "given", "punished", "equality"),
}


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


class Negotiation(Env[NegotiationState]):
    """A negotiation for 2 to 6 players, each of whom knows only its own values.

    Args:
        scenario: `"deal_or_no_deal"`, `"trade"`, `"buy_sell"`, `"ultimatum"`, `"divide"`,
            `"commons"` or `"donor"`.
        score: what is rewarded: `"gain"`, what a player ends up with, or `"win"`: 1 for who gains
            most, -1 for the others, 0 if the best are equal. To win is zero-sum, even where a deal
            is good for both: a trade that gives both something, but you less, loses.
        talk: whether there is talk: phrases and claims as moves, and free text beside any move.
        max_length: characters of a free message that others hear.
        phrases: the phrasebook, instead of the scenario's.
        memory: how many of the last moves players see; by default 12, or four times the players.
        reward_weights: weights of the terms, instead of what `score` says.
        **options: those of the scenario, see `scenarios.py`.

    **Actions** are `Discrete`: moves in the order of `KINDS`, only those that the scenario has
    (`first` and `sizes` say where): 0 `pass`; `accept`, `reject`, `walk away`, `ready`; one for
    each enumerated offer (`scenario.offers`), which is also what is chosen in private, caught or
    given; one for each phrase, and "something in words of its own"; one for each claim
    (`scenario.claims`). In a trade they are `MultiDiscrete`: the kind of move (where `offer` is a
    single one), then how much of each good is offered, then how much of each is asked for; the
    amounts count only with `offer`. An illegal action is a `pass`, counted in `illegal`: so is an
    offer of nothing for nothing, which the masks of the parts cannot rule out.

    **Observations** are f32[F]: the numbers of `fields` (`Negotiation.fields` names each, and what
    it is divided by). `perceive` gives the same numbers undivided, i32[N, F].

    Terms, at the end of the episode but for `gain` and truth: `gain` (when it is made), `win`,
    `agreement` (1 if there was one), `efficiency` (joint gain over the best possible), `pareto` (1
    if no other outcome is better for one and worse for none), `nash_product` (of what all gained
    beyond their outside options), `envy` (by how much a player would rather have another's part),
    `truthful` and `untruthful` (1 for each claim that is true or not; for each pledge that is kept
    or not). The commons have `survival` (1 a month) and `equality` (1 less the Gini coefficient)
    instead of the deal's; the donor game `given` and `punished` (coins) and `equality`. Metrics:
    `turns`, `offers`, `deals`, `messages`, `claims`, `collapsed`, `illegal`.
    """

    id = "negotiation"
    package = "manyhands.envs.negotiation"
    default_policy = "fair"
    scripted_policy = "fair"
    noop: Action
    batched = True

    def __init__(
        self,
        scenario: str = "deal_or_no_deal",
        *,
        score: str = "gain",
        talk: bool = True,
        max_length: int = 200,
        phrases: Any = None,
        memory: int | None = None,
        reward_weights: Mapping[str, float] | None = None,
        **options: Any,
    ):
        self.scenario = data = sc.build(scenario, options)
        n = data.players
        if score not in SCORES:
            raise ConfigError(f"score is gain or win, given {score!r}")
        if not isinstance(talk, bool):
            raise ConfigError(f"talk is True or False, given {talk!r}")
        if memory is None:
            memory = max(12, 4 * n)
        if isinstance(memory, bool) or not isinstance(memory, int) or not n <= memory <= 1000:
            raise ConfigError(f"memory is a whole number from {n} to 1000, given {memory!r}")
        given = {
            "max_length": None if max_length == 200 else max_length,
            "phrases": None if phrases is None else list(phrases),
            "memory": memory,
            "reward_weights": dict(reward_weights) if reward_weights else None,
            **{name: _plain(value) for name, value in options.items()},
        }
        self._config = {"scenario": scenario, "score": score, "talk": talk}
        self._config |= {name: value for name, value in given.items() if value is not None}
        self.score, self.memory, self.max_steps = score, memory, data.max_steps
        self.agents = tuple(f"player_{i}" for i in range(n))
        book = data.phrases if phrases is None else tuple(phrases)
        self._channel = None
        if talk:
            self._channel = Channel(self.agents, book, max_length)
        self.phrases = book
        self.discussion = data.discussion if talk else 0
        terms = TERMS.get(data.form) or (*_BARGAINING, "truthful", "untruthful")
        self.terms = terms
        weights = dict.fromkeys(terms, 0.0) | {score: 1.0}
        self.reward_weights = check_weights(reward_weights, weights)
        self.deterministic_reset = self._is_fixed()
        self._lay_out_actions(talk)
        self._lay_out_fields()

    def _is_fixed(self) -> bool:
        data = self.scenario
        drawn = any(bool((r[..., 0] != r[..., 1]).any()) for r in (data.holdings, data.outside))
        if data.table is not None:
            drawn |= len(data.table) > 1
        else:
            drawn |= bool((data.values[..., 0] != data.values[..., 1]).any())
        receivers = data.form == GIFT and self.num_agents > 2  # who is drawn
        return not drawn and not receivers

    def _lay_out_actions(self, talk: bool) -> None:
        data, exchange = self.scenario, self.scenario.form == EXCHANGE
        bargains = data.form in (POOL, SHARES, PRICE, EXCHANGE)
        speaks = talk and (data.flow != ROUNDS or self.discussion > 0)
        sizes = [
            1,
            bargains and data.flow != CHAT,
            bargains and data.flow != CHAT,
            bargains and data.form != SHARES,
            data.flow == CHAT,
            1 if exchange else len(data.offers),
            (len(self.phrases) + 1) * speaks,
            len(data.claims) * speaks,
        ]
        self.sizes = tuple(map(int, sizes))
        self.first = tuple(int(sum(self.sizes[:kind])) for kind in range(len(KINDS)))
        self.moves = sum(self.sizes)
        self.noop = 0
        if not exchange:
            self.width = data.offers.shape[1]
            self.action_space = gymnasium.spaces.Discrete(self.moves)
            return
        # As many units as can be in the game, given and asked for.
        self.most = data.holdings[..., 1].sum(0).astype(int)
        self.width = 2 * len(data.goods)
        parts = [self.moves, *(self.most + 1), *(self.most + 1)]
        self.action_space = gymnasium.spaces.MultiDiscrete(parts, dtype=np.int32)
        self.noop = np.zeros(len(parts), np.int32)

    # ---- the rules ----------------------------------------------------------------------------

    def reset(self, key: Array) -> NegotiationState:
        data, n, r = self.scenario, self.num_agents, len(self.scenario.goods)
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
        rounds = data.flow == ROUNDS
        return NegotiationState(
            phase=jnp.uint8(self._opening if rounds else TURNS),
            time=jnp.int16(0),
            turn=jnp.uint8(0),
            talked=jnp.uint8(0),
            round=jnp.int16(0),
            pool=pool,
            values=values,
            outside=outside,
            holdings=holdings,
            start=holdings,
            offer=jnp.zeros(self.width, jnp.int16),
            offerer=jnp.uint8(0),
            claims=jnp.zeros((n, r), jnp.int16),
            record=jnp.zeros((n, 3), jnp.int16),
            receiver=self._receiver(keys[4], jnp.uint8(0)),
            deals=jnp.int16(0),
            log=jnp.zeros((self.memory, 3 + self.width), jnp.int16),
        )

    @property
    def _opening(self) -> int:
        """The phase that a round begins with."""
        return TALK if self.discussion else self._decision

    @property
    def _decision(self) -> int:
        return PICK if self.scenario.form in (HARVEST, GIFT) else PROPOSE

    def _receiver(self, key: Array, donor: Array) -> Array:
        """Anybody but the donor; nobody where there are no gifts."""
        if self.scenario.form != GIFT:
            return jnp.zeros_like(donor)
        n = self.num_agents
        if n == 2:
            return 1 - donor

        def draw(key: Array) -> Array:
            return jax.random.randint(key, (), 1, n)

        steps = jax.vmap(draw)(key) if key.ndim else draw(key)
        return ((donor + steps) % n).astype(jnp.uint8)

    def acting(self, state: NegotiationState) -> Array:
        return self._acting(state, jnp)

    def _acting(self, state: NegotiationState, xp: Any) -> Array:
        players = xp.arange(self.num_agents).reshape(-1, *[1] * state.time.ndim)
        lead, phase = players == state.turn[None], state.phase[None]
        acting = lead & (phase < RESPOND)
        if self.scenario.flow == ROUNDS and self._decision == PROPOSE:
            acting = acting | (~lead & (phase == RESPOND))
        if self.scenario.form in (HARVEST, POOL):
            acting = acting | (phase == PICK)
        if self.scenario.form == GIFT:
            acting = acting | (lead & (phase == PICK))
        return acting

    def legal(self, state: NegotiationState) -> Array:
        return self._legal(state, jnp)

    def _legal(self, state: NegotiationState, xp: Any) -> Array:
        """bool[N, A]; in a trade the masks of the parts one after the other."""
        data, phase, batch = self.scenario, state.phase, state.time.shape
        acting = self._acting(state, xp)
        turns = phase == TURNS
        talks = turns | (phase == TALK)
        # By phase, an offer is made, or something is picked; both within the same bounds.
        picks = turns | (phase == PROPOSE) | (phase == PICK)
        rows = []
        for i in range(self.num_agents):
            theirs = (state.offerer != 0) & (state.offerer != i + 1)
            answers = (turns & theirs) | (phase == RESPOND)
            fits = self._fits(state, i, xp)
            conditions = [
                xp.ones_like(turns),
                answers & self._covers(state, i, xp),
                answers,
                phase != PICK,
                turns,
                xp.broadcast_to(picks, fits.shape) & fits,
                talks,
                talks,
            ]
            parts = []
            for kind, (size, condition) in enumerate(zip(self.sizes, conditions, strict=True)):
                rows_of_kind = condition if kind == OFFER else condition[None]
                if size:
                    parts.append(xp.broadcast_to(rows_of_kind, (size, *batch)))
            if data.form == EXCHANGE:
                parts += self._amounts(state, i, xp)
            rows.append(xp.concatenate(parts) & acting[i][None])
        return xp.stack(rows)

    def _fits(self, state: NegotiationState, i: int, xp: Any) -> Array:
        """bool[O]: which enumerated offers (or catches, or gifts) player i can make."""
        data = self.scenario
        if data.form == EXCHANGE:
            return xp.ones((1, *state.time.shape), bool)
        offers = _with_batch(data.offers, state.time.ndim)
        if data.form in (POOL, HARVEST):
            return xp.all(offers <= state.pool[None], axis=1)
        if data.form == GIFT:
            return offers[:, 0] + offers[:, 1] <= state.holdings[i, 0][None]
        return xp.ones((len(offers), *state.time.shape), bool)

    def _covers(self, state: NegotiationState, i: int, xp: Any) -> Array:
        """bool[]: whether player i owns what the standing offer asks for."""
        if self.scenario.form != EXCHANGE:
            return xp.ones(state.time.shape, bool)
        asked = state.offer[len(self.scenario.goods) :]
        return xp.all(asked <= state.holdings[i], axis=0)

    def _amounts(self, state: NegotiationState, i: int, xp: Any) -> list[Array]:
        """The masks of how much can be given (what one owns), and asked for (what the other can
        own, as far as one knows)."""
        data, batch = self.scenario, [1] * state.time.ndim
        high = _with_batch(data.holdings[1 - i, :, 1], state.time.ndim)
        could = state.holdings[1 - i] if data.public else high + state.start[i] - state.holdings[i]
        turns = state.phase[None] == TURNS
        masks = []
        for bound in (state.holdings[i], could):
            for good, most in enumerate(self.most):
                amounts = xp.arange(most + 1).reshape(-1, *batch)
                masks.append((amounts == 0) | (turns & (amounts <= bound[good][None])))
        return masks

    def step(
        self, key: Array, state: NegotiationState, actions: Array
    ) -> tuple[NegotiationState, Outcome]:
        data, n = self.scenario, self.num_agents
        acting, legal = self.acting(state), self.legal(state)
        # Barriers: what is used in many places is computed once, not again in each.
        kind, detail, content, illegal = jax.lax.optimization_barrier(
            self._read(actions, acting, legal)
        )
        turns, talk = state.phase == TURNS, state.phase == TALK

        # Who moves alone: its move. Where several do, these are not used.
        alone = [jnp.where(acting[i], kind[i], 0) for i in range(n)]
        move = sum(alone[1:], alone[0])
        mine = _pick(content, acting)
        mover = state.turn

        # Words.
        claims = state.claims
        truths = jnp.zeros(acting.shape, jnp.float32)
        lies = truths
        if self.sizes[CLAIM]:
            stated = acting & (kind == CLAIM)
            good, number = (
                jnp.asarray(column)[detail] for column in data.claims.astype(np.int16).T
            )
            goods = jnp.arange(len(data.goods)).reshape(-1, *[1] * state.time.ndim)
            told = stated[:, None] & (good[:, None] == goods[None])
            claims = jnp.where(told, number[:, None] + 1, claims).astype(jnp.int16)
            if data.about != "pledge":
                truth = state.outside[:, None] if data.about == "outside" else state.values
                off = jnp.abs(truth - number[:, None]).astype(jnp.float32)
                true = jnp.any(told & (off <= data.slack), axis=1)
                truths = (stated & true).astype(jnp.float32)
                lies = (stated & ~true).astype(jnp.float32)

        # Offers, and what becomes of them.
        offers = (turns | (state.phase == PROPOSE)) & (move == OFFER)
        answered = turns & ((move == ACCEPT) | (move == REJECT))
        offer = jnp.where(offers[None], mine, state.offer)
        offer = jnp.where(answered[None], 0, offer).astype(jnp.int16)
        offerer = jnp.where(answered, 0, jnp.where(offers, mover + 1, state.offerer))
        dealt = turns & (move == ACCEPT)  # on `state.offer`, by `state.offerer`
        agreed, by = state.offer, state.offerer
        over = ((turns | talk | (state.phase == PROPOSE)) & (move == WALK)) | (
            state.time + 1 >= self.max_steps
        )
        finished = jnp.zeros_like(over)  # the round
        after = state.phase
        turn, talked = state.turn, state.talked
        passed = jnp.where(turns | talk, (turn + 1) % n, turn)

        if data.flow == CHAT:
            after = jnp.where(turns & (move == READY), PICK, after)
            # The choices in private: they make a deal if they make up the pool.
            picking = state.phase == PICK
            chose = jnp.all(kind == OFFER, axis=0)
            whole = jnp.all(jnp.sum(content, axis=0) == state.pool, axis=0)
            dealt = picking & chose & whole
            agreed, by = content[0], jnp.ones_like(state.offerer)
            over = over | picking
        if data.flow == ROUNDS:
            talked = jnp.where(talk, talked + 1, talked)
            spoken = talk & (talked >= n * self.discussion)
            after = jnp.where(spoken, self._decision, after)
            proposing, responding = state.phase == PROPOSE, state.phase == RESPOND
            if self._decision == PROPOSE:
                after = jnp.where(proposing & offers, RESPOND, after)
                yes = jnp.sum(acting & (kind == ACCEPT), axis=0)
                walks = jnp.any(acting & (kind == WALK), axis=0)
                needed = n - 1 if data.unanimous else n // 2  # beside the proposer's own
                dealt = responding & (yes >= needed)
                over = over | (responding & walks & ~dealt)
                finished = (proposing & ~offers) | (responding & ~dealt)
            else:
                finished = state.phase == PICK

        gain = jnp.zeros(acting.shape, jnp.float32)
        holdings, pool, record = state.holdings, state.pool, state.record
        values = state.values.astype(jnp.int32)
        shown = content  # what the log says of this step's offers, catches and gifts
        collapsed = jnp.zeros_like(over)
        given = punished = survived = None
        if data.form in (POOL, SHARES):
            parts = self._parts(agreed, by, state.pool)
            holdings = jnp.where(dealt[None, None], parts, holdings)
            pool = jnp.where(dealt[None], 0, pool)
            gain = jnp.where(dealt[None], jnp.sum(parts * values, axis=1), 0)
            over = over | dealt
        elif data.form == PRICE:
            price, cost, value = agreed[0], state.values[0, 0], state.values[1, 0]
            gain = jnp.where(dealt[None], jnp.stack([price - cost, value - price]), 0)
            pool = jnp.where(dealt[None], 0, pool)
            over = over | dealt
        elif data.form == EXCHANGE:
            r = len(data.goods)
            to_second = jnp.where(by == 1, 1, -1) * (agreed[:r] - agreed[r:])
            change = jnp.where(dealt[None, None], jnp.stack([-to_second, to_second]), 0)
            holdings = holdings + change
            gain = jnp.sum(change * values, axis=1)
        elif data.form == HARVEST:
            caught, pool, collapsed = self._harvest(state.pool[0], content[:, 0], finished)
            pool = pool[None]
            holdings = holdings + caught[:, None]
            gain = caught * values[:, 0]
            shown = caught[:, None]
            pledged = claims[:, 0] - 1
            due = finished[None] & (pledged >= 0)
            truths = (due & (caught <= pledged)).astype(jnp.float32)
            lies = (due & (caught > pledged)).astype(jnp.float32)
            claims = jnp.where(finished[None, None], 0, claims)
            survived = finished & ~collapsed
            over = over | collapsed
        elif data.form == GIFT:
            holdings, record, shown, given, punished = self._give(state, content, finished)
            gain = jnp.sum((holdings - state.holdings) * values, axis=1)

        # What comes next.
        round_ = state.round + finished.astype(jnp.int16)
        if data.flow == ROUNDS:
            over = over | (finished & (round_ >= data.rounds))
            passed = jnp.where(finished, round_ % n, passed)
            talked = jnp.where(finished, 0, talked)
            after = jnp.where(finished, self._opening, after)
            offer = jnp.where(finished[None] | dealt[None], 0, offer)
            offerer = jnp.where(finished | dealt, 0, offerer)
        if data.break_off:
            draw = jax.vmap(jax.random.uniform) if key.ndim else jax.random.uniform
            over = over | (turns & (draw(key) < data.break_off))
        if data.discount != 1:
            late = state.round if data.flow == ROUNDS else jnp.maximum(state.time - 1, 0)
            powers = np.float32(data.discount ** np.arange(max(self.max_steps, data.rounds) + 1))
            gain = gain * jnp.asarray(powers)[late]
        deals = state.deals + dealt.astype(jnp.int16)
        missed = over & (deals == 0)
        if data.has_outside:
            gain = jnp.where(missed[None], state.outside, gain)
        gain = gain.astype(jnp.float32)
        receiver = state.receiver
        if data.form == GIFT:
            receiver = jnp.where(finished, self._receiver(key, passed.astype(jnp.uint8)), receiver)

        words = jnp.where((kind == SAY) | (kind == CLAIM), detail + 1, 0)
        if data.flow == CHAT:
            words = jnp.where((kind == OFFER) & (state.phase == PICK)[None], 1, words)
        log = self._logged(state.log, acting, kind, words, shown)
        after = jnp.where(over, OVER, after)
        ahead = {
            "phase": after.astype(jnp.uint8),
            "time": state.time + jnp.int16(1),
            "turn": passed.astype(jnp.uint8),
            "talked": talked.astype(jnp.uint8),
            "round": round_,
            "pool": pool.astype(jnp.int16),
            "values": state.values,
            "outside": state.outside,
            "holdings": holdings.astype(jnp.int16),
            "start": state.start,
            "offer": offer.astype(jnp.int16),
            "offerer": offerer.astype(jnp.uint8),
            "claims": claims.astype(jnp.int16),
            "record": record.astype(jnp.int16),
            "receiver": receiver,
            "deals": deals,
            "log": log,
        }
        new, gain = jax.lax.optimization_barrier((NegotiationState(**ahead), gain))
        terms = {"gain": gain, **self._grades(state, new, gain, over)}
        if "truthful" in self.terms:
            terms |= {"truthful": truths, "untruthful": lies}
        if survived is not None:
            terms["survival"] = _everybody(survived, n)
        if given is not None:
            terms |= {"given": given, "punished": punished}
        spoke = acting & ((kind == SAY) | (kind == CLAIM))
        metrics = {
            "turns": jnp.ones_like(over),
            "offers": offers,
            "deals": dealt,
            "messages": jnp.sum(spoke, axis=0),
            "claims": jnp.sum(acting & (kind == CLAIM), axis=0),
            "collapsed": collapsed,
            "illegal": jnp.sum(illegal, axis=0),
        }
        metrics = {name: value.astype(jnp.float32) for name, value in metrics.items()}
        ended = jnp.broadcast_to(over[None], acting.shape)
        return new, self.outcome(terms, ended, jnp.zeros_like(ended), metrics)

    def _read(
        self, actions: Array, acting: Array, legal: Array
    ) -> tuple[Array, Array, Array, Array]:
        """(kind u8[N], number within the kind i16[N], offer i16[N, K], illegal bool[N]) of all
        actions; an illegal one is read as a pass."""
        data = self.scenario
        if data.form == EXCHANGE:
            parts, start = [], 0
            for k, size in enumerate(self.action_space.nvec.tolist()):  # type: ignore[attr-defined]
                parts.append(_at(legal[:, start : start + size], actions[:, k]))
                start += size
            code, content = actions[:, 0], actions[:, 1:]
            offers = code == self.first[OFFER]
            allowed = _all(parts) & (~offers | jnp.any(content > 0, axis=1))
        else:
            code = actions
            allowed = _at(legal, code)
        illegal = acting & ~allowed
        code = jnp.where(acting & allowed, code, 0)
        kind = sum(
            ((code >= self.first[k]).astype(jnp.uint8) * (k - before) for before, k in self._steps),
            jnp.zeros(code.shape, jnp.uint8),
        )
        first = sum(
            ((code >= self.first[k]) * (self.first[k] - self.first[b]) for b, k in self._steps),
            jnp.zeros_like(code),
        )
        detail = code - first
        offers = acting & (kind == OFFER)
        if data.form != EXCHANGE:
            index = jnp.where(offers, detail, 0)
            content = jnp.moveaxis(jnp.asarray(data.offers)[index], -1, 1)
        content = jnp.where(offers[:, None], content, 0).astype(jnp.int16)
        return kind, detail, content, illegal

    @property
    def _steps(self) -> list[tuple[int, int]]:
        """(a kind, the next one) of the kinds that this scenario has."""
        kinds = [kind for kind, size in enumerate(self.sizes) if size]
        return list(itertools.pairwise(kinds))

    def _parts(self, content: Array, by: Array, pool: Array) -> Array:
        """i16[N, R], what each player gets by an agreement on an offer."""
        if self.scenario.form == SHARES:
            return content[:, None]
        rest = pool - content
        first = by == 1
        return jnp.stack([jnp.where(first, content, rest), jnp.where(first, rest, content)])

    def _harvest(self, stock: Array, wished: Array, now: Array) -> tuple[Array, Array, Array]:
        """(catches i16[N], stock i16[], whether it collapsed) after a month; unchanged if not
        `now`."""
        extra = self.scenario.extra
        wished = jnp.where(now[None], wished, 0).astype(jnp.int32)
        total = jnp.sum(wished, axis=0)
        share = wished * stock // jnp.maximum(total, 1)
        caught = jnp.where(total > stock, share, wished)
        left = stock - jnp.sum(caught, axis=0)
        collapsed = now & (left < int(extra["collapse"]))
        grown = jnp.asarray(_regrown(self.scenario))[left]
        stock = jnp.where(now, jnp.where(collapsed, left, grown), stock)
        return caught.astype(jnp.int16), stock, collapsed

    def _give(
        self, state: NegotiationState, content: Array, now: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """(holdings, record, what the log shows, coins given, coins spent on punishing)."""
        n = self.num_agents
        players = jnp.arange(n).reshape(-1, *[1] * state.time.ndim)
        donor = (players == state.turn[None]) & now[None]
        receives = (players == state.receiver[None]) & now[None]
        given, spent = content[:, 0] * donor, content[:, 1] * donor
        arrives = jnp.sum(given, axis=0) * int(self.scenario.extra["multiplier"])
        taken = 2 * jnp.sum(spent, axis=0)
        own = state.holdings[:, 0]
        own = own - given - spent + jnp.where(receives, arrives[None], 0)
        own = jnp.where(receives, jnp.maximum(own - taken[None], 0), own)
        record = state.record + jnp.stack([donor.astype(jnp.int16), given, spent], axis=1)
        whom = jnp.where(donor, state.receiver[None] + 1, 0).astype(content.dtype)
        shown = jnp.stack([content[:, 0], content[:, 1], whom], axis=1)
        coins = given.astype(jnp.float32), spent.astype(jnp.float32)
        return own[:, None], record, shown, *coins

    def _logged(
        self, log: Array, acting: Array, kind: Array, words: Array, content: Array
    ) -> Array:
        """The log with the moves of this step behind it."""
        for i in range(self.num_agents):
            shown = jnp.where(kind[i][None] == OFFER, content[i], 0)
            if self.scenario.form in (HARVEST, GIFT):
                shown = content[i]
            head = jnp.stack(
                [jnp.full_like(words[i], i + 1), kind[i].astype(words.dtype), words[i]]
            )
            row = jnp.concatenate([head, shown.astype(head.dtype)]).astype(jnp.int16)
            longer = jnp.concatenate([log[1:], row[None]])
            log = jnp.where(acting[i][None, None], longer, log)
        return log

    def _grades(
        self, before: NegotiationState, after: NegotiationState, gain: Array, over: Array
    ) -> dict[str, Array]:
        """The terms that grade the whole episode, at its end, 0 before."""
        data, n = self.scenario, self.num_agents
        end = jnp.broadcast_to(over[None], gain.shape)
        values = before.values.astype(jnp.int32)
        worth = values[:, None] * after.holdings[None]  # [i, j, R]: j's goods, to i
        worth = jnp.sum(worth, axis=2).astype(jnp.float32)
        envy = jnp.stack([jnp.max(worth[i], axis=0) - worth[i, i] for i in range(n)])
        if data.form in (EXCHANGE, HARVEST, GIFT):
            change = after.holdings - before.start
            total = jnp.sum(values * change, axis=1).astype(jnp.float32)
        else:
            total = gain
        best = jnp.max(total, axis=0)
        top = jnp.sum(total == best[None], axis=0)
        win = jnp.where(total == best[None], jnp.where(top == 1, 1, 0), jnp.where(top == 1, -1, 0))
        grades = {"win": win}
        if data.form in (HARVEST, GIFT):
            own = after.holdings[:, 0].astype(jnp.float32)
            apart = sum(jnp.abs(own[i] - own[j]) for i in range(n) for j in range(n))
            gini = apart / jnp.maximum(2 * n * jnp.sum(own, axis=0), 1)
            grades["equality"] = _everybody(1 - gini, n)
            if data.form == HARVEST:
                most = np.float32(most_catch(data)[0])
                grades["efficiency"] = _everybody(jnp.sum(own, axis=0) / most, n)
        else:
            made = after.deals > 0
            outcomes = self._outcomes(before)  # [O, N], no deal among them
            if outcomes is None:
                limit = self._best_exchange(before)
                pareto = ~self._can_swap(after)
            else:
                limit = jnp.max(jnp.sum(outcomes, axis=1), axis=0)
                split = self._split_of(before, after, made)
                better = jnp.all(outcomes >= split[None], axis=1)
                better = better & jnp.any(outcomes > split[None], axis=1)
                pareto = ~jnp.any(better, axis=0)
            joint = jnp.sum(total, axis=0)
            share = jnp.where(limit > 0, joint / jnp.maximum(limit, 1), joint >= limit)
            beyond = jnp.maximum(total - before.outside.astype(jnp.float32), 0)
            product = beyond[0]
            for i in range(1, n):
                product = product * beyond[i]
            if data.form == PRICE:
                envy = jnp.maximum(best[None] - total, 0)
            grades |= {
                "agreement": _everybody(made, n),
                "efficiency": _everybody(share, n),
                "pareto": _everybody(pareto, n),
                "nash_product": _everybody(product, n),
                "envy": envy,
            }
        return {
            name: jnp.where(end, grade, 0).astype(jnp.float32) for name, grade in grades.items()
        }

    def _outcomes(self, state: NegotiationState) -> Array | None:
        """f32[O + 1, N]: what each enumerated agreement, and none, gives to each player, at once;
        impossible ones count as none. None if offers are not enumerated."""
        data = self.scenario
        if data.form == EXCHANGE:
            return None
        offers = _with_batch(data.offers, state.time.ndim)
        values, outside = state.values.astype(jnp.int32), state.outside.astype(jnp.int32)
        if data.form == POOL:
            mine = jnp.sum(offers * values[0][None], axis=1)
            rest = jnp.sum((state.pool[None] - offers) * values[1][None], axis=1)
            gains = jnp.stack([mine, rest], axis=1)
            fits = self._fits(state, 0, jnp)
            gains = jnp.where(fits[:, None], gains, outside[None])
        elif data.form == PRICE:
            price = offers[:, 0].astype(jnp.int32)
            gains = jnp.stack([price - values[0], values[1] - price], axis=1)
        else:
            gains = offers * values[None, :, 0]
        return jnp.concatenate([gains, outside[None]]).astype(jnp.float32)

    def _split_of(self, before: NegotiationState, after: NegotiationState, made: Array) -> Array:
        """f32[N], what the agreement gives to each player, at once, or what none does."""
        if self.scenario.form == PRICE:
            price = before.offer[0].astype(jnp.int32)
            cost, value = before.values[:, 0].astype(jnp.int32)
            gains = jnp.stack([price - cost, value - price])
        else:
            gains = jnp.sum(after.holdings.astype(jnp.int32) * before.values, axis=1)
        return jnp.where(made[None], gains, before.outside).astype(jnp.float32)

    @staticmethod
    def _best_exchange(state: NegotiationState) -> Array:
        """f32[], the joint gain if everything went to who values it more."""
        a, b = state.values.astype(jnp.int32)
        gains = jnp.maximum(b - a, 0) * state.start[0] + jnp.maximum(a - b, 0) * state.start[1]
        return jnp.sum(gains, axis=0).astype(jnp.float32)

    def _can_swap(self, state: NegotiationState) -> Array:
        """bool[]: whether exchanging whole units of one good for another one (or giving some away)
        would help one player and harm none."""
        values, own = state.values.astype(jnp.int32), state.holdings.astype(jnp.int32)
        useless = (values == 0) & (values[::-1] > 0) & (own > 0)
        # Player 0 gives `units` of one good and gets from `least` to `most` of another one:
        # [good, other, units, ...].
        units = jnp.arange(1, int(self.most.max()) + 1).reshape(1, 1, -1, *[1] * state.time.ndim)
        give = values[:, :, None, None] * units[None]  # what they are worth to each
        back = values[:, None, :, None]
        least = -(-give[0] // jnp.maximum(back[0], 1))
        least = jnp.maximum(jnp.where(back[0] == 0, 1 << 20, least), 1)
        most = jnp.where(back[1] == 0, 1 << 20, give[1] // jnp.maximum(back[1], 1))
        most = jnp.minimum(most, own[1][None, :, None])
        # Somebody must be better off: with `most`, this one; with `least`, the other.
        better = (back[0] * most > give[0]) | (give[1] > back[1] * least)
        swaps = (units <= own[0][:, None, None]) & (least <= most) & better
        return jnp.any(useless, axis=(0, 1)) | jnp.any(swaps, axis=(0, 1, 2))

    # ---- what players see ---------------------------------------------------------------------

    def _lay_out_fields(self) -> None:
        """Where each field lies in a row of `perceive`, and its bounds."""
        data, n, r = self.scenario, self.num_agents, len(self.scenario.goods)
        bargains = data.form in (POOL, SHARES, PRICE, EXCHANGE)
        if data.flow == ROUNDS:
            self.phases = (TALK,) * bool(self.discussion) + (self._decision,)
            self.phases += (RESPOND,) * (self._decision == PROPOSE) + (OVER,)
        else:
            self.phases = (TURNS, *((PICK,) if data.flow == CHAT else ()), OVER)
        worth = int(data.values[..., 1].max())
        pool = int(data.pool.max()) if data.pool is not None else 0
        owned = pool * data.rounds if data.form == HARVEST else pool
        if data.form == EXCHANGE:
            owned = int(self.most.max())
        gifts = data.rounds * int(data.extra.get("max_gift", 0))
        if data.form == GIFT:
            owned = int(data.holdings.max()) + gifts * int(data.extra["multiplier"])
        content = {EXCHANGE: owned, SHARES: pool, POOL: pool, HARVEST: pool}
        inside = content.get(data.form, int(data.offers.max(initial=1)))
        stated = int(data.claims[:, 1].max(initial=0)) + 1
        most_words = max(self.sizes[SAY], self.sizes[CLAIM])
        layout: list[tuple[str, int, int, int]] = [
            ("phase", len(self.phases), 0, 1),
            ("to_move", n, 0, 1),
            ("seat", n, 0, 1),
            ("steps_left", 1, 0, self.max_steps),
        ]
        if data.flow == ROUNDS:
            layout += [("rounds_left", 1, 0, data.rounds), ("lead", n, 0, 1)]
        if data.form in (POOL, SHARES, HARVEST):
            layout.append(("pool", r, 0, pool))
        if data.form != PRICE:
            layout.append(("own_holdings", r, 0, owned))
            if data.public:
                layout.append(("other_holdings", (n - 1) * r, 0, owned))
        layout.append(("own_values", r, 0, worth))
        if data.form == EXCHANGE:
            layout.append(("own_gain", 1, -owned * worth * r, owned * worth * r))
        if data.has_outside:
            layout.append(("own_outside", 1, 0, int(data.outside.max())))
        if bargains:
            layout += [("offer_by", n, 0, 1), ("offer", self.width, 0, inside)]
        if self.sizes[CLAIM]:
            layout.append(("claims", n * r, 0, stated))
        if data.form == GIFT:
            layout += [("receiver", n, 0, 1), ("record", 3 * n, 0, gifts)]
        if bargains:
            layout.append(("deals", 1, 0, self.max_steps))
        rows = [n, len(KINDS) - 1, max(most_words, 1), *[max(inside, n)] * self.width]
        low: list[int] = []
        high: list[int] = []
        self.at: dict[str, slice] = {}
        for name, size, lowest, highest in layout:
            self.at[name] = slice(len(low), len(low) + size)
            low += [lowest] * size
            high += [max(highest, 1)] * size
        self.at["log"] = slice(len(low), len(low) + self.memory * len(rows))
        low += [0] * (self.memory * len(rows))
        high += rows * self.memory
        self._scale = np.maximum(np.abs(low), np.abs(high)).astype(np.float32)
        self._per_unit = np.float32(1) / self._scale
        lowest_row = np.array(low, np.float32) * self._per_unit
        highest_row = np.array(high, np.float32) * self._per_unit
        self.observation_space = gymnasium.spaces.Box(lowest_row, highest_row, dtype=np.float32)

    @property
    def fields(self) -> tuple[tuple[str, float], ...]:
        """(name, what it is divided by) of each number of an observation, in order."""
        data, goods, n = self.scenario, self.scenario.goods, self.num_agents
        others = ["you", *(f"next_{j}" for j in range(1, n))]
        content = list(goods)
        if data.form == EXCHANGE:
            content = [f"{side} {good}" for side in ("give", "ask") for good in goods]
        elif data.form == SHARES:
            content = others
        elif data.form == GIFT:
            content = ["given", "spent on punishing", "receiver"]
        labels = {
            "phase": [PHASES[phase] for phase in self.phases],
            **{name: others for name in ("to_move", "lead", "offer_by", "receiver")},
            "seat": list(self.agents),
            **{name: list(goods) for name in ("pool", "own_holdings", "own_values")},
            "other_holdings": [f"{who} {good}" for who in others[1:] for good in goods],
            "offer": content,
            "claims": [f"{who} {good}" for who in others for good in goods],
            "record": [f"{who} {what}" for who in others for what in ("donor", "given", "spent")],
            "log": [
                f"{number} {what}"
                for number in range(self.memory)
                for what in ("player", "kind", "words", *content)
            ],
        }
        names = []
        for field, where in self.at.items():
            size = where.stop - where.start
            names += [f"{field}: {label}" for label in labels.get(field, [])] or [field] * size
        return tuple(zip(names, self._scale.tolist(), strict=True))

    def sight(self, state: NegotiationState, i: int, xp: Any = np) -> Array:
        """i32[F, ...], all that player i may know of a state, laid out as `at` says. Players come
        in the order of their seats, beginning with i itself ("you"), then the next one.

        - `phase`: which (one bit each); `to_move`: who moves now; `seat`: who you are.
        - `steps_left`; with rounds `rounds_left` (this one included) and `lead`: who proposes,
          gives, or speaks first.
        - `pool`: what lies on the table; `own_holdings`, and where they are public
          `other_holdings`; `own_values`; in a trade `own_gain` so far; `own_outside`.
        - `offer_by`: who made the standing offer, no bit: none stands; `offer`: what it says: what
          its maker takes (pool), a price, each player's share, or amounts given and asked for.
        - `claims`: one more than what each player last claimed of each good; 0: nothing.
        - `receiver`; `record`: for each player, times a donor, coins given, spent on punishing.
        - `deals`: agreements so far.
        - `log`: the last moves, oldest first: player (1 you, 2 the next one, ...; 0: no move), kind
          (`KINDS`), phrase or claim (from 1; 1 with an offer: chosen in private), offer. The
          receiver of a gift is numbered like the player.
        """
        data, n = self.scenario, self.num_agents
        order = [(i + j) % n for j in range(n)]
        players = xp.arange(n).reshape(-1, *[1] * state.time.ndim)
        ego = xp.array(order).reshape(players.shape)
        parts: dict[str, Any] = {
            "phase": xp.stack([state.phase == phase for phase in self.phases]),
            "to_move": self._acting(state, xp)[np.array(order)],
            "seat": xp.broadcast_to(players == i, (n, *state.time.shape)),
            "steps_left": (self.max_steps - state.time.astype(np.int32))[None],
            "rounds_left": (data.rounds - state.round.astype(np.int32))[None],
            "lead": ego == state.turn[None],
            "pool": state.pool,
            "own_holdings": state.holdings[i],
            "own_values": state.values[i],
            "own_outside": state.outside[i][None],
            "offer_by": ego + 1 == state.offerer[None],
            "offer": state.offer,
            "receiver": ego == state.receiver[None],
            "record": _flat(state.record[np.array(order)]),
            "claims": _flat(state.claims[np.array(order)]),
            "other_holdings": _flat(state.holdings[np.array(order[1:])]),
            "deals": state.deals[None],
        }
        if "own_gain" in self.at:
            change = (state.holdings[i] - state.start[i]).astype(np.int32)
            parts["own_gain"] = xp.sum(change * state.values[i], axis=0)[None]
        log = state.log.astype(np.int32)
        who, content = log[:, 0], [log[:, 3 + k] for k in range(self.width)]
        columns = [xp.where(who > 0, (who - 1 - i) % n + 1, 0), log[:, 1], log[:, 2]]
        if data.form == SHARES:
            parts["offer"] = state.offer[np.array(order)]
            content = [content[k] for k in order]
        elif data.form == GIFT:
            content[2] = xp.where(content[2] > 0, (content[2] - 1 - i) % n + 1, 0)
        parts["log"] = _flat(xp.stack([*columns, *content], axis=1))
        return xp.concatenate([parts[name].astype(np.int32) for name in self.at])

    def perceive(self, state: NegotiationState) -> Array:
        """i32[N, F], see `sight`."""
        rows = [self.sight(state, i, jnp) for i in range(self.num_agents)]
        return jnp.stack(jax.lax.optimization_barrier(rows))

    def observe(self, state: NegotiationState) -> Array:
        scale = _with_batch(self._per_unit, state.time.ndim)
        return self.perceive(state).astype(jnp.float32) * scale[None]

    def summary(self, state: NegotiationState) -> Array:
        """f32[...]: the observations of all players one after the other."""
        return _flat(self.observe(state))

    # ---- words and pictures -------------------------------------------------------------------

    @property
    def chat(self) -> Channel | None:
        """The channel that free words travel through, beside any move; None without talk."""
        return self._channel

    def compose(
        self, action: Action, say: str | None, state: Any = None, agent: str | int | None = None
    ) -> Action:
        """The move of an action and free words: words alone (with a `pass`) are the phrase that is
        nearest, or "something in words of its own", where talking is a move."""
        if say is None or self._channel is None or not np.array_equal(action, self.noop):
            return action
        return self.spoken(say, state, agent)

    def spoken(self, say: str, state: Any, agent: str | int | None) -> Action:
        """The move of saying something: a phrase, or a pass where there are no words, or where it
        is no time for talk."""
        token = self._channel.token(say) if self._channel is not None else 0
        if not token or not self.sizes[SAY] or state is None or agent is None:
            return self.noop
        if int(state.phase) not in (TURNS, TALK):
            return self.noop
        return self.action(SAY, token - 1)

    def action(self, kind: int, number: int = 0, content: Any = None) -> Action:
        """The action of a kind of move: the number of the offer, phrase or claim, or, in a trade,
        the amounts given and asked for."""
        if self.scenario.form != EXCHANGE:
            return self.first[kind] + number
        row = np.zeros(1 + self.width, np.int32)
        row[0] = self.first[kind] + number
        if content is not None:
            row[1:] = content
        return row

    def describe(self, state: NegotiationState, agent: str | int) -> str:
        from manyhands.envs.negotiation import text

        return text.describe(self, _on_host(state), self.index(agent))

    def choices(self, state: NegotiationState, agent: str | int) -> list[str]:
        from manyhands.envs.negotiation import text

        return text.choices(self, _on_host(state), self.index(agent))

    def words(self, action: Action, state: NegotiationState, agent: str | int) -> str:
        """An action of the player in words that `parse` reads back; in a trade a whole one, where
        `choices` are parts."""
        from manyhands.envs.negotiation import text

        return text.words(self, action, _on_host(state), self.index(agent))

    def parse(self, text: str, state: NegotiationState, agent: str | int) -> Action:
        from manyhands.envs.negotiation import text as words

        return words.parse(self, text, _on_host(state), self.index(agent))

    def best_joint(self, state: NegotiationState) -> Deal:
        """The outcome with the largest sum of gains (`solve.best_joint`), for grading."""
        from manyhands.envs.negotiation import solve

        return solve.best_joint(self, _on_host(state))

    def draw(
        self,
        state: NegotiationState,
        canvas: Any,
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        super().draw(_on_host(state), canvas, agent, camera)

    def draw_speech(
        self,
        state: NegotiationState,
        canvas: Any,
        texts: Mapping[int, str],
        agent: str | int | None = None,
        camera: str = "",
    ) -> bool:
        """Paint what players say over a picture that `draw` made on this canvas."""
        from manyhands.envs.negotiation import draw

        draw.bubbles(self, canvas, texts, None if agent is None else self.index(agent))
        return True

    def to_dict(self, state: NegotiationState) -> dict[str, Any]:
        from manyhands.envs.negotiation import text

        state, data = _on_host(state), self.scenario
        players = []
        for i, name in enumerate(self.agents):
            player: dict[str, Any] = {"name": name}
            player["values"] = dict(zip(data.goods, state.values[i].tolist(), strict=True))
            player["holdings"] = dict(zip(data.goods, state.holdings[i].tolist(), strict=True))
            if data.has_outside:
                player["outside"] = int(state.outside[i])
            if self.sizes[CLAIM]:
                player["claims"] = {
                    good: int(told) - 1
                    for good, told in zip(data.goods, state.claims[i], strict=True)
                    if told
                }
            if data.form == GIFT:
                record = state.record[i].tolist()
                player["record"] = dict(zip(("donor", "given", "punished"), record, strict=True))
            players.append(player)
        found = {
            "scenario": data.name,
            "phase": PHASES[int(state.phase)],
            "time": int(state.time),
            "steps_left": self.max_steps - int(state.time),
            "to_move": [
                name
                for name, acts in zip(self.agents, self._acting(state, np), strict=True)
                if acts
            ],
            "pool": dict(zip(data.goods, state.pool.tolist(), strict=True)),
            "offer": state.offer.tolist() if state.offerer else None,
            "offer_by": self.agents[int(state.offerer) - 1] if state.offerer else None,
            "deals": int(state.deals),
            "players": players,
            "history": text.history(self, state),
        }
        if data.flow == ROUNDS:
            found["round"] = int(state.round)
        if data.form == GIFT:
            found["receiver"] = self.agents[int(state.receiver)]
        return found

    def config(self) -> dict[str, Any]:
        return dict(self._config)


# ---- small things --------------------------------------------------------------------------------


def most_catch(scenario: sc.Scenario) -> tuple[int, list[int]]:
    """The largest catch of all players together in all months, and the catches by month that make
    it (exact, by dynamic programming over the stock)."""
    assert scenario.pool is not None
    capacity, collapse = int(scenario.extra["capacity"]), int(scenario.extra["collapse"])
    grown = _regrown(scenario)
    limit = scenario.players * int(scenario.offers.max())
    value = np.zeros(capacity + 1, np.int64)
    plans: list[np.ndarray] = []
    for _ in range(scenario.rounds):
        best, plan = np.zeros_like(value), np.zeros_like(value)
        for stock in range(capacity + 1):
            left = np.arange(max(stock - limit, 0), stock + 1)
            later = np.where(left < collapse, 0, value[grown[left]])
            total = stock - left + later
            chosen = int(np.argmax(total))
            best[stock], plan[stock] = total[chosen], stock - left[chosen]
        value = best
        plans.insert(0, plan)
    now, catches = int(scenario.pool[0]), []
    for plan in plans:
        catches.append(int(plan[now]))
        rest = now - catches[-1]
        if rest < collapse:
            break
        now = int(grown[rest])
    return int(value[scenario.pool[0]]), catches


def _regrown(scenario: sc.Scenario) -> np.ndarray:
    """i16[capacity + 1]: the stock a month after so many tons were left."""
    capacity = int(scenario.extra["capacity"])
    left = np.arange(capacity + 1)
    return np.minimum(np.floor(left * scenario.extra["growth"] + 1e-9), capacity).astype(np.int16)


def _drawn(key: Array, span: np.ndarray) -> Array:
    """i16[...], whole numbers from the lowest to the highest (span: i16[..., 2])."""
    low, high = span[..., 0], span[..., 1]
    if (low == high).all():
        return jnp.asarray(low)
    return jax.random.randint(key, low.shape, np.int32(low), np.int32(high) + 1, jnp.int16)


def _with_batch(table: np.ndarray, batch: int) -> np.ndarray:
    """A constant with as many trailing axes of 1 as there are batch axes."""
    return table.reshape(table.shape + (1,) * batch)


def _at(masks: Array, index: Array) -> Array:
    """bool[N]: `masks[i, index[i]]`, False out of range."""
    size = masks.shape[1]
    inside = (index >= 0) & (index < size)
    safe = jnp.clip(index, 0, size - 1).astype(jnp.int32)
    return inside & jnp.take_along_axis(masks, safe[:, None], axis=1)[:, 0]


def _all(masks: list[Array]) -> Array:
    found = masks[0]
    for mask in masks[1:]:
        found = found & mask
    return found


def _pick(rows: Array, mask: Array) -> Array:
    """The sum of those rows whose mask is set."""
    return jnp.sum(jnp.where(mask[:, None], rows, 0), axis=0)


def _flat(array: Array) -> Array:
    return array.reshape(-1, *array.shape[2:])


def _everybody(value: Array, n: int) -> Array:
    return jnp.broadcast_to(value.astype(jnp.float32)[None], (n, *value.shape))


def _on_host(state: NegotiationState) -> NegotiationState:
    return jax.tree_util.tree_map(np.asarray, state)


def _plain(value: Any) -> Any:
    """Options as JSON has them."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
