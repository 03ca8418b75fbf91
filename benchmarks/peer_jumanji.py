"""Jumanji's foraging and warehouse in batched rollouts: a worker of missions.py, in a virtual
environment with `jumanji`. The loop is that of its own training code: its vectorising wrapper with
automatic resets, a scan over steps, and legal actions drawn from the logarithm of the mask."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from common import rate, serve
from jumanji import environments, wrappers  # type: ignore[import-not-found]
from jumanji.environments.routing.lbf import generator as foraging  # type: ignore
from jumanji.environments.routing.robot_warehouse import generator as warehouse  # type: ignore

PROGRAMS: dict[tuple[str, int], list[Any]] = {}


def built(kind: str, steps: int, settings: dict[str, Any]) -> Any:
    """The environment with settings of its generator, and so many steps at most."""
    makers = {
        "foraging": (environments.LevelBasedForaging, foraging.RandomGenerator),
        "warehouse": (environments.RobotWarehouse, warehouse.RandomGenerator),
    }
    environment, generator = makers[kind]
    return environment(generator=generator(**settings), time_limit=steps)


def program(env: Any, num_envs: int, num_steps: int) -> list[Any]:
    """[compiled loop, its carry]."""
    env = wrappers.VmapAutoResetWrapper(env)

    def step(carry: Any, key: jax.Array) -> tuple[Any, None]:
        state, seen, total = carry
        logits = jnp.log(seen.action_mask.astype(jnp.float32))
        actions = jax.random.categorical(key, logits, axis=-1)
        state, moment = env.step(state, actions)
        seen = jax.lax.optimization_barrier(moment.observation)
        return (state, seen, total + moment.reward.reshape(num_envs, -1).sum(1)), None

    def run(carry: Any, key: jax.Array) -> Any:
        return jax.lax.scan(step, carry, jax.random.split(key, num_steps))[0]

    state, moment = env.reset(jax.random.split(jax.random.key(0), num_envs))
    carry = (state, moment.observation, jnp.zeros(num_envs))
    compiled = jax.jit(run)
    return [compiled, jax.block_until_ready(compiled(carry, jax.random.key(1)))]


def answer(
    kind: str,
    steps: int,
    settings: dict[str, Any],
    num_envs: int,
    num_steps: int,
    seconds: float,
) -> dict[str, Any]:
    """Steps a second; 0 s compile it only."""
    slot = (f"{kind} {steps} {settings}", num_envs)
    if slot not in PROGRAMS:
        PROGRAMS[slot] = program(built(kind, steps, settings), num_envs, num_steps)
    run, _ = PROGRAMS[slot]

    def once() -> int:
        PROGRAMS[slot][1] = jax.block_until_ready(run(PROGRAMS[slot][1], jax.random.key(2)))
        return num_envs * num_steps

    return {"rate": rate(once, seconds) if seconds else 0.0}


if __name__ == "__main__":
    serve(answer)
