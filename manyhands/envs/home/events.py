"""What happened in the last step, as data and as numbers.

A player is told what it did itself, and what those did whom it sees at the end of the step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.home.names import names_of_home
from manyhands.envs.home.observe import agents_of
from manyhands.envs.home.state import (
    CLEANED,
    CLOSED,
    COOLED,
    CUT,
    HEATED,
    NONE,
    OPENED,
    PACKED,
    PUT,
    RACED,
    TOOK,
    USED,
    WENT,
    HomeConfig,
    HomeState,
)

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

KINDS = {
    WENT: "go",
    OPENED: "open",
    CLOSED: "close",
    TOOK: "take",
    PUT: "put",
    PACKED: "pack",
    CLEANED: "clean",
    HEATED: "heat",
    COOLED: "cool",
    USED: "use",
    CUT: "slice",
    RACED: "raced",
}
# Of `event_codes`: what the player did, and how many that it sees did so.
NAMES = tuple(f"{who} {kind}" for who in ("own", "others") for kind in KINDS.values())


def sees(home: HomeConfig, state: HomeState) -> Array:
    """bool[agents, N, ...], whom each agent sees; an instructor sees nobody."""
    if home.view == "all":
        meets = jnp.ones((home.players, home.players, *state.time.shape), bool)
    else:
        meets = state.player_room[:, None] == state.player_room[None]
    missing = agents_of(home) - home.players
    return jnp.concatenate([meets, jnp.zeros((missing, *meets.shape[1:]), bool)])


def last_events(
    home: Home, state: HomeState, agent: str | int | None = None
) -> list[dict[str, Any]]:
    """What players did in the last step; an agent is told of those whom it sees, and of itself."""
    rooms, receptacles, objects = names_of_home(home, state)
    where = np.asarray(state.player_room).tolist()
    viewer = None if agent is None else home.index(agent)
    found: list[dict[str, Any]] = []
    for i, (what, thing, place) in enumerate(np.asarray(state.recent).tolist()):
        if not what or (viewer is not None and not _seen(home, where, viewer, i)):
            continue
        event: dict[str, Any] = {"event": KINDS[what], "agent": home.agents[i]}
        if what == WENT:
            event["room"] = rooms[thing]
        elif thing != NONE:
            event["object"] = objects[thing]
        if what == PACKED:
            event["container"] = objects[place]
        elif place != NONE:
            event["receptacle"] = receptacles[place]
        found.append(event)
    return found


def _seen(home: Home, where: list[int], viewer: int, player: int) -> bool:
    """Whether an agent sees a player, as `sees` has it."""
    if viewer >= home.players:
        return False
    return home.view == "all" or where[viewer] == where[player]


def event_codes(config: HomeConfig, state: HomeState) -> Array:
    """f32[agents, 24, ...], named by `NAMES`."""
    axes = state.time.ndim
    did = state.recent[:, 0, None] == expand(np.array(list(KINDS), np.uint8), axes)
    did = did.astype(jnp.float32)  # [N, kinds]
    agents, count = agents_of(config), config.players
    rest = jnp.zeros((agents - count, *did.shape[1:]), jnp.float32)
    own = jnp.concatenate([did, rest])
    meets = sees(config, state)
    others = jnp.sum(jnp.where(meets[:, :, None], did[None], 0.0), axis=1) - own
    return jnp.concatenate([own, others], axis=1)
