"""Studies: the file, the design, what is gathered, and the way of participants."""

from __future__ import annotations

import asyncio
import csv
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest
import websockets
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import manyhands
from manyhands.cli import main
from manyhands.core.env import ConfigError
from manyhands.core.record import verify
from manyhands.web.house import House
from manyhands.web.ledger import HOLD, Ledger, StudyError
from manyhands.web.replays import Library
from manyhands.web.room import Room
from manyhands.web.server import application
from manyhands.web.study import KEYS, latin_square, read_study

ROOT = Path(manyhands.__file__).parents[1]
SMALL = """
name = "small"
title = "A small study"
consent = "Do you take part?"
instructions = "Three in a row."
thanks = "Thank you."
wait = 5.0

[partners]
best = "perfect"
stranger = { pool = ["random", "solver:depth=2"], held_out = true }

[games.warm_up]
id = "tic_tac_toe"
practice = true
agent = "player_0"

[games.board]
id = "tic_tac_toe"

[[questions]]
name = "row"
when = "before"
kind = "choice"
text = "How many in a row?"
options = ["two", "three"]
correct = "three"

[[questions]]
name = "fair"
when = "after_game"
kind = "scale"
text = "It was fair."

[[questions]]
name = "said"
text = "What else?"
"""


@pytest.fixture(autouse=True)
def in_time():
    """A message that never comes ends the test, not the run."""

    def late(*_):
        raise TimeoutError("nothing came from the server")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(240)
    yield
    signal.alarm(0)


def written(tmp_path, text=SMALL):
    path = tmp_path / "study.toml"
    path.write_text(text)
    return path


