"""Language seats in many episodes at once, beside plain clients that send the same requests.

    python benchmarks/language.py --against COMMIT

A server on loopback, in a process of its own, answers each request after 200 ms, with the example
that ends the prompt. `play` runs 256 episodes at once with language seats; then plain clients send
the bodies that the server got, 256 at once: one httpx client with one pool (`client`), and one
aiohttp session, which takes less time (language seats use aiohttp, too). This checkout, the other
commit and the clients take turns, one at a time. Reported: decisions a second, and user CPU time of
the process for each; what `play` takes above the aiohttp session is our own cost. Each run says how
many cores other processes used meanwhile (`others`): on a busy machine, wall times say little.

The first commits need the package `openai`; packages on PYTHONPATH are found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, Worker, is_worker, machine, report, save, serve

# Environment, steps of an episode (None: to its end), and which agents are language seats.
LOADS: dict[str, dict[str, Any]] = {
    "kitchen, 2 steps": {"id": "kitchen", "steps": 2, "agents": 1},
    "kitchen, 10 steps": {"id": "kitchen", "steps": 10, "agents": 1},
    "kuhn_poker, both seats": {"id": "kuhn_poker", "steps": None, "agents": 2},
    "tic_tac_toe, both seats": {"id": "tic_tac_toe", "steps": None, "agents": 2},
}


HEADERS = {"content-type": "application/json", "authorization": "Bearer none"}
CLIENTS = ("client", "aiohttp")


# ---- the server ----------------------------------------------------------------------------------


async def endpoint(latency: float) -> None:
    """An endpoint that takes `latency` seconds; prints its port. `/kept` gives the bodies since
    `/keep`, `/cpu` its own CPU time in seconds."""
    from aiohttp import web

    kept: list[str] | None = None

    async def answer(request: web.BaseRequest) -> web.Response:
        nonlocal kept
        body = await request.read()
        if request.path == "/cpu":
            return web.Response(text=json.dumps(time.process_time()))
        if request.path == "/keep":
            kept = []
        if request.path in ("/keep", "/kept"):
            bodies, kept = kept, kept if request.path == "/keep" else None
            return web.Response(text=json.dumps(bodies))
        if kept is not None:
            kept.append(body.decode())
        await asyncio.sleep(latency)
        # The last line of the prompt, as JSON text; what stands before it need not be parsed.
        words = body[body.rindex(b"ACTION: ") :].partition(b'"')[0]
        if b"<" in words:  # the first prompts had choices, but no example
            words = b"ACTION: " + body.rpartition(b"\\n- ")[2].partition(b"\\n")[0]
        return web.Response(
            body=b'{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",'
            b'"content":"Let me think.\\n%b"}}],'
            b'"usage":{"prompt_tokens":500,"completion_tokens":9}}' % words,
            content_type="application/json",
        )

    runner = web.ServerRunner(web.Server(answer, access_log=None))  # type: ignore[arg-type]
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


# ---- what is measured: the worker ----------------------------------------------------------------


def worker() -> None:
    """Uses nothing of the package that an earlier commit may lack or call otherwise."""
    import manyhands

    def measured(url: str, call: Callable[[], int]) -> dict[str, Any]:
        spent, user, wall = elsewhere(url), user_time(), time.perf_counter()
        decisions = call()
        wall, user = time.perf_counter() - wall, user_time() - user
        others = (elsewhere(url) - spent) / wall
        return {"wall": wall, "cpu": user, "others": round(others, 2), "decisions": decisions}

    def user_time() -> float:
        return os.times().user

    def elsewhere(url: str) -> float:
        """Seconds of CPU that all but this process and the server have used, where it is known."""
        try:
            busy = sum(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:4]))
        except (OSError, ValueError):
            return 0.0
        return busy / os.sysconf("SC_CLK_TCK") - time.process_time() - control(f"{url}/cpu")

    def play(url: str, load: dict[str, Any], episodes: int) -> dict[str, Any]:
        env = manyhands.make(load["id"])
        model = manyhands.seat("language", env, model="m", base_url=f"{url}/v1", api_key="none")
        seats = [model] * load["agents"] + [lambda view: env.noop] * (
            env.num_agents - load["agents"]
        )

        def run() -> int:
            made = manyhands.play(
                env,
                seats,
                episodes,
                max_steps=load["steps"],
                concurrency=episodes,
                on_illegal="raise",
            )
            return int(sum(episode.steps for episode in made.episodes))

        return measured(url, run)

    def over_httpx(url: str, own: list[list[bytes]]) -> Coroutine[Any, Any, None]:
        import httpx

        async def lane(client: httpx.AsyncClient, bodies: list[bytes]) -> None:
            for body in bodies:
                answer = await client.post(f"{url}/v1/chat/completions", content=body)
                json.loads(answer.content)["choices"][0]["message"]["content"]

        async def run() -> None:
            limits = httpx.Limits(max_connections=len(own), max_keepalive_connections=len(own))
            async with httpx.AsyncClient(limits=limits, headers=HEADERS, timeout=60) as client:
                await asyncio.gather(*(lane(client, one) for one in own))

        return run()

    def over_aiohttp(url: str, own: list[list[bytes]]) -> Coroutine[Any, Any, None]:
        import aiohttp

        async def lane(session: aiohttp.ClientSession, bodies: list[bytes]) -> None:
            for body in bodies:
                async with session.post(f"{url}/v1/chat/completions", data=body) as response:
                    json.loads(await response.read())["choices"][0]["message"]["content"]

        async def run() -> None:
            connector = aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:
                await asyncio.gather(*(lane(session, one) for one in own))

        return run()

    def client(url: str, bodies: list[str], lanes: int, send: Any) -> dict[str, Any]:
        # Two requests of each lane tell the rate.
        encoded = [body.encode() for body in bodies[: 2 * lanes if send is over_httpx else None]]
        own = [encoded[k::lanes] for k in range(lanes)]

        def run() -> int:
            asyncio.run(send(url, own))
            return len(encoded)

        return measured(url, run)

    def control(url: str) -> Any:
        import urllib.request

        with urllib.request.urlopen(url) as response:
            return json.loads(response.read())

    bodies: dict[str, list[str]] = {}

    def answer(
        do: str, url: str, name: str, load: dict[str, Any], episodes: int, keep: bool = False
    ) -> dict[str, Any]:
        if do != "play":
            send = over_httpx if do == "client" else over_aiohttp
            return client(url, bodies[name], episodes, send)
        if keep:
            control(f"{url}/keep")
        found = play(url, load, episodes)
        if keep:
            bodies[name] = control(f"{url}/kept")
            assert len(bodies[name]) == found["decisions"]
        return found

    serve(answer)


def row_of(load: str, figures: dict[str, list[dict[str, Any]]], ideal: float) -> dict[str, Any]:
    """The figures of one load: of each subject the best wall time and the least CPU time."""
    row: dict[str, Any] = {"load": load, "decisions": figures["now"][0]["decisions"]}
    row["ideal_seconds"] = ideal
    for who, runs in figures.items():
        row[who] = {
            "seconds": min(run["wall"] for run in runs),
            "rate": max(run["decisions"] / run["wall"] for run in runs),
            "cpu_ms": min(run["cpu"] / run["decisions"] for run in runs) * 1e3,
            "all": runs,
        }
    for who in figures.keys() - {*CLIENTS}:
        row[who]["of_client"] = row[who]["rate"] / row["client"]["rate"]
        row[who]["of_aiohttp"] = row[who]["rate"] / row["aiohttp"]["rate"]
        row[who]["own_cpu_ms"] = row[who]["cpu_ms"] - row["aiohttp"]["cpu_ms"]
        # A busy machine makes both slower.
        theirs = row["aiohttp"]["cpu_ms"]  # in a short run less than the clock tells
        row[who]["own_of_client_cpu"] = row[who]["own_cpu_ms"] / theirs if theirs else None
    if "before" in row:
        row["speedup"] = row["now"]["rate"] / row["before"]["rate"]
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="an earlier commit to measure beside")
    parser.add_argument("--only", nargs="+", choices=tuple(LOADS), default=tuple(LOADS))
    parser.add_argument("--episodes", type=int, default=256, help="at once (default 256)")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds (default 0.2)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="by default results/language.json")
    args = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    server = subprocess.Popen(
        [sys.executable, __file__, "--endpoint", str(args.latency)], stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        rows = measure(args, url)
    finally:
        server.terminate()
        server.wait()
    columns = ["", "ideal", "httpx", "aiohttp", "before", "now", "now / httpx", "now / aiohttp"]
    columns += ["aiohttp, CPU ms", "before, own", "now, own"]
    cells = []
    for row in rows:
        before, now = row.get("before"), row["now"]
        cells.append(
            [
                f"{row['load']} ({row['decisions']})",
                f"{row['decisions'] / row['ideal_seconds']:.0f}",
                f"{row['client']['rate']:.0f}",
                f"{row['aiohttp']['rate']:.0f}",
                f"{before['rate']:.0f}" if before else "",
                f"{now['rate']:.0f}",
                f"{now['of_client']:.0%}",
                f"{now['of_aiohttp']:.0%}",
                f"{row['aiohttp']['cpu_ms']:.2f}",
                f"{before['own_cpu_ms']:.2f}" if before else "",
                f"{now['own_cpu_ms']:.2f}",
            ]
        )
    title = f"{args.episodes} episodes at once, {args.latency * 1e3:g} ms a request"
    report(f"decisions a second: {title}; best of {args.repeats}", columns, cells)
    out = args.out or RESULTS / "language.json"
    save(
        out,
        benchmark="language",
        command=shlex.join(["python", "benchmarks/language.py", *sys.argv[1:]]),
        against=args.against,
        episodes=args.episodes,
        latency=args.latency,
        machine=machine(),
        rows=rows,
    )


def measure(args: argparse.Namespace, url: str) -> list[dict[str, Any]]:
    import contextlib

    from compare import checkout

    rows = []
    with contextlib.ExitStack() as stack:
        roots = {"now": ROOT}
        if args.against:
            roots["before"] = stack.enter_context(checkout(args.against))
        workers = {who: Worker(__file__, device="cpu", root=root) for who, root in roots.items()}
        for name in args.only:
            load = LOADS[name]
            common = {"url": url, "name": name, "load": load, "episodes": args.episodes}
            figures: dict[str, list[dict[str, Any]]] = {who: [] for who in (*workers, *CLIENTS)}
            for one in workers.values():  # compiles, and fills caches
                one.ask(do="play", keep=True, **common)
            for who in CLIENTS:
                workers["now"].ask(do=who, **common)
            for _ in range(args.repeats):
                for who, one in workers.items():
                    figures[who].append(one.ask(do="play", **common))
                for who in CLIENTS:
                    figures[who].append(workers["now"].ask(do=who, **common))
            decisions = figures["now"][0]["decisions"]
            waves = load["steps"] or decisions / args.episodes
            rows.append(row_of(name, figures, waves * args.latency))
        for one in workers.values():
            one.close()
    return rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["--endpoint"]:
        asyncio.run(endpoint(float(sys.argv[2])))
    elif is_worker():
        worker()
    else:
        main()
