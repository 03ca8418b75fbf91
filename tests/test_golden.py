"""Games that were recorded at an earlier commit are the same games today.

`data/make_golden.py` wrote them. Rounding of fractions depends on the machine and on the compiler:
where an environment is not `exact`, bits are compared only on a machine and with software like
those of the file, elsewhere numbers are compared up to rounding. Everything else is compared bit
for bit everywhere. Texts are not compared.
"""

from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import manyhands
from manyhands.core.pack import restore, state_packing
from manyhands.core.play import play
from manyhands.core.record import frames, read, verify

HERE = Path(__file__).parent / "data"
SPEC = importlib.util.spec_from_file_location("make_golden", HERE / "make_golden.py")
assert SPEC is not None and SPEC.loader is not None
golden = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(golden)

(ORIGIN, *ROWS) = golden.read_rows()
CASES = {row["name"]: row for row in ROWS}
# What compiles quickly, and what nothing else covers. Everything else is left to `slow`.
QUICK = {
    "kitchen",
    "kitchen, from a snapshot",
    "kuhn",
    "kuhn, three players",
    "leduc, match",
    "leduc, match, from a snapshot",
    "tic_tac_toe, perfect",
    "connect_four, small",
    "deal, bots",
    "trade, own goods",
    "commons",
    "craftworld, specialists",
    "mission, tag",
    "chat",
    "network kitchen/cramped_room-ippo",
}


def marked(names: Any) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in names]


HEADER = 36  # bytes of a snapshot before its state


def same_bits(env: Any, row: Any) -> bool:
    """Whether bits can be expected to be those of the file."""
    return bool(env.exact) or golden.machine() == row.get("machine", ORIGIN["machine"])


@pytest.fixture(params=marked(CASES))
def case(request: Any, tmp_path: Path) -> SimpleNamespace:
    row = CASES[request.param]
    path = tmp_path / "record.jsonl"
    path.write_text(row["record"])
    (episode,) = read(path)
    return SimpleNamespace(row=row, path=path, episode=episode, env=episode.env())


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_a_record_plays_again(case):
    if same_bits(case.env, case.row):
        report = verify(case.path)
        assert report and report.episodes == 1, str(report)
        return
    last = None
    for moment in frames(case.episode, case.env):
        if moment.turn is not None and not moment.turn.forfeits:
            noted = case.episode.steps[moment.step - 1].terms
            for name, values in moment.frame.terms.items():
                close(values, noted.get(name, 0.0))
        last = moment
    assert last is not None and last.over
    assert last.step == case.episode.result.steps


def test_a_state_and_what_is_seen_of_it_are_the_same_bytes(case):
    env, row = case.env, case.row
    kept = base64.b64decode(row["snapshot"])
    state = restore(env, kept)
    lasting = state_packing(env).lasting_body  # older snapshots do not tell of the last step
    assert kept[HEADER:].startswith(lasting(state))
    found = golden.parts(env, state)
    if same_bits(env, row):
        played = list(frames(case.episode, env))[row["step"]]
        assert lasting(played.frame.state) == lasting(state)
        assert {name: golden.digest_of(array) for name, array in found.items()} == row["digests"]
        return
    for name, array in found.items():
        if array.dtype.kind == "f":
            close(array.ravel(), row["values"][name])
        else:
            assert golden.digest_of(array) == row["digests"][name], name


def test_the_same_seats_play_the_same_game(case, tmp_path):
    """Live: seats, scripted players and networks that are shipped, not only their actions."""
    episode, again = case.episode, tmp_path / "again"
    play(
        case.env,
        list(episode.seats),
        seed=episode.run_seed,
        max_steps=episode.options["max_steps"],
        fork=episode.fork,
        record=again,
        progress=False,
    )
    (found,) = read(again)
    if same_bits(case.env, case.row):
        for t, (new, old) in enumerate(zip(found.steps, episode.steps, strict=True)):
            assert (new.turn.actions, new.terms) == (old.turn.actions, old.terms), t
            assert new.fingerprint == old.fingerprint, t
        assert found.result == episode.result
        return
    for new, old in zip(found.steps, episode.steps, strict=True):
        for agent, action in old.turn.actions.items():
            close(new.turn.actions[agent], action)
    close(found.result.rewards, episode.result.rewards)


def test_every_environment_and_every_shipped_network_is_covered():
    ids, scenarios, networks = set(), set(), set()
    for name, row in CASES.items():
        spec = json.loads(row["record"].splitlines()[0])["env"]
        while spec:
            ids.add(spec["id"])
            if spec["id"] == "negotiation":
                scenarios.add(spec["config"]["scenario"])
            spec = spec.get("env")
        if name.startswith("network "):
            networks.add(name.removeprefix("network "))
    shipped = {name for name in manyhands.registered() if not name.startswith("test-")}
    newer = {
        "recent",
        "retries",
        "mission",
        "cuisine",
        "home",
        "drones",
    }  # no earlier commit played them
    assert (shipped | set(manyhands.registered(wrappers=True))) - newer <= ids
    assert len(scenarios) == 7
    folder = Path(manyhands.__file__).parent / "assets" / "policies"
    files = {f"{path.parent.name}/{path.stem}" for path in folder.rglob("*.safetensors")}
    # Those of words, not of vectors: tests/baselines/test_text_shipped.py.
    files = {name for name in files if not name.startswith("text/")}
    assert files == networks
    assert set(CASES) >= QUICK


LOOPS = json.loads(golden.LOOPS.read_text())
del LOOPS["machine"]  # nothing here has fractions that are rounded
QUICK_LOOPS = {"rollout kuhn", "vector leduc"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in QUICK_LOOPS)) for n in LOOPS]
)
def test_a_loop_over_a_batch_gives_the_same(name):
    again = golden.rolled if name in golden.ROLLOUTS else golden.stepped
    assert again(name) == LOOPS[name]
