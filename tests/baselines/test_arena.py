"""Seasons: their files, schedules, stores, ratings and reports."""

from __future__ import annotations

import base64
import csv
import dataclasses
import hashlib
import html.parser
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import arena_seats
import numpy as np
import pytest

import manyhands
from manyhands.baselines.arena import exact, read_season, run_season
from manyhands.baselines.arena import page as arena_page
from manyhands.baselines.arena import run as arena_run
from manyhands.baselines.arena.cluster import play_remotely
from manyhands.baselines.arena.matrices import Entry, Matrix
from manyhands.baselines.arena.page import embedded, page, tag, visible
from manyhands.baselines.arena.ratings import (
    Results,
    bradley_terry,
    bradley_terry_with_intervals,
    earned,
    weng_lin,
)
from manyhands.baselines.arena.replays import replays
from manyhands.baselines.arena.report import report
from manyhands.baselines.arena.run import work
from manyhands.baselines.arena.schedule import all_matches, lineups, swiss_pairs
from manyhands.baselines.arena.store import Store, StoreError, new_owner
from manyhands.baselines.evaluation.league import elo
from manyhands.baselines.game_theory.policies import exploitability, from_counts, one_hand, tree_of
from manyhands.cli import main
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.pack import forget
from manyhands.core.record import read

TINY = """
name = "tiny"
seed = 5
[players]
first = "arena-first"
last = "arena-last"
any = "arena-anything"
[games.tic_tac_toe]
episodes = 3
"""


