"""What a study has gathered, in SQLite: participants, their games and their answers.

Every change is a transaction that is on the disk before the page hears of it: a server that is
killed loses no answer, and no finished game, whose record was written before. A game that was being
played is begun anew (`Ledger.recover`).
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import hashlib
import io
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyhands.core.env import ManyhandsError
from manyhands.core.episode import EpisodeResult
from manyhands.core.record import read
from manyhands.web.study import Stage, Study

HOLD = 3600.0  # seconds after which one who is away no longer counts as taking part
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE participants (
    id TEXT PRIMARY KEY,             -- a random word: nothing about the person
    token TEXT NOT NULL UNIQUE,      -- what the person's browser brings
    number INTEGER NOT NULL UNIQUE,  -- how many came before
    "group" TEXT NOT NULL,
    "row" INTEGER NOT NULL,          -- of the orders
    stages TEXT NOT NULL,            -- JSON: the whole way
    stage INTEGER NOT NULL DEFAULT 0,
    code TEXT NOT NULL,
    entered TEXT NOT NULL,
    seen REAL NOT NULL,              -- seconds since 1970
    finished TEXT
) WITHOUT ROWID;
CREATE TABLE games (
    participant TEXT NOT NULL REFERENCES participants (id),
    stage INTEGER NOT NULL,
    attempt INTEGER NOT NULL,        -- from 0; the ones before were cut off
    trial INTEGER NOT NULL,
    practice INTEGER NOT NULL,
    game TEXT NOT NULL,
    partner TEXT NOT NULL,
    seats TEXT NOT NULL,             -- JSON: by agent
    held_out INTEGER NOT NULL,
    agent TEXT NOT NULL,             -- the participant's
    seed INTEGER NOT NULL,
    record TEXT NOT NULL,            -- file, relative to the study's folder
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'lost')),
    reason TEXT NOT NULL DEFAULT '', -- why it was lost
    started TEXT NOT NULL,
    ended_at TEXT,
    steps INTEGER,
    ended TEXT,                      -- terminated, truncated, stopped or forfeit
    reward REAL,                     -- the participant's
    rewards TEXT,                    -- JSON: by agent
    metrics TEXT,                    -- JSON
    forfeits TEXT,                   -- JSON: agents
    PRIMARY KEY (participant, stage, attempt)
) WITHOUT ROWID;
CREATE TABLE answers (
    participant TEXT NOT NULL REFERENCES participants (id),
    stage INTEGER NOT NULL,
    question TEXT NOT NULL,
    trial INTEGER NOT NULL,
    game TEXT NOT NULL,
    partner TEXT NOT NULL,
    "when" TEXT NOT NULL,
    value TEXT NOT NULL,             -- JSON
    answered TEXT NOT NULL,
    PRIMARY KEY (participant, stage, question)
) WITHOUT ROWID;
"""


# Of a recruiting site's ids: only hashes, under a key of the folder. Apart from the tables above,
# and in no CSV file.
_INVITED = """
CREATE TABLE IF NOT EXISTS invited (
    hash TEXT PRIMARY KEY,
    participant TEXT NOT NULL REFERENCES participants (id)
) WITHOUT ROWID
"""


class StudyError(ManyhandsError):
    """The folder of a study holds something else."""


@dataclass(frozen=True)
class Participant:
    """A participant.

    Attributes:
        id: pseudonymous, in records and tables.
        number: how many came before.
        group, row: of the design.
        stages, stage: the way, and the place on it.
        code: to be handed in at the end.
    """

    id: str
    number: int
    group: str
    row: int
    stages: tuple[Stage, ...]
    stage: int
    code: str

    @property
    def now(self) -> Stage:
        """The page that it is at."""
        return self.stages[self.stage]


