"""What a negotiation is: a scenario as data, and the form that its agreements and choices take.

A scenario is an instance of a form, and a form is a subclass of `Bargain` (somebody offers, others
accept) or of `Choice` (players decide alone, or all at once). A form says in one file what its
offers do, how they are worded and read, what is best in it, and what scripted players and pictures
need. What a subclass leaves out is named when the first scenario of it is built.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, repeat
from manyhands.core.choices import Form
from manyhands.core.env import Array, ConfigError, IllegalAction
from manyhands.core.layout import Piece
from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.spelling import Spelling
from manyhands.envs.negotiation.state import (
    CHAT,
    KINDS,
    OFFER,
    OVER,
    PICK,
    PROPOSE,
    RESPOND,
    ROUNDS,
    TALK,
    TURNS,
    NegotiationState,
)
from manyhands.envs.negotiation.words import Observation, amounts, named, plural

BARGAINING_PHRASES = (
    "let us share fairly",
    "that is too little for me",
    "make me a better offer",
    "I can give way a little",
    "that is my last offer",
    "what do you need most?",
    "I do not need much of this",
    "without a deal we both lose",
    "I like this offer",
    "take it or leave it",
)
# Those of other games have the same numbers, so that players of vectors mean much the same.
SALE_PHRASES = (
    "let us find a fair price",
    "that price does not suit me",
    "make me a better offer",
    "I can give way a little",
    "that is my last offer",
    "what price do you want?",
    "I am in no hurry",
    "without a deal we both lose",
    "I like this offer",
    "take it or leave it",
)
COMMUNITY_PHRASES = (
    "let us all take less",
    "let us all take the same",
    "I will hold back if you do",
    "somebody took too much",
    "I keep my promises",
    "we must save for later",
    "help those who help others",
    "thank you",
    "that was selfish",
    "trust me",
)
GIFT_PHRASES = (
    "let us all give more",
    "let us all give the same",
    "I will give if you do",
    "somebody gave too little",
    *COMMUNITY_PHRASES[4:],
)


@dataclass(frozen=True)
class Deal:
    """One outcome.

    Attributes:
        gains: what each player ends up with (in a trade, more than it started with).
        terms: the outcome in plain names: who gets what, the price, or `None` for no deal.
    """

    gains: tuple[int, ...]
    terms: Any

    @property
    def joint(self) -> int:
        return sum(self.gains)

    @property
    def nash_product(self) -> int:
        """The product of the gains; compare only outcomes without outside options by it."""
        return int(np.prod(self.gains))


class Turn(NamedTuple):
    """What happens in one step, as far as it is worked out: each phase of `rules.step` reads it and
    gives it back with more of it replaced. N players, R goods, K numbers in an offer.

    Attributes:
        acting, kind, number, content, illegal: bool[N], u8[N], i32[N], i16[N, K], bool[N]: each
            player's move, the number of its phrase or claim, its offer (0 if it makes none).
        offers: bool[], an offer is made that others can answer.
        dealt, agreed, by: bool[], i16[K], u8[]: whether there is an agreement, on which offer, and
            who made that one (from 1).
        finished: bool[], the round is over.
        over: bool[], the game is over.
        phase, leader, talked, round: what the state will say of them.
        offer, offerer, claims, holdings, pool, record, receiver: the same.
        gain: [N], what each player gains.
        truthful, untruthful: f32[N], claims that are true or not, pledges kept or not.
        shown: i16[N, K], what the log says of offers and choices.
        terms: f32[N] each, terms that only one form has.
        collapsed: bool[], nothing is left to take.
    """

    acting: Array
    kind: Array
    number: Array
    content: Array
    illegal: Array
    offers: Array
    dealt: Array
    agreed: Array
    by: Array
    finished: Array
    over: Array
    phase: Array
    leader: Array
    talked: Array
    round: Array
    offer: Array
    offerer: Array
    claims: Array
    holdings: Array
    pool: Array
    record: Array
    receiver: Array
    gain: Array
    truthful: Array
    untruthful: Array
    shown: Array
    terms: dict[str, Array]
    collapsed: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Scenario(abc.ABC):
    """One kind of negotiation; N players, R goods, O enumerated offers of K numbers each.

    Attributes:
        name, flow: which one; who moves when (`OFFERS`, `CHAT` or `ROUNDS`).
        goods: R names (of one), the goods, or the currency.
        offers: i16[O, K], the contents of the enumerated offers, selections, catches or gifts.
        table: i16[S, R + N * R], pools and values to draw from; None: draw from the ranges.
        pool: i16[R], what lies on the table at first (where there is no `table`).
        values: i16[N, R, 2], lowest and highest worth of one unit to each player.
        holdings: i16[N, R, 2], lowest and highest number of units that each player starts with.
        outside: i16[N, 2], lowest and highest worth of having no deal.
        claims: i16[C, 2], (good, number) that a player may state about itself.
        about: what claims are about: "value", "outside" or "pledge" (of a choice).
        slack: how far a stated number may be from the truth and still count as true.
        max_steps: steps after which all is over.
        rounds, discussion: with `ROUNDS`, how many, and how often each player speaks in each.
        roles: what each player is called beside its name, or empty.
        phrases: the phrasebook.
        public: whether everybody sees everybody's holdings.
        unanimous: whether a split needs all votes, not only more than half.
        discount: what a deal is multiplied with for each turn (or round) that it is late.
        break_off: probability that talks end without a deal after a turn.
        talk: whether phrases and claims are moves.
        memory: how many of the last moves players see.
    """

    name: str
    flow: str
    goods: tuple[str, ...]
    offers: np.ndarray
    values: np.ndarray
    holdings: np.ndarray
    outside: np.ndarray
    max_steps: int
    pool: np.ndarray
    table: np.ndarray | None = None
    claims: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int16))
    about: str = "value"
    slack: float = 0.0
    rounds: int = 0
    discussion: int = 0
    roles: tuple[str, ...] = ()
    phrases: tuple[str, ...] = BARGAINING_PHRASES
    public: bool = False
    unanimous: bool = False
    discount: float = 1.0
    break_off: float = 0.0
    talk: bool = True
    memory: int = 12

    # ---- what a form says about itself ----------------------------------------------------

    @property
    def offer_hint(self) -> str:
        """What can be offered or chosen, in short, in an error."""
        return self.how_to_offer

    terms: ClassVar[tuple[str, ...]]
    bargains: ClassVar[bool]  # whether others answer an offer
    can_walk: ClassVar[bool]
    chooses: ClassVar[str]
    accumulates: ClassVar[bool]
    how_to_offer: ClassVar[str]
    composed: ClassVar[bool] = False  # whether offers are put together from amounts of each good
    event_kinds: ClassVar[tuple[str, ...]] = ("choose",)  # of choices, and of what came of them
    receives: ClassVar[bool] = False  # whether each round has a receiver, see `draw_receiver`
    shows_pool: ClassVar[bool] = True  # whether the pool and holdings are part of observations
    shows_holdings: ClassVar[bool] = True
    round_name: ClassVar[str] = "round"
    pool_place: ClassVar[str] = "On the table"
    owning: ClassVar[tuple[str, str]] = ("own", "owns")  # what "you" and others do with holdings
    choice_phase: ClassVar[str] = "The talk is over: each states in private what it takes."
    choosing_nothing: ClassVar[str] = "state no part; there is no deal"
    takes_nothing: ClassVar[bool] = False  # whether "take nothing" is an offer, not a pass
    walking_away: ClassVar[str] = "end without a deal"
    drawn_offer: ClassVar[str] = "offers: "  # in pictures, before the words of the standing offer
    units: ClassVar[tuple[str, ...]] = ("coin", "dollar", "buck", "point")  # words behind amounts
    meaningful: ClassVar[tuple[str, ...]] = ("the", "a", "an", "cheers")  # no courtesy in offers
    terms_named: ClassVar[tuple[str, ...]] = ()  # patterns of what may follow "accept"
    surface: ClassVar[str] = "table"  # what is painted in the middle: a table or a lake

    def __new__(cls, *args: Any, **options: Any) -> Scenario:
        lacks = {name: purpose for name, purpose in _ATTRIBUTES.items() if not hasattr(cls, name)}
        for name in sorted(cls.__abstractmethods__):
            lacks[name + "()"] = (getattr(cls, name).__doc__ or "").partition("\n\n")[0]
        if lacks:
            lines = [f"- {name}: {' '.join(purpose.split())}" for name, purpose in lacks.items()]
            raise TypeError("\n".join([f"the form {cls.__name__} lacks", *lines]))
        return super().__new__(cls)

    # ---- what follows from the data -------------------------------------------------------

    @property
    def players(self) -> int:
        return len(self.values)

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(f"player_{i}" for i in range(self.players))

    @property
    def has_outside(self) -> bool:
        return bool(self.outside.any())

    @functools.cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many moves there are of each of `KINDS`."""
        speaks = self.talk and (self.flow != ROUNDS or self.discussion > 0)
        sizes = (
            1,
            self.bargains and self.flow != CHAT,
            self.bargains and self.flow != CHAT,
            self.can_walk,
            self.flow == CHAT,
            1 if self.composed else len(self.offers),
            (len(self.phrases) + 1) * speaks,
            len(self.claims) * speaks,
        )
        return tuple(map(int, sizes))

    @functools.cached_property
    def first(self) -> tuple[int, ...]:
        """The number of the first move of each kind."""
        return tuple(sum(self.sizes[:kind]) for kind in range(len(KINDS)))

    @property
    def moves(self) -> int:
        return sum(self.sizes)

    @property
    def width(self) -> int:
        """K, the numbers in an offer."""
        return self.offers.shape[1]

    @functools.cached_property
    def most(self) -> np.ndarray:
        """i[R]: as many units of each good as players can own together."""
        return self.holdings[..., 1].sum(0).astype(int)

    @property
    def decision(self) -> int:
        """The phase that a round's discussion leads to."""
        return PROPOSE if self.bargains else PICK

    @property
    def opening(self) -> int:
        """The phase that the game, and each round, begins with."""
        if self.flow != ROUNDS:
            return TURNS
        return TALK if self.discussion else self.decision

    @property
    def phases(self) -> tuple[int, ...]:
        """The phases of this game, in the order in which observations number them."""
        if self.flow != ROUNDS:
            return (TURNS, PICK, OVER) if self.flow == CHAT else (TURNS, OVER)
        answers = (RESPOND,) if self.decision == PROPOSE else ()
        return (*((TALK,) if self.discussion else ()), self.decision, *answers, OVER)

    @property
    def is_fixed(self) -> bool:
        """Whether all episodes begin with the same state."""
        spans = [self.holdings, self.outside, *([self.values] if self.table is None else [])]
        drawn = any(bool((span[..., 0] != span[..., 1]).any()) for span in spans)
        return not drawn and (self.table is None or len(self.table) == 1)

    # ---- rules; trailing batch axes, and `xp` is NumPy or jax.numpy --------------------------

    @abc.abstractmethod
    def settle(self, state: NegotiationState, turn: Turn) -> Turn:
        """What the agreement or the choices of this step change: holdings, pool, gain, over, and
        where it has them truthful, untruthful, shown, record, terms and collapsed. Where nothing
        was agreed (`turn.dealt`) or chosen (`turn.finished`), nothing may change."""

    def fits(self, state: NegotiationState, i: int, xp: Any) -> Array:
        """bool[O]: which enumerated offers or choices player i can make; here all."""
        return xp.ones((len(self.offers), *state.time.shape), bool)

    def covers(self, state: NegotiationState, i: int, xp: Any) -> Array:
        """bool[]: whether player i can accept the standing offer; here always."""
        return xp.ones(state.time.shape, bool)

    def amounts(self, state: NegotiationState, i: int, xp: Any) -> list[Array]:
        """bool[most + 1] for each part of an offer that is `composed`: how much player i can give
        of each good, and ask for."""
        return []

    def draw_receiver(self, key: Array, leader: Array) -> Array:
        """u8[], who receives in the round of this leader; here nobody does."""
        return jnp.zeros_like(leader)

    @abc.abstractmethod
    def grades(
        self, before: NegotiationState, after: NegotiationState, total: Array, envy: Array
    ) -> dict[str, Array]:
        """f32[N] each: the terms that grade the whole episode, beside "win". `total` is what each
        player gained in all, `envy` by how much it would rather have another's holdings."""

    def enumerated(self, state: NegotiationState) -> Array:
        """i16[O, K, ...], the offers, with the batch axes of a state."""
        return expand(self.offers, state.time.ndim)

    # ---- observations -----------------------------------------------------------------------

    @property
    def most_owned(self) -> int:
        """The largest number of units that a player can own."""
        return int(self.pool.max())

    @property
    def most_offered(self) -> int:
        """The largest number in an offer or a choice."""
        return int(self.offers.max(initial=1))

    @property
    def offer_names(self) -> list[str]:
        """What the K numbers of an offer are, as players see them."""
        return list(self.goods)

    def own_pieces(self, players: Sequence[str]) -> list[Piece]:
        """Pieces of an observation that this form alone has; `players` are the labels of all."""
        return []

    def observe_own(
        self, state: NegotiationState, i: int, order: Sequence[int], xp: Any
    ) -> dict[str, Array]:
        """The numbers of `own_pieces` for player i; `order` are the players as it sees them."""
        return {}

    def seen_offer(
        self, content: list[Array], i: int, order: Sequence[int], xp: Any
    ) -> list[Array]:
        """The K numbers of an offer in the log, as player i sees them: where they name or belong to
        players, those are counted from i."""
        return content

    # ---- what is hidden, for questions ----------------------------------------------------------

    def value_spans(self, i: int) -> np.ndarray:
        """i[R, 2]: from where to where what a unit of each good is worth to player i is drawn, as
        the others are told it; with equal ends where they know it."""
        return self.values[i].astype(int)

    def possible_values(self, seen: Observation) -> np.ndarray | None:
        """i[S, R], all that units can be worth to the other of two players, for forms in which that
        follows from one's own values; None: anything within `value_spans`."""
        return None

    def holding_bounds(self, seen: Observation, change: np.ndarray) -> np.ndarray | None:
        """i[R, 2], between how many and how many units the other of two players owns, as the one
        who sees can work out; None where everybody sees it.

        Args:
            change: i[R], how many more units the other owns now than at first.
        """
        return None

    def worth_question(self, i: int, good: int) -> str:
        return f"How much is a {self.goods[good]} worth to {self.agents[i]}?"

    def worth_words(self, i: int, good: int, number: int) -> str:
        """What player i claims, as others say it."""
        return f"a {self.goods[good]} is worth {number} to {self.agents[i]}"

    def true_state(self, state: NegotiationState) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """What `to_dict` says of each player and of the game that this form alone has."""
        return [{} for _ in range(self.players)], {}

    # ---- words ------------------------------------------------------------------------------

    @abc.abstractmethod
    def rules_words(self) -> list[str]:
        """The rule book's paragraphs about this scenario."""

    @abc.abstractmethod
    def answer_words(self, agent: int) -> str:
        """How to answer, by example: '"offer 25", "accept", "reject"'."""

    @abc.abstractmethod
    def offer_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        """An offer or a choice of the player in place `maker`, in words: "a price of 25"."""

    @abc.abstractmethod
    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        """The line of `choices` for one's own offer or choice: "offer a price of 25: you gain 5".
        It must be read back to the same move."""

    def choice_parts(self, seen: Observation, content: np.ndarray) -> tuple[str, str]:
        """`choice_words` as (what to answer, what it does). What it does depends on the others in
        the phase PICK, unless there are `choice_facts`: then it must say so."""
        text, _, effect = self.choice_words(seen, content).partition(": ")
        return text, effect

    def choice_forms(self, seen: Observation, contents: np.ndarray) -> Sequence[Form | None]:
        """For each of one's possible offers or choices [M, K] the family that it belongs to, so
        that many can be told in one line; here none."""
        return [None] * len(contents)

    def choice_facts(
        self, state: NegotiationState, agent: int, content: np.ndarray
    ) -> dict[str, Any] | None:
        """What a choice in the phase PICK leads to, whatever the others do: paths of
        `Negotiation.to_dict` and their values, and under "gain" what the player gains; None where
        it depends on the others."""
        return None

    def offer_data(self, content: Sequence[int]) -> dict[str, Any]:
        """An offer or a choice as JSON-ready data."""
        return dict(zip(self.offer_names, map(int, content), strict=True))

    def choice_event(self, content: Sequence[int]) -> dict[str, Any]:
        """The event of a choice in the phase PICK, but for its agent; one of `event_kinds`."""
        return {"event": "choose", "choice": self.offer_data(content)}

    def outcome_events(self, state: NegotiationState) -> list[dict[str, Any]]:
        """What came of the choices of the last step; here nothing but what they were."""
        return []

    def full_words(self, seen: Observation) -> list[str]:
        """What can be worked out, and reminders, for `detail="full"`."""
        return []

    def example(self, seen: Observation, bounds: np.ndarray) -> np.ndarray:
        """i[K], a small offer that the player can make, of at most `bounds`; for forms whose offers
        are `composed`."""
        raise NotImplementedError(f"the form {type(self).__name__} is composed and lacks example()")

    def spelled(self, units: Sequence[Sequence[int]]) -> Spelling:
        """The words of all offers of these amounts, by the parts of an offer, all above 0; for
        forms whose offers are `composed`."""
        raise NotImplementedError(f"the form {type(self).__name__} is composed and lacks spelled()")

    def composed_words(self, seen: Observation, bounds: np.ndarray) -> tuple[str, str]:
        """`choice_parts` of all offers at once, each number of which is at most in `bounds`; for
        forms whose offers are `composed`."""
        return self.choice_parts(seen, self.example(seen, bounds))

    @abc.abstractmethod
    def decision_words(self) -> str:
        """How a round is decided, for the rule book: "The donor chooses."."""

    @abc.abstractmethod
    def lead_words(self, seen: Observation, leader: int) -> str:
        """What the leader of the round does: "You propose."."""

    def value_words(self, seen: Observation) -> str:
        """What things are worth to the player."""
        worth = zip(self.goods, seen["own_values"], strict=True)
        return f"Worth to you, each: {', '.join(f'{good} {value}' for good, value in worth)}."

    def own_words(self, seen: Observation) -> list[str]:
        """Sentences about `own_pieces`."""
        return []

    def entry_words(self, seen: Observation, entry: np.ndarray) -> str | None:
        """A line of the history in words of this form's own; None: in the usual ones."""
        return None

    def claim_words(self, seen: Observation, number: int, mine: bool) -> str:
        """A claim, as its maker says it; `mine`: the player who sees it is the maker."""
        good, value = map(int, self.claims[number])
        if self.about == "pledge":
            return f"I will catch at most {value} {plural('ton', value)}"
        if self.about == "outside":
            return f"having no deal is worth {value} to me"
        return f"{self.goods[good]} is worth {value} to me"

    def claim_limits(self, agent: int) -> str:
        """Within which limits a claim of this player can be true, where more can be claimed."""
        return ""

    def claim_rule(self, agent: int) -> str:
        """What a claim or pledge of this player says, for the rule book."""
        if self.about == "pledge":
            return "A pledge names the most that you will catch in this month's harvest."
        what = "having no deal" if self.about == "outside" else "something"
        return f"A claim states what {what} is worth to you."

    @property
    def claim_example(self) -> str:
        if self.about == "pledge":
            return f"pledge {self.claimed_near(10)}"
        if self.about == "outside":
            return f"claim {self.claimed_near(3)}"
        return f"claim {self.goods[0]} {self.claimed_near(4)}"

    def claimed_near(self, usual: int) -> int:
        """The number nearest to a usual one that can be claimed (of the first good)."""
        stated = self.claims[self.claims[:, 0] == self.claims[0, 0], 1].tolist()
        return min(stated, key=lambda number: abs(number - usual))

    def delay_words(self, when: str, power: str) -> str:
        """What waiting costs."""
        words = ""
        if self.discount != 1:
            words += f" A deal in {when} is worth {self.discount:g} to the power {power} of that."
        if self.break_off:
            chance = f"{self.break_off:g}"
            words += f" After each turn talks break off without a deal with probability {chance}."
        return words

    def outside_words(self) -> list[str]:
        """What having no deal is worth."""
        if not self.has_outside:
            return []
        low, high = self.outside[0].tolist()
        if low == high:
            return [f"Without a deal each of you gets {low} from elsewhere."]
        return [
            f"Without a deal each of you gets something from elsewhere: a number from {low} to "
            f"{high}, drawn for each, which only that player knows."
        ]

    # ---- reading answers ------------------------------------------------------------------------

    @abc.abstractmethod
    def offer_phrases(self, agent: int) -> Mapping[str, Sequence[str]]:
        """The sentences by which a player names an offer or a choice: patterns of a `Grammar`, by
        what they mean."""

    def slots(self, agent: int) -> dict[str, Any]:
        """The slots of `offer_phrases`; here `amount` and, by their names, `me`, `other` (in games
        of two) and `player` (any)."""
        units = amounts("|".join([*self.goods, *self.units]))
        return {"amount": units, **named(self.agents, agent)}

    def offered(self, seen: Observation, reading: Reading) -> np.ndarray:
        """i[K], the offer or choice that a sentence means, possible or not; raises `IllegalAction`
        with the reason if that cannot be known."""
        return np.array([reading.values["amount"]])

    def readings(self, seen: Observation, sentence: str) -> list[Reading]:
        """What a sentence means by `offer_phrases`."""
        if seen.agent not in self._grammars:
            phrases, slots = self.offer_phrases(seen.agent), self.slots(seen.agent)
            self._grammars[seen.agent] = Grammar(phrases, slots, keep=self.meaningful)
        return self._grammars[seen.agent].read(sentence)

    def read_offer(self, seen: Observation, sentence: str) -> np.ndarray | None:
        """i[K], the offer or choice that a sentence names, possible or not; None if it names none,
        and `IllegalAction` if it may mean several."""
        found: list[np.ndarray] = []
        error = None
        for reading in self.readings(seen, sentence):
            try:
                content = self.offered(seen, reading)
            except IllegalAction as reason:
                error = reason
                continue
            if not any((content == other).all() for other in found):
                found.append(content)
        if len(found) > 1:
            raise IllegalAction("it may mean more than one thing")
        if error is not None and not found:
            raise error
        return found[0] if found else None

    @functools.cached_property
    def _grammars(self) -> dict[int, Grammar]:
        return {}

    @abc.abstractmethod
    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        """Why an offer or a choice that was read is not possible now."""

    def accepts(self, seen: Observation, values: Mapping[str, Any]) -> bool:
        """Whether the standing offer is what `terms_named` say that is accepted."""
        return True

    def means_standing(self, seen: Observation, content: np.ndarray) -> bool:
        """Whether naming this content is to accept the standing offer, where none can be made."""
        return False

    def agrees(self, seen: Observation, sentence: str) -> bool:
        """Whether a sentence that names the standing offer accepts it, where others can be made."""
        return False

    def why_not_accept(self, seen: Observation) -> str:
        """Why the standing offer of another cannot be accepted now; "" where it can."""
        return ""

    # ---- solutions, for `solve.py` --------------------------------------------------------------

    def outcomes(self, state: NegotiationState) -> list[Deal]:
        """Every agreement that can be made at once, and no deal, which comes last."""
        raise ConfigError(f"the outcomes of {self.name!r} are too many to list")

    def best_joint(self, state: NegotiationState) -> Deal:
        """The outcome with the largest sum of gains, from the beginning of the episode."""
        return max(self.outcomes(state), key=lambda deal: (deal.joint, min(deal.gains)))

    def no_deal(self, state: NegotiationState) -> Deal:
        return Deal(tuple(np.asarray(state.outside, int).tolist()), None)

    def named(self, holdings: Sequence[np.ndarray]) -> dict[str, dict[str, int]]:
        """Who has how much of what, by names."""
        rows = [dict(zip(self.goods, row.tolist(), strict=True)) for row in holdings]
        return dict(zip(self.agents, rows, strict=True))

    # ---- pictures -------------------------------------------------------------------------------

    @abc.abstractmethod
    def ending(self, seen: Observation) -> str:
        """What a picture says when all is over."""

    def caption(self, seen: Observation) -> str:
        """A line in the middle of a picture."""
        return ""

    def centrepiece(self, seen: Observation) -> str:
        """A good that is painted in the middle where no pool is shown."""
        return ""

    def value_fact(self, i: int, known: str) -> str:
        """What a picture says of player i's worth of its one good; `known` is "?" or a number."""
        differ = (self.values[..., 0] != self.values[..., 1]).any()
        return f"each worth {known}" if differ else ""

    def own_facts(self, seen: Observation, place: int) -> list[str]:
        """What else a picture says of the player in this place."""
        return []


