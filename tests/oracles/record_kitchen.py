"""Record play in kitchens that others wrote, for test_kitchen_oracles.py to replay in ours.

Each kind of trace is recorded inside a virtual environment that has the other implementation:

    pip install overcooked-ai==1.1.0
    python tests/oracles/record_kitchen.py overcooked_ai          # what PyPI ships: manual cooking
    python tests/oracles/record_kitchen.py overcooked_ai_classic  # the same, cooking by itself
    python tests/oracles/record_kitchen.py overcooked_ai_orders   # tomatoes, short and bonus orders

    pip install jaxmarl==0.2.0 jax==0.10.1 jaxlib==0.10.1
    python tests/oracles/record_kitchen.py jaxmarl
    python tests/oracles/record_kitchen.py jaxmarl_v2

Chefs follow small plans with random actions between them, so that all of the game happens: soups
are served, dishes pile up, chefs collide and reach for one pot at once. Everything is written in
the codes of our kitchen (cells `y * width + x`, facing 0..3 = north, south, east, west; objects 0
nothing, 1 onion, 2 tomato, 3 dish, 16 | onions << 2 | tomatoes a soup; timers 0 idle, 1 ready,
r + 1 with r steps to go); the other implementation's own numbers are translated by an adapter.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import random
import sys
import warnings
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"
STAY, INTERACT = 4, 5
MOVES = ((0, -1), (0, 1), (1, 0), (-1, 0))  # north, south, east, west
ONION, TOMATO, DISH = 1, 2, 3
CLASSICS = (
    "cramped_room",
    "asymmetric_advantages",
    "coordination_ring",
    "forced_coordination",
    "counter_circuit_o_1order",
)
ORDERS = (
    "counter_circuit",
    "cramped_room_tomato",
    "asymmetric_advantages_tomato",
    "cramped_room_o_3orders",
)
OBSERVE_EVERY = 9  # steps between recorded observations
HORIZON = 400


@dataclass
class Snapshot:
    """Chefs as (cell, facing, held); pots as cell: (onions, tomatoes, timer); counters' objects."""

    chefs: list[tuple[int, int, int]]
    pots: dict[int, tuple[int, int, int]]
    counters: dict[int, int]


# ---- the other implementations -------------------------------------------------------------------


class OvercookedAI:
    """The reference game. `auto` makes a pot cook by itself with its third ingredient, in the
    environment's phase of the step, as the 2019 game did and the PyPI release cannot."""

    def __init__(self, layout: str, auto: bool):
        from overcooked_ai_py.mdp import actions, overcooked_mdp  # type: ignore[import-not-found]

        class Auto(overcooked_mdp.OvercookedGridworld):  # type: ignore[misc]
            def soup_to_be_cooked_at_location(self, state: Any, position: Any) -> bool:
                return False

            def step_environment_effects(self, state: Any) -> None:
                for item in state.objects.values():
                    if item.name == "soup" and item.is_idle and len(item.ingredients) == 3:
                        item.begin_cooking()
                super().step_environment_effects(state)

        self.game = overcooked_mdp.OvercookedGridworld.from_layout_name(layout)
        if auto:
            self.game.__class__ = Auto
        self.actions = actions.Action.INDEX_TO_ACTION
        self.facings = actions.Direction.DIRECTION_TO_INDEX
        self.rows = ["".join(row) for row in self.game.terrain_mtx]
        self.starts = [tuple(cell) for cell in self.game.start_player_positions]
        recipes = overcooked_mdp.Recipe
        start = self.game.get_standard_start_state()
        self.orders = []  # every recipe: onions, tomatoes, time, what its delivery pays
        for recipe in sorted(recipes.ALL_RECIPES, key=lambda r: (len(r.ingredients), *r)):
            parts = recipe.ingredients
            pays = self.game.get_recipe_value(start, recipe)
            bonus = recipe in start.bonus_orders
            self.orders.append(
                (parts.count("onion"), parts.count("tomato"), recipe.time, pays, bonus)
            )

    def reset(self) -> None:
        self.state = self.game.get_standard_start_state()

    def step(self, actions: list[int]) -> tuple[float, list[float]]:
        joint = [self.actions[action] for action in actions]
        self.state, info = self.game.get_state_transition(self.state, joint)
        return sum(info["sparse_reward_by_agent"]), info["shaped_reward_by_agent"]

    def snapshot(self) -> Snapshot:
        width = len(self.rows[0])

        def code(item: Any) -> int:
            if item is None:
                return 0
            if item.name == "soup":
                parts = item.ingredients
                return 16 | parts.count("onion") << 2 | parts.count("tomato")
            return {"onion": ONION, "tomato": TOMATO, "dish": DISH}[item.name]

        chefs = []
        for player in self.state.players:
            x, y = player.position
            facing = self.facings[player.orientation]
            chefs.append((y * width + x, facing, code(player.held_object)))
        pots, counters = {}, {}
        for x, y in self.game.get_pot_locations():
            pots[y * width + x] = (0, 0, 0)
        for (x, y), item in self.state.objects.items():
            if y * width + x in pots:
                parts = item.ingredients
                timer = 0
                if item.is_ready:
                    timer = 1
                elif item.is_cooking:
                    timer = item.cook_time_remaining + 1
                pots[y * width + x] = (parts.count("onion"), parts.count("tomato"), timer)
            else:
                counters[y * width + x] = code(item)
        return Snapshot(chefs, pots, counters)

    def observe(self) -> np.ndarray:
        """u8[2, 26, H, W]: theirs is [W, H, 26] for each player."""
        both = self.game.lossless_state_encoding(self.state, horizon=HORIZON)
        return np.stack([np.transpose(one, (2, 1, 0)) for one in both]).astype(np.uint8)