class Server:
    """A study and a client of it; `again` begins anew with what is on the disk, as after a kill."""

    def __init__(self, path, folder, clock=lambda: 1e9, processes=0):
        self.study, self.folder, self.clock = read_study(path), folder, clock
        self.processes = processes
        self.again()

    def again(self):
        self.house = House([], processes=self.processes)
        self.ledger = Ledger(self.study, self.folder)
        self.room = Room(self.study, self.ledger, self.house, lambda: self.clock())
        app = application(self.house, Library([]), study=self.room)
        self.client = TestClient(app, base_url="http://localhost")

    def post(self, status=200, **body):
        answer = self.client.post("/study", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def enter(self):
        return self.post()["participant"]

    def page(self, who):
        return self.post(participant=who)

    def turn(self, who, page, status=200, **answers):
        return self.post(status, participant=who, stage=page["stage"], answers=answers)

    def sit(self, page):
        path = f"/play?table={page['table']}&seat={page['seat']}"
        return self.client.websocket_connect(f"ws://localhost{path}")

    def play(self, page):
        """Play a game to its end with the first choices; gives all that was told."""
        with self.sit(page) as socket:
            return answer_all(socket)


def answer_all(socket):
    heard = []
    while True:
        message = socket.receive()
        if message.get("bytes") is not None:
            continue
        heard.append(message["text"])
        told = json.loads(message["text"])
        assert told["type"] != "failed", told
        if told["type"] == "ended":
            return heard
        if told["type"] == "view" and told["to_move"]:
            socket.send_json({"type": "answer", "words": told["choices"][0]["text"]})


@pytest.fixture
def server(tmp_path):
    return Server(written(tmp_path), tmp_path / "out")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


# ---- the design ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(1, 8))
def test_latin_squares_are_balanced(n):
    square = latin_square(n)
    for place in range(n):
        assert len(set(Counter(row[place] for row in square).values())) == 1
        assert {row[place] for row in square} == set(range(n))
    after = Counter(pair for row in square for pair in itertools.pairwise(row))
    assert len(after) == n * (n - 1) and len(set(after.values())) <= 1


def test_participants_fill_the_design(tmp_path):
    study = read_study(written(tmp_path))
    ledger = Ledger(study, tmp_path / "out")
    orders, agents, met = Counter(), Counter(), Counter()
    for _ in range(8):
        someone = ledger.participant(ledger.enter(1e9))
        games = [stage for stage in someone.stages if stage.kind == "game"]
        # The stranger is held out: it is not met in practice.
        assert [(games[0].game, games[0].partner)] == [("warm_up", "best")]
        assert games[0].agent == "player_0"
        orders[tuple(stage.partner for stage in games[1:])] += 1
        agents.update(stage.agent for stage in games[1:])
        met.update(stage.turn % 2 for stage in games[1:] if stage.partner == "stranger")
    assert set(orders.values()) == {4} and len(orders) == 2
    assert set(agents.values()) == {8} and len(agents) == 2
    assert set(met.values()) == {4}


def test_places_of_those_who_leave_are_given_again(tmp_path):
    study = read_study(
        written(tmp_path, SMALL.replace('title = "A', 'participants = 2\ntitle = "A'))
    )
    ledger = Ledger(study, tmp_path / "out")
    first, second = (ledger.participant(ledger.enter(1e9)) for _ in range(2))
    assert (first.row, second.row) == (0, 1) and ledger.enter(1e9) is None
    token = ledger.enter(1e9 + HOLD + 1)
    assert ledger.participant(token).row == 0


def test_between_participants(tmp_path):
    study = read_study(written(tmp_path, 'between = "partners"\n' + SMALL))
    assert study.groups == {"best": [("board", "best")], "stranger": [("board", "stranger")]}
    ledger = Ledger(study, tmp_path / "out")
    groups = [ledger.participant(ledger.enter(1e9)).group for _ in range(4)]
    assert groups == ["best", "stranger", "best", "stranger"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[games.board]", "[games.board]\nclok = 1", 'did you mean "clock"'),
        ('title = "', 'titel = "', 'did you mean "title"'),
        ('id = "tic_tac_toe"', 'id = "tic_tac_to"', 'did you mean "tic_tac_toe"'),
        ('best = "perfect"', 'best = "perfekt"', 'did you mean "perfect"'),
        ('"solver:depth=2"', '"solver:deph=2"', 'did you mean "depth"'),
        ("practice = true", 'practice = true\npartners = ["bst"]', 'did you mean "best"'),
        ("practice = true", 'practice = true\npartners = ["stranger"]', "held out"),
        ('agent = "player_0"', 'agent = "plyer_0"', 'did you mean "player_0"'),
        ('when = "after_game"', 'when = "after_gam"', 'did you mean "after_game"'),
        ('kind = "scale"', 'kind = "scal"', 'did you mean "scale"'),
        ('kind = "scale"', 'kind = "scale"\noptions = ["a", "b"]', "options is for a choice"),
        ('correct = "three"', 'correct = "four"', "'four'"),
        ('name = "said"', 'name = "row"', "two questions"),
        ('name = "small"', 'order = "lattin"', 'did you mean "latin"'),
        ('name = "small"', 'name = "../small"', "'../small'"),
        ('name = "small"', 'link = "javascript:alert(1)"', "https://"),
        ('name = "small"', 'leaver = "bots"', 'did you mean "bot"'),
        ("wait = 5.0", "wait = -1", "-1"),
        ("[partners]", "[partners", "no TOML"),
        ('[games.board]\nid = "tic_tac_toe"', "", "at least one game"),
    ],
)
def test_mistakes_in_the_file_are_named(tmp_path, old, new, told):
    assert old in SMALL
    with pytest.raises(ConfigError) as error:
        read_study(written(tmp_path, SMALL.replace(old, new)))
    assert told in str(error.value)


def test_the_example_is_a_study():
    study = read_study(ROOT / "examples" / "study.toml")
    assert study.rows("all") == 4 and study.partners["strangers"].held_out


@pytest.mark.parametrize("table", KEYS)
def test_every_key_is_documented(table):
    page = (ROOT / "docs" / "web.md").read_text()
    listed = set()
    for line in page.partition(f"<!-- {table} -->")[2].partition("\n\n")[0].splitlines()[3:]:
        listed |= set(re.findall(r"`(\w+)`", line.split("|")[1]))
    assert listed == set(KEYS[table])


