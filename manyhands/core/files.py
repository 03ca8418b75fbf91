"""Files that a crash cannot leave half written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def replace(path: str | Path, data: bytes) -> None:
    """Write a file atomically: after a crash it holds either the old or the new contents."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
