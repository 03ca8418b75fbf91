"""Records: what is written is exact, nothing finished is ever lost, and no change goes unseen."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import coins
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.core.env import RecordError, SeatError
from manyhands.core.pack import fingerprint
from manyhands.core.play import Reply, play
from manyhands.core.record import (
    Writer,
    export_arrays,
    export_chat,
    frames,
    read,
    verify,
)

TURNS = coins.Coins()


def words(view):
    """A talker, whose every third answer is nonsense and who leaves notes."""
    action = view.choices[-1] if view.step % 3 else "take the lot \ud800 \u2028 ✓"
    return Reply(action, say=f"I have {view.step}", info={"tokens": np.int64(7), "odd": np.nan})


def run(path, env=TURNS, seats=(words, "random"), episodes=3, seed=11, **arguments):
    return play(env, list(seats), episodes, seed, record=path, **arguments)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "run.jsonl"
    moments = []
    result = run(path, on_step=moments.append, fingerprint_every=2, concurrency=1)
    return path, result, moments


def test_a_record_holds_what_happened(recorded):
    path, result, moments = recorded
    episodes = list(read(path))
    assert [e.result for e in episodes] == list(result.episodes)
    assert all(e.intact and e.env() == TURNS for e in episodes)
    assert episodes[0].players == ("words", "random") and episodes[0].run_seed == 11
    line = json.loads(path.read_text().splitlines()[0])
    assert line["env"] == TURNS.spec() and line["totals"]["illegal"][0] > 0
    step = line["steps"][0]
    assert step["said"] == {"player_0": "I have 0"} and "ACTION" not in step
    assert step["answers"]["player_0"] == "take the lot \ud800 \u2028 ✓"
    assert step["illegal"] == {"player_0": "say 'take' and a number"}
    assert step["info"] == {"player_0": {"tokens": 7, "odd": "nan"}}
    assert "fingerprint" in line["steps"][-1] and "fingerprint" not in line["steps"][0]
    assert line["steps"][1]["fingerprint"] == fingerprint(TURNS, moments[2].frame.state)


@pytest.mark.parametrize("env", [TURNS, coins.Talk(turns=False), coins.Coins(space="box")], ids=str)
def test_frames_are_the_moments_that_were_played(tmp_path, env):
    moments = []
    seats = [words, "random"] if env.space != "box" else "random"
    play(env, seats, 2, 5, record=tmp_path / "r", on_step=moments.append, concurrency=1)
    again = [moment for episode in read(tmp_path / "r") for moment in frames(episode)]
    assert len(again) == len(moments)
    for a, b in zip(again, moments, strict=True):
        assert (a.episode, a.seed, a.step, a.over, a.seats) == (
            (b.episode, b.seed, b.step, b.over, b.seats)
        )  # fmt: skip
        assert fingerprint(env, a.frame.state) == fingerprint(env, b.frame.state)
        assert [v.messages for v in a.views] == [v.messages for v in b.views]
        assert [v.text for v in a.views] == [v.text for v in b.views]
        assert [v.seed for v in a.views] == [v.seed for v in b.views]
        assert (a.turn is None) == (b.turn is None)
        if a.turn is not None:
            assert a.turn.said == b.turn.said and a.turn.illegal == b.turn.illegal
            for i in a.turn.actions:
                np.testing.assert_array_equal(a.turn.actions[i], b.turn.actions[i])
    assert verify(tmp_path / "r")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"rotate": True},
        {"max_steps": 3},
        {"on_illegal": "forfeit"},
        {"env": coins.Talk(turns=False)},
        {"env": coins.Coins(turns=False, players=3), "seats": (words, "random", words)},
    ],
    ids=["plain", "rotate", "stopped", "forfeit", "talk", "three"],
)
def test_honest_records_verify(tmp_path, arguments):
    result = run(tmp_path / "r", **arguments)
    report = verify(tmp_path / "r")
    assert report, report
    assert (report.episodes, report.line, report.cut) == (3, None, False)
    assert report.steps == sum(e.steps + (e.ended == "forfeit") for e in result.episodes)
    assert str(report).startswith("verified: 3 episodes")


def tampered(path, out, change, reseal=False):
    """A copy of a record whose second episode was changed; `reseal` makes the digest fit again."""
    lines = path.read_bytes().splitlines(keepends=True)
    body = json.loads(lines[1])
    change(body)
    del body["digest"]
    data = json.dumps(body, separators=(",", ":")).encode()
    if reseal:
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    else:
        digest = json.loads(lines[1])["digest"]
    lines[1] = data[:-1] + f',"digest":"{digest}"}}\n'.encode()
    out.write_bytes(b"".join(lines))
    return out


def forge_action(body):
    step = body["steps"][1]
    step["actions"] = {"player_1": (step["actions"]["player_1"] + 1) % 4}


TAMPERINGS = {
    "action": (forge_action, 1),
    "reward": (lambda b: b["steps"][1]["terms"]["gift"].__setitem__(0, 0.25), 1),
    "term dropped": (lambda b: b["steps"][2]["terms"].pop("gift"), 2),
    "fingerprint": (lambda b: b["steps"][1].update(fingerprint="0" * 32), 1),
    "start": (lambda b: b.update(start="0" * 32), None),
    "last step dropped": (lambda b: b["steps"].pop(), None),
    "step added": (lambda b: b["steps"].append(b["steps"][0]), None),
    "nobody acts": (lambda b: b["steps"][1].update(actions={}), 1),
    "both act": (lambda b: b["steps"][1]["actions"].update(player_0=0), 1),
    "illegal action": (lambda b: b["steps"][1].update(actions={"player_1": 9}), 1),
    "excuse": (lambda b: b["steps"][1].update(illegal={"player_1": "slipped"}), None),
    "no excuse": (lambda b: b["steps"][0].pop("illegal"), 0),
    "total": (lambda b: b["totals"]["rewards"].__setitem__(0, 99.0), None),
    "metric": (lambda b: b["totals"]["metrics"].update(coins=1.0), None),
    "ended": (lambda b: b["totals"].update(ended="stopped"), None),
    "count of illegal answers": (lambda b: b["totals"].update(illegal=[0, 0]), None),
    "episode seed": (lambda b: b.update(episode_seed=1), None),
    "run seed": (lambda b: b.update(seed=1), None),
    "players": (lambda b: b.update(players=[1, 0]), None),
    "pile": (lambda b: b["env"]["config"].update(pile=11), None),
    "number of players": (lambda b: b["env"]["config"].update(players=3), None),
    "no environment": (lambda b: b["env"].update(id="os.system"), None),
    "number of the episode": (lambda b: b.update(episode=0), None),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_changed_record_fails_even_with_a_new_digest(recorded, tmp_path, name):
    change, step = TAMPERINGS[name]
    report = verify(tampered(recorded[0], tmp_path / "r", change, reseal=True))
    assert not report and report.line == 2 and report.episodes == 1
    assert step is None or report.step == step
    assert "DIFFERENT at line 2" in str(report)


def test_another_version_is_named_where_a_record_differs(recorded, tmp_path):
    def change(body):
        body["made_with"] = "manyhands 0.0.1"
        body["start"] = "0" * 32

    report = verify(tampered(recorded[0], tmp_path / "r", change, reseal=True))
    assert "recorded with manyhands 0.0.1; this is manyhands " in report.difference


def test_texts_are_sealed_by_the_digest(recorded, tmp_path):
    def change(body):
        body["steps"][0]["said"]["player_0"] = "never said"

    report = verify(tampered(recorded[0], tmp_path / "r", change))
    assert not report and report.line == 2 and "edited" in report.difference


def test_resume_plays_only_what_is_missing(tmp_path):
    whole, part = tmp_path / "whole", tmp_path / "part"
    everything = run(whole, episodes=5)
    run(part, episodes=2)
    played = []
    result = run(
        part, episodes=5, resume=True, on_step=lambda m: played.append((m.episode, m.step))
    )
    assert {episode for episode, _ in played} == {2, 3, 4}
    assert result.episodes == everything.episodes
    assert sorted(part.read_bytes().splitlines()) == sorted(whole.read_bytes().splitlines())
    played.clear()
    assert run(part, episodes=5, resume=True, on_step=played.append).episodes == result.episodes
    assert not played


def test_a_cut_off_line_is_noted_and_played_again(recorded, tmp_path):
    whole = recorded[0].read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    path = tmp_path / "r"
    size = len(whole) - start
    for cut in [1, 2, 17, size // 2, size - 40, size - 3, size - 2]:
        path.write_bytes(whole[: start + cut])
        with pytest.warns(UserWarning, match=r"last line \(3\) is cut off"):
            assert len(list(read(path))) == 2
        report = verify(path)
        assert report and report.cut and report.episodes == 2 and "cut off" in str(report)
        run(path, resume=True, fingerprint_every=2)
        assert path.read_bytes() == whole
    path.write_bytes(whole[:-1])  # all there but the end of the line
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(read(path))) == 3
    run(path, resume=True, on_step=lambda moment: pytest.fail("nothing was missing"))
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "arguments, what",
    [
        ({"seed": 12}, "its seed is 11, this run's is 12"),
        ({"seats": ("random", "random")}, "its seats is"),
        ({"env": coins.Coins(pile=9)}, "its env is"),
        ({"rotate": True}, "its options is"),
        ({"max_steps": 4}, "its options is"),
    ],
    ids=str,
)
def test_resume_refuses_another_run(recorded, tmp_path, arguments, what):
    path = tmp_path / "r"
    path.write_bytes(recorded[0].read_bytes())
    with pytest.raises(RecordError, match=what):
        run(path, resume=True, **arguments)
    assert path.read_bytes() == recorded[0].read_bytes()


def test_resume_refuses_doubled_and_foreign_lines(recorded, tmp_path):
    path, data = tmp_path / "r", recorded[0].read_bytes()
    path.write_bytes(data + data.splitlines(keepends=True)[0])
    with pytest.raises(RecordError, match="episode 0 twice"):
        run(path, resume=True)
    assert not verify(path)
    path.write_bytes(b"dear diary\n" + data)
    with pytest.raises(RecordError, match="line 1 is no JSON"):
        run(path, resume=True)
    assert path.read_bytes().startswith(b"dear diary")


def never(view):
    raise AssertionError("asked to play")


def test_files_that_cannot_be_written_are_found_out_before_playing(recorded, tmp_path):
    with pytest.raises(RecordError, match="cannot write a record to"):
        run(tmp_path / "no" / "folder", seats=(never, never))
    with pytest.raises(RecordError, match="Is a directory"):
        run(tmp_path, seats=(never, never))
    with pytest.raises(RecordError, match="resume=True"):
        run(recorded[0], seats=(never, never))
    with (
        Writer(tmp_path / "r", TURNS, 11, ("a", "b"), {}),
        pytest.raises(RecordError, match="another run is writing"),
    ):
        run(tmp_path / "r", seats=(never, never))


def test_a_full_disk_loses_nothing_written_before(tmp_path, monkeypatch):
    path = tmp_path / "r"
    written, real = [], os.write

    def full(file, data):
        """Room for one episode and a half."""
        if not data.startswith(b'{"manyhands"') and not written:
            return real(file, data)
        written.append(len(data))
        if len(written) == 1:
            return real(file, data)
        if len(written) == 2:
            return real(file, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RecordError, match="No space left"):
        run(path, concurrency=1)
    monkeypatch.undo()
    assert verify(path).episodes == 1 and not verify(path).cut
    assert len(run(path, resume=True).episodes) == 3 and verify(path).episodes == 3


def test_a_failing_seat_leaves_finished_episodes_on_disk(tmp_path):
    def fails_late(view):
        if view.episode == 2 and view.step == 4:
            raise OSError("gone")
        return 1

    with pytest.raises(SeatError, match="gone"):
        run(tmp_path / "r", seats=(fails_late, "random"), episodes=4, concurrency=1)
    assert [e.result.episode for e in read(tmp_path / "r")] == [0, 1]


CHILD = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
import sys, time
import coins
from manyhands.core.play import play

def words(view):
    time.sleep(0.002)
    return view.choices[-1] if view.step % 3 else "what?"

play(coins.Coins(), [words, "random"], 40, 3, record=sys.argv[1], resume=True, concurrency=3,
     on_step=lambda m: print("moment", flush=True) if m.step == 0 else None)
"""


