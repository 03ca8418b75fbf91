"""Negotiation: one engine of turns, offers and talk; what is negotiated is a scenario.

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

The rules are in `rules.py`, what each form of agreement does in `forms/`, the scenarios in
`scenarios.py`, and what players see in `observe.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, flat
from manyhands.core.choices import LIMIT, Choice
from manyhands.core.config import boolean, check_weights, one_of, plain, whole
from manyhands.core.env import DETAILS, Action, Array, Env, Outcome
from manyhands.core.layout import Layout
from manyhands.core.probes import Question
from manyhands.core.reading.spelling import Spelling
from manyhands.core.talk import Channel, Message
from manyhands.envs.negotiation import choosing, observe, rules
from manyhands.envs.negotiation import history as past
from manyhands.envs.negotiation.forms import Deal
from manyhands.envs.negotiation.questions import questions
from manyhands.envs.negotiation.scenarios import build
from manyhands.envs.negotiation.state import (
    CLAIM,
    PHASES,
    ROUNDS,
    SAY,
    TALK,
    TURNS,
    NegotiationState,
)

SCORES = ("gain", "win")


class Voices(Channel):
    """The channel of a negotiation: a phrase can be said as `choices` shows it."""

    def speech(self, text: str) -> str | None:
        said = super().speech(text)
        return None if said is None else choosing.said_alone(said)


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
        detail: how much `describe` tells: `"brief"`, what changes decisions, with the last moves
            only; `"normal"`, all facts of the vector; or `"full"`, with what can be worked out.
        **options: those of the scenario, see `scenarios.py`.

    **Actions** are `Discrete`: moves in the order of `KINDS`, only those that the scenario has
    (`first` and `sizes` say where): 0 `pass`; `accept`, `reject`, `walk away`, `ready`; one for
    each enumerated offer (`scenario.offers`), which is also what is chosen in private, caught or
    given; one for each phrase, and "something in words of its own"; one for each claim
    (`scenario.claims`). In a trade they are `MultiDiscrete`: the kind of move (where `offer` is a
    single one), then how much of each good is offered, then how much of each is asked for; the
    amounts count only with `offer`.

    **An illegal action** is played as `pass` and counted in `illegal`. A pass lets the turn go by,
    proposes nothing, answers no, takes, catches or gives nothing. So is an offer of nothing for
    nothing, which the masks of the parts cannot rule out.

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
        detail: str = "normal",
        **options: Any,
    ):
        data = build(scenario, options)
        n = data.players
        one_of("score", score, SCORES)
        boolean("talk", talk)
        self.detail = one_of("detail", detail, DETAILS)
        memory = whole("memory", max(12, 4 * n) if memory is None else memory, n, 1000)
        given = {
            "max_length": None if max_length == 200 else max_length,
            "phrases": None if phrases is None else list(phrases),
            "memory": memory,
            "reward_weights": dict(reward_weights) if reward_weights else None,
            **{name: plain(value) for name, value in options.items()},
        }
        self._config = {"scenario": scenario, "score": score, "talk": talk}
        self._config |= {name: value for name, value in given.items() if value is not None}
        self.scenario = data = dataclasses.replace(
            data,
            talk=talk,
            memory=memory,
            phrases=data.phrases if phrases is None else tuple(phrases),
            discussion=data.discussion if talk else 0,
        )
        self.score, self.agents, self.phrases = score, data.agents, data.phrases
        self.memory, self.max_steps = memory, data.max_steps
        self._channel = Voices(self.agents, self.phrases, max_length) if talk else None
        self.terms = data.terms
        weights = dict.fromkeys(self.terms, 0.0) | {score: 1.0}
        self.reward_weights = check_weights(reward_weights, weights)
        self.deterministic_reset = data.is_fixed
        # Where each kind of move begins among the actions, and how many there are of it.
        self.first, self.sizes, self.moves, self.width = (
            data.first, data.sizes, data.moves, data.width
        )  # fmt: skip
        self.noop, self.action_space = 0, gymnasium.spaces.Discrete(self.moves)
        if data.composed:
            # As many units as can be in the game, given and asked for.
            parts = [self.moves, *(data.most + 1), *(data.most + 1)]
            self.action_space = gymnasium.spaces.MultiDiscrete(parts, dtype=np.int32)
            self.noop = np.zeros(len(parts), np.int32)
        self.phases = data.phases
        self.observation_layout = observe.layout(data)
        self.observation_space = self.observation_layout.space(divided=True)
        self.event_names = past.event_names(data)
        self.event_kinds = past.event_kinds(data)

    # ---- pure and traceable -------------------------------------------------------------------

    def reset(self, key: Array) -> NegotiationState:
        return rules.reset(self.scenario, key)

    def step(
        self, key: Array, state: NegotiationState, actions: Array
    ) -> tuple[NegotiationState, Outcome]:
        """One step; an illegal action is played as `pass`, and counted in `metrics["illegal"]`."""
        new, terms, over, metrics = rules.step(self.scenario, key, state, actions)
        ended = jnp.broadcast_to(over[None], (self.num_agents, *over.shape))
        return new, self.outcome(terms, ended, jnp.zeros_like(ended), metrics)

    def acting(self, state: NegotiationState) -> Array:
        return rules.acting(self.scenario, state)

    def legal(self, state: NegotiationState) -> Array:
        """bool[N, A]; in a trade the masks of the parts one after the other."""
        return rules.legal(self.scenario, state)

    def perceive(self, state: NegotiationState) -> Array:
        """i32[N, F], see `observe.py`."""
        return observe.perceive(self.scenario, self.observation_layout, state)

    def observe(self, state: NegotiationState) -> Array:
        """f32[N, F]: `perceive`, each number divided by the largest that it can be."""
        scale = expand(np.float32(1) / self.observation_layout.divisors, state.time.ndim)
        return self.perceive(state).astype(jnp.float32) * scale[None]

    def summary(self, state: NegotiationState) -> Array:
        """f32[N * F]: the observations of all players one after the other."""
        return flat(self.observe(state))

    def event_codes(self, state: NegotiationState) -> Array:
        """f32[N, K]: the moves of the last step and what came of them (`history.event_codes`)."""
        return past.event_codes(self.scenario, state)

    @property
    def at(self) -> Layout:
        """Where each part of an observation lies: a slice for each name."""
        return self.observation_layout

    @property
    def fields(self) -> tuple[tuple[str, float], ...]:
        """(name, what it is divided by) of each number of an observation, in order."""
        return tuple(
            zip(
                self.observation_layout.names,
                self.observation_layout.divisors.tolist(),
                strict=True,
            )
        )

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
        if not self.scenario.composed:
            return self.first[kind] + number
        row = np.zeros(1 + self.width, np.int32)
        row[0] = self.first[kind] + number
        if content is not None:
            row[1:] = content
        return row

    def said(self, state: NegotiationState) -> dict[int, str]:
        """The phrase that was said in the last step: who speaks moves alone."""
        player, kind, word = np.asarray(state.log)[-1, :3].tolist()
        spoken = player > 0 and kind == SAY and 0 < word <= len(self.phrases)
        return {player - 1: self.phrases[word - 1]} if spoken else {}

    def forfeit_terms(self, state: NegotiationState, agents: Sequence[int]) -> dict[str, Array]:
        """The break-off: what walking away from the table yields; the comparison of gains (`win`)
        is lost."""
        if not agents:
            return {}
        terms = jax.device_get(rules.broken_off(self.scenario, state))
        won = np.full(self.num_agents, float(self.num_agents == 2), np.float32)
        won[list(agents)] = -1.0
        return {**terms, "win": won}

    def describe(
        self,
        state: NegotiationState,
        agent: str | int,
        *,
        detail: str | None = None,
        talk: Sequence[Message] = (),
    ) -> str:
        env = self if detail is None else self.with_detail(detail)
        found = self._module("text").describe(env, _on_host(state), self.index(agent), talk)
        return str(found)

    def choices(
        self, state: NegotiationState, agent: str | int, limit: int | None = LIMIT
    ) -> list[Choice]:
        """The legal actions in words. Those of one family are told in one line where there are more
        than `limit`, or where all would be long; in a trade an example stands for all offers. With
        None all of them are listed, in a trade the legal parts of an offer, too."""
        state, i, texts = _on_host(state), self.index(agent), self._module("text")
        seen, able = texts.observation(self, state, i), texts.legal(self, state, i)
        found = choosing.choices(self, state, seen, able, parts=limit is None)
        return choosing.shortened(found, limit)

    def last_events(
        self, state: NegotiationState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        """The moves of the last step and what came of them: all players know the same of it."""
        if agent is not None:
            self.index(agent)
        return past.last_events(self, _on_host(state))

    def questions(self, state: NegotiationState, agent: str | int) -> list[Question]:
        return questions(self, _on_host(state), self.index(agent))

    def parse(self, text: str, state: NegotiationState, agent: str | int) -> Action:
        reading = self._module("reading")
        return reading.parse(self, text, _on_host(state), self.index(agent))

    def words(self, action: Action, state: NegotiationState, agent: str | int) -> str:
        """An action of the player in words that `parse` reads back; in a trade a whole one, where
        `choices` are parts."""
        return str(self._module("text").words(self, action, _on_host(state), self.index(agent)))

    def spelling(self, state: NegotiationState, agent: str | int) -> Spelling | None:
        """The legal answers of a trade, whose offers are too many to be listed."""
        if not self.scenario.composed:
            return None
        found: Spelling = self._module("text").spelling(self, _on_host(state), self.index(agent))
        return found

    def best_joint(self, state: NegotiationState) -> Deal:
        """The outcome with the largest sum of gains (`solve.best_joint`), for grading."""
        return self.scenario.best_joint(_on_host(state))

    def draw(
        self,
        state: NegotiationState,
        canvas: Any,
        agent: str | int | None = None,
        camera: str = "",
    ) -> None:
        super().draw(_on_host(state), canvas, agent, camera)

    def to_dict(self, state: NegotiationState) -> dict[str, Any]:
        state, data = _on_host(state), self.scenario
        of_players, of_game = data.true_state(state)
        players = []
        for i, name in enumerate(self.agents):
            player: dict[str, Any] = {"name": name}
            player["values"] = dict(zip(data.goods, state.values[i].tolist(), strict=True))
            player["holdings"] = dict(zip(data.goods, state.holdings[i].tolist(), strict=True))
            if data.has_outside:
                player["outside"] = int(state.outside[i])
            if self.sizes[CLAIM]:
                player["claims"] = {
                    good: int(stated) - 1
                    for good, stated in zip(data.goods, state.claims[i], strict=True)
                    if stated
                }
            players.append(player | of_players[i])
        moves = rules.acting(data, state, np)
        found = {
            "scenario": data.name,
            "phase": PHASES[int(state.phase)],
            "time": int(state.time),
            "steps_left": self.max_steps - int(state.time),
            "to_move": [name for name, acts in zip(self.agents, moves, strict=True) if acts],
            "pool": dict(zip(data.goods, state.pool.tolist(), strict=True)),
            "offer": state.offer.tolist() if state.offerer else None,
            "offer_by": self.agents[int(state.offerer) - 1] if state.offerer else None,
            "deals": int(state.deals),
            "players": players,
            "history": self._module("text").history(self, state),
        }
        if data.flow == ROUNDS:
            found["round"] = int(state.round)
        return found | of_game

    def config(self) -> dict[str, Any]:
        return dict(self._config) | self.text_options()


def _on_host(state: NegotiationState) -> NegotiationState:
    return jax.tree_util.tree_map(np.asarray, state)
