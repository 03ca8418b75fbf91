"""What actions mean that are no plain numbers: steps of the rotors' thrusts, places to fly to, and
actions by name.

`actions="discrete"`: of each rotor's range some values at equal distances, its ends among them, and
every combination is one action (as VolleyBots' `discrete:n`): number a is written in base `bins`,
the first rotor's digit first. `actions="multidiscrete"`: the four digits themselves (its
`multidiscrete:n`). `actions="position"`: a place in the own half and a heading.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, names_of
from manyhands.envs.volleyball.frames import constant
from manyhands.envs.volleyball.state import HIGHEST, STEPPED, Setup

if TYPE_CHECKING:
    from manyhands.envs.volleyball.env import Volleyball

ROTORS = ("front right", "back left", "front left", "back right")
AHEAD, ASIDE, HIGHER, ROUND = 1.0, 1.0, 0.5, 45.0  # m and degrees, of the named places
KEEP_OFF = 0.6  # m, from the net's plane, which no named place is nearer to


# ---- steps of thrust -----------------------------------------------------------------------------


def thrusts_of(bins: int, numbers: Array) -> Array:
    """f32[D, 4, ...] in [-1, 1], of the numbers of actions i32[D, ...]."""
    return _thrusts(bins, jnp.stack(digits_of(bins, numbers), axis=1))


def _thrusts(bins: int, digits: Array) -> Array:
    return digits.astype(jnp.float32) * jnp.float32(2 / (bins - 1)) - 1


def digits_of(bins: int, numbers: Any) -> list[Any]:
    """The digits of numbers in base `bins`, of each rotor."""
    return [numbers // bins**k % bins for k in (3, 2, 1, 0)]


def number_of(bins: int, thrusts: Sequence[float]) -> int:
    """The action nearest to four thrusts in [-1, 1]."""
    digits = [min(max(round((u + 1) / 2 * (bins - 1)), 0), bins - 1) for u in thrusts]
    return int(sum(digit * bins**k for digit, k in zip(digits, (3, 2, 1, 0), strict=True)))


def decided(setup: Setup, numbers: Array) -> tuple[Array, Array]:
    """The thrusts f32[D, 4, ...] of actions, numbers i32[D, ...] or digits i32[D, 4, ...], and
    bool[D, ...], which there are; the one nearest to hovering stands for those that there are
    not."""
    if setup.actions == "multidiscrete":
        known = jnp.all((numbers >= 0) & (numbers < setup.bins), axis=1)
        still = constant(action_of(setup, hovering(setup)), known.ndim - 1)[None]
        return _thrusts(setup.bins, jnp.where(known[:, None], numbers, still)), known
    known = (numbers >= 0) & (numbers < setup.bins**4)
    numbers = jnp.where(known, numbers, hovering(setup))
    return thrusts_of(setup.bins, numbers), known


def hovering(setup: Setup) -> int:
    """The action nearest to hovering."""
    return number_of(setup.bins, (2 * setup.trim[0] - 1).tolist())


def action_of(setup: Setup, number: int) -> Any:
    """The action with this number: the number, or its digits, i32[4]."""
    if setup.actions == "multidiscrete":
        return np.array(digits_of(setup.bins, number), np.int32)
    return np.int64(number)


def steps(game: Volleyball) -> dict[str, tuple[int, str]]:
    """Every action by its words, in order: its number, and what it does."""
    bins, rotors = game.setup.bins, np.asarray(game.params.rotors)
    x, y, z = np.sign(rotors[:, 1]), -np.sign(rotors[:, 0]), np.asarray(game.params.spin)
    ends = {"climb": np.ones(4), "sink": -np.ones(4), "nose down": y, "nose up": -y}
    ends |= {"bank right": x, "bank left": -x, "turn left": z, "turn right": -z}
    words = {number_of(bins, row.tolist()): name for name, row in ends.items()}
    words.setdefault(hovering(game.setup), "hover")
    found = {}
    for number in range(bins**4):
        row = 2 * np.array(digits_of(bins, number)) / (bins - 1) - 1
        spoken = ", ".join(f"{u:.3g}" for u in row)
        parts = [f"{name} {(u + 1) / 2:.0%}" for name, u in zip(ROTORS, row, strict=True) if u > -1]
        share = ", ".join(parts) if len(set(row)) > 1 else f"all {(row[0] + 1) / 2:.0%}"
        found[words.get(number, spoken)] = number, f"thrust {share}"
    return found


# ---- places --------------------------------------------------------------------------------------


def scale_of(setup: Setup) -> tuple[np.ndarray, np.ndarray]:
    """f32[4] each: the middle of the ranges of x, y, z (m, in the own frame) and heading (rad, of
    the nose from the own x axis), and half their lengths."""
    length, width = setup.plan.court
    middle = [length / 4, 0.0, HIGHEST / 2, 0.0]
    half = [length / 4, width / 2, HIGHEST / 2, math.pi]
    return np.asarray(middle, np.float32), np.asarray(half, np.float32)


def action_for(setup: Setup, place: Sequence[float]) -> np.ndarray:
    """f32[4]: the action that asks for x, y, z (m) and heading (rad), or for the nearest."""
    middle, half = scale_of(setup)
    heading = (place[3] + math.pi) % (2 * math.pi) - math.pi
    wanted = np.asarray([*place[:3], heading], np.float32)
    return np.clip((wanted - middle) / half, -1, 1).astype(np.float32)


def place_of(setup: Setup, action: Any) -> np.ndarray:
    """f32[4]: x, y, z (m) and heading (rad) that an action asks for."""
    middle, half = scale_of(setup)
    found: np.ndarray = middle + half * np.asarray(action, np.float32)
    return found


def places(
    game: Volleyball, place: Sequence[float], heading: float
) -> dict[str, tuple[np.ndarray, str]]:
    """The named places to fly to from where a drone is, by their words: the action, and what it
    does."""
    x, y, z = place
    turn = math.radians(ROUND)
    found = {
        "hold": (x, y, z, heading),
        "to the net": (min(x, max(x - AHEAD, KEEP_OFF)), y, z, heading),
        "from the net": (x + AHEAD, y, z, heading),
        "left": (x, y - ASIDE, z, heading),
        "right": (x, y + ASIDE, z, heading),
        "up": (x, y, z + HIGHER, heading),
        "down": (x, y, z - HIGHER, heading),
        "turn left": (x, y, z, heading + turn),
        "turn right": (x, y, z, heading - turn),
    }
    told = {}
    for name, wanted in found.items():
        action = action_for(game.setup, wanted)
        told[name] = action, f"fly to about {spoken(game.setup, action)} degrees"
    return told


def spoken(setup: Setup, action: Any) -> str:
    """An action in numbers: metres and degrees."""
    x, y, z, heading = place_of(setup, action).tolist()
    metres = [f"{round(value, 2) + 0.0:.2f}" for value in (x, y, z)]  # no "-0.00"
    return ", ".join([*metres, f"{round(math.degrees(heading))}"])


# ---- from numbers in words ----------------------------------------------------------------------


def meant(game: Volleyball, numbers: list[float], refuse: Any) -> Any:
    """The action that four numbers stand for."""
    if game.actions == "position":
        return _set_point(game, numbers, refuse)
    four = _four(numbers, refuse)
    if game.actions not in STEPPED:
        return four
    number = number_of(game.bins, four.tolist())
    row = np.asarray(thrusts_of(game.bins, np.array([number])))[0]
    if np.abs(row - four).max() > 0.01:
        steps = np.linspace(-1, 1, game.bins)
        raise refuse(f"each number is {names_of([f'{u:.3g}' for u in steps])}")
    return action_of(game.setup, number)


def _set_point(game: Volleyball, numbers: list[float], refuse: Any) -> np.ndarray:
    if len(numbers) == 3:
        numbers = [*numbers, 0.0]
    if len(numbers) != 4:
        given = f"{len(numbers)} number{'s' * (len(numbers) != 1)} given"
        raise refuse(f"{given}; needed are x, y, z and, if you like, degrees")
    middle, half = scale_of(game.setup)
    ends = [(m - h, m + h) for m, h in zip(middle[:3].tolist(), half[:3].tolist(), strict=True)]
    for name, value, (low, high) in zip("xyz", numbers, ends, strict=False):
        if not low <= value <= high:
            raise refuse(f"{name} is within {low:g} and {high:g} m, given {value:g}")
    if not -360 <= numbers[3] <= 360:
        raise refuse(f"degrees are within -360 and 360, given {numbers[3]:g}")
    return action_for(game.setup, [*numbers[:3], math.radians(numbers[3])])


def _four(numbers: list[float], refuse: Any) -> np.ndarray:
    if len(numbers) != 4:
        count = len(numbers)
        raise refuse(f"{count} number{'s' * (count != 1)} given, four are needed")
    outside = [number for number in numbers if not -1 <= number <= 1]
    if outside:
        raise refuse(f"{outside[0]:g} is not within -1 and 1")
    return np.asarray(numbers, np.float32)


# ---- named actions -------------------------------------------------------------------------------


def commands(game: Volleyball) -> dict[str, Any]:
    """Named actions, f32[4] each, or numbers; those of rotors and rates are about the drone's own
    axes."""
    if game.actions in STEPPED:
        named = steps(game).items()
        return {name: action_of(game.setup, number) for name, (number, _) in named}
    if game.actions == "position":  # from the middle of the half
        middle = scale_of(game.setup)[0].tolist()
        return {name: act for name, (act, _) in places(game, middle[:3], 0.0).items()}
    if game.actions == "velocity":
        moves: dict[str, Any] = {
            "hold": (0, 0, 0, 0),
            "to the net": (-0.4, 0, 0, 0),
            "from the net": (0.4, 0, 0, 0),
            "left": (0, -0.4, 0, 0),
            "right": (0, 0.4, 0, 0),
            "up": (0, 0, 0.4, 0),
            "down": (0, 0, -0.4, 0),
            "turn left": (0, 0, 0, 0.5),
            "turn right": (0, 0, 0, -0.5),
        }
        return {name: np.asarray(move, np.float32) for name, move in moves.items()}

    # About the axes x (right down), y (nose down) and z (to the left), and along z.
    if game.actions == "ctbr":
        hover = np.array([0, 0, 0, 2 * game.trim.mean() - 1])
        axes = 0.25 * np.eye(4)
    else:
        hover = 2 * game.trim[0] - 1
        rotors, spin = np.asarray(game.params.rotors), np.asarray(game.params.spin)
        axes = np.stack([np.sign(rotors[:, 1]), -np.sign(rotors[:, 0]), spin, np.ones(4)])
        axes = axes * np.array([[0.05], [0.05], [0.2], [0.15]])
    x, y, z, along = axes
    moves = {
        "hover": hover,
        "climb": hover + along,
        "sink": hover - along,
        "nose down": hover + y,
        "nose up": hover - y,
        "bank right": hover + x,
        "bank left": hover - x,
        "turn left": hover + z,
        "turn right": hover - z,
    }
    return {name: np.clip(move, -1, 1).round(3).astype(np.float32) for name, move in moves.items()}
