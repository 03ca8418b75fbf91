"""The named actions of a drone: what they do, and the action that each stands for now."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from manyhands.envs.drones import moves
from manyhands.envs.drones.rules import bounds
from manyhands.envs.drones.state import DronesState
from manyhands.envs.volleyball.control import POSITION_GAIN
from manyhands.envs.volleyball.physics import trim

if TYPE_CHECKING:
    from manyhands.envs.drones.env import Drones

_STILL = "stay about where you are"
_FORMATION = {
    "hold": _STILL,
    "advance": "fly to about your place in the shape, with its middle at most "
    f"{moves.LEAD:g} m ahead of the drones' middle, to the goal",
    "close ranks": "fly to your place in the shape about the drones' middle",
}
_PURSUIT = {
    "hold": _STILL,
    "chase": "fly straight at the evader, or out of sight to about where it was seen last",
    "cut off": "fly to about where the evader will be if it flies on as it did, at most "
    f"{moves.AHEAD:g} s from now",
    "flee": "fly to about where pursuers, walls and cylinders push least",
    "hide": "fly to about behind the nearest cylinder, from the nearest pursuer",
}


def effect_of(drones: Drones, move: str, agent: int) -> str:
    """What a move of an agent does."""
    if move in moves.DIRECTIONS:
        way = "up" if move == "up" else "down" if move == "down" else f"to the {move}"
        return f"fly {way} at about full speed"
    if " of " in move:
        side, mate = move.split(" of ")
        return (
            f"fly to about {moves.ASIDE:g} m {side} of {mate}, as it would see you if it looked to "
            "the evader"
        )
    if move.startswith("slot"):
        return f"fly to about where {move} of the shape is at the goal"
    if move == "surround":
        if drones.team == 1:
            return "fly to about the evader"
        angle = 360 * agent / drones.team
        return (
            f"fly to about {moves.RING:g} m from the evader, on your own side of it, which is "
            f"{angle:.0f} degrees to the left of east; nearer, if all of you are near"
        )
    if move == "hide" and not drones.cylinders:
        return "stay about where you are: there is no cylinder"
    return (_PURSUIT if drones.pursuit else _FORMATION)[move]


@functools.lru_cache(maxsize=32)
def _flown(drones: Drones) -> Any:
    """The velocities of all moves of a row of `observe`, compiled once for equal environments."""

    def every(row: Any) -> Any:
        view = moves.view_of(drones, drones.observation_layout, row)
        asked = moves.velocities(drones, view)
        return jax.vmap(lambda velocity: moves.steer(drones, view, velocity))(asked)

    return jax.jit(every), jax.jit(drones.observe)


def commands(drones: Drones, state: DronesState, agent: int) -> dict[str, tuple[Any, str]]:
    """The named actions of a drone, by their words: the action, and what it does."""
    names, open_ = moves.move_names(drones), moves.allowed(drones)[agent]
    numbers = [m for m in range(len(names)) if open_[m]]
    if drones.actions == "moves":
        return {names[m]: (m, effect_of(drones, names[m], agent)) for m in numbers}
    if drones.actions in ("rotors", "ctbr"):
        return _motors(drones, agent)
    flown, observe = _flown(drones.with_detail("normal"))
    found = np.asarray(flown(observe(state)[agent]))
    told: dict[str, tuple[Any, str]] = {}
    for m in numbers:
        four = action_for(drones, state, agent, found[m])
        told[names[m]] = (
            four,
            f"{effect_of(drones, names[m], agent)}: now {spoken_four(drones, four)}",
        )
    return told


def action_for(drones: Drones, state: DronesState, agent: int, velocity: Any) -> np.ndarray:
    """f32[4]: the action of four numbers that flies at a velocity now."""
    if drones.actions == "velocity":
        four = [*(np.asarray(velocity) / drones.speeds[agent]), 0.0]
    else:
        low, high = bounds(drones)
        place = np.asarray(state.bodies.position)[agent] + np.asarray(velocity) / POSITION_GAIN
        four = [*(2 * (place - low) / (high - low) - 1), 0.0]
    return np.clip(np.asarray(four, np.float32), -1, 1)


def _motors(drones: Drones, agent: int) -> dict[str, tuple[Any, str]]:
    share = np.asarray(trim(drones.params), np.float32)[agent]
    found = {}
    words = {"hover": "keep", "climb": "gain", "sink": "lose"}
    for name, more in (("hover", 0.0), ("climb", 0.1), ("sink", -0.1)):
        four = 2 * (share + more) - 1
        if drones.actions == "ctbr":
            four = np.array([0, 0, 0, four.mean()])
        effect = f"{words[name]} height, if you are level"
        found[name] = np.clip(four, -1, 1).astype(np.float32), effect
    return found


def spoken_four(drones: Drones, action: Any) -> str:
    """Four numbers as `parse` reads them: of set-points metres and degrees."""
    numbers = np.asarray(action, np.float64)
    if drones.actions == "position":
        low, high = bounds(drones)
        place = low + (numbers[:3] + 1) / 2 * (high - low)
        numbers = np.append(place, 180 * numbers[3])
    return ", ".join(f"{value:.2f}" for value in rounded(numbers))


def rounded(values: Any) -> list[float]:
    """Numbers of two digits, none of them -0."""
    found: list[float] = (np.round(np.asarray(values, np.float64), 2) + 0.0).tolist()
    return found
