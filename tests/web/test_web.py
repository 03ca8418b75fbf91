"""The web server: games between sockets, records, and what pages may not do."""

from __future__ import annotations

import asyncio
import html
import io
import json
import os
import re
import signal
import threading
import time
import types

import jax
import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import manyhands
from manyhands.cli import main
from manyhands.cli.serve import offers
from manyhands.core.env import ConfigError
from manyhands.core.record import read, verify
from manyhands.core.view import Reply
from manyhands.web.house import House
from manyhands.web.replays import Library
from manyhands.web.server import MOST_BYTES, MOST_MESSAGES, application
from manyhands.web.tables import (
    MOST_NEWS,
    PERSON,
    Drawing,
    Guest,
    changed,
    event_words,
    seen,
)

GAMES = ("tic_tac_toe", "kuhn_poker", "kitchen max_steps=4", "negotiation")


@pytest.fixture(autouse=True)
def in_time():
    """A message that never comes ends the test, not the run: the client waits for ever."""

    def late(*_):
        raise TimeoutError("nothing came from the server")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(240)
    yield
    signal.alarm(0)


@pytest.fixture(scope="module")
def menu():
    return offers(GAMES, ["perfect"])


@pytest.fixture
def server(menu, tmp_path):
    """(client, house): a server that writes records, for one test."""
    house = House(menu, patience=0.3, record=tmp_path)
    with TestClient(application(house, Library([])), base_url="http://localhost") as client:
        yield client, house


