"""Chefs that follow skills drawn at random: partners who get things done, but to no plan."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from manyhands.core.env import Array, ConfigError, DeviceView, Env, SeatError, unwrap
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.state import STAY

PATIENCE = 20  # steps after which a chef gives a skill up
NONE = -1


def random_skills(env: Env, tastes: float = 1.5) -> RandomSkills:
    """A chef that follows skills drawn at random; `tastes` tells how much chefs differ in those
    that they like."""
    if not (math.isfinite(tastes) and tastes >= 0):
        raise ConfigError(f"tastes is a finite number from 0, given {tastes!r}")
    return RandomSkills(env, float(tastes))


@functools.partial(jax.tree_util.register_dataclass, data_fields=("tastes",), meta_fields=("env",))
@dataclass(frozen=True)
class RandomSkills:
    """A `DevicePolicy` that draws one of the kitchen's skills that it can follow ("fetch onion",
    "plate from pot A", "put down", ...), follows it to its end or for `PATIENCE` steps, and draws
    again. It has no plan: it takes soups to the window, and lays them on counters. Skills have
    weights exp(tastes * z), with z drawn from a normal distribution for each episode.

    Args:
        env: the kitchen, or a wrapper of it.
        tastes: how much the weights differ; 0 draws all skills alike.
    """

    any_seat: ClassVar[bool] = True
    env: Env
    tastes: float = 1.5

    def __post_init__(self) -> None:
        unwrap(self.env, Kitchen, SeatError)

    @property
    def _count(self) -> int:
        """The skills but waiting, walking and single steps, which come first in the table."""
        return int(unwrap(self.env, Kitchen).env.skill_set().wait)

    def init(self, env: Env, agent: int) -> tuple[Array, Array, Array]:
        """(the skill, i32[]; for how many steps, i32[]; f32[skills], the log of the weights, and 0
        until they are drawn)."""
        return jnp.int32(NONE), jnp.int32(0), jnp.zeros(self._count)

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        kitchen, count = unwrap(self.env, Kitchen), self._count
        skill, age, weights = memory
        drawn = self.tastes * jax.random.normal(jax.random.fold_in(key, 1), (count,))
        weights = jnp.where(jnp.any(weights != 0), weights, drawn)
        action, done, possible = kitchen.env.skill_set().survey(view.perception)
        open_ = possible[:count] & ~done[:count]
        numbers = jnp.arange(count)
        goes_on = jnp.any(open_ & (numbers == skill)) & (age < PATIENCE)
        liked = jnp.where(open_, weights + jax.random.gumbel(key, (count,)), -jnp.inf)
        other = jnp.where(jnp.any(open_), jnp.argmax(liked), NONE)
        skill = jnp.where(goes_on, skill, other).astype(jnp.int32)
        does = jnp.sum(jnp.where(numbers == skill, action[:count], 0))
        does = jnp.where(skill == NONE, STAY, does).astype(jnp.int32)
        age = jnp.where(goes_on, age + 1, 0).astype(jnp.int32)
        return kitchen.lift(does), (skill, age, weights)
