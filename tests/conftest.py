"""Set up before anything imports jax or pygame: a CPU, no display, a compilation cache."""

import ctypes
import gc
import os
import sys
from importlib.metadata import version
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
# Tests compile more than they compute: without LLVM's optimisations, and without the compiler's
# newer way to fuse loops, they take a third of the time. The slow ones are run with both
# (Makefile). A flag that a release does not know would end the process.
FLAGS = ["--xla_backend_optimization_level=0"]
if version("jaxlib").startswith("0.10."):
    FLAGS += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]
    FLAGS += ["--xla_llvm_disable_expensive_passes=true"]
os.environ.setdefault("XLA_FLAGS", " ".join(FLAGS))
# What is loaded from that cache is reported as compiled for another machine, at great length: XLA
# compares its own tuning flags with the processor's features.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Tracing makes many small objects and few cycles: with Python's own thresholds a tenth to a sixth
# of the time goes into looking for cycles, again and again.
gc.set_threshold(100_000, 20, 100)
# Bytes of a process, above which it forgets what was traced and compiled. That takes seconds for
# each GB, and what comes after is compiled anew: so, as seldom as the machine allows.
MOST_MEMORY = 7 * 2**30
if hasattr(os, "sysconf"):
    WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    PHYSICAL = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    MOST_MEMORY = min(MOST_MEMORY, int(0.7 * PHYSICAL / WORKERS))

# The tests that take longest, most of it to compile: more than two seconds of a core. A line is a
# file, a test, or a test with its parameters: much depends on these, and on which of them is the
# first to compile a shared step.
LONG = Path(__file__).with_name("long.txt")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    listed = set(LONG.read_text().splitlines())
    found, files = set(), set()
    for item in items:
        file, test = item.nodeid.split("::", 1)[0], item.nodeid.split("[", 1)[0]
        files.add(file)
        named = {file, test, item.nodeid} & listed
        if named:
            item.add_marker(pytest.mark.long)
        found |= named
    # Where whole files were collected, each of their lines names a test.
    if not any("::" in arg for arg in config.args) and not config.getoption("lf", False):
        stale = sorted(line for line in listed - found if line.split("::", 1)[0] in files)
        if stale:
            raise pytest.UsageError(f"{LONG.name} names tests that there are not: {stale}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """After the last test of a module, and after its fixtures, keep to `MOST_MEMORY`; within one,
    to a quarter more: the corpora are one module, and would take twice as much."""
    result = yield
    last = nextitem is None or nextitem.path != item.path
    most = MOST_MEMORY if last else 1.25 * MOST_MEMORY
    if "jax" in sys.modules and _memory() > most:
        sys.modules["jax"].clear_caches()
        gc.collect()
        # glibc keeps what was freed, most of it small parts of programs, until it is told.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
    return result


def _memory() -> int:
    """The resident memory of this process, in bytes; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGESIZE")
