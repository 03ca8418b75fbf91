"""What happened in the last step, as data and as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.mission.observe import sees_players
from manyhands.envs.mission.state import (
    BLOCKED,
    LOADED,
    MOVED,
    TOO_WEAK,
    MissionConfig,
    MissionState,
)

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

KINDS = {MOVED: "move", BLOCKED: "blocked", LOADED: "load", TOO_WEAK: "failed load"}
# Of `event_codes`: what the player did, and how many other players in view did so.
NAMES = tuple(f"{who} {kind}" for who in ("own", "others") for kind in KINDS.values())


def last_events(
    mission: Mission, state: MissionState, agent: str | int | None = None
) -> list[dict[str, Any]]:
    """What the players did that `agent` sees after the step (None: all of them)."""
    return told(mission, state, agent, KINDS, sees_players)


def event_codes(config: MissionConfig, state: MissionState) -> Array:
    """f32[N, 8, ...], named by `NAMES`."""
    return counted(state, KINDS, sees_players(config, state))


# ---- the same for every kind of scenario ---------------------------------------------------------


def told(
    mission: Mission,
    state: Any,
    agent: str | int | None,
    kinds: Mapping[int, str],
    sees: Callable[[Any, Any], Array],
) -> list[dict[str, Any]]:
    """`last_events` from `state.recent`: codes of `kinds`, and who sees whom, bool[N, N]."""
    seen = np.ones(mission.num_agents, bool)
    if agent is not None:
        seen = np.asarray(sees(mission, state))[mission.index(agent)]
    return [
        {"event": kinds[what], "agent": mission.agents[i]}
        for i, what in enumerate(np.asarray(state.recent).tolist())
        if seen[i] and what
    ]


def counted(state: Any, kinds: Mapping[int, str], seen: Array) -> Array:
    """`event_codes` from `state.recent`: what each agent did, one-hot over `kinds`, and how many of
    the others that it sees (bool[N, N, ...]) did so."""
    codes = expand(np.array(list(kinds), np.uint8), state.time.ndim)
    did = state.recent[:, None] == codes
    others = expand(~np.eye(len(did), dtype=bool), state.time.ndim)
    counts = jnp.sum((seen & others)[:, :, None] & did[None], axis=1, dtype=jnp.uint8)
    return jnp.concatenate([did.astype(jnp.uint8), counts], axis=1).astype(jnp.float32)
