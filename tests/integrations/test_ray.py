"""A season on a Ray cluster of this machine, whose workers are killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

import manyhands
from manyhands.baselines.arena import read_season, run_season
from manyhands.baselines.arena.store import Store

ray = pytest.importorskip("ray")

SEASON = """
seed = 2
[players]
random = "random"
near = "solver:depth=1"
far = "solver:depth=3"
[games.tic_tac_toe]
episodes = 6
block = 2
"""


@pytest.fixture(autouse=True)
def workers_find_the_package(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(manyhands.__file__).parents[1]))


def rows_of(folder):
    with Store(folder) as store:
        return store.query(
            "SELECT m.key, episode, step, seat, player, action FROM decisions d "
            "JOIN matches m ON m.id = d.match ORDER BY 1, 2, 3, 4"
        )


def our_workers():
    """Processes of Ray that play a match now, and that this process began."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(entry.name)] = parent, (entry / "cmdline").read_bytes()
            except (OSError, IndexError):
                continue
    for process, (parent, line) in found.items():
        ancestor = parent
        while ancestor in found and ancestor != os.getpid():
            ancestor = found[ancestor][0]
        if ancestor == os.getpid() and line.startswith(b"ray::play_remotely"):
            yield process


def test_two_workers_killed_in_turn(tmp_path):
    """Nothing is lost, and nothing is there twice: the rows are those of one process alone."""
    season = read_season(SEASON)
    run_season(season, tmp_path / "alone")
    killed, said, over = [], [], threading.Event()

    def kill():
        for wanted in (1, 2):
            while len(killed) < wanted and not over.is_set():
                for process in our_workers():
                    if process not in killed and len(killed) < wanted:
                        os.kill(process, signal.SIGKILL)
                        killed.append(process)
                time.sleep(0.05)
            while sum("its worker ended" in line for line in said) < wanted and not over.is_set():
                time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        folder = tmp_path / "cluster"
        played = run_season(season, folder, ray="local", workers=2, say=said.append)
    finally:
        over.set()
        killer.join()
    assert len(killed) == 2
    assert sum("its worker ended" in line for line in said) >= 2
    assert (played.done, played.open, played.failed) == (18, 0, 0)
    assert rows_of(folder) == rows_of(tmp_path / "alone")
    print(f"killed {killed}; {len(rows_of(folder))} decisions, as in one process")


def test_what_one_process_began_the_cluster_ends(tmp_path):
    fewer = SEASON.replace('far = "solver:depth=3"\n', "")
    run_season(read_season(fewer), tmp_path / "store")
    played = run_season(
        read_season(SEASON), tmp_path / "store", resume=True, ray="local", workers=2
    )
    assert (played.done, played.failed) == (18, 0)
