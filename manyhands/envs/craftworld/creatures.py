"""What creatures do in a step: each one's turn, slot by slot, under either rulebook.

`move` gives every creature its turn. What it does with it is its rulebook's: `crafter_turn` or
`craftax_turn` decides, from what the creature senses, how it moves, hits and shoots; what follows
from that for the world is the same under both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from manyhands.core.axes import first, indices
from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.cells import (
    FAR,
    alone,
    among,
    heading_of,
    offsets,
    put_row,
    read,
    row_at,
    step_of,
    write,
)
from manyhands.envs.craftworld.chance import Chance, odds
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import Now

BREAKS = 4  # tables, furnaces and plants that arrows break in one step, at most
FLYABLE = (*rl.WALKABLE, rl.WATER, rl.LAVA)  # what arrows fly over


class Turns(NamedTuple):
    """What the creatures' turns change: `kind`, `spot`, `health`, `cooldown`, `heading` of each;
    whether an arrow is `fresh` from this step; the `damage` to each player (by zombies, and from
    bit 12 by arrows), who is `asleep`, what
    is `done`; and the cells that are `broken`, 1 + their numbers, the last ones first."""

    kind: Array
    spot: Array
    health: Array
    cooldown: Array
    heading: Array
    fresh: Array
    damage: Array
    asleep: Array
    done: Array
    broken: Array


class Cell(NamedTuple):
    """What a creature finds in a cell."""

    ground: Array
    creature: Array
    player: Array
    number: Array

    def free(self) -> Array:
        return among(self.ground, rl.WALKABLE) & ~self.creature & ~self.player

    def flyable(self) -> Array:
        return among(self.ground, FLYABLE) & ~self.creature & ~self.player


class Creature(NamedTuple):
    """One creature at its turn, and the player who is nearest to it, its prey.

    Attributes:
        spot, wait, heading: its place, cooldown, and where it flies. dying: it has no health left.
        draw: u32[6, ...], its chance in this step.
        prey: bool[N, ...], one-hot. row, column, distance: to the prey, from the creature.
        acts, is_zombie, is_skeleton, is_cow, is_arrow: whether it acts at all, and as what.
    """

    spot: Array
    wait: Array
    heading: Array
    dying: Array
    draw: Array
    prey: Array
    row: Array
    column: Array
    distance: Array
    acts: Array
    is_zombie: Array
    is_skeleton: Array
    is_cow: Array
    is_arrow: Array

    def toward(self, long: Array) -> Array:
        """The step towards the prey along the longer axis, or along the other."""
        down, right = jnp.abs(self.row), jnp.abs(self.column)
        across = jnp.where(long, right > down, right <= down)
        return jnp.where(across, jnp.sign(self.column), jnp.sign(self.row) * 256)

    def step(self, zombie: Array, cow: Array, skeleton: Array) -> Array:
        """The step of its kind; arrows fly on."""
        step = jnp.where(self.is_zombie, zombie, jnp.where(self.is_cow, cow, skeleton))
        return jnp.where(self.is_arrow, step_of(self.heading), step)


class Turn(NamedTuple):
    """What a creature does with its turn.

    Attributes:
        to: the place that it tries to enter. seen: what is there. flies: whether an arrow could.
        here: its place afterwards. loaded: its cooldown. stays: whether it is still there.
        bites: whether it hits its prey.
        shoots, bow, arrow: whether it shoots, the step of the arrow, and where that begins.
    """

    to: Array
    seen: Cell
    flies: Array
    here: Array
    loaded: Array
    stays: Array
    bites: Array
    shoots: Array
    bow: Array
    arrow: Array


Look = Callable[[Array], Cell]


# ---- one creature's turn, by rulebook ------------------------------------------------------------


def crafter_turn(c: Setting, me: Creature, world: Turns, look: Look, players: Array) -> Turn:
    """Zombies come and hit after their move; skeletons step back, shoot, approach or stroll."""
    draw, distance, toward = me.draw, me.distance, me.toward
    anywhere = step_of((draw[0] & 3).astype(jnp.int32))
    chases = (distance <= 8) & (draw[1] < odds(0.9))
    zombie_step = jnp.where(chases, toward(draw[2] < odds(0.8)), anywhere)
    cow_step = jnp.where(draw[1] < odds(0.5), anywhere, 0)
    # A skeleton first tries to step back.
    back = me.spot - toward(draw[1] < odds(0.6))
    retreats = me.is_skeleton & (distance <= 3) & look(back).free()
    wants_shot = (distance <= 5) & (draw[2] < odds(0.5))
    approaches = ~wants_shot & (distance <= 8) & (draw[3] < odds(0.3))
    strolls = ~wants_shot & ~approaches & (draw[4] < odds(0.2))
    aim = toward(jnp.ones_like(me.acts))
    skeleton_step = jnp.where(wants_shot, aim, 0)
    skeleton_step = jnp.where(approaches, toward(draw[5] < odds(0.6)), skeleton_step)
    skeleton_step = jnp.where(strolls, anywhere, skeleton_step)
    step = me.step(zombie_step, cow_step, skeleton_step)
    to = alone(me.spot + step)[0]
    seen = look(to)
    open_ = seen.free()
    loaded = jnp.where(me.is_skeleton, jnp.maximum(me.wait - 1, 0), me.wait)
    flies = seen.flyable()
    shoots = me.is_skeleton & ~retreats & wants_shot & (loaded == 0) & flies & (aim != 0)
    walks = (me.is_zombie | me.is_cow | (me.is_skeleton & ~retreats & ~wants_shot)) & open_
    walks = walks & (step != 0)
    to = jnp.where(retreats, back, to)
    moves = (walks | retreats | (me.is_arrow & flies)) & ~me.dying
    here = jnp.where(moves, to, me.spot)
    # A zombie hits after its move, even in the step in which it dies.
    _, _, after = offsets(players, here[None])
    close = me.is_zombie & (jnp.sum(jnp.where(me.prey, after, 0), axis=0) <= 1)
    close = close & (distance < FAR)
    bites = close & (me.wait == 0)
    loaded = jnp.where(close & ~bites, me.wait - 1, loaded)
    loaded = jnp.where(bites, c.craft.zombie_cooldown, loaded)
    loaded = jnp.where(shoots, c.craft.arrow_cooldown, loaded)
    return Turn(to, seen, flies, here, loaded, me.acts & ~me.dying, bites, shoots, aim, to)


def craftax_turn(c: Setting, me: Creature, world: Turns, look: Look, players: Array) -> Turn:
    """Zombies hit in place of moving; skeletons keep their distance and shoot from 4 or 5 cells."""
    draw, distance, toward = me.draw, me.distance, me.toward
    anywhere = step_of((draw[0] & 3).astype(jnp.int32))
    # Towards the prey along the longer axis; on a tie along either.
    down, right = jnp.abs(me.row), jnp.abs(me.column)
    tie = (down == right) & (draw[2] < odds(0.5))
    aim = jnp.where(tie, jnp.sign(me.row) * 256, toward(down != right))
    bites = me.is_zombie & (distance == 1) & (me.wait == 0)
    chases = (distance < 10) & (draw[1] < odds(0.75))
    zombie_step = jnp.where(chases, aim, anywhere)
    cow_step = jnp.where(draw[1] < odds(0.5), anywhere, 0)
    planned = jnp.where(distance >= 10, aim, anywhere)
    planned = jnp.where(distance <= 3, -aim, planned)
    skeleton_step = jnp.where(draw[1] < odds(0.15), planned, anywhere)
    step = me.step(zombie_step, cow_step, skeleton_step)
    to = alone(me.spot + step)[0]
    seen = look(to)
    open_ = seen.free()
    cornered = (distance <= 3) & ~open_
    wants_shot = ((distance == 4) | (distance == 5) | cornered) & (me.wait == 0)
    wants_shot = me.is_skeleton & wants_shot
    room = jnp.any(c.slot_mask(rl.ARROW, world.kind) & (world.kind == 0), axis=0)
    shoots = wants_shot & room
    walks = (me.is_zombie | me.is_cow | me.is_skeleton) & open_ & ~bites & ~wants_shot
    flies = seen.flyable()
    moves = walks | (me.is_arrow & flies)
    here = jnp.where(moves, to, me.spot)
    loaded = jnp.where(bites, c.craft.zombie_cooldown, jnp.maximum(me.wait - 1, 0))
    loaded = jnp.where(wants_shot, c.craft.arrow_cooldown, loaded)
    stays = me.acts
    if c.craft.despawn:
        stays = stays & (me.is_arrow | (distance < c.craft.despawn))
    return Turn(to, seen, flies, here, loaded, stays, bites, shoots, aim, me.spot)


# ---- all creatures -------------------------------------------------------------------------------


def move(c: Setting, now: Now, chance: Chance, turn_of: Callable[..., Turn]) -> Now:
    """Every creature's turn, slot by slot: each sees what those before it did. `turn_of` is
    `crafter_turn` or `craftax_turn`."""
    slots, standing, up = c.slots, now.alive != rl.DEAD, now.alive == rl.ALIVE
    chances = chance.draw("creatures", slots * 6).reshape(slots, 6, *now.clock.shape)
    begin = Turns(
        now.kind,
        now.spot_of,
        now.health,
        now.cooldown,
        now.heading,
        fresh=jnp.zeros(now.kind.shape, bool),
        damage=jnp.zeros(now.alive.shape, jnp.int32),
        asleep=now.asleep,
        done=now.done,
        broken=jnp.zeros((BREAKS, *now.clock.shape), jnp.int32),
    )

    def turn(i: Any, world: Turns) -> Turns:
        me, napping = _at_its_turn(c, now, world, i, chances, up)
        solid = world.kind > 0
        if not c.book.arrows_block:
            solid = solid & (world.kind < rl.ARROW)

        def look(to: Array) -> Cell:
            cell, inside = c.cell(to)
            ground = jnp.where(inside, read(now.map, cell), rl.VOID)
            creature = jnp.any(solid & (world.spot == to[None]), axis=0)
            player = jnp.any(standing & (now.spot == to[None]), axis=0)
            return Cell(*alone(ground, creature, player, cell))

        return _after(c, now, world, i, me, turn_of(c, me, world, look, now.spot), napping, up)

    last: Any = slots
    if len(c.craft.slots) == 1:  # many, of which the first ones are in use
        used = jnp.max(jnp.where(now.kind > 0, indices(slots, now.kind.ndim), -1))
        last = used + 1
    turns = jax.lax.fori_loop(0, last, turn, begin)
    toll = turns.damage
    damage = (toll & 4095) + (toll >> 12) if c.apart else toll
    health = now.vitals[:, rl.HEALTH] - damage
    if c.book.needs_first:
        health = jnp.maximum(health, 0)
    ground = now.map
    for mark in turns.broken:
        cell = jnp.maximum(mark - 1, 0)
        was = read(ground, cell)
        left = jnp.where((was == rl.TABLE) | (was == rl.FURNACE), rl.PATH, rl.GRASS)
        ground = write(ground, cell, left, mark > 0)
    return now._replace(
        map=ground,
        vitals=jnp.concatenate([health[:, None], now.vitals[:, 1:]], axis=1),
        asleep=turns.asleep,
        toll=now.toll | (toll if c.apart else jnp.minimum(toll, 4095)),
        done=turns.done,
        kind=turns.kind,
        spot_of=turns.spot,
        health=turns.health,
        cooldown=turns.cooldown,
        heading=turns.heading,
    )


def _at_its_turn(
    c: Setting, now: Now, world: Turns, i: Any, chances: Array, up: Array
) -> tuple[Creature, Array]:
    """(the creature in slot `i`, whether its prey is asleep)."""
    kind, spot, wait = row_at(world.kind, i), row_at(world.spot, i), row_at(world.cooldown, i)
    dying = row_at(world.health, i) == 0
    heading, draw = row_at(world.heading, i), row_at(chances, i)
    rows, columns, distances = offsets(now.spot, spot[None])
    distances = jnp.where(up, distances, FAR)
    distance = jnp.min(distances, axis=0)
    prey = first(distances == distance[None]) & up
    row = jnp.sum(jnp.where(prey, rows, 0), axis=0)
    column = jnp.sum(jnp.where(prey, columns, 0), axis=0)
    napping = jnp.any(prey & world.asleep, axis=0)
    prey, row, column, distance, napping = alone(prey, row, column, distance, napping)
    acts = kind > 0
    if c.craft.near:
        acts = acts & (distance < c.craft.near)
    if not c.book.fresh_arrows_fly:
        acts = acts & ~row_at(world.fresh, i)
    kinds = [acts & (kind == which) for which in (rl.ZOMBIE, rl.SKELETON, rl.COW, rl.ARROW)]
    me = Creature(spot, wait, heading, dying, draw, prey, row, column, distance, acts, *kinds)
    return me, napping


def _after(
    c: Setting,
    now: Now,
    world: Turns,
    i: Any,
    me: Creature,
    turn: Turn,
    napping: Array,
    up: Array,
) -> Turns:
    """What follows from the turn of the creature in slot `i`."""
    craft = c.craft
    # An arrow that cannot fly on vanishes, whatever it hit.
    stays = turn.stays & ~(me.is_arrow & ~turn.flies)
    kind, wait = row_at(world.kind, i), me.wait
    kept = jnp.where(me.acts, jnp.where(stays, kind, 0), kind)
    loaded = jnp.where(me.acts, turn.loaded, wait)
    kept, here, loaded, bites, shoots, struck = alone(
        kept, turn.here, loaded, turn.bites, turn.shoots, me.is_arrow & ~turn.flies
    )
    new_kind = put_row(world.kind, i, kept)
    new_spot = put_row(world.spot, i, here)
    cooldown = put_row(world.cooldown, i, loaded)

    hurt = jnp.where(bites, jnp.where(napping, craft.zombie_damage_asleep, craft.zombie_damage), 0)
    damage = world.damage + jnp.where(me.prey, hurt[None], 0)
    target = struck[None] & up & (now.spot == turn.to[None])
    damage = damage + jnp.where(target, craft.arrow_damage << 12 * c.apart, 0)
    asleep, done, health = world.asleep, world.done, world.health
    if craft.zombie_wakes:
        woken = me.prey & (bites & napping)[None]
        done = done | (woken.astype(jnp.uint32) << c.contents.achievements.index("wake_up"))
    if not c.book.hurt_wakes:
        asleep = asleep & ~(me.prey & bites[None]) & ~target
    if craft.arrows_hit_creatures:
        shot = struck[None] & (world.kind > 0) & (world.spot == turn.to[None])
        health = jnp.where(shot, jnp.maximum(health - craft.arrow_damage, 0), health)
    ground = turn.seen.ground
    breakable = (ground == rl.TABLE) | (ground == rl.FURNACE)
    if craft.trampled:
        breakable = breakable | (ground == rl.PLANT) | (ground == rl.RIPE_PLANT)
    mark = jnp.where(struck & breakable, turn.seen.number + 1, 0)
    # The last few breaks of this step: more than one is rare.
    shifted = jnp.concatenate([mark[None], world.broken[:-1]], axis=0)
    broken = jnp.where((mark > 0)[None], shifted, world.broken)

    slot = first(c.slot_mask(rl.ARROW, new_kind) & (new_kind == 0)) & shoots[None]
    return Turns(
        kind=jnp.where(slot, rl.ARROW, new_kind),
        spot=jnp.where(slot, turn.arrow[None], new_spot),
        health=jnp.where(slot, 1, health),
        cooldown=jnp.where(slot, 0, cooldown),
        heading=jnp.where(slot, heading_of(turn.bow)[None], world.heading),
        fresh=world.fresh | slot,
        damage=damage,
        asleep=asleep,
        done=done,
        broken=broken,
    )
