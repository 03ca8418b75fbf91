"""The state of a world, and the form in which a step works on it."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array, state_dataclass
from manyhands.envs.craftworld.cells import rolled
from manyhands.envs.craftworld.rules import DRINK, ENERGY, FOOD

VIEW = (7, 9)  # rows and columns that a player sees, itself in the middle
CELLS = VIEW[0] * VIEW[1]
HERE = (VIEW[0] // 2, VIEW[1] // 2)  # row and column of the player in its view


@state_dataclass
class CraftState:
    """One world at one moment. N players, M slots of creatures, P slots of plants.

    Attributes:
        map: u8[H, W], codes of `rules.MATERIALS`; ripe plants and saplings are materials, too.
        position: u8[N, 2], row and column.
        facing: u8[N], 0 left, 1 right, 2 up, 3 down.
        inventory: u8[N, items], `rules.ITEMS`, and those of the preset.
        vitals: u8[N, 4], `rules.VITALS`.
        counters: i8[N, 4], `rules.COUNTERS` in half steps.
        felt: u8[N], health after a player's last own update (`crafter`: it wakes when it falls).
        asleep: bool[N].
        alive: u8[N], 1 up, 2 down, 0 dead.
        achievements: bool[N, achievements], `rules.ACHIEVEMENTS`, and those of the preset.
        request: u8[N], 0, or 1 + the number in `CraftRules.gifts` of what a player asks for.
        request_left: u8[N], for how many more steps the others see it.
        kind: u8[M], 0 or 1 + the number in `rules.CREATURES`.
        place: u8[M, 2], row and column of a creature.
        health: u8[M]; 0 is about to vanish.
        cooldown: u8[M], steps until it can hit or shoot.
        heading: u8[M], where an arrow flies, as `facing`.
        plant_place: u8[P, 2].
        plant_age: u16[P], 0 for an empty slot, else 1 + the age.
        clock: i32[], the time of the world: `start["clock"]` and the steps played since.
        world: u8[], which of `CraftWorld.worlds` this is.
        goal: u8[29], what is to be reached (`goals.Goal.row`); zeros for nothing.
        site: u8[2], row and column of the top left cell of the building site (5 x 5 cells).
        goal_step: i32[], steps played when the goal was reached, from 1; 0 before.
    """

    map: Array
    position: Array
    facing: Array
    inventory: Array
    vitals: Array
    counters: Array
    felt: Array
    asleep: Array
    alive: Array
    achievements: Array
    request: Array
    request_left: Array
    kind: Array
    place: Array
    health: Array
    cooldown: Array
    heading: Array
    plant_place: Array
    plant_age: Array
    clock: Array
    world: Array
    goal: Array
    site: Array
    goal_step: Array


class Now(NamedTuple):
    """A state while a step changes it: i32 and bool, places as `row << 8 | column`, the map as one
    axis of cells, achievements as bits."""

    map: Array
    spot: Array
    facing: Array
    inventory: Array
    vitals: Array
    counters: Array
    felt: Array
    asleep: Array
    alive: Array
    in_lava: Array
    done: Array
    request: Array
    request_left: Array
    kind: Array
    spot_of: Array
    health: Array
    cooldown: Array
    heading: Array
    plant_spot: Array
    plant_age: Array
    clock: Array

    @classmethod
    def of(cls, state: CraftState) -> Now:
        def wide(values: Array) -> Array:
            return jnp.asarray(values).astype(jnp.int32)

        def place(values: Array) -> Array:
            return wide(values[:, 0]) << 8 | wide(values[:, 1])

        bits = np.arange(state.achievements.shape[1], dtype=np.uint32)
        bits = expand(bits, state.clock.ndim)[None]
        done = jnp.sum(jnp.asarray(state.achievements).astype(jnp.uint32) << bits, axis=1)
        ground = jnp.asarray(state.map)
        return cls(
            map=ground.reshape(-1, *ground.shape[2:]),
            spot=place(state.position),
            facing=wide(state.facing),
            inventory=wide(state.inventory),
            vitals=wide(state.vitals),
            counters=wide(state.counters),
            felt=wide(state.felt),
            asleep=jnp.asarray(state.asleep),
            alive=wide(state.alive),
            in_lava=jnp.zeros(state.alive.shape, bool),
            done=done.astype(jnp.uint32),
            request=wide(state.request),
            request_left=wide(state.request_left),
            kind=wide(state.kind),
            spot_of=place(state.place),
            health=wide(state.health),
            cooldown=wide(state.cooldown),
            heading=wide(state.heading),
            plant_spot=place(state.plant_place),
            plant_age=wide(state.plant_age),
            clock=jnp.asarray(state.clock),
        )

    def state(self, old: CraftState, clock: Array, goal_step: Array) -> CraftState:
        """What came of it, as a state again."""

        def byte(values: Array) -> Array:
            return values.astype(jnp.uint8)

        def place(spots: Array) -> Array:
            return jnp.stack([byte(spots >> 8), byte(spots & 255)], axis=1)

        return CraftState(
            map=self.map.reshape(old.map.shape),
            position=place(self.spot),
            facing=byte(self.facing),
            inventory=byte(self.inventory),
            vitals=byte(self.vitals),
            counters=self.counters.astype(jnp.int8),
            felt=byte(self.felt),
            asleep=self.asleep,
            alive=byte(self.alive),
            achievements=unpacked(self.done, old.achievements.shape[1]),
            request=byte(self.request),
            request_left=byte(self.request_left),
            kind=byte(self.kind),
            place=place(self.spot_of),
            health=byte(self.health),
            cooldown=byte(self.cooldown),
            heading=byte(self.heading),
            plant_place=place(self.plant_spot),
            plant_age=self.plant_age.astype(jnp.uint16),
            clock=clock,
            world=jnp.asarray(old.world),
            goal=jnp.asarray(old.goal),
            site=jnp.asarray(old.site),
            goal_step=goal_step,
        )

    def goods(self) -> Array:
        """How many of each of `CraftRules.gifts` each player has, i32[N, gifts, ...]."""
        return jnp.concatenate([self.vitals[:, FOOD : DRINK + 1], self.inventory], axis=1)

    def with_goods(self, goods: Array) -> Now:
        health, energy = self.vitals[:, :FOOD], self.vitals[:, ENERGY:]
        vitals = jnp.concatenate([health, goods[:, :2], energy], axis=1)
        return self._replace(vitals=vitals, inventory=goods[:, 2:])

    def rolled(self, order: Array) -> Now:
        """The same with the players in another order, i32[N, ...]."""
        names = ["spot", "facing", "inventory", "vitals", "counters", "felt", "asleep", "alive"]
        names += ["in_lava", "done", "request", "request_left"]
        return self._replace(**{name: rolled(getattr(self, name), order) for name in names})


def unpacked(bits: Array, count: int) -> Array:
    """Achievements as bool[N, count, ...]."""
    numbers = expand(np.arange(count, dtype=np.uint32), bits.ndim - 1)
    return (bits[:, None] >> numbers[None]) & 1 > 0
