"""Players of drones: `keeper` in formation, `chaser` and `surround` in pursuit.

All of them play by moves (`envs/drones/moves.py`), which they fly by velocities or set-points where
actions are numbers. Where the evader is an agent, both pursuers flee in its seat.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from manyhands.core.env import Array, DeviceView, Env, SeatError, unwrap
from manyhands.envs.drones import moves, rules
from manyhands.envs.drones.env import Drones
from manyhands.envs.volleyball.control import POSITION_GAIN


def keeper(env: Env) -> Flyer:
    """A drone that advances in the shape, and takes its slot when the goal is near."""
    return Flyer(env, "keeper")


def chaser(env: Env) -> Flyer:
    """A pursuer that flies straight to the evader."""
    return Flyer(env, "chaser")


def surround(env: Env) -> Flyer:
    """A pursuer that comes from its own side, closes in with the others, and then cuts off."""
    return Flyer(env, "surround")


@functools.partial(jax.tree_util.register_dataclass, data_fields=(), meta_fields=("env", "style"))
@dataclasses.dataclass(frozen=True)
class Flyer:
    """A `DevicePolicy`; see the module's docstring."""

    any_seat: ClassVar[bool] = True
    env: Env
    style: str

    def __post_init__(self) -> None:
        drones = unwrap(self.env, Drones, SeatError).env
        if drones.pursuit != (self.style != "keeper"):
            task = "formation" if self.style == "keeper" else "pursuit"
            raise SeatError(f'{self.style!r} is for task="{task}", not for {drones.task!r}')
        if drones.actions in ("rotors", "ctbr"):
            raise SeatError(f"{self.style!r} flies by velocities, positions or moves")

    def init(self, env: Env, agent: int) -> tuple[()]:
        return ()

    def apply(
        self, env: Env, agent: int, memory: tuple[()], key: Array, view: DeviceView
    ) -> tuple[Array, tuple[()]]:
        found = unwrap(self.env, Drones)
        drones, row = found.env, view.perception
        seen = moves.view_of(drones, drones.observation_layout, row)
        names = moves.move_names(drones)
        number = (
            _formed(names, seen)
            if self.style == "keeper"
            else _hunted(names, drones, seen, self.style)
        )
        if drones.actions == "moves":
            return found.lift(number), memory
        velocity = moves.chosen(drones, drones.observation_layout, row, number)
        fast = moves.speed_of(drones, seen)
        if drones.actions == "velocity":
            four = jnp.append(velocity / fast, 0.0)
        else:
            low, high = rules.bounds(drones)
            place = seen.place + velocity / POSITION_GAIN
            four = jnp.append(2 * (place - low) / (high - low) - 1, 0.0)
        return found.lift(jnp.clip(four, -1, 1).astype(jnp.float32)), memory


def _formed(names: tuple[str, ...], seen: Any) -> Array:
    """The move of a keeper."""
    middle = jnp.mean(seen.mates, axis=0)
    near = moves.length(seen.goal - middle) < moves.LEAD
    slot = names.index("slot 1") + jnp.argmax(seen.me)
    return jnp.where(near, slot, names.index("advance")).astype(jnp.int32)


def _hunted(names: tuple[str, ...], drones: Drones, seen: Any, style: str) -> Array:
    """The move of a pursuer, or of an evader."""
    gap = moves.length(seen.prey - seen.place)
    chase, cut, ring = (names.index(name) for name in ("chase", "cut off", "surround"))
    number = jnp.int32(chase)
    if style == "surround":
        gaps = jnp.stack([moves.length(mate - seen.prey) for mate in seen.mates])
        first = gap <= jnp.min(gaps) + 1e-6
        number = jnp.where(gap < 1.0, chase, jnp.where(first, cut, ring))
    if drones.versus:
        number = jnp.where(seen.me[-1] > 0, names.index("flee"), number)
    return jnp.asarray(number, jnp.int32)
