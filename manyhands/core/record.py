"""Records of episodes: one line of JSON each, to read, verify, resume and watch again.

A line is one object, in this order (`VERSION` 2):

- `manyhands`: the version of the format; `made_with`: the versions of the software; `env`: the spec
  that `from_spec` rebuilds the environment from, with the version of its rules; `seed`, `seats`,
  `options`: the run that the episode belongs to;
- `episode`, `episode_seed`, `group` and `member` (`play(group=)`), `agents`, `players` (for each
  agent, the number of its seat);
- `fork`, if the episode started from a snapshot (`play(fork=)`): its bytes in base64; `start`: the
  fingerprint of the initial state;
- `steps`: for each step, by agent, `actions`, and where there are any `said` (free text), `answers`
  (the words that an action was read from), `illegal` (why an answer was refused), `info` (data of
  the seat: attempts, raw replies, tokens); the reward `terms` that are not all zero, one number for
  each agent; `fingerprint` of the state after every k-th step and after the last one; `forfeit`, if
  agents forfeited here: such a step was not made, and its `terms` are the price (older records
  have no `terms` there: it was free);
- `totals`;
- `previous`, the digest of the line before (in the first line that of the run: `env`, `seed`,
  `seats`, `options`); and `digest`, a hash of all of the line before it.

So the lines form a chain, which reveals deleted, moved and edited lines. When the run is complete,
a
separate line closes the chain: `manyhands`, `made_with`, `closed` (the number of `episodes`),
`previous`, `digest`. A run that was killed has no such line; resuming continues its chain. One file
may hold several chains, for instance of several processes that recorded parts of a run. Lines of
version 1 have no `previous`: their chain is not checked. The digests are not signatures: anyone can
recompute them all, and so forge what replaying does not check, such as texts.

Observations are not stored: playing the actions again reproduces them exactly (`frames`).
Numbers are exact; NaN and the infinities are the strings "nan", "inf" and "-inf". Characters that
do not show, or change how text around them shows, are escaped.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import dataclasses
import hashlib
import itertools
import json
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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
    shorten,
)
from manyhands.core.episode import EpisodeResult, Game, Moment, Turn, check_action, episode_seed
from manyhands.core.pack import fingerprint
from manyhands.core.registry import from_spec

VERSION = 2
MADE_WITH = f"manyhands {__version__}, jax {jax.__version__}"
_RUN = ("env", "seed", "seats", "options")  # what all lines of a chain share
TAIL = re.compile(rb'(?:,"previous":"([0-9a-f]{32})")?,"digest":"([0-9a-f]{32})"\}\s*\Z')
_NOT_FINITE = ("nan", "inf", "-inf")
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Step:
    """One recorded step: the answers of the seats and the outcome.

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
        line: its line number in the file, from 1.
        made_with: the versions of the software that wrote it.
        spec: of the environment, for `from_spec`.
        run_seed, seats, options: the run that it belongs to.
        agents: names of the agents.
        fork: the snapshot that it started from, None for a reset.
        start: fingerprint of the initial state.
        steps: all steps.
        result: the totals, and the episode's number, seed, group and players.
        intact: whether the digest matches: the line has not been edited since it was written.
        run, previous, digest: digests of the run, of the line before (None in version 1), and of
            this line.
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
    run: str
    previous: str | None
    digest: str

    def env(self) -> Env:
        """The environment that it was played in.

        Raises:
            RecordError: it cannot be built, or its rules now have another version.
        """
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
        different = self.other_version(env)
        if different:
            raise RecordError(f"line {self.line}: {different}")
        return env

    def other_version(self, env: Env) -> str | None:
        """Why the episode cannot be played again in `env`, if its rules have another version."""
        for recorded, here in zip(_layers(self.spec), _layers(env.spec()), strict=False):
            if recorded[0] == here[0] and recorded[1] != here[1]:
                return (
                    f"the episode was played by version {recorded[1]} of the rules of {here[0]!r}, "
                    f"and this is version {here[1]}; use the software that recorded it "
                    f"({self.made_with})"
                )
        return None

    @property
    def players(self) -> tuple[str, ...]:
        """For each agent, the name of its seat."""
        return tuple(self.seats[number] for number in self.result.players)


