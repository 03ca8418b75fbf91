"""What happened in the last step, as data and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
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
    seen = np.ones(mission.num_agents, bool)
    if agent is not None:
        seen = np.asarray(sees(mission, state))[mission.index(agent)]
    return [
        {"event": KINDS[what], "agent": mission.agents[i]}
        for i, what in enumerate(np.asarray(state.recent).tolist())
        if seen[i] and what
    ]


def event_codes(config: WarehouseConfig, state: WarehouseState) -> Array:
    """f32[N, 12, ...], named by `NAMES`."""
    kinds = expand(np.array(list(KINDS), np.uint8), state.time.ndim)
    did = state.recent[:, None] == kinds
    others = expand(~np.eye(config.players, dtype=bool), state.time.ndim)
    seen = sees(config, state) & others
    counts = jnp.sum(seen[:, :, None] & did[None], axis=1, dtype=jnp.uint8)
    return jnp.concatenate([did.astype(jnp.uint8), counts], axis=1).astype(jnp.float32)