class JaxMARL:
    """JaxMARL's `overcooked`. Its chefs start facing anywhere; ours north, so north it is."""

    orders = None

    def __init__(self, layout: str):
        import jax
        from jaxmarl.environments.overcooked import Overcooked, layouts  # type: ignore

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.game = Overcooked(layout=layouts.overcooked_layouts[layout], max_steps=HORIZON)
        self.key = jax.random.key(0)
        self.jit_step = jax.jit(self.game.step_env)
        self.width, height = self.game.width, self.game.height
        cells = np.full(self.width * height, " ")
        for name, symbol in (("wall", "X"), ("goal", "S"), ("plate_pile", "D"), ("pot", "P")):
            cells[np.asarray(self.game.layout[name + "_idx"])] = symbol
        cells[np.asarray(self.game.layout["onion_pile_idx"])] = "O"
        self.rows = ["".join(row) for row in cells.reshape(height, self.width)]
        self.starts = [
            (int(c) % self.width, int(c) // self.width) for c in self.game.layout["agent_idx"]
        ]

    def reset(self) -> None:
        import jax.numpy as jnp

        _, state = self.game.reset(self.key)
        facing = jnp.zeros_like(state.agent_dir_idx)
        north = jnp.zeros_like(state.agent_dir).at[:, 1].set(-1)
        self.state = state.replace(agent_dir_idx=facing, agent_dir=north)
        self.seen = self.game.get_obs(self.state)

    def step(self, actions: list[int]) -> tuple[float, list[float]]:
        given = {f"agent_{i}": np.uint32(action) for i, action in enumerate(actions)}
        self.seen, self.state, reward, _, info = self.jit_step(self.key, self.state, given)
        shaped = info["shaped_reward"]
        return float(reward["agent_0"]), [float(shaped["agent_0"]), float(shaped["agent_1"])]

    def snapshot(self) -> Snapshot:
        codes = {1: 0, 3: ONION, 5: DISH, 9: 16 | 3 << 2}
        state = self.state
        grid = np.asarray(state.maze_map)
        pad = (grid.shape[0] - len(self.rows)) // 2
        grid = grid[pad:-pad, pad:-pad].reshape(-1, 3)
        position = np.asarray(state.agent_pos).astype(int)
        facing, held = np.asarray(state.agent_dir_idx), np.asarray(state.agent_inv)
        chefs = [
            (position[i, 1] * self.width + position[i, 0], int(facing[i]), codes[int(held[i])])
            for i in range(2)
        ]
        pots, counters = {}, {}
        for cell, (what, _, status) in enumerate(grid.tolist()):
            if what == 8:  # status: 23 - onions until it is full, then the steps to go
                pots[cell] = (23 - status, 0, 0) if status >= 20 else (3, 0, status + 1)
            elif what in (3, 5, 9):
                counters[cell] = codes[what]
        return Snapshot(chefs, pots, counters)

    def observe(self) -> np.ndarray | None:
        """u8[2, 26, H, W]: theirs is [H, W, 26] for each agent."""
        both = [np.asarray(self.seen[name]) for name in ("agent_0", "agent_1")]
        return np.stack([np.transpose(one, (2, 0, 1)) for one in both]).astype(np.uint8)


class JaxMARLV2(JaxMARL):
    """JaxMARL's `overcooked_v2` on the classic layouts; its observation has other channels."""

    def __init__(self, layout: str):
        import jax
        from jaxmarl.environments.overcooked_v2 import OvercookedV2  # type: ignore

        self.game = OvercookedV2(layout=layout, max_steps=HORIZON)
        self.key = jax.random.key(0)
        self.jit_step = jax.jit(self.game.step_env)
        self.width = self.game.width
        symbols = {0: " ", 1: "X", 4: "S", 5: "P", 9: "D", 10: "O"}
        self.rows = ["".join(symbols[c] for c in row) for row in self.game.layout.static_objects]
        self.starts = [(int(x), int(y)) for x, y in self.game.layout.agent_positions]

    def reset(self) -> None:
        _, self.state = self.game.reset(self.key)

    def step(self, actions: list[int]) -> tuple[float, list[float]]:
        return super().step([(3, 1, 0, 2, 4, 5)[action] for action in actions])

    def snapshot(self) -> Snapshot:
        def code(bits: int) -> int:
            return {0: 0, 1: DISH, 4: ONION}.get(bits, 16 | (bits >> 2 & 3) << 2)

        agents = self.state.agents
        x, y, facing, held = (
            np.asarray(a).tolist()
            for a in (agents.pos.x, agents.pos.y, agents.dir, agents.inventory)
        )
        chefs = [(y[i] * self.width + x[i], facing[i], code(held[i])) for i in range(2)]
        pots, counters = {}, {}
        for cell, (what, bits, left) in enumerate(np.asarray(self.state.grid).reshape(-1, 3)):
            if what == 5:
                timer = 1 if bits & 2 else (left + 1 if left else 0)
                pots[cell] = (int(bits >> 2 & 3), 0, int(timer))
            elif what == 1 and bits:
                counters[cell] = code(int(bits))
        return Snapshot(chefs, pots, counters)

    def observe(self) -> None:
        return None


# ---- the players ---------------------------------------------------------------------------------


class Player:
    """One chef that picks a sensible errand at random, walks there, interacts, picks the next."""

    def __init__(self, game: Any, index: int, rng: random.Random, manual: bool):
        self.rows, self.width = game.rows, len(game.rows[0])
        self.index, self.rng, self.manual = index, rng, manual
        self.target: int | None = None
        self.patience = 0
        self.noise = rng.choice((0.03, 0.1, 0.25))
        self.haste = rng.choice((0.05, 0.05, 1.5))  # how much it likes to cook a pot half full
        flat = "".join(self.rows)
        self.stations = {s: [c for c, t in enumerate(flat) if t == s] for s in "XOTDPS"}
        self.floor = {c for c, t in enumerate(flat) if t == " "}
        self.regions = [self.reach(y * self.width + x, set()) for x, y in game.starts]
        self.noisy_left = 0

    def near(self, cell: int) -> list[int]:
        return [cell + dx + dy * self.width for dx, dy in MOVES]

    def reach(self, start: int, blocked: set[int]) -> dict[int, int]:
        """Floor cells that a chef at `start` can walk to: cell -> the cell before it."""
        before, queue = {start: start}, deque([start])
        while queue:
            cell = queue.popleft()
            for other in self.near(cell):
                if other in self.floor and other not in blocked and other not in before:
                    before[other] = cell
                    queue.append(other)
        return before

    def touches(self, region: dict[int, int], cell: int) -> bool:
        return any(c in region for c in self.near(cell))

    def errands(self, now: Snapshot) -> list[tuple[float, int]]:
        """(weight, cell to interact with) of everything that may make sense now."""
        mine, other = self.regions[self.index], self.regions[1 - self.index]
        held = now.chefs[self.index][2]
        at = {s: [c for c in cells if self.touches(mine, c)] for s, cells in self.stations.items()}
        shared = len(set(mine) & set(other)) > 0
        room = [c for c, (o, t, timer) in now.pots.items() if timer == 0 and o + t < 3]
        hot = [c for c, pot in now.pots.items() if pot[2]]
        idle = [c for c, (o, t, timer) in now.pots.items() if timer == 0 and o + t]
        dishes = [held for _, _, held in now.chefs].count(DISH)
        free = [c for c in at["X"] if c not in now.counters]
        if not shared:  # things change hands over the counters between the two rooms
            free = [c for c in free if self.touches(other, c)] or free
        found: list[tuple[float, int]] = []

        def add(weight: float, cells: list[int]) -> None:
            found.extend((weight / len(cells), cell) for cell in cells)

        if held == 0:
            lying = {c: o for c, o in now.counters.items() if c in at["X"]}
            wants_dish = len(hot) > dishes
            for wanted, station, weight in (
                (DISH, "D", 8.0 if wants_dish else 1.0),
                (ONION, "O", 7.0 if room else 0.7),
                (TOMATO, "T", 7.0 if room else 0.7),
            ):
                cells = [c for c, o in lying.items() if o == wanted]
                if not shared and at[station]:
                    cells = []  # what I put there for the other room
                if cells and self.rng.random() < 0.6:
                    add(weight, cells)
                else:
                    add(weight, at[station])
            if at["S"]:
                add(10.0, [c for c, o in lying.items() if o >= 16])
            if self.manual:
                full = [c for c in idle if sum(now.pots[c][:2]) == 3 and c in at["P"]]
                add(12.0, full)
                add(self.haste, [c for c in idle if c in at["P"] and c not in full])
            add(0.3, at["P"])
        elif held >= 16:
            add(10.0, at["S"])
            add(0.5 if at["S"] else 10.0, free)
        else:
            good = [c for c in at["P"] if c in (hot if held == DISH else room)]
            add(10.0, good)
            add(0.7 if good else 4.0, free)
            if not good:
                add(1.0, at["P"])
        return [(w, c) for w, c in found if w > 0]

    def act(self, now: Snapshot, first: int | None) -> int:
        """The next action; the second chef is told what the `first` is going to do."""
        cell, facing, held = now.chefs[self.index]
        if self.noisy_left > 0 or self.rng.random() < self.noise:
            self.noisy_left = self.noisy_left - 1 if self.noisy_left else self.rng.randrange(3)
            self.target = None
            return self.rng.choice((0, 1, 2, 3, STAY, INTERACT, INTERACT))
        if self.target is None or self.patience <= 0:
            options = self.errands(now)
            if not options:
                return self.rng.randrange(4)
            weights, cells = zip(*options, strict=True)
            self.target = self.rng.choices(cells, weights)[0]
            self.patience = self.rng.randrange(10, 26)
        self.patience -= 1
        if self.target in self.near(cell):
            towards = self.near(cell).index(self.target)
            if facing != towards:
                return towards
            pot = now.pots.get(self.target)
            if pot and held == DISH and pot[2] > 2:  # it cooks: wait, mostly
                return self.rng.choice((STAY, STAY, STAY, INTERACT))
            # A dish is judged by the pots, which the first chef may change in the same step.
            ambush = self.index == 1 and held == 0 and self.target in self.stations["D"]
            if ambush and first != INTERACT and self.rng.random() < 0.85:
                return STAY
            self.target = None
            return INTERACT
        for blocked in ({now.chefs[1 - self.index][0]}, set()):
            before = self.reach(cell, blocked)
            goals = [c for c in self.near(self.target) if c in before]
            if goals:
                break
        else:
            self.target = None
            return STAY
        if self.rng.random() < 0.05:
            return self.rng.randrange(4)
        step = self.rng.choice(goals)
        if len(goals) > 1:
            lengths = []
            for goal in goals:
                length, at = 0, goal
                while at != cell:
                    at, length = before[at], length + 1
                lengths.append(length)
            step = goals[lengths.index(min(lengths))]
        while before[step] != cell:
            step = before[step]
        return self.near(cell).index(step)


# ---- recording -----------------------------------------------------------------------------------


def record(game: Any, seed: int, manual: bool) -> dict[str, Any]:
    """One episode, column by column: a list a chef, a pot or a step."""
    rng = random.Random(seed)
    players = [Player(game, i, rng, manual) for i in range(2)]
    game.reset()
    now = game.snapshot()
    pots = sorted(now.pots)
    columns: dict[str, list[list[int]]] = {
        name: [[], []] for name in ("actions", "cell", "facing", "held", "shaped")
    }
    contents: dict[str, list[list[int]]] = {
        name: [[] for _ in pots] for name in ("onions", "tomatoes", "timer")
    }
    sparse: list[float] = []
    counters: list[list[list[int]]] = []
    seen = [game.observe()]
    for step in range(HORIZON):
        actions = [players[0].act(now, None)]
        actions.append(players[1].act(now, actions[0]))
        reward, shaped = game.step(actions)
        now = game.snapshot()
        sparse.append(int(reward))
        for i, (cell, facing, held) in enumerate(now.chefs):
            row = (actions[i], int(cell), int(facing), int(held), int(shaped[i]))
            for name, value in zip(columns, row, strict=True):
                columns[name][i].append(value)
        for i, cell in enumerate(pots):
            for name, value in zip(contents, now.pots[cell], strict=True):
                contents[name][i].append(int(value))
        counters.append(sorted([int(c), int(o)] for c, o in now.counters.items()))
        if (step + 1) % OBSERVE_EVERY == 0:
            seen.append(game.observe())
    episode: dict[str, Any] = {"seed": seed, **columns, **contents, "sparse": sparse}
    changes = {"0": counters[0]}  # then only what differs from the step before: most steps do not
    changes |= {
        str(t + 1): after
        for t, (before, after) in enumerate(itertools.pairwise(counters))
        if after != before
    }
    episode["counters"] = changes
    if seen[0] is not None:
        packed = zlib.compress(np.stack(seen).tobytes(), 9)
        episode["observations"] = base64.b85encode(packed).decode()
    return episode


def write(kind: str, layouts: tuple[str, ...], make: Callable[[str], Any], episodes: int) -> None:
    traces = []
    for number, layout in enumerate(layouts):
        game = make(layout)
        rows = [list(row) for row in game.rows]
        for i, (x, y) in enumerate(game.starts):
            rows[y][x] = str(i + 1)
        manual = kind in ("overcooked_ai", "overcooked_ai_orders")
        played = [record(game, 1000 * number + seed, manual) for seed in range(episodes)]
        soups = sum(sum(value > 0 for value in one["sparse"]) for one in played)
        points = sum(sum(map(sum, one["shaped"])) for one in played)
        print(f"{kind} {layout}: {episodes} episodes, {soups} soups paid, {points} shaped points")
        traces.append(
            {
                "layout": layout,
                "grid": ["".join(row) for row in rows],
                "orders": game.orders,
                "observe_every": OBSERVE_EVERY,
                "episodes": played,
            }
        )
    path = DATA / f"{kind}.json.gz"
    text = json.dumps(traces, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    short = ("cramped_room", "asymm_advantages", "coord_ring", "forced_coord", "counter_circuit")
    kinds: dict[str, tuple[tuple[str, ...], Callable[[str], Any], int]] = {
        "overcooked_ai": (CLASSICS, lambda name: OvercookedAI(name, auto=False), 4),
        "overcooked_ai_classic": (CLASSICS, lambda name: OvercookedAI(name, auto=True), 6),
        "overcooked_ai_orders": (ORDERS, lambda name: OvercookedAI(name, auto=False), 4),
        "jaxmarl": (short, JaxMARL, 3),
        "jaxmarl_v2": (short, JaxMARLV2, 3),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in kinds:
        sys.exit(f"usage: record_kitchen.py KIND, one of {', '.join(kinds)}")
    write(sys.argv[1], *kinds[sys.argv[1]])


if __name__ == "__main__":
    main()