@dataclass(frozen=True)
class Closing:
    """The line that ends a run's chain: how many episodes it has."""

    line: int
    episodes: int
    intact: bool
    previous: str | None
    digest: str


def _layers(spec: Any) -> Iterator[tuple[Any, Any]]:
    """(id, version) of an environment and of those that it wraps, from the outside in."""
    while isinstance(spec, Mapping):
        yield spec.get("id"), spec.get("version", 0)
        spec = spec.get("env")


# ---- the chain -----------------------------------------------------------------------------------


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def run_digest(head: Mapping[str, Any]) -> str:
    """The digest of a run, which the first line of its chain holds."""
    run = {name: head[name] for name in _RUN}
    return _digest(json.dumps(run, sort_keys=True, separators=(",", ":")).encode())


def seal(body: bytes, previous: str) -> tuple[bytes, str]:
    """A line, from an object of JSON, with its digests; and its own digest."""
    data = body[:-1] + f',"previous":"{previous}"}}'.encode()
    digest = _digest(data)
    return data[:-1] + f',"digest":"{digest}"}}\n'.encode(), digest


class Chain:
    """Follows the digests of a file, line by line.

    Attributes:
        last: the last episode of the chain that the file ends with.
        episodes: how many that chain has so far.
        linked: whether it has lines of version 2.
        closed: whether it was closed.
        open: lines at which chains ended that were not closed, though others follow.
        unchained: episodes of version 1.
    """

    def __init__(self) -> None:
        self.last: Episode | None = None
        self.episodes = self.unchained = 0
        self.linked = self.closed = False
        self.open: list[int] = []

    @property
    def unfinished(self) -> list[int]:
        """The last lines of chains that were not closed."""
        if self.last is None or not self.linked or self.closed:
            return self.open
        return [*self.open, self.last.line]

    def add(self, line: Episode | Closing) -> None:
        """Raise `Difference` unless `line` may follow here."""
        if not line.intact:
            raise Difference(None, "the line was edited after it was written: its digest is wrong")
        last = self.last
        if isinstance(line, Closing):
            if last is None or self.closed:
                raise Difference(None, "the line closes a run, but no episode is before it")
            if line.episodes != self.episodes:
                raise Difference(
                    None,
                    f"the run had {line.episodes} episodes when this line closed it; "
                    f"{self.episodes} are before it",
                )
            if line.previous != last.digest:
                raise Difference(None, _broken(last.line))
            self.closed = True
            return
        follows = last is not None and not self.closed and last.run == line.run
        if line.previous is None:
            self.unchained += 1
        elif line.previous == line.run:
            follows = False
        elif last is None:
            raise Difference(
                None,
                "it is not the first line of its run: lines before it are missing, or its seed, "
                "seats, options or environment were edited",
            )
        elif line.previous != last.digest:
            raise Difference(None, _broken(last.line))
        elif not follows:
            what = "the run was closed before it" if self.closed else "it is of another run"
            raise Difference(None, f"{what}, but it continues the chain of line {last.line}")
        if not follows:
            self.open = self.unfinished
            self.episodes, self.linked, self.closed = 0, False, False
        self.last = line
        self.episodes += 1
        self.linked = self.linked or line.previous is not None


def _broken(line: int) -> str:
    return f"it does not follow line {line}: lines are missing between them, or moved, or edited"


# ---- reading -------------------------------------------------------------------------------------


def read(path: PathLike) -> Iterator[Episode]:
    """The episodes of a record, one after the other. Nothing in the file is ever executed.

    A last line that was cut off (the run was killed while writing it) is left out, with a warning.

    Raises:
        RecordError: there is no such file, or a line is not an episode.
    """
    for line, data in read_lines(path):
        try:
            entry = parse_line(line, data)
            if isinstance(entry, Episode):
                yield entry
        except RecordError as error:
            if data.endswith(b"\n"):
                raise RecordError(f"{os.fspath(path)}, {error}") from error
            warnings.warn(
                f"{os.fspath(path)}: the last line ({line}) is cut off and left out: the run was "
                "killed while it was written; resume=True writes it again",
                stacklevel=2,
            )


def read_lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    try:
        with open(path, "rb") as file:
            yield from enumerate(file, start=1)
    except OSError as error:
        raise RecordError(f"cannot read {os.fspath(path)}: {error.strerror}") from error


