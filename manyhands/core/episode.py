"""One episode on the host: its steps and its totals."""

from __future__ import annotations

import functools
import hashlib
import operator
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium
import numpy as np

from manyhands.core.env import (
    Action,
    ConfigError,
    Env,
    IllegalAction,
    episode_key_data,
    shorten,
)
from manyhands.core.pack import (
    Frame,
    Report,
    full_actions,
    restore,
    restore_talk,
    snapshot,
    stepper,
)
from manyhands.core.talk import Message, clean
from manyhands.core.view import View

# Illegal answers that cost no more than what is played in their place: with "noop" in a row, and
# only where the others wait for the answer; with "forfeit" in a game.
ALLOWED = {"noop": 3, "forfeit": 0, "raise": 0}


_LONGEST = 1000  # characters of what somebody said whom nobody heard


@dataclass
class Turn:
    """The answers of the seats in one step; all mappings are by agent index.

    Attributes:
        actions: of the agents that were to move.
        said: messages in free text.
        answers: the words that an action was read from, where a seat answered in words.
        illegal: the reason why an answer was refused (`play(on_illegal=)`).
        info: `Reply.info`, where a seat gave any.
        forfeits: agents whose illegal answer ended the episode, before the step was made.
        free: whether a forfeit costs nothing, as in records made before it had a price.
    """

    actions: dict[int, Action] = field(default_factory=dict)
    said: dict[int, str] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
    illegal: dict[int, str] = field(default_factory=dict)
    info: dict[int, dict[str, Any]] = field(default_factory=dict)
    forfeits: tuple[int, ...] = ()
    free: bool = False


@dataclass(frozen=True)
class Moment:
    """One moment of an episode, for observers: live (`play(on_step=)`) or from a record.

    Attributes:
        env: the environment.
        episode, seed: the episode's number in its run, and its own seed.
        step: number of the next step: 0 at the start, unless the episode is a fork.
        frame: the current state (`frame.state`) and the outcome of the last step.
        turn: the answers of the seats in the last step; None at the start.
        views: of the agents, text included, computed when read.
        rewards: f64[N], total so far.
        seats: the name of each agent's seat.
        over: whether this is the last moment.
    """

    env: Env
    episode: int
    seed: int
    step: int
    frame: Frame
    turn: Turn | None
    views: tuple[View, ...]
    rewards: np.ndarray
    seats: tuple[str, ...]
    over: bool


@dataclass(frozen=True)
class EpisodeResult:
    """The totals of one episode.

    Attributes:
        episode, seed: its number in the run, and its own seed.
        group, member: number of its group in the run, and its number in the group, from 0: members
            of a group start from the same state (`play(group=)`).
        players: for each agent, the number of the seat that played it.
        steps: steps made.
        ended: "terminated", "truncated" (by the environment), "stopped" (`max_steps`), or
            "forfeit".
        rewards: total reward of each agent, the price of a forfeit included
            (`Env.forfeit_terms`).
        terms: total of each reward term, before weighting, for each agent.
        metrics: sum of each metric over the steps.
        illegal: illegal answers of each agent.
        forfeits: agents that forfeited.
    """

    episode: int
    seed: int
    group: int
    member: int
    players: tuple[int, ...]
    steps: int
    ended: str
    rewards: tuple[float, ...]
    terms: dict[str, tuple[float, ...]]
    metrics: dict[str, float]
    illegal: tuple[int, ...]
    forfeits: tuple[str, ...] = ()


# ---- seeds ---------------------------------------------------------------------------------------


def episode_seed(seed: int, group: int) -> int:
    """The 32-bit seed of an episode of a run: a hash of the run's seed and the number of the
    episode's group, which is its own number unless `play(group=)` says otherwise."""
    digest = hashlib.blake2b(f"episode {seed} {group}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little")


def member_seed(seed: int, member: int) -> int:
    """The 32-bit seed of the seats' randomness in an episode with this seed: the seed itself for
    the first member of a group, a hash of it and the member's number for the others."""
    if member == 0:
        return seed
    digest = hashlib.blake2b(f"member {seed} {member}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little")


