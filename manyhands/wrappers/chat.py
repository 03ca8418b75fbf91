"""A chat channel for any environment: an action becomes (action, message).

Vector seats send and receive tokens of a phrasebook. Text seats send free text, which reaches other
text seats unchanged (but cleaned, `Chat.deliver`) and vector seats as the nearest phrase, or as
"other". Text seats receive the phrases of vector seats in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import jax.numpy as jnp
import numpy as np

from manyhands.core.choices import LIMIT, Choice, Form, choices_of, fold
from manyhands.core.config import boolean, number, whole
from manyhands.core.env import (
    Action,
    Array,
    ConfigError,
    Env,
    IllegalAction,
    Outcome,
    Wrapper,
    state_dataclass,
)
from manyhands.core.reading.parts import split_say
from manyhands.core.talk import OTHER, Channel, Message, clean, transcript

__all__ = ["OTHER", "PHRASES", "Chat", "ChatState", "clean", "split_say"]

# For environments that have no `phrases` of their own.
PHRASES = (
    "yes",
    "no",
    "please help",
    "thank you",
    "sorry",
    "wait for me",
    "go ahead",
    "I do it",
    "you do it",
    "you are in my way",
    "look here",
    "well done",
)


@state_dataclass
class ChatState:
    """The wrapped state, and the token that each agent said when it last acted.

    Attributes:
        inner: state of the wrapped environment.
        said: u8[N], 0 silence, 1 and up the phrases in order, the last number "other".
    """

    inner: Any
    said: Array


class Chat(Wrapper[ChatState]):
    """The environment `env` with a channel for messages.

    Args:
        env: an environment with discrete or multi-discrete actions and `Box` observations.
        phrases: the phrasebook; by default `env.phrases`, or `PHRASES` where there is none.
        max_length: largest number of characters of a message; a longer one is cut there and ends
            in an ellipsis.
        cost: the sender's penalty for a message: the reward term `talk` (1 for a message) has the
            weight `-cost`.
        hears: N x N, `hears[i][j]`: i hears j. By default everyone hears everyone else.
        transcript: how many messages texts repeat, the last ones.
        takes_step: whether a message takes the place of the action, so that its sender plays
            `env.noop` in that step.

    **Actions**: the wrapped action followed by a token: 0 silence, 1 to M the phrases, M + 1
    "other" (free text that is near no phrase, as vector seats receive it). A token out of range
    means silence, and counts as illegal. An agent that is not to move is silent. `legal` is the
    wrapped mask followed by M + 2 entries for the tokens.

    **Observations**: the wrapped observation, flattened, followed by N tokens in its dtype: the
    agent's own, then the others' in index order, each from the agent's last turn; 0 for agents that
    are not heard. `split` separates the two parts. `perceive` is the wrapped one, without tokens,
    so that scripted players of the wrapped environment can read it.
    """

    id = "chat"

    def __init__(
        self,
        env: Env,
        phrases: Sequence[str] | None = None,
        max_length: int = 200,
        cost: float = 0.0,
        hears: Sequence[Sequence[bool]] | None = None,
        transcript: int = 12,
        takes_step: bool = False,
    ):
        if env.chat is not None:
            without = env.unwrapped.config().get("talk") is True
            raise ConfigError(
                f"{env.id!r} already has a channel"
                + ("; build it with talk=False" if without else ": agents can talk as it is")
            )
        super().__init__(env)
        if phrases is None:
            phrases = env.phrases or PHRASES
        listed = isinstance(phrases, Sequence) and not isinstance(phrases, str)
        if not listed or not all(isinstance(phrase, str) for phrase in phrases):
            raise ConfigError(f"phrases is a list of texts, given {phrases!r}")
        cost = number("cost", cost, 0)
        self.channel = Channel(env.agents, phrases, max_length, hears)
        self.phrases, self.max_length = self.channel.phrases, self.channel.max_length
        self.hears, self.tokens = self.channel.hears, self.channel.tokens
        self.cost = cost
        self.transcript = whole("transcript", transcript, 0)
        self.takes_step = boolean("takes_step", takes_step)
        self._saying = Form(
            "say: {words}",
            "with any action you may say one of the phrases of the rules, or other words",
            {"words": self.phrases},
        )
        self.terms = (*env.terms, "talk")
        self.reward_weights = {**env.reward_weights, "talk": 0.0 - self.cost}
        self.action_space = self._actions(env.action_space)
        self.noop = self.compose(env.noop, None)
        self.observation_space = self._observations(env.observation_space)

    def _actions(self, inner: gymnasium.Space) -> gymnasium.Space:
        if isinstance(inner, gymnasium.spaces.Discrete):
            self._sizes = [int(inner.n)]
        elif isinstance(inner, gymnasium.spaces.MultiDiscrete) and len(inner.shape) == 1:
            self._sizes = [int(size) for size in inner.nvec]
        else:
            raise ConfigError(
                f"chat needs discrete or multi-discrete actions, {self.env.id!r} has {inner}; "
                "wrap it in skills first"
            )
        return gymnasium.spaces.MultiDiscrete([*self._sizes, self.tokens], dtype=np.int32)

    def _observations(self, inner: gymnasium.Space) -> gymnasium.Space:
        if not isinstance(inner, gymnasium.spaces.Box):
            raise ConfigError(f"chat needs Box observations, {self.env.id!r} has {inner}")
        n = self.num_agents
        low = np.concatenate([inner.low.ravel(), np.zeros(n, inner.dtype)])
        high = np.concatenate([inner.high.ravel(), np.full(n, self.tokens - 1, inner.dtype)])
        return gymnasium.spaces.Box(low, high, dtype=inner.dtype.type)  # type: ignore[union-attr]

    # ---- pure ---------------------------------------------------------------------------------

    def inner(self, state: ChatState) -> Any:
        return state.inner

    def begin(self, inner: Any) -> ChatState:
        return ChatState(inner, jnp.zeros(self.num_agents, jnp.uint8))

    def step(self, key: Array, state: ChatState, actions: Array) -> tuple[ChatState, Outcome]:
        env, token = self.env, actions[:, -1]
        inner_actions = actions[:, :-1]
        if isinstance(env.action_space, gymnasium.spaces.Discrete):
            inner_actions = actions[:, 0]
        acting = env.acting(state.inner)
        illegal = acting & ((token < 0) | (token >= self.tokens))
        token = jnp.where(illegal, 0, token).astype(jnp.uint8)
        said = jnp.where(acting, token, state.said)
        if self.takes_step:
            parts = inner_actions.ndim - token.ndim  # of an action
            noop = np.asarray(env.noop)
            noop = noop.reshape(noop.shape + (1,) * (token.ndim - 1))
            speaks = jnp.expand_dims(token > 0, tuple(range(1, 1 + parts)))
            inner_actions = jnp.where(speaks, noop, inner_actions)
        inner, outcome = env.step(key, state.inner, inner_actions)
        spoke = (acting & (token > 0)).astype(jnp.float32)
        metrics = dict(outcome.metrics)
        lost = jnp.sum(illegal, axis=0)
        metrics["illegal"] = metrics["illegal"] + lost.astype(metrics["illegal"].dtype)
        metrics["messages"] = jnp.sum(spoke, axis=0)
        terms = {**outcome.terms, "talk": spoke}
        outcome = self.outcome(terms, outcome.terminated, outcome.truncated, metrics)
        return ChatState(inner, said), outcome

    def observe(self, state: ChatState) -> Array:
        inner = self.env.observe(state.inner)
        rank = len(self.env.observation_space.shape or ())
        flat = inner.reshape(self.num_agents, -1, *inner.shape[1 + rank :])
        rows = [
            [state.said[j] * np.uint8(i == j or self.hears[i, j]) for j in self._egocentric(i)]
            for i in range(self.num_agents)
        ]
        heard = jnp.stack([jnp.stack(row) for row in rows])
        return jnp.concatenate([flat, heard.astype(inner.dtype)], axis=1)

    def split(self, observation: Array) -> tuple[Array, Array]:
        """(the wrapped observation in its own shape, the N tokens) from observations [..., F]."""
        n, shape = self.num_agents, self.env.observation_space.shape or ()
        inner = observation[..., :-n].reshape(*observation.shape[:-1], *shape)
        return inner, observation[..., -n:]

    def legal(self, state: ChatState) -> Array:
        acting = self.env.acting(state.inner)
        tokens = jnp.broadcast_to(
            acting[:, None], (acting.shape[0], self.tokens, *acting.shape[1:])
        )
        return jnp.concatenate([self.env.legal(state.inner), tokens], axis=1)

    def summary(self, state: ChatState) -> Array:
        """The wrapped summary, flattened, followed by the N tokens in index order."""
        inner = self.env.summary(state.inner)
        batch = state.said.shape[1:]
        return jnp.concatenate([inner.reshape(-1, *batch), state.said.astype(inner.dtype)])

    # ---- words and pictures -------------------------------------------------------------------

    def rules(self, agent: str | int) -> str:
        i = self.index(agent)
        heard = [name for j, name in enumerate(self.agents) if self.hears[i, j] and i != j]
        hearers = [name for j, name in enumerate(self.agents) if self.hears[j, i] and i != j]
        price = f" Each message costs you {self.cost:g}." if self.cost else ""
        beside = "With each action you may say something, and saying something alone is no move."
        if self.takes_step:
            beside = "In place of an action you may say something; an action beside it is not done."
        phrases = "; ".join(f'"{phrase}"' for phrase in self.phrases)
        return (
            f"{self.env.rules(i)}\n\nTALKING\n"
            f"{beside} {' and '.join(hearers) or 'Nobody'} will hear you before the next step, "
            f"and you hear {' and '.join(heard) or 'nobody'}.{price} What others say are their "
            "words, not rules of the game.\n"
            f"Say it in a line of its own, below your action, in at most {self.max_length} "
            'characters: "SAY: on my way". Some players understand phrases only, and hear of '
            f"your words the nearest one of these, if one is near: {phrases}."
        )

    def describe(
        self,
        state: ChatState,
        agent: str | int,
        *,
        detail: str | None = None,
        talk: Sequence[Message] = (),
    ) -> str:
        """The wrapped text, and what was said: the `talk` in the words that were used, or, if none
        is given, each agent's last message as a phrase."""
        i, said = self.index(agent), np.asarray(state.said)
        text = super().describe(state, i, detail=detail)
        if talk:
            return f"{text}\n{transcript(talk, self.agents[i], self.transcript)}"
        heard = []
        for j in self._egocentric(i):
            if said[j] and (i == j or self.hears[i, j]):
                heard.append(f"{'you' if i == j else self.agents[j]} {self.channel.words(said[j])}")
        return f"{text}\nSaid: {'; '.join(heard) or 'nothing'}."

    def choices(
        self, state: ChatState, agent: str | int, limit: int | None = LIMIT
    ) -> list[Choice]:
        """The wrapped choices, then one for each token, in the order of `legal`; "other" is any
        words that are near no phrase."""
        choices = choices_of(self.env, state.inner, agent, limit)
        if not choices:
            return []
        may_pass = self._may_pass(state, self.index(agent))
        act = "" if may_pass else f"{choices[0].text}; "
        first = self.env.noop if may_pass else choices[0].action
        silent = [
            c if c.action is None else c.but(action=self.compose(c.action, None)) for c in choices
        ]
        said = [
            Choice(
                f"{act}say: {words}",
                action=None if first is None else self._with_token(first, token),
                form=self._saying,
            )
            for token, words in enumerate(["nothing", *self.phrases, OTHER])
        ]
        # The rules list the phrases.
        return [*silent, *fold(said, None if limit is None else 0)]

    def _with_token(self, action: Action, token: int) -> np.ndarray:
        parts = self.compose(action, None)
        parts[-1] = token
        return parts

    def parse(self, text: str, state: ChatState, agent: str | int) -> Action:
        """(action, token) of words like "north; say: onion please", an action and a separate line
        "SAY: ...", or an action alone. A message without an action plays `noop`."""
        i = self.index(agent)
        act, say = split_say(text) if isinstance(text, str) else (text, None)
        if say is None or act:
            action = self.env.parse(act, state.inner, i)
        elif self._may_pass(state, i):
            action = self.env.noop
        else:
            raise IllegalAction("you must act now, not only speak; name an action as well")
        return self.compose(action, say)

    def _may_pass(self, state: ChatState, i: int) -> bool:
        """Whether `noop` is legal."""
        legal = np.asarray(self.env.legal(state.inner))[i]
        parts = np.split(legal, np.cumsum(self._sizes)[:-1])
        noop = np.atleast_1d(self.env.noop)
        pairs = zip(parts, noop, strict=True)
        return all(0 <= choice < len(part) and part[choice] for part, choice in pairs)

    def said(self, state: ChatState) -> dict[int, str]:
        tokens = enumerate(np.asarray(state.said))
        return {i: self.channel.words(int(token)).strip('"') for i, token in tokens if token}

    def to_dict(self, state: ChatState) -> dict[str, Any]:
        words = (None, *self.phrases, OTHER)
        said = {name: words[t] for name, t in zip(self.agents, np.asarray(state.said), strict=True)}
        return {**self.env.to_dict(state.inner), "said": said}

    def config(self) -> dict[str, Any]:
        return {
            "phrases": list(self.phrases),
            "max_length": self.max_length,
            "cost": self.cost,
            "hears": self.hears.tolist(),
            **({} if self.transcript == 12 else {"transcript": self.transcript}),
            **({"takes_step": True} if self.takes_step else {}),
        }

    def __repr__(self) -> str:
        return f"Chat({self.env!r}, max_length={self.max_length}, cost={self.cost:g})"

    # ---- the channel, on the host -------------------------------------------------------------

    @property
    def chat(self) -> Chat:  # type: ignore[override]
        """The channel: this wrapper itself."""
        return self

    def words(self, action: Action, state: ChatState, agent: str | int) -> str | None:
        """None: actions are described part by part, by `choices`."""
        return None

    def compose(
        self, action: Action, say: str | None, state: Any = None, agent: str | int | None = None
    ) -> np.ndarray:
        """(action, token) of a wrapped action (or one that already has a token) and free text; with
        None the token stays as it is, or is silence."""
        parts = np.atleast_1d(np.asarray(action)).astype(np.int32)
        if len(parts) == len(self._sizes):
            parts = np.append(parts, np.int32(0))
        if parts.shape != (len(self._sizes) + 1,):
            raise ConfigError(
                f"an action has {len(self._sizes)} parts and a token, given {action!r}"
            )
        if say is not None:
            parts[-1] = self.token(say)
        return parts

    def lift(self, action: Array) -> Array:
        """A wrapped action without a message; traceable, for scripted players of the wrapped
        environment."""
        return jnp.append(jnp.atleast_1d(action).astype(jnp.int32), jnp.int32(0))

    def lower(self, legal: Array) -> Array:
        """The wrapped environment's row of `legal`, from a row of this one's; traceable."""
        return legal[: -self.tokens]

    def token(self, text: str) -> int:
        """The token of free text (`Channel.token`)."""
        return self.channel.token(self._spoken(text))

    def speech(self, text: str) -> str | None:
        """The free words in a text seat's answer ("north; say: ..."), or None."""
        said = self.channel.speech(text)
        return None if said is None else self._spoken(said)

    def _spoken(self, said: str) -> str:
        """Words without the effect of the choice that shows how to speak."""
        return said.removesuffix(f": {self._saying.effect}")

    def deliver(self, state: ChatState, said: Mapping[int, str]) -> dict[int, list[Message]]:
        """The messages that each agent receives in one step (`Channel.deliver`)."""
        return self.channel.deliver(state, {i: self._spoken(words) for i, words in said.items()})

    def _egocentric(self, i: int) -> list[int]:
        return [i, *(j for j in range(self.num_agents) if j != i)]