def parse_line(line: int, data: bytes) -> Episode | Closing:
    """The contents of a line."""
    where = f"line {line}"
    try:
        body = json.loads(data.decode(), parse_constant=_no_constant)
    except RecursionError as error:
        raise RecordError(f"{where}: nested too deep for an episode") from error
    except ValueError as error:
        raise RecordError(f"{where} is no JSON: {error}") from error
    if not isinstance(body, dict) or "manyhands" not in body:
        raise RecordError(f"{where} is no episode of Manyhands: {shorten(body)}")
    if body["manyhands"] not in (1, VERSION):
        raise RecordError(
            f"{where}: written in version {shorten(body['manyhands'])} of the format, this "
            f"Manyhands reads versions 1 and {VERSION}"
        )
    found = TAIL.search(data)
    previous, digest, intact = None, "", False
    if found:
        previous = found.group(1).decode() if found.group(1) else None
        digest = found.group(2).decode()
        intact = _digest(data[: found.start(2) - len(b',"digest":"')] + b"}") == digest
    if previous is None and body["manyhands"] != 1:
        raise RecordError(f"{where}: the digests at its end are missing")
    if "closed" in body:
        closed = _Fields(_Fields(body, where).get("closed", dict), f"{where}, closed")
        count = closed.whole(closed.get("episodes", int), "episodes")
        return Closing(line, count, intact, previous, digest)
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
    spec, run_seed = head.get("env", dict), head.get("seed", int)
    run = {"env": spec, "seed": run_seed, "seats": list(seats)}
    return Episode(
        line=line,
        made_with=head.get("made_with", str),
        spec=spec,
        run_seed=run_seed,
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
        intact=intact,
        run=run_digest(run | {"options": {"group": 1} | options}),
        previous=previous,
        digest=digest,
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
        free=bool(forfeits) and "terms" not in step.values,
    )
    taken = step.get("fingerprint", str, "") or None
    return Step(turn, {} if turn.free else step.rows("terms"), taken)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


@dataclass
class _Fields:
    """A JSON object with accessors that check types."""

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


class Difference(ManyhandsError):
    """Where a record and the environment part."""

    def __init__(self, step: int | None, what: str):
        super().__init__(what)
        self.step, self.what = step, what


def frames(episode: Episode, env: Env | None = None) -> Iterator[Moment]:
    """The moments of a recorded episode, played again: the arguments of `play(on_step=)`.

    Args:
        env: the environment, if it is at hand; by default it is built from the record.

    Raises:
        RecordError: the record does not fit the environment.
    """
    try:
        for moment, _ in _replay(episode, episode.env() if env is None else env):
            yield moment
    except Difference as error:
        at = "" if error.step is None else f", step {error.step}"
        raise RecordError(
            f"line {episode.line}, episode {episode.result.episode}{at}: {error.what}"
        ) from error


def _replay(episode: Episode, env: Env) -> Iterator[tuple[Moment, Game]]:
    try:
        yield from _play_again(episode, env)
    except (Difference, RecordError):
        raise
    except Exception as error:  # a configuration that was accepted, but cannot be played
        raise Difference(
            None, f"the environment {shorten(env)} fails: {type(error).__name__}: {error}"
        ) from error


def _play_again(episode: Episode, env: Env) -> Iterator[tuple[Moment, Game]]:
    result, limit = episode.result, episode.options.get("max_steps")
    different = episode.other_version(env)
    if different:
        raise Difference(None, different)
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
        raise Difference(None, f"the episode cannot begin: {error}") from error
    yield game.moment(None, episode.players, not episode.steps), game
    for t, step in enumerate(episode.steps):
        turn = step.turn
        if game.over or game.made == limit:
            raise Difference(t, "the episode is over here, but the record continues")
        if sorted(turn.actions) != game.asked():
            names = ", ".join(env.agents[i] for i in game.asked()) or "nobody"
            given = ", ".join(env.agents[i] for i in turn.actions) or "nobody"
            raise Difference(t, f"{names} had to act; in the record {given} did")
        actions = {i: _legal_action(game, step, t, i) for i in turn.actions}
        turn = dataclasses.replace(turn, actions=actions)
        if not set(turn.forfeits) <= set(turn.illegal):
            raise Difference(t, "who forfeits has given an illegal answer; the record has none")
        game.advance(turn)
        last = t == len(episode.steps) - 1
        yield game.moment(turn, episode.players, last), game


