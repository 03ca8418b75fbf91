"""Checks of questions about what agents know (`Env.questions`, `core/probes.py`)."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from manyhands.core.env import describe_with, episode_key
from manyhands.core.pack import Frame, restore, snapshot, stepper
from manyhands.core.play import play as play_episodes
from manyhands.core.probes import Probes, Question
from manyhands.testing.random_play import SEED, Play, fail, random_actions

_DEALS, _FORKS = 12, 4  # first states, and other futures of a state, that are compared
_AHEAD = 3  # steps of those


def check_questions(play: Play) -> None:
    """Questions are well formed; asking them changes neither state nor play; and what an agent is
    asked, and the answers that its knowledge gives, follow from what it is shown: they are the same
    in states that it cannot tell apart."""
    env = play.env
    asked = False
    for t, i in itertools.product(range(0, len(play.frames), 5), range(env.num_agents)):
        state, where = play.frames[t].state, f"agent {env.agents[i]}, step {t}"
        before, luck = snapshot(env, state), (random.getstate(), np.random.get_state())
        found = env.questions(state, i)
        if snapshot(env, state) != before:
            fail(f"questions: {where}: asking changes the state; only read it")
        after = random.getstate(), np.random.get_state()
        if repr(after) != repr(luck):
            fail(f"questions: {where}: asking draws global random numbers; questions are fixed")
        if found != env.questions(restore(env, before), env.agents[i]):
            fail(f"questions: {where}: not the same for equal states, or by name and by index")
        _well_formed(found, where)
        asked = asked or bool(found)
    if not asked:
        return
    for i, states in lookalikes(play):
        first, *others = (_known(env.questions(state, i)) for state in states)
        for other in others:
            for one, two in itertools.zip_longest(first, other):
                if one != two:
                    fail(
                        f"questions: agent {env.agents[i]}: {one} in one state, {two} in another "
                        "that it cannot tell apart, by its perception and its full text; derive "
                        "questions, their options and `believed` from what the agent knows alone"
                    )
    _asked_outside(play)


def _well_formed(found: list[Question], where: str) -> None:
    texts = [question.text for question in found]
    for text in texts:
        if texts.count(text) > 1:
            fail(f"questions: {where}: {text!r} twice")
    for question in found:
        name = f"questions: {where}: {question.text!r}"
        if not question.text.endswith("?") or not question.kind:
            fail(f"{name}, kind {question.kind!r}: ends with a question mark, and has a kind")
        if len(question.options) < 2 or len(set(question.options)) < len(question.options):
            fail(f"{name}: options {question.options}: two or more different ones")
        for option in question.options:
            for answer in (option, f"I think so.\nANSWER: {option}"):
                if question.read(answer) != option:
                    fail(f"{name}: {answer!r} is read as {question.read(answer)!r}, not {option!r}")


def _known(found: list[Question]) -> list[tuple[str, tuple[str, ...], str, str]]:
    """All of questions that an agent's knowledge decides."""
    return [(q.text, q.options, q.believed, q.kind) for q in found]


def lookalikes(play: Play) -> Iterator[tuple[int, list[Any]]]:
    """(agent, different states that it cannot tell apart, by its perception, legal actions and full
    text): among first states of other seeds, and among states up to three steps after one in `play`
    where the agent does the same and the others, and chance, do not."""
    env, draws = play.env, np.random.default_rng(SEED)
    firsts = [stepper(env).reset(episode_key(SEED + deal)) for deal in range(_DEALS)]
    for i in range(env.num_agents):
        yield from _alike(play, i, firsts)
        for t in range(0, len(play.actions) - _AHEAD, 4):
            nexts = [play.frames[t]] * _FORKS
            for s in range(t, t + _AHEAD):
                for fork, frame in enumerate(nexts):
                    if frame.over:
                        continue
                    rows = random_actions(env, frame)
                    rows[i] = play.actions[s][i]
                    key = draws.integers(0, 2**32, 2, np.uint32)
                    nexts[fork] = stepper(env).step(key, s, frame.state, rows)
                yield from _alike(play, i, nexts)


def _alike(play: Play, i: int, frames: list[Frame]) -> Iterator[tuple[int, list[Any]]]:
    env = play.env
    groups: dict[Any, dict[bytes, Any]] = defaultdict(dict)
    for frame in frames:
        shown = np.ascontiguousarray(np.asarray(frame.perception)[i]).tobytes()
        text = describe_with(env, frame.state, i, "full")
        own = (shown, frame.legal[i].tobytes(), bool(frame.acting[i]), text)
        groups[own].setdefault(snapshot(env, frame.state), frame.state)
    for states in groups.values():
        if len(states) > 1:
            yield i, list(states.values())


def _asked_outside(play: Play) -> None:
    """A run with probes plays as one without."""
    runs = []
    for probes in (None, Probes(lambda view, question: question.believed, most=3)):
        result = play_episodes(
            play.env, "random", 1, seed=SEED, max_steps=8, progress=False, probes=probes
        )
        runs.append((result.rewards.tolist(), [episode.steps for episode in result.episodes]))
    if runs[0] != runs[1]:
        fail(f"questions: rewards and steps are {runs[1]} with probes, {runs[0]} without")