class Bargain(Scenario):
    """Forms in which a player makes an offer and others accept or reject it."""

    terms = (
        "gain", "win", "agreement", "efficiency", "pareto", "nash_product", "envy", "truthful",
        "untruthful",
    )  # fmt: skip
    bargains = True
    can_walk = True
    chooses = ""
    accumulates = False
    spares: ClassVar[bool] = False  # scripted players offer others more than nothing

    @abc.abstractmethod
    def frontier(
        self, before: NegotiationState, after: NegotiationState, made: Array
    ) -> tuple[Array, Array]:
        """(f32[] the largest joint gain that was possible, bool[] whether what came out is Pareto
        optimal); see `among` for forms whose offers are enumerated."""

    def grades(
        self, before: NegotiationState, after: NegotiationState, total: Array, envy: Array
    ) -> dict[str, Array]:
        n = self.players
        made = after.deals > 0
        limit, pareto = self.frontier(before, after, made)
        joint = jnp.sum(total, axis=0)
        share = jnp.where(limit > 0, joint / jnp.maximum(limit, 1), joint >= limit)
        beyond = jnp.maximum(total - before.outside.astype(jnp.float32), 0)
        product = beyond[0]
        for i in range(1, n):
            product = product * beyond[i]
        whole = {"agreement": made, "efficiency": share, "pareto": pareto, "nash_product": product}
        grades = {name: repeat(grade.astype(jnp.float32), n) for name, grade in whole.items()}
        return grades | {"envy": envy}

    @staticmethod
    def among(
        before: NegotiationState, gains: Array, split: Array, made: Array
    ) -> tuple[Array, Array]:
        """`frontier` of enumerated agreements: what each gives to the players, [O, N], and what
        came out, [N]."""
        outside = before.outside.astype(jnp.int32)
        outcomes = jnp.concatenate([gains, outside[None]]).astype(jnp.float32)
        limit = jnp.max(jnp.sum(outcomes, axis=1), axis=0)
        split = jnp.where(made[None], split, before.outside).astype(jnp.float32)
        better = jnp.all(outcomes >= split[None], axis=1)
        better = better & jnp.any(outcomes > split[None], axis=1)
        return limit, ~jnp.any(better, axis=0)

    def split_pool(self, state: NegotiationState, turn: Turn, parts: Array) -> Turn:
        """The pool is split into `parts` [N, R] where there is a deal, and all is over."""
        worth = jnp.sum(parts * state.values.astype(jnp.int32), axis=1)
        return turn._replace(
            holdings=jnp.where(turn.dealt[None, None], parts, turn.holdings),
            pool=jnp.where(turn.dealt[None], 0, turn.pool),
            gain=jnp.where(turn.dealt[None], worth, 0),
            over=turn.over | turn.dealt,
        )

    @abc.abstractmethod
    def offer_means(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        """What accepting an offer would mean to the player: "you gain 5"."""

    def offer_gain(self, seen: Observation, maker: int, content: np.ndarray) -> int | None:
        """What the player would gain by it, before any delay counts; None where it is not known."""
        return None

    def deal_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        """What the deal that was just made on an offer means to the player."""
        return self.offer_means(seen, maker, content)

    def lead_words(self, seen: Observation, leader: int) -> str:
        return f"{seen.who(leader, True)} {seen.verb(leader, 'propose')}."

    def decision_words(self) -> str:
        votes = "the other answers" if self.players == 2 else "the others vote at the same time"
        return f"One proposes, and {votes}. Passing instead of an answer is a no."

    def ending(self, seen: Observation) -> str:
        return "A deal" if seen["deals"][0] else "No deal"

    # ---- what scripted players need; traced, `seen` are the parts of a row of `perceive` --------

    @abc.abstractmethod
    def appraise(
        self, seen: dict[str, Array], agent: int, offers: Array, own: bool
    ) -> tuple[Array, Array]:
        """(f32[O] worth to this player, f32[O] to the other as far as can be guessed) of offers
        [O, K], its `own` ones or those of another."""

    @abc.abstractmethod
    def fair_share(self, seen: dict[str, Array], agent: int) -> Array:
        """f32[], what the player `fair` wants."""

    def considered(self) -> np.ndarray:
        """i[O, K], the offers that scripted players choose from."""
        return self.offers.astype(int)

    def standing(self, seen: dict[str, Array], agent: int) -> Array:
        """f32[1, K], the standing offer, as `offers` have it."""
        return seen["offer"][None].astype(jnp.float32)


class Choice(Scenario):
    """Forms in which players decide for themselves, round after round, without an agreement."""

    bargains = False
    can_walk = False
    accumulates = True

    def equality(self, after: NegotiationState) -> Array:
        """f32[], 1 less the Gini coefficient of what players own."""
        n, own = self.players, after.holdings[:, 0].astype(jnp.float32)
        apart = sum(jnp.abs(own[i] - own[j]) for i in range(n) for j in range(n))
        return 1 - apart / jnp.maximum(2 * n * jnp.sum(own, axis=0), 1)

    def grades(
        self, before: NegotiationState, after: NegotiationState, total: Array, envy: Array
    ) -> dict[str, Array]:
        return {"equality": repeat(self.equality(after), self.players)}

    @abc.abstractmethod
    def chosen_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        """What the history says of a choice: "caught 3 tons"."""

    def entry_words(self, seen: Observation, entry: np.ndarray) -> str | None:
        place, kind = int(entry[0]) - 1, int(entry[1])
        if kind != OFFER:
            return None
        return f"{seen.who(place)} {self.chosen_words(seen, place, entry[3:])}"

    def lead_words(self, seen: Observation, leader: int) -> str:
        return f"{seen.who(leader, True)} {seen.verb(leader, 'speak')} first."

    def ending(self, seen: Observation) -> str:
        return "It is over"

    @abc.abstractmethod
    def scripted(
        self, style: str, seen: dict[str, Array], legal: Array, last: Array, count: Array
    ) -> tuple[Array, Array]:
        """(i32[] the choice of a scripted player, from 1, 0: none; f32[] what it remembers).

        Args:
            style: "fair" or "tit_for_tat".
            seen: the parts of a row of `perceive`.
            legal: bool[O], the choices that are possible now.
            last: f32[], what it remembered after its last choice.
            count: i32[], how many choices it made.
        """


# What a subclass must set, beside the methods that are abstract.
_ATTRIBUTES = {
    "terms": 'the names of the terms of the reward, "gain" and "win" among them',
    "bargains": "whether others answer an offer (derive from `Bargain` or `Choice`)",
    "can_walk": "whether a player can end the game alone",
    "chooses": 'who moves in the phase PICK: "all", "leader", or "" where it is never reached',
    "accumulates": "whether gains are the growth of holdings over the whole game",
    "how_to_offer": "the answer that makes an offer or a choice, in short: '\"offer <price>\"'",
}
