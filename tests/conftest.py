"""Set up before anything imports jax or pygame: a CPU, no display, a compilation cache."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".cache" / "jax")
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")
# Tests compile more than they compute, and mostly wait for LLVM: without its optimisations they
# take three quarters of the time. The slow ones are run with them (Makefile).
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
# What is loaded from that cache is reported as compiled for another machine, at great length: XLA
# compares its own tuning flags with the processor's features.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# Checks of the contract that take longest to compile are left to the slow tests.
SLOW_CHECKS = {
    "volleyball: a match": ("check_batches", "check_compiled", "check_compiles_once"),
    "craftworld: Craftax": ("check_batches",),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for case, checks in SLOW_CHECKS.items():
            if case in item.name and any(f"-{check}]" in item.name for check in checks):
                item.add_marker(pytest.mark.slow)
