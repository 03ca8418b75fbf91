"""Type checkers see what users call: a mistake in a call is reported, and a correct script is not.

mypy runs on scripts of a user, outside the package, which ships `py.typed`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import manyhands
from manyhands.envs import kitchen

ROOT = Path(__file__).parents[1]

CORRECT = """
import numpy as np
import manyhands
from manyhands import ConfigError, Env, Outcome, Reply, View
from manyhands.envs import kitchen

env: Env = manyhands.make("kitchen", layout="cramped_room")
result = manyhands.play(env, ["random", "greedy"], episodes=2, seed=1)
rewards: np.ndarray = result.rewards
lengths: list[int] = [episode.steps for episode in result.episodes]

def player(view: View) -> Reply:
    return Reply(view.choices[0], say=f"step {view.step}")

manyhands.play("kitchen", [player, player])
batch = manyhands.vector("kitchen", num_envs=4, arrays="jax", layout="cramped_room")
observations, info = batch.reset(seed=0)
games = kitchen.parallel_env(observe="text", layout="cramped_room")
names: list[str] = games.possible_agents
data: bytes = manyhands.snapshot(env, manyhands.restore(env, b""))
print_of: str = manyhands.fingerprint(env, None, "chef_0")
seat = manyhands.text_seat("kuhn_poker", 1, partners="random", retries=1)
text: str = seat.reset(seed=3, member=1)
text, reward, done, info = seat.act(seat.choices[0].text)
ids: tuple[str, ...] = manyhands.registered(wrappers=True)
try:
    env.index("nobody")
except ConfigError as error:
    print(error)
"""
# A line with a mistake each; the word that the report has to name.
WRONG = {
    'manyhands.vector("kitchen", num_envs="four")': "num_envs",
    'manyhands.vector("kitchen", num_envs=4, arrays=3)': "arrays",
    'count: int = manyhands.play("kitchen", "random")': "Result",
    'manyhands.play("kitchen", "random", episods=3)': "episods",
    'manyhands.play("kitchen", "random").rewardz': "rewardz",
    'manyhands.text_seat("kuhn_poker", retries="two")': "retries",
    "kitchen.parallel_env(3)": "str",
    "kitchen.parallel_env(observe=3)": "observe",
    "kitchen.env().game.descibes": "descibes",
    'pettingzoo.env("kitchen", infos=3)': "infos",
    "manyhands.envs.kitchen.Kitchin": "Kitchin",
    'pettingzoo.parallel_env("kitchen", observe=3)': "observe",
    "manyhands.snapshott(env, None)": "snapshott",
    "text: str = manyhands.snapshot(env, None)": "bytes",
    "manyhands.restore(env, 3)": "bytes",
    'manyhands.rollout(env, "random", 4)': "num_steps",
    "env.descibe(None, 0)": "descibe",
    "manyhands.make(3)": "str",
    'manyhands.Reply(1, sya="hello")': "sya",
    "manyhands.render(env)": "state",
}
BEFORE = """
import manyhands
from manyhands.envs import kitchen
from manyhands.wrappers import pettingzoo

env = manyhands.make("kitchen")
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """File -> line -> what mypy reports there; both scripts are checked in one run."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "correct.py").write_text(CORRECT)
    (folder / "wrong.py").write_text(BEFORE + "\n".join(WRONG) + "\n")
    # As in a user's project, but for what is known of packages without types.
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--check-untyped-defs"]
    command += ["--follow-imports=silent", "--cache-dir", str(ROOT / ".cache" / "mypy")]
    done = subprocess.run(
        [*command, "--config-file", os.devnull, "correct.py", "wrong.py"],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, dict[int, str]] = {"correct.py": {}, "wrong.py": {}}
    for line in done.stdout.splitlines():
        if match := re.match(r"(\w+\.py):(\d+): (?:error|note): (.*)", line):
            at = found[match[1]]
            at[int(match[2])] = f"{at.get(int(match[2]), '')}{match[3]}\n"
    return found


def test_a_correct_script_is_clean(reports):
    assert reports["correct.py"] == {}


@pytest.mark.parametrize("line", WRONG)
def test_a_mistake_is_reported(reports, line):
    number = len(BEFORE.splitlines()) + list(WRONG).index(line) + 1
    assert WRONG[line] in reports["wrong.py"].get(number, "nothing was reported")


def test_nothing_else_is_reported(reports):
    assert len(reports["wrong.py"]) == len(WRONG)


def test_options_that_no_type_can_know_are_refused_in_words():
    """An environment's own options pass through as keywords: the call itself refuses them."""
    with pytest.raises((TypeError, manyhands.ConfigError), match="arays"):
        manyhands.vector("kitchen", num_envs=4, arays="torch")
    with pytest.raises((TypeError, manyhands.ConfigError), match="obzerve"):
        kitchen.parallel_env(obzerve="text")