def test_who_a_recruiting_site_sends_has_its_id(tmp_path):
    """Ids are checked, lead back to where a person was, and are nowhere in what is kept."""
    path = written(tmp_path, SMALL.replace("wait = 5.0", 'wait = 5.0\nexternal = "PROLIFIC_PID"'))
    server = Server(path, tmp_path / "kept")
    assert server.client.get("/games").json()["study"]["external"] == "PROLIFIC_PID"
    for wrong in (None, "", "a" * 65, "5e<b>", "../x", "a b", ["5e9"], 7, True):
        assert "PROLIFIC_PID" in server.post(400, external=wrong)["error"]
    person = "5e9d2a7b0c1f4e"
    who = server.post(external=person)["participant"]
    server.turn(who, server.page(who), consent=True)
    server.again()
    assert server.post(external=person)["participant"] == who
    assert server.page(who)["kind"] == "instructions"
    assert server.post(external=person + "0")["participant"] != who
    server.room.close()
    server.ledger.close()
    kept = [file.read_bytes() for file in server.folder.rglob("*") if file.is_file()]
    assert len(kept) >= 4 and not any(person.encode() in data for data in kept)
    with pytest.raises(ConfigError, match="token"):
        read_study(written(tmp_path, SMALL.replace("wait = 5.0", 'external = "token"')))


def test_who_does_not_consent_is_forgotten_with_their_id(tmp_path):
    server = Server(written(tmp_path, f'external = "who"\n{SMALL}'), tmp_path / "kept")
    first = server.post(external="abc")["participant"]
    assert server.turn(first, server.page(first), consent=False)["kind"] == "refused"
    second = server.post(external="abc")["participant"]
    assert second != first and server.page(second)["kind"] == "consent"


# ---- a participant's way -------------------------------------------------------------------------


def test_a_study_from_consent_to_code(server):
    who = server.enter()
    page = server.page(who)
    assert page["kind"] == "consent" and page["stages"] == 10
    page = server.turn(who, page, consent=True)
    assert page["text"] == "Three in a row."
    page = server.turn(who, page)
    assert page["kind"] == "questions" and "correct" not in json.dumps(page)
    assert "Please read" in server.turn(who, page, 400, row="two")["error"]
    assert "please answer" in server.turn(who, page, 400)["error"]
    assert "'four'" in server.turn(who, page, 400, row="four")["error"]
    assert "no question" in server.turn(who, page, 400, row="three", other="x")["error"]
    page = server.turn(who, page, row="three")
    for trial in (1, 2, 3):
        assert page["kind"] == "game" and page["trial"] == trial
        # The first is practice, and is not counted.
        assert (page["practice"], page["number"], page["numbers"]) == (trial == 1, trial - 1, 2)
        assert server.turn(who, page)["stage"] == page["stage"]  # it is not over
        # Participants are not told who or what they play with.
        heard = " ".join([json.dumps(page), *server.play(page)])
        assert not re.search("perfect|best|stranger|solver|random|person", heard)
        assert server.page(who)["over"]
        page = server.turn(who, page)
        if trial > 1:
            assert page["questions"][0]["name"] == "fair"
            assert "8" in server.turn(who, page, 400, fair=8)["error"]
            page = server.turn(who, page, fair=6)
    page = server.turn(who, page, said="=1+1")
    assert page["kind"] == "end" and page["text"] == "Thank you." and len(page["code"]) == 8
    assert server.turn(who, page)["code"] == server.page(who)["code"] == page["code"]

    (person,) = rows((server.folder / "participants.csv").read_text())
    assert person["code"] == page["code"] and person["finished"] and who not in person.values()
    games = rows((server.folder / "games.csv").read_text())
    assert [game["practice"] for game in games] == ["1", "0", "0"]
    assert {game["participant"] for game in games} == {person["id"]}
    for game in games:
        assert game["state"] == "done" and verify(server.folder / game["record"])
        assert json.loads(game["seats"])[game["agent"]] == "person"
        assert float(game["reward"]) == json.loads(game["rewards"])[game["agent"]]
    answers = rows((server.folder / "answers.csv").read_text())
    assert [(a["trial"], a["question"], a["value"]) for a in answers] == [
        ("0", "row", "three"),
        ("2", "fair", "6"),
        ("3", "fair", "6"),
        ("0", "said", "'=1+1"),  # which no spreadsheet computes
    ]


def test_who_does_not_consent_is_forgotten(server):
    who = server.enter()
    page = server.page(who)
    assert server.turn(who, page, consent=False)["kind"] == "refused"
    assert "no such participant" in server.post(400, participant=who)["error"]
    assert rows(server.ledger.tables()["participants.csv"]) == []


