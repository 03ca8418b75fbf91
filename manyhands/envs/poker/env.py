"""Limit poker with one hole card a player: Kuhn poker and Leduc hold'em.

Kuhn poker is due to Kuhn ("A Simplified Two-Person Poker", Contributions to the Theory of Games I,
1950); with more players it is the game of Szafron, Gibson and Sturtevant ("A Parameterized Family
of Equilibrium Profiles for Three-Player Kuhn Poker", AAMAS 2013). Leduc hold'em is due to Southey
et al. ("Bayes' Bluff: Opponent Modelling in Poker", UAI 2005). Both are one game with other
numbers: how many cards, how many rounds, what a bet is and how often it may be raised. The rules
are in `rules.py`, what seats see in `observe.py`; the two classes at the end hold the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import jax.numpy as jnp

from manyhands.core.config import boolean, check_actions, check_weights, one_of, whole
from manyhands.core.env import DETAILS, Array, ConfigError, Env, Outcome
from manyhands.core.probes import Question
from manyhands.envs.poker import events, rules
from manyhands.envs.poker import observe as views
from manyhands.envs.poker.questions import questions
from manyhands.envs.poker.state import PASS, RANKS, PokerConfig, PokerState

MAX_HANDS = 1000


class Poker(PokerConfig, Env[PokerState]):
    """What Kuhn poker and Leduc hold'em share.

    Args:
        hands: hands in an episode, by default one. Seats take turns to open (the first hand is
            opened by `player_0`), and chips run on; whoever loses goes below zero.
        duplicate: play every deal once from each seat. The N seats play `hands / N` deals (by
            default one), and then the same deals again, each seat with the position and the card
            that the seat before it had, until everyone has played every side of every deal. What
            the cards gave to each is then equal. A seat that remembers the first hands could know
            the cards of the later ones: compare players that do not. What `observe` shows, this
            hand and the one before, gives nothing away from two deals on.
        max_steps: steps after which an episode is truncated, an unfinished hand without
            settlement; by default more than the longest match has.
        reward_weights: weights of the terms; by default `chips` counts 1 and `win` 0.
        detail: how much `describe` tells: `"brief"`, `"normal"` or `"full"`.

    An illegal action plays `noop`, which is action 0: a check, or, facing a bet, a *fold*. It is
    counted in `metrics["illegal"]`. Actions of seats that are not to move are ignored.

    Terms: `chips` (net chips, when a hand ends) and `win` (when the match ends: +1 for the seat
    with most chips and -1 / (N - 1) for the others; m seats that lead together get
    (N / m - 1) / (N - 1) each, so that all of one match sum to 0). Metrics, per step: `hands`
    that ended, `showdowns` among them, `pot` (chips in pots won), `bets` (bets and raises),
    `folds`, `illegal`.

    **Observation**, i16[size] per seat: an information state, with perfect recall of the hand,
    whose pieces `observation_layout` names. Seats are counted from the observer: 0 yourself, 1 the
    seat that acts after you, and so on. With N seats, C cards in the deck, B public cards, S slots
    of the betting line (S / (B + 1) in each round) and A actions, a single hand has
    N C + B C + S A + 3 N numbers, and a match 2 (N C + B C + S A) + 6 N + 1.
    """

    package = "manyhands.envs.poker"
    terms = ("chips", "win")
    noop = PASS
    batched = True

    title: str  # the name of the game in words

    def __init__(
        self,
        players: int,
        ranks: Sequence[str],
        hands: int | None,
        duplicate: bool,
        max_steps: int | None,
        reward_weights: Mapping[str, float] | None,
        detail: str,
    ):
        self.detail = one_of("detail", detail, DETAILS)
        duplicate = boolean("duplicate", duplicate)
        least = players if duplicate else 1
        hands = whole("hands", least if hands is None else hands, 1, MAX_HANDS)
        if hands % least:
            raise ConfigError(
                f"with duplicate=True every deal is played {players} times: hands is a multiple of "
                f"{players}, given {hands}"
            )
        self._config: dict[str, Any] = {"hands": hands, "duplicate": duplicate}
        self.players, self.ranks = players, tuple(ranks)
        self.hands, self.duplicate = hands, duplicate
        self.num_deals = hands // least
        self.counts_time = max_steps is not None
        self.max_steps = hands * self.slots
        if max_steps is not None:
            self.max_steps = self._config["max_steps"] = whole("max_steps", max_steps, 1, 60_000)
        self.reward_weights = check_weights(reward_weights, {"chips": 1.0, "win": 0.0})
        if reward_weights:
            self._config["reward_weights"] = dict(self.reward_weights)
        self.agents = tuple(f"player_{i}" for i in range(players))
        self.action_space = gymnasium.spaces.Discrete(self.num_actions)
        self.observation_layout = views.layout(self)
        self.observation_space = self.observation_layout.space()
        self.event_names = events.event_names(self)
        self.event_kinds = (*events.KINDS, *events.OF_HANDS)

    # ---- the contract, as functions of the configuration and the state ------------------------

    reset, legal, acting = rules.reset, rules.legal, rules.acting
    observe, summary, event_codes = views.observe, views.summary, events.event_codes
    deals, with_deal = rules.deals, rules.with_deal

    def step(self, key: Array, state: PokerState, actions: Array) -> tuple[PokerState, Outcome]:
        check_actions(self, actions, state.turn.shape)
        after, results = rules.step(self, key, state, actions)
        return after, self.outcome(**results)

    def forfeit_terms(self, state: PokerState, agents: Sequence[int]) -> dict[str, Array]:
        """A fold: the forfeiting seats lose what they have put into the pot, and the seats that are
        still in share it. The match is over, and lost."""
        return rules.forfeit(self, state, agents)

    def elapsed(self, state: PokerState) -> Array | None:
        """Steps played: the clock, where `max_steps` is given; else the decisions of this hand and
        the one before, which are all in the first two hands. None in longer matches."""
        if state.time is not None or self.hands > 2:
            return state.time
        lines = [state.line] if state.last is None else [state.line, state.last.line]
        return sum(jnp.sum(line > 0, axis=0, dtype=jnp.int32) for line in lines)

    def information_state(self, state: PokerState, agent: str | int) -> str:
        """What a seat knows of the hand that is played, as a short key with perfect recall: its
        card, then the line, `p` pass (check or fold), `c` call, `r` bet or raise; a public card
        stands where it was turned up. `"Q pr"`, or `"Js prc /Kh p"`. Two states of different
        seats may have the same key: a policy has a table for each seat."""
        return views.information_state(self, state, self.index(agent))

    def to_dict(self, state: PokerState) -> dict[str, Any]:
        return self._module("text").to_dict(self, state)

    def config(self) -> dict[str, Any]:
        return {**self._config, **self.text_options()}

    def questions(self, state: PokerState, agent: str | int) -> list[Question]:
        return questions(self, state, self.index(agent))

    def last_events(
        self, state: PokerState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        return events.last_events(self, state, None if agent is None else self.index(agent))


class KuhnPoker(Poker):
    """Kuhn poker for 2 to 10 players: one round, one bet of 1 chip, no raises, and a deck of one
    card more than there are players. Actions: 0 pass (check, or fold facing a bet), 1 bet (or call
    it); the numbers are those of OpenSpiel's `kuhn_poker`.

    Args:
        players: 2 to 10. With n players the ranks are the n + 1 up to the king: J Q K for two.

    The other arguments, the terms and the observation are those of `Poker`, with C = n + 1 cards,
    B = 0, S = 2 n - 1 slots and A = 2 actions: 18 numbers for two players in a single hand.
    """

    id = "kuhn_poker"
    title = "Kuhn poker"
    suits = 1
    sizes = (1,)
    cap = 1

    def __init__(
        self,
        players: int = 2,
        *,
        hands: int | None = None,
        duplicate: bool = False,
        max_steps: int | None = None,
        reward_weights: Mapping[str, float] | None = None,
        detail: str = "normal",
    ):
        players = whole("players", players, 2, len(RANKS) - 1)
        ranks = RANKS[-players - 1 :]
        super().__init__(players, ranks, hands, duplicate, max_steps, reward_weights, detail)
        self._config["players"] = players


class LeducHoldem(Poker):
    """Leduc hold'em for two players: six cards, J Q K in two suits; two rounds, with a public card
    turned up before the second; bets and raises of 2 chips in the first round and 4 in the second,
    at most two of them a round. A pair with the public card wins, else the higher rank; equal ranks
    share the pot. Actions: 0 pass (check, or fold facing a bet), 1 call, 2 bet or raise. (OpenSpiel
    numbers fold, call, raise the same way, but checks with its call.)

    The arguments, the terms and the observation are those of `Poker`, with C = 6 cards, numbered
    J of spades, J of hearts, Q of spades, ...; B = 1, S = 8 slots (4 a round) and A = 3 actions: 48
    numbers in a single hand.
    """

    id = "leduc_holdem"
    title = "Leduc hold'em"
    suits = 2
    sizes = (2, 4)
    cap = 2

    def __init__(
        self,
        *,
        hands: int | None = None,
        duplicate: bool = False,
        max_steps: int | None = None,
        reward_weights: Mapping[str, float] | None = None,
        detail: str = "normal",
    ):
        super().__init__(2, RANKS[-3:], hands, duplicate, max_steps, reward_weights, detail)