def _legal_action(game: Game, step: Step, t: int, i: int) -> Action:
    """The recorded action of agent `i`, checked against its legal actions and its answer."""
    env, turn, name = game.env, step.turn, game.env.agents[i]
    answer = turn.answers.get(i)
    meant = None
    if answer is not None:
        try:
            meant = game.read(i, answer, turn.said.get(i))
        except IllegalAction as error:
            if i not in turn.illegal:
                raise Difference(
                    t, f"{name} answered {shorten(answer)}, which is illegal: {error.reason}"
                ) from error
    if i in turn.illegal:
        if meant is not None:
            raise Difference(t, f"{name} answered {shorten(answer)}, which was legal")
        if not np.array_equal(turn.actions[i], env.noop):
            raise Difference(t, f"after an illegal answer {name} does nothing; recorded is "
                              f"action {shorten(turn.actions[i])}")  # fmt: skip
        return env.noop
    try:
        action = check_action(env, game.frame.legal[i], turn.actions[i])
    except IllegalAction as error:
        raise Difference(t, f"{name}: {error.reason}") from error
    if meant is not None and not np.array_equal(meant, action):
        raise Difference(
            t,
            f"{name} answered {shorten(answer)}, which is action {shorten(plain(meant))}; "
            f"recorded is {shorten(plain(action))}",
        )
    return action


@dataclass(frozen=True)
class Verification:
    """The result of `verify`; true if everything agrees. Print it.

    Attributes:
        episodes, steps: how many were played again and agreed.
        line, episode, step, difference: the place of the first difference, and the difference; None
            if there is none, or if it has no such place.
        cut: whether the last line was cut off; it is then not counted.
        unfinished: the last line of a run that was not closed: it was killed, is still running, or
            its last lines were deleted. None if there is none.
        unchained: episodes of version 1 of the format, whose lines hold no digest of the line
            before: whether some were deleted is unknown.
    """

    episodes: int
    steps: int
    line: int | None = None
    episode: int | None = None
    step: int | None = None
    difference: str | None = None
    cut: bool = False
    unfinished: int | None = None
    unchained: int = 0

    def __bool__(self) -> bool:
        return self.difference is None and self.unfinished is None

    def __str__(self) -> str:
        tail = "; the last line is cut off and not counted" if self.cut else ""
        if self.unchained:
            tail += f"; {self.unchained} are unchained (format 1): deleted ones are not noticed"
        played = f"{self.episodes} episodes, {self.steps} steps"
        if self:
            return f"verified: {played}{tail}"
        if self.difference is None:
            return (
                f"UNFINISHED: {played} agree, but the run was not closed behind line "
                f"{self.unfinished}: it was killed, is still running, or its last lines were "
                f"deleted; resume=True completes it{tail}"
            )
        places = {"line": self.line, "episode": self.episode, "step": self.step}
        place = ", ".join(f"{k} {v}" for k, v in places.items() if v is not None)
        place = f" at {place}" if place else ""
        return f"DIFFERENT{place}: {self.difference} ({played} before it agree){tail}"


def verify(path: PathLike) -> Verification:
    """Play a record again and check the acting agents, the legality of actions, the actions that
    answers name, rewards by term, fingerprints and totals; that no line was edited, deleted or
    moved; and that the run was completed.

    The digests protect against mistakes, not against a forger who recomputes all of them. To
    protect what replaying does not check (texts, `info`, names of seats, the set of episodes), give
    a copy, or a digest of the file, to somebody else.

    Raises:
        RecordError: the file cannot be read at all.
    """
    episodes = steps = line = 0
    cut, chain = False, Chain()
    seen: set[tuple[str, int, str]] = set()
    envs: dict[str, Env] = {}
    for line, data in read_lines(path):
        number = None
        try:
            episode = parse_line(line, data)
            if isinstance(episode, Closing):
                chain.add(episode)
                continue
            number = episode.result.episode
            key = episode.run, number, beginning(episode.fork)
            if key in seen:
                raise Difference(None, f"episode {number} is in the record twice")
            seen.add(key)
            spec = json.dumps(episode.spec)
            if spec not in envs:
                envs[spec] = episode.env()
            _compare(episode, envs[spec])
        except RecordError as error:
            cut = not data.endswith(b"\n")
            if cut:
                break
            return Verification(episodes, steps, line, number, None, str(error))
        except Difference as error:
            return Verification(episodes, steps, line, number, error.step, error.what)
        try:
            chain.add(episode)
        except Difference as error:
            what = error.what + _absent(path, episode.run)
            return Verification(episodes, steps, line, number, None, what)
        episodes += 1
        steps += len(episode.steps)
    if not line:
        return Verification(0, 0, difference="the file is empty: it holds no episode")
    unfinished = chain.unfinished or [line] * (cut and not episodes)
    return Verification(
        episodes,
        steps,
        cut=cut,
        unfinished=unfinished[0] if unfinished else None,
        unchained=chain.unchained,
    )


