"""What happened in the last step of a field, as data and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array
from manyhands.envs.mission.field.observe import sees
from manyhands.envs.mission.field.state import EVENTS, FieldConfig, FieldState, Plan

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

# Events that say nothing new: every step has one.
_QUIET = ("step",)
# Stage -> the events that it can bring about.
_OF_STAGE = {
    "moves": ("move", "blocked", "push"),
    "locks": ("lock",),
    "presses": ("press", "open"),
    "takes": ("key", "apple", "coin", "theft", "robbed", "flag"),
    "drops": ("drop",),
    "beams": ("iron", "strike", "gold", "hit", "struck", "clean"),
    "captures": ("capture", "caught"),
    "deliveries": ("delivery", "conceded"),
    "repairs": ("repair",),
    "goals": ("goal",),
    "sights": ("spotting", "searching", "seen", "hidden"),
    "ends": ("win", "loss"),
}


def possible(plan: Plan) -> tuple[str, ...]:
    """The events that a plan can have, in order."""
    found = {name for stage in plan.stages for name in _OF_STAGE.get(stage, ())}
    return tuple(name for name in EVENTS if name in found)


def names(plan: Plan) -> tuple[str, ...]:
    """Names of `event_codes`: what happened to the agent, and to how many others in view."""
    return tuple(f"{who} {name}" for who in ("own", "others") for name in possible(plan))


def happened(plan: Plan, state: FieldState) -> list[list[str]]:
    """The events of each body in the last step; on the host."""
    bits = np.asarray(state.recent).tolist()
    return [
        [name for k, name in enumerate(EVENTS) if bit >> k & 1 and name not in _QUIET]
        for bit in bits
    ]


def knows(plan: Plan, state: FieldState) -> Array:
    """bool[N, M]: whose events an agent knows: its own, and those of all in view, and in a pair
    that moves one thing, of the other."""
    own = expand(np.eye(plan.agents, plan.bodies, dtype=bool), state.time.ndim)
    return sees(plan, state) | own


def last_events(
    mission: Mission, state: FieldState, agent: str | int | None = None
) -> list[dict[str, Any]]:
    """What happened to the bodies that `agent` knows of (None: all of them)."""
    plan = mission.plan
    seen = np.ones(plan.bodies, bool)
    if agent is not None:
        seen = np.asarray(knows(plan, state))[mission.index(agent)]
    return [
        {"event": name, "agent": body_name(plan, i)}
        for i, listed in enumerate(happened(plan, state))
        if seen[i]
        for name in listed
    ]


def body_name(plan: Plan, number: int) -> str:
    """ "chaser_0": the name of a body; one alone in a team of the rules has no number."""
    team = plan.teams[int(plan.of_team[number])]
    if team.mind and team.size == 1:
        return team.member
    return f"{team.member}_{number - team.first}"


def event_codes(config: FieldConfig, state: FieldState) -> Array:
    """f32[N, 2 K, ...], named by `names`."""
    plan, n = config.plan, config.plan.agents
    bits = [np.uint32(1 << list(EVENTS).index(name)) for name in possible(plan)]
    did = jnp.stack([(state.recent & bit) > 0 for bit in bits], axis=1)  # [M, K, ...]
    others = expand(~np.eye(n, plan.bodies, dtype=bool), state.time.ndim)
    seen = knows(plan, state) & others
    counts = jnp.sum(seen[:, :, None] & did[None], axis=1, dtype=jnp.uint8)
    return jnp.concatenate([did[:n].astype(jnp.uint8), counts], axis=1).astype(jnp.float32)