def opened(client, game, *seats, clock=None, seed=0):
    asked = {"game": game, "seats": list(seats), "clock": clock, "seed": seed}
    answer = client.post("/tables", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def sit(client, table, number=0):
    seat = table["seats"][number]["token"] if table["seats"] else table["watch"]
    return connected(client, f"/play?table={table['table']}&seat={seat}")


def connected(client, path, **options):
    return client.websocket_connect(f"ws://localhost{path}", **options)


def until(socket, wanted):
    """(message, all messages before it, pictures): reads on until a message fits."""
    told, pictures = [], []
    while True:
        message = socket.receive()
        if message["type"] == "websocket.close":
            raise AssertionError(f"closed: {message}, after {told}")
        if message.get("bytes") is not None:
            pictures.append(message["bytes"])
            continue
        told.append(json.loads(message["text"]))
        assert told[-1]["type"] != "failed", told[-1]
        if wanted(told[-1]):
            return told[-1], told, pictures


def to_move(message):
    return message["type"] == "view" and message["to_move"]


def over(message):
    return message["type"] == "view" and message["over"]


def begun(socket):
    """The first view of a person at tic-tac-toe, who is welcomed, sees it and is refused once."""
    welcome, _, _ = until(socket, lambda m: m["type"] == "welcome")
    assert welcome["agent"] == "player_0" and "TIC-TAC-TOE" in welcome["rules"].upper()
    view, _, _ = until(socket, to_move)
    assert Image.open(io.BytesIO(until_picture(socket))).format == "WEBP"
    socket.send_json({"type": "answer", "words": "fly"})
    refused, _, _ = until(socket, lambda m: m["type"] == "refused")
    assert "fly" in refused["reason"]
    return view


def test_an_answer_before_the_question_is_refused_like_any_other():
    """The view is there before the game asks: an answer in between is not lost."""
    env = manyhands.make("tic_tac_toe")
    state = env.reset(jax.random.key(0))
    view = types.SimpleNamespace(parse=lambda words: env.parse(words, state, 0))
    guest, told = Guest(env, 0, None, 60.0), []

    async def early():
        guest.come(told.append)
        guest.expect(True)
        assert guest.answer("fly", None) == ""
        asked = asyncio.create_task(guest.ask(view))
        for _ in range(10):
            await asyncio.sleep(0)
        assert guest.answer("b2", None) == ""
        return await asked

    reply = asyncio.run(early())
    assert told[0]["type"] == "refused" and "fly" in told[0]["reason"]
    assert reply.action == "b2" and len(told) == 1


def test_a_person_plays_a_game_and_its_record_is_kept(server, tmp_path):
    client, _ = server
    table = opened(client, "tic_tac_toe", PERSON, "random", seed=5)
    assert table["watch"] == "" and len(table["seats"]) == 1
    with sit(client, table) as socket:
        view = begun(socket)
        while not view["over"]:
            socket.send_json({"type": "answer", "words": view["choices"][0]["text"]})
            view, _, _ = until(socket, lambda m: to_move(m) or over(m))
        assert "The game is over" in view["text"]
        socket.send_json({"type": "again"})
        again, _, _ = until(socket, to_move)
        assert again["step"] == 0
    record = min(tmp_path.glob("*-0.jsonl"))
    assert verify(record) and [e.seats for e in read(record)] == [("person", "random")]


def test_the_welcome_comes_first(server):
    """Also where a game has begun before anything is sent."""
    client, house = server
    table = opened(client, "tic_tac_toe", PERSON, "random")
    hosted = house.tables[table["table"]]
    hosted.guests[0].come(lambda picture: None)
    hosted.start()
    while hosted.moment is None:
        time.sleep(0.01)
    with sit(client, table) as socket:
        _, told, pictures = until(socket, to_move)
        assert [message["type"] for message in told] == ["welcome", "seats", "view"]
        assert not pictures


def test_two_people_see_their_own_card_only(server):
    """On the wire, what one gets depends on its own card alone, whatever the other holds."""
    client, _ = server
    got: dict[str, set[tuple[str, bytes]]] = {}
    held: dict[str, set[str]] = {}
    for seed in range(8):
        table = opened(client, "kuhn_poker", PERSON, PERSON, seed=seed)
        with sit(client, table) as first, sit(client, table, 1) as second:
            mine, _, _ = until(first, to_move)
            other, _, _ = until(second, lambda m: m["type"] == "view")
            picture = until_picture(first)
            cards = [card(message["text"]) for message in (mine, other)]
            got.setdefault(cards[0], set()).add((json.dumps(mine), picture))
            held.setdefault(cards[0], set()).add(cards[1])
            first.send_json({"type": "answer", "words": "bet 1"})
            until(second, to_move)
            second.send_json({"type": "answer", "words": "fold"})
            done, _, _ = until(first, over)
            lost, _, _ = until(second, over)
            assert (done["reward"], lost["reward"]) == (1, -1)
    assert any(len(others) > 1 for others in held.values())
    assert all(len(messages) == 1 for messages in got.values())


def card(text):
    return re.search(r"Your card: (\w)", text)[1]


def until_picture(socket):
    """The next picture."""
    while (message := socket.receive()).get("bytes") is None:
        pass
    return message["bytes"]


def test_who_leaves_is_replaced_and_may_come_back(server):
    client, house = server
    table = opened(client, "kitchen max_steps=4", PERSON, PERSON)
    with sit(client, table) as first:
        with sit(client, table, 1) as second:
            until(second, to_move)
        # The other has left: after the time that others wait for it, a bot plays.
        gone, _, _ = until(first, lambda m: m["type"] == "seats" and not m["seats"][1]["here"])
        assert gone["seats"][1]["agent"] == "chef_1"
        first.send_json({"type": "answer", "words": "stay"})
        view, _, _ = until(first, lambda m: m["type"] == "view" and m["step"] == 1)
        with sit(client, table, 1) as second:
            until(first, lambda m: m["type"] == "seats" and m["seats"][1]["here"])
            first.send_json({"type": "answer", "words": "stay"})
            until(first, lambda m: m["type"] == "view" and m["step"] == 2)
            first.send_json({"type": "answer", "words": "stay"})
            until(second, lambda m: to_move(m) and m["step"] == 2)
            second.send_json({"type": "answer", "words": "north"})
            until(first, lambda m: m["type"] == "view" and m["step"] == 3)
    assert view["to_move"] and list(house.tables) == [table["table"]]


def test_who_leaves_forfeits_where_that_is_asked_for(menu, tmp_path):
    """After the time that the others wait, at the price of a loss, in games of turns and others."""
    house = House(menu, patience=0.1, leaver="forfeit", record=tmp_path)
    with TestClient(application(house, Library([])), base_url="http://localhost") as client:
        for game in ("kuhn_poker", "kitchen max_steps=4"):
            table = opened(client, game, PERSON, PERSON)
            with sit(client, table) as first:
                with sit(client, table, 1) as second:
                    until(second, lambda m: m["type"] == "view")
                first.send_json({"type": "answer", "words": first_choice(first)})
                view, _, _ = until(first, over)
                until(first, lambda m: m["type"] == "ended")  # the record is written
            assert view["reward"] == {"kuhn_poker": 1, "kitchen max_steps=4": 0}[game]
            (file,) = tmp_path.glob(f"{game.partition(' ')[0]}-*.jsonl")
            assert verify(file)
            (episode,) = read(file)
            assert (episode.result.ended, len(episode.result.forfeits)) == ("forfeit", 1)
    with pytest.raises(ConfigError, match='did you mean "forfeit"'):
        House(menu, leaver="forfeits").open("tic_tac_toe", [PERSON, "random"], None, 0)


def first_choice(socket):
    view, _, _ = until(socket, to_move)
    return view["choices"][0]["text"]


def looked_on(client, game, *seats):
    asked = {"game": game, "seats": list(seats), "spectators": True}
    return client.post("/tables", json=asked).json()


def test_a_game_does_not_begin_before_all_are_there(server):
    client, house = server
    table = looked_on(client, "tic_tac_toe", PERSON, PERSON)
    with sit(client, table) as first:
        until(first, lambda m: m["type"] == "welcome")
        with connected(client, f"/play?table={table['table']}&seat={table['watch']}") as other:
            until(other, lambda m: m["type"] == "welcome")
            for socket in (first, other):
                socket.send_json({"type": "again"})
            time.sleep(0.2)
            assert not house.tables[table["table"]].playing
        with sit(client, table, 1):
            until(first, to_move)


def test_people_are_looked_on_where_nothing_is_hidden(server):
    client, house = server
    table = looked_on(client, "tic_tac_toe", PERSON, "random")
    with sit(client, table) as player:
        until(player, to_move)
        (live,) = client.get("/live").json()["live"]
        assert (live["table"], live["watch"]) == (table["table"], table["watch"])
        assert live["seats"] == {"player_0": "person", "player_1": "random"}
        with connected(client, f"/play?table={live['table']}&seat={live['watch']}") as other:
            welcome, _, _ = until(other, lambda m: m["type"] == "welcome")
            assert not welcome["veiled"] and not welcome["agent"]
            player.send_json({"type": "answer", "words": "b2"})
            view, _, _ = until(other, lambda m: m["type"] == "view" and m["step"] > 0)
            assert set(view["texts"]) == {"player_0", "player_1"}
            # Who looks on can do nothing.
            other.send_json({"type": "answer", "words": "a1"})
            view, _, _ = until(player, to_move)
            assert until_picture(other)
            while not view["over"]:
                player.send_json({"type": "answer", "words": view["choices"][0]["text"]})
                view, _, _ = until(player, lambda m: to_move(m) or over(m))
            assert welcome["once"]  # no button for another game, nor does it help to ask for one
            other.send_json({"type": "again"})
            hosted = house.tables[table["table"]]
            deadline = time.monotonic() + 5
            while not hosted.games and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.2)
            assert hosted.games == 1 and not hosted.playing
    # Where it was not asked for, nobody looks on.
    table = opened(client, "tic_tac_toe", PERSON, "random")
    with sit(client, table) as player:
        until(player, to_move)
        assert table["table"] not in [one["table"] for one in client.get("/live").json()["live"]]


