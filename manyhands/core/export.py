"""Exports of records: conversations for training language models, arrays for offline learning."""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from manyhands.core.coach import heard, shown
from manyhands.core.env import ConfigError, Env, RecordError
from manyhands.core.episode import Moment, Turn
from manyhands.core.files import replacing
from manyhands.core.pack import full_actions
from manyhands.core.record import Episode, PathLike, frames, plain, read
from manyhands.core.registry import from_spec
from manyhands.core.view import View


def export_chat(path: PathLike, out: PathLike) -> int:
    """Write a record as conversations, one line of JSON for each agent of each episode.

    A line has `messages`: the rules (system), then for each turn of the agent its input (user: the
    text observation, messages, choices) and its answer (assistant: the raw reply if the seat
    recorded it, else the words of the answer, else the action in words). For each answer there is
    one entry in:

    - `turns`: number of its step, from 0 (a fork continues from the clock of its state); `actions`:
      the action that was played;
    - `legal`: the legal action numbers (a list for each part where actions have several), and
      `choices`, in words;
    - `parse`: "ok" or the error, and `retries`: the number of answers of this turn that were
      refused before it, if the seat recorded its attempts;
    - `rewards`: the agent's reward until its next turn;
    - `anchors`: `View.anchor`, the fingerprint of what the agent knew, messages included;
    - `advice` that a coach gave (`play(coach=)`), and the reason of its `vetoes`, each "" if there
      was none (both are part of the input), and the `scores` of judges, null if there was none.

    Of the whole episode: `total` (the agent's return, the price of a forfeit included), `payoffs`
    (every agent's, in the order of `agents`), `ended`, `forfeits` (agents that forfeited) and
    `illegal` (answers of each agent that were refused); the role, `agent` and `agent_index`;
    the seat that played it, `seat` and `seat_index`; `episode`, `seed`, `group` and `member`
    (`play(group=)`); and the game, `env`: its `spec` as JSON text, so that the files of several
    games load into one table. It holds no private information of other agents, nor a hash of it;
    but the seed reproduces the deal, so keep it out of prompts.

    `baselines/learners/advantages.py` computes advantages from such a file alone.

    Returns:
        The number of lines written.
    """
    count = 0
    with export_file(path, out) as file:
        for episode in read(path):
            env = episode.env()
            result = episode.result
            talks = [_Conversation(env, i) for i in range(env.num_agents)]
            for before, after in _pairs(episode, env):
                assert after.turn is not None
                for talk in talks:
                    talk.add(before, after)
            for i, talk in enumerate(talks):
                body = {
                    "messages": talk.messages,
                    **talk.answers,
                    "total": result.rewards[i],
                    "payoffs": result.rewards,
                    "ended": result.ended,
                    "forfeits": result.forfeits,
                    "illegal": result.illegal,
                    "agents": env.agents,
                    "agent": env.agents[i],
                    "agent_index": i,
                    "seat": episode.players[i],
                    "seat_index": result.players[i],
                    "episode": result.episode,
                    "seed": result.seed,
                    "group": result.group,
                    "member": result.member,
                    "env": json.dumps(episode.spec),
                }
                file.write(json.dumps(plain(body)) + "\n")
                count += 1
    return count


class _Conversation:
    """The inputs and answers of one agent in an episode."""

    def __init__(self, env: Env, index: int):
        self._env, self._index = env, index
        self.messages = [{"role": "system", "content": env.rules(index)}]
        names = "turns actions legal choices parse retries rewards anchors advice vetoes scores"
        self.answers: dict[str, list[Any]] = {name: [] for name in names.split()}

    def add(self, before: Moment, after: Moment) -> None:
        i, turn = self._index, after.turn
        assert turn is not None
        if i in turn.actions:
            view = before.views[i]
            raw, status = answered(view, turn)
            note = coached(turn, i)
            self.messages += [
                {"role": "user", "content": prompt_of(view, heard(note))},
                {"role": "assistant", "content": raw},
            ]
            noted = {
                "turns": view.step,
                "actions": plain(turn.actions[i]),
                "legal": _legal_numbers(self._env, view.legal),
                "choices": view.choices,
                "parse": status,
                "retries": _retries(turn, i),
                "rewards": 0.0,
                "anchors": view.anchor,
                "advice": str(note.get("advice", "")),
                "vetoes": str(note.get("veto", "")),
                "scores": _score(note),
            }
            for name, value in noted.items():
                self.answers[name].append(value)
        rewards = self.answers["rewards"]
        if rewards:
            rewards[-1] += float(after.frame.reward[i])


