"""Drone volleyball's physics in MJX, MuJoCo's engine in JAX: a worker of volleyball.py, in an
environment with `mujoco-mjx`. As in peer_mujoco.py, commands are random and fallen games start
anew; vmap over simulations, scan over steps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from common import rate, serve
from mujoco import mjx  # type: ignore[attr-defined]

PROGRAMS: dict[tuple[str, int, int], Any] = {}


def made(model: str, num_envs: int, num_steps: int) -> Any:
    """(compiled loop, its carry)."""
    text = re.sub(r"<sensor>.*</sensor>", "", Path(model).read_text(), flags=re.DOTALL)
    loaded = mujoco.MjModel.from_xml_string(text)
    start = mujoco.MjData(loaded)
    mujoco.mj_resetDataKeyframe(loaded, start, 0)
    ends = [(loaded.joint("ball").qposadr[0] + 2, 0.2)]
    ends += [(loaded.joint(f"drone{i}").qposadr[0] + 2, 0.3) for i in range(loaded.nu // 4)]
    places, heights = np.array([e[0] for e in ends]), np.array([e[1] for e in ends])
    device, first = mjx.put_model(loaded), mjx.put_data(loaded, start)

    def control_step(data: Any, ctrl: jax.Array) -> Any:
        data = data.replace(ctrl=ctrl)
        data = jax.lax.fori_loop(0, 4, lambda _, d: mjx.step(device, d), data)
        over = (data.qpos[places] < heights).any()
        return jax.tree.map(lambda a, b: jnp.where(over, a, b), first, data)

    def step(data: Any, key: jax.Array) -> Any:
        ctrl = jax.random.uniform(key, (num_envs, loaded.nu))
        return jax.vmap(control_step)(data, ctrl), None

    run = jax.jit(lambda d, k: jax.lax.scan(step, d, jax.random.split(k, num_steps))[0])
    batch = jax.tree.map(lambda leaf: jnp.stack([leaf] * num_envs), first)
    return [run, jax.block_until_ready(run(batch, jax.random.key(0)))]


def answer(model: str, num_envs: int, num_steps: int, seconds: float) -> dict[str, Any]:
    """Control steps a second, of four physics steps each; 0 s compile it only."""
    slot = (model, num_envs, num_steps)
    if slot not in PROGRAMS:
        PROGRAMS[slot] = made(*slot)
    run = PROGRAMS[slot][0]

    def once() -> int:
        PROGRAMS[slot][1] = jax.block_until_ready(run(PROGRAMS[slot][1], jax.random.key(1)))
        return num_envs * num_steps

    return {"rate": rate(once, seconds) if seconds else 0.0, "version": mujoco.__version__}


if __name__ == "__main__":
    serve(answer)
