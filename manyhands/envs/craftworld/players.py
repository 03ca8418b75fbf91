"""What players do in a step: joint efforts, the action of each, gifts, and their needs."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, expand, first, indices, one_hot, set_row
from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.cells import (
    alone,
    among,
    put_row,
    read,
    rolled,
    row_at,
    shifts,
    step_of,
    write,
)
from manyhands.envs.craftworld.chance import Chance, odds
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import (
    FULL,
    HARMED,
    HEALED,
    HIT,
    HUNGRIER,
    JOINT,
    KILLED,
    RAISED,
    STRUCK,
    THIRSTIER,
    WEARIER,
    Now,
)

AROUND = shifts([(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)])


# ---- together ------------------------------------------------------------------------------------


def join_efforts(c: Setting, now: Now, actions: Array) -> tuple[Now, Array]:
    """Joint efforts: (what they changed, who took part, bool[N, ...])."""
    if not c.has_joint:
        return now, jnp.zeros(now.alive.shape, bool)
    ahead = now.spot + step_of(now.facing)
    cell, inside = c.cell(ahead)
    ground = jnp.where(inside, read(now.map, cell), rl.VOID)
    waits = functools.reduce(jnp.logical_or, [ground == m for m, _ in rl.JOINT.values()])
    tries = waits & (actions == rl.DO) & (now.alive == rl.ALIVE) & ~now.asleep
    together = tries[:, None] & tries[None] & (ahead[:, None] == ahead[None])
    helped = tries & (jnp.sum(together, axis=1) >= c.helpers)
    for i in range(c.num_players):
        becomes = ground[i]
        for waiting, done in rl.JOINT.values():
            becomes = jnp.where(ground[i] == waiting, done, becomes)
        now = now._replace(map=write(now.map, cell[i], becomes, helped[i]))
    return now._replace(deed=jnp.where(helped, JOINT << 20, 0)), helped


# ---- actions -------------------------------------------------------------------------------------


def act(c: Setting, now: Now, actions: Array, chance: Chance) -> tuple[Now, Array]:
    """The actions of all players, one after the other: (what came of it, gifts made)."""
    n, give, request = c.num_players, c.craft.give, c.craft.request
    finds = chance.draw("sapling", n) < odds(c.craft.sapling_chance)
    role = jnp.asarray(expand(c.role, now.alive.ndim - 1), jnp.int32)
    role = jnp.broadcast_to(role, now.alive.shape)
    none = jnp.zeros(now.clock.shape, jnp.int32)
    if n == 1:
        return _act_one(c, now, 0, actions, role, finds), none
    order = (now.clock[None] + indices(n, now.alive.ndim)) % n
    place = (indices(n, now.alive.ndim) - now.clock[None]) % n
    turns = now.rolled(order)
    if c.has_joint:
        turns = turns._replace(deed=rolled(now.deed, order))
    mine = tuple(rolled(values, order) for values in (actions, role, finds))

    def turn(k: Array, at: tuple[Now, Array]) -> tuple[Now, Array]:
        turns, gifts = at
        acted = _act_one(c, turns, k, *mine)
        given = row_at(mine[0], k)
        was, has = row_at(turns.goods(), k), row_at(acted.goods(), k)
        gave = (given >= give) & (given < request) & jnp.any(was > has, axis=0)
        return acted, gifts + gave

    turns, gifts = jax.lax.fori_loop(0, n, turn, (turns, none))
    return turns.rolled(place)._replace(deed=rolled(turns.deed, place)), gifts


def _act_one(c: Setting, now: Now, k: Any, actions: Array, roles: Array, finds: Array) -> Now:
    """What the player on place `k` of the player axis does: it wakes, turns and walks; hits,
    collects and eats; places and makes; falls asleep; and deals with other players."""
    craft, book, items = c.craft, c.book, len(c.contents.items)
    spot, facing = row_at(now.spot, k), row_at(now.facing, k)
    vitals, pockets = row_at(now.vitals, k), row_at(now.inventory, k)
    counters, asleep, done = row_at(now.counters, k), row_at(now.asleep, k), row_at(now.done, k)
    role, action = row_at(roles, k), row_at(actions, k)
    up = row_at(now.alive, k) == rl.ALIVE
    gets: dict[str, Array] = {}
    if book.wakes_to_act:
        gets["wake_up"] = up & asleep & (vitals[rl.ENERGY] >= rl.MOST)
        asleep = asleep & ~gets["wake_up"]
    action = jnp.where(up & ~asleep, action, rl.NOOP)

    moves = (action >= rl.MOVE) & (action < rl.DO)
    facing = jnp.where(moves, action - rl.MOVE, facing)
    ahead = spot + step_of(facing)
    cell, inside = c.cell(ahead)
    ground = jnp.where(inside, read(now.map, cell), rl.VOID)
    creature = (now.kind > 0) & (now.spot_of == ahead[None])
    if not book.arrows_block:
        creature = creature & (now.kind != rl.ARROW)
    met = jnp.max(jnp.where(creature, now.kind, 0), axis=0)
    other = (now.alive != rl.DEAD) & (now.spot == ahead[None])
    blocked = (met > 0) | jnp.any(other, axis=0)
    ground, met, blocked, action, ahead = alone(ground, met, blocked, action, ahead)

    # Moving.
    enters = moves & ~blocked & (among(ground, rl.WALKABLE) | (ground == rl.LAVA))
    spot = jnp.where(enters, ahead, spot)
    sinks = enters & (ground == rl.LAVA)
    in_lava = (row_at(now.in_lava, k) & ~enters) | sinks
    if book.lava_at_once:
        vitals = set_row(vitals, rl.HEALTH, jnp.where(sinks, 0, vitals[rl.HEALTH]))

    # Doing: hitting a creature, collecting, eating a plant.
    does = action == rl.DO
    forages = (role == 0) | (role == rl.FORAGER)
    strength = _strength(c, pockets, role)
    hits = does & (met > 0) & (met != rl.ARROW) & ((met != rl.COW) | forages)
    struck = creature & hits[None]
    health = jnp.where(struck, jnp.maximum(now.health - strength[None], 0), now.health)
    killed = hits & jnp.any(struck & (health == 0), axis=0)
    killed, hits, strength = alone(killed, hits, strength)
    eats = killed & (met == rl.COW)
    gets["defeat_zombie"] = killed & (met == rl.ZOMBIE)
    gets["defeat_skeleton"] = killed & (met == rl.SKELETON)
    gets["eat_cow"] = eats
    kind = now.kind
    if book.kills_at_once:
        kind = jnp.where(struck & (health == 0), 0, kind)

    works = does & ~blocked
    ripe = works & (ground == rl.RIPE_PLANT) & forages
    gets["eat_plant"] = ripe
    table = _collecting(c)
    tool, item = table.tool[ground], table.item[ground]
    owns = (tool < 0) | jnp.any(one_hot(tool, items) & (pockets > 0), axis=0)
    takes = works & (item >= 0) & owns
    picks = takes & (ground == rl.GRASS)
    takes = takes & (~picks | (row_at(finds, k) & forages))
    takes, item = alone(takes, item)
    drinks = works & (ground == rl.WATER)
    for code, (name, _, _) in c.contents.collect.items():
        gets[f"collect_{name}"] = (drinks if code == rl.WATER else takes) & (ground == code)
    pockets = pockets + (one_hot(item, items) & takes[None])
    becomes = jnp.where(takes, table.left[ground], ground)
    becomes = jnp.where(ripe, rl.PLANT, becomes)
    food = jnp.where(eats, craft.cow_food, 0) + jnp.where(ripe, craft.plant_food, 0)
    vitals = vitals + _row(food, rl.FOOD) + _row(drinks.astype(jnp.int32), rl.DRINK)
    sated = eats | (ripe if craft.plant_hunger else eats)
    counters = jnp.where(_row(sated, rl.HUNGER) | _row(drinks, rl.THIRST), 0, counters)
    plants = now.plant_spot == ahead[None]
    plant_age = jnp.where(plants & ripe[None] & (now.plant_age > 0), 1, now.plant_age)

    # Placing and making: one table of costs.
    costs = _costs(c)
    spends = (action >= rl.PLACE) & (action < craft.give)
    cost = costs.cost[action]  # [..., items]
    cost = jnp.moveaxis(cost, -1, 0)
    pays = spends & jnp.all(pockets >= cost, axis=0)
    places = pays & (action < rl.MAKE) & ~blocked & inside
    places = places & ((costs.ground[action] >> ground.astype(jnp.uint32)) & 1 > 0)
    places = places & ((action != rl.PLACE) | (role == 0) | (role == rl.MINER))
    near = _near(c, now, spot)
    makes = pays & (action >= rl.MAKE) & near[0] & (near[1] | ~costs.furnace[action])
    makes = makes & ((role == 0) | (role == costs.role[action]))
    made = costs.made[action]
    places, makes, made, cost = alone(places, makes, made, cost)
    pockets = jnp.where((places | makes)[None], pockets - cost, pockets)
    pockets = pockets + (one_hot(made, items) & makes[None])
    becomes = jnp.where(places, costs.placed[action], becomes)
    for i, name in enumerate(rl.PLACES):
        gets[f"place_{name}"] = places & (action == rl.PLACE + i)
    for i, name in enumerate(c.contents.makes):
        gets[f"make_{name}"] = makes & (action == rl.MAKE + i)
    plants = gets["place_plant"]
    slot = first(plant_age == 0) & plants[None]
    plant_age = jnp.where(slot, 1, plant_age)
    plant_spot = jnp.where(slot, ahead[None], now.plant_spot)

    if book.sleeps_at_once:
        asleep = asleep | ((action == rl.SLEEP) & (vitals[rl.ENERGY] < rl.MOST))
    # What came of it, for `Recent`.
    used = takes | drinks | ripe
    result = jnp.where(used, ground, 0) + (enters | places | makes)
    result = result + jnp.where(hits, met + jnp.where(killed, KILLED, STRUCK), 0)
    full = jnp.any(pockets > rl.MOST, axis=0) * FULL
    deed = row_at(now.deed, k) + (action | result << 8 | full << 20 | strength << 22)
    pockets = jnp.minimum(pockets, rl.MOST)
    if not book.needs_first:  # else the needs of this step are taken off before
        vitals = jnp.minimum(vitals, _most(c, role))
    for i, name in enumerate(c.contents.achievements):
        if name in gets:
            done = done | (gets[name].astype(jnp.uint32) << i)

    new = now._replace(
        map=write(now.map, cell, becomes, inside),
        spot=put_row(now.spot, k, spot),
        facing=put_row(now.facing, k, facing),
        inventory=put_row(now.inventory, k, pockets),
        vitals=put_row(now.vitals, k, vitals),
        counters=put_row(now.counters, k, counters),
        asleep=put_row(now.asleep, k, asleep),
        in_lava=put_row(now.in_lava, k, in_lava),
        done=put_row(now.done, k, done),
        kind=kind,
        health=health,
        plant_spot=plant_spot,
        plant_age=plant_age,
        deed=put_row(now.deed, k, deed),
    )
    if c.num_players == 1:
        return new
    return _meet(c, new, k, action, other & (does & (met == 0))[None], strength, roles)


def _meet(
    c: Setting, now: Now, k: Any, action: Array, faced: Array, strength: Array, roles: Array
) -> Now:
    """What a player does to others: `faced`, bool[N, ...], is whom it does."""
    craft, gifts = c.craft, len(c.craft.gifts)
    # Helping up, and hitting.
    raised = faced & (now.alive == rl.DOWN)
    alive = jnp.where(raised, rl.ALIVE, now.alive)
    hit = faced & (now.alive == rl.ALIVE) & c.friendly_fire
    health = now.vitals[:, rl.HEALTH]
    health = jnp.where(hit, jnp.maximum(health - strength[None], 0), health)
    health = jnp.where(raised, craft.revive_health, health)
    counters = jnp.where(raised[:, None], 0, now.counters)
    asleep = now.asleep & ~hit
    vitals = jnp.concatenate([health[:, None], now.vitals[:, 1:]], axis=1)
    now = now._replace(
        alive=alive,
        asleep=asleep,
        counters=counters,
        vitals=vitals,
        felt=jnp.where(raised, health, now.felt),
    )
    # Giving.
    ahead = row_at(now.spot, k) + step_of(row_at(now.facing, k))
    receiver = (now.alive == rl.ALIVE) & (now.spot == ahead[None])
    which = one_hot(action - craft.give, gifts)
    goods = now.goods()
    has = jnp.any(which & (row_at(goods, k) > 0), axis=0)
    cap = goods_caps(c, roles)
    room = jnp.any(which[None] & (goods < cap), axis=1)
    passes = receiver & room & has[None]
    gain = passes[:, None] & which[None]
    mine = indices(now.alive.shape[0], now.alive.ndim) == k
    lose = mine[:, None] & which[None] & jnp.any(passes, axis=0)[None, None]
    now = now.with_goods(goods + gain - lose)
    # Asking.
    request = craft.request
    asks = (action >= request) & (action < request + gifts)
    me = mine & asks[None]
    # What came of it, for `Recent`: players are in the order of their turns here.
    whom = hit | raised | passes
    index = (indices(now.alive.shape[0], now.alive.ndim) + now.clock[None]) % c.num_players
    result = jnp.where(asks | jnp.any(passes, axis=0), 1, 0)
    result = result + jnp.where(jnp.any(hit, axis=0), HIT, 0)
    result = result + jnp.where(jnp.any(raised, axis=0), RAISED, 0)
    deed = result << 8 | jnp.sum(jnp.where(whom, index + 1, 0), axis=0) << 16
    return now._replace(
        request=jnp.where(me, action[None] - request + 1, now.request),
        request_left=jnp.where(me, craft.request_steps, now.request_left),
        deed=now.deed + jnp.where(mine, deed[None], 0),
    )


# ---- needs ---------------------------------------------------------------------------------------


def live(c: Setting, now: Now, sleeps: Array) -> Now:
    """Hunger, thirst, fatigue, healing, falling asleep and waking, of all who are up. `sleeps`,
    bool[N, ...], who chose to sleep, counts where that does not take effect at once."""
    craft, book, one = c.craft, c.book, now.clock.ndim
    vitals, counters, asleep, done = now.vitals, now.counters, now.asleep, now.done
    up = now.alive == rl.ALIVE
    food, drink, energy = vitals[:, rl.FOOD], vitals[:, rl.DRINK], vitals[:, rl.ENERGY]
    health = vitals[:, rl.HEALTH]
    if not book.sleeps_at_once:
        asleep = asleep | (sleeps & (energy < rl.MOST))
        wakes = asleep & (energy >= rl.MOST) & up
        asleep = asleep & ~wakes
        done = done | (wakes.astype(jnp.uint32) << c.contents.achievements.index("wake_up"))
    # Counters are in half steps.
    half = jnp.where(asleep, 1, 2)

    def wear(counter: Array, vital: Array, limit: int) -> tuple[Array, Array]:
        counter = counter + half
        due = counter > 2 * limit
        return jnp.where(due, 0, counter), vital - due

    hunger, food = wear(counters[:, rl.HUNGER], food, craft.hunger)
    thirst, drink = wear(counters[:, rl.THIRST], drink, craft.thirst)
    fatigue = counters[:, rl.FATIGUE]
    fatigue = jnp.where(asleep, jnp.minimum(fatigue - 2, 0), fatigue + 2)
    rested, tired = fatigue < -2 * craft.rest, fatigue > 2 * craft.fatigue
    energy = energy + rested - tired
    fatigue = jnp.where(rested | tired, 0, fatigue)
    well = (food > 0) & (drink > 0) & ((energy > 0) | asleep)
    recover = counters[:, rl.RECOVER]
    recover = recover + jnp.where(well, jnp.where(asleep, 4, 2), -half)
    heals, harms = recover > 2 * craft.heal, recover < -2 * craft.harm
    recover = jnp.where(heals | harms, 0, recover)
    health = health + heals - harms
    most = jnp.asarray(expand(c.caps, one))
    values = jnp.stack(apart(health, food, drink, energy), axis=1)
    # Where needs come last, health may be below zero from creatures until the end of the step.
    least = 0 if book.needs_first else -255
    values = jnp.clip(values, expand(np.array([[least, 0, 0, 0]]), one), most)
    counters = jnp.stack(apart(hunger, thirst, fatigue, recover), axis=1)
    felt = now.felt
    if book.hurt_wakes:
        asleep = asleep & ~(values[:, rl.HEALTH] < felt)
        felt = values[:, rl.HEALTH]
    healed = heals & (values[:, rl.HEALTH] > vitals[:, rl.HEALTH])
    marks = (healed * HEALED + harms * HARMED) << 22
    for mark, vital in ((HUNGRIER, rl.FOOD), (THIRSTIER, rl.DRINK), (WEARIER, rl.ENERGY)):
        marks = marks + ((values[:, vital] < vitals[:, vital]) * mark << 22)
    return now._replace(
        vitals=jnp.where(up[:, None], values, vitals),
        counters=jnp.where(up[:, None], counters, now.counters),
        asleep=jnp.where(up, asleep, now.asleep),
        felt=jnp.where(up, felt, now.felt),
        done=done,
        toll=now.toll | jnp.where(up, marks, 0),
    )


def drown(now: Now) -> Now:
    """Lava takes all health, and no vital stays below zero."""
    health = expand(np.arange(4) == rl.HEALTH, now.clock.ndim)[None]
    drowned = now.in_lava[:, None] & health
    return now._replace(vitals=jnp.where(drowned, 0, jnp.maximum(now.vitals, 0)))


def fall(c: Setting, now: Now) -> tuple[Now, Array]:
    """Who has no health left: (who lies down or is dead, who fell in this step, bool[N, ...])."""
    fallen = (now.alive == rl.ALIVE) & (now.vitals[:, rl.HEALTH] <= 0)
    left = jnp.int32(rl.DOWN if c.death == "down" else rl.DEAD)
    alive = jnp.where(fallen, jnp.where(now.in_lava, rl.DEAD, left), now.alive)
    return now._replace(alive=alive, asleep=now.asleep & ~fallen), fallen


# ---- tables and small things ---------------------------------------------------------------------


class _Collecting(NamedTuple):
    tool: Array
    item: Array
    left: Array


def _collecting(c: Setting) -> _Collecting:
    """By material: the tool and the item of `Contents.collect` (-1: none), and what is left."""
    items, count = c.contents.items, 1 + max(c.contents.codes)
    tool, item, left = np.full(count, -1), np.full(count, -1), np.arange(count)
    for material, (name, needs, leaves) in c.contents.collect.items():
        if material != rl.WATER:
            item[material], left[material] = items.index(name), leaves
            tool[material] = -1 if needs is None else items.index(needs)
    return _Collecting(*(jnp.asarray(row, jnp.int32) for row in (tool, item, left)))


class _Costs(NamedTuple):
    cost: Array
    ground: Array
    placed: Array
    made: Array
    furnace: Array
    role: Array


def _costs(c: Setting) -> _Costs:
    """By action: what it costs, i32[A, items]; where it can be placed, bits of materials; what is
    placed; what is made (-1: nothing), whether that takes a furnace, and whose task it is."""
    craft, items, count = c.craft, c.contents.items, len(c.actions)
    cost, ground = np.zeros((count, len(items)), np.int32), np.zeros(count, np.uint32)
    placed, made = np.zeros(count, np.int32), np.full(count, -1, np.int32)
    furnace, role = np.zeros(count, bool), np.zeros(count, np.int32)
    for i, name in enumerate(rl.PLACES):
        item, number = craft.place_cost(name)
        cost[rl.PLACE + i, items.index(item)] = number
        ground[rl.PLACE + i] = sum(1 << material for material in craft.place_on(name))
        placed[rl.PLACE + i] = rl.PLACED[i]
    for i, (name, recipe) in enumerate(c.contents.recipes.items(), rl.MAKE):
        for item, number in craft.make_cost(name).items():
            cost[i, items.index(item)] = number
        made[i], furnace[i], role[i] = items.index(name), rl.FURNACE in recipe.near, recipe.role
    return _Costs(*map(jnp.asarray, (cost, ground, placed, made, furnace, role)))


def _near(c: Setting, now: Now, spot: Array) -> tuple[Array, Array]:
    """Whether a table, and a furnace, is among the 3 x 3 cells around a place."""
    cell, inside = c.cell(spot[None] + expand(AROUND, spot.ndim))
    ground = jnp.where(inside, read(now.map, cell), rl.VOID)
    return jnp.any(ground == rl.TABLE, axis=0), jnp.any(ground == rl.FURNACE, axis=0)


def _strength(c: Setting, pockets: Array, role: Array) -> Array:
    """How much health a hit of this player takes."""
    damage = jnp.full(role.shape, c.craft.damage[0], jnp.int32)
    for i, name in enumerate(c.contents.swords):
        swords = pockets[c.contents.items.index(name)]
        if not c.craft.swords_add_up:
            swords = jnp.minimum(swords, 1)
        damage = jnp.maximum(damage, swords * c.craft.damage[i + 1])
    return jnp.where(role == rl.WARRIOR, damage * c.craft.warrior_damage, damage)


def _most(c: Setting, role: Array) -> Array:
    """i32[4, ...], the vitals that a player of this role can have."""
    forages = (role == rl.FORAGER)[None]
    of_food = expand(np.isin(np.arange(4), (rl.FOOD, rl.DRINK)), forages.ndim - 1)
    return jnp.where(forages & of_food, c.craft.forager_capacity, rl.MOST)


def goods_caps(c: Setting, roles: Array) -> Array:
    """i32[N, gifts, ...], how many of each of `CraftRules.gifts` players of these roles can
    hold."""
    of_food = expand(np.arange(len(c.craft.gifts)) < 2, roles.ndim - 1)[None]
    forages = (roles == rl.FORAGER)[:, None]
    return jnp.where(forages & of_food, c.craft.forager_capacity, rl.MOST)


def _row(value: Array, index: int) -> Array:
    """[4, ...], a value at one index and zero at the others."""
    here = expand(np.arange(4) == index, value.ndim)
    return jnp.where(here, value[None], jnp.zeros_like(value)[None])
