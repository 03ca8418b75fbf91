"""What happened in the last step, as data and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manyhands.core.env import Array
from manyhands.envs.mission.events import counted, told
from manyhands.envs.mission.warehouse.observe import sees
from manyhands.envs.mission.warehouse.state import (
    BLOCKED,
    DELIVERED,
    LOADED,
    MOVED,
    TURNED,
    UNLOADED,
    WarehouseConfig,
    WarehouseState,
)

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

KINDS = {
    MOVED: "move",
    BLOCKED: "blocked",
    TURNED: "turn",
    LOADED: "load",
    UNLOADED: "unload",
    DELIVERED: "delivery",
}
# Of `event_codes`: what the robot did, and how many other robots in view did so.
NAMES = tuple(f"{who} {kind}" for who in ("own", "others") for kind in KINDS.values())


def last_events(
    mission: Mission, state: WarehouseState, agent: str | int | None = None
) -> list[dict[str, Any]]:
    """What the robots did that `agent` sees after the step (None: all of them)."""
    return told(mission, state, agent, KINDS, sees)


def event_codes(config: WarehouseConfig, state: WarehouseState) -> Array:
    """f32[N, 12, ...], named by `NAMES`."""
    return counted(state, KINDS, sees(config, state))
