"""Groups of episodes from one seed, forks from one state, and what exports tell of both."""

import dataclasses
import hashlib
import itertools
import json

import coins
import jax
import numpy as np
import pytest

from manyhands.core.env import ConfigError, RecordError, SnapshotError, episode_key
from manyhands.core.episode import episode_seed, member_seed
from manyhands.core.export import export_arrays, export_chat
from manyhands.core.pack import fingerprint, snapshot
from manyhands.core.play import play
from manyhands.core.record import frames, read, verify
from manyhands.core.registry import make
from manyhands.core.view import Reply
from manyhands.envs.poker import KuhnPoker

TURNS = coins.Coins()
TOGETHER = coins.Coins(turns=False, pile=100)
LONG = coins.Coins(pile=100)
KUHN = KuhnPoker()


def host(view):
    """A policy on the host that draws."""
    return int(view.rng().choice(np.flatnonzero(view.legal)))


def lines(path):
    """The lines of an export, or the episodes of a record."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in found if "closed" not in line]


def bodies(data):
    """The lines of a record without their digests, which depend on the order of the lines."""
    return sorted(line.partition(b',"previous":')[0] for line in data.splitlines())


def moved(moments, episode):
    return [sorted(m.turn.actions.items()) for m in moments if m.turn and m.episode == episode]


def state_at(env, step, seed=5, episode=0, seats="random"):
    """(snapshot, moments): a state of a played episode, and all of the episode."""
    moments = []
    play(env, seats, seed=seed, only=[episode], on_step=moments.append)
    return snapshot(env, moments[step].frame.state), moments


# ---- groups --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", ["random", [host, host]], ids=["device", "host"])
def test_members_of_a_group_share_the_world_and_not_the_dice(seats):
    moments = []
    result = play(TOGETHER, seats, 2, 9, group=3, on_step=moments.append)
    places = [(e.episode, e.group, e.member) for e in result.episodes]
    assert places == [(e, e // 3, e % 3) for e in range(6)]
    assert [e.seed for e in result.episodes] == [episode_seed(9, g) for g in (0, 0, 0, 1, 1, 1)]
    for group in range(2):
        members = [[m for m in moments if m.episode == 3 * group + k] for k in range(3)]
        assert len({fingerprint(TOGETHER, m[0].frame.state) for m in members}) == 1
        gifts = [[m.frame.terms["gift"].tolist() for m in member[1:]] for member in members]
        assert gifts[0] == gifts[1] == gifts[2]  # the luck of each step
        played = [moved(moments, 3 * group + k) for k in range(3)]
        assert played[0] != played[1] != played[2] != played[0]
    starts = [m.frame.state.luck for m in moments if m.turn is None and m.episode in (0, 3)]
    assert starts[0] != starts[1]


@pytest.mark.parametrize("seats", ["random", [host, host]], ids=["device", "host"])
def test_first_members_are_the_episodes_without_groups(seats):
    grouped, alone = [], []
    play(TURNS, seats, 3, 4, group=2, only=[0, 2, 4], on_step=grouped.append)
    play(TURNS, seats, 3, 4, on_step=alone.append)
    for e in range(3):
        assert moved(grouped, 2 * e) == moved(alone, e)


def test_seeds_of_members():
    assert member_seed(7, 0) == 7
    assert len({member_seed(seed, m) for seed in range(20) for m in range(20)}) == 400


def test_rotation_is_by_group():
    result = play(TURNS, [host, "random"], 2, group=2, rotate=True)
    assert [e.players for e in result.episodes] == [(0, 1), (0, 1), (1, 0), (1, 0)]


def test_groups_are_resumed_verified_and_replayed_bit_for_bit(tmp_path):
    whole, part, moments = tmp_path / "whole", tmp_path / "part", []
    seats = [host, "random"]
    result = play(TURNS, seats, 2, 3, group=3, record=whole, on_step=moments.append, concurrency=1)
    play(TURNS, seats, 2, 3, group=3, record=part, only=[4, 1])
    again = play(TURNS, seats, 2, 3, group=3, record=part, resume=True)
    assert again.episodes == result.episodes
    assert bodies(part.read_bytes()) == bodies(whole.read_bytes())
    report = verify(whole)
    assert report and report.episodes == 6, report
    replayed = [moment for episode in read(whole) for moment in frames(episode)]
    for a, b in zip(replayed, moments, strict=True):
        assert fingerprint(TURNS, a.frame.state) == fingerprint(TURNS, b.frame.state)
        assert [v.seed for v in a.views] == [v.seed for v in b.views]
        assert [v.anchor for v in a.views] == [v.anchor for v in b.views]
    with pytest.raises(RecordError, match="its options is"):
        play(TURNS, seats, 3, 3, group=2, record=part, resume=True)
    assert [(x["group"], x["member"]) for x in lines(whole)] == [divmod(e, 3) for e in range(6)]


def test_a_record_from_before_groups_is_read_and_resumed(tmp_path):
    path = tmp_path / "old"
    result = play(TURNS, "random", 3, 1, record=path, concurrency=1)
    old = []
    for body in lines(path):
        for name in ("group", "member", "previous", "digest"):
            del body[name]
        del body["options"]["group"]
        body["manyhands"] = 1
        data = json.dumps(body, separators=(",", ":")).encode()
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        old.append(data[:-1] + f',"digest":"{digest}"}}\n'.encode())
    path.write_bytes(b"".join(old[:2]))
    assert verify(path)
    assert play(TURNS, "random", 3, 1, record=path, resume=True).episodes == result.episodes


def test_turns_count_how_often_an_agent_was_asked():
    asked = []

    def note(view):
        asked.append((view.episode, view.index, view.turn, view.step))
        return 1

    play(TURNS, note, episodes=2, max_steps=5, concurrency=1)
    assert asked == [(e, t % 2, t // 2, t) for e in range(2) for t in range(5)]


# ---- forks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "env",
    [
        TURNS,
        TOGETHER,
        make("chat", env=make("kitchen", max_steps=8)),
        make("tic_tac_toe"),
        KuhnPoker(hands=3, max_steps=30),
    ],
    ids=lambda env: env.id,
)
def test_a_fork_goes_on_as_the_episode_that_it_left(env, tmp_path):
    data, whole = state_at(env, 3)
    rest, path = [], tmp_path / "r"
    result = play(env, "random", seed=5, only=[0], fork=data, on_step=rest.append, record=path)
    assert [m.step for m in rest] == [m.step for m in whole[3:]]
    for a, b in zip(rest, whole[3:], strict=True):
        assert fingerprint(env, a.frame.state) == fingerprint(env, b.frame.state)
        if a.turn is not None:
            np.testing.assert_array_equal(a.frame.reward, b.frame.reward)
            assert [v.seed for v in a.views] == [v.seed for v in b.views]
    assert result.episodes[0].steps == len(whole) - 1 - 3
    assert verify(path), verify(path)
    replayed = list(frames(next(read(path))))
    assert [m.step for m in replayed] == [m.step for m in rest]
    assert [v.anchor for v in replayed[-1].views] == [v.anchor for v in rest[-1].views]


def test_without_a_clock_steps_are_counted_from_the_fork():
    match = make("kuhn_poker", hands=3)  # a hand counts its decisions, a long match does not
    for game, first in ((KUHN, 1), (match, 0)):
        data, _ = state_at(game, 1)
        steps = []
        play(game, lambda view, steps=steps: steps.append((view.agent, view.step)) or 0, fork=data)
        assert steps[0] == ("player_1", first)


def test_groups_of_forks(tmp_path):
    forks = [state_at(LONG, step)[0] for step in (2, 5)]
    moments, path = [], tmp_path / "r"
    arguments = {"group": 2, "fork": forks, "record": path, "max_steps": 2}
    result = play(LONG, "random", 3, 8, **arguments, on_step=moments.append)
    begun = {m.episode: (m.step, fingerprint(LONG, m.frame.state)) for m in moments if not m.turn}
    assert [begun[e][0] for e in range(6)] == [2, 2, 5, 5, 2, 2]
    assert len({mark for _, mark in begun.values()}) == 2
    assert [e.steps for e in result.episodes] == [2] * 6  # counted from the fork
    assert verify(path).episodes == 6
    kept = path.read_bytes()
    path.write_bytes(b"".join(kept.splitlines(keepends=True)[:3]))
    again = play(LONG, "random", 3, 8, **arguments, resume=True)
    assert again.episodes == result.episodes
    assert bodies(path.read_bytes()) == bodies(kept)
    for other in (forks[::-1], None):
        with pytest.raises(RecordError, match=r"another run .* begins from the snapshot"):
            play(LONG, "random", 3, 8, **arguments | {"fork": other}, resume=True)
    play(LONG, "random", 1, 8, record=tmp_path / "plain", max_steps=2, group=2)
    with pytest.raises(RecordError, match="begins with a reset"):
        play(LONG, "random", 1, 8, **arguments | {"record": tmp_path / "plain"}, resume=True)


def never(view):
    raise AssertionError("asked to play")


def test_what_cannot_be_forked_is_found_out_before_playing(tmp_path):
    data, moments = state_at(TURNS, 2)
    kuhn, hand = state_at(KUHN, 1)
    over = snapshot(KUHN, hand[-1].frame.state)
    late = TURNS.reset(episode_key(0))
    late = dataclasses.replace(late, time=jax.numpy.int32(TURNS.max_steps))
    for env, fork, error, reason in [
        (TURNS, snapshot(coins.Coins(pile=9), coins.Coins(pile=9).reset(episode_key(0))),
         SnapshotError, "another environment or configuration"),
        (TURNS, kuhn, SnapshotError, "another environment"),
        (TURNS, data[:-1], SnapshotError, "expected"),
        (TURNS, [data, b"x" * 99], SnapshotError, "no snapshot"),
        (TURNS, [], ConfigError, "fork is a snapshot"),
        (TURNS, "a.snap", ConfigError, "fork is a snapshot"),
        (TURNS, moments[0].frame.state, ConfigError, "fork is a snapshot"),
        (TURNS, snapshot(TURNS, late), ConfigError, "the end of an episode"),
        (KUHN, over, ConfigError, "the end of an episode"),
    ]:  # fmt: skip
        with pytest.raises(error, match=reason):
            play(env, never, fork=fork, record=tmp_path / "r")
    assert not (tmp_path / "r").exists()
    for group in (0, -1, 1.5, True):
        with pytest.raises(ConfigError, match="group is a whole number from 1"):
            play(TURNS, never, group=group)


@pytest.fixture(scope="module")
def forked(tmp_path_factory):
    path = tmp_path_factory.mktemp("forks") / "run.jsonl"
    play(TURNS, "random", 1, 8, group=2, fork=state_at(TURNS, 3)[0], record=path, concurrency=1)
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b.update(group=1),
        lambda b: b.update(member=0),
        lambda b: b["options"].update(group=1),
        lambda b: b["options"].update(group=0),
        lambda b: b["options"].update(group="two"),
        lambda b: b.update(member=None),
        lambda b: b.pop("fork"),
        lambda b: b.update(fork=None),
        lambda b: b.update(fork="TUhTTkFQAAE="),
        lambda b: b.update(fork="not base64!"),
        lambda b: b.update(fork="\u0663"),
        lambda b: b.update(fork=b["fork"][:-8]),
        lambda b: b.update(fork=b["fork"][:60] + "////" + b["fork"][64:]),
        lambda b: b["env"]["config"].update(pile=11),
    ],
)
def test_changed_groups_and_forks_do_not_verify(forked, tmp_path, change):
    first, second, closing = forked.read_bytes().splitlines(keepends=True)
    body = json.loads(second)
    change(body)
    del body["digest"]
    data = json.dumps(body, separators=(",", ":")).encode()
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    path = tmp_path / "r"
    path.write_bytes(first + data[:-1] + f',"digest":"{digest}"}}\n'.encode() + closing)
    report = verify(path)
    assert not report and (report.line, report.episodes) == (2, 1), report
    assert verify(forked).episodes == 2


# ---- exports -------------------------------------------------------------------------------------


def talker(view):
    """A language seat whose first answer is refused at its first turn of an episode."""
    attempts = [{"status": "empty"}] if view.turn == 0 else []
    attempts += [{"status": "ok", "reply": f"ACTION: {view.choices[-1]}"}]
    return Reply(view.choices[int(view.rng().integers(2))], info={"attempts": attempts})


def test_conversations_tell_what_a_trainer_needs(tmp_path):
    path, out, moments = tmp_path / "r", tmp_path / "o", []
    result = play(
        KUHN, [talker, "random"], 3, 2, group=4, rotate=True, record=path, on_step=moments.append
    )
    assert export_chat(path, out) == 24
    told = {(talk["episode"], talk["agent"]): talk for talk in lines(out)}
    for episode in result.episodes:
        own = [m for m in moments if m.episode == episode.episode]
        for i, agent in enumerate(KUHN.agents):
            talk = told[episode.episode, agent]
            assert (talk["group"], talk["member"]) == divmod(episode.episode, 4)
            assert (json.loads(talk["env"]), talk["seed"]) == (KUHN.spec(), episode.seed)
            assert (talk["agent_index"], talk["seat_index"]) == (i, (i - talk["group"]) % 2)
            assert talk["seat"] == ("talker", "random")[talk["seat_index"]]
            assert talk["payoffs"] == list(episode.rewards) and talk["agents"] == list(KUHN.agents)
            assert talk["total"] == talk["payoffs"][i] == sum(talk["rewards"])
            assert talk["ended"] == "terminated" and talk["forfeits"] == []
            asked = [(m, n) for m, n in itertools.pairwise(own) if i in n.turn.actions]
            assert talk["turns"] == [m.step for m, _ in asked]
            assert talk["choices"] == [m.views[i].choices for m, _ in asked]
            assert talk["anchors"] == [fingerprint(KUHN, m.frame.state, i) for m, _ in asked]
            assert talk["parse"] == ["ok"] * len(asked)
            noted = talk["seat"] == "talker"
            assert talk["retries"] == [int(noted and k == 0) for k in range(len(asked))]
    anchors = [told[e, "player_0"]["anchors"][0] for e in range(12)]
    assert all(len(set(anchors[g : g + 4])) == 1 for g in (0, 4, 8))  # one deal, one sight
    assert len({a for talk in told.values() for a in talk["anchors"]}) <= 12  # infosets of Kuhn


def test_kitchens_are_exported_by_groups_too(tmp_path):
    kitchen = make("kitchen", max_steps=6)
    play(kitchen, "random", 1, 3, group=3, record=tmp_path / "r")
    export_chat(tmp_path / "r", tmp_path / "o")
    talks = [talk for talk in lines(tmp_path / "o") if talk["agent"] == "chef_0"]
    assert len({talk["anchors"][0] for talk in talks}) == 1
    assert len({tuple(talk["anchors"]) for talk in talks}) == 3
    assert all(talk["turns"] == list(range(6)) for talk in talks)


def test_forfeits_are_told(tmp_path):
    play(KUHN, lambda view: "?", record=tmp_path / "r", on_illegal="forfeit")
    export_chat(tmp_path / "r", tmp_path / "o")
    first, second = lines(tmp_path / "o")
    assert first["forfeits"] == second["forfeits"] == ["player_0"] and first["ended"] == "forfeit"
    assert (first["parse"], first["rewards"], second["anchors"]) == (["illegal"], [-1.0], [])
    assert export_arrays(tmp_path / "r", tmp_path / "a.npz") == 0
    assert np.load(tmp_path / "a.npz")["forfeits"].tolist() == [[True, False]]


def test_an_export_from_a_fork_tells_a_seat_nothing_of_hidden_cards(tmp_path):
    """Two deals that differ in the card of `player_1` alone, who folds."""
    state = jax.device_get(KUHN.reset(episode_key(0)))
    told = []
    for deal in ((1, 0), (1, 2)):
        path, out = tmp_path / f"{deal[1]}", tmp_path / f"{deal[1]}.chat"
        data = snapshot(KUHN, KUHN.with_deal(state, deal))
        play(KUHN, [lambda view: "bet 1", lambda view: "fold"], fork=data, record=path, group=2)
        export_chat(path, out)
        told.append(lines(out))
    for a, b in zip(*told, strict=True):
        assert (a == b) == (a["agent"] == "player_0")


def test_arrays_tell_groups_anchors_and_payoffs(tmp_path):
    def sloppy(view):
        return "lots" if view.turn == 1 else 1

    moments, path = [], tmp_path / "r"
    result = play(
        TURNS, [sloppy, "random"], 2, 6, group=2, record=path, on_step=moments.append,
        fork=state_at(TURNS, 1)[0], concurrency=1,
    )  # fmt: skip
    export_arrays(path, tmp_path / "a.npz")
    arrays = np.load(tmp_path / "a.npz", allow_pickle=False)
    pairs = [(m, n) for m, n in itertools.pairwise(moments) if n.turn]
    assert arrays["turns"].tolist() == [m.step for m, _ in pairs] and arrays["turns"][0] == 1
    assert arrays["anchors"].tolist() == [
        [v.anchor if v.index in n.turn.actions else "" for v in m.views] for m, n in pairs
    ]
    assert arrays["illegal"].tolist() == [[i in n.turn.illegal for i in range(2)] for _, n in pairs]
    assert arrays["illegal"].sum() == sum(e.illegal[0] for e in result.episodes) > 0
    assert arrays["retries"].shape == (len(pairs), 2) and not arrays["retries"].any()
    assert arrays["groups"].tolist() == [0, 0, 1, 1]
    assert arrays["members"].tolist() == [0, 1, 0, 1]
    assert arrays["payoffs"].tolist() == result.rewards.tolist()
    assert arrays["forfeits"].tolist() == [[False, False]] * 4
    assert arrays["seats"].tolist() == [["sloppy", "random"]] * 4
