"""One step, as a list of phases for each rulebook, and what it yields."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand, one_hot
from manyhands.core.env import Array
from manyhands.envs.craftworld import creatures, nature, players
from manyhands.envs.craftworld.cells import read
from manyhands.envs.craftworld.chance import Chance
from manyhands.envs.craftworld.goals import SITE, fulfilled
from manyhands.envs.craftworld.observe import acting, legal
from manyhands.envs.craftworld.rules import ALIVE, DEAD, HEALTH, NOOP, SLEEP, VOID
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import CraftState, Now, unpacked

# (state in work, players who took part in joint efforts, gifts made)
Played = tuple[Now, Array, Array]


def crafter(c: Setting, now: Now, state: CraftState, actions: Array, chance: Chance) -> Played:
    """The phases of a step of Crafter."""
    now, helped = players.join_efforts(c, now, actions)
    now, gifts = players.act(c, now, actions, chance)
    now = players.live(c, now, actions == SLEEP)
    now = creatures.move(c, now, chance, creatures.crafter_turn)
    now = nature.grow(c, now, state.plant_age > 0)  # a sapling not in the step that plants it
    if c.spawning:
        now = nature.balance(c, now, state, chance)
    return now, helped, gifts


def craftax(c: Setting, now: Now, state: CraftState, actions: Array, chance: Chance) -> Played:
    """The phases of a step of Craftax-Classic."""
    now, helped = players.join_efforts(c, now, actions)
    now, gifts = players.act(c, now, actions, chance)
    now = creatures.move(c, now, chance, creatures.craftax_turn)
    if c.spawning:
        now = nature.appear(c, now, state, chance)
    now = nature.grow(c, now, jnp.ones(state.plant_age.shape, bool))
    now = players.live(c, now, actions == SLEEP)
    now = players.drown(now)
    return now, helped, gifts


# By the name of the rulebook.
PHASES: dict[str, Callable[[Setting, Now, CraftState, Array, Chance], Played]] = {
    "crafter": crafter,
    "craftax_classic": craftax,
}


def step(
    c: Setting, key: Array, state: CraftState, actions: Array
) -> tuple[CraftState, dict[str, Array], Array, Array, dict[str, Array]]:
    """(the next state, the terms of the reward, terminated, truncated, metrics)."""
    before = Now.of(state)
    known = (actions >= 0) & (actions < len(c.actions))
    chosen = one_hot(actions, len(c.actions), axis=1)
    illegal = ~jnp.any(legal(c, state) & chosen, axis=1) & acting(state)
    actions = jnp.where(known, actions, NOOP).astype(jnp.int32)
    now = _forget_requests(before)
    now, helped, gifts = PHASES[c.book.name](c, now, state, actions, Chance(key))
    now, fallen = players.fall(c, now)

    clock = state.clock + 1
    played = c.played(clock)
    reached = (state.goal_step == 0) & (_share_of_goal(c, now, state) >= 1)
    new = now.state(state, before, fallen, clock, jnp.where(reached, played, state.goal_step))
    over = ~jnp.any(now.alive == ALIVE, axis=0) | (new.goal_step > 0)
    terminated = (now.alive == DEAD) | over[None]
    truncated = jnp.broadcast_to((played >= c.max_steps)[None], terminated.shape)

    names = c.contents.achievements
    unlocked = now.done & ~before.done
    bits = [((unlocked >> i) & 1).astype(jnp.float32) for i in range(len(names))]
    metrics = {
        "illegal": jnp.sum(illegal, axis=0).astype(jnp.float32),
        "deaths": jnp.sum(fallen, axis=0).astype(jnp.float32),
        "gifts": gifts.astype(jnp.float32),
        "steps_to_goal": jnp.where(reached, played, 0).astype(jnp.float32),
    }
    metrics |= {name: jnp.sum(who, axis=0) for name, who in zip(names, bits, strict=True)}
    count = sum(bits)
    terms = {
        "achievements": count if c.craft.achievement_each else jnp.minimum(count, 1.0),
        "health": (now.vitals[:, HEALTH] - before.vitals[:, HEALTH]).astype(jnp.float32),
        "joint": helped.astype(jnp.float32),
    }
    terms = {name: shared(c, value) for name, value in terms.items()}
    terms["goal"] = jnp.broadcast_to(reached.astype(jnp.float32)[None], terminated.shape)
    return new, terms, terminated, truncated, metrics


def _forget_requests(now: Now) -> Now:
    return now._replace(
        request_left=jnp.maximum(now.request_left - 1, 0),
        request=jnp.where(now.request_left > 1, now.request, 0),
    )


def shared(c: Setting, term: Array) -> Array:
    """A term as each player's reward counts it."""
    if c.reward == "own" or c.num_players == 1:
        return term
    team = jnp.broadcast_to(jnp.sum(term, axis=0, keepdims=True), term.shape)
    return team if c.reward == "team" else (term + team) / 2


def _share_of_goal(c: Setting, now: Now, state: CraftState) -> Array:
    """f32[...], how much of the goal is reached; see `goals.fulfilled`."""
    steps = np.arange(SITE)
    row, column = state.site[0].astype(jnp.int32), state.site[1].astype(jnp.int32)
    rows = row[None, None] + expand(steps[:, None], row.ndim)
    columns = column[None, None] + expand(steps[None], row.ndim)
    inside = (rows < c.height) & (columns < c.width)
    site = read(now.map, jnp.where(inside, rows * c.width + columns, 0))
    return fulfilled(
        state.goal,
        now.inventory.astype(jnp.uint8),
        unpacked(now.done, len(c.contents.achievements)),
        now.alive != DEAD,
        jnp.where(inside, site, VOID).astype(jnp.uint8),
    )
