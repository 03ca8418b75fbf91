"""Episodes are the same bytes whichever random generator and precision JAX has by default."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from manyhands.core.env import episode_key, episode_key_data, own_key

CHILD = """
import hashlib, sys
import coins
import jax, numpy as np
from manyhands.core.pack import stepper
from manyhands.core.play import play
from manyhands.core.rollout import rollout
from manyhands.wrappers.vector import Vector

env = coins.Coins()
play(env, "random", 2, 5, record=sys.argv[1])
with open(sys.argv[1], "rb") as file:
    print(hashlib.sha256(file.read()).hexdigest())
print(stepper(env).reset(jax.random.key(7)).state.luck)
played = rollout(env, "random", 8, 20, jax.random.key(3))
print(hashlib.sha256(np.asarray(played.trajectory.action).tobytes()).hexdigest())
many = Vector(env, 4, seed=2)
print(many.reset()[0].tolist())
"""


def child(path, **variables):
    environment = os.environ | variables
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_another_default_generator_changes_nothing(tmp_path):
    usual = child(tmp_path / "usual")
    other = child(tmp_path / "other", JAX_DEFAULT_PRNG_IMPL="rbg")
    assert usual.returncode == other.returncode == 0, usual.stderr + other.stderr
    assert usual.stdout == other.stdout and usual.stdout.count("\n") == 4


def test_64_bits_are_warned_of(tmp_path):
    done = child(tmp_path / "r", JAX_ENABLE_X64="1")
    assert "JAX_ENABLE_X64" in done.stderr and "UserWarning" in done.stderr


@pytest.mark.parametrize("kind", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys_of_other_generators_are_the_key_of_their_seed(kind):
    key = own_key(jax.random.key(11, impl=kind))
    assert key == episode_key(11)
    np.testing.assert_array_equal(jax.random.key_data(key), episode_key_data(11))
