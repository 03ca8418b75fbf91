"""The view of one agent at one step, and its reply."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import gymnasium
import numpy as np

from manyhands.core.choices import LIMIT, Choice, Spot, choices_of
from manyhands.core.env import Action, Env, IllegalAction, SeatError, describe_with, shorten
from manyhands.core.kept import kept
from manyhands.core.pack import Frame, fingerprint
from manyhands.core.reading.spelling import Spelling, listed
from manyhands.core.talk import Message


class BudgetSpent(SeatError):
    """A seat may spend no more (tokens, money, time). `play` then stops, and returns the episodes
    that are finished."""


@dataclass
class Reply:
    """An answer of a seat with more than an action.

    Attributes:
        action: an action, or words that `Env.parse` reads; None if there is no action.
        say: a message to the others, where the environment has a chat channel.
        error: why `action` is None.
        info: JSON-ready data for the record (attempts, tokens, seconds, …).
        forfeit: whether the seat gives up: with an `error`, the episode ends at the price of
            `Env.forfeit_terms`, whatever `on_illegal` is.
    """

    action: Action | str | None
    say: str | None = None
    error: str | None = None
    info: dict[str, Any] = field(default_factory=dict)
    forfeit: bool = False

    def __post_init__(self) -> None:
        if self.say is not None and not isinstance(self.say, str):
            raise TypeError(f"the say of a Reply is text or None, given {shorten(self.say)}")
        if not isinstance(self.info, Mapping):
            raise TypeError(f"the info of a Reply is a dict, given {shorten(self.info)}")


class View:
    """One agent's view at one step. Expensive attributes are computed when first read.

    Attributes:
        agent, index: the agent's name and axis index.
        episode: number of the episode in this run, from 0.
        step: number of the step in the episode, from 0; a fork (`play(fork=)`) continues from the
            clock of its state.
        turn: the number of earlier turns of this agent in the episode.
        seed: 64 random bits of this agent at this step, the same whenever the episode is replayed.
        messages: messages to this agent since it last acted, oldest first.
        advice: what a coach says (`play(coach=)`), and why it refused an answer; else empty. It is
            no part of the text or of the anchor.
    """

    def __init__(
        self,
        env: Env,
        frame: Frame,
        index: int,
        *,
        episode: int = 0,
        step: int = 0,
        turn: int | None = None,
        seed: int = 0,
        messages: Sequence[Message] = (),
        talk: Sequence[Message] | Callable[[], Sequence[Message]] = (),
    ):
        self._env, self._frame = env, frame
        self.index, self.agent = index, env.agents[index]
        self.episode, self.step, self.seed = episode, step, seed
        self.turn = step if turn is None else turn
        self.messages, self._talk = tuple(messages), talk
        self.advice = ""
        self._meanings: dict[str, Action] = {}  # of answers that were read

    def become(self, view: View, turn: int) -> None:
        """Become a copy of `view` for a player with `turn` earlier turns; for subclasses."""
        View.__init__(
            self,
            view._env,
            view._frame,
            view.index,
            episode=view.episode,
            step=view.step,
            turn=turn,
            seed=view.seed,
            messages=view.messages,
            talk=view._talk,
        )
        self.advice = view.advice

    @kept
    def talk(self) -> tuple[Message, ...]:
        """All messages of the episode that this agent heard or said, oldest first, where there is a
        channel: free words, or phrases."""
        return tuple(self._talk() if callable(self._talk) else self._talk)

    @property
    def vector(self) -> np.ndarray:
        """The observation, [*observation_space.shape]."""
        return self._frame.vector[self.index]

    @property
    def perception(self) -> np.ndarray:
        """The input of scripted players (`Env.perceive`)."""
        return self._frame.perception[self.index]

    @property
    def legal(self) -> np.ndarray:
        """bool[A]."""
        return self._frame.legal[self.index]

    @kept
    def text(self) -> str:
        """The text observation, with what was said where there is a channel."""
        return self.describe()

    def untold(self, text: str) -> tuple[Message, ...]:
        """Of `messages`, those that a text of this view does not repeat."""
        quoted = ((m, json.dumps(m.text, ensure_ascii=False)) for m in self.messages)
        return tuple(message for message, words in quoted if words not in text)

    def describe(self, detail: str | None = None) -> str:
        """The text observation, more or less of it: `detail` is one of `DETAILS`."""
        talk = self.talk if self._env.chat is not None else ()
        about = self._env, self._frame.state, self.index, detail
        if talk:
            return describe_with(*about, talk)
        found: str = self._once("text", detail, lambda: describe_with(*about))
        return found

    def _once(self, kind: str, how: Any, make: Callable[[], Any]) -> Any:
        """What follows from the state alone is made once for all frames of equal states."""
        frame = self._frame
        if type(frame) is not Frame or not (frame.env is self._env or frame.env == self._env):
            return make()
        name = kind, self.index, how
        found = frame.told.get(name)
        if found is None:
            found = frame.told[name] = make()
        return found

    @kept
    def choices(self) -> list[Choice]:
        """The legal actions in words; many that differ only in numbers are one `Form`."""
        return self._choices(LIMIT)

    @kept
    def all_choices(self) -> list[Choice]:
        """The legal actions in words, every one."""
        return self._choices(None)

    def _choices(self, limit: int | None) -> list[Choice]:
        about = self._env, self._frame.state, self.index, limit
        return list(self._once("choices", limit, lambda: tuple(choices_of(*about))))

    @kept
    def events(self) -> list[dict[str, Any]]:
        """What happened in the last step, as far as this agent may know (`Env.last_events`)."""
        return self._env.last_events(self._frame.state, self.index)

    @kept
    def rules(self) -> str:
        return self._env.rules(self.index)

    @kept
    def image(self) -> np.ndarray:
        """The image observation of this agent, u8[height, width, 3]."""
        from manyhands.core.render import render

        return render(self._env, self._frame.state, self.index)

    @kept
    def spots(self) -> list[Spot]:
        """The areas of `image` that stand for choices (`Env.spots`)."""
        size = self.image.shape[1], self.image.shape[0]
        return self._env.spots(self._frame.state, size, self.index)

    @kept
    def anchor(self) -> str:
        """The fingerprint of all that this agent knows (`core/pack.py`): equal if and only if the
        observations are, and what was said in the episode."""
        notes, name = self._frame.notes, ("anchor", self.index)
        if name not in notes:
            notes[name] = fingerprint(self._env, self._frame.state, self.index)
        found: str = notes[name]
        if not self.talk:
            return found
        said = json.dumps([found, *([m.step, m.sender, m.text] for m in self.talk)])
        return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()

    @property
    def concerns(self) -> bool:
        """Whether something happened in the last step for which this agent should be asked, if it
        waits (`Env.concerns`)."""
        return self._env.concerns(self._frame.state, self.index)

    def parse(self, text: str) -> Action:
        """The action that `text` names; raises `IllegalAction`."""
        action = self.known(text)
        if action is None:
            action = self._env.parse(text, self._frame.state, self.index)
            if type(text) is str:
                self._meanings[text] = action.copy() if isinstance(action, np.ndarray) else action
        return action

    def known(self, text: str) -> Action | None:
        """The action of an answer that was parsed before, or that is one of `choices`, if they were
        read before; None for any other."""
        if type(text) is not str:
            return None
        action = self._offered.get(text) if "choices" in self.__dict__ else None
        if action is None:
            action = self._meanings.get(text)
        return action.copy() if isinstance(action, np.ndarray) else action

    @kept
    def _offered(self) -> dict[str, Action]:
        """The actions of `choices`, by the words that name them."""
        found: dict[str, Action] = {}
        doubtful: set[str] = set()
        for choice in self.choices:
            for words in {str(choice), choice.text}:
                if words in found or choice.action is None:
                    doubtful.add(words)
                else:
                    found[words] = choice.action
        return {words: action for words, action in found.items() if words not in doubtful}

    def words(self, action: Action) -> str:
        """A legal action in the words of `choices`, which list the legal actions in order (of each
        part in turn, where actions have several). Otherwise the choice that parses to the action,
        or its numbers. An environment whose choices are parts of an action may describe whole
        actions itself (`Env.words`)."""
        own = self._env.words(action, self._frame.state, self.index)
        if own is not None:
            return own
        space, legal = self._env.action_space, self.legal
        numbers: list[int] = []
        if isinstance(space, gymnasium.spaces.Discrete):
            numbers = [int(action) - int(space.start)]
        elif isinstance(space, gymnasium.spaces.MultiDiscrete):
            firsts = np.cumsum([0, *space.nvec.ravel()[:-1]])
            numbers = (firsts + np.asarray(action).ravel() - space.start.ravel()).tolist()
        choices = self.all_choices
        fits = len(choices) == int(legal.sum())
        if numbers and fits and all(0 <= k < len(legal) and legal[k] for k in numbers):
            return "; ".join(choices[int(legal[:k].sum())] for k in numbers)
        for choice in choices:
            with contextlib.suppress(IllegalAction):
                if np.array_equal(self.parse(choice), action):
                    return choice
        return json.dumps(np.asarray(action).tolist())

    @kept
    def spelling(self) -> Spelling | None:
        """All answers that name a legal action by the words of its choice (`Env.spelling`); None
        where choices are only parts of actions."""
        own = self._env.spelling(self._frame.state, self.index)
        if own is None and isinstance(self._env.action_space, gymnasium.spaces.Discrete):
            choices = self.all_choices
            if len(choices) == int(self.legal.sum()):
                return listed(choice.text for choice in choices)
        return own

    def rng(self) -> np.random.Generator:
        """Random numbers of this agent at this step."""
        return np.random.default_rng(self.seed)


class Policy(Protocol):
    """A player of any kind. `act` gets the views of several episodes at once, and answers each with
    an action, with words, or with a `Reply`; it may be a coroutine function.

    A policy may declare more to `play`, by members of its class:

    - `needs_state = True`: `act(views, states)` also gets a snapshot of each view's episode
      (`Game.snapshot`), the true state with all that is hidden. Its answers are marked in the
      record: `info["true_state"]` is true.
    - `team = True`: it is called for each episode separately, with the views of all agents that it
      plays and that are to move (`baselines/players/dispatch.py`).
    - `route(view)`: the policy that answers this view in its place (`baselines/players/relay.py`).
    """

    def act(
        self, views: Sequence[View]
    ) -> Sequence[Action | str | Reply] | Awaitable[Sequence[Action | str | Reply]]: ...
