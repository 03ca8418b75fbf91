"""The example of docs/extending.md, installed as strangers would install it."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from manyhands import testing

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "matching_pennies"
GUIDE = ROOT / "docs" / "extending.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that holds the package, and nothing else."""
    source, target = (tmp_path_factory.mktemp(name) for name in ("source", "target"))
    shutil.copytree(EXAMPLE, source, dirs_exist_ok=True)  # a build leaves files beside it
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--target", target)
    subprocess.run([sys.executable, "-m", "pip", "install", *options, source], check=True)
    return target


@pytest.fixture(scope="module")
def python():
    """Runs Python with a folder on its path."""

    def python(folder: Path, *arguments: object, status: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))},
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    return python


@pytest.fixture(scope="module")
def run(python, installed):
    """Runs Python with the package installed."""
    return functools.partial(python, installed)


def test_the_command_knows_the_game_and_the_seat(run, tmp_path):
    record = tmp_path / "pennies.jsonl"
    words = ("play", "matching_pennies", "--seats", "copycat", "random", "--record", record)
    shown = run("-m", "manyhands", *words, "rounds=6", "--transcript")
    assert "matching_pennies: 1 episode" in shown and "6  even (copycat): " in shown
    assert json.loads(record.read_text().splitlines()[0])["env"]["config"] == {"rounds": 6}
    assert "verified: 1 episode" in run("-m", "manyhands", "verify", record)
    wrong = run("-m", "manyhands", "play", "matching_penny", "round=6", status=2)
    assert 'did you mean "matching_pennies"?' in wrong
    assert "rounds" in run("-m", "manyhands", "play", "matching_pennies", "round=6", status=2)


def test_the_command_lists_and_checks_it(run):
    listed = run("-m", "manyhands", "list")
    assert "matching_pennies" in listed and "copycat" in listed
    checked = run("-m", "manyhands", "check", "matching_pennies", "rounds=5")
    assert checked.splitlines() == [
        f"MatchingPennies(rounds=5): {len(testing.CHECKS)} checks passed"
    ]


def test_other_libraries_know_it(run):
    """Nothing imports the package before its id is used."""
    code = """
import sys
import gymnasium, pettingzoo, jax, numpy as np
from pettingzoo.test import parallel_api_test
import manyhands
from manyhands.testing import check_env, check_seat, check_wrapper

assert "matching_pennies" not in sys.modules
seat = gymnasium.make("manyhands/MatchingPennies-v0", rounds=4, partners="copycat")
observation, _ = seat.reset(seed=0)
assert observation.tolist() == [2, 2, 0, 0, 0]
# The copycat shows heads at first: "even" matches it.
assert seat.step(0)[1] == 1.0
game = pettingzoo.make("parallel", "manyhands/matching_pennies-v0", rounds=4)
parallel_api_test(game, num_cycles=20)
assert pettingzoo.make("aec", "manyhands/matching_pennies-v0").possible_agents == ["even", "odd"]

env = manyhands.make("matching_pennies", rounds=5)
rolled = manyhands.rollout(env, "copycat", 4, 10, jax.random.key(0))
assert rolled.statistics.episodes == 8
# Both copy: heads and heads, for ever.
assert np.asarray(rolled.trajectory.reward)[:, 0].min() == 1.0
check_seat("copycat", env)

chat = manyhands.make("chat", env=env)
result = manyhands.play(chat, ["copycat", lambda view: manyhands.Reply("tails", say="hello")])
assert result.rewards.tolist() == [[3.0, -3.0]]
check_wrapper(chat)
print("done")
"""
    assert run("-c", code).endswith("done\n")


def test_a_module_is_imported_by_its_id(python, tmp_path):
    """Without entry points: `module:id`."""
    source = (EXAMPLE / "matching_pennies.py").read_text()
    source = source.replace("import gymnasium\n", "import gymnasium\nimport manyhands\n", 1)
    source = source.replace('id = "matching_pennies"', 'id = "pennies_here"')
    source += 'manyhands.register("pennies_here", "pennies_of_mine:MatchingPennies")\n'
    broken = source.replace("canvas.fill(BACKGROUND)\n", "pass\n")
    broken = broken.replace("return list(SIDES)", 'return ["heads", "edge"]')
    command = ("-m", "manyhands", "check", "pennies_of_mine:pennies_here")
    file = tmp_path / "pennies_of_mine.py"
    file.write_text(source)
    assert "checks passed" in python(tmp_path, *command)
    file.write_text(broken)
    lines = python(tmp_path, *command, status=1).splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == ["choices", "pictures"]
    assert "parse refuses 'edge'" in lines[0] and "2 of" in lines[-1]


@pytest.mark.slow
def test_the_wrapper_keeps_the_contract(python):
    code = """
import manyhands
from manyhands.testing import check_wrapper

env = manyhands.make("delayed:delayed", env=manyhands.make("kuhn_poker", hands=2))
check_wrapper(env)
check_wrapper(manyhands.make("chat", env=env))
twice = [manyhands.play(game, "random", 3).rewards.tolist() for game in (env, env.env)]
assert twice[0] == twice[1] and any(map(any, twice[0]))
print("done")
"""
    assert python(ROOT / "examples", "-c", code).endswith("done\n")


def blocks() -> list[tuple[str, str]]:
    """(file, text) of the guide's blocks that belong to a file of the example."""
    text = GUIDE.read_text()
    return re.findall(r"`(examples/[\w./]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL)


def test_the_guide_shows_the_example():
    found = blocks()
    assert len(found) >= 8
    for file, block in found:
        # Methods stand without the indentation and the blank lines of their class.
        lines = "\n".join(filter(None, (ROOT / file).read_text().splitlines()))
        shown = "\n".join(filter(None, block.splitlines()))
        indented = textwrap.indent(shown, "    ")
        assert shown in lines or indented in lines, f"{file} holds no such lines:\n{block}"
    # What is in no file is run by tests/test_docs.py, or is typed in a shell.
    others = re.findall(r"^```(\w+)$", GUIDE.read_text(), re.M)
    assert len(others) == len(found) + others.count("python") + others.count("sh")


def test_the_guide_explains_every_check():
    section = GUIDE.read_text().partition("## Checking")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|", section, re.M)
    assert rows == [check.__name__.removeprefix("check_") for check in testing.CHECKS]


def test_the_example_is_short():
    assert sum(len(file.read_text().splitlines()) for file in EXAMPLE.glob("*.py")) < 150
