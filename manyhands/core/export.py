"""Exports of records: conversations for training language models, arrays for offline learning."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np

from manyhands.core.env import Env, RecordError
from manyhands.core.episode import Moment, Turn
from manyhands.core.pack import full_actions
from manyhands.core.record import Episode, PathLike, frames, plain, read
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
    - `anchors`: `View.anchor`, the fingerprint of what the agent knew, messages included.

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
    with _create(out, "w") as file:
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
        names = "turns actions legal choices parse retries rewards anchors"
        self.answers: dict[str, list[Any]] = {name: [] for name in names.split()}

    def add(self, before: Moment, after: Moment) -> None:
        i, turn = self._index, after.turn
        assert turn is not None
        if i in turn.actions:
            view = before.views[i]
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
            status = str(last.get("status", "illegal")) if i in turn.illegal else "ok"
            self.messages += [
                {"role": "user", "content": _prompt(view)},
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
            }
            for name, value in noted.items():
                self.answers[name].append(value)
        rewards = self.answers["rewards"]
        if rewards:
            rewards[-1] += float(after.frame.reward[i])


def _retries(turn: Turn, index: int) -> int:
    """How many answers of this turn were refused before the last, as far as the seat noted."""
    attempts = turn.info.get(index, {}).get("attempts")
    return max(len(attempts) - 1, 0) if isinstance(attempts, list) else 0


def _prompt(view: View) -> str:
    parts = [view.text]
    parts += [f"{m.sender} says: {json.dumps(m.text)}" for m in view.untold(view.text)]
    if view.choices:
        parts.append("You may:\n" + "\n".join(f"- {choice}" for choice in view.choices))
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
    with _create(out, "wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return sum(lengths)


def _pairs(episode: Episode, env: Env) -> Iterator[tuple[Moment, Moment]]:
    """(before, after) of each turn."""
    before = None
    for moment in frames(episode, env):
        if before is not None:
            yield before, moment
        before = moment


def _create(path: PathLike, mode: str) -> Any:
    try:
        return open(path, mode)
    except OSError as error:
        raise RecordError(f"cannot write {os.fspath(path)}: {error.strerror}") from error
