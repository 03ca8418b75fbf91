"""Records of episodes: one line of JSON each, to read, verify, resume, watch again and export.

A line is one object, in this order (`VERSION` 1):

- `manyhands`: the version of the format; `made_with`: the versions of the software; `env`: what
  `from_spec` rebuilds the environment from; `seed`, `seats`, `options`: the run that the episode
  belongs to;
- `episode`, `episode_seed`, `group` and `member` (`play(group=)`), `agents`, `players` (for each
  agent, which of `seats` played it);
- `fork`, where the episode began from a snapshot (`play(fork=)`): its bytes in base64; `start`: the
  fingerprint of the first state;
- `steps`: for each step, by agent, `actions`, and where there are any `said` (free text), `answers`
  (the words that an action was read from), `illegal` (why an answer was refused), `info` (what a
  seat notes: attempts, raw replies, tokens); the `terms` of the reward that are not all zero, one
  number for each agent; `fingerprint` of the state after every k-th step and after the last one;
  `forfeit`, if agents forfeited here: such a step was not made;
- `totals`; and `digest`, a hash of all of the line before it.

What agents saw is not stored: playing the actions again makes it again, exactly (`frames`).
Numbers are exact; NaN and the infinities are the strings "nan", "inf" and "-inf".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import os
import re
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import jax
import numpy as np

from manyhands._version import __version__
from manyhands.core.env import (
    Action,
    ConfigError,
    Env,
    IllegalAction,
    ManyhandsError,
    RecordError,
    SnapshotError,
    from_spec,
)
from manyhands.core.pack import fingerprint, full_actions
from manyhands.core.play import (
    EpisodeResult,
    Game,
    Moment,
    Turn,
    View,
    check_action,
    episode_seed,
    shorten,
)

try:
    import fcntl
except ImportError:  # Windows: two runs that write one file are not noticed there
    fcntl = None  # type: ignore[assignment]

VERSION = 1
MADE_WITH = f"manyhands {__version__}, jax {jax.__version__}"
_DIGEST = re.compile(rb',"digest":"([0-9a-f]{32})"\}\s*\Z')
_NOT_FINITE = ("nan", "inf", "-inf")
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Step:
    """One recorded step: what the seats did, and what came of it.

    Attributes:
        turn: actions, texts and illegal answers; actions are ints or lists of numbers.
        terms: reward terms that were not all zero, one number for each agent.
        fingerprint: of the state after the step, where one was taken.
    """

    turn: Turn
    terms: dict[str, tuple[float, ...]]
    fingerprint: str | None


@dataclass(frozen=True)
class Episode:
    """One recorded episode.

    Attributes:
        line: where it stands in its file, from 1.
        made_with: the versions of the software that wrote it.
        spec: what `from_spec` rebuilds the environment from.
        run_seed, seats, options: the run that it belongs to.
        agents: names of the agents.
        fork: the snapshot that it began from, if it did not begin with a reset.
        start: fingerprint of the first state.
        steps: what happened.
        result: the totals, and the episode's number, seed, group and players.
        intact: whether the digest fits: nobody has edited the line since it was written.
    """

    line: int
    made_with: str
    spec: dict[str, Any]
    run_seed: int
    seats: tuple[str, ...]
    options: dict[str, Any]
    agents: tuple[str, ...]
    fork: bytes | None
    start: str
    steps: tuple[Step, ...]
    result: EpisodeResult
    intact: bool

    def env(self) -> Env:
        """The environment that it was played in."""
        try:
            env = from_spec(self.spec)
        except Exception as error:
            raise RecordError(
                f"line {self.line}: the environment cannot be built again: {error}"
            ) from error
        if env.agents != self.agents:
            raise RecordError(
                f"line {self.line}: the agents are {', '.join(self.agents)}, but the environment "
                f"has {', '.join(env.agents)}"
            )
        return env

    @property
    def players(self) -> tuple[str, ...]:
        """For each agent, the name of its seat."""
        return tuple(self.seats[number] for number in self.result.players)


# ---- writing -------------------------------------------------------------------------------------


class Writer:
    """Appends episodes to a file. Every line is on the disk before the next episode is counted as
    finished: whenever the process is killed, at most an unfinished last line is lost.

    Args:
        path: the file; its folder must exist.
        env, seed, seats, options: the run, written into every line and compared on resuming.
        every: steps between fingerprints.
        resume: go on with the file. Otherwise it must not hold anything yet.
        forks: the snapshots that groups begin from in turn.

    Attributes:
        done: the episodes that the file holds already.
    """

    def __init__(
        self,
        path: PathLike,
        env: Env,
        seed: int,
        seats: Sequence[str],
        options: Mapping[str, Any],
        every: int = 10,
        resume: bool = False,
        forks: Sequence[bytes] = (),
    ):
        self.path, self._env, self._every, self._forks = Path(path), env, every, tuple(forks)
        self._head = {
            "manyhands": VERSION,
            "made_with": MADE_WITH,
            "env": env.spec(),
            "seed": seed,
            "seats": list(seats),
            "options": dict(options),
        }
        self.done: dict[int, EpisodeResult] = {}
        self._lock = threading.Lock()
        try:
            self._file = os.open(self.path, _FLAGS, 0o644)
        except OSError as error:
            raise RecordError(f"cannot write a record to {self.path}: {error.strerror}") from error
        try:
            self._begin(resume)
        except BaseException:
            os.close(self._file)
            raise

    def _begin(self, resume: bool) -> None:
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise RecordError(f"another run is writing to {self.path}") from error
        size = os.fstat(self._file).st_size
        if size and not resume:
            raise RecordError(
                f"{self.path} holds something already; pass resume=True to go on with it, "
                "or name another file"
            )
        end, whole = 0, True
        for line, data in _lines(self.path):
            whole = data.endswith(b"\n")
            try:
                episode = _parse(line, data)
            except RecordError:
                if whole:
                    raise
                break
            self._check(episode)
            self.done[episode.result.episode] = episode.result
            end += len(data)
        if end < size:
            os.ftruncate(self._file, end)
        elif not whole:  # killed between the brace and the end of the line
            self._append(b"\n")

    def _check(self, episode: Episode) -> None:
        """Raise unless the episode is one of this run."""
        theirs = {
            "env": episode.spec,
            "seed": episode.run_seed,
            "seats": list(episode.seats),
            "options": {"group": 1} | episode.options,
        }
        for name, value in theirs.items():
            if json.dumps(value, sort_keys=True) != json.dumps(self._head[name], sort_keys=True):
                raise RecordError(
                    f"{self.path} holds another run (line {episode.line}): its {name} is "
                    f"{shorten(value, 400)}, this run's is {shorten(self._head[name], 400)}"
                )
        number = episode.result.episode
        if number in self.done:
            raise RecordError(f"{self.path} holds episode {number} twice (line {episode.line})")
        for name, (right, recorded) in _place(episode).items():
            if right != recorded:
                raise RecordError(
                    f"{self.path}, line {episode.line}: the {name} of episode {number} of seed "
                    f"{episode.run_seed} is {right}, not {recorded}"
                )
        group = episode.result.group
        fork = self._forks[group % len(self._forks)] if self._forks else None
        if episode.fork != fork:
            raise RecordError(
                f"{self.path} holds another run (line {episode.line}): there group {group} begins "
                f"{_beginning(episode.fork)}, in this run {_beginning(fork)}"
            )

    def episode(self, game: Game) -> EpisodeLog:
        """Begin an episode."""
        return EpisodeLog(game, self._head, self._every)

    def write(self, line: bytes) -> None:
        """Append one line, for good."""
        with self._lock:
            size = os.fstat(self._file).st_size
            try:
                self._append(line)
            except OSError as error:
                os.ftruncate(self._file, size)
                raise RecordError(f"cannot write to {self.path}: {error.strerror}") from error

    def _append(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def _place(episode: Episode) -> dict[str, tuple[Any, Any]]:
    """Where an episode belongs in its run: what follows from its number, and what is recorded."""
    result, options = episode.result, episode.options
    n = len(episode.agents)
    group, member = divmod(result.episode, options.get("group", 1))
    shift = group % n if options.get("rotate") else 0
    return {
        "group": (group, result.group),
        "member": (member, result.member),
        "seed": (episode_seed(episode.run_seed, group), result.seed),
        "players": ([(i - shift) % n for i in range(n)], list(result.players)),
    }


def _beginning(fork: bytes | None) -> str:
    if fork is None:
        return "with a reset"
    return f"from the snapshot {hashlib.blake2b(fork, digest_size=8).hexdigest()}"


class EpisodeLog:
    """One episode on its way into a record."""

    def __init__(self, game: Game, head: Mapping[str, Any], every: int):
        self._game, self._head, self._every = game, head, every
        self._start = fingerprint(game.env, game.frame.state)
        self._steps: list[dict[str, Any]] = []

    def add(self, turn: Turn, over: bool) -> None:
        """Note a turn, after `game` has made it."""
        game, agents = self._game, self._game.env.agents
        step: dict[str, Any] = {
            "actions": {agents[i]: _plain(a) for i, a in sorted(turn.actions.items())}
        }
        for name in ("said", "answers", "illegal", "info"):
            values = getattr(turn, name)
            if values:
                step[name] = {agents[i]: _plain(v) for i, v in sorted(values.items())}
        if turn.forfeits:
            step["forfeit"] = [agents[i] for i in turn.forfeits]
        else:
            step["terms"] = {
                name: _plain(values) for name, values in game.frame.terms.items() if values.any()
            }
            if over or game.step % self._every == 0:
                step["fingerprint"] = fingerprint(game.env, game.frame.state)
        self._steps.append(step)

    def line(self, result: EpisodeResult) -> bytes:
        """The episode as a line of a record."""
        begun = self._game.fork
        fork = {} if begun is None else {"fork": base64.b64encode(begun).decode()}
        body = {
            **self._head,
            "episode": result.episode,
            "episode_seed": result.seed,
            "group": result.group,
            "member": result.member,
            "agents": list(self._game.env.agents),
            "players": list(result.players),
            **fork,
            "start": self._start,
            "steps": self._steps,
            "totals": _totals(result),
        }
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        try:
            data = text.encode()
        except UnicodeEncodeError:  # halves of characters
            text = json.dumps(body, separators=(",", ":"), allow_nan=False)
            data = text.encode()
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        return data[:-1] + f',"digest":"{digest}"}}\n'.encode()


def _totals(result: EpisodeResult) -> dict[str, Any]:
    return {
        "steps": result.steps,
        "ended": result.ended,
        "rewards": _plain(result.rewards),
        "terms": _plain(result.terms),
        "metrics": _plain(result.metrics),
        "illegal": list(result.illegal),
        "forfeits": list(result.forfeits),
    }


def _plain(value: Any) -> Any:
    """Anything in JSON's own kinds; what has none becomes its `str`."""
    if isinstance(value, (np.ndarray, np.generic)) or type(value).__module__.startswith("jax"):
        value = np.asarray(value).tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value)


