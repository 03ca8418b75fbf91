"""Files that a crash cannot leave half written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def replace(path: str | Path, data: bytes) -> None:
    """Write a file atomically: after a crash it holds either the old or the new contents."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, "wb") as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "w") -> Iterator[Any]:
    """A file to write to, which takes the place of the one at `path` when the block ends without an
    error. What is no file (`/dev/stdout`, a pipe) is written to as it is."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with open(path, mode) as file:
            yield file
        return
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, mode) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