def test_nothing_is_lost_where_a_server_ends(server):
    who = server.enter()
    page = server.turn(who, server.page(who), consent=True)
    page = server.turn(who, server.turn(who, page), row="three")
    server.play(page)
    server.again()  # the game is over, and the page was not left
    assert server.page(who)["over"]
    page = server.turn(who, page)
    with server.sit(page) as socket:
        assert socket.receive_json()["type"] == "welcome"
        server.again()  # in the middle of the next
    page = server.page(who)
    assert page["trial"] == 2 and not page["over"]
    server.play(page)
    page = server.turn(who, page)
    assert page["kind"] == "questions"
    server.again()
    assert server.page(who) == page
    games = rows(server.ledger.tables()["games.csv"])
    assert [(g["trial"], g["attempt"], g["state"]) for g in games] == [
        ("1", "0", "done"),
        ("2", "0", "lost"),
        ("2", "1", "done"),
    ]
    assert rows(server.ledger.tables()["answers.csv"])[0]["value"] == "three"


def test_a_record_that_was_finished_counts_after_a_kill(server):
    """Between the end of a record and the note of it, too."""
    who = server.enter()
    page = server.turn(who, server.page(who), consent=True)
    page = server.turn(who, server.turn(who, page), row="three")
    server.ledger.done = lambda *_: None  # the server is killed here
    server.play(page)
    server.again()
    assert server.page(who)["over"]


def test_a_reload_and_a_second_tab_keep_the_seat(server):
    who = server.enter()
    page = server.turn(who, server.page(who), consent=True)
    old = page
    page = server.turn(who, server.turn(who, page), row="three")
    assert server.page(who) == page == server.turn(who, old)  # nothing is skipped
    with server.sit(page) as socket:
        socket.receive_json()
    assert server.page(who)["seat"] == page["seat"]
    server.play(page)


def test_two_participants_are_brought_together(tmp_path):
    text = SMALL.replace('best = "perfect"', 'best = { seat = "person", otherwise = "random" }')
    text = text.replace("practice = true", 'practice = true\npartners = ["best"]')
    time = [1e9]
    server = Server(written(tmp_path, text), tmp_path / "out", lambda: time[0])
    people = []
    for _ in range(2):
        who = server.enter()
        page = server.turn(who, server.page(who), consent=True)
        people.append((who, server.turn(who, server.turn(who, page), row="three")))
    (first, waits), (_, page) = people
    assert waits["kind"] == "wait" and waits["seconds"] == 5
    waits = server.page(first)
    assert page["table"] == waits["table"] and page["seat"] != waits["seat"]
    with server.sit(page) as one, server.sit(waits) as other:
        told = [one.receive_json(), other.receive_json()]
        assert {message["agent"] for message in told} == {"player_0", "player_1"}
    # Nobody else comes for a third: after the time to wait its stand-in plays.
    third = server.enter()
    page = server.turn(third, server.page(third), consent=True)
    page = server.turn(third, server.turn(third, page), row="three")
    assert page["kind"] == "wait"
    for _ in range(3):
        time[0] += 2.0
        page = server.page(third)
    server.play(page)
    games = rows(server.ledger.tables()["games.csv"])
    seats = [json.loads(game["seats"]) for game in games]
    assert [list(one.values()).count("person") for one in seats] == [2, 2, 1]
    assert games[0]["record"] == games[1]["record"] != games[2]["record"]


def test_another_process_plays_the_games_of_a_study(tmp_path):
    server = Server(written(tmp_path), tmp_path / "out", processes=1)
    who = server.enter()
    page = server.turn(who, server.page(who), consent=True)
    page = server.turn(who, server.turn(who, page), row="three")
    server.play(page)
    (here,) = server.house.processes
    assert server.page(who)["over"]
    page = server.turn(who, page)
    table = page["table"]
    os.kill(here, signal.SIGKILL)  # with the game that is there, which is played again
    deadline = time.monotonic() + 20
    while page["table"] == table and time.monotonic() < deadline:
        time.sleep(0.05)
        page = server.page(who)
    server.play(page)
    assert server.page(who)["over"] and here not in server.house.processes
    games = rows(server.ledger.tables()["games.csv"])
    assert sorted(game["state"] for game in games) == ["done", "done", "lost"]
    for game in games:
        assert game["state"] == "lost" or verify(server.folder / game["record"])
    server.house.close()


