"""Records for a page: their list, and their moments one by one; and the pages of seasons."""

from __future__ import annotations

import functools
import html
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from manyhands.core.env import ConfigError, ManyhandsError, RecordError
from manyhands.core.episode import Moment
from manyhands.core.record import Episode, frames, read
from manyhands.web.tables import Picture, everything

# The policy in a report's head, and what it may allow: one script and one style, by their hashes.
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_HASHED = r"'sha256-[A-Za-z0-9+/=]+'"
_STRICT = re.compile(
    rf"default-src 'none'; style-src {_HASHED}; script-src {_HASHED}; "
    "base-uri 'none'; form-action 'none'"
)
MOST_STEPS = 5_000  # of an episode that is shown


class Library:
    """The records of a folder, found when it is opened: a page asks for them by number, so that
    nothing that it says is ever a path.

    Args:
        files: records, or folders of them (`.jsonl`), also of seasons (`manyhands arena`). The
            records of a season are on its page, and are listed only where they are given by name.

    Raises:
        ConfigError: there is no such file.
    """

    def __init__(self, files: Iterable[Path]):
        self.files: list[Path] = []
        self._seasons: list[Path] = []
        self._root = Path()
        for file in files:
            if not file.exists():
                raise ConfigError(f"there is no record or folder {file}")
            if not file.is_dir():
                self.files.append(file)
                continue
            found = sorted(file.rglob("report.html"))
            seasons = [one for one in found if one.with_name("results.json").exists()]
            # Hundreds of matches, which the season's own page shows.
            stores = [one.parent for one in seasons]
            self._seasons += seasons
            self.files += [
                one
                for one in sorted(file.rglob("*.jsonl"))
                if not any(store in one.parents for store in stores)
            ]
        self._moments = functools.lru_cache(maxsize=4)(self._load)

    def listed(self) -> list[dict[str, Any]]:
        """All episodes of all records, by record: what was played, by whom, and how it ended."""
        rows: list[dict[str, Any]] = []
        for number, file in enumerate(self.files):
            row: dict[str, Any] = {"record": number, "name": file.name, "episodes": []}
            try:
                for episode in _episodes(file):
                    row["episodes"].append(_about(episode))
            except ManyhandsError as error:
                row["broken"] = str(error)
            rows.append(row)
        return rows

    def seasons(self) -> list[dict[str, Any]]:
        """All seasons that have a report: their names, games and players."""
        rows = []
        for number, page in enumerate(self._seasons):
            row: dict[str, Any] = {"season": number, "name": page.parent.name}
            try:
                results = json.loads(page.with_name("results.json").read_text(encoding="utf-8"))
                row["games"] = [str(name) for name in results["games"]]
                row["name"] = str(results["season"])
            except (OSError, ValueError, KeyError, TypeError):
                row["broken"] = "its results cannot be read"
            rows.append(row)
        return rows

    def season_page(self, number: int) -> tuple[str, str]:
        """The report of a season, and the content security policy under which it is shown: its own,
        which allows one script by its hash, in a sandbox apart from this server's pages; "" if it
        has none that is strict enough.

        Raises:
            ConfigError: there is no such season, or it cannot be read.
        """
        if not 0 <= number < len(self._seasons):
            raise ConfigError(f"there is no season {number}; there are {len(self._seasons)}")
        try:
            text = self._seasons[number].read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the season {number} cannot be read") from error
        found = _POLICY.search(text[:10_000])
        policy = html.unescape(found[1]) if found else ""
        if not _STRICT.fullmatch(policy):
            return text, ""
        return text, f"{policy}; frame-ancestors 'none'; sandbox allow-scripts"

    def moments(self, record: int, episode: int) -> list[Moment]:
        """The moments of an episode.

        Raises:
            ConfigError: there is no such record or episode.
            RecordError: the record is broken.
        """
        return self._moments(record, episode)

    def _load(self, record: int, episode: int) -> list[Moment]:
        if not 0 <= record < len(self.files):
            raise ConfigError(f"there is no record {record}; there are {len(self.files)}")
        for found in _episodes(self.files[record]):
            if found.result.episode == episode:
                if len(found.steps) > MOST_STEPS:
                    raise ConfigError(
                        f"the episode has {len(found.steps)} steps; at most {MOST_STEPS} are shown"
                    )
                return list(frames(found))
        raise ConfigError(f"{self.files[record].name} holds no episode {episode}")

    def picture(self, record: int, episode: int, step: int) -> Picture:
        """A moment of an episode, by its number from 0."""
        moments = self.moments(record, episode)
        at = min(max(step, 0), len(moments) - 1)
        shown = everything(moments[at], moments[at - 1] if at else None)
        shown.words.update(moment=at, moments=len(moments), pace=moments[0].env.pace)
        return shown

    def marks(self, record: int, episode: int) -> list[int]:
        """The moments in which something happened: a reward, or a refused answer, or words."""
        found = []
        for at, moment in enumerate(self.moments(record, episode)):
            turn = moment.turn
            rewarded = any(values.any() for values in moment.frame.terms.values())
            if turn is not None and (rewarded or turn.said or turn.illegal):
                found.append(at)
        return found


def _episodes(file: Path) -> Iterator[Episode]:
    """Those of a record, whose folder on the server is nobody's business."""
    try:
        yield from read(file)
    except RecordError as error:
        raise RecordError(str(error).replace(os.fspath(file), file.name)) from error


def _about(episode: Episode) -> dict[str, Any]:
    result = episode.result
    return {
        "episode": result.episode,
        "game": episode.spec.get("id", "?"),
        "seats": [episode.seats[player] for player in result.players],
        "agents": list(episode.agents),
        "steps": result.steps,
        "ended": result.ended,
        "rewards": [float(reward) for reward in result.rewards],
    }