def test_killed_at_any_moment_nothing_finished_is_lost_or_doubled(tmp_path):
    path, rng = tmp_path / "r", np.random.default_rng(0)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])
    }
    command = [sys.executable, "-c", CHILD, str(path)]
    before: list[bytes] = []
    for attempt in range(4):
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as child:
            if attempt < 3:
                child.stdout.readline()
                time.sleep(rng.uniform(0.02, 0.25))
                os.kill(child.pid, signal.SIGKILL)
            else:
                child.communicate()
                assert child.returncode == 0
        whole = [line for line in path.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"]
        assert whole[: len(before)] == before  # what was finished stays as it was
        before = whole
    episodes = list(read(path))
    assert sorted(e.result.episode for e in episodes) == list(range(40))
    assert verify(path)

    def words(view):
        return view.choices[-1] if view.step % 3 else "what?"

    straight = play(TURNS, [words, "random"], 40, 3)
    assert tuple(sorted((e.result for e in episodes), key=lambda r: r.episode)) == straight.episodes


def test_interrupted_it_leaves_what_was_finished(tmp_path):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])
    }
    command = [sys.executable, "-c", CHILD, str(tmp_path / "r")]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        for _ in range(8):  # three run at once, so five have ended
            child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=30)
    assert child.returncode != 0 and b"KeyboardInterrupt" in complaint
    report = verify(tmp_path / "r")
    assert report and 5 <= report.episodes < 40 and not report.cut


