"""The state of a world, and the form in which a step works on it."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, expand
from manyhands.core.env import Array, state_dataclass
from manyhands.envs.craftworld.cells import rolled
from manyhands.envs.craftworld.rules import DRINK, ENERGY, FOOD

VIEW = (7, 9)  # rows and columns that a player sees, itself in the middle
CELLS = VIEW[0] * VIEW[1]
HERE = (VIEW[0] // 2, VIEW[1] // 2)  # row and column of the player in its view

# What an action came to (`Past.result`): 0 nothing, 1 it was done; of `do` the material that was
# used, or one of these, to which the kind of a creature is added.
STRUCK, KILLED, HIT, RAISED = 48, 56, 64, 65
# Bits of `Past.marks`: the first two are in `Now.deed`, the others in `Now.toll`.
FULL, JOINT, HEALED, HARMED, HUNGRIER, THIRSTIER, WEARIER = (1 << i for i in range(7))
WOKE, SLEPT, FELL = (1 << i for i in range(3))  # bits of `Past.changes`
DIED, RIPENED = 1, 2  # values of `Recent.plants`


@state_dataclass
class Recent:
    """What happened in the last step, from which nothing follows; zeros at first.

    Attributes:
        players: i32[N, 3], in bits, by player: what it did, what befell it, and the achievements
            that it unlocked. `past` reads them.
        plants: u8[P], by slot: 1 if the plant was destroyed, 2 if it ripened.
    """

    players: Array
    plants: Array


class Past(NamedTuple):
    """What each player did and what befell it in the last step, i32[N, ...] each.

    Attributes:
        action: what it did; 0, too, if it could not act. result: what came of it.
        whom: 1 + the index of the player that it was done to, or 0.
        strength: of its hit. zombie, arrow: damage by these.
        marks, changes: bits, see above. unlocked: bits of achievements.
    """

    action: Array
    result: Array
    whom: Array
    strength: Array
    zombie: Array
    arrow: Array
    marks: Array
    changes: Array
    unlocked: Array


def past(players: Array) -> Past:
    """`Recent.players`, i32[N, 3, ...], read; of NumPy or JAX arrays."""
    deed, toll = players[:, 0], players[:, 1]
    return Past(
        action=deed & 255,
        result=(deed >> 8) & 255,
        whom=(deed >> 16) & 15,
        strength=(deed >> 22) & 255,
        zombie=toll & 4095,
        arrow=(toll >> 12) & 4095,
        marks=(deed >> 20) & 3 | (toll >> 22) & 124,
        changes=(toll >> 29) & 7,
        unlocked=players[:, 2],
    )


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
        recent: what happened in the last step.
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
    recent: Recent


class Now(NamedTuple):
    """A state while a step changes it: i32 and bool, places as `row << 8 | column`, the map as one
    axis of cells, achievements as bits.

    Attributes:
        deed: i32[N], what a player did in this step: its action, and from bit 8 the result, from 16
            whom it was done to, from 20 the first two marks, from 22 the strength of its hit.
        toll: i32[N], what befell it: the damage by zombies, from bit 12 that by arrows, from bit 24
            the other marks.
        wilted, ripened: bool[P], which plants were destroyed, and ripened.
    """

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
    deed: Array
    toll: Array
    wilted: Array
    ripened: Array

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
        nothing = jnp.zeros(state.alive.shape, jnp.int32)
        untouched = jnp.zeros(state.plant_age.shape, bool)
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
            deed=nothing,
            toll=nothing,
            wilted=untouched,
            ripened=untouched,
        )

    def state(
        self, old: CraftState, before: Now, fallen: Array, clock: Array, goal_step: Array
    ) -> CraftState:
        """What came of it, as a state again; `before` is the state before the step, and `fallen`
        who has lost all health in it."""

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
            recent=self.recent(before, fallen),
        )

    def recent(self, before: Now, fallen: Array) -> Recent:
        """What happened since a state."""
        slept = before.asleep.astype(jnp.int32) - self.asleep
        changes = (slept > 0) * WOKE + (slept < 0) * SLEPT + fallen * FELL
        unlocked = self.done & ~before.done
        words = self.deed, self.toll | changes << 29, unlocked.astype(jnp.int32)
        plants = self.wilted * DIED + self.ripened * RIPENED
        return Recent(jnp.stack(apart(*words), axis=1), plants.astype(jnp.uint8))

    def goods(self) -> Array:
        """How many of each of `CraftRules.gifts` each player has, i32[N, gifts, ...]."""
        return jnp.concatenate([self.vitals[:, FOOD : DRINK + 1], self.inventory], axis=1)

    def with_goods(self, goods: Array) -> Now:
        health, energy = self.vitals[:, :FOOD], self.vitals[:, ENERGY:]
        vitals = jnp.concatenate([health, goods[:, :2], energy], axis=1)
        return self._replace(vitals=vitals, inventory=goods[:, 2:])

    def rolled(self, order: Array) -> Now:
        """The same with the players in another order, i32[N, ...]; all but `deed` and `toll`."""
        names = ["spot", "facing", "inventory", "vitals", "counters", "felt", "asleep", "alive"]
        names += ["in_lava", "done", "request", "request_left"]
        return self._replace(**{name: rolled(getattr(self, name), order) for name in names})


def unpacked(bits: Array, count: int) -> Array:
    """Achievements as bool[N, count, ...]."""
    numbers = expand(np.arange(count, dtype=np.uint32), bits.ndim - 1)
    return (bits[:, None] >> numbers[None]) & 1 > 0
