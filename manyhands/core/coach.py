"""Coaches and judges beside the seats of `play`: advice before an answer, a verdict on it after.

A coach reads what its agent reads, and nothing else. What it did is part of the record
(`Reply.info["coach"]`) and of exports; the actions of the record are what was played in the end, so
that records are replayed without a coach.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manyhands.core.config import number
from manyhands.core.env import (
    ConfigError,
    Env,
    IllegalAction,
    SeatError,
    is_device_policy,
    shorten,
)
from manyhands.core.view import BudgetSpent, Reply, View

_LONGEST = 4000  # characters of advice, or of a reason, that are shown and recorded


@dataclass(frozen=True)
class Verdict:
    """What a judge says of an answer.

    Attributes:
        score: a number for the record, on a scale of the judge's own; None: no score.
        veto: why the answer is refused. The agent is asked once more, with the reason as advice;
            its second answer stands. None: the answer is played.
    """

    score: float | None = None
    veto: str | None = None


class Coach:
    """A coach made of functions, each plain or a coroutine function.

    Args:
        advise: of a `View`: the advice in words, or None.
        judge: of a `View` and the answer in words: a `Verdict`, a number (the score), a string (the
            reason of a veto), or None.
        name: in records.

    A coach of your own has one or both of these methods, for many views at once:
    `advise(views) -> list` and `judge(views, answers) -> list`.
    """

    def __init__(
        self,
        advise: Callable[[View], Any] | None = None,
        judge: Callable[[View, str], Any] | None = None,
        name: str = "coach",
    ):
        if advise is None and judge is None:
            raise SeatError("a coach has a function `advise`, a function `judge`, or both")
        for one in (advise, judge):
            if one is not None and not callable(one):
                raise SeatError(f"`advise` and `judge` are functions, given {shorten(one)}")
        self.name = name
        if advise is not None:
            self.advise = _each(advise)
        if judge is not None:
            self.judge = _each(judge)


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one view, for lists."""
    if inspect.iscoroutinefunction(function):

        async def wait(*columns: Sequence[Any]) -> list[Any]:
            return [await function(*row) for row in zip(*columns, strict=True)]

        return wait
    return lambda *columns: [function(*row) for row in zip(*columns, strict=True)]


class _Asked:
    """A method of a coach as a policy, so that the loop asks it for many episodes at once."""

    def __init__(self, act: Callable[..., Any]):
        self.act = act


def _pairs(judge: Callable[..., Any]) -> Callable[..., Any]:
    """`judge(views, answers)` as a function of pairs."""
    if inspect.iscoroutinefunction(judge):

        async def wait(pairs: Sequence[tuple[View, str]]) -> Any:
            return await judge([view for view, _ in pairs], [answer for _, answer in pairs])

        return wait
    return lambda pairs: judge([view for view, _ in pairs], [answer for _, answer in pairs])


class _Seated:
    """The coach of one agent: who is asked for advice, and who for a verdict."""

    def __init__(self, env: Env, given: Any, policy_of: Callable[[Env, Any], tuple[Any, str]]):
        self.policy, self.advisor, self.judge = given, None, None
        asked = [getattr(given, name, None) for name in ("advise", "judge")]
        if not isinstance(given, str) and any(map(callable, asked)):
            name = getattr(given, "name", None)
            self.name = name if isinstance(name, str) else type(given).__name__
            advise, judge = asked
            self.advisor = _Asked(advise) if callable(advise) else None
            self.judge = _Asked(_pairs(judge)) if callable(judge) else None
        else:
            self.policy, self.name = policy_of(env, given)
            self.advisor = self.policy


