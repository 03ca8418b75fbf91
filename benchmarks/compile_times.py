"""What the first step costs, by number of agents.

    python benchmarks/compile_times.py

For each world and number of agents, and for each way in: `play` with random players, PettingZoo's
parallel view, and `gym.make` with the default partners in the other seats. A figure is the CPU time
of a process of its own, from making the environment to the end of the first step, without a
compilation cache; imports do not count. The least of `--repeats` processes is kept. Beside it, the
operations of the packed step's program.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, machine, report, save

WAYS = ("random", "pettingzoo", "gymnasium")
# World -> its numbers of agents and their configurations; a world is an id, and words about it.
WORLDS: dict[str, dict[int, dict[str, Any]]] = {
    "kitchen": {n: {"layout": "multiplayer_schelling", "chefs": n} for n in range(1, 7)},
    "kitchen asked": {
        n: {"layout": "overcooked_v2/grounded_coord_ring", "chefs": n, "view_radius": 2}
        for n in range(2, 7)
    },
    "kitchen routes": {
        n: {"layout": "multiplayer_schelling", "chefs": n, "observation": "routes"}
        for n in range(1, 7)
    },
    "craftworld": {n: {"players": n} for n in (1, 2, 4)},
    "home": {1: {}, 2: {"task": "house"}, 4: {"task": "house", "players": 4}},
    "volleyball": {2: {"task": "1v1"}, 6: {"task": "3v3"}},
    "negotiation": {2: {}},
    "negotiation commons": {n: {"scenario": "commons", "players": n} for n in (2, 4, 6)},
    "mission": {2: {}, 4: {"scenario": "flag"}},
    "cuisine": {n: {"level": 5, "chefs": n} for n in (2, 4, 6)},
    "drones": {n: {"task": "formation", "drones": n} for n in (3, 6)},
    "kuhn_poker": {n: {"players": n} for n in (2, 3)},
    "leduc_holdem": {2: {}},
    "tic_tac_toe": {2: {}},
    "connect_four": {2: {}},
}


# ---- one figure: a process of its own ------------------------------------------------------------


def first_step(world: str, agents: int, way: str) -> float:
    """CPU seconds from making the environment to the end of its first step."""
    import time

    import jax

    import manyhands
    from manyhands.wrappers.gymnasium import SeatEnv
    from manyhands.wrappers.pettingzoo import parallel_env

    id, config = world.partition(" ")[0], WORLDS[world][agents]
    jax.random.key(0).block_until_ready()
    begin = time.process_time()
    if way in ("random", "greedy"):
        manyhands.play(manyhands.make(id, **config), way, max_steps=1)
    elif way == "pettingzoo":
        seen = parallel_env(id, on_illegal="noop", **config)
        seen.reset(seed=0)
        seen.step({agent: seen.action_space(agent).sample() for agent in seen.agents})
    else:
        env = SeatEnv(id, on_illegal="noop", **config)
        env.reset(seed=0)
        env.step(env.action_space.sample())
    return time.process_time() - begin


def operations(world: str, agents: int) -> int:
    """The operations in the program of one step with its observations, legal actions and
    perceptions, those of loops and calls included once."""
    import jax
    import numpy as np

    import manyhands
    from manyhands.core.env import episode_key

    env = manyhands.make(world.partition(" ")[0], **WORLDS[world][agents])
    key = episode_key(0)
    state = jax.eval_shape(env.reset, key)
    actions = np.stack([env.action_space.sample() for _ in env.agents])

    def step(state: Any, actions: Any) -> Any:
        state, outcome = env.step(key, state, actions)
        seen = env.observe(state), env.legal(state), env.acting(state), env.perceive(state)
        return state, outcome, seen

    return _count(jax.make_jaxpr(step)(state, actions).jaxpr)


def _count(jaxpr: Any) -> int:
    count = len(jaxpr.eqns)
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for each in value if isinstance(value, (tuple, list)) else [value]:
                nested = getattr(each, "jaxpr", each)
                count += _count(nested) if hasattr(nested, "eqns") else 0
    return count


def answer(world: str, agents: int, way: str) -> None:
    """What a process of its own prints."""
    print(operations(world, agents) if way == "operations" else first_step(world, agents, way))


# ---- the table -----------------------------------------------------------------------------------


def asked(world: str, agents: int, way: str) -> float:
    """`answer` in a fresh process, without a compilation cache."""
    environment = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    words = [sys.executable, __file__, "--one", world, str(agents), way]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=environment)
    if done.returncode:
        raise SystemExit(f"{world}, {agents} agents, {way}: {done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--repeats", type=int, default=1, help="processes for each figure")
    parser.add_argument("--out", type=Path, default=RESULTS / "compile-times.json")
    parser.add_argument("--one", nargs=3, metavar=("WORLD", "AGENTS", "WAY"), help="one figure")
    options = parser.parse_args()
    if options.one:
        world, agents, way = options.one
        return answer(world, int(agents), way)
    rows: list[dict[str, Any]] = []
    for world in options.worlds:
        for agents in WORLDS[world]:
            row: dict[str, Any] = {"world": world, "agents": agents}
            for way in WAYS:
                row[way] = [round(asked(world, agents, way), 2) for _ in range(options.repeats)]
            row["operations"] = int(asked(world, agents, "operations"))
            rows.append(row)
            save(
                options.out,
                command=shlex.join(["python", "benchmarks/compile_times.py", *sys.argv[1:]]),
                machine=machine(),
                rows=rows,
            )
    report(
        "CPU seconds from making an environment to the end of its first step",
        ("world", "agents", *WAYS, "operations"),
        [
            (
                row["world"],
                str(row["agents"]),
                *(f"{min(row[way]):.1f}" for way in WAYS),
                f"{row['operations']:,}",
            )
            for row in rows
        ],
    )


if __name__ == "__main__":
    main()