def reads_or_complains(path, data):
    path.write_bytes(data)
    for use in (lambda: list(read(path)), lambda: [list(frames(e)) for e in read(path)]):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                use()
        except RecordError:
            pass
    verify(path)


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_a_record_error(tmp_path_factory, data):
    reads_or_complains(tmp_path_factory.getbasetemp() / "garbage", data)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -1, 2**63, 1e308, float("nan"), float("inf"), "nan", "player_0"])
    | st.floats()
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_field_replaced_by_anything_is_read_or_a_record_error(recorded, tmp_path_factory, data):
    body = json.loads(recorded[0].read_text().splitlines()[0])
    at, spot = body, []
    while True:
        keys = sorted(at) if isinstance(at, dict) else range(len(at))
        if not keys:
            break
        key = data.draw(st.sampled_from(list(keys)))
        spot.append((at, key))
        at = at[key]
        if not isinstance(at, (dict, list)) or data.draw(st.booleans()):
            break
    holder, key = spot[-1]
    holder[key] = data.draw(JSON)
    sys.set_int_max_str_digits(0)  # to write what a reader may meet
    try:
        text = json.dumps(body)
    finally:
        sys.set_int_max_str_digits(4300)
    reads_or_complains(tmp_path_factory.getbasetemp() / "replaced", text.encode() + b"\n")


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000 + b"\n",
        b'{"manyhands": 1' + b'1' * 5000 + b"}\n",
        b'{"manyhands": 99}\n',
        b"\xff\xfe\n",
        b"null\n",
        b"{}\n",
        b"\n",
        b'{"manyhands": NaN}\n',
    ],
    ids=lambda data: repr(data[:20]),
)  # fmt: skip
def test_hostile_lines(tmp_path, data):
    (tmp_path / "r").write_bytes(data)
    with pytest.raises(RecordError):
        list(read(tmp_path / "r"))
    assert not verify(tmp_path / "r")