class Coaches:
    """The coaches of a run (`play(coach=)`).

    Args:
        given: one for all agents, or a mapping by agent name: a `Coach`, an object with `advise`
            or `judge`, or a seat, whose answer in words is the advice.
        policy_of: `seat_policy` of the loop.

    Attributes:
        names: of the coaches by agent, for the record.
    """

    def __init__(self, env: Env, given: Any, policy_of: Callable[[Env, Any], tuple[Any, str]]):
        self._env = env
        if not isinstance(given, Mapping):
            one = _Seated(env, given, policy_of)
            self._by_agent = dict.fromkeys(env.agents, one)
        else:
            unknown = [name for name in given if name not in env.agents]
            if unknown or not given:
                raise SeatError(
                    f"coaches are given by agent, one or more of {', '.join(env.agents)}; given "
                    f"{', '.join(map(str, given)) or 'none'}"
                )
            self._by_agent = {name: _Seated(env, one, policy_of) for name, one in given.items()}
        self.names = {name: one.name for name, one in self._by_agent.items()}

    @property
    def policies(self) -> list[Any]:
        """The coaches, for `aclose`."""
        return [one.policy for one in self._by_agent.values()]

    async def advise(self, game: Any, asked: Sequence[int], query: Any) -> dict[int, Any]:
        """Put advice into the views of the agents that are to move (`View.advice`).

        Args:
            query: f(policy, game, view) -> an awaitable answer.

        Returns:
            What was done, by agent, for the record.
        """
        waiting = {}
        for i in asked:
            coach = self._by_agent.get(self._env.agents[i])
            if coach is not None and coach.advisor is not None:
                waiting[i] = query(coach.advisor, game, game.views[i])
        notes: dict[int, Any] = {}
        for i, answer in (await self._all(waiting, game)).items():
            view = game.views[i]
            advice = self._advice(view, answer)
            if advice:
                view.advice = advice
                notes[i] = {"advice": advice}
                if getattr(self._by_agent[view.agent].advisor, "needs_state", False):
                    notes[i]["true_state"] = True
        return notes

    async def judge(
        self, game: Any, replies: Mapping[int, Reply], query: Any, notes: dict[int, Any]
    ) -> list[int]:
        """Have answers judged: scores and vetoes are added to `notes`.

        Returns:
            The agents to ask again: their views hold the reason as advice.
        """
        waiting, words = {}, {}
        for i, reply in replies.items():
            coach = self._by_agent.get(self._env.agents[i])
            if coach is None or coach.judge is None:
                continue
            answer = answer_words(game, i, reply)
            if answer is not None:  # an illegal answer is the loop's to refuse
                words[i] = answer
                waiting[i] = query(coach.judge, game, (game.views[i], answer))
        again = []
        for i, given in (await self._all(waiting, game)).items():
            verdict = self._verdict(given, i)
            note = notes.setdefault(i, {})
            if verdict.score is not None:
                note["score"] = verdict.score
            if verdict.veto is not None and "veto" not in note:
                reason = verdict.veto.strip()[:_LONGEST] or "no reason was given"
                note |= {"veto": reason, "refused": words[i]}
                game.views[i].advice = heard(note)
                again.append(i)
        return again

    async def _all(self, waiting: Mapping[int, Awaitable[Any]], game: Any) -> dict[int, Any]:
        found = {}
        for i, future in waiting.items():
            try:
                found[i] = await future
            except BudgetSpent:
                raise
            except Exception as error:
                name = self._env.agents[i]
                raise SeatError(
                    f"the coach {self.names[name]!r} of {name} failed (episode {game.episode}, "
                    f"step {game.step}): {type(error).__name__}: {error}"
                ) from error
        return found

    def _advice(self, view: View, answer: Any) -> str:
        """The advice in an answer: words as they are, an action in the words of the choices."""
        if isinstance(answer, Reply):
            answer = answer.action
        if answer is None:
            return ""
        if not isinstance(answer, str):
            try:
                answer = view.words(answer)
            except (TypeError, ValueError, IndexError):
                raise SeatError(
                    f"the coach of {view.agent} gave {shorten(answer)} as advice; expected words, "
                    "an action, a Reply of one of these, or None"
                ) from None
        return answer.strip()[:_LONGEST]

    def _verdict(self, given: Any, index: int) -> Verdict:
        if given is None:
            return Verdict()
        if isinstance(given, str):
            return Verdict(veto=given)
        found = given if isinstance(given, Verdict) else Verdict(score=given)
        score: Any = found.score
        if hasattr(score, "item") and score.ndim == 0:  # of an array
            score = score.item()
        try:
            if score is not None:  # NaN would make a record that cannot be read
                found = Verdict(number("score", score), found.veto)
        except ConfigError as error:
            if isinstance(given, (Verdict, numbers.Real)) and not isinstance(given, bool):
                raise SeatError(
                    f"the judge of {self._env.agents[index]} gave a score that is none: {error}"
                ) from None
        else:
            if found.veto is None or isinstance(found.veto, str):
                return found
        raise SeatError(
            f"the judge of {self._env.agents[index]} gave {shorten(given)}; expected a Verdict, a "
            "number (a score), a string (the reason of a veto), or None"
        )


def heard(note: Mapping[str, Any]) -> str:
    """What an agent was told in a turn (`View.advice`), from the note of it in a record."""
    parts = [str(note["advice"])] if note.get("advice") else []
    if "veto" in note:
        parts.append(f'Your answer "{note.get("refused", "")}" was refused: {note["veto"]}')
    return "\n".join(parts)


def answer_words(game: Any, index: int, reply: Reply) -> str | None:
    """A legal answer in words; None for an illegal one."""
    try:
        action = game.read(index, reply.action, reply.say)
    except IllegalAction:
        return None
    return reply.action if isinstance(reply.action, str) else game.views[index].words(action)


def deaf(policy: Any) -> bool:
    """Whether a policy cannot hear a veto: a device policy reads no words."""
    return is_device_policy(policy)


def shown(advice: str) -> str:
    """Advice as a prompt shows it."""
    return f"ADVICE (of your coach; you decide)\n{advice}\nEND OF ADVICE"