def rows_of(folder, table="episodes"):
    """The rows of a store that are the same however it was played, by match."""
    columns = {
        "episodes": "episode, seed, steps, ended, rewards, terms, illegal, forfeits",
        "decisions": "episode, step, seat, player, action, illegal, prompt_tokens, cost",
    }[table]
    with Store(folder) as store:
        return store.query(
            f"SELECT m.key, {columns} FROM {table} t JOIN matches m ON m.id = t.match "
            "ORDER BY 1, 2, 3, 4"
        )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A season that was played without a break."""
    folder = tmp_path_factory.mktemp("tiny") / "store"
    played = run_season(read_season(TINY), folder)
    assert (played.done, played.open, played.failed) == (6, 0, 0)
    return folder


# ---- files of seasons ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 5", "sed = 5", '"seed"'),
        ("seed = 5", "seed = -1", "-1"),
        ("seed = 5", "seed =", "TOML"),
        ('name = "tiny"', 'name = "../up"', "../up"),
        ("first =", '"=1+1" =', "=1+1"),
        ('"arena-first"', '"arena-fist"', '"arena-first"'),
        ('"arena-first"', '{ saet = "arena-first" }', '"seat"'),
        ('"arena-first"', '{ seat = "random", price = "m" }', "'m'"),
        ('"arena-first"', '{ seat = "random", games = ["tic_tac_to"] }', '"tic_tac_toe"'),
        ('"arena-first"', '{ seat = "random", budget = { token = 1 } }', '"tokens"'),
        ('"arena-first"', '"human"', "play"),
        ("[games.tic_tac_toe]", "[games.tic_tac_to]", '"tic_tac_toe"'),
        ("[games.tic_tac_toe]", "[games.chat]", "wrapper"),
        ("episodes = 3", "episode = 3", '"episodes"'),
        ("episodes = 3", "episodes = 0", "0"),
        ("episodes = 3", "episodes = 10000000000", "200000000 matches"),
        ("episodes = 3", "config = { row = 3 }", "'row'"),
        ("episodes = 3", 'players = ["frist", "last"]', '"first"'),
        ("episodes = 3", 'players = ["first", "first"]', "twice"),
        ("episodes = 3", 'players = ["first"]', "first"),
        ("episodes = 3", 'pairing = "swis"', '"swiss"'),
        ("episodes = 3", "rounds = 3", "swiss"),
        ("episodes = 3", 'pairing = "pool"', "held_out"),
        ("episodes = 3", 'pairing = "pool"\npool = ["first", "last", "any"]', "held out"),
        ("episodes = 3", 'score = "reward"\npairing = "swiss"', "swiss"),
        ("episodes = 3", 'on_illegal = "raise"', "raise"),
        ("episodes = 3", 'config = { id = "kitchen" }', "another id"),
        ('"arena-first"', '{ seat = "random", price = ["m"] }', "[prices]"),
        ('"arena-first"', '{ seat = "random", budget = { cost = 1.0 } }', "price = NAME"),
        ("[games.tic_tac_toe]", "[budget]\ncost = 1.0\n[games.tic_tac_toe]", "price = NAME"),
        ("[games.tic_tac_toe]", "[games.retries]", "attempts = 3"),
        ("episodes = 3", "retries = { attempt = 3 }", '"attempts"'),
        ("episodes = 3", "recent = 3", "3"),
        ("any = ", 'alone = { seat = "random", games = ["go"] }\n#', "'go'"),
    ],
)
def test_what_makes_no_sense_is_named(old, new, said):
    with pytest.raises(ConfigError) as caught:
        read_season(TINY.replace(old, new))
    assert said in str(caught.value)


def test_a_season_is_a_file_or_a_text():
    for wrong in (None, 3, b"name = 1\n"):
        with pytest.raises(ConfigError, match="file or a text"):
            read_season(wrong)


def test_who_has_nobody_to_meet_is_told_of_the_game_that_is_missing():
    text = TINY.replace('last = "arena-last"\nany = "arena-anything"', "")
    with pytest.raises(ConfigError, match="'go', which is no game"):
        read_season(text.replace('"arena-first"', '{ seat = "arena-first", games = ["go"] }'))


def test_an_option_is_given_once():
    for given in (
        '"solver:depth=2,depth=3"',
        '{ seat = "solver:depth=2", options = { depth = 3 } }',
    ):
        season = read_season(TINY.replace('"arena-first"', given))
        with pytest.raises(SeatError, match="'depth' twice"):
            season.check_seats(["tic_tac_toe"])


def test_games_share_the_held_out_partners_of_an_environment():
    game = 'id = "kitchen"\npairing = "pool"\npool = "held_out"\n'
    text = f'[players]\nme = "random"\n[games.one]\n{game}[games.two]\n{game}'
    season = read_season(text)
    for name in ("one", "two"):
        assert "held_out.greedy" in season.partners(name) and season.rows(name) == ["me"]
    # A player of one's own by such a name is not taken for the partner.
    mine = read_season(text.replace('me = "random"', 'me = "random"\n"held_out.greedy" = "random"'))
    assert mine.players["held_out.greedy"].seat == "random"
    assert mine.players["held_out.one.greedy"].seat == "greedy"
    assert mine.rows("one") == ["me", "held_out.greedy"]


@pytest.mark.parametrize(
    "given",
    [
        '"language:model=m,api_key=sk-hidden"',
        '{ seat = "language", options = { model = "m", api_key = "sk-hidden" } }',
        '{ seat = "language", options = { base_url = "https://me:sk-hidden@example.org/v1" } }',
        '{ seat = "language", options = { extra = { api_key = "sk-hidden" } } }',
        '{ seat = "language", secrets = { api_key = "sk-hidden" } }',
    ],
)
def test_secrets_are_refused_and_not_repeated(given):
    with pytest.raises(ConfigError) as caught:
        read_season(TINY.replace('"arena-first"', given))
    assert "sk-hidden" not in str(caught.value) and "API_KEY" in str(caught.value)


@pytest.mark.parametrize(
    "seat", ["language:model=m,{}", "relay:first=(language:{}),then=random,after=1"]
)
def test_a_budget_of_tokens_is_no_secret(seat):
    for option in ("token_budget=5", "max_tokens=5", "token_limit=5"):
        given = f'"{seat.format(option)}"'
        season = read_season(TINY.replace('"arena-first"', given))
    with pytest.raises(SeatError, match=r"with token_limit;.*max_tokens"):
        season.check_seats(["tic_tac_toe"])


def test_secrets_come_from_the_environment(monkeypatch):
    given = '{ seat = "language", options = { model = "m" }, secrets = { api_key = "A_KEY" } }'
    season = read_season(TINY.replace('"arena-first"', given))
    env = season.games["tic_tac_toe"].env
    monkeypatch.delenv("A_KEY", raising=False)
    with pytest.raises(SeatError, match="A_KEY"):
        season.players["first"].policy(env)
    monkeypatch.setenv("A_KEY", "sk-hidden")
    assert season.players["first"].policy(env).model == "m"
    assert "sk-hidden" not in season.text + json.dumps(season.players["first"].fixed())


def test_seats_that_cannot_play_are_found_before_anything_is_played(tmp_path):
    season = read_season(TINY.replace('"arena-first"', '"greedy"'))
    with pytest.raises(SeatError, match="'first' cannot play 'tic_tac_toe'"):
        run_season(season, tmp_path / "store")
    assert not (tmp_path / "store").exists()


# ---- schedules -----------------------------------------------------------------------------------


def test_two_sides_change_seats():
    board = manyhands.make("tic_tac_toe")
    assert [seats for *_, seats in lineups(board, "a", "b")] == [("a", "b"), ("b", "a")]
    assert [seats for *_, seats in lineups(board, "a", "b", False)] == [("a", "b")]
    court = manyhands.make("volleyball", task="3v3")
    teams = [seats for *_, seats in lineups(court, "a", "b")]
    assert teams == [("a",) * 3 + ("b",) * 3, ("b",) * 3 + ("a",) * 3]


def test_among_several_everybody_is_the_single_one_in_every_seat():
    poker = manyhands.make("kuhn_poker", players=3)
    found = lineups(poker, "a", "b")
    assert {(row, seats) for row, _, seats in found} == {
        *(("a", seats) for seats in [("a", "b", "b"), ("b", "a", "b"), ("b", "b", "a")]),
        *(("b", seats) for seats in [("b", "a", "a"), ("a", "b", "a"), ("a", "a", "b")]),
    }
    assert {row for row, *_ in lineups(poker, "a", "b", partner=True)} == {"a"}
    assert [seats for *_, seats in lineups(poker, "a", "a")] == [("a",) * 3]


def test_swiss_pairs_are_of_like_points_and_new():
    names, met, points = list("abcde"), [], dict.fromkeys("abcde", 0.0)
    sat_out = []
    for _ in range(5):
        pairs = swiss_pairs(names, points, met, "salt")
        assert pairs == swiss_pairs(names[::-1], points, met, "salt")
        playing = [name for pair in pairs for name in pair]
        assert len(playing) == len(set(playing)) == 4
        sat_out += set(names) - set(playing)
        for pair in pairs:  # who comes first in the alphabet wins
            points[min(pair)] += 1
        met += pairs
    assert sorted(sat_out) == names
    assert swiss_pairs(list("abcd"), {"a": 2, "b": 1, "c": 2, "d": 1}, [("a", "c")], "")[0] in (
        *(("a", "b"), ("a", "d")),
        *(("c", "b"), ("c", "d")),
    )


def test_pools_and_held_out_partners_are_columns():
    text = TINY.replace('"arena-last"', '{ seat = "arena-last", held_out = true }')
    season = read_season(text)
    assert season.rows("tic_tac_toe") == ["first", "any"]
    met = {frozenset(match.lineup) for match in all_matches(season)}
    assert met == {
        frozenset(pair) for pair in (("first", "any"), ("first", "last"), ("any", "last"))
    }
    pool = text.replace("episodes = 3", 'pairing = "pool"')
    met = {frozenset(match.lineup) for match in all_matches(read_season(pool))}
    assert met == {frozenset(pair) for pair in (("first", "last"), ("any", "last"))}


def test_the_standard_partners_of_a_kitchen():
    season = read_season(
        '[players]\ngreedy = "greedy"\n[games.kitchen]\npairing = "pool"\npool = "held_out"\n'
    )
    assert season.rows("kitchen") == ["greedy"]
    assert "held_out.stationary" in season.partners("kitchen")
    assert len(all_matches(season)) == 2 * len(season.partners("kitchen"))


# ---- playing -------------------------------------------------------------------------------------


def test_deals_are_duplicated(tiny):
    starts = {}
    for path in sorted((tiny / "records").iterdir()):
        for episode in read(path):
            starts.setdefault(episode.result.episode, set()).add(
                (episode.start, episode.result.seed)
            )
    assert sorted(starts) == [0, 1, 2] and all(len(found) == 1 for found in starts.values())
    episodes, decisions = rows_of(tiny), rows_of(tiny, "decisions")
    assert len(episodes) == 18
    assert len(decisions) == sum(steps for _, _, _, steps, *_ in episodes)


def test_a_season_is_continued_only_if_that_is_asked_for(tiny):
    with pytest.raises(StoreError, match="--resume"):
        run_season(read_season(TINY), tiny)
    before = rows_of(tiny)
    assert run_season(read_season(TINY), tiny, resume=True).done == 6
    assert rows_of(tiny) == before


def test_what_was_played_may_not_change(tiny):
    for old, new, said in (
        ('"arena-last"', '"arena-first"', "players.last"),
        ("episodes = 3", "episodes = 3\nmax_steps = 4", "max_steps"),
        ("seed = 5", "seed = 6", "seed was 5"),
        ("episodes = 3", "block = 2", "block was 50"),
    ):
        with pytest.raises(ConfigError, match=re.escape(said)):
            run_season(read_season(TINY.replace(old, new)), tiny, resume=True)


def test_players_and_episodes_may_be_added(tiny, tmp_path):
    folder = tmp_path / "store"
    fewer = TINY.replace('any = "arena-anything"\n', "").replace("episodes = 3", "episodes = 2")
    assert run_season(read_season(fewer), folder).done == 2
    records = {p.name: p.read_bytes() for p in (folder / "records").iterdir()}
    assert run_season(read_season(TINY), folder, resume=True).done == 6
    assert rows_of(folder) == rows_of(tiny)
    assert rows_of(folder, "decisions") == rows_of(tiny, "decisions")
    for name, data in records.items():  # what was played was not played again
        first = data.splitlines()[0]
        assert (folder / "records" / name).read_bytes().splitlines()[0] == first


def test_what_nobody_has_played_may_change_and_go(tiny, tmp_path):
    season, folder = read_season(TINY.replace("episodes = 3", "episodes = 4")), tmp_path / "store"
    with Store(folder, season) as store:
        store.add(all_matches(season), ["tic_tac_toe"])
        last = max(store.query("SELECT id FROM matches"))
    fewer = read_season(
        TINY.replace('any = "arena-anything"\n', "").replace("episodes = 3", "max_steps = 3")
    )
    assert run_season(fewer, folder, resume=True).done == 2
    with Store(folder) as store:
        assert store.query("SELECT count(*), sum(episodes) FROM matches") == [(2, 40)]
    with pytest.raises(ConfigError, match="max_steps"):
        run_season(season, folder, resume=True)
    both = TINY.replace("episodes = 3", "max_steps = 3")
    assert run_season(read_season(both), folder, resume=True).done == 6
    with Store(folder) as store:  # no record is continued by another match
        assert min(store.query("SELECT id FROM matches WHERE lineup LIKE '%any%'")) > last


@pytest.mark.parametrize("left", ["nothing", "half a line", "all of it"])
def test_killed_anywhere_it_goes_on(tiny, tmp_path, left):
    """A process dies before it has written anything, in the middle of an episode's line, and
    between the record's last line and the store."""
    season, folder = read_season(TINY), tmp_path / "store"
    with Store(folder, season) as store:
        store.add(all_matches(season))
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        match = store.claim(new_owner().replace(f"/{os.getpid()}/", f"/{dead.pid}/"))
        whole = (tiny / "records" / store.record(match).name).read_bytes()
        written = {"nothing": b"", "half a line": whole[: len(whole) // 2], "all of it": whole}
        if written[left]:
            store.record(match).write_bytes(written[left])
    run_season(season, folder, resume=True)
    assert rows_of(folder) == rows_of(tiny)
    assert rows_of(folder, "decisions") == rows_of(tiny, "decisions")


def test_a_lost_claim_counts_for_nothing(tiny, tmp_path):
    season = read_season(TINY)
    with Store(tmp_path / "store", season, lease=0.0) as one, Store(tmp_path / "store") as two:
        one.add(all_matches(season))
        match = one.claim("elsewhere/1/a")
        taken = two.claim("elsewhere/2/b")  # the lease has run out
        assert taken.id == match.id
        episodes = list(read(tiny / "records" / one.record(match).name))
        assert not one.renew(match.id, "elsewhere/1/a")
        assert not one.finish(match, "elsewhere/1/a", episodes, 1.0, season)
        one.fail(match.id, "elsewhere/1/a", "late")
        one.give_back(match.id, "elsewhere/1/a")
        assert one.states() == {"open": 5, "claimed": 1, "done": 0, "failed": 0}
        assert two.finish(match, "elsewhere/2/b", episodes, 1.0, season)
        assert not two.finish(match, "elsewhere/2/b", episodes, 1.0, season)
        assert one.query("SELECT count(*) FROM episodes") == [(3,)]


def test_what_kills_its_process_again_and_again_is_given_up(tmp_path):
    season = read_season(TINY)
    with Store(tmp_path / "store", season, lease=-1.0) as store:
        store.add(all_matches(season)[:1])
        claims = [store.claim("elsewhere/1/a") for _ in range(7)]
        assert [claim is not None for claim in claims] == [True] * 5 + [False] * 2
        assert store.states()["failed"] == 1 and store.reopen() == 1
        assert store.claim("elsewhere/1/a") is not None


def test_two_processes_and_one_is_killed(tiny, tmp_path):
    """Nothing is lost, and nothing is there twice."""
    text = TINY.replace('"arena-first"', '"arena-first:seconds=0.02"')
    season, folder = read_season(text), tmp_path / "store"
    (tmp_path / "season.toml").write_text(text)
    with Store(folder, season) as store:
        store.add(all_matches(season))
        program = [sys.executable, arena_seats.__file__, tmp_path / "season.toml", folder, "60"]
        path = str(Path(manyhands.__file__).parents[1])
        other = subprocess.Popen(program, env=os.environ | {"PYTHONPATH": path})
        try:
            for _ in range(1200):  # until it has written an episode, and plays the next ones
                if other.poll() is not None or list((folder / "records").glob("*.jsonl")):
                    break
                time.sleep(0.05)
            assert other.poll() is None
            beside = threading.Thread(target=work, args=(season, folder, ["tic_tac_toe"]))
            beside.start()
            os.kill(other.pid, signal.SIGKILL)
            assert other.wait(10) == -signal.SIGKILL
            beside.join(60)
            assert not beside.is_alive()
        finally:
            other.kill()
        assert store.states() == {"open": 0, "claimed": 0, "done": 6, "failed": 0}
    assert rows_of(folder) == rows_of(tiny)
    assert rows_of(folder, "decisions") == rows_of(tiny, "decisions")


def test_processes_say_what_they_play(tmp_path, capfd):
    text = '[players]\nrandom = "random"\nnear = "solver:depth=1"\n[games.tic_tac_toe]\nblock = 5\n'
    said = []
    played = run_season(read_season(text), tmp_path / "store", workers=2, say=said.append)
    assert played.done == len(said) == 8 and all("5 episodes" in line for line in said)
    assert capfd.readouterr().out == ""


def test_compiled_programs_of_many_games_are_let_go(tmp_path, monkeypatch):
    games = "[games.tic_tac_toe]\nepisodes = 1\n[games.kuhn_poker]\nepisodes = 1\n"
    text = (
        f'[players]\nrandom = "random"\nnear = "random"\n{games}[games.connect_four]\nepisodes = 1'
    )
    kept = []
    for most in (1, 2, 3):
        forgotten = []
        monkeypatch.setattr(arena_run, "COMPILED", most)
        monkeypatch.setattr(arena_run, "forget", lambda found=forgotten: found.append(forget()))
        folder = tmp_path / str(most)
        played = run_season(read_season(text), folder)
        assert (played.failed, len(forgotten)) == (0, {1: 2, 2: 1, 3: 0}[most])
        kept.append(rows_of(folder, "decisions"))
    assert kept[0] == kept[1] == kept[2]


def test_swiss_rounds_follow_each_other(tmp_path):
    text = TINY.replace("episodes = 3", 'episodes = 1\npairing = "swiss"\nrounds = 3')
    folder = tmp_path / "store"
    assert run_season(read_season(text), folder).done == 6  # two line-ups a round, one sits out
    with Store(folder) as store:
        rounds = store.query(
            'SELECT round, min("row", "column"), max("row", "column") FROM matches'
        )
    assert len(set(rounds)) == 3 and len({pair[1:] for pair in rounds}) == 3
    assert {round for round, *_ in rounds} == {1, 2, 3}


def test_games_have_wrappers(tmp_path):
    text = TINY.replace("episodes = 3", "episodes = 1\nretries = { attempts = 2 }\nrecent = true")
    assert run_season(read_season(text), tmp_path / "store").done == 6
    env = report(tmp_path / "store").games["tic_tac_toe"].plan.env
    assert (env.id, env.attempts, env.env.id) == ("retries", 2, "recent")
    again = text.replace("attempts = 2", "attempts = 3")
    with pytest.raises(ConfigError, match="retries was"):
        run_season(read_season(again), tmp_path / "store", resume=True)
    assert read_season(TINY.replace("episodes = 3", "retries = true")).games["tic_tac_toe"].env


def test_swiss_rounds_get_more_episodes(tmp_path):
    text = TINY.replace("episodes = 3", 'episodes = 1\npairing = "swiss"\nrounds = 2\nblock = 2')
    folder = tmp_path / "store"
    assert run_season(read_season(text), folder).done == 4
    pairs = 'SELECT DISTINCT round, "row", "column", lineup FROM matches ORDER BY 1, 2, 3, 4'
    with Store(folder) as store:
        before = store.query(pairs)
    more = text.replace("episodes = 1", "episodes = 3").replace("rounds = 2", "rounds = 3")
    assert run_season(read_season(more), folder, resume=True).done == 12  # two blocks each
    with Store(folder) as store:
        assert [row for row in store.query(pairs) if row[0] < 3] == before
        assert store.query("SELECT count(*) FROM episodes") == [(6 * 3,)]
        # The third round came after all others.
        assert store.query("SELECT min(id) > 8 FROM matches WHERE round = 3") == [(1,)]


def test_failures_are_kept_and_tried_again(tmp_path, monkeypatch):
    text = TINY.replace('"arena-any"', '"arena-broken"').replace("anything", "broken")
    folder = tmp_path / "store"
    played = run_season(read_season(text), folder)
    assert (played.done, played.failed) == (2, 4)
    assert "answered 500" in str(played) and "hidden" not in str(played)
    monkeypatch.setattr(arena_seats, "broken", arena_seats.anything)
    played = run_season(read_season(text), folder, resume=True)
    assert (played.done, played.failed) == (6, 0)


def infos_of(folder, player):
    """What a player's replies of a season had in `info`."""
    return [
        info
        for path in sorted((folder / "records").iterdir())
        for episode in read(path)
        for step in episode.steps
        for agent, info in step.turn.info.items()
        if episode.players[agent] == player
    ]


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """A season of seats with all that `play` looks for."""
    folder = tmp_path_factory.mktemp("members") / "store"
    text = TINY.replace("arena-first", "arena-sighted").replace("arena-last", "arena-hearer")
    relay = '"relay:first=arena-last,then=(arena-sighted),after=4"'
    text = text.replace('"arena-anything"', relay)
    played = run_season(read_season(text), folder)
    assert (played.done, played.failed, played.errors) == (6, 0, {})
    return folder


def test_states_are_handed_to_seats_that_need_them(members):
    found = infos_of(members, "first")
    assert found and all(one["bytes"] > 0 and one["true_state"] for one in found)
    assert all(one["seconds"] > 0 for one in found)


def test_a_relay_plays_in_a_season(members):
    for path in (members / "records").iterdir():
        for episode in read(path):
            for number, step in enumerate(episode.steps):
                for agent in step.turn.actions:
                    if episode.players[agent] == "any":
                        info = step.turn.info[agent]
                        assert ("true_state" in info) == (number >= 4) and info["seconds"] > 0


def test_seats_hear_of_the_end_and_their_notes_are_counted(members):
    assert sum("new_notes" in one for one in infos_of(members, "last")) == 12  # episodes
    with Store(members) as store:
        assert store.spent()["last"][0] == 12 * 110


def test_a_full_disk_is_said_and_the_season_goes_on(tmp_path):
    season = read_season(TINY)
    more = read_season(TINY.replace("episodes = 3", "episodes = 3000\nblock = 1"))
    with Store(tmp_path / "store", season) as store:
        store.add(all_matches(season))
        pages = store.query("PRAGMA page_count")[0][0]
        store.query(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match=r"disk is full.*--resume"):
            store.add(all_matches(more))
        store.query("PRAGMA max_page_count = 100000")
        assert store.claim(new_owner()) is not None


def test_budgets_end_a_run_and_larger_ones_continue_it(tmp_path):
    folder = tmp_path / "store"
    text = TINY.replace(
        '"arena-first"',
        '{ seat = "arena-first:tokens=1000", price = "m", budget = { cost = 0.02 } }',
    )
    text += "[prices.m]\ninput = 2.0\noutput = 10.0\n"
    played = run_season(read_season(text), folder)
    assert played.open > 0 and "first" in played.spent and "cost" in str(played)
    with Store(folder) as store:
        done = store.query("SELECT lineup FROM matches WHERE state = 'open'")
        assert all("first" in lineup for (lineup,) in done)
        tokens, cost, _ = store.spent()["first"]
        # A thousand tokens in for 0.002, a hundred out for 0.001.
        assert tokens == 1100 * round(tokens / 1100) and cost == pytest.approx(
            tokens / 1100 * 0.003
        )
        assert store.spent()[""][0] == tokens
    more = text.replace("cost = 0.02", "cost = 100")
    stopped = run_season(read_season(more + "[budget]\ntokens = 1\n"), folder, resume=True)
    assert stopped.open == played.open and "tokens" in stopped.spent[""]
    assert run_season(read_season(more), folder, resume=True).open == 0
    first = next(row for row in report(folder).overall if row.player == "first")
    assert first.cost == pytest.approx(first.tokens / 1100 * 0.003) and first.tokens > 0


@pytest.mark.parametrize("game", ["tic_tac_toe", "kuhn_poker"])
def test_a_seat_that_may_spend_no_more_leaves_its_matches_open(tmp_path, game):
    probed = game == "kuhn_poker"
    most, text = (8, TINY + "probes = true\n") if probed else (25, TINY)
    text = text.replace("tic_tac_toe", game)
    text = text.replace("arena-first", f"arena-spender:most={most},probed={str(probed).lower()}")
    season, folder, said = read_season(text), tmp_path / "store", []
    played = run_season(season, folder, say=said.append)
    assert played.done >= 2 and 0 < played.open <= 4 and not played.failed and not played.spent
    assert "of decisions is spent" in str(played) and "'first'" in str(played)
    assert sum("of decisions is spent" in line for line in said) == 1  # it is asked no more
    with Store(folder) as store:  # what was played is whole
        assert store.query("SELECT count(*) FROM episodes") == [(3 * played.done,)]
    while played.open:  # each time its budget begins anew
        left, played = played.open, run_season(season, folder, resume=True)
        assert played.open < left
    assert (played.done, played.stopped) == (6, ())


def test_a_worker_of_a_cluster_says_whose_seat_may_spend_no_more():
    text = TINY.replace("arena-first", "arena-spender:most=1")
    match = all_matches(read_season(text))[0]
    record, _, error, spent = play_remotely(text, match, b"")
    assert (record, error, list(spent)) == (b"", "", ["first"])


def test_matches_with_missing_episodes_are_opened_again(tiny, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(tiny, folder)
    with sqlite3.connect(folder / "season.sqlite") as store:
        store.execute("DELETE FROM episodes WHERE match = 2 AND episode > 0")
    assert run_season(read_season(TINY), folder, resume=True).done == 6
    assert rows_of(folder) == rows_of(tiny)


# ---- ratings -------------------------------------------------------------------------------------


def test_bradley_terry_is_what_elo_settles_at():
    rng = np.random.default_rng(0)
    share = rng.uniform(0.1, 0.9, (4, 4))
    wins = np.triu(share, 1) + np.tril(1 - share.T, -1)
    np.testing.assert_allclose(
        bradley_terry(100 * wins, 100.0 * (1 - np.eye(4))), elo(wins, 100), atol=0.05
    )


def test_bradley_terry_of_unequal_numbers_of_games():
    """Three players in a chain: each pair that met has its own odds exactly."""
    wins, games = np.zeros((3, 3)), np.zeros((3, 3))
    wins[0, 1], wins[1, 0], wins[1, 2], wins[2, 1] = 30, 10, 6, 3
    games[0, 1] = games[1, 0] = 40
    games[1, 2] = games[2, 1] = 9
    ratings = bradley_terry(wins, games)
    scale = 400 / np.log(10)
    assert ratings[0] - ratings[1] == pytest.approx(scale * np.log(3), abs=0.01)
    assert ratings[1] - ratings[2] == pytest.approx(scale * np.log(2), abs=0.01)
    assert ratings.mean() == pytest.approx(1000)
    both = bradley_terry(np.stack([wins, wins.T]), np.stack([games, games]))
    np.testing.assert_allclose(both[0], ratings, atol=1e-6)
    np.testing.assert_allclose(both[1] - 1000, 1000 - ratings, atol=1e-6)


def played(strengths, deals, seed):
    """Games in which the odds are those of the strengths."""
    rng, names = np.random.default_rng(seed), list("abcdef")[: len(strengths)]
    found = []
    for deal in range(deals):
        for i, one in enumerate(names):
            for j, other in enumerate(names[:i]):
                chance = 1 / (1 + np.exp(strengths[j] - strengths[i]))
                found.append(
                    (deal, one, other, *(((0.0, 1.0), (1.0, 0.0))[int(rng.random() < chance)]))
                )
    return names, found


def test_intervals_hold_the_truth_as_often_as_they_say():
    strengths = np.array([-0.8, 0.0, 0.8])
    truth = 1000 + 400 / np.log(10) * strengths
    hits = []
    for seed in range(40):
        names, games = played(strengths, 80, seed)
        ratings = bradley_terry_with_intervals(Results.of(names, games), resamples=200)
        hits += [
            ratings[n].low <= true <= ratings[n].high for n, true in zip(names, truth, strict=True)
        ]
    assert 0.88 <= np.mean(hits) <= 0.99


def test_who_never_played_has_no_rating():
    ratings = bradley_terry_with_intervals(Results.of("abc", [(0, "a", "b", 1.0, 0.0)]))
    assert np.isnan(ratings["c"].value) and ratings["a"].value > ratings["b"].value
    assert np.isnan(ratings["a"].low)  # one deal


def test_openskill_orders_players():
    pytest.importorskip("openskill")
    names, games = played(np.array([-1.0, 0.0, 1.0]), 60, 1)
    ratings = weng_lin([*names, "absent"], games)
    assert ratings["c"].value > ratings["b"].value > ratings["a"].value
    assert ratings["c"].low > ratings["a"].high
    assert np.isnan(ratings["absent"].value)


def test_earned_is_a_mean_over_seats():
    assert earned('["a", "b", "b"]', "b", "a", "[1, 2, 4]") == (3.0, 1.0)
    assert earned(("a", "a"), "a", "a", (1.0, 3.0)) == (2.0, 2.0)


# ---- reports -------------------------------------------------------------------------------------


def test_cells_are_the_episodes_counted_by_hand(tiny):
    shown = report(tiny)
    game = shown.games["tic_tac_toe"]
    results = {}
    for path in (tiny / "records").iterdir():
        for episode in read(path):
            (one, other), rewards = episode.players, episode.result.rewards
            for name, against, own in ((one, other, rewards[0]), (other, one, rewards[1])):
                results.setdefault((name, against), []).append(own)
    assert set(game.cells) == set(results)
    for key, rewards in results.items():
        cell = game.cells[key]
        assert cell.reward.mean == pytest.approx(np.mean(rewards))
        assert cell.wins.mean == pytest.approx(np.mean([(r > 0) + (r == 0) / 2 for r in rewards]))
        assert cell.episodes == 6
        assert cell.wins.mean + game.cells[key[::-1]].wins.mean == pytest.approx(1)
    best = game.rows[0]
    cells = [cell.wins.mean for (row, _), cell in game.cells.items() if row == best.player]
    assert best.score.mean == pytest.approx(np.mean(cells))
    assert [row.score.mean for row in game.rows] == sorted(
        (row.score.mean for row in game.rows), reverse=True
    )
    assert shown.overall[0].scaled == pytest.approx(best.score.mean)
    files = shown.to_csv()
    # Six cells of the game, and six over all games.
    assert [len(files[name].splitlines()) for name in ("cells.csv", "players.csv")] == [13, 7]
    json.dumps(shown.to_dict(), allow_nan=False)


def test_games_that_are_scored_by_reward_have_self_play_and_held_out_columns(tmp_path):
    text = TINY.replace("episodes = 3", 'episodes = 1\nscore = "reward"\nself_play = true')
    text = text.replace('"arena-last"', '{ seat = "arena-last", held_out = true }')
    run_season(read_season(text), tmp_path / "store")
    game = report(tmp_path / "store").games["tic_tac_toe"]
    assert {row.player for row in game.rows} == {"first", "any"} and game.partners == ("last",)
    first = next(row for row in game.rows if row.player == "first")
    assert first.with_itself.mean == game.cells["first", "first"].reward.mean == 0.0
    assert first.with_others.mean == game.cells["first", "any"].reward.mean
    assert first.with_held_out.mean == game.cells["first", "last"].reward.mean
    assert first.bradley_terry is None and sorted(r.scaled for r in game.rows) == [0.0, 1.0]


def test_one_player_plays_with_itself_in_games_that_are_scored_by_reward(tmp_path):
    text = '[players]\nme = "arena-anything"\n[games.kitchen]\nepisodes = 1\nmax_steps = 5\n'
    assert run_season(read_season(text), tmp_path / "store").done == 1
    game = report(tmp_path / "store").games["kitchen"]
    assert list(game.cells) == [("me", "me")] and game.rows[0].score == game.rows[0].with_itself
    page(report(tmp_path / "store"))
    for refused, said in (
        (text + "self_play = false\n", "two players or more, given me"),
        (text.replace("kitchen", "tic_tac_toe") + "self_play = true\n", "nothing against itself"),
    ):
        with pytest.raises(ConfigError, match=said):
            read_season(refused)


def test_exploitability_pools_the_matches_of_a_player(tmp_path):
    text = TINY.replace("tic_tac_toe", "kuhn_poker").replace("episodes = 3", "episodes = 12")
    text = text.replace('last = "arena-last"\n', "")
    folder = tmp_path / "store"
    run_season(read_season(text), folder)
    game = report(folder).games["kuhn_poker"]
    tree = tree_of(one_hand(game.plan.env))
    counts = np.zeros(tree.legal.shape)
    for path in (folder / "records").iterdir():
        analysis = exact.analyse(path)
        counts += sum(seat.counts for seat in analysis.seats if seat.name.startswith("any"))
    (row,) = (row for row in game.rows if row.player == "any")
    assert row.exploitability == pytest.approx(exploitability(tree, from_counts(tree, counts)[0]))
    assert row.exploitability > 0 and game.plan.score == "reward"


def test_a_record_that_is_missing_is_told_and_the_report_goes_on(tmp_path, capsys, monkeypatch):
    text = TINY.replace("tic_tac_toe", "kuhn_poker").replace('last = "arena-last"\n', "")
    folder = tmp_path / "store"
    run_season(read_season(text), folder)
    whole = report(folder)
    assert whole.notes() == [] and "cannot be read" not in page(whole)
    records = sorted((folder / "records").iterdir())
    records[0].unlink()
    left = report(folder)
    (note,) = left.notes()
    assert "kuhn_poker" in note and records[0].name in note and note in html.unescape(page(left))
    rows = {row.player: row for row in left.games["kuhn_poker"].rows}
    assert rows["any"].exploitability > 0  # of the other matches
    monkeypatch.chdir(tmp_path)
    Path("season.toml").write_text(text)
    assert main(["arena", "season.toml", "--out", str(folder), "--report"]) == 0
    assert records[0].name in capsys.readouterr().out
    for record in records[1:]:
        record.write_text("no record\n")
    nothing = report(folder)
    assert nothing.games["kuhn_poker"].rows[0].exploitability is None
    assert f"({len(records)})" in nothing.notes()[0]


def test_replays_that_are_missing_are_told_in_the_page_and_in_the_terminal(
    tiny, tmp_path, capsys, monkeypatch
):
    folder = tmp_path / "store"
    shutil.copytree(tiny, folder)
    gone, short, other, *_ = sorted((folder / "records").iterdir())
    gone.unlink()
    short.write_bytes(short.read_bytes().splitlines(keepends=True)[0])
    first, *rest = other.read_bytes().splitlines(keepends=True)
    other.write_bytes(first + b"no episode\n" + b"".join(rest))
    shown = page(report(folder))
    (note,) = (text for text in re.findall(r'class="note">([^<]*)</p>', shown) if gone.name in text)
    assert note.startswith("tic_tac_toe: ") and "(3)" in note
    assert f"{short.name}: it holds 1 finished episodes, not 2" in note
    assert f"{other.name}: " in note and "line 2" in note
    data = json.loads(next(text for kind, text in Parsed(shown).contents if kind == "script"))
    assert sum(len(one["replays"]) for one in data) == 2 * (3 * 2 + 1)  # a match has two cells
    monkeypatch.chdir(tmp_path)
    Path("season.toml").write_text(TINY)
    assert main(["arena", "season.toml", "--out", str(folder), "--report"]) == 0
    assert html.unescape(note) in capsys.readouterr().out
    assert main(["arena", "season.toml", "--out", str(folder), "--report", "--replays", "0"]) == 0
    assert gone.name not in capsys.readouterr().out


def test_matrices_over_all_games_are_explained_where_there_are_any(tiny):
    whole = report(tiny)
    assert "every game counts once" in page(whole)
    assert "every game counts once" not in page(dataclasses.replace(whole, pairs={}))


def test_openskill_is_recommended_only_where_it_is_missing(tiny, tmp_path, capsys, monkeypatch):
    rewards = TINY.replace("episodes = 3", 'episodes = 1\nscore = "reward"')
    run_season(read_season(rewards), tmp_path / "store")
    pytest.importorskip("openskill")
    for folder in (tiny, tmp_path / "store"):
        report(folder).show()
        assert "pip install" not in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    report(tiny).show()
    assert "manyhands[arena]" in capsys.readouterr().out
    report(tmp_path / "store").show()  # nothing to rate
    assert "pip install" not in capsys.readouterr().out


TWO_GAMES = """
name = "two"
[players]
first = "arena-first"
last = "arena-last"
any = { seat = "arena-anything", games = ["kuhn_poker", "tic_tac_toe"] }
[games.tic_tac_toe]
episodes = 2
[games.again]
id = "tic_tac_toe"
episodes = 3
seed = 9
[games.kuhn_poker]
episodes = 4
"""


def test_matrices_over_all_games_are_means_over_games(tmp_path, capsys):
    run_season(read_season(TWO_GAMES), tmp_path / "store")
    shown = report(tmp_path / "store")
    games = shown.games
    assert games["kuhn_poker"].plan.score == "reward"
    for game in games.values():
        means = [cell.reward.mean for cell in game.cells.values()]
        low, high = min(means), max(means)
        for cell in game.cells.values():  # 0 to 1 in its game
            share = (cell.reward.mean - low) / (high - low) if high > low else 0.5
            assert cell.scaled == pytest.approx(share)
    for key, pair in shown.pairs.items():
        met = [game.cells[key] for game in games.values() if key in game.cells]
        wins = [cell.wins.mean for cell in met if cell.wins is not None]
        assert pair.games == len(met) == (2 if "any" in key else 3)
        assert pair.episodes == sum(cell.episodes for cell in met)
        assert pair.wins == pytest.approx(np.mean(wins))
        assert pair.scaled == pytest.approx(np.mean([cell.scaled for cell in met]))
        assert pair.wins + shown.pairs[key[::-1]].wins == pytest.approx(1)
    lines = list(csv.DictReader(io.StringIO(shown.to_csv()["cells.csv"])))
    over_all = {(o["row"], o["column"]): o for o in lines if o["game"] == "all games"}
    assert set(over_all) == set(shown.pairs)
    for key, line in over_all.items():
        assert float(line["scaled"]) == pytest.approx(shown.pairs[key].scaled, abs=1e-6)
        assert float(line["wins.mean"]) == pytest.approx(shown.pairs[key].wins, abs=1e-6)
    shown.show()
    printed = capsys.readouterr().out
    wins, rewards = shown.matrices()
    for matrix in (wins, rewards):
        assert f"all games, row with column: {matrix.title}" in printed
        assert f"<h3>Row with column: {html.escape(matrix.title)}</h3>" in page(shown)
        for key, entry in matrix.entries.items():
            assert f"{entry.share:.3f}</td>" in page(shown) and entry.about.startswith(key[0])
    # By game: both matrices of games that are scored by wins, rewards alone of others.
    assert [len(games[name].matrices()) for name in ("tic_tac_toe", "kuhn_poker")] == [2, 1]


def test_wide_matrices_are_shown_in_blocks():
    entries = {
        ("a", "b"): Entry(1.0, "1", 1.0, ""),
        ("b", "c"): Entry(0.0, "0", 0.0, ""),
        ("c", "c"): Entry(0.5, "0.5", 0.5, ""),
    }
    whole = Matrix("", ("a", "b", "c"), ("a", "b", "c"), (), entries)
    blocks = [(block.rows, block.columns) for block in whole.blocks(2)]
    assert blocks == [(("a",), ("a", "b")), (("b", "c"), ("c",))]


def test_players_are_asked_what_they_know(tmp_path):
    text = TINY.replace("tic_tac_toe", "kuhn_poker") + "probes = { every = 1, most = 2 }\n"
    text = text.replace('last = "arena-last"', 'last = "arena-asked:knows=false"')
    text = text.replace('any = "arena-anything"', 'any = "arena-asked"')
    folder = tmp_path / "store"
    run_season(read_season(text), folder)
    shown = report(folder)
    rows = {row.player: row for row in shown.games["kuhn_poker"].rows}
    assert rows["any"].beliefs == 1.0 and 0 < rows["last"].beliefs < 1
    assert rows["first"].beliefs is None  # it answers no questions
    assert rows["any"].tokens >= 9 * rows["any"].decisions and rows["first"].tokens == 0
    assert {row.player: row.beliefs for row in shown.overall} == {
        name: row.beliefs for name, row in rows.items()
    }
    assert "beliefs: the share of answers" in page(shown)


@pytest.mark.parametrize(
    ("probes", "said"),
    [
        ("{ each = 1 }", "no key 'each'"),
        ("{ every = 0 }", "games.kuhn_poker.probes"),
        ("3", "is a table"),
    ],
)
def test_probes_that_make_no_sense_are_named(probes, said):
    with pytest.raises(ConfigError, match=said):
        read_season(TINY.replace("tic_tac_toe", "kuhn_poker") + f"probes = {probes}\n")
    with pytest.raises(ConfigError, match="tic_tac_toe asks no questions"):
        read_season(TINY + "probes = true\n")


# ---- the page ------------------------------------------------------------------------------------


class Parsed(html.parser.HTMLParser):
    """The elements of a page, and the contents of its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.contents, self._open = [], [], [], None
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes += [(name, *pair) for pair in attributes]
        self._open = name if name in ("script", "style") else None
        if self._open:
            self.contents.append((name, ""))

    def handle_endtag(self, name):
        self._open = None

    def handle_data(self, data):
        if self._open:  # in several pieces
            kind, text = self.contents.pop()
            self.contents.append((kind, text + data))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked") / "store"
    text = TINY.replace("arena-anything", "arena-hostile").replace("episodes = 3", "episodes = 1")
    run_season(read_season(text), folder)
    return page(report(folder))


def test_what_players_say_stays_text(attacked):
    parsed = Parsed(attacked)
    assert set(parsed.tags) <= {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "nav"),
        *("a", "section", "div", "table", "thead", "tbody", "tr", "th", "td", "button", "figure"),
        *("figcaption", "svg", "line", "text", "circle", "script"),
    }
    assert parsed.tags.count("script") == 2  # the data and the page's own
    assert not [one for one in parsed.attributes if one[1].startswith("on") or one[1] == "style"]
    assert not [one for one in parsed.attributes if one[1] in ("src", "action", "formaction")]
    assert all(value.startswith("#") for _, name, value in parsed.attributes if name == "href")
    assert not re.search(
        "[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", attacked
    )
    data = json.loads(next(text for kind, text in parsed.contents if kind == "script"))
    said = [
        m["says"]
        for cell in data
        for game in cell["replays"]
        for s in game["steps"]
        for m in s["moves"]
        if "says" in m
    ]
    assert said and all(
        "</script><script>alert(1)" in words and "\\u202e" in words for words in said
    )


def test_only_the_pages_own_script_may_run(attacked):
    parsed = Parsed(attacked)
    (policy,) = [
        v
        for name, key, v in parsed.attributes
        if name == "meta" and key == "content" and "default-src" in v
    ]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    for kind, text in (parsed.contents[0], parsed.contents[-1]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "innerHTML" not in attacked


def test_the_first_deals_are_shown_whatever_ended_first(tmp_path):
    path = tmp_path / "record.jsonl"  # in which episodes stand in the order in which they ended
    for deals in ([2], [0, 1]):
        manyhands.play("tic_tac_toe", "random", only=deals, record=path, resume=True)
    assert [one["deal"] for one in replays(path, ["a", "b"], 2)] == [0, 1]


def test_cells_share_the_room_for_replays(tiny, monkeypatch):
    def cells():
        shown = page(report(tiny))
        found = json.loads(next(t for kind, t in Parsed(shown).contents if kind == "script"))
        return shown, {(one["row"], one["column"]): one["replays"] for one in found}

    shown, whole = cells()
    assert "left out" not in shown and {len(found) for found in whole.values()} == {4}
    sizes = [len(embedded(one)) for found in whole.values() for one in found]
    monkeypatch.setattr(arena_page, "LARGEST", sum(sizes) * 3 // 4)
    shown, fewer = cells()
    kept = sum(map(len, fewer.values()))
    assert set(fewer) == set(whole) and 12 <= kept < 24
    assert f"{24 - kept} of 24 are left out" in shown
    for found in fewer.values():  # both seat orders
        assert found[0]["players"] == found[1]["players"][::-1]
    monkeypatch.setattr(arena_page, "LARGEST", 6 * min(sizes) // 2)
    shown, shorter = cells()
    assert set(shorter) == set(whole) and "18 of 24 are left out, and 6 end early" in shown
    assert all(0 < len(one["steps"]) < one["length"] for (one,) in shorter.values())
    made = []

    def counted(record, *rest):
        for one in replays(record, *rest):
            made.append(record)
            yield one

    monkeypatch.setattr(arena_page, "LARGEST", 6)
    monkeypatch.setattr(arena_page, "replays", counted)
    shown, none = cells()
    assert not none and "24 of 24 are left out" in shown
    assert len(made) == len(set(made)) == 3  # no second replay of a match is made: none fits


def test_attributes_and_texts_are_escaped():
    made = tag("td", "<b>\u202e", title='"><script>')
    assert made == '<td title="&quot;&gt;&lt;script&gt;">&lt;b&gt;\\u202e</td>'
    assert visible("a\tb\nc \N{SNOWMAN}\U0001f600") == "a\tb\nc \N{SNOWMAN}\U0001f600"
    assert visible("\ud800\x00\u200b") == "\\ud800\\u0000\\u200b"


# ---- the command ---------------------------------------------------------------------------------


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TINY.replace("episodes = 3", "episodes = 1"))
    assert main(["arena", "tiny.toml", "--plan"]) == 0
    assert "6 matches, 6 episodes" in capsys.readouterr().out
    assert main(["arena", "tiny.toml"]) == 0
    assert "6 matches done" in capsys.readouterr().out
    folder = Path("runs/arena/tiny")
    assert len(list((folder / "records").iterdir())) == 6
    for name in ("results.json", "players.csv", "cells.csv", "report.html"):
        assert (folder / name).stat().st_size > 200
    assert main(["arena", "tiny.toml"]) == 1
    assert "--resume" in capsys.readouterr().err
    assert main(["arena", "tiny.toml", "--resume", "--games", "tic_tac"]) == 2
    assert "tic_tac_toe" in capsys.readouterr().err
    assert main(["arena", "tiny.toml", "--report", "--replays", "0"]) == 0
    assert '"replays"' not in (folder / "report.html").read_text()
    assert main(["arena", "tiny.toml", "--report", "--replays", "-1"]) == 2
    assert main(["arena", "tiny.toml", "--plan", "--games", "tic_tac_to"]) == 2
    assert "tic_tac_toe" in capsys.readouterr().err
