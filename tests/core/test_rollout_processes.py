"""One rollout over the devices of two processes on loopback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.rollout import rollout

PROGRAM = """
import json, sys
import jax
jax.config.update("jax_num_cpu_devices", 2)
jax.distributed.initialize(sys.argv[1], num_processes=2, process_id=int(sys.argv[2]))
import manyhands
from manyhands.core.rollout import rollout

env = manyhands.make("tic_tac_toe")
devices = jax.devices()
first = rollout(env, "random", 8, 9, jax.random.key(7), devices=devices)
next_ = rollout(env, "random", 8, 9, jax.random.key(7), devices=devices, carry=first.carry)
parts = {
    part.index[-1].start or 0: part.data.tolist()
    for part in next_.trajectory.reward.addressable_shards
}
print(json.dumps({
    "devices": len(devices),
    "episodes": [first.statistics.episodes, next_.statistics.episodes],
    "metrics": next_.statistics.metrics,
    "parts": parts,
}))
"""


@pytest.mark.slow
def test_two_processes_share_the_batch_and_change_nothing():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    variables = {**os.environ, "XLA_FLAGS": "", "JAX_PLATFORMS": "cpu"}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, address, str(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=variables,
        )
        for number in range(2)
    ]
    try:
        ended = [process.communicate(timeout=240) for process in both]
    finally:
        for process in both:
            process.kill()
    assert [process.returncode for process in both] == [0, 0], ended
    told = [json.loads(out.splitlines()[-1]) for out, _ in ended]
    env = manyhands.make("tic_tac_toe")
    first = rollout(env, "random", 8, 9, jax.random.key(7))
    after = rollout(env, "random", 8, 9, jax.random.key(7), carry=first.carry)
    reward = np.asarray(after.trajectory.reward)
    seen = {}
    for one in told:
        assert one["devices"] == 4
        assert one["episodes"] == [first.statistics.episodes, after.statistics.episodes]
        assert one["metrics"] == pytest.approx(after.statistics.metrics)
        seen |= {int(start): np.array(part) for start, part in one["parts"].items()}
    assert sorted(seen) == [0, 2, 4, 6] and not set(told[0]["parts"]) & set(told[1]["parts"])
    whole = np.concatenate([seen[start] for start in sorted(seen)], axis=-1)
    np.testing.assert_array_equal(whole, reward)