def test_who_looks_on_learns_nothing_hidden_before_the_end(server):
    """On the wire: whatever the cards are, the same bytes, until the game is over."""
    client, _ = server
    heard = set()
    for seed in range(6):
        asked = {"game": "kuhn_poker", "seats": [PERSON, PERSON], "spectators": True, "seed": seed}
        table = client.post("/tables", json=asked).json()
        with (
            sit(client, table) as first,
            sit(client, table, 1) as second,
            connected(client, f"/play?table={table['table']}&seat={table['watch']}") as other,
        ):
            mine, _, _ = until(first, to_move)
            his, _, _ = until(second, lambda m: m["type"] == "view")
            _, told, pictures = until(other, lambda m: m["type"] == "veiled")
            first.send_json({"type": "answer", "words": "bet 1"})
            until(second, to_move)
            _, more, others = until(other, lambda m: m["type"] == "veiled" and m["step"] == 1)
            assert not pictures and not others
            # What was there when it came may be told twice.
            said = {json.dumps(m) for m in told + more if m["type"] != "welcome"}
            heard.add("; ".join(sorted(said)))
            second.send_json({"type": "answer", "words": "fold"})
            end, _, pictures = until(other, over)
            assert card(end["texts"]["player_0"]) == card(mine["text"])
            assert card(end["texts"]["player_1"]) == card(his["text"]) and pictures
    assert len(heard) == 1


