"""Drone volleyball's physics in `mujoco.batch`, MuJoCo's own engine for many simulations: a worker
of volleyball.py. It plays random commands that were drawn before, and starts games anew whose ball
or a drone of which has come down; there are neither rules nor observations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import mujoco.batch
import numpy as np
from common import rate, serve

BATCHES: dict[tuple[str, int], Any] = {}


def made(model: str, num_envs: int) -> Any:
    """(batch, what is below what height when a game is over, drawn commands)."""
    loaded = mujoco.MjModel.from_xml_string(Path(model).read_text())
    loaded.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR  # nobody reads them
    batch = mujoco.batch.Batch(loaded, num_envs)  # a thread for each core
    batch.reset(keyframe=0)
    ends = [(loaded.joint("ball").qposadr[0] + 2, 0.2)]
    for i in range(loaded.nu // 4):
        ends.append((loaded.joint(f"drone{i}").qposadr[0] + 2, 0.3))
    drawn = np.random.default_rng(0).uniform(0, 1, (64, num_envs, loaded.nu))
    return batch, np.array([e[0] for e in ends]), np.array([e[1] for e in ends]), drawn


def answer(model: str, num_envs: int, num_steps: int, seconds: float) -> dict[str, Any]:
    """Control steps a second, of four physics steps each; 0 s make it only."""
    slot = (model, num_envs)
    if slot not in BATCHES:
        BATCHES[slot] = made(model, num_envs)
    batch, places, heights, drawn = BATCHES[slot]
    qpos, ctrl = batch.bind("qpos"), batch.bind("ctrl")

    def once() -> int:
        for t in range(num_steps):
            ctrl[:] = drawn[t % len(drawn)]
            batch.step(nstep=4)
            over = np.flatnonzero((qpos[:, places] < heights).any(1))
            if len(over):
                batch.reset(over, keyframe=0, stage=mujoco.mjtStage.mjSTAGE_NONE)
        return num_envs * num_steps

    if not seconds:
        once()
    return {"rate": rate(once, seconds) if seconds else 0.0, "version": mujoco.__version__}


if __name__ == "__main__":
    serve(answer)
