"""Record how Crafter and Craftax-Classic play, for test_craft_oracles.py.

    .cache/peers/crafter/bin/python tests/oracles/record_craftworld.py crafter
    .cache/peers/craftax/bin/python tests/oracles/record_craftworld.py craftax

It runs in a virtual environment with one of the packages (crafter 1.8.3 with NumPy 2.4.6, or
craftax 1.6.1 with JAX 0.10.1; `benchmarks/common.py` makes them), and writes
`data/PACKAGE.json.gz`: figures of generated worlds, and games on maps without creatures,
in which random actions show every rule that is not luck.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

WORLDS = 200
STEPS = 700
NAMES = ("water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron", "diamond")
SOUGHT = ("tree", "water", "coal", "iron", "diamond")
DELTAS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
LETTERS = {"grass": ".", "water": "W", "stone": "S", "path": "_", "sand": ",", "tree": "T"}
LETTERS |= {"lava": "L", "coal": "C", "iron": "I", "diamond": "D", "table": "B", "furnace": "F"}
ITEMS = ("sapling", "wood", "stone", "coal", "iron", "diamond", "wood_pickaxe", "stone_pickaxe")
ITEMS += ("iron_pickaxe", "wood_sword", "stone_sword", "iron_sword")
PACK = {"sapling": 3, "wood": 9, "stone": 9, "coal": 4, "iron": 4, "diamond": 0}
GAMES = {
    "from nothing": {},
    "well supplied": PACK,
    "with tools": PACK | {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1},
}
ACTIONS = 17


def figures(maps: list[np.ndarray]) -> dict[str, Any]:
    """Shares of materials, and distances (rows and columns) from the middle to the nearest."""
    shares = {name: float(np.mean([(m == name).mean() for m in maps])) for name in NAMES}
    nearest: dict[str, Any] = {}
    for name in SOUGHT:
        found = []
        for ground in maps:
            rows, columns = np.nonzero(ground == name)
            middle = np.array(ground.shape) // 2
            if len(rows):
                far = np.abs(rows - middle[0]) + np.abs(columns - middle[1])
                found.append(int(far.min()))
        nearest[name] = {"worlds": len(found), "mean": float(np.mean(found))}
    return {"worlds": len(maps), "shares": shares, "nearest": nearest}


def land(rng: np.random.Generator, size: int = 13) -> list[str]:
    """A small map of everything, with much room to walk; the player begins in the middle."""
    letters = rng.choice(list("....,,__TTSSWWCCIIDBF"), (size, size))
    letters[rng.random((size, size)) < 0.25] = "."
    letters[size // 2, size // 2] = "."
    return ["".join(row) for row in letters]


def scripts(rng: np.random.Generator) -> list[int]:
    """Random actions; more moving and doing than waiting."""
    weights = np.array([2, 6, 6, 6, 6, 12, 1, *[1.0] * 10])
    return rng.choice(ACTIONS, STEPS, p=weights / weights.sum()).tolist()


def wise(action: int, faced: str) -> int:
    """No luck in these games: grass, where a sapling may be, is left alone."""
    return 0 if action == 5 and faced == "grass" else action


# ---- Crafter -------------------------------------------------------------------------------------


def crafter_worlds() -> dict[str, Any]:
    import crafter

    maps = []
    counts: dict[str, list[int]] = {"Cow": [], "Zombie": [], "Skeleton": []}
    names = np.array(["", *crafter.constants.materials])
    for seed in range(WORLDS):
        env = crafter.Env(seed=seed)
        env.render = lambda *_: np.zeros((1, 1, 3))
        env.reset()
        maps.append(names[env._world._mat_map].T)
        for kind, found in counts.items():
            found.append(sum(type(o).__name__ == kind for o in env._world.objects))
    creatures = {kind.lower(): float(np.mean(found)) for kind, found in counts.items()}
    return figures(maps) | {"creatures": creatures}


def crafter_games() -> list[dict[str, Any]]:
    import crafter

    games = []
    for number, (name, pack) in enumerate(GAMES.items()):
        rng = np.random.default_rng(number)
        rows, actions = land(rng), scripts(rng)
        env = crafter.Env(area=(len(rows[0]), len(rows)), seed=0)
        env.render = lambda *_: np.zeros((1, 1, 3))
        env._balance_chunk = lambda *_: None
        env.reset()
        world = env._world
        for obj in world.objects:
            if obj is not env._player:
                world.remove(obj)
        names = {letter: material for material, letter in LETTERS.items()}
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                world[x, y] = names[letter]
        player = env._player
        player.inventory.update(pack)
        middle = len(rows) // 2
        assert tuple(player.pos) == (middle, middle)
        track = []
        played = []
        for action in actions:
            target = player.pos + np.array(player.facing)
            played.append(wise(action, world[target][0]))
            _, reward, done, _ = env.step(played[-1])
            facing = {(-1, 0): 0, (1, 0): 1, (0, -1): 2, (0, 1): 3}[tuple(player.facing)]
            pack_now = [int(player.inventory[item]) for item in ITEMS]
            vitals = [int(player.inventory[v]) for v in ("health", "food", "drink", "energy")]
            plants = sum(type(o).__name__ == "Plant" for o in world.objects)
            track.append(
                [
                    [int(player.pos[1]), int(player.pos[0]), facing, int(player.sleeping)],
                    pack_now,
                    vitals,
                    round(float(reward), 6),
                    sum(count > 0 for count in player.achievements.values()),
                    plants,
                ]
            )
            if done:
                break
        names_of = np.array(["", *crafter.constants.materials])
        final = names_of[world._mat_map].T.tolist()
        for obj in world.objects:
            if type(obj).__name__ == "Plant":
                final[obj.pos[1]][obj.pos[0]] = "ripe plant" if obj.ripe else "plant"
        games.append(
            {"name": name, "map": rows, "start": pack, "actions": played, "track": track}
            | {"final": final}
        )
    return games


# ---- Craftax-Classic -----------------------------------------------------------------------------

BLOCKS = ("", "", "grass", "water", "stone", "tree", "wood", "path", "coal", "iron", "diamond")
BLOCKS += ("table", "furnace", "sand", "lava", "plant", "ripe plant")


def craftax_worlds() -> list[np.ndarray]:
    import jax
    from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnv as Env
    from craftax.craftax_classic.world_gen import generate_world

    env = Env()

    def ground(key: Any) -> Any:
        return generate_world(key, env.default_params, env.static_env_params).map

    keys = jax.random.split(jax.random.PRNGKey(0), WORLDS)
    return list(np.array(BLOCKS)[np.asarray(jax.jit(jax.vmap(ground))(keys))])


def craftax_games() -> list[dict[str, Any]]:
    import jax
    import jax.numpy as jnp
    from craftax.craftax_classic.envs.craftax_state import StaticEnvParams
    from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnv as Env
    from craftax.craftax_classic.game_logic import craftax_step

    size = 13
    static = StaticEnvParams(map_size=(size, size))
    env = Env(static)
    params = env.default_params.replace(
        spawn_cow_chance=0.0,
        spawn_zombie_base_chance=0.0,
        spawn_zombie_night_chance=0.0,
        spawn_skeleton_chance=0.0,
    )
    step = jax.jit(lambda key, state, action: craftax_step(key, state, action, params, static))
    from craftax.craftax_classic.world_gen import generate_world

    big = Env()
    names = {letter: material for material, letter in LETTERS.items()}
    games = []
    for number, (name, pack) in enumerate(GAMES.items()):
        rng = np.random.default_rng(number)
        rows, actions = land(rng), scripts(rng)
        state = generate_world(jax.random.PRNGKey(0), big.default_params, big.static_env_params)
        blocks = np.array([[BLOCKS.index(names[letter]) for letter in row] for row in rows])
        state = state.replace(
            map=jnp.asarray(blocks, jnp.int32),
            mob_map=jnp.zeros((size, size), bool),
            player_position=jnp.array([size // 2, size // 2]),
            inventory=state.inventory.replace(**pack),
        )
        # Slots that are empty but healthy would come to life at the first `do`.
        dead = jnp.zeros_like(state.zombies.health)
        state = state.replace(
            zombies=state.zombies.replace(health=dead),
            cows=state.cows.replace(health=jnp.zeros_like(state.cows.health)),
        )
        track, played = [], []
        for t, action in enumerate(actions):
            row, column = np.asarray(state.player_position)
            facing = int(state.player_direction) - 1
            delta = list(DELTAS.values())[facing]
            r, c = int(row) + delta[0], int(column) + delta[1]
            inside = 0 <= r < size and 0 <= c < size
            played.append(wise(action, BLOCKS[int(state.map[r, c])] if inside else ""))
            state, reward = step(jax.random.PRNGKey(t), state, played[-1])
            vitals = [state.player_health, state.player_food, state.player_drink]
            here = np.asarray(state.player_position).tolist()
            asleep = int(state.is_sleeping)
            track.append(
                [
                    [*here, int(state.player_direction) - 1, asleep],
                    [int(getattr(state.inventory, item)) for item in ITEMS],
                    [int(v) for v in (*vitals, state.player_energy)],
                    round(float(reward), 6),
                    int(state.achievements.sum()),
                    int(state.growing_plants_mask.sum()),
                ]
            )
            if int(state.player_health) <= 0:
                break
        final = np.array(BLOCKS)[np.asarray(state.map)].tolist()
        games.append(
            {"name": name, "map": rows, "start": pack, "actions": played, "track": track}
            | {"final": final}
        )
    return games


def main() -> None:
    package = sys.argv[1]
    if package == "crafter":
        content: dict[str, Any] = {"package": "crafter 1.8.3"}
        content |= {"figures": crafter_worlds(), "games": crafter_games()}
    else:
        content = {"package": "craftax 1.6.1"}
        content |= {"figures": figures(craftax_worlds()), "games": craftax_games()}
    path = Path(__file__).parent / "data" / f"{package}.json.gz"
    text = json.dumps(content, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"written: {path}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