def export_pairs(path: PathLike, out: PathLike, gap: float = 0.0) -> int:
    """Write a record as pairs of answers for preference learning (DPO: Rafailov et al. 2023), one
    line of JSON each.

    Siblings are answers of one agent to the same input in episodes of the same start: members of a
    group (`play(group=)`), forks of one state (`play(fork=)`), or episodes dealt the same. The
    input is the same if `View.anchor` and the prompt are. For each input the answers are sorted by
    the action that was played; an action is worth the mean return of its siblings from the answer
    on. The best one is paired with each that is worth less by more than `gap`; refused answers can
    only be rejected.

    A line has `prompt` (the rules and the input, as chat messages), `chosen` and `rejected` (a list
    with the answer as a message each), as TRL's trainers read them; and `chosen_return` and
    `rejected_return`, `chosen_count` and `rejected_count` (how many siblings played them), `agent`,
    `turn` (number of the step), `anchor`, `episodes` (their numbers, of the two answers shown), and
    `env`, the game's `spec` as JSON text.

    Returns:
        The number of lines written.
    """
    if isinstance(gap, bool) or not isinstance(gap, (int, float)) or not gap >= 0:
        raise ConfigError(f"gap is a number from 0, given {gap!r}")
    groups: dict[Any, list[_Sibling]] = {}
    for episode in read(path):
        env = episode.env()
        spec = json.dumps(episode.spec)
        talks = [_Conversation(env, i) for i in range(env.num_agents)]
        for before, after in _pairs(episode, env):
            for talk in talks:
                talk.add(before, after)
        for i, talk in enumerate(talks):
            togo = np.cumsum(talk.answers["rewards"][::-1])[::-1]
            for k, anchor in enumerate(talk.answers["anchors"]):
                user, said = talk.messages[1 + 2 * k], talk.messages[2 + 2 * k]
                refused = talk.answers["parse"][k] != "ok"
                key = spec, episode.start, i, anchor, user["content"]
                groups.setdefault(key, []).append(
                    _Sibling(
                        json.dumps(None if refused else talk.answers["actions"][k]),
                        refused,
                        said,
                        float(togo[k]),
                        episode.result.episode,
                        talk.answers["turns"][k],
                        talk.messages[0],
                    )
                )
    count = 0
    with export_file(path, out) as file:
        for (spec, _, i, anchor, user), siblings in groups.items():
            for better, worse in _ranked(siblings, gap):
                body = {
                    "prompt": [better[0].system, {"role": "user", "content": user}],
                    "chosen": [better[0].message],
                    "rejected": [worse[0].message],
                    "chosen_return": _mean(better),
                    "rejected_return": _mean(worse),
                    "chosen_count": len(better),
                    "rejected_count": len(worse),
                    "agent": _agents_of(spec)[i],
                    "turn": better[0].turn,
                    "anchor": anchor,
                    "episodes": [better[0].episode, worse[0].episode],
                    "env": spec,
                }
                file.write(json.dumps(plain(body)) + "\n")
                count += 1
    return count


@dataclass(frozen=True)
class _Sibling:
    """One of several answers to the same input."""

    action: str  # as JSON; "null" where it was refused
    refused: bool
    message: dict[str, str]
    togo: float  # the return from it on
    episode: int
    turn: int
    system: dict[str, str]


def _ranked(
    siblings: list[_Sibling], gap: float
) -> Iterator[tuple[list[_Sibling], list[_Sibling]]]:
    """The siblings of the best action with those of each action that is worth less."""
    played: dict[str, list[_Sibling]] = {}
    for one in siblings:
        played.setdefault(one.action, []).append(one)
    legal = [group for group in played.values() if not group[0].refused]
    if not legal or len(played) < 2:
        return
    best = max(legal, key=_mean)
    for group in played.values():
        if group is not best and _mean(best) - _mean(group) > gap:
            yield best, group


