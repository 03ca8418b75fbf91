"""The worlds: one folder a game."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # at run time they are loaded on first use, below
    from manyhands.envs import board as board
    from manyhands.envs import craftworld as craftworld
    from manyhands.envs import kitchen as kitchen
    from manyhands.envs import negotiation as negotiation
    from manyhands.envs import poker as poker
    from manyhands.envs import volleyball as volleyball
else:  # a type checker would take any name for a member

    def __getattr__(name: str) -> Any:
        # So that `manyhands.envs.kitchen` works after `import manyhands`, and loads it alone.
        module = f"{__name__}.{name}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
