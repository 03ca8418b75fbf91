"""The `manyhands` command: every subcommand, without a display."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from manyhands._version import __version__
from manyhands.cli import COMMANDS, cache_folder, main, parse
from manyhands.cli.common import build
from manyhands.core.env import episode_key
from manyhands.core.pack import fingerprint, snapshot
from manyhands.core.registry import make

ROOT = Path(__file__).parents[1]
KITCHEN = ["kitchen", "max_steps=8"]


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """Three short episodes of random chefs."""
    path = tmp_path_factory.mktemp("cli") / "run.jsonl"
    assert (
        main(["play", *KITCHEN, "--seats", "random", "--episodes", "3", "--record", str(path)]) == 0
    )
    return path


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def episodes_of(path):
    """The episodes of a record, without the line that closes it."""
    lines = map(json.loads, path.read_text().splitlines())
    return [line for line in lines if "episode" in line]


def test_list_names_everything(capsys):
    status, out, _ = run(capsys, "list")
    assert status == 0
    for word in ("kitchen", "skills", "chat", "greedy", "language", "human"):
        assert word in out
    status, out, _ = run(capsys, "list", "kitchen")
    assert status == 0 and "cramped_room" in out and "XXPXX" in out


def test_every_command_explains_itself(capsys):
    for command in COMMANDS:
        if command == "train":  # whose help is that of the algorithm: tests/baselines
            continue
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0
        assert len(capsys.readouterr().out) > 200


def test_a_transcript_says_who_did_what(capsys):
    status, out, _ = run(capsys, "play", *KITCHEN, "--seats", "random", "--transcript")
    assert status == 0
    assert "8  chef_1 (random): " in out and "kitchen: 1 episode" in out


def test_a_game_without_a_script_is_played_at_random_if_nobody_is_named(capsys):
    status, out, _ = run(capsys, "play", "kuhn_poker", "--transcript")
    assert status == 0
    assert "1  player_0 (random): " in out and "kuhn_poker: 1 episode" in out


def test_one_episode_alone_is_the_same_episode(capsys, record, tmp_path):
    alone = tmp_path / "alone.jsonl"
    arguments = ["play", *KITCHEN, "--seats", "random", "--only", "2", "--record", alone]
    assert run(capsys, *arguments)[0] == 0
    (theirs,) = (line for line in episodes_of(record) if line["episode"] == 2)
    (ours,) = episodes_of(alone)
    assert ours["steps"] == theirs["steps"] and ours["totals"] == theirs["totals"]


def test_resume_plays_what_is_missing(capsys, record, tmp_path):
    path = tmp_path / "run.jsonl"
    lines = record.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:50])
    arguments = ["play", *KITCHEN, "--seats", "random", "--episodes", "3", "--record", path]
    status, _, err = run(capsys, *arguments)
    assert status == 1 and "resume" in err
    assert run(capsys, *arguments, "--resume")[0] == 0
    assert sorted(path.read_bytes().splitlines()) == sorted(record.read_bytes().splitlines())


def test_groups_and_forks(capsys, tmp_path):
    kitchen = make("kitchen", max_steps=8)
    state = kitchen.reset(episode_key(3))
    (tmp_path / "a.snap").write_bytes(snapshot(kitchen, state))
    path = tmp_path / "groups.jsonl"
    arguments = ["play", *KITCHEN, "--seats", "random", "--group", "2", "--fork"]
    assert run(capsys, *arguments, tmp_path / "a.snap", "--record", path)[0] == 0
    lines = episodes_of(path)
    assert sorted((line["group"], line["member"]) for line in lines) == [(0, 0), (0, 1)]
    assert {line["start"] for line in lines} == {fingerprint(kitchen, state)}
    assert run(capsys, "verify", path)[:2] == (0, "verified: 2 episodes, 16 steps\n")
    status, _, err = run(capsys, *arguments, tmp_path / "b.snap")
    assert status == 2 and "cannot read" in err
    status, _, err = run(capsys, *arguments, path)
    assert status == 1 and "no snapshot" in err


def test_verify_finds_what_was_changed(capsys, record, tmp_path):
    assert run(capsys, "verify", record)[:2] == (0, "verified: 3 episodes, 24 steps\n")
    forged = tmp_path / "forged.jsonl"
    forged.write_text(record.read_text().replace('"collisions":', '"collisions":1', 1))
    status, out, _ = run(capsys, "verify", forged)
    assert status == 1 and "DIFFERENT" in out


def test_exports(capsys, record, tmp_path):
    for name in ("film.gif", "film.mp4", "strip.png", "chat.jsonl", "arrays.npz"):
        status, out, err = run(capsys, "export", record, tmp_path / name)
        assert (status, err) == (0, "") and str(tmp_path / name) in out
        assert (tmp_path / name).stat().st_size > 1000
    talk = json.loads((tmp_path / "chat.jsonl").read_text().splitlines()[0])
    assert [message["role"] for message in talk["messages"][:3]] == ["system", "user", "assistant"]
    with np.load(tmp_path / "arrays.npz") as arrays:
        assert arrays["observations"].shape == (24, 2, 26, 4, 5)
    for form in ("chat", "arrays", "errors"):
        gap = ("--format", form, "--gap", "0")
        status, _, err = run(capsys, "export", record, tmp_path / "gap", *gap)
        assert status == 2 and form in err and "--format pairs" in err
    assert not (tmp_path / "gap").exists()
    pairs = ("--format", "pairs", "--gap", "0.5")
    assert run(capsys, "export", record, tmp_path / "pairs.jsonl", *pairs)[0] == 0
    status, _, err = run(capsys, "export", record, tmp_path / "film.avi")
    assert status == 2 and "--format" in err
    panel = ["--panel", "--agent", "chef_1", "--size", "640x300", "--episode", "1"]
    assert run(capsys, "export", record, tmp_path / "panel.gif", *panel)[0] == 0
    assert (tmp_path / "panel.gif").read_bytes() != (tmp_path / "film.gif").read_bytes()


def test_nothing_is_written_over_the_record(capsys, tmp_path):
    path = tmp_path / "run.jsonl"
    assert run(capsys, "play", "kuhn_poker", "--record", path)[0] == 0
    whole = path.read_bytes()
    (tmp_path / "link.gif").symlink_to(path)
    forms = ("chat", "arrays", "pairs", "errors", "gif", "png")
    for words in (
        *(("export", path, path, "--format", form) for form in forms),
        ("analyse", path, "--out", path),
        ("replay", path, "--headless", "--out", tmp_path / "link.gif"),
    ):
        status, _, err = run(capsys, *words)
        assert status == 1 and "the record itself" in err
        assert path.read_bytes() == whole


def test_an_export_that_fails_keeps_the_one_before(capsys, record, tmp_path):
    out = tmp_path / "chat.jsonl"
    assert run(capsys, "export", record, out)[0] == 0
    before = out.read_bytes()
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(record.read_bytes().replace(b'"episode":2', b'"episode":"2"'))
    assert damaged.read_bytes() != record.read_bytes()
    for path in (damaged, tmp_path / "missing.jsonl"):
        assert run(capsys, "export", path, out)[0] == 1
        assert out.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["chat.jsonl", "damaged.jsonl"]
    assert run(capsys, "export", record, "/dev/null", "--format", "chat")[0] == 0
    assert not Path("/dev/null").is_file()


def test_cameras_are_named(capsys, record, tmp_path):
    picture = tmp_path / "strip.png"
    status, _, err = run(capsys, "export", record, picture, "--camera", "map")
    assert status == 2 and "'map'" in err and "one view" in err
    looks = ("--camera", "map", "--agent", "chef_0")
    status, _, err = run(capsys, "export", record, picture, *looks)
    assert status == 2 and "--camera map" in err and "--agent chef_0" in err
    assert not picture.exists()


def test_films_without_a_display(capsys, record, tmp_path):
    film = tmp_path / "replay.gif"
    assert run(capsys, "replay", record, "--headless", "--out", film)[0] == 0
    assert film.read_bytes()[:4] == b"GIF8"
    film = tmp_path / "watch.mp4"
    seats = ["--seats", "random", "--headless", "--out", film]
    assert run(capsys, "watch", *KITCHEN, *seats)[0] == 0
    assert film.stat().st_size > 1000
    status, _, err = run(capsys, "replay", record, "--headless", "--out", tmp_path / "x.txt")
    assert status == 2 and ".gif or .mp4" in err


@pytest.mark.slow
def test_bench_measures(capsys):
    sizes = ("--num-envs", "4", "--num-steps", "8")
    status, out, _ = run(capsys, "bench", *KITCHEN, *sizes)
    assert status == 0 and "2 of 2 agents act" in out
    rates = re.findall(r"^  (\D+): +([\d,]+) env-steps +([\d,]+) agent-steps", out, re.M)
    assert [name for name, *_ in rates] == ["random actions", "and observations", "a network"]
    for _, steps, agents in rates:
        ratio = int(agents.replace(",", "")) / int(steps.replace(",", ""))
        assert ratio == pytest.approx(2, rel=0.01)
    assert re.search(r"one alone: +[\d,]+ env-steps", out)
    status, _, err = run(capsys, "bench", "kitchen", "kuhn_poker", "chefs=2", *sizes)
    assert status == 2 and "configures one environment" in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["play", "kitchn"], 2, 'did you mean "kitchen"?'),
        (["list", "kichen"], 2, 'did you mean "kitchen"?'),
        (["play", "kitchen", "layout=cramped_rom"], 2, "cramped_rom"),
        (["play", "kitchen", "layout"], 2, "NAME=VALUE"),
        (["play", "kitchen", "max_step=8"], 2, 'did you mean "max_steps"?'),
        (["play", "kitchen", "--seats", "random", "max_step=8"], 2, 'did you mean "max_steps"?'),
        (["play", "kitchen", "--seats", "greedi"], 2, 'did you mean "greedy"?'),
        (["play", "kitchen", "--seats", "greedy:nois=0.2"], 2, 'did you mean "noise"?'),
        (["play", "kitchen", "--seats", "greedy:noise"], 2, "key=value"),
        (["play", "kitchen", "--seats", "greedy,bot:a=1"], 2, "--seats greedy bot"),
        (["play", "kitchen", "--seats", "random,random random"], 1, "3"),
        (["evaluate", "kitchen", "--seats", "random,random", "random"], 2, "3"),
        (["play", "kitchen", "--seats", "random", "random", "random"], 1, "3"),
        (["play", "chat"], 2, "--chat"),
        (["play", "no_such_module:kitchen"], 2, "no_such_module"),
        (["verify", "missing.jsonl"], 1, "missing.jsonl"),
        (["replay", "missing.jsonl"], 1, "missing.jsonl"),
        (["export", "missing.jsonl", "out.gif"], 1, "missing.jsonl"),
        (["watch", *KITCHEN, "--headless", "--out", "film.txt"], 2, "film.txt"),
        (["watch", *KITCHEN, "--headless", "--speed", "0"], 2, "above 0"),
        (["watch", *KITCHEN, "--headless", "--speed", "nan"], 2, "above 0"),
        (["serve", "--port", "99999"], 2, "65535"),
        (["serve", "--tables", "0"], 2, "--tables"),
        (["serve", "--patience", "nan"], 2, "--patience"),
        (["play", *KITCHEN, "--only", "-1"], 2, "only"),
        (["judge", "kuhn_poker", "--seat", "random", "--out", "/dev/null/a"], 1, "/dev/null"),
    ],
)
def test_mistakes_are_explained_in_one_line(capsys, arguments, status, message):
    found, _, err = run(capsys, *arguments)
    assert found == status and message in err
    assert err.startswith("manyhands: ") and err.count("\n") == 1


def configured(*words):
    options = parse(words)
    return options, build(options)


def test_configuration_may_follow_options():
    """`argparse` alone takes it for one more seat, or refuses it."""
    for words in (
        ["max_steps=9", "layout=coordination_ring", "--seats", "random", "greedy"],
        ["--seats", "random", "greedy", "max_steps=9", "layout=coordination_ring"],
        ["max_steps=9", "--seats", "random", "greedy", "--chat", "layout=coordination_ring"],
        ["--seed", "3", "max_steps=9", "--seats", "random", "greedy", "layout=coordination_ring"],
        ["--episodes=1", "max_steps=9", "layout=coordination_ring", "--seats", "random", "greedy"],
    ):
        options, env = configured("play", "kitchen", *words)
        assert options.seats == ["random", "greedy"]
        assert (env.max_steps, env.unwrapped.config()["layout"]) == (9, "coordination_ring")
    options, env = configured("play", "kitchen", "--record", "max_steps=9", "max_steps=7")
    assert str(options.record) == "max_steps=9" and env.max_steps == 7  # a file may be called so
    options, env = configured("play", "volleyball", "--events", "max_steps=7")
    assert options.events == "agent" and env.unwrapped.max_steps == 7
    options, env = configured("play", "kitchen", "--seats", "greedy:noise=0.5", "max_steps=7")
    assert options.seats == ["greedy:noise=0.5"] and env.max_steps == 7
    options, env = configured("crossplay", "kitchen", "greedy", "bot", "--seed", "1", "max_steps=7")
    assert options.policies == ["greedy", "bot"] and env.max_steps == 7


def test_training_says_where_configuration_goes(capsys):
    pytest.importorskip("tyro")
    status, _, err = run(capsys, "train", "kitchen", "--seeds", "2", "max_steps=9")
    assert status == 2 and "manyhands train kitchen max_steps=9 --seeds 2" in err


def test_an_episode_that_is_not_there(capsys, record):
    status, _, err = run(capsys, "replay", record, "--episode", "9", "--headless")
    assert status == 2 and "[0, 1, 2]" in err


def test_events_are_chosen_by_agents_or_teams(capsys):
    for words, per, agents in (
        (["--events"], "agent", 6),
        (["--events", "agent"], "agent", 6),
        (["--events", "team"], "team", 2),
    ):
        env = build(parse(["play", "volleyball", "task=3v3", *words]))
        assert (env.id, env.per, env.num_agents) == ("events", per, agents)
    assert build(parse(["play", "volleyball"])).id == "volleyball"
    with pytest.raises(SystemExit):
        main(["play", "volleyball", "--events", "everybody"])
    assert "invalid choice: 'everybody'" in capsys.readouterr().err


# ---- the compilation cache -----------------------------------------------------------------------


def command(*words, **variables):
    """The command in a process of its own, with `variables` alone saying where JAX keeps what it
    compiles."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_C", "JAX_PERS", "TF_"))}
    return subprocess.run(
        [sys.executable, "-m", "manyhands", *words],
        env=kept | {name: str(value) for name, value in variables.items()},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )


