"""Record play in JaxMARL's OvercookedV2, for test_overcooked_v2.py to replay in our kitchen.

    python -m venv v2
    v2/bin/pip install jax==0.10.1 jaxlib==0.10.1 flax chex jaxtyping gymnax safetensors
    v2/bin/pip install --no-deps jaxmarl==0.2.0
    v2/bin/python tests/oracles/record_overcooked_v2.py
    v2/bin/python tests/oracles/record_overcooked_v2.py --episodes 4 --steps 400 --out /tmp/long.npz
    v2/bin/python tests/oracles/record_overcooked_v2.py --random --episodes 4

Every layout is played in two settings, `SETTINGS`, by chefs that run sensible errands with random
actions between them. `--random` plays two layouts in other settings: two whose episodes start
amid a game, with the first states of many more, and one with names of ingredients exchanged.

All is written in the codes of our kitchen: cells `y * width + x`; facing 0..3 north, south, east,
west; objects as in `manyhands/envs/kitchen/state.py`; timers of pots 0 idle, 1 ready, r + 1 with r
steps to go; timers of buttons as they are.
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "overcooked_v2.npz"
# Theirs: what is the option's name, and value.
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "all": {
        "start_cooking_interaction": True,
        "negative_rewards": True,
        "sample_recipe_on_delivery": True,
        "indicate_successful_delivery": True,
        "agent_view_size": 2,
    },
}
RANDOM_DATA = DATA.with_name("overcooked_v2_random.npz")
RANDOM_LAYOUTS = ("grounded_coord_simple", "test_time_wide")
RANDOM: dict[str, dict[str, Any]] = {
    "random": {"random_reset": True},
    "random-manual": {"random_reset": True, "start_cooking_interaction": True},
    "relabel": {"op_ingredient_permutations": [0, 1]},
}
STARTS = 2000
OBSERVE_EVERY = 25
STAY, INTERACT = 4, 5
THEIR_ACTIONS = (3, 1, 0, 2, 4, 5)  # north, south, east, west, stay, interact
MOVES = ((0, -1), (0, 1), (1, 0), (-1, 0))
DISH, SOUP = 3, 16
INGREDIENTS, SHIFTS = (1, 2, 4, 5), (2, 0, 5, 7)
FLOOR, WALL, GOAL, POT, BUTTON, PLATES, PILES = 0, 1, 4, 5, 7, 9, 10


def contents(bits: int) -> int:
    return sum((bits >> 2 + 2 * k & 3) << shift for k, shift in enumerate(SHIFTS))


def thing(bits: int) -> int:
    """An object of theirs outside a pot, in our code."""
    if bits in (0, 1):
        return DISH if bits else 0
    if bits & 1:
        return SOUP | contents(bits)
    return INGREDIENTS[[bits >> 2 + 2 * k & 3 for k in range(4)].index(1)]


class Game:
    """Their environment, with its state in our codes."""

    def __init__(self, layout: str, setting: str, steps: int):
        import jax
        from jaxmarl.environments.overcooked_v2 import OvercookedV2  # type: ignore

        options = (SETTINGS | RANDOM)[setting]
        self.env = OvercookedV2(layout=layout, max_steps=steps, **options)
        self.manual = bool(options.get("start_cooking_interaction"))
        self.jit_step = jax.jit(self.env.step_env)
        self.jit_reset = jax.jit(self.env.reset)
        self.fold = jax.jit(jax.random.fold_in)
        self.width, self.agents = self.env.width, len(self.env.agents)
        self.terrain = np.asarray(self.env.layout.static_objects).reshape(-1)

    def reset(self, seed: int) -> dict[str, Any]:
        import jax

        self.key, self.time = jax.random.key(seed), 0
        self.seen, self.state = self.jit_reset(self.key)
        return self.now()

    def step(self, actions: list[int]) -> tuple[dict[str, Any], float, list[float]]:
        given = {f"agent_{i}": np.int32(THEIR_ACTIONS[a]) for i, a in enumerate(actions)}
        key = self.fold(self.key, self.time)
        self.time += 1
        self.seen, self.state, reward, _, info = self.jit_step(key, self.state, given)
        shaped = [float(info["shaped_reward"][name]) for name in self.env.agents]
        assert len({float(reward[name]) for name in self.env.agents}) == 1
        return self.now(), float(reward["agent_0"]), shaped

    def now(self) -> dict[str, Any]:
        agents, grid = self.state.agents, np.asarray(self.state.grid).reshape(-1, 3)
        objects, timer = np.zeros(len(grid), np.uint16), np.zeros(len(grid), np.uint8)
        for cell, (what, bits, extra) in enumerate(grid.tolist()):
            if what == POT:
                objects[cell] = SOUP | contents(bits) if bits else 0
                timer[cell] = 1 if bits & 2 else (extra + 1 if extra else 0)
            else:
                objects[cell], timer[cell] = thing(bits), extra
        x, y = np.asarray(agents.pos.x), np.asarray(agents.pos.y)
        return {
            "cell": (y * self.width + x).astype(np.uint8),
            "facing": np.asarray(agents.dir).astype(np.uint8),
            "held": np.array([thing(int(b)) for b in np.asarray(agents.inventory)], np.uint16),
            "objects": objects,
            "timer": timer,
            "recipe": np.uint16(SOUP | contents(int(self.state.recipe))),
            "delivered": np.bool_(self.state.new_correct_delivery),
        } | self.names()

    def names(self) -> dict[str, np.ndarray]:
        """Which ingredient each chef sees under the name of each."""
        given = self.state.ingredient_permutations
        return {} if given is None else {"seen_as": np.asarray(given, np.uint8)}

    def observe(self) -> np.ndarray:
        """u8[N, C, H, W]; theirs is [H, W, C] for each agent."""
        rows = [np.asarray(self.seen[name]) for name in self.env.agents]
        assert all((row == row.astype(np.uint8)).all() for row in rows)
        return np.stack([np.transpose(row, (2, 0, 1)) for row in rows]).astype(np.uint8)


class Player:
    """One chef that picks an errand at random, walks there, interacts, picks the next."""

    def __init__(self, game: Game, index: int, rng: random.Random):
        self.game, self.index, self.rng = game, index, rng
        self.target: int | None = None
        self.patience = 0
        self.noise = rng.choice((0.02, 0.06, 0.2))
        self.honest = rng.choice((0.97, 0.97, 0.9, 0.3))  # how often it sticks to the recipe
        self.floor = {cell for cell, code in enumerate(game.terrain) if code == FLOOR}

    def near(self, cell: int) -> list[int]:
        return [cell + dx + dy * self.game.width for dx, dy in MOVES]

    def reach(self, start: int, blocked: set[int]) -> dict[int, int]:
        before, queue = {start: start}, deque([start])
        while queue:
            cell = queue.popleft()
            for other in self.near(cell):
                if other in self.floor and other not in blocked and other not in before:
                    before[other] = cell
                    queue.append(other)
        return before

    def errands(self, now: dict[str, Any]) -> list[tuple[float, int]]:
        terrain, objects, timer = self.game.terrain, now["objects"], now["timer"]
        room = self.reach(int(now["cell"][self.index]), set())
        beside = sorted({c for cell in room for c in self.near(cell)} - self.floor)
        held, recipe = int(now["held"][self.index]), int(now["recipe"])
        pots = np.flatnonzero(terrain == POT)
        inside = {int(c): sum(int(objects[c]) >> s & 3 for s in SHIFTS) for c in pots}
        honest = self.rng.random() < self.honest
        busy = sum(bool(timer[c]) for c in pots)
        dishes = sum(int(h) == DISH for h in now["held"])

        def wanted(kind: int) -> bool:
            """Whether some pot that may still become the recipe lacks an ingredient."""
            for c in pots:
                have = [int(objects[c]) >> s & 3 for s in SHIFTS]
                want = [recipe >> s & 3 for s in SHIFTS]
                fits = all(h <= w for h, w in zip(have, want, strict=True))
                if not timer[c] and inside[int(c)] < 3 and (not fits or have[kind] < want[kind]):
                    return True
            return False

        found: list[tuple[float, int]] = []
        for c in beside:
            code, lying, weight = int(terrain[c]), int(objects[c]), 0.03
            if held == 0:
                if code >= PILES:
                    fits = not honest or wanted(code - PILES)
                    weight = 6.0 if fits and any(inside[int(p)] < 3 for p in pots) else 0.1
                elif code == PLATES:
                    weight = 9.0 if busy > dishes else 0.4
                elif code == WALL and lying:
                    weight = 9.0 if lying >= SOUP else 2.0
                elif code == POT and self.game.manual and not timer[c] and inside[c]:
                    right = int(objects[c]) == recipe
                    weight = 12.0 if right or inside[c] == 3 else 0.3
                elif code == BUTTON:
                    weight = 0.5
            elif held >= SOUP:
                weight = {GOAL: 10.0, WALL: 0.0 if lying else 0.3}.get(code, 0.02)
            elif held == DISH:
                weight = {POT: 10.0 if timer[c] else 0.1, WALL: 0.0 if lying else 0.4}.get(code, 0)
            else:
                room_left = code == POT and not timer[c] and inside[c] < 3
                weight = {POT: 10.0 if room_left else 0.1, WALL: 0.0 if lying else 0.5}.get(code, 0)
            if weight:
                found.append((weight, c))
        if not any(weight > 1 for weight, _ in found) and held:
            # For somebody in another room, if there is one.
            free = [c for c in beside if terrain[c] == WALL and not objects[c]]
            others = [int(c) for i, c in enumerate(now["cell"]) if i != self.index]
            away = [self.reach(c, set()) for c in others if c not in room]
            between = [c for c in free if any(n in far for far in away for n in self.near(c))]
            found += [(5.0, c) for c in between or free]
        return found

    def act(self, now: dict[str, Any]) -> int:
        cell, facing = int(now["cell"][self.index]), int(now["facing"][self.index])
        if self.rng.random() < self.noise:
            self.target = None
            return self.rng.choice((0, 1, 2, 3, STAY, INTERACT, INTERACT))
        if self.target is None or self.patience <= 0:
            options = self.errands(now)
            if not options:
                return self.rng.randrange(4)
            weights, cells = zip(*options, strict=True)
            self.target = self.rng.choices(cells, weights)[0]
            self.patience = 25
        self.patience -= 1
        if self.target in self.near(cell):
            way = self.near(cell).index(self.target)
            if facing != way:
                return way
            cooking = now["timer"][self.target] > 2 and self.game.terrain[self.target] == POT
            if cooking and int(now["held"][self.index]) == DISH and self.rng.random() < 0.9:
                return STAY
            self.target = None
            return INTERACT
        others = {int(c) for i, c in enumerate(now["cell"]) if i != self.index}
        for blocked in (others, set()):
            before = self.reach(cell, blocked)
            goals = [c for c in self.near(self.target) if c in before]
            if goals:
                break
        else:
            self.target = None
            return STAY
        step = min(goals, key=lambda goal: self.length(before, goal, cell))
        while before[step] != cell:
            step = before[step]
        return self.near(cell).index(step)

    def length(self, before: dict[int, int], goal: int, cell: int) -> int:
        steps = 0
        while goal != cell:
            goal, steps = before[goal], steps + 1
        return steps


def record(game: Game, seed: int, steps: int) -> dict[str, np.ndarray]:
    """One episode: states [T + 1, ...], actions and rewards [T, ...], some observations."""
    rng = random.Random(seed)
    players = [Player(game, i, rng) for i in range(game.agents)]
    now = game.reset(seed)
    states, observations = [now], [game.observe()]
    actions, rewards, shaped = [], [], []
    for t in range(steps):
        actions.append([player.act(now) for player in players])
        now, reward, own = game.step(actions[-1])
        states.append(now)
        rewards.append(reward)
        shaped.append(own)
        if (t + 1) % OBSERVE_EVERY == 0:
            observations.append(game.observe())
    found = {name: np.stack([state[name] for state in states]) for name in states[0]}
    found |= {
        "actions": np.array(actions, np.uint8),
        "reward": np.array(rewards, np.int16),
        "shaped": np.array(shaped, np.int16),
        "observations": np.stack(observations),
    }
    assert (found["reward"] == rewards).all() and (found["shaped"] == shaped).all()
    return found


def starts(game: Game) -> dict[str, np.ndarray]:
    """Many first states: hands u16[STARTS, N], objects u16[STARTS, cells], timers."""
    import jax

    states = jax.vmap(lambda seed: game.env.reset(jax.random.key(seed))[1])(np.arange(STARTS))
    found: dict[str, list[Any]] = {"held": [], "objects": [], "timer": []}
    for i in range(STARTS):
        game.state = jax.tree_util.tree_map(lambda leaf, i=i: np.asarray(leaf)[i], states)
        now = game.now()
        for name, rows in found.items():
            rows.append(now[name])
    return {f"starts-{name}": np.stack(rows) for name, rows in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1)
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--random", action="store_true", help="record the settings of RANDOM")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    out = options.out or (RANDOM_DATA if options.random else DATA)
    settings = RANDOM if options.random else SETTINGS
    from jaxmarl.environments.overcooked_v2 import overcooked_v2_layouts  # type: ignore

    saved: dict[str, np.ndarray] = {}
    for layout in RANDOM_LAYOUTS if options.random else overcooked_v2_layouts:
        for setting in settings:
            game = Game(layout, setting, options.steps)
            seeds = [
                zlib.crc32(f"{layout} {setting} {e + 6 * options.random}".encode())
                for e in range(options.episodes)
            ]
            played = [record(game, seed, options.steps) for seed in seeds]
            for name in played[0]:
                saved[f"{layout} {setting} {name}"] = np.stack([one[name] for one in played])
            if "random" in setting:
                saved |= {f"{layout} {setting} {k}": row for k, row in starts(game).items()}
            points = [int(r) for one in played for r in one["reward"]]
            print(
                f"{layout} {setting}: {sum(p >= 15 for p in points)} right,",
                f"{sum(p <= -20 for p in points)} wrong, {points.count(-5)} presses,",
                f"{int(sum(one['shaped'].sum() for one in played))} shaped",
                flush=True,
            )
    np.savez_compressed(out, **saved)
    print(f"{out}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
