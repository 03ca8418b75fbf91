"""Craftax-Classic in batched rollouts: a worker of rollouts.py, in a virtual environment with
`craftax`. The loop is the one of its own baselines: vmap over environments, scan over steps,
uniform actions; without any reset, or with optimistic resets: at each step one fresh world is
generated for every 16 environments, and those that end take theirs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from common import rate, serve
from craftax.craftax_env import make_craftax_env_from_name  # type: ignore[import-not-found]

NAME = "Craftax-Classic-Symbolic-v1"
RESETS = {"craftax, optimistic resets": True, "craftax, no resets": False}
SHARED = 16  # environments that share a fresh world, as in its baselines
PROGRAMS: dict[tuple[str, str, int], Any] = {}


def program(resets: bool, observed: bool, num_envs: int, num_steps: int) -> tuple[Any, Any, int]:
    """(compiled loop, its carry, bytes of observation a step of one environment)."""
    env = make_craftax_env_from_name(NAME, auto_reset=False)
    settings = env.default_params
    count = env.action_space(settings).n
    begin = jax.vmap(env.reset, in_axes=(0, None))
    fresh = max(1, num_envs // SHARED)

    def step(carry: Any, key: jax.Array) -> tuple[Any, None]:
        state, _, total = carry
        action_key, step_key, reset_key = jax.random.split(key, 3)
        actions = jax.random.randint(action_key, (num_envs,), 0, count, jnp.int32)
        keys = jax.random.split(step_key, num_envs)
        seen, state, reward, done, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            keys, state, actions, settings
        )
        if resets:
            new = begin(jax.random.split(reset_key, fresh), settings)
            which = jnp.arange(num_envs) * fresh // num_envs

            def chosen(first: jax.Array, old: jax.Array) -> jax.Array:
                over = done.reshape(-1, *(1 for _ in old.shape[1:]))
                return jnp.where(over, first[which], old)

            seen, state = jax.tree.map(chosen, new, (seen, state))
        seen = jax.lax.optimization_barrier(seen) if observed else ()
        return (state, seen, total + reward), None

    def run(carry: Any, key: jax.Array) -> Any:
        return jax.lax.scan(step, carry, jax.random.split(key, num_steps))[0]

    keys = jax.random.split(jax.random.key(0), num_envs)
    seen, state = jax.jit(begin)(keys, settings)
    size = seen.nbytes // num_envs
    return jax.jit(run), (state, seen if observed else (), jnp.zeros(num_envs)), size


def answer(
    game: str, observation: str, num_envs: int, num_steps: int, seconds: float
) -> dict[str, Any]:
    """Steps a second of the environment `game`; 0 s compile it only."""
    slot = (game, observation, num_envs)
    if slot not in PROGRAMS:
        run, carry, size = program(RESETS[game], observation != "none", num_envs, num_steps)
        PROGRAMS[slot] = [run, jax.block_until_ready(run(carry, jax.random.key(1))), size]
    run, _, size = PROGRAMS[slot]

    def once() -> int:
        PROGRAMS[slot][1] = jax.block_until_ready(run(PROGRAMS[slot][1], jax.random.key(2)))
        return num_envs * num_steps

    speed = rate(once, seconds) if seconds else 0.0
    return {"rate": speed, "bytes": size if observation != "none" else 0, "jax": jax.__version__}


if __name__ == "__main__":
    serve(answer)
