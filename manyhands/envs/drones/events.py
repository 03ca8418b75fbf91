"""What happened in the last step, as data and as numbers. All drones know all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import repeat
from manyhands.core.env import Array
from manyhands.envs.drones.state import DronesConfig, DronesState

if TYPE_CHECKING:
    from manyhands.envs.drones.env import Drones


KINDS = ("collision", "sighted", "lost", "caught", "reached", "crash")


def names(config: DronesConfig) -> tuple[str, ...]:
    """Of `event_codes`."""
    task = ("caught", "came into sight", "went out of sight") if config.pursuit else ("reached",)
    return ("own collision", "others' collisions", *task)


def last_events(
    drones: Drones, state: DronesState, agent: str | int | None = None
) -> list[dict[str, Any]]:
    """Collisions of agents, and what became of the goal or of the evader."""
    if agent is not None:
        drones.index(agent)
    found: list[dict[str, Any]] = [
        {"event": "collision", "agent": drones.agents[i]}
        for i in np.flatnonzero(np.asarray(state.touched)[: drones.players]).tolist()
    ]
    if drones.pursuit:
        if int(state.sighting):
            found.append({"event": "sighted" if int(state.sighting) > 0 else "lost"})
        if int(state.catcher):
            found.append({"event": "caught", "agent": drones.agents[int(state.catcher) - 1]})
    elif int(state.gained):
        found.append({"event": "reached", "goal": int(state.reached)})
    if bool(state.crashed):
        found.append({"event": "crash"})
    return found


def event_codes(config: DronesConfig, state: DronesState) -> Array:
    """f32[A, E, ...], named by `names`."""
    count = config.players
    own = state.touched[:count].astype(jnp.float32)
    codes = [own, jnp.sum(own, axis=0)[None] - own]
    if config.pursuit:
        shared = [state.catcher > 0, state.sighting > 0, state.sighting < 0]
    else:
        shared = [state.gained > 0]
    codes += [repeat(flag.astype(jnp.float32), count) for flag in shared]
    return jnp.stack(codes, axis=1)