def test_a_table_of_bots_can_be_watched_and_no_other(server):
    client, _ = server
    table = opened(client, "tic_tac_toe", "perfect", "random")
    assert table["watch"] and not table["seats"]
    with sit(client, table) as socket:
        view, _, _ = until(socket, over)
        assert set(view["texts"]) == {"player_0", "player_1"} and view["did"]
    table = opened(client, "kuhn_poker", PERSON, "random")
    house_table = server[1].tables[table["table"]]
    for seat in (house_table.watch, "%C3%A9", ""):
        with connected(client, f"/play?table={table['table']}&seat={seat}") as socket:
            assert "no such table or seat" in socket.receive_json()["reason"]


def test_the_world_steps_on_time(server):
    client, _ = server
    table = opened(client, "kitchen max_steps=4", PERSON, "bot", clock=0.05)
    with sit(client, table) as socket:
        view, _, _ = until(socket, over)
    assert view["step"] == 4


def test_what_players_say_reaches_a_page_as_data(server):
    client, house = server
    hostile = '<img src=x onerror="alert(1)">'
    table = opened(client, "negotiation", PERSON, "random")
    house.tables[table["table"]]._seats[1] = lambda view: Reply("pass", say=hostile)
    with sit(client, table) as socket:
        until(socket, to_move)
        socket.send_json({"type": "answer", "words": "pass"})
        view, _, _ = until(socket, lambda m: to_move(m) and m["step"] > 1)
        assert "onerror" in view["text"]
    page = client.get("/page.js").text
    assert "innerHTML" not in page and "insertAdjacentHTML" not in page and "eval" not in page
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


# ---- what pages may not do -----------------------------------------------------------------------


def test_other_sites_and_other_names_are_refused(server):
    client, _ = server
    assert client.get("/games", headers={"host": "evil.example"}).status_code == 400
    assert client.get("/games", headers={"origin": "http://evil.example"}).status_code == 403
    asked = {"game": "tic_tac_toe", "seats": [PERSON, "random"]}
    assert client.post("/tables", json=asked, headers={"origin": "null"}).status_code == 403
    answer = client.post(
        "/tables", content=json.dumps(asked), headers={"content-type": "text/plain"}
    )
    assert answer.status_code == 415
    table = opened(client, "tic_tac_toe", PERSON, "random")
    path = f"/play?table={table['table']}&seat={table['seats'][0]['token']}"
    with (
        pytest.raises(WebSocketDisconnect),
        connected(client, path, headers={"origin": "http://evil.example"}),
    ):
        pass
    with connected(client, path, headers={"origin": "http://localhost"}) as socket:
        assert socket.receive_json()["type"] == "welcome"


def test_without_the_token_nothing_is_answered(menu):
    app = application(House(menu), Library([]), token="secret")
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/").status_code == 200  # the page itself tells nothing
        assert client.get("/games").status_code == client.get("/records").status_code == 403
        assert client.get("/games?token=wrong").status_code == 403
        assert client.get("/games?token=secret").status_code == 200
        asked = {"game": "tic_tac_toe", "seats": [PERSON, "random"]}
        assert client.post("/tables", json=asked).status_code == 403
        for path in ("/play?table=x&seat=y", "/replay"):
            with pytest.raises(WebSocketDisconnect), connected(client, path):
                pass


@pytest.mark.parametrize(
    "asked",
    [
        {"game": "chess", "seats": [PERSON]},
        {"game": "tic_tac_toe", "seats": [PERSON, "policy:file=/etc/passwd"]},
        {"game": "tic_tac_toe", "seats": [PERSON, "language:model=x"]},
        {"game": "tic_tac_toe", "seats": [PERSON]},
        {"game": "tic_tac_toe", "seats": "person"},
        {"game": ["tic_tac_toe"], "seats": [PERSON, PERSON]},
        {"game": "tic_tac_toe", "seats": [PERSON, "random"], "clock": 0},
        {"game": "tic_tac_toe", "seats": [PERSON, "random"], "clock": True},
        {"game": "tic_tac_toe", "seats": [PERSON, "random"], "seed": -1},
        [1],
    ],
)
def test_bad_tables_are_refused_with_a_reason(server, asked):
    client, house = server
    answer = client.post("/tables", json=asked)
    assert answer.status_code == 400 and answer.json()["error"]
    assert not house.tables


