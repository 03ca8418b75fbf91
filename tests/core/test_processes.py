"""The cores of a process; and forks: what would hang says so."""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from pathlib import Path

import gymnasium
import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.kernel import SmallCall
from manyhands.core.processes import ProcessError, check_process, usable_cores

sys.path.append(str(Path(__file__).parent))
from coins import Coins

KEY = jax.random.key(0)
FRESH = "manyhands/TestCoins-v0"  # with a pile of its own: what was compiled here runs in a fork

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]


def in_a_fork(function):
    """What `function` gives in a fork of this process, or the error it raises."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()

    def run():
        try:
            there.send(function())
        except Exception as error:
            there.send(error)

    process = context.Process(target=run)
    process.start()
    answer = here.recv() if here.poll(60) else TimeoutError("the fork hangs")
    process.kill()
    process.join()
    return answer


@pytest.fixture(scope="module")
def batch():
    game = Coins(players=2, turns=False)
    made = manyhands.vector(game, 2)
    made.reset(seed=0)
    return made


@pytest.mark.parametrize(
    "what",
    [
        check_process,
        lambda: manyhands.rollout(Coins(), "random", 2, 2, KEY),
        lambda: manyhands.play(Coins(), "random", progress=False),
        lambda: manyhands.vector(Coins(), 2).reset(seed=0),
        lambda: gymnasium.make(FRESH, pile=97, partners="random").reset(seed=0),
    ],
    ids=("check", "rollout", "play", "vector", "gymnasium"),
)
def test_compiling_in_a_fork_is_an_error(batch, what):
    answer = in_a_fork(what)
    assert isinstance(answer, ProcessError) and "spawn" in str(answer), answer


def test_a_batch_made_before_the_fork_is_an_error_after_it(batch):
    answer = in_a_fork(lambda: batch.step(np.zeros((2, 2), int)))
    assert isinstance(answer, ProcessError), answer


def test_single_steps_that_were_compiled_go_on_in_a_fork():
    call = SmallCall(lambda array: array + 1, 3)
    assert call(np.zeros(3, np.uint8)).tolist() == [1, 1, 1]
    assert in_a_fork(lambda: call(np.ones(3, np.uint8)).tolist()) == [2, 2, 2]


def test_single_steps_that_were_forgotten_are_an_error_in_a_fork():
    call = SmallCall(lambda array: array + 1, 3)
    call(np.zeros(3, np.uint8))
    call._run.clear_cache()  # as `jax.clear_caches` does with all programs
    assert isinstance(in_a_fork(lambda: call(np.ones(3, np.uint8))), ProcessError)
    assert call(np.ones(3, np.uint8)).tolist() == [2, 2, 2]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores are chosen on Linux alone")
def test_cores_are_those_that_the_process_may_use():
    def on_one_core():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        return usable_cores()

    assert in_a_fork(on_one_core) == 1 <= usable_cores() <= os.cpu_count()


def test_this_process_may_compile(batch):
    check_process()


def test_gymnasiums_processes_raise_instead_of_hanging(batch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        envs = gymnasium.make_vec(
            FRESH, num_envs=1, vectorization_mode="async", pile=98, partners="random"
        )
        with pytest.raises(ProcessError, match="spawn"):
            envs.reset(seed=0)
        envs.close(terminate=True)
