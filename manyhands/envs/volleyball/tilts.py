"""What tilting and turning do to a drone, in words, for actions that steer rotors or rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.envs.volleyball import orders
from manyhands.envs.volleyball.state import MAX_RATE, STEP, STEPPED

if TYPE_CHECKING:
    from manyhands.envs.volleyball.env import Volleyball

UPRIGHT = 0.97  # of the upward axis, below which a drone is said to tilt


def tilt_effects(game: Volleyball, nose: Any, left: Any, up: Any) -> dict[str, str]:
    """Of rotors and rates: a tilted drone is pushed to where it tilts."""
    ways = {"nose down": nose, "bank left": left}
    ways |= {"nose up": [-part for part in nose], "bank right": [-part for part in left]}
    rates = game.actions == "ctbr"
    tip = f"tilt at about {np.degrees(0.25 * MAX_RATE):.0f} degrees/s" if rates else "begin to tilt"
    told = {
        name: f"{tip}, which pushes you {towards(*way)} until you counter it"
        for name, way in ways.items()
    }
    level = "about" if up[2] > UPRIGHT else "if you were level, about"
    turn = f"about {0.25 * MAX_RATE:.2f} rad/s" if rates else "begin to turn, about the upward axis"
    lift = "the thrust of" if rates else "all rotors at about"
    return told | {
        "hover": f"{level} your weight in thrust; it keeps the tilt",
        "climb": f"{level} a tenth more than {lift} hovering",
        "sink": f"{level} a tenth less than {lift} hovering",
        "turn left": turn,
        "turn right": turn,
    }


def step_effects(game: Volleyball, nose: Any, left: Any, up: Any) -> dict[str, str]:
    """Of steps of thrust: what they begin to do to a drone as it is now."""
    nose, left, up = np.asarray(nose), np.asarray(left), np.asarray(up)
    rotors, spin = np.asarray(game.params.rotors), np.asarray(game.params.spin)
    weight = float(game.trim[0].sum())
    told = {}
    for name, (number, effect) in orders.steps(game).items():
        row = np.array(orders.digits_of(game.bins, number)) / (game.bins - 1)
        right, down = np.sign(rotors[:, 1]) @ row, -np.sign(rotors[:, 0]) @ row
        share = f"about {row.sum() / weight:.1f} of your weight"
        lift = share if row.any() else "about none of your weight: you fall"
        parts = [f"{effect}, {lift}"]
        if max(abs(right), abs(down)) > _EVEN:
            way = down * nose - right * left
            parts.append(f"you begin to tilt, which pushes you {towards(*way)}")
        elif abs(spin @ row) > _EVEN:
            parts.append(f"you begin to turn {'left' if spin @ row > 0 else 'right'}")
        elif row.sum() > weight and up[2] < UPRIGHT:
            parts.append(f"it pushes you up and {towards(*up)}, where you tilt")
        told[name] = "; ".join(parts)
    return told


_EVEN = 1e-3  # share of a rotor's thrust below which rotors are in balance


def towards(x: float, y: float, _: float) -> str:
    """A direction of the own frame in words."""
    ahead = "away from the net" if x > 0 else "to the net"
    aside = "to the right" if y > 0 else "to the left"
    if min(abs(x), abs(y)) > 0.38 * math.hypot(x, y):  # nearer to a diagonal than to an axis
        return f"{ahead} and {aside}"
    return ahead if abs(x) > abs(y) else aside


def motors(game: Volleyball) -> list[str]:
    """What the numbers of a drone's body mean where one steers its rotors or rates."""
    if game.actions not in ("rotors", "ctbr", *STEPPED):
        return []
    lag = float(np.mean(game.params.lag))
    return [
        "A drone is pushed to where it tilts: nose down pushes you to where your nose points, bank "
        "left to its left; the tilt stays until you counter it.",
        "Turning (x, y, z) is about the axes of your frame, by the right-hand rule: with the nose "
        "along x, a positive x tips you to the right, y the nose down, z turns you to the left.",
        f"Motors are in the order {', '.join(orders.ROTORS)}: the speed of each rotor, m, from -1, "
        "none, to 1; its thrust is ((1 + m) / 2)² of the greatest. They follow what you ask for "
        f"with a lag: after {lag:.2g} s, {lag / STEP:.1f} steps, 63% of a change is made.",
    ]