def _absent(path: PathLike, run: str) -> str:
    """The missing episodes of a run, up to the last one in its file."""
    numbers = set()
    for line, data in read_lines(path):
        with contextlib.suppress(RecordError):
            entry = parse_line(line, data)
            if isinstance(entry, Episode) and entry.run == run:
                numbers.add(entry.result.episode)
    last = max(numbers)
    if len(numbers) == last + 1:
        return ""
    absent = [str(number) for number in itertools.islice(_gaps(numbers), 20)]
    more = ", …" if last + 1 - len(numbers) > len(absent) else ""
    return f"; of episodes 0 to {last} the file lacks {', '.join(absent)}{more}"


def _gaps(numbers: set[int]) -> Iterator[int]:
    return (number for number in range(max(numbers)) if number not in numbers)


def _compare(episode: Episode, env: Env) -> None:
    """Raise `Difference` unless playing the episode again reproduces the record."""
    try:
        _compare_all(episode, env)
    except Difference as error:
        if episode.made_with != MADE_WITH:
            error.what += f" (recorded with {episode.made_with}; this is {MADE_WITH})"
        raise


def _compare_all(episode: Episode, env: Env) -> None:
    result, options = episode.result, episode.options
    for name, (right, recorded) in place_of(episode).items():
        _same(None, f"the episode's {name}", right, recorded)
    game = None
    for moment, game in _replay(episode, env):
        if moment.turn is None:
            _same(None, "the first state", fingerprint(env, moment.frame.state), episode.start)
            continue
        t = game.made - (not game.forfeits)
        step = episode.steps[t]
        terms = {k: v.tolist() for k, v in moment.frame.terms.items() if v.any()}
        _same(t, "the reward by terms", terms, step.terms)
        if game.forfeits:
            continue
        if step.fingerprint is not None:
            _same(t, "the state", fingerprint(env, moment.frame.state), step.fingerprint)
        elif moment.over:
            raise Difference(t, "the fingerprint of the last state is missing")
    assert game is not None
    if not game.over and game.made != options.get("max_steps"):
        raise Difference(game.made, "the record stops here, but the episode continues")
    recorded = totals_of(result)
    for name, right in totals_of(game.result(result.players)).items():
        _same(None, f"the total `{name}`", right, recorded[name])


def _same(step: int | None, what: str, right: Any, recorded: Any) -> None:
    right, recorded = plain(right), plain(recorded)
    if right != recorded:
        raise Difference(
            step, f"{what} is {shorten(right, 300)}; recorded is {shorten(recorded, 300)}"
        )


# ---- shared with the writer ----------------------------------------------------------------------


def place_of(episode: Episode) -> dict[str, tuple[Any, Any]]:
    """An episode's place in its run, by name: (expected from its number, recorded)."""
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


def beginning(fork: bytes | None) -> str:
    if fork is None:
        return "with a reset"
    return f"from the snapshot {hashlib.blake2b(fork, digest_size=8).hexdigest()}"


def totals_of(result: EpisodeResult) -> dict[str, Any]:
    return {
        "steps": result.steps,
        "ended": result.ended,
        "rewards": plain(result.rewards),
        "terms": plain(result.terms),
        "metrics": plain(result.metrics),
        "illegal": list(result.illegal),
        "forfeits": list(result.forfeits),
    }


def plain(value: Any) -> Any:
    """Any value as JSON types; values without one become their `str`."""
    if isinstance(value, (np.ndarray, np.generic)) or type(value).__module__.startswith("jax"):
        value = np.asarray(value).tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)
