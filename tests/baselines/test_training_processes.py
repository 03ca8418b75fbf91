"""A training run over the devices of one process, and of two on loopback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

from manyhands.baselines.players import network as policies

# python -c PROGRAM OUT SEEDS STOP [ADDRESS NUMBER]: four updates, or up to number STOP; prints the
# score of every seed.
PROGRAM = """
import json, sys
import jax
out, seeds, stop, *others = sys.argv[1:]
jax.config.update("jax_num_cpu_devices", 2)
if others:
    jax.distributed.initialize(others[0], num_processes=2, process_id=int(others[1]))
import manyhands
from manyhands.baselines.learners.ppo import PPO, PPOConfig
from manyhands.baselines.learners.training import train

env = manyhands.make("tic_tac_toe")
config = PPOConfig(total_steps=128, num_envs=8, num_steps=4, minibatches=2, epochs=1, width=16,
                   learning_rate=0.01, learning_rate_end=0.01)
def report(at):
    if at.update == int(stop):
        print("{}", flush=True)
        raise KeyboardInterrupt

try:
    result = train(PPO(env, config), int(seeds), out, resume=True, episodes=4, progress=False,
                   updates_per_report=1, checkpoint_minutes=0.0, devices=jax.devices(),
                   report=report)
except KeyboardInterrupt:
    sys.exit()
print(json.dumps({"scores": [score.mean for score in result.scores.values()],
                  "out": str(result.out), "devices": len(jax.devices())}))
"""


def start(*words):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )


def told(*running):
    try:
        ended = [process.communicate(timeout=300) for process in running]
    finally:
        for process in running:
            process.kill()
    assert [process.returncode for process in running] == [0] * len(running), [
        err[-3000:] for _, err in ended
    ]
    return [json.loads(out.splitlines()[-1]) for out, _ in ended]


def together(*words):
    """The same run in two processes of two devices each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    return told(*(start(*words, address, number) for number in range(2)))


def weights(folder, seed):
    return policies.read_tensors(folder / f"policy-{seed}.safetensors")[0]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [4, 1])  # four are divided over the devices; of one the games
def test_two_processes_train_as_one(tmp_path, seeds):
    both = together(tmp_path / "two", seeds, 0)
    (one,) = told(start(tmp_path / "one", seeds, 0))
    assert [here["devices"] for here in both] == [4, 4] and one["devices"] == 2
    assert both[0] == both[1] and len(both[0]["scores"]) == seeds
    for seed in range(seeds):
        ours, theirs = (weights(tmp_path / name, seed) for name in ("two", "one"))
        assert ours.keys() == theirs.keys() and len(ours) > 4
        for name in ours:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=2e-3, atol=2e-4)
    lines = (tmp_path / "two" / "curve.jsonl").read_text().splitlines()
    assert [json.loads(line)["update"] for line in lines] == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_run_goes_on_with_other_processes(tmp_path):
    """What two processes kept, two new ones go on from, with the same result."""
    together(tmp_path / "run", 2, 3)
    assert together(tmp_path / "run", 2, 0)[0]["out"] == str(tmp_path / "run")
    together(tmp_path / "whole", 2, 0)
    for name, array in weights(tmp_path / "whole", 1).items():
        np.testing.assert_array_equal(weights(tmp_path / "run", 1)[name], array)
