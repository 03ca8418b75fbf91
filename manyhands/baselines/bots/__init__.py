"""Scripted players in pure JAX."""

from __future__ import annotations

from typing import Any

from manyhands.core.env import Env, SeatError
from manyhands.core.registry import seat


def bot(env: Env) -> Any:
    """The seat `bot`: the scripted player of what is played (`Env.scripted_policy`)."""
    if not env.scripted_policy:
        raise SeatError(f"there is no scripted player for {env.unwrapped.id!r}")
    return seat(env.scripted_policy, env)


def team(env: Env, attack: str = "") -> Any:
    """The seat `team`: the scripted player that works with others, in volleyball (where it has an
    `attack`) and CraftWorld."""
    from manyhands.baselines.bots import craftworld_team, volleyball

    if env.unwrapped.id == "craftworld" and not attack:
        return craftworld_team.team(env)
    return volleyball.team(env, attack or "deep")


def greedy(env: Env, noise: float = 0.0, ahead: int | None = None) -> Any:
    """The seat `greedy`: the scripted player that takes the most urgent step for itself, in the
    kitchen and in cuisines (where it can cook `ahead`)."""
    if env.unwrapped.id == "cuisine":
        from manyhands.baselines.bots import cuisine

        return cuisine.greedy(env, noise, ahead or 0)
    if ahead is not None:
        raise SeatError("greedy:ahead is for cuisines")
    from manyhands.baselines.bots import kitchen

    return kitchen.greedy(env, noise)
