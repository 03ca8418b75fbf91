"""Belief probes: questions about what an agent knows, asked outside of the game.

`Env.questions` derives them from a state, each with the answer that the agent's knowledge gives and
the one that is true now. `play(probes=)` asks them before the agent answers in the game: a seat
itself, or whoever is named for it. Nothing of it reaches the views, so that a run with probes plays
as one without. Answers are part of the record (`Reply.info["probes"]`).
"""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyhands.core.config import whole
from manyhands.core.env import ConfigError, Env, SeatError, names_of
from manyhands.core.reading.parts import normalise
from manyhands.core.view import BudgetSpent, Reply, View

NOT_KNOWN = "not known"
_LONGEST = 300  # characters of an answer that are recorded


@dataclass(frozen=True)
class Question:
    """A question on a state, with closed answers.

    Attributes:
        text: the question, to the agent.
        options: the possible answers; `NOT_KNOWN` is one where knowledge may not decide.
        believed: the option that the agent's knowledge gives.
        true: the option that is true now.
        kind: what it is about, for tables: questions of one kind are compared with each other.
    """

    text: str
    options: tuple[str, ...]
    believed: str
    true: str
    kind: str = ""

    def __post_init__(self) -> None:
        for name, value in (("believed", self.believed), ("true", self.true)):
            if value not in self.options:
                raise ConfigError(
                    f"{name} is one of the options {', '.join(self.options)}; given {value!r}"
                )

    def read(self, answer: str) -> str | None:
        """The option that an answer names: what follows its last "ANSWER:", else all of it, as the
        words of an option or its number from 1; None if it names none, or more than one."""
        marked = re.findall(r"^\W*ANSWER\s*[:\uff1a](.*)$", answer, re.I | re.M)
        said = _plain(marked[-1] if marked else answer)
        by_words = {_plain(option): option for option in self.options}
        if said in by_words:
            return by_words[said]
        if said.isdecimal() and 0 < int(said) <= len(self.options):
            return self.options[int(said) - 1]
        held = []
        # The words of one option may be part of another's: "cabinet 1", "in the cabinet 1".
        for words in sorted(by_words, key=len, reverse=True):
            said, count = re.subn(rf"(?<!\w){re.escape(words)}(?!\w)", "|", said)
            held += [words] if count else []
        return by_words[held[0]] if len(held) == 1 else None


def _plain(text: str) -> str:
    return normalise(text).strip(" .!\"'`*").lower()


