"""With skills="attack", hits land where they aim, and spikes go down: the floor of what
`benchmarks/volleyball_accuracy.py` measures."""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from manyhands.baselines.players.network import differences
from manyhands.core.env import ConfigError
from manyhands.core.registry import from_spec
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.env import SKILLS
from manyhands.envs.volleyball.flight import BUMP, SPIKE
from manyhands.wrappers.events import Events

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@functools.lru_cache
def benchmark():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        path = BENCHMARKS / "volleyball_accuracy.py"
        spec = importlib.util.spec_from_file_location("volleyball_accuracy", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


@functools.lru_cache
def measured(task):
    """What was measured on a court, by skill."""
    table = benchmark().measured(task, "attack", 6, seed=3)
    return {row["skill"]: row for row in table if row["target"] == "all"}


@pytest.mark.parametrize(
    "task",
    [
        "1v1",
        pytest.param("3v3", marks=pytest.mark.slow),
        pytest.param("6v6", marks=pytest.mark.slow),
    ],
)
def test_what_is_offered_is_accurate_and_spikes_go_down(task):
    rows = measured(task)
    for skill in ("serve", "bump", "spike") if task == "1v1" else ("serve", "bump", "set", "spike"):
        assert rows[skill]["offered"] > 0.1
        assert rows[skill]["in_court_within_1m"] >= 0.8, skill
        assert rows[skill]["stays"] >= 0.9
    assert rows["spike"]["downwards"] >= 0.8
    assert rows["spike"]["median_vz_m_s"] < 0
    if task == "1v1":
        assert rows["block"]["offered"] == 0
    if task != "1v1":
        assert rows["block"]["returned"] + rows["block"]["deadened"] >= 0.75


def test_the_tables_of_the_docs_are_those_measured():
    script, docs = benchmark(), (BENCHMARKS.parent / "docs" / "volleyball.md").read_text()
    rows = json.loads((BENCHMARKS / "results" / "volleyball-accuracy.json").read_text())["rows"]
    for table in (*(script.by_skill(rows, k) for k in SKILLS), script.by_target(rows, "attack")):
        assert len(table) > 10 and "\n".join(table) in docs
    for row in rows:  # each target, not only all of them together
        if row["skills"] == "attack" and row["skill"] != "block" and row["offered"] > 0.05:
            assert row["in_court_within_1m"] >= 0.8, row


def test_bumps_that_would_miss_are_no_choices():
    env = Volleyball("6v6")
    skills = env.skill_set()

    def offered(apex, x=4.6):
        up = np.sqrt(2 * 9.81 * (apex - 2))
        ball = {"ball": (-4.5, 0, 2), "ball_velocity": (9.1 / (2 * up / 9.81), 0, up)}
        there = {"near_1": (x, 0.1, 1.6), "near_4": (8.5, 0, 1.6)}
        state = env.place(served=True, last="far_0", positions=there, **ball)
        row = np.asarray(jax.jit(env.perceive)(state))[1]
        possible = np.asarray(jax.jit(skills.possible)(skills.parse_observation(row)))
        return {skills.names[i] for i in np.flatnonzero(possible & (skills.kinds == BUMP))}

    far = "bump to (-4.95, 0)"
    assert far in offered(5.3)
    assert far not in offered(4.2)  # too fast a racket
    assert far not in offered(5.3, x=5.2)  # falls short


def test_a_spike_that_cannot_be_done_is_no_choice():
    plain, attack = Volleyball("3v3", skills="plain"), Volleyball("3v3")
    assert plain.skill_set().names == attack.skill_set().names
    ready = dict(served=True, touched=("near_0", "near_1"), last="near_1", ball=(1.5, 0, 2.2))
    ready |= {"ball_velocity": (0.0, 0.0, 7.6), "positions": {"near_2": (1.4, 0.1, 1.9)}}
    far = ready | {"positions": {"near_2": (6.0, 2.5, 1.9)}}

    def offered(env, situation):
        row = np.asarray(jax.jit(env.perceive)(env.place(**situation)))[2]
        skills = env.skill_set()
        possible = np.asarray(jax.jit(skills.possible)(skills.parse_observation(row)))
        return {skills.names[i] for i in np.flatnonzero(possible & (skills.kinds == SPIKE))}

    assert "spike to (-3.3, 0)" in offered(attack, ready)
    assert "spike to (-4.8, 0)" not in offered(attack, ready)  # too flat to go down
    assert not offered(attack, far)
    assert len(offered(plain, far)) == 12


def test_options_that_specs_of_earlier_versions_do_not_name():
    env = Volleyball("1v1")
    assert from_spec(env.spec()) == env == Volleyball("1v1", skills="attack")
    plain = Volleyball("1v1", skills="plain")
    assert "skills" not in plain.spec()["config"] and from_spec(plain.spec()) == plain != env
    # Where there are no skills, there is nothing to name.
    assert "skills" not in Volleyball("1v1", actions="velocity").config()
    # Without a wrapper that has skills, a network does not know which they are.
    assert not differences(plain.spec(), env.spec())
    events = [Events(court).spec() for court in (plain, env)]
    assert "skills" in differences(*events)[0]
    assert env.config()["integrator"] == env.spec()["config"]["integrator"] == "gyroscopic"
    # What names no integrator is of a version that had one: records, snapshots, policies.
    old = Volleyball("1v1", integrator="euler")
    assert old.config()["integrator"] == "euler" and "integrator" not in old.spec()["config"]
    assert from_spec(old.spec()) == old != Volleyball("1v1")
    assert from_spec({"id": "skills", "config": {}, "env": old.spec()}).unwrapped == old
    assert not differences(old.spec(), Volleyball("1v1").spec())
    with pytest.raises(ConfigError, match="'smash'"):
        Volleyball("1v1", skills="smash")
    with pytest.raises(ConfigError, match="'rk4'"):
        Volleyball("1v1", integrator="rk4")
