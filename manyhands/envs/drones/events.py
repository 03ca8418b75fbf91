"""What happened in the last step, as data and as numbers. All drones know all of it, but those that
read nothing new of the others in this step: these know of no collisions of others, and of no
evader that came into sight or went out of it."""

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
    who = None if agent is None else drones.index(agent)
    lost = drones.losing and who is not None and bool(state.lost[who])
    found: list[dict[str, Any]] = [
        {"event": "collision", "agent": drones.agents[i]}
        for i in np.flatnonzero(np.asarray(state.touched)[: drones.players]).tolist()
        if not lost or i == who
    ]
    if drones.pursuit:
        if int(state.sighting) and not lost:
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
    read = [jnp.sum(own, axis=0)[None] - own]
    if config.pursuit:
        known, flags = state.catcher > 0, (state.sighting > 0, state.sighting < 0)
        read += [repeat(flag.astype(jnp.float32), count) for flag in flags]
    else:
        known = state.gained > 0
    if config.losing:
        read = [jnp.where(state.lost, 0.0, codes) for codes in read]
    codes = [own, read[0], repeat(known.astype(jnp.float32), count), *read[1:]]
    return jnp.stack(codes, axis=1)