def test_a_study_offers_nothing_else(server):
    client = server.client
    about = {"title": "A small study", "name": "small", "external": ""}
    assert client.get("/games").json() == {"study": about}
    for path in ("/records", "/live", "/season/0"):
        assert client.get(path).status_code == 404
    asked = {"game": "tic_tac_toe", "seats": ["person", "random"]}
    assert client.post("/tables", json=asked).status_code == 404
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("ws://localhost/replay"):
        pass
    headers = {"origin": "http://evil.example"}
    assert client.post("/study", json={}, headers=headers).status_code == 403
    assert client.post("/study", content="{}").status_code == 415
    for bad in ([1], {"participant": 1}, {"participant": "x", "answers": {}}):
        assert client.post("/study", json=bad).status_code in (200, 400)
    assert "no such participant" in server.post(400, participant="../x")["error"]
    who = server.enter()
    page = server.page(who)
    for answers in ([], "x", None, {"consent": "yes"}, {"consent": 1}):
        other = server.enter()
        found = server.post(participant=other, stage=page["stage"], answers=answers)
        assert found["kind"] == "refused"


def test_a_study_of_another_file_is_not_continued(tmp_path):
    Ledger(read_study(written(tmp_path)), tmp_path / "out")
    with pytest.raises(StudyError, match="another study"):
        Ledger(read_study(written(tmp_path, SMALL + "\n# more")), tmp_path / "out")
    with pytest.raises(StudyError, match="no study yet"):
        Ledger(read_study(written(tmp_path)), tmp_path / "absent", read_only=True)


# ---- the command ---------------------------------------------------------------------------------


def test_options_that_do_not_belong_together(tmp_path, capsys):
    path = str(written(tmp_path))
    for words in (
        ["kuhn_poker", "--study", path],
        ["--export"],
        ["--study", path, "--record", "x"],
    ):
        assert main(["serve", *words]) == 2
        assert "study" in capsys.readouterr().err


def test_a_killed_server_goes_on(tmp_path, capsys):
    """The command itself, killed without a warning in the middle of a game."""
    path, out = written(tmp_path), tmp_path / "out"
    command = [sys.executable, "-m", "manyhands", "serve", "--study", str(path), "--out", str(out)]

    def begin(port):
        server = subprocess.Popen(
            [*command, "--port", str(port)], stdout=subprocess.PIPE, text=True, env=os.environ
        )
        return server, server.stdout.readline().strip()

    async def play(address, page):
        url = f"{address}play?table={page['table']}&seat={page['seat']}"
        async with websockets.connect(url.replace("http", "ws")) as socket:
            async for message in socket:
                told = json.loads(message) if isinstance(message, str) else {"type": "picture"}
                if told["type"] == "ended":
                    return
                if told["type"] == "view" and told["to_move"]:
                    said = {"type": "answer", "words": told["choices"][0]["text"]}
                    await socket.send(json.dumps(said))

    server, address = begin(0)
    try:
        with httpx.Client(base_url=address) as client:

            def post(**body):
                return client.post("study", json=body).raise_for_status().json()

            who = post()["participant"]
            page = post(participant=who)
            for answers in ({"consent": True}, {}, {"row": "three"}):
                page = post(participant=who, stage=page["stage"], answers=answers)
            asyncio.run(play(address, page))
            page = post(participant=who, stage=page["stage"], answers={})
            assert page["trial"] == 2
            server.kill()
            server.wait()
            server, address = begin(httpx.URL(address).port)
            page = post(participant=who)
            assert page["trial"] == 2 and not page["over"]
            asyncio.run(play(address, page))
            page = post(participant=who, stage=page["stage"], answers={})
            assert page["questions"]
        assert main(["serve", "--study", str(path), "--out", str(out), "--export"]) == 0
        assert "games.csv" in capsys.readouterr().out
        games = rows((out / "games.csv").read_text())
        assert [game["state"] for game in games] == ["done", "lost", "done"]
        assert all(verify(out / games[i]["record"]) for i in (0, 2))
    finally:
        server.kill()
        server.wait()
