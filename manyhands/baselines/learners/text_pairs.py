"""Questions with their answers, equal ones together, in chunks that a network reads at once."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from manyhands.baselines.learners import text_network as tn
from manyhands.baselines.players import text_policy as words
from manyhands.baselines.players.text_policy import Question


class Room(NamedTuple):
    """The sizes to which the arrays of chunks are filled up, few, as each is compiled for itself.

    Attributes:
        prompts, answers: how many there are.
        lengths: of prompts, in tokens: the usual one and the longest.
        length: of answers.
    """

    prompts: int
    answers: int
    lengths: tuple[int, int]
    length: int


@dataclasses.dataclass
class Pairs:
    """Different questions, and different answers to them with sums over their occurrences.

    Attributes:
        questions: P of them.
        owner, answers: of the A answers, with their ends.
        sums: f64[A, 4]: occurrences, the sums of the advantages above 0 and of those below (without
            their signs), and of the returns.
    """

    questions: list[Question]
    owner: list[int]
    answers: list[tuple[int, ...]]
    sums: np.ndarray
    room: Room | None = None

    def chunks(self, size: int, rng: np.random.Generator | None = None) -> Iterator[Pairs]:
        """Of at most `size` questions each, those of like length together.

        With `rng` they are drawn: the questions in an order of their own, with only those of 8
        chunks sorted by length, and frequent ones more often (`repeats`) for less each.
        """
        times = np.ones(len(self.questions), int) if rng is None else self.repeats()
        order = np.repeat(np.arange(len(times)), times)
        window = max(len(order), 1)
        if rng is not None:
            order, window = rng.permutation(order), 8 * size
        own: dict[int, list[int]] = defaultdict(list)
        for a, q in enumerate(self.owner):
            own[q].append(a)
        parts = []
        for first in range(0, len(order), window):
            near = order[first : first + window].tolist()
            near.sort(key=lambda q: len(self.questions[q].prompt))
            parts += [near[start : start + size] for start in range(0, len(near), size)]
        if rng is not None:
            parts = [parts[k] for k in rng.permutation(len(parts))]
        if not parts:
            return
        room = self._room(min(size, len(order)), max(sum(len(own[q]) for q in p) for p in parts))
        for part in parts:
            answers = [a for q in part for a in own[q]]
            owner = [k for k, q in enumerate(part) for _ in own[q]]
            share = times[[self.owner[a] for a in answers]]
            yield Pairs(
                [self.questions[q] for q in part],
                owner,
                [self.answers[a] for a in answers],
                self.sums[answers] / share[:, None],
                room,
            )

    def _room(self, prompts: int, answers: int) -> Room:
        lengths = np.array([len(question.prompt) for question in self.questions])
        usual, longest = (
            tn.size_for(int(n), tn.LENGTHS) for n in (np.quantile(lengths, 0.9), lengths.max())
        )
        return Room(
            tn.size_for(prompts, tn.ROWS),
            tn.size_for(answers, tn.ANSWERS),
            (usual, longest),
            tn.size_for(max(map(len, self.answers)), tn.SHORT),
        )

    def repeats(self) -> np.ndarray:
        """i64[P]: how often an epoch shows a question: by its occurrences, as multiples of the
        median question's, from 1 to 32."""
        counts = np.bincount(self.owner, self.sums[:, 0], len(self.questions))
        return np.clip(np.rint(counts / np.median(counts)), 1, 32).astype(int)

    def arrays(self) -> tuple[Any, ...]:
        """(systems, which, prompts, owner, answers, sums), padded."""
        room = self.room or self._room(len(self.questions), len(self.answers))
        rows = [list(answer) for answer in self.answers]
        answers = tn.padded(rows, (room.length,), (room.answers,))
        fill = len(answers) - len(self.owner)
        answers[len(self.owner) :] = 0
        owner = np.array(self.owner + [0] * fill, np.int32)
        sums = np.concatenate([self.sums, np.zeros((fill, self.sums.shape[1]))])
        texts = words.packed(self.questions, room.lengths, (room.prompts,))
        return (*texts, owner, answers, sums.astype(np.float32))


def paired(rows: Sequence[tuple[Question, tuple[int, ...], Sequence[float]]]) -> Pairs:
    """Equal answers to equal questions, with the sums of what belongs to each."""
    questions: dict[Question, int] = {}
    pairs: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}
    for question, answer, values in rows:
        key = questions.setdefault(question, len(questions)), answer
        pairs[key] = pairs.get(key, 0.0) + np.asarray(values, np.float64)
    return Pairs(
        list(questions),
        [question for question, _ in pairs],
        [answer for _, answer in pairs],
        np.array(list(pairs.values())).reshape(len(pairs), -1),
    )
