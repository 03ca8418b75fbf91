"""Advantages from exports, against numbers that were worked out by hand."""

import json

import numpy as np
import pytest

from manyhands.baselines.learners.advantages import advantages
from manyhands.core.env import ConfigError, RecordError
from manyhands.core.export import export_chat
from manyhands.core.play import play
from manyhands.envs.poker import KuhnPoker


def talk(total, rewards, anchors, agent="p0", group=0, seed=7, seat="me", game="duel"):
    return {
        "env": {"id": game, "config": {}},
        "agent": agent,
        "seat": seat,
        "seed": seed,
        "group": group,
        "total": total,
        "rewards": rewards,
        "anchors": anchors,
    }


@pytest.fixture
def write(tmp_path):
    def write(talks):
        path = tmp_path / "chat.jsonl"
        path.write_text("".join(json.dumps(t) + "\n" for t in talks))
        return path

    return write


def test_role_baselines_run_by_game_and_role(write):
    path = write([
        talk(1.0, [], []),
        talk(-1.0, [], [], agent="p1"),
        talk(3.0, [], [], group=1),
        talk(-3.0, [], [], agent="p1", group=1),
        talk(10.0, [], [], game="other"),
        talk(1.0, [], [], group=2),
    ])  # fmt: skip
    baselines = {}
    found = [c.role for c in advantages(path, decay=0.9, baselines=baselines)]
    # p0: 0, then 0.1 * 1, then 0.9 * 0.1 + 0.1 * 3 = 0.39
    np.testing.assert_allclose(found, [1.0, -1.0, 2.9, -2.9, 10.0, 0.61], rtol=1e-12)
    game = json.dumps({"config": {}, "id": "duel"})
    np.testing.assert_allclose(baselines[game, "p0"], 0.9 * 0.39 + 0.1)
    again = [c.role for c in advantages(path, decay=0.9, baselines=baselines)]
    np.testing.assert_allclose(again[0], 1.0 - 0.451)


def test_group_advantages(write):
    path = write([
        talk(1.0, [], []),
        talk(2.0, [], []),
        talk(6.0, [], []),
        talk(5.0, [], [], agent="p1"),  # another role
        talk(5.0, [], [], agent="p1"),
        talk(9.0, [], [], group=1),  # alone
    ])  # fmt: skip
    # mean 3, sample deviation sqrt((4 + 1 + 9) / 2) = 2.6457513
    expected = [-0.7559289, -0.3779645, 1.1338934, 0, 0, 0]
    found = advantages(path)
    np.testing.assert_allclose([c.group for c in found], expected, atol=1e-6)
    plain = [c.group for c in advantages(path, scale=False)]
    np.testing.assert_allclose(plain, [-2, -1, 3, 0, 0, 0], atol=1e-12)


def test_anchor_advantages(write):
    path = write([
        talk(5.0, [1.0, 0.0, 4.0], ["a", "b", "a"]),  # to come, at 0.5: 2, 2, 4
        talk(2.0, [0.0, 2.0], ["a", "c"]),  # 1, 2
        talk(1.0, [1.0], ["a"], group=1),  # the same sight in another group
        talk(8.0, [8.0], ["b"], agent="p1"),  # and in another role
    ])  # fmt: skip
    found = advantages(path, discount=0.5, scale=False)
    # sight a: 2, 4, 1 with mean 7/3; b and c are seen once
    for credit, right in zip(found, [[-1 / 3, 0, 5 / 3], [-4 / 3, 0], [0], [0]], strict=True):
        np.testing.assert_allclose(credit.anchor, right, atol=1e-12)
    np.testing.assert_allclose(found[0].joint(2.0), [1.5 - 2 / 3, 1.5, 1.5 + 10 / 3])
    scaled = advantages(path, discount=0.5)[1].anchor
    # deviation sqrt((1/9 + 25/9 + 16/9) / 2) = sqrt(7/3)
    np.testing.assert_allclose(scaled, [-(4 / 3) / np.sqrt(7 / 3), 0], atol=1e-6)


def test_only_the_learner(write):
    path = write([talk(1.0, [], []), talk(4.0, [], [], seat="rival"), talk(3.0, [], [])])
    found = advantages(path, seat="me", scale=False)
    assert [c.group for c in found] == [-1.0, 1.0]
    assert advantages(path, seat="nobody") == []


def test_from_a_game_to_advantages(tmp_path):
    record, chat = tmp_path / "run.jsonl", tmp_path / "chat.jsonl"
    result = play(KuhnPoker(), "random", 4, 1, group=6, record=record, concurrency=1)
    export_chat(record, chat)
    found = advantages(chat, scale=False)
    rewards = result.rewards.reshape(4, 6, 2)
    expected = (rewards - rewards.mean(axis=1, keepdims=True)).reshape(24, 2)
    np.testing.assert_allclose(
        np.array([c.group for c in found]).reshape(24, 2), expected, atol=1e-12
    )
    first = [c for c in found if c.conversation["agent"] == "player_0"]
    for credit in first:  # all of a group saw the same first; the rest is discounted once
        n = len(credit.anchor)
        assert n == len(credit.conversation["messages"]) // 2 and np.isfinite(credit.anchor).all()
    opening = np.array([c.anchor[0] for c in first]).reshape(4, 6)
    np.testing.assert_allclose(opening.sum(axis=1), 0, atol=1e-12)
    assert np.abs(opening).max() > 0.1


@pytest.mark.parametrize(
    "data",
    [b"\xff\n", b"[]\n", b"{}\n", b"1\n", b"[" * 100_000, b'{"manyhands": 1}\n']
    + [
        json.dumps(talk(0, [0], ["a"]) | change).encode()
        for change in (
            {"total": "much"},
            {"rewards": [{}]},
            {"rewards": []},
            {"anchors": [["a"]]},
            {"seed": []},
            {"agent": None},
        )
    ],
    ids=lambda data: repr(data[-30:]),
)
def test_what_is_no_export_is_refused(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(RecordError, match="line 1 is no conversation"):
        advantages(tmp_path / "x")


def test_wrong_arguments(tmp_path, write):
    with pytest.raises(RecordError, match="cannot read"):
        advantages(tmp_path / "nowhere")
    for wrong in ({"decay": 1.5}, {"discount": -1}):
        with pytest.raises(ConfigError, match="from 0 to 1"):
            advantages(write([]), **wrong)
    assert advantages(write([])) == []
