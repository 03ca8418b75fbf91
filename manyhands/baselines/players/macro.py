"""Players that choose skills, and are queried only when there is something to decide: for policies
that are expensive to query, such as language models.

`persist` is for `Skills`: it repeats the chosen skill until it is done. `embody` seats a player of
`Events` in the wrapped environment, together with players of primitive actions.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.env import Action, Array, ConfigError, IllegalAction
from manyhands.core.episode import EpisodeResult
from manyhands.core.play import end_episode
from manyhands.core.view import Reply, View
from manyhands.wrappers.events import Events
from manyhands.wrappers.skills import Skills


class Macro:
    """A host policy that queries another one, `policy`, for some of its views.

    Attributes:
        policy: the other policy.
        name: its name.
        asked: the number of queries.
    """

    def __init__(self, policy: Any):
        self.policy, self.asked = policy, 0
        self.name = getattr(policy, "name", type(policy).__name__)

    def act(self, views: Sequence[View]) -> Any:
        questions = self.questions(views)
        self.asked += len(questions)
        return self.moves(views, questions, self.policy.act(questions) if questions else [])

    async def ended(self, views: Sequence[View], result: EpisodeResult) -> Any:
        """The end of an episode, passed on."""
        return await end_episode(self.policy, views, result)

    async def aclose(self) -> None:
        """Close what the other policy holds open."""
        if hasattr(self.policy, "aclose"):
            await self.policy.aclose()

    def questions(self, views: Sequence[View]) -> Sequence[View]:
        """The decision to make now."""
        raise NotImplementedError

    def moves(
        self, views: Sequence[View], questions: Sequence[Any], answers: Sequence[Any]
    ) -> list[Any]:
        """An answer to each view, from the answers to the questions."""
        raise NotImplementedError


class _Async:
    """`Macro.act` for a policy whose `act` is a coroutine function."""

    async def act(self: Any, views: Sequence[View]) -> Any:
        questions = self.questions(views)
        self.asked += len(questions)
        answers = await self.policy.act(questions) if questions else []
        return self.moves(views, questions, answers)


# ---- players of skills ---------------------------------------------------------------------------


def persist(policy: Any, env: Skills, patience: int = 25) -> Persist:
    """`policy`, a host policy with a plain or a coroutine `act`, asked only when there is
    something to decide."""
    asynchronous = inspect.iscoroutinefunction(policy.act)
    return (_AsyncPersist if asynchronous else Persist)(policy, env, patience)


class Persist(Macro):
    """Repeats the skill that another policy chose, and queries it again when the skill is done or
    impossible, when a message has arrived, or after `patience` steps. Build it with `persist`."""

    def __init__(self, policy: Any, env: Skills, patience: int = 25):
        super().__init__(policy)
        self.env, self.patience = env, patience
        self._under_way: dict[tuple[int, int], tuple[int, int]] = {}  # -> skill, steps so far

    def questions(self, views: Sequence[View]) -> Sequence[View]:
        return [view for view in views if not self._goes_on(view)]

    def _goes_on(self, view: View) -> bool:
        """Whether the skill under way is repeated."""
        skill, steps = self._under_way.get((view.episode, view.index), (self.env.noop, 0))
        over = self.env.skills.instant[skill] or not view.legal[skill]
        return not (view.turn == 0 or over or view.messages or steps >= self.patience)

    def moves(
        self, views: Sequence[View], questions: Sequence[Any], answers: Sequence[Any]
    ) -> list[Any]:
        fresh = {id(view): answer for view, answer in zip(questions, answers, strict=True)}
        moves = []
        for view in views:
            key = view.episode, view.index
            if id(view) in fresh:
                answer = fresh[id(view)]
                self._under_way[key] = self._chosen(view, answer), 1
            else:
                answer, steps = self._under_way[key]
                self._under_way[key] = answer, steps + 1
            moves.append(answer)
        return moves

    def _chosen(self, view: View, answer: Any) -> int:
        """The skill that an answer names."""
        action = answer.action if isinstance(answer, Reply) else answer
        if isinstance(action, str):
            try:
                action = view.parse(action)
            except IllegalAction:
                action = None
        return self.env.noop if action is None else int(action)


class _AsyncPersist(_Async, Persist):
    pass


# ---- players of events among players of primitive actions ----------------------------------------


class SkillView(View):
    """The view of an agent of `Events`, made from a view in the wrapped environment."""

    def __init__(
        self, events: Events, view: View, news: str, turn: int, current: int | None = None
    ):
        self.become(view, turn)
        self._events, self._news, self._current = events, news, current

    @property
    def legal(self) -> np.ndarray:
        return self._events.can(self.perception)

    @functools.cached_property
    def text(self) -> str:
        return f"{super().text}\n{self._news}"

    @functools.cached_property
    def choices(self) -> list[Choice]:
        return self._events.offers(self.perception)

    @functools.cached_property
    def rules(self) -> str:
        return self._events.manual(super().rules, self.agent)

    def parse(self, text: str) -> Action:
        return self._events.read(text, self.perception, self._current)

    def words(self, action: Action) -> str:
        return self._events.table[int(action)]


@dataclasses.dataclass
class _Body:
    """One agent of one episode: its skill, the steps so far, its last perception, and the number of
    its choices."""

    skill: int
    steps: int
    row: np.ndarray
    turns: int


def embody(policy: Any, events: Events) -> Embodied:
    """`policy`, a host policy for `events` (an agent each), as a policy for the wrapped
    environment,
    together with any other players: it is queried at every event, and its skill runs in between."""
    asynchronous = inspect.iscoroutinefunction(policy.act)
    return (_AsyncEmbodied if asynchronous else Embodied)(policy, events)


class Embodied(Macro):
    """A host policy that chooses a skill at every event, and follows it. Build it with `embody`.

    An answer that names no possible skill plays the skill that does nothing until the next event;
    the reason is in `Reply.info["refused"]`.
    """

    def __init__(self, policy: Any, events: Events):
        if events.per != "agent":
            raise ConfigError("an embodied player chooses for one agent; give Events(per='agent')")
        super().__init__(policy)
        self.events = events
        self._bodies: dict[tuple[int, int], _Body] = {}
        skills = events.skills

        def happened(before: Array, row: Array) -> Array:
            return skills.event(skills.parse_observation(before), skills.parse_observation(row))

        def follow(row: Array, skill: Array) -> Array:
            return skills.follow(skills.parse_observation(row), skills.order(skill))

        self._event, self._follow = jax.jit(happened), jax.jit(follow)

    def questions(self, views: Sequence[View]) -> Sequence[View]:
        asked = []
        for view in views:
            body = self._bodies.get((view.episode, view.index))
            if view.turn == 0 or body is None:
                news, turn, current = self.events.news(0, 0, 0), 0, None
            else:
                event = int(self._event(body.row, view.perception))
                if not event and body.steps < self.events.patience and not view.messages:
                    continue
                news = self.events.news(event, body.steps, body.skill)
                turn, current = body.turns, body.skill
            asked.append(SkillView(self.events, view, news, turn, current))
        return asked

    def moves(
        self, views: Sequence[View], questions: Sequence[Any], answers: Sequence[Any]
    ) -> list[Any]:
        said: dict[tuple[int, int], Reply] = {}
        for choosing, answer in zip(questions, answers, strict=True):
            reply = answer if isinstance(answer, Reply) else Reply(answer)
            skill, info = self.events.skills.wait, dict(reply.info)
            try:
                if reply.action is None:
                    raise IllegalAction(reply.error or "no action was given")
                named = reply.action
                skill = int(choosing.parse(named) if isinstance(named, str) else named)
                if not (0 <= skill < len(self.events.table) and choosing.legal[skill]):
                    raise IllegalAction(f"{named!r} is no skill that is possible now")
            except IllegalAction as error:
                skill = self.events.skills.wait
                info["refused"] = error.reason
            key = choosing.episode, choosing.index
            self._bodies[key] = _Body(skill, 0, choosing.perception, choosing.turn + 1)
            info["skill"] = self.events.table[skill]
            said[key] = Reply(None, reply.say, None, info)
        moves = []
        for view in views:
            key = view.episode, view.index
            body = self._bodies[key]
            body.row, body.steps = view.perception, body.steps + 1
            action = np.asarray(self._follow(view.perception, body.skill))
            reply = said.get(key, Reply(None))
            moves.append(Reply(action, reply.say, None, reply.info))
        return moves


class _AsyncEmbodied(_Async, Embodied):
    pass