def view_seed(seed: int, index: int, step: int) -> int:
    """`View.seed` of an agent at a step of the episode with this seed (`member_seed`)."""
    digest = hashlib.blake2b(f"view {seed} {index} {step}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


# ---- the episode ---------------------------------------------------------------------------------


class Game:
    """One episode while it is played, or played again from a record.

    Args:
        env, seed: the environment, and the seed of all its randomness.
        episode, group, member: as in `EpisodeResult`; by default the episode is its own group.
        fork: the snapshot to start from instead of a reset. Step numbers continue from the steps
            played in its state (`Env.elapsed`), and the messages in it were said before; memories
            of seats are not part of it.
        frame, first: the frame to start from instead, and the number of the next step.
        talk: the messages said before that.
        totals: whether to sum rewards, terms and metrics, which takes time.
        on_illegal, allow_illegal: what an illegal answer does, as in `play`.

    Raises:
        SnapshotError: `fork` is no snapshot of this environment.
        ConfigError: `fork` is a final state.

    Attributes:
        first: number of its first step.
        frame, step: the current frame, and the number of the next step.
        views: of the agents, now.
        done: bool[N], agents whose episode has ended.
        rewards, metrics: totals so far.
        illegal: illegal answers of each agent so far.
    """

    def __init__(
        self,
        env: Env,
        seed: int,
        episode: int = 0,
        *,
        group: int | None = None,
        member: int = 0,
        fork: bytes | None = None,
        frame: Frame | None = None,
        first: int = 0,
        talk: Sequence[Message] = (),
        totals: bool = True,
        on_illegal: str = "noop",
        allow_illegal: int | None = None,
    ):
        self.env, self.seed, self.episode, self.fork = env, seed, episode, fork
        self.group, self.member = episode if group is None else group, member
        self.stepper = stepper(env)
        self.key_data = episode_key_data(seed)
        self.seat_seed = member_seed(seed, member)
        self.seat_key_data = episode_key_data(self.seat_seed)
        n = env.num_agents
        self.first = first
        if fork is None:
            self.frame = self.stepper.reset(self.key_data) if frame is None else frame
        else:
            state = restore(env, fork)
            played = env.elapsed(state)
            self.frame, self.first = self.stepper.view(state), 0 if played is None else int(played)
            if self.first >= env.max_steps or not self.frame.acting.any():
                raise ConfigError(
                    "this snapshot is of the end of an episode: no agent is to move; fork from an "
                    "earlier state"
                )
        self.step = self.first
        self.done = [False] * n
        self.illegal = [0] * n
        self.refused = [0] * n
        self.on_illegal = on_illegal
        self.allowed = ALLOWED[on_illegal] if allow_illegal is None else allow_illegal
        self.forfeits: tuple[int, ...] = ()
        self._turns = [0] * n
        self._heard: list[list[Message]] = [[] for _ in range(n)]
        self._chat = env.chat
        self._talk = list(talk if fork is None else restore_talk(fork))
        # Who acts in the step that is made next, and their free words.
        self._speakers: list[int] = []
        self._words: Mapping[int, str] = {}
        self._views: tuple[View, ...] | None = None
        self._totals = totals
        if totals:
            self._rewards = [0.0] * n
            self._terms = [dict.fromkeys(env.terms, 0.0) for _ in range(n)]
            self.metrics = dict.fromkeys(self.frame.metrics, 0.0)

    @property
    def views(self) -> tuple[View, ...]:
        """The current view of each agent."""
        if self._views is None:
            self._views = tuple(
                View(
                    self.env,
                    self.frame,
                    i,
                    episode=self.episode,
                    step=self.step,
                    turn=self._turns[i],
                    seed=view_seed(self.seat_seed, i, self.step),
                    messages=self._heard[i],
                    talk=functools.partial(self.talk, i, len(self._talk)),
                )
                for i in range(self.env.num_agents)
            )
        return self._views

    @property
    def rewards(self) -> np.ndarray:
        """f64[N], the total reward of each agent so far."""
        return np.array(self._rewards)

    def messages(self, index: int) -> tuple[Message, ...]:
        """Messages to an agent since it last acted, oldest first."""
        return tuple(self._heard[index])

    def talk(self, index: int | None = None, until: int | None = None) -> tuple[Message, ...]:
        """What was said in the episode, oldest first, in free words and in phrases: all of it, or
        what one agent said or heard; of the first `until` messages."""
        name = None if index is None else self.env.agents[index]
        said = self._talk[:until]
        return tuple(message for message in said if name is None or name in message.heard_by)

    def text(self, index: int) -> str:
        """The text observation of an agent (`View.text`)."""
        return self.views[index].text if self._talk else self.frame.text(index)

    def snapshot(self) -> bytes:
        """The state and what was said, as bytes to fork from."""
        return snapshot(self.env, self.frame.state, self.talk())

    @property
    def over(self) -> bool:
        return all(self.done) or bool(self.forfeits)

    @property
    def made(self) -> int:
        """Steps made."""
        return self.step - self.first

    def asked(self) -> list[int]:
        """The agents to move now."""
        acting = self.frame.report.acting
        return [i for i, acts in enumerate(acting) if acts and not self.done[i]]

    def read(self, index: int, action: Action | str | None, say: str | None) -> Action:
        """The action that an answer names.

        Raises:
            IllegalAction: it names no action, or one that is not legal now.
        """
        env = self.env
        if isinstance(action, np.integer):
            action = int(action)
        if type(action) is int and env.chat is None and 0 <= action < self.stepper.actions:
            # The usual case, and quick.
            if self.frame.report.legal[index][action]:
                return action
            raise IllegalAction(not_legal(action))
        if action is None:
            raise IllegalAction("no action was given")
        if isinstance(action, str):
            known = self._views[index].known(action) if self._views else None
            action = self.frame.parse(action, index) if known is None else known
        if env.chat is not None:
            try:
                action = env.compose(action, say, self.frame.state, index)
            except (ValueError, TypeError) as error:
                raise IllegalAction(f"{shorten(action)} is no action: {error}") from error
        return check_action(env, self.frame.legal[index], action)

    def advance(self, turn: Turn) -> None:
        """Make one step, or end the episode by forfeit."""
        self.count(turn.actions, turn.illegal)
        if turn.forfeits:
            self.forfeit(turn.forfeits, turn.free)
            return
        self.hear(turn.actions, turn.said)
        self.make(full_actions(self.env, turn.actions))

    def forfeits_by(self, index: int) -> bool:
        """Whether another illegal answer of this agent, now, is a forfeit."""
        if self.on_illegal == "forfeit":
            return self.illegal[index] >= self.allowed
        if self.on_illegal == "raise" or self.refused[index] < self.allowed:
            return False
        acting = self.frame.report.acting
        return sum(acting) < len(acting) - sum(self.done)  # else nobody waits for it

    def count(self, answered: Iterable[int], illegal: Container[int]) -> None:
        """Count illegal answers, of all answers of a step."""
        for i in answered:
            if i in illegal:
                self.illegal[i] += 1
                self.refused[i] += 1
            else:
                self.refused[i] = 0

    def forfeit(self, agents: tuple[int, ...], free: bool = False) -> None:
        """End the episode: these agents pay `Env.forfeit_terms`, unless it is free."""
        self.forfeits = agents
        self.frame = self.stepper.forfeited(self.frame, () if free else agents)
        self.done, self._views = [True] * len(self.done), None
        if self._totals:
            self._add_up(self.frame.report)

    def hear(self, speakers: Iterable[int], said: Mapping[int, str]) -> None:
        """Deliver the messages of the agents that act in this step, and clear what they had
        heard."""
        speakers = list(speakers)
        for i in speakers:
            self._turns[i] += 1
        if self._chat is None:
            return
        for i in speakers:
            self._heard[i] = []
        if said:
            for i, messages in self._chat.deliver(self.frame.state, said).items():
                self._heard[i] += [replace(message, step=self.step) for message in messages]
        self._speakers, self._words = speakers, said

    def make(self, rows: np.ndarray) -> Frame:
        """Make one step with an action of each agent, [N, *action_space.shape]."""
        frame = self.frame = self.stepper.step(self.key_data, self.step, self.frame, rows)
        if self._chat is not None:
            self._note(frame)
        self.step += 1
        self._views = None
        report = frame.report
        if report.ends:
            self.done = list(map(any, zip(self.done, report.terminated, report.truncated)))
        if self._totals:
            self._add_up(report)
        return frame

    def _note(self, frame: Frame) -> None:
        """Add what was said in a step to the transcript: free words, or phrases."""
        phrases, names = self.env.said(frame.state), self.env.agents
        said = {i: self._words.get(i) or phrases.get(i, "") for i in self._speakers}
        said = {i: words for i, words in said.items() if words}
        heard: dict[str, list[str]] = {}
        texts = {names[i]: clean(words, _LONGEST) for i, words in said.items()}
        for i, messages in self._chat.deliver(frame.state, said).items() if said else ():
            for message in messages:
                heard.setdefault(message.sender, []).append(names[i])
                texts[message.sender] = message.text  # as it was heard
        for name, text in texts.items():
            if text:
                self._talk.append(Message(name, text, self.step, (name, *heard.get(name, ()))))
        self._speakers, self._words = [], {}

    def _add_up(self, report: Report) -> None:
        self._rewards = list(map(operator.add, self._rewards, report.reward))
        for totals, values in zip(self._terms, report.terms):
            for name, value in values.items():
                totals[name] += value
        for name, value in report.metrics.items():
            self.metrics[name] += value

    def moment(self, turn: Turn | None, seats: Sequence[str], over: bool) -> Moment:
        return Moment(
            self.env,
            self.episode,
            self.seed,
            self.step,
            self.frame,
            turn,
            self.views,
            self.rewards,
            tuple(seats),
            over,
        )

    def result(self, players: Sequence[int]) -> EpisodeResult:
        if self.forfeits:
            ended = "forfeit"
        elif not all(self.done):
            ended = "stopped"
        else:
            ended = "truncated" if any(self.frame.report.truncated) else "terminated"
        return EpisodeResult(
            episode=self.episode,
            seed=self.seed,
            group=self.group,
            member=self.member,
            players=tuple(players),
            steps=self.made,
            ended=ended,
            rewards=tuple(self._rewards),
            terms={name: tuple(own[name] for own in self._terms) for name in self.env.terms},
            metrics=dict(self.metrics),
            illegal=tuple(self.illegal),
            forfeits=tuple(self.env.agents[i] for i in self.forfeits),
        )


def ask_policy(policy: Any, asked: Sequence[tuple[Game, View]]) -> Any:
    """`policy.act` of these views, with the states of their episodes where it needs them."""
    views = [view for _, view in asked]
    if getattr(policy, "needs_state", False):
        return policy.act(views, [game.snapshot() for game, _ in asked])
    return policy.act(views)


def routed(policy: Any, view: View) -> Any:
    """The policy that answers a view: what `policy.route` names, or itself."""
    while hasattr(policy, "route"):
        policy = policy.route(view)
    return policy


def not_legal(action: int) -> str:
    """Why an action of the space is refused."""
    return f"action {action} is not legal now"


def check_action(env: Env, legal: np.ndarray, action: Action) -> Action:
    """`action` in the plain form of the action space: an int, or a NumPy array.

    Args:
        legal: bool[A], the agent's row of `Env.legal`: for `MultiDiscrete` spaces, the masks of the
            components one after the other.

    Raises:
        IllegalAction: it is not in the space, or not legal.
    """
    space = env.action_space
    try:
        given = np.asarray(action)
    except (TypeError, ValueError, OverflowError):
        given = np.asarray(None)
    whole = given.dtype.kind in "iu"
    if isinstance(space, gymnasium.spaces.Discrete):
        first, last = int(space.start), int(space.start + space.n) - 1
        if not (whole and given.shape == () and first <= int(given) <= last):
            raise IllegalAction(
                f"{shorten(action)} is no action; expected words, or a whole number "
                f"from {first} to {last}"
            )
        if not legal[int(given) - first]:
            raise IllegalAction(not_legal(int(given)))
        return int(given)
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        low, high = space.start, space.start + space.nvec - 1
        fits = whole and given.shape == space.shape
        if not (fits and (given >= low).all() and (given <= high).all()):
            raise IllegalAction(
                f"{shorten(action)} is no action; expected words, or whole numbers from "
                f"{low.tolist()} to {high.tolist()}"
            )
        offset = 0
        for size, value in zip(space.nvec.ravel(), (given - low).ravel(), strict=True):
            if not legal[offset + int(value)]:
                raise IllegalAction(f"{given.tolist()} is not legal now")
            offset += int(size)
        return given.astype(space.dtype)
    if isinstance(space, gymnasium.spaces.Box):
        fits = (whole or given.dtype.kind == "f") and given.shape == space.shape
        if fits:
            given = given.astype(space.dtype)
        # A NaN is within no bounds.
        if not (fits and ((given >= space.low) & (given <= space.high)).all()):
            raise IllegalAction(
                f"{shorten(action)} is no action; expected {space.shape} numbers within "
                f"{space.low.tolist()} and {space.high.tolist()}"
            )
        return given
    raise ConfigError(f"actions of {space} cannot be played; use Discrete, MultiDiscrete or Box")
