"""The store of a season: matches, episodes and decisions in SQLite, their records beside it.

A match is claimed, played into its record (`records/match-N.jsonl`, each episode on the disk when
it ends), and then marked as done together with all its rows, in one transaction. So a process may
be killed at any moment: what it had claimed is claimed anew, and the record continues where it
ended.

A claim is a lease that its owner renews while it plays. Another process takes it over when it has
run out, or at once if its owner ran on this machine and is gone. Whoever has lost a claim cannot
mark the match as done: nothing is counted twice. Every change is a transaction that takes the write
lock first (`BEGIN IMMEDIATE`), so that any number of processes of one machine may work on a season.
SQLite's write-ahead log needs a file system that is local to them; a cluster has one process that
writes (`cluster.py`).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from manyhands.baselines.arena.schedule import Match, key_of
from manyhands.baselines.arena.season import Season
from manyhands.core.config import plain
from manyhands.core.env import ConfigError, ManyhandsError
from manyhands.core.record import Episode

VERSION = 1
LEASE = 60.0  # seconds; renewed every quarter of it
ATTEMPTS = 5  # claims of one match, after which it is given up
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE players (name TEXT PRIMARY KEY, fixed TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE games (name TEXT PRIMARY KEY, fixed TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE matches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again: records are named by it
    key TEXT NOT NULL UNIQUE,
    game TEXT NOT NULL,
    round INTEGER NOT NULL,
    "row" TEXT NOT NULL,
    "column" TEXT NOT NULL,
    lineup TEXT NOT NULL,            -- JSON: the player of each agent
    first INTEGER NOT NULL,          -- number of its first episode
    episodes INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'claimed', 'done', 'failed')),
    owner TEXT,
    lease REAL,                      -- when the claim ends, seconds since 1970
    attempts INTEGER NOT NULL DEFAULT 0,
    seconds REAL,                    -- of playing
    finished TEXT,                   -- when, UTC
    record TEXT,                     -- file, relative to the store's folder
    error TEXT
);
CREATE INDEX matches_state ON matches (state, game, round);
CREATE TABLE episodes (
    match INTEGER NOT NULL REFERENCES matches (id),
    episode INTEGER NOT NULL,        -- number of the deal
    seed INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    ended TEXT NOT NULL,
    rewards TEXT NOT NULL,           -- JSON: of each agent
    terms TEXT NOT NULL,             -- JSON: reward terms of each agent
    metrics TEXT NOT NULL,           -- JSON
    illegal TEXT NOT NULL,           -- JSON: illegal answers of each agent
    forfeits TEXT NOT NULL,          -- JSON: names of agents
    PRIMARY KEY (match, episode)
) WITHOUT ROWID;
CREATE TABLE decisions (
    match INTEGER NOT NULL REFERENCES matches (id),
    episode INTEGER NOT NULL,
    step INTEGER NOT NULL,
    seat INTEGER NOT NULL,           -- number of the agent
    player TEXT NOT NULL,
    action TEXT,                     -- JSON
    illegal TEXT,                    -- why an answer was refused
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    seconds REAL,
    cost REAL,
    PRIMARY KEY (match, episode, step, seat)
) WITHOUT ROWID;
CREATE TABLE spending (              -- of decisions, summed when their match is done
    match INTEGER NOT NULL REFERENCES matches (id),
    player TEXT NOT NULL,
    decisions INTEGER NOT NULL,
    timed INTEGER NOT NULL,          -- decisions whose seconds are known
    tokens INTEGER NOT NULL,
    cost REAL NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (match, player)
) WITHOUT ROWID;
"""


# Of a later day than the version: seasons without questions have been stored before.
_PROBES = """
CREATE TABLE IF NOT EXISTS probes (
    match INTEGER NOT NULL REFERENCES matches (id),
    episode INTEGER NOT NULL,
    step INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    player TEXT NOT NULL,
    kind TEXT NOT NULL,
    answer TEXT,                     -- the option that was named, NULL if none
    believed TEXT NOT NULL,          -- the option that the player's knowledge gives
    "true" TEXT NOT NULL             -- the option that was true
)
"""


class StoreError(ManyhandsError):
    """A season's store cannot be read, or holds something else."""


def new_owner() -> str:
    """The name of a claimant: the machine, the process, and a word of its own."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def _gone(owner: str | None) -> bool:
    """Whether the process of an owner is known to have ended."""
    try:
        host, process, _ = (owner or "").rsplit("/", 2)
        if host != socket.gethostname() or os.name != "posix":
            return False
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (ValueError, OSError):
        return False
    return _zombie(int(process))


def _zombie(process: int) -> bool:
    """Killed, but not yet waited for by its parent (Linux)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


