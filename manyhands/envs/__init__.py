"""The worlds: one folder a game."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    # So that `manyhands.envs.kitchen` works after `import manyhands`, and loads only the kitchen.
    module = f"{__name__}.{name}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
