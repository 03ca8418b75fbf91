"""The errors of the package: all are `ManyhandsError`s."""

from __future__ import annotations

from typing import Any


class ManyhandsError(Exception):
    """Base of every error that Manyhands raises on purpose."""


class ConfigError(ManyhandsError, ValueError):
    """A configuration that no environment can be built from."""


class LayoutError(ConfigError):
    """A level text that cannot be played; `row` and `column` count from 0, or are None."""

    def __init__(self, reason: str, row: int | None = None, column: int | None = None):
        where = ""
        if row is not None:
            where = f"row {row}" + (f", column {column}" if column is not None else "") + ": "
        super().__init__(where + reason)
        self.reason, self.row, self.column = reason, row, column


class IllegalAction(ManyhandsError, ValueError):
    """An action that the agent may not take now; `reason` is written for the agent."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class EpisodeOver(ManyhandsError, RuntimeError):
    """A finished episode was stepped; reset first."""


class SnapshotError(ManyhandsError, ValueError):
    """Bytes that are not a snapshot of this environment."""


class RecordError(ManyhandsError, ValueError):
    """A record file that cannot be read, or that does not match the request."""


class TrainingError(ManyhandsError, RuntimeError):
    """A training run that cannot start, continue or be saved; `result` holds its results so far."""

    result: Any = None


class SeatError(ManyhandsError, RuntimeError):
    """A seat that cannot play: a missing extra, a failing endpoint, a wrong name."""


class RenderError(ManyhandsError, RuntimeError):
    """A picture that cannot be made on this machine."""


class PolicyError(ManyhandsError, ValueError):
    """A file that is not a policy, or is a policy for another environment."""
