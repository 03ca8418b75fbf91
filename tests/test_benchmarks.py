"""The benchmark scripts measure what they say, and keep it where they say."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import manyhands
from manyhands.baselines.evaluation import matches
from manyhands.baselines.evaluation.matches import Match
from manyhands.baselines.learners.speed import LOADS, Course, movers
from manyhands.core.registry import make

ROOT = Path(__file__).parents[1]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


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
        sys.modules[name] = module  # where dataclasses look up their annotations
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.mark.slow
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


@pytest.mark.slow
def test_compare_measures_two_commits_in_turns(tmp_path):
    out = tmp_path / "compare.json"
    small = ["--only", "tic_tac_toe", "--repeats", 3, "--seconds", 0.01, "--batch", 4]
    done = run("benchmarks/compare.py", "--against", "HEAD", *small, "--out", out)
    assert done.returncode == 0, done.stderr
    content = json.loads(out.read_text())
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    assert commit.stdout.startswith(content["against"]) and len(content["against"]) == 12
    assert content["machine"]["platform"] == "cpu" and content["machine"]["jax"]
    rows = {row["measure"]: row for row in content["rows"]}
    assert set(rows) == {"step", "rollout"}
    for name, row in rows.items():
        now, before = row["now"]["all"], row["before"]["all"]
        assert len(now) == len(before) == len(row["again"]["all"]) == 3
        each = [b / a if name == "step" else a / b for a, b in zip(now, before, strict=True)]
        assert row["speedup"] == pytest.approx(sorted(each)[1]) and row["noise"] >= 0


def test_compare_covers_every_environment_and_knows_noise(tmp_path):
    compare = load("compare")
    ids = {spec["id"] for spec, _ in compare.ENVIRONMENTS.values()}
    shipped = {name for name in manyhands.registered() if not name.startswith("test-")}
    newer = {"recent", "retries"}  # earlier commits have no such wrappers
    assert ids == shipped | set(manyhands.registered(wrappers=True)) - newer
    assert compare.noise([1.0, 1.0, 1.0]) == 0 and compare.noise([1.1]) == pytest.approx(0.1)
    assert compare.noise([0.9, 0.9, 1.1, 1.1]) == pytest.approx(0.1)
    with pytest.raises(SystemExit, match="rev-parse"), compare.checkout("no-such-commit"):
        pass


@pytest.mark.parametrize("name", LOADS)
def test_loads_play_on_and_compile_once(name):
    course = Course(make("kitchen", max_steps=5), name, 4, 5)
    assert course.run() == 20
    first = course.carry
    assert course.run() == 20
    assert int(course.carry.step) == 10 and (course.carry.episode == first.episode + 1).all()
    best, seconds = course.measure(1)
    assert best > 0 and seconds < 5


@pytest.mark.slow
def test_movers_counts_who_acts():
    assert movers(make("kitchen")) == 2
    assert movers(make("kuhn_poker")) == 1


def test_a_missing_baseline_is_explained(tmp_path, monkeypatch):
    learning = load("learning")
    monkeypatch.setattr(learning, "HOME", tmp_path)
    monkeypatch.setattr(learning, "URL", (tmp_path / "gone").as_uri() + "/{commit}/{path}")
    with pytest.raises(SystemExit, match=r"cannot be downloaded.*Save .*ippo_cnn_overcooked"):
        learning.fetch_baseline("cnn")
    assert not list(tmp_path.iterdir())


def test_baselines_are_kept_and_named(tmp_path, monkeypatch):
    learning = load("learning")
    (tmp_path / "there" / "config").mkdir(parents=True)
    for path in learning.BASELINES["ff"]:
        (tmp_path / "there" / path).write_text(path)
    monkeypatch.setattr(learning, "HOME", tmp_path / "home")
    monkeypatch.setattr(learning, "URL", (tmp_path / "there").as_uri() + "/{path}")
    files = learning.fetch_baseline("ff")
    assert {path.name for path in (tmp_path / "home").iterdir()} == set(files)
    (tmp_path / "home" / "ippo_ff_overcooked.py").write_text("another")
    again = learning.fetch_baseline("ff")  # what is there stays, and is recorded as it is
    assert (tmp_path / "home" / "ippo_ff_overcooked.py").read_text() == "another"
    changed = [name for name in files if files[name]["sha256"] != again[name]["sha256"]]
    assert changed == ["ippo_ff_overcooked.py"]


def lines_of(*means):
    """What a worker tells that compiles for 3 s, and then has an update of 100 steps a second."""
    yield {"compiled": 3.0, "jax": "", "device": "cpu"}
    for i, mean in enumerate(means, 1):
        yield {"seconds": 3.0 + i, "steps": 100 * i, "mean": mean}


@pytest.mark.parametrize(
    ("means", "cells"),
    [
        ((5.0, 21.0, 90.0), ["3.0 s", "5.0 s", "2.0 s", "200", "100"]),
        ((5.0, 8.0, 7.0), ["3.0 s", "not in 6 s", "best 8", "300", "100"]),
        ((), ["3.0 s", "no episode ended", "", "", ""]),
    ],
)
def test_learning_reports_the_first_time_or_how_far_it_came(means, cells, monkeypatch):
    learning = load("learning")
    monkeypatch.setattr(learning, "told", lambda *_: lines_of(*means))
    row = learning.train("someone", "python", "manyhands", {"seed": 0, "mark": 20.0}, 1.0)
    assert learning.cells(row) == ["someone", "0", *cells]


def test_learning_stops_a_run_that_takes_too_long(tmp_path, monkeypatch):
    learning = load("learning")
    slow = "import time; print('told: {\"begun\": true}', flush=True); time.sleep(60)"
    (tmp_path / "slow.py").write_text(slow)
    monkeypatch.setattr(learning, "__file__", str(tmp_path / "slow.py"))
    settings = {"seed": 0, "mark": 1.0, "device": "cpu"}
    row = learning.train("someone", sys.executable, "manyhands", settings, 0.2 / 60)
    assert learning.cells(row)[2] == "not in time"


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


@pytest.mark.slow
def test_language_measures_play_beside_a_client(tmp_path):
    out = tmp_path / "language.json"
    small = ["--only", "kuhn_poker, both seats", "--repeats", 2, "--episodes", 256]
    done = run("benchmarks/language.py", *small, "--latency", 0.02, "--out", out)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(out.read_text())["rows"]
    for who in ("client", "aiohttp", "now"):
        runs = row[who]["all"]
        decisions = 512 if who == "client" else row["decisions"]
        assert len(runs) == 2 and {found["decisions"] for found in runs} == {decisions}
        assert row[who]["seconds"] == min(found["wall"] for found in runs) >= 0.04
    assert row["now"]["own_cpu_ms"] > 0
    assert row["now"]["of_client"] == pytest.approx(row["now"]["rate"] / row["client"]["rate"])


def test_zero_shot_points_are_means_over_both_orders(monkeypatch):
    module = load("kitchen_zero_shot")
    played = []

    def play_matches(env, policies, lineups, episodes, seed):
        played.extend(lineups)
        found = []
        for row in lineups:
            points = np.array([10.0 * row[0] + row[1], 0.0])  # of two episodes
            found.append(
                Match(row, np.stack([points, points], -1), np.ones(2), {}, {}, *[points] * 2)
            )
        return found

    monkeypatch.setattr(matches, "play_matches", play_matches)
    policies = dict.fromkeys(["a", "b", "c"], "stationary")
    both = module.both_orders(None, policies, [("a", "b"), ("b", "c"), ("b", "a")], 2)
    assert sorted(played) == [(0, 1), (1, 0), (1, 2), (2, 1)]  # each once
    assert both("b", "c").tolist() == [(12 + 21) / 2, 0]
    alone = module.over({"b": None}, lambda name: both(name, "c"))
    assert (alone["mean"], alone["n"]) == (16.5 / 2, 2)  # over episodes
    several = module.over({"a": None, "c": None}, lambda name: both(name, "b"))
    assert (several["mean"], several["n"]) == ((5.5 + 16.5) / 4, 2)


def test_zero_shot_takes_the_policies_there_are(tmp_path, monkeypatch):
    module = load("kitchen_zero_shot")
    monkeypatch.setattr(module, "RUNS", tmp_path)
    env = module.seen("cramped_room")
    found = module.methods_of("cramped_room", env)
    assert list(found) == ["shipped ippo", "shipped self_play_pool"]
    assert [*found["shipped ippo"]] == ["shipped ippo 0"]
    assert list(module.methods_of("cramped_room", env, ["shipped ippo"])) == ["shipped ippo"]


def test_zero_shot_keeps_kitchens_apart():
    """Those that are learned in, those that are not, and the layouts."""
    module = load("kitchen_zero_shot")
    few = {"num_levels": 60}
    learned = {level.text() for level in make("kitchen", **module.KITCHENS | few).levels}
    others = {level.text() for level in make("kitchen", **module.ELSEWHERE | few).levels}
    layouts = {make("kitchen", layout=name).levels[0].text() for name in module.LAYOUTS}
    assert len(learned) == len(others) == 60
    assert not learned & others and not (learned | others) & layouts


def test_points_have_wilson_intervals():
    found = load("common").points(np.array([1.0, 1, 1, 0]), np.array([1.0, 1, -1, -1, -1, 0]))
    assert {side: found[side]["points"] for side in found} == {"near": 4, "far": 6, "both": 10}
    both = found["both"]
    assert (both["won"], both["drawn"], both["lost"]) == (0.5, 0.2, 0.3)
    assert (both["low"], both["high"]) == pytest.approx((0.2366, 0.7634), abs=1e-4)


def test_hcsp_shares_points_out_as_the_mixture_says():
    row = load("volleyball_hcsp").Row(("a", "b", "c"), np.array([0.5, 0.0, 0.5]), "options")
    drawn = [row.shared_out(10, np.random.default_rng(seed)) for seed in range(4)]
    assert all(sorted(blocks) == ["a"] * 5 + ["c"] * 5 for blocks in drawn)
    assert len({tuple(blocks) for blocks in drawn}) > 1  # in another order each time


def test_hcsp_joins_seeds_and_keeps_what_was_measured(tmp_path):
    hcsp, cell = load("volleyball_hcsp"), load("common").points
    out = tmp_path / "hcsp.json"

    def played(won):  # of ten points on either side, one a draw
        margins = np.array([0.0] + [1.0] * won + [-1.0] * (9 - won))
        return cell(margins, margins)

    hcsp.keep(out, 2, {"nash": {"seconds": 2.0}}, {"nash | rules": played(6)})
    assert hcsp.read(out)["over_seeds"] == {}  # one seed has no spread
    hcsp.keep(out, 0, {"nash": {"seconds": 1.0}}, {"nash | rules": played(4)})
    hcsp.keep(out, 0, {"joint": {"seconds": 3.0}}, {"joint | nash": played(1)})
    content = hcsp.read(out)
    assert list(content["seeds"]) == ["0", "2"]
    assert content["seeds"]["0"]["parts"] == {"nash": {"seconds": 1.0}, "joint": {"seconds": 3.0}}
    assert content["seeds"]["0"]["table"]["nash | rules"] == played(4)
    assert list(content["over_seeds"]) == ["nash | rules"]
    joined = content["over_seeds"]["nash | rules"]
    assert (joined["seeds"], joined["each"]) == (["0", "2"], [0.4, 0.6])
    # t(0.975, 1) = 12.706; the mean's standard error is 0.1.
    assert joined["won"]["mean"] == pytest.approx(0.5)
    assert joined["won"]["high"] == pytest.approx(0.5 + 1.2706, abs=1e-4)
    assert joined["drawn"]["mean"] == pytest.approx(0.1) == joined["drawn"]["high"]
    assert "| nash |  | 50 ± 127 |" in hcsp.shown_over_seeds(content["over_seeds"])
    assert "| rules | 40 ± 127 |  |" in hcsp.shown_over_seeds(content["over_seeds"])


def test_hcsp_over_learned_hits_names_a_wrong_folder_and_its_command(tmp_path, monkeypatch, capsys):
    hcsp, out = load("volleyball_hcsp"), tmp_path / "hits.json"
    words = ["--hits", str(tmp_path), "--parts", "nash", "growth", "best", "stack"]
    words += ["--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["benchmarks/volleyball_hcsp.py", *words])
    with pytest.raises(SystemExit):
        hcsp.main()
    told = capsys.readouterr().err
    assert str(tmp_path / "seed-0") in told and "serve, receive, set, spike" in told
    assert not out.exists()
    (tmp_path / "seed-0").mkdir()
    (tmp_path / "seed-0" / "serve.safetensors").touch()
    monkeypatch.setattr(hcsp, "train", lambda part, budget, runs: {"hits": budget.hits})
    hcsp.main()
    parts = hcsp.read(out)["seeds"]["0"]["parts"]
    assert list(parts) == ["nash", "growth", "best", "stack"]
    for part in parts.values():
        assert part["command"].split()[:2] == ["python", "benchmarks/volleyball_hcsp.py"]
        assert part["command"].split()[2:] == words and part["hits"] == str(tmp_path / "seed-0")


@pytest.mark.slow
def test_hcsp_teams_of_all_kinds_fly_in_one_game():
    """Velocities mean the same as in their own game; corrections are added to what skills do."""
    import jax
    import jax.numpy as jnp

    from manyhands.envs.volleyball.rules import rotor_commands

    game = load("volleyball_hcsp").Common()
    state = game.reset(jax.random.key(0))
    moves = jnp.linspace(-0.5, 0.5, 24).reshape(6, 4)
    numbers = jnp.linspace(-1, 1, 24).reshape(2, 12)
    actions = jnp.concatenate([jnp.zeros((2, 1)), numbers, jnp.array([[1.0], [0.0]])], axis=1)
    done = jax.jit(game.commands)(state, moves, actions)
    setup, inner = game.flat.setup, state.inner
    flown = jax.jit(lambda a: rotor_commands(setup, inner.params, inner, a))(numbers.reshape(6, 4))
    np.testing.assert_allclose(done[:3], flown[:3], atol=1e-5)
    np.testing.assert_allclose(done[3:], moves[3:] + game.reach * numbers.reshape(6, 4)[3:])


def commands_of(data):
    """The commands in a result file, wherever they stand."""
    if isinstance(data, list):
        return [command for one in data for command in commands_of(one)]
    if not isinstance(data, dict):
        return []
    own = [data["command"]] if "command" in data else []
    inner = [one for key, one in data.items() if key != "settings"]  # those are options
    return [*own, *data.get("other_commands", []), *commands_of(inner)]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_a_shell_reads_recorded_commands_as_they_were(path):
    for command in commands_of(json.loads(path.read_text())):
        if command.endswith(", from Python"):
            continue
        words = shlex.split(command)
        assert shlex.join(words) == command  # nothing but words: no unquoted `;` or `(`
        assert words[0] in ("python", "manyhands", "make")
        if words[0] == "python":
            assert (ROOT / words[1]).is_file()


def test_runs_of_the_text_policy_replace_those_of_the_same_seed_and_baseline(tmp_path):
    text_policy = load("text_policy")
    settings = {field.name: field.default for field in fields(text_policy.TextConfig)}
    path = tmp_path / "results.json"

    def write(command, *runs):
        data = {"runs": [], "command": command, "settings": settings}
        for seed, baseline, value in runs:
            run = {"seed": seed, "baseline": baseline, "value": value}
            data = text_policy.joined(data, run, path)
            path.write_text(json.dumps(data))
        found = json.loads(path.read_text())
        return [(run["seed"], run["baseline"], run["value"]) for run in found["runs"]], found

    first, _ = write("one", (0, "role", 1), (1, "role", 2), (0, "role", 3))
    assert first == [(0, "role", 3), (1, "role", 2)]
    there = json.loads(path.read_text())
    there["runs"].append(there["runs"][0])  # as files were once written
    path.write_text(json.dumps(there))
    second, found = write("two", (0, "none", 4), (1, "role", 5))
    assert sorted(second) == [(0, "none", 4), (0, "role", 3), (1, "role", 5)]
    assert found["other_commands"] == ["one"] and found["command"] == "two"


def test_no_result_file_of_the_text_policy_holds_a_run_twice():
    for path in RESULTS:
        if path.name.startswith("text-policy-"):
            runs = json.loads(path.read_text())["runs"]
            names = [(run["seed"], run["baseline"]) for run in runs if "seed" in run]
            assert len(names) == len(set(names)), path.name
