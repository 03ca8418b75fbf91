"""Records: what is written is exact, nothing finished is ever lost, and no change goes unseen."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import unicodedata
import warnings
from pathlib import Path
from types import SimpleNamespace

import coins
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.core.env import RecordError, SeatError
from manyhands.core.export import export_arrays, export_chat
from manyhands.core.pack import fingerprint
from manyhands.core.play import play
from manyhands.core.record import frames, read, verify
from manyhands.core.view import Reply
from manyhands.core.writer import Writer, repair

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


def bodies(path):
    """The lines of a record without their digests."""
    return [line.partition(b',"previous":')[0] for line in path.read_bytes().splitlines()]


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


def sealed(body, previous=None):
    """A line of a record, its digest computed anew."""
    body = {name: value for name, value in body.items() if name not in ("previous", "digest")}
    body |= {} if previous is None else {"previous": previous}
    data = json.dumps(body, separators=(",", ":")).encode()
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    return data[:-1] + f',"digest":"{digest}"}}\n'.encode()


def as_version_1(path, out):
    """The record as it was written before lines were chained."""
    old = []
    for line in lines_of(path)[:-1]:
        body = json.loads(line) | {"manyhands": 1}
        old.append(sealed(body))
    out.write_bytes(b"".join(old))
    return out


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    path = tmp_path_factory.mktemp("five") / "run.jsonl"
    run(path, episodes=5, concurrency=1)
    assert verify(path) and len(lines_of(path)) == 6
    return path


@pytest.mark.parametrize(
    "keep, line, missing",
    [
        ([0, 2, 3, 4, 5], 2, "of episodes 0 to 4 the file lacks 1"),
        ([0, 4, 5], 2, "of episodes 0 to 4 the file lacks 1, 2, 3"),
        ([1, 2, 3, 4, 5], 1, "of episodes 0 to 4 the file lacks 0"),
        ([0, 1, 2, 5], 4, "had 5 episodes when this line closed it; 3 are before it"),
        ([5], 1, "no episode is before it"),
        ([5, 4, 3, 2, 1, 0], 1, "no episode is before it"),
        ([4, 3, 2, 1, 0], 1, "not the first line of its run"),
        ([0, 2, 1, 3, 4, 5], 2, "does not follow line 1"),
        ([0, 1, 2, 3, 4, 5, 5], 7, "no episode is before it"),
        ([], None, "empty"),
    ],
    ids=str,
)
def test_deleted_and_moved_lines_are_noticed(five, tmp_path, keep, line, missing):
    path = tmp_path / "r"
    path.write_bytes(b"".join(lines_of(five)[k] for k in keep))
    report = verify(path)
    assert not report and report.line == line and missing in report.difference, report
    if keep:
        with pytest.raises(RecordError, match="repair"):
            run(path, episodes=5, resume=True)


@pytest.mark.parametrize("keep", [1, 3, 5])
def test_a_record_without_its_last_lines_is_unfinished(five, tmp_path, keep):
    path = tmp_path / "r"
    path.write_bytes(b"".join(lines_of(five)[:keep]))
    report = verify(path)
    assert not report and report.difference is None and report.unfinished == keep
    assert str(report).startswith(f"UNFINISHED: {keep} episodes")
    run(path, episodes=5, concurrency=1, resume=True)
    assert path.read_bytes() == five.read_bytes()


def test_a_closed_record_goes_on_and_is_closed_again(five, tmp_path):
    path = tmp_path / "r"
    run(path, episodes=2, concurrency=1)
    assert verify(path) and json.loads(lines_of(path)[-1])["closed"] == {"episodes": 2}
    run(path, episodes=5, concurrency=1, resume=True)
    assert path.read_bytes() == five.read_bytes()


@pytest.mark.parametrize("number", [0, 1, 4])
def test_forged_seats_are_noticed_though_the_digest_fits(five, tmp_path, number):
    lines = lines_of(five)
    body = json.loads(lines[number])
    lines[number] = sealed(body | {"seats": ["champion", "random"]}, body["previous"])
    path = tmp_path / "r"
    path.write_bytes(b"".join(lines))
    report = verify(path)
    assert not report and report.line == number + 1


@pytest.mark.parametrize("old", [False, True])
def test_resume_refuses_edited_totals(five, tmp_path, old):
    path = tmp_path / "r"
    if old:
        as_version_1(five, path)
    else:
        path.write_bytes(five.read_bytes())
    lines = lines_of(path)
    body = json.loads(lines[1])
    right = json.dumps(body["totals"]["rewards"], separators=(",", ":")).encode()
    lines[1] = lines[1].replace(b'"rewards":' + right, b'"rewards":[91.0,0.0]')
    path.write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match="line 2: the line was edited"):
        run(path, episodes=6, resume=True)
    assert lines_of(path) == lines


def test_resume_notices_a_recomputed_digest(five, tmp_path):
    lines = lines_of(five)
    body = json.loads(lines[1])
    body["totals"]["rewards"] = [91.0, 0.0]
    lines[1] = sealed(body, body["previous"])
    path = tmp_path / "r"
    path.write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match="line 3: it does not follow line 2"):
        run(path, episodes=5, resume=True)


def test_a_damaged_record_is_repaired_and_resumed(five, tmp_path):
    lines = lines_of(five)
    lines[1] = lines[1][:100] + b"\x00" * 50 + lines[1][150:]
    lines.insert(3, b"garbage\n")
    path, out = tmp_path / "r", tmp_path / "repaired"
    path.write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=r"line 2 .*repair\(path, out\)"):
        run(path, episodes=5, resume=True)
    assert repair(path, out) == 2
    assert [e.result.episode for e in read(out)] == [0, 2, 3, 4]
    report = verify(out)
    assert report.difference is None and report.unfinished == 4
    played = []
    run(out, episodes=5, resume=True, on_step=lambda m: played.append(m.episode))
    assert set(played) == {1} and verify(out).episodes == 5
    with pytest.raises(RecordError, match="File exists"):
        repair(path, out)


def test_records_of_version_1_are_read_resumed_and_verified(five, tmp_path):
    path = as_version_1(five, tmp_path / "r")
    before = lines_of(path)
    assert [e.result for e in read(path)] == [e.result for e in read(five)]
    report = verify(path)
    assert report and report.unchained == 5 and "5 are unchained" in str(report)
    run(path, episodes=5, resume=True, on_step=lambda m: pytest.fail("nothing was missing"))
    assert lines_of(path) == before
    run(path, episodes=7, resume=True, concurrency=1)
    assert lines_of(path)[:5] == before
    report = verify(path)
    assert report and (report.episodes, report.unchained) == (7, 5)
    path.write_bytes(b"".join(lines_of(path)[k] for k in (0, 1, 2, 3, 5, 6, 7)))
    report = verify(path)
    assert not report and report.line == 5 and "the file lacks 4" in report.difference
    assert repair(path, tmp_path / "out") == 0
    assert verify(tmp_path / "out").unfinished == 6


def test_a_line_of_version_2_needs_its_place_in_the_chain(five, tmp_path):
    lines = lines_of(five)
    lines[1] = sealed(json.loads(lines[1]))
    (tmp_path / "r").write_bytes(b"".join(lines))
    assert "digests at its end are missing" in verify(tmp_path / "r").difference


def test_parts_of_a_run_may_follow_each_other_in_one_file(tmp_path):
    parts = [tmp_path / "a", tmp_path / "b"]
    for path, only in zip(parts, ([0, 2], [1, 3]), strict=True):
        run(path, only=only, concurrency=1)
    both = tmp_path / "both"
    both.write_bytes(b"".join(path.read_bytes() for path in parts))
    assert verify(both) and verify(both).episodes == 4
    run(both, episodes=5, resume=True)
    assert verify(both) and verify(both).episodes == 5
    # The first part was killed.
    both.write_bytes(b"".join(lines_of(parts[0])[:-1]) + parts[1].read_bytes())
    report = verify(both)
    assert not report and report.difference is None and report.unfinished == 2
    both.write_bytes(parts[0].read_bytes() * 2)
    assert "in the record twice" in verify(both).difference


def test_characters_that_do_not_show_are_escaped_on_disk(tmp_path):
    hidden = " ".join(
        chr(k) for k in range(0x7F, 0x110000) if unicodedata.category(chr(k)) in ("Cc", "Cf", "Cs")
    )
    text = f"north\u202e\u2066 \u2028{hidden} ✓ Köln"

    def says(view):
        return Reply(view.choices[0], say=text)

    run(tmp_path / "r", seats=(says, "random"), episodes=1)
    shown = (tmp_path / "r").read_text()
    assert "✓ Köln" in shown and "\\u202e" in shown
    assert not {unicodedata.category(c) for c in shown if c != "\n"} & {
        "Cc",
        "Cf",
        "Cs",
        "Zl",
        "Zp",
    }
    (episode,) = read(tmp_path / "r")
    assert episode.steps[0].turn.said[0] == text
    assert verify(tmp_path / "r")


def test_another_version_of_the_rules_is_named(five, recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(coins.Coins, "version", 3, raising=False)
    report = verify(five)
    assert not report and "version 0 of the rules" in report.difference
    with pytest.raises(RecordError, match=r"version 0 of the rules .* version 3"):
        list(frames(next(read(five))))
    with pytest.raises(RecordError, match=r"its env is .* this run's is .*'version': 3"):
        path = tmp_path / "r"
        path.write_bytes(five.read_bytes())
        run(path, episodes=5, resume=True)
    run(tmp_path / "new", env=coins.Coins(), episodes=1)  # the module's own keeps its old spec
    assert next(read(tmp_path / "new")).spec["version"] == 3 and verify(tmp_path / "new")


@pytest.mark.parametrize(
    "name, shown",
    [
        ("greedy:noise=0.2", "greedy:noise=0.2"),
        ("language:model=m,max_tokens=5", "language:model=m,max_tokens=5"),
        ("language:api_key=sk-1\n,model=m", "language:api_key=***,model=m"),
        (
            "x:token=a,PASSWORD=b,client_secret=c,n=1",
            "x:token=***,PASSWORD=***,client_secret=***,n=1",
        ),
        (
            "l:base_url=http://u:p@h:1/v1?token=t&k=v#f,n=1",
            "l:base_url=http://***@h:1/v1?token=***,n=1",
        ),
        ("https://h/v1?abc&user=me", "https://h/v1?***&user=***"),
        ("https://user@h/", "https://***@h/"),
    ],
)
def test_names_are_recorded_without_secrets(tmp_path, name, shown):
    policy = SimpleNamespace(act=lambda views: [0] * len(views), name=name)
    result = run(tmp_path / "r", seats=(policy, policy), episodes=1)
    assert result.seats == (shown, shown)
    assert next(read(tmp_path / "r")).seats == (shown, shown)


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
    assert sorted(bodies(part)) == sorted(bodies(whole))  # the order, and so the chain, may differ
    assert len(bodies(part)) == 6 and verify(part)
    played.clear()
    assert run(part, episodes=5, resume=True, on_step=played.append).episodes == result.episodes
    assert not played


def test_resume_takes_the_same_player_with_another_budget(tmp_path):
    def priced(name):
        return SimpleNamespace(act=lambda views: list(map(words, views)), name=name)

    path = tmp_path / "r"
    run(path, seats=(priced("language:model=m,max_cost=1,temperature=0.5"), "random"), episodes=2)
    richer = priced("language:model=m,temperature=0.5,max_cost=3.5,timeout=9,prices=(a,b)")
    result = run(path, seats=(richer, "random"), episodes=4, resume=True)
    assert len(result.episodes) == 4 and verify(path)
    assert {e.seats[0] for e in read(path)} == {"language:model=m,max_cost=1,temperature=0.5"}
    for other in ("language:model=n,max_cost=1,temperature=0.5", "language:model=m,max_cost=1"):
        with pytest.raises(RecordError, match="seats"):
            run(path, seats=(priced(other), "random"), episodes=5, resume=True)


def test_a_cut_off_line_is_noted_and_played_again(recorded, tmp_path):
    whole = recorded[0].read_bytes()
    end = whole.rindex(b"\n", 0, -1) + 1  # the line that closes the record begins here
    start = whole.rindex(b"\n", 0, end - 1) + 1
    path = tmp_path / "r"
    size = end - start
    for cut in [1, 2, 17, size // 2, size - 40, size - 3, size - 2]:
        path.write_bytes(whole[: start + cut])
        with pytest.warns(UserWarning, match=r"last line \(3\) is cut off"):
            assert len(list(read(path))) == 2
        report = verify(path)
        assert report.cut and report.episodes == report.unfinished == 2 and not report
        assert report.difference is None and "cut off" in str(report)
        run(path, resume=True, fingerprint_every=2)
        assert path.read_bytes() == whole
    path.write_bytes(whole[: end + 9])  # the closing line
    report = verify(path)
    assert report.cut and report.episodes == report.unfinished == 3
    run(path, resume=True, on_step=lambda moment: pytest.fail("nothing was missing"))
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
    assert report.difference is None and 5 <= report.episodes < 40 and not report.cut
    assert not report and report.unfinished == report.episodes


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
    with pytest.raises(RecordError, match="line 5: another environment"):
        export_arrays(tmp_path / "both", tmp_path / "o")
    assert verify(tmp_path / "both").episodes == 6