class Ranges:
    """Options for a question about a whole number: each number from `low` to `high`, or, where
    there would be more than `most`, ranges of the same length; and `NOT_KNOWN`.

    Attributes:
        options: in words, "7" or "5 to 9".
    """

    def __init__(self, low: int, high: int, most: int = 12):
        steps = (digit * 10**power for power in range(9) for digit in (1, 2, 5))
        self._step = next(step for step in steps if high // step - low // step < most)
        self._first = low // self._step
        starts = [k * self._step for k in range(self._first, high // self._step + 1)]
        spans = [(max(k, low), min(k + self._step - 1, high)) for k in starts]
        words = [f"{first} to {last}" if first < last else f"{first}" for first, last in spans]
        self.options = (*words, NOT_KNOWN)

    def of(self, number: int) -> str:
        """The option of a number."""
        return self.options[int(number) // self._step - self._first]

    def known(self, least: int, greatest: int) -> str:
        """What is known of a number within these bounds."""
        found = self.of(least)
        return found if found == self.of(greatest) else NOT_KNOWN


@dataclass(frozen=True)
class Answered:
    """A question and its answer.

    Attributes:
        question: the question.
        answer: the option that was named; None where none was.
        said: the answer in words, cut.
        agent: who was asked about.
        episode, step: when.
    """

    question: Question
    answer: str | None
    said: str
    agent: str
    episode: int
    step: int


@dataclass(frozen=True)
class Score:
    """How well the questions of one kind were answered.

    Attributes:
        count: how many.
        believed: the share of answers that the agent's knowledge gives.
        true: the share of answers that are true now.
        knowable: the share of questions whose true answer the agent's knowledge gives: what
            somebody who knows all that the agent was shown can reach.
        unread: the share of answers that named no option.
    """

    count: int
    believed: float
    true: float
    knowable: float
    unread: float


def asks(env: Env) -> bool:
    """Whether an environment has questions at all."""
    return type(env.unwrapped).questions is not Env.questions


class Asker:
    """A function of a `View` and a `Question`, plain or a coroutine function, as one who answers.

    One of your own has the method `probe(views, questions) -> list`, for as many views as
    questions; it may be a coroutine function.
    """

    def __init__(self, function: Callable[[View, Question], Any], name: str = ""):
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self._function = function

    async def probe(self, views: Sequence[View], questions: Sequence[Question]) -> list[Any]:
        found = []
        for view, question in zip(views, questions, strict=True):
            answer = self._function(view, question)
            found.append(await answer if inspect.isawaitable(answer) else answer)
        return found


class Probes:
    """What `play(probes=)` asks.

    Args:
        ask: who answers: a function of a `View` and a `Question`, an object with `probe(views,
            questions)`, or a mapping of these by agent name; None: the seats themselves, those that
            have this method (language models).
        every: ask in each step whose number it divides.
        most: questions to an agent in one step at most, drawn by the agent's seed: one of each kind
            in turn.
        kinds: only questions of these kinds (`Question.kind`); a run warns of those that never came
            up.
        agents: ask only about these; by default about all.

    Attributes:
        answers: all `Answered` of the runs that these probes were given to.
    """

    def __init__(
        self,
        ask: Any = None,
        *,
        every: int = 1,
        most: int = 1,
        kinds: Iterable[str] | None = None,
        agents: Iterable[str] | None = None,
    ):
        self.every = whole("every", every, 1)
        self.most = whole("most", most, 1)
        self.kinds = _names("kinds", kinds)
        self.agents = _names("agents", agents)
        by_agent = isinstance(ask, Mapping)
        self._one = None if by_agent else _who_answers(ask)
        self._ask = {name: _who_answers(one) for name, one in ask.items()} if by_agent else {}
        self.answers: list[Answered] = []
        self._came_up: set[str] = set()

    def about(self) -> dict[str, Any]:
        """What is asked, for the record."""
        found: dict[str, Any] = {"every": self.every, "most": self.most}
        for name in ("kinds", "agents"):
            if getattr(self, name) is not None:
                found[name] = sorted(getattr(self, name))
        return found

    @classmethod
    def of(cls, given: Any, env: Env) -> Probes:
        """What `play(probes=)` was given, checked."""
        found = given if isinstance(given, cls) else cls(None if given is True else given)
        found.check(env)
        return found

    def check(self, env: Env) -> None:
        """That these agents are there."""
        for name in {*(self.agents or ()), *self._ask}:
            if name not in env.agents:
                raise SeatError(f"no agent {name!r} to probe; they are {', '.join(env.agents)}")

    def warn(self) -> None:
        """After a run: of kinds that no question was of, as of a name that is misspelt."""
        missing = (self.kinds or frozenset()) - self._came_up
        if missing and self._came_up:
            warnings.warn(
                f"no question was of the kind {names_of(sorted(missing))}; there were "
                f"{names_of(sorted(self._came_up))}",
                stacklevel=3,
            )

    def drawn(self, view: View, questions: Sequence[Question]) -> list[Question]:
        """The questions that are asked of a view, one of each kind in turn."""
        rng = np.random.default_rng([view.seed, 0x9E3779B9])
        groups: dict[str, list[Question]] = defaultdict(list)
        self._came_up.update(question.kind for question in questions)
        for number in rng.permutation(len(questions)):
            question = questions[int(number)]
            if self.kinds is None or question.kind in self.kinds:
                groups[question.kind].append(question)
        found: list[Question] = []
        while groups and len(found) < self.most:
            for kind in list(groups):
                found.append(groups[kind].pop())
                if not groups[kind]:
                    del groups[kind]
        return found[: self.most]

    async def ask(
        self, game: Any, asked: Sequence[int], seats: Mapping[int, Any]
    ) -> dict[int, list[dict[str, Any]]]:
        """Ask the agents that are to move; what was asked and answered, by agent, for the record.

        Args:
            seats: by agent, the policy that plays it.
        """
        notes: dict[int, list[dict[str, Any]]] = {}
        if game.step % self.every:
            return notes
        for i in asked:
            view = game.views[i]
            if self.agents is not None and view.agent not in self.agents:
                continue
            who = self._ask.get(view.agent, self._one)
            who = who if who is not None else seats[i] if not self._ask else None
            if who is None or not callable(getattr(who, "probe", None)):
                continue
            questions = self.drawn(view, game.env.questions(game.frame.state, i))
            if not questions:
                continue
            try:
                given = who.probe([view] * len(questions), questions)
                given = list(await given if inspect.isawaitable(given) else given)
                if len(given) != len(questions):
                    raise ValueError(f"{len(given)} answers to {len(questions)} questions")
            except BudgetSpent:
                raise
            except Exception as error:
                raise SeatError(
                    f"a probe of {view.agent} failed (episode {game.episode}, step {game.step}): "
                    f"{type(error).__name__}: {error}"
                ) from error
            notes[i] = [
                self._note(view, question, answer)
                for question, answer in zip(questions, given, strict=True)
            ]
        return notes

    def _note(self, view: View, question: Question, given: Any) -> dict[str, Any]:
        reply = given if isinstance(given, Reply) else Reply(given)
        said = "" if reply.action is None else str(reply.action)
        answer = question.read(said)
        short = said.strip()[-_LONGEST:]
        self.answers.append(Answered(question, answer, short, view.agent, view.episode, view.step))
        return {
            "step": view.step,
            "question": question.text,
            "kind": question.kind,
            "options": list(question.options),
            "believed": question.believed,
            "true": question.true,
            "answer": answer,
            "said": short,
            **({"info": reply.info} if reply.info else {}),
        }

    def scores(self) -> dict[str, Score]:
        """`scores` of all answers so far."""
        return scores(self.answers)


def _names(what: str, given: Iterable[str] | None) -> frozenset[str] | None:
    """A set of names; text alone would be one of letters, and nothing would be asked."""
    listed = isinstance(given, Iterable) and not isinstance(given, (str, bytes))
    names = list(given) if given is not None and listed else []
    if not all(isinstance(name, str) for name in names) or not (listed or given is None):
        raise ConfigError(f"{what} is a list of names, given {given!r}")
    return None if given is None else frozenset(names)


def _who_answers(given: Any) -> Any:
    if given is None or callable(getattr(given, "probe", None)):
        return given
    if callable(given) and not isinstance(given, type):
        return Asker(given)
    raise SeatError(
        f"{given!r} answers no questions: expected a function of a view and a question, or an "
        "object with probe(views, questions)"
    )


def scores(answers: Iterable[Answered]) -> dict[str, Score]:
    """`Score` of each kind of question, and of all together under ""."""
    groups: dict[str, list[Answered]] = defaultdict(list)
    for one in answers:
        groups[""].append(one)
        if one.question.kind:
            groups[one.question.kind].append(one)

    def share(flags: Iterable[bool]) -> float:
        return float(np.mean(list(flags)))

    return {
        kind: Score(
            len(group),
            share(one.answer == one.question.believed for one in group),
            share(one.answer == one.question.true for one in group),
            share(one.question.believed == one.question.true for one in group),
            share(one.answer is None for one in group),
        )
        for kind, group in sorted(groups.items())
    }


def read_answers(path: str | os.PathLike[str]) -> list[Answered]:
    """All answers in a record (`play(record=)`)."""
    from manyhands.core.record import read

    found = []
    for episode in read(path):
        for step in episode.steps:
            for i, info in step.turn.info.items():
                for note in info.get("probes", ()):
                    question = Question(
                        note["question"],
                        tuple(note["options"]),
                        note["believed"],
                        note["true"],
                        note["kind"],
                    )
                    agent = episode.agents[i]
                    number = episode.result.episode
                    found.append(
                        Answered(
                            question, note["answer"], note["said"], agent, number, note["step"]
                        )
                    )
    return found
