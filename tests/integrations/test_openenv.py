"""OpenEnv: its server on loopback, and its client."""

import contextlib
import socket
import threading
import time

import pytest
import uvicorn
from measure import overhead, pick
from openenv.core.generic_client import GenericEnvClient

import manyhands
from manyhands.core.env import ConfigError
from manyhands.integrations import openenv


@contextlib.contextmanager
def served(app):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield lambda: GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync()
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def client_of():
    with served(openenv.app("kuhn_poker", partners="random")) as made:
        yield made


def test_a_session_is_a_seat(client_of):
    own = manyhands.text_seat("kuhn_poker", partners="random")
    with client_of() as client:
        found = client.reset(seed=3)
        assert found.observation["text"] == own.reset(3) and "KUHN" in found.observation["rules"]
        found = client.step({"action": "purple elephants"})
        assert found.observation["status"] == "illegal" and not found.done
        while not found.done:
            words = pick(found.observation["text"])
            found, (text, reward, done, _) = client.step({"action": words}), own.act(words)
            assert (found.observation["text"], found.reward, found.done) == (text, reward, done)
        assert found.observation["info"]["return"] == own.total
        assert found.observation["info"]["illegal"] == 1
        assert found.observation["legal"] == []


def test_groups_share_a_start(client_of):
    with client_of() as client:
        texts, after = set(), set()
        for member in range(8):
            texts.add(client.reset(seed=7, member=member).observation["text"])
            after.add(client.step({"action": "check"}).observation["text"])
    assert len(texts) == 1 and len(after) > 1


def test_several_sessions(client_of):
    with client_of() as a, client_of() as b:
        first = [client.reset(seed=seed).observation["text"] for client, seed in ((a, 1), (b, 2))]
        a.step({"action": "check"})
        assert b.step({"action": "juggle"}).observation["status"] == "illegal"
        assert a.state()["step_count"] == 1 and a.state()["agent"] == "player_0"
        again = [client.reset(seed=seed).observation["text"] for client, seed in ((a, 1), (b, 2))]
    assert first == again


def test_a_table_of_two_sessions():
    table = openenv.Table("tic_tac_toe", seed=1)
    with served(table.app()) as client_of, client_of() as a, client_of() as b:
        with pytest.raises(Exception, match="token"):
            a.reset(token="wrong")
        clients = dict(zip(table.tokens, (a, b), strict=True))
        with contextlib.ExitStack():
            found = {
                name: client.reset(token=table.tokens[name]) for name, client in clients.items()
            }
        assert [bool(sight.observation["legal"]) for sight in found.values()] == [True, False]
        late = clients["player_1"].step({"action": "a1"})
        assert late.observation["status"] == "waiting"
        total, turn = dict.fromkeys(clients, 0.0), 0
        while not all(sight.done for sight in found.values()):
            for name, client in clients.items():
                found[name] = client.step({"action": ""})
                total[name] += found[name].reward
                if found[name].observation["legal"]:
                    words = found[name].observation["legal"][0]
                    found[name] = client.step({"action": words})
                    assert found[name].observation["status"] == "ok"
                    total[name] += found[name].reward
                    turn += 1
        assert turn > 4 and total == {"player_0": 1.0, "player_1": -1.0}
    with pytest.raises(ConfigError, match="token"):
        table.seat("")


def test_overhead(client_of):
    own = manyhands.text_seat("kuhn_poker", partners="random")
    with client_of() as client:
        client.reset(seed=0), client.step({"action": "check"})
        with overhead("OpenEnv over a websocket, Kuhn poker") as count:
            for seed in range(100):
                found = client.reset(seed=seed)
                while not found.done:
                    found = client.step({"action": pick(found.observation["text"])})
                    count.n += 1
    with overhead("text_seat in process, Kuhn poker") as count:
        for seed in range(300):
            text = own.reset(seed)
            while not own.done:
                text, *_ = own.act(pick(text))
                count.n += 1
