"""verifiers v1, with a model behind a loopback endpoint that answers with a legal action."""

import asyncio
import itertools
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from measure import legal, overhead
from verifiers.v1.clients import EvalClientConfig, ModelContext

import manyhands
from manyhands.core.episode import episode_seed
from manyhands.integrations.verifiers import (
    ID,
    PairEnv,
    PairEnvConfig,
    SeatEnv,
    SeatEnvConfig,
)

TASKSET = {"id": ID, "game": "kuhn_poker"}


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[str]] = []
    words = ""

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = asked["messages"][-1]["content"]
        if not isinstance(text, str):
            text = " ".join(part.get("text", "") for part in text)
        self.seen.append(text)
        words = self.words or f"ACTION: {legal(text)[0]}"
        message = {"role": "assistant", "content": words}
        answer = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "mock",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
        }
        kind = "application/json"
        body = json.dumps(answer)
        if asked.get("stream"):
            kind = "text/event-stream"
            base = {**answer, "object": "chat.completion.chunk"}
            parts = [
                {
                    **base,
                    "usage": None,
                    "choices": [{"index": 0, "delta": message, "finish_reason": None}],
                },
                {
                    **base,
                    "usage": None,
                    "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                },
                {**base, "choices": []},
            ]
            body = "".join(f"data: {json.dumps(p)}\n\n" for p in parts) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.fixture(scope="module")
def context():
    os.environ["OPENAI_API_KEY"] = "any"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    client = EvalClientConfig(base_url=url, api_key_var="OPENAI_API_KEY")
    yield ModelContext(model="mock", client=client)
    server.shutdown()


def episodes(env, context, count):
    async def main():
        async with env.serving():
            tasks = itertools.islice(env.taskset, count)
            return await asyncio.gather(*(env.run_episode(task, context) for task in tasks))

    found = asyncio.run(main())
    for episode in found:
        assert episode.ok, [str(error) for trace in episode.traces for error in trace.errors]
    return found


def test_one_seat(context):
    Endpoint.words = ""
    Endpoint.seen.clear()
    env = SeatEnv(SeatEnvConfig(taskset={**TASKSET, "partners": "random", "member": 0}))
    with overhead("verifiers, two episodes of Kuhn poker at once") as count:
        found = episodes(env, context, 2)
        count.n = len(Endpoint.seen)
    own = manyhands.text_seat("kuhn_poker", 0, "random")
    for e, episode in enumerate(found):
        text = own.reset(episode_seed(0, e))
        assert text in Endpoint.seen  # the seed reaches the game
        while not own.done:
            text, *_ = own.act(legal(text)[0])
        assert episode.traces[0].rewards["return"].score == own.total


def test_refused_answers(context):
    Endpoint.words = "purple elephants"
    options = {"retries": 1}
    env = SeatEnv(SeatEnvConfig(taskset={**TASKSET, "partners": "random", "options": options}))
    (episode,) = episodes(env, context, 1)
    totals = episode.traces[0].info
    assert totals["forfeited"] and totals["illegal"] == 2 and totals["return"] == -1
    Endpoint.words = ""


def test_a_seat_an_agent(context):
    (episode,) = episodes(PairEnv(PairEnvConfig(taskset=TASKSET)), context, 1)
    first, second = episode.traces
    assert first.info["return"] == -second.info["return"] != 0