def test_sizes_and_rates_are_limited(server):
    client, house = server
    big = {"game": "x" * MOST_BYTES, "seats": []}
    assert client.post("/tables", json=big).status_code == 413
    table = opened(client, "tic_tac_toe", PERSON, "random")
    for messages in (["x" * (MOST_BYTES + 1)], ["not json"], ["[1]"], ["{}"] * (MOST_MESSAGES + 1)):
        with sit(client, table) as socket:
            for message in messages:
                socket.send_text(message)
            with pytest.raises(AssertionError, match="closed"):
                until(socket, lambda m: False)
    house.most = 1
    answer = client.post("/tables", json={"game": "tic_tac_toe", "seats": [PERSON, "random"]})
    assert answer.status_code == 400 and "tables are taken" in answer.json()["error"]


def test_idle_tables_are_closed(menu):
    house = House(menu, idle=0.01)
    table = house.open("tic_tac_toe", [PERSON, "random"], None, 0)
    time.sleep(0.02)
    house.sweep()
    assert table.closed and not house.tables


def test_closing_a_table_ends_its_game(menu):
    house = House(menu)
    table = house.open("tic_tac_toe", [PERSON, "random"], None, 0)
    table.guests[0].come(lambda picture: None)
    table.start()
    deadline = time.monotonic() + 60
    while table.moment is None and time.monotonic() < deadline:
        time.sleep(0.01)
    house.close()
    while table.playing and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not table.playing and not table.failure
    assert not [t for t in threading.enumerate() if t.name == f"table {table.id}" and t.is_alive()]


# ---- records -------------------------------------------------------------------------------------


def test_records_are_listed_and_shown_moment_by_moment(menu, tmp_path):
    manyhands.play("tic_tac_toe", "random", episodes=2, record=tmp_path / "run.jsonl")
    (tmp_path / "broken.jsonl").write_text("{}\n")
    library = Library([tmp_path])
    with TestClient(application(House(menu), library), base_url="http://localhost") as client:
        broken, run = client.get("/records").json()["records"]
        assert broken["broken"].startswith("broken.jsonl, line 1")  # and not in which folder
        assert {e["episode"] for e in run["episodes"]} == {0, 1}
        with connected(client, "/replay") as socket:
            place = {"record": run["record"], "episode": 1}
            socket.send_json({"type": "moment", **place, "moment": 2})
            shown = socket.receive_json()
            assert shown["moment"] == 2 and shown["did"] and shown["moments"] > 5
            picture = np.asarray(Image.open(io.BytesIO(socket.receive_bytes())))
            assert picture.shape == (480, 640, 3) and picture.std() > 1
            socket.send_json({"type": "marks", **place, "moment": 0})
            assert socket.receive_json()["moments"] == [shown["moments"] - 1]  # the win
            socket.send_json({"type": "moment", **place, "moment": 10**9})
            assert socket.receive_json()["moment"] == shown["moments"] - 1
            socket.receive_bytes()
            for bad in ({"record": 99}, {"episode": 7}, {"record": "../x"}, {"record": -1}):
                socket.send_json({"type": "moment", **place, "moment": 0, **bad})
                assert socket.receive_json()["type"] == "failed"
    with pytest.raises(ConfigError, match="no record"):
        Library([tmp_path / "absent"])


POLICY = (
    "default-src 'none'; style-src 'sha256-abc='; script-src 'sha256-def='; base-uri 'none'; "
    "form-action 'none'"
)


@pytest.mark.parametrize("policy", [POLICY, POLICY.replace("'sha256-def='", "'unsafe-inline'"), ""])
def test_the_pages_of_seasons_are_shown_in_a_sandbox(menu, tmp_path, policy):
    season = tmp_path / "first"
    (season / "records").mkdir(parents=True)
    (season / "records" / "match-1.jsonl").write_text("{}\n")
    (season / "results.json").write_text('{"season": "spring", "games": {"kuhn_poker": {}}}')
    head = f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">'
    (season / "report.html").write_text(f"{head}<script>1</script>")
    app = application(House(menu), Library([tmp_path]))
    with TestClient(app, base_url="http://localhost") as client:
        found = client.get("/records").json()
        assert found["records"] == []
        assert found["seasons"] == [{"season": 0, "name": "spring", "games": ["kuhn_poker"]}]
        page = client.get("/season/0")
        assert page.text.endswith("<script>1</script>")
        sent = page.headers["content-security-policy"]
        assert "unsafe" not in sent and "frame-ancestors 'none'" in sent
        assert (sent.startswith(POLICY) and "sandbox allow-scripts" in sent) == (policy == POLICY)
        for bad in ("1", "-1", "../first", "%2e%2e"):
            assert client.get(f"/season/{bad}").status_code == 404