def _mean(siblings: list[_Sibling]) -> float:
    return sum(one.togo for one in siblings) / len(siblings)


@functools.lru_cache(maxsize=16)
def _agents_of(spec: str) -> tuple[str, ...]:
    return from_spec(json.loads(spec)).agents


def _retries(turn: Turn, index: int) -> int:
    """How many answers of this turn were refused before the last, as far as the seat noted."""
    attempts = turn.info.get(index, {}).get("attempts")
    return max(len(attempts) - 1, 0) if isinstance(attempts, list) else 0


def answered(view: View, turn: Turn) -> tuple[str, str]:
    """An agent's answer as text (the raw reply if the seat recorded it, else the words of the
    answer, else the action in words), and "ok" or why it was refused."""
    i = view.index
    attempts = turn.info.get(i, {}).get("attempts")
    last = attempts[-1] if isinstance(attempts, list) and attempts else {}
    last = last if isinstance(last, dict) else {}
    raw = last.get("reply")
    if not (isinstance(raw, str) and raw):
        raw = turn.answers.get(i)
        if raw is None:
            refused = i in turn.illegal
            raw = "" if refused else view.words(turn.actions[i])
        if i in turn.said:
            raw += f"\nSAY: {turn.said[i]}"
    return raw, str(last.get("status", "illegal")) if i in turn.illegal else "ok"


def coached(turn: Turn, index: int) -> dict[str, Any]:
    """What a coach did for an agent in a turn (`core/coach.py`): advice, veto, refused, score."""
    note = turn.info.get(index, {}).get("coach")
    return note if isinstance(note, dict) else {}


def _score(note: dict[str, Any]) -> float | None:
    score = note.get("score")
    return float(score) if isinstance(score, (int, float)) else None


def prompt_of(view: View, advice: str = "") -> str:
    """What an agent reads at a turn, as exports write it."""
    parts = [view.text]
    parts += [f"{m.sender} says: {json.dumps(m.text)}" for m in view.untold(view.text)]
    if view.choices:
        parts.append("You may:\n" + "\n".join(f"- {choice}" for choice in view.choices))
    if advice:
        parts.append(shown(advice))
    return "\n\n".join(parts)


def _legal_numbers(env: Env, legal: np.ndarray) -> list[Any]:
    space = env.action_space
    if isinstance(space, gymnasium.spaces.Discrete):
        return (np.flatnonzero(legal) + int(space.start)).tolist()
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        parts = np.split(legal, np.cumsum(space.nvec.ravel())[:-1])
        starts = space.start.ravel()
        return [(np.flatnonzero(p) + int(s)).tolist() for p, s in zip(parts, starts, strict=True)]
    return []


