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

# Cases that take longest to compile are left to the slow tests.
SLOW_CASES = (
    "test_contract[volleyball: a match by velocities, noisy and late-check_batches]",
    "test_contract[volleyball: a match by velocities, noisy and late-check_compiled]",
    "test_contract[volleyball: a match by velocities, noisy and late-check_compiles_once]",
    "test_contract[volleyball: set-points in the wind-check_batches]",
    "test_contract[volleyball: set-points in the wind-check_compiled]",
    "test_contract[volleyball: set-points in the wind-check_compiles_once]",
    "test_contract[volleyball: discrete-check_batches]",
    "test_contract[volleyball: discrete-check_compiled]",
    "test_contract[craftworld: Craftax-Classic, two specialists-check_batches]",
    "test_contract[craftworld: Craftax-Classic, two specialists-check_compiled]",
    "test_contract[negotiation: the commons-check_compiled]",
    "test_contract[negotiation: a small trade-check_batches]",
    "test_contract[negotiation: a small trade-check_compiled]",
    "test_contract[negotiation: a deal by offers-check_batches]",
    "test_contract[negotiation: a deal by offers-check_compiled]",
    "test_contract[home: two rooms, one hand-check_batches]",
    "test_contract[home: two rooms, one hand-check_compiled]",
    "test_contract[kitchen: features, short view-check_batches]",
    "test_contract[kitchen: features, short view-check_compiled]",
    "test_contract[kitchen: generated-check_batches]",
    "test_contract[kitchen: compact, three layouts-check_batches]",
    "test_contract[kuhn_poker: three players, two hands-check_compiled]",
    "test_contract[leduc_holdem: duplicate-check_batches]",
    "test_contract[kitchen: one recipe asked for-check_batches]",
    "test_contract[mission: field: capture-check_compiled]",
    "test_contract[mission: field: cleanup-check_compiled]",
    "test_contract[mission: field: turned maze, planes-check_compiled]",
    "test_contract[mission: field: turned maze, planes-check_batches]",
    "test_contract[mission: field: door_key-check_batches]",
    "test_contract[drones: pursuit by moves, of an agent-check_batches]",
    "test_contract[drones: pursuit by moves, of an agent-check_compiled]",
    "test_contract[drones: pursuit by moves, of an agent-check_compiles_once]",
    "test_contract[cuisine: several kitchens, watched tools-check_batches]",
    "test_contract[cuisine: several kitchens, watched tools-check_compiled]",
    "test_snippets_run[playing]",
    "test_texts_are_short[multiplayer_schelling]",
    "test_vectors_are_rebuilt_from_text_in_every_layout[None]",
    "test_every_talker_takes_every_seat[trade]",
    "test_compact_observations_pass_too",
    "test_symbolic_says_no_more_than_the_row_and_stays_in_its_bounds",
    "test_what_is_certain_happens_whatever_the_others_do[crafter]",
    "test_what_is_certain_happens_whatever_the_others_do[craftax_classic]",
    "test_refusals_are_short[crafter]",
    "test_refusals_are_short[craftax_classic]",
    "test_they_say_who_they_are[fair:talk=true]",
    "test_they_say_who_they_are[bluffer]",
    "test_players_are_graded_and_dividing_the_work_helps",
    "test_contract[retries: tic-tac-toe-check_batches]",
    "test_contract[retries: tic-tac-toe-check_compiled]",
    "test_contract[retries: tic-tac-toe-check_compiles_once]",
    "test_contract[skills: the kitchen-check_batches]",
    "test_contract[skills: the kitchen-check_compiled]",
    "test_snippets_run[methods]",
    "test_snippets_run[training]",
    "test_snippets_run[train_and_ship]",
    "test_snippets_run[volleyball]",
    "test_snippets_run[home]",
    "test_snippets_run[kitchen]",
    "test_choices_come_true_and_events_are_what_happened[kuhn, 10 players]",
    "test_choices_come_true_and_events_are_what_happened[TicTacToe(rows=8]",
    "test_snippets_run[craftworld]",
    "test_snippets_run[evaluation]",
    "test_snippets_run[extending]",
    "test_batches_are_as_gymnasium_has_them[SameStep]",
    "test_what_holds_in_every_world[craftax_classic]",
    "test_generated_worlds_are_like_the_original_ones[crafter]",
    "test_vectors_are_rebuilt_from_text_in_every_layout[1]",
    "test_vectors_are_rebuilt_from_text_in_every_layout[2]",
    "test_chunks_change_nothing[seats]",
    "test_chunks_change_nothing[all]",
    "test_policies_play_wrapped_environments[skills]",
    "test_a_batch_is_many_singles[True]",
    "test_learns[qmix]",
    "test_learns[steps=3, recurrent=True, turns=True-]",
    "test_two_readers_cook_in_every_classic[asymmetric_advantages-300]",
    "test_agrees_with_brute_force[2-manual-rules2-4-2-11]",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.name in SLOW_CASES:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """After the last test of a module, and after its fixtures, keep to `MOST_MEMORY`."""
    result = yield
    last = nextitem is None or nextitem.path != item.path
    if last and "jax" in sys.modules and _memory() > MOST_MEMORY:
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