def test_missing_files(tmp_path):
    for use in (lambda p: list(read(p)), verify, lambda p: export_arrays(p, tmp_path / "o")):
        with pytest.raises(RecordError, match="cannot read"):
            use(tmp_path / "nowhere")
    (tmp_path / "empty").touch()
    assert list(read(tmp_path / "empty")) == []
    with pytest.raises(RecordError, match="no episode"):
        export_arrays(tmp_path / "empty", tmp_path / "o")


def model(view):
    """Answers as a language seat does, with its raw reply in the notes."""
    attempt = {"status": "ok", "reply": f"Let me think.\nACTION: {view.choices[0]}"}
    if view.step == 2:
        attempt = {"status": "truncated", "reply": "Let me"}
        return Reply(None, error="cut off", info={"attempts": [attempt]})
    return Reply(view.choices[0], info={"attempts": [{"status": "empty"}, attempt]})


def test_export_of_conversations(tmp_path):
    path, out = tmp_path / "r", tmp_path / "chat.jsonl"
    result = play(coins.Talk(), [model, words], 2, 1, record=path)
    assert export_chat(path, out) == 4
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    first, second = lines[:2]
    assert (first["agent"], first["seat"], second["seat"]) == ("player_0", "model", "words")
    assert [m["role"] for m in first["messages"]] == ["system"] + ["user", "assistant"] * 4
    contents = [message["content"] for message in first["messages"]]
    assert contents[0] == TURNS.rules(0)
    assert contents[1].startswith("There are 12 coins.") and "- take 3" in contents[1]
    assert contents[2] == "Let me think.\nACTION: take 0" and contents[4] == "Let me"
    assert 'player_1 says: "I HAVE 1"' in contents[3]
    assert first["parse"] == ["ok", "truncated", "ok", "ok"]
    assert first["legal"][0] == [[0, 1, 2, 3], [0, 1, 2]]
    assert [m["content"] for m in second["messages"]][2] == "take 3\nSAY: I have 1"
    for line in lines:
        assert line["total"] == result.episodes[line["episode"]].rewards[
            TURNS.agents.index(line["agent"])
        ]  # fmt: skip
        count = len(line["actions"])
        assert count == len(line["legal"]) == len(line["parse"]) == len(line["rewards"]) > 0
        assert len(line["messages"]) == 1 + 2 * count
    # What was earned before the first turn is in the total alone.
    assert sum(first["rewards"]) == pytest.approx(first["total"])