def test_the_page_of_a_real_season_has_a_policy_that_fits(menu, tmp_path):
    """What `manyhands arena` writes is shown with its script."""
    (tmp_path / "season.toml").write_text(
        'name = "tiny"\n[players]\nrandom = "random"\nbest = "perfect"\n'
        "[games.tic_tac_toe]\nepisodes = 1\n"
    )
    out = tmp_path / "out"
    assert main(["arena", str(tmp_path / "season.toml"), "--out", str(out)]) == 0
    _, policy = Library([out]).season_page(0)
    assert policy.endswith("sandbox allow-scripts")


def test_partners_that_play_no_game_are_refused():
    with pytest.raises(ConfigError, match="nobody"):
        offers(["tic_tac_toe"], ["nobody"])
    (only,) = offers(["tic_tac_toe rows=4 columns=4 connect=4"], ["random"])
    assert only.seats[0] == "random" and only.env.rows == 4


def test_events_in_words():
    take = {"event": "take", "agent": "chef_1", "at": [4, 1], "thing": "clean_dish"}
    assert event_words(take, "chef_0") == "chef_1: take clean dish at (4, 1)"
    assert event_words(take, "chef_1").startswith("you: take")
    won = {"event": "hand ends", "won": {"player_0": 1, "player_1": -1.0}}
    assert event_words(won, "player_0") == "hand ends won player_0 1, player_1 -1"


def test_a_slow_browser_misses_pictures_but_no_news(menu):
    env = next(offer.env for offer in menu if offer.name == "kuhn_poker")
    moments = []
    manyhands.play(env, lambda view: "bet 1", on_step=moments.append)
    shown = [seen(moment.views[0], moment) for moment in moments]
    last = shown[2].after(shown[1].after(shown[0]))
    assert [step for step, _ in last.words["news"]] == [0, 1, 2]
    assert last.words["news"][1][1] == ["you: bet 1 chips"] and last.words["step"] == 2
    assert shown[2].words["news"] == last.words["news"][2:]
    for _ in range(MOST_NEWS):
        last = shown[2].after(last)
    assert len(last.words["news"]) == MOST_NEWS


# ---- pictures ------------------------------------------------------------------------------------


def test_only_what_has_changed_is_encoded(menu):
    env = next(offer.env for offer in menu if offer.name.startswith("kitchen"))
    states = []
    manyhands.play(env, "bot", on_step=lambda moment: states.append(moment.frame.state))
    first, second, again = (Drawing(env, states[i], 0) for i in (0, 1, 1))
    boxes, data = second.since(first)
    assert len(boxes) > 1 and len(data) == sum(box[-1] for box in boxes)
    assert len(data) < len(second.whole())
    canvas, at = decoded(first.whole()), 0
    for left, top, width, height, size in boxes:
        part = decoded(data[at : at + size])
        canvas[top : top + height, left : left + width] = part
        at += size
    rendered = manyhands.render(env, states[1], 0, (640, 480))
    assert np.abs(canvas - rendered).mean() < 3  # both formats lose a little
    exact = second.pixels[..., None] >> np.array([16, 8, 0]) & 255
    assert (exact == rendered).all()
    # Surfaces are painted over, but never that of a picture that somebody has.
    for state in states[2:]:
        Drawing(env, state, 1).whole()
    exact = second.pixels[..., None] >> np.array([16, 8, 0]) & 255
    assert (exact == rendered).all()
    assert again.since(second) == ([], b"")


