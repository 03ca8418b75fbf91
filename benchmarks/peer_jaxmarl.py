"""JaxMARL's kitchens in batched rollouts: a worker of rollouts.py, in a virtual environment with
`jaxmarl`. The loop is the one of its own baselines: vmap over environments, scan over steps,
`env.step` with its automatic reset, uniform actions."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
from common import rate, serve
from jaxmarl import make  # type: ignore[import-not-found]

PROGRAMS: dict[tuple[str, str, int], Any] = {}


def program(env: Any, observed: bool, num_envs: int, num_steps: int) -> tuple[Any, Any, int]:
    """(compiled loop, its carry, bytes of observation a step of one environment)."""

    def step(carry: Any, key: jax.Array) -> tuple[Any, None]:
        state, _, total = carry
        action_key, step_key = jax.random.split(key)
        drawn = jax.random.randint(action_key, (env.num_agents, num_envs), 0, 6, jnp.int32)
        actions = {agent: drawn[i] for i, agent in enumerate(env.agents)}
        keys = jax.random.split(step_key, num_envs)
        seen, state, reward, done, info = jax.vmap(env.step)(keys, state, actions)
        total = jax.tree.map(jnp.add, total, (reward, info["shaped_reward"], done["__all__"]))
        seen = jax.lax.optimization_barrier(seen) if observed else ()
        return (state, seen, total), None

    def run(carry: Any, key: jax.Array) -> Any:
        return jax.lax.scan(step, carry, jax.random.split(key, num_steps))[0]

    seen, state = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), num_envs))
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(seen)) // num_envs
    shaped = {agent: jnp.zeros(num_envs) for agent in env.agents}
    total = (dict(shaped), dict(shaped), jnp.zeros(num_envs, jnp.int32))
    return jax.jit(run), (state, seen if observed else (), total), size


def answer(
    game: str, layout: str, observation: str, num_envs: int, num_steps: int, seconds: float
) -> dict[str, Any]:
    """Steps a second of `game` ("overcooked" or "overcooked_v2"); 0 s compile it only."""
    slot = (game, observation, num_envs)
    if slot not in PROGRAMS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if game == "overcooked":
                from jaxmarl.environments.overcooked import layouts  # type: ignore

                env = make(game, layout=layouts.overcooked_layouts[layout])
            else:
                env = make(game, layout=layout)
        run, carry, size = program(env, observation != "none", num_envs, num_steps)
        PROGRAMS[slot] = [run, jax.block_until_ready(run(carry, jax.random.key(1))), size]
    run, _, size = PROGRAMS[slot]

    def once() -> int:
        PROGRAMS[slot][1] = jax.block_until_ready(run(PROGRAMS[slot][1], jax.random.key(2)))
        return num_envs * num_steps

    speed = rate(once, seconds) if seconds else 0.0
    return {"rate": speed, "bytes": size if observation != "none" else 0, "jax": jax.__version__}


if __name__ == "__main__":
    serve(answer)
