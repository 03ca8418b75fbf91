"""The benchmark scripts measure what they say, and keep it where they say."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from manyhands.baselines.speed import LOADS, Course, movers
from manyhands.core.env import make

ROOT = Path(__file__).parents[1]


def run(*arguments, **environment):
    command = [sys.executable, *map(str, arguments)]
    env = os.environ | {"JAX_PLATFORMS": "cpu", **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT)


def load(name):
    """A benchmark script as a module."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def test_rollouts_measures_and_saves(tmp_path):
    out = tmp_path / "speeds.json"
    small = ["--env", "tic_tac_toe", "--observations", "none", "vector", "--sizes", 2, 4]
    small += ["--repeats", 2, "--seconds", 0.01, "--cpu-devices", 1]
    done = run("benchmarks/rollouts.py", *small, "--out", out)
    assert done.returncode == 0, done.stderr
    content = json.loads(out.read_text())
    assert content["machine"]["platform"] == "cpu" and content["machine"]["jax"]
    seen = {(row["observation"], row["envs"]) for row in content["rows"]}
    assert seen == {(load, n) for load in ("none", "vector") for n in (2, 4)}
    for row in content["rows"]:
        assert len(row["all"]) == 2 and max(row["all"]) == row["best"] > 0
        assert row["agent_steps"] == pytest.approx(row["best"])  # one player acts in a step
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_rollouts_says_what_it_cannot_measure():
    done = run("benchmarks/rollouts.py", "--env", "chess")
    assert done.returncode == 1 and "'chess'; there are" in done.stderr


@pytest.mark.parametrize("name", LOADS)
def test_loads_play_on_and_compile_once(name):
    course = Course(make("kitchen", max_steps=5), name, 4, 5)
    assert course.run() == 20
    first = course.carry
    assert course.run() == 20
    assert int(course.carry.step) == 10 and (course.carry.episode == first.episode + 1).all()
    best, seconds = course.measure(1)
    assert best > 0 and seconds < 5


def test_movers_counts_who_acts():
    assert movers(make("kitchen")) == 2
    assert movers(make("kuhn_poker")) == 1


def test_a_missing_baseline_is_explained(tmp_path, monkeypatch):
    learning = load("learning")
    monkeypatch.setattr(learning, "HOME", tmp_path)
    monkeypatch.setattr(learning, "BASELINE", (tmp_path / "gone").as_uri() + "/{commit}/{path}")
    with pytest.raises(SystemExit, match=r"cannot be downloaded.*Save .*ippo_cnn_overcooked"):
        learning.fetch_baseline()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_everything_for_the_gpu_runs_on_the_cpu(tmp_path):
    done = subprocess.run(
        ["benchmarks/gpu.sh", "--smoke", str(tmp_path)],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in tmp_path.glob("*.json")} == {
        "gpu-kitchen.json",
        "gpu-environments.json",
        "gpu-learning-cramped_room.json",
    }