@pytest.mark.slow
def test_the_command_keeps_what_it_compiles(tmp_path):
    words = ("play", "kuhn_poker", "--seats", "random")
    for variables in ({"JAX_COMPILATION_CACHE_DIR": tmp_path / "own"}, {"MANYHANDS_NO_CACHE": "1"}):
        command(*words, XDG_CACHE_HOME=tmp_path, LOCALAPPDATA=tmp_path, **variables)
    command(*words, "--no-cache", XDG_CACHE_HOME=tmp_path, LOCALAPPDATA=tmp_path)
    assert not (tmp_path / "manyhands").exists()
    first, second = (
        command(*words, XDG_CACHE_HOME=tmp_path, LOCALAPPDATA=tmp_path) for _ in range(2)
    )
    folder = tmp_path / "manyhands" / "jax" / jax.__version__
    assert any(path.name.startswith("jit_") for path in folder.iterdir())
    # XLA would print two long lines for each program that it loads.
    assert first.stdout == second.stdout and second.stderr == ""


def test_the_cache_lies_in_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "manyhands"


@pytest.mark.parametrize(
    "words", [("list",), ("export", "RECORD", "chat.jsonl"), ("verify", "RECORD")]
)
def test_commands_load_what_they_need(record, tmp_path, words):
    code = "import sys; from manyhands.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    words = [str(record) if word == "RECORD" else word for word in words]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    heavy = {"pygame", "imageio", "matplotlib", "flax", "optax", "openai", "tyro", "tensorboard"}
    assert "manyhands" in loaded and not loaded & heavy
    assert words == ["list"] or "mujoco" not in loaded


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Try:"),
        (["--help"], "crossplay"),
        (["--help", "play"], "crossplay"),
        (["--version"], __version__),
        (["--no-cache", "pley", "kitchen"], 'did you mean "play"?'),
        (["xyz"], "no command is called 'xyz'; there are list, demo, play"),
    ],
)
def test_help_and_misspelt_commands_load_nothing(words, told):
    """As the command itself starts: jax alone takes longer than to print a help."""
    code = (
        "import sys; sys.argv[0] = '/bin/manyhands'\nfrom manyhands.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('loaded:', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told in done.stdout + done.stderr
    loaded = set(done.stdout.rpartition("loaded:")[2].split())
    assert "manyhands.cli" in loaded
    assert not loaded & {"jax", "gymnasium", "pettingzoo", "numpy", "rich", "manyhands.shipped"}


def test_the_command_registers_what_it_needs():
    """Also where the registry is asked before anything else of the package was used."""
    code = (
        "import sys; sys.argv[0] = '/bin/manyhands'\nimport manyhands\n"
        "assert 'jax' not in sys.modules\n"
        "from manyhands.core.registry import registered, registered_seats\n"
        "assert 'kitchen' in registered() and 'greedy' in registered_seats()\n"
        "assert manyhands.make('kuhn_poker').id == 'kuhn_poker' and manyhands.Env\n"
        "import gymnasium; assert 'manyhands/Kitchen-v0' in gymnasium.registry\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_says_what_the_command_says(name):
    module, summary = COMMANDS[name]
    commands = argparse.ArgumentParser().add_subparsers()
    importlib.import_module(f"manyhands.cli.{module}").add(commands)
    assert list(commands.choices) == [name]
    (shown,) = commands._choices_actions
    assert shown.help == summary


def test_mcp_names_what_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp", "kuhn_poker", "--partners", "random"]) == 1
    assert "mcp>=2" in capsys.readouterr().err
    assert main(["mcp", "kuhn_poker", "--partners", "nobody"]) != 0
    assert "nobody" in capsys.readouterr().err


def test_alone_it_says_what_to_try(capsys):
    status, out, _ = run(capsys)
    assert status == 0
    tried = [line.split()[1] for line in out.splitlines() if line.startswith("  manyhands ")]
    assert len(tried) > 4 and set(tried) <= set(COMMANDS)


def test_a_person_without_a_display_plays_in_the_terminal(capsys, monkeypatch):
    monkeypatch.setattr("manyhands.viewer.window.has_display", lambda: False)
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 9))
    status, out, err = run(capsys, "play", "tic_tac_toe", "--seats", "human", "human")
    assert status == 0 and "player_1, step 1" in out and "player_0, the end" in out
    assert "you play in the terminal" in err


def test_watch_tells_in_words(capsys):
    seats = ("--seats", "random", "--text", "--speed", "1000", "--agent", "player_1")
    status, out, _ = run(capsys, "watch", "tic_tac_toe", *seats)
    assert status == 0 and "player_1 sees:" in out and "the episode is over" in out
    assert run(capsys, "watch", "tic_tac_toe", "--agent", "player_1")[0] == 2