def decoded(data):
    return np.array(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_rectangles_cover_all_that_differs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        differs = np.zeros((90, 120), bool)
        for y, x in rng.integers(0, (90, 120), (rng.integers(0, 8), 2)):
            differs[y : y + 5, x : x + 5] = True
        left = differs.copy()
        for x, y, width, height in changed(differs):
            assert left[y : y + height, x : x + width].any() and y + height <= 90
            left[y : y + height, x : x + width] = False
        assert not left.any()


# ---- several processes ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spread(menu, tmp_path_factory):
    """(client, house, folder of records): a server whose games another process plays."""
    folder = tmp_path_factory.mktemp("spread")
    house = House(menu, patience=0.3, record=folder, processes=1)
    with TestClient(application(house, Library([])), base_url="http://localhost") as client:
        yield client, house, folder


def test_another_process_plays(spread):
    """A person plays there, is refused what is illegal, comes back, and is recorded."""
    client, house, folder = spread
    table = opened(client, "tic_tac_toe", PERSON, "random", seed=5)
    with sit(client, table) as socket:
        view = begun(socket)
        socket.send_json({"type": "answer", "words": view["choices"][0]["text"]})
        view, _, _ = until(socket, to_move)
        assert until_picture(socket)[:2] == b"\xff\xd8" and view["boxes"]  # the parts that changed
    with sit(client, table) as socket:
        view, _, _ = until(socket, to_move)
        assert view["step"] > 0
        while not view["over"]:
            socket.send_json({"type": "answer", "words": view["choices"][0]["text"]})
            view, _, _ = until(socket, lambda m: to_move(m) or over(m))
        until(socket, lambda m: m["type"] == "ended")
    (record,) = folder.glob(f"tic_tac_toe-{table['table']}-0.jsonl")
    assert verify(record) and [e.seats for e in read(record)] == [("person", "random")]
    assert list(house.tables) == [table["table"]]


def test_another_process_shows_each_its_own(spread):
    """Tokens are checked there as here, and games with secrets are not shown to others."""
    client, _, _ = spread
    asked = {"game": "kuhn_poker", "seats": [PERSON, PERSON], "spectators": True}
    table = client.post("/tables", json=asked).json()
    with sit(client, table) as first, sit(client, table, 1) as second:
        mine, _, _ = until(first, to_move)
        other, _, _ = until(second, lambda m: m["type"] == "view")
        assert card(mine["text"]) != card(other["text"])
        assert [one["table"] for one in client.get("/live").json()["live"]] == [table["table"]]
        with connected(client, f"/play?table={table['table']}&seat={table['watch']}") as looker:
            veiled, told, pictures = until(looker, lambda m: m["type"] == "veiled")
            assert not pictures and "text" not in veiled and told[0]["agent"] is None
        path = f"/play?table={table['table']}&seat={'x' * 22}"
        with connected(client, path) as stranger, pytest.raises(WebSocketDisconnect):
            assert stranger.receive_json()["type"] == "failed"
            stranger.receive_json()
    asked = {"game": "kuhn_poker", "seats": [PERSON]}
    answer = client.post("/tables", json=asked)
    assert answer.status_code == 400 and "2 seats" in answer.json()["error"]


def test_others_are_started_when_there_are_many_tables(menu):
    house = House(menu, processes=1, alone=1)
    with TestClient(application(house, Library([])), base_url="http://localhost") as client:
        first = opened(client, "tic_tac_toe", PERSON, "random")
        assert house.processes == []
        second = opened(client, "tic_tac_toe", PERSON, "random")
        assert len(house.processes) == 1 and list(house.tables) == [
            first["table"],
            second["table"],
        ]
        with sit(client, first) as here, sit(client, second) as there:
            until(here, to_move)
            until(there, to_move)
        house.tables[second["table"]].close()
        deadline = time.monotonic() + 20
        while len(house.tables) > 1 and time.monotonic() < deadline:
            time.sleep(0.05)
            house.sweep()
        assert list(house.tables) == [first["table"]]


def test_a_process_that_is_killed_takes_its_games_only(menu):
    """Its tables fail, with a reason, and the next table is played by a new one."""
    house = House(menu, processes=1)
    with TestClient(application(house, Library([])), base_url="http://localhost") as client:
        table = opened(client, "tic_tac_toe", PERSON, "random")
        with sit(client, table) as socket:
            until(socket, to_move)
            os.kill(house.processes[0], signal.SIGKILL)
            message = socket.receive()
            while "failed" not in message.get("text", ""):
                message = socket.receive()
            assert "ended" in json.loads(message["text"])["reason"]
        again = opened(client, "tic_tac_toe", PERSON, "random")
        with sit(client, again) as socket:
            until(socket, to_move)
        assert list(house.tables) == [again["table"]]
        (process,) = house.processes
    deadline = time.monotonic() + 20
    while os.path.exists(f"/proc/{process}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{process}")