def test_export_writes_numbers_as_words(tmp_path):
    play(coins.Coins(pile=2), [lambda view: 2, lambda view: 0], record=tmp_path / "r")
    export_chat(tmp_path / "r", tmp_path / "o")
    first = json.loads((tmp_path / "o").read_text().splitlines()[0])
    assert first["messages"][2]["content"] == "take 2" and first["actions"] == [2]


@pytest.mark.parametrize("space", ["discrete", "multi", "box"])
def test_export_of_arrays(tmp_path, space):
    env, moments = coins.Coins(space=space), []
    result = play(env, "random", 3, 1, record=tmp_path / "r", on_step=moments.append, concurrency=1)
    count = export_arrays(tmp_path / "r", tmp_path / "arrays.npz")
    arrays = np.load(tmp_path / "arrays.npz", allow_pickle=False)
    before = [m for m in moments if not m.over]
    after = [m for m in moments if m.turn]
    assert count == len(before) == arrays["lengths"].sum()
    assert arrays["lengths"].tolist() == [e.steps for e in result.episodes]
    for name, values in {
        "observations": [m.frame.vector for m in before],
        "masks": [m.frame.legal for m in before],
        "acting": [m.frame.acting for m in before],
        "rewards": [m.frame.reward for m in after],
        "terminated": [m.frame.terminated for m in after],
        "truncated": [m.frame.truncated for m in after],
        "final_observations": [m.frame.vector for m in moments if m.over],
        "final_masks": [m.frame.legal for m in moments if m.over],
    }.items():
        np.testing.assert_array_equal(arrays[name], np.stack(values), err_msg=name)
    assert arrays["actions"].shape == (count, 2, *env.action_space.shape)
    i = next(iter(after[0].turn.actions))
    np.testing.assert_array_equal(arrays["actions"][0, i], after[0].turn.actions[i])
    ends = np.cumsum(arrays["lengths"]) - 1
    over = arrays["terminated"] | arrays["truncated"]
    assert over[ends].all() and over.sum() == 2 * 3


def test_export_marks_the_end_of_stopped_and_forfeited_episodes(tmp_path):
    run(tmp_path / "s", seats=("random", "random"), max_steps=2)
    export_arrays(tmp_path / "s", tmp_path / "s.npz")
    assert np.load(tmp_path / "s.npz")["truncated"].tolist() == [[False] * 2, [True] * 2] * 3
    run(tmp_path / "f", seats=("random", lambda view: "?"), on_illegal="forfeit")
    export_arrays(tmp_path / "f", tmp_path / "f.npz")
    assert np.load(tmp_path / "f.npz")["terminated"].tolist() == [[True, True]] * 3


def test_arrays_are_of_one_environment(recorded, tmp_path):
    run(tmp_path / "r", env=coins.Coins(pile=9))
    (tmp_path / "both").write_bytes((tmp_path / "r").read_bytes() + recorded[0].read_bytes())
    with pytest.raises(RecordError, match="line 4: another environment"):
        export_arrays(tmp_path / "both", tmp_path / "o")
    assert verify(tmp_path / "both").episodes == 6