def now() -> str:
    """The time, UTC, to a second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class Ledger:
    """The store of a study, for all threads of one server.

    Args:
        study: the study.
        folder: where everything is kept; made if it is missing.
        read_only: only to be looked at, also beside a server that is at work.

    Raises:
        StudyError: the folder holds another study, or nothing to look at.
    """

    def __init__(self, study: Study, folder: Path, *, read_only: bool = False):
        self.study, self.folder = study, folder
        self.records = folder / "records"
        file = folder / "study.db"
        if read_only and not file.exists():
            raise StudyError(f"{folder} holds no study yet")
        self.records.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        self._base = sqlite3.connect(
            file, timeout=30, isolation_level=None, check_same_thread=False
        )
        self._base.row_factory = sqlite3.Row
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = FULL")
        with self._change() as base:
            made = base.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
            if made is None:
                for statement in _SCHEMA.split(";\n"):
                    base.execute(statement)
                base.execute("INSERT INTO meta VALUES ('digest', ?)", (study.digest,))
            base.execute(_INVITED)
            key = secrets.token_hex(32)
            base.execute("INSERT OR IGNORE INTO meta VALUES ('key', ?)", (key,))
            (digest,) = base.execute("SELECT value FROM meta WHERE key = 'digest'").fetchone()
        if digest != study.digest:
            self.close()
            raise StudyError(
                f"{folder} holds another study, or this one before its file was changed: give "
                "another folder (--out), so that what was gathered belongs together"
            )

    def close(self) -> None:
        with self._lock:
            self._base.close()

    def _change(self) -> _Change:
        return _Change(self._base, self._lock)

    # ---- participants ----------------------------------------------------------------------------

    def enter(self, clock: float, external: str = "") -> str | None:
        """A new participant, in the group and order that fewest have; the token, or None if the
        study is full.

        Args:
            clock: seconds since 1970.
            external: the id that a recruiting site has for a person, who was here before if it
                was: then the token is that of then.
        """
        study, token, id = self.study, secrets.token_urlsafe(16), f"p{secrets.token_hex(5)}"
        with self._change() as base:
            hashed = self._hash(base, external)
            known = base.execute(
                "SELECT token FROM participants JOIN invited ON participant = id WHERE hash = ?",
                (hashed,),
            ).fetchone()
            if known is not None:
                return str(known["token"])
            held = base.execute(
                'SELECT "group", "row", count(*) FROM participants '
                'WHERE finished IS NOT NULL OR seen > ? GROUP BY "group", "row"',
                (clock - HOLD,),
            )
            counts = {(group, row): count for group, row, count in held}
            if study.participants and sum(counts.values()) >= study.participants:
                return None
            by_group = dict.fromkeys(study.groups, 0)
            for (group, _), count in counts.items():
                by_group[group] += count
            group = min(by_group, key=lambda name: by_group[name])
            row = min(range(study.rows(group)), key=lambda one: counts.get((group, one), 0))
            (number,) = base.execute(
                "SELECT coalesce(max(number), -1) + 1 FROM participants"
            ).fetchone()
            stages = [asdict(stage) for stage in study.stages(group, row, number)]
            base.execute(
                'INSERT INTO participants (id, token, number, "group", "row", stages, code, '
                "entered, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    id,
                    token,
                    number,
                    group,
                    row,
                    json.dumps(stages),
                    study.code or secrets.token_hex(4).upper(),
                    now(),
                    clock,
                ),
            )
            if external:
                base.execute("INSERT INTO invited VALUES (?, ?)", (hashed, id))
        return token

    @staticmethod
    def _hash(base: sqlite3.Connection, external: str) -> str:
        """Of a recruiting site's id: who has only the tables cannot tell whose it is."""
        (key,) = base.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
        return hashlib.blake2b(
            external.encode(), key=bytes.fromhex(key), digest_size=16
        ).hexdigest()

    def participant(self, token: str, clock: float | None = None) -> Participant | None:
        """Whose token it is, if anybody's; `clock` (seconds since 1970) notes that it was seen."""
        with self._change() as base:
            row = base.execute("SELECT * FROM participants WHERE token = ?", (token,)).fetchone()
            if row is None:
                return None
            if clock is not None:
                base.execute("UPDATE participants SET seen = ? WHERE token = ?", (clock, token))
        stages = tuple(Stage(**stage) for stage in json.loads(row["stages"]))
        fields = ("id", "number", "group", "row")
        return Participant(
            **{name: row[name] for name in fields},
            stages=stages,
            stage=row["stage"],
            code=row["code"],
        )

    def withdraw(self, participant: Participant) -> None:
        """Forget one who does not consent."""
        with self._change() as base:
            for table in ("answers", "invited"):
                base.execute(f"DELETE FROM {table} WHERE participant = ?", (participant.id,))
            base.execute("DELETE FROM participants WHERE id = ?", (participant.id,))

    def advance(
        self, participant: Participant, answers: Mapping[str, Any] = {}
    ) -> Participant:  # the default is never changed
        """Keep the answers of a page and go on to the next, in one step."""
        stage, at = participant.now, now()
        last = participant.stage + 1 == len(participant.stages) - 1
        with self._change() as base:
            for name, value in answers.items():
                base.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        participant.id,
                        participant.stage,
                        name,
                        stage.trial,
                        stage.game,
                        stage.partner,
                        stage.when,
                        json.dumps(value),
                        at,
                    ),
                )
            base.execute(
                "UPDATE participants SET stage = ?, finished = ? WHERE id = ? AND stage = ?",
                (participant.stage + 1, at if last else None, participant.id, participant.stage),
            )
            token = base.execute(
                "SELECT token FROM participants WHERE id = ?", (participant.id,)
            ).fetchone()
        found = None if token is None else self.participant(token[0])
        assert found is not None, "participants are deleted before their first page alone"
        return found

    # ---- games -----------------------------------------------------------------------------------

    def begin(
        self, participant: Participant, agent: str, seats: Mapping[str, str], seed: int, record: str
    ) -> int:
        """Note that a game of a participant's stage begins; gives the number of the attempt."""
        stage = participant.now
        game = self.study.games[stage.game]
        with self._change() as base:
            attempt = self._attempts(base, participant)
            base.execute(
                "INSERT INTO games (participant, stage, attempt, trial, practice, game, partner, "
                "seats, held_out, agent, seed, record, started) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    participant.id,
                    participant.stage,
                    attempt,
                    stage.trial,
                    game.practice,
                    stage.game,
                    stage.partner,
                    json.dumps(dict(seats)),
                    self.study.partners[stage.partner].held_out,
                    agent,
                    seed,
                    record,
                    now(),
                ),
            )
        return attempt

    def attempts(self, participant: Participant) -> int:
        """How often the game of a participant's stage was begun."""
        with self._lock:
            return self._attempts(self._base, participant)

    @staticmethod
    def _attempts(base: sqlite3.Connection, participant: Participant) -> int:
        (count,) = base.execute(
            "SELECT count(*) FROM games WHERE participant = ? AND stage = ?",
            (participant.id, participant.stage),
        ).fetchone()
        return int(count)

    def done(self, record: str, result: EpisodeResult, agents: Sequence[str]) -> None:
        """Note that the game with this record has ended, for all who played it."""
        with self._change() as base:
            for key in base.execute(
                "SELECT participant, stage, attempt, agent FROM games WHERE record = ?", (record,)
            ).fetchall():
                base.execute(
                    "UPDATE games SET state = 'done', reason = '', ended_at = ?, steps = ?, "
                    "ended = ?, reward = ?, rewards = ?, metrics = ?, forfeits = ? "
                    "WHERE participant = ? AND stage = ? AND attempt = ?",
                    (
                        now(),
                        result.steps,
                        result.ended,
                        float(result.rewards[list(agents).index(key["agent"])]),
                        json.dumps(dict(zip(agents, map(float, result.rewards), strict=True))),
                        json.dumps({name: float(one) for name, one in result.metrics.items()}),
                        json.dumps(list(result.forfeits)),
                        *tuple(key)[:3],
                    ),
                )

    def lost(self, record: str, reason: str) -> None:
        """Note that the game with this record was cut off."""
        with self._change() as base:
            base.execute(
                "UPDATE games SET state = 'lost', reason = ? WHERE record = ? AND state = 'open'",
                (reason, record),
            )

    def finished(self, participant: Participant) -> bool:
        """Whether the game of a participant's stage was played to its end."""
        with self._lock:
            row = self._base.execute(
                "SELECT 1 FROM games WHERE participant = ? AND stage = ? AND state = 'done'",
                (participant.id, participant.stage),
            ).fetchone()
        return row is not None

    def recover(self) -> None:
        """After a server that was killed: games that were open are done if their record has their
        end, and else lost."""
        with self._lock:
            rows = self._base.execute(
                "SELECT DISTINCT record FROM games WHERE state = 'open'"
            ).fetchall()
        for (record,) in rows:
            episodes = []
            if (self.folder / record).exists():
                with contextlib.suppress(ManyhandsError):
                    episodes = list(read(self.folder / record))
            if episodes:
                self.done(record, episodes[-1].result, episodes[-1].agents)
            else:
                self.lost(record, "the server was stopped")

    # ---- tables ----------------------------------------------------------------------------------

    def tables(self) -> dict[str, str]:
        """What was gathered, as the texts of CSV files by their names."""
        with self._lock:
            people = self._base.execute("SELECT * FROM participants ORDER BY number").fetchall()
            games = self._base.execute(
                "SELECT * FROM games JOIN (SELECT id, number FROM participants) "
                "ON id = participant ORDER BY number, stage, attempt"
            ).fetchall()
            answers = self._base.execute(
                "SELECT * FROM answers JOIN (SELECT id, number FROM participants) "
                "ON id = participant ORDER BY number, stage, question"
            ).fetchall()
        kept = ("id", "number", "group", "row", "stage", "code", "entered", "finished")
        metrics = sorted({name for row in games for name in json.loads(row["metrics"] or "{}")})
        columns = (
            *("participant", "trial", "practice", "game", "partner", "held_out", "agent", "seats"),
            *("attempt", "seed", "state", "reason", "started", "ended_at", "steps", "ended"),
            *("reward", "rewards", "forfeits", "record"),
        )
        measured = [
            {**{name: row[name] for name in columns}, **json.loads(row["metrics"] or "{}")}
            for row in games
        ]
        asked = ("participant", "trial", "game", "partner", "when", "question", "value", "answered")
        said = [
            {name: row[name] for name in asked} | {"value": json.loads(row["value"])}
            for row in answers
        ]
        return {
            "participants.csv": _csv(kept, [{name: row[name] for name in kept} for row in people]),
            "games.csv": _csv((*columns, *metrics), measured),
            "answers.csv": _csv(asked, said),
        }

    def save_tables(self) -> list[Path]:
        """Write the CSV files, each all at once; gives their paths."""
        paths = []
        for name, text in self.tables().items():
            path = self.folder / name
            beside = path.with_name(f".{name}.{secrets.token_hex(4)}")
            beside.write_text(text, encoding="utf-8", newline="")
            os.replace(beside, path)
            paths.append(path)
        return paths


class _Change:
    """A transaction of one thread at a time."""

    def __init__(self, base: sqlite3.Connection, lock: Any):
        self._base, self._lock = base, lock

    def __enter__(self) -> sqlite3.Connection:
        self._lock.acquire()
        try:
            self._base.execute("BEGIN IMMEDIATE")
        except BaseException:
            self._lock.release()
            raise
        return self._base

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self._base.execute("COMMIT" if kind is None else "ROLLBACK")
        finally:
            self._lock.release()


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
    return out.getvalue()


def _cell(value: Any) -> Any:
    """A value for a spreadsheet, which takes words that begin so for a formula."""
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
