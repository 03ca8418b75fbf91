"""Records for a page: their list, and their moments one by one."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from manyhands.core.env import ConfigError, ManyhandsError
from manyhands.core.episode import Moment
from manyhands.core.record import Episode, frames, read
from manyhands.web.tables import Picture, everything

MOST_STEPS = 5_000  # of an episode that is shown


class Library:
    """The records of a folder, found when it is opened: a page asks for them by number, so that
    nothing that it says is ever a path.

    Args:
        files: records, or folders of them (`.jsonl`).

    Raises:
        ConfigError: there is no such file.
    """

    def __init__(self, files: Iterable[Path]):
        self.files: list[Path] = []
        self._root = Path()
        for file in files:
            if not file.exists():
                raise ConfigError(f"there is no record or folder {file}")
            self.files += sorted(file.rglob("*.jsonl")) if file.is_dir() else [file]
        self._moments = functools.lru_cache(maxsize=4)(self._load)

    def listed(self) -> list[dict[str, Any]]:
        """All episodes of all records, by record: what was played, by whom, and how it ended."""
        rows: list[dict[str, Any]] = []
        for number, file in enumerate(self.files):
            row: dict[str, Any] = {"record": number, "name": file.name, "episodes": []}
            try:
                for episode in read(file):
                    row["episodes"].append(_about(episode))
            except ManyhandsError as error:
                row["broken"] = str(error)
            rows.append(row)
        return rows

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
        for found in read(self.files[record]):
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
