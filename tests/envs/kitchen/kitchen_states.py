"""States of the kitchen to describe and to try promises in; batch axis last."""

import dataclasses

import jax
import numpy as np

from manyhands.core.env import episode_key
from manyhands.core.pack import stepper
from manyhands.core.rollout import rollout
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.levels import BUTTON, COUNTER, DIRECTIONS, FLOOR, POT, SERVING
from manyhands.envs.kitchen.state import (
    ACTIONS,
    ASKED_EVENTS,
    EVENTS,
    INTERACT,
    STAY,
    Asked,
    KitchenState,
    Recent,
)

OBJECTS = (0, 1, 2, 3, *(16 | o << 2 | t for o in range(4) for t in range(4) if 0 < o + t < 4))
SOUPS = OBJECTS[4:]


def asked_things(env: Kitchen) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(objects, soups) that there can be where one recipe is asked for at a time."""
    soups = [ask.soup_code(r) for r in ask.RECIPES if not any(r[env.kinds :])]
    return (0, 3, *ask.INGREDIENTS[: env.kinds], *soups), tuple(soups)


def any_states(env: Kitchen, count: int, seed: int) -> KitchenState:
    """States with everything everywhere, batch axis last; more than play can reach."""
    rng, before = np.random.default_rng(seed), np.random.default_rng(seed)
    made = []
    objects, soups = asked_things(env) if env.asked else (OBJECTS, SOUPS)
    events = len(EVENTS) + len(ASKED_EVENTS) * env.asked
    for i in range(count):
        level = i % len(env.levels)
        terrain = env.terrains[level]
        free = np.flatnonzero(terrain == FLOOR)
        cells, n = len(terrain), env.num_agents
        pots = rng.choice((0, *soups), cells)
        # Pots cook or are ready only with something in them.
        timer = np.where(pots > 0, rng.choice((0, 0, 1, 2, 3, 21, 251), cells), 0)
        lying = np.where(rng.random(cells) < rng.random(), rng.choice(objects, cells), 0)
        made.append(
            KitchenState(
                terrain=terrain,
                objects=np.where(
                    terrain == POT, pots, np.where(terrain == COUNTER, lying, 0)
                ).astype(env.thing_dtype),
                timer=np.where(terrain == POT, timer, 0).astype(np.uint8),
                position=rng.choice(free, n, replace=False).astype(np.uint8),
                facing=rng.integers(0, 4, n, dtype=np.uint8),
                held=rng.choice((0, 0, 0, 3, 3, 3, *objects), n).astype(env.thing_dtype),
                time=np.int16(rng.choice((0, 1, env.max_steps - 40, env.max_steps - 1))),
                level=np.int16(level),
                soups=np.int16(rng.integers(0, 30)),
                score=np.int32(rng.integers(-500, 500)),
                event=rng.integers(0, events, n, dtype=np.uint8),
                recent=Recent(
                    held=before.choice(objects, n).astype(env.thing_dtype),
                    ready=(np.where(terrain == POT, timer, 0) == 1)[slice(*env.pot_cells)],
                ),
            )
        )
        if env.asked:
            made[-1] = _with_recipe(env, made[-1], before)
    return jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *made)


def _with_recipe(env: Kitchen, state: KitchenState, rng: np.random.Generator) -> KitchenState:
    shown = rng.choice((0, 0, 1, 2, 9), len(state.timer))
    timer = np.where(state.terrain == BUTTON, shown, state.timer).astype(np.uint8)
    recipe = rng.choice(env.recipes[state.level])
    asked = Asked(recipe, np.bool_(rng.random() < 0.5))
    return dataclasses.replace(state, timer=timer, asked=asked)


def at_stations(env: Kitchen, states: KitchenState, chef: int) -> KitchenState:
    """The same states, but in two of three this chef faces a pot or a serving window."""
    position, facing = states.position.copy(), states.facing.copy()
    for i in range(count(states)):
        terrain, wanted = states.terrain[:, i], (None, POT, SERVING)[i // len(env.levels) % 3]
        ways = [
            (cell, way)
            for cell in np.flatnonzero(terrain == FLOOR)
            for way, (dx, dy) in enumerate(DIRECTIONS)
            if terrain[cell + dx + dy * env.width] == wanted and cell not in position[:chef, i]
        ]
        if ways:
            position[chef, i], facing[chef, i] = ways[i % len(ways)]
    return dataclasses.replace(states, position=position, facing=facing)


def played_states(env: Kitchen, batch: int, steps: int) -> KitchenState:
    """States that random play reaches, batch axis last."""

    def step(states, t):
        keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(i), t))(np.arange(batch))
        # Chefs that interact every other time get further.
        actions = jax.random.randint(keys[0], (env.num_agents, batch), 0, 10).clip(0, INTERACT)
        states, _ = env.batch_step(keys, states, actions)
        return states, states

    def play(keys):
        return jax.lax.scan(step, env.batch_reset(keys), np.arange(steps))[1]

    states = jax.device_get(jax.jit(play)(jax.vmap(jax.random.key)(np.arange(batch))))
    return jax.tree_util.tree_map(
        lambda leaf: np.concatenate(list(leaf[:: max(1, steps // 8)]), -1), states
    )


def scripted_states(env: Kitchen, batch: int) -> KitchenState:
    """States that greedy chefs reach: soups cook, are carried, handed over and served."""
    carry, found = None, []
    for _ in range(5):
        result = rollout(
            env, "greedy", batch, 37, jax.random.key(4), collect="statistics", carry=carry
        )
        carry = result.carry
        found.append(jax.device_get(carry.state))
    return joined(*found)


def one(states: KitchenState, i: int) -> KitchenState:
    return jax.tree_util.tree_map(lambda leaf: leaf[..., i], states)


def joined(*batches: KitchenState) -> KitchenState:
    return jax.tree_util.tree_map(lambda *leaves: np.concatenate(leaves, -1), *batches)


def count(states: KitchenState) -> int:
    return states.time.shape[-1]


def scripted_frames(env: Kitchen) -> list:
    """Chef 0 cooks and serves an onion soup in the cramped room; chef 1 stays where it is."""
    words = "north west interact east north interact " * 3 + "south west south interact "
    words += "east north north " + "stay " * 12 + "interact south east south interact"
    frames, key = [stepper(env).reset(episode_key(0))], jax.random.key_data(episode_key(0))
    for t, word in enumerate(words.split()):
        actions = np.array([ACTIONS.index(word), STAY], np.int32)
        frames.append(stepper(env).step(np.asarray(key), t, frames[-1].state, actions))
    return frames
