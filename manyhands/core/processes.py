"""Processes: the cores that one may use, and forks.

A fork has none of the threads that JAX started in its parent. Compiling there, or running compiled
code that is divided over threads, waits for them for ever. So everything that does either asks
`check_process` first.
"""

from __future__ import annotations

import os

from jax._src import xla_bridge

from manyhands.core.env import ManyhandsError


class ProcessError(ManyhandsError, RuntimeError):
    """Compiled code cannot run in this process: it was forked after its parent had used JAX."""


def usable_cores() -> int:
    """How many cores this process may run on, which a container, `taskset` or a cluster's worker
    may have made fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):  # Linux alone
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_forked = False


def _after_fork() -> None:
    global _forked
    _forked = _forked or xla_bridge.backends_are_initialized()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


def was_forked() -> bool:
    """Whether this process was forked after its parent had used JAX."""
    return _forked


def check_process() -> None:
    """Raise `ProcessError` in a process where compiled code may hang."""
    if _forked:
        raise ProcessError(
            "this process was forked after its parent had used JAX, whose threads a fork lacks: "
            "compiled code would wait for them for ever. Start processes afresh: "
            'multiprocessing.get_context("spawn") or "forkserver"; in Gymnasium make_vec(..., '
            'vectorization_mode="async", vector_kwargs={"context": "spawn"})'
        )
