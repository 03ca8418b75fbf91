"""Writing records: one line for each episode, on the disk as soon as the episode ends."""

from __future__ import annotations

import base64
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manyhands.core.env import Env, RecordError, shorten
from manyhands.core.episode import EpisodeResult, Game, Turn
from manyhands.core.pack import fingerprint
from manyhands.core.record import (
    MADE_WITH,
    TAIL,
    VERSION,
    Chain,
    Closing,
    Difference,
    Episode,
    PathLike,
    beginning,
    parse_line,
    place_of,
    plain,
    read_lines,
    run_digest,
    seal,
    totals_of,
)
from manyhands.core.redact import redact
from manyhands.core.registry import player_of

try:
    import fcntl
except ImportError:  # Windows: two runs that write one file are not noticed there
    fcntl = None  # type: ignore[assignment]

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
# Control and format characters (Cc, Cf), line and paragraph separators, halves of characters.
_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_REPAIR = (
    "`manyhands.core.writer.repair(path, out)` copies the episodes that are whole and unedited to "
    "a new file, which can be resumed"
)


class RecordBusy(RecordError):
    """Another process writes the record."""


class Writer:
    """Appends episodes to a file. Every line is on the disk before its episode counts as finished:
    whenever the process is killed, at most an unfinished last line is lost.

    Args:
        path: the file; its folder must exist.
        env, seed, seats, options: the run, written into every line and compared on resuming.
        every: steps between fingerprints.
        resume: continue the file. Otherwise it must be empty.
        forks: the snapshots that groups start from in turn.

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
        self._head: dict[str, Any] = {
            "manyhands": VERSION,
            "made_with": MADE_WITH,
            "env": env.spec(),
            "seed": seed,
            "seats": [redact(seat) for seat in seats],
            "options": dict(options),
        }
        self.done: dict[int, EpisodeResult] = {}
        self._lock = threading.Lock()
        self._previous = run_digest(self._head)
        self._episodes, self._linked = 0, False
        self._closing: int | None = None  # where the line begins that closes the record
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
                raise RecordBusy(f"another run is writing to {self.path}") from error
        size = os.fstat(self._file).st_size
        if size and not resume:
            raise RecordError(
                f"{self.path} is not empty; pass resume=True to continue it, or name another file"
            )
        end, whole, chain = 0, True, Chain()
        for line, data in read_lines(self.path):
            whole = data.endswith(b"\n")
            try:
                entry = parse_line(line, data)
            except RecordError as error:
                if whole:
                    raise RecordError(f"{self.path}, {error}; {_REPAIR}") from error
                break
            if isinstance(entry, Episode):
                self._check(entry)
                self.done[entry.result.episode] = entry.result
            try:
                chain.add(entry)
            except Difference as error:
                raise RecordError(f"{self.path}, line {line}: {error.what}; {_REPAIR}") from error
            self._closing = end if isinstance(entry, Closing) else None
            end += len(data)
        if chain.last is not None:
            self._previous, self._episodes = chain.last.digest, chain.episodes
            self._linked = chain.linked
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
        ours: list[str] = self._head["seats"]
        if list(map(player_of, episode.seats)) == list(map(player_of, ours)):
            # With another budget they are the same players; lines of one run name them alike.
            self._head["seats"] = theirs["seats"]
        for name, value in theirs.items():
            if json.dumps(value, sort_keys=True) != json.dumps(self._head[name], sort_keys=True):
                raise RecordError(
                    f"{self.path} holds another run (line {episode.line}): its {name} is "
                    f"{shorten(value, 400)}, this run's is {shorten(self._head[name], 400)}"
                )
        number = episode.result.episode
        if number in self.done:
            raise RecordError(f"{self.path} holds episode {number} twice (line {episode.line})")
        for name, (right, recorded) in place_of(episode).items():
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
                f"{beginning(episode.fork)}, in this run {beginning(fork)}"
            )

    def episode(self, game: Game) -> EpisodeLog:
        """Begin an episode."""
        return EpisodeLog(game, self._head, self._every)

    def write(self, body: bytes) -> None:
        """Append an episode (`EpisodeLog.body`), and flush it to the disk."""
        with self._lock:
            if self._closing is not None:  # the run continues
                os.ftruncate(self._file, self._closing)
                self._closing = None
            self._previous = self._put(body)
            self._episodes += 1
            self._linked = True

    def close(self) -> None:
        """Write the line that marks the run as complete."""
        with self._lock:
            if self._closing is None and self._linked:
                body = {
                    "manyhands": VERSION,
                    "made_with": MADE_WITH,
                    "closed": {"episodes": self._episodes},
                }
                size = os.fstat(self._file).st_size
                self._put(json.dumps(body, separators=(",", ":")).encode())
                self._closing = size

    def _put(self, body: bytes) -> str:
        """Append a line, and return its digest."""
        line, digest = seal(body, self._previous)
        size = os.fstat(self._file).st_size
        try:
            self._append(line)
        except OSError as error:
            os.ftruncate(self._file, size)
            raise RecordError(f"cannot write to {self.path}: {error.strerror}") from error
        return digest

    def _append(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


class EpisodeLog:
    """One episode while it is recorded."""

    def __init__(self, game: Game, head: Mapping[str, Any], every: int):
        self._game, self._head, self._every = game, head, every
        self._start = fingerprint(game.env, game.frame.state)
        self._steps: list[dict[str, Any]] = []

    def add(self, turn: Turn, over: bool) -> None:
        """Note a turn, after `game` has made it."""
        game, agents = self._game, self._game.env.agents
        step: dict[str, Any] = {
            "actions": {agents[i]: plain(a) for i, a in sorted(turn.actions.items())}
        }
        for name in ("said", "answers", "illegal", "info"):
            values = getattr(turn, name)
            if values:
                step[name] = {agents[i]: plain(v) for i, v in sorted(values.items())}
        if turn.forfeits:
            step["forfeit"] = [agents[i] for i in turn.forfeits]
        step["terms"] = {
            name: plain(values) for name, values in game.frame.terms.items() if values.any()
        }
        if not turn.forfeits and (over or game.step % self._every == 0):
            step["fingerprint"] = fingerprint(game.env, game.frame.state)
        self._steps.append(step)

    def body(self, result: EpisodeResult) -> bytes:
        """The episode as an object of JSON: a line of a record without its digests."""
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
            "totals": totals_of(result),
        }
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return _HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text).encode()


def repair(path: PathLike, out: PathLike) -> int:
    """Copy the intact part of a damaged record: every episode whose line can be read and matches
    its digest, in a new chain without a closing line, so that `resume=True` plays the rest.

    Returns:
        The number of lines left out.

    Raises:
        RecordError: `path` cannot be read, or `out` exists or cannot be written.
    """
    lost, previous, run = 0, "", ""
    seen: set[tuple[str, int]] = set()
    try:
        with open(out, "xb") as file:
            for line, data in read_lines(path):
                try:
                    entry = parse_line(line, data)
                except RecordError:
                    lost += 1
                    continue
                if isinstance(entry, Closing):
                    continue
                key = entry.run, entry.result.episode
                if not entry.intact or key in seen:
                    lost += 1
                    continue
                seen.add(key)
                if entry.previous is None:
                    previous = entry.digest
                    file.write(data.rstrip(b"\n") + b"\n")
                else:
                    body = TAIL.sub(b"}", data)
                    start = previous if entry.run == run else entry.run
                    sealed, previous = seal(body, start)
                    file.write(sealed)
                run = entry.run
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RecordError(f"cannot write {os.fspath(out)}: {error.strerror}") from error
    return lost
