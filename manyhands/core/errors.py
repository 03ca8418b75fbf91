"""The errors of the package: all are `ManyhandsError`s."""

from __future__ import annotations

from collections.abc import Callable
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
    """An action that the agent may not take now; `reason` is written for the agent, and `hint`,
    behind it in the message, for the one who runs the loop.

    The reason may be given as a function, which is called when it is first asked for: a reader of
    sentences tries many clauses, and hardly any of its refusals is ever seen.
    """

    def __init__(self, reason: str | Callable[[], str], hint: str = ""):
        super().__init__()
        self._reason, self.hint = reason, hint

    @property
    def reason(self) -> str:
        if not isinstance(self._reason, str):
            self._reason = self._reason()
        return self._reason

    @property
    def args(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (str(self),)

    def __str__(self) -> str:
        return self.reason + self.hint

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.hint)


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
