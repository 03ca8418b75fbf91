"""pgx's games in batched rollouts: a worker of rollouts.py and tables.py, in a virtual environment
with `pgx`. The loop is that of its own examples: vmap over environments, scan over steps, its
wrapper for automatic resets, and legal actions drawn from the logarithm of the mask."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pgx  # type: ignore[import-not-found]
from common import rate, serve
from pgx.experimental import auto_reset  # type: ignore[import-not-found]

PROGRAMS: dict[tuple[str, int, bool], list[Any]] = {}


def program(game: str, num_envs: int, num_steps: int, observed: bool) -> list[Any]:
    """[compiled loop, its carry]."""
    env = pgx.make(game)
    advance = jax.vmap(auto_reset(env.step, env.init))

    def step(carry: Any, key: jax.Array) -> tuple[Any, None]:
        state, _, total = carry
        action_key, step_key = jax.random.split(key)
        logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
        actions = jax.random.categorical(action_key, logits, axis=1)
        state = advance(state, actions, jax.random.split(step_key, num_envs))
        total = total + state.rewards
        if observed:
            return (state, jax.lax.optimization_barrier(state.observation), total), None
        # Part of their state: it is not computed where nobody carries it on.
        return (state.replace(observation=nothing), (), total), None

    def run(carry: Any, key: jax.Array) -> Any:
        return jax.lax.scan(step, carry, jax.random.split(key, num_steps))[0]

    state = jax.vmap(env.init)(jax.random.split(jax.random.key(0), num_envs))
    nothing = jnp.zeros_like(state.observation)
    compiled = jax.jit(run)
    carry = (state, state.observation if observed else (), jnp.zeros_like(state.rewards))
    return [compiled, jax.block_until_ready(compiled(carry, jax.random.key(1)))]


def answer(
    game: str, num_envs: int, num_steps: int, seconds: float, observation: str = "vector"
) -> dict[str, Any]:
    """Steps a second; 0 s compile it only."""
    slot = (game, num_envs, observation != "none")
    if slot not in PROGRAMS:
        PROGRAMS[slot] = program(game, num_envs, num_steps, slot[-1])
    run, _ = PROGRAMS[slot]

    def once() -> int:
        PROGRAMS[slot][1] = jax.block_until_ready(run(PROGRAMS[slot][1], jax.random.key(2)))
        return num_envs * num_steps

    speed = rate(once, seconds) if seconds else 0.0
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(PROGRAMS[slot][1][1])) // num_envs
    return {"rate": speed, "bytes": size, "jax": jax.__version__}


if __name__ == "__main__":
    serve(answer)
