"""A seat as an MCP server, through the real client: in one process, and over pipes."""

import asyncio
import json
import subprocess
import sys

import mcp
from measure import legal, overhead, pick

import manyhands
from manyhands.integrations.mcp import server


async def call(client, tool, **arguments):
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    return found.content[0].text if found.content else ""


async def act(client, words):
    return json.loads(await call(client, "act", action=words))


def with_client(target, work):
    async def main():
        async with mcp.Client(target) as client:
            return await work(client)

    return asyncio.run(main())


def test_a_game_in_tools():
    ended = []

    async def work(client):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"rules", "look", "choices", "act", "new_game"}
        assert "KUHN" in await call(client, "rules")
        first = await call(client, "look")
        own = manyhands.text_seat("kuhn_poker", partners="random")
        assert first == own.reset(4)  # the seed reaches the game
        assert len((await client.call_tool("choices", {})).structured_content["result"]) == 2

        refused = await act(client, "purple elephants")
        assert refused["status"] == "illegal" and not refused["done"]
        assert "purple" in refused["text"]
        text, done = refused["text"], False
        while not done:
            word = pick(text)
            found, mine = await act(client, word), own.act(word)
            text, done = found["text"], found["done"]
            assert (found["reward"], done) == (mine[1], mine[2])
        assert (await act(client, "check"))["status"] == "over"
        assert len(ended) == 1 and ended[0]["return"] == own.total and ended[0]["illegal"] == 1

        assert await call(client, "new_game", seed=4) == first
        for _ in range(3):
            found = await act(client, "purple elephants")
        assert found["done"] and found["status"] == "forfeit" and found["return"] == -1
        await call(client, "new_game", seed=5)
        wrong = await client.call_tool("new_game", {"seed": -1})  # ends no game, and says why
        assert wrong.is_error and "from 0, given -1" in wrong.content[0].text
        assert len(ended) == 2
        await call(client, "new_game", seed=6)  # one that is left counts as forfeited
        assert [totals["forfeited"] for totals in ended] == [False, True, True]

    app = server("kuhn_poker", partners="random", seed=4, on_end=ended.append)
    with_client(app, work)


def test_words_are_heard():
    heard = []

    def partner(view):
        heard.extend(message.text for message in view.messages)
        return "check" if view.legal[0] else "fold"

    async def work(client):
        await call(client, "say", message="good luck to you")
        done = (await act(client, "check"))["done"]
        while not done:
            done = (await act(client, "fold"))["done"]
        assert "over" in await call(client, "say", message="well played")

    chatty = manyhands.make("chat", env=manyhands.make("kuhn_poker"))
    with_client(server(chatty, partners=partner, seed=0), work)
    assert "good luck to you" in heard


def test_servers_do_not_disturb_each_other():
    async def play(client, seed):
        await call(client, "new_game", seed=seed)
        found = {"done": False}
        while not found["done"]:
            found = await act(client, (await legal_now(client))[0])
        return found["return"]

    async def legal_now(client):
        return legal(await call(client, "look"))

    async def both():
        one, two = (server("kuhn_poker", partners="random") for _ in range(2))
        async with mcp.Client(one) as a, mcp.Client(two) as b:
            together = await asyncio.gather(play(a, 1), play(b, 2))
            return together, [await play(a, 1), await play(a, 2)]

    together, alone = asyncio.run(both())
    assert together == alone


def test_the_command_over_pipes():
    words = ["-m", "manyhands", "mcp", "kuhn_poker", "--partners", "random", "--seed", "3"]
    command = mcp.StdioServerParameters(command=sys.executable, args=words)

    async def work(client):
        text = await call(client, "look")
        assert text == manyhands.text_seat("kuhn_poker", partners="random").reset(3)
        await act(client, pick(text))
        with overhead("MCP over pipes, Kuhn poker") as count:
            for k in range(40):
                text, done = await call(client, "new_game", seed=k), False
                while not done:
                    found = await act(client, pick(text))
                    text, done = found["text"], found["done"]
                    count.n += 1

    with_client(mcp.stdio_client(command), work)


def test_a_game_that_is_left_over_pipes_is_reported():
    words = [sys.executable, "-m", "manyhands", "mcp", "kuhn_poker", "--seed", "3"]
    left = subprocess.run(words, input="", capture_output=True, text=True, check=True)
    totals = json.loads(left.stderr.strip().splitlines()[-1])
    assert totals["forfeited"] and totals["seed"] == 3


def test_overhead_in_one_process():
    async def work(client):
        await act(client, "check")
        with overhead("MCP in one process, Kuhn poker") as count:
            for k in range(40):
                text, done = await call(client, "new_game", seed=k), False
                while not done:
                    found = await act(client, pick(text))
                    text, done = found["text"], found["done"]
                    count.n += 1

    with_client(server("kuhn_poker", partners="random", seed=0), work)
