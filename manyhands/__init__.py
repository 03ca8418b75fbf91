"""Manyhands: many hands in one world.

Multi-agent worlds in which language agents, learned policies, scripts and people play the same
game through the same loop.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from manyhands._version import __version__

# Whether this process is the command; a process that it starts for its work is none.
_COMMAND = "--multiprocessing-fork" not in sys.orig_argv and (
    os.path.basename(next(iter(sys.argv), "")).partition(".")[0] == "manyhands"
    or (sys.argv[:1] == ["-m"] and "manyhands" in sys.orig_argv)
)
# XLA reports what the command loads from its compilation cache as compiled for another machine, at
# great length: it compares its own tuning flags with the processor's features. The level is read
# once, when jax is imported.
if _COMMAND:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

if TYPE_CHECKING:  # at run time they are loaded on first use, below
    from manyhands.core.env import (
        ConfigError,
        Env,
        EpisodeOver,
        IllegalAction,
        LayoutError,
        ManyhandsError,
        Outcome,
        PolicyError,
        RecordError,
        SeatError,
        SnapshotError,
        Wrapper,
        unwrap,
    )
    from manyhands.core.pack import fingerprint, restore, snapshot
    from manyhands.core.play import play
    from manyhands.core.processes import ProcessError
    from manyhands.core.registry import (
        Game,
        make,
        register,
        register_seat,
        register_wrapper,
        registered,
        registered_seats,
        seat,
    )
    from manyhands.core.render import render
    from manyhands.core.rollout import rollout
    from manyhands.core.view import BudgetSpent, Reply, View
    from manyhands.wrappers.text_seat import text_seat
    from manyhands.wrappers.vector import vector

# What `import manyhands` loads, with the games, wrappers and seats (`shipped.py`). The command line
# loads it when it knows what to run.
_CORE = {
    "manyhands.core.env": (
        *("ConfigError", "Env", "EpisodeOver", "IllegalAction", "LayoutError", "ManyhandsError"),
        *("Outcome", "PolicyError", "RecordError", "SeatError", "SnapshotError", "Wrapper"),
        "unwrap",
    ),
    "manyhands.core.processes": ("ProcessError",),
    "manyhands.core.registry": (
        *("Game", "make", "register", "register_seat", "register_wrapper", "registered"),
        *("registered_seats", "seat"),
    ),
}
# Loaded on first use, so that `import manyhands` stays light.
_LAZY = {
    "play": "manyhands.core.play",
    "View": "manyhands.core.view",
    "render": "manyhands.core.render",
    "Reply": "manyhands.core.view",
    "BudgetSpent": "manyhands.core.view",
    "rollout": "manyhands.core.rollout",
    "snapshot": "manyhands.core.pack",
    "restore": "manyhands.core.pack",
    "fingerprint": "manyhands.core.pack",
    "text_seat": "manyhands.wrappers.text_seat",
    "vector": "manyhands.wrappers.vector",
}


def _load() -> None:
    """Load the core, and register what comes with the package."""
    importlib.import_module("manyhands.shipped")
    for module, names in _CORE.items():
        loaded = importlib.import_module(module)
        globals().update({name: getattr(loaded, name) for name in names})


if not TYPE_CHECKING:  # which would take any name for a member

    def __getattr__(name: str) -> Any:
        if name == "envs":
            return importlib.import_module("manyhands.envs")
        if name in _LAZY:
            return getattr(importlib.import_module(_LAZY[name]), name)
        if any(name in names for names in _CORE.values()):
            _load()
            return globals()[name]
        raise AttributeError(f"module 'manyhands' has no attribute {name!r}")


if not _COMMAND:
    _load()

__all__ = [
    "BudgetSpent",
    "ConfigError",
    "Env",
    "EpisodeOver",
    "Game",
    "IllegalAction",
    "LayoutError",
    "ManyhandsError",
    "Outcome",
    "PolicyError",
    "ProcessError",
    "RecordError",
    "Reply",
    "SeatError",
    "SnapshotError",
    "View",
    "Wrapper",
    "__version__",
    "fingerprint",
    "make",
    "play",
    "register",
    "register_seat",
    "register_wrapper",
    "registered",
    "registered_seats",
    "render",
    "restore",
    "rollout",
    "seat",
    "snapshot",
    "text_seat",
    "unwrap",
    "vector",
]