# ---- reading -------------------------------------------------------------------------------------


def read(path: PathLike) -> Iterator[Episode]:
    """The episodes of a record, one after the other. Nothing in the file is ever executed.

    A last line that was cut off (the run was killed while writing it) is left out, with a warning.

    Raises:
        RecordError: there is no such file, or a line is not an episode.
    """
    for line, data in _lines(path):
        try:
            yield _parse(line, data)
        except RecordError:
            if data.endswith(b"\n"):
                raise
            warnings.warn(
                f"{os.fspath(path)}: the last line ({line}) is cut off and left out: the run was "
                "killed while it was written; resume=True plays that episode again",
                stacklevel=2,
            )


def _lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    try:
        with open(path, "rb") as file:
            yield from enumerate(file, start=1)
    except OSError as error:
        raise RecordError(f"cannot read {os.fspath(path)}: {error.strerror}") from error


def _parse(line: int, data: bytes) -> Episode:
    """The episode in a line."""
    where = f"line {line}"
    try:
        body = json.loads(data.decode(), parse_constant=_no_constant)
    except RecursionError as error:
        raise RecordError(f"{where}: nested too deep for an episode") from error
    except ValueError as error:
        raise RecordError(f"{where} is no JSON: {error}") from error
    if not isinstance(body, dict) or "manyhands" not in body:
        raise RecordError(f"{where} is no episode of Manyhands: {shorten(body)}")
    if body["manyhands"] != VERSION:
        raise RecordError(
            f"{where}: written in version {shorten(body['manyhands'])} of the format, this "
            f"Manyhands reads version {VERSION}"
        )
    agents = _Fields(body, where).words("agents")
    n = len(agents)
    if not 1 <= n == len(set(agents)):
        raise RecordError(f"{where}: `agents` is a list of different names, given {agents!r}")
    head = _Fields(body, where, agents)
    seats = head.words("seats")
    players = [head.whole(value, "players") for value in head.get("players", list)]
    if sorted(players) != list(range(n)) or len(seats) != n:
        raise RecordError(f"{where}: `seats` and `players` do not seat {n} agents")
    steps = []
    for t, step in enumerate(head.get("steps", list)):
        if not isinstance(step, dict):
            raise RecordError(f"{where}, step {t}: an object was expected, not {shorten(step)}")
        steps.append(_parse_step(_Fields(step, f"{where}, step {t}", agents)))
    totals = _Fields(head.get("totals", dict), f"{where}, totals", agents)
    number = head.whole(head.get("episode", int), "episode")
    options = head.get("options", dict)
    size = head.whole(options.get("group", 1), "options.group")
    if size == 0:
        raise head.wrong("options.group", "a whole number from 1", size)
    found = _DIGEST.search(data)
    digest = hashlib.blake2b(data[: found.start()] + b"}" if found else b"", digest_size=16)
    return Episode(
        line=line,
        made_with=head.get("made_with", str),
        spec=head.get("env", dict),
        run_seed=head.get("seed", int),
        seats=seats,
        options=options,
        agents=agents,
        fork=head.decoded("fork"),
        start=head.get("start", str),
        steps=tuple(steps),
        result=EpisodeResult(
            episode=number,
            seed=head.whole(head.get("episode_seed", int), "episode_seed"),
            group=head.whole(head.get("group", int, number), "group"),
            member=head.whole(head.get("member", int, 0), "member"),
            players=tuple(players),
            steps=totals.whole(totals.get("steps", int), "steps"),
            ended=totals.get("ended", str),
            rewards=totals.row(totals.get("rewards", list), "rewards"),
            terms=totals.rows("terms"),
            metrics={
                name: totals.number(value, "metrics")
                for name, value in totals.get("metrics", dict).items()
            },
            illegal=tuple(totals.whole(v, "illegal") for v in totals.get("illegal", list)),
            forfeits=totals.words("forfeits"),
        ),
        intact=found is not None and found.group(1) == digest.hexdigest().encode(),
    )


