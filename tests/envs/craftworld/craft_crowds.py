"""Worlds that several tests share, so that they compile once."""

import dataclasses
import functools

import jax
import numpy as np

from manyhands.core.env import episode_key
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl

# Everything close together: trees, water, lava, ores, a table, creatures, what takes two players.
CROWD = "TT.Wz..\n.012S.L\n.T3BF.X\nc.45GOI\n,kC67D.\np.P>..z"
RICH = {
    "inventory": {"wood": 6, "stone": 3, "coal": 2, "iron": 2, "sapling": 2, "wood_pickaxe": 1,
                  "stone_pickaxe": 1, "iron_pickaxe": 1, "stone_sword": 1},
    "vitals": {"drink": 5, "food": 2, "energy": 6},
}  # fmt: skip


def crowd_of(name):
    """Eight players, where needs and plants change quickly."""
    rules = {"name": name, "plants": 4, "ripe": 5, "hunger": 4, "thirst": 3, "harm": 2, "heal": 3,
             "fatigue": 5, "rest": 2}  # fmt: skip
    rules["slots"] = [12] if name == "crafter" else [1, 1, 1, 1]
    return CraftWorld(rules, map=CROWD, start=RICH, friendly_fire=True, spawning=True)


@functools.cache
def _alone(rules):
    env = CraftWorld(rules, map="...\n.0.\n...")
    return env, jax.device_get(env.reset(episode_key(0)))


def alone(rules="crafter", to_the_right="grass", inventory=(), **changed):
    """(environment, state): one player on grass, facing what is to the right."""
    env, state = _alone(rules)
    ground, held = np.array(state.map), np.array(state.inventory)
    ground[1, 2] = rl.MATERIALS.index(to_the_right)
    for item, number in dict(inventory).items():
        held[0, env.contents.items.index(item)] = number
    changed = {"map": ground, "inventory": held, "facing": np.uint8([1]), **changed}
    return env, dataclasses.replace(state, **changed)