def export_arrays(path: PathLike, out: PathLike) -> int:
    """Write a record as a compressed `.npz`, for offline learning.

    All episodes must be of one environment. With S steps in all, E episodes and N agents:

    - `observations` [S, N, ...], `masks` bool[S, N, A], `acting` bool[S, N]: before each step;
    - `actions` [S, N, ...]: the actions played, `env.noop` for agents that were not to move;
    - `rewards` f32[S, N], `terminated` bool[S, N], `truncated` bool[S, N]: of the step. In an
      episode that `max_steps` stopped, the last step counts as truncated; in a forfeited one, as
      terminated;
    - `final_observations` [E, N, ...], `final_masks` bool[E, N, A]: after the last step;
    - `turns` i64[S]: number of the step, from 0 (a fork continues from the clock of its state);
      `anchors` U32[S, N]: `View.anchor` of agents that acted, "" for others;
    - `illegal` bool[S, N]: where an answer was refused and `env.noop` played; `retries` i64[S, N]:
      how many were refused before it, if the seat recorded its attempts;
    - `lengths` i64[E]: steps of each episode, in order, so that the first one's rows are
      `[:lengths[0]]`; `episodes` i64[E], `seeds` i64[E]: its number and its seed; `groups` i64[E],
      `members` i64[E]: as in `play(group=)`;
    - `payoffs` f64[E, N]: returns; `forfeits` bool[E, N]; `seats` [E, N]: the names
      of the seats that played the agents;
    - `agents`: the N names; `env`: the environment's `spec` as JSON.

    Returns:
        S.
    """
    env: Env | None = None
    names = "observations masks acting actions rewards terminated truncated"
    names += " turns anchors illegal retries"
    rows: dict[str, list[np.ndarray]] = {name: [] for name in names.split()}
    rows |= {"final_observations": [], "final_masks": []}
    lengths, results, seats = [], [], []
    for episode in read(path):
        env = episode.env() if env is None else env
        if json.dumps(episode.spec) != json.dumps(env.spec()):
            raise RecordError(
                f"line {episode.line}: another environment than the episodes before it; "
                "export one environment at a time"
            )
        last: Moment | None = None
        length = 0
        for moment in frames(episode, env):
            turn = moment.turn
            if turn is not None and not turn.forfeits:
                assert last is not None
                agents = range(env.num_agents)
                anchors = [last.views[i].anchor if i in turn.actions else "" for i in agents]
                rows["observations"].append(last.frame.vector)
                rows["masks"].append(last.frame.legal)
                rows["acting"].append(last.frame.acting)
                rows["actions"].append(full_actions(env, turn.actions))
                rows["rewards"].append(moment.frame.reward)
                rows["terminated"].append(moment.frame.terminated)
                rows["truncated"].append(moment.frame.truncated)
                rows["turns"].append(np.array(last.step, np.int64))
                rows["anchors"].append(np.array(anchors, "U32"))
                rows["illegal"].append(np.array([i in turn.illegal for i in agents]))
                rows["retries"].append(np.array([_retries(turn, i) for i in agents], np.int64))
                length += 1
            last = moment
        assert last is not None
        ending = {"stopped": "truncated", "forfeit": "terminated"}.get(episode.result.ended)
        if ending and length:
            rows[ending][-1] = np.ones(env.num_agents, bool)
        rows["final_observations"].append(last.frame.vector)
        rows["final_masks"].append(last.frame.legal)
        lengths.append(length)
        results.append(episode.result)
        seats.append(episode.players)
    if env is None:
        raise RecordError(f"{os.fspath(path)} holds no episode to export")
    whole = {
        "lengths": lengths,
        "episodes": [result.episode for result in results],
        "seeds": [result.seed for result in results],
        "groups": [result.group for result in results],
        "members": [result.member for result in results],
    }
    arrays = {name: np.array(values, np.int64) for name, values in whole.items()}
    arrays["payoffs"] = np.array([result.rewards for result in results], np.float64)
    arrays["forfeits"] = np.array([[a in r.forfeits for a in env.agents] for r in results])
    arrays |= {name: np.stack(values) for name, values in rows.items() if values}
    arrays |= {"agents": np.array(env.agents), "seats": np.array(seats)}
    arrays["env"] = np.array(json.dumps(env.spec()))
    with export_file(path, out, "wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return sum(lengths)


def _pairs(episode: Episode, env: Env) -> Iterator[tuple[Moment, Moment]]:
    """(before, after) of each turn."""
    before = None
    for moment in frames(episode, env):
        if before is not None:
            yield before, moment
        before = moment


@contextlib.contextmanager
def export_file(record: PathLike, out: PathLike, mode: str = "w") -> Iterator[Any]:
    """The file that a record is exported to; it appears when all is written.

    Raises:
        RecordError: it cannot be written; or it is the record itself.
    """
    check_out(record, out)
    try:
        with replacing(out, mode) as file:
            yield file
    except OSError as error:
        raise RecordError(f"cannot write {os.fspath(out)}: {error.strerror}") from error


def check_out(record: PathLike, out: PathLike) -> None:
    """Check that a file to be written is not the record that it is made from.

    Raises:
        RecordError: it is.
    """
    if os.path.exists(out) and os.path.exists(record) and os.path.samefile(record, out):
        raise RecordError(
            f"{os.fspath(out)} is the record itself, which would be lost; name another file"
        )