def _parse_step(step: _Fields) -> Step:
    forfeits = step.get("forfeit", list, [])
    if not all(isinstance(name, str) and name in step.agents for name in forfeits):
        raise step.wrong("forfeit", "a list of agents", forfeits)
    turn = Turn(
        actions={i: step.action(value) for i, value in step.by_agent("actions").items()},
        said=step.by_agent("said", str),
        answers=step.by_agent("answers", str),
        illegal=step.by_agent("illegal", str),
        info=step.by_agent("info", dict),
        forfeits=tuple(step.agents.index(name) for name in forfeits),
    )
    taken = step.get("fingerprint", str, "") or None
    return Step(turn, {} if forfeits else step.rows("terms"), taken)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


@dataclass
class _Fields:
    """An object of JSON with accessors that check what they give."""

    values: dict[str, Any]
    where: str
    agents: tuple[str, ...] = ()

    def wrong(self, name: str, expected: str, given: Any) -> RecordError:
        return RecordError(f"{self.where}: `{name}` is {expected}, given {shorten(given)}")

    def get(self, name: str, kind: type, default: Any = None) -> Any:
        if name not in self.values:
            if default is None:
                raise RecordError(f"{self.where}: `{name}` is missing")
            return default
        value = self.values[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            kinds = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}
            raise self.wrong(name, kinds[kind], value)
        return value

    def words(self, name: str) -> tuple[str, ...]:
        values = self.get(name, list)
        if not all(isinstance(value, str) for value in values):
            raise self.wrong(name, "a list of texts", values)
        return tuple(values)

    def decoded(self, name: str) -> bytes | None:
        """Bytes in base64, if there are any."""
        if name not in self.values:
            return None
        try:
            return base64.b64decode(self.get(name, str), validate=True)
        except (binascii.Error, ValueError) as error:
            raise self.wrong(name, "a snapshot in base64", self.values[name]) from error

    def whole(self, value: Any, name: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            raise self.wrong(name, "made of whole numbers from 0", value)
        return value

    def number(self, value: Any, name: str) -> float:
        if isinstance(value, str) and value in _NOT_FINITE:
            return float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 1e300:
            raise self.wrong(name, "made of numbers", value)
        return float(value)

    def row(self, values: Any, name: str) -> tuple[float, ...]:
        if not isinstance(values, list) or len(values) != len(self.agents):
            raise self.wrong(name, f"made of {len(self.agents)} numbers a row", values)
        return tuple(self.number(value, name) for value in values)

    def rows(self, name: str) -> dict[str, tuple[float, ...]]:
        return {key: self.row(values, name) for key, values in self.get(name, dict).items()}

    def by_agent(self, name: str, kind: type = object) -> dict[int, Any]:
        found = {}
        for agent, value in self.get(name, dict, {}).items():
            if agent not in self.agents or not isinstance(value, kind):
                raise self.wrong(name, "one value for each agent", {agent: value})
            found[self.agents.index(agent)] = value
        return found

    def action(self, value: Any) -> Action:
        """An int, or a list (of lists) of numbers."""
        stack = [value]
        while stack:
            item = stack.pop()
            if isinstance(item, list):
                stack += item
            elif isinstance(item, bool) or not isinstance(item, (int, float)):
                raise self.wrong("actions", "made of numbers", value)
        if isinstance(value, float):
            raise self.wrong("actions", "made of whole numbers or lists", value)
        return value


# ---- playing again -------------------------------------------------------------------------------


class _Difference(ManyhandsError):
    """Where a record and the environment part."""

    def __init__(self, step: int | None, what: str):
        super().__init__(what)
        self.step, self.what = step, what


def frames(episode: Episode, env: Env | None = None) -> Iterator[Moment]:
    """The moments of a recorded episode, played again: what `play(on_step=)` was called with.

    Args:
        env: the environment, if it is at hand; by default it is built from the record.

    Raises:
        RecordError: the record does not fit the environment.
    """
    try:
        for moment, _ in _replay(episode, episode.env() if env is None else env):
            yield moment
    except _Difference as error:
        at = "" if error.step is None else f", step {error.step}"
        raise RecordError(
            f"line {episode.line}, episode {episode.result.episode}{at}: {error.what}"
        ) from error


def _replay(episode: Episode, env: Env) -> Iterator[tuple[Moment, Game]]:
    try:
        yield from _play_again(episode, env)
    except (_Difference, RecordError):
        raise
    except Exception as error:  # a configuration that was accepted, but cannot be played
        raise _Difference(
            None, f"the environment {shorten(env)} fails: {type(error).__name__}: {error}"
        ) from error


def _play_again(episode: Episode, env: Env) -> Iterator[tuple[Moment, Game]]:
    result, limit = episode.result, episode.options.get("max_steps")
    try:
        game = Game(
            env,
            result.seed,
            result.episode,
            group=result.group,
            member=result.member,
            fork=episode.fork,
        )
    except (SnapshotError, ConfigError) as error:
        raise _Difference(None, f"the episode cannot begin: {error}") from error
    yield game.moment(None, episode.players, not episode.steps), game
    for t, step in enumerate(episode.steps):
        turn = step.turn
        if game.over or game.made == limit:
            raise _Difference(t, "the episode is over here, but the record goes on")
        if sorted(turn.actions) != game.asked():
            names = ", ".join(env.agents[i] for i in game.asked()) or "nobody"
            given = ", ".join(env.agents[i] for i in turn.actions) or "nobody"
            raise _Difference(t, f"{names} had to act; in the record {given} did")
        actions = {i: _legal_action(game, step, t, i) for i in turn.actions}
        turn = Turn(actions, turn.said, turn.answers, turn.illegal, turn.info, turn.forfeits)
        if not set(turn.forfeits) <= set(turn.illegal):
            raise _Difference(t, "who forfeits has given an illegal answer; the record has none")
        game.advance(turn)
        last = t == len(episode.steps) - 1
        yield game.moment(turn, episode.players, last), game


def _legal_action(game: Game, step: Step, t: int, i: int) -> Action:
    """The recorded action of agent `i`, checked against what it may do and what it answered."""
    env, turn, name = game.env, step.turn, game.env.agents[i]
    answer = turn.answers.get(i)
    meant = None
    if answer is not None:
        try:
            meant = game.read(i, answer, turn.said.get(i))
        except IllegalAction as error:
            if i not in turn.illegal:
                raise _Difference(
                    t, f"{name} answered {shorten(answer)}, which is illegal: {error.reason}"
                ) from error
    if i in turn.illegal:
        if meant is not None:
            raise _Difference(t, f"{name} answered {shorten(answer)}, which was legal")
        if not np.array_equal(turn.actions[i], env.noop):
            raise _Difference(t, f"after an illegal answer {name} does nothing; recorded is "
                              f"action {shorten(turn.actions[i])}")  # fmt: skip
        return env.noop
    try:
        action = check_action(env, game.frame.legal[i], turn.actions[i])
    except IllegalAction as error:
        raise _Difference(t, f"{name}: {error.reason}") from error
    if meant is not None and not np.array_equal(meant, action):
        raise _Difference(
            t,
            f"{name} answered {shorten(answer)}, which is action {shorten(_plain(meant))}; "
            f"recorded is {shorten(_plain(action))}",
        )
    return action


@dataclass(frozen=True)
class Verification:
    """What `verify` found: `bool(...)` says whether all is as recorded; print it.

    Attributes:
        episodes, steps: how much was played again and agreed.
        line, episode, step, difference: where the first difference is, and what it is; None if
            there is none, or if it has no such place.
        cut: whether the last line was cut off; it is then not counted.
    """

    episodes: int
    steps: int
    line: int | None = None
    episode: int | None = None
    step: int | None = None
    difference: str | None = None
    cut: bool = False

    def __bool__(self) -> bool:
        return self.difference is None

    def __str__(self) -> str:
        tail = "; the last line is cut off and not counted" if self.cut else ""
        played = f"{self.episodes} episodes, {self.steps} steps"
        if self:
            return f"verified: {played}{tail}"
        places = {"line": self.line, "episode": self.episode, "step": self.step}
        place = ", ".join(f"{k} {v}" for k, v in places.items() if v is not None)
        return f"DIFFERENT at {place}: {self.difference} ({played} before it agree){tail}"


def verify(path: PathLike) -> Verification:
    """Play a record again and compare: who acted, that actions were legal and mean what was
    answered, rewards by term, fingerprints, totals; and that no line was edited.

    Raises:
        RecordError: the file cannot be read at all.
    """
    episodes = steps = 0
    seen: set[str] = set()
    envs: dict[str, Env] = {}
    for line, data in _lines(path):
        number = None
        try:
            episode = _parse(line, data)
            number = episode.result.episode
            run = json.dumps(
                [episode.spec, episode.run_seed, episode.seats, episode.options, number]
            )
            run += _beginning(episode.fork)
            if run in seen:
                raise _Difference(None, f"episode {number} is in the record twice")
            seen.add(run)
            key = json.dumps(episode.spec)
            if key not in envs:
                envs[key] = episode.env()
            _compare(episode, envs[key])
        except RecordError as error:
            if not data.endswith(b"\n"):
                return Verification(episodes, steps, cut=True)
            return Verification(episodes, steps, line, number, None, str(error))
        except _Difference as error:
            return Verification(episodes, steps, line, number, error.step, error.what)
        episodes += 1
        steps += len(episode.steps)
    return Verification(episodes, steps)


def _compare(episode: Episode, env: Env) -> None:
    """Raise `_Difference` unless playing the episode again gives what is recorded."""
    try:
        _compare_all(episode, env)
    except _Difference as error:
        if episode.made_with != MADE_WITH:
            error.what += f" (recorded with {episode.made_with}; this is {MADE_WITH})"
        raise


def _compare_all(episode: Episode, env: Env) -> None:
    result, options = episode.result, episode.options
    for name, (right, recorded) in _place(episode).items():
        _same(None, f"the episode's {name}", right, recorded)
    game = None
    for moment, game in _replay(episode, env):
        if moment.turn is None:
            _same(None, "the first state", fingerprint(env, moment.frame.state), episode.start)
            continue
        if game.forfeits:
            continue
        t = game.made - 1
        step = episode.steps[t]
        terms = {k: v.tolist() for k, v in moment.frame.terms.items() if v.any()}
        _same(t, "the reward by terms", terms, step.terms)
        if step.fingerprint is not None:
            _same(t, "the state", fingerprint(env, moment.frame.state), step.fingerprint)
        elif moment.over:
            raise _Difference(t, "the fingerprint of the last state is missing")
    assert game is not None
    if not game.over and game.made != options.get("max_steps"):
        raise _Difference(game.made, "the record stops here, but the episode goes on")
    recorded = _totals(result)
    for name, right in _totals(game.result(result.players)).items():
        _same(None, f"the total `{name}`", right, recorded[name])
    if not episode.intact:
        raise _Difference(None, "the line was edited after it was written: its digest is wrong")


def _same(step: int | None, what: str, right: Any, recorded: Any) -> None:
    right, recorded = _plain(right), _plain(recorded)
    if right != recorded:
        raise _Difference(
            step, f"{what} is {shorten(right, 300)}; recorded is {shorten(recorded, 300)}"
        )


# ---- exports -------------------------------------------------------------------------------------


def export_chat(path: PathLike, out: PathLike) -> int:
    """Write a record as conversations, one line of JSON for each agent of each episode.

    A line has `messages`: the rules (system), then for each time the agent was asked what it read
    (user: the text observation, what it heard, its choices) and what it answered (assistant: the
    raw reply if the seat noted it, else the words it answered in, else its action in words). With
    them, one entry for each answer:

    - `turns`: number of the step in which it was given, from 0 (a fork counts on from the clock of
      its state); `actions`: what was played;
    - `legal`: the legal action numbers (a list for each part where actions have several), and
      `choices`, in words;
    - `parse`: "ok", or what was wrong, and `retries`: how many answers of this turn were refused
      before it, where the seat noted its attempts;
    - `rewards`: what the agent got until it was asked again;
    - `anchors`: `View.anchor`, the fingerprint of what it saw, messages apart.

    And of the whole: `total` (the agent's return), `payoffs` (every agent's, in the order of
    `agents`), `ended` and `forfeits` (who forfeited); the role, `agent` and `agent_index`; the seat
    that played it, `seat` and `seat_index`; `episode`, `seed`, `group` and `member`
    (`play(group=)`); and the game, `env`. What the others hide is not in it, nor a hash of it; the
    seed would tell who deals again, so keep it out of prompts.

    `baselines/advantages.py` computes advantages from such a file alone.

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
                    "agents": env.agents,
                    "agent": env.agents[i],
                    "agent_index": i,
                    "seat": episode.players[i],
                    "seat_index": result.players[i],
                    "episode": result.episode,
                    "seed": result.seed,
                    "group": result.group,
                    "member": result.member,
                    "env": episode.spec,
                }
                file.write(json.dumps(_plain(body)) + "\n")
                count += 1
    return count


class _Conversation:
    """What one agent read and answered in an episode."""

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
                "actions": _plain(turn.actions[i]),
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
        if rewards and not turn.forfeits:
            rewards[-1] += float(after.frame.reward[i])


def _retries(turn: Turn, index: int) -> int:
    """How many answers of this turn were refused before the last, as far as the seat noted."""
    attempts = turn.info.get(index, {}).get("attempts")
    return max(len(attempts) - 1, 0) if isinstance(attempts, list) else 0


def _prompt(view: View) -> str:
    parts = [view.text]
    parts += [f"{m.sender} says: {json.dumps(m.text)}" for m in view.messages]
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
    - `actions` [S, N, ...]: what was played, `env.noop` where an agent was not asked;
    - `rewards` f32[S, N], `terminated` bool[S, N], `truncated` bool[S, N]: of the step. In an
      episode that `max_steps` stopped, the last step counts as truncated; in a forfeited one, as
      terminated;
    - `final_observations` [E, N, ...], `final_masks` bool[E, N, A]: after the last step;
    - `turns` i64[S]: number of the step, from 0 (a fork counts on from the clock of its state);
      `anchors` U32[S, N]: `View.anchor` of who acted, "" for who did not;
    - `illegal` bool[S, N]: where an answer was refused and `env.noop` played; `retries` i64[S, N]:
      how many were refused before it, where the seat noted its attempts;
    - `lengths` i64[E]: steps of each episode, in order, so that the first one's rows are
      `[:lengths[0]]`; `episodes` i64[E], `seeds` i64[E]: its number and its seed; `groups` i64[E],
      `members` i64[E]: as in `play(group=)`;
    - `payoffs` f64[E, N]: returns; `forfeits` bool[E, N]: who forfeited; `seats` [E, N]: the names
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
