"""How many games `manyhands serve` holds at once, each with a person at a browser, in real time.

    python benchmarks/web_load.py
    python benchmarks/web_load.py --games 10 50 --rate 6 --seconds 20

A server, which plays in its own process or in `--processes` others, and a client process on one
machine. Each game is a kitchen with one person and one
scripted chef, that makes `--rate` steps a second; the client is the person's browser in every game:
it reads all words and pictures, and answers each view with a random legal action. Reported, for
each number of games:

- views a second of each game: those that reached the browser; a server that is too slow leaves
  pictures out, and makes fewer steps;
- gaps between two views of a game, and the time of an answer: from a second answer to one question
  until its refusal, once a second in each game;
- CPU seconds of the server with all its processes, and of the client, for each second, and bytes.

Figures go to `benchmarks/results/web-load.json`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, machine, report, save

TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Browser:
    """What one browser got: times of views, answer times, bytes, pictures."""

    views: list[float] = dataclasses.field(default_factory=list)
    answers: list[float] = dataclasses.field(default_factory=list)
    steps: list[int] = dataclasses.field(default_factory=list)
    size: int = 0
    pictures: int = 0

    def clear(self) -> None:
        self.views, self.answers, self.steps, self.size, self.pictures = [], [], [], 0, 0


def cpu_seconds(process: int) -> float:
    """CPU seconds of a process, its threads, and the processes that it started, so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / TICKS
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return own + sum(
        cpu_seconds(int(child)) for task in tasks for child in task.read_text().split()
    )


@contextlib.contextmanager
def server(
    game: str, most: int, root: Path, processes: int | None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, and its address."""
    command = [sys.executable, "-m", "manyhands", "serve", game, "--port", "0"]
    command += [] if processes is None else ["--processes", str(processes)]
    environment = dict(os.environ, PYTHONPATH=str(root))
    process = subprocess.Popen(
        [*command, "--tables", str(most)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=root,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def open_table(address: str, game: str, rate: float, seed: int) -> str:
    """A table of a person and a bot; gives the address of its socket."""
    asked = {"game": game, "seats": ["person", "bot"], "clock": 1 / rate, "seed": seed}
    request = urllib.request.Request(
        f"{address}tables", json.dumps(asked).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        table = json.load(answer)
    seat = table["seats"][0]["token"]
    return f"{address.replace('http', 'ws', 1)}play?table={table['table']}&seat={seat}"


async def browse(url: str, browser: Browser, rng: random.Random) -> None:
    """The browser of one person, until cancelled."""
    import websockets

    async with websockets.connect(url, compression=None, max_size=None) as socket:
        asked, probe = 0.0, time.perf_counter() + rng.random()
        async for message in socket:
            now = time.perf_counter()
            browser.size += len(message)
            if isinstance(message, bytes):
                browser.pictures += 1
                continue
            told = json.loads(message)
            if told["type"] == "refused" and asked:
                browser.answers.append(now - asked)
                asked = 0.0
            if told["type"] != "view":
                continue
            browser.views.append(now)
            browser.steps.append(told["step"])
            if told["to_move"]:
                words = rng.choice(told["choices"])["text"]
                answer = json.dumps({"type": "answer", "words": words})
                await socket.send(answer)
                if now >= probe:
                    asked, probe = time.perf_counter(), now + 1
                    await socket.send(answer)


async def measure(
    process: int, address: str, game: str, count: int, rate: float, seconds: float
) -> dict[str, Any]:
    """The figures of a number of games at once."""
    browsers = [Browser() for _ in range(count)]
    tasks = []
    for seed, browser in enumerate(browsers):
        url = await asyncio.to_thread(open_table, address, game, rate, seed)
        tasks.append(asyncio.create_task(browse(url, browser, random.Random(seed))))
    while not all(len(browser.views) > 2 for browser in browsers):
        for task in tasks:
            if task.done():
                task.result()
        await asyncio.sleep(0.1)
    await asyncio.sleep(2)
    for browser in browsers:
        browser.clear()
    begin, mine, its = time.perf_counter(), time.process_time(), cpu_seconds(process)
    await asyncio.sleep(seconds)
    elapsed = time.perf_counter() - begin
    mine, its = time.process_time() - mine, cpu_seconds(process) - its
    rates = sorted(len(browser.views) / elapsed for browser in browsers)
    steps = [(b.steps[-1] - b.steps[0]) / (b.views[-1] - b.views[0]) for b in browsers]
    gaps = [after - one for b in browsers for one, after in zip(b.views, b.views[1:], strict=False)]
    answers = [one for browser in browsers for one in browser.answers]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {
        "games": count,
        "views_per_second": {"mean": statistics.fmean(rates), "least": rates[0]},
        "steps_per_second": {"mean": statistics.fmean(steps), "least": min(steps)},
        "pictures_per_second": sum(browser.pictures for browser in browsers) / elapsed / count,
        "gap_ms": {"median": quantile(gaps, 50), "p95": quantile(gaps, 95)},
        "answer_ms": {"median": quantile(answers, 50), "p95": quantile(answers, 95)},
        "server_cpu": its / elapsed,
        "server_cpu_ms_per_view": its / sum(len(browser.views) for browser in browsers) * 1000,
        "client_cpu": mine / elapsed,
        "kilobytes_per_second": sum(browser.size for browser in browsers) / elapsed / count / 1000,
    }


def quantile(values: Sequence[float], percent: int) -> float:
    """In milliseconds."""
    return statistics.quantiles(values, n=100)[percent - 1] * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--game", default="kitchen max_steps=30000")
    parser.add_argument("--games", type=int, nargs="+", default=[10, 25, 50])
    parser.add_argument("--processes", type=int, help="of `manyhands serve`; else its default")
    parser.add_argument("--rate", type=float, default=6.0, help="steps a second")
    parser.add_argument("--seconds", type=float, default=20.0, help="measured, of each number")
    parser.add_argument(
        "--root", type=Path, default=ROOT, help="the checkout whose server is measured"
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "web-load.json")
    options = parser.parse_args()

    found, about = [], machine()
    for count in options.games:
        with server(options.game, count, options.root, options.processes) as (process, address):
            row = asyncio.run(
                measure(process.pid, address, options.game, count, options.rate, options.seconds)
            )
        row["load"] = os.getloadavg()[0]
        found.append(row)
    save(
        options.out,
        command=shlex.join(["python", "benchmarks/web_load.py", *sys.argv[1:]]),
        machine=about,
        game=options.game,
        processes=options.processes,
        rate=options.rate,
        seconds=options.seconds,
        rows=found,
    )
    report(
        f"{options.game}, one person and one bot each, {options.rate:g} steps a second",
        ["games", "views/s", "least", "gap p95, ms", "answer p95, ms", "server CPU", "client CPU"],
        [
            [
                str(row["games"]),
                f"{row['views_per_second']['mean']:.2f}",
                f"{row['views_per_second']['least']:.2f}",
                f"{row['gap_ms']['p95']:.0f}",
                f"{row['answer_ms']['p95']:.0f}",
                f"{row['server_cpu']:.2f}",
                f"{row['client_cpu']:.2f}",
            ]
            for row in found
        ],
    )


if __name__ == "__main__":
    main()