class Store:
    """The store in a folder. An object belongs to the thread that made it.

    Args:
        folder: with `season.sqlite` and `records/`.
        season: made at its first use, and compared later: players and games may be added, those
            that have played may not change.
        resume: continue a store that holds matches already.
        lease: seconds of a claim.

    Raises:
        StoreError: there is a store already, or none to read, it is of another version, or cannot
            be written.
        ConfigError: the season has changed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        season: Season | None = None,
        resume: bool = True,
        lease: float = LEASE,
    ):
        self.folder, self.lease = Path(folder), lease
        path = self.folder / "season.sqlite"
        if season is None and not path.exists():
            raise StoreError(f"{self.folder} holds no season (there is no {path.name})")
        if season is not None and path.exists() and not resume:
            raise StoreError(
                f"{self.folder} holds a season already; --resume (resume=True) continues it, or "
                "name another folder"
            )
        (self.folder / "records").mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(path, timeout=60.0, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")  # the records are on the disk
            with self._writing():
                if not self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                    for statement in filter(str.strip, _SCHEMA.split(";\n")):
                        self._db.execute(statement)
                    self._db.execute("INSERT INTO meta VALUES ('version', ?)", (str(VERSION),))
                self._db.execute(_PROBES)
            version = self._db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path} is no store of a season: {error}") from error
        if version is None or version[0] != str(VERSION):
            raise StoreError(f"{path} is of version {version and version[0]}, not {VERSION}")
        if season is not None:
            self._adopt(season)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that holds the write lock from its first statement."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk may have ended it
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:  # a full disk, a lock that is held for long
            raise StoreError(
                f"cannot write {self.folder / 'season.sqlite'}: {error}; nothing that was "
                "finished is lost, and --resume (resume=True) goes on"
            ) from error

    def query(self, sql: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a SELECT."""
        return self._db.execute(sql, tuple(values)).fetchall()

    def _adopt(self, season: Season) -> None:
        parts = (
            ("players", {name: one.fixed() for name, one in season.players.items()}),
            ("games", {name: one.fixed() for name, one in season.games.items()}),
        )
        with self._writing():
            for table, given in parts:
                there = dict(self.query(f"SELECT name, fixed FROM {table}"))
                for name, fixed in given.items():
                    words = json.dumps(fixed, sort_keys=True)
                    if there.get(name, words) != words and self._has_played(table, name):
                        raise ConfigError(
                            f"{table}.{name} has changed since the season in {self.folder} began: "
                            f"{_difference(json.loads(there[name]), json.loads(words))}. Give it "
                            "another name, or begin another season"
                        )
                    self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (name, words))
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('season', ?)", (season.text,))

    def _has_played(self, table: str, name: str) -> bool:
        """Whether a match of a game, or of a player, has ever been begun."""
        begun = self.query("SELECT game, lineup FROM matches WHERE state != 'open' OR attempts > 0")
        if table == "games":
            return any(game == name for game, _ in begun)
        return any(name in json.loads(lineup) for _, lineup in begun)

    @property
    def text(self) -> str:
        """The season's file, as it was last run."""
        rows = self.query("SELECT value FROM meta WHERE key = 'season'")
        if not rows:
            raise StoreError(f"{self.folder} holds no season")
        return str(rows[0][0])

    # ---- matches ------------------------------------------------------------------------------

    def add(self, matches: Iterable[Match], games: Collection[str] = ()) -> None:
        """Add matches; those that were played stay as they are.

        Args:
            games: games whose matches these are, all of them but Swiss rounds: others of theirs
                that nobody has played yet are dropped.
        """
        rows = [
            (key_of(m), m.game, m.round, m.row, m.column, json.dumps(m.lineup), m.first, m.episodes)
            for m in matches
        ]
        wanted = {row[0] for row in rows}
        with self._writing():
            for id, key, game in self.query(
                "SELECT id, key, game FROM matches WHERE state = 'open' AND round = 0"
            ):
                if game in games and key not in wanted:
                    self._db.execute("DELETE FROM matches WHERE id = ?", (id,))
            self._db.executemany(
                'INSERT INTO matches (key, game, round, "row", "column", lineup, first, episodes) '
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                # More episodes than were played: the record goes on.
                "episodes = excluded.episodes, state = 'open', attempts = 0 "
                "WHERE matches.state = 'open' OR "
                "(matches.state = 'done' AND excluded.episodes > matches.episodes)",
                rows,
            )

    def add_round(self, game: str, round: int, matches: Iterable[Match]) -> bool:
        """Add the matches of a Swiss round, unless another process has drawn it up."""
        rows = [
            (key_of(m), m.game, m.round, m.row, m.column, json.dumps(m.lineup), m.first, m.episodes)
            for m in matches
        ]
        with self._writing():
            if self.query("SELECT 1 FROM matches WHERE game = ? AND round = ?", (game, round)):
                return False
            self._db.executemany(
                'INSERT INTO matches (key, game, round, "row", "column", lineup, first, episodes) '
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
        return bool(rows)

    def reopen(self) -> int:
        """Open failed matches again, and those with fewer episodes than they should have; returns
        how many."""
        with self._writing():
            self._db.execute("UPDATE matches SET error = NULL WHERE state = 'open'")
            done = self._db.execute(
                "UPDATE matches SET state = 'open', attempts = 0, error = NULL, owner = NULL "
                "WHERE state = 'failed' OR state = 'done' AND episodes > "
                "(SELECT count(*) FROM episodes WHERE episodes.match = matches.id)"
            )
        return done.rowcount

    def claim(
        self,
        owner: str,
        without: Mapping[str, Collection[str]] | None = None,
        games: Collection[str] | None = None,
    ) -> Match | None:
        """Take the next match, None if there is none now.

        Args:
            without: by game, players whose matches are left where they are.
            games: which games; by default all.
        """
        now = time.time()
        with self._writing():
            self._release(now)
            rows = self._db.execute(
                'SELECT game, round, "row", "column", lineup, first, episodes, id FROM matches '
                "WHERE state = 'open' ORDER BY id"
            )
            for game, round, row, column, lineup, first, episodes, id in rows:
                seats = json.loads(lineup)
                if games is not None and game not in games:
                    continue
                if not set((without or {}).get(game, ())).isdisjoint(seats):
                    continue
                self._db.execute(
                    "UPDATE matches SET state = 'claimed', owner = ?, lease = ?, "
                    "attempts = attempts + 1 WHERE id = ?",
                    (owner, now + self.lease, id),
                )
                return Match(game, round, row, column, tuple(seats), first, episodes, id)
        return None

    def _release(self, now: float) -> None:
        """Open what owners have left behind."""
        for id, owner, lease, attempts in self.query(
            "SELECT id, owner, lease, attempts FROM matches WHERE state = 'claimed'"
        ):
            if lease >= now and not _gone(owner):
                continue
            state, error = "open", None
            if attempts >= ATTEMPTS:
                state = "failed"
                error = f"given up: {attempts} processes ended while they played it"
            self._db.execute(
                "UPDATE matches SET state = ?, error = ?, owner = NULL, lease = NULL WHERE id = ?",
                (state, error, id),
            )

    def renew(self, id: int, owner: str) -> bool:
        """Extend a claim; False if it is lost."""
        with self._writing():
            done = self._db.execute(
                "UPDATE matches SET lease = ? WHERE id = ? AND owner = ? AND state = 'claimed'",
                (time.time() + self.lease, id, owner),
            )
        return done.rowcount == 1

    def give_back(self, id: int, owner: str, crashed: bool = False, why: str | None = None) -> None:
        """End a claim without a result; the attempt counts only if its process crashed.

        Args:
            why: a seat that may spend no more, kept until the match goes on.
        """
        with self._writing():
            self._db.execute(
                "UPDATE matches SET state = CASE WHEN ? AND attempts >= ? THEN 'failed' "
                "ELSE 'open' END, owner = NULL, lease = NULL, attempts = max(attempts - ?, 0), "
                "error = CASE WHEN ? THEN 'the process that played it ended' ELSE ? END "
                "WHERE id = ? AND owner = ? AND state = 'claimed'",
                (crashed, ATTEMPTS, not crashed, crashed, why and why[:2000], id, owner),
            )

    def fail(self, id: int, owner: str, error: str) -> None:
        """End a claim by an error."""
        with self._writing():
            self._db.execute(
                "UPDATE matches SET state = 'failed', owner = NULL, lease = NULL, error = ? "
                "WHERE id = ? AND owner = ? AND state = 'claimed'",
                (error[:2000], id, owner),
            )

    def finish(
        self, match: Match, owner: str, episodes: list[Episode], seconds: float, season: Season
    ) -> bool:
        """Mark a match as done, with all its rows; False if the claim was lost.

        Args:
            episodes: of the match's record, all of them.
            seconds: of playing.
        """
        totals, decisions, probes = _rows(match, episodes, season)
        finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self._writing():
            done = self._db.execute(
                "UPDATE matches SET state = 'done', owner = NULL, lease = NULL, error = NULL, "
                "seconds = coalesce(seconds, 0) + ?, finished = ?, record = ? "
                "WHERE id = ? AND owner = ? AND state = 'claimed'",
                (seconds, finished, f"records/{record_name(match.id)}", match.id, owner),
            )
            if done.rowcount != 1:
                return False
            # A block may have grown.
            for table in ("episodes", "decisions", "probes", "spending"):
                self._db.execute(f"DELETE FROM {table} WHERE match = ?", (match.id,))
            holes = ", ".join("?" * 10)
            self._db.executemany(f"INSERT INTO episodes VALUES ({holes})", totals)
            holes = ", ".join("?" * 11)
            self._db.executemany(f"INSERT INTO decisions VALUES ({holes})", decisions)
            holes = ", ".join("?" * 9)
            self._db.executemany(f"INSERT INTO probes VALUES ({holes})", probes)
            self._db.execute(
                "INSERT INTO spending SELECT match, player, count(*), count(seconds), "
                "coalesce(sum(prompt_tokens), 0) + coalesce(sum(completion_tokens), 0), "
                "coalesce(sum(cost), 0), coalesce(sum(seconds), 0) FROM decisions "
                "WHERE match = ? GROUP BY match, player",
                (match.id,),
            )
        return True

    def record(self, match: Match) -> Path:
        """The file of a match's record."""
        return self.folder / "records" / record_name(match.id)

    # ---- what there is ------------------------------------------------------------------------

    def states(self, games: Collection[str] | None = None) -> dict[str, int]:
        """How many matches are "open", "claimed", "done" and "failed"."""
        found = dict.fromkeys(("open", "claimed", "done", "failed"), 0)
        for game, state, count in self.query(
            "SELECT game, state, count(*) FROM matches GROUP BY game, state"
        ):
            if games is None or game in games:
                found[state] += count
        return found

    def spent(self) -> dict[str, tuple[float, float, float]]:
        """(tokens, cost, seconds) by player, and under "" of the season, whose seconds are those
        of playing."""
        found: dict[str, tuple[float, float, float]] = {
            player: (tokens, cost, seconds)
            for player, tokens, cost, seconds in self.query(
                "SELECT player, sum(tokens), sum(cost), sum(seconds) FROM spending GROUP BY player"
            )
        }
        played = self.query("SELECT coalesce(sum(seconds), 0) FROM matches")[0][0]
        tokens, cost = (sum(one[k] for one in found.values()) for k in (0, 1))
        return found | {"": (tokens, cost, played)}


def record_name(id: int) -> str:
    return f"match-{id:06d}.jsonl"


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return "; ".join(f"{name} was {before.get(name)!r}, is {now.get(name)!r}" for name in names)


def _count(value: Any) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if fits else None


def _amount(value: Any) -> float | None:
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if fits and math.isfinite(value) and value >= 0 else None


def _total(values: Iterable[Any]) -> Any:
    """The sum of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _rows(
    match: Match, episodes: list[Episode], season: Season
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The rows of a match: its episodes, all decisions in them, and all answers to probes, whose
    tokens are spent by the decision that they come before; those of notes by the last one."""
    totals, decisions, probes = [], [], []
    for episode in episodes:
        r = episode.result
        fields = (r.rewards, r.terms, r.metrics, r.illegal, r.forfeits)
        words = [json.dumps(plain(field)) for field in fields]
        totals.append((match.id, r.episode, r.seed, r.steps, r.ended, *words))
        last = {i: step for step, made in enumerate(episode.steps) for i in made.turn.actions}
        end = episode.steps[-1].turn.info if episode.steps else {}
        for step, made in enumerate(episode.steps):
            turn = made.turn
            for agent in sorted(turn.actions):
                player = match.lineup[agent]
                info = turn.info.get(agent, {})
                asked = info.get("probes", ())
                infos = [info, *(note.get("info", {}) for note in asked)]
                # Notes are written at the end, with tokens of their own.
                notes = end.get(agent, {}).get("new_notes") if step == last[agent] else None
                infos += [notes] if isinstance(notes, dict) else []
                prompt = _total(_count(one.get("prompt_tokens")) for one in infos)
                completion = _total(_count(one.get("completion_tokens")) for one in infos)
                cost = _total(_amount(one.get("cost")) for one in infos)
                price = season.price(player)
                if cost is None and price and (prompt is not None or completion is not None):
                    cost = price.of(prompt or 0, completion or 0)
                action = json.dumps(plain(turn.actions[agent]))
                refused = turn.illegal.get(agent)
                where = (match.id, r.episode, step, agent, player)
                why = None if refused is None else refused[:500]
                seconds = _amount(info.get("seconds"))
                decisions.append((*where, action, why, prompt, completion, seconds, cost))
                probes += [
                    (*where, note["kind"], note["answer"], note["believed"], note["true"])
                    for note in asked
                ]
    return totals, decisions, probes


class Heartbeat:
    """Renews a claim from a thread of its own while a match is played.

    Attributes:
        lost: whether the claim was lost.
    """

    def __init__(self, store: Store, id: int, owner: str):
        self._folder, self._lease = store.folder, store.lease
        self._id, self._owner = id, owner
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.lost = False

    def _run(self) -> None:
        with Store(self._folder, lease=self._lease) as store:
            while not self._stop.wait(self._lease / 4):
                try:
                    if not store.renew(self._id, self._owner):
                        self.lost = True
                        return
                except StoreError:  # locked for a minute: try again
                    continue

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
